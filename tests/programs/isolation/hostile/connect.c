// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Parameters of a connection that cannot be: the backend does not connect, and says what it does not like.
 */
#include <stdio.h>
#include <string.h>

#include "hostile.h"

static const char *key;

/* NULL: the node is not there. */
static void spoil_key(struct vfront *v, const char *value)
{
	if (value)
		vf_write(v, key, "%s", value);
	else
		vf_remove(v, key);
}

static void bad_values(const char *node, const char *reason, const char *const *values,
		       size_t count)
{
	struct vfront v;
	size_t i;

	key = node;
	vf_open(&v, 0);
	for (i = 0; i < count; i++) {
		note("%s = %s", node, values[i] ? values[i] : "(none)");
		hostile_spoiled(&v, spoil_key, values[i], reason);
	}
	vf_close(&v);
}

#define BAD(node, reason, ...) \
	do { \
		static const char *const values[] = { __VA_ARGS__ }; \
		bad_values(node, reason, values, ARRAY_SIZE(values)); \
	} while (0)

/* Some of each kind; what else a node can say is the fuzzer's (backend/fuzz/fuzz_xenstore.c). */
static void run_numbers(const void *arg)
{
	(void)arg;
	BAD("version", "version", NULL, "2", "4294967297");
	BAD("ring-page-order", "ring-page-order", "5", "-1");
	BAD("ring-ref3", "ring-ref", NULL);
	BAD("data-dir-ref", "data-dir-ref", "%s%n");
	BAD("event-channel", "event-channel", "1e3");
}

static void run_long(const void *arg)
{
	static char text[500];
	struct vfront v;

	(void)arg;
	memset(text, '1', sizeof(text) - 1);
	key = "version";
	vf_open(&v, 0);
	hostile_spoiled(&v, spoil_key, text, "version");
	vf_close(&v);
}

/* Numbers that are numbers, of things that are not there. */
static void run_nothing(const void *arg)
{
	(void)arg;
	BAD("ring-ref0", "mapping the ring", "4294967295");
	BAD("data-dir-ref", "mapping the data pages", "4294967295");
	BAD("event-channel", "binding event channel", "0", "100000");
}

static void spoil_directory(struct vfront *v, const char *value)
{
	(void)value;
	((uint32_t *)v->directory.at)[v->entries - 1] = 0xffffffff;
}

static void spoil_ring(struct vfront *v, const char *value)
{
	struct vf_pages read_only;

	(void)value;
	vf_share(v, &read_only, 1, v->backend, false);
	vf_write(v, "ring-ref1", "%u", read_only.refs[0]);
	vf_unshare(v, &read_only);
}

static void spoil_ring_domain(struct vfront *v, const char *value)
{
	struct vf_pages elsewhere;

	(void)value;
	vf_share(v, &elsewhere, 1, 1234, true);
	vf_write(v, "ring-ref1", "%u", elsewhere.refs[0]);
}

static void run_pages(const void *arg)
{
	struct vfront v;

	(void)arg;
	vf_open(&v, 0);
	hostile_spoiled(&v, spoil_directory, NULL, "mapping the data pages");
	hostile_spoiled(&v, spoil_ring, NULL, "mapping the ring");
	hostile_spoiled(&v, spoil_ring_domain, NULL, "mapping the ring");
	vf_close(&v);
}

/* A channel that exists, and is kept for somebody else. */
static void spoil_channel(struct vfront *v, const char *value)
{
	xenevtchn_port_or_error_t port = xenevtchn_bind_unbound_port(v->evtchn, 1234);

	(void)value;
	require(port >= 0, "an event channel for another domain");
	vf_write(v, "event-channel", "%u", (unsigned int)port);
}

static void run_channel(const void *arg)
{
	struct vfront v;

	(void)arg;
	vf_open(&v, 0);
	hostile_spoiled(&v, spoil_channel, NULL, "binding event channel");
	vf_close(&v);
}

/* What the frontend says of backend and domain in its own directory is nothing to the backend. */
static void run_lies(const void *arg)
{
	struct hostile h;
	char back[VF_PATH];

	(void)arg;
	hostile_begin(&h);
	snprintf(back, sizeof(back), "%s", h.v.back_dir);
	vf_write(&h.v, "backend", "%s", "/local/domain/0/backend/vbd/1/2");
	vf_write(&h.v, "backend-id", "%u", 77);
	vf_write(&h.v, "frontend-id", "%u", 0);
	vf_write(&h.v, "online", "%u", 0);
	vf_write(&h.v, "ring-ref0", "%u", 0xffffffff); /* it was read once */
	vf_process_free(&h.v, &h.p);
	vf_process_make(&h.v, &h.p);
	vf_write(&h.v, "backend", "%s", back);
	vf_write(&h.v, "backend-id", "%u", h.v.backend);
	hostile_end(&h);
}

static const struct check_case cases[] = {
	CHECK_CASE("connect-number", run_numbers,
		   "nodes that are missing, or no numbers, or out of range", .seconds = 400),
	CHECK_CASE("connect-long", run_long, "a node that is very long"),
	CHECK_CASE("connect-nothing", run_nothing, "references and ports that name nothing",
		   .seconds = 200),
	CHECK_CASE("connect-pages", run_pages, "ring and data pages that cannot be mapped",
		   .seconds = 120),
	CHECK_CASE("connect-channel", run_channel, "an event channel of another domain"),
	CHECK_CASE("connect-lies", run_lies, "nodes that are none of the frontend's business"),
};

const struct check_table hostile_connect = { cases, ARRAY_SIZE(cases) };
