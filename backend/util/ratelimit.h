/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * ratelimit.h - a bound on what a guest can make the daemon do: so often at once, and once more in each
 * interval. Nothing here locks or waits.
 */
#ifndef XEN_IB_UTIL_RATELIMIT_H
#define XEN_IB_UTIL_RATELIMIT_H

#include <stdint.h>

struct pace_rate {
	unsigned int burst, interval_ms;
	unsigned int parts; /* of one, for pace_spend_parts(): what may be done more than once a millisecond */
};

/* Zeroed memory is ready, with all of the burst. */
struct pace {
	uint64_t even_ms; /* when all that was spent is regained */
	unsigned int parts; /* spent, and less than one */
};

/* pace_wait_ms - in how many milliseconds it may be done again; 0: now. */
static inline uint64_t pace_wait_ms(const struct pace *pace, const struct pace_rate *rate, uint64_t now_ms)
{
	uint64_t ahead = (uint64_t)(rate->burst - 1) * rate->interval_ms;

	return pace->even_ms > now_ms + ahead ? pace->even_ms - now_ms - ahead : 0;
}

/* pace_spend - it is done now. */
static inline void pace_spend(struct pace *pace, const struct pace_rate *rate, uint64_t now_ms)
{
	pace->even_ms = (pace->even_ms > now_ms ? pace->even_ms : now_ms) + rate->interval_ms;
}

/* pace_spend_parts - so many parts are done now. */
static inline void pace_spend_parts(struct pace *pace, const struct pace_rate *rate, unsigned int parts,
				    uint64_t now_ms)
{
	for (pace->parts += parts; pace->parts >= rate->parts; pace->parts -= rate->parts)
		pace_spend(pace, rate, now_ms);
}

/* pace_sooner - timeouts as poll() takes them, -1: for ever; *timeout becomes ms if that is sooner. */
static inline void pace_sooner(int *timeout, int ms)
{
	if (ms >= 0 && (*timeout < 0 || ms < *timeout))
		*timeout = ms;
}

#endif
