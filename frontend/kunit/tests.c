// SPDX-License-Identifier: GPL-2.0
/*
 * tests.c - KUnit cases of the frontend: arenas, commands, events. Those of frontend/kernel are in
 * tests_kernel.c, tests_pool.c and tests_queues.c.
 *
 * KASAN watches. It reports memory that is used after it was freed, freed twice, or accessed beyond
 * its end; kmemleak reports what is never freed.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "fixture.h"
#include "vhca_check.h"
#include "vhca_event_pages.h"

/* Arenas (arena.c) */

static void test_arena(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct xenib_context *ctx = &fixture->uctx.ctx;
	struct xenib_arena_addr a = {}, b = {}, dbr = {}, own = {};
	u8 shift = PAGE_SHIFT + 4;
	u64 base = ALIGN(fixture->buf, BIT_ULL(shift));

	KUNIT_ASSERT_EQ(test, xenib_buf_get(ctx, &a, base, 2 * PAGE_SIZE, shift), 0);
	KUNIT_ASSERT_EQ(test, xenib_buf_get(ctx, &b, base + PAGE_SIZE, PAGE_SIZE, shift), 0);
	KUNIT_ASSERT_EQ(test, xenib_dbr_get(ctx, &dbr, base + 8, shift), 0);
	KUNIT_EXPECT_PTR_EQ(test, a.arena, b.arena);
	KUNIT_EXPECT_PTR_EQ(test, a.arena, dbr.arena);
	KUNIT_EXPECT_EQ(test, xenib_arena_addr_wire(&b).offset, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 16);
	KUNIT_ASSERT_EQ(test, xenib_buf_get(ctx, &own, base, 3 * PAGE_SIZE, 0), 0);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 19);

	/* Beyond the arena, too small, too large, not page aligned, not 8-aligned. */
	KUNIT_EXPECT_EQ(test, xenib_buf_get(ctx, &a, base, 17 * PAGE_SIZE, shift), -EINVAL);
	KUNIT_EXPECT_EQ(test, xenib_buf_get(ctx, &a, base, PAGE_SIZE, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, xenib_buf_get(ctx, &a, base, PAGE_SIZE, 64), -EINVAL);
	KUNIT_EXPECT_EQ(test, xenib_buf_get(ctx, &a, base + 8, PAGE_SIZE, shift), -EINVAL);
	KUNIT_EXPECT_EQ(test, xenib_dbr_get(ctx, &dbr, base + 4, shift), -EINVAL);

	xenib_arena_addr_put(ctx, &a);
	xenib_arena_addr_put(ctx, &a);
	xenib_arena_addr_put(ctx, &dbr);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 19);
	xenib_arena_addr_put(ctx, &b);
	xenib_arena_addr_put(ctx, &own);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 0);
	KUNIT_EXPECT_EQ(test, xenib_arena_addr_wire(&b).umem, XEN_VHCA_NO_HANDLE);
}

/* A queue outside of arenas that begins in a page, as far as the personality has such. */
static void test_queue_in_page(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct xenib_context *ctx = &fixture->uctx.ctx;
	struct xenib_arena_addr at = {};
	u64 base = fixture->buf;

	KUNIT_ASSERT_EQ(test, xenib_buf_get(ctx, &at, base + 64, PAGE_SIZE - 64, 0), 0);
	KUNIT_EXPECT_EQ(test, xenib_arena_addr_wire(&at).offset, 64);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 1);
	xenib_arena_addr_put(ctx, &at);
	KUNIT_ASSERT_EQ(test, xenib_buf_get(ctx, &at, base + 4032, PAGE_SIZE, 0), 0);
	KUNIT_EXPECT_EQ(test, xenib_arena_addr_wire(&at).offset, 4032);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 2);
	xenib_arena_addr_put(ctx, &at);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 0);
	KUNIT_EXPECT_EQ(test, xenib_buf_get(ctx, &at, base + 32, PAGE_SIZE, 0), -EINVAL);
}

/* A queue of the kernel's meets the limit: what processes have registered, and is idle, goes. */
static void test_kernel_arena_refused(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct xenib_context *ctx = &fixture->uctx.ctx;
	u32 *creates = &fixture->backend.requests[XEN_VHCA_OP_UMEM_CREATE];
	struct ib_mr *mr = fixture_reg(fixture, 0, 4, IB_ACCESS_LOCAL_WRITE);
	struct xenib_arena_addr buf = {}, dbr = {};
	u32 before;

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	fixture_dereg(test, mr);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 4);
	before = *creates;
	fixture->backend.refuse[XEN_VHCA_OP_UMEM_CREATE] = XEN_VHCA_E_LIMIT;
	KUNIT_EXPECT_EQ(test, xenib_arena_create_kernel(ctx, &buf, &dbr, PAGE_SIZE), -ENOMEM);
	KUNIT_EXPECT_EQ(test, *creates - before, 2);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 0);

	/* Nothing is idle any more, so there is no reason to try again. */
	KUNIT_EXPECT_EQ(test, xenib_arena_create_kernel(ctx, &buf, &dbr, PAGE_SIZE), -ENOMEM);
	KUNIT_EXPECT_EQ(test, *creates - before, 3);
	fixture->backend.refuse[XEN_VHCA_OP_UMEM_CREATE] = XEN_VHCA_OK;
	KUNIT_ASSERT_EQ(test, xenib_arena_create_kernel(ctx, &buf, &dbr, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 2);
	xenib_arena_addr_put(ctx, &buf);
	xenib_arena_addr_put(ctx, &dbr);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 0);
}

/* The ring (ring.c, vhca_ring.c) */

static void test_malformed_response(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *mr = fixture_reg(fixture, 0, 4, IB_ACCESS_LOCAL_WRITE);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	fixture->backend.malformed = true;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(fixture_reg(fixture, 8, 4, 0)), -EIO);
	KUNIT_EXPECT_EQ(test, fixture->faults, 1);
	KUNIT_EXPECT_TRUE(test, xenib_ring_is_dead(fixture->dev->ring));
	fixture_dereg(test, mr);
}

/* Posted commands (ring.c) */

#define RETIRE(fixture, gone) \
	xenib_cmd_retire((fixture)->dev->ring, XEN_VHCA_OP_PD_FREE, 5, count_gone, gone, 1)

static void count_gone(void *context, u64 number)
{
	*(unsigned int *)context += number;
}

static u32 pds_freed(struct fixture *fixture)
{
	return fixture->backend.requests[XEN_VHCA_OP_PD_FREE];
}

/*
 * The backend sees what is posted with the next command, or some time later. A quarter of the
 * eight slots are for that; the next one is waited for.
 */
static void test_posted(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int gone = 0, i;
	struct ib_mr *mr;

	RETIRE(fixture, &gone);
	RETIRE(fixture, &gone);
	KUNIT_EXPECT_EQ(test, pds_freed(fixture), 0);
	KUNIT_EXPECT_EQ(test, gone, 0);
	RETIRE(fixture, &gone);
	KUNIT_EXPECT_EQ(test, pds_freed(fixture), 3);
	KUNIT_EXPECT_EQ(test, gone, 3);

	RETIRE(fixture, &gone);
	mr = fixture_reg(fixture, 0, 4, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, pds_freed(fixture), 4);
	KUNIT_EXPECT_EQ(test, gone, 4);
	fixture_dereg(test, mr);

	RETIRE(fixture, &gone);
	for (i = 0; i < 500 && READ_ONCE(gone) < 5; i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, pds_freed(fixture), 5);
	KUNIT_EXPECT_EQ(test, gone, 5);
}

/* What the backend does not let go is not gone. What it does not know is. */
static void test_posted_refused(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int gone = 0;
	struct ib_mr *mr;

	fixture->backend.refuse[XEN_VHCA_OP_PD_FREE] = XEN_VHCA_E_BUSY;
	RETIRE(fixture, &gone);
	mr = fixture_reg(fixture, 0, 4, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, pds_freed(fixture), 1);
	KUNIT_EXPECT_EQ(test, gone, 0);
	fixture->backend.refuse[XEN_VHCA_OP_PD_FREE] = XEN_VHCA_E_HANDLE;
	RETIRE(fixture, &gone);
	fixture_dereg(test, mr);
	KUNIT_EXPECT_EQ(test, gone, 1);
}

/* The channel ends before the backend has seen it, and after that. */
static void test_posted_killed(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int gone = 0;

	RETIRE(fixture, &gone);
	xenib_ring_kill(fixture->dev->ring);
	KUNIT_EXPECT_EQ(test, gone, 1);
	RETIRE(fixture, &gone);
	KUNIT_EXPECT_EQ(test, gone, 2);
	KUNIT_EXPECT_EQ(test, pds_freed(fixture), 0);
}

/* A backend that does not know of it has each command waited for. */
static void test_posted_unknown(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int gone = 0;

	xenib_ring_destroy(fixture->dev->ring);
	kunit_features = 0;
	fixture->dev->ring = xenib_ring_create(&fixture->xbdev, 0, fixture_fault, fixture);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fixture->dev->ring));
	kunit_backend_start(&fixture->backend, kunit_page(0), 0);
	RETIRE(fixture, &gone);
	KUNIT_EXPECT_EQ(test, pds_freed(fixture), 1);
	KUNIT_EXPECT_EQ(test, gone, 1);
}

/* A QP is connected (qp_modify.c) */

static struct xenib_qp *make_qp(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct xenib_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->ibqp.device = &fixture->dev->ibdev;
	qp->ibqp.qp_type = IB_QPT_RC;
	qp->handle = 9;
	fixture->dev->attr.max_qp_init_rd_atom = 16;
	return qp;
}

#define RTS_MASK \
	(IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN | \
	 IB_QP_MAX_QP_RD_ATOMIC)

static const struct ib_qp_attr to_rts = {
	.qp_state = IB_QPS_RTS,
	.timeout = 14,
	.retry_cnt = 7,
	.rnr_retry = 7,
	.max_rd_atomic = 16,
};

/* To RTR, which is waited for, and to RTS: whether that was posted. */
static bool connect(struct kunit *test, struct xenib_qp *qp, const struct ib_qp_attr *rts, int mask)
{
	static const struct ib_qp_attr rtr = { .qp_state = IB_QPS_RTR };
	struct fixture *fixture = test->priv;
	u32 *requests = &fixture->backend.requests[XEN_VHCA_OP_QP_MODIFY];
	u32 before = *requests;

	KUNIT_EXPECT_EQ(test, xenib_qp_modify_user(qp, &rtr, IB_QP_STATE), 0);
	KUNIT_EXPECT_EQ(test, *requests, before + 1);
	KUNIT_EXPECT_EQ(test, xenib_qp_modify_user(qp, rts, mask), 0);
	if (*requests == before + 1)
		return true;
	KUNIT_EXPECT_EQ(test, *requests, before + 2);
	return false;
}

static void test_rts(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	u32 *requests = &fixture->backend.requests[XEN_VHCA_OP_QP_MODIFY];
	struct xenib_qp *qp = make_qp(test);
	struct ib_qp_attr other = to_rts;

	/* A process that does not know of it. */
	KUNIT_EXPECT_FALSE(test, connect(test, qp, &to_rts, RTS_MASK));
	KUNIT_EXPECT_EQ(test, xenib_qp_await(qp), 0);

	KUNIT_ASSERT_EQ(test, xenib_qp_rts_init(qp), 0);
	KUNIT_EXPECT_EQ(test, xenib_qp_await(qp), 0);
	KUNIT_EXPECT_TRUE(test, connect(test, qp, &to_rts, RTS_MASK));
	KUNIT_EXPECT_EQ(test, *requests, 3);
	KUNIT_EXPECT_EQ(test, xenib_qp_await(qp), 0);
	KUNIT_EXPECT_EQ(test, *requests, 4);
	KUNIT_EXPECT_EQ(test, xenib_qp_await(qp), 0);
	KUNIT_EXPECT_EQ(test, *requests, 4);

	/* Not in RTR; and what the device may have reasons to refuse. */
	KUNIT_EXPECT_EQ(test, xenib_qp_modify_user(qp, &to_rts, RTS_MASK), 0);
	KUNIT_EXPECT_EQ(test, *requests, 5);
	KUNIT_EXPECT_FALSE(test, connect(test, qp, &to_rts, RTS_MASK | IB_QP_MIN_RNR_TIMER));
	KUNIT_EXPECT_FALSE(test, connect(test, qp, &to_rts, RTS_MASK & ~IB_QP_TIMEOUT));
	other.max_rd_atomic = 17;
	KUNIT_EXPECT_FALSE(test, connect(test, qp, &other, RTS_MASK));
	other = to_rts;
	other.retry_cnt = 8;
	KUNIT_EXPECT_FALSE(test, connect(test, qp, &other, RTS_MASK));
	other = to_rts;
	other.qp_state = IB_QPS_ERR;
	KUNIT_EXPECT_FALSE(test, connect(test, qp, &other, RTS_MASK));
	xenib_qp_rts_exit(qp);
}

/* What has become of RTS is known to whoever waits. */
static void test_rts_fails(struct kunit *test)
{
	static const struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };
	struct fixture *fixture = test->priv;
	struct xenib_qp *qp = make_qp(test);

	KUNIT_ASSERT_EQ(test, xenib_qp_rts_init(qp), 0);
	KUNIT_EXPECT_TRUE(test, connect(test, qp, &to_rts, RTS_MASK));
	fixture->backend.refuse[XEN_VHCA_OP_QP_MODIFY] = XEN_VHCA_E_ARG;
	KUNIT_EXPECT_EQ(test, xenib_qp_await(qp), -EINVAL);
	KUNIT_EXPECT_EQ(test, xenib_qp_await(qp), -EINVAL);
	fixture->backend.refuse[XEN_VHCA_OP_QP_MODIFY] = XEN_VHCA_OK;
	KUNIT_EXPECT_EQ(test, xenib_qp_modify_user(qp, &reset, IB_QP_STATE), 0);
	KUNIT_EXPECT_EQ(test, xenib_qp_await(qp), 0);
	KUNIT_EXPECT_TRUE(test, connect(test, qp, &to_rts, RTS_MASK));
	xenib_ring_kill(fixture->dev->ring);
	KUNIT_EXPECT_EQ(test, xenib_qp_await(qp), -EIO);
	xenib_qp_rts_exit(qp);
}

struct delayed_kill {
	struct delayed_work work;
	struct xenib_ring *ring;
};

static void do_kill(struct work_struct *work)
{
	struct delayed_kill *kill = container_of(to_delayed_work(work), struct delayed_kill, work);

	xenib_ring_kill(kill->ring);
}

static void test_killed(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct delayed_kill kill = { .ring = fixture->dev->ring };

	INIT_DELAYED_WORK_ONSTACK(&kill.work, do_kill);
	fixture->backend.silent = true;
	schedule_delayed_work(&kill.work, HZ / 10);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(fixture_reg(fixture, 0, BUF_PAGES, 0)), -EIO);
	flush_delayed_work(&kill.work);
	destroy_delayed_work_on_stack(&kill.work);
	KUNIT_EXPECT_EQ(test, granted_pages(fixture), 0);
}

/* Events (events.c, vhca_event.c) */

static void count_completion(struct ib_cq *cq, void *context)
{
	(*(unsigned int *)context)++;
}

static void count_event(struct ib_event *event, void *context)
{
	(*(unsigned int *)context)++;
}

/* The references of the event pages follow those of the ring (granted_pages()). */
static void test_events(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int completions = 0, asyncs = 0, i, channel;
	struct xen_vhca_async_page *page;
	struct xenib_events *events;
	struct xenib_event_obj obj;
	struct xenib_cq *cq;
	u32 bit, prod = 0;
	__be32 arm = 0;
	void *bits;

	cq = kzalloc(sizeof(*cq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, cq);
	cq->arm = &arm;
	cq->ibcq.comp_handler = count_completion;
	cq->ibcq.event_handler = count_event;
	cq->ibcq.cq_context = &completions;
	events = xenib_events_create(&fixture->xbdev, 1, fixture_fault, fixture);
	KUNIT_ASSERT_FALSE(test, IS_ERR(events));
	bits = kunit_page(10);
	page = kunit_page(11);
	channel = kunit_newest_channel();
	xenib_events_start(events, &fixture->dev->ibdev);
	KUNIT_ASSERT_EQ(test, xenib_events_take_bit(events, 0, &bit), 0);

	/* No CQ has the bit; then one that is not armed, twice; then one that is armed. */
	memset(bits, 0xff, PAGE_SIZE);
	kunit_interrupt(channel);
	KUNIT_EXPECT_EQ(test, completions, 0);
	xenib_events_set_cq(events, bit, cq);
	for (i = 0; i < 3; i++) {
		arm = cpu_to_be32(i == 2);
		memset(bits, 0xff, PAGE_SIZE);
		kunit_interrupt(channel);
	}
	KUNIT_EXPECT_EQ(test, completions, 2);

	cq->ibcq.cq_context = &asyncs;
	obj = (struct xenib_event_obj){ .handle = 7, .kind = VHCA_ASYNC_CQ, .cq = &cq->ibcq };
	xenib_events_add(events, &obj);
	for (i = 0; i < 5 * XEN_VHCA_ASYNC_EVENTS; i++) {
		page->ring[prod % XEN_VHCA_ASYNC_EVENTS] = (struct xen_vhca_async_event){
			.type = i % 5 ? get_random_u32_below(64) : XEN_VHCA_ASYNC_CQ_ERR,
			.handle = i % 5 ? get_random_u32() : 7,
		};
		smp_wmb(); /* the event, then the index */
		WRITE_ONCE(page->prod, ++prod);
		kunit_interrupt(channel);
		if (prod - READ_ONCE(page->cons) == XEN_VHCA_ASYNC_EVENTS)
			msleep(20);
	}
	msleep(100);
	KUNIT_EXPECT_EQ(test, asyncs, 1); /* events of one type are reported once */

	xenib_events_again(events, &obj);
	xenib_events_remove(events, &obj);
	xenib_events_set_cq(events, bit, NULL);
	kfree(cq);
	memset(bits, 0xff, PAGE_SIZE);
	page->ring[prod % XEN_VHCA_ASYNC_EVENTS] =
		(struct xen_vhca_async_event){ .type = XEN_VHCA_ASYNC_CQ_ERR, .handle = 7 };
	WRITE_ONCE(page->prod, ++prod);
	kunit_interrupt(channel);
	xenib_events_give_bit(events, bit);

	/* More events than the ring holds: one fault. */
	WRITE_ONCE(page->prod, prod + 10 * XEN_VHCA_ASYNC_EVENTS);
	kunit_interrupt(channel);
	msleep(100);
	KUNIT_EXPECT_EQ(test, fixture->faults, 1);
	xenib_events_stop(events);
	xenib_events_destroy(events);
}

/* QP attributes (qp_modify.c) */

static void test_qp_attr(struct kunit *test)
{
	struct xen_vhca_qp_attr wire = {};
	struct ib_qp_attr attr = {};
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		get_random_bytes(&attr, sizeof(attr));
		attr.ah_attr.type = RDMA_AH_ATTR_TYPE_IB;
		attr.alt_ah_attr.type = RDMA_AH_ATTR_TYPE_IB;
		xenib_qp_attr_to_wire(&attr, get_random_u32() & IB_QP_ATTR_STANDARD_BITS, &wire);
		KUNIT_EXPECT_LE(test, wire.sq_psn, VHCA_MAX_24);
		KUNIT_EXPECT_LE(test, wire.rq_psn, VHCA_MAX_24);
		KUNIT_EXPECT_LE(test, wire.dest_qpn, VHCA_MAX_24);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(test_arena),
	KUNIT_CASE(test_queue_in_page),
	KUNIT_CASE(test_kernel_arena_refused),
	KUNIT_CASE(test_malformed_response),
	KUNIT_CASE(test_posted),
	KUNIT_CASE(test_posted_refused),
	KUNIT_CASE(test_posted_killed),
	KUNIT_CASE(test_posted_unknown),
	KUNIT_CASE(test_rts),
	KUNIT_CASE(test_rts_fails),
	KUNIT_CASE(test_killed),
	KUNIT_CASE(test_events),
	KUNIT_CASE(test_qp_attr),
	{},
};

static struct kunit_suite suite = {
	.name = "xen-ibfront",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("Tests of xen-ibfront without Xen");
MODULE_LICENSE("GPL");
