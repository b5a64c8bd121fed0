// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Floods by a frontend in user space, in a guest without xen-ibfront.
 */
#include <unistd.h>

#include "flood.h"
#include "vfront_make.h"

#define ORDER 2
#define KICKS 1000 /* at a time */

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

static const struct check_case cases[] = {
	FLOOD_CASE("kicks", run_kicks, "notifications without a request"),
	FLOOD_CASE("requests", run_requests, "a ring full of requests that are refused"),
	FLOOD_CASE("nothing-at-all", run_nothing_at_all,
		   "is connected, and looks at nothing any more"),
	FLOOD_CASE("connections", run_connections, "connects and disconnects"),
};

const struct check_table flood_front = { cases, ARRAY_SIZE(cases) };
