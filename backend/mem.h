/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * mem.h - a region of the guest's memory, mapped as one contiguous range of addresses.
 *
 * The addresses are reserved first (PROT_NONE), then chunks of pages are mapped over them as they
 * come. A chunk that cannot be mapped leaves the reservation as it was, so the guest may try again.
 * The daemon never reads or writes what is mapped.
 */
#ifndef XEN_IB_MEM_H
#define XEN_IB_MEM_H

#include <stdbool.h>
#include <stdint.h>

#include "transport.h"
#include "vhca.h"

struct region {
	uint8_t *base;
	uint32_t pages;
	uint32_t present; /* pages that are mapped */
	bool read_only;
	uint8_t *state;   /* of each page, see mem.c */
};

/* region_init - reserves addresses. 0 or -ENOMEM. */
int region_init(struct region *region, uint32_t pages, bool read_only);

/* region_fini - unmaps and releases all. No HCA may have anything of it registered any more. */
void region_fini(struct region *region);

/*
 * region_claim, region_map, region_settle - add a chunk, in three steps so that the slow one needs
 * no lock: claim under the caller's lock (false: a page of it has come before, or is out of range),
 * map without, settle under the lock again with the result of map.
 */
bool region_claim(struct region *region, uint32_t first, uint32_t count);
int region_map(struct region *region, struct transport *t, uint32_t first, const uint32_t *refs,
	       uint32_t count);
void region_settle(struct region *region, uint32_t first, uint32_t count, int err);

static inline bool region_complete(const struct region *region)
{
	return region->present == region->pages;
}

#endif
