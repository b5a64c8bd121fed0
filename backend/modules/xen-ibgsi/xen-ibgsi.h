/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR Linux-OpenIB */
/*
 * xen-ibgsi.h - /dev/xen-ib-gsi, as the daemon sees it.
 *
 * Whoever has it open is one vHCA to the fabric's management. XEN_IBGSI_ATTACH says of which port,
 * once; from then on
 *
 *   write()  of a MAD: sends it, as far as a guest may (sa.c, mcast.c). 0 or an errno:
 *            EOPNOTSUPP  a class or method that guests do not have
 *            EINVAL      a MAD that claims what is not the guest's, or is malformed
 *            EAGAIN      more of them than in this time, or waiting for answers, than there may be
 *            ENODEV      the HCA is gone
 *   write()  of XEN_IBGSI_RESET: the guest's kernel begins anew. Its groups are left, answers that
 *            are under way are dropped.
 *   read()   of one struct xen_ibgsi_mad: what has come. EAGAIN: nothing has.
 *   read()   of one struct xen_ibgsi_stats: how much that was.
 *   poll()   POLLIN: something has come; POLLHUP: the HCA is gone
 *   close()  as XEN_IBGSI_RESET
 */
#ifndef XEN_IBGSI_H
#define XEN_IBGSI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define XEN_IBGSI_DEVICE "/dev/xen-ib-gsi"
#define XEN_IBGSI_NAME_MAX 64
#define XEN_IBGSI_MAD_SIZE 256
#define XEN_IBGSI_PKEYS 128

struct xen_ibgsi_attach {
	char device[XEN_IBGSI_NAME_MAX]; /* the HCA's name */
	__u32 port;
	__u32 domid;                       /* for the log */
	__be64 node_guid;                  /* of the vHCA */
	__u64 pkeys[XEN_IBGSI_PKEYS / 64]; /* bits: indices of those that it may use */
};

#define XEN_IBGSI_ATTACH _IOW('X', 0x49, struct xen_ibgsi_attach)

/* The only write() of 4 bytes */
#define XEN_IBGSI_RESET 1u

struct xen_ibgsi_mad {
	__u32 src_qpn;
	__u16 slid;
	__u16 pkey_index;
	__u8 sl;
	__u8 path_bits;
	__u8 has_grh;
	__u8 reserved[5];
	__u8 grh[40];
	__u8 mad[XEN_IBGSI_MAD_SIZE];
};

struct xen_ibgsi_stats {
	__u64 sent;     /* MADs that the guest was allowed to */
	__u64 received; /* MADs for the guest; */
	__u64 dropped;  /* others, as it had not read those before */
	__u64 groups;   /* multicast groups that it is in now, or is about to be */
};

#endif
