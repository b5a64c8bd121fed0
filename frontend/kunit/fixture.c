// SPDX-License-Identifier: GPL-2.0
/*
 * fixture.c - what each KUnit case begins with: see fixture.h.
 */
#include <linux/mm.h>
#include <linux/mman.h>

#include "fixture.h"
#include "grant.h"

/* Instead of query.c, which is not compiled in. */
void xenib_tables_changed(struct xenib_dev *dev)
{
}

void fixture_fault(void *context)
{
	struct fixture *fixture = context;

	fixture->faults++;
}

static const struct xenib_personality personality = { .queue_align = 64 };

int fixture_make(struct kunit *test, size_t size)
{
	struct fixture *fixture = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	test->priv = fixture;
	KUNIT_ASSERT_EQ(test, atomic_read(&kunit_grants), 0);
	fixture->dev = ib_alloc_device(xenib_dev, ibdev);
	KUNIT_ASSERT_NOT_NULL(test, fixture->dev);
	fixture->dev->xbdev = &fixture->xbdev;
	fixture->dev->personality = &personality;
	fixture->dev->attr.max_mr_size = 1 << 30;
	kunit_features = 1;
	fixture->dev->ring = xenib_ring_create(&fixture->xbdev, 0, fixture_fault, fixture);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fixture->dev->ring));
	kunit_backend_start(&fixture->backend, kunit_page(0), 0);
	xenib_reg_cache_init(&fixture->dev->reg_cache, fixture->dev, true);

	fixture->uctx.ctx.dev = fixture->dev;
	fixture->uctx.ibuc.device = &fixture->dev->ibdev;
	fixture->uctx.ctx.handle = 1;
	xenib_arenas_init(&fixture->uctx.ctx.arenas);
	xenib_cqs_init(&fixture->uctx.ctx);
	fixture->pd.ibpd.device = &fixture->dev->ibdev;
	fixture->pd.handle = 1;
	fixture->attrs.context = &fixture->uctx.ibuc;

	fixture->buf = kunit_vm_mmap(test, NULL, 0, BUF_PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
				     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, fixture->buf, 0UL);
	return 0;
}

int fixture_init(struct kunit *test)
{
	return fixture_make(test, sizeof(struct fixture));
}

void fixture_exit(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	xenib_reg_cache_forget(&fixture->uctx.ctx);
	xenib_reg_cache_exit(&fixture->dev->reg_cache);
	xenib_ring_destroy(fixture->dev->ring);
	kunit_backend_stop();
	xenib_grants_retry();
	KUNIT_EXPECT_EQ(test, atomic_read(&kunit_grants), 0);
	ib_dealloc_device(&fixture->dev->ibdev);
}

unsigned long fixture_page(const struct fixture *fixture, unsigned long number)
{
	return fixture->buf + number * PAGE_SIZE;
}

struct ib_mr *fixture_reg(struct fixture *fixture, unsigned long first, unsigned long pages,
			  int access)
{
	u64 addr = fixture_page(fixture, first);
	struct ib_mr *mr;

	mr = xenib_reg_user_mr(&fixture->pd.ibpd, addr, pages * PAGE_SIZE, addr, access,
			       &fixture->attrs.driver_udata);
	if (!IS_ERR(mr))
		mr->device = &fixture->dev->ibdev;
	return mr;
}

void fixture_dereg(struct kunit *test, struct ib_mr *mr)
{
	KUNIT_EXPECT_EQ(test, xenib_dereg_mr(mr, NULL), 0);
}

int granted_pages(const struct fixture *fixture)
{
	static const int ring_pages = 1 + 1 + 8; /* ring, directory, a data page for each slot */

	return atomic_read(&kunit_grants) - ring_pages;
}
