/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * cqe.h - finding the next CQE and what it completes, and arming. The caller holds the CQ's lock,
 * except to arm.
 *
 * CQEs are in memory that the HCA's owner can write. No byte of them can make this code touch
 * memory that is not of the objects it polls: indices are masked by the size of an array of our
 * own, a QP is looked up by number in a table and must belong to this CQ, and an SRQ's WQE must be
 * posted. Each field is read once. What such bytes can do is to report completions that are not
 * true. All this adds no step to a completion of the same QP as the one before.
 */
#ifndef XENIB_QUEUE_CQE_H
#define XENIB_QUEUE_CQE_H

#include <rdma/ib_user_verbs.h>

#include "queue/queues.h"
#include "queue/srq.h"

#define XENIB_ARM_SOLICITED BIT(24)

/* Verbs' statuses of completions that failed, the same numbers in libibverbs and in the kernel. */
enum xenib_status {
	XENIB_STATUS_LOC_LEN_ERR = 1,
	XENIB_STATUS_LOC_QP_OP_ERR = 2,
	XENIB_STATUS_LOC_PROT_ERR = 4,
	XENIB_STATUS_WR_FLUSH_ERR = 5,
	XENIB_STATUS_MW_BIND_ERR = 6,
	XENIB_STATUS_BAD_RESP_ERR = 7,
	XENIB_STATUS_LOC_ACCESS_ERR = 8,
	XENIB_STATUS_REM_INV_REQ_ERR = 9,
	XENIB_STATUS_REM_ACCESS_ERR = 10,
	XENIB_STATUS_REM_OP_ERR = 11,
	XENIB_STATUS_RETRY_EXC_ERR = 12,
	XENIB_STATUS_RNR_RETRY_EXC_ERR = 13,
	XENIB_STATUS_REM_ABORT_ERR = 16,
	XENIB_STATUS_GENERAL_ERR = 21,
};

/* That these are the numbers of the names that begin with prefix. */
#define XENIB_CHECK_STATUSES(prefix) \
	static_assert(prefix##LOC_LEN_ERR == (int)XENIB_STATUS_LOC_LEN_ERR && \
			      prefix##LOC_QP_OP_ERR == (int)XENIB_STATUS_LOC_QP_OP_ERR && \
			      prefix##LOC_PROT_ERR == (int)XENIB_STATUS_LOC_PROT_ERR && \
			      prefix##WR_FLUSH_ERR == (int)XENIB_STATUS_WR_FLUSH_ERR && \
			      prefix##MW_BIND_ERR == (int)XENIB_STATUS_MW_BIND_ERR && \
			      prefix##BAD_RESP_ERR == (int)XENIB_STATUS_BAD_RESP_ERR && \
			      prefix##LOC_ACCESS_ERR == (int)XENIB_STATUS_LOC_ACCESS_ERR && \
			      prefix##REM_INV_REQ_ERR == (int)XENIB_STATUS_REM_INV_REQ_ERR && \
			      prefix##REM_ACCESS_ERR == (int)XENIB_STATUS_REM_ACCESS_ERR && \
			      prefix##REM_OP_ERR == (int)XENIB_STATUS_REM_OP_ERR && \
			      prefix##RETRY_EXC_ERR == (int)XENIB_STATUS_RETRY_EXC_ERR && \
			      prefix##RNR_RETRY_EXC_ERR == (int)XENIB_STATUS_RNR_RETRY_EXC_ERR && \
			      prefix##REM_ABORT_ERR == (int)XENIB_STATUS_REM_ABORT_ERR && \
			      prefix##GENERAL_ERR == (int)XENIB_STATUS_GENERAL_ERR, \
		      #prefix)

static __always_inline struct xenib_cqe *xenib_cqe_at(const struct xenib_cq_queue *cq, u32 n)
{
	return (struct xenib_cqe *)(cq->cqes + ((size_t)(n & cq->mask) << XENIB_CQE_SHIFT));
}

/* The CQE that is next, if the HCA has written it, and its last byte. */
static __always_inline struct xenib_cqe *xenib_next_cqe(struct xenib_cq_queue *cq, u8 *op_own)
{
	struct xenib_cqe *cqe;
	u32 next = cq->next;
	u8 own;

	cqe = xenib_cqe_at(cq, next);
	own = READ_ONCE(cqe->op_own);

	/* The owner bit is the number of the HCA's round through the queue, modulo 2. */
	if ((own & XENIB_CQE_OWNER) != !!(next & (cq->mask + 1)) || own >> 4 == XENIB_CQE_INVALID)
		return NULL;

	/* No other field is read before the owner bit. */
	dma_rmb();
	*op_own = own;
	return cqe;
}

static inline void xenib_cq_tell_consumed(struct xenib_cq_queue *cq)
{
	cq->dbrec[XENIB_DBREC_CONSUMED] = cpu_to_be32(cq->next & 0xffffff);
}

/* The QP that a CQE names; NULL if it names none that completes here. */
static __always_inline struct xenib_qp_queues *xenib_cqe_qp(struct xenib_cq_queue *cq,
							    const struct xenib_cqe *cqe)
{
	u32 uidx = be32_to_cpu(READ_ONCE(cqe->uidx)) & 0xffffff;
	struct xenib_qp_queues *qp = cq->recent;

	if (likely(qp && qp->uidx == uidx))
		return qp;

	qp = xenib_qp_table_find(cq->qps, uidx);
	if (unlikely(!qp || (qp->sq.cq != cq && qp->rq.cq != cq)))
		return NULL;
	if (unlikely(qp->many)) {
		qp->sq.qpn = be32_to_cpu(READ_ONCE(cqe->opcode_qpn)) & 0xffffff;
		return qp;
	}

	cq->recent = qp;
	return qp;
}

/* A send WQE is complete, and with it all before it. */
static __always_inline const struct xenib_sent *xenib_complete_send(struct xenib_qp_queues *qp,
								    const struct xenib_cqe *cqe)
{
	u16 block = be16_to_cpu(READ_ONCE(cqe->wqe_counter));
	const struct xenib_sent *sent = &qp->sq.sent[block & qp->sq.mask];

	WRITE_ONCE(qp->sq.tail, sent->number + 1);
	return sent;
}

/* A receive WQE is complete. False: there is none such. */
static __always_inline bool xenib_complete_recv(struct xenib_qp_queues *qp,
						const struct xenib_cqe *cqe, u64 *wr_id)
{
	u16 index = be16_to_cpu(READ_ONCE(cqe->wqe_counter));

	if (qp->srq)
		return xenib_srq_take(qp->srq, index, wr_id);

	*wr_id = qp->rq.wr_id[index & qp->rq.mask];
	WRITE_ONCE(qp->rq.tail, qp->rq.tail + 1);
	return true;
}

/* What a CQE says of its message. Of atomics the HCA tells no length. */
static __always_inline u32 xenib_cqe_sent_bytes(const struct xenib_cqe *cqe, u32 wc_opcode)
{
	u32 bytes = be32_to_cpu(READ_ONCE(cqe->byte_count));

	if (unlikely(wc_opcode == IB_UVERBS_WC_COMP_SWAP || wc_opcode == IB_UVERBS_WC_FETCH_ADD))
		bytes = 8;
	return bytes;
}

/* Of the word with the sender's QP number */
static __always_inline u32 xenib_source_qpn(u32 source)
{
	return source & 0xffffff;
}

static __always_inline u8 xenib_source_sl(u32 source)
{
	return source >> 24 & 0xf;
}

static __always_inline bool xenib_source_has_grh(u32 source)
{
	return source >> 28 & 3;
}

/*
 * Asks for an event. The HCA takes the same request from the record and from the doorbell; the
 * count of events so far tells it an old request from a new one.
 */
static __always_inline void xenib_cq_arm(struct xenib_cq_queue *cq, bool solicited_only)
{
	u32 request;

	request = (cq->arm_count & 3) << 28 | (solicited_only ? XENIB_ARM_SOLICITED : 0) |
		  (cq->next & 0xffffff);
	cq->dbrec[XENIB_DBREC_ARM] = cpu_to_be32(request);

	dma_wmb();
	xenib_mmio_write64(cq->bell->page + XENIB_UAR_CQ_DOORBELL,
			   cpu_to_be64((u64)request << 32 | cq->cqn));
}

/**
 * xenib_error_status() - the status that a syndrome of the HCA means.
 */
enum xenib_status xenib_error_status(u8 syndrome);

/**
 * xenib_cq_init_cqes() - makes all CQEs the HCA's. @cq has cqes and mask set.
 */
void xenib_cq_init_cqes(struct xenib_cq_queue *cq);

/**
 * xenib_cq_clean() - drops the completions of a QP that is reset or destroyed on the HCA; receive
 * WQEs of its SRQ become free.
 */
void xenib_cq_clean(struct xenib_cq_queue *cq, struct xenib_qp_queues *qp);

/**
 * xenib_cq_move() - goes on in another buffer, which the HCA writes by now; what waits comes along.
 * @cqes: the buffer, after xenib_cq_init_cqes(); @mask: its CQEs - 1
 *
 * Return: false: the HCA has not said that it has left the old buffer.
 */
bool xenib_cq_move(struct xenib_cq_queue *cq, u8 *cqes, u32 mask);

#endif
