// SPDX-License-Identifier: GPL-2.0
/*
 * tests_pool.c - KUnit cases of the memory through which the kernel's data passes
 * (frontend/kernel/pool.c).
 */
#include <kunit/test.h>
#include <linux/random.h>

#include "kernel_fixture.h"

#define FIRST_BYTES SZ_4M  /* of the pool, as it begins */
#define OTHER_BYTES SZ_16M /* of each segment that it grows by */
#define LAST_BYTES (3 * SZ_4M)
#define MAX_SEGMENTS 5 /* by default: 4 + 3 * 16 + 12 of 64 MiB */

static u32 requests(struct kunit *test, u8 op)
{
	return of(test)->fixture.backend.requests[op];
}

static void test_pool_alloc(struct kunit *test)
{
	static const size_t sizes[] = { 1, GRANULE, GRANULE + 1, 3 * PAGE_SIZE, SZ_1M };
	struct xenib_pool *pool = of(test)->pool;
	u64 addrs[ARRAY_SIZE(sizes)], end = XENIB_POOL_BASE;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, granted_pages(&of(test)->fixture), FIRST_BYTES / PAGE_SIZE);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		addrs[i] = xenib_pool_alloc(pool, sizes[i], PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, addrs[i] % PAGE_SIZE, 0ULL);
		KUNIT_EXPECT_GE(test, addrs[i], end);
		end = addrs[i] + sizes[i];
		KUNIT_EXPECT_TRUE(test, xenib_pool_has_place(pool, end - 1));
		memset(xenib_pool_kva(pool, addrs[i]), i, sizes[i]);
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		KUNIT_EXPECT_NULL(test, memchr_inv(xenib_pool_kva(pool, addrs[i]), i, sizes[i]));
		xenib_pool_free(pool, addrs[i], sizes[i]);
	}

	/* No size, none that a segment has; all of the first one. */
	KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, 0, 1), 0ULL);
	KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, OTHER_BYTES + 1, 1), 0ULL);
	KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, SIZE_MAX, 1), 0ULL);
	KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, FIRST_BYTES, 1), XENIB_POOL_BASE);
	xenib_pool_free(pool, XENIB_POOL_BASE, FIRST_BYTES);
}

/* Places of all sizes come and go: none is given twice, and all come back. */
static void test_pool_random(struct kunit *test)
{
	struct xenib_pool *pool = of(test)->pool;
	struct {
		u64 addr;
		size_t size;
	} places[64] = {};
	unsigned int round, i;
	size_t align;

	for (round = 0; round < 20000; round++) {
		i = get_random_u32_below(ARRAY_SIZE(places));
		if (places[i].addr) {
			KUNIT_EXPECT_NULL(test, memchr_inv(xenib_pool_kva(pool, places[i].addr), i,
							   places[i].size));
			xenib_pool_free(pool, places[i].addr, places[i].size);
			places[i].addr = 0;
			continue;
		}
		places[i].size = 1 + get_random_u32_below(round % 4 ? 3 * GRANULE : SZ_64K);
		align = BIT(get_random_u32_below(14));
		places[i].addr = xenib_pool_alloc(pool, places[i].size, align);
		KUNIT_ASSERT_NE(test, places[i].addr, 0ULL);
		KUNIT_EXPECT_EQ(test, places[i].addr % align, 0ULL);
		memset(xenib_pool_kva(pool, places[i].addr), i, places[i].size);
	}
	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i].addr)
			xenib_pool_free(pool, places[i].addr, places[i].size);
	KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, FIRST_BYTES, 1), XENIB_POOL_BASE);

	/* Full: a small one is where one was given back. */
	xenib_pool_free(pool, XENIB_POOL_BASE + 7 * GRANULE, GRANULE);
	KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, 1, 1), XENIB_POOL_BASE + 7 * GRANULE);
	xenib_pool_free(pool, XENIB_POOL_BASE, FIRST_BYTES);
}

/* Any address: before it, behind its first segment, of a segment that is not there, behind all. */
static void test_pool_places(struct kunit *test)
{
	static const u64 none[] = {
		0,
		XENIB_POOL_BASE - 1,
		XENIB_POOL_BASE + FIRST_BYTES,
		XENIB_POOL_BASE + OTHER_BYTES - 1,
		XENIB_POOL_BASE + OTHER_BYTES,
		XENIB_POOL_END - 1,
		XENIB_POOL_END,
		XENIB_POOL_NOWHERE + 5,
		U64_MAX,
	};
	struct xenib_pool *pool = of(test)->pool;
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, xenib_pool_has_place(pool, XENIB_POOL_BASE));
	KUNIT_EXPECT_TRUE(test, xenib_pool_has_place(pool, XENIB_POOL_BASE + FIRST_BYTES - 1));
	for (i = 0; i < ARRAY_SIZE(none); i++) {
		KUNIT_EXPECT_FALSE(test, xenib_pool_has_place(pool, none[i]));
		/* There is nothing to be copied. */
		xenib_origin_copy_in(pool, none[i], SZ_1M);
		xenib_origin_copy_out(pool, none[i], SZ_1M);
		xenib_origin_fetch(pool, none[i], SZ_1M);
	}
	KUNIT_EXPECT_NULL(test, xenib_pool_mapped(pool, XENIB_POOL_BASE + FIRST_BYTES));
	KUNIT_EXPECT_PTR_EQ(test, xenib_pool_mapped(pool, XENIB_POOL_BASE),
			    xenib_pool_kva(pool, XENIB_POOL_BASE));
	KUNIT_EXPECT_PTR_EQ(test, xenib_pool_mapped(pool, XENIB_POOL_NOWHERE + 5), phys_to_virt(5));
}

/* Each PD has its own keys. */
static void test_pool_keys(struct kunit *test)
{
	struct xenib_pool *pool = of(test)->pool;
	struct xenib_pd pds[2] = { { .handle = 1 }, { .handle = 2 } };
	struct xenib_pool_keys *keys[2];
	u32 lkeys[2], lkey, i;

	for (i = 0; i < 2; i++) {
		keys[i] = xenib_pool_keys_get(pool, &pds[i]);
		KUNIT_ASSERT_FALSE(test, IS_ERR(keys[i]));
		KUNIT_EXPECT_PTR_EQ(test, xenib_pool_keys_get(pool, &pds[i]), keys[i]);
		KUNIT_EXPECT_TRUE(test, xenib_pool_lkey(keys[i], XENIB_POOL_BASE, &lkeys[i]));
		KUNIT_EXPECT_FALSE(test, xenib_pool_lkey(keys[i], XENIB_POOL_BASE - 1, &lkey));
		KUNIT_EXPECT_FALSE(test, xenib_pool_lkey(keys[i], XENIB_POOL_END, &lkey));
		KUNIT_EXPECT_FALSE(test,
				   xenib_pool_lkey(keys[i], XENIB_POOL_BASE + OTHER_BYTES, &lkey));
	}
	KUNIT_EXPECT_NE(test, lkeys[0], lkeys[1]);
	KUNIT_EXPECT_EQ(test, requests(test, XEN_VHCA_OP_MR_REG), 2);
	for (i = 0; i < 2; i++) {
		xenib_pool_keys_put(pool, &pds[i]);
		KUNIT_EXPECT_NULL(test, pds[i].keys);
		xenib_pool_keys_put(pool, &pds[i]);
	}
	KUNIT_EXPECT_EQ(test, requests(test, XEN_VHCA_OP_MR_DEREG), 2);
}

static void test_pool_keys_refused(struct kunit *test)
{
	struct xenib_pool *pool = of(test)->pool;
	struct xenib_pd pd = { .handle = 1 };

	of(test)->fixture.backend.refuse[XEN_VHCA_OP_MR_REG] = XEN_VHCA_E_LIMIT;
	KUNIT_EXPECT_TRUE(test, IS_ERR(xenib_pool_keys_get(pool, &pd)));
	KUNIT_EXPECT_NULL(test, pd.keys);
	KUNIT_EXPECT_TRUE(test, list_empty(&pool->users));
	of(test)->fixture.backend.refuse[XEN_VHCA_OP_MR_REG] = XEN_VHCA_OK;
	KUNIT_EXPECT_FALSE(test, IS_ERR(xenib_pool_keys_get(pool, &pd)));
	xenib_pool_keys_put(pool, &pd);
}

/* It has grown as far as it does for what is taken. */
static unsigned int segments(struct xenib_pool *pool)
{
	flush_work(&pool->grow);
	return pool->count;
}

/* Half of it in use makes it larger, with keys for each PD, up to its limit and not beyond. */
static void test_pool_grow(struct kunit *test)
{
	struct xenib_pool *pool = of(test)->pool;
	struct xenib_pd pds[2] = { { .handle = 1 }, { .handle = 2 } };
	u64 first, last, large[MAX_SEGMENTS - 2];
	struct xenib_pool_keys *keys[2];
	unsigned int i, j;
	u32 lkey;

	for (i = 0; i < 2; i++) {
		keys[i] = xenib_pool_keys_get(pool, &pds[i]);
		KUNIT_ASSERT_FALSE(test, IS_ERR(keys[i]));
	}
	first = xenib_pool_alloc(pool, FIRST_BYTES / 2, 1);
	KUNIT_EXPECT_EQ(test, segments(pool), 1);
	KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, FIRST_BYTES / 2, 1), first + FIRST_BYTES / 2);
	KUNIT_EXPECT_EQ(test, segments(pool), 2);
	for (i = 0; i < ARRAY_SIZE(large); i++) {
		large[i] = xenib_pool_alloc(pool, OTHER_BYTES, 1);
		KUNIT_EXPECT_EQ(test, large[i], XENIB_POOL_BASE + (i + 1) * OTHER_BYTES);
		KUNIT_EXPECT_EQ(test, segments(pool), i + 3);
		for (j = 0; j < 2; j++)
			KUNIT_EXPECT_TRUE(test, xenib_pool_lkey(keys[j], large[i], &lkey));
	}
	KUNIT_EXPECT_EQ(test, requests(test, XEN_VHCA_OP_MR_REG), 2 * MAX_SEGMENTS);
	KUNIT_EXPECT_EQ(test, granted_pages(&of(test)->fixture), SZ_64M / PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, OTHER_BYTES, 1), 0ULL);
	last = xenib_pool_alloc(pool, LAST_BYTES, 1);
	KUNIT_EXPECT_EQ(test, last, XENIB_POOL_BASE + (MAX_SEGMENTS - 1) * OTHER_BYTES);
	KUNIT_EXPECT_TRUE(test, xenib_pool_has_place(pool, last + LAST_BYTES - 1));
	KUNIT_EXPECT_FALSE(test, xenib_pool_has_place(pool, last + LAST_BYTES));
	KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, GRANULE, 1), 0ULL);
	KUNIT_EXPECT_EQ(test, segments(pool), MAX_SEGMENTS);

	xenib_pool_free(pool, last, LAST_BYTES);
	for (i = 0; i < ARRAY_SIZE(large); i++)
		xenib_pool_free(pool, large[i], OTHER_BYTES);
	xenib_pool_free(pool, first, FIRST_BYTES / 2);
	xenib_pool_free(pool, first + FIRST_BYTES / 2, FIRST_BYTES / 2);
	for (i = 0; i < 2; i++)
		xenib_pool_keys_put(pool, &pds[i]);
	KUNIT_EXPECT_EQ(test, requests(test, XEN_VHCA_OP_MR_DEREG), 2 * MAX_SEGMENTS);
}

/* The backend refuses the second PD's key for a new segment: nothing of it is left. */
static void test_pool_grow_refused(struct kunit *test)
{
	struct xenib_pool *pool = of(test)->pool;
	struct kunit_backend *backend = &of(test)->fixture.backend;
	struct xenib_pd pds[2] = { { .handle = 1 }, { .handle = 2 } };
	u64 addr;
	u32 i, lkey;

	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_FALSE(test, IS_ERR(xenib_pool_keys_get(pool, &pds[i])));
	backend->refuse[XEN_VHCA_OP_MR_REG] = XEN_VHCA_E_LIMIT;
	backend->refuse_after[XEN_VHCA_OP_MR_REG] = 1;
	addr = xenib_pool_alloc(pool, FIRST_BYTES, 1);
	KUNIT_EXPECT_EQ(test, segments(pool), 1);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_FALSE(test, xenib_pool_lkey(pds[i].keys, XENIB_POOL_BASE + OTHER_BYTES,
							 &lkey));
	KUNIT_EXPECT_EQ(test, requests(test, XEN_VHCA_OP_MR_DEREG), 1);
	KUNIT_EXPECT_EQ(test, granted_pages(&of(test)->fixture), FIRST_BYTES / PAGE_SIZE);

	/* It tries again when there is no place the next time, after a pause. */
	backend->refuse[XEN_VHCA_OP_MR_REG] = XEN_VHCA_OK;
	pool->retry = jiffies;
	KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, 1, 1), 0ULL);
	KUNIT_EXPECT_EQ(test, segments(pool), 2);
	xenib_pool_free(pool, addr, FIRST_BYTES);
	for (i = 0; i < 2; i++)
		xenib_pool_keys_put(pool, &pds[i]);
}

/* Something that has no place makes it larger, too, however little of it is in use. */
static void test_pool_grow_missed(struct kunit *test)
{
	struct xenib_pool *pool = of(test)->pool;
	u64 addr;

	addr = xenib_pool_alloc(pool, GRANULE, 1);
	KUNIT_EXPECT_EQ(test, segments(pool), 1);
	KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, FIRST_BYTES, 1), 0ULL);
	KUNIT_EXPECT_EQ(test, segments(pool), 2);
	KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, FIRST_BYTES, 1),
			XENIB_POOL_BASE + OTHER_BYTES);
	KUNIT_EXPECT_EQ(test, segments(pool), 2);
	xenib_pool_free(pool, XENIB_POOL_BASE + OTHER_BYTES, FIRST_BYTES);
	xenib_pool_free(pool, addr, GRANULE);
}

/* Growth that is refused is asked for again after a pause, and not for each packet. */
static void test_pool_grow_pause(struct kunit *test)
{
	struct xenib_pool *pool = of(test)->pool;
	struct kunit_backend *backend = &of(test)->fixture.backend;
	u32 *creates = &backend->requests[XEN_VHCA_OP_UMEM_CREATE];
	u32 before = *creates, i;
	u64 addr;

	backend->refuse[XEN_VHCA_OP_UMEM_CREATE] = XEN_VHCA_E_LIMIT;
	addr = xenib_pool_alloc(pool, FIRST_BYTES, 1);
	KUNIT_EXPECT_EQ(test, segments(pool), 1);
	KUNIT_EXPECT_EQ(test, *creates - before, 1);
	for (i = 0; i < 100; i++) {
		pool->retry = jiffies + HZ; /* however long it takes to get here */
		KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, GRANULE, 1), 0ULL);
		KUNIT_EXPECT_EQ(test, segments(pool), 1);
	}
	KUNIT_EXPECT_EQ(test, *creates - before, 1);

	/* Something may have no place meanwhile, and by then half of it is free. */
	xenib_pool_free(pool, addr, FIRST_BYTES);
	for (i = 0; i < 3; i++) {
		pool->retry = jiffies;
		xenib_pool_free(pool, xenib_pool_alloc(pool, GRANULE, 1), GRANULE);
		KUNIT_EXPECT_EQ(test, segments(pool), 1);
		KUNIT_EXPECT_EQ(test, *creates - before, 2 + i);
		KUNIT_EXPECT_TRUE(test, time_after(pool->retry, jiffies));
	}
	backend->refuse[XEN_VHCA_OP_UMEM_CREATE] = XEN_VHCA_OK;
	pool->retry = jiffies;
	xenib_pool_free(pool, xenib_pool_alloc(pool, GRANULE, 1), GRANULE);
	KUNIT_EXPECT_EQ(test, segments(pool), 2);
	KUNIT_EXPECT_EQ(test, *creates - before, 5);
}

/* Nothing is given out when the backend is gone. What was can be freed. */
static void test_pool_dead(struct kunit *test)
{
	struct xenib_pool *pool = of(test)->pool;
	u64 addr = xenib_pool_alloc(pool, GRANULE, 1);

	KUNIT_EXPECT_FALSE(test, xenib_pool_is_dead(pool));
	xenib_ring_kill(of(test)->fixture.dev->ring);
	KUNIT_EXPECT_TRUE(test, xenib_pool_is_dead(pool));
	KUNIT_EXPECT_EQ(test, xenib_pool_alloc(pool, GRANULE, 1), 0ULL);
	xenib_pool_free(pool, addr, GRANULE);
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE(test_pool_alloc),
	KUNIT_CASE(test_pool_random),
	KUNIT_CASE(test_pool_places),
	KUNIT_CASE(test_pool_keys),
	KUNIT_CASE(test_pool_keys_refused),
	KUNIT_CASE(test_pool_grow),
	KUNIT_CASE(test_pool_grow_refused),
	KUNIT_CASE(test_pool_grow_missed),
	KUNIT_CASE(test_pool_grow_pause),
	KUNIT_CASE(test_pool_dead),
	{},
};

static struct kunit_suite pool_suite = {
	.name = "xen-ibfront-pool",
	.init = kernel_fixture_init,
	.exit = kernel_fixture_exit,
	.test_cases = pool_cases,
};

kunit_test_suite(pool_suite);
