/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * For fuzzers that keep what they test from one input to the next, so that none may leave anything
 * behind. With FUZZ_TWICE in the environment each input is given twice, and must end the same.
 */
#ifndef HCA_FUZZ_TWICE_H
#define HCA_FUZZ_TWICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define SUM_START 0xcbf29ce484222325ull

static inline uint64_t sum(uint64_t sum, const void *bytes, size_t len)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ b[i]) * 0x100000001b3ull;
	return sum;
}

/* Gives an input. If it is asked for: returns the sum of all that it has led to. */
static uint64_t give(const uint8_t *data, size_t size, bool ask);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int twice = -1;
	uint64_t first;

	if (twice < 0)
		twice = getenv("FUZZ_TWICE") != NULL;
	first = give(data, size, twice);
	if (twice && give(data, size, true) != first)
		abort();
	return 0;
}

#endif
