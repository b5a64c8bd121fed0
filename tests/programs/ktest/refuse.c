// SPDX-License-Identifier: GPL-2.0
/*
 * refuse.c - what must not be possible by a region: more than its rights, its time, its PD; and,
 * for a kernel that writes entries of its own making, memory that is not of the PD.
 *
 * What is refused ends the connection, so each has a pair of its own.
 */
#include <linux/slab.h>

#include "kernel/kverbs.h"
#include "region.h"

/* It is registered with these rights, and the operation is refused. */
struct use {
	int access;
	enum ib_wr_opcode opcode;
	u64 at;
};

static int is_refused(struct region *region, const struct buffer *buffer, const void *arg)
{
	const struct use *use = arg;
	int err;

	err = region_set(region, 0) ?: region_register(region, use->access, IB_WC_SUCCESS);
	if (!err)
		err = region_rdma(region, use->opcode, region->mr->rkey, use->at, buffer,
				  IB_WC_REM_ACCESS_ERR);
	region_unmap(region);
	if (!err && memchr_inv(region->memory, 0, region->count * PAGE_SIZE)) {
		pr_err("ktest: operation %u is refused, and has written\n", use->opcode);
		err = -EIO;
	}
	return err;
}

/* Rights and bounds. That the last octet can be reached is what the other cases show. */
int case_reg_access(struct ib_device *dev)
{
	const u64 bytes = 5 * 2000 + 10 * (1 + 2 + 3 + 4);
	const struct use uses[] = {
		{ IB_ACCESS_REMOTE_READ, IB_WR_RDMA_WRITE, 0 },
		{ 0, IB_WR_RDMA_READ, 0 },
		{ IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, IB_WR_RDMA_READ, 0 },
		{ REGION_ALL, IB_WR_RDMA_WRITE, bytes - SMALL + 1 },
		{ REGION_ALL, IB_WR_RDMA_WRITE, -1 },
	};
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(uses); i++)
		err = with_both(dev, 5, true, is_refused, &uses[i]);
	return err;
}

static int begin(struct region *region)
{
	return region_set(region, 0) ?: region_register(region, REGION_ALL, IB_WC_SUCCESS);
}

static int after_invalidation(struct region *region, const struct buffer *buffer, const void *arg)
{
	u32 rkey;
	int err;

	err = begin(region);
	rkey = region->mr->rkey;
	if (!err)
		err = region_rdma(region, IB_WR_RDMA_WRITE, rkey, 0, buffer, IB_WC_SUCCESS);
	if (!err)
		err = region_invalidate(&region->pair->b, rkey, IB_WC_SUCCESS);
	if (!err)
		err = region_rdma(region, IB_WR_RDMA_WRITE, rkey, 0, buffer, IB_WC_REM_ACCESS_ERR);
	return err;
}

/* It is registered again, and has another key. */
static int begin_again(struct region *region, u32 *old)
{
	int err;

	err = begin(region);
	*old = region->mr->rkey;
	if (!err)
		err = region_invalidate(&region->pair->b, *old, IB_WC_SUCCESS);
	if (!err)
		err = region_register(region, REGION_ALL, IB_WC_SUCCESS);
	return err;
}

static int with_old_key(struct region *region, const struct buffer *buffer, const void *arg)
{
	u32 old;
	int err;

	err = begin_again(region, &old);
	if (!err)
		err = region_rdma(region, IB_WR_RDMA_READ, old, 0, buffer, IB_WC_REM_ACCESS_ERR);
	return err;
}

static int invalidate_old_key(struct region *region, const struct buffer *buffer, const void *arg)
{
	u32 old;
	int err;

	err = begin_again(region, &old);
	if (!err)
		err = region_invalidate(&region->pair->b, old, IB_WC_MW_BIND_ERR);
	return err;
}

/* What is registered cannot be registered once more. */
static int twice(struct region *region, const struct buffer *buffer, const void *arg)
{
	return begin(region) ?: region_register(region, REGION_ALL, IB_WC_MW_BIND_ERR);
}

/* What is invalidated stays so, and what is registered is so by its latest key alone. */
int case_reg_stale(struct ib_device *dev)
{
	static int (*const cases[])(struct region *region, const struct buffer *buffer,
				    const void *arg) = {
		after_invalidation,
		with_old_key,
		invalidate_old_key,
		twice,
	};
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(cases); i++)
		err = with_both(dev, 5, true, cases[i], NULL);
	return err;
}

/* By a QP of another PD, which neither registers it nor reaches it, and does not know its key. */
static int with_other_pd(struct region *region, const struct buffer *buffer, const void *arg)
{
	struct pair other, *pair = region->pair;
	struct ib_reg_wr wr = { .wr.opcode = IB_WR_REG_MR, .mr = region->mr, .access = REGION_ALL };
	struct work work;
	int err;

	err = pair_make(&other, pair->dev, IB_QPT_RC, IB_POLL_DIRECT);
	if (err)
		return err;
	err = region_set(region, 0);
	wr.key = region->mr->rkey;
	if (!err && post_wr(&other.b, &work, &wr.wr) != -EINVAL) {
		pr_err("ktest: a QP of another PD registers the region\n");
		err = -EIO;
	}
	if (!err)
		err = region_register(region, REGION_ALL, IB_WC_SUCCESS);
	if (!err &&
	    post_send(&other.b, &work, region->mr->iova, SMALL, region->mr->lkey) != -EINVAL) {
		pr_err("ktest: a QP of another PD takes the region's key\n");
		err = -EIO;
	}
	region->pair = &other;
	if (!err)
		err = region_rdma(region, IB_WR_RDMA_READ, region->mr->rkey, 0, buffer,
				  IB_WC_REM_ACCESS_ERR);
	region->pair = pair;
	/* The buffer's mapping is of the device, and the key of each PD reaches it. */
	pair_end(&other);
	return err;
}

int case_reg_pd(struct ib_device *dev)
{
	return with_both(dev, 5, true, with_other_pd, NULL);
}

/* An entry that no frontend writes is put in the place of another. */
struct lie {
	const char *what;
	u32 key;
	u64 addr;
};

static int use_entry(struct region *region, const struct buffer *buffer, const struct lie *lie,
		     unsigned int at)
{
	struct xenib_kmr *kmr = container_of(to_xmr(region->mr), struct xenib_kmr, mr);
	struct xenib_klm_seg *entry = kmr->count > XENIB_INLINE_ENTRIES ? kmr->list : kmr->entries;
	struct ib_reg_wr wr = { .wr.opcode = IB_WR_REG_MR, .mr = region->mr, .access = REGION_ALL };
	struct pair *pair = region->pair;
	struct work work;
	int err;

	entry[at].key = cpu_to_be32(lie->key);
	entry[at].addr = cpu_to_be64(lie->addr);
	ib_update_fast_reg_key(region->mr, ib_inc_rkey(region->mr->rkey));
	wr.key = region->mr->rkey;
	err = post_wr(&pair->b, &work, &wr.wr);
	if (err)
		return err;
	/* The HCA refuses it now, or the access to it later. */
	err = await(&pair->b, &work, IB_WC_MW_BIND_ERR);
	if (err && work.status == IB_WC_SUCCESS)
		err = region_rdma(region, IB_WR_RDMA_READ, wr.key, 0, buffer, IB_WC_REM_ACCESS_ERR);
	if (err)
		pr_err("ktest: %s, as entry %u of %u: status %u\n", lie->what, at, kmr->count,
		       work.status);
	return err;
}

static int lie_in(struct region *region, const struct buffer *buffer, const void *arg)
{
	const struct lie *lie = arg;
	struct pair *pair = region->pair;
	int err;

	memset(buffer->memory, 0, SMALL);
	ib_dma_sync_single_for_device(pair->dev, buffer->addr, SMALL, DMA_BIDIRECTIONAL);
	err = region_set(region, 0) ?: use_entry(region, buffer, lie, 0);
	ib_drain_qp(pair->a.qp);
	ib_dma_sync_single_for_cpu(pair->dev, buffer->addr, SMALL, DMA_BIDIRECTIONAL);
	if (!err && memchr_inv(buffer->memory, 0, SMALL)) {
		pr_err("ktest: %s was read\n", lie->what);
		err = -EIO;
	}
	return err;
}

static int lie_of_pd(struct ib_device *dev, const struct pair *other, u64 addr)
{
	const struct xenib_pool_keys *keys = to_xpd(other->pd)->keys;
	const struct lie lies[] = {
		{ "a key of another PD", keys->lkeys[xenib_pool_segment(addr)], addr },
		{ "another guest's key", foreign_key, foreign_at },
		{ "the HCA's key for all memory", XENIB_POOL_LKEY, 0x100000 },
		{ "no key", 0, addr },
	};
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(lies); i++)
		err = with_both(dev, 3, true, lie_in, &lies[i]) ?:
			      with_both(dev, 20, true, lie_in, &lies[i]);
	return err;
}

int case_lie_entries(struct ib_device *dev)
{
	struct buffer buffer;
	struct pair other;
	int err;

	err = pair_make(&other, dev, IB_QPT_RC, IB_POLL_DIRECT);
	if (err)
		return err;
	err = buffer_make(&buffer, &other, SMALL);
	if (!err) {
		err = lie_of_pd(dev, &other, buffer.addr);
		buffer_end(&buffer, &other);
	}
	pair_end(&other);
	return err;
}
