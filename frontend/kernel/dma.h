/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dma.h - how the kernel's data gets to the HCA: by way of the pool (pool.h). The device that is
 * given to the RDMA core for DMA has operations of its own for that.
 */
#ifndef XENIB_DMA_H
#define XENIB_DMA_H

#include <linux/device.h>

struct xenib_pool;

struct xenib_dma {
	struct device_dma_parameters parms;
	struct xenib_pool *pool;
};

/** xenib_dma_init() - from here to xenib_dma_exit() the device's DMA passes through the pool. */
int xenib_dma_init(struct xenib_dma *dma, struct device *dev, struct xenib_pool *pool);

/** xenib_dma_exit() - when nothing is mapped any more, not even memory of processes. */
void xenib_dma_exit(struct device *dev);

#endif
