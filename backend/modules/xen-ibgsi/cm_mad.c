// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cm_mad.c - see cm_mad.h.
 */
#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#include "cm_mad.h"
#include "mad_bytes.h"

#define CM_CLASS 7
#define CM_CLASS_VERSION 2
#define METHOD_SEND 3

enum {
	/* of all MADs */
	BASE_VERSION = 0,
	CLASS = 1,
	CLASS_VERSION = 2,
	METHOD = 3,
	ATTRIBUTE = 16,
	/* of all messages */
	FIRST_ID = 24,
	SECOND_ID = 28,
	/* of those that ask */
	SERVICE = 32,
	/* REQ */
	REQ_GUID = 40,
	REQ_PKEY = 72,
	REQ_PATH = 76,
	REQ_OTHER_PATH = 120,
	REQ_DATA = 164,
	/* of a path, as seen by the sender */
	PATH_LID = 0,
	PATH_GID = 4,
	PATH_PEER_GID = 20,
	/* REP */
	REP_GUID = 52,
	REP_DATA = 60,
	/* SIDR_REQ */
	SIDR_PKEY = 28,
	SIDR_DATA = 40,
	/* rdma_cm's data begins with a version, that of IP in 4 bits, a port, two addresses */
	IP_VERSION = 1,
	IP_DESTINATION = 20,
	IP4_DESTINATION = 32,
};

#define LID_ANY 0xffff

enum cm_kind cm_kind(const __u8 *mad)
{
	__u16 attribute = get_16(mad + ATTRIBUTE);

	if (mad[BASE_VERSION] != 1 || mad[CLASS] != CM_CLASS ||
	    mad[CLASS_VERSION] != CM_CLASS_VERSION || mad[METHOD] != METHOD_SEND)
		return CM_NONE;
	return attribute >= CM_REQ && attribute <= CM_APR ? (enum cm_kind)attribute : CM_NONE;
}

bool cm_asks(enum cm_kind kind)
{
	return kind == CM_REQ || kind == CM_SIDR_REQ;
}

bool cm_is_sidr(enum cm_kind kind)
{
	return kind == CM_SIDR_REQ || kind == CM_SIDR_REP;
}

bool cm_ends(enum cm_kind kind)
{
	return kind == CM_REJ || kind == CM_DREQ || kind == CM_DREP || kind == CM_SIDR_REP;
}

__u32 cm_local_id(enum cm_kind kind, const __u8 *mad)
{
	return kind == CM_SIDR_REP ? 0 : get_32(mad + FIRST_ID);
}

__u32 cm_remote_id(enum cm_kind kind, const __u8 *mad)
{
	if (cm_asks(kind))
		return 0;
	return get_32(mad + (kind == CM_SIDR_REP ? FIRST_ID : SECOND_ID));
}

void cm_set_local_id(enum cm_kind kind, __u8 *mad, __u32 id)
{
	if (kind != CM_SIDR_REP)
		put_32(mad + FIRST_ID, id);
}

void cm_set_remote_id(enum cm_kind kind, __u8 *mad, __u32 id)
{
	if (!cm_asks(kind))
		put_32(mad + (kind == CM_SIDR_REP ? FIRST_ID : SECOND_ID), id);
}

/* Its service ids are a 1, a port space and a port, in 5, 1 and 2 bytes. */
static bool is_ip_service(const __u8 *id)
{
	static const __u8 prefix[5] = { [4] = 1 };

	return !memcmp(id, prefix, sizeof(prefix));
}

bool cm_destination(enum cm_kind kind, const __u8 *mad, struct cm_addr *to)
{
	const __u8 *data = mad + (kind == CM_REQ ? REQ_DATA : SIDR_DATA);

	memset(to, 0, sizeof(*to));
	if (!is_ip_service(mad + SERVICE) || data[0])
		return false;
	to->family = data[IP_VERSION] >> 4;
	switch (to->family) {
	case 4:
		memcpy(to->at, data + IP4_DESTINATION, 4);
		return true;
	case 6:
		memcpy(to->at, data + IP_DESTINATION, 16);
		return true;
	default:
		return false;
	}
}

/* Its service ids are 0x10 and the QP, in 5 and 3 bytes. */
__u32 cm_ipoib_asked(enum cm_kind kind, const __u8 *mad)
{
	static const __u8 prefix[5] = { 0x10 };

	if (kind != CM_REQ || memcmp(mad + SERVICE, prefix, sizeof(prefix)))
		return 0;
	return get_32(mad + SERVICE + 4);
}

const __u8 *cm_service(const __u8 *mad)
{
	return mad + SERVICE;
}

__be64 cm_asker(enum cm_kind kind, const __u8 *mad)
{
	__be64 guid = 0;

	if (kind == CM_REQ)
		memcpy(&guid, mad + REQ_GUID, sizeof(guid));
	return guid;
}

__u16 cm_asked_pkey(enum cm_kind kind, const __u8 *mad)
{
	return get_16(mad + (kind == CM_REQ ? REQ_PKEY : SIDR_PKEY));
}

const __u8 *cm_asked_gid(const __u8 *mad)
{
	return mad + REQ_PATH + PATH_PEER_GID;
}

__u32 cm_ipoib_own(enum cm_kind kind, const __u8 *mad)
{
	return get_32(mad + (kind == CM_REQ ? REQ_DATA : REP_DATA));
}

/* A path may leave the LID to what the packets have; the other path need not be there. */
static bool path_is_own(const __u8 *path, const struct cm_own *own, bool may_be_none)
{
	__u16 lid = get_16(path + PATH_LID);

	if (may_be_none && !lid)
		return true;
	if (lid != LID_ANY && (lid & own->lid_mask) != own->lid)
		return false;
	return !memcmp(path + PATH_GID, own->gid, sizeof(own->gid));
}

bool cm_claims_only(enum cm_kind kind, const __u8 *mad, const struct cm_own *own)
{
	switch (kind) {
	case CM_REQ:
		return !memcmp(mad + REQ_GUID, own->guid, sizeof(own->guid)) &&
		       path_is_own(mad + REQ_PATH, own, false) &&
		       path_is_own(mad + REQ_OTHER_PATH, own, true);
	case CM_REP:
		return !memcmp(mad + REP_GUID, own->guid, sizeof(own->guid));
	default:
		return true;
	}
}
