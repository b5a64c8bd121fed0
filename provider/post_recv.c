// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * post_recv.c - ibv_post_recv() and ibv_post_srq_recv().
 */
#include <errno.h>

#include "qp.h"
#include "queue/recv.h"
#include "verbs.h"

static __always_inline void put_scatter(struct xenib_data_seg *seg, const struct ibv_sge *sge,
					int count, uint32_t room)
{
	uint32_t used = 0;

	for (; count > 0; count--, sge++)
		used = xenib_put_scatter(seg, used, sge->addr, sge->length, sge->lkey);
	xenib_end_scatter(seg, used, room);
}

int xenib_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct xenib_rq *rq = &to_xqp(ibqp)->q.rq;
	uint32_t head, index;
	int err = 0;

	xenib_lock(&rq->lock);

	for (head = rq->head; wr; head++, wr = wr->next) {
		if (unlikely(xenib_rq_is_full(rq, head))) {
			err = rq->max_wr && !rq->limit ? EINVAL : ENOMEM;
			break;
		}
		if (unlikely((uint32_t)wr->num_sge > rq->max_sge)) {
			err = EINVAL;
			break;
		}

		index = head & rq->mask;
		put_scatter(xenib_rq_segs(rq, index), wr->sg_list, wr->num_sge, rq->max_sge);
		rq->wr_id[index] = wr->wr_id;
	}

	if (likely(head != rq->head))
		xenib_rq_ring(rq, head);

	xenib_unlock(&rq->lock);
	if (unlikely(err))
		*bad_wr = wr;
	return err;
}

int xenib_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct xenib_srq_queue *srq = &to_xsrq(ibsrq)->q;
	uint32_t posted;
	struct xenib_srq_wqe *wqe;
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
		put_scatter(xenib_srq_segs(srq, srq->head), wr->sg_list, wr->num_sge, srq->max_sge);
		wqe->wr_id = wr->wr_id;
		wqe->posted = true;
		srq->head = wqe->next;
	}

	if (likely(posted != srq->posted))
		xenib_srq_ring(srq, posted);

	xenib_unlock(&srq->lock);
	if (unlikely(err))
		*bad_wr = wr;
	return err;
}
