// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands for completion queues. */
#include <stdlib.h>

#include "firmware/caps.h"
#include "firmware/cmd_run.h"
#include "objects/cq.h"
#include "objects/destroy.h"
#include "objects/eq.h"
#include "objects/uar.h"

#define CMD_SYNDROME_BASE 0x70000u

#define CQE_SHIFT_64 6u
#define CQE_SHIFT_128 7u
#define CQE_SZ_PADDED 2u /* the largest known value of cqe_sz: 128 bytes, of which 64 are used */
#define OFFSET_SHIFT 6u  /* page_offset counts page_size / 64 */

/* Of MODIFY_CQ: another buffer, and all that says where it is; or moderation (linux/mlx5/cq.h). */
enum { OP_MOD_MODERATE = 0, OP_MOD_RESIZE = 1 };
#define RESIZE_FIELDS 7u /* size, page offset, page size */
enum { MODERATE_PERIOD = 1, MODERATE_COUNT = 2 };

/* Status and state in the CQ context. */
enum { STATUS_OK = 0x0, STATUS_OVERFLOW = 0x9 };
enum { ST_SOLICITED_ARMED = 0x6, ST_ARMED = 0x9, ST_FIRED = 0xa };

static enum cmd_status check(struct cmd *cmd, const uint8_t *cqc)
{
	if (IFC_GET(create_cq_in, cmd->in, cq_umem_valid) || IFC_GET(cqc, cqc, dbr_umem_valid))
		return cmd_fail(cmd, CMD_BAD_PARAM, "memory by umem is not there");
	if (IFC_GET(cqc, cqc, cc) || IFC_GET(cqc, cqc, cqe_comp_en) || IFC_GET(cqc, cqc, apu_cq))
		return cmd_fail(cmd, CMD_BAD_PARAM,
				"collapsed, compressed and APU CQs are not there");
	if (IFC_GET(cqc, cqc, cq_period) || IFC_GET(cqc, cqc, cq_max_count))
		return cmd_fail(cmd, CMD_BAD_PARAM, "moderation from the start is not there");
	if (IFC_GET(cqc, cqc, cqe_sz) > CQE_SZ_PADDED)
		return cmd_fail(cmd, CMD_BAD_PARAM, "CQE size %u",
				(unsigned int)IFC_GET(cqc, cqc, cqe_sz));
	if (IFC_GET(cqc, cqc, log_cq_size) > CAP_MAX_CQ_SIZE)
		return cmd_fail(cmd, CMD_BAD_SIZE, "2^%u CQEs",
				(unsigned int)IFC_GET(cqc, cqc, log_cq_size));
	return cmd_check_dbr(cmd, IFC_GET(cqc, cqc, dbr_addr));
}

static enum cmd_status fill(struct cmd *cmd, struct cq *cq, const uint8_t *cqc)
{
	uint8_t page_shift = (uint8_t)(CAP_LOG_PAGE + IFC_GET(cqc, cqc, log_page_size));
	enum cmd_status status;

	cq->dbr = IFC_GET(cqc, cqc, dbr_addr);
	cq->log_size = (uint8_t)IFC_GET(cqc, cqc, log_cq_size);
	cq->cqe_size_shift = IFC_GET(cqc, cqc, cqe_sz) ? CQE_SHIFT_128 : CQE_SHIFT_64;
	cq->ignore_overrun = IFC_GET(cqc, cqc, oi);
	cq->uar = (struct uar *)cmd_obj(cmd, OBJ_UAR, IFC_GET(cqc, cqc, uar_page), &status);
	if (!cq->uar)
		return status;
	cq->eq =
		(struct eq *)cmd_obj(cmd, OBJ_EQ, IFC_GET(cqc, cqc, c_eqn_or_apu_element), &status);
	if (!cq->eq)
		return status;
	return cmd_queue(cmd, &cq->buf, IFC_BYTE(create_cq_in, pas), page_shift,
			 wqbuf_offset(IFC_GET(cqc, cqc, page_offset), page_shift),
			 1ull << (cq->log_size + cq->cqe_size_shift));
}

static enum cmd_status create_cq(struct cmd *cmd)
{
	const uint8_t *cqc = IFC_ADDR(create_cq_in, cmd->in, cq_context);
	enum cmd_status status = check(cmd, cqc);
	struct cq *cq;

	if (status)
		return status;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return cmd_fail(cmd, CMD_NO_RES, "no memory");
	cq->obj.hca = cmd->hca;
	cq->obj.type = OBJ_CQ;
	cq->obj.uid = cmd->uid;
	status = fill(cmd, cq, cqc);
	if (status)
		goto err_free;
	if (obj_add(cmd->hca->objs[OBJ_CQ], &cq->obj)) {
		status = cmd_fail(cmd, CMD_NO_RES, "no CQ left");
		goto err_buf;
	}
	cq->uar->obj.refs++;
	cq->eq->obj.refs++;
	IFC_SET(create_cq_out, cmd->out, cqn, cq->obj.id);
	return CMD_OK;

err_buf:
	queue_fini(cq->obj.hca, &cq->buf);
err_free:
	free(cq);
	return status;
}

static enum cmd_status query_cq(struct cmd *cmd)
{
	uint8_t *cqc = IFC_ADDR(query_cq_out, cmd->out, cq_context);
	enum cmd_status status;
	const struct cq *cq = (const struct cq *)cmd_obj(cmd, OBJ_CQ,
							 IFC_GET(query_cq_in, cmd->in, cqn),
							 &status);

	if (!cq)
		return status;
	IFC_SET(cqc, cqc, status, cq->error ? STATUS_OVERFLOW : STATUS_OK);
	IFC_SET(cqc, cqc, st,
		cq->arm == CQ_ARMED           ? ST_ARMED :
		cq->arm == CQ_ARMED_SOLICITED ? ST_SOLICITED_ARMED :
						ST_FIRED);
	IFC_SET(cqc, cqc, cqe_sz, cq->cqe_size_shift - CQE_SHIFT_64);
	IFC_SET(cqc, cqc, oi, cq->ignore_overrun);
	IFC_SET(cqc, cqc, cq_max_count, cq->max_count);
	IFC_SET(cqc, cqc, cq_period, cq->period_us);
	IFC_SET(cqc, cqc, log_cq_size, cq->log_size);
	IFC_SET(cqc, cqc, uar_page, cq->uar->obj.id);
	IFC_SET(cqc, cqc, c_eqn_or_apu_element, cq->eq->obj.id);
	IFC_SET(cqc, cqc, log_page_size, cq->buf.page_shift - CAP_LOG_PAGE);
	IFC_SET(cqc, cqc, page_offset, cq->buf.offset >> (cq->buf.page_shift - OFFSET_SHIFT));
	IFC_SET(cqc, cqc, producer_counter, cq->pi & 0xffffff);
	IFC_SET(cqc, cqc, dbr_addr, cq->dbr);
	return CMD_OK;
}

static enum cmd_status check_resize(struct cmd *cmd, const struct cq *cq, const uint8_t *cqc)
{
	uint32_t fields = IFC_GET(modify_cq_in, cmd->in,
				  modify_field_select_resize_field_select.resize_field_select
					  .resize_field_select);

	if (fields != RESIZE_FIELDS)
		return cmd_fail(cmd, CMD_BAD_PARAM, "fields 0x%x of a new buffer, not 0x%x", fields,
				RESIZE_FIELDS);
	if (IFC_GET(modify_cq_in, cmd->in, cq_umem_valid))
		return cmd_fail(cmd, CMD_BAD_PARAM, "memory by umem is not there");
	if (!IFC_GET(cqc, cqc, cqe_sz) != (cq->cqe_size_shift == CQE_SHIFT_64))
		return cmd_fail(cmd, CMD_BAD_PARAM, "CQEs of another size");
	if (IFC_GET(cqc, cqc, log_cq_size) > CAP_MAX_CQ_SIZE)
		return cmd_fail(cmd, CMD_BAD_SIZE, "2^%u CQEs",
				(unsigned int)IFC_GET(cqc, cqc, log_cq_size));
	return CMD_OK;
}

static enum cmd_status resized(struct cmd *cmd, enum cq_resized result)
{
	switch (result) {
	case CQ_RESIZED:
		return CMD_OK;
	case CQ_RESIZE_SMALL:
		return cmd_fail(cmd, CMD_BAD_SIZE, "more CQEs wait than the new queue holds");
	case CQ_RESIZE_FULL:
		return cmd_fail(cmd, CMD_BAD_RES_STATE, "no room for the last CQE");
	default:
		return cmd_fail(cmd, CMD_BAD_RES_STATE, "the CQ is in error");
	}
}

static enum cmd_status resize(struct cmd *cmd, struct cq *cq)
{
	const uint8_t *cqc = IFC_ADDR(modify_cq_in, cmd->in, cq_context);
	uint8_t page_shift = (uint8_t)(CAP_LOG_PAGE + IFC_GET(cqc, cqc, log_page_size));
	uint8_t log_size = (uint8_t)IFC_GET(cqc, cqc, log_cq_size);
	enum cmd_status status;
	struct wqbuf buf;

	status = check_resize(cmd, cq, cqc);
	if (status)
		return status;
	status = cmd_queue(cmd, &buf, IFC_BYTE(modify_cq_in, pas), page_shift,
			   wqbuf_offset(IFC_GET(cqc, cqc, page_offset), page_shift),
			   1ull << (log_size + cq->cqe_size_shift));
	if (status)
		return status;
	status = resized(cmd, cq_resize(cq, &buf, log_size));
	queue_fini(cmd->hca, &buf);
	return status;
}

static enum cmd_status moderate(struct cmd *cmd, struct cq *cq)
{
	const uint8_t *cqc = IFC_ADDR(modify_cq_in, cmd->in, cq_context);
	uint32_t fields = IFC_GET(modify_cq_in, cmd->in,
				  modify_field_select_resize_field_select.modify_field_select
					  .modify_field_select);

	if (!cmd->hca->faults.moderation)
		return cmd_fail(cmd, CMD_BAD_PARAM, "moderation is not there");
	if (!fields || fields & ~(uint32_t)(MODERATE_PERIOD | MODERATE_COUNT))
		return cmd_fail(cmd, CMD_BAD_PARAM, "fields 0x%x of moderation", fields);
	cq_moderate(cq,
		    fields & MODERATE_COUNT ? (uint16_t)IFC_GET(cqc, cqc, cq_max_count) :
					      cq->max_count,
		    fields & MODERATE_PERIOD ? (uint16_t)IFC_GET(cqc, cqc, cq_period) :
					       cq->period_us);
	return CMD_OK;
}

static enum cmd_status modify_cq(struct cmd *cmd)
{
	enum cmd_status status;
	struct cq *cq;

	cq = (struct cq *)cmd_obj(cmd, OBJ_CQ, IFC_GET(modify_cq_in, cmd->in, cqn), &status);
	if (!cq)
		return status;
	switch (cmd->op_mod) {
	case OP_MOD_MODERATE:
		return moderate(cmd, cq);
	case OP_MOD_RESIZE:
		return resize(cmd, cq);
	default:
		return cmd_fail(cmd, CMD_BAD_OP, "op_mod %u", cmd->op_mod);
	}
}

static enum cmd_status destroy_cq(struct cmd *cmd)
{
	return cmd_destroy(cmd, OBJ_CQ, IFC_GET(destroy_cq_in, cmd->in, cqn));
}

void cq_destroy(struct cq *cq)
{
	loop_timer_cancel(cq->obj.hca->loop, &cq->late);
	cq->eq->obj.refs--;
	cq->uar->obj.refs--;
	obj_del(cq->obj.hca->objs[OBJ_CQ], &cq->obj);
	queue_fini(cq->obj.hca, &cq->buf);
	free(cq);
}

const struct cmd_desc cmd_table_cq[] = {
	CMD_DESC(CREATE_CQ, create_cq, CMD_INITIALIZED, create_cq, true),
	CMD_DESC(QUERY_CQ, query_cq, CMD_INITIALIZED, query_cq, false),
	CMD_DESC(MODIFY_CQ, modify_cq, CMD_INITIALIZED, modify_cq, true),
	CMD_DESC(DESTROY_CQ, destroy_cq, CMD_INITIALIZED, destroy_cq, true),
	{ 0 },
};
