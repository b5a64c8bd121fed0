// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_poll.c - completions: each kind, by both ways of polling, round and round a small CQ;
 * arming; cleaning; CQEs that complete nothing.
 */
#include <errno.h>
#include <string.h>

#include "abi.h"
#include "check.h"
#include "fake.h"

static const struct ibv_qp_cap cap = {
	.max_send_wr = 8,
	.max_recv_wr = 8,
	.max_send_sge = 1,
	.max_recv_sge = 1,
};

struct fixture {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq_ex *ex;
	struct ibv_cq *cq;
	struct ibv_qp *qp[3];
	struct fake_hca_cq hca;
};

static void fixture_up(struct fixture *fix, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 7,
		.wc_flags = XENIB_CQ_WC_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = flags,
	};
	size_t i;

	memset(fix, 0, sizeof(*fix));
	fix->context = fake_open();
	REQUIRE(fix->context);
	fix->pd = xenib_alloc_pd(fix->context);
	REQUIRE(fix->pd);
	fix->ex = xenib_create_cq_ex(fix->context, &attr);
	REQUIRE(fix->ex);
	fix->cq = ibv_cq_ex_to_cq(fix->ex);
	CHECK(fix->cq->cqe == 7);
	CHECK(fake.last.cqe == 7 && fake.last.cqe_size == 64);
	fake_hca_attach(&fix->hca, fix->cq);
	for (i = 0; i < COUNT(fix->qp); i++) {
		fix->qp[i] = fake_qp(fix->pd, fix->cq, NULL, IBV_QPT_RC, &cap);
		REQUIRE(fix->qp[i]);
	}
}

static void fixture_down(struct fixture *fix)
{
	size_t i;

	for (i = 0; i < COUNT(fix->qp); i++)
		CHECK(!fix->qp[i] || !xenib_destroy_qp(fix->qp[i]));
	CHECK(!xenib_destroy_cq(fix->cq));
	CHECK(!xenib_dealloc_pd(fix->pd));
	fake_close(fix->context);
}

static void post(struct ibv_qp *qp, uint64_t send_id, uint64_t recv_id)
{
	struct ibv_sge sge = { 0x1000, 64, 1 };
	struct ibv_send_wr send = { .wr_id = send_id,
				    .sg_list = &sge,
				    .num_sge = 1,
				    .opcode = IBV_WR_SEND },
			   *bad_send;
	struct ibv_recv_wr recv = { .wr_id = recv_id, .sg_list = &sge, .num_sge = 1 }, *bad_recv;

	CHECK(!ibv_post_send(qp, &send, &bad_send));
	CHECK(!ibv_post_recv(qp, &recv, &bad_recv));
}

/* What a completion is expected to be. */
struct want {
	struct fake_cqe cqe;
	bool send;
	enum ibv_wc_status status;
	enum ibv_wc_opcode opcode;
	unsigned int flags;
};

static const struct want wants[] = {
	{ { .opcode = 0, .wqe_opcode = 0x0a }, true, IBV_WC_SUCCESS, IBV_WC_SEND, 0 },
	{ { .opcode = 1 }, false, IBV_WC_SUCCESS, IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM },
	{ { .opcode = 2 }, false, IBV_WC_SUCCESS, IBV_WC_RECV, 0 },
	{ { .opcode = 3 }, false, IBV_WC_SUCCESS, IBV_WC_RECV, IBV_WC_WITH_IMM },
	{ { .opcode = 4 }, false, IBV_WC_SUCCESS, IBV_WC_RECV, IBV_WC_WITH_INV },
	{ { .opcode = 2, .grh = 1 }, false, IBV_WC_SUCCESS, IBV_WC_RECV, IBV_WC_GRH },
	{ { .opcode = 3, .grh = 2 },
	  false,
	  IBV_WC_SUCCESS,
	  IBV_WC_RECV,
	  IBV_WC_GRH | IBV_WC_WITH_IMM },
	{ { .opcode = 13, .syndrome = 0x01 }, true, IBV_WC_LOC_LEN_ERR, 0, 0 },
	{ { .opcode = 13, .syndrome = 0x02 }, true, IBV_WC_LOC_QP_OP_ERR, 0, 0 },
	{ { .opcode = 14, .syndrome = 0x04 }, false, IBV_WC_LOC_PROT_ERR, 0, 0 },
	{ { .opcode = 14, .syndrome = 0x05 }, false, IBV_WC_WR_FLUSH_ERR, 0, 0 },
	{ { .opcode = 13, .syndrome = 0x06 }, true, IBV_WC_MW_BIND_ERR, 0, 0 },
	{ { .opcode = 13, .syndrome = 0x10 }, true, IBV_WC_BAD_RESP_ERR, 0, 0 },
	{ { .opcode = 14, .syndrome = 0x11 }, false, IBV_WC_LOC_ACCESS_ERR, 0, 0 },
	{ { .opcode = 13, .syndrome = 0x12 }, true, IBV_WC_REM_INV_REQ_ERR, 0, 0 },
	{ { .opcode = 13, .syndrome = 0x13 }, true, IBV_WC_REM_ACCESS_ERR, 0, 0 },
	{ { .opcode = 13, .syndrome = 0x14 }, true, IBV_WC_REM_OP_ERR, 0, 0 },
	{ { .opcode = 13, .syndrome = 0x15 }, true, IBV_WC_RETRY_EXC_ERR, 0, 0 },
	{ { .opcode = 13, .syndrome = 0x16 }, true, IBV_WC_RNR_RETRY_EXC_ERR, 0, 0 },
	{ { .opcode = 13, .syndrome = 0x22 }, true, IBV_WC_REM_ABORT_ERR, 0, 0 },
	{ { .opcode = 13, .syndrome = 0x99 }, true, IBV_WC_GENERAL_ERR, 0, 0 },
};

/* Completes the WQE number n of both queues, as w says. */
static void complete(struct fixture *fix, struct ibv_qp *qp, uint32_t n, const struct want *w)
{
	struct fake_cqe cqe = w->cqe;

	cqe.uidx = to_xqp(qp)->q.uidx;
	cqe.qpn = qp->qp_num;
	cqe.wqe = n;
	cqe.bytes = 0x10203;
	cqe.imm = 0xcafe0107;
	cqe.slid = 0x4321;
	cqe.sl = 9;
	cqe.path = 5;
	cqe.src_qp = 0x778899;
	cqe.vendor = 0x68;
	fake_hca_complete(&fix->hca, &cqe);
}

static void check_eager(struct fixture *fix, struct ibv_qp *qp, const struct want *w,
			uint64_t wr_id)
{
	struct ibv_wc wc;

	memset(&wc, 0xee, sizeof(wc));
	CHECK(ibv_poll_cq(fix->cq, 1, &wc) == 1);
	CHECK(wc.wr_id == wr_id && wc.status == w->status && wc.wc_flags == w->flags);
	CHECK(wc.qp_num == qp->qp_num);
	if (w->status != IBV_WC_SUCCESS) {
		CHECK(wc.vendor_err == 0x68);
		return;
	}

	CHECK(wc.opcode == w->opcode && wc.byte_len == 0x10203);
	if (w->send)
		return;
	CHECK(wc.src_qp == 0x778899 && wc.slid == 0x4321 && wc.sl == 9 && wc.dlid_path_bits == 5);
	CHECK(wc.pkey_index == 0x0107);
	if (w->flags & IBV_WC_WITH_IMM)
		CHECK(be32toh(wc.imm_data) == 0xcafe0107);
	if (w->flags & IBV_WC_WITH_INV)
		CHECK(wc.invalidated_rkey == 0xcafe0107);
}

static void check_lazy(struct ibv_cq_ex *ex, struct ibv_qp *qp, const struct want *w,
		       uint64_t wr_id)
{
	CHECK(ex->wr_id == wr_id && ex->status == w->status);
	CHECK(ibv_wc_read_wc_flags(ex) == w->flags && ibv_wc_read_qp_num(ex) == qp->qp_num);
	if (w->status != IBV_WC_SUCCESS) {
		CHECK(ibv_wc_read_vendor_err(ex) == 0x68);
		return;
	}

	CHECK(ibv_wc_read_opcode(ex) == w->opcode && ibv_wc_read_byte_len(ex) == 0x10203);
	CHECK(ibv_wc_read_completion_ts(ex) >> 32 == 0x12345678);
	if (w->send)
		return;
	CHECK(ibv_wc_read_src_qp(ex) == 0x778899 && ibv_wc_read_slid(ex) == 0x4321);
	CHECK(ibv_wc_read_sl(ex) == 9 && ibv_wc_read_dlid_path_bits(ex) == 5);
	if (w->flags & IBV_WC_WITH_IMM)
		CHECK(be32toh(ibv_wc_read_imm_data(ex)) == 0xcafe0107);
	if (w->flags & IBV_WC_WITH_INV)
		CHECK(ibv_wc_read_invalidated_rkey(ex) == 0xcafe0107);
}

/* Both queues have one WR outstanding at a time; the one that does not complete is taken back. */
static void every_kind(bool lazy, uint32_t flags)
{
	static struct ibv_poll_cq_attr attr;
	const struct want *w;
	struct ibv_qp *qp;
	struct fixture fix;
	uint32_t i, n;

	fixture_up(&fix, flags);
	for (i = 0; i < 30 * COUNT(wants); i++) {
		w = &wants[i % COUNT(wants)];
		qp = fix.qp[i / 4 % 3];
		n = to_xqp(qp)->q.sq.next;
		CHECK(n == to_xqp(qp)->q.rq.head);
		post(qp, 1000 + i, 5000 + i);
		complete(&fix, qp, n, w);
		if (lazy) {
			CHECK(!ibv_start_poll(fix.ex, &attr));
			check_lazy(fix.ex, qp, w, (w->send ? 1000 : 5000) + i);
			CHECK(ibv_next_poll(fix.ex) == ENOENT);
			ibv_end_poll(fix.ex);
			CHECK(ibv_start_poll(fix.ex, &attr) == ENOENT);
		} else {
			check_eager(&fix, qp, w, (w->send ? 1000 : 5000) + i);
		}
		CHECK(be32toh(to_xcq(fix.cq)->q.dbrec[0]) == i + 1);
		if (w->send)
			to_xqp(qp)->q.rq.tail++;
		else
			to_xqp(qp)->q.sq.tail++;
		CHECK(to_xqp(qp)->q.sq.tail == to_xqp(qp)->q.sq.head);
		CHECK(to_xqp(qp)->q.rq.tail == to_xqp(qp)->q.rq.head);
	}
	fixture_down(&fix);
}

static void eager(void)
{
	every_kind(false, 0);
}
static void eager_single_threaded(void)
{
	every_kind(false, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
}
static void lazy(void)
{
	every_kind(true, 0);
}
static void lazy_single_threaded(void)
{
	every_kind(true, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
}

/* Several at once, of several QPs, and more than are asked for. */
static void many(void)
{
	static struct ibv_poll_cq_attr attr;
	struct ibv_wc wc[8];
	struct fixture fix;
	int i, round;

	fixture_up(&fix, 0);
	for (round = 0; round < 50; round++) {
		for (i = 0; i < 6; i++) {
			post(fix.qp[i % 3], i, i + 10);
			complete(&fix, fix.qp[i % 3], round * 2 + i / 3, &wants[0]);
		}
		if (round % 2) {
			CHECK(ibv_poll_cq(fix.cq, 4, wc) == 4);
			CHECK(ibv_poll_cq(fix.cq, 8, wc + 4) == 2);
			for (i = 0; i < 6; i++)
				CHECK(wc[i].wr_id == (uint64_t)i &&
				      wc[i].qp_num == fix.qp[i % 3]->qp_num);
			CHECK(ibv_poll_cq(fix.cq, 8, wc) == 0);
		} else {
			CHECK(!ibv_start_poll(fix.ex, &attr));
			for (i = 0; i < 6; i++) {
				CHECK(fix.ex->wr_id == (uint64_t)i);
				CHECK(ibv_wc_read_opcode(fix.ex) == IBV_WC_SEND);
				CHECK(ibv_next_poll(fix.ex) == (i < 5 ? 0 : ENOENT));
			}
			ibv_end_poll(fix.ex);
		}
		for (i = 0; i < 3; i++)
			to_xqp(fix.qp[i])->q.rq.tail += 2;
	}
	fixture_down(&fix);
}

/* CQEs that the HCA does not write are refused one by one; what is around them is not lost. */
static void bad_cqes(void)
{
	static struct ibv_poll_cq_attr attr;
	static const uint8_t unknown[] = { 5, 6, 7, 8, 11, 12 };
	struct fake_cqe cqe = {};
	struct ibv_wc wc[8];
	struct fixture fix;
	size_t i;

	fixture_up(&fix, 0);
	for (i = 0; i < COUNT(unknown); i++) {
		post(fix.qp[0], i, 100 + i);
		complete(&fix, fix.qp[0], i, &wants[0]);
		cqe.uidx = to_xqp(fix.qp[0])->q.uidx;
		cqe.opcode = unknown[i];
		fake_hca_complete(&fix.hca, &cqe);
		cqe.opcode = 2;
		cqe.uidx = 0xffffff - i * 1000; /* nobody's */
		fake_hca_complete(&fix.hca, &cqe);
		complete(&fix, fix.qp[0], i, &wants[2]);

		if (i % 2) {
			CHECK(ibv_poll_cq(fix.cq, 8, wc) == 1 && wc[0].wr_id == i);
			CHECK(ibv_poll_cq(fix.cq, 8, wc) == -EINVAL);
			CHECK(ibv_poll_cq(fix.cq, 8, wc) == -EINVAL);
			CHECK(ibv_poll_cq(fix.cq, 8, wc) == 1 && wc[0].wr_id == 100 + i);
		} else {
			CHECK(!ibv_start_poll(fix.ex, &attr) && fix.ex->wr_id == i);
			CHECK(ibv_next_poll(fix.ex) == EINVAL);
			ibv_end_poll(fix.ex);
			CHECK(ibv_start_poll(fix.ex, &attr) == EINVAL);
			CHECK(be32toh(to_xcq(fix.cq)->q.dbrec[0]) == 4 * i + 3);
			CHECK(!ibv_start_poll(fix.ex, &attr) && fix.ex->wr_id == 100 + i);
			ibv_end_poll(fix.ex);
		}
		CHECK(be32toh(to_xcq(fix.cq)->q.dbrec[0]) == 4 * (i + 1));
	}
	attr.comp_mask = 1;
	CHECK(ibv_start_poll(fix.ex, &attr) == EINVAL);
	fixture_down(&fix);
}

/* One send that is complete; its receive is taken back. */
static void send(struct fixture *fix, uint32_t n)
{
	post(fix->qp[0], n, 0);
	to_xqp(fix->qp[0])->q.rq.tail++;
	complete(fix, fix->qp[0], n, &wants[0]);
}

/* What waits is polled from the other buffer, and what comes then; the record counts the CQE between. */
static void resize_to(int cqe, int count, uint32_t waiting)
{
	uint32_t i, total = 3 + waiting;
	struct ibv_wc wc[8];
	struct fixture fix;

	fixture_up(&fix, 0);
	for (i = 0; i < total; i++) {
		send(&fix, i);
		if (i < 3)
			CHECK(ibv_poll_cq(fix.cq, 1, wc) == 1 && wc[0].wr_id == i);
	}
	fake.resizes = &fix.hca;
	CHECK(!xenib_resize_cq(fix.cq, cqe));
	CHECK(fix.cq->cqe == count - 1 && fake.last.cqe == fix.hca.count - 1);
	CHECK(be32toh(to_xcq(fix.cq)->q.dbrec[0]) == 4);
	for (i = total; i < total + 2; i++) {
		send(&fix, i);
	}
	for (i = 3; i < total + 2; i++)
		CHECK(ibv_poll_cq(fix.cq, 1, wc) == 1 && wc[0].wr_id == i);
	CHECK(!ibv_poll_cq(fix.cq, 1, wc));
	CHECK(be32toh(to_xcq(fix.cq)->q.dbrec[0]) == i + 1);
	for (; i < 100; i++) {
		send(&fix, i);
		CHECK(ibv_poll_cq(fix.cq, 1, wc) == 1 && wc[0].wr_id == i);
	}
	fake.resizes = NULL;
	fixture_down(&fix);
}

static void resized(void)
{
	struct fixture fix;

	resize_to(9, 16, 3);
	resize_to(3, 4, 1);
	resize_to(1, 2, 0);
	resize_to(100, 128, 5);

	fixture_up(&fix, 0);
	CHECK(xenib_resize_cq(fix.cq, 0) == EINVAL && xenib_resize_cq(fix.cq, -1) == EINVAL);
	CHECK(xenib_resize_cq(fix.cq, 1 << 22) == EINVAL);
	CHECK(!xenib_resize_cq(fix.cq, 5) && fix.cq->cqe == 7 && to_xcq(fix.cq)->q.mask == 7);
	fake.fail_in = 1;
	fake.fail_with = EOPNOTSUPP;
	CHECK(xenib_resize_cq(fix.cq, 20) == EOPNOTSUPP && fix.cq->cqe == 7);
	CHECK(to_xcq(fix.cq)->q.mask == 7);
	/* Nothing in the old buffer says that the HCA has left it. */
	CHECK(xenib_resize_cq(fix.cq, 20) == EIO && fix.cq->cqe == 31);
	fixture_down(&fix);
}

/* A CQE of a QP that completes elsewhere is nobody's, too. */
static void foreign_cqe(void)
{
	struct fake_hca_cq other_hca;
	struct fake_cqe cqe = { .opcode = 0 };
	struct ibv_cq *other;
	struct ibv_wc wc;
	struct fixture fix;

	fixture_up(&fix, 0);
	other = xenib_create_cq(fix.context, 3, NULL, 0);
	REQUIRE(other);
	fake_hca_attach(&other_hca, other);
	cqe.uidx = to_xqp(fix.qp[1])->q.uidx;
	fake_hca_complete(&other_hca, &cqe);
	CHECK(ibv_poll_cq(other, 1, &wc) == -EINVAL);
	CHECK(!xenib_destroy_cq(other));
	fixture_down(&fix);
}

static struct ibv_srq *make_xrc_srq(struct fixture *fix)
{
	struct ibv_xrcd_init_attr domain = { .fd = -1 };
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 7, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.pd = fix->pd,
		.srq_type = IBV_SRQT_XRC,
		.xrcd = xenib_open_xrcd(fix->context, &domain),
		.cq = fix->cq,
	};
	struct ibv_srq *srq = xenib_create_srq_ex(fix->context, &attr);

	REQUIRE(attr.xrcd && srq);
	CHECK(!xenib_close_xrcd(attr.xrcd));
	return srq;
}

static void post_to_srq(struct ibv_srq *srq, uint64_t wr_id)
{
	struct ibv_sge sge = { 0x1000, 64, 1 };
	struct ibv_recv_wr recv = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	CHECK(!xenib_post_srq_recv(srq, &recv, &bad));
}

/* Completions of an XRC SRQ, each by another QP, which it names; beside a QP's own. The rest goes with the SRQ. */
static void xrc_arrivals(bool ex)
{
	struct fake_cqe cqe = { .opcode = 2, .bytes = 64 };
	struct ibv_poll_cq_attr attr = {};
	struct ibv_srq *srq;
	struct ibv_wc wc;
	struct fixture fix;
	uint32_t i;

	fixture_up(&fix, 0);
	srq = make_xrc_srq(&fix);
	for (i = 0; i < 20; i++) {
		post_to_srq(srq, 100 + i);
		cqe.uidx = to_xsrq(srq)->arrivals->uidx;
		cqe.wqe = i % 8;
		cqe.qpn = 0x10 + i;
		fake_hca_complete(&fix.hca, &cqe);
		if (ex) {
			CHECK(!ibv_start_poll(fix.ex, &attr) && fix.ex->wr_id == 100 + i);
			CHECK(ibv_wc_read_qp_num(fix.ex) == 0x10 + i);
			ibv_end_poll(fix.ex);
		} else {
			CHECK(ibv_poll_cq(fix.cq, 1, &wc) == 1 && wc.wr_id == 100 + i);
			CHECK(wc.qp_num == 0x10 + i && wc.opcode == IBV_WC_RECV);
		}
		if (i % 3)
			continue;
		post(fix.qp[0], i, 0);
		complete(&fix, fix.qp[0], i / 3, &wants[0]);
		to_xqp(fix.qp[0])->q.rq.tail++;
		CHECK(ibv_poll_cq(fix.cq, 1, &wc) == 1 && wc.qp_num == fix.qp[0]->qp_num);
	}
	/* A WQE that nobody has posted, and a send. */
	cqe.wqe = 5;
	fake_hca_complete(&fix.hca, &cqe);
	CHECK(ibv_poll_cq(fix.cq, 1, &wc) == -EINVAL);
	cqe.opcode = 0;
	fake_hca_complete(&fix.hca, &cqe);
	ibv_poll_cq(fix.cq, 1, &wc);
	cqe.opcode = 2;
	post_to_srq(srq, 1);
	cqe.wqe = i % 8;
	fake_hca_complete(&fix.hca, &cqe);
	CHECK(!xenib_destroy_srq(srq));
	CHECK(!ibv_poll_cq(fix.cq, 1, &wc));
	fixture_down(&fix);
}

static void xrc(void)
{
	xrc_arrivals(false);
	xrc_arrivals(true);
}

/* A QP goes; its completions go with it, the others stay in order. */
static void clean(bool destroy)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct fake_cqe late = { .opcode = 0 };
	struct ibv_wc wc[8];
	struct fixture fix;
	int i, skip;

	for (skip = 0; skip < 8; skip++) {
		fixture_up(&fix, 0);
		/* So that the CQEs lie over the end of the CQ. */
		for (i = 0; i < skip; i++) {
			post(fix.qp[2], 0, 0);
			complete(&fix, fix.qp[2], i, &wants[0]);
			CHECK(ibv_poll_cq(fix.cq, 1, wc) == 1);
			to_xqp(fix.qp[2])->q.rq.tail++;
		}
		for (i = 0; i < 3; i++) {
			post(fix.qp[0], i, 20 + i);
			post(fix.qp[1], 40 + i, 60 + i);
			complete(&fix, fix.qp[0], i, &wants[0]);
			complete(&fix, fix.qp[1], i, &wants[i % 2 ? 2 : 0]);
		}
		if (destroy) {
			late.uidx = to_xqp(fix.qp[0])->q.uidx;
			to_xcq(fix.cq)->q.recent = &to_xqp(fix.qp[0])->q;
			CHECK(!xenib_destroy_qp(fix.qp[0]));
			fix.qp[0] = NULL;
		} else {
			CHECK(!xenib_modify_qp(fix.qp[0], &reset, IBV_QP_STATE));
			CHECK(!to_xqp(fix.qp[0])->q.sq.head && !to_xqp(fix.qp[0])->q.sq.limit);
			CHECK(!to_xqp(fix.qp[0])->q.dbrec[0] && !to_xqp(fix.qp[0])->q.dbrec[1]);
		}
		CHECK(be32toh(to_xcq(fix.cq)->q.dbrec[0]) == (uint32_t)skip + 3);
		CHECK(ibv_poll_cq(fix.cq, 8, wc) == 3);
		CHECK(wc[0].wr_id == 40 && wc[1].wr_id == 61 && wc[2].wr_id == 42);

		/* Nothing of the QP is remembered. */
		if (destroy) {
			fake_hca_complete(&fix.hca, &late);
			CHECK(ibv_poll_cq(fix.cq, 8, wc) == -EINVAL);
		}

		/* What comes next is seen. */
		post(fix.qp[1], 7, 8);
		complete(&fix, fix.qp[1], 3, &wants[0]);
		CHECK(ibv_poll_cq(fix.cq, 8, wc) == 1 && wc[0].wr_id == 7);
		fixture_down(&fix);
	}
}

static void clean_on_destroy(void)
{
	clean(true);
}
static void clean_on_reset(void)
{
	clean(false);
}

/* The record and the doorbell of a CQ say the same, and which event is meant. */
static void arm(void)
{
	static const uint8_t first[8] = { 0x01, 0x00, 0x00, 0x01 };
	static const uint8_t later[8] = { 0x10, 0x00, 0x00, 0x01 };
	struct xenib_cq *cq;
	const uint8_t *reg;
	struct ibv_wc wc;
	struct fixture fix;

	fixture_up(&fix, 0);
	cq = to_xcq(fix.cq);
	post(fix.qp[0], 1, 2);
	complete(&fix, fix.qp[0], 0, &wants[0]);
	CHECK(ibv_poll_cq(fix.cq, 1, &wc) == 1);

	reg = fake_uar_page(cq->uar->index) + 0x20;
	CHECK(!ibv_req_notify_cq(fix.cq, 1));
	CHECK(!memcmp(reg, first, 4) && !memcmp(&cq->q.dbrec[1], first, 4));
	CHECK(!reg[4] && (uint32_t)(reg[5] << 16 | reg[6] << 8 | reg[7]) == cq->q.cqn);

	xenib_cq_event(fix.cq);
	CHECK(!ibv_req_notify_cq(fix.cq, 0));
	CHECK(!memcmp(reg, later, 4) && !memcmp(&cq->q.dbrec[1], later, 4));
	xenib_cq_event(fix.cq);
	xenib_cq_event(fix.cq);
	xenib_cq_event(fix.cq);
	CHECK(!ibv_req_notify_cq(fix.cq, 1));
	CHECK(!memcmp(reg, first, 4));
	fixture_down(&fix);
}

/* A CQ may have been deferred: arming it has it made, once. */
static void arm_deferred(bool deferred)
{
	struct ibv_context *context;
	struct ibv_cq *cq;
	const uint8_t *reg;
	int i;

	fake_open_defaults();
	fake.features |= XENIB_FEATURE_DEFERRED_CQ;
	fake.defers_cqs = deferred;
	context = fake_open();
	REQUIRE(context);
	cq = xenib_create_cq(context, 7, NULL, 0);
	REQUIRE(cq);
	reg = fake_uar_page(to_xcq(cq)->uar->index) + 0x20;
	if (deferred) {
		fake.fail_in = 1;
		fake.fail_with = ENOMEM;
		CHECK(ibv_req_notify_cq(cq, 0) == ENOMEM && fake.cqs_made == 1);
		CHECK(!to_xcq(cq)->q.dbrec[1] && !reg[7] && !reg[6]);
	}
	for (i = 0; i < 3; i++) {
		CHECK(!ibv_req_notify_cq(cq, 0));
		CHECK(fake.cqs_made == (deferred ? 2 : 0) && to_xcq(cq)->q.cqn);
		CHECK((uint32_t)(reg[5] << 16 | reg[6] << 8 | reg[7]) == to_xcq(cq)->q.cqn);
	}
	CHECK(!xenib_destroy_cq(cq));
	fake_close(context);
}

static void arm_cq_deferred(void)
{
	arm_deferred(true);
}

static void arm_cq_made(void)
{
	arm_deferred(false);
}

int main(void)
{
	RUN(eager);
	RUN(eager_single_threaded);
	RUN(lazy);
	RUN(lazy_single_threaded);
	RUN(many);
	RUN(bad_cqes);
	RUN(foreign_cqe);
	RUN(xrc);
	RUN(resized);
	RUN(clean_on_destroy);
	RUN(clean_on_reset);
	RUN(arm);
	RUN(arm_cq_deferred);
	RUN(arm_cq_made);
	return checks_failed ? 1 : 0;
}
