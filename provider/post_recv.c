// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * post_recv.c - ibv_post_recv() and ibv_post_srq_recv().
 */
#include <errno.h>

#include "queue/format.h"
#include <util/udma_barrier.h>

#include "dbrec.h"
#include "fast.h"
#include "qp.h"
#include "verbs.h"

/* Scatter entries; the HCA stops at one with the invalid key, unless the WQE is full. */
static XENIB_INLINE void put_scatter(struct xenib_data_seg *seg, const struct ibv_sge *sge,
				     int count, uint32_t room)
{
	uint32_t used = 0;

	for (; count > 0; count--, sge++) {
		/* To the HCA a length of 0 is 2 GiB. */
		if (unlikely(!sge->length))
			continue;
		seg[used].byte_count = htobe32(sge->length);
		seg[used].lkey = htobe32(sge->lkey);
		seg[used].addr = htobe64(sge->addr);
		used++;
	}

	if (used < room) {
		seg[used].byte_count = 0;
		seg[used].lkey = htobe32(XENIB_INVALID_LKEY);
		seg[used].addr = 0;
	}
}

/* As many WRs are outstanding as may be, also after a look while nobody polls. */
static bool rq_is_full(struct xenib_rq *rq, uint32_t head)
{
	uint32_t tail = __atomic_load_n(&rq->tail, __ATOMIC_RELAXED);

	if (likely(head - tail < rq->limit))
		return false;

	xenib_lock(&rq->cq->lock);
	tail = rq->tail;
	xenib_unlock(&rq->cq->lock);
	return head - tail >= rq->limit;
}

int xenib_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct xenib_rq *rq = &to_xqp(ibqp)->rq;
	uint32_t head, index;
	int err = 0;

	xenib_lock(&rq->lock);

	for (head = rq->head; wr; head++, wr = wr->next) {
		if (unlikely(rq_is_full(rq, head))) {
			err = rq->max_wr && !rq->limit ? EINVAL : ENOMEM;
			break;
		}
		if (unlikely((uint32_t)wr->num_sge > rq->max_sge)) {
			err = EINVAL;
			break;
		}

		index = head & rq->mask;
		put_scatter((struct xenib_data_seg *)(rq->start + ((size_t)index << rq->shift)),
			    wr->sg_list, wr->num_sge, rq->max_sge);
		rq->wr_id[index] = wr->wr_id;
	}

	if (likely(head != rq->head)) {
		rq->head = head;
		udma_to_device_barrier();
		rq->dbrec[XENIB_DBREC_RECV] = htobe32(head & 0xffff);
	}

	xenib_unlock(&rq->lock);
	if (unlikely(err))
		*bad_wr = wr;
	return err;
}

int xenib_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct xenib_srq *srq = to_xsrq(ibsrq);
	uint32_t posted;
	struct xenib_srq_wqe *wqe;
	uint8_t *seg;
	int err = 0;

	xenib_lock(&srq->lock);

	for (posted = srq->posted; wr; posted++, wr = wr->next) {
		if (unlikely((uint32_t)wr->num_sge > srq->max_sge)) {
			err = EINVAL;
			break;
		}
		if (unlikely(srq->head == srq->tail)) {
			err = ENOMEM;
			break;
		}

		wqe = &srq->wqe[srq->head];
		seg = srq->wqes + ((size_t)srq->head << srq->shift) +
		      sizeof(struct xenib_srq_next_seg);
		put_scatter((struct xenib_data_seg *)seg, wr->sg_list, wr->num_sge,
			    srq->max_sge);
		wqe->wr_id = wr->wr_id;
		wqe->posted = true;
		srq->head = wqe->next;
	}

	if (likely(posted != srq->posted)) {
		srq->posted = posted;
		udma_to_device_barrier();
		srq->dbrec[XENIB_DBREC_RECV] = htobe32(posted);
	}

	xenib_unlock(&srq->lock);
	if (unlikely(err))
		*bad_wr = wr;
	return err;
}
