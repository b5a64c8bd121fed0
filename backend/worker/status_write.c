// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * status_write.c - see status_write.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "admin/status_read.h"
#include "hca/gsi.h"
#include "modules/xen-ibgsi/xen-ibgsi.h"
#include "shared-ring/vhca_check.h"
#include "worker/status_write.h"

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

void status_init(struct status *status, const char *dir, uint32_t domid, uint32_t devid,
		 const char *hca)
{
	memset(status, 0, sizeof(*status));
	status->domid = domid;
	status->devid = devid;
	snprintf(status->hca, sizeof(status->hca), "%s", hca);
	snprintf(status->path, sizeof(status->path), "%s/%u-%u.status", dir, domid, devid);
	snprintf(status->temporary, sizeof(status->temporary), "%s.new", status->path);
	mkdir(dir, 0755);
}

/* A number that is another one after each change. */
static uint64_t changes(const struct vhca *v)
{
	const struct vhca_counters *c = &v->counters;
	uint64_t sum = 1 + c->kicks + c->notifies + c->unknown + c->completions + c->asyncs +
		       c->asyncs_lost + c->event_notifies + c->read_behind;
	unsigned int op;

	for (op = 0; op < XEN_VHCA_OPS; op++)
		sum += c->commands[op];
	return sum;
}

static void write_item(FILE *file, const char *what, const struct quota_item *item)
{
	fprintf(file, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", what, item->used, item->peak,
		item->limit);
}

static void write_number(FILE *file, const char *what, uint64_t number)
{
	fprintf(file, "%s %" PRIu64 "\n", what, number);
}

/* Without the empty buckets at the end. */
static void write_latency(FILE *file, const char *key, const char *of,
			  const struct histogram *latency)
{
	unsigned int n = HISTOGRAM_BUCKETS, i;

	if (!latency->count)
		return;
	while (n && !latency->buckets[n - 1])
		n--;
	fprintf(file, "%s%s %" PRIu64 " %" PRIu64 " %" PRIu64, key, of, latency->count,
		latency->sum_ns, latency->max_ns);
	for (i = 0; i < n; i++)
		fprintf(file, " %" PRIu64, latency->buckets[i]);
	fputc('\n', file);
}

static unsigned int kernel_contexts(const struct vhca *v)
{
	const struct context *ctx;
	unsigned int n = 0;

	LIST_FOREACH(ctx, &v->contexts, link)
		n += ctx->kernel;
	return n;
}

static void write_counters(FILE *file, const struct vhca *v, const struct xen_ibgsi_stats *mads,
			   const struct transport_told *told)
{
	const struct vhca_counters *c = &v->counters;
	struct histogram event_latency = c->event_latency;
	const uint64_t numbers[STATUS_COUNTERS] = {
		[STATUS_KICKS] = c->kicks,
		[STATUS_NOTIFIES] = c->notifies,
		[STATUS_COMPLETIONS] = c->completions + told->completions,
		[STATUS_ASYNCS] = c->asyncs,
		[STATUS_ASYNCS_LOST] = c->asyncs_lost,
		[STATUS_EVENT_NOTIFIES] = c->event_notifies + told->notified.count,
		[STATUS_UNKNOWN] = c->unknown,
		[STATUS_KERNEL_CONTEXTS] = kernel_contexts(v),
		[STATUS_MADS_SENT] = mads->sent,
		[STATUS_MADS_RECEIVED] = mads->received,
		[STATUS_MADS_DROPPED] = mads->dropped,
		[STATUS_MAD_GROUPS] = mads->groups,
		[STATUS_MADS_STRAY] = mads->strays,
		[STATUS_MADS_REFUSED_KIND] = mads->refused[XEN_IBGSI_REFUSED_KIND],
		[STATUS_MADS_REFUSED_CLAIM] = mads->refused[XEN_IBGSI_REFUSED_CLAIM],
		[STATUS_MADS_REFUSED_ID] = mads->refused[XEN_IBGSI_REFUSED_ID],
		[STATUS_MADS_REFUSED_RATE] = mads->refused[XEN_IBGSI_REFUSED_RATE],
		[STATUS_MADS_REFUSED_LIMIT] = mads->refused[XEN_IBGSI_REFUSED_LIMIT],
		[STATUS_CONNS] = mads->conns,
		[STATUS_CONNS_ASKED] = mads->asked,
		[STATUS_CONNS_DENIED] = mads->conns_denied,
		[STATUS_CONNS_AGED] = mads->conns_aged,
		[STATUS_DMABUFS] = c->dmabufs,
	};
	unsigned int op, why, i;

	for (i = 0; i < STATUS_COUNTERS; i++)
		write_number(file, status_counter_key(i), numbers[i]);
	histogram_merge(&event_latency, &told->notified);
	write_latency(file, "event-latency", "", &event_latency);
	for (op = 0; op < XEN_VHCA_OPS; op++) {
		if (c->commands[op])
			fprintf(file, "command %s %" PRIu64 "\n", vhca_op_name(op),
				c->commands[op]);
		write_latency(file, "latency ", vhca_op_name(op), &c->latency[op]);
		for (why = 0; why < XEN_VHCA_STATUSES; why++)
			if (c->refused[op][why])
				fprintf(file, "refused %s %s %" PRIu64 "\n", vhca_op_name(op),
					vhca_status_name(why), c->refused[op][why]);
	}
}

/* Into memory, under the lock; the file is written afterwards. */
static void describe(FILE *file, const struct status *status, struct vhca *v)
{
	struct xen_ibgsi_stats mads = { 0 };
	struct transport_told told;
	struct context *ctx;
	char what[32], imposed[LIMITS_TEXT];
	unsigned int type;

	fprintf(file, "domid %u\ndevid %u\nhca %s\npid %d\n", status->domid, status->devid,
		status->hca, getpid());
	if (v->mads.fd >= 0)
		gsi_stats(v->mads.fd, &mads);
	watches_told(v->watches, &told);
	pthread_mutex_lock(&v->lock);
	for (type = OBJ_CTX; type < OBJ_TYPES; type++) {
		snprintf(what, sizeof(what), "object %s", obj_type_name(type));
		write_item(file, what, &v->quota.objects[type]);
	}
	write_item(file, "object multicast", &v->quota.mcast);
	write_item(file, "bytes", &v->quota.bytes);
	quota_imposed(&v->quota, imposed);
	fprintf(file, "imposed %s\n", imposed);
	write_counters(file, v, &mads, &told);
	LIST_FOREACH(ctx, &v->contexts, link)
		fprintf(file, "context 0x%x %u %s\n", ctx->obj.handle, ctx->pid, ctx->name);
	pthread_mutex_unlock(&v->lock);
}

static void replace_file(const struct status *status, const char *text, size_t size)
{
	FILE *file = fopen(status->temporary, "we");

	if (!file)
		return;
	fwrite(text, 1, size, file);
	if (!fclose(file))
		rename(status->temporary, status->path);
}

static void write_file(const struct status *status, struct vhca *v)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file;

	file = open_memstream(&text, &size);
	if (!file)
		return;
	describe(file, status, v);
	if (fclose(file)) {
		free(text);
		return;
	}
	if (status->publish)
		status->publish(status->to, text, size);
	else
		replace_file(status, text, size);
	free(text);
}

int status_update(struct status *status, struct vhca *v)
{
	uint64_t now = now_ms(), number;
	bool early = status->written && now - status->last_ms < STATUS_INTERVAL_MS;
	bool is_new;

	pthread_mutex_lock(&v->lock);
	number = changes(v);
	is_new = status->stale || number != status->written;
	if (!early || !is_new)
		v->counted = false;
	pthread_mutex_unlock(&v->lock);
	if (!is_new)
		return -1;
	if (early)
		return STATUS_INTERVAL_MS - (now - status->last_ms);
	status->stale = false;
	write_file(status, v);
	status->written = number;
	status->last_ms = now;
	return -1;
}

void status_remove(const struct status *status)
{
	if (status->publish)
		status->publish(status->to, NULL, 0);
	else
		unlink(status->path);
}
