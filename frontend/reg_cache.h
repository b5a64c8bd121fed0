/* SPDX-License-Identifier: GPL-2.0 */
/*
 * reg_cache.h - the registration cache: umems under MRs, shared by MRs of the same memory, and kept
 * for a while after the last of these is gone.
 *
 * Only the umem is kept, which is the pins, the grants and the backend's mapping: most of what a
 * registration costs. The MR itself ends when it is deregistered, so its keys are worth nothing
 * then, and the HCA cannot reach the memory.
 */
#ifndef XENIB_REG_CACHE_H
#define XENIB_REG_CACHE_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "umem.h"

#define XENIB_REG_CACHE_BITS 8

/* Of a device. */
struct xenib_reg_cache {
	struct xenib_dev *dev;
	bool small;      /* the backend keeps umems that came with an MR */
	spinlock_t lock; /* of all here, and of the states and users of umems */
	DECLARE_HASHTABLE(known, XENIB_REG_CACHE_BITS); /* those that can be found */
	struct list_head idle;                          /* without users, the longest first */
	size_t idle_pages;
	unsigned int idle_umems;
	struct list_head evicted; /* to be released by the work item */
	struct work_struct work;
	unsigned int releases; /* that the work item has done */
};

struct xenib_reg {
	struct xenib_umem umem; /* the owner's: no lock */

	/* All else is of reg_cache.c alone. */
	struct xenib_reg_cache *cache;
	struct mmu_interval_notifier notifier;
	bool watched; /* the notifier is in place */
	struct hlist_node known;
	struct list_head list;
	struct xenib_context *ctx;
	struct mm_struct *mm; /* compared, never followed */
	u64 first;            /* address of the first page */
	size_t pages;
	bool writable;
	unsigned int users;
	bool stale; /* the process has something else there by now */
};

/* small: XEN_VHCA_MR_REG_PERSISTENT may be used. */
void xenib_reg_cache_init(struct xenib_reg_cache *cache, struct xenib_dev *dev, bool small);

/* When no process uses the device any more. */
void xenib_reg_cache_exit(struct xenib_reg_cache *cache);

/*
 * The umem of this memory of the calling process, for one more MR: one that is there already, or
 * a new one, which is pinned and granted, but not offered to the backend yet (its handle is
 * XEN_VHCA_NO_HANDLE). Returns an ERR_PTR.
 */
struct xenib_reg *xenib_reg_cache_get(struct xenib_context *ctx, u64 addr, u64 length, int access);

/* The same of a dma-buf of the process: a new one each time, which is never shared. */
struct xenib_reg *xenib_reg_make_dmabuf(struct xenib_context *ctx, int fd, u64 offset, u64 length,
					int access);

/* Whether the backend is to keep it beyond its MR (XEN_VHCA_MR_REG_PERSISTENT). */
static inline bool xenib_reg_may_persist(const struct xenib_reg *reg)
{
	return reg->watched && reg->cache->small;
}

/* From now on others may get it. Does nothing if it has no handle, or is known already. */
void xenib_reg_cache_share(struct xenib_reg *reg);

/* Ends a use: after the MR is gone. The umem may be kept; one that was not shared is not. */
void xenib_reg_cache_put(struct xenib_reg *reg);

/* To be asked before what may want for memory or quotas: for xenib_reg_cache_flush(). */
unsigned int xenib_reg_cache_releases(const struct xenib_reg_cache *cache);

/*
 * Releases all umems of the device that nobody uses, as memory or quotas have run out. Returns
 * whether there were any, also such as others have released since.
 */
bool xenib_reg_cache_flush(struct xenib_reg_cache *cache, unsigned int since);

/* Releases what is kept of a context without MRs. */
void xenib_reg_cache_forget(struct xenib_context *ctx);

#endif
