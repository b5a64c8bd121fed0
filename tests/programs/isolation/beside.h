/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * beside: a process that minds its own business while another one misbehaves.
 *
 * It has the device open, exchanges data over a pair of its own, compares every byte, and registers memory; again and
 * again. Whoever started it asks whether it still does.
 */
#ifndef BESIDE_H
#define BESIDE_H

#include <sys/types.h>

#include "verbs_pair.h"

struct beside_shared;

struct beside {
	pid_t pid;
	struct beside_shared *shared;
};

/* One round: an exchange both ways, and a registration. */
void beside_round(struct vp_pair *pair, const char *what);

/* Starts it, and waits for its first round. It ends with the process that started it. */
void beside_start(struct beside *b);

/* It is alive and ends one more round that began after this call. */
void beside_works(struct beside *b, const char *after);

/* Ends it; all that it had can be taken down. */
void beside_stop(struct beside *b);

#endif
