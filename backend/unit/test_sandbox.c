// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_sandbox.c - a process in the sandbox does what a worker or broker has to do, and nothing
 * else. Each probe is a process of its own; what it may not try is its end, by SIGSYS, or an error.
 *
 * Where the kernel has no Landlock the probes of it are skipped, and named. With --landlock that is a
 * failure: so it is run in the lab's dom0, whose kernel has it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "unit/fakes/fixture.h"
#include "worker/mm_pin.h"

#define NOBODY 65534

static char folder[] = "/tmp/sandbox.XXXXXX", inside[64], fresh[64];

static bool has_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0;
}

static void enter(enum sandbox_role role)
{
	const struct sandbox_user user = { NOBODY, NOBODY };
	const struct sandbox_path paths[] = {
		{ role == SANDBOX_WORKER ? inside : folder,
		  role == SANDBOX_WORKER ? SANDBOX_READ : SANDBOX_REPLACE },
		{ "/there/is/no/such/file", SANDBOX_DEVICE },
	};
	const bool root = !getuid();
	char why[128];

#ifndef __SANITIZE_ADDRESS__
	if (role == SANDBOX_WORKER)
		CHECK(!sandbox_limit_memory(1ull << 30));
#endif
	if (sandbox_enter(role, root && role == SANDBOX_WORKER ? &user : NULL, paths, 2, why,
			  sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		_exit(99);
	}
}

static bool refused(long result)
{
	return result < 0 && (errno == EPERM || errno == EACCES);
}

/* What a worker does */

static void *in_thread(void *arg)
{
	*(int *)arg = 1;
	return NULL;
}

static bool starts_threads(void)
{
	pthread_t thread;
	int ran = 0;

	return !pthread_create(&thread, NULL, in_thread, &ran) && !pthread_join(thread, NULL) &&
	       ran;
}

static bool reads_what_it_may(void)
{
	char byte;
	int fd = open(inside, O_RDONLY);

	return fd >= 0 && read(fd, &byte, 1) == 1 && !close(fd);
}

static bool maps_memory(void)
{
	char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return false;
	at[0] = 1;
	return !mprotect(at, 4096, PROT_READ) && !munmap(at, 8192);
}

static bool has_mm_pin(void)
{
	return mm_pin_start(-1) >= 0 && !sandbox_no_more_processes() && starts_threads();
}

/* What it cannot */

static bool opens_other_files(void)
{
	return refused(open("/etc/passwd", O_RDONLY)) && refused(open("/dev/null", O_RDWR)) &&
	       refused(open(folder, O_RDONLY));
}

static bool writes_files(void)
{
	return refused(open(inside, O_RDWR)) && refused(open(inside, O_RDONLY | O_TRUNC)) &&
	       refused(open(fresh, O_RDWR | O_CREAT, 0600)) && refused(unlink(inside)) &&
	       refused(rename(inside, fresh)) && refused(mkdir(fresh, 0700));
}

static bool makes_sockets(void)
{
	int pair[2];

	return refused(socket(AF_UNIX, SOCK_STREAM, 0)) &&
	       refused(socket(AF_INET, SOCK_DGRAM, 0)) &&
	       refused(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

static bool signals_others(void)
{
	return refused(kill(getppid(), 0)) && refused(syscall(SYS_tgkill, 1, 1, 0));
}

static bool makes_code(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at != MAP_FAILED && refused(mprotect(at, 4096, PROT_READ | PROT_EXEC)) &&
	       mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
		       MAP_FAILED;
}

static bool uses_other_ioctls(void)
{
	return refused(ioctl(STDERR_FILENO, TIOCSTI, "x")) && refused(fcntl(2, F_SETOWN, 1));
}

static bool raises_limits(void)
{
	const struct rlimit more = { 1 << 20, 1 << 20 };

	return refused(setrlimit(RLIMIT_CORE, &more)) && refused(prctl(PR_SET_DUMPABLE, 1));
}

/* ASan itself needs address space without end. */
static bool maps_without_end(void)
{
#ifndef __SANITIZE_ADDRESS__
	return mmap(NULL, 6ull << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		    0) == MAP_FAILED;
#else
	return true;
#endif
}

static bool executes(void)
{
	execl("/bin/true", "true", NULL);
	return false;
}

static bool forks(void)
{
	return syscall(SYS_fork) < 0;
}

static bool clones_after_mm_pin(void)
{
	if (!has_mm_pin())
		return false;
	return mm_pin_start(-1) < 0;
}

static bool becomes_root(void)
{
	return setresuid(0, 0, 0);
}

static bool traces(void)
{
	return ptrace(PTRACE_ATTACH, getppid(), 0, 0);
}

static bool mounts(void)
{
	return syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, NULL);
}

/* What a broker does, and cannot */

static bool replaces_its_files(void)
{
	FILE *file = fopen(fresh, "we");

	return file && fputs("new", file) >= 0 && !fclose(file) && !rename(fresh, inside) &&
	       !unlink(inside);
}

static bool brokers_read(void)
{
	return refused(open("/etc/passwd", O_RDONLY)) && refused(open(inside, O_RDONLY));
}

static const struct probe {
	const char *name;
	enum sandbox_role role;
	enum {
		TAMELY,
		DEADLY,
		LANDLOCK
	} how; /* it ends; LANDLOCK: nothing else keeps it from that */
	bool (*run)(void);
} probes[] = {
	{ "a worker starts threads", SANDBOX_WORKER, TAMELY, starts_threads },
	{ "a worker reads what it may", SANDBOX_WORKER, TAMELY, reads_what_it_may },
	{ "a worker maps memory", SANDBOX_WORKER, TAMELY, maps_memory },
	{ "a worker has an mm pin", SANDBOX_WORKER, TAMELY, has_mm_pin },
	{ "no other files", SANDBOX_WORKER, LANDLOCK, opens_other_files },
	{ "no files to write", SANDBOX_WORKER, TAMELY, writes_files },
	{ "no sockets", SANDBOX_WORKER, TAMELY, makes_sockets },
	{ "no signals", SANDBOX_WORKER, TAMELY, signals_others },
	{ "no code", SANDBOX_WORKER, TAMELY, makes_code },
	{ "no other ioctls", SANDBOX_WORKER, TAMELY, uses_other_ioctls },
	{ "no memory without end", SANDBOX_WORKER, TAMELY, maps_without_end },
	{ "no higher limits", SANDBOX_WORKER, TAMELY, raises_limits },
	{ "no programs", SANDBOX_WORKER, DEADLY, executes },
	{ "no fork", SANDBOX_WORKER, DEADLY, forks },
	{ "no second mm pin", SANDBOX_WORKER, DEADLY, clones_after_mm_pin },
	{ "no root", SANDBOX_WORKER, DEADLY, becomes_root },
	{ "no ptrace", SANDBOX_WORKER, DEADLY, traces },
	{ "no mounts", SANDBOX_WORKER, DEADLY, mounts },
	{ "a broker replaces its files", SANDBOX_BROKER, TAMELY, replaces_its_files },
	{ "a broker reads no files", SANDBOX_BROKER, LANDLOCK, brokers_read },
	{ "a broker makes no sockets", SANDBOX_BROKER, TAMELY, makes_sockets },
	{ "a broker runs no programs", SANDBOX_BROKER, DEADLY, executes },
	{ "a broker makes no code", SANDBOX_BROKER, TAMELY, makes_code },
};

static void make_files(void)
{
	int fd;

	CHECK(mkdtemp(folder) && !chmod(folder, 0755));
	snprintf(inside, sizeof(inside), "%s/inside", folder);
	snprintf(fresh, sizeof(fresh), "%s/fresh", folder);
	fd = open(inside, O_WRONLY | O_CREAT, 0644);
	CHECK(fd >= 0 && write(fd, "x", 1) == 1 && !close(fd));
}

static void remove_files(void)
{
	unlink(inside);
	unlink(fresh);
	CHECK(!rmdir(folder));
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
}

static void run(const struct probe *probe)
{
	bool right;
	int status;
	pid_t pid;

	make_files();
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		enter(probe->role);
		_exit(probe->run() ? 0 : 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	remove_files();
	right = probe->how == DEADLY ? WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS :
				       WIFEXITED(status) && !WEXITSTATUS(status);
	if (!right)
		fprintf(stderr, "%s: wait status 0x%x\n", probe->name, status);
	CHECK(right);
}

/* As the kernel tells it to others: the process itself cannot ask any more. */
static void check_identity(void)
{
	static const char *const lines[] = {
		"Uid:\t65534\t65534\t65534\t65534\n",
		"Gid:\t65534\t65534\t65534\t65534\n",
		"Groups:\t \n",
		"CapInh:\t0000000000000000\n",
		"CapPrm:\t0000000000000000\n",
		"CapEff:\t0000000000000000\n",
		"CapBnd:\t0000000000000000\n",
		"CapAmb:\t0000000000000000\n",
		"NoNewPrivs:\t1\n",
		"Seccomp:\t2\n",
	};
	char path[64], text[8192];
	int ready[2];
	size_t i, n;
	FILE *file;
	pid_t pid;

	if (getuid())
		return;
	make_files();
	CHECK(!pipe(ready));
	pid = fork();
	if (!pid) {
		enter(SANDBOX_WORKER);
		CHECK(write(ready[1], "x", 1) == 1);
		for (;;)
			poll(NULL, 0, -1);
	}
	close(ready[1]);
	CHECK(read(ready[0], text, 1) == 1);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	CHECK(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = 0;
	fclose(file);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!strstr(text, lines[i]))
			fprintf(stderr, "not %s", lines[i]);
		CHECK(strstr(text, lines[i]));
	}
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	remove_files();
}

int main(int argc, char **argv)
{
	const bool landlock = has_landlock();
	size_t i;

	if (argc > 1 && !strcmp(argv[1], "--landlock") && !landlock) {
		fprintf(stderr, "this kernel has no Landlock\n");
		return EXIT_FAILURE;
	}
	for (i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		if (probes[i].how == LANDLOCK && !landlock)
			fprintf(stderr, "skipped, as this kernel has no Landlock: %s\n",
				probes[i].name);
		else
			run(&probes[i]);
	}
	check_identity();
	return EXIT_SUCCESS;
}
