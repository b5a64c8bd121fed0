// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * umem.c - see umem.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

int umem_init(struct umem *umem, uint32_t pages, bool read_only)
{
	memset(umem, 0, sizeof(*umem));
	umem->state = calloc(pages, 1);
	if (!umem->state)
		return -ENOMEM;
	umem->base = reserve(NULL, bytes_of(pages), 0);
	if (umem->base == MAP_FAILED) {
		free(umem->state);
		return -ENOMEM;
	}
	umem->pages = pages;
	umem->read_only = read_only;
	return 0;
}

/* Runs of pages that are ours; a lost page may belong to someone else by now. */
void umem_fini(struct umem *umem)
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
	void *addr = umem->base + bytes_of(first), *at;
	int err;

	err = t->ops->map(t, refs, count, umem->read_only, addr, &at);
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
