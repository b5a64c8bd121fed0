// SPDX-License-Identifier: GPL-2.0
/*
 * buf.c - buffers and their owners: who may have how many pages, and pages that are added.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <xen/xen.h>

#include "grant.h"

struct ibgrant_owner *ibgrant_owner_new(domid_t domid, u32 limit)
{
	struct ibgrant_owner *owner = kzalloc(sizeof(*owner), GFP_KERNEL_ACCOUNT);

	if (!owner)
		return NULL;
	kref_init(&owner->kref);
	spin_lock_init(&owner->lock);
	owner->domid = domid;
	owner->limit = limit;
	return owner;
}

static void owner_free(struct kref *kref)
{
	kfree(container_of(kref, struct ibgrant_owner, kref));
}

void ibgrant_owner_put(struct ibgrant_owner *owner)
{
	kref_put(&owner->kref, owner_free);
}

int ibgrant_owner_range(struct ibgrant_owner *owner, int change)
{
	int err = 0;

	spin_lock(&owner->lock);
	if (change > 0 && owner->ranges >= owner->limit)
		err = -EDQUOT;
	else
		owner->ranges += change;
	spin_unlock(&owner->lock);
	return err;
}

bool ibgrant_owner_events(struct ibgrant_owner *owner, bool begin)
{
	bool changes;

	spin_lock(&owner->lock);
	changes = owner->events != begin;
	owner->events = begin;
	spin_unlock(&owner->lock);
	return changes;
}

static int charge(struct ibgrant_owner *owner, u32 pages)
{
	int err = 0;

	spin_lock(&owner->lock);
	if (pages > owner->limit - owner->pages)
		err = -EDQUOT;
	else
		owner->pages += pages;
	spin_unlock(&owner->lock);
	return err;
}

static void uncharge(struct ibgrant_owner *owner, u32 pages)
{
	spin_lock(&owner->lock);
	owner->pages -= pages;
	spin_unlock(&owner->lock);
}

/* PV: what Xen says is the device's address. Else: pages of this domain's, which have none yet. */
static int make_arrays(struct ibgrant_buf *buf, u32 pages)
{
	struct ibgrant_pages *p = &buf->pages;

	p->handle = kvmalloc_array(pages, sizeof(*p->handle), GFP_KERNEL_ACCOUNT);
	if (xen_pv_domain())
		p->addr = kvmalloc_array(pages, sizeof(*p->addr), GFP_KERNEL_ACCOUNT);
	else
		buf->host = kvcalloc(pages, sizeof(*buf->host), GFP_KERNEL_ACCOUNT);
	if (!p->handle || (!p->addr && !buf->host))
		return -ENOMEM;
	memset(p->handle, 0xff, pages * sizeof(*p->handle)); /* IBGRANT_FREE */
	p->count = pages;
	return 0;
}

struct ibgrant_buf *ibgrant_buf_new(struct ibgrant_owner *owner, u32 pages, bool read_only)
{
	struct ibgrant_buf *buf;
	int err = charge(owner, pages);

	if (err)
		return ERR_PTR(err);
	buf = kzalloc(sizeof(*buf), GFP_KERNEL_ACCOUNT);
	err = buf ? make_arrays(buf, pages) : -ENOMEM;
	if (err)
		goto err_free;
	kref_init(&buf->kref);
	kref_get(&owner->kref);
	buf->owner = owner;
	buf->read_only = read_only;
	mutex_init(&buf->lock);
	return buf;

err_free:
	if (buf) {
		kvfree(buf->pages.handle);
		kvfree(buf->pages.addr);
		kvfree(buf->host);
		kfree(buf);
	}
	uncharge(owner, pages);
	return ERR_PTR(err);
}

/* Also of one that is not complete. Nobody else has it, so pages are mapped or free. */
static void buf_free(struct kref *kref)
{
	struct ibgrant_buf *buf = container_of(kref, struct ibgrant_buf, kref);
	u32 at, n;

	for (at = 0; at < buf->pages.count; at += n) {
		n = min(buf->pages.count - at, UNMAP_BATCH);
		ibgrant_unmap(buf, at, n);
		cond_resched();
	}
	uncharge(buf->owner, buf->pages.count);
	ibgrant_owner_put(buf->owner);
	mutex_destroy(&buf->lock);
	kvfree(buf->pages.handle);
	kvfree(buf->pages.addr);
	kvfree(buf->host);
	kfree(buf);
}

void ibgrant_buf_put(struct ibgrant_buf *buf)
{
	kref_put(&buf->kref, buf_free);
}

/* How many of the pages, which are claimed, were mapped: all, or it says why not. */
static u32 map_claimed(struct ibgrant_buf *buf, u32 first, u32 count, const u32 __user *refs,
		       int *err)
{
	u32 size = min(count, MAP_BATCH), done, n;
	struct gnttab_map_grant_ref *op;
	u32 *ref;

	op = kvmalloc_array(size, sizeof(*op), GFP_KERNEL_ACCOUNT);
	ref = kvmalloc_array(size, sizeof(*ref), GFP_KERNEL_ACCOUNT);
	*err = op && ref ? 0 : -ENOMEM;
	for (done = 0; !*err && done < count; done += n) {
		n = min(count - done, size);
		if (copy_from_user(ref, refs + done, n * sizeof(*ref)))
			*err = -EFAULT;
		else if (fatal_signal_pending(current))
			*err = -EINTR;
		else
			*err = ibgrant_map(buf, first + done, n, ref, op);
		if (*err)
			break;
		cond_resched();
	}
	kvfree(ref);
	kvfree(op);
	return done;
}

int ibgrant_buf_add(struct ibgrant_buf *buf, u32 first, u32 count, const u32 __user *refs)
{
	u32 done, at, n;
	bool claimed;
	int err;

	mutex_lock(&buf->lock);
	claimed = ibgrant_claim(&buf->pages, first, count);
	mutex_unlock(&buf->lock);
	if (!claimed)
		return -EBUSY;
	done = map_claimed(buf, first, count, refs, &err);
	for (at = 0; err && at < done; at += n) {
		n = min(done - at, UNMAP_BATCH);
		ibgrant_unmap(buf, first + at, n);
		cond_resched();
	}
	mutex_lock(&buf->lock);
	if (err)
		ibgrant_unclaim(&buf->pages, first, count);
	else
		ibgrant_settle(&buf->pages, count);
	mutex_unlock(&buf->lock);
	return err;
}

bool ibgrant_buf_complete(struct ibgrant_buf *buf)
{
	bool complete;

	mutex_lock(&buf->lock);
	complete = ibgrant_complete(&buf->pages);
	mutex_unlock(&buf->lock);
	return complete;
}
