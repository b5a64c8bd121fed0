// SPDX-License-Identifier: GPL-2.0
/*
 * tests_queues.c - KUnit cases of the kernel's queues (frontend/kernel): what the backend can write
 * to a CQ, which of its events the consumer is told of, also as the device goes, how QP 1 is
 * flushed, and what it hears of MADs that are not sent.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "compat.h"
#include "kernel_fixture.h"
#include "vhca_event_pages.h"

#define CQES 16
#define SRQ_WQES 8

/* A CQ and an SRQ, and a QP on both. */
struct queues {
	struct xenib_pd pd;
	struct xenib_cq cq;
	struct xenib_srq srq;
	struct xenib_qp qp;
	unsigned int told; /* calls of the CQ's handler */
};

static void count_call(struct ib_cq *ibcq, void *context)
{
	(*(unsigned int *)context)++;
}

static struct queues *make_queues(struct kunit *test)
{
	static const struct ib_srq_attr attr = { .max_wr = SRQ_WQES - 1, .max_sge = 1 };
	struct queues *queues = kunit_kzalloc(test, sizeof(*queues), GFP_KERNEL);
	struct ib_device *ibdev = &of(test)->fixture.dev->ibdev;

	KUNIT_ASSERT_NOT_NULL(test, queues);
	queues->pd.ibpd.device = ibdev;
	queues->pd.handle = 1;
	queues->cq.ibcq.device = ibdev;
	queues->cq.ibcq.comp_handler = count_call;
	queues->cq.ibcq.cq_context = &queues->told;
	KUNIT_ASSERT_EQ(test, xenib_kcq_init(&queues->cq, CQES), 0);
	xenib_kcq_publish(&queues->cq);
	queues->srq.ibsrq.device = ibdev;
	queues->srq.ibsrq.pd = &queues->pd.ibpd;
	KUNIT_ASSERT_EQ(test, xenib_ksrq_init(&queues->srq, &attr), 0);
	KUNIT_ASSERT_EQ(test, queues->srq.k->q.mask, SRQ_WQES - 1);
	return queues;
}

static void end_queues(struct kunit *test, struct queues *queues)
{
	xenib_ksrq_exit(&queues->srq);
	xenib_queue_mem_put(&queues->srq.mem);
	xenib_kcq_withdraw(&queues->cq);
	xenib_kcq_exit(&queues->cq);
	xenib_queue_mem_put(&queues->cq.mem);
	xenib_pool_keys_put(of(test)->pool, &queues->pd);
}

static void make_qp(struct kunit *test, struct queues *queues)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.send_cq = &queues->cq.ibcq,
		.recv_cq = &queues->cq.ibcq,
		.srq = &queues->srq.ibsrq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct xenib_create_qp_req req;

	queues->qp = (struct xenib_qp){
		.ibqp = {
			.device = queues->cq.ibcq.device,
			.pd = &queues->pd.ibpd,
			.qp_type = IB_QPT_RC,
		},
	};
	KUNIT_ASSERT_EQ(test, xenib_kqp_init(&queues->qp, &init, &req), 0);
	xenib_kqp_publish(&queues->qp, &init);
}

static void end_qp(struct queues *queues)
{
	xenib_kqp_withdraw(&queues->qp);
	xenib_kqp_exit(&queues->qp);
	xenib_queue_mem_put(&queues->qp.mem);
}

/* SRQs (srq.c) */

/* A message that the QP has received, in the first round through the CQ. */
static void write_cqe(struct queues *queues, u32 n, u16 counter, u32 bytes)
{
	struct xenib_cqe *cqe = (struct xenib_cqe *)queues->cq.k->q.cqes + n;

	cqe->uidx = cpu_to_be32(queues->qp.k->q.uidx);
	cqe->wqe_counter = cpu_to_be16(counter);
	cqe->byte_count = cpu_to_be32(bytes);
	cqe->op_own = XENIB_CQE_RESP_SEND << 4;
}

static void post_to_srq(struct kunit *test, struct queues *queues, u64 wr_id, u64 addr)
{
	struct ib_sge sge = { .addr = addr, .length = GRANULE, .lkey = XENIB_POOL_LKEY };
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;

	KUNIT_ASSERT_EQ(test, xenib_post_srq_recv(&queues->srq.ibsrq, &wr, &bad), 0);
}

/* CQEs name WQEs by numbers that are larger than the SRQ: what they have is found all the same. */
static void test_srq_index(struct kunit *test)
{
	static const u16 beyond[] = { 0, SRQ_WQES, 0x7ff8, 0x8000, 0xfff8 };
	struct xenib_pool *pool = of(test)->pool;
	u8 *data = kunit_kzalloc(test, GRANULE, GFP_KERNEL);
	struct queues *queues = make_queues(test);
	struct ib_wc wc[2];
	unsigned int i;
	u64 addr;

	KUNIT_ASSERT_NOT_NULL(test, data);
	make_qp(test, queues);
	addr = xenib_pool_alloc(pool, GRANULE, 1);
	KUNIT_ASSERT_NE(test, addr, 0ULL);
	xenib_origin_note(pool, addr, data, GRANULE, false);
	for (i = 0; i < ARRAY_SIZE(beyond); i++) {
		post_to_srq(test, queues, 100 + i, addr);
		get_random_bytes(xenib_pool_kva(pool, addr), GRANULE);
		write_cqe(queues, i, i | beyond[i], GRANULE);
		KUNIT_ASSERT_EQ(test, xenib_poll_cq(&queues->cq.ibcq, 2, wc), 1);
		KUNIT_EXPECT_EQ(test, wc[0].status, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, wc[0].wr_id, 100ULL + i);
		KUNIT_EXPECT_MEMEQ(test, data, (u8 *)xenib_pool_kva(pool, addr), GRANULE);
	}
	/* One that is not posted. */
	write_cqe(queues, i, 0x8000, GRANULE);
	KUNIT_EXPECT_EQ(test, xenib_poll_cq(&queues->cq.ibcq, 2, wc), 0);
	xenib_pool_free(pool, addr, GRANULE);
	end_qp(queues);
	end_queues(test, queues);
}

/* Events of CQs (cq.c) */

static bool take_event(struct queues *queues)
{
	unsigned long flags;
	bool told;

	local_irq_save(flags);
	told = xenib_kcq_take_event(queues->cq.k);
	local_irq_restore(flags);
	return told;
}

/* How the HCA was asked for an event last: two bits of the count, and the kind. */
static u32 asked(const struct queues *queues)
{
	return be32_to_cpu(queues->cq.k->q.dbrec[XENIB_DBREC_ARM]) >> 24;
}

static u32 asked_for_all(u32 count)
{
	return count << 4;
}

static u32 asked_for_solicited(u32 count)
{
	return count << 4 | 1;
}

/*
 * The last QP has gone when its event comes, and the consumer, which waits still, asks for none
 * before the next QP completes: the HCA is asked when there is one.
 */
static void test_event_without_qp(struct kunit *test)
{
	struct queues *queues = make_queues(test);
	struct ib_cq *ibcq = &queues->cq.ibcq;

	KUNIT_EXPECT_EQ(test, xenib_req_notify_cq(ibcq, IB_CQ_NEXT_COMP), 0);
	make_qp(test, queues);
	KUNIT_EXPECT_EQ(test, asked(queues), asked_for_all(0));
	end_qp(queues);
	KUNIT_EXPECT_FALSE(test, take_event(queues));
	KUNIT_EXPECT_FALSE(test, take_event(queues)); /* of a backend that tells it twice */
	KUNIT_EXPECT_EQ(test, asked(queues), asked_for_all(0));
	make_qp(test, queues);
	KUNIT_EXPECT_EQ(test, asked(queues), asked_for_all(1));
	KUNIT_EXPECT_TRUE(test, take_event(queues));
	KUNIT_EXPECT_FALSE(test, take_event(queues));

	/* It has been told, so it is the one to ask. */
	end_qp(queues);
	make_qp(test, queues);
	KUNIT_EXPECT_EQ(test, asked(queues), asked_for_all(1));
	xenib_req_notify_cq(ibcq, IB_CQ_SOLICITED);
	KUNIT_EXPECT_EQ(test, asked(queues), asked_for_solicited(2));

	/* As before, of the kind that it has asked for; or it asks once more itself. */
	end_qp(queues);
	KUNIT_EXPECT_FALSE(test, take_event(queues));
	make_qp(test, queues);
	KUNIT_EXPECT_EQ(test, asked(queues), asked_for_solicited(3));
	end_qp(queues);
	KUNIT_EXPECT_FALSE(test, take_event(queues));
	xenib_req_notify_cq(ibcq, IB_CQ_NEXT_COMP);
	KUNIT_EXPECT_EQ(test, asked(queues), asked_for_all(0));
	make_qp(test, queues);
	KUNIT_EXPECT_EQ(test, asked(queues), asked_for_all(0));
	KUNIT_EXPECT_TRUE(test, take_event(queues));
	end_qp(queues);
	end_queues(test, queues);
}

/* Completions that the kernel writes itself are told, whatever has become of the HCA's event. */
static void test_event_soft(struct kunit *test)
{
	struct queues *queues = make_queues(test);
	struct ib_cq *ibcq = &queues->cq.ibcq;
	const struct ib_wc soft = { .wr_id = 7 };
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, xenib_kcq_add_soft(queues->cq.k, 1), 0);
	xenib_req_notify_cq(ibcq, IB_CQ_NEXT_COMP);
	KUNIT_EXPECT_FALSE(test, take_event(queues));
	xenib_kcq_complete(queues->cq.k, &soft);
	KUNIT_EXPECT_EQ(test, queues->told, 1);
	KUNIT_EXPECT_EQ(test, xenib_poll_cq(ibcq, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 7ULL);
	end_queues(test, queues);
}

/* The HCA's event comes when the consumer has been told of such a completion: it counts. */
static void test_event_behind_soft(struct kunit *test)
{
	struct queues *queues = make_queues(test);
	struct ib_cq *ibcq = &queues->cq.ibcq;
	const struct ib_wc soft = { .wr_id = 7 };

	KUNIT_ASSERT_EQ(test, xenib_kcq_add_soft(queues->cq.k, 1), 0);
	make_qp(test, queues);
	xenib_req_notify_cq(ibcq, IB_CQ_NEXT_COMP);
	KUNIT_EXPECT_EQ(test, asked(queues), asked_for_all(0));
	xenib_kcq_complete(queues->cq.k, &soft);
	KUNIT_EXPECT_EQ(test, queues->told, 1);
	KUNIT_EXPECT_FALSE(test, take_event(queues));
	xenib_req_notify_cq(ibcq, IB_CQ_NEXT_COMP);
	KUNIT_EXPECT_EQ(test, asked(queues), asked_for_all(1));
	end_qp(queues);
	end_queues(test, queues);
}

/* Events of a device that goes (events.c) */

#define RING_PAGES 10 /* that are shared before those of the events */
#define HANDLE 7

static void count_event(struct ib_event *event, void *context)
{
	(*(unsigned int *)context)++;
}

static void put_event(struct kunit *test, unsigned int channel, u8 type)
{
	struct xen_vhca_async_page *page = kunit_page(RING_PAGES + 1);
	u32 prod = page->prod;

	page->ring[prod % XEN_VHCA_ASYNC_EVENTS] =
		(struct xen_vhca_async_event){ .type = type, .handle = HANDLE };
	smp_wmb(); /* the event, then the index */
	WRITE_ONCE(page->prod, prod + 1);
	kunit_interrupt(channel);
}

/* The port's are not told any more, and those of a QP are: its consumer waits for its last WQE. */
static void test_events_stop_port(struct kunit *test)
{
	struct fixture *fixture = &of(test)->fixture;
	struct ib_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	unsigned int told = 0, channel, i;
	struct xenib_events *events;
	struct xenib_event_obj obj;

	KUNIT_ASSERT_NOT_NULL(test, qp);
	events = xenib_events_create(&fixture->xbdev, 1, fixture_fault, fixture);
	KUNIT_ASSERT_FALSE(test, IS_ERR(events));
	channel = kunit_newest_channel();
	qp->event_handler = count_event;
	qp->qp_context = &told;
	obj = (struct xenib_event_obj){ .handle = HANDLE, .kind = VHCA_ASYNC_QP, .qp = qp };
	xenib_events_add(events, &obj);
	xenib_events_start(events, &fixture->dev->ibdev);
	xenib_events_stop_port(events);
	put_event(test, channel, XEN_VHCA_ASYNC_PORT_ACTIVE);
	put_event(test, channel, XEN_VHCA_ASYNC_QP_LAST_WQE_REACHED);
	for (i = 0; i < 500 && !READ_ONCE(told); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, told, 1);
	KUNIT_EXPECT_EQ(test, xenib_events_count(events, XENIB_EVENTS_IGNORED), 1);
	xenib_events_remove(events, &obj);
	xenib_events_stop(events);
	xenib_events_destroy(events);
}

/* QP 1 (gsi.c) */

#define MAD_ROOM (sizeof(struct ib_grh) + IB_MGMT_MAD_SIZE)

static void modify_gsi(struct xenib_qp *qp, enum ib_qp_state state)
{
	const struct ib_qp_attr attr = { .qp_state = state };

	xenib_gsi_modify_qp(qp, &attr, IB_QP_STATE);
	flush_work(&qp->gsi->send);
}

static void post_to_gsi(struct kunit *test, struct xenib_qp *qp, u64 wr_id, u64 addr)
{
	struct ib_sge sge = { .addr = addr, .length = MAD_ROOM, .lkey = XENIB_POOL_LKEY };
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;

	KUNIT_ASSERT_EQ(test, xenib_gsi_post_recv(qp, &wr, &bad), 0);
	flush_work(&qp->gsi->send);
}

static void expect_flushed(struct kunit *test, struct queues *queues, u64 wr_id)
{
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, xenib_poll_cq(&queues->cq.ibcq, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, wr_id);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_PTR_EQ(test, wc.qp, &queues->qp.ibqp);
}

static void expect_nothing(struct kunit *test, struct queues *queues)
{
	struct ib_wc wc;

	KUNIT_EXPECT_EQ(test, xenib_poll_cq(&queues->cq.ibcq, 1, &wc), 0);
}

/* Whoever posts to it has a buffer for one MAD, the address of which this returns. */
static u64 make_gsi(struct kunit *test, struct queues *queues)
{
	struct xenib_qp *qp = &queues->qp;
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_GSI,
		.send_cq = &queues->cq.ibcq,
		.recv_cq = &queues->cq.ibcq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 2 },
	};
	u64 addr = xenib_pool_alloc(of(test)->pool, MAD_ROOM, 1);

	KUNIT_ASSERT_NE(test, addr, 0ULL);
	of(test)->fixture.dev->kernel->gsi.open = true;
	qp->ibqp.device = queues->cq.ibcq.device;
	KUNIT_ASSERT_EQ(test, xenib_gsi_create_qp(qp, &init), 0);
	modify_gsi(qp, IB_QPS_INIT);
	return addr;
}

static void end_gsi(struct kunit *test, struct queues *queues, u64 addr)
{
	xenib_gsi_destroy_qp(&queues->qp);
	expect_nothing(test, queues);
	of(test)->fixture.dev->kernel->gsi.open = false;
	xenib_pool_free(of(test)->pool, addr, MAD_ROOM);
}

/* In the error state what was posted before is flushed, and what is posted then. */
static void test_gsi_flush(struct kunit *test)
{
	struct queues *queues = make_queues(test);
	struct xenib_qp *qp = &queues->qp;
	u64 addr = make_gsi(test, queues);

	post_to_gsi(test, qp, 1, addr);
	expect_nothing(test, queues);
	modify_gsi(qp, IB_QPS_ERR);
	expect_flushed(test, queues, 1);
	post_to_gsi(test, qp, 2, addr);
	expect_flushed(test, queues, 2);
	expect_nothing(test, queues);

	modify_gsi(qp, IB_QPS_RESET);
	modify_gsi(qp, IB_QPS_INIT);
	post_to_gsi(test, qp, 3, addr);
	expect_nothing(test, queues);
	end_gsi(test, queues, addr);
	end_queues(test, queues);
}

#define CM_CLASS 7
#define SA_CLASS 3

/* Of a MAD: what tells its kind, two ids of a connection, what a REJ has behind them; a status. */
struct mad_head {
	u8 class, method, attribute;
	u32 local, remote;
	u16 third, status, reason;
};

/* InfiniBand, volume 1: a MAD's header is in 13.4.2, a REJ in 12.6.7, a SIDR_REP in 12.11.2. */
static void put_head(u8 *mad, const struct mad_head *head)
{
	const u8 first[4] = { 1, head->class, 2, head->method };

	memcpy(mad, first, sizeof(first));
	put_unaligned_be16(head->status, mad + 4);
	put_unaligned_be64(0x1122334455667788, mad + 8);
	put_unaligned_be16(head->attribute, mad + 16);
	put_unaligned_be32(head->local, mad + 24);
	put_unaligned_be32(head->remote, mad + 28);
	put_unaligned_be16(head->third, mad + 32);
	put_unaligned_be16(head->reason, mad + 34);
}

static void send_to_gsi(struct kunit *test, struct queues *queues, u64 addr)
{
	struct ib_ah ah = { .device = queues->cq.ibcq.device };
	struct ib_sge sge = { .addr = addr, .length = IB_MGMT_MAD_SIZE, .lkey = XENIB_POOL_LKEY };
	struct ib_ud_wr wr = {
		.wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_SEND },
		.ah = &ah,
		.remote_qpn = 1,
	};
	const struct ib_send_wr *bad;

	KUNIT_ASSERT_EQ(test, xenib_gsi_post_send(&queues->qp, &wr.wr, &bad), 0);
	flush_work(&queues->qp.gsi->send);
}

static const struct unsent {
	const char *name;
	struct mad_head sent, answer; /* no class: there is no answer */
} unsent[] = {
	{ "REQ", { CM_CLASS, 3, 0x10, 5 }, { CM_CLASS, 3, 0x12, 0, 5, 0, 0, 3 } },
	{ "REP", { CM_CLASS, 3, 0x13, 5, 6 }, { CM_CLASS, 3, 0x12, 6, 5, 0x4000, 0, 3 } },
	{ "DREQ", { CM_CLASS, 3, 0x15, 5, 6, 7 }, { CM_CLASS, 3, 0x16, 6, 5 } },
	{ "SIDR_REQ", { CM_CLASS, 3, 0x17, 5, 6 }, { CM_CLASS, 3, 0x18, 5, 0x02000000 } },
	{ "DREP", { CM_CLASS, 3, 0x16, 5, 6 }, {} },
	{ "a REQ that is none", { CM_CLASS, 1, 0x10, 5 }, {} },
	{ "Get", { SA_CLASS, 1, 0x35, 5 }, { SA_CLASS, 0x81, 0x35, 0, 0, 0, 0x100 } },
	{ "Set", { SA_CLASS, 2, 0x38, 5 }, { SA_CLASS, 0x81, 0x38, 0, 0, 0, 0x100 } },
	{ "Delete", { SA_CLASS, 0x15, 0x38, 5 }, { SA_CLASS, 0x95, 0x38, 0, 0, 0, 0x100 } },
	{ "GetTable", { SA_CLASS, 0x12, 0x35, 5 }, { SA_CLASS, 0x92, 0x35, 0, 0, 0, 0x100 } },
	{ "GetResp", { SA_CLASS, 0x81, 0x35, 5 }, {} },
	{ "another class", { 4, 1, 0x12 }, {} },
};

/* The error comes first, and an answer behind it, to what expects one. */
static void expect_answer(struct kunit *test, struct queues *queues, const struct unsent *unsent,
			  const u8 *received)
{
	u8 expected[IB_MGMT_MAD_SIZE] = {};
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, xenib_poll_cq(&queues->cq.ibcq, 1, &wc), 1);
	KUNIT_EXPECT_EQ_MSG(test, wc.status, IB_WC_LOC_QP_OP_ERR, "%s", unsent->name);
	if (!unsent->answer.class)
		return expect_nothing(test, queues);

	put_head(expected, &unsent->answer);
	KUNIT_ASSERT_EQ_MSG(test, xenib_poll_cq(&queues->cq.ibcq, 1, &wc), 1, "%s", unsent->name);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, wc.src_qp, 1);
	KUNIT_EXPECT_EQ_MSG(test, memcmp(received, expected, sizeof(expected)), 0, "%s: %*ph",
			    unsent->name, 40, received);
}

/* Each of them is at @sent, its answer comes to @addr. */
static void send_all(struct kunit *test, struct queues *queues, u64 sent, u64 addr)
{
	u8 *mad = xenib_pool_mapped(of(test)->pool, sent);
	u8 *received = xenib_pool_mapped(of(test)->pool, addr);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unsent); i++) {
		modify_gsi(&queues->qp, IB_QPS_RESET);
		modify_gsi(&queues->qp, IB_QPS_RTS);
		post_to_gsi(test, &queues->qp, 2, addr);
		memset(mad, 0, IB_MGMT_MAD_SIZE);
		put_head(mad, &unsent[i].sent);
		send_to_gsi(test, queues, sent);
		expect_answer(test, queues, &unsent[i], received + sizeof(struct ib_grh));
	}
}

static u64 nowhere(struct kunit *test)
{
	void *data = kunit_kzalloc(test, MAD_ROOM, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, data);
	return XENIB_POOL_NOWHERE + virt_to_phys(data);
}

static void test_gsi_unsent(struct kunit *test)
{
	struct queues *queues = make_queues(test);
	u64 addr = make_gsi(test, queues);
	u64 sent = xenib_pool_alloc(of(test)->pool, IB_MGMT_MAD_SIZE, 1);

	KUNIT_ASSERT_NE(test, sent, 0ULL);
	of(test)->fixture.backend.refuse[XEN_VHCA_OP_MAD_SEND] = XEN_VHCA_E_ARG;
	send_all(test, queues, sent, addr);
	send_all(test, queues, nowhere(test), nowhere(test));
	xenib_pool_free(of(test)->pool, sent, IB_MGMT_MAD_SIZE);
	end_gsi(test, queues, addr);
	end_queues(test, queues);
}

static struct kunit_case queue_cases[] = {
	KUNIT_CASE(test_srq_index),        KUNIT_CASE(test_event_without_qp),
	KUNIT_CASE(test_event_soft),       KUNIT_CASE(test_event_behind_soft),
	KUNIT_CASE(test_events_stop_port), KUNIT_CASE(test_gsi_flush),
	KUNIT_CASE(test_gsi_unsent),       {},
};

static struct kunit_suite queue_suite = {
	.name = "xen-ibfront-queues",
	.init = kernel_fixture_init,
	.exit = kernel_fixture_exit,
	.test_cases = queue_cases,
};

kunit_test_suite(queue_suite);
