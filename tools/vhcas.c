// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vhcas.c - see vhcas.h.
 */
#include <stdlib.h>
#include <string.h>
#include <xenstore.h>

#include "json.h"
#include "vhcas.h"
#include "xen/xenbus.h"

int vhcas_ask(struct vhcas *vhcas, const char *socket, const char *verb, const char *domain,
	      const char *devid, struct answer *why)
{
	struct answer answer;

	memset(vhcas, 0, sizeof(*vhcas));
	ask(socket, &answer, "%s%s%s%s%s", verb, domain ? " " : "", domain ?: "", devid ? " " : "",
	    devid ?: "");
	if (answer.status == TOOL_OK)
		vhcas->n = listing_parse(&vhcas->list, answer.body);
	free(answer.body);
	answer.body = NULL;
	if (why)
		*why = answer;
	return answer.status;
}

struct search {
	struct vhcas *vhcas;
	struct xs_handle *xs;
	const char *domain;
};

static void add(void *context, const char *root, unsigned int domid, unsigned int devid)
{
	const struct search *search = context;
	struct listing found, *to;
	char number[16];

	if (!listing_read(&found, search->xs, root, domid, devid))
		return;
	snprintf(number, sizeof(number), "%u", domid);
	if (search->domain && strcmp(search->domain, number) &&
	    strcmp(search->domain, found.domain))
		return;
	to = listing_add(&search->vhcas->list, &search->vhcas->n);
	if (to)
		*to = found;
}

bool vhcas_from_xenstore(struct vhcas *vhcas, const char *domain)
{
	struct search search = { vhcas, xs_open(0), domain };
	uint64_t own = 0;

	memset(vhcas, 0, sizeof(*vhcas));
	if (!search.xs)
		return false;
	xb_read_number(search.xs, NULL, "domid", UINT16_MAX, &own);
	listing_everywhere(search.xs, own, add, &search);
	xs_close(search.xs);
	return true;
}

void vhcas_free(struct vhcas *vhcas)
{
	listing_free(vhcas->list, vhcas->n);
	memset(vhcas, 0, sizeof(*vhcas));
}

const char *vhca_state(const struct listing *vhca)
{
	return vhca->online || vhca->error[0] ? vhca->state : "detaching";
}

bool vhca_works(const struct listing *vhca)
{
	return vhca->online && !strcmp(vhca->state, "connected") &&
	       !strcmp(vhca->guest, "connected");
}

const char *vhca_name(char text[VHCA_NAME_MAX], const struct listing *vhca)
{
	if (vhca->domain[0])
		snprintf(text, VHCA_NAME_MAX, "%s (%u)", vhca->domain, vhca->domid);
	else
		snprintf(text, VHCA_NAME_MAX, "domain %u", vhca->domid);
	return text;
}

/* JSON */

static void json_item(const struct status_object *item)
{
	json_number("used", item->used);
	json_number("peak", item->peak);
	json_number("limit", item->limit);
}

/* As they are written, without those that are not imposed. */
static void json_limits(const char *key, const char *text)
{
	char value[LIMIT_TEXT];
	enum limit limit;
	uint64_t number;

	json_open(key, '{');
	while ((limit = limits_next(&text, &number)) < LIMITS) {
		limit_format(value, limit, number);
		json_text(limit_key(limit)->name, value);
	}
	json_close();
}

static void json_latency(const char *key, const struct histogram *latency)
{
	unsigned int n = HISTOGRAM_BUCKETS, i;

	json_open(key, '{');
	json_number("count", latency->count);
	json_number("sum_ns", latency->sum_ns);
	json_number("max_ns", latency->max_ns);
	while (n && !latency->buckets[n - 1])
		n--;
	json_open("histogram", '[');
	for (i = 0; i < n; i++)
		json_number(NULL, latency->buckets[i]);
	json_close();
	json_close();
}

static void json_commands(const struct status_view *status)
{
	unsigned int i;

	json_open("commands", '[');
	for (i = 0; i < status->n_ops; i++) {
		json_open(NULL, '{');
		json_text("op", status->ops[i].name);
		json_number("count", status->ops[i].count);
		json_latency("latency", &status->ops[i].latency);
		json_close();
	}
	json_close();
	json_open("refused", '[');
	for (i = 0; i < status->n_refusals; i++) {
		json_open(NULL, '{');
		json_text("op", status->refusals[i].op);
		json_text("reason", status->refusals[i].why);
		json_number("count", status->refusals[i].count);
		json_close();
	}
	json_close();
}

static void json_status(const struct status_view *status)
{
	unsigned int i;

	json_open("memory", '{');
	json_item(&status->bytes);
	json_close();
	json_limits("in_force", status->imposed);
	json_open("objects", '[');
	for (i = 0; i < status->n_objects; i++) {
		json_open(NULL, '{');
		json_text("type", status->objects[i].type);
		json_item(&status->objects[i]);
		json_close();
	}
	json_close();
	json_open("processes", '[');
	for (i = 0; i < status->n_contexts; i++) {
		json_open(NULL, '{');
		json_number("pid", status->contexts[i].pid);
		json_text("name", status->contexts[i].name);
		json_number("context", status->contexts[i].handle);
		json_close();
	}
	json_close();
	json_open("counters", '{');
	for (i = 0; i < STATUS_COUNTERS; i++)
		json_number(status_counter_key(i), status->counters[i]);
	json_close();
	json_commands(status);
	json_latency("event_latency", &status->events);
}

void vhca_json(const struct listing *vhca)
{
	json_text("domain", vhca->domain);
	json_number("domid", vhca->domid);
	json_number("devid", vhca->devid);
	json_number("backend", vhca->backend);
	json_text("hca", vhca->hca);
	json_number("port", vhca->port);
	json_text("node_guid", vhca->node_guid);
	json_text("kernel", vhca->kernel);
	json_text("personality", vhca->personality);
	json_text("gid", vhca->gid);
	json_limits("imposed", vhca->imposed);
	json_text("state", vhca_state(vhca));
	json_text("guest", vhca->guest);
	json_bool("online", vhca->online);
	json_number("max_mem_bytes", vhca->max_mem_bytes);
	json_number("worker", vhca->worker);
	json_number("failures", vhca->failures);
	json_text("error", vhca->error);
	if (vhca->status)
		json_status(vhca->status);
}
