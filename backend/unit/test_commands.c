// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_commands.c - the command layer: what works, what is refused and how, and that nothing is
 * left behind on any path.
 */
#include <string.h>

#include "shared-ring/unit/example.h"
#include "unit/fakes/fixture.h"

static void lifecycle(bool auto_translated)
{
	struct fixture_process p, q;
	struct fixture fix;

	fixture_init(&fix, auto_translated, NULL);
	CHECK(!fixture_process(&fix, &p));
	CHECK(!fixture_process(&fix, &q));
	CHECK(fix.v.quota.objects[OBJ_CTX].used == 2 && fix.shm->allowed == 2);
	CHECK(fix.v.quota.bytes.used == 2 * 1505 * 4096);
	fixture_exit(&fix, &p);
	fixture_exit(&fix, &q);
	CHECK(fixture_is_empty(&fix));
	/* A context that is closed takes everything with it. */
	CHECK(!fixture_process(&fix, &p));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	CHECK(fixture_is_empty(&fix));
	CHECK(fixture_object(&fix, XEN_VHCA_OP_QP_DESTROY, p.qp) == XEN_VHCA_E_HANDLE);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx) == XEN_VHCA_E_HANDLE);
	/* And a guest that vanishes. */
	CHECK(!fixture_process(&fix, &p));
	fixture_fini(&fix);
}

static void answers(void)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_DEVICE_QUERY };
	struct fixture_process p;
	struct fixture fix;

	fixture_init(&fix, false, NULL);
	CHECK(!fixture_do(&fix, &req) && fix.cmd->data == &fix.v.attr);
	CHECK(!vhca_check_device_attr(fix.cmd->data));
	CHECK(fix.v.attr.max_qp == 4096 && fix.v.attr.max_ctx == 128 && fix.v.attr.gids == 8);
	req.op = XEN_VHCA_OP_PORT_QUERY;
	CHECK(!fixture_do(&fix, &req) && fix.cmd->rsp.u.port.lid == 3);
	req.op = XEN_VHCA_OP_GID_QUERY;
	req.u.index = (struct xen_vhca_index){ .index = 7 };
	CHECK(!fixture_do(&fix, &req) && fix.cmd->rsp.u.gids.gid[0][15] == 7);
	req.u.index = (struct xen_vhca_index){ .index = 2, .more = 5 };
	CHECK(!fixture_do(&fix, &req) && fix.cmd->rsp.u.gids.gid[5][15] == 7);
	req.op = XEN_VHCA_OP_PKEY_QUERY;
	req.u.index = (struct xen_vhca_index){ .more = XEN_VHCA_PKEYS - 1 };
	CHECK(!fixture_do(&fix, &req) && fix.cmd->rsp.u.pkeys.pkey[0] == 0xffff);
	CHECK(fix.cmd->rsp.u.pkeys.pkey[1] == 0x8001);
	CHECK(fix.cmd->rsp.u.pkeys.pkey[XEN_VHCA_PKEYS - 1] == 0x8000 + XEN_VHCA_PKEYS - 1);
	fix.fake.fail_in = 3;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_DEAD && !vhca_check_response(&req, &fix.cmd->rsp));
	CHECK(!fixture_process(&fix, &p));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_QP_QUERY, p.qp) && fix.cmd->rsp.u.qp.attr.state == 1);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_SRQ_QUERY, p.srq) && fix.cmd->rsp.u.srq.max_wr == 255);
	req = example_request(XEN_VHCA_OP_QP_MODIFY);
	req.u.qp_modify.qp = p.qp;
	CHECK(!fixture_do(&fix, &req));
	req.u.qp_modify.attr.state = 3;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_HCA && fix.cmd->rsp.hca_errno == 22);
	fixture_fini(&fix);
}

static void in_use(void)
{
	struct fixture_process p;
	struct fixture fix;

	fixture_init(&fix, false, NULL);
	CHECK(!fixture_process(&fix, &p));
	CHECK(fixture_object(&fix, XEN_VHCA_OP_CQ_DESTROY, p.cq) == XEN_VHCA_E_BUSY);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_SRQ_DESTROY, p.srq) == XEN_VHCA_E_BUSY);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_PD_FREE, p.pd) == XEN_VHCA_E_BUSY);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, p.umem) == XEN_VHCA_E_BUSY);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, p.persistent) == XEN_VHCA_E_BUSY);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_UAR_FREE, p.uar) == XEN_VHCA_E_BUSY);
	fixture_exit(&fix, &p);
	CHECK(fixture_is_empty(&fix));
	fixture_fini(&fix);
}

/* Forged, stale, of another type, of another process. */
static void handles(void)
{
	struct xen_vhca_req req;
	struct fixture_process p, q;
	struct fixture fix;
	uint32_t i;

	fixture_init(&fix, false, NULL);
	CHECK(!fixture_process(&fix, &p) && !fixture_process(&fix, &q));
	CHECK(fixture_object(&fix, XEN_VHCA_OP_QP_DESTROY, p.cq) == XEN_VHCA_E_HANDLE);
	for (i = 1; i; i <<= 1)
		CHECK(fixture_object(&fix, XEN_VHCA_OP_QP_DESTROY, p.qp ^ i) == XEN_VHCA_E_HANDLE);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, ~0u) == XEN_VHCA_E_HANDLE);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, fix.v.handles.capacity) == XEN_VHCA_E_HANDLE);

	req = example_request(XEN_VHCA_OP_CQ_CREATE);
	req.u.cq_create.ctx = p.ctx;
	req.u.cq_create.uar = q.uar;
	req.u.cq_create.buf.umem = req.u.cq_create.dbr.umem = p.umem;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_CONTEXT);
	req.u.cq_create.uar = p.uar;
	req.u.cq_create.dbr.umem = q.umem;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_CONTEXT);

	req = example_request(XEN_VHCA_OP_QP_CREATE);
	req.u.qp_create.pd = p.pd;
	req.u.qp_create.uar = p.uar;
	req.u.qp_create.buf.umem = req.u.qp_create.dbr.umem = p.umem;
	req.u.qp_create.send_cq = p.cq;
	req.u.qp_create.recv_cq = q.cq;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_CONTEXT);
	req.u.qp_create.recv_cq = p.cq;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_OK);

	req = example_request(XEN_VHCA_OP_MR_REG);
	req.u.mr_reg.pd = p.pd;
	req.u.mr_reg.addr.umem = q.umem;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_CONTEXT);

	CHECK(fix.v.counters.refused[XEN_VHCA_OP_CQ_CREATE][XEN_VHCA_E_CONTEXT] == 2);
	CHECK(fix.v.counters.refused[XEN_VHCA_OP_QP_DESTROY][XEN_VHCA_E_HANDLE] == 33);
	fixture_fini(&fix);
}

/* A handle does not come back soon. */
static void generations(void)
{
	enum { LIVES = 300 };
	xen_vhca_handle_t seen[LIVES];
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_PD_ALLOC };
	struct fixture_process p;
	struct fixture fix;
	unsigned int i, k;

	fixture_init(&fix, false, NULL);
	CHECK(!fixture_process(&fix, &p));
	req.u.pd_alloc.ctx = p.ctx;
	for (i = 0; i < LIVES; i++) {
		CHECK(!fixture_do(&fix, &req));
		seen[i] = fix.handle;
		for (k = 0; k < i; k++)
			CHECK(seen[k] != seen[i]);
		CHECK(!fixture_object(&fix, XEN_VHCA_OP_PD_FREE, seen[i]));
	}
	for (i = 0; i < LIVES; i++)
		CHECK(fixture_object(&fix, XEN_VHCA_OP_PD_FREE, seen[i]) == XEN_VHCA_E_HANDLE);
	fixture_fini(&fix);
}

static void umems(void)
{
	struct xen_vhca_req create = { .op = XEN_VHCA_OP_UMEM_CREATE };
	struct xen_vhca_req add = { .op = XEN_VHCA_OP_UMEM_ADD };
	struct xen_vhca_req reg = example_request(XEN_VHCA_OP_MR_REG);
	struct fixture_process p;
	struct fixture fix;

	fixture_init(&fix, false, NULL);
	CHECK(!fixture_process(&fix, &p));
	create.u.umem_create = (struct xen_vhca_umem_create){ .ctx = p.ctx, .pages = 1030,
		.flags = XEN_VHCA_UMEM_READ_ONLY };
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
	CHECK(fixture_do(&fix, &add) == XEN_VHCA_E_GRANT && fix.shm->took_reservation);
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
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_MR_REG, .u.mr_reg = { .pd = pd,
		.flags = XEN_VHCA_MR_REG_INLINE | XEN_VHCA_MR_REG_PERSISTENT, .pages = 2,
		.addr.offset = 0x10, .iova = 0x7f0000000010, .length = 8000, .access = access } };
}

static struct xen_vhca_req mr_on(xen_vhca_handle_t pd, xen_vhca_handle_t umem, uint32_t access)
{
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_MR_REG, .u.mr_reg = { .pd = pd,
		.addr.umem = umem, .length = 8192, .access = access } };
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
	fixture_init(fix, false, NULL);
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

	fixture_init(&fix, false, NULL);
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

	fixture_init(&fix, false, NULL);
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

	fixture_init(&fix, false, NULL);
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
		CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, p.persistent) == XEN_VHCA_E_HANDLE);
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

	fixture_init(&fix, false, NULL);
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

/* Every command in one place: by its operation, or among those that do not exist. */
static void counters(void)
{
	struct vhca_counters *c;
	struct xen_vhca_req req;
	unsigned int op, status;
	uint64_t sum = 0;
	struct fixture fix;

	fixture_init(&fix, false, NULL);
	c = &fix.v.counters;
	for (op = 0; op < 256; op++) {
		req = (struct xen_vhca_req){ .op = op, .reserved0 = 1 };
		CHECK(fixture_do(&fix, &req));
	}
	CHECK(c->unknown == 256 - 31);
	for (op = 0; op < XEN_VHCA_OPS; op++)
		for (status = 0; status < XEN_VHCA_STATUSES; status++)
			sum += c->refused[op][status];
	CHECK(sum == 31 && c->refused[XEN_VHCA_OP_QP_CREATE][XEN_VHCA_E_RESERVED] == 1);
	fixture_fini(&fix);
}

/* Over each limit, once; what was refused is not counted as used. */
static void limits(void)
{
	struct quota quota;
	struct fixture_process p;
	struct fixture fix;
	unsigned int type;

	for (type = OBJ_CTX; type < OBJ_TYPES; type++) {
		quota_setup(&quota, NULL, NULL);
		quota.objects[type].limit = 0;
		fixture_init(&fix, false, &quota);
		CHECK(fixture_process(&fix, &p) == XEN_VHCA_E_LIMIT);
		if (p.ctx)
			CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
		CHECK(fixture_is_empty(&fix));
		fixture_fini(&fix);
	}
	quota_setup(&quota, NULL, NULL);
	quota.bytes.limit = 1502 * 4096;
	fixture_init(&fix, false, &quota);
	CHECK(fix.v.attr.max_mem_bytes == 1502 * 4096 && fix.v.attr.max_mr_size == 1502 * 4096);
	CHECK(fixture_process(&fix, &p) == XEN_VHCA_E_LIMIT && !p.inline_mr && p.mr);
	CHECK(fix.v.quota.bytes.used == 1500 * 4096);
	fixture_fini(&fix);
	quota.max_mr_bytes = 4096;
	fixture_init(&fix, false, &quota);
	CHECK(fix.v.attr.max_mem_bytes == 1502 * 4096 && fix.v.attr.max_mr_size == 4096);
	fixture_fini(&fix);
}

/* The frontend counts them, and asks only for one that is too many. */
static void address_handles(void)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_AH_CREATE };
	struct fixture_process p;
	struct fixture fix;

	fixture_init(&fix, false, NULL);
	CHECK(!fixture_process(&fix, &p));
	req.u.ah_create.ctx = p.ctx;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_LIMIT);
	CHECK(fix.v.counters.refused[XEN_VHCA_OP_AH_CREATE][XEN_VHCA_E_LIMIT] == 1);
	req.u.ah_create.ctx = p.pd;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_HANDLE);
	fixture_fini(&fix);
}

static enum xen_vhca_status mcast(struct fixture *fix, unsigned int op, xen_vhca_handle_t qp, uint8_t group)
{
	struct xen_vhca_req req = example_request(op);

	req.u.mcast.qp = qp;
	req.u.mcast.gid[15] = group;
	return fixture_do(fix, &req);
}

#define ATTACH XEN_VHCA_OP_MCAST_ATTACH
#define DETACH XEN_VHCA_OP_MCAST_DETACH

/* Few of a vHCA in one group, so that there is room for others; and not too many in all. */
static void multicast(void)
{
	struct fixture_process p[QUOTA_GROUP_QPS + 1];
	struct quota quota;
	struct fixture fix;
	unsigned int i;

	quota_setup(&quota, NULL, NULL);
	quota.mcast.limit = QUOTA_GROUP_QPS + 2;
	fixture_init(&fix, false, &quota);
	CHECK(fix.v.attr.max_mcast_qp_attach == QUOTA_GROUP_QPS);
	CHECK(fix.v.attr.max_mcast_grp == QUOTA_GROUP_QPS + 2);
	for (i = 0; i <= QUOTA_GROUP_QPS; i++) {
		CHECK(!fixture_process(&fix, &p[i]));
		CHECK(mcast(&fix, ATTACH, p[i].qp, 1) == (i < QUOTA_GROUP_QPS ? XEN_VHCA_OK : XEN_VHCA_E_LIMIT));
	}
	/* Who is in it is in it, and is counted once. */
	CHECK(!mcast(&fix, ATTACH, p[0].qp, 1) && fix.fake.members == QUOTA_GROUP_QPS);
	CHECK(!mcast(&fix, ATTACH, p[0].qp, 2) && !mcast(&fix, ATTACH, p[0].qp, 3));
	CHECK(mcast(&fix, ATTACH, p[0].qp, 4) == XEN_VHCA_E_LIMIT);
	CHECK(fix.v.quota.mcast.used == QUOTA_GROUP_QPS + 2 && fix.fake.members == QUOTA_GROUP_QPS + 2);
	/* Of a group that it is not in it cannot be taken; of others' groups neither. */
	CHECK(mcast(&fix, DETACH, p[0].qp, 4) == XEN_VHCA_E_ARG && mcast(&fix, DETACH, p[1].qp, 2) == XEN_VHCA_E_ARG);
	/* One that the HCA does not let go stays counted; one that it refuses is not. */
	fix.fake.fail_in = 1;
	CHECK(mcast(&fix, DETACH, p[0].qp, 1) == XEN_VHCA_E_NOMEM && fix.v.quota.mcast.used == QUOTA_GROUP_QPS + 2);
	CHECK(!mcast(&fix, DETACH, p[0].qp, 1));
	fix.fake.fail_in = 1;
	CHECK(mcast(&fix, ATTACH, p[0].qp, 1) == XEN_VHCA_E_NOMEM && fix.v.quota.mcast.used == QUOTA_GROUP_QPS + 1);
	/* Room again: for the one that had found none. */
	CHECK(!mcast(&fix, ATTACH, p[QUOTA_GROUP_QPS].qp, 1) && fix.v.quota.mcast.peak == QUOTA_GROUP_QPS + 2);
	/* A QP takes its places with it, and so does a context. */
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_QP_DESTROY, p[0].qp) && fix.v.quota.mcast.used == QUOTA_GROUP_QPS);
	for (i = 0; i <= QUOTA_GROUP_QPS; i++)
		CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p[i].ctx));
	CHECK(fixture_is_empty(&fix));
	fixture_fini(&fix);
}

/* The n-th thing that can fail on the way fails. Returns whether there was an n-th one. */
static bool failure(bool auto_translated, int hca, int shm)
{
	enum xen_vhca_status status;
	struct fixture_process p;
	struct fixture fix;

	fixture_init(&fix, auto_translated, NULL);
	fix.fake.fail_in = hca;
	fix.shm->fail_in = shm;
	status = fixture_process(&fix, &p);
	fix.fake.fail_in = 0;
	fix.shm->fail_in = 0;
	if (status && p.ctx)
		CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	if (!status)
		fixture_exit(&fix, &p);
	CHECK(fixture_is_empty(&fix));
	CHECK(!fixture_process(&fix, &p)); /* and it can be tried again */
	fixture_fini(&fix);
	return status;
}

static void failures(bool auto_translated)
{
	int n;

	for (n = 1; failure(auto_translated, n, 0); n++)
		;
	CHECK(n == 11);
	for (n = 1; failure(auto_translated, 0, n); n++)
		;
	CHECK(n == 6);
}

/* UARs are used again for this guest, and never go back to the HCA while the UAR pool exists. */
static void uars(void)
{
	struct fixture_process p, q;
	struct vhca *next;
	struct fixture fix;
	unsigned int i;

	fixture_init(&fix, true, NULL);
	for (i = 0; i < 20; i++) {
		CHECK(!fixture_process(&fix, &p));
		CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	}
	CHECK(fix.fake.uars == 1 && fix.table->count == 1);
	/* Each process at work has one of its own. */
	CHECK(!fixture_process(&fix, &p) && !fixture_process(&fix, &q));
	CHECK(fix.table->count == 2 && fix.table->entry[0].in_use && fix.table->entry[1].in_use);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx) && !fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, q.ctx));
	/* A worker dies with one in use, and while it gives the guest another; the next one takes both from it. */
	CHECK(!fixture_process(&fix, &p) && fix.shm->allowed == 1);
	CHECK(!fix.table->entry[1].in_use);
	fix.table->entry[1].allowed = 1;
	fix.shm->allowed++;
	next = calloc(1, sizeof(*next));
	CHECK(next && !vhca_init(next, &fix.fake.hca, &fix.shm->t, &fix.quota, fix.table));
	CHECK(!fix.shm->allowed && !fix.table->entry[0].in_use);
	vhca_fini(next);
	free(next);
	fix.shm->allowed++; /* what the dead one would have denied */
	fixture_fini(&fix);
}

static void gfns(void)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_UAR_ALLOC, .u.uar_alloc.ctx = 1 };
	struct fixture_process p;
	struct fixture fix;

	fixture_init(&fix, true, NULL);
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_ARG);
	/* One page at each place, as long as it is there; also if it could not be put there. */
	CHECK(!fixture_process(&fix, &p));
	req.u.uar_alloc.ctx = p.ctx;
	req.u.uar_alloc.gfn = fix.table->entry[0].gfn;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_ARG);
	req.u.uar_alloc.gfn = 0x777;
	fix.shm->fail_in = 1;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_HCA);
	CHECK(!fixture_do(&fix, &req));
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_ARG && fix.shm->allowed == 2);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	CHECK(!fixture_process(&fix, &p));
	req.u.uar_alloc.ctx = p.ctx;
	CHECK(!fixture_do(&fix, &req));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_UAR_FREE, fix.handle));
	CHECK(!fixture_do(&fix, &req));
	fixture_fini(&fix);
	fixture_init(&fix, false, NULL);
	req.u.uar_alloc.gfn = 5;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_ARG);
	fixture_fini(&fix);
}

int main(void)
{
	lifecycle(false);
	lifecycle(true);
	answers();
	in_use();
	handles();
	generations();
	umems();
	persistent_umems();
	persistent_without_pd();
	persistent_read_only();
	persistent_until_closed(false);
	persistent_until_closed(true);
	persistent_refused();
	own_umem();
	speed();
	counters();
	limits();
	address_handles();
	multicast();
	failures(false);
	failures(true);
	uars();
	gfns();
	return EXIT_SUCCESS;
}
