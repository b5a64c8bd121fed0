// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srq.c - the list of an SRQ's WQEs, see srq.h.
 */
#include "queue/srq.h"

static void set_link(struct xenib_srq_queue *srq, u32 from, u32 to)
{
	struct xenib_srq_next_seg *next;

	next = (struct xenib_srq_next_seg *)(srq->wqes + ((size_t)from << srq->shift));
	next->next = cpu_to_be16(to);
	srq->wqe[from].next = to;
}

void xenib_srq_init_list(struct xenib_srq_queue *srq)
{
	u32 i;

	for (i = 0; i < srq->mask; i++)
		set_link(srq, i, i + 1);
	srq->head = 0;
	srq->tail = srq->mask;
}

bool xenib_srq_take(struct xenib_srq_queue *srq, u16 index, u64 *wr_id)
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
