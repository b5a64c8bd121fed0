// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive WQEs, of a QP's own queue or a shared one, and the completions of what was received. */
#include <infiniband/mlx5dv.h>

#include "bus/dma.h"
#include "engine/engine.h"
#include "ifc.h"
#include "objects/cq.h"
#include "objects/srq.h"

#define SRQ_LINK sizeof(struct mlx5_wqe_srq_next_seg)

static struct srq *xrc_srq(const struct qp *qp, uint32_t srqn)
{
	struct obj *obj = obj_find(qp->obj.hca->objs[OBJ_SRQ], srqn);
	struct srq *srq = obj ? container_of(obj, struct srq, obj) : NULL;

	return srq && srq->xrc && srq->xrcd == qp->xrcd ? srq : NULL;
}

bool rc_remote_user(const struct qp *qp, const struct packet *p, struct mkey_user *user)
{
	struct srq *srq;

	*user = engine_user(qp);
	if (qp->transport != QP_XRC_TGT)
		return true;
	/* IBTA A14: the target QP serves many; rights are those of the SRQ that is named. */
	srq = xrc_srq(qp, p->xrc_srqn);
	if (!srq)
		return false;
	user->pd = srq->pd;
	return true;
}

/* Where the WQEs come from; NULL: the QP's own queue. An XRC SRQ may have gone meanwhile. */
static bool source(const struct qp_engine *e, struct srq **srq)
{
	*srq = e->qp->srq;
	if (e->qp->transport != QP_XRC_TGT)
		return true;
	*srq = xrc_srq(e->qp, e->rx_srqn);
	return *srq;
}

static enum recv_status own_take(struct qp_engine *e)
{
	struct qp *qp = e->qp;
	uint16_t posted;
	uint32_t record;

	if (!qp->has_rq)
		return RECV_EMPTY;
	if (dma_read(qp->obj.hca->dma, qp->dbr, &record, sizeof(record))) {
		engine_catastrophe(e, "the doorbell record cannot be read");
		return RECV_BROKEN;
	}
	posted = (uint16_t)(be32toh(record) - e->rq_ci);
	if (!posted)
		return RECV_EMPTY;
	if (posted > 1u << qp->log_rq_size) {
		engine_catastrophe(e, "more receive WQEs posted than the queue holds");
		return RECV_BROKEN;
	}
	e->rx_index = e->rq_ci++;
	return RECV_OK;
}

enum recv_status recv_take(struct qp_engine *e, uint32_t xrc_srqn)
{
	enum recv_status status = RECV_OK;
	struct srq *srq;

	if (e->rx_taken)
		return RECV_OK;
	e->rx_srqn = xrc_srqn;
	if (!source(e, &srq))
		return RECV_BROKEN;
	if (!srq) {
		status = own_take(e);
	} else {
		switch (srq_take(srq, &e->rx_index)) {
		case SRQ_TAKEN:
			break;
		case SRQ_EMPTY:
			status = RECV_EMPTY;
			break;
		case SRQ_FAILED:
			status = RECV_BROKEN;
			break;
		}
	}
	e->rx_taken = status == RECV_OK;
	return status;
}

static enum recv_status load(struct qp_engine *e, const struct srq *srq, struct recv_wqe *w)
{
	const struct qp *qp = e->qp;
	struct dma_space *dma = qp->obj.hca->dma;
	uint8_t bytes[RECV_WQE_MAX];
	uint32_t stride, skip = 0;
	uint64_t at;
	int ret;

	if (srq) {
		stride = 1u << srq->log_stride;
		skip = SRQ_LINK;
		at = (uint64_t)e->rx_index << srq->log_stride;
	} else {
		stride = 16u << qp->log_rq_stride;
		at = (uint64_t)(e->rx_index & ((1u << qp->log_rq_size) - 1)) * stride;
	}
	if (stride > sizeof(bytes))
		stride = sizeof(bytes);
	ret = wqbuf_read(srq ? &srq->buf : &qp->buf, dma, at + skip, bytes, stride - skip);
	if (ret) {
		engine_catastrophe(e, "a receive WQE cannot be read");
		return RECV_BROKEN;
	}
	recv_wqe_parse(w, bytes, stride - skip);
	return RECV_OK;
}

enum recv_status recv_place(struct qp_engine *e, uint32_t offset, const void *src, uint32_t len)
{
	struct mkey_user user = engine_user(e->qp);
	enum recv_status status;
	struct recv_wqe w;
	struct srq *srq;

	if (!source(e, &srq))
		return RECV_BROKEN;
	status = load(e, srq, &w);
	if (status)
		return status;
	if (srq)
		user.pd = srq->pd;
	if (offset > w.length || len > w.length - offset)
		return RECV_TOO_SMALL;
	return engine_scatter(&user, w.segs, w.nsegs, offset, src, len) ? RECV_PROTECTION : RECV_OK;
}

static void post(struct qp_engine *e, struct completion *c)
{
	struct qp *qp = e->qp;
	struct cq *cq = qp->recv_cq;
	struct srq *srq;

	e->rx_taken = false;
	if (!source(e, &srq))
		return;
	c->wqe_counter = e->rx_index;
	c->qpn = qp->obj.id;
	c->user_index = qp->user_index;
	if (srq && srq->xrc) {
		c->srqn = srq->obj.id;
		c->user_index = srq->user_index;
		cq = srq->cq;
	}
	if (!cq || !cq_post(cq, c))
		engine_catastrophe(e, "a receive completion is lost");
}

void recv_complete(struct qp_engine *e, const struct packet *p, uint8_t opcode, uint32_t length)
{
	const struct qp *qp = e->qp;
	uint32_t remote = qp_is_datagram(qp) ? p->src_qpn : qp->remote_qpn;
	struct completion c = {
		.opcode = opcode,
		.byte_count = length,
		.imm_inval_pkey = p->imm,
		.slid = p->slid,
		.flags_rqpn = (uint32_t)p->sl << 24 | (uint32_t)p->grh << 28 | remote,
		.ml_path = p->dlid & 0x7f & ((1u << qp->obj.hca->port.lmc) - 1),
		.solicited = p->solicited,
	};

	/* The driver looks up what a management datagram came with. */
	if (qp->transport == QP_GSI || qp->transport == QP_SMI)
		c.imm_inval_pkey = p->pkey;
	post(e, &c);
}

void recv_fail(struct qp_engine *e, uint8_t syndrome)
{
	struct completion c = { .opcode = MLX5_CQE_RESP_ERR, .syndrome = syndrome };

	if (e->rx_taken)
		post(e, &c);
}

uint32_t recv_flush(struct qp_engine *e, uint32_t budget)
{
	struct qp *qp = e->qp;
	uint32_t done = 0, record;
	uint16_t posted;

	if (qp->srq || !qp->has_rq || dma_read(qp->obj.hca->dma, qp->dbr, &record, sizeof(record)))
		return 0;
	posted = (uint16_t)(be32toh(record) - e->rq_ci);
	if (posted > 1u << qp->log_rq_size)
		return 0;
	for (; posted && done < budget; posted--, done++) {
		e->rx_index = e->rq_ci++;
		e->rx_taken = true;
		recv_fail(e, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	}
	return done;
}
