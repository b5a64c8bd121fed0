/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The InfiniBand port of a function: addresses, state, tables, counters; its management agents. */
#ifndef HCA_PORT_H
#define HCA_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/m_key.h"

struct hca;

enum port_state { PORT_DOWN = 1, PORT_INIT = 2, PORT_ARMED = 3, PORT_ACTIVE = 4 };
enum port_physical { PORT_POLLING = 2, PORT_DISABLED = 3, PORT_LINK_UP = 5 };

#define PORT_PKEYS 8
#define PORT_GIDS 8
#define PORT_MTU 4096u
#define PORT_PKEY_DEFAULT 0xffffu
#define PORT_DESC_LEN 64u

/* What the hardware is: 4x EDR, one data VL. As the PTYS register and PortInfo say it. */
#define PORT_WIDTHS 0x3u /* 1x, 4x */
#define PORT_WIDTH_ACTIVE 0x2u
#define PORT_SPEEDS 0x7u /* SDR, DDR, QDR */
#define PORT_SPEED_ACTIVE 0x4u
#define PORT_EXT_SPEEDS 0x3u /* FDR, EDR */
#define PORT_EXT_SPEED_ACTIVE 0x2u
#define PORT_VLS 1u

/* PortInfo:CapabilityMask (IBTA vol. 1, 14.2.5.6). */
enum {
	PORT_CAP_SM = 1u << 1,
	PORT_CAP_TRAP = 1u << 3,
	PORT_CAP_SL_MAP = 1u << 6,
	PORT_CAP_SM_DISABLED = 1u << 10,
	PORT_CAP_SYSTEM_GUID = 1u << 11,
	PORT_CAP_EXT_SPEEDS = 1u << 14,
	PORT_CAP_CM = 1u << 16,
	PORT_CAP_SNMP = 1u << 17,
	PORT_CAP_DEVICE_MGMT = 1u << 19,
	PORT_CAP_VENDOR_CLASS = 1u << 20,
	PORT_CAP_CLIENT_REREGISTER = 1u << 25,
};
/* These say what runs on the host, so its driver may change them. */
#define PORT_CAP_OF_HOST \
	(PORT_CAP_SM | PORT_CAP_SM_DISABLED | PORT_CAP_CM | PORT_CAP_SNMP | PORT_CAP_DEVICE_MGMT | \
	 PORT_CAP_VENDOR_CLASS)

struct port {
	uint64_t node_guid, port_guid, gid_prefix;
	uint64_t guids[PORT_GIDS]; /* aliases, given by a subnet manager; [0] is port_guid */
	uint16_t lid, sm_lid;
	uint8_t lmc, sm_sl;
	enum port_state state;
	bool disabled; /* by a subnet manager, or by the host through its agent */
	uint32_t cap_mask;
	struct m_key m_key;
	uint8_t neighbor_mtu; /* IBTA code; 5 is 4096 bytes */
	uint8_t subnet_timeout, init_type_reply, vl_high_limit;
	uint16_t pkeys[PORT_PKEYS]; /* full members have bit 15 */
	char node_desc[PORT_DESC_LEN];

	/* All packets; and those of them that are to or from multicast groups. */
	uint64_t xmit_bytes, rcv_bytes, xmit_packets, rcv_packets, xmit_discards;
	uint64_t xmit_mc_bytes, rcv_mc_bytes, xmit_mc_packets, rcv_mc_packets;
	uint64_t link_downed;
};

/*
 * Power-on: GUIDs from hca->index; with the built-in LID assignment (hca->external_sm is not set)
 * also LID and ACTIVE. A link that faults.link_down holds down stays down. The traffic counters
 * stay. No events: there is no driver yet.
 */
void port_init(struct hca *hca);

/* Changes the state; PORT_CHANGE events tell the driver (active, down, initialized). */
void port_set_state(struct hca *hca, enum port_state state);
/* The link trains anew, or is held down (disabled, fault): state and events follow. */
void port_retrain(struct hca *hca);

/* From now on a subnet manager gives LIDs and states, or the model does: all that one has given is gone, with events. */
void port_managed(struct hca *hca, bool external_sm);

enum port_physical port_physical(const struct hca *hca);

/* The traffic counters start at 0 again. */
void port_clear_counters(struct hca *hca);

/*
 * The agents behind MAD_IFC: subnet management (class 0x01, 0x81), performance management (0x04).
 * mad: 256 bytes, request in, response out. check_mkey: the M_Key is looked at; it is not for
 * MADs of the host itself. Returns false if there is no response to send. (mad.c)
 */
bool port_mad(struct hca *hca, uint8_t mad[256], bool check_mkey);

/* Whether a packet with the one P_Key gets in by the other: one of them is a full member's. */
static inline bool pkeys_match(uint16_t a, uint16_t b)
{
	return (a & 0x7fff) && !((a ^ b) & 0x7fff) && ((a | b) & 0x8000);
}

/* The P_Key of the table by which a packet with this one gets in; 0: there is none. */
uint16_t port_pkey_of(const struct hca *hca, uint16_t pkey);

/* The GID at index (0: prefix + port GUID), 16 bytes, network order; false past the table. */
bool port_gid(const struct hca *hca, unsigned int index, uint8_t gid[16]);
/* Whether there is one at index: an entry may be empty. */
bool port_gid_valid(const struct hca *hca, unsigned int index);
/* Whether the port has it: by the subnet's prefix, or by the one that holds everywhere (IBTA 4.1.1). */
bool port_has_gid(const struct hca *hca, const uint8_t gid[16]);

#endif
