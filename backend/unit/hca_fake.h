/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * hca_fake.h - an HCA that only keeps books, and aborts where the real one would be used wrongly:
 * objects that do not exist or are still needed, memory that is not mapped when it is registered,
 * or not mapped any more when it is let go.
 */
#ifndef XEN_IB_HCA_FAKE_H
#define XEN_IB_HCA_FAKE_H

#include "hca.h"

struct fake_hca {
	struct hca hca;
	int fail_in;     /* the n-th creation from now fails with ENOMEM; 0: none */
	unsigned int live; /* objects */
	unsigned int contexts, uars;
	unsigned int slow_us; /* a registration takes that long */
};

void fake_init(struct fake_hca *fake);

#endif
