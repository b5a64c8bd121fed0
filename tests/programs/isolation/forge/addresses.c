// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where queues and doorbell records are said to be.
 *
 * EINVAL: the driver wants buffers page aligned and records 8-aligned, arenas of sizes that there are, and queues that
 * end before their arena does; the core refuses a range that wraps. EFAULT: there is nothing at that address, or nothing
 * that the HCA may write, or something that is no memory.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "forge.h"

#define KERNEL_ADDRESS 0xffffffff81000000u
#define NON_CANONICAL 0x0000800000000000u

enum kind { CQ, SRQ, QP, KINDS };

static const char *const names[KINDS] = { "a CQ", "an SRQ", "a QP" };

/* Where a queue and its record are: addresses, of which 0 keeps the good one, and arenas around them. */
struct where {
	uint64_t buf, record;
	uint8_t buf_shift, record_shift;
};

#define PLACE(driver, w) \
	do { \
		(driver).buf_addr = (w)->buf ? (w)->buf : (driver).buf_addr; \
		(driver).db_addr = (w)->record ? (w)->record : (driver).db_addr; \
		(driver).buf_shift = (w)->buf_shift; \
		(driver).db_shift = (w)->record_shift; \
	} while (0)

/* A good queue of two pages, but for its place. */
static int create_at(struct forge *f, enum kind kind, const struct where *w, uint32_t *handle)
{
	struct ib_uverbs_create_srq srq;
	struct ib_uverbs_create_cq cq;
	struct ib_uverbs_create_qp qp;
	struct xenib_create_srq_req srq_driver;
	struct xenib_create_cq_req cq_driver;
	struct xenib_create_qp_req qp_driver;

	switch (kind) {
	case CQ:
		uabi_good_cq(&f->set, &cq, &cq_driver);
		PLACE(cq_driver, w);
		cq.cqe = 2 * UABI_CQE + 1; /* two pages, as the others */
		return uabi_create_cq(f->fd, &cq, &cq_driver, handle);
	case SRQ:
		uabi_good_srq(&f->set, &srq, &srq_driver);
		PLACE(srq_driver, w);
		srq.max_wr = 255; /* of 32 bytes each */
		return uabi_create_srq(f->fd, &srq, &srq_driver, handle);
	default:
		uabi_good_qp(&f->set, &qp, &qp_driver);
		PLACE(qp_driver, w);
		return uabi_create_qp(f->fd, &qp, &qp_driver, handle);
	}
}

static int create(struct forge *f, enum kind kind, uint64_t buf, uint64_t record)
{
	uint32_t handle;

	return create_at(f, kind, &(struct where){ .buf = buf, .record = record }, &handle);
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
		for (i = 0; i < ARRAY_SIZE(offs); i++) {
			/* libmlx5 may have a QP in the middle of a page. */
			if (kind == QP && uabi_is_mlx5() && offs[i] % 64 == 0)
				continue;
			REFUSED_QUICK(create(&f, kind, good + offs[i], 0),
				      "a buffer that is not page aligned", EINVAL);
		}
		for (i = 1; i < 8; i++)
			REFUSED_QUICK(create(&f, kind, 0, good + i),
				      "a record that is not 8-aligned", EINVAL);
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
		REFUSED(&f, create(&f, kind, 0, last + UABI_PAGE - 8),
			"a record in the last 8 bytes", EINVAL, EFAULT);
	}
	forge_end(&f);
}

/* So many bytes at a multiple of them. */
static uint8_t *map_arena(size_t bytes)
{
	uint8_t *at = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0,
			  2 * bytes / UABI_PAGE);

	return at + (-(uintptr_t)at & (bytes - 1));
}

#define ARENA_SHIFT 15
#define ARENA_BYTES (1u << ARENA_SHIFT)

/* A queue, or the record of one, in an arena of a size that there is not. */
static void run_arena_sizes(const void *arg)
{
	const uint8_t sizes[] = { 1, 3, 11, XENIB_ARENA_MAX_SHIFT + 1, 31, 32, 47, 63, 64, 255 };
	struct where w = { 0 };
	uint32_t handle;
	struct forge f;
	enum kind kind;
	size_t i;

	(void)arg;
	forge_begin_xenib(&f);
	for (kind = 0; kind < KINDS; kind++) {
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			w = (struct where){ .buf_shift = sizes[i] };
			REFUSED_QUICK(create_at(&f, kind, &w, &handle), "an arena of such a size",
				      EINVAL);
			w = (struct where){ .record_shift = sizes[i] };
			REFUSED_QUICK(create_at(&f, kind, &w, &handle),
				      "a record's arena of such a size", EINVAL);
		}
		beside_works(&f.beside, names[kind]);
	}
	forge_end(&f);
}

/* Queues that would end behind their arena, and arenas of which a part is not there. */
static void run_arena_ends(const void *arg)
{
	struct where w = { .buf_shift = ARENA_SHIFT };
	uint32_t handle;
	struct forge f;
	enum kind kind;
	uint8_t *arena;

	(void)arg;
	forge_begin_xenib(&f);
	arena = map_arena(ARENA_BYTES);
	w.buf = (uintptr_t)arena + ARENA_BYTES - UABI_PAGE;
	for (kind = 0; kind < KINDS; kind++) {
		REFUSED(&f, create_at(&f, kind, &w, &handle), "a queue that ends behind its arena",
			EINVAL);
		w.buf_shift = 12;
		REFUSED(&f, create_at(&f, kind, &w, &handle),
			"a queue that is larger than its arena", EINVAL);
		w.buf_shift = ARENA_SHIFT;
	}
	require(!munmap(arena + ARENA_BYTES - UABI_PAGE, UABI_PAGE), "unmap the arena's end");
	for (kind = 0; kind < KINDS; kind++) {
		w = (struct where){ .buf = (uintptr_t)arena, .buf_shift = ARENA_SHIFT };
		REFUSED(&f, create_at(&f, kind, &w, &handle), "an arena with a hole", EFAULT);
		w = (struct where){ .record = (uintptr_t)arena, .record_shift = ARENA_SHIFT };
		REFUSED(&f, create_at(&f, kind, &w, &handle), "a record's arena with a hole",
			EFAULT);
	}
	forge_end(&f);
}

static const uint32_t destroy_commands[KINDS] = {
	IB_USER_VERBS_CMD_DESTROY_CQ,
	IB_USER_VERBS_CMD_DESTROY_SRQ,
	IB_USER_VERBS_CMD_DESTROY_QP,
};

/*
 * All at one address, in arenas of several sizes around it, and unmapped while they are there: whoever does that has broken
 * queues, and harms nobody.
 */
static void run_arena_shared(const void *arg)
{
	uint32_t handles[KINDS][3];
	struct forge f;
	enum kind kind;
	uint8_t *arena;
	int i;

	(void)arg;
	forge_begin_xenib(&f);
	arena = map_arena(ARENA_BYTES);
	for (i = 0; i < 3; i++) {
		for (kind = 0; kind < KINDS; kind++) {
			const struct where w = {
				.buf = (uintptr_t)arena,
				.record = (uintptr_t)arena + 64,
				.buf_shift = ARENA_SHIFT - i,
				.record_shift = 12 + i,
			};

			require(!create_at(&f, kind, &w, &handles[kind][i]), "%s in a shared arena",
				names[kind]);
		}
		beside_works(&f.beside, "queues one over the other");
	}
	require(!munmap(arena, ARENA_BYTES), "unmap the arena");
	beside_works(&f.beside, "queues without memory");
	for (i = 0; i < 3; i++)
		for (kind = 0; kind < KINDS; kind++)
			require(!uabi_destroy(f.fd, destroy_commands[kind], handles[kind][i]),
				"destroy %s", names[kind]);
	forge_end(&f);
}

static const struct check_case cases[] = {
	CHECK_CASE("address-no-memory", run_no_memory,
		   "queues and records where there is no memory to write", .seconds = 180),
	CHECK_CASE("address-half", run_half, "queues of which only the first page is there"),
	CHECK_CASE("address-unaligned", run_unaligned, "queues and records that are not aligned"),
	CHECK_CASE("arena-sizes", run_arena_sizes,
		   "queues and records in arenas of sizes that there are not"),
	CHECK_CASE("arena-ends", run_arena_ends,
		   "queues that end behind their arena, arenas with holes"),
	CHECK_CASE("arena-shared", run_arena_shared,
		   "queues one over the other in one arena, which is unmapped then"),
	CHECK_CASE("address-wrapping", run_wrapping,
		   "queues that wrap around the end of all addresses"),
};

const struct check_table forge_addresses = { cases, ARRAY_SIZE(cases) };
