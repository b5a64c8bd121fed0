// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands, as a hostile driver gives them. An input is a list of steps on a function that has
 * one object of each kind: commands that would be right but for the bytes which the input changes,
 * so that they get deep into their functions; entries of the command queue made of raw bytes;
 * doorbells; memory that changes; resets, faults.
 *
 * All inputs are given to one function, as making one takes longer than most inputs do. It is reset
 * after each of them, which must leave nothing behind: what is found is found by that input alone.
 */
#include <stdlib.h>
#include <string.h>

#include "caps.h"
#include "cmd_run.h"
#include "cmdq.h"
#include "dma.h"
#include "fabric.h"
#include "hca.h"

#define MEMORY_SIZE (16u * 4096)
#define COPIES 3u /* of the memory, one behind the other: the firmware wants many pages and uses none */
#define IOVA 0x10000000ull
#define PAGES (COPIES * MEMORY_SIZE / 4096)
#define IN_MAX 4096u
#define OUT_MAX 8192u
#define STEPS_MAX 48
#define CHANGES_MAX 6
#define FW_PAGES 32u
#define LENGTHS 0xfffu /* of entries of the queue: twice what is in the mailboxes */

/* Where things are in memory, by page. Those of the queues are used more than once. */
enum { PAGE_CMDQ = 0, PAGE_BOXES = 1, PAGE_DBR = 5, PAGE_QUEUES = 8, PAGE_FW = 16 };

static uint8_t memory[MEMORY_SIZE] __attribute__((aligned(4096)));
static uint8_t in[CMD_ROOM], out[CMD_ROOM];
static struct loop *loop;
static struct fabric *fabric;
static struct hca *hca, fresh; /* what it is at power-on */
static const struct cmd_desc *commands[256], *by_opcode[4096];
static unsigned int n_commands;
static bool twice; /* each input, to see that none has left anything behind */

static void need(bool ok)
{
	if (!ok)
		abort();
}

static void msix(struct hca *h, unsigned int vector)
{
	need(h == hca && vector < HCA_MSIX_VECTORS);
}

/* The rest of the input; past its end there are zeros. */
static const uint8_t *rest;
static size_t left;

static uint8_t take8(void)
{
	if (!left)
		return 0;
	left--;
	return *rest++;
}

static uint16_t take16(void)
{
	uint16_t high = take8();

	return (uint16_t)(high << 8 | take8());
}

static uint32_t take32(void)
{
	uint32_t high = take16();

	return high << 16 | take16();
}

static uint64_t page(unsigned int i)
{
	return IOVA + i % PAGES * 4096ull;
}

/* A live object, the first one more often than not. */
static uint32_t pick(enum obj_type type)
{
	struct obj *obj = obj_next(hca->objs[type], 0);

	for (unsigned int n = take8() & 3; obj && n; n--) {
		struct obj *next = obj_next(hca->objs[type], obj->id + 1);

		if (next)
			obj = next;
	}
	return obj ? obj->id : 0;
}

static uint32_t list(uint32_t at, unsigned int pages)
{
	for (unsigned int i = 0; i < pages; i++)
		put_be64(in + at + 8 * i, page(PAGE_QUEUES + i));
	return at + 8 * pages;
}

static uint32_t fill_eq(void)
{
	uint8_t *c = IFC_ADDR(create_eq_in, in, eq_context_entry);

	IFC_SET(eqc, c, log_eq_size, 6);
	IFC_SET(eqc, c, uar_page, pick(OBJ_UAR));
	memset(IFC_ADDR(create_eq_in, in, event_bitmask), 0xff, 32);
	return list(IFC_BYTE(create_eq_in, pas), 2);
}

static uint32_t fill_cq(void)
{
	uint8_t *c = IFC_ADDR(create_cq_in, in, cq_context);

	IFC_SET(cqc, c, log_cq_size, 6);
	IFC_SET(cqc, c, uar_page, pick(OBJ_UAR));
	IFC_SET(cqc, c, c_eqn_or_apu_element, pick(OBJ_EQ));
	IFC_SET(cqc, c, dbr_addr, page(PAGE_DBR));
	return list(IFC_BYTE(create_cq_in, pas), 2);
}

static uint32_t fill_mkey(void)
{
	uint8_t *c = IFC_ADDR(create_mkey_in, in, memory_key_mkey_entry);

	IFC_SET(mkc, c, access_mode_1_0, 1);
	IFC_SET(mkc, c, umr_en, 1);
	IFC_SET(mkc, c, lr, 1);
	IFC_SET(mkc, c, lw, 1);
	IFC_SET(mkc, c, rr, 1);
	IFC_SET(mkc, c, rw, 1);
	IFC_SET(mkc, c, a, 1);
	IFC_SET(mkc, c, qpn, 0xffffff);
	IFC_SET(mkc, c, pd, pick(OBJ_PD));
	IFC_SET(mkc, c, len, 8 * 4096);
	IFC_SET(mkc, c, log_page_size, 12);
	IFC_SET(mkc, c, translations_octword_size, 4);
	IFC_SET(create_mkey_in, in, translations_octword_actual_size, 4);
	return list(IFC_BYTE(create_mkey_in, klm_pas_mtt), 8);
}

static uint32_t fill_rmp(void)
{
	uint8_t *wq = IFC_ADDR(create_rmp_in, in, ctx.wq);

	IFC_SET(rmpc, IFC_ADDR(create_rmp_in, in, ctx), state, 1);
	IFC_SET(wq, wq, pd, pick(OBJ_PD));
	IFC_SET(wq, wq, dbr_addr, page(PAGE_DBR) + 64);
	IFC_SET(wq, wq, log_wq_stride, 5);
	IFC_SET(wq, wq, log_wq_sz, 4);
	return list(IFC_BYTE(create_rmp_in, ctx.wq) + IFC_SIZE(wq), 2);
}

static uint32_t fill_xrc_srq(void)
{
	uint8_t *c = IFC_ADDR(create_xrc_srq_in, in, xrc_srq_context_entry);

	IFC_SET(xrc_srqc, c, log_xrc_srq_size, 4);
	IFC_SET(xrc_srqc, c, log_rq_stride, 1);
	IFC_SET(xrc_srqc, c, xrcd, pick(OBJ_XRCD));
	IFC_SET(xrc_srqc, c, cqn, pick(OBJ_CQ));
	IFC_SET(xrc_srqc, c, pd, pick(OBJ_PD));
	put_be64(IFC_ADDR(xrc_srqc, c, db_record_addr_h), page(PAGE_DBR) + 128);
	return list(IFC_BYTE(create_xrc_srq_in, pas), 2);
}

static uint32_t fill_qp(void)
{
	uint8_t *c = IFC_ADDR(create_qp_in, in, qpc);
	uint8_t kind = take8() & 0xf;

	IFC_SET(qpc, c, st, kind);
	IFC_SET(qpc, c, pm_state, 3);
	IFC_SET(qpc, c, pd, pick(OBJ_PD));
	IFC_SET(qpc, c, log_rq_size, 2);
	IFC_SET(qpc, c, log_rq_stride, 2);
	IFC_SET(qpc, c, log_sq_size, 3);
	IFC_SET(qpc, c, uar_page, pick(OBJ_UAR));
	IFC_SET(qpc, c, cqn_snd, pick(OBJ_CQ));
	IFC_SET(qpc, c, cqn_rcv, pick(OBJ_CQ));
	IFC_SET(qpc, c, dbr_addr, page(PAGE_DBR) + 192);
	IFC_SET(qpc, c, rq_type, take8() & 3);
	IFC_SET(qpc, c, srqn_rmpn_xrqn, pick(OBJ_SRQ));
	IFC_SET(qpc, c, xrcd, pick(OBJ_XRCD));
	return list(IFC_BYTE(create_qp_in, pas), 4);
}

static uint32_t fill_modify_qp(void)
{
	uint8_t *c = IFC_ADDR(rst2init_qp_in, in, qpc);
	uint8_t *path = IFC_ADDR(qpc, c, primary_address_path);

	IFC_SET(rst2init_qp_in, in, qpn, pick(OBJ_QP));
	IFC_SET(qpc, c, pm_state, 3);
	IFC_SET(qpc, c, mtu, 3);
	IFC_SET(qpc, c, log_msg_max, 30);
	IFC_SET(qpc, c, remote_qpn, pick(OBJ_QP));
	IFC_SET(qpc, c, rre, 1);
	IFC_SET(qpc, c, rwe, 1);
	IFC_SET(qpc, c, rae, 1);
	IFC_SET(qpc, c, retry_count, 2);
	IFC_SET(ads, path, vhca_port_num, 1);
	IFC_SET(ads, path, rlid, hca->port.lid);
	IFC_SET(ads, path, ack_timeout, 1);
	return IFC_SIZE(rst2init_qp_in);
}

static uint32_t fill_pages(void)
{
	uint32_t n = take8() % FW_PAGES;

	put_be16(in + 6, take8() % 3);
	IFC_SET(manage_pages_in, in, input_num_entries, n);
	return list(IFC_BYTE(manage_pages_in, pas), n);
}

static uint32_t fill_register(void)
{
	static const uint16_t ids[] = { 0x5003, 0x5004, 0x5008, 0x500f, 0x6001, 0x7004 };

	put_be16(in + 6, 1);
	IFC_SET(access_register_in, in, register_id, ids[take8() % (sizeof(ids) / sizeof(ids[0]))]);
	IFC_SET(ptys_reg, IFC_ADDR(access_register_in, in, register_data), local_port, 1);
	IFC_SET(ptys_reg, IFC_ADDR(access_register_in, in, register_data), proto_mask, 1);
	return 512;
}

static uint32_t fill_mad(void)
{
	uint8_t *mad = IFC_ADDR(mad_ifc_in, in, mad);

	IFC_SET(mad_ifc_in, in, port, 1);
	mad[0] = mad[2] = 1;
	mad[1] = (uint8_t[]){ 1, 0x81, 4, 9 }[take8() & 3];
	mad[3] = (uint8_t)(1 + (take8() & 1));
	put_be16(mad + 16, (uint16_t)(mad[1] == 4 ? (take8() & 0x1f) : 0x10 + (take8() & 0xf)));
	mad[65] = 1;
	return IFC_SIZE(mad_ifc_in);
}

static uint32_t fill_mcg(void)
{
	IFC_SET(attach_to_mcg_in, in, qpn, pick(OBJ_QP));
	IFC_ADDR(attach_to_mcg_in, in, multicast_gid)[0] = 0xff;
	IFC_ADDR(attach_to_mcg_in, in, multicast_gid)[15] = take8() & 1;
	return IFC_SIZE(attach_to_mcg_in);
}

/* Most commands that name an object have its number in the same place, next to the header. */
static uint32_t fill_number(uint16_t opcode)
{
	static const struct {
		uint16_t first, last;
		enum obj_type type;
	} ranges[] = {
		{ MLX5_CMD_OP_CREATE_MKEY, MLX5_CMD_OP_DESTROY_MKEY, OBJ_MKEY },
		{ MLX5_CMD_OP_CREATE_EQ, MLX5_CMD_OP_QUERY_EQ, OBJ_EQ },
		{ MLX5_CMD_OP_CREATE_CQ, MLX5_CMD_OP_MODIFY_CQ, OBJ_CQ },
		{ MLX5_CMD_OP_CREATE_QP, MLX5_CMD_OP_INIT2INIT_QP, OBJ_QP },
		{ MLX5_CMD_OP_CREATE_XRC_SRQ, MLX5_CMD_OP_ARM_XRC_SRQ, OBJ_SRQ },
		{ MLX5_CMD_OP_CREATE_RMP, MLX5_CMD_OP_QUERY_RMP, OBJ_SRQ },
		{ MLX5_CMD_OP_ALLOC_PD, MLX5_CMD_OP_DEALLOC_PD, OBJ_PD },
		{ MLX5_CMD_OP_ALLOC_UAR, MLX5_CMD_OP_DEALLOC_UAR, OBJ_UAR },
		{ MLX5_CMD_OP_ALLOC_XRCD, MLX5_CMD_OP_DEALLOC_XRCD, OBJ_XRCD },
		{ MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN,
		  OBJ_TD },
	};

	if (opcode == MLX5_CMD_OP_DESTROY_UCTX)
		IFC_SET(destroy_uctx_in, in, uid, pick(OBJ_UCTX));
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (opcode >= ranges[i].first && opcode <= ranges[i].last)
			put_be32(in + 8, pick(ranges[i].type));
	return 0;
}

/* A command that is right, as far as that can be said. Returns its length, 0: its layout's. */
static uint32_t fill(uint16_t opcode)
{
	switch (opcode) {
	case MLX5_CMD_OP_CREATE_EQ:
		return fill_eq();
	case MLX5_CMD_OP_CREATE_CQ:
		return fill_cq();
	case MLX5_CMD_OP_CREATE_MKEY:
		return fill_mkey();
	case MLX5_CMD_OP_CREATE_RMP:
		return fill_rmp();
	case MLX5_CMD_OP_CREATE_XRC_SRQ:
		return fill_xrc_srq();
	case MLX5_CMD_OP_CREATE_QP:
		return fill_qp();
	case MLX5_CMD_OP_RST2INIT_QP:
	case MLX5_CMD_OP_INIT2RTR_QP:
	case MLX5_CMD_OP_RTR2RTS_QP:
	case MLX5_CMD_OP_RTS2RTS_QP:
	case MLX5_CMD_OP_SQERR2RTS_QP:
	case MLX5_CMD_OP_SQD_RTS_QP:
	case MLX5_CMD_OP_INIT2INIT_QP:
		return fill_modify_qp();
	case MLX5_CMD_OP_MANAGE_PAGES:
		return fill_pages();
	case MLX5_CMD_OP_ACCESS_REG:
		return fill_register();
	case MLX5_CMD_OP_MAD_IFC:
		return fill_mad();
	case MLX5_CMD_OP_ATTACH_TO_MCG:
	case MLX5_CMD_OP_DETACH_FROM_MCG:
		return fill_mcg();
	default:
		return fill_number(opcode);
	}
}

static void run(const struct cmd_desc *d, uint32_t len)
{
	put_be16(in, d->opcode);
	memset(out, 0, sizeof(out));
	cmd_run(hca, in, len ? len : d->in_min, out, d->out_min > 4096 ? d->out_min : 4096);
}

/* As it should be, for the state that the steps start from: else nothing that follows gets anywhere. */
static void right(uint16_t opcode)
{
	memset(in, 0, sizeof(in));
	run(by_opcode[opcode], fill(opcode));
	need(!out[0]);
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

static void set_up(void)
{
	static const uint16_t first[] = {
		MLX5_CMD_OP_INIT_HCA, MLX5_CMD_OP_CREATE_UCTX, MLX5_CMD_OP_ALLOC_UAR,
		MLX5_CMD_OP_ALLOC_PD, MLX5_CMD_OP_ALLOC_XRCD, MLX5_CMD_OP_CREATE_EQ,
		MLX5_CMD_OP_CREATE_CQ, MLX5_CMD_OP_CREATE_MKEY, MLX5_CMD_OP_CREATE_RMP,
		MLX5_CMD_OP_CREATE_XRC_SRQ, MLX5_CMD_OP_CREATE_QP,
	};

	left = 0; /* the start is the same for all inputs */
	memset(memory, 0, sizeof(memory));
	hca->bar.nic_interface = MLX5_INITIAL_SEG_NIC_INTERFACE_FULL_DRIVER;
	cmdq_set_address(hca, page(PAGE_CMDQ));
	right(MLX5_CMD_OP_ENABLE_HCA);
	give_pages();
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		right(first[i]);
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
	static const enum caps_type types[] = { CAPS_GENERAL, CAPS_ATOMIC };
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
	uint32_t len;

	memset(in, 0, sizeof(in));
	len = fill(d->opcode);
	if (take8() & 1)
		put_be16(in + 2, (uint16_t)pick(OBJ_UCTX));
	if (!len)
		len = d->in_min;
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
	switch (take8() & 15) {
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
	default:
		step_command();
		break;
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct cmd_desc *const tables[] = {
		cmd_table_hca, cmd_table_res, cmd_table_mkey, cmd_table_eq, cmd_table_cq,
		cmd_table_srq, cmd_table_qp, cmd_table_mcg, cmd_table_port,
	};

	(void)argc;
	(void)argv;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct cmd_desc *d = tables[i]; d->opcode; d++)
			commands[n_commands++] = by_opcode[d->opcode] = d;
	twice = getenv("FUZZ_TWICE");
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

static uint64_t sum(uint64_t sum, const void *bytes, size_t len)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ b[i]) * 0x100000001b3ull;
	return sum;
}

/* Of all that an input has led to: it must be the same each time. */
static uint64_t outcome(void)
{
	uint64_t s = sum(0xcbf29ce484222325ull, memory, sizeof(memory));

	return sum(sum(s, &hca->stats, sizeof(hca->stats)), out, sizeof(out));
}

static uint64_t give(const uint8_t *data, size_t size)
{
	uint64_t result;

	set_up();
	rest = data;
	left = size;
	for (unsigned int i = 0; left && i < STEPS_MAX; i++)
		step();
	for (unsigned int i = 0; i < 4; i++)
		loop_turn(loop, 0);
	result = twice ? outcome() : 0;
	start_over();
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t result = give(data, size);

	if (twice)
		need(give(data, size) == result);
	return 0;
}
