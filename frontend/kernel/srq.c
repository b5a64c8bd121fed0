// SPDX-License-Identifier: GPL-2.0
/*
 * srq.c - the kernel's shared receive queues.
 *
 * What is in an SRQ when the backend goes completes for nobody, as nothing of it belongs to a QP.
 * Consumers learn that by the event that tells of a QP's last WQE (context.c).
 */
#include <linux/slab.h>

#include "kernel/kverbs.h"
#include "queue/recv.h"
#include "queue/srq.h"

static struct xenib_ksrq *ksrq_of(struct xenib_srq_queue *q)
{
	return container_of(q, struct xenib_ksrq, q);
}

bool xenib_ksrq_take(struct xenib_srq_queue *q, u16 index, u32 skip, u32 bytes, u64 *wr_id,
		     bool *fits)
{
	struct xenib_ksrq *k = ksrq_of(q);
	bool took;

	index &= q->mask; /* the backend may have written any value */
	/* Nobody posts to that WQE before its message is copied. */
	spin_lock(&k->lock);
	took = xenib_srq_take(q, index, wr_id);
	if (took)
		*fits = xenib_krecvs_take(&k->recvs, index, skip, bytes);
	spin_unlock(&k->lock);
	return took;
}

static int build(struct xenib_ksrq *k, const struct ib_recv_wr *wr)
{
	struct xenib_srq_queue *q = &k->q;
	struct xenib_srq_wqe *wqe = &q->wqe[q->head];
	int err;

	if (wr->num_sge < 0 || wr->num_sge > q->max_sge)
		return -EINVAL;
	if (q->head == q->tail)
		return -ENOMEM;
	err = xenib_kput_scatter(k->keys, xenib_srq_segs(q, q->head), q->max_sge, wr);
	if (err)
		return err;
	xenib_krecvs_note(&k->recvs, q->head, wr);
	wqe->wr_id = wr->wr_id;
	wqe->posted = true;
	q->head = wqe->next;
	return 0;
}

int xenib_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr)
{
	struct xenib_ksrq *k = to_xsrq(ibsrq)->k;
	struct xenib_srq_queue *q = &k->q;
	unsigned long flags;
	int err = 0;
	u32 posted;

	spin_lock_irqsave(&k->lock, flags);
	xenib_lock(&q->lock);
	for (posted = q->posted; wr; posted++, wr = wr->next) {
		err = build(k, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (posted != q->posted)
		xenib_srq_ring(q, posted);
	xenib_unlock(&q->lock);
	spin_unlock_irqrestore(&k->lock, flags);
	return err;
}

static int alloc_arrays(struct xenib_ksrq *k, struct xenib_pool *pool)
{
	u32 wqes = k->q.mask + 1;

	k->q.wqe = kvcalloc(wqes, sizeof(*k->q.wqe), GFP_KERNEL);
	if (!k->q.wqe)
		return -ENOMEM;
	return xenib_krecvs_alloc(&k->recvs, pool, wqes, k->q.max_sge);
}

static void free_ksrq(struct xenib_ksrq *k)
{
	kvfree(k->q.wqe);
	xenib_krecvs_free(&k->recvs);
	kfree(k);
}

int xenib_ksrq_init(struct xenib_srq *srq, const struct ib_srq_attr *attr)
{
	struct xenib_kcontext *kernel = to_xdev(srq->ibsrq.device)->kernel;
	struct xenib_pool_keys *keys;
	struct xenib_ksrq *k;
	int err;

	if (!kernel)
		return -EOPNOTSUPP;
	keys = xenib_pool_keys_get(&kernel->pool, to_xpd(srq->ibsrq.pd));
	if (IS_ERR(keys))
		return PTR_ERR(keys);
	k = kzalloc(sizeof(*k), GFP_KERNEL);
	if (!k)
		return -ENOMEM;
	k->keys = keys;
	spin_lock_init(&k->lock);
	xenib_lock_init(&k->q.lock);
	err = -EINVAL;
	if (!xenib_size_srq(&kernel->limits, attr->max_wr, attr->max_sge, &k->q))
		goto err_free;
	err = alloc_arrays(k, &kernel->pool);
	if (err)
		goto err_free;
	err = xenib_queue_mem_get_kernel(&kernel->ctx, &srq->mem, NULL,
					 (size_t)(k->q.mask + 1) << k->q.shift);
	if (err)
		goto err_free;
	k->q.wqes = xenib_arena_addr_kva(&srq->mem.buf);
	k->q.dbrec = xenib_arena_addr_kva(&srq->mem.dbr);
	xenib_srq_init_list(&k->q);
	srq->k = k;
	return 0;

err_free:
	free_ksrq(k);
	return err;
}

void xenib_ksrq_exit(struct xenib_srq *srq)
{
	free_ksrq(srq->k);
	srq->k = NULL;
}
