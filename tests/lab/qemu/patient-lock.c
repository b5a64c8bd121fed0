// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * patient-lock.so, preloaded into QEMU: who finds a mutex taken waits awake for a moment before it
 * sleeps.
 *
 * Every access to a device's registers is made under QEMU's big lock. The vCPU that rings a
 * doorbell wakes the HCA model, which the host's scheduler runs at once and on the same CPU; the
 * vCPU still has the lock then. So the answer of another vCPU, a few microseconds later, finds the
 * lock taken, and being put to sleep and woken again takes longer than the whole message does.
 */
#include <dlfcn.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdlib.h>

#define TRIES 400 /* some 20 us; the model needs about 5 for a small message */

static int (*sleeping_lock)(pthread_mutex_t *mutex);

__attribute__((constructor)) static void find_sleeping_lock(void)
{
	if (sleeping_lock)
		return;
	*(void **)&sleeping_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	if (!sleeping_lock)
		abort();
}

/* As POSIX has it: what trylock() cannot get is left to the original, with all its errors. */
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	for (unsigned int i = 0; i < TRIES; i++) {
		if (!pthread_mutex_trylock(mutex))
			return 0;
		_mm_pause();
	}
	find_sleeping_lock(); /* other constructors may be before ours */
	return sleeping_lock(mutex);
}
