// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * family.c - see family.h.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/family.h"
#include "util/read_line.h"

#define MM_PIN "xen-ib-mm-pin"

/* Whether it is that pipe, open for writing: a supervisor has the other end. */
static bool is_life(int fds, const char *name, const struct stat *life)
{
	struct stat file, link;

	return !fstatat(fds, name, &file, 0) && file.st_dev == life->st_dev &&
	       file.st_ino == life->st_ino && !fstatat(fds, name, &link, AT_SYMLINK_NOFOLLOW) &&
	       link.st_mode & S_IWUSR;
}

static bool holds_life(int pid, const struct stat *life)
{
	struct dirent *entry;
	bool holds = false;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && !holds && (entry = readdir(dir)))
		holds = is_life(dirfd(dir), entry->d_name, life);
	if (dir)
		closedir(dir);
	return holds;
}

/* Only the process itself can change that name, and an mm pin cannot. */
static bool is_mm_pin(int pid)
{
	char path[32], name[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	return !read_line(path, name, sizeof(name)) && !strcmp(name, MM_PIN);
}

/* The pidfd comes first, so that what is looked at is what it refers to. */
static bool kill_one(int pid, const struct stat *life, bool mm_pins)
{
	int pidfd = pidfd_open(pid, 0);
	bool killed;

	if (pidfd < 0)
		return false;
	killed = holds_life(pid, life) && is_mm_pin(pid) == mm_pins &&
		 !pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
	close(pidfd);
	return killed;
}

static unsigned int kill_all(const struct stat *life, bool mm_pins)
{
	unsigned int killed = 0;
	struct dirent *entry;
	DIR *dir;
	int pid;

	dir = opendir("/proc");
	while (dir && (entry = readdir(dir))) {
		pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
		if (pid > 0 && pid != getpid())
			killed += kill_one(pid, life, mm_pins);
	}
	if (dir)
		closedir(dir);
	return killed;
}

unsigned int family_kill(const char *life)
{
	struct stat st;

	if (stat(life, &st))
		return 0;
	return kill_all(&st, false) ?: kill_all(&st, true);
}
