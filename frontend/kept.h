/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kept.h - the registration cache: regions under MRs, shared by MRs of the same memory, and kept
 * for a while after the last of these is gone.
 *
 * Only the region is kept, which is the pins, the grants and the backend's mapping: most of what a
 * registration costs. The MR itself ends when it is deregistered, so its keys are worth nothing
 * then, and the HCA cannot reach the memory.
 */
#ifndef XENIB_KEPT_H
#define XENIB_KEPT_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "mem.h"

#define XENIB_KEPT_BITS 8

/* Of a device. */
struct xenib_keeper {
	struct xenib_dev *dev;
	bool small; /* the backend keeps regions that came with an MR */
	spinlock_t lock; /* of all here, and of the states and users of regions */
	DECLARE_HASHTABLE(known, XENIB_KEPT_BITS); /* those that can be found */
	struct list_head idle; /* without users, the longest first */
	size_t idle_pages;
	unsigned int idle_regions;
	struct list_head doomed; /* to be released by the work item */
	struct work_struct work;
};

struct xenib_kept {
	struct xenib_region region; /* the owner's: no lock */

	/* All else is of kept.c alone. */
	struct xenib_keeper *keeper;
	struct mmu_interval_notifier notifier;
	bool watched; /* the notifier is in place */
	struct hlist_node known;
	struct list_head list;
	struct xenib_ucontext *ctx;
	struct mm_struct *mm; /* compared, never followed */
	u64 first;            /* address of the first page */
	size_t pages;
	bool writable;
	unsigned int users;
	bool stale; /* the process has something else there by now */
};

/* small: XEN_VHCA_MR_REG_KEEP may be used. */
void xenib_keeper_init(struct xenib_keeper *keeper, struct xenib_dev *dev, bool small);

/* When no process uses the device any more. */
void xenib_keeper_exit(struct xenib_keeper *keeper);

/*
 * The region of this memory of the calling process, for one more MR: one that is there already, or
 * a new one, which is pinned and granted, but not offered to the backend yet (its handle is
 * XEN_VHCA_NO_HANDLE). Returns an ERR_PTR.
 */
struct xenib_kept *xenib_kept_get(struct xenib_ucontext *ctx, u64 addr, u64 length, int access);

/* Whether the backend is to keep it beyond the MR that it comes with (XEN_VHCA_MR_REG_KEEP). */
static inline bool xenib_kept_may_outlive(const struct xenib_kept *kept)
{
	return kept->watched && kept->keeper->small;
}

/* From now on others may get it. Does nothing if it has no handle, or is known already. */
void xenib_kept_share(struct xenib_kept *kept);

/* Ends a use: after the MR is gone. The region may be kept; one that was not shared is not. */
void xenib_kept_put(struct xenib_kept *kept);

/*
 * Releases all regions of the device that nobody uses, as memory or quotas have run out. Returns
 * whether there were any.
 */
bool xenib_kept_flush(struct xenib_keeper *keeper);

/* Releases what is kept of a context without MRs. */
void xenib_kept_forget(struct xenib_ucontext *ctx);

#endif
