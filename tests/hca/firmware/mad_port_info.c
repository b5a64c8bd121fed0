// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* PortInfo (IBTA vol. 1, 14.2.5.6): how a subnet manager reads and configures the port. */
#include "engine/packet.h"
#include "firmware/mad.h"
#include "hca.h"
#include "ifc.h"
#include "objects/eq.h"

/* Offsets of what is read or written; fields that share an octet are told apart in the code. */
enum {
	PI_MKEY = 0,
	PI_GID_PREFIX = 8,
	PI_LID = 16,
	PI_SM_LID = 18,
	PI_CAP_MASK = 20,
	PI_MKEY_LEASE = 26,
	PI_LOCAL_PORT = 28,
	PI_WIDTH_ENABLED = 29,
	PI_WIDTH_SUPPORTED = 30,
	PI_WIDTH_ACTIVE = 31,
	PI_SPEED_STATE = 32,
	PI_PHYSICAL_DEFAULT = 33,
	PI_PROTECT_LMC = 34,
	PI_SPEED = 35,
	PI_MTU_SM_SL = 36,
	PI_VL_CAP = 37,
	PI_VL_HIGH_LIMIT = 38,
	PI_INIT_REPLY_MTU_CAP = 41,
	PI_OPERATIONAL_VLS = 43,
	PI_MKEY_VIOLATIONS = 44,
	PI_GUID_CAP = 50,
	PI_SUBNET_TIMEOUT = 51,
	PI_RESPONSE_TIME = 52,
	PI_EXT_SPEED = 62,
	PI_EXT_SPEED_ENABLED = 63,
};

#define DOWN_DEFAULT_POLLING 2u
#define MTU_4096 5u
#define RESPONSE_TIME 16u
#define REREGISTER 0x80u
#define PHYSICAL_POLLING 2u
#define PHYSICAL_DISABLED 3u

/* MLX5_PORT_CHANGE_SUBTYPE_* of linux/mlx5/device.h. */
enum { CHANGE_LID = 6, CHANGE_GUID = 8, CHANGE_REREGISTER = 9 };

static void get(const struct hca *hca, bool show_mkey, uint8_t *d)
{
	unsigned int physical = port_physical(hca);
	const struct port *p = &hca->port;

	memset(d, 0, MAD_SMP_DATA_LEN);
	if (show_mkey || !p->mkey_protect)
		put_be64(d + PI_MKEY, p->mkey);
	put_be64(d + PI_GID_PREFIX, p->gid_prefix);
	put_be16(d + PI_LID, p->lid);
	put_be16(d + PI_SM_LID, p->sm_lid);
	put_be32(d + PI_CAP_MASK, p->cap_mask);
	put_be16(d + PI_MKEY_LEASE, p->mkey_lease);
	d[PI_LOCAL_PORT] = 1;
	d[PI_WIDTH_ENABLED] = d[PI_WIDTH_SUPPORTED] = PORT_WIDTHS;
	d[PI_WIDTH_ACTIVE] = PORT_WIDTH_ACTIVE;
	d[PI_SPEED_STATE] = (uint8_t)(PORT_SPEEDS << 4 | p->state);
	d[PI_PHYSICAL_DEFAULT] = (uint8_t)(physical << 4 | DOWN_DEFAULT_POLLING);
	d[PI_PROTECT_LMC] = (uint8_t)(p->mkey_protect << 6 | p->lmc);
	d[PI_SPEED] = PORT_SPEED_ACTIVE << 4 | PORT_SPEEDS;
	d[PI_MTU_SM_SL] = (uint8_t)(p->neighbor_mtu << 4 | p->sm_sl);
	d[PI_VL_CAP] = PORT_VLS << 4;
	d[PI_VL_HIGH_LIMIT] = p->vl_high_limit;
	d[PI_INIT_REPLY_MTU_CAP] = (uint8_t)(p->init_type_reply << 4 | MTU_4096);
	d[PI_OPERATIONAL_VLS] = PORT_VLS << 4;
	put_be16(d + PI_MKEY_VIOLATIONS, p->mkey_violations);
	d[PI_GUID_CAP] = PORT_GIDS;
	d[PI_SUBNET_TIMEOUT] = p->subnet_timeout;
	d[PI_RESPONSE_TIME] = RESPONSE_TIME;
	d[PI_EXT_SPEED] = PORT_EXT_SPEED_ACTIVE << 4 | PORT_EXT_SPEEDS;
	d[PI_EXT_SPEED_ENABLED] = PORT_EXT_SPEEDS;
}

static bool unicast(uint16_t lid)
{
	return lid && lid < LID_MULTICAST;
}

/* The steps that a subnet manager may ask for; 0 is none (table 146). */
static bool state_allowed(enum port_state now, unsigned int to)
{
	switch (to) {
	case 0:
	case PORT_DOWN:
		return true;
	case PORT_ARMED:
		return now == PORT_INIT || now == PORT_ARMED;
	case PORT_ACTIVE:
		return now == PORT_ARMED || now == PORT_ACTIVE;
	default:
		return false;
	}
}

static bool valid(const struct hca *hca, const uint8_t *d)
{
	unsigned int lmc = d[PI_PROTECT_LMC] & 7, mtu = d[PI_MTU_SM_SL] >> 4;
	unsigned int state = d[PI_SPEED_STATE] & 0xf, physical = d[PI_PHYSICAL_DEFAULT] >> 4;
	uint16_t lid = be16_at(d + PI_LID);

	if (!unicast(lid) || lid & ((1u << lmc) - 1) || !unicast(be16_at(d + PI_SM_LID)))
		return false;
	if (!mtu || mtu > MTU_4096 || !state_allowed(hca->port.state, state))
		return false;
	/* A change of the physical state goes with "down", or with no word on the state. */
	if (physical && (physical > PHYSICAL_DISABLED || state > PORT_DOWN))
		return false;
	return true;
}

/* What a Set says of the link comes last: the rest holds from then on. */
static void set_state(struct hca *hca, const uint8_t *d)
{
	unsigned int state = d[PI_SPEED_STATE] & 0xf, physical = d[PI_PHYSICAL_DEFAULT] >> 4;

	if (physical == PHYSICAL_DISABLED)
		hca->port.disabled = true;
	if (physical == PHYSICAL_POLLING)
		hca->port.disabled = false;
	if (physical || state == PORT_DOWN)
		port_retrain(hca);
	else if (state && hca->port.state != state)
		port_set_state(hca, (enum port_state)state);
}

static void set_attributes(struct port *p, const uint8_t *d)
{
	p->mkey = be64_at(d + PI_MKEY);
	p->gid_prefix = be64_at(d + PI_GID_PREFIX);
	p->lid = be16_at(d + PI_LID);
	p->sm_lid = be16_at(d + PI_SM_LID);
	p->mkey_lease = be16_at(d + PI_MKEY_LEASE);
	p->mkey_protect = d[PI_PROTECT_LMC] >> 6;
	p->lmc = d[PI_PROTECT_LMC] & 7;
	p->neighbor_mtu = d[PI_MTU_SM_SL] >> 4;
	p->sm_sl = d[PI_MTU_SM_SL] & 0xf;
	p->vl_high_limit = d[PI_VL_HIGH_LIMIT];
	p->init_type_reply = d[PI_INIT_REPLY_MTU_CAP] >> 4;
	p->mkey_violations = be16_at(d + PI_MKEY_VIOLATIONS);
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
	if (d[PI_SUBNET_TIMEOUT] & REREGISTER)
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
