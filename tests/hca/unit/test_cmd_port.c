// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands about the port, its registers, its agents; and multicast groups. */
#include <errno.h>

#include "driver.h"
#include "firmware/mad.h"
#include "unit.h"

#define WHOLE_TABLE 0xffffu
#define ST_RC 0u
#define ST_UD 2u

/* As the driver lays a register out: read into drv.out, or written from what is put at reg_data(). */
static uint8_t *reg_data(void)
{
	return drv.in + IFC_BYTE(access_register_in, register_data);
}

static uint8_t *reg_answer(void)
{
	return drv.out + IFC_BYTE(access_register_out, register_data);
}

static void reg_begin(uint16_t id, bool read, uint32_t size)
{
	drv_begin_len(MLX5_CMD_OP_ACCESS_REG, IFC_SIZE(access_register_in) + size,
		      IFC_SIZE(access_register_out) + size);
	drv_mod(read);
	IN(access_register, register_id, id);
}

TEST(the_vport_context_tells_the_port)
{
	const uint8_t *x = IFC_ADDR(query_hca_vport_context_out, drv.out, hca_vport_context);

	drv_start();
	drv_begin(query_hca_vport_context, QUERY_HCA_VPORT_CONTEXT);
	IN(query_hca_vport_context, port_num, 1);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(IFC_GET(hca_vport_context, x, port_state), PORT_ACTIVE);
	CHECK_EQ(IFC_GET(hca_vport_context, x, port_physical_state), PORT_LINK_UP);
	CHECK_EQ(IFC_GET(hca_vport_context, x, lid), drv.hca->port.lid);
	CHECK_EQ(IFC_GET(hca_vport_context, x, port_guid), drv.hca->port.port_guid);
	CHECK_EQ(IFC_GET(hca_vport_context, x, cap_mask1), drv.hca->port.cap_mask);
	hca_set_link(drv.hca, false);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(IFC_GET(hca_vport_context, x, port_state), PORT_DOWN);
	CHECK_EQ(IFC_GET(hca_vport_context, x, port_physical_state), PORT_POLLING);
	drv_begin(query_vport_state, QUERY_VPORT_STATE);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(OUT(query_vport_state, state), 0);
	CHECK_EQ(OUT(query_vport_state, admin_state), 1);
	drv_stop();
}

TEST(there_is_one_port)
{
	drv_start();
	drv_begin(query_hca_vport_context, QUERY_HCA_VPORT_CONTEXT);
	IN(query_hca_vport_context, port_num, 2);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_begin(query_hca_vport_context, QUERY_HCA_VPORT_CONTEXT);
	IN(query_hca_vport_context, vport_number, 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_begin(query_hca_vport_gid, QUERY_HCA_VPORT_GID);
	IN(query_hca_vport_gid, other_vport, 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_begin(query_vport_state, QUERY_VPORT_STATE);
	IN(query_vport_state, vport_number, 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_begin(query_vport_counter, QUERY_VPORT_COUNTER);
	IN(query_vport_counter, other_vport, 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_stop();
}

TEST(the_host_says_what_runs_on_it)
{
	uint8_t *x = IFC_ADDR(modify_hca_vport_context_in, drv.in, hca_vport_context);
	uint32_t before;

	drv_start();
	before = drv.hca->port.cap_mask;
	drv_begin(modify_hca_vport_context, MODIFY_HCA_VPORT_CONTEXT);
	IFC_SET(hca_vport_context, x, cap_mask1_field_select, PORT_CAP_SM | PORT_CAP_CM);
	IFC_SET(hca_vport_context, x, cap_mask1, PORT_CAP_SM | PORT_CAP_SNMP);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(drv.hca->port.cap_mask, before | PORT_CAP_SM);
	IFC_SET(hca_vport_context, x, cap_mask1_field_select, PORT_CAP_EXT_SPEEDS);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	IFC_SET(hca_vport_context, x, cap_mask1_field_select, PORT_CAP_SM);
	IFC_SET(hca_vport_context, x, field_select, 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	CHECK_EQ(drv.hca->port.cap_mask, before | PORT_CAP_SM);
	drv_stop();
}

TEST(gids)
{
	const uint8_t *gid = IFC_ADDR(query_hca_vport_gid_out, drv.out, gid);

	drv_start();
	drv_begin(query_hca_vport_gid, QUERY_HCA_VPORT_GID);
	drv.out_len += 16;
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(OUT(query_hca_vport_gid, gids_num), 1);
	CHECK_EQ(be64_at(gid), 0xfe80000000000000ull);
	CHECK_EQ(be64_at(gid + 8), drv.hca->port.port_guid);
	IN(query_hca_vport_gid, gid_index, PORT_GIDS);
	CHECK_EQ(drv_run(), CMD_IX);
	IN(query_hca_vport_gid, gid_index, WHOLE_TABLE);
	CHECK_EQ(drv_run(), CMD_BAD_OUTP_LEN);
	drv.out_len = IFC_SIZE(query_hca_vport_gid_out) + 16 * PORT_GIDS;
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(OUT(query_hca_vport_gid, gids_num), PORT_GIDS);
	drv_stop();
}

TEST(pkeys)
{
	const uint8_t *pkey = IFC_ADDR(query_hca_vport_pkey_out, drv.out, pkey);

	drv_start();
	drv.hca->port.pkeys[1] = 0x8001;
	drv_begin(query_hca_vport_pkey, QUERY_HCA_VPORT_PKEY);
	drv.out_len += IFC_SIZE(pkey);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(IFC_GET(pkey, pkey, pkey), 0xffff);
	IN(query_hca_vport_pkey, pkey_index, 1);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(IFC_GET(pkey, pkey, pkey), 0x8001);
	IN(query_hca_vport_pkey, pkey_index, 127);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(IFC_GET(pkey, pkey, pkey), 0);
	IN(query_hca_vport_pkey, pkey_index, 128);
	CHECK_EQ(drv_run(), CMD_IX);
	IN(query_hca_vport_pkey, pkey_index, WHOLE_TABLE);
	CHECK_EQ(drv_run(), CMD_BAD_OUTP_LEN);
	drv.out_len = IFC_SIZE(query_hca_vport_pkey_out) + 128 * IFC_SIZE(pkey);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(IFC_GET(pkey, pkey + IFC_SIZE(pkey), pkey), 0x8001);
	drv_stop();
}

TEST(vport_counters)
{
	uint16_t uid;

	drv_start();
	drv.hca->port.xmit_packets = 7;
	drv.hca->port.xmit_mc_packets = 2;
	drv.hca->port.rcv_bytes = 1ull << 40;
	drv_begin(query_vport_counter, QUERY_VPORT_COUNTER);
	IN(query_vport_counter, port_num, 1);
	IN(query_vport_counter, clear, 1);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(OUT(query_vport_counter, transmitted_ib_unicast.packets), 5);
	CHECK_EQ(OUT(query_vport_counter, transmitted_ib_multicast.packets), 2);
	CHECK_EQ(OUT(query_vport_counter, received_ib_unicast.octets), 1ull << 40);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(OUT(query_vport_counter, received_ib_unicast.octets), 0);
	uid = drv_uctx();
	drv_begin(query_vport_counter, QUERY_VPORT_COUNTER);
	drv_uid(uid);
	CHECK_EQ(drv_run(), CMD_OK);
	IN(query_vport_counter, clear, 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_stop();
}

TEST(registers_of_the_link)
{
	drv_start();
	reg_begin(0x5004, true, IFC_SIZE(ptys_reg));
	IFC_SET(ptys_reg, reg_data(), local_port, 1);
	IFC_SET(ptys_reg, reg_data(), proto_mask, 1);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(IFC_GET(ptys_reg, reg_answer(), ib_link_width_oper), 2);
	CHECK_EQ(IFC_GET(ptys_reg, reg_answer(), ib_proto_oper), 1 << 5); /* EDR */
	IFC_SET(ptys_reg, reg_data(), proto_mask, 4);                     /* Ethernet */
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	reg_begin(0x5003, true, IFC_SIZE(pmtu_reg));
	IFC_SET(pmtu_reg, reg_data(), local_port, 1);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(IFC_GET(pmtu_reg, reg_answer(), max_mtu), 4096);
	CHECK_EQ(IFC_GET(pmtu_reg, reg_answer(), oper_mtu), 4096);
	drv_mod(0);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM); /* not to be written */
	reg_begin(0x500f, true, IFC_SIZE(pvlc_reg));
	IFC_SET(pvlc_reg, reg_data(), local_port, 1);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(IFC_GET(pvlc_reg, reg_answer(), vl_hw_cap), 1);
	drv_stop();
}

TEST(registers_of_the_host)
{
	drv_start();
	reg_begin(0x6001, false, PORT_DESC_LEN);
	strcpy((char *)reg_data(), "host mlx5_0");
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK(!strcmp(drv.hca->port.node_desc, "host mlx5_0"));
	reg_begin(0x6001, true, PORT_DESC_LEN);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK(!strcmp((char *)reg_answer(), "host mlx5_0"));
	reg_begin(0x7004, false, IFC_SIZE(register_host_endianness));
	CHECK_EQ(drv_run(), CMD_OK);
	IFC_SET(register_host_endianness, reg_data(), he, 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_stop();
}

static const uint8_t *port_counters(uint8_t port, uint8_t group, bool clear)
{
	reg_begin(0x5008, true, IFC_SIZE(ppcnt_reg));
	IFC_SET(ppcnt_reg, reg_data(), local_port, port);
	IFC_SET(ppcnt_reg, reg_data(), grp, group);
	IFC_SET(ppcnt_reg, reg_data(), clr, clear);
	return drv_run() == CMD_OK ? IFC_ADDR(ppcnt_reg, reg_answer(), counter_set) : NULL;
}

TEST(port_counter_register)
{
	struct port *p;
	const uint8_t *set;

	drv_start();
	p = &drv.hca->port;
	port_clear_counters(drv.hca);
	p->xmit_bytes = 4000;
	p->rcv_bytes = 1ull << 40;
	p->xmit_packets = 10;
	p->rcv_packets = 20;
	p->xmit_mc_packets = 3;
	p->rcv_mc_packets = 5;
	p->xmit_discards = 1u << 20;
	p->link_downed = 7;
	set = port_counters(1, 0x20, false);
	REQUIRE(set);
	CHECK_EQ(IFC_GET(ib_port_cntrs_grp_data_layout, set, link_downed_counter), 7);
	CHECK_EQ(IFC_GET(ib_port_cntrs_grp_data_layout, set, port_xmit_discards), 0xffff);
	CHECK_EQ(IFC_GET(ib_port_cntrs_grp_data_layout, set, port_xmit_wait), 0);
	CHECK_EQ(be32_at(set + 20), 1000);
	CHECK_EQ(be32_at(set + 24), UINT32_MAX);
	CHECK_EQ(be32_at(set + 28), 10);
	CHECK_EQ(be32_at(set + 32), 20);
	set = port_counters(1, 0x21, true);
	REQUIRE(set);
	CHECK_EQ(be64_at(set + 0x60), 1000);
	CHECK_EQ(be64_at(set + 0x68), 1ull << 38);
	CHECK_EQ(be64_at(set + 0x70), 10);
	CHECK_EQ(be64_at(set + 0x78), 20);
	CHECK_EQ(be64_at(set + 0x90), 7);
	CHECK_EQ(be64_at(set + 0x98), 3);
	CHECK_EQ(be64_at(set + 0xa0), 15);
	CHECK_EQ(be64_at(set + 0xa8), 5);
	set = port_counters(1, 0x21, false);
	REQUIRE(set);
	CHECK_EQ(be64_at(set + 0x60), 0);
	CHECK(!port_counters(1, 0x22, false));
	CHECK(!port_counters(2, 0x20, false));
	drv_stop();
}

TEST(registers_that_are_not_there)
{
	uint32_t syndrome;

	drv_start();
	reg_begin(0x9999, true, 16);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	syndrome = drv_syndrome();
	reg_begin(0x6001, true, PORT_DESC_LEN);
	drv_mod(2);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	CHECK(drv_syndrome() != syndrome);
	reg_begin(0x6001, true, PORT_DESC_LEN - 1);
	CHECK_EQ(drv_run(), CMD_BAD_INP_LEN);
	drv.in_len++;
	CHECK_EQ(drv_run(), CMD_BAD_OUTP_LEN);
	drv_stop();
}

static uint8_t *mad(void)
{
	return IFC_ADDR(mad_ifc_in, drv.in, mad);
}

static void mad_begin(uint8_t method, uint16_t attr)
{
	drv_begin(mad_ifc, MAD_IFC);
	IN(mad_ifc, port, 1);
	mad()[MAD_BASE_VERSION] = mad()[MAD_CLASS_VERSION] = 1;
	mad()[MAD_CLASS] = MAD_CLASS_LID_ROUTED;
	mad()[MAD_METHOD] = method;
	put_be16(mad() + MAD_ATTR, attr);
}

TEST(mads_reach_the_agents)
{
	const uint8_t *answer = IFC_ADDR(mad_ifc_out, drv.out, response_mad_packet);

	drv_start();
	mad_begin(1, 0x11);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(answer[MAD_METHOD], 0x81);
	CHECK_EQ(be64_at(answer + MAD_SMP_DATA + 20), drv.hca->port.port_guid);
	IN(mad_ifc, port, 2);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	mad_begin(0x81, 0x11);
	CHECK_EQ(drv_run(), CMD_BAD_PKT);
	mad_begin(7, 0x11); /* nothing to say, but no failure */
	CHECK_EQ(drv_run(), CMD_OK);

	drv.hca->port.m_key.key = 5;
	mad_begin(2, 0x10);
	CHECK_EQ(drv_run(), CMD_BAD_PKT);
	drv_mod(1); /* the host's own */
	CHECK_EQ(drv_run(), CMD_OK);
	drv_stop();
}

static uint8_t group(bool attach, uint32_t qpn, uint8_t first, uint16_t uid)
{
	uint8_t *mgid = IFC_ADDR(attach_to_mcg_in, drv.in, multicast_gid);

	if (attach)
		drv_begin(attach_to_mcg, ATTACH_TO_MCG);
	else
		drv_begin(detach_from_mcg, DETACH_FROM_MCG);
	IN(attach_to_mcg, qpn, qpn);
	memset(mgid, 0x12, 16);
	mgid[0] = first;
	drv_uid(uid);
	return drv_run();
}

TEST(multicast_groups)
{
	uint32_t pd, uar, eq, cq, ud, rc;
	uint16_t uid;

	drv_start();
	pd = drv_pd(0);
	uar = drv_uar(0);
	eq = drv_eq(uar, DRV_ALL_EVENTS);
	cq = drv_cq(uar, eq);
	ud = drv_qp(ST_UD, pd, cq, uar);
	rc = drv_qp(ST_RC, pd, cq, uar);
	uid = drv_uctx();
	CHECK_EQ(group(true, rc, 0xff, 0), CMD_BAD_PARAM);
	CHECK_EQ(group(true, ud, 0xfe, 0), CMD_BAD_PARAM);
	CHECK_EQ(group(true, ud + 100, 0xff, 0), CMD_BAD_RES);
	CHECK_EQ(group(true, ud, 0xff, uid), CMD_BAD_RES);
	CHECK_EQ(group(false, ud, 0xff, 0), CMD_BAD_RES);
	CHECK_EQ(group(true, ud, 0xff, 0), CMD_OK);
	CHECK_EQ(group(true, ud, 0xff, 0), CMD_OK);
	CHECK_EQ(group(false, ud, 0xff, 0), CMD_OK);
	CHECK_EQ(group(false, ud, 0xff, 0), CMD_BAD_RES);
	/* A QP that ends leaves its groups. */
	CHECK_EQ(group(true, ud, 0xff, 0), CMD_OK);
	drv_begin(destroy_qp, DESTROY_QP);
	IN(destroy_qp, qpn, ud);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(fabric_detach(drv.hca, IFC_ADDR(attach_to_mcg_in, drv.in, multicast_gid), ud),
		 -ENOENT);
	drv_stop();
}
