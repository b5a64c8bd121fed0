/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * sa_mad.h - datagrams of the subnet's administration (SA): where their fields are (InfiniBand,
 * 15.2.1.1), and those of an MCMemberRecord in them (15.2.5.17). What is here is all that is ever
 * looked at. Guests and the fabric have written it: each function can be given any 256 bytes.
 *
 * It compiles in the kernel and, for its tests, in user space.
 */
#ifndef XEN_IBGSI_SA_MAD_H
#define XEN_IBGSI_SA_MAD_H

#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
#endif

#define MAD_BASE_VERSION 0
#define MAD_CLASS 1
#define MAD_METHOD 3
#define MAD_STATUS 4
#define MAD_TID 8

#define SA_STATUS_NO_RESOURCES 0x0100
#define SA_STATUS_REQ_INVALID 0x0200

/* What a guest may send. */
enum sa_kind {
	SA_MAD_ASKS,    /* a question, which is answered */
	SA_MAD_GOES_ON, /* says of an answer in parts which have come; further parts answer it */
	SA_MAD_JOINS,
	SA_MAD_LEAVES,
	SA_MAD_UNSUPPORTED, /* methods, and questions in parts */
	SA_MAD_INVALID,
};

enum sa_kind sa_kind(const __u8 *mad);

/** sa_is_part() - whether it is one part of several, or of an answer that may have several. */
bool sa_is_part(const __u8 *mad);

/** sa_last_part() - the number of that part, if none follows it; else 0. */
__u32 sa_last_part(const __u8 *mad);

/**
 * sa_ends() - whether one that goes on is the end of it.
 * @last: number of the last part; 0: it has not come yet
 */
bool sa_ends(const __u8 *mad, __u32 last);

/* An MCMemberRecord, and which of its fields are given. */
struct sa_group {
	__u64 mask; /* SA_GROUP_* and bits of other fields */
	__u8 mgid[16], port_gid[16];
	__u32 qkey, flow_label;
	__u16 mlid, pkey;
	__u8 mtu_selector, mtu;
	__u8 rate_selector, rate;
	__u8 life_selector, life;
	__u8 tclass, sl, hop_limit, scope;
	__u8 state; /* how the port is a member: bits */
};

enum {
	SA_GROUP_MGID = 1 << 0,
	SA_GROUP_PORT_GID = 1 << 1,
	SA_GROUP_PKEY = 1 << 7,
	SA_GROUP_STATE = 1 << 16,
};

/** sa_group_read() - false: it names no group, or no membership, or one by proxy. */
bool sa_group_read(const __u8 *mad, struct sa_group *group);

/** sa_group_write() - all but the mask. */
void sa_group_write(__u8 *mad, const struct sa_group *group);

#endif
