// SPDX-License-Identifier: GPL-2.0
/*
 * rdma.c - memory that is registered by WRs, and read and written by the other end.
 */
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "ktest.h"

#define PAGES 4
#define BYTES (PAGES * PAGE_SIZE)

struct region {
	struct ib_mr *mr;
	struct scatterlist list[PAGES];
	u8 *memory;
};

static int region_make(struct region *region, struct pair *pair)
{
	unsigned int i;
	int err;

	region->memory = kzalloc(BYTES, GFP_KERNEL);
	if (!region->memory)
		return -ENOMEM;
	region->mr = ib_alloc_mr(pair->pd, IB_MR_TYPE_MEM_REG, PAGES);
	if (IS_ERR(region->mr)) {
		err = PTR_ERR(region->mr);
		goto err_free;
	}
	sg_init_table(region->list, PAGES);
	for (i = 0; i < PAGES; i++)
		sg_set_buf(&region->list[i], region->memory + i * PAGE_SIZE, PAGE_SIZE);
	err = -ENOMEM;
	i = ib_dma_map_sg(pair->dev, region->list, PAGES, DMA_BIDIRECTIONAL);
	if (!i)
		goto err_mr;
	err = ib_map_mr_sg(region->mr, region->list, i, NULL, PAGE_SIZE) == i ? 0 : -EIO;
	if (!err)
		return 0;

	ib_dma_unmap_sg(pair->dev, region->list, PAGES, DMA_BIDIRECTIONAL);
err_mr:
	ib_dereg_mr(region->mr);
err_free:
	kfree(region->memory);
	return err;
}

static void region_end(struct region *region, struct pair *pair)
{
	ib_dma_unmap_sg(pair->dev, region->list, PAGES, DMA_BIDIRECTIONAL);
	ib_dereg_mr(region->mr);
	kfree(region->memory);
}

static int reg(struct pair *pair, struct region *region)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = region->mr,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	};
	struct work work;

	ib_update_fast_reg_key(region->mr, ib_inc_rkey(region->mr->rkey));
	wr.key = region->mr->rkey;
	return post_wr(&pair->b, &work, &wr.wr) ?: await(&pair->b, &work, IB_WC_SUCCESS);
}

static int invalidate(struct pair *pair, struct region *region)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = region->mr->rkey,
	};
	struct work work;

	return post_wr(&pair->b, &work, &wr) ?: await(&pair->b, &work, IB_WC_SUCCESS);
}

static int rdma(struct pair *pair, struct region *region, enum ib_wr_opcode opcode, u64 addr,
		enum ib_wc_status status)
{
	struct ib_sge sge = {
		.addr = addr,
		.length = BYTES,
		.lkey = pair->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.opcode = opcode,
			.sg_list = &sge,
			.num_sge = 1,
		},
		.remote_addr = region->mr->iova,
		.rkey = region->mr->rkey,
	};
	struct work work;

	return post_wr(&pair->a, &work, &wr.wr) ?: await(&pair->a, &work, status);
}

/* Written, read back, and after it is invalidated neither. */
static int exchange(struct pair *pair, struct region *region, u8 *memory, u64 addr)
{
	u8 *copy;
	int err;

	copy = kmemdup(memory, BYTES, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	err = reg(pair, region) ?: invalidate(pair, region) ?: reg(pair, region);
	if (!err)
		err = rdma(pair, region, IB_WR_RDMA_WRITE, addr, IB_WC_SUCCESS);
	if (!err)
		err = rdma(pair, region, IB_WR_RDMA_READ, addr, IB_WC_SUCCESS);
	if (!err)
		err = invalidate(pair, region);
	if (!err)
		err = rdma(pair, region, IB_WR_RDMA_WRITE, addr, IB_WC_REM_ACCESS_ERR);
	ib_dma_sync_single_for_cpu(pair->dev, addr, BYTES, DMA_BIDIRECTIONAL);
	ib_dma_unmap_sg(pair->dev, region->list, PAGES, DMA_BIDIRECTIONAL);
	if (!err && (memcmp(copy, region->memory, BYTES) || memcmp(copy, memory, BYTES))) {
		pr_err("ktest: what was written or read is not the same\n");
		err = -EIO;
	}
	/* For region_end() */
	if (!ib_dma_map_sg(pair->dev, region->list, PAGES, DMA_BIDIRECTIONAL))
		err = -ENOMEM;
	kfree(copy);
	return err;
}

static int with_region(struct pair *pair, u8 *memory, u64 addr)
{
	struct region region;
	int err;

	err = region_make(&region, pair);
	if (err)
		return err;
	err = exchange(pair, &region, memory, addr);
	/* Nothing of it is under way then. */
	ib_drain_qp(pair->a.qp);
	ib_drain_qp(pair->b.qp);
	region_end(&region, pair);
	return err;
}

int case_rc_rdma(struct ib_device *dev)
{
	struct pair pair;
	u8 *memory;
	u64 addr;
	int err;

	err = pair_make(&pair, dev, IB_QPT_RC, IB_POLL_DIRECT);
	if (err)
		return err;
	memory = kmalloc(BYTES, GFP_KERNEL);
	err = -ENOMEM;
	if (!memory)
		goto out;
	get_random_bytes(memory, BYTES);
	addr = ib_dma_map_single(dev, memory, BYTES, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(dev, addr))
		goto out_free;
	err = with_region(&pair, memory, addr);
	ib_dma_unmap_single(dev, addr, BYTES, DMA_BIDIRECTIONAL);
out_free:
	kfree(memory);
out:
	pair_end(&pair);
	return err;
}
