// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srq.c - shared receive queues, see srq.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "abi.h"
#include "context.h"
#include "pd.h"
#include "srq.h"
#include "verbs.h"

static int create_in_kernel(struct ibv_pd *pd, const struct ibv_srq_init_attr *attr,
			    struct xenib_srq *srq)
{
	struct ibv_srq_init_attr asked = *attr; /* is changed to what the kernel answers */
	struct xenib_ucreate_srq_resp resp = {};
	struct xenib_ucreate_srq cmd = {};
	int err;

	cmd.buf_addr = (uintptr_t)srq->q.wqes;
	cmd.db_addr = (uintptr_t)srq->q.dbrec;
	cmd.buf_shift = srq->mem.buf.buf.shift;
	cmd.db_shift = srq->mem.dbrec_shift;
	cmd.uidx = XENIB_NO_UIDX;
	err = ibv_cmd_create_srq(pd, &srq->vsrq.srq, &asked, &cmd.ibv_cmd, sizeof(cmd),
				 &resp.ibv_resp, sizeof(resp));
	if (err)
		return err;

	srq->vsrq.srq_type = IBV_SRQT_BASIC;
	srq->vsrq.srq_num = resp.drv_payload.srqn;
	return 0;
}

struct ibv_srq *xenib_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct xenib_context *ctx = to_xctx(pd->context);
	struct xenib_srq *srq;
	int err;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;

	xenib_lock_init(&srq->q.lock, !ctx->single_threaded && !xenib_pd_td(pd));
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

	err = xenib_queue_mem_alloc(ctx, &srq->mem, pd, XENIB_RESOURCE_SRQ,
				    (size_t)(srq->q.mask + 1) << srq->q.shift);
	if (err)
		goto err_free_wqe;
	srq->q.wqes = srq->mem.buf.buf.addr;
	srq->q.dbrec = srq->mem.dbrec;
	xenib_srq_init_list(&srq->q);

	err = create_in_kernel(pd, attr, srq);
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

struct ibv_srq *xenib_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq_init_attr basic = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
	};
	struct ibv_srq *srq;

	(void)context;
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD)) {
		errno = EINVAL;
		return NULL;
	}
	if (!check_comp_mask(attr->comp_mask, IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE) ||
	    (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type != IBV_SRQT_BASIC)) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	srq = xenib_create_srq(attr->pd, &basic);
	if (srq)
		attr->attr = basic.attr;
	return srq;
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

	xenib_queue_mem_free(ctx, &srq->mem);
	free(srq->q.wqe);
	free(srq);
	return 0;
}
