// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The switch's subnet management agent (IBTA vol. 1, 14.2.5): all attributes but PortInfo. */
#include <string.h>

#include "firmware/mad.h"
#include "ifc.h"
#include "switch/switch.h"

#define NODE_SWITCH 2
#define DEVICE_INFINISCALE3 0xb924u
#define LIDS_PER_BLOCK 64u
#define MLIDS_PER_BLOCK 32u

/* SwitchInfo: offsets. */
enum {
	SI_LINEAR_CAP = 0,
	SI_MULTICAST_CAP = 4,
	SI_LINEAR_TOP = 6,
	SI_DEFAULT_PORTS = 8, /* unicast, multicast, multicast back from the first: an octet each */
	SI_LIFE_TIME_CHANGE = 11,
};
#define SI_PORT_CHANGED 0x04u

static uint16_t node_desc(bool set, uint8_t *d)
{
	static const char text[] = "hca-model switch";

	if (set)
		return MAD_BAD_METHOD;
	memset(d, 0, MAD_SMP_DATA_LEN);
	memcpy(d, text, sizeof(text) - 1);
	return MAD_OK;
}

static uint16_t node_info(const struct ib_switch *sw, unsigned int from, bool set, uint8_t *d)
{
	if (set)
		return MAD_BAD_METHOD;
	memset(d, 0, MAD_SMP_DATA_LEN);
	d[NI_BASE_VERSION] = d[NI_CLASS_VERSION] = 1;
	d[NI_TYPE] = NODE_SWITCH;
	d[NI_PORTS] = SWITCH_PORTS;
	put_be64(d + NI_SYSTEM_GUID, sw->guid);
	put_be64(d + NI_NODE_GUID, sw->guid);
	put_be64(d + NI_PORT_GUID, sw->guid);
	put_be16(d + NI_PKEYS, PORT_PKEYS);
	put_be16(d + NI_DEVICE, DEVICE_INFINISCALE3);
	put_be32(d + NI_LOCAL_PORT_VENDOR, from << 24 | MAD_VENDOR_MELLANOX);
	return MAD_OK;
}

/* What is in no table goes nowhere: there are no default ports. */
static bool switch_info_valid(const uint8_t *d)
{
	return be16_at(d + SI_LINEAR_TOP) < SWITCH_LIDS && !d[SI_DEFAULT_PORTS] &&
	       !d[SI_DEFAULT_PORTS + 1] && !d[SI_DEFAULT_PORTS + 2];
}

static void set_switch_info(struct ib_switch *sw, const uint8_t *d)
{
	sw->linear_top = be16_at(d + SI_LINEAR_TOP);
	sw->life_time = d[SI_LIFE_TIME_CHANGE] >> 3;
	if (d[SI_LIFE_TIME_CHANGE] & SI_PORT_CHANGED)
		sw->port_changed = false;
}

static uint16_t switch_info(struct ib_switch *sw, bool set, uint8_t *d)
{
	if (set) {
		if (!switch_info_valid(d))
			return MAD_BAD_VALUE;
		set_switch_info(sw, d);
	}
	memset(d, 0, MAD_SMP_DATA_LEN);
	put_be16(d + SI_LINEAR_CAP, SWITCH_LIDS);
	put_be16(d + SI_MULTICAST_CAP, SWITCH_MLIDS);
	put_be16(d + SI_LINEAR_TOP, sw->linear_top);
	d[SI_LIFE_TIME_CHANGE] =
		(uint8_t)(sw->life_time << 3 | (sw->port_changed ? SI_PORT_CHANGED : 0));
	return MAD_OK;
}

/* Base port 0 has one GUID, which stays. */
static uint16_t guid_info(const struct ib_switch *sw, bool set, uint32_t block, uint8_t *d)
{
	if (set)
		return MAD_BAD_METHOD;
	if (block)
		return MAD_BAD_VALUE;
	memset(d, 0, MAD_SMP_DATA_LEN);
	put_be64(d, sw->guid);
	return MAD_OK;
}

/* Of port 0; the others enforce no partitions, and have none. */
static uint16_t pkey_table(struct ib_switch *sw, bool set, uint32_t modifier, uint8_t *d)
{
	bool changed = false;

	return modifier ? MAD_BAD_VALUE : mad_pkey_table(sw->pkeys, set, d, &changed);
}

/* There is one VL, so every SL has it whatever is asked for. */
static uint16_t sl_to_vl(uint32_t modifier, uint8_t *d)
{
	if ((modifier & 0xff) > SWITCH_PORTS || (modifier >> 8 & 0xff) > SWITCH_PORTS)
		return MAD_BAD_VALUE;
	memset(d, 0, MAD_SMP_DATA_LEN);
	return MAD_OK;
}

static uint16_t linear_table(struct ib_switch *sw, bool set, uint32_t block, uint8_t *d)
{
	_Static_assert(LIDS_PER_BLOCK == MAD_SMP_DATA_LEN, "an octet each");

	if (block >= SWITCH_LIDS / LIDS_PER_BLOCK)
		return MAD_BAD_VALUE;
	if (set)
		memcpy(sw->linear + block * LIDS_PER_BLOCK, d, LIDS_PER_BLOCK);
	memcpy(d, sw->linear + block * LIDS_PER_BLOCK, LIDS_PER_BLOCK);
	return MAD_OK;
}

/* The modifier has the block, and which 16 of the ports: all of this switch are in the first. */
static uint16_t multicast_table(struct ib_switch *sw, bool set, uint32_t modifier, uint8_t *d)
{
	uint16_t *entry;

	_Static_assert(SWITCH_PORTS < 16, "one position");
	if (modifier >= SWITCH_MLIDS / MLIDS_PER_BLOCK)
		return MAD_BAD_VALUE;
	entry = sw->multicast + modifier * MLIDS_PER_BLOCK;
	for (unsigned int i = 0; set && i < MLIDS_PER_BLOCK; i++)
		entry[i] = be16_at(d + 2 * i) & ((2u << SWITCH_PORTS) - 1);
	for (unsigned int i = 0; i < MLIDS_PER_BLOCK; i++)
		put_be16(d + 2 * i, entry[i]);
	return MAD_OK;
}

static uint16_t attribute(struct ib_switch *sw, unsigned int from, bool set, bool key_matched,
			  uint8_t *mad)
{
	uint32_t modifier = be32_at(mad + MAD_ATTR_MODIFIER);
	uint8_t *d = mad + MAD_SMP_DATA;

	switch (be16_at(mad + MAD_ATTR)) {
	case ATTR_NODE_DESC:
		return node_desc(set, d);
	case ATTR_NODE_INFO:
		return node_info(sw, from, set, d);
	case ATTR_SWITCH_INFO:
		return switch_info(sw, set, d);
	case ATTR_GUID_INFO:
		return guid_info(sw, set, modifier, d);
	case ATTR_PORT_INFO:
		return switch_port_info(sw, from, set, modifier, key_matched, d);
	case ATTR_PKEY_TABLE:
		return pkey_table(sw, set, modifier, d);
	case ATTR_SL_TO_VL:
		return sl_to_vl(modifier, d);
	case ATTR_LINEAR_TABLE:
		return linear_table(sw, set, modifier, d);
	case ATTR_MULTICAST_TABLE:
		return multicast_table(sw, set, modifier, d);
	default:
		return MAD_BAD_ATTRIBUTE;
	}
}

bool switch_agent(struct ib_switch *sw, unsigned int from, uint8_t mad[256])
{
	bool directed = mad[MAD_CLASS] == MAD_CLASS_DIRECTED;
	bool set = mad[MAD_METHOD] == MAD_METHOD_SET;
	bool matched = m_key_matches(&sw->m_key, mad);
	uint16_t status;

	if (mad[MAD_METHOD] == MAD_METHOD_TRAP_REPRESS)
		switch_trap_repressed(sw, mad);
	if (mad[MAD_METHOD] & MAD_METHOD_IS_RESPONSE || mad[MAD_METHOD] == MAD_METHOD_TRAP ||
	    mad[MAD_METHOD] == MAD_METHOD_TRAP_REPRESS)
		return false;
	if (mad[MAD_BASE_VERSION] != 1 || mad[MAD_CLASS_VERSION] != 1)
		status = MAD_BAD_VERSION;
	else if (!set && mad[MAD_METHOD] != MAD_METHOD_GET)
		status = MAD_BAD_METHOD;
	else if (!m_key_allows(&sw->m_key, loop_now(sw->loop), set, matched))
		return false;
	else
		status = attribute(sw, from, set, matched, mad);
	mad[MAD_METHOD] = MAD_METHOD_RESPONSE;
	put_be16(mad + MAD_STATUS, status | (directed ? MAD_DIRECTION : 0));
	return true;
}
