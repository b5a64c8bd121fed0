// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The QP state machine: what may be posted when, which steps there are, and what each step must be told.
 */
#include <errno.h>
#include <string.h>

#include "violate.h"

/* Opens the devices, and makes v->pair but leaves both of its QPs in RESET. */
static void begin_in_reset(struct vio *v, const struct vp_conf *conf)
{
	vio_open(v);
	v->pair.conf = *conf;
	vp_end_make(&v->pair.a, &v->dev_a, v->neighbour.a.pd, &v->pair.conf);
	vp_end_make(&v->pair.b, &v->dev_b, v->neighbour.b.pd, &v->pair.conf);
	v->pair.a.peer = &v->pair.b;
	v->pair.b.peer = &v->pair.a;
}

/*
 * A send in a state in which nothing may be sent is refused at once (IBTA C10-29, C10-30). Where a driver does
 * not look,
 * the device must hold it back, and flush it when the QP fails.
 */
static void send_refused_in(enum ibv_qp_state state)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	uint64_t before = vp_fresh();
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct vp_wr w;

	begin_in_reset(&v, &conf);
	a = &v.pair.a;
	b = &v.pair.b;
	vp_move(b, a, IBV_QPS_INIT);
	vp_move(b, a, IBV_QPS_RTR);
	if (state != IBV_QPS_RESET)
		vp_move(a, b, IBV_QPS_INIT);
	if (state == IBV_QPS_RTR)
		vp_move(a, b, IBV_QPS_RTR);
	vp_fill(b->buf, b->len, before);

	if (!vp_try_send(a, vp_wr(&w, a, IBV_WR_RDMA_WRITE, 0, 64))) {
		note("the request was taken");
		vp_expect_none(&a->scq, "a request of a QP that may not send");
		if (state != IBV_QPS_RESET) {
			vp_move_to_error(a);
			vp_expect(&a->scq, w.wr.wr_id, IBV_WC_WR_FLUSH_ERR,
				  "the request, once the QP has failed");
		}
	} else {
		vp_expect_none(&a->scq, "a request that was refused");
	}
	check(vp_differs(b->buf, b->len, before) < 0, "nothing was written");
	vp_move_to_reset(a);
	vp_move_to_reset(b);
	vp_connect(a, b);
	vp_exchange(&v.pair, "the pair, from RESET again");
	vio_end(&v);
}

static void send_in_reset(const void *arg)
{
	(void)arg;
	send_refused_in(IBV_QPS_RESET);
}

static void send_in_init(const void *arg)
{
	(void)arg;
	send_refused_in(IBV_QPS_INIT);
}

static void send_in_rtr(const void *arg)
{
	(void)arg;
	send_refused_in(IBV_QPS_RTR);
}

static void recv_in_reset(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct ibv_sge sge;
	struct vio v = { 0 };
	struct vp_end *b;

	(void)arg;
	begin_in_reset(&v, &conf);
	b = &v.pair.b;
	sge = (struct ibv_sge){ .addr = (uintptr_t)b->buf, .length = 64, .lkey = b->mr->lkey };
	check(vp_try_recv(b, 1, &sge, 1), "a receive in RESET is refused");
	vp_expect_none(&b->rcq, "a receive that was refused");
	vp_connect(&v.pair.a, b);
	vp_exchange(&v.pair, "the pair");
	vio_end(&v);
}

/* Receives may be posted in INIT, and serve the first messages. */
static void recv_in_init(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	uint64_t pattern = vp_fresh();
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct vp_wr w;

	(void)arg;
	begin_in_reset(&v, &conf);
	a = &v.pair.a;
	b = &v.pair.b;
	vp_move(a, b, IBV_QPS_INIT);
	vp_move(b, a, IBV_QPS_INIT);
	vp_recv(b, 17, 0, 64);
	vp_expect_none(&b->rcq, "a receive in INIT");
	vp_move(a, b, IBV_QPS_RTR);
	vp_move(b, a, IBV_QPS_RTR);
	vp_move(a, b, IBV_QPS_RTS);
	vp_fill(a->buf, 64, pattern);
	vp_send(a, vp_wr(&w, a, IBV_WR_SEND, 0, 64));
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a send to a QP in RTR");
	vp_expect(&b->rcq, 17, IBV_WC_SUCCESS, "the receive that was posted in INIT");
	check(vp_differs(b->buf, 64, pattern) < 0, "every byte has arrived");
	vp_move(b, a, IBV_QPS_RTS);
	vp_exchange(&v.pair, "the pair");
	vio_end(&v);
}

/* In ERR everything that is queued comes back, in order, and so does everything that is posted later. */
static void error_flushes_all(const void *arg)
{
	struct vp_wr w[8];
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct ibv_wc wc;
	size_t i;

	(void)arg;
	vio_begin(&v, IBV_QPT_RC);
	a = &v.pair.a;
	b = &v.pair.b;
	for (i = 0; i < ARRAY_SIZE(w); i++)
		vp_recv(a, 100 + i, 0, 64);
	/* No receive is posted at b, which holds back the first send and all behind it. */
	for (i = 0; i < ARRAY_SIZE(w); i++)
		vp_send(a, vp_wr(&w[i], a, IBV_WR_SEND, 0, 64));
	vp_move_to_error(a);
	for (i = 0; i < ARRAY_SIZE(w); i++)
		vp_expect(&a->scq, w[i].wr.wr_id, IBV_WC_WR_FLUSH_ERR, "a queued send");
	for (i = 0; i < ARRAY_SIZE(w); i++)
		vp_expect(&a->rcq, 100 + i, IBV_WC_WR_FLUSH_ERR, "a queued receive");
	vio_expect_dead(a, "the QP that was moved to ERR");
	check(!vp_poll_for(&a->scq, &wc, 0), "each request completes once");
	check(vp_state(b) == IBV_QPS_RTS, "the peer does not know");
	vio_end(&v);
}

/* RESET drops everything that is queued, without completions, and the QP can be used again. */
static void reset_drops_all(const void *arg)
{
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct vp_wr w;
	int i;

	(void)arg;
	vio_begin(&v, IBV_QPT_RC);
	a = &v.pair.a;
	b = &v.pair.b;
	for (i = 0; i < 8; i++) {
		vp_recv(a, i, 0, 64);
		vp_send(a, vp_wr(&w, a, IBV_WR_SEND, 0, 64));
	}
	vp_move_to_reset(a);
	vp_move_to_reset(b);
	vp_expect_none(&a->scq, "a send queue in RESET");
	vp_expect_none(&a->rcq, "a receive queue in RESET");
	for (i = 0; i < 3; i++) {
		vp_connect(a, b);
		vp_exchange(&v.pair, "the pair, from RESET again");
		vp_move_to_reset(a);
		vp_move_to_reset(b);
	}
	vio_end(&v);
}

struct transition {
	enum ibv_qp_state from, to;
};

static void bring_to(struct vp_end *a, struct vp_end *b, enum ibv_qp_state state)
{
	vp_move_to_reset(a);
	if (state == IBV_QPS_RESET)
		return;
	vp_move(a, b, IBV_QPS_INIT);
	if (state == IBV_QPS_INIT)
		return;
	if (state == IBV_QPS_ERR) {
		vp_move_to_error(a);
		return;
	}
	vp_move(a, b, IBV_QPS_RTR);
	if (state == IBV_QPS_RTS)
		vp_move(a, b, IBV_QPS_RTS);
}

/* Steps that the state machine does not have are refused, and change nothing. */
static void illegal_transitions(const void *arg)
{
	static const struct transition illegal[] = {
		{ IBV_QPS_RESET, IBV_QPS_RTR }, { IBV_QPS_RESET, IBV_QPS_RTS },
		{ IBV_QPS_INIT, IBV_QPS_RTS },  { IBV_QPS_RTR, IBV_QPS_INIT },
		{ IBV_QPS_RTS, IBV_QPS_INIT },  { IBV_QPS_RTS, IBV_QPS_RTR },
		{ IBV_QPS_ERR, IBV_QPS_INIT },  { IBV_QPS_ERR, IBV_QPS_RTR },
		{ IBV_QPS_ERR, IBV_QPS_RTS },
	};
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct ibv_qp_attr attr;
	struct vio v = { 0 };
	struct vp_end *a, *b;
	size_t i;
	int mask;

	(void)arg;
	begin_in_reset(&v, &conf);
	a = &v.pair.a;
	b = &v.pair.b;
	for (i = 0; i < ARRAY_SIZE(illegal); i++) {
		bring_to(a, b, illegal[i].from);
		mask = vp_step(a, b, illegal[i].to, &attr);
		check(ibv_modify_qp(a->qp, &attr, mask), "state %d to %d is refused",
		      illegal[i].from, illegal[i].to);
		check(vp_state(a) == illegal[i].from, "and the QP is still in %d", illegal[i].from);
	}
	vp_move_to_reset(a);
	vp_connect(a, b);
	vp_exchange(&v.pair, "the pair");
	vio_end(&v);
}

/* Each attribute that a step requires is left out once. */
static void missing_attributes(const void *arg)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	static const struct transition steps[] = {
		{ IBV_QPS_RESET, IBV_QPS_INIT },
		{ IBV_QPS_INIT, IBV_QPS_RTR },
		{ IBV_QPS_RTR, IBV_QPS_RTS },
	};
	struct vio v = { 0 };
	size_t t, s, bit;

	(void)arg;
	vio_open(&v);
	for (t = 0; t < ARRAY_SIZE(types); t++) {
		struct vp_conf conf = vp_conf(types[t]);
		struct vp_end *a = &v.pair.a, *b = &v.pair.b;
		struct ibv_qp_attr attr;
		int mask;

		vp_end_make(a, &v.dev_a, NULL, &conf);
		vp_end_make(b, &v.dev_b, NULL, &conf);
		for (s = 0; s < ARRAY_SIZE(steps); s++) {
			bring_to(a, b, steps[s].from);
			mask = vp_step(a, b, steps[s].to, &attr);
			for (bit = 0; bit < 31; bit++) {
				int one = 1 << bit;

				if (!(mask & one) || one == IBV_QP_STATE)
					continue;
				check(ibv_modify_qp(a->qp, &attr, mask & ~one),
				      "type %d, state %d to %d without attribute %#x is refused",
				      types[t], steps[s].from, steps[s].to, one);
				check(vp_state(a) == steps[s].from, "and the QP is still in %d",
				      steps[s].from);
			}
			errno = ibv_modify_qp(a->qp, &attr, mask);
			check(!errno, "with all of them the step is taken");
		}
		vp_end_free(a);
		vp_end_free(b);
	}
	vio_end(&v);
}

/* Values that no device has. */
static void bad_attributes(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct ibv_qp_attr attr;
	struct vio v = { 0 };
	struct vp_end *a, *b;
	int mask;

	(void)arg;
	begin_in_reset(&v, &conf);
	a = &v.pair.a;
	b = &v.pair.b;

	mask = vp_step(a, b, IBV_QPS_INIT, &attr);
	attr.port_num = 0;
	check(ibv_modify_qp(a->qp, &attr, mask), "port 0 is refused");
	attr.port_num = v.dev_a.attr.phys_port_cnt + 1;
	check(ibv_modify_qp(a->qp, &attr, mask), "a port that there is not is refused");
	mask = vp_step(a, b, IBV_QPS_INIT, &attr);
	attr.pkey_index = v.dev_a.attr.max_pkeys;
	check(ibv_modify_qp(a->qp, &attr, mask), "a P_Key index behind the table is refused");
	check(vp_state(a) == IBV_QPS_RESET, "the QP is still in RESET");

	vp_move(a, b, IBV_QPS_INIT);
	if (v.dev_a.attr.max_qp_rd_atom < 255) {
		mask = vp_step(a, b, IBV_QPS_RTR, &attr);
		attr.max_dest_rd_atomic = v.dev_a.attr.max_qp_rd_atom + 1;
		check(ibv_modify_qp(a->qp, &attr, mask),
		      "more reads to serve than the device can is refused");
	}
	check(vp_state(a) == IBV_QPS_INIT, "the QP is still in INIT");

	vp_move(a, b, IBV_QPS_RTR);
	if (v.dev_a.attr.max_qp_init_rd_atom < 255) {
		mask = vp_step(a, b, IBV_QPS_RTS, &attr);
		attr.max_rd_atomic = v.dev_a.attr.max_qp_init_rd_atom + 1;
		check(ibv_modify_qp(a->qp, &attr, mask),
		      "more reads at a time than the device can is refused");
	}
	check(vp_state(a) == IBV_QPS_RTR, "the QP is still in RTR");
	vio_end(&v);
}

#define QUERY_ALL \
	(IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT | \
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
	 IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | \
	 IBV_QP_DEST_QPN | IBV_QP_CAP)

/* What was set is what a query says. */
static void query_tells_the_truth(const void *arg)
{
	struct ibv_qp_init_attr init = { 0 };
	struct ibv_qp_attr want, is = { 0 };
	struct vio v = { 0 };
	struct vp_end *a, *b;

	(void)arg;
	vio_begin(&v, IBV_QPT_RC);
	a = &v.pair.a;
	b = &v.pair.b;
	errno = ibv_query_qp(a->qp, &is, QUERY_ALL, &init);
	require(!errno, "query the QP");
	check(is.qp_state == IBV_QPS_RTS && is.cur_qp_state == IBV_QPS_RTS, "state");
	vp_step(a, b, IBV_QPS_INIT, &want);
	check(is.port_num == want.port_num && is.pkey_index == want.pkey_index,
	      "port and P_Key index");
	check((is.qp_access_flags & VP_REMOTE_ALL) == (unsigned int)want.qp_access_flags,
	      "access flags (%#x)", is.qp_access_flags);
	vp_step(a, b, IBV_QPS_RTR, &want);
	check(is.path_mtu == want.path_mtu, "path MTU");
	check(is.dest_qp_num == want.dest_qp_num, "destination QP");
	check(is.ah_attr.dlid == want.ah_attr.dlid &&
		      is.ah_attr.is_global == want.ah_attr.is_global,
	      "address vector");
	check(is.max_dest_rd_atomic == want.max_dest_rd_atomic, "reads to serve");
	check(is.min_rnr_timer == want.min_rnr_timer, "RNR timer");
	vp_step(a, b, IBV_QPS_RTS, &want);
	check(is.timeout == want.timeout && is.retry_cnt == want.retry_cnt &&
		      is.rnr_retry == want.rnr_retry,
	      "timeout and retries");
	check(is.max_rd_atomic == want.max_rd_atomic, "reads at a time");
	check(init.cap.max_send_wr >= a->conf->cap.max_send_wr &&
		      init.cap.max_recv_wr >= a->conf->cap.max_recv_wr,
	      "queue sizes");
	vio_end(&v);
}

/* Send queue drained: not every driver offers it, so it runs only if it is named. */
static void send_queue_drained(const void *arg)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	struct vio v = { 0 };
	struct ibv_wc wc;
	struct vp_wr w;

	(void)arg;
	vio_begin(&v, IBV_QPT_RC);
	if (ibv_modify_qp(v.pair.a.qp, &attr, IBV_QP_STATE)) {
		check(vp_state(&v.pair.a) == IBV_QPS_RTS,
		      "a QP that cannot be drained is still in RTS");
		vp_exchange(&v.pair, "the pair");
		vio_end(&v);
		skip("the driver offers no SQD");
	}
	vp_expect_state(&v.pair.a, IBV_QPS_SQD, "the drained QP");
	vp_send(&v.pair.a, vp_wr(&w, &v.pair.a, IBV_WR_RDMA_WRITE, 0, 64));
	check(!vp_poll_for(&v.pair.a.scq, &wc, 50), "nothing is sent in SQD");
	attr.qp_state = IBV_QPS_RTS;
	errno = ibv_modify_qp(v.pair.a.qp, &attr, IBV_QP_STATE);
	require(!errno, "back to RTS");
	vp_expect(&v.pair.a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "the request that waited");
	vp_exchange(&v.pair, "the pair");
	vio_end(&v);
}

static const struct check_case cases[] = {
	CHECK_CASE("state-send-in-reset", send_in_reset, "a send in RESET is refused or held back"),
	CHECK_CASE("state-send-in-init", send_in_init, "a send in INIT is refused or held back"),
	CHECK_CASE("state-send-in-rtr", send_in_rtr, "a send in RTR is refused or held back"),
	CHECK_CASE("state-recv-in-reset", recv_in_reset, "a receive in RESET is refused"),
	CHECK_CASE("state-recv-in-init", recv_in_init,
		   "a receive in INIT serves the first message"),
	CHECK_CASE("state-error-flushes", error_flushes_all,
		   "ERR flushes what is queued, in order, and what comes later"),
	CHECK_CASE("state-reset-drops", reset_drops_all,
		   "RESET drops what is queued, and the QP can be used again"),
	CHECK_CASE("state-illegal-steps", illegal_transitions,
		   "steps that the state machine does not have"),
	CHECK_CASE("state-missing-attributes", missing_attributes,
		   "each required attribute left out once"),
	CHECK_CASE("state-bad-attributes", bad_attributes, "values that the device cannot have"),
	CHECK_CASE("state-query", query_tells_the_truth, "a query says what was set"),
	CHECK_CASE("state-drained", send_queue_drained,
		   "SQD holds back, RTS lets go (not every driver has it)", .on_demand = true),
};

const struct check_table violate_state = { .cases = cases, .count = ARRAY_SIZE(cases) };
