// SPDX-License-Identifier: GPL-2.0
/*
 * mlx5_sysfs.c - files beside the device, .../infiniband/mlx5_0/device/{vendor,device}, as a PCI function
 * has them.
 */
#include <linux/pci_ids.h>
#include <linux/sysfs.h>
#include <xen/xenbus.h>

#include "personality/mlx5.h"

static ssize_t vendor_show(struct device *parent, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%#06x\n", PCI_VENDOR_ID_MELLANOX);
}

static ssize_t device_show(struct device *parent, struct device_attribute *attr, char *buf)
{
	struct xenib_mlx5 *mlx5 = container_of(attr, struct xenib_mlx5, device);

	return sysfs_emit(buf, "%#06x\n", mlx5->dev->attr.vendor_part_id);
}

int xenib_mlx5_sysfs_add(struct xenib_mlx5 *mlx5)
{
	struct device *parent = &mlx5->dev->xbdev->dev;
	int err;

	mlx5->vendor = (struct device_attribute)__ATTR_RO(vendor);
	mlx5->device = (struct device_attribute)__ATTR_RO(device);
	sysfs_attr_init(&mlx5->vendor.attr);
	sysfs_attr_init(&mlx5->device.attr);
	err = device_create_file(parent, &mlx5->vendor);
	if (err)
		return err;
	err = device_create_file(parent, &mlx5->device);
	if (err)
		device_remove_file(parent, &mlx5->vendor);
	return err;
}

void xenib_mlx5_sysfs_remove(struct xenib_mlx5 *mlx5)
{
	struct device *parent = &mlx5->dev->xbdev->dev;

	device_remove_file(parent, &mlx5->device);
	device_remove_file(parent, &mlx5->vendor);
}
