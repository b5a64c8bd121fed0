/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR Linux-OpenIB */
/*
 * xen-ibgrant.h - /dev/xen-ib-grant, as the daemon sees it.
 *
 * Pages that one domain has granted become dma-bufs, for devices alone: no process has them
 * mapped. A dma-buf that XEN_IBGRANT_CREATE has made owns its grants. They are unmapped when
 * nobody has it any more: no descriptor, no memory region, no range of it.
 *
 * An errno of any of these:
 *	EINVAL	a number that makes no sense, or what Xen says of a reference
 *	EPERM	the file is not bound, or the dma-buf is of another file
 *	EBUSY	it is bound already; pages that are there, or being added, already
 *	EDQUOT	more than the file may have
 *	ENOSPC	Xen has no room for more mapped grants
 *	EAGAIN	Xen cannot map a page right now
 */
#ifndef XEN_IBGRANT_H
#define XEN_IBGRANT_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define XEN_IBGRANT_DEVICE "/dev/xen-ib-grant"

/* The most that a dma-buf has, and that are added at a time. */
#define XEN_IBGRANT_MAX_PAGES 0x1000000u
#define XEN_IBGRANT_MAX_ADD 0x10000u

/*
 * From now on this file is about one domain: once, and by root, who needs no capability and may
 * give it away then. All dma-bufs of the file together have @pages pages at most. Ranges have none
 * of their own, and there are no more of them than that.
 */
struct xen_ibgrant_bind {
	__u32 domid;
	__u32 pages;
};

#define XEN_IBGRANT_READ_ONLY 1u /* the device only reads, and the grants may allow no more */

/* A dma-buf of so many pages that are still to be added. Nobody can import it before. */
struct xen_ibgrant_create {
	__u32 pages;
	__u32 flags;
	__s32 fd; /* out */
	__u32 reserved;
};

/* Maps @count grants as its pages from @first on: all of them, or none. */
struct xen_ibgrant_add {
	__s32 fd;
	__u32 first;
	__u32 count;
	__u32 reserved;
	__u64 refs; /* const __u32 * */
};

/*
 * Another dma-buf, which is a part of one that is complete. Who imports a dma-buf has a table of
 * all of it; this one keeps that small.
 */
struct xen_ibgrant_range {
	__s32 fd;
	__u32 first;
	__u32 count;
	__s32 range; /* out: its descriptor */
};

#define XEN_IBGRANT_BIND _IOW('X', 0x50, struct xen_ibgrant_bind)
#define XEN_IBGRANT_CREATE _IOWR('X', 0x51, struct xen_ibgrant_create)
#define XEN_IBGRANT_ADD _IOW('X', 0x52, struct xen_ibgrant_add)
#define XEN_IBGRANT_RANGE _IOWR('X', 0x53, struct xen_ibgrant_range)

#endif
