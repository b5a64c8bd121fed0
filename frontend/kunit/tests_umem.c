// SPDX-License-Identifier: GPL-2.0
/*
 * tests_umem.c - KUnit cases of umems and the registration cache (reg_cache.c, umem.c, mr.c).
 */
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/random.h>
#include <linux/workqueue.h>

#include "fixture.h"

static void unmap(struct fixture *fixture, unsigned long first, unsigned long pages)
{
	vm_munmap(fixture_page(fixture, first), pages * PAGE_SIZE);
}

static void test_reg_cache_shared(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct xenib_reg_cache *cache = &fixture->dev->reg_cache;
	struct ib_mr *a, *b, *c;
	unsigned int since;

	a = fixture_reg(fixture, 0, 4, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(a));
	b = fixture_reg(fixture, 0, 4, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(b));
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 4);
	fixture_dereg(test, a);
	fixture_dereg(test, b);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 4);
	c = fixture_reg(fixture, 0, 4, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(c));
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 4);
	fixture_dereg(test, c);
	since = xenib_reg_cache_releases(cache);
	KUNIT_EXPECT_TRUE(test, xenib_reg_cache_flush(cache, since));
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 0);
	/* Whoever was refused before that is to try again, and nobody else. */
	KUNIT_EXPECT_TRUE(test, xenib_reg_cache_flush(cache, since));
	since = xenib_reg_cache_releases(cache);
	KUNIT_EXPECT_FALSE(test, xenib_reg_cache_flush(cache, since));
	KUNIT_EXPECT_EQ(test, fixture->backend.requests[XEN_VHCA_OP_UMEM_DESTROY], 1);
}

static void test_reg_cache_unmapped_idle(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *mr = fixture_reg(fixture, 0, 8, IB_ACCESS_LOCAL_WRITE);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	fixture_dereg(test, mr);
	unmap(fixture, 3, 1);
	flush_work(&fixture->dev->reg_cache.work);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 0);
}

static void test_reg_cache_unmapped_in_use(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *mr = fixture_reg(fixture, 0, 8, IB_ACCESS_LOCAL_WRITE);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	unmap(fixture, 0, 8);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 8);
	fixture_dereg(test, mr);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 0);
}

/* A umem of several UMEM_ADD commands: the backend refuses the second one. */
static void test_large_refused(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *mr;

	fixture->backend.refuse[XEN_VHCA_OP_UMEM_ADD] = XEN_VHCA_E_GRANT;
	fixture->backend.refuse_after[XEN_VHCA_OP_UMEM_ADD] = 1;
	mr = fixture_reg(fixture, 0, BUF_PAGES, IB_ACCESS_LOCAL_WRITE);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -EFAULT);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 0);
	fixture->backend.refuse[XEN_VHCA_OP_UMEM_ADD] = 0;
	mr = fixture_reg(fixture, 0, BUF_PAGES, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	fixture_dereg(test, mr);
}

/* The backend refuses each command of a registration with each status. */
static void test_refused(struct kunit *test)
{
	static const u8 ops[] = { XEN_VHCA_OP_UMEM_CREATE, XEN_VHCA_OP_MR_REG };
	struct fixture *fixture = test->priv;
	unsigned int op, status;
	struct ib_mr *mr;

	for (op = 0; op < ARRAY_SIZE(ops); op++) {
		for (status = 1; status < XEN_VHCA_STATUSES; status++) {
			fixture->backend.refuse[ops[op]] = status;
			mr = fixture_reg(fixture, 0, 1500, IB_ACCESS_LOCAL_WRITE);
			KUNIT_EXPECT_TRUE(test, IS_ERR(mr));
			fixture->backend.refuse[ops[op]] = 0;
			KUNIT_EXPECT_EQ(test, granted_pages(fixture), 0);
		}
	}
}

/* Replaces a page of the process: the registration cache has to notice. */
static void replace_page(struct kunit *test, unsigned long number, unsigned long prot)
{
	unsigned long at = fixture_page(test->priv, number);

	KUNIT_ASSERT_EQ(test,
			vm_mmap(NULL, at, PAGE_SIZE, prot, MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED,
				0),
			at);
}

/* Registers and deregisters at random while pages are replaced. */
static void test_reg_cache_random(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *mrs[16] = {};
	unsigned int i, slot;

	for (i = 0; i < 3000; i++) {
		slot = get_random_u32_below(ARRAY_SIZE(mrs));
		if (mrs[slot]) {
			fixture_dereg(test, mrs[slot]);
			mrs[slot] = NULL;
		} else {
			mrs[slot] = fixture_reg(fixture, get_random_u32_below(16),
						1 + get_random_u32_below(8),
						i % 2 ? IB_ACCESS_LOCAL_WRITE : 0);
			KUNIT_ASSERT_FALSE(test, IS_ERR(mrs[slot]));
		}
		if (!(i % 7))
			replace_page(test, get_random_u32_below(16), PROT_READ | PROT_WRITE);
		if (!(i % 50))
			xenib_reg_cache_flush(&fixture->dev->reg_cache, 0);
	}
	for (slot = 0; slot < ARRAY_SIZE(mrs); slot++)
		if (mrs[slot])
			fixture_dereg(test, mrs[slot]);
}

/*
 * The backend refuses to deregister an MR. It may do so while the context has memory windows; else
 * the frontend drops the MR, and no page of it stays granted.
 */
static void test_busy(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *mr = fixture_reg(fixture, 0, 8, IB_ACCESS_LOCAL_WRITE);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	fixture->backend.refuse[XEN_VHCA_OP_MR_DEREG] = XEN_VHCA_E_BUSY;
	fixture->backend.refuse[XEN_VHCA_OP_UMEM_DESTROY] = XEN_VHCA_E_BUSY;
	atomic_set(&fixture->uctx.ctx.mws, 1);
	KUNIT_EXPECT_EQ(test, xenib_dereg_mr(mr, NULL), -EBUSY);
	atomic_set(&fixture->uctx.ctx.mws, 0);
	fixture_dereg(test, mr);
	unmap(fixture, 0, 8);
	xenib_reg_cache_forget(&fixture->uctx.ctx);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 0);
}

/* The backend still maps some pages of a umem that it has destroyed: they stay granted. */
static void test_busy_grants(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *mr = fixture_reg(fixture, 0, 64, IB_ACCESS_LOCAL_WRITE);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	unmap(fixture, 0, 64);
	atomic_set(&kunit_busy_grants, 10);
	fixture_dereg(test, mr);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 10);
}

/* Registers two pages to be read alone. Returns how many of them are granted so. */
static int granted_to_read(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	int before = atomic_read(&kunit_read_only_grants);
	struct ib_mr *mr = fixture_reg(fixture, 0, 2, 0);
	int after = atomic_read(&kunit_read_only_grants);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	fixture_dereg(test, mr);
	xenib_reg_cache_flush(&fixture->dev->reg_cache, 0);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 0);
	return after - before;
}

/* A backend may need grants that permit writing. Then they are of what the process may write. */
static void test_writable_grants(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *mr;

	KUNIT_EXPECT_EQ(test, granted_to_read(test), 2);
	fixture->dev->writable_grants = true;
	KUNIT_EXPECT_EQ(test, granted_to_read(test), 0);
	replace_page(test, 8, PROT_READ);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(fixture_reg(fixture, 8, 1, 0)), -EFAULT);
	fixture->dev->writable_grants = false;
	mr = fixture_reg(fixture, 8, 1, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	fixture_dereg(test, mr);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(test_reg_cache_shared),
	KUNIT_CASE(test_reg_cache_unmapped_idle),
	KUNIT_CASE(test_reg_cache_unmapped_in_use),
	KUNIT_CASE(test_reg_cache_random),
	KUNIT_CASE(test_large_refused),
	KUNIT_CASE(test_refused),
	KUNIT_CASE(test_busy),
	KUNIT_CASE(test_busy_grants),
	KUNIT_CASE(test_writable_grants),
	{},
};

static struct kunit_suite suite = {
	.name = "xen-ibfront-umem",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
