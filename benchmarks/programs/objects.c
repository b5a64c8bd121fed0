// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * objects: how long it takes to make, connect and destroy what a connection needs, and how many commands a second that is.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

#define PORT 1

struct end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

struct all {
	struct series open, pd, cq, qp, init, rtr, rts, connect, destroy_qp, destroy_cq, close;
};

/* The step, and its time in two series. */
#define TIMED(series, step) do { \
	double start_ = now_us(); \
	step; \
	series_add(&(series), now_us() - start_); \
} while (0)

static void modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	if (ibv_modify_qp(qp, attr, mask))
		die("modifying a QP: %m");
}

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = PORT };

	modify(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static void to_rtr(struct ibv_qp *qp, const struct ibv_port_attr *port)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = port->active_mtu, .dest_qp_num = qp->qp_num, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 12, .ah_attr = { .dlid = port->lid, .port_num = PORT },
	};

	modify(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static void to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1,
	};

	modify(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	       IBV_QP_MAX_QP_RD_ATOMIC);
}

static void make(struct ibv_context *ctx, struct ibv_pd *pd, const struct ibv_port_attr *port, struct end *e,
		 struct all *all)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 128, .max_recv_wr = 128, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	double start = now_us();

	TIMED(all->cq, e->cq = ibv_create_cq(ctx, 256, NULL, NULL, 0));
	if (!e->cq)
		die("no CQ: %m");
	attr.send_cq = attr.recv_cq = e->cq;
	TIMED(all->qp, e->qp = ibv_create_qp(pd, &attr));
	if (!e->qp)
		die("no QP: %m");
	TIMED(all->init, to_init(e->qp));
	TIMED(all->rtr, to_rtr(e->qp, port));
	TIMED(all->rts, to_rts(e->qp));
	series_add(&all->connect, now_us() - start);
}

static void one_round(const char *device, unsigned long n, struct end *ends, struct all *all)
{
	struct ibv_port_attr port;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	unsigned long i;

	TIMED(all->open, ctx = open_device(device));
	if (ibv_query_port(ctx, PORT, &port))
		die("querying the port: %m");
	TIMED(all->pd, pd = ibv_alloc_pd(ctx));
	if (!pd)
		die("no PD: %m");
	for (i = 0; i < n; i++)
		make(ctx, pd, &port, &ends[i], all);
	for (i = 0; i < n; i++) {
		TIMED(all->destroy_qp, ibv_destroy_qp(ends[i].qp));
		TIMED(all->destroy_cq, ibv_destroy_cq(ends[i].cq));
	}
	ibv_dealloc_pd(pd);
	TIMED(all->close, ibv_close_device(ctx));
}

static void usage(FILE *to)
{
	fputs("usage: objects [--device NAME] [--count N] [--rounds N]\n"
	      "\n"
	      "Opens the device, makes N (20) RC QPs, each with a CQ of its own and connected to itself,\n"
	      "destroys them, closes the device; and that again (3). Prints lines\n"
	      "\"STEP COUNT MEDIAN P99 MOST\", in microseconds; connect is all from the CQ to RTS.\n", to);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' }, { "count", required_argument, NULL, 'c' },
		{ "rounds", required_argument, NULL, 'r' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};
	static const char *const names[] = {
		"open", "pd", "cq", "qp", "init", "rtr", "rts", "connect", "destroy-qp", "destroy-cq", "close",
	};
	unsigned long count = 20, rounds = 3, i;
	const char *device = NULL;
	struct series *series;
	struct end *ends;
	struct all all;
	int o;

	while ((o = getopt_long(argc, argv, "d:h", options, NULL)) != -1) {
		switch (o) {
		case 'd':
			device = optarg;
			break;
		case 'c':
			count = number("count", optarg, 1, 10000);
			break;
		case 'r':
			rounds = number("rounds", optarg, 1, 10000);
			break;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		default:
			usage(stderr);
			return 2;
		}
	}
	ends = calloc(count, sizeof(*ends));
	if (!ends)
		die("no memory");
	series = (struct series *)&all;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		series_init(&series[i], names[i]);
	for (i = 0; i < rounds; i++)
		one_round(device, count, ends, &all);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		series_print(&series[i], count);
		series_free(&series[i]);
	}
	free(ends);
	return EXIT_SUCCESS;
}
