// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* PortInfo of the switch's ports (IBTA vol. 1, 14.2.5.6): which fields count depends on whether it is port 0. */
#include <string.h>

#include "engine/fabric.h"
#include "firmware/mad.h"
#include "firmware/port_info.h"
#include "ifc.h"
#include "switch/switch.h"

#define OPERATIONAL_VLS 0xf0u
#define ENFORCEMENT 0x0fu /* of partitions and raw packets, in both directions */

static void get_own(const struct ib_switch *sw, bool show_mkey, uint8_t *d)
{
	m_key_get(&sw->m_key, show_mkey, d);
	port_info_put_link(d, PORT_ACTIVE, PORT_LINK_UP);
	put_be64(d + PI_GID_PREFIX, sw->gid_prefix);
	put_be16(d + PI_LID, sw->lid);
	put_be16(d + PI_SM_LID, sw->sm_lid);
	put_be32(d + PI_CAP_MASK,
		 PORT_CAP_TRAP | PORT_CAP_SL_MAP | PORT_CAP_SYSTEM_GUID | PORT_CAP_EXT_SPEEDS);
	d[PI_MTU_SM_SL] = (uint8_t)(PI_MTU_4096 << 4 | sw->sm_sl);
	d[PI_GUID_CAP] = 1;
	d[PI_SUBNET_TIMEOUT] = sw->subnet_timeout;
	d[PI_RESPONSE_TIME] = PI_RESPONSE_TIME_VALUE;
}

/* LMC is 0 at base port 0, and the state does not count. */
static bool own_valid(const uint8_t *d)
{
	return !(d[PI_PROTECT_LMC] & 7) && lid_unicast(be16_at(d + PI_LID)) &&
	       lid_unicast(be16_at(d + PI_SM_LID));
}

static void set_own(struct ib_switch *sw, const uint8_t *d)
{
	m_key_set(&sw->m_key, d);
	sw->gid_prefix = be64_at(d + PI_GID_PREFIX);
	sw->lid = be16_at(d + PI_LID);
	sw->sm_lid = be16_at(d + PI_SM_LID);
	sw->sm_sl = d[PI_MTU_SM_SL] & 0xf;
	sw->subnet_timeout = d[PI_SUBNET_TIMEOUT] & 0x1f;
}

static enum port_physical physical_of(const struct switch_port *p)
{
	if (p->disabled)
		return PORT_DISABLED;
	return p->state == PORT_DOWN ? PORT_POLLING : PORT_LINK_UP;
}

static void get_outer(const struct switch_port *p, uint8_t *d)
{
	port_info_put_link(d, p->state, physical_of(p));
	d[PI_MTU_SM_SL] = (uint8_t)(p->neighbor_mtu << 4);
	d[PI_VL_HIGH_LIMIT] = p->vl_high_limit;
	d[PI_STALL_HOQ_LIFE] = p->stall_hoq_life;
	d[PI_ERROR_THRESHOLDS] = p->error_thresholds;
}

static bool outer_valid(const struct switch_port *p, const uint8_t *d)
{
	unsigned int vls = (d[PI_OPERATIONAL_VLS] & OPERATIONAL_VLS) >> 4;

	return port_info_link_valid(p->state, d) && vls <= PORT_VLS &&
	       !(d[PI_OPERATIONAL_VLS] & ENFORCEMENT);
}

static void set_state(struct ib_switch *sw, unsigned int port, const uint8_t *d)
{
	unsigned int state = d[PI_SPEED_STATE] & 0xf, physical = d[PI_PHYSICAL_DEFAULT] >> 4;
	struct switch_port *p = &sw->ports[port];

	if (physical == PI_PHYSICAL_DISABLED)
		p->disabled = true;
	if (physical == PI_PHYSICAL_POLLING)
		p->disabled = false;
	if (physical || state == PORT_DOWN) {
		sw->setting = true;
		fabric_retrain(sw->fabric, port - 1, p->disabled);
		sw->setting = false;
	} else if (state) {
		p->state = (enum port_state)state;
	}
}

static void set_outer(struct ib_switch *sw, unsigned int port, const uint8_t *d)
{
	struct switch_port *p = &sw->ports[port];

	p->neighbor_mtu = d[PI_MTU_SM_SL] >> 4;
	p->vl_high_limit = d[PI_VL_HIGH_LIMIT];
	p->stall_hoq_life = d[PI_STALL_HOQ_LIFE];
	p->error_thresholds = d[PI_ERROR_THRESHOLDS];
	set_state(sw, port, d);
}

uint16_t switch_port_info(struct ib_switch *sw, unsigned int from, bool set, uint32_t modifier,
			  bool show_mkey, uint8_t *d)
{
	unsigned int port = modifier & 0xff;

	if (port > SWITCH_PORTS)
		return MAD_BAD_VALUE;
	if (set) {
		if (port ? !outer_valid(&sw->ports[port], d) : !own_valid(d))
			return MAD_BAD_VALUE;
		if (port)
			set_outer(sw, port, d);
		else
			set_own(sw, d);
	}
	memset(d, 0, MAD_SMP_DATA_LEN);
	if (port)
		get_outer(&sw->ports[port], d);
	else
		get_own(sw, show_mkey, d);
	d[PI_LOCAL_PORT] = (uint8_t)from;
	d[PI_INIT_REPLY_MTU_CAP] = PI_MTU_4096;
	return MAD_OK;
}
