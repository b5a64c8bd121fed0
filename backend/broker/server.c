// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * server.c - the broker's own process: see client.h. What it does is in requests.h.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "broker/client.h"
#include "broker/requests.h"
#include "broker/xenstore_filter.h"
#include "hca/family.h"
#include "sandbox/sandbox.h"
#include "util/log.h"
#include "util/paths.h"
#include "xen/iomem.h"

/* How long dom0's daemon may take to say of what type a driver domain's guest is. */
#define TYPE_MS 5000
#define TYPE_LOOK_MS 10

static char body[BROKER_MOST_BYTES];

/* In a driver domain, dom0's daemon may be about to say of what type it is. */
static void await_domain(struct domain *domain)
{
	const struct timespec pause = { .tv_nsec = TYPE_LOOK_MS * 1000000l };
	unsigned int waited;

	for (waited = 0; domain_check(domain) == -EAGAIN && waited < TYPE_MS;
	     waited += TYPE_LOOK_MS)
		nanosleep(&pause, NULL);
}

static int serve_one(struct serving *s, int socket)
{
	struct broker_request request;
	struct broker_response reply;
	int err;

	err = broker_receive(socket, &request, sizeof(request));
	if (err)
		return err;
	if (request.length > sizeof(body) || request.n_mapped > BROKER_MAPS)
		return -EPROTO;
	err = broker_receive(socket, body, request.length);
	if (err)
		return err;
	reply = serving_request(s, &request, body);
	return broker_send(socket, &reply, sizeof(reply));
}

/* Until the worker is gone. Its way to xenstore may end before that, and it has to bear it. */
static void serve(struct serving *s, struct xenstore_filter *filter, int socket)
{
	struct pollfd polls[] = {
		{ .fd = socket, .events = POLLIN },
		{ .fd = filter->worker, .events = POLLIN },
		{ .fd = filter->xenstore, .events = POLLIN },
	};

	for (;;) {
		if (poll(polls, 3, -1) < 0 && errno != EINTR)
			return;
		if (polls[0].revents && serve_one(s, socket))
			return;
		if ((polls[1].revents && xenstore_filter_request(filter)) ||
		    (polls[2].revents && xenstore_filter_reply(filter))) {
			shutdown(filter->worker, SHUT_RDWR);
			polls[1].fd = polls[2].fd = -1;
			polls[1].revents = polls[2].revents = 0;
		}
	}
}

static bool open_filter(struct xenstore_filter *filter, const struct broker_setup *setup,
			int listener)
{
	filter->backend = setup->backend;
	filter->frontend = setup->frontend;
	filter->xenstore = xenstore_filter_open();
	if (filter->xenstore < 0) {
		log_error("xenstore: %s", strerror(-filter->xenstore));
		return false;
	}
	filter->worker = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	return filter->worker >= 0;
}

static bool find_family(struct uar_pool *pool, const char *hca)
{
	int err;

	pool->family = hca_family(hca, &err);
	if (pool->family)
		err = hca_uar_frames(pool->family, hca, &pool->frames);
	if (err)
		log_error("doorbell pages of %s: %s", hca, strerror(-err));
	return !err;
}

static bool map_table(struct uar_pool *pool, int fd)
{
	pool->table = mmap(NULL, sizeof(*pool->table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pool->table != MAP_FAILED && uar_table_valid(pool->table))
		return true;
	log_error("table of UARs: %s", pool->table == MAP_FAILED ? strerror(errno) : "malformed");
	return false;
}

static bool open_pool(struct uar_pool *pool, const struct broker_setup *setup)
{
	if (!map_table(pool, setup->table) || !find_family(pool, setup->hca))
		return false;
	uar_pool_init(pool);
	return true;
}

static bool enter_sandbox(const struct broker_setup *setup)
{
	static const struct sandbox_path paths[] = { { STATUS_DIR, SANDBOX_REPLACE } };
	char why[128];

	if (!setup->confined || !sandbox_enter(SANDBOX_BROKER, NULL, paths, 1, why, sizeof(why)))
		return true;
	log_error("broker: %s", why);
	return false;
}

_Noreturn void broker_serve(const struct broker_setup *setup, int socket, int gntdev, int listener)
{
	struct serving s = {
		.domain = { .domid = setup->domid, .devid = setup->devid },
		.gntdev = gntdev,
		.uars = { .domain = &s.domain, .file = setup->pool },
	};
	struct xenstore_filter filter;

	prctl(PR_SET_NAME, "xen-ib-broker");
	snprintf(s.path, sizeof(s.path), STATUS_DIR "/%u-%u.status", setup->domid, setup->devid);
	snprintf(s.temporary, sizeof(s.temporary), "%s.new", s.path);
	s.domain.iomem = iomem_open();
	if (!s.domain.iomem) {
		log_error("the hypervisor's interface: %s", strerror(errno));
		_exit(EXIT_FAILURE);
	}
	if (!open_pool(&s.uars, setup) || !open_filter(&filter, setup, listener) ||
	    !enter_sandbox(setup))
		_exit(EXIT_FAILURE);
	await_domain(&s.domain);
	serve(&s, &filter, socket);
	unlink(s.path);
	_exit(EXIT_SUCCESS);
}
