// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * tables FILE - looks at all of its memory again and again, until something in it is not as it was. It has a
 * page in every second MiB of many GiB, so that as many tables of pages as pages are needed for them: one that
 * is lost is missed. A child does the same with a copy. FILE has the number of rounds that both have done, replaced
 * after each; it says what is wrong if something is.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRIDE (2ul << 20) /* what one table maps */
#define TABLES 6000ul
#define PAGE 4096ul
#define WORDS (PAGE / sizeof(uint64_t))

static const char *path;
static uint8_t *memory;

static void say(const char *what, unsigned long number)
{
	char next[256];
	FILE *file;

	snprintf(next, sizeof(next), "%s.%d", path, getpid());
	file = fopen(next, "w");
	if (!file || fprintf(file, "%s %lu\n", what, number) < 0 || fclose(file) ||
	    rename(next, path))
		_exit(2);
}

static void fail(int signal)
{
	(void)signal;
	say("wrong: signal", 0);
	_exit(1);
}

static uint64_t *page(unsigned long table)
{
	return (uint64_t *)(memory + table * STRIDE + table % 512 * PAGE);
}

static uint64_t word(unsigned long table, unsigned long round)
{
	return (table + 1) * 0x9e3779b97f4a7c15ul + round;
}

static void write_all(unsigned long round)
{
	unsigned long table, i;

	for (table = 0; table < TABLES; table++)
		for (i = 0; i < WORDS; i += 64)
			page(table)[i] = word(table, round);
}

static void check_all(unsigned long round)
{
	unsigned long table, i;

	for (table = 0; table < TABLES; table++) {
		for (i = 0; i < WORDS; i += 64) {
			if (page(table)[i] == word(table, round))
				continue;
			say("wrong: table", table);
			_exit(1);
		}
	}
}

/* A copy of all tables, which goes with the process. */
static void check_copy(unsigned long round)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return;
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		check_all(round);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status) {
		say("wrong: child", status);
		_exit(1);
	}
}

int main(int argc, char **argv)
{
	unsigned long round;

	if (argc != 2)
		return 2;
	path = argv[1];
	signal(SIGSEGV, fail);
	signal(SIGBUS, fail);
	memory = mmap(NULL, TABLES * STRIDE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, TABLES * STRIDE, MADV_NOHUGEPAGE))
		return 2;
	for (round = 1;; round++) {
		write_all(round);
		check_all(round);
		check_copy(round);
		check_all(round);
		say("rounds", round);
	}
}
