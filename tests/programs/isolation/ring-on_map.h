/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * ring-on_map: frames of the HCA that this domain may map, and ringing on them.
 */
#ifndef RING_ON_MAP_H
#define RING_ON_MAP_H

#include <pthread.h>
#include <stdatomic.h>

#include "verbs_pair.h"

#define FRAMES_MAX 64

struct frames {
	unsigned int count;
	uint64_t frame[FRAMES_MAX];
	uint8_t *page[FRAMES_MAX];
};

/* Maps those of @pages frames, from @first on, that Xen allows. */
void frames_map(struct frames *f, uint64_t first, unsigned int pages);
void frames_unmap(struct frames *f);
void frames_print(const struct frames *f);
bool frames_have(const struct frames *f, uint64_t frame);

/* A thread that rings on all of them: sends, arming of CQs and of EQs, for all queues that there could be. */
struct ringer {
	const struct frames *frames;
	pthread_t thread;
	_Atomic bool stop;
	_Atomic uint64_t rounds;
};

void ring_start(struct ringer *r, const struct frames *f);

/* Waits until it has gone @rounds times more through all queues. */
void ring_for(struct ringer *r, unsigned int rounds);
void ring_stop(struct ringer *r);

#endif
