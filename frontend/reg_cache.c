// SPDX-License-Identifier: GPL-2.0
/*
 * reg_cache.c - the registration cache: see reg_cache.h.
 *
 * What makes it safe to use a umem again is that its pages are still what the process has at
 * these addresses. An MMU notifier watches that: whatever changes there, by munmap, mprotect,
 * madvise, fork or the end of a file, makes the umem stale. A stale one is not found any
 * more, and released as soon as nobody uses it.
 *
 * The life of a umem: in use, then idle, then released; or, where whoever ends it may not sleep,
 * evicted in between. Only what is idle or in use can be found.
 */
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "reg_cache.h"
#include "xenib.h"

/* Umems, whatever their size: each is one of the backend's, of which there are so many. */
#define MOST_IDLE 4096U

static int keep_mib = -1;
module_param(keep_mib, int, 0644);
/* clang-format off */
MODULE_PARM_DESC(keep_mib, "MiB of memory whose registration is kept after its last MR is gone (0: none, -1: half of the memory, or one umem of any size)");
/* clang-format on */

/*
 * By default there is no size from which on a program pays for each registration anew: a umem
 * that is too large to be kept beside others is kept alone. Its process has the memory in any case.
 * The backend's limit is no obstacle, as whoever is refused for that flushes and tries again.
 */
struct bound {
	size_t pages;
	unsigned int umems; /* are kept whatever their pages */
};

static struct bound keep_bound(void)
{
	int mib = READ_ONCE(keep_mib);

	if (mib < 0)
		return (struct bound){ .pages = totalram_pages() / 2, .umems = 1 };
	return (struct bound){ .pages = (size_t)mib << (20 - PAGE_SHIFT) };
}

static u64 key_of(const struct xenib_context *ctx, u64 first)
{
	return (first >> PAGE_SHIFT) ^ (unsigned long)ctx;
}

/* With the lock held. Without users and known: what nobody may find is released, or about to be. */
static bool is_idle(const struct xenib_reg *reg)
{
	return !reg->users && !hlist_unhashed(&reg->known);
}

/* With the lock held. */
static void leave_idle(struct xenib_reg *reg)
{
	reg->cache->idle_pages -= reg->pages;
	reg->cache->idle_umems--;
	list_del(&reg->list);
}

/* With the lock held. */
static void enter_idle(struct xenib_reg *reg)
{
	reg->cache->idle_pages += reg->pages;
	reg->cache->idle_umems++;
	list_add_tail(&reg->list, &reg->cache->idle);
}

/* With the lock held: an idle one, that nobody shall find any more. */
static void evict(struct xenib_reg *reg)
{
	leave_idle(reg);
	hash_del(&reg->known);
	list_add_tail(&reg->list, &reg->cache->evicted);
}

/* With the lock held. Returns whether there is anything to release. */
static bool start_release(struct xenib_reg_cache *cache)
{
	if (list_empty(&cache->evicted))
		return false;
	queue_work(system_dfl_wq, &cache->work);
	return true;
}

/* What is there changes, or may. Called with locks of the process's memory held. */
static bool memory_changes(struct mmu_interval_notifier *notifier,
			   const struct mmu_notifier_range *range, unsigned long seq)
{
	struct xenib_reg *reg = container_of(notifier, struct xenib_reg, notifier);
	struct xenib_reg_cache *cache = reg->cache;

	spin_lock(&cache->lock);
	mmu_interval_set_seq(notifier, seq);
	reg->stale = true;
	if (is_idle(reg)) {
		evict(reg);
		start_release(cache);
	} else {
		hash_del(&reg->known);
	}
	spin_unlock(&cache->lock);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = memory_changes,
};

/* No user, on no list. */
static void release(struct xenib_reg *reg)
{
	if (reg->watched)
		mmu_interval_notifier_remove(&reg->notifier);
	xenib_umem_release(reg->cache->dev, &reg->umem);
	kfree(reg);
}

/* All that is evicted is released here, so who waits for the work item waits for all of it. */
static void release_work(struct work_struct *work)
{
	struct xenib_reg_cache *cache = container_of(work, struct xenib_reg_cache, work);
	struct xenib_reg *reg, *next;
	LIST_HEAD(evicted);

	spin_lock(&cache->lock);
	list_splice_init(&cache->evicted, &evicted);
	spin_unlock(&cache->lock);
	list_for_each_entry_safe(reg, next, &evicted, list) {
		release(reg);
		cond_resched();
	}
	WRITE_ONCE(cache->releases, cache->releases + 1);
}

void xenib_reg_cache_init(struct xenib_reg_cache *cache, struct xenib_dev *dev, bool small)
{
	cache->dev = dev;
	cache->small = small;
	spin_lock_init(&cache->lock);
	hash_init(cache->known);
	INIT_LIST_HEAD(&cache->idle);
	INIT_LIST_HEAD(&cache->evicted);
	INIT_WORK(&cache->work, release_work);
}

void xenib_reg_cache_exit(struct xenib_reg_cache *cache)
{
	flush_work(&cache->work);
	WARN_ON(!list_empty(&cache->idle) || !list_empty(&cache->evicted));
}

/* With the lock held. */
static struct xenib_reg *find(struct xenib_reg_cache *cache, const struct xenib_reg *like)
{
	struct xenib_reg *reg;

	hash_for_each_possible(cache->known, reg, known, key_of(like->ctx, like->first)) {
		if (reg->ctx == like->ctx && reg->mm == like->mm && reg->first == like->first &&
		    reg->pages == like->pages && reg->writable == like->writable)
			return reg;
	}
	return NULL;
}

static struct xenib_reg *use_again(struct xenib_reg_cache *cache, const struct xenib_reg *like)
{
	struct xenib_reg *reg;

	spin_lock(&cache->lock);
	reg = find(cache, like);
	if (reg) {
		if (is_idle(reg))
			leave_idle(reg);
		reg->users++;
	}
	spin_unlock(&cache->lock);
	return reg;
}

/*
 * Before the pages are pinned, so that every change after that is seen. A change that has begun
 * already is waited for. Without a notifier the umem is not cached.
 */
static void watch(struct xenib_reg *reg)
{
	reg->watched = !mmu_interval_notifier_insert(&reg->notifier, reg->mm, reg->first,
						     reg->pages << PAGE_SHIFT, &notifier_ops);
	if (reg->watched)
		mmu_interval_read_begin(&reg->notifier);
}

static struct xenib_reg *make(const struct xenib_reg *like, u64 addr, u64 length, int access)
{
	struct xenib_reg *reg;
	int err;

	reg = kmemdup(like, sizeof(*like), GFP_KERNEL);
	if (!reg)
		return ERR_PTR(-ENOMEM);
	INIT_HLIST_NODE(&reg->known);
	if (keep_bound().pages)
		watch(reg);
	err = xenib_umem_pin(reg->cache->dev, &reg->umem, addr, length, access);
	if (!err)
		return reg;
	if (reg->watched)
		mmu_interval_notifier_remove(&reg->notifier);
	kfree(reg);
	return ERR_PTR(err);
}

struct xenib_reg *xenib_reg_cache_get(struct xenib_context *ctx, u64 addr, u64 length, int access)
{
	struct xenib_reg_cache *cache = &ctx->dev->reg_cache;
	struct xenib_reg like = {
		.cache = cache,
		.ctx = ctx,
		.mm = current->mm,
		.first = addr & PAGE_MASK,
		.pages = (PAGE_ALIGN(addr + length) - (addr & PAGE_MASK)) >> PAGE_SHIFT,
		.writable = ib_access_writable(access),
		.users = 1,
	};
	unsigned int since = xenib_reg_cache_releases(cache);
	struct xenib_reg *reg;

	/* The same question as ib_umem_get() asks; what follows relies on the answer. */
	if (addr + length < addr || PAGE_ALIGN(addr + length) < addr + length)
		return ERR_PTR(xenib_refuse(ctx->dev, -EINVAL, "%#llx bytes at %#llx", length,
					    addr));
	reg = use_again(cache, &like);
	if (reg)
		return reg;
	reg = make(&like, addr, length, access);
	if (reg == ERR_PTR(-ENOMEM) && xenib_reg_cache_flush(cache, since))
		reg = make(&like, addr, length, access);
	return reg;
}

/* It is not watched, and so found by nobody, and released with its last user. */
struct xenib_reg *xenib_reg_make_dmabuf(struct xenib_context *ctx, int fd, u64 offset, u64 length,
					int access)
{
	struct xenib_reg *reg;
	int err;

	reg = kzalloc(sizeof(*reg), GFP_KERNEL);
	if (!reg)
		return ERR_PTR(-ENOMEM);
	reg->cache = &ctx->dev->reg_cache;
	reg->ctx = ctx;
	reg->users = 1;
	INIT_HLIST_NODE(&reg->known);
	err = xenib_umem_pin_dmabuf(ctx->dev, &reg->umem, fd, offset, length, access);
	if (!err)
		return reg;
	kfree(reg);
	return ERR_PTR(err);
}

void xenib_reg_cache_share(struct xenib_reg *reg)
{
	struct xenib_reg_cache *cache = reg->cache;

	if (!reg->watched || reg->umem.handle == XEN_VHCA_NO_HANDLE)
		return;
	spin_lock(&cache->lock);
	if (!reg->stale && hlist_unhashed(&reg->known))
		hash_add(cache->known, &reg->known, key_of(reg->ctx, reg->first));
	spin_unlock(&cache->lock);
}

/* With the lock held. */
static void make_room(struct xenib_reg_cache *cache)
{
	const struct bound most = keep_bound();

	while ((cache->idle_pages > most.pages && cache->idle_umems > most.umems) ||
	       cache->idle_umems > MOST_IDLE)
		evict(list_first_entry(&cache->idle, struct xenib_reg, list));
	start_release(cache);
}

void xenib_reg_cache_put(struct xenib_reg *reg)
{
	struct xenib_reg_cache *cache = reg->cache;
	bool gone = false;

	spin_lock(&cache->lock);
	if (!--reg->users) {
		gone = hlist_unhashed(&reg->known);
		if (!gone) {
			enter_idle(reg);
			make_room(cache);
		}
	}
	spin_unlock(&cache->lock);
	if (gone)
		release(reg);
}

/* Releases what is idle, of one context or of all, and waits for all that is evicted. */
static bool release_idle(struct xenib_reg_cache *cache, const struct xenib_context *ctx)
{
	struct xenib_reg *reg, *next;
	bool any;

	spin_lock(&cache->lock);
	list_for_each_entry_safe(reg, next, &cache->idle, list) {
		if (!ctx || reg->ctx == ctx)
			evict(reg);
	}
	any = start_release(cache);
	spin_unlock(&cache->lock);
	return flush_work(&cache->work) || any;
}

unsigned int xenib_reg_cache_releases(const struct xenib_reg_cache *cache)
{
	return READ_ONCE(cache->releases);
}

bool xenib_reg_cache_flush(struct xenib_reg_cache *cache, unsigned int since)
{
	return release_idle(cache, NULL) || xenib_reg_cache_releases(cache) != since;
}

void xenib_reg_cache_forget(struct xenib_context *ctx)
{
	release_idle(&ctx->dev->reg_cache, ctx);
}
