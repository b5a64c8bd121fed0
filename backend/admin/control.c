// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * control.c - see control.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "admin/control.h"
#include "util/log.h"

struct client {
	int fd; /* -1: none */
	char line[CONTROL_LINE_MAX];
	size_t have;
	char *out; /* the answer, while it is being sent */
	size_t out_size, out_done;
	bool last;      /* hang up after this one */
	uint64_t heard; /* when, in turns of the server */
};

struct control {
	struct sockaddr_un address;
	int listen, epoll;
	control_request_fn *answer;
	void *from;
	uint64_t turn;
	struct client clients[CONTROL_CLIENTS];
};

void control_fail(struct control_reply *reply, enum control_error error, const char *why, ...)
{
	va_list args;

	reply->error = error;
	va_start(args, why);
	vsnprintf(reply->why, sizeof(reply->why), why, args);
	va_end(args);
}

/* Clients */

static void hang_up(struct client *c)
{
	free(c->out);
	c->out = NULL;
	close(c->fd); /* which takes it out of epoll */
	c->fd = -1;
}

static char *end_of_line(struct client *c)
{
	return memchr(c->line, '\n', c->have);
}

/* To be heard of again: when there is input, or at once if there is something to do already. */
static void expect(struct control *control, struct client *c)
{
	struct epoll_event event = { .data.ptr = c };

	event.events = c->out || end_of_line(c) ? EPOLLOUT : EPOLLIN;
	if (epoll_ctl(control->epoll, EPOLL_CTL_MOD, c->fd, &event))
		hang_up(c);
}

static struct client *free_client(struct control *control)
{
	struct client *oldest = &control->clients[0], *c;

	for (c = control->clients; c < control->clients + CONTROL_CLIENTS; c++) {
		if (c->fd < 0)
			return c;
		if (c->heard < oldest->heard)
			oldest = c;
	}
	hang_up(oldest);
	return oldest;
}

void control_adopt(struct control *control, int fd)
{
	struct client *c = free_client(control);
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };

	memset(c, 0, sizeof(*c));
	c->fd = fd;
	c->heard = control->turn;
	if (epoll_ctl(control->epoll, EPOLL_CTL_ADD, fd, &event))
		hang_up(c);
}

static bool is_trusted(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.uid == geteuid())
		return true;
	log_warning("a process of user %u may not use the control socket", peer.uid);
	return false;
}

static void take_in(struct control *control)
{
	int fd = accept4(control->listen, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (is_trusted(fd))
		control_adopt(control, fd);
	else
		close(fd);
}

/* Answers */

/* An answer that there is no memory for is none: the client is hung up. */
static void compose(struct client *c, const struct control_reply *reply, const char *body,
		    size_t size)
{
	FILE *out = open_memstream(&c->out, &c->out_size);
	const char *at;

	if (!out)
		return;
	if (reply->error) {
		fprintf(out, "error %s ", control_error_word(reply->error));
		for (at = reply->why; *at; at++)
			fputc(*at == '\n' ? ' ' : *at, out);
		fputc('\n', out);
	} else {
		fprintf(out, "ok %zu\n", size);
		fwrite(body, 1, size, out);
	}
	if (fclose(out)) {
		free(c->out);
		c->out = NULL;
	}
	c->out_done = 0;
}

static void answer(struct control *control, struct client *c, char *line)
{
	struct control_reply reply = { 0 };
	struct control_request req;
	char *body = NULL;
	size_t size = 0;

	reply.body = open_memstream(&body, &size);
	if (!reply.body)
		return;
	if (line && control_parse(&req, line))
		control->answer(control->from, &req, &reply);
	else
		control_fail(&reply, CONTROL_USAGE, "not a request of version 1 of the protocol");
	if (fclose(reply.body))
		control_fail(&reply, CONTROL_REFUSED, "no memory");
	else if (size > CONTROL_BODY_MAX)
		control_fail(&reply, CONTROL_REFUSED,
			     "too much for one response: ask for one domain");
	compose(c, &reply, body, size);
	free(body);
}

/* Returns whether all of it is out. */
static bool send_out(struct client *c)
{
	ssize_t sent = send(c->fd, c->out + c->out_done, c->out_size - c->out_done,
			    MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent < 0) {
		if (errno != EAGAIN && errno != EINTR)
			hang_up(c);
		return false;
	}
	c->out_done += sent;
	if (c->out_done < c->out_size)
		return false;
	free(c->out);
	c->out = NULL;
	if (c->last)
		hang_up(c);
	return true;
}

/* Returns whether there is a line, or never will be. */
static bool take_line(struct client *c)
{
	ssize_t got;

	if (end_of_line(c))
		return true;
	got = recv(c->fd, c->line + c->have, sizeof(c->line) - c->have, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got <= 0) {
		hang_up(c);
		return false;
	}
	c->have += got;
	c->last = c->have == sizeof(c->line) && !end_of_line(c);
	return c->last || end_of_line(c);
}

static void serve(struct control *control, struct client *c)
{
	char *end;

	c->heard = control->turn;
	if (c->out || !take_line(c))
		goto out;
	end = end_of_line(c);
	if (end) {
		/* Text ends at a NUL, and a request with one is none. */
		bool text = !memchr(c->line, 0, end - c->line);

		*end = 0;
		answer(control, c, text ? c->line : NULL);
		c->have -= end + 1 - c->line;
		memmove(c->line, end + 1, c->have);
	} else {
		answer(control, c, NULL);
	}
	if (!c->out)
		hang_up(c);
out:
	if (c->out)
		send_out(c);
	if (c->fd >= 0)
		expect(control, c);
}

void control_service(struct control *control)
{
	struct epoll_event ready[CONTROL_CLIENTS + 1];
	int n, i;

	if (!control)
		return;
	n = epoll_wait(control->epoll, ready, CONTROL_CLIENTS + 1, 0);
	control->turn++;
	for (i = 0; i < n; i++)
		if (ready[i].data.ptr && ((struct client *)ready[i].data.ptr)->fd >= 0)
			serve(control, ready[i].data.ptr);
	/* Last, as it may put a new client in the place of one that is ready. */
	for (i = 0; i < n; i++)
		if (!ready[i].data.ptr)
			take_in(control);
}

int control_fd(const struct control *control)
{
	return control ? control->epoll : -1;
}

/* Nobody else can open it, not even in the moment before its mode is set. */
static int open_socket(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask;
	int err;

	if (fd < 0)
		return -1;
	unlink(address->sun_path);
	mask = umask(0177);
	err = bind(fd, (const struct sockaddr *)address, sizeof(*address));
	umask(mask);
	if (!err && !listen(fd, CONTROL_CLIENTS))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

struct control *control_open(const char *path, control_request_fn *answer, void *from)
{
	struct control *control = calloc(1, sizeof(*control));
	struct epoll_event event = { .events = EPOLLIN };
	unsigned int i;

	if (!control)
		return NULL;
	control->answer = answer;
	control->from = from;
	for (i = 0; i < CONTROL_CLIENTS; i++)
		control->clients[i].fd = -1;
	control->address.sun_family = AF_UNIX;
	if (snprintf(control->address.sun_path, sizeof(control->address.sun_path), "%s", path) >=
	    (int)sizeof(control->address.sun_path)) {
		errno = ENAMETOOLONG;
		goto err;
	}
	control->listen = open_socket(&control->address);
	if (control->listen < 0)
		goto err;
	control->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (control->epoll < 0)
		goto err_listen;
	if (!epoll_ctl(control->epoll, EPOLL_CTL_ADD, control->listen, &event))
		return control;
	close(control->epoll);
err_listen:
	close(control->listen);
	unlink(path);
err:
	free(control);
	return NULL;
}

void control_close(struct control *control)
{
	unsigned int i;

	if (!control)
		return;
	for (i = 0; i < CONTROL_CLIENTS; i++)
		if (control->clients[i].fd >= 0)
			hang_up(&control->clients[i]);
	close(control->epoll);
	close(control->listen);
	unlink(control->address.sun_path);
	free(control);
}
