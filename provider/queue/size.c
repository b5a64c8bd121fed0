// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * size.c - how large queues must be.
 *
 * A send WQE has one of these forms, and takes whole blocks of 64 bytes:
 *
 *   SEND           control 16, UD: address vector 48   then data segments of 16,
 *   RDMA           control 16, remote address 16       or inline data: 4 and the data
 *   atomic         control 16, remote address 16, operands 16, data segments
 *   XRC            control 16, SRQ 16, and as above
 *   bind, local    control 16, UMR control 48, key context 64, translation 64
 *   invalidation
 *
 * A QP's send queue has room for the number of WRs asked for, each of the largest form. Who will
 * not bind saves the room for the last form; the others always fit, because posting is open to all.
 */
#include <rdma/ib_user_ioctl_verbs.h>

#include "queue/size.h"

#define UD_ADDRESS_SEGS 3
#define BIND_SIZE (XENIB_SEG_SIZE + 48 + 64 + 64)
#define INLINE_HEADER 4
#define MIN_SRQ_WQE_SIZE 32

static u32 greater(u32 a, u32 b)
{
	return a > b ? a : b;
}

/* Bytes of the largest form before its data segments, and before inline data. */
static u32 header_size(u32 type, bool for_inline)
{
	switch (type) {
	case IB_UVERBS_QPT_RC:
		return XENIB_SEG_SIZE + (for_inline ? 1 : 2) * XENIB_SEG_SIZE;
	case IB_UVERBS_QPT_XRC_INI:
		return 2 * XENIB_SEG_SIZE + (for_inline ? 1 : 2) * XENIB_SEG_SIZE;
	case IB_UVERBS_QPT_UC:
		return XENIB_SEG_SIZE + XENIB_SEG_SIZE;
	default:
		return XENIB_SEG_SIZE + UD_ADDRESS_SEGS * XENIB_SEG_SIZE;
	}
}

static bool size_sq(const struct xenib_limits *limits, u32 type, bool may_bind,
		    const struct xenib_qp_cap *asked, struct xenib_qp_size *size)
{
	u32 wqe, with_inline, bytes;

	/* In this order nothing overflows. */
	if (asked->max_send_wr > limits->max_send_blocks ||
	    asked->max_send_sge > limits->max_sq_desc / XENIB_SEG_SIZE ||
	    asked->max_inline_data > limits->max_sq_desc)
		return false;
	if (!asked->max_send_wr)
		return true;

	/* The ibv_wr_* interface does not ask whether there may be one. */
	wqe = header_size(type, false) + greater(asked->max_send_sge, 1) * XENIB_SEG_SIZE;
	if (asked->max_inline_data) {
		with_inline = header_size(type, true) + INLINE_HEADER + asked->max_inline_data;
		wqe = greater(wqe, (with_inline + XENIB_SEG_SIZE - 1) & ~(XENIB_SEG_SIZE - 1u));
	}
	if (may_bind)
		wqe = greater(wqe, BIND_SIZE);
	if (wqe > limits->max_sq_desc)
		return false;

	/* Of the rest of the last block, inline data can use what is in a WQE of the HCA's size. */
	wqe = (wqe + XENIB_BLOCK_SIZE - 1) & ~(XENIB_BLOCK_SIZE - 1);
	bytes = xenib_round_up_pow2(asked->max_send_wr * wqe);
	if (bytes / XENIB_BLOCK_SIZE > limits->max_send_blocks)
		return false;

	size->sq_blocks = bytes / XENIB_BLOCK_SIZE;
	size->cap.max_send_wr = bytes / wqe;
	size->cap.max_send_sge = asked->max_send_sge;
	if (wqe > limits->max_sq_desc)
		wqe = limits->max_sq_desc & ~(XENIB_SEG_SIZE - 1u);
	size->cap.max_inline_data = wqe - header_size(type, true) - INLINE_HEADER;
	return true;
}

static bool size_rq(const struct xenib_limits *limits, const struct xenib_qp_cap *asked,
		    struct xenib_qp_size *size)
{
	u32 wqe, bytes;

	if (asked->max_recv_wr > limits->max_recv_wqes ||
	    asked->max_recv_sge > limits->max_rq_desc / XENIB_SEG_SIZE)
		return false;
	if (!asked->max_recv_wr)
		return true;

	wqe = xenib_round_up_pow2(greater(asked->max_recv_sge, 1) * XENIB_SEG_SIZE);
	if (wqe > limits->max_rq_desc)
		return false;

	/* The send queue after it begins on a block. */
	bytes = greater(xenib_round_up_pow2(asked->max_recv_wr) * wqe, XENIB_BLOCK_SIZE);
	size->rq_wqes = bytes / wqe;
	size->rq_shift = __builtin_ctz(wqe);
	size->cap.max_recv_wr = size->rq_wqes;
	size->cap.max_recv_sge = wqe / XENIB_SEG_SIZE;
	return true;
}

bool xenib_size_qp(const struct xenib_limits *limits, u32 type, bool may_bind, bool has_srq,
		   const struct xenib_qp_cap *asked, struct xenib_qp_size *size)
{
	memset(size, 0, sizeof(*size));
	if (!size_sq(limits, type, may_bind, asked, size))
		return false;
	if (!has_srq && !size_rq(limits, asked, size))
		return false;

	size->bytes = ((size_t)size->rq_wqes << size->rq_shift) +
		      (size_t)size->sq_blocks * XENIB_BLOCK_SIZE;
	return true;
}

bool xenib_size_srq(const struct xenib_limits *limits, u32 max_wr, u32 max_sge,
		    struct xenib_srq_queue *srq)
{
	u32 size;

	/* In this order nothing overflows. */
	if (!max_wr || max_wr >= limits->max_srq_wqes || max_sge > limits->max_rq_desc / 16)
		return false;

	size = xenib_round_up_pow2(sizeof(struct xenib_srq_next_seg) +
				   max_sge * sizeof(struct xenib_data_seg));
	size = greater(size, MIN_SRQ_WQE_SIZE);
	if (size > limits->max_rq_desc)
		return false;

	srq->shift = __builtin_ctz(size);
	srq->mask = xenib_round_up_pow2(max_wr + 1) - 1;
	if (srq->mask >= limits->max_srq_wqes)
		return false;

	srq->max_sge = (size - sizeof(struct xenib_srq_next_seg)) / sizeof(struct xenib_data_seg);
	return true;
}

void xenib_qp_init_queues(struct xenib_qp_queues *qp, u8 *buf, const struct xenib_qp_size *size)
{
	size_t rq_bytes = (size_t)size->rq_wqes << size->rq_shift;

	qp->rq.start = buf;
	qp->rq.shift = size->rq_shift;
	qp->rq.mask = size->rq_wqes ? size->rq_wqes - 1 : 0;
	qp->rq.max_wr = size->cap.max_recv_wr;
	qp->rq.max_sge = size->cap.max_recv_sge;
	qp->rq.dbrec = qp->dbrec;
	if (!qp->rq.wr_id)
		qp->rq.wr_id = &qp->rq.none;

	qp->sq.start = buf + rq_bytes;
	qp->sq.end = qp->sq.start + (size_t)size->sq_blocks * XENIB_BLOCK_SIZE;
	qp->sq.mask = size->sq_blocks ? size->sq_blocks - 1 : 0;
	qp->sq.max_wr = size->cap.max_send_wr;
	qp->sq.max_sge = size->cap.max_send_sge;
	qp->sq.max_inline = size->cap.max_inline_data;
	qp->sq.dbrec = qp->dbrec;
	if (!qp->sq.sent)
		qp->sq.sent = &qp->nothing_sent;
}

void xenib_qp_reset_queues(struct xenib_qp_queues *qp)
{
	qp->sq.head = 0;
	qp->sq.tail = 0;
	qp->sq.next = 0;
	qp->sq.next_fence = 0;
	qp->sq.limit = 0;
	qp->rq.head = 0;
	qp->rq.tail = 0;
	qp->rq.limit = 0;
	qp->dbrec[XENIB_DBREC_RECV] = 0;
	qp->dbrec[XENIB_DBREC_SEND] = 0;
}
