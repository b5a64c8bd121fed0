/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR Linux-OpenIB */
/*
 * xen-ibgsi.h - /dev/xen-ib-gsi, as the daemon sees it.
 *
 * Whoever has it open is one vHCA to the fabric's management. XEN_IBGSI_ATTACH says of which port,
 * once; from then on
 *
 *   write()  of a struct xen_ibgsi_send: sends a MAD, as far as a guest may (sa.c, mcast.c, cm.c).
 *            An errno:
 *            EOPNOTSUPP  a class or method that guests do not have
 *            EINVAL      a MAD that claims what is not the guest's, or is malformed
 *            EAGAIN      more of them than in this time, or waiting for answers, than there may be
 *            ENODEV      the HCA is gone
 *   write()  of a struct xen_ibgsi_addr: the guest has an IP address, by which others ask for
 *            it, or has it no more. EBUSY: it is another's; EAGAIN: there are too many
 *   write()  of XEN_IBGSI_START: the guest's kernel has a part in the fabric's management: what
 *            others ask of it is for it from now on
 *   write()  of XEN_IBGSI_RESET: it has none any more. Its groups are left, its connections and
 *            addresses forgotten, answers that are under way are dropped.
 *   read()   of one struct xen_ibgsi_mad: what has come. EAGAIN: nothing has.
 *   read()   of any other number of u64: how much that was, by the first of struct
 *            xen_ibgsi_stats; as many of it as there are.
 *   poll()   POLLIN: something has come; POLLPRI: struct xen_ibgsi_stats has changed since it was
 *            read; POLLHUP: the HCA is gone
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

/*
 * After that, once: the vHCA has a GID of its own, of its node GUID, until the file is closed. Asks
 * the SA, and waits until the port has it. Errors, with which all is as before:
 *   ENETDOWN    the port knows no SA
 *   EADDRINUSE  the GUID is another port's
 *   EINVAL      the SA refuses it
 *   ENOSPC      the port's table has no place
 *   ETIMEDOUT   the SA does not answer, or the port does not get it
 *   EALREADY    it has one
 */
struct xen_ibgsi_alias {
	__u32 wait_ms; /* in: after the SA's answer, at most */
	__u32 index;   /* out: its place in the port's table */
	__u8 gid[16];  /* out */
};

#define XEN_IBGSI_ALIAS _IOWR('X', 0x4a, struct xen_ibgsi_alias)

/*
 * After XEN_IBGSI_ATTACH: the guest is asked for that service of the connection manager, if
 * neither a GID nor an IP address says who is. EBUSY: it is another guest's of the port; ENOSPC:
 * there are XEN_IBGSI_SERVICES.
 */
#define XEN_IBGSI_SERVICES 8
#define XEN_IBGSI_SERVICE _IOW('X', 0x4b, __be64)

/* What a write() is, is told by its size, */
#define XEN_IBGSI_RESET 1u /* which is 4 bytes for these two */
#define XEN_IBGSI_START 4u

#define XEN_IBGSI_ADDR_ADD 2u
#define XEN_IBGSI_ADDR_DEL 3u

struct xen_ibgsi_addr {
	__u32 command;
	__u8 family; /* 4 or 6 */
	__u8 reserved[3];
	__u8 addr[16]; /* of IPv4 the first 4 */
};

/* Where to is heard of a MAD that asks for a connection; the others go where their class goes. */
struct xen_ibgsi_send {
	__u8 dgid[16];
	__u32 flow_label;
	__u16 dlid;
	__u16 pkey_index;
	__u8 sl;
	__u8 has_grh;
	__u8 hop_limit;
	__u8 traffic_class;
	__u8 mad[XEN_IBGSI_MAD_SIZE];
};

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

/* Why a MAD of the guest's was refused */
enum xen_ibgsi_refusal {
	XEN_IBGSI_REFUSED_KIND,  /* a class, method or attribute that guests do not have */
	XEN_IBGSI_REFUSED_CLAIM, /* not the guest's GID, GUID, LID or P_Key, or malformed */
	XEN_IBGSI_REFUSED_ID,    /* of a connection that it does not have, or not in that state */
	XEN_IBGSI_REFUSED_RATE,  /* more in a second than it may send */
	XEN_IBGSI_REFUSED_LIMIT, /* too many connections, groups or queries at a time */
	XEN_IBGSI_REFUSALS
};

#define XEN_IBGSI_REFUSALS_MAX 8

/*
 * Grows at its end alone: an older daemon asks for less of it, an older module gives less. Smaller
 * than a struct xen_ibgsi_mad.
 */
struct xen_ibgsi_stats {
	__u64 sent;         /* MADs that the guest was allowed to */
	__u64 received;     /* MADs for the guest; */
	__u64 dropped;      /* others, as it had not read those before or there was no memory; */
	__u64 strays;       /* and others for a connection of its, but not from its peer */
	__u64 groups;       /* multicast groups that it is in now, or is about to be */
	__u64 conns;        /* connections that are established now */
	__u64 asked;        /* those that others ask for now, and the guest has not answered */
	__u64 conns_denied; /* requests of others dropped, as the guest has too many already */
	__u64 conns_aged;   /* connections that ended without an answer */
	__u64 refused[XEN_IBGSI_REFUSALS_MAX];
};

#endif
