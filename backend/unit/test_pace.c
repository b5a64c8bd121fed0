// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* test_pace.c - when xen-ibgrant notifies a guest: none is lost, and none is too many. */
#include <stdlib.h>

#include "modules/xen-ibgrant/pace.h"
#include "unit/fakes/fixture.h"

#define MS 1000000ull

/* What may be notified now is. How many; *rest: as ibgrant_pace_next() has it. */
static unsigned int notify_all(struct ibgrant_pace *pace, uint64_t now, uint64_t *rest)
{
	__u64 wait;
	unsigned int n = 0;
	int vector;

	while ((vector = ibgrant_pace_next(pace, now, &wait)) >= 0) {
		CHECK(!wait && pace->waiting >> vector & 1);
		ibgrant_pace_done(pace, vector, now);
		n++;
	}
	*rest = wait;
	return n;
}

/* All that may be at once, for somebody who has more news whenever he was notified. */
static unsigned int insatiable(struct ibgrant_pace *pace, uint64_t now)
{
	unsigned int n = 0;
	uint64_t rest;

	do {
		ibgrant_pace_add(pace, n % XEN_IBGRANT_MAX_VECTORS, now);
		n += notify_all(pace, now, &rest);
	} while (!rest);
	CHECK(rest == IBGRANT_REST_NS && pace->waiting);
	return n;
}

static void at_once_and_then(void)
{
	struct ibgrant_pace pace = { 0 };
	uint64_t now = 1000 * MS, rest, ms;
	unsigned int n;

	CHECK(!notify_all(&pace, now, &rest) && !rest);
	CHECK(insatiable(&pace, now) == IBGRANT_BURST);
	CHECK(insatiable(&pace, now) == 0);
	for (ms = 1; ms <= 100; ms++)
		CHECK(insatiable(&pace, now + ms * MS) == 32);
	now += 100 * MS + 40 * MS; /* it has been quiet for a time */
	CHECK(insatiable(&pace, now) == 40 * 32);
	n = insatiable(&pace, now + 3600 * 1000 * MS);
	CHECK(n == IBGRANT_BURST);
}

/* Each vector that has news is notified, once for all that came since. */
static void all_vectors(void)
{
	struct ibgrant_pace pace = { 0 };
	uint64_t now = 5 * MS, rest;
	uint32_t vector;

	insatiable(&pace, now);
	for (vector = 0; vector < XEN_IBGRANT_MAX_VECTORS; vector++) {
		ibgrant_pace_add(&pace, vector, now + vector);
		ibgrant_pace_add(&pace, vector, now + vector);
	}
	CHECK(!notify_all(&pace, now + 10, &rest) && rest == IBGRANT_REST_NS);
	CHECK(notify_all(&pace, now + MS, &rest) == XEN_IBGRANT_MAX_VECTORS && !rest);
	CHECK(!pace.waiting);
}

/* From the first news, not the last; a clock that goes back is no time at all. */
static void times(void)
{
	struct ibgrant_pace pace = { 0 };
	unsigned int i;
	static const struct {
		uint64_t ns;
		unsigned int bucket;
	} t[] = { { 0, 0 },    { 999, 0 }, { 1000, 1 },       { 1999, 1 },
		  { 2000, 2 }, { MS, 10 }, { 60000 * MS, 23 } };

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		pace.times = (struct xen_ibgrant_times){ 0 };
		ibgrant_pace_add(&pace, 3, MS);
		ibgrant_pace_add(&pace, 3, MS + t[i].ns / 2);
		ibgrant_pace_done(&pace, 3, MS + t[i].ns);
		CHECK(pace.times.count == 1 && pace.times.buckets[t[i].bucket] == 1);
		CHECK(pace.times.sum_ns == t[i].ns && pace.times.max_ns == t[i].ns);
	}
	pace.times = (struct xen_ibgrant_times){ 0 };
	ibgrant_pace_add(&pace, 0, MS);
	ibgrant_pace_done(&pace, 0, MS - 1);
	CHECK(pace.times.buckets[0] == 1 && !pace.times.sum_ns);
}

int main(void)
{
	at_once_and_then();
	all_vectors();
	times();
	return EXIT_SUCCESS;
}
