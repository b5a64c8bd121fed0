// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_poll_set.c - members come, change and go, and what they have is found under their number.
 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "unit/fakes/fixture.h"
#include "util/poll_set.h"

/* What each of the members that are looked at has; nobody else has anything. */
static void expect(struct poll_set *set, uint32_t first, uint32_t last)
{
	uint32_t found[POLL_SET_MOST];
	unsigned int i;

	CHECK(!poll_set_wait(set, 0, found));
	CHECK(found[0] == first);
	CHECK(found[POLL_SET_MOST - 1] == last);
	for (i = 1; i < POLL_SET_MOST - 1; i++)
		CHECK(!found[i]);
}

int main(void)
{
	const unsigned int last = POLL_SET_MOST - 1;
	uint32_t found[POLL_SET_MOST];
	struct poll_set set;
	int a, b, ends[2];

	CHECK(!poll_set_init(&set));
	a = eventfd(1, EFD_NONBLOCK);
	b = eventfd(0, EFD_NONBLOCK);
	CHECK(a >= 0 && b >= 0 && !pipe(ends));
	expect(&set, 0, 0);

	/* found as long as it has something, and for what was asked alone */
	CHECK(!poll_set_put(&set, 0, a, POLLIN) && !poll_set_put(&set, last, b, POLLIN));
	expect(&set, POLLIN, 0);
	expect(&set, POLLIN, 0);
	CHECK(!eventfd_write(b, 1));
	expect(&set, POLLIN, POLLIN);
	CHECK(!poll_set_put(&set, 0, a, POLLIN | POLLOUT) && !poll_set_put(&set, last, b, 0));
	expect(&set, POLLIN | POLLOUT, 0);

	/* one that is no member any more, another in its place, the same again */
	CHECK(!poll_set_put(&set, 0, -1, POLLIN));
	expect(&set, 0, 0);
	CHECK(!poll_set_put(&set, last, a, POLLIN) && !poll_set_put(&set, last, a, POLLIN));
	expect(&set, 0, POLLIN);
	CHECK(poll_set_put(&set, 0, a, POLLOUT) == -EEXIST);
	CHECK(!poll_set_put(&set, 0, b, POLLIN));
	expect(&set, POLLIN, POLLIN);

	/* hanging up needs not be asked for, and ends a wait without limit */
	CHECK(!poll_set_put(&set, last, -1, 0) && !poll_set_put(&set, 0, ends[0], 0));
	expect(&set, 0, 0);
	CHECK(!close(ends[1]) && !poll_set_wait(&set, -1, found));
	CHECK(found[0] == POLLHUP);

	/* what cannot be waited for */
	CHECK(poll_set_put(&set, last, ends[1], POLLIN) == -EBADF);
	CHECK(!poll_set_put(&set, 0, -1, 0));
	expect(&set, 0, 0);
	poll_set_fini(&set);
	return 0;
}
