// SPDX-License-Identifier: GPL-2.0
/*
 * mem.c - regions: memory of a process, pinned, granted and offered to the backend.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "grant.h"
#include "mem.h"
#include "xenib.h"

/* MEM_ADDs on the way at once, of one region. */
#define ADD_DEPTH 8U

int xenib_region_pin(struct xenib_dev *dev, struct xenib_region *region, u64 addr, u64 length,
		     int access)
{
	struct ib_umem *umem;
	int err;

	umem = ib_umem_get(&dev->ibdev, addr, length, access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);

	region->refs = kvmalloc_array(ib_umem_num_pages(umem), sizeof(*region->refs), GFP_KERNEL);
	if (!region->refs) {
		err = -ENOMEM;
		goto err_unpin;
	}
	err = xenib_grants_make(umem, dev->xbdev->otherend_id, !umem->writable, region->refs);
	if (err)
		goto err_free;

	region->umem = umem;
	region->handle = XEN_VHCA_NO_HANDLE;
	region->refused = false;
	return 0;

err_free:
	kvfree(region->refs);
err_unpin:
	ib_umem_release(umem);
	return err;
}

/* Ends the backend's region, if there is one. A backend that is gone has said nothing. */
static void withdraw(struct xenib_dev *dev, struct xenib_region *region)
{
	if (region->handle != XEN_VHCA_NO_HANDLE &&
	    xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_MEM_DESTROY, region->handle))
		region->refused = true;
	if (xenib_ring_is_dead(dev->ring))
		region->refused = true;
	region->handle = XEN_VHCA_NO_HANDLE;
}

void xenib_region_release(struct xenib_dev *dev, struct xenib_region *region)
{
	if (!region->umem)
		return;
	withdraw(dev, region);
	/* Unless it has said otherwise, the backend has nothing of the region any more. */
	xenib_grants_end(region->umem, region->refs, region->refused ? NULL : dev->debtor);
	kvfree(region->refs);
	ib_umem_release(region->umem);
	region->umem = NULL;
}

/*
 * The references from first on: up to ADD_DEPTH commands are on the way, and all that were sent are
 * waited for, whatever happens.
 */
static int offer_rest(struct xenib_dev *dev, struct xenib_region *region, u32 first, u32 pages)
{
	u32 sent = 0, waited = 0, count;
	struct xenib_cmd *cmds;
	int err = 0, ret;

	cmds = kvcalloc(ADD_DEPTH, sizeof(*cmds), GFP_KERNEL);
	if (!cmds)
		return -ENOMEM;

	while ((first < pages && !err) || waited < sent) {
		struct xenib_cmd *cmd = &cmds[sent % ADD_DEPTH];

		if (first >= pages || err || sent - waited == ADD_DEPTH) {
			ret = xenib_cmd_wait(dev->ring, &cmds[waited++ % ADD_DEPTH]);
			err = err ?: ret;
			continue;
		}
		if (fatal_signal_pending(current)) {
			err = -EINTR;
			continue;
		}
		count = min_t(u32, pages - first, XEN_VHCA_DATA_REFS);
		memset(cmd, 0, sizeof(*cmd));
		cmd->req.op = XEN_VHCA_OP_MEM_ADD;
		cmd->req.u.mem_add.mem = region->handle;
		cmd->req.u.mem_add.first = first;
		cmd->req.u.mem_add.count = count;
		cmd->data = region->refs + first;
		cmd->data_size = count * sizeof(*region->refs);
		err = xenib_cmd_send(dev->ring, cmd, true);
		if (err)
			continue;
		first += count;
		sent++;
	}
	kvfree(cmds);
	return err;
}

int xenib_region_offer(struct xenib_ucontext *ctx, struct xenib_region *region)
{
	size_t pages = ib_umem_num_pages(region->umem);
	u32 count = min_t(size_t, pages, XEN_VHCA_DATA_REFS);
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_MEM_CREATE,
		.req.u.mem_create = {
			.ctx = ctx->handle,
			.flags = region->umem->writable ? 0 : XEN_VHCA_MEM_READ_ONLY,
			.pages = pages,
		},
		.data = region->refs,
		.data_size = count * sizeof(*region->refs),
	};
	int err;

	err = xenib_cmd_exec(ctx->dev->ring, &cmd);
	if (err)
		return err;
	region->handle = cmd.rsp.u.object.handle;
	if (count == pages)
		return 0;
	err = offer_rest(ctx->dev, region, count, pages);
	if (err)
		withdraw(ctx->dev, region);
	return err;
}

static int pin_and_offer(struct xenib_ucontext *ctx, struct xenib_region *region, u64 addr,
			 u64 length)
{
	int err;

	err = xenib_region_pin(ctx->dev, region, addr, length, IB_ACCESS_LOCAL_WRITE);
	if (err)
		return err;
	err = xenib_region_offer(ctx, region);
	if (err)
		xenib_region_release(ctx->dev, region);
	return err;
}

int xenib_region_create(struct xenib_ucontext *ctx, struct xenib_region *region, u64 addr,
			u64 length)
{
	int err;

	if (!PAGE_ALIGNED(addr))
		return -EINVAL;
	err = pin_and_offer(ctx, region, addr, length);
	if (err == -ENOMEM && xenib_reg_cache_flush(&ctx->dev->reg_cache))
		err = pin_and_offer(ctx, region, addr, length);
	return err;
}
