/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * cq.h - completion queues.
 */
#ifndef XENIB_CQ_H
#define XENIB_CQ_H

#include <infiniband/driver.h>
#include "queue/queues.h"

#include "queue_mem.h"

struct xenib_uar;

struct xenib_cq {
	struct verbs_cq vcq;
	struct xenib_cq_queue q;

	/* The completion that ibv_start_poll() or ibv_next_poll() found. */
	struct xenib_cqe *cqe;
	enum ibv_wc_opcode opcode;

	struct xenib_uar *uar;
	struct xenib_queue_mem mem;
	bool deferred; /* the kernel may not have made it; its number is unknown */
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
 * xenib_cq_set_lazy() - fills in the functions of the extended CQ interface.
 * @wc_flags: the fields that will be read, of XENIB_CQ_WC_FLAGS.
 */
void xenib_cq_set_lazy(struct xenib_cq *cq, uint64_t wc_flags);

#define XENIB_CQ_WC_FLAGS \
	(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | \
	 IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL | \
	 IBV_WC_EX_WITH_DLID_PATH_BITS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)

#endif
