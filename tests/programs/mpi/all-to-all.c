// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * all-to-all - every rank sends to every rank, parts of one size and of different sizes, and each byte is checked.
 */
#include <getopt.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

#define MOST_BYTES (64u << 20)
#define GUARD 64 /* bytes behind what is received, which nobody may write to */
#define GUARD_BYTE 0xa5

static uint8_t *out, *in;

static uint64_t seed_of(int from, int to, size_t size, unsigned int round)
{
	return ((size * 64 + from) * 64 + to) * 64 + round;
}

static void clear(size_t length)
{
	memset(in, 0, length);
	memset(in + length, GUARD_BYTE, GUARD);
}

static void check_guard(size_t length)
{
	size_t i;

	for (i = 0; i < GUARD; i++)
		if (in[length + i] != GUARD_BYTE)
			job_wrong("byte %zu behind the %zu received was written", i, length);
}

/* Parts of one size. */
static void even(size_t size, unsigned int round)
{
	int i;

	for (i = 0; i < job_ranks; i++)
		data_fill(out + i * size, size, seed_of(job_rank, i, size, round));
	clear(job_ranks * size);
	MPI_Alltoall(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
	for (i = 0; i < job_ranks; i++)
		data_check(in + i * size, size, seed_of(i, job_rank, size, round), "all-to-all");
	check_guard(job_ranks * size);
}

/* From 0 to size bytes, by who sends to whom. */
static int part(int from, int to, size_t size)
{
	return size * ((from * 3 + to * 5 + 1) % 8) / 7;
}

/* Parts of different sizes, some of nothing. */
static void uneven(size_t size, unsigned int round)
{
	int *counts = job_alloc(4 * job_ranks * sizeof(*counts));
	int *sent = counts, *sent_at = counts + job_ranks;
	int *got = counts + 2 * job_ranks, *got_at = counts + 3 * job_ranks;
	int i, sends = 0, gets = 0;

	for (i = 0; i < job_ranks; i++) {
		sent[i] = part(job_rank, i, size);
		sent_at[i] = sends;
		got[i] = part(i, job_rank, size);
		got_at[i] = gets;
		sends += sent[i];
		gets += got[i];
		data_fill(out + sent_at[i], sent[i], seed_of(job_rank, i, size, round));
	}
	clear(gets);
	MPI_Alltoallv(out, sent, sent_at, MPI_BYTE, in, got, got_at, MPI_BYTE, MPI_COMM_WORLD);
	for (i = 0; i < job_ranks; i++)
		data_check(in + got_at[i], got[i], seed_of(i, job_rank, size, round),
			   "uneven all-to-all");
	check_guard(gets);
	free(counts);
}

static void usage(FILE *to)
{
	fputs("usage: mpirun ... all-to-all [--most BYTES] [--rounds N]\n"
	      "\n"
	      "Every rank sends 1, 3, 11, 43 ... and BYTES bytes (262144) to every rank, N times (2) each: by\n"
	      "MPI_Alltoall(), and parts of different sizes by MPI_Alltoallv().\n",
	      to);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "most", required_argument, NULL, 'm' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	unsigned long most = 262144, rounds = 2, i;
	size_t size;
	int o;

	while ((o = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (o) {
		case 'm':
			most = job_number("most", optarg, 1, MOST_BYTES);
			break;
		case 'r':
			rounds = job_number("rounds", optarg, 1, 60);
			break;
		default:
			usage(o == 'h' ? stdout : stderr);
			return o == 'h' ? EXIT_SUCCESS : 2;
		}
	}
	job_start();
	out = job_alloc(job_ranks * most);
	in = job_alloc(job_ranks * most + GUARD);
	/* Odd sizes, near powers of two; and the largest. */
	for (size = 1;; size = size * 4 < most ? size * 4 - 1 : most) {
		for (i = 0; i < rounds; i++) {
			even(size, i);
			uneven(size, i);
		}
		if (size == most)
			break;
	}
	free(out);
	free(in);
	return job_end("all-to-all");
}
