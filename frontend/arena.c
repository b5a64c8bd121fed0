// SPDX-License-Identifier: GPL-2.0
/*
 * arena.c - memory in which a process has its queues and doorbell records. An arena is pinned,
 * granted and offered once, and lives as long as any object has something there; so making one more
 * queue in it takes neither a hypercall nor a command of its own. The kernel's queues have an arena
 * each.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "umem.h"
#include "xenib.h"

/* Of a doorbell record: a line of the cache, in which nothing else is written. */
#define DBR_SIZE 64

void xenib_arenas_init(struct xenib_arenas *arenas)
{
	mutex_init(&arenas->lock);
	INIT_LIST_HEAD(&arenas->list);
}

/*
 * The mm belongs to the key: after a fork two processes can use one context, and the same address
 * is another page. No other mm can be where it was, as the umem's umem has a reference to it.
 */
static struct xenib_arena *find_arena(struct xenib_arenas *arenas, u64 addr, u8 shift)
{
	struct xenib_arena *arena;

	list_for_each_entry(arena, &arenas->list, list)
		if (arena->addr == addr && arena->shift == shift && arena->mm == current->mm)
			return arena;
	return NULL;
}

static struct xenib_arena *make_arena(struct xenib_context *ctx, u64 addr, u64 length)
{
	unsigned int since = xenib_reg_cache_releases(&ctx->dev->reg_cache);
	struct xenib_arena *arena;
	int err;

	arena = kzalloc(sizeof(*arena), GFP_KERNEL);
	if (!arena)
		return ERR_PTR(-ENOMEM);
	err = xenib_umem_create(ctx, &arena->umem, addr, length);
	if (err == -ENOMEM && xenib_reg_cache_flush(&ctx->dev->reg_cache, since))
		err = xenib_umem_create(ctx, &arena->umem, addr, length);
	if (err) {
		kfree(arena);
		return ERR_PTR(err);
	}
	arena->addr = addr;
	arena->mm = current->mm;
	return arena;
}

static void release_arena(struct xenib_context *ctx, struct xenib_arena *arena)
{
	xenib_umem_release(ctx->dev, &arena->umem);
	kfree(arena);
}

static struct xenib_arena *add_arena(struct xenib_context *ctx, u64 addr, u8 shift)
{
	struct xenib_arena *arena;

	arena = make_arena(ctx, addr, BIT_ULL(shift));
	if (IS_ERR(arena))
		return arena;
	arena->shift = shift;
	list_add(&arena->list, &ctx->arenas.list);
	return arena;
}

static int get_shared(struct xenib_context *ctx, struct xenib_arena_addr *at, u64 addr, u64 length,
		      u8 shift)
{
	struct xenib_arena *arena;
	u64 base;
	int err = 0;

	if (shift < PAGE_SHIFT || shift > XENIB_ARENA_MAX_SHIFT)
		return xenib_refuse(ctx->dev, -EINVAL, "an arena of 2^%u bytes, 2^%u up to 2^%u",
				    shift, PAGE_SHIFT, XENIB_ARENA_MAX_SHIFT);
	base = addr & ~(BIT_ULL(shift) - 1);
	if (length > BIT_ULL(shift) - (addr - base))
		return xenib_refuse(ctx->dev, -EINVAL, "%#llx bytes at %#llx, in an arena of 2^%u",
				    length, addr, shift);

	if (mutex_lock_killable(&ctx->arenas.lock))
		return -EINTR;
	arena = find_arena(&ctx->arenas, base, shift);
	if (!arena)
		arena = add_arena(ctx, base, shift);
	if (IS_ERR(arena)) {
		err = PTR_ERR(arena);
		goto unlock;
	}
	arena->users++;
	at->arena = arena;
	at->offset = addr - base;
unlock:
	mutex_unlock(&ctx->arenas.lock);
	return err;
}

int xenib_buf_get(struct xenib_context *ctx, struct xenib_arena_addr *at, u64 addr, u64 length,
		  u8 shift)
{
	u32 align = shift ? PAGE_SIZE : ctx->dev->personality->queue_align;
	u32 offset = offset_in_page(addr);
	struct xenib_arena *arena;

	if (!IS_ALIGNED(addr, align))
		return xenib_refuse(ctx->dev, -EINVAL, "a queue at %#llx, no multiple of %u", addr,
				    align);
	if (shift)
		return get_shared(ctx, at, addr, length, shift);

	arena = make_arena(ctx, addr - offset, offset + length);
	if (IS_ERR(arena))
		return PTR_ERR(arena);
	arena->users = 1;
	at->arena = arena;
	at->offset = offset;
	return 0;
}

int xenib_dbr_get(struct xenib_context *ctx, struct xenib_arena_addr *at, u64 addr, u8 shift)
{
	if (!IS_ALIGNED(addr, 8))
		return xenib_refuse(ctx->dev, -EINVAL, "a doorbell record at %#llx, not 8-aligned",
				    addr);
	return get_shared(ctx, at, addr, 8, shift ?: PAGE_SHIFT);
}

int xenib_arena_create_kernel(struct xenib_context *ctx, struct xenib_arena_addr *buf,
			      struct xenib_arena_addr *dbr, size_t length)
{
	struct xenib_arena *arena;
	int err;

	arena = kzalloc(sizeof(*arena), GFP_KERNEL);
	if (!arena)
		return -ENOMEM;
	length = ALIGN(length, DBR_SIZE);
	err = xenib_umem_create_kernel(ctx, &arena->umem, length + DBR_SIZE, false);
	if (err) {
		kfree(arena);
		return err;
	}
	arena->users = length ? 2 : 1;
	*buf = (struct xenib_arena_addr){ .arena = length ? arena : NULL };
	*dbr = (struct xenib_arena_addr){ .arena = arena, .offset = length };
	return 0;
}

void xenib_arena_addr_put(struct xenib_context *ctx, struct xenib_arena_addr *at)
{
	struct xenib_arena *arena = at->arena;

	if (!arena)
		return;
	at->arena = NULL;
	if (!arena->shift) {
		/* One object's own: nobody else is at it. */
		if (!--arena->users)
			release_arena(ctx, arena);
		return;
	}
	mutex_lock(&ctx->arenas.lock);
	if (!--arena->users) {
		list_del(&arena->list);
		release_arena(ctx, arena);
	}
	mutex_unlock(&ctx->arenas.lock);
}

void *xenib_arena_addr_kva(const struct xenib_arena_addr *at)
{
	const struct xenib_umem *umem = &at->arena->umem;

	if (umem->kva)
		return umem->kva + at->offset;
	return page_address(umem->pages[at->offset >> PAGE_SHIFT]) + offset_in_page(at->offset);
}

struct xen_vhca_umem_addr xenib_arena_addr_wire(const struct xenib_arena_addr *at)
{
	if (!at->arena)
		return (struct xen_vhca_umem_addr){};
	return (struct xen_vhca_umem_addr){
		.umem = at->arena->umem.handle,
		.offset = at->offset,
	};
}
