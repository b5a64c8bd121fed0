// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * poll_set.c - see poll_set.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "util/poll_set.h"

int poll_set_init(struct poll_set *set)
{
	unsigned int i;

	for (i = 0; i < POLL_SET_MOST; i++)
		set->members[i].fd = -1;
	set->epoll = epoll_create1(EPOLL_CLOEXEC);
	return set->epoll < 0 ? -errno : 0;
}

void poll_set_fini(struct poll_set *set)
{
	close(set->epoll);
}

int poll_set_put(struct poll_set *set, unsigned int i, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u32 = i };
	int old = set->members[i].fd;

	if (fd == old && (fd < 0 || events == set->members[i].events))
		return 0;
	if (old >= 0 && old != fd) {
		if (epoll_ctl(set->epoll, EPOLL_CTL_DEL, old, NULL))
			return -errno;
		old = set->members[i].fd = -1;
	}
	if (fd < 0)
		return 0;
	if (epoll_ctl(set->epoll, old < 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event))
		return -errno;
	set->members[i].fd = fd;
	set->members[i].events = events;
	return 0;
}

int poll_set_wait(struct poll_set *set, int timeout_ms, uint32_t found[POLL_SET_MOST])
{
	struct epoll_event events[POLL_SET_MOST];
	int n, i;

	memset(found, 0, POLL_SET_MOST * sizeof(found[0]));
	n = epoll_wait(set->epoll, events, POLL_SET_MOST, timeout_ms);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (i = 0; i < n; i++)
		found[events[i].data.u32] = events[i].events;
	return 0;
}
