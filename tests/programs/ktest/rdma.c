// SPDX-License-Identifier: GPL-2.0
/*
 * rdma.c - the cases in which a region does what it is for.
 */
#include <linux/dma-mapping.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "region.h"

/* Written and read back by the other end. All QPs of the PD may invalidate it. */
static int exchange(struct region *region, const struct buffer *buffer, struct end *invalidates)
{
	struct pair *pair = region->pair;
	u32 rkey;
	u8 *copy;
	int err;

	copy = kmemdup(buffer->memory, buffer->bytes, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	err = region_register(region, REGION_ALL, IB_WC_SUCCESS);
	rkey = region->mr->rkey;
	if (!err)
		err = region_rdma(region, IB_WR_RDMA_WRITE, rkey, 0, buffer, IB_WC_SUCCESS);
	if (!err) {
		memset(buffer->memory, 0, buffer->bytes);
		ib_dma_sync_single_for_device(pair->dev, buffer->addr, buffer->bytes,
					      DMA_BIDIRECTIONAL);
		err = region_rdma(region, IB_WR_RDMA_READ, rkey, 0, buffer, IB_WC_SUCCESS);
	}
	if (!err)
		err = region_invalidate(invalidates, rkey, IB_WC_SUCCESS);
	ib_dma_sync_single_for_cpu(pair->dev, buffer->addr, buffer->bytes, DMA_BIDIRECTIONAL);
	if (!err && memcmp(copy, buffer->memory, buffer->bytes)) {
		pr_err("ktest: what was read is not what was written\n");
		err = -EIO;
	}
	kfree(copy);
	return err;
}

/* A list from the octet skip on, which is the first one of the region. */
static int exchange_list(struct region *region, unsigned int skip, struct end *invalidates)
{
	struct buffer buffer;
	int err;

	err = buffer_make(&buffer, region->pair, region->bytes - skip);
	if (err)
		return err;
	err = region_set(region, skip) ?: exchange(region, &buffer, invalidates);
	region_unmap(region);
	if (!err)
		err = region_compare(region, skip, buffer.memory, buffer.bytes);
	buffer_end(&buffer, region->pair);
	return err;
}

/* by_a: that end registers it, and b, whose memory is read and written, invalidates it. */
static int with_region(struct ib_device *dev, int count, bool apart, unsigned int skip, bool by_a)
{
	struct region region;
	struct pair pair;
	int err;

	err = pair_make(&pair, dev, IB_QPT_RC, IB_POLL_DIRECT);
	if (err)
		return err;
	err = region_make(&region, &pair, count, apart);
	if (err)
		goto end_pair;
	if (region.pieces != (apart ? count : 1)) {
		pr_err("ktest: a list of %d elements is in %d pieces\n", count, region.pieces);
		err = -EIO;
	}
	if (by_a)
		region.owner = &pair.a;
	if (!err)
		err = exchange_list(&region, skip, &pair.b);
	region_end(&region);
end_pair:
	pair_end(&pair);
	return err;
}

/* A list in one piece, and a part of it */
int case_reg_list(struct ib_device *dev)
{
	int err;

	err = with_region(dev, 1, false, 0, false);
	if (!err)
		err = with_region(dev, 100, false, 0, true);
	if (!err)
		err = with_region(dev, 7, false, 16, false);
	return err;
}

/* As many entries as a WQE has, and as a key has, and one fewer or more. */
int case_reg_pieces(struct ib_device *dev)
{
	static const int counts[] = { 3, 4, 5, 40, 251, 252 };
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(counts); i++)
		err = with_region(dev, counts[i], true, i % 2 ? 8 : 0, i % 2 != 0);
	return err;
}

/* The pool's room is in pieces of two pages, so a list of larger elements would find none. */
#define FRAGMENT (2 * PAGE_SIZE)

struct fragment {
	struct list_head list;
	void *memory;
	dma_addr_t addr;
};

static void free_fragments(struct ib_device *dev, struct list_head *fragments, bool every_other)
{
	struct fragment *fragment, *next;
	bool keep = false;

	list_for_each_entry_safe(fragment, next, fragments, list) {
		if (!keep) {
			list_del(&fragment->list);
			dma_free_coherent(dev->dma_device, FRAGMENT, fragment->memory,
					  fragment->addr);
			kfree(fragment);
		}
		keep = every_other && !keep;
	}
}

/* All of the pool that is left. */
static int take_fragments(struct ib_device *dev, struct list_head *fragments)
{
	struct fragment *fragment;

	for (;;) {
		fragment = kzalloc(sizeof(*fragment), GFP_KERNEL);
		if (!fragment)
			return -ENOMEM;
		fragment->memory = dma_alloc_coherent(dev->dma_device, FRAGMENT, &fragment->addr,
						      GFP_KERNEL | __GFP_NOWARN);
		if (!fragment->memory) {
			kfree(fragment);
			return 0;
		}
		list_add_tail(&fragment->list, fragments);
		cond_resched();
	}
}

/* Mapped once more, when there is room in the pool, and in no place enough for the list. */
static int in_fragments(struct region *region, const struct buffer *buffer)
{
	struct ib_device *dev = region->pair->dev;
	LIST_HEAD(fragments);
	int err;

	region_unmap(region);
	err = take_fragments(dev, &fragments);
	free_fragments(dev, &fragments, true);
	if (!err)
		err = region_map(region);
	if (!err && (region->pieces < 8 || region->pieces > region->count)) {
		pr_err("ktest: a list of %d elements is in %d pieces\n", region->count,
		       region->pieces);
		err = -EIO;
	}
	if (!err)
		err = region_set(region, 0) ?: exchange(region, buffer, &region->pair->b);
	region_unmap(region);
	if (!err)
		err = region_compare(region, 0, buffer->memory, buffer->bytes);
	free_fragments(dev, &fragments, false);
	return err;
}

int case_reg_fragments(struct ib_device *dev)
{
	struct buffer buffer;
	struct region region;
	struct pair pair;
	int err;

	err = pair_make(&pair, dev, IB_QPT_RC, IB_POLL_DIRECT);
	if (err)
		return err;
	err = region_make(&region, &pair, 40, false);
	if (err)
		goto end_pair;
	err = buffer_make(&buffer, &pair, region.bytes);
	if (!err) {
		err = in_fragments(&region, &buffer);
		buffer_end(&buffer, &pair);
	}
	region_end(&region);
end_pair:
	pair_end(&pair);
	return err;
}

/* A message invalidates the region, and its receiver is told which. */
static int send_with_inv(struct region *region, const struct buffer *buffer)
{
	struct pair *pair = region->pair;
	struct ib_sge sge = {
		.addr = buffer->addr,
		.length = 16,
		.lkey = pair->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND_WITH_INV,
		.sg_list = &sge,
		.num_sge = 1,
		.ex.invalidate_rkey = region->mr->rkey,
	};
	struct work sent, received;
	int err;

	err = post_recv(&pair->b, &received, buffer->addr + 1024, 16, pair->pd->local_dma_lkey);
	if (err)
		return err;
	err = post_wr(&pair->a, &sent, &wr)                 ?:
		      await(&pair->a, &sent, IB_WC_SUCCESS) ?:
		      await_op(&pair->b, &received, IB_WC_SUCCESS, IB_WC_RECV);
	if (err) {
		ib_drain_qp(pair->b.qp);
		return err;
	}
	if (received.flags & IB_WC_WITH_INVALIDATE && received.rkey == region->mr->rkey)
		return 0;
	pr_err("ktest: flags %#x, key %#x instead of %#x\n", received.flags, received.rkey,
	       region->mr->rkey);
	return -EIO;
}

static int remote_inv(struct region *region, const struct buffer *buffer, const void *arg)
{
	int i, err;

	err = region_set(region, 0);
	for (i = 0; !err && i < 2; i++) {
		err = region_register(region, REGION_ALL, IB_WC_SUCCESS);
		if (!err)
			err = region_rdma(region, IB_WR_RDMA_WRITE, region->mr->rkey, 0, buffer,
					  IB_WC_SUCCESS);
		if (!err)
			err = send_with_inv(region, buffer);
	}
	if (!err)
		err = region_rdma(region, IB_WR_RDMA_WRITE, region->mr->rkey, 0, buffer,
				  IB_WC_REM_ACCESS_ERR);
	return err;
}

int case_reg_remote_inv(struct ib_device *dev)
{
	return with_both(dev, 5, true, remote_inv, NULL);
}

/* A message of SMALL octets: from comes from there, and goes to the place that to has named. */
static int message(struct end *from, u64 at, u32 lkey, struct end *to, u64 place, u32 place_lkey)
{
	struct work sent, received;
	int err;

	err = post_recv(to, &received, place, SMALL, place_lkey);
	if (err)
		return err;
	err = post_send(from, &sent, at, SMALL, lkey)   ?:
		      await(from, &sent, IB_WC_SUCCESS) ?:
		      await_op(to, &received, IB_WC_SUCCESS, IB_WC_RECV);
	if (err)
		ib_drain_qp(to->qp);
	return err;
}

/* The region's owner itself sends from it, and receives in it, by the key of the moment. */
static int by_local_key(struct region *region, const struct buffer *buffer, const void *arg)
{
	struct pair *pair = region->pair;
	u32 lkey = pair->pd->local_dma_lkey;
	struct ib_mr *mr = region->mr;
	struct work work;
	int err;

	region_unmap(region);
	get_random_bytes(region->memory, region->count * PAGE_SIZE);
	err = region_map(region)            ?:
		      region_set(region, 0) ?:
					      region_register(region, REGION_ALL, IB_WC_SUCCESS);
	if (!err)
		err = message(&pair->b, mr->iova, mr->lkey, &pair->a, buffer->addr, lkey);
	ib_dma_sync_single_for_cpu(pair->dev, buffer->addr, SMALL, DMA_BIDIRECTIONAL);
	if (!err)
		err = region_compare(region, 0, buffer->memory, SMALL);
	get_random_bytes(buffer->memory, SMALL);
	ib_dma_sync_single_for_device(pair->dev, buffer->addr, SMALL, DMA_BIDIRECTIONAL);
	if (!err)
		err = message(&pair->a, buffer->addr, lkey, &pair->b, mr->iova + 3000, mr->lkey);
	if (!err && post_send(&pair->b, &work, mr->iova, SMALL, mr->lkey ^ 1) != -EINVAL) {
		pr_err("ktest: a key that the region does not have is taken\n");
		err = -EIO;
	}
	region_unmap(region);
	return err ?: region_compare(region, 3000, buffer->memory, SMALL);
}

int case_reg_local(struct ib_device *dev)
{
	return with_both(dev, 5, true, by_local_key, NULL);
}

/* One region again and again, of more and of fewer pieces: nothing of an earlier list is left. */
static int stress_round(struct region *region)
{
	struct buffer buffer;
	int i, err;

	err = region_map(region);
	if (err)
		return err;
	region->pieces = 1 + get_random_u32_below(region->count);
	region->bytes = 0;
	for (i = 0; i < region->pieces; i++)
		region->bytes += region->list[i].length;
	err = buffer_make(&buffer, region->pair, region->bytes);
	if (!err) {
		err = region_set(region, 0) ?: exchange(region, &buffer, &region->pair->b);
		region_unmap(region);
		if (!err)
			err = region_compare(region, 0, buffer.memory, buffer.bytes);
		buffer_end(&buffer, region->pair);
	}
	region_unmap(region);
	return err;
}

int case_reg_stress(struct ib_device *dev)
{
	struct region region;
	struct pair pair;
	int i, err;

	err = pair_make(&pair, dev, IB_QPT_RC, IB_POLL_DIRECT);
	if (err)
		return err;
	err = region_make(&region, &pair, 60, true);
	if (!err) {
		region_unmap(&region);
		for (i = 0; !err && i < 2000; i++)
			err = stress_round(&region);
		region_end(&region);
	}
	pair_end(&pair);
	return err;
}
