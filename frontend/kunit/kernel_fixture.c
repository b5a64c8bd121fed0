// SPDX-License-Identifier: GPL-2.0
/*
 * kernel_fixture.c - what each KUnit case of frontend/kernel begins with: see kernel_fixture.h.
 */
#include <linux/slab.h>

#include "kernel_fixture.h"

int kernel_fixture_init(struct kunit *test)
{
	struct xenib_kcontext *kernel;
	struct xenib_dev *dev;
	int err;

	err = fixture_make(test, sizeof(struct kernel_fixture));
	if (err)
		return err;
	dev = of(test)->fixture.dev;
	kernel = kzalloc(sizeof(*kernel), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kernel);
	kernel->ctx.dev = dev;
	kernel->ctx.handle = 1;
	xenib_arenas_init(&kernel->ctx.arenas);
	xenib_cqs_init(&kernel->ctx);
	dev->kernel = kernel;
	of(test)->pool = &kernel->pool;
	xenib_pool_init(&kernel->pool, &kernel->ctx);
	return xenib_pool_start(&kernel->pool);
}

void kernel_fixture_exit(struct kunit *test)
{
	xenib_pool_exit(of(test)->pool);
	kfree(of(test)->fixture.dev->kernel);
	of(test)->fixture.dev->kernel = NULL;
	fixture_exit(test);
}
