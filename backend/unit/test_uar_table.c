// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_uar_table.c - the table of a UAR pool: its bounds, and what an auto-translated guest has where.
 */
#include <stdlib.h>

#include "broker/uar_table.h"
#include "unit/fakes/fixture.h"

int main(void)
{
	struct uar_table *table = calloc(1, sizeof(*table));
	uint32_t n;

	CHECK(table);
	CHECK(uar_table_valid(table) && !uar_table_at(table, 0x100000));
	CHECK(uar_table_add(table, 18, 1, 0xfe812) == &table->entry[0] && table->count == 1);
	CHECK(table->entry[0].index == 18 && table->entry[0].type == 1 &&
	      table->entry[0].frame == 0xfe812);
	CHECK(!table->entry[0].allowed && !table->entry[0].in_use);

	/* One that is nowhere is not at gfn 0. */
	CHECK(!uar_table_at(table, 0));
	table->entry[0].gfn = 0x100000;
	CHECK(uar_table_at(table, 0x100000) == &table->entry[0] && !uar_table_at(table, 0x100001));

	for (n = table->count; n < UAR_TABLE_ENTRIES; n++) {
		CHECK(!uar_table_full(table));
		uar_table_add(table, n, 0, 0x1000 + n);
	}
	CHECK(uar_table_full(table) && uar_table_valid(table));
	table->entry[UAR_TABLE_ENTRIES - 1].gfn = 5;
	CHECK(uar_table_at(table, 5) == &table->entry[UAR_TABLE_ENTRIES - 1]);
	table->count++;
	CHECK(!uar_table_valid(table));
	free(table);
	return 0;
}
