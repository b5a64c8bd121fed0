// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a responder must refuse: keys, protection domains, bounds, access flags, alignment.
 *
 * RC: the requester's WR ends in error and its QP is dead; the responder's QP is dead too and reports an affiliated
 * asynchronous event (IBTA o9.9.3, responder class C faults); not a byte of the memory has changed.
 */
#include <string.h>

#include "violate.h"

enum target {
	TARGET_MR,        /* the responder's own buffer and key */
	TARGET_WRONG_KEY, /* a key that was never given out */
	TARGET_NEXT_KEY,  /* right index, wrong key byte */
	TARGET_OTHER_PD,  /* an MR of the responder, but of another PD */
	TARGET_STALE,     /* deregistered */
	TARGET_FAR_INDEX, /* an index far outside any table */
};

struct remote {
	enum ibv_wr_opcode opcode;
	enum target target;
	enum base { BASE_START, BASE_END, BASE_ZERO } base;
	long long off; /* of the remote address from the start of the MR, its end, or address 0 */
	size_t len;    /* 0: 64 */
	bool limit_qp, limit_mr; /* the QP allows only qp_access, the MR only mr_access */
	int qp_access;
	int mr_access;
	enum ibv_wc_status status;    /* 0: remote access error */
	enum ibv_wc_status or_status; /* where a card may choose */
};

#define PATTERN_B 0xbbbb

static bool atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static struct vp_conf conf_of(const struct remote *r)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);

	if (r->limit_qp)
		conf.qp_access = r->qp_access;
	if (r->limit_mr)
		conf.mr_access = r->mr_access;
	return conf;
}

/* The memory that the request names, if that is not the responder's own buffer. */
struct elsewhere {
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint32_t rkey;
};

static void aim(struct vio *v, const struct remote *r, struct elsewhere *e)
{
	struct vp_end *b = &v->pair.b;

	memset(e, 0, sizeof(*e));
	e->rkey = b->mr->rkey;
	switch (r->target) {
	case TARGET_MR:
		break;
	case TARGET_WRONG_KEY:
		e->rkey = 0xfffff0 << 8 | 0x5a;
		break;
	case TARGET_NEXT_KEY:
		e->rkey = b->mr->rkey ^ 1;
		break;
	case TARGET_OTHER_PD:
		e->pd = ibv_alloc_pd(v->dev_b.ctx);
		require(e->pd, "allocate another PD");
		e->mr = ibv_reg_mr(e->pd, b->buf, b->len, VP_ACCESS_ALL);
		require(e->mr, "register the buffer in another PD");
		e->rkey = e->mr->rkey;
		break;
	case TARGET_STALE:
		e->mr = ibv_reg_mr(b->pd, b->buf, b->len, VP_ACCESS_ALL);
		require(e->mr, "register the buffer once more");
		e->rkey = e->mr->rkey;
		require(!ibv_dereg_mr(e->mr), "and deregister it");
		e->mr = NULL;
		break;
	case TARGET_FAR_INDEX:
		e->rkey = ~b->mr->rkey & 0xffffff00u;
		break;
	}
}

static void aim_end(struct elsewhere *e)
{
	if (e->mr)
		require(!ibv_dereg_mr(e->mr), "deregister the MR of the other PD");
	if (e->pd)
		require(!ibv_dealloc_pd(e->pd), "deallocate the other PD");
}

static void build(struct vio *v, const struct remote *r, const struct elsewhere *e, struct vp_wr *w)
{
	size_t len = atomic(r->opcode) ? 8 : r->len ? r->len : 64;
	struct vp_end *a = &v->pair.a, *b = &v->pair.b;
	uint64_t addr = r->off;

	if (r->base != BASE_ZERO)
		addr += (uintptr_t)b->buf;
	if (r->base == BASE_END)
		addr += b->len;
	vp_wr(w, a, r->opcode, 0, len);
	if (atomic(r->opcode)) {
		w->wr.wr.atomic.remote_addr = addr;
		w->wr.wr.atomic.rkey = e->rkey;
		w->wr.wr.atomic.compare_add = 0x0101010101010101u;
		w->wr.wr.atomic.swap = 0x2222222222222222u;
	} else {
		w->wr.wr.rdma.remote_addr = addr;
		w->wr.wr.rdma.rkey = e->rkey;
	}
}

static void expect_status(struct vp_end *a, const struct vp_wr *w, const struct remote *r,
			  enum ibv_wc_status *got)
{
	enum ibv_wc_status want = r->status ? r->status : IBV_WC_REM_ACCESS_ERR;
	struct ibv_wc wc = { 0 };

	require(vp_poll_for(&a->scq, &wc, opt.deadline_ms), "the refused request completes");
	check(wc.wr_id == w->wr.wr_id, "the refused request completes first");
	check(wc.status == want || (r->or_status && wc.status == r->or_status),
	      "the refused request completes with \"%s\" (got \"%s\")", ibv_wc_status_str(want),
	      ibv_wc_status_str(wc.status));
	*got = wc.status;
}

static void run_remote(const void *arg)
{
	const struct remote *r = arg;
	struct vp_conf conf = conf_of(r);
	uint64_t before_a, before_b;
	enum ibv_wc_status got;
	struct vp_wr w, next;
	struct elsewhere e;
	struct vp_end *a, *b;
	struct vio v = { 0 };

	vio_open(&v);
	vio_pair(&v, &conf);
	a = &v.pair.a;
	b = &v.pair.b;
	aim(&v, r, &e);
	before_a = vp_fresh();
	before_b = vp_fresh();
	vp_fill(a->buf, a->len, before_a);
	vp_fill(b->buf, b->len, before_b);
	vp_recv(b, 0xb0b, 0, 4096);

	build(&v, r, &e, &w);
	vp_wr(&next, a, IBV_WR_RDMA_WRITE, 256, 64);
	w.wr.next = &next.wr;
	vp_send(a, &w.wr);

	expect_status(a, &w, r, &got);
	vp_expect(&a->scq, next.wr.wr_id, IBV_WC_WR_FLUSH_ERR, "the request behind it");
	vp_expect_qp_event(b,
			   got == IBV_WC_REM_ACCESS_ERR ? IBV_EVENT_QP_ACCESS_ERR :
							  IBV_EVENT_QP_REQ_ERR,
			   "responder");
	vp_expect_state(b, IBV_QPS_ERR, "responder");
	vp_expect(&b->rcq, 0xb0b, IBV_WC_WR_FLUSH_ERR, "the responder's receive");
	check(vp_differs(b->buf, b->len, before_b) < 0, "the responder's memory is as it was");
	check(vp_differs(a->buf, a->len, before_a) < 0, "the requester's memory is as it was");
	vio_expect_dead(a, "requester");
	vio_expect_dead(b, "responder");
	vio_expect_pd_usable(&v);
	aim_end(&e);
	vio_end(&v);
}

/* IBTA C9-88: the key of an RDMA operation of no bytes is not looked at. */
static void zero_length_any_key(const void *arg)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ };
	struct vio v = { 0 };
	struct vp_wr w;
	size_t i;

	(void)arg;
	vio_begin(&v, IBV_QPT_RC);
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		vp_wr(&w, &v.pair.a, opcodes[i], 0, 0);
		w.wr.num_sge = 0;
		w.wr.wr.rdma.rkey = 0xfffff0 << 8 | 0x5a;
		w.wr.wr.rdma.remote_addr = 0x1000;
		vp_send(&v.pair.a, &w.wr);
		vp_expect(&v.pair.a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "an operation of no bytes");
	}
	vp_exchange(&v.pair, "the pair");
	vio_end(&v);
}

/* A read of what is allowed must not be spoilt by flags that are about something else. */
static void exact_rights_suffice(const void *arg)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		int access;
	} right[] = {
		{ IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE },
		{ IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC },
	};
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vio v = { 0 };
	struct vp_wr w;
	size_t i;

	(void)arg;
	vio_open(&v);
	for (i = 0; i < ARRAY_SIZE(right); i++) {
		conf.qp_access = right[i].access;
		conf.mr_access = IBV_ACCESS_LOCAL_WRITE | right[i].access;
		vio_pair(&v, &conf);
		vp_send(&v.pair.a, vp_wr(&w, &v.pair.a, right[i].opcode, 0, 8));
		vp_expect(&v.pair.a.scq, w.wr.wr_id, IBV_WC_SUCCESS,
			  "an operation with exactly its own right");
		vp_pair_free(&v.pair);
	}
	vio_end(&v);
}

#define WRITE IBV_WR_RDMA_WRITE
#define WRITE_IMM IBV_WR_RDMA_WRITE_WITH_IMM
#define READ IBV_WR_RDMA_READ
#define CAS IBV_WR_ATOMIC_CMP_AND_SWP
#define ADD IBV_WR_ATOMIC_FETCH_AND_ADD

#define CASE(n, s, o, t, ...) \
	{ \
		.name = n, .shows = s, .run = run_remote, .arg = &(const struct remote) \
		{ \
			.opcode = o, .target = t, __VA_ARGS__ \
		} \
	}

/*
 * A QP that does not allow an operation at all: IBTA table 63 has NAK invalid request, ConnectX cards have been seen to
 * answer NAK remote access error. Either is an answer; the memory is safe with both.
 */
#define QP_FORBIDS(access) \
	.limit_qp = true, .qp_access = (access), .status = IBV_WC_REM_INV_REQ_ERR, \
	.or_status = IBV_WC_REM_ACCESS_ERR
#define MR_FORBIDS(access) .limit_mr = true, .mr_access = (access)

static const struct check_case cases[] = {
	CASE("rkey-wrong-write", "a write to a key that was never given out", WRITE,
	     TARGET_WRONG_KEY),
	CASE("rkey-wrong-write-imm", "a write with immediate to a key that was never given out",
	     WRITE_IMM, TARGET_WRONG_KEY),
	CASE("rkey-wrong-read", "a read from a key that was never given out", READ,
	     TARGET_WRONG_KEY),
	CASE("rkey-wrong-cmp-swap", "a compare and swap on a key that was never given out", CAS,
	     TARGET_WRONG_KEY),
	CASE("rkey-wrong-fetch-add", "a fetch and add on a key that was never given out", ADD,
	     TARGET_WRONG_KEY),
	CASE("rkey-next-key-byte", "a write to a key with the right index and a wrong low byte",
	     WRITE, TARGET_NEXT_KEY),
	CASE("rkey-far-index", "a read from a key with an index far outside any table", READ,
	     TARGET_FAR_INDEX),
	CASE("rkey-other-pd-write", "a write to an MR of another PD of the responder", WRITE,
	     TARGET_OTHER_PD),
	CASE("rkey-other-pd-read", "a read from an MR of another PD of the responder", READ,
	     TARGET_OTHER_PD),
	CASE("rkey-other-pd-atomic", "a fetch and add on an MR of another PD of the responder", ADD,
	     TARGET_OTHER_PD),
	CASE("rkey-stale-write", "a write to an MR that has been deregistered", WRITE,
	     TARGET_STALE),
	CASE("rkey-stale-read", "a read from an MR that has been deregistered", READ, TARGET_STALE),
	CASE("mr-read-only-write", "a write to an MR that may only be read", WRITE, TARGET_MR,
	     MR_FORBIDS(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ)),
	CASE("mr-local-only-write", "a write to an MR with no remote right", WRITE, TARGET_MR,
	     MR_FORBIDS(IBV_ACCESS_LOCAL_WRITE)),
	CASE("mr-local-only-read", "a read from an MR with no remote right", READ, TARGET_MR,
	     MR_FORBIDS(IBV_ACCESS_LOCAL_WRITE)),
	CASE("mr-no-read-read", "a read from an MR that may only be written", READ, TARGET_MR,
	     MR_FORBIDS(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)),
	CASE("mr-no-atomic-fetch-add", "a fetch and add on an MR that may be written and read", ADD,
	     TARGET_MR,
	     MR_FORBIDS(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)),
	CASE("mr-no-atomic-cmp-swap", "a compare and swap on an MR that may be written and read",
	     CAS, TARGET_MR,
	     MR_FORBIDS(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)),
	CASE("qp-no-write-write", "a write to a QP that allows only reads", WRITE, TARGET_MR,
	     QP_FORBIDS(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)),
	CASE("qp-no-read-read", "a read from a QP that allows only writes", READ, TARGET_MR,
	     QP_FORBIDS(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)),
	CASE("qp-no-atomic-fetch-add", "a fetch and add on a QP that allows no atomics", ADD,
	     TARGET_MR, QP_FORBIDS(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)),
	CASE("qp-no-rights-write", "a write to a QP that allows nothing", WRITE, TARGET_MR,
	     QP_FORBIDS(0)),
	CASE("end-by-one-write", "a write whose last byte is behind the MR", WRITE, TARGET_MR,
	     .base = BASE_END, .off = -63),
	CASE("end-by-one-read", "a read whose last byte is behind the MR", READ, TARGET_MR,
	     .base = BASE_END, .off = -63),
	CASE("end-by-one-long-write", "a write of many packets, of which the last passes the end",
	     WRITE, TARGET_MR, .base = BASE_END, .off = -32768 + 1, .len = 32768),
	CASE("end-by-one-long-read", "a read of many packets, of which the last passes the end",
	     READ, TARGET_MR, .base = BASE_END, .off = -32768 + 1, .len = 32768),
	CASE("end-far-write", "a write that starts far behind the MR", WRITE, TARGET_MR,
	     .base = BASE_END, .off = 1ll << 40),
	CASE("end-far-read", "a read that starts far behind the MR", READ, TARGET_MR,
	     .base = BASE_END, .off = 1ll << 40),
	CASE("end-atomic", "a fetch and add just behind the MR", ADD, TARGET_MR, .base = BASE_END),
	CASE("start-before-write", "a write that starts a byte before the MR", WRITE, TARGET_MR,
	     .off = -1),
	CASE("start-before-read", "a read that starts a byte before the MR", READ, TARGET_MR,
	     .off = -1),
	CASE("wrap-around-write", "a write that wraps around the end of the address space", WRITE,
	     TARGET_MR, .base = BASE_ZERO, .off = -32),
	CASE("wrap-around-read", "a read that wraps around the end of the address space", READ,
	     TARGET_MR, .base = BASE_ZERO, .off = -32),
	CASE("atomic-unaligned-fetch-add", "a fetch and add on an address that is no multiple of 8",
	     ADD, TARGET_MR, .off = 4, .status = IBV_WC_REM_INV_REQ_ERR),
	CASE("atomic-unaligned-cmp-swap", "a compare and swap on an odd address", CAS, TARGET_MR,
	     .off = 1, .status = IBV_WC_REM_INV_REQ_ERR),
	CHECK_CASE("zero-length-any-key", zero_length_any_key,
		   "operations of no bytes do not look at the key"),
	CHECK_CASE("exact-rights-suffice", exact_rights_suffice,
		   "each operation needs its own right and no other"),
};

const struct check_table violate_remote = { .cases = cases, .count = ARRAY_SIZE(cases) };
