/* SPDX-License-Identifier: GPL-2.0 */
/*
 * origin.h - where in the kernel's memory the data is of which the pool (pool.h) has a copy, and
 * copying between the two. It is noted for each granule of what is mapped, until it is freed.
 *
 * What a consumer has mapped to be sent is copied when it is posted. Some fill their buffers after
 * they have mapped them, as the NVMe target does: memory is coherent on most machines.
 *
 * What the HCA has written is copied when the completion that tells of it is polled (recv.h,
 * reads.h), so the end of a mapping has nothing left to copy. Of what the other end writes into a
 * region nobody tells: that is copied when its mapping ends, or is given to the CPU. It is shared.
 */
#ifndef XENIB_ORIGIN_H
#define XENIB_ORIGIN_H

#include <linux/scatterlist.h>
#include <linux/types.h>

struct xenib_pool;

/* Of a granule. All of it is zero for what is not mapped. */
struct xenib_origin {
	union {
		u8 *data;
		struct scatterlist *element;
	};
	u32 offset;    /* in the element */
	u32 left : 29; /* octets of the mapping, or of this piece of it, from here on */
	u32 is_list : 1;
	u32 is_sent : 1;   /* mapped to be sent */
	u32 is_shared : 1; /* the copy is what counts */
};

/** xenib_origin_note() - a mapping of its own; data: in the kernel's memory. */
void xenib_origin_note(struct xenib_pool *pool, u64 addr, void *data, size_t size, bool is_sent);

/**
 * xenib_origin_note_list() - a list, which stays as it is for as long as it is mapped.
 * @list: with addresses and lengths of its pieces in the pool
 */
void xenib_origin_note_list(struct xenib_pool *pool, struct scatterlist *list, int pieces,
			    bool is_sent);

/* Copying: in any context. Nothing is copied of what is not mapped, whatever the address is. */

/** xenib_origin_copy_in() - to the pool, of all that is mapped. */
void xenib_origin_copy_in(struct xenib_pool *pool, u64 addr, size_t size);

/**
 * xenib_origin_copy_out() - from the pool, of what is mapped to be written: the HCA has written
 * exactly this.
 */
void xenib_origin_copy_out(struct xenib_pool *pool, u64 addr, size_t size);

/** xenib_origin_copy_shared() - from the pool, of what is shared. */
void xenib_origin_copy_shared(struct xenib_pool *pool, u64 addr, size_t size);

/** xenib_origin_fetch() - to the pool, for a WR that sends it: of all but what is shared. */
void xenib_origin_fetch(struct xenib_pool *pool, u64 addr, size_t size);

/**
 * xenib_origin_share() - for a region, or a mapping by which both sides write: the pool gets what
 * it has not, and what is mapped to be written is shared from now on.
 */
void xenib_origin_share(struct xenib_pool *pool, u64 addr, size_t size);

/** xenib_origin_is_written() - whether an address there is of what is mapped to be written. */
bool xenib_origin_is_written(struct xenib_pool *pool, u64 addr);

#endif
