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
#include <unistd.h>

#include "hca/hca.h"
#include "hca/sysfs.h"
#include "supervisor/holder.h"
#include "supervisor/uar_store.h"
#include "util/log.h"
#include "vhca/uar.h"

#define PAGE_BYTES 4096u

void banks_init(struct banks *banks, unsigned int domid, unsigned int devid, struct bank_store *store)
{
	banks->domid = domid;
	banks->devid = devid;
	banks->store = store;
	LIST_INIT(&banks->list);
	LIST_INSERT_HEAD(&store->vhcas, banks, link);
}

/* That the holder is gone is noticed where its socket is polled; the next one is told of all. */
static void tell(const struct banks *banks, enum holder_op op, const struct bank *bank)
{
	const int fds[HOLDER_FDS] = { [HOLDER_FILE] = bank->file, [HOLDER_RECORDS] = bank->records };
	int err;

	if (banks->store->holder < 0)
		return;
	err = holder_send(banks->store->holder, op, banks->domid, banks->devid, bank->hca,
			  op == HOLDER_BANK ? fds : NULL);
	if (err)
		log_error("telling the holder of a bank of domain %u: %s", banks->domid,
			  strerror(-err));
}

void banks_tell(const struct banks *banks)
{
	struct bank *bank;

	LIST_FOREACH(bank, &banks->list, link)
		tell(banks, HOLDER_BANK, bank);
}

static struct bank *add(struct banks *banks, const char *hca, int file, int records)
{
	struct bank *bank = calloc(1, sizeof(*bank));

	if (!bank)
		return NULL;
	strncpy(bank->hca, hca, sizeof(bank->hca) - 1);
	bank->stale = strchr(hca, '/');
	bank->file = file;
	bank->records = records;
	LIST_INSERT_HEAD(&banks->list, bank, link);
	return bank;
}

int banks_adopt(struct banks *banks, const char *hca, const int fds[2])
{
	if (add(banks, hca, fds[HOLDER_FILE], fds[HOLDER_RECORDS]))
		return 0;
	close(fds[HOLDER_FILE]);
	close(fds[HOLDER_RECORDS]);
	return -ENOMEM;
}

/* The holder lets go as well, so this is where the UARs become free. */
static void close_bank(struct banks *banks, struct bank *bank)
{
	tell(banks, HOLDER_DROP, bank);
	LIST_REMOVE(bank, link);
	close(bank->file);
	close(bank->records);
	free(bank);
}

/* Of a size that stays: whoever maps it can rely on that. */
static int make_records(void)
{
	int fd = memfd_create("xen-ib-uars", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, sizeof(struct uar_records)) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static struct bank *open_bank(struct banks *banks, const char *hca, int *err)
{
	struct bank *bank;
	int file, records;

	file = hca_bank_open(hca);
	if (file < 0) {
		*err = file;
		return NULL;
	}
	records = make_records();
	if (records < 0) {
		*err = records;
		goto err_file;
	}
	bank = add(banks, hca, file, records);
	if (bank) {
		tell(banks, HOLDER_BANK, bank);
		return bank;
	}
	*err = -ENOMEM;
	close(records);
err_file:
	close(file);
	return NULL;
}

/* To be unmapped; NULL: it cannot be read. */
static struct uar_records *map_records(const struct bank *bank)
{
	struct uar_records *records;

	records = mmap(NULL, sizeof(*records), PROT_READ, MAP_SHARED, bank->records, 0);
	return records == MAP_FAILED ? NULL : records;
}

static void unmap_records(struct uar_records *records)
{
	munmap(records, sizeof(*records));
}

static bool in_reach(const struct bank *bank, bool revocable)
{
	struct uar_records *records = map_records(bank);
	bool reach = false;
	uint32_t i;

	if (!records)
		return true;
	for (i = 0; i < records->count && i < UAR_BANK_RECORDS; i++)
		reach |= revocable ? records->record[i].allowed : !!records->record[i].frame;
	unmap_records(records);
	return reach;
}

/* Stale banks */

static struct bank *find(struct banks *banks, const char *hca)
{
	struct bank *bank;

	LIST_FOREACH(bank, &banks->list, link)
		if (!strcmp(bank->hca, hca))
			return bank;
	return NULL;
}

/* The holder is told of the new name before it forgets the old one. */
static void make_stale(struct banks *banks, struct bank *bank)
{
	const struct bank old = *bank;
	unsigned int n = 0;

	do
		snprintf(bank->hca, sizeof(bank->hca), "%.48s/%u", old.hca, ++n);
	while (find(banks, bank->hca) != bank);
	bank->stale = true;
	tell(banks, HOLDER_BANK, bank);
	tell(banks, HOLDER_DROP, &old);
}

/* The HCA of these was taken from its driver since. Only what a guest may still reach is kept. */
static void look_for_stale(struct bank_store *store)
{
	struct bank *bank, *next;
	struct banks *banks;

	LIST_FOREACH(banks, &store->vhcas, link) {
		for (bank = LIST_FIRST(&banks->list); bank; bank = next) {
			next = LIST_NEXT(bank, link);
			if (bank->stale || hca_bank_alive(bank->file))
				continue;
			if (in_reach(bank, banks->revocable))
				make_stale(banks, bank);
			else
				close_bank(banks, bank);
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
static bool set_frames(struct pages *pages, const struct bank *bank, bool set)
{
	struct uar_records *records = map_records(bank);
	uint32_t i;

	if (!records)
		return false;
	for (i = 0; i < records->count && i < UAR_BANK_RECORDS; i++)
		if (records->record[i].frame >= pages->bar->first)
			pages_set(pages, records->record[i].frame - pages->bar->first, set);
	unmap_records(records);
	return true;
}

/* What others must not get: without what the domain has got again, in a bank that it uses. False: it cannot be known. */
static bool wanted_pages(struct pages *pages, const struct banks *of, const struct bank *bank, const struct bar *bar)
{
	const struct banks *banks;
	const struct bank *other;

	if (!pages_init(pages, bar) || !set_frames(pages, bank, true))
		return false;
	LIST_FOREACH(banks, &of->store->vhcas, link)
		LIST_FOREACH(other, &banks->list, link)
			if (banks->domid == of->domid && !other->stale)
				set_frames(pages, other, false);
	return true;
}

static bool is_held(const struct bank *bank)
{
	return !bank->stale || hca_bank_alive(bank->file);
}

/* An attempt to hold the pages of all stale banks of an HCA. */
struct attempt {
	const char *hca;
	const struct bar *bar;
	struct pages wanted, found, kept;
	uint32_t *handles; /* by page */
	int file;
};

static bool want_all(struct attempt *a, const struct bank_store *store)
{
	const struct banks *banks;
	const struct bank *bank;
	struct pages pages;
	bool known;

	LIST_FOREACH(banks, &store->vhcas, link) {
		LIST_FOREACH(bank, &banks->list, link) {
			if (is_held(bank))
				continue;
			known = wanted_pages(&pages, banks, bank, a->bar);
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
		if (hca_bank_uar(a->file, XEN_VHCA_UAR_NC, &page, &handle))
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
			hca_bank_uar_free(a->file, a->handles[page]);
}

/* Of one whose pages all have been found; they stay until the last bank that shares the file is closed. */
static bool hold(struct attempt *a, struct banks *banks, struct bank *bank, const struct pages *pages)
{
	int file = fcntl(a->file, F_DUPFD_CLOEXEC, 0);

	if (file < 0)
		return false;
	close(bank->file);
	bank->file = file;
	bank->complained = false;
	pages_add(&a->kept, pages);
	tell(banks, HOLDER_BANK, bank);
	log_warning("HCA %s: its driver was reloaded; doorbell pages that domain %u may have mapped are "
		    "reserved until it is gone", a->hca, banks->domid);
	return true;
}

/* Whether nobody else has, or will have, a page of a bank. */
static bool is_safe(struct attempt *a, struct banks *banks, struct bank *bank)
{
	struct pages none = { 0 }, pages;
	bool safe;

	if (is_held(bank))
		return true;
	safe = wanted_pages(&pages, banks, bank, a->bar) && pages_init(&none, a->bar);
	if (safe && pages_missing(&pages, &none))
		safe = !pages_missing(&pages, &a->found) && hold(a, banks, bank, &pages);
	free(pages.bits);
	free(none.bits);
	if (!safe && !bank->complained)
		log_error("HCA %s: its driver was reloaded, and doorbell pages that domain %u may have mapped are "
			  "somebody else's now: nobody else is served until it is gone", a->hca, banks->domid);
	bank->complained = !safe;
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
static void hold_all(struct attempt *a, const struct banks *own)
{
	struct bank_store *store = own->store;
	struct banks *banks;
	struct bank *bank;
	bool safe;

	LIST_FOREACH(banks, &store->vhcas, link) {
		safe = true;
		LIST_FOREACH(bank, &banks->list, link)
			safe &= is_safe(a, banks, bank);
		if (!safe && banks->domid != own->domid)
			add_name(store->stale, sizeof(store->stale), banks->domid);
	}
}

/* On a new file, whose context hca_bank_alive() makes. 0 or -errno. */
static int try_to_hold(struct attempt *a, const struct banks *own)
{
	if (!want_all(a, own->store))
		return -ENOMEM;
	a->file = hca_bank_open(a->hca);
	if (a->file < 0)
		return a->file;
	if (!hca_bank_alive(a->file)) {
		close(a->file);
		return -EIO;
	}
	find_pages(a);
	hold_all(a, own);
	free_others(a);
	close(a->file);
	return own->store->stale[0] ? -EBUSY : 0;
}

/* 0, -EBUSY with names in store->stale, or another -errno. */
static int hold_stale(const struct banks *own, const char *hca)
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
static bool has_stale(const struct bank_store *store)
{
	struct banks *banks;
	struct bank *bank;

	LIST_FOREACH(banks, &store->vhcas, link)
		LIST_FOREACH(bank, &banks->list, link)
			if (!is_held(bank))
				return true;
	return false;
}

struct bank *banks_get(struct banks *banks, const char *hca, int *err)
{
	struct bank *bank;

	banks->store->stale[0] = 0;
	look_for_stale(banks->store);
	*err = has_stale(banks->store) ? hold_stale(banks, hca) : 0;
	if (*err)
		return NULL;
	bank = find(banks, hca);
	return bank ? bank : open_bank(banks, hca, err);
}

void banks_trim(struct banks *banks)
{
	struct bank *bank, *next;

	for (bank = LIST_FIRST(&banks->list); bank; bank = next) {
		next = LIST_NEXT(bank, link);
		if (!in_reach(bank, banks->revocable))
			close_bank(banks, bank);
	}
}

void banks_close(struct banks *banks)
{
	while (!LIST_EMPTY(&banks->list))
		close_bank(banks, LIST_FIRST(&banks->list));
	LIST_REMOVE(banks, link);
}
