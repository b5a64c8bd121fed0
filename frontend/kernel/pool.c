// SPDX-License-Identifier: GPL-2.0
/*
 * pool.c - the memory through which the kernel's data passes: see pool.h.
 *
 * A segment is given out once each PD that has keys has one for it. The first comes with the first
 * PD, the others when memory gets short. None is given back before the end.
 *
 * Memory is mapped for each packet. So a pool that cannot grow, as the guest or the vHCA has no
 * more for it, says so once and is left alone for some time.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "compat.h"
#include "kernel/kverbs.h"
#include "kernel/pool.h"

#define FIRST_SEGMENT SZ_4M
#define OTHER_SEGMENTS BIT(XENIB_SEGMENT_SHIFT)

/*
 * Segments that there are at first where there is management: IPoIB has 17 MiB of receive buffers,
 * all of which it maps when it finds the device, faster than the pool grows.
 */
#define FIRST_WITH_MADS 2

/* After growth was refused, and before it is tried again. */
#define REFUSED_PAUSE (5 * HZ)

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

static void end_segment(struct xenib_pool *pool, struct xenib_segment *segment)
{
	xenib_umem_release(pool->ctx->dev, &segment->umem);
	bitmap_free(segment->used);
	kvfree(segment->origins);
	kfree(segment);
}

/* Of a segment that is half made, the umem is none. */
static struct xenib_segment *make_segment(struct xenib_pool *pool, size_t bytes)
{
	struct xenib_segment *segment;
	int err = -ENOMEM;

	segment = kzalloc(sizeof(*segment), GFP_KERNEL);
	if (!segment)
		return ERR_PTR(err);
	segment->granules = bytes >> XENIB_GRANULE_SHIFT;
	segment->used = bitmap_zalloc(segment->granules, GFP_KERNEL);
	segment->origins = kvcalloc(segment->granules, sizeof(*segment->origins), GFP_KERNEL);
	if (segment->used && segment->origins)
		err = xenib_umem_create_kernel(pool->ctx, &segment->umem, bytes, true);
	if (!err)
		return segment;
	end_segment(pool, segment);
	return ERR_PTR(err);
}

/* With the lock held. */
static int add_segment(struct xenib_pool *pool, size_t bytes)
{
	unsigned int index = pool->count;
	struct xenib_segment *segment;
	int err;

	segment = make_segment(pool, bytes);
	if (IS_ERR(segment))
		return PTR_ERR(segment);
	err = make_keys_of(pool, index, segment);
	if (err) {
		end_segment(pool, segment);
		return err;
	}
	spin_lock_irq(&pool->space);
	pool->segments[index] = segment;
	pool->count++;
	pool->granules += segment->granules;
	pool->missed = false;
	spin_unlock_irq(&pool->space);
	return 0;
}

/* Bytes of the segment that is next, or 0. The last one is what is left. With the space's lock. */
static size_t next_bytes(const struct xenib_pool *pool)
{
	size_t bytes = pool->granules << XENIB_GRANULE_SHIFT;
	size_t most = (size_t)READ_ONCE(dma_pool) << 20;

	if (pool->count >= XENIB_MAX_SEGMENTS || bytes >= most)
		return 0;
	return min_t(size_t, most - bytes, OTHER_SEGMENTS);
}

/*
 * Bytes that it is to grow by, as half of it is in use or there was no place for something; or 0.
 * With the space's lock held.
 */
static size_t growth(const struct xenib_pool *pool)
{
	if (!pool->missed && pool->taken <= pool->granules / 2)
		return 0;
	if (pool->refused && time_before(jiffies, pool->retry))
		return 0;
	return next_bytes(pool);
}

/* Of refusals one after the other, the first is logged. */
static void note_growth(struct xenib_pool *pool, int err)
{
	size_t bytes;
	bool first;

	spin_lock_irq(&pool->space);
	first = err && !pool->refused;
	pool->refused = err;
	pool->retry = jiffies + REFUSED_PAUSE;
	bytes = pool->granules << XENIB_GRANULE_SHIFT;
	spin_unlock_irq(&pool->space);
	if (first && !xenib_pool_is_dead(pool))
		dev_warn(&pool->ctx->dev->xbdev->dev,
			 "no more memory for the kernel's data than %zu MiB (dma_pool): error %d\n",
			 bytes >> 20, err);
}

static void grow_work(struct work_struct *work)
{
	struct xenib_pool *pool = container_of(work, struct xenib_pool, grow);
	size_t bytes;

	mutex_lock(&pool->lock);
	spin_lock_irq(&pool->space);
	bytes = growth(pool);
	spin_unlock_irq(&pool->space);
	if (bytes)
		note_growth(pool, add_segment(pool, bytes));
	mutex_unlock(&pool->lock);
}

void xenib_pool_init(struct xenib_pool *pool, struct xenib_context *ctx)
{
	pool->ctx = ctx;
	mutex_init(&pool->lock);
	spin_lock_init(&pool->space);
	INIT_LIST_HEAD(&pool->users);
	INIT_WORK(&pool->grow, grow_work);
}

/*
 * Consumers have ended their mappings by now; but ib_iser does not end those of commands that were
 * under way when the device went.
 */
void xenib_pool_exit(struct xenib_pool *pool)
{
	cancel_work_sync(&pool->grow);
	if (pool->taken)
		dev_info(&pool->ctx->dev->xbdev->dev, "%zu bytes of data were still mapped\n",
			 pool->taken << XENIB_GRANULE_SHIFT);
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
	keys->pool = pool;
	keys->pd = pd->handle;
	xa_init(&keys->regions);
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
	unsigned int first = pool->ctx->dev->kernel->gsi.open ? FIRST_WITH_MADS : 1;
	int err = 0;

	mutex_lock(&pool->lock);
	while (!err && pool->count < first)
		err = add_segment(pool, pool->count ? OTHER_SEGMENTS : FIRST_SEGMENT);
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

/* With the space's lock held. The first that is large enough, from there on, or 0. */
static u64 take(struct xenib_pool *pool, u64 from, size_t count, size_t align)
{
	unsigned int index = xenib_pool_segment(from);
	struct xenib_segment *segment = pool->segments[index];
	unsigned long at = xenib_pool_offset(from) >> XENIB_GRANULE_SHIFT;

	if (segment->granules - segment->taken < count)
		return 0;
	at = bitmap_find_next_zero_area(segment->used, segment->granules, at, count, align - 1);
	if (at >= segment->granules)
		return 0;
	bitmap_set(segment->used, at, count);
	segment->taken += count;
	pool->taken += count;
	return address_of(index) + (at << XENIB_GRANULE_SHIFT);
}

static void note_hint(struct xenib_pool *pool, u64 addr, size_t count)
{
	if (count <= XENIB_SMALL)
		pool->hints[count] = addr;
}

/*
 * With the space's lock held. To look for each place from the start on would cost more than all
 * else that is done for a packet, as receive buffers fill the first segments.
 */
static u64 find(struct xenib_pool *pool, size_t count, size_t align)
{
	u64 hint = count <= XENIB_SMALL ? pool->hints[count] : 0;
	u64 addr = hint ? take(pool, hint, count, align) : 0;
	unsigned int i;

	for (i = 0; i < pool->count && !addr; i++)
		addr = take(pool, address_of(i), count, align);
	if (addr)
		note_hint(pool, addr, count);
	return addr;
}

bool xenib_pool_is_dead(const struct xenib_pool *pool)
{
	return xenib_ring_is_dead(pool->ctx->dev->ring);
}

/* Once the backend is gone, the HCA may be at work still: what is in the pool stays as it is. */
u64 xenib_pool_alloc(struct xenib_pool *pool, size_t size, size_t align)
{
	size_t granules = DIV_ROUND_UP(align, BIT(XENIB_GRANULE_SHIFT));
	size_t count = DIV_ROUND_UP(size, BIT(XENIB_GRANULE_SHIFT));
	unsigned long flags;
	bool more;
	u64 addr;

	if (!count || size > OTHER_SEGMENTS || xenib_pool_is_dead(pool))
		return 0;
	spin_lock_irqsave(&pool->space, flags);
	addr = find(pool, count, granules);
	if (!addr)
		pool->missed = next_bytes(pool);
	more = growth(pool);
	spin_unlock_irqrestore(&pool->space, flags);
	if (more)
		queue_work(system_dfl_wq, &pool->grow);
	return addr;
}

void xenib_pool_free(struct xenib_pool *pool, u64 addr, size_t size)
{
	struct xenib_segment *segment = pool->segments[xenib_pool_segment(addr)];
	size_t count = DIV_ROUND_UP(size, BIT(XENIB_GRANULE_SHIFT));
	unsigned long flags;

	memset(xenib_pool_origin(pool, addr), 0, count * sizeof(struct xenib_origin));
	spin_lock_irqsave(&pool->space, flags);
	bitmap_clear(segment->used, xenib_pool_offset(addr) >> XENIB_GRANULE_SHIFT, count);
	segment->taken -= count;
	pool->taken -= count;
	note_hint(pool, addr, count);
	spin_unlock_irqrestore(&pool->space, flags);
}

void *xenib_pool_kva(struct xenib_pool *pool, u64 addr)
{
	return pool->segments[xenib_pool_segment(addr)]->umem.kva + xenib_pool_offset(addr);
}

bool xenib_pool_has_place(const struct xenib_pool *pool, u64 addr)
{
	const struct xenib_segment *segment;

	if (!xenib_pool_has(addr))
		return false;
	segment = READ_ONCE(pool->segments[xenib_pool_segment(addr)]);
	return segment && xenib_pool_offset(addr) < bytes_of(segment);
}

void *xenib_pool_mapped(struct xenib_pool *pool, u64 addr)
{
	if (xenib_pool_is_nowhere(addr))
		return phys_to_virt(addr - XENIB_POOL_NOWHERE);
	return xenib_pool_has_place(pool, addr) ? xenib_pool_kva(pool, addr) : NULL;
}

struct xenib_origin *xenib_pool_origin(struct xenib_pool *pool, u64 addr)
{
	struct xenib_segment *segment = pool->segments[xenib_pool_segment(addr)];

	return &segment->origins[xenib_pool_offset(addr) >> XENIB_GRANULE_SHIFT];
}
