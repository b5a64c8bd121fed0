// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_ratelimit.c - a bound holds whatever is tried, and what was regained can be had at once.
 */
#include <stdlib.h>

#include "unit/fakes/fixture.h"
#include "util/ratelimit.h"

static const struct ratelimit_rate rate = { .burst = 4, .interval_ms = 10 };

/* Whenever one is allowed: how many from now on for so long. */
static unsigned int all_within(struct ratelimit *ratelimit, uint64_t now, uint64_t ms)
{
	unsigned int n = 0;
	uint64_t end;

	for (end = now + ms; now < end; now++)
		for (; !ratelimit_wait_ms(ratelimit, &rate, now); n++)
			ratelimit_spend(ratelimit, &rate, now);
	return n;
}

/* Eight parts at a time, of which five make one; whenever it is allowed, for so long. */
static void check_parts(void)
{
	const struct ratelimit_rate fine = { .burst = 4, .interval_ms = 1, .parts = 5 };
	struct ratelimit ratelimit = { 0 };
	unsigned int n = 0;
	uint64_t now;

	ratelimit_spend_parts(&ratelimit, &fine, 4, 500);
	CHECK(!ratelimit.tat_ms); /* not one yet */
	ratelimit_spend_parts(&ratelimit, &fine, 1, 500);
	CHECK(ratelimit.tat_ms == 501);
	for (now = 1000; now < 2000; now++)
		for (; !ratelimit_wait_ms(&ratelimit, &fine, now); n += 8)
			ratelimit_spend_parts(&ratelimit, &fine, 8, now);
	CHECK(n >= 1000 * 5 && n <= (4 + 1000) * 5 + 8);
	CHECK(ratelimit_wait_ms(&ratelimit, &fine, 1999) <= 2);
}

static void check_sooner(void)
{
	int timeout = -1;

	ratelimit_sooner(&timeout, -1);
	CHECK(timeout == -1);
	ratelimit_sooner(&timeout, 20);
	ratelimit_sooner(&timeout, 30);
	ratelimit_sooner(&timeout, -1);
	CHECK(timeout == 20);
	ratelimit_sooner(&timeout, 0);
	CHECK(!timeout);
}

int main(void)
{
	const struct ratelimit_rate one = { .burst = 1, .interval_ms = 5 };
	struct ratelimit ratelimit = { 0 };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		CHECK(!ratelimit_wait_ms(&ratelimit, &rate, 1000));
		ratelimit_spend(&ratelimit, &rate, 1000);
	}
	CHECK(ratelimit_wait_ms(&ratelimit, &rate, 1000) == 10 &&
	      ratelimit_wait_ms(&ratelimit, &rate, 1009) == 1);
	CHECK(all_within(&ratelimit, 1000, 100) == 9); /* at 1010, 1020, ... 1090 */
	CHECK(all_within(&ratelimit, 1200, 1) == 4);   /* no more than the burst is kept */
	CHECK(all_within(&ratelimit, 1201, 10) == 1);
	ratelimit = (struct ratelimit){ 0 };
	CHECK(!ratelimit_wait_ms(&ratelimit, &one, 0));
	ratelimit_spend(&ratelimit, &one, 0);
	CHECK(ratelimit_wait_ms(&ratelimit, &one, 0) == 5 &&
	      !ratelimit_wait_ms(&ratelimit, &one, 5));
	check_parts();
	check_sooner();
	return EXIT_SUCCESS;
}
