// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands in general, those about the function, and those for its simpler objects, keys and EQs. */
#include "driver.h"
#include "firmware/caps.h"
#include "objects/eq.h"
#include "objects/mkey.h"
#include "unit.h"

#define ST_RC 0u

/* A function at power-on, with memory. */
static void power_on(void)
{
	drv_start();
	hca_reset(drv.hca);
	drv.used = 0;
}

static uint32_t count(enum obj_type type)
{
	return obj_count(drv.hca->objs[type]);
}

static uint8_t enable(void)
{
	drv_begin(enable_hca, ENABLE_HCA);
	return drv_run();
}

static uint8_t init(void)
{
	drv_begin(init_hca, INIT_HCA);
	return drv_run();
}

/* One page; mod 1: given, 2: taken back. */
static uint8_t page(uint16_t mod, uint64_t address)
{
	uint32_t at = IFC_BYTE(manage_pages_in, pas);

	drv_begin(manage_pages, MANAGE_PAGES);
	drv_mod(mod);
	IN(manage_pages, input_num_entries, 1);
	put_be64(drv.in + at, address);
	drv.in_len = at + 8;
	drv.out_len = IFC_BYTE(manage_pages_out, pas) + 8;
	return drv_run();
}

static int32_t pages_wanted(uint16_t mod)
{
	drv_begin(query_pages, QUERY_PAGES);
	drv_mod(mod);
	CHECK_EQ(drv_run(), CMD_OK);
	return (int32_t)OUT(query_pages, num_pages);
}

TEST(a_function_starts_in_order)
{
	power_on();
	drv_begin(alloc_pd, ALLOC_PD);
	CHECK_EQ(drv_run(), CMD_BAD_SYS_STATE);
	CHECK_EQ(init(), CMD_BAD_SYS_STATE);
	CHECK_EQ(enable(), CMD_OK);
	CHECK_EQ(enable(), CMD_BAD_SYS_STATE);
	CHECK_EQ(init(), CMD_NO_RES); /* no pages yet */
	drv_begin(alloc_pd, ALLOC_PD);
	CHECK_EQ(drv_run(), CMD_BAD_SYS_STATE);
	drv_give_pages();
	CHECK_EQ(init(), CMD_OK);
	CHECK_EQ(init(), CMD_BAD_SYS_STATE);
	drv_pd(0);
	drv_begin(disable_hca, DISABLE_HCA);
	CHECK_EQ(drv_run(), CMD_BAD_SYS_STATE);
	drv_begin(teardown_hca, TEARDOWN_HCA);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_begin(disable_hca, DISABLE_HCA);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_stop();
}

TEST(pages_are_the_machines)
{
	uint32_t at = IFC_BYTE(manage_pages_in, pas);
	uint64_t first;

	power_on();
	CHECK_EQ(enable(), CMD_OK);
	CHECK(pages_wanted(1) > 0);
	first = drv_alloc(2 * DRV_PAGE);
	CHECK_EQ(page(1, first), CMD_OK);
	CHECK_EQ(page(1, first), CMD_BAD_PARAM); /* twice */
	CHECK_EQ(page(1, first + DRV_PAGE + 8), CMD_BAD_PARAM);
	CHECK_EQ(page(1, DRV_IOVA + DRV_MEMORY), CMD_BAD_PARAM);
	CHECK_EQ(page(3, first), CMD_BAD_PARAM);
	CHECK_EQ(pages_wanted(3), -1);
	/* A list that is bad in its second entry gives none. */
	drv_begin(manage_pages, MANAGE_PAGES);
	drv_mod(1);
	IN(manage_pages, input_num_entries, 2);
	put_be64(drv.in + at, first + DRV_PAGE);
	put_be64(drv.in + at + 8, first);
	drv.in_len = at + 16;
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	CHECK_EQ(pages_wanted(3), -1);
	drv_begin(manage_pages, MANAGE_PAGES);
	drv_mod(1);
	IN(manage_pages, input_num_entries, 0x20000000);
	CHECK_EQ(drv_run(), CMD_BAD_INP_LEN);
	CHECK_EQ(page(2, 0), CMD_OK);
	CHECK_EQ(OUT(manage_pages, output_num_entries), 1);
	CHECK_EQ(be64_at(drv.out + IFC_BYTE(manage_pages_out, pas)), first);
	CHECK_EQ(page(2, 0), CMD_OK);
	CHECK_EQ(OUT(manage_pages, output_num_entries), 0);
	drv_stop();
}

static uint8_t query_caps(uint16_t mod)
{
	drv_begin(query_hca_cap, QUERY_HCA_CAP);
	drv_mod(mod);
	return drv_run();
}

TEST(capabilities)
{
	uint8_t *set = IFC_ADDR(set_hca_cap_in, drv.in, capability);
	const uint8_t *got = IFC_ADDR(query_hca_cap_out, drv.out, capability);

	power_on();
	CHECK_EQ(enable(), CMD_OK);
	CHECK_EQ(query_caps(0), CMD_OK);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, log_max_qp), CAP_MAX_QPS);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, port_type), 0);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, xrc), 1);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, cq_resize), 1);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, cq_moderation), 0);
	CHECK_EQ(query_caps(4 << 1), CMD_BAD_PARAM);

	drv_begin(set_hca_cap, SET_HCA_CAP);
	IFC_SET(cmd_hca_cap, set, log_max_qp, 12);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(query_caps(1), CMD_OK);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, log_max_qp), 12);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, xrc), 1);
	CHECK_EQ(query_caps(0), CMD_OK);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, log_max_qp), CAP_MAX_QPS);
	drv_begin(set_hca_cap, SET_HCA_CAP);
	IFC_SET(cmd_hca_cap, set, log_max_qp, CAP_MAX_QPS + 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);

	drv_give_pages();
	CHECK_EQ(init(), CMD_OK);
	drv_begin(set_hca_cap, SET_HCA_CAP);
	IFC_SET(cmd_hca_cap, set, log_max_qp, 12);
	CHECK_EQ(drv_run(), CMD_BAD_SYS_STATE);
	hca_reset(drv.hca);
	CHECK_EQ(enable(), CMD_OK);
	CHECK_EQ(query_caps(1), CMD_OK);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, log_max_qp), CAP_MAX_QPS);
	drv_stop();
}

/* On-demand paging, but for no transport; or, by a fault, not at all. Moderation if that is asked for. */
TEST(capabilities_that_can_be_chosen)
{
	const uint8_t *got = IFC_ADDR(query_hca_cap_out, drv.out, capability);

	power_on();
	CHECK_EQ(enable(), CMD_OK);
	CHECK_EQ(query_caps(0), CMD_OK);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, pg), 1);
	CHECK_EQ(query_caps(CAPS_ODP << 1), CMD_OK);
	for (size_t i = 0; i < IFC_SIZE(odp_cap); i++)
		CHECK_EQ(got[i], 0);
	drv_begin(set_hca_cap, SET_HCA_CAP);
	drv_mod(CAPS_ODP << 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);

	drv.hca->faults.no_odp = true;
	CHECK_EQ(query_caps(0), CMD_OK);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, pg), 0);
	CHECK_EQ(query_caps(1), CMD_OK);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, pg), 0);
	CHECK_EQ(query_caps(CAPS_ODP << 1), CMD_BAD_PARAM);
	drv.hca->faults.no_odp = false;
	drv.hca->faults.moderation = true;
	CHECK_EQ(query_caps(1), CMD_OK);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, cq_moderation), 1);
	CHECK_EQ(query_caps(CAPS_ODP << 1), CMD_OK);
	drv.hca->never_odp = true;
	CHECK_EQ(query_caps(CAPS_ODP << 1), CMD_BAD_PARAM);
	drv.hca->ack_delay = 21;
	CHECK_EQ(query_caps(0), CMD_OK);
	CHECK_EQ(IFC_GET(cmd_hca_cap, got, local_ca_ack_delay), 21);
	drv_stop();
}

TEST(what_the_function_is)
{
	drv_start();
	drv_begin(query_issi, QUERY_ISSI);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(be32_at(IFC_ADDR(query_issi_out, drv.out, supported_issi_dw0)) & 3, 3);
	drv_begin(set_issi, SET_ISSI);
	IN(set_issi, current_issi, 1);
	CHECK_EQ(drv_run(), CMD_OK);
	IN(set_issi, current_issi, 2);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	IN(set_issi, current_issi, 32);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_begin(query_adapter, QUERY_ADAPTER);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(OUT(query_adapter, query_adapter_struct.ieee_vendor_id), 0x2c9);
	drv_begin(query_special_contexts, QUERY_SPECIAL_CONTEXTS);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(OUT(query_special_contexts, resd_lkey), MKEY_RESERVED_LKEY);
	CHECK_EQ(OUT(query_special_contexts, dump_fill_mkey), MKEY_DUMP_FILL);
	drv_begin(nop, NOP);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_stop();
}

TEST(the_dispatcher_refuses)
{
	uint16_t uid;

	drv_start();
	uid = drv_uctx();
	drv_begin_len(0xfff, 64, 64);
	CHECK_EQ(drv_run(), CMD_BAD_OP);
	drv_begin_len(0, 64, 64);
	CHECK_EQ(drv_run(), CMD_BAD_OP);
	drv_begin(alloc_pd, ALLOC_PD);
	drv.in_len--;
	CHECK_EQ(drv_run(), CMD_BAD_INP_LEN);
	drv_begin(alloc_pd, ALLOC_PD);
	drv.out_len--;
	CHECK_EQ(drv_run(), CMD_BAD_OUTP_LEN);
	drv_begin(alloc_pd, ALLOC_PD);
	drv_uid(uid + 1);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	drv_begin(teardown_hca, TEARDOWN_HCA);
	drv_uid(uid);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_begin(create_uctx, CREATE_UCTX);
	put_be16(drv.in + 2, uid);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	CHECK_EQ(count(OBJ_PD), 0);
	CHECK_EQ(count(OBJ_UCTX), 1);
	drv_stop();
}

TEST(a_failure_tells_nothing_else)
{
	uint64_t failed;

	drv_start();
	failed = drv.hca->stats.commands_failed;
	drv_begin(query_cq, QUERY_CQ);
	IN(query_cq, cqn, 77);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	CHECK(drv_syndrome());
	for (uint32_t i = 8; i < drv.out_len; i++)
		REQUIRE_EQ(drv.out[i], 0);
	CHECK_EQ(drv.hca->stats.commands_failed, failed + 1);
	drv_stop();
}

TEST(faults_that_were_asked_for)
{
	drv_start();
	drv.hca->faults.command[3].opcode = MLX5_CMD_OP_ALLOC_PD;
	drv.hca->faults.command[3].status = CMD_LIM;
	drv.hca->faults.command[3].syndrome = 0xfa17;
	drv.hca->faults.command[3].count = 2;
	for (int i = 0; i < 2; i++) {
		drv_begin(alloc_pd, ALLOC_PD);
		CHECK_EQ(drv_run(), CMD_LIM);
		CHECK_EQ(drv_syndrome(), 0xfa17);
		drv_xrcd(0); /* others do not care */
	}
	CHECK_EQ(count(OBJ_PD), 0);
	drv_pd(0);
	drv_stop();
}

TEST(names_of_commands)
{
	CHECK_EQ(cmd_opcode("create_qp"), MLX5_CMD_OP_CREATE_QP);
	CHECK_EQ(cmd_opcode("RST2INIT_QP"), MLX5_CMD_OP_RST2INIT_QP);
	CHECK_EQ(cmd_opcode("nonsense"), 0);
	CHECK(!strcmp(cmd_name(MLX5_CMD_OP_MAD_IFC), "MAD_IFC"));
	CHECK(!cmd_name(0xfff));
}

TEST(simple_objects_come_and_go)
{
	uint32_t pd, xrcd, uar, td;

	drv_start();
	pd = drv_pd(0);
	xrcd = drv_xrcd(0);
	uar = drv_uar(0);
	drv_begin(alloc_transport_domain, ALLOC_TRANSPORT_DOMAIN);
	CHECK_EQ(drv_run(), CMD_OK);
	td = OUT(alloc_transport_domain, transport_domain);
	CHECK(uar >= HCA_UAR_FIRST);

	for (int i = 0; i < 2; i++) {
		uint8_t status = i ? CMD_BAD_RES : CMD_OK;

		drv_begin(dealloc_pd, DEALLOC_PD);
		IN(dealloc_pd, pd, pd);
		CHECK_EQ(drv_run(), status);
		drv_begin(dealloc_xrcd, DEALLOC_XRCD);
		IN(dealloc_xrcd, xrcd, xrcd);
		CHECK_EQ(drv_run(), status);
		drv_begin(dealloc_uar, DEALLOC_UAR);
		IN(dealloc_uar, uar, uar);
		CHECK_EQ(drv_run(), status);
		drv_begin(dealloc_transport_domain, DEALLOC_TRANSPORT_DOMAIN);
		IN(dealloc_transport_domain, transport_domain, td);
		CHECK_EQ(drv_run(), status);
	}
	drv_stop();
}

TEST(there_is_an_end_of_everything)
{
	uint32_t n = 0;

	drv_start();
	do {
		drv_begin(create_uctx, CREATE_UCTX);
		n++;
	} while (!drv_run() && n < 1u << 20);
	CHECK_EQ(drv.out[0], CMD_NO_RES);
	CHECK_EQ(n, 1u << CAP_MAX_UCTXS);
	drv_begin(destroy_uctx, DESTROY_UCTX);
	IN(destroy_uctx, uid, 5);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(drv_uctx(), 5);
	drv_stop();
}

TEST(user_contexts_are_apart)
{
	uint16_t uid, other;
	uint32_t pd, uar;

	drv_start();
	uid = drv_uctx();
	other = drv_uctx();
	pd = drv_pd(uid);
	uar = drv_uar(uid);
	drv_begin(dealloc_pd, DEALLOC_PD);
	IN(dealloc_pd, pd, pd);
	drv_uid(other);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	drv_cq_begin(uar, drv_eq(drv_uar(0), DRV_ALL_EVENTS));
	drv_uid(other);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	drv_begin(dealloc_pd, DEALLOC_PD);
	IN(dealloc_pd, pd, pd); /* the kernel may */
	CHECK_EQ(drv_run(), CMD_OK);
	drv_stop();
}

TEST(a_context_takes_all_with_it)
{
	uint32_t pd, uar, eq, cq, kernel_uar;
	uint16_t uid;

	drv_start();
	kernel_uar = drv_uar(0);
	drv_eq_begin(kernel_uar, 0);
	drv_uid(CMD_UID_SHARED);
	CHECK_EQ(drv_run(), CMD_OK);
	eq = OUT(create_eq, eq_number);
	uid = drv_uctx();
	pd = drv_pd(uid);
	uar = drv_uar(uid);
	drv_cq_begin(uar, eq);
	drv_uid(uid);
	CHECK_EQ(drv_run(), CMD_OK);
	cq = OUT(create_cq, cqn);
	drv_qp_begin(ST_RC, pd, cq, uar);
	drv_uid(uid);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_mkey_begin(pd, 4 * DRV_PAGE);
	drv_uid(uid);
	CHECK_EQ(drv_run(), CMD_OK);

	drv_begin(destroy_uctx, DESTROY_UCTX);
	IN(destroy_uctx, uid, uid);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(count(OBJ_QP) + count(OBJ_CQ) + count(OBJ_MKEY) + count(OBJ_PD) + count(OBJ_UCTX),
		 0);
	CHECK_EQ(count(OBJ_UAR), 1);
	CHECK_EQ(count(OBJ_EQ), 1);
	CHECK_EQ(drv.hca->mkey_tables, 0);
	drv_begin(destroy_eq, DESTROY_EQ);
	IN(destroy_eq, eq_number, eq);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_stop();
}

TEST(teardown_and_reset_leave_nothing)
{
	drv_start();
	for (int i = 0; i < 2; i++) {
		uint32_t pd = drv_pd(0), uar = drv_uar(0), xrcd = drv_xrcd(0);
		uint32_t cq = drv_cq(uar, drv_eq(uar, DRV_ALL_EVENTS));

		drv_qp(ST_RC, pd, cq, uar);
		drv_xrc_srq(pd, xrcd, cq);
		drv_rmp(pd);
		drv_mkey(pd, 3 * DRV_PAGE);
		drv_uctx();
		if (i) {
			hca_reset(drv.hca);
			CHECK(!drv.hca->enabled);
		} else {
			drv_begin(teardown_hca, TEARDOWN_HCA);
			CHECK_EQ(drv_run(), CMD_OK);
		}
		CHECK(!drv.hca->initialized);
		for (unsigned int type = 0; type < OBJ_TYPES; type++)
			CHECK_EQ(count((enum obj_type)type), 0);
		CHECK_EQ(drv.hca->mkey_tables, 0);
		if (!i)
			CHECK_EQ(init(), CMD_OK);
	}
	drv_stop();
}

/* --- EQs --- */

TEST(event_queues)
{
	uint32_t uar, eq, cq;

	drv_start();
	uar = drv_uar(0);
	drv_eq_begin(uar, 1ull << 0x13);
	IN(create_eq, eq_context_entry.intr, 7);
	CHECK_EQ(drv_run(), CMD_OK);
	eq = OUT(create_eq, eq_number);
	drv_begin(query_eq, QUERY_EQ);
	IN(query_eq, eq_number, eq);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(OUT(query_eq, eq_context_entry.log_eq_size), DRV_LOG_EQ);
	CHECK_EQ(OUT(query_eq, eq_context_entry.intr), 7);
	CHECK_EQ(OUT(query_eq, eq_context_entry.uar_page), uar);

	drv_begin(dealloc_uar, DEALLOC_UAR);
	IN(dealloc_uar, uar, uar);
	CHECK_EQ(drv_run(), CMD_BAD_RES_STATE);
	cq = drv_cq(uar, eq);
	drv_begin(destroy_eq, DESTROY_EQ);
	IN(destroy_eq, eq_number, eq);
	CHECK_EQ(drv_run(), CMD_BAD_RES_STATE);
	drv_begin(destroy_cq, DESTROY_CQ);
	IN(destroy_cq, cqn, cq);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_begin(destroy_eq, DESTROY_EQ);
	IN(destroy_eq, eq_number, eq);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	drv_stop();
}

TEST(malformed_event_queues)
{
	uint32_t uar;
	uint16_t uid;

	drv_start();
	uar = drv_uar(0);
	uid = drv_uctx();
	drv_eq_begin(uar, 0);
	IN(create_eq, eq_context_entry.intr, HCA_MSIX_VECTORS);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_eq_begin(uar, 0);
	IN(create_eq, eq_context_entry.log_eq_size, CAP_MAX_EQ_SIZE + 1);
	CHECK_EQ(drv_run(), CMD_BAD_SIZE);
	drv_eq_begin(uar, 0);
	IN(create_eq, eq_context_entry.log_eq_size, DRV_LOG_EQ + 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv.hca->faults.no_odp = true;
	drv_eq_begin(uar, 1 << MLX5_EVENT_TYPE_CODING_PAGE_FAULT_EVENT);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv.hca->faults.no_odp = false;
	drv_eq_begin(uar + 1, 0);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	drv_eq_begin(uar, 0);
	drv_uid(uid);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	CHECK_EQ(count(OBJ_EQ), 0);
	drv_stop();
}

/* --- Memory keys --- */

#define MKC(field, value) \
	IFC_SET(mkc, IFC_ADDR(create_mkey_in, drv.in, memory_key_mkey_entry), field, value)

TEST(memory_keys)
{
	const uint8_t *mkc = IFC_ADDR(query_mkey_out, drv.out, memory_key_mkey_entry);
	const struct mkey *m;
	uint64_t va;
	uint32_t pd, key;

	drv_start();
	pd = drv_pd(0);
	drv_mkey_begin(pd, 4 * DRV_PAGE);
	va = be64_at(drv.in + IFC_BYTE(create_mkey_in, klm_pas_mtt));
	CHECK_EQ(drv_run(), CMD_OK);
	key = OUT(create_mkey, mkey_index);
	m = (const struct mkey *)obj_find(drv.hca->objs[OBJ_MKEY], key);
	REQUIRE(m);
	CHECK_EQ(m->count, 4);
	CHECK_EQ(m->table[3].address, va + 3 * DRV_PAGE);
	CHECK(drv.hca->mkey_tables > 0);

	drv_begin(query_mkey, QUERY_MKEY);
	IN(query_mkey, mkey_index, key);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(IFC_GET(mkc, mkc, start_addr), va);
	CHECK_EQ(IFC_GET(mkc, mkc, len), 4 * DRV_PAGE);
	CHECK_EQ(IFC_GET(mkc, mkc, pd), pd);
	CHECK_EQ(IFC_GET(mkc, mkc, mkey_7_0), 0x5a);
	CHECK_EQ(IFC_GET(mkc, mkc, rw), 1);

	drv_begin(dealloc_pd, DEALLOC_PD);
	IN(dealloc_pd, pd, pd);
	CHECK_EQ(drv_run(), CMD_BAD_RES_STATE);
	drv_begin(destroy_mkey, DESTROY_MKEY);
	IN(destroy_mkey, mkey_index, key);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	CHECK_EQ(drv.hca->mkey_tables, 0);
	drv_begin(dealloc_pd, DEALLOC_PD);
	IN(dealloc_pd, pd, pd);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_stop();
}

TEST(malformed_memory_keys)
{
	uint32_t pd;
	uint16_t uid;

	drv_start();
	pd = drv_pd(0);
	uid = drv_uctx();
	drv_mkey_begin(pd + 1, DRV_PAGE);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	drv_mkey_begin(pd, DRV_PAGE);
	MKC(access_mode_4_2, 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_mkey_begin(pd, DRV_PAGE);
	MKC(bsf_en, 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_mkey_begin(pd, DRV_PAGE);
	MKC(log_page_size, 63);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_mkey_begin(pd, 16 * DRV_PAGE);
	MKC(translations_octword_size, 4);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM); /* more than the table holds */
	drv_mkey_begin(pd, 16 * DRV_PAGE);
	drv.in_len -= 16;
	CHECK_EQ(drv_run(), CMD_BAD_INP_LEN);
	drv_mkey_begin(pd, DRV_PAGE);
	IN(create_mkey, translations_octword_actual_size, 0xffffffff);
	MKC(translations_octword_size, 0xffffffff);
	CHECK(drv_run() != CMD_OK);
	/* Physical addresses are the kernel's. */
	drv_mkey_begin(pd, DRV_PAGE);
	MKC(access_mode_1_0, 0);
	drv_uid(uid);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	CHECK_EQ(count(OBJ_MKEY), 0);
	CHECK_EQ(drv.hca->mkey_tables, 0);
	drv_uid(0);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_stop();
}

TEST(a_free_key_has_no_pd_yet)
{
	uint32_t pd;

	drv_start();
	pd = drv_pd(0);
	drv_mkey_begin(0, DRV_PAGE);
	MKC(free, 1);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_begin(dealloc_pd, DEALLOC_PD);
	IN(dealloc_pd, pd, pd);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_stop();
}
