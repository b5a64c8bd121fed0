/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * ratelimit.h - a bound on what a guest can make the daemon do: so often at once, and once more in each
 * interval. Nothing here locks or waits.
 */
#ifndef XEN_IB_UTIL_RATELIMIT_H
#define XEN_IB_UTIL_RATELIMIT_H

#include <stdint.h>

struct ratelimit_rate {
	unsigned int burst, interval_ms;
	unsigned int
		parts; /* of one, for ratelimit_spend_parts(): what may be done more than once a millisecond */
};

/* Zeroed memory is ready, with all of the burst. */
struct ratelimit {
	uint64_t tat_ms; /* theoretical arrival time (GCRA): when all that was spent is regained */
	unsigned int parts; /* spent, and less than one */
};

/* ratelimit_wait_ms - in how many milliseconds it may be done again; 0: now. */
static inline uint64_t ratelimit_wait_ms(const struct ratelimit *ratelimit,
					 const struct ratelimit_rate *rate, uint64_t now_ms)
{
	uint64_t ahead = (uint64_t)(rate->burst - 1) * rate->interval_ms;

	return ratelimit->tat_ms > now_ms + ahead ? ratelimit->tat_ms - now_ms - ahead : 0;
}

/* ratelimit_spend - it is done now. */
static inline void ratelimit_spend(struct ratelimit *ratelimit, const struct ratelimit_rate *rate,
				   uint64_t now_ms)
{
	ratelimit->tat_ms =
		(ratelimit->tat_ms > now_ms ? ratelimit->tat_ms : now_ms) + rate->interval_ms;
}

/* ratelimit_spend_parts - so many parts are done now. */
static inline void ratelimit_spend_parts(struct ratelimit *ratelimit,
					 const struct ratelimit_rate *rate, unsigned int parts,
					 uint64_t now_ms)
{
	for (ratelimit->parts += parts; ratelimit->parts >= rate->parts;
	     ratelimit->parts -= rate->parts)
		ratelimit_spend(ratelimit, rate, now_ms);
}

/* ratelimit_sooner - timeouts as poll() takes them, -1: for ever; *timeout becomes ms if that is sooner. */
static inline void ratelimit_sooner(int *timeout, int ms)
{
	if (ms >= 0 && (*timeout < 0 || ms < *timeout))
		*timeout = ms;
}

#endif
