// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * qp_size.c - the operations of a QP, and how large its queues must be for them.
 */
#include <errno.h>

#include "context.h"
#include "qp.h"

#define SEND_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define WRITE_OPS (IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
#define KEY_OPS (IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV)
#define RC_OPS \
	(IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_READ | \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

uint64_t xenib_qp_all_ops(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return SEND_OPS | WRITE_OPS | KEY_OPS | RC_OPS;
	case IBV_QPT_XRC_SEND: /* no windows: what they take would not be in the WQE's first block */
		return SEND_OPS | WRITE_OPS | RC_OPS;
	case IBV_QPT_UC:
		return SEND_OPS | WRITE_OPS | KEY_OPS | IBV_QP_EX_WITH_SEND_WITH_INV;
	case IBV_QPT_UD:
		return SEND_OPS;
	default:
		return 0;
	}
}

int xenib_qp_size(const struct xenib_limits *limits, enum ibv_qp_type type, uint64_t ops,
		  bool has_srq, const struct ibv_qp_cap *asked, struct xenib_qp_size *size)
{
	const struct xenib_qp_cap cap = {
		.max_send_wr = asked->max_send_wr,
		.max_recv_wr = asked->max_recv_wr,
		.max_send_sge = asked->max_send_sge,
		.max_recv_sge = asked->max_recv_sge,
		.max_inline_data = asked->max_inline_data,
	};

	return xenib_size_qp(limits, type, ops & KEY_OPS, has_srq, &cap, size) ? 0 : EINVAL;
}
