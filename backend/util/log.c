// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * log.c - see log.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "util/log.h"

static char who[48] = "xen-ibback";
static char domid[16], devid[16], hca[64];
static enum log_level most_verbose = LOG_INFO;
static bool (*write_to)(const struct log_entry *entry);

void log_setup(const char *name, enum log_level most)
{
	snprintf(who, sizeof(who), "%s", name);
	most_verbose = most;
}

void log_vhca(unsigned int domid_, unsigned int devid_)
{
	snprintf(domid, sizeof(domid), "%u", domid_);
	snprintf(devid, sizeof(devid), "%u", devid_);
}

void log_hca(const char *name)
{
	snprintf(hca, sizeof(hca), "%s", name);
}

void log_to(bool (*writer)(const struct log_entry *entry))
{
	write_to = writer;
}

/* A guest names its processes, and people read logs on terminals. */
static void escape(char *to, size_t size, const char *from)
{
	char *end = to + size - sizeof("\\xNN");

	for (; *from && to < end; from++) {
		if (*from >= ' ' && *from <= '~' && *from != '\\')
			*to++ = *from;
		else
			to += sprintf(to, "\\x%02x", (unsigned char)*from);
	}
	*to = 0;
}

static const char *known(const char *value)
{
	return *value ? value : NULL;
}

/* One write, so that lines of several processes and threads do not mix. */
static void write_entry(struct log_entry *entry, const char *format, va_list args)
{
	char raw[512], text[1024];

	vsnprintf(raw, sizeof(raw), format, args);
	escape(text, sizeof(text), raw);
	entry->who = who;
	entry->text = text;
	entry->domid = known(domid);
	entry->devid = known(devid);
	entry->hca = known(hca);
	if (!write_to || !write_to(entry))
		fprintf(stderr, "<%d>xen-ibback: %s: %s\n", entry->level, who, text);
}

void log_line(enum log_level level, const char *format, ...)
{
	struct log_entry entry = { .level = level };
	va_list args;

	if (level > most_verbose)
		return;
	va_start(args, format);
	write_entry(&entry, format, args);
	va_end(args);
}

void log_refusal(const char *op, const char *status, const char *format, ...)
{
	struct log_entry entry = { .level = LOG_WARNING, .op = op, .status = status };
	va_list args;

	va_start(args, format);
	write_entry(&entry, format, args);
	va_end(args);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

int log_allowed(struct log_limit *limit, unsigned int *suppressed)
{
	static const struct ratelimit_rate rate = { .burst = LOG_BURST,
						    .interval_ms = LOG_INTERVAL_MS };
	uint64_t now = now_ms();

	if (ratelimit_wait_ms(&limit->ratelimit, &rate, now)) {
		limit->suppressed++;
		return 0;
	}
	ratelimit_spend(&limit->ratelimit, &rate, now);
	*suppressed = limit->suppressed;
	limit->suppressed = 0;
	return 1;
}
