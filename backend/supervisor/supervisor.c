// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * supervisor.c - see supervisor.h.
 *
 * One thread, which never waits for a guest: all that depends on one is done by its worker. What
 * the supervisor has to know it reads again from xenstore after each event, so that no event that
 * is missed or comes twice can confuse it. What it cannot read there it finds with its workers and
 * in systemd's file descriptor store, which both outlive it: see device.h and fdstore.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "admin/listing.h"
#include "config/spec.h"
#include "shared-ring/vhca_nodes.h"
#include "supervisor/autoattach.h"
#include "supervisor/control_ops.h"
#include "supervisor/device.h"
#include "supervisor/fdstore.h"
#include "supervisor/hca_auto.h"
#include "supervisor/sd_notify.h"
#include "supervisor/supervisor.h"
#include "supervisor/uar_pools.h"
#include "supervisor/uar_search.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/paths.h"
#include "util/ratelimit.h"
#include "xen/attach.h"
#include "xen/iomem.h"
#include "xen/iomem_server.h"

#define MAX_DEVICES 1024
#define LOCK STATUS_DIR "/xen-ibback.lock"
#define DETACH_LOOK_MS 250

struct supervisor {
	struct xs_handle *xs;
	struct iomem *iomem;
	struct iomem_server *iomem_server; /* NULL: in a driver domain */
	int signals, lock;
	struct uar_store store;
	bool verbose, stop;
	unsigned int own; /* our domain */
	char root[64];    /* /local/domain/0/backend/vhca */
	struct device_list devices;
	unsigned int n_devices;
	struct domains domains;
	struct control_source source;
	struct control *control; /* NULL: nobody can ask */
};

/* *revocable: what a domain may map of the HCA can be taken away from it. */
static bool domain_runs(const struct supervisor *s, unsigned int domid, bool *revocable)
{
	*revocable = false;
	return iomem_domain(s->iomem, domid, revocable) != -ESRCH;
}

/* Finding vHCAs */

static struct device *find_device(struct supervisor *s, unsigned int domid, unsigned int devid)
{
	struct device *device;

	LIST_FOREACH(device, &s->devices, link)
		if (device->domid == domid && device->devid == devid)
			return device;
	return NULL;
}

static void vhca_path(const struct supervisor *s, char path[XB_PATH_MAX], unsigned int domid,
		      unsigned int devid)
{
	snprintf(path, XB_PATH_MAX, "%s/%u/%u", s->root, domid, devid);
}

static struct device *get_device(struct supervisor *s, unsigned int domid, unsigned int devid)
{
	struct device *device = find_device(s, domid, devid);
	char path[XB_PATH_MAX];

	if (device || s->n_devices >= MAX_DEVICES)
		return device;
	vhca_path(s, path, domid, devid);
	device = device_new(path, domid, devid, &s->store);
	if (!device)
		return NULL;
	LIST_INSERT_HEAD(&s->devices, device, link);
	s->n_devices++;
	return device;
}

static enum device_detach read_detach(struct supervisor *s, const char *path)
{
	char how[8];

	if (!xb_read(s->xs, path, "detach", how, sizeof(how)))
		return DETACH_NO;
	if (!strcmp(how, "done"))
		return DETACH_DONE;
	return strcmp(how, "force") ? DETACH_WAIT : DETACH_FORCE;
}

static void note_vhca(void *supervisor, const char *root, unsigned int domid, unsigned int devid)
{
	struct supervisor *s = supervisor;
	enum device_detach detach;
	char path[XB_PATH_MAX];
	struct device *device;

	(void)root;
	vhca_path(s, path, domid, devid);
	detach = read_detach(s, path);
	/* What dom0 is about to remove is none. */
	device = detach == DETACH_DONE ? NULL : get_device(s, domid, devid);
	if (!device)
		return;
	if (!device->listed && !device->was_listed)
		log_info("domain %u has vHCA %u", domid, devid);
	device->listed = true;
	device->detach = detach;
}

static void scan(struct supervisor *s)
{
	struct device *device;

	LIST_FOREACH(device, &s->devices, link) {
		device->was_listed = device->listed;
		device->listed = false;
		device->detach = DETACH_NO;
	}
	listing_each(s->xs, s->root, note_vhca, s);
}

/* Workers and vHCAs of which nothing but a file is left, since there was no supervisor. */
static void scan_files(struct supervisor *s)
{
	unsigned int domid, devid;
	struct dirent *entry;
	char end;
	DIR *dir;

	dir = opendir(STATUS_DIR);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (sscanf(entry->d_name, "%u-%u.lif%c", &domid, &devid, &end) == 3 && end == 'e')
			get_device(s, domid, devid);
	closedir(dir);
}

/* Looking after them */

static bool wants_worker(struct supervisor *s, const struct device *device)
{
	uint64_t online;

	if (s->stop || !device->listed || device_busy(device))
		return false;
	return xb_read_number(s->xs, device->path, "online", 1, &online) && online;
}

static void forget_domain_nodes(struct supervisor *s, const struct device *device)
{
	char parent[XB_PATH_MAX];
	unsigned int n;
	char **left;

	xs_rm(s->xs, XBT_NULL, device->path);
	snprintf(parent, sizeof(parent), "%s/%u", s->root, device->domid);
	left = xs_directory(s->xs, XBT_NULL, parent, &n);
	if (left && !n)
		xs_rm(s->xs, XBT_NULL, parent);
	free(left);
}

static void remove_device(struct supervisor *s, struct device *device)
{
	LIST_REMOVE(device, link);
	s->n_devices--;
	device_free(device);
}

/* Of a domain that is gone: its worker sees that itself and ends; then nodes and UAR pool can go. */
static void remove_gone(struct supervisor *s, struct device *device)
{
	if (device_busy(device))
		return;
	forget_domain_nodes(s, device);
	log_info("domain %u is gone: removed its vHCA %u", device->domid, device->devid);
	remove_device(s, device);
}

static unsigned int vhcas_of(void *supervisor, const char *hca)
{
	struct supervisor *s = supervisor;
	char name[CONFIG_NAME_MAX];
	struct device *device;
	unsigned int n = 0;

	LIST_FOREACH(device, &s->devices, link)
		n += device->listed &&
		     xb_read(s->xs, device->path, XEN_VHCA_FIELD_HCA, name, sizeof(name)) &&
		     !strcmp(name, hca);
	return n;
}

/* "hca=auto" becomes a name, once: the vHCA stays with that HCA. False: there is none yet. */
static bool choose_hca(struct supervisor *s, struct device *device)
{
	char name[CONFIG_NAME_MAX];
	uint64_t port;

	if (!xb_read(s->xs, device->path, XEN_VHCA_FIELD_HCA, name, sizeof(name)) ||
	    strcmp(name, CONFIG_HCA_AUTO))
		return true;
	if (!xb_read_number(s->xs, device->path, XEN_VHCA_FIELD_PORT, UINT8_MAX, &port))
		port = 1;
	if (!hca_auto(port, vhcas_of, s, name, sizeof(name))) {
		device_put_off(device, s->xs, "no HCA here can serve: see xen-ib check");
		return false;
	}
	log_info("%s: HCA %s", device->path, name);
	return xb_write(s->xs, device->path, XEN_VHCA_FIELD_HCA, "%s", name);
}

/* Starts the worker if it is time to. Returns in how many milliseconds it will be, or -1. */
static int start_worker(struct supervisor *s, struct device *device)
{
	uint64_t now = clock_ms();

	if (device->not_before_ms <= now && choose_hca(s, device))
		device_start(device, s->xs, s->verbose);
	if (device->pid)
		return -1;
	return device->not_before_ms > now ? (int)(device->not_before_ms - now) : 0;
}

/* Whether the guest's driver still has its device, so that it would miss the nodes. */
static bool guest_has_device(struct supervisor *s, const struct device *device)
{
	char path[XB_PATH_MAX];
	enum xb_state state;

	snprintf(path, sizeof(path), "/local/domain/%u/device/vhca/%u", device->domid,
		 device->devid);
	state = xb_state(s->xs, path);
	return state >= XB_INIT_WAIT && state <= XB_CLOSING;
}

static bool remove_nodes(struct supervisor *s, const struct device *device)
{
	return (s->own ? attach_done : attach_remove)(s->xs, s->own, device->domid, device->devid);
}

/* A vHCA that is being taken away. Its worker sees that by itself. Returns as look_after(). */
static int detach(struct supervisor *s, struct device *device)
{
	bool force = device->detach == DETACH_FORCE;

	if (device_busy(device))
		return device_must_end(device, force ? DEVICE_FORCE_MS : DEVICE_GRACE_MS);
	if (!force && guest_has_device(s, device))
		return DETACH_LOOK_MS;
	if (!remove_nodes(s, device))
		return DETACH_LOOK_MS;
	log_info("vHCA %u of domain %u: detaching", device->devid, device->domid);
	device->listed = false;
	device->detach = DETACH_NO;
	uar_pools_trim(&device->pools);
	return -1;
}

/* Returns in how many milliseconds something is due, or -1. */
static int look_after(struct supervisor *s)
{
	struct device *device, *next;
	int due = -1;

	for (device = LIST_FIRST(&s->devices); device; device = next) {
		next = LIST_NEXT(device, link);
		ratelimit_sooner(&due, device_clear(device));
		if (!domain_runs(s, device->domid, &device->pools.revocable)) {
			ratelimit_sooner(&due, device_must_end(device, DEVICE_GRACE_MS));
			remove_gone(s, device);
		} else if (device->detach) {
			ratelimit_sooner(&due, detach(s, device));
		} else if (wants_worker(s, device)) {
			ratelimit_sooner(&due, start_worker(s, device));
		}
	}
	return due;
}

/* Mm pins of dead workers become children of ours, too; nobody waits for them. */
static void reap(struct supervisor *s)
{
	struct device *device;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		LIST_FOREACH(device, &s->devices, link)
			if (device->pid == pid && device->pidfd < 0)
				device_ended(device, s->xs, status);
}

static void check_signals(struct supervisor *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			s->stop = true;
	reap(s);
}

/* What the supervisor before has left */

static struct uar_pools *pools_of(void *supervisor, unsigned int domid, unsigned int devid)
{
	struct device *device = get_device(supervisor, domid, devid);

	return device ? &device->pools : NULL;
}

static bool load_store(struct supervisor *s)
{
	int err = uar_store_load(&s->store, pools_of, s);

	if (err)
		log_error("what the file descriptor store has: %s", strerror(-err));
	else if (!fdstore_exists())
		log_warning(
			"no file descriptor store (systemd 254 has one): when this daemon and a worker have ended, others may "
			"get doorbell pages that a guest still has mapped");
	return !err;
}

/* The loop */

enum { POLL_XENSTORE, POLL_SIGNAL, POLL_CONTROL, POLL_IOMEM_SERVER, POLL_DEVICES };

static void wait_for_events(struct supervisor *s, int timeout)
{
	static struct pollfd polls[POLL_DEVICES + MAX_DEVICES];
	static struct device *whose[MAX_DEVICES];
	struct device *device;
	int n = 0, i;

	polls[POLL_XENSTORE] = (struct pollfd){ .fd = xs_fileno(s->xs), .events = POLLIN };
	polls[POLL_SIGNAL] = (struct pollfd){ .fd = s->signals, .events = POLLIN };
	polls[POLL_CONTROL] = (struct pollfd){ .fd = control_fd(s->control), .events = POLLIN };
	polls[POLL_IOMEM_SERVER] =
		(struct pollfd){ .fd = iomem_server_fd(s->iomem_server), .events = POLLIN };
	LIST_FOREACH(device, &s->devices, link) {
		if (device_fd(device) < 0)
			continue;
		polls[POLL_DEVICES + n] =
			(struct pollfd){ .fd = device_fd(device), .events = POLLIN };
		whose[n++] = device;
	}
	if (poll(polls, POLL_DEVICES + n, timeout) <= 0)
		return;
	check_signals(s);
	for (i = 0; i < n; i++)
		if (polls[POLL_DEVICES + i].revents)
			device_event(whose[i], s->xs);
	if (polls[POLL_XENSTORE].revents && xb_drain(s->xs)) {
		domains_scan(&s->domains, s->xs, s->iomem, s->own);
		scan(s);
	}
	if (polls[POLL_CONTROL].revents)
		control_service(s->control);
}

/* Devices are kept for pools, too, when their vHCAs have been taken away. */
static unsigned int count_vhcas(const struct supervisor *s)
{
	const struct device *device;
	unsigned int n = 0;

	LIST_FOREACH(device, &s->devices, link)
		n += device->listed;
	return n;
}

static void loop(struct supervisor *s)
{
	int due;

	scan_files(s);
	domains_scan(&s->domains, s->xs, s->iomem, s->own);
	scan(s);
	service_ready();
	while (!s->stop) {
		service_vhcas(count_vhcas(s));
		due = look_after(s);
		ratelimit_sooner(&due, iomem_server_service(s->iomem_server));
		ratelimit_sooner(&due, uar_search_step(&s->store));
		ratelimit_sooner(&due, service_alive());
		wait_for_events(s, due);
	}
	uar_search_end(&s->store);
	service_stopping();
	log_info("stopping; workers and guests continue");
}

static bool open_lock(struct supervisor *s)
{
	mkdir(STATUS_DIR, 0755);
	s->lock = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock < 0) {
		log_error("%s: %s", LOCK, strerror(errno));
		return false;
	}
	if (!flock(s->lock, LOCK_EX | LOCK_NB))
		return true;
	log_error("xen-ibback already runs");
	close(s->lock);
	return false;
}

static bool open_signals(struct supervisor *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signals >= 0;
}

static bool open_xen(struct supervisor *s)
{
	s->xs = xs_open(0);
	s->iomem = iomem_open();
	if (!s->xs || !s->iomem) {
		log_error("xenstore or the hypervisor: %s", strerror(errno));
		return false;
	}
	s->own = iomem_own(s->iomem);
	s->iomem_server = iomem_server_open(s->iomem);
	if (!s->iomem_server && !s->own) {
		log_error("xenstore, for driver domains: %s", strerror(errno));
		return false;
	}
	snprintf(s->root, sizeof(s->root), "/local/domain/%u/backend/vhca", s->own);
	s->source = (struct control_source){ s->xs, s->own, s->root, STATUS_DIR, &s->devices };
	if (xs_watch(s->xs, s->root, "vhca") && xs_watch(s->xs, "@introduceDomain", "introduce") &&
	    xs_watch(s->xs, "@releaseDomain", "release"))
		return true;
	log_error("watching xenstore: %s", strerror(errno));
	return false;
}

/* Guests are served whether an administrator can ask or not. */
static void open_control(struct supervisor *s)
{
	s->control = control_open(CONTROL_SOCKET, control_ops_request, &s->source);
	if (!s->control)
		log_error(CONTROL_SOCKET ": %s", strerror(errno));
}

int supervisor_main(bool verbose)
{
	static struct supervisor s;
	int result = EXIT_FAILURE;

	s.verbose = verbose;
	uar_store_init(&s.store);
	LIST_INIT(&s.devices);
	if (!open_lock(&s))
		return EXIT_FAILURE;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (open_signals(&s) && open_xen(&s) && load_store(&s)) {
		open_control(&s);
		log_info("serving %s", s.root);
		loop(&s);
		control_close(s.control);
		result = EXIT_SUCCESS;
	}
	iomem_server_close(s.iomem_server);
	iomem_close(s.iomem);
	xs_close(s.xs);
	return result;
}
