// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands for shared receive queues: what they make, what they refuse, what they hold on to. */
#include "driver.h"
#include "objects/srq.h"
#include "unit.h"

static uint32_t pd, xrcd, uar, eq, cq;

static void start(void)
{
	drv_start();
	pd = drv_pd(0);
	xrcd = drv_xrcd(0);
	uar = drv_uar(0);
	eq = drv_eq(uar, DRV_ALL_EVENTS);
	cq = drv_cq(uar, eq);
}

static struct srq *srq_of(uint32_t srqn)
{
	struct srq *srq = (struct srq *)obj_find(drv.hca->objs[OBJ_SRQ], srqn);

	REQUIRE(srq);
	return srq;
}

static uint8_t end_rmp(uint32_t rmpn)
{
	drv_begin(destroy_rmp, DESTROY_RMP);
	IN(destroy_rmp, rmpn, rmpn);
	return drv_run();
}

static uint8_t end_xrc(uint32_t srqn)
{
	drv_begin(destroy_xrc_srq, DESTROY_XRC_SRQ);
	IN(destroy_xrc_srq, xrc_srqn, srqn);
	return drv_run();
}

static uint8_t end_pd(void)
{
	drv_begin(dealloc_pd, DEALLOC_PD);
	IN(dealloc_pd, pd, pd);
	return drv_run();
}

static uint8_t query_rmp(uint32_t rmpn)
{
	drv_begin(query_rmp, QUERY_RMP);
	IN(query_rmp, rmpn, rmpn);
	return drv_run();
}

static uint8_t limit_rmp(uint32_t rmpn, uint32_t limit)
{
	drv_begin(modify_rmp, MODIFY_RMP);
	IN(modify_rmp, rmpn, rmpn);
	IN(modify_rmp, rmp_state, 1);
	IN(modify_rmp, ctx.state, 1);
	IN(modify_rmp, bitmask.lwm, 1);
	IN(modify_rmp, ctx.wq.lwm, limit);
	return drv_run();
}

static uint8_t limit_xrc(uint32_t srqn, uint32_t limit)
{
	drv_begin(arm_xrc_srq, ARM_XRC_SRQ);
	drv_mod(1);
	IN(arm_xrc_srq, xrc_srqn, srqn);
	IN(arm_xrc_srq, lwm, limit);
	return drv_run();
}

TEST(an_rmp_is_what_it_was_made_as)
{
	uint64_t dbr;
	uint32_t rmpn;

	start();
	drv_rmp_begin(pd);
	dbr = IFC_GET(create_rmp_in, drv.in, ctx.wq.dbr_addr);
	IN(create_rmp, ctx.wq.lwm, 3);
	CHECK_EQ(drv_run(), CMD_OK);
	rmpn = OUT(create_rmp, rmpn);
	CHECK_EQ(query_rmp(rmpn), CMD_OK);
	CHECK_EQ(OUT(query_rmp, rmp_context.state), 1);
	CHECK_EQ(OUT(query_rmp, rmp_context.wq.log_wq_sz), DRV_LOG_SRQ);
	CHECK_EQ(OUT(query_rmp, rmp_context.wq.log_wq_stride), DRV_SRQ_STRIDE);
	CHECK_EQ(OUT(query_rmp, rmp_context.wq.lwm), 3);
	CHECK_EQ(OUT(query_rmp, rmp_context.wq.pd), pd);
	CHECK_EQ(OUT(query_rmp, rmp_context.wq.dbr_addr), dbr);
	srq_of(rmpn)->error = true;
	CHECK_EQ(query_rmp(rmpn), CMD_OK);
	CHECK_EQ(OUT(query_rmp, rmp_context.state), 3);
	CHECK_EQ(limit_rmp(rmpn, 1), CMD_BAD_RES_STATE);
	CHECK_EQ(end_rmp(rmpn), CMD_OK);
	CHECK_EQ(end_rmp(rmpn), CMD_BAD_RES);
	drv_stop();
}

TEST(an_xrc_srq_is_what_it_was_made_as)
{
	const uint8_t *c = IFC_ADDR(query_xrc_srq_out, drv.out, xrc_srq_context_entry);
	uint32_t srqn;

	start();
	srqn = drv_xrc_srq(pd, xrcd, cq);
	CHECK_EQ(limit_xrc(srqn, 5), CMD_OK);
	drv_begin(query_xrc_srq, QUERY_XRC_SRQ);
	IN(query_xrc_srq, xrc_srqn, srqn);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(IFC_GET(xrc_srqc, c, state), 0);
	CHECK_EQ(IFC_GET(xrc_srqc, c, log_xrc_srq_size), DRV_LOG_SRQ);
	CHECK_EQ(IFC_GET(xrc_srqc, c, log_rq_stride), DRV_SRQ_STRIDE - 4);
	CHECK_EQ(IFC_GET(xrc_srqc, c, pd), pd);
	CHECK_EQ(IFC_GET(xrc_srqc, c, xrcd), xrcd);
	CHECK_EQ(IFC_GET(xrc_srqc, c, cqn), cq);
	CHECK_EQ(IFC_GET(xrc_srqc, c, lwm), 5);
	CHECK_EQ(IFC_GET(xrc_srqc, c, user_index), 0x123);
	CHECK_EQ(be64_at(IFC_ADDR(xrc_srqc, c, db_record_addr_h)), srq_of(srqn)->dbr);
	CHECK_EQ(end_xrc(srqn), CMD_OK);
	drv_stop();
}

TEST(an_srq_holds_on_to_what_it_needs)
{
	uint32_t rmpn, srqn;

	start();
	rmpn = drv_rmp(pd);
	CHECK_EQ(end_pd(), CMD_BAD_RES_STATE);
	CHECK_EQ(end_rmp(rmpn), CMD_OK);
	srqn = drv_xrc_srq(pd, xrcd, cq);
	CHECK_EQ(end_pd(), CMD_BAD_RES_STATE);
	drv_begin(dealloc_xrcd, DEALLOC_XRCD);
	IN(dealloc_xrcd, xrcd, xrcd);
	CHECK_EQ(drv_run(), CMD_BAD_RES_STATE);
	drv_begin(destroy_cq, DESTROY_CQ);
	IN(destroy_cq, cqn, cq);
	CHECK_EQ(drv_run(), CMD_BAD_RES_STATE);
	CHECK_EQ(end_xrc(srqn), CMD_OK);
	CHECK_EQ(end_pd(), CMD_OK);
	drv_begin(destroy_cq, DESTROY_CQ);
	IN(destroy_cq, cqn, cq);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_begin(dealloc_xrcd, DEALLOC_XRCD);
	IN(dealloc_xrcd, xrcd, xrcd);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_stop();
}

TEST(a_qp_holds_on_to_its_srq)
{
	uint8_t *qpc = IFC_ADDR(create_qp_in, drv.in, qpc);
	uint32_t rmpn, other, qpn;

	start();
	rmpn = drv_rmp(pd);
	other = drv_pd(0);
	drv_qp_begin(0, other, cq, uar);
	IFC_SET(qpc, qpc, rq_type, 1);
	IFC_SET(qpc, qpc, srqn_rmpn_xrqn, rmpn);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM); /* PDs that do not agree */
	drv_qp_begin(0, pd, cq, uar);
	IFC_SET(qpc, qpc, rq_type, 1);
	IFC_SET(qpc, qpc, srqn_rmpn_xrqn, rmpn);
	CHECK_EQ(drv_run(), CMD_OK);
	qpn = OUT(create_qp, qpn);
	CHECK_EQ(end_rmp(rmpn), CMD_BAD_RES_STATE);
	drv_begin(destroy_qp, DESTROY_QP);
	IN(destroy_qp, qpn, qpn);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(end_rmp(rmpn), CMD_OK);
	drv_stop();
}

TEST(kinds_do_not_mix)
{
	uint32_t rmpn, srqn;

	start();
	rmpn = drv_rmp(pd);
	srqn = drv_xrc_srq(pd, xrcd, cq);
	CHECK_EQ(end_xrc(rmpn), CMD_BAD_RES);
	CHECK_EQ(end_rmp(srqn), CMD_BAD_RES);
	CHECK_EQ(query_rmp(srqn), CMD_BAD_RES);
	CHECK_EQ(limit_rmp(srqn, 1), CMD_BAD_RES);
	CHECK_EQ(limit_xrc(rmpn, 1), CMD_BAD_RES);
	CHECK_EQ(end_rmp(rmpn), CMD_OK);
	CHECK_EQ(end_xrc(srqn), CMD_OK);
	drv_stop();
}

TEST(limits)
{
	uint32_t rmpn, srqn;

	start();
	rmpn = drv_rmp(pd);
	CHECK_EQ(limit_rmp(rmpn, (1u << DRV_LOG_SRQ) - 1), CMD_OK);
	CHECK_EQ(srq_of(rmpn)->limit, (1u << DRV_LOG_SRQ) - 1);
	CHECK_EQ(limit_rmp(rmpn, 1u << DRV_LOG_SRQ), CMD_BAD_PARAM);
	CHECK_EQ(srq_of(rmpn)->limit, (1u << DRV_LOG_SRQ) - 1);
	CHECK_EQ(limit_rmp(rmpn, 0), CMD_OK);
	CHECK_EQ(srq_of(rmpn)->limit, 0);

	limit_rmp(rmpn, 2); /* again, with one thing wrong */
	put_be64(IFC_ADDR(modify_rmp_in, drv.in, bitmask), 3);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	put_be64(IFC_ADDR(modify_rmp_in, drv.in, bitmask), 0);
	CHECK_EQ(drv_run(), CMD_OK);
	IN(modify_rmp, rmp_state, 0);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	IN(modify_rmp, rmp_state, 1);
	IN(modify_rmp, ctx.state, 3);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	CHECK_EQ(srq_of(rmpn)->limit, 2);

	srqn = drv_xrc_srq(pd, xrcd, cq);
	CHECK_EQ(limit_xrc(srqn, 1u << DRV_LOG_SRQ), CMD_BAD_PARAM);
	CHECK_EQ(limit_xrc(srqn, 7), CMD_OK);
	CHECK_EQ(srq_of(srqn)->limit, 7);
	drv_mod(0);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_stop();
}

/* A creation that would do but for what is changed: its status, and a syndrome of its own. */
#define REFUSED(begin, layout, field, value, status) \
	do { \
		begin; \
		IN(layout, field, value); \
		CHECK_EQ(drv_run(), status); \
		CHECK(drv_syndrome() >> 16); \
		CHECK_EQ(obj_count(drv.hca->objs[OBJ_SRQ]), 0); \
	} while (0)
#define REFUSED_RMP(field, value, status) \
	REFUSED(drv_rmp_begin(pd), create_rmp, ctx.field, value, status)
#define REFUSED_XRC(field, value, status) \
	REFUSED(drv_xrc_srq_begin(pd, xrcd, cq), create_xrc_srq, xrc_srq_context_entry.field, \
		value, status)

TEST(malformed_rmps)
{
	start();
	REFUSED_RMP(state, 0, CMD_BAD_PARAM);
	REFUSED_RMP(state, 3, CMD_BAD_PARAM);
	REFUSED_RMP(basic_cyclic_rcv_wqe, 1, CMD_BAD_PARAM);
	REFUSED_RMP(wq.wq_type, 1, CMD_BAD_PARAM);
	REFUSED_RMP(wq.wq_signature, 1, CMD_BAD_PARAM);
	REFUSED_RMP(wq.end_padding_mode, 1, CMD_BAD_PARAM);
	REFUSED_RMP(wq.cd_slave, 1, CMD_BAD_PARAM);
	REFUSED_RMP(wq.wq_umem_valid, 1, CMD_BAD_PARAM);
	REFUSED_RMP(wq.dbr_umem_valid, 1, CMD_BAD_PARAM);
	REFUSED_RMP(wq.log_wq_sz, 16, CMD_BAD_SIZE);
	REFUSED_RMP(wq.log_wq_stride, 4, CMD_BAD_SIZE);
	REFUSED_RMP(wq.log_wq_stride, 10, CMD_BAD_SIZE);
	REFUSED_RMP(wq.lwm, 1u << DRV_LOG_SRQ, CMD_BAD_PARAM);
	REFUSED_RMP(wq.pd, pd + 1, CMD_BAD_RES);
	REFUSED_RMP(wq.dbr_addr, DRV_IOVA + 4, CMD_BAD_PARAM);
	REFUSED_RMP(wq.dbr_addr, DRV_IOVA + DRV_MEMORY, CMD_BAD_PARAM);
	REFUSED_RMP(wq.log_wq_sz, 15, CMD_BAD_PARAM); /* the list is too short */
	drv_stop();
}

TEST(malformed_xrc_srqs)
{
	start();
	REFUSED_XRC(state, 1, CMD_BAD_PARAM);
	REFUSED_XRC(wq_signature, 1, CMD_BAD_PARAM);
	REFUSED_XRC(cont_srq, 1, CMD_BAD_PARAM);
	REFUSED_XRC(rlky, 1, CMD_BAD_PARAM);
	REFUSED_XRC(basic_cyclic_rcv_wqe, 1, CMD_BAD_PARAM);
	REFUSED_XRC(dbr_umem_valid, 1, CMD_BAD_PARAM);
	REFUSED_XRC(user_index_equal_xrc_srqn, 1, CMD_BAD_PARAM);
	REFUSED_XRC(log_rq_stride, 0, CMD_BAD_SIZE);
	REFUSED_XRC(log_rq_stride, 6, CMD_BAD_SIZE);
	REFUSED_XRC(lwm, 1u << DRV_LOG_SRQ, CMD_BAD_PARAM);
	REFUSED_XRC(pd, pd + 1, CMD_BAD_RES);
	REFUSED_XRC(xrcd, xrcd + 1, CMD_BAD_RES);
	REFUSED_XRC(cqn, cq + 1, CMD_BAD_RES);
	REFUSED_XRC(db_record_addr_h, 1, CMD_BAD_PARAM);
	REFUSED_XRC(log_xrc_srq_size, 15, CMD_BAD_PARAM);
	REFUSED(drv_xrc_srq_begin(pd, xrcd, cq), create_xrc_srq, xrc_srq_umem_valid, 1,
		CMD_BAD_PARAM);
	drv_stop();
}

TEST(page_lists)
{
	uint32_t at = IFC_BYTE(create_rmp_in, ctx.wq.pas);

	start();
	drv_rmp_begin(pd);
	put_be64(drv.in + at, DRV_IOVA + 64);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_rmp_begin(pd);
	drv.in_len = at;
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	/* 2^12 bytes from byte 64 on need a second page. */
	drv_rmp_begin(pd);
	IN(create_rmp, ctx.wq.log_wq_sz, 12 - DRV_SRQ_STRIDE);
	IN(create_rmp, ctx.wq.page_offset, 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	IN(create_rmp, ctx.wq.page_offset, 0);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(end_rmp(OUT(create_rmp, rmpn)), CMD_OK);
	drv_stop();
}

TEST(a_user_context_has_its_own)
{
	uint16_t uid, other;
	uint32_t its_pd, rmpn;

	start();
	uid = drv_uctx();
	other = drv_uctx();
	its_pd = drv_pd(uid);
	drv_rmp_begin(pd);
	drv_uid(uid);
	CHECK_EQ(drv_run(), CMD_BAD_RES); /* the kernel's PD */
	drv_rmp_begin(its_pd);
	drv_uid(uid);
	CHECK_EQ(drv_run(), CMD_OK);
	rmpn = OUT(create_rmp, rmpn);
	CHECK_EQ(srq_of(rmpn)->obj.uid, uid);

	limit_rmp(rmpn, 2);
	drv_uid(other);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	drv_begin(destroy_rmp, DESTROY_RMP);
	IN(destroy_rmp, rmpn, rmpn);
	drv_uid(other);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	drv_uid(999);
	CHECK_EQ(drv_run(), CMD_BAD_RES);

	drv_begin(destroy_uctx, DESTROY_UCTX);
	IN(destroy_uctx, uid, uid);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(obj_count(drv.hca->objs[OBJ_SRQ]), 0);
	CHECK(!obj_find(drv.hca->objs[OBJ_PD], its_pd));
	CHECK(obj_find(drv.hca->objs[OBJ_PD], pd));
	drv_stop();
}

TEST(what_the_kernel_built_on_outlives_the_context)
{
	uint16_t uid;
	uint32_t its_cq, srqn;

	start();
	uid = drv_uctx();
	its_cq = drv_cq(uar, eq);
	obj_find(drv.hca->objs[OBJ_CQ], its_cq)->uid = uid;
	srqn = drv_xrc_srq(pd, xrcd, its_cq); /* the driver makes XRC SRQs without a uid */
	drv_begin(destroy_uctx, DESTROY_UCTX);
	IN(destroy_uctx, uid, uid);
	CHECK_EQ(drv_run(), CMD_OK);
	REQUIRE(obj_find(drv.hca->objs[OBJ_CQ], its_cq));
	CHECK_EQ(end_xrc(srqn), CMD_OK);
	drv_stop();
}

TEST(lengths)
{
	start();
	drv_rmp_begin(pd);
	drv.in_len = IFC_SIZE(create_rmp_in) - 1;
	CHECK_EQ(drv_run(), CMD_BAD_INP_LEN);
	drv_rmp_begin(pd);
	drv.out_len = IFC_SIZE(create_rmp_out) - 1;
	CHECK_EQ(drv_run(), CMD_BAD_OUTP_LEN);
	drv_stop();
}
