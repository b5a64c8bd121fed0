/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * sysfs.h - what the kernel tells about an RDMA device in /sys/class/infiniband.
 */
#ifndef XEN_IB_HCA_SYSFS_H
#define XEN_IB_HCA_SYSFS_H

#include <stddef.h>
#include <stdint.h>

/* All return 0 or -errno. ibdev has been checked by uverbs_find(). */

/* The driver of the device's PCI function ("mlx5_core"); -ENODEV if it is not one. */
int hca_sysfs_driver(const char *ibdev, char *driver, size_t size);

/* The same of an open uverbs device. */
int hca_sysfs_driver_of_file(int uverbs, char *driver, size_t size);

/* The PCI function's name ("0000:03:00.0"), and the address of its BAR 0, and its size (if not NULL). */
int hca_sysfs_pci_name(const char *ibdev, char *name, size_t size);
int hca_sysfs_bar0(const char *ibdev, uint64_t *address, uint64_t *bytes);

int hca_sysfs_gid(const char *ibdev, unsigned int port, uint32_t index, uint8_t gid[16]);
int hca_sysfs_pkey(const char *ibdev, unsigned int port, uint32_t index, uint16_t *pkey);

#endif
