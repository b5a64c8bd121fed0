/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * send.h - building send WQEs and ringing for them: what ibv_post_send() and the ibv_wr_* interface
 * have in common. See qp_size.c for the forms of WQEs.
 *
 * A WQE may run over the end of the queue into its beginning. All segments are whole 16-byte units,
 * so only at their boundaries, and within inline data, the end can come.
 */
#ifndef XENIB_SEND_H
#define XENIB_SEND_H

#include <errno.h>
#include <string.h>

#include <util/mmio.h>
#include <util/udma_barrier.h>

#include "ah.h"
#include "dbrec.h"
#include "fast.h"
#include "qp.h"
#include "uar.h"

#define XENIB_ATOMIC_SIZE 8

static_assert(IBV_SEND_FENCE == 1 && IBV_SEND_SIGNALED == 2 && IBV_SEND_SOLICITED == 4,
	      "xenib_control_bits() shifts them");

/* The control segment's bits for these flags, enum ibv_send_flags. */
static XENIB_INLINE uint8_t xenib_control_bits(const struct xenib_sq *sq, unsigned int flags)
{
	uint8_t fence = flags & IBV_SEND_FENCE ? XENIB_CTRL_FENCE : sq->next_fence;

	return sq->always | fence | (flags & IBV_SEND_SIGNALED) << 2 |
	       (flags & IBV_SEND_SOLICITED) >> 1;
}

/* As many WRs are outstanding as may be, also after a look while nobody polls. */
static XENIB_INLINE bool xenib_sq_is_full(struct xenib_sq *sq, uint32_t head)
{
	uint32_t tail = __atomic_load_n(&sq->tail, __ATOMIC_RELAXED);

	if (likely(head - tail < sq->limit))
		return false;

	xenib_lock(&sq->cq->lock);
	tail = sq->tail;
	xenib_unlock(&sq->cq->lock);
	return head - tail >= sq->limit;
}

/* Begins a WQE at the queue's next block. */
static XENIB_INLINE void xenib_wqe_begin(struct xenib_sq *sq, struct xenib_wqe *wqe,
					 uint8_t opcode, uint8_t bits, __be32 imm)
{
	struct xenib_ctrl_seg *ctrl;

	ctrl = (struct xenib_ctrl_seg *)(sq->start +
					    ((size_t)(sq->next & sq->mask) << XENIB_BLOCK_SHIFT));
	ctrl->index_opcode = htobe32((sq->next & 0xffff) << 8 | opcode);
	ctrl->flags = htobe32(bits);
	ctrl->imm = imm;

	wqe->ctrl = ctrl;
	wqe->seg = ctrl + 1;
	wqe->ds = 1;
}

/* Completes the WQE and makes the queue go past it. */
static XENIB_INLINE void xenib_wqe_end(struct xenib_sq *sq, const struct xenib_wqe *wqe)
{
	wqe->ctrl->qpn_ds = htobe32(sq->qpn << 8 | wqe->ds);
	sq->next += (wqe->ds + 3) / 4;
}

/* What its completion will need. Call before xenib_wqe_end(). */
static XENIB_INLINE void xenib_wqe_remember(struct xenib_sq *sq, uint32_t number, uint64_t wr_id,
					    uint32_t wc_opcode)
{
	struct xenib_sent *sent = &sq->sent[sq->next & sq->mask];

	sent->wr_id = wr_id;
	sent->number = number;
	sent->opcode = wc_opcode;
}

/* A segment may end with the queue, and the next one is at its start. */
static XENIB_INLINE void *xenib_wrap(const struct xenib_sq *sq, void *seg)
{
	return unlikely(seg == sq->end) ? sq->start : seg;
}

static XENIB_INLINE void xenib_put_remote(struct xenib_wqe *wqe, uint64_t addr, uint32_t rkey)
{
	struct xenib_raddr_seg *seg = wqe->seg;

	seg->addr = htobe64(addr);
	seg->rkey = htobe32(rkey);
	seg->reserved = 0;
	wqe->seg = seg + 1;
	wqe->ds++;
}

/* compare is 0 for fetch and add. */
static XENIB_INLINE void xenib_put_atomic(struct xenib_wqe *wqe, uint64_t swap_add,
					  uint64_t compare)
{
	struct xenib_atomic_seg *seg = wqe->seg;

	seg->swap_add = htobe64(swap_add);
	seg->compare = htobe64(compare);
	wqe->seg = seg + 1;
	wqe->ds++;
}

/* The address segment is always in the WQE's first block. */
static XENIB_INLINE void xenib_put_address(void *at, const struct xenib_ah *ah, uint32_t qpn,
					   uint32_t qkey)
{
	struct xenib_av *seg = at;

	*seg = ah->av;
	seg->qkey = htobe32(qkey);
	seg->qpn = htobe32(qpn | XENIB_AV_EXTENDED);
}

static XENIB_INLINE void xenib_skip_address(const struct xenib_sq *sq, struct xenib_wqe *wqe)
{
	wqe->seg = xenib_wrap(sq, (struct xenib_av *)wqe->seg + 1);
	wqe->ds += sizeof(struct xenib_av) / 16;
}

static XENIB_INLINE void xenib_put_data(const struct xenib_sq *sq, struct xenib_wqe *wqe,
					uint64_t addr, uint32_t length, uint32_t lkey)
{
	struct xenib_data_seg *seg;

	/* To the HCA a length of 0 is 2 GiB. */
	if (unlikely(!length))
		return;

	seg = xenib_wrap(sq, wqe->seg);
	seg->byte_count = htobe32(length);
	seg->lkey = htobe32(lkey);
	seg->addr = htobe64(addr);
	wqe->seg = seg + 1;
	wqe->ds++;
}

/* Copies to *at, which may run over the end of the queue. */
static XENIB_INLINE void xenib_copy_in(const struct xenib_sq *sq, uint8_t **at, const void *from,
				       size_t length)
{
	size_t room = sq->end - *at;

	if (unlikely(length > room)) {
		memcpy(*at, from, room);
		from = (const uint8_t *)from + room;
		length -= room;
		*at = sq->start;
	}
	memcpy(*at, from, length);
	*at += length;
}

/* An inline segment is a header and then the data, which is put first. */
static XENIB_INLINE uint8_t *xenib_inline_data(const struct xenib_sq *sq, struct xenib_wqe *wqe)
{
	wqe->seg = xenib_wrap(sq, wqe->seg);
	return (uint8_t *)wqe->seg + sizeof(struct xenib_inline_seg);
}

static XENIB_INLINE void xenib_inline_end(struct xenib_wqe *wqe, uint32_t length)
{
	struct xenib_inline_seg *seg = wqe->seg;

	if (unlikely(!length))
		return;

	seg->byte_count = htobe32(length | XENIB_INLINE_DATA);
	wqe->ds += (sizeof(*seg) + length + 15) / 16;
}

/**
 * xenib_put_bind() - the rest of a WQE that binds a memory window, or, with a length of 0,
 * invalidates it.
 * @new_key: the window's new key; only its lowest byte matters.
 *
 * The next WQE waits for this one.
 *
 * Return: 0; EINVAL for a length without MR, or if the queue was made without room for this;
 * EOPNOTSUPP for more than 2 GiB.
 */
int xenib_put_bind(struct xenib_sq *sq, struct xenib_wqe *wqe, enum ibv_mw_type type,
		   uint32_t new_key, const struct ibv_mw_bind_info *info);

/* BlueFlame: whole blocks, in the order of addresses, as the HCA wants them. */
static XENIB_INLINE void xenib_blueflame(const struct xenib_sq *sq, uint8_t *to,
					 const struct xenib_ctrl_seg *ctrl, uint32_t ds)
{
	const uint8_t *from = (const uint8_t *)ctrl;
	uint32_t blocks;

	for (blocks = (ds + 3) / 4; blocks; blocks--) {
		mmio_memcpy_x64(to, from, XENIB_BLOCK_SIZE);
		to += XENIB_BLOCK_SIZE;
		from += XENIB_BLOCK_SIZE;
		if (unlikely(from == sq->end))
			from = sq->start;
	}
}

/*
 * Tells the HCA of count new WRs, 1 or more, of which ctrl and ds are the last. First the record,
 * then the doorbell, which the HCA may act upon at once.
 */
static XENIB_INLINE void xenib_sq_ring(struct xenib_sq *sq, uint32_t count,
				       const struct xenib_ctrl_seg *ctrl, uint32_t ds)
{
	struct xenib_uar *uar = sq->uar;
	uint8_t *reg;

	sq->head += count;
	udma_to_device_barrier();
	sq->dbrec[XENIB_DBREC_SEND] = htobe32(sq->next & 0xffff);

	if (!uar->bf_size) {
		udma_to_device_barrier();
		mmio_write64_be(uar->page + uar->send_at, *(const __be64 *)ctrl);
		return;
	}

	if (uar->lock.shared)
		mmio_wc_spinlock(&uar->lock.spin);
	else
		mmio_wc_start();

	reg = uar->page + uar->send_at;
	if (count == 1 && ds > 1 && ds <= uar->bf_size / 16)
		xenib_blueflame(sq, reg, ctrl, ds);
	else
		mmio_write64_be(reg, *(const __be64 *)ctrl);

	/* Within the lock, or the HCA could see a later doorbell first. */
	mmio_flush_writes();
	uar->send_at ^= uar->bf_size;
	xenib_unlock(&uar->lock);
}

#endif
