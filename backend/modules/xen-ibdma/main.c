// SPDX-License-Identifier: GPL-2.0
/*
 * xen-ibdma - no DMA segment of an mlx5 HCA is longer than a page.
 *
 * In a PV domain pages that follow each other in pseudo-physical memory need not do so in machine
 * memory. The RDMA core joins such pages into one segment, as long as the device's limit allows
 * (2 GiB for mlx5). When a segment is mapped for DMA, xen-swiotlb sees that it is not contiguous,
 * and gives the device a bounce buffer instead. For memory that a device keeps for long, and that
 * processors and device use at the same time, that is fatal: what the HCA writes never arrives, and
 * nothing tells. With segments of a page there is nothing to join.
 *
 * The limit is set for functions that mlx5_core drives now, and again whenever it takes one: its
 * probe sets the limit to 2 GiB. The parameter "devices" lists the functions whose limit is right
 * now, one in a line; the daemon xen-ibback serves no other. When the module is removed the
 * limits stay, since memory may be registered.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/pci.h>
#include <xen/xen.h>

#define DRIVER "mlx5_core"

/* With the device's lock held, as its driver may be about to go. */
static bool is_hca(struct device *dev)
{
	return dev->driver && !strcmp(dev->driver->name, DRIVER);
}

static void cover(struct device *dev)
{
	if (!is_hca(dev) || dma_get_max_seg_size(dev) == PAGE_SIZE)
		return;
	dma_set_max_seg_size(dev, PAGE_SIZE);
	dev_info(dev, "DMA segments limited to %lu bytes\n", PAGE_SIZE);
}

static int cover_present(struct device *dev, void *unused)
{
	device_lock(dev);
	cover(dev);
	device_unlock(dev);
	return 0;
}

/* Whoever binds a driver has the device's lock. */
static int cover_bound(struct notifier_block *nb, unsigned long action, void *data)
{
	if (action == BUS_NOTIFY_BOUND_DRIVER)
		cover(data);
	return NOTIFY_DONE;
}

static struct notifier_block notifier = {
	.notifier_call = cover_bound,
};

static int list_covered(struct device *dev, void *data)
{
	char *buffer = data;
	size_t used = strlen(buffer);

	device_lock(dev);
	if (is_hca(dev) && dma_get_max_seg_size(dev) == PAGE_SIZE)
		scnprintf(buffer + used, PAGE_SIZE - used, "%s\n", dev_name(dev));
	device_unlock(dev);
	return 0;
}

static int get_devices(char *buffer, const struct kernel_param *kp)
{
	buffer[0] = 0;
	bus_for_each_dev(&pci_bus_type, NULL, buffer, list_covered);
	return strlen(buffer);
}

static const struct kernel_param_ops devices_ops = {
	.get = get_devices,
};

module_param_cb(devices, &devices_ops, NULL, 0444);
MODULE_PARM_DESC(devices, "PCI functions whose DMA segments are limited (read only)");

static int __init xen_ibdma_init(void)
{
	int err;

	if (!xen_pv_domain()) {
		pr_info("not a PV domain: nothing to do\n");
		return 0;
	}
	/* First the notifier, so that no function can slip through in between. */
	err = bus_register_notifier(&pci_bus_type, &notifier);
	if (err)
		return err;
	bus_for_each_dev(&pci_bus_type, NULL, NULL, cover_present);
	return 0;
}

static void __exit xen_ibdma_exit(void)
{
	if (xen_pv_domain())
		bus_unregister_notifier(&pci_bus_type, &notifier);
}

module_init(xen_ibdma_init);
module_exit(xen_ibdma_exit);
MODULE_DESCRIPTION("Keeps DMA of mlx5 HCAs within pages, in a Xen PV domain");
MODULE_AUTHOR("The Xen-IB maintainers");
#ifdef XEN_IB_RELEASE
MODULE_VERSION(XEN_IB_RELEASE);
#endif
MODULE_LICENSE("GPL");
