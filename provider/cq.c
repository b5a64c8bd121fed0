// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cq.c - making and removing CQs, arming them for events, and cleaning them of a QP's completions.
 */
#include <errno.h>
#include <stdlib.h>

#include <util/mmio.h>

#include "abi.h"
#include "context.h"
#include "pd.h"
#include "poll.h"
#include "verbs.h"

#define MAX_CQES (1u << 22)
#define ARM_SOLICITED (1u << 24)

void xenib_cq_init_cqes(struct xenib_cq *cq)
{
	struct xenib_cqe *cqe = (struct xenib_cqe *)cq->cqes;
	uint32_t i;

	for (i = 0; i <= cq->mask; i++)
		cqe[i].op_own = XENIB_CQE_INVALID << 4;
}

static bool attr_is_supported(const struct ibv_cq_init_attr_ex *attr)
{
	if (!check_comp_mask(attr->comp_mask,
			     IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD))
		return false;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		return false;
	return !(attr->wc_flags & ~(uint64_t)XENIB_CQ_WC_FLAGS);
}

static bool is_single_threaded(const struct xenib_context *ctx,
			       const struct ibv_cq_init_attr_ex *attr)
{
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		return true;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD && xenib_pd_td(attr->parent_domain))
		return true;
	return ctx->single_threaded;
}

static int create_in_kernel(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			    struct xenib_cq *cq)
{
	struct xenib_ucreate_cq_resp resp = {};
	struct xenib_ucreate_cq cmd = {};
	int err;

	cmd.buf_addr = (uintptr_t)cq->cqes;
	cmd.db_addr = (uintptr_t)cq->dbrec;
	cmd.buf_shift = cq->buf.shift;
	cmd.db_shift = cq->dbrec_shift;
	cmd.cqe_size = XENIB_CQE_SIZE;
	cmd.uar = cq->uar->index;
	err = ibv_cmd_create_cq_ex(context, attr, &cq->vcq, &cmd.ibv_cmd, sizeof(cmd),
				   &resp.ibv_resp, sizeof(resp), 0);
	if (err)
		return err;

	cq->cqn = resp.cqn;
	cq->vcq.cq.cqe = cq->mask;
	return 0;
}

static struct xenib_cq *create_cq(struct ibv_context *context,
				  const struct ibv_cq_init_attr_ex *attr)
{
	struct xenib_context *ctx = to_xctx(context);
	struct xenib_cq *cq;
	int err;

	if (!attr->cqe || attr->cqe >= MAX_CQES) {
		errno = EINVAL;
		return NULL;
	}
	if (!attr_is_supported(attr)) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;

	cq->mask = xenib_round_up_pow2(attr->cqe + 1) - 1;
	cq->qps = &ctx->qps;
	xenib_lock_init(&cq->lock, !is_single_threaded(ctx, attr));

	err = xenib_buf_alloc(&ctx->arenas, &cq->buf, (size_t)(cq->mask + 1) << XENIB_CQE_SHIFT);
	if (err)
		goto err_free;
	cq->cqes = cq->buf.addr;
	xenib_cq_init_cqes(cq);

	cq->dbrec = xenib_dbrec_alloc(&ctx->dbrecs, &cq->dbrec_shift);
	if (!cq->dbrec) {
		err = errno;
		goto err_free_buf;
	}

	cq->uar = xenib_uar_get_plain(context, &ctx->uars);
	if (!cq->uar) {
		err = errno;
		goto err_free_dbrec;
	}

	err = create_in_kernel(context, attr, cq);
	if (err)
		goto err_free_dbrec;

	return cq;

err_free_dbrec:
	xenib_dbrec_free(&ctx->dbrecs, cq->dbrec);
err_free_buf:
	xenib_buf_free(&ctx->arenas, &cq->buf);
err_free:
	free(cq);
	errno = err;
	return NULL;
}

struct ibv_cq *xenib_create_cq(struct ibv_context *context, int cqe,
			       struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = channel,
		.comp_vector = comp_vector,
	};
	struct xenib_cq *cq;

	if (cqe <= 0) {
		errno = EINVAL;
		return NULL;
	}

	cq = create_cq(context, &attr);
	return cq ? &cq->vcq.cq : NULL;
}

struct ibv_cq_ex *xenib_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct xenib_cq *cq;

	cq = create_cq(context, attr);
	if (!cq)
		return NULL;

	xenib_cq_set_lazy(cq, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

int xenib_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	return ibv_cmd_modify_cq(ibcq, attr, &cmd, sizeof(cmd));
}

int xenib_destroy_cq(struct ibv_cq *ibcq)
{
	struct xenib_context *ctx = to_xctx(ibcq->context);
	struct xenib_cq *cq = to_xcq(ibcq);
	int err;

	err = ibv_cmd_destroy_cq(ibcq);
	if (err)
		return err;

	xenib_dbrec_free(&ctx->dbrecs, cq->dbrec);
	xenib_buf_free(&ctx->arenas, &cq->buf);
	free(cq);
	return 0;
}

/*
 * The HCA takes the same request from the record and from the doorbell; the count of events that
 * the program has had tells it an old request from a new one.
 */
int xenib_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct xenib_cq *cq = to_xcq(ibcq);
	uint32_t request;

	request = (cq->arm_count & 3) << 28 | (solicited_only ? ARM_SOLICITED : 0) |
		  (cq->next & 0xffffff);
	cq->dbrec[XENIB_DBREC_ARM] = htobe32(request);

	udma_to_device_barrier();
	mmio_write64_be(cq->uar->page + XENIB_UAR_CQ_DOORBELL,
			htobe64((uint64_t)request << 32 | cq->cqn));
	return 0;
}

void xenib_cq_event(struct ibv_cq *ibcq)
{
	to_xcq(ibcq)->arm_count++;
}

static struct xenib_cqe *cqe_at(const struct xenib_cq *cq, uint32_t n)
{
	return (struct xenib_cqe *)cq->cqes + (n & cq->mask);
}

static bool is_receive(uint8_t op_own)
{
	switch (op_own >> 4) {
	case XENIB_CQE_RESP_WR_IMM:
	case XENIB_CQE_RESP_SEND:
	case XENIB_CQE_RESP_SEND_IMM:
	case XENIB_CQE_RESP_SEND_INV:
	case XENIB_CQE_RESP_ERR:
		return true;
	default:
		return false;
	}
}

/* How many CQEs the HCA has written that are not yet consumed. */
static uint32_t count_waiting(struct xenib_cq *cq)
{
	uint32_t n;
	uint8_t own;

	for (n = 0; n <= cq->mask; n++) {
		own = XENIB_READ_ONCE(cqe_at(cq, cq->next + n)->op_own);
		if ((own & XENIB_CQE_OWNER) != !!((cq->next + n) & (cq->mask + 1)) ||
		    own >> 4 == XENIB_CQE_INVALID)
			break;
	}
	return n;
}

/*
 * The QP is silent by now, so nothing more of it comes. From the newest CQE to the oldest, those of
 * other QPs move up into the places of those that are dropped; a place keeps its owner bit.
 */
void xenib_cq_clean(struct xenib_cq *cq, struct xenib_qp *qp)
{
	struct xenib_cqe *cqe, *to;
	uint32_t n, dropped = 0;
	uint64_t wr_id;
	uint8_t own;

	if (cq->recent == qp)
		cq->recent = NULL;

	n = count_waiting(cq);
	udma_from_device_barrier();

	while (n--) {
		cqe = cqe_at(cq, cq->next + n);
		if ((be32toh(cqe->uidx) & 0xffffff) == qp->uidx) {
			if (qp->srq && is_receive(cqe->op_own))
				xenib_srq_take(qp->srq, be16toh(cqe->wqe_counter), &wr_id);
			dropped++;
		} else if (dropped) {
			to = cqe_at(cq, cq->next + n + dropped);
			own = to->op_own & XENIB_CQE_OWNER;
			*to = *cqe;
			to->op_own = (to->op_own & ~XENIB_CQE_OWNER) | own;
		}
	}
	if (!dropped)
		return;

	cq->next += dropped;
	udma_to_device_barrier();
	xenib_cq_tell_consumed(cq);
}
