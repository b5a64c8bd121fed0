// SPDX-License-Identifier: GPL-2.0
/*
 * dbr.c - pages of doorbell records. A page has many records; it is pinned, granted and offered
 * once, and lives as long as any object has its record there.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "mem.h"
#include "xenib.h"

void xenib_dbr_pages_init(struct xenib_dbr_pages *pages)
{
	mutex_init(&pages->lock);
	INIT_LIST_HEAD(&pages->list);
}

/*
 * The mm belongs to the key: after a fork two processes can use one context, and the same address
 * is another page.
 */
static struct xenib_dbr_page *find_page(struct xenib_dbr_pages *pages, u64 addr)
{
	struct xenib_dbr_page *page;

	list_for_each_entry(page, &pages->list, list)
		if (page->addr == addr && page->mm == current->mm)
			return page;
	return NULL;
}

static struct xenib_dbr_page *add_page(struct xenib_ucontext *ctx, u64 addr)
{
	struct xenib_dbr_page *page;
	int err;

	page = kzalloc(sizeof(*page), GFP_KERNEL);
	if (!page)
		return ERR_PTR(-ENOMEM);
	err = xenib_region_create(ctx, &page->region, addr, PAGE_SIZE);
	if (err) {
		kfree(page);
		return ERR_PTR(err);
	}
	page->addr = addr;
	page->mm = current->mm;
	list_add(&page->list, &ctx->dbrs.list);
	return page;
}

int xenib_dbr_get(struct xenib_ucontext *ctx, struct xenib_dbr *dbr, u64 addr)
{
	struct xenib_dbr_page *page;
	int err = 0;

	if (!IS_ALIGNED(addr, 8))
		return -EINVAL;
	if (mutex_lock_killable(&ctx->dbrs.lock))
		return -EINTR;
	page = find_page(&ctx->dbrs, addr & PAGE_MASK);
	if (!page)
		page = add_page(ctx, addr & PAGE_MASK);
	if (IS_ERR(page)) {
		err = PTR_ERR(page);
		goto unlock;
	}
	page->users++;
	dbr->page = page;
	dbr->offset = offset_in_page(addr);
unlock:
	mutex_unlock(&ctx->dbrs.lock);
	return err;
}

void xenib_dbr_put(struct xenib_ucontext *ctx, struct xenib_dbr *dbr)
{
	struct xenib_dbr_page *page = dbr->page;

	mutex_lock(&ctx->dbrs.lock);
	if (!--page->users) {
		list_del(&page->list);
		xenib_region_release(ctx->dev, &page->region);
		kfree(page);
	}
	mutex_unlock(&ctx->dbrs.lock);
}

struct xen_vhca_place xenib_dbr_place(const struct xenib_dbr *dbr)
{
	return (struct xen_vhca_place){
		.mem = dbr->page->region.handle,
		.offset = dbr->offset,
	};
}
