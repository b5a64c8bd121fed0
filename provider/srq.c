// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srq.c - shared receive queues, see srq.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "abi.h"
#include "context.h"
#include "cq.h"
#include "pd.h"
#include "queue/cqe.h"
#include "srq.h"
#include "verbs.h"

static void fill_request(struct xenib_create_srq_req *req, const struct xenib_srq *srq)
{
	req->buf_addr = (uintptr_t)srq->q.wqes;
	req->db_addr = (uintptr_t)srq->q.dbrec;
	req->buf_shift = srq->mem.buf.buf.shift;
	req->db_shift = srq->mem.dbrec_shift;
	req->uidx = srq->arrivals ? srq->arrivals->uidx : XENIB_NO_UIDX;
}

static int create_basic(const struct ibv_srq_init_attr_ex *attr, struct xenib_srq *srq)
{
	/* is changed to what the kernel answers */
	struct ibv_srq_init_attr asked = { attr->srq_context, attr->attr };
	struct xenib_ucreate_srq_resp resp = {};
	struct xenib_ucreate_srq cmd = {};
	int err;

	fill_request(&cmd.drv_payload, srq);
	err = ibv_cmd_create_srq(attr->pd, &srq->vsrq.srq, &asked, &cmd.ibv_cmd, sizeof(cmd),
				 &resp.ibv_resp, sizeof(resp));
	if (err)
		return err;

	srq->vsrq.srq_type = IBV_SRQT_BASIC;
	srq->vsrq.srq_num = resp.drv_payload.srqn;
	return 0;
}

static int create_xrc(const struct ibv_srq_init_attr_ex *attr, struct xenib_srq *srq)
{
	struct ibv_srq_init_attr_ex asked = *attr; /* as above */
	struct xenib_ucreate_xsrq_resp resp = {};
	struct xenib_ucreate_xsrq cmd = {};

	fill_request(&cmd.drv_payload, srq);
	return ibv_cmd_create_srq_ex(attr->pd->context, &srq->vsrq, &asked, &cmd.ibv_cmd,
				     sizeof(cmd), &resp.ibv_resp, sizeof(resp));
}

/*
 * What arrives by an XRC domain completes on the SRQ's own CQ. CQEs have the SRQ's number instead of a
 * QP's, so that is the number of a QP without queues, which has this SRQ.
 */
static int add_arrivals(struct xenib_context *ctx, struct xenib_srq *srq, struct xenib_cq_queue *cq)
{
	static const struct xenib_qp_size none;
	struct xenib_qp_queues *qp;
	int err;

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return ENOMEM;

	qp->many = true;
	qp->srq = &srq->q;
	qp->sq.cq = cq;
	qp->rq.cq = cq;
	xenib_qp_init_queues(qp, NULL, &none);
	err = xenib_qp_table_add(&ctx->qps, qp, &qp->uidx);
	if (err) {
		free(qp);
		return err;
	}
	srq->arrivals = qp;
	return 0;
}

static void remove_arrivals(struct xenib_context *ctx, struct xenib_srq *srq)
{
	struct xenib_qp_queues *qp = srq->arrivals;

	if (!qp)
		return;
	xenib_lock(&qp->rq.cq->lock);
	xenib_cq_clean(qp->rq.cq, qp);
	xenib_qp_table_remove(&ctx->qps, qp->uidx);
	xenib_unlock(&qp->rq.cq->lock);
	free(qp);
}

static bool is_xrc(const struct ibv_srq_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type == IBV_SRQT_XRC;
}

static int create_in_kernel(struct xenib_context *ctx, const struct ibv_srq_init_attr_ex *attr,
			    struct xenib_srq *srq)
{
	int err;

	if (!is_xrc(attr))
		return create_basic(attr, srq);
	err = add_arrivals(ctx, srq, &to_xcq(attr->cq)->q);
	if (err)
		return err;
	err = create_xrc(attr, srq);
	if (err)
		remove_arrivals(ctx, srq);
	return err;
}

static struct ibv_srq *create_srq(struct ibv_srq_init_attr_ex *attr)
{
	struct xenib_context *ctx = to_xctx(attr->pd->context);
	struct xenib_srq *srq;
	int err;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;

	xenib_lock_init(&srq->q.lock, !ctx->single_threaded && !xenib_pd_td(attr->pd));
	if (!xenib_size_srq(&ctx->limits, attr->attr.max_wr, attr->attr.max_sge, &srq->q)) {
		verbs_debug(
			&ctx->vctx,
			"refused: an SRQ of %u WRs (%u SGEs); less than %u WRs, at most %u bytes each\n",
			attr->attr.max_wr, attr->attr.max_sge, ctx->limits.max_srq_wqes,
			ctx->limits.max_rq_desc);
		err = EINVAL;
		goto err_free;
	}

	srq->q.wqe = calloc(srq->q.mask + 1, sizeof(*srq->q.wqe));
	if (!srq->q.wqe) {
		err = ENOMEM;
		goto err_free;
	}

	err = xenib_queue_mem_alloc(ctx, &srq->mem, attr->pd, XENIB_RESOURCE_SRQ,
				    (size_t)(srq->q.mask + 1) << srq->q.shift);
	if (err)
		goto err_free_wqe;
	srq->q.wqes = srq->mem.buf.buf.addr;
	srq->q.dbrec = srq->mem.dbrec;
	xenib_srq_init_list(&srq->q);

	err = create_in_kernel(ctx, attr, srq);
	if (err)
		goto err_free_mem;

	attr->attr.max_wr = srq->q.mask;
	attr->attr.max_sge = srq->q.max_sge;
	return &srq->vsrq.srq;

err_free_mem:
	xenib_queue_mem_free(ctx, &srq->mem);
err_free_wqe:
	free(srq->q.wqe);
err_free:
	free(srq);
	errno = err;
	return NULL;
}

struct ibv_srq *xenib_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_srq *srq;

	srq = create_srq(&ex);
	if (srq)
		attr->attr = ex.attr;
	return srq;
}

#define XRC_MASK (IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ)

/* 0, or what is wrong with what is asked for. */
static int check_fields(const struct ibv_srq_init_attr_ex *attr)
{
	uint32_t known = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;

	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD))
		return EINVAL;
	if (is_xrc(attr)) {
		known |= XRC_MASK;
		if ((attr->comp_mask & XRC_MASK) != XRC_MASK)
			return EINVAL;
	} else if (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type != IBV_SRQT_BASIC) {
		return EOPNOTSUPP;
	}
	return check_comp_mask(attr->comp_mask, known) ? 0 : EOPNOTSUPP;
}

struct ibv_srq *xenib_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	int err = check_fields(attr);

	(void)context;
	if (!err)
		return create_srq(attr);
	errno = err;
	return NULL;
}

int xenib_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct ibv_modify_srq cmd = {};

	return ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd, sizeof(cmd));
}

int xenib_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd;
	int err;

	err = ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
	if (err)
		return err;

	attr->max_wr = to_xsrq(ibsrq)->q.mask;
	attr->max_sge = to_xsrq(ibsrq)->q.max_sge;
	return 0;
}

int xenib_get_srq_num(struct ibv_srq *ibsrq, uint32_t *number)
{
	*number = to_xsrq(ibsrq)->vsrq.srq_num;
	return 0;
}

int xenib_destroy_srq(struct ibv_srq *ibsrq)
{
	struct xenib_context *ctx = to_xctx(ibsrq->context);
	struct xenib_srq *srq = to_xsrq(ibsrq);
	int err;

	err = ibv_cmd_destroy_srq(ibsrq);
	if (err)
		return err;

	remove_arrivals(ctx, srq);
	xenib_queue_mem_free(ctx, &srq->mem);
	free(srq->q.wqe);
	free(srq);
	return 0;
}
