/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mem.h - memory of a process that the HCA is to use: pinned, granted, offered to the backend as a
 * region; and pages of doorbell records, which a process's objects share.
 */
#ifndef XENIB_MEM_H
#define XENIB_MEM_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <xen/grant_table.h>

#include "vhca.h"

struct ib_umem;
struct mm_struct;
struct xenib_dev;
struct xenib_ucontext;

struct xenib_region {
	struct ib_umem *umem;     /* NULL: nothing here */
	grant_ref_t *refs;        /* of each page */
	xen_vhca_handle_t handle; /* of the region, once offered */
};

/*
 * Pins length bytes at addr of the calling process, and grants their pages. access: as for
 * ib_umem_get(); where it allows no writing the grants are read-only. Undone by
 * xenib_region_release().
 */
int xenib_region_pin(struct xenib_dev *dev, struct xenib_region *region, u64 addr, u64 length,
		     int access);

/* Offers a pinned region to the backend: all of it, or nothing. */
int xenib_region_offer(struct xenib_ucontext *ctx, struct xenib_region *region);

/*
 * Ends all of it: the backend's region if there is one, the grants, the pins. Only when no object
 * uses the region any more.
 */
void xenib_region_release(struct xenib_dev *dev, struct xenib_region *region);

/* Both of the first two, for a queue: addr page aligned, or -EINVAL. */
int xenib_region_create(struct xenib_ucontext *ctx, struct xenib_region *region, u64 addr,
			u64 length);

/* Where a pinned region begins: the place of its first byte. All zero if nothing is pinned. */
struct xen_vhca_place xenib_region_place(const struct xenib_region *region);

/* The pages of doorbell records of a context. */
struct xenib_dbr_pages {
	struct mutex lock; /* of the list and the counts */
	struct list_head list;
};

struct xenib_dbr_page {
	struct list_head list;
	struct mm_struct *mm; /* compared, never followed; the umem keeps it from being reused */
	u64 addr;
	unsigned int users;
	struct xenib_region region;
};

struct xenib_dbr {
	struct xenib_dbr_page *page;
	u32 offset;
};

void xenib_dbr_pages_init(struct xenib_dbr_pages *pages);

/* The doorbell record at addr (8-aligned, or -EINVAL) of the calling process. */
int xenib_dbr_get(struct xenib_ucontext *ctx, struct xenib_dbr *dbr, u64 addr);
void xenib_dbr_put(struct xenib_ucontext *ctx, struct xenib_dbr *dbr);
struct xen_vhca_place xenib_dbr_place(const struct xenib_dbr *dbr);

#endif
