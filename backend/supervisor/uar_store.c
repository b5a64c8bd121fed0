// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uar_store.c - see uar_store.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/uar_table.h"
#include "hca/hca.h"
#include "hca/sysfs.h"
#include "supervisor/fdstore.h"
#include "supervisor/uar_store.h"
#include "util/log.h"

#define PAGE_BYTES 4096u

void uar_store_init(struct uar_store *store)
{
	*store = (struct uar_store){ 0 };
	LIST_INIT(&store->vhcas);
}

void uar_pools_init(struct uar_pools *pools, unsigned int domid, unsigned int devid, struct uar_store *store)
{
	pools->domid = domid;
	pools->devid = devid;
	pools->store = store;
	LIST_INIT(&pools->list);
	LIST_INSERT_HEAD(&store->vhcas, pools, link);
}

/* In systemd's store */

struct name {
	char text[128];
};

static struct name file_name(uint32_t number)
{
	struct name name;

	snprintf(name.text, sizeof(name.text), "file-%u", number);
	return name;
}

static struct name table_name(const struct uar_pools *pools, const struct held_pool *pool)
{
	struct name name;

	snprintf(name.text, sizeof(name.text), "table-%u,%u-%u,%s", pool->number, pools->domid, pools->devid, pool->hca);
	return name;
}

/* Unless a UAR pool that is there needs it. */
static void remove_file(const struct uar_store *store, uint32_t number)
{
	const struct uar_pools *pools;
	const struct held_pool *pool;

	LIST_FOREACH(pools, &store->vhcas, link)
		LIST_FOREACH(pool, &pools->list, link)
			if (pool->file_number == number)
				return;
	if (number)
		fdstore_remove(file_name(number).text);
}

static struct held_pool *add(struct uar_pools *pools, const char *hca, uint32_t number, int file, int table)
{
	struct held_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	strncpy(pool->hca, hca, sizeof(pool->hca) - 1);
	pool->number = number;
	pool->file_number = number;
	pool->file = file;
	pool->table = table;
	LIST_INSERT_HEAD(&pools->list, pool, link);
	return pool;
}

/* systemd lets go as well, so this is where the UARs become free. */
static void close_pool(struct uar_pools *pools, struct held_pool *pool)
{
	LIST_REMOVE(pool, link);
	fdstore_remove(table_name(pools, pool).text);
	remove_file(pools->store, pool->file_number);
	close(pool->file);
	close(pool->table);
	free(pool);
}

/* Of a size that stays: whoever maps it can rely on that. */
static int make_table(void)
{
	int fd = memfd_create("xen-ib-uars", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, sizeof(struct uar_table)) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Nobody is given the UAR pool before it is in the store. */
static int store_pool(struct uar_pools *pools, struct held_pool *pool)
{
	int err = fdstore_put(file_name(pool->number).text, pool->file);

	if (err)
		return err;
	err = fdstore_put(table_name(pools, pool).text, pool->table);
	if (err)
		fdstore_remove(file_name(pool->number).text);
	return err;
}

static struct held_pool *open_pool(struct uar_pools *pools, const char *hca, int *err)
{
	struct held_pool *pool;
	int file, table;

	file = hca_uar_pool_open(hca);
	if (file < 0) {
		*err = file;
		return NULL;
	}
	table = make_table();
	if (table < 0) {
		*err = table;
		goto err_file;
	}
	pool = add(pools, hca, ++pools->store->last, file, table);
	*err = pool ? store_pool(pools, pool) : -ENOMEM;
	if (!*err)
		return pool;
	if (pool)
		LIST_REMOVE(pool, link);
	free(pool);
	close(table);
err_file:
	close(file);
	return NULL;
}

/* To be unmapped; NULL: it cannot be read. */
static struct uar_table *map_table(const struct held_pool *pool)
{
	struct uar_table *table;

	table = mmap(NULL, sizeof(*table), PROT_READ, MAP_SHARED, pool->table, 0);
	return table == MAP_FAILED ? NULL : table;
}

static void unmap_table(struct uar_table *table)
{
	munmap(table, sizeof(*table));
}

static bool in_reach(const struct held_pool *pool, bool revocable)
{
	struct uar_table *table = map_table(pool);
	bool reach = false;
	uint32_t i;

	if (!table)
		return true;
	for (i = 0; i < table->count && i < UAR_TABLE_ENTRIES; i++)
		reach |= revocable ? table->entry[i].allowed : !!table->entry[i].frame;
	unmap_table(table);
	return reach;
}

/* Stale UAR pools */

static struct held_pool *find(struct uar_pools *pools, const char *hca)
{
	struct held_pool *pool;

	LIST_FOREACH(pool, &pools->list, link)
		if (!pool->stale && !strcmp(pool->hca, hca))
			return pool;
	return NULL;
}

/* The HCA of these was taken from its driver since. Only what a guest may still reach is kept. */
static void look_for_stale(struct uar_store *store)
{
	struct held_pool *pool, *next;
	struct uar_pools *pools;

	LIST_FOREACH(pools, &store->vhcas, link) {
		for (pool = LIST_FIRST(&pools->list); pool; pool = next) {
			next = LIST_NEXT(pool, link);
			if (pool->stale || hca_uar_pool_alive(pool->file))
				continue;
			if (in_reach(pool, pools->revocable))
				pool->stale = true;
			else
				close_pool(pools, pool);
		}
	}
}

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
	struct uar_table *table = map_table(pool);
	uint32_t i;

	if (!table)
		return false;
	for (i = 0; i < table->count && i < UAR_TABLE_ENTRIES; i++)
		if (table->entry[i].frame >= pages->bar->first)
			pages_set(pages, table->entry[i].frame - pages->bar->first, set);
	unmap_table(table);
	return true;
}

/* What others must not get: without what the domain has got again, in a UAR pool that it uses. False: it cannot be known. */
static bool wanted_pages(struct pages *pages, const struct uar_pools *of, const struct held_pool *pool, const struct bar *bar)
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

/* An attempt to hold the pages of all stale UAR pools of an HCA. */
struct attempt {
	const char *hca;
	const struct bar *bar;
	struct pages wanted, found, kept;
	uint32_t *handles; /* by page */
	int file;
	uint32_t number; /* of the file in the store; 0: it is not there */
};

static bool want_all(struct attempt *a, const struct uar_store *store)
{
	const struct uar_pools *pools;
	const struct held_pool *pool;
	struct pages pages;
	bool known;

	LIST_FOREACH(pools, &store->vhcas, link) {
		LIST_FOREACH(pool, &pools->list, link) {
			if (is_held(pool))
				continue;
			known = wanted_pages(&pages, pools, pool, a->bar);
			if (known)
				pages_add(&a->wanted, &pages);
			free(pages.bits);
			if (!known)
				return false;
		}
	}
	return true;
}

/*
 * All are kept until all that are wanted are there: what is freed could come again. In which order they
 * come is the HCA's affair; there are no more than its BAR has pages. What is not found somebody has.
 */
static void find_pages(struct attempt *a)
{
	uint32_t missing = pages_missing(&a->wanted, &a->found), n, page, handle;

	for (n = 0; missing && n < pages_most(a->bar); n++) {
		if (hca_uar_alloc(a->file, XEN_VHCA_UAR_NC, &page, &handle))
			return;
		if (page >= pages_most(a->bar))
			continue;
		a->handles[page] = handle;
		pages_set(&a->found, page, true);
		missing -= pages_have(&a->wanted, page);
	}
}

static void free_others(struct attempt *a)
{
	uint32_t page;

	for (page = 0; page < pages_most(a->bar); page++)
		if (pages_have(&a->found, page) && !pages_have(&a->kept, page))
			hca_uar_free(a->file, a->handles[page]);
}

/* For the next supervisor. False: the records cannot be written. */
static bool note_held_by(const struct held_pool *pool, uint32_t number)
{
	struct uar_table *table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, pool->table, 0);

	if (table == MAP_FAILED)
		return false;
	table->held_by = number;
	unmap_table(table);
	return true;
}

static bool store_attempt(struct attempt *a, struct uar_store *store)
{
	if (!a->number && !fdstore_put(file_name(store->last + 1).text, a->file))
		a->number = ++store->last;
	return a->number;
}

/* Of one whose pages all have been found; they stay until the last UAR pool that shares the file is closed. */
static bool hold(struct attempt *a, struct uar_pools *pools, struct held_pool *pool, const struct pages *pages)
{
	const uint32_t old = pool->file_number;
	int file = fcntl(a->file, F_DUPFD_CLOEXEC, 0);

	if (file < 0)
		return false;
	if (!store_attempt(a, pools->store) || !note_held_by(pool, a->number)) {
		close(file);
		return false;
	}
	close(pool->file);
	pool->file = file;
	pool->file_number = a->number;
	pool->complained = false;
	pages_add(&a->kept, pages);
	remove_file(pools->store, old);
	log_warning("HCA %s: its driver was reloaded; doorbell pages that domain %u may have mapped are "
		    "reserved until it is gone", a->hca, pools->domid);
	return true;
}

/* Whether nobody else has, or will have, a page of a UAR pool. */
static bool is_safe(struct attempt *a, struct uar_pools *pools, struct held_pool *pool)
{
	struct pages none = { 0 }, pages;
	bool safe;

	if (is_held(pool))
		return true;
	safe = wanted_pages(&pages, pools, pool, a->bar) && pages_init(&none, a->bar);
	if (safe && pages_missing(&pages, &none))
		safe = !pages_missing(&pages, &a->found) && hold(a, pools, pool, &pages);
	free(pages.bits);
	free(none.bits);
	if (!safe && !pool->complained)
		log_error("HCA %s: its driver was reloaded, and doorbell pages that domain %u may have mapped are "
			  "somebody else's now: nobody else is served until it is gone", a->hca, pools->domid);
	pool->complained = !safe;
	return safe;
}

static void add_name(char *names, size_t size, unsigned int domid)
{
	size_t length = strlen(names);

	if (!length)
		snprintf(names, size, "domain %u", domid);
	else if (names[strlen("domain")] == 's')
		snprintf(names + length, size - length, ", %u", domid);
	else
		snprintf(names, size, "domains %u, %u", (unsigned int)atoi(names + strlen("domain ")), domid);
}

/* Of one's own pages one can only disturb oneself. */
static void hold_all(struct attempt *a, const struct uar_pools *own)
{
	struct uar_store *store = own->store;
	struct uar_pools *pools;
	struct held_pool *pool;
	bool safe;

	LIST_FOREACH(pools, &store->vhcas, link) {
		safe = true;
		LIST_FOREACH(pool, &pools->list, link)
			safe &= is_safe(a, pools, pool);
		if (!safe && pools->domid != own->domid)
			add_name(store->stale, sizeof(store->stale), pools->domid);
	}
}

/* On a new file, whose context hca_uar_pool_alive() makes. 0 or -errno. */
static int try_to_hold(struct attempt *a, const struct uar_pools *own)
{
	if (!want_all(a, own->store))
		return -ENOMEM;
	a->file = hca_uar_pool_open(a->hca);
	if (a->file < 0)
		return a->file;
	if (!hca_uar_pool_alive(a->file)) {
		close(a->file);
		return -EIO;
	}
	find_pages(a);
	hold_all(a, own);
	free_others(a);
	remove_file(own->store, a->number);
	close(a->file);
	return own->store->stale[0] ? -EBUSY : 0;
}

/* 0, -EBUSY with names in store->stale, or another -errno. */
static int hold_stale(const struct uar_pools *own, const char *hca)
{
	struct attempt a = { .hca = hca };
	uint64_t bar0, bytes;
	struct bar bar;
	int err;

	err = hca_sysfs_bar0(hca, &bar0, &bytes);
	if (err)
		return err;
	bar = (struct bar){ bar0 / PAGE_BYTES, (bar0 + bytes) / PAGE_BYTES };
	a.bar = &bar;
	a.handles = calloc(pages_most(&bar), sizeof(*a.handles));
	if (pages_init(&a.wanted, &bar) && pages_init(&a.found, &bar) && pages_init(&a.kept, &bar) && a.handles)
		err = try_to_hold(&a, own);
	else
		err = -ENOMEM;
	free(a.wanted.bits);
	free(a.found.bits);
	free(a.kept.bits);
	free(a.handles);
	return err;
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

struct held_pool *uar_pools_get(struct uar_pools *pools, const char *hca, int *err)
{
	struct held_pool *pool;

	pools->store->stale[0] = 0;
	look_for_stale(pools->store);
	*err = has_stale(pools->store) ? hold_stale(pools, hca) : 0;
	if (*err)
		return NULL;
	pool = find(pools, hca);
	return pool ? pool : open_pool(pools, hca, err);
}

void uar_pools_trim(struct uar_pools *pools)
{
	struct held_pool *pool, *next;

	for (pool = LIST_FIRST(&pools->list); pool; pool = next) {
		next = LIST_NEXT(pool, link);
		if (!in_reach(pool, pools->revocable))
			close_pool(pools, pool);
	}
}

void uar_pools_close(struct uar_pools *pools)
{
	while (!LIST_EMPTY(&pools->list))
		close_pool(pools, LIST_FIRST(&pools->list));
	LIST_REMOVE(pools, link);
}

/* What the supervisor before has left in the store */

struct stored {
	unsigned int number, domid, devid;
	char hca[UVERBS_NAME_MAX]; /* empty: a file, else a table */
	int fd;
	bool needed; /* this file, by a table */
};

struct stored_list {
	struct stored *entry;
	unsigned int n;
	bool failed;
};

static bool parse_name(const char *name, struct stored *s)
{
	int end = 0;

	*s = (struct stored){ 0 };
	if (sscanf(name, "file-%u%n", &s->number, &end) == 1 && !name[end])
		return true;
	end = 0;
	return sscanf(name, "table-%u,%u-%u,%63[^\n]%n", &s->number, &s->domid, &s->devid, s->hca, &end) == 4 && !name[end];
}

static void note_stored(void *to, const char *name, int fd)
{
	struct stored_list *list = to;
	struct stored *more, s;

	if (!parse_name(name, &s)) {
		log_warning("not known, from the file descriptor store: %s", name);
		close(fd);
		return;
	}
	more = reallocarray(list->entry, list->n + 1, sizeof(*more));
	if (!more) {
		list->failed = true;
		close(fd);
		return;
	}
	s.fd = fd;
	list->entry = more;
	list->entry[list->n++] = s;
}

static struct stored *find_file(const struct stored_list *list, uint32_t number)
{
	unsigned int i;

	for (i = 0; i < list->n; i++)
		if (!list->entry[i].hca[0] && list->entry[i].number == number)
			return &list->entry[i];
	return NULL;
}

/* A UAR pool without its file is one whose HCA has forgotten it. */
static int adopt(struct uar_pools *pools, const struct stored_list *list, const struct stored *s)
{
	struct uar_table *table;
	struct held_pool *pool;
	struct stored *file;
	struct stat st;

	if (fstat(s->fd, &st) || st.st_size != sizeof(*table))
		return -EPROTO;
	pool = add(pools, s->hca, s->number, -1, s->fd);
	table = pool ? map_table(pool) : NULL;
	if (!table)
		goto err;
	pool->stale = table->held_by;
	pool->file_number = table->held_by ?: s->number;
	unmap_table(table);
	file = find_file(list, pool->file_number);
	if (!file) {
		pool->file_number = 0;
		return 0;
	}
	file->needed = true;
	pool->file = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	if (pool->file >= 0)
		return 0;
err:
	if (pool)
		LIST_REMOVE(pool, link);
	free(pool);
	return -ENOMEM;
}

static void close_files(const struct stored_list *list, bool known)
{
	unsigned int i;

	for (i = 0; i < list->n; i++) {
		if (list->entry[i].hca[0])
			continue;
		if (known && !list->entry[i].needed)
			fdstore_remove(file_name(list->entry[i].number).text);
		close(list->entry[i].fd);
	}
}

int uar_store_load(struct uar_store *store, uar_store_vhca *vhca, void *from)
{
	struct stored_list list = { 0 };
	struct uar_pools *pools;
	unsigned int i;
	int err;

	err = fdstore_load(note_stored, &list);
	if (!err && list.failed)
		err = -ENOMEM;
	for (i = 0; i < list.n && !err; i++) {
		if (list.entry[i].number > store->last)
			store->last = list.entry[i].number;
		if (!list.entry[i].hca[0])
			continue;
		pools = vhca(from, list.entry[i].domid, list.entry[i].devid);
		err = pools ? adopt(pools, &list, &list.entry[i]) : -ENOSPC;
		if (err)
			log_error("the UAR pool of domain %u, vHCA %u, from the file descriptor store: %s",
				  list.entry[i].domid, list.entry[i].devid, strerror(-err));
	}
	close_files(&list, !err);
	free(list.entry);
	return err;
}
