/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Commands that are right, as far as that can be said, from the bytes of an input: about the
 * objects that there are, with queues in the memory that there is.
 */
#ifndef HCA_FUZZ_FILL_H
#define HCA_FUZZ_FILL_H

#include <string.h>

#include "firmware/cmd_run.h"
#include "hca.h"

#define MEMORY_SIZE (16u * 4096)
#define COPIES \
	3u /* of the memory, one behind the other: the firmware wants many pages and uses none */
#define IOVA 0x10000000ull
#define PAGES (COPIES * MEMORY_SIZE / 4096)
#define FW_PAGES 32u

/* Where things are in memory, by page. Those of the queues are used more than once. */
enum { PAGE_CMDQ = 0, PAGE_BOXES = 1, PAGE_DBR = 5, PAGE_QUEUES = 8, PAGE_FW = 16 };

static uint8_t memory[MEMORY_SIZE] __attribute__((aligned(4096)));
static uint8_t in[CMD_ROOM];
static struct hca *hca;

/* The rest of the input; past its end there are zeros. */
static const uint8_t *rest;
static size_t left;

static inline uint8_t take8(void)
{
	if (!left)
		return 0;
	left--;
	return *rest++;
}

static inline uint16_t take16(void)
{
	uint16_t high = take8();

	return (uint16_t)(high << 8 | take8());
}

static inline uint32_t take32(void)
{
	uint32_t high = take16();

	return high << 16 | take16();
}

static inline uint64_t page(unsigned int i)
{
	return IOVA + i % PAGES * 4096ull;
}

/* A live object, the first one more often than not. */
static inline uint32_t pick(enum obj_type type)
{
	struct obj *obj = obj_next(hca->objs[type], 0);

	for (unsigned int n = take8() & 3; obj && n; n--) {
		struct obj *next = obj_next(hca->objs[type], obj->id + 1);

		if (next)
			obj = next;
	}
	return obj ? obj->id : 0;
}

static inline uint32_t list(uint32_t at, unsigned int pages)
{
	for (unsigned int i = 0; i < pages; i++)
		put_be64(in + at + 8 * i, page(PAGE_QUEUES + i));
	return at + 8 * pages;
}

static inline uint32_t fill_eq(void)
{
	uint8_t *c = IFC_ADDR(create_eq_in, in, eq_context_entry);

	IFC_SET(eqc, c, log_eq_size, 6);
	IFC_SET(eqc, c, uar_page, pick(OBJ_UAR));
	memset(IFC_ADDR(create_eq_in, in, event_bitmask), 0xff, 32);
	return list(IFC_BYTE(create_eq_in, pas), 2);
}

static inline uint32_t fill_cq(void)
{
	uint8_t *c = IFC_ADDR(create_cq_in, in, cq_context);

	IFC_SET(cqc, c, log_cq_size, 6);
	IFC_SET(cqc, c, uar_page, pick(OBJ_UAR));
	IFC_SET(cqc, c, c_eqn_or_apu_element, pick(OBJ_EQ));
	IFC_SET(cqc, c, dbr_addr, page(PAGE_DBR));
	return list(IFC_BYTE(create_cq_in, pas), 2);
}

static inline uint32_t fill_resize(void)
{
	uint8_t *c = IFC_ADDR(modify_cq_in, in, cq_context);

	put_be16(in + 6, 1);
	IFC_SET(modify_cq_in, in, cqn, pick(OBJ_CQ));
	IFC_SET(modify_cq_in, in,
		modify_field_select_resize_field_select.resize_field_select.resize_field_select, 7);
	IFC_SET(cqc, c, log_cq_size, take8() & 7);
	return list(IFC_BYTE(modify_cq_in, pas), 2);
}

static inline uint32_t fill_mkey(void)
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

static inline uint32_t fill_rmp(void)
{
	uint8_t *wq = IFC_ADDR(create_rmp_in, in, ctx.wq);

	IFC_SET(rmpc, IFC_ADDR(create_rmp_in, in, ctx), state, 1);
	IFC_SET(wq, wq, pd, pick(OBJ_PD));
	IFC_SET(wq, wq, dbr_addr, page(PAGE_DBR) + 64);
	IFC_SET(wq, wq, log_wq_stride, 5);
	IFC_SET(wq, wq, log_wq_sz, 4);
	return list(IFC_BYTE(create_rmp_in, ctx.wq) + IFC_SIZE(wq), 2);
}

static inline uint32_t fill_modify_rmp(void)
{
	IFC_SET(modify_rmp_in, in, rmpn, pick(OBJ_SRQ));
	IFC_SET(modify_rmp_in, in, rmp_state, 1);
	IFC_SET(modify_rmp_in, in, bitmask.lwm, 1);
	IFC_SET(rmpc, IFC_ADDR(modify_rmp_in, in, ctx), state, 1);
	IFC_SET(rmpc, IFC_ADDR(modify_rmp_in, in, ctx), wq.lwm, take8() & 15);
	return IFC_SIZE(modify_rmp_in);
}

static inline uint32_t fill_xrc_srq(void)
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

static inline uint32_t fill_qp(void)
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

static inline uint32_t fill_modify_qp(void)
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

static inline uint32_t fill_pages(void)
{
	uint32_t n = take8() % FW_PAGES;

	put_be16(in + 6, take8() % 3);
	IFC_SET(manage_pages_in, in, input_num_entries, n);
	return list(IFC_BYTE(manage_pages_in, pas), n);
}

static inline uint32_t fill_register(void)
{
	static const uint16_t ids[] = { 0x5003, 0x5004, 0x5008, 0x500f, 0x6001, 0x7004 };

	uint8_t *data = IFC_ADDR(access_register_in, in, register_data);
	uint16_t id = ids[take8() % (sizeof(ids) / sizeof(ids[0]))];

	put_be16(in + 6, 1);
	IFC_SET(access_register_in, in, register_id, id);
	IFC_SET(ptys_reg, data, local_port, 1);
	if (id == 0x5008)
		IFC_SET(ppcnt_reg, data, grp, 0x20);
	else
		IFC_SET(ptys_reg, data, proto_mask, 1);
	return 512;
}

/* A Set starts from what there is, with other states of the port; or little of it would be right. */
static inline void fill_set(uint8_t *mad)
{
	if (!port_mad(hca, mad, false))
		return;
	mad[3] = 2;
	put_be16(mad + 4, 0);
	if (be16_at(mad + 16) != 0x15)
		return;
	mad[64 + 32] = (uint8_t)((mad[64 + 32] & 0xf0) | (take8() & 7));
	mad[64 + 33] = (uint8_t)((mad[64 + 33] & 0xf) | (take8() & 3) << 4);
}

static inline uint32_t fill_mad(void)
{
	uint8_t *mad = IFC_ADDR(mad_ifc_in, in, mad);
	bool set;

	put_be16(in + 6, take8() & 3);
	IFC_SET(mad_ifc_in, in, port, 1);
	mad[0] = mad[2] = 1;
	mad[1] = (uint8_t[]){ 1, 0x81, 4, 9 }[take8() & 3];
	mad[3] = 1;
	set = take8() & 1;
	put_be16(mad + 16, (uint16_t)(mad[1] == 4 ? (take8() & 0x1f) : 0x10 + (take8() & 0xf)));
	mad[65] = 1;
	if (set)
		fill_set(mad);
	return IFC_SIZE(mad_ifc_in);
}

static inline uint32_t fill_mcg(void)
{
	IFC_SET(attach_to_mcg_in, in, qpn, pick(OBJ_QP));
	IFC_ADDR(attach_to_mcg_in, in, multicast_gid)[0] = 0xff;
	IFC_ADDR(attach_to_mcg_in, in, multicast_gid)[15] = take8() & 1;
	return IFC_SIZE(attach_to_mcg_in);
}

/* Most commands that name an object have its number in the same place, next to the header. */
static inline uint32_t fill_number(uint16_t opcode)
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
	return cmd_find(opcode)->in_min;
}

/* Fills in what was 0; returns the length of the command. */
static inline uint32_t fill(uint16_t opcode)
{
	switch (opcode) {
	case MLX5_CMD_OP_CREATE_EQ:
		return fill_eq();
	case MLX5_CMD_OP_CREATE_CQ:
		return fill_cq();
	case MLX5_CMD_OP_MODIFY_CQ:
		return fill_resize();
	case MLX5_CMD_OP_CREATE_MKEY:
		return fill_mkey();
	case MLX5_CMD_OP_CREATE_RMP:
		return fill_rmp();
	case MLX5_CMD_OP_MODIFY_RMP:
		return fill_modify_rmp();
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

#endif
