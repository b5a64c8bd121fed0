// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * commands: how many privileged verbs a second threads of one process get done, and how long each takes. In a guest each
 * of them is a command through the ring, and all threads' are in the ring at once.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "measure.h"

#define PAGE 4096
#define COMMANDS_A_TURN 2

enum kind { PD, MR, QUERY, KINDS };

/* Of each, series of latencies. */
static const char *const names[] = { [PD] = "pd", [MR] = "mr", [QUERY] = "query-qp" };

/* What all commands of all threads are counted as (mark.h): one sample. */
static const char *const all_names[] = {
	[PD] = "all-pd", [MR] = "all-mr", [QUERY] = "all-query-qp"
};

/* As what one of them is, where others overlap it. Nobody asks for that. */
#define ONE_OF_MANY "one-of-many"

struct worker {
	pthread_t thread;
	pthread_barrier_t *start;
	enum kind kind;
	unsigned long count;
	double began, ended;
	struct ibv_pd *pd;
	struct ibv_qp *qp;
	void *page;
	struct series series;
};

/*
 * Two commands: making and removing. In a guest, who removes a PD does not wait for it; so these are counted apart
 * (mark.h), under a name that nobody asks for.
 */
static void pd_once(struct worker *w)
{
	const char *name = w->series.name;
	struct ibv_pd *pd;
	int err;

	TIMED(w->series, pd = ibv_alloc_pd(w->pd->context));
	if (!pd)
		die("no PD: %m");
	w->series.name = "pd-free";
	TIMED(w->series, err = ibv_dealloc_pd(pd));
	w->series.name = name;
	if (err)
		die("removing a PD: %m");
}

static void mr_once(struct worker *w)
{
	struct ibv_mr *mr;
	int err;

	TIMED(w->series, mr = ibv_reg_mr(w->pd, w->page, PAGE, IBV_ACCESS_LOCAL_WRITE));
	if (!mr)
		die("no MR: %m");
	TIMED(w->series, err = ibv_dereg_mr(mr));
	if (err)
		die("removing an MR: %m");
}

static void query_once(struct worker *w)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int i, err;

	for (i = 0; i < COMMANDS_A_TURN; i++) {
		TIMED(w->series, err = ibv_query_qp(w->qp, &attr, IBV_QP_STATE, &init));
		if (err)
			die("querying a QP: %m");
	}
}

static void *work(void *arg)
{
	static void (*const once[])(struct worker *w) = {
		[PD] = pd_once, [MR] = mr_once, [QUERY] = query_once
	};
	struct worker *w = arg;
	unsigned long i;

	once[w->kind](w);
	w->series.count = 0; /* that was the first time */
	pthread_barrier_wait(w->start);
	w->began = now_us();
	for (i = 0; i < w->count; i += COMMANDS_A_TURN)
		once[w->kind](w);
	w->ended = now_us();
	return NULL;
}

static void measure(struct worker *workers, unsigned long threads, enum kind kind,
		    unsigned long count)
{
	pthread_barrier_t start;
	double began, ended;
	struct series all;
	unsigned long i;

	pthread_barrier_init(&start, NULL, threads + 1);
	series_init(&all, names[kind]);
	for (i = 0; i < threads; i++) {
		workers[i].kind = kind;
		workers[i].start = &start;
		workers[i].count = count / threads;
		workers[i].series.name = threads > 1 ? ONE_OF_MANY : names[kind];
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("no thread");
	}
	/* Of one thread nobody asks for all: it would be found among the samples of the next who does. */
	if (threads > 1)
		MARK(MARK_BEGIN, all_names[kind], 0);
	pthread_barrier_wait(&start);
	for (i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	if (threads > 1)
		MARK(MARK_END, all_names[kind], 0);
	pthread_barrier_destroy(&start);

	began = workers[0].began;
	ended = workers[0].ended;
	for (i = 0; i < threads; i++) {
		began = workers[i].began < began ? workers[i].began : began;
		ended = workers[i].ended > ended ? workers[i].ended : ended;
		series_move(&all, &workers[i].series);
	}
	printf("rate-%s %lu %.1f\n", names[kind], threads, all.count * 1e6 / (ended - began));
	if (threads > 1)
		MARK(MARK_REPORT, all_names[kind], threads);
	series_print(&all, threads);
	series_free(&all);
}

static void worker_make(struct worker *w, struct ibv_pd *pd, struct ibv_qp *qp)
{
	w->pd = pd;
	w->qp = qp;
	w->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (w->page == MAP_FAILED)
		die("no memory");
	series_init(&w->series, "");
}

static const char usage[] =
	"usage: commands [--device NAME] [--threads N] [--count N]\n"
	"\n"
	"Has N threads (1) give COUNT (1000) commands together: alloc_pd and dealloc_pd, reg_mr and\n"
	"dereg_mr of a page, query_qp. Prints lines \"rate-WHAT THREADS COMMANDS-A-SECOND\" and\n"
	"\"WHAT THREADS MEDIAN P99 MOST\" (of one command, in microseconds).\n";

int main(int argc, char **argv)
{
	unsigned long threads = 1, count = 1000, i;
	const struct number_option numbers[] = { { "threads", &threads, 1, 64 },
						 { "count", &count, 128, 1000000 },
						 { 0 } };
	struct ibv_context *ctx = open_device(read_options(argc, argv, usage, numbers));
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_qp *qp = pd && cq ? ibv_create_qp(pd, &attr) : NULL;
	struct worker *workers = calloc(threads, sizeof(*workers));
	enum kind kind;

	if (!qp || !workers)
		die("no PD, CQ, QP or memory: %m");
	for (i = 0; i < threads; i++)
		worker_make(&workers[i], pd, qp);
	for (kind = 0; kind < KINDS; kind++)
		measure(workers, threads, kind, count);
	for (i = 0; i < threads; i++) {
		series_free(&workers[i].series);
		munmap(workers[i].page, PAGE);
	}
	free(workers);
	ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	return EXIT_SUCCESS;
}
