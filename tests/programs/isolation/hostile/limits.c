// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What is imposed on the QPs of vHCA 1 (tests/suites/guests/test_hostile.py configures it), and a frontend that asks for
 * something else, in each state of a QP.
 */
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

/* As it is configured there. */
enum { SL = 3, TIMEOUT = 18, RNR_TIMER = 20, READS = 2, WRS = 256 };

enum { INIT = 1, RTR = 2, RTS = 3 };

static void begin(struct hostile *h)
{
	memset(h, 0, sizeof(*h));
	vf_open(&h->v, 1);
	vf_connect(&h->v, HOSTILE_ORDER);
	vf_process_make(&h->v, &h->p);
}

static void end(struct hostile *h)
{
	vf_process_free(&h->v, &h->p);
	vf_disconnect(&h->v);
	vf_close(&h->v);
}

static struct xen_vhca_req modify(const struct hostile *h, uint32_t mask,
				  struct xen_vhca_qp_attr attr)
{
	attr.port = 1;
	attr.alt_port = 1;
	attr.av.port = 1;
	attr.av.dlid = 1;
	attr.alt_av = attr.av;
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_QP_MODIFY,
		.u.qp_modify = { .qp = h->p.qp, .mask = mask, .attr = attr },
	};
}

/* All of it the opposite of what is imposed. */
static struct xen_vhca_qp_attr greedy(unsigned int state)
{
	return (struct xen_vhca_qp_attr){
		.state = state,
		.path_mtu = 3,
		.dest_qpn = 2,
		.timeout = 1,
		.alt_timeout = 1,
		.min_rnr_timer = 1,
		.max_rd_atomic = 16,
		.max_dest_rd_atomic = READS,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.av.sl = SL + 1,
	};
}

#define TO_RTR \
	(VHCA_QP_STATE | VHCA_QP_AV | VHCA_QP_PATH_MTU | VHCA_QP_DEST_QPN | VHCA_QP_RQ_PSN | \
	 VHCA_QP_MAX_DEST_RD_ATOMIC | VHCA_QP_MIN_RNR_TIMER)
#define TO_RTS \
	(VHCA_QP_STATE | VHCA_QP_TIMEOUT | VHCA_QP_RETRY_CNT | VHCA_QP_RNR_RETRY | \
	 VHCA_QP_SQ_PSN | VHCA_QP_MAX_RD_ATOMIC)

static void check_qp(struct hostile *h, unsigned int state)
{
	const struct xen_vhca_req query = vf_object(XEN_VHCA_OP_QP_QUERY, h->p.qp);
	const struct xen_vhca_qp_attr a = vf_do(&h->v, &query)->u.qp.attr;

	if (a.state != RTR && a.state != RTS)
		return;
	check(a.av.sl == SL, "SL %d is imposed (it is %u)", SL, a.av.sl);
	check(!a.min_rnr_timer || a.min_rnr_timer >= RNR_TIMER,
	      "RNR timer %u is no shorter than %d", a.min_rnr_timer, RNR_TIMER);
	check(a.max_dest_rd_atomic <= READS, "%u reads as responder are no more than %d",
	      a.max_dest_rd_atomic, READS);
	if (state != RTS)
		return;
	check(!a.timeout || a.timeout >= TIMEOUT, "timeout %u is no shorter than %d", a.timeout,
	      TIMEOUT);
	check(a.max_rd_atomic <= READS, "%u reads as requester are no more than %d",
	      a.max_rd_atomic, READS);
}

static void connect_qp(struct hostile *h)
{
	struct xen_vhca_req req;

	req = modify(h, VHCA_QP_STATE | VHCA_QP_PKEY_INDEX | VHCA_QP_PORT | VHCA_QP_ACCESS_FLAGS,
		     greedy(INIT));
	vf_make(&h->v, &req, NULL, 0);
	req = modify(h, TO_RTR, greedy(RTR));
	req.u.qp_modify.attr.max_dest_rd_atomic = READS + 1;
	REFUSED(&h->v, &req, E_ARG, "more reads as responder");
	req = modify(h, TO_RTR, greedy(RTR));
	vf_make(&h->v, &req, NULL, 0);
	check_qp(h, RTR);
	req = modify(h, TO_RTS, greedy(RTS));
	vf_make(&h->v, &req, NULL, 0);
	check_qp(h, RTS);
}

/* Whatever it asks for next, done or refused. The HCA refuses few of them: more would have it wait. */
static void test_modify(const void *arg)
{
	struct xen_vhca_req req;
	struct hostile h;
	unsigned int i;

	(void)arg;
	begin(&h);
	connect_qp(&h);
	for (i = 0; i <= 20; i++) {
		req = modify(&h, VHCA_QP_STATE | 1u << i, greedy(RTS));
		vf_do(&h.v, &req);
		check_qp(&h, RTS);
	}
	for (i = 0; i < 30; i++) {
		req = modify(&h, (unsigned int)rand() & VHCA_QP_MASK, greedy(RTS));
		vf_do(&h.v, &req);
		check_qp(&h, RTS);
	}
	end(&h);
}

static void test_create(const void *arg)
{
	struct xen_vhca_req req;
	struct hostile h;

	(void)arg;
	begin(&h);
	check(h.v.attr.max_qp_wr == WRS && h.v.attr.max_qp_rd_atom == READS,
	      "the device has %d WRs, %d reads (%u, %u)", WRS, READS, h.v.attr.max_qp_wr,
	      h.v.attr.max_qp_rd_atom);
	req = vf_create_qp(&h.p);
	req.u.qp_create.type = XEN_VHCA_QPT_UD;
	REFUSED(&h.v, &req, E_UNSUPPORTED, "a UD QP");
	req = vf_create_qp(&h.p);
	req.u.qp_create.sq_wqe_count = 2 * WRS;
	REFUSED(&h.v, &req, E_ARG, "a longer send queue, of WRs as many as before");
	req = vf_create_qp(&h.p);
	req.u.qp_create.max_send_wr = WRS + 1;
	REFUSED(&h.v, &req, E_ARG, "more WRs");
	end(&h);
}

static const struct check_case cases[] = {
	CHECK_CASE("limits-modify", test_modify,
		   "a QP gets what is imposed, whatever is asked for"),
	CHECK_CASE("limits-create", test_create, "UD QPs, and queues that are too long"),
};

const struct check_table hostile_limits = { cases, ARRAY_SIZE(cases) };
