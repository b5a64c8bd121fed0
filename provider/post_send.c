// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * post_send.c - ibv_post_send().
 */
#include <errno.h>

#include "ah.h"
#include "qp.h"
#include "queue/op.h"
#include "queue/send.h"
#include "verbs.h"

static_assert(IBV_SEND_FENCE == XENIB_SEND_FENCE && IBV_SEND_SIGNALED == XENIB_SEND_SIGNALED &&
		      IBV_SEND_SOLICITED == XENIB_SEND_SOLICITED,
	      "xenib_control_bits() takes verbs' flags");

static __always_inline __be32 imm_of(const struct xenib_op *op, const struct ibv_send_wr *wr)
{
	switch (op->imm) {
	case XENIB_IMM_DATA:
		return wr->imm_data;
	case XENIB_IMM_KEY:
		return htobe32(wr->invalidate_rkey);
	default:
		return 0;
	}
}

static __always_inline int put_inline(struct xenib_sq *sq, struct xenib_wqe *wqe,
				      const struct ibv_send_wr *wr)
{
	uint8_t *at = xenib_inline_data(sq, wqe);
	const struct ibv_sge *sge = wr->sg_list;
	uint64_t length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++, sge++) {
		length += sge->length;
		if (unlikely(length > sq->max_inline))
			return ENOMEM;
		xenib_copy_in(sq, &at, (const void *)(uintptr_t)sge->addr, sge->length);
	}
	xenib_inline_end(wqe, length);
	return 0;
}

static __always_inline void put_sges(struct xenib_sq *sq, struct xenib_wqe *wqe,
				     const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list;
	int i;

	for (i = 0; i < wr->num_sge; i++, sge++)
		xenib_put_data(sq, wqe, sge->addr, sge->length, sge->lkey);
}

static __always_inline void put_atomic(struct xenib_sq *sq, struct xenib_wqe *wqe,
				       const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list;
	bool cmp_swap = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
	int i;

	xenib_put_remote(wqe, wr->wr.atomic.remote_addr, wr->wr.atomic.rkey);
	xenib_put_atomic(wqe, cmp_swap ? wr->wr.atomic.swap : wr->wr.atomic.compare_add,
			 cmp_swap ? wr->wr.atomic.compare_add : 0);
	for (i = 0; i < wr->num_sge; i++, sge++)
		xenib_put_data(sq, wqe, sge->addr, sge->length ? XENIB_ATOMIC_SIZE : 0, sge->lkey);
}

/* Works on a copy, so that in all other cases the WQE's description stays in registers. */
static __always_inline int put_bind(struct xenib_sq *sq, struct xenib_wqe *wqe,
				    const struct ibv_send_wr *wr)
{
	static const struct ibv_mw_bind_info none;
	struct xenib_wqe copy = *wqe;
	int err;

	if (wr->opcode == IBV_WR_LOCAL_INV) {
		err = xenib_put_mw(sq, &copy, IBV_MW_TYPE_2, 0, &none);
	} else {
		copy.ctrl->imm = htobe32(wr->bind_mw.mw->rkey);
		err = xenib_put_mw(sq, &copy, wr->bind_mw.mw->type, wr->bind_mw.rkey,
				   &wr->bind_mw.bind_info);
	}
	*wqe = copy;
	return err;
}

/* Builds the WQE of one WR; type is the QP's, known to the compiler. */
static __always_inline int build(struct xenib_sq *sq, const struct ibv_send_wr *wr, uint32_t number,
				 struct xenib_wqe *wqe, enum ibv_qp_type type)
{
	const struct xenib_op *op;
	uint8_t fence = 0;
	int err;

	if (unlikely((unsigned int)wr->opcode >= XENIB_OPS))
		return EINVAL;
	op = &xenib_ops[wr->opcode];
	if (unlikely(!(op->types & 1u << type)))
		return EINVAL;
	if (unlikely(xenib_sq_is_full(sq, number))) {
		err = xenib_qp_open_sq(container_of(sq, struct xenib_qp, q.sq));
		if (err)
			return err;
	}
	if (unlikely((uint32_t)wr->num_sge > sq->max_sge && op->form != XENIB_FORM_BIND))
		return ENOMEM;

	xenib_wqe_begin(sq, wqe, op->opcode, xenib_control_bits(sq, wr->send_flags),
			imm_of(op, wr));

	if (type == IBV_QPT_XRC_SEND) {
		xenib_put_srqn(wqe->seg, wr->qp_type.xrc.remote_srqn);
		xenib_skip_srqn(wqe);
	}
	if (type == IBV_QPT_UD) {
		xenib_put_address(wqe->seg, &to_xah(wr->wr.ud.ah)->av, wr->wr.ud.remote_qpn,
				  wr->wr.ud.remote_qkey);
		xenib_skip_address(sq, wqe);
	}

	if (op->form == XENIB_FORM_BIND) {
		err = put_bind(sq, wqe, wr);
		if (err)
			return err;
		fence = XENIB_CTRL_SMALL_FENCE;
	} else if (op->form == XENIB_FORM_ATOMIC) {
		if (unlikely(wr->send_flags & IBV_SEND_INLINE))
			return EINVAL;
		put_atomic(sq, wqe, wr);
	} else {
		if (type != IBV_QPT_UD && op->form == XENIB_FORM_RDMA)
			xenib_put_remote(wqe, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);

		if (!(wr->send_flags & IBV_SEND_INLINE)) {
			put_sges(sq, wqe, wr);
		} else {
			if (unlikely(!op->may_inline))
				return EINVAL;
			err = put_inline(sq, wqe, wr);
			if (unlikely(err))
				return err;
		}
	}

	xenib_wqe_remember(sq, number, wr->wr_id, op->wc_opcode);
	xenib_wqe_end(sq, wqe);
	sq->next_fence = fence;
	return 0;
}

/* WRs before a bad one are posted. */
static __always_inline int post(struct xenib_sq *sq, struct ibv_send_wr *wr,
				struct ibv_send_wr **bad_wr, enum ibv_qp_type type)
{
	const struct xenib_ctrl_seg *ctrl = NULL;
	struct xenib_wqe wqe;
	uint32_t ds = 0, count;
	int err = 0;

	xenib_lock(&sq->lock);

	for (count = 0; wr; count++, wr = wr->next) {
		err = build(sq, wr, sq->head + count, &wqe, type);
		if (unlikely(err)) {
			*bad_wr = wr;
			break;
		}
		ctrl = wqe.ctrl;
		ds = wqe.ds;
	}
	if (likely(count))
		xenib_sq_ring(sq, count, ctrl, ds);

	xenib_unlock(&sq->lock);
	return err;
}

int xenib_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct xenib_sq *sq = &to_xqp(ibqp)->q.sq;

	switch (ibqp->qp_type) {
	case IBV_QPT_RC:
		return post(sq, wr, bad_wr, IBV_QPT_RC);
	case IBV_QPT_UC:
		return post(sq, wr, bad_wr, IBV_QPT_UC);
	case IBV_QPT_XRC_SEND:
		return post(sq, wr, bad_wr, IBV_QPT_XRC_SEND);
	default:
		return post(sq, wr, bad_wr, IBV_QPT_UD);
	}
}
