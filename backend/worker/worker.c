// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * worker.c - see worker.h. The order in which things are set up matters: first what only root may
 * open, and the broker; then the sandbox; in it the HCA and the mm pin, which so is confined, too, before
 * all threads and mappings; then all that a guest has a hand in. The end goes the other way round.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "broker/client.h"
#include "config/spec.h"
#include "hca/dma_check.h"
#include "hca/gsi.h"
#include "hca/uverbs.h"
#include "modules/xen-ibgsi/xen-ibgsi.h"
#include "sandbox/sandbox.h"
#include "shared-ring/vhca_event.h"
#include "shared-ring/vhca_nodes.h"
#include "util/clock.h"
#include "util/paths.h"
#include "util/poll_set.h"
#include "util/ratelimit.h"
#include "vhca/events.h"
#include "worker/frontend.h"
#include "worker/management.h"
#include "worker/mm_pin.h"
#include "worker/nodes.h"
#include "worker/ring.h"
#include "worker/status_write.h"
#include "worker/worker.h"
#include "xen/xenbus.h"

/* A look at xenstore costs it six requests, and each write of the guest to its own node asks for one. */
static const struct ratelimit_rate look_rate = { .burst = 32, .interval_ms = 20 };

enum phase {
	PHASE_WAIT,    /* for the frontend to let go of an earlier connection */
	PHASE_OFFERED, /* InitWait */
	PHASE_CONNECTED,
};

struct worker {
	const char *path; /* of the backend, and of the frontend */
	char frontend[XB_PATH_MAX];
	unsigned int domid, devid;
	char hca_name[UVERBS_NAME_MAX], uverbs[PATH_MAX]; /* its device */
	unsigned int port;
	uint64_t guid; /* of the node */
	enum choice_kernel kernel;
	enum choice_gid gid;
	unsigned int gid_index; /* of the guest's own; 0: it has none */
	struct pkeys pkeys;
	struct services services;

	int mm_pin, signals;
	int gsi; /* hca/gsi.h, or -1 */
	struct xs_handle *xs;
	struct broker *broker;
	struct transport *t;
	struct hca *hca;
	struct quota quota;
	uint64_t limits_set; /* when quota.qp was read */
	struct vhca v;
	struct ring *ring;
	struct status status;

	enum phase phase;
	bool look; /* at xenstore, where something has changed */
	struct ratelimit looks;
	bool stop;
	int result;
};

/* Says why, in the log and to people who look into xenstore. */
__attribute__((format(printf, 3, 4))) static void fail(struct worker *w, enum worker_exit result,
						       const char *format, ...)
{
	char why[256];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	log_error("%s", why);
	if (w->xs)
		xb_write(w->xs, w->path, XEN_VHCA_FIELD_ERROR, "%s", why);
	w->stop = true;
	w->result = result;
}

/* The state machine */

static bool start_ring(struct worker *w, const struct ring_params *params,
		       const struct events_params *events)
{
	char why[128];

	w->v.events = events_new(&w->v, events, why, sizeof(why));
	if (!w->v.events)
		goto err;
	w->ring = ring_new(&w->v, params, why, sizeof(why));
	if (w->ring)
		return true;
	events_free(w->v.events);
err:
	fail(w, WORKER_FAILED, "%s", why);
	return false;
}

static void publish_status(void *broker, const char *text, size_t size)
{
	broker_status(broker, text, size);
}

/* The HCA may come to have memory that this process has mapped: not each umem can be a dma-buf. */
static bool may_map(const struct worker *w)
{
	return !w->hca->dmabufs || !w->hca->queue_dmabufs || !w->t->dmabuf_read_only ||
	       w->quota.bytes.limit / XEN_VHCA_PAGE_SIZE > w->t->dmabuf_pages;
}

static void connect_frontend(struct worker *w)
{
	struct ring_params params = { 0 };
	struct events_params events = { 0 };
	bool wants_events;
	const char *bad;
	int err;

	bad = frontend_read_ring(w->xs, w->frontend, &params) ?:
		      frontend_read_events(w->xs, w->frontend, &events, &wants_events);
	if (bad) {
		fail(w, WORKER_FAILED, "frontend gives no valid %s", bad);
		return;
	}
	err = vhca_init(&w->v, w->hca, w->t, &w->quota);
	if (err) {
		fail(w, WORKER_FAILED, "querying HCA %s: %s", w->hca_name, strerror(-err));
		return;
	}
	w->v.attr.node_guid = htobe64(w->guid);
	w->v.pkeys = w->pkeys;
	w->v.kernel = w->kernel != KERNEL_OFF;
	w->v.mads.fd = w->gsi;
	w->v.gid_index = w->gid_index;
	if (!start_ring(w, &params, wants_events ? &events : NULL)) {
		vhca_fini(&w->v);
		return;
	}
	status_init(&w->status, STATUS_DIR, w->domid, w->devid, w->hca_name);
	w->status.publish = publish_status;
	w->status.to = w->broker;
	w->phase = PHASE_CONNECTED;
	xb_set_state(w->xs, w->path, XB_CONNECTED);
	log_info("connected: %s port %u, ring of %u pages, %s, memory %s", w->hca_name, w->port,
		 1u << params.ring_order,
		 !wants_events ? "no events" :
		 w->v.watches  ? "events from the interrupt" :
				 "events by the worker",
		 !w->hca->dmabufs || !w->t->dmabuf_pages ? "mapped" :
		 w->hca->queue_dmabufs                   ? "and queues in dma-bufs" :
							   "in dma-bufs");
}

/* Everything is released before the frontend is told so. */
static void disconnect_frontend(struct worker *w)
{
	if (w->phase != PHASE_CONNECTED)
		return;
	ring_free(w->ring);
	w->ring = NULL;
	events_free(w->v.events);
	vhca_fini(&w->v);
	status_remove(&w->status);
	log_info("disconnected");
}

static void offer(struct worker *w)
{
	char path[XB_PATH_MAX];

	nodes_write_hca(w->xs, w->path, w->hca, w->t);
	if (snprintf(path, sizeof(path), "%s/error", w->path) < (int)sizeof(path))
		xs_rm(w->xs, XBT_NULL, path);
	xb_set_state(w->xs, w->path, XB_INIT_WAIT);
	w->phase = PHASE_OFFERED;
}

static bool is_online(struct worker *w)
{
	uint64_t online;

	return xb_read_number(w->xs, w->path, "online", 1, &online) && online;
}

/* A frontend that is still in an earlier connection first has to see that it has ended. */
static void check_frontend(struct worker *w)
{
	enum xb_state state = xb_state(w->xs, w->frontend);

	switch (w->phase) {
	case PHASE_WAIT:
		if (state == XB_UNKNOWN || state == XB_INITIALISING || state == XB_CLOSED)
			offer(w);
		break;
	case PHASE_OFFERED:
		if (state == XB_INITIALISED)
			connect_frontend(w);
		break;
	case PHASE_CONNECTED:
		if (state == XB_CLOSING || state == XB_CLOSED || state == XB_UNKNOWN)
			w->stop = true;
		break;
	}
}

/* The number first: if they change meanwhile, there is another look. */
static void check_limits(struct worker *w)
{
	const uint64_t set = nodes_limits_set(w->xs, w->path);
	char text[LIMITS_TEXT];

	if (set == w->limits_set)
		return;
	w->limits_set = set;
	quota_reread(&w->quota, nodes_limit, &(struct nodes){ w->xs, w->path });
	quota_imposed(&w->quota, text);
	log_info("imposed on QPs from now on: %s", text[0] ? text : "nothing");
	if (w->phase != PHASE_CONNECTED)
		return;
	vhca_set_qp_limits(&w->v, &w->quota.qp);
	w->status.stale = true;
}

static void check_xenstore(struct worker *w)
{
	if (!transport_xen_alive(w->t)) {
		log_info("the domain is gone");
		w->stop = true;
		return;
	}
	if (!is_online(w) || xb_state(w->xs, w->path) == XB_CLOSING) {
		log_info("detached from the guest");
		w->stop = true;
		return;
	}
	check_limits(w);
	check_frontend(w);
}

/* Returns in how many milliseconds it is to be called again; -1: when something has changed. */
static int look_if_changed(struct worker *w)
{
	uint64_t now = clock_ms(), wait;

	if (!w->look)
		return -1;
	wait = ratelimit_wait_ms(&w->looks, &look_rate, now);
	if (wait)
		return wait;
	ratelimit_spend(&w->looks, &look_rate, now);
	w->look = false;
	check_xenstore(w);
	return -1;
}

/* The loop */

enum {
	POLL_XENSTORE,
	POLL_SIGNAL,
	POLL_MM_PIN,
	POLL_BROKER,
	POLL_HCA,
	POLL_FLOOD,
	POLL_COUNTED,
	POLL_GSI,
	POLL_RING,
	POLLS
};

_Static_assert(POLLS <= POLL_SET_MOST, "so many at once");

/* An HCA that has failed or is taken away is none when it is back: whoever has it starts anew. */
static void poll_hca(struct worker *w)
{
	const struct hca_ops *ops = w->hca->ops;
	uint32_t type;
	int got;

	while ((got = ops->next_port_event(w->hca, &type)) > 0) {
		log_debug("event %u of HCA %s", type, w->hca_name);
		if (w->v.events)
			events_port(w->v.events, type);
		if (vhca_async_kind(type) == VHCA_ASYNC_DEVICE)
			break;
	}
	if (got)
		fail(w, WORKER_REFUSED, "HCA %s has failed or was removed", w->hca_name);
}

static void serve_ring(struct worker *w, bool *more)
{
	int got = ring_service(w->ring);

	*more = got > 0;
	if (got == -EPROTO)
		fail(w, WORKER_FAILED, "the guest broke the command ring");
	else if (got < 0)
		fail(w, WORKER_FAILED, "event channel: %s", strerror(-got));
}

/* What is always waited for. */
static int watch_own(struct worker *w, struct poll_set *set)
{
	return poll_set_put(set, POLL_XENSTORE, xs_fileno(w->xs), POLLIN) ?:
	       poll_set_put(set, POLL_SIGNAL, w->signals, POLLIN) ?:
	       poll_set_put(set, POLL_MM_PIN, w->mm_pin, POLLIN) ?:
	       poll_set_put(set, POLL_BROKER, broker_fd(w->broker), 0) ?: /* hanging up */
	       poll_set_put(set, POLL_HCA, w->hca->ops->port_fd(w->hca), POLLIN);
}

/* Statistics of the GSI are not waited for again before these are in the status. */
static uint32_t gsi_events(struct worker *w)
{
	return (events_mads_fd(w->v.events) >= 0 ? POLLIN : 0) | (w->status.stale ? 0 : POLLPRI);
}

/* What is waited for once there is a ring. */
static int watch_ring(struct worker *w, struct poll_set *set)
{
	const uint32_t gsi = gsi_events(w);
	int err;

	err = poll_set_put(set, POLL_RING, ring_fd(w->ring), POLLIN);
	if (!err && w->v.events)
		err = poll_set_put(set, POLL_FLOOD, events_flood_fd(w->v.events), POLLIN) ?:
			      poll_set_put(set, POLL_COUNTED, events_counted_fd(w->v.events),
					   POLLIN);
	return err ?: poll_set_put(set, POLL_GSI, gsi ? w->gsi : -1, gsi);
}

/* What has come, but for what the ring is to do. */
static void look_at(struct worker *w, const uint32_t *found)
{
	eventfd_t count;

	if (found[POLL_MM_PIN])
		fail(w, WORKER_FAILED, "the mm pin died");
	if (found[POLL_BROKER])
		fail(w, WORKER_FAILED, "the broker died");
	if (found[POLL_SIGNAL])
		w->stop = true;
	if (found[POLL_GSI] & ~POLLPRI && events_mads_fd(w->v.events) >= 0)
		events_mads(w->v.events);
	if (found[POLL_GSI] & ~POLLIN)
		w->status.stale = true;
	if (found[POLL_COUNTED])
		eventfd_read(events_counted_fd(w->v.events), &count);
	if (!w->stop && found[POLL_FLOOD])
		fail(w, WORKER_FAILED,
		     vhca_is_faulty(&w->v) ? "too many queues of the guest end in errors" :
					     "event flood from the guest");
	if (!w->stop && found[POLL_HCA])
		poll_hca(w);
	if (found[POLL_XENSTORE] && xb_drain(w->xs))
		w->look = true;
}

static void loop(struct worker *w)
{
	uint32_t found[POLL_SET_MOST];
	struct poll_set set;
	bool more = false;
	int timeout, err;

	err = poll_set_init(&set);
	if (err) {
		fail(w, WORKER_FAILED, "epoll: %s", strerror(-err));
		return;
	}
	err = watch_own(w, &set);
	w->look = true;
	while (!w->stop) {
		timeout = look_if_changed(w);
		if (w->stop)
			break;
		if (w->ring) {
			ratelimit_sooner(&timeout, status_update(&w->status, &w->v));
			ratelimit_sooner(&timeout, ring_timeout_ms(w->ring));
			err = err ?: watch_ring(w, &set);
		}
		err = err ?: poll_set_wait(&set, more ? 0 : timeout, found);
		if (err) {
			fail(w, WORKER_FAILED, "epoll: %s", strerror(-err));
			break;
		}
		look_at(w, found);
		if (!w->stop && w->ring)
			serve_ring(w, &more);
	}
	poll_set_fini(&set);
}

/* Setting up */

/* What a worker has open for itself, and three for each context; CQs have one each. */
#define OWN_FILES 16384

/* Each umem may be a dma-buf. Where so many are not allowed, there can be fewer of either. */
static void raise_limits(const struct quota *quota)
{
	rlim_t most = OWN_FILES + quota->objects[OBJ_UMEM].limit + quota->objects[OBJ_CQ].limit;
	struct rlimit files;

	if (!setrlimit(RLIMIT_NOFILE, &(struct rlimit){ most, most }))
		return;
	log_warning("%llu open files: %s", (unsigned long long)most, strerror(errno));
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static bool read_nodes(struct worker *w)
{
	uint64_t port = 1;

	if (!xb_read(w->xs, w->path, "frontend", w->frontend, sizeof(w->frontend)) ||
	    !xb_read(w->xs, w->path, XEN_VHCA_FIELD_HCA, w->hca_name, sizeof(w->hca_name))) {
		fail(w, WORKER_REFUSED, "no frontend or hca in %s", w->path);
		return false;
	}
	log_hca(w->hca_name);
	if (!xb_read_number(w->xs, w->path, XEN_VHCA_FIELD_PORT, UINT8_MAX, &port))
		port = 1;
	w->port = port;
	w->guid = nodes_guid(w->xs, w->path, w->domid, w->devid);
	w->kernel = nodes_choice(w->xs, w->path, CHOICE_KERNEL);
	w->gid = nodes_choice(w->xs, w->path, CHOICE_GID);
	nodes_pkeys(w->xs, w->path, &w->pkeys);
	nodes_services(w->xs, w->path, &w->services);
	w->limits_set = nodes_limits_set(w->xs, w->path);
	quota_setup(&w->quota, nodes_limit, &(struct nodes){ w->xs, w->path });
	return true;
}

static bool watch(struct worker *w, const char *dir, const char *key)
{
	char path[XB_PATH_MAX];

	return snprintf(path, sizeof(path), "%s%s", dir, key) < (int)sizeof(path) &&
	       xs_watch(w->xs, path, key);
}

static bool set_watches(struct worker *w)
{
	if (watch(w, w->frontend, "/state") && watch(w, w->path, "/online") &&
	    watch(w, w->path, "/state") && watch(w, w->path, "/" CONFIG_LIMITS_SET) &&
	    watch(w, "@releaseDomain", ""))
		return true;
	fail(w, WORKER_FAILED, "watching xenstore: %s", strerror(errno));
	return false;
}

static void offer_kernel(struct worker *w)
{
	const struct management_of of = {
		.hca = w->hca_name,
		.port = w->port,
		.domid = w->domid,
		.guid = w->guid,
		.pkeys = &w->pkeys,
		.services = &w->services,
		.own_gid = w->gid == GID_ALIAS,
	};

	if (w->kernel == KERNEL_ON)
		w->gsi = management_open(&of, &w->gid_index);
	xb_write(w->xs, w->path, XEN_VHCA_FIELD_FEATURE_KERNEL, "%d", w->kernel != KERNEL_OFF);
	xb_write(w->xs, w->path, XEN_VHCA_FIELD_FEATURE_MADS, "%d", w->gsi >= 0);
}

/* What an earlier worker left behind; the frontend must see that it is over. */
static void end_old_connection(struct worker *w)
{
	enum xb_state state = xb_state(w->xs, w->path);

	if (state != XB_INITIALISING && state != XB_CLOSED)
		xb_set_state(w->xs, w->path, XB_CLOSED);
}

static bool open_hca(struct worker *w)
{
	int err;

	w->hca = hca_open(w->hca_name, w->port, w->domid);
	if (!w->hca) {
		fail(w, WORKER_REFUSED, "HCA %s cannot be opened; the log says why", w->hca_name);
		return false;
	}
	/* The HCA that was opened here may be a newer one than the UAR pool's. */
	err = broker_uar_pool_alive(w->broker);
	if (err)
		fail(w, WORKER_REFUSED, "the UAR pool of HCA %s: %s", w->hca_name, strerror(-err));
	return !err;
}

static bool check_hca(struct worker *w)
{
	char why[256];
	int err;

	err = uverbs_find(w->hca_name, w->uverbs, sizeof(w->uverbs));
	if (err) {
		fail(w, WORKER_REFUSED, "HCA %s: %s", w->hca_name, strerror(-err));
		return false;
	}
	if (!dma_check(w->hca_name, why, sizeof(why)))
		return true;
	fail(w, WORKER_REFUSED, "%s", why);
	return false;
}

/*
 * From here on it all goes through the broker: see broker/client.h. A domain that is saved is destroyed
 * a moment after its frontend has ended the connection, for which this worker may be the next.
 */
static bool open_xen(struct worker *w)
{
	const struct broker_setup setup = {
		.domid = w->domid,
		.devid = w->devid,
		.hca = w->hca_name,
		.backend = w->path,
		.frontend = w->frontend,
		.life = WORKER_LIFE,
		.pool = WORKER_UAR_POOL,
		.table = WORKER_UAR_TABLE,
		.confined = !sandbox_waived(),
	};
	struct xs_handle *narrow;
	bool gone = false;

	w->broker = broker_start(&setup);
	close(WORKER_UAR_POOL);
	close(WORKER_UAR_TABLE);
	narrow = w->broker ? broker_xenstore(w->broker) : NULL;
	if (narrow) {
		xs_close(w->xs);
		w->xs = narrow;
		w->t = transport_xen_open(w->domid, w->broker, w->quota.bytes.limit, &gone);
	}
	if (gone)
		log_info("the domain is gone");
	else if (!w->t)
		fail(w, WORKER_FAILED, "no access to domain %u", w->domid);
	return w->t;
}

/* From here on the worker has nothing that is not for its guest. */
static bool confine(struct worker *w)
{
	char function[64 + UVERBS_NAME_MAX], why[256];
	const struct sandbox_path paths[] = {
		{ w->uverbs, SANDBOX_DEVICE },
		{ "/sys/class/infiniband_verbs", SANDBOX_READ },
		{ function, SANDBOX_READ },
	};
	struct sandbox_user user;
	int err;

	if (sandbox_waived())
		return true;
	snprintf(function, sizeof(function), "/sys/class/infiniband/%s/device", w->hca_name);
	err = sandbox_find_user(&user);
	if (err)
		fail(w, WORKER_REFUSED, "user " SANDBOX_USER ": %s", strerror(-err));
	else if ((err = sandbox_limit_memory(w->quota.bytes.limit)))
		fail(w, WORKER_REFUSED, "limiting memory: %s", strerror(-err));
	else if (sandbox_enter(SANDBOX_WORKER, &user, paths, 3, why, sizeof(why)))
		fail(w, WORKER_REFUSED, "%s", why);
	return !w->stop;
}

/* Where nothing is mapped for the HCA, the order in which a worker ends does not matter. */
static bool start_mm_pin(struct worker *w)
{
	int err = 0;

	if (may_map(w)) {
		w->mm_pin = mm_pin_start(WORKER_LIFE);
		err = w->mm_pin < 0 ? w->mm_pin : 0;
	}
	if (!err && !sandbox_waived())
		err = sandbox_no_more_processes();
	if (err)
		fail(w, WORKER_FAILED, "starting the mm pin: %s", strerror(-err));
	return !err;
}

/* In this order. False: what was set up is taken down by tear_down(). */
static bool set_up(struct worker *w)
{
	w->xs = xs_open(0);
	if (!w->xs) {
		fail(w, WORKER_FAILED, "xenstore: %s", strerror(errno));
		return false;
	}
	end_old_connection(w);
	nodes_write(w->xs, w->path);
	if (!read_nodes(w) || !check_hca(w))
		return false;
	raise_limits(&w->quota);
	offer_kernel(w);
	return open_xen(w) && confine(w) && open_hca(w) && start_mm_pin(w) && set_watches(w);
}

static void tear_down(struct worker *w)
{
	bool alive = w->t && transport_xen_alive(w->t);

	if (w->phase != PHASE_WAIT && alive)
		xb_set_state(w->xs, w->path, XB_CLOSING);
	disconnect_frontend(w);
	if (w->phase != PHASE_WAIT && alive)
		xb_set_state(w->xs, w->path, XB_CLOSED);
	if (w->hca)
		w->hca->ops->close(w->hca);
	if (w->gsi >= 0)
		close(w->gsi);
	if (w->t)
		w->t->ops->close(w->t);
	broker_stop(w->broker);
	xs_close(w->xs);
}

int worker_main(const char *path, unsigned int domid, unsigned int devid)
{
	uint64_t pause_s;
	struct worker w = {
		.path = path,
		.domid = domid,
		.devid = devid,
		.mm_pin = -1,
		.gsi = -1,
	};

	w.signals = catch_signals();
	if (w.signals < 0)
		return WORKER_FAILED;
	if (set_up(&w))
		loop(&w);
	tear_down(&w);
	if (w.result == WORKER_REFUSED)
		return WORKER_REFUSED;
	pause_s = vhca_owes_ms(&w.v) / 1000;
	return WORKER_STATUS(w.result, pause_s < WORKER_PAUSE_MOST ? pause_s : WORKER_PAUSE_MOST);
}
