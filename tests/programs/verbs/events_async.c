// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Asynchronous events: SRQ limit, last WQE, communication established, QP errors, the port, the device. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "events.h"

/* How long something from outside (a link that goes down) may take. */
#define OUTSIDE_MS 60000

/* The limit rings once, when the number of receives falls below it, and not before it is set again. */
static void srq_limit(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC), conf_a = conf;
	struct ibv_srq_attr attr = { .srq_limit = 5 };
	struct ibv_async_event event = { 0 };
	struct vp_dev dev_a, dev_b;
	struct vp_end a, b;
	struct vp_wr w;
	int i, round;

	(void)arg;
	vp_open_both(&dev_a, &dev_b);
	conf.use_srq = true;
	vp_end_make(&a, &dev_a, NULL, &conf_a);
	vp_end_make(&b, &dev_b, NULL, &conf);
	vp_connect(&a, &b);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 10; i++)
			vp_recv(&b, i, 0, 64);
		errno = ibv_modify_srq(b.srq, &attr, IBV_SRQ_LIMIT);
		require(!errno, "set the limit to 5");
		for (i = 0; i < 10; i++) {
			vp_send(&a, vp_wr(&w, &a, IBV_WR_SEND, 0, 64));
			vp_expect(&a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "a send");
			vp_expect(&b.rcq, i, IBV_WC_SUCCESS, "its receive");
			if (i == 4)
				vp_expect_no_async(&dev_b, "five receives left");
		}
		require(vp_async(&dev_b, &event, opt.deadline_ms), "an event comes");
		check(event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED,
		      "it is the limit (got \"%s\")", ibv_event_type_str(event.event_type));
		check(event.element.srq == b.srq, "and names the SRQ");
		vp_expect_no_async(&dev_b, "the limit rings once");
	}
	vp_end_free(&a);
	vp_end_free(&b);
	vp_close_both(&dev_a, &dev_b);
}

/* A QP on an SRQ that fails says when it will take no more receives. */
static void last_wqe(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vp_both both;

	(void)arg;
	conf.use_srq = true;
	vp_both_make(&both, conf);
	vp_move_to_error(&both.pair.b);
	vp_expect_qp_event(&both.pair.b, IBV_EVENT_QP_LAST_WQE_REACHED,
			   "a QP on an SRQ that was moved to ERR");
	vp_expect_no_async(&both.dev_b, "after that");
	vp_both_free(&both);
}

/* The first message to a QP in RTR. */
static void comm_established(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vp_dev dev_a, dev_b;
	struct vp_end a, b;
	struct vp_wr w;

	(void)arg;
	vp_open_both(&dev_a, &dev_b);
	vp_end_make(&a, &dev_a, NULL, &conf);
	vp_end_make(&b, &dev_b, NULL, &conf);
	a.peer = &b;
	b.peer = &a;
	vp_move(&a, &b, IBV_QPS_INIT);
	vp_move(&b, &a, IBV_QPS_INIT);
	vp_move(&b, &a, IBV_QPS_RTR);
	vp_move(&a, &b, IBV_QPS_RTR);
	vp_move(&a, &b, IBV_QPS_RTS);
	vp_recv(&b, 1, 0, 64);
	vp_send(&a, vp_wr(&w, &a, IBV_WR_SEND, 0, 64));
	vp_expect(&a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "a send to a QP in RTR");
	vp_expect(&b.rcq, 1, IBV_WC_SUCCESS, "its receive");
	vp_expect_qp_event(&b, IBV_EVENT_COMM_EST, "a QP in RTR that has received");
	vp_move(&b, &a, IBV_QPS_RTS);
	vp_end_free(&a);
	vp_end_free(&b);
	vp_close_both(&dev_a, &dev_b);
}

/* A refused access is reported to the responder, once, and names its QP and no other. */
static void access_error(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vp_both both;
	struct vp_pair other;
	struct vp_wr w;

	(void)arg;
	vp_both_make(&both, conf);
	vp_pair_make(&other, &both.dev_a, &both.dev_b, &conf);
	vp_wr(&w, &both.pair.a, IBV_WR_RDMA_WRITE, 0, 64);
	w.wr.wr.rdma.rkey = other.b.mr->rkey;
	vp_send(&both.pair.a, &w.wr);
	vp_expect(&both.pair.a.scq, w.wr.wr_id, IBV_WC_REM_ACCESS_ERR,
		  "a write with a key of another PD");
	vp_expect_qp_event(&both.pair.b, IBV_EVENT_QP_ACCESS_ERR, "the responder");
	vp_expect_no_async(&both.dev_b, "after that");
	vp_expect_no_async(&both.dev_a, "at the requester");
	vp_exchange(&other, "the other pair");
	vp_pair_free(&other);
	vp_both_free(&both);
}

/* A QP takes its unread events with it: destroying it neither waits for them nor leaves them behind. */
static void destroyed_with_event(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct pollfd p = { .events = POLLIN };
	struct ibv_async_event event;
	struct vp_both both;

	(void)arg;
	conf.use_srq = true;
	vp_both_make(&both, conf);
	vp_move_to_error(&both.pair.b);
	p.fd = both.dev_b.ctx->async_fd;
	require(poll(&p, 1, opt.deadline_ms) == 1, "an event waits");
	vp_qp_destroy(&both.pair.b);
	check(!vp_async(&both.dev_b, &event, 50), "the QP is gone, and its event with it");
	vp_both_free(&both);
}

static bool port_event(struct vp_dev *dev, enum ibv_event_type type)
{
	uint64_t until = now_ms() + OUTSIDE_MS;
	struct ibv_async_event event;
	struct pollfd p = { .fd = dev->ctx->async_fd, .events = POLLIN };

	while (now_ms() < until) {
		if (poll(&p, 1, 1000) != 1 || ibv_get_async_event(dev->ctx, &event))
			continue;
		ibv_ack_async_event(&event);
		note("event \"%s\"", ibv_event_type_str(event.event_type));
		if (event.event_type == type)
			return true;
	}
	return false;
}

static void expect_port_state(struct vp_dev *dev, enum ibv_port_state state)
{
	uint64_t until = now_ms() + opt.deadline_ms;
	struct ibv_port_attr port;

	do {
		require(!ibv_query_port(dev->ctx, dev->port_num, &port), "query the port");
	} while (port.state != state && now_ms() < until);
	check(port.state == state, "the port is %s (it is %s)", ibv_port_state_str(state),
	      ibv_port_state_str(port.state));
}

/*
 * Somebody outside takes the link of the first device down, and up again, when this program says so. QPs that are idle
 * meanwhile outlive it.
 */
static void port_flap(const void *arg)
{
	struct vp_both both;

	(void)arg;
	vp_both_make(&both, vp_conf(IBV_QPT_RC));
	vp_exchange(&both.pair, "before");
	printf("waiting: link down\n");
	fflush(stdout);
	require(port_event(&both.dev_a, IBV_EVENT_PORT_ERR), "the port goes down");
	expect_port_state(&both.dev_a, IBV_PORT_DOWN);
	printf("waiting: link up\n");
	fflush(stdout);
	require(port_event(&both.dev_a, IBV_EVENT_PORT_ACTIVE), "the port comes back");
	expect_port_state(&both.dev_a, IBV_PORT_ACTIVE);
	vp_exchange(&both.pair, "after");
	vp_both_free(&both);
}

/*
 * Work for a device that is gone is lost, and does no harm: neither before the kernel has taken the doorbells away, nor
 * then, nor afterwards.
 */
static void post_for_nothing(struct vp_end *end)
{
	struct ibv_sge sge = { (uintptr_t)end->mr->addr, 8, end->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 100; i++) {
		ibv_post_send(end->qp, &wr, &bad);
		ibv_req_notify_cq(end->scq.cq, 0);
		ibv_poll_cq(end->scq.cq, 1, &wc);
		usleep(20000);
	}
}

/* Somebody outside breaks the first device. Its users are told, and can let go of everything. */
static void device_fatal(const void *arg)
{
	struct ibv_async_event event;
	struct vp_both both;

	(void)arg;
	vp_both_make(&both, vp_conf(IBV_QPT_RC));
	vp_exchange(&both.pair, "before");
	printf("waiting: device fatal\n");
	fflush(stdout);
	do {
		require(vp_async(&both.dev_a, &event, OUTSIDE_MS), "an event comes");
		note("event \"%s\"", ibv_event_type_str(event.event_type));
	} while (event.event_type != IBV_EVENT_DEVICE_FATAL);
	post_for_nothing(&both.pair.a);
	/* Whether the kernel still knows the objects or not: letting go must end. */
	ibv_destroy_qp(both.pair.a.qp);
	ibv_dereg_mr(both.pair.a.mr);
	ibv_destroy_cq(both.pair.a.scq.cq);
	ibv_destroy_cq(both.pair.a.rcq.cq);
	ibv_dealloc_pd(both.pair.a.pd);
	ibv_close_device(both.dev_a.ctx);
	vp_end_free(&both.pair.b);
	vp_close(&both.dev_b);
}

static const struct check_case cases[] = {
	CHECK_CASE("async-srq-limit", srq_limit,
		   "the limit of an SRQ rings once each time it is set"),
	CHECK_CASE("async-last-wqe", last_wqe, "a failed QP on an SRQ reports its last receive"),
	CHECK_CASE("async-comm-established", comm_established, "the first message to a QP in RTR"),
	CHECK_CASE("async-access-error", access_error,
		   "a refused access is reported to the responder, once"),
	CHECK_CASE("async-destroyed-with-event", destroyed_with_event,
		   "a QP takes its unread events with it"),
	CHECK_CASE("port-flap", port_flap, "link down and up (somebody outside does it)",
		   .seconds = 150, .on_demand = true),
	CHECK_CASE("device-fatal", device_fatal, "a device that breaks (somebody outside does it)",
		   .seconds = 150, .on_demand = true),
};

const struct check_table events_async = { .cases = cases, .count = ARRAY_SIZE(cases) };
