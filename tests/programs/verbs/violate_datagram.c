// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unreliable transports: what is wrong is dropped without a word to the sender, and never reaches memory.
 *
 * IBTA leaves open what becomes of a UC or UD responder after some faults (9.9.3, class D: drop; class E: the
 * queue fails).
 * What is not left open: the requester's success, the memory, and that the next right message arrives where
 * the QP lives.
 */
#include <errno.h>
#include <string.h>

#include "violate.h"

/* After the fault the responder either goes on, or is in ERR and says why. */
static void expect_goes_on_or_dead(struct vp_pair *pair)
{
	struct ibv_async_event event;
	struct vp_end *to = &pair->b;

	if (vp_state(to) == IBV_QPS_ERR) {
		note("the responder is in ERR");
		while (vp_async(to->dev, &event, 100))
			check(event.element.qp == to->qp, "the event (\"%s\") is about that QP",
			      ibv_event_type_str(event.event_type));
		return;
	}
	vp_exchange(pair, "the pair goes on");
}

struct drop {
	bool from_end; /* the last byte is behind the MR */
	uint32_t rkey_flip;
	bool read_only;
};

static void uc_write_dropped(const void *arg)
{
	const struct drop *d = arg;
	struct vp_conf conf = vp_conf(IBV_QPT_UC);
	uint64_t before = vp_fresh();
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct vp_wr w;

	if (d->read_only)
		conf.mr_access = IBV_ACCESS_LOCAL_WRITE;
	vio_open(&v);
	vio_pair(&v, &conf);
	a = &v.pair.a;
	b = &v.pair.b;
	vp_fill(b->buf, b->len, before);
	vp_wr(&w, a, IBV_WR_RDMA_WRITE, 0, 64);
	w.wr.wr.rdma.rkey ^= d->rkey_flip;
	if (d->from_end)
		w.wr.wr.rdma.remote_addr += b->len - 63;
	vp_send(a, &w.wr);
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a UC write, wrong as it is");
	/* The neighbour's exchange takes the same way: behind it, the packet has arrived. */
	vp_exchange(&v.neighbour, "neighbour, meanwhile");
	check(vp_differs(b->buf, b->len, before) < 0, "nothing was written");
	expect_goes_on_or_dead(&v.pair);
	vio_end(&v);
}

static void uc_no_receive(const void *arg)
{
	uint64_t before = vp_fresh();
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct vp_wr w;

	(void)arg;
	vio_begin(&v, IBV_QPT_UC);
	a = &v.pair.a;
	b = &v.pair.b;
	vp_fill(b->buf, b->len, before);
	vp_send(a, vp_wr(&w, a, IBV_WR_SEND, 0, 64));
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a UC send without a receive");
	vp_exchange(&v.neighbour, "neighbour, meanwhile");
	vp_recv(b, 1, 0, 64);
	vp_expect_none(&b->rcq, "a receive that was posted too late");
	check(vp_differs(b->buf, b->len, before) < 0, "nothing was written");
	check(vp_state(b) == IBV_QPS_RTS, "the responder is in RTS");
	vp_send(a, vp_wr(&w, a, IBV_WR_SEND, 0, 64));
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "the next send");
	vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "goes to that receive");
	vio_end(&v);
}

/* The receive is too small: local length error and a dead queue, or a drop. Never a byte behind the room. */
static void expect_overlong(struct vp_end *b, size_t room, uint64_t behind)
{
	struct ibv_wc wc;

	if (vp_poll_for(&b->rcq, &wc, 100))
		check(wc.status == IBV_WC_LOC_LEN_ERR, "the receive is a length error (got \"%s\")",
		      ibv_wc_status_str(wc.status));
	else
		check(vp_state(b) == IBV_QPS_RTS, "the message was dropped, and the QP is in RTS");
	check(vp_differs(b->buf + room, b->len - room, behind) < 0,
	      "nothing was written behind the receive");
}

static void overlong(enum ibv_qp_type type, size_t message, size_t room)
{
	struct ibv_async_event event;
	uint64_t behind = vp_fresh();
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct vp_wr w;

	vio_begin(&v, type);
	a = &v.pair.a;
	b = &v.pair.b;
	vp_fill(b->buf + room, b->len - room, behind);
	vp_recv(b, 1, 0, room);
	vp_send(a, vp_wr(&w, a, IBV_WR_SEND, 0, message));
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "the send");
	vp_exchange(&v.neighbour, "neighbour, meanwhile");
	expect_overlong(b, room, behind);
	while (vp_async(&v.dev_b, &event, 100))
		check(event.element.qp == b->qp, "the event (\"%s\") is about that QP",
		      ibv_event_type_str(event.event_type));
	vio_end(&v);
}

static void uc_overlong(const void *arg)
{
	(void)arg;
	overlong(IBV_QPT_UC, 65, 64);
}

static void ud_overlong(const void *arg)
{
	(void)arg;
	overlong(IBV_QPT_UD, 65, VP_GRH + 64);
}

/* Somebody who forgot the 40 bytes of the GRH. */
static void ud_no_room_for_grh(const void *arg)
{
	(void)arg;
	overlong(IBV_QPT_UD, 64, 64);
}

static void ud_wrong_qkey(const void *arg)
{
	uint64_t before = vp_fresh();
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct vp_wr w;

	(void)arg;
	vio_begin(&v, IBV_QPT_UD);
	a = &v.pair.a;
	b = &v.pair.b;
	vp_fill(b->buf, b->len, before);
	vp_recv(b, 1, 0, 128);
	vp_wr(&w, a, IBV_WR_SEND, 0, 64);
	w.wr.wr.ud.remote_qkey = VP_QKEY ^ 1;
	vp_send(a, &w.wr);
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a datagram with a wrong Q_Key");
	vp_exchange(&v.neighbour, "neighbour, meanwhile");
	vp_expect_none(&b->rcq, "the receive");
	check(vp_differs(b->buf, b->len, before) < 0, "nothing was written");
	vp_send(a, vp_wr(&w, a, IBV_WR_SEND, 0, 64));
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a right one");
	vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "takes the receive");
	vio_end(&v);
}

/* The top bit of a request's Q_Key means: that of the sending QP (IBTA C10-15). Users cannot borrow privileged keys. */
static void ud_controlled_qkey(const void *arg)
{
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct vp_wr w;

	(void)arg;
	vio_begin(&v, IBV_QPT_UD);
	a = &v.pair.a;
	b = &v.pair.b;
	vp_recv(b, 1, 0, 128);
	vp_wr(&w, a, IBV_WR_SEND, 0, 64);
	w.wr.wr.ud.remote_qkey = 0x80010000;
	vp_send(a, &w.wr);
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a datagram with a controlled Q_Key");
	vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "carries the Q_Key of its QP");
	vio_end(&v);
}

static void ud_no_receive(const void *arg)
{
	struct vio v = { 0 };
	struct vp_wr w;

	(void)arg;
	vio_begin(&v, IBV_QPT_UD);
	vp_send(&v.pair.a, vp_wr(&w, &v.pair.a, IBV_WR_SEND, 0, 64));
	vp_expect(&v.pair.a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "a datagram without a receive");
	vp_exchange(&v.neighbour, "neighbour, meanwhile");
	vp_exchange(&v.pair, "the pair goes on");
	vio_end(&v);
}

static void ud_no_such_qp(const void *arg)
{
	struct vio v = { 0 };
	struct vp_wr w;

	(void)arg;
	vio_begin(&v, IBV_QPT_UD);
	vp_wr(&w, &v.pair.a, IBV_WR_SEND, 0, 64);
	w.wr.wr.ud.remote_qpn = 0xfffff0;
	vp_send(&v.pair.a, &w.wr);
	vp_expect(&v.pair.a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "a datagram to nobody");
	vp_exchange(&v.pair, "the pair goes on");
	vio_end(&v);
}

/* A datagram to an RC QP: the wrong service. */
static void ud_to_rc(const void *arg)
{
	uint64_t before = vp_fresh();
	struct vio v = { 0 };
	struct vp_end *rc;
	struct vp_wr w;

	(void)arg;
	vio_begin(&v, IBV_QPT_UD);
	rc = &v.neighbour.b;
	vp_fill(rc->buf, rc->len, before);
	vp_recv(rc, 0xeec, 0, 256);
	vp_wr(&w, &v.pair.a, IBV_WR_SEND, 0, 64);
	w.wr.wr.ud.remote_qpn = rc->qp->qp_num;
	vp_send(&v.pair.a, &w.wr);
	vp_expect(&v.pair.a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "a datagram to an RC QP");
	vp_exchange(&v.pair, "the pair, meanwhile");
	vp_expect_none(&rc->rcq, "the RC QP's receive");
	check(vp_differs(rc->buf, rc->len, before) < 0, "nothing was written");
	check(vp_state(rc) == IBV_QPS_RTS, "the RC QP is in RTS");
	vp_move_to_reset(&v.neighbour.a);
	vp_move_to_reset(&v.neighbour.b);
	vp_connect(&v.neighbour.a, &v.neighbour.b);
	vio_end(&v);
}

/* A datagram has one packet: more than the MTU is a local length error, and the send queue has failed. */
static void ud_over_mtu(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_UD);
	struct vio v = { 0 };
	enum ibv_qp_state state;
	struct vp_end *a, *b;
	struct vp_wr w;
	size_t mtu;

	(void)arg;
	vio_open(&v);
	vio_pair(&v, &conf);
	a = &v.pair.a;
	b = &v.pair.b;
	mtu = 128u << v.dev_a.port.active_mtu;
	vp_recv(b, 1, 0, 2 * mtu);
	vp_recv(b, 2, 0, 2 * mtu);
	vp_send(a, vp_wr(&w, a, IBV_WR_SEND, 0, mtu));
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a datagram as long as the MTU");
	vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "arrives");
	vp_send(a, vp_wr(&w, a, IBV_WR_SEND, 0, mtu + 1));
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_LOC_LEN_ERR, "a byte more");
	vp_expect_none(&b->rcq, "does not arrive");
	state = vp_state(a);
	check(state == IBV_QPS_SQE || state == IBV_QPS_ERR, "the sender is in SQE or ERR (%d)",
	      state);
	vio_expect_send_dead(a, "sender");
	vio_end(&v);
}

/*
 * An address handle of another PD. Where address vectors travel in the request (as on mlx5) nobody can tell; else the
 * request is refused when it is posted, or ends with a local QP operation error (IBTA C10-19). Silence is no answer.
 */
static void ud_ah_other_pd(const void *arg)
{
	struct ibv_ah_attr attr;
	struct vio v = { 0 };
	struct ibv_pd *pd;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	struct vp_wr w;

	(void)arg;
	vio_begin(&v, IBV_QPT_UD);
	pd = ibv_alloc_pd(v.dev_a.ctx);
	require(pd, "allocate another PD");
	attr = vp_ah_attr(&v.pair.a, &v.dev_b);
	ah = ibv_create_ah(pd, &attr);
	require(ah, "create an address handle in it");
	vp_recv(&v.pair.b, 1, 0, 128);
	vp_wr(&w, &v.pair.a, IBV_WR_SEND, 0, 64);
	w.wr.wr.ud.ah = ah;
	if (!vp_try_send(&v.pair.a, &w.wr)) {
		require(vp_poll_for(&v.pair.a.scq, &wc, opt.deadline_ms), "the datagram completes");
		check(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_LOC_QP_OP_ERR,
		      "with success or an operation error (got \"%s\")",
		      ibv_wc_status_str(wc.status));
	}
	require(!ibv_destroy_ah(ah), "destroy the address handle");
	require(!ibv_dealloc_pd(pd), "deallocate the other PD");
	vio_end(&v);
}

#define DROP(n, s, ...) \
	{ \
		.name = n, .shows = s, .run = uc_write_dropped, .arg = &(const struct drop) \
		{ \
			__VA_ARGS__ \
		} \
	}

static const struct check_case cases[] = {
	DROP("uc-rkey-wrong", "a UC write with a wrong key", .rkey_flip = 0x00ff0000),
	DROP("uc-rkey-next", "a UC write with a wrong key byte", .rkey_flip = 1),
	DROP("uc-end-by-one", "a UC write whose last byte is behind the MR", .from_end = true),
	DROP("uc-no-remote-write", "a UC write to an MR with no remote right", .read_only = true),
	CHECK_CASE("uc-no-receive", uc_no_receive, "a UC send without a receive is dropped"),
	CHECK_CASE("uc-overlong", uc_overlong, "a UC send that is longer than its receive"),
	CHECK_CASE("ud-overlong", ud_overlong, "a datagram that is longer than its receive"),
	CHECK_CASE("ud-no-room-for-grh", ud_no_room_for_grh, "a receive without room for the GRH"),
	CHECK_CASE("ud-wrong-qkey", ud_wrong_qkey, "a datagram with a wrong Q_Key is dropped"),
	CHECK_CASE("ud-controlled-qkey", ud_controlled_qkey,
		   "the top bit of a Q_Key asks for the sender's own"),
	CHECK_CASE("ud-no-receive", ud_no_receive, "a datagram without a receive is dropped"),
	CHECK_CASE("ud-no-such-qp", ud_no_such_qp, "a datagram to a QP that is not"),
	CHECK_CASE("ud-to-rc", ud_to_rc, "a datagram to an RC QP is dropped"),
	CHECK_CASE("ud-over-mtu", ud_over_mtu, "a datagram longer than the MTU is a length error"),
	CHECK_CASE("ud-ah-other-pd", ud_ah_other_pd, "an address handle of another PD"),
};

const struct check_table violate_datagram = { .cases = cases, .count = ARRAY_SIZE(cases) };
