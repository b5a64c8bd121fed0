// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * flow: RDMA writes without a pause, until somebody asks how many there were. Several of them on one HCA show how it is
 * shared: they are asked at about the same moments, each tells by its own clock, and how long they took to start does not
 * matter.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "loopback.h"
#include "measure.h"

static unsigned long written;

/* Ends the program with its standard input. */
static void *answer(void *unused)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		printf("%lu %.0f\n", __atomic_load_n(&written, __ATOMIC_RELAXED), now_us());
		fflush(stdout);
	}
	exit(EXIT_SUCCESS);
	return unused;
}

static void post(struct ibv_qp *qp, struct ibv_mr *mr, unsigned long size)
{
	struct ibv_sge sge = { .addr = (uintptr_t)mr->addr, .length = size, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = (uintptr_t)mr->addr + size, .rkey = mr->rkey },
	};

	if (ibv_post_send(qp, &wr, &bad))
		die("posting: %m");
}

/* Sleeps until a completion has come; those that came before are to be polled after this. */
static void sleep_for(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *unused;

	if (ibv_get_cq_event(channel, &cq, &unused))
		die("waiting for a completion: %m");
	ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(cq, 0))
		die("arming a CQ: %m");
}

static void take(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int got;

	while (!(got = ibv_poll_cq(cq, 1, &wc)))
		if (cq->channel)
			sleep_for(cq->channel);
	if (got < 0 || wc.status != IBV_WC_SUCCESS)
		die("a write failed: %s", got < 0 ? "polling" : ibv_wc_status_str(wc.status));
}

static const char usage[] =
	"usage: flow [--device NAME] [--size BYTES] [--depth N] [--sleep 1]\n"
	"\n"
	"Writes BYTES (65536) again and again through a QP that is connected to itself, N (16) of them\n"
	"at a time. Prints \"ready\", and \"WRITES MICROSECONDS\" for each line that comes on standard input:\n"
	"how many there were so far, and the time since some moment. Ends when the input does.\n"
	"Polls for completions, or sleeps until they come.\n";

int main(int argc, char **argv)
{
	unsigned long size = 65536, depth = 16, sleeps = 0, i;
	const struct number_option numbers[] = {
		{ "size", &size, 1, 1ul << 26 },
		{ "depth", &depth, 1, 4096 },
		{ "sleep", &sleeps, 0, 1 },
		{ 0 },
	};
	struct ibv_context *ctx = open_device(read_options(argc, argv, usage, numbers));
	pthread_t thread;
	struct ibv_comp_channel *channel = NULL;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	void *at;

	at = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (at == MAP_FAILED)
		die("no memory");
	pd = ibv_alloc_pd(ctx);
	mr = pd ? ibv_reg_mr(pd, at, 2 * size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE) :
		  NULL;
	if (!mr)
		die("no PD or MR: %m");
	if (sleeps) {
		channel = ibv_create_comp_channel(ctx);
		if (!channel)
			die("no completion channel: %m");
	}
	qp = loopback_make(pd, depth, channel);
	if (sleeps && ibv_req_notify_cq(qp->send_cq, 0))
		die("arming a CQ: %m");
	for (i = 0; i < depth; i++)
		post(qp, mr, size);
	puts("ready");
	fflush(stdout);
	if (pthread_create(&thread, NULL, answer, NULL))
		die("no thread");
	while (1) {
		take(qp->send_cq);
		__atomic_store_n(&written, written + 1, __ATOMIC_RELAXED);
		post(qp, mr, size);
	}
}
