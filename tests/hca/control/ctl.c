// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The control socket: connections, requests taken apart, answers sent as the client takes them. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "container.h"
#include "control/ctl.h"
#include "control/ctl_parts.h"
#include "hca.h"
#include "loop.h"
#include "sock.h"

#define FAIL_STATUS_DEFAULT 0x01 /* internal error */

struct client {
	struct ctl *ctl;
	struct loop_fd fd;
	struct loop_work work; /* goes on with a list */
	char line[CTL_LINE];
	size_t line_len;
	bool answering;
	struct ctl_list list;
	struct ctl_out out;
};

struct ctl {
	struct loop *loop;
	struct fabric *fabric;
	struct loop_fd listener; /* fd -1: none */
	char path[SOCK_PATH_MAX];
	struct client *clients[CTL_CLIENTS];
};

void ctl_print(struct ctl_out *out, const char *fmt, ...)
{
	size_t room = CTL_OUT - out->len;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(out->text + out->len, room, fmt, args);
	va_end(args);
	if (n > 0)
		out->len += (size_t)n < room ? (size_t)n : room - 1;
}

bool ctl_number(const char *text, uint64_t max, uint64_t *value)
{
	unsigned long long v;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno || *end || v > max)
		return false;
	*value = v;
	return true;
}

/* An option and its value. NULL, or what is wrong. */
static const char *parse_option(struct ctl_request *r, const char *option, const char *value)
{
	uint64_t v;

	if (!strcmp(option, "--function")) {
		if (!value || !ctl_number(value, FABRIC_PORTS - 1, &v))
			return "--function needs the number of a function";
		r->function = (int)v;
	} else if (!strcmp(option, "--count")) {
		if (!value || !ctl_number(value, UINT32_MAX, &v))
			return "--count needs a number";
		r->fail_count = (uint32_t)v;
	} else if (!strcmp(option, "--status")) {
		if (!value || !ctl_number(value, UINT8_MAX, &v) || !v)
			return "--status needs the number of a command status, such as 0xf";
		r->fail_status = (uint32_t)v;
	} else {
		return "there is no such option (--function, --count, --status)";
	}
	return NULL;
}

static const char *parse(struct ctl_request *r, char *line)
{
	char *next = NULL;

	*r = (struct ctl_request){
		.function = CTL_ALL_FUNCTIONS,
		.fail_count = 1,
		.fail_status = FAIL_STATUS_DEFAULT,
	};
	for (char *w = strtok_r(line, " \t\r", &next); w; w = strtok_r(NULL, " \t\r", &next)) {
		const char *error = NULL;

		if (!strncmp(w, "--", 2))
			error = parse_option(r, w, strtok_r(NULL, " \t\r", &next));
		else if (r->count == CTL_WORDS)
			error = "too many words";
		else
			r->words[r->count++] = w;
		if (error)
			return error;
	}
	return r->count ? NULL : "an empty request";
}

static void answer_error(struct client *c, const char *error)
{
	c->list.busy = false;
	c->out.len = 0; /* nothing of an answer has been sent yet */
	ctl_print(&c->out, "error %s\n", error);
}

static const char *start_list(struct client *c, const struct ctl_request *r, const char *type)
{
	if (!ctl_list_start(&c->list, r, type))
		return "there are no such objects (qp, cq, srq, mr, pd, uar, eq, xrcd, td, uctx, all)";
	return NULL;
}

/* Who gives LIDs and port states, on all of the fabric. */
static const char *set_manager(struct fabric *fabric, const struct ctl_request *r)
{
	const char *who = r->count == 2 ? r->words[1] : "";

	if (r->function != CTL_ALL_FUNCTIONS)
		return "there is one subnet manager for all functions";
	if (strcmp(who, "external") && strcmp(who, "built-in"))
		return "sm is either external or built-in";
	return fabric_manage(fabric, !strcmp(who, "external")) ? "memory is short" : NULL;
}

static const char *dispatch(struct client *c, const struct ctl_request *r)
{
	struct fabric *fabric = c->ctl->fabric;
	const char *what = r->words[0];

	if (r->function != CTL_ALL_FUNCTIONS && !fabric_port(fabric, (unsigned int)r->function))
		return "there is no such function";
	if (!strcmp(what, "list") && r->count <= 2)
		return start_list(c, r, r->count > 1 ? r->words[1] : "all");
	if (!strcmp(what, "fault"))
		return ctl_fault(fabric, r, &c->out);
	if (!strcmp(what, "sm"))
		return set_manager(fabric, r);
	if (r->count > 1)
		return "that is one word too many";
	if (!strcmp(what, "ping"))
		return NULL;
	if (!strcmp(what, "uars"))
		return start_list(c, r, "uar");
	if (!strcmp(what, "counters"))
		return ctl_counters(fabric, r, &c->out);
	if (!strcmp(what, "reset-counters"))
		return ctl_reset_counters(fabric, r);
	return "there is no such request (ping, list, uars, counters, reset-counters, fault, sm)";
}

static void answer(struct client *c, char *line)
{
	struct ctl_request request;
	const char *error;

	c->answering = true;
	c->out.len = 0;
	c->out.sent = 0;
	c->list.busy = false;
	ctl_print(&c->out, "ok\n");
	error = parse(&request, line);
	if (!error)
		error = dispatch(c, &request);
	if (error)
		answer_error(c, error);
}

static void client_close(struct client *c)
{
	struct ctl *ctl = c->ctl;

	for (unsigned int i = 0; i < CTL_CLIENTS; i++) {
		if (ctl->clients[i] == c)
			ctl->clients[i] = NULL;
	}
	loop_work_cancel(&c->work);
	loop_fd_del(ctl->loop, &c->fd);
	close(c->fd.fd);
	free(c);
}

/* Sends what there is: 1 all of it, 0 the client has to read first, -1 it is gone (and freed). */
static int flush(struct client *c)
{
	while (c->out.sent < c->out.len) {
		ssize_t n = send(c->fd.fd, c->out.text + c->out.sent, c->out.len - c->out.sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			loop_fd_mod(c->ctl->loop, &c->fd, EPOLLOUT);
			return 0;
		}
		if (n < 0) {
			client_close(c);
			return -1;
		}
		c->out.sent += (size_t)n;
	}
	c->out.len = 0;
	c->out.sent = 0;
	return 1;
}

/* Goes on with the answer; one piece of a list in each turn of the loop. False: gone, or it has to wait. */
static bool continue_answer(struct client *c)
{
	bool more = c->list.busy && ctl_list_continue(&c->list, c->ctl->fabric, &c->out);

	if (!more) {
		ctl_print(&c->out, "\n");
		c->answering = false;
	}
	if (flush(c) <= 0)
		return false;
	if (more) {
		loop_fd_mod(c->ctl->loop, &c->fd, 0); /* the next request has to wait */
		loop_work_queue(c->ctl->loop, &c->work);
		return false;
	}
	return true;
}

/* The next line of what was read, if there is one. */
static bool take_line(struct client *c, char line[CTL_LINE])
{
	char *end = memchr(c->line, '\n', c->line_len);
	size_t len;

	if (!end)
		return false;
	len = (size_t)(end - c->line);
	memcpy(line, c->line, len);
	line[len] = 0;
	c->line_len -= len + 1;
	memmove(c->line, end + 1, c->line_len);
	return true;
}

/* Answers what has been asked, one after the other, until one has to wait. */
static void serve(struct client *c)
{
	char line[CTL_LINE];

	while (!c->answering && take_line(c, line)) {
		answer(c, line);
		if (!continue_answer(c))
			return;
	}
	loop_fd_mod(c->ctl->loop, &c->fd, EPOLLIN);
}

static void client_work(struct loop_work *work)
{
	struct client *c = container_of(work, struct client, work);

	if (continue_answer(c))
		serve(c);
}

static void client_write(struct client *c)
{
	if (flush(c) <= 0)
		return;
	loop_fd_mod(c->ctl->loop, &c->fd, 0);
	if (!c->answering)
		serve(c);
	else
		loop_work_queue(c->ctl->loop, &c->work);
}

static void client_ready(struct loop_fd *fd, uint32_t events)
{
	struct client *c = container_of(fd, struct client, fd);
	ssize_t n;

	if (c->out.len) {
		client_write(c);
		return;
	}
	if (events & (EPOLLHUP | EPOLLERR) || c->answering) {
		client_close(c);
		return;
	}
	n = recv(fd->fd, c->line + c->line_len, CTL_LINE - c->line_len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_close(c);
		return;
	}
	c->line_len += (size_t)n;
	if (c->line_len == CTL_LINE && !memchr(c->line, '\n', CTL_LINE)) {
		client_close(c);
		return;
	}
	serve(c);
}

int ctl_adopt(struct ctl *ctl, int fd)
{
	unsigned int slot = 0;
	struct client *c;
	int ret;

	while (slot < CTL_CLIENTS && ctl->clients[slot])
		slot++;
	if (slot == CTL_CLIENTS)
		return -ENOSPC;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->ctl = ctl;
	c->fd.fd = fd;
	c->fd.handler = client_ready;
	c->work.handler = client_work;
	ret = loop_fd_add(ctl->loop, &c->fd, EPOLLIN);
	if (ret) {
		free(c);
		return ret;
	}
	ctl->clients[slot] = c;
	return 0;
}

/* The mode of the path says so already; this holds where the directory was moved in between. */
static bool peer_allowed(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return false;
	return !cred.uid || cred.uid == geteuid();
}

static void listener_ready(struct loop_fd *fd, uint32_t events)
{
	struct ctl *ctl = container_of(fd, struct ctl, listener);
	int client = accept4(fd->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (client < 0)
		return;
	if (!peer_allowed(client) || ctl_adopt(ctl, client))
		close(client);
}

int ctl_listen(struct ctl *ctl, const char *path)
{
	int fd, ret;

	if (ctl->listener.fd >= 0)
		return -EBUSY;
	fd = sock_listen(path, 0600);
	if (fd < 0)
		return fd;
	ctl->listener.fd = fd;
	ret = loop_fd_add(ctl->loop, &ctl->listener, EPOLLIN);
	if (ret) {
		close(fd);
		ctl->listener.fd = -1;
		return ret;
	}
	strcpy(ctl->path, path);
	return 0;
}

struct ctl *ctl_new(struct loop *loop, struct fabric *fabric)
{
	struct ctl *ctl = calloc(1, sizeof(*ctl));

	if (!ctl)
		return NULL;
	ctl->loop = loop;
	ctl->fabric = fabric;
	ctl->listener.fd = -1;
	ctl->listener.handler = listener_ready;
	return ctl;
}

void ctl_free(struct ctl *ctl)
{
	if (!ctl)
		return;
	for (unsigned int i = 0; i < CTL_CLIENTS; i++) {
		if (ctl->clients[i])
			client_close(ctl->clients[i]);
	}
	if (ctl->listener.fd >= 0) {
		loop_fd_del(ctl->loop, &ctl->listener);
		close(ctl->listener.fd);
		unlink(ctl->path);
	}
	free(ctl);
}
