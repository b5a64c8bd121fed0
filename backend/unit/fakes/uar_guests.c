// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uar_guests.c - see uar_guests.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/uar_table.h"
#include "hca/hca.h"
#include "hca/sysfs.h"
#include "supervisor/fdstore.h"
#include "supervisor/uar_pools.h"
#include "supervisor/uar_search.h"
#include "unit/fakes/fixture.h"
#include "unit/fakes/uar_guests.h"
#include "util/clock.h"
#include "util/log.h"

#define FILES 128u

static struct file {
	int end;
	ino_t ino;
	struct hca_state *hca;
	unsigned int life;
} files[FILES];
static unsigned int n_files = 1;

struct hca_state hcas[2];
uint64_t now_ms = 1;
unsigned int slow_ms;
char said[4096];
struct stored_fd stored[STORED];
unsigned int n_stored, most_stored;
struct guest guests[3];
struct uar_store store;

uint64_t clock_ms(void)
{
	return now_ms;
}

static struct hca_state *hca_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (hcas[i].name && !strcmp(hcas[i].name, name))
			return &hcas[i];
	return NULL;
}

static unsigned int file_of(int fd)
{
	unsigned int i;
	struct stat st;

	CHECK(!fstat(fd, &st));
	for (i = 1; i < n_files; i++)
		if (files[i].ino == st.st_ino && files[i].end >= 0)
			return i;
	abort();
}

/* What has been closed by all. */
static void look_for_closed(void)
{
	unsigned int i, page;

	for (i = 1; i < n_files; i++) {
		struct pollfd end = { .fd = files[i].end, .events = POLLIN };

		if (files[i].end < 0 || poll(&end, 1, 0) != 1)
			continue;
		close(files[i].end);
		files[i].end = -1;
		for (page = 0; page < PAGES; page++)
			if (files[i].life == files[i].hca->life && files[i].hca->page[page] == i)
				files[i].hca->page[page] = FREE;
	}
}

int hca_uar_pool_open(const char *name)
{
	struct hca_state *hca = hca_of(name);
	struct stat st;
	int ends[2];

	if (!hca)
		return -ENOENT;
	CHECK(n_files < FILES && !pipe(ends) && !fstat(ends[1], &st));
	files[n_files++] = (struct file){ ends[0], st.st_ino, hca, hca->life };
	return ends[1];
}

bool hca_uar_pool_alive(int pool)
{
	const struct file *file;

	if (pool < 0)
		return false;
	file = &files[file_of(pool)];
	return file->hca->name && file->life == file->hca->life;
}

int hca_uar_alloc(int pool, uint32_t type, uint32_t *index, uint32_t *handle)
{
	unsigned int owner = file_of(pool), i;
	struct hca_state *hca = files[owner].hca;

	(void)type;
	now_ms += slow_ms;
	if (!hca_uar_pool_alive(pool))
		return -EIO;
	look_for_closed();
	for (i = 0; i < PAGES; i++) {
		hca->last = hca->last < FIRST_PAGE || hca->last == PAGES - 1 ? FIRST_PAGE :
									       hca->last + 1;
		if (hca->page[hca->last] != FREE)
			continue;
		hca->page[hca->last] = owner;
		*index = hca->last;
		*handle = 1000 + *index;
		return 0;
	}
	return -ENOMEM;
}

int hca_uar_free(int pool, uint32_t handle)
{
	struct hca_state *hca = files[file_of(pool)].hca;

	now_ms += slow_ms;
	if (!hca_uar_pool_alive(pool))
		return -EIO;
	CHECK(hca->page[handle - 1000] == file_of(pool));
	hca->page[handle - 1000] = FREE;
	return 0;
}

int hca_sysfs_bar0(const char *name, uint64_t *address, uint64_t *bytes)
{
	struct hca_state *hca = hca_of(name);

	if (!hca)
		return -ENOENT;
	*address = hca->bar * 4096;
	*bytes = PAGES * 4096;
	return 0;
}

/* It goes, and comes back: all that was is forgotten. */
void hca_unload(struct hca_state *hca)
{
	hca->name = NULL;
	hca->life++;
	memset(hca->page, FREE, sizeof(hca->page));
}

void hca_load(struct hca_state *hca, const char *name)
{
	hca->name = name;
}

void hca_reload(struct hca_state *hca)
{
	const char *name = hca->name;

	hca_unload(hca);
	hca_load(hca, name);
}

/* The log */

static bool note_line(const struct log_entry *entry)
{
	strncat(said, entry->text, sizeof(said) - strlen(said) - 2);
	strcat(said, "\n");
	return true;
}

/* systemd's store: an open file once, under its first name. */

static bool same_file(int a, int b)
{
	struct stat one, other;

	CHECK(!fstat(a, &one) && !fstat(b, &other));
	return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

int fdstore_put(const char *name, int fd)
{
	unsigned int i;

	for (i = 0; i < n_stored; i++)
		CHECK(strcmp(stored[i].name, name) && !same_file(stored[i].fd, fd));
	if (n_stored >= most_stored)
		return -ENOSPC;
	snprintf(stored[n_stored].name, sizeof(stored[0].name), "%s", name);
	stored[n_stored++].fd = dup(fd);
	return 0;
}

void fdstore_remove(const char *name)
{
	unsigned int i;

	for (i = 0; i < n_stored && strcmp(stored[i].name, name); i++)
		;
	CHECK(i < n_stored);
	close(stored[i].fd);
	stored[i] = stored[--n_stored];
}

int fdstore_load(fdstore_fn *fn, void *to)
{
	unsigned int i;

	for (i = 0; i < n_stored; i++)
		fn(to, stored[i].name, dup(stored[i].fd));
	return 0;
}

/* Guests, and the supervisor */

void guests_begin(void)
{
	unsigned int i;

	log_setup("test", LOG_DEBUG);
	log_to(note_line);
	uar_store_init(&store);
	most_stored = STORED;
	memset(hcas, 0, sizeof(hcas));
	hcas[0] = (struct hca_state){ .name = "mlx5_0", .bar = 0xfe000, .life = 1 };
	hcas[1] = (struct hca_state){ .name = "mlx5_1", .bar = 0x382000000, .life = 1 };
	memset(guests, 0, sizeof(guests));
	for (i = 0; i < 3; i++)
		uar_pools_init(&guests[i].pools, 5 + i, 0, &store);
	said[0] = 0;
}

void guest_destroy(struct guest *g)
{
	g->gone = true;
	uar_pools_close(&g->pools);
}

void guests_end(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (!guests[i].gone)
			guest_destroy(&guests[i]);
	CHECK(!n_stored);
	look_for_closed();
	for (i = 1; i < n_files; i++)
		CHECK(files[i].end < 0);
	n_files = 1;
}

unsigned int owner_of(uint64_t frame)
{
	unsigned int i;

	look_for_closed();
	for (i = 0; i < 2; i++)
		if (frame >= hcas[i].bar && frame < hcas[i].bar + PAGES)
			return hcas[i].page[frame - hcas[i].bar];
	abort();
}

/* As the supervisor does it, until it is known. */
static struct held_pool *get(struct guest *g, const char *hca, int *err)
{
	struct held_pool *pool;

	while (!(pool = uar_pools_get(&g->pools, hca, err)) && *err == -EAGAIN)
		CHECK(!uar_search_step(&store));
	return pool;
}

/* Its worker is started, and its broker allocates pages, which it maps: 0, or why not. */
int guest_use(struct guest *g, const char *hca, unsigned int pages)
{
	struct uar_table *table;
	struct held_pool *pool;
	uint32_t index, handle;
	unsigned int i, n;
	int err = 0;

	pool = get(g, hca, &err);
	CHECK(!pool == !!err);
	if (!pool)
		return err;
	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, pool->table, 0);
	CHECK(table != MAP_FAILED);
	while (pages--) {
		CHECK(!hca_uar_alloc(pool->file, XEN_VHCA_UAR_NC, &index, &handle));
		uar_table_add(table, index, XEN_VHCA_UAR_NC, hca_of(hca)->bar + index);
		table->entry[table->count - 1].allowed = 1;
		g->mapped[g->n_mapped++] = hca_of(hca)->bar + index;
		/* This is what it is about: it is nobody else's. */
		for (i = 0; i < 3; i++)
			for (n = 0; n < guests[i].n_mapped; n++)
				CHECK(&guests[i] == g || guests[i].gone ||
				      guests[i].mapped[n] != hca_of(hca)->bar + index);
	}
	munmap(table, sizeof(*table));
	return 0;
}

/* What dom0 can have: so many pages. It gets none that a guest has mapped. */
void dom0_takes_all(struct hca_state *hca)
{
	unsigned int page, i, n;

	look_for_closed();
	for (page = FIRST_PAGE; page < PAGES; page++) {
		if (hca->page[page] != FREE)
			continue;
		hca->page[page] = DOM0;
		for (i = 0; i < 3; i++)
			for (n = 0; n < guests[i].n_mapped; n++)
				CHECK(guests[i].gone || guests[i].mapped[n] != hca->bar + page);
	}
}

unsigned int pages_of(unsigned int file)
{
	unsigned int page, n = 0;

	look_for_closed();
	for (page = 0; page < PAGES; page++)
		n += hcas[0].page[page] == file;
	return n;
}

/* The supervisor has ended. */
void supervisor_die(void)
{
	struct held_pool *pool;
	unsigned int i;

	uar_search_end(&store);
	for (i = 0; i < 3; i++) {
		while ((pool = LIST_FIRST(&guests[i].pools.list))) {
			LIST_REMOVE(pool, link);
			if (pool->file >= 0)
				close(pool->file);
			close(pool->table);
			free(pool);
		}
	}
}

static struct uar_pools *pools_of(void *from, unsigned int domid, unsigned int devid)
{
	CHECK(from == guests && domid >= 5 && domid < 8 && !devid);
	return &guests[domid - 5].pools;
}

int supervisor_start(void)
{
	unsigned int i;

	uar_store_init(&store);
	for (i = 0; i < 3; i++)
		uar_pools_init(&guests[i].pools, 5 + i, 0, &store);
	return uar_store_load(&store, pools_of, guests);
}

void supervisor_restart(void)
{
	supervisor_die();
	CHECK(!supervisor_start());
}
