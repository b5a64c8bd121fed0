// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The initialization segment, and the firmware's crash as the driver goes through it. */
#include "firmware/cmdq.h"
#include "hca.h"
#include "ifc.h"
#include "objects/uar.h"
#include "unit.h"

#define CMDQ_LOW 0x14
#define INITIALIZING 0x1fc
#define SYNDROME 0x23d
#define SEVERITY 0x238
#define HEALTH_COUNTER 0x1010

static struct hca hca;
static unsigned int resets, stores;
static uint64_t cmdq_address;
static uint32_t rung, store_index, store_off, store_len;

/* Doubles for the firmware. */
__attribute__((weak)) void hca_reset(struct hca *h)
{
	resets++;
	cmdq_address = 0;
	h->enabled = false;
	hca_bar_reset(h);
}

__attribute__((weak)) void cmdq_set_address(struct hca *h, uint64_t address)
{
	(void)h;
	cmdq_address = address;
}

__attribute__((weak)) void cmdq_doorbell(struct hca *h, uint32_t vector)
{
	(void)h;
	rung |= vector;
}

__attribute__((weak)) void uar_store(struct hca *h, uint32_t index, uint32_t off, const void *data,
				     uint32_t len)
{
	(void)h;
	(void)data;
	stores++;
	store_index = index;
	store_off = off;
	store_len = len;
}

static uint32_t get(uint64_t off)
{
	uint8_t b[4];

	hca_bar_read(&hca, off, b, 4);
	return be32_at(b);
}

static void set(uint64_t off, uint32_t v)
{
	uint8_t b[4];

	put_be32(b, v);
	hca_bar_write(&hca, off, b, 4);
}

static void fresh(void)
{
	memset(&hca, 0, sizeof(hca));
	hca_log_level = -1;
	hca.loop = loop_new();
	REQUIRE(hca.loop);
	loop_clock_advance(hca.loop, 0);
	hca_bar_reset(&hca);
	resets = stores = rung = 0;
	cmdq_address = 0;
}

static uint32_t nic(void)
{
	return get(CMDQ_LOW) >> 8 & 7;
}

static void driver_starts(void)
{
	CHECK_EQ(get(INITIALIZING) >> 31, 0);
	set(0x10, 0x12);
	set(CMDQ_LOW, 0x34567000);
	CHECK_EQ(cmdq_address, 0x1234567000);
	CHECK_EQ(nic(), 0);
	hca.enabled = true; /* by ENABLE_HCA */
}

TEST(versions_and_sizes)
{
	fresh();
	CHECK_EQ(get(0) & 0xffff, 16);
	CHECK_EQ(get(4) >> 16, 5);
	CHECK_EQ(get(CMDQ_LOW) & 0xff, CMDQ_LOG_SIZE << 4 | CMDQ_LOG_STRIDE);
	CHECK_EQ(get(0x2000), 0);
	CHECK_EQ(get(0x10000), 0);
	set(0, 7);
	CHECK_EQ(get(0) & 0xffff, 16);
	loop_free(hca.loop);
}

TEST(parts_of_words)
{
	uint8_t all[16], part[16];

	fresh();
	hca_bar_read(&hca, 0, all, 16);
	for (unsigned int off = 0; off < 8; off++) {
		hca_bar_read(&hca, off, part, 7);
		CHECK(!memcmp(part, all + off, 7));
	}
	hca_bar_write(&hca, 0x16, all, 2);
	hca_bar_write(&hca, 0x18, all, 1);
	CHECK_EQ(rung, 0);
	loop_free(hca.loop);
}

TEST(commands_need_a_queue)
{
	fresh();
	set(0x18, 1);
	CHECK_EQ(rung, 0);
	driver_starts();
	set(0x18, 0x80000001);
	CHECK_EQ(rung, 0x80000001);
	loop_free(hca.loop);
}

TEST(uars_are_pages)
{
	uint8_t b[16] = { 0 };

	fresh();
	hca_bar_write(&hca, 0x10800, b, 8);
	CHECK_EQ(stores, 0);
	CHECK_EQ(hca.stats.doorbells_refused, 1);
	driver_starts();
	hca_bar_write(&hca, 0x10800, b, 8);
	CHECK_EQ(stores, 1);
	CHECK_EQ(store_index, 16);
	CHECK_EQ(store_off, 0x800);
	hca_bar_write(&hca, 0x11ffc, b, 8);
	CHECK_EQ(stores, 3);
	CHECK_EQ(store_index, 18);
	CHECK_EQ(store_len, 4);
	hca_bar_write(&hca, HCA_BAR0_SIZE - 8, b, 8);
	CHECK_EQ(store_index, HCA_UAR_LAST);
	loop_free(hca.loop);
}

TEST(time_passes)
{
	uint32_t health;
	uint64_t t;

	fresh();
	health = get(HEALTH_COUNTER);
	t = (uint64_t)get(0x1000) << 32 | get(0x1004);
	loop_clock_advance(hca.loop, 50000000);
	CHECK_EQ(get(HEALTH_COUNTER), health + 5);
	CHECK_EQ(((uint64_t)get(0x1000) << 32 | get(0x1004)) - t, 50ull * HCA_CLOCK_KHZ);
	loop_free(hca.loop);
}

TEST(a_crash_and_the_way_back)
{
	uint8_t synd;

	fresh();
	driver_starts();
	hca_set_fatal(&hca, true);
	hca_set_fatal(&hca, true);
	CHECK_EQ(resets, 1);
	/* What the driver's health poll looks at, in its order. */
	CHECK(get(0x230) != 0xffffffff);
	CHECK_EQ(nic(), 0);
	hca_bar_read(&hca, SYNDROME, &synd, 1);
	CHECK(synd);
	CHECK(get(SEVERITY) >> 31);
	CHECK_EQ(get(INITIALIZING) >> 30 & 1, 1); /* a reset is possible */
	set(0x18, 1);
	CHECK_EQ(rung, 0);

	/* Its reset. */
	set(CMDQ_LOW, (get(CMDQ_LOW) & 0xfffff000) | 7 << 8);
	CHECK_EQ(resets, 2);
	CHECK_EQ(nic(), 1);
	hca_bar_read(&hca, SYNDROME, &synd, 1);
	CHECK_EQ(synd, 0);
	CHECK_EQ(get(INITIALIZING) >> 31, 1);
	set(CMDQ_LOW, 0x1000); /* not yet */
	CHECK_EQ(nic(), 1);

	hca_set_fatal(&hca, false);
	driver_starts();
	loop_free(hca.loop);
}

TEST(a_crash_that_passes_is_noticed)
{
	fresh();
	driver_starts();
	hca_set_fatal(&hca, true);
	hca_set_fatal(&hca, false);
	CHECK_EQ(nic(), 1);
	driver_starts();
	loop_free(hca.loop);
}

TEST(a_crash_without_a_driver)
{
	fresh();
	for (int i = 0; i < 2; i++) {
		hca_set_fatal(&hca, true);
		CHECK_EQ(get(INITIALIZING) >> 31, 1);
		CHECK_EQ(get(SEVERITY), 0);
		hca_set_fatal(&hca, false);
		driver_starts();
		hca.enabled = false; /* it goes, and leaves the queue set up */
	}
	loop_free(hca.loop);
}
