// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * buf.c - queue buffers, see buf.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <infiniband/driver.h>

#include "buf.h"

/* An arena is as large as all before it, so that a process with few queues has little pinned. */
#define MIN_SHIFT 16
#define MAX_SHIFT 20
#define LARGE (256u << 10) /* has a mapping of its own */

struct xenib_arena {
	struct list_node entry;
	uint8_t *addr;
	unsigned int shift;
	unsigned int free; /* pages */
	bool used[];       /* of each page */
};

void xenib_arenas_init(struct xenib_arenas *arenas, bool known)
{
	arenas->known = known;
	arenas->total = 0;
	pthread_mutex_init(&arenas->lock, NULL);
	list_head_init(&arenas->list);
}

/* size bytes at a multiple of size, which is a power of two: out of nearly twice as many. */
static uint8_t *map_aligned(size_t size)
{
	size_t all = 2 * size - XENIB_PAGE_SIZE, before;
	uint8_t *addr;

	addr = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (addr == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)addr & (size - 1);
	if (before)
		munmap(addr, before);
	if (all - before > size)
		munmap(addr + before + size, all - before - size);
	return addr + before;
}

static unsigned int pages_of(const struct xenib_arena *arena)
{
	return 1u << arena->shift >> 12;
}

static struct xenib_arena *add_arena(struct xenib_arenas *arenas, size_t size)
{
	unsigned int shift = MIN_SHIFT;
	struct xenib_arena *arena;
	int err;

	while ((size_t)1 << shift < size ||
	       (shift < MAX_SHIFT && (size_t)1 << shift < arenas->total))
		shift++;
	arena = calloc(1, sizeof(*arena) + ((size_t)1 << shift) / XENIB_PAGE_SIZE);
	if (!arena)
		return NULL;
	arena->shift = shift;
	arena->free = pages_of(arena);
	arena->addr = map_aligned((size_t)1 << shift);
	if (!arena->addr)
		goto err_free;
	err = ibv_dontfork_range(arena->addr, (size_t)1 << shift);
	if (err) {
		errno = err;
		goto err_unmap;
	}
	arenas->total += (size_t)1 << shift;
	list_add(&arenas->list, &arena->entry);
	return arena;

err_unmap:
	munmap(arena->addr, (size_t)1 << shift);
err_free:
	free(arena);
	return NULL;
}

static void free_arena(struct xenib_arenas *arenas, struct xenib_arena *arena)
{
	size_t size = (size_t)1 << arena->shift;

	list_del(&arena->entry);
	arenas->total -= size;
	ibv_dofork_range(arena->addr, size);
	munmap(arena->addr, size);
	free(arena);
}

void xenib_arenas_exit(struct xenib_arenas *arenas)
{
	struct xenib_arena *arena, *next;

	list_for_each_safe(&arenas->list, arena, next, entry) free_arena(arenas, arena);
	pthread_mutex_destroy(&arenas->lock);
}

/* The first of so many free pages in a row, or -1. */
static int find_pages(const struct xenib_arena *arena, unsigned int pages)
{
	unsigned int i, row = 0;

	if (arena->free < pages)
		return -1;
	for (i = 0; i < pages_of(arena); i++) {
		row = arena->used[i] ? 0 : row + 1;
		if (row == pages)
			return i + 1 - pages;
	}
	return -1;
}

static void take(struct xenib_arena *arena, unsigned int first, struct xenib_buf *buf)
{
	unsigned int pages = buf->size / XENIB_PAGE_SIZE;

	memset(arena->used + first, true, pages);
	arena->free -= pages;
	buf->addr = arena->addr + (size_t)first * XENIB_PAGE_SIZE;
	buf->arena = arena;
	buf->shift = arena->shift;
}

/* In the first arena that has room, or in a new one. */
static int alloc_in_arena(struct xenib_arenas *arenas, struct xenib_buf *buf)
{
	unsigned int pages = buf->size / XENIB_PAGE_SIZE;
	struct xenib_arena *arena;
	int first = -1, err = 0;

	pthread_mutex_lock(&arenas->lock);
	list_for_each(&arenas->list, arena, entry) {
		first = find_pages(arena, pages);
		if (first >= 0)
			break;
	}
	if (first < 0) {
		arena = add_arena(arenas, buf->size);
		first = 0;
	}
	if (arena)
		take(arena, first, buf);
	else
		err = errno;
	pthread_mutex_unlock(&arenas->lock);
	if (!err)
		memset(buf->addr, 0, buf->size); /* somebody may have had it before */
	return err;
}

static int alloc_alone(struct xenib_buf *buf)
{
	void *addr;
	int err;

	addr = mmap(NULL, buf->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (addr == MAP_FAILED)
		return errno;

	err = ibv_dontfork_range(addr, buf->size);
	if (err) {
		munmap(addr, buf->size);
		return err;
	}
	buf->addr = addr;
	buf->arena = NULL;
	buf->shift = 0;
	return 0;
}

int xenib_buf_alloc(struct xenib_arenas *arenas, struct xenib_buf *buf, size_t size)
{
	buf->size = (size + XENIB_PAGE_SIZE - 1) & ~(size_t)(XENIB_PAGE_SIZE - 1);
	if (!arenas->known || buf->size > LARGE)
		return alloc_alone(buf);
	return alloc_in_arena(arenas, buf);
}

static void free_in_arena(struct xenib_arenas *arenas, const struct xenib_buf *buf)
{
	unsigned int pages = buf->size / XENIB_PAGE_SIZE;
	struct xenib_arena *arena = buf->arena;

	pthread_mutex_lock(&arenas->lock);
	memset(arena->used + (buf->addr - arena->addr) / XENIB_PAGE_SIZE, false, pages);
	arena->free += pages;
	if (arena->free == pages_of(arena))
		free_arena(arenas, arena);
	pthread_mutex_unlock(&arenas->lock);
}

void xenib_buf_free(struct xenib_arenas *arenas, struct xenib_buf *buf)
{
	if (!buf->addr)
		return;

	if (buf->arena) {
		free_in_arena(arenas, buf);
	} else {
		ibv_dofork_range(buf->addr, buf->size);
		munmap(buf->addr, buf->size);
	}
	buf->addr = NULL;
}
