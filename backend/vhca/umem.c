// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * umem.c - see umem.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/log.h"
#include "vhca/umem.h"

enum page_state {
	PAGE_RESERVED, /* ours, nothing mapped */
	PAGE_CLAIMED,  /* a command is mapping it */
	PAGE_MAPPED,
	PAGE_LOST /* not ours any more: see umem_map() */
};

#define LOST (-ESTALE) /* of umem_map() to umem_settle() */

static void *reserve(void *addr, size_t bytes, int flags)
{
	return mmap(addr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1,
		    0);
}

static size_t bytes_of(uint32_t pages)
{
	return (size_t)pages * XEN_VHCA_PAGE_SIZE;
}

static int init(struct umem *umem, uint32_t pages, bool read_only)
{
	*umem = (struct umem){ .dmabuf = -1, .pages = pages, .read_only = read_only };
	umem->state = calloc(pages, 1);
	return umem->state ? 0 : -ENOMEM;
}

int umem_init(struct umem *umem, uint32_t pages, bool read_only)
{
	int err = init(umem, pages, read_only);

	if (err)
		return err;
	umem->base = reserve(NULL, bytes_of(pages), 0);
	if (umem->base != MAP_FAILED)
		return 0;
	free(umem->state);
	return -ENOMEM;
}

/* What it fails for is too little of something, descriptors for example: the quota is asked before. */
int umem_init_dmabuf(struct umem *umem, struct transport *t, uint32_t pages, bool read_only)
{
	int err = init(umem, pages, read_only);

	if (err)
		return err;
	umem->dmabuf = t->ops->dmabuf_create(t, pages, read_only);
	if (umem->dmabuf >= 0)
		return 0;
	free(umem->state);
	return -ENOMEM;
}

/* Runs of pages that are ours; a lost page may belong to someone else by now. */
static void unmap(struct umem *umem)
{
	uint32_t first = 0, end;

	while (first < umem->pages) {
		if (umem->state[first] == PAGE_LOST) {
			first++;
			continue;
		}
		for (end = first; end < umem->pages && umem->state[end] != PAGE_LOST; end++)
			;
		if (munmap(umem->base + bytes_of(first), bytes_of(end - first)))
			log_error("unmapping %u pages: %s", end - first, strerror(errno));
		first = end;
	}
}

void umem_fini(struct umem *umem)
{
	if (umem->dmabuf < 0)
		unmap(umem);
	else
		close(umem->dmabuf);
	free(umem->state);
	memset(umem, 0, sizeof(*umem));
}

bool umem_claim(struct umem *umem, uint32_t first, uint32_t count)
{
	uint32_t i;

	if (first > umem->pages || count > umem->pages - first)
		return false;
	for (i = first; i < first + count; i++)
		if (umem->state[i] != PAGE_RESERVED)
			return false;
	memset(umem->state + first, PAGE_CLAIMED, count);
	return true;
}

/*
 * When mapping over a reservation fails, Linux has taken the reservation away already. It is made
 * again, but only if nobody else was given the addresses meanwhile (MAP_FIXED_NOREPLACE). If
 * somebody was, the pages are lost to the umem for good.
 */
int umem_map(struct umem *umem, struct transport *t, uint32_t first, const uint32_t *refs,
	     uint32_t count)
{
	void *addr, *at;
	int err;

	if (umem->dmabuf >= 0)
		return t->ops->dmabuf_add(t, umem->dmabuf, first, refs, count);
	addr = umem->base + bytes_of(first);
	err = t->ops->map(t, refs, count, umem->read_only && !t->map_writable, addr, &at);
	if (!err || at)
		return err;
	at = reserve(addr, bytes_of(count), MAP_FIXED_NOREPLACE);
	return at == addr ? err : LOST;
}

void umem_settle(struct umem *umem, uint32_t first, uint32_t count, int err)
{
	enum page_state state = !err ? PAGE_MAPPED : err == LOST ? PAGE_LOST : PAGE_RESERVED;

	memset(umem->state + first, state, count);
	if (!err)
		umem->present += count;
}
