// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Other buffers for a CQ.
 *
 * EINVAL: the driver knows neither that size nor that field, a buffer has to be page aligned; the core, that there is no
 * such CQ. EFAULT: there is nothing at that address, or nothing that the HCA may write.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "forge.h"

#define PAGES 4

static const struct attempt {
	const char *what;
	uint32_t cqe;
	struct xenib_resize_cq_req driver; /* buf_addr is the good one */
} attempts[] = {
	{ "no entries", 0, { 0 } },
	{ "2^31 - 1 entries", 0x7fffffff, { 0 } },
	{ "2^31 entries", 0x80000000, { 0 } },
	{ "2^32 - 1 entries", 0xffffffff, { 0 } },
	{ "2^25 entries", (1u << 25) - 1, { 0 } },
	{ "a field that does not exist", 127, { .comp_mask = 1 } },
	{ "a reserved field", 127, { .reserved1 = 1 } },
};

static int resize(struct forge *f, uint32_t cq, uint32_t cqe, uint64_t buf_addr)
{
	const struct xenib_resize_cq_req driver = { .buf_addr = buf_addr };

	return uabi_resize_cq(f->fd, cq, cqe, &driver);
}

static uint64_t map(int prot)
{
	void *at = mmap(NULL, PAGES * UABI_PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	require(at != MAP_FAILED, "map %d pages", PAGES);
	return (uintptr_t)at;
}

static void run_values(struct forge *f, uint64_t good)
{
	struct xenib_resize_cq_req driver;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(attempts); i++) {
		driver = attempts[i].driver;
		driver.buf_addr = good;
		REFUSED(f, uabi_resize_cq(f->fd, f->set.scq, attempts[i].cqe, &driver),
			attempts[i].what, EINVAL);
	}
	if (uabi_is_mlx5())
		return;
	driver = (struct xenib_resize_cq_req){ .buf_addr = good, .buf_shift = 25 };
	REFUSED(f, uabi_resize_cq(f->fd, f->set.scq, 127, &driver), "an arena too large", EINVAL);
	driver.buf_shift = 12;
	REFUSED(f, uabi_resize_cq(f->fd, f->set.scq, 127, &driver), "an arena too small", EINVAL);
	driver = (struct xenib_resize_cq_req){ .buf_addr = good, .reserved0 = 1 };
	REFUSED(f, uabi_resize_cq(f->fd, f->set.scq, 127, &driver), "a reserved field", EINVAL);
}

static void run_resize(const void *arg)
{
	uint64_t good = map(PROT_READ | PROT_WRITE), hole = map(PROT_READ | PROT_WRITE);
	struct forge f;

	(void)arg;
	require(!munmap((void *)(uintptr_t)(hole + UABI_PAGE), (PAGES - 1) * UABI_PAGE),
		"leave one page");
	forge_begin(&f);
	run_values(&f, good);
	REFUSED(&f, resize(&f, f.set.scq, 127, good + 64), "a buffer that is not aligned", EINVAL);
	REFUSED(&f, resize(&f, f.set.scq, 127, hole), "a buffer with a page too few", EFAULT);
	REFUSED(&f, resize(&f, f.set.scq, 127, UABI_PAGE), "a buffer that is not there", EFAULT);
	REFUSED(&f, resize(&f, f.set.scq, 127, map(PROT_READ)), "memory that is not to be written",
		EFAULT);
	REFUSED(&f, resize(&f, f.set.scq, 127, 0xffffffff81000000u), "the kernel", EFAULT);
	REFUSED(&f, resize(&f, 0xffff, 127, good), "no CQ", EINVAL, ENOENT);

	require(!resize(&f, f.set.scq, 127, good), "resize a CQ");
	check(!resize(&f, f.set.scq, 127, 0), "resize it to what it is");
	require(!resize(&f, f.set.scq, UABI_CQE, good + 2 * UABI_PAGE), "resize it again");
	require(!munmap((void *)(uintptr_t)good, 2 * UABI_PAGE), "unmap what it has left");
	beside_works(&f.beside, "a CQ that was resized");
	forge_end(&f);
}

static const struct check_case cases[] = {
	CHECK_CASE("resize-cq", run_resize, "other buffers for a CQ", .seconds = 120),
};

const struct check_table forge_resize = { cases, ARRAY_SIZE(cases) };
