// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fake_meet.c - commands that end when several are under way (hca_fake.h).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "unit/fakes/hca_fake.h"

#define MEETING_S 30

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t met = PTHREAD_COND_INITIALIZER; /* fake->met has changed */

void fake_meet_set(struct fake_hca *fake, unsigned int n)
{
	pthread_mutex_lock(&lock);
	fake->meet = n;
	fake->met = 0;
	pthread_mutex_unlock(&lock);
}

unsigned int fake_met(struct fake_hca *fake)
{
	unsigned int n;

	pthread_mutex_lock(&lock);
	n = fake->met;
	pthread_mutex_unlock(&lock);
	return n;
}

void fake_meet(struct fake_hca *fake)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += MEETING_S;
	pthread_mutex_lock(&lock);
	fake->met++;
	pthread_cond_broadcast(&met);
	while (fake->met < fake->meet) {
		if (!pthread_cond_timedwait(&met, &lock, &until))
			continue;
		fprintf(stderr, "fake HCA: commands one after the other\n");
		abort();
	}
	pthread_mutex_unlock(&lock);
}
