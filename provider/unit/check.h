/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * check.h - the frame of a test program: exit status 0 if every check held.
 */
#ifndef XENIB_UNIT_CHECK_H
#define XENIB_UNIT_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

extern unsigned int checks_failed;

#define CHECK(cond) \
	do { \
		if (!(cond)) { \
			if (checks_failed++ < 20) \
				fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, \
					__func__, #cond); \
		} \
	} while (0)

/* For what the rest of the test cannot do without. */
#define REQUIRE(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "%s:%d: %s: cannot go on: %s\n", __FILE__, __LINE__, \
				__func__, #cond); \
			exit(1); \
		} \
	} while (0)

#define RUN(test) \
	do { \
		unsigned int before = checks_failed; \
		test(); \
		printf("%s %s\n", checks_failed == before ? "ok  " : "FAIL", #test); \
	} while (0)

#endif
