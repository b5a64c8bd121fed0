// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Event queues and the doorbells of UAR pages. */
#include "unit.h"

#include "driver.h"
#include "objects/cq.h"
#include "objects/eq.h"
#include "objects/uar.h"

enum { REG_CQ = 0x20, REG_EQ_ARM = 0x40, REG_EQ = 0x48, REG_BF = 0x800, REG_BF2 = 0x900 };
enum {
	EVENT_PATH_MIG = 0x01,
	EVENT_COMM_EST = 0x02,
	EVENT_CQ_ERROR = 0x04,
	EVENT_PORT = 0x09,
	EVENT_SRQ_LIMIT = 0x14
};
#define EQES (1u << DRV_LOG_EQ)

static uint32_t uar, other_uar, eqn, cqn, pd;
static unsigned int raised[HCA_MSIX_VECTORS];

static void on_msix(struct hca *hca, unsigned int vector)
{
	(void)hca;
	raised[vector]++;
}

static void begin(void)
{
	drv_start();
	drv.hca->msix = on_msix;
	memset(raised, 0, sizeof(raised));
	uar = drv_uar(0);
	other_uar = drv_uar(0);
	drv_eq_begin(uar, DRV_ALL_EVENTS);
	IN(create_eq, eq_context_entry.intr, 5);
	REQUIRE_EQ(drv_run(), CMD_OK);
	eqn = OUT(create_eq, eq_number);
	cqn = drv_cq(uar, eqn);
	pd = drv_pd(0);
}

static struct eq *eq(void)
{
	return (struct eq *)obj_find(drv.hca->objs[OBJ_EQ], eqn);
}

static struct uar *page(uint32_t index)
{
	return (struct uar *)obj_find(drv.hca->objs[OBJ_UAR], index);
}

static void store64(uint32_t index, uint32_t off, uint32_t high, uint32_t low)
{
	uint8_t data[8];

	put_be32(data, high);
	put_be32(data + 4, low);
	uar_store(drv.hca, index, off, data, 8);
}

static void store32(uint32_t index, uint32_t off, uint32_t value)
{
	uint8_t data[4];

	put_be32(data, value);
	uar_store(drv.hca, index, off, data, 4);
}

static const uint8_t *eqe(unsigned int i)
{
	return wqbuf_ptr(&eq()->buf, drv.hca->dma, i % EQES * 64, 64, DMA_PROT_READ);
}

static void post(unsigned int n)
{
	while (n--)
		eq_qp_event(drv.hca, EVENT_COMM_EST, 0x99);
}

TEST(events_are_laid_out_as_the_driver_reads_them)
{
	begin();
	eq_qp_event(drv.hca, EVENT_COMM_EST, 0x123456);
	eq_cq_error(drv.hca, 0x42, 1);
	eq_port_event(drv.hca, 4);
	eq_srq_event(drv.hca, EVENT_SRQ_LIMIT, 0x77);
	CHECK_EQ(eqe(0)[1], EVENT_COMM_EST);
	CHECK_EQ(be32_at(eqe(0) + 32 + 24), 0x123456);
	CHECK_EQ(eqe(0)[32 + 20], 0);
	CHECK_EQ(eqe(1)[1], EVENT_CQ_ERROR);
	CHECK_EQ(be32_at(eqe(1) + 32), 0x42);
	CHECK_EQ(eqe(1)[32 + 11], 1);
	CHECK_EQ(eqe(2)[1], EVENT_PORT);
	CHECK_EQ(eqe(2)[3], 4);
	CHECK_EQ(eqe(2)[32 + 8] >> 4, 1);
	CHECK_EQ(be32_at(eqe(3) + 32 + 24), 0x77);
	drv_stop();
}

TEST(an_interrupt_only_when_armed)
{
	begin();
	post(1);
	CHECK_EQ(raised[5], 0);
	store32(uar, REG_EQ_ARM, eqn << 24 | 0); /* there is one that was not consumed */
	CHECK_EQ(raised[5], 1);
	post(1);
	CHECK_EQ(raised[5], 1);
	store32(uar, REG_EQ_ARM, eqn << 24 | 2);
	CHECK_EQ(raised[5], 1);
	post(1);
	CHECK_EQ(raised[5], 2);
	store32(uar, REG_EQ, eqn << 24 | 3); /* the index alone does not arm */
	post(1);
	CHECK_EQ(raised[5], 2);
	CHECK_EQ(page(uar)->eq_doorbells, 3);
	CHECK_EQ(page(uar)->refused, 0);
	drv_stop();
}

TEST(the_owner_bit_changes_at_each_round)
{
	begin();
	for (unsigned int i = 0; i < 3 * EQES; i++) {
		post(1);
		CHECK_EQ(eqe(i)[63], i / EQES & 1);
		store32(uar, REG_EQ, eqn << 24 | (i + 1));
	}
	CHECK(!eq()->overflowed);
	drv_stop();
}

TEST(the_consumer_index_wraps)
{
	begin();
	eq()->pi = eq()->ci = 0xfffffe;
	post(4);
	CHECK_EQ(eq()->pi, 0x1000002);
	store32(uar, REG_EQ, eqn << 24 | 1);
	CHECK_EQ(eq()->ci, 0x1000001);
	drv_stop();
}

TEST(an_eq_that_is_full_is_lost)
{
	begin();
	post(EQES);
	CHECK(!eq()->overflowed);
	CHECK_EQ(eqe(0)[63], 0);
	post(1);
	CHECK(eq()->overflowed);
	CHECK_EQ(eqe(0)[63], 0); /* nothing was overwritten */
	store32(uar, REG_EQ_ARM, eqn << 24 | EQES);
	post(1);
	CHECK_EQ(drv.hca->stats.eqes, EQES);
	drv_stop();
}

TEST(an_index_ahead_of_the_events_is_refused)
{
	begin();
	post(2);
	store32(uar, REG_EQ, eqn << 24 | 3);
	CHECK_EQ(eq()->ci, 0);
	CHECK_EQ(page(uar)->refused, 1);
	store32(uar, REG_EQ, eqn << 24 | 2);
	store32(uar, REG_EQ, eqn << 24 | 1); /* back */
	CHECK_EQ(eq()->ci, 2);
	CHECK_EQ(page(uar)->refused, 2);
	drv_stop();
}

TEST(events_go_where_they_are_wanted)
{
	uint32_t second;

	begin();
	second = drv_eq(uar, 1ull << EVENT_PORT);
	post(1);
	eq_port_event(drv.hca, 1);
	CHECK_EQ(eq()->pi, 2);
	CHECK_EQ(((struct eq *)obj_find(drv.hca->objs[OBJ_EQ], second))->pi, 1);
	CHECK(eq_wanted(drv.hca, EVENT_PORT));
	drv_stop();
}

TEST(a_page_reaches_only_what_was_made_on_it)
{
	uint32_t qpn;

	begin();
	qpn = drv_qp(0, pd, cqn, uar);
	store64(other_uar, REG_BF, 0, qpn << 8);
	store64(other_uar, REG_CQ, 0, cqn);
	store32(other_uar, REG_EQ_ARM, eqn << 24);
	CHECK_EQ(page(other_uar)->refused, 3);
	CHECK_EQ(page(other_uar)->sq_doorbells, 0);
	CHECK(!eq()->armed);
	CHECK_EQ(((struct cq *)obj_find(drv.hca->objs[OBJ_CQ], cqn))->arm, CQ_UNARMED);
	CHECK_EQ(drv.hca->stats.doorbells_refused, 3);
	store64(uar, REG_BF, 0, qpn << 8);
	store64(uar, REG_BF2, 0, qpn << 8);
	store64(uar, REG_CQ, 0, cqn);
	store32(uar, REG_EQ_ARM, eqn << 24);
	CHECK_EQ(page(uar)->refused, 0);
	CHECK_EQ(page(uar)->sq_doorbells, 2);
	CHECK_EQ(page(uar)->cq_arms, 1);
	CHECK(eq()->armed);
	CHECK_EQ(((struct cq *)obj_find(drv.hca->objs[OBJ_CQ], cqn))->arm, CQ_ARMED);
	drv_stop();
}

TEST(doorbells_for_nothing)
{
	begin();
	store64(uar, REG_BF, 0, 0x7777 << 8);
	store64(uar, REG_CQ, 0, 0x7777);
	store32(uar, REG_EQ_ARM, 63u << 24);
	store32(uar, 0x100, 1);
	store32(uar, 0x104, 1); /* the two halves of no register */
	CHECK(page(uar)->refused >= 4);
	store64(uar + 40, REG_BF, 0, 0); /* not allocated */
	uar_store(drv.hca, uar, REG_CQ + 1, "\0\0\0\0", 4);
	uar_store(drv.hca, uar, REG_CQ, "\0\0\0", 3);
	CHECK_EQ(drv.hca->stats.doorbells_refused, page(uar)->refused + 1);
	drv_stop();
}

TEST(a_doorbell_in_two_halves)
{
	uint32_t qpn;

	begin();
	qpn = drv_qp(0, pd, cqn, uar);
	store32(uar, REG_BF, 0);
	CHECK_EQ(page(uar)->sq_doorbells, 0);
	store32(uar, REG_BF + 4, qpn << 8);
	CHECK_EQ(page(uar)->sq_doorbells, 1);
	store32(uar, REG_CQ + 4, cqn); /* the second half alone */
	CHECK_EQ(page(uar)->cq_arms, 0);
	CHECK_EQ(page(uar)->refused, 1);
	drv_stop();
}

TEST(blueflame_copies)
{
	uint8_t wqe[256] = { 0 };
	uint32_t qpn;

	begin();
	qpn = drv_qp(0, pd, cqn, uar);
	put_be32(wqe + 4, qpn << 8);
	uar_store(drv.hca, uar, REG_BF, wqe, sizeof(wqe));
	uar_store(drv.hca, uar, REG_BF2, wqe, 64);
	CHECK_EQ(page(uar)->sq_doorbells, 2);
	CHECK_EQ(page(uar)->refused, 0);
	drv_stop();
}

TEST(an_eq_without_memory)
{
	begin();
	dma_enable(drv.hca->dma, false);
	post(1);
	CHECK_EQ(drv.hca->stats.bad_dma, 1);
	CHECK_EQ(eq()->pi, 0);
	dma_enable(drv.hca->dma, true);
	post(1);
	CHECK_EQ(eq()->pi, 1);
	drv_stop();
}
