/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * cq.h - completion queues.
 */
#ifndef XENIB_CQ_H
#define XENIB_CQ_H

#include <infiniband/driver.h>
#include "queue/format.h"

#include "buf.h"
#include "lock.h"
#include "table.h"

struct xenib_qp;
struct xenib_uar;

struct xenib_cq {
	struct verbs_cq vcq;
	struct xenib_lock lock;
	uint8_t *cqes;
	uint32_t mask;           /* CQEs - 1 */
	uint32_t next;           /* CQEs consumed, free running */
	struct xenib_qp *recent; /* whose CQE was consumed last; NULL: unknown */
	const struct xenib_table *qps;
	__be32 *dbrec;

	/* The completion that ibv_start_poll() or ibv_next_poll() found. */
	struct xenib_cqe *cqe;
	enum ibv_wc_opcode opcode;

	uint32_t cqn;
	uint32_t arm_count; /* events had so far */
	struct xenib_uar *uar;
	struct xenib_buf buf;
	uint8_t dbrec_shift;
};

static inline struct xenib_cq *to_xcq(struct ibv_cq *ibcq)
{
	return container_of(ibcq, struct xenib_cq, vcq.cq);
}

static inline struct xenib_cq *to_xcq_ex(struct ibv_cq_ex *ibcq)
{
	return container_of(ibcq, struct xenib_cq, vcq.cq_ex);
}

/**
 * xenib_cq_init_cqes() - makes all CQEs the HCA's. @cq has cqes and mask set.
 */
void xenib_cq_init_cqes(struct xenib_cq *cq);

/**
 * xenib_cq_clean() - drops the completions of a QP that is reset or destroyed on the HCA; receive
 * WQEs of its SRQ become free. Call with the CQ locked.
 */
void xenib_cq_clean(struct xenib_cq *cq, struct xenib_qp *qp);

/**
 * xenib_cq_set_lazy() - fills in the functions of the extended CQ interface.
 * @wc_flags: the fields that will be read, of XENIB_CQ_WC_FLAGS.
 */
void xenib_cq_set_lazy(struct xenib_cq *cq, uint64_t wc_flags);

#define XENIB_CQ_WC_FLAGS \
	(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | \
	 IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL | \
	 IBV_WC_EX_WITH_DLID_PATH_BITS)

#endif
