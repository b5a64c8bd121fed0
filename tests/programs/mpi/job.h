/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * job.h - what the MPI programs share: start and end, options, what is wrong, and data that can be checked.
 */
#ifndef JOB_H
#define JOB_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* This process among those of the job, and how many these are. Set by job_start(). */
extern int job_rank, job_ranks;

/* Starts MPI. Options are parsed before, so that --help and mistakes need no mpirun. */
void job_start(void);

/*
 * Ends MPI. Rank 0 prints the last line: "NAME: passed", or how many things were wrong in all ranks. Returns the
 * exit status, the same in all ranks.
 */
int job_end(const char *name);

/* Counts something as wrong, and says what; after some lines it only counts. */
void job_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Ends the whole job, status 1, with a line on standard error. */
void job_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Memory that is not zero-sized and never NULL; free() it. */
void *job_alloc(size_t bytes);

/* The value of an option, a whole number from least to most; ends the program, status 2, if it is not one. */
unsigned long job_number(const char *option, const char *text, unsigned long least,
			 unsigned long most);

/* Bytes that depend on their place and on the seed, every one of them. */
void data_fill(void *at, size_t length, uint64_t seed);

/* Counts as wrong what data_fill() would have made otherwise. what: of the message that says so. */
void data_check(const void *at, size_t length, uint64_t seed, const char *what);

#endif
