// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * pass_fds.c - see pass_fds.h.
 */
#include <sys/socket.h>

#include "unit/fakes/pass_fds.h"

ssize_t pass_fds(int sock, const void *data, size_t size, int fd, unsigned int n_fds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(PASS_FDS_MOST * sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)data, size };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *c;
	unsigned int i;

	if (n_fds) {
		header.msg_control = control.space;
		header.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&header);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		for (i = 0; i < n_fds; i++)
			((int *)CMSG_DATA(c))[i] = fd;
	}
	return sendmsg(sock, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
}
