// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uar_records.c - see uar_records.h.
 */
#include <stddef.h>

#include "vhca/uar_records.h"

bool uar_records_valid(const struct uar_records *records)
{
	return records->count <= UAR_BANK_RECORDS;
}

bool uar_records_full(const struct uar_records *records)
{
	return records->count >= UAR_BANK_RECORDS;
}

/* The record is whole before it counts: whoever reads the others' memory sees it or does not. */
void uar_records_add(struct uar_records *records, uint32_t index, uint32_t type, uint64_t frame)
{
	records->record[records->count] = (struct uar_record){
		.index = index, .type = type, .frame = frame,
	};
	__atomic_store_n(&records->count, records->count + 1, __ATOMIC_RELEASE);
}

/* A frame of 0 is that of a record without a UAR. */
struct uar_record *uar_records_find(struct uar_records *records, uint64_t frame)
{
	uint32_t n;

	for (n = 0; frame && n < records->count; n++)
		if (records->record[n].frame == frame)
			return &records->record[n];
	return NULL;
}

struct uar_record *uar_records_at(struct uar_records *records, uint64_t gfn)
{
	uint32_t n;

	for (n = 0; gfn && n < records->count; n++)
		if (records->record[n].gfn == gfn)
			return &records->record[n];
	return NULL;
}
