/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * gntdev.h - naming grants to the kernel, before and after mmap() maps them: /dev/xen/gntdev without
 * libxengnttab.
 */
#ifndef XEN_IB_XEN_GNTDEV_H
#define XEN_IB_XEN_GNTDEV_H

#include <stdint.h>

/*
 * gntdev_map - names n (at most XEN_VHCA_DATA_REFS) grants of a domain; one thread at a time.
 * *index: the offset to mmap(). 0 or -errno.
 */
int gntdev_map(int fd, uint32_t domid, const uint32_t *refs, uint32_t n, uint64_t *index);

/* gntdev_unmap - forgets that name. What has been mapped by it stays until munmap(). 0 or -errno. */
int gntdev_unmap(int fd, uint64_t index, uint32_t n);

#endif
