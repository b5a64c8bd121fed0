// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_device.c - workers and supervisors that come and go: a worker is never doubled, what one leaves
 * is found by the next supervisor, and the guest hears of each end. The test itself is run again as
 * the worker, and xenstore is a table.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "broker/uar_table.h"
#include "supervisor/device.h"
#include "supervisor/uar_pools.h"
#include "supervisor/uar_search.h"
#include "unit/fakes/fixture.h"
#include "util/clock.h"
#include "util/log.h"
#include "worker/worker.h"

#define PATH "/local/domain/0/backend/vhca/7/0"
#define BAR 0xfe000000u

static char dir[] = "/tmp/xen-ib-device-XXXXXX";
static struct uar_store store;

/* Xenstore, and the HCA, of which there is one. */

static enum xb_state states[16];
static unsigned int n_states;
static char error[256];
static int hca_err;

bool xb_read(struct xs_handle *xs, const char *at, const char *key, char *value, size_t size)
{
	(void)xs;
	CHECK(!strcmp(at, PATH) && !strcmp(key, "hca"));
	snprintf(value, size, "mlx5_0");
	return true;
}

bool xb_write(struct xs_handle *xs, const char *at, const char *key, const char *format, ...)
{
	va_list args;

	(void)xs;
	CHECK(!strcmp(at, PATH) && !strcmp(key, "error"));
	va_start(args, format);
	vsnprintf(error, sizeof(error), format, args);
	va_end(args);
	return true;
}

enum xb_state xb_state(struct xs_handle *xs, const char *at)
{
	(void)xs;
	(void)at;
	return n_states ? states[n_states - 1] : XB_CONNECTED;
}

bool xb_set_state(struct xs_handle *xs, const char *at, enum xb_state state)
{
	(void)xs;
	(void)at;
	CHECK(n_states < 16);
	states[n_states++] = state;
	return true;
}

int hca_uar_pool_open(const char *name)
{
	CHECK(!strcmp(name, "mlx5_0"));
	return hca_err ?: open("/dev/null", O_RDWR | O_CLOEXEC);
}

bool hca_uar_pool_alive(int pool)
{
	return pool >= 0 && !hca_err;
}

/* Nothing is looked for to its end here: test_uar_search.c. */
int hca_uar_alloc(int pool, uint32_t type, uint32_t *index, uint32_t *handle)
{
	CHECK(pool && type && index && handle && false);
}

int hca_uar_free(int pool, uint32_t handle)
{
	CHECK(pool && handle && false);
}

int hca_sysfs_bar0(const char *ibdev, uint64_t *address, uint64_t *bytes)
{
	CHECK(!strcmp(ibdev, "mlx5_0"));
	*address = BAR;
	*bytes = 64 << 12;
	return 0;
}

/* What a worker that was taken over does: the others of its family go on, and it lets go of its life. */
#define STAYS "TEST_DEVICE_STAYS"
#define LETS_GO "TEST_DEVICE_LETS_GO"

static void relative(const char *name)
{
	if (fork())
		return;
	prctl(PR_SET_NAME, name);
	for (;;)
		pause();
}

/* The worker: its descriptors are what they should be, and no others. */
static int worker(void)
{
	int fd;

	for (fd = WORKER_UAR_POOL; fd < WORKER_FD_END; fd++)
		CHECK(fcntl(fd, F_GETFD) >= 0);
	for (; fd < 100; fd++)
		CHECK(fcntl(fd, F_GETFD) < 0);
	if (getenv(STAYS)) {
		relative("xen-ib-broker");
		relative("xen-ib-mm-pin");
	}
	if (getenv(LETS_GO))
		close(WORKER_LIFE);
	for (;;)
		pause();
}

/* The supervisor */

static struct device *new_device(void)
{
	struct device *device = device_new(PATH, 7, 0, &store);

	CHECK(device);
	device->listed = true;
	n_states = 0;
	return device;
}

/* As if the supervisor had died: nothing of it is left but files. */
static void forget(struct device *device)
{
	struct held_pool *pool;

	while ((pool = LIST_FIRST(&device->pools.list))) {
		LIST_REMOVE(pool, link);
		close(pool->file);
		close(pool->table);
		free(pool);
	}
	LIST_REMOVE(&device->pools, link);
	if (device->life >= 0)
		close(device->life);
	if (device->pidfd >= 0)
		close(device->pidfd);
	free(device);
}

static bool life_ends(const struct device *device, int ms)
{
	struct pollfd life = { .fd = device->life, .events = POLLIN };

	return poll(&life, 1, ms) == 1;
}

static void reap(struct device *device)
{
	pid_t pid = device->pid;
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	device_ended(device, NULL, status);
}

/* Until nothing of it is left. */
static void settle(struct device *device)
{
	struct pollfd event = { .events = POLLIN };

	while (device_busy(device)) {
		event.fd = device_fd(device);
		CHECK(event.fd >= 0 && poll(&event, 1, 10000) == 1);
		device_event(device, NULL);
	}
	CHECK(device_clear(device) == -1);
}

static uint64_t due_in(const struct device *device)
{
	uint64_t now = clock_ms();

	return device->not_before_ms > now ? device->not_before_ms - now : 0;
}

/* Waits until the child has become the worker. While it is at that it has no command line. */
static void await_worker(pid_t pid)
{
	struct timespec tick = { .tv_nsec = 10000000 };
	char path[64], line[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	while (strcmp(line, "xen-ibback")) {
		nanosleep(&tick, NULL);
		file = fopen(path, "r");
		CHECK(file);
		if (!fgets(line, sizeof(line), file))
			line[0] = 0;
		fclose(file);
	}
}

static void test_crash(void)
{
	struct device *device = new_device();
	unsigned int i;

	CHECK(!device_busy(device));
	for (i = 0; i < 4; i++) {
		device_start(device, NULL, false);
		CHECK(device->pid > 0 && device_busy(device) && !life_ends(device, 0));
		await_worker(device->pid);
		device->started_ms -= 5000; /* it has been at work for a while */
		n_states = 0;
		CHECK(!kill(device->pid, SIGKILL));
		CHECK(life_ends(device, 10000));
		reap(device);
		CHECK(n_states == 1 && states[0] == XB_CLOSING && device_busy(device));
		settle(device);
		CHECK(n_states == 2 && states[1] == XB_CLOSED && !device_busy(device));
		CHECK(!due_in(device)); /* however often */
	}
	device_free(device);
	CHECK(!rmdir(dir)); /* no file is left */
	CHECK(!mkdir(dir, 0700));
}

/* A worker that is of no use is tried again, ever less often. */
static void test_young(void)
{
	struct device *device = new_device();
	uint64_t last = 0;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		device_start(device, NULL, false);
		CHECK(!kill(device->pid, SIGKILL) && life_ends(device, 10000));
		reap(device);
		settle(device);
		CHECK(due_in(device) > last);
		last = due_in(device);
	}
	device_free(device);
}

/* A guest that connects and disconnects as fast as it can: some at once, then a few a second. */
static void test_paced(void)
{
	struct device *device = new_device();
	unsigned int at_once = 0, paced = 0;

	while (paced < 3) {
		device_start(device, NULL, false);
		CHECK(!kill(device->pid, SIGKILL) && waitpid(device->pid, NULL, 0) == device->pid);
		device_ended(device, NULL, W_EXITCODE(WORKER_DONE, 0));
		CHECK(life_ends(device, 10000));
		settle(device);
		if (due_in(device))
			paced++;
		else
			at_once++;
		CHECK(due_in(device) <= paced * 500);
	}
	CHECK(at_once >= 15); /* and more if the test itself takes its time */
	device_free(device);
}

/* A guest that has caused too much is not connected again before it has made up for that. */
static void test_pause(void)
{
	const int results[] = { WORKER_DONE, WORKER_FAILED };
	struct device *device = new_device();
	unsigned int i;

	for (i = 0; i < 2; i++) {
		device_start(device, NULL, false);
		CHECK(!kill(device->pid, SIGKILL) && waitpid(device->pid, NULL, 0) == device->pid);
		device_ended(device, NULL, W_EXITCODE(WORKER_STATUS(results[i], 7), 0));
		CHECK(life_ends(device, 10000));
		settle(device);
		CHECK(due_in(device) > 5000 && due_in(device) <= 7000);
		device->not_before_ms = 0;
	}
	CHECK(device->failures == 1); /* the first one was none */
	device_free(device);
}

static void test_no_hca(void)
{
	struct device *device = new_device();

	hca_err = -ENOENT;
	device_start(device, NULL, false);
	CHECK(!device_busy(device) && due_in(device) > 0 && due_in(device) <= 1000);
	CHECK(!strcmp(error, "there is no HCA mlx5_0"));
	error[0] = 0;
	device_start(device, NULL, false);
	CHECK(!error[0] && due_in(device) <= 1000); /* said once */
	hca_err = 0;
	device_start(device, NULL, false);
	CHECK(device->pid > 0);
	kill(device->pid, SIGKILL);
	reap(device);
	settle(device);
	device_free(device);
}

/* A doorbell page that the guest may have mapped when the driver of its HCA is reloaded. */
static void test_search(void)
{
	struct device *device = new_device();
	struct uar_table *table;
	struct held_pool *pool;
	int err;

	pool = uar_pools_get(&device->pools, "mlx5_0", &err);
	CHECK(pool);
	table = uar_store_map(pool);
	CHECK(table);
	uar_table_add(table, 7, 0, (BAR >> 12) + 7);
	uar_store_unmap(table);
	hca_err = -ENOENT;
	device_start(device, NULL, false);
	CHECK(!strcmp(error, "there is no HCA mlx5_0"));
	hca_err = 0;
	close(pool->file); /* of the HCA as it was before */
	pool->file = -1;
	device_start(device, NULL, false);
	CHECK(!device_busy(device) && strstr(error, "looking for doorbell pages"));
	CHECK(due_in(device) > 0 && due_in(device) < 1000);
	uar_search_end(&store);
	device_free(device);
}

/* A supervisor that starts a worker and dies. Returns the worker's pid. */
static pid_t leave_worker(void)
{
	pid_t supervisor, pid;
	int say[2];

	CHECK(!pipe2(say, O_CLOEXEC));
	supervisor = fork();
	if (!supervisor) {
		struct device *device = new_device();

		device_start(device, NULL, false);
		await_worker(device->pid);
		CHECK(write(say[1], &device->pid, sizeof(pid)) == sizeof(pid));
		kill(getpid(), SIGKILL);
	}
	close(say[1]);
	CHECK(read(say[0], &pid, sizeof(pid)) == sizeof(pid));
	CHECK(waitpid(supervisor, NULL, 0) == supervisor);
	close(say[0]);
	return pid;
}

static void test_adopted(void)
{
	pid_t pid = leave_worker();
	struct device *device = new_device();

	CHECK(device->pid == pid && device->pidfd >= 0 && device_busy(device) &&
	      !life_ends(device, 0));
	forget(device); /* and once more */
	device = new_device();
	CHECK(device->pid == pid && device_busy(device) && !life_ends(device, 100));
	CHECK(!kill(pid, SIGKILL) && life_ends(device, 10000));
	settle(device);
	CHECK(n_states == 2 && states[0] == XB_CLOSING && states[1] == XB_CLOSED);
	CHECK(!device_busy(device) && !device->pid && !due_in(device));
	/* Now it is our turn. */
	device_start(device, NULL, false);
	CHECK(device->pid > 0 && device->pid != pid);
	kill(device->pid, SIGKILL);
	reap(device);
	settle(device);
	device_free(device);
}

/* It ended, and said so itself, while nobody looked. */
static void test_gone_meanwhile(void)
{
	pid_t pid = leave_worker();
	struct device *device;

	CHECK(!kill(pid, SIGKILL));
	waitpid(pid, NULL, 0);
	device = new_device();
	CHECK(!device_busy(device) && !device->pid && device->pidfd < 0);
	device_free(device);
}

/* One that does not end is killed; also if another supervisor started it. */
static void test_stubborn(void)
{
	pid_t pid = leave_worker();
	struct device *device = new_device();

	CHECK(device_must_end(device, 100) == 100);
	CHECK(!life_ends(device, 150));
	CHECK(device_must_end(device, 100) == 100);
	CHECK(life_ends(device, 10000));
	settle(device);
	CHECK(device_must_end(device, 100) == -1);
	waitpid(pid, NULL, 0);
	device_free(device);
}

/* What the file says is another process by now: it must not be harmed, and the worker not doubled. */
static void test_wrong_pid(void)
{
	static const char *const lies[] = { "ours", "0\n", "-1\n", "99999999999\n", "", "x\n" };
	pid_t pid = leave_worker();
	struct device *device;
	char path[128];
	unsigned int i;
	FILE *file;

	snprintf(path, sizeof(path), "%s/7-0.pid", dir);
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		file = fopen(path, "w");
		CHECK(file);
		if (i)
			fputs(lies[i], file);
		else
			fprintf(file, "%d\n", getpid());
		fclose(file);
		device = new_device();
		CHECK(device_busy(device) && !device->pid && device->pidfd < 0 &&
		      device_fd(device) == device->life);
		CHECK(!life_ends(device, 20) && device_clear(device) == -1);
		forget(device);
	}
	/* When it has to end it is found by what it holds. */
	device = new_device();
	CHECK(device_must_end(device, 100) == 100 && !life_ends(device, 150) &&
	      device_must_end(device, 100) == 100);
	CHECK(life_ends(device, 10000) && waitpid(pid, NULL, 0) == pid);
	settle(device);
	CHECK(!device_busy(device) && n_states == 2);
	device_free(device);
}

/* Is PID a child of the worker, or ours, to whom the worker's children fall, and has it this name? */
static bool is_relative(pid_t pid, const char *name, pid_t worker)
{
	char path[64], line[256] = "", *end;
	FILE *file;
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	fclose(file);
	end = strrchr(line, ')');
	if (!end || sscanf(end, ") %*c %d", &parent) != 1 ||
	    (parent != worker && parent != getpid()))
		return false;
	*end = 0;
	return !strncmp(strchr(line, '(') + 1, name, strlen(name));
}

/* Other tests, which run at the same time, have processes of these names, too. */
static bool is_there(const char *name, pid_t worker)
{
	DIR *all = opendir("/proc");
	struct dirent *entry;
	bool found = false;
	int status;
	pid_t pid;

	CHECK(all);
	while (!found && (entry = readdir(all))) {
		pid = atoi(entry->d_name);
		/* Nobody else waits for them. */
		if (pid <= 0 || (pid != worker && waitpid(pid, &status, WNOHANG) == pid))
			continue;
		found = is_relative(pid, name, worker);
	}
	closedir(all);
	return found;
}

static void await(bool there, const char *name, pid_t worker)
{
	struct timespec tick = { .tv_nsec = 10000000 };
	unsigned int i;

	for (i = 0; i < 1000 && is_there(name, worker) != there; i++)
		nanosleep(&tick, NULL);
	CHECK(i < 1000);
}

/* Who outlives a worker that is killed is killed as well, the mm pin last; only then comes the next worker. */
static void test_family(bool adopted)
{
	struct device *device;
	pid_t pid;

	CHECK(!setenv(STAYS, "1", 1));
	if (adopted) {
		pid = leave_worker();
		device = new_device();
	} else {
		device = new_device();
		device_start(device, NULL, false);
		pid = device->pid;
	}
	/* Which of them is the first to have its name is for the scheduler to say. */
	await(true, "xen-ib-broker", pid);
	await(true, "xen-ib-mm-pin", pid);
	CHECK(!unsetenv(STAYS) && device_clear(device) == -1 && !kill(pid, SIGKILL));
	if (adopted)
		device_event(device, NULL);
	else
		reap(device);
	waitpid(pid, NULL, 0);
	CHECK(!device->pid && device_busy(device) && device_clear(device) > 0 &&
	      device_fd(device) == device->life);
	CHECK(!life_ends(device, 20) && is_there("xen-ib-broker", pid));
	device->ended_ms -= 5000;
	CHECK(device_clear(device) > 0);
	await(false, "xen-ib-broker", pid);
	CHECK(is_there("xen-ib-mm-pin", pid) && !life_ends(device, 0) && device_busy(device));
	device->ended_ms -= 5000;
	CHECK(device_clear(device) > 0 && life_ends(device, 10000));
	settle(device);
	CHECK(n_states == 2 && states[1] == XB_CLOSED);
	await(false, "xen-ib-mm-pin", pid);
	device_free(device);
}

/* It looks as if it were gone, to this supervisor and to the next one: it is not. */
static void test_lets_go(void)
{
	struct device *device;
	pid_t pid;

	CHECK(!setenv(LETS_GO, "1", 1));
	pid = leave_worker();
	device = new_device();
	CHECK(device_busy(device) && device->pid == pid && device_fd(device) == device->pidfd);
	CHECK(device_must_end(device, 0) == 0);
	CHECK(device_must_end(device, 0) == 0);
	settle(device);
	waitpid(pid, NULL, 0);
	device_start(device, NULL, false);
	CHECK(device->pid > 0 && life_ends(device, 10000) && device_fd(device) == -1 &&
	      device_busy(device));
	CHECK(!kill(device->pid, SIGKILL));
	reap(device);
	settle(device);
	device_free(device);
	CHECK(!unsetenv(LETS_GO));
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--worker"))
		return worker();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	CHECK(mkdtemp(dir));
	device_dir = dir;
	log_setup("test", 0);
	test_crash();
	test_young();
	test_paced();
	test_pause();
	test_no_hca();
	test_search();
	test_adopted();
	test_gone_meanwhile();
	test_stubborn();
	test_wrong_pid();
	test_family(false);
	test_family(true);
	test_lets_go();
	CHECK(!rmdir(dir));
	return EXIT_SUCCESS;
}
