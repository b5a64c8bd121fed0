// SPDX-License-Identifier: GPL-2.0
/*
 * kept.c - the registration cache: see kept.h.
 *
 * What makes it safe to use a region again is that its pages are still what the process has at
 * these addresses. An MMU notifier watches that: whatever changes there, by munmap, mprotect,
 * madvise, fork or the end of a file, makes the region stale. A stale one is not found any
 * more, and released as soon as nobody uses it.
 *
 * The life of a region: in use, then idle, then released; or, where whoever ends it may not sleep,
 * doomed in between. Only what is idle or in use can be found.
 */
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "kept.h"
#include "xenib.h"

/* Regions, whatever their size: each is one of the backend's, of which there are so many. */
#define MOST_IDLE 4096U

static int keep_mib = -1;
module_param(keep_mib, int, 0644);
MODULE_PARM_DESC(keep_mib, "MiB of memory whose registration is kept after its last MR is gone (0: none, -1: half of the memory, or one region of any size)");

/*
 * By default there is no size from which on a program pays for each registration anew: a region
 * that is too large to be kept beside others is kept alone. Its process has the memory in any case.
 * The backend's limit is no obstacle, as whoever is refused for that flushes and tries again.
 */
struct bound {
	size_t pages;
	unsigned int regions; /* are kept whatever their pages */
};

static struct bound keep_bound(void)
{
	int mib = READ_ONCE(keep_mib);

	if (mib < 0)
		return (struct bound){ .pages = totalram_pages() / 2, .regions = 1 };
	return (struct bound){ .pages = (size_t)mib << (20 - PAGE_SHIFT) };
}

static u64 key_of(const struct xenib_ucontext *ctx, u64 first)
{
	return (first >> PAGE_SHIFT) ^ (unsigned long)ctx;
}

/* With the lock held. Without users and known: what nobody may find is released, or about to be. */
static bool is_idle(const struct xenib_kept *kept)
{
	return !kept->users && !hlist_unhashed(&kept->known);
}

/* With the lock held. */
static void leave_idle(struct xenib_kept *kept)
{
	kept->keeper->idle_pages -= kept->pages;
	kept->keeper->idle_regions--;
	list_del(&kept->list);
}

/* With the lock held. */
static void enter_idle(struct xenib_kept *kept)
{
	kept->keeper->idle_pages += kept->pages;
	kept->keeper->idle_regions++;
	list_add_tail(&kept->list, &kept->keeper->idle);
}

/* With the lock held: an idle one, that nobody shall find any more. */
static void doom(struct xenib_kept *kept)
{
	leave_idle(kept);
	hash_del(&kept->known);
	list_add_tail(&kept->list, &kept->keeper->doomed);
}

/* With the lock held. Returns whether there is anything to release. */
static bool start_release(struct xenib_keeper *keeper)
{
	if (list_empty(&keeper->doomed))
		return false;
	queue_work(system_unbound_wq, &keeper->work);
	return true;
}

/* What is there changes, or may. Called with locks of the process's memory held. */
static bool memory_changes(struct mmu_interval_notifier *notifier,
			   const struct mmu_notifier_range *range, unsigned long seq)
{
	struct xenib_kept *kept = container_of(notifier, struct xenib_kept, notifier);
	struct xenib_keeper *keeper = kept->keeper;

	spin_lock(&keeper->lock);
	mmu_interval_set_seq(notifier, seq);
	kept->stale = true;
	if (is_idle(kept)) {
		doom(kept);
		start_release(keeper);
	} else {
		hash_del(&kept->known);
	}
	spin_unlock(&keeper->lock);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = memory_changes,
};

/* No user, on no list. */
static void release(struct xenib_kept *kept)
{
	if (kept->watched)
		mmu_interval_notifier_remove(&kept->notifier);
	xenib_region_release(kept->keeper->dev, &kept->region);
	kfree(kept);
}

/* All that is doomed is released here, so who waits for the work item waits for all of it. */
static void release_work(struct work_struct *work)
{
	struct xenib_keeper *keeper = container_of(work, struct xenib_keeper, work);
	struct xenib_kept *kept, *next;
	LIST_HEAD(doomed);

	spin_lock(&keeper->lock);
	list_splice_init(&keeper->doomed, &doomed);
	spin_unlock(&keeper->lock);
	list_for_each_entry_safe(kept, next, &doomed, list) {
		release(kept);
		cond_resched();
	}
}

void xenib_keeper_init(struct xenib_keeper *keeper, struct xenib_dev *dev, bool small)
{
	keeper->dev = dev;
	keeper->small = small;
	spin_lock_init(&keeper->lock);
	hash_init(keeper->known);
	INIT_LIST_HEAD(&keeper->idle);
	INIT_LIST_HEAD(&keeper->doomed);
	INIT_WORK(&keeper->work, release_work);
}

void xenib_keeper_exit(struct xenib_keeper *keeper)
{
	flush_work(&keeper->work);
	WARN_ON(!list_empty(&keeper->idle) || !list_empty(&keeper->doomed));
}

/* With the lock held. */
static struct xenib_kept *find(struct xenib_keeper *keeper, const struct xenib_kept *like)
{
	struct xenib_kept *kept;

	hash_for_each_possible(keeper->known, kept, known, key_of(like->ctx, like->first)) {
		if (kept->ctx == like->ctx && kept->mm == like->mm && kept->first == like->first &&
		    kept->pages == like->pages && kept->writable == like->writable)
			return kept;
	}
	return NULL;
}

static struct xenib_kept *use_again(struct xenib_keeper *keeper, const struct xenib_kept *like)
{
	struct xenib_kept *kept;

	spin_lock(&keeper->lock);
	kept = find(keeper, like);
	if (kept) {
		if (is_idle(kept))
			leave_idle(kept);
		kept->users++;
	}
	spin_unlock(&keeper->lock);
	return kept;
}

/*
 * Before the pages are pinned, so that every change after that is seen. A change that has begun
 * already is waited for. Without a notifier the region is one that is not kept.
 */
static void watch(struct xenib_kept *kept)
{
	kept->watched = !mmu_interval_notifier_insert(&kept->notifier, kept->mm, kept->first,
						      kept->pages << PAGE_SHIFT, &notifier_ops);
	if (kept->watched)
		mmu_interval_read_begin(&kept->notifier);
}

static struct xenib_kept *make(const struct xenib_kept *like, u64 addr, u64 length, int access)
{
	struct xenib_kept *kept;
	int err;

	kept = kmemdup(like, sizeof(*like), GFP_KERNEL);
	if (!kept)
		return ERR_PTR(-ENOMEM);
	INIT_HLIST_NODE(&kept->known);
	if (keep_bound().pages)
		watch(kept);
	err = xenib_region_pin(kept->keeper->dev, &kept->region, addr, length, access);
	if (!err)
		return kept;
	if (kept->watched)
		mmu_interval_notifier_remove(&kept->notifier);
	kfree(kept);
	return ERR_PTR(err);
}

struct xenib_kept *xenib_kept_get(struct xenib_ucontext *ctx, u64 addr, u64 length, int access)
{
	struct xenib_keeper *keeper = &ctx->dev->keeper;
	struct xenib_kept like = {
		.keeper = keeper,
		.ctx = ctx,
		.mm = current->mm,
		.first = addr & PAGE_MASK,
		.pages = (PAGE_ALIGN(addr + length) - (addr & PAGE_MASK)) >> PAGE_SHIFT,
		.writable = ib_access_writable(access),
		.users = 1,
	};
	struct xenib_kept *kept;

	/* The same question as ib_umem_get() asks; what follows relies on the answer. */
	if (addr + length < addr || PAGE_ALIGN(addr + length) < addr + length)
		return ERR_PTR(-EINVAL);
	kept = use_again(keeper, &like);
	if (kept)
		return kept;
	kept = make(&like, addr, length, access);
	if (kept == ERR_PTR(-ENOMEM) && xenib_kept_flush(keeper))
		kept = make(&like, addr, length, access);
	return kept;
}

void xenib_kept_share(struct xenib_kept *kept)
{
	struct xenib_keeper *keeper = kept->keeper;

	if (!kept->watched || kept->region.handle == XEN_VHCA_NO_HANDLE)
		return;
	spin_lock(&keeper->lock);
	if (!kept->stale && hlist_unhashed(&kept->known))
		hash_add(keeper->known, &kept->known, key_of(kept->ctx, kept->first));
	spin_unlock(&keeper->lock);
}

/* With the lock held. */
static void make_room(struct xenib_keeper *keeper)
{
	const struct bound most = keep_bound();

	while ((keeper->idle_pages > most.pages && keeper->idle_regions > most.regions) ||
	       keeper->idle_regions > MOST_IDLE)
		doom(list_first_entry(&keeper->idle, struct xenib_kept, list));
	start_release(keeper);
}

void xenib_kept_put(struct xenib_kept *kept)
{
	struct xenib_keeper *keeper = kept->keeper;
	bool gone = false;

	spin_lock(&keeper->lock);
	if (!--kept->users) {
		gone = hlist_unhashed(&kept->known);
		if (!gone) {
			enter_idle(kept);
			make_room(keeper);
		}
	}
	spin_unlock(&keeper->lock);
	if (gone)
		release(kept);
}

/* Releases what is idle, of one context or of all, and waits for all that is doomed. */
static bool release_idle(struct xenib_keeper *keeper, const struct xenib_ucontext *ctx)
{
	struct xenib_kept *kept, *next;
	bool any;

	spin_lock(&keeper->lock);
	list_for_each_entry_safe(kept, next, &keeper->idle, list) {
		if (!ctx || kept->ctx == ctx)
			doom(kept);
	}
	any = start_release(keeper);
	spin_unlock(&keeper->lock);
	return flush_work(&keeper->work) || any;
}

bool xenib_kept_flush(struct xenib_keeper *keeper)
{
	return release_idle(keeper, NULL);
}

void xenib_kept_forget(struct xenib_ucontext *ctx)
{
	release_idle(&ctx->dev->keeper, ctx);
}
