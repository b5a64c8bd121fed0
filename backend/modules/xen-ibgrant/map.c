// SPDX-License-Identifier: GPL-2.0
/*
 * map.c - grants are mapped and unmapped, as many as a batch has.
 *
 * A PV domain has them mapped for its devices alone (GNTMAP_device_map): Xen takes a reference on
 * the page, enters it into the IOMMU's table if there is one, and says which address it has for a
 * device. No page table of this domain is touched, and there is one entry in Xen's table of mapped
 * grants, where gntdev takes two.
 *
 * Xen refuses that to a domain whose memory it translates. There they are mapped (GNTMAP_host_map)
 * where this domain has no memory, and such pages have an address for a device by the DMA API.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <asm/xen/hypercall.h>
#include <xen/xen.h>

#include "grant.h"

static atomic64_t mapped = ATOMIC64_INIT(0);

u64 ibgrant_mapped(void)
{
	return atomic64_read(&mapped);
}

/* A domain whose memory Xen translates gives a physical address, where a PV domain's is virtual. */
static u64 host_addr(const struct ibgrant_buf *buf, u32 at)
{
	return page_to_phys(buf->host[at]);
}

static void prepare(struct ibgrant_buf *buf, u32 at, u32 n, const u32 *refs,
		    struct gnttab_map_grant_ref *op)
{
	u32 flags = buf->read_only ? GNTMAP_readonly : 0, i;

	for (i = 0; i < n; i++) {
		op[i] = (struct gnttab_map_grant_ref){
			.host_addr = buf->host ? host_addr(buf, at + i) : 0,
			.flags = flags | (buf->host ? GNTMAP_host_map : GNTMAP_device_map),
			.ref = refs[i],
			.dom = buf->owner->domid,
			.status = GNTST_general_error, /* until Xen says otherwise */
		};
	}
}

/* What the guest has done is EINVAL; what there is too little of is another matter. */
static int errno_of(s16 status)
{
	switch (status) {
	case GNTST_okay:
		return 0;
	case GNTST_no_space:
	case GNTST_no_device_space:
		return -ENOSPC;
	case GNTST_eagain:
		return -EAGAIN;
	default:
		return -EINVAL;
	}
}

/*
 * The hypercall itself, as gnttab_map_refs() and gnttab_batch_map() would wait for a page that is
 * not there now: half a minute for each, and deaf to signals.
 */
int ibgrant_map(struct ibgrant_buf *buf, u32 at, u32 n, const u32 *refs,
		struct gnttab_map_grant_ref *op)
{
	int err = 0;
	u32 i;

	if (buf->host) {
		err = gnttab_alloc_pages(n, buf->host + at);
		if (err) {
			/* It may have left some that it has freed. */
			memset(buf->host + at, 0, n * sizeof(*buf->host));
			return err;
		}
	}
	prepare(buf, at, n, refs, op);
	if (HYPERVISOR_grant_table_op(GNTTABOP_map_grant_ref, op, n))
		err = -EIO;
	for (i = 0; i < n; i++) {
		if (op[i].status == GNTST_okay) {
			buf->pages.handle[at + i] = op[i].handle;
			if (buf->pages.addr)
				buf->pages.addr[at + i] = op[i].dev_bus_addr;
			atomic64_inc(&mapped);
		} else if (!err) {
			err = errno_of(op[i].status);
			pr_debug("d%u: reference %u: status %d\n", buf->owner->domid, refs[i],
				 op[i].status);
		}
	}
	for (i = 0; err && i < n; i += UNMAP_BATCH)
		ibgrant_unmap(buf, at + i, min(n - i, UNMAP_BATCH));
	return err;
}

/* A page that Xen does not unmap stays the guest's, and nobody's else: it is not given back. */
static void set_unmapped(struct ibgrant_buf *buf, u32 at, s16 status)
{
	buf->pages.handle[at] = IBGRANT_CLAIMED;
	if (WARN_ONCE(status != GNTST_okay, "d%u: a grant is not unmapped: status %d\n",
		      buf->owner->domid, status)) {
		if (buf->host)
			buf->host[at] = NULL;
		return;
	}
	atomic64_dec(&mapped);
}

/* The pages that grants were mapped in are free for others. */
static void free_host(struct ibgrant_buf *buf, u32 at, u32 n)
{
	u32 i;

	for (i = at; i < at + n; i++) {
		if (!buf->host[i])
			continue;
		gnttab_free_pages(1, &buf->host[i]);
		buf->host[i] = NULL;
	}
}

void ibgrant_unmap(struct ibgrant_buf *buf, u32 at, u32 n)
{
	struct gnttab_unmap_grant_ref op[UNMAP_BATCH];
	u32 page[UNMAP_BATCH], i, k = 0;

	for (i = at; i < at + n; i++) {
		if (!ibgrant_is_mapped(&buf->pages, i))
			continue;
		op[k] = (struct gnttab_unmap_grant_ref){
			.host_addr = buf->host ? host_addr(buf, i) : 0,
			.dev_bus_addr = buf->host ? 0 : buf->pages.addr[i],
			.handle = buf->pages.handle[i],
			.status = GNTST_general_error,
		};
		page[k++] = i;
	}
	if (k && HYPERVISOR_grant_table_op(GNTTABOP_unmap_grant_ref, op, k))
		pr_err("d%u: grants are not unmapped\n", buf->owner->domid);
	for (i = 0; i < k; i++)
		set_unmapped(buf, page[i], op[i].status);
	if (buf->host)
		free_host(buf, at, n);
}

int ibgrant_map_page(struct ibgrant_page *page, domid_t domid, grant_ref_t ref)
{
	struct gnttab_map_grant_ref op;
	int err = gnttab_alloc_pages(1, &page->page);

	if (err) {
		page->page = NULL;
		return err;
	}
	gnttab_set_map_op(&op, (unsigned long)page_address(page->page), GNTMAP_host_map, ref,
			  domid);
	err = gnttab_map_refs(&op, NULL, &page->page, 1);
	if (!err)
		err = errno_of(op.status);
	if (err) {
		gnttab_free_pages(1, &page->page);
		page->page = NULL;
		return err;
	}
	page->handle = op.handle;
	atomic64_inc(&mapped);
	return 0;
}

/* As above: one that Xen does not unmap is nobody's any more. */
void ibgrant_unmap_page(struct ibgrant_page *page)
{
	struct gnttab_unmap_grant_ref op;

	gnttab_set_unmap_op(&op, (unsigned long)page_address(page->page), GNTMAP_host_map,
			    page->handle);
	if (WARN_ONCE(gnttab_unmap_refs(&op, NULL, &page->page, 1) || op.status != GNTST_okay,
		      "a page of events is not unmapped: status %d\n", op.status))
		return;
	atomic64_dec(&mapped);
	gnttab_free_pages(1, &page->page);
}
