// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srq.c - shared receive queues, see srq.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "queue/format.h"

#include "abi.h"
#include "context.h"
#include "pd.h"
#include "srq.h"
#include "verbs.h"

#define MIN_WQE_SIZE 32

static void set_link(struct xenib_srq *srq, uint32_t from, uint32_t to)
{
	struct xenib_srq_next_seg *next;

	next = (struct xenib_srq_next_seg *)(srq->wqes + ((size_t)from << srq->shift));
	next->next = htobe16(to);
	srq->wqe[from].next = to;
}

void xenib_srq_init_list(struct xenib_srq *srq)
{
	uint32_t i;

	for (i = 0; i < srq->mask; i++)
		set_link(srq, i, i + 1);
	srq->head = 0;
	srq->tail = srq->mask;
}

bool xenib_srq_take(struct xenib_srq *srq, uint16_t index, uint64_t *wr_id)
{
	struct xenib_srq_wqe *wqe = &srq->wqe[index & srq->mask];
	bool posted;

	xenib_lock(&srq->lock);

	posted = wqe->posted;
	if (posted) {
		*wr_id = wqe->wr_id;
		wqe->posted = false;
		set_link(srq, srq->tail, index & srq->mask);
		srq->tail = index & srq->mask;
	}

	xenib_unlock(&srq->lock);
	return posted;
}

static int set_sizes(const struct xenib_limits *limits, struct xenib_srq *srq,
		     const struct ibv_srq_attr *attr)
{
	uint32_t size;

	/* In this order nothing overflows. */
	if (!attr->max_wr || attr->max_wr >= limits->max_srq_wqes ||
	    attr->max_sge > limits->max_rq_desc / 16)
		return EINVAL;

	size = xenib_round_up_pow2(sizeof(struct xenib_srq_next_seg) +
				   attr->max_sge * sizeof(struct xenib_data_seg));
	if (size < MIN_WQE_SIZE)
		size = MIN_WQE_SIZE;
	if (size > limits->max_rq_desc)
		return EINVAL;

	srq->shift = __builtin_ctz(size);
	srq->mask = xenib_round_up_pow2(attr->max_wr + 1) - 1;
	if (srq->mask >= limits->max_srq_wqes)
		return EINVAL;

	srq->max_sge = (size - sizeof(struct xenib_srq_next_seg)) /
		       sizeof(struct xenib_data_seg);
	return 0;
}

static int create_in_kernel(struct ibv_pd *pd, const struct ibv_srq_init_attr *attr,
			    struct xenib_srq *srq)
{
	struct ibv_srq_init_attr asked = *attr; /* is changed to what the kernel answers */
	struct xenib_ucreate_srq_resp resp = {};
	struct xenib_ucreate_srq cmd = {};
	int err;

	cmd.buf_addr = (uintptr_t)srq->wqes;
	cmd.db_addr = (uintptr_t)srq->dbrec;
	cmd.buf_shift = srq->buf.shift;
	cmd.db_shift = srq->dbrec_shift;
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

	xenib_lock_init(&srq->lock, !ctx->single_threaded && !xenib_pd_td(pd));
	err = set_sizes(&ctx->limits, srq, &attr->attr);
	if (err)
		goto err_free;

	srq->wqe = calloc(srq->mask + 1, sizeof(*srq->wqe));
	if (!srq->wqe) {
		err = ENOMEM;
		goto err_free;
	}

	err = xenib_buf_alloc(&ctx->arenas, &srq->buf, (size_t)(srq->mask + 1) << srq->shift);
	if (err)
		goto err_free_wqe;
	srq->wqes = srq->buf.addr;
	xenib_srq_init_list(srq);

	srq->dbrec = xenib_dbrec_alloc(&ctx->dbrecs, &srq->dbrec_shift);
	if (!srq->dbrec) {
		err = errno;
		goto err_free_buf;
	}

	err = create_in_kernel(pd, attr, srq);
	if (err)
		goto err_free_dbrec;

	attr->attr.max_wr = srq->mask;
	attr->attr.max_sge = srq->max_sge;
	return &srq->vsrq.srq;

err_free_dbrec:
	xenib_dbrec_free(&ctx->dbrecs, srq->dbrec);
err_free_buf:
	xenib_buf_free(&ctx->arenas, &srq->buf);
err_free_wqe:
	free(srq->wqe);
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

	attr->max_wr = to_xsrq(ibsrq)->mask;
	attr->max_sge = to_xsrq(ibsrq)->max_sge;
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

	xenib_dbrec_free(&ctx->dbrecs, srq->dbrec);
	xenib_buf_free(&ctx->arenas, &srq->buf);
	free(srq->wqe);
	free(srq);
	return 0;
}
