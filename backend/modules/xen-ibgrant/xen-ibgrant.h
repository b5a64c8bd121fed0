/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR Linux-OpenIB */
/*
 * xen-ibgrant.h - /dev/xen-ib-grant, as the daemon sees it.
 *
 * Pages that one domain has granted become dma-bufs, for devices alone: no process has them
 * mapped. A dma-buf that XEN_IBGRANT_CREATE has made owns its grants. They are unmapped when
 * nobody has it any more: no descriptor, no memory region, no range of it.
 *
 * And the domain is told of completions from the interrupt, without a process of this domain's: a
 * file that XEN_IBGRANT_EVENTS has made watches completion channels of uverbs. Each has one CQ.
 *
 * An errno of any of these:
 *	EINVAL	a number that makes no sense, or what Xen says of a reference
 *	EPERM	the file is not bound, or the dma-buf is of another file
 *	EBUSY	it is bound already; pages that are there or being added; a channel that is watched
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
 * The domain's memory is translated by Xen (PVH, HVM): it has no page that must not be written lest
 * it gets at others' memory. The page tables of a PV domain are such, and it can grant them for
 * reading.
 */
#define XEN_IBGRANT_TRANSLATED 1u

/*
 * From now on this file is about one domain: once, and by root, who needs no capability and may
 * give it away then. All dma-bufs of the file together have @pages pages at most. Ranges have none
 * of their own, and there are no more of them than that.
 */
struct xen_ibgrant_bind {
	__u32 domid;
	__u32 pages;
	__u32 flags;
	__u32 reserved;
};

/*
 * The device only reads, and the grants may allow no more. Whether it does is up to who imports the
 * dma-buf, who does not say so; and a PV domain here has no IOMMU that knows better. So there is no
 * such dma-buf of another PV domain's pages: EOPNOTSUPP.
 */
#define XEN_IBGRANT_READ_ONLY 1u

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
/*
 * Events of the domain's: the call returns the descriptor of a file for them, of which there is one
 * at a time. It has the page of bits mapped and the event channels bound until it is closed.
 * EOPNOTSUPP: this kernel has no uverbs as a module, so no file could be seen to be of it.
 *
 * The file is readable (poll) when XEN_IBGRANT_MUCH_UNREAD have been told of that nobody has read
 * from the channels, until all their watches are taken. read() takes the watches, a __u32 each,
 * whose channels have something; EAGAIN: none. The kernel stores what a channel has until somebody
 * reads it, or the channel ends.
 */
#define XEN_IBGRANT_MUCH_UNREAD 64u
#define XEN_IBGRANT_MAX_VECTORS 8
#define XEN_IBGRANT_EVENT_BITS 32768u /* of a page */
#define XEN_IBGRANT_MAX_WATCHES 65536u

struct xen_ibgrant_events {
	__u32 bits;                           /* reference of the page, which is to be writable */
	__u32 vectors;                        /* 1 to XEN_IBGRANT_MAX_VECTORS */
	__u32 ports[XEN_IBGRANT_MAX_VECTORS]; /* the domain's, one for each vector */
};

/*
 * Of that file: from now on each completion event of a channel sets the bit, and notifies the
 * vector. A channel has one watch at a time.
 */
struct xen_ibgrant_watch {
	__s32 fd;
	__u32 bit;
	__u32 vector;
	__u32 watch; /* out: a name for it */
};

#define XEN_IBGRANT_BUCKETS 24

/*
 * From the interrupt to the notification, also if that had to wait; buckets as in util/histogram.h.
 */
struct xen_ibgrant_times {
	__u64 count, sum_ns, max_ns;
	__u64 buckets[XEN_IBGRANT_BUCKETS];
};

struct xen_ibgrant_event_stats {
	__u64 completions; /* events that watched channels had */
	struct xen_ibgrant_times notified;
};

#define XEN_IBGRANT_RANGE _IOWR('X', 0x53, struct xen_ibgrant_range)
#define XEN_IBGRANT_EVENTS _IOW('X', 0x54, struct xen_ibgrant_events)

/*
 * Calls of that file. UNWATCH takes a watch, and nothing is told of its channel any more when it
 * returns; NOTIFY takes a vector, which is notified of what the caller has written. Both are
 * numbers in the place of an address.
 */
#define XEN_IBGRANT_WATCH _IOWR('X', 0x55, struct xen_ibgrant_watch)
#define XEN_IBGRANT_UNWATCH _IO('X', 0x56)
#define XEN_IBGRANT_NOTIFY _IO('X', 0x57)
#define XEN_IBGRANT_EVENT_STATS _IOR('X', 0x58, struct xen_ibgrant_event_stats)

#endif
