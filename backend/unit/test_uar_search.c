// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_uar_search.c - an HCA whose driver is reloaded while guests have doorbell pages of it mapped: no page that somebody has
 * mapped is anybody else's, or the HCA serves nobody else.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "broker/uar_table.h"
#include "supervisor/uar_pools.h"
#include "supervisor/uar_search.h"
#include "unit/fakes/fixture.h"
#include "unit/fakes/uar_guests.h"

static void test_held(void)
{
	guests_begin();
	CHECK(!guest_use(&guests[0], "mlx5_0", 3) && !guest_use(&guests[1], "mlx5_0", 2));
	hca_reload(&hcas[0]);
	CHECK(!guest_use(&guests[2], "mlx5_0", 4) && !guest_use(&guests[0], "mlx5_0", 3) &&
	      !guest_use(&guests[1], "mlx5_0", 2));
	CHECK(strstr(said, "pages that domain 5") && strstr(said, "pages that domain 6"));
	dom0_takes_all(&hcas[0]);
	/* With these domains they are free; what it has got since, with itself. */
	guest_destroy(&guests[0]);
	CHECK(owner_of(guests[0].mapped[3]) == FREE && owner_of(guests[0].mapped[5]) == FREE);
	CHECK(owner_of(guests[1].mapped[0]) != FREE);
	guest_destroy(&guests[1]);
	CHECK(owner_of(guests[0].mapped[0]) == FREE && owner_of(guests[1].mapped[0]) == FREE);
	CHECK(owner_of(guests[2].mapped[0]) != FREE);
	guests_end();
}

/* Twice, and a guest whose own HCA is another one by now. */
static void test_again(void)
{
	guests_begin();
	CHECK(!guest_use(&guests[0], "mlx5_0", 2) && !guest_use(&guests[0], "mlx5_1", 1));
	hca_reload(&hcas[0]);
	CHECK(!guest_use(&guests[1], "mlx5_0", 2));
	hca_reload(&hcas[0]);
	CHECK(!guest_use(&guests[2], "mlx5_0", 2));
	dom0_takes_all(&hcas[0]);
	hca_reload(&hcas[1]);
	CHECK(!guest_use(&guests[2], "mlx5_1", 2));
	dom0_takes_all(&hcas[1]);
	guests_end();
}

/* Two HCAs that come back in another order: what counts is where their registers are. */
static void test_renamed(void)
{
	guests_begin();
	CHECK(!guest_use(&guests[0], "mlx5_0", 2) && !guest_use(&guests[1], "mlx5_1", 3));
	hca_unload(&hcas[0]);
	hca_unload(&hcas[1]);
	CHECK(guest_use(&guests[0], "mlx5_0", 1) == -ENOENT);
	hca_load(&hcas[0], "mlx5_1");
	hca_load(&hcas[1], "mlx5_0");
	CHECK(!guest_use(&guests[2], "mlx5_0", 4) && !guest_use(&guests[2], "mlx5_1", 4));
	dom0_takes_all(&hcas[0]);
	dom0_takes_all(&hcas[1]);
	guests_end();
}

/* Somebody in dom0 was sooner. */
static void test_taken(void)
{
	unsigned int page;

	guests_begin();
	CHECK(!guest_use(&guests[0], "mlx5_0", 2) && !guest_use(&guests[1], "mlx5_0", 2));
	page = guests[0].mapped[1] - hcas[0].bar;
	hca_reload(&hcas[0]);
	hcas[0].page[page] = DOM0;
	CHECK(guest_use(&guests[2], "mlx5_0", 1) == -EBUSY && !strcmp(store.stale, "domain 5"));
	CHECK(guest_use(&guests[1], "mlx5_0", 1) == -EBUSY &&
	      guest_use(&guests[1], "mlx5_0", 1) == -EBUSY);
	CHECK(strstr(said, "domain 5") && strstr(said, "somebody else's now"));
	/* Those of the other guest are held, and what was tried is given back. */
	CHECK(owner_of(guests[1].mapped[0]) != FREE && owner_of(guests[0].mapped[0]) == FREE);
	CHECK(!guest_use(&guests[0], "mlx5_0", 2)); /* which has them anyway */
	CHECK(!guest_use(&guests[2], "mlx5_1", 2)); /* another HCA */
	/* When it is given back, it is held. */
	hcas[0].page[page] = FREE;
	now_ms += 4000;
	CHECK(!guest_use(&guests[2], "mlx5_0", 2));
	dom0_takes_all(&hcas[0]);
	guests_end();

	guests_begin();
	CHECK(!guest_use(&guests[0], "mlx5_0", 1) && !guest_use(&guests[1], "mlx5_0", 1));
	hca_reload(&hcas[0]);
	memset(hcas[0].page, DOM0, sizeof(hcas[0].page));
	CHECK(guest_use(&guests[2], "mlx5_0", 1) == -EBUSY);
	CHECK(!strcmp(store.stale, "domains 6, 5") || !strcmp(store.stale, "domains 5, 6"));
	CHECK(guest_use(&guests[0], "mlx5_0", 1) == -EBUSY && !strcmp(store.stale, "domain 6"));
	guest_destroy(&guests[1]);
	CHECK(guest_use(&guests[2], "mlx5_0", 1) == -EBUSY && !strcmp(store.stale, "domain 5"));
	guest_destroy(&guests[0]);
	hcas[0].page[40] = FREE;
	now_ms += 4000;
	CHECK(!guest_use(&guests[2], "mlx5_0", 1));
	guests_end();
}

/* What is taken from an auto-translated guest it has not. Where it was not taken, it is as with a PV guest. */
static void test_revocable(void)
{
	struct uar_table *table;
	struct held_pool *pool;

	guests_begin();
	guests[0].pools.revocable = true;
	CHECK(!guest_use(&guests[0], "mlx5_0", 1));
	hca_reload(&hcas[0]);
	CHECK(!guest_use(&guests[1], "mlx5_0", 1) && strstr(said, "domain 5"));
	guests_end();

	guests_begin();
	guests[0].pools.revocable = true;
	CHECK(!guest_use(&guests[0], "mlx5_0", 1));
	pool = LIST_FIRST(&guests[0].pools.list);
	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, pool->table, 0);
	CHECK(table != MAP_FAILED);
	table->entry[0].allowed = 0;
	munmap(table, sizeof(*table));
	guests[0].n_mapped = 0;
	hca_reload(&hcas[0]);
	memset(hcas[0].page, DOM0, PAGES / 2);
	CHECK(!guest_use(&guests[1], "mlx5_0", 1) && !said[0] && LIST_EMPTY(&guests[0].pools.list));
	guests_end();
}

/* begin_slow - an HCA that takes its time is being searched, for pages of domain 5 */
static void begin_slow(void)
{
	int err;

	guests_begin();
	CHECK(!guest_use(&guests[0], "mlx5_0", 2));
	hca_reload(&hcas[0]);
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
	CHECK(!guest_use(&guests[2], "mlx5_1", 1));
	dom0_takes_all(&hcas[0]);
	guests_end();

	/* The domain ends meanwhile, and what was found is free. */
	begin_slow();
	guest_destroy(&guests[0]);
	CHECK(!guest_use(&guests[1], "mlx5_0", 1) && owner_of(guests[0].mapped[0]) == FREE &&
	      owner_of(guests[0].mapped[1]) == FREE);
	guests_end();

	/* The driver is reloaded once more. */
	begin_slow();
	hca_reload(&hcas[0]);
	CHECK(!guest_use(&guests[1], "mlx5_0", 1));
	dom0_takes_all(&hcas[0]);
	guests_end();

	/* The supervisor ends, when nothing is freed yet or when something is: of the search nothing stays. */
	for (had = 0; had < 2; had++) {
		begin_slow();
		do {
			left = pages_of(FREE);
			uar_search_step(&store);
		} while (had && store.search && pages_of(FREE) <= left);
		CHECK(store.search);
		supervisor_restart();
		CHECK(pages_of(FREE) == PAGES && !guest_use(&guests[1], "mlx5_0", 1));
		dom0_takes_all(&hcas[0]);
		guests_end();
	}
	slow_ms = 0;
}

int main(void)
{
	test_held();
	test_again();
	test_renamed();
	test_taken();
	test_revocable();
	test_slow();
	return EXIT_SUCCESS;
}
