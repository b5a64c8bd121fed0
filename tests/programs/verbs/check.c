// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { EXIT_SKIP = 77, DEFAULT_SECONDS = 60 };

struct check_options opt = { .deadline_ms = CHECK_DEADLINE_MS };

static unsigned int failures;
static bool goes_on;

uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool check_at(const char *file, int line, bool ok, const char *expr, const char *fmt, ...)
{
	int saved_errno = errno;
	va_list args;

	if (ok && !opt.verbose)
		return true;
	if (ok)
		printf("ok: ");
	else
		printf("%s:%d: FAILED: ", file, line);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	if (ok)
		printf("\n");
	else
		printf("\n    not true: %s (errno %d: %s)\n", expr, saved_errno,
		       strerror(saved_errno));
	if (!ok)
		failures++;
	errno = saved_errno;
	return ok;
}

void check_end_case(void)
{
	fflush(stdout);
	_exit(failures ? EXIT_FAILURE : EXIT_SUCCESS);
}

void skip(const char *fmt, ...)
{
	va_list args;

	if (failures)
		check_end_case();
	printf("skipped: ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_exit(EXIT_SKIP);
}

pid_t check_fork(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	require(pid >= 0, "start a process");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	failures = 0;
	return 0;
}

bool told_to_stop(int ms)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, ms) == 1;
}

void note(const char *fmt, ...)
{
	va_list args;

	if (!opt.verbose)
		return;
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
}

static unsigned int seconds_of(const struct check_case *c)
{
	return c->seconds ? c->seconds : DEFAULT_SECONDS;
}

bool check_goes_on(void)
{
	return goes_on;
}

/* The child. After each case but the last the parent is told by an octet, and says when it has printed the result. */
static void run_here(const struct check_case *const *cases, size_t n, int parent)
{
	char octet = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		goes_on = i + 1 < n;
		note("-- %s: %s", cases[i]->name, cases[i]->shows);
		alarm(seconds_of(cases[i]));
		cases[i]->run(cases[i]->arg);
		fflush(stdout);
		if (failures || !goes_on || write(parent, &octet, 1) != 1 ||
		    read(parent, &octet, 1) != 1)
			check_end_case();
	}
}

/* Returns the exit status of the child that ran a case; says so if it ended by a signal. */
static int reap(pid_t pid, const struct check_case *c)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR) {
			perror("waitpid");
			return EXIT_FAILURE;
		}
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (WTERMSIG(status) == SIGALRM)
		printf("%s: not finished after %u s\n", c->name, seconds_of(c));
	else
		printf("%s: died of signal %d (%s)\n", c->name, WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
	return EXIT_FAILURE;
}

static bool wanted(const struct check_case *c, char *const *globs, int nglobs, bool list)
{
	int i;

	if (!nglobs)
		return list || !c->on_demand;
	for (i = 0; i < nglobs; i++)
		if (c->on_demand ? !strcmp(globs[i], c->name) : !fnmatch(globs[i], c->name, 0))
			return true;
	return false;
}

static void usage(const char *program, const char *what, FILE *to)
{
	fprintf(to,
		"usage: %s [OPTION]... [NAME|GLOB]...\n%s\n\n"
		"Runs the named cases, or all of them but those that have to be named in full. Exit status: 0 passed, 1 failed, 77 nothing but skipped.\n\n"
		"  -l, --list            print the cases and what each shows\n"
		"  -d DEVICE             the first device (default: the first there is)\n"
		"  -D DEVICE             the second device (default: the second there is, else the first)\n"
		"  -v, --verbose         print every check, not only those that fail\n"
		"      --results         print a line for each case that the test harness understands\n"
		"      --count N         how many rounds or messages, where a case repeats\n"
		"      --max-size BYTES  the largest message, where a case tries many sizes\n"
		"      --deadline SEC    how long something that must happen may take (default %d)\n"
		"      --seed N          of the data patterns (default: the clock)\n"
		"  -h, --help            print this\n",
		program, what, CHECK_DEADLINE_MS / 1000);
}

enum { OPT_RESULTS = 256, OPT_COUNT, OPT_MAX_SIZE, OPT_DEADLINE, OPT_SEED };

static const struct option long_options[] = { { "list", no_argument, NULL, 'l' },
					      { "verbose", no_argument, NULL, 'v' },
					      { "help", no_argument, NULL, 'h' },
					      { "results", no_argument, NULL, OPT_RESULTS },
					      { "count", required_argument, NULL, OPT_COUNT },
					      { "max-size", required_argument, NULL, OPT_MAX_SIZE },
					      { "deadline", required_argument, NULL, OPT_DEADLINE },
					      { "seed", required_argument, NULL, OPT_SEED },
					      { 0 } };

static unsigned long long number(const char *name, const char *text)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-') {
		fprintf(stderr, "--%s: '%s' is not a number\n", name, text);
		exit(2);
	}
	return value;
}

struct tally {
	unsigned int passed, failed, skipped;
};

static void count_result(struct tally *tally, const struct check_case *c, int status, bool results)
{
	const char *word;

	if (status == EXIT_SUCCESS) {
		tally->passed++;
		word = "@pass";
	} else if (status == EXIT_SKIP) {
		tally->skipped++;
		word = "@skip";
	} else {
		tally->failed++;
		word = "@fail";
	}
	if (results)
		printf("%s %s\n", word, c->name);
	else if (status != EXIT_SUCCESS)
		printf("%s %s\n", word + 1, c->name);
	else if (opt.verbose)
		printf("pass %s\n\n", c->name);
	fflush(stdout);
}

/* Runs cases in one child, one after the other, until one has not passed. Returns how many have a result; at least one has. */
static size_t run_child(const struct check_case *const *cases, size_t n, struct tally *tally,
			bool results)
{
	size_t done = 0;
	int pair[2];
	char octet;
	pid_t pid;

	fflush(stdout);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		perror("socketpair");
		exit(EXIT_FAILURE);
	}
	pid = fork();
	if (pid < 0) {
		perror("fork");
		exit(EXIT_FAILURE);
	}
	if (!pid) {
		close(pair[0]);
		run_here(cases, n, pair[1]);
	}
	close(pair[1]);
	while (done + 1 < n && read(pair[0], &octet, 1) == 1) {
		count_result(tally, cases[done++], EXIT_SUCCESS, results);
		if (write(pair[0], &octet, 1) != 1)
			break; /* it is gone, and has said why */
	}
	count_result(tally, cases[done], reap(pid, cases[done]), results);
	close(pair[0]);
	return done + 1;
}

static void run_all(const struct check_case *const *cases, size_t n, struct tally *tally,
		    bool results)
{
	size_t i, m;

	for (i = 0; i < n; i += run_child(cases + i, m, tally, results)) {
		m = 1;
		while (cases[i]->together && i + m < n && cases[i + m]->together)
			m++;
	}
}

int check_main_tables(int argc, char **argv, const char *what, const struct check_table *tables,
		      size_t count)
{
	const struct check_case **chosen;
	bool list = false, results = false;
	struct tally tally = { 0 };
	size_t t, i, n = 0;
	int o;

	opt.seed = now_ms();
	while ((o = getopt_long(argc, argv, "d:D:lvh", long_options, NULL)) != -1) {
		switch (o) {
		case 'd':
			opt.device[0] = optarg;
			break;
		case 'D':
			opt.device[1] = optarg;
			break;
		case 'l':
			list = true;
			break;
		case 'v':
			opt.verbose = true;
			break;
		case 'h':
			usage(argv[0], what, stdout);
			return EXIT_SUCCESS;
		case OPT_RESULTS:
			results = true;
			break;
		case OPT_COUNT:
			opt.count = number("count", optarg);
			break;
		case OPT_MAX_SIZE:
			opt.max_size = number("max-size", optarg);
			break;
		case OPT_DEADLINE:
			opt.deadline_ms = number("deadline", optarg) * 1000;
			break;
		case OPT_SEED:
			opt.seed = number("seed", optarg);
			break;
		default:
			usage(argv[0], what, stderr);
			return 2;
		}
	}

	for (t = 0; t < count; t++)
		n += tables[t].count;
	chosen = calloc(n, sizeof(chosen[0]));
	if (!chosen) {
		perror(argv[0]);
		return EXIT_FAILURE;
	}
	n = 0;
	for (t = 0; t < count; t++)
		for (i = 0; i < tables[t].count; i++)
			if (wanted(&tables[t].cases[i], argv + optind, argc - optind, list))
				chosen[n++] = &tables[t].cases[i];
	if (!n) {
		fprintf(stderr, "%s: no such case (see --list)\n", argv[0]);
		free(chosen);
		return 2;
	}
	for (i = 0; list && i < n; i++)
		printf("%-36s %s\n", chosen[i]->name, chosen[i]->shows);
	if (!list)
		run_all(chosen, n, &tally, results);
	free(chosen);
	if (list)
		return EXIT_SUCCESS;
	if (!results)
		printf("%u passed, %u failed, %u skipped (seed %llu)\n", tally.passed, tally.failed,
		       tally.skipped, (unsigned long long)opt.seed);
	if (tally.failed)
		return EXIT_FAILURE;
	return tally.passed ? EXIT_SUCCESS : EXIT_SKIP;
}

int check_main(int argc, char **argv, const char *what, const struct check_case *cases,
	       size_t count)
{
	const struct check_table table = { .cases = cases, .count = count };

	return check_main_tables(argc, argv, what, &table, 1);
}
