// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The management agents of the port, behind MAD_IFC: subnet management (IBTA vol. 1, chapter 14)
 * and performance management (16.1). Offsets are those of the MAD as it is on the wire.
 */
#include "firmware/mad.h"
#include "hca.h"
#include "ifc.h"
#include "objects/eq.h"

#define NODE_CHANNEL_ADAPTER 1
#define DEVICE_CONNECTX5 0x1017u
#define GUIDS_PER_BLOCK 8u

/* MLX5_PORT_CHANGE_SUBTYPE_* of linux/mlx5/device.h. */
enum { CHANGE_PKEY = 7, CHANGE_GUID = 8 };

static void get_node_info(const struct hca *hca, uint8_t *d)
{
	d[NI_BASE_VERSION] = d[NI_CLASS_VERSION] = 1;
	d[NI_TYPE] = NODE_CHANNEL_ADAPTER;
	d[NI_PORTS] = 1;
	put_be64(d + NI_SYSTEM_GUID, hca->port.node_guid);
	put_be64(d + NI_NODE_GUID, hca->port.node_guid);
	put_be64(d + NI_PORT_GUID, hca->port.port_guid);
	put_be16(d + NI_PKEYS, PORT_PKEYS);
	put_be16(d + NI_DEVICE, DEVICE_CONNECTX5);
	put_be32(d + NI_LOCAL_PORT_VENDOR, 1u << 24 | MAD_VENDOR_MELLANOX);
}

static uint16_t node_desc(struct hca *hca, bool set, uint8_t *d)
{
	if (set)
		memcpy(hca->port.node_desc, d, PORT_DESC_LEN);
	memcpy(d, hca->port.node_desc, PORT_DESC_LEN);
	return MAD_OK;
}

static uint16_t node_info(struct hca *hca, bool set, uint8_t *d)
{
	if (set)
		return MAD_BAD_METHOD;
	memset(d, 0, MAD_SMP_DATA_LEN);
	get_node_info(hca, d);
	return MAD_OK;
}

/* The first one is the port's own and stays. */
static uint16_t guid_info(struct hca *hca, bool set, uint32_t block, uint8_t *d)
{
	struct port *p = &hca->port;
	bool changed = false;

	_Static_assert(PORT_GIDS == GUIDS_PER_BLOCK, "one block");
	if (block)
		return MAD_BAD_VALUE;
	for (unsigned int i = 1; set && i < PORT_GIDS; i++) {
		uint64_t guid = be64_at(d + 8 * i);

		changed |= p->guids[i] != guid;
		p->guids[i] = guid;
	}
	for (unsigned int i = 0; i < PORT_GIDS; i++)
		put_be64(d + 8 * i, p->guids[i]);
	if (changed)
		eq_port_event(hca, CHANGE_GUID);
	return MAD_OK;
}

static uint16_t pkey_table(struct hca *hca, bool set, uint32_t block, uint8_t *d)
{
	bool changed = false;
	uint16_t status = block & 0xffff ? MAD_BAD_VALUE :
					   mad_pkey_table(hca->port.pkeys, set, d, &changed);

	if (changed)
		eq_port_event(hca, CHANGE_PKEY);
	return status;
}

/* There is one VL, so every SL has it whatever is asked for. */
static uint16_t sl_to_vl(uint8_t *d)
{
	memset(d, 0, MAD_SMP_DATA_LEN);
	return MAD_OK;
}

static uint16_t subnet_attribute(struct hca *hca, uint8_t *mad, bool set, bool key_matched)
{
	uint32_t modifier = be32_at(mad + MAD_ATTR_MODIFIER);
	uint8_t *d = mad + MAD_SMP_DATA;

	switch (be16_at(mad + MAD_ATTR)) {
	case ATTR_NODE_DESC:
		return node_desc(hca, set, d);
	case ATTR_NODE_INFO:
		return node_info(hca, set, d);
	case ATTR_GUID_INFO:
		return guid_info(hca, set, modifier, d);
	case ATTR_PORT_INFO:
		return mad_port_info(hca, set, modifier, key_matched, d);
	case ATTR_PKEY_TABLE:
		return pkey_table(hca, set, modifier, d);
	case ATTR_SL_TO_VL:
		return sl_to_vl(d);
	default:
		return MAD_BAD_ATTRIBUTE;
	}
}

static bool subnet_agent(struct hca *hca, uint8_t *mad, bool check_mkey)
{
	bool directed = mad[MAD_CLASS] == MAD_CLASS_DIRECTED;
	bool set = mad[MAD_METHOD] == MAD_METHOD_SET;
	bool matched = !check_mkey || m_key_matches(&hca->port.m_key, mad);
	uint16_t status;

	if (mad[MAD_METHOD] == MAD_METHOD_TRAP_REPRESS)
		return false;
	if (mad[MAD_BASE_VERSION] != 1 || mad[MAD_CLASS_VERSION] != 1)
		status = MAD_BAD_VERSION;
	else if (!set && mad[MAD_METHOD] != MAD_METHOD_GET)
		status = MAD_BAD_METHOD;
	else if (!m_key_allows(&hca->port.m_key, loop_now(hca->loop), set, matched))
		return false;
	else
		status = subnet_attribute(hca, mad, set, matched);
	mad[MAD_METHOD] = MAD_METHOD_RESPONSE;
	put_be16(mad + MAD_STATUS, status | (directed ? MAD_DIRECTION : 0));
	return true;
}

static bool performance_agent(struct hca *hca, uint8_t *mad)
{
	bool set = mad[MAD_METHOD] == MAD_METHOD_SET;
	uint16_t status;

	if (mad[MAD_BASE_VERSION] != 1 || mad[MAD_CLASS_VERSION] != 1)
		status = MAD_BAD_VERSION;
	else if (!set && mad[MAD_METHOD] != MAD_METHOD_GET)
		status = MAD_BAD_METHOD;
	else
		status = mad_performance(hca, set, mad);
	mad[MAD_METHOD] = MAD_METHOD_RESPONSE;
	put_be16(mad + MAD_STATUS, status);
	return true;
}

bool port_mad(struct hca *hca, uint8_t mad[256], bool check_mkey)
{
	if (mad[MAD_METHOD] & MAD_METHOD_IS_RESPONSE)
		return false;
	switch (mad[MAD_CLASS]) {
	case MAD_CLASS_LID_ROUTED:
	case MAD_CLASS_DIRECTED:
		return subnet_agent(hca, mad, check_mkey);
	case MAD_CLASS_PERFORMANCE:
		return performance_agent(hca, mad);
	default:
		return false;
	}
}
