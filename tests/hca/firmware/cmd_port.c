// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands about the port: the vport commands, MADs to its agents, its registers. */
#include "firmware/cmd_run.h"

#define CMD_SYNDROME_BASE 0xa0000u

#define WHOLE_TABLE 0xffffu
#define PKEY_TABLE 128u /* as claimed: the least that can be; all behind PORT_PKEYS are invalid */
#define MAD_IGNORE_MKEY 1u
#define MAD_METHOD 3u
#define METHOD_TRAP_REPRESS 0x7u

/* There is one port, with one vport. */
#define ONLY_PORT(cmd, layout) \
	only_port((cmd), IFC_GET(layout, (cmd)->in, other_vport), \
		  IFC_GET(layout, (cmd)->in, vport_number), IFC_GET(layout, (cmd)->in, port_num))

static enum cmd_status only_port(struct cmd *cmd, bool other, uint32_t vport, uint32_t port)
{
	if (other || vport || port > 1)
		return cmd_fail(cmd, CMD_BAD_PARAM, "port %u, %svport %u", port,
				other ? "other " : "", vport);
	return CMD_OK;
}

#define VPORT(field, value) IFC_SET(hca_vport_context, x, field, value)

static enum cmd_status query_hca_vport_context(struct cmd *cmd)
{
	uint8_t *x = IFC_ADDR(query_hca_vport_context_out, cmd->out, hca_vport_context);
	enum cmd_status status = ONLY_PORT(cmd, query_hca_vport_context_in);
	const struct port *p = &cmd->hca->port;

	if (status)
		return status;
	VPORT(has_smi, 1);
	VPORT(port_physical_state, port_physical(cmd->hca));
	VPORT(port_state, p->state);
	VPORT(vport_state, p->state);
	VPORT(system_image_guid, p->node_guid);
	VPORT(port_guid, p->port_guid);
	VPORT(node_guid, p->node_guid);
	VPORT(cap_mask1, p->cap_mask);
	VPORT(cap_mask1_field_select, PORT_CAP_OF_HOST);
	VPORT(lid, p->lid);
	VPORT(lmc, p->lmc);
	VPORT(init_type_reply, p->init_type_reply);
	VPORT(subnet_timeout, p->subnet_timeout);
	VPORT(sm_lid, p->sm_lid);
	VPORT(sm_sl, p->sm_sl);
	return CMD_OK;
}

/* GUIDs and the state policy are for virtual functions, of which there are none. */
static enum cmd_status modify_hca_vport_context(struct cmd *cmd)
{
	const uint8_t *x = IFC_ADDR(modify_hca_vport_context_in, cmd->in, hca_vport_context);
	uint32_t mask = IFC_GET(hca_vport_context, x, cap_mask1_field_select);
	uint32_t caps = IFC_GET(hca_vport_context, x, cap_mask1);
	enum cmd_status status = ONLY_PORT(cmd, modify_hca_vport_context_in);
	struct port *p = &cmd->hca->port;

	if (status)
		return status;
	if (IFC_GET(hca_vport_context, x, field_select))
		return cmd_fail(cmd, CMD_BAD_PARAM, "field_select 0x%x",
				(uint32_t)IFC_GET(hca_vport_context, x, field_select));
	if (mask & ~PORT_CAP_OF_HOST)
		return cmd_fail(cmd, CMD_BAD_PARAM, "capabilities 0x%x are not the host's", mask);
	p->cap_mask = (p->cap_mask & ~mask) | (caps & mask);
	return CMD_OK;
}

static enum cmd_status query_hca_vport_gid(struct cmd *cmd)
{
	uint32_t index = IFC_GET(query_hca_vport_gid_in, cmd->in, gid_index);
	uint32_t first = index == WHOLE_TABLE ? 0 : index, n = index == WHOLE_TABLE ? PORT_GIDS : 1;
	enum cmd_status status = ONLY_PORT(cmd, query_hca_vport_gid_in);
	uint8_t *list = IFC_ADDR(query_hca_vport_gid_out, cmd->out, gid);

	if (status)
		return status;
	if (first >= PORT_GIDS)
		return cmd_fail(cmd, CMD_IX, "GID index %u", index);
	if (cmd->out_len < IFC_BYTE(query_hca_vport_gid_out, gid) + n * 16)
		return cmd_fail(cmd, CMD_BAD_OUTP_LEN, "no room for %u GIDs", n);
	for (uint32_t i = 0; i < n; i++)
		port_gid(cmd->hca, first + i, list + 16 * i);
	IFC_SET(query_hca_vport_gid_out, cmd->out, gids_num, n);
	return CMD_OK;
}

static enum cmd_status query_hca_vport_pkey(struct cmd *cmd)
{
	uint32_t index = IFC_GET(query_hca_vport_pkey_in, cmd->in, pkey_index);
	uint32_t first = index == WHOLE_TABLE ? 0 : index;
	uint32_t n = index == WHOLE_TABLE ? PKEY_TABLE : 1;
	enum cmd_status status = ONLY_PORT(cmd, query_hca_vport_pkey_in);
	uint8_t *list = IFC_ADDR(query_hca_vport_pkey_out, cmd->out, pkey);

	if (status)
		return status;
	if (first >= PKEY_TABLE)
		return cmd_fail(cmd, CMD_IX, "P_Key index %u", index);
	if (cmd->out_len < IFC_BYTE(query_hca_vport_pkey_out, pkey) + n * IFC_SIZE(pkey))
		return cmd_fail(cmd, CMD_BAD_OUTP_LEN, "no room for %u P_Keys", n);
	for (uint32_t i = first; i < first + n && i < PORT_PKEYS; i++)
		IFC_SET(pkey, list + (i - first) * IFC_SIZE(pkey), pkey, cmd->hca->port.pkeys[i]);
	return CMD_OK;
}

static enum cmd_status query_vport_state(struct cmd *cmd)
{
	bool up = cmd->hca->port.state != PORT_DOWN;

	if (cmd->op_mod)
		return cmd_fail(cmd, CMD_BAD_PARAM, "op_mod %u", cmd->op_mod);
	if (IFC_GET(query_vport_state_in, cmd->in, other_vport) ||
	    IFC_GET(query_vport_state_in, cmd->in, vport_number))
		return cmd_fail(cmd, CMD_BAD_PARAM, "another vport");
	IFC_SET(query_vport_state_out, cmd->out, admin_state, !cmd->hca->port.disabled);
	IFC_SET(query_vport_state_out, cmd->out, state, up);
	return CMD_OK;
}

static void put_traffic(uint8_t *counter, uint64_t packets, uint64_t octets)
{
	IFC_SET(traffic_counter, counter, packets, packets);
	IFC_SET(traffic_counter, counter, octets, octets);
}

#define TRAFFIC(field) IFC_ADDR(query_vport_counter_out, cmd->out, field)

static enum cmd_status query_vport_counter(struct cmd *cmd)
{
	enum cmd_status status = ONLY_PORT(cmd, query_vport_counter_in);
	bool clear = IFC_GET(query_vport_counter_in, cmd->in, clear);
	const struct port *p = &cmd->hca->port;

	if (status)
		return status;
	if (clear && cmd->uid)
		return cmd_fail(cmd, CMD_BAD_PARAM, "a user context may not clear them");
	put_traffic(TRAFFIC(transmit_errors), p->xmit_discards, 0);
	put_traffic(TRAFFIC(received_ib_unicast), p->rcv_packets - p->rcv_mc_packets,
		    p->rcv_bytes - p->rcv_mc_bytes);
	put_traffic(TRAFFIC(transmitted_ib_unicast), p->xmit_packets - p->xmit_mc_packets,
		    p->xmit_bytes - p->xmit_mc_bytes);
	put_traffic(TRAFFIC(received_ib_multicast), p->rcv_mc_packets, p->rcv_mc_bytes);
	put_traffic(TRAFFIC(transmitted_ib_multicast), p->xmit_mc_packets, p->xmit_mc_bytes);
	if (clear)
		port_clear_counters(cmd->hca);
	return CMD_OK;
}

/* MADs that the driver has taken from QP0 or QP1, or made itself. */
static enum cmd_status mad_ifc(struct cmd *cmd)
{
	uint8_t *mad = IFC_ADDR(mad_ifc_out, cmd->out, response_mad_packet);
	uint32_t port = IFC_GET(mad_ifc_in, cmd->in, port);

	if (port != 1)
		return cmd_fail(cmd, CMD_BAD_PARAM, "port %u", port);
	memcpy(mad, IFC_ADDR(mad_ifc_in, cmd->in, mad), 256);
	if (port_mad(cmd->hca, mad, !(cmd->op_mod & MAD_IGNORE_MKEY)))
		return CMD_OK;
	if (mad[MAD_METHOD] == METHOD_TRAP_REPRESS)
		return CMD_OK; /* taken note of; there is no response to it */
	return cmd_fail(cmd, CMD_BAD_PKT,
			"class 0x%x, method 0x%x: not for an agent, or the M_Key is wrong", mad[1],
			mad[MAD_METHOD]);
}

/* Registers: data has the bytes that the layout needs; the answer is made in place. */
static enum cmd_status reg_ptys(struct cmd *cmd, uint8_t *data)
{
	if (IFC_GET(ptys_reg, data, local_port) != 1 || IFC_GET(ptys_reg, data, proto_mask) != 1)
		return cmd_fail(cmd, CMD_BAD_PARAM, "PTYS of port %u, protocols 0x%x",
				(uint32_t)IFC_GET(ptys_reg, data, local_port),
				(uint32_t)IFC_GET(ptys_reg, data, proto_mask));
	IFC_SET(ptys_reg, data, ib_link_width_capability, PORT_WIDTHS);
	IFC_SET(ptys_reg, data, ib_link_width_admin, PORT_WIDTHS);
	IFC_SET(ptys_reg, data, ib_link_width_oper, PORT_WIDTH_ACTIVE);
	/* A bit for each of SDR, DDR, QDR, FDR10, FDR, EDR. */
	IFC_SET(ptys_reg, data, ib_proto_capability, PORT_SPEEDS | PORT_EXT_SPEEDS << 4);
	IFC_SET(ptys_reg, data, ib_proto_admin, PORT_SPEEDS | PORT_EXT_SPEEDS << 4);
	IFC_SET(ptys_reg, data, ib_proto_oper, PORT_EXT_SPEED_ACTIVE << 4);
	return CMD_OK;
}

static enum cmd_status reg_pmtu(struct cmd *cmd, uint8_t *data)
{
	if (IFC_GET(pmtu_reg, data, local_port) != 1)
		return cmd_fail(cmd, CMD_BAD_PARAM, "PMTU of another port");
	IFC_SET(pmtu_reg, data, max_mtu, PORT_MTU);
	IFC_SET(pmtu_reg, data, admin_mtu, PORT_MTU);
	IFC_SET(pmtu_reg, data, oper_mtu, 128u << cmd->hca->port.neighbor_mtu);
	return CMD_OK;
}

static enum cmd_status reg_pvlc(struct cmd *cmd, uint8_t *data)
{
	if (IFC_GET(pvlc_reg, data, local_port) != 1)
		return cmd_fail(cmd, CMD_BAD_PARAM, "PVLC of another port");
	IFC_SET(pvlc_reg, data, vl_hw_cap, PORT_VLS);
	IFC_SET(pvlc_reg, data, vl_admin, PORT_VLS);
	IFC_SET(pvlc_reg, data, vl_operational, PORT_VLS);
	return CMD_OK;
}

static uint32_t at_most(uint64_t value, uint32_t max)
{
	return value < max ? (uint32_t)value : max;
}

enum { PPCNT_IB = 0x20, PPCNT_IB_EXTENDED = 0x21 };

/* PortCounters (IBTA 16.1.3.5): they stop at their end. Data is in units of 4 octets. */
static void ppcnt_ib(const struct port *p, uint8_t *set)
{
	/* Behind vl_15_dropped; the kernel's layout does not name them. */
	uint8_t *traffic = set + IFC_BYTE(ib_port_cntrs_grp_data_layout, reserved_at_a0);

	IFC_SET(ib_port_cntrs_grp_data_layout, set, link_downed_counter,
		at_most(p->link_downed, UINT8_MAX));
	IFC_SET(ib_port_cntrs_grp_data_layout, set, port_xmit_discards,
		at_most(p->xmit_discards, UINT16_MAX));
	put_be32(traffic, at_most(p->xmit_bytes / 4, UINT32_MAX));
	put_be32(traffic + 4, at_most(p->rcv_bytes / 4, UINT32_MAX));
	put_be32(traffic + 8, at_most(p->xmit_packets, UINT32_MAX));
	put_be32(traffic + 12, at_most(p->rcv_packets, UINT32_MAX));
}

#define EXTENDED(field) IFC_ADDR(ib_ext_port_cntrs_grp_data_layout, set, field##_high)

static void ppcnt_ib_extended(const struct port *p, uint8_t *set)
{
	put_be64(EXTENDED(port_xmit_data), p->xmit_bytes / 4);
	put_be64(EXTENDED(port_rcv_data), p->rcv_bytes / 4);
	put_be64(EXTENDED(port_xmit_pkts), p->xmit_packets);
	put_be64(EXTENDED(port_rcv_pkts), p->rcv_packets);
	put_be64(EXTENDED(port_unicast_xmit_pkts), p->xmit_packets - p->xmit_mc_packets);
	put_be64(EXTENDED(port_multicast_xmit_pkts), p->xmit_mc_packets);
	put_be64(EXTENDED(port_unicast_rcv_pkts), p->rcv_packets - p->rcv_mc_packets);
	put_be64(EXTENDED(port_multicast_rcv_pkts), p->rcv_mc_packets);
}

static enum cmd_status reg_ppcnt(struct cmd *cmd, uint8_t *data)
{
	uint8_t *set = IFC_ADDR(ppcnt_reg, data, counter_set);
	uint32_t group = IFC_GET(ppcnt_reg, data, grp);

	if (IFC_GET(ppcnt_reg, data, local_port) != 1 ||
	    (group != PPCNT_IB && group != PPCNT_IB_EXTENDED))
		return cmd_fail(cmd, CMD_BAD_PARAM, "PPCNT of port %u, group 0x%x",
				(uint32_t)IFC_GET(ppcnt_reg, data, local_port), group);
	memset(set, 0, IFC_SIZE(ppcnt_reg) - IFC_BYTE(ppcnt_reg, counter_set));
	if (group == PPCNT_IB)
		ppcnt_ib(&cmd->hca->port, set);
	else
		ppcnt_ib_extended(&cmd->hca->port, set);
	if (IFC_GET(ppcnt_reg, data, clr))
		port_clear_counters(cmd->hca);
	return CMD_OK;
}

static enum cmd_status reg_node_desc(struct cmd *cmd, uint8_t *data)
{
	memcpy(data, cmd->hca->port.node_desc, PORT_DESC_LEN);
	return CMD_OK;
}

static enum cmd_status reg_node_desc_write(struct cmd *cmd, uint8_t *data)
{
	memcpy(cmd->hca->port.node_desc, data, PORT_DESC_LEN);
	return CMD_OK;
}

/* Of the requester's atomics: little-endian hosts only. */
static enum cmd_status reg_host_endianness(struct cmd *cmd, uint8_t *data)
{
	if (IFC_GET(register_host_endianness, data, he))
		return cmd_fail(cmd, CMD_BAD_PARAM, "a big-endian host");
	return CMD_OK;
}

/* Register numbers are those of enum MLX5_REG_* in linux/mlx5/driver.h. NULL: not that way. */
static const struct {
	uint16_t id;
	uint16_t len;
	enum cmd_status (*read)(struct cmd *cmd, uint8_t *data);
	enum cmd_status (*write)(struct cmd *cmd, uint8_t *data);
} registers[] = {
	{ 0x5003, IFC_SIZE(pmtu_reg), reg_pmtu, NULL },
	{ 0x5004, IFC_SIZE(ptys_reg), reg_ptys, NULL },
	{ 0x5008, IFC_SIZE(ppcnt_reg), reg_ppcnt, NULL },
	{ 0x500f, IFC_SIZE(pvlc_reg), reg_pvlc, NULL },
	{ 0x6001, PORT_DESC_LEN, reg_node_desc, reg_node_desc_write },
	{ 0x7004, IFC_SIZE(register_host_endianness), reg_host_endianness, reg_host_endianness },
};

enum { REGISTER_WRITE = 0, REGISTER_READ = 1 };

static enum cmd_status access_register(struct cmd *cmd)
{
	uint32_t id = IFC_GET(access_register_in, cmd->in, register_id);
	uint32_t at = IFC_BYTE(access_register_in, register_data);
	uint8_t *data = IFC_ADDR(access_register_out, cmd->out, register_data);
	enum cmd_status (*fn)(struct cmd *cmd, uint8_t *data) = NULL;
	unsigned int i = 0;

	while (i < sizeof(registers) / sizeof(registers[0]) && registers[i].id != id)
		i++;
	if (i == sizeof(registers) / sizeof(registers[0]))
		return cmd_fail(cmd, CMD_BAD_PARAM, "register 0x%x", id);
	if (cmd->op_mod == REGISTER_READ)
		fn = registers[i].read;
	else if (cmd->op_mod == REGISTER_WRITE)
		fn = registers[i].write;
	if (!fn)
		return cmd_fail(cmd, CMD_BAD_PARAM, "register 0x%x, op_mod %u", id, cmd->op_mod);
	if (cmd->in_len < at + registers[i].len)
		return cmd_fail(cmd, CMD_BAD_INP_LEN, "register 0x%x has %u bytes", id,
				registers[i].len);
	if (cmd->out_len < at + registers[i].len)
		return cmd_fail(cmd, CMD_BAD_OUTP_LEN, "register 0x%x has %u bytes", id,
				registers[i].len);
	memcpy(data, cmd->in + at, registers[i].len);
	return fn(cmd, data);
}

const struct cmd_desc cmd_table_port[] = {
	{ MLX5_CMD_OP_ACCESS_REG, "ACCESS_REG", IFC_SIZE(access_register_in),
	  IFC_SIZE(access_register_out), CMD_ENABLED, access_register, false },
	CMD_DESC(QUERY_HCA_VPORT_CONTEXT, query_hca_vport_context, CMD_INITIALIZED,
		 query_hca_vport_context, true),
	CMD_DESC(MODIFY_HCA_VPORT_CONTEXT, modify_hca_vport_context, CMD_INITIALIZED,
		 modify_hca_vport_context, false),
	CMD_DESC(QUERY_HCA_VPORT_GID, query_hca_vport_gid, CMD_INITIALIZED, query_hca_vport_gid,
		 false),
	CMD_DESC(QUERY_HCA_VPORT_PKEY, query_hca_vport_pkey, CMD_INITIALIZED, query_hca_vport_pkey,
		 false),
	CMD_DESC(QUERY_VPORT_STATE, query_vport_state, CMD_INITIALIZED, query_vport_state, true),
	CMD_DESC(QUERY_VPORT_COUNTER, query_vport_counter, CMD_INITIALIZED, query_vport_counter,
		 true),
	CMD_DESC(MAD_IFC, mad_ifc, CMD_INITIALIZED, mad_ifc, false),
	{ 0 },
};
