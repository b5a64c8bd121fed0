// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * supervisor.c - see supervisor.h.
 *
 * One thread, which never waits for a guest: all that depends on one is done by its worker. What
 * the supervisor has to know it reads again from xenstore after each event, so that no event that
 * is missed or comes twice can confuse it.
 */
#define __XEN_TOOLS__ 1
#include <xenctrl.h> /* before any other header of Xen */

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

#include "answer.h"
#include "log.h"
#include "slot.h"
#include "status.h"
#include "supervisor.h"

#define MAX_SLOTS 1024
#define LOCK STATUS_DIR "/xen-ibback.lock"

struct supervisor {
	struct xs_handle *xs;
	xc_interface *xc;
	int signals, lock;
	bool verbose, stop;
	char root[64]; /* /local/domain/0/backend/vhca */
	struct slot_list slots;
	unsigned int n_slots;
	struct answer_source answers;
	struct control *control; /* NULL: nobody can ask */
};

static bool domain_runs(const struct supervisor *s, unsigned int domid)
{
	xc_domaininfo_t info;

	if (xc_domain_getinfo_single(s->xc, domid, &info))
		return false;
	return !(info.flags & XEN_DOMINF_dying);
}

/* Finding vHCAs */

static struct slot *find_slot(struct supervisor *s, unsigned int domid, unsigned int devid)
{
	struct slot *slot;

	LIST_FOREACH(slot, &s->slots, link)
		if (slot->domid == domid && slot->devid == devid)
			return slot;
	return NULL;
}

static void note_vhca(struct supervisor *s, unsigned int domid, unsigned int devid)
{
	struct slot *slot = find_slot(s, domid, devid);
	char path[XB_PATH_MAX];

	if (!slot) {
		if (s->n_slots >= MAX_SLOTS)
			return;
		snprintf(path, sizeof(path), "%s/%u/%u", s->root, domid, devid);
		slot = slot_new(path, domid, devid);
		if (!slot)
			return;
		LIST_INSERT_HEAD(&s->slots, slot, link);
		s->n_slots++;
		log_info("domain %u has vHCA %u", domid, devid);
	}
	slot->listed = true;
}

static void scan_domain(struct supervisor *s, unsigned int domid)
{
	char path[XB_PATH_MAX], **names;
	unsigned int n, i, devid;

	snprintf(path, sizeof(path), "%s/%u", s->root, domid);
	names = xs_directory(s->xs, XBT_NULL, path, &n);
	if (!names)
		return;
	for (i = 0; i < n; i++)
		if (xb_number(names[i], &devid))
			note_vhca(s, domid, devid);
	free(names);
}

static void scan(struct supervisor *s)
{
	unsigned int n, i, domid;
	struct slot *slot;
	char **names;

	LIST_FOREACH(slot, &s->slots, link)
		slot->listed = false;
	names = xs_directory(s->xs, XBT_NULL, s->root, &n);
	if (!names)
		return;
	for (i = 0; i < n; i++)
		if (xb_number(names[i], &domid))
			scan_domain(s, domid);
	free(names);
}

/* Looking after them */

static bool wants_worker(struct supervisor *s, const struct slot *slot)
{
	uint64_t online;

	if (s->stop || !slot->listed || slot->pid || slot->life >= 0)
		return false;
	return xb_read_number(s->xs, slot->path, "online", 1, &online) && online;
}

static void forget_domain_nodes(struct supervisor *s, const struct slot *slot)
{
	char parent[XB_PATH_MAX];
	unsigned int n;
	char **left;

	xs_rm(s->xs, XBT_NULL, slot->path);
	snprintf(parent, sizeof(parent), "%s/%u", s->root, slot->domid);
	left = xs_directory(s->xs, XBT_NULL, parent, &n);
	if (left && !n)
		xs_rm(s->xs, XBT_NULL, parent);
	free(left);
}

static void remove_slot(struct supervisor *s, struct slot *slot)
{
	LIST_REMOVE(slot, link);
	s->n_slots--;
	slot_free(slot);
}

/* Of a domain that is gone: its worker sees that itself and ends; then nodes and bank can go. */
static void bury(struct supervisor *s, struct slot *slot)
{
	if (slot->pid || slot->life >= 0)
		return;
	if (slot->listed)
		forget_domain_nodes(s, slot);
	log_info("domain %u is gone, and its vHCA %u", slot->domid, slot->devid);
	remove_slot(s, slot);
}

static void sooner(int *due, int ms)
{
	if (ms >= 0 && (*due < 0 || ms < *due))
		*due = ms;
}

/* Starts the worker if it is time to. Returns in how many milliseconds it will be, or -1. */
static int start_worker(struct supervisor *s, struct slot *slot)
{
	uint64_t now = slot_now_ms();

	if (slot->not_before_ms <= now)
		slot_start(slot, s->xs, s->verbose);
	if (slot->pid)
		return -1;
	return slot->not_before_ms > now ? (int)(slot->not_before_ms - now) : 0;
}

/* Returns in how many milliseconds something is due, or -1. */
static int look_after(struct supervisor *s)
{
	struct slot *slot, *next;
	int due = -1;

	for (slot = LIST_FIRST(&s->slots); slot; slot = next) {
		next = LIST_NEXT(slot, link);
		if (!domain_runs(s, slot->domid)) {
			sooner(&due, slot_domain_gone(slot));
			bury(s, slot);
		} else if (wants_worker(s, slot)) {
			sooner(&due, start_worker(s, slot));
		}
	}
	return due;
}

/* Keepers of dead workers become children of ours, too; nobody waits for them. */
static void reap(struct supervisor *s)
{
	struct slot *slot;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		LIST_FOREACH(slot, &s->slots, link)
			if (slot->pid == pid)
				slot_ended(slot, s->xs, status);
}

static void look_at_signals(struct supervisor *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			s->stop = true;
	reap(s);
}

/* The loop */

enum { POLL_XENSTORE, POLL_SIGNAL, POLL_CONTROL, POLL_SLOTS };

static void wait_for_events(struct supervisor *s, int timeout)
{
	static struct pollfd polls[POLL_SLOTS + MAX_SLOTS];
	static struct slot *whose[MAX_SLOTS];
	struct slot *slot;
	int n = 0, i;

	polls[POLL_XENSTORE] = (struct pollfd){ .fd = xs_fileno(s->xs), .events = POLLIN };
	polls[POLL_SIGNAL] = (struct pollfd){ .fd = s->signals, .events = POLLIN };
	polls[POLL_CONTROL] = (struct pollfd){ .fd = control_fd(s->control), .events = POLLIN };
	LIST_FOREACH(slot, &s->slots, link) {
		if (slot->life < 0)
			continue;
		polls[POLL_SLOTS + n] = (struct pollfd){ .fd = slot->life, .events = POLLIN };
		whose[n++] = slot;
	}
	if (poll(polls, POLL_SLOTS + n, timeout) <= 0)
		return;
	look_at_signals(s);
	for (i = 0; i < n; i++)
		if (polls[POLL_SLOTS + i].revents && !whose[i]->pid)
			slot_released(whose[i], s->xs);
	if (polls[POLL_XENSTORE].revents && xb_drain(s->xs))
		scan(s);
	if (polls[POLL_CONTROL].revents)
		control_service(s->control);
}

static bool any_worker(const struct supervisor *s)
{
	struct slot *slot;

	LIST_FOREACH(slot, &s->slots, link)
		if (slot->pid)
			return true;
	return false;
}

/* Hanging up lets a worker of a PV guest stay behind with the doorbell pages; see worker.c. */
static void hang_up(struct supervisor *s)
{
	struct slot *slot;

	LIST_FOREACH(slot, &s->slots, link) {
		if (slot->control >= 0)
			close(slot->control);
		slot->control = -1;
	}
}

static void loop(struct supervisor *s)
{
	scan(s);
	while (!s->stop)
		wait_for_events(s, look_after(s));
	if (any_worker(s))
		log_info("stopping; the workers end by themselves");
	hang_up(s);
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
	log_error("xen-ibback runs already");
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
	uint64_t domid = 0;
	char own[16];

	s->xs = xs_open(0);
	s->xc = xc_interface_open(NULL, NULL, 0);
	if (!s->xs || !s->xc) {
		log_error("xenstore or the hypervisor: %s", strerror(errno));
		return false;
	}
	if (xb_read(s->xs, NULL, "domid", own, sizeof(own)))
		domid = strtoul(own, NULL, 10);
	snprintf(s->root, sizeof(s->root), "/local/domain/%u/backend/vhca", (unsigned int)domid);
	s->answers = (struct answer_source){ s->xs, domid, s->root, &s->slots };
	if (xs_watch(s->xs, s->root, "vhca") && xs_watch(s->xs, "@releaseDomain", "release"))
		return true;
	log_error("watching xenstore: %s", strerror(errno));
	return false;
}

/* Guests are served whether an administrator can ask or not. */
static void open_control(struct supervisor *s)
{
	s->control = control_open(CONTROL_SOCKET, answer_request, &s->answers);
	if (!s->control)
		log_error(CONTROL_SOCKET ": %s", strerror(errno));
}

int supervisor_main(bool verbose)
{
	struct supervisor s = { .verbose = verbose };
	int result = EXIT_FAILURE;

	LIST_INIT(&s.slots);
	if (!open_lock(&s))
		return EXIT_FAILURE;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (open_signals(&s) && open_xen(&s)) {
		open_control(&s);
		log_info("serving %s", s.root);
		loop(&s);
		control_close(s.control);
		result = EXIT_SUCCESS;
	}
	xs_close(s.xs);
	xc_interface_close(s.xc);
	return result;
}
