// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * posting: how many instructions a call of the data path takes. Callgrind counts them, those of the call and no others,
 * and writes a dump for each kind of call. It is the same number on any machine, however busy it is.
 *
 * The QP is connected to itself. All that is posted is really sent, and completed before the next call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <valgrind/callgrind.h>

#include "loopback.h"
#include "measure.h"

#define DEPTH 256
#define MESSAGE 64
#define MOST_SGES 4
#define LIST 8

/* Of both queues; a completion is waited for by its event, since who polls for it takes it. */
struct side {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
};

struct fixture {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct side send, recv;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	char memory[2 * MESSAGE];
	/* of the next call */
	struct ibv_sge sge[MOST_SGES];
	struct ibv_send_wr send_wr[LIST], *bad_send;
	struct ibv_recv_wr recv_wr[LIST], *bad_recv;
	struct ibv_wc wc;
	int result;
};

static void side_make(struct fixture *r, struct side *s)
{
	s->channel = ibv_create_comp_channel(r->ctx);
	s->cq = s->channel ? ibv_create_cq(r->ctx, DEPTH, NULL, s->channel, 0) : NULL;
	if (!s->cq)
		die("no CQ: %m");
}

static void side_arm(struct side *s)
{
	if (ibv_req_notify_cq(s->cq, 0))
		die("arming a CQ: %m");
}

/* After side_arm(), and a WR whose completion is the only one to come. */
static void side_await(struct side *s)
{
	struct ibv_cq *cq;
	void *unused;

	if (ibv_get_cq_event(s->channel, &cq, &unused))
		die("waiting for a completion: %m");
	ibv_ack_cq_events(cq, 1);
}

static void check(int got, const struct ibv_wc *wc)
{
	if (got != 1)
		die("no completion, though its event came");
	if (wc->status != IBV_WC_SUCCESS)
		die("a completion says: %s", ibv_wc_status_str(wc->status));
}

static void side_take(struct side *s)
{
	struct ibv_wc wc;
	int got;

	do
		got = ibv_poll_cq(s->cq, 1, &wc);
	while (!got);
	check(got, &wc);
}

static void fixture_make(struct fixture *r, const char *device)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND,
		.cap = {
			.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = MOST_SGES,
			.max_recv_sge = MOST_SGES, .max_inline_data = MESSAGE,
		},
	};

	r->ctx = open_device(device);
	r->pd = ibv_alloc_pd(r->ctx);
	if (!r->pd)
		die("no PD: %m");
	r->mr = ibv_reg_mr(r->pd, r->memory, sizeof(r->memory),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!r->mr)
		die("no MR: %m");
	side_make(r, &r->send);
	side_make(r, &r->recv);
	attr.pd = r->pd;
	attr.send_cq = r->send.cq;
	attr.recv_cq = r->recv.cq;
	r->qp = ibv_create_qp_ex(r->ctx, &attr);
	if (!r->qp)
		die("no QP: %m");
	r->qpx = ibv_qp_to_qp_ex(r->qp);
	loopback_connect(r->qp);
}

static void fixture_free(struct fixture *r)
{
	ibv_destroy_qp(r->qp);
	ibv_destroy_cq(r->send.cq);
	ibv_destroy_cq(r->recv.cq);
	ibv_destroy_comp_channel(r->send.channel);
	ibv_destroy_comp_channel(r->recv.channel);
	ibv_dereg_mr(r->mr);
	ibv_dealloc_pd(r->pd);
	ibv_close_device(r->ctx);
}

/* -- what is posted -- */

/* count WRs of sges segments each, of which the last is signalled. */
static void fill_send(struct fixture *r, enum ibv_wr_opcode opcode, unsigned int flags,
		      unsigned int sges, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < sges; i++)
		r->sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)r->memory + i * (MESSAGE / sges),
			.length = MESSAGE / sges,
			.lkey = r->mr->lkey,
		};
	for (i = 0; i < count; i++)
		r->send_wr[i] = (struct ibv_send_wr){
			.opcode = opcode,
			.sg_list = r->sge,
			.num_sge = sges,
			.next = i + 1 < count ? &r->send_wr[i + 1] : NULL,
			.send_flags = flags | (i + 1 < count ? 0 : IBV_SEND_SIGNALED),
			.wr.rdma = { .remote_addr = (uintptr_t)r->memory + MESSAGE,
				     .rkey = r->mr->rkey },
		};
}

static void fill_inline(struct fixture *r)
{
	fill_send(r, IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, 1, 1);
}

static void fill_sge(struct fixture *r)
{
	fill_send(r, IBV_WR_RDMA_WRITE, 0, 1, 1);
}

static void fill_sges(struct fixture *r)
{
	fill_send(r, IBV_WR_RDMA_WRITE, 0, MOST_SGES, 1);
}

static void fill_list(struct fixture *r)
{
	fill_send(r, IBV_WR_RDMA_WRITE, 0, 1, LIST);
}

static void fill_recvs(struct fixture *r, unsigned int count)
{
	unsigned int i;

	r->sge[0] = (struct ibv_sge){ .addr = (uintptr_t)r->memory,
				      .length = MESSAGE,
				      .lkey = r->mr->lkey };
	for (i = 0; i < count; i++)
		r->recv_wr[i] = (struct ibv_recv_wr){
			.sg_list = r->sge,
			.num_sge = 1,
			.next = i + 1 < count ? &r->recv_wr[i + 1] : NULL,
		};
}

static void fill_recv(struct fixture *r)
{
	fill_recvs(r, 1);
}

static void fill_recv_list(struct fixture *r)
{
	fill_recvs(r, LIST);
}

/* -- the calls -- */

static void call_nothing(struct fixture *r)
{
	r->result = 0;
}

static void call_post_send(struct fixture *r)
{
	r->result = ibv_post_send(r->qp, r->send_wr, &r->bad_send);
}

static void wr_begin(struct fixture *r)
{
	ibv_wr_start(r->qpx);
	r->qpx->wr_id = 0;
	r->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(r->qpx, r->mr->rkey, (uintptr_t)r->memory + MESSAGE);
}

static void call_wr_inline(struct fixture *r)
{
	wr_begin(r);
	ibv_wr_set_inline_data(r->qpx, r->memory, MESSAGE);
	r->result = ibv_wr_complete(r->qpx);
}

static void call_wr_sge(struct fixture *r)
{
	wr_begin(r);
	ibv_wr_set_sge(r->qpx, r->mr->lkey, (uintptr_t)r->memory, MESSAGE);
	r->result = ibv_wr_complete(r->qpx);
}

static void call_post_recv(struct fixture *r)
{
	r->result = ibv_post_recv(r->qp, r->recv_wr, &r->bad_recv);
}

static void call_poll_send(struct fixture *r)
{
	r->result = ibv_poll_cq(r->send.cq, 1, &r->wc);
}

static void call_poll_recv(struct fixture *r)
{
	r->result = ibv_poll_cq(r->recv.cq, 1, &r->wc);
}

static void call_arm(struct fixture *r)
{
	r->result = ibv_req_notify_cq(r->send.cq, 0);
}

/* -- before and after them -- */

static void ready(struct fixture *r)
{
	r->result = 0;
}

static void post_send(struct fixture *r)
{
	call_post_send(r);
	if (r->result)
		die("posting: %s", strerror(r->result));
}

static void none(struct fixture *r)
{
	if (r->result)
		die("a call that should have returned 0 returned %d", r->result);
}

static void take_sent(struct fixture *r)
{
	none(r);
	side_take(&r->send);
}

/* Uses up receives, as otherwise the queue becomes full. */
static void use_recvs(struct fixture *r, unsigned int count)
{
	none(r);
	for (; count; count--) {
		fill_send(r, IBV_WR_SEND, 0, 1, 1);
		post_send(r);
		side_take(&r->send);
		side_take(&r->recv);
	}
}

static void use_recv(struct fixture *r)
{
	use_recvs(r, 1);
}

static void use_recv_list(struct fixture *r)
{
	use_recvs(r, LIST);
}

static void complete_send(struct fixture *r)
{
	side_arm(&r->send);
	fill_sge(r);
	post_send(r);
	side_await(&r->send);
}

static void complete_recv(struct fixture *r)
{
	side_arm(&r->recv);
	fill_recv(r);
	call_post_recv(r);
	none(r);
	fill_send(r, IBV_WR_SEND, 0, 1, 1);
	post_send(r);
	side_take(&r->send);
	side_await(&r->recv);
}

static void taken(struct fixture *r)
{
	check(r->result, &r->wc);
}

/* An armed CQ stays armed. */
static void fire(struct fixture *r)
{
	none(r);
	fill_sge(r);
	post_send(r);
	side_await(&r->send);
	side_take(&r->send);
}

struct kind {
	const char *name;
	unsigned int wrs;
	void (*before)(struct fixture *r), (*call)(struct fixture *r), (*after)(struct fixture *r);
};

static const struct kind kinds[] = {
	{ "nothing", 0, ready, call_nothing, none },
	{ "post-send-inline", 1, fill_inline, call_post_send, take_sent },
	{ "post-send-1-sge", 1, fill_sge, call_post_send, take_sent },
	{ "post-send-4-sge", 1, fill_sges, call_post_send, take_sent },
	{ "post-send-list", LIST, fill_list, call_post_send, take_sent },
	{ "wr-inline", 1, ready, call_wr_inline, take_sent },
	{ "wr-1-sge", 1, ready, call_wr_sge, take_sent },
	{ "post-recv", 1, fill_recv, call_post_recv, use_recv },
	{ "post-recv-list", LIST, fill_recv_list, call_post_recv, use_recv_list },
	{ "poll-empty", 0, ready, call_poll_send, none },
	{ "poll-send", 1, complete_send, call_poll_send, taken },
	{ "poll-recv", 1, complete_recv, call_poll_recv, taken },
	{ "req-notify", 0, ready, call_arm, fire },
};

static void measure(struct fixture *r, const struct kind *kind, unsigned long calls)
{
	char name[64];
	unsigned long i;

	for (i = 0; i < calls; i++) {
		kind->before(r);
		CALLGRIND_TOGGLE_COLLECT;
		kind->call(r);
		CALLGRIND_TOGGLE_COLLECT;
		kind->after(r);
	}
	snprintf(name, sizeof(name), "%s %u %lu", kind->name, kind->wrs, calls);
	CALLGRIND_DUMP_STATS_AT(name);
}

static const char usage[] =
	"usage: valgrind --tool=callgrind --instr-atstart=no --collect-atstart=no posting [--device NAME] [--calls N]\n"
	"\n"
	"Makes each kind of call of the data path N times (20). Callgrind writes a dump for each, with\n"
	"\"Trigger: Client Request: NAME WRS CALLS\" in its description; its total is the number of\n"
	"instructions of all these calls, and the dump \"nothing\" what has to be subtracted from it.\n"
	"benchmarks/instructions does that.\n";

int main(int argc, char **argv)
{
	unsigned long calls = 20, i;
	const struct number_option numbers[] = { { "calls", &calls, 1, 100000 }, { 0 } };
	struct fixture fix = { 0 };

	fixture_make(&fix, read_options(argc, argv, usage, numbers));
	if (!RUNNING_ON_VALGRIND)
		die("it has to be run by valgrind; see --help");
	CALLGRIND_START_INSTRUMENTATION;
	measure(&fix, &kinds[0], calls); /* of the very first call some are not counted yet */
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		measure(&fix, &kinds[i], calls);
	CALLGRIND_STOP_INSTRUMENTATION;
	fixture_free(&fix);
	return EXIT_SUCCESS;
}
