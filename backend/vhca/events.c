// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * events.c - see events.h.
 *
 * The descriptors are watched for edges: one that reports the end, or whose context is being
 * closed, reports it once and does not keep the thread awake. So each is read until it is empty,
 * or, after BATCHES of them, put behind the others.
 *
 * Where the transport tells of completions itself (watch.h), the thread reads what that has told of, and
 * the rest is about asynchronous events alone. Elsewhere each completion comes this way:
 *
 * It may wake the thread and notify the guest. A guest that clears its bits and arms
 * its CQs as fast as it can would have the thread do nothing else, so it reads at a limited rate: beyond
 * that it sleeps for a millisecond or two when it has read all, and what comes meanwhile is read
 * together. The kernel keeps it until then, so none is lost, and it is no more than the HCA can
 * tell of in that time.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "shared-ring/vhca_event.h"
#include "util/clock.h"
#include "util/ratelimit.h"
#include "vhca/events.h"

#define READY 32 /* descriptors looked at in one round */
#define BATCH 64 /* events read before the guest is told */
#define BATCHES 16
#define STREAK 4096 /* times BATCHES and BATCH, 4 Mi events, without an end: a flood */

/* Descriptors that had something: 2,048 at once, and 32 in each millisecond. */
static const struct ratelimit_rate read_rate = { .burst = 64, .interval_ms = 1, .parts = 32 };

/* How long to wait for room in the ring. */
#define RETRY_MS 1
#define RETRY_MOST_MS 1000

struct events {
	struct vhca *v;
	void *bits, *ring; /* the guest's pages; NULL: it wants to hear of nothing */
	uint32_t vectors;
	int epoll, wake, flood, counted;
	pthread_t thread;

	/* Under the lock of the vHCA: */
	struct vhca_async_back async;
	struct object port; /* the mask of port and device; it has no handle */
	bool behind;        /* something waits for room */
	bool stop;

	/* Of the thread alone: */
	unsigned int retry_ms;
	uint64_t retry_at_ms;
	struct ratelimit reads;
	bool more; /* a descriptor was left with something in it */
	bool more_watched;
};

/* What a descriptor is: a context's handle, and which one of its two. */
#define SOURCE(handle, async) ((uint64_t)(handle) << 1 | (async))
#define SOURCE_WAKE UINT64_MAX
#define SOURCE_WATCHES (UINT64_MAX - 1)

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

/* A vector whose bits have news; vector 0 also has the ring. */
static void notify(struct events *e, uint32_t vector)
{
	e->v->t->ops->notify(e->v->t, CHANNEL_EVENTS + vector);
}

/* Under the lock. The object's events, as far as there is room. False: some are left. */
static bool put_pending(struct events *e, struct object *obj)
{
	while (obj->pending) {
		const struct xen_vhca_async_event event = {
			.type = __builtin_ctz(obj->pending),
			.handle = obj->handle,
		};

		if (!vhca_async_put(&e->async, &event))
			return false;
		obj->pending &= obj->pending - 1;
		e->v->counters.asyncs++;
	}
	return true;
}

/* Under the lock. What waits already comes first. */
static void put(struct events *e, struct object *obj, uint32_t type)
{
	if (!e->ring)
		return;
	if (obj->pending >> type & 1) {
		vhca_async_lost(&e->async);
		e->v->counters.asyncs_lost++;
		return;
	}
	obj->pending |= 1u << type;
	if (!e->behind)
		e->behind = !put_pending(e, obj);
}

/* Under the lock. */
static void notify_of_counters(struct events *e)
{
	if (!e->v->counted)
		eventfd_write(e->counted, 1);
	e->v->counted = true;
}

void events_count(struct events *e)
{
	if (!e)
		return;
	pthread_mutex_lock(&e->v->lock);
	notify_of_counters(e);
	pthread_mutex_unlock(&e->v->lock);
}

/* Under the lock, before the guest is notified of what came at begun_ns. */
static void count_notify(struct events *e, uint64_t begun_ns)
{
	e->v->counters.event_notifies++;
	notify_of_counters(e);
	histogram_add(&e->v->counters.event_latency, clock_ns() - begun_ns);
}

/* Under the lock. Returns whether the guest is to be notified of what came after prod. */
static bool is_news(struct events *e, uint32_t prod, uint64_t begun_ns)
{
	if (e->async.prod == prod)
		return false;
	count_notify(e, begun_ns);
	return true;
}

void events_port(struct events *e, uint32_t type)
{
	const uint64_t begun = clock_ns();
	bool news, behind;
	uint32_t prod;

	pthread_mutex_lock(&e->v->lock);
	prod = e->async.prod;
	put(e, &e->port, type);
	news = is_news(e, prod, begun);
	behind = e->behind;
	pthread_mutex_unlock(&e->v->lock);
	if (news)
		notify(e, 0);
	if (behind)
		eventfd_write(e->wake, 1);
}

int events_mads_fd(struct events *e)
{
	const struct vhca_mads *mads;
	int fd;

	if (!e || !e->bits)
		return -1;
	mads = &e->v->mads;
	pthread_mutex_lock(&e->v->lock);
	fd = mads->ctx && !mads->told ? mads->fd : -1;
	pthread_mutex_unlock(&e->v->lock);
	return fd;
}

void events_mads(struct events *e)
{
	const uint64_t begun = clock_ns();
	struct vhca_mads *mads = &e->v->mads;
	uint32_t vector;
	bool news;

	pthread_mutex_lock(&e->v->lock);
	mads->told = true;
	news = mads->ctx && vhca_bit_set(e->bits, mads->event_bit);
	vector = events_vector(e, mads->event_bit);
	if (news)
		count_notify(e, begun);
	pthread_mutex_unlock(&e->v->lock);
	if (news)
		notify(e, vector);
}

/* Reading what a context has */

/* Under the lock. An object of a dying context is as good as gone. */
static struct object *find(struct events *e, uint64_t user, enum obj_type type)
{
	struct object *obj = handle_find(&e->v->handles, user, type);

	return obj && !obj->ctx->obj.dying ? obj : NULL;
}

/* Under the lock. Returns the vector to notify, as a bit; 0: none. */
static uint32_t set_bit(struct events *e, uint32_t bit)
{
	if (bit == XEN_VHCA_NO_EVENT || !vhca_bit_set(e->bits, bit))
		return 0;
	return 1u << events_vector(e, bit);
}

static void notify_completions(struct events *e, const uint64_t *users, unsigned int n,
			       uint64_t begun)
{
	uint32_t news = 0;
	struct object *obj;
	unsigned int i;

	pthread_mutex_lock(&e->v->lock);
	for (i = 0; i < n; i++) {
		obj = find(e, users[i], OBJ_CQ);
		if (obj)
			news |= set_bit(e, ((struct cq *)obj)->event_bit);
	}
	e->v->counters.completions += n;
	notify_of_counters(e);
	if (news)
		count_notify(e, begun);
	pthread_mutex_unlock(&e->v->lock);
	for (; news; news &= news - 1)
		notify(e, __builtin_ctz(news));
}

static bool read_completions(struct events *e, struct context *ctx)
{
	const struct hca_ops *ops = e->v->hca->ops;
	const uint64_t begun = clock_ns();
	uint64_t users[BATCH];
	unsigned int n = 0;

	while (n < BATCH && ops->next_completion(ctx->hca, &users[n]) > 0)
		n++;
	if (n)
		notify_completions(e, users, n, begun);
	return n < BATCH;
}

static enum obj_type type_of(uint32_t event)
{
	switch (vhca_async_kind(event)) {
	case VHCA_ASYNC_CQ:
		return OBJ_CQ;
	case VHCA_ASYNC_QP:
		return OBJ_QP;
	case VHCA_ASYNC_SRQ:
		return OBJ_SRQ;
	default: /* what each context hears of port and device, the worker hears as well */
		return OBJ_NONE;
	}
}

/* Under the lock. A queue that ends in an error may be a line in the log of this domain's kernel. */
static void count_fault(struct events *e, uint32_t event)
{
	switch (event) {
	case XEN_VHCA_ASYNC_CQ_ERR:
	case XEN_VHCA_ASYNC_QP_FATAL:
		vhca_fault(e->v, true);
		break;
	case XEN_VHCA_ASYNC_QP_ACCESS_ERR:
		vhca_fault(e->v, false);
		break;
	default:
		break;
	}
}

static void notify_asyncs(struct events *e, const struct hca_event *events, unsigned int n,
			  uint64_t begun)
{
	enum obj_type type;
	struct object *obj;
	unsigned int i;
	uint32_t prod;
	bool news;

	pthread_mutex_lock(&e->v->lock);
	prod = e->async.prod;
	for (i = 0; i < n; i++) {
		count_fault(e, events[i].type);
		type = type_of(events[i].type);
		obj = type ? find(e, events[i].user, type) : NULL;
		if (obj)
			put(e, obj, events[i].type);
	}
	news = is_news(e, prod, begun);
	pthread_mutex_unlock(&e->v->lock);
	if (news)
		notify(e, 0);
	if (vhca_is_faulty(e->v))
		eventfd_write(e->flood, 1);
}

static bool read_asyncs(struct events *e, struct context *ctx)
{
	const struct hca_ops *ops = e->v->hca->ops;
	const uint64_t begun = clock_ns();
	struct hca_event events[BATCH];
	unsigned int n = 0;

	while (n < BATCH && ops->next_event(ctx->hca, &events[n]) > 0)
		n++;
	if (n)
		notify_asyncs(e, events, n, begun);
	return n < BATCH;
}

void events_look(struct events *e, struct context *ctx)
{
	unsigned int i;

	for (i = 0; i < BATCHES && !read_asyncs(e, ctx); i++)
		;
}

/* What the transport has told of. */
static void read_watches(struct events *e)
{
	struct watches_got got = watches_read(e->v->watches);

	if (got.events) {
		pthread_mutex_lock(&e->v->lock);
		e->v->counters.read_behind += got.events;
		notify_of_counters(e);
		pthread_mutex_unlock(&e->v->lock);
	}
	if (got.flood)
		eventfd_write(e->flood, 1);
	if (got.more)
		eventfd_write(e->wake, 1);
	e->more_watched = got.more;
}

/* There is more: hear of it again. If there has been more for too long, that is not by chance. */
static void put_behind(struct events *e, struct context *ctx, int fd, uint64_t source)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u64 = source };

	epoll_ctl(e->epoll, EPOLL_CTL_MOD, fd, &event);
	e->more = true;
	if (++ctx->streak == STREAK)
		eventfd_write(e->flood, 1);
}

/* While we are in the context it is not closed, so its descriptors are its own. */
static void serve(struct events *e, uint64_t source)
{
	const struct hca_ops *ops = e->v->hca->ops;
	struct context *ctx = vhca_enter(e->v, source >> 1);
	bool async = source & 1, empty = false;
	unsigned int i;

	if (!ctx)
		return;
	for (i = 0; i < BATCHES && !empty; i++)
		empty = async ? read_asyncs(e, ctx) : read_completions(e, ctx);
	if (empty)
		ctx->streak = 0;
	else
		put_behind(e, ctx, async ? ops->event_fd(ctx->hca) : ops->completion_fd(ctx->hca),
			   source);
	vhca_leave(e->v, ctx);
}

/* The ring was full */

/* Under the lock. */
static bool put_all_pending(struct events *e)
{
	struct context *ctx;
	struct object *obj;

	if (!put_pending(e, &e->port))
		return false;
	LIST_FOREACH(ctx, &e->v->contexts, link)
		LIST_FOREACH(obj, &ctx->objects, link)
			if (!put_pending(e, obj))
				return false;
	return true;
}

static void retry(struct events *e)
{
	const uint64_t begun = clock_ns();
	uint32_t prod;
	bool news;

	pthread_mutex_lock(&e->v->lock);
	prod = e->async.prod;
	e->behind = !put_all_pending(e);
	news = is_news(e, prod, begun);
	pthread_mutex_unlock(&e->v->lock);
	if (news)
		notify(e, 0);
	e->retry_ms = news ? RETRY_MS : e->retry_ms * 2;
	if (e->retry_ms > RETRY_MOST_MS)
		e->retry_ms = RETRY_MOST_MS;
}

/* Returns how long the thread may sleep. */
static int catch_up(struct events *e)
{
	uint64_t now;
	bool behind;

	pthread_mutex_lock(&e->v->lock);
	behind = e->behind;
	pthread_mutex_unlock(&e->v->lock);
	if (!behind) {
		e->retry_ms = RETRY_MS;
		e->retry_at_ms = 0;
		return -1;
	}
	now = now_ms();
	if (now >= e->retry_at_ms) {
		if (e->retry_at_ms)
			retry(e);
		e->retry_at_ms = now + e->retry_ms;
	}
	return e->retry_at_ms - now;
}

static bool is_stopped(struct events *e)
{
	bool stop;

	pthread_mutex_lock(&e->v->lock);
	stop = e->stop;
	pthread_mutex_unlock(&e->v->lock);
	return stop;
}

/* After a look at n descriptors. Who is behind is not to be held up: what waits is in the kernel. */
static void keep_rate(struct events *e, unsigned int n)
{
	uint64_t now = now_ms();

	if (e->more)
		return;
	ratelimit_spend_parts(&e->reads, &read_rate, n, now);
	if (ratelimit_wait_ms(&e->reads, &read_rate, now))
		poll(NULL, 0, ratelimit_wait_ms(&e->reads, &read_rate, now));
}

static void *run(void *arg)
{
	struct epoll_event ready[READY];
	struct events *e = arg;
	eventfd_t count;
	int i, n, watched;

	while (!is_stopped(e)) {
		n = epoll_wait(e->epoll, ready, READY, catch_up(e));
		e->more = false;
		watched = 0;
		for (i = 0; i < n; i++) {
			if (ready[i].data.u64 == SOURCE_WAKE)
				eventfd_read(e->wake, &count);
			else if (ready[i].data.u64 != SOURCE_WATCHES)
				serve(e, ready[i].data.u64);
			else
				watched = 1;
		}
		if (watched || e->more_watched)
			read_watches(e);
		if (n > watched)
			keep_rate(e, n - watched);
	}
	return NULL;
}

/* Of watches it is said again as long as there are some, as they are taken piece by piece. */
static int watch(struct events *e, int fd, uint64_t source)
{
	const uint32_t edge = source == SOURCE_WATCHES ? 0 : EPOLLET;
	struct epoll_event event = { .events = EPOLLIN | edge, .data.u64 = source };

	return epoll_ctl(e->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int events_watch(struct events *e, const struct context *ctx)
{
	const struct hca_ops *ops = e->v->hca->ops;
	int err;

	err = watch(e, ops->completion_fd(ctx->hca), SOURCE(ctx->obj.handle, 0));
	if (err)
		return err;
	return watch(e, ops->event_fd(ctx->hca), SOURCE(ctx->obj.handle, 1));
}

bool events_told(const struct events *e)
{
	return e && e->ring;
}

uint32_t events_vector(const struct events *e, uint32_t bit)
{
	return vhca_event_vector(bit, e->vectors);
}

int events_flood_fd(const struct events *e)
{
	return e->flood;
}

int events_counted_fd(const struct events *e)
{
	return e->counted;
}

/* Setting up */

static int map_page(struct events *e, uint32_t ref, void **page)
{
	return e->v->t->ops->map(e->v->t, &ref, 1, false, NULL, page);
}

static int open_descriptors(struct events *e)
{
	int err;

	e->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (e->epoll < 0)
		return -errno;
	e->flood = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->flood < 0) {
		err = -errno;
		goto err_epoll;
	}
	e->counted = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->counted < 0) {
		err = -errno;
		goto err_flood;
	}
	e->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->wake < 0) {
		err = -errno;
		goto err_counted;
	}
	err = watch(e, e->wake, SOURCE_WAKE);
	if (!err && e->v->watches)
		err = watch(e, watches_fd(e->v->watches), SOURCE_WATCHES);
	if (!err)
		return 0;
	close(e->wake);
err_counted:
	close(e->counted);
err_flood:
	close(e->flood);
err_epoll:
	close(e->epoll);
	return err;
}

static void close_descriptors(struct events *e)
{
	close(e->wake);
	close(e->counted);
	close(e->flood);
	close(e->epoll);
}

static void unmap_page(void *page)
{
	if (page)
		munmap(page, XEN_VHCA_PAGE_SIZE);
}

static int bind_channels(struct events *e, const struct events_params *params)
{
	struct vhca *v = e->v;
	uint32_t i;
	int err;

	err = watches_open(v->hca, v->t, params->cq_ref, params->channels, params->vectors,
			   &v->watches);
	if (err != -EOPNOTSUPP)
		return err;
	err = 0;
	for (i = 0; !err && i < params->vectors; i++)
		err = v->t->ops->bind(v->t, CHANNEL_EVENTS + i, params->channels[i]);
	return err;
}

/* *what: at what it failed. */
static int connect_guest(struct events *e, const struct events_params *params, const char **what)
{
	int err;

	*what = "mapping the page of completion events";
	err = map_page(e, params->cq_ref, &e->bits);
	if (err)
		return err;
	*what = "mapping the page of asynchronous events";
	err = map_page(e, params->async_ref, &e->ring);
	if (err)
		goto err_bits;
	vhca_async_back_init(&e->async, e->ring);
	*what = "binding the event channel of events";
	err = bind_channels(e, params);
	if (!err)
		return 0;

	unmap_page(e->ring);
err_bits:
	unmap_page(e->bits);
	return err;
}

struct events *events_new(struct vhca *v, const struct events_params *params, char *why,
			  size_t size)
{
	struct events *e = calloc(1, sizeof(*e));
	const char *what = "memory for events";
	int err = -ENOMEM;

	if (!e)
		goto err_why;
	e->v = v;
	e->vectors = params ? params->vectors : 1;
	if (params) {
		err = connect_guest(e, params, &what);
		if (err)
			goto err_free;
	}
	what = "watching for events";
	err = open_descriptors(e);
	if (err)
		goto err_pages;
	err = -pthread_create(&e->thread, NULL, run, e);
	if (!err)
		return e;

	close_descriptors(e);
err_pages:
	watches_close(v->watches);
	v->watches = NULL;
	unmap_page(e->ring);
	unmap_page(e->bits);
err_free:
	free(e);
err_why:
	snprintf(why, size, "%s: %s", what, strerror(-err));
	return NULL;
}

void events_free(struct events *e)
{
	struct context *ctx;

	if (!e)
		return;
	pthread_mutex_lock(&e->v->lock);
	e->stop = true;
	pthread_mutex_unlock(&e->v->lock);
	eventfd_write(e->wake, 1);
	pthread_join(e->thread, NULL);
	LIST_FOREACH(ctx, &e->v->contexts, link) {
		events_look(e, ctx);
		vhca_end_watches(e->v, ctx);
	}
	watches_close(e->v->watches);
	e->v->watches = NULL;
	close_descriptors(e);
	unmap_page(e->ring);
	unmap_page(e->bits);
	free(e);
}
