// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uar_table.c - see uar_table.h.
 */
#include <stddef.h>

#include "broker/uar_table.h"

bool uar_table_valid(const struct uar_table *table)
{
	return table->count <= UAR_TABLE_ENTRIES;
}

bool uar_table_full(const struct uar_table *table)
{
	return table->count >= UAR_TABLE_ENTRIES;
}

/* The entry is whole before it counts: whoever reads the others' memory sees it or does not. */
struct uar_entry *uar_table_add(struct uar_table *table, uint32_t index, uint32_t type,
				uint64_t frame)
{
	struct uar_entry *entry = &table->entry[table->count];

	*entry = (struct uar_entry){ .index = index, .type = type, .frame = frame };
	__atomic_store_n(&table->count, table->count + 1, __ATOMIC_RELEASE);
	return entry;
}

struct uar_entry *uar_table_at(struct uar_table *table, uint64_t gfn)
{
	uint32_t n;

	for (n = 0; gfn && n < table->count; n++)
		if (table->entry[n].gfn == gfn)
			return &table->entry[n];
	return NULL;
}
