/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The InfiniBand port of a function: addresses, state, tables, counters; and its subnet management agent. */
#ifndef HCA_PORT_H
#define HCA_PORT_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

enum port_state { PORT_DOWN = 1, PORT_INIT = 2, PORT_ARMED = 3, PORT_ACTIVE = 4 };

#define PORT_PKEYS 8
#define PORT_GIDS 8
#define PORT_MTU 4096u

struct port {
	uint64_t node_guid, port_guid, gid_prefix;
	uint16_t lid, sm_lid;
	uint8_t lmc, sm_sl;
	enum port_state state;
	uint16_t pkeys[PORT_PKEYS]; /* full members have bit 15 */
	uint64_t xmit_bytes, rcv_bytes, xmit_packets, rcv_packets, xmit_discards;
};

/* Power-on: GUIDs from hca->index; with the built-in LID assignment also LID and ACTIVE. */
void port_init(struct hca *hca);

/* Changes the state and reports PORT_CHANGE events (active, down, lid, pkey, gid, ...) to the driver. */
void port_set_state(struct hca *hca, enum port_state state);

/*
 * The agents behind MAD_IFC: subnet management (class 0x01, 0x81), performance management (0x04).
 * mad: 256 bytes, request in, response out. Returns false if there is no response to send.
 */
bool port_mad(struct hca *hca, uint8_t mad[256]);

/* The GID at index (0: prefix + port GUID), 16 bytes, network order; false past the table. */
bool port_gid(const struct hca *hca, unsigned int index, uint8_t gid[16]);

#endif
