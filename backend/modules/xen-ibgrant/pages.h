/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * pages.h - which pages of a buffer are there, and which of them follow each other in the machine.
 *
 * A page is free, claimed by whoever is mapping it, or mapped. A buffer is complete when all are
 * mapped and settled: then it does not change any more. The caller has a lock, but who has claimed
 * pages needs none to map and unmap them.
 *
 * It compiles in the kernel and, for its tests, in user space.
 */
#ifndef XEN_IBGRANT_PAGES_H
#define XEN_IBGRANT_PAGES_H

#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
#endif

/* In the place of a handle, of which Xen never gives one as large. */
#define IBGRANT_FREE 0xffffffffu
#define IBGRANT_CLAIMED 0xfffffffeu

#define IBGRANT_PAGE_SHIFT 12 /* a grant is of 4 KiB */

struct ibgrant_pages {
	__u32 count;
	__u32 settled;
	__u32 *handle; /* of Xen's, for each page */
	__u64 *addr;   /* the device's address of each; NULL where there are none */
};

/** ibgrant_fits() - whether there is a first page, and as many as that. */
bool ibgrant_fits(__u32 first, __u32 count, __u32 pages);

/** ibgrant_claim() - false: one of them is not free, and none is claimed. They have to fit. */
bool ibgrant_claim(struct ibgrant_pages *pages, __u32 first, __u32 count);

/** ibgrant_unclaim() - those that were claimed are free again. None is mapped. */
void ibgrant_unclaim(struct ibgrant_pages *pages, __u32 first, __u32 count);

/** ibgrant_settle() - all that were claimed are mapped. */
void ibgrant_settle(struct ibgrant_pages *pages, __u32 count);

/** ibgrant_is_mapped() - whether there is a handle to unmap a page by. */
bool ibgrant_is_mapped(const struct ibgrant_pages *pages, __u32 at);

/** ibgrant_complete() - whether all are mapped and settled. */
bool ibgrant_complete(const struct ibgrant_pages *pages);

/** ibgrant_run() - how many pages from @at on, and before @end, are one piece of @most at most. */
__u32 ibgrant_run(const struct ibgrant_pages *pages, __u32 at, __u32 end, __u32 most);

#endif
