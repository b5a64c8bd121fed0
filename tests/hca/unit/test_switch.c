// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The managed switch, as a subnet manager at the first of three ports finds it; QPs here only keep what reaches them. */
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

static void end(void)
{
	fabric_free(fabric);
	loop_free(loop);
	fabric = NULL;
	loop = NULL;
}

static void start(void)
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

static void turns(void)
{
	for (unsigned int i = 0; i < 8; i++)
		loop_turn(loop, 0);
}

static struct packet *management(uint8_t class, uint8_t method, uint16_t attr, uint32_t modifier)
{
	struct packet *p = packet_get(fabric);

	REQUIRE(p);
	p->opcode = BTH_UD | BTH_SEND_ONLY;
	p->slid = hcas[0].port.lid;
	p->dlid = SWITCH_LID;
	p->len = MAD_LEN;
	memset(p->data, 0, MAD_LEN);
	p->data[MAD_BASE_VERSION] = p->data[MAD_CLASS_VERSION] = 1;
	p->data[MAD_CLASS] = class;
	p->data[MAD_METHOD] = method;
	put_be16(p->data + MAD_ATTR, attr);
	put_be32(p->data + MAD_ATTR_MODIFIER, modifier);
	return p;
}

/* On a directed route that starts at a function: the first hop is the one to the switch. */
static struct packet *directed(uint8_t method, uint16_t attr, uint32_t modifier, unsigned int hops,
			       const uint8_t *path)
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
static unsigned int ask(uint8_t method, uint16_t attr, uint32_t modifier)
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

static unsigned int set_state(unsigned int port, unsigned int state, unsigned int physical)
{
	REQUIRE_EQ(ask(GET, ATTR_PORT_INFO, port), MAD_OK);
	data[32] = (uint8_t)((data[32] & 0xf0) | state);
	data[33] = (uint8_t)(physical << 4 | 2);
	return ask(SET, ATTR_PORT_INFO, port);
}

static void set_own_lid(void)
{
	REQUIRE_EQ(ask(GET, ATTR_PORT_INFO, 0), MAD_OK);
	put_be16(data + 16, SWITCH_LID);
	put_be16(data + 18, OWN_LID(0));
	REQUIRE_EQ(ask(SET, ATTR_PORT_INFO, 0), MAD_OK);
}

static void set_tables(void)
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
static void bring_up(void)
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
static bool reaches(unsigned int from, uint16_t dlid, unsigned int port)
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

TEST(a_manager_finds_the_switch)
{
	start();
	CHECK_EQ(hcas[0].port.state, PORT_INIT);
	CHECK_EQ(hcas[0].port.lid, 0);
	REQUIRE_EQ(ask(GET, ATTR_NODE_INFO, 0), MAD_OK);
	CHECK_EQ(data[2], 2); /* a switch */
	CHECK_EQ(data[3], SWITCH_PORTS);
	CHECK_EQ(data[36], 1); /* the port that the request has come in by */
	CHECK(be64_at(data + 12) != hcas[0].port.node_guid);
	CHECK_EQ(mad[MAD_HOP_POINTER], 1);
	CHECK_EQ(mad[MAD_RETURN_PATH + 1], 1);
	REQUIRE_EQ(ask(GET, ATTR_SWITCH_INFO, 0), MAD_OK);
	CHECK_EQ(be16_at(data), SWITCH_LIDS);
	CHECK_EQ(be16_at(data + 4), SWITCH_MLIDS);
	CHECK_EQ(be16_at(data + 6), 0);
	CHECK(data[11] & 4); /* links have come up */
	REQUIRE_EQ(ask(GET, ATTR_PORT_INFO, 3), MAD_OK);
	CHECK_EQ(data[28], 1);
	CHECK_EQ(data[32] & 0xf, PORT_INIT);
	REQUIRE_EQ(ask(GET, ATTR_PORT_INFO, 4), MAD_OK); /* nothing is plugged in there */
	CHECK_EQ(data[32] & 0xf, PORT_DOWN);
	CHECK_EQ(data[33] >> 4, PORT_POLLING);
	REQUIRE_EQ(ask(GET, ATTR_NODE_DESC, 0), MAD_OK);
	CHECK(!strcmp((char *)data, "hca-model switch"));
}

TEST(directed_routes_lead_to_other_ports_and_back)
{
	static const uint8_t path[] = { 0, 1, 3 };
	struct packet *p, *back;

	start();
	fabric_send(&hcas[0], directed(GET, ATTR_NODE_INFO, 0, 2, path));
	turns();
	REQUIRE_EQ(arrived, 1);
	p = &got[0].p;
	CHECK_EQ(got[0].port, 2);
	CHECK_EQ(p->dlid, LID_PERMISSIVE);
	CHECK_EQ(p->slid, LID_PERMISSIVE);
	CHECK_EQ(p->data[MAD_HOP_POINTER], 2);
	CHECK_EQ(p->data[MAD_RETURN_PATH + 1], 1);

	/* What the SMI of a host makes of it: its own port is the last of the return path. */
	back = packet_get(fabric);
	*back = *p;
	back->data[MAD_METHOD] = MAD_METHOD_RESPONSE;
	put_be16(back->data + MAD_STATUS, MAD_DIRECTION);
	back->data[MAD_RETURN_PATH + 2] = 1;
	back->data[MAD_HOP_POINTER] = 2;
	fabric_send(&hcas[2], back);
	turns();
	REQUIRE_EQ(arrived, 2);
	CHECK_EQ(got[1].port, 0);
	CHECK_EQ(got[1].p.data[MAD_HOP_POINTER], 1);
}

/* Sends it as a function does; whether anything has come of it. */
static bool answered(struct packet *p)
{
	arrived = 0;
	fabric_send(&hcas[0], p);
	turns();
	return arrived;
}

static struct packet *with_hops(unsigned int pointer, unsigned int count)
{
	static const uint8_t path[] = { 0, 1, 2 };
	struct packet *p = directed(GET, ATTR_NODE_INFO, 0, 2, path);

	p->data[MAD_HOP_POINTER] = (uint8_t)pointer;
	p->data[MAD_HOP_COUNT] = (uint8_t)count;
	return p;
}

TEST(routes_that_lead_nowhere_are_discarded)
{
	static const uint8_t ways[][3] = { { 0, 1, 0 }, { 0, 1, 4 }, { 0, 1, 9 }, { 0, 1, 255 } };
	struct packet *p;

	start();
	for (unsigned int i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		CHECK(!answered(directed(GET, ATTR_NODE_INFO, 0, 2, ways[i])));
	CHECK(answered(with_hops(1, 2)));
	CHECK(answered(with_hops(1, 1)));
	CHECK(!answered(with_hops(0, 2)));
	CHECK(!answered(with_hops(2, 1)));
	CHECK(!answered(with_hops(64, 64)));
	CHECK(!answered(with_hops(63, 64)));
	p = with_hops(1, 1);
	put_be16(p->data + MAD_STATUS, MAD_DIRECTION); /* on its way back, to nobody */
	CHECK(!answered(p));
	for (unsigned int pointer = 0; pointer < 4; pointer += pointer ? 1 : 2) {
		p = with_hops(pointer, 1);
		put_be16(p->data + MAD_STATUS, MAD_DIRECTION);
		p->data[MAD_RETURN_PATH + 1] = 1;
		CHECK(!answered(p));
	}
	p = with_hops(1, 1);
	p->len = 255;
	CHECK(!answered(p));
	p = with_hops(1, 1);
	p->data[MAD_CLASS] = MAD_CLASS_PERFORMANCE;
	CHECK(!answered(p));
	p = with_hops(1, 1);
	p->opcode = BTH_UC | BTH_SEND_ONLY;
	CHECK(!answered(p));
	p = with_hops(1, 1);
	p->grh = true;
	CHECK(!answered(p));
	p = with_hops(1, 1);
	p->src_qpn = QPN; /* of a user: only QP0 may */
	CHECK(!answered(p));
	CHECK(fabric_restart(fabric)); /* no packet is lost */
}

TEST(nothing_else_passes_until_all_is_set_up)
{
	start();
	hcas[0].port.lid = OWN_LID(0);
	hcas[1].port.lid = OWN_LID(1);
	CHECK(!reaches(0, OWN_LID(1), 1));
	port_set_state(&hcas[0], PORT_ACTIVE);
	port_set_state(&hcas[1], PORT_ACTIVE);
	CHECK(!reaches(0, OWN_LID(1), 1)); /* no table, and no port */
	CHECK(reaches(0, OWN_LID(0), 0));  /* who talks to himself needs no switch */
	set_tables();
	CHECK(!reaches(0, OWN_LID(1), 1));
	CHECK_EQ(set_state(1, PORT_ARMED, 0), MAD_OK);
	CHECK_EQ(set_state(2, PORT_ARMED, 0), MAD_OK);
	CHECK(!reaches(0, OWN_LID(1), 1)); /* ARMED ports only receive */
	CHECK_EQ(set_state(2, PORT_ACTIVE, 0), MAD_OK);
	CHECK(reaches(0, OWN_LID(1), 1));
	CHECK(!reaches(1, OWN_LID(0), 0));
	CHECK_EQ(set_state(1, PORT_ACTIVE, 0), MAD_OK);
	CHECK(reaches(1, OWN_LID(0), 0));
}

TEST(packets_go_by_the_linear_table)
{
	start();
	bring_up();
	for (unsigned int from = 0; from < PORTS; from++)
		for (unsigned int to = 0; to < PORTS; to++)
			CHECK(reaches(from, (uint16_t)OWN_LID(to), to));
	CHECK(!reaches(0, OWN_LID(PORTS), 0));
	CHECK(!reaches(0, SWITCH_LID, 0)); /* no QP but QP0 there */
	CHECK_EQ(ask(GET, ATTR_LINEAR_TABLE, 0), MAD_OK);
	CHECK_EQ(data[OWN_LID(1)], 2);
	data[OWN_LID(1)] = 3;
	CHECK_EQ(ask(SET, ATTR_LINEAR_TABLE, 0), MAD_OK);
	CHECK(!reaches(0, OWN_LID(1), 1));
	CHECK(!reaches(0, OWN_LID(1), 2)); /* it is not the LID of that port */
	data[OWN_LID(1)] = 9;
	CHECK_EQ(ask(SET, ATTR_LINEAR_TABLE, 0), MAD_OK);
	CHECK(!reaches(0, OWN_LID(1), 1));
	data[OWN_LID(1)] = 2;
	CHECK_EQ(ask(SET, ATTR_LINEAR_TABLE, 0), MAD_OK);
	CHECK(reaches(0, OWN_LID(1), 1));
	CHECK_EQ(ask(GET, ATTR_SWITCH_INFO, 0), MAD_OK);
	put_be16(data + 6, OWN_LID(0));
	CHECK_EQ(ask(SET, ATTR_SWITCH_INFO, 0), MAD_OK);
	CHECK(!reaches(0, OWN_LID(1), 1)); /* above the top */
	CHECK(reaches(1, OWN_LID(0), 0));
}

static const uint8_t group[16] = { 0xff, 0x12, 0xa0, 0x1b, [15] = 1 };

/* Which ports a multicast reaches, a bit each. */
static unsigned int members(unsigned int from, uint16_t mlid)
{
	struct packet *p = packet_get(fabric);
	unsigned int mask = 0;

	REQUIRE(p);
	p->dlid = mlid;
	p->dest_qpn = QPN_MULTICAST;
	p->grh = true;
	memcpy(p->dgid, group, 16);
	arrived = 0;
	fabric_send(&hcas[from], p);
	turns();
	for (unsigned int i = 0; i < arrived; i++)
		mask |= 1u << got[i].port;
	return mask;
}

TEST(multicasts_go_by_the_multicast_table)
{
	start();
	bring_up();
	for (unsigned int i = 0; i < PORTS; i++)
		CHECK_EQ(fabric_attach(&hcas[i], group, QPN), 0);
	CHECK_EQ(members(0, 0xc021), 1u << 0); /* its own, without a switch */
	memset(data, 0, 64);
	put_be16(data + 2, 1u << 1 | 1u << 3); /* MLID 0xc021: ports 1 and 3 */
	CHECK_EQ(ask(SET, ATTR_MULTICAST_TABLE, 1), MAD_OK);
	CHECK_EQ(members(0, 0xc021), 1u << 0 | 1u << 2);
	CHECK_EQ(members(1, 0xc021), 1u << 0 | 1u << 1 | 1u << 2); /* who sends need be no member */
	CHECK_EQ(members(0, 0xc020), 1u << 0);
	CHECK_EQ(members(0, 0xc001), 1u << 0);
	CHECK_EQ(members(0, LID_MULTICAST + SWITCH_MLIDS), 1u << 0);
	CHECK_EQ(set_state(3, PORT_DOWN, 0), MAD_OK);
	CHECK_EQ(members(1, 0xc021), 1u << 0 | 1u << 1);
	put_be16(data, 0xffff);
	CHECK_EQ(ask(SET, ATTR_MULTICAST_TABLE, 0), MAD_OK);
	CHECK_EQ(be16_at(data), 0x1ff); /* more ports there are not */
	for (unsigned int i = 0; i < PORTS; i++)
		fabric_detach_all(&hcas[i], QPN);
}

TEST(what_a_switch_refuses)
{
	start();
	CHECK_EQ(ask(GET, ATTR_PORT_INFO, SWITCH_PORTS + 1), MAD_BAD_VALUE);
	CHECK_EQ(ask(GET, ATTR_LINEAR_TABLE, SWITCH_LIDS / 64), MAD_BAD_VALUE);
	CHECK_EQ(ask(GET, ATTR_LINEAR_TABLE, SWITCH_LIDS / 64 - 1), MAD_OK);
	CHECK_EQ(ask(GET, ATTR_MULTICAST_TABLE, SWITCH_MLIDS / 32), MAD_BAD_VALUE);
	CHECK_EQ(ask(GET, ATTR_MULTICAST_TABLE, SWITCH_MLIDS / 32 - 1), MAD_OK);
	CHECK_EQ(ask(GET, ATTR_MULTICAST_TABLE, 1u << 28), MAD_BAD_VALUE);
	CHECK_EQ(ask(GET, ATTR_PKEY_TABLE, 1u << 16), MAD_BAD_VALUE);
	CHECK_EQ(ask(GET, ATTR_PKEY_TABLE, 0), MAD_OK);
	CHECK_EQ(be16_at(data), 0xffff);
	CHECK_EQ(ask(GET, ATTR_GUID_INFO, 1), MAD_BAD_VALUE);
	CHECK_EQ(ask(SET, ATTR_GUID_INFO, 0), MAD_BAD_METHOD);
	CHECK_EQ(ask(SET, ATTR_NODE_INFO, 0), MAD_BAD_METHOD);
	CHECK_EQ(ask(SET, ATTR_NODE_DESC, 0), MAD_BAD_METHOD);
	CHECK_EQ(ask(GET, ATTR_SL_TO_VL, 8u << 8 | 9), MAD_BAD_VALUE);
	CHECK_EQ(ask(GET, ATTR_SL_TO_VL, 8u << 8 | 1), MAD_OK);
	CHECK_EQ(ask(GET, 0x20, 0), MAD_BAD_ATTRIBUTE); /* SMInfo: no manager here */
	CHECK_EQ(ask(3, ATTR_NODE_INFO, 0), MAD_BAD_METHOD);

	CHECK_EQ(ask(GET, ATTR_SWITCH_INFO, 0), MAD_OK);
	put_be16(data + 6, SWITCH_LIDS);
	CHECK_EQ(ask(SET, ATTR_SWITCH_INFO, 0), MAD_BAD_VALUE);
	put_be16(data + 6, 1);
	for (unsigned int i = 8; i < 11; i++) {
		data[i] = 1; /* a default port */
		CHECK_EQ(ask(SET, ATTR_SWITCH_INFO, 0), MAD_BAD_VALUE);
		data[i] = 0;
	}
	CHECK_EQ(ask(SET, ATTR_SWITCH_INFO, 0), MAD_OK);
}

TEST(port_info_that_a_switch_refuses)
{
	start();
	CHECK_EQ(set_state(1, PORT_ACTIVE, 0), MAD_BAD_VALUE); /* not by way of ARMED */
	CHECK_EQ(set_state(1, PORT_INIT, 0), MAD_BAD_VALUE);
	CHECK_EQ(set_state(1, 0, 4), MAD_BAD_VALUE);
	CHECK_EQ(set_state(1, PORT_ARMED, 2), MAD_BAD_VALUE);
	CHECK_EQ(set_state(1, 0, 0), MAD_OK);
	data[32] = 0;
	data[33] = 2;
	data[43] |= 8; /* partition enforcement */
	CHECK_EQ(ask(SET, ATTR_PORT_INFO, 1), MAD_BAD_VALUE);
	data[43] = 2 << 4; /* more VLs than there are */
	CHECK_EQ(ask(SET, ATTR_PORT_INFO, 1), MAD_BAD_VALUE);
	data[43] = 1 << 4;
	data[36] = 6 << 4; /* MTU */
	CHECK_EQ(ask(SET, ATTR_PORT_INFO, 1), MAD_BAD_VALUE);
	data[36] = 4 << 4;
	CHECK_EQ(ask(SET, ATTR_PORT_INFO, 1), MAD_OK);
	CHECK_EQ(data[36] >> 4, 4);

	set_own_lid();
	data[34] = 1; /* LMC */
	CHECK_EQ(ask(SET, ATTR_PORT_INFO, 0), MAD_BAD_VALUE);
	data[34] = 0;
	put_be16(data + 16, 0xc000);
	CHECK_EQ(ask(SET, ATTR_PORT_INFO, 0), MAD_BAD_VALUE);
	put_be16(data + 16, 5);
	put_be16(data + 18, 0);
	CHECK_EQ(ask(SET, ATTR_PORT_INFO, 0), MAD_BAD_VALUE);
	CHECK_EQ(ask(GET, ATTR_PORT_INFO, 0), MAD_OK);
	CHECK_EQ(be16_at(data + 16), SWITCH_LID);
}

static bool answers_with_key(uint8_t method, uint64_t key)
{
	struct packet *p = directed(method, ATTR_LINEAR_TABLE, 0, 1, to_switch);

	put_be64(p->data + MAD_SMP_MKEY, key);
	return answered(p);
}

TEST(a_switch_has_an_m_key)
{
	start();
	bring_up();
	CHECK_EQ(ask(GET, ATTR_PORT_INFO, 0), MAD_OK);
	put_be64(data, 0x77);
	put_be16(data + 26, 10); /* seconds */
	data[34] = 1u << 6;
	CHECK_EQ(ask(SET, ATTR_PORT_INFO, 0), MAD_OK);
	CHECK(!answers_with_key(SET, 0));
	CHECK(answers_with_key(SET, 0x77));
	CHECK(answers_with_key(GET, 0));
	CHECK_EQ(ask(GET, ATTR_PORT_INFO, 0), MAD_OK);
	CHECK_EQ(be64_at(data), 0); /* not told */
	CHECK_EQ(be16_at(data + 44), 1);
	CHECK(!answers_with_key(SET, 1));
	loop_clock_advance(loop, 10000000000ull);
	CHECK(!answers_with_key(SET, 1));
	CHECK_EQ(ask(GET, ATTR_PORT_INFO, 0), MAD_OK);
	CHECK_EQ(be64_at(data), 0x77); /* the lease is over */
}

TEST(a_disabled_port_takes_the_link_down)
{
	start();
	bring_up();
	CHECK_EQ(set_state(2, PORT_DOWN, 3), MAD_OK);
	CHECK_EQ(data[33] >> 4, PORT_DISABLED);
	CHECK_EQ(hcas[1].port.state, PORT_DOWN);
	port_retrain(&hcas[1]);
	CHECK_EQ(hcas[1].port.state, PORT_DOWN);
	CHECK_EQ(ask(GET, ATTR_SWITCH_INFO, 0), MAD_OK);
	CHECK(!(data[11] & 4)); /* the manager knows */
	CHECK_EQ(set_state(2, 0, 2), MAD_OK);
	CHECK_EQ(data[32] & 0xf, PORT_INIT);
	CHECK_EQ(hcas[1].port.state, PORT_INIT);
	CHECK_EQ(set_state(2, PORT_DOWN, 3), MAD_OK);
	REQUIRE_EQ(fabric_manage(fabric, false), 0);
	CHECK_EQ(hcas[1].port.state, PORT_ACTIVE);
	CHECK(reaches(0, 2, 1));
}

/* The traps among what has arrived; the last one is in mad. */
static unsigned int traps(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < arrived; i++) {
		if (got[i].p.data[MAD_METHOD] != MAD_METHOD_TRAP)
			continue;
		CHECK_EQ(got[i].port, 0);
		CHECK_EQ(got[i].p.slid, SWITCH_LID);
		memcpy(mad, got[i].p.data, sizeof(mad));
		n++;
	}
	arrived = 0;
	return n;
}

static void repress(uint64_t tid)
{
	struct packet *p =
		management(MAD_CLASS_LID_ROUTED, MAD_METHOD_TRAP_REPRESS, ATTR_NOTICE, 0);

	put_be64(p->data + MAD_TID, tid);
	fabric_send(&hcas[0], p);
	turns();
}

TEST(a_link_that_is_lost_is_told)
{
	uint64_t tid;

	start();
	hca_set_link(&hcas[1], false);
	turns();
	CHECK_EQ(arrived, 0); /* there is no manager yet */
	hca_set_link(&hcas[1], true);
	bring_up();
	arrived = 0;
	hca_set_link(&hcas[1], false);
	turns();
	CHECK_EQ(traps(), 1);
	tid = be64_at(mad + MAD_TID);
	CHECK_EQ(data[0], 0x81);
	CHECK_EQ(data[3], 2);
	CHECK_EQ(be16_at(data + 4), 128);
	CHECK_EQ(be16_at(data + 6), SWITCH_LID);
	CHECK_EQ(be16_at(data + 10), SWITCH_LID);
	loop_clock_advance(loop, 4096ull << 18);
	turns();
	CHECK_EQ(traps(), 1);
	CHECK_EQ(be64_at(mad + MAD_TID), tid);
	repress(tid + 1); /* of another one */
	loop_clock_advance(loop, 4096ull << 18);
	turns();
	CHECK_EQ(traps(), 1);
	repress(tid);
	CHECK_EQ(traps(), 0);
	loop_clock_advance(loop, 4096ull << 19);
	turns();
	CHECK_EQ(traps(), 0);

	CHECK_EQ(ask(GET, ATTR_SWITCH_INFO, 0), MAD_OK);
	CHECK(data[11] & 4);
	data[11] &= ~4;
	CHECK_EQ(ask(SET, ATTR_SWITCH_INFO, 0), MAD_OK);
	CHECK(data[11] & 4);
	CHECK_EQ(ask(SET, ATTR_SWITCH_INFO, 0), MAD_OK);
	CHECK(!(data[11] & 4)); /* what is written as 1 is cleared */
	CHECK_EQ(ask(GET, ATTR_PORT_INFO, 2), MAD_OK);
	CHECK_EQ(data[32] & 0xf, PORT_DOWN);
	hca_set_link(&hcas[1], true);
	turns();
	CHECK_EQ(traps(), 1);
	CHECK(be64_at(mad + MAD_TID) != tid);
	CHECK_EQ(ask(GET, ATTR_PORT_INFO, 2), MAD_OK);
	CHECK_EQ(data[32] & 0xf, PORT_INIT);
}

TEST(requests_by_lid)
{
	struct packet *p;

	start();
	bring_up();
	fabric_send(&hcas[0], management(MAD_CLASS_LID_ROUTED, GET, ATTR_NODE_INFO, 0));
	turns();
	REQUIRE_EQ(arrived, 1);
	CHECK_EQ(got[0].port, 0);
	CHECK_EQ(got[0].p.slid, SWITCH_LID);
	CHECK_EQ(be16_at(got[0].p.data + MAD_STATUS), MAD_OK);
	CHECK_EQ(got[0].p.data[MAD_SMP_DATA + 2], 2);
	p = management(MAD_CLASS_LID_ROUTED, GET, ATTR_NODE_INFO, 0);
	p->data[MAD_CLASS_VERSION] = 2;
	CHECK(answered(p));
	CHECK_EQ(be16_at(got[0].p.data + MAD_STATUS), MAD_BAD_VERSION);
	CHECK(!answered(management(MAD_CLASS_LID_ROUTED, MAD_METHOD_RESPONSE, ATTR_NODE_INFO, 0)));
	CHECK(!answered(management(MAD_CLASS_LID_ROUTED, MAD_METHOD_TRAP, ATTR_NOTICE, 0)));
	p = management(MAD_CLASS_LID_ROUTED, GET, ATTR_NODE_INFO, 0);
	p->slid = 0; /* nobody to answer to */
	CHECK(!answered(p));
	/* By LID to the other port, through the switch. */
	p = management(MAD_CLASS_LID_ROUTED, GET, ATTR_NODE_INFO, 0);
	p->dlid = OWN_LID(1);
	CHECK(answered(p));
	CHECK_EQ(got[0].port, 1);
}

/* By LID to the switch, and by a directed route to the function behind its port 3 and back. */
TEST(a_directed_route_may_begin_by_lid)
{
	static const uint8_t path[] = { 0, 3 };
	struct packet *p, *back;

	start();
	bring_up();
	p = directed(GET, ATTR_NODE_INFO, 0, 1, path);
	p->slid = OWN_LID(0);
	p->dlid = SWITCH_LID;
	p->data[MAD_HOP_POINTER] = 0;
	put_be16(p->data + MAD_DIRECTED_SLID, OWN_LID(0));
	CHECK(answered(p));
	CHECK_EQ(got[0].port, 2);
	CHECK_EQ(got[0].p.dlid, LID_PERMISSIVE);
	CHECK_EQ(got[0].p.data[MAD_HOP_POINTER], 1);
	back = packet_get(fabric);
	*back = got[0].p;
	put_be16(back->data + MAD_STATUS, MAD_DIRECTION);
	back->data[MAD_HOP_POINTER] = 1;
	arrived = 0;
	fabric_send(&hcas[2], back);
	turns();
	REQUIRE_EQ(arrived, 1);
	CHECK_EQ(got[0].port, 0);
	CHECK_EQ(got[0].p.dlid, OWN_LID(0));
	CHECK_EQ(got[0].p.slid, SWITCH_LID);
	CHECK_EQ(got[0].p.data[MAD_HOP_POINTER], 0);
}

/* By a directed route to the switch, and by LID to another port. */
TEST(a_directed_route_may_end_by_lid)
{
	struct packet *p;

	start();
	bring_up();
	p = directed(GET, ATTR_NODE_INFO, 0, 1, to_switch);
	put_be16(p->data + MAD_DIRECTED_DLID, OWN_LID(2));
	CHECK(answered(p));
	CHECK_EQ(got[0].port, 2);
	CHECK_EQ(got[0].p.dlid, OWN_LID(2));
	CHECK_EQ(got[0].p.data[MAD_HOP_POINTER], 2);
}
