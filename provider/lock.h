/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * lock.h - a spin lock that is not there when only one thread uses what it protects: in a process
 * that says so (XENIB_SINGLE_THREADED=1), for a CQ made IBV_CREATE_CQ_ATTR_SINGLE_THREADED, and in
 * a thread domain.
 */
#ifndef XENIB_LOCK_H
#define XENIB_LOCK_H

#include <pthread.h>
#include <stdbool.h>

struct xenib_lock {
	pthread_spinlock_t spin;
	bool shared; /* false: locking does nothing */
};

static inline void xenib_lock_init(struct xenib_lock *lock, bool shared)
{
	pthread_spin_init(&lock->spin, PTHREAD_PROCESS_PRIVATE);
	lock->shared = shared;
}

static inline void xenib_lock(struct xenib_lock *lock)
{
	if (lock->shared)
		pthread_spin_lock(&lock->spin);
}

static inline void xenib_unlock(struct xenib_lock *lock)
{
	if (lock->shared)
		pthread_spin_unlock(&lock->spin);
}

#endif
