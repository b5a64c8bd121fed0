// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The port: what it is at power-on, its states and the events of their changes. */
#include <stdio.h>

#include "engine/fabric.h"
#include "hca.h"
#include "ifc.h"
#include "objects/eq.h"

#define GUID_BASE 0x0002c90300abcd00ull /* of a vendor's range; the functions are 256 apart */
#define GUID_STRIDE 0x100u
#define GID_PREFIX_DEFAULT 0xfe80000000000000ull
#define SUBNET_TIMEOUT 18u
#define MTU_4096 5u

/* MLX5_PORT_CHANGE_SUBTYPE_* of linux/mlx5/device.h. */
enum {
	CHANGE_DOWN = 1,
	CHANGE_ACTIVE = 4,
	CHANGE_INITIALIZED = 5,
	CHANGE_LID = 6,
	CHANGE_PKEY = 7,
	CHANGE_GUID = 8
};

void port_clear_counters(struct hca *hca)
{
	struct port *p = &hca->port;

	p->xmit_bytes = p->rcv_bytes = p->xmit_packets = p->rcv_packets = p->xmit_discards = 0;
	p->xmit_mc_bytes = p->rcv_mc_bytes = p->xmit_mc_packets = p->rcv_mc_packets = 0;
	p->link_downed = 0;
}

/* What the link comes up as: a port that assigns its own LID needs nobody to activate it. */
static enum port_state state_after_training(const struct hca *hca)
{
	if (hca->faults.link_down || hca->port.disabled || hca->peer_disabled)
		return PORT_DOWN;
	return hca->external_sm ? PORT_INIT : PORT_ACTIVE;
}

/* What a subnet manager gives, as it is before. */
static void reset_managed(struct hca *hca)
{
	struct port *p = &hca->port;
	uint16_t lid = (uint16_t)(hca->index + 1);

	p->gid_prefix = GID_PREFIX_DEFAULT;
	memset(p->guids, 0, sizeof(p->guids));
	p->guids[0] = p->port_guid;
	p->lid = hca->external_sm ? 0 : lid;
	p->sm_lid = hca->external_sm ? 0 : 1;
	p->lmc = p->sm_sl = 0;
	p->disabled = false;
	memset(&p->m_key, 0, sizeof(p->m_key));
	p->neighbor_mtu = MTU_4096;
	p->subnet_timeout = SUBNET_TIMEOUT;
	p->init_type_reply = p->vl_high_limit = 0;
	memset(p->pkeys, 0, sizeof(p->pkeys));
	p->pkeys[0] = PORT_PKEY_DEFAULT;
}

void port_init(struct hca *hca)
{
	struct port *p = &hca->port;

	p->node_guid = GUID_BASE + hca->index * GUID_STRIDE;
	p->port_guid = p->node_guid + 8;
	p->cap_mask = PORT_CAP_SL_MAP | PORT_CAP_SYSTEM_GUID | PORT_CAP_EXT_SPEEDS |
		      PORT_CAP_CLIENT_REREGISTER;
	memset(p->node_desc, 0, sizeof(p->node_desc));
	snprintf(p->node_desc, sizeof(p->node_desc), "hca-model %u", hca->index);
	reset_managed(hca);
	p->state = state_after_training(hca);
	fabric_link(hca, p->state != PORT_DOWN);
}

void port_managed(struct hca *hca, bool external_sm)
{
	hca->external_sm = external_sm;
	hca->peer_disabled = false;
	reset_managed(hca);
	eq_port_event(hca, CHANGE_LID);
	eq_port_event(hca, CHANGE_GUID);
	eq_port_event(hca, CHANGE_PKEY);
	port_retrain(hca);
}

enum port_physical port_physical(const struct hca *hca)
{
	if (hca->port.disabled)
		return PORT_DISABLED;
	return hca->port.state == PORT_DOWN ? PORT_POLLING : PORT_LINK_UP;
}

/* IBTA 11.6.3: a link that fails or recovers is reported; of the steps up, only the ends are. */
void port_set_state(struct hca *hca, enum port_state state)
{
	static const uint8_t change[] = {
		[PORT_DOWN] = CHANGE_DOWN,
		[PORT_INIT] = CHANGE_INITIALIZED,
		[PORT_ACTIVE] = CHANGE_ACTIVE,
	};

	if (hca->port.state == state)
		return;
	hca_log(hca, HCA_LOG_INFO, "port state %u -> %u", hca->port.state, state);
	hca->port.state = state;
	if (state == PORT_DOWN)
		hca->port.link_downed++;
	if (state != PORT_ARMED)
		eq_port_event(hca, change[state]);
}

void port_retrain(struct hca *hca)
{
	enum port_state state = state_after_training(hca);

	fabric_link(hca, state != PORT_DOWN);
	port_set_state(hca, PORT_DOWN);
	/*
	 * Not by way of INIT if that ends at once: the driver takes INIT for an error of the port, and programs
	 * may be told of two events that come together in either order (ib_dispatch_event()).
	 */
	port_set_state(hca, state);
}

void hca_set_link(struct hca *hca, bool up)
{
	if (hca->faults.link_down == !up)
		return;
	hca->faults.link_down = !up;
	port_retrain(hca);
}

uint16_t port_pkey_of(const struct hca *hca, uint16_t pkey)
{
	for (unsigned int i = 0; i < PORT_PKEYS; i++) {
		if (pkeys_match(hca->port.pkeys[i], pkey))
			return hca->port.pkeys[i];
	}
	return 0;
}

bool port_gid(const struct hca *hca, unsigned int index, uint8_t gid[16])
{
	if (index >= PORT_GIDS)
		return false;
	memset(gid, 0, 16);
	if (!hca->port.guids[index])
		return true;
	put_be64(gid, hca->port.gid_prefix);
	put_be64(gid + 8, hca->port.guids[index]);
	return true;
}

bool port_gid_valid(const struct hca *hca, unsigned int index)
{
	return index < PORT_GIDS && hca->port.guids[index];
}

bool port_has_gid(const struct hca *hca, const uint8_t gid[16])
{
	uint64_t prefix = be64_at(gid), guid = be64_at(gid + 8);

	if (!guid || (prefix != hca->port.gid_prefix && prefix != GID_PREFIX_DEFAULT))
		return false;
	for (unsigned int i = 0; i < PORT_GIDS; i++) {
		if (hca->port.guids[i] == guid)
			return true;
	}
	return false;
}
