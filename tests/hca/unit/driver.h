/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A driver in miniature, for tests and fuzzers of commands: one function with memory, started as
 * the driver starts it, and the commands that make objects. A command is filled in field by field:
 *
 *	drv_begin(alloc_pd, ALLOC_PD);
 *	CHECK_EQ(drv_run(), CMD_OK);
 *	pd = OUT(alloc_pd, pd);
 *
 * The drv_...() that make objects end the program where they fail.
 */
#ifndef HCA_DRIVER_H
#define HCA_DRIVER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/dma.h"
#include "engine/fabric.h"
#include "firmware/cmd_run.h"
#include "hca.h"
#include "ifc.h"
#include "loop.h"

#define DRV_MEMORY (8u << 20)
#define DRV_IOVA 0x200000ull /* where the memory starts */
#define DRV_PAGE 4096u
#define DRV_IN 65536u
#define DRV_OUT 16384u
#define DRV_FW_PAGES 32u
#define DRV_ALL_EVENTS (~0ull)

/* Sizes of what is made; all queues fit a page or two. */
#define DRV_LOG_EQ 6u
#define DRV_LOG_CQ 5u
#define DRV_LOG_SRQ 4u
#define DRV_SRQ_STRIDE 6u /* log2 bytes */
#define DRV_LOG_SQ 5u
#define DRV_LOG_RQ 5u

static struct {
	struct loop *loop;
	struct fabric *fabric;
	struct hca *hca;
	uint8_t *memory;
	uint32_t used;
	uint8_t in[DRV_IN], out[DRV_OUT];
	uint32_t in_len, out_len;
} drv;

static inline void drv_need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "driver.h: %s failed: status 0x%x, syndrome 0x%x\n", what, drv.out[0],
		be32_at(drv.out + 4));
	abort();
}

/* --- Commands --- */

static inline void drv_begin_len(uint16_t opcode, uint32_t in_len, uint32_t out_len)
{
	memset(drv.in, 0, drv.in_len > CMD_ROOM ? drv.in_len : CMD_ROOM);
	put_be16(drv.in, opcode);
	drv.in_len = in_len;
	drv.out_len = out_len;
}

#define drv_begin(layout, op) \
	drv_begin_len(MLX5_CMD_OP_##op, IFC_SIZE(layout##_in), IFC_SIZE(layout##_out))

#define IN(layout, field, value) IFC_SET(layout##_in, drv.in, field, value)
#define OUT(layout, field) IFC_GET(layout##_out, drv.out, field)

static inline void drv_uid(uint16_t uid)
{
	put_be16(drv.in + 2, uid);
}

static inline void drv_mod(uint16_t op_mod)
{
	put_be16(drv.in + 6, op_mod);
}

/* The status. */
static inline uint8_t drv_run(void)
{
	memset(drv.out, 0, sizeof(drv.out));
	cmd_run(drv.hca, drv.in, drv.in_len, drv.out, drv.out_len);
	return drv.out[0];
}

static inline uint32_t drv_syndrome(void)
{
	return be32_at(drv.out + 4);
}

/* --- Memory --- */

static inline uint64_t drv_alloc(uint32_t size)
{
	uint64_t iova = DRV_IOVA + drv.used;

	size = (size + DRV_PAGE - 1) & ~(DRV_PAGE - 1);
	drv_need(size <= DRV_MEMORY - drv.used, "memory");
	drv.used += size;
	return iova;
}

static inline uint8_t *drv_at(uint64_t iova)
{
	return drv.memory + (iova - DRV_IOVA);
}

/* A new queue of size bytes: its page list is put at the end of the input, from byte at on. */
static inline void drv_list(uint32_t at, uint32_t size)
{
	uint32_t pages = (size + DRV_PAGE - 1) / DRV_PAGE;
	uint64_t iova = drv_alloc(size);

	for (uint32_t i = 0; i < pages; i++)
		put_be64(drv.in + at + 8 * i, iova + (uint64_t)i * DRV_PAGE);
	drv.in_len = at + 8 * pages;
}

/* --- Objects; each has its commands begun by drv_..._begin(), to be changed before it is run --- */

static inline uint32_t drv_pd(uint16_t uid)
{
	drv_begin(alloc_pd, ALLOC_PD);
	drv_uid(uid);
	drv_need(!drv_run(), "ALLOC_PD");
	return OUT(alloc_pd, pd);
}

static inline uint32_t drv_xrcd(uint16_t uid)
{
	drv_begin(alloc_xrcd, ALLOC_XRCD);
	drv_uid(uid);
	drv_need(!drv_run(), "ALLOC_XRCD");
	return OUT(alloc_xrcd, xrcd);
}

static inline uint32_t drv_uar(uint16_t uid)
{
	drv_begin(alloc_uar, ALLOC_UAR);
	drv_uid(uid);
	drv_need(!drv_run(), "ALLOC_UAR");
	return OUT(alloc_uar, uar);
}

static inline uint16_t drv_uctx(void)
{
	drv_begin(create_uctx, CREATE_UCTX);
	drv_need(!drv_run(), "CREATE_UCTX");
	return (uint16_t)OUT(create_uctx, uid);
}

static inline void drv_eq_begin(uint32_t uar, uint64_t events)
{
	drv_begin(create_eq, CREATE_EQ);
	IN(create_eq, eq_context_entry.log_eq_size, DRV_LOG_EQ);
	IN(create_eq, eq_context_entry.uar_page, uar);
	put_be64(IFC_ADDR(create_eq_in, drv.in, event_bitmask), events);
	drv_list(IFC_BYTE(create_eq_in, pas), 64u << DRV_LOG_EQ);
}

static inline uint32_t drv_eq(uint32_t uar, uint64_t events)
{
	drv_eq_begin(uar, events);
	drv_need(!drv_run(), "CREATE_EQ");
	return OUT(create_eq, eq_number);
}

static inline void drv_cq_begin(uint32_t uar, uint32_t eq)
{
	drv_begin(create_cq, CREATE_CQ);
	IN(create_cq, cq_context.log_cq_size, DRV_LOG_CQ);
	IN(create_cq, cq_context.uar_page, uar);
	IN(create_cq, cq_context.c_eqn_or_apu_element, eq);
	IN(create_cq, cq_context.dbr_addr, drv_alloc(8));
	drv_list(IFC_BYTE(create_cq_in, pas), 64u << DRV_LOG_CQ);
}

static inline uint32_t drv_cq(uint32_t uar, uint32_t eq)
{
	drv_cq_begin(uar, eq);
	drv_need(!drv_run(), "CREATE_CQ");
	return OUT(create_cq, cqn);
}

static inline void drv_rmp_begin(uint32_t pd)
{
	drv_begin(create_rmp, CREATE_RMP);
	IN(create_rmp, ctx.state, 1);
	IN(create_rmp, ctx.wq.log_wq_sz, DRV_LOG_SRQ);
	IN(create_rmp, ctx.wq.log_wq_stride, DRV_SRQ_STRIDE);
	IN(create_rmp, ctx.wq.pd, pd);
	IN(create_rmp, ctx.wq.dbr_addr, drv_alloc(8));
	drv_list(IFC_BYTE(create_rmp_in, ctx.wq.pas), 1u << (DRV_LOG_SRQ + DRV_SRQ_STRIDE));
}

static inline uint32_t drv_rmp(uint32_t pd)
{
	drv_rmp_begin(pd);
	drv_need(!drv_run(), "CREATE_RMP");
	return OUT(create_rmp, rmpn);
}

static inline void drv_xrc_srq_begin(uint32_t pd, uint32_t xrcd, uint32_t cq)
{
	uint8_t *c = IFC_ADDR(create_xrc_srq_in, drv.in, xrc_srq_context_entry);

	drv_begin(create_xrc_srq, CREATE_XRC_SRQ);
	IFC_SET(xrc_srqc, c, log_xrc_srq_size, DRV_LOG_SRQ);
	IFC_SET(xrc_srqc, c, log_rq_stride, DRV_SRQ_STRIDE - 4);
	IFC_SET(xrc_srqc, c, pd, pd);
	IFC_SET(xrc_srqc, c, xrcd, xrcd);
	IFC_SET(xrc_srqc, c, cqn, cq);
	IFC_SET(xrc_srqc, c, user_index, 0x123);
	put_be64(IFC_ADDR(xrc_srqc, c, db_record_addr_h), drv_alloc(8));
	drv_list(IFC_BYTE(create_xrc_srq_in, pas), 1u << (DRV_LOG_SRQ + DRV_SRQ_STRIDE));
}

static inline uint32_t drv_xrc_srq(uint32_t pd, uint32_t xrcd, uint32_t cq)
{
	drv_xrc_srq_begin(pd, xrcd, cq);
	drv_need(!drv_run(), "CREATE_XRC_SRQ");
	return OUT(create_xrc_srq, xrc_srqn);
}

/* st: MLX5_QP_ST_*. Both queues, on one CQ. */
static inline void drv_qp_begin(uint32_t st, uint32_t pd, uint32_t cq, uint32_t uar)
{
	uint8_t *qpc = IFC_ADDR(create_qp_in, drv.in, qpc);

	drv_begin(create_qp, CREATE_QP);
	IFC_SET(qpc, qpc, st, st);
	IFC_SET(qpc, qpc, pm_state, 3);
	IFC_SET(qpc, qpc, pd, pd);
	IFC_SET(qpc, qpc, uar_page, uar);
	IFC_SET(qpc, qpc, cqn_snd, cq);
	IFC_SET(qpc, qpc, cqn_rcv, cq);
	IFC_SET(qpc, qpc, log_sq_size, DRV_LOG_SQ);
	IFC_SET(qpc, qpc, log_rq_size, DRV_LOG_RQ);
	IFC_SET(qpc, qpc, log_rq_stride, 2);
	IFC_SET(qpc, qpc, dbr_addr, drv_alloc(8));
	drv_list(IFC_BYTE(create_qp_in, pas), (64u << DRV_LOG_SQ) + (64u << DRV_LOG_RQ));
}

static inline uint32_t drv_qp(uint32_t st, uint32_t pd, uint32_t cq, uint32_t uar)
{
	drv_qp_begin(st, pd, cq, uar);
	drv_need(!drv_run(), "CREATE_QP");
	return OUT(create_qp, qpn);
}

/* MTT over size bytes of new memory, with all rights, at the virtual address that is the DMA address. */
static inline void drv_mkey_begin(uint32_t pd, uint32_t size)
{
	uint8_t *mkc = IFC_ADDR(create_mkey_in, drv.in, memory_key_mkey_entry);
	uint32_t at = IFC_BYTE(create_mkey_in, klm_pas_mtt);
	uint32_t octowords = (size / DRV_PAGE + 1) / 2;

	drv_begin(create_mkey, CREATE_MKEY);
	drv_list(at, size);
	drv.in_len = at + octowords * 16;
	IN(create_mkey, translations_octword_actual_size, octowords);
	IFC_SET(mkc, mkc, access_mode_1_0, 1);
	IFC_SET(mkc, mkc, lr, 1);
	IFC_SET(mkc, mkc, lw, 1);
	IFC_SET(mkc, mkc, rr, 1);
	IFC_SET(mkc, mkc, rw, 1);
	IFC_SET(mkc, mkc, a, 1);
	IFC_SET(mkc, mkc, umr_en, 1);
	IFC_SET(mkc, mkc, qpn, 0xffffff);
	IFC_SET(mkc, mkc, mkey_7_0, 0x5a);
	IFC_SET(mkc, mkc, pd, pd);
	IFC_SET(mkc, mkc, start_addr, be64_at(drv.in + at));
	IFC_SET(mkc, mkc, len, size);
	IFC_SET(mkc, mkc, log_page_size, 12);
	IFC_SET(mkc, mkc, translations_octword_size, octowords);
}

static inline uint32_t drv_mkey(uint32_t pd, uint32_t size)
{
	drv_mkey_begin(pd, size);
	drv_need(!drv_run(), "CREATE_MKEY");
	return OUT(create_mkey, mkey_index);
}

/* --- Life --- */

static inline void drv_give_pages(void)
{
	uint32_t at = IFC_BYTE(manage_pages_in, pas);
	uint64_t iova = drv_alloc(DRV_FW_PAGES * DRV_PAGE);

	drv_begin(manage_pages, MANAGE_PAGES);
	drv_mod(1);
	IN(manage_pages, input_num_entries, DRV_FW_PAGES);
	for (uint32_t i = 0; i < DRV_FW_PAGES; i++)
		put_be64(drv.in + at + 8 * i, iova + (uint64_t)i * DRV_PAGE);
	drv.in_len = at + 8 * DRV_FW_PAGES;
	drv_need(!drv_run(), "MANAGE_PAGES");
}

/* From power-on to where objects can be made; the memory handed out before is forgotten. */
static inline void drv_init(void)
{
	drv.used = 0;
	drv_begin(enable_hca, ENABLE_HCA);
	drv_need(!drv_run(), "ENABLE_HCA");
	drv_give_pages();
	drv_begin(init_hca, INIT_HCA);
	drv_need(!drv_run(), "INIT_HCA");
}

static inline void drv_start(void)
{
	hca_log_level = -1;
	drv.loop = loop_new();
	drv_need(drv.loop, "the loop");
	loop_clock_advance(drv.loop, 0);
	drv.fabric = fabric_new(drv.loop);
	drv_need(drv.fabric, "the switch");
	drv.hca = hca_new(drv.loop, drv.fabric, 0);
	drv_need(drv.hca, "the function");
	drv.memory = aligned_alloc(DRV_PAGE, DRV_MEMORY);
	drv_need(drv.memory, "memory");
	memset(drv.memory, 0, DRV_MEMORY);
	drv_need(!dma_map_memory(drv.hca->dma, DRV_IOVA, DRV_MEMORY, drv.memory,
				 DMA_PROT_READ | DMA_PROT_WRITE),
		 "dma_map_memory");
	drv_init();
}

/* Checks by the way that nothing is left: the sanitizers see what hca_free() forgets. */
static inline void drv_stop(void)
{
	hca_free(drv.hca);
	fabric_free(drv.fabric);
	loop_free(drv.loop);
	free(drv.memory);
}

#endif
