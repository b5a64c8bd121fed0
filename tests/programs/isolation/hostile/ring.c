// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ring itself: after an index or id that cannot be, nothing in it can be believed, and the backend closes the vHCA. What
 * is only unusual, such as a ring that is always full, or an event channel that is gone, it must stand.
 */
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

#define BROKEN "broke the command ring"
#define MANY 600 /* several times what is in the largest ring; if --count does not say it */
#define LIST 256 /* pages: enough to take its time, few enough for all slots at once */

static struct xen_vhca_req port_query(unsigned int id)
{
	return (struct xen_vhca_req){ .id = id, .op = XEN_VHCA_OP_PORT_QUERY };
}

/* Each value takes a connection: the first two of them, or with --count all. */
static size_t some(size_t all)
{
	return opt.count ? all : 2;
}

static void run_index(const void *arg)
{
	const int32_t steps[] = { 33, -1, 0x7fffffff, (int32_t)0x80000000 };
	struct hostile h;
	size_t i;

	(void)arg;
	for (i = 0; i < some(ARRAY_SIZE(steps)); i++) {
		hostile_begin(&h);
		h.v.front.ring.sring->req_prod += steps[i];
		vf_kick(&h.v);
		hostile_closed(&h.v, BROKEN);
		vf_close(&h.v);
	}
}

static void run_id(const void *arg)
{
	const uint16_t ids[] = { 32, 0xffff, 256, 0x8000 };
	struct xen_vhca_req req;
	struct hostile h;
	size_t i;

	(void)arg;
	for (i = 0; i < some(ARRAY_SIZE(ids)); i++) {
		hostile_begin(&h);
		req = port_query(ids[i]);
		vf_put_raw(&h.v, &req);
		vf_push(&h.v);
		hostile_closed(&h.v, BROKEN);
		vf_close(&h.v);
	}
}

/* The first takes its time in another thread of the daemon; the second comes with it. */
static void run_id_twice(const void *arg)
{
	struct xen_vhca_req req;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	hostile_refs(&h, (uint32_t *)vf_data(&h.v, 5), XEN_VHCA_DATA_REFS);
	req = vf_reg_inline(h.p.pd, XEN_VHCA_DATA_REFS);
	req.id = 5;
	vf_put_raw(&h.v, &req);
	req = port_query(5);
	vf_put_raw(&h.v, &req);
	vf_push(&h.v);
	hostile_closed(&h.v, BROKEN);
	vf_close(&h.v);
}

/* With commands at work in all threads of the daemon. */
static void run_broken_under_load(const void *arg)
{
	uint32_t refs[LIST];
	struct xen_vhca_req req;
	struct hostile h;
	unsigned int i;

	(void)arg;
	hostile_begin(&h);
	hostile_refs(&h, refs, LIST);
	req = vf_reg_inline(h.p.pd, LIST);
	for (i = 0; i < h.v.entries - 1; i++)
		vf_send(&h.v, &req, refs, LIST);
	req = port_query(0xffff);
	vf_put_raw(&h.v, &req);
	vf_push(&h.v);
	hostile_closed(&h.v, BROKEN);
	vf_close(&h.v);
}

static unsigned int many(void)
{
	return opt.count ? opt.count : MANY;
}

/* All slots in use all the time, quick commands and slow ones, in the largest ring. */
static void run_many(const void *arg)
{
	uint32_t refs[100];
	struct xen_vhca_req req[4];
	struct vf_process p;
	struct vfront v;
	unsigned int i;

	(void)arg;
	vf_open(&v, 0);
	vf_connect(&v, XEN_VHCA_MAX_RING_PAGE_ORDER);
	vf_process_make(&v, &p);
	for (i = 0; i < ARRAY_SIZE(refs); i++)
		refs[i] = p.pages.refs[VFP_DATA];
	req[0] = port_query(0);
	req[1] = vf_object(XEN_VHCA_OP_QP_QUERY, p.qp);
	req[2] = vf_reg_mr(&p);
	req[2].u.mr_reg.length = 1 << 20; /* slow, and refused */
	req[3] = vf_create_mem(p.ctx, ARRAY_SIZE(refs));
	req[3].u.umem_create.pages = 0;
	for (i = 0; i < many(); i++)
		vf_send(&v, &req[i % 4], refs, ARRAY_SIZE(refs));
	vf_collect(&v, 0);
	check(v.tally.refused[XEN_VHCA_OP_MR_REG][XEN_VHCA_E_RANGE] == many() / 4,
	      "each answer came");
	hostile_counted(&v);
	vf_process_free(&v, &p);
	vf_disconnect(&v);
	hostile_works(&v);
	vf_close(&v);
}

/* Rung without anything on the ring. */
static void run_kicks(const void *arg)
{
	struct hostile h;
	int i;

	(void)arg;
	hostile_begin(&h);
	for (i = 0; i < 20000; i++)
		vf_kick(&h.v);
	hostile_end(&h);
}

/* The answers are on the ring even so. */
static void run_no_channel(const void *arg)
{
	uint64_t until = now_ms() + opt.deadline_ms;
	unsigned int answered = 0, i;
	struct xen_vhca_rsp rsp;
	struct xen_vhca_req req;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	req = vf_object(XEN_VHCA_OP_QP_QUERY, h.p.qp);
	for (i = 0; i < h.v.entries; i++)
		vf_send(&h.v, &req, NULL, 0);
	require(!xenevtchn_unbind(h.v.evtchn, h.v.port), "close the event channel");
	h.v.port = 0;
	while (answered < h.v.entries && now_ms() < until)
		answered += vhca_front_next(&h.v.front, &rsp) == 1;
	check(answered == h.v.entries, "%u of %u answers come", answered, h.v.entries);
	vf_disconnect(&h.v);
	hostile_works(&h.v);
	vf_close(&h.v);
}

/* Indexes that only the backend writes, written by the guest: it does not look at them. */
static void run_answers_spoiled(const void *arg)
{
	struct xen_vhca_req req;
	struct hostile h;
	uint32_t real;
	int i;

	(void)arg;
	hostile_begin(&h);
	req = vf_object(XEN_VHCA_OP_QP_QUERY, h.p.qp);
	for (i = 0; i < 100; i++) {
		real = h.v.front.ring.sring->rsp_prod;
		h.v.front.ring.sring->rsp_prod = real + 0x40000000;
		h.v.front.ring.sring->rsp_event = rand();
		h.v.front.ring.sring->rsp_prod = real;
		require(!vf_do(&h.v, &req)->status, "a command after the indexes were spoiled");
	}
	hostile_end(&h);
}

static unsigned int refusals_logged(const char *log)
{
	unsigned int n = 0;

	for (; (log = strstr(log, " refused: ")); log++)
		n++;
	return n;
}

/* Ten lines at once, and one a second after that. */
static void run_log(const void *arg)
{
	struct xen_vhca_req req;
	unsigned int lines, i;
	uint64_t start;
	struct hostile h;
	char *log;

	(void)arg;
	hostile_begin(&h);
	req = vf_object(XEN_VHCA_OP_QP_DESTROY, 0x3ffff);
	free(ask("log"));
	start = now_ms();
	for (i = 0; i < many(); i++)
		vf_send(&h.v, &req, NULL, 0);
	vf_collect(&h.v, 0);
	log = ask("log");
	lines = refusals_logged(log);
	check(lines >= 1 && lines <= 12 + (now_ms() - start) / 1000,
	      "%u refusals are %u lines of the log", many(), lines);
	free(log);
	hostile_end(&h);
}

static const struct check_case cases[] = {
	CHECK_CASE("ring-index", run_index, "a producer index that is too far ahead",
		   .seconds = 180),
	CHECK_CASE("ring-id", run_id, "ids out of range", .seconds = 180),
	CHECK_CASE("ring-id-twice", run_id_twice, "an id that is in use"),
	CHECK_CASE("ring-broken-under-load", run_broken_under_load,
		   "the ring broken while commands are at work"),
	CHECK_CASE("ring-many", run_many, "--count commands, the ring always full", .seconds = 180),
	CHECK_CASE("ring-kicks", run_kicks, "thousands of notifications without commands"),
	CHECK_CASE("ring-no-channel", run_no_channel,
		   "the event channel closed while commands are at work"),
	CHECK_CASE("ring-answers-spoiled", run_answers_spoiled,
		   "indexes of the answers written by the guest"),
	CHECK_CASE("ring-log", run_log, "--count refusals are few lines of the log (--answers)",
		   .seconds = 120),
};

const struct check_table hostile_ring = { cases, ARRAY_SIZE(cases) };
