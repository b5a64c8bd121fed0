// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ring.c - see ring.h.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "commands/cmd.h"
#include "commands/threads.h"
#include "shared-ring/vhca_ring.h"
#include "util/clock.h"
#include "util/ratelimit.h"
#include "vhca/events.h"
#include "worker/ring.h"

#ifndef SLOW_THREADS
#define SLOW_THREADS 4
#endif
/* And the thread of the ring: so many quick commands at a time, of the 32 that ConnectX takes from all. */
#ifndef QUICK_THREADS
#define QUICK_THREADS 7
#endif
/* Commands that go to threads although nothing follows, once one had to wait for another's end. */
#define CROWDED 16
/* Requests before the caller gets a chance to look at something else. */
#define BATCH 64

/* Notifications that bring no request; one that brings some makes up for them. */
static const struct ratelimit_rate idle_rate = { .burst = 64, .interval_ms = 2 };

struct ring {
	struct vhca *v;
	unsigned int entries;
	void *ring;
	size_t ring_bytes;
	uint8_t *data; /* the data pages, in the order of ids */
	struct cmd_threads *slow, *quick;
	struct cmd *cmds; /* one for each id; of whoever does the command, until it is answered */

	pthread_mutex_t lock; /* taken with no other one, and without waiting for anything: */
	struct vhca_back back;
	bool answered; /* responses wait to be pushed */

	atomic_uint given; /* commands that quick has, and that are not answered */

	/* Of the thread of the ring: */
	unsigned int crowded; /* so many more of CROWDED */
	struct ratelimit idle;
	uint64_t done_at_ms; /* when the event is to be ended; 0: there is none */
	bool slowed;         /* which has been said */
	bool broken;
};

static uint8_t *data_page(const struct ring *r, unsigned int id)
{
	return r->data + (size_t)id * XEN_VHCA_PAGE_SIZE;
}

/* References are read once, whatever the guest does to the page meanwhile. */
struct data_source {
	const struct ring *r;
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

	copy_refs(data_page(source->r, source->id), refs, n);
}

/* What is behind the answer in the data page is the guest's own, from before. */
static void answer(struct ring *r, const struct cmd *cmd)
{
	if (cmd->data)
		memcpy(data_page(r, cmd->req.id), cmd->data, cmd->data_len);
	vhca_back_put(&r->back, &cmd->rsp);
	r->answered = true;
}

/* Returns whether the guest is to be notified. */
static bool push(struct ring *r)
{
	if (!r->answered)
		return false;
	r->answered = false;
	return vhca_back_push(&r->back);
}

static void notify(struct ring *r)
{
	r->v->t->ops->notify(r->v->t, CHANNEL_COMMANDS);
	pthread_mutex_lock(&r->v->lock);
	r->v->counters.notifies++;
	pthread_mutex_unlock(&r->v->lock);
}

/*
 * What nobody waits for is told with the next response that somebody waits for. Once it is answered, the
 * command may be the next one with its id.
 */
static void respond(struct ring *r, const struct cmd *cmd)
{
	bool told = false;

	pthread_mutex_lock(&r->lock);
	answer(r, cmd);
	if (!(cmd->req.flags & XEN_VHCA_REQ_POSTED) || cmd->rsp.status)
		told = push(r);
	pthread_mutex_unlock(&r->lock);
	if (told)
		notify(r);
}

static void run_command(struct ring *r, struct cmd *cmd)
{
	struct data_source source = { r, cmd->req.id };

	cmd_run(cmd, fetch_refs, &source);
}

/* The thread of the ring, which writes the status, may be asleep. */
static void respond_in_thread(struct ring *r, const struct cmd *cmd)
{
	respond(r, cmd);
	events_count(r->v->events);
}

static void do_slow(struct cmd *cmd, void *ring)
{
	run_command(ring, cmd);
	respond_in_thread(ring, cmd);
}

/* A guest that has its response, and asks for the next one, finds nothing at work. */
static void do_quick(struct cmd *cmd, void *ring)
{
	struct ring *r = ring;

	run_command(r, cmd);
	atomic_fetch_sub(&r->given, 1);
	respond_in_thread(r, cmd);
}

/* Whether it gains by having others done meanwhile, and those by that. */
static bool is_hca_bound(struct ring *r, const struct xen_vhca_req *req)
{
	return req->flags & XEN_VHCA_REQ_UNORDERED && cmd_waits_for_hca(r->v, req->op);
}

/* A guest that waits for one command at a time has no other one there before it is answered. */
static void do_here(struct ring *r, struct cmd *cmd)
{
	run_command(r, cmd);
	if (is_hca_bound(r, &cmd->req) && cmd_waits_for_hca(r->v, vhca_back_peek(&r->back)))
		r->crowded = CROWDED;
	respond(r, cmd);
}

/* *following: the operation of the one behind it; 0: none. */
static int next_request(struct ring *r, struct xen_vhca_req *req, unsigned int *following)
{
	int got;

	pthread_mutex_lock(&r->lock);
	got = vhca_back_next(&r->back, req);
	*following = got == 1 ? vhca_back_peek(&r->back) : 0;
	pthread_mutex_unlock(&r->lock);
	return got;
}

/* While others follow, or are at work; or might follow, as others had to wait a short while ago. */
static bool give_quick(struct ring *r, struct cmd *cmd, bool more)
{
	if (!more && !r->crowded && !atomic_load(&r->given))
		return false;
	atomic_fetch_add(&r->given, 1);
	if (!cmd_threads_offer(r->quick, cmd)) {
		atomic_fetch_sub(&r->given, 1);
		return false;
	}
	if (r->crowded)
		r->crowded--;
	return true;
}

/* Whether a thread has it done. What is not slow has been done when a request behind it begins, or says otherwise. */
static bool give(struct ring *r, struct cmd *cmd, unsigned int following)
{
	if (cmd_is_slow(r->v, &cmd->req)) {
		cmd_threads_submit(r->slow, cmd);
		return true;
	}
	return is_hca_bound(r, &cmd->req) && give_quick(r, cmd, cmd_waits_for_hca(r->v, following));
}

/* 1: took one, 0: there is none. */
static int take(struct ring *r)
{
	struct xen_vhca_req req;
	struct cmd *cmd;
	unsigned int following;
	int got;

	got = next_request(r, &req, &following);
	if (got <= 0)
		return got;
	cmd = &r->cmds[req.id];
	cmd->v = r->v;
	cmd->req = req;
	cmd->taken_ns = clock_ns();
	if (!give(r, cmd, following))
		do_here(r, cmd);
	return 1;
}

/* Too much of what the guest did was refused by the HCA, or ended in an error. */
static bool must_wait(struct ring *r)
{
	if (!vhca_pause_ms(r->v))
		return false;
	if (!r->slowed)
		log_warning(
			"the guest is slowed down: the HCA refuses its commands, or its queues end in errors");
	r->slowed = true;
	return true;
}

/* To be asked before sleeping. */
static bool more_requests(struct ring *r)
{
	bool more;

	pthread_mutex_lock(&r->lock);
	more = vhca_back_more(&r->back);
	pthread_mutex_unlock(&r->lock);
	return more;
}

static int take_batch(struct ring *r, bool *any)
{
	unsigned int i;
	int got;

	for (i = 0; i < BATCH; i++) {
		if (must_wait(r))
			return 0;
		got = take(r);
		if (got < 0)
			return got;
		*any |= got;
		if (!got && !more_requests(r))
			return 0;
	}
	return 1;
}

static void count_kick(struct ring *r)
{
	pthread_mutex_lock(&r->v->lock);
	r->v->counters.kicks++;
	pthread_mutex_unlock(&r->v->lock);
}

/*
 * An event is ended only after the ring has been looked at, and later if too many brought nothing:
 * a guest that rings without cause is slowed down by that, and not the daemon.
 */
static void end_event(struct ring *r, bool pending, bool any)
{
	uint64_t now = clock_ms();

	if (any)
		r->idle = (struct ratelimit){ 0 };
	if (pending) {
		r->done_at_ms = now + ratelimit_wait_ms(&r->idle, &idle_rate, now);
		if (!any)
			ratelimit_spend(&r->idle, &idle_rate, now);
		count_kick(r);
	}
	if (!r->done_at_ms || (!any && r->done_at_ms > now))
		return;
	r->done_at_ms = 0;
	r->v->t->ops->done(r->v->t);
}

int ring_service(struct ring *r)
{
	struct transport *t = r->v->t;
	int pending, more;
	bool any = false;

	if (r->broken)
		return -EPROTO;
	pending = t->ops->pending(t);
	if (pending < 0)
		return pending;
	more = take_batch(r, &any);
	r->broken = more < 0;
	end_event(r, pending, any);
	return more;
}

int ring_timeout_ms(const struct ring *r)
{
	uint64_t now = clock_ms(), pause = vhca_pause_ms(r->v);
	int timeout = pause ? (int)pause : -1;

	if (r->done_at_ms)
		ratelimit_sooner(&timeout, r->done_at_ms > now ? r->done_at_ms - now : 0);
	return timeout;
}

int ring_fd(const struct ring *r)
{
	return r->v->t->ops->fd(r->v->t);
}

static int map_ring(struct ring *r, const struct ring_params *params)
{
	unsigned int pages = 1u << params->ring_order;
	int err;

	err = r->v->t->ops->map(r->v->t, params->ring_refs, pages, false, NULL, &r->ring);
	if (err)
		return err;
	r->ring_bytes = (size_t)pages * XEN_VHCA_PAGE_SIZE;
	vhca_back_init(&r->back, r->ring, params->ring_order);
	return 0;
}

/* The directory is needed but once. */
static int map_data(struct ring *r, uint32_t dir_ref)
{
	struct transport *t = r->v->t;
	uint32_t refs[VHCA_RING_MAX_ENTRIES];
	void *dir, *data;
	int err;

	err = t->ops->map(t, &dir_ref, 1, true, NULL, &dir);
	if (err)
		return err;
	copy_refs(dir, refs, r->entries);
	munmap(dir, XEN_VHCA_PAGE_SIZE);
	err = t->ops->map(t, refs, r->entries, false, NULL, &data);
	if (!err)
		r->data = data;
	return err;
}

struct ring *ring_new(struct vhca *v, const struct ring_params *params, char *why, size_t size)
{
	struct ring *r;
	int err;

	if (params->ring_order > XEN_VHCA_MAX_RING_PAGE_ORDER) {
		snprintf(why, size, "frontend gives ring-page-order %u", params->ring_order);
		return NULL;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		goto err_memory;
	r->v = v;
	r->entries = vhca_ring_entries(params->ring_order);
	pthread_mutex_init(&r->lock, NULL);
	r->cmds = calloc(r->entries, sizeof(r->cmds[0]));
	if (!r->cmds)
		goto err_free;
	err = map_ring(r, params);
	if (err) {
		snprintf(why, size, "mapping the ring: %s", strerror(-err));
		goto err_cmds;
	}
	err = map_data(r, params->data_dir_ref);
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
	r->slow = cmd_threads_new(SLOW_THREADS, do_slow, r);
	r->quick = cmd_threads_new(QUICK_THREADS, do_quick, r);
	if (r->slow && r->quick)
		return r;
	snprintf(why, size, "no threads for commands");

	cmd_threads_free(r->quick);
	cmd_threads_free(r->slow);
err_data:
	munmap(r->data, (size_t)r->entries * XEN_VHCA_PAGE_SIZE);
err_ring:
	munmap(r->ring, r->ring_bytes);
err_cmds:
	free(r->cmds);
	free(r);
	return NULL;
err_free:
	free(r);
err_memory:
	snprintf(why, size, "no memory");
	return NULL;
}

void ring_free(struct ring *r)
{
	if (!r)
		return;
	cmd_threads_free(r->quick);
	cmd_threads_free(r->slow);
	munmap(r->data, (size_t)r->entries * XEN_VHCA_PAGE_SIZE);
	munmap(r->ring, r->ring_bytes);
	pthread_mutex_destroy(&r->lock);
	free(r->cmds);
	free(r);
}
