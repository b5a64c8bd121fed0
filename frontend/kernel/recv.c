// SPDX-License-Identifier: GPL-2.0
/*
 * recv.c - what is noted of receive WRs: see recv.h.
 */
#include <linux/slab.h>

#include "kernel/pool.h"
#include "kernel/recv.h"

int xenib_krecvs_alloc(struct xenib_krecvs *recvs, struct xenib_pool *pool, u32 wqes, u32 max_sge)
{
	recvs->pool = pool;
	recvs->max_sge = max_sge;
	recvs->rooms = kvcalloc(wqes, sizeof(*recvs->rooms), GFP_KERNEL);
	recvs->sges = kvcalloc((size_t)wqes * max_sge, sizeof(*recvs->sges), GFP_KERNEL);
	return recvs->rooms && recvs->sges ? 0 : -ENOMEM;
}

void xenib_krecvs_free(struct xenib_krecvs *recvs)
{
	kvfree(recvs->sges);
	kvfree(recvs->rooms);
}

void xenib_krecvs_note(struct xenib_krecvs *recvs, u32 index, const struct ib_recv_wr *wr)
{
	struct ib_sge *sges = recvs->sges + (size_t)index * recvs->max_sge;
	u64 room = 0;
	int i;

	memset(sges, 0, recvs->max_sge * sizeof(*sges));
	for (i = 0; i < wr->num_sge; i++) {
		sges[i] = wr->sg_list[i];
		/* A region's addresses are not the pool's. What it has is shared. */
		if (unlikely(sges[i].lkey != XENIB_POOL_LKEY))
			sges[i].addr = 0;
		room += sges[i].length;
	}
	recvs->rooms[index] = min_t(u64, room, U32_MAX);
}

bool xenib_krecvs_take(const struct xenib_krecvs *recvs, u32 index, u32 skip, u32 bytes)
{
	const struct ib_sge *sge = recvs->sges + (size_t)index * recvs->max_sge;
	u32 part, left;

	if (bytes > recvs->rooms[index])
		return false;
	for (; bytes; bytes -= part, skip -= left, sge++) {
		part = min(bytes, sge->length);
		left = min(skip, part);
		xenib_origin_copy_out(recvs->pool, sge->addr + left, part - left);
	}
	return true;
}
