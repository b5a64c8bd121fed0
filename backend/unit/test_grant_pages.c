// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* test_grant_pages.c - which pages of a buffer of xen-ibgrant's are there, and which follow each other. */
#include <string.h>

#include "modules/xen-ibgrant/pages.h"
#include "unit/fakes/fixture.h"

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

int main(void)
{
	test_fits();
	test_claims();
	test_complete();
	test_runs();
	return 0;
}
