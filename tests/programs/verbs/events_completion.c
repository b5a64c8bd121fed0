// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Arming a CQ: what rings, what does not, and how often. */
#include <errno.h>
#include <string.h>

#include "events.h"

/* How long to wait before believing that no event comes. */
#define SILENCE_MS 50

static void arm(struct vp_cq *cq, int solicited_only)
{
	errno = ibv_req_notify_cq(cq->cq, solicited_only);
	require(!errno, "arm a CQ");
}

/* One send from a to b, which is complete at both ends. b's completion stays in its CQ. */
static void send_one(struct vp_both *bell, unsigned int flags)
{
	struct vp_end *a = &bell->pair.a;
	struct vp_wr w;

	vp_recv(&bell->pair.b, 1, 0, 64);
	vp_wr(&w, a, IBV_WR_SEND, 0, 64);
	w.wr.send_flags |= flags;
	vp_send(a, &w.wr);
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "the send");
}

static void expect_event(struct vp_end *end, struct vp_cq *cq, const char *what)
{
	struct ibv_cq *rang = vp_event(end->channel, opt.deadline_ms);

	require(rang, "%s: an event comes", what);
	check(rang == cq->cq, "%s: it names the right CQ", what);
}

static void expect_no_event(struct vp_end *end, const char *what)
{
	check(!vp_event(end->channel, SILENCE_MS), "%s: no event comes", what);
}

static void arm_then_arrive(const void *arg)
{
	struct vp_both bell;
	struct vp_end *b = &bell.pair.b;
	int i;

	(void)arg;
	bell_make(&bell);
	for (i = 0; i < 20; i++) {
		arm(&b->rcq, 0);
		send_one(&bell, 0);
		expect_event(b, &b->rcq, "armed, then a message");
		vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "its receive");
	}
	vp_both_free(&bell);
}

/*
 * A completion that came before the CQ was armed need not ring; but then it must be there to be polled. What is lost in
 * neither way is lost.
 */
static void arrive_then_arm(const void *arg)
{
	struct vp_both bell;
	struct vp_end *b = &bell.pair.b;
	int i;

	(void)arg;
	bell_make(&bell);
	for (i = 0; i < 20; i++) {
		send_one(&bell, 0);
		arm(&b->rcq, 0);
		vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "a receive from before the arming");
		/* Whether it rang or not: an arming that is in force rings for the next. */
		if (!vp_event(b->channel, 0))
			note("no event for what was there already");
		while (vp_event(b->channel, 0))
			;
		arm(&b->rcq, 0);
		send_one(&bell, 0);
		expect_event(b, &b->rcq, "armed again, then a message");
		vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "its receive");
	}
	vp_both_free(&bell);
}

static void not_armed(const void *arg)
{
	struct vp_both bell;
	struct vp_end *b = &bell.pair.b;

	(void)arg;
	bell_make(&bell);
	send_one(&bell, 0);
	expect_no_event(b, "never armed");
	vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "the receive");
	vp_both_free(&bell);
}

static void one_event_for_each_arming(const void *arg)
{
	struct vp_both bell;
	struct vp_end *b = &bell.pair.b;
	int i;

	(void)arg;
	bell_make(&bell);
	arm(&b->rcq, 0);
	for (i = 0; i < 5; i++)
		send_one(&bell, 0);
	expect_event(b, &b->rcq, "armed once, five messages");
	expect_no_event(b, "after that");
	for (i = 0; i < 5; i++)
		vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "a receive");
	send_one(&bell, 0);
	expect_no_event(b, "not armed again");
	vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "the receive");
	vp_both_free(&bell);
}

static void solicited_only(const void *arg)
{
	struct vp_both bell;
	struct vp_end *b = &bell.pair.b;
	int i;

	(void)arg;
	bell_make(&bell);
	for (i = 0; i < 5; i++) {
		arm(&b->rcq, 1);
		send_one(&bell, 0);
		expect_no_event(b, "armed for solicited, an unsolicited message");
		send_one(&bell, IBV_SEND_SOLICITED);
		expect_event(b, &b->rcq, "armed for solicited, a solicited message");
		vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "the unsolicited receive");
		vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "the solicited receive");
	}
	vp_both_free(&bell);
}

/* Arming for all after arming for solicited counts for all; the other way around it stays for all (IBTA C11-33). */
static void solicited_then_all(const void *arg)
{
	struct vp_both bell;
	struct vp_end *b = &bell.pair.b;

	(void)arg;
	bell_make(&bell);
	arm(&b->rcq, 1);
	arm(&b->rcq, 0);
	send_one(&bell, 0);
	expect_event(b, &b->rcq, "armed for solicited, then for all");
	vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "the receive");
	vp_both_free(&bell);
}

/* A completion in error rings, solicited or not (IBTA 11.4.2.2). */
static void error_is_solicited(const void *arg)
{
	struct vp_both bell;
	struct vp_end *b = &bell.pair.b;

	(void)arg;
	bell_make(&bell);
	vp_recv(b, 1, 0, 64);
	arm(&b->rcq, 1);
	vp_move_to_error(b);
	expect_event(b, &b->rcq, "armed for solicited, a flush");
	vp_expect(&b->rcq, 1, IBV_WC_WR_FLUSH_ERR, "the receive");
	vp_both_free(&bell);
}

static void send_completions(const void *arg)
{
	struct vp_both bell;
	struct vp_end *a = &bell.pair.a;
	struct vp_wr w;
	int i;

	(void)arg;
	bell_make(&bell);
	for (i = 0; i < 20; i++) {
		arm(&a->scq, 0);
		vp_wr(&w, a, i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, 4096);
		vp_send(a, &w.wr);
		expect_event(a, &a->scq, "a request that completes");
		vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "the request");
	}
	vp_both_free(&bell);
}

/* The receives of b complete on a CQ of this vector, which rings on the channel. */
static void ringing_pair_make(struct vp_pair *pair, struct vp_dev *dev_a, struct vp_dev *dev_b,
			      struct ibv_comp_channel *channel, int vector)
{
	struct vp_end *b = &pair->b;

	pair->dev_a = dev_a;
	pair->dev_b = dev_b;
	pair->conf = vp_conf(IBV_QPT_RC);
	vp_end_make(&pair->a, dev_a, NULL, &pair->conf);
	vp_end_make_no_qp(b, dev_b, NULL, &pair->conf);
	vp_cq_free(&b->rcq);
	b->rcq.cq = ibv_create_cq(dev_b->ctx, pair->conf.cqe, NULL, channel, vector);
	require(b->rcq.cq, "create a CQ on vector %d", vector);
	b->qp = vp_qp_create(b, &pair->conf);
	require(b->qp, "create a QP");
	vp_connect(&pair->a, b);
}

/* Many CQs ring on one channel, each under its own name. */
static void many_queues(const void *arg)
{
	enum { QPS = 24 };
	struct vp_pair pair[QPS];
	struct ibv_comp_channel *channel;
	struct vp_dev dev_a, dev_b;
	bool rang[QPS];
	struct vp_wr w;
	int i, n, round;

	(void)arg;
	vp_open_both(&dev_a, &dev_b);
	channel = ibv_create_comp_channel(dev_b.ctx);
	require(channel, "create a completion channel");
	for (i = 0; i < QPS; i++)
		ringing_pair_make(&pair[i], &dev_a, &dev_b, channel, 0);
	for (round = 0; round < 3; round++) {
		memset(rang, 0, sizeof(rang));
		for (i = 0; i < QPS; i++) {
			arm(&pair[i].b.rcq, 0);
			vp_recv(&pair[i].b, i, 0, 64);
		}
		for (i = QPS - 1; i >= 0; i--)
			vp_send(&pair[i].a, vp_wr(&w, &pair[i].a, IBV_WR_SEND, 0, 64));
		for (n = 0; n < QPS; n++) {
			struct ibv_cq *cq = vp_event(channel, opt.deadline_ms);

			require(cq, "event %d of %d comes", n + 1, QPS);
			for (i = 0; i < QPS && pair[i].b.rcq.cq != cq; i++)
				;
			require(i < QPS, "it names one of the CQs");
			check(!rang[i], "each CQ rings once");
			rang[i] = true;
			vp_expect(&pair[i].b.rcq, i, IBV_WC_SUCCESS, "what the CQ rang for");
		}
		check(!vp_event(channel, SILENCE_MS), "and no other event comes");
		for (i = 0; i < QPS; i++) {
			struct ibv_wc wc;

			require(vp_poll_for(&pair[i].a.scq, &wc, opt.deadline_ms),
				"the send completes");
		}
	}
	for (i = 0; i < QPS; i++)
		vp_pair_free(&pair[i]);
	require(!ibv_destroy_comp_channel(channel), "destroy the completion channel");
	vp_close_both(&dev_a, &dev_b);
}

/* Each completion vector of the device delivers. */
static void every_vector(const void *arg)
{
	struct ibv_comp_channel *channel;
	struct vp_dev dev_a, dev_b;
	int vector;

	(void)arg;
	vp_open_both(&dev_a, &dev_b);
	channel = ibv_create_comp_channel(dev_b.ctx);
	require(channel, "create a completion channel");
	note("the device has %d vectors", dev_b.ctx->num_comp_vectors);
	for (vector = 0; vector < dev_b.ctx->num_comp_vectors; vector++) {
		struct ibv_cq *rang;
		struct vp_pair pair;
		struct vp_wr w;

		ringing_pair_make(&pair, &dev_a, &dev_b, channel, vector);
		arm(&pair.b.rcq, 0);
		vp_recv(&pair.b, 1, 0, 64);
		vp_send(&pair.a, vp_wr(&w, &pair.a, IBV_WR_SEND, 0, 64));
		rang = vp_event(channel, opt.deadline_ms);
		check(rang == pair.b.rcq.cq, "vector %d delivers", vector);
		vp_expect(&pair.b.rcq, 1, IBV_WC_SUCCESS, "the receive");
		vp_expect(&pair.a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "the send");
		vp_pair_free(&pair);
	}
	require(!ibv_destroy_comp_channel(channel), "destroy the completion channel");
	vp_close_both(&dev_a, &dev_b);
}

/* A CQ takes its unread events with it. */
static void destroyed_with_event(const void *arg)
{
	struct vp_both bell;
	struct vp_end *b = &bell.pair.b;

	(void)arg;
	bell_make(&bell);
	arm(&b->rcq, 0);
	send_one(&bell, 0);
	/* The event is on its way or there: wait for another of the same device that is behind it. */
	vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "the receive");
	vp_qp_destroy(b);
	vp_cq_free(&b->rcq);
	expect_no_event(b, "the CQ is gone");
	vp_both_free(&bell);
}

static void moderate(struct vp_cq *cq, uint16_t count, uint16_t period_us)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = count, .cq_period = period_us },
	};

	errno = ibv_modify_cq(cq->cq, &attr);
	require(!errno, "moderate a CQ: %u completions, %u us", count, period_us);
}

static void receive(struct vp_cq *cq, int count)
{
	while (count-- > 0)
		vp_expect(cq, 1, IBV_WC_SUCCESS, "a receive");
}

/* An event waits for more completions, or for some time. */
static void moderated(const void *arg)
{
	struct ibv_device_attr_ex device;
	struct vp_both bell;
	struct vp_end *b = &bell.pair.b;

	(void)arg;
	bell_make(&bell);
	require(!ibv_query_device_ex(b->dev->ctx, NULL, &device), "query the device");
	if (!device.cq_mod_caps.max_cq_count)
		skip("the device does not moderate CQs");

	moderate(&b->rcq, 3, 0);
	arm(&b->rcq, 0);
	send_one(&bell, 0);
	send_one(&bell, 0);
	expect_no_event(b, "two messages of three");
	send_one(&bell, 0);
	expect_event(b, &b->rcq, "the third one");
	receive(&b->rcq, 3);

	moderate(&b->rcq, device.cq_mod_caps.max_cq_count, device.cq_mod_caps.max_cq_period);
	arm(&b->rcq, 0);
	send_one(&bell, 0);
	expect_event(b, &b->rcq, "one message, and its time");
	receive(&b->rcq, 1);

	moderate(&b->rcq, 0, 0);
	arm(&b->rcq, 0);
	send_one(&bell, 0);
	expect_event(b, &b->rcq, "moderated no more");
	receive(&b->rcq, 1);
	vp_both_free(&bell);
}

/* A period that is longer than the device says, or moderation if it has none. */
static void moderated_too_much(const void *arg)
{
	struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE };
	struct ibv_device_attr_ex device;
	struct vp_both bell;
	struct vp_end *b = &bell.pair.b;

	(void)arg;
	bell_make(&bell);
	require(!ibv_query_device_ex(b->dev->ctx, NULL, &device), "query the device");
	require(device.cq_mod_caps.max_cq_period < UINT16_MAX, "periods have a limit");
	attr.moderate.cq_count = 1;
	attr.moderate.cq_period = device.cq_mod_caps.max_cq_period + 1;
	check(ibv_modify_cq(b->rcq.cq, &attr), "longer than %u us is refused",
	      device.cq_mod_caps.max_cq_period);
	arm(&b->rcq, 0);
	send_one(&bell, 0);
	expect_event(b, &b->rcq, "as before");
	receive(&b->rcq, 1);
	vp_both_free(&bell);
}

static const struct check_case cases[] = {
	CHECK_CASE("cq-arm-then-arrive", arm_then_arrive,
		   "an armed CQ rings for the next completion"),
	CHECK_CASE("cq-arrive-then-arm", arrive_then_arm,
		   "what came before the arming is rung for or can be polled"),
	CHECK_CASE("cq-not-armed", not_armed, "a CQ that was not armed does not ring"),
	CHECK_CASE("cq-one-for-each-arming", one_event_for_each_arming, "one arming, one event"),
	CHECK_CASE("cq-solicited-only", solicited_only, "armed for solicited: only those ring"),
	CHECK_CASE("cq-solicited-then-all", solicited_then_all, "the wider arming counts"),
	CHECK_CASE("cq-error-is-solicited", error_is_solicited,
		   "a completion in error rings always"),
	CHECK_CASE("cq-send-side", send_completions, "requests ring as receives do"),
	CHECK_CASE("cq-many-queues", many_queues, "many CQs on one channel, each under its name"),
	CHECK_CASE("cq-every-vector", every_vector, "each completion vector delivers"),
	CHECK_CASE("cq-destroyed-with-event", destroyed_with_event,
		   "a CQ takes its unread events with it"),
	CHECK_CASE("cq-moderated", moderated, "an event waits for more completions, or its time"),
	CHECK_CASE("cq-moderated-too-much", moderated_too_much,
		   "what the device does not moderate"),
};

const struct check_table events_completion = { .cases = cases, .count = ARRAY_SIZE(cases) };
