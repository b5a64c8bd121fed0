/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* PortInfo (IBTA vol. 1, 14.2.5.6): the layout, and what holds for ports of HCAs and of the switch. */
#ifndef HCA_PORT_INFO_H
#define HCA_PORT_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/packet.h"
#include "firmware/port.h"

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
	PI_STALL_HOQ_LIFE = 42,
	PI_OPERATIONAL_VLS = 43,
	PI_MKEY_VIOLATIONS = 44,
	PI_GUID_CAP = 50,
	PI_SUBNET_TIMEOUT = 51,
	PI_RESPONSE_TIME = 52,
	PI_ERROR_THRESHOLDS = 53,
	PI_EXT_SPEED = 62,
	PI_EXT_SPEED_ENABLED = 63,
};

#define PI_DOWN_DEFAULT_POLLING 2u
#define PI_MTU_4096 5u
#define PI_RESPONSE_TIME_VALUE 16u
#define PI_REREGISTER 0x80u
#define PI_PHYSICAL_POLLING 2u
#define PI_PHYSICAL_DISABLED 3u

static inline bool lid_unicast(uint16_t lid)
{
	return lid && lid < LID_MULTICAST;
}

/* The steps that a subnet manager may ask for; 0 is none (table 146). */
static inline bool port_step_allowed(enum port_state now, unsigned int to)
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

/* What a Set asks of the link: MTU, state and physical state. */
static inline bool port_info_link_valid(enum port_state now, const uint8_t *d)
{
	unsigned int mtu = d[PI_MTU_SM_SL] >> 4, state = d[PI_SPEED_STATE] & 0xf;
	unsigned int physical = d[PI_PHYSICAL_DEFAULT] >> 4;

	if (!mtu || mtu > PI_MTU_4096 || !port_step_allowed(now, state))
		return false;
	/* A change of the physical state goes with "down", or with no word on the state. */
	return !physical || (physical <= PI_PHYSICAL_DISABLED && state <= PORT_DOWN);
}

/* What the hardware is, and what it runs at: the same for all ports. */
static inline void port_info_put_link(uint8_t *d, enum port_state state,
				      enum port_physical physical)
{
	d[PI_WIDTH_ENABLED] = d[PI_WIDTH_SUPPORTED] = PORT_WIDTHS;
	d[PI_WIDTH_ACTIVE] = PORT_WIDTH_ACTIVE;
	d[PI_SPEED_STATE] = (uint8_t)(PORT_SPEEDS << 4 | state);
	d[PI_PHYSICAL_DEFAULT] = (uint8_t)(physical << 4 | PI_DOWN_DEFAULT_POLLING);
	d[PI_SPEED] = PORT_SPEED_ACTIVE << 4 | PORT_SPEEDS;
	d[PI_VL_CAP] = PORT_VLS << 4;
	d[PI_OPERATIONAL_VLS] = PORT_VLS << 4;
	d[PI_EXT_SPEED] = PORT_EXT_SPEED_ACTIVE << 4 | PORT_EXT_SPEEDS;
	d[PI_EXT_SPEED_ENABLED] = PORT_EXT_SPEEDS;
}

#endif
