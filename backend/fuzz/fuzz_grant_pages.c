// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_grant_pages.c - pages of a buffer of xen-ibgrant's that are claimed, mapped and given up in any order, as by
 * several threads at once, beside a plain account of them. Runs of pages are all of a range, once, and in order.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "modules/xen-ibgrant/pages.h"

#define MOST 64u
#define CLAIMS 4u

#define MUST(condition) \
	do { \
		if (!(condition)) \
			abort(); \
	} while (0)

struct turn {
	uint8_t what, claim;
	uint32_t first, count;
	uint64_t addr;
};

enum state { FREE, CLAIMED, MAPPED };

static struct ibgrant_pages pages;
static enum state state[MOST];
static struct {
	uint32_t first, count; /* no count: nobody's */
} claims[CLAIMS];

static void claim(const struct turn *t)
{
	bool good = true;
	uint32_t i;

	if (!ibgrant_fits(t->first, t->count, pages.count)) {
		MUST(!t->count || (uint64_t)t->first + t->count > pages.count);
		return;
	}
	MUST(t->count && (uint64_t)t->first + t->count <= pages.count);
	if (claims[t->claim % CLAIMS].count)
		return;
	for (i = t->first; i < t->first + t->count; i++)
		good &= state[i] == FREE;
	MUST(ibgrant_claim(&pages, t->first, t->count) == good);
	for (i = t->first; good && i < t->first + t->count; i++)
		state[i] = CLAIMED;
	if (good) {
		claims[t->claim % CLAIMS].first = t->first;
		claims[t->claim % CLAIMS].count = t->count;
	}
}

/* All of a claim's pages are mapped, or none is. */
static void end_claim(const struct turn *t, bool map)
{
	uint32_t first = claims[t->claim % CLAIMS].first, count = claims[t->claim % CLAIMS].count;

	for (uint32_t i = first; i < first + count; i++) {
		state[i] = map ? MAPPED : FREE;
		if (!map)
			continue;
		pages.handle[i] = i;
		pages.addr[i] = (t->addr + (i & ~(uint32_t)(t->addr & 7))) << IBGRANT_PAGE_SHIFT;
	}
	if (map)
		ibgrant_settle(&pages, count);
	else
		ibgrant_unclaim(&pages, first, count);
	claims[t->claim % CLAIMS].count = 0;
}

static void runs(const struct turn *t)
{
	uint32_t at, n, end, most = 1 + t->claim;

	if (!ibgrant_fits(t->first, t->count, pages.count))
		return;
	end = t->first + t->count;
	for (at = t->first; at < end; at += n) {
		n = ibgrant_run(&pages, at, end, most);
		MUST(n && n <= most && n <= end - at);
		for (uint32_t i = 1; i < n; i++)
			MUST(pages.addr[at + i] ==
			     pages.addr[at] + ((uint64_t)i << IBGRANT_PAGE_SHIFT));
		if (n < most && n < end - at)
			MUST(pages.addr[at + n] !=
			     pages.addr[at] + ((uint64_t)n << IBGRANT_PAGE_SHIFT));
	}
	MUST(at == end);
}

static void check_all(void)
{
	bool complete = true;

	for (uint32_t i = 0; i < pages.count; i++) {
		MUST(ibgrant_is_mapped(&pages, i) == (state[i] == MAPPED));
		complete &= state[i] == MAPPED;
	}
	MUST(ibgrant_complete(&pages) == complete);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct turn turn;

	if (!size)
		return 0;
	memset(state, 0, sizeof(state));
	memset(claims, 0, sizeof(claims));
	pages.count = 1 + data[0] % MOST;
	pages.settled = 0;
	/* Of their own, so that a page behind them is noticed. */
	pages.handle = malloc(pages.count * sizeof(*pages.handle));
	pages.addr = calloc(pages.count, sizeof(*pages.addr));
	MUST(pages.handle && pages.addr);
	memset(pages.handle, 0xff, pages.count * sizeof(*pages.handle));
	for (data++, size--; size >= sizeof(turn); data += sizeof(turn), size -= sizeof(turn)) {
		memcpy(&turn, data, sizeof(turn));
		if (turn.what & 0x80) { /* else hardly a range would fit */
			turn.first %= MOST;
			turn.count %= MOST;
		}
		switch (turn.what & 3) {
		case 0:
			claim(&turn);
			break;
		case 1:
		case 2:
			end_claim(&turn, turn.what & 1);
			break;
		default:
			runs(&turn);
		}
		check_all();
	}
	free(pages.handle);
	free(pages.addr);
	return 0;
}
