// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_mm_pin.c - a process with an mm pin is killed: its files are closed first, and its memory
 * goes after that. Memory is observed from outside through the mm pin, in whose /proc entry it
 * stands. An mm pin that somebody has taken over can do nothing.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/fakes/fixture.h"
#include "worker/mm_pin.h"

#define MARK "mm-pin-test-memory"

/* Whether a process, given by its pidfd's /proc/self/fdinfo, has the marked mapping. */
static pid_t pid_of(int pidfd)
{
	char path[64], line[128];
	FILE *file;
	int pid = -1;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	file = fopen(path, "r");
	CHECK(file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "Pid: %d", &pid);
	fclose(file);
	return pid;
}

/* The worker: maps something, starts its mm pin, says who that is, and sleeps. */
static void worker(int say, int file, int life)
{
	int memory = memfd_create(MARK, 0), pidfd;
	pid_t pid;

	CHECK(memory >= 0 && !ftruncate(memory, 4096));
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, memory, 0) != MAP_FAILED);
	pidfd = mm_pin_start(life);
	CHECK(pidfd >= 0);
	pid = pid_of(pidfd);
	CHECK(write(say, &pid, sizeof(pid)) == sizeof(pid));
	(void)file; /* stays open until we die */
	for (;;)
		pause();
}

static bool has_mark(pid_t pid)
{
	char path[64], line[512];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		found |= !!strstr(line, MARK);
	fclose(file);
	return found;
}

static unsigned int open_files(pid_t pid)
{
	char path[64];
	unsigned int n = 0, fd;

	for (fd = 0; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%u", pid, fd);
		n += !access(path, F_OK) || errno == EACCES;
	}
	return n;
}

static void at_end(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char byte;

	CHECK(poll(&wait, 1, 10000) == 1);
	CHECK(read(fd, &byte, 1) == 0);
}

/* A worker with its mm pin. Of the pipes those ends are ours that tell when others have closed theirs. */
struct pair {
	pid_t worker, mm_pin;
	int file, life;
};

static void start(struct pair *p)
{
	int say[2], file[2], life[2];

	CHECK(!pipe(say) && !pipe(file) && !pipe(life));
	p->worker = fork();
	if (!p->worker) {
		close(say[0]);
		close(file[0]);
		close(life[0]);
		worker(say[1], file[1], life[1]);
	}
	close(say[1]);
	close(file[1]);
	close(life[1]);
	CHECK(read(say[0], &p->mm_pin, sizeof(p->mm_pin)) == sizeof(p->mm_pin));
	close(say[0]);
	p->file = file[0];
	p->life = life[0];
}

static void end(struct pair *p)
{
	close(p->file);
	close(p->life);
}

/* It has closed its files: all but the two. */
static void test_order(void)
{
	struct pair p;
	int status;

	start(&p);
	CHECK(has_mark(p.mm_pin) && open_files(p.mm_pin) == 2);

	/* While the mm pin is stopped it cannot end: the moment in between becomes visible. */
	CHECK(!kill(p.mm_pin, SIGSTOP) && !kill(p.worker, SIGKILL));
	CHECK(waitpid(p.worker, NULL, 0) == p.worker);
	at_end(p.file);
	CHECK(has_mark(p.mm_pin));
	CHECK(!kill(p.mm_pin, SIGCONT));
	at_end(p.life);
	CHECK(waitpid(p.mm_pin, &status, 0) == p.mm_pin);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status)); /* that it was stopped does not matter */
	end(&p);
}

/* It sleeps in a system call: now it makes another one, at the same place. Returns its wait status. */
static int make_call(pid_t pid, long number, long a, long b)
{
	struct user_regs_struct regs;
	int status;

	CHECK(!ptrace(PTRACE_ATTACH, pid, 0, 0) && waitpid(pid, &status, __WALL) == pid &&
	      WIFSTOPPED(status));
	CHECK(!ptrace(PTRACE_GETREGS, pid, 0, &regs));
	regs.rip -= 2; /* the instruction itself */
	regs.orig_rax = -1;
	regs.rax = number;
	regs.rdi = a;
	regs.rsi = b;
	CHECK(!ptrace(PTRACE_SETREGS, pid, 0, &regs) && !ptrace(PTRACE_SINGLESTEP, pid, 0, 0));
	CHECK(waitpid(pid, &status, __WALL) == pid);
	return status;
}

/* A process that goes on, letting go of life, other memory, files, signals: each is its end. */
static void test_taken_over(void)
{
	static const struct {
		const char *name;
		long number, a, b;
	} calls[] = {
		{ "fork", SYS_fork, 0, 0 },
		{ "clone", SYS_clone, CLONE_VM | CLONE_FILES | SIGCHLD, 0 },
		{ "close", SYS_close, 0, 0 },
		{ "close_range", SYS_close_range, 0, ~0u },
		{ "munmap", SYS_munmap, 0, 4096 },
		{ "kill", SYS_kill, 1, 0 },
		{ "dup", SYS_dup, 0, 0 },
		{ "prctl", SYS_prctl, PR_SET_DUMPABLE, 1 },
		{ "execve", SYS_execve, 0, 0 },
	};
	struct pair p;
	unsigned int i;
	int status;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		start(&p);
		status = make_call(p.mm_pin, calls[i].number, calls[i].a, calls[i].b);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			fprintf(stderr, "%s: wait status 0x%x\n", calls[i].name, status);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
		CHECK(!kill(p.worker, SIGKILL) && waitpid(p.worker, NULL, 0) == p.worker);
		at_end(p.life);
		end(&p);
	}
}

int main(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	test_order();
	test_taken_over();
	return EXIT_SUCCESS;
}
