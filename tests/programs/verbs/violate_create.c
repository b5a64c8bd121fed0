// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects that must not come into being, and objects that must not go while others stand on them.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "violate.h"

/* Makes one end without a QP in v->pair.a. */
static void begin_no_qp(struct vio *v, struct vp_conf *conf)
{
	vio_open(v);
	vp_end_make_no_qp(&v->pair.a, &v->dev_a, v->neighbour.a.pd, conf);
}

static void expect_qp_refused(struct vio *v, const struct vp_conf *conf, const char *what)
{
	struct vp_end *a = &v->pair.a;

	a->qp = vp_qp_create(a, conf);
	if (check(!a->qp, "a QP with %s is refused", what))
		check(errno == EINVAL || errno == ENOMEM || errno == EOPNOTSUPP, "%s: errno", what);
	vp_qp_destroy(a);
}

static void qp_too_large(const void *arg)
{
	struct vp_conf good = vp_conf(IBV_QPT_RC), bad;
	struct ibv_device_attr *max;
	struct vio v = { 0 };

	(void)arg;
	begin_no_qp(&v, &good);
	max = &v.dev_a.attr;

	bad = good;
	bad.cap.max_send_wr = max->max_qp_wr + 1;
	expect_qp_refused(&v, &bad, "one send too many");
	bad.cap.max_send_wr = ~0u;
	expect_qp_refused(&v, &bad, "2^32 - 1 sends");
	bad = good;
	/* mlx5 says how many of the largest sends there can be; receives are smaller, and can be four times as many. */
	bad.cap.max_recv_wr = max->max_qp_wr * 4 + 1;
	expect_qp_refused(&v, &bad, "far too many receives");
	bad.cap.max_recv_wr = ~0u;
	expect_qp_refused(&v, &bad, "2^32 - 1 receives");
	bad = good;
	bad.cap.max_send_sge = max->max_sge * 4 + 64;
	expect_qp_refused(&v, &bad, "far too many elements in a send");
	bad = good;
	bad.cap.max_recv_sge = max->max_sge * 4 + 64;
	expect_qp_refused(&v, &bad, "far too many elements in a receive");
	bad = good;
	bad.cap.max_inline_data = 1 << 20;
	expect_qp_refused(&v, &bad, "a megabyte inline");

	v.pair.a.qp = vp_qp_create(&v.pair.a, &good);
	check(v.pair.a.qp, "after all that, a plain QP can be made");
	vio_end(&v);
}

static void cq_bad_size(const void *arg)
{
	struct ibv_cq *cq;
	struct vio v = { 0 };

	(void)arg;
	vio_open(&v);
	cq = ibv_create_cq(v.dev_a.ctx, 0, NULL, NULL, 0);
	check(!cq, "a CQ of no entries is refused");
	cq = ibv_create_cq(v.dev_a.ctx, -1, NULL, NULL, 0);
	check(!cq, "a CQ of -1 entries is refused");
	if (v.dev_a.attr.max_cqe < 1 << 30) {
		cq = ibv_create_cq(v.dev_a.ctx, v.dev_a.attr.max_cqe + 1, NULL, NULL, 0);
		check(!cq, "a CQ that is larger than the device can is refused");
	}
	cq = ibv_create_cq(v.dev_a.ctx, 16, NULL, NULL, 1 << 20);
	check(!cq, "a completion vector that there is not is refused");
	vio_end(&v);
}

static void srq_bad_size(const void *arg)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 0, .max_sge = 1 } };
	struct vio v = { 0 };

	(void)arg;
	vio_open(&v);
	if (!v.dev_a.attr.max_srq)
		skip("the device has no SRQs");
	attr.attr.max_wr = v.dev_a.attr.max_srq_wr + 1;
	check(!ibv_create_srq(v.neighbour.a.pd, &attr),
	      "an SRQ that is larger than the device can is refused");
	attr.attr.max_wr = 16;
	attr.attr.max_sge = v.dev_a.attr.max_srq_sge * 4 + 64;
	check(!ibv_create_srq(v.neighbour.a.pd, &attr),
	      "an SRQ with far too many elements is refused");
	vio_end(&v);
}

/*
 * A QP on the SRQ of another PD. IBTA leaves it to the CI whether the pair is refused; what may not happen is that data
 * reaches memory through a PD which does not own it.
 */
static void srq_other_pd(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vp_end other, *a, *b;
	uint64_t before = vp_fresh();
	struct vio v = { 0 };
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct vp_wr w;

	(void)arg;
	vio_open(&v);
	a = &v.pair.a;
	b = &v.pair.b;
	vp_end_make(a, &v.dev_a, v.neighbour.a.pd, &conf);
	vp_end_make_no_qp(b, &v.dev_b, v.neighbour.b.pd, &conf);
	conf.use_srq = true;
	vp_end_make_no_qp(&other, &v.dev_b, NULL, &conf);

	b->srq = other.srq;
	b->qp = vp_qp_create(b, &conf);
	if (!b->qp) {
		check(errno == EINVAL || errno == EPERM, "the refusal says EINVAL or EPERM");
		b->srq = NULL;
	} else {
		note("the QP was made: the receive must still be checked against the PD of the SRQ");
		vp_connect(a, b);
		vp_fill(b->buf, b->len, before);
		sge = (struct ibv_sge){ .addr = (uintptr_t)b->buf,
					.length = 64,
					.lkey = b->mr->lkey };
		errno = vp_try_recv(b, 9, &sge, 1);
		require(!errno, "post a receive with the key of the QP's PD");
		vp_send(a, vp_wr(&w, a, IBV_WR_SEND, 0, 64));
		require(vp_poll_for(&b->rcq, &wc, opt.deadline_ms), "the receive completes");
		check(wc.status == IBV_WC_LOC_PROT_ERR, "with a protection error (got \"%s\")",
		      ibv_wc_status_str(wc.status));
		check(vp_differs(b->buf, b->len, before) < 0, "nothing was written");
		vp_qp_destroy(b);
		b->srq = NULL;
	}
	vp_end_free(&other);
	vio_end(&v);
}

static void mr_bad_range(const void *arg)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct vio v = { 0 };
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint8_t *map;

	(void)arg;
	vio_open(&v);
	pd = v.neighbour.a.pd;
	map = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	require(map != MAP_FAILED, "map four pages");
	require(!munmap(map + 2 * page, page), "unmap the third");
	require(!mprotect(map + 3 * page, page, PROT_READ), "and protect the fourth");

	check(!ibv_reg_mr(pd, map, 3 * page, IBV_ACCESS_LOCAL_WRITE),
	      "memory with a hole is refused");
	check(!ibv_reg_mr(pd, map + 2 * page, 1, IBV_ACCESS_LOCAL_WRITE),
	      "memory that is not there is refused");
	check(!ibv_reg_mr(pd, map + 3 * page, page, IBV_ACCESS_LOCAL_WRITE),
	      "write access to memory that cannot be written is refused");
	check(!ibv_reg_mr(pd, map, SIZE_MAX - (uintptr_t)map + 2, IBV_ACCESS_LOCAL_WRITE),
	      "a range that wraps around is refused");
	check(!ibv_reg_mr(pd, map, page, IBV_ACCESS_REMOTE_WRITE),
	      "remote write without local write is refused");
	check(!ibv_reg_mr(pd, map, page, IBV_ACCESS_REMOTE_ATOMIC),
	      "remote atomics without local write are refused");

	mr = ibv_reg_mr(pd, map, 2 * page, VP_ACCESS_ALL);
	check(mr, "the two pages that are there can be registered");
	if (mr)
		require(!ibv_dereg_mr(mr), "and deregistered");
	munmap(map, 2 * page);
	munmap(map + 3 * page, page);
	vio_end(&v);
}

/* Destroying what others stand on is refused with EBUSY, and breaks nothing. */
static void destroy_in_use(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vp_end *a, *b;
	struct vio v = { 0 };
	int ret;

	(void)arg;
	vio_open(&v);
	conf.use_srq = v.dev_a.attr.max_srq && v.dev_b.attr.max_srq;
	vp_pair_make(&v.pair, &v.dev_a, &v.dev_b, &conf);
	a = &v.pair.a;
	b = &v.pair.b;
	ret = ibv_dealloc_pd(a->pd);
	check(ret == EBUSY, "the PD of a QP and an MR stays (%d)", ret);
	if (conf.use_srq) {
		ret = ibv_destroy_srq(b->srq);
		check(ret == EBUSY, "the SRQ of a QP stays (%d)", ret);
	}
	ret = ibv_destroy_cq(a->scq.cq);
	check(ret == EBUSY, "the send CQ of a QP stays (%d)", ret);
	ret = ibv_destroy_cq(b->rcq.cq);
	check(ret == EBUSY, "the receive CQ of a QP stays (%d)", ret);
	vp_exchange(&v.pair, "the pair");
	vio_end(&v);
}

#define REFUSED_WITH(err, made, what) \
	do { \
		errno = 0; \
		check(!(made), "%s: not made", what); \
		check(errno == (err), "%s: %s (got %s)", what, strerrorname_np(err), \
		      strerror(errno)); \
	} while (0)
#define NOT_OFFERED(made, what) REFUSED_WITH(EOPNOTSUPP, made, what)

/* Of ib_check_mr_access() in include/rdma/ib_verbs.h, which is asked before the driver. */
static int errno_of_on_demand(void)
{
	struct utsname kernel;

	check(!uname(&kernel), "uname");
	return strncmp(kernel.release, "6.1.", 4) ? EOPNOTSUPP : EINVAL;
}

static void queues_not_offered(struct vp_end *a)
{
	struct ibv_context *ctx = a->dev->ctx;
	struct ibv_cq_init_attr_ex stamps = {
		.cqe = 1,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};
	struct ibv_flow_attr flow = { .size = sizeof(flow), .port = 1 };
	struct ibv_qp_init_attr_ex qp = {
		.send_cq = a->scq.cq,
		.recv_cq = a->rcq.cq,
		.pd = a->pd,
		.cap = a->conf->cap,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB,
	};

	NOT_OFFERED(ibv_create_qp_ex(ctx, &qp), "a QP with creation flags");
	qp.create_flags = 0;
	qp.qp_type = IBV_QPT_RAW_PACKET;
	NOT_OFFERED(ibv_create_qp_ex(ctx, &qp), "a QP for raw packets");
	qp.qp_type = IBV_QPT_UD;
	qp.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	qp.send_ops_flags = IBV_QP_EX_WITH_TSO;
	NOT_OFFERED(ibv_create_qp_ex(ctx, &qp), "a QP for TSO");
	NOT_OFFERED(ibv_create_flow(a->qp, &flow), "a flow");
	NOT_OFFERED(ibv_create_cq_ex(ctx, &stamps), "a CQ with the time of day");
}

/* What docs/provider.md says that there is not. */
static void not_offered(const void *arg)
{
	struct vio v = { 0 };
	struct ibv_alloc_dm_attr dm = { .length = 64 };
	struct vp_end *a = &v.pair.a;
	struct ibv_context *ctx;

	(void)arg;
	vio_begin(&v, IBV_QPT_RC);
	ctx = v.dev_a.ctx;
	if (strncmp(ibv_get_device_name(ctx->device), "xenib", 5))
		skip("%s is not a device of xen-ibfront", ibv_get_device_name(ctx->device));
	REFUSED_WITH(errno_of_on_demand(), ibv_reg_mr(a->pd, a->buf, 4096, IBV_ACCESS_ON_DEMAND),
		     "an MR on demand");
	NOT_OFFERED(ibv_alloc_dm(ctx, &dm), "device memory");
	NOT_OFFERED(ibv_import_dm(ctx, 0), "device memory of another process");
	queues_not_offered(a);
	vp_exchange(&v.pair, "the pair");
	vio_end(&v);
}

static const struct check_case cases[] = {
	CHECK_CASE("create-qp-too-large", qp_too_large, "QPs with more than the device can"),
	CHECK_CASE("create-cq-bad-size", cq_bad_size, "CQs with too many or no entries"),
	CHECK_CASE("create-srq-bad-size", srq_bad_size, "SRQs with more than the device can"),
	CHECK_CASE("create-srq-other-pd", srq_other_pd, "a QP on the SRQ of another PD"),
	CHECK_CASE("create-mr-bad-range", mr_bad_range,
		   "memory that is not there, wraps around, or cannot be written"),
	CHECK_CASE("create-not-offered", not_offered, "what the device of guests has not"),
	CHECK_CASE("destroy-in-use", destroy_in_use,
		   "PD, CQ and SRQ stay while something stands on them"),
};

const struct check_table violate_create = { .cases = cases, .count = ARRAY_SIZE(cases) };
