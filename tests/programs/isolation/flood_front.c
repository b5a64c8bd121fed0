// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Floods by a frontend in user space, in a guest without xen-ibfront.
 */
#include <unistd.h>

#include "flood.h"
#include "vfront_make.h"

#define ORDER 2
#define KICKS 1000 /* at a time */
#define LIST 256   /* pages that are registered: enough to take their time */

static void begin(struct vfront *v)
{
	vf_open(v, 0);
	vf_connect(v, ORDER);
}

static void end(struct vfront *v)
{
	vf_disconnect(v);
	vf_close(v);
}

static unsigned long kick(void *v)
{
	unsigned int i;

	for (i = 0; i < KICKS; i++)
		vf_kick(v);
	return KICKS;
}

static void run_kicks(const void *arg)
{
	struct vfront v;

	(void)arg;
	begin(&v);
	flood(kick, &v, "notifications without a request");
	end(&v);
}

/* As many as fit on the ring. */
static unsigned long send_nonsense(void *arg)
{
	const struct xen_vhca_req req = vf_alloc_uar(0xdead);
	struct vfront *v = arg;
	unsigned int i;

	for (i = 0; i < v->entries; i++)
		vf_send(v, &req, NULL, 0);
	return v->entries;
}

static void run_requests(const void *arg)
{
	struct vfront v;

	(void)arg;
	begin(&v);
	flood(send_nonsense, &v, "requests refused");
	vf_collect(&v, 0);
	end(&v);
}

static unsigned long connect_again(void *v)
{
	vf_connect(v, ORDER);
	vf_disconnect(v);
	return 1;
}

static void run_connections(const void *arg)
{
	struct vfront v;

	(void)arg;
	vf_open(&v, 0);
	flood(connect_again, &v, "connections");
	vf_close(&v);
}

/* Not a flood: it connects and looks at nothing any more, whatever the backend says. */
static unsigned long look_away(void *unused)
{
	(void)unused;
	usleep(100000);
	return 1;
}

static void run_nothing_at_all(const void *arg)
{
	struct vfront v;

	(void)arg;
	begin(&v);
	flood(look_away, NULL, "times nothing at all");
	vf_close(&v);
}

/* What registers memory all the time, in pieces that dom0 maps for a while. */
struct registrar {
	struct vfront v;
	struct vf_process p;
	uint32_t refs[LIST];
};

static unsigned long register_memory(void *arg)
{
	struct registrar *r = arg;
	struct xen_vhca_req req = vf_reg_inline(r->p.pd, LIST);

	req = vf_object(XEN_VHCA_OP_MR_DEREG, vf_make(&r->v, &req, r->refs, LIST));
	require(!vf_do(&r->v, &req)->status, "a region is deregistered");
	return 1;
}

static void run_registrations(const void *arg)
{
	struct registrar r;
	unsigned int i;

	(void)arg;
	begin(&r.v);
	vf_process_make(&r.v, &r.p);
	for (i = 0; i < LIST; i++)
		r.refs[i] = r.p.pages.refs[VFP_DATA + i % (VFP_PAGES - VFP_DATA)];
	flood(register_memory, &r, "regions");
	vf_process_free(&r.v, &r.p);
	end(&r.v);
}

static const struct check_case cases[] = {
	FLOOD_CASE("kicks", run_kicks, "notifications without a request"),
	FLOOD_CASE("requests", run_requests, "a ring full of requests that are refused"),
	FLOOD_CASE("nothing-at-all", run_nothing_at_all,
		   "is connected, and looks at nothing any more"),
	FLOOD_CASE("registrations", run_registrations, "registers memory, and deregisters it"),
	FLOOD_CASE("connections", run_connections, "connects and disconnects"),
};

const struct check_table flood_front = { cases, ARRAY_SIZE(cases) };
