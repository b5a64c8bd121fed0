/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srq.h - shared receive queues.
 *
 * The HCA takes receive WQEs in the order of a list whose links are in the WQEs themselves. A WQE
 * is posted at the head of the list's free part and returns to its tail when its completion has
 * been polled. One WQE is always free, so that the tail has a WQE whose link is still to be
 * written.
 *
 * What this library itself relies on, the links and which WQEs are posted, is kept in memory of its
 * own; what the HCA's owner could alter is only written and never read.
 */
#ifndef XENIB_SRQ_H
#define XENIB_SRQ_H

#include <infiniband/driver.h>

#include "buf.h"
#include "lock.h"

struct xenib_srq_wqe {
	uint64_t wr_id;
	uint16_t next; /* of a free WQE: the next free one */
	bool posted;
};

struct xenib_srq {
	struct verbs_srq vsrq;
	struct xenib_lock lock;
	struct xenib_srq_wqe *wqe;
	uint8_t *wqes;    /* the HCA's part of each */
	uint32_t shift;   /* log2 of the bytes of a WQE */
	uint32_t mask;    /* WQEs - 1 */
	uint32_t max_sge;
	uint32_t head;    /* the WQE to be posted next */
	uint32_t tail;    /* the free WQE that is posted last */
	uint32_t posted;  /* free running */
	__be32 *dbrec;
	struct xenib_buf buf;
	uint8_t dbrec_shift;
};

static inline struct xenib_srq *to_xsrq(struct ibv_srq *ibsrq)
{
	return container_of(ibsrq, struct xenib_srq, vsrq.srq);
}

/**
 * xenib_srq_init_list() - links all WQEs. @srq has wqe, wqes, shift and mask set.
 */
void xenib_srq_init_list(struct xenib_srq *srq);

/**
 * xenib_srq_take() - a WQE whose completion has been polled returns to the free ones.
 * @index: from the CQE, any value.
 * @wr_id: is set to what the WQE was posted with.
 *
 * Return: false if no such WQE is posted.
 */
bool xenib_srq_take(struct xenib_srq *srq, uint16_t index, uint64_t *wr_id);

#endif
