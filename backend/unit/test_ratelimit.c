// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_ratelimit.c - a bound holds whatever is tried, and what was regained can be had at once.
 */
#include <stdlib.h>

#include "unit/fakes/rig.h"
#include "util/ratelimit.h"

static const struct pace_rate rate = { .burst = 4, .interval_ms = 10 };

/* Whenever one is allowed: how many from now on for so long. */
static unsigned int all_within(struct pace *pace, uint64_t now, uint64_t ms)
{
	unsigned int n = 0;
	uint64_t end;

	for (end = now + ms; now < end; now++)
		for (; !pace_wait_ms(pace, &rate, now); n++)
			pace_spend(pace, &rate, now);
	return n;
}

/* Eight parts at a time, of which five make one; whenever it is allowed, for so long. */
static void check_parts(void)
{
	const struct pace_rate fine = { .burst = 4, .interval_ms = 1, .parts = 5 };
	struct pace pace = { 0 };
	unsigned int n = 0;
	uint64_t now;

	pace_spend_parts(&pace, &fine, 4, 500);
	CHECK(!pace.even_ms); /* not one yet */
	pace_spend_parts(&pace, &fine, 1, 500);
	CHECK(pace.even_ms == 501);
	for (now = 1000; now < 2000; now++)
		for (; !pace_wait_ms(&pace, &fine, now); n += 8)
			pace_spend_parts(&pace, &fine, 8, now);
	CHECK(n >= 1000 * 5 && n <= (4 + 1000) * 5 + 8);
	CHECK(pace_wait_ms(&pace, &fine, 1999) <= 2);
}

static void check_sooner(void)
{
	int timeout = -1;

	pace_sooner(&timeout, -1);
	CHECK(timeout == -1);
	pace_sooner(&timeout, 20);
	pace_sooner(&timeout, 30);
	pace_sooner(&timeout, -1);
	CHECK(timeout == 20);
	pace_sooner(&timeout, 0);
	CHECK(!timeout);
}

int main(void)
{
	const struct pace_rate one = { .burst = 1, .interval_ms = 5 };
	struct pace pace = { 0 };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		CHECK(!pace_wait_ms(&pace, &rate, 1000));
		pace_spend(&pace, &rate, 1000);
	}
	CHECK(pace_wait_ms(&pace, &rate, 1000) == 10 && pace_wait_ms(&pace, &rate, 1009) == 1);
	CHECK(all_within(&pace, 1000, 100) == 9); /* at 1010, 1020, ... 1090 */
	CHECK(all_within(&pace, 1200, 1) == 4);   /* no more than the burst is kept */
	CHECK(all_within(&pace, 1201, 10) == 1);
	pace = (struct pace){ 0 };
	CHECK(!pace_wait_ms(&pace, &one, 0));
	pace_spend(&pace, &one, 0);
	CHECK(pace_wait_ms(&pace, &one, 0) == 5 && !pace_wait_ms(&pace, &one, 5));
	check_parts();
	check_sooner();
	return EXIT_SUCCESS;
}
