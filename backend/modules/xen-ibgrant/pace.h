/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * pace.h - when a guest is notified of events, and how long that took.
 *
 * A vector that has news is notified at once, unless there have been too many notifications: so
 * many at a time, and so many more in each millisecond. Then it waits, and what comes meanwhile is
 * told of by the same notification. The caller has a lock, and a clock.
 *
 * It compiles in the kernel and, for its tests, in user space.
 */
#ifndef XEN_IBGRANT_PACE_H
#define XEN_IBGRANT_PACE_H

#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
#endif

#include "xen-ibgrant.h"

#define IBGRANT_BURST 2048u
#define IBGRANT_EACH_NS 31250u   /* 32 in a millisecond */
#define IBGRANT_REST_NS 1000000u /* once it has to wait, it waits that long: the timer costs, too */

struct ibgrant_pace {
	__u64 tat_ns;  /* theoretical arrival time (GCRA): when all that was spent is regained */
	__u32 waiting; /* vectors with news, a bit each */
	__u64 since_ns[XEN_IBGRANT_MAX_VECTORS];
	struct xen_ibgrant_times times;
};

/** ibgrant_pace_add() - a vector has news. */
void ibgrant_pace_add(struct ibgrant_pace *pace, __u32 vector, __u64 now_ns);

/**
 * ibgrant_pace_next() - which vector to notify now; -1: none.
 * @rest_ns: then: in how long to ask again; 0: nothing waits
 */
int ibgrant_pace_next(const struct ibgrant_pace *pace, __u64 now_ns, __u64 *rest_ns);

/** ibgrant_pace_done() - the vector has been notified, and has no news any more. */
void ibgrant_pace_done(struct ibgrant_pace *pace, __u32 vector, __u64 now_ns);

#endif
