// SPDX-License-Identifier: GPL-2.0
/*
 * uar.c - a doorbell page that the kernel rings itself.
 */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include <asm/xen/hypercall.h>
#include <asm/xen/page.h>
#include <xen/features.h>

#include "kernel/kverbs.h"

/* The first 2 KiB of a UAR page hold other registers. */
#define SEND_REGISTERS_AT 0x800

static int put_entry(void *addr, pte_t pte)
{
	return HYPERVISOR_update_va_mapping((unsigned long)addr, pte, UVMF_INVLPG | UVMF_ALL);
}

/*
 * No guest frame names the machine frame, so ioremap() cannot map it. A page of our own is given an
 * address, and then its entry in the page table, which all CPUs share, is replaced.
 */
static void __iomem *map_machine_frame(struct xenib_kuar *kuar)
{
	void *addr;

	kuar->place = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!kuar->place)
		return NULL;
	addr = vmap(&kuar->place, 1, VM_MAP, PAGE_KERNEL);
	if (!addr)
		goto err_free;
	if (put_entry(addr, mfn_pte(kuar->uar.frame, pgprot_noncached(PAGE_KERNEL))))
		goto err_unmap;
	return (void __iomem __force *)addr;

err_unmap:
	vunmap(addr);
err_free:
	__free_page(kuar->place);
	return NULL;
}

static void withdraw_machine_frame(struct xenib_kuar *kuar)
{
	void *addr = (void __force *)kuar->bell.page;

	WARN_ON(put_entry(addr, mk_pte(kuar->place, PAGE_KERNEL)));
}

/* The entry of before comes back first: vunmap() is to find the page that vmap() was given. */
static void unmap_machine_frame(struct xenib_kuar *kuar)
{
	withdraw_machine_frame(kuar);
	vunmap((void __force *)kuar->bell.page);
	__free_page(kuar->place);
}

static void __iomem *map(struct xenib_kuar *kuar)
{
	if (xen_feature(XENFEAT_auto_translated_physmap))
		return ioremap(kuar->uar.frame << PAGE_SHIFT, PAGE_SIZE);
	return map_machine_frame(kuar);
}

static void unmap(struct xenib_kuar *kuar)
{
	if (xen_feature(XENFEAT_auto_translated_physmap))
		iounmap(kuar->bell.page);
	else
		unmap_machine_frame(kuar);
}

/* Doorbells of 8 bytes alone: no write combining. */
int xenib_kuar_create(struct xenib_context *ctx, struct xenib_kuar *kuar)
{
	struct xenib_uar *uar = &kuar->uar;
	int err;

	uar->ctx = ctx;
	uar->type = XENIB_UAR_NC;
	err = xenib_uar_offer(uar);
	if (err)
		return err;
	if (uar->bf_offset < SEND_REGISTERS_AT || uar->bf_offset > PAGE_SIZE - 8 ||
	    !IS_ALIGNED(uar->bf_offset, 8)) {
		ibdev_err(&ctx->dev->ibdev, "refusing send registers at %#x of a doorbell page\n",
			  uar->bf_offset);
		err = -EIO;
		goto err_return;
	}
	kuar->bell.page = map(kuar);
	if (!kuar->bell.page) {
		err = -ENOMEM;
		goto err_return;
	}
	kuar->bell.send_at = uar->bf_offset;
	kuar->bell.bf_size = 0;
	xenib_lock_init(&kuar->bell.lock);
	return 0;

err_return:
	xenib_uar_return(uar);
	return err;
}

void xenib_kuar_withdraw(struct xenib_kuar *kuar)
{
	if (!xen_feature(XENFEAT_auto_translated_physmap))
		withdraw_machine_frame(kuar);
}

void xenib_kuar_destroy(struct xenib_kuar *kuar)
{
	unmap(kuar);
	xenib_uar_return(&kuar->uar);
}
