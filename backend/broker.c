// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * broker.c - the worker's side of its broker: see broker.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker_wire.h"
#include "log.h"

struct broker {
	pthread_mutex_t lock; /* one request at a time */
	int socket, gntdev;
};

int broker_receive(int fd, void *data, size_t size)
{
	ssize_t got;

	for (; size; size -= got, data = (char *)data + got) {
		got = recv(fd, data, size, MSG_WAITALL);
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
		sent = send(fd, data, size, MSG_NOSIGNAL);
		if (sent < 0 && errno != EINTR)
			return -errno;
		if (sent < 0)
			sent = 0;
	}
	return 0;
}

/* In the child. It keeps standard error, its socket, gntdev and life. */
_Noreturn static void become_broker(const struct broker_setup *setup, int socket, int gntdev)
{
	const int keep[] = { STDERR_FILENO, socket, gntdev, setup->life };
	int high[4], i;
	sigset_t all;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (i = 0; i < 4; i++) {
		high[i] = fcntl(keep[i], F_DUPFD, 64);
		if (high[i] < 0 && keep[i] >= 0)
			_exit(EXIT_FAILURE);
	}
	for (i = 0; i < 4; i++)
		if (high[i] >= 0 && dup3(high[i], STDERR_FILENO + i, O_CLOEXEC) < 0)
			_exit(EXIT_FAILURE);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close_range(STDERR_FILENO + 4, ~0u, 0);
	broker_serve(setup, STDERR_FILENO + 1, STDERR_FILENO + 2);
}

struct broker *broker_start(const struct broker_setup *setup)
{
	struct broker *broker = calloc(1, sizeof(*broker));
	int pair[2];
	pid_t pid;

	if (!broker)
		return NULL;
	broker->gntdev = open("/dev/xen/gntdev", O_RDWR | O_CLOEXEC);
	if (broker->gntdev < 0) {
		log_error("/dev/xen/gntdev: %s (is the module xen-gntdev loaded?)",
			  strerror(errno));
		goto err_free;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		log_error("broker: %s", strerror(errno));
		goto err_gntdev;
	}
	pid = fork();
	if (!pid)
		become_broker(setup, pair[1], broker->gntdev);
	close(pair[1]);
	if (pid < 0) {
		log_error("starting the broker: %s", strerror(errno));
		goto err_socket;
	}
	pthread_mutex_init(&broker->lock, NULL);
	broker->socket = pair[0];
	return broker;

err_socket:
	close(pair[0]);
err_gntdev:
	close(broker->gntdev);
err_free:
	free(broker);
	return NULL;
}

void broker_stop(struct broker *broker)
{
	if (!broker)
		return;
	close(broker->socket);
	close(broker->gntdev);
	pthread_mutex_destroy(&broker->lock);
	free(broker);
}

int broker_fd(const struct broker *broker)
{
	return broker->socket;
}

int broker_gntdev(const struct broker *broker)
{
	return broker->gntdev;
}

static int ask(struct broker *broker, const struct broker_request *request, const void *body,
	       struct broker_answer *answer)
{
	int err;

	pthread_mutex_lock(&broker->lock);
	err = broker_send(broker->socket, request, sizeof(*request)) ?:
	      broker_send(broker->socket, body, request->length) ?:
	      broker_receive(broker->socket, answer, sizeof(*answer));
	pthread_mutex_unlock(&broker->lock);
	return err ? err : answer->err;
}

int broker_domain(struct broker *broker, bool *auto_translated)
{
	const struct broker_request request = { .op = BROKER_DOMAIN };
	struct broker_answer answer;
	int err;

	err = ask(broker, &request, NULL, &answer);
	if (!err)
		*auto_translated = answer.auto_translated;
	return err;
}

static int ask_about_frame(struct broker *broker, enum broker_op op, uint64_t mfn, uint64_t gfn)
{
	const struct broker_request request = { .op = op, .mfn = mfn, .gfn = gfn };
	struct broker_answer answer;

	return ask(broker, &request, NULL, &answer);
}

int broker_allow(struct broker *broker, uint64_t mfn, uint64_t gfn)
{
	return ask_about_frame(broker, BROKER_ALLOW, mfn, gfn);
}

int broker_deny(struct broker *broker, uint64_t mfn, uint64_t gfn)
{
	return ask_about_frame(broker, BROKER_DENY, mfn, gfn);
}

int broker_map(struct broker *broker, const uint32_t *refs, unsigned int n, uint64_t *index)
{
	struct broker_request request = { .op = BROKER_MAP, .length = n * sizeof(*refs) };
	struct broker_answer answer;
	int err;

	if (n > BROKER_MOST_BYTES / sizeof(*refs))
		return -E2BIG;
	err = ask(broker, &request, refs, &answer);
	if (!err)
		*index = answer.index;
	return err;
}

int broker_status(struct broker *broker, const char *text, size_t size)
{
	const struct broker_request request = { .op = BROKER_STATUS, .length = size };
	struct broker_answer answer;

	if (size > BROKER_MOST_BYTES)
		return -E2BIG;
	return ask(broker, &request, text, &answer);
}
