// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reliable connections: every operation, sizes around the packet size, order, limits, SRQ, XRC. */
#include "pair.h"

static const uint32_t sizes[] = { 0, 1, 1023, 1024, 1025, 4095, 4096, 4097, 1u << 20 };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

TEST(send_of_all_sizes)
{
	open_pair(false);
	for (uint16_t i = 0; i < SIZES; i++) {
		struct fixture_wr wr = wr_send(3, sizes[i]);
		const struct mlx5_cqe64 *cqe;
		uint16_t index;

		pattern(mem(a, buf_a + 3), sizes[i], i);
		recv_b(5, sizes[i]);
		index = fixture_send(a, &wr);
		fixture_run();
		REQUIRE(good(cq_a, MLX5_CQE_REQ, index));
		cqe = fixture_poll(cq_b);
		REQUIRE(cqe);
		CHECK_EQ(cqe->op_own >> 4, MLX5_CQE_RESP_SEND);
		CHECK_EQ(be32toh(cqe->byte_cnt), sizes[i]);
		CHECK_EQ(be16toh(cqe->wqe_counter), i);
		CHECK_EQ(be32toh(cqe->srqn_uidx), b->qp.user_index);
		CHECK_EQ(be32toh(cqe->sop_drop_qpn) & 0xffffff, b->qp.obj.id);
		CHECK_EQ(be32toh(cqe->flags_rqpn) & 0xffffff, a->qp.obj.id);
		CHECK_EQ(be16toh(cqe->slid), 1);
		CHECK(has_pattern(mem(b, buf_b + 5), sizes[i], i));
	}
	fixture_free();
}

TEST(write_of_all_sizes)
{
	open_pair(false);
	for (uint16_t i = 0; i < SIZES; i++) {
		struct fixture_wr wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 9, sizes[i]);
		uint16_t index;

		pattern(mem(a, buf_a), sizes[i], i);
		mem(b, buf_b)[9 + sizes[i]] = 0xee;
		index = fixture_send(a, &wr);
		fixture_run();
		REQUIRE(good(cq_a, MLX5_CQE_REQ, index));
		CHECK(has_pattern(mem(b, buf_b + 9), sizes[i], i));
		CHECK_EQ(mem(b, buf_b)[9 + sizes[i]], 0xee);
	}
	CHECK(!fixture_poll(cq_b));
	fixture_free();
}

TEST(read_of_all_sizes)
{
	open_pair(false);
	for (uint16_t i = 0; i < SIZES; i++) {
		struct fixture_wr wr = wr_rdma(MLX5_OPCODE_RDMA_READ, 1, 2, sizes[i]);
		const struct mlx5_cqe64 *cqe;

		pattern(mem(b, buf_b + 2), sizes[i], i);
		fixture_send(a, &wr);
		fixture_run();
		cqe = fixture_poll(cq_a);
		REQUIRE(cqe);
		CHECK_EQ(cqe->op_own >> 4, MLX5_CQE_REQ);
		CHECK_EQ(be32toh(cqe->sop_drop_qpn) >> 24, MLX5_OPCODE_RDMA_READ);
		CHECK_EQ(be32toh(cqe->byte_cnt), sizes[i]);
		CHECK(has_pattern(mem(a, buf_a + 1), sizes[i], i));
	}
	fixture_free();
}

TEST(immediate_and_solicited)
{
	struct fixture_wr wr;
	const struct mlx5_cqe64 *cqe;

	open_pair(false);
	wr = wr_send(0, 2000);
	wr.opcode = MLX5_OPCODE_SEND_IMM;
	wr.imm = 0x11223344;
	wr.solicited = true;
	recv_b(0, 2000);
	fixture_send(a, &wr);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE_IMM, 0, 4096, 1500);
	wr.imm = 0x55667788;
	pattern(mem(a, buf_a), 1500, 9);
	recv_b(0, 0);
	fixture_send(a, &wr);
	fixture_run();
	cqe = fixture_poll(cq_b);
	REQUIRE(cqe);
	CHECK_EQ(cqe->op_own >> 4, MLX5_CQE_RESP_SEND_IMM);
	CHECK_EQ(cqe->op_own >> 1 & 1, 1);
	CHECK_EQ(be32toh(cqe->imm_inval_pkey), 0x11223344);
	cqe = fixture_poll(cq_b);
	REQUIRE(cqe);
	CHECK_EQ(cqe->op_own >> 4, MLX5_CQE_RESP_WR_IMM);
	CHECK_EQ(cqe->op_own >> 1 & 1, 0);
	CHECK_EQ(be32toh(cqe->imm_inval_pkey), 0x55667788);
	CHECK_EQ(be32toh(cqe->byte_cnt), 1500);
	CHECK(has_pattern(mem(b, buf_b + 4096), 1500, 9));
	fixture_free();
}

TEST(send_with_invalidate)
{
	struct fixture_wr wr;
	struct mkey *gone;
	const struct mlx5_cqe64 *cqe;

	open_pair(false);
	gone = fixture_mkey(&fix.side[1], FIXTURE_IOVA, 4096, ALL);
	gone->remote_invalidate = true;
	wr = wr_send(0, 8);
	wr.opcode = MLX5_OPCODE_SEND_INVAL;
	wr.imm = fixture_key(gone);
	recv_b(0, 8);
	fixture_send(a, &wr);
	fixture_run();
	cqe = fixture_poll(cq_b);
	REQUIRE(cqe);
	CHECK_EQ(cqe->op_own >> 4, MLX5_CQE_RESP_SEND_INV);
	CHECK_EQ(be32toh(cqe->imm_inval_pkey), fixture_key(gone));
	CHECK(gone->free);
	/* Once more: it is not there any more. */
	recv_b(0, 8);
	fixture_poll(cq_a);
	fixture_send(a, &wr);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
	bad(cq_b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR);
	CHECK_EQ(fixture_events(&fix.side[1], 0x11), 1);
	fixture_free();
}

TEST(atomics)
{
	struct fixture_wr wr;
	uint64_t v = 1000;

	open_pair(false);
	memcpy(mem(b, buf_b + 64), &v, 8);
	wr = wr_rdma(MLX5_OPCODE_ATOMIC_FA, 0, 64, 8);
	wr.swap_add = 5;
	fixture_send(a, &wr);
	wr = wr_rdma(MLX5_OPCODE_ATOMIC_CS, 8, 64, 8);
	wr.compare = 1005;
	wr.swap_add = 7;
	fixture_send(a, &wr);
	wr.sge[0] = sge_a(16, 8);
	wr.compare = 999; /* no match */
	fixture_send(a, &wr);
	fixture_run();
	memcpy(&v, mem(a, buf_a), 8);
	CHECK_EQ(v, 1000);
	memcpy(&v, mem(a, buf_a + 8), 8);
	CHECK_EQ(v, 1005);
	memcpy(&v, mem(a, buf_a + 16), 8);
	CHECK_EQ(v, 7);
	memcpy(&v, mem(b, buf_b + 64), 8);
	CHECK_EQ(v, 7);
	for (unsigned int i = 0; i < 3; i++)
		CHECK(fixture_poll(cq_a));
	fixture_free();
}

TEST(several_segments_and_inline)
{
	struct fixture_wr wr;
	struct fixture_sge list[3];

	open_pair(false);
	pattern(mem(a, buf_a), 3000, 1);
	wr = wr_send(0, 0);
	wr.sges = 3;
	wr.sge[0] = sge_a(0, 1000);
	wr.sge[1] = sge_a(1000, 1);
	wr.sge[2] = sge_a(1001, 1999);
	list[0] = sge_b(0, 10);
	list[1] = sge_b(10, 2000);
	list[2] = sge_b(2010, 5000);
	fixture_recv(b, list, 3);
	fixture_send(a, &wr);
	wr = wr_send(0, 200);
	wr.inline_data = true;
	recv_b(8192, 200);
	fixture_send(a, &wr);
	fixture_run();
	CHECK(has_pattern(mem(b, buf_b), 3000, 1));
	CHECK(has_pattern(mem(b, buf_b + 8192), 200, 1));
	CHECK(fixture_poll(cq_b) && fixture_poll(cq_b));
	fixture_free();
}

/* The ring has 64 blocks: WQEs of several blocks cross its end, indexes go past 2^16. */
TEST(ring_wraps)
{
	open_pair(false);
	for (uint32_t i = 0; i < 40000; i++) {
		struct fixture_wr wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 100 + i % 80);
		uint16_t index;

		wr.inline_data = true;
		mem(a, buf_a)[0] = (uint8_t)i;
		index = fixture_send(a, &wr);
		fixture_run();
		REQUIRE(good(cq_a, MLX5_CQE_REQ, index));
		REQUIRE_EQ(mem(b, buf_b)[0], (uint8_t)i);
	}
	fixture_free();
}

TEST(unsignaled_completes_with_the_next)
{
	struct fixture_wr wr;
	uint16_t last = 0;

	open_pair(false);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	for (unsigned int i = 0; i < 10; i++) {
		wr.unsignaled = i < 9;
		last = fixture_send(a, &wr);
	}
	fixture_run();
	good(cq_a, MLX5_CQE_REQ, last);
	CHECK(!fixture_poll(cq_a));
	fixture_free();
}

/* READs need a place each at the responder, and what is fenced waits for them. */
TEST(reads_are_limited_and_fences_hold)
{
	struct fixture_wr wr;
	uint64_t v;

	open_pair(false);
	a->qp.max_rd_atomic = 2;
	b->qp.max_dest_rd_atomic = 2;
	pattern(mem(b, buf_b), 8, 3);
	for (unsigned int i = 0; i < 20; i++) {
		wr = wr_rdma(MLX5_OPCODE_RDMA_READ, i * 8192, 0, 8000);
		fixture_send(a, &wr);
	}
	/* Sends what the READ before it has brought. */
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 19 * 8192, 65536, 8);
	wr.fence = 4;
	fixture_send(a, &wr);
	fixture_run();
	for (unsigned int i = 0; i < 21; i++)
		CHECK(fixture_poll(cq_a));
	memcpy(&v, mem(b, buf_b + 65536), 8);
	CHECK(!memcmp(&v, mem(b, buf_b), 8));
	CHECK_EQ(a->qp.state, QP_RTS);
	fixture_free();
}

/* More READs at once than the responder has places: its fault is not the responder's to bear. */
TEST(too_many_reads_are_refused)
{
	struct fixture_wr wr;

	open_pair(false);
	a->qp.max_rd_atomic = 16;
	b->qp.max_dest_rd_atomic = 1;
	for (unsigned int i = 0; i < 16; i++) {
		wr = wr_rdma(MLX5_OPCODE_RDMA_READ, 0, 0, 1u << 20);
		fixture_send(a, &wr);
	}
	fixture_run_for(2000000000);
	CHECK_EQ(b->qp.state, QP_ERR);
	CHECK_EQ(a->qp.state, QP_ERR);
	fixture_free();
}

static unsigned int completions(void)
{
	unsigned int n = 0;

	while (fixture_poll(cq_a))
		n++;
	return n;
}

/* 4 MiB at 2.5 Gb/s take 13 ms, of which what was saved up is up to 2. Who sends the data is who is slow. */
TEST(static_rates)
{
	for (unsigned int read = 0; read < 2; read++) {
		struct fixture_wr wr;

		open_pair(false);
		a->qp.max_rd_atomic = b->qp.max_dest_rd_atomic = 4;
		(read ? b : a)->qp.path.stat_rate = 7;
		for (unsigned int i = 0; i < 4; i++) {
			wr = wr_rdma(read ? MLX5_OPCODE_RDMA_READ : MLX5_OPCODE_RDMA_WRITE, 0, 0,
				     1u << 20);
			fixture_send(a, &wr);
		}
		fixture_run_for(10000000);
		CHECK(completions() < 4);
		fixture_run_for(5000000);
		CHECK_EQ(a->side->hca->stats.messages_sent, 4);
		fixture_free();
	}
}

TEST(srq_in_the_order_of_its_links)
{
	struct fixture_sge sge;
	struct fixture_wr wr;

	open_pair(true);
	srq->srq.limit = 2;
	for (unsigned int i = 0; i < 4; i++) {
		sge = sge_b(i * 4096, 4096);
		CHECK_EQ(fixture_srq_recv(srq, &sge, 1), i * 5 % FIXTURE_WQES);
	}
	for (unsigned int i = 0; i < 4; i++) {
		pattern(mem(a, buf_a + i * 4096), 3000, i);
		wr = wr_send(i * 4096, 3000);
		fixture_send(a, &wr);
	}
	fixture_run();
	for (unsigned int i = 0; i < 4; i++) {
		good(cq_b, MLX5_CQE_RESP_SEND, (uint16_t)(i * 5 % FIXTURE_WQES));
		CHECK(has_pattern(mem(b, buf_b + i * 4096), 3000, i));
	}
	CHECK_EQ(fixture_events(&fix.side[1], 0x14), 1);
	CHECK_EQ(srq->srq.limit, 0);
	/* In error: nothing to flush in the SRQ, but the driver is told that no more comes. */
	fixture_state(b, QP_ERR);
	fixture_run();
	CHECK_EQ(fixture_events(&fix.side[1], 0x13), 1);
	fixture_free();
}

TEST(srq_with_a_broken_link)
{
	struct fixture_sge sge;
	struct fixture_wr wr;

	open_pair(true);
	sge = sge_b(0, 4096);
	fixture_srq_recv(srq, &sge, 1);
	put_be16(fixture_wq(srq->side, &srq->srq.buf, 0) + 2, FIXTURE_WQES);
	wr = wr_send(0, 8);
	fixture_send(a, &wr);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_OP_ERR);
	CHECK_EQ(fixture_events(&fix.side[1], 0x12), 1);
	CHECK(srq->srq.error);
	fixture_free();
}

TEST(xrc)
{
	struct fixture_sge sge;
	struct fixture_wr wr;
	const struct mlx5_cqe64 *cqe;

	open_xrc();
	/* What counts is the SRQ's PD. */
	b->qp.pd = FIXTURE_PD + 1;
	sge = sge_b(0, 8192);
	fixture_srq_recv(srq, &sge, 1);
	pattern(mem(a, buf_a), 5000, 2);
	wr = wr_send(0, 5000);
	wr.srqn = srq->srq.obj.id;
	fixture_send(a, &wr);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 16384, 3000);
	wr.srqn = srq->srq.obj.id;
	fixture_send(a, &wr);
	wr = wr_rdma(MLX5_OPCODE_RDMA_READ, 65536, 0, 5000);
	wr.srqn = srq->srq.obj.id;
	fixture_send(a, &wr);
	fixture_run();
	cqe = fixture_poll(cq_b);
	REQUIRE(cqe);
	CHECK_EQ(be32toh(cqe->srqn_uidx), 0x77);
	CHECK_EQ(be32toh(cqe->byte_cnt), 5000);
	CHECK(has_pattern(mem(b, buf_b), 5000, 2));
	CHECK(has_pattern(mem(b, buf_b + 16384), 3000, 2));
	CHECK(has_pattern(mem(a, buf_a + 65536), 5000, 2));
	for (unsigned int i = 0; i < 3; i++) {
		cqe = fixture_poll(cq_a);
		CHECK(cqe && cqe->op_own >> 4 == MLX5_CQE_REQ);
	}
	/* An SRQ of another domain, or none. */
	wr = wr_send(0, 8);
	wr.srqn = 0x1234;
	fixture_send(a, &wr);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
	fixture_free();
}

TEST(established_event_in_rtr)
{
	struct fixture_wr wr;

	open_pair(false);
	fixture_state(b, QP_RST);
	fixture_state(b, QP_INIT);
	fixture_state(b, QP_RTR);
	recv_b(0, 8);
	wr = wr_send(0, 8);
	fixture_send(a, &wr);
	fixture_run();
	CHECK_EQ(fixture_events(&fix.side[1], 0x02), 1);
	CHECK(fixture_poll(cq_b));
	fixture_free();
}

TEST(loopback_to_the_same_port)
{
	struct fixture_wr wr;

	fixture_new();
	open_memory();
	a = fixture_qp(&fix.side[0], QP_RC, cq_a, NULL);
	b = fixture_qp(&fix.side[0], QP_RC, cq_a, NULL);
	fixture_connect(a, b);
	pattern(mem(a, buf_a), 3000, 8);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 3000);
	wr.raddr = buf_a + 65536;
	wr.rkey = fixture_key(mr_a);
	fixture_send(a, &wr);
	fixture_run();
	CHECK(fixture_poll(cq_a));
	CHECK(has_pattern(mem(a, buf_a + 65536), 3000, 8));
	fixture_free();
}

TEST(drained_before_it_says_so)
{
	struct fixture_wr wr;

	open_pair(false);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 1u << 20);
	fixture_send(a, &wr);
	loop_turn(fix.loop, 0);
	fixture_state(a, QP_SQD);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	fixture_send(a, &wr);
	CHECK_EQ(fixture_events(&fix.side[0], 0x03), 0);
	fixture_run();
	CHECK_EQ(fixture_events(&fix.side[0], 0x03), 1);
	CHECK(fixture_poll(cq_a));
	CHECK(!fixture_poll(cq_a));
	fixture_state(a, QP_RTS);
	fixture_run();
	CHECK(fixture_poll(cq_a));
	fixture_free();
}
