// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Null MRs, which are nothing but a key. */
#include <errno.h>

#include "check.h"
#include "fake.h"

/* The kernel has no part in null MRs, and must not take one for an MR of its own. */
static void null_mrs(void)
{
	struct ibv_context *context;
	struct ibv_mr *one, *two;
	struct ibv_pd *pd;
	uint32_t live;

	fake_open_defaults();
	fake.null_key = FAKE_NULL_KEY;
	context = fake_open();
	pd = xenib_alloc_pd(context);
	REQUIRE(pd);
	live = fake.live;
	one = xenib_alloc_null_mr(pd);
	two = xenib_alloc_null_mr(pd);
	REQUIRE(one && two);
	CHECK(one->lkey == FAKE_NULL_KEY && two->lkey == FAKE_NULL_KEY);
	CHECK(one->context == context && one->pd == pd && !one->rkey && !one->length);
	CHECK(xenib_rereg_mr(verbs_get_mr(one), IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0) ==
	      EINVAL);
	fake.fail_in = 1;
	fake.fail_with = EIO;
	CHECK(!xenib_dereg_mr(verbs_get_mr(one)) && !xenib_dereg_mr(verbs_get_mr(two)));
	CHECK(fake.live == live);
	fake.fail_in = 0;
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(context);
}

/* An older kernel or HCA has no such key. */
static void no_null_mrs(void)
{
	struct ibv_context *context;
	struct ibv_pd *pd;

	fake_open_defaults();
	context = fake_open();
	pd = xenib_alloc_pd(context);
	REQUIRE(pd);
	errno = 0;
	CHECK(!xenib_alloc_null_mr(pd) && errno == EOPNOTSUPP);
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(context);
}

int main(void)
{
	RUN(null_mrs);
	RUN(no_null_mrs);
	return checks_failed ? 1 : 0;
}
