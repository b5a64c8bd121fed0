// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory windows of type 2, and the send that takes one back. */
#include <errno.h>
#include <string.h>

#include "integrity.h"

static struct ibv_mw *window_open(struct fixture *fix)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct ibv_mw *mw;
	struct vp_dev dev;

	vp_open(&dev, 1);
	vp_need_mw(&dev);
	vp_close(&dev);
	conf.mr_access |= IBV_ACCESS_MW_BIND;
	fixture_open(fix, &conf, 64 * 1024);
	mw = ibv_alloc_mw(fix->pair.b.pd, IBV_MW_TYPE_2);
	require(mw, "allocate a window");
	return mw;
}

/* @opcode through the window at [off, off + len) of b's buffer. */
static void through(struct fixture *fix, struct ibv_mw *mw, enum ibv_wr_opcode opcode, size_t off,
		    size_t len)
{
	bool read = opcode == IBV_WR_RDMA_READ;
	struct vp_end *a = &fix->pair.a, *b = &fix->pair.b;
	struct vp_end *source = read ? b : a, *sink = read ? a : b;
	uint64_t pattern = vp_fresh();
	struct vp_wr w;

	vp_fill(source->buf + off, len, pattern);
	sink_prepare(sink, off, len);
	vp_wr(&w, a, opcode, off, len);
	w.wr.wr.rdma.rkey = mw->rkey;
	vp_send(a, &w.wr);
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "an operation through a window");
	sink_check(sink, off, len, pattern, "operation through a window");
}

static void invalidate_by_send(struct fixture *fix, struct ibv_mw *mw)
{
	struct vp_end *a = &fix->pair.a, *b = &fix->pair.b;
	uint64_t pattern = vp_fresh();
	struct ibv_wc wc;
	struct vp_wr w;

	vp_fill(a->buf + GUARD, 1000, pattern);
	sink_prepare(b, GUARD, 1000);
	vp_recv(b, 7, GUARD, 1000);
	vp_wr(&w, a, IBV_WR_SEND, GUARD, 1000);
	w.wr.opcode = IBV_WR_SEND_WITH_INV;
	w.wr.invalidate_rkey = mw->rkey;
	vp_send(a, &w.wr);
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a send that invalidates");
	wc = vp_expect(&b->rcq, 7, IBV_WC_SUCCESS, "its receive");
	check(wc.wc_flags & IBV_WC_WITH_INV, "the receive says that a key was invalidated");
	check(wc.invalidated_rkey == mw->rkey, "and which (%#x)", wc.invalidated_rkey);
	sink_check(b, GUARD, 1000, pattern, "send that invalidates");
}

static void window_data(const void *arg)
{
	static const size_t sizes[] = { 1, 4095, 4096, 4097, 20000 };
	struct fixture fix;
	struct ibv_mw *mw = window_open(&fix);
	size_t s;

	(void)arg;
	for (s = 0; s < ARRAY_SIZE(sizes); s++) {
		size_t off = 4096 + s * 13, len = sizes[s];

		vp_mw_bind(&fix.pair.b, mw, off, len,
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
		through(&fix, mw, IBV_WR_RDMA_WRITE, off, len);
		through(&fix, mw, IBV_WR_RDMA_READ, off, len);
		invalidate_by_send(&fix, mw);
	}
	require(!ibv_dealloc_mw(mw), "deallocate the window");
	fixture_close(&fix);
}

/* Binds a window of type 1 by ibv_bind_mw(). */
static void bind_type_1(struct vp_end *end, struct ibv_mw *mw, unsigned int access)
{
	struct ibv_mw_bind bind = {
		.wr_id = 0xb1,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { end->mr, (uintptr_t)end->buf + 4096, 4096, access },
	};
	uint32_t before = mw->rkey;

	errno = ibv_bind_mw(end->qp, mw, &bind);
	require(!errno, "bind a window of type 1 with rights %#x (%s)", access, strerror(errno));
	vp_expect(&end->scq, 0xb1, IBV_WC_SUCCESS, "the binding");
	check(mw->rkey != before, "the window has a new key");
}

/* Also with the right to write from here: it says nothing about the other side. */
static void window_type_1(const void *arg)
{
	struct fixture fix;
	struct ibv_mw *mw = window_open(&fix);
	struct vp_end *b = &fix.pair.b;

	(void)arg;
	require(!ibv_dealloc_mw(mw), "deallocate the window of type 2");
	mw = ibv_alloc_mw(b->pd, IBV_MW_TYPE_1);
	require(mw, "allocate a window of type 1");
	bind_type_1(b, mw, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	through(&fix, mw, IBV_WR_RDMA_WRITE, 4096 + GUARD, 1000);
	bind_type_1(b, mw,
		    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	through(&fix, mw, IBV_WR_RDMA_WRITE, 4096 + GUARD, 1000);
	through(&fix, mw, IBV_WR_RDMA_READ, 4096 + GUARD, 1000);
	require(!ibv_dealloc_mw(mw), "deallocate the window");
	fixture_close(&fix);
}

/* After the send that took it back, the key is worth nothing. */
static void window_taken_back(const void *arg)
{
	struct fixture fix;
	struct ibv_mw *mw = window_open(&fix);
	struct vp_end *a = &fix.pair.a, *b = &fix.pair.b;
	uint64_t before = vp_fresh();
	struct vp_wr w;

	(void)arg;
	vp_mw_bind(b, mw, 4096, 4096, IBV_ACCESS_REMOTE_WRITE);
	through(&fix, mw, IBV_WR_RDMA_WRITE, 4096 + GUARD, 1000);
	invalidate_by_send(&fix, mw);
	vp_fill(b->buf, b->len, before);
	vp_wr(&w, a, IBV_WR_RDMA_WRITE, 4096, 64);
	w.wr.wr.rdma.rkey = mw->rkey;
	vp_send(a, &w.wr);
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_REM_ACCESS_ERR,
		  "a write through a window that was taken back");
	vp_expect_qp_event(b, IBV_EVENT_QP_ACCESS_ERR, "responder");
	check(vp_differs(b->buf, b->len, before) < 0, "nothing was written");
	require(!ibv_dealloc_mw(mw), "deallocate the window");
	fixture_close(&fix);
}

static const struct check_case cases[] = {
	CHECK_CASE("mw-data", window_data,
		   "writes and reads through windows, bound again and again"),
	CHECK_CASE("mw-type-1", window_type_1, "writes and reads through windows of type 1"),
	CHECK_CASE("mw-send-with-inv", window_taken_back,
		   "a send with invalidate takes a window back"),
};

const struct check_table integrity_mw = { .cases = cases, .count = ARRAY_SIZE(cases) };
