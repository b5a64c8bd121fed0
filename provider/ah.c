// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ah.c - address handles, see ah.h.
 *
 * The HCA has no such object. The kernel has: it checks the port and the index of the GID, and
 * counts them against the limit of the guest.
 */
#include <errno.h>
#include <stdlib.h>

#include "ah.h"
#include "queue/av.h"
#include "verbs.h"

static void fill_av(struct xenib_av *av, const struct ibv_ah_attr *attr)
{
	const struct ibv_global_route *grh = &attr->grh;

	xenib_av_init(av, attr->static_rate, attr->sl, attr->src_path_bits, attr->dlid);
	if (attr->is_global)
		xenib_av_set_grh(av, grh->dgid.raw, grh->sgid_index, grh->flow_label,
				 grh->hop_limit, grh->traffic_class);
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
