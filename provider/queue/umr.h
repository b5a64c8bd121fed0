/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * umr.h - the rest of a WQE that binds a memory window, or invalidates a key.
 */
#ifndef XENIB_QUEUE_UMR_H
#define XENIB_QUEUE_UMR_H

#include <rdma/ib_user_ioctl_verbs.h>

#include "queue/send.h"

#define XENIB_MAX_BIND BIT_ULL(31)

/* Counts of 16-byte translation entries come in eights, and are told in half of that. */
#define XENIB_TRANSLATION_UNITS 4

struct xenib_bind {
	bool type_2;
	u32 new_key; /* only its lowest byte matters */
	u32 access;  /* enum ib_uverbs_access_flags */
	u32 lkey;    /* of the memory */
	u64 addr;
	u64 length; /* 0: invalidate; XENIB_MAX_BIND at most */
};

/* Says which of the key's fields the WQE changes, and on what conditions. */
static inline void xenib_put_umr(struct xenib_wqe *wqe, const struct xenib_bind *bind)
{
	struct xenib_umr_seg *seg = wqe->seg;
	u64 mask = XENIB_UMR_MASK_FREE | XENIB_UMR_MASK_KEY;

	memset(seg, 0, sizeof(*seg));
	seg->flags = XENIB_UMR_OFFSET | XENIB_UMR_INLINE;

	if (bind->type_2) {
		mask |= XENIB_UMR_MASK_QPN;
		seg->flags |= bind->length ? XENIB_UMR_CHECK_FREE : XENIB_UMR_CHECK_QPN;
	}
	if (bind->length) {
		seg->translation_units = cpu_to_be16(XENIB_TRANSLATION_UNITS);
		mask |= XENIB_UMR_MASK_LEN | XENIB_UMR_MASK_START | XENIB_UMR_MASK_LOCAL_WRITE |
			XENIB_UMR_MASK_REMOTE_READ | XENIB_UMR_MASK_REMOTE_WRITE |
			XENIB_UMR_MASK_ATOMIC;
	}
	seg->mask = cpu_to_be64(mask);

	wqe->seg = seg + 1;
	wqe->ds += sizeof(*seg) / XENIB_SEG_SIZE;
}

static inline u8 xenib_key_access(u32 access)
{
	return (access & IB_UVERBS_ACCESS_LOCAL_WRITE ? XENIB_KEY_LOCAL_WRITE : 0) |
	       (access & IB_UVERBS_ACCESS_REMOTE_WRITE ? XENIB_KEY_REMOTE_WRITE : 0) |
	       (access & IB_UVERBS_ACCESS_REMOTE_READ ? XENIB_KEY_REMOTE_READ : 0) |
	       (access & IB_UVERBS_ACCESS_REMOTE_ATOMIC ? XENIB_KEY_ATOMIC : 0);
}

/* A window of type 2 belongs to the QP that binds it. */
static inline void xenib_put_key(const struct xenib_sq *sq, struct xenib_wqe *wqe,
				 const struct xenib_bind *bind)
{
	struct xenib_key_seg *seg = wqe->seg;
	u32 owner = XENIB_KEY_ANY_QP;

	memset(seg, 0, sizeof(*seg));
	if (!bind->length) {
		seg->free = XENIB_KEY_FREE;
	} else {
		if (bind->type_2)
			owner = sq->qpn << 8;
		seg->access = xenib_key_access(bind->access);
		if (!(bind->access & IB_UVERBS_ACCESS_ZERO_BASED))
			seg->start = cpu_to_be64(bind->addr);
		seg->length = cpu_to_be64(bind->length);
	}
	seg->qpn_key = cpu_to_be32(owner | (bind->new_key & 0xff));

	wqe->seg = seg + 1;
	wqe->ds += sizeof(*seg) / XENIB_SEG_SIZE;
}

static inline void xenib_put_translation(struct xenib_wqe *wqe, const struct xenib_bind *bind)
{
	struct xenib_klm_seg *seg = wqe->seg;

	memset(seg, 0, XENIB_BLOCK_SIZE);
	seg->byte_count = cpu_to_be32(bind->length);
	seg->key = cpu_to_be32(bind->lkey);
	seg->addr = cpu_to_be64(bind->addr);

	wqe->seg = (u8 *)wqe->seg + XENIB_BLOCK_SIZE;
	wqe->ds += XENIB_BLOCK_SIZE / XENIB_SEG_SIZE;
}

/*
 * What the WQE has after its control segment. The queue has room for it (may_bind). The next WQE
 * has to wait for this one.
 */
static inline void xenib_put_bind(const struct xenib_sq *sq, struct xenib_wqe *wqe,
				  const struct xenib_bind *bind)
{
	/* The control segments fill a block, and so does each of the others. */
	xenib_put_umr(wqe, bind);
	wqe->seg = xenib_wrap(sq, wqe->seg);
	xenib_put_key(sq, wqe, bind);
	if (bind->length) {
		wqe->seg = xenib_wrap(sq, wqe->seg);
		xenib_put_translation(wqe, bind);
	}
}

#endif
