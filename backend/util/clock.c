// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * clock.c - see clock.h.
 */
#include "util/clock.h"

uint64_t clock_ms(void)
{
	return clock_ns() / 1000000;
}
