/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * log.h - lines for the daemon's log, on standard error, with the syslog priority that journald
 * understands; or, with fields, wherever log_to() says (journal.h). Lines that a guest can cause go
 * through a limiter, and what does not print stands as \xNN.
 */
#ifndef XEN_IB_UTIL_LOG_H
#define XEN_IB_UTIL_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "util/ratelimit.h"

enum log_level { LOG_ERROR = 3, LOG_WARNING = 4, LOG_INFO = 6, LOG_DEBUG = 7 };

/* log_setup - name stands before each line ("supervisor", "vhca 5/0"); it is copied. */
void log_setup(const char *name, enum log_level most);

/* log_vhca, log_hca - whom all lines of this process are about; the name is copied. */
void log_vhca(unsigned int domid, unsigned int devid);
void log_hca(const char *name);

__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *format, ...);

/* log_refusal - a warning about a command: names of its operation and status. */
__attribute__((format(printf, 3, 4))) void log_refusal(const char *op, const char *status,
						       const char *format, ...);

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)

/* What a line consists of. What is not known is NULL. */
struct log_entry {
	enum log_level level;
	const char *who, *text;
	const char *domid, *devid, *hca;
	const char *op, *status;
};

/* log_to - a function that takes lines from now on; false: it cannot take this one. */
void log_to(bool (*writer)(const struct log_entry *entry));

/* At most LOG_BURST lines at once, and one more every LOG_INTERVAL_MS. Zeroed memory is ready. */
#define LOG_BURST 10
#define LOG_INTERVAL_MS 1000

struct log_limit {
	struct ratelimit ratelimit;
	unsigned int suppressed;
};

/*
 * log_allowed - whether a line may be written now. *suppressed: lines that were not, since the last
 * one that was. Not thread safe: the caller has a lock around the limiter.
 */
int log_allowed(struct log_limit *limit, unsigned int *suppressed);

#endif
