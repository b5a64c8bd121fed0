// SPDX-License-Identifier: GPL-2.0
/*
 * qp.c - the kernel's queue pairs: their queues, and the life of these beside the backend's QP.
 */
#include <linux/slab.h>

#include "kernel/kverbs.h"
#include "queue/cqe.h"

/* xenib_size_qp() and the table of operations take types as uverbs has them. */
static_assert(IB_QPT_RC == (int)IB_UVERBS_QPT_RC);
static_assert(IB_QPT_UC == (int)IB_UVERBS_QPT_UC);
static_assert(IB_QPT_UD == (int)IB_UVERBS_QPT_UD);

static int size_queues(struct xenib_kcontext *kernel, const struct ib_qp_init_attr *init,
		       struct xenib_qp_size *size)
{
	const struct xenib_qp_cap asked = {
		.max_send_wr = init->cap.max_send_wr,
		.max_recv_wr = init->cap.max_recv_wr,
		.max_send_sge = init->cap.max_send_sge,
		.max_recv_sge = init->cap.max_recv_sge,
		.max_inline_data = init->cap.max_inline_data,
	};
	bool may_bind = init->qp_type != IB_QPT_UD;

	if (!xenib_size_qp(&kernel->limits, init->qp_type, may_bind, init->srq, &asked, size))
		return -EINVAL;
	return 0;
}

static int alloc_arrays(struct xenib_kqp *kqp, const struct xenib_qp_size *size, bool reads)
{
	int err;

	if (size->sq_blocks) {
		kqp->wr_mask = xenib_round_up_pow2(size->cap.max_send_wr) - 1;
		kqp->q.sq.sent = kvcalloc(size->sq_blocks, sizeof(*kqp->q.sq.sent), GFP_KERNEL);
		kqp->wrs = kvcalloc(kqp->wr_mask + 1, sizeof(*kqp->wrs), GFP_KERNEL);
		if (!kqp->q.sq.sent || !kqp->wrs)
			return -ENOMEM;
	}
	if (size->sq_blocks && reads) {
		err = xenib_kreads_alloc(&kqp->reads, &kqp->kernel->pool, size->cap.max_send_wr,
					 size->cap.max_send_sge);
		if (err)
			return err;
	}
	if (size->rq_wqes) {
		kqp->q.rq.wr_id = kvcalloc(size->rq_wqes, sizeof(*kqp->q.rq.wr_id), GFP_KERNEL);
		if (!kqp->q.rq.wr_id)
			return -ENOMEM;
		return xenib_krecvs_alloc(&kqp->recvs, &kqp->kernel->pool, size->rq_wqes,
					  size->cap.max_recv_sge);
	}
	return 0;
}

static void free_arrays(struct xenib_kqp *kqp)
{
	if (kqp->q.sq.sent != &kqp->q.nothing_sent)
		kvfree(kqp->q.sq.sent);
	if (kqp->q.rq.wr_id != &kqp->q.rq.none)
		kvfree(kqp->q.rq.wr_id);
	xenib_krecvs_free(&kqp->recvs);
	xenib_kreads_free(&kqp->reads);
	kvfree(kqp->wrs);
}

/* A place in the table, which is empty until the QP is published. */
static int take_number(struct xenib_kqp *kqp)
{
	u32 *number = &kqp->q.uidx;
	struct xarray *qps = &kqp->kernel->qps.qps;

	/* Below the one that means none */
	return xa_alloc_irq(qps, number, NULL, XA_LIMIT(0, 0xfffffe), GFP_KERNEL) ? -ENOMEM : 0;
}

static void describe(const struct xenib_kqp *kqp, const struct xenib_qp_size *size,
		     struct xenib_create_qp_req *req)
{
	*req = (struct xenib_create_qp_req){
		.sq_wqe_count = size->sq_blocks,
		.rq_wqe_count = size->rq_wqes,
		.rq_wqe_shift = size->rq_shift,
		.uidx = kqp->q.uidx,
	};
}

static void lay_out(struct xenib_qp *qp, struct xenib_kqp *kqp, const struct ib_qp_init_attr *init,
		    const struct xenib_qp_size *size)
{
	kqp->q.dbrec = xenib_arena_addr_kva(&qp->mem.dbr);
	xenib_qp_init_queues(&kqp->q, size->bytes ? xenib_arena_addr_kva(&qp->mem.buf) : NULL,
			     size);
	xenib_lock_init(&kqp->q.sq.lock);
	xenib_lock_init(&kqp->q.rq.lock);
	kqp->q.sq.bell = &kqp->kernel->uar.bell;
	kqp->q.sq.cq = &to_xcq(init->send_cq)->k->q;
	kqp->q.rq.cq = &to_xcq(init->recv_cq)->k->q;
	kqp->q.sq.always = init->sq_sig_type == IB_SIGNAL_ALL_WR ? XENIB_CTRL_COMPLETION : 0;
	kqp->q.sq.may_bind = init->qp_type != IB_QPT_UD;
	kqp->q.srq = init->srq ? &to_xsrq(init->srq)->k->q : NULL;
	xenib_qp_reset_queues(&kqp->q);
}

int xenib_kqp_init(struct xenib_qp *qp, struct ib_qp_init_attr *init,
		   struct xenib_create_qp_req *req)
{
	struct xenib_kcontext *kernel = to_xdev(qp->ibqp.device)->kernel;
	struct xenib_pool_keys *keys;
	struct xenib_qp_size size;
	struct xenib_kqp *kqp;
	int err;

	if (!kernel)
		return -EOPNOTSUPP;
	err = size_queues(kernel, init, &size);
	if (err)
		return err;
	keys = xenib_pool_keys_get(&kernel->pool, to_xpd(qp->ibqp.pd));
	if (IS_ERR(keys))
		return PTR_ERR(keys);
	kqp = kzalloc(sizeof(*kqp), GFP_KERNEL);
	if (!kqp)
		return -ENOMEM;
	kqp->qp = qp;
	kqp->kernel = kernel;
	kqp->keys = keys;
	INIT_LIST_HEAD(&kqp->srq_qps);
	err = alloc_arrays(kqp, &size, init->qp_type == IB_QPT_RC);
	if (err)
		goto err_free;
	err = xenib_queue_mem_get_kernel(&kernel->ctx, &qp->mem, &kernel->uar.uar, size.bytes);
	if (err)
		goto err_free;
	err = take_number(kqp);
	if (err)
		goto err_put;
	lay_out(qp, kqp, init, &size);
	describe(kqp, &size, req);
	qp->k = kqp;
	return 0;

err_put:
	xenib_queue_mem_put(&qp->mem);
err_free:
	free_arrays(kqp);
	kfree(kqp);
	return err;
}

/* A poller of another CQ may just have found it in the table: it looks whose it is, no further. */
void xenib_kqp_exit(struct xenib_qp *qp)
{
	struct xenib_kqp *kqp = qp->k;

	xa_erase_irq(&kqp->kernel->qps.qps, kqp->q.uidx);
	free_arrays(kqp);
	kfree_rcu(kqp, rcu);
	qp->k = NULL;
}

/* With both of its CQs locked, always in the same order: not by numbers of the backend's. */
static void change(struct xenib_kqp *kqp, void (*how)(struct xenib_kqp *kqp))
{
	struct xenib_cq_queue *first = kqp->q.sq.cq, *second = kqp->q.rq.cq;
	unsigned long flags;

	if (first > second)
		swap(first, second);
	spin_lock_irqsave(&first->lock.spin, flags);
	if (second == first) {
		how(kqp);
	} else {
		spin_lock_nested(&second->lock.spin, SINGLE_DEPTH_NESTING);
		how(kqp);
		spin_unlock(&second->lock.spin);
	}
	spin_unlock_irqrestore(&first->lock.spin, flags);
}

static void join_cqs(struct xenib_kqp *kqp)
{
	struct xenib_kcq *send = xenib_kcq_of(kqp->q.sq.cq), *recv = xenib_kcq_of(kqp->q.rq.cq);

	list_add(&kqp->senders, &send->senders);
	list_add(&kqp->receivers, &recv->receivers);
	xenib_kcq_rearm(send);
	xenib_kcq_rearm(recv);
}

static void clean_cqs(struct xenib_kqp *kqp)
{
	xenib_cq_clean(kqp->q.rq.cq, &kqp->q);
	if (kqp->q.sq.cq != kqp->q.rq.cq)
		xenib_cq_clean(kqp->q.sq.cq, &kqp->q);
}

static void leave_cqs(struct xenib_kqp *kqp)
{
	clean_cqs(kqp);
	list_del(&kqp->senders);
	list_del(&kqp->receivers);
}

static void reset(struct xenib_kqp *kqp)
{
	clean_cqs(kqp);
	xenib_kreads_reset(&kqp->reads);
	xenib_qp_reset_queues(&kqp->q);
}

void xenib_kqp_publish(struct xenib_qp *qp, struct ib_qp_init_attr *init)
{
	struct xenib_kqp *kqp = qp->k;

	kqp->q.sq.qpn = qp->ibqp.qp_num;
	init->cap.max_send_wr = kqp->q.sq.max_wr;
	init->cap.max_recv_wr = kqp->q.rq.max_wr;
	init->cap.max_send_sge = kqp->q.sq.max_sge;
	init->cap.max_recv_sge = kqp->q.rq.max_sge;
	init->cap.max_inline_data = kqp->q.sq.max_inline;
	qp->cap = init->cap;

	change(kqp, join_cqs);
	if (kqp->q.srq) {
		mutex_lock(&kqp->kernel->srq_qps_lock);
		list_add(&kqp->srq_qps, &kqp->kernel->srq_qps);
		mutex_unlock(&kqp->kernel->srq_qps_lock);
	}
	/* In a place that is taken: cannot fail. */
	xa_store_irq(&kqp->kernel->qps.qps, kqp->q.uidx, &kqp->q, 0);
}

void xenib_kqp_withdraw(struct xenib_qp *qp)
{
	struct xenib_kqp *kqp = qp->k;

	mutex_lock(&kqp->kernel->srq_qps_lock);
	list_del_init(&kqp->srq_qps);
	mutex_unlock(&kqp->kernel->srq_qps_lock);
	/* Before the CQs are clean of it: nothing that comes then is its. */
	xa_store_irq(&kqp->kernel->qps.qps, kqp->q.uidx, NULL, 0);
	change(kqp, leave_cqs);
}

/* With the lock of the list held. */
static void end_srq_qp(struct xenib_kqp *kqp)
{
	if (kqp->error && xenib_kcontext_is_dead(kqp->kernel))
		xenib_events_last_wqe(kqp->kernel->ctx.dev->events, &kqp->qp->event_obj);
}

void xenib_kqps_end(struct xenib_kcontext *kernel)
{
	struct xenib_kqp *kqp;

	mutex_lock(&kernel->srq_qps_lock);
	list_for_each_entry(kqp, &kernel->srq_qps, srq_qps)
		end_srq_qp(kqp);
	mutex_unlock(&kernel->srq_qps_lock);
}

static void set_error(struct xenib_kqp *kqp, bool error)
{
	mutex_lock(&kqp->kernel->srq_qps_lock);
	WRITE_ONCE(kqp->error, error);
	if (kqp->q.srq)
		end_srq_qp(kqp);
	mutex_unlock(&kqp->kernel->srq_qps_lock);
}

/* In the error state all that is posted completes, and consumers post to learn when. */
void xenib_kqp_set_state(struct xenib_qp *qp, enum ib_qp_state state)
{
	struct xenib_kqp *kqp = qp->k;

	set_error(kqp, state == IB_QPS_ERR);
	switch (state) {
	case IB_QPS_RESET:
		change(kqp, reset);
		break;
	case IB_QPS_INIT:
		kqp->q.rq.limit = kqp->q.rq.max_wr;
		break;
	case IB_QPS_RTS:
	case IB_QPS_ERR:
		kqp->q.rq.limit = kqp->q.rq.max_wr;
		kqp->q.sq.limit = kqp->q.sq.max_wr;
		break;
	default:
		break;
	}
}
