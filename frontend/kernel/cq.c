// SPDX-License-Identifier: GPL-2.0
/*
 * cq.c - the kernel's completion queues.
 *
 * Once the backend is gone nothing is left of the HCA's work, and each WR that was posted completes
 * as flushed: after what the HCA has told, whoever polls is given these, in the order in which they
 * were posted. That takes no memory, and so cannot fail.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "kernel/kverbs.h"
#include "queue/cqe.h"

/* CQEs that complete nothing, in one call. */
#define BAD_CQES 16

/* As xenib_error_status() has them */
XENIB_CHECK_STATUSES(IB_WC_);

/* The WR with that number, and all before it, are done with. */
static struct xenib_kwr complete_sends(struct xenib_kqp *kqp, u32 number)
{
	struct xenib_kwr wr = kqp->wrs[number & kqp->wr_mask];

	if (xenib_kreads_take(&kqp->reads, number))
		xenib_kcq_of(kqp->q.sq.cq)->has_copied = true;
	/* Others may be posted in their place. */
	smp_store_release(&kqp->q.sq.tail, number + 1);
	return wr;
}

/* What the CQE says to have been sent. False: nothing that is under way. */
static bool sent(struct xenib_kqp *kqp, const struct xenib_cqe *cqe, struct xenib_kwr *wr)
{
	struct xenib_sq *sq = &kqp->q.sq;
	u32 number, under_way;
	u16 block;

	block = be16_to_cpu(READ_ONCE(cqe->wqe_counter));
	number = READ_ONCE(sq->sent[block & sq->mask].number);
	/* Pairs with ring() of post.c. */
	under_way = smp_load_acquire(&sq->head) - sq->tail;
	if (number - sq->tail >= under_way)
		return false;
	*wr = complete_sends(kqp, number);
	return true;
}

/* Octets that a datagram begins with, and that the HCA has not written. */
static u32 skipped(const struct xenib_kqp *kqp, const struct xenib_cqe *cqe)
{
	if (kqp->qp->ibqp.qp_type != IB_QPT_UD ||
	    xenib_source_has_grh(be32_to_cpu(READ_ONCE(cqe->flags_qpn))))
		return 0;
	return sizeof(struct ib_grh);
}

/*
 * The WR that a message was received with: they complete in their order.
 * bytes, fits: as xenib_krecvs_take()
 */
static bool received(struct xenib_kqp *kqp, const struct xenib_cqe *cqe, u32 bytes, u64 *wr_id,
		     bool *fits)
{
	u32 skip = skipped(kqp, cqe);
	struct xenib_rq *rq = &kqp->q.rq;
	u32 index;

	if (kqp->q.srq)
		return xenib_ksrq_take(kqp->q.srq, be16_to_cpu(READ_ONCE(cqe->wqe_counter)), skip,
				       bytes, wr_id, fits);
	/* Pairs with xenib_post_recv(). */
	if (smp_load_acquire(&rq->head) == rq->tail)
		return false;
	index = rq->tail & rq->mask;
	*wr_id = rq->wr_id[index];
	*fits = xenib_krecvs_take(&kqp->recvs, index, skip, bytes);
	WRITE_ONCE(rq->tail, rq->tail + 1);
	return true;
}

static bool fill_send(struct xenib_kqp *kqp, const struct xenib_cqe *cqe, struct ib_wc *wc)
{
	struct xenib_kwr wr;

	if (!sent(kqp, cqe, &wr))
		return false;
	wc->wr_id = wr.wr_id;
	wc->opcode = wr.opcode;
	wc->byte_len = xenib_cqe_sent_bytes(cqe, wr.opcode);
	return true;
}

static bool fill_recv(struct xenib_kqp *kqp, const struct xenib_cqe *cqe, u8 kind, struct ib_wc *wc)
{
	u32 bytes = be32_to_cpu(READ_ONCE(cqe->byte_count));
	__be32 imm = READ_ONCE(cqe->imm);
	u32 source, message;
	bool fits;

	/* Consumers believe that it is the length of what is in their buffer, which RDMA is not. */
	message = kind == XENIB_CQE_RESP_WR_IMM ? 0 : bytes;
	if (!received(kqp, cqe, message, &wc->wr_id, &fits))
		return false;
	if (!fits) {
		wc->status = IB_WC_LOC_LEN_ERR;
		return true;
	}
	wc->opcode = IB_WC_RECV;
	wc->byte_len = bytes;
	switch (kind) {
	case XENIB_CQE_RESP_WR_IMM:
		wc->opcode = IB_WC_RECV_RDMA_WITH_IMM;
		fallthrough;
	case XENIB_CQE_RESP_SEND_IMM:
		wc->wc_flags = IB_WC_WITH_IMM;
		wc->ex.imm_data = imm;
		break;
	case XENIB_CQE_RESP_SEND_INV:
		wc->wc_flags = IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = be32_to_cpu(imm);
		break;
	}

	source = be32_to_cpu(READ_ONCE(cqe->flags_qpn));
	wc->src_qp = xenib_source_qpn(source);
	wc->sl = xenib_source_sl(source);
	if (xenib_source_has_grh(source))
		wc->wc_flags |= IB_WC_GRH;
	wc->slid = be16_to_cpu(READ_ONCE(cqe->slid));
	wc->dlid_path_bits = READ_ONCE(cqe->path_bits) & 0x7f;
	wc->pkey_index = be32_to_cpu(imm) & 0xffff;
	wc->port_num = XENIB_PORT;
	return true;
}

static bool fill_error(struct xenib_kqp *kqp, const struct xenib_cqe *cqe, struct ib_wc *wc,
		       bool send)
{
	struct xenib_kwr wr;
	bool fits;

	if (send) {
		if (!sent(kqp, cqe, &wr))
			return false;
		wc->wr_id = wr.wr_id;
	} else if (!received(kqp, cqe, 0, &wc->wr_id, &fits)) {
		return false;
	}
	wc->status = (enum ib_wc_status)xenib_error_status(READ_ONCE(cqe->syndrome));
	wc->vendor_err = READ_ONCE(cqe->vendor_syndrome);
	return true;
}

/* False: it completes nothing that waits for it here. */
static bool fill(struct xenib_cq_queue *cq, const struct xenib_cqe *cqe, u8 kind, struct ib_wc *wc)
{
	struct xenib_qp_queues *q = xenib_cqe_qp(cq, cqe);
	bool send = kind == XENIB_CQE_REQ || kind == XENIB_CQE_REQ_ERR;
	struct xenib_kqp *kqp;

	/* Its queue is locked by that CQ's lock alone. */
	if (!q || (send ? q->sq.cq : q->rq.cq) != cq)
		return false;
	kqp = container_of(q, struct xenib_kqp, q);
	memset(wc, 0, sizeof(*wc));
	wc->status = IB_WC_SUCCESS;
	wc->qp = &kqp->qp->ibqp;
	switch (kind) {
	case XENIB_CQE_REQ:
		return fill_send(kqp, cqe, wc);
	case XENIB_CQE_RESP_WR_IMM:
	case XENIB_CQE_RESP_SEND:
	case XENIB_CQE_RESP_SEND_IMM:
	case XENIB_CQE_RESP_SEND_INV:
		return fill_recv(kqp, cqe, kind, wc);
	case XENIB_CQE_REQ_ERR:
	case XENIB_CQE_RESP_ERR:
		return fill_error(kqp, cqe, wc, send);
	default:
		return false;
	}
}

static int poll_cqes(struct xenib_kcq *k, int entries, struct ib_wc *wc)
{
	unsigned int bad = 0;
	struct xenib_cqe *cqe;
	int n = 0;
	u8 own;

	k->has_copied = false;
	while (n < entries && bad < BAD_CQES && !k->has_copied) {
		cqe = xenib_next_cqe(&k->q, &own);
		if (!cqe)
			break;
		if (fill(&k->q, cqe, own >> 4, wc + n))
			n++;
		else
			bad++;
		k->q.next++;
	}
	if (n || bad)
		xenib_cq_tell_consumed(&k->q);
	return n;
}

static void fill_flushed(struct xenib_kqp *kqp, u64 wr_id, struct ib_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = wr_id;
	wc->status = IB_WC_WR_FLUSH_ERR;
	wc->qp = &kqp->qp->ibqp;
}

static int flush_sends(struct xenib_kqp *kqp, int entries, struct ib_wc *wc)
{
	/* As in sent() */
	u32 head = smp_load_acquire(&kqp->q.sq.head);
	int n;

	for (n = 0; n < entries && kqp->q.sq.tail != head; n++)
		fill_flushed(kqp, complete_sends(kqp, kqp->q.sq.tail).wr_id, wc + n);
	return n;
}

static int flush_recvs(struct xenib_kqp *kqp, int entries, struct ib_wc *wc)
{
	struct xenib_rq *rq = &kqp->q.rq;
	/* As in received() */
	u32 head = smp_load_acquire(&rq->head);
	int n;

	for (n = 0; n < entries && rq->tail != head; n++) {
		fill_flushed(kqp, rq->wr_id[rq->tail & rq->mask], wc + n);
		WRITE_ONCE(rq->tail, rq->tail + 1);
	}
	return n;
}

static int flush(struct xenib_kcq *k, int entries, struct ib_wc *wc)
{
	struct xenib_kqp *kqp;
	int n = 0;

	list_for_each_entry(kqp, &k->senders, senders)
		n += flush_sends(kqp, entries - n, wc + n);
	list_for_each_entry(kqp, &k->receivers, receivers)
		n += flush_recvs(kqp, entries - n, wc + n);
	return n;
}

static int poll_soft(struct xenib_kcq *k, int entries, struct ib_wc *wc)
{
	int n;

	for (n = 0; n < entries && k->soft_tail != k->soft_head; n++)
		wc[n] = k->soft[k->soft_tail++ & k->soft_mask];
	return n;
}

/* Under the lock: those that wait are in a larger ring. Returns the one that is to be freed. */
static struct ib_wc *replace_soft(struct xenib_kcq *k, struct ib_wc *soft, u32 mask)
{
	struct ib_wc *old = k->soft;
	u32 i;

	if (old && k->soft_mask >= mask)
		return soft;
	for (i = k->soft_tail; i != k->soft_head; i++)
		soft[i & mask] = old[i & k->soft_mask];
	k->soft = soft;
	k->soft_mask = mask;
	return old;
}

/* Whoever has counted last makes a ring that is large enough for all. */
int xenib_kcq_add_soft(struct xenib_kcq *k, u32 count)
{
	struct ib_wc *soft;
	u32 entries;

	spin_lock_irq(&k->q.lock.spin);
	k->soft_count += count;
	entries = roundup_pow_of_two(k->soft_count);
	spin_unlock_irq(&k->q.lock.spin);
	soft = kvcalloc(entries, sizeof(*soft), GFP_KERNEL);
	if (!soft) {
		xenib_kcq_drop_soft(k, count);
		return -ENOMEM;
	}
	spin_lock_irq(&k->q.lock.spin);
	soft = replace_soft(k, soft, entries - 1);
	spin_unlock_irq(&k->q.lock.spin);
	kvfree(soft);
	return 0;
}

void xenib_kcq_drop_soft(struct xenib_kcq *k, u32 count)
{
	spin_lock_irq(&k->q.lock.spin);
	k->soft_count -= count;
	spin_unlock_irq(&k->q.lock.spin);
}

/* Nobody else tells of it: the HCA does not know of it. */
void xenib_kcq_complete(struct xenib_kcq *k, const struct ib_wc *wc)
{
	struct ib_cq *ibcq = &k->cq->ibcq;
	bool armed;

	spin_lock_irq(&k->q.lock.spin);
	if (!WARN_ON_ONCE(k->soft_head - k->soft_tail > k->soft_mask))
		k->soft[k->soft_head++ & k->soft_mask] = *wc;
	armed = k->armed;
	k->armed = false;
	spin_unlock_irq(&k->q.lock.spin);
	if (armed)
		ibcq->comp_handler(ibcq, ibcq->cq_context);
}

void xenib_kcq_clean_soft(struct xenib_kcq *k, const struct ib_qp *ibqp)
{
	u32 from, to;

	spin_lock_irq(&k->q.lock.spin);
	for (from = to = k->soft_tail; from != k->soft_head; from++) {
		if (k->soft[from & k->soft_mask].qp != ibqp)
			k->soft[to++ & k->soft_mask] = k->soft[from & k->soft_mask];
	}
	k->soft_head = to;
	spin_unlock_irq(&k->q.lock.spin);
}

static int poll(struct xenib_kcq *k, int entries, struct ib_wc *wc)
{
	int n;

	n = poll_cqes(k, entries, wc);
	if (unlikely(k->soft))
		n += poll_soft(k, entries - n, wc + n);
	/* Behind all that has been carried out */
	if (unlikely(n < entries && !k->has_copied && xenib_kcontext_is_dead(k->kernel)))
		n += flush(k, entries - n, wc + n);
	return n;
}

/* What was read may be much: interrupts are off for as long as the data of one completion takes. */
int xenib_poll_cq(struct ib_cq *ibcq, int entries, struct ib_wc *wc)
{
	struct xenib_kcq *k = to_xcq(ibcq)->k;
	unsigned long flags;
	bool has_copied;
	int n = 0;

	do {
		spin_lock_irqsave(&k->q.lock.spin, flags);
		n += poll(k, entries - n, wc + n);
		has_copied = k->has_copied;
		spin_unlock_irqrestore(&k->q.lock.spin, flags);
	} while (unlikely(has_copied && n < entries));
	return n;
}

/* Whether there is anything that flush() would find. */
static bool is_flushing(const struct xenib_kcq *k)
{
	struct xenib_kqp *kqp;

	if (!xenib_kcontext_is_dead(k->kernel))
		return false;
	list_for_each_entry(kqp, &k->senders, senders)
		if (READ_ONCE(kqp->q.sq.head) != kqp->q.sq.tail)
			return true;
	list_for_each_entry(kqp, &k->receivers, receivers)
		if (READ_ONCE(kqp->q.rq.head) != kqp->q.rq.tail)
			return true;
	return false;
}

static void arm(struct xenib_kcq *k)
{
	k->hca_armed = true;
	xenib_cq_arm(&k->q, k->solicited);
}

/* The consumer has asked already, and is not to hear of a QP that it does not know yet. */
void xenib_kcq_rearm(struct xenib_kcq *k)
{
	if (k->armed && !k->hca_armed)
		arm(k);
}

/* Of completions that are there the HCA tells: only of those it has not made an event is missed. */
int xenib_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct xenib_kcq *k = to_xcq(ibcq)->k;
	bool flushing, soft;
	unsigned long irqs;

	spin_lock_irqsave(&k->q.lock.spin, irqs);
	k->armed = true;
	k->solicited = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED;
	arm(k);
	flushing = is_flushing(k);
	soft = k->soft_head != k->soft_tail;
	spin_unlock_irqrestore(&k->q.lock.spin, irqs);

	/* Once the backend is gone nobody else tells of them. */
	if (unlikely(flushing))
		xenib_kcontext_wake(k->kernel);
	return flags & IB_CQ_REPORT_MISSED_EVENTS && (flushing || soft);
}

int xenib_kcq_init(struct xenib_cq *cq, u32 entries)
{
	struct xenib_kcontext *kernel = to_xdev(cq->ibcq.device)->kernel;
	struct xenib_kcq *k;
	int err;

	if (!kernel)
		return -EOPNOTSUPP;
	k = kzalloc(sizeof(*k), GFP_KERNEL);
	if (!k)
		return -ENOMEM;
	k->cq = cq;
	k->kernel = kernel;
	INIT_LIST_HEAD(&k->senders);
	INIT_LIST_HEAD(&k->receivers);
	xenib_lock_init(&k->q.lock);

	err = xenib_queue_mem_get_kernel(&kernel->ctx, &cq->mem, &kernel->uar.uar,
					 (size_t)entries << XENIB_CQE_SHIFT);
	if (err) {
		kfree(k);
		return err;
	}
	k->q.mask = entries - 1;
	k->q.cqes = xenib_arena_addr_kva(&cq->mem.buf);
	k->q.dbrec = xenib_arena_addr_kva(&cq->mem.dbr);
	k->q.qps = &kernel->qps;
	k->q.bell = &kernel->uar.bell;
	xenib_cq_init_cqes(&k->q);
	cq->k = k;
	return 0;
}

void xenib_kcq_exit(struct xenib_cq *cq)
{
	kvfree(cq->k->soft);
	kfree(cq->k);
}

void xenib_kcq_publish(struct xenib_cq *cq)
{
	struct xenib_kcq *k = cq->k;

	k->q.cqn = cq->cqn;
	spin_lock_irq(&k->kernel->lock);
	list_add(&k->list, &k->kernel->cqs);
	spin_unlock_irq(&k->kernel->lock);
}

/* No handler of it runs any more that wake_work() has called. */
void xenib_kcq_withdraw(struct xenib_cq *cq)
{
	struct xenib_kcq *k = cq->k;

	spin_lock_irq(&k->kernel->lock);
	list_del(&k->list);
	spin_unlock_irq(&k->kernel->lock);
}
