// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uar_search.c - see uar_search.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/uar_table.h"
#include "hca/hca.h"
#include "hca/sysfs.h"
#include "supervisor/uar_search.h"
#include "util/clock.h"
#include "util/log.h"

#define PAGE_BYTES 4096u
#define RETRY_MS 3000 /* after that, pages that somebody had are looked for again */

/* The frames of an HCA's BAR 0. An HCA may come back under another name; these it keeps. */
struct bar {
	uint64_t first, end;
};

/* Pages of that BAR, a bit each. */
struct pages {
	const struct bar *bar;
	uint64_t *bits;
};

static uint32_t pages_most(const struct bar *bar)
{
	return bar->end - bar->first;
}

static bool pages_init(struct pages *pages, const struct bar *bar)
{
	*pages = (struct pages){ bar, calloc(pages_most(bar) / 64 + 1, sizeof(*pages->bits)) };
	return pages->bits;
}

static bool pages_have(const struct pages *pages, uint64_t page)
{
	return page < pages_most(pages->bar) && pages->bits[page / 64] >> page % 64 & 1;
}

static void pages_set(struct pages *pages, uint64_t page, bool set)
{
	const uint64_t bit = 1ull << page % 64;

	if (page >= pages_most(pages->bar))
		return;
	pages->bits[page / 64] = set ? pages->bits[page / 64] | bit : pages->bits[page / 64] & ~bit;
}

static void pages_add(struct pages *pages, const struct pages *more)
{
	uint32_t i;

	for (i = 0; i < pages_most(pages->bar) / 64 + 1; i++)
		pages->bits[i] |= more->bits[i];
}

/* Of those of a, how many b has not. */
static uint32_t pages_missing(const struct pages *a, const struct pages *b)
{
	uint32_t i, n = 0;

	for (i = 0; i < pages_most(a->bar) / 64 + 1; i++)
		n += __builtin_popcountll(a->bits[i] & ~b->bits[i]);
	return n;
}

/* False: the records cannot be read. */
static bool set_frames(struct pages *pages, const struct held_pool *pool, bool set)
{
	struct uar_table *table = uar_store_map(pool);
	uint32_t i;

	if (!table)
		return false;
	for (i = 0; i < table->count && i < UAR_TABLE_ENTRIES; i++)
		if (table->entry[i].frame >= pages->bar->first)
			pages_set(pages, table->entry[i].frame - pages->bar->first, set);
	uar_store_unmap(table);
	return true;
}

/* What others must not get: without what the domain has got again, in a UAR pool that it uses. False: it cannot be known. */
static bool wanted_pages(struct pages *pages, const struct uar_pools *of,
			 const struct held_pool *pool, const struct bar *bar)
{
	const struct uar_pools *pools;
	const struct held_pool *other;

	if (!pages_init(pages, bar) || !set_frames(pages, pool, true))
		return false;
	LIST_FOREACH(pools, &of->store->vhcas, link)
		LIST_FOREACH(other, &pools->list, link)
			if (pools->domid == of->domid && !other->stale)
				set_frames(pages, other, false);
	return true;
}

static bool is_held(const struct held_pool *pool)
{
	return !pool->stale || hca_uar_pool_alive(pool->file);
}

struct uar_search {
	char hca[UVERBS_NAME_MAX];
	struct bar bar;
	struct pages wanted, found, kept;
	uint32_t *handles; /* by page */
	uint32_t missing;  /* how many of those wanted have not been found */
	uint32_t tried;    /* how many have been allocated */
	uint32_t next;     /* page to be freed, when all is found that can be */
	bool freeing;
	int file;
	uint32_t number; /* of the file in the store; 0: it is not there */
};

/* A UAR pool that is to be held, and the pages that it needs. */
typedef void each_fn(void *to, struct uar_pools *pools, struct held_pool *pool,
		     const struct pages *pages);

/* Of those that have pages of this BAR. False: there is no memory for it. */
static bool each_stale(struct uar_store *store, const struct bar *bar, each_fn *fn, void *to)
{
	struct pages none, pages;
	struct uar_pools *pools;
	struct held_pool *pool;
	bool known;

	known = pages_init(&none, bar);
	LIST_FOREACH(pools, &store->vhcas, link) {
		LIST_FOREACH(pool, &pools->list, link) {
			if (!known || is_held(pool))
				continue;
			known = wanted_pages(&pages, pools, pool, bar);
			if (known && pages_missing(&pages, &none))
				fn(to, pools, pool, &pages);
			free(pages.bits);
		}
	}
	free(none.bits);
	return known;
}

/* To hold them */

static void want(void *search, struct uar_pools *pools, struct held_pool *pool,
		 const struct pages *pages)
{
	struct uar_search *s = search;

	(void)pools;
	(void)pool;
	pages_add(&s->wanted, pages);
}

static void keep_if_found(void *search, struct uar_pools *pools, struct held_pool *pool,
			  const struct pages *pages)
{
	struct uar_search *s = search;

	(void)pools;
	(void)pool;
	if (!pages_missing(pages, &s->found))
		pages_add(&s->kept, pages);
}

/* For the next supervisor. */
static bool note_held_by(const struct held_pool *pool, uint32_t number)
{
	struct uar_table *table = uar_store_map(pool);

	if (!table)
		return false;
	table->held_by = number;
	uar_store_unmap(table);
	return true;
}

static bool store_file(struct uar_search *s, struct uar_store *store)
{
	int err = s->number ? 0 : uar_store_put_file(store, s->file, &s->number);

	if (err)
		log_error("HCA %s: reserving doorbell pages: %s", s->hca, strerror(-err));
	return !err;
}

/* They stay until the last UAR pool that shares the file is closed. */
static bool hold(struct uar_search *s, struct uar_pools *pools, struct held_pool *pool)
{
	const uint32_t old = pool->file_number;
	int file = fcntl(s->file, F_DUPFD_CLOEXEC, 0);

	if (file < 0)
		return false;
	if (!store_file(s, pools->store) || !note_held_by(pool, s->number)) {
		close(file);
		return false;
	}
	close(pool->file);
	pool->file = file;
	pool->file_number = s->number;
	uar_store_remove_file(pools->store, old);
	log_warning(
		"HCA %s: its driver was reloaded; doorbell pages that domain %u may have mapped are "
		"reserved until it is gone",
		s->hca, pools->domid);
	return true;
}

static void hold_if_kept(void *search, struct uar_pools *pools, struct held_pool *pool,
			 const struct pages *pages)
{
	struct uar_search *s = search;
	bool held = !pages_missing(pages, &s->kept) && hold(s, pools, pool);

	if (!held && !pool->retry_ms)
		log_error("HCA %s: its driver was reloaded, and doorbell pages that domain %u may have mapped are "
			  "somebody else's now: nobody else is served until it is gone",
			  s->hca, pools->domid);
	pool->retry_ms = held ? 0 : clock_ms() + RETRY_MS;
}

/* The search */

static void free_search(struct uar_search *s)
{
	free(s->wanted.bits);
	free(s->found.bits);
	free(s->kept.bits);
	free(s->handles);
	free(s);
}

void uar_search_end(struct uar_store *store)
{
	struct uar_search *s = store->search;

	if (!s)
		return;
	store->search = NULL;
	uar_store_remove_file(store, s->number);
	close(s->file);
	free_search(s);
}

static bool init_search(struct uar_search *s, struct uar_store *store)
{
	s->handles = calloc(pages_most(&s->bar), sizeof(*s->handles));
	return s->handles && pages_init(&s->wanted, &s->bar) && pages_init(&s->found, &s->bar) &&
	       pages_init(&s->kept, &s->bar) && each_stale(store, &s->bar, want, s);
}

/* On a new file, whose context hca_uar_pool_alive() makes. 0 or -errno. */
static int begin(struct uar_store *store, const char *hca, const struct bar *bar)
{
	struct uar_search *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return err;
	strncpy(s->hca, hca, sizeof(s->hca) - 1);
	s->bar = *bar;
	if (!init_search(s, store))
		goto err;
	s->file = hca_uar_pool_open(hca);
	err = s->file;
	if (err < 0)
		goto err;
	err = -EIO;
	if (!hca_uar_pool_alive(s->file))
		goto err_file;
	s->missing = pages_missing(&s->wanted, &s->found);
	store->search = s;
	return 0;

err_file:
	close(s->file);
err:
	free_search(s);
	return err;
}

/* False: there are no more. What is not found then somebody has. */
static bool find_page(struct uar_search *s)
{
	uint32_t page, handle;

	if (!s->missing || s->tried++ == pages_most(&s->bar) ||
	    hca_uar_alloc(s->file, XEN_VHCA_UAR_NC, &page, &handle))
		return false;
	if (page >= pages_most(&s->bar))
		return true;
	s->handles[page] = handle;
	pages_set(&s->found, page, true);
	s->missing -= pages_have(&s->wanted, page);
	return true;
}

/* False: none is left that is not kept. */
static bool free_page(struct uar_search *s)
{
	uint32_t page = s->next++;

	if (page >= pages_most(&s->bar))
		return false;
	if (pages_have(&s->found, page) && !pages_have(&s->kept, page))
		hca_uar_free(s->file, s->handles[page]);
	return true;
}

/*
 * A page more, or less; false: that was all. All pages are kept until those that are wanted are there: what is freed could
 * come again. In which order they come is the HCA's affair; there are no more than its BAR has pages.
 */
static bool go_on(struct uar_search *s, struct uar_store *store)
{
	if (s->freeing)
		return free_page(s);
	if (!find_page(s)) {
		s->freeing = true;
		return each_stale(store, &s->bar, keep_if_found, s);
	}
	return true;
}

/* It is in the store at the end alone: of a supervisor that dies before, nothing stays. */
int uar_search_step(struct uar_store *store)
{
	struct uar_search *s = store->search;
	uint64_t end;

	if (!s)
		return -1;
	end = clock_ms() + UAR_SEARCH_STEP_MS;
	while (clock_ms() < end) {
		if (go_on(s, store))
			continue;
		if (hca_uar_pool_alive(s->file))
			each_stale(store, &s->bar, hold_if_kept, s);
		uar_search_end(store);
		break;
	}
	return 0;
}

/* Whom to wait for */

static void add_name(char *names, size_t size, unsigned int domid)
{
	size_t length = strlen(names);

	if (!length)
		snprintf(names, size, "domain %u", domid);
	else if (names[strlen("domain")] == 's')
		snprintf(names + length, size - length, ", %u", domid);
	else
		snprintf(names, size, "domains %u, %u",
			 (unsigned int)atoi(names + strlen("domain ")), domid);
}

struct verdict {
	const struct uar_pools *own;
	bool search;       /* there is something to be found */
	unsigned int last; /* who has been named */
};

/* Of one's own pages one can only disturb oneself. */
static void judge(void *to, struct uar_pools *pools, struct held_pool *pool,
		  const struct pages *pages)
{
	struct verdict *v = to;

	(void)pages;
	if (clock_ms() >= pool->retry_ms)
		v->search = true;
	else if (pools->domid != v->own->domid && pools->domid != v->last)
		add_name(pools->store->stale, sizeof(pools->store->stale), v->last = pools->domid);
}

/* Whether there is something to be held, on whatever HCA. */
static bool has_stale(const struct uar_store *store)
{
	struct uar_pools *pools;
	struct held_pool *pool;

	LIST_FOREACH(pools, &store->vhcas, link)
		LIST_FOREACH(pool, &pools->list, link)
			if (!is_held(pool))
				return true;
	return false;
}

int uar_search_check(const struct uar_pools *own, const char *hca)
{
	struct verdict v = { .own = own, .last = own->domid };
	struct uar_store *store = own->store;
	uint64_t bar0, bytes;
	struct bar bar;
	int err;

	store->stale[0] = 0;
	if (store->search && !strcmp(store->search->hca, hca))
		return -EAGAIN;
	if (!has_stale(store))
		return 0;
	err = hca_sysfs_bar0(hca, &bar0, &bytes);
	if (err)
		return err;
	bar = (struct bar){ bar0 / PAGE_BYTES, (bar0 + bytes) / PAGE_BYTES };
	if (!each_stale(store, &bar, judge, &v))
		return -ENOMEM;
	if (!v.search)
		return store->stale[0] ? -EBUSY : 0;
	store->stale[0] = 0;
	err = store->search ? 0 : begin(store, hca, &bar);
	return err ?: -EAGAIN;
}
