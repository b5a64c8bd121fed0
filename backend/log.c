// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * log.c - see log.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "log.h"

static char who[48] = "xen-ibback";
static enum log_level most_verbose = LOG_INFO;

void log_setup(const char *name, enum log_level most)
{
	snprintf(who, sizeof(who), "%s", name);
	most_verbose = most;
}

/* One write, so that lines of several processes and threads do not mix. */
void log_line(enum log_level level, const char *format, ...)
{
	char text[512];
	va_list args;

	if (level > most_verbose)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "<%d>xen-ibback: %s: %s\n", level, who, text);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

int log_allowed(struct log_limit *limit, unsigned int *suppressed)
{
	uint64_t now = now_ms();
	uint64_t regained = (now - limit->last_ms) / LOG_INTERVAL_MS;

	if (regained) {
		limit->spent = limit->spent > regained ? limit->spent - regained : 0;
		limit->last_ms = now;
	}
	if (limit->spent >= LOG_BURST) {
		limit->suppressed++;
		return 0;
	}
	limit->spent++;
	*suppressed = limit->suppressed;
	limit->suppressed = 0;
	return 1;
}
