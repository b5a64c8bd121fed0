/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * poll_set.h - descriptors that are waited for again and again. poll() asks each of them whenever it is called and
 * when it returns, which costs a worker more than the command that it is woken for; epoll asks those that have
 * something. Not for more than one thread.
 */
#ifndef XEN_IB_UTIL_POLL_SET_H
#define XEN_IB_UTIL_POLL_SET_H

#include <stdint.h>

#define POLL_SET_MOST 32u

struct poll_set {
	int epoll;
	struct {
		int fd;
		uint32_t events;
	} members[POLL_SET_MOST];
};

/* poll_set_init - without members. Returns 0 or -errno. */
int poll_set_init(struct poll_set *set);

void poll_set_fini(struct poll_set *set);

/*
 * poll_set_put - member number i is this descriptor from now on, with events as poll() has them; -1: there is none.
 * Costs nothing if it was so before, so a descriptor has to be taken out before it is closed. Returns 0 or -errno:
 * -EEXIST if another member has this descriptor.
 */
int poll_set_put(struct poll_set *set, unsigned int i, int fd, uint32_t events);

/*
 * poll_set_wait - waits as poll() does, -1: for ever. Sets found[i] to what member i has, for all up to POLL_SET_MOST.
 * Returns 0, also for a signal, or -errno.
 */
int poll_set_wait(struct poll_set *set, int timeout_ms, uint32_t found[POLL_SET_MOST]);

#endif
