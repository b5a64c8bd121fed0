/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * sa_table.h - a guest's transactions with the subnet's administration and others, those that an
 * answer may come for. On the wire each has a number of ours, which leads back to the guest's
 * transaction id.
 *
 * One that is answered in parts lives on for some time after its first part, as the guest then says
 * which have come. Times are of any clock that does not go backwards. The caller has a lock.
 *
 * It compiles in the kernel and, for its tests, in user space.
 */
#ifndef XEN_IBGSI_SA_TABLE_H
#define XEN_IBGSI_SA_TABLE_H

#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
#endif

#define SA_REQUESTS 256 /* at a time */

struct sa_request {
	__u32 number; /* 0: this one is free */
	__u32 era;    /* of the guest's kernel */
	__u64 tid;    /* the guest's */
	bool in_parts;
	__u32 last;  /* number of the last part; 0: it has not come */
	__u64 until; /* in parts: when it ends */

	/* The caller's */
	__u16 lid;  /* whose answer it waits for */
	bool whole; /* which has no parts */
};

struct sa_table {
	struct sa_request request[SA_REQUESTS];
	__u32 round;
};

/** sa_table_add() - a new one: its number, which none had for long; 0: there are too many. */
__u32 sa_table_add(struct sa_table *table, __u64 tid, __u32 era, __u64 now);

/** sa_table_find() - by its number; NULL: there is none (any more). */
struct sa_request *sa_table_find(struct sa_table *table, __u32 number);

/** sa_table_in_parts() - by the guest's id, one that is answered in parts; or NULL. */
struct sa_request *sa_table_in_parts(struct sa_table *table, __u64 tid, __u64 now);

/** sa_table_end() - nothing waits for it any more but, if it is in parts, the guest. */
void sa_table_end(struct sa_table *table, __u32 number);

/** sa_table_forget() - the guest does not wait for further parts of anything. */
void sa_table_forget(struct sa_table *table);

#endif
