/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * qp.h - queue pairs: the send queue, the receive queue, and their sizes.
 */
#ifndef XENIB_QP_H
#define XENIB_QP_H

#include <infiniband/driver.h>
#include "queue/format.h"

#include "buf.h"
#include "cq.h"
#include "lock.h"
#include "srq.h"

struct xenib_limits;
struct xenib_uar;

/* What is remembered of a send WQE until its completion, at the index of its first block. */
struct xenib_sent {
	uint64_t wr_id;
	uint32_t number; /* of the WR in the queue, free running */
	uint32_t opcode; /* enum ibv_wc_opcode */
};

/* A WQE that is being built. */
struct xenib_wqe {
	struct xenib_ctrl_seg *ctrl;
	void *seg;   /* where the next segment goes */
	uint32_t ds; /* 16-byte units so far */
};

struct xenib_sq {
	struct xenib_lock lock;
	uint8_t *start;
	uint8_t *end;
	uint32_t mask;  /* blocks - 1 */
	uint32_t next;  /* the next WQE's first block, free running */
	uint32_t head;  /* WRs posted, free running */
	uint32_t tail;  /* WRs completed, free running; written with the CQ locked */
	uint32_t limit; /* WRs that may be outstanding in the QP's present state */
	uint32_t max_sge;
	uint32_t max_inline;
	uint32_t qpn;
	uint8_t always;     /* control bits that each WQE has */
	uint8_t next_fence; /* control bits of the next WQE, unless it asks for a full fence */
	bool may_bind;  /* WQEs are large enough for binding and local invalidation */
	struct xenib_sent *sent;
	__be32 *dbrec;
	struct xenib_uar *uar;
	struct xenib_cq *cq;

	/* What ibv_wr_start() began. */
	struct {
		struct xenib_wqe wqe;  /* the latest, still open; ctrl NULL: there is none */
		uint32_t count;        /* WQEs, the open one included */
		uint32_t next_before;
		uint8_t fence_before;
		int err; /* the first one, or 0 */
	} batch;
	uint32_t max_wr;
};

struct xenib_rq {
	struct xenib_lock lock;
	uint8_t *start;
	uint32_t shift; /* log2 of the bytes of a WQE */
	uint32_t mask;  /* WQEs - 1 */
	uint32_t head;  /* as in the send queue */
	uint32_t tail;
	uint32_t limit;
	uint32_t max_sge;
	uint64_t *wr_id;
	__be32 *dbrec;
	struct xenib_cq *cq;
	uint32_t max_wr; /* 0: no receive queue */
	uint64_t none;   /* wr_id without a receive queue, so that a CQE finds memory in any case */
};

struct xenib_qp {
	struct verbs_qp vqp;
	uint32_t uidx;
	struct xenib_srq *srq; /* or NULL */
	struct xenib_sq sq;
	struct xenib_rq rq;
	__be32 *dbrec;
	bool own_uar; /* sq.uar came from xenib_uar_get() */
	struct xenib_sent nothing_sent; /* for a QP without a send queue */
	struct xenib_buf buf;
	uint8_t dbrec_shift;
};

static inline struct xenib_qp *to_xqp(struct ibv_qp *ibqp)
{
	return container_of(ibqp, struct xenib_qp, vqp.qp);
}

/* The sizes of a QP's queues. */
struct xenib_qp_size {
	uint32_t sq_blocks; /* a power of two, or 0 */
	uint32_t rq_wqes;   /* a power of two, or 0 */
	uint32_t rq_shift;
	size_t bytes;       /* receive queue, then send queue */
	struct ibv_qp_cap cap; /* what the program may use: at least what it asked for */
};

/**
 * xenib_qp_size() - the smallest queues for what is asked for.
 * @ops: enum ibv_qp_create_send_ops_flags: what will be posted.
 *
 * Return: 0; EINVAL if a WQE or a queue would be larger than the limits.
 */
int xenib_qp_size(const struct xenib_limits *limits, enum ibv_qp_type type, uint64_t ops,
		  bool has_srq, const struct ibv_qp_cap *asked, struct xenib_qp_size *size);

/**
 * xenib_qp_all_ops() - all operations of a QP type that this provider has; 0: not such a type.
 */
uint64_t xenib_qp_all_ops(enum ibv_qp_type type);

/**
 * xenib_qp_init_queues() - lays the queues of size into the buffer. By then are set: buf, dbrec,
 * sq.sent and rq.wr_id.
 */
void xenib_qp_init_queues(struct xenib_qp *qp, const struct xenib_qp_size *size);

/** xenib_qp_set_state() - the QP is in a state now: which queues may be posted to, from where. */
void xenib_qp_set_state(struct xenib_qp *qp, enum ibv_qp_state state);

/** xenib_qp_set_wr() - fills in the functions of the ibv_wr_* interface for these operations. */
void xenib_qp_set_wr(struct xenib_qp *qp, uint64_t ops);

#endif
