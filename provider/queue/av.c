// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * av.c - address vectors, see av.h.
 */
#include "queue/av.h"

/* enum ibv_rate: the numbers are InfiniBand's. */
enum rate {
	RATE_2_5_GBPS = 2,
	RATE_10_GBPS = 3,
	RATE_30_GBPS = 4,
	RATE_5_GBPS = 5,
	RATE_20_GBPS = 6,
	RATE_40_GBPS = 7,
	RATE_60_GBPS = 8,
	RATE_80_GBPS = 9,
	RATE_120_GBPS = 10,
	RATE_14_GBPS = 11,
	RATE_56_GBPS = 12,
	RATE_112_GBPS = 13,
	RATE_25_GBPS = 15,
	RATE_100_GBPS = 16,
	RATE_28_GBPS = 19,
	RATE_50_GBPS = 20,
};

/* The HCA's number for a rate limit, the nearest that it knows and is not less; 0: no limit. */
static u8 static_rate(u32 rate)
{
	switch (rate) {
	case RATE_2_5_GBPS:
		return 7;
	case RATE_10_GBPS:
		return 8;
	case RATE_25_GBPS:
	case RATE_28_GBPS:
	case RATE_30_GBPS:
		return 9;
	case RATE_5_GBPS:
		return 10;
	case RATE_14_GBPS:
	case RATE_20_GBPS:
		return 11;
	case RATE_40_GBPS:
		return 12;
	case RATE_50_GBPS:
	case RATE_56_GBPS:
	case RATE_60_GBPS:
		return 13;
	case RATE_80_GBPS:
		return 14;
	case RATE_100_GBPS:
	case RATE_112_GBPS:
	case RATE_120_GBPS:
		return 15;
	default:
		return 0;
	}
}

void xenib_av_init(struct xenib_av *av, u32 rate, u8 sl, u8 path_bits, u16 dlid)
{
	av->rate_sl = static_rate(rate) << 4 | (sl & 0xf);
	av->path_bits = path_bits & 0x7f;
	av->dlid = cpu_to_be16(dlid);
}

void xenib_av_set_grh(struct xenib_av *av, const u8 *dgid, u8 sgid_index, u32 flow_label,
		      u8 hop_limit, u8 traffic_class)
{
	av->traffic_class = traffic_class;
	av->hop_limit = hop_limit;
	av->gid_flow = cpu_to_be32(XENIB_AV_GRH | (u32)sgid_index << 20 | (flow_label & 0xfffff));
	memcpy(av->dgid, dgid, sizeof(av->dgid));
}
