/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The event loop: file descriptors, timers and deferred work, one thread.
 *
 * Nothing in the model blocks or spins: a handler does a bounded piece of work and
 * returns, because QEMU waits for register reads to be answered.
 */
#ifndef HCA_LOOP_H
#define HCA_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;

/* A watched descriptor. Embed it; the handler gets the epoll event mask. */
struct loop_fd {
	int fd;
	void (*handler)(struct loop_fd *fd, uint32_t events);
};

/* A one-shot timer. Embed it and zero it; loop_timer_set() may be called in the handler. */
struct loop_timer {
	void (*handler)(struct loop_timer *timer);
	uint64_t deadline; /* private: ns on the loop's clock */
	uint32_t slot;     /* private: place in the heap + 1; 0 = not set */
};

/*
 * A piece of deferred work, run once for each time it was queued, after the descriptors
 * that were ready have been served. A handler with more to do queues itself again.
 */
struct loop_work {
	void (*handler)(struct loop_work *work);
	struct loop_work *next, **pprev; /* private; pprev == NULL: not queued */
};

/* Returns NULL with errno set. The caller owns the loop. */
struct loop *loop_new(void);
void loop_free(struct loop *loop);

/* Adds fd->fd with EPOLLIN | EPOLLHUP etc. Returns 0 or -errno. The memory stays the caller's. */
int loop_fd_add(struct loop *loop, struct loop_fd *fd, uint32_t events);
/* Other events for a descriptor that was added. Returns 0 or -errno. */
int loop_fd_mod(struct loop *loop, struct loop_fd *fd, uint32_t events);
/*
 * Removes it (does not close); its handler is not called again. Safe within handlers, also
 * for a descriptor whose event is still to be handed out: its memory may be freed at once.
 */
void loop_fd_del(struct loop *loop, struct loop_fd *fd);

/* Nanoseconds, monotonic. Tests may run on a clock of their own (loop_clock_advance()). */
uint64_t loop_now(struct loop *loop);
/* Freezes the clock (first call) and moves it forward by ns: for unit tests and fuzzers. */
void loop_clock_advance(struct loop *loop, uint64_t ns);
/* The frozen clock starts at 0 again: for fuzzers. False if a timer is set or work is queued. */
bool loop_restart(struct loop *loop);

void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t delay_ns);
void loop_timer_cancel(struct loop *loop, struct loop_timer *timer);
static inline bool loop_timer_pending(const struct loop_timer *timer)
{
	return timer->slot != 0;
}

void loop_work_queue(struct loop *loop, struct loop_work *work);
void loop_work_cancel(struct loop_work *work);
static inline bool loop_work_pending(const struct loop_work *work)
{
	return work->pprev != 0;
}

/*
 * One turn: waits at most timeout_ms (-1: for ever; shortened by timers, 0 when work is
 * queued), serves descriptors, due timers, then the work queued at that moment.
 * Returns the number of handlers called, or -errno.
 */
int loop_turn(struct loop *loop, int timeout_ms);
/* Turns until loop_stop(). Work that the work of a turn has queued need not wait for the next one: see loop.c. */
int loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

#endif
