// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd_top.c - xen-ib top: who does how much. A worker writes its counters a few times a second, so rates over less
 * than a second are rough.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "json.h"
#include "table.h"
#include "vhcas.h"

struct row {
	const struct listing *vhca;
	double commands, refused, events; /* a second */
	uint64_t mean_ns;                 /* of the commands of this round */
};

static uint64_t refused(const struct status_view *s)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < s->n_refusals; i++)
		sum += s->refusals[i].count;
	return sum;
}

static uint64_t busy_ns(const struct status_view *s)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < s->n_ops; i++)
		sum += s->ops[i].latency.sum_ns;
	return sum;
}

/* The same vHCA in the round before, by the same worker: another one counts from 0. */
static const struct status_view *before(const struct vhcas *last, const struct listing *now)
{
	const struct listing *l;

	for (l = last->list; l < last->list + last->n; l++)
		if (l->domid == now->domid && l->devid == now->devid && l->status &&
		    l->status->pid == now->status->pid)
			return l->status;
	return NULL;
}

static struct row compare(const struct listing *now, const struct vhcas *last, double seconds)
{
	static const struct status_view none;
	const struct status_view *then;
	struct row row = { .vhca = now };
	uint64_t commands;

	if (!now->status || !seconds)
		return row;
	then = before(last, now) ?: &none;
	commands = status_commands(now->status) - status_commands(then);
	row.commands = commands / seconds;
	row.refused = (refused(now->status) - refused(then)) / seconds;
	row.events =
		(now->status->counters[STATUS_COMPLETIONS] - then->counters[STATUS_COMPLETIONS]) /
		seconds;
	row.mean_ns = commands ? (busy_ns(now->status) - busy_ns(then)) / commands : 0;
	return row;
}

static uint64_t bytes_of(const struct row *row)
{
	return row->vhca->status ? row->vhca->status->bytes.used : 0;
}

static int by_commands(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->commands < y->commands) - (x->commands > y->commands);
}

static int by_bytes(const void *a, const void *b)
{
	return (bytes_of(a) < bytes_of(b)) - (bytes_of(a) > bytes_of(b));
}

static uint64_t in_use(const struct listing *l, const char *type)
{
	unsigned int i;

	for (i = 0; l->status && i < l->status->n_objects; i++)
		if (!strcmp(l->status->objects[i].type, type))
			return l->status->objects[i].used;
	return 0;
}

static void print_json(const struct row *rows, unsigned int n)
{
	unsigned int i;

	json_open(NULL, '{');
	json_open("vhcas", '[');
	for (i = 0; i < n; i++) {
		json_open(NULL, '{');
		json_text("domain", rows[i].vhca->domain);
		json_number("domid", rows[i].vhca->domid);
		json_number("devid", rows[i].vhca->devid);
		json_text("hca", rows[i].vhca->hca);
		json_text("state", vhca_state(rows[i].vhca));
		json_real("commands_per_second", rows[i].commands);
		json_real("refused_per_second", rows[i].refused);
		json_real("completion_events_per_second", rows[i].events);
		json_number("command_mean_ns", rows[i].mean_ns);
		json_number("memory_bytes", bytes_of(&rows[i]));
		json_number("queue_pairs", in_use(rows[i].vhca, "QP"));
		json_number("processes", in_use(rows[i].vhca, "context"));
		json_close();
	}
	json_close();
	json_close();
}

static void print_text(const struct row *rows, unsigned int n)
{
	struct table *table = table_new(
		"DOMAIN >ID >DEV HCA STATE >CMD/S >REFUSED/S >CMD-MEAN >EVENTS/S >PINNED >QP "
		">PROC",
		0);
	char text[TEXT_MAX];
	unsigned int i;

	for (i = 0; i < n; i++) {
		table_cell(table, "%s", rows[i].vhca->domain);
		table_cell(table, "%u", rows[i].vhca->domid);
		table_cell(table, "%u", rows[i].vhca->devid);
		table_cell(table, "%s", rows[i].vhca->hca);
		table_cell(table, "%s", vhca_state(rows[i].vhca));
		table_cell(table, "%.0f", rows[i].commands);
		table_cell(table, "%.0f", rows[i].refused);
		table_cell(table, "%s", text_of_ns(text, rows[i].mean_ns));
		table_cell(table, "%.0f", rows[i].events);
		table_cell(table, "%s", text_of_bytes(text, bytes_of(&rows[i])));
		table_cell(table, "%" PRIu64, in_use(rows[i].vhca, "QP"));
		table_cell(table, "%" PRIu64, in_use(rows[i].vhca, "context"));
	}
	table_print(table);
}

static void print_round(const struct options *options, struct row *rows, unsigned int n)
{
	const time_t now = time(NULL);
	char clock[16];

	qsort(rows, n, sizeof(*rows), options->by_bytes ? by_bytes : by_commands);
	if (options->json) {
		print_json(rows, n);
		return;
	}
	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[2J", stdout);
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
	printf("%s  %u vHCAs\n", clock, n);
	print_text(rows, n);
	if (!isatty(STDOUT_FILENO))
		putchar('\n');
}

static double seconds_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - then->tv_sec + (now.tv_nsec - then->tv_nsec) / 1e9;
}

static void print_vhcas(const struct options *options, const struct vhcas *now,
			const struct vhcas *last, double seconds)
{
	struct row *rows = calloc(now->n + 1, sizeof(*rows));
	unsigned int i;

	for (i = 0; rows && i < now->n; i++)
		rows[i] = compare(&now->list[i], last, seconds);
	if (rows)
		print_round(options, rows, now->n);
	free(rows);
	fflush(stdout);
}

/* The first answer is only what the first round is compared with. */
int cmd_top(const struct options *options, int argc, char **argv)
{
	struct vhcas last, now;
	struct timespec taken;
	struct answer why;
	unsigned int round;
	double seconds;
	int status;

	(void)argc;
	(void)argv;
	status = vhcas_ask(&last, options->socket, "show", NULL, NULL, &why);
	clock_gettime(CLOCK_MONOTONIC, &taken);
	for (round = 0; status == TOOL_OK && (!options->count || round < options->count); round++) {
		usleep(options->delay * 1e6);
		status = vhcas_ask(&now, options->socket, "show", NULL, NULL, &why);
		seconds = seconds_since(&taken);
		clock_gettime(CLOCK_MONOTONIC, &taken);
		if (status == TOOL_OK)
			print_vhcas(options, &now, &last, seconds);
		vhcas_free(&last);
		last = now;
		if (ferror(stdout))
			break;
	}
	vhcas_free(&last);
	return status == TOOL_OK ? TOOL_OK : answer_complain(&why);
}
