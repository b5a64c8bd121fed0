// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tables of objects: numbers to pointers, in blocks that are made when first used. */
#include <errno.h>
#include <stdlib.h>

#include "objects/obj.h"

#define BLOCK_SHIFT 10
#define BLOCK_SIZE (1u << BLOCK_SHIFT)
#define BLOCK_MASK (BLOCK_SIZE - 1)

struct block {
	uint32_t used;
	uint64_t taken[BLOCK_SIZE / 64]; /* a bit for each slot */
	struct obj *slots[BLOCK_SIZE];
};

struct obj_table {
	uint32_t min, max;
	uint32_t next; /* where the search for a free number starts */
	uint32_t count;
	uint32_t n_blocks;
	uint32_t made;          /* blocks from here on were never used */
	struct block *blocks[]; /* index: number >> BLOCK_SHIFT; NULL: never used */
};

struct obj_table *obj_table_new(uint32_t min, uint32_t max)
{
	uint32_t n_blocks = (max >> BLOCK_SHIFT) + 1;
	struct obj_table *t = calloc(1, sizeof(*t) + n_blocks * sizeof(t->blocks[0]));

	if (!t)
		return NULL;
	t->min = min;
	t->max = max;
	t->next = min;
	t->n_blocks = n_blocks;
	return t;
}

void obj_table_free(struct obj_table *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->made; i++)
		free(t->blocks[i]);
	free(t);
}

bool obj_table_restart(struct obj_table *t)
{
	t->next = t->min;
	return !t->count;
}

/* The first slot from slot on that is taken, or that is free; BLOCK_SIZE if there is none. */
static uint32_t find_slot(const struct block *b, uint32_t slot, bool taken)
{
	for (uint32_t i = slot / 64; i < BLOCK_SIZE / 64; i++) {
		uint64_t bits = taken ? b->taken[i] : ~b->taken[i];

		if (i == slot / 64)
			bits &= UINT64_MAX << slot % 64;
		if (bits)
			return i * 64 + (uint32_t)__builtin_ctzll(bits);
	}
	return BLOCK_SIZE;
}

/* The first free number in from..to, or to + 1. */
static uint32_t find_free(const struct obj_table *t, uint32_t from, uint32_t to)
{
	uint32_t id = from;

	while (id <= to) {
		const struct block *b = t->blocks[id >> BLOCK_SHIFT];
		uint32_t slot = b ? find_slot(b, id & BLOCK_MASK, false) : id & BLOCK_MASK;

		id = (id & ~BLOCK_MASK) + slot;
		if (slot < BLOCK_SIZE)
			return id <= to ? id : to + 1;
	}
	return to + 1;
}

int obj_add(struct obj_table *t, struct obj *obj)
{
	struct block **b;
	uint32_t id;

	if (t->count > t->max - t->min)
		return -ENOSPC;
	id = find_free(t, t->next, t->max);
	if (id > t->max)
		id = find_free(t, t->min, t->next - 1);
	b = &t->blocks[id >> BLOCK_SHIFT];
	if (!*b)
		*b = calloc(1, sizeof(**b));
	if (!*b)
		return -ENOSPC;
	if (t->made <= id >> BLOCK_SHIFT)
		t->made = (id >> BLOCK_SHIFT) + 1;
	(*b)->slots[id & BLOCK_MASK] = obj;
	(*b)->taken[(id & BLOCK_MASK) / 64] |= 1ull << id % 64;
	(*b)->used++;
	t->count++;
	t->next = id == t->max ? t->min : id + 1;
	obj->id = id;
	return 0;
}

void obj_del(struct obj_table *t, struct obj *obj)
{
	struct block *b = t->blocks[obj->id >> BLOCK_SHIFT];

	b->slots[obj->id & BLOCK_MASK] = NULL;
	b->taken[(obj->id & BLOCK_MASK) / 64] &= ~(1ull << obj->id % 64);
	b->used--;
	t->count--;
}

struct obj *obj_find(const struct obj_table *t, uint32_t id)
{
	const struct block *b;

	if (id > t->max)
		return NULL;
	b = t->blocks[id >> BLOCK_SHIFT];
	return b ? b->slots[id & BLOCK_MASK] : NULL;
}

struct obj *obj_next(const struct obj_table *t, uint32_t id)
{
	uint32_t slot = id & BLOCK_MASK;

	for (uint32_t i = id >> BLOCK_SHIFT; i < t->made && t->count; i++, slot = 0) {
		const struct block *b = t->blocks[i];

		if (!b || !b->used)
			continue;
		slot = find_slot(b, slot, true);
		if (slot < BLOCK_SIZE)
			return b->slots[slot];
	}
	return NULL;
}

void obj_each(struct obj_table *t, void (*fn)(struct obj *obj, void *arg), void *arg)
{
	struct obj *obj = obj_next(t, t->min);

	while (obj) {
		uint32_t id = obj->id;

		fn(obj, arg);
		obj = id == t->max ? NULL : obj_next(t, id + 1);
	}
}

uint32_t obj_count(const struct obj_table *t)
{
	return t->count;
}

const char *obj_type_name(enum obj_type type)
{
	static const char *const names[OBJ_TYPES] = {
		[OBJ_UCTX] = "uctx", [OBJ_UAR] = "uar", [OBJ_PD] = "pd", [OBJ_TD] = "td",
		[OBJ_XRCD] = "xrcd", [OBJ_MKEY] = "mr", [OBJ_EQ] = "eq", [OBJ_CQ] = "cq",
		[OBJ_SRQ] = "srq",   [OBJ_QP] = "qp",
	};

	return type < OBJ_TYPES ? names[type] : "?";
}
