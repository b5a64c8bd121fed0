// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* pace.c - see pace.h. */
#include "pace.h"

void ibgrant_pace_add(struct ibgrant_pace *pace, __u32 vector, __u64 now_ns)
{
	if (!(pace->waiting >> vector & 1))
		pace->since_ns[vector] = now_ns;
	pace->waiting |= 1u << vector;
}

int ibgrant_pace_next(const struct ibgrant_pace *pace, __u64 now_ns, __u64 *rest_ns)
{
	const __u64 ahead = now_ns + (__u64)(IBGRANT_BURST - 1) * IBGRANT_EACH_NS;

	*rest_ns = 0;
	if (!pace->waiting)
		return -1;
	if (pace->tat_ns <= ahead)
		return __builtin_ctz(pace->waiting);
	*rest_ns = pace->tat_ns - ahead;
	if (*rest_ns < IBGRANT_REST_NS)
		*rest_ns = IBGRANT_REST_NS;
	return -1;
}

/*
 * Bucket 0 counts what took less than 1 us, bucket i less than 2^i us, the last one what took
 * longer.
 */
static void add_time(struct xen_ibgrant_times *times, __u64 ns)
{
	const __u64 us = ns / 1000;
	__u32 bucket = us ? 64 - __builtin_clzll(us) : 0;

	times->count++;
	times->sum_ns += ns;
	if (ns > times->max_ns)
		times->max_ns = ns;
	times->buckets[bucket < XEN_IBGRANT_BUCKETS ? bucket : XEN_IBGRANT_BUCKETS - 1]++;
}

void ibgrant_pace_done(struct ibgrant_pace *pace, __u32 vector, __u64 now_ns)
{
	const __u64 since = pace->since_ns[vector];

	pace->waiting &= ~(1u << vector);
	pace->tat_ns = (pace->tat_ns > now_ns ? pace->tat_ns : now_ns) + IBGRANT_EACH_NS;
	add_time(&pace->times, now_ns > since ? now_ns - since : 0);
}
