// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * client.c - the worker's side of its broker: see client.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <xenstore.h>

#include "broker/client.h"
#include "broker/wire.h"
#include "hca/hca.h"
#include "util/log.h"
#include "util/paths.h"
#include "xen/gntdev.h"

struct broker {
	pthread_mutex_t lock; /* one request at a time */
	/* the request, and its body */
	_Alignas(struct broker_request) char message[sizeof(struct broker_request) +
						     BROKER_MOST_BYTES];
	int socket, gntdev;
	uint32_t n_mapped; /* to be told with the next request */
	uint64_t mapped[BROKER_MAPS];
	struct sockaddr_un xenstore; /* where the broker listens until it was called once */
};

/* In the child. It keeps standard error, its socket, gntdev, the listener, pool, table and life. */
#define KEEP 7

_Noreturn static void become_broker(const struct broker_setup *setup, int socket, int gntdev,
				    int listener)
{
	const int keep[KEEP] = {
		STDERR_FILENO, socket, gntdev, listener, setup->pool, setup->table, setup->life,
	};
	struct broker_setup own = *setup;
	int high[KEEP], i;
	sigset_t all;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (i = 0; i < KEEP; i++) {
		high[i] = fcntl(keep[i], F_DUPFD, 64);
		if (high[i] < 0 && keep[i] >= 0)
			_exit(EXIT_FAILURE);
	}
	for (i = 0; i < KEEP; i++)
		if (high[i] >= 0 && dup3(high[i], STDERR_FILENO + i, O_CLOEXEC) < 0)
			_exit(EXIT_FAILURE);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close_range(STDERR_FILENO + KEEP, ~0u, 0);
	own.pool = STDERR_FILENO + 4;
	own.table = STDERR_FILENO + 5;
	broker_serve(&own, STDERR_FILENO + 1, STDERR_FILENO + 2, STDERR_FILENO + 3);
}

/* libxenstore connects to a path only. It is root's, and gone before anything else happens. */
static int listen_for_xenstore(const struct broker_setup *setup, struct sockaddr_un *where)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	where->sun_family = AF_UNIX;
	snprintf(where->sun_path, sizeof(where->sun_path), STATUS_DIR "/%u-%u.xenstore",
		 setup->domid, setup->devid);
	unlink(where->sun_path);
	if (!bind(fd, (struct sockaddr *)where, sizeof(*where)) && !chmod(where->sun_path, 0600) &&
	    !listen(fd, 1))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Returns 0 or -errno. */
static int start_process(struct broker *broker, const struct broker_setup *setup)
{
	int pair[2], listener, err = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	listener = listen_for_xenstore(setup, &broker->xenstore);
	if (listener < 0) {
		err = listener;
		goto err_pair;
	}
	pid = fork();
	if (!pid)
		become_broker(setup, pair[1], broker->gntdev, listener);
	if (pid < 0)
		err = -errno;
	close(listener);
err_pair:
	close(pair[1]);
	if (err)
		close(pair[0]);
	else
		broker->socket = pair[0];
	return err;
}

struct broker *broker_start(const struct broker_setup *setup)
{
	struct broker *broker = calloc(1, sizeof(*broker));
	int err;

	if (!broker)
		return NULL;
	broker->gntdev = open("/dev/xen/gntdev", O_RDWR | O_CLOEXEC);
	if (broker->gntdev < 0) {
		log_error("/dev/xen/gntdev: %s (is the module xen-gntdev loaded?)",
			  strerror(errno));
		goto err_free;
	}
	err = start_process(broker, setup);
	if (err) {
		log_error("starting the broker: %s", strerror(-err));
		goto err_gntdev;
	}
	pthread_mutex_init(&broker->lock, NULL);
	return broker;

err_gntdev:
	close(broker->gntdev);
err_free:
	free(broker);
	return NULL;
}

struct xs_handle *broker_xenstore(struct broker *broker)
{
	struct xs_handle *xs;

	setenv("XENSTORED_PATH", broker->xenstore.sun_path, 1);
	xs = xs_open(XS_OPEN_SOCKETONLY); /* the kernel has another way */
	unsetenv("XENSTORED_PATH");
	unlink(broker->xenstore.sun_path);
	return xs;
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

static void notify_mapped(struct broker *broker, struct broker_request *request)
{
	request->n_mapped = broker->n_mapped;
	memcpy(request->mapped, broker->mapped, broker->n_mapped * sizeof(broker->mapped[0]));
	broker->n_mapped = 0;
}

/* In one message: a broker that is woken by a part of it sleeps again until the rest comes. */
static int ask(struct broker *broker, const struct broker_request *request, const void *body,
	       struct broker_response *rsp)
{
	int err;

	pthread_mutex_lock(&broker->lock);
	memcpy(broker->message, request, sizeof(*request));
	notify_mapped(broker, (struct broker_request *)broker->message);
	if (request->length)
		memcpy(broker->message + sizeof(*request), body, request->length);
	err = broker_send(broker->socket, broker->message, sizeof(*request) + request->length) ?:
		      broker_receive(broker->socket, rsp, sizeof(*rsp));
	pthread_mutex_unlock(&broker->lock);
	return err ? err : rsp->err;
}

int broker_domain(struct broker *broker, bool *auto_translated)
{
	const struct broker_request request = { .op = BROKER_DOMAIN };
	struct broker_response rsp;
	int err;

	err = ask(broker, &request, NULL, &rsp);
	if (!err)
		*auto_translated = rsp.auto_translated;
	return err;
}

int broker_uar_alloc(struct broker *broker, uint32_t type, uint64_t gfn, struct hca_uar *uar)
{
	const struct broker_request request = { .op = BROKER_UAR_ALLOC, .type = type, .gfn = gfn };
	struct broker_response rsp;
	int err;

	err = ask(broker, &request, NULL, &rsp);
	if (!err)
		*uar = (struct hca_uar){ .index = rsp.index, .frame = rsp.frame };
	return err;
}

int broker_uar_free(struct broker *broker, uint32_t index)
{
	const struct broker_request request = { .op = BROKER_UAR_FREE, .index = index };
	struct broker_response rsp;

	return ask(broker, &request, NULL, &rsp);
}

int broker_uar_reset(struct broker *broker)
{
	const struct broker_request request = { .op = BROKER_UAR_RESET };
	struct broker_response rsp;

	return ask(broker, &request, NULL, &rsp);
}

int broker_uar_pool_alive(struct broker *broker)
{
	const struct broker_request request = { .op = BROKER_POOL_ALIVE };
	struct broker_response rsp;

	return ask(broker, &request, NULL, &rsp);
}

int broker_map(struct broker *broker, const uint32_t *refs, unsigned int n, uint64_t *index)
{
	struct broker_request request = { .op = BROKER_MAP, .length = n * sizeof(*refs) };
	struct broker_response rsp;
	int err;

	if (n > BROKER_MAP_PAGES)
		return -E2BIG;
	err = ask(broker, &request, refs, &rsp);
	if (!err)
		*index = rsp.index;
	return err;
}

/* Under the lock, as gntdev gives the same index to the next who asks, and so the broker has to know first. */
void broker_mapped(struct broker *broker, uint64_t index, unsigned int n)
{
	pthread_mutex_lock(&broker->lock);
	gntdev_unmap(broker->gntdev, index, n);
	if (broker->n_mapped < BROKER_MAPS)
		broker->mapped[broker->n_mapped++] = index;
	pthread_mutex_unlock(&broker->lock);
}

int broker_status(struct broker *broker, const char *text, size_t size)
{
	const struct broker_request request = { .op = BROKER_STATUS, .length = size };
	struct broker_response rsp;

	if (size > BROKER_MOST_BYTES)
		return -E2BIG;
	return ask(broker, &request, text, &rsp);
}
