/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * poll.h - what ibv_poll_cq() and the extended interface have in common: finding the next CQE and
 * what it completes.
 *
 * CQEs are in memory that the HCA's owner can write. No byte of them can make this process touch
 * memory that is not of the objects it polls: indices are masked by the size of an array of our
 * own, a QP is looked up by number in a table and must belong to this CQ, and an SRQ's WQE must be
 * posted. Each field is read once. What such bytes can do is to report completions that are not
 * true. All this adds no step to a completion of the same QP as the one before.
 */
#ifndef XENIB_POLL_H
#define XENIB_POLL_H

#include <errno.h>

#include <util/udma_barrier.h>

#include "cq.h"
#include "dbrec.h"
#include "fast.h"
#include "qp.h"

#define XENIB_BAD_CQE (-EINVAL)

/* The CQE that is next, if the HCA has written it, and its last byte. */
static XENIB_INLINE struct xenib_cqe *xenib_next_cqe(struct xenib_cq *cq, uint8_t *op_own)
{
	struct xenib_cqe *cqe;
	uint32_t next = cq->next;
	uint8_t own;

	cqe = (struct xenib_cqe *)(cq->cqes + ((size_t)(next & cq->mask) << XENIB_CQE_SHIFT));
	own = XENIB_READ_ONCE(cqe->op_own);

	/* The owner bit is the number of the HCA's round through the queue, modulo 2. */
	if ((own & XENIB_CQE_OWNER) != !!(next & (cq->mask + 1)) ||
	    own >> 4 == XENIB_CQE_INVALID)
		return NULL;

	/* No other field is read before the owner bit. */
	udma_from_device_barrier();
	*op_own = own;
	return cqe;
}

static inline void xenib_cq_tell_consumed(struct xenib_cq *cq)
{
	cq->dbrec[XENIB_DBREC_CONSUMED] = htobe32(cq->next & 0xffffff);
}

/* The QP that a CQE names; NULL if it names none that completes here. */
static XENIB_INLINE struct xenib_qp *xenib_cqe_qp(struct xenib_cq *cq,
						  const struct xenib_cqe *cqe)
{
	uint32_t uidx = be32toh(XENIB_READ_ONCE(cqe->uidx)) & 0xffffff;
	struct xenib_qp *qp = cq->recent;

	if (likely(qp && qp->uidx == uidx))
		return qp;

	qp = xenib_table_find(cq->qps, uidx);
	if (unlikely(!qp || (qp->sq.cq != cq && qp->rq.cq != cq)))
		return NULL;

	cq->recent = qp;
	return qp;
}

/* A send WQE is complete, and with it all before it. */
static XENIB_INLINE const struct xenib_sent *xenib_complete_send(struct xenib_qp *qp,
								 const struct xenib_cqe *cqe)
{
	uint16_t block = be16toh(XENIB_READ_ONCE(cqe->wqe_counter));
	const struct xenib_sent *sent = &qp->sq.sent[block & qp->sq.mask];

	__atomic_store_n(&qp->sq.tail, sent->number + 1, __ATOMIC_RELAXED);
	return sent;
}

/* A receive WQE is complete. False: there is none such. */
static XENIB_INLINE bool xenib_complete_recv(struct xenib_qp *qp, const struct xenib_cqe *cqe,
					     uint64_t *wr_id)
{
	uint16_t index = be16toh(XENIB_READ_ONCE(cqe->wqe_counter));

	if (qp->srq)
		return xenib_srq_take(qp->srq, index, wr_id);

	*wr_id = qp->rq.wr_id[index & qp->rq.mask];
	__atomic_store_n(&qp->rq.tail, qp->rq.tail + 1, __ATOMIC_RELAXED);
	return true;
}

/** xenib_error_status() - the status that a syndrome of the HCA means. */
enum ibv_wc_status xenib_error_status(uint8_t syndrome);

#endif
