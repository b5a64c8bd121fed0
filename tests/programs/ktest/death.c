// SPDX-License-Identifier: GPL-2.0
/*
 * death.c - traffic that goes on while the device goes: each WR that was posted completes, as done
 * or as flushed, and nothing waits for ever.
 */
#include <linux/dma-mapping.h>
#include <linux/kthread.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "region.h"

#define IDLE 8

struct load {
	struct pair pair;
	struct pair shared;   /* has an SRQ */
	struct region region; /* is registered all the time */
	struct task_struct *thread;
	struct work works[2];
	struct work idle[IDLE]; /* receives that nothing comes for */
	void *memory;
	dma_addr_t addr;
	unsigned int rounds;
};

static struct load *load;

/* It has completed, however. */
static bool collect(struct work *work)
{
	if (wait_for_completion_timeout(&work->done, PATIENCE))
		return true;
	pr_err("ktest: a WR has not completed\n");
	return false;
}

static bool send_one(struct load *load)
{
	struct work *received = &load->works[0], *sent = &load->works[1];
	u32 lkey = load->pair.pd->local_dma_lkey;
	bool ok;

	if (post_recv(&load->pair.b, received, load->addr + 2048, 2048, lkey))
		return false;
	ok = !post_send(&load->pair.a, sent, load->addr, 2048, lkey) && collect(sent) &&
	     sent->status == IB_WC_SUCCESS;
	if (!ok)
		ib_drain_qp(load->pair.b.qp);
	ok &= collect(received) && received->status == IB_WC_SUCCESS;
	load->rounds += ok;
	return ok;
}

static int work_until_told(void *arg)
{
	struct load *load = arg;

	while (!kthread_should_stop() && send_one(load))
		cond_resched();
	pr_info("ktest: traffic ended after %u rounds, statuses %u, %u\n", load->rounds,
		load->works[0].status, load->works[1].status);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 10);
	return 0;
}

static int post_idle(struct load *load)
{
	u32 lkey = load->pair.pd->local_dma_lkey;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < IDLE; i++)
		err = post_recv(&load->pair.a, &load->idle[i], load->addr, 2048, lkey);
	return err;
}

/* The queues are drained: all of them are flushed. */
static void check_idle(struct load *load)
{
	unsigned int i;

	for (i = 0; i < IDLE; i++) {
		if (!completion_done(&load->idle[i].done) ||
		    load->idle[i].status != IB_WC_WR_FLUSH_ERR)
			pr_err("ktest: a receive is not flushed\n");
	}
}

/* A consumer that maps memory goes on, and what it posts is flushed. */
static void check_post(struct load *load, u64 addr, u32 bytes)
{
	u32 lkey = load->pair.pd->local_dma_lkey;
	struct work *work = &load->works[0];
	struct end *end = &load->pair.a;

	if (post_send(end, work, addr, bytes, lkey) || await(end, work, IB_WC_WR_FLUSH_ERR))
		pr_err("ktest: a WR is not flushed\n");
	if (post_recv(end, work, addr, bytes, lkey) || await(end, work, IB_WC_WR_FLUSH_ERR))
		pr_err("ktest: a receive is not flushed\n");
}

static void check_list(struct load *load)
{
	struct ib_device *dev = load->pair.dev;
	struct scatterlist list[2];
	void *memory;

	memory = (void *)__get_free_pages(GFP_KERNEL, 1);
	if (!memory)
		return;
	sg_init_table(list, ARRAY_SIZE(list));
	sg_set_buf(&list[0], memory, PAGE_SIZE);
	sg_set_buf(&list[1], memory + PAGE_SIZE, PAGE_SIZE / 2);
	if (ib_dma_map_sg(dev, list, ARRAY_SIZE(list), DMA_FROM_DEVICE) != 1 ||
	    sg_dma_len(list) != PAGE_SIZE * 3 / 2) {
		pr_err("ktest: a list is not mapped\n");
	} else {
		check_post(load, sg_dma_address(list), sg_dma_len(list));
		ib_dma_unmap_sg(dev, list, ARRAY_SIZE(list), DMA_FROM_DEVICE);
	}
	free_pages((unsigned long)memory, 1);
}

/* Not even its own data comes back from there. */
static void check_mapping(struct load *load)
{
	struct ib_device *dev = load->pair.dev;
	u32 bytes = PAGE_SIZE;
	u8 *memory;
	u64 addr;

	memory = kmalloc(bytes, GFP_KERNEL);
	if (!memory)
		return;
	memset(memory, 0x5a, bytes);
	addr = ib_dma_map_single(dev, memory, bytes, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(dev, addr)) {
		pr_err("ktest: memory is not mapped\n");
	} else {
		check_post(load, addr, bytes);
		check_post(load, addr + bytes / 2, bytes / 2);
		ib_dma_sync_single_for_device(dev, addr, bytes, DMA_BIDIRECTIONAL);
		ib_dma_sync_single_for_cpu(dev, addr + 8, bytes - 8, DMA_BIDIRECTIONAL);
		ib_dma_unmap_single(dev, addr, bytes, DMA_BIDIRECTIONAL);
	}
	if (memchr_inv(memory, 0x5a, bytes))
		pr_err("ktest: memory does not stay as it was\n");
	kfree(memory);
}

int death_start(struct ib_device *dev)
{
	struct load *new;
	int err = -ENOMEM;

	if (load)
		return -EBUSY;
	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return err;
	err = pair_make(&new->pair, dev, IB_QPT_RC, IB_POLL_WORKQUEUE);
	if (err)
		goto err_free;
	new->memory = dma_alloc_coherent(dev->dma_device, PAGE_SIZE, &new->addr, GFP_KERNEL);
	err = -ENOMEM;
	if (!new->memory)
		goto err_pair;
	err = pair_make_srq(&new->shared, dev, IB_POLL_WORKQUEUE);
	if (err)
		goto err_memory;
	err = region_make(&new->region, &new->pair, 20, true);
	if (err)
		goto err_shared;
	err = region_set(&new->region, 0)                                      ?:
		      region_register(&new->region, REGION_ALL, IB_WC_SUCCESS) ?:
										 post_idle(new);
	if (err)
		goto err_region;
	new->thread = kthread_run(work_until_told, new, "ktest");
	if (IS_ERR(new->thread)) {
		err = PTR_ERR(new->thread);
		goto err_region;
	}
	load = new;
	return 0;

err_region:
	region_end(&new->region);
err_shared:
	pair_end(&new->shared);

err_memory:
	ib_drain_qp(new->pair.a.qp);
	dma_free_coherent(dev->dma_device, PAGE_SIZE, new->memory, new->addr);
err_pair:
	pair_end(&new->pair);
err_free:
	kfree(new);
	return err;
}

void death_end(struct ib_device *dev)
{
	if (!load)
		return;
	kthread_stop(load->thread);
	/* Registering is flushed, as all that is posted. */
	ib_drain_qp(load->pair.b.qp);
	if (region_register(&load->region, REGION_ALL, IB_WC_WR_FLUSH_ERR))
		pr_err("ktest: a region is not flushed\n");
	region_end(&load->region);
	check_mapping(load);
	check_list(load);
	pair_end(&load->pair);
	check_idle(load);
	pair_end(&load->shared);
	if (!load->shared.b.last_wqe)
		pr_err("ktest: the last WQE of the SRQ is not told of\n");
	dma_free_coherent(dev->dma_device, PAGE_SIZE, load->memory, load->addr);
	pr_info("ktest: nothing is left\n");
	kfree(load);
	load = NULL;
}
