// SPDX-License-Identifier: GPL-2.0
/*
 * late_read.c - consumers that use what they have read by RDMA when it is there, and end its
 * mapping later.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "region.h"

#define SIZE (2 * PAGE_SIZE)
#define BEHIND 500

/* Where it is read to */
struct target {
	struct region *region;
	u8 *memory;
	u64 addr;
	u8 *want; /* what the region has */
};

static void not_wanted(struct ib_cq *cq, struct ib_wc *wc)
{
	pr_err("ktest: completion with status %u of a WR that wants none\n", wc->status);
}

static struct ib_cqe silent = { .done = not_wanted };

static void set_read(const struct target *target, struct ib_rdma_wr *wr, struct ib_sge *sges,
		     int count, u64 at)
{
	int i;

	for (i = 0; i < count; i++)
		sges[i].lkey = target->region->pair->pd->local_dma_lkey;
	*wr = (struct ib_rdma_wr){
		.wr = {
			.wr_cqe = &silent,
			.opcode = IB_WR_RDMA_READ,
			.sg_list = sges,
			.num_sge = count,
		},
		.remote_addr = target->region->mr->iova + at,
		.rkey = target->region->mr->rkey,
	};
}

/* The WR completes, and with it all that were posted before it. */
static int carry_out(const struct target *target, struct ib_send_wr *wr)
{
	struct end *end = &target->region->pair->a;
	struct work work;
	int err;

	err = post_wr(end, &work, wr) ?: await(end, &work, IB_WC_SUCCESS);
	if (err)
		ib_drain_qp(end->qp);
	return err;
}

/* At an offset there is what the region has at another, and behind it nothing has changed. */
static int check(const struct target *target, u32 offset, u64 at, u32 length, const char *what)
{
	int err = compare(target->want + at, target->memory + offset, length, what);

	if (!err && memchr_inv(target->memory + offset + length, 0x5a, BEHIND)) {
		pr_err("ktest: what is behind the %s has changed\n", what);
		err = -EIO;
	}
	return err;
}

static int read_parts(const struct target *target)
{
	struct ib_sge sges[] = {
		{ .addr = target->addr + 1, .length = 1500 },
		{ .addr = target->addr + PAGE_SIZE - 50, .length = 2500 },
	};
	struct ib_rdma_wr wr;

	memset(target->memory, 0x5a, SIZE);
	set_read(target, &wr, sges, ARRAY_SIZE(sges), 700);
	return carry_out(target, &wr.wr)                         ?:
		       check(target, 1, 700, 1500, "first part") ?:
		       check(target, PAGE_SIZE - 50, 2200, 2500, "second part");
}

/* It is told of by the completion of a WR behind it, which has no data. */
static int read_silently(const struct target *target)
{
	struct ib_qp *qp = target->region->pair->a.qp;
	struct ib_rdma_wr behind = { .wr.opcode = IB_WR_RDMA_WRITE };
	struct ib_sge sges[] = {
		{ .addr = target->addr + 10, .length = 1000 },
		{ .addr = target->addr + 3000, .length = 1100 },
	};
	struct ib_rdma_wr wrs[2];
	int err;

	memset(target->memory, 0x5a, SIZE);
	set_read(target, &wrs[0], &sges[0], 1, 0);
	set_read(target, &wrs[1], &sges[1], 1, 3000);
	wrs[0].wr.next = &wrs[1].wr;
	err = ib_post_send(qp, &wrs[0].wr, NULL);
	return err                                               ?:
		       carry_out(target, &behind.wr)             ?:
		       check(target, 10, 0, 1000, "silent read") ?:
		       check(target, 3000, 3000, 1100, "second silent read");
}

/* What was there before; as a number it is the same in both byte orders. */
static int add_late(const struct target *target)
{
	struct ib_sge sge = {
		.addr = target->addr + 64,
		.length = sizeof(u64),
		.lkey = target->region->pair->pd->local_dma_lkey,
	};
	struct ib_atomic_wr wr = {
		.wr = {
			.opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
			.sg_list = &sge,
			.num_sge = 1,
		},
		.remote_addr = target->region->mr->iova,
		.rkey = target->region->mr->rkey,
	};

	memset(target->memory, 0x5a, SIZE);
	return carry_out(target, &wr.wr) ?: check(target, 64, 0, sizeof(u64), "number");
}

static int read_all(struct region *region, struct target *target)
{
	int err;

	region_unmap(region);
	get_random_bytes(region->memory, region->count * PAGE_SIZE);
	memset(region->memory, get_random_u8() | 1, sizeof(u64));
	sg_copy_to_buffer(region->list, region->count, target->want, region->bytes);
	err = region_map(region) ?: region_set(region, 0);
	if (!err)
		err = region_register(region, REGION_ALL | IB_ACCESS_REMOTE_ATOMIC, IB_WC_SUCCESS);
	return err ?: read_parts(target) ?: read_silently(target) ?: add_late(target);
}

static int map_and_read(struct region *region, const struct buffer *buffer, const void *arg)
{
	struct target target = { .region = region };
	struct ib_device *dev = region->pair->dev;
	int err = -ENOMEM;

	target.memory = kzalloc(SIZE, GFP_KERNEL);
	target.want = kzalloc(region->bytes, GFP_KERNEL);
	if (target.memory && target.want) {
		target.addr = ib_dma_map_single(dev, target.memory, SIZE, DMA_FROM_DEVICE);
		err = ib_dma_mapping_error(dev, target.addr);
		if (!err) {
			err = read_all(region, &target);
			ib_dma_unmap_single(dev, target.addr, SIZE, DMA_FROM_DEVICE);
		}
	}
	kfree(target.want);
	kfree(target.memory);
	return err;
}

int case_late_read(struct ib_device *dev)
{
	return with_both(dev, 3, false, map_and_read, NULL);
}
