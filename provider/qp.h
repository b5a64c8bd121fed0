/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * qp.h - queue pairs: the send queue, the receive queue, and their sizes.
 */
#ifndef XENIB_QP_H
#define XENIB_QP_H

#include <infiniband/driver.h>
#include "queue/size.h"

#include "cq.h"
#include "queue_mem.h"
#include "srq.h"

struct xenib_uar;

/* What ibv_wr_start() began. */
struct xenib_batch {
	struct xenib_wqe wqe; /* the latest, still open; ctrl NULL: there is none */
	uint32_t count;       /* WQEs, the open one included */
	uint32_t next_before;
	uint8_t fence_before;
	int err; /* the first one, or 0 */
};

struct xenib_qp {
	struct verbs_qp vqp;
	struct xenib_qp_queues q;
	struct xenib_batch batch;
	struct xenib_uar *uar;
	bool own_uar;    /* uar came from xenib_uar_get() */
	bool posted_rts; /* modifying to RTS may return before the HCA has done it */
	bool await;      /* for which has to be waited before the first send; the queue is closed */
	struct xenib_queue_mem mem;
};

static inline struct xenib_qp *to_xqp(struct ibv_qp *ibqp)
{
	return container_of(ibqp, struct xenib_qp, vqp.qp);
}

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

/** xenib_qp_set_state() - the QP is in a state now: which queues may be posted to, from where. */
void xenib_qp_set_state(struct xenib_qp *qp, enum ibv_qp_state state);

/**
 * xenib_qp_open_sq() - of a send queue that seems full: it may be one that nothing could be posted to
 * yet, as RTS has to be waited for. The caller holds its lock.
 *
 * Return: 0, there is room now; ENOMEM, there is none, or the QP is not in a state to send; the error
 * of RTS.
 */
int xenib_qp_open_sq(struct xenib_qp *qp);

/** xenib_qp_set_wr() - fills in the functions of the ibv_wr_* interface for these operations. */
void xenib_qp_set_wr(struct xenib_qp *qp, uint64_t ops);

/**
 * xenib_put_mw() - the rest of a WQE that binds a memory window, or, with a length of 0,
 * invalidates it.
 * @new_key: the window's new key; only its lowest byte matters.
 *
 * The next WQE waits for this one.
 *
 * Return: 0; EINVAL for a length without MR, or if the queue was made without room for this;
 * EOPNOTSUPP for more than 2 GiB.
 */
int xenib_put_mw(struct xenib_sq *sq, struct xenib_wqe *wqe, enum ibv_mw_type type,
		 uint32_t new_key, const struct ibv_mw_bind_info *info);

#endif
