// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * client.c - see client.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "admin/control.h"
#include "client.h"
#include "tool.h"

#define TIMEOUT_S 30

__attribute__((format(printf, 3, 4))) static void fail(struct answer *answer, int status,
						       const char *why, ...)
{
	va_list args;

	answer->status = status;
	va_start(args, why);
	vsnprintf(answer->why, sizeof(answer->why), why, args);
	va_end(args);
}

static int connect_to(const char *path, struct answer *answer)
{
	const struct timeval timeout = { .tv_sec = TIMEOUT_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s", path) >=
	    (int)sizeof(address.sun_path)) {
		fail(answer, TOOL_USAGE, "%s: too long for a socket", path);
		return -1;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
		return fd;
	}
	if (errno == EACCES)
		fail(answer, TOOL_FAILED, "%s: you are not root", path);
	else if (errno == ENOENT || errno == ECONNREFUSED)
		fail(answer, TOOL_NO_DAEMON, "the daemon xen-ibback does not run");
	else
		fail(answer, TOOL_NO_DAEMON, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static int status_of(const char *word)
{
	if (!strcmp(word, control_error_word(CONTROL_NOT_FOUND)))
		return TOOL_NOT_FOUND;
	return strcmp(word, control_error_word(CONTROL_USAGE)) ? TOOL_FAILED : TOOL_USAGE;
}

static void read_body(FILE *from, struct answer *answer, size_t length)
{
	answer->body = malloc(length + 1);
	if (!answer->body || fread(answer->body, 1, length, from) != length) {
		free(answer->body);
		answer->body = NULL;
		fail(answer, TOOL_FAILED, "the daemon did not end its response");
		return;
	}
	answer->body[length] = 0;
	answer->status = TOOL_OK;
}

static void read_answer(FILE *from, struct answer *answer)
{
	char line[CONTROL_LINE_MAX], *rest = line, *word;
	uint64_t length;

	if (!fgets(line, sizeof(line), from)) {
		fail(answer, TOOL_NO_DAEMON, "the daemon does not answer");
		return;
	}
	line[strcspn(line, "\n")] = 0;
	word = strsep(&rest, " ");
	if (!strcmp(word, "ok") && rest && parse_number(rest, 2 * CONTROL_BODY_MAX, &length)) {
		read_body(from, answer, length);
	} else if (!strcmp(word, "error") && rest) {
		word = strsep(&rest, " ");
		fail(answer, status_of(word), "%s", rest ? rest : word);
	} else {
		fail(answer, TOOL_FAILED, "unexpected response from the daemon");
	}
}

void ask(const char *socket, struct answer *answer, const char *request, ...)
{
	char line[CONTROL_LINE_MAX];
	va_list args;
	int fd, length;
	FILE *from;

	memset(answer, 0, sizeof(*answer));
	va_start(args, request);
	length = vsnprintf(line, sizeof(line) - 1, request, args);
	va_end(args);
	if (length >= (int)sizeof(line) - 1 || strchr(line, '\n')) {
		fail(answer, TOOL_USAGE, "the request is too long, or has several lines");
		return;
	}
	line[length++] = '\n';
	fd = connect_to(socket, answer);
	if (fd < 0)
		return;
	from = fdopen(fd, "r");
	if (from && send(fd, line, length, MSG_NOSIGNAL) == length)
		read_answer(from, answer);
	else
		fail(answer, TOOL_NO_DAEMON, "the daemon does not listen: %s", strerror(errno));
	if (from)
		fclose(from);
	else
		close(fd);
}

int answer_complain(const struct answer *answer)
{
	complain("%s", answer->why);
	if (answer->status == TOOL_NO_DAEMON)
		hint("start it: systemctl start xen-ibback; or see why it ended: journalctl -u xen-ibback");
	return answer->status;
}
