// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows of type 2: a key that is narrower than its MR, tied to a QP, and can be taken back.
 */
#include <errno.h>
#include <string.h>

#include "violate.h"

#define WINDOW_OFF 4096
#define WINDOW_LEN 4096

/* Opens all, and makes a window at the responder, not bound yet. */
static struct ibv_mw *begin_window(struct vio *v)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct ibv_mw *mw;

	vio_open(v);
	vp_need_mw(&v->dev_b);
	conf.mr_access |= IBV_ACCESS_MW_BIND;
	vio_pair(v, &conf);
	mw = ibv_alloc_mw(v->pair.b.pd, IBV_MW_TYPE_2);
	require(mw, "allocate a window");
	return mw;
}

static void end_window(struct vio *v, struct ibv_mw *mw)
{
	require(!ibv_dealloc_mw(mw), "deallocate the window");
	vio_end(v);
}

/* A write of @from through @rkey is refused; nothing is written, and both QPs are dead. */
static void expect_write_refused(struct vp_end *from, struct vp_end *owner, uint32_t rkey,
				 size_t off, size_t len)
{
	uint64_t before = vp_fresh();
	struct vp_wr w;

	vp_fill(owner->buf, owner->len, before);
	vp_wr(&w, from, IBV_WR_RDMA_WRITE, 0, len);
	w.wr.wr.rdma.remote_addr = (uintptr_t)owner->buf + off;
	w.wr.wr.rdma.rkey = rkey;
	vp_send(from, &w.wr);
	vp_expect(&from->scq, w.wr.wr_id, IBV_WC_REM_ACCESS_ERR, "the refused write");
	vp_expect_qp_event(from->peer, IBV_EVENT_QP_ACCESS_ERR, "responder");
	check(vp_differs(owner->buf, owner->len, before) < 0, "nothing was written");
	vio_expect_dead(from, "requester");
	vio_expect_dead(from->peer, "responder");
}

static void not_bound(const void *arg)
{
	struct vio v = { 0 };
	struct ibv_mw *mw = begin_window(&v);

	(void)arg;
	expect_write_refused(&v.pair.a, &v.pair.b, mw->rkey, WINDOW_OFF, 64);
	end_window(&v, mw);
}

static void past_the_window(const void *arg)
{
	struct vio v = { 0 };
	struct ibv_mw *mw = begin_window(&v);
	struct vp_wr w;

	(void)arg;
	vp_mw_bind(&v.pair.b, mw, WINDOW_OFF, WINDOW_LEN, IBV_ACCESS_REMOTE_WRITE);
	vp_wr(&w, &v.pair.a, IBV_WR_RDMA_WRITE, WINDOW_OFF, WINDOW_LEN);
	w.wr.wr.rdma.rkey = mw->rkey;
	vp_send(&v.pair.a, &w.wr);
	vp_expect(&v.pair.a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "a write that fills the window");
	/* The MR goes on behind the window: only the window forbids this. */
	expect_write_refused(&v.pair.a, &v.pair.b, mw->rkey, WINDOW_OFF + 1, WINDOW_LEN);
	end_window(&v, mw);
}

static void before_the_window(const void *arg)
{
	struct vio v = { 0 };
	struct ibv_mw *mw = begin_window(&v);

	(void)arg;
	vp_mw_bind(&v.pair.b, mw, WINDOW_OFF, WINDOW_LEN, IBV_ACCESS_REMOTE_WRITE);
	expect_write_refused(&v.pair.a, &v.pair.b, mw->rkey, WINDOW_OFF - 1, 64);
	end_window(&v, mw);
}

static void no_write_right(const void *arg)
{
	struct vio v = { 0 };
	struct ibv_mw *mw = begin_window(&v);

	(void)arg;
	vp_mw_bind(&v.pair.b, mw, WINDOW_OFF, WINDOW_LEN, IBV_ACCESS_REMOTE_READ);
	expect_write_refused(&v.pair.a, &v.pair.b, mw->rkey, WINDOW_OFF, 64);
	end_window(&v, mw);
}

static void invalidate(struct vp_end *end, struct ibv_mw *mw)
{
	struct ibv_send_wr wr = {
		.wr_id = 0x1d,
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = mw->rkey,
	}, *bad;

	errno = ibv_post_send(end->qp, &wr, &bad);
	require(!errno, "post the invalidation");
	vp_expect(&end->scq, 0x1d, IBV_WC_SUCCESS, "the invalidation");
}

static void invalidated(const void *arg)
{
	struct vio v = { 0 };
	struct ibv_mw *mw = begin_window(&v);

	(void)arg;
	vp_mw_bind(&v.pair.b, mw, WINDOW_OFF, WINDOW_LEN, IBV_ACCESS_REMOTE_WRITE);
	invalidate(&v.pair.b, mw);
	expect_write_refused(&v.pair.a, &v.pair.b, mw->rkey, WINDOW_OFF, 64);
	end_window(&v, mw);
}

/* Bound again, a window has a new key, and the old one is dead. */
static void old_key(const void *arg)
{
	struct vio v = { 0 };
	struct ibv_mw *mw = begin_window(&v);
	uint32_t old;

	(void)arg;
	vp_mw_bind(&v.pair.b, mw, WINDOW_OFF, WINDOW_LEN, IBV_ACCESS_REMOTE_WRITE);
	old = mw->rkey;
	invalidate(&v.pair.b, mw);
	vp_mw_bind(&v.pair.b, mw, WINDOW_OFF, WINDOW_LEN, IBV_ACCESS_REMOTE_WRITE);
	check(mw->rkey != old, "the new key is another");
	expect_write_refused(&v.pair.a, &v.pair.b, old, WINDOW_OFF, 64);
	end_window(&v, mw);
}

/* A window of type 2B belongs to the QP that bound it (IBTA 10.6.7.2.5). */
static void other_qp(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vio v = { 0 };
	struct ibv_mw *mw = begin_window(&v);
	struct vp_pair other;

	(void)arg;
	if (!(v.dev_b.attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B))
		skip("the windows of this device are of type 2A");
	vp_pair_make_on(&other, &v.dev_a, v.pair.a.pd, &v.dev_b, v.pair.b.pd, &conf);
	vp_mw_bind(&v.pair.b, mw, WINDOW_OFF, WINDOW_LEN, IBV_ACCESS_REMOTE_WRITE);
	expect_write_refused(&other.a, &v.pair.b, mw->rkey, WINDOW_OFF, 64);
	vp_pair_free(&other);
	vp_exchange(&v.pair, "the QP that bound the window");
	end_window(&v, mw);
}

static void expect_bind_refused(struct vio *v, struct ibv_mw *mw, struct ibv_mr *mr, size_t off,
				size_t len, unsigned int access)
{
	enum ibv_wc_status status = vp_mw_try_bind(&v->pair.b, mw, mr, off, len, access);

	check(status == IBV_WC_MW_BIND_ERR, "the binding is refused (got \"%s\")",
	      ibv_wc_status_str(status));
	vio_expect_dead(&v->pair.b, "the QP that tried");
}

static void bind_past_end(const void *arg)
{
	struct vio v = { 0 };
	struct ibv_mw *mw = begin_window(&v);
	struct vp_end *b = &v.pair.b;

	(void)arg;
	expect_bind_refused(&v, mw, b->mr, b->len - 4096, 4097, IBV_ACCESS_REMOTE_WRITE);
	end_window(&v, mw);
}

/*
 * A window that can be written, on an MR that cannot. IBTA 10.6.7.2.3 refuses the binding; hardware that looks at the
 * MR's rights only when the window is used may refuse the write instead. The bytes must stay as they are. (Whether the
 * MR was registered for windows at all is known to the library only: mlx5 does not tell its hardware.)
 */
static void bind_without_right(const void *arg)
{
	uint64_t before = vp_fresh();
	enum ibv_wc_status status;
	struct vio v = { 0 };
	struct ibv_mw *mw = begin_window(&v);
	struct vp_end *b = &v.pair.b;
	struct ibv_mr *mr =
		ibv_reg_mr(b->pd, b->buf, b->len, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND);

	(void)arg;
	require(mr, "register the buffer for reading");
	vp_fill(b->buf, b->len, before);
	status = vp_mw_try_bind(b, mw, mr, WINDOW_OFF, WINDOW_LEN, IBV_ACCESS_REMOTE_WRITE);
	if (status == IBV_WC_SUCCESS) {
		expect_write_refused(&v.pair.a, b, mw->rkey, WINDOW_OFF, 64);
	} else {
		check(status == IBV_WC_MW_BIND_ERR, "the binding is refused (got \"%s\")",
		      ibv_wc_status_str(status));
		vio_expect_dead(b, "the QP that tried");
		check(vp_differs(b->buf, b->len, before) < 0, "nothing was written");
	}
	require(!ibv_dereg_mr(mr), "deregister it");
	end_window(&v, mw);
}

static void bind_other_pd(const void *arg)
{
	struct vio v = { 0 };
	struct ibv_mw *mw = begin_window(&v);
	struct vp_end *b = &v.pair.b;
	struct ibv_pd *pd = ibv_alloc_pd(v.dev_b.ctx);
	struct ibv_mr *mr;

	(void)arg;
	require(pd, "allocate another PD");
	mr = ibv_reg_mr(pd, b->buf, b->len, VP_ACCESS_ALL | IBV_ACCESS_MW_BIND);
	require(mr, "register the buffer in it");
	expect_bind_refused(&v, mw, mr, WINDOW_OFF, WINDOW_LEN, IBV_ACCESS_REMOTE_WRITE);
	require(!ibv_dereg_mr(mr), "deregister it");
	require(!ibv_dealloc_pd(pd), "deallocate the other PD");
	end_window(&v, mw);
}

static const struct check_case cases[] = {
	CHECK_CASE("mw-not-bound", not_bound, "the key of a window that was never bound"),
	CHECK_CASE("mw-past-end", past_the_window,
		   "a write past the end of a window, inside of its MR"),
	CHECK_CASE("mw-before-start", before_the_window,
		   "a write before a window, inside of its MR"),
	CHECK_CASE("mw-no-write", no_write_right, "a write through a window that allows reads"),
	CHECK_CASE("mw-invalidated", invalidated, "a window that was taken back"),
	CHECK_CASE("mw-old-key", old_key, "the key of an earlier binding"),
	CHECK_CASE("mw-other-qp", other_qp, "a window that another QP bound"),
	CHECK_CASE("mw-bind-past-end", bind_past_end, "a binding past the end of the MR"),
	CHECK_CASE("mw-bind-without-right", bind_without_right,
		   "a window with more rights than its MR"),
	CHECK_CASE("mw-bind-other-pd", bind_other_pd, "a binding to an MR of another PD"),
};

const struct check_table violate_mw = { .cases = cases, .count = ARRAY_SIZE(cases) };
