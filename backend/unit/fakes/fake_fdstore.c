// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fake_fdstore.c - see fake_fdstore.h.
 */
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "unit/fakes/fake_fdstore.h"

#define FIRST 3 /* LISTEN_FDS */

static struct {
	char name[256];
	int fd;
} entry[FAKE_FDSTORE_MOST];
static unsigned int n;
static int sock = -1;
static struct sockaddr_un where = { .sun_family = AF_UNIX };

int fake_fdstore_open(const char *path)
{
	snprintf(where.sun_path, sizeof(where.sun_path), "%s", path);
	unlink(path);
	sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0 || bind(sock, (const struct sockaddr *)&where, sizeof(where)))
		return -1;
	/* Out of the way of what is passed. */
	return sock = fcntl(sock, F_DUPFD_CLOEXEC, FIRST + FAKE_FDSTORE_MOST);
}

static bool same_file(int a, int b)
{
	return !syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, a, b);
}

static void store(const char *name, int fd)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (same_file(entry[i].fd, fd))
			break;
	if (i < n || n == FAKE_FDSTORE_MOST) {
		close(fd);
		return;
	}
	snprintf(entry[n].name, sizeof(entry[n].name), "%s", name);
	entry[n++].fd = fd;
}

static void remove_all(const char *name)
{
	unsigned int i = 0;

	while (i < n) {
		if (strcmp(entry[i].name, name)) {
			i++;
			continue;
		}
		close(entry[i].fd);
		entry[i] = entry[--n];
	}
}

/* The value of a line KEY=value, in *value; false: there is none. */
static bool find_line(const char *text, const char *key, char value[256])
{
	const char *line;

	for (line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, key, strlen(key)))
			continue;
		snprintf(value, 256, "%.*s", (int)strcspn(line + strlen(key), "\n"),
			 line + strlen(key));
		return true;
	}
	return false;
}

static void take_fds(struct msghdr *header, const char *name, bool keep)
{
	struct cmsghdr *c;
	unsigned int i;
	int *fds;

	for (c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		fds = (int *)CMSG_DATA(c);
		for (i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			if (keep)
				store(name, fds[i]);
			else
				close(fds[i]);
		}
	}
}

const char *fake_fdstore_receive(void)
{
	static char text[4096], other[4096];
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(16 * sizeof(int))];
	} control;
	struct iovec part = { text, sizeof(text) - 1 };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space };
	char name[256], value[256];
	const char *said = NULL;
	ssize_t length;
	bool keep;

	for (;;) {
		header.msg_controllen = sizeof(control.space);
		length = recvmsg(sock, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (length < 0)
			return said;
		text[length] = 0;
		if (!find_line(text, "FDNAME=", name))
			strcpy(name, "stored");
		if (find_line(text, "FDSTOREREMOVE=", value))
			remove_all(name);
		keep = find_line(text, "FDSTORE=", value);
		take_fds(&header, name, keep);
		if (!strncmp(text, "FDSTORE", strlen("FDSTORE")))
			continue;
		strcpy(other, text);
		said = other;
	}
}

unsigned int fake_fdstore_count(void)
{
	return n;
}

int fake_fdstore_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!strcmp(entry[i].name, name))
			return entry[i].fd;
	return -1;
}

static void set_number(const char *variable, unsigned int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	setenv(variable, text, 1);
}

/* Their numbers may be in each other's way, so they are moved up first. */
int fake_fdstore_pass(unsigned int most)
{
	char *names = calloc(n + 1, sizeof(entry[0].name));
	int high[FAKE_FDSTORE_MOST];
	unsigned int i;

	if (!names)
		return -1;
	for (i = 0; i < n; i++) {
		high[i] = fcntl(entry[i].fd, F_DUPFD_CLOEXEC, FIRST + FAKE_FDSTORE_MOST);
		strcat(strcat(names, i ? ":" : ""), entry[i].name);
	}
	for (i = 0; i < n; i++)
		if (high[i] < 0 || dup2(high[i], FIRST + i) < 0)
			return -1;
	setenv("NOTIFY_SOCKET", where.sun_path, 1);
	set_number("FDSTORE", most);
	if (n) {
		set_number("LISTEN_PID", getpid());
		set_number("LISTEN_FDS", n);
		setenv("LISTEN_FDNAMES", names, 1);
	}
	free(names);
	return 0;
}
