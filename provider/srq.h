/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srq.h - shared receive queues.
 */
#ifndef XENIB_SRQ_H
#define XENIB_SRQ_H

#include <infiniband/driver.h>

#include "queue_mem.h"
#include "queue/srq.h"

struct xenib_srq {
	struct verbs_srq vsrq;
	struct xenib_srq_queue q;
	struct xenib_queue_mem mem;
	struct xenib_qp_queues *arrivals; /* what CQEs name, if it is of an XRC domain; else NULL */
};

static inline struct xenib_srq *to_xsrq(struct ibv_srq *ibsrq)
{
	return container_of(ibsrq, struct xenib_srq, vsrq.srq);
}

#endif
