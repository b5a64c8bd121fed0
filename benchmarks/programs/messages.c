// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * messages: what a message costs by its size, through the HCA and back to the same process: the calls that post it and
 * that poll its completion, and all that is done when the process sleeps until the event of its completion comes.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loopback.h"
#include "measure.h"

#define MOST_SIZE (1ul << 20)
#define PATIENCE_US 500

struct end {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
};

static void end_make(struct end *e, struct ibv_pd *pd, void *memory)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.sq_sig_all = 1,
	};

	e->channel = ibv_create_comp_channel(pd->context);
	e->cq = e->channel ? ibv_create_cq(pd->context, 1, NULL, e->channel, 0) : NULL;
	if (!e->cq)
		die("no CQ: %m");
	attr.send_cq = attr.recv_cq = e->cq;
	e->qp = ibv_create_qp(pd, &attr);
	if (!e->qp)
		die("no QP: %m");
	loopback_connect(e->qp);
	e->mr = ibv_reg_mr(pd, memory, 2 * MOST_SIZE,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!e->mr)
		die("no MR: %m");
}

static void end_free(struct end *e)
{
	ibv_destroy_qp(e->qp);
	ibv_destroy_cq(e->cq);
	ibv_destroy_comp_channel(e->channel);
	ibv_dereg_mr(e->mr);
}

static void post(struct end *e, unsigned long size)
{
	struct ibv_sge sge = { .addr = (uintptr_t)e->mr->addr,
			       .length = size,
			       .lkey = e->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = (uintptr_t)e->mr->addr + MOST_SIZE,
			     .rkey = e->mr->rkey },
	};

	if (ibv_post_send(e->qp, &wr, &bad))
		die("posting: %m");
}

/* Takes a completion, and tells whether one was there. */
static bool take(struct end *e)
{
	struct ibv_wc wc;
	int got = ibv_poll_cq(e->cq, 1, &wc);

	if (got < 0 || (got && wc.status != IBV_WC_SUCCESS))
		die("a completion says: %s", got < 0 ? "nothing" : ibv_wc_status_str(wc.status));
	return got;
}

/* The HCA's time is not that of either call, so nothing is polled meanwhile. */
static void polled(struct end *e, unsigned long size, struct series *posting,
		   struct series *polling)
{
	double start;
	bool taken;

	TIMED(*posting, post(e, size));
	do {
		usleep(PATIENCE_US);
		start = now_us();
		MARK(MARK_BEGIN, polling->name, 0);
		taken = take(e);
		if (taken)
			MARK(MARK_END, polling->name, 0);
	} while (!taken);
	series_add(polling, now_us() - start);
}

/* ---- sleeping until the event comes ---- */

/* Another thread posts, when this one sleeps: how soon the HCA is done has no part in it. */
struct poster {
	pthread_t thread;
	sem_t turn;
	struct end *end;
	const char *name;
	unsigned long size; /* 0: that was all */
};

static void *post_in_turn(void *arg)
{
	struct poster *p = arg;

	for (;;) {
		sem_wait(&p->turn);
		if (!p->size)
			return NULL;
		usleep(PATIENCE_US);
		MARK(MARK_BEGIN, p->name, 0);
		post(p->end, p->size);
	}
}

static void slept_for(struct poster *p, unsigned long size, struct series *blocking)
{
	double start = now_us();
	struct ibv_cq *cq;
	void *unused;

	if (ibv_req_notify_cq(p->end->cq, 0))
		die("arming a CQ: %m");
	p->size = size;
	sem_post(&p->turn);
	if (ibv_get_cq_event(p->end->channel, &cq, &unused))
		die("waiting for a completion: %m");
	ibv_ack_cq_events(cq, 1);
	if (!take(p->end))
		die("an event came without a completion");
	MARK(MARK_END, p->name, 0);
	series_add(blocking, now_us() - start);
}

static void poster_start(struct poster *p, struct end *e, const char *name)
{
	p->end = e;
	p->name = name;
	sem_init(&p->turn, 0, 0);
	if (pthread_create(&p->thread, NULL, post_in_turn, p))
		die("no thread");
}

static void poster_end(struct poster *p)
{
	p->size = 0;
	sem_post(&p->turn);
	pthread_join(p->thread, NULL);
	sem_destroy(&p->turn);
}

static void measure(struct end *e, unsigned long most, unsigned long count)
{
	struct series posting, polling, blocking;
	struct poster poster;
	unsigned long size, i;

	series_init(&posting, "post");
	series_init(&polling, "poll");
	series_init(&blocking, "blocking");
	poster_start(&poster, e, blocking.name);
	for (size = 1; size <= most; size *= 8) {
		for (i = 0; i < count; i++) {
			polled(e, size, &posting, &polling);
			slept_for(&poster, size, &blocking);
		}
		series_print(&posting, size);
		series_print(&polling, size);
		series_print(&blocking, size);
	}
	poster_end(&poster);
	series_free(&posting);
	series_free(&polling);
	series_free(&blocking);
}

static const char usage[] =
	"usage: messages [--device NAME] [--most BYTES] [--count N]\n"
	"\n"
	"Writes 1, 8, 64, ... BYTES (32768) through the HCA to its own memory, N times (100) each. Prints\n"
	"lines \"WHAT SIZE MEDIAN P99 MOST\", in microseconds: post and poll are the two calls for a message\n"
	"that is waited for without polling. blocking is all that comes between: one thread sleeps until\n"
	"the event of what another posts half a millisecond later.\n";

int main(int argc, char **argv)
{
	unsigned long most = 32768, count = 100;
	const struct number_option numbers[] = { { "most", &most, 1, MOST_SIZE },
						 { "count", &count, 1, 1000000 },
						 { 0 } };
	struct ibv_context *ctx = open_device(read_options(argc, argv, usage, numbers));
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	void *memory = mmap(NULL, 2 * MOST_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct end end;

	if (!pd || memory == MAP_FAILED)
		die("no PD or memory: %m");
	end_make(&end, pd, memory);
	measure(&end, most, count);
	end_free(&end);
	munmap(memory, 2 * MOST_SIZE);
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	return EXIT_SUCCESS;
}
