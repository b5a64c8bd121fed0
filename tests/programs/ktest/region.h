/* SPDX-License-Identifier: GPL-2.0 */
/*
 * region.h - memory of b's that is registered by a WR, and read and written by the other end.
 */
#ifndef KTEST_REGION_H
#define KTEST_REGION_H

#include <linux/scatterlist.h>

#include "ktest.h"

struct region {
	struct pair *pair;
	struct ib_mr *mr;
	struct end *owner; /* that registers it: b, if nobody says otherwise */
	u8 *memory;        /* a page for each element, which is a part of it */
	struct scatterlist *list;
	int count;  /* of elements */
	int pieces; /* that the list is in, for the HCA; 0: it is not mapped */
	bool apart; /* each element was mapped by itself */
	enum dma_data_direction direction;
	u32 bytes;
};

/* What the other end writes from and reads to, mapped. */
struct buffer {
	u8 *memory;
	u64 addr;
	u32 bytes;
};

#define REGION_ALL (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

/*
 * Of count elements, mapped as one list, or apart: each by itself, the last one first. Not
 * registered yet.
 */
int region_make(struct region *region, struct pair *pair, int count, bool apart);

/* Drains the QPs, so that nothing of it is under way. */
void region_end(struct region *region);

/* The list is mapped, or not any more: what was written is in memory then. */
int region_map(struct region *region);
void region_unmap(struct region *region);

/* Tells the region its list, from the octet skip on. */
int region_set(struct region *region, unsigned int skip);

/* Registers it with a new key, and invalidates a key. Their WRs complete with that status. */
int region_register(struct region *region, int access, enum ib_wc_status status);
int region_invalidate(struct end *end, u32 rkey, enum ib_wc_status status);

/* By a: RDMA of all of the buffer at an offset in the region; rkey: mostly the region's. */
int region_rdma(struct region *region, enum ib_wr_opcode opcode, u32 rkey, u64 at,
		const struct buffer *buffer, enum ib_wc_status status);

/* The region, not mapped, has from the octet skip on what is at want. */
int region_compare(const struct region *region, unsigned int skip, const u8 *want, u32 bytes);

int buffer_make(struct buffer *buffer, struct pair *pair, u32 bytes);
void buffer_end(struct buffer *buffer, struct pair *pair);

/* A pair, a region that is not registered, and a buffer of SMALL octets; and their end. */
#define SMALL 2048
int with_both(struct ib_device *dev, int count, bool apart,
	      int (*run)(struct region *region, const struct buffer *buffer, const void *arg),
	      const void *arg);

#endif
