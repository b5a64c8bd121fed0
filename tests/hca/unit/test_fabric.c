// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The switch alone: QPs here only note what reaches them. */
#include <errno.h>
#include <stdlib.h>

#include "engine/fabric.h"
#include "hca.h"
#include "objects/qp.h"
#include "plain_port.h"
#include "unit.h"

#define PORTS 3
#define QPS 4
#define QPN(port, n) (0x100u * ((port) + 1) + (n))

static struct loop *loop;
static struct fabric *fabric;
static struct hca hcas[PORTS];
static struct qp qps[PORTS][QPS], qp0[PORTS];

static struct arrival {
	uint32_t qpn, psn, len;
	uint8_t first;
} arrivals[4096];
static unsigned int arrived;

/* Doubles for the parts that are not tested here. */
__attribute__((weak)) struct obj *obj_find(const struct obj_table *t, uint32_t id)
{
	(void)t;
	for (unsigned int p = 0; p < PORTS; p++)
		for (unsigned int i = 0; i < QPS; i++)
			if (t == hcas[p].objs[OBJ_QP] && qps[p][i].obj.id == id)
				return &qps[p][i].obj;
	return NULL;
}

__attribute__((weak)) void qp_engine_packet(struct qp *qp, struct packet *p)
{
	if (arrived < 4096)
		arrivals[arrived++] = (struct arrival){ qp->obj.id, p->psn, p->len, p->data[0] };
	packet_put(qp->obj.hca->fabric, p);
}

static void fresh(void)
{
	memset(hcas, 0, sizeof(hcas));
	memset(qps, 0, sizeof(qps));
	memset(qp0, 0, sizeof(qp0));
	arrived = 0;
	loop = loop_new();
	REQUIRE(loop);
	loop_clock_advance(loop, 0);
	fabric = fabric_new(loop);
	REQUIRE(fabric);
	for (unsigned int p = 0; p < PORTS; p++) {
		hcas[p].index = p;
		hcas[p].loop = loop;
		hcas[p].fabric = fabric;
		hcas[p].port.lid = (uint16_t)(p + 1);
		hcas[p].port.state = PORT_ACTIVE;
		hcas[p].objs[OBJ_QP] = (struct obj_table *)&hcas[p]; /* only compared */
		qp0[p].obj.hca = &hcas[p];
		hcas[p].special_qp[0] = &qp0[p];
		for (unsigned int i = 0; i < QPS; i++) {
			qps[p][i].obj.hca = &hcas[p];
			qps[p][i].obj.id = QPN(p, i);
		}
		REQUIRE_EQ(fabric_join(fabric, &hcas[p]), 0);
	}
}

static void done(void)
{
	fabric_free(fabric);
	loop_free(loop);
}

static struct packet *make(uint16_t dlid, uint32_t qpn, uint32_t psn)
{
	struct packet *p = packet_get(fabric);

	REQUIRE(p);
	p->opcode = BTH_UD | BTH_SEND_ONLY;
	p->dlid = dlid;
	p->dest_qpn = qpn;
	p->psn = psn;
	return p;
}

static void turns(unsigned int n)
{
	while (n--)
		loop_turn(loop, 0);
}

TEST(goes_to_the_lid_in_order_at_a_later_turn)
{
	fresh();
	for (uint32_t i = 0; i < 100; i++)
		fabric_send(&hcas[0], make(2, QPN(1, 0), i));
	CHECK_EQ(arrived, 0);
	turns(2);
	CHECK_EQ(arrived, 100);
	for (uint32_t i = 0; i < arrived; i++)
		CHECK_EQ(arrivals[i].psn, i);
	CHECK_EQ(hcas[0].stats.packets_sent, 100);
	CHECK_EQ(hcas[1].stats.packets_received, 100);
	CHECK_EQ(hcas[0].port.xmit_packets, 100);
	CHECK_EQ(hcas[1].port.rcv_bytes, hcas[0].port.xmit_bytes);
	done();
}

TEST(loops_back_on_one_port)
{
	fresh();
	fabric_send(&hcas[0], make(1, QPN(0, 3), 9));
	turns(2);
	CHECK_EQ(arrived, 1);
	CHECK_EQ(arrivals[0].qpn, QPN(0, 3));
	done();
}

TEST(lmc_widens_the_lid)
{
	fresh();
	hcas[2].port.lid = 8;
	hcas[2].port.lmc = 2;
	fabric_send(&hcas[0], make(11, QPN(2, 0), 1));
	fabric_send(&hcas[0], make(12, QPN(2, 0), 2));
	turns(2);
	CHECK_EQ(arrived, 1);
	CHECK_EQ(hcas[0].stats.packets_dropped, 1);
	done();
}

TEST(nobody_there_is_counted)
{
	fresh();
	fabric_send(&hcas[0], make(99, 1, 0));
	fabric_send(&hcas[0], make(0, 1, 0));
	fabric_send(&hcas[0], make(2, 0x999, 0));
	fabric_send(&hcas[0], make(0xffff, 0, 0)); /* three ports: not a cable */
	turns(2);
	CHECK_EQ(arrived, 0);
	CHECK_EQ(hcas[0].stats.packets_dropped, 3);
	CHECK_EQ(hcas[0].port.xmit_discards, 3);
	CHECK_EQ(hcas[1].stats.packets_dropped, 1);
	done();
}

TEST(the_permissive_lid_crosses_a_cable)
{
	fresh();
	fabric_leave(fabric, &hcas[2]);
	fabric_send(&hcas[0], make(0xffff, 0, 5));
	turns(2);
	CHECK_EQ(arrived, 1);
	CHECK_EQ(arrivals[0].psn, 5);
	done();
}

/* From other QPs, or by a connection, nothing gets to QP0. */
TEST(only_qp0_reaches_qp0)
{
	struct packet *p;

	fresh();
	fabric_send(&hcas[0], make(2, 0, 1));
	p = make(2, 0, 2);
	p->src_qpn = QPN(0, 0);
	fabric_send(&hcas[0], p);
	p = make(2, 0, 3);
	p->opcode = BTH_RC | BTH_SEND_ONLY;
	fabric_send(&hcas[0], p);
	turns(2);
	CHECK_EQ(arrived, 1);
	CHECK_EQ(arrivals[0].psn, 1);
	CHECK_EQ(hcas[0].stats.packets_dropped, 2);
	done();
}

TEST(port_states_decide)
{
	fresh();
	hcas[0].port.state = PORT_INIT;
	fabric_send(&hcas[0], make(2, QPN(1, 0), 0)); /* dropped */
	fabric_send(&hcas[0], make(2, 0, 1));
	hcas[0].port.state = PORT_ACTIVE;
	hcas[1].port.state = PORT_ARMED;
	fabric_send(&hcas[0], make(2, QPN(1, 0), 2));
	turns(1);
	CHECK_EQ(arrived, 2);
	hcas[1].port.state = PORT_INIT;
	fabric_send(&hcas[0], make(2, QPN(1, 0), 3)); /* dropped at the far end */
	fabric_send(&hcas[1], make(1, QPN(0, 0), 4)); /* dropped */
	turns(1);
	hcas[1].port.state = PORT_ACTIVE;
	hcas[1].faults.link_down = true;
	fabric_send(&hcas[0], make(2, QPN(1, 0), 5)); /* dropped */
	fabric_send(&hcas[1], make(2, QPN(1, 0), 6)); /* dropped */
	turns(2);
	CHECK_EQ(arrived, 2);
	CHECK_EQ(hcas[0].stats.packets_dropped, 1);
	CHECK_EQ(hcas[1].stats.packets_dropped, 4);
	done();
}

TEST(faults_drop)
{
	unsigned int lost;

	fresh();
	hcas[0].faults.drop_next = 2;
	for (uint32_t i = 0; i < 5; i++)
		fabric_send(&hcas[0], make(2, QPN(1, 0), i));
	turns(2);
	CHECK_EQ(arrived, 3);
	CHECK_EQ(arrivals[0].psn, 2);
	hcas[0].faults.drop_permille = 250;
	arrived = 0;
	for (uint32_t i = 0; i < 4000; i++) {
		fabric_send(&hcas[0], make(2, QPN(1, 0), i));
		turns(1);
	}
	turns(2);
	lost = 4000 - arrived;
	CHECK(lost > 850 && lost < 1150);
	hcas[0].faults.drop_permille = 1000;
	arrived = 0;
	fabric_send(&hcas[0], make(2, QPN(1, 0), 1));
	turns(2);
	CHECK_EQ(arrived, 0);
	done();
}

/* Which of 200 packets are lost, as a number. */
static uint64_t losses(void)
{
	uint64_t s = 0;

	arrived = 0;
	for (uint32_t i = 0; i < 200; i++) {
		fabric_send(&hcas[0], make(2, QPN(1, 0), i));
		turns(2);
		s = s * 31 + arrived;
	}
	return s;
}

TEST(a_fabric_starts_over)
{
	uint64_t first;

	fresh();
	hcas[0].faults.drop_permille = 500;
	first = losses();
	CHECK(losses() != first);
	CHECK(fabric_restart(fabric));
	CHECK_EQ(losses(), first);
	hcas[0].faults.drop_permille = 0;
	fabric_send(&hcas[0], make(2, QPN(1, 0), 0));
	CHECK(!fabric_restart(fabric));
	fabric_purge(&hcas[0]);
	CHECK(fabric_restart(fabric));
	CHECK_EQ(loop_turn(loop, 0), 0);
	CHECK_EQ(fabric_attach(&hcas[1], (const uint8_t *)"0123456789abcdef", 5), 0);
	CHECK(!fabric_restart(fabric));
	fabric_detach_all(&hcas[1], 5);
	CHECK(fabric_restart(fabric));
	done();
}

TEST(faults_delay)
{
	fresh();
	hcas[0].faults.delay_ns = 1000;
	fabric_send(&hcas[0], make(2, QPN(1, 0), 0));
	loop_clock_advance(loop, 500);
	fabric_send(&hcas[0], make(2, QPN(1, 0), 1));
	hcas[0].faults.delay_ns = 100;
	fabric_send(&hcas[0], make(2, QPN(1, 0), 2)); /* due first: overtakes both */
	hcas[0].faults.delay_ns = 700;
	fabric_send(&hcas[0], make(2, QPN(1, 0), 3)); /* between them */
	turns(3);
	CHECK_EQ(arrived, 0);
	loop_clock_advance(loop, 100);
	turns(2);
	CHECK_EQ(arrived, 1);
	loop_clock_advance(loop, 400);
	turns(2);
	CHECK_EQ(arrived, 2);
	loop_clock_advance(loop, 500);
	turns(2);
	CHECK_EQ(arrived, 4);
	CHECK_EQ(arrivals[0].psn, 2);
	CHECK_EQ(arrivals[1].psn, 0);
	CHECK_EQ(arrivals[2].psn, 3);
	CHECK_EQ(arrivals[3].psn, 1);
	fabric_send(&hcas[0], make(2, QPN(1, 0), 4));
	loop_clock_advance(loop, 700);
	turns(2);
	CHECK_EQ(arrived, 5);
	done();
}

TEST(the_pool_is_bounded_and_comes_back)
{
	unsigned int n;

	fresh();
	for (n = 0; n < FABRIC_PACKETS; n++)
		fabric_send(&hcas[0], make(2, QPN(1, 0), n));
	CHECK(!packet_get(fabric));
	turns(1);
	CHECK(arrived > 0 && arrived < FABRIC_PACKETS); /* a turn is bounded */
	turns(FABRIC_PACKETS);
	for (n = 0; n < FABRIC_PACKETS; n++)
		REQUIRE(packet_get(fabric));
	CHECK(!packet_get(fabric));
	done();
}

TEST(ports_take_turns)
{
	unsigned int first = 0;

	fresh();
	for (uint32_t i = 0; i < 2000; i++)
		fabric_send(&hcas[0], make(3, QPN(2, 0), i));
	fabric_send(&hcas[1], make(3, QPN(2, 1), 1));
	turns(1);
	for (unsigned int i = 0; i < arrived; i++)
		if (arrivals[i].qpn == QPN(2, 1))
			first = i + 1;
	CHECK(first > 0 && first < 64);
	done();
}

static const uint8_t group[16] = { 0xff, 0x12, 0xa0, 0x1b, [15] = 1 };
static const uint8_t other[16] = { 0xff, 0x12, 0xa0, 0x1b, [15] = 2 };

TEST(multicast_reaches_each_attached_qp)
{
	struct packet *p;

	fresh();
	CHECK_EQ(fabric_attach(&hcas[0], group, QPN(0, 0)), 0);
	CHECK_EQ(fabric_attach(&hcas[1], group, QPN(1, 0)), 0);
	CHECK_EQ(fabric_attach(&hcas[1], group, QPN(1, 1)), 0);
	CHECK_EQ(fabric_attach(&hcas[1], group, QPN(1, 1)), -EEXIST);
	CHECK_EQ(fabric_attach(&hcas[2], other, QPN(2, 0)), 0);
	p = make(0xc001, QPN_MULTICAST, 7);
	p->grh = true;
	memcpy(p->dgid, group, 16);
	p->len = 4;
	p->data[0] = 0x77;
	fabric_send(&hcas[0], p);
	turns(2);
	CHECK_EQ(arrived, 3);
	for (unsigned int i = 0; i < arrived; i++) {
		CHECK_EQ(arrivals[i].first, 0x77);
		CHECK_EQ(arrivals[i].len, 4);
	}
	CHECK_EQ(fabric_detach(&hcas[1], group, QPN(1, 2)), -ENOENT);
	CHECK_EQ(fabric_detach(&hcas[1], group, QPN(1, 0)), 0);
	fabric_detach_all(&hcas[1], QPN(1, 1));
	CHECK_EQ(fabric_detach(&hcas[1], group, QPN(1, 1)), -ENOENT);

	arrived = 0;
	p = make(0xc001, QPN_MULTICAST, 8); /* no GRH */
	memcpy(p->dgid, group, 16);
	fabric_send(&hcas[2], p);
	turns(2);
	CHECK_EQ(arrived, 0);
	CHECK_EQ(hcas[2].stats.packets_dropped, 1);
	done();
}

TEST(groups_are_bounded)
{
	uint8_t mgid[16] = { 0xff };
	unsigned int n = 0;

	fresh();
	for (uint32_t i = 0; i < FABRIC_GROUP_QPS; i++)
		CHECK_EQ(fabric_attach(&hcas[i % 2], group, i), 0);
	CHECK_EQ(fabric_attach(&hcas[0], group, 1000), -ENOSPC);
	fabric_purge(&hcas[0]);
	CHECK_EQ(fabric_attach(&hcas[0], group, 1000), 0);
	for (n = 1; n < FABRIC_ATTACHMENTS; n++) {
		mgid[1] = (uint8_t)n;
		mgid[2] = (uint8_t)(n >> 8);
		REQUIRE_EQ(fabric_attach(&hcas[0], mgid, 2), 0);
	}
	mgid[3] = 1;
	CHECK_EQ(fabric_attach(&hcas[0], mgid, 2), -ENOSPC);
	fabric_detach_all(&hcas[0], 2);
	CHECK_EQ(fabric_attach(&hcas[0], mgid, 2), 0);
	done();
}

TEST(purge_forgets_what_is_under_way)
{
	fresh();
	fabric_send(&hcas[0], make(2, QPN(1, 0), 0));
	fabric_send(&hcas[1], make(3, QPN(2, 0), 1));
	fabric_send(&hcas[2], make(3, QPN(2, 0), 2));
	hcas[2].faults.delay_ns = 100;
	fabric_send(&hcas[2], make(2, QPN(1, 0), 3));
	fabric_send(&hcas[2], make(1, QPN(0, 0), 4));
	fabric_send(&hcas[2], make(2, QPN(1, 0), 5));
	fabric_purge(&hcas[1]);
	turns(2);
	CHECK_EQ(arrived, 1);
	CHECK_EQ(arrivals[0].psn, 2);
	fabric_send(&hcas[2], make(2, QPN(1, 0), 6));
	loop_clock_advance(loop, 100);
	turns(2);
	CHECK_EQ(arrived, 3);
	CHECK_EQ(arrivals[1].psn, 4);
	CHECK_EQ(arrivals[2].psn, 6);
	done();
}
