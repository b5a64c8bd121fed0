// SPDX-License-Identifier: GPL-2.0
/*
 * traffic.c - the cases that send, and look at what has come.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "ktest.h"

#define GRH 40 /* what a datagram has before its data */
#define LARGEST SZ_64K

int compare(const u8 *want, const u8 *got, size_t length, const char *what)
{
	size_t i;

	for (i = 0; i < length; i++) {
		if (want[i] == got[i])
			continue;
		pr_err("ktest: %s of %zu: octet %zu is %#x instead of %#x\n", what, length, i,
		       got[i], want[i]);
		return -EIO;
	}
	return 0;
}

int send_mapped(struct pair *pair, u64 from, u64 to, u32 length, u32 room, u32 grh)
{
	u32 lkey = pair->pd->local_dma_lkey;
	struct work sent, received;
	int err;

	err = post_recv(&pair->b, &received, to, room, lkey);
	if (err)
		return err;
	err = post_send(&pair->a, &sent, from, length, lkey);
	if (err) {
		pr_err("ktest: posting: %d\n", err);
		ib_drain_qp(pair->b.qp);
		return err;
	}
	err = await(&pair->a, &sent, IB_WC_SUCCESS);
	if (!err)
		err = await(&pair->b, &received, IB_WC_SUCCESS);
	if (!err && received.bytes != length + grh) {
		pr_err("ktest: %u octets instead of %u\n", received.bytes, length + grh);
		err = -EIO;
	}
	/* What is on the stack is not to be told of later. */
	if (err) {
		ib_drain_qp(pair->a.qp);
		ib_drain_qp(pair->b.qp);
	}
	return err;
}

/* What is behind the message in the receiver's buffer is as before. */
static int check(const u8 *from, const u8 *to, u32 length, u32 grh)
{
	int err;

	err = compare(from, to + grh, length, "message");
	if (!err && to[grh + length] != 0x5a) {
		pr_err("ktest: what is behind the message has changed\n");
		err = -EIO;
	}
	return err;
}

static int send_one(struct pair *pair, u8 *from, u8 *to, u32 length)
{
	u32 grh = pair->a.qp->qp_type == IB_QPT_UD ? GRH : 0;
	u32 room = length + grh + 1;
	struct ib_device *dev = pair->dev;
	u64 source, target;
	int err = -ENOMEM;

	get_random_bytes(from, length);
	memset(to, 0x5a, room);
	source = ib_dma_map_single(dev, from, length, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(dev, source))
		return err;
	target = ib_dma_map_single(dev, to, room, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(dev, target))
		goto unmap;
	err = send_mapped(pair, source, target, length, room, grh);
	ib_dma_unmap_single(dev, target, room, DMA_FROM_DEVICE);
	if (!err)
		err = check(from, to, length, grh);
unmap:
	ib_dma_unmap_single(dev, source, length, DMA_TO_DEVICE);
	return err;
}

/* rounds messages of a pair that has just been made, and its end */
static int send_sizes_and_end(struct pair *pair, u32 largest, unsigned int rounds)
{
	unsigned int i;
	u8 *from, *to;
	u32 length;
	int err = 0;

	from = kmalloc(largest, GFP_KERNEL);
	to = kmalloc(largest + GRH + 1, GFP_KERNEL);
	if (!from || !to)
		err = -ENOMEM;
	for (i = 0; !err && i < rounds; i++) {
		length = i % 8 ? 1 + get_random_u32_below(largest) : largest;
		err = send_one(pair, from, to, length);
	}
	kfree(to);
	kfree(from);
	pair_end(pair);
	return err;
}

static int send_sizes(struct ib_device *dev, enum ib_qp_type type, enum ib_poll_context context,
		      u32 largest, unsigned int rounds)
{
	struct pair pair;

	return pair_make(&pair, dev, type, context) ?: send_sizes_and_end(&pair, largest, rounds);
}

/* By a shared receive queue; whoever has drained the QP has heard that nothing of it comes. */
int case_srq(struct ib_device *dev)
{
	struct pair pair;
	int err;

	err = pair_make_srq(&pair, dev, IB_POLL_DIRECT) ?: send_sizes_and_end(&pair, LARGEST, 100);
	if (!err && !pair.b.last_wqe) {
		pr_err("ktest: the last WQE of the SRQ is not told of\n");
		err = -EIO;
	}
	return err;
}

int case_rc_send(struct ib_device *dev)
{
	return send_sizes(dev, IB_QPT_RC, IB_POLL_DIRECT, LARGEST, 100);
}

/* The CQ's consumer sleeps until it is told. */
int case_rc_event(struct ib_device *dev)
{
	return send_sizes(dev, IB_QPT_RC, IB_POLL_WORKQUEUE, LARGEST, 50) ?:
		       send_sizes(dev, IB_QPT_RC, IB_POLL_SOFTIRQ, 4096, 50);
}

int case_ud_send(struct ib_device *dev)
{
	return send_sizes(dev, IB_QPT_UD, IB_POLL_DIRECT, 1024, 100);
}

#define ELEMENTS 5

static int send_list(struct pair *pair, struct scatterlist *from, struct scatterlist *to)
{
	struct ib_device *dev = pair->dev;
	int err = -ENOMEM;

	if (!ib_dma_map_sg(dev, from, ELEMENTS, DMA_TO_DEVICE))
		return err;
	if (!ib_dma_map_sg(dev, to, ELEMENTS, DMA_FROM_DEVICE))
		goto unmap;
	err = send_mapped(pair, sg_dma_address(from), sg_dma_address(to), sg_dma_len(from),
			  sg_dma_len(to), 0);
	ib_dma_unmap_sg(dev, to, ELEMENTS, DMA_FROM_DEVICE);
unmap:
	ib_dma_unmap_sg(dev, from, ELEMENTS, DMA_TO_DEVICE);
	return err;
}

/* Lists: parts of pages, which are in one piece for the HCA. */
int case_rc_list(struct ib_device *dev)
{
	u32 size = ELEMENTS * PAGE_SIZE, part = 3000, at = 100;
	struct scatterlist from[ELEMENTS], to[ELEMENTS];
	struct pair pair;
	u8 *source, *target;
	unsigned int i;
	int err;

	err = pair_make(&pair, dev, IB_QPT_RC, IB_POLL_DIRECT);
	if (err)
		return err;
	source = kzalloc(size, GFP_KERNEL);
	target = kzalloc(size, GFP_KERNEL);
	err = -ENOMEM;
	if (!source || !target)
		goto out;
	sg_init_table(from, ELEMENTS);
	sg_init_table(to, ELEMENTS);
	for (i = 0; i < ELEMENTS; i++) {
		get_random_bytes(source + i * PAGE_SIZE + at, part);
		sg_set_buf(&from[i], source + i * PAGE_SIZE + at, part);
		sg_set_buf(&to[i], target + i * PAGE_SIZE + at, part);
	}
	err = send_list(&pair, from, to);
	if (!err)
		err = compare(source, target, size, "list");
out:
	kfree(target);
	kfree(source);
	pair_end(&pair);
	return err;
}

/* Drained, everything that was posted has completed, as flushed. */
int case_drain(struct ib_device *dev)
{
	struct work *works;
	struct pair pair;
	unsigned int i;
	dma_addr_t addr;
	void *memory;
	int err;

	err = pair_make(&pair, dev, IB_QPT_RC, IB_POLL_WORKQUEUE);
	if (err)
		return err;
	works = kcalloc(DEPTH, sizeof(*works), GFP_KERNEL);
	memory = dma_alloc_coherent(dev->dma_device, PAGE_SIZE, &addr, GFP_KERNEL);
	err = works && memory ? 0 : -ENOMEM;
	for (i = 0; !err && i < DEPTH; i++)
		err = post_recv(&pair.a, &works[i], addr, PAGE_SIZE, pair.pd->local_dma_lkey);
	ib_drain_qp(pair.a.qp);
	while (!err && i--) {
		if (!completion_done(&works[i].done) || works[i].status != IB_WC_WR_FLUSH_ERR)
			err = -EIO;
	}
	if (memory)
		dma_free_coherent(dev->dma_device, PAGE_SIZE, memory, addr);
	kfree(works);
	pair_end(&pair);
	return err;
}

static int is_refused(struct pair *pair, u64 addr, u32 lkey)
{
	struct work work;

	if (post_send(&pair->a, &work, addr, 8, lkey) != -EINVAL ||
	    post_recv(&pair->a, &work, addr, 8, lkey) != -EINVAL) {
		pr_err("ktest: address %#llx with key %#x is not refused\n", addr, lkey);
		return -EIO;
	}
	return 0;
}

/* Nothing but the pool is taken, and by no other key. */
int case_outside(struct ib_device *dev)
{
	struct pair pair;
	dma_addr_t addr;
	void *memory;
	u32 lkey;
	int err;

	err = pair_make(&pair, dev, IB_QPT_RC, IB_POLL_DIRECT);
	if (err)
		return err;
	lkey = pair.pd->local_dma_lkey;
	memory = dma_alloc_coherent(dev->dma_device, PAGE_SIZE, &addr, GFP_KERNEL);
	err = memory ? 0 : -ENOMEM;
	if (!err)
		err = is_refused(&pair, 0, lkey) ?: is_refused(&pair, (uintptr_t)memory, lkey);
	if (!err)
		err = is_refused(&pair, virt_to_phys(&pair), lkey) ?:
			      is_refused(&pair, addr, lkey + 1);
	/* In the address space of the pool, where no segment is. */
	if (!err)
		err = is_refused(&pair, addr + SZ_512M, lkey);
	if (memory)
		dma_free_coherent(dev->dma_device, PAGE_SIZE, memory, addr);
	pair_end(&pair);
	return err;
}

/* Pairs beside each other. */
int case_many(struct ib_device *dev)
{
	struct pair *pairs;
	unsigned int i, made;
	int err = 0;
	u8 *memory;

	pairs = kcalloc(8, sizeof(*pairs), GFP_KERNEL);
	memory = kmalloc(2 * LARGEST + 1, GFP_KERNEL);
	if (!pairs || !memory)
		err = -ENOMEM;
	for (made = 0; !err && made < 8; made++) {
		err = pair_make(&pairs[made], dev, IB_QPT_RC, IB_POLL_WORKQUEUE);
		if (err)
			break;
	}
	for (i = 0; !err && i < 64; i++)
		err = send_one(&pairs[i % 8], memory, memory + LARGEST, LARGEST);
	while (made--)
		pair_end(&pairs[made]);
	kfree(memory);
	kfree(pairs);
	return err;
}

/* Memory that both use is aligned to its size, wherever there is room. */
int case_coherent(struct ib_device *dev)
{
	static const size_t sizes[] = { 100, PAGE_SIZE, 3 * PAGE_SIZE, SZ_64K };
	dma_addr_t addr[ARRAY_SIZE(sizes)], in_the_way;
	void *memory[ARRAY_SIZE(sizes)];
	struct pair pair;
	unsigned int i;
	u8 *small;
	int err;

	err = pair_make(&pair, dev, IB_QPT_RC, IB_POLL_DIRECT);
	if (err)
		return err;
	small = kzalloc(16, GFP_KERNEL);
	in_the_way = ib_dma_map_single(dev, small, 16, DMA_TO_DEVICE);
	if (!small || ib_dma_mapping_error(dev, in_the_way))
		err = -ENOMEM;
	for (i = 0; !err && i < ARRAY_SIZE(sizes); i++) {
		memory[i] = dma_alloc_coherent(dev->dma_device, sizes[i], &addr[i], GFP_KERNEL);
		if (!memory[i]) {
			err = -ENOMEM;
			break;
		}
		if (!IS_ALIGNED(addr[i], PAGE_SIZE << get_order(sizes[i])) ||
		    !PAGE_ALIGNED(memory[i])) {
			pr_err("ktest: %zu octets at %#llx, %p\n", sizes[i], addr[i], memory[i]);
			err = -EIO;
		}
	}
	while (i--)
		dma_free_coherent(dev->dma_device, sizes[i], memory[i], addr[i]);
	if (!ib_dma_mapping_error(dev, in_the_way))
		ib_dma_unmap_single(dev, in_the_way, 16, DMA_TO_DEVICE);
	kfree(small);
	pair_end(&pair);
	return err;
}

#define PIECES 12
#define PIECE SZ_1M

/* A piece of the pool, which may have to grow for it meanwhile. */
static void *get_piece(struct ib_device *dev, dma_addr_t *addr)
{
	unsigned long until = jiffies + PATIENCE;
	void *piece;

	do {
		piece = dma_alloc_coherent(dev->dma_device, PIECE, addr, GFP_KERNEL | __GFP_NOWARN);
		if (piece)
			return piece;
		msleep(20);
	} while (time_before(jiffies, until));
	return NULL;
}

/* The first piece of the pool is sent to the last one, which it did not have at first. */
int case_grow(struct ib_device *dev)
{
	dma_addr_t addr[PIECES];
	void *piece[PIECES];
	struct pair pair;
	unsigned int i;
	int err;

	err = pair_make(&pair, dev, IB_QPT_RC, IB_POLL_DIRECT);
	if (err)
		return err;
	for (i = 0; !err && i < PIECES; i++) {
		piece[i] = get_piece(dev, &addr[i]);
		if (!piece[i]) {
			err = -ENOMEM;
			break;
		}
	}
	if (!err) {
		get_random_bytes(piece[0], PIECE);
		err = send_mapped(&pair, addr[0], addr[i - 1], PIECE, PIECE, 0) ?:
			      compare(piece[0], piece[i - 1], PIECE, "piece");
	}
	while (i--)
		dma_free_coherent(dev->dma_device, PIECE, piece[i], addr[i]);
	pair_end(&pair);
	return err;
}
