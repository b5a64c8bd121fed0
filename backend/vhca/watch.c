// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * watch.c - see watch.h.
 *
 * A channel is closed by whoever destroys its CQ, and read by the thread of events. So there is a table
 * of those that may be read, and its lock is held while one is. No other lock is taken meanwhile.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vhca/watch.h"

#define READY 64    /* watches read in one go */
#define BATCH 1024  /* events of each */
#define STREAK 4096 /* times BATCH, 4 Mi events, without an end: a flood */

struct entry {
	int channel; /* -1: there is no such watch */
	unsigned int streak;
};

struct watches {
	struct hca *hca;
	struct transport *t;
	uint32_t again[READY]; /* of the reader: those that had more */
	unsigned int n_again;

	pthread_mutex_t lock; /* of the table */
	struct entry *table;  /* by the name of the watch */
	uint32_t room;
};

int watches_open(struct hca *hca, struct transport *t, uint32_t bits, const uint32_t *ports,
		 unsigned int vectors, struct watches **w)
{
	int err;

	*w = calloc(1, sizeof(**w));
	if (!*w)
		return -ENOMEM;
	err = t->ops->events_open(t, bits, ports, vectors);
	if (err) {
		free(*w);
		*w = NULL;
		return err;
	}
	(*w)->hca = hca;
	(*w)->t = t;
	pthread_mutex_init(&(*w)->lock, NULL);
	return 0;
}

void watches_close(struct watches *w)
{
	if (!w)
		return;
	w->t->ops->events_close(w->t);
	pthread_mutex_destroy(&w->lock);
	free(w->table);
	free(w);
}

/* Under the lock. */
static int make_room(struct watches *w, uint32_t id)
{
	uint32_t room = id < w->room ? w->room : (id + 1) * 2;
	struct entry *table;

	if (room == w->room)
		return 0;
	table = realloc(w->table, room * sizeof(*table));
	if (!table)
		return -ENOMEM;
	for (; w->room < room; w->room++)
		table[w->room] = (struct entry){ .channel = -1 };
	w->table = table;
	return 0;
}

static int enter(struct watches *w, const struct watch *watch)
{
	int err;

	pthread_mutex_lock(&w->lock);
	err = make_room(w, watch->id);
	if (!err)
		w->table[watch->id] = (struct entry){ .channel = watch->channel };
	pthread_mutex_unlock(&w->lock);
	return err;
}

int watch_begin(struct watches *w, struct hca_ctx *ctx, uint32_t bit, uint32_t vector,
		struct watch *watch)
{
	int got;

	*watch = WATCH_NONE;
	if (!w)
		return 0;
	watch->channel = w->hca->ops->channel_open(ctx);
	if (watch->channel < 0)
		return watch->channel;
	got = w->t->ops->watch(w->t, watch->channel, bit, vector);
	if (got < 0)
		goto err_close;
	watch->id = got;
	got = enter(w, watch);
	if (!got)
		return 0;

	w->t->ops->unwatch(w->t, watch->id);
err_close:
	close(watch->channel);
	*watch = WATCH_NONE;
	return got;
}

void watch_end(struct watches *w, struct watch *watch)
{
	if (watch->channel < 0)
		return;
	pthread_mutex_lock(&w->lock);
	w->table[watch->id].channel = -1;
	pthread_mutex_unlock(&w->lock);
	w->t->ops->unwatch(w->t, watch->id);
	close(watch->channel);
	*watch = WATCH_NONE;
}

int watches_fd(const struct watches *w)
{
	return w->t->ops->events_fd(w->t);
}

/* Under the lock. Returns how many it had: BATCH, and there may be more, or less. */
static unsigned int read_channel(struct watches *w, struct entry *entry)
{
	unsigned int n = 0;

	while (n < BATCH && w->hca->ops->channel_next(w->hca, entry->channel) > 0)
		n++;
	entry->streak = n < BATCH ? 0 : entry->streak + 1;
	return n;
}

/* One may have ended meanwhile, and its name may be another's by now: that is read for nothing. */
static void read_watch(struct watches *w, uint32_t id, struct watches_got *got)
{
	unsigned int n = 0;

	pthread_mutex_lock(&w->lock);
	if (id < w->room && w->table[id].channel >= 0) {
		n = read_channel(w, &w->table[id]);
		got->flood |= w->table[id].streak == STREAK;
	}
	pthread_mutex_unlock(&w->lock);
	got->events += n;
	if (n == BATCH)
		w->again[w->n_again++] = id;
}

struct watches_got watches_read(struct watches *w)
{
	struct watches_got got = { 0 };
	uint32_t ids[READY];
	unsigned int n = w->n_again, i;

	memcpy(ids, w->again, n * sizeof(*ids));
	if (n < READY)
		n += w->t->ops->unread(w->t, ids + n, READY - n);
	w->n_again = 0;
	for (i = 0; i < n; i++)
		read_watch(w, ids[i], &got);
	got.more = w->n_again;
	return got;
}

void watches_told(struct watches *w, struct transport_told *told)
{
	memset(told, 0, sizeof(*told));
	if (w)
		w->t->ops->told(w->t, told);
}
