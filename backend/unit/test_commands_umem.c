// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_commands_umem.c - the command layer's umems and registrations: those that are made together, those that outlive
 * an MR, and what is slow enough for the pool of threads. All of it with memory that is mapped, with dma-bufs for
 * registrations, and with dma-bufs alone.
 */
#include "shared-ring/unit/example.h"
#include "unit/fakes/fixture.h"

static bool dmabufs; /* umems that are for MRs alone are such, */
static bool queues;  /* and so are all others */

static void begin(struct fixture *fix)
{
	fixture_init(fix, false, NULL);
	if (queues)
		fixture_queue_dmabufs(fix);
	else if (dmabufs)
		fixture_dmabufs(fix);
}

static void umems(void)
{
	struct xen_vhca_req create = { .op = XEN_VHCA_OP_UMEM_CREATE };
	struct xen_vhca_req add = { .op = XEN_VHCA_OP_UMEM_ADD };
	struct xen_vhca_req reg = example_request(XEN_VHCA_OP_MR_REG);
	struct fixture_process p;
	struct fixture fix;

	begin(&fix);
	CHECK(!fixture_process(&fix, &p));
	create.u.umem_create = (struct xen_vhca_umem_create){
		.ctx = p.ctx, .pages = 1030, .flags = XEN_VHCA_UMEM_READ_ONLY | XEN_VHCA_UMEM_MR
	};
	CHECK(!fixture_do(&fix, &create));
	add.u.umem_add.umem = reg.u.mr_reg.addr.umem = fix.handle;
	reg.u.mr_reg.pd = p.pd;
	reg.u.mr_reg.access = XEN_VHCA_ACCESS_REMOTE_READ;
	CHECK(fixture_do(&fix, &reg) == XEN_VHCA_E_STATE); /* pages are missing */
	add.u.umem_add.first = 1023;
	add.u.umem_add.count = 2;
	CHECK(fixture_do(&fix, &add) == XEN_VHCA_E_COUNT); /* one has come before */
	add.u.umem_add.first = 1024;
	add.u.umem_add.count = 7;
	CHECK(fixture_do(&fix, &add) == XEN_VHCA_E_COUNT); /* one too many */
	add.u.umem_add.count = 6;
	fix.refs[5] = SHM_PAGES;
	CHECK(fixture_do(&fix, &add) == XEN_VHCA_E_GRANT);
	CHECK(fix.shm->took_reservation == !dmabufs);
	fix.refs[5] = 5;
	CHECK(fixture_do(&fix, &add) == XEN_VHCA_OK); /* another try */
	CHECK(fixture_do(&fix, &add) == XEN_VHCA_E_COUNT);
	reg.u.mr_reg.addr.offset = 1030 * 4096 - 5000;
	reg.u.mr_reg.iova = 0x7f0000000000 + (reg.u.mr_reg.addr.offset & 4095);
	CHECK(fixture_do(&fix, &reg) == XEN_VHCA_OK);
	reg.u.mr_reg.length = 5001;
	CHECK(fixture_do(&fix, &reg) == XEN_VHCA_E_RANGE);
	reg.u.mr_reg.access = XEN_VHCA_ACCESS_LOCAL_WRITE;
	reg.u.mr_reg.length = 1;
	CHECK(fixture_do(&fix, &reg) == XEN_VHCA_E_ARG); /* read-only */
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	CHECK(fixture_is_empty(&fix));
	fixture_fini(&fix);
}

/* A registration whose umem of two pages is kept. */
static struct xen_vhca_req persistent_mr(xen_vhca_handle_t pd, uint32_t access)
{
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_MR_REG,
				      .u.mr_reg = { .pd = pd,
						    .flags = XEN_VHCA_MR_REG_INLINE |
							     XEN_VHCA_MR_REG_PERSISTENT,
						    .pages = 2,
						    .addr.offset = 0x10,
						    .iova = 0x7f0000000010,
						    .length = 8000,
						    .access = access } };
}

static struct xen_vhca_req mr_on(xen_vhca_handle_t pd, xen_vhca_handle_t umem, uint32_t access)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_MR_REG,
		.u.mr_reg = { .pd = pd, .addr.umem = umem, .length = 8192, .access = access }
	};
}

/* What is in use. */
struct usage {
	uint64_t mr, umem, bytes;
	unsigned int live; /* on the HCA */
};

static struct usage usage_of(const struct fixture *fix)
{
	const struct quota *q = &fix->v.quota;

	return (struct usage){ q->objects[OBJ_MR].used, q->objects[OBJ_UMEM].used, q->bytes.used,
			       fix->fake.live };
}

/* A vHCA with one process. Returns what that uses. */
static struct usage start(struct fixture *fix, struct fixture_process *p)
{
	begin(fix);
	CHECK(!fixture_process(fix, p));
	return usage_of(fix);
}

static bool grown(const struct fixture *fix, const struct usage *since, int mrs, int umems)
{
	struct usage now = usage_of(fix);

	return now.mr == since->mr + mrs && now.live == since->live + mrs &&
	       now.umem == since->umem + umems && now.bytes == since->bytes + umems * 8192;
}

/* The umem outlives its MR, has others before and after that, and ends when it is told to. */
static void persistent_umems(void)
{
	xen_vhca_handle_t mr, umem, other;
	struct fixture_process p, q;
	struct usage before;
	struct xen_vhca_req req;
	struct fixture fix;

	begin(&fix);
	CHECK(!fixture_process(&fix, &p) && !fixture_process(&fix, &q));
	before = usage_of(&fix);
	req = persistent_mr(p.pd, 1);
	CHECK(!fixture_do(&fix, &req));
	mr = fix.handle;
	umem = fix.cmd->rsp.u.mr.umem;
	CHECK(mr != umem && fix.cmd->rsp.u.mr.lkey && grown(&fix, &before, 1, 1));
	CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, mr) == XEN_VHCA_E_HANDLE);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_MR_DEREG, umem) == XEN_VHCA_E_HANDLE);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, umem) == XEN_VHCA_E_BUSY);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_PD_FREE, p.pd) == XEN_VHCA_E_BUSY);
	req = mr_on(q.pd, umem, 1);
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_CONTEXT);
	req = mr_on(p.pd, umem, 7);
	CHECK(!fixture_do(&fix, &req) && !fix.cmd->rsp.u.mr.umem);
	other = fix.handle;
	CHECK(grown(&fix, &before, 2, 1));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_MR_DEREG, mr));
	CHECK(grown(&fix, &before, 1, 1));
	CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, umem) == XEN_VHCA_E_BUSY);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_MR_DEREG, other));
	CHECK(grown(&fix, &before, 0, 1));
	CHECK(!fixture_do(&fix, &req)); /* as often as one wants */
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_MR_DEREG, fix.handle));
	req.u.mr_reg.length++;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_RANGE);
	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_UMEM_ADD,
				     .u.umem_add = { .umem = umem, .first = 1, .count = 1 } };
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_COUNT); /* it has all its pages */
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, umem));
	CHECK(grown(&fix, &before, 0, 0));
	CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, umem) == XEN_VHCA_E_HANDLE);
	fixture_fini(&fix);
}

/* It needs nothing but its context: the PD may go before it. */
static void persistent_without_pd(void)
{
	struct xen_vhca_req alloc = { .op = XEN_VHCA_OP_PD_ALLOC }, req;
	xen_vhca_handle_t umem, pd;
	struct fixture_process p;
	struct usage before;
	struct fixture fix;

	before = start(&fix, &p);
	alloc.u.pd_alloc.ctx = p.ctx;
	CHECK(!fixture_do(&fix, &alloc));
	pd = fix.handle;
	req = persistent_mr(pd, 1);
	CHECK(!fixture_do(&fix, &req));
	umem = fix.cmd->rsp.u.mr.umem;
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_MR_DEREG, fix.handle));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_PD_FREE, pd));
	req = mr_on(p.pd, umem, 1);
	CHECK(!fixture_do(&fix, &req));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_MR_DEREG, fix.handle));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, umem));
	CHECK(grown(&fix, &before, 0, 0));
	fixture_fini(&fix);
}

/* The grants of a registration that writes nothing are read-only, and so they stay. */
static void persistent_read_only(void)
{
	struct xen_vhca_req req;
	xen_vhca_handle_t umem;
	struct fixture_process p;
	struct fixture fix;

	begin(&fix);
	CHECK(!fixture_process(&fix, &p));
	req = persistent_mr(p.pd, XEN_VHCA_ACCESS_REMOTE_READ);
	CHECK(!fixture_do(&fix, &req));
	umem = fix.cmd->rsp.u.mr.umem;
	req = mr_on(p.pd, umem, XEN_VHCA_ACCESS_LOCAL_WRITE);
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_ARG);
	req = mr_on(p.pd, umem, 0);
	CHECK(!fixture_do(&fix, &req));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx)); /* with both MRs on it */
	CHECK(fixture_is_empty(&fix));
	fixture_fini(&fix);
}

/* Umems that nobody uses at the moment, and one that is used: CTX_CLOSE, or the guest's end. */
static void persistent_until_closed(bool vanish)
{
	struct xen_vhca_req req;
	struct fixture_process p;
	struct fixture fix;
	unsigned int i;

	begin(&fix);
	CHECK(!fixture_process(&fix, &p));
	req = persistent_mr(p.pd, 1);
	for (i = 0; i < 5; i++) {
		CHECK(!fixture_do(&fix, &req));
		if (i)
			CHECK(!fixture_object(&fix, XEN_VHCA_OP_MR_DEREG, fix.handle));
	}
	if (!vanish) {
		CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
		CHECK(fixture_is_empty(&fix));
		CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, p.persistent) ==
		      XEN_VHCA_E_HANDLE);
	}
	fixture_fini(&fix);
}

/* Over each limit, and by each thing that can fail: nothing is left, and the next one works. */
static void persistent_refused(void)
{
	struct xen_vhca_req req;
	struct fixture_process p;
	struct usage before;
	struct fixture fix;

	before = start(&fix, &p);
	req = persistent_mr(p.pd, 1);
	fix.v.quota.objects[OBJ_MR].limit = before.mr;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_LIMIT && grown(&fix, &before, 0, 0));
	fix.v.quota.objects[OBJ_MR].limit++;
	fix.v.quota.objects[OBJ_UMEM].limit = before.umem;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_LIMIT && grown(&fix, &before, 0, 0));
	fix.v.quota.objects[OBJ_UMEM].limit++;
	fix.v.quota.bytes.limit = before.bytes + 8191;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_LIMIT && grown(&fix, &before, 0, 0));
	fix.v.quota.bytes.limit++;
	fix.shm->fail_in = 1;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_NOMEM && grown(&fix, &before, 0, 0));
	fix.refs[1] = SHM_PAGES;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_GRANT && grown(&fix, &before, 0, 0));
	fix.refs[1] = 17;
	fix.fake.fail_in = 1;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_NOMEM && grown(&fix, &before, 0, 0));
	req.u.mr_reg.flags = XEN_VHCA_MR_REG_PERSISTENT;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_ARG && grown(&fix, &before, 0, 0));
	req = persistent_mr(p.pd, 1);
	CHECK(!fixture_do(&fix, &req) && grown(&fix, &before, 1, 1));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	CHECK(fixture_is_empty(&fix));
	fixture_fini(&fix);
}

static bool undo_is_slow(struct fixture *fix, unsigned int op, xen_vhca_handle_t handle)
{
	struct xen_vhca_req req = { .op = op, .u.object.handle = handle };

	return cmd_is_slow(&fix->v, &req);
}

/* Makes it, says whether it has to be slow to make, and to undo; and undoes it. */
static void check_mr_speed(struct fixture *fix, struct xen_vhca_req req, bool make, bool dereg,
			   bool destroy)
{
	xen_vhca_handle_t mr, umem;

	CHECK(cmd_is_slow(&fix->v, &req) == make);
	CHECK(!fixture_do(fix, &req));
	mr = fix->handle;
	umem = fix->cmd->rsp.u.mr.umem;
	CHECK(undo_is_slow(fix, XEN_VHCA_OP_MR_DEREG, mr) == dereg);
	CHECK(!undo_is_slow(fix, XEN_VHCA_OP_UMEM_DESTROY, mr));
	CHECK(!fixture_object(fix, XEN_VHCA_OP_MR_DEREG, mr));
	CHECK(!undo_is_slow(fix, XEN_VHCA_OP_MR_DEREG, mr));
	CHECK(undo_is_slow(fix, XEN_VHCA_OP_UMEM_DESTROY, umem) == destroy);
	if (umem)
		CHECK(!fixture_object(fix, XEN_VHCA_OP_UMEM_DESTROY, umem));
}

/* What goes to the pool of threads: mapping and unmapping 64 pages, registering 1 MiB, and back. */
static void speed(void)
{
	struct xen_vhca_req req, large;
	struct fixture_process p;
	struct fixture fix;

	begin(&fix);
	CHECK(!fixture_process(&fix, &p));
	req = persistent_mr(p.pd, 1);
	req.u.mr_reg.pages = 63;
	check_mr_speed(&fix, req, false, false, false);
	req.u.mr_reg.pages = 64;
	check_mr_speed(&fix, req, true, false, true);
	req.u.mr_reg.flags = XEN_VHCA_MR_REG_INLINE;
	check_mr_speed(&fix, req, true, true, false);
	req.u.mr_reg.pages = 63;
	check_mr_speed(&fix, req, false, false, false);
	large = mr_on(p.pd, p.umem, 1); /* of 1500 pages */
	large.u.mr_reg.length = (1 << 20) - 1;
	check_mr_speed(&fix, large, false, false, false);
	large.u.mr_reg.length++;
	check_mr_speed(&fix, large, true, true, false);
	CHECK(undo_is_slow(&fix, XEN_VHCA_OP_UMEM_DESTROY, p.umem));
	CHECK(!undo_is_slow(&fix, XEN_VHCA_OP_MR_DEREG, p.umem));
	CHECK(!undo_is_slow(&fix, XEN_VHCA_OP_UMEM_DESTROY, 0));
	CHECK(!undo_is_slow(&fix, XEN_VHCA_OP_UMEM_DESTROY, ~0u));
	CHECK(undo_is_slow(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	CHECK(!undo_is_slow(&fix, XEN_VHCA_OP_QP_DESTROY, p.qp));
	CHECK(!undo_is_slow(&fix, 255, p.qp));
	fixture_fini(&fix);
}

/* The umem of a registration that keeps none has no handle, whatever the guest guesses. */
static void own_umem(void)
{
	struct fixture_process p;
	struct usage before;
	struct fixture fix;
	uint32_t i;

	before = start(&fix, &p);
	for (i = 0; i < 64; i++) {
		if (i == p.umem || i == p.persistent)
			continue;
		CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, i) == XEN_VHCA_E_HANDLE);
	}
	CHECK(grown(&fix, &before, 0, 0));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_MR_DEREG, p.inline_mr));
	CHECK(usage_of(&fix).umem == before.umem - 1);
	CHECK(usage_of(&fix).bytes == before.bytes - 3 * 4096);
	fixture_fini(&fix);
}

/* Which umems are dma-bufs: those for MRs alone or all, if there are any and they can be as large as that. */
static void kinds(void)
{
	struct xen_vhca_req create = { .op = XEN_VHCA_OP_UMEM_CREATE };
	struct fixture_process p;
	struct fixture fix;
	unsigned int before;

	begin(&fix);
	CHECK(!fixture_process(&fix, &p));
	before = fix.shm->dmabufs;
	CHECK(before ==
	      (dmabufs ? 2u : 0u) + queues); /* those of two registrations, and for queues */
	CHECK(fix.v.counters.dmabufs == before);
	create.u.umem_create = (struct xen_vhca_umem_create){ .ctx = p.ctx, .pages = 100 };
	CHECK(!fixture_do(&fix, &create) && fix.shm->dmabufs == before + queues);
	before += queues;
	create.u.umem_create.flags = XEN_VHCA_UMEM_MR;
	fix.shm->t.dmabuf_pages = 99;
	CHECK(!fixture_do(&fix, &create) && fix.shm->dmabufs == before);
	if (dmabufs)
		fix.shm->t.dmabuf_pages = 100;
	CHECK(!fixture_do(&fix, &create) && fix.shm->dmabufs == before + dmabufs);
	before += dmabufs;
	create.u.umem_create.flags |= XEN_VHCA_UMEM_READ_ONLY;
	CHECK(!fixture_do(&fix, &create) && fix.shm->dmabufs == before + dmabufs);
	before += dmabufs;
	fix.shm->t.dmabuf_read_only = false;
	CHECK(!fixture_do(&fix, &create) && fix.shm->dmabufs == before);
	create.u.umem_create.flags &= ~XEN_VHCA_UMEM_READ_ONLY;
	CHECK(!fixture_do(&fix, &create) && fix.shm->dmabufs == before + dmabufs);
	before += dmabufs;
	fix.fake.hca.dmabufs = false;
	CHECK(!fixture_do(&fix, &create) && fix.shm->dmabufs == before);
	fixture_fini(&fix);
}

/* No queue is made in memory that is for MRs alone, whether it is a dma-buf or not. */
static void no_queues(void)
{
	struct xen_vhca_req req;
	xen_vhca_handle_t umem;
	struct fixture_process p;
	struct fixture fix;

	begin(&fix);
	CHECK(!fixture_process(&fix, &p));
	req = (struct xen_vhca_req){
		.op = XEN_VHCA_OP_UMEM_CREATE,
		.u.umem_create = { .ctx = p.ctx, .pages = 10, .flags = XEN_VHCA_UMEM_MR }
	};
	CHECK(!fixture_do(&fix, &req));
	umem = fix.handle;
	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_CQ_CREATE,
				     .u.cq_create = { .ctx = p.ctx,
						      .uar = p.uar,
						      .buf.umem = p.umem,
						      .dbr.umem = umem,
						      .cqes = 4,
						      .cqe_size = 64,
						      .event_bit = XEN_VHCA_NO_EVENT } };
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_ARG);
	req.u.cq_create.buf.umem = umem;
	req.u.cq_create.dbr.umem = p.umem;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_ARG);
	req.u.cq_create.buf.umem = p.persistent;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_ARG);
	req.u.cq_create.buf.umem = p.umem;
	CHECK(!fixture_do(&fix, &req));
	fixture_fini(&fix);
}

static xen_vhca_handle_t new_umem(struct fixture *fix, xen_vhca_handle_t ctx, uint32_t pages,
				  uint32_t flags)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_UMEM_CREATE,
				    .u.umem_create = {
					    .ctx = ctx, .pages = pages, .flags = flags } };

	CHECK(!fixture_do(fix, &req));
	return fix->handle;
}

static enum xen_vhca_status resize(struct fixture *fix, xen_vhca_handle_t cq, uint32_t cqes,
				   xen_vhca_handle_t umem)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_CQ_RESIZE,
				    .u.cq_resize = { .cq = cq, .cqes = cqes, .buf.umem = umem } };

	return fixture_do(fix, &req);
}

/* A CQ moves from one umem to another: the one that it leaves is free, the other is in use. */
static void resized_cq(void)
{
	xen_vhca_handle_t first, second;
	struct xen_vhca_req req;
	struct fixture_process p, q;
	xen_vhca_handle_t cq;
	struct fixture fix;

	begin(&fix);
	CHECK(!fixture_process(&fix, &p) && !fixture_process(&fix, &q));
	first = new_umem(&fix, p.ctx, 4, 0);
	second = new_umem(&fix, p.ctx, 8, 0);
	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_CQ_CREATE,
				     .u.cq_create = { .ctx = p.ctx,
						      .uar = p.uar,
						      .buf.umem = first,
						      .dbr = { p.umem, 0, 0x9000 },
						      .cqes = 128,
						      .cqe_size = 128,
						      .event_bit = XEN_VHCA_NO_EVENT } };
	CHECK(!fixture_do(&fix, &req));
	cq = fix.handle;
	if (queues) {
		CHECK(resize(&fix, cq, 256, second) == XEN_VHCA_E_UNSUPPORTED);
		fixture_fini(&fix);
		return;
	}

	CHECK(resize(&fix, cq, 512, second) == XEN_VHCA_E_RANGE);
	CHECK(resize(&fix, cq, 128, second) == XEN_VHCA_E_ARG);
	CHECK(resize(&fix, cq, 256, q.umem) == XEN_VHCA_E_CONTEXT);
	CHECK(resize(&fix, q.cq, 512, second) == XEN_VHCA_E_CONTEXT);
	CHECK(resize(&fix, p.qp, 256, second) == XEN_VHCA_E_HANDLE);
	CHECK(resize(&fix, cq, 64, new_umem(&fix, p.ctx, 4, XEN_VHCA_UMEM_MR)) == XEN_VHCA_E_ARG);
	CHECK(resize(&fix, cq, 64, new_umem(&fix, p.ctx, 4, XEN_VHCA_UMEM_READ_ONLY)) ==
	      XEN_VHCA_E_ARG);
	CHECK(resize(&fix, cq, 64, new_umem(&fix, p.ctx, 2000, 0)) == XEN_VHCA_E_STATE);
	fix.fake.fail_in = 1;
	CHECK(resize(&fix, cq, 256, second) == XEN_VHCA_E_HCA);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, first) == XEN_VHCA_E_BUSY);

	CHECK(!resize(&fix, cq, 256, second));
	CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, second) == XEN_VHCA_E_BUSY);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, first));
	CHECK(resize(&fix, cq, 256, p.umem) == XEN_VHCA_E_ARG);
	CHECK(!resize(&fix, cq, 128, second));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CQ_DESTROY, cq));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, second));
	fixture_close_all(&fix);
	fixture_fini(&fix);
}

/* Less than half of a large one is used as a part, which need not be there. */
static void parts(void)
{
	struct xen_vhca_req req;
	struct fixture_process p;
	unsigned int before;
	struct fixture fix;

	begin(&fix);
	CHECK(!fixture_process(&fix, &p));
	before = fix.shm->ranges;
	req = persistent_mr(p.pd, 1);
	req.u.mr_reg.pages = 512;
	CHECK(!fixture_do(&fix, &req));
	CHECK(fix.shm->ranges == before + dmabufs); /* of its 8,000 bytes */
	req = mr_on(p.pd, fix.cmd->rsp.u.mr.umem, 7);
	req.u.mr_reg.addr.offset = req.u.mr_reg.iova = 100 * 4096 + 1;
	req.u.mr_reg.length = 256 * 4096 - 1; /* to the end of a page */
	CHECK(!fixture_do(&fix, &req) && fix.shm->ranges == before + (dmabufs ? 2 : 0));
	req.u.mr_reg.length++; /* 257 pages */
	CHECK(!fixture_do(&fix, &req) && fix.shm->ranges == before + (dmabufs ? 2 : 0));
	req.u.mr_reg.length = 1;
	req.u.mr_reg.addr.offset = req.u.mr_reg.iova = 512 * 4096 - 1;
	fix.shm->fail_in = 1;
	CHECK(!fixture_do(&fix, &req) && fix.shm->ranges == before + (dmabufs ? 2 : 0));
	fix.shm->fail_in = 0;
	before = fix.shm->ranges;
	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_UMEM_CREATE,
				     .u.umem_create = { .ctx = p.ctx, .pages = 512 } };
	CHECK(!fixture_do(&fix, &req));
	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_CQ_CREATE,
				     .u.cq_create = { .ctx = p.ctx,
						      .uar = p.uar,
						      .buf.umem = fix.handle,
						      .dbr = { fix.handle, 0, 511 * 4096 },
						      .cqes = 16384,
						      .cqe_size = 64,
						      .event_bit = XEN_VHCA_NO_EVENT } };
	CHECK(!fixture_do(&fix, &req) && fix.shm->ranges == before + (queues ? 2 : 0));
	fixture_fini(&fix);
}

static enum xen_vhca_status modify(struct fixture *fix, xen_vhca_handle_t mr, xen_vhca_handle_t pd,
				   uint32_t access)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_MR_MODIFY,
				    .u.mr_modify = { .mr = mr, .pd = pd, .access = access } };

	return fixture_do(fix, &req);
}

static xen_vhca_handle_t new_pd(struct fixture *fix, xen_vhca_handle_t ctx)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_PD_ALLOC, .u.pd_alloc.ctx = ctx };

	CHECK(!fixture_do(fix, &req));
	return fix->handle;
}

#define RIGHTS (XEN_VHCA_ACCESS_LOCAL_WRITE | XEN_VHCA_ACCESS_REMOTE_READ)

/* An MR gets other rights, and moves to another PD: the one that it leaves is free, the other is in use. */
static void modified_mr(bool own)
{
	struct xen_vhca_req req;
	struct fixture_process p, q;
	xen_vhca_handle_t mr, pd;
	struct fixture fix;

	begin(&fix);
	CHECK(!fixture_process(&fix, &p) && !fixture_process(&fix, &q));
	pd = new_pd(&fix, p.ctx);
	req = own ? persistent_mr(pd, 1) : mr_on(pd, p.umem, 1);
	if (own)
		req.u.mr_reg.flags = XEN_VHCA_MR_REG_INLINE;
	CHECK(!fixture_do(&fix, &req));
	mr = fix.handle;

	CHECK(!modify(&fix, mr, 0, RIGHTS));
	CHECK(fix.cmd->rsp.u.mr.handle == mr && fix.cmd->rsp.u.mr.rkey);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_PD_FREE, pd) == XEN_VHCA_E_BUSY);
	CHECK(modify(&fix, mr, q.pd, RIGHTS) == XEN_VHCA_E_CONTEXT);
	CHECK(modify(&fix, mr, mr, RIGHTS) == XEN_VHCA_E_HANDLE);
	CHECK(modify(&fix, pd, 0, RIGHTS) == XEN_VHCA_E_HANDLE);
	CHECK(modify(&fix, mr, 0, RIGHTS | XEN_VHCA_ACCESS_MW_BIND) == XEN_VHCA_E_UNSUPPORTED);
	fix.fake.fail_in = 1;
	CHECK(modify(&fix, mr, p.pd, RIGHTS) == XEN_VHCA_E_DEAD);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_PD_FREE, pd) == XEN_VHCA_E_BUSY);

	CHECK(!modify(&fix, mr, p.pd, XEN_VHCA_ACCESS_REMOTE_READ));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_PD_FREE, pd));
	CHECK(!modify(&fix, mr, 0, RIGHTS));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_MR_DEREG, mr));

	req = mr_on(p.pd, p.umem, XEN_VHCA_ACCESS_REMOTE_READ);
	CHECK(!fixture_do(&fix, &req));
	mr = fix.handle;
	CHECK(modify(&fix, mr, 0, RIGHTS) == XEN_VHCA_E_UNSUPPORTED);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_MR_DEREG, mr));

	req = persistent_mr(p.pd, XEN_VHCA_ACCESS_REMOTE_READ);
	CHECK(!fixture_do(&fix, &req));
	CHECK(modify(&fix, fix.handle, 0, RIGHTS) == XEN_VHCA_E_ARG); /* read-only */
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, q.ctx));
	CHECK(fixture_is_empty(&fix));
	fixture_fini(&fix);
}

static void all(void)
{
	umems();
	persistent_umems();
	persistent_without_pd();
	persistent_read_only();
	persistent_until_closed(false);
	persistent_until_closed(true);
	persistent_refused();
	own_umem();
	speed();
	kinds();
	no_queues();
	resized_cq();
	modified_mr(true);
	modified_mr(false);
	parts();
}

int main(void)
{
	all();
	dmabufs = true;
	all();
	queues = true;
	all();
	return EXIT_SUCCESS;
}
