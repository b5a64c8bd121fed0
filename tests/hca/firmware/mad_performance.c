// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The performance management agent (IBTA vol. 1, 16.1): counters of the port. */
#include "firmware/mad.h"
#include "hca.h"
#include "ifc.h"

enum { ATTR_CLASS_PORT_INFO = 0x01, ATTR_PORT_COUNTERS = 0x12, ATTR_PORT_COUNTERS_EXT = 0x1d };

#define CLASS_CAP_EXT_WIDTH 0x0200u
#define RESPONSE_TIME 16u
#define ALL_PORTS 0xffu

/* Offsets in the data of an attribute. */
enum {
	CPI_BASE_VERSION = 0,
	CPI_CLASS_VERSION = 1,
	CPI_CAP_MASK = 2,
	CPI_RESPONSE_TIME = 7,
	PC_PORT = 1,
	PC_SELECT = 2,
	PC_LINK_DOWNED = 7,
	PC_XMIT_DISCARDS = 14,
	PC_XMIT_DATA = 24,
	PC_RCV_DATA = 28,
	PC_XMIT_PACKETS = 32,
	PC_RCV_PACKETS = 36,
	EXT_XMIT_DATA = 8,
	EXT_RCV_DATA = 16,
	EXT_XMIT_PACKETS = 24,
	EXT_RCV_PACKETS = 32,
	EXT_UNICAST_XMIT = 40,
	EXT_UNICAST_RCV = 48,
	EXT_MULTICAST_XMIT = 56,
	EXT_MULTICAST_RCV = 64,
};

/* Classic counters stop at their end. Data is counted in units of 4 octets. */
static uint32_t at_most(uint64_t value, uint32_t max)
{
	return value < max ? (uint32_t)value : max;
}

static void class_port_info(uint8_t *d)
{
	memset(d, 0, MAD_PMA_DATA_LEN);
	d[CPI_BASE_VERSION] = d[CPI_CLASS_VERSION] = 1;
	put_be16(d + CPI_CAP_MASK, CLASS_CAP_EXT_WIDTH);
	d[CPI_RESPONSE_TIME] = RESPONSE_TIME;
}

static void counters(const struct port *p, uint8_t *d)
{
	d[PC_LINK_DOWNED] = (uint8_t)at_most(p->link_downed, UINT8_MAX);
	put_be16(d + PC_XMIT_DISCARDS, (uint16_t)at_most(p->xmit_discards, UINT16_MAX));
	put_be32(d + PC_XMIT_DATA, at_most(p->xmit_bytes / 4, UINT32_MAX));
	put_be32(d + PC_RCV_DATA, at_most(p->rcv_bytes / 4, UINT32_MAX));
	put_be32(d + PC_XMIT_PACKETS, at_most(p->xmit_packets, UINT32_MAX));
	put_be32(d + PC_RCV_PACKETS, at_most(p->rcv_packets, UINT32_MAX));
}

static void counters_ext(const struct port *p, uint8_t *d)
{
	put_be64(d + EXT_XMIT_DATA, p->xmit_bytes / 4);
	put_be64(d + EXT_RCV_DATA, p->rcv_bytes / 4);
	put_be64(d + EXT_XMIT_PACKETS, p->xmit_packets);
	put_be64(d + EXT_RCV_PACKETS, p->rcv_packets);
	put_be64(d + EXT_UNICAST_XMIT, p->xmit_packets - p->xmit_mc_packets);
	put_be64(d + EXT_UNICAST_RCV, p->rcv_packets - p->rcv_mc_packets);
	put_be64(d + EXT_MULTICAST_XMIT, p->xmit_mc_packets);
	put_be64(d + EXT_MULTICAST_RCV, p->rcv_mc_packets);
}

/* A Set clears; the counters of both attributes are the same ones, so all of them at once. */
static uint16_t port_counters(struct hca *hca, bool set, bool ext, uint8_t *d)
{
	uint8_t port = d[PC_PORT];
	uint16_t select = be16_at(d + PC_SELECT);

	if (port != 1 && port != ALL_PORTS)
		return MAD_BAD_VALUE;
	if (set && select)
		port_clear_counters(hca);
	memset(d, 0, MAD_PMA_DATA_LEN);
	d[PC_PORT] = port;
	put_be16(d + PC_SELECT, select);
	if (ext)
		counters_ext(&hca->port, d);
	else
		counters(&hca->port, d);
	return MAD_OK;
}

uint16_t mad_performance(struct hca *hca, bool set, uint8_t *mad)
{
	uint8_t *d = mad + MAD_PMA_DATA;

	switch (be16_at(mad + MAD_ATTR)) {
	case ATTR_CLASS_PORT_INFO:
		if (set)
			return MAD_BAD_METHOD;
		class_port_info(d);
		return MAD_OK;
	case ATTR_PORT_COUNTERS:
		return port_counters(hca, set, false, d);
	case ATTR_PORT_COUNTERS_EXT:
		return port_counters(hca, set, true, d);
	default:
		return MAD_BAD_ATTRIBUTE;
	}
}
