/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernel_fixture.h - what each KUnit case of frontend/kernel begins with: that of fixture.h, and
 * a kernel that uses the device, with its pool.
 */
#ifndef XENIB_KUNIT_KERNEL_FIXTURE_H
#define XENIB_KUNIT_KERNEL_FIXTURE_H

#include "fixture.h"
#include "kernel/kverbs.h"

#define GRANULE ((size_t)1 << XENIB_GRANULE_SHIFT)

struct kernel_fixture {
	struct fixture fixture; /* test->priv; first */
	struct xenib_pool *pool;
};

static inline struct kernel_fixture *of(struct kunit *test)
{
	return test->priv;
}

/* Of a suite. */
int kernel_fixture_init(struct kunit *test);

/* The case has left nothing in the pool, and no grant. */
void kernel_fixture_exit(struct kunit *test);

#endif
