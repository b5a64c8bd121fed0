// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * qp_size.c - how large a QP's queues must be.
 *
 * A send WQE has one of these forms, and takes whole blocks of 64 bytes:
 *
 *   SEND           control 16, UD: address vector 48   then data segments of 16,
 *   RDMA           control 16, remote address 16       or inline data: 4 and the data
 *   atomic         control 16, remote address 16, operands 16, data segments
 *   bind, local    control 16, UMR control 48, key context 64, translation 64
 *   invalidation
 *
 * The queue has room for the number of WRs asked for, each of the largest form. A program that says
 * which operations it will use saves the room for the last form; the others always fit, because
 * ibv_post_send() is open to all.
 */
#include <errno.h>

#include "context.h"
#include "qp.h"

#define SEG 16
#define UD_ADDRESS_SEGS 3
#define BIND_SIZE (SEG + 48 + 64 + 64)
#define INLINE_HEADER 4

#define SEND_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define WRITE_OPS (IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
#define KEY_OPS (IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV)
#define RC_OPS (IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_READ | \
		IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

uint64_t xenib_qp_all_ops(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return SEND_OPS | WRITE_OPS | KEY_OPS | RC_OPS;
	case IBV_QPT_UC:
		return SEND_OPS | WRITE_OPS | KEY_OPS | IBV_QP_EX_WITH_SEND_WITH_INV;
	case IBV_QPT_UD:
		return SEND_OPS;
	default:
		return 0;
	}
}

static uint32_t greater(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Bytes of the largest form before its data segments, and before inline data. */
static uint32_t header_size(enum ibv_qp_type type, bool for_inline)
{
	switch (type) {
	case IBV_QPT_RC:
		return SEG + (for_inline ? 1 : 2) * SEG;
	case IBV_QPT_UC:
		return SEG + SEG;
	default:
		return SEG + UD_ADDRESS_SEGS * SEG;
	}
}

static int size_sq(const struct xenib_limits *limits, enum ibv_qp_type type, uint64_t ops,
		   const struct ibv_qp_cap *asked, struct xenib_qp_size *size)
{
	uint32_t wqe, with_inline, bytes;

	/* In this order nothing overflows. */
	if (asked->max_send_wr > limits->max_send_blocks ||
	    asked->max_send_sge > limits->max_sq_desc / SEG ||
	    asked->max_inline_data > limits->max_sq_desc)
		return EINVAL;
	if (!asked->max_send_wr)
		return 0;

	/* ibv_wr_set_sge() does not ask whether there may be one. */
	wqe = header_size(type, false) + greater(asked->max_send_sge, 1) * SEG;
	if (asked->max_inline_data) {
		with_inline = header_size(type, true) + INLINE_HEADER + asked->max_inline_data;
		wqe = greater(wqe, (with_inline + SEG - 1) & ~(SEG - 1u));
	}
	if (ops & KEY_OPS)
		wqe = greater(wqe, BIND_SIZE);
	if (wqe > limits->max_sq_desc)
		return EINVAL;

	/* Of the rest of the last block, inline data can use what is in a WQE of the HCA's size. */
	wqe = (wqe + XENIB_BLOCK_SIZE - 1) & ~(XENIB_BLOCK_SIZE - 1);
	bytes = xenib_round_up_pow2(asked->max_send_wr * wqe);
	if (bytes / XENIB_BLOCK_SIZE > limits->max_send_blocks)
		return EINVAL;

	size->sq_blocks = bytes / XENIB_BLOCK_SIZE;
	size->cap.max_send_wr = bytes / wqe;
	size->cap.max_send_sge = asked->max_send_sge;
	if (wqe > limits->max_sq_desc)
		wqe = limits->max_sq_desc & ~(SEG - 1u);
	size->cap.max_inline_data = wqe - header_size(type, true) - INLINE_HEADER;
	return 0;
}

static int size_rq(const struct xenib_limits *limits, const struct ibv_qp_cap *asked,
		   struct xenib_qp_size *size)
{
	uint32_t wqe, bytes;

	if (asked->max_recv_wr > limits->max_recv_wqes ||
	    asked->max_recv_sge > limits->max_rq_desc / SEG)
		return EINVAL;
	if (!asked->max_recv_wr)
		return 0;

	wqe = xenib_round_up_pow2(greater(asked->max_recv_sge, 1) * SEG);
	if (wqe > limits->max_rq_desc)
		return EINVAL;

	/* The send queue after it begins on a block. */
	bytes = greater(xenib_round_up_pow2(asked->max_recv_wr) * wqe, XENIB_BLOCK_SIZE);
	size->rq_wqes = bytes / wqe;
	size->rq_shift = __builtin_ctz(wqe);
	size->cap.max_recv_wr = size->rq_wqes;
	size->cap.max_recv_sge = wqe / SEG;
	return 0;
}

int xenib_qp_size(const struct xenib_limits *limits, enum ibv_qp_type type, uint64_t ops,
		  bool has_srq, const struct ibv_qp_cap *asked, struct xenib_qp_size *size)
{
	int err;

	*size = (struct xenib_qp_size){};
	err = size_sq(limits, type, ops, asked, size);
	if (err)
		return err;

	if (!has_srq) {
		err = size_rq(limits, asked, size);
		if (err)
			return err;
	}

	size->bytes = ((size_t)size->rq_wqes << size->rq_shift) +
		      (size_t)size->sq_blocks * XENIB_BLOCK_SIZE;
	return 0;
}
