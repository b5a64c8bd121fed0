// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The command queue. An entry (struct mlx5_cmd_layout in linux/mlx5/device.h) holds the first 16
 * bytes of input and output; the rest is in chains of mailboxes (struct mlx5_cmd_prot_block).
 * What is malformed is answered by a delivery status, and the command is not carried out.
 */
#include <stdlib.h>

#include "bus/dma.h"
#include "container.h"
#include "firmware/cmd_run.h"
#include "firmware/cmdq.h"
#include "objects/eq.h"

#define ENTRIES (1u << CMDQ_LOG_SIZE)
#define ENTRY_SIZE (1u << CMDQ_LOG_STRIDE)
#define ENTRY_TYPE_PCI 7 /* MLX5_PCI_CMD_XPORT */
#define INLINE_LEN 16u

/* Longest input: the page list of a 4 GiB memory key, in 4 KiB pages, and some. */
#define LEN_MAX (12u << 20)
#define LEN_MIN 8u

/* Offsets in an entry. */
enum {
	ENTRY_TYPE = 0x0,
	ENTRY_IN_LEN = 0x4,
	ENTRY_IN_PTR = 0x8,
	ENTRY_IN = 0x10,
	ENTRY_OUT = 0x20,
	ENTRY_OUT_PTR = 0x30,
	ENTRY_OUT_LEN = 0x38,
	ENTRY_TOKEN = 0x3c,
	ENTRY_STATUS_OWN = 0x3f,
};
#define OWNER_HW 1u

/* Offsets in a mailbox. */
enum { BOX_NEXT = 0x230, BOX_NUMBER = 0x238, BOX_TOKEN = 0x23d, BOX_SIZE = 0x240 };
#define BOX_DATA 512u
#define BOX_ALIGN 512u

/* MLX5_CMD_DELIVERY_STAT_* */
enum delivery {
	DELIVERY_OK = 0x0,
	DELIVERY_BAD_TOKEN = 0x2,
	DELIVERY_BAD_BLOCK = 0x3,
	DELIVERY_OUT_ALIGN = 0x4,
	DELIVERY_IN_ALIGN = 0x5,
	DELIVERY_FW_ERROR = 0x6,
	DELIVERY_IN_LENGTH = 0x7,
	DELIVERY_OUT_LENGTH = 0x8,
	DELIVERY_BAD_TYPE = 0x10,
};

struct cmdq {
	struct hca *hca;
	struct loop_work work;
	uint64_t address; /* 0: none */
	uint32_t pending; /* entries handed over and not yet looked at */
};

/* Where the rest of an input or an output is. */
struct chain {
	uint64_t first;
	uint32_t len; /* of all, the inline part included */
	uint8_t token;
	enum delivery misaligned;
};

/*
 * Copies between data and the mailboxes of a chain, block by block. The chain is as long as the
 * length says, so a circular one ends as well.
 */
static enum delivery chain_copy(struct dma_space *dma, const struct chain *chain, uint8_t *data,
				bool to_machine)
{
	uint64_t at = chain->first;
	uint32_t number = 0;

	for (uint32_t pos = INLINE_LEN; pos < chain->len; pos += BOX_DATA, number++) {
		uint32_t n = chain->len - pos < BOX_DATA ? chain->len - pos : BOX_DATA;
		uint8_t control[BOX_SIZE - BOX_DATA];
		int ret;

		if (!at || at % BOX_ALIGN)
			return chain->misaligned;
		if (dma_read(dma, at + BOX_DATA, control, sizeof(control)))
			return DELIVERY_FW_ERROR;
		if (be32_at(control + (BOX_NUMBER - BOX_DATA)) != number)
			return DELIVERY_BAD_BLOCK;
		if (control[BOX_TOKEN - BOX_DATA] != chain->token)
			return DELIVERY_BAD_TOKEN;
		ret = to_machine ? dma_write(dma, at, data + pos, n) :
				   dma_read(dma, at, data + pos, n);
		if (ret)
			return DELIVERY_FW_ERROR;
		at = be64_at(control + (BOX_NEXT - BOX_DATA));
	}
	return DELIVERY_OK;
}

static enum delivery check_entry(const uint8_t *entry, const struct chain *in,
				 const struct chain *out)
{
	if (entry[ENTRY_TYPE] != ENTRY_TYPE_PCI)
		return DELIVERY_BAD_TYPE;
	if (in->len < LEN_MIN || in->len > LEN_MAX)
		return DELIVERY_IN_LENGTH;
	if (out->len < LEN_MIN || out->len > LEN_MAX)
		return DELIVERY_OUT_LENGTH;
	return DELIVERY_OK;
}

static uint32_t room(uint32_t len)
{
	return len < CMD_ROOM ? CMD_ROOM : len;
}

/* Carries out one entry. Whatever happens, the answer's inline part is left in entry. */
static enum delivery run_entry(struct cmdq *q, uint8_t *entry)
{
	struct chain in = {
		.first = be64_at(entry + ENTRY_IN_PTR),
		.len = be32_at(entry + ENTRY_IN_LEN),
		.token = entry[ENTRY_TOKEN],
		.misaligned = DELIVERY_IN_ALIGN,
	};
	struct chain out = {
		.first = be64_at(entry + ENTRY_OUT_PTR),
		.len = be32_at(entry + ENTRY_OUT_LEN),
		.token = entry[ENTRY_TOKEN],
		.misaligned = DELIVERY_OUT_ALIGN,
	};
	enum delivery ret = check_entry(entry, &in, &out);
	uint8_t *in_data, *out_data;

	if (ret)
		return ret;
	in_data = calloc(1, room(in.len));
	out_data = calloc(1, room(out.len));
	if (!in_data || !out_data) {
		ret = DELIVERY_FW_ERROR;
		goto out_free;
	}
	memcpy(in_data, entry + ENTRY_IN, INLINE_LEN);
	ret = chain_copy(q->hca->dma, &in, in_data, false);
	if (ret)
		goto out_free;
	cmd_run(q->hca, in_data, in.len, out_data, out.len);
	memcpy(entry + ENTRY_OUT, out_data, INLINE_LEN);
	ret = chain_copy(q->hca->dma, &out, out_data, true);

out_free:
	free(out_data);
	free(in_data);
	return ret;
}

#define EVENT_COMMAND MLX5_EVENT_TYPE_CODING_COMMAND_INTERFACE_COMPLETION

/* Hands the entry back: the output first, the ownership last; then the event, if it is awaited. */
static void answer(struct cmdq *q, unsigned int slot, const uint8_t *entry, enum delivery status,
		   bool event)
{
	uint64_t at = q->address + slot * ENTRY_SIZE;
	uint8_t vector[4];
	uint8_t *own;

	if (dma_write(q->hca->dma, at + ENTRY_OUT, entry + ENTRY_OUT, INLINE_LEN))
		return;
	own = dma_ptr(q->hca->dma, at + ENTRY_STATUS_OWN, 1, DMA_PROT_WRITE);
	if (!own)
		return;
	__atomic_store_n(own, (uint8_t)(status << 1), __ATOMIC_RELEASE);
	if (!event)
		return;
	put_be32(vector, 1u << slot);
	eq_post_async(q->hca, EVENT_COMMAND, 0, vector, sizeof(vector));
}

static void run_slot(struct cmdq *q, unsigned int slot)
{
	struct hca *hca = q->hca;
	uint8_t entry[ENTRY_SIZE];
	enum delivery status;
	bool event;

	if (dma_read(hca->dma, q->address + slot * ENTRY_SIZE, entry, sizeof(entry))) {
		hca_log(hca, HCA_LOG_GUEST, "the command queue is not in memory");
		return;
	}
	if (!(entry[ENTRY_STATUS_OWN] & OWNER_HW)) {
		hca_log(hca, HCA_LOG_GUEST,
			"doorbell for command entry %u, which is not handed over", slot);
		return;
	}
	/* The driver polls for the command that makes the EQ for commands: no event in that one. */
	event = eq_wanted(hca, EVENT_COMMAND);
	hca->stats.commands++;
	status = run_entry(q, entry);
	if (status) {
		hca->stats.commands_failed++;
		hca_log(hca, HCA_LOG_GUEST, "command entry %u: delivery status 0x%x", slot, status);
	}
	if (q->address) /* the command may have been the one that ends it all */
		answer(q, slot, entry, status, event);
}

/* One command for each turn of the loop: a long one does not hold up register reads of others. */
static void cmdq_work(struct loop_work *work)
{
	struct cmdq *q = container_of(work, struct cmdq, work);
	unsigned int slot;

	if (!q->pending || !q->address)
		return;
	slot = (unsigned int)__builtin_ctz(q->pending);
	q->pending &= q->pending - 1;
	run_slot(q, slot);
	if (q->pending)
		loop_work_queue(q->hca->loop, &q->work);
}

struct cmdq *cmdq_new(struct hca *hca)
{
	struct cmdq *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->hca = hca;
	q->work.handler = cmdq_work;
	return q;
}

void cmdq_free(struct cmdq *q)
{
	if (!q)
		return;
	loop_work_cancel(&q->work);
	free(q);
}

void cmdq_set_address(struct hca *hca, uint64_t address)
{
	struct cmdq *q = hca->cmdq;

	loop_work_cancel(&q->work);
	q->pending = 0;
	q->address = address;
}

void cmdq_doorbell(struct hca *hca, uint32_t vector)
{
	struct cmdq *q = hca->cmdq;

	if (!q->address) {
		hca_log(hca, HCA_LOG_GUEST, "command doorbell without a command queue");
		return;
	}
	q->pending |= vector;
	if (q->pending)
		loop_work_queue(hca->loop, &q->work);
}
