// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_send_queue.c - the send queue: several WRs with one doorbell, a queue that is full, what is refused, and
 * doorbells in one place.
 */
#include <errno.h>
#include <string.h>

#include "abi.h"
#include "send.h"

/* Several WRs: one doorbell, of 8 octets, for the last. */
static void batches(bool wr_api)
{
	struct ibv_sge sge = { 0x9000, 64, 0x12 };
	struct ibv_qp_ex *ex;
	struct ibv_send_wr wr[3] = {}, *bad = NULL;
	struct expect e;
	struct fixture fix;
	uint8_t *reg;
	int i;

	fixture_up(&fix, IBV_QPT_RC, wr_api);
	ex = &to_xqp(fix.qp)->vqp.qp_ex;
	reg = doorbell(&fix);
	memset(reg, 0xee, 256);

	if (wr_api)
		ibv_wr_start(ex);
	for (i = 0; i < 3; i++) {
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
		if (wr_api) {
			ex->wr_id = i;
			ex->wr_flags = 0;
			ibv_wr_send(ex);
			ibv_wr_set_sge(ex, 0x12, 0x9000, 64);
		}
	}
	CHECK(!(wr_api ? ibv_wr_complete(ex) : ibv_post_send(fix.qp, wr, &bad)));

	for (i = 0; i < 3; i++) {
		expect_control(&e, i, 0x0a, 0, no_imm);
		expect_data(&e, 0x9000, 64, 0x12);
		expect_end(&e, fix.qp->qp_num);
		CHECK(queue_holds(&fix, i, e.octet, e.used));
	}
	CHECK(!memcmp(reg, e.octet, 8));
	CHECK(reg[8] == 0xee && reg[255] == 0xee);
	CHECK(be32toh(to_xqp(fix.qp)->q.dbrec[1]) == 3);

	/* One completion for all three. */
	complete(&fix, 2, IBV_WC_SEND, 2);
	CHECK(to_xqp(fix.qp)->q.sq.tail == 3);
	fixture_down(&fix);
}

static void batches_post_send(void)
{
	batches(false);
}
static void batches_wr(void)
{
	batches(true);
}

/* A queue that is full; what was posted before is rung for, by ibv_post_send() only. */
static void overflow(void)
{
	struct ibv_sge sge = { 0x9000, 64, 0x12 };
	struct ibv_send_wr wr[64] = {}, *bad = NULL;
	struct ibv_qp_ex *ex;
	struct fixture fix;
	uint32_t max, i;

	fixture_up(&fix, IBV_QPT_RC, true);
	ex = &to_xqp(fix.qp)->vqp.qp_ex;
	max = to_xqp(fix.qp)->q.sq.max_wr;
	REQUIRE(max >= cap.max_send_wr && max < 63);
	for (i = 0; i <= max; i++) {
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].next = i < max ? &wr[i + 1] : NULL;
	}
	CHECK(ibv_post_send(fix.qp, wr, &bad) == ENOMEM && bad == &wr[max]);
	CHECK(be32toh(to_xqp(fix.qp)->q.dbrec[1]) == max);
	bad = NULL;
	CHECK(ibv_post_send(fix.qp, &wr[max], &bad) == ENOMEM && bad == &wr[max]);

	/* In a batch nothing is posted then, and the queue is as it was. */
	complete(&fix, 0, IBV_WC_SEND, 0);
	ibv_wr_start(ex);
	for (i = 0; i < 2; i++) {
		ex->wr_id = i;
		ibv_wr_send(ex);
		ibv_wr_set_sge(ex, 1, 2, 3);
		ibv_wr_set_inline_data(ex, data, 4);
	}
	CHECK(ibv_wr_complete(ex) == ENOMEM);
	CHECK(be32toh(to_xqp(fix.qp)->q.dbrec[1]) == max && to_xqp(fix.qp)->q.sq.next == max);

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_abort(ex);
	CHECK(to_xqp(fix.qp)->q.sq.next == max && to_xqp(fix.qp)->q.sq.head == max);
	CHECK(!ibv_post_send(fix.qp, &wr[max], &bad));
	fixture_down(&fix);
}

/* WRs that are refused, each for its reason. */
static void refusals(void)
{
	struct ibv_sge sge[8] = { { (uintptr_t)data, 64, 0x12 } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = 1 }, *bad;
	struct ibv_data_buf parts[2];
	struct ibv_qp_ex *ex;
	struct fixture fix;

	fixture_up(&fix, IBV_QPT_RC, true);
	ex = &to_xqp(fix.qp)->vqp.qp_ex;

	wr.num_sge = 5;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == ENOMEM && bad == &wr);
	wr.num_sge = -1;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == ENOMEM);
	wr.num_sge = 1;
	wr.opcode = IBV_WR_TSO;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	wr.opcode = -1;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	wr.opcode = 100;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	wr.opcode = IBV_WR_RDMA_READ;
	wr.send_flags = IBV_SEND_INLINE;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	wr.opcode = IBV_WR_SEND;
	sge[0].length = to_xqp(fix.qp)->q.sq.max_inline + 1;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == ENOMEM);
	sge[0].length = UINT32_MAX;
	sge[1] = sge[0];
	wr.num_sge = 2;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == ENOMEM);
	CHECK(!to_xqp(fix.qp)->q.sq.head && !to_xqp(fix.qp)->q.sq.next);

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, 5, sge);
	CHECK(ibv_wr_complete(ex) == ENOMEM);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, data, to_xqp(fix.qp)->q.sq.max_inline + 1);
	CHECK(ibv_wr_complete(ex) == ENOMEM);
	parts[0] = (struct ibv_data_buf){ data, to_xqp(fix.qp)->q.sq.max_inline };
	parts[1] = (struct ibv_data_buf){ data, 1 };
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data_list(ex, 2, parts);
	CHECK(ibv_wr_complete(ex) == ENOMEM);
	CHECK(!to_xqp(fix.qp)->q.sq.head && !to_xqp(fix.qp)->q.sq.next);

	/* Nothing may be posted before the QP can send. */
	REQUIRE(!xenib_modify_qp(fix.qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET },
				 IBV_QP_STATE));
	wr.send_flags = 0;
	wr.num_sge = 1;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == ENOMEM);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	CHECK(ibv_wr_complete(ex) == EINVAL);
	fixture_down(&fix);

	fixture_up(&fix, IBV_QPT_UD, false);
	wr.opcode = IBV_WR_RDMA_WRITE;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	fixture_down(&fix);
	fixture_up(&fix, IBV_QPT_UC, false);
	wr.opcode = IBV_WR_RDMA_READ;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	fixture_down(&fix);
}

/* RTS may have been posted: the first send waits for it, and no other. */
static void posted_rts(bool wr_api)
{
	struct ibv_sge sge = { 0x9000, 64, 0x12 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_qp_ex *ex;
	struct fixture fix;
	int i;

	fake_open_defaults();
	fake.features |= XENIB_FEATURE_POSTED_RTS;
	fixture_up(&fix, IBV_QPT_RC, wr_api);
	ex = &to_xqp(fix.qp)->vqp.qp_ex;
	for (i = 0; i < 3; i++) {
		fake.fail_in = i ? 0 : 1;
		fake.fail_with = EIO;
		if (wr_api) {
			ibv_wr_start(ex);
			ibv_wr_send(ex);
			ibv_wr_set_sge(ex, 0x12, 0x9000, 64);
		}
		CHECK((wr_api ? ibv_wr_complete(ex) : ibv_post_send(fix.qp, &wr, &bad)) ==
		      (i ? 0 : EIO));
		CHECK(fake.awaits == (i ? 2 : 1));
		CHECK(to_xqp(fix.qp)->q.sq.head == (uint32_t)i);
	}

	/* Not again in RTS; nor in RESET, where nothing may be posted. */
	REQUIRE(!xenib_modify_qp(fix.qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS },
				 IBV_QP_STATE));
	CHECK(to_xqp(fix.qp)->q.sq.limit);
	REQUIRE(!xenib_modify_qp(fix.qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET },
				 IBV_QP_STATE));
	fake_to_rts(fix.qp);
	REQUIRE(!xenib_modify_qp(fix.qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET },
				 IBV_QP_STATE));
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == ENOMEM);
	CHECK(fake.awaits == 2);
	fixture_down(&fix);
}

static void posted_rts_post_send(void)
{
	posted_rts(false);
}
static void posted_rts_wr(void)
{
	posted_rts(true);
}

/* sq_sig_all, and plain doorbells, which have one place. */
static void plain_doorbells(void)
{
	struct ibv_sge sge = { 0x9000, 64, 0x12 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1 }, *bad;
	struct expect e;
	struct fixture fix;
	int i;

	setenv("XENIB_SHUT_UP_BF", "1", 1);
	fixture_up(&fix, IBV_QPT_RC, false);
	unsetenv("XENIB_SHUT_UP_BF");
	to_xqp(fix.qp)->q.sq.always = BITS_SIGNALED;
	for (i = 0; i < 3; i++) {
		CHECK(!ibv_post_send(fix.qp, &wr, &bad));
		expect_control(&e, i, 0x0a, BITS_SIGNALED, no_imm);
		expect_data(&e, 0x9000, 64, 0x12);
		expect_end(&e, fix.qp->qp_num);
		CHECK(queue_holds(&fix, i, e.octet, e.used));
		CHECK(!memcmp(doorbell(&fix), e.octet, 8));
		CHECK(!doorbell(&fix)[8] && !doorbell(&fix)[0x100]);
	}
	fixture_down(&fix);
}

int main(void)
{
	fill_data();
	RUN(batches_post_send);
	RUN(batches_wr);
	RUN(overflow);
	RUN(refusals);
	RUN(posted_rts_post_send);
	RUN(posted_rts_wr);
	RUN(plain_doorbells);
	return checks_failed ? 1 : 0;
}
