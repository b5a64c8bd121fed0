/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grant.h - what the files of xen-ibgrant share.
 *
 * A buffer owns mapped grants. A view is a dma-buf: of all of a buffer, or of a range. Each view
 * has a reference of the buffer's, and memory regions have one of a view's; so the last of them
 * unmaps, in whatever order processes end. An owner is what a file is bound to. Buffers have a
 * reference of it, as they may outlive the file.
 */
#ifndef XEN_IBGRANT_GRANT_H
#define XEN_IBGRANT_GRANT_H

#include <linux/dma-buf.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <xen/grant_table.h>
#include <xen/interface/xen.h>

#include "pages.h"
#include "xen-ibgrant.h"

/* Operations of a hypercall: one is not preempted. Those that unmap are on the stack. */
#define MAP_BATCH 512u
#define UNMAP_BATCH 32u

struct ibgrant_owner {
	struct kref kref;
	domid_t domid;
	u32 limit;
	bool may_read_only; /* have dma-bufs of pages that can only be read */
	spinlock_t lock;    /* of what follows: */
	u32 pages, ranges;  /* that there are */
	bool events;        /* there is a file for them */
};

struct ibgrant_buf {
	struct kref kref;
	struct ibgrant_owner *owner;
	bool read_only;
	struct mutex lock; /* of the pages */
	struct ibgrant_pages pages;
	struct page **host; /* on an auto-translated domain: where they are mapped */
};

struct ibgrant_view {
	struct ibgrant_buf *buf;
	u32 first, count;
	bool whole; /* the one that pages can be added to */
};

/* buf.c */

/** ibgrant_owner_new() - NULL: out of memory. */
struct ibgrant_owner *ibgrant_owner_new(domid_t domid, u32 limit);
void ibgrant_owner_put(struct ibgrant_owner *owner);

/** ibgrant_owner_range() - counts one more range, or (-1) one less. -EDQUOT: there are too many. */
int ibgrant_owner_range(struct ibgrant_owner *owner, int change);

/** ibgrant_owner_events() - there is a file for events (false: already), or not any more. */
bool ibgrant_owner_events(struct ibgrant_owner *owner, bool begin);

/** ibgrant_buf_new() - of pages that are to be added. Returns an ERR_PTR() if it cannot. */
struct ibgrant_buf *ibgrant_buf_new(struct ibgrant_owner *owner, u32 pages, bool read_only);
void ibgrant_buf_put(struct ibgrant_buf *buf);

/** ibgrant_buf_add() - maps grants as pages of a buffer: all or none. Ends early if killed. */
int ibgrant_buf_add(struct ibgrant_buf *buf, u32 first, u32 count, const u32 __user *refs);

/** ibgrant_buf_complete() - whether it does not change any more. */
bool ibgrant_buf_complete(struct ibgrant_buf *buf);

/* map.c */

/** ibgrant_mapped() - how many grants are mapped, of all files. */
u64 ibgrant_mapped(void);

/**
 * ibgrant_map() - maps @n of a buffer's pages from @at on, which the caller has claimed.
 * @op: room for @n
 *
 * Return: 0; or an errno, and none is mapped.
 */
int ibgrant_map(struct ibgrant_buf *buf, u32 at, u32 n, const u32 *refs,
		struct gnttab_map_grant_ref *op);

/** ibgrant_unmap() - unmaps those of @n pages that are mapped: they are claimed afterwards. */
void ibgrant_unmap(struct ibgrant_buf *buf, u32 at, u32 n);

/* A page of the guest's that the kernel writes to. */
struct ibgrant_page {
	struct page *page;
	grant_handle_t handle;
};

/** ibgrant_map_page() - 0, or an errno, and *page has none. */
int ibgrant_map_page(struct ibgrant_page *page, domid_t domid, grant_ref_t ref);
void ibgrant_unmap_page(struct ibgrant_page *page);

/* events.c */

/** ibgrant_events() - XEN_IBGRANT_EVENTS of a file with this owner. A descriptor, or an errno. */
int ibgrant_events(struct ibgrant_owner *owner, const void __user *user);

/* dmabuf.c */

/** ibgrant_export() - a dma-buf of a part of a buffer, which takes a reference of it. */
struct dma_buf *ibgrant_export(struct ibgrant_buf *buf, u32 first, u32 count, bool whole);

/** ibgrant_view_of() - NULL: not one of ours. */
struct ibgrant_view *ibgrant_view_of(struct dma_buf *dmabuf);

#endif
