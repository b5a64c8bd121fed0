// SPDX-License-Identifier: GPL-2.0
/*
 * pool.c - the memory through which the kernel's data passes: see pool.h.
 *
 * A segment is given out once each PD that has keys has one for it. The first comes with the first
 * PD, the others when memory gets short. None is given back before the end.
 */
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "kernel/kverbs.h"
#include "kernel/pool.h"

#define FIRST_SEGMENT SZ_4M
#define OTHER_SEGMENTS BIT(XENIB_SEGMENT_SHIFT)

static uint dma_pool = 64;
module_param(dma_pool, uint, 0644);
MODULE_PARM_DESC(dma_pool, "MiB of memory at most through which the kernel's own data passes");

static u64 address_of(unsigned int index)
{
	return XENIB_POOL_BASE + ((u64)index << XENIB_SEGMENT_SHIFT);
}

static size_t bytes_of(const struct xenib_segment *segment)
{
	return segment->umem.count << PAGE_SHIFT;
}

/* Regions of the kernel are windows over the pool (mr.c). */
static u32 may_bind(const struct xenib_pool *pool)
{
	return pool->ctx->dev->attr.max_mw ? XEN_VHCA_ACCESS_MW_BIND : 0;
}

/* The HCA may write to it in the name of that PD, as it may for receives and for what it reads. */
static int make_key(struct xenib_pool *pool, struct xenib_pool_keys *keys, unsigned int index,
		    const struct xenib_segment *segment)
{
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_MR_REG,
		.req.u.mr_reg = {
			.pd = keys->pd,
			.addr.umem = segment->umem.handle,
			.length = bytes_of(segment),
			.iova = address_of(index),
			.access = XEN_VHCA_ACCESS_LOCAL_WRITE | may_bind(pool),
		},
	};
	int err;

	err = xenib_cmd_exec(pool->ctx->dev->ring, &cmd);
	if (err)
		return err;
	keys->mrs[index] = cmd.rsp.u.mr.handle;
	WRITE_ONCE(keys->lkeys[index], cmd.rsp.u.mr.lkey);
	return 0;
}

static void end_key(struct xenib_pool *pool, struct xenib_pool_keys *keys, unsigned int index)
{
	if (!keys->lkeys[index])
		return;
	WRITE_ONCE(keys->lkeys[index], 0);
	xenib_cmd_destroy(pool->ctx->dev->ring, XEN_VHCA_OP_MR_DEREG, keys->mrs[index]);
}

static void end_keys_of(struct xenib_pool *pool, unsigned int index)
{
	struct xenib_pool_keys *keys;

	list_for_each_entry(keys, &pool->users, list)
		end_key(pool, keys, index);
}

static int make_keys_of(struct xenib_pool *pool, unsigned int index,
			const struct xenib_segment *segment)
{
	struct xenib_pool_keys *keys;
	int err;

	list_for_each_entry(keys, &pool->users, list) {
		err = make_key(pool, keys, index, segment);
		if (err) {
			end_keys_of(pool, index);
			return err;
		}
	}
	return 0;
}

static struct xenib_segment *make_segment(struct xenib_pool *pool, size_t bytes)
{
	struct xenib_segment *segment;
	int err;

	segment = kzalloc(sizeof(*segment), GFP_KERNEL);
	if (!segment)
		return ERR_PTR(-ENOMEM);
	segment->origins =
		kvcalloc(bytes >> XENIB_GRANULE_SHIFT, sizeof(*segment->origins), GFP_KERNEL);
	if (!segment->origins) {
		err = -ENOMEM;
		goto err_free;
	}
	err = xenib_umem_create_kernel(pool->ctx, &segment->umem, bytes);
	if (err)
		goto err_free_origins;
	return segment;

err_free_origins:
	kvfree(segment->origins);
err_free:
	kfree(segment);
	return ERR_PTR(err);
}

static void end_segment(struct xenib_pool *pool, struct xenib_segment *segment)
{
	xenib_umem_release(pool->ctx->dev, &segment->umem);
	kvfree(segment->origins);
	kfree(segment);
}

/* With the lock held. */
static int add_segment(struct xenib_pool *pool)
{
	size_t bytes = pool->count ? OTHER_SEGMENTS : FIRST_SEGMENT;
	unsigned int index = pool->count;
	struct xenib_segment *segment;
	int err;

	segment = make_segment(pool, bytes);
	if (IS_ERR(segment))
		return PTR_ERR(segment);
	err = make_keys_of(pool, index, segment);
	if (err)
		goto err_end;
	/* Before anything of it is given out; gen_pool_add() publishes that. */
	pool->segments[index] = segment;
	err = gen_pool_add(pool->gen, address_of(index), bytes, NUMA_NO_NODE);
	if (err)
		goto err_keys;
	WRITE_ONCE(pool->count, index + 1);
	return 0;

err_keys:
	pool->segments[index] = NULL;
	end_keys_of(pool, index);
err_end:
	end_segment(pool, segment);
	return err;
}

/* Half of it is in use, and it may grow. */
static bool is_short(struct xenib_pool *pool)
{
	size_t size = gen_pool_size(pool->gen);

	return gen_pool_avail(pool->gen) < size / 2 &&
	       READ_ONCE(pool->count) < XENIB_MAX_SEGMENTS &&
	       size + OTHER_SEGMENTS <= (size_t)READ_ONCE(dma_pool) << 20;
}

static void grow_work(struct work_struct *work)
{
	struct xenib_pool *pool = container_of(work, struct xenib_pool, grow);

	mutex_lock(&pool->lock);
	if (is_short(pool))
		add_segment(pool);
	mutex_unlock(&pool->lock);
}

int xenib_pool_init(struct xenib_pool *pool, struct xenib_context *ctx)
{
	pool->gen = gen_pool_create(XENIB_GRANULE_SHIFT, NUMA_NO_NODE);
	if (!pool->gen)
		return -ENOMEM;
	pool->ctx = ctx;
	mutex_init(&pool->lock);
	INIT_LIST_HEAD(&pool->users);
	INIT_WORK(&pool->grow, grow_work);
	return 0;
}

/* What a consumer has not given back keeps its bitmap: gen_pool_destroy() would not bear it. */
void xenib_pool_exit(struct xenib_pool *pool)
{
	cancel_work_sync(&pool->grow);
	if (!WARN_ON(gen_pool_avail(pool->gen) != gen_pool_size(pool->gen)))
		gen_pool_destroy(pool->gen);
	while (pool->count)
		end_segment(pool, pool->segments[--pool->count]);
}

static struct xenib_pool_keys *make_keys(struct xenib_pool *pool, const struct xenib_pd *pd)
{
	struct xenib_pool_keys *keys;
	unsigned int i;
	int err;

	keys = kzalloc(sizeof(*keys), GFP_KERNEL);
	if (!keys)
		return ERR_PTR(-ENOMEM);
	keys->pd = pd->handle;
	for (i = 0; i < pool->count; i++) {
		err = make_key(pool, keys, i, pool->segments[i]);
		if (err)
			goto err_end;
	}
	list_add(&keys->list, &pool->users);
	return keys;

err_end:
	while (i)
		end_key(pool, keys, --i);
	kfree(keys);
	return ERR_PTR(err);
}

int xenib_pool_start(struct xenib_pool *pool)
{
	int err = 0;

	mutex_lock(&pool->lock);
	if (!pool->count)
		err = add_segment(pool);
	mutex_unlock(&pool->lock);
	return err;
}

struct xenib_pool_keys *xenib_pool_keys_get(struct xenib_pool *pool, struct xenib_pd *pd)
{
	struct xenib_pool_keys *keys;

	mutex_lock(&pool->lock);
	keys = pd->keys;
	if (!keys) {
		keys = make_keys(pool, pd);
		if (!IS_ERR(keys))
			pd->keys = keys;
	}
	mutex_unlock(&pool->lock);
	return keys;
}

void xenib_pool_keys_put(struct xenib_pool *pool, struct xenib_pd *pd)
{
	struct xenib_pool_keys *keys = pd->keys;
	unsigned int i;

	if (!keys)
		return;
	mutex_lock(&pool->lock);
	list_del(&keys->list);
	for (i = 0; i < pool->count; i++)
		end_key(pool, keys, i);
	mutex_unlock(&pool->lock);
	kfree(keys);
	pd->keys = NULL;
}

/* Once the backend is gone, the HCA may be at work still: what is in the pool stays as it is. */
u64 xenib_pool_alloc(struct xenib_pool *pool, size_t size)
{
	u64 addr;

	if (!size || xenib_ring_is_dead(pool->ctx->dev->ring))
		return 0;
	addr = gen_pool_alloc(pool->gen, size);
	if (is_short(pool))
		queue_work(system_unbound_wq, &pool->grow);
	return addr;
}

void xenib_pool_free(struct xenib_pool *pool, u64 addr, size_t size)
{
	gen_pool_free(pool->gen, addr, size);
}

void *xenib_pool_kva(struct xenib_pool *pool, u64 addr)
{
	return pool->segments[xenib_pool_segment(addr)]->umem.kva + xenib_pool_offset(addr);
}

phys_addr_t *xenib_pool_origin(struct xenib_pool *pool, u64 addr)
{
	struct xenib_segment *segment = pool->segments[xenib_pool_segment(addr)];

	return &segment->origins[xenib_pool_offset(addr) >> XENIB_GRANULE_SHIFT];
}
