/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * random.h - the random numbers of the NAS parallel benchmarks: x' = 5^13 x mod 2^46 (NASA report RNR-94-007).
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

#define RANDOM_MASK ((1ull << 46) - 1)
#define RANDOM_FACTOR 1220703125ull /* 5^13 */
#define RANDOM_SEED 314159265ull    /* of both IS and FT */

/* The next number, in (0, 1). What overflows 64 bits is no part of the lower 46. */
static inline double random_next(uint64_t *x)
{
	*x = *x * RANDOM_FACTOR & RANDOM_MASK;
	return *x * 0x1p-46;
}

/* The state after n numbers from the seed. */
static inline uint64_t random_after(uint64_t n)
{
	uint64_t x = RANDOM_SEED, factor = RANDOM_FACTOR;

	for (; n; n >>= 1, factor = factor * factor & RANDOM_MASK)
		if (n & 1)
			x = x * factor & RANDOM_MASK;
	return x;
}

#endif
