// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Datagrams and unreliable connections; QP0 and QP1; multicast. */
#include "firmware/mad.h"
#include "pair.h"

static const uint8_t mgid[16] = { 0xff, 0x12, [15] = 0x42 };

static void open_ud(enum qp_transport transport)
{
	fixture_new();
	open_memory();
	a = fixture_qp(&fix.side[0], transport, cq_a, NULL);
	b = fixture_qp(&fix.side[1], transport, cq_b, NULL);
	fixture_to_rts(a);
	fixture_to_rts(b);
}

static struct fixture_wr wr_ud(uint32_t len)
{
	struct fixture_wr wr = wr_send(0, len);

	wr.dqpn = b->qp.obj.id;
	wr.qkey = FIXTURE_QKEY;
	wr.dlid = fix.side[1].hca->port.lid;
	return wr;
}

static const struct mlx5_cqe64 *send_one(const struct fixture_wr *wr)
{
	fixture_send(a, wr);
	fixture_run();
	CHECK(fixture_poll(cq_a));
	return fixture_poll(cq_b);
}

TEST(datagram_sizes)
{
	static const uint32_t sizes[] = { 0, 1, 4095, 4096 };

	open_ud(QP_UD);
	for (unsigned int i = 0; i < 4; i++) {
		struct fixture_wr wr = wr_ud(sizes[i]);
		const struct mlx5_cqe64 *cqe;

		wr.opcode = MLX5_OPCODE_SEND_IMM;
		wr.imm = 0x99 + i;
		pattern(mem(a, buf_a), sizes[i], i);
		recv_b(0, 40 + sizes[i]);
		cqe = send_one(&wr);
		REQUIRE(cqe);
		CHECK_EQ(be32toh(cqe->byte_cnt), sizes[i] + 40);
		CHECK_EQ(be32toh(cqe->imm_inval_pkey), 0x99 + i);
		CHECK_EQ(be32toh(cqe->flags_rqpn), a->qp.obj.id);
		CHECK_EQ(be16toh(cqe->slid), 1);
		CHECK(has_pattern(mem(b, buf_b + 40), sizes[i], i));
	}
	fixture_free();
}

TEST(too_long_a_datagram)
{
	struct fixture_wr wr;

	open_ud(QP_UD);
	wr = wr_ud(4097);
	fixture_send(a, &wr);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	CHECK_EQ(a->qp.state, QP_SQER);
	/* What is posted before the driver takes the queue out of that state is flushed. */
	wr = wr_ud(8);
	fixture_send(a, &wr);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	fixture_state(a, QP_RTS);
	recv_b(0, 100);
	CHECK(send_one(&wr));
	fixture_free();
}

TEST(wrong_qkey_is_dropped)
{
	struct fixture_wr wr;

	open_ud(QP_UD);
	wr = wr_ud(8);
	wr.qkey++;
	recv_b(0, 100);
	CHECK(!send_one(&wr));
	/* A privileged Q_Key in the WQE stands for the QP's own. */
	wr.qkey = 0x80000000;
	CHECK(send_one(&wr));
	fixture_free();
}

TEST(wrong_pkey_is_dropped)
{
	struct fixture_wr wr;

	open_ud(QP_UD);
	wr = wr_ud(8);
	recv_b(0, 100);
	fix.side[1].hca->port.pkeys[0] = 0x8001;
	CHECK(!send_one(&wr));
	fix.side[1].hca->port.pkeys[0] = 0x7fff; /* a limited member hears a full one */
	CHECK(send_one(&wr));
	fix.side[0].hca->port.pkeys[0] = 0x7fff; /* but not another limited one */
	recv_b(0, 100);
	CHECK(!send_one(&wr));
	fixture_free();
}

TEST(nothing_posted_nothing_received)
{
	struct fixture_wr wr;

	open_ud(QP_UD);
	wr = wr_ud(8);
	CHECK(!send_one(&wr));
	recv_b(0, 100);
	CHECK(send_one(&wr));
	fixture_free();
}

TEST(buffer_without_room_for_the_grh)
{
	struct fixture_wr wr;

	open_ud(QP_UD);
	wr = wr_ud(8);
	recv_b(0, 47);
	fixture_send(a, &wr);
	fixture_run();
	bad(cq_b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	CHECK_EQ(b->qp.state, QP_ERR);
	fixture_free();
}

static struct fixture_wr wr_group(uint32_t len)
{
	struct fixture_wr wr = wr_ud(len);

	wr.dqpn = QPN_MULTICAST;
	wr.dlid = 0xc001;
	wr.dgid = mgid;
	return wr;
}

TEST(multicast)
{
	struct fixture_wr wr;
	struct fixture_qp *c;
	const struct mlx5_cqe64 *cqe;
	uint8_t *grh;

	open_ud(QP_UD);
	c = fixture_qp(&fix.side[1], QP_UD, cq_b, NULL);
	fixture_to_rts(c);
	CHECK_EQ(fabric_attach(b->side->hca, mgid, b->qp.obj.id), 0);
	CHECK_EQ(fabric_attach(c->side->hca, mgid, c->qp.obj.id), 0);
	wr = wr_group(100);
	pattern(mem(a, buf_a), 100, 1);
	recv_b(0, 200);
	fixture_recv(c, &(struct fixture_sge){ buf_b + 4096, 200, fixture_key(mr_b) }, 1);
	fixture_send(a, &wr);
	fixture_run();
	for (unsigned int i = 0; i < 2; i++) {
		cqe = fixture_poll(cq_b);
		REQUIRE(cqe);
		CHECK_EQ(be32toh(cqe->flags_rqpn) >> 28, 1);
	}
	CHECK(has_pattern(mem(b, buf_b + 40), 100, 1));
	CHECK(has_pattern(mem(b, buf_b + 4096 + 40), 100, 1));
	grh = mem(b, buf_b);
	CHECK_EQ(grh[0] >> 4, 6);
	CHECK_EQ(be16_at(grh + 4), 100 + 24);
	CHECK_EQ(grh[6], 0x1b);
	CHECK_EQ(grh[7], 64);
	CHECK(!memcmp(grh + 24, mgid, 16));
	fixture_free();
}

/* A QP that is in the group that it sends to, first as it is, then with block_lb_mc; another one of the port receives both. */
TEST(multicast_to_itself)
{
	struct fixture_wr wr;
	struct fixture_qp *c;

	open_ud(QP_UD);
	c = fixture_qp(&fix.side[0], QP_UD, cq_a, NULL);
	fixture_to_rts(c);
	CHECK_EQ(fabric_attach(a->side->hca, mgid, a->qp.obj.id), 0);
	CHECK_EQ(fabric_attach(a->side->hca, mgid, c->qp.obj.id), 0);
	wr = wr_group(100);
	for (unsigned int i = 0; i < 2; i++) {
		struct fixture_sge sge = { buf_a + 4096 * i, 200, fixture_key(mr_a) };
		unsigned int received = 0;
		const struct mlx5_cqe64 *cqe;

		a->qp.blocks_own = i;
		fixture_recv(a, &sge, 1);
		fixture_recv(c, &sge, 1);
		fixture_send(a, &wr);
		fixture_run();
		while ((cqe = fixture_poll(cq_a)))
			received += cqe->op_own >> 4 == MLX5_CQE_RESP_SEND;
		CHECK_EQ(received, 2 - i);
	}
	fixture_free();
}

TEST(the_grh_names_the_port)
{
	struct hca *hca;
	struct fixture_wr wr;
	uint8_t gid[16];

	open_ud(QP_UD);
	hca = fix.side[1].hca;
	wr = wr_ud(8);
	wr.dgid = gid;
	recv_b(0, 100);
	REQUIRE(port_gid(hca, 0, gid));
	gid[15] ^= 1; /* the LID is right, the GID is nobody's */
	CHECK(!send_one(&wr));
	CHECK_EQ(hca->stats.packets_dropped, 1);
	gid[15] ^= 1;
	CHECK(send_one(&wr));
	/* The default prefix is good for ever, another one is the subnet's alone. */
	hca->port.gid_prefix = 0xfec0000000000001ull;
	recv_b(0, 100);
	CHECK(send_one(&wr));
	gid[0] = 0xfd;
	recv_b(0, 100);
	CHECK(!send_one(&wr));
	/* An alias, as soon as there is one; an empty entry is none. */
	hca->port.guids[3] = 0x77;
	put_be64(gid, hca->port.gid_prefix);
	put_be64(gid + 8, 0x77);
	CHECK(send_one(&wr));
	put_be64(gid + 8, 0);
	recv_b(0, 100);
	CHECK(!send_one(&wr));
	fixture_free();
}

TEST(a_source_gid_has_to_be_there)
{
	static const uint8_t absent[] = { 1, PORT_GIDS, 255 };
	struct fixture_wr wr;
	uint8_t gid[16];

	for (unsigned int i = 0; i < 3; i++) {
		open_ud(QP_UD);
		wr = wr_ud(8);
		wr.dgid = gid;
		wr.sgid_index = absent[i];
		REQUIRE(port_gid(fix.side[1].hca, 0, gid));
		recv_b(0, 100);
		fixture_send(a, &wr);
		fixture_run();
		bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
		CHECK(!fixture_poll(cq_b));
		fixture_free();
	}
	open_ud(QP_UD);
	fix.side[0].hca->port.guids[1] = 0x99;
	wr = wr_ud(8);
	wr.dgid = gid;
	wr.sgid_index = 1;
	recv_b(0, 100);
	CHECK(send_one(&wr));
	CHECK_EQ(be64_at(mem(b, buf_b) + 16), 0x99);
	fixture_free();
}

/* A request to the performance agent of b's port, as it lies in a's memory: Get of PortCounters. */
static struct fixture_wr wr_perf(void)
{
	struct fixture_wr wr = wr_ud(256);
	uint8_t *mad = mem(a, buf_a);
	struct fixture_sge answer = sge_a(4096, 296);

	memset(mad, 0, 256);
	mad[MAD_BASE_VERSION] = mad[MAD_CLASS_VERSION] = 1;
	mad[MAD_CLASS] = MAD_CLASS_PERFORMANCE;
	mad[MAD_METHOD] = MAD_METHOD_GET;
	mad[15] = 0x42; /* of the transaction */
	put_be16(mad + MAD_ATTR, 0x12);
	mad[MAD_PMA_DATA + 1] = 1;
	wr.dqpn = 1;
	wr.qkey = QKEY_QP1;
	fixture_recv(a, &answer, 1);
	recv_b(0, 296);
	return wr;
}

static void open_gsi(void)
{
	open_ud(QP_GSI);
	fix.side[0].hca->special_qp[1] = &a->qp;
	fix.side[1].hca->special_qp[1] = &b->qp;
}

TEST(the_port_answers_for_its_counters)
{
	const uint8_t *mad;
	struct fixture_wr wr;
	const struct mlx5_cqe64 *cqe;

	open_gsi();
	fix.side[1].hca->port.rcv_bytes = 4000;
	fix.side[1].hca->special_qp[1] = NULL; /* no driver is needed */
	wr = wr_perf();
	CHECK(!send_one(&wr));
	cqe = fixture_poll(cq_a);
	REQUIRE(cqe);
	CHECK_EQ(be32toh(cqe->byte_cnt), 296);
	CHECK_EQ(be32toh(cqe->flags_rqpn), 1);
	CHECK_EQ(be16toh(cqe->slid), 2);
	CHECK_EQ(be32toh(cqe->imm_inval_pkey), 0xffff);
	mad = mem(a, buf_a + 4096 + 40);
	CHECK_EQ(mad[MAD_BASE_VERSION], 1);
	CHECK_EQ(mad[MAD_METHOD], 0x81);
	CHECK_EQ(be16_at(mad + MAD_STATUS), MAD_OK);
	CHECK_EQ(mad[15], 0x42);
	/* The request itself has been counted: LRH to ICRC. */
	CHECK_EQ(be32_at(mad + MAD_PMA_DATA + 28), (4000 + 8 + 12 + 8 + 256 + 4) / 4);
	CHECK_EQ(be32_at(mad + MAD_PMA_DATA + 36), 1);
	fixture_free();
}

TEST(the_answer_goes_back_by_the_grh)
{
	struct fixture_wr wr;
	const struct mlx5_cqe64 *cqe;
	uint8_t gid[16];

	open_gsi();
	fix.side[1].hca->port.guids[2] = 0x1234;
	REQUIRE(port_gid(fix.side[1].hca, 2, gid));
	wr = wr_perf();
	wr.dgid = gid;
	CHECK(!send_one(&wr));
	cqe = fixture_poll(cq_a);
	REQUIRE(cqe);
	CHECK_EQ(be32toh(cqe->flags_rqpn) >> 28, 1);
	CHECK(!memcmp(mem(a, buf_a + 4096 + 8), gid, 16));
	REQUIRE(port_gid(fix.side[0].hca, 0, gid));
	CHECK(!memcmp(mem(a, buf_a + 4096 + 24), gid, 16));
	fixture_free();
}

TEST(other_management_is_the_drivers)
{
	struct fixture_wr wr;

	open_gsi();
	wr = wr_perf();
	mem(a, buf_a)[MAD_METHOD] |= MAD_METHOD_IS_RESPONSE;
	CHECK(send_one(&wr));
	wr = wr_perf();
	mem(a, buf_a)[MAD_CLASS] = 3; /* of subnet administration */
	CHECK(send_one(&wr));
	wr = wr_perf();
	wr.sge[0].length = 255;
	CHECK(send_one(&wr));
	/* Who has no business here is not answered. */
	wr = wr_perf();
	wr.qkey = FIXTURE_QKEY;
	CHECK(!send_one(&wr));
	CHECK(!fixture_poll(cq_a));
	fix.side[1].hca->port.pkeys[0] = 0x8001;
	wr = wr_perf();
	CHECK(!send_one(&wr));
	CHECK(!fixture_poll(cq_a));
	fixture_free();
}

TEST(management_datagrams)
{
	struct fixture_wr wr;
	const struct mlx5_cqe64 *cqe;

	open_ud(QP_GSI);
	fix.side[0].hca->special_qp[1] = &a->qp;
	fix.side[1].hca->special_qp[1] = &b->qp;
	wr = wr_ud(256);
	wr.dqpn = 1;
	wr.qkey = 0x80010000;
	recv_b(0, 296);
	cqe = send_one(&wr);
	REQUIRE(cqe);
	CHECK_EQ(be32toh(cqe->imm_inval_pkey), 0xffff);
	CHECK_EQ(be32toh(cqe->flags_rqpn) & 0xffffff, 1);
	fixture_free();

	open_ud(QP_SMI);
	fix.side[1].hca->special_qp[0] = &b->qp;
	wr = wr_ud(256);
	wr.dqpn = 0;
	wr.qkey = 0;
	wr.dlid = 0xffff; /* the other end of the cable */
	recv_b(0, 296);
	cqe = send_one(&wr);
	REQUIRE(cqe);
	CHECK_EQ(be16toh(cqe->slid), 0xffff); /* and the way back */
	fixture_free();
}

/* --- Unreliable connections --- */

TEST(uc_send_and_write)
{
	struct fixture_wr wr;
	const struct mlx5_cqe64 *cqe;

	open_transport(QP_UC, false);
	pattern(mem(a, buf_a), 10000, 3);
	wr = wr_send(0, 10000);
	recv_b(0, 10000);
	fixture_send(a, &wr);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE_IMM, 0, 16384, 5000);
	wr.imm = 7;
	recv_b(0, 0);
	fixture_send(a, &wr);
	fixture_run();
	CHECK(fixture_poll(cq_a) && fixture_poll(cq_a));
	cqe = fixture_poll(cq_b);
	REQUIRE(cqe);
	CHECK_EQ(be32toh(cqe->byte_cnt), 10000);
	cqe = fixture_poll(cq_b);
	REQUIRE(cqe);
	CHECK_EQ(cqe->op_own >> 4, MLX5_CQE_RESP_WR_IMM);
	CHECK(has_pattern(mem(b, buf_b), 10000, 3));
	CHECK(has_pattern(mem(b, buf_b + 16384), 5000, 3));
	fixture_free();
}

TEST(uc_loses_messages_not_order)
{
	struct fixture_wr wr;
	const struct mlx5_cqe64 *cqe;

	open_transport(QP_UC, false);
	for (unsigned int i = 0; i < 3; i++)
		recv_b(i * 8192, 8192);
	for (unsigned int i = 0; i < 3; i++) {
		pattern(mem(a, buf_a), 5000, i);
		if (i == 1)
			fix.side[0].hca->faults.drop_next = 1;
		wr = wr_send(0, 5000);
		fixture_send(a, &wr);
		fixture_run();
		CHECK(fixture_poll(cq_a));
	}
	/* The receive WQE of the lost message took the next one. */
	for (unsigned int i = 0; i < 2; i++) {
		cqe = fixture_poll(cq_b);
		REQUIRE(cqe);
		CHECK_EQ(be16toh(cqe->wqe_counter), i);
	}
	CHECK(!fixture_poll(cq_b));
	CHECK(has_pattern(mem(b, buf_b), 5000, 0));
	CHECK(has_pattern(mem(b, buf_b + 8192), 5000, 2));
	fixture_free();
}

TEST(uc_write_without_right_is_dropped)
{
	struct fixture_wr wr;

	open_transport(QP_UC, false);
	mr_b->access &= ~MKEY_REMOTE_WRITE;
	pattern(mem(a, buf_a), 5000, 3);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 5000);
	fixture_send(a, &wr);
	fixture_run();
	CHECK(fixture_poll(cq_a));
	CHECK(!has_pattern(mem(b, buf_b), 5000, 3));
	CHECK_EQ(b->qp.state, QP_RTS);
	fixture_free();
}

TEST(uc_has_no_reads)
{
	struct fixture_wr wr;

	open_transport(QP_UC, false);
	wr = wr_rdma(MLX5_OPCODE_RDMA_READ, 0, 0, 8);
	fixture_send(a, &wr);
	fixture_run();
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	CHECK_EQ(a->qp.state, QP_SQER);
	fixture_free();
}
