// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * metrics.c - see metrics.h. The format wants all that has one name in one place, so the vHCAs are gone through
 * for each name. Of vHCAs that are not connected there is nothing to count.
 */
#include <inttypes.h>
#include <string.h>

#include "admin/metrics.h"

struct set {
	FILE *to;
	const struct listing *listings;
	unsigned int n;
};

static void write_escaped(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', to);
		fputc(*text, to);
	}
}

static void write_label(FILE *to, const char *name, const char *value)
{
	fprintf(to, ",%s=\"", name);
	write_escaped(to, value);
	fputc('"', to);
}

/* "xenib_NAME{labels of the vHCA", the rest is the caller's. */
static void begin(FILE *to, const char *name, const char *suffix, const struct listing *l)
{
	fprintf(to, "xenib_%s%s{domid=\"%u\",devid=\"%u\"", name, suffix, l->domid, l->devid);
	write_label(to, "domain", l->domain);
}

static void describe(const struct set *set, const char *name, const char *type, const char *help)
{
	fprintf(set->to, "# HELP xenib_%s %s\n# TYPE xenib_%s %s\n", name, help, name, type);
}

/* Calls fn for each vHCA that is connected. */
typedef void each_fn(const struct set *set, const struct listing *l, const char *name);

static void each_connected(const struct set *set, const char *name, const char *type,
			   const char *help, each_fn *fn)
{
	unsigned int i;

	describe(set, name, type, help);
	for (i = 0; i < set->n; i++)
		if (set->listings[i].status)
			fn(set, &set->listings[i], name);
}

static void write_release(const struct set *set, const char *release)
{
	describe(set, "build_info", "gauge", "Version of the daemon.");
	fputs("xenib_build_info{version=\"", set->to);
	write_escaped(set->to, release);
	fputs("\"} 1\n", set->to);
}

/* Of every vHCA */

static void write_vhcas(const struct set *set)
{
	unsigned int i;

	describe(set, "vhca_info", "gauge", "Each vHCA, with its HCA and port.");
	for (i = 0; i < set->n; i++) {
		const struct listing *l = &set->listings[i];

		begin(set->to, "vhca_info", "", l);
		write_label(set->to, "hca", l->hca);
		fprintf(set->to, ",port=\"%u\"} 1\n", l->port);
	}
	describe(set, "vhca_connected", "gauge", "Whether the guest uses the vHCA: 1 or 0.");
	for (i = 0; i < set->n; i++) {
		begin(set->to, "vhca_connected", "", &set->listings[i]);
		fprintf(set->to, "} %d\n", !strcmp(set->listings[i].state, "connected"));
	}
	describe(set, "worker_failures", "gauge",
		 "Workers of the vHCA that failed since the last one that did not.");
	for (i = 0; i < set->n; i++) {
		begin(set->to, "worker_failures", "", &set->listings[i]);
		fprintf(set->to, "} %u\n", set->listings[i].failures);
	}
}

/* Of those that are connected */

static void objects(const struct set *set, const struct listing *l, const char *name)
{
	const struct status_object *o;

	for (o = l->status->objects; o < l->status->objects + l->status->n_objects; o++) {
		begin(set->to, name, "", l);
		write_label(set->to, "type", o->type);
		fprintf(set->to, "} %" PRIu64 "\n", strcmp(name, "objects") ? o->limit : o->used);
	}
}

static void bytes(const struct set *set, const struct listing *l, const char *name)
{
	const struct status_object *b = &l->status->bytes;

	begin(set->to, name, "", l);
	fprintf(set->to, "} %" PRIu64 "\n", strcmp(name, "memory_bytes") ? b->limit : b->used);
}

/* Rates in bits per second. */
static void imposed(const struct set *set, const struct listing *l, const char *name)
{
	const char *text = l->status->imposed;
	enum limit limit;
	uint64_t value;

	while ((limit = limits_next(&text, &value)) < LIMITS) {
		begin(set->to, name, "", l);
		write_label(set->to, "key", limit_key(limit)->name);
		fprintf(set->to, "} %" PRIu64 "\n",
			limit_key(limit)->kind == LIMIT_RATE ? value * 1000000 : value);
	}
}

static void commands(const struct set *set, const struct listing *l, const char *name)
{
	unsigned int i;

	for (i = 0; i < l->status->n_ops; i++) {
		begin(set->to, name, "", l);
		write_label(set->to, "op", l->status->ops[i].name);
		fprintf(set->to, "} %" PRIu64 "\n", l->status->ops[i].count);
	}
}

static void refusals(const struct set *set, const struct listing *l, const char *name)
{
	const struct status_refusal *r;

	for (r = l->status->refusals; r < l->status->refusals + l->status->n_refusals; r++) {
		begin(set->to, name, "", l);
		write_label(set->to, "op", r->op);
		write_label(set->to, "reason", r->why);
		fprintf(set->to, "} %" PRIu64 "\n", r->count);
	}
}

/* Every second bucket, in seconds: 1 us, 4 us, 16 us ... */
static void histogram(const struct set *set, const struct listing *l, const char *name,
		      const char *op, const struct histogram *latency)
{
	uint64_t seen = 0;
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		seen += latency->buckets[i];
		if (i % 2)
			continue;
		begin(set->to, name, "_bucket", l);
		if (op)
			write_label(set->to, "op", op);
		fprintf(set->to, ",le=\"%g\"} %" PRIu64 "\n", (1u << i) / 1e6, seen);
	}
	begin(set->to, name, "_bucket", l);
	if (op)
		write_label(set->to, "op", op);
	fprintf(set->to, ",le=\"+Inf\"} %" PRIu64 "\n", seen + latency->buckets[i]);
	begin(set->to, name, "_sum", l);
	if (op)
		write_label(set->to, "op", op);
	fprintf(set->to, "} %.9f\n", latency->sum_ns / 1e9);
	begin(set->to, name, "_count", l);
	if (op)
		write_label(set->to, "op", op);
	fprintf(set->to, "} %" PRIu64 "\n", seen + latency->buckets[i]);
}

static void command_durations(const struct set *set, const struct listing *l, const char *name)
{
	unsigned int i;

	for (i = 0; i < l->status->n_ops; i++)
		histogram(set, l, name, l->status->ops[i].name, &l->status->ops[i].latency);
}

static void event_delays(const struct set *set, const struct listing *l, const char *name)
{
	histogram(set, l, name, NULL, &l->status->events);
}

static void write_value(const struct set *set, enum status_counter counter, const char *name,
			const char *type, const char *help)
{
	unsigned int i;

	describe(set, name, type, help);
	for (i = 0; i < set->n; i++) {
		if (!set->listings[i].status)
			continue;
		begin(set->to, name, "", &set->listings[i]);
		fprintf(set->to, "} %" PRIu64 "\n", set->listings[i].status->counters[counter]);
	}
}

static void write_counter(const struct set *set, enum status_counter counter, const char *name,
			  const char *help)
{
	write_value(set, counter, name, "counter", help);
}

void metrics_write(FILE *to, const struct listing *listings, unsigned int n, const char *release)
{
	const struct set set = { to, listings, n };

	write_release(&set, release);
	write_vhcas(&set);
	each_connected(&set, "objects", "gauge", "Objects in use on the HCA, by type.", objects);
	each_connected(&set, "objects_limit", "gauge", "Objects that the vHCA may have, by type.",
		       objects);
	each_connected(&set, "memory_bytes", "gauge", "Guest memory pinned for the HCA.", bytes);
	each_connected(&set, "memory_limit_bytes", "gauge", "Limit of pinned guest memory.", bytes);
	each_connected(&set, "imposed", "gauge",
		       "What is imposed on QPs of the vHCA, by key; qp-rate in bits per second.",
		       imposed);
	each_connected(&set, "commands_total", "counter", "Commands of the guest, by operation.",
		       commands);
	each_connected(&set, "refused_total", "counter",
		       "Commands that were refused, by operation and reason.", refusals);
	each_connected(&set, "command_duration_seconds", "histogram",
		       "From reading a request to its result, by operation.", command_durations);
	each_connected(&set, "event_delay_seconds", "histogram",
		       "From reading an event from the kernel to notifying the guest.",
		       event_delays);
	write_counter(&set, STATUS_KICKS, "kicks_total",
		      "Notifications by the guest, of commands.");
	write_counter(&set, STATUS_NOTIFIES, "notifies_total",
		      "Notifications to the guest, of responses.");
	write_counter(&set, STATUS_EVENT_NOTIFIES, "event_notifies_total",
		      "Notifications to the guest, of events.");
	write_counter(&set, STATUS_COMPLETIONS, "completion_events_total",
		      "Completion events of the HCA.");
	write_counter(&set, STATUS_ASYNCS, "async_events_total",
		      "Asynchronous events delivered to the guest.");
	write_counter(&set, STATUS_ASYNCS_LOST, "async_events_dropped_total",
		      "Asynchronous events dropped because the same one was pending.");
	write_counter(&set, STATUS_UNKNOWN, "unknown_requests_total",
		      "Requests with an unknown operation.");
	write_value(&set, STATUS_KERNEL_CONTEXTS, "kernel_contexts", "gauge",
		    "Contexts of the guest's kernel.");
	write_counter(
		&set, STATUS_MADS_SENT, "mads_sent_total",
		"Management datagrams sent by the guest; those refused are commands that were.");
	write_counter(&set, STATUS_MADS_RECEIVED, "mads_received_total",
		      "Management datagrams for the guest.");
	write_counter(&set, STATUS_MADS_DROPPED, "mads_dropped_total",
		      "Management datagrams for the guest that it was too slow for.");
	write_value(&set, STATUS_MAD_GROUPS, "mad_groups", "gauge",
		    "Multicast groups that the guest's kernel has joined.");
	write_counter(&set, STATUS_MADS_STRAY, "mads_stray_total",
		      "Management datagrams for a connection, but not from its peer.");
	write_counter(&set, STATUS_MADS_REFUSED_KIND, "mads_refused_kind_total",
		      "Management datagrams of a class, method or attribute that guests lack.");
	write_counter(&set, STATUS_MADS_REFUSED_CLAIM, "mads_refused_claim_total",
		      "Management datagrams that claim what is not the guest's.");
	write_counter(&set, STATUS_MADS_REFUSED_ID, "mads_refused_id_total",
		      "Management datagrams of connections that the guest does not have.");
	write_counter(&set, STATUS_MADS_REFUSED_RATE, "mads_refused_rate_total",
		      "Management datagrams beyond the rate.");
	write_counter(&set, STATUS_MADS_REFUSED_LIMIT, "mads_refused_limit_total",
		      "Management datagrams beyond the limits of connections, groups, queries.");
	write_value(&set, STATUS_CONNS, "connections", "gauge",
		    "Established connections of the guest's kernel.");
	write_value(&set, STATUS_CONNS_ASKED, "connections_unanswered", "gauge",
		    "Connections that the guest was asked for and has not answered.");
	write_counter(&set, STATUS_CONNS_DENIED, "connections_denied_total",
		      "Requests for connections dropped because the guest has too many.");
	write_counter(&set, STATUS_CONNS_AGED, "connections_aged_out_total",
		      "Connections that ended without an answer.");
	write_counter(&set, STATUS_DMABUFS, "dma_bufs_total",
		      "Umems of the guest's that were made as dma-bufs.");
}
