/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * events: completion events come when they were asked for and not else; asynchronous events say what happened to whom.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include "verbs_pair.h"

/* A pair whose completions raise events. */
struct bell {
	struct vp_dev dev_a, dev_b;
	struct vp_pair pair;
};

void bell_open(struct bell *bell);
void bell_close(struct bell *bell);

extern const struct check_table events_completion, events_storm, events_async;

#endif
