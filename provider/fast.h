/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * fast.h - words for the data path.
 */
#ifndef XENIB_FAST_H
#define XENIB_FAST_H

#include <util/compiler.h>

/* Inlined also where the compiler would rather not: its arguments are mostly constants there. */
#define XENIB_INLINE inline __attribute__((always_inline))

/* Reads memory that another may write meanwhile, exactly once. */
#define XENIB_READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))

#endif
