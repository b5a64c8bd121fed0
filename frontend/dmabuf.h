/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dmabuf.h - memory of dma-bufs, for MRs of processes.
 *
 * What a dma-buf is made of is known to its exporter alone, which maps it for a device. Here that
 * device is one whose bus is the guest's own memory: its addresses name pages, which are granted.
 * Memory that is not the guest's RAM, as that of another device, has no such address.
 */
#ifndef XENIB_DMABUF_H
#define XENIB_DMABUF_H

#include <linux/types.h>

struct device;
struct page;
struct xenib_dmabuf;

/**
 * xenib_dmabuf_device_create() - the device that dma-bufs are mapped for.
 * @parent: the vHCA's
 *
 * Return: the device, to be ended by put_device(), or an ERR_PTR.
 */
struct device *xenib_dmabuf_device_create(struct device *parent);

/**
 * xenib_dmabuf_map() - maps a dma-buf of the calling process, which stays where it is until
 * xenib_dmabuf_unmap().
 *
 * Return: the mapping, or an ERR_PTR.
 */
struct xenib_dmabuf *xenib_dmabuf_map(struct device *dev, int fd);
void xenib_dmabuf_unmap(struct xenib_dmabuf *map);

/**
 * xenib_dmabuf_pages() - the pages of a part.
 * @pages: room for @count of them
 *
 * Return: 0, -EINVAL: the dma-buf has no such part, or it is not made of whole pages.
 */
int xenib_dmabuf_pages(const struct xenib_dmabuf *map, u64 first, size_t count,
		       struct page **pages);

#endif
