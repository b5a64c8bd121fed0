// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_keeper.c - a process with a keeper is killed: its files are closed first, and its memory
 * goes after that. Memory is observed from outside through the keeper, in whose /proc entry it
 * stands.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper.h"
#include "rig.h"

#define MARK "keeper-test-memory"

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

/* The worker: maps something, starts its keeper, says who that is, and sleeps. */
static void worker(int say, int file, int life)
{
	int memory = memfd_create(MARK, 0), pidfd;
	pid_t pid;

	CHECK(memory >= 0 && !ftruncate(memory, 4096));
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, memory, 0) != MAP_FAILED);
	pidfd = keeper_start(life);
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

int main(void)
{
	int say[2], file[2], life[2];
	pid_t child, keeper;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	CHECK(!pipe(say) && !pipe(file) && !pipe(life));
	child = fork();
	if (!child) {
		close(say[0]);
		close(file[0]);
		close(life[0]);
		worker(say[1], file[1], life[1]);
	}
	close(say[1]);
	close(file[1]);
	close(life[1]);
	CHECK(read(say[0], &keeper, sizeof(keeper)) == sizeof(keeper));
	usleep(200000); /* it has closed its files by now: all but the two */
	CHECK(has_mark(keeper) && open_files(keeper) == 2);

	/* While the keeper is stopped it cannot end: the moment in between becomes visible. */
	CHECK(!kill(keeper, SIGSTOP) && !kill(child, SIGKILL));
	CHECK(waitpid(child, NULL, 0) == child);
	at_end(file[0]);
	CHECK(has_mark(keeper));
	CHECK(!kill(keeper, SIGCONT));
	at_end(life[0]);
	CHECK(waitpid(keeper, NULL, 0) == keeper);
	return EXIT_SUCCESS;
}
