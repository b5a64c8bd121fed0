/* SPDX-License-Identifier: GPL-2.0 */
/*
 * slots.h - which request slots of the command ring are in use, by whom, for what operation.
 *
 * Nothing but bookkeeping: no locks, no ring, no kernel calls, so that a test compiles it in user
 * space. The caller serialises.
 */
#ifndef XENIB_SLOTS_H
#define XENIB_SLOTS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef unsigned char u8;
typedef unsigned long long u64;
#endif

#define XENIB_MAX_SLOTS 256
#define XENIB_SLOT_WORDS (XENIB_MAX_SLOTS / 64)

struct xenib_slot {
	void *owner;
	u8 op;
};

struct xenib_slots {
	unsigned int count;
	u64 busy[XENIB_SLOT_WORDS];
	struct xenib_slot slot[XENIB_MAX_SLOTS];
};

/* An empty table of count slots, 1 to XENIB_MAX_SLOTS. */
static inline void xenib_slots_init(struct xenib_slots *slots, unsigned int count)
{
	unsigned int i;

	slots->count = count;
	for (i = 0; i < XENIB_SLOT_WORDS; i++)
		slots->busy[i] = 0;
	for (i = 0; i < XENIB_MAX_SLOTS; i++)
		slots->slot[i] = (struct xenib_slot){ 0 };
}

static inline bool xenib_slots_is_busy(const struct xenib_slots *slots, unsigned int id)
{
	return id < slots->count && slots->busy[id / 64] >> (id % 64) & 1;
}

/* Takes the lowest free slot for a request. Returns its id, or -1 when all are in use. */
static inline int xenib_slots_take(struct xenib_slots *slots, u8 op, void *owner)
{
	unsigned int id, word;

	for (word = 0; word < XENIB_SLOT_WORDS; word++) {
		if (!~slots->busy[word])
			continue;
		id = word * 64 + __builtin_ctzll(~slots->busy[word]);
		if (id >= slots->count)
			return -1;
		slots->busy[word] |= 1ULL << (id % 64);
		slots->slot[id].owner = owner;
		slots->slot[id].op = op;
		return id;
	}
	return -1;
}

/* Frees a slot that is in use, and returns its owner. */
static inline void *xenib_slots_release(struct xenib_slots *slots, unsigned int id)
{
	void *owner = slots->slot[id].owner;

	slots->busy[id / 64] &= ~(1ULL << (id % 64));
	slots->slot[id].owner = NULL;
	return owner;
}

/*
 * True if a response with this id and op answers a request that waits. Both come from the peer, and
 * may be anything.
 */
static inline bool xenib_slots_match(const struct xenib_slots *slots, unsigned int id, u8 op)
{
	return xenib_slots_is_busy(slots, id) && slots->slot[id].op == op;
}

/* Frees any slot in use, and returns its owner; NULL when none is left. */
static inline void *xenib_slots_drain(struct xenib_slots *slots)
{
	unsigned int word;

	for (word = 0; word < XENIB_SLOT_WORDS; word++)
		if (slots->busy[word])
			return xenib_slots_release(slots, word * 64 +
						   __builtin_ctzll(slots->busy[word]));
	return NULL;
}

#endif
