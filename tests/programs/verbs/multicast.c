// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UD multicast: what is sent to a group reaches every QP that is attached to it, on every device, once, and
 * nobody else.
 *
 * No subnet manager is asked: groups and their LIDs are chosen by hand, which works wherever switches deliver by group;
 * where they do not, because of a manager, there is the case not-joined.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "verbs_pair.h"

#define MLID 0xc0a5
#define MEMBERS 4
#define LEN 600

struct crowd {
	struct vp_dev dev[2];
	struct vp_conf conf;
	struct vp_end sender;          /* on the first device, in no group */
	struct vp_end member[MEMBERS]; /* by turns on both devices */
	struct ibv_ah *ah;             /* to the group */
	union ibv_gid group;
	uint16_t lid;
};

/* A transient, link-local group; another for each number. */
static union ibv_gid group_gid(uint8_t number)
{
	union ibv_gid gid = { .raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0,
				       0xa5, 0x5a, number } };

	return gid;
}

static struct ibv_ah *group_ah(struct vp_end *end, union ibv_gid gid, uint16_t lid)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.dlid = lid,
		.port_num = end->dev->port_num,
		.grh = { .dgid = gid, .sgid_index = end->dev->gid_index, .hop_limit = 1 },
	};
	struct ibv_ah *ah = ibv_create_ah(end->pd, &attr);

	require(ah, "create an address handle to a group");
	return ah;
}

static void member_move(struct vp_end *end)
{
	vp_move(end, NULL, IBV_QPS_INIT);
	vp_move(end, NULL, IBV_QPS_RTR);
	vp_move(end, NULL, IBV_QPS_RTS);
	end->peer = end;
}

static void member_make(struct crowd *c, struct vp_end *end, struct vp_dev *dev)
{
	vp_end_make(end, dev, NULL, &c->conf);
	member_move(end);
}

static void crowd_open(struct crowd *c)
{
	int i;

	memset(c, 0, sizeof(*c));
	vp_open(&c->dev[0], 0);
	vp_open(&c->dev[1], 1);
	if (c->dev[0].port.link_layer == IBV_LINK_LAYER_ETHERNET)
		skip("groups by LID are of InfiniBand");
	if (!c->dev[0].attr.max_mcast_grp || !c->dev[1].attr.max_mcast_grp)
		skip("the device has no multicast");
	c->conf = vp_conf(IBV_QPT_UD);
	c->group = group_gid(1);
	c->lid = MLID;
	member_make(c, &c->sender, &c->dev[0]);
	for (i = 0; i < MEMBERS; i++)
		member_make(c, &c->member[i], &c->dev[i % 2]);
	c->ah = group_ah(&c->sender, c->group, c->lid);
}

static void crowd_close(struct crowd *c)
{
	int i;

	require(!ibv_destroy_ah(c->ah), "destroy the address handle");
	for (i = 0; i < MEMBERS; i++)
		vp_end_free(&c->member[i]);
	vp_end_free(&c->sender);
	vp_close(&c->dev[0]);
	vp_close(&c->dev[1]);
}

static void attach(struct vp_end *end, union ibv_gid gid, uint16_t lid)
{
	errno = ibv_attach_mcast(end->qp, &gid, lid);
	require(!errno, "attach a QP to a group");
}

static void detach(struct vp_end *end, union ibv_gid gid, uint16_t lid)
{
	errno = ibv_detach_mcast(end->qp, &gid, lid);
	require(!errno, "detach a QP from a group");
}

static void attach_all(struct crowd *c)
{
	int i;

	for (i = 0; i < MEMBERS; i++)
		attach(&c->member[i], c->group, c->lid);
}

static void detach_all(struct crowd *c)
{
	int i;

	for (i = 0; i < MEMBERS; i++)
		detach(&c->member[i], c->group, c->lid);
}

static void post_all(struct crowd *c)
{
	int i;

	for (i = 0; i < MEMBERS; i++) {
		memset(c->member[i].buf, 0, VP_GRH + LEN);
		vp_recv(&c->member[i], i, 0, VP_GRH + LEN);
	}
}

static void send_to(struct vp_end *from, struct ibv_ah *ah, uint32_t qkey, uint64_t pattern)
{
	struct vp_wr w;

	vp_fill(from->buf + 8192, LEN, pattern);
	vp_wr(&w, from, IBV_WR_SEND, 8192, LEN);
	w.wr.wr.ud.ah = ah;
	w.wr.wr.ud.remote_qpn = 0xffffff;
	w.wr.wr.ud.remote_qkey = qkey;
	vp_send(from, &w.wr);
	vp_expect(&from->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a datagram to the group");
}

static void expect_datagram(struct crowd *c, int i, uint64_t pattern)
{
	struct vp_end *m = &c->member[i];
	struct ibv_wc wc = vp_expect(&m->rcq, i, IBV_WC_SUCCESS, "the receive of a member");

	check(wc.byte_len == VP_GRH + LEN, "the receive says %d bytes (%u)", VP_GRH + LEN,
	      wc.byte_len);
	check(wc.wc_flags & IBV_WC_GRH, "there is a GRH");
	check(!memcmp(m->buf + 24, &c->group, 16), "whose destination is the group");
	check(!memcmp(m->buf + 8, &c->sender.dev->gid, 16),
	      "and whose source is the sender's port");
	check(wc.src_qp == c->sender.qp->qp_num, "the sender's QP is named");
	check(vp_differs(m->buf + VP_GRH, LEN, pattern) < 0, "every byte is right");
}

static void reaches_all(const void *arg)
{
	struct crowd c;
	int i, round;

	(void)arg;
	crowd_open(&c);
	attach_all(&c);
	for (round = 0; round < 10; round++) {
		uint64_t pattern = vp_fresh();

		post_all(&c);
		send_to(&c.sender, c.ah, VP_QKEY, pattern);
		for (i = 0; i < MEMBERS; i++)
			expect_datagram(&c, i, pattern);
	}
	/* A receive more at each: nothing may come twice. */
	post_all(&c);
	for (i = 0; i < MEMBERS; i++)
		vp_expect_none(&c.member[i].rcq, "each member, after the last datagram");
	detach_all(&c);
	crowd_close(&c);
}

/* Two members leave, one of each device; the others stay. */
static void detach_stops(const void *arg)
{
	uint64_t pattern = vp_fresh();
	struct crowd c;

	(void)arg;
	crowd_open(&c);
	attach_all(&c);
	detach(&c.member[0], c.group, c.lid);
	detach(&c.member[1], c.group, c.lid);
	post_all(&c);
	send_to(&c.sender, c.ah, VP_QKEY, pattern);
	expect_datagram(&c, 2, pattern);
	expect_datagram(&c, 3, pattern);
	vp_expect_none(&c.member[0].rcq, "a member that has left");
	vp_expect_none(&c.member[1].rcq, "a member that has left");
	/* And comes again. */
	attach(&c.member[0], c.group, c.lid);
	pattern = vp_fresh();
	vp_recv(&c.member[2], 2, 0, VP_GRH + LEN);
	vp_recv(&c.member[3], 3, 0, VP_GRH + LEN);
	send_to(&c.sender, c.ah, VP_QKEY, pattern);
	expect_datagram(&c, 0, pattern);
	expect_datagram(&c, 2, pattern);
	expect_datagram(&c, 3, pattern);
	detach(&c.member[0], c.group, c.lid);
	detach(&c.member[2], c.group, c.lid);
	detach(&c.member[3], c.group, c.lid);
	crowd_close(&c);
}

static void other_group(const void *arg)
{
	union ibv_gid other = group_gid(2);
	uint64_t pattern = vp_fresh();
	struct ibv_ah *ah;
	struct crowd c;
	int i;

	(void)arg;
	crowd_open(&c);
	attach_all(&c);
	attach(&c.member[3], other, c.lid + 1);
	post_all(&c);
	ah = group_ah(&c.sender, other, c.lid + 1);
	c.group = other;
	send_to(&c.sender, ah, VP_QKEY, pattern);
	expect_datagram(&c, 3, pattern);
	for (i = 0; i < 3; i++)
		vp_expect_none(&c.member[i].rcq, "a member of another group");
	detach(&c.member[3], other, c.lid + 1);
	c.group = group_gid(1);
	require(!ibv_destroy_ah(ah), "destroy the address handle");
	detach_all(&c);
	crowd_close(&c);
}

static void wrong_qkey(const void *arg)
{
	uint64_t pattern = vp_fresh();
	struct crowd c;
	int i;

	(void)arg;
	crowd_open(&c);
	attach_all(&c);
	post_all(&c);
	send_to(&c.sender, c.ah, VP_QKEY ^ 1, vp_fresh());
	send_to(&c.sender, c.ah, VP_QKEY, pattern);
	for (i = 0; i < MEMBERS; i++)
		expect_datagram(&c, i, pattern);
	detach_all(&c);
	crowd_close(&c);
}

/* A member that has no receive posted misses the datagram; the others do not. */
static void member_not_ready(const void *arg)
{
	uint64_t pattern = vp_fresh();
	struct crowd c;
	int i;

	(void)arg;
	crowd_open(&c);
	attach_all(&c);
	for (i = 1; i < MEMBERS; i++)
		vp_recv(&c.member[i], i, 0, VP_GRH + LEN);
	send_to(&c.sender, c.ah, VP_QKEY, pattern);
	for (i = 1; i < MEMBERS; i++)
		expect_datagram(&c, i, pattern);
	post_all(&c);
	vp_expect_none(&c.member[0].rcq, "the member that was not ready");
	pattern = vp_fresh();
	send_to(&c.sender, c.ah, VP_QKEY, pattern);
	for (i = 0; i < MEMBERS; i++)
		expect_datagram(&c, i, pattern);
	detach_all(&c);
	crowd_close(&c);
}

static void bad_attach(const void *arg)
{
	struct vp_conf rc_conf = vp_conf(IBV_QPT_RC);
	union ibv_gid unicast;
	struct vp_end rc;
	struct crowd c;

	(void)arg;
	crowd_open(&c);
	unicast = c.dev[0].gid;
	vp_end_make(&rc, &c.dev[0], NULL, &rc_conf);
	check(ibv_attach_mcast(rc.qp, &c.group, c.lid), "an RC QP in a group is refused");
	check(ibv_attach_mcast(c.member[0].qp, &unicast, c.lid),
	      "a group whose GID is of a port is refused");
	check(ibv_detach_mcast(c.member[0].qp, &c.group, c.lid),
	      "leaving a group without being in it is refused");
	attach(&c.member[0], c.group, c.lid);
	check(ibv_destroy_qp(c.member[0].qp) == EBUSY, "a QP in a group stays");
	detach(&c.member[0], c.group, c.lid);
	vp_end_free(&rc);
	crowd_close(&c);
}

/* No subnet manager has been asked, so a switch that has one brings nothing: who is on the sender's own port needs no switch. */
static void not_joined(const void *arg)
{
	uint64_t pattern = vp_fresh();
	struct crowd c;

	(void)arg;
	crowd_open(&c);
	attach_all(&c);
	post_all(&c);
	send_to(&c.sender, c.ah, VP_QKEY, pattern);
	expect_datagram(&c, 0, pattern);
	expect_datagram(&c, 2, pattern);
	vp_expect_none(&c.member[1].rcq, "a member on the other port");
	vp_expect_none(&c.member[3].rcq, "a member on the other port");
	detach_all(&c);
	crowd_close(&c);
}

static struct ibv_qp *create_blocking(const struct vp_end *end)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = end->scq.cq,
		.recv_cq = end->rcq.cq,
		.cap = end->conf->cap,
		.qp_type = IBV_QPT_UD,
		.pd = end->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(end->dev->ctx, &attr);

	if (!qp && errno == EOPNOTSUPP)
		skip("the device does not block what a QP sends itself");
	require(qp, "create a QP that does not receive what it sends to a group");
	return qp;
}

/* A sender that is in the group receives what it sends, unless it is made not to; then it receives what others send. */
static void own_datagrams(const void *arg)
{
	struct vp_end blocking;
	struct ibv_ah *ah;
	struct crowd c;

	(void)arg;
	crowd_open(&c);
	attach(&c.sender, c.group, c.lid);
	vp_recv(&c.sender, 9, 0, VP_GRH + LEN);
	send_to(&c.sender, c.ah, VP_QKEY, vp_fresh());
	vp_expect(&c.sender.rcq, 9, IBV_WC_SUCCESS, "the sender's own datagram");

	vp_end_make_no_qp(&blocking, &c.dev[0], NULL, &c.conf);
	blocking.qp = create_blocking(&blocking);
	member_move(&blocking);
	ah = group_ah(&blocking, c.group, c.lid);
	attach(&blocking, c.group, c.lid);
	vp_recv(&c.sender, 10, 0, VP_GRH + LEN);
	vp_recv(&blocking, 11, 0, VP_GRH + LEN);
	send_to(&blocking, ah, VP_QKEY, vp_fresh());
	vp_expect(&c.sender.rcq, 10, IBV_WC_SUCCESS, "a datagram of a QP that blocks its own");
	vp_expect_none(&blocking.rcq, "that QP");
	send_to(&c.sender, c.ah, VP_QKEY, vp_fresh());
	vp_expect(&blocking.rcq, 11, IBV_WC_SUCCESS, "what another one sends to it");

	detach(&blocking, c.group, c.lid);
	detach(&c.sender, c.group, c.lid);
	require(!ibv_destroy_ah(ah), "destroy the address handle");
	vp_end_free(&blocking);
	crowd_close(&c);
}

static const struct check_case cases[] = {
	CHECK_CASE("reaches-all", reaches_all,
		   "a datagram reaches every member on both devices, once"),
	CHECK_CASE("detach-stops", detach_stops, "who has left receives nothing, the others do"),
	CHECK_CASE("other-group", other_group,
		   "a datagram to another group reaches its members only"),
	CHECK_CASE("wrong-qkey", wrong_qkey, "a datagram with a wrong Q_Key reaches nobody"),
	CHECK_CASE("member-not-ready", member_not_ready,
		   "a member without a receive holds up nobody"),
	CHECK_CASE("own-datagrams", own_datagrams,
		   "who is in a group receives its own datagrams, unless it blocks them"),
	CHECK_CASE("bad-attach", bad_attach, "who and what cannot be in a group"),
	CHECK_CASE("not-joined", not_joined,
		   "a group that no manager knows ends at the switch (where there is a manager)",
		   .on_demand = true),
};

int main(int argc, char **argv)
{
	vp_load_providers();
	return check_main(argc, argv, "Datagrams to multicast groups.", cases, ARRAY_SIZE(cases));
}
