/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * size.h - how large queues must be.
 */
#ifndef XENIB_QUEUE_SIZE_H
#define XENIB_QUEUE_SIZE_H

#include "queue/queues.h"

/* What the HCA can do. */
struct xenib_limits {
	u32 max_sq_desc;     /* bytes of a send WQE */
	u32 max_rq_desc;     /* bytes of a receive WQE */
	u32 max_send_blocks; /* 64-byte blocks of a send queue */
	u32 max_recv_wqes;   /* of a receive queue */
	u32 max_srq_wqes;    /* of an SRQ */
};

/* What who posts may use. */
struct xenib_qp_cap {
	u32 max_send_wr;
	u32 max_recv_wr;
	u32 max_send_sge;
	u32 max_recv_sge;
	u32 max_inline_data;
};

/* The sizes of a QP's queues. */
struct xenib_qp_size {
	u32 sq_blocks; /* a power of two, or 0 */
	u32 rq_wqes;   /* a power of two, or 0 */
	u32 rq_shift;
	size_t bytes;            /* receive queue, then send queue */
	struct xenib_qp_cap cap; /* at least what was asked for */
};

/* The least power of two that is not less than n; 1 <= n <= 2^31. */
static inline u32 xenib_round_up_pow2(u32 n)
{
	return n <= 1 ? 1 : 1u << (32 - __builtin_clz(n - 1));
}

/**
 * xenib_size_qp() - the smallest queues for what is asked for.
 * @type: RC, UC, UD or XRC_INI of enum ib_uverbs_qp_type
 * @may_bind: memory windows will be bound, or keys invalidated
 *
 * Return: false if a WQE or a queue would be larger than the limits.
 */
bool xenib_size_qp(const struct xenib_limits *limits, u32 type, bool may_bind, bool has_srq,
		   const struct xenib_qp_cap *asked, struct xenib_qp_size *size);

/**
 * xenib_size_srq() - sets shift, mask and max_sge.
 *
 * Return: false if a WQE or the queue would be larger than the limits.
 */
bool xenib_size_srq(const struct xenib_limits *limits, u32 max_wr, u32 max_sge,
		    struct xenib_srq_queue *srq);

/**
 * xenib_qp_init_queues() - lays the queues of size into a buffer. By then are set: dbrec, sq.sent
 * and rq.wr_id, which are NULL where there is no such queue.
 */
void xenib_qp_init_queues(struct xenib_qp_queues *qp, u8 *buf, const struct xenib_qp_size *size);

/** xenib_qp_reset_queues() - both are empty, and may not be posted to. */
void xenib_qp_reset_queues(struct xenib_qp_queues *qp);

#endif
