// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_objects.c - making and removing objects: sizes, records, domains, refusals;
 * and each of the kernel's answers an error once, after which nothing is left.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "fake.h"

static void open_and_close(void)
{
	struct ibv_device_attr_ex attr = {};
	struct ibv_context *context;
	struct ibv_port_attr port;

	context = fake_open();
	REQUIRE(context);
	CHECK(strstr(fake.told, "xenib " XEN_IB_RELEASE));
	/* Asking takes no doorbell page. */
	CHECK(!xenib_query_device_ex(context, NULL, &attr, sizeof(attr)));
	CHECK(!strcmp(attr.orig_attr.fw_ver, "28.39.1002"));
	CHECK(!xenib_query_port(context, 1, &port) && port.lid == 1);
	CHECK(!fake.uars);
	fake_close(context);
}

/* HCAs that this provider does not know. */
static void open_refused(void)
{
	struct ibv_context *context = fake_open();

	REQUIRE(context);
	fake_close(context);

	fake_open_defaults();
	fake.cqe_version = 0;
	CHECK(!fake_open() && errno == EOPNOTSUPP);
	fake_open_defaults();
	fake.family = 2;
	CHECK(!fake_open() && errno == EOPNOTSUPP);
	fake_open_defaults();
	fake.fail_in = 1;
	fake.fail_with = ENODEV;
	CHECK(!fake_open() && errno == ENODEV);
	memset(&fake, 0, sizeof(fake));
}

/* Everything that a program may have, made and removed. Return: how far it got. */
static int make_all(struct ibv_context *context)
{
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 10 };
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 10, .max_sge = 1 } };
	struct ibv_srq_init_attr_ex srq_ex = { .attr = { .max_wr = 10, .max_sge = 1 } };
	struct ibv_qp_init_attr qp_attr = { .cap = fake_cap, .qp_type = IBV_QPT_RC };
	struct ibv_parent_domain_init_attr parent_attr = {};
	struct ibv_td_init_attr td_attr = {};
	struct ibv_ah_attr ah_attr = {};
	struct ibv_pd *pd, *parent = NULL;
	struct ibv_cq_ex *cq_ex = NULL;
	struct ibv_srq *srq = NULL, *srq2 = NULL;
	struct ibv_qp *qp = NULL, *qp2 = NULL;
	struct ibv_cq *cq = NULL;
	struct ibv_td *td = NULL;
	struct ibv_mr *mr = NULL, *dmabuf_mr = NULL;
	struct ibv_mw *mw = NULL;
	struct ibv_ah *ah = NULL;
	int made = 0;

	pd = xenib_alloc_pd(context);
	made += !!pd;
	td = xenib_alloc_td(context, &td_attr);
	made += !!td;
	if (pd) {
		parent_attr.pd = pd;
		parent_attr.td = td;
		parent = xenib_alloc_parent_domain(context, &parent_attr);
		made += !!parent;
		mr = xenib_reg_mr(pd, NULL, 1, 0, 0);
		made += !!mr;
		dmabuf_mr = xenib_reg_dmabuf_mr(pd, 4096, 8192, 1 << 20, 5, 0);
		made += !!dmabuf_mr;
		CHECK(!dmabuf_mr || (dmabuf_mr->lkey == 0x11 && dmabuf_mr->rkey == 0x22 &&
				     dmabuf_mr->length == 8192));
		mw = xenib_alloc_mw(pd, IBV_MW_TYPE_1);
		made += !!mw;
		ah = xenib_create_ah(pd, &ah_attr);
		made += !!ah;
		srq = xenib_create_srq(pd, &srq_attr);
		made += !!srq;
		srq_ex.comp_mask = IBV_SRQ_INIT_ATTR_PD;
		srq_ex.pd = pd;
		srq2 = xenib_create_srq_ex(context, &srq_ex);
		made += !!srq2;
	}
	cq = xenib_create_cq(context, 10, NULL, 0);
	made += !!cq;
	cq_ex = xenib_create_cq_ex(context, &cq_attr);
	made += !!cq_ex;
	if (pd && cq) {
		qp_attr.send_cq = cq;
		qp_attr.recv_cq = cq_ex ? ibv_cq_ex_to_cq(cq_ex) : cq;
		qp = xenib_create_qp(pd, &qp_attr);
		made += !!qp;
		qp_attr.cap = fake_cap;
		qp_attr.srq = srq;
		qp2 = xenib_create_qp(parent ? parent : pd, &qp_attr);
		made += !!qp2;
	}

	fake.fail_in = 0;
	CHECK(!qp2 || !xenib_destroy_qp(qp2));
	CHECK(!qp || !xenib_destroy_qp(qp));
	CHECK(!cq_ex || !xenib_destroy_cq(ibv_cq_ex_to_cq(cq_ex)));
	CHECK(!cq || xenib_resize_cq(cq, 300) == EIO); /* the fake HCA goes on where it was */
	CHECK(!cq || !xenib_destroy_cq(cq));
	CHECK(!srq2 || !xenib_destroy_srq(srq2));
	CHECK(!srq || !xenib_destroy_srq(srq));
	CHECK(!ah || !xenib_destroy_ah(ah));
	CHECK(!mw || !xenib_dealloc_mw(mw));
	CHECK(!dmabuf_mr || !xenib_dereg_mr(verbs_get_mr(dmabuf_mr)));
	CHECK(!mr || !xenib_dereg_mr(verbs_get_mr(mr)));
	CHECK(!parent || !xenib_dealloc_pd(parent));
	CHECK(!td || !xenib_dealloc_td(td));
	CHECK(!pd || !xenib_dealloc_pd(pd));
	return made;
}

static void each_command_fails(void)
{
	struct ibv_context *context;
	int all, made, n;

	context = fake_open();
	REQUIRE(context);
	all = make_all(context);
	CHECK(all == 13);
	fake_close(context);

	for (n = 1; n < 40; n++) {
		context = fake_open();
		REQUIRE(context);
		fake.fail_in = n;
		fake.fail_with = ENOMEM;
		made = make_all(context);
		CHECK(made <= all);
		CHECK(n > 1 || made < all);
		fake_close(context);
	}
}

/* What the kernel refuses to remove stays as it is. */
static void removal_fails(void)
{
	struct ibv_context *context = fake_open();
	struct ibv_pd *pd = xenib_alloc_pd(context);
	struct ibv_cq *cq = xenib_create_cq(context, 1, NULL, 0);
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_srq *srq = xenib_create_srq(pd, &srq_attr);
	struct ibv_mr *mr = xenib_reg_mr(pd, NULL, 1, 0, 0);
	struct ibv_mw *mw = xenib_alloc_mw(pd, IBV_MW_TYPE_1);
	struct ibv_ah *ah = xenib_create_ah(pd, &(struct ibv_ah_attr){});
	struct ibv_qp *qp;

	REQUIRE(pd && cq && srq && mr && mw && ah);
	qp = fake_qp(pd, cq, srq, IBV_QPT_UD, &fake_cap);
	REQUIRE(qp);
#define REFUSED(call) \
	do { \
		fake.fail_in = 1; \
		fake.fail_with = EBUSY; \
		CHECK((call) == EBUSY); \
		CHECK((call) == 0); \
	} while (0)
	REFUSED(xenib_destroy_qp(qp));
	REFUSED(xenib_destroy_srq(srq));
	REFUSED(xenib_destroy_cq(cq));
	REFUSED(xenib_destroy_ah(ah));
	REFUSED(xenib_dealloc_mw(mw));
	REFUSED(xenib_rereg_mr(verbs_get_mr(mr), IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0));
	REFUSED(xenib_dereg_mr(verbs_get_mr(mr)));
	REFUSED(xenib_dealloc_pd(pd));
	fake_close(context);
}

static void domains(void)
{
	struct ibv_parent_domain_init_attr attr = {};
	struct ibv_td_init_attr td_attr = {};
	struct ibv_context *context = fake_open();
	struct ibv_pd *pd = xenib_alloc_pd(context), *parent;
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 1, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD };
	struct ibv_cq_ex *cq;
	struct ibv_td *td;
	struct ibv_qp *qp;

	REQUIRE(pd);
	td_attr.comp_mask = 1;
	CHECK(!xenib_alloc_td(context, &td_attr) && errno == EOPNOTSUPP);
	td_attr.comp_mask = 0;
	td = xenib_alloc_td(context, &td_attr);
	REQUIRE(td);

	CHECK(!xenib_alloc_parent_domain(context, &attr) && errno == EINVAL);
	attr.pd = pd;
	attr.td = td;
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT << 1;
	CHECK(!xenib_alloc_parent_domain(context, &attr) && errno == EOPNOTSUPP);
	attr.comp_mask = 0;
	parent = xenib_alloc_parent_domain(context, &attr);
	REQUIRE(parent);
	CHECK(parent->handle == pd->handle && parent->context == context);
	attr.pd = parent;
	CHECK(!xenib_alloc_parent_domain(context, &attr) && errno == EINVAL);

	/* What is in the thread domain needs no locks and has the domain's doorbell page. */
	cq_attr.parent_domain = parent;
	cq = xenib_create_cq_ex(context, &cq_attr);
	REQUIRE(cq);
	CHECK(!to_xcq_ex(cq)->q.lock.shared);
	qp = fake_qp(parent, ibv_cq_ex_to_cq(cq), NULL, IBV_QPT_RC, &fake_cap);
	REQUIRE(qp);
	CHECK(!to_xqp(qp)->q.sq.lock.shared && !to_xqp(qp)->q.rq.lock.shared);
	CHECK(fake.last.uar == xenib_pd_td(parent)->uar.index && !to_xqp(qp)->own_uar);

	CHECK(xenib_dealloc_td(td) == EBUSY);
	CHECK(xenib_dealloc_pd(pd) == EBUSY);
	CHECK(!xenib_destroy_qp(qp));
	CHECK(!xenib_destroy_cq(ibv_cq_ex_to_cq(cq)));
	CHECK(!xenib_dealloc_pd(parent));
	CHECK(!xenib_dealloc_td(td));
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(context);
}

static const struct xenib_limits limits = {
	.max_sq_desc = 1008,
	.max_rq_desc = 512,
	.max_send_blocks = 32768,
	.max_recv_wqes = 32768,
	.max_srq_wqes = 32768,
};

/* What is asked for is there, in a queue that is no larger than it must be. */
static void sizes(void)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	struct ibv_qp_cap asked = {};
	struct xenib_qp_size size;
	uint32_t need, header, wqe;
	int i, done = 0;
	size_t t;

	srandom(2);
	for (i = 0; i < 100000; i++) {
		t = i % COUNT(types);
		asked.max_send_wr = random() % 5000;
		asked.max_recv_wr = random() % 5000;
		asked.max_send_sge = random() % 40;
		asked.max_recv_sge = random() % 40;
		asked.max_inline_data = random() % 700;
		if (xenib_qp_size(&limits, types[t], xenib_qp_all_ops(types[t]), false, &asked,
				  &size))
			continue;
		done++;
		CHECK(size.cap.max_send_wr >= asked.max_send_wr);
		CHECK(size.cap.max_recv_wr >= asked.max_recv_wr);
		CHECK(!asked.max_recv_wr || size.cap.max_recv_sge >= asked.max_recv_sge);
		CHECK(size.sq_blocks <= limits.max_send_blocks);
		CHECK(!(size.sq_blocks & (size.sq_blocks - 1)));
		CHECK(!(size.rq_wqes & (size.rq_wqes - 1)));
		CHECK(size.bytes == ((size_t)size.rq_wqes << size.rq_shift) + size.sq_blocks * 64);
		CHECK(!size.rq_wqes || !(((size_t)size.rq_wqes << size.rq_shift) % 64));
		if (!asked.max_send_wr)
			continue;

		CHECK(size.cap.max_send_sge >= asked.max_send_sge);
		CHECK(size.cap.max_inline_data >= asked.max_inline_data);
		header = types[t] == IBV_QPT_UD ? 64 : 32;
		wqe = (header + 4 + size.cap.max_inline_data + 15) / 16 * 16;
		CHECK(wqe <= limits.max_sq_desc);
		need = (types[t] == IBV_QPT_RC ? 48 : header) + 16 * asked.max_send_sge;
		wqe = wqe > need ? wqe : need;
		if (types[t] != IBV_QPT_UD && wqe < 192)
			wqe = 192;
		wqe = (wqe + 63) / 64;
		CHECK(wqe * size.cap.max_send_wr <= size.sq_blocks);
		CHECK(wqe * asked.max_send_wr > size.sq_blocks / 2);
	}
	CHECK(done > 10000);
}

static void sizes_refused(void)
{
	static const struct ibv_qp_cap cases[] = {
		{ .max_send_wr = 32769, .max_send_sge = 1 },
		{ .max_send_wr = UINT32_MAX, .max_send_sge = 1 },
		{ .max_send_wr = 0x80000000, .max_send_sge = 1 },
		{ .max_send_wr = 30000, .max_send_sge = 8 },
		{ .max_send_wr = 1, .max_send_sge = 64 },
		{ .max_send_wr = 1, .max_send_sge = UINT32_MAX },
		{ .max_send_wr = 1, .max_send_sge = 0x10000000 },
		{ .max_send_wr = 1, .max_inline_data = 1008 },
		{ .max_send_wr = 1, .max_inline_data = UINT32_MAX },
		{ .max_recv_wr = 32769, .max_recv_sge = 1 },
		{ .max_recv_wr = UINT32_MAX, .max_recv_sge = 1 },
		{ .max_recv_wr = 1, .max_recv_sge = 33 },
		{ .max_recv_wr = 1, .max_recv_sge = UINT32_MAX },
	};
	struct ibv_context *context = fake_open();
	struct ibv_pd *pd = xenib_alloc_pd(context);
	struct ibv_srq_init_attr srq[] = {
		{ .attr = { .max_wr = 0, .max_sge = 1 } },
		{ .attr = { .max_wr = 32768, .max_sge = 1 } },
		{ .attr = { .max_wr = UINT32_MAX, .max_sge = 1 } },
		{ .attr = { .max_wr = 1, .max_sge = 32 } },
		{ .attr = { .max_wr = 1, .max_sge = UINT32_MAX } },
	};
	const struct ibv_qp_cap odd = { .max_recv_wr = 1, .max_recv_sge = 40 };
	struct ibv_cq_init_attr_ex no_cqes = { .cqe = 0 };
	struct xenib_limits odd_limits = limits;
	struct xenib_qp_size size;
	size_t i;

	odd_limits.max_rq_desc = 768;
	for (i = 0; i < COUNT(cases); i++)
		CHECK(xenib_qp_size(&limits, IBV_QPT_RC, IBV_QP_EX_WITH_SEND, false, &cases[i],
				    &size) == EINVAL);
	/* An HCA whose largest receive WQE is no power of two, as ours are. */
	CHECK(xenib_qp_size(&odd_limits, IBV_QPT_RC, 0, false, &odd, &size) == EINVAL);
	for (i = 0; i < COUNT(srq); i++)
		CHECK(!xenib_create_srq(pd, &srq[i]) && errno == EINVAL);
	CHECK(!xenib_create_cq(context, 0, NULL, 0) && errno == EINVAL);
	CHECK(!xenib_create_cq(context, -1, NULL, 0) && errno == EINVAL);
	CHECK(!xenib_create_cq(context, 0x7fffffff, NULL, 0) && errno == EINVAL);
	CHECK(!xenib_create_cq_ex(context, &no_cqes) && errno == EINVAL);
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(context);
}

/* An older kernel, or an older dom0, says in its own way that it has no such command. */
static void hca_clock(void)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	struct ibv_context *context = fake_open();

	CHECK(!xenib_query_rt_values(context, &values) &&
	      values.comp_mask == IBV_VALUES_MASK_RAW_CLOCK && !values.raw_clock.tv_sec &&
	      values.raw_clock.tv_nsec == FAKE_TICKS);
	fake.fail_in = 1;
	fake.fail_with = EPROTONOSUPPORT;
	CHECK(xenib_query_rt_values(context, &values) == EOPNOTSUPP);
	fake.fail_in = 1;
	fake.fail_with = EIO;
	CHECK(xenib_query_rt_values(context, &values) == EIO);
	values = (struct ibv_values_ex){ 0 };
	CHECK(!xenib_query_rt_values(context, &values) && !values.raw_clock.tv_nsec);
	values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK | 2;
	CHECK(xenib_query_rt_values(context, &values) == EINVAL);
	fake_close(context);
}

/* What is not offered says so. */
static void not_offered(void)
{
	struct ibv_context *context = fake_open();
	struct ibv_pd *pd = xenib_alloc_pd(context);
	struct ibv_cq *cq = xenib_create_cq(context, 1, NULL, 0);
	struct ibv_qp_init_attr_ex qp = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = fake_cap,
		.pd = pd,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_TSO,
	};
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = 1,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};
	struct ibv_srq_init_attr_ex srq = {
		.attr = { .max_wr = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE,
		.pd = pd,
		.srq_type = IBV_SRQT_TM,
	};

	CHECK(!xenib_create_qp_ex(context, &qp) && errno == EOPNOTSUPP);
	qp.qp_type = IBV_QPT_UD;
	qp.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE;
	CHECK(!xenib_create_qp_ex(context, &qp) && errno == EOPNOTSUPP);
	qp.comp_mask = IBV_QP_INIT_ATTR_PD;
	qp.qp_type = IBV_QPT_RAW_PACKET;
	CHECK(!xenib_create_qp_ex(context, &qp) && errno == EOPNOTSUPP);
	qp.qp_type = IBV_QPT_RC;
	qp.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH;
	CHECK(!xenib_create_qp_ex(context, &qp) && errno == EOPNOTSUPP);
	qp.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	qp.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	CHECK(!xenib_create_qp_ex(context, &qp) && errno == EOPNOTSUPP);
	qp.qp_type = IBV_QPT_UD;
	qp.create_flags |= IBV_QP_CREATE_PCI_WRITE_END_PADDING;
	CHECK(!xenib_create_qp_ex(context, &qp) && errno == EOPNOTSUPP);
	qp.qp_type = IBV_QPT_RC;
	qp.comp_mask = 0;
	CHECK(!xenib_create_qp_ex(context, &qp) && errno == EINVAL);
	qp.comp_mask = IBV_QP_INIT_ATTR_PD;
	qp.recv_cq = NULL;
	CHECK(!xenib_create_qp_ex(context, &qp) && errno == EINVAL);

	CHECK(!xenib_create_cq_ex(context, &cq_attr) && errno == EOPNOTSUPP);
	cq_attr.wc_flags = 0;
	cq_attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	cq_attr.flags = 1u << 31;
	CHECK(!xenib_create_cq_ex(context, &cq_attr) && errno == EOPNOTSUPP);

	CHECK(!xenib_create_srq_ex(context, &srq) && errno == EOPNOTSUPP);
	srq.srq_type = IBV_SRQT_BASIC;
	srq.comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
	CHECK(!xenib_create_srq_ex(context, &srq) && errno == EOPNOTSUPP);
	srq.srq_type = IBV_SRQT_XRC;
	CHECK(!xenib_create_srq_ex(context, &srq) && errno == EINVAL);
	srq.comp_mask = 0;
	CHECK(!xenib_create_srq_ex(context, &srq) && errno == EINVAL);
	CHECK(!xenib_destroy_cq(cq));
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(context);
}

/* A program that says what it posts gets small WQEs; binding is refused then. */
static void ops_flags(void)
{
	struct ibv_context *context = fake_open();
	struct ibv_pd *pd = xenib_alloc_pd(context);
	struct ibv_cq *cq = xenib_create_cq(context, 1, NULL, 0);
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.pd = pd,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV }, *bad;
	struct ibv_qp_attr qp_attr;
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;

	qp = xenib_create_qp_ex(context, &attr);
	REQUIRE(qp);
	CHECK(fake.last.sq_blocks == 16 && attr.cap.max_send_wr == 16);
	CHECK(to_xqp(qp)->vqp.comp_mask & VERBS_QP_EX);
	CHECK(to_xqp(qp)->vqp.qp_ex.wr_send && !to_xqp(qp)->vqp.qp_ex.wr_rdma_write);
	fake_to_rts(qp);
	CHECK(ibv_post_send(qp, &wr, &bad) == EINVAL);

	CHECK(!xenib_query_qp(qp, &qp_attr, 0, &init));
	CHECK(init.cap.max_send_wr == 16 && init.cap.max_inline_data == attr.cap.max_inline_data);
	CHECK(!xenib_destroy_qp(qp));
	CHECK(!xenib_destroy_cq(cq));
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(context);
}

/* Flags that are asked for, which are none, or those that a QP of that type has. */
static void create_flags(void)
{
	struct ibv_context *context = fake_open();
	struct ibv_pd *pd = xenib_alloc_pd(context);
	struct ibv_cq *cq = xenib_create_cq(context, 1, NULL, 0);
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = fake_cap,
		.pd = pd,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
	};
	struct ibv_qp *qp;

	qp = xenib_create_qp_ex(context, &attr);
	REQUIRE(qp);
	CHECK(attr.comp_mask == (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS));
	CHECK(!fake.last.create_flags);
	CHECK(!xenib_destroy_qp(qp));
	attr.qp_type = IBV_QPT_UD;
	attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	qp = xenib_create_qp_ex(context, &attr);
	REQUIRE(qp);
	CHECK(fake.last.create_flags == IBV_QP_CREATE_BLOCK_SELF_MCAST_LB && fake.last.sq_blocks);
	CHECK(!xenib_destroy_qp(qp));
	CHECK(!xenib_destroy_cq(cq));
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(context);
}

/* Records of one context share pages; each has 8 octets of its own, which begin as zero. */
static void records(void)
{
	enum { RECS = 300 };
	struct xenib_arenas arenas;
	struct xenib_dbrecs recs;
	__be32 *rec[RECS];
	uint8_t shift;
	int i, j;

	fake.ranges = 0;
	xenib_arenas_init(&arenas, false);
	xenib_dbrecs_init(&recs, &arenas);
	srandom(3);
	for (i = 0; i < RECS; i++) {
		rec[i] = xenib_dbrec_alloc(&recs, &shift);
		REQUIRE(rec[i] && !shift);
		CHECK(!rec[i][0] && !rec[i][1] && !((uintptr_t)rec[i] % 64));
		rec[i][0] = htobe32(i);
		rec[i][1] = htobe32(~i);
	}
	CHECK(fake.ranges == 5);
	for (i = 0; i < 5000; i++) {
		j = random() % RECS;
		CHECK(rec[j][0] == htobe32(j) && rec[j][1] == htobe32(~j));
		xenib_dbrec_free(&recs, rec[j]);
		rec[j] = xenib_dbrec_alloc(&recs, &shift);
		CHECK(!rec[j][0] && !rec[j][1]);
		rec[j][0] = htobe32(j);
		rec[j][1] = htobe32(~j);
	}
	for (i = 0; i < RECS; i++)
		xenib_dbrec_free(&recs, rec[i]);
	CHECK(!fake.ranges);
	xenib_dbrecs_exit(&recs);
	xenib_arenas_exit(&arenas);
}

/* An address on the own subnet, at every rate. */
static void addresses(void)
{
	static const struct {
		uint8_t rate, code;
	} rates[] = {
		{ IBV_RATE_MAX, 0 },       { IBV_RATE_2_5_GBPS, 7 },
		{ IBV_RATE_10_GBPS, 8 },   { IBV_RATE_30_GBPS, 9 },
		{ IBV_RATE_5_GBPS, 10 },   { IBV_RATE_20_GBPS, 11 },
		{ IBV_RATE_40_GBPS, 12 },  { IBV_RATE_60_GBPS, 13 },
		{ IBV_RATE_80_GBPS, 14 },  { IBV_RATE_120_GBPS, 15 },
		{ IBV_RATE_14_GBPS, 11 },  { IBV_RATE_56_GBPS, 13 },
		{ IBV_RATE_112_GBPS, 15 }, { IBV_RATE_25_GBPS, 9 },
		{ IBV_RATE_100_GBPS, 15 }, { IBV_RATE_28_GBPS, 9 },
		{ IBV_RATE_50_GBPS, 13 },  { IBV_RATE_168_GBPS, 0 },
		{ IBV_RATE_200_GBPS, 0 },  { 255, 0 },
	};
	struct ibv_ah_attr attr = { .dlid = 0xbeef, .sl = 15, .src_path_bits = 0xff };
	struct ibv_context *context = fake_open();
	struct ibv_pd *pd = xenib_alloc_pd(context);
	const uint8_t *av;
	struct ibv_ah *ah;
	size_t i, j;

	for (i = 0; i < COUNT(rates); i++) {
		attr.static_rate = rates[i].rate;
		ah = xenib_create_ah(pd, &attr);
		REQUIRE(ah);
		av = (const uint8_t *)&to_xah(ah)->av;
		CHECK(av[12] == (rates[i].code << 4 | 15) && av[13] == 0x7f);
		CHECK(av[14] == 0xbe && av[15] == 0xef);
		for (j = 16; j < 48; j++)
			CHECK(!av[j]);
		CHECK(!xenib_destroy_ah(ah));
	}
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(context);
}

/* Numbers of QPs: all different, found again, and given anew. */
static void indices(void)
{
	enum { QPS = 10000 };
	static struct xenib_qp_table table;
	struct xenib_qp_leaf *full;
	static uint32_t uidx[QPS];
	struct xenib_qp_queues *qp = calloc(QPS, sizeof(*qp));
	uint32_t i;

	REQUIRE(qp);
	xenib_qp_table_init(&table);
	CHECK(!xenib_qp_table_find(&table, 0) && !xenib_qp_table_find(&table, UINT32_MAX));
	for (i = 0; i < QPS; i++)
		CHECK(!xenib_qp_table_add(&table, &qp[i], &uidx[i]));
	for (i = 0; i < QPS; i++)
		CHECK(xenib_qp_table_find(&table, uidx[i]) == &qp[i] && uidx[i] < XENIB_NO_UIDX);
	xenib_qp_table_remove(&table, uidx[77]);
	CHECK(!xenib_qp_table_find(&table, uidx[77]));
	CHECK(!xenib_qp_table_add(&table, &qp[0], &i) && i == uidx[77]);
	CHECK(!xenib_qp_table_find(&table, XENIB_NO_UIDX));
	xenib_qp_table_exit(&table);

	/* All leaves but the last are full: what is left are the numbers beside XENIB_NO_UIDX, and itself. */
	full = calloc(1, sizeof(*full));
	CHECK(full);
	full->used = XENIB_TABLE_SIZE;
	xenib_qp_table_init(&table);
	for (i = 0; i < XENIB_TABLE_SIZE - 1; i++)
		table.leaf[i] = full;
	table.leaf[XENIB_TABLE_SIZE - 1] = NULL;
	CHECK(xenib_qp_table_add(&table, &qp[0], &i) == ENOMEM &&
	      !table.leaf[XENIB_TABLE_SIZE - 1]);
	memset(table.leaf, 0, sizeof(table.leaf));
	xenib_qp_table_exit(&table);
	free(full);
	free(qp);
}

/* Several threads make, use and remove QPs on one CQ and one SRQ while another polls. */
static struct ibv_pd *threads_pd;
static struct ibv_cq *threads_cq;
static int threads_stop;

static void *make_and_remove(void *unused)
{
	struct ibv_sge sge = { 0x1000, 8, 1 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_qp *qp;
	int i, j;

	(void)unused;
	for (i = 0; i < 200; i++) {
		qp = fake_qp(threads_pd, threads_cq, NULL, IBV_QPT_RC, &fake_cap);
		REQUIRE(qp);
		for (j = 0; j < 8; j++)
			CHECK(!ibv_post_send(qp, &wr, &bad));
		CHECK(!xenib_destroy_qp(qp));
	}
	return NULL;
}

static void *poll_until_told(void *unused)
{
	struct ibv_wc wc;

	(void)unused;
	while (!__atomic_load_n(&threads_stop, __ATOMIC_RELAXED))
		CHECK(ibv_poll_cq(threads_cq, 1, &wc) == 0);
	return NULL;
}

static void threads(void)
{
	struct ibv_context *context = fake_open();
	pthread_t maker[3], poller;
	int i;

	threads_pd = xenib_alloc_pd(context);
	threads_cq = xenib_create_cq(context, 63, NULL, 0);
	REQUIRE(threads_pd && threads_cq);
	REQUIRE(!pthread_create(&poller, NULL, poll_until_told, NULL));
	for (i = 0; i < 3; i++)
		REQUIRE(!pthread_create(&maker[i], NULL, make_and_remove, NULL));
	for (i = 0; i < 3; i++)
		pthread_join(maker[i], NULL);
	__atomic_store_n(&threads_stop, 1, __ATOMIC_RELAXED);
	pthread_join(poller, NULL);
	CHECK(!xenib_destroy_cq(threads_cq));
	CHECK(!xenib_dealloc_pd(threads_pd));
	fake_close(context);
}

int main(void)
{
	RUN(open_and_close);
	RUN(open_refused);
	RUN(each_command_fails);
	RUN(removal_fails);
	RUN(domains);
	RUN(sizes);
	RUN(sizes_refused);
	RUN(hca_clock);
	RUN(not_offered);
	RUN(ops_flags);
	RUN(create_flags);
	RUN(records);
	RUN(addresses);
	RUN(indices);
	RUN(threads);
	return checks_failed ? 1 : 0;
}
