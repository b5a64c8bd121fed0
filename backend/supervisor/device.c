// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * device.c - see device.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hca/hca.h"
#include "supervisor/device.h"
#include "supervisor/family.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/paths.h"
#include "worker/worker.h"

#define RETRY_MS 500
#define RETRY_MOST_MS 60000     /* a guest that breaks things waits for so long at most */
#define RETRY_HCA_MOST_MS 4000  /* and an HCA that cannot be used, which may come back any time */
#define RETRY_ABSENT_MS 1000    /* to see whether there is one costs nothing */
#define FAMILY_MS 3000          /* broker and keeper end with their worker; those that do not are killed */
#define SHORT_LIFE_MS 1000      /* a worker that dies so young was of no use */

/* A guest that connects and disconnects in a loop has a worker started each time. */
static const struct ratelimit_rate start_rate = { .burst = 16, .interval_ms = 500 };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Its files */

const char *slot_dir = STATUS_DIR;

struct file_name {
	char path[128];
};

static struct file_name file_name(const struct slot *slot, const char *what)
{
	struct file_name name;

	snprintf(name.path, sizeof(name.path), "%s/%u-%u.%s", slot_dir, slot->domid, slot->devid,
		 what);
	return name;
}

static void write_pid(const struct slot *slot)
{
	FILE *file = fopen(file_name(slot, "pid").path, "we");

	if (!file)
		return;
	fprintf(file, "%d\n", slot->pid);
	fclose(file);
}

/* Whether a process is a worker of this vHCA. */
static bool is_worker(const struct slot *slot, int pid)
{
	char path[64], line[512];
	const char *at = line;
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	length = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[length] = 0;
	for (; at < line + length; at += strlen(at) + 1)
		if (!strcmp(at, slot->path))
			return true;
	return false;
}

/* The pidfd comes first, so that what is looked at is what it refers to. */
static void find_worker(struct slot *slot)
{
	FILE *file = fopen(file_name(slot, "pid").path, "re");
	int pid = 0;

	if (!file)
		return;
	if (fscanf(file, "%d", &pid) != 1)
		pid = 0;
	fclose(file);
	slot->pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	if (slot->pidfd >= 0 && is_worker(slot, pid))
		slot->pid = pid;
	else
		close_fd(&slot->pidfd);
}

/* Without an end for writing a read returns 0, and else there is nothing to read. */
static bool life_is_over(const struct slot *slot)
{
	char byte;

	return read(slot->life, &byte, 1) >= 0 || errno != EAGAIN;
}

/* The end for reading. A worker that has let go of its life is one nonetheless. */
static void find_life(struct slot *slot)
{
	slot->life = open(file_name(slot, "life").path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (slot->life < 0)
		return;
	find_worker(slot);
	if (slot->pid || !life_is_over(slot))
		log_info("worker %d of %s goes on", slot->pid, slot->path);
	else
		close_fd(&slot->life);
}

/* Returns the end for writing, for worker and keeper, or -1. */
static int make_life(struct slot *slot)
{
	struct file_name name = file_name(slot, "life");

	if (mkfifo(name.path, 0600) && errno != EEXIST)
		return -1;
	slot->life = open(name.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return slot->life < 0 ? -1 : open(name.path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

struct slot *slot_new(const char *path, unsigned int domid, unsigned int devid, struct bank_store *store)
{
	struct slot *slot = calloc(1, sizeof(*slot));

	if (!slot)
		return NULL;
	snprintf(slot->path, sizeof(slot->path), "%s", path);
	slot->domid = domid;
	slot->devid = devid;
	slot->pidfd = -1;
	banks_init(&slot->banks, domid, devid, store);
	find_life(slot);
	return slot;
}

void slot_free(struct slot *slot)
{
	static const char *const files[] = { "life", "pid", "status" };
	unsigned int i;

	banks_close(&slot->banks);
	close_fd(&slot->life);
	close_fd(&slot->pidfd);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(file_name(slot, files[i]).path);
	free(slot);
}

bool slot_busy(const struct slot *slot)
{
	return slot->pid || slot->life >= 0;
}

/* Starting */

static void retry_later(struct slot *slot, uint64_t most)
{
	uint64_t delay = RETRY_MS;
	unsigned int i;

	for (i = 0; i < slot->failures && delay < most; i++)
		delay *= 2;
	slot->failures++;
	slot->not_before_ms = clock_ms() + (delay < most ? delay : most);
}

/* After a worker that was of use for so long, what was before it does not count any more. */
static void retry_after(struct slot *slot, uint64_t useful, uint64_t most)
{
	if (clock_ms() - slot->started_ms >= useful)
		slot->failures = 0;
	retry_later(slot, most);
}

/* Where it is read by people; not again and again the same. */
__attribute__((format(printf, 3, 4)))
static void say(struct slot *slot, struct xs_handle *xs, const char *format, ...)
{
	char text[sizeof(slot->said)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!strcmp(text, slot->said))
		return;
	strcpy(slot->said, text);
	log_error("%s: %s", slot->path, text);
	xb_write(xs, slot->path, XEN_VHCA_FIELD_ERROR, "%s", text);
}

static struct bank *find_bank(struct slot *slot, struct xs_handle *xs)
{
	char hca[UVERBS_NAME_MAX];
	struct bank *bank;
	int err;

	slot->not_before_ms = clock_ms() + RETRY_ABSENT_MS;
	if (!xb_read(xs, slot->path, XEN_VHCA_FIELD_HCA, hca, sizeof(hca))) {
		say(slot, xs, "no hca is given");
		return NULL;
	}
	bank = banks_get(&slot->banks, hca, &err);
	if (bank)
		return bank;
	if (err == -ENOENT) {
		say(slot, xs, "there is no HCA %s", hca);
	} else if (slot->banks.store->stale[0]) {
		slot->not_before_ms = clock_ms() + RETRY_HCA_MOST_MS;
		say(slot, xs, "HCA %s: its driver was reloaded, and %s may have doorbell pages mapped that are "
		    "somebody else's now; wait until they are gone, or end them", hca, slot->banks.store->stale);
	} else {
		say(slot, xs, "HCA %s: %s", hca, strerror(-err));
	}
	return NULL;
}

/* In the child. The descriptors' numbers may be in each other's way, so they are moved up first. */
static void become_worker(const struct slot *slot, const struct bank *bank, int life, bool verbose)
{
	const int from[] = { bank->file, bank->records, life };
	const int n = sizeof(from) / sizeof(from[0]);
	char domid[16], devid[16];
	sigset_t none;
	int high[n];
	int i;

	for (i = 0; i < n; i++) {
		high[i] = fcntl(from[i], F_DUPFD, 64);
		if (high[i] < 0)
			_exit(WORKER_FAILED);
	}
	for (i = 0; i < n; i++)
		if (dup2(high[i], WORKER_BANK + i) < 0)
			_exit(WORKER_FAILED);
	close_range(WORKER_FD_END, ~0u, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	snprintf(domid, sizeof(domid), "%u", slot->domid);
	snprintf(devid, sizeof(devid), "%u", slot->devid);
	execl("/proc/self/exe", "xen-ibback", "--worker", slot->path, domid, devid,
	      verbose ? "verbose" : NULL, NULL);
	_exit(WORKER_FAILED);
}

void slot_put_off(struct slot *slot, struct xs_handle *xs, const char *why)
{
	say(slot, xs, "%s", why);
	slot->not_before_ms = clock_ms() + RETRY_ABSENT_MS;
}

void slot_start(struct slot *slot, struct xs_handle *xs, bool verbose)
{
	struct bank *bank = find_bank(slot, xs);
	int life;

	if (!bank)
		return;
	life = make_life(slot);
	if (life < 0)
		goto err;
	slot->started_ms = clock_ms();
	ratelimit_spend(&slot->starts, &start_rate, slot->started_ms);
	slot->pid = fork();
	if (!slot->pid)
		become_worker(slot, bank, life, verbose);
	if (slot->pid < 0)
		goto err;
	close(life);
	write_pid(slot);
	slot->crashed = false;
	slot->said[0] = 0;
	slot->end_ms = slot->ended_ms = 0;
	log_debug("worker %d for %s", slot->pid, slot->path);
	return;

err:
	say(slot, xs, "starting a worker: %s", strerror(errno));
	slot->pid = 0;
	close_fd(&life);
	close_fd(&slot->life);
	retry_later(slot, RETRY_MOST_MS);
}

/* Ending */

/* Of one that is not known, from before, whoever is left of its family. */
static void kill_worker(const struct slot *slot)
{
	if (slot->pidfd >= 0)
		pidfd_send_signal(slot->pidfd, SIGKILL, NULL, 0);
	else if (slot->pid)
		kill(slot->pid, SIGKILL);
	else
		family_kill(file_name(slot, "life").path);
}

int slot_must_end(struct slot *slot, unsigned int grace_ms)
{
	uint64_t now = clock_ms();

	if (!slot_busy(slot))
		return -1;
	if (!slot->end_ms)
		slot->end_ms = now;
	if (now - slot->end_ms < grace_ms)
		return grace_ms - (now - slot->end_ms);
	log_warning("worker %d of %s does not end", slot->pid, slot->path);
	kill_worker(slot);
	slot->end_ms = now;
	return grace_ms;
}

/*
 * A worker that ends by itself has said Closed. Of one that was killed the guest hears from us, and
 * if that one was of use the next one follows at once: its guest has done nothing wrong.
 */
static void crashed(struct slot *slot, struct xs_handle *xs)
{
	slot->crashed = true;
	if (slot->listed)
		xb_set_state(xs, slot->path, XB_CLOSING);
	if (clock_ms() - slot->started_ms < SHORT_LIFE_MS) {
		retry_later(slot, RETRY_MOST_MS);
		return;
	}
	slot->failures = 0;
	slot->not_before_ms = 0;
}

static void not_within(struct slot *slot, uint64_t ms)
{
	uint64_t next = clock_ms() + ms;

	if (slot->not_before_ms < next)
		slot->not_before_ms = next;
}

void slot_ended(struct slot *slot, struct xs_handle *xs, int status)
{
	bool exited = WIFEXITED(status);
	int result = exited ? WORKER_EXIT(WEXITSTATUS(status)) : WORKER_FAILED;

	if (WIFSIGNALED(status)) {
		log_error("worker %d of %s was killed by signal %d", slot->pid, slot->path,
			  WTERMSIG(status));
		crashed(slot, xs);
	} else if (result == WORKER_DONE) {
		slot->failures = 0;
		slot->not_before_ms = 0;
	} else if (result == WORKER_REFUSED) {
		retry_after(slot, RETRY_HCA_MOST_MS, RETRY_HCA_MOST_MS);
	} else {
		retry_after(slot, RETRY_MOST_MS, RETRY_MOST_MS);
	}
	if (exited)
		not_within(slot, 1000 * WORKER_PAUSE_S(WEXITSTATUS(status)));
	not_within(slot, ratelimit_wait_ms(&slot->starts, &start_rate, clock_ms()));
	slot->pid = 0;
	slot->ended_ms = clock_ms();
}

/* Of a worker that was not our child there is no status; but the guest's sight of it tells. */
static void stranger_ended(struct slot *slot, struct xs_handle *xs)
{
	log_info("worker %d of %s, from before, has ended", slot->pid, slot->path);
	close_fd(&slot->pidfd);
	slot->pid = 0;
	slot->ended_ms = clock_ms();
	if (slot->listed && xb_state(xs, slot->path) != XB_CLOSED)
		crashed(slot, xs);
}

/* All that the last worker had is released. Of one from before whose pid nobody knew this is the end as well. */
static void released(struct slot *slot, struct xs_handle *xs)
{
	if (!slot->ended_ms)
		stranger_ended(slot, xs);
	close_fd(&slot->life);
	slot->end_ms = slot->ended_ms = 0;
	if (slot->crashed && slot->listed)
		xb_set_state(xs, slot->path, XB_CLOSED);
	slot->crashed = false;
}

/* A child is waited for; after a worker, its family. */
int slot_fd(const struct slot *slot)
{
	if (slot->pidfd >= 0)
		return slot->pidfd;
	return slot->pid ? -1 : slot->life;
}

/* A pipe that had no other end when it was opened never hangs up. */
void slot_event(struct slot *slot, struct xs_handle *xs)
{
	if (slot->pidfd >= 0)
		stranger_ended(slot, xs);
	if (!slot->pid && slot->life >= 0 && life_is_over(slot))
		released(slot, xs);
}

int slot_clear(struct slot *slot)
{
	uint64_t now = clock_ms();

	if (slot->pid || slot->life < 0 || !slot->ended_ms)
		return -1;
	if (now - slot->ended_ms < FAMILY_MS)
		return FAMILY_MS - (now - slot->ended_ms);
	log_warning("%u processes outlive the worker of %s: they are killed",
		    family_kill(file_name(slot, "life").path), slot->path);
	slot->ended_ms = now;
	return FAMILY_MS;
}
