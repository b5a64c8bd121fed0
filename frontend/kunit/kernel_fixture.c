// SPDX-License-Identifier: GPL-2.0
/*
 * kernel_fixture.c - what each KUnit case of frontend/kernel begins with: see kernel_fixture.h.
 */
#include <linux/slab.h>

#include "kernel_fixture.h"
#include "kernel/smp.h"

/* Instead of uar.c, addrs.c, ah.c, context.c, inet6.c and smp.c, which are not compiled in. */

struct xenib_uar *xenib_uar_get(struct xenib_context *ctx, u32 index)
{
	return NULL;
}

void xenib_uar_hold(struct xenib_uar *uar)
{
}

void xenib_uar_put(struct xenib_uar *uar)
{
}

int xenib_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	return 0;
}

void xenib_kcontext_wake(struct xenib_kcontext *kernel)
{
}

void xenib_addrs_init(struct xenib_addrs *addrs, struct xenib_context *ctx)
{
}

void xenib_addrs_exit(struct xenib_addrs *addrs)
{
}

void xenib_inet6_init(struct xenib_inet6 *inet6, struct xenib_dev *dev)
{
}

void xenib_inet6_exit(struct xenib_inet6 *inet6)
{
}

bool xenib_smp_answer(struct xenib_dev *dev, u16 dlid, const u8 *mad, u8 *answer)
{
	return false;
}

/* What context.c does, with a doorbell page that nobody reads. */
static void init_kernel(struct kunit *test, struct xenib_kcontext *kernel, struct xenib_dev *dev)
{
	void *page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	kernel->ctx.dev = dev;
	kernel->ctx.handle = 1;
	xenib_arenas_init(&kernel->ctx.arenas);
	xenib_cqs_init(&kernel->ctx);
	kernel->uar.bell.page = (__force void __iomem *)page;
	kernel->limits = (struct xenib_limits){
		.max_sq_desc = 1024,
		.max_rq_desc = 512,
		.max_send_blocks = 1024,
		.max_recv_wqes = 1024,
		.max_srq_wqes = 1024,
	};
	spin_lock_init(&kernel->lock);
	INIT_LIST_HEAD(&kernel->cqs);
	mutex_init(&kernel->srq_qps_lock);
	INIT_LIST_HEAD(&kernel->srq_qps);
	xa_init_flags(&kernel->qps.qps, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	kernel->gsi.kernel = kernel;
	mutex_init(&kernel->gsi.lock);
}

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
	init_kernel(test, kernel, dev);
	dev->kernel = kernel;
	of(test)->pool = &kernel->pool;
	xenib_pool_init(&kernel->pool, &kernel->ctx);
	return xenib_pool_start(&kernel->pool);
}

void kernel_fixture_exit(struct kunit *test)
{
	xenib_pool_exit(of(test)->pool);
	xa_destroy(&of(test)->fixture.dev->kernel->qps.qps);
	kfree(of(test)->fixture.dev->kernel);
	of(test)->fixture.dev->kernel = NULL;
	fixture_exit(test);
}
