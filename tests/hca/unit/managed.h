/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Three ports on a managed switch, as a subnet manager at the first of them finds it. QPs only keep
 * what reaches them.
 */
#ifndef UNIT_MANAGED_H
#define UNIT_MANAGED_H

#include "unit.h"

#include "engine/agent.h"
#include "engine/fabric.h"
#include "firmware/mad.h"
#include "hca.h"
#include "ifc.h"
#include "objects/eq.h"
#include "objects/qp.h"
#include "switch/switch.h"

#define PORTS 3
#define QPN 0x123u
#define SWITCH_LID 9u
#define OWN_LID(port) (20u + (port))

static struct loop *loop;
static struct fabric *fabric;
static struct hca hcas[PORTS];
static struct qp qp0[PORTS], qps[PORTS];

static struct {
	unsigned int port;
	struct packet p;
} got[16]; /* what has arrived, and where */
static unsigned int arrived;
static uint8_t mad[256]; /* the last response to a request of ask() */

/* Doubles of what is not tested here. */
void eq_port_event(struct hca *hca, uint8_t subtype)
{
	(void)hca;
	(void)subtype;
}

bool agent_answers(struct hca *hca, const struct packet *p)
{
	(void)hca;
	(void)p;
	return false;
}

struct obj *obj_find(const struct obj_table *t, uint32_t id)
{
	for (unsigned int i = 0; i < PORTS; i++)
		if (t == hcas[i].objs[OBJ_QP] && id == QPN)
			return &qps[i].obj;
	return NULL;
}

void qp_engine_packet(struct qp *qp, struct packet *p)
{
	REQUIRE(arrived < 16);
	got[arrived].port = qp->obj.hca->index;
	got[arrived++].p = *p;
	packet_put(qp->obj.hca->fabric, p);
}

static inline void end(void)
{
	fabric_free(fabric);
	loop_free(loop);
	fabric = NULL;
	loop = NULL;
}

static inline void start(void)
{
	if (fabric)
		end();
	memset(hcas, 0, sizeof(hcas));
	arrived = 0;
	loop = loop_new();
	REQUIRE(loop);
	loop_clock_advance(loop, 1);
	fabric = fabric_new(loop);
	REQUIRE(fabric);
	for (unsigned int i = 0; i < PORTS; i++) {
		hcas[i].index = i;
		hcas[i].loop = loop;
		hcas[i].fabric = fabric;
		hcas[i].objs[OBJ_QP] = (struct obj_table *)&hcas[i]; /* only compared */
		hcas[i].special_qp[0] = &qp0[i];
		qp0[i].obj.hca = qps[i].obj.hca = &hcas[i];
		REQUIRE_EQ(fabric_join(fabric, &hcas[i]), 0);
		port_init(&hcas[i]);
	}
	REQUIRE_EQ(fabric_manage(fabric, true), 0);
}

static inline void turns(void)
{
	for (unsigned int i = 0; i < 8; i++)
		loop_turn(loop, 0);
}

static inline struct packet *management(uint8_t class, uint8_t method, uint16_t attr,
					uint32_t modifier)
{
	struct packet *p = switch_mad(fabric, class, method, attr);

	REQUIRE(p);
	p->slid = hcas[0].port.lid;
	p->dlid = SWITCH_LID;
	put_be32(p->data + MAD_ATTR_MODIFIER, modifier);
	return p;
}

/* On a directed route that starts at a function: the first hop is the one to the switch. */
static inline struct packet *directed(uint8_t method, uint16_t attr, uint32_t modifier,
				      unsigned int hops, const uint8_t *path)
{
	struct packet *p = management(MAD_CLASS_DIRECTED, method, attr, modifier);

	p->slid = p->dlid = LID_PERMISSIVE;
	p->data[MAD_HOP_POINTER] = 1;
	p->data[MAD_HOP_COUNT] = (uint8_t)hops;
	put_be16(p->data + MAD_DIRECTED_SLID, LID_PERMISSIVE);
	put_be16(p->data + MAD_DIRECTED_DLID, LID_PERMISSIVE);
	memcpy(p->data + MAD_INITIAL_PATH, path, hops + 1);
	return p;
}

static const uint8_t to_switch[] = { 0, 1 };

/* Status of a Get or Set of the switch; data in and out are in mad. */
static inline unsigned int ask(uint8_t method, uint16_t attr, uint32_t modifier)
{
	struct packet *p = directed(method, attr, modifier, 1, to_switch);

	memcpy(p->data + MAD_SMP_DATA, mad + MAD_SMP_DATA, MAD_SMP_DATA_LEN);
	arrived = 0;
	fabric_send(&hcas[0], p);
	turns();
	REQUIRE_EQ(arrived, 1);
	CHECK_EQ(got[0].port, 0);
	memcpy(mad, got[0].p.data, sizeof(mad));
	arrived = 0;
	CHECK_EQ(mad[MAD_METHOD], MAD_METHOD_RESPONSE);
	CHECK(be16_at(mad + MAD_STATUS) & MAD_DIRECTION);
	return be16_at(mad + MAD_STATUS) & ~MAD_DIRECTION;
}

#define GET MAD_METHOD_GET
#define SET MAD_METHOD_SET
static uint8_t *const data = mad + MAD_SMP_DATA;

static inline unsigned int set_state(unsigned int port, unsigned int state, unsigned int physical)
{
	REQUIRE_EQ(ask(GET, ATTR_PORT_INFO, port), MAD_OK);
	data[32] = (uint8_t)((data[32] & 0xf0) | state);
	data[33] = (uint8_t)(physical << 4 | 2);
	return ask(SET, ATTR_PORT_INFO, port);
}

static inline void set_own_lid(void)
{
	REQUIRE_EQ(ask(GET, ATTR_PORT_INFO, 0), MAD_OK);
	put_be16(data + 16, SWITCH_LID);
	put_be16(data + 18, OWN_LID(0));
	REQUIRE_EQ(ask(SET, ATTR_PORT_INFO, 0), MAD_OK);
}

static inline void set_tables(void)
{
	memset(data, 0xff, 64);
	data[SWITCH_LID] = 0;
	for (unsigned int i = 0; i < PORTS; i++)
		data[OWN_LID(i)] = (uint8_t)(i + 1);
	REQUIRE_EQ(ask(SET, ATTR_LINEAR_TABLE, 0), MAD_OK);
	REQUIRE_EQ(ask(GET, ATTR_SWITCH_INFO, 0), MAD_OK);
	put_be16(data + 6, OWN_LID(PORTS - 1));
	data[11] |= 4;
	REQUIRE_EQ(ask(SET, ATTR_SWITCH_INFO, 0), MAD_OK);
}

/* As a subnet manager does it. */
static inline void bring_up(void)
{
	set_own_lid();
	set_tables();
	for (unsigned int i = 0; i < PORTS; i++) {
		hcas[i].port.lid = (uint16_t)OWN_LID(i);
		port_set_state(&hcas[i], PORT_ARMED);
		CHECK_EQ(set_state(i + 1, PORT_ARMED, 0), MAD_OK);
	}
	for (unsigned int i = 0; i < PORTS; i++) {
		port_set_state(&hcas[i], PORT_ACTIVE);
		CHECK_EQ(set_state(i + 1, PORT_ACTIVE, 0), MAD_OK);
	}
}

/* Whether a packet to a LID arrives at port, and nowhere else. */
static inline bool reaches(unsigned int from, uint16_t dlid, unsigned int port)
{
	struct packet *p = packet_get(fabric);

	REQUIRE(p);
	p->dlid = dlid;
	p->dest_qpn = QPN;
	arrived = 0;
	fabric_send(&hcas[from], p);
	turns();
	return arrived == 1 && got[0].port == port;
}

/* Sends it as a function does; whether anything has come of it. */
static inline bool answered(struct packet *p)
{
	arrived = 0;
	fabric_send(&hcas[0], p);
	turns();
	return arrived;
}

#endif
