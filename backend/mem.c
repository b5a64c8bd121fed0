// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mem.c - see mem.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "log.h"
#include "mem.h"

enum page_state {
	PAGE_RESERVED, /* ours, nothing mapped */
	PAGE_CLAIMED,  /* a command is mapping it */
	PAGE_MAPPED,
	PAGE_LOST      /* not ours any more: see region_map() */
};

#define LOST (-ESTALE) /* of region_map() to region_settle() */

static void *reserve(void *addr, size_t bytes, int flags)
{
	return mmap(addr, bytes, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

static size_t bytes_of(uint32_t pages)
{
	return (size_t)pages * XEN_VHCA_PAGE_SIZE;
}

int region_init(struct region *region, uint32_t pages, bool read_only)
{
	memset(region, 0, sizeof(*region));
	region->state = calloc(pages, 1);
	if (!region->state)
		return -ENOMEM;
	region->base = reserve(NULL, bytes_of(pages), 0);
	if (region->base == MAP_FAILED) {
		free(region->state);
		return -ENOMEM;
	}
	region->pages = pages;
	region->read_only = read_only;
	return 0;
}

/* Runs of pages that are ours; a lost page may belong to someone else by now. */
void region_fini(struct region *region)
{
	uint32_t first = 0, end;

	while (first < region->pages) {
		if (region->state[first] == PAGE_LOST) {
			first++;
			continue;
		}
		for (end = first; end < region->pages && region->state[end] != PAGE_LOST; end++)
			;
		if (munmap(region->base + bytes_of(first), bytes_of(end - first)))
			log_error("unmapping %u pages: %s", end - first, strerror(errno));
		first = end;
	}
	free(region->state);
	memset(region, 0, sizeof(*region));
}

bool region_claim(struct region *region, uint32_t first, uint32_t count)
{
	uint32_t i;

	if (first > region->pages || count > region->pages - first)
		return false;
	for (i = first; i < first + count; i++)
		if (region->state[i] != PAGE_RESERVED)
			return false;
	memset(region->state + first, PAGE_CLAIMED, count);
	return true;
}

/*
 * When mapping over a reservation fails, Linux has taken the reservation away already. It is made
 * again, but only if nobody else was given the addresses meanwhile (MAP_FIXED_NOREPLACE). If
 * somebody was, the pages are lost to the region for good.
 */
int region_map(struct region *region, struct transport *t, uint32_t first, const uint32_t *refs,
	       uint32_t count)
{
	void *addr = region->base + bytes_of(first), *at;
	int err;

	err = t->ops->map(t, refs, count, region->read_only, addr, &at);
	if (!err || at)
		return err;
	at = reserve(addr, bytes_of(count), MAP_FIXED_NOREPLACE);
	return at == addr ? err : LOST;
}

void region_settle(struct region *region, uint32_t first, uint32_t count, int err)
{
	enum page_state state = !err ? PAGE_MAPPED : err == LOST ? PAGE_LOST : PAGE_RESERVED;

	memset(region->state + first, state, count);
	if (!err)
		region->present += count;
}
