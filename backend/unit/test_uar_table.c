// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_uar_table.c - the records of a UAR pool: only frames that were allocated are found.
 */
#include <stdlib.h>

#include "unit/fakes/fixture.h"
#include "vhca/uar_table.h"

int main(void)
{
	struct uar_table *table = calloc(1, sizeof(*table));
	uint32_t n;

	CHECK(table);
	CHECK(uar_table_valid(table) && !uar_table_find(table, 0xfe812));
	uar_table_add(table, 18, 1, 0xfe812);
	CHECK(uar_table_find(table, 0xfe812) == &table->entry[0]);
	CHECK(table->entry[0].index == 18 && table->entry[0].type == 1 && !table->entry[0].allowed);
	CHECK(!uar_table_find(table, 0xfe813) && !uar_table_find(table, 0));

	/* A record without a UAR, as a worker's copy may have, is none of frame 0. */
	table->entry[0].frame = 0;
	CHECK(!uar_table_find(table, 0));

	for (n = table->count; n < UAR_TABLE_ENTRIES; n++) {
		CHECK(!uar_table_full(table));
		uar_table_add(table, n, 0, 0x1000 + n);
	}
	CHECK(uar_table_full(table) && uar_table_valid(table));
	CHECK(uar_table_find(table, 0x1000 + UAR_TABLE_ENTRIES - 1) == &table->entry[UAR_TABLE_ENTRIES - 1]);
	table->count++;
	CHECK(!uar_table_valid(table));
	free(table);
	return 0;
}
