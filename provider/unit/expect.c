// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * expect.c - WQEs octet by octet, see expect.h.
 */
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "expect.h"

static void put(struct expect *e, const void *from, uint32_t length)
{
	REQUIRE(e->used + length <= EXPECT_MAX);
	memcpy(e->octet + e->used, from, length);
	e->used += length;
	e->known = e->used;
}

/* The lowest octets of v, the highest first. */
static void put_be(struct expect *e, uint64_t v, uint32_t octets)
{
	uint8_t o;

	while (octets--) {
		o = octets < 8 ? v >> (8 * octets) : 0;
		put(e, &o, 1);
	}
}

void expect_control(struct expect *e, uint32_t index, uint8_t opcode, uint8_t bits,
		    const uint8_t imm[4])
{
	memset(e, 0, sizeof(*e));
	put_be(e, 0, 1);
	put_be(e, index, 2);
	put_be(e, opcode, 1);
	put_be(e, 0, 4); /* by expect_end() */
	put_be(e, 0, 3);
	put_be(e, bits, 1);
	put(e, imm, 4);
}

void expect_srqn(struct expect *e, uint32_t srqn)
{
	put_be(e, srqn, 4);
	put_be(e, 0, 12);
}

void expect_remote(struct expect *e, uint64_t addr, uint32_t rkey)
{
	put_be(e, addr, 8);
	put_be(e, rkey, 4);
	put_be(e, 0, 4);
}

void expect_atomic(struct expect *e, uint64_t swap_add, uint64_t compare)
{
	put_be(e, swap_add, 8);
	put_be(e, compare, 8);
}

void expect_address(struct expect *e, const struct ibv_ah_attr *attr, uint8_t rate_code,
		    uint32_t qpn, uint32_t qkey)
{
	put_be(e, qkey, 4);
	put_be(e, 0, 4);
	put_be(e, 0x80000000 | qpn, 4);
	put_be(e, rate_code << 4 | attr->sl, 1);
	put_be(e, attr->src_path_bits, 1);
	put_be(e, attr->dlid, 2);
	put_be(e, 0, 10);
	if (!attr->is_global) {
		put_be(e, 0, 8);
		put_be(e, 0, 14);
		return;
	}
	put_be(e, attr->grh.traffic_class, 1);
	put_be(e, attr->grh.hop_limit, 1);
	put_be(e, 1u << 30 | (uint32_t)attr->grh.sgid_index << 20 | attr->grh.flow_label, 4);
	put(e, attr->grh.dgid.raw, 16);
}

void expect_data(struct expect *e, uint64_t addr, uint32_t length, uint32_t lkey)
{
	put_be(e, length, 4);
	put_be(e, lkey, 4);
	put_be(e, addr, 8);
}

void expect_inline(struct expect *e, const void *data, uint32_t length)
{
	put_be(e, 0x80000000 | length, 4);
	put(e, data, length);
	e->used = (e->used + 15) & ~15u;
}

void expect_bind(struct expect *e, bool type2, uint32_t owner, uint8_t key, uint64_t addr,
		 uint64_t length, uint32_t mr_key, uint8_t access, bool zero_based)
{
	/* Which fields change: free 29, key 13, and QP 14 for type 2; for a binding the access
	 * rights 18 to 21, start address 6, length 0.
	 */
	uint64_t mask = 1u << 29 | 1u << 13 | (type2 ? 1u << 14 : 0) |
			(length ? 0xfu << 18 | 1u << 6 | 1u : 0);
	/* Inline 7, translation 4, and on a condition: is free 5, or is this QP's 3. */
	uint8_t flags = 0x90 | (type2 ? (length ? 0x20 : 0x08) : 0);

	put_be(e, flags, 1);
	put_be(e, 0, 3);
	put_be(e, length ? 4 : 0, 2);
	put_be(e, 0, 2);
	put_be(e, mask, 8);
	put_be(e, 0, 8);
	put_be(e, 0, 8);
	put_be(e, 0, 8);
	put_be(e, 0, 8);

	put_be(e, length ? 0 : 0x40, 1);
	put_be(e, 0, 1);
	put_be(e, length ? access : 0, 1);
	put_be(e, 0, 1);
	put_be(e, (type2 && length ? owner << 8 : 0xffffff00) | key, 4);
	put_be(e, 0, 8);
	put_be(e, length && !zero_based ? addr : 0, 8);
	put_be(e, length, 8);
	put_be(e, 0, 8);
	put_be(e, 0, 8);
	put_be(e, 0, 8);
	put_be(e, 0, 8);
	if (!length)
		return;

	put_be(e, length, 4);
	put_be(e, mr_key, 4);
	put_be(e, addr, 8);
	while (e->used % 64)
		put_be(e, 0, 8);
}

uint32_t expect_end(struct expect *e, uint32_t qpn)
{
	e->octet[4] = qpn >> 16;
	e->octet[5] = qpn >> 8;
	e->octet[6] = qpn;
	e->octet[7] = e->used / 16;
	return (e->used + 63) / 64;
}
