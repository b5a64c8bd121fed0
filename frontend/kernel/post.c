// SPDX-License-Identifier: GPL-2.0
/*
 * post.c - posting to the kernel's queues.
 *
 * Before anything is posted the pool has the data that it sends (origin.h).
 *
 * A consumer's data is in the pool, and its key is the one that means the pool. It is replaced by
 * the key that the QP's PD has for that place. What is not in the pool is refused. A region has a
 * key of its own, which the HCA is told as it is.
 */
#include "kernel/kverbs.h"
#include "queue/op.h"
#include "queue/recv.h"
#include "queue/send.h"

/* xenib_control_bits() takes verbs' flags. */
static_assert(IB_SEND_FENCE == XENIB_SEND_FENCE);
static_assert(IB_SEND_SIGNALED == XENIB_SEND_SIGNALED);
static_assert(IB_SEND_SOLICITED == XENIB_SEND_SOLICITED);

static int find_key(struct xenib_pool_keys *keys, const struct ib_sge *sge, u32 *lkey)
{
	/* It is flushed: the HCA is not told of it, and knows no such key. */
	if (xenib_pool_is_nowhere(sge->addr)) {
		*lkey = 0;
		return xenib_pool_is_dead(keys->pool) ? 0 : -EINVAL;
	}
	if (likely(sge->lkey == XENIB_POOL_LKEY))
		return xenib_pool_lkey(keys, sge->addr, lkey) ? 0 : -EINVAL;
	*lkey = sge->lkey;
	return xenib_kmr_has(keys, sge->lkey) ? 0 : -EINVAL;
}

static __be32 imm_of(const struct xenib_op *op, const struct ib_send_wr *wr)
{
	if (wr->opcode == IB_WR_REG_MR)
		return cpu_to_be32(reg_wr(wr)->key);
	switch (op->imm) {
	case XENIB_IMM_DATA:
		return wr->ex.imm_data;
	case XENIB_IMM_KEY:
		return cpu_to_be32(wr->ex.invalidate_rkey);
	default:
		return 0;
	}
}

/* From the consumer's own memory */
static int put_inline(struct xenib_sq *sq, struct xenib_wqe *wqe, const struct ib_send_wr *wr)
{
	u8 *at = xenib_inline_data(sq, wqe);
	const struct ib_sge *sge = wr->sg_list;
	u64 length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++, sge++) {
		length += sge->length;
		if (length > sq->max_inline)
			return -ENOMEM;
		xenib_copy_in(sq, &at, (const void *)(uintptr_t)sge->addr, sge->length);
	}
	xenib_inline_end(wqe, length);
	return 0;
}

static int put_sges(struct xenib_kqp *kqp, struct xenib_wqe *wqe, const struct ib_send_wr *wr)
{
	const struct ib_sge *sge = wr->sg_list;
	int i, err;
	u32 lkey;

	for (i = 0; i < wr->num_sge; i++, sge++) {
		err = find_key(kqp->keys, sge, &lkey);
		if (err)
			return err;
		xenib_put_data(&kqp->q.sq, wqe, sge->addr, sge->length, lkey);
	}
	return 0;
}

static int put_atomic(struct xenib_kqp *kqp, struct xenib_wqe *wqe, const struct ib_send_wr *wr)
{
	const struct ib_atomic_wr *atomic = atomic_wr(wr);
	bool cmp_swap = wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP;

	xenib_put_remote(wqe, atomic->remote_addr, atomic->rkey);
	xenib_put_atomic(wqe, cmp_swap ? atomic->swap : atomic->compare_add,
			 cmp_swap ? atomic->compare_add : 0);
	return put_sges(kqp, wqe, wr);
}

/*
 * ib_drain_qp() posts the same WR to QPs of all types, to see it flushed. It is not to be told of
 * while it could be carried out.
 */
static bool is_drain(const struct xenib_kqp *kqp, const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_RDMA_WRITE && !wr->num_sge && READ_ONCE(kqp->error);
}

static void put_address(struct xenib_kqp *kqp, struct xenib_wqe *wqe, const struct ib_send_wr *wr,
			const struct xenib_op *op)
{
	static const struct xenib_av nowhere;

	if (op->form == XENIB_FORM_RDMA)
		xenib_put_address(wqe->seg, &nowhere, 0, 0);
	else
		xenib_put_address(wqe->seg, &to_xah(ud_wr(wr)->ah)->av, ud_wr(wr)->remote_qpn,
				  ud_wr(wr)->remote_qkey);
	xenib_skip_address(&kqp->q.sq, wqe);
}

/* A region is of the PD of the QP. The WRs behind it wait until it is done. */
static int put_reg(struct xenib_kqp *kqp, struct xenib_wqe *wqe, const struct ib_send_wr *wr)
{
	const struct xenib_kmr *kmr;
	struct xenib_region region;

	if (wr->opcode != IB_WR_REG_MR) {
		xenib_put_invalidate(&kqp->q.sq, wqe);
		return 0;
	}
	kmr = container_of(to_xmr(reg_wr(wr)->mr), struct xenib_kmr, mr);
	if (kmr->keys != kqp->keys || !kmr->count)
		return -EINVAL;
	region = (struct xenib_region){
		.new_key = reg_wr(wr)->key,
		.access = reg_wr(wr)->access,
		.start = kmr->mr.ibmr.iova,
		.length = kmr->mr.ibmr.length,
		.count = kmr->count,
		.entries = kmr->entries,
	};
	if (kmr->count > XENIB_INLINE_ENTRIES) {
		region.list = kmr->list_addr;
		if (!xenib_pool_lkey(kqp->keys, region.list, &region.list_lkey))
			return -EINVAL;
	}
	xenib_put_region(&kqp->q.sq, wqe, &region);
	return 0;
}

/* What the WQE has behind its control segment. */
static int put_rest(struct xenib_kqp *kqp, struct xenib_wqe *wqe, const struct ib_send_wr *wr,
		    const struct xenib_op *op)
{
	struct xenib_sq *sq = &kqp->q.sq;

	if (op->form == XENIB_FORM_BIND)
		return put_reg(kqp, wqe, wr);
	if (kqp->qp->ibqp.qp_type == IB_QPT_UD)
		put_address(kqp, wqe, wr, op);
	else if (op->form == XENIB_FORM_ATOMIC)
		return put_atomic(kqp, wqe, wr);
	else if (op->form == XENIB_FORM_RDMA)
		xenib_put_remote(wqe, rdma_wr(wr)->remote_addr, rdma_wr(wr)->rkey);
	if (wr->send_flags & IB_SEND_INLINE)
		return put_inline(sq, wqe, wr);
	return put_sges(kqp, wqe, wr);
}

/* Registering is not an operation of processes, and binding none of the kernel. */
static const struct xenib_op *op_of(const struct ib_send_wr *wr)
{
	static const struct xenib_op reg = {
		.opcode = XENIB_OPCODE_UMR,
		.wc_opcode = IB_WC_REG_MR,
		.form = XENIB_FORM_BIND,
		.types = XENIB_OP_RC | XENIB_OP_UC,
	};

	if (wr->opcode == IB_WR_REG_MR)
		return &reg;
	if ((unsigned int)wr->opcode >= XENIB_OPS || wr->opcode == IB_WR_BIND_MW)
		return NULL;
	return &xenib_ops[wr->opcode];
}

/* The operation of a WR that can be posted now. */
static const struct xenib_op *check(struct xenib_kqp *kqp, const struct ib_send_wr *wr, u32 number,
				    int *err)
{
	const struct xenib_op *op;

	*err = -EINVAL;
	op = op_of(wr);
	if (!op || (!(op->types & BIT(kqp->qp->ibqp.qp_type)) && !is_drain(kqp, wr)))
		return NULL;
	if (wr->send_flags & IB_SEND_INLINE && !op->may_inline)
		return NULL;
	if (wr->num_sge < 0 || wr->num_sge > kqp->q.sq.max_sge)
		return NULL;
	*err = -ENOMEM;
	return xenib_sq_is_full(&kqp->q.sq, number) ? NULL : op;
}

static int build(struct xenib_kqp *kqp, const struct ib_send_wr *wr, u32 number,
		 struct xenib_wqe *wqe)
{
	struct xenib_kwr *kwr = &kqp->wrs[number & kqp->wr_mask];
	struct xenib_sq *sq = &kqp->q.sq;
	const struct xenib_op *op;
	int err;

	op = check(kqp, wr, number, &err);
	if (!op)
		return err;
	xenib_wqe_begin(sq, wqe, op->opcode, xenib_control_bits(sq, wr->send_flags),
			imm_of(op, wr));
	err = put_rest(kqp, wqe, wr, op);
	if (err)
		return err;
	if (op->opcode == XENIB_OPCODE_RDMA_READ || op->form == XENIB_FORM_ATOMIC)
		xenib_kreads_note(&kqp->reads, number, wr);
	kwr->wr_id = wr->wr_id;
	kwr->opcode = op->wc_opcode;
	xenib_wqe_remember(sq, number, wr->wr_id, op->wc_opcode);
	xenib_wqe_end(sq, wqe);
	sq->next_fence = op->form == XENIB_FORM_BIND ? XENIB_CTRL_SMALL_FENCE : 0;
	return 0;
}

/* Tells the HCA, or, once the backend is gone, whoever waits for completions. */
static void ring(struct xenib_kqp *kqp, u32 count, const struct xenib_ctrl_seg *ctrl, u32 ds)
{
	struct xenib_sq *sq = &kqp->q.sq;

	/* Whoever polls sees what is noted of the WRs before it sees how many there are. */
	smp_wmb();
	if (likely(!xenib_kcontext_is_dead(kqp->kernel))) {
		xenib_sq_ring(sq, count, ctrl, ds);
	} else {
		WRITE_ONCE(sq->head, sq->head + count);
		xenib_kcontext_wake(kqp->kernel);
	}
}

static bool sends_data(const struct ib_send_wr *wr)
{
	static const u32 opcodes = BIT(IB_WR_SEND) | BIT(IB_WR_SEND_WITH_IMM) |
				   BIT(IB_WR_SEND_WITH_INV) | BIT(IB_WR_RDMA_WRITE) |
				   BIT(IB_WR_RDMA_WRITE_WITH_IMM);

	return wr->opcode < BITS_PER_TYPE(opcodes) && BIT(wr->opcode) & opcodes &&
	       !(wr->send_flags & IB_SEND_INLINE);
}

/*
 * Without a lock, as it takes its time. The addresses of a region's key are not the pool's, which
 * got that data when the region's list was mapped.
 */
static void fetch_data(struct xenib_kcontext *kernel, const struct ib_send_wr *wr)
{
	int i;

	for (; wr; wr = wr->next) {
		if (!sends_data(wr))
			continue;
		for (i = 0; i < wr->num_sge; i++) {
			if (wr->sg_list[i].lkey == XENIB_POOL_LKEY)
				xenib_origin_fetch(&kernel->pool, wr->sg_list[i].addr,
						   wr->sg_list[i].length);
		}
	}
}

/* WRs before a bad one are posted. */
int xenib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr)
{
	struct xenib_kcontext *kernel = to_xdev(ibqp->device)->kernel;
	struct xenib_kqp *kqp = to_xqp(ibqp)->k;
	const struct xenib_ctrl_seg *ctrl = NULL;
	struct xenib_sq *sq = &kqp->q.sq;
	struct xenib_wqe wqe;
	u32 ds = 0, count;
	unsigned long flags;
	int err = 0;

	/* Once the backend is gone, what is in the pool stays as it is. */
	if (likely(!xenib_kcontext_is_dead(kernel)))
		fetch_data(kernel, wr);
	if (unlikely(!kqp))
		return xenib_gsi_post_send(to_xqp(ibqp), wr, bad_wr);
	spin_lock_irqsave(&sq->lock.spin, flags);
	for (count = 0; wr; count++, wr = wr->next) {
		err = build(kqp, wr, sq->head + count, &wqe);
		if (err) {
			*bad_wr = wr;
			break;
		}
		ctrl = wqe.ctrl;
		ds = wqe.ds;
	}
	if (count)
		ring(kqp, count, ctrl, ds);
	spin_unlock_irqrestore(&sq->lock.spin, flags);
	return err;
}

int xenib_kput_scatter(struct xenib_pool_keys *keys, struct xenib_data_seg *seg, u32 max_sge,
		       const struct ib_recv_wr *wr)
{
	const struct ib_sge *sge = wr->sg_list;
	u32 used = 0, lkey;
	int i, err;

	for (i = 0; i < wr->num_sge; i++, sge++) {
		err = find_key(keys, sge, &lkey);
		if (err)
			return err;
		used = xenib_put_scatter(seg, used, sge->addr, sge->length, lkey);
	}
	xenib_end_scatter(seg, used, max_sge);
	return 0;
}

static int build_recv(struct xenib_kqp *kqp, const struct ib_recv_wr *wr, u32 head)
{
	struct xenib_rq *rq = &kqp->q.rq;
	u32 index = head & rq->mask;
	int err;

	if (!rq->max_wr || wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;
	if (xenib_rq_is_full(rq, head))
		return rq->limit ? -ENOMEM : -EINVAL;
	err = xenib_kput_scatter(kqp->keys, xenib_rq_segs(rq, index), rq->max_sge, wr);
	if (err)
		return err;
	xenib_krecvs_note(&kqp->recvs, index, wr);
	rq->wr_id[index] = wr->wr_id;
	return 0;
}

int xenib_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr)
{
	struct xenib_kqp *kqp = to_xqp(ibqp)->k;
	struct xenib_rq *rq = &kqp->q.rq;
	unsigned long flags;
	int err = 0;
	u32 head;
	bool dead;

	if (unlikely(!kqp))
		return xenib_gsi_post_recv(to_xqp(ibqp), wr, bad_wr);
	spin_lock_irqsave(&rq->lock.spin, flags);
	for (head = rq->head; wr; head++, wr = wr->next) {
		err = build_recv(kqp, wr, head);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (head != rq->head) {
		/* As in ring() */
		smp_wmb();
		dead = xenib_kcontext_is_dead(kqp->kernel);
		xenib_rq_ring(rq, head);
		if (unlikely(dead))
			xenib_kcontext_wake(kqp->kernel);
	}
	spin_unlock_irqrestore(&rq->lock.spin, flags);
	return err;
}
