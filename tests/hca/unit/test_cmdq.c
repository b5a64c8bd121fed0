// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The command queue as the driver sees it: entries, mailboxes, delivery, completion events. */
#include "unit.h"

#include "driver.h"
#include "firmware/cmdq.h"
#include "objects/eq.h"

#define SLOT_SIZE 64u
#define BOX_STRIDE 1024u
#define BOX_DATA 512u
#define BOXES 8u
#define TOKEN 0x3c

/* Delivery status, as deliv_status_to_str() of the driver names them. */
enum {
	DELIVERED = 0,
	TOKEN_ERR = 2,
	BLOCK_ERR = 3,
	OUT_ALIGN_ERR = 4,
	IN_ALIGN_ERR = 5,
	FW_ERR = 6,
	IN_LENGTH_ERR = 7,
	OUT_LENGTH_ERR = 8,
	DESCR_ERR = 0x10
};
#define STILL_OWNED 0xff

static uint64_t queue, in_boxes, out_boxes;

static uint8_t *slot(unsigned int i)
{
	return drv_at(queue) + i * SLOT_SIZE;
}

static uint8_t *box(uint64_t chain, unsigned int i)
{
	return drv_at(chain) + i * BOX_STRIDE;
}

static void chain_init(uint64_t chain)
{
	for (unsigned int i = 0; i < BOXES; i++) {
		memset(box(chain, i), 0, BOX_STRIDE);
		if (i + 1 < BOXES)
			put_be64(box(chain, i) + 0x230, chain + (i + 1) * BOX_STRIDE);
		put_be32(box(chain, i) + 0x238, i);
		box(chain, i)[0x23d] = TOKEN;
	}
}

static void begin(void)
{
	drv_start();
	queue = drv_alloc(DRV_PAGE);
	in_boxes = drv_alloc(BOXES * BOX_STRIDE);
	out_boxes = drv_alloc(BOXES * BOX_STRIDE);
	chain_init(in_boxes);
	chain_init(out_boxes);
	cmdq_set_address(drv.hca, queue);
}

/* Puts the command in drv.in into an entry, as the driver does. */
static uint8_t *prepare(unsigned int i)
{
	uint8_t *e = slot(i);

	memset(e, 0, SLOT_SIZE);
	e[0] = 7;
	put_be32(e + 4, drv.in_len);
	memcpy(e + 16, drv.in, 16);
	put_be32(e + 56, drv.out_len);
	e[60] = TOKEN;
	e[63] = 1;
	if (drv.in_len > 16)
		put_be64(e + 8, in_boxes);
	if (drv.out_len > 16)
		put_be64(e + 48, out_boxes);
	for (uint32_t at = 16, b = 0; at < drv.in_len && b < BOXES; at += BOX_DATA, b++)
		memcpy(box(in_boxes, b), drv.in + at, BOX_DATA);
	return e;
}

/* Rings, and returns the delivery status; the output is in drv.out. */
static unsigned int ring(unsigned int i)
{
	uint8_t *e = slot(i);

	cmdq_doorbell(drv.hca, 1u << i);
	CHECK_EQ(e[63] & 1, 1); /* not within the doorbell */
	while (loop_turn(drv.loop, 0) > 0)
		;
	if (e[63] & 1)
		return STILL_OWNED;
	memset(drv.out, 0, sizeof(drv.out));
	memcpy(drv.out, e + 32, 16);
	for (uint32_t at = 16, b = 0; at < drv.out_len && b < BOXES; at += BOX_DATA, b++)
		memcpy(drv.out + at, box(out_boxes, b), BOX_DATA);
	return e[63] >> 1;
}

TEST(a_command_without_mailboxes)
{
	begin();
	drv_begin(alloc_pd, ALLOC_PD);
	prepare(3);
	CHECK_EQ(ring(3), DELIVERED);
	CHECK_EQ(drv.out[0], CMD_OK);
	CHECK(obj_find(drv.hca->objs[OBJ_PD], OUT(alloc_pd, pd)) != NULL);
	drv_stop();
}

TEST(input_and_output_in_mailboxes)
{
	uint32_t pd, key;

	begin();
	pd = drv_pd(0);
	drv_mkey_begin(pd, 64 * DRV_PAGE); /* 272 + 512 bytes: two mailboxes */
	prepare(0);
	CHECK_EQ(ring(0), DELIVERED);
	CHECK_EQ(drv.out[0], CMD_OK);
	key = OUT(create_mkey, mkey_index);
	drv_begin(query_mkey, QUERY_MKEY);
	IN(query_mkey, mkey_index, key);
	prepare(1);
	CHECK_EQ(ring(1), DELIVERED);
	CHECK_EQ(OUT(query_mkey, memory_key_mkey_entry.pd), pd);
	CHECK_EQ(OUT(query_mkey, memory_key_mkey_entry.len), 64 * DRV_PAGE);
	drv_stop();
}

TEST(several_at_once)
{
	begin();
	for (unsigned int i = 0; i < 32; i++) {
		drv_begin(alloc_pd, ALLOC_PD);
		prepare(i);
	}
	cmdq_doorbell(drv.hca, 0xfffffffe);
	cmdq_doorbell(drv.hca, 1);
	while (loop_turn(drv.loop, 0) > 0)
		;
	for (unsigned int i = 0; i < 32; i++) {
		CHECK_EQ(slot(i)[63], 0);
		CHECK_EQ(slot(i)[32], CMD_OK);
	}
	CHECK_EQ(obj_count(drv.hca->objs[OBJ_PD]), 32);
	drv_stop();
}

TEST(a_refusal_is_not_a_delivery_error)
{
	begin();
	drv_begin(dealloc_pd, DEALLOC_PD);
	IN(dealloc_pd, pd, 77);
	prepare(0);
	CHECK_EQ(ring(0), DELIVERED);
	CHECK_EQ(drv.out[0], CMD_BAD_RES);
	CHECK(drv_syndrome() != 0);
	drv_begin_len(0xfff, 16, 16);
	prepare(0);
	CHECK_EQ(ring(0), DELIVERED);
	CHECK_EQ(drv.out[0], CMD_BAD_OP);
	CHECK_EQ(drv.hca->stats.commands_failed, 2);
	drv_stop();
}

/* A command with mailboxes on both sides, to be spoilt. */
static uint8_t *query_caps(void)
{
	drv_begin_len(MLX5_CMD_OP_QUERY_HCA_CAP, 600, 16 + 4096);
	drv_mod(1);
	chain_init(in_boxes);
	chain_init(out_boxes);
	return prepare(0);
}

TEST(malformed_entries)
{
	uint8_t *e;

	begin();
	query_caps();
	CHECK_EQ(ring(0), DELIVERED);
	put_be32(query_caps() + 56, 16 + 4097); /* one more than the mailboxes hold */
	CHECK_EQ(ring(0), OUT_ALIGN_ERR);
	query_caps()[0] = 6;
	CHECK_EQ(ring(0), DESCR_ERR);
	e = query_caps();
	put_be32(e + 4, 4);
	CHECK_EQ(ring(0), IN_LENGTH_ERR);
	put_be32(query_caps() + 4, UINT32_MAX);
	CHECK_EQ(ring(0), IN_LENGTH_ERR);
	put_be32(query_caps() + 56, 7);
	CHECK_EQ(ring(0), OUT_LENGTH_ERR);
	put_be32(query_caps() + 56, 1u << 31);
	CHECK_EQ(ring(0), OUT_LENGTH_ERR);
	put_be64(query_caps() + 8, in_boxes + 8);
	CHECK_EQ(ring(0), IN_ALIGN_ERR);
	put_be64(query_caps() + 8, 0);
	CHECK_EQ(ring(0), IN_ALIGN_ERR);
	put_be64(query_caps() + 8, 0x7000000000ull);
	CHECK_EQ(ring(0), FW_ERR);
	query_caps();
	put_be32(slot(0) + 56, 1000);
	box(in_boxes, 1)[0x23d] = TOKEN + 1;
	CHECK_EQ(ring(0), TOKEN_ERR);
	query_caps();
	put_be32(box(in_boxes, 1) + 0x238, 5);
	CHECK_EQ(ring(0), BLOCK_ERR);
	drv_stop();
}

TEST(a_chain_that_bites_its_tail_ends)
{
	begin();
	query_caps();
	put_be32(slot(0) + 4, 8u << 20);
	put_be64(box(in_boxes, 0) + 0x230, in_boxes);
	CHECK_EQ(ring(0), BLOCK_ERR);
	drv_stop();
}

TEST(an_entry_that_was_not_handed_over_is_left_alone)
{
	begin();
	drv_begin(alloc_pd, ALLOC_PD);
	prepare(0)[63] = 0;
	cmdq_doorbell(drv.hca, 1);
	while (loop_turn(drv.loop, 0) > 0)
		;
	CHECK_EQ(slot(0)[63], 0);
	CHECK_EQ(drv.hca->stats.commands, 0);
	CHECK_EQ(obj_count(drv.hca->objs[OBJ_PD]), 0);
	drv_stop();
}

TEST(a_queue_out_of_memory)
{
	begin();
	cmdq_set_address(drv.hca, 0x7000000000ull);
	cmdq_doorbell(drv.hca, 1);
	while (loop_turn(drv.loop, 0) > 0)
		;
	CHECK_EQ(drv.hca->stats.commands, 0);
	cmdq_set_address(drv.hca, 0);
	cmdq_doorbell(drv.hca, 1);
	CHECK_EQ(loop_turn(drv.loop, 0), 0);
	drv_stop();
}

TEST(a_reset_forgets_what_was_rung)
{
	begin();
	drv_begin(alloc_pd, ALLOC_PD);
	prepare(0);
	cmdq_doorbell(drv.hca, 1);
	hca_reset(drv.hca);
	while (loop_turn(drv.loop, 0) > 0)
		;
	CHECK_EQ(slot(0)[63], 1);
	CHECK_EQ(drv.hca->stats.commands, 0);
	drv_stop();
}

#define EVENT_COMMAND 0x0a

static const uint8_t *eqe(uint32_t eqn, unsigned int i)
{
	struct eq *eq = (struct eq *)obj_find(drv.hca->objs[OBJ_EQ], eqn);

	return wqbuf_ptr(&eq->buf, drv.hca->dma, i * 64, 64, DMA_PROT_READ);
}

TEST(completions_are_events_once_there_is_an_eq_for_them)
{
	uint32_t uar, eqn;

	begin();
	uar = drv_uar(0);
	drv_eq_begin(uar, 1ull << EVENT_COMMAND);
	prepare(0);
	CHECK_EQ(ring(0), DELIVERED);
	eqn = OUT(create_eq, eq_number);
	CHECK_EQ(drv.hca->stats.eqes, 0); /* the driver polls for this one */
	drv_begin(alloc_pd, ALLOC_PD);
	prepare(5);
	CHECK_EQ(ring(5), DELIVERED);
	CHECK_EQ(drv.hca->stats.eqes, 1);
	CHECK_EQ(eqe(eqn, 0)[1], EVENT_COMMAND);
	CHECK_EQ(be32_at(eqe(eqn, 0) + 32), 1u << 5);
	CHECK_EQ(eqe(eqn, 0)[63], 0);
	drv_begin(destroy_eq, DESTROY_EQ);
	IN(destroy_eq, eq_number, eqn);
	prepare(6);
	CHECK_EQ(ring(6), DELIVERED);
	CHECK_EQ(drv.out[0], CMD_OK);
	CHECK_EQ(drv.hca->stats.eqes, 1);
	drv_stop();
}

TEST(faults_asked_for)
{
	begin();
	drv.hca->faults.command[2].opcode = MLX5_CMD_OP_ALLOC_PD;
	drv.hca->faults.command[2].status = CMD_LIM;
	drv.hca->faults.command[2].syndrome = 0xfa17;
	drv.hca->faults.command[2].count = 1;
	drv_begin(alloc_pd, ALLOC_PD);
	prepare(0);
	CHECK_EQ(ring(0), DELIVERED);
	CHECK_EQ(drv.out[0], CMD_LIM);
	CHECK_EQ(drv_syndrome(), 0xfa17);
	prepare(0);
	CHECK_EQ(ring(0), DELIVERED);
	CHECK_EQ(drv.out[0], CMD_OK);
	drv_stop();
}
