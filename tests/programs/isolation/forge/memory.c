// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Registration of memory: lengths, addresses and rights that cannot be.
 *
 * EINVAL: no length, one that wraps or is over the limit, rights that contradict each other or do not exist, an address
 * for the HCA that does not fit the pages. EOPNOTSUPP: rights that exist, but not here. EFAULT: what is there cannot be
 * used as asked for.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "forge.h"

static int reg(struct forge *f, uint64_t start, uint64_t length, uint64_t iova, uint32_t access)
{
	struct ib_uverbs_reg_mr req;
	uint32_t mr;

	uabi_good_mr(&f->set, &req);
	req.start = start;
	req.length = length;
	req.hca_va = iova;
	req.access_flags = access;
	return uabi_reg_mr(f->fd, &req, &mr);
}

static uint64_t data(const struct forge *f)
{
	return (uintptr_t)f->set.memory + UABI_DATA * UABI_PAGE;
}

static void run_length(const void *arg)
{
	const uint64_t lengths[] = {
		0,
		1ull << 63,
		(1ull << 63) - 1,
		~0ull,
		~0ull - UABI_PAGE,
		1ull << 62,
		1ull << 52,
		1ull << 44,
		(1ull << 44) + UABI_PAGE, /* its pages in 32 bits: 1 */
	};
	struct forge f;
	char what[64];
	size_t i;

	(void)arg;
	forge_begin(&f);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		snprintf(what, sizeof(what), "a registration of %#llx bytes",
			 (unsigned long long)lengths[i]);
		REFUSED(&f, reg(&f, data(&f), lengths[i], data(&f), IBV_ACCESS_LOCAL_WRITE), what,
			EINVAL);
	}
	forge_end(&f);
}

static void run_wrapping(const void *arg)
{
	struct forge f;

	(void)arg;
	forge_begin(&f);
	REFUSED(&f, reg(&f, data(&f), ~0ull - data(&f) + 1, data(&f), 1),
		"up to the end of all addresses", EINVAL);
	REFUSED(&f, reg(&f, data(&f), ~0ull - data(&f) + 2, data(&f), 1),
		"around the end of all addresses", EINVAL);
	REFUSED(&f, reg(&f, -(uint64_t)UABI_PAGE, 2 * UABI_PAGE, 0, 1), "from the last page on",
		EINVAL);
	REFUSED(&f, reg(&f, data(&f), 2 * UABI_PAGE, -(uint64_t)UABI_PAGE, 1),
		"where the HCA's addresses wrap", EINVAL);
	forge_end(&f);
}

/* The core wants the same offset in the page on both sides. */
static void run_iova(const void *arg)
{
	struct forge f;

	(void)arg;
	forge_begin(&f);
	REFUSED(&f, reg(&f, data(&f), 100, data(&f) + 1, 1), "another place in the page", EINVAL);
	REFUSED(&f, reg(&f, data(&f) + 8, 100, 0, 1), "another place in the page", EINVAL);
	forge_end(&f);
}

static void run_access(const void *arg)
{
	struct forge f;
	char what[64];
	uint32_t bit;

	(void)arg;
	forge_begin(&f);
	/* Bits 0 to 5 exist, 6 is on-demand paging, 7 huge pages; 20 to 29 are optional, which a device may ignore. */
	for (bit = 6; bit < 32; bit++) {
		if (bit == 7 || (bit >= 20 && bit < 30))
			continue;
		snprintf(what, sizeof(what), "access right 1 << %u", bit);
		REFUSED_QUICK(reg(&f, data(&f), UABI_PAGE, data(&f),
				  1u << bit | IBV_ACCESS_LOCAL_WRITE),
			      what, EINVAL, EOPNOTSUPP);
	}
	beside_works(&f.beside, "access rights that do not exist");
	REFUSED(&f, reg(&f, data(&f), UABI_PAGE, data(&f), ~0u), "all rights", EINVAL, EOPNOTSUPP);
	REFUSED(&f, reg(&f, data(&f), UABI_PAGE, data(&f), IBV_ACCESS_REMOTE_WRITE),
		"remote write alone", EINVAL);
	REFUSED(&f, reg(&f, data(&f), UABI_PAGE, data(&f), IBV_ACCESS_REMOTE_ATOMIC),
		"remote atomics alone", EINVAL);
	forge_end(&f);
}

static uint8_t *map(int prot, int flags, int fd, uint64_t offset, size_t pages)
{
	void *at = mmap(NULL, pages * UABI_PAGE, prot, flags, fd, offset);

	require(at != MAP_FAILED, "map %zu pages", pages);
	return at;
}

static int reg_at(struct forge *f, const uint8_t *at, uint64_t length, uint32_t access)
{
	return reg(f, (uintptr_t)at, length, (uintptr_t)at, access);
}

static void run_no_memory(const void *arg)
{
	const int private = MAP_PRIVATE | MAP_ANONYMOUS;
	uint8_t *read_only, *nothing, *hole, *doorbells;
	struct forge f;

	(void)arg;
	forge_begin(&f);
	read_only = map(PROT_READ, private, -1, 0, 2);
	nothing = map(PROT_NONE, private, -1, 0, 2);
	hole = map(PROT_READ | PROT_WRITE, private, -1, 0, 3);
	require(!munmap(hole + UABI_PAGE, UABI_PAGE), "make a hole");
	doorbells = map(PROT_WRITE, MAP_SHARED, f.fd, f.set.uar_offset, 1);

	REFUSED(&f, reg_at(&f, read_only, 100, IBV_ACCESS_LOCAL_WRITE),
		"writing to memory that is read-only", EFAULT);
	REFUSED(&f, reg_at(&f, nothing, 100, 0), "memory that may not be read", EFAULT);
	REFUSED(&f, reg_at(&f, hole, 3 * UABI_PAGE, IBV_ACCESS_LOCAL_WRITE), "memory with a hole",
		EFAULT);
	REFUSED(&f, reg_at(&f, doorbells, UABI_PAGE, IBV_ACCESS_LOCAL_WRITE), "a doorbell page",
		EFAULT);
	REFUSED(&f, reg_at(&f, doorbells, UABI_PAGE, 0), "a doorbell page, to read", EFAULT);
	REFUSED(&f, reg(&f, 0, 100, 0, 0), "address 0", EFAULT);
	REFUSED(&f, reg(&f, 0xffffffff81000000u, 100, 0, 0), "the kernel", EFAULT);
	check(!munmap(doorbells, UABI_PAGE), "unmap the doorbell page");
	forge_end(&f);
}

/* A registration that was refused half-way has left nothing: as often as one likes. */
static void run_repeated(const void *arg)
{
	uint8_t *hole;
	struct forge f;
	int i;

	(void)arg;
	forge_begin(&f);
	hole = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, 1024);
	require(!munmap(hole + 1000 * UABI_PAGE, UABI_PAGE), "make a hole");
	for (i = 0; i < 100; i++)
		REFUSED_QUICK(reg_at(&f, hole, 1024 * UABI_PAGE, IBV_ACCESS_LOCAL_WRITE),
			      "memory with a hole", EFAULT);
	beside_works(&f.beside, "many registrations that fail");
	forge_end(&f);
}

static const struct check_case cases[] = {
	CHECK_CASE("memory-length", run_length, "registrations of no bytes, and of too many",
		   .seconds = 120),
	CHECK_CASE("memory-wrapping", run_wrapping,
		   "registrations that wrap around the end of all addresses"),
	CHECK_CASE("memory-iova", run_iova, "HCA addresses that do not fit the pages"),
	CHECK_CASE("memory-access", run_access,
		   "rights that do not exist, or contradict each other"),
	CHECK_CASE("memory-no-memory", run_no_memory,
		   "registrations of what is no memory, or not writable"),
	CHECK_CASE("memory-repeated", run_repeated,
		   "a hundred registrations that fail at their end"),
};

const struct check_table forge_memory = { cases, ARRAY_SIZE(cases) };
