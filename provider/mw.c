// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mw.c - memory windows: made by the kernel, bound and invalidated by WQEs.
 */
#include <errno.h>
#include <stdlib.h>

#include "send.h"
#include "verbs.h"

#define MAX_BIND (1ULL << 31)
#define BOUND_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED)

/* Counts of 16-byte translation entries come in eights, and are told in half of that. */
#define TRANSLATION_UNITS 4

struct ibv_mw *xenib_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct ibv_alloc_mw cmd = {};
	struct ibv_mw *mw;
	int err;

	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;

	err = ibv_cmd_alloc_mw(pd, type, mw, &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		free(mw);
		errno = err;
		return NULL;
	}
	return mw;
}

int xenib_dealloc_mw(struct ibv_mw *mw)
{
	int err;

	err = ibv_cmd_dealloc_mw(mw);
	if (err)
		return err;

	free(mw);
	return 0;
}

int xenib_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
	}, *bad_wr;
	int err;

	if (bind->bind_info.mw_access_flags & ~(unsigned int)BOUND_ACCESS)
		return EINVAL;

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = bind->bind_info;
	err = xenib_post_send(ibqp, &wr, &bad_wr);
	if (err)
		return err;

	mw->rkey = wr.bind_mw.rkey;
	return 0;
}

/* Says which of the key's fields the WQE changes, and on what conditions. */
static void put_umr_control(struct xenib_wqe *wqe, enum ibv_mw_type type, bool bind)
{
	struct xenib_umr_seg *seg = wqe->seg;
	uint64_t mask = XENIB_UMR_MASK_FREE | XENIB_UMR_MASK_KEY;

	memset(seg, 0, sizeof(*seg));
	seg->flags = XENIB_UMR_OFFSET | XENIB_UMR_INLINE;

	if (type == IBV_MW_TYPE_2) {
		mask |= XENIB_UMR_MASK_QPN;
		seg->flags |= bind ? XENIB_UMR_CHECK_FREE :
				     XENIB_UMR_CHECK_QPN;
	}
	if (bind) {
		seg->translation_units = htobe16(TRANSLATION_UNITS);
		mask |= XENIB_UMR_MASK_LEN |
			XENIB_UMR_MASK_START |
			XENIB_UMR_MASK_LOCAL_WRITE |
			XENIB_UMR_MASK_REMOTE_READ |
			XENIB_UMR_MASK_REMOTE_WRITE |
			XENIB_UMR_MASK_ATOMIC;
	}
	seg->mask = htobe64(mask);

	wqe->seg = seg + 1;
	wqe->ds += sizeof(*seg) / 16;
}

static uint8_t access_bits(unsigned int access)
{
	return (access & IBV_ACCESS_LOCAL_WRITE ?
			XENIB_KEY_LOCAL_WRITE : 0) |
	       (access & IBV_ACCESS_REMOTE_WRITE ?
			XENIB_KEY_REMOTE_WRITE : 0) |
	       (access & IBV_ACCESS_REMOTE_READ ?
			XENIB_KEY_REMOTE_READ : 0) |
	       (access & IBV_ACCESS_REMOTE_ATOMIC ?
			XENIB_KEY_ATOMIC : 0);
}

/* A window of type 2 belongs to the QP that binds it. */
static void put_key_context(const struct xenib_sq *sq, struct xenib_wqe *wqe,
			    enum ibv_mw_type type, uint32_t new_key,
			    const struct ibv_mw_bind_info *info)
{
	struct xenib_key_seg *seg = wqe->seg;
	uint32_t owner = XENIB_KEY_ANY_QP;

	memset(seg, 0, sizeof(*seg));
	if (!info->length) {
		seg->free = XENIB_KEY_FREE;
	} else {
		if (type == IBV_MW_TYPE_2)
			owner = sq->qpn << 8;
		seg->access = access_bits(info->mw_access_flags);
		if (!(info->mw_access_flags & IBV_ACCESS_ZERO_BASED))
			seg->start = htobe64(info->addr);
		seg->length = htobe64(info->length);
	}
	seg->qpn_key = htobe32(owner | (new_key & 0xff));

	wqe->seg = seg + 1;
	wqe->ds += sizeof(*seg) / 16;
}

static void put_translation(struct xenib_wqe *wqe, const struct ibv_mw_bind_info *info)
{
	struct xenib_klm_seg *seg = wqe->seg;

	memset(seg, 0, XENIB_BLOCK_SIZE);
	seg->byte_count = htobe32(info->length);
	seg->key = htobe32(info->mr->lkey);
	seg->addr = htobe64(info->addr);

	wqe->seg = (uint8_t *)wqe->seg + XENIB_BLOCK_SIZE;
	wqe->ds += XENIB_BLOCK_SIZE / 16;
}

int xenib_put_bind(struct xenib_sq *sq, struct xenib_wqe *wqe, enum ibv_mw_type type,
		   uint32_t new_key, const struct ibv_mw_bind_info *info)
{
	if (!sq->may_bind || (info->length && !info->mr))
		return EINVAL;
	if (info->length > MAX_BIND)
		return EOPNOTSUPP;

	/* The control segments fill a block, and so does each of the others. */
	put_umr_control(wqe, type, info->length);
	wqe->seg = xenib_wrap(sq, wqe->seg);
	put_key_context(sq, wqe, type, new_key, info);
	if (info->length) {
		wqe->seg = xenib_wrap(sq, wqe->seg);
		put_translation(wqe, info);
	}
	return 0;
}
