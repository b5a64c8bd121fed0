// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * sa_mad.c - see sa_mad.h.
 */
#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#include "mad_bytes.h"
#include "sa_mad.h"

enum {
	CLASS_VERSION = 2,
	ATTRIBUTE = 16,
	RMPP_TYPE = 25,
	RMPP_FLAGS = 26,
	RMPP_PART = 28,
	SM_KEY = 36,
	COMP_MASK = 48,
	MGID = 56,
	PORT_GID = 72,
	QKEY = 88,
	MLID = 92,
	MTU = 94, /* 2 bits of selector, 6 of value */
	TCLASS = 95,
	PKEY = 96,
	RATE = 98,         /* as the MTU */
	LIFE = 99,         /* as the MTU */
	SL_FLOW_HOP = 100, /* 4, 20 and 8 bits */
	SCOPE_STATE = 104, /* 4 and 4 bits */
	PROXY = 105,       /* 1 bit, the highest */
};

enum { METHOD_GET = 1, METHOD_SET = 2, METHOD_GET_TABLE = 0x12, METHOD_DELETE = 0x15 };
enum { RMPP_DATA = 1, RMPP_ACK = 2, RMPP_STOP = 3, RMPP_ABORT = 4 };
enum { RMPP_ACTIVE = 1, RMPP_LAST = 4 }; /* flags */

#define VERSION 2
#define MCMEMBER 0x38

bool sa_is_part(const __u8 *mad)
{
	return mad[RMPP_FLAGS] & RMPP_ACTIVE;
}

static bool goes_on(const __u8 *mad)
{
	return mad[RMPP_TYPE] >= RMPP_ACK && mad[RMPP_TYPE] <= RMPP_ABORT;
}

/* Who gives the SA's key is trusted by it: no guest is. */
enum sa_kind sa_kind(const __u8 *mad)
{
	bool group = get_16(mad + ATTRIBUTE) == MCMEMBER;

	if (mad[CLASS_VERSION] != VERSION || get_64(mad + SM_KEY))
		return SA_MAD_INVALID;
	switch (mad[MAD_METHOD]) {
	case METHOD_GET:
	case METHOD_GET_TABLE:
		if (!sa_is_part(mad))
			return SA_MAD_ASKS;
		return goes_on(mad) ? SA_MAD_GOES_ON : SA_MAD_UNSUPPORTED;
	case METHOD_SET:
		return group && !sa_is_part(mad) ? SA_MAD_JOINS : SA_MAD_UNSUPPORTED;
	case METHOD_DELETE:
		return group && !sa_is_part(mad) ? SA_MAD_LEAVES : SA_MAD_UNSUPPORTED;
	default:
		return SA_MAD_UNSUPPORTED;
	}
}

__u32 sa_last_part(const __u8 *mad)
{
	bool last = sa_is_part(mad) && mad[RMPP_TYPE] == RMPP_DATA && mad[RMPP_FLAGS] & RMPP_LAST;

	return last ? get_32(mad + RMPP_PART) : 0;
}

bool sa_ends(const __u8 *mad, __u32 last)
{
	if (mad[RMPP_TYPE] != RMPP_ACK)
		return true;
	return last && get_32(mad + RMPP_PART) >= last;
}

bool sa_group_read(const __u8 *mad, struct sa_group *group)
{
	__u32 word = get_32(mad + SL_FLOW_HOP);

	*group = (struct sa_group){
		.mask = get_64(mad + COMP_MASK),
		.qkey = get_32(mad + QKEY),
		.mlid = get_16(mad + MLID),
		.mtu_selector = mad[MTU] >> 6,
		.mtu = mad[MTU] & 0x3f,
		.tclass = mad[TCLASS],
		.pkey = get_16(mad + PKEY),
		.rate_selector = mad[RATE] >> 6,
		.rate = mad[RATE] & 0x3f,
		.life_selector = mad[LIFE] >> 6,
		.life = mad[LIFE] & 0x3f,
		.sl = word >> 28,
		.flow_label = word >> 8 & 0xfffff,
		.hop_limit = word & 0xff,
		.scope = mad[SCOPE_STATE] >> 4,
		.state = mad[SCOPE_STATE] & 0xf,
	};
	memcpy(group->mgid, mad + MGID, sizeof(group->mgid));
	memcpy(group->port_gid, mad + PORT_GID, sizeof(group->port_gid));
	return group->mask & SA_GROUP_MGID && group->mask & SA_GROUP_STATE &&
	       group->mgid[0] == 0xff && group->state && !(mad[PROXY] & 0x80);
}

void sa_group_write(__u8 *mad, const struct sa_group *group)
{
	memcpy(mad + MGID, group->mgid, sizeof(group->mgid));
	memcpy(mad + PORT_GID, group->port_gid, sizeof(group->port_gid));
	put_32(mad + QKEY, group->qkey);
	put_16(mad + MLID, group->mlid);
	mad[MTU] = group->mtu_selector << 6 | (group->mtu & 0x3f);
	mad[TCLASS] = group->tclass;
	put_16(mad + PKEY, group->pkey);
	mad[RATE] = group->rate_selector << 6 | (group->rate & 0x3f);
	mad[LIFE] = group->life_selector << 6 | (group->life & 0x3f);
	put_32(mad + SL_FLOW_HOP,
	       (__u32)group->sl << 28 | (group->flow_label & 0xfffff) << 8 | group->hop_limit);
	mad[SCOPE_STATE] = group->scope << 4 | (group->state & 0xf);
	mad[PROXY] = 0;
}
