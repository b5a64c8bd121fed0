// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_mem.c - regions whose mapping fails, with the reservation taken away: it is made again, unless somebody else has
 * the addresses by then. What is his is left alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mem.h"
#include "rig.h"
#include "transport.h"

#define PAGES 4u
#define BYTES ((size_t)PAGES * XEN_VHCA_PAGE_SIZE)

static bool somebody_comes;

static int fail_to_map(struct transport *t, const uint32_t *refs, unsigned int n, bool read_only, void *addr, void **mapped)
{
	const size_t bytes = (size_t)n * XEN_VHCA_PAGE_SIZE;

	(void)t;
	(void)refs;
	(void)read_only;
	CHECK(!munmap(addr, bytes));
	if (somebody_comes)
		CHECK(mmap(addr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == addr);
	*mapped = NULL;
	return -EFAULT;
}

static const struct transport_ops ops = { .map = fail_to_map };

static void reserved_again(void)
{
	struct transport t = { .ops = &ops };
	struct region region;
	uint32_t refs[1] = { 9 };
	int err;

	somebody_comes = false;
	CHECK(!region_init(&region, PAGES, false));
	CHECK(region_claim(&region, 1, 1) && !region_claim(&region, 1, 1));
	err = region_map(&region, &t, 1, refs, 1);
	CHECK(err == -EFAULT);
	region_settle(&region, 1, 1, err);
	CHECK(!region.present && region_claim(&region, 0, PAGES));
	/* Nobody else can have the addresses. */
	CHECK(mmap(region.base, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED);
	region_fini(&region);
}

static void lost(void)
{
	struct transport t = { .ops = &ops };
	struct region region;
	uint32_t refs[1] = { 9 };
	uint8_t *his;
	int err;

	somebody_comes = true;
	CHECK(!region_init(&region, PAGES, false));
	his = (uint8_t *)region.base + XEN_VHCA_PAGE_SIZE;
	CHECK(region_claim(&region, 1, 1));
	err = region_map(&region, &t, 1, refs, 1);
	CHECK(err);
	region_settle(&region, 1, 1, err);
	CHECK(!region_claim(&region, 1, 1) && region_claim(&region, 2, 2));
	*his = 5;
	region_fini(&region);
	CHECK(*his == 5); /* and not unmapped */
	munmap(his, XEN_VHCA_PAGE_SIZE);
}

int main(void)
{
	reserved_again();
	lost();
	return EXIT_SUCCESS;
}
