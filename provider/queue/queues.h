/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * queues.h - the queues of a CQ, a QP and an SRQ, as those who post and poll know them.
 *
 * The code in this folder fits user space and the kernel. It knows the HCA's formats (format.h),
 * and of its surroundings what queue_os.h says. It allocates nothing and calls no verbs. Enums of
 * verbs are those of the uverbs ABI, whose numbers libibverbs and the kernel share.
 *
 * Lock order: send or receive queue, CQ, SRQ; a doorbell's lock last, inside a send queue's.
 */
#ifndef XENIB_QUEUE_QUEUES_H
#define XENIB_QUEUE_QUEUES_H

#include "queue_os.h"
#include "queue/format.h"

/* What the words of a doorbell record mean. */
enum xenib_qp_dbrec { XENIB_DBREC_RECV = 0, XENIB_DBREC_SEND = 1 };
enum xenib_cq_dbrec { XENIB_DBREC_CONSUMED = 0, XENIB_DBREC_ARM = 1 };

struct xenib_cq_queue;
struct xenib_qp_table;

/* The registers of a UAR page. */
struct xenib_doorbell {
	struct xenib_lock lock; /* of the BlueFlame buffers */
	u8 __iomem *page;       /* NULL: no such page yet */
	u32 send_at;            /* offset of the register for the next doorbell */
	u32 bf_size;            /* bytes of a BlueFlame buffer; 0: 8-byte doorbells only */
};

/* What is remembered of a send WQE until its completion, at the index of its first block. */
struct xenib_sent {
	u64 wr_id;
	u32 number; /* of the WR in the queue, free running */
	u32 opcode; /* enum ib_uverbs_wc_opcode */
};

/* A WQE that is being built. */
struct xenib_wqe {
	struct xenib_ctrl_seg *ctrl;
	void *seg; /* where the next segment goes */
	u32 ds;    /* units so far */
};

struct xenib_sq {
	struct xenib_lock lock;
	u8 *start;
	u8 *end;
	u32 mask;  /* blocks - 1 */
	u32 next;  /* the next WQE's first block, free running */
	u32 head;  /* WRs posted, free running */
	u32 tail;  /* WRs completed, free running; written with the CQ locked */
	u32 limit; /* WRs that may be outstanding in the QP's present state */
	u32 max_sge;
	u32 max_inline;
	u32 qpn;
	u8 always;     /* XENIB_CTRL_* that each WQE has */
	u8 next_fence; /* XENIB_CTRL_* of the next WQE, unless it asks for a full fence */
	bool may_bind; /* WQEs are large enough for binding and local invalidation */
	struct xenib_sent *sent;
	__be32 *dbrec;
	struct xenib_doorbell *bell;
	struct xenib_cq_queue *cq;
	u32 max_wr;
};

struct xenib_rq {
	struct xenib_lock lock;
	u8 *start;
	u32 shift; /* log2 of the bytes of a WQE */
	u32 mask;  /* WQEs - 1 */
	u32 head;  /* as in the send queue */
	u32 tail;
	u32 limit;
	u32 max_sge;
	u64 *wr_id;
	__be32 *dbrec;
	struct xenib_cq_queue *cq;
	u32 max_wr; /* 0: no receive queue */
	u64 none;   /* wr_id without a receive queue, so that a CQE finds memory in any case */
};

/* See srq.h */
struct xenib_srq_wqe {
	u64 wr_id;
	u16 next; /* of a free WQE: the next free one */
	bool posted;
};

struct xenib_srq_queue {
	struct xenib_srq_wqe *wqe;
	struct xenib_lock lock;
	u8 *wqes;  /* the HCA's part of each */
	u32 shift; /* log2 of the bytes of a WQE */
	u32 mask;  /* WQEs - 1 */
	u32 max_sge;
	u32 head;   /* the WQE to be posted next */
	u32 tail;   /* the free WQE that is posted last */
	u32 posted; /* free running */
	__be32 *dbrec;
};

struct xenib_qp_queues {
	u32 uidx;                    /* the QP's number in CQEs */
	struct xenib_srq_queue *srq; /* or NULL */
	struct xenib_sq sq;
	struct xenib_rq rq;
	__be32 *dbrec;
	struct xenib_sent nothing_sent; /* for a QP without a send queue */
	bool many; /* it stands for QPs that receive into an XRC SRQ: each CQE says for which */
};

struct xenib_cq_queue {
	u8 *cqes;
	struct xenib_lock lock;
	u32 mask;                       /* CQEs - 1 */
	u32 next;                       /* CQEs consumed, free running */
	struct xenib_qp_queues *recent; /* whose CQE was consumed last; NULL: unknown */
	struct xenib_qp_table *qps;
	__be32 *dbrec;
	struct xenib_doorbell *bell;
	u32 cqn;
	u32 arm_count; /* events had so far */
};

#endif
