/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What granter in a guest and grants in dom0 agree on: the words of a guest's pages. */
#ifndef GRANTER_H
#define GRANTER_H

#include <stdint.h>

#define GRANTER_PAGE 4096u
#define GRANTER_WORDS (GRANTER_PAGE / sizeof(uint64_t))

/* Seeds: of what the guest has written, and of what is written to it. */
#define GRANTER_FIRST 1u
#define GRANTER_SECOND 2u

/* A word that no other page and no other place in a page has. */
static inline uint64_t granter_word(uint64_t seed, uint64_t page, uint64_t word)
{
	return (seed << 56 | page << 16 | word) * 0x9e3779b97f4a7c15ull;
}

static inline void granter_fill(uint64_t *at, uint64_t seed, uint64_t first, uint64_t pages)
{
	for (uint64_t i = 0; i < pages * GRANTER_WORDS; i++)
		at[i] = granter_word(seed, first + i / GRANTER_WORDS, i % GRANTER_WORDS);
}

/* How many words are others. */
static inline uint64_t granter_wrong(const uint64_t *at, uint64_t seed, uint64_t first,
				     uint64_t pages)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < pages * GRANTER_WORDS; i++)
		wrong += at[i] != granter_word(seed, first + i / GRANTER_WORDS, i % GRANTER_WORDS);
	return wrong;
}

#endif
