// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The event loop: epoll for descriptors, a binary heap for timers, a list for deferred work. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

#define NS_PER_SEC 1000000000ull
#define NS_PER_MS 1000000ull
#define EVENTS_PER_TURN 64
#define CHAIN_NS 20000ull /* how long a register read may have to wait for a chain of work */

struct loop {
	int epoll;
	unsigned int fds; /* watched */
	bool stop;
	bool frozen; /* the clock is ours to move */
	uint64_t frozen_now;

	/* Events being handed out; loop_fd_del() takes its own out of them. */
	struct epoll_event events[EVENTS_PER_TURN];
	int event, event_count;

	struct loop_timer **heap; /* the earliest first */
	uint32_t timers, heap_size;

	struct loop_work work; /* head of a ring */
};

static void work_ring_init(struct loop_work *head)
{
	head->next = head;
	head->pprev = &head->next;
}

struct loop *loop_new(void)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		return NULL;
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll < 0) {
		free(loop);
		return NULL;
	}
	work_ring_init(&loop->work);
	return loop;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	while (loop->work.next != &loop->work)
		loop_work_cancel(loop->work.next);
	while (loop->timers)
		loop_timer_cancel(loop, loop->heap[0]);
	close(loop->epoll);
	free(loop->heap);
	free(loop);
}

int loop_fd_add(struct loop *loop, struct loop_fd *fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = fd };

	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd->fd, &ev))
		return -errno;
	loop->fds++;
	return 0;
}

int loop_fd_mod(struct loop *loop, struct loop_fd *fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = fd };

	return epoll_ctl(loop->epoll, EPOLL_CTL_MOD, fd->fd, &ev) ? -errno : 0;
}

void loop_fd_del(struct loop *loop, struct loop_fd *fd)
{
	if (!epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd->fd, NULL))
		loop->fds--;
	for (int i = loop->event; i < loop->event_count; i++) {
		if (loop->events[i].data.ptr == fd)
			loop->events[i].data.ptr = NULL;
	}
}

uint64_t loop_now(struct loop *loop)
{
	struct timespec ts;

	if (loop->frozen)
		return loop->frozen_now;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

void loop_clock_advance(struct loop *loop, uint64_t ns)
{
	loop->frozen_now = loop_now(loop) + ns;
	loop->frozen = true;
}

bool loop_restart(struct loop *loop)
{
	loop->frozen_now = 0;
	loop->frozen = true;
	return !loop->timers && loop->work.next == &loop->work;
}

/* The heap: a timer's slot is its index + 1 all the time. */
static void heap_place(struct loop *loop, uint32_t i, struct loop_timer *timer)
{
	loop->heap[i] = timer;
	timer->slot = i + 1;
}

static void heap_up(struct loop *loop, uint32_t i, struct loop_timer *timer)
{
	while (i) {
		uint32_t parent = (i - 1) / 2;

		if (loop->heap[parent]->deadline <= timer->deadline)
			break;
		heap_place(loop, i, loop->heap[parent]);
		i = parent;
	}
	heap_place(loop, i, timer);
}

static void heap_down(struct loop *loop, uint32_t i, struct loop_timer *timer)
{
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= loop->timers)
			break;
		if (child + 1 < loop->timers &&
		    loop->heap[child + 1]->deadline < loop->heap[child]->deadline)
			child++;
		if (timer->deadline <= loop->heap[child]->deadline)
			break;
		heap_place(loop, i, loop->heap[child]);
		i = child;
	}
	heap_place(loop, i, timer);
}

/* Timers are a fixed few for each object, so what the heap needs is small beside the objects. */
static void heap_grow(struct loop *loop)
{
	uint32_t size = loop->heap_size ? 2 * loop->heap_size : 1024;
	struct loop_timer **heap = realloc(loop->heap, size * sizeof(*heap));

	if (!heap) {
		perror("timers");
		abort();
	}
	loop->heap = heap;
	loop->heap_size = size;
}

void loop_timer_cancel(struct loop *loop, struct loop_timer *timer)
{
	struct loop_timer *last;
	uint32_t i;

	if (!timer->slot)
		return;
	i = timer->slot - 1;
	timer->slot = 0;
	last = loop->heap[--loop->timers];
	if (last == timer)
		return;
	if (i && last->deadline < loop->heap[(i - 1) / 2]->deadline)
		heap_up(loop, i, last);
	else
		heap_down(loop, i, last);
}

void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t delay_ns)
{
	uint64_t now = loop_now(loop);

	loop_timer_cancel(loop, timer);
	if (loop->timers == loop->heap_size)
		heap_grow(loop);
	timer->deadline = delay_ns > UINT64_MAX - now ? UINT64_MAX : now + delay_ns;
	loop->timers++;
	heap_up(loop, loop->timers - 1, timer);
}

/*
 * The ring of work: next points to an entry, pprev to the next field of the one before, so
 * that an entry can leave whichever ring it is in without knowing it.
 */
void loop_work_queue(struct loop *loop, struct loop_work *work)
{
	struct loop_work *head = &loop->work;

	if (work->pprev)
		return;
	work->next = head;
	work->pprev = head->pprev;
	*head->pprev = work;
	head->pprev = &work->next;
}

void loop_work_cancel(struct loop_work *work)
{
	if (!work->pprev)
		return;
	*work->pprev = work->next;
	work->next->pprev = work->pprev;
	work->next = NULL;
	work->pprev = NULL;
}

/* How long to wait, in ns; -1 for ever. */
static int64_t wait_ns(struct loop *loop, int timeout_ms)
{
	int64_t wait = timeout_ms < 0 ? -1 : (int64_t)timeout_ms * (int64_t)NS_PER_MS;
	uint64_t now, first;

	if (loop->work.next != &loop->work || loop->stop)
		return 0;
	if (!loop->timers)
		return wait;
	now = loop_now(loop);
	first = loop->heap[0]->deadline;
	if (first <= now)
		return 0;
	if (loop->frozen || first - now > INT64_MAX)
		return wait;
	if (wait < 0 || (uint64_t)wait > first - now)
		wait = (int64_t)(first - now);
	return wait;
}

/* Timers are as fine as microseconds (ACK and RNR timeouts), so milliseconds will not do. */
static int wait_events(struct loop *loop, int64_t ns)
{
	struct timespec ts = { .tv_sec = ns / (int64_t)NS_PER_SEC,
			       .tv_nsec = ns % (int64_t)NS_PER_SEC };
	int n;

	if (!ns && !loop->fds)
		return 0;
	if (!ns)
		n = epoll_wait(loop->epoll, loop->events, EVENTS_PER_TURN, 0);
	else
		n = epoll_pwait2(loop->epoll, loop->events, EVENTS_PER_TURN, ns < 0 ? NULL : &ts,
				 NULL);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return n;
}

static int run_events(struct loop *loop, int n)
{
	int called = 0;

	loop->event_count = n;
	for (loop->event = 0; loop->event < loop->event_count; loop->event++) {
		struct epoll_event *ev = &loop->events[loop->event];
		struct loop_fd *fd = ev->data.ptr;

		if (!fd)
			continue;
		fd->handler(fd, ev->events);
		called++;
	}
	loop->event_count = 0;
	return called;
}

/* Those due at the start, each at most once: a handler that sets its timer to 0 is not called again in this turn. */
static int run_timers(struct loop *loop)
{
	uint32_t limit = loop->timers;
	uint64_t now;
	int called = 0;

	if (!limit)
		return 0;
	now = loop_now(loop);
	while (limit-- && loop->timers && loop->heap[0]->deadline <= now) {
		struct loop_timer *timer = loop->heap[0];

		loop_timer_cancel(loop, timer);
		timer->handler(timer);
		called++;
	}
	return called;
}

static int run_work(struct loop *loop)
{
	struct loop_work batch;
	int called = 0;

	if (loop->work.next == &loop->work)
		return 0;
	batch.next = loop->work.next;
	batch.pprev = loop->work.pprev;
	batch.next->pprev = &batch.next;
	*batch.pprev = &batch;
	work_ring_init(&loop->work);

	while (batch.next != &batch) {
		struct loop_work *work = batch.next;

		loop_work_cancel(work);
		work->handler(work);
		called++;
	}
	return called;
}

int loop_turn(struct loop *loop, int timeout_ms)
{
	int n = wait_events(loop, wait_ns(loop, timeout_ms));
	int called;

	if (n < 0)
		return n;
	called = run_events(loop, n);
	called += run_timers(loop);
	called += run_work(loop);
	return called;
}

/*
 * A doorbell leads to a chain of work: a WQE, its packet, what the packet does, the ACK. The
 * descriptors are not looked at after each link: that would be most of what a small message
 * takes, and the CPU may be the one of the machine that rang.
 */
static void run_chain(struct loop *loop)
{
	uint64_t end;

	if (loop->work.next == &loop->work)
		return;
	end = loop_now(loop) + CHAIN_NS;
	do
		run_work(loop);
	while (loop->work.next != &loop->work && !loop->stop && loop_now(loop) < end);
}

int loop_run(struct loop *loop)
{
	while (!loop->stop) {
		int n = loop_turn(loop, -1);

		if (n < 0)
			return n;
		run_chain(loop);
	}
	loop->stop = false;
	return 0;
}

void loop_stop(struct loop *loop)
{
	loop->stop = true;
}
