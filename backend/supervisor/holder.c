// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * holder.c - see holder.h. The conversation and the loop; holder_process.c has the process.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "supervisor/holder.h"
#include "util/log.h"

#define LOOK_MS 10000 /* how often an orphan looks after domains */

struct held {
	struct holder_msg name;
	int fds[HOLDER_FDS];
	LIST_ENTRY(held) link;
};

struct holder {
	LIST_HEAD(held_list, held) pools;
	int listener, sock; /* sock: of the supervisor, or -1 */
	holder_alive *alive;
	void *from;
};

/* The conversation */

int holder_send(int sock, enum holder_op op, uint32_t domid, uint32_t devid, const char *hca,
		const int fds[HOLDER_FDS])
{
	struct holder_msg msg = {
		.magic = HOLDER_MAGIC, .version = HOLDER_VERSION, .op = op, .domid = domid, .devid = devid,
	};
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(HOLDER_FDS * sizeof(int))];
	} control = { 0 };
	struct iovec part = { &msg, sizeof(msg) };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *c;

	strncpy(msg.hca, hca ?: "", sizeof(msg.hca) - 1);
	if (fds) {
		header.msg_control = control.space;
		header.msg_controllen = sizeof(control.space);
		c = CMSG_FIRSTHDR(&header);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(HOLDER_FDS * sizeof(int));
		memcpy(CMSG_DATA(c), fds, HOLDER_FDS * sizeof(int));
	}
	if (sendmsg(sock, &header, MSG_NOSIGNAL) == sizeof(msg))
		return 0;
	return -errno;
}

static void close_fds(const int *fds, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		close(fds[i]);
}

/* The descriptors of a message; false if they are not two or none. */
static bool take_fds(struct msghdr *header, int fds[HOLDER_FDS], unsigned int *n)
{
	struct cmsghdr *c;
	unsigned int got;

	*n = 0;
	for (c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		got = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		if (got != HOLDER_FDS || *n) {
			close_fds((int *)CMSG_DATA(c), got);
			close_fds(fds, *n);
			*n = 0;
			return false;
		}
		memcpy(fds, CMSG_DATA(c), HOLDER_FDS * sizeof(int));
		*n = HOLDER_FDS;
	}
	return !(header->msg_flags & MSG_CTRUNC);
}

static bool is_sane(const struct holder_msg *msg, ssize_t length, unsigned int n_fds)
{
	if (length != sizeof(*msg) || msg->magic != HOLDER_MAGIC)
		return false;
	if (!memchr(msg->hca, 0, sizeof(msg->hca)))
		return false;
	return msg->op == HOLDER_POOL ? n_fds == HOLDER_FDS && msg->hca[0] : !n_fds;
}

/* Room for more descriptors than there may be, so that none is lost without being noticed. */
int holder_receive(int sock, struct holder_msg *msg, int fds[HOLDER_FDS])
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(16 * sizeof(int))];
	} control;
	struct iovec part = { msg, sizeof(*msg) };
	struct msghdr header = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = control.space, .msg_controllen = sizeof(control.space),
	};
	unsigned int n_fds;
	ssize_t length;
	bool whole;

	do
		length = recvmsg(sock, &header, MSG_CMSG_CLOEXEC);
	while (length < 0 && errno == EINTR);
	if (length < 0)
		return errno == ECONNRESET ? 0 : -errno;
	whole = take_fds(&header, fds, &n_fds) && !(header.msg_flags & MSG_TRUNC);
	if (!length && !n_fds && whole)
		return 0;
	if (whole && is_sane(msg, length, n_fds))
		return 1;
	close_fds(fds, n_fds);
	return -EPROTO;
}

int holder_list(int sock, holder_pool_fn *fn, void *to)
{
	struct holder_msg msg;
	int fds[HOLDER_FDS];
	bool hello = false;
	int got;

	while ((got = holder_receive(sock, &msg, fds)) > 0) {
		if (msg.op == HOLDER_HELLO) {
			if (hello || msg.version != HOLDER_VERSION)
				return -EPROTO;
			hello = true;
		} else if (msg.op == HOLDER_POOL && hello) {
			fn(to, &msg, fds);
		} else if (msg.op == HOLDER_POOL) {
			close_fds(fds, HOLDER_FDS);
			return -EPROTO;
		} else if (msg.op == HOLDER_END) {
			return hello ? 0 : -EPROTO;
		}
	}
	return got ?: -ECONNRESET;
}

/* What is held */

static struct held *find(struct holder *h, const struct holder_msg *name)
{
	struct held *held;

	LIST_FOREACH(held, &h->pools, link)
		if (held->name.domid == name->domid && held->name.devid == name->devid &&
		    !strcmp(held->name.hca, name->hca))
			return held;
	return NULL;
}

static void drop(struct held *held)
{
	if (!held)
		return;
	LIST_REMOVE(held, link);
	close_fds(held->fds, HOLDER_FDS);
	free(held);
}

/* The old one goes after the new one is there. */
static void hold(struct holder *h, const struct holder_msg *name, const int fds[HOLDER_FDS])
{
	struct held *held = calloc(1, sizeof(*held)), *old = find(h, name);

	if (!held) {
		log_error("no memory to hold a UAR pool");
		close_fds(fds, HOLDER_FDS);
		return;
	}
	held->name = *name;
	memcpy(held->fds, fds, sizeof(held->fds));
	LIST_INSERT_HEAD(&h->pools, held, link);
	drop(old);
}

static void drop_of_dead_domains(struct holder *h)
{
	struct held *held, *next;

	for (held = LIST_FIRST(&h->pools); held; held = next) {
		next = LIST_NEXT(held, link);
		if (!h->alive(h->from, held->name.domid))
			drop(held);
	}
}

/* The loop */

static void hang_up(struct holder *h)
{
	if (h->sock >= 0)
		close(h->sock);
	h->sock = -1;
}

static int notify_all(struct holder *h)
{
	struct held *held;
	int err;

	err = holder_send(h->sock, HOLDER_HELLO, 0, 0, NULL, NULL);
	LIST_FOREACH(held, &h->pools, link)
		if (!err)
			err = holder_send(h->sock, HOLDER_POOL, held->name.domid, held->name.devid,
					  held->name.hca, held->fds);
	return err ?: holder_send(h->sock, HOLDER_END, 0, 0, NULL, NULL);
}

static bool is_ours(int sock)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	return !getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &length) && peer.uid == geteuid();
}

static bool accept_supervisor(struct holder *h)
{
	struct timeval timeout = { .tv_sec = HOLDER_TIMEOUT_S };
	int sock = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);

	if (sock < 0)
		return errno == EINTR || errno == ECONNABORTED || errno == EAGAIN;
	if (!is_ours(sock)) {
		close(sock);
		return true;
	}
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	h->sock = sock;
	if (notify_all(h))
		hang_up(h);
	return true;
}

static void listen_to_supervisor(struct holder *h)
{
	struct holder_msg msg;
	int fds[HOLDER_FDS], got;

	got = holder_receive(h->sock, &msg, fds);
	if (got <= 0) {
		if (got == -EPROTO)
			log_error("malformed message");
		hang_up(h);
	} else if (msg.op == HOLDER_POOL) {
		hold(h, &msg, fds);
	} else if (msg.op == HOLDER_DROP) {
		drop(find(h, &msg));
	}
}

/* The first supervisor may take its time to come, so there is an end only after one has gone. */
static void serve(struct holder *h)
{
	struct pollfd polls = { .events = POLLIN };
	bool had_one = false;
	int got;

	while (h->sock >= 0 || !had_one || !LIST_EMPTY(&h->pools)) {
		polls.fd = h->sock >= 0 ? h->sock : h->listener;
		got = poll(&polls, 1, LOOK_MS);
		if (got < 0 && errno != EINTR)
			return;
		if (got > 0 && h->sock >= 0) {
			listen_to_supervisor(h);
		} else if (got > 0) {
			if (!accept_supervisor(h))
				return;
			had_one = true;
		}
		if (h->sock < 0)
			drop_of_dead_domains(h);
	}
}

unsigned int holder_run(int listener, holder_alive *alive, void *from)
{
	struct holder h = { .listener = listener, .sock = -1, .alive = alive, .from = from };
	unsigned int left = 0;

	LIST_INIT(&h.pools);
	serve(&h);
	hang_up(&h);
	while (!LIST_EMPTY(&h.pools)) {
		drop(LIST_FIRST(&h.pools));
		left++;
	}
	return left;
}
