// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where queues and doorbell records are said to be.
 *
 * EINVAL: the driver wants buffers page aligned and records 8-aligned; the core refuses a range that wraps. EFAULT: there
 * is nothing at that address, or nothing that the HCA may write, or something that is no memory.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "forge.h"

#define KERNEL_ADDRESS 0xffffffff81000000u
#define NON_CANONICAL 0x0000800000000000u

enum kind { CQ, SRQ, QP, KINDS };

static const char *const names[KINDS] = { "a CQ", "an SRQ", "a QP" };

/* A good queue but for its addresses; 0: keep the good one. */
static int create(struct forge *f, enum kind kind, uint64_t buf, uint64_t record)
{
	struct ib_uverbs_create_srq srq;
	struct ib_uverbs_create_cq cq;
	struct ib_uverbs_create_qp qp;
	struct xenib_create_srq_req srq_driver;
	struct xenib_create_cq_req cq_driver;
	struct xenib_create_qp_req qp_driver;
	uint32_t handle;

	switch (kind) {
	case CQ:
		uabi_good_cq(&f->set, &cq, &cq_driver);
		cq_driver.buf_addr = buf ? buf : cq_driver.buf_addr;
		cq_driver.db_addr = record ? record : cq_driver.db_addr;
		cq.cqe = 2 * UABI_CQE + 1; /* two pages, as the others */
		return uabi_create_cq(f->fd, &cq, &cq_driver, &handle);
	case SRQ:
		uabi_good_srq(&f->set, &srq, &srq_driver);
		srq_driver.buf_addr = buf ? buf : srq_driver.buf_addr;
		srq_driver.db_addr = record ? record : srq_driver.db_addr;
		srq.max_wr = 255; /* of 32 bytes each */
		return uabi_create_srq(f->fd, &srq, &srq_driver, &handle);
	default:
		uabi_good_qp(&f->set, &qp, &qp_driver);
		qp_driver.buf_addr = buf ? buf : qp_driver.buf_addr;
		qp_driver.db_addr = record ? record : qp_driver.db_addr;
		return uabi_create_qp(f->fd, &qp, &qp_driver, &handle);
	}
}

/* Addresses at which there is something else than memory that can be written. */
struct places {
	uint8_t *read_only, *nothing, *hole, *doorbells;
};

static uint8_t *map(int prot, int flags, int fd, uint64_t offset, size_t pages)
{
	void *at = mmap(NULL, pages * UABI_PAGE, prot, flags, fd, offset);

	require(at != MAP_FAILED, "map %zu pages", pages);
	return at;
}

static void find_places(struct forge *f, struct places *p)
{
	const int private = MAP_PRIVATE | MAP_ANONYMOUS;

	p->read_only = map(PROT_READ, private, -1, 0, 4);
	p->nothing = map(PROT_NONE, private, -1, 0, 4);
	p->hole = map(PROT_READ | PROT_WRITE, private, -1, 0, 4);
	require(!munmap(p->hole + UABI_PAGE, 3 * UABI_PAGE), "leave one page of four");
	p->doorbells = map(PROT_WRITE, MAP_SHARED, f->fd, f->set.uar_offset, 1);
}

static void refused_both(struct forge *f, uint64_t at, const char *what, int error)
{
	const int errors[] = { error, 0 };
	enum kind kind;
	char text[128];

	for (kind = 0; kind < KINDS; kind++) {
		snprintf(text, sizeof(text), "%s in %s", names[kind], what);
		forge_refused_at(__FILE__, __LINE__, f, create(f, kind, at, 0), text, errors);
		snprintf(text, sizeof(text), "%s with its record in %s", names[kind], what);
		forge_refused_at(__FILE__, __LINE__, f, create(f, kind, 0, at), text, errors);
	}
}

static void run_no_memory(const void *arg)
{
	struct places p;
	struct forge f;

	(void)arg;
	forge_begin(&f);
	find_places(&f, &p);
	refused_both(&f, UABI_PAGE, "the first pages, which nobody may map", EFAULT);
	refused_both(&f, (uintptr_t)p.nothing, "memory that may not be read", EFAULT);
	refused_both(&f, (uintptr_t)p.read_only, "memory that may not be written", EFAULT);
	refused_both(&f, (uintptr_t)p.hole + UABI_PAGE, "a hole", EFAULT);
	refused_both(&f, (uintptr_t)p.doorbells, "a doorbell page", EFAULT);
	refused_both(&f, KERNEL_ADDRESS, "the kernel", EFAULT);
	refused_both(&f, NON_CANONICAL, "no address", EFAULT);
	require(!munmap(p.doorbells, UABI_PAGE), "unmap the doorbell page");
	forge_end(&f);
}

/* The first page is there, the second is not. */
static void run_half(const void *arg)
{
	struct places p;
	struct forge f;
	enum kind kind;

	(void)arg;
	forge_begin(&f);
	find_places(&f, &p);
	for (kind = 0; kind < KINDS; kind++)
		REFUSED(&f, create(&f, kind, (uintptr_t)p.hole, 0), names[kind], EFAULT);
	require(!munmap(p.doorbells, UABI_PAGE), "unmap the doorbell page");
	forge_end(&f);
}

static void run_unaligned(const void *arg)
{
	const unsigned int offs[] = { 1, 4, 64, 2048, 4095 };
	struct forge f;
	enum kind kind;
	uint64_t good;
	size_t i;

	(void)arg;
	forge_begin(&f);
	good = (uintptr_t)f.set.memory + UABI_SPARE * UABI_PAGE;
	for (kind = 0; kind < KINDS; kind++) {
		for (i = 0; i < ARRAY_SIZE(offs); i++)
			REFUSED_QUICK(create(&f, kind, good + offs[i], 0), "a buffer that is not page aligned", EINVAL);
		for (i = 1; i < 8; i++)
			REFUSED_QUICK(create(&f, kind, 0, good + i), "a record that is not 8-aligned", EINVAL);
		beside_works(&f.beside, names[kind]);
	}
	forge_end(&f);
}

/* The last page: two pages from there wrap. A record of 8 bytes does not, but nothing of a process is there. */
static void run_wrapping(const void *arg)
{
	const uint64_t last = -(uint64_t)UABI_PAGE;
	struct forge f;
	enum kind kind;

	(void)arg;
	forge_begin(&f);
	for (kind = 0; kind < KINDS; kind++) {
		REFUSED(&f, create(&f, kind, last, 0), "a buffer that wraps", EINVAL, EFAULT);
		REFUSED(&f, create(&f, kind, 0, last + UABI_PAGE - 8), "a record in the last 8 bytes", EINVAL, EFAULT);
	}
	forge_end(&f);
}

static const struct check_case cases[] = {
	CHECK_CASE("address-no-memory", run_no_memory, "queues and records where there is no memory to write",
		   .seconds = 180),
	CHECK_CASE("address-half", run_half, "queues of which only the first page is there"),
	CHECK_CASE("address-unaligned", run_unaligned, "queues and records that are not aligned"),
	CHECK_CASE("address-wrapping", run_wrapping, "queues that wrap around the end of all addresses"),
};

const struct check_table forge_addresses = { cases, ARRAY_SIZE(cases) };
