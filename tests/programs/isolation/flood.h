/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * flood: a guest that does one thing as fast as it can, until standard input ends. Nobody else may suffer from it: what the
 * others see is for gauge to say.
 */
#ifndef FLOOD_H
#define FLOOD_H

#include "check.h"

/* Does something once. Returns how often that was, if it was several times. */
typedef unsigned long flood_fn(void *arg);

/* Runs it until it is told to stop, says "working" after the first time, and how often it was at the end. */
void flood(flood_fn *fn, void *arg, const char *what);

/* flood_front.c: what takes a frontend in user space */
extern const struct check_table flood_front;

/* flood_hca.c: what an HCA has to look up */
extern const struct check_table flood_hca;

/* flood_log.c: what dom0's kernel logs */
extern const struct check_table flood_log;

#define FLOOD_CASE(n, f, s) CHECK_CASE(n, f, s, .seconds = 600, .on_demand = true)

#endif
