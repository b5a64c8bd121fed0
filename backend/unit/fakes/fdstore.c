// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fdstore.c - fdstore PIDFILE PROGRAM [WORD...]
 *
 * What the daemon has of systemd, for machines without it: starts the program, and again at each SIGHUP after it has ended, with
 * the descriptors that it has stored. PIDFILE says which process it is. For tests.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/fakes/fake_fdstore.h"

static void fail(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static pid_t start(const char *pid_file, char **program)
{
	pid_t pid = fork();
	sigset_t none;
	FILE *file;

	if (pid < 0)
		fail("fork");
	if (!pid) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (!fake_fdstore_pass(FAKE_FDSTORE_MOST))
			execv(program[0], program);
		fail(program[0]);
	}
	file = fopen(pid_file, "w");
	if (!file || fprintf(file, "%d\n", pid) < 0 || fclose(file))
		fail(pid_file);
	return pid;
}

int main(int argc, char **argv)
{
	struct pollfd polls[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct signalfd_siginfo info;
	char path[256];
	sigset_t set;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: fdstore PIDFILE PROGRAM [WORD...]\n");
		return 2;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	polls[0].fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	snprintf(path, sizeof(path), "%s.notify", argv[1]);
	polls[1].fd = fake_fdstore_open(path);
	if (polls[0].fd < 0 || polls[1].fd < 0)
		fail(path);
	pid = start(argv[1], argv + 2);
	for (;;) {
		poll(polls, 2, -1);
		fake_fdstore_receive(); /* what a process has said comes before its end, as with systemd */
		while (read(polls[0].fd, &info, sizeof(info)) == sizeof(info)) {
			while (waitpid(-1, NULL, WNOHANG) == pid)
				pid = 0;
			if (info.ssi_signo == SIGHUP && !pid)
				pid = start(argv[1], argv + 2);
		}
	}
}
