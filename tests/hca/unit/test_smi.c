// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Management packets to the managed switch, and through it: directed routes, and those by LID. */
#include "managed.h"

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
	REQUIRE(port_gid(&hcas[0], 0, p->sgid) && port_gid(&hcas[0], 0, p->dgid));
	CHECK(!answered(p));
	p = with_hops(1, 1);
	p->src_qpn = QPN; /* of a user: only QP0 may */
	CHECK(!answered(p));
	CHECK(fabric_restart(fabric)); /* no packet is lost */
}

/* A request that is discarded is not carried out, either. */
TEST(discarded_requests_change_nothing)
{
	struct packet *p;

	start();
	p = directed(SET, ATTR_LINEAR_TABLE, 0, 1, to_switch);
	p->data[MAD_HOP_POINTER] = 2;
	CHECK(!answered(p));
	CHECK_EQ(ask(GET, ATTR_LINEAR_TABLE, 0), MAD_OK);
	CHECK_EQ(data[0], 0xff);
	CHECK(answered(directed(SET, ATTR_LINEAR_TABLE, 0, 1, to_switch)));
	CHECK_EQ(ask(GET, ATTR_LINEAR_TABLE, 0), MAD_OK);
	CHECK_EQ(data[0], 0);
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
	p = management(MAD_CLASS_LID_ROUTED, GET, ATTR_NODE_INFO, 0);
	p->dlid = LID_PERMISSIVE; /* not by LID */
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

	/* One that has no way left is not where it should be. */
	p = directed(GET, ATTR_NODE_INFO, 0, 1, path);
	put_be16(p->data + MAD_STATUS, MAD_DIRECTION);
	put_be16(p->data + MAD_DIRECTED_SLID, OWN_LID(1));
	p->data[MAD_HOP_POINTER] = 0;
	CHECK(!answered(p));
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
