// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "job.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LINES 10 /* that say what is wrong */

int job_rank, job_ranks;

static unsigned long wrong;

void job_start(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &job_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &job_ranks);
}

int job_end(const char *name)
{
	unsigned long all;

	MPI_Allreduce(&wrong, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (!job_rank && all)
		printf("%s: FAILED, %lu wrong\n", name, all);
	else if (!job_rank)
		printf("%s: passed\n", name);
	MPI_Finalize();
	return all ? EXIT_FAILURE : EXIT_SUCCESS;
}

void job_wrong(const char *fmt, ...)
{
	char text[256];
	va_list args;

	if (wrong++ >= LINES)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printf("rank %d: WRONG: %s\n", job_rank, text);
}

void job_die(const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(stderr, "rank %d: %s\n", job_rank, text);
	MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	abort();
}

void *job_alloc(size_t bytes)
{
	void *at = malloc(bytes ? bytes : 1);

	if (!at)
		job_die("no %zu bytes of memory", bytes);
	return at;
}

unsigned long job_number(const char *option, const char *text, unsigned long least,
			 unsigned long most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text >= '0' && *text <= '9' && !*end && n >= least && n <= most)
		return n;
	fprintf(stderr, "--%s wants a number from %lu to %lu, not '%s'\n", option, least, most,
		text);
	exit(2);
}

/* The multiplier is odd, so each place has a word of its own; the upper half of the product is well mixed. */
static uint64_t word(size_t place, uint64_t seed)
{
	uint64_t x = (place + (seed << 32) + 1) * 0x9e3779b97f4a7c15u;

	return x ^ x >> 32;
}

void data_fill(void *at, size_t length, uint64_t seed)
{
	uint8_t *to = at;
	size_t i;

	for (i = 0; i < length; i += sizeof(uint64_t)) {
		uint64_t w = word(i, seed);

		memcpy(to + i, &w, length - i < sizeof(w) ? length - i : sizeof(w));
	}
}

void data_check(const void *at, size_t length, uint64_t seed, const char *what)
{
	const uint8_t *from = at;
	size_t i;

	for (i = 0; i < length; i += sizeof(uint64_t)) {
		uint64_t w = word(i, seed);

		if (!memcmp(from + i, &w, length - i < sizeof(w) ? length - i : sizeof(w)))
			continue;
		job_wrong("%s: %zu bytes, wrong at %zu", what, length, i);
		return;
	}
}
