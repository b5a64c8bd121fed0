/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Checks, and a program made of named cases.
 *
 * A test program is a table of cases. Each case runs in a process of its own: a case that crashes, hangs or
 * leaves by require() takes nothing with it, and the kernel releases what it held. Cases that say so share a
 * process, and what they leave in it for the next, until one fails. Nothing here knows about verbs.
 *
 * What a program prints: failing checks always, every check with --verbose, and with --results the lines by
 * which the test harness learns of each case (@pass, @fail, @skip; tests/harness/programs.py).
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* A number to be overridden with --deadline: how long something that must happen may take. */
#define CHECK_DEADLINE_MS 20000

struct check_case {
	const char *name;
	const char *shows; /* one line, for --list */
	void (*run)(const void *arg);
	const void *arg;
	unsigned int seconds; /* time limit, 0: the default */
	bool on_demand; /* runs only if it is named in full: needs something from outside, or a rare driver */
	bool together; /* in one process with those before and behind it that say so too, while they pass */
};

#define CHECK_CASE(n, f, s, ...) { .name = n, .run = f, .shows = s, __VA_ARGS__ }

/* What the command line asked for. */
struct check_options {
	const char *device[2]; /* -d, -D: NULL for the first and second that there are */
	unsigned int deadline_ms;
	unsigned long count; /* --count, 0 if not given */
	size_t max_size;     /* --max-size, 0 if not given */
	uint64_t seed;       /* of the data patterns */
	bool verbose;
};

extern struct check_options opt;

/*
 * The whole of main(): parses the options, lists or runs the cases that the arguments name (globs; all if none).
 * Returns the exit status: 0 passed, 1 failed, 77 if every case was skipped.
 */
int check_main(int argc, char **argv, const char *what, const struct check_case *cases,
	       size_t count);

/* The same, for a table that is spread over several files. */
struct check_table {
	const struct check_case *cases;
	size_t count;
};

int check_main_tables(int argc, char **argv, const char *what, const struct check_table *tables,
		      size_t count);

/* Will another case run in this process after this one, should it pass? */
bool check_goes_on(void);

/* Counts a failure, and prints it, unless @ok. Returns @ok. */
bool check_at(const char *file, int line, bool ok, const char *expr, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Ends the case at once, as failed if a check failed. */
void check_end_case(void) __attribute__((noreturn));

/* Ends the case as skipped, unless a check has failed already. */
void skip(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/*
 * Starts a process that belongs to the case: it dies with it, and has failed only by its own checks. Returns as fork(), and
 * always: without another process the case ends. The child ends with check_end_case().
 */
pid_t check_fork(void);

/* For cases that run until somebody outside has enough: within so many ms standard input has something to read, or ends. */
bool told_to_stop(int ms);

/* Prints one line under --verbose. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define check(cond, ...) check_at(__FILE__, __LINE__, (cond), #cond, __VA_ARGS__)

/* A check without which the rest of the case makes no sense. */
#define require(cond, ...) \
	do { \
		if (!check_at(__FILE__, __LINE__, (cond), #cond, __VA_ARGS__)) \
			check_end_case(); \
	} while (0)

/* Milliseconds of a clock that never goes back. */
uint64_t now_ms(void);

#endif
