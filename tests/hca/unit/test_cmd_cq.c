// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands for completion queues: what they make, what they refuse, and another buffer. */
#include "driver.h"
#include "firmware/caps.h"
#include "objects/cq.h"
#include "unit.h"

#define ST_RC 0u

static uint32_t count(enum obj_type type)
{
	return obj_count(drv.hca->objs[type]);
}

#define REFUSED_CQ(field, value, status) \
	do { \
		drv_cq_begin(uar, eq); \
		IN(create_cq, field, value); \
		CHECK_EQ(drv_run(), status); \
		CHECK_EQ(count(OBJ_CQ), 0); \
	} while (0)

TEST(malformed_completion_queues)
{
	uint32_t uar, eq;

	drv_start();
	uar = drv_uar(0);
	eq = drv_eq(uar, 0);
	REFUSED_CQ(cq_context.cc, 1, CMD_BAD_PARAM);
	REFUSED_CQ(cq_context.cqe_comp_en, 1, CMD_BAD_PARAM);
	REFUSED_CQ(cq_context.apu_cq, 1, CMD_BAD_PARAM);
	REFUSED_CQ(cq_context.cqe_sz, 7, CMD_BAD_PARAM);
	REFUSED_CQ(cq_context.dbr_umem_valid, 1, CMD_BAD_PARAM);
	REFUSED_CQ(cq_umem_valid, 1, CMD_BAD_PARAM);
	REFUSED_CQ(cq_context.cq_max_count, 1, CMD_BAD_PARAM);
	REFUSED_CQ(cq_context.log_cq_size, CAP_MAX_CQ_SIZE + 1, CMD_BAD_SIZE);
	REFUSED_CQ(cq_context.log_cq_size, DRV_LOG_CQ + 2, CMD_BAD_PARAM);
	REFUSED_CQ(cq_context.log_page_size, 31, CMD_BAD_PARAM);
	REFUSED_CQ(cq_context.dbr_addr, DRV_IOVA + 4, CMD_BAD_PARAM);
	REFUSED_CQ(cq_context.dbr_addr, 8, CMD_BAD_PARAM);
	REFUSED_CQ(cq_context.uar_page, uar + 1, CMD_BAD_RES);
	REFUSED_CQ(cq_context.c_eqn_or_apu_element, eq + 1, CMD_BAD_RES);
	drv_stop();
}

static void drv_resize_begin(uint32_t cq, uint8_t log_size)
{
	drv_begin(modify_cq, MODIFY_CQ);
	IN(modify_cq, op_mod, 1);
	IN(modify_cq, cqn, cq);
	IN(modify_cq,
	   modify_field_select_resize_field_select.resize_field_select.resize_field_select, 7);
	IN(modify_cq, cq_context.log_cq_size, log_size);
	drv_list(IFC_BYTE(modify_cq_in, pas), 64u << log_size);
}

#define REFUSED_RESIZE(field, value, status) \
	do { \
		drv_resize_begin(cq, DRV_LOG_CQ + 1); \
		IN(modify_cq, field, value); \
		CHECK_EQ(drv_run(), status); \
		CHECK_EQ(drv.hca->queue_pages, pages); \
	} while (0)

TEST(resized_completion_queues)
{
	uint32_t uar, cq, pages;
	const struct cq *obj;

	drv_start();
	uar = drv_uar(0);
	cq = drv_cq(uar, drv_eq(uar, 0));
	obj = (const struct cq *)obj_find(drv.hca->objs[OBJ_CQ], cq);
	pages = drv.hca->queue_pages;
	REFUSED_RESIZE(op_mod, 2, CMD_BAD_OP);
	REFUSED_RESIZE(cqn, cq + 1, CMD_BAD_RES);
	REFUSED_RESIZE(modify_field_select_resize_field_select.resize_field_select
			       .resize_field_select,
		       3, CMD_BAD_PARAM);
	REFUSED_RESIZE(cq_umem_valid, 1, CMD_BAD_PARAM);
	REFUSED_RESIZE(cq_context.cqe_sz, 1, CMD_BAD_PARAM);
	REFUSED_RESIZE(cq_context.log_cq_size, CAP_MAX_CQ_SIZE + 1, CMD_BAD_SIZE);
	REFUSED_RESIZE(cq_context.log_cq_size, DRV_LOG_CQ + 5, CMD_BAD_PARAM);
	CHECK_EQ(obj->log_size, DRV_LOG_CQ);

	drv_resize_begin(cq, DRV_LOG_CQ + 2);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(obj->log_size, DRV_LOG_CQ + 2);
	CHECK_EQ(drv.hca->queue_pages, pages - 1 + obj->buf.count);
	drv_stop();
}

static enum cmd_status drv_moderate(uint32_t cq, uint32_t fields, uint32_t max_count,
				    uint32_t period)
{
	drv_begin(modify_cq, MODIFY_CQ);
	IN(modify_cq, cqn, cq);
	IN(modify_cq,
	   modify_field_select_resize_field_select.modify_field_select.modify_field_select, fields);
	IN(modify_cq, cq_context.cq_max_count, max_count);
	IN(modify_cq, cq_context.cq_period, period);
	return drv_run();
}

TEST(moderated_completion_queues)
{
	const uint8_t *cqc = IFC_ADDR(query_cq_out, drv.out, cq_context);
	uint32_t uar, cq;

	drv_start();
	uar = drv_uar(0);
	cq = drv_cq(uar, drv_eq(uar, 0));
	CHECK_EQ(drv_moderate(cq, 3, 8, 100), CMD_BAD_PARAM);
	drv.hca->faults.moderation = true;
	CHECK_EQ(drv_moderate(cq, 0, 8, 100), CMD_BAD_PARAM);
	CHECK_EQ(drv_moderate(cq, 7, 8, 100), CMD_BAD_PARAM);
	CHECK_EQ(drv_moderate(cq + 1, 3, 8, 100), CMD_BAD_RES);
	CHECK_EQ(drv_moderate(cq, 3, 8, 100), CMD_OK);
	CHECK_EQ(drv_moderate(cq, 2, 9, 50), CMD_OK);
	drv_begin(query_cq, QUERY_CQ);
	IN(query_cq, cqn, cq);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(IFC_GET(cqc, cqc, cq_max_count), 9);
	CHECK_EQ(IFC_GET(cqc, cqc, cq_period), 100);
	drv_stop();
}

TEST(completion_queues)
{
	const uint8_t *cqc = IFC_ADDR(query_cq_out, drv.out, cq_context);
	uint32_t pd, uar, eq, cq, qp;

	drv_start();
	pd = drv_pd(0);
	uar = drv_uar(0);
	eq = drv_eq(uar, 0);
	cq = drv_cq(uar, eq);
	drv_begin(query_cq, QUERY_CQ);
	IN(query_cq, cqn, cq);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(IFC_GET(cqc, cqc, log_cq_size), DRV_LOG_CQ);
	CHECK_EQ(IFC_GET(cqc, cqc, uar_page), uar);
	CHECK_EQ(IFC_GET(cqc, cqc, c_eqn_or_apu_element), eq);
	CHECK_EQ(IFC_GET(cqc, cqc, status), 0);
	((struct cq *)obj_find(drv.hca->objs[OBJ_CQ], cq))->error = true;
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK(IFC_GET(cqc, cqc, status) != 0);

	qp = drv_qp(ST_RC, pd, cq, uar);
	drv_begin(destroy_cq, DESTROY_CQ);
	IN(destroy_cq, cqn, cq);
	CHECK_EQ(drv_run(), CMD_BAD_RES_STATE);
	drv_begin(destroy_qp, DESTROY_QP);
	IN(destroy_qp, qpn, qp);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_begin(destroy_cq, DESTROY_CQ);
	IN(destroy_cq, cqn, cq);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_stop();
}
