// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* PortInfo (IBTA vol. 1, 14.2.5.6): how a subnet manager reads and configures the port. */
#include "firmware/mad.h"
#include "firmware/port_info.h"
#include "hca.h"
#include "ifc.h"
#include "objects/eq.h"

/* MLX5_PORT_CHANGE_SUBTYPE_* of linux/mlx5/device.h. */
enum { CHANGE_LID = 6, CHANGE_GUID = 8, CHANGE_REREGISTER = 9 };

static void get(const struct hca *hca, bool show_mkey, uint8_t *d)
{
	const struct port *p = &hca->port;

	memset(d, 0, MAD_SMP_DATA_LEN);
	port_info_put_link(d, p->state, port_physical(hca));
	m_key_get(&p->m_key, show_mkey, d);
	put_be64(d + PI_GID_PREFIX, p->gid_prefix);
	put_be16(d + PI_LID, p->lid);
	put_be16(d + PI_SM_LID, p->sm_lid);
	put_be32(d + PI_CAP_MASK, p->cap_mask);
	d[PI_LOCAL_PORT] = 1;
	d[PI_PROTECT_LMC] |= p->lmc;
	d[PI_MTU_SM_SL] = (uint8_t)(p->neighbor_mtu << 4 | p->sm_sl);
	d[PI_VL_HIGH_LIMIT] = p->vl_high_limit;
	d[PI_INIT_REPLY_MTU_CAP] = (uint8_t)(p->init_type_reply << 4 | PI_MTU_4096);
	d[PI_GUID_CAP] = PORT_GIDS;
	d[PI_SUBNET_TIMEOUT] = p->subnet_timeout;
	d[PI_RESPONSE_TIME] = PI_RESPONSE_TIME_VALUE;
}

static bool valid(const struct hca *hca, const uint8_t *d)
{
	unsigned int lmc = d[PI_PROTECT_LMC] & 7;
	uint16_t lid = be16_at(d + PI_LID);

	return lid_unicast(lid) && !(lid & ((1u << lmc) - 1)) &&
	       lid_unicast(be16_at(d + PI_SM_LID)) && port_info_link_valid(hca->port.state, d);
}

/* What a Set says of the link comes last: the rest holds from then on. */
static void set_state(struct hca *hca, const uint8_t *d)
{
	unsigned int state = d[PI_SPEED_STATE] & 0xf, physical = d[PI_PHYSICAL_DEFAULT] >> 4;

	if (physical == PI_PHYSICAL_DISABLED)
		hca->port.disabled = true;
	if (physical == PI_PHYSICAL_POLLING)
		hca->port.disabled = false;
	if (physical || state == PORT_DOWN)
		port_retrain(hca);
	else if (state && hca->port.state != state)
		port_set_state(hca, (enum port_state)state);
}

static void set_attributes(struct port *p, const uint8_t *d)
{
	m_key_set(&p->m_key, d);
	p->gid_prefix = be64_at(d + PI_GID_PREFIX);
	p->lid = be16_at(d + PI_LID);
	p->sm_lid = be16_at(d + PI_SM_LID);
	p->lmc = d[PI_PROTECT_LMC] & 7;
	p->neighbor_mtu = d[PI_MTU_SM_SL] >> 4;
	p->sm_sl = d[PI_MTU_SM_SL] & 0xf;
	p->vl_high_limit = d[PI_VL_HIGH_LIMIT];
	p->init_type_reply = d[PI_INIT_REPLY_MTU_CAP] >> 4;
	p->subnet_timeout = d[PI_SUBNET_TIMEOUT] & 0x1f;
}

static void set(struct hca *hca, const uint8_t *d)
{
	struct port *p = &hca->port;
	uint64_t prefix = p->gid_prefix;
	uint16_t lid = p->lid;
	uint8_t lmc = p->lmc;

	set_attributes(p, d);
	if (p->lid != lid || p->lmc != lmc)
		eq_port_event(hca, CHANGE_LID);
	if (p->gid_prefix != prefix)
		eq_port_event(hca, CHANGE_GUID);
	set_state(hca, d);
	if (d[PI_SUBNET_TIMEOUT] & PI_REREGISTER)
		eq_port_event(hca, CHANGE_REREGISTER);
}

uint16_t mad_port_info(struct hca *hca, bool is_set, uint32_t modifier, bool show_mkey, uint8_t *d)
{
	if ((modifier & 0xff) > 1)
		return MAD_BAD_VALUE;
	if (is_set) {
		if (!valid(hca, d))
			return MAD_BAD_VALUE;
		set(hca, d);
	}
	get(hca, show_mkey, d);
	return MAD_OK;
}
