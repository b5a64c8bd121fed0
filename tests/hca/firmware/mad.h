/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Management datagrams: their layout (IBTA vol. 1, 13.4.2, 14.2.1), and what the agents share. */
#ifndef HCA_MAD_H
#define HCA_MAD_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

/* Offsets. */
enum {
	MAD_BASE_VERSION = 0,
	MAD_CLASS = 1,
	MAD_CLASS_VERSION = 2,
	MAD_METHOD = 3,
	MAD_STATUS = 4,
	MAD_HOP_POINTER = 6, /* of directed routes, as hop count, both LIDs and both paths */
	MAD_HOP_COUNT = 7,
	MAD_TID = 8,
	MAD_ATTR = 16,
	MAD_ATTR_MODIFIER = 20,
	MAD_SMP_MKEY = 24,
	MAD_DIRECTED_SLID = 32,
	MAD_DIRECTED_DLID = 34,
	MAD_SMP_DATA = 64,
	MAD_SMP_DATA_LEN = 64,
	MAD_INITIAL_PATH = 128,
	MAD_RETURN_PATH = 192,
	MAD_PMA_DATA = 64,
	MAD_PMA_DATA_LEN = 192,
	MAD_LEN = 256,
};

enum { MAD_CLASS_LID_ROUTED = 0x01, MAD_CLASS_PERFORMANCE = 0x04, MAD_CLASS_DIRECTED = 0x81 };

enum {
	MAD_METHOD_GET = 0x01,
	MAD_METHOD_SET = 0x02,
	MAD_METHOD_TRAP = 0x05,
	MAD_METHOD_TRAP_REPRESS = 0x07,
	MAD_METHOD_RESPONSE = 0x81
};
#define MAD_METHOD_IS_RESPONSE 0x80u
#define MAD_DIRECTION 0x8000u /* directed route: it is on its way back */

/* Status (13.4.7). */
enum {
	MAD_OK = 0x0000,
	MAD_BAD_VERSION = 0x0004,
	MAD_BAD_METHOD = 0x0008,
	MAD_BAD_ATTRIBUTE = 0x000c,
	MAD_BAD_VALUE = 0x001c
};

/* Attributes of subnet management (14.2.5). */
enum {
	ATTR_NOTICE = 0x02,
	ATTR_NODE_DESC = 0x10,
	ATTR_NODE_INFO = 0x11,
	ATTR_SWITCH_INFO = 0x12,
	ATTR_GUID_INFO = 0x14,
	ATTR_PORT_INFO = 0x15,
	ATTR_PKEY_TABLE = 0x16,
	ATTR_SL_TO_VL = 0x17,
	ATTR_LINEAR_TABLE = 0x19,
	ATTR_MULTICAST_TABLE = 0x1b
};

/* NodeInfo (14.2.5.3): offsets. */
enum {
	NI_BASE_VERSION = 0,
	NI_CLASS_VERSION = 1,
	NI_TYPE = 2,
	NI_PORTS = 3,
	NI_SYSTEM_GUID = 4,
	NI_NODE_GUID = 12,
	NI_PORT_GUID = 20,
	NI_PKEYS = 28,
	NI_DEVICE = 30,
	NI_LOCAL_PORT_VENDOR = 36
};
#define MAD_VENDOR_MELLANOX 0x2c9u

/*
 * Get or Set of the first block of a table of PORT_PKEYS P_Keys; the others are not there. Returns
 * the status; changed is set if one of them is another now.
 */
uint16_t mad_pkey_table(uint16_t *pkeys, bool set, uint8_t *d, bool *changed);

/*
 * Get or Set of PortInfo; d is its 64 bytes, in and out. show_mkey: the M_Key may be read even
 * where it is protected. Returns the status; with one other than MAD_OK nothing has changed.
 */
uint16_t mad_port_info(struct hca *hca, bool set, uint32_t modifier, bool show_mkey, uint8_t *d);

/* Get or Set (which clears) of a performance attribute of the MAD. Returns the status. */
uint16_t mad_performance(struct hca *hca, bool set, uint8_t *mad);

#endif
