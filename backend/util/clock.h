/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * clock.h - time that only passes, since some moment.
 */
#ifndef XEN_IB_UTIL_CLOCK_H
#define XEN_IB_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* clock_ms - no inline function, as some tests have a clock of their own. */
uint64_t clock_ms(void);

#endif
