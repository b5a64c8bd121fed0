// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * wr.c - the ibv_wr_* interface: a batch of WQEs, each begun by an operation and filled by setters.
 *
 * A WQE stays open until the next operation or the end of the batch, so setters may come in any
 * order. After an error none is open and setters do nothing; the batch is then dropped whole.
 */
#include <errno.h>

#include "ah.h"
#include "qp.h"
#include "queue/send.h"

static __always_inline struct xenib_qp *qp_of(struct ibv_qp_ex *ex)
{
	return container_of(ex, struct xenib_qp, vqp.qp_ex);
}

static void fail(struct xenib_qp *qp, int err)
{
	if (!qp->batch.err)
		qp->batch.err = err;
	qp->batch.wqe.ctrl = NULL;
}

static void roll_back(struct xenib_qp *qp)
{
	qp->q.sq.next = qp->batch.next_before;
	qp->q.sq.next_fence = qp->batch.fence_before;
}

static void wr_start(struct ibv_qp_ex *ex)
{
	struct xenib_qp *qp = qp_of(ex);
	struct xenib_sq *sq = &qp->q.sq;

	xenib_lock(&sq->lock);

	qp->batch.wqe.ctrl = NULL;
	qp->batch.count = 0;
	qp->batch.next_before = sq->next;
	qp->batch.fence_before = sq->next_fence;
	qp->batch.err = 0;
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct xenib_qp *qp = qp_of(ex);
	struct xenib_sq *sq = &qp->q.sq;
	int err = qp->batch.err;

	if (unlikely(err)) {
		roll_back(qp);
		/* Not a queue that is full but one that may not be posted to at present. */
		if (err == ENOMEM && !sq->limit)
			err = EINVAL;
	} else if (likely(qp->batch.count)) {
		xenib_wqe_end(sq, &qp->batch.wqe);
		xenib_sq_ring(sq, qp->batch.count, qp->batch.wqe.ctrl, qp->batch.wqe.ds);
	}

	xenib_unlock(&sq->lock);
	return err;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	struct xenib_qp *qp = qp_of(ex);

	roll_back(qp);
	xenib_unlock(&qp->q.sq.lock);
}

/* Ends the WQE that is open and begins another. NULL: there was an error. */
static __always_inline struct xenib_wqe *begin(struct xenib_qp *qp, uint8_t opcode,
					       uint32_t wc_opcode, __be32 imm)
{
	struct xenib_sq *sq = &qp->q.sq;
	struct xenib_wqe *wqe = &qp->batch.wqe;
	uint32_t number;
	int err;

	if (wqe->ctrl)
		xenib_wqe_end(sq, wqe);
	else if (unlikely(qp->batch.err))
		return NULL;

	number = sq->head + qp->batch.count;
	if (unlikely(xenib_sq_is_full(sq, number))) {
		err = xenib_qp_open_sq(qp);
		if (err) {
			fail(qp, err);
			return NULL;
		}
	}

	xenib_wqe_begin(sq, wqe, opcode, xenib_control_bits(sq, qp->vqp.qp_ex.wr_flags), imm);
	xenib_wqe_remember(sq, number, qp->vqp.qp_ex.wr_id, wc_opcode);
	sq->next_fence = 0;
	qp->batch.count++;
	return wqe;
}

static void wr_send(struct ibv_qp_ex *ex)
{
	begin(qp_of(ex), XENIB_OPCODE_SEND, IBV_WC_SEND, 0);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	begin(qp_of(ex), XENIB_OPCODE_SEND_IMM, IBV_WC_SEND, imm);
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	begin(qp_of(ex), XENIB_OPCODE_SEND_INVAL, IBV_WC_SEND, htobe32(rkey));
}

static __always_inline void begin_ud(struct ibv_qp_ex *ex, uint8_t opcode, __be32 imm)
{
	struct xenib_qp *qp = qp_of(ex);
	struct xenib_wqe *wqe;

	wqe = begin(qp, opcode, IBV_WC_SEND, imm);
	if (likely(wqe))
		xenib_skip_address(&qp->q.sq, wqe);
}

static void wr_send_ud(struct ibv_qp_ex *ex)
{
	begin_ud(ex, XENIB_OPCODE_SEND, 0);
}

static void wr_send_imm_ud(struct ibv_qp_ex *ex, __be32 imm)
{
	begin_ud(ex, XENIB_OPCODE_SEND_IMM, imm);
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t remote_qpn,
			   uint32_t remote_qkey)
{
	struct xenib_wqe *wqe = &qp_of(ex)->batch.wqe;

	if (likely(wqe->ctrl))
		xenib_put_address(wqe->ctrl + 1, &to_xah(ah)->av, remote_qpn, remote_qkey);
}

static __always_inline void begin_rdma(struct ibv_qp_ex *ex, uint8_t opcode, uint32_t wc_opcode,
				       uint32_t rkey, uint64_t remote_addr, __be32 imm)
{
	struct xenib_wqe *wqe;

	wqe = begin(qp_of(ex), opcode, wc_opcode, imm);
	if (likely(wqe))
		xenib_put_remote(wqe, remote_addr, rkey);
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	begin_rdma(ex, XENIB_OPCODE_RDMA_WRITE, IBV_WC_RDMA_WRITE, rkey, remote_addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, __be32 imm)
{
	begin_rdma(ex, XENIB_OPCODE_RDMA_WRITE_IMM, IBV_WC_RDMA_WRITE, rkey, remote_addr, imm);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	begin_rdma(ex, XENIB_OPCODE_RDMA_READ, IBV_WC_RDMA_READ, rkey, remote_addr, 0);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			      uint64_t compare, uint64_t swap)
{
	struct xenib_wqe *wqe;

	wqe = begin(qp_of(ex), XENIB_OPCODE_ATOMIC_CS, IBV_WC_COMP_SWAP, 0);
	if (unlikely(!wqe))
		return;

	xenib_put_remote(wqe, remote_addr, rkey);
	xenib_put_atomic(wqe, swap, compare);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
				uint64_t add)
{
	struct xenib_wqe *wqe;

	wqe = begin(qp_of(ex), XENIB_OPCODE_ATOMIC_FA, IBV_WC_FETCH_ADD, 0);
	if (unlikely(!wqe))
		return;

	xenib_put_remote(wqe, remote_addr, rkey);
	xenib_put_atomic(wqe, add, 0);
}

static void begin_bind(struct ibv_qp_ex *ex, uint32_t wc_opcode, uint32_t old_key,
		       enum ibv_mw_type type, uint32_t new_key, const struct ibv_mw_bind_info *info)
{
	struct xenib_qp *qp = qp_of(ex);
	struct xenib_sq *sq = &qp->q.sq;
	struct xenib_wqe *wqe;
	int err;

	wqe = begin(qp, XENIB_OPCODE_UMR, wc_opcode, htobe32(old_key));
	if (!wqe)
		return;

	err = xenib_put_mw(sq, wqe, type, new_key, info);
	if (err)
		fail(qp, err);
	else
		sq->next_fence = XENIB_CTRL_SMALL_FENCE;
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	begin_bind(ex, IBV_WC_BIND_MW, mw->rkey, mw->type, rkey, info);
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	static const struct ibv_mw_bind_info none;

	begin_bind(ex, IBV_WC_LOCAL_INV, rkey, IBV_MW_TYPE_2, 0, &none);
}

/* Of a QP that sends to an XRC domain, where the SRQ's number comes first. */

static __always_inline struct xenib_wqe *begin_xrc(struct ibv_qp_ex *ex, uint8_t opcode,
						   uint32_t wc_opcode, __be32 imm)
{
	struct xenib_wqe *wqe;

	wqe = begin(qp_of(ex), opcode, wc_opcode, imm);
	if (likely(wqe))
		xenib_skip_srqn(wqe);
	return wqe;
}

static void begin_xrc_rdma(struct ibv_qp_ex *ex, uint8_t opcode, uint32_t wc_opcode, uint32_t rkey,
			   uint64_t remote_addr, __be32 imm)
{
	struct xenib_wqe *wqe;

	wqe = begin_xrc(ex, opcode, wc_opcode, imm);
	if (likely(wqe))
		xenib_put_remote(wqe, remote_addr, rkey);
}

static void begin_xrc_atomic(struct ibv_qp_ex *ex, uint8_t opcode, uint32_t wc_opcode,
			     uint32_t rkey, uint64_t remote_addr, uint64_t swap_add,
			     uint64_t compare)
{
	struct xenib_wqe *wqe;

	wqe = begin_xrc(ex, opcode, wc_opcode, 0);
	if (unlikely(!wqe))
		return;

	xenib_put_remote(wqe, remote_addr, rkey);
	xenib_put_atomic(wqe, swap_add, compare);
}

static void wr_xrc_send(struct ibv_qp_ex *ex)
{
	begin_xrc(ex, XENIB_OPCODE_SEND, IBV_WC_SEND, 0);
}

static void wr_xrc_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	begin_xrc(ex, XENIB_OPCODE_SEND_IMM, IBV_WC_SEND, imm);
}

static void wr_xrc_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	begin_xrc(ex, XENIB_OPCODE_SEND_INVAL, IBV_WC_SEND, htobe32(rkey));
}

static void wr_xrc_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	begin_xrc_rdma(ex, XENIB_OPCODE_RDMA_WRITE, IBV_WC_RDMA_WRITE, rkey, remote_addr, 0);
}

static void wr_xrc_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, __be32 imm)
{
	begin_xrc_rdma(ex, XENIB_OPCODE_RDMA_WRITE_IMM, IBV_WC_RDMA_WRITE, rkey, remote_addr, imm);
}

static void wr_xrc_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	begin_xrc_rdma(ex, XENIB_OPCODE_RDMA_READ, IBV_WC_RDMA_READ, rkey, remote_addr, 0);
}

static void wr_xrc_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			   uint64_t compare, uint64_t swap)
{
	begin_xrc_atomic(ex, XENIB_OPCODE_ATOMIC_CS, IBV_WC_COMP_SWAP, rkey, remote_addr, swap,
			 compare);
}

static void wr_xrc_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			     uint64_t add)
{
	begin_xrc_atomic(ex, XENIB_OPCODE_ATOMIC_FA, IBV_WC_FETCH_ADD, rkey, remote_addr, add, 0);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t remote_srqn)
{
	struct xenib_wqe *wqe = &qp_of(ex)->batch.wqe;

	if (likely(wqe->ctrl))
		xenib_put_srqn((struct xenib_xrc_seg *)(wqe->ctrl + 1), remote_srqn);
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct xenib_qp *qp = qp_of(ex);
	struct xenib_sq *sq = &qp->q.sq;

	if (likely(qp->batch.wqe.ctrl))
		xenib_put_data(sq, &qp->batch.wqe, addr, length, lkey);
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t num_sge, const struct ibv_sge *list)
{
	struct xenib_qp *qp = qp_of(ex);
	struct xenib_sq *sq = &qp->q.sq;
	size_t i;

	if (unlikely(!qp->batch.wqe.ctrl))
		return;
	if (unlikely(num_sge > sq->max_sge)) {
		fail(qp, ENOMEM);
		return;
	}

	for (i = 0; i < num_sge; i++)
		xenib_put_data(sq, &qp->batch.wqe, list[i].addr, list[i].length, list[i].lkey);
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct xenib_qp *qp = qp_of(ex);
	struct xenib_sq *sq = &qp->q.sq;
	struct xenib_wqe *wqe = &qp->batch.wqe;
	uint8_t *at;

	if (unlikely(!wqe->ctrl))
		return;
	if (unlikely(length > sq->max_inline)) {
		fail(qp, ENOMEM);
		return;
	}

	at = xenib_inline_data(sq, wqe);
	xenib_copy_in(sq, &at, addr, length);
	xenib_inline_end(wqe, length);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t num_buf,
				    const struct ibv_data_buf *list)
{
	struct xenib_qp *qp = qp_of(ex);
	struct xenib_sq *sq = &qp->q.sq;
	struct xenib_wqe *wqe = &qp->batch.wqe;
	size_t i, length = 0;
	uint8_t *at;

	if (unlikely(!wqe->ctrl))
		return;

	at = xenib_inline_data(sq, wqe);
	for (i = 0; i < num_buf; i++) {
		/* In two steps, so that no sum overflows. */
		if (unlikely(list[i].length > sq->max_inline - length)) {
			fail(qp, ENOMEM);
			return;
		}
		length += list[i].length;
		xenib_copy_in(sq, &at, list[i].addr, list[i].length);
	}
	xenib_inline_end(wqe, length);
}

static void set_xrc_ops(struct ibv_qp_ex *ex, uint64_t ops)
{
	ex->wr_set_xrc_srqn = wr_set_xrc_srqn;
	if (ops & IBV_QP_EX_WITH_SEND)
		ex->wr_send = wr_xrc_send;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = wr_xrc_send_imm;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_INV)
		ex->wr_send_inv = wr_xrc_send_inv;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = wr_xrc_write;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = wr_xrc_write_imm;
	if (ops & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = wr_xrc_read;
	if (ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ex->wr_atomic_cmp_swp = wr_xrc_cmp_swp;
	if (ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ex->wr_atomic_fetch_add = wr_xrc_fetch_add;
}

static void set_ops(struct ibv_qp_ex *ex, uint64_t ops, bool ud)
{
	if (ud)
		ex->wr_set_ud_addr = wr_set_ud_addr;

	if (ops & IBV_QP_EX_WITH_SEND)
		ex->wr_send = ud ? wr_send_ud : wr_send;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = ud ? wr_send_imm_ud : wr_send_imm;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_INV)
		ex->wr_send_inv = wr_send_inv;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = wr_rdma_write;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = wr_rdma_write_imm;
	if (ops & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = wr_rdma_read;
	if (ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	if (ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	if (ops & IBV_QP_EX_WITH_BIND_MW)
		ex->wr_bind_mw = wr_bind_mw;
	if (ops & IBV_QP_EX_WITH_LOCAL_INV)
		ex->wr_local_inv = wr_local_inv;
}

void xenib_qp_set_wr(struct xenib_qp *qp, uint64_t ops)
{
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;
	enum ibv_qp_type type = qp->vqp.qp.qp_type;

	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	if (type == IBV_QPT_XRC_SEND)
		set_xrc_ops(ex, ops);
	else
		set_ops(ex, ops, type == IBV_QPT_UD);
}
