// SPDX-License-Identifier: GPL-2.0
/*
 * dmabuf.c - memory of dma-bufs: see umem.h.
 *
 * The attachment is a static one: the exporter may not move the memory while it is mapped.
 */
#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "compat.h"
#include "umem.h"

MODULE_IMPORT_NS("DMA_BUF");

struct xenib_dmabuf {
	struct dma_buf_attachment *attach;
	struct sg_table *sgt;
};

struct dmabuf_device {
	struct device dev;
	struct device_dma_parameters parms;
};

static bool is_ram(phys_addr_t phys)
{
	return pfn_valid(PHYS_PFN(phys)) && !is_zone_device_page(pfn_to_page(PHYS_PFN(phys)));
}

static dma_addr_t map_phys(struct device *dev, phys_addr_t phys, size_t size,
			   enum dma_data_direction dir, unsigned long attrs)
{
	return attrs & DMA_ATTR_MMIO || !is_ram(phys) ? DMA_MAPPING_ERROR : phys;
}

XENIB_DEFINE_MAP_OP(map_phys)

static void unmap_phys(struct device *dev, dma_addr_t addr, size_t size,
		       enum dma_data_direction dir, unsigned long attrs)
{
}

/* The list is the exporter's, whose pages it names. */
static int map_sg(struct device *dev, struct scatterlist *list, int count,
		  enum dma_data_direction dir, unsigned long attrs)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(list, sg, count, i) {
		if (!is_ram(sg_phys(sg)))
			return -EIO;
		sg_dma_address(sg) = sg_phys(sg);
		sg_dma_len(sg) = sg->length;
	}
	return count;
}

static const struct dma_map_ops ram_ops = {
	XENIB_MAP_OP(map_phys),
	XENIB_UNMAP_OP(unmap_phys),
	.map_sg = map_sg,
};

static void release_device(struct device *dev)
{
	kfree(container_of(dev, struct dmabuf_device, dev));
}

struct device *xenib_dmabuf_device_create(struct device *parent)
{
	struct dmabuf_device *ours;
	struct device *dev;
	int err;

	ours = kzalloc(sizeof(*ours), GFP_KERNEL);
	if (!ours)
		return ERR_PTR(-ENOMEM);
	dev = &ours->dev;
	device_initialize(dev);
	dev->release = release_device;
	err = dev_set_name(dev, "%s-dmabuf", dev_name(parent));
	if (!err) {
		dev->dma_parms = &ours->parms;
		set_dma_ops(dev, &ram_ops);
		dma_set_max_seg_size(dev, UINT_MAX);
		err = dma_coerce_mask_and_coherent(dev, DMA_BIT_MASK(64));
	}
	if (err) {
		put_device(dev);
		return ERR_PTR(err);
	}
	return dev;
}

struct xenib_dmabuf *xenib_dmabuf_map(struct device *dev, int fd)
{
	struct xenib_dmabuf *map;
	struct dma_buf *buf;
	int err;

	map = kzalloc(sizeof(*map), GFP_KERNEL);
	if (!map)
		return ERR_PTR(-ENOMEM);
	buf = dma_buf_get(fd);
	if (IS_ERR(buf)) {
		err = PTR_ERR(buf);
		goto err_free;
	}
	map->attach = dma_buf_attach(buf, dev);
	if (IS_ERR(map->attach)) {
		err = PTR_ERR(map->attach);
		goto err_put;
	}
	map->sgt = dma_buf_map_attachment_unlocked(map->attach, DMA_BIDIRECTIONAL);
	if (IS_ERR(map->sgt)) {
		err = PTR_ERR(map->sgt);
		goto err_detach;
	}
	return map;

err_detach:
	dma_buf_detach(buf, map->attach);
err_put:
	dma_buf_put(buf);
err_free:
	kfree(map);
	return ERR_PTR(err);
}

void xenib_dmabuf_unmap(struct xenib_dmabuf *map)
{
	struct dma_buf *buf = map->attach->dmabuf;

	dma_buf_unmap_attachment_unlocked(map->attach, map->sgt, DMA_BIDIRECTIONAL);
	dma_buf_detach(buf, map->attach);
	dma_buf_put(buf);
	kfree(map);
}

/* By the addresses that map_sg() has given: the list's pages are none of an importer's business. */
int xenib_dmabuf_pages(const struct xenib_dmabuf *map, u64 first, size_t count, struct page **pages)
{
	struct scatterlist *sg;
	unsigned long pfn;
	size_t found = 0;
	u64 in_sg;
	int i;

	for_each_sg(map->sgt->sgl, sg, map->sgt->nents, i) {
		if (!PAGE_ALIGNED(sg_dma_address(sg)) || !PAGE_ALIGNED(sg_dma_len(sg)))
			return -EINVAL;
		in_sg = sg_dma_len(sg) >> PAGE_SHIFT;
		if (first >= in_sg) {
			first -= in_sg;
			continue;
		}
		pfn = PHYS_PFN(sg_dma_address(sg)) + first;
		for (in_sg -= first, first = 0; in_sg && found < count; in_sg--)
			pages[found++] = pfn_to_page(pfn++);
		if (found == count)
			return 0;
	}
	return -EINVAL;
}
