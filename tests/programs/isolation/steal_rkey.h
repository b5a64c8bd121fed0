/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * steal_rkey: the thief's side.
 */
#ifndef STEAL_RKEY_H
#define STEAL_RKEY_H

#include "check.h"

/* Where the victim is, NULL: another process of this guest. */
extern const char *steal_host;

extern const struct check_table steal_rkey;

#endif
