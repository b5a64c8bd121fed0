// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_uar_records.c - the records of a bank: only frames that were allocated are found.
 */
#include <stdlib.h>

#include "unit/fakes/rig.h"
#include "vhca/uar_records.h"

int main(void)
{
	struct uar_records *records = calloc(1, sizeof(*records));
	uint32_t n;

	CHECK(records);
	CHECK(uar_records_valid(records) && !uar_records_find(records, 0xfe812));
	uar_records_add(records, 18, 1, 0xfe812);
	CHECK(uar_records_find(records, 0xfe812) == &records->record[0]);
	CHECK(records->record[0].index == 18 && records->record[0].type == 1 && !records->record[0].allowed);
	CHECK(!uar_records_find(records, 0xfe813) && !uar_records_find(records, 0));

	/* A record without a UAR, as a worker's copy may have, is none of frame 0. */
	records->record[0].frame = 0;
	CHECK(!uar_records_find(records, 0));

	for (n = records->count; n < UAR_BANK_RECORDS; n++) {
		CHECK(!uar_records_full(records));
		uar_records_add(records, n, 0, 0x1000 + n);
	}
	CHECK(uar_records_full(records) && uar_records_valid(records));
	CHECK(uar_records_find(records, 0x1000 + UAR_BANK_RECORDS - 1) == &records->record[UAR_BANK_RECORDS - 1]);
	records->count++;
	CHECK(!uar_records_valid(records));
	free(records);
	return 0;
}
