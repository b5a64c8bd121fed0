// SPDX-License-Identifier: GPL-2.0
/*
 * tests_kernel.c - KUnit cases of what the kernel needs to use the device itself (frontend/kernel):
 * what the pool's copies are made of, and what is noted of WRs that read or receive.
 */
#include <kunit/test.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "kernel_fixture.h"

#define NOTHING 0x5a /* what memory has that nobody writes */

/* A mapping of memory of its own, as dma.c makes it. */
struct mapping {
	u64 addr;
	size_t size;
	u8 *data;
};

static void map(struct kunit *test, struct mapping *mapping, size_t size, bool is_sent)
{
	struct xenib_pool *pool = of(test)->pool;

	mapping->size = size;
	mapping->data = kunit_kmalloc(test, size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mapping->data);
	get_random_bytes(mapping->data, size);
	mapping->addr = xenib_pool_alloc(pool, size, 1);
	KUNIT_ASSERT_NE(test, mapping->addr, 0ULL);
	xenib_origin_note(pool, mapping->addr, mapping->data, size, is_sent);
}

static void unmap(struct kunit *test, const struct mapping *mapping)
{
	xenib_pool_free(of(test)->pool, mapping->addr, mapping->size);
}

static u8 *copy_of(struct kunit *test, const struct mapping *mapping)
{
	return xenib_pool_kva(of(test)->pool, mapping->addr);
}

/* What the HCA writes. */
static void write_copy(struct kunit *test, const struct mapping *mapping)
{
	get_random_bytes(copy_of(test, mapping), mapping->size);
}

static bool same(struct kunit *test, const struct mapping *mapping, size_t from, size_t size)
{
	return !memcmp(copy_of(test, mapping) + from, mapping->data + from, size);
}

static void forget(const struct mapping *mapping)
{
	memset(mapping->data, NOTHING, mapping->size);
}

/* Octets of this part are as forget() has left them. */
static bool untouched(const struct mapping *mapping, size_t from, size_t size)
{
	return !memchr_inv(mapping->data + from, NOTHING, size);
}

/* What copies are made of (origin.c) */

#define ODD (2 * GRANULE + 77) /* bytes of a mapping: the rest of its last granule is nobody's */

static void test_origin_written(struct kunit *test)
{
	struct xenib_pool *pool = of(test)->pool;
	struct mapping a, b;
	size_t from, size;
	unsigned int i;

	map(test, &a, ODD, false);
	map(test, &b, ODD, false);
	KUNIT_ASSERT_EQ(test, b.addr, a.addr + 3 * GRANULE);
	KUNIT_EXPECT_TRUE(test, xenib_origin_is_written(pool, a.addr + ODD - 1));
	KUNIT_EXPECT_FALSE(test, xenib_origin_is_written(pool, a.addr + ODD));
	xenib_origin_copy_in(pool, a.addr, ODD);
	KUNIT_EXPECT_TRUE(test, same(test, &a, 0, ODD));
	for (i = 0; i < 1000; i++) {
		from = get_random_u32_below(ODD);
		size = get_random_u32_below(ODD - from + 1);
		write_copy(test, &a);
		forget(&a);
		xenib_origin_copy_out(pool, a.addr + from, size);
		KUNIT_EXPECT_TRUE(test, untouched(&a, 0, from));
		KUNIT_EXPECT_TRUE(test, same(test, &a, from, size));
		KUNIT_EXPECT_TRUE(test, untouched(&a, from + size, ODD - from - size));
	}

	/* Both, and what is between them. */
	write_copy(test, &a);
	write_copy(test, &b);
	forget(&a);
	forget(&b);
	xenib_origin_copy_out(pool, a.addr + 1, 3 * GRANULE + 1);
	KUNIT_EXPECT_TRUE(test, untouched(&a, 0, 1));
	KUNIT_EXPECT_TRUE(test, same(test, &a, 1, ODD - 1));
	KUNIT_EXPECT_TRUE(test, same(test, &b, 0, 2));
	KUNIT_EXPECT_TRUE(test, untouched(&b, 2, ODD - 2));

	/* What is not mapped any more is not written. */
	unmap(test, &a);
	forget(&a);
	xenib_origin_copy_out(pool, a.addr, ODD);
	KUNIT_EXPECT_TRUE(test, untouched(&a, 0, ODD));
	KUNIT_EXPECT_FALSE(test, xenib_origin_is_written(pool, a.addr));
	unmap(test, &b);
}

/* What is mapped to be sent is copied to the pool alone. */
static void test_origin_sent(struct kunit *test)
{
	struct xenib_pool *pool = of(test)->pool;
	struct mapping sent, written;

	map(test, &sent, ODD, true);
	map(test, &written, ODD, false);
	KUNIT_EXPECT_FALSE(test, xenib_origin_is_written(pool, sent.addr));
	write_copy(test, &sent);
	write_copy(test, &written);
	xenib_origin_fetch(pool, sent.addr, 6 * GRANULE);
	KUNIT_EXPECT_TRUE(test, same(test, &sent, 0, ODD));
	KUNIT_EXPECT_TRUE(test, same(test, &written, 0, ODD));
	write_copy(test, &written);

	forget(&sent);
	xenib_origin_copy_out(pool, sent.addr, 6 * GRANULE);
	KUNIT_EXPECT_TRUE(test, untouched(&sent, 0, ODD));
	KUNIT_EXPECT_TRUE(test, same(test, &written, 0, ODD));
	unmap(test, &sent);
	unmap(test, &written);
}

/*
 * What a region has is in the pool as it is in memory, and is copied back without a word of the
 * HCA; granules that no region has are not.
 */
static void test_origin_shared(struct kunit *test)
{
	struct xenib_pool *pool = of(test)->pool;
	struct mapping sent, written;
	u8 *before = kunit_kmalloc(test, ODD, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, before);
	map(test, &sent, ODD, true);
	map(test, &written, ODD, false);
	write_copy(test, &sent);
	write_copy(test, &written);
	xenib_origin_share(pool, sent.addr, ODD);
	KUNIT_EXPECT_TRUE(test, same(test, &sent, 0, ODD));
	xenib_origin_share(pool, written.addr + GRANULE + 5, 10);
	KUNIT_EXPECT_FALSE(test, same(test, &written, 0, GRANULE));
	KUNIT_EXPECT_TRUE(test, same(test, &written, GRANULE, GRANULE));
	KUNIT_EXPECT_FALSE(test, same(test, &written, 2 * GRANULE, ODD - 2 * GRANULE));

	write_copy(test, &sent);
	write_copy(test, &written);
	forget(&sent);
	forget(&written);
	xenib_origin_copy_shared(pool, sent.addr, 6 * GRANULE);
	KUNIT_EXPECT_TRUE(test, untouched(&sent, 0, ODD));
	KUNIT_EXPECT_TRUE(test, untouched(&written, 0, GRANULE));
	KUNIT_EXPECT_TRUE(test, same(test, &written, GRANULE, GRANULE));
	KUNIT_EXPECT_TRUE(test, untouched(&written, 2 * GRANULE, ODD - 2 * GRANULE));

	/* What it has is there already, when another one, or a WR, has it, too. */
	write_copy(test, &written);
	memcpy(before, copy_of(test, &written), ODD);
	xenib_origin_share(pool, written.addr + GRANULE, GRANULE);
	xenib_origin_fetch(pool, written.addr + GRANULE, GRANULE);
	KUNIT_EXPECT_MEMEQ(test, copy_of(test, &written), before, ODD);
	xenib_origin_fetch(pool, written.addr, ODD);
	KUNIT_EXPECT_TRUE(test, same(test, &written, 0, GRANULE));
	KUNIT_EXPECT_MEMEQ(test, copy_of(test, &written) + GRANULE, before + GRANULE, GRANULE);
	KUNIT_EXPECT_TRUE(test, same(test, &written, 2 * GRANULE, ODD - 2 * GRANULE));

	/* Whoever has that place of the pool next shares nothing. */
	unmap(test, &written);
	map(test, &written, ODD, false);
	write_copy(test, &written);
	forget(&written);
	xenib_origin_copy_shared(pool, written.addr, ODD);
	KUNIT_EXPECT_TRUE(test, untouched(&written, 0, ODD));
	unmap(test, &sent);
	unmap(test, &written);
}

static const unsigned int elements[] = { 100, 5000, 1, 1023, 4096, 1025, 64 };
static const unsigned int pieces[] = { 2, 4, 1 }; /* of so many elements */

/* A list in several pieces, as dma.c has it when the pool has no place for all of it. */
static void test_origin_list(struct kunit *test)
{
	struct xenib_pool *pool = of(test)->pool;
	struct scatterlist list[ARRAY_SIZE(elements)], *piece = list;
	size_t total = 0, size, from, part, skip, at;
	u8 *data, *seen;
	unsigned int i, j, next = 0;

	for (i = 0; i < ARRAY_SIZE(elements); i++)
		total += elements[i];
	data = kunit_kmalloc(test, total, GFP_KERNEL);
	seen = kunit_kmalloc(test, total, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	sg_init_table(list, ARRAY_SIZE(list));
	for (i = 0, at = 0; i < ARRAY_SIZE(elements); at += elements[i++])
		sg_set_buf(&list[i], data + at, elements[i]);
	for (i = 0; i < ARRAY_SIZE(pieces); i++, piece++) {
		for (j = 0, size = 0; j < pieces[i]; j++)
			size += elements[next++];
		sg_dma_len(piece) = size;
		sg_dma_address(piece) = xenib_pool_alloc(pool, size, 1);
		KUNIT_ASSERT_NE(test, sg_dma_address(piece), 0ULL);
	}
	xenib_origin_note_list(pool, list, ARRAY_SIZE(pieces), false);

	for (i = 0; i < 1000; i++) {
		get_random_bytes(seen, total);
		memset(data, NOTHING, total);
		from = get_random_u32_below(total);
		size = get_random_u32_below(total - from + 1);
		for (j = 0, at = 0; j < ARRAY_SIZE(pieces); at += sg_dma_len(&list[j++])) {
			memcpy(xenib_pool_kva(pool, sg_dma_address(&list[j])), seen + at,
			       sg_dma_len(&list[j]));
			skip = clamp(from, at, at + sg_dma_len(&list[j])) - at;
			part = clamp(from + size, at, at + sg_dma_len(&list[j])) - at - skip;
			xenib_origin_copy_out(pool, sg_dma_address(&list[j]) + skip, part);
		}
		KUNIT_EXPECT_NULL(test, memchr_inv(data, NOTHING, from));
		KUNIT_EXPECT_MEMEQ(test, data + from, seen + from, size);
		KUNIT_EXPECT_NULL(test,
				  memchr_inv(data + from + size, NOTHING, total - from - size));
	}

	get_random_bytes(data, total);
	for (j = 0, at = 0; j < ARRAY_SIZE(pieces); at += sg_dma_len(&list[j++])) {
		xenib_origin_copy_in(pool, sg_dma_address(&list[j]), sg_dma_len(&list[j]));
		KUNIT_EXPECT_MEMEQ(test, (u8 *)xenib_pool_kva(pool, sg_dma_address(&list[j])),
				   data + at, sg_dma_len(&list[j]));
		xenib_pool_free(pool, sg_dma_address(&list[j]), sg_dma_len(&list[j]));
	}
}

/* Receive WRs (recv.c) */

#define WQES 4
#define SGES 3

static struct ib_sge sge_of(const struct mapping *mapping)
{
	return (struct ib_sge){ .addr = mapping->addr,
				.length = mapping->size,
				.lkey = XENIB_POOL_LKEY };
}

/* A message of so many octets, without its first ones, is in these mappings. */
static void expect_message(struct kunit *test, const struct mapping *maps, size_t skip,
			   size_t bytes)
{
	size_t from, to, i;

	for (i = 0; i < SGES; i++) {
		from = min(skip, maps[i].size);
		to = max(from, min(bytes, maps[i].size));
		KUNIT_EXPECT_TRUE(test, untouched(&maps[i], 0, from));
		KUNIT_EXPECT_TRUE(test, same(test, &maps[i], from, to - from));
		KUNIT_EXPECT_TRUE(test, untouched(&maps[i], to, maps[i].size - to));
		skip -= from;
		bytes -= min(bytes, maps[i].size);
	}
}

/* A message goes into the elements one after the other, as far as it goes. */
static void test_recv(struct kunit *test)
{
	static const size_t sizes[SGES] = { 10, GRANULE, 500 };
	struct xenib_krecvs recvs = {};
	struct mapping maps[SGES];
	struct ib_sge sges[SGES];
	struct ib_recv_wr wr = { .sg_list = sges, .num_sge = SGES };
	size_t total = 0, i;
	u32 bytes, skip;

	KUNIT_ASSERT_EQ(test, xenib_krecvs_alloc(&recvs, of(test)->pool, WQES, SGES), 0);
	for (i = 0; i < SGES; i++) {
		map(test, &maps[i], sizes[i], false);
		sges[i] = sge_of(&maps[i]);
		total += sizes[i];
	}
	xenib_krecvs_note(&recvs, WQES - 1, &wr);
	for (bytes = 0; bytes <= total; bytes++) {
		for (i = 0; i < SGES; i++) {
			write_copy(test, &maps[i]);
			forget(&maps[i]);
		}
		skip = bytes % 3 ? 0 : 40;
		KUNIT_EXPECT_TRUE(test, xenib_krecvs_take(&recvs, WQES - 1, skip, bytes));
		expect_message(test, maps, skip, bytes);
	}

	/* The backend says that more has come than there is room for, or by a WQE without a WR. */
	for (i = 0; i < SGES; i++)
		forget(&maps[i]);
	KUNIT_EXPECT_FALSE(test, xenib_krecvs_take(&recvs, WQES - 1, 0, total + 1));
	KUNIT_EXPECT_FALSE(test, xenib_krecvs_take(&recvs, WQES - 1, 0, U32_MAX));
	KUNIT_EXPECT_FALSE(test, xenib_krecvs_take(&recvs, 0, 0, 1));
	KUNIT_EXPECT_TRUE(test, xenib_krecvs_take(&recvs, 0, 0, 0));
	for (i = 0; i < SGES; i++)
		KUNIT_EXPECT_TRUE(test, untouched(&maps[i], 0, sizes[i]));

	/* The next one that has this WQE has one element. */
	wr.num_sge = 1;
	xenib_krecvs_note(&recvs, WQES - 1, &wr);
	KUNIT_EXPECT_FALSE(test, xenib_krecvs_take(&recvs, WQES - 1, 0, sizes[0] + 1));
	KUNIT_EXPECT_TRUE(test, xenib_krecvs_take(&recvs, WQES - 1, 0, sizes[0]));
	KUNIT_EXPECT_TRUE(test, untouched(&maps[1], 0, sizes[1]));

	xenib_krecvs_free(&recvs);
	for (i = 0; i < SGES; i++)
		unmap(test, &maps[i]);
}

/* A region's element has an address that is not the pool's. Lengths have a sum of over 32 bits. */
static void test_recv_others(struct kunit *test)
{
	struct xenib_krecvs recvs = {};
	struct mapping mapping;
	struct ib_sge sges[SGES];
	struct ib_recv_wr wr = { .sg_list = sges, .num_sge = 2 };

	KUNIT_ASSERT_EQ(test, xenib_krecvs_alloc(&recvs, of(test)->pool, WQES, SGES), 0);
	map(test, &mapping, GRANULE, false);
	sges[0] = sge_of(&mapping);
	sges[0].lkey = 0x300;
	sges[1] = sge_of(&mapping);
	xenib_krecvs_note(&recvs, 1, &wr);
	write_copy(test, &mapping);
	forget(&mapping);
	KUNIT_EXPECT_TRUE(test, xenib_krecvs_take(&recvs, 1, 0, GRANULE));
	KUNIT_EXPECT_TRUE(test, untouched(&mapping, 0, GRANULE));
	KUNIT_EXPECT_TRUE(test, xenib_krecvs_take(&recvs, 1, 0, GRANULE + 5));
	KUNIT_EXPECT_TRUE(test, same(test, &mapping, 0, 5));
	KUNIT_EXPECT_TRUE(test, untouched(&mapping, 5, GRANULE - 5));

	for (wr.num_sge = 0; wr.num_sge < SGES; wr.num_sge++)
		sges[wr.num_sge] = (struct ib_sge){ .addr = U64_MAX,
						    .length = U32_MAX,
						    .lkey = XENIB_POOL_LKEY };
	xenib_krecvs_note(&recvs, 2, &wr);
	KUNIT_EXPECT_TRUE(test, xenib_krecvs_take(&recvs, 2, 0, U32_MAX));
	xenib_krecvs_free(&recvs);
	unmap(test, &mapping);
}

/* WRs that read (reads.c) */

#define READS 4

/* What was read is copied when it is told that its WR is done, or one behind it; and once. */
static void test_reads(struct kunit *test)
{
	struct xenib_kreads reads = {};
	struct mapping maps[READS], sent;
	struct ib_sge sges[READS + 1];
	struct ib_send_wr wr = { .sg_list = sges, .num_sge = 2 };
	u32 number = U32_MAX - 1; /* numbers run over */
	unsigned int i, round;

	KUNIT_ASSERT_EQ(test, xenib_kreads_alloc(&reads, of(test)->pool, 3, 2), 0);
	map(test, &sent, GRANULE, true);
	for (i = 0; i < READS; i++)
		map(test, &maps[i], ODD, false);
	KUNIT_EXPECT_FALSE(test, xenib_kreads_take(&reads, number));
	for (round = 0; round < 5; round++, number += 3) {
		for (i = 0; i < READS; i++) {
			write_copy(test, &maps[i]);
			forget(&maps[i]);
		}
		/* Two WRs of two elements, of which one is mapped to be sent. */
		sges[0] = sge_of(&maps[0]);
		sges[1] = sge_of(&maps[1]);
		xenib_kreads_note(&reads, number, &wr);
		sges[0] = sge_of(&maps[2]);
		sges[1] = sge_of(&sent);
		xenib_kreads_note(&reads, number + 1, &wr);
		KUNIT_EXPECT_FALSE(test, xenib_kreads_take(&reads, number - 1));
		KUNIT_EXPECT_TRUE(test, untouched(&maps[0], 0, ODD));

		KUNIT_EXPECT_TRUE(test, xenib_kreads_take(&reads, number));
		KUNIT_EXPECT_TRUE(test, same(test, &maps[0], 0, ODD));
		KUNIT_EXPECT_TRUE(test, same(test, &maps[1], 0, ODD));
		KUNIT_EXPECT_TRUE(test, untouched(&maps[2], 0, ODD));
		forget(&maps[0]);
		KUNIT_EXPECT_FALSE(test, xenib_kreads_take(&reads, number));

		/* One that is behind both, which reads nothing. */
		KUNIT_EXPECT_TRUE(test, xenib_kreads_take(&reads, number + 2));
		KUNIT_EXPECT_TRUE(test, same(test, &maps[2], 0, ODD));
		KUNIT_EXPECT_TRUE(test, untouched(&maps[0], 0, ODD));
		KUNIT_EXPECT_TRUE(test, untouched(&maps[3], 0, ODD));
	}

	/* A QP that begins anew has none. */
	sges[0] = sge_of(&maps[3]);
	wr.num_sge = 1;
	xenib_kreads_note(&reads, number, &wr);
	xenib_kreads_reset(&reads);
	KUNIT_EXPECT_FALSE(test, xenib_kreads_take(&reads, number));
	KUNIT_EXPECT_TRUE(test, untouched(&maps[3], 0, ODD));

	xenib_kreads_free(&reads);
	unmap(test, &sent);
	for (i = 0; i < READS; i++)
		unmap(test, &maps[i]);
}

/* Elements that are none of the pool's are not noted, nor are those beside what is mapped. */
static void test_reads_others(struct kunit *test)
{
	struct xenib_kreads reads = {};
	struct mapping mapping;
	struct ib_sge sges[2];
	struct ib_send_wr wr = { .sg_list = sges, .num_sge = 2 };

	KUNIT_ASSERT_EQ(test, xenib_kreads_alloc(&reads, of(test)->pool, 2, 2), 0);
	map(test, &mapping, ODD, false);
	sges[0] = sge_of(&mapping);
	sges[0].lkey = 0x300;
	sges[1] = sge_of(&mapping);
	sges[1].addr += ODD;
	xenib_kreads_note(&reads, 7, &wr);
	KUNIT_EXPECT_FALSE(test, xenib_kreads_take(&reads, 7));

	/* It reads less than it has been told: to the end of what is mapped. */
	sges[1] = sge_of(&mapping);
	sges[1].addr += 1;
	sges[1].length = U32_MAX;
	xenib_kreads_note(&reads, 8, &wr);
	write_copy(test, &mapping);
	forget(&mapping);
	KUNIT_EXPECT_TRUE(test, xenib_kreads_take(&reads, 8));
	KUNIT_EXPECT_TRUE(test, untouched(&mapping, 0, 1));
	KUNIT_EXPECT_TRUE(test, same(test, &mapping, 1, ODD - 1));
	xenib_kreads_free(&reads);
	unmap(test, &mapping);
}

static struct kunit_case kernel_cases[] = {
	KUNIT_CASE(test_origin_written),
	KUNIT_CASE(test_origin_sent),
	KUNIT_CASE(test_origin_shared),
	KUNIT_CASE(test_origin_list),
	KUNIT_CASE(test_recv),
	KUNIT_CASE(test_recv_others),
	KUNIT_CASE(test_reads),
	KUNIT_CASE(test_reads_others),
	{},
};

static struct kunit_suite kernel_suite = {
	.name = "xen-ibfront-kernel",
	.init = kernel_fixture_init,
	.exit = kernel_fixture_exit,
	.test_cases = kernel_cases,
};

kunit_test_suite(kernel_suite);
