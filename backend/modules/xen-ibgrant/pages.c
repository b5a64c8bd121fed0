// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* pages.c - see pages.h. */
#include "pages.h"

#define PAGE ((__u64)1 << IBGRANT_PAGE_SHIFT)

bool ibgrant_fits(__u32 first, __u32 count, __u32 pages)
{
	return count && first < pages && count <= pages - first;
}

bool ibgrant_claim(struct ibgrant_pages *pages, __u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++) {
		if (pages->handle[i] != IBGRANT_FREE)
			return false;
	}
	for (i = first; i < first + count; i++)
		pages->handle[i] = IBGRANT_CLAIMED;
	return true;
}

void ibgrant_unclaim(struct ibgrant_pages *pages, __u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++)
		pages->handle[i] = IBGRANT_FREE;
}

void ibgrant_settle(struct ibgrant_pages *pages, __u32 count)
{
	pages->settled += count;
}

bool ibgrant_is_mapped(const struct ibgrant_pages *pages, __u32 at)
{
	return pages->handle[at] != IBGRANT_FREE && pages->handle[at] != IBGRANT_CLAIMED;
}

bool ibgrant_complete(const struct ibgrant_pages *pages)
{
	return pages->settled == pages->count;
}

__u32 ibgrant_run(const struct ibgrant_pages *pages, __u32 at, __u32 end, __u32 most)
{
	__u32 n = 1;

	while (n < most && at + n < end && pages->addr[at + n] == pages->addr[at] + n * PAGE)
		n++;
	return n;
}
