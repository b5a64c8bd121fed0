// SPDX-License-Identifier: GPL-2.0
/*
 * gfn.c - guest frames where nothing is, for doorbell pages in auto-translated guests.
 *
 * They are taken out of the tree of physical addresses, above 4 GiB, as the kernel does it for
 * foreign pages (drivers/xen/unpopulated-alloc.c): so neither RAM that is added later nor another
 * driver gets there.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <asm/processor.h>
#include <xen/features.h>
#include <xen/xenbus.h>

#include "gfn.h"
#include "vhca_nodes.h"

/* The count comes last: without it the first says nothing. */
static int publish(struct xenib_gfns *gfns)
{
	int err;

	err = xenbus_printf(XBT_NIL, gfns->dir, XEN_VHCA_FIELD_DOORBELL_GFN, "%llu",
			    (unsigned long long)PHYS_PFN(gfns->res.start));
	if (err)
		return err;
	return xenbus_printf(XBT_NIL, gfns->dir, XEN_VHCA_FIELD_DOORBELL_GFNS, "%u", gfns->count);
}

static void withdraw(struct xenib_gfns *gfns)
{
	xenbus_rm(XBT_NIL, gfns->dir, XEN_VHCA_FIELD_DOORBELL_GFNS);
	xenbus_rm(XBT_NIL, gfns->dir, XEN_VHCA_FIELD_DOORBELL_GFN);
}

int xenib_gfns_init(struct xenib_gfns *gfns, unsigned int count, const char *dir)
{
	resource_size_t end = BIT_ULL(boot_cpu_data.x86_phys_bits) - 1;
	int err;

	if (!xen_feature(XENFEAT_auto_translated_physmap))
		return 0;

	gfns->used = bitmap_zalloc(count, GFP_KERNEL);
	if (!gfns->used)
		return -ENOMEM;
	gfns->count = count;
	gfns->dir = dir;
	gfns->res = (struct resource){ .name = "xenib doorbells", .flags = IORESOURCE_MEM };
	err = allocate_resource(&iomem_resource, &gfns->res, (resource_size_t)count * PAGE_SIZE,
				SZ_4G, end, PAGE_SIZE, NULL, NULL);
	if (err)
		goto err_free;
	err = publish(gfns);
	if (err)
		goto err_release;
	return 0;

err_release:
	withdraw(gfns);
	release_resource(&gfns->res);
err_free:
	bitmap_free(gfns->used);
	gfns->used = NULL;
	return err;
}

void xenib_gfns_exit(struct xenib_gfns *gfns)
{
	if (!gfns->used)
		return;
	withdraw(gfns);
	release_resource(&gfns->res);
	bitmap_free(gfns->used);
	gfns->used = NULL;
}

int xenib_gfn_get(struct xenib_gfns *gfns, u64 *gfn)
{
	unsigned long bit;

	*gfn = 0;
	if (!gfns->used)
		return 0;
	do {
		bit = find_first_zero_bit(gfns->used, gfns->count);
		if (bit >= gfns->count)
			return -ENOSPC;
	} while (test_and_set_bit(bit, gfns->used));
	*gfn = PHYS_PFN(gfns->res.start) + bit;
	return 0;
}

void xenib_gfn_put(struct xenib_gfns *gfns, u64 gfn)
{
	if (gfns->used)
		clear_bit(gfn - PHYS_PFN(gfns->res.start), gfns->used);
}
