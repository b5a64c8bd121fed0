/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * check.h - what must hold; the test ends where it does not.
 */
#ifndef XEN_IB_UNIT_CHECK_H
#define XEN_IB_UNIT_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			exit(EXIT_FAILURE); \
		} \
	} while (0)

#endif
