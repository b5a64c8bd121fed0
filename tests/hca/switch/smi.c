// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets to the switch itself. Subnet management packets on a directed route (IBTA vol. 1,
 * 14.2.2) go from hop to hop by what is written in them, whatever the tables say: so a manager
 * reaches ports that have no LID yet. They may begin and end with a way by LID.
 */
#include <string.h>

#include "engine/fabric.h"
#include "firmware/mad.h"
#include "ifc.h"
#include "switch/switch.h"

#define HOPS_MAX 63u

static void discard(struct ib_switch *sw, struct packet *p)
{
	packet_put(sw->fabric, p);
}

static void send_by_port(struct ib_switch *sw, unsigned int port, struct packet *p)
{
	if (switch_port_up(sw, port))
		fabric_send_by_switch(sw->fabric, port - 1, p);
	else
		discard(sw, p);
}

struct packet *switch_mad(struct fabric *fabric, uint8_t class, uint8_t method, uint16_t attr)
{
	struct packet *p = packet_get(fabric);

	if (!p)
		return NULL;
	p->opcode = BTH_UD | BTH_SEND_ONLY;
	p->len = MAD_LEN;
	memset(p->data, 0, MAD_LEN);
	p->data[MAD_BASE_VERSION] = p->data[MAD_CLASS_VERSION] = 1;
	p->data[MAD_CLASS] = class;
	p->data[MAD_METHOD] = method;
	put_be16(p->data + MAD_ATTR, attr);
	return p;
}

void switch_send(struct ib_switch *sw, uint16_t dlid, struct packet *p)
{
	p->slid = sw->lid;
	p->dlid = dlid;
	send_by_port(sw, switch_route(sw, 0, dlid, true), p);
}

/* On to the next hop. */
static void send_directed(struct ib_switch *sw, unsigned int port, struct packet *p)
{
	p->slid = p->dlid = LID_PERMISSIVE;
	send_by_port(sw, port, p);
}

/* The rest of the way is by LID; the permissive one says that there is none. */
static void send_rest(struct ib_switch *sw, uint16_t dlid, struct packet *p)
{
	if (dlid == LID_PERMISSIVE)
		discard(sw, p);
	else
		switch_send(sw, dlid, p);
}

/* A response on its way back (C14-13). */
static void way_back(struct ib_switch *sw, struct packet *p)
{
	uint8_t *d = p->data, pointer = d[MAD_HOP_POINTER], count = d[MAD_HOP_COUNT];

	if (pointer > count + 1) {
		discard(sw, p);
	} else if (pointer > 1) {
		d[MAD_HOP_POINTER] = --pointer;
		send_directed(sw, d[MAD_RETURN_PATH + pointer], p);
	} else {
		d[MAD_HOP_POINTER] = 0;
		send_rest(sw, be16_at(d + MAD_DIRECTED_SLID), p);
	}
}

static void answer_directed(struct ib_switch *sw, unsigned int from, struct packet *p)
{
	if (switch_agent(sw, from, p->data))
		way_back(sw, p);
	else
		discard(sw, p);
}

/* A request on its way out (C14-9). */
static void way_out(struct ib_switch *sw, unsigned int from, struct packet *p)
{
	uint8_t *d = p->data, pointer = d[MAD_HOP_POINTER], count = d[MAD_HOP_COUNT];
	uint16_t rest = be16_at(d + MAD_DIRECTED_DLID);

	/* Only who has come by LID is at the start of the directed part here. */
	if (pointer > count || (!pointer && p->dlid == LID_PERMISSIVE)) {
		discard(sw, p);
		return;
	}
	if (pointer)
		d[MAD_RETURN_PATH + pointer] = (uint8_t)from;
	if (pointer < count) {
		d[MAD_HOP_POINTER] = ++pointer;
		send_directed(sw, d[MAD_INITIAL_PATH + pointer], p);
		return;
	}
	if (pointer)
		d[MAD_HOP_POINTER] = (uint8_t)(pointer + 1);
	if (rest == LID_PERMISSIVE)
		answer_directed(sw, from, p);
	else
		switch_send(sw, rest, p);
}

/* Only who comes by LID is at the start of its directed part, or at none, here. */
static void return_directed(struct ib_switch *sw, struct packet *p)
{
	uint8_t pointer = p->data[MAD_HOP_POINTER];

	if (p->dlid == LID_PERMISSIVE && (!pointer || pointer > p->data[MAD_HOP_COUNT]))
		discard(sw, p);
	else
		way_back(sw, p);
}

static void directed(struct ib_switch *sw, unsigned int from, struct packet *p)
{
	if (p->data[MAD_HOP_COUNT] > HOPS_MAX)
		discard(sw, p);
	else if (be16_at(p->data + MAD_STATUS) & MAD_DIRECTION)
		return_directed(sw, p);
	else
		way_out(sw, from, p);
}

static void by_lid(struct ib_switch *sw, unsigned int from, struct packet *p)
{
	if (p->dlid == LID_PERMISSIVE || !switch_agent(sw, from, p->data))
		discard(sw, p);
	else
		switch_send(sw, p->slid, p);
}

void switch_packet(struct ib_switch *sw, unsigned int from, struct packet *p)
{
	/* Port 0 has no other QP than this one, and no subnet management packet a GRH. */
	if (p->dest_qpn || p->grh || p->opcode != (BTH_UD | BTH_SEND_ONLY) || p->len != MAD_LEN ||
	    !switch_port_up(sw, from)) {
		discard(sw, p);
		return;
	}
	switch (p->data[MAD_CLASS]) {
	case MAD_CLASS_DIRECTED:
		directed(sw, from, p);
		break;
	case MAD_CLASS_LID_ROUTED:
		by_lid(sw, from, p);
		break;
	default:
		discard(sw, p);
	}
}
