// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The connection of a vfio-user client: takes messages with their descriptors out of the stream,
 * many with one system call where they are small and posted (doorbells), and sends the replies.
 *
 * What is buffered is bounded: nothing more is read while a reply waits for room in the socket.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/dma.h"
#include "bus/vfio_user.h"
#include "bus/vfio_user_msg.h"
#include "container.h"
#include "sock.h"

#define INPUT_SIZE (2 * VFU_MAX_MESSAGE)
#define READS_PER_TURN 4 /* then the others have their turn; epoll tells of the rest again */

/* Descriptors that have come, for the message that starts at offset at of the input. */
struct fd_set_in {
	int fds[VFU_MAX_FDS];
	unsigned int count;
	size_t at;
};

struct vfio_user {
	struct loop *loop;
	struct vfu_function function;
	struct loop_fd listener, client; /* fd -1: none */
	char path[SOCK_PATH_MAX];

	uint8_t in[INPUT_SIZE];
	size_t in_len;
	struct fd_set_in in_fds;

	uint8_t reply[sizeof(struct vfu_region_access) + VFU_MAX_DATA];
	uint8_t out[sizeof(struct vfu_header) + sizeof(struct vfu_region_access) + VFU_MAX_DATA];
	size_t out_len, out_done; /* of a reply that did not fit */
};

static void close_fds(int *fds, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

/* The machine is gone, one way or the other. */
static void unplug(struct vfio_user *v)
{
	if (v->client.fd < 0)
		return;
	loop_fd_del(v->loop, &v->client);
	close(v->client.fd);
	v->client.fd = -1;
	close_fds(v->in_fds.fds, v->in_fds.count);
	v->in_fds.count = 0;
	v->in_len = 0;
	v->out_len = 0;
	v->out_done = 0;
	v->function.negotiated = false;
	vfu_function_reset(&v->function);
	msix_fini(&v->function.msix);
	dma_unmap_all(v->function.hca->dma);
	hca_log(v->function.hca, HCA_LOG_INFO, "unplugged");
}

static void protocol_error(struct vfio_user *v, const char *why)
{
	hca_log(v->function.hca, HCA_LOG_ERROR, "vfio-user client is disconnected: %s", why);
	unplug(v);
}

static void want_output(struct vfio_user *v, bool on)
{
	loop_fd_mod(v->loop, &v->client, on ? EPOLLOUT : EPOLLIN);
}

/* Sends what is left of a reply. False if the client is gone. */
static bool flush_output(struct vfio_user *v)
{
	while (v->out_done < v->out_len) {
		ssize_t n = send(v->client.fd, v->out + v->out_done, v->out_len - v->out_done,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n < 0) {
			unplug(v);
			return false;
		}
		v->out_done += (size_t)n;
	}
	v->out_done = 0;
	v->out_len = 0;
	return true;
}

static bool send_reply(struct vfio_user *v, const struct vfu_msg *msg, int err)
{
	uint32_t len = err ? 0 : msg->reply_len;
	const struct vfu_header h = {
		.id = msg->header.id,
		.command = msg->header.command,
		.size = (uint32_t)sizeof(h) + len,
		.flags = VFU_FLAG_REPLY | (err ? VFU_FLAG_ERROR : 0),
		.error = (uint32_t)-err,
	};

	memcpy(v->out, &h, sizeof(h));
	memcpy(v->out + sizeof(h), msg->reply, len);
	v->out_len = h.size;
	v->out_done = 0;
	return flush_output(v);
}

/* False if the client is gone. */
static bool handle(struct vfio_user *v, struct vfu_msg *msg)
{
	int ret = vfu_execute(&v->function, msg);

	close_fds(msg->fds, msg->fd_count);
	if (ret == -EPROTO) {
		protocol_error(v, "it does not speak version 0 of the protocol");
		return false;
	}
	if (ret)
		hca_log(v->function.hca, HCA_LOG_INFO, "vfio-user command %u of %u bytes: %s",
			msg->header.command, msg->header.size, strerror(-ret));
	if (msg->header.flags & VFU_FLAG_NO_REPLY)
		return true;
	return send_reply(v, msg, ret);
}

/* NULL, or what is wrong with the header. */
static const char *header_fault(const struct vfu_header *h)
{
	if (h->size < sizeof(*h) || h->size > VFU_MAX_MESSAGE)
		return "impossible message size";
	if (h->flags & VFU_FLAG_TYPE)
		return "a reply to nothing, or an unknown type of message";
	if (h->flags & ~(VFU_FLAG_TYPE | VFU_FLAG_NO_REPLY))
		return "unknown flags";
	return NULL;
}

/*
 * Takes the message at offset at. Returns its size, 0 if it is not there yet (or a reply has to
 * go first), -1 if the client is gone.
 */
static ssize_t take_message(struct vfio_user *v, size_t at)
{
	struct vfu_msg msg = { .reply = v->reply };
	const char *fault;

	if (v->out_len || v->in_len - at < sizeof(msg.header))
		return 0;
	memcpy(&msg.header, v->in + at, sizeof(msg.header));
	fault = header_fault(&msg.header);
	if (fault) {
		protocol_error(v, fault);
		return -1;
	}
	if (v->in_len - at < msg.header.size)
		return 0;
	msg.payload = v->in + at + sizeof(msg.header);
	msg.len = msg.header.size - (uint32_t)sizeof(msg.header);
	if (v->in_fds.count && v->in_fds.at == at) {
		msg.fds = v->in_fds.fds;
		msg.fd_count = v->in_fds.count;
		v->in_fds.count = 0; /* handle() sees to them */
	}
	return handle(v, &msg) ? (ssize_t)msg.header.size : -1;
}

/* Takes all messages that are there. False if the client is gone. */
static bool take_messages(struct vfio_user *v)
{
	size_t at = 0;

	for (;;) {
		ssize_t n = take_message(v, at);

		if (n < 0)
			return false;
		if (!n)
			break;
		at += (size_t)n;
	}
	memmove(v->in, v->in + at, v->in_len - at);
	v->in_len -= at;
	v->in_fds.at -= v->in_fds.count ? at : 0;
	if (v->out_len)
		want_output(v, true);
	return true;
}

/* How much of the message that is under way at the start of the input has still to come. */
static size_t rest_of_message(const struct vfio_user *v)
{
	struct vfu_header h;

	if (v->in_len < sizeof(h))
		return sizeof(h) - v->in_len;
	memcpy(&h, v->in, sizeof(h));
	if (h.size < sizeof(h) || h.size > VFU_MAX_MESSAGE || h.size <= v->in_len)
		return 1; /* about to be refused */
	return h.size - v->in_len;
}

/*
 * A read ends with the piece of the stream that its descriptors were sent with, so they belong
 * to the last message that starts in the input.
 */
static size_t last_message_start(const struct vfio_user *v)
{
	size_t at = 0;

	while (v->in_len - at >= sizeof(struct vfu_header)) {
		struct vfu_header h;

		memcpy(&h, v->in + at, sizeof(h));
		if (header_fault(&h) || v->in_len - at <= h.size)
			break;
		at += h.size;
	}
	return at;
}

/* False if more came than a message may have, or two sets for one message. */
static bool keep_fds(struct vfio_user *v, struct msghdr *m)
{
	bool fine = !(m->msg_flags & MSG_CTRUNC);

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		unsigned int count = (unsigned int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		int fds[VFU_MAX_FDS];

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || !count)
			continue;
		memcpy(fds, CMSG_DATA(c), count * sizeof(int));
		if (v->in_fds.count) {
			close_fds(fds, count);
			fine = false;
			continue;
		}
		memcpy(v->in_fds.fds, fds, count * sizeof(int));
		v->in_fds.count = count;
		v->in_fds.at = last_message_start(v);
	}
	return fine;
}

/* One read. 1: there may be more, 0: nothing is left for now, -1: the client is gone. */
static int read_input(struct vfio_user *v)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(VFU_MAX_FDS * sizeof(int))];
	} control;
	size_t room = INPUT_SIZE - v->in_len;
	struct iovec iov = { .iov_base = v->in + v->in_len };
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n;

	/* Only one message may have descriptors that wait: nothing is read beyond it. */
	iov.iov_len = v->in_fds.count ? rest_of_message(v) : room;
	n = recvmsg(v->client.fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		unplug(v);
		return -1;
	}
	v->in_len += (size_t)n;
	if (!keep_fds(v, &m)) {
		protocol_error(v, "too many descriptors");
		return -1;
	}
	return (size_t)n == iov.iov_len;
}

static void client_ready(struct loop_fd *fd, uint32_t events)
{
	struct vfio_user *v = container_of(fd, struct vfio_user, client);

	if (v->out_len) {
		if (!flush_output(v) || v->out_len)
			return;
		want_output(v, false);
		if (!take_messages(v)) /* those that had to wait */
			return;
	}
	if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		return;
	for (int i = 0; i < READS_PER_TURN && !v->out_len; i++) {
		int more = read_input(v);

		if (more < 0 || !take_messages(v) || !more)
			return;
	}
}

int vfio_user_adopt(struct vfio_user *v, int fd)
{
	int ret;

	if (v->client.fd >= 0)
		return -EBUSY;
	v->client.fd = fd;
	ret = loop_fd_add(v->loop, &v->client, EPOLLIN);
	if (ret) {
		v->client.fd = -1;
		return ret;
	}
	hca_log(v->function.hca, HCA_LOG_INFO, "plugged in");
	return 0;
}

bool vfio_user_connected(const struct vfio_user *v)
{
	return v->client.fd >= 0;
}

/* A machine that was killed may be noticed only after its successor has come. */
static void unplug_if_gone(struct vfio_user *v)
{
	char c;

	if (v->client.fd >= 0 && !recv(v->client.fd, &c, 1, MSG_PEEK | MSG_DONTWAIT))
		unplug(v);
}

static void listener_ready(struct loop_fd *fd, uint32_t events)
{
	struct vfio_user *v = container_of(fd, struct vfio_user, listener);
	int client = accept4(fd->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (client < 0)
		return;
	unplug_if_gone(v);
	if (vfio_user_adopt(v, client)) {
		hca_log(v->function.hca, HCA_LOG_ERROR,
			"another machine is plugged in: a second one is turned away from %s",
			v->path);
		close(client);
	}
}

int vfio_user_listen(struct vfio_user *v, const char *path)
{
	int fd, ret;

	if (v->listener.fd >= 0)
		return -EBUSY;
	fd = sock_listen(path, 0600);
	if (fd < 0)
		return fd;
	v->listener.fd = fd;
	ret = loop_fd_add(v->loop, &v->listener, EPOLLIN);
	if (ret) {
		close(fd);
		v->listener.fd = -1;
		return ret;
	}
	strcpy(v->path, path);
	return 0;
}

static void raise_vector(struct hca *hca, unsigned int vector)
{
	struct vfio_user *v = hca->bus;

	/* An interrupt message is a write like any other. */
	if (pci_bus_master(&v->function.pci) && msix_raise(&v->function.msix, vector))
		hca->stats.interrupts++;
}

struct vfio_user *vfio_user_new(struct loop *loop, struct hca *hca)
{
	struct vfio_user *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->loop = loop;
	v->function.hca = hca;
	v->listener.fd = -1;
	v->listener.handler = listener_ready;
	v->client.fd = -1;
	v->client.handler = client_ready;
	msix_init(&v->function.msix);
	pci_reset(&v->function.pci);
	dma_enable(hca->dma, false);
	hca->bus = v;
	hca->msix = raise_vector;
	return v;
}

void vfio_user_free(struct vfio_user *v)
{
	if (!v)
		return;
	unplug(v);
	if (v->listener.fd >= 0) {
		loop_fd_del(v->loop, &v->listener);
		close(v->listener.fd);
		unlink(v->path);
	}
	v->function.hca->msix = NULL;
	v->function.hca->bus = NULL;
	free(v);
}
