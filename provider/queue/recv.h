/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * recv.h - building receive WQEs and telling the HCA of them. The caller holds the queue's lock.
 */
#ifndef XENIB_QUEUE_RECV_H
#define XENIB_QUEUE_RECV_H

#include "queue/queues.h"

/* As many WRs are outstanding as may be, also after a look while nobody polls. */
static inline bool xenib_rq_is_full(struct xenib_rq *rq, u32 head)
{
	u32 tail = READ_ONCE(rq->tail);

	if (likely(head - tail < rq->limit))
		return false;

	xenib_lock(&rq->cq->lock);
	tail = rq->tail;
	xenib_unlock(&rq->cq->lock);
	return head - tail >= rq->limit;
}

/* The data segments of a WQE */
static __always_inline struct xenib_data_seg *xenib_rq_segs(const struct xenib_rq *rq, u32 index)
{
	return (struct xenib_data_seg *)(rq->start + ((size_t)index << rq->shift));
}

static __always_inline struct xenib_data_seg *xenib_srq_segs(const struct xenib_srq_queue *srq,
							     u32 index)
{
	return (struct xenib_data_seg *)(srq->wqes + ((size_t)index << srq->shift) +
					 sizeof(struct xenib_srq_next_seg));
}

/* Adds a scatter entry to those that are used. Return: how many are now. */
static __always_inline u32 xenib_put_scatter(struct xenib_data_seg *seg, u32 used, u64 addr,
					     u32 length, u32 lkey)
{
	/* To the HCA a length of 0 is 2 GiB. */
	if (unlikely(!length))
		return used;

	seg[used].byte_count = cpu_to_be32(length);
	seg[used].lkey = cpu_to_be32(lkey);
	seg[used].addr = cpu_to_be64(addr);
	return used + 1;
}

/* The HCA stops at an entry with the invalid key, unless the WQE is full. */
static __always_inline void xenib_end_scatter(struct xenib_data_seg *seg, u32 used, u32 room)
{
	if (used < room) {
		seg[used].byte_count = 0;
		seg[used].lkey = cpu_to_be32(XENIB_INVALID_LKEY);
		seg[used].addr = 0;
	}
}

/* Tells the HCA of the WQEs before head. */
static __always_inline void xenib_rq_ring(struct xenib_rq *rq, u32 head)
{
	rq->head = head;
	dma_wmb();
	rq->dbrec[XENIB_DBREC_RECV] = cpu_to_be32(head & 0xffff);
}

static __always_inline void xenib_srq_ring(struct xenib_srq_queue *srq, u32 posted)
{
	srq->posted = posted;
	dma_wmb();
	srq->dbrec[XENIB_DBREC_RECV] = cpu_to_be32(posted & 0xffff);
}

#endif
