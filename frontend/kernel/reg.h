/* SPDX-License-Identifier: GPL-2.0 */
/*
 * reg.h - the rest of a WQE by which the kernel registers a region, or invalidates one. The region
 * consists of pieces, of which each is an entry of its key. It is for all QPs of its PD.
 */
#ifndef XENIB_REG_H
#define XENIB_REG_H

#include "queue/umr.h"

/* That a WQE itself can have. */
#define XENIB_INLINE_ENTRIES (XENIB_BLOCK_SIZE / sizeof(struct xenib_klm_seg))

/* Entries come in fours. Those that are not used are zero. */
#define XENIB_ROUND_ENTRIES(count) (((count) + 3u) & ~3u)

struct xenib_region {
	u32 new_key; /* only its lowest byte matters */
	u32 access;  /* enum ib_uverbs_access_flags */
	u64 start;
	u64 length;
	u32 count;                           /* of entries */
	const struct xenib_klm_seg *entries; /* XENIB_INLINE_ENTRIES at most, or: */
	u64 list;                            /* where the HCA has them */
	u32 list_lkey;
};

static inline struct xenib_umr_seg *xenib_begin_umr(struct xenib_wqe *wqe, u8 flags, u64 mask)
{
	struct xenib_umr_seg *seg = wqe->seg;

	memset(seg, 0, sizeof(*seg));
	seg->flags = flags;
	seg->mask = cpu_to_be64(mask);
	wqe->seg = seg + 1;
	wqe->ds += sizeof(*seg) / XENIB_SEG_SIZE;
	return seg;
}

static inline struct xenib_key_seg *xenib_begin_key(const struct xenib_sq *sq,
						    struct xenib_wqe *wqe)
{
	struct xenib_key_seg *seg = xenib_wrap(sq, wqe->seg);

	memset(seg, 0, sizeof(*seg));
	wqe->seg = seg + 1;
	wqe->ds += sizeof(*seg) / XENIB_SEG_SIZE;
	return seg;
}

/* As xenib_put_bind(): the queue has room for it, and the next WQE waits for this one. */
static inline void xenib_put_region(const struct xenib_sq *sq, struct xenib_wqe *wqe,
				    const struct xenib_region *region)
{
	const u64 mask = XENIB_UMR_MASK_FREE | XENIB_UMR_MASK_KEY | XENIB_UMR_MASK_LEN |
			 XENIB_UMR_MASK_START | XENIB_UMR_MASK_LOCAL_WRITE |
			 XENIB_UMR_MASK_REMOTE_READ | XENIB_UMR_MASK_REMOTE_WRITE |
			 XENIB_UMR_MASK_ATOMIC;
	const u32 count = XENIB_ROUND_ENTRIES(region->count);
	struct xenib_umr_seg *umr;
	struct xenib_key_seg *key;

	umr = xenib_begin_umr(wqe, XENIB_UMR_CHECK_FREE | (region->list ? 0 : XENIB_UMR_INLINE),
			      mask);
	umr->translation_units = cpu_to_be16(count);

	key = xenib_begin_key(sq, wqe);
	key->access = xenib_key_access(region->access);
	key->qpn_key = cpu_to_be32(XENIB_KEY_ANY_QP | (region->new_key & 0xff));
	if (!(region->access & IB_UVERBS_ACCESS_ZERO_BASED))
		key->start = cpu_to_be64(region->start);
	key->length = cpu_to_be64(region->length);

	if (region->list) {
		xenib_put_data(sq, wqe, region->list, count * sizeof(*region->entries),
			       region->list_lkey);
		return;
	}
	wqe->seg = xenib_wrap(sq, wqe->seg);
	memcpy(wqe->seg, region->entries, XENIB_BLOCK_SIZE);
	wqe->seg = (u8 *)wqe->seg + XENIB_BLOCK_SIZE;
	wqe->ds += XENIB_BLOCK_SIZE / XENIB_SEG_SIZE;
}

/* Only if the key is the region's latest. */
static inline void xenib_put_invalidate(const struct xenib_sq *sq, struct xenib_wqe *wqe)
{
	xenib_begin_umr(wqe, XENIB_UMR_INLINE, XENIB_UMR_MASK_FREE);
	xenib_begin_key(sq, wqe)->free = XENIB_KEY_FREE;
}

#endif
