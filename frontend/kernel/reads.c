// SPDX-License-Identifier: GPL-2.0
/*
 * reads.c - what is noted of WRs that read: see reads.h.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "kernel/pool.h"
#include "kernel/reads.h"

int xenib_kreads_alloc(struct xenib_kreads *reads, struct xenib_pool *pool, u32 max_wr, u32 max_sge)
{
	u32 entries = roundup_pow_of_two(max(max_wr * max_sge, 1U));

	reads->pool = pool;
	reads->mask = entries - 1;
	reads->ring = kvcalloc(entries, sizeof(*reads->ring), GFP_KERNEL);
	return reads->ring ? 0 : -ENOMEM;
}

void xenib_kreads_free(struct xenib_kreads *reads)
{
	kvfree(reads->ring);
}

void xenib_kreads_note(struct xenib_kreads *reads, u32 number, const struct ib_send_wr *wr)
{
	const struct ib_sge *sge = wr->sg_list;
	u32 head = reads->head;
	int i;

	for (i = 0; i < wr->num_sge; i++, sge++)
		/* As in xenib_krecvs_note() */
		if (sge->lkey == XENIB_POOL_LKEY && xenib_origin_is_written(reads->pool, sge->addr))
			reads->ring[head++ & reads->mask] = (struct xenib_kread){
				.addr = sge->addr,
				.length = sge->length,
				.number = number,
			};
	/* Pairs with xenib_kreads_copy(). */
	smp_store_release(&reads->head, head);
}

bool xenib_kreads_copy(struct xenib_kreads *reads, u32 number)
{
	/* Pairs with xenib_kreads_note(). */
	u32 head = smp_load_acquire(&reads->head);
	const struct xenib_kread *read;
	u32 tail = reads->tail;

	for (; tail != head; tail++) {
		read = &reads->ring[tail & reads->mask];
		if ((s32)(read->number - number) > 0)
			break;
		xenib_origin_copy_out(reads->pool, read->addr, read->length);
	}
	if (tail == reads->tail)
		return false;
	reads->tail = tail;
	return true;
}
