// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * objects: how long it takes to make, connect and destroy what a connection needs, and how many commands a second that is.
 */
#include <stdio.h>
#include <stdlib.h>

#include "loopback.h"
#include "measure.h"

struct end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

enum step { OPEN, PD, CQ, QP, INIT, RTR, RTS, CONNECT, DESTROY_QP, DESTROY_CQ, CLOSE, STEPS };

static const char *const names[] = {
	[OPEN] = "open",
	[PD] = "pd",
	[CQ] = "cq",
	[QP] = "qp",
	[INIT] = "init",
	[RTR] = "rtr",
	[RTS] = "rts",
	[CONNECT] = "connect",
	[DESTROY_QP] = "destroy-qp",
	[DESTROY_CQ] = "destroy-cq",
	[CLOSE] = "close",
};

static void make(struct ibv_context *ctx, struct ibv_pd *pd, const struct ibv_port_attr *port,
		 struct end *e, struct series *series)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 128,
			 .max_recv_wr = 128,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	double start = now_us();

	MARK(MARK_BEGIN, names[CONNECT], 0);
	TIMED(series[CQ], e->cq = ibv_create_cq(ctx, 256, NULL, NULL, 0));
	if (!e->cq)
		die("no CQ: %m");
	attr.send_cq = attr.recv_cq = e->cq;
	TIMED(series[QP], e->qp = ibv_create_qp(pd, &attr));
	if (!e->qp)
		die("no QP: %m");
	TIMED(series[INIT], loopback_init(e->qp));
	TIMED(series[RTR], loopback_rtr(e->qp, port));
	TIMED(series[RTS], loopback_rts(e->qp));
	MARK(MARK_END, names[CONNECT], 0);
	series_add(&series[CONNECT], now_us() - start);
}

static void one_round(const char *device, unsigned long n, struct end *ends, struct series *series)
{
	struct ibv_port_attr port;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	unsigned long i;

	TIMED(series[OPEN], ctx = open_device(device));
	if (ibv_query_port(ctx, LOOPBACK_PORT, &port))
		die("querying the port: %m");
	TIMED(series[PD], pd = ibv_alloc_pd(ctx));
	if (!pd)
		die("no PD: %m");
	for (i = 0; i < n; i++)
		make(ctx, pd, &port, &ends[i], series);
	for (i = 0; i < n; i++) {
		TIMED(series[DESTROY_QP], ibv_destroy_qp(ends[i].qp));
		TIMED(series[DESTROY_CQ], ibv_destroy_cq(ends[i].cq));
	}
	ibv_dealloc_pd(pd);
	TIMED(series[CLOSE], ibv_close_device(ctx));
}

static const char usage[] =
	"usage: objects [--device NAME] [--count N] [--rounds N]\n"
	"\n"
	"Opens the device, makes N (20) RC QPs, each with a CQ of its own and connected to itself,\n"
	"destroys them, closes the device; and that again (3). Prints lines\n"
	"\"STEP COUNT MEDIAN P99 MOST\", in microseconds; connect is all from the CQ to RTS.\n";

int main(int argc, char **argv)
{
	unsigned long count = 20, rounds = 3, i;
	const struct number_option numbers[] = { { "count", &count, 1, 10000 },
						 { "rounds", &rounds, 1, 10000 },
						 { 0 } };
	const char *device = read_options(argc, argv, usage, numbers);
	struct series series[STEPS];
	struct end *ends;
	enum step step;

	ends = calloc(count, sizeof(*ends));
	if (!ends)
		die("no memory");
	for (step = 0; step < STEPS; step++)
		series_init(&series[step], names[step]);
	for (i = 0; i < rounds; i++)
		one_round(device, count, ends, series);
	for (step = 0; step < STEPS; step++) {
		series_print(&series[step], count);
		series_free(&series[step]);
	}
	free(ends);
	return EXIT_SUCCESS;
}
