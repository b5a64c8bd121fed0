// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_xrc.c - XRC: a domain, an SRQ of it, the QPs that send to it, and its targets. What arrives is in test_poll.c.
 */
#include <errno.h>

#include "check.h"
#include "fake.h"

/* An XRC target is nothing here: what is posted to it finds no room. */
static void check_target(struct ibv_qp *qp)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_sge sge = { 0x1000, 64, 1 };
	struct ibv_send_wr send = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr *bad_send;

	REQUIRE(qp);
	CHECK(xenib_post_send(qp, &send, &bad_send) == ENOMEM && bad_send == &send);
	CHECK(xenib_post_recv(qp, &recv, &bad_recv) == ENOMEM && bad_recv == &recv);
	fake_to_rts(qp);
	CHECK(xenib_post_send(qp, &send, &bad_send) == ENOMEM);
	CHECK(!xenib_modify_qp(qp, &reset, IBV_QP_STATE));
	CHECK(!xenib_destroy_qp(qp));
}

/* An XRC domain, an SRQ of it, a QP that sends to one, and its targets. */
static void xrc(void)
{
	struct ibv_xrcd_init_attr domain = { .fd = -1 };
	struct ibv_context *context = fake_open();
	struct ibv_pd *pd = xenib_alloc_pd(context);
	struct ibv_cq *cq = xenib_create_cq(context, 1, NULL, 0);
	struct ibv_xrcd *xrcd = xenib_open_xrcd(context, &domain);
	struct ibv_srq_init_attr_ex srq_attr = {
		.attr = { .max_wr = 5, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.pd = pd,
		.srq_type = IBV_SRQT_XRC,
		.xrcd = xrcd,
		.cq = cq,
	};
	struct ibv_qp_init_attr_ex attr = {
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};
	struct ibv_qp_open_attr open = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = 0x4711,
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	uint32_t number, live;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	int i;

	REQUIRE(xrcd);
	check_target(xenib_create_qp_ex(context, &attr));
	check_target(xenib_open_qp(context, &open));
	attr.comp_mask = 0;
	CHECK(!xenib_create_qp_ex(context, &attr) && errno == EINVAL);

	/* What it is given for receives means nothing. */
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr.qp_type = IBV_QPT_XRC_SEND;
	attr.pd = pd;
	attr.cap = fake_cap;
	CHECK(!xenib_create_qp_ex(context, &attr) && errno == EINVAL);
	attr.send_cq = cq;
	for (i = 0; i < 2; i++) {
		qp = xenib_create_qp_ex(context, &attr);
		REQUIRE(qp);
		CHECK(!fake.last.rq_wqes && fake.last.sq_blocks && !qp->recv_cq);
		CHECK(!attr.cap.max_recv_wr && attr.cap.max_send_wr >= fake_cap.max_send_wr);
		CHECK(!xenib_destroy_qp(qp));
		attr.cap = fake_cap;
		attr.recv_cq = cq;
	}
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_BIND_MW;
	CHECK(!xenib_create_qp_ex(context, &attr) && errno == EOPNOTSUPP);

	live = fake.live;
	fake.fail_in = 1;
	fake.fail_with = ENOMEM;
	CHECK(!xenib_create_srq_ex(context, &srq_attr) && errno == ENOMEM && fake.live == live);
	srq = xenib_create_srq_ex(context, &srq_attr);
	REQUIRE(srq);
	CHECK(srq_attr.attr.max_wr == 7 && fake.last.max_wr == 5);
	CHECK(fake.last.uidx == to_xsrq(srq)->arrivals->uidx && fake.last.uidx != XENIB_NO_UIDX);
	CHECK(!xenib_get_srq_num(srq, &number) && number == FAKE_SRQN);
	CHECK(!xenib_destroy_srq(srq));
	CHECK(!xenib_close_xrcd(xrcd));
	CHECK(!xenib_destroy_cq(cq));
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(context);
}

int main(void)
{
	RUN(xrc);
	return checks_failed ? 1 : 0;
}
