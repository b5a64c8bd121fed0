// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The managed switch: its agent, its tables, the states of its ports, its trap. */
#include "managed.h"

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
	CHECK_EQ(set_state(2, PORT_ARMED, 0), MAD_OK);
	CHECK_EQ(set_state(2, PORT_ACTIVE, 0), MAD_OK);
	CHECK(!reaches(0, OWN_LID(1), 1)); /* INIT ports do not receive */
	CHECK_EQ(set_state(1, PORT_ARMED, 0), MAD_OK);
	CHECK(reaches(0, OWN_LID(1), 1)); /* ARMED ports only receive */
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
	CHECK_EQ(arrived, 0);      /* there is no manager yet, */
	CHECK(loop_restart(loop)); /* and nothing is to be repeated */
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
