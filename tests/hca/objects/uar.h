/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UAR pages: the doorbell pages of the BAR, each allocated to one user context, and what may be rung from them. */
#ifndef HCA_UAR_H
#define HCA_UAR_H

#include "objects/obj.h"

struct uar {
	struct obj obj; /* id is the page's index in the BAR */
	uint64_t sq_doorbells, cq_arms, eq_doorbells;
	uint64_t refused; /* rung for an object that does not belong to this page, or for none */
	uint32_t half,
		half_off; /* the first half of a doorbell stored in two: value, offset; 0: none */
};

/*
 * A store of len bytes at offset off (0..4095) of page index. Refused and counted, with no other
 * effect, unless the page is allocated and the QP, CQ or EQ named was created on it.
 */
void uar_store(struct hca *hca, uint32_t index, uint32_t off, const void *data, uint32_t len);

#endif
