// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_doorbells.c - doorbell pages: which QPs have one of their own and which share one, in a guest with many, few
 * and none to spare; and locks, which pages that are shared need.
 */
#include <errno.h>

#include "check.h"
#include "fake.h"

/* The first QPs have a page of their own, then four share four, evenly; then whatever there is. */
static void doorbell_pages(void)
{
	enum { QPS = 20 };
	struct ibv_context *context = fake_open();
	struct ibv_pd *pd = xenib_alloc_pd(context);
	struct ibv_cq *cq = xenib_create_cq(context, 1, NULL, 0);
	struct ibv_qp *qp[QPS];
	struct xenib_uar *uar;
	int i;

	REQUIRE(pd && cq);
	for (i = 0; i < QPS; i++) {
		qp[i] = fake_qp(pd, cq, NULL, IBV_QPT_RC, &fake_cap);
		REQUIRE(qp[i]);
		uar = to_xqp(qp[i])->uar;
		CHECK(uar != to_xcq(cq)->uar && uar->bell.bf_size == 256);
		CHECK(uar->bell.lock.shared == (i >= XENIB_UARS_OWN));
		CHECK(fake.last.uar == uar->index);
	}
	CHECK(fake.uars == 1 + XENIB_UARS_OWN + XENIB_UARS_SHARED);
	for (i = XENIB_UARS_OWN; i < QPS; i++)
		CHECK(to_xqp(qp[i])->uar->users == 4);

	/* A page of its own that is free again is the next one's. */
	uar = to_xqp(qp[2])->uar;
	CHECK(!xenib_destroy_qp(qp[2]));
	qp[2] = fake_qp(pd, cq, NULL, IBV_QPT_RC, &fake_cap);
	REQUIRE(qp[2]);
	CHECK(to_xqp(qp[2])->uar == uar);
	for (i = 0; i < QPS; i++)
		CHECK(!xenib_destroy_qp(qp[i]));
	CHECK(!xenib_destroy_cq(cq));
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(context);
}

/* The guest has no more doorbell pages: QPs share, down to the one that CQs have. */
static void few_doorbell_pages(void)
{
	struct ibv_context *context;
	struct ibv_qp *qp[6];
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	uint32_t pages;
	int i;

	for (pages = 1; pages < 8; pages++) {
		context = fake_open();
		fake.max_uars = pages;
		pd = xenib_alloc_pd(context);
		cq = xenib_create_cq(context, 1, NULL, 0);
		REQUIRE(pd && cq);
		for (i = 0; i < 6; i++) {
			qp[i] = fake_qp(pd, cq, NULL, IBV_QPT_RC, &fake_cap);
			REQUIRE(qp[i]);
			/* A BlueFlame page without lock has one user only. */
			if (to_xqp(qp[i])->uar->bell.bf_size &&
			    !to_xqp(qp[i])->uar->bell.lock.shared)
				CHECK(to_xqp(qp[i])->uar->users == 1);
		}
		CHECK(fake.uars == (pages < 7 ? pages : 7));
		for (i = 0; i < 6; i++)
			CHECK(!xenib_destroy_qp(qp[i]));
		CHECK(!xenib_destroy_cq(cq));
		CHECK(!xenib_dealloc_pd(pd));
		fake_close(context);
	}

	context = fake_open();
	fake.max_uars = 0;
	CHECK(!xenib_create_cq(context, 1, NULL, 0) && errno == ENOMEM);
	fake_close(context);
}

/* Answers of the kernel that no HCA gives. */
static void odd_doorbell_pages(void)
{
	static const struct {
		uint32_t size, offset;
		bool fine;
	} cases[] = {
		{ 256, 0x800, true },       { 512, 0x800, true },         { 1024, 0x800, true },
		{ 64, 0x800, true },        { 0, 0x800, true },           { 0, 0xff8, true },
		{ 2048, 0x800, false },     { 32, 0x800, false },         { 96, 0x800, false },
		{ 256, 0x900, false },      { 256, 0x7c0, false },        { 256, 0xf00, false },
		{ 256, 0x804, false },      { 0x80000000, 0x800, false }, { 0, 0x1000, false },
		{ 0, 0x804, false },        { 0, 0xffffffff, false },     { 0, 0, false },
		{ 256, 0xfffff800, false },
	};
	struct ibv_td_init_attr attr = {};
	struct ibv_context *context;
	struct ibv_td *td;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		context = fake_open();
		fake.bf_size = cases[i].size;
		fake.bf_offset = cases[i].offset;
		td = xenib_alloc_td(context, &attr);
		CHECK(!!td == cases[i].fine);
		CHECK(td || errno == EPROTO);
		CHECK(!td || !xenib_dealloc_td(td));
		fake_close(context);
	}
}

/* No BlueFlame: everything rings the plain page, and needs no lock for it. */
static void without_blueflame(void)
{
	struct ibv_context *context = fake_open();
	struct ibv_qp *qp[3];
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	int i;

	fake.bf_size = 0;
	pd = xenib_alloc_pd(context);
	cq = xenib_create_cq(context, 1, NULL, 0);
	REQUIRE(pd && cq);
	for (i = 0; i < 3; i++) {
		qp[i] = fake_qp(pd, cq, NULL, IBV_QPT_RC, &fake_cap);
		REQUIRE(qp[i]);
		CHECK(to_xqp(qp[i])->uar == to_xcq(cq)->uar);
		CHECK(!to_xqp(qp[i])->uar->bell.lock.shared);
	}
	CHECK(fake.uars == 1);
	for (i = 0; i < 3; i++)
		CHECK(!xenib_destroy_qp(qp[i]));
	CHECK(!xenib_destroy_cq(cq));
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(context);
}

static void single_threaded(void)
{
	struct ibv_context *context;
	struct ibv_qp *qp;
	struct ibv_pd *pd;
	struct ibv_cq *cq;

	setenv("XENIB_SINGLE_THREADED", "1", 1);
	context = fake_open();
	unsetenv("XENIB_SINGLE_THREADED");
	pd = xenib_alloc_pd(context);
	cq = xenib_create_cq(context, 1, NULL, 0);
	REQUIRE(pd && cq);
	qp = fake_qp(pd, cq, NULL, IBV_QPT_RC, &fake_cap);
	REQUIRE(qp);
	CHECK(!to_xcq(cq)->q.lock.shared && !to_xqp(qp)->q.sq.lock.shared);
	CHECK(!xenib_destroy_qp(qp));
	CHECK(!xenib_destroy_cq(cq));
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(context);
}

int main(void)
{
	RUN(doorbell_pages);
	RUN(few_doorbell_pages);
	RUN(odd_doorbell_pages);
	RUN(without_blueflame);
	RUN(single_threaded);
	return checks_failed ? 1 : 0;
}
