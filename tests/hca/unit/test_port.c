// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The port and its management agents, as a subnet manager and the host see them. */
#include "unit.h"

#include "engine/fabric.h"
#include "firmware/mad.h"
#include "hca.h"
#include "ifc.h"
#include "loop.h"
#include "objects/eq.h"

enum {
	EVENT_DOWN = 1,
	EVENT_ACTIVE = 4,
	EVENT_INITIALIZED = 5,
	EVENT_LID = 6,
	EVENT_PKEY = 7,
	EVENT_GUID = 8,
	EVENT_REREGISTER = 9
};

static struct hca hca;
static uint8_t mad[256];
static uint8_t *const smp = mad + MAD_SMP_DATA;
static uint8_t events[32];
static unsigned int n_events;

/* In place of the one in objects/eq.c: there is no EQ here. */
void eq_port_event(struct hca *h, uint8_t subtype)
{
	CHECK(h == &hca);
	if (n_events < sizeof(events))
		events[n_events++] = subtype;
}

/* In place of the one in engine/fabric.c: there is nothing at the other end of the link. */
static unsigned int trained, lost;
void fabric_link(struct hca *h, bool up)
{
	CHECK(h == &hca);
	trained += up;
	lost += !up;
}

static void start(bool external_sm)
{
	loop_free(hca.loop);
	memset(&hca, 0, sizeof(hca));
	hca.loop = loop_new();
	loop_clock_advance(hca.loop, 1);
	hca.index = 2;
	hca.external_sm = external_sm;
	port_init(&hca);
	n_events = trained = lost = 0;
}

static void request(uint8_t class, uint8_t method, uint16_t attr, uint32_t modifier)
{
	uint8_t data[MAD_PMA_DATA_LEN];

	memcpy(data, mad + MAD_PMA_DATA, sizeof(data));
	memset(mad, 0, sizeof(mad));
	memcpy(mad + MAD_PMA_DATA, data, sizeof(data));
	mad[MAD_BASE_VERSION] = mad[MAD_CLASS_VERSION] = 1;
	mad[MAD_CLASS] = class;
	mad[MAD_METHOD] = method;
	put_be16(mad + MAD_ATTR, attr);
	put_be32(mad + MAD_ATTR_MODIFIER, modifier);
}

/* Status of a Get (1) or Set (2) by LID; the answer's data are in smp. */
static unsigned int ask(uint8_t method, uint16_t attr, uint32_t modifier)
{
	request(MAD_CLASS_LID_ROUTED, method, attr, modifier);
	REQUIRE(port_mad(&hca, mad, true));
	CHECK_EQ(mad[MAD_METHOD], 0x81);
	return be16_at(mad + MAD_STATUS);
}

#define PORT_INFO 0x15
#define GET 1
#define SET 2

/* A Set of PortInfo as a subnet manager makes it: what it has read, changed. */
static unsigned int set_port(uint16_t lid, unsigned int state)
{
	CHECK_EQ(ask(GET, PORT_INFO, 1), MAD_OK);
	put_be16(smp + 16, lid);
	put_be16(smp + 18, 7);
	smp[32] = (uint8_t)((smp[32] & 0xf0) | state);
	smp[33] = 0;
	return ask(SET, PORT_INFO, 1);
}

TEST(built_in_lids_need_no_manager)
{
	uint8_t gid[16];

	start(false);
	CHECK_EQ(hca.port.state, PORT_ACTIVE);
	CHECK_EQ(hca.port.lid, 3);
	CHECK_EQ(hca.port.sm_lid, 1);
	CHECK_EQ(hca.port.pkeys[0], 0xffff);
	CHECK_EQ(port_physical(&hca), PORT_LINK_UP);
	REQUIRE(port_gid(&hca, 0, gid));
	CHECK_EQ(be64_at(gid), 0xfe80000000000000ull);
	CHECK_EQ(be64_at(gid + 8), hca.port.port_guid);
	REQUIRE(port_gid(&hca, 1, gid));
	CHECK_EQ(be64_at(gid + 8), 0);
	CHECK(!port_gid(&hca, PORT_GIDS, gid));
}

TEST(link_down_and_up)
{
	start(false);
	hca_set_link(&hca, false);
	CHECK_EQ(hca.port.state, PORT_DOWN);
	CHECK_EQ(port_physical(&hca), PORT_POLLING);
	CHECK_EQ(hca.port.link_downed, 1);
	hca_set_link(&hca, false);
	CHECK_EQ(n_events, 1);
	CHECK_EQ(events[0], EVENT_DOWN);
	CHECK_EQ(lost, 1);
	CHECK_EQ(trained, 0);
	hca_set_link(&hca, true);
	CHECK_EQ(hca.port.state, PORT_ACTIVE);
	CHECK_EQ(n_events, 2);
	CHECK_EQ(events[1], EVENT_ACTIVE);
	CHECK_EQ(trained, 1);
}

TEST(the_other_end_may_be_disabled)
{
	start(true);
	hca.peer_disabled = true;
	port_retrain(&hca);
	CHECK_EQ(hca.port.state, PORT_DOWN);
	CHECK_EQ(port_physical(&hca), PORT_POLLING);
	hca.peer_disabled = false;
	port_retrain(&hca);
	CHECK_EQ(hca.port.state, PORT_INIT);
}

TEST(what_a_manager_gave_goes_with_it)
{
	start(true);
	CHECK_EQ(set_port(9, PORT_ARMED), MAD_OK);
	CHECK_EQ(set_port(9, PORT_ACTIVE), MAD_OK);
	hca.port.guids[1] = 7;
	hca.port.pkeys[1] = 7;
	hca.port.disabled = hca.peer_disabled = true;
	n_events = 0;
	port_managed(&hca, false);
	CHECK_EQ(hca.port.lid, 3);
	CHECK_EQ(hca.port.sm_lid, 1);
	CHECK_EQ(hca.port.guids[1], 0);
	CHECK_EQ(hca.port.pkeys[1], 0);
	CHECK_EQ(hca.port.state, PORT_ACTIVE);
	CHECK_EQ(n_events, 5);
	CHECK_EQ(events[0], EVENT_LID);
	CHECK_EQ(events[1], EVENT_GUID);
	CHECK_EQ(events[2], EVENT_PKEY);
	CHECK_EQ(events[3], EVENT_DOWN);
	CHECK_EQ(events[4], EVENT_ACTIVE);
	port_managed(&hca, true);
	CHECK_EQ(hca.port.lid, 0);
	CHECK_EQ(hca.port.state, PORT_INIT);
}

TEST(a_link_held_down_stays_down_at_reset)
{
	start(false);
	hca_set_link(&hca, false);
	port_init(&hca);
	CHECK_EQ(hca.port.state, PORT_DOWN);
	hca_set_link(&hca, true);
	CHECK_EQ(hca.port.state, PORT_ACTIVE);
}

TEST(a_manager_brings_the_port_up)
{
	start(true);
	CHECK_EQ(hca.port.state, PORT_INIT);
	CHECK_EQ(hca.port.lid, 0);
	CHECK_EQ(set_port(9, PORT_ARMED), MAD_OK);
	CHECK_EQ(hca.port.state, PORT_ARMED);
	CHECK_EQ(hca.port.lid, 9);
	CHECK_EQ(hca.port.sm_lid, 7);
	CHECK_EQ(set_port(9, PORT_ACTIVE), MAD_OK);
	CHECK_EQ(smp[32] & 0xf, PORT_ACTIVE);
	CHECK_EQ(n_events, 2);
	CHECK_EQ(events[0], EVENT_LID);
	CHECK_EQ(events[1], EVENT_ACTIVE);
	CHECK_EQ(set_port(9, 0), MAD_OK);
	CHECK_EQ(hca.port.state, PORT_ACTIVE);
}

TEST(states_only_change_in_steps)
{
	start(true);
	CHECK_EQ(set_port(9, PORT_ACTIVE), MAD_BAD_VALUE);
	CHECK_EQ(hca.port.lid, 0);
	CHECK_EQ(set_port(9, PORT_INIT), MAD_BAD_VALUE);
	CHECK_EQ(set_port(9, 5), MAD_BAD_VALUE);
	CHECK_EQ(set_port(9, PORT_DOWN), MAD_OK);
	CHECK_EQ(hca.port.state, PORT_INIT);
	CHECK_EQ(events[n_events - 1], EVENT_INITIALIZED);
}

TEST(lids_are_checked)
{
	start(true);
	CHECK_EQ(set_port(0, 0), MAD_BAD_VALUE);
	CHECK_EQ(set_port(0xc000, 0), MAD_BAD_VALUE);
	CHECK_EQ(ask(GET, PORT_INFO, 1), MAD_OK);
	put_be16(smp + 16, 5);
	put_be16(smp + 18, 1);
	smp[32] = smp[33] = 0;
	smp[34] = 2; /* LMC */
	CHECK_EQ(ask(SET, PORT_INFO, 1), MAD_BAD_VALUE);
	put_be16(smp + 16, 8);
	put_be16(smp + 18, 1);
	smp[34] = 2;
	CHECK_EQ(ask(SET, PORT_INFO, 1), MAD_OK);
	CHECK_EQ(hca.port.lmc, 2);
	CHECK_EQ(ask(GET, PORT_INFO, 2), MAD_BAD_VALUE);
}

TEST(a_manager_disables_and_enables)
{
	start(true);
	CHECK_EQ(set_port(9, PORT_ARMED), MAD_OK);
	smp[32] = PORT_DOWN;
	smp[33] = 3 << 4;
	CHECK_EQ(ask(SET, PORT_INFO, 1), MAD_OK);
	CHECK_EQ(hca.port.state, PORT_DOWN);
	CHECK_EQ(smp[33] >> 4, PORT_DISABLED);
	smp[32] = 0;
	smp[33] = 2 << 4;
	CHECK_EQ(ask(SET, PORT_INFO, 1), MAD_OK);
	CHECK_EQ(hca.port.state, PORT_INIT);
	CHECK_EQ(smp[33] >> 4, PORT_LINK_UP);
}

TEST(reregistration_and_prefix_are_events)
{
	start(false);
	CHECK_EQ(ask(GET, PORT_INFO, 1), MAD_OK);
	put_be64(smp + 8, 0xfec0000000000000ull);
	smp[32] = smp[33] = 0;
	smp[51] |= 0x80;
	CHECK_EQ(ask(SET, PORT_INFO, 1), MAD_OK);
	CHECK_EQ(smp[51] & 0x80, 0);
	CHECK_EQ(n_events, 2);
	CHECK_EQ(events[0], EVENT_GUID);
	CHECK_EQ(events[1], EVENT_REREGISTER);
}

TEST(pkey_table)
{
	start(false);
	CHECK_EQ(ask(GET, 0x16, 0), MAD_OK);
	CHECK_EQ(be16_at(smp), 0xffff);
	put_be16(smp + 2, 0x8001);
	CHECK_EQ(ask(SET, 0x16, 0), MAD_OK);
	CHECK_EQ(hca.port.pkeys[1], 0x8001);
	CHECK_EQ(n_events, 1);
	CHECK_EQ(events[0], EVENT_PKEY);
	CHECK_EQ(ask(SET, 0x16, 0), MAD_OK);
	CHECK_EQ(n_events, 1);
	put_be16(smp + 2 * PORT_PKEYS, 1);
	CHECK_EQ(ask(SET, 0x16, 0), MAD_BAD_VALUE);
	CHECK_EQ(ask(GET, 0x16, 1), MAD_BAD_VALUE);
}

TEST(guid_table)
{
	uint8_t gid[16];

	start(false);
	CHECK_EQ(ask(GET, 0x14, 0), MAD_OK);
	CHECK_EQ(be64_at(smp), hca.port.port_guid);
	put_be64(smp, 1);
	put_be64(smp + 8, 0x1234);
	CHECK_EQ(ask(SET, 0x14, 0), MAD_OK);
	CHECK_EQ(be64_at(smp), hca.port.port_guid);
	CHECK_EQ(events[0], EVENT_GUID);
	REQUIRE(port_gid(&hca, 1, gid));
	CHECK_EQ(be64_at(gid + 8), 0x1234);
	CHECK_EQ(be64_at(gid), hca.port.gid_prefix);
	CHECK_EQ(ask(GET, 0x14, 1), MAD_BAD_VALUE);
}

TEST(node_info_and_description)
{
	start(false);
	CHECK_EQ(ask(GET, 0x11, 0), MAD_OK);
	CHECK_EQ(smp[2], 1);
	CHECK_EQ(be64_at(smp + 12), hca.port.node_guid);
	CHECK_EQ(be64_at(smp + 20), hca.port.port_guid);
	CHECK_EQ(be16_at(smp + 28), PORT_PKEYS);
	CHECK_EQ(ask(SET, 0x11, 0), MAD_BAD_METHOD);
	CHECK_EQ(ask(GET, 0x10, 0), MAD_OK);
	CHECK(!strcmp((char *)smp, "hca-model 2"));
	strcpy((char *)smp, "a machine");
	CHECK_EQ(ask(SET, 0x10, 0), MAD_OK);
	CHECK(!strcmp(hca.port.node_desc, "a machine"));
}

TEST(malformed_mads)
{
	start(false);
	CHECK_EQ(ask(GET, 0xff90, 0), MAD_BAD_ATTRIBUTE);
	CHECK_EQ(ask(3, PORT_INFO, 0), MAD_BAD_METHOD);
	request(MAD_CLASS_DIRECTED, GET, PORT_INFO, 0);
	REQUIRE(port_mad(&hca, mad, true));
	CHECK_EQ(be16_at(mad + MAD_STATUS), MAD_DIRECTION);
	request(MAD_CLASS_DIRECTED, GET, PORT_INFO, 0);
	mad[MAD_CLASS_VERSION] = 2;
	REQUIRE(port_mad(&hca, mad, true));
	CHECK_EQ(be16_at(mad + MAD_STATUS), MAD_BAD_VERSION | MAD_DIRECTION);
	CHECK(!port_mad(&hca, mad, true)); /* a response */
	request(0x32, GET, PORT_INFO, 0);
	CHECK(!port_mad(&hca, mad, true));
	request(MAD_CLASS_LID_ROUTED, 7, PORT_INFO, 0);
	CHECK(!port_mad(&hca, mad, true));
}

TEST(the_mkey_guards)
{
	start(false);
	hca.port.m_key.key = 0x77;
	hca.port.m_key.protect = 1;
	hca.port.m_key.lease = 10;
	CHECK_EQ(ask(GET, PORT_INFO, 1), MAD_OK);
	CHECK_EQ(be64_at(smp), 0); /* not shown */
	request(MAD_CLASS_LID_ROUTED, SET, 0x10, 0);
	CHECK(!port_mad(&hca, mad, true));
	CHECK_EQ(hca.port.m_key.violations, 1);
	request(MAD_CLASS_LID_ROUTED, SET, 0x10, 0);
	put_be64(mad + MAD_SMP_MKEY, 0x77);
	CHECK(port_mad(&hca, mad, true));
	request(MAD_CLASS_LID_ROUTED, SET, 0x10, 0);
	CHECK(port_mad(&hca, mad, false)); /* the host itself */
	hca.port.m_key.protect = 2;
	request(MAD_CLASS_LID_ROUTED, GET, PORT_INFO, 0);
	CHECK(!port_mad(&hca, mad, true));
	loop_clock_advance(hca.loop, 10000000000ull); /* the lease is over: it may be read */
	CHECK_EQ(ask(GET, PORT_INFO, 1), MAD_OK);
	CHECK_EQ(be64_at(smp), 0x77);
}

static unsigned int perf(uint8_t method, uint16_t attr)
{
	request(MAD_CLASS_PERFORMANCE, method, attr, 0);
	REQUIRE(port_mad(&hca, mad, true));
	return be16_at(mad + MAD_STATUS);
}

TEST(performance_counters)
{
	uint8_t *d = mad + MAD_PMA_DATA;

	start(false);
	hca.port.xmit_bytes = 4000;
	hca.port.xmit_packets = 10;
	hca.port.xmit_mc_packets = 3;
	hca.port.rcv_packets = 1ull << 33;
	hca.port.link_downed = 300;
	memset(mad, 0, sizeof(mad));
	d[1] = 1;
	CHECK_EQ(perf(GET, 0x12), MAD_OK);
	CHECK_EQ(be32_at(d + 24), 1000);
	CHECK_EQ(be32_at(d + 32), 10);
	CHECK_EQ(be32_at(d + 36), UINT32_MAX);
	CHECK_EQ(d[7], 255);
	CHECK_EQ(perf(GET, 0x1d), MAD_OK);
	CHECK_EQ(be64_at(d + 8), 1000);
	CHECK_EQ(be64_at(d + 32), 1ull << 33);
	CHECK_EQ(be64_at(d + 40), 7);
	CHECK_EQ(be64_at(d + 56), 3);
	put_be16(d + 2, 0xffff);
	CHECK_EQ(perf(SET, 0x12), MAD_OK);
	CHECK_EQ(hca.port.rcv_packets, 0);
	d[1] = 2;
	CHECK_EQ(perf(GET, 0x12), MAD_BAD_VALUE);
	CHECK_EQ(perf(GET, 1), MAD_OK);
	CHECK_EQ(be16_at(d + 2), 0x200);
	CHECK_EQ(perf(SET, 1), MAD_BAD_METHOD);
	CHECK_EQ(perf(GET, 0x20), MAD_BAD_ATTRIBUTE);
}
