/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * number.h - decimal numbers in what administrators write.
 */
#ifndef XEN_IB_CONFIG_NUMBER_H
#define XEN_IB_CONFIG_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * number_parse - a decimal number and nothing else, no sign either. One of bytes may end in K, M, G or T
 * (powers of 1024). False: it is none, or does not fit.
 */
bool number_parse(const char *text, bool bytes, uint64_t *number);

#endif
