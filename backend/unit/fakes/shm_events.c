// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * shm_events.c - see shm_events.h.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "shared-ring/vhca_event.h"
#include "unit/fakes/shm_events.h"
#include "util/clock.h"

#define WATCHES 4096u

struct shm_watch {
	int channel; /* -1: there is none */
	uint32_t bit, vector;
	bool unread;
};

struct shm_events {
	void *bits;
	const int *channels;
	int readable;

	pthread_mutex_t lock; /* of what follows: */
	struct shm_watch watches[WATCHES];
	unsigned int top; /* none has been used from here on */
	struct transport_told told;
};

/* Under the lock. */
static void tell(struct shm_events *e, struct shm_watch *watch)
{
	const uint64_t begun = clock_ns();

	e->told.completions++;
	if (vhca_bit_set(e->bits, watch->bit)) {
		eventfd_write(e->channels[watch->vector], 1);
		histogram_add(&e->told.notified, clock_ns() - begun);
	}
	watch->unread = true;
	eventfd_write(e->readable, 1);
}

void shm_events_woken(struct shm_events *e, int channel)
{
	unsigned int i;

	pthread_mutex_lock(&e->lock);
	for (i = 0; i < e->top; i++)
		if (e->watches[i].channel == channel)
			tell(e, &e->watches[i]);
	pthread_mutex_unlock(&e->lock);
}

struct shm_events *shm_events_new(void *bits, const int *channels)
{
	struct shm_events *e = calloc(1, sizeof(*e));

	e->bits = bits;
	e->channels = channels;
	pthread_mutex_init(&e->lock, NULL);
	e->readable = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (e->readable < 0)
		abort();
	return e;
}

/* Whoever had a watch has ended it. */
void shm_events_free(struct shm_events *e)
{
	unsigned int i;

	for (i = 0; i < e->top; i++)
		if (e->watches[i].channel >= 0)
			abort();
	close(e->readable);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

int shm_events_watch(struct shm_events *e, int channel, uint32_t bit, uint32_t vector)
{
	uint32_t id;

	pthread_mutex_lock(&e->lock);
	for (id = 0; id < e->top && e->watches[id].channel >= 0; id++)
		;
	if (id == WATCHES || bit >= XEN_VHCA_EVENT_BITS)
		abort();
	if (id == e->top)
		e->top++;
	e->watches[id] = (struct shm_watch){ channel, bit, vector, false };
	pthread_mutex_unlock(&e->lock);
	return id;
}

void shm_events_unwatch(struct shm_events *e, uint32_t id)
{
	pthread_mutex_lock(&e->lock);
	if (id >= e->top || e->watches[id].channel < 0)
		abort();
	e->watches[id].channel = -1;
	pthread_mutex_unlock(&e->lock);
}

int shm_events_fd(const struct shm_events *e)
{
	return e->readable;
}

unsigned int shm_events_unread(struct shm_events *e, uint32_t *watches, unsigned int n)
{
	unsigned int got = 0, more = 0;
	eventfd_t count;
	uint32_t id;

	pthread_mutex_lock(&e->lock);
	eventfd_read(e->readable, &count);
	for (id = 0; id < e->top; id++) {
		if (e->watches[id].channel < 0 || !e->watches[id].unread)
			continue;
		if (got == n) {
			more = 1;
			break;
		}
		watches[got++] = id;
		e->watches[id].unread = false;
	}
	if (more)
		eventfd_write(e->readable, 1);
	pthread_mutex_unlock(&e->lock);
	return got;
}

void shm_events_told(struct shm_events *e, struct transport_told *told)
{
	pthread_mutex_lock(&e->lock);
	*told = e->told;
	pthread_mutex_unlock(&e->lock);
}
