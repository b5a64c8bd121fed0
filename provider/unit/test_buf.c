// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_buf.c - memory of queues: what shares an arena, what has memory of its own, and what the
 * kernel is told of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fake.h"
#include "xenib-abi.h"

#define ARENA_BYTES(shift) ((size_t)1 << (shift))
#define LARGE (256u << 10)

/* Inside of the arena that the kernel will look for. */
static bool in_arena(uint64_t addr, size_t size, uint8_t shift)
{
	return (addr & (ARENA_BYTES(shift) - 1)) + size <= ARENA_BYTES(shift);
}

static bool all_zero(const struct xenib_buf *buf)
{
	size_t i;

	for (i = 0; i < buf->size; i++)
		if (buf->addr[i])
			return false;
	return true;
}

static bool all_are(const struct xenib_buf *buf, uint8_t value)
{
	return buf->addr[0] == value && !memcmp(buf->addr, buf->addr + 1, buf->size - 1);
}

static void alloc_one(struct xenib_arenas *arenas, struct xenib_buf *buf, size_t size,
		      uint8_t value)
{
	REQUIRE(!xenib_buf_alloc(arenas, buf, size));
	CHECK(!((uintptr_t)buf->addr % 4096) && buf->size >= size && buf->size < size + 4096);
	CHECK(!buf->arena == !buf->shift && !buf->shift == (buf->size > LARGE));
	if (buf->shift)
		CHECK(buf->shift >= 16 && buf->shift <= 20 &&
		      in_arena((uintptr_t)buf->addr, buf->size, buf->shift));
	CHECK(all_zero(buf));
	memset(buf->addr, value, buf->size);
}

/* They come and go; each is zero at first, and nobody else's while it lives. */
static void come_and_go(void)
{
	enum { BUFS = 200, ROUNDS = 4000 };
	struct xenib_buf bufs[BUFS] = {};
	struct xenib_arenas arenas;
	int i, j;

	fake.ranges = 0;
	xenib_arenas_init(&arenas, true);
	srandom(5);
	for (i = 0; i < ROUNDS; i++) {
		j = random() % BUFS;
		if (bufs[j].addr) {
			CHECK(all_are(&bufs[j], j + 1));
			xenib_buf_free(&arenas, &bufs[j]);
			CHECK(!bufs[j].addr);
		} else {
			alloc_one(&arenas, &bufs[j], 1 + random() % (j % 20 ? 65536 : 300000),
				  j + 1);
		}
	}
	for (j = 0; j < BUFS; j++)
		xenib_buf_free(&arenas, &bufs[j]);
	CHECK(!fake.ranges && !arenas.total && list_empty(&arenas.list));
	xenib_arenas_exit(&arenas);
}

/* 1,000 queues of 20 KiB: some dozens of arenas, the first of them small. */
static void few_arenas(void)
{
	enum { BUFS = 1000 };
	static struct xenib_buf bufs[BUFS];
	struct xenib_arenas arenas;
	int i;

	fake.ranges = 0;
	xenib_arenas_init(&arenas, true);
	alloc_one(&arenas, &bufs[0], 20480, 1);
	CHECK(arenas.total == 65536 && fake.ranges == 1);
	for (i = 1; i < BUFS; i++)
		alloc_one(&arenas, &bufs[i], 20480, 1);
	CHECK(fake.ranges < 30 && arenas.total < 25u << 20);
	/* What is left when the program forgets to destroy its queues. */
	xenib_buf_free(&arenas, &bufs[BUFS - 1]);
	xenib_arenas_exit(&arenas);
	CHECK(!fake.ranges);
}

/* The kernel is told where; one that does not know arenas is told none. */
static void told(uint32_t features)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 10, .max_sge = 1 } };
	struct ibv_context *context;
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint8_t shift = features ? 16 : 0;

	fake_open_defaults();
	fake.features = features;
	context = fake_open();
	REQUIRE(context);
	pd = xenib_alloc_pd(context);
	cq = xenib_create_cq(context, 63, NULL, 0);
	REQUIRE(pd && cq);
	CHECK(fake.last.buf_shift == shift && fake.last.db_shift == shift);
	if (shift)
		CHECK(fake.last.buf >> shift == fake.last.db >> shift &&
		      in_arena(fake.last.buf, 64 * 64, shift));
	srq = xenib_create_srq(pd, &srq_attr);
	REQUIRE(srq);
	CHECK(fake.last.buf_shift == shift && fake.last.db_shift == shift);
	qp = fake_qp(pd, cq, srq, IBV_QPT_RC, &fake_cap);
	REQUIRE(qp);
	CHECK(fake.last.buf_shift == shift && fake.last.db_shift == shift);
	CHECK(fake.ranges == (shift ? 1 : 4));
	CHECK(!xenib_destroy_qp(qp) && !xenib_destroy_srq(srq) && !xenib_destroy_cq(cq));

	cq = xenib_create_cq(context, 8191, NULL, 0); /* of 512 KiB */
	REQUIRE(cq);
	CHECK(!fake.last.buf_shift && fake.last.db_shift == shift);
	CHECK(!xenib_destroy_cq(cq) && !xenib_dealloc_pd(pd));
	fake_close(context);
}

static void kernel_knows(void)
{
	told(XENIB_FEATURE_ARENAS);
}

static void kernel_does_not_know(void)
{
	told(0);
	fake_open_defaults();
}

int main(void)
{
	RUN(come_and_go);
	RUN(few_arenas);
	RUN(kernel_knows);
	RUN(kernel_does_not_know);
	return checks_failed ? 1 : 0;
}
