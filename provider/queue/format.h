/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * format.h - what the HCA reads and writes in memory: WQEs, which consist of segments, and CQEs.
 * All numbers are big endian.
 */
#ifndef XENIB_QUEUE_FORMAT_H
#define XENIB_QUEUE_FORMAT_H

#include "queue_os.h"

/* Segments are counted in units of 16 bytes; send WQEs are whole blocks of 64 bytes. */
#define XENIB_SEG_SIZE 16u
#define XENIB_BLOCK_SHIFT 6
#define XENIB_BLOCK_SIZE 64u

#define XENIB_CQE_SHIFT 6
#define XENIB_CQE_SIZE 64u

/* Where the doorbell to arm a CQ stands in any UAR page. */
#define XENIB_UAR_CQ_DOORBELL 0x20

/* Operations of send WQEs */
#define XENIB_OPCODE_SEND_INVAL 0x01
#define XENIB_OPCODE_RDMA_WRITE 0x08
#define XENIB_OPCODE_RDMA_WRITE_IMM 0x09
#define XENIB_OPCODE_SEND 0x0a
#define XENIB_OPCODE_SEND_IMM 0x0b
#define XENIB_OPCODE_RDMA_READ 0x10
#define XENIB_OPCODE_ATOMIC_CS 0x11
#define XENIB_OPCODE_ATOMIC_FA 0x12
#define XENIB_OPCODE_UMR 0x25

/* The first segment of each send WQE */
struct xenib_ctrl_seg {
	__be32 index_opcode; /* 16 bits of the queue's index, 8 of the operation */
	__be32 qpn_ds;       /* QP number, 8 bits of the WQE's size in units */
	__be32 flags;        /* XENIB_CTRL_* */
	__be32 imm;
};

#define XENIB_CTRL_SOLICITED BIT(1)
#define XENIB_CTRL_COMPLETION (2u << 2)
#define XENIB_CTRL_SMALL_FENCE BIT(5) /* waits for UMRs before it */
#define XENIB_CTRL_FENCE (4u << 5)    /* and for reads and atomics */

/* Of a QP that sends to an XRC domain: for which of its SRQs */
struct xenib_xrc_seg {
	__be32 srqn;
	__be32 reserved[3];
};

struct xenib_raddr_seg {
	__be64 addr;
	__be32 rkey;
	__be32 reserved;
};

struct xenib_atomic_seg {
	__be64 swap_add;
	__be64 compare;
};

struct xenib_data_seg {
	__be32 byte_count;
	__be32 lkey;
	__be64 addr;
};

/* Ends the list of a receive WQE. */
#define XENIB_INVALID_LKEY 0x100u

/* Before inline data */
struct xenib_inline_seg {
	__be32 byte_count;
};

#define XENIB_INLINE_DATA BIT(31) /* in byte_count */

/* Address vector of a datagram: all of its segment */
struct xenib_av {
	__be32 qkey;
	__be32 reserved0;
	__be32 qpn; /* and XENIB_AV_EXTENDED */
	u8 rate_sl;
	u8 path_bits;
	__be16 dlid;
	u8 reserved1[10];
	u8 traffic_class;
	u8 hop_limit;
	__be32 gid_flow; /* XENIB_AV_GRH, 8 bits of the GID's index, 20 of the flow label */
	u8 dgid[16];
};

#define XENIB_AV_EXTENDED BIT(31)
#define XENIB_AV_GRH BIT(30)

/* A UMR WQE changes a memory key: what of it, and on what conditions */
struct xenib_umr_seg {
	u8 flags; /* XENIB_UMR_* */
	u8 reserved0[3];
	__be16 translation_units;
	__be16 translation_offset;
	__be64 mask; /* XENIB_UMR_MASK_* */
	u8 reserved1[32];
};

#define XENIB_UMR_CHECK_QPN BIT(3)
#define XENIB_UMR_OFFSET BIT(4)
#define XENIB_UMR_CHECK_FREE BIT(5)
#define XENIB_UMR_INLINE BIT(7)

#define XENIB_UMR_MASK_LEN BIT(0)
#define XENIB_UMR_MASK_START BIT(6)
#define XENIB_UMR_MASK_KEY BIT(13)
#define XENIB_UMR_MASK_QPN BIT(14)
#define XENIB_UMR_MASK_LOCAL_WRITE BIT(18)
#define XENIB_UMR_MASK_REMOTE_READ BIT(19)
#define XENIB_UMR_MASK_REMOTE_WRITE BIT(20)
#define XENIB_UMR_MASK_ATOMIC BIT(21)
#define XENIB_UMR_MASK_FREE BIT(29)

/* The key's new contents */
struct xenib_key_seg {
	u8 free; /* XENIB_KEY_FREE or 0 */
	u8 reserved0;
	u8 access; /* XENIB_KEY_* */
	u8 reserved1;
	__be32 qpn_key; /* QP that may use it, 8 bits of the key */
	__be32 reserved2[2];
	__be64 start;
	__be64 length;
	__be32 reserved3[8];
};

#define XENIB_KEY_FREE BIT(6)
#define XENIB_KEY_LOCAL_WRITE BIT(3)
#define XENIB_KEY_REMOTE_READ BIT(4)
#define XENIB_KEY_REMOTE_WRITE BIT(5)
#define XENIB_KEY_ATOMIC BIT(6)
#define XENIB_KEY_ANY_QP 0xffffff00u

/* A translation entry: memory behind the key, in terms of another */
struct xenib_klm_seg {
	__be32 byte_count;
	__be32 key;
	__be64 addr;
};

/* Before the data segments of an SRQ's WQE */
struct xenib_srq_next_seg {
	u8 reserved0[2];
	__be16 next;
	u8 signature;
	u8 reserved1[11];
};

struct xenib_cqe {
	u8 reserved0[17];
	u8 path_bits;
	u8 reserved1[4];
	__be16 slid;
	__be32 flags_qpn; /* 2 bits of the GRH, 4 of the SL, QP number of the sender */
	u8 reserved2[4];
	__be32 uidx;
	__be32 imm; /* or the invalidated key, or the P_Key's index */
	u8 reserved3[4];
	__be32 byte_count;
	union {
		__be64 timestamp; /* of the HCA's clock */
		struct {
			u8 reserved4[6];
			u8 vendor_syndrome; /* of errors */
			u8 syndrome;        /* of errors: XENIB_SYNDROME_* */
		};
	};
	__be32 opcode_qpn;
	__be16 wqe_counter;
	u8 signature;
	u8 op_own; /* 4 bits of XENIB_CQE_*, the owner bit */
};

#define XENIB_CQE_OWNER 1u
#define XENIB_CQE_REQ 0
#define XENIB_CQE_RESP_WR_IMM 1
#define XENIB_CQE_RESP_SEND 2
#define XENIB_CQE_RESP_SEND_IMM 3
#define XENIB_CQE_RESP_SEND_INV 4
#define XENIB_CQE_RESIZED 5 /* the last of its buffer */
#define XENIB_CQE_REQ_ERR 13
#define XENIB_CQE_RESP_ERR 14
#define XENIB_CQE_INVALID 15

#define XENIB_SYNDROME_LOCAL_LENGTH 0x01
#define XENIB_SYNDROME_LOCAL_QP_OP 0x02
#define XENIB_SYNDROME_LOCAL_PROT 0x04
#define XENIB_SYNDROME_FLUSH 0x05
#define XENIB_SYNDROME_MW_BIND 0x06
#define XENIB_SYNDROME_BAD_RESP 0x10
#define XENIB_SYNDROME_LOCAL_ACCESS 0x11
#define XENIB_SYNDROME_REMOTE_INVAL_REQ 0x12
#define XENIB_SYNDROME_REMOTE_ACCESS 0x13
#define XENIB_SYNDROME_REMOTE_OP 0x14
#define XENIB_SYNDROME_RETRY 0x15
#define XENIB_SYNDROME_RNR_RETRY 0x16
#define XENIB_SYNDROME_REMOTE_ABORTED 0x22

static_assert(sizeof(struct xenib_ctrl_seg) == 16, "format");
static_assert(sizeof(struct xenib_raddr_seg) == 16, "format");
static_assert(sizeof(struct xenib_atomic_seg) == 16, "format");
static_assert(sizeof(struct xenib_data_seg) == 16, "format");
static_assert(sizeof(struct xenib_av) == 48, "format");
static_assert(offsetof(struct xenib_av, gid_flow) == 28, "format");
static_assert(sizeof(struct xenib_umr_seg) == 48, "format");
static_assert(sizeof(struct xenib_key_seg) == 64, "format");
static_assert(offsetof(struct xenib_key_seg, start) == 16, "format");
static_assert(sizeof(struct xenib_klm_seg) == 16, "format");
static_assert(sizeof(struct xenib_srq_next_seg) == 16, "format");
static_assert(sizeof(struct xenib_cqe) == XENIB_CQE_SIZE, "format");
static_assert(offsetof(struct xenib_cqe, uidx) == 32, "format");
static_assert(offsetof(struct xenib_cqe, timestamp) == 48, "format");
static_assert(offsetof(struct xenib_cqe, syndrome) == 55, "format");

#endif
