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
#include "shared-ring/vhca_nodes.h"
#include "supervisor/device.h"
#include "supervisor/family.h"
#include "supervisor/uar_pools.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/paths.h"
#include "worker/worker.h"

#define RETRY_MS 500
#define RETRY_MOST_MS 60000    /* a guest that breaks things waits for so long at most */
#define RETRY_HCA_MOST_MS 4000 /* and an HCA that cannot be used, which may come back any time */
#define RETRY_ABSENT_MS 1000   /* to see whether there is one costs nothing */
#define RETRY_SEARCH_MS \
	100 /* one whose doorbell pages are looked for: often it has few to be asked for */
#define FAMILY_MS 3000 /* broker and mm pin end with their worker; those that do not are killed */
#define SHORT_LIFE_MS 1000 /* a worker that dies so young was of no use */

/* A guest that connects and disconnects in a loop has a worker started each time. */
static const struct ratelimit_rate start_rate = { .burst = 16, .interval_ms = 500 };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Its files */

const char *device_dir = STATUS_DIR;

struct file_name {
	char path[128];
};

static struct file_name file_name(const struct device *device, const char *what)
{
	struct file_name name;

	snprintf(name.path, sizeof(name.path), "%s/%u-%u.%s", device_dir, device->domid,
		 device->devid, what);
	return name;
}

static void write_pid(const struct device *device)
{
	FILE *file = fopen(file_name(device, "pid").path, "we");

	if (!file)
		return;
	fprintf(file, "%d\n", device->pid);
	fclose(file);
}

/* Whether a process is a worker of this vHCA. */
static bool is_worker(const struct device *device, int pid)
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
		if (!strcmp(at, device->path))
			return true;
	return false;
}

/* The pidfd comes first, so that what is looked at is what it refers to. */
static void find_worker(struct device *device)
{
	FILE *file = fopen(file_name(device, "pid").path, "re");
	int pid = 0;

	if (!file)
		return;
	if (fscanf(file, "%d", &pid) != 1)
		pid = 0;
	fclose(file);
	device->pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	if (device->pidfd >= 0 && is_worker(device, pid))
		device->pid = pid;
	else
		close_fd(&device->pidfd);
}

/* Without an end for writing a read returns 0, and else there is nothing to read. */
static bool life_is_over(const struct device *device)
{
	char byte;

	return read(device->life, &byte, 1) >= 0 || errno != EAGAIN;
}

/* The end for reading. A worker that has let go of its life is one nonetheless. */
static void find_life(struct device *device)
{
	device->life = open(file_name(device, "life").path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (device->life < 0)
		return;
	find_worker(device);
	if (device->pid || !life_is_over(device))
		log_info("worker %d of %s continues", device->pid, device->path);
	else
		close_fd(&device->life);
}

/* Returns the end for writing, for worker and mm pin, or -1. */
static int make_life(struct device *device)
{
	struct file_name name = file_name(device, "life");

	if (mkfifo(name.path, 0600) && errno != EEXIST)
		return -1;
	device->life = open(name.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return device->life < 0 ? -1 : open(name.path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

struct device *device_new(const char *path, unsigned int domid, unsigned int devid,
			  struct uar_store *store)
{
	struct device *device = calloc(1, sizeof(*device));

	if (!device)
		return NULL;
	snprintf(device->path, sizeof(device->path), "%s", path);
	device->domid = domid;
	device->devid = devid;
	device->pidfd = -1;
	uar_pools_init(&device->pools, domid, devid, store);
	find_life(device);
	return device;
}

void device_free(struct device *device)
{
	static const char *const files[] = { "life", "pid", "status" };
	unsigned int i;

	uar_pools_close(&device->pools);
	close_fd(&device->life);
	close_fd(&device->pidfd);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(file_name(device, files[i]).path);
	free(device);
}

bool device_busy(const struct device *device)
{
	return device->pid || device->life >= 0;
}

/* Starting */

static void retry_later(struct device *device, uint64_t most)
{
	uint64_t delay = RETRY_MS;
	unsigned int i;

	for (i = 0; i < device->failures && delay < most; i++)
		delay *= 2;
	device->failures++;
	device->not_before_ms = clock_ms() + (delay < most ? delay : most);
}

/* After a worker that was of use for so long, what was before it does not count any more. */
static void retry_after(struct device *device, uint64_t useful, uint64_t most)
{
	if (clock_ms() - device->started_ms >= useful)
		device->failures = 0;
	retry_later(device, most);
}

/* Where it is read by people; not again and again the same. */
__attribute__((format(printf, 3, 4))) static void say(struct device *device, struct xs_handle *xs,
						      const char *format, ...)
{
	char text[sizeof(device->said)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!strcmp(text, device->said))
		return;
	strcpy(device->said, text);
	log_error("%s: %s", device->path, text);
	xb_write(xs, device->path, XEN_VHCA_FIELD_ERROR, "%s", text);
}

static struct held_pool *find_pool(struct device *device, struct xs_handle *xs)
{
	char hca[UVERBS_NAME_MAX];
	struct held_pool *pool;
	int err;

	device->not_before_ms = clock_ms() + RETRY_ABSENT_MS;
	if (!xb_read(xs, device->path, XEN_VHCA_FIELD_HCA, hca, sizeof(hca))) {
		say(device, xs, "hca is missing");
		return NULL;
	}
	pool = uar_pools_get(&device->pools, hca, &err);
	if (pool)
		return pool;
	if (err == -EAGAIN) {
		device->not_before_ms = clock_ms() + RETRY_SEARCH_MS;
		say(device, xs,
		    "HCA %s: its driver was reloaded; looking for doorbell pages that guests may have mapped before",
		    hca);
	} else if (err == -ENOENT) {
		say(device, xs, "there is no HCA %s", hca);
	} else if (device->pools.store->stale[0]) {
		device->not_before_ms = clock_ms() + RETRY_HCA_MOST_MS;
		say(device, xs,
		    "HCA %s: its driver was reloaded, and %s may have doorbell pages mapped that are "
		    "somebody else's now; wait until they are gone, or end them",
		    hca, device->pools.store->stale);
	} else {
		say(device, xs, "HCA %s: %s", hca, strerror(-err));
	}
	return NULL;
}

/* In the child. The descriptors' numbers may be in each other's way, so they are moved up first. */
static void become_worker(const struct device *device, const struct held_pool *pool, int life,
			  bool verbose)
{
	const int from[] = { pool->file, pool->table, life };
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
		if (dup2(high[i], WORKER_UAR_POOL + i) < 0)
			_exit(WORKER_FAILED);
	close_range(WORKER_FD_END, ~0u, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	snprintf(domid, sizeof(domid), "%u", device->domid);
	snprintf(devid, sizeof(devid), "%u", device->devid);
	execl("/proc/self/exe", "xen-ibback", "--worker", device->path, domid, devid,
	      verbose ? "verbose" : NULL, NULL);
	_exit(WORKER_FAILED);
}

void device_put_off(struct device *device, struct xs_handle *xs, const char *why)
{
	say(device, xs, "%s", why);
	device->not_before_ms = clock_ms() + RETRY_ABSENT_MS;
}

void device_start(struct device *device, struct xs_handle *xs, bool verbose)
{
	struct held_pool *pool = find_pool(device, xs);
	int life;

	if (!pool)
		return;
	life = make_life(device);
	if (life < 0)
		goto err;
	device->started_ms = clock_ms();
	ratelimit_spend(&device->starts, &start_rate, device->started_ms);
	device->pid = fork();
	if (!device->pid)
		become_worker(device, pool, life, verbose);
	if (device->pid < 0)
		goto err;
	close(life);
	write_pid(device);
	device->crashed = false;
	device->said[0] = 0;
	device->end_ms = device->ended_ms = 0;
	log_debug("worker %d for %s", device->pid, device->path);
	return;

err:
	say(device, xs, "starting a worker: %s", strerror(errno));
	device->pid = 0;
	close_fd(&life);
	close_fd(&device->life);
	retry_later(device, RETRY_MOST_MS);
}

/* Ending */

/* Of one that is not known, from before, whoever is left of its family. */
static void kill_worker(const struct device *device)
{
	if (device->pidfd >= 0)
		pidfd_send_signal(device->pidfd, SIGKILL, NULL, 0);
	else if (device->pid)
		kill(device->pid, SIGKILL);
	else
		family_kill(file_name(device, "life").path);
}

int device_must_end(struct device *device, unsigned int grace_ms)
{
	uint64_t now = clock_ms();

	if (!device_busy(device))
		return -1;
	if (!device->end_ms)
		device->end_ms = now;
	if (now - device->end_ms < grace_ms)
		return grace_ms - (now - device->end_ms);
	log_warning("worker %d of %s does not end", device->pid, device->path);
	kill_worker(device);
	device->end_ms = now;
	return grace_ms;
}

/*
 * A worker that ends by itself has said Closed. Of one that was killed the guest hears from us, and
 * if that one was of use the next one follows at once: its guest has done nothing wrong.
 */
static void crashed(struct device *device, struct xs_handle *xs)
{
	device->crashed = true;
	if (device->listed)
		xb_set_state(xs, device->path, XB_CLOSING);
	if (clock_ms() - device->started_ms < SHORT_LIFE_MS) {
		retry_later(device, RETRY_MOST_MS);
		return;
	}
	device->failures = 0;
	device->not_before_ms = 0;
}

static void not_within(struct device *device, uint64_t ms)
{
	uint64_t next = clock_ms() + ms;

	if (device->not_before_ms < next)
		device->not_before_ms = next;
}

void device_ended(struct device *device, struct xs_handle *xs, int status)
{
	bool exited = WIFEXITED(status);
	int result = exited ? WORKER_EXIT(WEXITSTATUS(status)) : WORKER_FAILED;

	if (WIFSIGNALED(status)) {
		crashed(device, xs);
	} else if (result == WORKER_DONE) {
		device->failures = 0;
		device->not_before_ms = 0;
	} else if (result == WORKER_REFUSED) {
		retry_after(device, RETRY_HCA_MOST_MS, RETRY_HCA_MOST_MS);
	} else {
		retry_after(device, RETRY_MOST_MS, RETRY_MOST_MS);
	}
	if (exited)
		not_within(device, 1000 * WORKER_PAUSE_S(WEXITSTATUS(status)));
	not_within(device, ratelimit_wait_ms(&device->starts, &start_rate, clock_ms()));
	if (WIFSIGNALED(status))
		log_error("worker %d of %s was killed by signal %d; the next one comes %s",
			  device->pid, device->path, WTERMSIG(status),
			  device->not_before_ms > clock_ms() ? "later" : "at once");
	device->pid = 0;
	device->ended_ms = clock_ms();
}

/* Of a worker that was not our child there is no status; but the guest's sight of it tells. */
static void stranger_ended(struct device *device, struct xs_handle *xs)
{
	log_info("inherited worker %d of %s has ended", device->pid, device->path);
	close_fd(&device->pidfd);
	device->pid = 0;
	device->ended_ms = clock_ms();
	if (device->listed && xb_state(xs, device->path) != XB_CLOSED)
		crashed(device, xs);
}

/* All that the last worker had is released. Of one from before whose pid nobody knew this is the end as well. */
static void released(struct device *device, struct xs_handle *xs)
{
	if (!device->ended_ms)
		stranger_ended(device, xs);
	close_fd(&device->life);
	device->end_ms = device->ended_ms = 0;
	if (device->crashed && device->listed)
		xb_set_state(xs, device->path, XB_CLOSED);
	device->crashed = false;
}

/* A child is waited for; after a worker, its family. */
int device_fd(const struct device *device)
{
	if (device->pidfd >= 0)
		return device->pidfd;
	return device->pid ? -1 : device->life;
}

/* A pipe that had no other end when it was opened never hangs up. */
void device_event(struct device *device, struct xs_handle *xs)
{
	if (device->pidfd >= 0)
		stranger_ended(device, xs);
	if (!device->pid && device->life >= 0 && life_is_over(device))
		released(device, xs);
}

int device_clear(struct device *device)
{
	uint64_t now = clock_ms();

	if (device->pid || device->life < 0 || !device->ended_ms)
		return -1;
	if (now - device->ended_ms < FAMILY_MS)
		return FAMILY_MS - (now - device->ended_ms);
	log_warning("%u processes outlive the worker of %s: killing them",
		    family_kill(file_name(device, "life").path), device->path);
	device->ended_ms = now;
	return FAMILY_MS;
}
