// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_holder.c - any messages with any descriptors to somebody who expects UAR pools: what is handed
 * out is whole, and nothing stays open.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/holder.h"
#include "unit/fakes/pass_fds.h"
#include "unit/fakes/fixture.h"
#include "util/log.h"

#define MOST_FDS 20 /* more than the receiver has room for */

/* The next descriptor that is opened has this number, unless one has been left open. */
static int next_fd(void)
{
	int fd = open("/dev/null", O_RDONLY);

	CHECK(fd >= 0);
	close(fd);
	return fd;
}

static void take(void *to, const struct holder_msg *msg, const int fds[HOLDER_FDS])
{
	(void)to;
	CHECK(msg->op == HOLDER_POOL && msg->hca[0] && memchr(msg->hca, 0, sizeof(msg->hca)));
	CHECK(!close(fds[HOLDER_FILE]) && !close(fds[HOLDER_TABLE]));
}

/* A byte with the number of descriptors, one with the length, and so many bytes; again and again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int pair[2], before = next_fd();
	size_t length;

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	while (size >= 2) {
		length = data[1] < size - 2 ? data[1] : size - 2;
		pass_fds(pair[1], data + 2, length, pair[1], data[0] % (MOST_FDS + 1));
		data += 2 + length;
		size -= 2 + length;
	}
	close(pair[1]);
	CHECK(holder_list(pair[0], take, NULL) <= 0);
	close(pair[0]);
	CHECK(next_fd() == before);
	return 0;
}
