// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_uar_store.c - the table of a UAR pool; what is in systemd's store when one supervisor follows another; pools of vHCAs
 * that are taken away.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "broker/uar_table.h"
#include "supervisor/fdstore.h"
#include "supervisor/uar_pools.h"
#include "unit/fakes/fixture.h"
#include "unit/fakes/uar_guests.h"

/* Its bounds, and what an auto-translated guest has where. */
static void test_table(void)
{
	struct uar_table *table = calloc(1, sizeof(*table));
	uint32_t n;

	CHECK(table);
	CHECK(uar_table_valid(table) && !uar_table_at(table, 0x100000));
	CHECK(uar_table_add(table, 18, 1, 0xfe812) == &table->entry[0] && table->count == 1);
	CHECK(table->entry[0].index == 18 && table->entry[0].type == 1 &&
	      table->entry[0].frame == 0xfe812);
	CHECK(!table->entry[0].allowed && !table->entry[0].in_use);

	/* One that is nowhere is not at gfn 0. */
	CHECK(!uar_table_at(table, 0));
	table->entry[0].gfn = 0x100000;
	CHECK(uar_table_at(table, 0x100000) == &table->entry[0] && !uar_table_at(table, 0x100001));

	for (n = table->count; n < UAR_TABLE_ENTRIES; n++) {
		CHECK(!uar_table_full(table));
		uar_table_add(table, n, 0, 0x1000 + n);
	}
	CHECK(uar_table_full(table) && uar_table_valid(table));
	table->entry[UAR_TABLE_ENTRIES - 1].gfn = 5;
	CHECK(uar_table_at(table, 5) == &table->entry[UAR_TABLE_ENTRIES - 1]);
	table->count++;
	CHECK(!uar_table_valid(table));
	free(table);
}

/* Another supervisor, before the HCA is back, and after. */
static void test_restart(void)
{
	guests_begin();
	CHECK(!guest_use(&guests[0], "mlx5_0", 2) && !guest_use(&guests[1], "mlx5_0", 2));
	hca_unload(&hcas[0]);
	supervisor_restart();
	CHECK(guest_use(&guests[0], "mlx5_0", 2) == -ENOENT);
	supervisor_restart();
	hca_load(&hcas[0], "mlx5_0");
	CHECK(!guest_use(&guests[2], "mlx5_0", 3));
	said[0] = 0;
	supervisor_restart();
	dom0_takes_all(&hcas[0]);
	CHECK(!guest_use(&guests[0], "mlx5_0", 0) && !said[0]); /* they were held all the time */
	hca_reload(&hcas[0]);
	supervisor_restart();
	CHECK(!guest_use(&guests[1], "mlx5_0", 3));
	dom0_takes_all(&hcas[0]);
	guests_end();
}

static int find_stored(const char *start)
{
	unsigned int i;

	for (i = 0; i < n_stored; i++)
		if (!strncmp(stored[i].name, start, strlen(start)))
			return i;
	abort();
}

/* What is in the store is not whole. */
static void test_odd_store(void)
{
	int fd;

	guests_begin();
	CHECK(!guest_use(&guests[0], "mlx5_0", 2));
	/* A file that no table needs: the supervisor died in between. What it does not know it leaves. */
	CHECK(!fdstore_put("file-77", STDIN_FILENO) && !fdstore_put("something", STDERR_FILENO));
	supervisor_restart();
	CHECK(n_stored == 3 && strstr(said, "something"));
	fdstore_remove("something");
	/* A file that is not there: as if the HCA had forgotten it, and dom0 has not been sooner. */
	fdstore_remove(stored[find_stored("file-")].name);
	supervisor_restart();
	CHECK(!guest_use(&guests[1], "mlx5_0", 1) && strstr(said, "domain 5"));
	dom0_takes_all(&hcas[0]);
	/* A table of another size. */
	supervisor_die();
	fd = memfd_create("short", MFD_CLOEXEC);
	CHECK(fd >= 0 && !fdstore_put("table-99,5-0,mlx5_0", fd));
	close(fd);
	CHECK(supervisor_start() == -EPROTO && strstr(said, "vHCA 0"));
	supervisor_die();
	fdstore_remove("table-99,5-0,mlx5_0");
	CHECK(!supervisor_start());
	guests_end();
}

/* Nothing is given that is not stored, and of an attempt nothing stays. */
static void test_full_store(void)
{
	guests_begin();
	for (most_stored = 0; most_stored < 2; most_stored++)
		CHECK(guest_use(&guests[0], "mlx5_0", 1) == -ENOSPC && !n_stored);
	CHECK(!guest_use(&guests[0], "mlx5_0", 2));
	hca_reload(&hcas[0]);
	CHECK(guest_use(&guests[1], "mlx5_0", 1) ==
	      -EBUSY); /* one file more is needed, for a while */
	most_stored = 5;
	now_ms += 4000;
	CHECK(!guest_use(&guests[1], "mlx5_0", 1) && n_stored == 4);
	dom0_takes_all(&hcas[0]);
	guests_end();
}

/* A vHCA that is taken away from a domain that lives: its pages stay, if the guest may have them. */
static void test_trim(void)
{
	guests_begin();
	CHECK(!guest_use(&guests[0], "mlx5_0", 2) && !guest_use(&guests[1], "mlx5_0", 0));
	hca_reload(&hcas[0]);
	CHECK(!guest_use(&guests[2], "mlx5_0", 1));
	uar_pools_trim(&guests[0].pools);
	uar_pools_trim(&guests[1].pools);
	CHECK(!LIST_EMPTY(&guests[0].pools.list) && LIST_EMPTY(&guests[1].pools.list));
	dom0_takes_all(&hcas[0]);
	guests_end();
}

int main(void)
{
	test_table();
	test_restart();
	test_odd_store();
	test_full_store();
	test_trim();
	return EXIT_SUCCESS;
}
