// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * dbrec.c - doorbell records, see dbrec.h.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "dbrec.h"

#define REC_STRIDE 64
#define RECS_PER_PAGE (XENIB_PAGE_SIZE / REC_STRIDE)

struct dbrec_page {
	struct list_node entry;
	struct xenib_buf buf;
	uint64_t free; /* a bit for each record */
};

static_assert(RECS_PER_PAGE == 64, "one word of bits for a page");

void xenib_dbrecs_init(struct xenib_dbrecs *recs, struct xenib_arenas *arenas)
{
	recs->arenas = arenas;
	pthread_mutex_init(&recs->lock, NULL);
	list_head_init(&recs->pages);
}

static void free_page(struct xenib_dbrecs *recs, struct dbrec_page *page)
{
	list_del(&page->entry);
	xenib_buf_free(recs->arenas, &page->buf);
	free(page);
}

void xenib_dbrecs_exit(struct xenib_dbrecs *recs)
{
	struct dbrec_page *page, *next;

	list_for_each_safe(&recs->pages, page, next, entry) free_page(recs, page);
	pthread_mutex_destroy(&recs->lock);
}

static struct dbrec_page *add_page(struct xenib_dbrecs *recs)
{
	struct dbrec_page *page;
	int err;

	page = calloc(1, sizeof(*page));
	if (!page)
		return NULL;

	err = xenib_buf_alloc(recs->arenas, &page->buf, XENIB_PAGE_SIZE);
	if (err) {
		free(page);
		errno = err;
		return NULL;
	}

	page->free = UINT64_MAX;
	list_add(&recs->pages, &page->entry);
	return page;
}

__be32 *xenib_dbrec_alloc(struct xenib_dbrecs *recs, uint8_t *shift)
{
	struct dbrec_page *page;
	__be32 *rec = NULL;
	int i;

	pthread_mutex_lock(&recs->lock);

	page = list_top(&recs->pages, struct dbrec_page, entry);
	if (!page || !page->free)
		page = add_page(recs);
	if (!page)
		goto out;

	i = __builtin_ctzll(page->free);
	page->free &= ~(1ULL << i);
	if (!page->free) {
		list_del(&page->entry);
		list_add_tail(&recs->pages, &page->entry);
	}

	rec = (__be32 *)(page->buf.addr + i * REC_STRIDE);
	rec[0] = 0;
	rec[1] = 0;
	*shift = page->buf.shift;
out:
	pthread_mutex_unlock(&recs->lock);
	return rec;
}

void xenib_dbrec_free(struct xenib_dbrecs *recs, __be32 *rec)
{
	uint8_t *base = (uint8_t *)((uintptr_t)rec & ~(uintptr_t)(XENIB_PAGE_SIZE - 1));
	struct dbrec_page *page;

	pthread_mutex_lock(&recs->lock);

	list_for_each(&recs->pages, page, entry)
		if (page->buf.addr == base)
			break;
	assert(page->buf.addr == base);

	page->free |= 1ULL << (((uint8_t *)rec - base) / REC_STRIDE);
	if (page->free == UINT64_MAX) {
		free_page(recs, page);
	} else {
		list_del(&page->entry);
		list_add(&recs->pages, &page->entry);
	}

	pthread_mutex_unlock(&recs->lock);
}
