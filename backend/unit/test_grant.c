// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_grant.c - what of xen-ibgrant needs no kernel: which pages of a buffer are there, and which follow each other; when a
 * guest is notified, so that no notification is lost, and none is too many.
 */
#include <stdlib.h>
#include <string.h>

#include "modules/xen-ibgrant/pace.h"
#include "modules/xen-ibgrant/pages.h"
#include "unit/fakes/fixture.h"

/* Pages */

#define PAGES 16u
#define PAGE 4096ull

static __u32 handle[PAGES];
static __u64 addr[PAGES];
static struct ibgrant_pages pages = { .count = PAGES, .handle = handle, .addr = addr };

static void start(void)
{
	memset(handle, 0xff, sizeof(handle));
	memset(addr, 0, sizeof(addr));
	pages.settled = 0;
}

static void map(__u32 first, __u32 count)
{
	for (__u32 i = first; i < first + count; i++) {
		CHECK(handle[i] == IBGRANT_CLAIMED);
		handle[i] = i;
	}
	ibgrant_settle(&pages, count);
}

static void test_fits(void)
{
	CHECK(ibgrant_fits(0, 1, 1) && ibgrant_fits(0, 7, 7) && ibgrant_fits(6, 1, 7));
	CHECK(!ibgrant_fits(0, 0, 7) && !ibgrant_fits(7, 0, 7));
	CHECK(!ibgrant_fits(7, 1, 7) && !ibgrant_fits(6, 2, 7) && !ibgrant_fits(0, 8, 7));
	CHECK(!ibgrant_fits(3, 0xfffffffd, 7) && !ibgrant_fits(0xffffffff, 1, 7));
	CHECK(!ibgrant_fits(1, 0xffffffff, 0xffffffff) && !ibgrant_fits(0, 1, 0));
}

/* Who comes second to a page has none at all. */
static void test_claims(void)
{
	start();
	CHECK(ibgrant_claim(&pages, 4, 4));
	CHECK(!ibgrant_is_mapped(&pages, 4) && !ibgrant_is_mapped(&pages, 0));
	CHECK(!ibgrant_claim(&pages, 7, 1) && !ibgrant_claim(&pages, 0, 5));
	CHECK(handle[0] == IBGRANT_FREE && handle[3] == IBGRANT_FREE);
	map(4, 4);
	CHECK(ibgrant_is_mapped(&pages, 4) && ibgrant_is_mapped(&pages, 7));
	CHECK(!ibgrant_claim(&pages, 3, 2) && handle[3] == IBGRANT_FREE);
	CHECK(ibgrant_claim(&pages, 0, 4));
	ibgrant_unclaim(&pages, 0, 4);
	CHECK(ibgrant_claim(&pages, 0, 4) && ibgrant_claim(&pages, 8, 8));
}

/* What is claimed is not there yet. */
static void test_complete(void)
{
	start();
	CHECK(!ibgrant_complete(&pages));
	CHECK(ibgrant_claim(&pages, 0, 15));
	map(0, 15);
	CHECK(!ibgrant_complete(&pages));
	CHECK(ibgrant_claim(&pages, 15, 1) && !ibgrant_complete(&pages));
	ibgrant_unclaim(&pages, 15, 1);
	CHECK(ibgrant_claim(&pages, 15, 1));
	map(15, 1);
	CHECK(ibgrant_complete(&pages));
}

static void test_runs(void)
{
	for (__u32 i = 0; i < PAGES; i++)
		addr[i] = (i + 100) * PAGE;
	CHECK(ibgrant_run(&pages, 0, PAGES, 1000) == PAGES);
	CHECK(ibgrant_run(&pages, 0, PAGES, 5) == 5 && ibgrant_run(&pages, 0, PAGES, 1) == 1);
	CHECK(ibgrant_run(&pages, 3, 9, 1000) == 6 && ibgrant_run(&pages, 15, PAGES, 1000) == 1);
	addr[7] = 50 * PAGE;
	CHECK(ibgrant_run(&pages, 0, PAGES, 1000) == 7 && ibgrant_run(&pages, 7, PAGES, 9) == 1);
	CHECK(ibgrant_run(&pages, 8, PAGES, 1000) == 8);
	addr[9] = addr[8]; /* one page twice, then pages that go down */
	addr[10] = addr[8] - PAGE;
	CHECK(ibgrant_run(&pages, 8, PAGES, 1000) == 1 && ibgrant_run(&pages, 9, PAGES, 1000) == 1);
	/* Beyond 4 GiB. */
	addr[0] = 0xfffff000;
	addr[1] = 0x100000000;
	addr[2] = 0x1000;
	CHECK(ibgrant_run(&pages, 0, PAGES, 1000) == 2);
}

/* Notifications */

#define MS 1000000ull

/* What may be notified now is. How many; *rest: as ibgrant_pace_next() has it. */
static unsigned int notify_all(struct ibgrant_pace *pace, uint64_t now, uint64_t *rest)
{
	__u64 wait;
	unsigned int n = 0;
	int vector;

	while ((vector = ibgrant_pace_next(pace, now, &wait)) >= 0) {
		CHECK(!wait && pace->waiting >> vector & 1);
		ibgrant_pace_done(pace, vector, now);
		n++;
	}
	*rest = wait;
	return n;
}

/* All that may be at once, for somebody who has more news whenever he was notified. */
static unsigned int insatiable(struct ibgrant_pace *pace, uint64_t now)
{
	unsigned int n = 0;
	uint64_t rest;

	do {
		ibgrant_pace_add(pace, n % XEN_IBGRANT_MAX_VECTORS, now);
		n += notify_all(pace, now, &rest);
	} while (!rest);
	CHECK(rest == IBGRANT_REST_NS && pace->waiting);
	return n;
}

static void at_once_and_then(void)
{
	struct ibgrant_pace pace = { 0 };
	uint64_t now = 1000 * MS, rest, ms;
	unsigned int n;

	CHECK(!notify_all(&pace, now, &rest) && !rest);
	CHECK(insatiable(&pace, now) == IBGRANT_BURST);
	CHECK(insatiable(&pace, now) == 0);
	for (ms = 1; ms <= 100; ms++)
		CHECK(insatiable(&pace, now + ms * MS) == 32);
	now += 100 * MS + 40 * MS; /* it has been quiet for a time */
	CHECK(insatiable(&pace, now) == 40 * 32);
	n = insatiable(&pace, now + 3600 * 1000 * MS);
	CHECK(n == IBGRANT_BURST);
}

/* Each vector that has news is notified, once for all that came since. */
static void all_vectors(void)
{
	struct ibgrant_pace pace = { 0 };
	uint64_t now = 5 * MS, rest;
	uint32_t vector;

	insatiable(&pace, now);
	for (vector = 0; vector < XEN_IBGRANT_MAX_VECTORS; vector++) {
		ibgrant_pace_add(&pace, vector, now + vector);
		ibgrant_pace_add(&pace, vector, now + vector);
	}
	CHECK(!notify_all(&pace, now + 10, &rest) && rest == IBGRANT_REST_NS);
	CHECK(notify_all(&pace, now + MS, &rest) == XEN_IBGRANT_MAX_VECTORS && !rest);
	CHECK(!pace.waiting);
}

/* From the first news, not the last; a clock that goes back is no time at all. */
static void times(void)
{
	struct ibgrant_pace pace = { 0 };
	unsigned int i;
	static const struct {
		uint64_t ns;
		unsigned int bucket;
	} t[] = { { 0, 0 },    { 999, 0 }, { 1000, 1 },       { 1999, 1 },
		  { 2000, 2 }, { MS, 10 }, { 60000 * MS, 23 } };

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		pace.times = (struct xen_ibgrant_times){ 0 };
		ibgrant_pace_add(&pace, 3, MS);
		ibgrant_pace_add(&pace, 3, MS + t[i].ns / 2);
		ibgrant_pace_done(&pace, 3, MS + t[i].ns);
		CHECK(pace.times.count == 1 && pace.times.buckets[t[i].bucket] == 1);
		CHECK(pace.times.sum_ns == t[i].ns && pace.times.max_ns == t[i].ns);
	}
	pace.times = (struct xen_ibgrant_times){ 0 };
	ibgrant_pace_add(&pace, 0, MS);
	ibgrant_pace_done(&pace, 0, MS - 1);
	CHECK(pace.times.buckets[0] == 1 && !pace.times.sum_ns);
}

int main(void)
{
	test_fits();
	test_claims();
	test_complete();
	test_runs();
	at_once_and_then();
	all_vectors();
	times();
	return EXIT_SUCCESS;
}
