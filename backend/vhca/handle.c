// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * handle.c - see handle.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vhca/handle.h"

#define INDEX_BITS 18
#define INDEX_MASK ((1u << INDEX_BITS) - 1)
#define GENERATIONS (1u << (32 - INDEX_BITS))
#define FIRST_CAPACITY 64

struct handle_entry {
	struct object *obj; /* NULL: free, or reserved */
	uint16_t generation;
	bool taken;
	uint32_t next_free;
};

void handle_table_init(struct handle_table *table, uint32_t limit)
{
	memset(table, 0, sizeof(*table));
	table->limit = limit < HANDLE_MAX ? limit : HANDLE_MAX;
	table->size = 1;
}

void handle_table_free(struct handle_table *table)
{
	free(table->entries);
	memset(table, 0, sizeof(*table));
}

static int grow(struct handle_table *table)
{
	uint32_t capacity = table->capacity ? table->capacity * 2 : FIRST_CAPACITY;
	struct handle_entry *entries;

	if (capacity > table->limit + 1)
		capacity = table->limit + 1;
	entries = realloc(table->entries, capacity * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	memset(entries + table->capacity, 0, (capacity - table->capacity) * sizeof(*entries));
	table->entries = entries;
	table->capacity = capacity;
	return 0;
}

static uint32_t take_free(struct handle_table *table)
{
	uint32_t index = table->free_head;

	table->free_head = table->entries[index].next_free;
	if (!table->free_head)
		table->free_tail = 0;
	return index;
}

/*
 * New entries are preferred to used ones while the table is small, so that a handle does not come
 * back soon.
 */
int handle_reserve(struct handle_table *table, xen_vhca_handle_t *handle)
{
	uint32_t index;

	if (table->free_head && table->size > FIRST_CAPACITY) {
		index = take_free(table);
	} else if (table->size <= table->limit) {
		if (table->size >= table->capacity && grow(table))
			return -ENOMEM;
		index = table->size++;
	} else if (table->free_head) {
		index = take_free(table);
	} else {
		return -ENOSPC;
	}
	table->entries[index].taken = true;
	*handle = (uint32_t)table->entries[index].generation << INDEX_BITS | index;
	return 0;
}

static struct handle_entry *entry_of(const struct handle_table *table, xen_vhca_handle_t handle)
{
	uint32_t index = handle & INDEX_MASK;
	struct handle_entry *entry;

	if (!index || index >= table->size)
		return NULL;
	entry = &table->entries[index];
	return entry->taken && entry->generation == handle >> INDEX_BITS ? entry : NULL;
}

void handle_publish(struct handle_table *table, xen_vhca_handle_t handle, struct object *obj)
{
	entry_of(table, handle)->obj = obj;
}

void handle_release(struct handle_table *table, xen_vhca_handle_t handle)
{
	struct handle_entry *entry = entry_of(table, handle);
	uint32_t index = handle & INDEX_MASK;

	entry->obj = NULL;
	entry->taken = false;
	entry->generation = (entry->generation + 1) % GENERATIONS;
	entry->next_free = 0;
	if (table->free_tail)
		table->entries[table->free_tail].next_free = index;
	else
		table->free_head = index;
	table->free_tail = index;
}

struct object *handle_find(const struct handle_table *table, xen_vhca_handle_t handle,
			   enum obj_type type)
{
	struct handle_entry *entry = entry_of(table, handle);

	if (!entry || !entry->obj || entry->obj->dying || entry->obj->type != type)
		return NULL;
	return entry->obj;
}

const char *obj_type_name(enum obj_type type)
{
	static const char *const names[OBJ_TYPES] = {
		[OBJ_NONE] = "nothing", [OBJ_CTX] = "context", [OBJ_UAR] = "UAR", [OBJ_PD] = "PD",
		[OBJ_UMEM] = "umem",    [OBJ_MR] = "MR",       [OBJ_MW] = "MW",   [OBJ_CQ] = "CQ",
		[OBJ_SRQ] = "SRQ",      [OBJ_QP] = "QP",
	};

	return type < OBJ_TYPES ? names[type] : "?";
}
