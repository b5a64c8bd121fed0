/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * op.h - the operations of verbs, and what a WQE of each is like.
 */
#ifndef XENIB_QUEUE_OP_H
#define XENIB_QUEUE_OP_H

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "queue/queues.h"

enum xenib_form { XENIB_FORM_SEND, XENIB_FORM_RDMA, XENIB_FORM_ATOMIC, XENIB_FORM_BIND };
enum xenib_imm { XENIB_IMM_NONE, XENIB_IMM_DATA, XENIB_IMM_KEY };

struct xenib_op {
	u8 opcode;    /* the HCA's */
	u8 wc_opcode; /* of its completion: enum ib_uverbs_wc_opcode */
	u8 form;      /* enum xenib_form */
	u8 imm;       /* enum xenib_imm */
	u8 may_inline;
	u16 types; /* QP types that have it, as bits; 0: not an operation that is known here */
};

#define XENIB_OPS (IB_UVERBS_WR_SEND_WITH_INV + 1)

#define XENIB_OP_RC BIT(IB_UVERBS_QPT_RC)
#define XENIB_OP_UC BIT(IB_UVERBS_QPT_UC)
#define XENIB_OP_UD BIT(IB_UVERBS_QPT_UD)
#define XENIB_OP_XRC BIT(IB_UVERBS_QPT_XRC_INI)

/* By enum ib_uverbs_wr_opcode. Whoever posts has a copy, which a shared library reaches at once. */
static const struct xenib_op xenib_ops[XENIB_OPS] = {
	[IB_UVERBS_WR_RDMA_WRITE] = { XENIB_OPCODE_RDMA_WRITE, IB_UVERBS_WC_RDMA_WRITE,
				      XENIB_FORM_RDMA, XENIB_IMM_NONE, 1,
				      XENIB_OP_RC | XENIB_OP_UC | XENIB_OP_XRC },
	[IB_UVERBS_WR_RDMA_WRITE_WITH_IMM] = { XENIB_OPCODE_RDMA_WRITE_IMM, IB_UVERBS_WC_RDMA_WRITE,
					       XENIB_FORM_RDMA, XENIB_IMM_DATA, 1,
					       XENIB_OP_RC | XENIB_OP_UC | XENIB_OP_XRC },
	[IB_UVERBS_WR_SEND] = { XENIB_OPCODE_SEND, IB_UVERBS_WC_SEND, XENIB_FORM_SEND,
				XENIB_IMM_NONE, 1,
				XENIB_OP_RC | XENIB_OP_UC | XENIB_OP_UD | XENIB_OP_XRC },
	[IB_UVERBS_WR_SEND_WITH_IMM] = { XENIB_OPCODE_SEND_IMM, IB_UVERBS_WC_SEND, XENIB_FORM_SEND,
					 XENIB_IMM_DATA, 1,
					 XENIB_OP_RC | XENIB_OP_UC | XENIB_OP_UD | XENIB_OP_XRC },
	[IB_UVERBS_WR_RDMA_READ] = { XENIB_OPCODE_RDMA_READ, IB_UVERBS_WC_RDMA_READ,
				     XENIB_FORM_RDMA, XENIB_IMM_NONE, 0,
				     XENIB_OP_RC | XENIB_OP_XRC },
	[IB_UVERBS_WR_ATOMIC_CMP_AND_SWP] = { XENIB_OPCODE_ATOMIC_CS, IB_UVERBS_WC_COMP_SWAP,
					      XENIB_FORM_ATOMIC, XENIB_IMM_NONE, 0,
					      XENIB_OP_RC | XENIB_OP_XRC },
	[IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD] = { XENIB_OPCODE_ATOMIC_FA, IB_UVERBS_WC_FETCH_ADD,
						XENIB_FORM_ATOMIC, XENIB_IMM_NONE, 0,
						XENIB_OP_RC | XENIB_OP_XRC },
	[IB_UVERBS_WR_LOCAL_INV] = { XENIB_OPCODE_UMR, IB_UVERBS_WC_LOCAL_INV, XENIB_FORM_BIND,
				     XENIB_IMM_KEY, 0, XENIB_OP_RC | XENIB_OP_UC },
	[IB_UVERBS_WR_BIND_MW] = { XENIB_OPCODE_UMR, IB_UVERBS_WC_BIND_MW, XENIB_FORM_BIND,
				   XENIB_IMM_NONE, 0, XENIB_OP_RC | XENIB_OP_UC },
	[IB_UVERBS_WR_SEND_WITH_INV] = { XENIB_OPCODE_SEND_INVAL, IB_UVERBS_WC_SEND,
					 XENIB_FORM_SEND, XENIB_IMM_KEY, 1,
					 XENIB_OP_RC | XENIB_OP_UC | XENIB_OP_XRC },
};

#endif
