// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands, as a hostile driver gives them. An input is a list of steps on a function that has
 * some objects of each kind: commands that would be right but for the bytes which the input changes,
 * so that they get deep into their functions; entries of the command queue made of raw bytes;
 * registers and doorbells; work requests to the function's own QPs, all of which may be destroyed
 * while they are under way; memory that changes; resets, faults.
 *
 * All inputs are given to one function, as making one takes longer than most inputs do. It is reset
 * after each of them, which must leave nothing behind: what is found is found by that input alone.
 */
#include "bus/dma.h"
#include "engine/fabric.h"
#include "fill.h"
#include "firmware/caps.h"
#include "firmware/cmdq.h"
#include "objects/qp.h"
#include "objects/srq.h"
#include "objects/uar.h"
#include "twice.h"

#define IN_MAX 4096u
#define STEPS_MAX 48
#define CHANGES_MAX 6
#define LENGTHS 0xfffu /* of entries of the queue: twice what is in the mailboxes */

static uint8_t out[CMD_ROOM];
static struct loop *loop;
static struct fabric *fabric;
static struct hca fresh; /* what it is at power-on */
static const struct cmd_desc *commands[256];
static unsigned int n_commands;

static void need(bool ok)
{
	if (!ok)
		abort();
}

static void msix(struct hca *h, unsigned int vector)
{
	need(h == hca && vector < HCA_MSIX_VECTORS);
}

/* What is filled in has its length, and all of it is 0 again afterwards. */
static void run(const struct cmd_desc *d, uint32_t len)
{
	put_be16(in, d->opcode);
	memset(out, 0, sizeof(out));
	cmd_run(hca, in, len, out, d->out_min > 4096 ? d->out_min : 4096);
	memset(in, 0, len);
}

/* As MANAGE_PAGES would have done, which compares all with all. */
static void give_pages(void)
{
	uint64_t *list = malloc(FW_PAGES * sizeof(*list));

	need(list && !hca->fw_pages.addresses);
	for (unsigned int i = 0; i < FW_PAGES; i++)
		list[i] = page(PAGE_FW + i);
	hca->fw_pages.addresses = list;
	hca->fw_pages.count = FW_PAGES;
}

/* All are right, and so is what they are filled in from: or nothing that follows would get anywhere. */
static void set_up(void)
{
	static const struct {
		uint16_t opcode;
		uint8_t input[8];
	} first[] = {
		{ MLX5_CMD_OP_ENABLE_HCA, { 0 } },
		{ MLX5_CMD_OP_INIT_HCA, { 0 } },
		{ MLX5_CMD_OP_CREATE_UCTX, { 0 } },
		{ MLX5_CMD_OP_ALLOC_UAR, { 0 } },
		{ MLX5_CMD_OP_ALLOC_PD, { 0 } },
		{ MLX5_CMD_OP_ALLOC_XRCD, { 0 } },
		{ MLX5_CMD_OP_CREATE_EQ, { 0 } },
		{ MLX5_CMD_OP_CREATE_CQ, { 0 } },
		{ MLX5_CMD_OP_CREATE_MKEY, { 0 } },
		{ MLX5_CMD_OP_CREATE_RMP, { 0 } },
		{ MLX5_CMD_OP_CREATE_XRC_SRQ, { 0 } },
		{ MLX5_CMD_OP_CREATE_QP, { 0 } },
		/* A second QP, with a UAR, a PD, two CQs and an SRQ that it has to itself. */
		{ MLX5_CMD_OP_ALLOC_UAR, { 0 } },
		{ MLX5_CMD_OP_ALLOC_PD, { 0 } },
		{ MLX5_CMD_OP_CREATE_CQ, { 0 } },
		{ MLX5_CMD_OP_CREATE_CQ, { 0 } },
		{ MLX5_CMD_OP_CREATE_RMP, { 1 } },
		{ MLX5_CMD_OP_CREATE_MKEY, { 1 } },
		{ MLX5_CMD_OP_CREATE_QP, { 0, 1, 1, 1, 2, 1, 2, 0 } },
	};

	memset(memory, 0, sizeof(memory));
	hca->bar.nic_interface = MLX5_INITIAL_SEG_NIC_INTERFACE_FULL_DRIVER;
	cmdq_set_address(hca, page(PAGE_CMDQ));
	give_pages();
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		rest = first[i].input;
		left = sizeof(first[i].input);
		run(cmd_find(first[i].opcode), fill(first[i].opcode));
		need(!out[0]);
	}
}

static uint32_t reg(uint32_t off)
{
	uint8_t word[4];

	hca_bar_read(hca, off, word, sizeof(word));
	return be32_at(word);
}

/* There is no command queue, no driver has announced itself, and the health buffer asks for nothing. */
static void check_registers(void)
{
	need(!reg(0x10) && reg(0x14) == (MLX5_INITIAL_SEG_NIC_INTERFACE_DISABLED << 8 |
					 CMDQ_LOG_SIZE << 4 | CMDQ_LOG_STRIDE));
	need(!(reg(0x1fc) >> 31) && !reg(0x238) && !reg(0x23c));
}

/* What the driver has chosen of the capabilities is all that there is again. */
static void check_caps(void)
{
	static const enum caps_type types[] = { CAPS_GENERAL, CAPS_ODP, CAPS_ATOMIC };
	static uint8_t now[4096], max[4096];

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		need(!caps_query(hca->caps, types[i], true, now, sizeof(now)));
		need(!caps_query(hca->caps, types[i], false, max, sizeof(max)));
		need(!memcmp(now, max, sizeof(now)));
	}
}

/* Takes the function back to power-on, and makes sure that it is there. */
static void start_over(void)
{
	memset(&hca->faults, 0, sizeof(hca->faults));
	hca_reset(hca);
	memset(&hca->stats, 0, sizeof(hca->stats));
	port_clear_counters(hca);
	dma_enable(hca->dma, true);
	for (unsigned int i = 0; i < OBJ_TYPES; i++)
		need(obj_table_restart(hca->objs[i]));
	need(fabric_restart(fabric));
	need(loop_restart(loop));
	loop_clock_advance(loop, 1000000000);
	need(!memcmp(hca, &fresh, sizeof(fresh)));
	check_registers();
	check_caps();
}

static void step_command(void)
{
	const struct cmd_desc *d = commands[take8() % n_commands];
	unsigned int changes = take8() % CHANGES_MAX;
	uint32_t len = fill(d->opcode);

	if (take8() & 1)
		put_be16(in + 2, (uint16_t)pick(OBJ_UCTX));
	while (changes--) {
		uint32_t at = take16() % (len < IN_MAX ? len : IN_MAX);

		in[at] = take8();
	}
	run(d, len);
}

/* An entry of the queue and its mailboxes, of which any byte may be wrong. */
static void step_entry(void)
{
	unsigned int slot = take8() & 31, changes = take8() % CHANGES_MAX;
	uint8_t *entry = memory + PAGE_CMDQ * 4096 + slot * 64;
	uint8_t *box = memory + PAGE_BOXES * 4096;
	uint8_t doorbell[4];

	entry[0] = 7;
	put_be32(entry + 4, take16() & LENGTHS);
	put_be64(entry + 8, page(PAGE_BOXES));
	put_be16(entry + 16, commands[take8() % n_commands]->opcode);
	put_be64(entry + 48, page(PAGE_BOXES) + 2 * 1024);
	put_be32(entry + 56, take16() & LENGTHS);
	entry[63] = 1;
	for (unsigned int i = 0; i < 4; i++) {
		put_be64(box + i * 1024 + 560, page(PAGE_BOXES) + (i + 1) * 1024);
		put_be32(box + i * 1024 + 568, i & 1);
	}
	while (changes--) {
		uint16_t at = take16();

		if (at & 0x8000)
			entry[at & 63] = take8();
		else
			box[at & 4095] = take8();
	}
	put_be32(doorbell, 1u << slot);
	hca_bar_write(hca, 0x18, doorbell, sizeof(doorbell));
	loop_turn(loop, 0);
}

static void step_doorbell(void)
{
	static const uint16_t offsets[] = { 0x20, 0x40, 0x48, 0x800, 0x900 };
	uint8_t data[8];
	uint8_t kind = take8() % 6;
	uint32_t off = kind < 5 ? offsets[kind] : take16() & 0xfff;

	put_be32(data, take32());
	put_be32(data + 4, take32());
	if (kind == 0)
		put_be32(data + 4, pick(OBJ_CQ));
	else if (kind < 3)
		data[0] = (uint8_t)pick(OBJ_EQ);
	else if (kind < 5)
		put_be32(data + 4, pick(OBJ_QP) << 8);
	hca_bar_write(hca, pick(OBJ_UAR) * 4096ull + off, data, take8() & 1 ? 4 : 8);
}

/* From a buffer of just that length. */
static void step_read(void)
{
	uint8_t len = take8() & 63;
	uint32_t off = take16() & 0x1fff;
	uint8_t *buf = malloc(len);

	need(buf || !len);
	hca_bar_read(hca, off, buf, len);
	free(buf);
}

/* A QP on the way to its work: what else there is to be set is for step_command(). */
static void step_connect(void)
{
	static const uint16_t way[] = { MLX5_CMD_OP_RST2INIT_QP, MLX5_CMD_OP_INIT2RTR_QP,
					MLX5_CMD_OP_RTR2RTS_QP };

	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++)
		run(cmd_find(way[i]), fill(way[i]));
}

static void put_sge(uint8_t *at)
{
	put_be32(at, take16() & 0x1fff);
	put_be32(at + 4, pick(OBJ_MKEY) << 8);
	put_be64(at + 8, take16() & 0x7fff);
}

/* Returns the length of a WQE that has all that its opcode asks for, datagrams excepted. */
static uint32_t put_wqe(uint8_t *wqe, const struct qp *qp, uint16_t index)
{
	static const uint8_t opcodes[] = { 0x00, 0x08, 0x09, 0x0a, 0x0b, 0x10, 0x11, 0x12 };
	uint8_t opcode = opcodes[take8() & 7];
	uint32_t at = 16;

	if (qp->transport == QP_XRC_INI) {
		put_be32(wqe + at, pick(OBJ_SRQ));
		at += 16;
	}
	if (opcode && opcode != 0x0a && opcode != 0x0b) {
		put_be64(wqe + at, take16() & 0x7fff);
		put_be32(wqe + at + 8, pick(OBJ_MKEY) << 8);
		at += 16;
	}
	if (opcode == 0x11 || opcode == 0x12)
		at += 16;
	put_sge(wqe + at);
	at += 16;
	put_be32(wqe, (uint32_t)index << 8 | opcode);
	put_be32(wqe + 4, qp->obj.id << 8 | at / 16);
	wqe[11] = take8();
	return at;
}

/* A queue that has wrapped may be overwritten: the driver is hostile. */
static void post_send(struct qp *qp)
{
	uint8_t wqe[128] = { 0 }, record[4], doorbell[8] = { 0 };
	struct qp_counters c;
	uint32_t len;

	qp_engine_counters(qp, &c);
	len = put_wqe(wqe, qp, c.hw_sq);
	wqbuf_write(&qp->buf, hca->dma,
		    qp->sq_offset + (uint64_t)(c.hw_sq % (1u << qp->log_sq_size)) * 64, wqe, len);
	put_be32(record, c.hw_sq + (len + 63) / 64);
	dma_write(hca->dma, qp->dbr + 4, record, sizeof(record));
	put_be32(doorbell + 4, qp->obj.id << 8);
	hca_bar_write(hca, qp->uar->obj.id * 4096ull + 0x800, doorbell, sizeof(doorbell));
}

static void post_recv(struct qp *qp)
{
	uint8_t wqe[32] = { 0 }, record[4];
	struct srq *srq = qp->srq;
	struct qp_counters c;

	if (srq) {
		put_be16(wqe + 2, (uint16_t)((srq->head + 1) % (1u << srq->log_size)));
		put_sge(wqe + 16);
		wqbuf_write(&srq->buf, hca->dma, (uint64_t)srq->head << srq->log_stride, wqe,
			    sizeof(wqe));
		put_be32(record, srq->taken + 1u);
		dma_write(hca->dma, srq->dbr, record, sizeof(record));
		return;
	}
	qp_engine_counters(qp, &c);
	put_sge(wqe);
	put_be32(wqe + 16 + 4, 0x100);
	wqbuf_write(&qp->buf, hca->dma,
		    (uint64_t)(c.hw_rq % (1u << qp->log_rq_size)) * (16u << qp->log_rq_stride), wqe,
		    sizeof(wqe));
	put_be32(record, c.hw_rq + 1u);
	dma_write(hca->dma, qp->dbr, record, sizeof(record));
}

static void step_post(void)
{
	struct qp *qp = (struct qp *)obj_find(hca->objs[OBJ_QP], pick(OBJ_QP));
	bool receive = take8() & 1;

	if (qp && receive && (qp->has_rq || qp->srq))
		post_recv(qp);
	if (qp && !receive && qp->has_sq)
		post_send(qp);
	for (unsigned int n = take8() & 7; n; n--)
		loop_turn(loop, 0);
}

static void step_memory(void)
{
	uint32_t at = (take8() << 12 | (take16() & 0xfff)) % MEMORY_SIZE;

	for (unsigned int n = take8() & 31; n && at < MEMORY_SIZE; n--)
		memory[at++] = take8();
}

/* What the control socket can ask for. */
static void step_fault(void)
{
	uint8_t what = take8();

	switch (what >> 6) {
	case 0:
		hca_set_fatal(hca, what & 1);
		break;
	case 1:
		hca->faults.command[what % HCA_FAULT_COMMANDS].opcode =
			commands[take8() % n_commands]->opcode;
		hca->faults.command[what % HCA_FAULT_COMMANDS].status = CMD_NO_RES;
		hca->faults.command[what % HCA_FAULT_COMMANDS].count = 1;
		break;
	default:
		hca_set_link(hca, what & 1);
		break;
	}
}

static void step(void)
{
	switch (take8() % 20) {
	case 0:
		step_entry();
		break;
	case 1:
		step_doorbell();
		break;
	case 2:
		step_memory();
		break;
	case 3:
		loop_clock_advance(loop, take32());
		loop_turn(loop, 0);
		break;
	case 4:
		if (!take8())
			hca_reset(hca);
		break;
	case 5:
		step_fault();
		break;
	case 6:
		dma_enable(hca->dma, take8() & 7);
		break;
	case 7:
		step_read();
		break;
	case 8:
		step_connect();
		break;
	case 9:
	case 10:
		step_post();
		break;
	default:
		step_command();
		break;
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct cmd_desc *const tables[] = {
		cmd_table_hca, cmd_table_res, cmd_table_mkey, cmd_table_eq,   cmd_table_cq,
		cmd_table_srq, cmd_table_qp,  cmd_table_mcg,  cmd_table_port,
	};

	(void)argc;
	(void)argv;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct cmd_desc *d = tables[i]; d->opcode; d++)
			commands[n_commands++] = d;
	hca_log_level = HCA_LOG_GUEST;
	need(!hca_log_open("/dev/null"));
	loop = loop_new();
	fabric = loop ? fabric_new(loop) : NULL;
	hca = fabric ? hca_new(loop, fabric, 0) : NULL;
	need(hca);
	for (unsigned int i = 0; i < COPIES; i++)
		need(!dma_map_memory(hca->dma, IOVA + i * MEMORY_SIZE, MEMORY_SIZE, memory,
				     DMA_PROT_READ | DMA_PROT_WRITE));
	hca->msix = msix;
	memcpy(&fresh, hca, sizeof(fresh));
	start_over();
	return 0;
}

static uint64_t outcome(void)
{
	uint64_t s = sum(SUM_START, memory, sizeof(memory));

	return sum(sum(s, &hca->stats, sizeof(hca->stats)), out, sizeof(out));
}

static uint64_t give(const uint8_t *data, size_t size, bool ask)
{
	uint64_t result;

	set_up();
	rest = data;
	left = size;
	for (unsigned int i = 0; left && i < STEPS_MAX; i++)
		step();
	for (unsigned int i = 0; i < 4; i++)
		loop_turn(loop, 0);
	result = ask ? outcome() : 0;
	start_over();
	return result;
}
