// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_import.c - a device, a PD and an MR that another process has made: what is used, what is of the
 * process's own, and what ends with it.
 */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "fake.h"
#include "xenib-abi.h"

/* Two contexts have nothing in common but the kernel's: each has its arenas, doorbell pages and QPs. */
static void queues_of_both(void)
{
	struct ibv_context *first = fake_open(), *second;
	struct ibv_pd *pd, *imported;
	struct ibv_cq *cq[2];
	struct ibv_qp *qp[2];

	REQUIRE(first);
	second = fake_import(first);
	REQUIRE(second);
	CHECK(!memcmp(&to_xctx(second)->limits, &to_xctx(first)->limits,
		      sizeof(struct xenib_limits)));
	pd = xenib_alloc_pd(first);
	REQUIRE(pd);
	imported = xenib_import_pd(second, pd->handle);
	REQUIRE(imported);
	CHECK(imported->context == second && imported->handle == pd->handle);

	cq[0] = xenib_create_cq(first, 10, NULL, 0);
	cq[1] = xenib_create_cq(second, 10, NULL, 0);
	REQUIRE(cq[0] && cq[1]);
	qp[0] = fake_qp(pd, cq[0], NULL, IBV_QPT_RC, &fake_cap);
	qp[1] = fake_qp(imported, cq[1], NULL, IBV_QPT_RC, &fake_cap);
	REQUIRE(qp[0] && qp[1]);
	CHECK(to_xqp(qp[0])->uar != to_xqp(qp[1])->uar);
	CHECK(to_xqp(qp[0])->mem.buf.buf.arena != to_xqp(qp[1])->mem.buf.buf.arena);

	CHECK(!xenib_destroy_qp(qp[1]));
	CHECK(!xenib_destroy_cq(cq[1]));
	xenib_unimport_pd(imported);
	fake_close_imported(second);
	CHECK(!xenib_destroy_qp(qp[0]));
	CHECK(!xenib_destroy_cq(cq[0]));
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(first);
}

/* What it takes from another it does not end. */
static void ends_nothing(void)
{
	struct ibv_context *first = fake_open(), *second;
	struct ibv_pd *pd, *imported;
	struct ibv_mr *mr, *imported_mr;
	uint32_t live;

	REQUIRE(first);
	pd = xenib_alloc_pd(first);
	REQUIRE(pd);
	mr = xenib_reg_mr(pd, NULL, 1, 0, 0);
	REQUIRE(mr);
	live = fake.live;

	second = fake_import(first);
	REQUIRE(second);
	imported = xenib_import_pd(second, pd->handle);
	REQUIRE(imported);
	imported_mr = xenib_import_mr(imported, mr->handle);
	REQUIRE(imported_mr);
	CHECK(imported_mr->handle == mr->handle && imported_mr->pd == imported);
	xenib_unimport_mr(imported_mr);
	xenib_unimport_pd(imported);
	fake_close_imported(second);
	CHECK(fake.live == live);

	CHECK(!xenib_dereg_mr(verbs_get_mr(mr)));
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(first);
}

static void fails(unsigned int with)
{
	fake.fail_in = 1;
	fake.fail_with = with;
}

static void refused(void)
{
	struct ibv_context *first = fake_open(), *second;
	struct ibv_pd *pd, *imported;

	REQUIRE(first);
	fails(EOPNOTSUPP); /* a driver that is older than this */
	CHECK(!fake_import(first) && errno == EOPNOTSUPP);
	fake.family = 2;
	CHECK(!fake_import(first) && errno == EOPNOTSUPP);
	fake.family = XENIB_FAMILY_MLX5;

	second = fake_import(first);
	REQUIRE(second);
	pd = xenib_alloc_pd(first);
	REQUIRE(pd);
	CHECK(!xenib_import_pd(second, pd->handle + 1) && errno == ENOENT);
	fails(EIO);
	CHECK(!xenib_import_pd(second, pd->handle) && errno == EIO);
	imported = xenib_import_pd(second, pd->handle);
	REQUIRE(imported);
	fails(ENOENT);
	CHECK(!xenib_import_mr(imported, 1) && errno == ENOENT);

	xenib_unimport_pd(imported);
	fake_close_imported(second);
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(first);
}

int main(void)
{
	RUN(queues_of_both);
	RUN(ends_nothing);
	RUN(refused);
	return checks_failed ? 1 : 0;
}
