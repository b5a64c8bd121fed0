// SPDX-License-Identifier: GPL-2.0
/*
 * dmabuf.c - views of buffers as dma-bufs.
 *
 * An importer maps a view once for each memory region, and may change the table that it gets
 * (ib_umem_dmabuf_map_pages() does). So each gets a table of its own. In a PV domain its entries
 * have no pages: the frames are not this domain's, and their addresses for a device are those that
 * Xen has given. They are longer than dma_get_max_seg_size() allows where pages follow each other
 * in the machine: what xen-ibdma limits is what the kernel joins by pseudo-physical addresses.
 */
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "grant.h"

#define MAX_RUN 0x40000u /* pages: 1 GiB, as a length has 32 bits */

/* Xen enters grants for all devices of this domain; others may be behind another translation. */
static int attach(struct dma_buf *dmabuf, struct dma_buf_attachment *at)
{
	return dev_is_pci(at->dev) ? 0 : -EOPNOTSUPP;
}

/* The number of entries that the table needs; or -EINTR, -EIO. */
static int count_runs(const struct ibgrant_view *view, u64 mask)
{
	const struct ibgrant_pages *pages = &view->buf->pages;
	u32 at, n, end = view->first + view->count;
	int runs = 0;

	for (at = view->first; at < end; at += n, runs++) {
		n = ibgrant_run(pages, at, end, MAX_RUN);
		if (pages->addr[at] + ((u64)n << PAGE_SHIFT) - 1 > mask)
			return -EIO;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return runs;
}

static int fill_device(struct sg_table *table, const struct ibgrant_view *view, u64 mask)
{
	const struct ibgrant_pages *pages = &view->buf->pages;
	u32 at, n, end = view->first + view->count;
	int runs = count_runs(view, mask), err;
	struct scatterlist *sg;

	if (runs < 0)
		return runs;
	err = sg_alloc_table(table, runs, GFP_KERNEL_ACCOUNT);
	if (err)
		return err;
	sg = table->sgl;
	for (at = view->first; at < end; at += n, sg = sg_next(sg)) {
		n = ibgrant_run(pages, at, end, MAX_RUN);
		sg_dma_address(sg) = pages->addr[at];
		sg_dma_len(sg) = n << PAGE_SHIFT;
		cond_resched();
	}
	return 0;
}

/*
 * Read-only grants are read-only pages, of which a device that writes is refused by the IOMMU, if
 * there is one. An importer always asks for both directions.
 */
static int fill_host(struct sg_table *table, const struct ibgrant_view *view, struct device *dev,
		     enum dma_data_direction dir)
{
	int err = sg_alloc_table_from_pages_segment(table, view->buf->host + view->first,
						    view->count, 0, (u64)view->count << PAGE_SHIFT,
						    dma_get_max_seg_size(dev), GFP_KERNEL_ACCOUNT);

	if (err)
		return err;
	err = dma_map_sgtable(dev, table, dir, DMA_ATTR_SKIP_CPU_SYNC);
	if (err)
		sg_free_table(table);
	return err;
}

static struct sg_table *map_table(struct dma_buf_attachment *at, enum dma_data_direction dir)
{
	const struct ibgrant_view *view = at->dmabuf->priv;
	struct sg_table *table;
	int err;

	if (!ibgrant_buf_complete(view->buf))
		return ERR_PTR(-ENODATA);
	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return ERR_PTR(-ENOMEM);
	err = view->buf->host ? fill_host(table, view, at->dev, dir) :
				fill_device(table, view, dma_get_mask(at->dev));
	if (!err)
		return table;
	kfree(table);
	return ERR_PTR(err);
}

static void unmap_table(struct dma_buf_attachment *at, struct sg_table *table,
			enum dma_data_direction dir)
{
	const struct ibgrant_view *view = at->dmabuf->priv;

	if (view->buf->host)
		dma_unmap_sgtable(at->dev, table, dir, DMA_ATTR_SKIP_CPU_SYNC);
	sg_free_table(table);
	kfree(table);
}

static void view_free(struct ibgrant_view *view)
{
	if (!view->whole)
		ibgrant_owner_range(view->buf->owner, -1);
	ibgrant_buf_put(view->buf);
	kfree(view);
}

static void release(struct dma_buf *dmabuf)
{
	view_free(dmabuf->priv);
}

static const struct dma_buf_ops view_ops = {
	.attach = attach,
	.map_dma_buf = map_table,
	.unmap_dma_buf = unmap_table,
	.release = release,
};

struct dma_buf *ibgrant_export(struct ibgrant_buf *buf, u32 first, u32 count, bool whole)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct ibgrant_view *view;
	struct dma_buf *dmabuf;
	int err;

	view = kzalloc(sizeof(*view), GFP_KERNEL_ACCOUNT);
	if (!view)
		return ERR_PTR(-ENOMEM);
	err = whole ? 0 : ibgrant_owner_range(buf->owner, 1);
	if (err) {
		kfree(view);
		return ERR_PTR(err);
	}
	kref_get(&buf->kref);
	*view = (struct ibgrant_view){ .buf = buf, .first = first, .count = count, .whole = whole };
	info.ops = &view_ops;
	info.size = (size_t)count << PAGE_SHIFT;
	info.flags = O_RDWR;
	info.priv = view;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf))
		view_free(view);
	return dmabuf;
}

struct ibgrant_view *ibgrant_view_of(struct dma_buf *dmabuf)
{
	return dmabuf->ops == &view_ops ? dmabuf->priv : NULL;
}
