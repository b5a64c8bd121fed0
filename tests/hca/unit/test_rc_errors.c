// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What goes wrong on a reliable connection, and with which code each side learns of it. */
#include "pair.h"

#define FLUSHED MLX5_CQE_SYNDROME_WR_FLUSH_ERR

static void both_in_error(void)
{
	CHECK_EQ(a->qp.state, QP_ERR);
	CHECK_EQ(b->qp.state, QP_ERR);
}

/* A request that the responder refuses: code at the requester, event at the responder. */
static void refused(const struct fixture_wr *wr, uint8_t syndrome, uint8_t event)
{
	fixture_send(a, wr);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, syndrome);
	CHECK(!fixture_poll(cq_a));
	both_in_error();
	if (event)
		CHECK_EQ(fixture_events(&fix.side[1], event), 1);
	fixture_free();
}

#define ACCESS MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, 0x11
#define INVALID MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, 0x10

TEST(remote_keys)
{
	struct fixture_wr wr;

	open_pair(false); /* a stale variant */
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	wr.rkey ^= 1;
	refused(&wr, ACCESS);

	open_pair(false); /* no such key */
	wr = wr_rdma(MLX5_OPCODE_RDMA_READ, 0, 0, 8);
	wr.rkey = 0xfff00;
	refused(&wr, ACCESS);

	open_pair(false); /* of another PD */
	mr_b->pd++;
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	refused(&wr, ACCESS);

	open_pair(false); /* of another QP */
	mr_b->qpn = b->qp.obj.id + 1;
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	refused(&wr, ACCESS);

	open_pair(false); /* not registered yet */
	mr_b->free = true;
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	refused(&wr, ACCESS);
}

TEST(remote_bounds)
{
	struct fixture_wr wr;

	open_pair(false); /* one byte too far */
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, BUFFER - 7, 8);
	refused(&wr, ACCESS);

	open_pair(false); /* one byte too early */
	wr = wr_rdma(MLX5_OPCODE_RDMA_READ, 0, 0, 8);
	wr.raddr--;
	refused(&wr, ACCESS);

	open_pair(false); /* around the end of the address space */
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	wr.raddr = UINT64_MAX - 3;
	refused(&wr, ACCESS);

	open_pair(false); /* refused as a whole: nothing is written */
	pattern(mem(a, buf_a), 65536, 1);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, BUFFER - 60000, 65536);
	fixture_send(a, &wr);
	fixture_run();
	CHECK_EQ(mem(b, buf_b)[BUFFER - 60000 + 5], 0);
	fixture_free();
}

TEST(remote_rights)
{
	struct fixture_wr wr;

	open_pair(false);
	mr_b->access &= ~MKEY_REMOTE_WRITE;
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	refused(&wr, ACCESS);

	open_pair(false);
	mr_b->access &= ~MKEY_REMOTE_READ;
	wr = wr_rdma(MLX5_OPCODE_RDMA_READ, 0, 0, 8);
	refused(&wr, ACCESS);

	open_pair(false);
	mr_b->access &= ~MKEY_REMOTE_ATOMIC;
	wr = wr_rdma(MLX5_OPCODE_ATOMIC_FA, 0, 0, 8);
	refused(&wr, ACCESS);

	/* Functions that the QP does not have enabled (IBTA 9.7.4.1.4). */
	open_pair(false);
	b->qp.remote_write = false;
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	refused(&wr, INVALID);

	open_pair(false);
	b->qp.remote_read = false;
	wr = wr_rdma(MLX5_OPCODE_RDMA_READ, 0, 0, 8);
	refused(&wr, INVALID);

	open_pair(false);
	b->qp.remote_atomic = false;
	wr = wr_rdma(MLX5_OPCODE_ATOMIC_CS, 0, 0, 8);
	refused(&wr, INVALID);
}

TEST(atomics_are_aligned)
{
	struct fixture_wr wr;

	open_pair(false);
	wr = wr_rdma(MLX5_OPCODE_ATOMIC_FA, 0, 4, 8);
	refused(&wr, INVALID);
}

/* Zero bytes need no key (IBTA 9.7.4.1.1). */
TEST(nothing_needs_no_key)
{
	struct fixture_wr wr;

	open_pair(false);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 0);
	wr.rkey = 0xdead00;
	wr.sges = 0;
	fixture_send(a, &wr);
	fixture_run();
	good(cq_a, MLX5_CQE_REQ, 0);
	fixture_free();
}

TEST(message_longer_than_the_buffer)
{
	struct fixture_wr wr;

	open_pair(false);
	recv_b(0, 2999);
	recv_b(0, 2999);
	wr = wr_send(0, 3000);
	fixture_send(a, &wr);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
	bad(cq_b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	bad(cq_b, MLX5_CQE_RESP_ERR, FLUSHED);
	CHECK(!fixture_poll(cq_b));
	both_in_error();
	fixture_free();
}

TEST(receive_buffer_is_not_ours)
{
	struct fixture_wr wr;

	open_pair(false);
	mr_b->access &= ~MKEY_LOCAL_WRITE;
	recv_b(0, 8);
	wr = wr_send(0, 8);
	fixture_send(a, &wr);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_OP_ERR);
	bad(cq_b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
	both_in_error();
	fixture_free();
}

/* Local protection: the requester's own keys. What was before it completes, what is after is flushed. */
TEST(local_keys)
{
	struct fixture_wr wr, wrong;

	for (unsigned int i = 0; i < 3; i++) {
		open_pair(false);
		wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
		wrong = wr_rdma(i == 1 ? MLX5_OPCODE_RDMA_READ : MLX5_OPCODE_RDMA_WRITE, 0, 0,
				3000);
		if (i == 2)
			wrong.sge[0].addr = buf_a + BUFFER - 2999; /* found after two packets */
		else
			wrong.sge[0].lkey ^= 1;
		fixture_send(a, &wr);
		fixture_send(a, &wrong);
		fixture_send(a, &wr);
		fixture_run();
		good(cq_a, MLX5_CQE_REQ, 0);
		bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
		bad(cq_a, MLX5_CQE_REQ_ERR, FLUSHED);
		CHECK(!fixture_poll(cq_a));
		CHECK_EQ(a->qp.state, QP_ERR);
		CHECK_EQ(b->qp.state, QP_RTS);
		fixture_free();
	}
}

TEST(local_length)
{
	struct fixture_wr wr;

	open_pair(false); /* more than a message may have */
	wr = wr_send(0, 1u << 30);
	wr.sges = 2;
	wr.sge[1] = sge_a(0, 1);
	fixture_send(a, &wr);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	fixture_free();

	open_pair(false); /* an atomic brings 8 bytes */
	wr = wr_rdma(MLX5_OPCODE_ATOMIC_FA, 0, 0, 4);
	fixture_send(a, &wr);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	fixture_free();
}

static void malformed(uint32_t at, uint8_t value)
{
	struct fixture_wr wr;
	uint8_t bytes[1024];
	uint32_t len;

	open_pair(false);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	len = fixture_build(a, &wr, bytes);
	bytes[at] = value;
	fixture_put_wqe(a, bytes, len);
	fixture_ring(a);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	CHECK_EQ(a->qp.state, QP_ERR);
	fixture_free();
}

TEST(malformed_wqes)
{
	malformed(3, 0x55);  /* opcode */
	malformed(0, 1);     /* opcode modifier */
	malformed(2, 1);     /* index */
	malformed(6, 0x13);  /* QPN */
	malformed(7, 0);     /* no length */
	malformed(7, 1);     /* only the control segment, where an address is needed */
	malformed(7, 63);    /* longer than what was posted */
	malformed(11, 0xe0); /* fence mode 7 */
}

TEST(later_posts_are_flushed_too)
{
	struct fixture_wr wr;

	open_pair(false);
	fixture_state(a, QP_ERR);
	fixture_state(b, QP_ERR);
	fixture_run();
	wr = wr_send(0, 8);
	for (unsigned int i = 0; i < 3; i++)
		fixture_send(a, &wr);
	recv_b(0, 8); /* rings no doorbell */
	fixture_run();
	for (unsigned int i = 0; i < 3; i++)
		bad(cq_a, MLX5_CQE_REQ_ERR, FLUSHED);
	fixture_run_for(20000000);
	bad(cq_b, MLX5_CQE_RESP_ERR, FLUSHED);
	fixture_run_for(200000000);
	recv_b(0, 8);
	recv_b(0, 8);
	fixture_run_for(40000000);
	bad(cq_b, MLX5_CQE_RESP_ERR, FLUSHED);
	bad(cq_b, MLX5_CQE_RESP_ERR, FLUSHED);
	CHECK(!fixture_poll(cq_b));
	fixture_free();
}

/* In the middle of a message both sides are torn down: each WQE completes once. */
TEST(error_in_mid_message)
{
	struct fixture_wr wr;

	open_pair(false);
	recv_b(0, 1u << 20);
	recv_b(0, 8);
	wr = wr_send(0, 1u << 20);
	fixture_send(a, &wr);
	for (unsigned int i = 0; i < 4; i++)
		loop_turn(fix.loop, 0);
	fixture_state(a, QP_ERR);
	fixture_state(b, QP_ERR);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, FLUSHED);
	CHECK(!fixture_poll(cq_a));
	bad(cq_b, MLX5_CQE_RESP_ERR, FLUSHED);
	bad(cq_b, MLX5_CQE_RESP_ERR, FLUSHED);
	CHECK(!fixture_poll(cq_b));
	/* And from there to a new life. */
	fixture_state(a, QP_RST);
	fixture_state(b, QP_RST);
	fixture_connect(a, b);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	fixture_send(a, &wr);
	fixture_run();
	good(cq_a, MLX5_CQE_REQ, 0);
	fixture_free();
}

TEST(queues_overrun)
{
	struct fixture_wr wr;

	open_pair(false);
	a->sq_pi = FIXTURE_WQES + 1;
	fixture_ring(a);
	fixture_run();
	CHECK_EQ(fixture_events(&fix.side[0], 0x05), 1);
	CHECK_EQ(a->qp.state, QP_ERR);
	fixture_free();

	open_pair(false);
	put_be32(fixture_at(b->side, b->qp.dbr), FIXTURE_WQES + 1);
	wr = wr_send(0, 8);
	fixture_send(a, &wr);
	fixture_run();
	CHECK_EQ(fixture_events(&fix.side[1], 0x05), 1);
	CHECK_EQ(b->qp.state, QP_ERR);
	fixture_free();
}

TEST(lost_completions_are_fatal)
{
	struct fixture_wr wr;

	open_pair(false);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	for (unsigned int i = 0; i < 257; i++) { /* one more than the CQ holds */
		fixture_send(a, &wr);
		fixture_run();
	}
	CHECK(cq_a->cq.error);
	CHECK_EQ(fixture_events(&fix.side[0], 0x04), 1);
	CHECK_EQ(fixture_events(&fix.side[0], 0x05), 1);
	CHECK_EQ(a->qp.state, QP_ERR);
	fixture_free();
}

TEST(memory_that_went_away)
{
	struct fixture_wr wr;

	open_pair(false);
	fixture_run();
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	CHECK_EQ(dma_unmap(fix.side[1].hca->dma, FIXTURE_IOVA, FIXTURE_MEMORY), 0);
	fixture_send(a, &wr);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
	fixture_free();

	open_pair(false);
	CHECK_EQ(dma_unmap(fix.side[0].hca->dma, FIXTURE_IOVA, FIXTURE_MEMORY), 0);
	qp_engine_kick(&a->qp);
	fixture_run();
	CHECK_EQ(a->qp.state, QP_ERR);
	fixture_free();
}

/* The key goes while the responder answers. */
TEST(key_revoked_in_mid_read)
{
	struct fixture_wr wr;

	open_pair(false);
	wr = wr_rdma(MLX5_OPCODE_RDMA_READ, 0, 0, 1u << 20);
	fixture_send(a, &wr);
	for (unsigned int i = 0; i < 5; i++)
		loop_turn(fix.loop, 0);
	mr_b->free = true;
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
	both_in_error();
	fixture_free();
}

/* A QP that is not there, or not ready, answers nothing: retries run out. */
TEST(nobody_answers)
{
	struct fixture_wr wr;

	open_pair(false);
	a->qp.remote_qpn = 0x777;
	a->qp.retry_count = 2;
	fixture_state(a, QP_RTS);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	fixture_send(a, &wr);
	fixture_run_for(3 * 67000000ull);
	CHECK(!fixture_poll(cq_a));
	fixture_run_for(67000000);
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
	CHECK_EQ(fix.side[0].hca->stats.packets_sent, 3);
	fixture_free();
}

TEST(foreign_packets_are_dropped)
{
	struct fixture_wr wr;

	open_pair(false);
	fix.side[0].hca->port.pkeys[0] = 0x8123;
	a->qp.retry_count = 0;
	fixture_state(a, QP_RTS);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	pattern(mem(a, buf_a), 8, 5);
	fixture_send(a, &wr);
	fixture_run_for(100000000);
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
	CHECK(!has_pattern(mem(b, buf_b), 8, 5));
	fixture_free();
}
