/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * expect.h - what a WQE must look like, octet by octet, written down apart from the provider.
 */
#ifndef XENIB_UNIT_EXPECT_H
#define XENIB_UNIT_EXPECT_H

#include <stdbool.h>

#include <infiniband/verbs.h>

#define EXPECT_MAX 1024

/* A WQE as one piece, whatever the queue makes of it. */
struct expect {
	uint8_t octet[EXPECT_MAX];
	uint32_t used;  /* octets of the WQE */
	uint32_t known; /* of these, without what fills up the last unit after inline data */
};

/**
 * expect_control() - begins a WQE. After it come the segments, in their order, and expect_end().
 * @index: of its first block in the queue, of which 16 bits are told.
 * @bits: fence 7..5, completion 3..2, solicited 1.
 */
void expect_control(struct expect *e, uint32_t index, uint8_t opcode, uint8_t bits,
		    const uint8_t imm[4]);
void expect_srqn(struct expect *e, uint32_t srqn);
void expect_remote(struct expect *e, uint64_t addr, uint32_t rkey);
void expect_atomic(struct expect *e, uint64_t swap_add, uint64_t compare);
void expect_address(struct expect *e, const struct ibv_ah_attr *attr, uint8_t rate_code,
		    uint32_t qpn, uint32_t qkey);
void expect_data(struct expect *e, uint64_t addr, uint32_t length, uint32_t lkey);
void expect_inline(struct expect *e, const void *data, uint32_t length);

/** expect_bind() - a memory window; length 0 invalidates. owner: the QP that may use it. */
void expect_bind(struct expect *e, bool type2, uint32_t owner, uint8_t key, uint64_t addr,
		 uint64_t length, uint32_t mr_key, uint8_t access, bool zero_based);

/** expect_end() - writes the WQE's size and the QP into it. Return: blocks of 64 bytes. */
uint32_t expect_end(struct expect *e, uint32_t qpn);

#endif
