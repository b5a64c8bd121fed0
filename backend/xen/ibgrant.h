/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * ibgrant.h - dma-bufs of a guest's pages, by the module xen-ibgrant.
 */
#ifndef XEN_IB_XEN_IBGRANT_H
#define XEN_IB_XEN_IBGRANT_H

#include <stdbool.h>
#include <stdint.h>

#include "modules/xen-ibgrant/xen-ibgrant.h"

/*
 * ibgrant_open - opens the device and binds it to a domain, and to so many pages at once. Only root
 * can. translated: Xen translates the domain's memory. A descriptor, or -errno: -ENOENT: the module
 * is not loaded.
 */
int ibgrant_open(uint32_t domid, bool translated, uint64_t pages);

/* ibgrant_create - a dma-buf of pages that are to be added. Its descriptor, or -errno. */
int ibgrant_create(int fd, uint32_t pages, bool read_only);

/* ibgrant_add - maps n grants as its pages from first on: all of them or none. 0 or -errno. */
int ibgrant_add(int fd, int dmabuf, uint32_t first, const uint32_t *refs, uint32_t n);

/* ibgrant_range - a dma-buf that is a part of one that is complete. Its descriptor, or -errno. */
int ibgrant_range(int fd, int dmabuf, uint32_t first, uint32_t pages);

#endif
