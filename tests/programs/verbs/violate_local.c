// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a device must refuse of its own user: local keys, protection domains, bounds, rights, lengths.
 *
 * On the requester (IBTA 9.9.2, class B): its own completion says so, its QP is dead, and the responder has noticed
 * nothing. On the responder, in a receive (class C): its completion says so, the requester hears of an operation or
 * length error, and both QPs are dead.
 */
#include <errno.h>
#include <string.h>

#include "violate.h"

enum key {
	KEY_GOOD, /* another registration of the same buffer: nothing wrong with the key */
	KEY_WRONG,
	KEY_OTHER_PD,
	KEY_STALE,
	KEY_READ_ONLY, /* an MR without local write access */
};

struct local {
	enum ibv_wr_opcode opcode;
	enum key key;
	bool from_end; /* the address counts from the end of the buffer */
	long long off;
	size_t len;                      /* 0: 64 */
	bool second;                     /* a good element stands before the bad one */
	enum ibv_wc_status status, peer; /* of the bad side, and in a receive of the other */
};

/* A second registration of @end's buffer, to spoil. */
struct spoilt {
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint32_t lkey;
};

static void spoil(struct vp_end *end, enum key key, struct spoilt *s)
{
	int access = key == KEY_READ_ONLY ? IBV_ACCESS_REMOTE_READ : VP_ACCESS_ALL;

	memset(s, 0, sizeof(*s));
	if (key == KEY_WRONG) {
		s->lkey = 0xfffff0 << 8 | 0x5a;
		return;
	}
	if (key == KEY_OTHER_PD) {
		s->pd = ibv_alloc_pd(end->dev->ctx);
		require(s->pd, "allocate another PD");
	}
	s->mr = ibv_reg_mr(s->pd ? s->pd : end->pd, end->buf, end->len, access);
	require(s->mr, "register the buffer once more");
	s->lkey = s->mr->lkey;
	if (key == KEY_STALE) {
		require(!ibv_dereg_mr(s->mr), "and deregister it");
		s->mr = NULL;
	}
}

static void spoil_end(struct spoilt *s)
{
	if (s->mr)
		require(!ibv_dereg_mr(s->mr), "deregister the second registration");
	if (s->pd)
		require(!ibv_dealloc_pd(s->pd), "deallocate the other PD");
}

static int make_sge(const struct vp_end *end, const struct local *l, const struct spoilt *s,
		    struct ibv_sge *sge)
{
	struct ibv_sge bad = {
		.addr = (uintptr_t)end->buf + (l->from_end ? end->len : 0) + l->off,
		.length = l->len ? l->len : 64,
		.lkey = s->lkey,
	};

	if (!l->second) {
		sge[0] = bad;
		return 1;
	}
	sge[0] = (struct ibv_sge){ .addr = (uintptr_t)end->buf + 1024,
				   .length = 64,
				   .lkey = end->mr->lkey };
	sge[1] = bad;
	return 2;
}

static void run_requester(const void *arg)
{
	const struct local *l = arg;
	bool answered = l->opcode == IBV_WR_RDMA_READ || l->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	uint64_t before_a, before_b;
	struct vp_wr w, next;
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct spoilt s;

	vio_begin(&v, IBV_QPT_RC);
	a = &v.pair.a;
	b = &v.pair.b;
	spoil(a, l->key, &s);
	before_a = vp_fresh();
	before_b = vp_fresh();
	vp_fill(a->buf, a->len, before_a);
	vp_fill(b->buf, b->len, before_b);
	vp_recv(b, 0xb0b, 8192, 4096);

	vp_wr(&w, a, l->opcode, 0, 64);
	w.wr.num_sge = make_sge(a, l, &s, w.sge);
	/* What has a wrong sink is sent before that shows, and so may be what follows: let that be a read then. */
	vp_wr(&next, a, answered ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 256, 64);
	w.wr.next = &next.wr;
	vp_send(a, &w.wr);

	vp_expect(&a->scq, w.wr.wr_id, l->status ? l->status : IBV_WC_LOC_PROT_ERR,
		  "the refused request");
	vp_expect(&a->scq, next.wr.wr_id, IBV_WC_WR_FLUSH_ERR, "the request behind it");
	vio_expect_dead(a, "requester");
	if (l->opcode != IBV_WR_ATOMIC_FETCH_AND_ADD)
		check(vp_differs(b->buf, b->len, before_b) < 0,
		      "the responder's memory is as it was");
	check(vp_differs(a->buf, a->len, before_a) < 0, "the requester's memory is as it was");
	vp_expect_none(&b->rcq, "the responder's receive");
	check(vp_state(b) == IBV_QPS_RTS, "the responder is still in RTS");
	vio_expect_pd_usable(&v);
	spoil_end(&s);
	vio_end(&v);
}

static void run_responder(const void *arg)
{
	const struct local *l = arg;
	uint64_t before_b = vp_fresh();
	struct ibv_sge sge[2];
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct spoilt s;
	struct vp_wr w;
	int n;

	vio_begin(&v, IBV_QPT_RC);
	a = &v.pair.a;
	b = &v.pair.b;
	spoil(b, l->key, &s);
	vp_fill(a->buf, a->len, vp_fresh());
	vp_fill(b->buf, b->len, before_b);
	n = make_sge(b, l, &s, sge);
	errno = vp_try_recv(b, 0xbad, sge, n);
	require(!errno, "post a receive that is wrong");
	vp_recv(b, 0xb0b, 8192, 4096);

	vp_send(a, vp_wr(&w, a, l->opcode, 0, l->second ? 128 : 64));
	vp_expect(&b->rcq, 0xbad, l->status ? l->status : IBV_WC_LOC_PROT_ERR, "the receive");
	vp_expect(&b->rcq, 0xb0b, IBV_WC_WR_FLUSH_ERR, "the receive behind it");
	vp_expect(&a->scq, w.wr.wr_id, l->peer ? l->peer : IBV_WC_REM_OP_ERR, "the send");
	vio_expect_dead(a, "requester");
	vio_expect_dead(b, "responder");
	if (!l->second)
		check(vp_differs(b->buf, b->len, before_b) < 0,
		      "the responder's memory is as it was");
	vio_expect_pd_usable(&v);
	spoil_end(&s);
	vio_end(&v);
}

/* A message that is longer than the receive: local length error there, invalid request here. */
static void too_long(size_t message, size_t room)
{
	uint64_t behind = vp_fresh();
	struct vio v = { 0 };
	struct vp_end *a, *b;
	struct vp_wr w;

	vio_begin(&v, IBV_QPT_RC);
	a = &v.pair.a;
	b = &v.pair.b;
	vp_fill(b->buf + room, b->len - room, behind);
	vp_recv(b, 0xbad, 0, room);
	vp_recv(b, 0xb0b, 0, room);
	vp_send(a, vp_wr(&w, a, IBV_WR_SEND, 0, message));
	vp_expect(&b->rcq, 0xbad, IBV_WC_LOC_LEN_ERR, "the receive");
	vp_expect(&b->rcq, 0xb0b, IBV_WC_WR_FLUSH_ERR, "the receive behind it");
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_REM_INV_REQ_ERR, "the send");
	vio_expect_dead(a, "requester");
	vio_expect_dead(b, "responder");
	check(vp_differs(b->buf + room, b->len - room, behind) < 0,
	      "nothing was written behind the receive");
	vio_end(&v);
}

static void recv_short(const void *arg)
{
	(void)arg;
	too_long(65, 64);
}

static void recv_short_long(const void *arg)
{
	(void)arg;
	too_long(32768 + 1, 32768);
}

static void recv_empty(const void *arg)
{
	struct vio v = { 0 };
	struct vp_wr w;

	(void)arg;
	vio_begin(&v, IBV_QPT_RC);
	errno = vp_try_recv(&v.pair.b, 0xbad, NULL, 0);
	require(!errno, "post a receive with no room at all");
	vp_send(&v.pair.a, vp_wr(&w, &v.pair.a, IBV_WR_SEND, 0, 1));
	vp_expect(&v.pair.b.rcq, 0xbad, IBV_WC_LOC_LEN_ERR, "the receive");
	vp_expect(&v.pair.a.scq, w.wr.wr_id, IBV_WC_REM_INV_REQ_ERR, "the send");
	vio_expect_dead(&v.pair.a, "requester");
	vio_expect_dead(&v.pair.b, "responder");
	vio_end(&v);
}

/* A send does not write its source: it may come from memory that nobody may write. */
static void send_from_read_only(const void *arg)
{
	struct vio v = { 0 };
	struct spoilt s;
	struct vp_wr w;

	(void)arg;
	vio_begin(&v, IBV_QPT_RC);
	spoil(&v.pair.a, KEY_READ_ONLY, &s);
	vp_recv(&v.pair.b, 1, 0, 64);
	vp_wr(&w, &v.pair.a, IBV_WR_SEND, 0, 64);
	w.sge[0].lkey = s.lkey;
	vp_send(&v.pair.a, &w.wr);
	vp_expect(&v.pair.a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "a send from read-only memory");
	vp_expect(&v.pair.b.rcq, 1, IBV_WC_SUCCESS, "its receive");
	spoil_end(&s);
	vio_end(&v);
}

#define CASE(n, s, r, o, k, ...) \
	{ \
		.name = n, .shows = s, .run = r, .arg = &(const struct local) \
		{ \
			.opcode = o, .key = k, __VA_ARGS__ \
		} \
	}
#define LOCAL(n, s, ...) CASE(n, s, run_requester, __VA_ARGS__)
#define RECV(n, s, ...) CASE(n, s, run_responder, __VA_ARGS__)

#define SEND IBV_WR_SEND
#define WRITE IBV_WR_RDMA_WRITE
#define READ IBV_WR_RDMA_READ
#define ADD IBV_WR_ATOMIC_FETCH_AND_ADD

static const struct check_case cases[] = {
	LOCAL("lkey-wrong-send", "a send with a key that was never given out", SEND, KEY_WRONG),
	LOCAL("lkey-wrong-write", "a write from a key that was never given out", WRITE, KEY_WRONG),
	LOCAL("lkey-wrong-read", "a read into a key that was never given out", READ, KEY_WRONG),
	LOCAL("lkey-other-pd-send", "a send from an MR of another PD", SEND, KEY_OTHER_PD),
	LOCAL("lkey-other-pd-write", "a write from an MR of another PD", WRITE, KEY_OTHER_PD),
	LOCAL("lkey-other-pd-read", "a read into an MR of another PD", READ, KEY_OTHER_PD),
	LOCAL("lkey-other-pd-atomic", "a fetch and add into an MR of another PD", ADD, KEY_OTHER_PD,
	      .len = 8),
	LOCAL("lkey-stale-send", "a send from an MR that has been deregistered", SEND, KEY_STALE),
	LOCAL("lkey-stale-read", "a read into an MR that has been deregistered", READ, KEY_STALE),
	LOCAL("lkey-end-by-one-send", "a send whose last byte is behind the MR", SEND, KEY_GOOD,
	      .from_end = true, .off = -63),
	LOCAL("lkey-end-by-one-read", "a read whose last byte would be behind the MR", READ,
	      KEY_GOOD, .from_end = true, .off = -63),
	LOCAL("lkey-end-by-half-atomic", "a fetch and add whose answer fits into the MR by half",
	      ADD, KEY_GOOD, .from_end = true, .off = -4, .len = 8),
	LOCAL("lkey-start-before-write", "a write that starts a byte before the MR", WRITE,
	      KEY_GOOD, .off = -1),
	LOCAL("lkey-second-element", "a send whose second element is wrong", SEND, KEY_WRONG,
	      .second = true),
	LOCAL("read-only-sink-read", "a read into an MR that may not be written", READ,
	      KEY_READ_ONLY),
	LOCAL("read-only-sink-atomic", "a fetch and add into an MR that may not be written", ADD,
	      KEY_READ_ONLY, .len = 8),
	RECV("recv-lkey-wrong", "a receive with a key that was never given out", SEND, KEY_WRONG),
	RECV("recv-lkey-other-pd", "a receive into an MR of another PD", SEND, KEY_OTHER_PD),
	RECV("recv-end-by-one", "a receive whose last byte is behind the MR", SEND, KEY_GOOD,
	     .from_end = true, .off = -63),
	RECV("recv-lkey-stale", "a receive into an MR that has been deregistered", SEND, KEY_STALE),
	RECV("recv-read-only", "a receive into an MR that may not be written", SEND, KEY_READ_ONLY),
	RECV("recv-second-element", "a receive whose second element is wrong", SEND, KEY_WRONG,
	     .second = true),
	CHECK_CASE("recv-short", recv_short, "a send that is a byte longer than its receive"),
	CHECK_CASE("recv-short-long", recv_short_long,
		   "a send of many packets that is a byte longer than its receive"),
	CHECK_CASE("recv-empty", recv_empty, "a send to a receive with no room"),
	CHECK_CASE("send-from-read-only", send_from_read_only,
		   "a send from memory without local write access works"),
};

const struct check_table violate_local = { .cases = cases, .count = ARRAY_SIZE(cases) };
