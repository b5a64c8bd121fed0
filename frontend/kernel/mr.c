// SPDX-License-Identifier: GPL-2.0
/*
 * mr.c - memory regions of the kernel, which a WR registers. To the HCA each is a memory window of
 * type 2 over a part of the pool: registering is binding, and the region is the QP's that does it.
 *
 * A list is in one piece in the pool (dma.c), and that piece is the region.
 */
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "kernel/kverbs.h"

/* No key reaches all of the kernel's memory. Consumers have one that means the pool. */
struct ib_mr *xenib_get_dma_mr(struct ib_pd *ibpd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

struct ib_mr *xenib_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_sg)
{
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_MW_ALLOC,
		.req.u.mw_alloc = {
			.pd = to_xpd(ibpd)->handle,
			.type = IB_MW_TYPE_2,
		},
	};
	struct xenib_dev *dev = to_xdev(ibpd->device);
	struct xenib_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG || max_sg > XENIB_MAX_REG_PAGES)
		return ERR_PTR(-EOPNOTSUPP);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = xenib_cmd_exec(dev->ring, &cmd);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	mr->ctx = &dev->kernel->ctx;
	mr->handle = cmd.rsp.u.mr.handle;
	mr->ibmr.rkey = cmd.rsp.u.mr.rkey;
	mr->ibmr.lkey = cmd.rsp.u.mr.rkey;
	return &mr->ibmr;
}

void xenib_kmr_free(struct xenib_mr *mr)
{
	xenib_cmd_destroy(mr->ctx->dev->ring, XEN_VHCA_OP_MW_FREE, mr->handle);
	kfree(mr);
}

/* As many elements as are in one piece. */
int xenib_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *list, int count, unsigned int *offset)
{
	unsigned int skip = offset ? *offset : 0;
	struct scatterlist *sg;
	u64 end;
	int i;

	if (!count || !xenib_pool_has(sg_dma_address(list)) || skip >= sg_dma_len(list))
		return -EINVAL;
	ibmr->iova = sg_dma_address(list) + skip;
	end = sg_dma_address(list);
	for_each_sg(list, sg, count, i) {
		if (sg_dma_address(sg) != end)
			break;
		end += sg_dma_len(sg);
	}
	ibmr->length = end - ibmr->iova;
	if (offset)
		*offset = 0;
	return i;
}
