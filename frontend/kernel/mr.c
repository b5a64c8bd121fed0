// SPDX-License-Identifier: GPL-2.0
/*
 * mr.c - memory regions of the kernel, which a WR registers. To the HCA each is a memory window of
 * type 2, and its entries name the keys that the PD has for the pool.
 *
 * A list is in one piece in the pool, or in few (dma.c). Where they lie, and whether they end with
 * a page, does not matter to the HCA. Its data is there when the region is told of it (origin.h):
 * the other end may read it once it is registered.
 */
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "kernel/kverbs.h"

/* Of lists of entries, as other drivers of this HCA have them. */
#define LIST_ALIGN 2048

static struct xenib_kmr *to_kmr(struct ib_mr *ibmr)
{
	return container_of(to_xmr(ibmr), struct xenib_kmr, mr);
}

/* No key reaches all of the kernel's memory. Consumers have one that means the pool. */
struct ib_mr *xenib_get_dma_mr(struct ib_pd *ibpd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int alloc_key(struct xenib_dev *dev, struct xenib_kmr *kmr, const struct xenib_pd *pd)
{
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_MW_ALLOC,
		.req.u.mw_alloc = {
			.pd = pd->handle,
			.type = IB_MW_TYPE_2,
			.entries = dev->kernel->mw_entries ? kmr->max : 0,
		},
	};
	int err;

	err = xenib_cmd_exec(dev->ring, &cmd);
	if (err)
		return err;
	kmr->mr.ctx = &dev->kernel->ctx;
	kmr->mr.handle = cmd.rsp.u.mr.handle;
	kmr->mr.ibmr.rkey = cmd.rsp.u.mr.rkey;
	kmr->mr.ibmr.lkey = cmd.rsp.u.mr.rkey;
	err = xa_err(xa_store(&kmr->keys->regions, kmr->mr.ibmr.lkey >> 8, kmr, GFP_KERNEL));
	if (err)
		xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_MW_FREE, kmr->mr.handle);
	return err;
}

/* Consumers change the lowest byte of a key each time they register. */
bool xenib_kmr_has(struct xenib_pool_keys *keys, u32 lkey)
{
	const struct xenib_kmr *kmr;
	bool has;

	rcu_read_lock();
	kmr = xa_load(&keys->regions, lkey >> 8);
	has = kmr && kmr->mr.ibmr.lkey == lkey;
	rcu_read_unlock();
	return has;
}

struct ib_mr *xenib_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_sg)
{
	struct xenib_dev *dev = to_xdev(ibpd->device);
	struct xenib_kmr *kmr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG && type != IB_MR_TYPE_SG_GAPS)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_sg || max_sg > XENIB_MAX_REG_PAGES)
		return ERR_PTR(-EINVAL);
	kmr = kzalloc(sizeof(*kmr), GFP_KERNEL);
	if (!kmr)
		return ERR_PTR(-ENOMEM);
	kmr->max = dev->kernel->mw_entries ? min(max_sg, XENIB_MAX_PIECES) : 1;
	kmr->keys = xenib_pool_keys_get(&dev->kernel->pool, to_xpd(ibpd));
	err = PTR_ERR_OR_ZERO(kmr->keys);
	if (!err)
		err = alloc_key(dev, kmr, to_xpd(ibpd));
	if (err) {
		kfree(kmr);
		return ERR_PTR(err);
	}
	return &kmr->mr.ibmr;
}

static size_t list_bytes(const struct xenib_kmr *kmr)
{
	return XENIB_ROUND_ENTRIES(kmr->max) * sizeof(*kmr->list);
}

void xenib_kmr_free(struct xenib_mr *mr)
{
	struct xenib_kmr *kmr = container_of(mr, struct xenib_kmr, mr);
	struct xenib_dev *dev = mr->ctx->dev;

	xa_erase(&kmr->keys->regions, mr->ibmr.lkey >> 8);
	xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_MW_FREE, mr->handle);
	if (kmr->list)
		xenib_pool_free(&dev->kernel->pool, kmr->list_addr, list_bytes(kmr));
	kfree_rcu(kmr, rcu);
}

/* More entries than a WQE has are in the pool, where the HCA reads them. */
static bool begin_list(struct xenib_kmr *kmr)
{
	struct xenib_pool *pool = &kmr->mr.ctx->dev->kernel->pool;

	if (!kmr->list) {
		kmr->list_addr = xenib_pool_alloc(pool, list_bytes(kmr), LIST_ALIGN);
		if (!kmr->list_addr)
			return false;
		kmr->list = xenib_pool_kva(pool, kmr->list_addr);
	}
	memset(kmr->list, 0, list_bytes(kmr));
	memcpy(kmr->list, kmr->entries, sizeof(kmr->entries));
	return true;
}

/* Entries are written here, and never read. */
static bool put_entry(struct xenib_kmr *kmr, u32 index, u64 addr, u32 length)
{
	struct xenib_klm_seg entry = {
		.byte_count = cpu_to_be32(length),
		.addr = cpu_to_be64(addr),
	};
	u32 lkey;

	if (index >= kmr->max || !xenib_pool_lkey(kmr->keys, addr, &lkey))
		return false;
	entry.key = cpu_to_be32(lkey);
	if (index < XENIB_INLINE_ENTRIES) {
		kmr->entries[index] = entry;
		return true;
	}
	if (index == XENIB_INLINE_ENTRIES && kmr->count == index && !begin_list(kmr))
		return false;
	kmr->list[index] = entry;
	return true;
}

/* Each segment of the pool has a key of its own. */
static bool in_one_segment(u64 addr, u64 end)
{
	return xenib_pool_has(addr) && end > addr && xenib_pool_has(end - 1) &&
	       xenib_pool_segment(addr) == xenib_pool_segment(end - 1);
}

/* As many elements as there is room for. Those in one piece are one entry. */
int xenib_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *list, int count, unsigned int *offset)
{
	struct xenib_kmr *kmr = to_kmr(ibmr);
	u64 skip = offset ? *offset : 0;
	u64 addr, end, piece = 0, piece_end = 0;
	struct scatterlist *sg;
	int i;

	kmr->count = 0;
	memset(kmr->entries, 0, sizeof(kmr->entries));
	ibmr->length = 0;
	for_each_sg(list, sg, count, i) {
		addr = sg_dma_address(sg) + skip;
		end = sg_dma_address(sg) + sg_dma_len(sg);
		if (kmr->count && addr == piece_end && in_one_segment(piece, end)) {
			put_entry(kmr, kmr->count - 1, piece, end - piece);
		} else {
			if (!in_one_segment(addr, end) ||
			    !put_entry(kmr, kmr->count, addr, end - addr))
				break;
			piece = addr;
			kmr->count++;
		}
		piece_end = end;
		xenib_origin_share(&kmr->mr.ctx->dev->kernel->pool, addr, end - addr);
		if (!i)
			ibmr->iova = addr;
		ibmr->length += end - addr;
		skip = 0;
	}
	if (offset)
		*offset = 0;
	if (i)
		return i;
	return xenib_pool_is_dead(kmr->keys->pool) ? -EIO : -EINVAL;
}
