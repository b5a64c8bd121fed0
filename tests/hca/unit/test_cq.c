// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues: layout, ownership, arming, overruns, other buffers. */
#include "pair.h"

#define COMP 0

static struct fixture_cq *cq;

static void open_cq(void)
{
	fixture_new();
	cq = fixture_cq(&fix.side[0], 2);
}

static bool post(uint16_t counter, bool solicited)
{
	const struct completion c = { .opcode = MLX5_CQE_RESP_SEND,
				      .wqe_counter = counter,
				      .qpn = 0x123456,
				      .user_index = 0xabcdef,
				      .byte_count = 77,
				      .imm_inval_pkey = 5,
				      .slid = 9,
				      .flags_rqpn = 0x1200beef,
				      .solicited = solicited };

	return cq_post(&cq->cq, &c);
}

static unsigned int events(void)
{
	return fixture_events(&fix.side[0], COMP);
}

TEST(ownership_turns_with_the_ring)
{
	open_cq();
	for (uint16_t i = 0; i < 20; i++) {
		const struct mlx5_cqe64 *cqe;

		CHECK(post(i, false));
		cqe = fixture_poll(cq);
		REQUIRE(cqe);
		CHECK_EQ(be16toh(cqe->wqe_counter), i);
		CHECK_EQ(be32toh(cqe->sop_drop_qpn), 0x123456);
		CHECK_EQ(be32toh(cqe->srqn_uidx), 0xabcdef);
		CHECK_EQ(be32toh(cqe->byte_cnt), 77);
		CHECK_EQ(be32toh(cqe->flags_rqpn), 0x1200beef);
		CHECK(!fixture_poll(cq));
	}
	fixture_free();
}

TEST(timestamps)
{
	const struct mlx5_cqe64 *cqe;
	uint64_t first;

	open_cq();
	CHECK(post(0, false));
	cqe = fixture_poll(cq);
	REQUIRE(cqe);
	first = be64toh(cqe->timestamp);
	CHECK_EQ(first, hca_ticks(fix.side[0].hca));
	loop_clock_advance(fix.loop, 2000000);
	CHECK(post(1, false));
	cqe = fixture_poll(cq);
	REQUIRE(cqe);
	CHECK_EQ(be64toh(cqe->timestamp) - first, 2 * HCA_CLOCK_KHZ);
	fixture_free();
}

TEST(cqe_of_128_bytes)
{
	uint8_t *p;

	open_cq();
	cq->cq.cqe_size_shift = 7;
	cq->cq.log_size = 1;
	CHECK(post(1, false));
	CHECK(post(2, false));
	p = fixture_wq(&fix.side[0], &cq->cq.buf, 0);
	CHECK_EQ(be16_at(p + 64 + 60), 1);
	CHECK_EQ(be16_at(p + 128 + 64 + 60), 2);
	CHECK_EQ(be16_at(p + 60), 0);
	fixture_free();
}

TEST(an_arm_is_good_for_one_event)
{
	open_cq();
	CHECK(post(0, false));
	CHECK_EQ(events(), 0); /* not armed */
	fixture_poll(cq);
	fixture_arm(cq, 0, false);
	CHECK_EQ(events(), 0);
	CHECK(post(1, false));
	CHECK_EQ(events(), 1);
	CHECK(post(2, false));
	CHECK_EQ(events(), 1);
	/* An arm that carries the number of the one before is void. */
	fixture_arm(cq, 0, false);
	CHECK_EQ(events(), 1);
	/* Something is there that the driver has not seen: at once. */
	fixture_arm(cq, 1, false);
	CHECK_EQ(events(), 2);
	fixture_free();
}

TEST(solicited_only)
{
	const struct completion error = { .opcode = MLX5_CQE_REQ_ERR, .syndrome = 5 };

	open_cq();
	fixture_arm(cq, 0, true);
	CHECK(post(0, false));
	CHECK_EQ(events(), 0);
	CHECK(post(1, true));
	CHECK_EQ(events(), 1);
	fixture_poll(cq);
	fixture_poll(cq);
	CHECK(post(2, false));
	fixture_arm(cq, 1, true); /* what is there is not solicited */
	CHECK_EQ(events(), 1);
	CHECK(cq_post(&cq->cq, &error)); /* errors are, always */
	CHECK_EQ(events(), 2);
	fixture_free();
}

/* Three at a time, or those that have come when the first is so old. */
TEST(moderated_events)
{
	open_cq();
	cq_moderate(&cq->cq, 3, 100);
	fixture_arm(cq, 0, false);
	CHECK(post(0, false));
	CHECK(post(1, false));
	CHECK_EQ(events(), 0);
	CHECK(post(2, false));
	CHECK_EQ(events(), 1);
	while (fixture_poll(cq))
		;

	fixture_arm(cq, 1, false);
	CHECK(post(3, false));
	loop_clock_advance(fix.loop, 99000);
	CHECK(loop_turn(fix.loop, 0) >= 0);
	CHECK_EQ(events(), 1);
	loop_clock_advance(fix.loop, 1000);
	CHECK(loop_turn(fix.loop, 0) >= 0);
	CHECK_EQ(events(), 2);

	/* What is there before the arm is waited for, too; and no longer when there is no moderation any more. */
	CHECK(post(4, false));
	fixture_arm(cq, 2, false);
	CHECK_EQ(events(), 2);
	cq_moderate(&cq->cq, 0, 0);
	CHECK_EQ(events(), 3);
	while (fixture_poll(cq))
		;

	/* By count alone. */
	cq_moderate(&cq->cq, 2, 0);
	fixture_arm(cq, 3, false);
	CHECK(post(5, false));
	loop_clock_advance(fix.loop, 1000000000);
	CHECK(loop_turn(fix.loop, 0) >= 0);
	CHECK_EQ(events(), 3);
	CHECK(post(6, false));
	CHECK_EQ(events(), 4);
	fixture_free();
}

TEST(doorbells_of_others)
{
	struct hca *hca;

	open_cq();
	hca = fix.side[0].hca;
	CHECK(!cq_doorbell(hca, FIXTURE_UAR + 1, 0, cq->cq.obj.id));
	CHECK(!cq_doorbell(hca, FIXTURE_UAR, 0, cq->cq.obj.id + 1));
	CHECK(post(0, false));
	CHECK_EQ(events(), 0);
	fixture_free();
}

TEST(overrun)
{
	open_cq();
	for (uint16_t i = 0; i < 4; i++)
		CHECK(post(i, false));
	CHECK(!post(4, false));
	CHECK_EQ(fixture_events(&fix.side[0], 4), 1);
	CHECK(!post(5, false));
	CHECK_EQ(fixture_events(&fix.side[0], 4), 1);
	/* The driver reads what is there. */
	for (unsigned int i = 0; i < 4; i++)
		CHECK(fixture_poll(cq));
	CHECK(!post(6, false));
	fixture_free();

	open_cq();
	cq->cq.ignore_overrun = true;
	for (uint16_t i = 0; i < 9; i++)
		CHECK(post(i, false));
	fixture_free();
}

/* The next CQE in a buffer of 2^log_size CQEs, if it is there; as a driver finds it. */
static const struct mlx5_cqe64 *next_in(struct wqbuf *buf, uint8_t log_size)
{
	const uint8_t *p = fixture_wq(&fix.side[0], buf, (cq->ci & ((1u << log_size) - 1)) * 64);

	if (p[63] >> 4 == 0xf || (p[63] & 1) != (cq->ci >> log_size & 1))
		return NULL;
	return (const struct mlx5_cqe64 *)p;
}

static void new_buffer(struct wqbuf *buf, uint8_t log_size)
{
	fixture_buf(&fix.side[0], buf, 64u << log_size);
	for (uint32_t i = 0; i < 1u << log_size; i++)
		fixture_wq(&fix.side[0], buf, i * 64u)[63] = 0xf1;
}

/* What waits, and the CQE that ends the old buffer, are there; the next one is in the new buffer. */
static void resize_to(uint8_t log_size)
{
	const struct mlx5_cqe64 *cqe;
	struct wqbuf buf;

	open_cq();
	for (uint16_t i = 0; i < 5; i++) {
		CHECK(post(i, false));
		CHECK(fixture_poll(cq));
	}
	fixture_arm(cq, 0, false);
	CHECK(post(5, false));
	CHECK_EQ(events(), 1);

	new_buffer(&buf, log_size);
	REQUIRE(cq_resize(&cq->cq, &buf, log_size) == CQ_RESIZED);
	cqe = next_in(&buf, 2);
	REQUIRE(cqe);
	CHECK_EQ(be16toh(cqe->wqe_counter), 5);
	cq->ci++;
	cqe = next_in(&buf, 2);
	REQUIRE(cqe);
	CHECK_EQ(cqe->op_own >> 4, MLX5_CQE_RESIZE_CQ);
	cq->ci++;
	put_be32(fixture_at(&fix.side[0], cq->cq.dbr), cq->ci);
	CHECK(!next_in(&cq->cq.buf, log_size));
	CHECK_EQ(events(), 1);
	CHECK(post(6, false));
	cqe = next_in(&cq->cq.buf, log_size);
	REQUIRE(cqe);
	CHECK_EQ(be16toh(cqe->wqe_counter), 6);
	wqbuf_fini(&buf);
	fixture_free();
}

TEST(a_larger_and_a_smaller_buffer)
{
	resize_to(4);
	resize_to(1);
}

TEST(no_other_buffer)
{
	struct wqbuf buf;
	uint64_t *pages;

	open_cq();
	new_buffer(&buf, 1);
	pages = buf.pages;
	CHECK(post(0, false));
	CHECK(post(1, false));
	CHECK_EQ(cq_resize(&cq->cq, &buf, 1), CQ_RESIZE_SMALL);
	CHECK(post(2, false));
	CHECK(post(3, false));
	CHECK_EQ(cq_resize(&cq->cq, &buf, 4), CQ_RESIZE_FULL);
	CHECK_EQ(cq->cq.pi, 4);
	cq->cq.error = true;
	CHECK_EQ(cq_resize(&cq->cq, &buf, 4), CQ_RESIZE_ERROR);
	cq->cq.error = false;
	CHECK_EQ(dma_unmap(fix.side[0].hca->dma, FIXTURE_IOVA, FIXTURE_MEMORY), 0);
	CHECK_EQ(cq_resize(&cq->cq, &buf, 4), CQ_RESIZE_ERROR);
	CHECK(buf.pages == pages);
	wqbuf_fini(&buf);
	fixture_free();
}

TEST(memory_gone)
{
	open_cq();
	CHECK_EQ(dma_unmap(fix.side[0].hca->dma, FIXTURE_IOVA, FIXTURE_MEMORY), 0);
	CHECK(!post(0, false));
	CHECK(cq->cq.error);
	fixture_free();
}
