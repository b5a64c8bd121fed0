// SPDX-License-Identifier: GPL-2.0
/*
 * late.c - consumers that count on coherent memory: they fill a buffer when it is mapped already,
 * and look for a message in one that is mapped still.
 */
#include <linux/dma-mapping.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "region.h"

#define SIZE (5 * PAGE_SIZE)

/* What a message is received by, and never copied. */
struct sink {
	u8 *memory;
	dma_addr_t addr;
};

static int make_rc(struct pair *pair, struct ib_device *dev)
{
	return pair_make(pair, dev, IB_QPT_RC, IB_POLL_DIRECT);
}

static int make_srq(struct pair *pair, struct ib_device *dev)
{
	return pair_make_srq(pair, dev, IB_POLL_DIRECT);
}

static int make_ud(struct pair *pair, struct ib_device *dev)
{
	return pair_make(pair, dev, IB_QPT_UD, IB_POLL_DIRECT);
}

static int with_sink(struct ib_device *dev, int (*make)(struct pair *pair, struct ib_device *dev),
		     int (*run)(struct pair *pair, const struct sink *sink))
{
	struct sink sink;
	struct pair pair;
	int err;

	err = make(&pair, dev);
	if (err)
		return err;
	sink.memory = dma_alloc_coherent(dev->dma_device, SIZE, &sink.addr, GFP_KERNEL);
	err = -ENOMEM;
	if (sink.memory) {
		err = run(&pair, &sink);
		dma_free_coherent(dev->dma_device, SIZE, sink.memory, sink.addr);
	}
	pair_end(&pair);
	return err;
}

/* A part of what is mapped at addr, which is at want by now */
static int send_part(struct pair *pair, const struct sink *sink, u64 addr, const u8 *want, u32 at,
		     u32 bytes)
{
	return send_mapped(pair, addr + at, sink->addr, bytes, bytes, 0) ?:
		       compare(want + at, sink->memory, bytes, "late message");
}

static int send_page(struct pair *pair, const struct sink *sink)
{
	struct ib_device *dev = pair->dev;
	u32 bytes = SIZE - 700;
	u8 *memory;
	int err;
	u64 addr;

	memory = kzalloc(SIZE, GFP_KERNEL);
	if (!memory)
		return -ENOMEM;
	addr = ib_dma_map_single(dev, memory + 3, bytes, DMA_TO_DEVICE);
	err = ib_dma_mapping_error(dev, addr);
	if (!err) {
		get_random_bytes(memory, SIZE);
		err = send_part(pair, sink, addr, memory + 3, 0, bytes);
		/* Once more, and from within a granule of the pool to within another */
		get_random_bytes(memory, SIZE);
		if (!err)
			err = send_part(pair, sink, addr, memory + 3, 1500, 2001) ?:
				      send_part(pair, sink, addr, memory + 3, bytes - 1, 1);
		ib_dma_unmap_single(dev, addr, bytes, DMA_TO_DEVICE);
	}
	kfree(memory);
	return err;
}

/* Elements that share granules, and elements of several */
static const u32 lengths[] = { 1, 7, 1023, 1024, 1025, 3, 3000, 500, 1, 2048, 2047, 600 };

static u32 set_list(struct scatterlist *list, u8 *memory)
{
	u32 bytes = 0;
	int i;

	sg_init_table(list, ARRAY_SIZE(lengths));
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		sg_set_buf(&list[i], memory + i * PAGE_SIZE + 5 * i, lengths[i]);
		bytes += lengths[i];
	}
	return bytes;
}

static int send_filled(struct pair *pair, const struct sink *sink, struct scatterlist *list,
		       u32 bytes)
{
	u64 addr = sg_dma_address(list);
	u8 *want;
	int err;

	want = kmalloc(bytes, GFP_KERNEL);
	if (!want)
		return -ENOMEM;
	get_random_bytes(want, bytes);
	sg_copy_from_buffer(list, ARRAY_SIZE(lengths), want, bytes);
	err = send_part(pair, sink, addr, want, 0, bytes)           ?:
		      send_part(pair, sink, addr, want, 4, 1030)    ?:
		      send_part(pair, sink, addr, want, 3090, 2900) ?:
		      send_part(pair, sink, addr, want, bytes - 10, 10);
	kfree(want);
	return err;
}

static int send_list(struct pair *pair, const struct sink *sink)
{
	struct scatterlist list[ARRAY_SIZE(lengths)];
	struct ib_device *dev = pair->dev;
	int pieces, err = -ENOMEM;
	u32 bytes;
	u8 *memory;

	memory = kzalloc(ARRAY_SIZE(lengths) * PAGE_SIZE, GFP_KERNEL);
	if (!memory)
		return err;
	bytes = set_list(list, memory);
	pieces = ib_dma_map_sg(dev, list, ARRAY_SIZE(lengths), DMA_TO_DEVICE);
	if (pieces) {
		err = pieces == 1 ? send_filled(pair, sink, list, bytes) : -EIO;
		ib_dma_unmap_sg(dev, list, ARRAY_SIZE(lengths), DMA_TO_DEVICE);
	}
	kfree(memory);
	return err;
}

/* The other end reads what was written before it was registered. */
static int read_region(struct region *region, const struct buffer *buffer, const void *arg)
{
	struct ib_device *dev = region->pair->dev;
	u8 *want;
	int err;

	region_unmap(region);
	region->direction = DMA_TO_DEVICE;
	err = region_map(region);
	if (err)
		return err;
	want = kmalloc(SMALL, GFP_KERNEL);
	if (!want)
		return -ENOMEM;
	get_random_bytes(want, SMALL);
	sg_copy_from_buffer(region->list, region->count, want, SMALL);
	err = region_set(region, 0)                                      ?:
		      region_register(region, REGION_ALL, IB_WC_SUCCESS) ?:
		      region_rdma(region, IB_WR_RDMA_READ, region->mr->rkey, 0, buffer,
				  IB_WC_SUCCESS);
	ib_dma_sync_single_for_cpu(dev, buffer->addr, SMALL, DMA_BIDIRECTIONAL);
	if (!err)
		err = compare(want, buffer->memory, SMALL, "late region");
	kfree(want);
	return err;
}

int case_late_region(struct ib_device *dev)
{
	return with_both(dev, 3, false, read_region, NULL) ?:
		       with_both(dev, 20, true, read_region, NULL);
}

/* What the other end has written is sent on from where it is: nothing is copied over it. */
static int send_on(struct region *region, const struct buffer *buffer, const void *arg)
{
	struct ib_device *dev = region->pair->dev;
	dma_addr_t addr;
	u8 *sink;
	int err;

	sink = dma_alloc_coherent(dev->dma_device, SMALL, &addr, GFP_KERNEL);
	if (!sink)
		return -ENOMEM;
	err = region_set(region, 0);
	if (!err)
		err = region_register(region, REGION_ALL, IB_WC_SUCCESS);
	if (!err)
		err = region_rdma(region, IB_WR_RDMA_WRITE, region->mr->rkey, 0, buffer,
				  IB_WC_SUCCESS);
	if (!err)
		err = send_mapped(region->pair, sg_dma_address(region->list), addr, SMALL, SMALL,
				  0);
	if (!err)
		err = compare(buffer->memory, sink, SMALL, "message that is sent on");
	dma_free_coherent(dev->dma_device, SMALL, sink, addr);
	return err;
}

int case_late_sent_on(struct ib_device *dev)
{
	return with_both(dev, 3, false, send_on, NULL);
}

#define BEFORE 64

/* Maps so much, and unmaps it again. */
static int map_before(struct ib_device *dev, u8 *memory, u64 *addr)
{
	int i, err = 0;

	for (i = 0; !err && i < BEFORE; i++) {
		addr[i] = ib_dma_map_single(dev, memory, PAGE_SIZE, DMA_TO_DEVICE);
		err = ib_dma_mapping_error(dev, addr[i]);
	}
	if (err)
		i--;
	while (i--)
		ib_dma_unmap_single(dev, addr[i], PAGE_SIZE, DMA_TO_DEVICE);
	return err;
}

/* Coherent memory, where mappings were before */
static int send_coherent(struct pair *pair, const struct sink *sink)
{
	struct ib_device *dev = pair->dev;
	u64 before[BEFORE];
	dma_addr_t addr;
	int i, same = 0, err;
	u8 *memory, *coherent;

	memory = kzalloc(PAGE_SIZE, GFP_KERNEL);
	if (!memory)
		return -ENOMEM;
	err = map_before(dev, memory, before);
	coherent = dma_alloc_coherent(dev->dma_device, SIZE, &addr, GFP_KERNEL);
	if (!err)
		err = coherent ? 0 : -ENOMEM;
	for (i = 0; !err && i < BEFORE; i++)
		same += before[i] >= addr && before[i] < addr + SIZE;
	if (!err && !same) {
		pr_err("ktest: the pool has given other memory\n");
		err = -EIO;
	}
	if (!err) {
		get_random_bytes(coherent, SIZE);
		err = send_part(pair, sink, addr, coherent, 0, SIZE);
	}
	if (coherent)
		dma_free_coherent(dev->dma_device, SIZE, coherent, addr);
	kfree(memory);
	return err;
}

#define GRH 40
#define HEAD 64

/* Messages to a buffer that stays mapped. What is behind them is as before. */
static int receive_mapped(struct pair *pair, u8 *memory, u64 addr, const struct sink *source)
{
	static const u32 lengths[] = { 100, 1000, 600 };
	u32 grh = pair->a.qp->qp_type == IB_QPT_UD ? GRH : 0;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(lengths); i++) {
		get_random_bytes(source->memory, lengths[i]);
		memset(memory, 0x5a, SMALL);
		err = send_mapped(pair, source->addr, addr + 30, lengths[i], 1000 + grh, grh) ?:
			      compare(source->memory, memory + 30 + grh, lengths[i],
				      "message to what is mapped");
		if (!err && memchr_inv(memory + 30 + grh + lengths[i], 0x5a, 500)) {
			pr_err("ktest: what is behind the message has changed\n");
			err = -EIO;
		}
	}
	return err;
}

/* One message with two places: as the NVMe target receives a command, and data with it. */
static int receive_parts(struct pair *pair, u8 *memory, u64 addr, const struct sink *source)
{
	u32 lkey = pair->pd->local_dma_lkey, bytes = HEAD + 1500;
	struct ib_sge sges[] = {
		{ .addr = addr + 1, .length = HEAD, .lkey = lkey },
		{ .addr = addr + PAGE_SIZE, .length = PAGE_SIZE, .lkey = lkey },
	};
	struct ib_recv_wr wr = { .sg_list = sges, .num_sge = ARRAY_SIZE(sges) };
	struct work sent, received;
	int err;

	get_random_bytes(source->memory, bytes);
	err = post_recv_wr(&pair->b, &received, &wr) ?:
		      post_send(&pair->a, &sent, source->addr, bytes, lkey);
	if (err)
		return err;
	err = await(&pair->a, &sent, IB_WC_SUCCESS) ?: await(&pair->b, &received, IB_WC_SUCCESS);
	if (err) {
		ib_drain_qp(pair->a.qp);
		ib_drain_qp(pair->b.qp);
		return err;
	}
	return compare(source->memory, memory + 1, HEAD, "first part") ?:
		       compare(source->memory + HEAD, memory + PAGE_SIZE, bytes - HEAD,
			       "second part");
}

static int receive_late(struct pair *pair, const struct sink *source)
{
	struct ib_device *dev = pair->dev;
	int err = -ENOMEM;
	u8 *memory;
	u64 addr;

	memory = kzalloc(SIZE, GFP_KERNEL);
	if (!memory)
		return err;
	addr = ib_dma_map_single(dev, memory, SIZE, DMA_FROM_DEVICE);
	if (!ib_dma_mapping_error(dev, addr)) {
		err = receive_mapped(pair, memory, addr, source);
		if (!err && pair->a.qp->qp_type == IB_QPT_RC)
			err = receive_parts(pair, memory, addr, source);
		ib_dma_unmap_single(dev, addr, SIZE, DMA_FROM_DEVICE);
	}
	kfree(memory);
	return err;
}

static int all_by_rc(struct pair *pair, const struct sink *sink)
{
	int err = send_page(pair, sink);

	if (!err)
		err = send_list(pair, sink);
	if (!err)
		err = send_coherent(pair, sink);
	if (!err)
		err = receive_late(pair, sink);
	return err;
}

int case_late_rc(struct ib_device *dev)
{
	return with_sink(dev, make_rc, all_by_rc);
}

int case_late_srq(struct ib_device *dev)
{
	return with_sink(dev, make_srq, receive_late);
}

int case_late_ud(struct ib_device *dev)
{
	return with_sink(dev, make_ud, receive_late);
}
