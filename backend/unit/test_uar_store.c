// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_uar_store.c - an HCA whose driver is reloaded while PV guests have doorbell pages of it mapped: no page that
 * somebody has mapped is anybody else's, or the HCA serves nobody else. The HCA is a list of who has which page, and gives
 * the next free one, round and round; a UAR pool is a pipe, whose end it sees when all have closed it.
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
#include "supervisor/uar_store.h"
#include "unit/fakes/fixture.h"
#include "util/clock.h"
#include "util/log.h"

#define PAGES 64u
#define FIRST_PAGE 5u /* that can be a doorbell page */
#define DOM0 255u     /* who has a page: a process of dom0, */
#define FREE 0u       /* nobody, or the number of a file */
#define FILES 128u

static struct hca_state {
	const char *name;
	uint64_t bar;
	unsigned int life; /* how often its driver has been loaded */
	unsigned int last; /* page that was given */
	unsigned char page[PAGES];
} hcas[2];

static struct file {
	int end;
	ino_t ino;
	struct hca_state *hca;
	unsigned int life;
} files[FILES];
static unsigned int n_files = 1;
static uint64_t now_ms = 1;
static unsigned int slow_ms; /* what a page takes */
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
static void unload(struct hca_state *hca)
{
	hca->name = NULL;
	hca->life++;
	memset(hca->page, FREE, sizeof(hca->page));
}

static void load(struct hca_state *hca, const char *name)
{
	hca->name = name;
}

static void reload(struct hca_state *hca)
{
	const char *name = hca->name;

	unload(hca);
	load(hca, name);
}

/* The log */

static char said[4096];

static bool note_line(const struct log_entry *entry)
{
	strncat(said, entry->text, sizeof(said) - strlen(said) - 2);
	strcat(said, "\n");
	return true;
}

/* systemd's store: an open file once, under its first name. */

#define STORED 32

static struct stored_fd {
	char name[128];
	int fd;
} stored[STORED];
static unsigned int n_stored, most_stored;

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

struct guest {
	struct uar_pools pools;
	uint64_t mapped[16]; /* frames that it has mapped, and keeps */
	unsigned int n_mapped;
	bool gone;
};

static struct uar_store store;
static struct guest guests[3]; /* domains 5, 6, 7 */

static void begin(void)
{
	unsigned int i;

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

static void destroy(struct guest *g)
{
	g->gone = true;
	uar_pools_close(&g->pools);
}

static void end(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (!guests[i].gone)
			destroy(&guests[i]);
	CHECK(!n_stored);
	look_for_closed();
	for (i = 1; i < n_files; i++)
		CHECK(files[i].end < 0);
	n_files = 1;
}

static unsigned int owner_of(uint64_t frame)
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
static int use(struct guest *g, const char *hca, unsigned int pages)
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
static void dom0_takes_all(struct hca_state *hca)
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

static void test_held(void)
{
	begin();
	CHECK(!use(&guests[0], "mlx5_0", 3) && !use(&guests[1], "mlx5_0", 2));
	reload(&hcas[0]);
	CHECK(!use(&guests[2], "mlx5_0", 4) && !use(&guests[0], "mlx5_0", 3) &&
	      !use(&guests[1], "mlx5_0", 2));
	CHECK(strstr(said, "pages that domain 5") && strstr(said, "pages that domain 6"));
	dom0_takes_all(&hcas[0]);
	/* With these domains they are free; what it has got since, with itself. */
	destroy(&guests[0]);
	CHECK(owner_of(guests[0].mapped[3]) == FREE && owner_of(guests[0].mapped[5]) == FREE);
	CHECK(owner_of(guests[1].mapped[0]) != FREE);
	destroy(&guests[1]);
	CHECK(owner_of(guests[0].mapped[0]) == FREE && owner_of(guests[1].mapped[0]) == FREE);
	CHECK(owner_of(guests[2].mapped[0]) != FREE);
	end();
}

/* Twice, and a guest whose own HCA is another one by now. */
static void test_again(void)
{
	begin();
	CHECK(!use(&guests[0], "mlx5_0", 2) && !use(&guests[0], "mlx5_1", 1));
	reload(&hcas[0]);
	CHECK(!use(&guests[1], "mlx5_0", 2));
	reload(&hcas[0]);
	CHECK(!use(&guests[2], "mlx5_0", 2));
	dom0_takes_all(&hcas[0]);
	reload(&hcas[1]);
	CHECK(!use(&guests[2], "mlx5_1", 2));
	dom0_takes_all(&hcas[1]);
	end();
}

/* Two HCAs that come back in another order: what counts is where their registers are. */
static void test_renamed(void)
{
	begin();
	CHECK(!use(&guests[0], "mlx5_0", 2) && !use(&guests[1], "mlx5_1", 3));
	unload(&hcas[0]);
	unload(&hcas[1]);
	CHECK(use(&guests[0], "mlx5_0", 1) == -ENOENT);
	load(&hcas[0], "mlx5_1");
	load(&hcas[1], "mlx5_0");
	CHECK(!use(&guests[2], "mlx5_0", 4) && !use(&guests[2], "mlx5_1", 4));
	dom0_takes_all(&hcas[0]);
	dom0_takes_all(&hcas[1]);
	end();
}

/* Somebody in dom0 was sooner. */
static void test_taken(void)
{
	unsigned int page;

	begin();
	CHECK(!use(&guests[0], "mlx5_0", 2) && !use(&guests[1], "mlx5_0", 2));
	page = guests[0].mapped[1] - hcas[0].bar;
	reload(&hcas[0]);
	hcas[0].page[page] = DOM0;
	CHECK(use(&guests[2], "mlx5_0", 1) == -EBUSY && !strcmp(store.stale, "domain 5"));
	CHECK(use(&guests[1], "mlx5_0", 1) == -EBUSY && use(&guests[1], "mlx5_0", 1) == -EBUSY);
	CHECK(strstr(said, "domain 5") && strstr(said, "somebody else's now"));
	/* Those of the other guest are held, and what was tried is given back. */
	CHECK(owner_of(guests[1].mapped[0]) != FREE && owner_of(guests[0].mapped[0]) == FREE);
	CHECK(!use(&guests[0], "mlx5_0", 2)); /* which has them anyway */
	CHECK(!use(&guests[2], "mlx5_1", 2)); /* another HCA */
	/* When it is given back, it is held. */
	hcas[0].page[page] = FREE;
	now_ms += 4000;
	CHECK(!use(&guests[2], "mlx5_0", 2));
	dom0_takes_all(&hcas[0]);
	end();

	begin();
	CHECK(!use(&guests[0], "mlx5_0", 1) && !use(&guests[1], "mlx5_0", 1));
	reload(&hcas[0]);
	memset(hcas[0].page, DOM0, sizeof(hcas[0].page));
	CHECK(use(&guests[2], "mlx5_0", 1) == -EBUSY);
	CHECK(!strcmp(store.stale, "domains 6, 5") || !strcmp(store.stale, "domains 5, 6"));
	CHECK(use(&guests[0], "mlx5_0", 1) == -EBUSY && !strcmp(store.stale, "domain 6"));
	destroy(&guests[1]);
	CHECK(use(&guests[2], "mlx5_0", 1) == -EBUSY && !strcmp(store.stale, "domain 5"));
	destroy(&guests[0]);
	hcas[0].page[40] = FREE;
	now_ms += 4000;
	CHECK(!use(&guests[2], "mlx5_0", 1));
	end();
}

/* What is taken from an auto-translated guest it has not. Where it was not taken, it is as with a PV guest. */
static void test_revocable(void)
{
	struct uar_table *table;
	struct held_pool *pool;

	begin();
	guests[0].pools.revocable = true;
	CHECK(!use(&guests[0], "mlx5_0", 1));
	reload(&hcas[0]);
	CHECK(!use(&guests[1], "mlx5_0", 1) && strstr(said, "domain 5"));
	end();

	begin();
	guests[0].pools.revocable = true;
	CHECK(!use(&guests[0], "mlx5_0", 1));
	pool = LIST_FIRST(&guests[0].pools.list);
	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, pool->table, 0);
	CHECK(table != MAP_FAILED);
	table->entry[0].allowed = 0;
	munmap(table, sizeof(*table));
	guests[0].n_mapped = 0;
	reload(&hcas[0]);
	memset(hcas[0].page, DOM0, PAGES / 2);
	CHECK(!use(&guests[1], "mlx5_0", 1) && !said[0] && LIST_EMPTY(&guests[0].pools.list));
	end();
}

/* The supervisor has ended. */
static void die(void)
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

static int start(void)
{
	unsigned int i;

	uar_store_init(&store);
	for (i = 0; i < 3; i++)
		uar_pools_init(&guests[i].pools, 5 + i, 0, &store);
	return uar_store_load(&store, pools_of, guests);
}

static void restart(void)
{
	die();
	CHECK(!start());
}

/* Another supervisor, before the HCA is back, and after. */
static void test_restart(void)
{
	begin();
	CHECK(!use(&guests[0], "mlx5_0", 2) && !use(&guests[1], "mlx5_0", 2));
	unload(&hcas[0]);
	restart();
	CHECK(use(&guests[0], "mlx5_0", 2) == -ENOENT);
	restart();
	load(&hcas[0], "mlx5_0");
	CHECK(!use(&guests[2], "mlx5_0", 3));
	said[0] = 0;
	restart();
	dom0_takes_all(&hcas[0]);
	CHECK(!use(&guests[0], "mlx5_0", 0) && !said[0]); /* they were held all the time */
	reload(&hcas[0]);
	restart();
	CHECK(!use(&guests[1], "mlx5_0", 3));
	dom0_takes_all(&hcas[0]);
	end();
}

static int find_stored(const char *start)
{
	unsigned int i;

	for (i = 0; i < n_stored; i++)
		if (!strncmp(stored[i].name, start, strlen(start)))
			return i;
	abort();
}

static unsigned int pages_of(unsigned int file)
{
	unsigned int page, n = 0;

	look_for_closed();
	for (page = 0; page < PAGES; page++)
		n += hcas[0].page[page] == file;
	return n;
}

/* begin_slow - an HCA that takes its time is being searched, for pages of domain 5 */
static void begin_slow(void)
{
	int err;

	begin();
	CHECK(!use(&guests[0], "mlx5_0", 2));
	reload(&hcas[0]);
	slow_ms = 20;
	CHECK(!uar_pools_get(&guests[1].pools, "mlx5_0", &err) && err == -EAGAIN);
	CHECK(!uar_search_step(&store) && store.search);
}

/* Nobody waits for it but who wants this HCA: the supervisor goes on after each bit. */
static void test_slow(void)
{
	unsigned int steps = 0, left, had;
	uint64_t before;
	int err = 0;

	begin_slow();
	while (store.search) {
		before = now_ms;
		CHECK(!uar_pools_get(&guests[1].pools, "mlx5_0", &err) && err == -EAGAIN);
		CHECK(now_ms == before && n_stored == 2);
		CHECK(!uar_search_step(&store) && now_ms <= before + UAR_SEARCH_STEP_MS + slow_ms);
		steps++;
	}
	CHECK(steps > 10 && uar_search_step(&store) == -1 && now_ms > 1000);
	before = now_ms;
	CHECK(uar_pools_get(&guests[1].pools, "mlx5_0", &err) && now_ms == before);
	CHECK(!use(&guests[2], "mlx5_1", 1));
	dom0_takes_all(&hcas[0]);
	end();

	/* The domain ends meanwhile, and what was found is free. */
	begin_slow();
	destroy(&guests[0]);
	CHECK(!use(&guests[1], "mlx5_0", 1) && owner_of(guests[0].mapped[0]) == FREE &&
	      owner_of(guests[0].mapped[1]) == FREE);
	end();

	/* The driver is reloaded once more. */
	begin_slow();
	reload(&hcas[0]);
	CHECK(!use(&guests[1], "mlx5_0", 1));
	dom0_takes_all(&hcas[0]);
	end();

	/* The supervisor ends, when nothing is freed yet or when something is: of the search nothing stays. */
	for (had = 0; had < 2; had++) {
		begin_slow();
		do {
			left = pages_of(FREE);
			uar_search_step(&store);
		} while (had && store.search && pages_of(FREE) <= left);
		CHECK(store.search);
		restart();
		CHECK(pages_of(FREE) == PAGES && !use(&guests[1], "mlx5_0", 1));
		dom0_takes_all(&hcas[0]);
		end();
	}
	slow_ms = 0;
}

/* What is in the store is not whole. */
static void test_odd_store(void)
{
	int fd;

	begin();
	CHECK(!use(&guests[0], "mlx5_0", 2));
	/* A file that no table needs: the supervisor died in between. What it does not know it leaves. */
	CHECK(!fdstore_put("file-77", STDIN_FILENO) && !fdstore_put("something", STDERR_FILENO));
	restart();
	CHECK(n_stored == 3 && strstr(said, "something"));
	fdstore_remove("something");
	/* A file that is not there: as if the HCA had forgotten it, and dom0 has not been sooner. */
	fdstore_remove(stored[find_stored("file-")].name);
	restart();
	CHECK(!use(&guests[1], "mlx5_0", 1) && strstr(said, "domain 5"));
	dom0_takes_all(&hcas[0]);
	/* A table of another size. */
	die();
	fd = memfd_create("short", MFD_CLOEXEC);
	CHECK(fd >= 0 && !fdstore_put("table-99,5-0,mlx5_0", fd));
	close(fd);
	CHECK(start() == -EPROTO && strstr(said, "vHCA 0"));
	die();
	fdstore_remove("table-99,5-0,mlx5_0");
	CHECK(!start());
	end();
}

/* Nothing is given that is not stored, and of an attempt nothing stays. */
static void test_full_store(void)
{
	begin();
	for (most_stored = 0; most_stored < 2; most_stored++)
		CHECK(use(&guests[0], "mlx5_0", 1) == -ENOSPC && !n_stored);
	CHECK(!use(&guests[0], "mlx5_0", 2));
	reload(&hcas[0]);
	CHECK(use(&guests[1], "mlx5_0", 1) == -EBUSY); /* one file more is needed, for a while */
	most_stored = 5;
	now_ms += 4000;
	CHECK(!use(&guests[1], "mlx5_0", 1) && n_stored == 4);
	dom0_takes_all(&hcas[0]);
	end();
}

/* A vHCA that is taken away from a domain that lives: its pages stay, if the guest may have them. */
static void test_trim(void)
{
	begin();
	CHECK(!use(&guests[0], "mlx5_0", 2) && !use(&guests[1], "mlx5_0", 0));
	reload(&hcas[0]);
	CHECK(!use(&guests[2], "mlx5_0", 1));
	uar_pools_trim(&guests[0].pools);
	uar_pools_trim(&guests[1].pools);
	CHECK(!LIST_EMPTY(&guests[0].pools.list) && LIST_EMPTY(&guests[1].pools.list));
	dom0_takes_all(&hcas[0]);
	end();
}

int main(void)
{
	log_setup("test", LOG_DEBUG);
	log_to(note_line);
	test_held();
	test_again();
	test_renamed();
	test_taken();
	test_revocable();
	test_restart();
	test_slow();
	test_odd_store();
	test_full_store();
	test_trim();
	return EXIT_SUCCESS;
}
