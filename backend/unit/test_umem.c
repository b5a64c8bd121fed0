// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_umem.c - umems whose mapping fails, with the reservation taken away: it is made again, unless somebody else has
 * the addresses by then. What is his is left alone. And how read-only ones are mapped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unit/fakes/fixture.h"
#include "vhca/transport.h"
#include "vhca/umem.h"

#define PAGES 4u
#define BYTES ((size_t)PAGES * XEN_VHCA_PAGE_SIZE)

static bool somebody_comes, mapped_read_only;

static int fail_to_map(struct transport *t, const uint32_t *refs, unsigned int n, bool read_only,
		       void *addr, void **mapped)
{
	const size_t bytes = (size_t)n * XEN_VHCA_PAGE_SIZE;

	(void)t;
	(void)refs;
	CHECK(!munmap(addr, bytes));
	if (somebody_comes)
		CHECK(mmap(addr, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == addr);
	mapped_read_only = read_only;
	*mapped = NULL;
	return -EFAULT;
}

static const struct transport_ops ops = { .map = fail_to_map };

static void reserved_again(void)
{
	struct transport t = { .ops = &ops };
	struct umem umem;
	uint32_t refs[1] = { 9 };
	int err;

	somebody_comes = false;
	CHECK(!umem_init(&umem, PAGES, false));
	CHECK(umem_claim(&umem, 1, 1) && !umem_claim(&umem, 1, 1));
	err = umem_map(&umem, &t, 1, refs, 1);
	CHECK(err == -EFAULT);
	umem_settle(&umem, 1, 1, err);
	CHECK(!umem.present && umem_claim(&umem, 0, PAGES));
	/* Nobody else can have the addresses. */
	CHECK(mmap(umem.base, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		   -1, 0) == MAP_FAILED);
	umem_fini(&umem);
}

/* For a kernel that pins what it is to read as if it wrote it. */
static void to_be_written(bool read_only, bool map_writable)
{
	struct transport t = { .ops = &ops, .map_writable = map_writable };
	uint32_t refs[1] = { 9 };
	struct umem umem;

	somebody_comes = false;
	CHECK(!umem_init(&umem, PAGES, read_only));
	CHECK(umem_claim(&umem, 0, 1));
	umem_settle(&umem, 0, 1, umem_map(&umem, &t, 0, refs, 1));
	CHECK(mapped_read_only == (read_only && !map_writable));
	CHECK(umem.read_only == read_only);
	umem_fini(&umem);
}

static void lost(void)
{
	struct transport t = { .ops = &ops };
	struct umem umem;
	uint32_t refs[1] = { 9 };
	uint8_t *his;
	int err;

	somebody_comes = true;
	CHECK(!umem_init(&umem, PAGES, false));
	his = (uint8_t *)umem.base + XEN_VHCA_PAGE_SIZE;
	CHECK(umem_claim(&umem, 1, 1));
	err = umem_map(&umem, &t, 1, refs, 1);
	CHECK(err);
	umem_settle(&umem, 1, 1, err);
	CHECK(!umem_claim(&umem, 1, 1) && umem_claim(&umem, 2, 2));
	*his = 5;
	umem_fini(&umem);
	CHECK(*his == 5); /* and not unmapped */
	munmap(his, XEN_VHCA_PAGE_SIZE);
}

int main(void)
{
	reserved_again();
	lost();
	to_be_written(true, false);
	to_be_written(true, true);
	to_be_written(false, false);
	return EXIT_SUCCESS;
}
