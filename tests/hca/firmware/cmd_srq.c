// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands for shared receive queues. With ISSI 1 the driver makes a basic SRQ as an RMP and knows
 * only XRC SRQs by that name; both are queues of linked WQEs.
 */
#include <stdlib.h>

#include "firmware/caps.h"
#include "firmware/cmd_run.h"
#include "objects/cq.h"
#include "objects/destroy.h"
#include "objects/srq.h"

#define CMD_SYNDROME_BASE 0xc0000u

#define STRIDE_SHIFT_MIN 5u
#define XRC_STRIDE_SHIFT 4u /* log_rq_stride counts 16 bytes */
#define OFFSET_SHIFT 6u     /* page_offset counts page_size / 64 */
#define WQ_LINKED_LIST 0u
#define ARM_XRC_SRQ 1u /* op_mod */

enum { RMP_READY = 1, RMP_ERROR = 3 };
enum { XRC_SRQ_GOOD = 0, XRC_SRQ_ERROR = 1 };

/* Members that both layouts have, under different names. */
struct layout {
	uint32_t pd, page_offset, list_at;
	uint8_t page_shift;
	uint16_t limit;
};

/* A queue is never empty and full at once: one WQE stays the driver's, so the limit is below the size. */
static enum cmd_status set_limit(struct cmd *cmd, struct srq *srq, uint32_t limit)
{
	if (limit >> srq->log_size)
		return cmd_fail(cmd, CMD_BAD_PARAM, "a limit of %u in 2^%u WQEs", limit,
				srq->log_size);
	srq->limit = (uint16_t)limit;
	return CMD_OK;
}

static enum cmd_status fill(struct cmd *cmd, struct srq *srq, const struct layout *l)
{
	enum cmd_status status;

	if (srq->log_size > CAP_MAX_SRQ_SIZE || srq->log_stride < STRIDE_SHIFT_MIN ||
	    1u << srq->log_stride > SRQ_MAX_STRIDE)
		return cmd_fail(cmd, CMD_BAD_SIZE, "2^%u WQEs of 2^%u bytes", srq->log_size,
				srq->log_stride);
	if (!cmd_obj(cmd, OBJ_PD, l->pd, &status))
		return status;
	srq->pd = l->pd;
	status = set_limit(cmd, srq, l->limit);
	if (!status)
		status = cmd_check_dbr(cmd, srq->dbr);
	if (status)
		return status;
	return cmd_queue(cmd, &srq->buf, l->list_at, l->page_shift,
			 wqbuf_offset(l->page_offset, l->page_shift),
			 1ull << (srq->log_size + srq->log_stride));
}

static void count_refs(struct srq *srq, int by)
{
	struct hca *hca = srq->obj.hca;

	obj_find(hca->objs[OBJ_PD], srq->pd)->refs += by;
	if (!srq->xrc)
		return;
	obj_find(hca->objs[OBJ_XRCD], srq->xrcd)->refs += by;
	srq->cq->obj.refs += by;
}

/* Gives the SRQ its number. It is the command's until then, and freed on failure. */
static enum cmd_status add(struct cmd *cmd, struct srq *srq, enum cmd_status status)
{
	if (!status && obj_add(cmd->hca->objs[OBJ_SRQ], &srq->obj))
		status = cmd_fail(cmd, CMD_NO_RES, "no SRQ left");
	if (status) {
		queue_fini(srq->obj.hca, &srq->buf);
		free(srq);
		return status;
	}
	count_refs(srq, 1);
	return CMD_OK;
}

static struct srq *alloc(struct cmd *cmd)
{
	struct srq *srq = calloc(1, sizeof(*srq));

	if (!srq)
		return NULL;
	srq->obj.hca = cmd->hca;
	srq->obj.type = OBJ_SRQ;
	srq->obj.uid = cmd->uid;
	return srq;
}

static enum cmd_status create_rmp(struct cmd *cmd)
{
	const uint8_t *rmpc = IFC_ADDR(create_rmp_in, cmd->in, ctx);
	const uint8_t *wq = IFC_ADDR(rmpc, rmpc, wq);
	struct layout l = {
		.pd = IFC_GET(wq, wq, pd),
		.page_offset = IFC_GET(wq, wq, page_offset),
		.list_at = IFC_BYTE(create_rmp_in, ctx) + IFC_BYTE(rmpc, wq) + IFC_BYTE(wq, pas),
		.page_shift = (uint8_t)(CAP_LOG_PAGE + IFC_GET(wq, wq, log_wq_pg_sz)),
		.limit = (uint16_t)IFC_GET(wq, wq, lwm),
	};
	enum cmd_status status;
	struct srq *srq;

	if (IFC_GET(wq, wq, wq_type) != WQ_LINKED_LIST ||
	    IFC_GET(rmpc, rmpc, basic_cyclic_rcv_wqe) || IFC_GET(wq, wq, wq_signature) ||
	    IFC_GET(wq, wq, dbr_umem_valid) || IFC_GET(wq, wq, wq_umem_valid))
		return cmd_fail(cmd, CMD_BAD_PARAM,
				"only linked lists, without signature and umem");
	if (IFC_GET(wq, wq, end_padding_mode) || IFC_GET(wq, wq, cd_slave))
		return cmd_fail(cmd, CMD_BAD_PARAM, "padding and cross channel are not there");
	if (IFC_GET(rmpc, rmpc, state) != RMP_READY)
		return cmd_fail(cmd, CMD_BAD_PARAM, "state %u",
				(unsigned int)IFC_GET(rmpc, rmpc, state));
	srq = alloc(cmd);
	if (!srq)
		return cmd_fail(cmd, CMD_NO_RES, "no memory");
	srq->dbr = IFC_GET(wq, wq, dbr_addr);
	srq->log_size = (uint8_t)IFC_GET(wq, wq, log_wq_sz);
	srq->log_stride = (uint8_t)IFC_GET(wq, wq, log_wq_stride);
	status = add(cmd, srq, fill(cmd, srq, &l));
	if (!status)
		IFC_SET(create_rmp_out, cmd->out, rmpn, srq->obj.id);
	return status;
}

/* XRC: the receives complete on the SRQ's own CQ, and only targets of its domain reach it. */
static enum cmd_status fill_xrc(struct cmd *cmd, struct srq *srq, const uint8_t *c)
{
	struct layout l = {
		.pd = IFC_GET(xrc_srqc, c, pd),
		.page_offset = IFC_GET(xrc_srqc, c, page_offset),
		.list_at = IFC_BYTE(create_xrc_srq_in, pas),
		.page_shift = (uint8_t)(CAP_LOG_PAGE + IFC_GET(xrc_srqc, c, log_page_size)),
		.limit = (uint16_t)IFC_GET(xrc_srqc, c, lwm),
	};
	enum cmd_status status;

	srq->xrc = true;
	srq->xrcd = IFC_GET(xrc_srqc, c, xrcd);
	srq->user_index = IFC_GET(xrc_srqc, c, user_index);
	srq->dbr = be64_at(IFC_ADDR(xrc_srqc, c, db_record_addr_h));
	srq->log_size = (uint8_t)IFC_GET(xrc_srqc, c, log_xrc_srq_size);
	srq->log_stride = (uint8_t)(IFC_GET(xrc_srqc, c, log_rq_stride) + XRC_STRIDE_SHIFT);
	if (!cmd_obj(cmd, OBJ_XRCD, srq->xrcd, &status))
		return status;
	srq->cq = (struct cq *)cmd_obj(cmd, OBJ_CQ, IFC_GET(xrc_srqc, c, cqn), &status);
	if (!srq->cq)
		return status;
	return fill(cmd, srq, &l);
}

static enum cmd_status create_xrc_srq(struct cmd *cmd)
{
	const uint8_t *c = IFC_ADDR(create_xrc_srq_in, cmd->in, xrc_srq_context_entry);
	enum cmd_status status;
	struct srq *srq;

	if (IFC_GET(xrc_srqc, c, state) != XRC_SRQ_GOOD || IFC_GET(xrc_srqc, c, cont_srq) ||
	    IFC_GET(xrc_srqc, c, rlky) || IFC_GET(xrc_srqc, c, user_index_equal_xrc_srqn))
		return cmd_fail(
			cmd, CMD_BAD_PARAM,
			"a state, a container, a reserved key or an index that are not there");
	if (IFC_GET(xrc_srqc, c, wq_signature) || IFC_GET(xrc_srqc, c, basic_cyclic_rcv_wqe) ||
	    IFC_GET(xrc_srqc, c, dbr_umem_valid) ||
	    IFC_GET(create_xrc_srq_in, cmd->in, xrc_srq_umem_valid))
		return cmd_fail(cmd, CMD_BAD_PARAM,
				"only linked lists, without signature and umem");
	srq = alloc(cmd);
	if (!srq)
		return cmd_fail(cmd, CMD_NO_RES, "no memory");
	status = add(cmd, srq, fill_xrc(cmd, srq, c));
	if (!status)
		IFC_SET(create_xrc_srq_out, cmd->out, xrc_srqn, srq->obj.id);
	return status;
}

static struct srq *find(struct cmd *cmd, uint32_t srqn, bool xrc, enum cmd_status *status)
{
	struct srq *srq = (struct srq *)cmd_obj(cmd, OBJ_SRQ, srqn, status);

	if (!srq || srq->xrc == xrc)
		return srq;
	*status = cmd_fail(cmd, CMD_BAD_RES, "SRQ 0x%x is of the other kind", srqn);
	return NULL;
}

static enum cmd_status arm(struct cmd *cmd, struct srq *srq, uint32_t limit)
{
	if (srq->error)
		return cmd_fail(cmd, CMD_BAD_RES_STATE, "SRQ 0x%x is in error", srq->obj.id);
	return set_limit(cmd, srq, limit);
}

static enum cmd_status modify_rmp(struct cmd *cmd)
{
	const uint8_t *rmpc = IFC_ADDR(modify_rmp_in, cmd->in, ctx);
	uint64_t mask = be64_at(IFC_ADDR(modify_rmp_in, cmd->in, bitmask));
	enum cmd_status status;
	struct srq *srq = find(cmd, IFC_GET(modify_rmp_in, cmd->in, rmpn), false, &status);

	if (!srq)
		return status;
	if (IFC_GET(modify_rmp_in, cmd->in, rmp_state) != RMP_READY ||
	    IFC_GET(rmpc, rmpc, state) != RMP_READY)
		return cmd_fail(cmd, CMD_BAD_PARAM, "only from ready to ready");
	/* The limit, bit 0, is all that may change. */
	if (mask != IFC_GET(modify_rmp_in, cmd->in, bitmask.lwm))
		return cmd_fail(cmd, CMD_BAD_PARAM, "bitmask 0x%llx", (unsigned long long)mask);
	return mask ? arm(cmd, srq, IFC_GET(rmpc, rmpc, wq.lwm)) : CMD_OK;
}

static enum cmd_status arm_xrc_srq(struct cmd *cmd)
{
	enum cmd_status status;
	struct srq *srq;

	if (cmd->op_mod != ARM_XRC_SRQ)
		return cmd_fail(cmd, CMD_BAD_PARAM, "op_mod %u", cmd->op_mod);
	srq = find(cmd, IFC_GET(arm_xrc_srq_in, cmd->in, xrc_srqn), true, &status);
	return srq ? arm(cmd, srq, IFC_GET(arm_xrc_srq_in, cmd->in, lwm)) : status;
}

static enum cmd_status query_rmp(struct cmd *cmd)
{
	uint8_t *rmpc = IFC_ADDR(query_rmp_out, cmd->out, rmp_context);
	enum cmd_status status;
	const struct srq *srq = find(cmd, IFC_GET(query_rmp_in, cmd->in, rmpn), false, &status);

	if (!srq)
		return status;
	IFC_SET(rmpc, rmpc, state, srq->error ? RMP_ERROR : RMP_READY);
	IFC_SET(rmpc, rmpc, wq.lwm, srq->limit);
	IFC_SET(rmpc, rmpc, wq.pd, srq->pd);
	IFC_SET(rmpc, rmpc, wq.dbr_addr, srq->dbr);
	IFC_SET(rmpc, rmpc, wq.log_wq_stride, srq->log_stride);
	IFC_SET(rmpc, rmpc, wq.log_wq_sz, srq->log_size);
	IFC_SET(rmpc, rmpc, wq.log_wq_pg_sz, srq->buf.page_shift - CAP_LOG_PAGE);
	IFC_SET(rmpc, rmpc, wq.page_offset,
		srq->buf.offset >> (srq->buf.page_shift - OFFSET_SHIFT));
	IFC_SET(rmpc, rmpc, wq.hw_counter, srq->taken);
	return CMD_OK;
}

static enum cmd_status query_xrc_srq(struct cmd *cmd)
{
	uint8_t *c = IFC_ADDR(query_xrc_srq_out, cmd->out, xrc_srq_context_entry);
	enum cmd_status status;
	const struct srq *srq =
		find(cmd, IFC_GET(query_xrc_srq_in, cmd->in, xrc_srqn), true, &status);

	if (!srq)
		return status;
	IFC_SET(xrc_srqc, c, state, srq->error ? XRC_SRQ_ERROR : XRC_SRQ_GOOD);
	IFC_SET(xrc_srqc, c, log_xrc_srq_size, srq->log_size);
	IFC_SET(xrc_srqc, c, log_rq_stride, srq->log_stride - XRC_STRIDE_SHIFT);
	IFC_SET(xrc_srqc, c, xrcd, srq->xrcd);
	IFC_SET(xrc_srqc, c, cqn, srq->cq->obj.id);
	IFC_SET(xrc_srqc, c, user_index, srq->user_index);
	IFC_SET(xrc_srqc, c, pd, srq->pd);
	IFC_SET(xrc_srqc, c, lwm, srq->limit);
	IFC_SET(xrc_srqc, c, log_page_size, srq->buf.page_shift - CAP_LOG_PAGE);
	IFC_SET(xrc_srqc, c, page_offset, srq->buf.offset >> (srq->buf.page_shift - OFFSET_SHIFT));
	put_be64(IFC_ADDR(xrc_srqc, c, db_record_addr_h), srq->dbr);
	return CMD_OK;
}

static enum cmd_status destroy_srq(struct cmd *cmd, uint32_t srqn, bool xrc)
{
	enum cmd_status status;

	return find(cmd, srqn, xrc, &status) ? cmd_destroy(cmd, OBJ_SRQ, srqn) : status;
}

static enum cmd_status destroy_rmp(struct cmd *cmd)
{
	return destroy_srq(cmd, IFC_GET(destroy_rmp_in, cmd->in, rmpn), false);
}

static enum cmd_status destroy_xrc_srq(struct cmd *cmd)
{
	return destroy_srq(cmd, IFC_GET(destroy_xrc_srq_in, cmd->in, xrc_srqn), true);
}

void srq_destroy(struct srq *srq)
{
	count_refs(srq, -1);
	obj_del(srq->obj.hca->objs[OBJ_SRQ], &srq->obj);
	queue_fini(srq->obj.hca, &srq->buf);
	free(srq);
}

const struct cmd_desc cmd_table_srq[] = {
	CMD_DESC(CREATE_RMP, create_rmp, CMD_INITIALIZED, create_rmp, true),
	CMD_DESC(MODIFY_RMP, modify_rmp, CMD_INITIALIZED, modify_rmp, true),
	CMD_DESC(QUERY_RMP, query_rmp, CMD_INITIALIZED, query_rmp, true),
	CMD_DESC(DESTROY_RMP, destroy_rmp, CMD_INITIALIZED, destroy_rmp, true),
	CMD_DESC(CREATE_XRC_SRQ, create_xrc_srq, CMD_INITIALIZED, create_xrc_srq, true),
	CMD_DESC(QUERY_XRC_SRQ, query_xrc_srq, CMD_INITIALIZED, query_xrc_srq, true),
	CMD_DESC(ARM_XRC_SRQ, arm_xrc_srq, CMD_INITIALIZED, arm_xrc_srq, true),
	CMD_DESC(DESTROY_XRC_SRQ, destroy_xrc_srq, CMD_INITIALIZED, destroy_xrc_srq, true),
	{ 0 },
};
