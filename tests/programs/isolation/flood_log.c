// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Floods by what dom0's kernel has a line in its log for: commands that the HCA refuses, and queues that end in an error.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "flood.h"
#include "verbs_pair.h"

#define MLID 0xc0a7
#define GROUP_QPS 256 /* more than an HCA takes for a group */
#define SOME 70       /* queues: more than a guest may break without waiting */
#define MANY 420      /* queues: more than a guest may break at once */

/* As VHCA_FAULTS and VHCA_FAULT_MS of the backend. */
#define AT_ONCE 64
#define EACH_MS 250

static const union ibv_gid group = { .raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0,
					      0, 0xa5, 0x5a, 0x78 } };

/* Groups */

static struct vp_conf small_conf(void)
{
	struct vp_conf conf = vp_conf(IBV_QPT_UD);

	conf.cqe = 3;
	conf.len = 4096;
	conf.cap.max_send_wr = 64;
	conf.cap.max_recv_wr = 1;
	return conf;
}

static unsigned long join(void *end)
{
	require(ibv_attach_mcast(((struct vp_end *)end)->qp, &group, MLID),
		"a QP too many in a group is refused");
	return 1;
}

static void run_groups(const void *arg)
{
	static struct vp_end ends[GROUP_QPS];
	struct vp_conf conf = small_conf();
	struct ibv_pd *pd;
	struct vp_dev dev;
	int n = 0;

	(void)arg;
	vp_open(&dev, 0);
	pd = ibv_alloc_pd(dev.ctx);
	require(pd, "allocate a PD");
	do
		vp_end_make(&ends[n], &dev, pd, &conf);
	while (!ibv_attach_mcast(ends[n].qp, &group, MLID) && ++n < GROUP_QPS);
	require(n && n < GROUP_QPS, "a group becomes full (%d)", n);
	printf("%d QPs in the group\n", n);
	flood(join, &ends[n], "times refused");
	vp_end_free(&ends[n]);
	while (n--) {
		require(!ibv_detach_mcast(ends[n].qp, &group, MLID), "leave the group");
		vp_end_free(&ends[n]);
	}
	require(!ibv_dealloc_pd(pd), "deallocate the PD");
	vp_close(&dev);
}

/* QPs that the HCA refuses to make: the suite has it do so */

static unsigned long create(void *end)
{
	struct vp_conf conf = small_conf();

	errno = 0;
	require(!vp_qp_create(end, &conf) && errno, "a QP is refused");
	return 1;
}

static void run_creates(const void *arg)
{
	struct vp_conf conf = small_conf();
	struct vp_dev dev;
	struct vp_end end;

	(void)arg;
	vp_open(&dev, 0);
	vp_end_make_no_qp(&end, &dev, NULL, &conf);
	flood(create, &end, "QPs refused");
	vp_end_free(&end);
	vp_close(&dev);
}

/* Queues that end in an error */

static struct ibv_ah *ah_to_self(struct vp_dev *dev, struct ibv_pd *pd)
{
	struct ibv_ah_attr attr = { .dlid = dev->port.lid, .port_num = dev->port_num };
	struct ibv_ah *ah = ibv_create_ah(pd, &attr);

	require(ah, "create an address handle");
	return ah;
}

static void make_ready(struct vp_end *end, struct vp_dev *dev, struct ibv_pd *pd,
		       const struct vp_conf *conf)
{
	vp_end_make(end, dev, pd, conf);
	end->peer = end;
	vp_move(end, NULL, IBV_QPS_INIT);
	vp_move(end, NULL, IBV_QPS_RTR);
	vp_move(end, NULL, IBV_QPS_RTS);
}

/* More sends than there is room for their completions; nobody has the number that they go to. */
static void overrun(struct vp_end *end, struct ibv_ah *ah)
{
	int n = end->scq.cq->cqe + 4;
	struct vp_wr w;

	require(n < 60, "the CQ is as small as it was asked to be (%d)", n);
	while (n--) {
		vp_wr(&w, end, IBV_WR_SEND, 0, 8);
		w.wr.wr.ud.ah = ah;
		w.wr.wr.ud.remote_qpn = 0xfffffe;
		w.wr.wr.ud.remote_qkey = VP_QKEY;
		if (vp_try_send(end, &w.wr))
			break;
	}
}

struct breaker {
	struct vp_dev dev;
	struct vp_conf conf;
	struct ibv_pd *pd;
	struct ibv_ah *ah;
};

static void breaker_open(struct breaker *b)
{
	vp_open(&b->dev, 0);
	b->conf = small_conf();
	b->pd = ibv_alloc_pd(b->dev.ctx);
	require(b->pd, "allocate a PD");
	b->ah = ah_to_self(&b->dev, b->pd);
}

static void await_cq_error(struct breaker *b)
{
	struct ibv_async_event event = { 0 };

	do
		require(vp_async(&b->dev, &event, opt.deadline_ms), "the CQ reports its error");
	while (event.event_type != IBV_EVENT_CQ_ERR);
}

/* Not a flood: the first command after so many, which is for the end of a queue, waits until they are regained. */
static void run_queues(const void *arg)
{
	static struct vp_end ends[SOME];
	unsigned long long took;
	struct breaker b;
	uint64_t begun;
	int i;

	(void)arg;
	breaker_open(&b);
	for (i = 0; i < SOME; i++)
		make_ready(&ends[i], &b.dev, b.pd, &b.conf);
	begun = now_ms();
	for (i = 0; i < SOME; i++)
		overrun(&ends[i], b.ah);
	for (i = 0; i < SOME; i++)
		await_cq_error(&b);
	vp_end_free(&ends[0]);
	took = now_ms() - begun;
	printf("%d queues broken in %llu ms\n", SOME, took);
	for (i = 1; i < SOME; i++)
		vp_end_free(&ends[i]);
	require(took >= (2 * SOME - AT_ONCE - 1) * EACH_MS,
		"the guest waits for the errors of CQs and QPs");
	require(!ibv_destroy_ah(b.ah) && !ibv_dealloc_pd(b.pd), "destroy AH and PD");
	vp_close(&b.dev);
}

/* Nor this: it breaks many at once, and loses the device for that. */
static void run_many_queues(const void *arg)
{
	static struct vp_end ends[MANY];
	struct ibv_async_event event = { 0 };
	struct breaker b;
	int i;

	(void)arg;
	breaker_open(&b);
	for (i = 0; i < MANY; i++)
		make_ready(&ends[i], &b.dev, b.pd, &b.conf);
	for (i = 0; i < MANY; i++)
		overrun(&ends[i], b.ah);
	do
		require(vp_async(&b.dev, &event, opt.deadline_ms),
			"the device reports that it is gone");
	while (event.event_type != IBV_EVENT_DEVICE_FATAL);
}

static const struct check_case cases[] = {
	FLOOD_CASE("groups", run_groups, "QPs into a multicast group that is full"),
	FLOOD_CASE("creates", run_creates, "QPs that the HCA does not make"),
	FLOOD_CASE("queues", run_queues, "CQs that overrun, for which the guest waits"),
	FLOOD_CASE("many-queues", run_many_queues,
		   "many CQs that overrun, which ends the connection"),
};

const struct check_table flood_log = { cases, ARRAY_SIZE(cases) };
