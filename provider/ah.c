// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ah.c - address handles, see ah.h.
 *
 * The HCA has no such object. The kernel has: it checks the port and the index of the GID, and
 * counts them against the limit of the guest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ah.h"
#include "verbs.h"

/* The HCA's number for a rate limit, the nearest that it knows and is not less; 0: no limit. */
static uint8_t static_rate(uint8_t rate)
{
	switch (rate) {
	case IBV_RATE_2_5_GBPS:
		return 7;
	case IBV_RATE_10_GBPS:
		return 8;
	case IBV_RATE_25_GBPS:
	case IBV_RATE_28_GBPS:
	case IBV_RATE_30_GBPS:
		return 9;
	case IBV_RATE_5_GBPS:
		return 10;
	case IBV_RATE_14_GBPS:
	case IBV_RATE_20_GBPS:
		return 11;
	case IBV_RATE_40_GBPS:
		return 12;
	case IBV_RATE_50_GBPS:
	case IBV_RATE_56_GBPS:
	case IBV_RATE_60_GBPS:
		return 13;
	case IBV_RATE_80_GBPS:
		return 14;
	case IBV_RATE_100_GBPS:
	case IBV_RATE_112_GBPS:
	case IBV_RATE_120_GBPS:
		return 15;
	default:
		return 0;
	}
}

static void fill_av(struct xenib_av *av, const struct ibv_ah_attr *attr)
{
	av->rate_sl = static_rate(attr->static_rate) << 4 | (attr->sl & 0xf);
	av->path_bits = attr->src_path_bits & 0x7f;
	av->dlid = htobe16(attr->dlid);
	if (!attr->is_global)
		return;

	av->traffic_class = attr->grh.traffic_class;
	av->hop_limit = attr->grh.hop_limit;
	av->gid_flow = htobe32(XENIB_AV_GRH | (uint32_t)attr->grh.sgid_index << 20 |
			       (attr->grh.flow_label & IB_GRH_FLOWLABEL_MASK));
	memcpy(av->dgid, attr->grh.dgid.raw, sizeof(av->dgid));
}

struct ibv_ah *xenib_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ib_uverbs_create_ah_resp resp = {};
	struct xenib_ah *ah;
	int err;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;

	err = ibv_cmd_create_ah(pd, &ah->ah, attr, &resp, sizeof(resp));
	if (err) {
		free(ah);
		errno = err;
		return NULL;
	}

	fill_av(&ah->av, attr);
	return &ah->ah;
}

int xenib_destroy_ah(struct ibv_ah *ibah)
{
	int err;

	err = ibv_cmd_destroy_ah(ibah);
	if (err)
		return err;

	free(to_xah(ibah));
	return 0;
}
