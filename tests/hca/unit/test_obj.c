// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Object tables and the memory of queues. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "bus/dma.h"
#include "ifc.h"
#include "objects/obj.h"
#include "objects/wqbuf.h"

TEST(numbers_are_given_in_turn)
{
	struct obj_table *t = obj_table_new(5, 8);
	struct obj o[5] = { 0 };

	REQUIRE(t);
	for (unsigned int i = 0; i < 4; i++) {
		CHECK_EQ(obj_add(t, &o[i]), 0);
		CHECK_EQ(o[i].id, 5 + i);
	}
	CHECK_EQ(obj_add(t, &o[4]), -ENOSPC);
	CHECK_EQ(obj_count(t), 4);
	obj_del(t, &o[1]);
	obj_del(t, &o[3]);
	CHECK(!obj_find(t, 6));
	CHECK_EQ(obj_add(t, &o[4]), 0);
	CHECK_EQ(o[4].id, 6); /* the one freed longest ago that comes next */
	CHECK(obj_find(t, 6) == &o[4]);
	CHECK(!obj_find(t, 8));
	CHECK(!obj_find(t, 4));
	CHECK(!obj_find(t, 9));
	CHECK(!obj_find(t, UINT32_MAX));
	obj_table_free(t);
}

TEST(a_freed_number_rests)
{
	struct obj_table *t = obj_table_new(0, 3000);
	struct obj a = { 0 }, b = { 0 };

	REQUIRE(t);
	CHECK_EQ(obj_add(t, &a), 0);
	CHECK_EQ(a.id, 0);
	obj_del(t, &a);
	CHECK_EQ(obj_add(t, &b), 0);
	CHECK_EQ(b.id, 1);
	obj_table_free(t);
}

TEST(a_full_table_has_every_number_once)
{
	enum { N = 5000 };
	struct obj_table *t = obj_table_new(1, N);
	struct obj *o = calloc(N + 1, sizeof(*o));

	REQUIRE(t && o);
	for (unsigned int i = 0; i < N; i++)
		REQUIRE_EQ(obj_add(t, &o[i]), 0);
	CHECK_EQ(obj_add(t, &o[N]), -ENOSPC);
	obj_del(t, &o[2500]);
	CHECK_EQ(obj_add(t, &o[N]), 0);
	CHECK_EQ(o[N].id, 2501);
	free(o);
	obj_table_free(t);
}

static void delete_it(struct obj *obj, void *arg)
{
	obj_del(arg, obj);
}

TEST(walks)
{
	struct obj_table *t = obj_table_new(1, 1 << 20);
	struct obj o[3000] = { 0 };

	REQUIRE(t);
	CHECK(!obj_next(t, 0));
	for (unsigned int i = 0; i < 3000; i++)
		REQUIRE_EQ(obj_add(t, &o[i]), 0);
	for (unsigned int i = 0; i < 2999; i++)
		obj_del(t, &o[i]);
	CHECK(obj_next(t, 0) == &o[2999]);
	CHECK(obj_next(t, 3000) == &o[2999]);
	CHECK(!obj_next(t, 3001));
	CHECK_EQ(obj_add(t, &o[0]), 0);
	CHECK_EQ(o[0].id, 3001);
	obj_each(t, delete_it, t);
	CHECK_EQ(obj_count(t), 0);
	CHECK(!obj_next(t, 0));
	obj_table_free(t);
}

/* Numbers at the ends of the words and blocks that a table is made of. */
TEST(walks_and_searches_stop_where_they_should)
{
	static const uint32_t kept[] = { 0, 63, 64, 1023, 1024, 2047, 2100 };
	enum { N = 2101, KEPT = sizeof(kept) / sizeof(kept[0]) };
	struct obj_table *t = obj_table_new(0, N - 1);
	struct obj o[N] = { 0 }, more = { 0 };
	uint32_t at = 0;

	REQUIRE(t);
	for (unsigned int i = 0; i < N; i++)
		REQUIRE_EQ(obj_add(t, &o[i]), 0);
	for (unsigned int i = 0, k = 0; i < N; i++) {
		if (i == kept[k])
			k++;
		else
			obj_del(t, &o[i]);
	}
	for (unsigned int k = 0; k < KEPT; k++) {
		REQUIRE(obj_next(t, at) == &o[kept[k]]);
		CHECK(obj_next(t, kept[k]) == &o[kept[k]]);
		at = kept[k] + 1;
	}
	CHECK(!obj_next(t, at));
	CHECK(!obj_next(t, UINT32_MAX));
	for (unsigned int i = 0; i < N - KEPT; i++) {
		uint32_t last = more.id;

		REQUIRE_EQ(obj_add(t, &more), 0);
		CHECK(!i || more.id > last);
	}
	CHECK_EQ(more.id, 2099);
	CHECK_EQ(obj_add(t, &more), -ENOSPC);
	obj_table_free(t);
}

TEST(a_table_starts_over)
{
	struct obj_table *t = obj_table_new(7, 100);
	struct obj a = { 0 };

	REQUIRE(t);
	CHECK_EQ(obj_add(t, &a), 0);
	CHECK(!obj_table_restart(t));
	obj_del(t, &a);
	CHECK_EQ(obj_add(t, &a), 0);
	obj_del(t, &a);
	CHECK(obj_table_restart(t));
	CHECK_EQ(obj_add(t, &a), 0);
	CHECK_EQ(a.id, 7);
	obj_table_free(t);
}

#define PAGE 4096u

TEST(page_lists_are_checked)
{
	uint64_t pages[3] = { htobe64(0x10000), htobe64(0x20000), htobe64(0x30001) };
	struct wqbuf b;

	CHECK_EQ(wqbuf_init(&b, pages, 2, 12, 0, 2 * PAGE + 1), -EINVAL);
	CHECK_EQ(wqbuf_init(&b, pages, 2, 12, 64, 2 * PAGE), -EINVAL);
	CHECK_EQ(wqbuf_init(&b, pages, 2, 11, 0, PAGE), -EINVAL);
	CHECK_EQ(wqbuf_init(&b, pages, 2, 31, 0, PAGE), -EINVAL);
	CHECK_EQ(wqbuf_init(&b, pages, 2, 12, PAGE, 1), -EINVAL);
	CHECK_EQ(wqbuf_init(&b, pages, 3, 12, 0, 3 * PAGE), -EINVAL);
	CHECK_EQ(wqbuf_init(&b, pages, 1, 17, 0, PAGE), -EINVAL);
	CHECK_EQ(wqbuf_init(&b, pages, 2, 12, 0, 0), -EINVAL);
	CHECK_EQ(wqbuf_init(&b, pages, 0, 12, 0, 64), -EINVAL);
	CHECK_EQ(wqbuf_init(&b, pages, 2, 12, 0, UINT64_MAX), -EINVAL);
	REQUIRE_EQ(wqbuf_init(&b, pages, 2, 12, 64, 2 * PAGE - 64), 0);
	wqbuf_fini(&b);
	CHECK(!b.pages);
}

TEST(copies_go_across_pages)
{
	static uint8_t memory[2 * PAGE];
	uint64_t pages[2] = { htobe64(0x21000), htobe64(0x20000) };
	struct dma_space *dma = dma_space_new();
	uint8_t out[300], in[300];
	struct wqbuf b;

	REQUIRE(dma);
	REQUIRE_EQ(dma_map_memory(dma, 0x20000, sizeof(memory), memory,
				  DMA_PROT_READ | DMA_PROT_WRITE),
		   0);
	REQUIRE_EQ(wqbuf_init(&b, pages, 2, 12, 128, 2 * PAGE - 128), 0);
	for (unsigned int i = 0; i < sizeof(out); i++)
		out[i] = (uint8_t)i;
	CHECK_EQ(wqbuf_write(&b, dma, PAGE - 128 - 100, out, sizeof(out)), 0);
	CHECK(!memcmp(memory + 2 * PAGE - 100, out, 100));
	CHECK(!memcmp(memory, out + 100, 200));
	CHECK_EQ(wqbuf_read(&b, dma, PAGE - 128 - 100, in, sizeof(in)), 0);
	CHECK(!memcmp(in, out, sizeof(in)));
	CHECK(wqbuf_ptr(&b, dma, 0, 64, DMA_PROT_READ) == memory + PAGE + 128);
	CHECK(!wqbuf_ptr(&b, dma, PAGE - 128 - 32, 64, DMA_PROT_READ));
	CHECK_EQ(wqbuf_read(&b, dma, 2 * PAGE - 128, in, 1), -EFAULT);
	CHECK_EQ(wqbuf_read(&b, dma, UINT64_MAX - 130, in, 1), -EFAULT);
	dma_unmap_all(dma);
	CHECK_EQ(wqbuf_write(&b, dma, 0, out, 1), -EFAULT);
	wqbuf_fini(&b);
	dma_space_free(dma);
}
