// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands that make, end and show queue pairs; cmd_qp_modify.c has those that change them. */
#include <stdlib.h>

#include "engine/fabric.h"
#include "firmware/caps.h"
#include "firmware/cmd_qp.h"
#include "firmware/cmd_run.h"
#include "objects/cq.h"
#include "objects/destroy.h"
#include "objects/srq.h"
#include "objects/uar.h"

#define CMD_SYNDROME_BASE 0x80000u

#define SQ_BLOCK 64u
#define RQ_STRIDE_SHIFT 4u

/* MLX5_QP_ST_* and the types of receive queues, of linux/mlx5/qp.h and of the driver. */
enum {
	ST_RC = 0x0,
	ST_UC = 0x1,
	ST_UD = 0x2,
	ST_XRC = 0x3,
	ST_QP0 = 0x7,
	ST_QP1 = 0x8,
	ST_REG_UMR = 0xc
};
enum { RQ_OWN = 0, RQ_SRQ = 1, RQ_NONE = 3 };

static int transport_of(const uint8_t *qpc)
{
	switch (IFC_GET(qpc, qpc, st)) {
	case ST_RC:
		return QP_RC;
	case ST_UC:
		return QP_UC;
	case ST_UD:
		return QP_UD;
	case ST_XRC:
		/* A target receives only, into SRQs of its domain; an initiator sends only. */
		return IFC_GET(qpc, qpc, no_sq) ? QP_XRC_TGT : QP_XRC_INI;
	case ST_QP0:
		return QP_SMI;
	case ST_QP1:
		return QP_GSI;
	case ST_REG_UMR:
		return QP_UMR;
	default:
		return -1;
	}
}

bool cmd_qp_of_kernel(const uint8_t *qpc)
{
	return IFC_GET(qpc, qpc, rlky) || IFC_GET(qpc, qpc, fre) || IFC_GET(qpc, qpc, deth_sqpn);
}

static enum cmd_status check(struct cmd *cmd, const uint8_t *qpc)
{
	int transport = transport_of(qpc);

	if (transport < 0)
		return cmd_fail(cmd, CMD_BAD_PARAM, "service type 0x%x",
				(unsigned int)IFC_GET(qpc, qpc, st));
	if (cmd->uid && (transport >= QP_SMI || cmd_qp_of_kernel(qpc)))
		return cmd_fail(cmd, CMD_BAD_PARAM, "not for a user context");
	if (IFC_GET(create_qp_in, cmd->in, wq_umem_valid) || IFC_GET(qpc, qpc, dbr_umem_valid) ||
	    IFC_GET(create_qp_in, cmd->in, qpc_ext))
		return cmd_fail(cmd, CMD_BAD_PARAM,
				"memory by umem and extended contexts are not there");
	if (IFC_GET(qpc, qpc, wq_signature) || IFC_GET(qpc, qpc, cs_req) ||
	    IFC_GET(qpc, qpc, cs_res) || IFC_GET(qpc, qpc, offload_type) ||
	    IFC_GET(qpc, qpc, cd_master) || IFC_GET(qpc, qpc, cd_slave_send) ||
	    IFC_GET(qpc, qpc, cd_slave_receive))
		return cmd_fail(
			cmd, CMD_BAD_PARAM,
			"signatures, scatter to CQE, offloads and cross channel are not there");
	if (transport <= QP_UD || transport == QP_XRC_INI)
		return CMD_OK;
	if (transport != QP_UMR && transport != QP_XRC_TGT &&
	    cmd->hca->special_qp[transport - QP_SMI])
		return cmd_fail(cmd, CMD_RES_BUSY, "there is a QP%d already", transport - QP_SMI);
	return CMD_OK;
}

/* The receive side: own queue, SRQ, or none. */
static enum cmd_status receive_side(struct cmd *cmd, struct qp *qp, const uint8_t *qpc)
{
	uint32_t rq_type = IFC_GET(qpc, qpc, rq_type);
	enum cmd_status status;

	/* The driver puts an SRQ of its own into what never receives. */
	if (qp->transport == QP_XRC_INI)
		return CMD_OK;
	switch (rq_type) {
	case RQ_OWN:
		qp->has_rq = true;
		qp->log_rq_size = (uint8_t)IFC_GET(qpc, qpc, log_rq_size);
		qp->log_rq_stride = (uint8_t)IFC_GET(qpc, qpc, log_rq_stride);
		if (1u << (qp->log_rq_stride + RQ_STRIDE_SHIFT) > CAP_MAX_WQE / 2 ||
		    qp->log_rq_size > CAP_MAX_QP_WQES)
			return cmd_fail(cmd, CMD_BAD_SIZE,
					"receive queue of 2^%u WQEs of 2^%u bytes", qp->log_rq_size,
					qp->log_rq_stride + RQ_STRIDE_SHIFT);
		break;
	case RQ_SRQ:
		qp->srq = (struct srq *)cmd_obj(cmd, OBJ_SRQ, IFC_GET(qpc, qpc, srqn_rmpn_xrqn),
						&status);
		if (!qp->srq)
			return status;
		if (qp->srq->xrc != (qp->transport == QP_XRC_TGT))
			return cmd_fail(cmd, CMD_BAD_PARAM, "SRQ 0x%x is of the other kind",
					qp->srq->obj.id);
		if (!qp->srq->xrc && qp->srq->pd != qp->pd)
			return cmd_fail(cmd, CMD_BAD_PARAM, "SRQ 0x%x is of PD 0x%x, not 0x%x",
					qp->srq->obj.id, qp->srq->pd, qp->pd);
		break;
	case RQ_NONE:
		return CMD_OK;
	default:
		return cmd_fail(cmd, CMD_BAD_PARAM, "receive queue of type %u", rq_type);
	}
	qp->recv_cq = (struct cq *)cmd_obj(cmd, OBJ_CQ, IFC_GET(qpc, qpc, cqn_rcv), &status);
	return qp->recv_cq ? CMD_OK : status;
}

static enum cmd_status send_side(struct cmd *cmd, struct qp *qp, const uint8_t *qpc)
{
	enum cmd_status status;

	if (IFC_GET(qpc, qpc, no_sq))
		return CMD_OK;
	qp->has_sq = true;
	qp->log_sq_size = (uint8_t)IFC_GET(qpc, qpc, log_sq_size);
	if (qp->log_sq_size > CAP_MAX_QP_WQES)
		return cmd_fail(cmd, CMD_BAD_SIZE, "send queue of 2^%u blocks", qp->log_sq_size);
	qp->send_cq = (struct cq *)cmd_obj(cmd, OBJ_CQ, IFC_GET(qpc, qpc, cqn_snd), &status);
	if (!qp->send_cq)
		return status;
	qp->uar = (struct uar *)cmd_obj(cmd, OBJ_UAR, IFC_GET(qpc, qpc, uar_page), &status);
	return qp->uar ? CMD_OK : status;
}

/* Memory: the receive queue comes first, the send queue follows at once. */
static enum cmd_status memory(struct cmd *cmd, struct qp *qp, const uint8_t *qpc)
{
	uint8_t page_shift = (uint8_t)(CAP_LOG_PAGE + IFC_GET(qpc, qpc, log_page_size));
	uint64_t need;
	enum cmd_status status;

	if (!qp->has_rq && !qp->has_sq)
		return CMD_OK;
	qp->dbr = IFC_GET(qpc, qpc, dbr_addr);
	status = cmd_check_dbr(cmd, qp->dbr);
	if (status)
		return status;
	if (qp->has_rq)
		qp->sq_offset = 1u << (qp->log_rq_size + qp->log_rq_stride + RQ_STRIDE_SHIFT);
	need = qp->sq_offset + (qp->has_sq ? (uint64_t)SQ_BLOCK << qp->log_sq_size : 0);
	return cmd_queue(cmd, &qp->buf, IFC_BYTE(create_qp_in, pas), page_shift,
			 wqbuf_offset(IFC_GET(qpc, qpc, page_offset), page_shift), need);
}

/* The kernel's QP for UMR serves all PDs and is in none. */
static bool has_pd(const struct qp *qp)
{
	return qp->transport != QP_UMR;
}

static enum cmd_status fill(struct cmd *cmd, struct qp *qp, const uint8_t *qpc)
{
	enum cmd_status status;

	qp->transport = transport_of(qpc);
	qp->pd = IFC_GET(qpc, qpc, pd);
	qp->user_index = IFC_GET(qpc, qpc, user_index);
	qp->reserved_lkey = IFC_GET(qpc, qpc, rlky);
	qp->blocks_own = IFC_GET(qpc, qpc, block_lb_mc);
	qp->fast_register = IFC_GET(qpc, qpc, fre);
	qp->deth_sqpn = IFC_GET(qpc, qpc, deth_sqpn);
	memcpy(qp->qpc, qpc, sizeof(qp->qpc));
	IFC_SET(qpc, qp->qpc, state, QP_RST);
	if (has_pd(qp) && !cmd_obj(cmd, OBJ_PD, qp->pd, &status))
		return status;
	if (qp->transport == QP_XRC_TGT) {
		qp->xrcd = IFC_GET(qpc, qpc, xrcd);
		if (!cmd_obj(cmd, OBJ_XRCD, qp->xrcd, &status))
			return status;
	}
	status = receive_side(cmd, qp, qpc);
	if (!status)
		status = send_side(cmd, qp, qpc);
	if (!status)
		status = memory(cmd, qp, qpc);
	return status;
}

/* The objects that a QP refers to: by is 1 when it is made, -1 when it ends. */
static void count_refs(struct qp *qp, int by)
{
	struct hca *hca = qp->obj.hca;

	if (has_pd(qp))
		obj_find(hca->objs[OBJ_PD], qp->pd)->refs += by;
	if (qp->transport == QP_XRC_TGT)
		obj_find(hca->objs[OBJ_XRCD], qp->xrcd)->refs += by;
	if (qp->send_cq)
		qp->send_cq->obj.refs += by;
	if (qp->recv_cq)
		qp->recv_cq->obj.refs += by;
	if (qp->srq)
		qp->srq->obj.refs += by;
	if (qp->uar)
		qp->uar->obj.refs += by;
}

static bool is_special(const struct qp *qp)
{
	return qp->transport == QP_SMI || qp->transport == QP_GSI;
}

static enum cmd_status create_qp(struct cmd *cmd)
{
	const uint8_t *qpc = IFC_ADDR(create_qp_in, cmd->in, qpc);
	enum cmd_status status = check(cmd, qpc);
	struct qp *qp;

	if (status)
		return status;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return cmd_fail(cmd, CMD_NO_RES, "no memory");
	qp->obj.hca = cmd->hca;
	qp->obj.type = OBJ_QP;
	qp->obj.uid = cmd->uid;
	status = fill(cmd, qp, qpc);
	if (status)
		goto err_free;
	if (obj_add(cmd->hca->objs[OBJ_QP], &qp->obj)) {
		status = cmd_fail(cmd, CMD_NO_RES, "no QP left");
		goto err_buf;
	}
	if (qp_engine_init(qp)) {
		status = cmd_fail(cmd, CMD_NO_RES, "no memory");
		goto err_del;
	}
	count_refs(qp, 1);
	if (is_special(qp))
		cmd->hca->special_qp[qp->transport - QP_SMI] = qp;
	IFC_SET(create_qp_out, cmd->out, qpn, qp->obj.id);
	return CMD_OK;

err_del:
	obj_del(cmd->hca->objs[OBJ_QP], &qp->obj);
err_buf:
	queue_fini(qp->obj.hca, &qp->buf);
err_free:
	free(qp);
	return status;
}

static enum cmd_status destroy_qp(struct cmd *cmd)
{
	return cmd_destroy(cmd, OBJ_QP, IFC_GET(destroy_qp_in, cmd->in, qpn));
}

void qp_destroy(struct qp *qp)
{
	struct hca *hca = qp->obj.hca;

	if (is_special(qp))
		hca->special_qp[qp->transport - QP_SMI] = NULL;
	fabric_detach_all(hca, qp->obj.id);
	qp_engine_fini(qp);
	count_refs(qp, -1);
	obj_del(hca->objs[OBJ_QP], &qp->obj);
	queue_fini(qp->obj.hca, &qp->buf);
	free(qp);
}

static enum cmd_status query_qp(struct cmd *cmd)
{
	uint8_t *qpc = IFC_ADDR(query_qp_out, cmd->out, qpc);
	struct qp_counters c;
	enum cmd_status status;
	const struct qp *qp = (const struct qp *)cmd_obj(cmd, OBJ_QP,
							 IFC_GET(query_qp_in, cmd->in, qpn),
							 &status);

	if (!qp)
		return status;
	qp_engine_counters(qp, &c);
	memcpy(qpc, qp->qpc, sizeof(qp->qpc));
	IFC_SET(qpc, qpc, state, qp->state);
	IFC_SET(qpc, qpc, next_send_psn, c.next_send_psn);
	IFC_SET(qpc, qpc, last_acked_psn, c.last_acked_psn);
	IFC_SET(qpc, qpc, next_rcv_psn, c.next_recv_psn);
	IFC_SET(qpc, qpc, hw_sq_wqebb_counter, c.hw_sq);
	IFC_SET(qpc, qpc, hw_rq_counter, c.hw_rq);
	return CMD_OK;
}

const struct cmd_desc cmd_table_qp[] = {
	CMD_DESC(CREATE_QP, create_qp, CMD_INITIALIZED, create_qp, true),
	CMD_DESC(DESTROY_QP, destroy_qp, CMD_INITIALIZED, destroy_qp, true),
	/* Nothing comes after the context. Linux 6.1 leaves no room for it. */
	{ MLX5_CMD_OP_QUERY_QP, "QUERY_QP", IFC_SIZE(query_qp_in),
	  IFC_BYTE(query_qp_out, qp_pas_or_qpc_ext_and_pas), CMD_INITIALIZED, query_qp, true },
	CMD_DESC(RST2INIT_QP, rst2init_qp, CMD_INITIALIZED, cmd_rst2init_qp, true),
	CMD_DESC(INIT2INIT_QP, init2init_qp, CMD_INITIALIZED, cmd_init2init_qp, true),
	CMD_DESC(INIT2RTR_QP, init2rtr_qp, CMD_INITIALIZED, cmd_init2rtr_qp, true),
	CMD_DESC(RTR2RTS_QP, rtr2rts_qp, CMD_INITIALIZED, cmd_rtr2rts_qp, true),
	CMD_DESC(RTS2RTS_QP, rts2rts_qp, CMD_INITIALIZED, cmd_rts2rts_qp, true),
	CMD_DESC(SQERR2RTS_QP, sqerr2rts_qp, CMD_INITIALIZED, cmd_sqerr2rts_qp, true),
	CMD_DESC(SQD_RTS_QP, sqd2rts_qp, CMD_INITIALIZED, cmd_sqd2rts_qp, true),
	CMD_DESC(2ERR_QP, qp_2err, CMD_INITIALIZED, cmd_2err_qp, true),
	CMD_DESC(2RST_QP, qp_2rst, CMD_INITIALIZED, cmd_2rst_qp, true),
	{ 0 },
};
