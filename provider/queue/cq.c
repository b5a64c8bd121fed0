// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cq.c - a new CQ's CQEs, what errors in them mean, cleaning a CQ of a QP's completions, and taking
 * it to another buffer.
 */
#include "queue/cqe.h"

void xenib_cq_init_cqes(struct xenib_cq_queue *cq)
{
	struct xenib_cqe *cqe = (struct xenib_cqe *)cq->cqes;
	u32 i;

	for (i = 0; i <= cq->mask; i++)
		cqe[i].op_own = XENIB_CQE_INVALID << 4;
}

enum xenib_status xenib_error_status(u8 syndrome)
{
	switch (syndrome) {
	case XENIB_SYNDROME_LOCAL_LENGTH:
		return XENIB_STATUS_LOC_LEN_ERR;
	case XENIB_SYNDROME_LOCAL_QP_OP:
		return XENIB_STATUS_LOC_QP_OP_ERR;
	case XENIB_SYNDROME_LOCAL_PROT:
		return XENIB_STATUS_LOC_PROT_ERR;
	case XENIB_SYNDROME_FLUSH:
		return XENIB_STATUS_WR_FLUSH_ERR;
	case XENIB_SYNDROME_MW_BIND:
		return XENIB_STATUS_MW_BIND_ERR;
	case XENIB_SYNDROME_BAD_RESP:
		return XENIB_STATUS_BAD_RESP_ERR;
	case XENIB_SYNDROME_LOCAL_ACCESS:
		return XENIB_STATUS_LOC_ACCESS_ERR;
	case XENIB_SYNDROME_REMOTE_INVAL_REQ:
		return XENIB_STATUS_REM_INV_REQ_ERR;
	case XENIB_SYNDROME_REMOTE_ACCESS:
		return XENIB_STATUS_REM_ACCESS_ERR;
	case XENIB_SYNDROME_REMOTE_OP:
		return XENIB_STATUS_REM_OP_ERR;
	case XENIB_SYNDROME_RETRY:
		return XENIB_STATUS_RETRY_EXC_ERR;
	case XENIB_SYNDROME_RNR_RETRY:
		return XENIB_STATUS_RNR_RETRY_EXC_ERR;
	case XENIB_SYNDROME_REMOTE_ABORTED:
		return XENIB_STATUS_REM_ABORT_ERR;
	default:
		return XENIB_STATUS_GENERAL_ERR;
	}
}

static bool is_receive(u8 op_own)
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

static u8 owner_of(const struct xenib_cq_queue *cq, u32 index)
{
	return index & (cq->mask + 1) ? XENIB_CQE_OWNER : 0;
}

/*
 * How many CQEs the HCA has written that are not yet consumed.
 * @resized: if one says that it is the last of its buffer, it and what follows does not count
 */
static u32 count_waiting(struct xenib_cq_queue *cq, bool *resized)
{
	u32 n;
	u8 own;

	*resized = false;
	for (n = 0; n <= cq->mask && !*resized; n++) {
		own = READ_ONCE(xenib_cqe_at(cq, cq->next + n)->op_own);
		if ((own & XENIB_CQE_OWNER) != owner_of(cq, cq->next + n) ||
		    own >> 4 == XENIB_CQE_INVALID)
			return n;
		*resized = own >> 4 == XENIB_CQE_RESIZED;
	}
	return n - *resized;
}

/*
 * The QP is silent by now, so nothing more of it comes. From the newest CQE to the oldest, those of
 * other QPs move up into the places of those that are dropped; a place keeps its owner bit.
 */
void xenib_cq_clean(struct xenib_cq_queue *cq, struct xenib_qp_queues *qp)
{
	struct xenib_cqe *cqe, *to;
	u32 n, dropped = 0;
	bool resized;
	u64 wr_id;
	u8 own;

	if (cq->recent == qp)
		cq->recent = NULL;

	n = count_waiting(cq, &resized);
	dma_rmb();

	while (n--) {
		cqe = xenib_cqe_at(cq, cq->next + n);
		if ((be32_to_cpu(cqe->uidx) & 0xffffff) == qp->uidx) {
			if (qp->srq && is_receive(cqe->op_own))
				xenib_srq_take(qp->srq, be16_to_cpu(cqe->wqe_counter), &wr_id);
			dropped++;
		} else if (dropped) {
			to = xenib_cqe_at(cq, cq->next + n + dropped);
			own = to->op_own & XENIB_CQE_OWNER;
			*to = *cqe;
			to->op_own = (to->op_own & ~XENIB_CQE_OWNER) | own;
		}
	}
	if (!dropped)
		return;

	cq->next += dropped;
	dma_wmb();
	xenib_cq_tell_consumed(cq);
}

/* The CQE that ends the old buffer has an index: all before it is one further in the new one. */
bool xenib_cq_move(struct xenib_cq_queue *cq, u8 *cqes, u32 mask)
{
	struct xenib_cq_queue to = { .cqes = cqes, .mask = mask };
	struct xenib_cqe *cqe;
	u32 n, waiting;
	bool resized;

	waiting = count_waiting(cq, &resized);
	dma_rmb();

	for (n = 0; n < waiting; n++) {
		cqe = xenib_cqe_at(&to, cq->next + n + 1);
		*cqe = *xenib_cqe_at(cq, cq->next + n);
		cqe->op_own = (cqe->op_own & ~XENIB_CQE_OWNER) | owner_of(&to, cq->next + n + 1);
	}
	cq->cqes = cqes;
	cq->mask = mask;
	cq->next++;
	dma_wmb();
	xenib_cq_tell_consumed(cq);
	return resized;
}
