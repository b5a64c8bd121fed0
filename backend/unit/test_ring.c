// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_ring.c - the whole command path over plain shared memory: ring, data pages, threads. Many
 * commands in flight, of several processes, some of which vanish in the middle; then a guest that
 * breaks the ring.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "shared-ring/unit/example.h"
#include "shared-ring/vhca_ring.h"
#include "unit/fakes/fixture.h"
#include "util/clock.h"
#include "vhca/events.h"
#include "worker/ring.h"

#define ORDER 2
#define ENTRIES 32u
#define RING_REF 0u
#define DIR_REF 4u
#define DATA_REF 5u
#define FREE_REF 64u

struct guest {
	struct fixture *fix;
	struct vhca_front front;
	struct xen_vhca_rsp rsp[ENTRIES];
	bool busy[ENTRIES];
};

static struct ring *ring;
static int stop = -1;

static void *serve(void *unused)
{
	struct pollfd polls[] = {
		{ .fd = ring_fd(ring), .events = POLLIN },
		{ .fd = stop, .events = POLLIN },
	};
	int more = 0;

	(void)unused;
	for (;;) {
		poll(polls, 2, more ? 0 : -1);
		if (polls[1].revents)
			return NULL;
		more = ring_service(ring);
		CHECK(more >= 0);
	}
}

static void *data_page(struct guest *g, unsigned int id)
{
	return shm_page(g->fix->shm, DATA_REF + id);
}

static void guest_init(struct guest *g, struct fixture *fix)
{
	uint32_t *dir = shm_page(fix->shm, DIR_REF);
	unsigned int i;

	memset(g, 0, sizeof(*g));
	g->fix = fix;
	for (i = 0; i < ENTRIES; i++)
		dir[i] = DATA_REF + i;
	vhca_front_init(&g->front, shm_page(fix->shm, RING_REF), ORDER);
}

static void params_init(struct ring_params *params)
{
	*params = (struct ring_params){ .ring_order = ORDER,
					.ring_refs = { 0, 1, 2, 3 },
					.data_dir_ref = DIR_REF,
					.event_channel = 9 };
}

/* A guest that is connected. */
static struct ring *connect_guest(struct guest *g, struct fixture *fix)
{
	struct ring_params params;
	struct ring *s;
	char why[96];

	fixture_init(fix, false, NULL);
	guest_init(g, fix);
	params_init(&params);
	s = ring_new(&fix->v, &params, why, sizeof(why));
	CHECK(s);
	return s;
}

static void send(struct guest *g, unsigned int id, struct xen_vhca_req req)
{
	req.id = id;
	CHECK(!vhca_front_put(&g->front, &req));
	g->busy[id] = true;
	if (vhca_front_push(&g->front))
		eventfd_write(g->fix->shm->to_back, 1);
}

/* Waits for all that is in flight. */
static void collect(struct guest *g)
{
	struct pollfd event = { .fd = g->fix->shm->to_front[CHANNEL_COMMANDS], .events = POLLIN };
	struct xen_vhca_rsp rsp;
	eventfd_t count;
	unsigned int i;
	int got;

	for (;;) {
		while ((got = vhca_front_next(&g->front, &rsp)) == 1) {
			CHECK(g->busy[rsp.id]);
			g->busy[rsp.id] = false;
			g->rsp[rsp.id] = rsp;
		}
		CHECK(!got);
		for (i = 0; i < ENTRIES && !g->busy[i]; i++)
			;
		if (i == ENTRIES)
			return;
		if (vhca_front_more(&g->front))
			continue;
		CHECK(poll(&event, 1, 10000) == 1); /* or an event was lost */
		eventfd_read(event.fd, &count);
	}
}

/* What has come until now: how many responses. */
static unsigned int come(struct guest *g)
{
	struct xen_vhca_rsp rsp;
	unsigned int n = 0;
	int got;

	while ((got = vhca_front_next(&g->front, &rsp)) == 1) {
		CHECK(g->busy[rsp.id]);
		g->busy[rsp.id] = false;
		g->rsp[rsp.id] = rsp;
		n++;
	}
	CHECK(!got);
	return n;
}

static struct xen_vhca_rsp *one(struct guest *g, struct xen_vhca_req req)
{
	send(g, 0, req);
	collect(g);
	return &g->rsp[0];
}

static struct xen_vhca_req inline_mr(xen_vhca_handle_t pd, unsigned int pages)
{
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_MR_REG,
				      .u.mr_reg = { .pd = pd,
						    .flags = XEN_VHCA_MR_REG_INLINE,
						    .pages = pages,
						    .length = pages * 4096ull,
						    .access = 1 } };
}

static void fill_refs(struct guest *g, unsigned int id, unsigned int pages)
{
	uint32_t *refs = data_page(g, id);
	unsigned int i;

	for (i = 0; i < pages; i++)
		refs[i] = FREE_REF + i;
}

static xen_vhca_handle_t open_process(struct guest *g, xen_vhca_handle_t *pd)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_CTX_OPEN };
	xen_vhca_handle_t ctx;

	CHECK(!one(g, req)->status);
	ctx = g->rsp[0].u.object.handle;
	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_PD_ALLOC, .u.pd_alloc.ctx = ctx };
	CHECK(!one(g, req)->status);
	*pd = g->rsp[0].u.object.handle;
	return ctx;
}

/* Registrations in all slots but one; in that one, the context is closed under them. */
static void closing_under_load(struct guest *g)
{
	struct xen_vhca_req close = { .op = XEN_VHCA_OP_CTX_CLOSE }, mr;
	unsigned int round, id, pages;
	xen_vhca_handle_t pd;

	for (round = 0; round < 60; round++) {
		close.u.object.handle = open_process(g, &pd);
		for (id = 1; id < ENTRIES; id++) {
			pages = id % 3 ? 600 : 2; /* slow ones, and quick ones */
			fill_refs(g, id, pages);
			if (id == round % ENTRIES)
				send(g, 0, close);
			mr = inline_mr(pd, pages);
			if (id & 1)
				mr.u.mr_reg.flags |= XEN_VHCA_MR_REG_PERSISTENT;
			send(g, id, mr);
		}
		if (!g->busy[0] && round % ENTRIES == 0)
			send(g, 0, close);
		collect(g);
		for (id = 1; id < ENTRIES; id++)
			CHECK(g->rsp[id].status == XEN_VHCA_OK ||
			      g->rsp[id].status == XEN_VHCA_E_HANDLE);
		if (g->rsp[0].op != XEN_VHCA_OP_CTX_CLOSE)
			CHECK(!one(g, close)->status);
		CHECK(fixture_is_empty(g->fix));
	}
}

static void set_slow(struct fixture *fix, unsigned int us)
{
	pthread_mutex_lock(&fix->v.lock); /* the commands take it before they look */
	fix->fake.slow_us = us;
	pthread_mutex_unlock(&fix->v.lock);
}

/* A slow command does not hold up quick ones. */
static void overtaking(struct guest *g)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_PORT_QUERY };
	struct xen_vhca_rsp rsp;
	xen_vhca_handle_t ctx, pd;
	unsigned int quick = 0;

	ctx = open_process(g, &pd);
	set_slow(g->fix, 300000);
	fill_refs(g, 1, 1024);
	send(g, 1, inline_mr(pd, 1024));
	send(g, 2, req);
	while (quick < 1) {
		int got = vhca_front_next(&g->front, &rsp);

		CHECK(got >= 0);
		if (!got)
			continue;
		CHECK(rsp.id == 2); /* the slow one is not through yet */
		g->busy[rsp.id] = false;
		quick++;
	}
	collect(g);
	set_slow(g->fix, 0);
	CHECK(!g->rsp[1].status);
	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_CTX_CLOSE, .u.object.handle = ctx };
	CHECK(!one(g, req)->status);
}

/*
 * What is on the ring together is with the HCA together: eight commands. The HCA aborts otherwise. The
 * thread of the ring may not see all of them end, and is told, as it writes the status.
 */
static void together(void)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_PD_ALLOC, .flags = XEN_VHCA_REQ_UNORDERED };
	struct pollfd counted = { .events = POLLIN };
	struct fixture_process p;
	struct fixture fix;
	struct guest g;
	struct ring *s;

	s = connect_guest(&g, &fix);
	fixture_events(&fix);
	counted.fd = events_counted_fd(fix.v.events);
	CHECK(!fixture_process(&fix, &p) && !poll(&counted, 1, 0));
	req.u.pd_alloc.ctx = p.ctx;
	fake_meet_set(&fix.fake, 8);
	for (req.id = 0; req.id < 8; req.id++) {
		CHECK(!vhca_front_put(&g.front, &req));
		g.busy[req.id] = true;
	}
	CHECK(vhca_front_push(&g.front));
	CHECK(!ring_service(s));
	collect(&g);
	for (req.id = 0; req.id < 8; req.id++)
		CHECK(!g.rsp[req.id].status);
	CHECK(poll(&counted, 1, 10000) == 1);
	ring_free(s);
	fixture_fini(&fix);
}

/* What does not say that its order does not matter has been done, in its turn, when the thread of the ring is through. */
static void in_turn(void)
{
	struct fixture_process p;
	struct xen_vhca_req req;
	struct fixture fix;
	struct guest g;
	struct ring *s;

	s = connect_guest(&g, &fix);
	CHECK(!fixture_process(&fix, &p));
	set_slow(&fix, 20000);
	req = inline_mr(p.pd, 1);
	for (req.id = 0; req.id < 7; req.id++) {
		fill_refs(&g, req.id, 1);
		CHECK(!vhca_front_put(&g.front, &req));
		g.busy[req.id] = true;
	}
	CHECK(vhca_front_push(&g.front));
	CHECK(!ring_service(s) && come(&g) == 7);
	while (req.id--)
		CHECK(!g.rsp[req.id].status);
	ring_free(s);
	fixture_fini(&fix);
}

/* Two allocations of a PD, of which the second is asked for when the first is with the HCA. */
static void send_two(struct guest *g, struct xen_vhca_req req)
{
	fake_meet_set(&g->fix->fake, 2);
	send(g, 1, req);
	while (!fake_met(&g->fix->fake))
		sched_yield();
	send(g, 2, req);
}

/*
 * Two processes, whose commands come one after the other: the first time the second waits for the
 * first one's end; from then on they are with the HCA together.
 */
static void crowded(struct guest *g)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_PD_ALLOC, .flags = XEN_VHCA_REQ_UNORDERED };
	struct fake_hca *fake = &g->fix->fake;
	xen_vhca_handle_t ctx, pd;
	unsigned int i;

	ctx = open_process(g, &pd);
	req.u.pd_alloc.ctx = ctx;
	for (i = 0; i < 32; i++) /* alone: nothing is left of a crowd before */
		CHECK(!one(g, req)->status);
	send_two(g, req);
	fake_meet(fake);
	collect(g);
	for (i = 0; i < 4; i++) {
		send_two(g, req);
		collect(g);
	}
	fake_meet_set(fake, 0);
	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_CTX_CLOSE, .u.object.handle = ctx };
	CHECK(!one(g, req)->status);
}

/* Of a guest on whose QPs a rate is imposed, modifying one is done in its turn. */
static void rates(void)
{
	struct qp_limits limits;
	struct fixture fix;

	fixture_init(&fix, false, NULL);
	CHECK(cmd_waits_for_hca(&fix.v, XEN_VHCA_OP_QP_MODIFY));
	limits = vhca_qp_limits(&fix.v);
	limits.rate = 10000;
	vhca_set_qp_limits(&fix.v, &limits);
	CHECK(!cmd_waits_for_hca(&fix.v, XEN_VHCA_OP_QP_MODIFY));
	CHECK(cmd_waits_for_hca(&fix.v, XEN_VHCA_OP_QP_CREATE));
	CHECK(!cmd_waits_for_hca(&fix.v, XEN_VHCA_OP_CQ_RESIZE));
	CHECK(!cmd_waits_for_hca(&fix.v, 0) && !cmd_waits_for_hca(&fix.v, 255));
	fixture_fini(&fix);
}

static void device_attr(struct guest *g)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_DEVICE_QUERY };

	CHECK(!one(g, req)->status);
	CHECK(!vhca_check_device_attr(data_page(g, 0)));
}

static void working(void)
{
	pthread_t thread;
	struct guest g;
	struct fixture fix;

	ring = connect_guest(&g, &fix);
	stop = eventfd(0, EFD_CLOEXEC);
	CHECK(!pthread_create(&thread, NULL, serve, NULL));
	device_attr(&g);
	closing_under_load(&g);
	overtaking(&g);
	crowded(&g);
	eventfd_write(stop, 1);
	pthread_join(thread, NULL);
	close(stop);
	ring_free(ring);
	CHECK(fixture_is_empty(&fix));
	fixture_fini(&fix);
}

/* The ring ends while commands are at work. */
static void sudden_end(void)
{
	xen_vhca_handle_t pd;
	pthread_t thread;
	struct guest g;
	struct fixture fix;
	unsigned int id;

	ring = connect_guest(&g, &fix);
	stop = eventfd(0, EFD_CLOEXEC);
	CHECK(!pthread_create(&thread, NULL, serve, NULL));
	open_process(&g, &pd);
	for (id = 0; id < ENTRIES; id++) {
		fill_refs(&g, id, 512);
		send(&g, id, inline_mr(pd, 512));
	}
	eventfd_write(stop, 1);
	pthread_join(thread, NULL);
	close(stop);
	ring_free(ring);
	fixture_fini(&fix);
}

static void bad_parameters(void)
{
	struct ring_params params;
	struct guest g;
	struct fixture fix;
	char why[96];

	fixture_init(&fix, false, NULL);
	guest_init(&g, &fix);
	params_init(&params);
	params.ring_order = 5;
	CHECK(!ring_new(&fix.v, &params, why, sizeof(why)));
	params_init(&params);
	params.ring_refs[3] = SHM_PAGES;
	CHECK(!ring_new(&fix.v, &params, why, sizeof(why)));
	params_init(&params);
	params.data_dir_ref = ~0u;
	CHECK(!ring_new(&fix.v, &params, why, sizeof(why)));
	params_init(&params);
	((uint32_t *)shm_page(fix.shm, DIR_REF))[31] = SHM_PAGES;
	CHECK(!ring_new(&fix.v, &params, why, sizeof(why)));
	guest_init(&g, &fix);
	params.event_channel = 0;
	CHECK(!ring_new(&fix.v, &params, why, sizeof(why)));
	fixture_fini(&fix);
}

static void broken_ring(void)
{
	struct xen_vhca_sring *sring;
	struct ring *s;
	struct guest g;
	struct fixture fix;

	s = connect_guest(&g, &fix);
	CHECK(!ring_service(s));
	sring = shm_page(fix.shm, RING_REF);
	sring->req_prod = 1000;
	CHECK(ring_service(s) == -EPROTO);
	sring->req_prod = 0;
	CHECK(ring_service(s) == -EPROTO); /* for good */
	ring_free(s);
	fixture_fini(&fix);
}

static unsigned int ring_until_late(struct ring *s, struct fixture *fix)
{
	unsigned int n;

	for (n = 0; ring_timeout_ms(s) < 0; n++) {
		CHECK(n < 100000);
		eventfd_write(fix->shm->to_back, 1);
		CHECK(!ring_service(s));
	}
	return n;
}

/* A guest that rings and rings: after a few times it is heard later, until it has something to say. */
static void idle_kicks(void)
{
	unsigned int heard, i;
	struct ring *s;
	struct guest g;
	struct fixture fix;

	s = connect_guest(&g, &fix);
	CHECK(!ring_service(s) && ring_timeout_ms(s) == -1);
	i = ring_until_late(s, &fix);
	heard = fix.shm->done;
	CHECK(i >= 64 && heard == i - 1 && fix.v.counters.kicks == i);
	while (ring_timeout_ms(s))
		;
	CHECK(!ring_service(s) && fix.shm->done == heard + 1 && ring_timeout_ms(s) == -1);
	ring_until_late(s, &fix);
	heard = fix.shm->done;
	send(&g, 0, (struct xen_vhca_req){ .op = XEN_VHCA_OP_DEVICE_QUERY });
	CHECK(!ring_service(s) && fix.shm->done == heard + 1 && ring_timeout_ms(s) == -1);
	ring_free(s);
	fixture_fini(&fix);
}

/* A guest whose commands the HCA refuses: after a few of them the next one is taken later, one at a time. */
static void faults(void)
{
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_QP_MODIFY);
	const uint64_t begun = clock_ns();
	unsigned int refused = 0, i;
	struct fixture_process p;
	struct ring *s;
	struct guest g;
	struct fixture fix;
	uint64_t ms;

	s = connect_guest(&g, &fix);
	CHECK(!fixture_process(&fix, &p));
	/* What is refused without the HCA costs nothing. */
	req.u.qp_modify.qp = ~0u;
	for (i = 0; i < 2 * VHCA_FAULTS; i++)
		CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_HANDLE);
	CHECK(!vhca_pause_ms(&fix.v));
	req.u.qp_modify.qp = p.qp;
	req.u.qp_modify.attr.state = 3;
	for (; !vhca_pause_ms(&fix.v); refused++)
		CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_HCA);
	CHECK(refused >= VHCA_FAULTS);
	for (i = 0; i < 4; i++, refused++) {
		send(&g, i, req);
		do
			CHECK(!ring_service(s));
		while (fix.v.counters.commands[req.op] == refused + 2 * VHCA_FAULTS);
		collect(&g);
		CHECK(g.rsp[i].status == XEN_VHCA_E_HCA);
	}
	ms = (clock_ns() - begun) / 1000000;
	printf("%u commands refused in %u ms\n", refused, (unsigned int)ms);
	CHECK(refused <= VHCA_FAULTS + ms / VHCA_FAULT_MS + 1);
	ring_free(s);
	fixture_fini(&fix);
}

/*
 * What is posted is done, in its turn, and told with the next response that is waited for, at one notification; at
 * once only if it was refused.
 */
static void posted(void)
{
	struct xen_vhca_req init = example_request(XEN_VHCA_OP_QP_MODIFY), req;
	struct fixture_process p;
	struct ring *s;
	struct guest g;
	struct fixture fix;
	unsigned int i;

	s = connect_guest(&g, &fix);
	CHECK(!fixture_process(&fix, &p));
	init.u.qp_modify.qp = p.qp;
	init.flags = XEN_VHCA_REQ_POSTED;
	for (i = 0; i < 3; i++)
		send(&g, i, init);
	CHECK(!ring_service(s));
	CHECK(fix.v.counters.commands[XEN_VHCA_OP_QP_MODIFY] == 3 && !come(&g));
	CHECK(!fix.v.counters.notifies);

	/* put on the ring without a word, and shown with what follows */
	init.id = 3;
	CHECK(!vhca_front_put(&g.front, &init));
	g.busy[3] = true;
	CHECK(!ring_service(s) && fix.v.counters.commands[XEN_VHCA_OP_QP_MODIFY] == 3);
	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_QP_DESTROY, .u.object.handle = p.qp };
	send(&g, 4, req);
	CHECK(!ring_service(s) && come(&g) == 5 && fix.v.counters.notifies == 1);
	for (i = 0; i < 5; i++)
		CHECK(!g.rsp[i].status);
	CHECK(!vhca_front_more(&g.front));

	/* a CQ, and behind it a QP on it, whose maker does not know it yet */
	req = example_request(XEN_VHCA_OP_CQ_CREATE);
	req.u.cq_create.ctx = p.ctx;
	req.u.cq_create.uar = p.uar;
	req.u.cq_create.buf.umem = req.u.cq_create.dbr.umem = p.umem;
	req.u.cq_create.label = 9;
	req.flags = XEN_VHCA_REQ_POSTED;
	send(&g, 0, req);
	req = example_request(XEN_VHCA_OP_QP_CREATE);
	req.u.qp_create.pd = p.pd;
	req.u.qp_create.uar = p.uar;
	req.u.qp_create.buf.umem = req.u.qp_create.dbr.umem = p.umem;
	req.u.qp_create.flags = XEN_VHCA_QP_SEND_CQ_LABEL | XEN_VHCA_QP_RECV_CQ_LABEL;
	req.u.qp_create.send_cq = req.u.qp_create.recv_cq = 9;
	send(&g, 1, req);
	CHECK(!ring_service(s) && come(&g) == 2 && !g.rsp[0].status && !g.rsp[1].status);
	CHECK(!vhca_front_more(&g.front) && fix.v.counters.notifies == 2);

	/* the QP is gone; and a request that cannot be posted */
	send(&g, 0, init);
	CHECK(!ring_service(s) && come(&g) == 1 && g.rsp[0].status == XEN_VHCA_E_HANDLE);
	CHECK(!vhca_front_more(&g.front) && fix.v.counters.notifies == 3);
	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_PORT_QUERY, .flags = XEN_VHCA_REQ_POSTED };
	send(&g, 0, req);
	CHECK(!ring_service(s) && come(&g) == 1 && g.rsp[0].status == XEN_VHCA_E_RESERVED);
	ring_free(s);
	fixture_fini(&fix);
}

int main(void)
{
	posted();
	together();
	in_turn();
	rates();
	faults();
	idle_kicks();
	bad_parameters();
	broken_ring();
	working();
	sudden_end();
	return EXIT_SUCCESS;
}
