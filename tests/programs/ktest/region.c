// SPDX-License-Identifier: GPL-2.0
/*
 * region.c - memory that is registered by WRs: see region.h.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "region.h"

/* Parts of pages, of several lengths, with gaps between them. */
static void set_elements(struct region *region)
{
	unsigned int at, length, i;

	sg_init_table(region->list, region->count);
	for (i = 0; i < region->count; i++) {
		at = 100 * (i % 3);
		length = 2000 + 10 * (i % 50);
		sg_set_buf(&region->list[i], region->memory + i * PAGE_SIZE + at, length);
		region->bytes += length;
	}
}

static void unmap_apart(struct region *region, int from)
{
	struct scatterlist *sg;
	int i;

	for (i = from; i < region->count; i++) {
		sg = &region->list[i];
		ib_dma_unmap_single(region->pair->dev, sg_dma_address(sg), sg->length,
				    region->direction);
	}
}

/* The last one first: they are in several pieces then. */
static int map_apart(struct region *region)
{
	struct ib_device *dev = region->pair->dev;
	struct scatterlist *sg;
	int i;

	for (i = region->count - 1; i >= 0; i--) {
		sg = &region->list[i];
		sg_dma_address(sg) =
			ib_dma_map_single(dev, sg_virt(sg), sg->length, region->direction);
		if (ib_dma_mapping_error(dev, sg_dma_address(sg))) {
			unmap_apart(region, i + 1);
			return 0;
		}
		sg_dma_len(sg) = sg->length;
	}
	return region->count;
}

int region_map(struct region *region)
{
	if (region->apart)
		region->pieces = map_apart(region);
	else
		region->pieces = ib_dma_map_sg(region->pair->dev, region->list, region->count,
					       region->direction);
	return region->pieces ? 0 : -ENOMEM;
}

void region_unmap(struct region *region)
{
	if (region->pieces && region->apart)
		unmap_apart(region, 0);
	else if (region->pieces)
		ib_dma_unmap_sg(region->pair->dev, region->list, region->count, region->direction);
	region->pieces = 0;
}

int region_make(struct region *region, struct pair *pair, int count, bool apart)
{
	int err = -ENOMEM;

	memset(region, 0, sizeof(*region));
	region->pair = pair;
	region->owner = &pair->b;
	region->count = count;
	region->apart = apart;
	region->direction = DMA_BIDIRECTIONAL;
	region->memory = kzalloc(count * PAGE_SIZE, GFP_KERNEL);
	region->list = kcalloc(count, sizeof(*region->list), GFP_KERNEL);
	if (!region->memory || !region->list)
		goto err_free;
	region->mr = ib_alloc_mr(pair->pd, IB_MR_TYPE_SG_GAPS, count);
	err = PTR_ERR_OR_ZERO(region->mr);
	if (err)
		goto err_free;
	set_elements(region);
	err = region_map(region);
	if (!err)
		return 0;

	ib_dereg_mr(region->mr);
err_free:
	kfree(region->list);
	kfree(region->memory);
	return err;
}

void region_end(struct region *region)
{
	ib_drain_qp(region->pair->a.qp);
	ib_drain_qp(region->pair->b.qp);
	region_unmap(region);
	ib_dereg_mr(region->mr);
	kfree(region->list);
	kfree(region->memory);
}

int region_set(struct region *region, unsigned int skip)
{
	u32 bytes = region->bytes - skip;
	int took;

	took = ib_map_mr_sg(region->mr, region->list, region->pieces, &skip, PAGE_SIZE);
	if (took == region->pieces && region->mr->length == bytes)
		return 0;
	pr_err("ktest: %d of %d pieces, %llu of %u octets\n", took, region->pieces,
	       (u64)region->mr->length, bytes);
	return -EIO;
}

int region_register(struct region *region, int access, enum ib_wc_status status)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = region->mr,
		.access = access,
	};
	struct work work;

	ib_update_fast_reg_key(region->mr, ib_inc_rkey(region->mr->rkey));
	wr.key = region->mr->rkey;
	return post_wr(region->owner, &work, &wr.wr) ?:
		       await_op(region->owner, &work, status, IB_WC_REG_MR);
}

int region_invalidate(struct end *end, u32 rkey, enum ib_wc_status status)
{
	struct ib_send_wr wr = { .opcode = IB_WR_LOCAL_INV, .ex.invalidate_rkey = rkey };
	struct work work;

	return post_wr(end, &work, &wr) ?: await_op(end, &work, status, IB_WC_LOCAL_INV);
}

int region_rdma(struct region *region, enum ib_wr_opcode opcode, u32 rkey, u64 at,
		const struct buffer *buffer, enum ib_wc_status status)
{
	struct ib_sge sge = {
		.addr = buffer->addr,
		.length = buffer->bytes,
		.lkey = region->pair->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.opcode = opcode,
			.sg_list = &sge,
			.num_sge = 1,
		},
		.remote_addr = region->mr->iova + at,
		.rkey = rkey,
	};
	struct work work;

	return post_wr(&region->pair->a, &work, &wr.wr) ?: await(&region->pair->a, &work, status);
}

int region_compare(const struct region *region, unsigned int skip, const u8 *want, u32 bytes)
{
	struct scatterlist *sg;
	u8 *got;
	int i, err;

	got = kmalloc(bytes, GFP_KERNEL);
	if (!got)
		return -ENOMEM;
	sg = region->list;
	i = sg_pcopy_to_buffer(sg, region->count, got, bytes, skip);
	err = i == bytes && !memcmp(got, want, bytes) ? 0 : -EIO;
	if (err)
		pr_err("ktest: the region is not as it was written\n");
	kfree(got);
	return err;
}

int buffer_make(struct buffer *buffer, struct pair *pair, u32 bytes)
{
	buffer->bytes = bytes;
	buffer->memory = kmalloc(bytes, GFP_KERNEL);
	if (!buffer->memory)
		return -ENOMEM;
	get_random_bytes(buffer->memory, bytes);
	buffer->addr = ib_dma_map_single(pair->dev, buffer->memory, bytes, DMA_BIDIRECTIONAL);
	if (!ib_dma_mapping_error(pair->dev, buffer->addr))
		return 0;
	kfree(buffer->memory);
	buffer->memory = NULL;
	return -ENOMEM;
}

void buffer_end(struct buffer *buffer, struct pair *pair)
{
	ib_dma_unmap_single(pair->dev, buffer->addr, buffer->bytes, DMA_BIDIRECTIONAL);
	kfree(buffer->memory);
}

int with_both(struct ib_device *dev, int count, bool apart,
	      int (*run)(struct region *region, const struct buffer *buffer, const void *arg),
	      const void *arg)
{
	struct buffer buffer = {};
	struct region region;
	struct pair pair;
	int err;

	err = pair_make(&pair, dev, IB_QPT_RC, IB_POLL_DIRECT);
	if (err)
		return err;
	err = region_make(&region, &pair, count, apart);
	if (err)
		goto end_pair;
	err = buffer_make(&buffer, &pair, SMALL);
	if (!err)
		err = run(&region, &buffer, arg);
	region_end(&region);
	if (buffer.memory)
		buffer_end(&buffer, &pair);
end_pair:
	pair_end(&pair);
	return err;
}
