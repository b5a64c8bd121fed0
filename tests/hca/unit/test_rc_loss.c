// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reliable connections on a bad fabric: losses, delays, receivers that are not ready. */
#include "pair.h"

#define MS 1000000ull

static struct hca *hca_of(unsigned int side)
{
	return fix.side[side].hca;
}

static void lose(unsigned int side, unsigned int packets)
{
	hca_of(side)->faults.drop_next = packets;
}

static void one(struct fixture_wr wr, unsigned int side, unsigned int packets)
{
	lose(side, packets);
	fixture_send(a, &wr);
	fixture_run_for(70 * MS);
	if (CHECK(fixture_poll(cq_a)))
		CHECK_EQ(a->qp.state, QP_RTS);
}

/* The first packet of each kind of message, then its acknowledgement or response. */
TEST(every_operation_survives_a_loss)
{
	for (unsigned int side = 0; side < 2; side++) {
		struct fixture_wr wr;
		uint64_t v = 40;

		open_pair(false);
		pattern(mem(a, buf_a), 9000, 1);
		recv_b(0, 9000);
		one(wr_send(0, 9000), side, 1);
		CHECK(has_pattern(mem(b, buf_b), 9000, 1));
		CHECK(fixture_poll(cq_b));
		one(wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 16384, 9000), side, 1);
		CHECK(has_pattern(mem(b, buf_b + 16384), 9000, 1));
		one(wr_rdma(MLX5_OPCODE_RDMA_READ, 65536, 0, 9000), side, 1);
		CHECK(has_pattern(mem(a, buf_a + 65536), 9000, 1));
		/* An atomic is not done twice. */
		memcpy(mem(b, buf_b + 32768), &v, 8);
		wr = wr_rdma(MLX5_OPCODE_ATOMIC_FA, 4096, 32768, 8);
		wr.swap_add = 2;
		one(wr, side, 1);
		memcpy(&v, mem(b, buf_b + 32768), 8);
		CHECK_EQ(v, 42);
		memcpy(&v, mem(a, buf_a + 4096), 8);
		CHECK_EQ(v, 40);
		CHECK(!fixture_poll(cq_b));
		fixture_free();
	}
}

/* A gap is noticed by the receiver at once, not by the timer. */
TEST(sequence_nak_is_faster_than_the_timer)
{
	struct fixture_wr wr;

	open_pair(false);
	pattern(mem(a, buf_a), 100000, 4);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 100000);
	lose(0, 1);
	fixture_send(a, &wr);
	fixture_run();
	CHECK(fixture_poll(cq_a));
	CHECK(has_pattern(mem(b, buf_b), 100000, 4));
	CHECK_EQ(hca_of(0)->stats.packets_retried, 1);
	fixture_free();
}

/* In the middle of a long READ: what came is not asked for again. */
TEST(read_resumes_where_it_broke)
{
	struct fixture_wr wr;

	open_pair(false);
	pattern(mem(b, buf_b), 1u << 20, 6);
	wr = wr_rdma(MLX5_OPCODE_RDMA_READ, 0, 0, 1u << 20);
	fixture_send(a, &wr);
	for (unsigned int i = 0; i < 8; i++)
		loop_turn(fix.loop, 0);
	lose(1, 3);
	fixture_run_for(70 * MS);
	CHECK(fixture_poll(cq_a));
	CHECK(has_pattern(mem(a, buf_a), 1u << 20, 6));
	CHECK(hca_of(1)->stats.packets_sent < 1024 + 512);
	fixture_free();
}

TEST(retries_are_counted_and_forgiven)
{
	struct fixture_wr wr;

	open_pair(false);
	a->qp.retry_count = 3;
	fixture_state(a, QP_RTS);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	for (unsigned int i = 0; i < 5; i++) {
		lose(0, 3);
		fixture_send(a, &wr);
		fixture_run_for(3 * 68 * MS);
		REQUIRE(good(cq_a, MLX5_CQE_REQ, (uint16_t)i));
	}
	lose(0, 4);
	fixture_send(a, &wr);
	fixture_run_for(4 * 68 * MS);
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
	CHECK_EQ(a->qp.state, QP_ERR);
	fixture_free();
}

TEST(timeout_zero_waits_for_ever)
{
	struct fixture_wr wr;

	open_pair(false);
	a->qp.path.ack_timeout = 0;
	fixture_state(a, QP_RTS);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 8);
	lose(0, 1);
	fixture_send(a, &wr);
	fixture_run_for(5000 * MS);
	CHECK(!fixture_poll(cq_a));
	CHECK_EQ(a->qp.state, QP_RTS);
	fixture_free();
}

/* min_rnr_nak 12 is 0.64 ms (IBTA table 45). */
TEST(receiver_not_ready)
{
	struct fixture_wr wr;

	open_pair(false);
	a->qp.rnr_retry = 2;
	fixture_state(a, QP_RTS);
	wr = wr_send(0, 3000);
	fixture_send(a, &wr);
	fixture_run();
	CHECK_EQ(hca_of(1)->stats.rnr_naks_sent, 1);
	loop_clock_advance(fix.loop, 639000);
	fixture_run();
	CHECK_EQ(hca_of(1)->stats.rnr_naks_sent, 1);
	loop_clock_advance(fix.loop, 1000);
	fixture_run();
	CHECK_EQ(hca_of(1)->stats.rnr_naks_sent, 2);
	recv_b(0, 3000);
	fixture_run_for(640000);
	good(cq_a, MLX5_CQE_REQ, 0);
	CHECK(fixture_poll(cq_b));
	/* The count starts anew; the third NAK is one too many. */
	fixture_send(a, &wr);
	fixture_run_for(3 * 640000);
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
	CHECK_EQ(hca_of(1)->stats.rnr_naks_sent, 5);
	CHECK_EQ(b->qp.state, QP_RTS);
	fixture_free();
}

TEST(receiver_never_ready)
{
	struct fixture_wr wr;

	open_pair(false);
	b->qp.min_rnr_timer = 1;
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE_IMM, 0, 0, 8);
	pattern(mem(a, buf_a), 8, 1);
	fixture_send(a, &wr);
	fixture_run_for(20 * MS);
	CHECK(hca_of(1)->stats.rnr_naks_sent > 100);
	CHECK_EQ(a->qp.state, QP_RTS);
	/* Nothing is written for an immediate that cannot be received. */
	CHECK(!has_pattern(mem(b, buf_b), 8, 1));
	recv_b(0, 0);
	fixture_run_for(1 * MS);
	CHECK(fixture_poll(cq_a) && fixture_poll(cq_b));
	CHECK(has_pattern(mem(b, buf_b), 8, 1));
	fixture_free();
}

TEST(link_down_and_up)
{
	struct fixture_wr wr;

	open_pair(false);
	wr = wr_rdma(MLX5_OPCODE_RDMA_WRITE, 0, 0, 1u << 20);
	pattern(mem(a, buf_a), 1u << 20, 2);
	fixture_send(a, &wr);
	loop_turn(fix.loop, 0);
	hca_of(1)->faults.link_down = true;
	fixture_run_for(200 * MS);
	hca_of(1)->faults.link_down = false;
	fixture_run_for(200 * MS);
	CHECK(fixture_poll(cq_a));
	CHECK(has_pattern(mem(b, buf_b), 1u << 20, 2));
	fixture_free();
}

/* A delay that comes and goes lets packets overtake each other, and come twice. */
TEST(delays_reorder)
{
	open_pair(false);
	for (unsigned int i = 0; i < 40; i++) {
		struct fixture_wr wr =
			wr_rdma(i & 1 ? MLX5_OPCODE_RDMA_WRITE : MLX5_OPCODE_RDMA_READ, 0, 0,
				20000);
		uint32_t seed = i * 3;

		pattern(i & 1 ? mem(a, buf_a) : mem(b, buf_b), 20000, seed);
		fixture_send(a, &wr);
		for (unsigned int j = 0; j < 20; j++) {
			hca_of(j & 1)->faults.delay_ns = j % 3 ? j * 7000 : 0;
			loop_turn(fix.loop, 0);
			loop_clock_advance(fix.loop, 5000);
		}
		hca_of(0)->faults.delay_ns = hca_of(1)->faults.delay_ns = 0;
		fixture_run_for(150 * MS);
		REQUIRE(good(cq_a, MLX5_CQE_REQ, (uint16_t)i));
		CHECK(has_pattern(i & 1 ? mem(b, buf_b) : mem(a, buf_a), 20000, seed));
	}
	fixture_free();
}

/*
 * Anything, on a fabric that loses one packet in seven or so: all completes, in order, with the
 * right data. The buffer has a slot for each operation; atomics count on one word.
 */
#define SLOT 8192u
#define OPS 48u
#define WORD (OPS * SLOT)

static uint64_t random_state;

static uint32_t rnd(uint32_t n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(random_state >> 33) % n;
}

struct op {
	uint8_t opcode;
	uint32_t length;
	uint16_t index;
};

static void post_random(struct op *op, unsigned int i)
{
	static const uint8_t opcodes[] = {
		MLX5_OPCODE_SEND,           MLX5_OPCODE_SEND_IMM,  MLX5_OPCODE_RDMA_WRITE,
		MLX5_OPCODE_RDMA_WRITE_IMM, MLX5_OPCODE_RDMA_READ, MLX5_OPCODE_ATOMIC_FA,
	};
	struct fixture_wr wr;

	op->opcode = opcodes[rnd(sizeof(opcodes))];
	op->length = rnd(3) ? rnd(SLOT) : rnd(4) * 1024;
	if (op->opcode == MLX5_OPCODE_ATOMIC_FA)
		op->length = 8;
	wr = wr_rdma(op->opcode, i * SLOT, i * SLOT, op->length);
	wr.imm = i;
	wr.swap_add = 1;
	if (op->opcode == MLX5_OPCODE_ATOMIC_FA)
		wr.raddr = buf_b + WORD;
	if (op->opcode == MLX5_OPCODE_SEND || op->opcode == MLX5_OPCODE_SEND_IMM)
		wr.raddr = wr.rkey = 0;
	pattern(op->opcode == MLX5_OPCODE_RDMA_READ ? mem(b, buf_b + i * SLOT) :
						      mem(a, buf_a + i * SLOT),
		op->length, i);
	if (op->opcode == MLX5_OPCODE_SEND || op->opcode == MLX5_OPCODE_SEND_IMM ||
	    op->opcode == MLX5_OPCODE_RDMA_WRITE_IMM)
		recv_b(i * SLOT, SLOT);
	op->index = fixture_send(a, &wr);
}

static void check_op(const struct op *op, unsigned int i, uint64_t *atomics)
{
	uint64_t old;

	if (op->opcode == MLX5_OPCODE_ATOMIC_FA) {
		memcpy(&old, mem(a, buf_a + i * SLOT), 8);
		CHECK_EQ(old, *atomics);
		(*atomics)++;
		return;
	}
	CHECK(has_pattern(op->opcode == MLX5_OPCODE_RDMA_READ ? mem(a, buf_a + i * SLOT) :
								mem(b, buf_b + i * SLOT),
			  op->length, i));
}

static void lossy_run(uint64_t seed)
{
	struct op ops[OPS];
	uint64_t atomics = 0, word;

	open_pair(false);
	random_state = seed;
	hca_of(0)->faults.drop_permille = rnd(150);
	hca_of(1)->faults.drop_permille = rnd(150);
	hca_of(0)->faults.delay_ns = rnd(3) ? 0 : rnd(300000);
	a->qp.max_rd_atomic = b->qp.max_dest_rd_atomic = (uint8_t)(1u << rnd(5));
	for (unsigned int i = 0; i < OPS; i++) {
		post_random(&ops[i], i);
		if (!rnd(3))
			fixture_run_for(rnd(200000));
	}
	fixture_run_for(12000 * MS);
	for (unsigned int i = 0; i < OPS; i++) {
		if (!good(cq_a, MLX5_CQE_REQ, ops[i].index)) {
			printf("seed %llu, operation %u\n", (unsigned long long)seed, i);
			break;
		}
		check_op(&ops[i], i, &atomics);
	}
	memcpy(&word, mem(b, buf_b + WORD), 8);
	CHECK_EQ(word, atomics);
	CHECK_EQ(fix.side[0].hca->stats.messages_sent, OPS);
	fixture_free();
}

TEST(random_operations_with_losses)
{
	for (uint64_t seed = 1; seed <= 30 && !unit_failures; seed++)
		lossy_run(seed);
}
