// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * status_read.c - see status_read.h.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "admin/status_read.h"

static const char *const counter_keys[STATUS_COUNTERS] = {
	[STATUS_KICKS] = "kicks",
	[STATUS_NOTIFIES] = "notifies",
	[STATUS_COMPLETIONS] = "completions",
	[STATUS_ASYNCS] = "asyncs",
	[STATUS_ASYNCS_LOST] = "asyncs-lost",
	[STATUS_EVENT_NOTIFIES] = "event-notifies",
	[STATUS_UNKNOWN] = "unknown",
	[STATUS_KERNEL_CONTEXTS] = "kernel-contexts",
	[STATUS_MADS_SENT] = "mads-sent",
	[STATUS_MADS_RECEIVED] = "mads-received",
	[STATUS_MADS_DROPPED] = "mads-dropped",
	[STATUS_MAD_GROUPS] = "mad-groups",
	[STATUS_MADS_STRAY] = "mads-stray",
	[STATUS_MADS_REFUSED_KIND] = "mads-refused-kind",
	[STATUS_MADS_REFUSED_CLAIM] = "mads-refused-claim",
	[STATUS_MADS_REFUSED_ID] = "mads-refused-id",
	[STATUS_MADS_REFUSED_RATE] = "mads-refused-rate",
	[STATUS_MADS_REFUSED_LIMIT] = "mads-refused-limit",
	[STATUS_CONNS] = "connections",
	[STATUS_CONNS_ASKED] = "connections-unanswered",
	[STATUS_CONNS_DENIED] = "connections-denied",
	[STATUS_CONNS_AGED] = "connections-aged-out",
	[STATUS_DMABUFS] = "dma-bufs",
};

const char *status_counter_key(enum status_counter counter)
{
	return counter_keys[counter];
}

/* Takes a decimal number off the front of rest, with the space behind it. */
static bool take_number(char **rest, uint64_t most, uint64_t *number)
{
	unsigned long long value;
	char *end;

	if (**rest < '0' || **rest > '9')
		return false;
	errno = 0;
	value = strtoull(*rest, &end, 10);
	if (errno || value > most || (*end && *end != ' '))
		return false;
	*number = value;
	*rest = end + (*end == ' ');
	return true;
}

/* The word at the front of rest, "" if there is none. */
static char *take_word(char **rest)
{
	char *word = *rest;

	*rest += strcspn(word, " ");
	if (**rest)
		*(*rest)++ = 0;
	return word;
}

/* Cut where it is too long, with a mark for what does not print. */
static void copy_text(char *to, size_t size, const char *from)
{
	size_t i;

	for (i = 0; i < size - 1 && from[i]; i++)
		to[i] = isgraph((unsigned char)from[i]) || from[i] == ' ' ? from[i] : '?';
	to[i] = 0;
}

static void copy_word(char to[STATUS_WORD], const char *from)
{
	copy_text(to, STATUS_WORD, from);
}

static bool take_item(char *rest, struct status_object *item)
{
	return take_number(&rest, UINT64_MAX, &item->used) &&
	       take_number(&rest, UINT64_MAX, &item->peak) &&
	       take_number(&rest, UINT64_MAX, &item->limit);
}

static void read_object(struct status_view *view, char *rest)
{
	struct status_object item;

	copy_word(item.type, take_word(&rest));
	if (view->n_objects < STATUS_TYPES && take_item(rest, &item))
		view->objects[view->n_objects++] = item;
}

static void read_bytes(struct status_view *view, char *rest)
{
	struct status_object item = { .type = "bytes" };

	if (take_item(rest, &item))
		view->bytes = item;
}

static void read_imposed(struct status_view *view, char *rest)
{
	copy_text(view->imposed, sizeof(view->imposed), rest);
}

static struct status_op *find_op(struct status_view *view, const char *word)
{
	struct status_op *op;
	char name[STATUS_WORD];
	unsigned int i;

	copy_word(name, word);
	for (i = 0; i < view->n_ops; i++)
		if (!strcmp(view->ops[i].name, name))
			return &view->ops[i];
	if (view->n_ops == STATUS_OPS)
		return NULL;
	op = &view->ops[view->n_ops++];
	memcpy(op->name, name, sizeof(name));
	return op;
}

static void read_command(struct status_view *view, char *rest)
{
	struct status_op *op = find_op(view, take_word(&rest));

	if (op)
		take_number(&rest, UINT64_MAX, &op->count);
}

static bool take_latency(char *rest, struct histogram *to)
{
	struct histogram read = { 0 };
	unsigned int i;

	if (!take_number(&rest, UINT64_MAX, &read.count) ||
	    !take_number(&rest, UINT64_MAX, &read.sum_ns) ||
	    !take_number(&rest, UINT64_MAX, &read.max_ns))
		return false;
	for (i = 0; i < HISTOGRAM_BUCKETS && *rest; i++)
		if (!take_number(&rest, UINT64_MAX, &read.buckets[i]))
			return false;
	*to = read;
	return true;
}

static void read_latency(struct status_view *view, char *rest)
{
	struct status_op *op = find_op(view, take_word(&rest));

	if (op)
		take_latency(rest, &op->latency);
}

static void read_event_latency(struct status_view *view, char *rest)
{
	take_latency(rest, &view->events);
}

static void read_refused(struct status_view *view, char *rest)
{
	struct status_refusal refusal;

	copy_word(refusal.op, take_word(&rest));
	copy_word(refusal.why, take_word(&rest));
	if (view->n_refusals < STATUS_REFUSALS && take_number(&rest, UINT64_MAX, &refusal.count))
		view->refusals[view->n_refusals++] = refusal;
}

/* Room for as many as a power of two has; the name may have spaces. */
static void read_context(struct status_view *view, char *rest)
{
	struct status_context ctx = { 0 };
	unsigned int n = view->n_contexts;
	uint64_t pid;
	char *end;

	ctx.handle = strtoul(take_word(&rest), &end, 16);
	if (*end || !take_number(&rest, UINT32_MAX, &pid) || n == STATUS_CONTEXTS)
		return;
	ctx.pid = pid;
	copy_word(ctx.name, rest);
	if (!(n & (n - 1))) {
		void *more = realloc(view->contexts, (n ? 2 * n : 1) * sizeof(ctx));

		if (!more)
			return;
		view->contexts = more;
	}
	view->contexts[view->n_contexts++] = ctx;
}

static void read_pid(struct status_view *view, char *rest)
{
	uint64_t pid;

	if (take_number(&rest, INT32_MAX, &pid))
		view->pid = pid;
}

void status_line(struct status_view *view, char *line)
{
	static const struct {
		const char *key;
		void (*read)(struct status_view *view, char *rest);
	} keys[] = {
		{ "pid", read_pid },         { "object", read_object },
		{ "bytes", read_bytes },     { "command", read_command },
		{ "latency", read_latency }, { "event-latency", read_event_latency },
		{ "refused", read_refused }, { "context", read_context },
		{ "imposed", read_imposed },
	};
	const char *key = take_word(&line);
	unsigned int i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(key, keys[i].key))
			keys[i].read(view, line);
	for (i = 0; i < STATUS_COUNTERS; i++)
		if (!strcmp(key, counter_keys[i]))
			take_number(&line, UINT64_MAX, &view->counters[i]);
}

/* A worker could have put anything there: something that blocks, or leads elsewhere. */
static int open_file(const char *dir, unsigned int domid, unsigned int devid)
{
	struct stat info;
	char path[128];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%u-%u.status", dir, domid, devid) >= (int)sizeof(path))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_size <= STATUS_BYTES_MAX)
		return fd;
	close(fd);
	return -1;
}

char *status_file(const char *dir, unsigned int domid, unsigned int devid)
{
	int fd = open_file(dir, domid, devid);
	size_t size = 0;
	ssize_t got;
	char *text;

	if (fd < 0)
		return NULL;
	text = malloc(STATUS_BYTES_MAX + 1);
	while (text && size < STATUS_BYTES_MAX &&
	       (got = read(fd, text + size, STATUS_BYTES_MAX - size)) > 0)
		size += got;
	close(fd);
	if (!text)
		return NULL;
	text[size] = 0;
	return text;
}

bool status_load(struct status_view *view, const char *dir, unsigned int domid, unsigned int devid)
{
	char *text = status_file(dir, domid, devid), *rest = text, *line;

	memset(view, 0, sizeof(*view));
	if (!text)
		return false;
	while ((line = strsep(&rest, "\n")))
		status_line(view, line);
	free(text);
	return true;
}

uint64_t status_commands(const struct status_view *view)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < view->n_ops; i++)
		sum += view->ops[i].count;
	return sum;
}

void status_free(struct status_view *view)
{
	free(view->contexts);
	memset(view, 0, sizeof(*view));
}
