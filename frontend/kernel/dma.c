// SPDX-License-Identifier: GPL-2.0
/*
 * dma.c - DMA of the kernel's consumers: data is copied through the pool, as swiotlb does.
 *
 * What is mapped is copied neither then nor at its end, but when it is used (origin.h); a mapping
 * for both directions is, at both. A list is in one piece in the pool, or, if there is no such
 * place, in several.
 *
 * The RDMA core maps a process's memory by the same operations (ib_umem_get()). Its pages are
 * granted themselves (umem.c), and nobody asks for the addresses that they have here. No consumer
 * in the kernel sets the attribute that tells it.
 */
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>

#include "compat.h"
#include "kernel/dma.h"
#include "kernel/kverbs.h"

static struct xenib_pool *pool_of(struct device *dev)
{
	return container_of(dev->dma_parms, struct xenib_dma, parms)->pool;
}

/*
 * A consumer to which memory is refused may try again for ever, as nvme-rdma does, and so keep the
 * device. So that is not refused when the backend is gone, but posting it is.
 */
static dma_addr_t map_phys(struct device *dev, phys_addr_t phys, size_t size,
			   enum dma_data_direction dir, unsigned long attrs)
{
	struct xenib_pool *pool = pool_of(dev);
	u64 addr;

	if (attrs & DMA_ATTR_MMIO)
		return DMA_MAPPING_ERROR; /* a device's registers: there is nothing to copy */
	addr = xenib_pool_alloc(pool, size, 1);
	if (!addr)
		return xenib_pool_is_dead(pool) ? XENIB_POOL_NOWHERE + phys : DMA_MAPPING_ERROR;
	xenib_origin_note(pool, addr, phys_to_virt(phys), size, dir == DMA_TO_DEVICE);
	if (dir == DMA_BIDIRECTIONAL)
		xenib_origin_share(pool, addr, size);
	return addr;
}

XENIB_DEFINE_MAP_OP(map_phys)

static void unmap_phys(struct device *dev, dma_addr_t addr, size_t size,
		       enum dma_data_direction dir, unsigned long attrs)
{
	struct xenib_pool *pool = pool_of(dev);

	if (xenib_pool_is_nowhere(addr) || WARN_ON_ONCE(!xenib_pool_has(addr)))
		return;
	if (dir != DMA_TO_DEVICE && !(attrs & DMA_ATTR_SKIP_CPU_SYNC))
		xenib_origin_copy_shared(pool, addr, size);
	xenib_pool_free(pool, addr, size);
}

/*
 * A part of what was mapped: it may begin anywhere there. The iSER target asks for it before it
 * maps, too, when the address is 0.
 */
static void sync_for_cpu(struct device *dev, dma_addr_t addr, size_t size,
			 enum dma_data_direction dir)
{
	if (xenib_pool_has(addr) && dir != DMA_TO_DEVICE)
		xenib_origin_copy_shared(pool_of(dev), addr, size);
}

static void sync_for_device(struct device *dev, dma_addr_t addr, size_t size,
			    enum dma_data_direction dir)
{
	if (xenib_pool_has(addr) && dir != DMA_FROM_DEVICE)
		xenib_origin_copy_in(pool_of(dev), addr, size);
}

/*
 * Lists. A piece of the pool has one or more elements, one behind the other, and the list has the
 * address of piece n in its element n.
 */

static size_t bytes_of(struct scatterlist *list, int count)
{
	struct scatterlist *sg;
	size_t bytes = 0;
	int i;

	for_each_sg(list, sg, count, i)
		bytes += sg->length;
	return bytes;
}

/* The copies of the first bytes */
static void copy_list(struct xenib_pool *pool, struct scatterlist *list, size_t bytes,
		      void (*copy)(struct xenib_pool *pool, u64 addr, size_t size))
{
	size_t part;

	for (; bytes; bytes -= part, list = sg_next(list)) {
		part = min(bytes, sg_dma_len(list));
		copy(pool, sg_dma_address(list), part);
	}
}

/* The pieces of the first bytes */
static void free_list(struct xenib_pool *pool, struct scatterlist *list, size_t bytes)
{
	for (; bytes; bytes -= sg_dma_len(list), list = sg_next(list))
		xenib_pool_free(pool, sg_dma_address(list), sg_dma_len(list));
}

/* The largest piece that there is, of all of these elements or of half as many, and so on. */
static int alloc_piece(struct xenib_pool *pool, struct scatterlist *from, int count,
		       struct scatterlist *piece)
{
	size_t bytes;
	u64 addr;

	for (;;) {
		bytes = bytes_of(from, count);
		addr = xenib_pool_alloc(pool, bytes, 1);
		if (addr)
			break;
		if (count == 1)
			return 0;
		count = DIV_ROUND_UP(count, 2);
	}
	sg_dma_address(piece) = addr;
	sg_dma_len(piece) = bytes;
	return count;
}

/* At the end of the list it is NULL. */
static struct scatterlist *skip(struct scatterlist *sg, int count)
{
	while (count--)
		sg = sg_next(sg);
	return sg;
}

/* Return: of how many pieces the list is, or 0. */
static int alloc_list(struct xenib_pool *pool, struct scatterlist *list, int count)
{
	struct scatterlist *from = list, *piece = list;
	size_t bytes = 0;
	int pieces, took;

	for (pieces = 0; count; pieces++, count -= took) {
		if (pieces)
			piece = sg_next(piece);
		took = pieces < XENIB_MAX_PIECES ? alloc_piece(pool, from, count, piece) : 0;
		if (!took) {
			free_list(pool, list, bytes);
			return 0;
		}
		bytes += sg_dma_len(piece);
		from = skip(from, took);
	}
	return pieces;
}

/* What ib_umem_get() asks for. */
static int map_process(struct scatterlist *list, int count)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(list, sg, count, i) {
		sg_dma_address(sg) = sg_phys(sg);
		sg_dma_len(sg) = sg->length;
	}
	return count;
}

/* Without a backend: targets try again for ever what has failed for want of memory. */
static int map_nowhere(struct scatterlist *list, int count)
{
	sg_dma_len(list) = bytes_of(list, count);
	sg_dma_address(list) = XENIB_POOL_NOWHERE + sg_phys(list);
	return 1;
}

static int map_sg(struct device *dev, struct scatterlist *list, int count,
		  enum dma_data_direction dir, unsigned long attrs)
{
	struct xenib_pool *pool = pool_of(dev);
	int pieces;

	if (attrs & DMA_ATTR_WEAK_ORDERING)
		return map_process(list, count);
	pieces = alloc_list(pool, list, count);
	if (!pieces)
		return xenib_pool_is_dead(pool) ? map_nowhere(list, count) : -ENOMEM;
	xenib_origin_note_list(pool, list, pieces, dir == DMA_TO_DEVICE);
	if (dir == DMA_BIDIRECTIONAL)
		copy_list(pool, list, bytes_of(list, count), xenib_origin_share);
	return pieces;
}

/* For a process's memory it is called without the attribute. */
static void unmap_sg(struct device *dev, struct scatterlist *list, int count,
		     enum dma_data_direction dir, unsigned long attrs)
{
	struct xenib_pool *pool = pool_of(dev);
	size_t bytes = bytes_of(list, count);

	if (!xenib_pool_has(sg_dma_address(list)))
		return;
	if (dir != DMA_TO_DEVICE && !(attrs & DMA_ATTR_SKIP_CPU_SYNC))
		copy_list(pool, list, bytes, xenib_origin_copy_shared);
	free_list(pool, list, bytes);
}

static void sync_sg_for_cpu(struct device *dev, struct scatterlist *list, int count,
			    enum dma_data_direction dir)
{
	if (xenib_pool_has(sg_dma_address(list)) && dir != DMA_TO_DEVICE)
		copy_list(pool_of(dev), list, bytes_of(list, count), xenib_origin_copy_shared);
}

static void sync_sg_for_device(struct device *dev, struct scatterlist *list, int count,
			       enum dma_data_direction dir)
{
	if (xenib_pool_has(sg_dma_address(list)) && dir != DMA_FROM_DEVICE)
		copy_list(pool_of(dev), list, bytes_of(list, count), xenib_origin_copy_in);
}

/* Memory that both use is the pool's own. Its address has the alignment that DMA promises. */
static void *alloc_coherent(struct device *dev, size_t size, dma_addr_t *handle, gfp_t gfp,
			    unsigned long attrs)
{
	struct xenib_pool *pool = pool_of(dev);
	void *kva;

	*handle = xenib_pool_alloc(pool, size, PAGE_SIZE << get_order(size));
	if (!*handle)
		return NULL;
	kva = xenib_pool_kva(pool, *handle);
	memset(kva, 0, size);
	return kva;
}

static void free_coherent(struct device *dev, size_t size, void *kva, dma_addr_t handle,
			  unsigned long attrs)
{
	xenib_pool_free(pool_of(dev), handle, size);
}

static const struct dma_map_ops pool_ops = {
	.alloc = alloc_coherent,
	.free = free_coherent,
	XENIB_MAP_OP(map_phys),
	.map_sg = map_sg,
	.sync_sg_for_cpu = sync_sg_for_cpu,
	.sync_sg_for_device = sync_sg_for_device,
	.sync_single_for_cpu = sync_for_cpu,
	.sync_single_for_device = sync_for_device,
	XENIB_UNMAP_OP(unmap_phys),
	.unmap_sg = unmap_sg,
};

int xenib_dma_init(struct xenib_dma *dma, struct device *dev, struct xenib_pool *pool)
{
	int err;

	dma->pool = pool;
	dev->dma_parms = &dma->parms;
	set_dma_ops(dev, &pool_ops);
	dma_set_max_seg_size(dev, UINT_MAX);
	err = dma_coerce_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (err)
		xenib_dma_exit(dev);
	return err;
}

/* The device outlives us: nothing of ours may stay there. */
void xenib_dma_exit(struct device *dev)
{
	set_dma_ops(dev, NULL);
	dev->dma_parms = NULL;
	dev->dma_mask = NULL;
	dev->coherent_dma_mask = 0;
}
