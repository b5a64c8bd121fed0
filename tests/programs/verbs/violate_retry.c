// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receivers that are not ready, peers that are not there: how long a requester tries, and how it gives up.
 */
#include <errno.h>

#include "violate.h"

/*
 * Times by which these cases tell "too early" from "too late". Late is generous: the machine may be emulated and busy.
 */
#define LATE_MS 10000

/* The clocks of the device and of the machine need not agree to better than a twentieth. */
#define NOT_BEFORE(ms) ((ms) - (ms) / 20)

#define RNR_TIMER_82MS 26 /* the code of 81.92 ms (IBTA table 45) */
#define RNR_TIMER_MS 81

#define TIMEOUT_CODE 14 /* 4.096 us * 2^14 = 67.1 ms */
#define TIMEOUT_MS 67

static struct vp_conf rnr_conf(uint8_t rnr_retry)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);

	conf.rnr_retry = rnr_retry;
	conf.min_rnr_timer = RNR_TIMER_82MS;
	return conf;
}

/* The responder of an RNR NAK has no error: it stays as it was, and serves whoever comes next. */
static void expect_responder_unharmed(struct vp_end *b)
{
	vp_expect_none(&b->rcq, "the responder, which posted nothing");
	check(vp_state(b) == IBV_QPS_RTS, "the responder is still in RTS");
}

/*
 * The clock of an emulated machine leaps when its host is busy, and a wait may then seem shorter than it was. An HCA that
 * gives up too early does so each time: a case that finds it early is tried again.
 */
#define ATTEMPTS 3

static unsigned int attempt;
static bool too_early;

static void expect_not_before(uint64_t took, uint64_t least, unsigned int retries)
{
	if (took + 1 >= NOT_BEFORE(least))
		return;
	too_early = true;
	check(attempt < ATTEMPTS, "%u retries take at least %llu ms (took %llu)", retries,
	      (unsigned long long)least, (unsigned long long)took);
}

static void several_times(const void *arg)
{
	void (*once)(void) = *(void (*const *)(void))arg;

	for (attempt = 1; attempt <= ATTEMPTS; attempt++) {
		too_early = false;
		once();
		if (!too_early)
			return;
		note("too early, attempt %u", attempt);
	}
}

/* With no receive posted, the request must fail no earlier than after @retries pauses of the responder's timer. */
static void rnr_exceeded(enum ibv_wr_opcode opcode, unsigned int retries, bool srq)
{
	struct vp_conf conf = rnr_conf(retries);
	uint64_t start, took;
	struct vp_wr w, next;
	struct vio v = { 0 };

	conf.use_srq = srq;
	vio_begin_as(&v, conf);
	vp_wr(&w, &v.pair.a, opcode, 0, 64);
	vp_wr(&next, &v.pair.a, IBV_WR_RDMA_WRITE, 256, 64);
	w.wr.next = &next.wr;
	start = now_ms();
	vp_send(&v.pair.a, &w.wr);
	vp_expect(&v.pair.a.scq, w.wr.wr_id, IBV_WC_RNR_RETRY_EXC_ERR,
		  "a request without a receive");
	took = now_ms() - start;
	vp_expect(&v.pair.a.scq, next.wr.wr_id, IBV_WC_WR_FLUSH_ERR, "the request behind it");
	expect_not_before(took, retries * RNR_TIMER_MS, retries);
	check(took <= (retries + 1) * RNR_TIMER_MS + LATE_MS,
	      "the requester gives up in time (took %llu ms)", (unsigned long long)took);
	if (srq)
		vp_expect_qp_event(&v.pair.a, IBV_EVENT_QP_LAST_WQE_REACHED,
				   "requester, which has an SRQ too");
	vio_expect_dead(&v.pair.a, "requester");
	expect_responder_unharmed(&v.pair.b);
	vio_end(&v);
}

static void rnr_zero_send(const void *arg)
{
	(void)arg;
	rnr_exceeded(IBV_WR_SEND, 0, false);
}

static void rnr_zero_write_imm(const void *arg)
{
	(void)arg;
	rnr_exceeded(IBV_WR_RDMA_WRITE_WITH_IMM, 0, false);
}

static void rnr_zero_srq(const void *arg)
{
	(void)arg;
	rnr_exceeded(IBV_WR_SEND, 0, true);
}

static void rnr_counted(void)
{
	rnr_exceeded(IBV_WR_SEND, 3, false);
}

/* Posts the receive only after the requester has been turned away for a while. */
static void rnr_satisfied(uint8_t rnr_retry, unsigned int after_ms)
{
	uint64_t pattern = vp_fresh(), start;
	struct vio v = { 0 };
	struct ibv_wc wc;
	struct vp_wr w;

	vio_begin_as(&v, rnr_conf(rnr_retry));
	vp_fill(v.pair.a.buf, 4096, pattern);
	start = now_ms();
	vp_send(&v.pair.a, vp_wr(&w, &v.pair.a, IBV_WR_SEND, 0, 4096));
	require(!vp_poll_for(&v.pair.a.scq, &wc, after_ms), "the send waits for its receive");
	vp_recv(&v.pair.b, 5, 0, 4096);
	vp_expect(&v.pair.a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "the send, once there is a receive");
	check(now_ms() - start <= after_ms + RNR_TIMER_MS + LATE_MS,
	      "it does not wait much longer than the timer");
	vp_expect(&v.pair.b.rcq, 5, IBV_WC_SUCCESS, "the receive");
	check(vp_differs(v.pair.b.buf, 4096, pattern) < 0, "every byte has arrived");
	vp_exchange(&v.pair, "the pair goes on");
	vio_end(&v);
}

static void rnr_infinite_waits(const void *arg)
{
	(void)arg;
	/* More pauses than the largest finite count, six, would allow. */
	rnr_satisfied(7, 9 * RNR_TIMER_MS);
}

static void rnr_satisfied_in_time(const void *arg)
{
	(void)arg;
	rnr_satisfied(6, RNR_TIMER_MS);
}

/* A message that came through resets the count (IBTA C9-143): eight pauses in all, but few for each message. */
static void rnr_count_restarts(const void *arg)
{
	struct vio v = { 0 };
	struct ibv_wc wc;
	struct vp_wr w;
	int i;

	(void)arg;
	vio_begin_as(&v, rnr_conf(6));
	for (i = 0; i < 4; i++) {
		vp_send(&v.pair.a, vp_wr(&w, &v.pair.a, IBV_WR_SEND, 0, 64));
		require(!vp_poll_for(&v.pair.a.scq, &wc, 2 * RNR_TIMER_MS),
			"the send waits for its receive");
		vp_recv(&v.pair.b, i, 0, 64);
		vp_expect(&v.pair.a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "the send");
		vp_expect(&v.pair.b.rcq, i, IBV_WC_SUCCESS, "its receive");
	}
	vio_end(&v);
}

static struct vp_conf retry_conf(uint8_t retries)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);

	conf.timeout = TIMEOUT_CODE;
	conf.retry_cnt = retries;
	return conf;
}

/*
 * Sends to a peer that does not answer. Each try waits between one and four times the timeout (IBTA C9-141), and some
 * cards have a floor far above: only "too early" is checked closely.
 */
static void expect_retry_exceeded(struct vp_end *a, unsigned int retries)
{
	uint64_t start = now_ms(), took, least = (retries + 1) * TIMEOUT_MS;
	struct vp_wr w, next;

	vp_wr(&w, a, IBV_WR_RDMA_WRITE, 0, 64);
	vp_wr(&next, a, IBV_WR_RDMA_WRITE, 256, 64);
	w.wr.next = &next.wr;
	vp_send(a, &w.wr);
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_RETRY_EXC_ERR, "a request to a peer that is silent");
	took = now_ms() - start;
	vp_expect(&a->scq, next.wr.wr_id, IBV_WC_WR_FLUSH_ERR, "the request behind it");
	expect_not_before(took, least, retries);
	check(took <= 4 * least + LATE_MS, "the requester gives up in time (took %llu ms)",
	      (unsigned long long)took);
	vio_expect_dead(a, "requester");
}

static void peer_destroyed(void)
{
	struct vio v = { 0 };

	vio_begin_as(&v, retry_conf(3));
	vp_exchange(&v.pair, "the pair, before");
	vp_qp_destroy(&v.pair.b);
	expect_retry_exceeded(&v.pair.a, 3);
	vio_end(&v);
}

static void peer_in_error(void)
{
	struct vio v = { 0 };

	vio_begin_as(&v, retry_conf(1));
	vp_move_to_error(&v.pair.b);
	expect_retry_exceeded(&v.pair.a, 1);
	vio_end(&v);
}

static void peer_in_reset(void)
{
	uint64_t before = vp_fresh();
	struct vio v = { 0 };

	vio_begin_as(&v, retry_conf(1));
	vp_fill(v.pair.b.buf, v.pair.b.len, before);
	vp_move_to_reset(&v.pair.b);
	expect_retry_exceeded(&v.pair.a, 1);
	check(vp_differs(v.pair.b.buf, v.pair.b.len, before) < 0, "nothing was written");
	check(vp_state(&v.pair.b) == IBV_QPS_RESET, "the peer is still in RESET");
	vio_end(&v);
}

static void peer_in_init(void)
{
	uint64_t before = vp_fresh();
	struct vio v = { 0 };

	vio_begin_as(&v, retry_conf(1));
	vp_fill(v.pair.b.buf, v.pair.b.len, before);
	vp_move_to_reset(&v.pair.b);
	vp_move(&v.pair.b, &v.pair.a, IBV_QPS_INIT);
	expect_retry_exceeded(&v.pair.a, 1);
	check(vp_differs(v.pair.b.buf, v.pair.b.len, before) < 0, "nothing was written");
	vio_end(&v);
}

static void peer_no_retries(void)
{
	struct vio v = { 0 };

	vio_begin_as(&v, retry_conf(0));
	vp_move_to_reset(&v.pair.b);
	expect_retry_exceeded(&v.pair.a, 0);
	vio_end(&v);
}

/*
 * A QP sends to one that is connected to somebody else. RC packets do not name their sender, so it is the
 * sequence number
 * that gives it away (IBTA 9.7.5.1); the answer goes to the rightful peer, who must ignore it, and both must go on.
 */
static void peer_of_another(void)
{
	uint64_t before = vp_fresh();
	struct vp_pair rightful;
	struct vio v = { 0 };
	struct vp_end *a;

	vio_begin_as(&v, retry_conf(1));
	vp_pair_make_on(&rightful, &v.dev_a, v.pair.a.pd, &v.dev_b, v.pair.b.pd, &v.pair.conf);
	vp_fill(rightful.b.buf, rightful.b.len, before);

	a = &v.pair.a;
	vp_move_to_reset(a);
	a->psn = 0x654321;
	a->peer = &rightful.b;
	vp_move(a, a->peer, IBV_QPS_INIT);
	vp_move(a, a->peer, IBV_QPS_RTR);
	vp_move(a, a->peer, IBV_QPS_RTS);
	expect_retry_exceeded(a, 1);
	check(vp_differs(rightful.b.buf, rightful.b.len, before) < 0, "nothing was written");
	vp_exchange(&rightful, "the rightful pair");
	vp_pair_free(&rightful);
	vio_end(&v);
}

/* Nobody has this LID: there is nothing to wait for but the retries. */
static void path_to_nowhere(void)
{
	struct vp_conf conf = retry_conf(1);
	struct ibv_qp_attr attr;
	struct vio v = { 0 };
	int mask;

	vio_open(&v);
	if (v.dev_a.port.link_layer == IBV_LINK_LAYER_ETHERNET)
		skip("Ethernet resolves addresses before the QP is connected");
	vio_pair(&v, &conf);
	vp_move_to_reset(&v.pair.a);
	vp_move(&v.pair.a, &v.pair.b, IBV_QPS_INIT);
	mask = vp_step(&v.pair.a, &v.pair.b, IBV_QPS_RTR, &attr);
	attr.ah_attr.dlid = 0xbff0;
	errno = ibv_modify_qp(v.pair.a.qp, &attr, mask);
	require(!errno, "connect to a LID that nobody has");
	vp_move(&v.pair.a, &v.pair.b, IBV_QPS_RTS);
	expect_retry_exceeded(&v.pair.a, 1);
	vio_end(&v);
}

#define TIMED_CASE(n, f, s) CHECK_CASE(n, several_times, s, .arg = &(void (*const)(void)){ f })

static const struct check_case cases[] = {
	CHECK_CASE("rnr-retry-zero", rnr_zero_send,
		   "rnr_retry 0: a send without a receive fails at once"),
	CHECK_CASE("rnr-retry-zero-write-imm", rnr_zero_write_imm,
		   "rnr_retry 0: a write with immediate without a receive fails at once"),
	CHECK_CASE("rnr-retry-zero-srq", rnr_zero_srq,
		   "rnr_retry 0: a send to an empty SRQ fails at once"),
	TIMED_CASE("rnr-retry-counted", rnr_counted,
		   "rnr_retry 3 pauses three times by the responder's timer"),
	CHECK_CASE("rnr-retry-infinite", rnr_infinite_waits,
		   "rnr_retry 7 waits until a receive is posted"),
	CHECK_CASE("rnr-satisfied-in-time", rnr_satisfied_in_time,
		   "a receive before the count is used up"),
	CHECK_CASE("rnr-count-restarts", rnr_count_restarts, "each message has the whole count"),
	TIMED_CASE("peer-destroyed", peer_destroyed,
		   "a peer that is gone: retry exceeded, neither early nor late"),
	TIMED_CASE("peer-in-error", peer_in_error, "a peer in ERR: retry exceeded"),
	TIMED_CASE("peer-in-reset", peer_in_reset,
		   "a peer in RESET: retry exceeded, nothing written"),
	TIMED_CASE("peer-in-init", peer_in_init, "a peer in INIT: retry exceeded, nothing written"),
	TIMED_CASE("peer-no-retries", peer_no_retries, "retry_cnt 0: one try, and not longer"),
	TIMED_CASE("peer-of-another", peer_of_another, "a QP that is connected to somebody else"),
	TIMED_CASE("path-to-nowhere", path_to_nowhere, "a LID that nobody has"),
};

const struct check_table violate_retry = { .cases = cases, .count = ARRAY_SIZE(cases) };
