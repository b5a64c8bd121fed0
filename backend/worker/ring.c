// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ring.c - see ring.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "commands/cmd.h"
#include "commands/slow_commands.h"
#include "shared-ring/vhca_ring.h"
#include "util/clock.h"
#include "util/ratelimit.h"
#include "worker/ring.h"

#ifndef SLOW_THREADS
#define SLOW_THREADS 4
#endif
/* Requests before the caller gets a chance to look at something else. */
#define BATCH 64

/* Notifications that bring no request; one that brings some makes up for them. */
static const struct ratelimit_rate idle_rate = { .burst = 64, .interval_ms = 2 };

struct session {
	struct vhca *v;
	struct vhca_back back;
	unsigned int entries;
	void *ring;
	size_t ring_bytes;
	uint8_t *data; /* the data pages, in the order of ids */
	struct slow_commands *slow;
	struct cmd *cmds; /* one for each id */
	bool answered; /* responses wait to be pushed */
	struct ratelimit idle;
	uint64_t done_at_ms; /* when the event is to be ended; 0: there is none */
	bool slowed; /* which has been said */
	bool broken;
};

static uint8_t *data_page(const struct session *s, unsigned int id)
{
	return s->data + (size_t)id * XEN_VHCA_PAGE_SIZE;
}

/* References are read once, whatever the guest does to the page meanwhile. */
struct data_source {
	const struct session *s;
	unsigned int id;
};

static void copy_refs(const void *page, uint32_t *refs, uint32_t n)
{
	const volatile uint32_t *from = page;
	uint32_t i;

	for (i = 0; i < n; i++)
		refs[i] = from[i];
}

static void fetch_refs(void *from, uint32_t *refs, uint32_t n)
{
	const struct data_source *source = from;

	copy_refs(data_page(source->s, source->id), refs, n);
}

static void run_command(struct cmd *cmd, void *context)
{
	struct data_source source = { context, cmd->req.id };

	cmd_run(cmd, fetch_refs, &source);
}

/* What is behind the answer in the data page is the guest's own, from before. */
static void answer(struct session *s, struct cmd *cmd)
{
	if (cmd->data)
		memcpy(data_page(s, cmd->req.id), cmd->data, cmd->data_len);
	vhca_back_put(&s->back, &cmd->rsp);
	s->answered = true;
}

static void push(struct session *s)
{
	if (!s->answered)
		return;
	s->answered = false;
	if (!vhca_back_push(&s->back))
		return;
	s->v->t->ops->notify(s->v->t, CHANNEL_COMMANDS);
	pthread_mutex_lock(&s->v->lock);
	s->v->counters.notifies++;
	pthread_mutex_unlock(&s->v->lock);
}

static void answer_slow(struct session *s)
{
	struct cmd *cmd;

	while ((cmd = slow_commands_take(s->slow)))
		answer(s, cmd);
	push(s);
}

/* 1: took one, 0: there is none. */
static int take(struct session *s)
{
	struct xen_vhca_req req;
	struct cmd *cmd;
	int got;

	got = vhca_back_next(&s->back, &req);
	if (got <= 0)
		return got;
	cmd = &s->cmds[req.id];
	cmd->v = s->v;
	cmd->req = req;
	cmd->taken_ns = clock_ns();
	if (cmd_is_slow(s->v, &req)) {
		slow_commands_submit(s->slow, cmd);
		return 1;
	}
	run_command(cmd, s);
	answer(s, cmd);
	push(s);
	return 1;
}

/* Too much of what the guest did was refused by the HCA, or ended in an error. */
static bool must_wait(struct session *s)
{
	if (!vhca_pause_ms(s->v))
		return false;
	if (!s->slowed)
		log_warning("the guest is slowed down: the HCA refuses its commands, or its queues end in errors");
	s->slowed = true;
	return true;
}

static int take_batch(struct session *s, bool *any)
{
	unsigned int i;
	int got;

	for (i = 0; i < BATCH; i++) {
		if (must_wait(s))
			return 0;
		got = take(s);
		if (got < 0)
			return got;
		*any |= got;
		if (!got && !vhca_back_more(&s->back))
			return 0;
	}
	return 1;
}

static void count_kick(struct session *s)
{
	pthread_mutex_lock(&s->v->lock);
	s->v->counters.kicks++;
	pthread_mutex_unlock(&s->v->lock);
}

/*
 * An event is ended only after the ring has been looked at, and later if too many brought nothing:
 * a guest that rings without cause is slowed down by that, and not the daemon.
 */
static void end_event(struct session *s, bool pending, bool any)
{
	uint64_t now = clock_ms();

	if (any)
		s->idle = (struct ratelimit){ 0 };
	if (pending) {
		s->done_at_ms = now + ratelimit_wait_ms(&s->idle, &idle_rate, now);
		if (!any)
			ratelimit_spend(&s->idle, &idle_rate, now);
		count_kick(s);
	}
	if (!s->done_at_ms || (!any && s->done_at_ms > now))
		return;
	s->done_at_ms = 0;
	s->v->t->ops->done(s->v->t);
}

int session_service(struct session *s)
{
	struct transport *t = s->v->t;
	int pending, more;
	bool any = false;

	if (s->broken)
		return -EPROTO;
	pending = t->ops->pending(t);
	if (pending < 0)
		return pending;
	answer_slow(s);
	more = take_batch(s, &any);
	s->broken = more < 0;
	end_event(s, pending, any);
	return more;
}

int session_timeout_ms(const struct session *s)
{
	uint64_t now = clock_ms(), pause = vhca_pause_ms(s->v);
	int timeout = pause ? (int)pause : -1;

	if (s->done_at_ms)
		ratelimit_sooner(&timeout, s->done_at_ms > now ? s->done_at_ms - now : 0);
	return timeout;
}

void session_fds(const struct session *s, int fds[SESSION_FDS])
{
	fds[0] = s->v->t->ops->fd(s->v->t);
	fds[1] = slow_commands_fd(s->slow);
}

static int map_ring(struct session *s, const struct session_params *params)
{
	unsigned int pages = 1u << params->ring_order;
	int err;

	err = s->v->t->ops->map(s->v->t, params->ring_refs, pages, false, NULL, &s->ring);
	if (err)
		return err;
	s->ring_bytes = (size_t)pages * XEN_VHCA_PAGE_SIZE;
	vhca_back_init(&s->back, s->ring, params->ring_order);
	return 0;
}

/* The directory is needed but once. */
static int map_data(struct session *s, uint32_t dir_ref)
{
	struct transport *t = s->v->t;
	uint32_t refs[VHCA_RING_MAX_ENTRIES];
	void *dir, *data;
	int err;

	err = t->ops->map(t, &dir_ref, 1, true, NULL, &dir);
	if (err)
		return err;
	copy_refs(dir, refs, s->entries);
	munmap(dir, XEN_VHCA_PAGE_SIZE);
	err = t->ops->map(t, refs, s->entries, false, NULL, &data);
	if (!err)
		s->data = data;
	return err;
}

struct session *session_new(struct vhca *v, const struct session_params *params, char *why,
			    size_t size)
{
	struct session *s;
	int err;

	if (params->ring_order > XEN_VHCA_MAX_RING_PAGE_ORDER) {
		snprintf(why, size, "frontend specifies ring-page-order %u", params->ring_order);
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		goto err_memory;
	s->v = v;
	s->entries = vhca_ring_entries(params->ring_order);
	s->cmds = calloc(s->entries, sizeof(s->cmds[0]));
	if (!s->cmds)
		goto err_session;
	err = map_ring(s, params);
	if (err) {
		snprintf(why, size, "mapping the ring: %s", strerror(-err));
		goto err_cmds;
	}
	err = map_data(s, params->data_dir_ref);
	if (err) {
		snprintf(why, size, "mapping the data pages: %s", strerror(-err));
		goto err_ring;
	}
	err = v->t->ops->bind(v->t, CHANNEL_COMMANDS, params->event_channel);
	if (err) {
		snprintf(why, size, "binding event channel %u: %s", params->event_channel,
			 strerror(-err));
		goto err_data;
	}
	s->slow = slow_commands_new(SLOW_THREADS, run_command, s);
	if (!s->slow) {
		snprintf(why, size, "no threads for commands");
		goto err_data;
	}
	return s;

err_data:
	munmap(s->data, (size_t)s->entries * XEN_VHCA_PAGE_SIZE);
err_ring:
	munmap(s->ring, s->ring_bytes);
err_cmds:
	free(s->cmds);
	free(s);
	return NULL;
err_session:
	free(s);
err_memory:
	snprintf(why, size, "no memory");
	return NULL;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	slow_commands_free(s->slow);
	munmap(s->data, (size_t)s->entries * XEN_VHCA_PAGE_SIZE);
	munmap(s->ring, s->ring_bytes);
	free(s->cmds);
	free(s);
}
