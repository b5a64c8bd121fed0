// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * wire.c - see wire.h.
 */
#include <errno.h>
#include <unistd.h>

#include "broker/wire.h"

int broker_receive(int fd, void *data, size_t size)
{
	ssize_t got;

	for (; size; size -= got, data = (char *)data + got) {
		got = read(fd, data, size);
		if (!got)
			return -EPIPE;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got < 0)
			got = 0;
	}
	return 0;
}

int broker_send(int fd, const void *data, size_t size)
{
	ssize_t sent;

	for (; size; size -= sent, data = (const char *)data + sent) {
		sent = write(fd, data, size);
		if (sent < 0 && errno != EINTR)
			return -errno;
		if (sent < 0)
			sent = 0;
	}
	return 0;
}
