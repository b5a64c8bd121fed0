// SPDX-License-Identifier: GPL-2.0
/*
 * lie.c - completions that are not true. The CQ's memory is written by whoever has the HCA; here it
 * is written by the case, between the HCA and the poll.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>

#include "kernel/kverbs.h"
#include "ktest.h"

/* It has been written, and nobody has polled. */
static struct xenib_cqe *await_cqe(struct ib_cq *cq)
{
	struct xenib_cq_queue *q = &to_xcq(cq)->k->q;
	struct xenib_cqe *cqe = (struct xenib_cqe *)q->cqes + (q->next & q->mask);
	unsigned long until = jiffies + PATIENCE;
	u8 before = q->next & (q->mask + 1) ? 0 : XENIB_CQE_OWNER;

	while (time_before(jiffies, until)) {
		u8 own = READ_ONCE(cqe->op_own);

		if (own >> 4 != XENIB_CQE_INVALID && (own & XENIB_CQE_OWNER) != before)
			return cqe;
		usleep_range(500, 1000);
	}
	return NULL;
}

static int receive(struct pair *pair, u64 addr, u32 said, enum ib_wc_status status)
{
	u32 lkey = pair->pd->local_dma_lkey;
	struct work sent, received;
	struct xenib_cqe *cqe;
	int err;

	err = post_recv(&pair->b, &received, addr + 2048, 64, lkey) ?:
		      post_send(&pair->a, &sent, addr, 32, lkey);
	if (err)
		return err;
	cqe = await_cqe(pair->b.cq);
	if (cqe)
		cqe->byte_count = cpu_to_be32(said);
	err = await(&pair->a, &sent, IB_WC_SUCCESS) ?: await(&pair->b, &received, status);
	if (!err && !status && received.bytes != said)
		err = -EIO;
	return cqe ? err : -ETIMEDOUT;
}

/* A message has no more bytes than there is room for. */
int case_lie_length(struct ib_device *dev)
{
	struct pair pair;
	dma_addr_t addr;
	void *memory;
	int err;

	err = pair_make(&pair, dev, IB_QPT_RC, IB_POLL_DIRECT);
	if (err)
		return err;
	memory = dma_alloc_coherent(dev->dma_device, PAGE_SIZE, &addr, GFP_KERNEL);
	err = memory ? 0 : -ENOMEM;
	if (!err)
		err = receive(&pair, addr, 64, IB_WC_SUCCESS)             ?:
			      receive(&pair, addr, 65, IB_WC_LOC_LEN_ERR) ?:
			      receive(&pair, addr, U32_MAX, IB_WC_LOC_LEN_ERR);
	ib_drain_qp(pair.a.qp);
	ib_drain_qp(pair.b.qp);
	if (memory)
		dma_free_coherent(dev->dma_device, PAGE_SIZE, memory, addr);
	pair_end(&pair);
	return err;
}
