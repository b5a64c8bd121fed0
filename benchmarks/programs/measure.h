/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * measure.h - what the programs that measure one kind of call share: a clock, medians, options, and the device.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "mark.h"

/* Ends the program, status 1, with a line on standard error. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Microseconds since some moment. */
double now_us(void);

/* A series of measurements of one thing. */
struct series {
	const char *name;
	double *us;
	size_t count, room;
};

void series_init(struct series *s, const char *name);
void series_add(struct series *s, double us);
void series_free(struct series *s);

/* Adds what is in from, which is empty then. */
void series_move(struct series *to, struct series *from);

/* Does something, and adds its time to a series. The emulator may also count it (mark.h). */
#define TIMED(series, something) \
	do { \
		double start_ = now_us(); \
		MARK(MARK_BEGIN, (series).name, 0); \
		something; \
		MARK(MARK_END, (series).name, 0); \
		series_add(&(series), now_us() - start_); \
	} while (0)

/* Prints "NAME X MEDIAN P99 MOST" (microseconds; X as given), and forgets the measurements. */
void series_print(struct series *s, unsigned long x);

/* Opens a device by its name; NULL: the first that there is. Belongs to the caller. */
struct ibv_context *open_device(const char *name);

/* An option "--NAME N", a whole number from least to most. */
struct number_option {
	const char *name;
	unsigned long *value, least, most;
};

/*
 * Reads the command line: --device NAME (-d), --help (-h), and the options given, ended by one without name. Wrong usage
 * ends the program with status 2, --help with 0. Returns the device's name; NULL if none was given.
 */
const char *read_options(int argc, char **argv, const char *usage,
			 const struct number_option *numbers);

#endif
