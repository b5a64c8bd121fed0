/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * cm_mad.h - what is looked at of a MAD of the connection manager (InfiniBand, 12.6), and what is
 * changed in it. A MAD is CM_MAD_SIZE bytes, all at fixed places. Has no state, and nothing of the
 * kernel: unit tests and a fuzzer run it as it is.
 *
 * Each side of a connection has an id for it. A message carries the id of its sender ("local") and
 * that of its receiver ("remote"), as far as there are any yet. The exchange of datagrams' ids
 * (SIDR) has one id, the asker's.
 */
#ifndef XEN_IBGSI_CM_MAD_H
#define XEN_IBGSI_CM_MAD_H

#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
#endif

#define CM_MAD_SIZE 256

/* The number of the attribute; 0: no message of a connection manager, or none that is known. */
enum cm_kind {
	CM_NONE = 0,
	CM_REQ = 0x10,
	CM_MRA = 0x11,
	CM_REJ = 0x12,
	CM_REP = 0x13,
	CM_RTU = 0x14,
	CM_DREQ = 0x15,
	CM_DREP = 0x16,
	CM_SIDR_REQ = 0x17,
	CM_SIDR_REP = 0x18,
	CM_LAP = 0x19,
	CM_APR = 0x1a,
};

/* An IP address: the 4 or 16 bytes of its family, zeros behind them. */
struct cm_addr {
	__u8 family; /* 4 or 6 */
	__u8 at[16];
};

/* What a guest may call its own. In the byte order of the wire. */
struct cm_own {
	__u8 gid[16];
	__u8 guid[8];
	__u16 lid; /* as a number, as is the mask */
	__u16 lid_mask;
};

enum cm_kind cm_kind(const __u8 *mad);

/** cm_asks() - begins an exchange: its receiver is found by what it asks for. */
bool cm_asks(enum cm_kind kind);

/** cm_is_sidr() - has one id. */
bool cm_is_sidr(enum cm_kind kind);

/** cm_ends() - after this the ids are not needed but for what comes late. */
bool cm_ends(enum cm_kind kind);

/** cm_local_id(), cm_remote_id() - 0: none. */
__u32 cm_local_id(enum cm_kind kind, const __u8 *mad);
__u32 cm_remote_id(enum cm_kind kind, const __u8 *mad);

/** cm_set_local_id(), cm_set_remote_id() - of a message that has one. */
void cm_set_local_id(enum cm_kind kind, __u8 *mad, __u32 id);
void cm_set_remote_id(enum cm_kind kind, __u8 *mad, __u32 id);

/**
 * cm_destination() - the IP address that is asked for, of a service of rdma_cm's.
 * @kind: one that asks
 *
 * False: it has none.
 */
bool cm_destination(enum cm_kind kind, const __u8 *mad, struct cm_addr *to);

/**
 * cm_ipoib_asked() - the UD QP of the interface that a REQ of IPoIB's connected mode (RFC 4755)
 * asks for. 0: no such REQ.
 */
__u32 cm_ipoib_asked(enum cm_kind kind, const __u8 *mad);

/** cm_service() - the 8 bytes of the service's id that one which asks has. */
const __u8 *cm_service(const __u8 *mad);

/** cm_asker() - the GUID of the CA that a REQ says it is from; 0 of others. */
__be64 cm_asker(enum cm_kind kind, const __u8 *mad);

/** cm_asked_pkey() - the P_Key of the partition in which one that asks wants to be connected. */
__u16 cm_asked_pkey(enum cm_kind kind, const __u8 *mad);

/** cm_asked_gid() - the 16 bytes of the GID to which a REQ's primary path leads. */
const __u8 *cm_asked_gid(const __u8 *mad);

/** cm_ipoib_own() - that of its sender's interface, in such a REQ, and in the REP to it. */
__u32 cm_ipoib_own(enum cm_kind kind, const __u8 *mad);

/** cm_claims_only() - whether all that a message says of its sender's port is true. */
bool cm_claims_only(enum cm_kind kind, const __u8 *mad, const struct cm_own *own);

#endif
