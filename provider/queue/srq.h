/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srq.h - the list of an SRQ's WQEs.
 *
 * The HCA takes receive WQEs in the order of a list whose links are in the WQEs themselves. A WQE
 * is posted at the head of the list's free part and returns to its tail when its completion has
 * been polled. One WQE is always free, so that the tail has a WQE whose link is still to be
 * written.
 *
 * What this code itself relies on, the links and which WQEs are posted, is kept in memory of its
 * own; what the HCA's owner could alter is only written and never read.
 */
#ifndef XENIB_QUEUE_SRQ_H
#define XENIB_QUEUE_SRQ_H

#include "queue/queues.h"

/**
 * xenib_srq_init_list() - links all WQEs. @srq has wqe, wqes, shift and mask set.
 */
void xenib_srq_init_list(struct xenib_srq_queue *srq);

/**
 * xenib_srq_take() - a WQE whose completion has been polled returns to the free ones.
 * @index: from the CQE, any value.
 * @wr_id: is set to what the WQE was posted with.
 *
 * Return: false if no such WQE is posted.
 */
bool xenib_srq_take(struct xenib_srq_queue *srq, u16 index, u64 *wr_id);

#endif
