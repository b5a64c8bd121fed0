/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * pd.h - protection domains, thread domains, and parent domains, which join one of each.
 */
#ifndef XENIB_PD_H
#define XENIB_PD_H

#include <stdatomic.h>

#include <infiniband/driver.h>

#include "uar.h"

/* The program promises that what is made in a thread domain is used by one thread at a time. */
struct xenib_td {
	struct ibv_td td;
	struct xenib_uar uar;
	atomic_int users; /* parent domains */
};

/* A protection domain, or a parent domain: that has a parent, and shares the parent's handle. */
struct xenib_pd {
	struct ibv_pd pd;
	struct xenib_pd *parent;
	struct xenib_td *td;
	atomic_int users; /* parent domains, or queues of one */

	/* Of a parent domain whose program gives memory for queues; else NULL. */
	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
		       uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type);
	void *pd_context;
};

static inline struct xenib_pd *to_xpd(struct ibv_pd *pd)
{
	return container_of(pd, struct xenib_pd, pd);
}

/** xenib_pd_td() - the thread domain of a parent domain, or NULL. */
static inline struct xenib_td *xenib_pd_td(struct ibv_pd *pd)
{
	return to_xpd(pd)->td;
}

#endif
