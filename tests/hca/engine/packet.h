/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A packet on the fabric: the headers of an InfiniBand packet, unpacked, and its payload. */
#ifndef HCA_PACKET_H
#define HCA_PACKET_H

#include <stdbool.h>
#include <stdint.h>

/* BTH opcodes (IBTA vol. 1, 9.2.1): transport in bits 7-5, operation in bits 4-0. */
enum { BTH_RC = 0x00, BTH_UC = 0x20, BTH_UD = 0x60, BTH_XRC = 0xa0, BTH_TRANSPORT = 0xe0 };
enum bth_op {
	BTH_SEND_FIRST = 0x00,
	BTH_SEND_MIDDLE,
	BTH_SEND_LAST,
	BTH_SEND_LAST_IMM,
	BTH_SEND_ONLY,
	BTH_SEND_ONLY_IMM,
	BTH_WRITE_FIRST,
	BTH_WRITE_MIDDLE,
	BTH_WRITE_LAST,
	BTH_WRITE_LAST_IMM,
	BTH_WRITE_ONLY,
	BTH_WRITE_ONLY_IMM,
	BTH_READ_REQUEST,
	BTH_READ_RESP_FIRST,
	BTH_READ_RESP_MIDDLE,
	BTH_READ_RESP_LAST,
	BTH_READ_RESP_ONLY,
	BTH_ACKNOWLEDGE,
	BTH_ATOMIC_ACK,
	BTH_COMPARE_SWAP,
	BTH_FETCH_ADD,
	BTH_SEND_LAST_INV = 0x16,
	BTH_SEND_ONLY_INV = 0x17,
};

/* AETH syndromes: ACK 0x00-0x1f, RNR NAK 0x20 | timer, NAK 0x60 | code. */
enum {
	AETH_ACK = 0x00,
	AETH_RNR = 0x20,
	AETH_NAK = 0x60,
	AETH_KIND = 0x60,
	NAK_PSN_SEQUENCE = 0,
	NAK_INVALID_REQUEST = 1,
	NAK_REMOTE_ACCESS = 2,
	NAK_REMOTE_OPERATIONAL = 3,
};

#define PACKET_PAYLOAD 4096u
#define PSN_MASK 0xffffffu
#define QPN_MULTICAST 0xffffffu
#define QKEY_QP1 0x80010000u
#define LID_MULTICAST 0xc000u
#define LID_PERMISSIVE 0xffffu

struct packet {
	struct packet *next; /* private to whoever queues it */
	uint64_t due;        /* private to the fabric: when a delayed packet goes on */
	uint8_t port;        /* private to the fabric: where it goes */

	uint16_t slid, dlid; /* LRH */
	uint8_t sl;
	bool grh; /* GRH */
	uint8_t sgid[16], dgid[16];
	uint32_t flow_label;
	uint8_t traffic_class, hop_limit;

	uint8_t opcode; /* BTH */
	bool solicited, ack_request;
	uint16_t pkey;
	uint32_t dest_qpn, psn;

	uint32_t qkey, src_qpn; /* DETH */
	uint64_t va;            /* RETH, AtomicETH */
	uint32_t rkey, dma_len;
	uint64_t swap_add, compare;
	uint8_t syndrome; /* AETH */
	uint32_t msn;
	uint64_t atomic_old; /* AtomicAckETH */
	uint32_t imm;        /* ImmDt (network order as posted), or IETH's rkey */
	uint32_t xrc_srqn;   /* XRCETH */

	uint32_t len;
	uint8_t data[PACKET_PAYLOAD];
};

#endif
