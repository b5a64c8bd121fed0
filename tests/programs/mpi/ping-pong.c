// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ping-pong - latency and bandwidth between two ranks by message size, each byte checked before it is measured.
 */
#include <getopt.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

#define MOST_BYTES (64u << 20)
#define CHECKED 4 /* rounds of each size */
#define WINDOW 16 /* messages under way, for bandwidth */
#define BATCH 4   /* rounds that are measured together, for latency */
#define LEAST_ROUNDS 4
#define TAG 1

struct plan {
	size_t least, most;  /* sizes, by powers of two */
	unsigned long count; /* rounds of small messages */
	size_t volume;       /* bytes in all rounds of a size; fewer rounds of large messages */
	bool latency, bandwidth;
};

static uint8_t *out, *in; /* of WINDOW messages each */

static unsigned long rounds_of(const struct plan *plan, size_t size)
{
	unsigned long fit = plan->volume / size;

	if (fit > plan->count)
		fit = plan->count;
	return fit < LEAST_ROUNDS ? LEAST_ROUNDS : fit;
}

static uint64_t seed_of(size_t size, unsigned int round, int sender)
{
	return size * 64 + round * 2 + sender;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts them. */
static double median(double *v, unsigned long n)
{
	qsort(v, n, sizeof(*v), compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void send_to(int peer, size_t size)
{
	MPI_Send(out, size, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
}

static void receive_from(int peer, size_t size)
{
	MPI_Recv(in, size, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* What is sent is new in each round and direction, and what was received before is gone. */
static void checked_rounds(size_t size)
{
	int peer = !job_rank;
	unsigned int round;

	for (round = 0; round < CHECKED; round++) {
		data_fill(out, size, seed_of(size, round, job_rank));
		memset(in, 0, size);
		if (job_rank)
			receive_from(peer, size);
		send_to(peer, size);
		if (!job_rank)
			receive_from(peer, size);
		data_check(in, size, seed_of(size, round, peer), "ping-pong");
	}
}

/* Microseconds one way: the median of some batches, as a batch in which the host did something else tells nothing. */
static double latency(size_t size, unsigned long rounds)
{
	unsigned long batches = (rounds + BATCH - 1) / BATCH, batch, i;
	double *seconds = job_alloc(batches * sizeof(*seconds));
	int peer = !job_rank;
	double start, value;

	MPI_Barrier(MPI_COMM_WORLD);
	for (batch = 0; batch < batches; batch++) {
		start = MPI_Wtime();
		for (i = 0; i < BATCH; i++) {
			if (job_rank)
				receive_from(peer, size);
			send_to(peer, size);
			if (!job_rank)
				receive_from(peer, size);
		}
		seconds[batch] = MPI_Wtime() - start;
	}
	value = median(seconds, batches) / BATCH / 2 * 1e6;
	free(seconds);
	return value;
}

/* A window of messages from rank 0 to rank 1, whose answer says that all are there. */
static void window(size_t size)
{
	MPI_Request requests[WINDOW];
	unsigned int i;

	for (i = 0; i < WINDOW; i++) {
		if (job_rank)
			MPI_Irecv(in + i * size, size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD,
				  &requests[i]);
		else
			MPI_Isend(out + i * size, size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD,
				  &requests[i]);
	}
	MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
	if (job_rank)
		MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
	else
		MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* MiB a second, of the median window. The first window is not measured, and the last is checked. */
static double bandwidth(size_t size, unsigned long rounds)
{
	unsigned long windows = (rounds + WINDOW - 1) / WINDOW, i;
	double *seconds = job_alloc(windows * sizeof(*seconds));
	double start, value;

	data_fill(out, WINDOW * size, seed_of(size, 0, 0));
	memset(in, 0, WINDOW * size);
	window(size);
	MPI_Barrier(MPI_COMM_WORLD);
	for (i = 0; i < windows; i++) {
		start = MPI_Wtime();
		window(size);
		seconds[i] = MPI_Wtime() - start;
	}
	if (job_rank)
		data_check(in, WINDOW * size, seed_of(size, 0, 0), "bandwidth");
	value = WINDOW * size / median(seconds, windows) / (1 << 20);
	free(seconds);
	return value;
}

static void all_sizes(const struct plan *plan)
{
	size_t size;

	for (size = plan->least; size <= plan->most; size *= 2) {
		unsigned long rounds = rounds_of(plan, size);
		double value;

		checked_rounds(size);
		if (plan->latency) {
			value = latency(size, rounds);
			if (!job_rank)
				printf("latency %zu %.2f\n", size, value);
		}
		if (plan->bandwidth) {
			value = bandwidth(size, rounds);
			if (!job_rank)
				printf("bandwidth %zu %.3f\n", size, value);
		}
	}
}

static void usage(FILE *to)
{
	fputs("usage: mpirun ... ping-pong [--least BYTES] [--most BYTES] [--count N] [--volume BYTES]\n"
	      "                            [--only latency|bandwidth]\n"
	      "\n"
	      "Two ranks exchange messages of BYTES, 2 * BYTES ... bytes (1 to 1 MiB), each N times (100), but no\n"
	      "more than BYTES in all (16 MiB). A few rounds of each size are checked byte by byte first.\n"
	      "Prints \"latency SIZE MICROSECONDS\", one way, and \"bandwidth SIZE MIB/S\": medians.\n",
	      to);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "least", required_argument, NULL, 'l' },
		{ "most", required_argument, NULL, 'm' },
		{ "count", required_argument, NULL, 'c' },
		{ "volume", required_argument, NULL, 'v' },
		{ "only", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct plan plan = { 1, 1 << 20, 100, 16 << 20, true, true };
	int o;

	while ((o = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (o) {
		case 'l':
			plan.least = job_number("least", optarg, 1, MOST_BYTES);
			break;
		case 'm':
			plan.most = job_number("most", optarg, 1, MOST_BYTES);
			break;
		case 'c':
			plan.count = job_number("count", optarg, 1, 10000000);
			break;
		case 'v':
			plan.volume = job_number("volume", optarg, 1, 1ul << 40);
			break;
		case 'o':
			plan.latency = !strcmp(optarg, "latency");
			plan.bandwidth = !strcmp(optarg, "bandwidth");
			if (plan.latency || plan.bandwidth)
				break;
			/* fallthrough */
		default:
			usage(o == 'h' ? stdout : stderr);
			return o == 'h' ? EXIT_SUCCESS : 2;
		}
	}
	job_start();
	if (job_ranks != 2)
		job_die("ping-pong wants two ranks");
	out = job_alloc(WINDOW * plan.most);
	in = job_alloc(WINDOW * plan.most);
	all_sizes(&plan);
	free(out);
	free(in);
	return job_end("ping-pong");
}
