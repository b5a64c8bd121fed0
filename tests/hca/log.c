// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The log: one line for each event, with the time and the function; lines that a guest can cause are rationed. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "hca.h"

/* What a guest may cause: this many lines a second, after a burst. */
#define LOG_PER_SECOND 20
#define LOG_BURST 400

int hca_log_level = HCA_LOG_ERROR;

static int log_fd = STDERR_FILENO;

int hca_log_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	log_fd = fd;
	return 0;
}

static uint64_t log_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* A line of the log is a line: what guests and clients have put in must not look like more. */
static void log_write(char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!isprint((unsigned char)line[i]))
			line[i] = '?';
	}
	line[len] = '\n';
	if (write(log_fd, line, len + 1) < 0)
		return; /* nowhere to say it */
}

/* True if a rationed line may be written; *lost gets how many were not since the last. */
static bool log_ration(uint64_t now, unsigned int *lost)
{
	static uint64_t last, credit_ms = LOG_BURST * 1000ull / LOG_PER_SECOND;
	static unsigned int suppressed;
	const uint64_t cost = 1000 / LOG_PER_SECOND;

	if (last)
		credit_ms += now - last;
	last = now;
	if (credit_ms > LOG_BURST * cost)
		credit_ms = LOG_BURST * cost;
	if (credit_ms < cost) {
		suppressed++;
		return false;
	}
	credit_ms -= cost;
	*lost = suppressed;
	suppressed = 0;
	return true;
}

void hca_log_at(const struct hca *hca, int level, const char *fmt, ...)
{
	static const char *const names[] = { "error", "guest", "info", "trace" };
	uint64_t now = log_now_ms();
	unsigned int lost = 0;
	char line[512];
	va_list args;
	int n, m;

	if ((level == HCA_LOG_GUEST || level == HCA_LOG_INFO) && !log_ration(now, &lost))
		return;
	if (lost) {
		n = snprintf(line, sizeof(line), "[%6u.%03u] %u lines left out here",
			     (unsigned int)(now / 1000), (unsigned int)(now % 1000), lost);
		log_write(line, (size_t)n);
	}
	n = snprintf(line, sizeof(line), "[%6u.%03u] %s: ", (unsigned int)(now / 1000),
		     (unsigned int)(now % 1000), names[level & 3]);
	if (hca)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "hca%u: ", hca->index);
	va_start(args, fmt);
	m = vsnprintf(line + n, sizeof(line) - 1 - (size_t)n, fmt, args);
	va_end(args);
	if (m > 0)
		n += m;
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	log_write(line, (size_t)n);
}
