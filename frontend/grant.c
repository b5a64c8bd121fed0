// SPDX-License-Identifier: GPL-2.0
/*
 * grant.c - grants for pages that the HCA is to use.
 *
 * A grant ends normally after the backend has said that it has unmapped the page. If it has not, or
 * if it died and its domain is still at releasing what it had, the HCA may still write to the page:
 * it is put on a list, with a reference of its own, and tried again until the grant can be ended.
 * The kernel's list for that (gnttab_end_foreign_access) takes ten pages a second, which is too
 * slow for registered memory.
 *
 * A backend that has said that it has unmapped a page, and still has it mapped a good while later,
 * has lied. Its device is to end then: see struct xenib_grantee.
 */
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <xen/page.h>

#include "grant.h"

#define GRANT_BATCH 1024U
#define RETRY_DELAY HZ
/* An honest backend's kernel unmaps at once, or as soon as nobody looks at the page any more. */
#define PATIENCE_SECONDS 10

struct held_page {
	struct page *page;
	grant_ref_t ref;
	u32 since; /* seconds */
};

/* A page full of held pages, of one grantee or of none. */
#define HELD_PAGES ((PAGE_SIZE - 32) / sizeof(struct held_page))
struct held_batch {
	struct list_head list;
	struct xenib_grantee *grantee;
	unsigned int count;
	struct held_page held[HELD_PAGES];
};

static_assert(sizeof(struct held_batch) <= PAGE_SIZE);

static void retry_work(struct work_struct *work);

static LIST_HEAD(held_batches);
static DEFINE_MUTEX(held_lock);
static DECLARE_DELAYED_WORK(held_work, retry_work);

/* Ends what can be ended of a batch. Returns true if nothing is left of it. */
static bool retry_batch(struct held_batch *batch)
{
	unsigned int i, left = 0;

	for (i = 0; i < batch->count; i++) {
		if (gnttab_try_end_foreign_access(batch->held[i].ref))
			put_page(batch->held[i].page);
		else
			batch->held[left++] = batch->held[i];
	}
	batch->count = left;
	return !left;
}

static void forget_locked(struct xenib_grantee *grantee)
{
	struct held_batch *batch;

	list_for_each_entry(batch, &held_batches, list) {
		if (batch->grantee == grantee)
			batch->grantee = NULL;
	}
}

static void check_debt(struct held_batch *batch, u32 now)
{
	struct xenib_grantee *grantee = batch->grantee;
	unsigned int i;

	for (i = 0; grantee && i < batch->count; i++) {
		if (now - batch->held[i].since < PATIENCE_SECONDS)
			continue;
		forget_locked(grantee);
		grantee->fault(grantee);
		break;
	}
}

static void retry_locked(void)
{
	u32 now = ktime_get_seconds();
	struct held_batch *batch, *next;

	list_for_each_entry_safe(batch, next, &held_batches, list) {
		if (retry_batch(batch)) {
			list_del(&batch->list);
			kfree(batch);
		} else {
			check_debt(batch, now);
		}
		cond_resched();
	}
}

static void retry_work(struct work_struct *work)
{
	mutex_lock(&held_lock);
	retry_locked();
	if (!list_empty(&held_batches))
		schedule_delayed_work(&held_work, RETRY_DELAY);
	mutex_unlock(&held_lock);
}

void xenib_grants_retry(void)
{
	mutex_lock(&held_lock);
	retry_locked();
	mutex_unlock(&held_lock);
}

void xenib_grantee_forget(struct xenib_grantee *grantee)
{
	mutex_lock(&held_lock);
	forget_locked(grantee);
	mutex_unlock(&held_lock);
}

/* A batch with room, or NULL. */
static struct held_batch *held_room(struct xenib_grantee *grantee)
{
	struct held_batch *batch;

	batch = list_first_entry_or_null(&held_batches, struct held_batch, list);
	if (batch && batch->grantee == grantee && batch->count < HELD_PAGES)
		return batch;
	batch = kzalloc(sizeof(*batch), GFP_KERNEL);
	if (batch) {
		batch->grantee = grantee;
		list_add(&batch->list, &held_batches);
	}
	return batch;
}

static void hold_page(struct page *page, grant_ref_t ref, struct xenib_grantee *grantee)
{
	struct held_batch *batch;

	get_page(page);
	mutex_lock(&held_lock);
	batch = held_room(grantee);
	if (batch)
		batch->held[batch->count++] = (struct held_page){
			.page = page,
			.ref = ref,
			.since = ktime_get_seconds(),
		};
	else
		gnttab_end_foreign_access(ref, page);
	schedule_delayed_work(&held_work, RETRY_DELAY);
	mutex_unlock(&held_lock);
}

void xenib_grants_end(struct page **pages, size_t count, const grant_ref_t *refs,
		      struct xenib_grantee *grantee)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!(i % GRANT_BATCH))
			cond_resched();
		if (!gnttab_try_end_foreign_access(refs[i]))
			hold_page(pages[i], refs[i], grantee);
	}
}

int xenib_grants_make(struct page **pages, size_t count, domid_t domid, bool readonly,
		      grant_ref_t *refs)
{
	grant_ref_t batch = 0;
	int err = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!(i % GRANT_BATCH)) {
			cond_resched();
			if (fatal_signal_pending(current)) {
				err = -EINTR;
				break;
			}
			if (gnttab_alloc_grant_references(min_t(size_t, count - i, GRANT_BATCH),
							  &batch)) {
				err = -ENOMEM;
				break;
			}
		}
		refs[i] = gnttab_claim_grant_reference(&batch);
		gnttab_grant_foreign_access_ref(refs[i], domid, xen_page_to_gfn(pages[i]),
						readonly);
	}
	if (err)
		xenib_grants_end(pages, i, refs, NULL);
	return err;
}

void xenib_grants_exit(void)
{
	struct held_batch *batch, *next;
	unsigned int i;

	cancel_delayed_work_sync(&held_work);
	retry_locked();
	list_for_each_entry_safe(batch, next, &held_batches, list) {
		for (i = 0; i < batch->count; i++)
			gnttab_end_foreign_access(batch->held[i].ref, batch->held[i].page);
		list_del(&batch->list);
		kfree(batch);
	}
}
