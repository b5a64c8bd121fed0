// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_device.c - workers and supervisors that come and go: a worker is never doubled, what one leaves
 * is found by the next supervisor, and the guest hears of each end. The test itself is run again as
 * the worker, and xenstore is a table.
 */
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

#include "supervisor/device.h"
#include "unit/fakes/rig.h"
#include "util/clock.h"
#include "util/log.h"
#include "worker/worker.h"

#define PATH "/local/domain/0/backend/vhca/7/0"

static char dir[] = "/tmp/xen-ib-slot-XXXXXX";
static struct bank_store store = { .holder = -1 };

/* Xenstore, and the HCA, of which there is one. */

static enum xb_state states[16];
static unsigned int n_states;
static char error[128];
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

int hca_bank_open(const char *name)
{
	CHECK(!strcmp(name, "mlx5_0"));
	return hca_err ?: open("/dev/null", O_RDWR | O_CLOEXEC);
}

bool hca_bank_alive(int bank)
{
	return bank >= 0 && !hca_err;
}

/* Nothing is stale here: test_bank.c. */
int hca_bank_uar(int bank, uint32_t type, uint32_t *index, uint32_t *handle)
{
	CHECK(bank && type && index && handle && false);
}

int hca_bank_uar_free(int bank, uint32_t handle)
{
	CHECK(bank && handle && false);
}

int hca_sysfs_bar0(const char *ibdev, uint64_t *address, uint64_t *bytes)
{
	CHECK(ibdev && address && bytes && false);
}

/* What a worker that was taken over does: the others of its family go on, and it lets go of its life. */
#define STAYS "TEST_SLOT_STAYS"
#define LETS_GO "TEST_SLOT_LETS_GO"

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

	for (fd = WORKER_BANK; fd < WORKER_FD_END; fd++)
		CHECK(fcntl(fd, F_GETFD) >= 0);
	for (; fd < 100; fd++)
		CHECK(fcntl(fd, F_GETFD) < 0);
	if (getenv(STAYS)) {
		relative("xen-ib-broker");
		relative("xen-ib-keeper");
	}
	if (getenv(LETS_GO))
		close(WORKER_LIFE);
	for (;;)
		pause();
}

/* The supervisor */

static struct slot *new_slot(void)
{
	struct slot *slot = slot_new(PATH, 7, 0, &store);

	CHECK(slot);
	slot->listed = true;
	n_states = 0;
	return slot;
}

/* As if the supervisor had died: nothing of it is left but files. */
static void forget(struct slot *slot)
{
	struct bank *bank;

	while ((bank = LIST_FIRST(&slot->banks.list))) {
		LIST_REMOVE(bank, link);
		close(bank->file);
		close(bank->records);
		free(bank);
	}
	LIST_REMOVE(&slot->banks, link);
	if (slot->life >= 0)
		close(slot->life);
	if (slot->pidfd >= 0)
		close(slot->pidfd);
	free(slot);
}

static bool life_ends(const struct slot *slot, int ms)
{
	struct pollfd life = { .fd = slot->life, .events = POLLIN };

	return poll(&life, 1, ms) == 1;
}

static void reap(struct slot *slot)
{
	pid_t pid = slot->pid;
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	slot_ended(slot, NULL, status);
}

/* Until nothing of it is left. */
static void settle(struct slot *slot)
{
	struct pollfd event = { .events = POLLIN };

	while (slot_busy(slot)) {
		event.fd = slot_fd(slot);
		CHECK(event.fd >= 0 && poll(&event, 1, 10000) == 1);
		slot_event(slot, NULL);
	}
	CHECK(slot_clear(slot) == -1);
}

static uint64_t due_in(const struct slot *slot)
{
	uint64_t now = clock_ms();

	return slot->not_before_ms > now ? slot->not_before_ms - now : 0;
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
	struct slot *slot = new_slot();
	unsigned int i;

	CHECK(!slot_busy(slot));
	for (i = 0; i < 4; i++) {
		slot_start(slot, NULL, false);
		CHECK(slot->pid > 0 && slot_busy(slot) && !life_ends(slot, 0));
		await_worker(slot->pid);
		slot->started_ms -= 5000; /* it has been at work for a while */
		n_states = 0;
		CHECK(!kill(slot->pid, SIGKILL));
		CHECK(life_ends(slot, 10000));
		reap(slot);
		CHECK(n_states == 1 && states[0] == XB_CLOSING && slot_busy(slot));
		settle(slot);
		CHECK(n_states == 2 && states[1] == XB_CLOSED && !slot_busy(slot));
		CHECK(!due_in(slot)); /* however often */
	}
	slot_free(slot);
	CHECK(!rmdir(dir)); /* no file is left */
	CHECK(!mkdir(dir, 0700));
}

/* A worker that is of no use is tried again, ever less often. */
static void test_young(void)
{
	struct slot *slot = new_slot();
	uint64_t last = 0;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		slot_start(slot, NULL, false);
		CHECK(!kill(slot->pid, SIGKILL) && life_ends(slot, 10000));
		reap(slot);
		settle(slot);
		CHECK(due_in(slot) > last);
		last = due_in(slot);
	}
	slot_free(slot);
}

/* A guest that connects and disconnects as fast as it can: some at once, then a few a second. */
static void test_paced(void)
{
	struct slot *slot = new_slot();
	unsigned int at_once = 0, paced = 0;

	while (paced < 3) {
		slot_start(slot, NULL, false);
		CHECK(!kill(slot->pid, SIGKILL) && waitpid(slot->pid, NULL, 0) == slot->pid);
		slot_ended(slot, NULL, W_EXITCODE(WORKER_DONE, 0));
		CHECK(life_ends(slot, 10000));
		settle(slot);
		if (due_in(slot))
			paced++;
		else
			at_once++;
		CHECK(due_in(slot) <= paced * 500);
	}
	CHECK(at_once >= 15); /* and more if the test itself takes its time */
	slot_free(slot);
}

/* A guest that has caused too much is not connected again before it has made up for that. */
static void test_pause(void)
{
	const int results[] = { WORKER_DONE, WORKER_FAILED };
	struct slot *slot = new_slot();
	unsigned int i;

	for (i = 0; i < 2; i++) {
		slot_start(slot, NULL, false);
		CHECK(!kill(slot->pid, SIGKILL) && waitpid(slot->pid, NULL, 0) == slot->pid);
		slot_ended(slot, NULL, W_EXITCODE(WORKER_STATUS(results[i], 7), 0));
		CHECK(life_ends(slot, 10000));
		settle(slot);
		CHECK(due_in(slot) > 5000 && due_in(slot) <= 7000);
		slot->not_before_ms = 0;
	}
	CHECK(slot->failures == 1); /* the first one was none */
	slot_free(slot);
}

static void test_no_hca(void)
{
	struct slot *slot = new_slot();

	hca_err = -ENOENT;
	slot_start(slot, NULL, false);
	CHECK(!slot_busy(slot) && due_in(slot) > 0 && due_in(slot) <= 1000);
	CHECK(!strcmp(error, "there is no HCA mlx5_0"));
	error[0] = 0;
	slot_start(slot, NULL, false);
	CHECK(!error[0] && due_in(slot) <= 1000); /* said once */
	hca_err = 0;
	slot_start(slot, NULL, false);
	CHECK(slot->pid > 0);
	kill(slot->pid, SIGKILL);
	reap(slot);
	settle(slot);
	slot_free(slot);
}

/* A supervisor that starts a worker and dies. Returns the worker's pid. */
static pid_t leave_worker(void)
{
	pid_t supervisor, pid;
	int say[2];

	CHECK(!pipe2(say, O_CLOEXEC));
	supervisor = fork();
	if (!supervisor) {
		struct slot *slot = new_slot();

		slot_start(slot, NULL, false);
		await_worker(slot->pid);
		CHECK(write(say[1], &slot->pid, sizeof(pid)) == sizeof(pid));
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
	struct slot *slot = new_slot();

	CHECK(slot->pid == pid && slot->pidfd >= 0 && slot_busy(slot) && !life_ends(slot, 0));
	forget(slot); /* and once more */
	slot = new_slot();
	CHECK(slot->pid == pid && slot_busy(slot) && !life_ends(slot, 100));
	CHECK(!kill(pid, SIGKILL) && life_ends(slot, 10000));
	settle(slot);
	CHECK(n_states == 2 && states[0] == XB_CLOSING && states[1] == XB_CLOSED);
	CHECK(!slot_busy(slot) && !slot->pid && !due_in(slot));
	/* Now it is our turn. */
	slot_start(slot, NULL, false);
	CHECK(slot->pid > 0 && slot->pid != pid);
	kill(slot->pid, SIGKILL);
	reap(slot);
	settle(slot);
	slot_free(slot);
}

/* It ended, and said so itself, while nobody looked. */
static void test_gone_meanwhile(void)
{
	pid_t pid = leave_worker();
	struct slot *slot;

	CHECK(!kill(pid, SIGKILL));
	waitpid(pid, NULL, 0);
	slot = new_slot();
	CHECK(!slot_busy(slot) && !slot->pid && slot->pidfd < 0);
	slot_free(slot);
}

/* One that does not end is killed; also if another supervisor started it. */
static void test_stubborn(void)
{
	pid_t pid = leave_worker();
	struct slot *slot = new_slot();

	CHECK(slot_must_end(slot, 100) == 100);
	CHECK(!life_ends(slot, 150));
	CHECK(slot_must_end(slot, 100) == 100);
	CHECK(life_ends(slot, 10000));
	settle(slot);
	CHECK(slot_must_end(slot, 100) == -1);
	waitpid(pid, NULL, 0);
	slot_free(slot);
}

/* What the file says is another process by now: it must not be harmed, and the worker not doubled. */
static void test_wrong_pid(void)
{
	static const char *const lies[] = { "ours", "0\n", "-1\n", "99999999999\n", "", "x\n" };
	pid_t pid = leave_worker();
	struct slot *slot;
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
		slot = new_slot();
		CHECK(slot_busy(slot) && !slot->pid && slot->pidfd < 0 && slot_fd(slot) == slot->life);
		CHECK(!life_ends(slot, 20) && slot_clear(slot) == -1);
		forget(slot);
	}
	/* When it has to end it is found by what it holds. */
	slot = new_slot();
	CHECK(slot_must_end(slot, 100) == 100 && !life_ends(slot, 150) && slot_must_end(slot, 100) == 100);
	CHECK(life_ends(slot, 10000) && waitpid(pid, NULL, 0) == pid);
	settle(slot);
	CHECK(!slot_busy(slot) && n_states == 2);
	slot_free(slot);
}

static bool is_there(const char *name, pid_t worker)
{
	char path[64], line[64] = "";
	int status;
	FILE *file;
	pid_t pid;

	/* They have numbers just above; and nobody else waits for them. */
	for (pid = worker + 1; pid < worker + 200; pid++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (!fgets(line, sizeof(line), file))
			line[0] = 0;
		fclose(file);
		if (!strncmp(line, name, strlen(name)))
			return true;
	}
	return false;
}

static void await(bool there, const char *name, pid_t worker)
{
	struct timespec tick = { .tv_nsec = 10000000 };
	unsigned int i;

	for (i = 0; i < 1000 && is_there(name, worker) != there; i++)
		nanosleep(&tick, NULL);
	CHECK(i < 1000);
}

/* Who outlives a worker that is killed is killed as well, the keeper last; only then comes the next worker. */
static void test_family(bool adopted)
{
	struct slot *slot;
	pid_t pid;

	CHECK(!setenv(STAYS, "1", 1));
	if (adopted) {
		pid = leave_worker();
		slot = new_slot();
	} else {
		slot = new_slot();
		slot_start(slot, NULL, false);
		pid = slot->pid;
	}
	await(true, "xen-ib-keeper", pid);
	CHECK(!unsetenv(STAYS) && slot_clear(slot) == -1 && !kill(pid, SIGKILL));
	if (adopted)
		slot_event(slot, NULL);
	else
		reap(slot);
	waitpid(pid, NULL, 0);
	CHECK(!slot->pid && slot_busy(slot) && slot_clear(slot) > 0 && slot_fd(slot) == slot->life);
	CHECK(!life_ends(slot, 20) && is_there("xen-ib-broker", pid));
	slot->ended_ms -= 5000;
	CHECK(slot_clear(slot) > 0);
	await(false, "xen-ib-broker", pid);
	CHECK(is_there("xen-ib-keeper", pid) && !life_ends(slot, 0) && slot_busy(slot));
	slot->ended_ms -= 5000;
	CHECK(slot_clear(slot) > 0 && life_ends(slot, 10000));
	settle(slot);
	CHECK(n_states == 2 && states[1] == XB_CLOSED);
	await(false, "xen-ib-keeper", pid);
	slot_free(slot);
}

/* It looks as if it were gone, to this supervisor and to the next one: it is not. */
static void test_lets_go(void)
{
	struct slot *slot;
	pid_t pid;

	CHECK(!setenv(LETS_GO, "1", 1));
	pid = leave_worker();
	slot = new_slot();
	CHECK(slot_busy(slot) && slot->pid == pid && slot_fd(slot) == slot->pidfd);
	CHECK(slot_must_end(slot, 0) == 0);
	CHECK(slot_must_end(slot, 0) == 0);
	settle(slot);
	waitpid(pid, NULL, 0);
	slot_start(slot, NULL, false);
	CHECK(slot->pid > 0 && life_ends(slot, 10000) && slot_fd(slot) == -1 && slot_busy(slot));
	CHECK(!kill(slot->pid, SIGKILL));
	reap(slot);
	settle(slot);
	slot_free(slot);
	CHECK(!unsetenv(LETS_GO));
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--worker"))
		return worker();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	CHECK(mkdtemp(dir));
	slot_dir = dir;
	log_setup("test", 0);
	test_crash();
	test_young();
	test_paced();
	test_pause();
	test_no_hca();
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
