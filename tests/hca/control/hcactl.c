// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* hcactl: asks a running hca-model through its control socket (ctl.h), for people and for scripts. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "version.h"

#define COLUMNS_MAX 64
#define ACROSS_MAX 16 /* wider tables are printed as NAME VALUE lines */
#define REQUEST_MAX 512
#define TIMEOUT_S 30

enum { EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_UNREACHABLE = 3 };

struct column {
	const char *name;
	char kind; /* d, x, s */
	size_t width;
};

struct table {
	const char *name;
	struct column columns[COLUMNS_MAX];
	unsigned int count;
	char **rows; /* each a string of cells, separated by NULs */
	size_t row_count, row_room;
};

static void usage(FILE *to)
{
	fputs("usage: hcactl --control PATH [--json] REQUEST\n"
	      "\n"
	      "Looks into a running hca-model, and breaks things in it. Requests:\n"
	      "\n"
	      "  ping                        is it there?\n"
	      "  list [KIND]                 live objects: qp, cq, srq, mr, pd, uar, eq, xrcd, td,\n"
	      "                              uctx, all (default)\n"
	      "  uars                        doorbells rung on each UAR page, and those refused\n"
	      "  counters                    messages, bytes, packets, DMA, events\n"
	      "  reset-counters\n"
	      "  fault show                  the faults that are set\n"
	      "  fault drop N                drop the next N packets sent\n"
	      "  fault drop-rate PERMILLE    drop packets at random\n"
	      "  fault delay USEC            hold each packet for so long\n"
	      "  fault link down|up\n"
	      "  fault fail-command NAME [--status X] [--count N]\n"
	      "                              fail the next command(s) NAME (as CREATE_QP, or an\n"
	      "                              opcode) with status X (1: internal error); --count 0\n"
	      "                              takes it back\n"
	      "  fault fatal on|off          crash the firmware; let it start again\n"
	      "  fault odp on|off            a driver that comes finds on-demand paging, or none\n"
	      "  fault moderation on|off     the same of moderation of CQs, of which there is none\n"
	      "  fault clear                 no more faults\n"
	      "  sm external|built-in        leave LIDs and port states to a subnet manager, for\n"
	      "                              which there is a managed switch then; or give them\n"
	      "\n"
	      "Options:\n"
	      "  --control PATH   the model's control socket (or HCA_CONTROL in the environment)\n"
	      "  --function N     only this function (0 is the first --socket); default: all\n"
	      "  --json           one JSON object: a list of objects for each table; numbers as such\n"
	      "  --version, --help\n"
	      "\n"
	      "Access of an MR: r, w local read and write; R, W, A remote read, write and atomic.\n"
	      "Exit status: 0 done, 1 refused by the model, 2 wrong usage, 3 the model is not there.\n",
	      to);
}

static int fail(int status, const char *what, const char *why)
{
	fprintf(stderr, "hcactl: %s%s%s\n", what, why ? ": " : "", why ? why : "");
	return status;
}

static int connect_to(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval timeout = { .tv_sec = TIMEOUT_S };
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void *grow(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p) {
		perror("hcactl");
		exit(EXIT_UNREACHABLE);
	}
	return p;
}

/* The whole answer as a string, without the empty line that ends it. NULL with errno set. */
static char *receive(int fd)
{
	char *text = NULL;
	size_t len = 0, room = 0;

	for (;;) {
		ssize_t n;

		if (room - len < 2) {
			room = room ? 2 * room : 65536;
			text = grow(text, room);
		}
		n = recv(fd, text + len, room - len - 1, 0);
		if (n <= 0) {
			if (!n)
				errno = ECONNRESET;
			free(text);
			return NULL;
		}
		len += (size_t)n;
		text[len] = 0;
		if (len >= 2 && text[len - 1] == '\n' && text[len - 2] == '\n') {
			text[len - 1] = 0;
			return text;
		}
	}
}

/* Numbers come in decimal. */
static size_t format_cell(char *buf, size_t size, const struct column *column, const char *cell)
{
	if (column->kind == 'x')
		return (size_t)snprintf(buf, size, "0x%llx", strtoull(cell, NULL, 10));
	return (size_t)snprintf(buf, size, "%s", cell);
}

static void parse_columns(struct table *t, char *line)
{
	char *next = NULL;

	t->count = 0;
	for (char *c = strtok_r(line, "\t", &next); c && t->count < COLUMNS_MAX;
	     c = strtok_r(NULL, "\t", &next)) {
		char *colon = strrchr(c, ':');
		struct column *column = &t->columns[t->count++];

		column->kind = 's';
		if (colon) {
			*colon = 0;
			column->kind = colon[1];
		}
		column->name = c;
		column->width = strlen(c);
	}
}

/* Cuts a row into its cells; false if it does not have one for each column. */
static bool add_row(struct table *t, char *line)
{
	char *cell = line;
	unsigned int cells = 0;

	for (char *p = line;; p++) {
		char last = *p, buf[256];
		size_t width;

		if (last && last != '\t')
			continue;
		if (cells == t->count)
			return false;
		*p = 0;
		width = format_cell(buf, sizeof(buf), &t->columns[cells], cell);
		if (width > t->columns[cells].width)
			t->columns[cells].width = width;
		cells++;
		cell = p + 1;
		if (!last)
			break;
	}
	if (cells != t->count)
		return false;
	if (t->row_count == t->row_room) {
		t->row_room = t->row_room ? 2 * t->row_room : 256;
		t->rows = grow(t->rows, t->row_room * sizeof(*t->rows));
	}
	t->rows[t->row_count++] = line;
	return true;
}

static void print_across(const struct table *t)
{
	char buf[256];

	for (unsigned int i = 0; i < t->count; i++)
		printf("%-*s%s", i + 1 < t->count ? (int)t->columns[i].width + 2 : 0,
		       t->columns[i].name, i + 1 < t->count ? "" : "\n");
	for (size_t r = 0; r < t->row_count; r++) {
		const char *cell = t->rows[r];

		for (unsigned int i = 0; i < t->count; i++, cell += strlen(cell) + 1) {
			format_cell(buf, sizeof(buf), &t->columns[i], cell);
			printf("%-*s%s", i + 1 < t->count ? (int)t->columns[i].width + 2 : 0, buf,
			       i + 1 < t->count ? "" : "\n");
		}
	}
}

static void print_down(const struct table *t)
{
	char buf[256];

	for (size_t r = 0; r < t->row_count; r++) {
		const char *cell = t->rows[r];

		for (unsigned int i = 0; i < t->count; i++, cell += strlen(cell) + 1) {
			format_cell(buf, sizeof(buf), &t->columns[i], cell);
			printf("%s%-18s %s\n", i ? "  " : "", t->columns[i].name, buf);
		}
	}
}

static void print_table(const struct table *t, bool titled)
{
	if (titled)
		printf("%s: %zu\n", t->name, t->row_count);
	if (titled && !t->row_count)
		return;
	if (t->count > ACROSS_MAX)
		print_down(t);
	else
		print_across(t);
	if (titled)
		putchar('\n');
}

static void print_json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putchar('\\');
		putchar(*s);
	}
	putchar('"');
}

static void print_json(const struct table *t, bool first)
{
	printf("%s", first ? "" : ",\n");
	print_json_string(t->name);
	printf(": [");
	for (size_t r = 0; r < t->row_count; r++) {
		const char *cell = t->rows[r];

		printf("%s\n  {", r ? "," : "");
		for (unsigned int i = 0; i < t->count; i++, cell += strlen(cell) + 1) {
			printf("%s", i ? ", " : "");
			print_json_string(t->columns[i].name);
			printf(": ");
			if (t->columns[i].kind == 's')
				print_json_string(cell);
			else
				printf("%s", cell);
		}
		putchar('}');
	}
	printf("%s]", t->row_count ? "\n" : "");
}

static char *next_line(char **rest)
{
	char *line = *rest, *end = strchr(line, '\n');

	if (!*line)
		return NULL;
	*rest = end ? end + 1 : line + strlen(line);
	if (end)
		*end = 0;
	return line;
}

/* Prints the tables of an answer, each as it is complete. */
static int print_answer(char *rest, bool json)
{
	bool several = strstr(rest, "\ntable ") != NULL, first = true;
	struct table t = { 0 };
	int status = 0;
	char *line;

	if (json)
		putchar('{');
	line = next_line(&rest);
	while (line && !status) {
		char *columns;

		if (strncmp(line, "table ", 6) || !(columns = next_line(&rest))) {
			status = fail(EXIT_UNREACHABLE, "the answer is not understood", line);
			break;
		}
		t.name = line + 6;
		t.row_count = 0;
		parse_columns(&t, columns);
		while ((line = next_line(&rest)) && strncmp(line, "table ", 6) && !status)
			if (!add_row(&t, line))
				status = fail(EXIT_UNREACHABLE, "the answer is not understood",
					      line);
		if (status)
			break;
		if (json)
			print_json(&t, first);
		else
			print_table(&t, several);
		first = false;
	}
	if (json)
		puts("}");
	free(t.rows);
	return status;
}

static int ask(const char *path, const char *request, bool json)
{
	int fd = connect_to(path), status;
	char *answer, *rest, *line;

	if (fd < 0)
		return fail(EXIT_UNREACHABLE, path, strerror(errno));
	answer = send(fd, request, strlen(request), MSG_NOSIGNAL) < 0 ? NULL : receive(fd);
	close(fd);
	if (!answer)
		return fail(EXIT_UNREACHABLE, path, strerror(errno));
	rest = answer;
	line = next_line(&rest);
	if (line && !strcmp(line, "ok"))
		status = print_answer(rest, json);
	else if (line && !strncmp(line, "error ", 6))
		status = fail(EXIT_REFUSED, line + 6, NULL);
	else
		status = fail(EXIT_UNREACHABLE, "the answer is not understood", line);
	free(answer);
	return status;
}

/* Adds a word to the request; false if it does not fit or is not one word. */
static bool add_word(char request[REQUEST_MAX], const char *word)
{
	size_t len = strlen(request);

	if (!*word || strpbrk(word, " \t\r\n") || len + strlen(word) + 3 > REQUEST_MAX)
		return false;
	snprintf(request + len, REQUEST_MAX - len, "%s%s", len ? " " : "", word);
	return true;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "control", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "function", required_argument, NULL, 'f' },
		{ "status", required_argument, NULL, 's' },
		{ "count", required_argument, NULL, 'n' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *path = getenv("HCA_CONTROL"), *option;
	char request[REQUEST_MAX] = "";
	bool json = false;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			path = optarg;
			break;
		case 'j':
			json = true;
			break;
		case 'f':
		case 's':
		case 'n':
			option = c == 'f' ? "--function" : c == 's' ? "--status" : "--count";
			if (!add_word(request, option) || !add_word(request, optarg))
				return fail(EXIT_USAGE, "not a number", optarg);
			break;
		case 'V':
			puts("hcactl " HCA_VERSION);
			return 0;
		case 'h':
			usage(stdout);
			return 0;
		default:
			return fail(EXIT_USAGE, "hcactl --help tells what there is", NULL);
		}
	}
	if (optind == argc)
		return fail(EXIT_USAGE, "what shall be asked? hcactl --help tells what there is",
			    NULL);
	if (!path)
		return fail(EXIT_USAGE,
			    "--control PATH is needed (or HCA_CONTROL in the environment)", NULL);
	for (; optind < argc; optind++) {
		if (!add_word(request, argv[optind]))
			return fail(EXIT_USAGE, "the request is too long, or has an odd word",
				    argv[optind]);
	}
	strcat(request, "\n");
	return ask(path, request, json);
}
