// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * hello - each rank says where it is, and hears it of all others.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

struct greeting {
	int rank;
	char host[MPI_MAX_PROCESSOR_NAME];
};

static void usage(FILE *to)
{
	fputs("usage: mpirun ... hello\n"
	      "\n"
	      "Prints a line for each rank, \"rank R of N on HOST\", by what all others heard of it.\n",
	      to);
}

int main(int argc, char **argv)
{
	struct greeting mine = { 0 }, *all;
	int length, i;

	if (argc > 1) {
		usage(strcmp(argv[1], "--help") ? stderr : stdout);
		return strcmp(argv[1], "--help") ? 2 : EXIT_SUCCESS;
	}
	job_start();
	mine.rank = job_rank;
	MPI_Get_processor_name(mine.host, &length);
	all = job_alloc(job_ranks * sizeof(*all));
	MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, MPI_COMM_WORLD);
	for (i = 0; i < job_ranks; i++) {
		if (all[i].rank != i)
			job_wrong("rank %d calls itself %d", i, all[i].rank);
		if (!job_rank)
			printf("rank %d of %d on %s\n", i, job_ranks, all[i].host);
	}
	free(all);
	return job_end("hello");
}
