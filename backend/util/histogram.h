/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * histogram.h - how long something takes: how often it was measured, the sum, the longest, and a
 * histogram by powers of two. Nothing here locks.
 */
#ifndef XEN_IB_UTIL_HISTOGRAM_H
#define XEN_IB_UTIL_HISTOGRAM_H

#include <stdint.h>

/* Bucket 0 counts what took less than 1 us, bucket i less than 2^i us, the last one all that took longer. */
#define HISTOGRAM_BUCKETS 24

struct histogram {
	uint64_t count, sum_ns, max_ns;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

static inline void histogram_add(struct histogram *latency, uint64_t ns)
{
	uint64_t us = ns / 1000;
	unsigned int bucket = us ? 64 - __builtin_clzll(us) : 0;

	latency->count++;
	latency->sum_ns += ns;
	if (ns > latency->max_ns)
		latency->max_ns = ns;
	latency->buckets[bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1]++;
}

/* histogram_merge - as if all that was measured for other had been measured for this one, too. */
static inline void histogram_merge(struct histogram *latency, const struct histogram *other)
{
	unsigned int i;

	latency->count += other->count;
	latency->sum_ns += other->sum_ns;
	if (other->max_ns > latency->max_ns)
		latency->max_ns = other->max_ns;
	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		latency->buckets[i] += other->buckets[i];
}

/*
 * histogram_quantile_ns - no more than this took the given share (0 to 1000 permille) of all: the upper end of
 * its bucket, or the longest if that is less. 0 if nothing was measured.
 */
static inline uint64_t histogram_quantile_ns(const struct histogram *latency, unsigned int permille)
{
	uint64_t seen = 0, end;
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		seen += latency->buckets[i];
		end = 1000ull << i;
		if (seen && seen >= latency->count / 1000.0 * permille)
			return end < latency->max_ns ? end : latency->max_ns;
	}
	return latency->max_ns;
}

#endif
