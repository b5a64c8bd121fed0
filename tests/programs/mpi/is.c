// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * is - a sort of integers in the manner of the kernel IS of the NAS parallel benchmarks (NASA report RNR-94-007): keys
 * with a distribution near normal lie in all ranks, and the place of each in the sorted sequence is found ten times,
 * with two keys changed each time.
 *
 * Keys are counted by buckets; each rank becomes owner of a range of buckets that holds about its share of the keys;
 * the keys travel to their owners by MPI_Alltoallv(), and are counted there one by one. What comes out is compared with
 * what a count of all keys says, which each rank makes for itself.
 */
#include <getopt.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "random.h"

#define ITERATIONS 10
#define BUCKETS 1024
#define PROBES 5 /* keys whose place is checked in each iteration */

static const struct class
{
	char name;
	int keys_log, range_log; /* 2^keys_log keys below 2^range_log */
} classes[] = { { 'S', 16, 11 }, { 'W', 20, 16 }, { 'A', 23, 19 } };

struct sort {
	long keys;         /* of all ranks */
	int range, shift;  /* bucket = key >> shift */
	long first, mine;  /* those of this rank */
	int *key, *packed; /* mine of them, as they were, and by buckets */
	int *got;          /* the keys this rank owns */
	long gots, got_room;
	int low, high;                       /* it owns the keys from low, below high */
	long below;                          /* so many keys of all ranks are below low */
	int *count;                          /* of each key from low */
	int *bucket_of_mine, *bucket_of_all; /* how many keys are in each */
	int *sent, *sent_at, *gotten, *gotten_at,
		*first_bucket; /* by ranks; the last with one more */
};

static int random_key(uint64_t *x, int range)
{
	double sum = random_next(x) + random_next(x) + random_next(x) + random_next(x);

	return sum / 4 * range;
}

static void make_keys(int *key, long first, long count, int range)
{
	uint64_t x = random_after(4 * first);
	long i;

	for (i = 0; i < count; i++)
		key[i] = random_key(&x, range);
}

/* The change of an iteration, to those of the keys from first that are here. */
static void change_keys(int *key, long first, long count, int range, int iteration)
{
	long low = iteration, high = iteration + ITERATIONS;

	if (low >= first && low < first + count)
		key[low - first] = iteration;
	if (high >= first && high < first + count)
		key[high - first] = range - iteration;
}

static void sort_init(struct sort *s, const struct class *c)
{
	int *lists = job_alloc(5 * (job_ranks + 1) * sizeof(*lists));

	memset(s, 0, sizeof(*s));
	s->keys = 1l << c->keys_log;
	s->range = 1 << c->range_log;
	s->shift = c->range_log - 10;
	s->first = s->keys * job_rank / job_ranks;
	s->mine = s->keys * (job_rank + 1) / job_ranks - s->first;
	s->key = job_alloc(s->mine * sizeof(*s->key));
	s->packed = job_alloc(s->mine * sizeof(*s->packed));
	s->count = job_alloc((s->range + 1) * sizeof(*s->count));
	s->bucket_of_mine = job_alloc(2 * BUCKETS * sizeof(int));
	s->bucket_of_all = s->bucket_of_mine + BUCKETS;
	s->sent = lists;
	s->sent_at = lists + (job_ranks + 1);
	s->gotten = lists + 2 * (job_ranks + 1);
	s->gotten_at = lists + 3 * (job_ranks + 1);
	s->first_bucket = lists + 4 * (job_ranks + 1);
	make_keys(s->key, s->first, s->mine, s->range);
}

static void sort_free(struct sort *s)
{
	free(s->key);
	free(s->packed);
	free(s->got);
	free(s->count);
	free(s->bucket_of_mine);
	free(s->sent);
}

/* A rank's last bucket is the one that fills its share. */
static void share_buckets(struct sort *s)
{
	long sum = 0;
	int rank = 0, b;

	s->first_bucket[0] = 0;
	s->below = 0;
	for (b = 0; b < BUCKETS; b++) {
		sum += s->bucket_of_all[b];
		while (rank + 1 < job_ranks && sum >= s->keys * (rank + 1) / job_ranks) {
			s->first_bucket[++rank] = b + 1;
			if (rank == job_rank)
				s->below = sum;
		}
	}
	s->first_bucket[job_ranks] = BUCKETS;
	s->low = s->first_bucket[job_rank] << s->shift;
	s->high = s->first_bucket[job_rank + 1] << s->shift;
}

static void pack_by_buckets(struct sort *s)
{
	int at[BUCKETS], sum = 0, rank = 0, b;
	long i;

	for (b = 0; b < BUCKETS; b++) {
		while (rank < job_ranks && s->first_bucket[rank] == b)
			s->sent_at[rank++] = sum;
		at[b] = sum;
		sum += s->bucket_of_mine[b];
	}
	while (rank <= job_ranks)
		s->sent_at[rank++] = sum;
	for (rank = 0; rank < job_ranks; rank++)
		s->sent[rank] = s->sent_at[rank + 1] - s->sent_at[rank];
	for (i = 0; i < s->mine; i++)
		s->packed[at[s->key[i] >> s->shift]++] = s->key[i];
}

static void exchange(struct sort *s)
{
	int rank;

	MPI_Alltoall(s->sent, 1, MPI_INT, s->gotten, 1, MPI_INT, MPI_COMM_WORLD);
	s->gots = 0;
	for (rank = 0; rank < job_ranks; rank++) {
		s->gotten_at[rank] = s->gots;
		s->gots += s->gotten[rank];
	}
	if (s->gots > s->got_room) {
		free(s->got);
		s->got_room = s->gots + s->gots / 8;
		s->got = job_alloc(s->got_room * sizeof(*s->got));
	}
	MPI_Alltoallv(s->packed, s->sent, s->sent_at, MPI_INT, s->got, s->gotten, s->gotten_at,
		      MPI_INT, MPI_COMM_WORLD);
}

/* Finds the place of each key: what is below the range of its owner, and what is below it there. */
static void rank_keys(struct sort *s)
{
	long i;

	memset(s->bucket_of_mine, 0, BUCKETS * sizeof(int));
	for (i = 0; i < s->mine; i++)
		s->bucket_of_mine[s->key[i] >> s->shift]++;
	MPI_Allreduce(s->bucket_of_mine, s->bucket_of_all, BUCKETS, MPI_INT, MPI_SUM,
		      MPI_COMM_WORLD);
	share_buckets(s);
	pack_by_buckets(s);
	exchange(s);
	memset(s->count, 0, (s->high - s->low) * sizeof(*s->count));
	for (i = 0; i < s->gots; i++) {
		if (s->got[i] < s->low || s->got[i] >= s->high)
			job_die("key %d came to the owner of %d to %d", s->got[i], s->low,
				s->high - 1);
		s->count[s->got[i] - s->low]++;
	}
}

/* ---- what is right ---- */

/* The places of a few keys, by their owners, and by all ranks' counts of what is below them. */
static void check_places(const struct sort *s, int iteration)
{
	long here[2 * PROBES] = { 0 }, all[2 * PROBES];
	int probe[PROBES] = { 0 }, key[PROBES], p, k;
	long i;

	for (p = 0; p < PROBES; p++) {
		i = s->keys * p / PROBES + 37 * iteration - s->first;
		if (i >= 0 && i < s->mine)
			probe[p] = s->key[i];
	}
	MPI_Allreduce(probe, key, PROBES, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	for (p = 0; p < PROBES; p++) {
		for (i = 0; i < s->mine; i++)
			here[p] += s->key[i] < key[p];
		if (key[p] < s->low || key[p] >= s->high)
			continue;
		here[PROBES + p] = s->below;
		for (k = s->low; k < key[p]; k++)
			here[PROBES + p] += s->count[k - s->low];
	}
	MPI_Allreduce(here, all, 2 * PROBES, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	for (p = 0; p < PROBES; p++)
		if (all[p] != all[PROBES + p])
			job_wrong("iteration %d: key %d is at %ld, not %ld", iteration, key[p],
				  all[PROBES + p], all[p]);
}

/* The keys of this rank in order, by their places; they follow those of the rank before. */
static void check_order(const struct sort *s)
{
	int *sorted = job_alloc(s->gots * sizeof(*sorted)),
	    *at = job_alloc((s->high - s->low + 1) * sizeof(*at));
	int last, before = -1, sum = 0, k;
	long i, all;

	for (k = 0; k < s->high - s->low; k++) {
		at[k] = sum;
		sum += s->count[k];
	}
	for (i = 0; i < s->gots; i++)
		sorted[at[s->got[i] - s->low]++] = s->got[i];
	for (i = 1; i < s->gots; i++)
		if (sorted[i - 1] > sorted[i])
			job_wrong("key %d comes before %d", sorted[i - 1], sorted[i]);
	last = s->gots ? sorted[s->gots - 1] : -1;
	MPI_Exscan(&last, &before, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (job_rank && s->gots && before > sorted[0])
		job_wrong("the keys begin with %d, after %d", sorted[0], before);
	MPI_Allreduce(&s->gots, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (all != s->keys)
		job_wrong("there are %ld keys, not %ld", all, s->keys);
	free(sorted);
	free(at);
}

/* All keys, as one who makes them alone has them, and how often each comes. */
struct reference {
	int *key, *count;
};

static void reference_init(struct reference *r, const struct sort *s)
{
	long i;

	r->key = job_alloc(s->keys * sizeof(*r->key));
	r->count = job_alloc(s->range * sizeof(*r->count));
	memset(r->count, 0, s->range * sizeof(*r->count));
	make_keys(r->key, 0, s->keys, s->range);
	for (i = 0; i < s->keys; i++)
		r->count[r->key[i]]++;
}

static void reference_free(struct reference *r)
{
	free(r->key);
	free(r->count);
}

static void reference_change(struct reference *r, const struct sort *s, int iteration)
{
	r->count[r->key[iteration]]--;
	r->count[r->key[iteration + ITERATIONS]]--;
	change_keys(r->key, 0, s->keys, s->range, iteration);
	r->count[r->key[iteration]]++;
	r->count[r->key[iteration + ITERATIONS]]++;
}

static void check_counts(const struct sort *s, const struct reference *r, int iteration)
{
	int k;

	for (k = s->low; k < s->high; k++)
		if (s->count[k - s->low] != r->count[k])
			job_wrong("iteration %d: key %d is there %d times, not %d", iteration, k,
				  s->count[k - s->low], r->count[k]);
}

static void usage(FILE *to)
{
	fputs("usage: mpirun ... is [--class S|W|A]\n"
	      "\n"
	      "Sorts 2^16, 2^20 or 2^23 integers (class S) ten times. Prints \"is CLASS SECONDS\".\n",
	      to);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "class", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const struct class *class = classes;
	double start, seconds = 0;
	struct reference reference;
	struct sort s;
	int o, i;

	while ((o = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		for (class = classes; o == 'c' && class < classes + 3; class ++)
			if (optarg[0] == class->name && !optarg[1])
				break;
		if (o != 'c' || class == classes + 3) {
			usage(o == 'h' ? stdout : stderr);
			return o == 'h' ? EXIT_SUCCESS : 2;
		}
	}
	job_start();
	sort_init(&s, class);
	reference_init(&reference, &s);
	rank_keys(&s); /* makes connections; not measured */
	for (i = 1; i <= ITERATIONS; i++) {
		change_keys(s.key, s.first, s.mine, s.range, i);
		MPI_Barrier(MPI_COMM_WORLD);
		start = MPI_Wtime();
		rank_keys(&s);
		seconds += MPI_Wtime() - start;
		reference_change(&reference, &s, i);
		check_counts(&s, &reference, i);
		check_places(&s, i);
	}
	check_order(&s);
	if (!job_rank)
		printf("is %c %.3f\n", class->name, seconds);
	reference_free(&reference);
	sort_free(&s);
	return job_end("is");
}
