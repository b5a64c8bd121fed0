// SPDX-License-Identifier: GPL-2.0
/*
 * tests_cq.c - KUnit cases of CQs that are made with their QP (cq_make.c).
 */
#include "fixture.h"

static struct xenib_cq *make_cq(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct xenib_dev *dev = fixture->dev;
	struct xenib_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	struct xen_vhca_req req = {
		.op = XEN_VHCA_OP_CQ_CREATE,
		.u.cq_create = {
			.ctx = 1, .uar = 1, .buf.umem = 1, .dbr.umem = 1,
			.cqes = 64, .cqe_size = 64,
			.event_bit = XEN_VHCA_NO_EVENT,
		},
	};

	KUNIT_ASSERT_NOT_NULL(test, cq);
	cq->mem.ctx = &fixture->uctx.ctx;
	cq->event_bit = XEN_VHCA_NO_EVENT;
	KUNIT_ASSERT_EQ(test, xenib_dbr_get(cq->mem.ctx, &cq->mem.dbr, fixture->buf, 0), 0);
	dev->cq_labels = true;
	dev->attr.max_cq = 8;
	dev->attr.max_cqe = 63;
	KUNIT_ASSERT_TRUE(test, xenib_cq_defer(cq, &req));
	/* What the backend might refuse is not deferred. */
	req.u.cq_create.cqes = 128;
	KUNIT_EXPECT_FALSE(test, xenib_cq_defer(cq, &req));
	req.u.cq_create.cqes = 64;
	atomic_set(&dev->cqs, 9);
	KUNIT_EXPECT_FALSE(test, xenib_cq_defer(cq, &req));
	atomic_set(&dev->cqs, 8);
	dev->cq_labels = false;
	KUNIT_EXPECT_FALSE(test, xenib_cq_defer(cq, &req));
	dev->cq_labels = true;
	xenib_cq_begin(cq);
	return cq;
}

static void end_cq(struct kunit *test, struct xenib_cq *cq)
{
	xenib_cq_drop(cq);
	xenib_arena_addr_put(cq->mem.ctx, &cq->mem.dbr);
}

static int exec_qp(struct kunit *test, struct xenib_cq *send, struct xenib_cq *recv)
{
	struct xenib_cmd cmd = { .req.op = XEN_VHCA_OP_QP_CREATE };

	return xenib_exec_with_cqs(&cmd, send, recv);
}

#define BOTH_LABELS (XEN_VHCA_QP_SEND_CQ_LABEL | XEN_VHCA_QP_RECV_CQ_LABEL)

static void test_cq_with_qp(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct xen_vhca_req *qp = &fixture->backend.newest[XEN_VHCA_OP_QP_CREATE];
	const struct xen_vhca_req *made = &fixture->backend.newest[XEN_VHCA_OP_CQ_CREATE];
	u32 *cqs = &fixture->backend.requests[XEN_VHCA_OP_CQ_CREATE];
	struct xenib_cq *a = make_cq(test), *b = make_cq(test), *c = make_cq(test);
	struct xenib_cq *d = make_cq(test);

	/* One CQ, once. */
	KUNIT_EXPECT_EQ(test, exec_qp(test, a, a), 0);
	KUNIT_EXPECT_EQ(test, *cqs, 1);
	KUNIT_EXPECT_EQ(test, made->flags, XEN_VHCA_REQ_POSTED);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.flags, BOTH_LABELS);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.send_cq, made->u.cq_create.label);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.recv_cq, made->u.cq_create.label);
	KUNIT_EXPECT_NULL(test, a->create);
	KUNIT_EXPECT_NE(test, a->handle, 0);
	KUNIT_EXPECT_EQ(test, a->cqn, a->handle << 4);
	KUNIT_EXPECT_EQ(test, exec_qp(test, a, a), 0);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.flags, 0);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.recv_cq, a->handle);

	/* One that is there, and one that is not; and what needs a CQ without a QP. */
	KUNIT_EXPECT_EQ(test, exec_qp(test, a, b), 0);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.flags, XEN_VHCA_QP_RECV_CQ_LABEL);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.send_cq, a->handle);
	KUNIT_EXPECT_EQ(test, *cqs, 2);
	KUNIT_EXPECT_EQ(test, xenib_cq_make(c), 0);
	KUNIT_EXPECT_EQ(test, made->flags, XEN_VHCA_REQ_UNORDERED);
	KUNIT_EXPECT_EQ(test, made->u.cq_create.label, 0);
	KUNIT_EXPECT_EQ(test, xenib_cq_make(c), 0);
	KUNIT_EXPECT_EQ(test, *cqs, 3);
	KUNIT_EXPECT_FALSE(test, xenib_cq_drop(c));

	/* Of a QP that receives nothing. */
	KUNIT_EXPECT_EQ(test, exec_qp(test, d, NULL), 0);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.flags, XEN_VHCA_QP_SEND_CQ_LABEL);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.recv_cq, 0);
	KUNIT_EXPECT_NE(test, d->handle, 0);
	KUNIT_EXPECT_EQ(test, exec_qp(test, d, NULL), 0);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.send_cq, d->handle);
	end_cq(test, a);
	end_cq(test, b);
	end_cq(test, c);
	end_cq(test, d);
}

/* Of a backend that knows labels, and no posted requests. */
static void test_cq_not_posted(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct xen_vhca_req *qp = &fixture->backend.newest[XEN_VHCA_OP_QP_CREATE];
	u32 *cqs = &fixture->backend.requests[XEN_VHCA_OP_CQ_CREATE];
	struct xenib_cq *a, *b, *c;

	xenib_ring_destroy(fixture->dev->ring);
	kunit_features = 0;
	fixture->dev->ring = xenib_ring_create(&fixture->xbdev, 0, fixture_fault, fixture);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fixture->dev->ring));
	kunit_backend_start(&fixture->backend, kunit_page(0), 0);
	a = make_cq(test);
	b = make_cq(test);
	c = make_cq(test);

	KUNIT_EXPECT_EQ(test, exec_qp(test, a, b), 0);
	KUNIT_EXPECT_EQ(test, *cqs, 2);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.flags, 0);
	KUNIT_EXPECT_NE(test, a->handle, 0);
	KUNIT_EXPECT_NE(test, b->handle, 0);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.send_cq, a->handle);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.recv_cq, b->handle);
	KUNIT_EXPECT_EQ(test, exec_qp(test, c, c), 0);
	KUNIT_EXPECT_EQ(test, *cqs, 3);
	KUNIT_EXPECT_EQ(test, qp->u.qp_create.recv_cq, c->handle);
	end_cq(test, a);
	end_cq(test, b);
	end_cq(test, c);
}

/* An error is told by the call that needs the CQ, and the next one tries again. */
static void test_cq_fails(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct kunit_backend *backend = &fixture->backend;
	struct xenib_cq *a = make_cq(test), *b = make_cq(test);

	backend->refuse[XEN_VHCA_OP_CQ_CREATE] = XEN_VHCA_E_NOMEM;
	KUNIT_EXPECT_EQ(test, xenib_cq_make(a), -ENOMEM);
	/* The backend says that it has made the QP: it is destroyed. */
	KUNIT_EXPECT_EQ(test, exec_qp(test, a, a), -ENOMEM);
	KUNIT_EXPECT_EQ(test, backend->requests[XEN_VHCA_OP_QP_DESTROY], 1);
	backend->refuse_after[XEN_VHCA_OP_CQ_CREATE] = 1;
	KUNIT_EXPECT_EQ(test, exec_qp(test, a, b), -ENOMEM);
	KUNIT_EXPECT_NULL(test, a->create);
	KUNIT_EXPECT_NOT_NULL(test, b->create);
	backend->refuse[XEN_VHCA_OP_CQ_CREATE] = XEN_VHCA_OK;
	backend->refuse[XEN_VHCA_OP_QP_CREATE] = XEN_VHCA_E_LIMIT;
	KUNIT_EXPECT_EQ(test, exec_qp(test, a, b), -ENOMEM);
	KUNIT_EXPECT_NULL(test, b->create);
	end_cq(test, a);
	end_cq(test, b);

	a = make_cq(test);
	xenib_ring_kill(fixture->dev->ring);
	KUNIT_EXPECT_EQ(test, exec_qp(test, a, a), -EIO);
	KUNIT_EXPECT_EQ(test, xenib_cq_make(a), -EIO);
	KUNIT_EXPECT_TRUE(test, xenib_cq_drop(a));
	end_cq(test, a);
}

/* At the limit the backend is asked, once it knows of all CQs. */
static void test_cq_limit(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct xenib_dev *dev = fixture->dev;
	u32 *cqs = &fixture->backend.requests[XEN_VHCA_OP_CQ_CREATE];
	struct xenib_context *ctx = &fixture->uctx.ctx, other = { .dev = dev };
	struct xenib_cq *a = make_cq(test), *b = make_cq(test);

	xenib_cqs_init(&other);
	atomic_set(&dev->cqs, 7);
	KUNIT_EXPECT_EQ(test, xenib_cq_charge(ctx), 0);
	KUNIT_EXPECT_EQ(test, *cqs, 0);
	KUNIT_EXPECT_EQ(test, xenib_cq_charge(&other), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&dev->cqs), 8);
	KUNIT_EXPECT_EQ(test, *cqs, 0);
	fixture->backend.refuse[XEN_VHCA_OP_CQ_CREATE] = XEN_VHCA_E_NOMEM;
	KUNIT_EXPECT_EQ(test, xenib_cq_charge(ctx), -ENOMEM);
	fixture->backend.refuse[XEN_VHCA_OP_CQ_CREATE] = XEN_VHCA_OK;
	KUNIT_EXPECT_EQ(test, *cqs, 2);
	KUNIT_EXPECT_EQ(test, xenib_cq_charge(ctx), 0);
	KUNIT_EXPECT_EQ(test, *cqs, 4);
	KUNIT_EXPECT_NULL(test, a->create);
	KUNIT_EXPECT_EQ(test, atomic_read(&dev->deferred_cqs), 0);
	KUNIT_EXPECT_EQ(test, xenib_cq_charge(&other), 0);
	end_cq(test, a);
	end_cq(test, b);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(test_cq_with_qp),
	KUNIT_CASE(test_cq_not_posted),
	KUNIT_CASE(test_cq_fails),
	KUNIT_CASE(test_cq_limit),
	{},
};

static struct kunit_suite suite = {
	.name = "xen-ibfront-cq",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
