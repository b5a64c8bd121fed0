// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * main.c - uses all of ../queue/ in kernel code, so that compilers and sparse see it there. Never
 * loaded.
 */
#include <linux/errno.h>
#include <linux/module.h>

#include "queue/cqe.h"
#include "queue/op.h"
#include "queue/recv.h"
#include "queue/send.h"
#include "queue/umr.h"

struct wr {
	u64 wr_id, addr, remote;
	u32 length, lkey, rkey, qkey;
	const struct xenib_av *av;
	const struct xenib_bind *bind;
	const void *data;
};

static int post_send(struct xenib_sq *sq, const struct wr *wr)
{
	struct xenib_wqe wqe;
	unsigned long flags;
	int err = -ENOMEM;
	u8 *at;

	spin_lock_irqsave(&sq->lock.spin, flags);
	if (xenib_sq_is_full(sq, sq->head))
		goto out;

	xenib_wqe_begin(sq, &wqe, xenib_ops[IB_UVERBS_WR_SEND].opcode,
			xenib_control_bits(sq, XENIB_SEND_SIGNALED), cpu_to_be32(wr->rkey));
	if (wr->av) {
		xenib_put_address(wqe.seg, wr->av, 1, wr->qkey);
		xenib_skip_address(sq, &wqe);
	} else {
		xenib_put_remote(&wqe, wr->remote, wr->rkey);
		xenib_put_atomic(&wqe, wr->remote, 0);
	}
	if (wr->bind) {
		xenib_put_bind(sq, &wqe, wr->bind);
	} else if (wr->data) {
		at = xenib_inline_data(sq, &wqe);
		xenib_copy_in(sq, &at, wr->data, wr->length);
		xenib_inline_end(&wqe, wr->length);
	} else {
		xenib_put_data(sq, &wqe, wr->addr, wr->length, wr->lkey);
	}
	xenib_wqe_remember(sq, sq->head, wr->wr_id, IB_UVERBS_WC_SEND);
	xenib_wqe_end(sq, &wqe);
	xenib_sq_ring(sq, 1, wqe.ctrl, wqe.ds);
	err = 0;
out:
	spin_unlock_irqrestore(&sq->lock.spin, flags);
	return err;
}

static void post_recv(struct xenib_rq *rq, struct xenib_srq_queue *srq, const struct wr *wr)
{
	struct xenib_data_seg *seg;
	u32 used;

	if (!srq && xenib_rq_is_full(rq, rq->head))
		return;

	seg = srq ? xenib_srq_segs(srq, srq->head) : xenib_rq_segs(rq, rq->head & rq->mask);
	used = xenib_put_scatter(seg, 0, wr->addr, wr->length, wr->lkey);
	xenib_end_scatter(seg, used, rq->max_sge);
	if (srq)
		xenib_srq_ring(srq, srq->posted + 1);
	else
		xenib_rq_ring(rq, rq->head + 1);
}

static u64 poll(struct xenib_cq_queue *cq)
{
	const struct xenib_sent *sent;
	struct xenib_qp_queues *qp;
	struct xenib_cqe *cqe;
	unsigned long flags;
	u64 wr_id = 0;
	u32 source;
	u8 own;

	spin_lock_irqsave(&cq->lock.spin, flags);
	cqe = xenib_next_cqe(cq, &own);
	if (!cqe)
		goto out;

	cq->next++;
	qp = xenib_cqe_qp(cq, cqe);
	if (!qp)
		goto out;

	if (own >> 4 == XENIB_CQE_REQ) {
		sent = xenib_complete_send(qp, cqe);
		wr_id = sent->wr_id + xenib_cqe_sent_bytes(cqe, sent->opcode);
	} else if (xenib_complete_recv(qp, cqe, &wr_id)) {
		source = be32_to_cpu(READ_ONCE(cqe->flags_qpn));
		wr_id += xenib_source_qpn(source) + xenib_source_sl(source) +
			 xenib_source_has_grh(source);
	}
	xenib_cq_tell_consumed(cq);
out:
	xenib_cq_arm(cq, false);
	spin_unlock_irqrestore(&cq->lock.spin, flags);
	return wr_id;
}

static void make(struct xenib_cq_queue *cq, struct xenib_srq_queue *srq, struct xenib_qp_queues *qp)
{
	xenib_lock_init(&cq->lock);
	xenib_lock_init(&srq->lock);
	xenib_cq_init_cqes(cq);
	xenib_srq_init_list(srq);
	xenib_cq_clean(cq, qp);
}

static const void *const uses[] __used = { post_send, post_recv, poll, make };

MODULE_DESCRIPTION("queues of xenib in kernel code");
MODULE_LICENSE("Dual BSD/GPL");
