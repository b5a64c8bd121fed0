/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * events: completion events come when they were asked for and not else; asynchronous events say what happened to whom.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include "verbs_pair.h"

/* A pair whose completions raise events. */
void bell_make(struct vp_both *bell);

/* Between nothing and 300 us, mostly little. @state: of rand_r(). */
void storm_pause(unsigned int *state);

extern const struct check_table events_completion, events_storm, events_many, events_async;

#endif
