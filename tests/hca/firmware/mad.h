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
	MAD_ATTR = 16,
	MAD_ATTR_MODIFIER = 20,
	MAD_SMP_MKEY = 24,
	MAD_SMP_DATA = 64,
	MAD_SMP_DATA_LEN = 64,
	MAD_PMA_DATA = 64,
	MAD_PMA_DATA_LEN = 192,
	MAD_LEN = 256,
};

enum { MAD_CLASS_LID_ROUTED = 0x01, MAD_CLASS_PERFORMANCE = 0x04, MAD_CLASS_DIRECTED = 0x81 };

enum { MAD_METHOD_GET = 0x1, MAD_METHOD_SET = 0x2 };
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

/*
 * Get or Set of PortInfo; d is its 64 bytes, in and out. show_mkey: the M_Key may be read even
 * where it is protected. Returns the status; with one other than MAD_OK nothing has changed.
 */
uint16_t mad_port_info(struct hca *hca, bool set, uint32_t modifier, bool show_mkey, uint8_t *d);

/* Get or Set (which clears) of a performance attribute of the MAD. Returns the status. */
uint16_t mad_performance(struct hca *hca, bool set, uint8_t *mad);

#endif
