// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queues beyond their size: posting more than fits, elements and inline data beyond what was agreed, completion queues
 * that overrun, reads beyond what the responder serves.
 */
#include <errno.h>
#include <string.h>

#include "violate.h"

/* Nothing is lost and nothing is taken twice when a send queue is full. */
static void send_queue_full(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	unsigned int posted = 0, i;
	uint64_t first_id = 0;
	struct vio v = { 0 };
	struct vp_end *a;
	struct vp_wr w;
	int ret = 0;

	(void)arg;
	conf.cap.max_send_wr = 8;
	conf.cqe = 4096;
	vio_open(&v);
	vio_pair(&v, &conf);
	a = &v.pair.a;
	/* Held back: b has no receive. */
	while (posted < 4096) {
		ret = vp_try_send(a, vp_wr(&w, a, IBV_WR_SEND, 0, 64));
		if (ret)
			break;
		if (!posted++)
			first_id = w.wr.wr_id;
	}
	check(ret == ENOMEM, "a full send queue says ENOMEM (%d)", ret);
	check(posted >= 8, "it takes as many as were asked for (%u)", posted);
	for (i = 0; i < posted; i++) {
		vp_recv(&v.pair.b, i, 0, 64);
		vp_expect(&v.pair.b.rcq, i, IBV_WC_SUCCESS, "a receive");
		vp_expect(&a->scq, first_id + i, IBV_WC_SUCCESS, "a send");
	}
	vp_exchange(&v.pair, "the pair");
	vio_end(&v);
}

static void recv_queue_full(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	unsigned int posted = 0, i;
	struct vio v = { 0 };
	struct ibv_sge sge;
	struct vp_end *b;
	struct vp_wr w;
	int ret = 0;

	(void)arg;
	conf.cap.max_recv_wr = 8;
	conf.cqe = 4096;
	vio_open(&v);
	vio_pair(&v, &conf);
	b = &v.pair.b;
	sge = (struct ibv_sge){ .addr = (uintptr_t)b->buf, .length = 64, .lkey = b->mr->lkey };
	for (; posted < 4096; posted++) {
		ret = vp_try_recv(b, posted, &sge, 1);
		if (ret)
			break;
	}
	check(ret == ENOMEM, "a full receive queue says ENOMEM (%d)", ret);
	check(posted >= 8, "it takes as many as were asked for (%u)", posted);
	for (i = 0; i < posted; i++) {
		vp_send(&v.pair.a, vp_wr(&w, &v.pair.a, IBV_WR_SEND, 0, 64));
		vp_expect(&v.pair.a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "a send");
		vp_expect(&b->rcq, i, IBV_WC_SUCCESS, "a receive");
	}
	vp_exchange(&v.pair, "the pair");
	vio_end(&v);
}

/* More elements or more inline data than the QP was made for is refused when it is posted. */
static void too_much_in_one(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_sge sge[VP_MAX_SGE];
	struct vio v = { 0 };
	struct vp_end *a;
	struct vp_wr w;
	size_t i;

	(void)arg;
	conf.cap.max_inline_data = 32;
	vio_open(&v);
	vio_pair(&v, &conf);
	a = &v.pair.a;
	errno = ibv_query_qp(a->qp, &attr, IBV_QP_CAP, &init);
	require(!errno, "query the QP");
	note("the QP has %u send elements, %u receive elements, %u inline bytes",
	     init.cap.max_send_sge, init.cap.max_recv_sge, init.cap.max_inline_data);

	vp_wr(&w, a, IBV_WR_SEND, 0, 1);
	for (i = 1; i < VP_MAX_SGE; i++)
		w.sge[i] = w.sge[0];
	memcpy(sge, w.sge, sizeof(sge));
	if (init.cap.max_send_sge < VP_MAX_SGE) {
		w.wr.num_sge = init.cap.max_send_sge + 1;
		check(vp_try_send(a, &w.wr), "a send with an element too many is refused");
	}
	if (init.cap.max_recv_sge < VP_MAX_SGE)
		check(vp_try_recv(a, 1, sge, init.cap.max_recv_sge + 1),
		      "a receive with an element too many is refused");
	vp_wr(&w, a, IBV_WR_SEND, 0, init.cap.max_inline_data + 1);
	w.wr.send_flags |= IBV_SEND_INLINE;
	check(vp_try_send(a, &w.wr), "a send with a byte too many inline is refused");
	vp_expect_none(&a->scq, "what was refused");
	vp_exchange(&v.pair, "the pair");
	vio_end(&v);
}

/*
 * More completions than the CQ holds. The overrun is an affiliated error of the CQ (IBTA C11-39); a device may
 * report the
 * QPs that stood on it as well. The neighbour has a CQ of its own and must not notice.
 */
static void cq_overrun(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct ibv_async_event event = { 0 };
	bool seen = false;
	struct vio v = { 0 };
	struct vp_end *a;
	struct vp_wr w;
	int room, i, ret;

	(void)arg;
	conf.cqe = 3;
	conf.cap.max_send_wr = 64;
	vio_open(&v);
	vio_pair(&v, &conf);
	a = &v.pair.a;
	room = a->scq.cq->cqe;
	require(room < 60, "the CQ is as small as it was asked to be (%d)", room);
	/* Unpolled completions do not free send queue entries: the queue is larger than the CQ. */
	for (i = 0; i < room + 4; i++) {
		ret = vp_try_send(a, vp_wr(&w, a, IBV_WR_RDMA_WRITE, 0, 8));
		if (ret)
			break;
	}
	require(i > room + 1, "more requests are posted than the CQ holds");
	while (!seen && vp_async(&v.dev_a, &event, opt.deadline_ms)) {
		seen = event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == a->scq.cq;
		check(seen || event.event_type == IBV_EVENT_QP_FATAL,
		      "only the CQ's error, or the QP's for it, is reported (got \"%s\")",
		      ibv_event_type_str(event.event_type));
	}
	check(seen, "the CQ that overran reports its error");
	vp_exchange(&v.neighbour, "neighbour, beside the broken CQ");
	while (vp_async(&v.dev_a, &event, 100))
		check(event.event_type == IBV_EVENT_QP_FATAL && event.element.qp == a->qp,
		      "what follows is about the QP on that CQ (got \"%s\")",
		      ibv_event_type_str(event.event_type));
	vio_end(&v);
}

/* A CQ filled to the brim is not overrun. */
static void cq_exactly_full(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vio v = { 0 };
	uint64_t first = 0;
	struct vp_end *a;
	struct vp_wr w;
	int room, i, round;

	(void)arg;
	conf.cqe = 7;
	conf.cap.max_send_wr = 64;
	vio_open(&v);
	vio_pair(&v, &conf);
	a = &v.pair.a;
	room = a->scq.cq->cqe;
	require(room < 60, "the CQ is as small as it was asked to be (%d)", room);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < room; i++) {
			vp_send(a, vp_wr(&w, a, IBV_WR_RDMA_WRITE, 0, 8));
			if (!i)
				first = w.wr.wr_id;
		}
		vp_exchange(&v.neighbour, "neighbour, while the CQ fills");
		for (i = 0; i < room; i++)
			vp_expect(&a->scq, first + i, IBV_WC_SUCCESS, "one of a full CQ");
	}
	vio_end(&v);
}

/* Many more reads and atomics are posted than may be under way; the requester must queue, and all must be right. */
static void reads_beyond_depth(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	enum { READS = 24, SIZE = 2048 };
	uint64_t pattern = vp_fresh(), ids[READS];
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct vp_wr w;
	int i;

	(void)arg;
	conf.max_rd_atomic = 1;
	conf.max_dest_rd_atomic = 1;
	vio_open(&v);
	vio_pair(&v, &conf);
	a = &v.pair.a;
	b = &v.pair.b;
	memset(a->buf, 0, a->len);
	vp_fill(b->buf, READS * SIZE, pattern);
	for (i = 0; i < READS; i++) {
		vp_wr(&w, a, IBV_WR_RDMA_READ, i * SIZE, SIZE);
		ids[i] = w.wr.wr_id;
		vp_send(a, &w.wr);
	}
	for (i = 0; i < READS; i++)
		vp_expect(&a->scq, ids[i], IBV_WC_SUCCESS, "a read");
	check(vp_differs(a->buf, READS * SIZE, pattern) < 0, "every byte of every read is right");
	vio_end(&v);
}

/*
 * The requester believes that the responder serves more reads than it does. The responder may serve them anyway, or
 * answer NAK invalid request (IBTA table 63); no read may bring wrong data.
 */
static void reads_beyond_responder(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	enum { READS = 16, SIZE = 2048 };
	struct ibv_async_event event;
	uint64_t pattern = vp_fresh();
	bool failed = false;
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct vp_wr w;
	int i;

	(void)arg;
	vio_open(&v);
	conf.max_rd_atomic =
		v.dev_a.attr.max_qp_init_rd_atom < READS ? v.dev_a.attr.max_qp_init_rd_atom : READS;
	conf.max_dest_rd_atomic = 1;
	vio_pair(&v, &conf);
	a = &v.pair.a;
	b = &v.pair.b;
	memset(a->buf, 0, a->len);
	vp_fill(b->buf, READS * SIZE, pattern);
	for (i = 0; i < READS; i++)
		vp_send(a, vp_wr(&w, a, IBV_WR_RDMA_READ, i * SIZE, SIZE));
	for (i = 0; i < READS; i++) {
		struct ibv_wc wc;

		require(vp_poll_for(&a->scq, &wc, opt.deadline_ms), "each read completes");
		if (failed) {
			check(wc.status == IBV_WC_WR_FLUSH_ERR,
			      "behind a refused read all are flushed (got \"%s\")",
			      ibv_wc_status_str(wc.status));
			continue;
		}
		failed = wc.status != IBV_WC_SUCCESS;
		if (failed)
			check(wc.status == IBV_WC_REM_INV_REQ_ERR,
			      "a read too many is an invalid request (got \"%s\")",
			      ibv_wc_status_str(wc.status));
		else if (i == READS - 1)
			check(vp_differs(a->buf, READS * SIZE, pattern) < 0,
			      "every byte of every read is right");
	}
	if (failed) {
		check(vp_async(&v.dev_b, &event, opt.deadline_ms) &&
			      event.event_type == IBV_EVENT_QP_REQ_ERR,
		      "the responder reports the invalid request");
		vio_expect_dead(b, "responder");
	}
	vio_end(&v);
}

static const struct check_case cases[] = {
	CHECK_CASE("queue-send-full", send_queue_full,
		   "a full send queue refuses, and loses nothing"),
	CHECK_CASE("queue-recv-full", recv_queue_full,
		   "a full receive queue refuses, and loses nothing"),
	CHECK_CASE("queue-too-much-in-one", too_much_in_one,
		   "elements and inline data beyond the QP's are refused"),
	CHECK_CASE("queue-cq-overrun", cq_overrun,
		   "a CQ that overruns reports it, and nobody else suffers"),
	CHECK_CASE("queue-cq-exactly-full", cq_exactly_full, "a CQ filled to the brim is right"),
	CHECK_CASE("queue-reads-beyond-depth", reads_beyond_depth,
		   "more reads than may be under way are queued"),
	CHECK_CASE("queue-reads-beyond-responder", reads_beyond_responder,
		   "more reads than the responder serves"),
};

const struct check_table violate_queue = { .cases = cases, .count = ARRAY_SIZE(cases) };
