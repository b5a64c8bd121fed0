/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * measure.h - what the programs that measure one kind of call share: a clock, medians, and the device.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

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

/* Prints "NAME X MEDIAN P99 MOST" (microseconds; X as given), and forgets the measurements. */
void series_print(struct series *s, unsigned long x);

/* Opens a device by its name; NULL: the first that there is. Belongs to the caller. */
struct ibv_context *open_device(const char *name);

/* The value of an option, a whole number from least to most. */
unsigned long number(const char *option, const char *text, unsigned long least, unsigned long most);

#endif
