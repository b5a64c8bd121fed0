// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd_show.c - xen-ib show: all that is known of vHCAs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "table.h"
#include "vhcas.h"

static void print_head(const struct listing *l)
{
	char name[VHCA_NAME_MAX];

	printf("%s, vHCA %u: %s port %u, %s", vhca_name(name, l), l->devid,
	       l->hca[0] ? l->hca : "no HCA", l->port, vhca_state(l));
	if (strcmp(l->guest, l->state))
		printf(" (guest: %s)", l->guest);
	if (l->worker)
		printf(", worker %u", l->worker);
	else if (l->backend)
		printf(", served by domain %u", l->backend);
	if (l->failures)
		printf(", %u failures", l->failures);
	putchar('\n');
	if (l->node_guid[0])
		printf("  node GUID: %s\n", l->node_guid);
	if (l->personality[0])
		printf("  personality: %s\n", l->personality);
	if (l->gid[0])
		printf("  GID: %s\n", l->gid);
	if (l->imposed[0])
		printf("  imposed on QPs: %s\n", l->imposed);
	if (l->status && strcmp(l->imposed, l->status->imposed))
		printf("  not in force yet, but: %s\n",
		       l->status->imposed[0] ? l->status->imposed : "nothing");
	if (l->error[0])
		printf("  error: %s\n", l->error);
}

static void print_objects(const struct status_view *s)
{
	struct table *table = table_new("object >in-use >most >limit", 2);
	char text[TEXT_MAX];
	unsigned int i;

	for (i = 0; i < s->n_objects; i++) {
		table_cell(table, "%s", s->objects[i].type);
		table_cell(table, "%" PRIu64, s->objects[i].used);
		table_cell(table, "%" PRIu64, s->objects[i].peak);
		table_cell(table, "%" PRIu64, s->objects[i].limit);
	}
	table_cell(table, "memory");
	table_cell(table, "%s", text_of_bytes(text, s->bytes.used));
	table_cell(table, "%s", text_of_bytes(text, s->bytes.peak));
	table_cell(table, "%s", text_of_bytes(text, s->bytes.limit));
	table_print(table);
}

static void print_processes(const struct status_view *s)
{
	struct table *table;
	unsigned int i;

	if (!s->n_contexts)
		return;
	table = table_new(">pid process-in-the-guest", 2);
	for (i = 0; i < s->n_contexts; i++) {
		table_cell(table, "%u", s->contexts[i].pid);
		table_cell(table, "%s", s->contexts[i].name);
	}
	putchar('\n');
	table_print(table);
}

static void print_latency(struct table *table, const struct histogram *latency)
{
	char text[TEXT_MAX];

	table_cell(table, "%s",
		   text_of_ns(text, latency->count ? latency->sum_ns / latency->count : 0));
	table_cell(table, "%s", text_of_ns(text, histogram_quantile_ns(latency, 500)));
	table_cell(table, "%s", text_of_ns(text, histogram_quantile_ns(latency, 990)));
	table_cell(table, "%s", text_of_ns(text, latency->max_ns));
}

static void print_commands(const struct status_view *s)
{
	struct table *table;
	unsigned int i;

	if (!s->n_ops)
		return;
	table = table_new("command >count >mean >50% >99% >longest", 2);
	for (i = 0; i < s->n_ops; i++) {
		table_cell(table, "%s", s->ops[i].name);
		table_cell(table, "%" PRIu64, s->ops[i].count);
		print_latency(table, &s->ops[i].latency);
	}
	if (s->events.count) {
		table_cell(table, "(event to guest)");
		table_cell(table, "%" PRIu64, s->events.count);
		print_latency(table, &s->events);
	}
	putchar('\n');
	table_print(table);
}

static void print_refusals(const struct status_view *s)
{
	struct table *table;
	unsigned int i;

	if (!s->n_refusals)
		return;
	table = table_new("refused reason >count", 2);
	for (i = 0; i < s->n_refusals; i++) {
		table_cell(table, "%s", s->refusals[i].op);
		table_cell(table, "%s", s->refusals[i].why);
		table_cell(table, "%" PRIu64, s->refusals[i].count);
	}
	putchar('\n');
	table_print(table);
}

static void print_counters(const struct status_view *s)
{
	struct table *table = table_new("counter >value", 2);
	unsigned int i;

	for (i = 0; i < STATUS_COUNTERS; i++) {
		table_cell(table, "%s", status_counter_key(i));
		table_cell(table, "%" PRIu64, s->counters[i]);
	}
	putchar('\n');
	table_print(table);
}

static void print_text(const struct listing *l)
{
	print_head(l);
	if (!l->status)
		return;
	putchar('\n');
	print_objects(l->status);
	print_processes(l->status);
	print_commands(l->status);
	print_refusals(l->status);
	print_counters(l->status);
}

int cmd_show(const struct options *options, int argc, char **argv)
{
	struct vhcas vhcas;
	struct answer why;
	unsigned int i;
	int status;

	status = vhcas_ask(&vhcas, options->socket, "show", argc > 0 ? argv[0] : NULL,
			   argc > 1 ? argv[1] : NULL, &why);
	if (status != TOOL_OK)
		return answer_complain(&why);
	if (options->json) {
		json_open(NULL, '{');
		json_open("vhcas", '[');
	}
	for (i = 0; i < vhcas.n; i++) {
		if (options->json) {
			json_open(NULL, '{');
			vhca_json(&vhcas.list[i]);
			json_close();
		} else {
			fputs(i ? "\n" : "", stdout);
			print_text(&vhcas.list[i]);
		}
	}
	if (options->json) {
		json_close();
		json_close();
	} else if (!vhcas.n) {
		puts("no vHCAs");
	}
	vhcas_free(&vhcas);
	return TOOL_OK;
}
