// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The parser of work queue entries: every byte is foreign until it has been through here. */
#include <infiniband/mlx5dv.h>
#include <string.h>

#include "engine/wqe.h"
#include "firmware/caps.h"
#include "hca.h"
#include "ifc.h"
#include "objects/mkey.h"

#define UNIT 16u /* WQEs are counted in these */
#define DS_MASK 0x3fu
#define INLINE_BIT 0x80000000u /* MLX5_INLINE_SEG */
#define INLINE_MASK 0x3ffu
#define AV_EXTENDED 0x80000000u
#define AV_BYTES_BASE 16u
#define AV_GRH (1u << 30)

/* Steps through a WQE. Nothing is taken that is not there. */
struct cursor {
	const uint8_t *bytes;
	uint32_t at, end;
};

static const uint8_t *take(struct cursor *c, uint32_t n)
{
	const uint8_t *p = c->bytes + c->at;

	if (n > c->end - c->at)
		return NULL;
	c->at += n;
	return p;
}

uint32_t wqe_claimed_bytes(const uint8_t ctrl[16])
{
	return (be32_at(ctrl + 4) & DS_MASK) * UNIT;
}

uint16_t wqe_claimed_blocks(const uint8_t ctrl[16])
{
	uint32_t blocks = (wqe_claimed_bytes(ctrl) + WQE_BLOCK - 1) / WQE_BLOCK;

	return (uint16_t)(blocks ? blocks : 1);
}

static bool has_umr(enum qp_transport t)
{
	return t == QP_RC || t == QP_UC || t == QP_XRC_INI || t == QP_UMR;
}

static bool is_reliable(enum qp_transport t)
{
	return t == QP_RC || t == QP_XRC_INI;
}

static bool is_datagram(enum qp_transport t)
{
	return t == QP_UD || t == QP_SMI || t == QP_GSI;
}

/* IBTA table 35: operations of each transport. */
static bool opcode_allowed(uint8_t opcode, enum qp_transport t)
{
	switch (opcode) {
	case MLX5_OPCODE_NOP:
		return true;
	case MLX5_OPCODE_SEND:
	case MLX5_OPCODE_SEND_IMM:
		return t != QP_UMR;
	case MLX5_OPCODE_RDMA_WRITE:
	case MLX5_OPCODE_RDMA_WRITE_IMM:
		return is_reliable(t) || t == QP_UC;
	case MLX5_OPCODE_SEND_INVAL:
	case MLX5_OPCODE_RDMA_READ:
	case MLX5_OPCODE_ATOMIC_CS:
	case MLX5_OPCODE_ATOMIC_FA:
		return is_reliable(t);
	case MLX5_OPCODE_UMR:
		return has_umr(t);
	default:
		return false;
	}
}

static bool is_atomic(uint8_t opcode)
{
	return opcode == MLX5_OPCODE_ATOMIC_CS || opcode == MLX5_OPCODE_ATOMIC_FA;
}

static bool has_raddr(uint8_t opcode)
{
	return opcode == MLX5_OPCODE_RDMA_WRITE || opcode == MLX5_OPCODE_RDMA_WRITE_IMM ||
	       opcode == MLX5_OPCODE_RDMA_READ || is_atomic(opcode);
}

static enum wqe_status parse_av(struct wqe *w, struct cursor *c)
{
	const struct mlx5_wqe_av *av;
	const uint8_t *base = take(c, AV_BYTES_BASE);
	uint32_t grh;

	if (!base)
		return WQE_MALFORMED;
	av = (const void *)base;
	w->av.qkey = be32toh(av->key.qkey.qkey);
	w->av.qpn = be32toh(av->dqp_dct) & 0xffffff;
	w->av.sl = av->stat_rate_sl & 0xf;
	w->av.path_bits = av->fl_mlid & 0x7f;
	w->av.dlid = be16toh(av->rlid);
	if (!(be32toh(av->dqp_dct) & AV_EXTENDED))
		return WQE_OK;
	if (!take(c, sizeof(*av) - AV_BYTES_BASE))
		return WQE_MALFORMED;
	grh = be32toh(av->grh_gid_fl);
	w->av.grh = grh & AV_GRH;
	w->av.sgid_index = grh >> 20 & 0xff;
	w->av.flow_label = grh & 0xfffff;
	w->av.traffic_class = av->tclass;
	w->av.hop_limit = av->hop_limit;
	memcpy(w->av.dgid, av->rgid, sizeof(w->av.dgid));
	return WQE_OK;
}

static enum wqe_status parse_remote(struct wqe *w, struct cursor *c)
{
	const uint8_t *p = take(c, sizeof(struct mlx5_wqe_raddr_seg));

	if (!p)
		return WQE_MALFORMED;
	w->raddr = be64_at(p);
	w->rkey = be32_at(p + 8);
	if (!is_atomic(w->opcode))
		return WQE_OK;
	p = take(c, sizeof(struct mlx5_wqe_atomic_seg));
	if (!p)
		return WQE_MALFORMED;
	w->swap_add = be64_at(p);
	w->compare = be64_at(p + 8);
	return WQE_OK;
}

static enum wqe_status parse_inline(struct wqe *w, struct cursor *c, struct wqe_seg *seg)
{
	const uint8_t *p = c->bytes + c->at;
	uint32_t bytes = be32_at(p) & INLINE_MASK;
	/* The count's four bytes are part of the first unit. */
	uint32_t room = (4 + bytes + UNIT - 1) / UNIT * UNIT;

	if (!take(c, room))
		return WQE_MALFORMED;
	*seg = (struct wqe_seg){ .bytes = bytes,
				 .is_inline = true,
				 .addr = (uint64_t)(p + 4 - w->copy) };
	return WQE_OK;
}

static enum wqe_status parse_data(struct wqe *w, struct cursor *c, uint32_t max_message)
{
	uint64_t length = 0;

	while (c->at < c->end) {
		struct wqe_seg seg = { 0 };
		const uint8_t *p = c->bytes + c->at;

		if (be32_at(p) & INLINE_BIT) {
			/* What is read or fetched has to be put somewhere else than here. */
			if (w->opcode == MLX5_OPCODE_RDMA_READ || is_atomic(w->opcode) ||
			    parse_inline(w, c, &seg))
				return WQE_MALFORMED;
		} else {
			take(c, UNIT);
			seg.bytes = be32_at(p);
			seg.lkey = be32_at(p + 4);
			seg.addr = be64_at(p + 8);
		}
		length += seg.bytes;
		if (seg.bytes)
			w->segs[w->nsegs++] = seg;
	}
	if (length > max_message || (is_atomic(w->opcode) && length != 8))
		return WQE_TOO_LONG;
	w->length = (uint32_t)length;
	return WQE_OK;
}

static enum wqe_status parse_umr(struct wqe *w, struct cursor *c)
{
	if (!take(c, WQE_UMR_DATA - c->at))
		return WQE_MALFORMED;
	w->umr_data = (uint16_t)c->at;
	w->umr_bytes = (uint16_t)(c->end - c->at);
	return WQE_OK;
}

static void parse_ctrl(struct wqe *w)
{
	const uint8_t *ctrl = w->copy;
	uint8_t fm_ce_se = ctrl[11];

	w->opcode = ctrl[3];
	w->blocks = wqe_claimed_blocks(ctrl);
	w->ce = fm_ce_se >> 2 & 3;
	w->fence = fm_ce_se >> 5;
	w->solicited = fm_ce_se & MLX5_WQE_CTRL_SOLICITED;
	w->imm = be32_at(ctrl + 12);
}

enum wqe_status wqe_parse(struct wqe *w, enum qp_transport transport, uint32_t qpn, uint16_t index,
			  uint32_t max_message)
{
	struct cursor c = { .bytes = w->copy, .at = UNIT, .end = w->bytes };
	enum wqe_status status = WQE_OK;
	const uint8_t *xrc;

	memset(w, 0, offsetof(struct wqe, segs));
	if (c.end < UNIT) {
		w->blocks = 1;
		return WQE_MALFORMED;
	}
	parse_ctrl(w);
	if (w->copy[0] || be16_at(w->copy + 1) != index || be32_at(w->copy + 4) >> 8 != qpn ||
	    wqe_claimed_bytes(w->copy) != c.end || w->fence > WQE_FENCE_SMALL_AND_READS ||
	    !opcode_allowed(w->opcode, transport))
		return WQE_MALFORMED;
	if (w->opcode == MLX5_OPCODE_NOP)
		return WQE_OK;
	if (w->opcode == MLX5_OPCODE_UMR)
		return parse_umr(w, &c);

	if (is_datagram(transport)) {
		status = parse_av(w, &c);
	} else if (transport == QP_XRC_INI) {
		xrc = take(&c, UNIT);
		if (!xrc)
			return WQE_MALFORMED;
		w->xrc_srqn = be32_at(xrc) & 0xffffff;
	}
	if (!status && has_raddr(w->opcode))
		status = parse_remote(w, &c);
	return status ? status : parse_data(w, &c, max_message);
}

/* Copies from the ring, whose end may come in the middle. */
static int ring_read(const struct qp *qp, uint16_t index, uint32_t skip, void *dst, uint32_t len)
{
	struct dma_space *dma = qp->obj.hca->dma;
	uint64_t ring = (uint64_t)WQE_BLOCK << qp->log_sq_size;
	uint64_t at = ((uint64_t)index * WQE_BLOCK + skip) & (ring - 1);
	uint32_t run = len < ring - at ? len : (uint32_t)(ring - at);
	int ret = wqbuf_read(&qp->buf, dma, qp->sq_offset + at, dst, run);

	if (ret || run == len)
		return ret;
	return wqbuf_read(&qp->buf, dma, qp->sq_offset, (uint8_t *)dst + run, len - run);
}

enum wqe_status wqe_fetch(const struct qp *qp, uint16_t index, uint16_t available, struct wqe *w)
{
	uint32_t bytes;

	if (ring_read(qp, index, 0, w->copy, UNIT))
		return WQE_NO_DMA;
	bytes = wqe_claimed_bytes(w->copy);
	w->bytes = UNIT;
	if (wqe_claimed_blocks(w->copy) > available) {
		parse_ctrl(w);
		w->blocks = available;
		return WQE_MALFORMED;
	}
	if (bytes > UNIT) {
		if (ring_read(qp, index, UNIT, w->copy + UNIT, bytes - UNIT))
			return WQE_NO_DMA;
		w->bytes = (uint16_t)bytes;
	}
	return wqe_parse(w, qp->transport, qp->obj.id, index, 1u << CAP_MAX_MSG);
}

void recv_wqe_parse(struct recv_wqe *w, const uint8_t *bytes, size_t len)
{
	uint64_t length = 0;

	w->nsegs = 0;
	for (size_t at = 0; at + UNIT <= len && w->nsegs < WQE_MAX_SEGS; at += UNIT) {
		struct wqe_seg seg = { .bytes = be32_at(bytes + at),
				       .lkey = be32_at(bytes + at + 4),
				       .addr = be64_at(bytes + at + 8) };

		if (!seg.bytes && seg.lkey == MKEY_TERMINATE)
			break;
		length += seg.bytes;
		if (seg.bytes)
			w->segs[w->nsegs++] = seg;
	}
	w->length = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
}
