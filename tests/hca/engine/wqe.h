/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work queue entries: from the bytes that a driver wrote to something that can be relied on.
 *
 * A WQE is copied out of the machine's memory once; these functions see the copy alone. They are
 * pure, so that a fuzzer can feed them anything. Layouts: infiniband/mlx5dv.h.
 */
#ifndef HCA_WQE_H
#define HCA_WQE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "objects/qp.h"

#define WQE_BLOCK 64u /* send queues are counted in these */
#define WQE_MAX 1024u /* bytes; 63 units of 16 are what the count in a WQE can say */
#define WQE_MAX_SEGS 64u

/* A piece of a message: memory under a key, or bytes in the WQE itself. */
struct wqe_seg {
	uint32_t bytes;
	uint32_t lkey;
	uint64_t addr; /* inline: offset in the copy */
	bool is_inline;
};

/* Where a datagram goes (struct mlx5_wqe_av). */
struct wqe_av {
	uint32_t qkey, qpn;
	uint16_t dlid;
	uint8_t sl, path_bits;
	bool grh;
	uint8_t sgid_index, traffic_class, hop_limit;
	uint32_t flow_label;
	uint8_t dgid[16];
};

/* What the completion of a WQE asks for (mlx5's CE field). */
enum wqe_ce { WQE_CE_ERROR = 0, WQE_CE_FIRST_ERROR = 1, WQE_CE_ALWAYS = 2, WQE_CE_EVENT = 3 };
/* What has to be over before a WQE starts (mlx5's FM field). */
enum wqe_fence {
	WQE_FENCE_NONE = 0,
	WQE_FENCE_SMALL = 1,
	WQE_FENCE_READS = 2,
	WQE_FENCE_STRONG = 3,
	WQE_FENCE_SMALL_AND_READS = 4,
};

struct wqe {
	uint8_t opcode;  /* MLX5_OPCODE_* */
	uint16_t blocks; /* of WQE_BLOCK that it takes; 1 at least, even if malformed */
	enum wqe_ce ce;
	enum wqe_fence fence;
	bool solicited;
	uint32_t imm; /* or key: of an invalidation, or the one a UMR changes */
	uint64_t raddr;
	uint32_t rkey;
	uint64_t swap_add, compare;
	uint32_t xrc_srqn;
	struct wqe_av av;
	uint32_t length; /* of all segments */
	uint8_t nsegs;
	uint16_t umr_data, umr_bytes; /* UMR: what follows the key's context, and how much */
	struct wqe_seg segs[WQE_MAX_SEGS];
	uint16_t bytes;
	_Alignas(16) uint8_t copy[WQE_MAX];
};

/* In a UMR WQE's copy. */
#define WQE_UMR_CTRL 16u
#define WQE_UMR_CONTEXT 64u
#define WQE_UMR_DATA 128u

enum wqe_status {
	WQE_OK,
	WQE_MALFORMED, /* local QP operation error */
	WQE_TOO_LONG,  /* local length error */
	WQE_NO_DMA,    /* it cannot be read: the queue is broken */
};

/* Bytes and blocks that the control segment (16 bytes) claims; blocks are 1 at least. */
uint32_t wqe_claimed_bytes(const uint8_t ctrl[16]);
uint16_t wqe_claimed_blocks(const uint8_t ctrl[16]);

/*
 * Parses w->copy (w->bytes of it, filled in by the caller) as the WQE at index of the send queue
 * of QP qpn. All members but copy and bytes are set. max_message: bytes.
 */
enum wqe_status wqe_parse(struct wqe *w, enum qp_transport transport, uint32_t qpn, uint16_t index,
			  uint32_t max_message);

/*
 * Reads and parses the WQE at index of qp's send queue; available: blocks posted from there on.
 * The members are valid as far as the status lets them: opcode, blocks and ce always are,
 * except with WQE_NO_DMA.
 */
enum wqe_status wqe_fetch(const struct qp *qp, uint16_t index, uint16_t available, struct wqe *w);

/* The scatter list of a receive WQE. */
struct recv_wqe {
	uint32_t length;
	uint8_t nsegs;
	struct wqe_seg segs[WQE_MAX_SEGS];
};

#define RECV_WQE_MAX 1024u

/* len: a multiple of 16, at most RECV_WQE_MAX. A list ends there or at a segment that says so. */
void recv_wqe_parse(struct recv_wqe *w, const uint8_t *bytes, size_t len);

#endif
