/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * send.h - building send WQEs and ringing for them. size.c has the forms of WQEs.
 *
 * A WQE may run over the end of the queue into its beginning. All segments are whole 16-byte units,
 * so only at their boundaries, and within inline data, the end can come.
 *
 * The caller holds the send queue's lock.
 */
#ifndef XENIB_QUEUE_SEND_H
#define XENIB_QUEUE_SEND_H

#include "queue/queues.h"

#define XENIB_ATOMIC_SIZE 8

/* Verbs' send flags, the same numbers in libibverbs and in the kernel. */
#define XENIB_SEND_FENCE 1u
#define XENIB_SEND_SIGNALED 2u
#define XENIB_SEND_SOLICITED 4u

/* The control segment's bits for these flags. */
static __always_inline u8 xenib_control_bits(const struct xenib_sq *sq, unsigned int flags)
{
	u8 fence = flags & XENIB_SEND_FENCE ? XENIB_CTRL_FENCE : sq->next_fence;

	return sq->always | fence | (flags & XENIB_SEND_SIGNALED) << 2 |
	       (flags & XENIB_SEND_SOLICITED) >> 1;
}

/* As many WRs are outstanding as may be, also after a look while nobody polls. */
static __always_inline bool xenib_sq_is_full(struct xenib_sq *sq, u32 head)
{
	u32 tail = READ_ONCE(sq->tail);

	if (likely(head - tail < sq->limit))
		return false;

	xenib_lock(&sq->cq->lock);
	tail = sq->tail;
	xenib_unlock(&sq->cq->lock);
	return head - tail >= sq->limit;
}

/* Begins a WQE at the queue's next block. */
static __always_inline void xenib_wqe_begin(struct xenib_sq *sq, struct xenib_wqe *wqe, u8 opcode,
					    u8 bits, __be32 imm)
{
	struct xenib_ctrl_seg *ctrl;

	ctrl = (struct xenib_ctrl_seg *)(sq->start +
					 ((size_t)(sq->next & sq->mask) << XENIB_BLOCK_SHIFT));
	ctrl->index_opcode = cpu_to_be32((sq->next & 0xffff) << 8 | opcode);
	ctrl->flags = cpu_to_be32(bits);
	ctrl->imm = imm;

	wqe->ctrl = ctrl;
	wqe->seg = ctrl + 1;
	wqe->ds = 1;
}

/* Completes the WQE and makes the queue go past it. */
static __always_inline void xenib_wqe_end(struct xenib_sq *sq, const struct xenib_wqe *wqe)
{
	wqe->ctrl->qpn_ds = cpu_to_be32(sq->qpn << 8 | wqe->ds);
	sq->next += (wqe->ds + 3) / 4;
}

/* What its completion will need. Call before xenib_wqe_end(). */
static __always_inline void xenib_wqe_remember(struct xenib_sq *sq, u32 number, u64 wr_id,
					       u32 wc_opcode)
{
	struct xenib_sent *sent = &sq->sent[sq->next & sq->mask];

	sent->wr_id = wr_id;
	sent->number = number;
	sent->opcode = wc_opcode;
}

/* A segment may end with the queue, and the next one is at its start. */
static __always_inline void *xenib_wrap(const struct xenib_sq *sq, void *seg)
{
	return unlikely(seg == sq->end) ? sq->start : seg;
}

/* Of the XRC SRQ that a WQE is for: always in the WQE's first block, before all else. */
static __always_inline void xenib_put_srqn(struct xenib_xrc_seg *seg, u32 srqn)
{
	*seg = (struct xenib_xrc_seg){ .srqn = cpu_to_be32(srqn) };
}

static __always_inline void xenib_skip_srqn(struct xenib_wqe *wqe)
{
	wqe->seg = (struct xenib_xrc_seg *)wqe->seg + 1;
	wqe->ds++;
}

static __always_inline void xenib_put_remote(struct xenib_wqe *wqe, u64 addr, u32 rkey)
{
	struct xenib_raddr_seg *seg = wqe->seg;

	seg->addr = cpu_to_be64(addr);
	seg->rkey = cpu_to_be32(rkey);
	seg->reserved = 0;
	wqe->seg = seg + 1;
	wqe->ds++;
}

/* compare is 0 for fetch and add. */
static __always_inline void xenib_put_atomic(struct xenib_wqe *wqe, u64 swap_add, u64 compare)
{
	struct xenib_atomic_seg *seg = wqe->seg;

	seg->swap_add = cpu_to_be64(swap_add);
	seg->compare = cpu_to_be64(compare);
	wqe->seg = seg + 1;
	wqe->ds++;
}

/* The address segment is always in the WQE's first block. */
static __always_inline void xenib_put_address(void *at, const struct xenib_av *av, u32 qpn,
					      u32 qkey)
{
	struct xenib_av *seg = at;

	*seg = *av;
	seg->qkey = cpu_to_be32(qkey);
	seg->qpn = cpu_to_be32(qpn | XENIB_AV_EXTENDED);
}

static __always_inline void xenib_skip_address(const struct xenib_sq *sq, struct xenib_wqe *wqe)
{
	wqe->seg = xenib_wrap(sq, (struct xenib_av *)wqe->seg + 1);
	wqe->ds += sizeof(struct xenib_av) / 16;
}

static __always_inline void xenib_put_data(const struct xenib_sq *sq, struct xenib_wqe *wqe,
					   u64 addr, u32 length, u32 lkey)
{
	struct xenib_data_seg *seg;

	/* To the HCA a length of 0 is 2 GiB. */
	if (unlikely(!length))
		return;

	seg = xenib_wrap(sq, wqe->seg);
	seg->byte_count = cpu_to_be32(length);
	seg->lkey = cpu_to_be32(lkey);
	seg->addr = cpu_to_be64(addr);
	wqe->seg = seg + 1;
	wqe->ds++;
}

/* Copies to *at, which may run over the end of the queue. */
static __always_inline void xenib_copy_in(const struct xenib_sq *sq, u8 **at, const void *from,
					  size_t length)
{
	size_t room = sq->end - *at;

	if (unlikely(length > room)) {
		memcpy(*at, from, room);
		from = (const u8 *)from + room;
		length -= room;
		*at = sq->start;
	}
	memcpy(*at, from, length);
	*at += length;
}

/* An inline segment is a header and then the data, which is put first. */
static __always_inline u8 *xenib_inline_data(const struct xenib_sq *sq, struct xenib_wqe *wqe)
{
	wqe->seg = xenib_wrap(sq, wqe->seg);
	return (u8 *)wqe->seg + sizeof(struct xenib_inline_seg);
}

static __always_inline void xenib_inline_end(struct xenib_wqe *wqe, u32 length)
{
	struct xenib_inline_seg *seg = wqe->seg;

	if (unlikely(!length))
		return;

	seg->byte_count = cpu_to_be32(length | XENIB_INLINE_DATA);
	wqe->ds += (sizeof(*seg) + length + 15) / 16;
}

/* BlueFlame: whole blocks, in the order of addresses, as the HCA wants them. */
static __always_inline void xenib_blueflame(const struct xenib_sq *sq, u8 __iomem *to,
					    const struct xenib_ctrl_seg *ctrl, u32 ds)
{
	const u8 *from = (const u8 *)ctrl;
	u32 blocks;

	for (blocks = (ds + 3) / 4; blocks; blocks--) {
		xenib_mmio_copy_block(to, from);
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
static __always_inline void xenib_sq_ring(struct xenib_sq *sq, u32 count,
					  const struct xenib_ctrl_seg *ctrl, u32 ds)
{
	struct xenib_doorbell *bell = sq->bell;
	u8 __iomem *reg;

	sq->head += count;
	dma_wmb();
	sq->dbrec[XENIB_DBREC_SEND] = cpu_to_be32(sq->next & 0xffff);

	if (!bell->bf_size) {
		dma_wmb();
		xenib_mmio_write64(bell->page + bell->send_at, *(const __be64 *)ctrl);
		return;
	}

	xenib_wc_lock(&bell->lock);

	reg = bell->page + bell->send_at;
	if (count == 1 && ds > 1 && ds <= bell->bf_size / XENIB_SEG_SIZE)
		xenib_blueflame(sq, reg, ctrl, ds);
	else
		xenib_mmio_write64(reg, *(const __be64 *)ctrl);

	/* Within the lock, or the HCA could see a later doorbell first. */
	xenib_wc_flush();
	bell->send_at ^= bell->bf_size;
	xenib_unlock(&bell->lock);
}

#endif
