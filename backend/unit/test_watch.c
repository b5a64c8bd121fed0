// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_watch.c - completion channels of CQs end with them, in whatever way, and with what was to become one.
 */
#include <stdlib.h>

#include "unit/fakes/fixture.h"

/* The n-th thing that is made fails: of the transport's, or on the HCA. */
static void fail_at(struct fixture *fix, int n)
{
	struct fixture_process p = { 0 };

	fix->shm->fail_in = n;
	if (!fixture_process(fix, &p))
		fixture_exit(fix, &p);
	else if (p.ctx)
		CHECK(!fixture_object(fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	fix->shm->fail_in = 0;
	p = (struct fixture_process){ 0 };
	fix->fake.fail_in = n;
	if (!fixture_process(fix, &p))
		fixture_exit(fix, &p);
	else if (p.ctx)
		CHECK(!fixture_object(fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	fix->fake.fail_in = 0;
}

int main(void)
{
	struct fixture_process p[2];
	struct fixture fix;
	int i;

	fixture_init(&fix, false, NULL);
	fixture_watches(&fix);
	fixture_events(&fix);
	for (i = 0; i < 2; i++) {
		fix.event_bit = i;
		CHECK(!fixture_process(&fix, &p[i]));
	}
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_QP_DESTROY, p[1].qp));
	CHECK(fake_complete(&fix.fake, p[1].cq));
	fixture_wait_read_behind(&fix, 1);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CQ_DESTROY, p[1].cq));
	CHECK(!fake_complete(&fix.fake, p[1].cq));
	for (i = 1; i < 40; i++)
		fail_at(&fix, i);
	fixture_fini(&fix); /* with what is left */
	return EXIT_SUCCESS;
}
