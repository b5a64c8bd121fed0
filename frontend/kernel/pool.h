/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pool.h - the memory through which the kernel's data passes. The HCA reaches it, and nothing else
 * of the kernel.
 *
 * It consists of segments, each a umem of 16 MiB at most. To the HCA they are at fixed addresses,
 * one for each 16 MiB from XENIB_POOL_BASE on, in each PD by a key of its own. Consumers know none
 * of these keys: they give XENIB_POOL_LKEY, which the HCA does not have.
 */
#ifndef XENIB_POOL_H
#define XENIB_POOL_H

#include <linux/io.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "kernel/origin.h"
#include "umem.h"
#include "vhca_request.h"

/* No physical address is as high, so a process's memory (dma.c) is not taken for the pool's. */
#define XENIB_POOL_BASE BIT_ULL(56)
#define XENIB_SEGMENT_SHIFT 24
#define XENIB_MAX_SEGMENTS 64
#define XENIB_POOL_END (XENIB_POOL_BASE + ((u64)XENIB_MAX_SEGMENTS << XENIB_SEGMENT_SHIFT))
#define XENIB_POOL_LKEY 0x100

/*
 * What is mapped when the backend is gone is nowhere to the HCA: from here on, by its physical
 * address. If posted it is flushed.
 */
#define XENIB_POOL_NOWHERE BIT_ULL(57)

/* A list is in no more pieces of the pool: as many as a region can have. */
#define XENIB_MAX_PIECES ((u32)XEN_VHCA_MAX_MW_ENTRIES)

/* Memory is given out in multiples of it. */
#define XENIB_GRANULE_SHIFT 10

/* Granules that most places have at most: a page, or a packet */
#define XENIB_SMALL 8

struct xenib_pd;

struct xenib_segment {
	struct xenib_umem umem;
	struct xenib_origin *origins; /* of each granule */
	unsigned long *used;          /* a bit for each granule */
	unsigned int granules;
	unsigned int taken; /* of these */
};

struct xenib_pool {
	struct xenib_context *ctx;
	struct mutex lock; /* of what follows; inside of it: */
	spinlock_t space;  /* of what is used, and of changes to the segments */
	struct xenib_segment *segments[XENIB_MAX_SEGMENTS];
	unsigned int count;
	size_t granules; /* of all segments */
	size_t taken;
	bool missed;                /* something had no place, since there was a segment more */
	bool refused;               /* the last try to grow */
	unsigned long retry;        /* jiffies: if so, not before */
	u64 hints[XENIB_SMALL + 1]; /* of each small size, where one came or went last; 0: none */
	struct list_head users;     /* struct xenib_pool_keys */
	struct work_struct grow;
};

/* Of a PD. */
struct xenib_pool_keys {
	struct list_head list;
	const struct xenib_pool *pool;
	xen_vhca_handle_t pd;
	u32 lkeys[XENIB_MAX_SEGMENTS]; /* 0: none */
	xen_vhca_handle_t mrs[XENIB_MAX_SEGMENTS];
	struct xarray regions; /* mr.c: struct xenib_kmr, by its key without the lowest byte */
};

/** xenib_pool_init() - an empty pool. */
void xenib_pool_init(struct xenib_pool *pool, struct xenib_context *ctx);

/** xenib_pool_exit() - when no consumer has anything of it. */
void xenib_pool_exit(struct xenib_pool *pool);

/** xenib_pool_start() - there is something in it after that: before a consumer has the first PD. */
int xenib_pool_start(struct xenib_pool *pool);

/**
 * xenib_pool_keys_get() - the PD's keys, which are made when it is asked for them first.
 *
 * Return: ERR_PTR() if they cannot be made.
 */
struct xenib_pool_keys *xenib_pool_keys_get(struct xenib_pool *pool, struct xenib_pd *pd);

/** xenib_pool_keys_put() - ends the PD's keys, if it has any. */
void xenib_pool_keys_put(struct xenib_pool *pool, struct xenib_pd *pd);

/** xenib_pool_has() - whether an address of the HCA's is one of the pool's, used or not. */
static inline bool xenib_pool_has(u64 addr)
{
	return addr >= XENIB_POOL_BASE && addr < XENIB_POOL_END;
}

static inline bool xenib_pool_is_nowhere(u64 addr)
{
	return addr >= XENIB_POOL_NOWHERE && addr < 2 * XENIB_POOL_NOWHERE;
}

static inline unsigned int xenib_pool_segment(u64 addr)
{
	return (addr - XENIB_POOL_BASE) >> XENIB_SEGMENT_SHIFT;
}

static inline size_t xenib_pool_offset(u64 addr)
{
	return addr & (BIT_ULL(XENIB_SEGMENT_SHIFT) - 1);
}

/**
 * xenib_pool_alloc() - memory in one piece. In any context.
 * @align: of its address to the HCA, a power of two up to a segment's size
 *
 * Return: its address to the HCA; 0 if there is no place. Then the pool grows, if it may.
 */
u64 xenib_pool_alloc(struct xenib_pool *pool, size_t size, size_t align);

/** xenib_pool_is_dead() - whether the backend is gone, so that nothing is given out any more. */
bool xenib_pool_is_dead(const struct xenib_pool *pool);

/** xenib_pool_free() - @size is that of xenib_pool_alloc(). */
void xenib_pool_free(struct xenib_pool *pool, u64 addr, size_t size);

/** xenib_pool_kva() - where the kernel has what xenib_pool_alloc() has given. */
void *xenib_pool_kva(struct xenib_pool *pool, u64 addr);

/** xenib_pool_has_place() - whether there is memory at an address of a consumer's, any value. */
bool xenib_pool_has_place(const struct xenib_pool *pool, u64 addr);

/** xenib_pool_origin() - what is noted of a granule of the pool; zero if it is not used. */
struct xenib_origin *xenib_pool_origin(struct xenib_pool *pool, u64 addr);

/**
 * xenib_pool_mapped() - where the kernel has what a consumer has mapped, with a backend or without.
 * @addr: a consumer's, any value
 *
 * Return: NULL if it is not mapped.
 */
void *xenib_pool_mapped(struct xenib_pool *pool, u64 addr);

/**
 * xenib_pool_lkey() - the key that the HCA is to be told for an address of a consumer's.
 *
 * Return: false if it is not the pool's, or the PD has no key for it.
 */
static inline bool xenib_pool_lkey(const struct xenib_pool_keys *keys, u64 addr, u32 *lkey)
{
	if (!xenib_pool_has(addr))
		return false;
	*lkey = READ_ONCE(keys->lkeys[xenib_pool_segment(addr)]);
	return *lkey;
}

#endif
