// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * bank.c - see bank.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bank.h"
#include "hca.h"
#include "hca_sysfs.h"
#include "holder.h"
#include "log.h"
#include "uar.h"

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

/* Pages of a bank, while they are looked for on an HCA. */
struct wanted {
	const struct bar *bar;
	uint64_t *pages; /* a bit for each page of the BAR */
	uint32_t count;
};

static bool is_wanted(const struct wanted *w, uint64_t page)
{
	return page < w->bar->end - w->bar->first && w->pages[page / 64] >> page % 64 & 1;
}

static void want(struct wanted *w, uint64_t frame)
{
	uint64_t page = frame - w->bar->first;

	if (frame < w->bar->first || frame >= w->bar->end || is_wanted(w, page))
		return;
	w->pages[page / 64] |= 1ull << page % 64;
	w->count++;
}

static void do_not_want(struct wanted *w, uint64_t frame)
{
	uint64_t page = frame - w->bar->first;

	if (!is_wanted(w, page))
		return;
	w->pages[page / 64] &= ~(1ull << page % 64);
	w->count--;
}

/* False: they cannot be read. */
static bool each_frame(const struct bank *bank, void (*fn)(struct wanted *w, uint64_t frame), struct wanted *w)
{
	struct uar_records *records = map_records(bank);
	uint32_t i;

	if (!records)
		return false;
	for (i = 0; i < records->count && i < UAR_BANK_RECORDS; i++)
		if (records->record[i].frame)
			fn(w, records->record[i].frame);
	unmap_records(records);
	return true;
}

/* Without what the domain has got again, in a bank that it uses. False: it cannot be known. */
static bool list_wanted(const struct banks *of, const struct bank *bank, struct wanted *w)
{
	const struct banks *banks;
	const struct bank *other;

	w->pages = calloc((w->bar->end - w->bar->first) / 64 + 1, sizeof(*w->pages));
	if (!w->pages || !each_frame(bank, want, w))
		return false;
	LIST_FOREACH(banks, &of->store->vhcas, link)
		LIST_FOREACH(other, &banks->list, link)
			if (banks->domid == of->domid && !other->stale)
				each_frame(other, do_not_want, w);
	return true;
}

/*
 * All are kept until all that are wanted are there: what is freed could come again. In which order they
 * come is the HCA's affair; there are no more than its BAR has pages.
 */
static int allocate_wanted(const struct wanted *w, int file)
{
	const uint32_t most = w->bar->end - w->bar->first;
	uint32_t *others = calloc(most, sizeof(*others));
	uint32_t found = 0, n = 0, page, handle;
	int err = others ? 0 : -ENOMEM;

	while (!err && found < w->count && n < most) {
		err = hca_bank_uar(file, XEN_VHCA_UAR_NC, &page, &handle);
		if (!err && is_wanted(w, page))
			found++;
		else if (!err)
			others[n++] = handle;
	}
	if (!err && found < w->count)
		err = -EBUSY;
	while (!err && n)
		err = hca_bank_uar_free(file, others[--n]);
	free(others);
	return err;
}

/* All pages on a new file, or none. */
static int hold(struct banks *banks, struct bank *bank, const char *hca, const struct wanted *w)
{
	int file = hca_bank_open(hca), err;

	if (file < 0)
		return file;
	err = hca_bank_alive(file) ? allocate_wanted(w, file) : -EIO; /* this makes its context, too */
	if (err) {
		close(file);
		return err;
	}
	close(bank->file);
	bank->file = file;
	tell(banks, HOLDER_BANK, bank);
	log_warning("HCA %s: its driver was reloaded; %u doorbell pages that domain %u may have mapped are kept "
		    "from everybody until it is gone", hca, w->count, banks->domid);
	return 0;
}

/* 0: nobody else has, or will have, a page of a stale bank on this HCA. -ENOENT: the HCA is not quite there. */
static int make_safe(struct banks *banks, struct bank *bank, const char *hca, const struct bar *bar)
{
	struct wanted w = { .bar = bar };
	int err = 0;

	if (hca_bank_alive(bank->file))
		return 0;
	if (!list_wanted(banks, bank, &w))
		err = -ENOMEM;
	else if (w.count)
		err = hold(banks, bank, hca, &w);
	free(w.pages);
	if (err == -ENOENT)
		return err;
	if (err && !bank->complained)
		log_error("HCA %s: its driver was reloaded, and doorbell pages that domain %u may have mapped are "
			  "somebody else's now (%s): nobody else is served until it is gone", hca, banks->domid,
			  strerror(-err));
	bank->complained = err;
	return err;
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

/* Of one's own pages one can only disturb oneself. 0, -EBUSY with names in store->stale, or another -errno. */
static int hold_stale(const struct banks *own, const char *hca)
{
	struct bank_store *store = own->store;
	struct banks *banks;
	struct bank *bank;
	uint64_t bar0, bytes;
	struct bar bar;
	bool safe;
	int err;

	err = hca_sysfs_bar0(hca, &bar0, &bytes);
	if (err)
		return err;
	bar = (struct bar){ bar0 / PAGE_BYTES, (bar0 + bytes) / PAGE_BYTES };
	LIST_FOREACH(banks, &store->vhcas, link) {
		safe = true;
		LIST_FOREACH(bank, &banks->list, link) {
			err = bank->stale ? make_safe(banks, bank, hca, &bar) : 0;
			if (err == -ENOENT)
				return err;
			safe &= !err;
		}
		if (!safe && banks->domid != own->domid)
			add_name(store->stale, sizeof(store->stale), banks->domid);
	}
	return store->stale[0] ? -EBUSY : 0;
}

static bool has_stale(const struct bank_store *store)
{
	struct banks *banks;
	struct bank *bank;

	LIST_FOREACH(banks, &store->vhcas, link)
		LIST_FOREACH(bank, &banks->list, link)
			if (bank->stale)
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
