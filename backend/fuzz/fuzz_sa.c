// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_sa.c - xen-ibgsi with datagrams of any 256 bytes, by turns a guest's and the SA's, and its table of
 * transactions with a clock that goes on now and then. What the guest is answered is what it has asked.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "modules/xen-ibgsi/sa_mad.h"
#include "modules/xen-ibgsi/sa_table.h"

#define MAD 256
#define WAITS 50

struct turn {
	uint8_t what, clock;
};

static struct sa_table table;
static uint64_t now;

#define MUST(condition) \
	do { \
		if (!(condition)) \
			abort(); \
	} while (0)

static uint64_t tid_of(const uint8_t *mad)
{
	uint64_t tid;

	memcpy(&tid, mad + MAD_TID, sizeof(tid));
	return tid;
}

static void guest_sends(const uint8_t *mad)
{
	struct sa_request *request;
	struct sa_group group;
	uint32_t number;

	switch (sa_kind(mad)) {
	case SA_MAD_ASKS:
		number = sa_table_add(&table, tid_of(mad), 1, now);
		request = sa_table_find(&table, number);
		MUST(!number || (request && request->tid == tid_of(mad) && !request->in_parts));
		break;
	case SA_MAD_GOES_ON:
		request = sa_table_in_parts(&table, tid_of(mad), now);
		MUST(!request || (request->in_parts && request->until > now));
		if (request)
			request->until = now + (sa_ends(mad, request->last) ? 2 : WAITS);
		break;
	case SA_MAD_JOINS:
	case SA_MAD_LEAVES:
		if (sa_group_read(mad, &group))
			MUST(group.mgid[0] == 0xff && group.state && group.state < 16);
		break;
	default:
		break;
	}
}

/* What is written of a group that was read is what was there, but for fields that are not read. */
static void check_group(const uint8_t *mad)
{
	struct sa_group group, again;
	uint8_t copy[MAD];

	if (!sa_group_read(mad, &group))
		return;
	memcpy(copy, mad, sizeof(copy));
	sa_group_write(copy, &group);
	MUST(sa_group_read(copy, &again) && !memcmp(&group, &again, sizeof(group)));
	MUST(!memcmp(copy, mad, 98 - 1));
}

static void sa_answers(const uint8_t *mad)
{
	uint32_t number = (uint32_t)mad[MAD_TID + 7] | mad[MAD_TID + 6] << 8;
	struct sa_request *request = sa_table_find(&table, number);

	if (!request)
		return;
	MUST(request->number == number);
	if (sa_is_part(mad)) {
		request->in_parts = true;
		request->last = sa_last_part(mad) ?: request->last;
		request->until = now + WAITS;
	}
	sa_table_end(&table, number);
	MUST(!sa_table_find(&table, number) || request->in_parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *mad = malloc(MAD); /* of its own, so that a byte behind it is noticed */
	struct turn turn;

	memset(&table, 0, sizeof(table));
	now = 0;
	while (size >= sizeof(turn)) {
		size_t n = size - sizeof(turn) < MAD ? size - sizeof(turn) : MAD;

		memcpy(&turn, data, sizeof(turn));
		memset(mad, 0, MAD);
		memcpy(mad, data + sizeof(turn), n);
		data += sizeof(turn) + n;
		size -= sizeof(turn) + n;
		now += turn.clock;
		check_group(mad);
		if (turn.what & 1)
			sa_answers(mad);
		else
			guest_sends(mad);
		if (turn.what == 0xff)
			sa_table_forget(&table);
	}
	free(mad);
	return 0;
}
