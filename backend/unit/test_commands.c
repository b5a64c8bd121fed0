// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_commands.c - the command layer: what works, what is refused and how, and that nothing is
 * left behind on any path.
 */
#include <string.h>

#include "shared-ring/unit/example.h"
#include "unit/fakes/rig.h"

static void lifecycle(bool auto_translated)
{
	struct rig_process p, q;
	struct rig rig;

	rig_init(&rig, auto_translated, NULL);
	CHECK(!rig_process(&rig, &p));
	CHECK(!rig_process(&rig, &q));
	CHECK(rig.v.quota.objects[OBJ_CTX].used == 2 && rig.shm->allowed == 2);
	CHECK(rig.v.quota.bytes.used == 2 * 1505 * 4096);
	rig_exit(&rig, &p);
	rig_exit(&rig, &q);
	CHECK(rig_is_empty(&rig));
	/* A context that is closed takes everything with it. */
	CHECK(!rig_process(&rig, &p));
	CHECK(!rig_object(&rig, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	CHECK(rig_is_empty(&rig));
	CHECK(rig_object(&rig, XEN_VHCA_OP_QP_DESTROY, p.qp) == XEN_VHCA_E_HANDLE);
	CHECK(rig_object(&rig, XEN_VHCA_OP_CTX_CLOSE, p.ctx) == XEN_VHCA_E_HANDLE);
	/* And a guest that vanishes. */
	CHECK(!rig_process(&rig, &p));
	rig_fini(&rig);
}

static void answers(void)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_DEVICE_QUERY };
	struct rig_process p;
	struct rig rig;

	rig_init(&rig, false, NULL);
	CHECK(!rig_do(&rig, &req) && rig.cmd->data == &rig.v.attr);
	CHECK(!vhca_check_device_attr(rig.cmd->data));
	CHECK(rig.v.attr.max_qp == 4096 && rig.v.attr.max_ctx == 128 && rig.v.attr.gids == 8);
	req.op = XEN_VHCA_OP_PORT_QUERY;
	CHECK(!rig_do(&rig, &req) && rig.cmd->rsp.u.port.lid == 3);
	req.op = XEN_VHCA_OP_GID_QUERY;
	req.u.index = (struct xen_vhca_index){ .index = 7 };
	CHECK(!rig_do(&rig, &req) && rig.cmd->rsp.u.gids.gid[0][15] == 7);
	req.u.index = (struct xen_vhca_index){ .index = 2, .more = 5 };
	CHECK(!rig_do(&rig, &req) && rig.cmd->rsp.u.gids.gid[5][15] == 7);
	req.op = XEN_VHCA_OP_PKEY_QUERY;
	req.u.index = (struct xen_vhca_index){ .more = XEN_VHCA_PKEYS - 1 };
	CHECK(!rig_do(&rig, &req) && rig.cmd->rsp.u.pkeys.pkey[0] == 0xffff);
	CHECK(rig.cmd->rsp.u.pkeys.pkey[1] == 0x8001);
	CHECK(rig.cmd->rsp.u.pkeys.pkey[XEN_VHCA_PKEYS - 1] == 0x8000 + XEN_VHCA_PKEYS - 1);
	rig.fake.fail_in = 3;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_DEAD && !vhca_check_response(&req, &rig.cmd->rsp));
	CHECK(!rig_process(&rig, &p));
	CHECK(!rig_object(&rig, XEN_VHCA_OP_QP_QUERY, p.qp) && rig.cmd->rsp.u.qp.attr.state == 1);
	CHECK(!rig_object(&rig, XEN_VHCA_OP_SRQ_QUERY, p.srq) && rig.cmd->rsp.u.srq.max_wr == 255);
	req = example_request(XEN_VHCA_OP_QP_MODIFY);
	req.u.qp_modify.qp = p.qp;
	CHECK(!rig_do(&rig, &req));
	req.u.qp_modify.attr.state = 3;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_HCA && rig.cmd->rsp.hca_errno == 22);
	rig_fini(&rig);
}

static void in_use(void)
{
	struct rig_process p;
	struct rig rig;

	rig_init(&rig, false, NULL);
	CHECK(!rig_process(&rig, &p));
	CHECK(rig_object(&rig, XEN_VHCA_OP_CQ_DESTROY, p.cq) == XEN_VHCA_E_BUSY);
	CHECK(rig_object(&rig, XEN_VHCA_OP_SRQ_DESTROY, p.srq) == XEN_VHCA_E_BUSY);
	CHECK(rig_object(&rig, XEN_VHCA_OP_PD_FREE, p.pd) == XEN_VHCA_E_BUSY);
	CHECK(rig_object(&rig, XEN_VHCA_OP_UMEM_DESTROY, p.umem) == XEN_VHCA_E_BUSY);
	CHECK(rig_object(&rig, XEN_VHCA_OP_UMEM_DESTROY, p.persistent) == XEN_VHCA_E_BUSY);
	CHECK(rig_object(&rig, XEN_VHCA_OP_UAR_FREE, p.uar) == XEN_VHCA_E_BUSY);
	rig_exit(&rig, &p);
	CHECK(rig_is_empty(&rig));
	rig_fini(&rig);
}

/* Forged, stale, of another type, of another process. */
static void handles(void)
{
	struct xen_vhca_req req;
	struct rig_process p, q;
	struct rig rig;
	uint32_t i;

	rig_init(&rig, false, NULL);
	CHECK(!rig_process(&rig, &p) && !rig_process(&rig, &q));
	CHECK(rig_object(&rig, XEN_VHCA_OP_QP_DESTROY, p.cq) == XEN_VHCA_E_HANDLE);
	for (i = 1; i; i <<= 1)
		CHECK(rig_object(&rig, XEN_VHCA_OP_QP_DESTROY, p.qp ^ i) == XEN_VHCA_E_HANDLE);
	CHECK(rig_object(&rig, XEN_VHCA_OP_UMEM_DESTROY, ~0u) == XEN_VHCA_E_HANDLE);
	CHECK(rig_object(&rig, XEN_VHCA_OP_UMEM_DESTROY, rig.v.handles.capacity) == XEN_VHCA_E_HANDLE);

	req = example_request(XEN_VHCA_OP_CQ_CREATE);
	req.u.cq_create.ctx = p.ctx;
	req.u.cq_create.uar = q.uar;
	req.u.cq_create.buf.umem = req.u.cq_create.dbr.umem = p.umem;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_CONTEXT);
	req.u.cq_create.uar = p.uar;
	req.u.cq_create.dbr.umem = q.umem;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_CONTEXT);

	req = example_request(XEN_VHCA_OP_QP_CREATE);
	req.u.qp_create.pd = p.pd;
	req.u.qp_create.uar = p.uar;
	req.u.qp_create.buf.umem = req.u.qp_create.dbr.umem = p.umem;
	req.u.qp_create.send_cq = p.cq;
	req.u.qp_create.recv_cq = q.cq;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_CONTEXT);
	req.u.qp_create.recv_cq = p.cq;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_OK);

	req = example_request(XEN_VHCA_OP_MR_REG);
	req.u.mr_reg.pd = p.pd;
	req.u.mr_reg.addr.umem = q.umem;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_CONTEXT);

	CHECK(rig.v.counters.refused[XEN_VHCA_OP_CQ_CREATE][XEN_VHCA_E_CONTEXT] == 2);
	CHECK(rig.v.counters.refused[XEN_VHCA_OP_QP_DESTROY][XEN_VHCA_E_HANDLE] == 33);
	rig_fini(&rig);
}

/* A handle does not come back soon. */
static void generations(void)
{
	enum { LIVES = 300 };
	xen_vhca_handle_t seen[LIVES];
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_PD_ALLOC };
	struct rig_process p;
	struct rig rig;
	unsigned int i, k;

	rig_init(&rig, false, NULL);
	CHECK(!rig_process(&rig, &p));
	req.u.pd_alloc.ctx = p.ctx;
	for (i = 0; i < LIVES; i++) {
		CHECK(!rig_do(&rig, &req));
		seen[i] = rig.handle;
		for (k = 0; k < i; k++)
			CHECK(seen[k] != seen[i]);
		CHECK(!rig_object(&rig, XEN_VHCA_OP_PD_FREE, seen[i]));
	}
	for (i = 0; i < LIVES; i++)
		CHECK(rig_object(&rig, XEN_VHCA_OP_PD_FREE, seen[i]) == XEN_VHCA_E_HANDLE);
	rig_fini(&rig);
}

static void umems(void)
{
	struct xen_vhca_req create = { .op = XEN_VHCA_OP_UMEM_CREATE };
	struct xen_vhca_req add = { .op = XEN_VHCA_OP_UMEM_ADD };
	struct xen_vhca_req reg = example_request(XEN_VHCA_OP_MR_REG);
	struct rig_process p;
	struct rig rig;

	rig_init(&rig, false, NULL);
	CHECK(!rig_process(&rig, &p));
	create.u.umem_create = (struct xen_vhca_umem_create){ .ctx = p.ctx, .pages = 1030,
		.flags = XEN_VHCA_UMEM_READ_ONLY };
	CHECK(!rig_do(&rig, &create));
	add.u.umem_add.umem = reg.u.mr_reg.addr.umem = rig.handle;
	reg.u.mr_reg.pd = p.pd;
	reg.u.mr_reg.access = XEN_VHCA_ACCESS_REMOTE_READ;
	CHECK(rig_do(&rig, &reg) == XEN_VHCA_E_STATE); /* pages are missing */
	add.u.umem_add.first = 1023;
	add.u.umem_add.count = 2;
	CHECK(rig_do(&rig, &add) == XEN_VHCA_E_COUNT); /* one has come before */
	add.u.umem_add.first = 1024;
	add.u.umem_add.count = 7;
	CHECK(rig_do(&rig, &add) == XEN_VHCA_E_COUNT); /* one too many */
	add.u.umem_add.count = 6;
	rig.refs[5] = SHM_PAGES;
	CHECK(rig_do(&rig, &add) == XEN_VHCA_E_GRANT && rig.shm->took_reservation);
	rig.refs[5] = 5;
	CHECK(rig_do(&rig, &add) == XEN_VHCA_OK); /* another try */
	CHECK(rig_do(&rig, &add) == XEN_VHCA_E_COUNT);
	reg.u.mr_reg.addr.offset = 1030 * 4096 - 5000;
	reg.u.mr_reg.iova = 0x7f0000000000 + (reg.u.mr_reg.addr.offset & 4095);
	CHECK(rig_do(&rig, &reg) == XEN_VHCA_OK);
	reg.u.mr_reg.length = 5001;
	CHECK(rig_do(&rig, &reg) == XEN_VHCA_E_RANGE);
	reg.u.mr_reg.access = XEN_VHCA_ACCESS_LOCAL_WRITE;
	reg.u.mr_reg.length = 1;
	CHECK(rig_do(&rig, &reg) == XEN_VHCA_E_ARG); /* read-only */
	CHECK(!rig_object(&rig, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	CHECK(rig_is_empty(&rig));
	rig_fini(&rig);
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

static struct usage usage_of(const struct rig *rig)
{
	const struct quota *q = &rig->v.quota;

	return (struct usage){ q->objects[OBJ_MR].used, q->objects[OBJ_UMEM].used, q->bytes.used,
		rig->fake.live };
}

/* A vHCA with one process. Returns what that uses. */
static struct usage start(struct rig *rig, struct rig_process *p)
{
	rig_init(rig, false, NULL);
	CHECK(!rig_process(rig, p));
	return usage_of(rig);
}

static bool grown(const struct rig *rig, const struct usage *since, int mrs, int umems)
{
	struct usage now = usage_of(rig);

	return now.mr == since->mr + mrs && now.live == since->live + mrs &&
	       now.umem == since->umem + umems && now.bytes == since->bytes + umems * 8192;
}

/* The umem outlives its MR, has others before and after that, and ends when it is told to. */
static void persistent_umems(void)
{
	xen_vhca_handle_t mr, umem, other;
	struct rig_process p, q;
	struct usage before;
	struct xen_vhca_req req;
	struct rig rig;

	rig_init(&rig, false, NULL);
	CHECK(!rig_process(&rig, &p) && !rig_process(&rig, &q));
	before = usage_of(&rig);
	req = persistent_mr(p.pd, 1);
	CHECK(!rig_do(&rig, &req));
	mr = rig.handle;
	umem = rig.cmd->rsp.u.mr.umem;
	CHECK(mr != umem && rig.cmd->rsp.u.mr.lkey && grown(&rig, &before, 1, 1));
	CHECK(rig_object(&rig, XEN_VHCA_OP_UMEM_DESTROY, mr) == XEN_VHCA_E_HANDLE);
	CHECK(rig_object(&rig, XEN_VHCA_OP_MR_DEREG, umem) == XEN_VHCA_E_HANDLE);
	CHECK(rig_object(&rig, XEN_VHCA_OP_UMEM_DESTROY, umem) == XEN_VHCA_E_BUSY);
	CHECK(rig_object(&rig, XEN_VHCA_OP_PD_FREE, p.pd) == XEN_VHCA_E_BUSY);
	req = mr_on(q.pd, umem, 1);
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_CONTEXT);
	req = mr_on(p.pd, umem, 7);
	CHECK(!rig_do(&rig, &req) && !rig.cmd->rsp.u.mr.umem);
	other = rig.handle;
	CHECK(grown(&rig, &before, 2, 1));
	CHECK(!rig_object(&rig, XEN_VHCA_OP_MR_DEREG, mr));
	CHECK(grown(&rig, &before, 1, 1));
	CHECK(rig_object(&rig, XEN_VHCA_OP_UMEM_DESTROY, umem) == XEN_VHCA_E_BUSY);
	CHECK(!rig_object(&rig, XEN_VHCA_OP_MR_DEREG, other));
	CHECK(grown(&rig, &before, 0, 1));
	CHECK(!rig_do(&rig, &req)); /* as often as one wants */
	CHECK(!rig_object(&rig, XEN_VHCA_OP_MR_DEREG, rig.handle));
	req.u.mr_reg.length++;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_RANGE);
	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_UMEM_ADD,
		.u.umem_add = { .umem = umem, .first = 1, .count = 1 } };
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_COUNT); /* it has all its pages */
	CHECK(!rig_object(&rig, XEN_VHCA_OP_UMEM_DESTROY, umem));
	CHECK(grown(&rig, &before, 0, 0));
	CHECK(rig_object(&rig, XEN_VHCA_OP_UMEM_DESTROY, umem) == XEN_VHCA_E_HANDLE);
	rig_fini(&rig);
}

/* It needs nothing but its context: the PD may go before it. */
static void persistent_without_pd(void)
{
	struct xen_vhca_req alloc = { .op = XEN_VHCA_OP_PD_ALLOC }, req;
	xen_vhca_handle_t umem, pd;
	struct rig_process p;
	struct usage before;
	struct rig rig;

	before = start(&rig, &p);
	alloc.u.pd_alloc.ctx = p.ctx;
	CHECK(!rig_do(&rig, &alloc));
	pd = rig.handle;
	req = persistent_mr(pd, 1);
	CHECK(!rig_do(&rig, &req));
	umem = rig.cmd->rsp.u.mr.umem;
	CHECK(!rig_object(&rig, XEN_VHCA_OP_MR_DEREG, rig.handle));
	CHECK(!rig_object(&rig, XEN_VHCA_OP_PD_FREE, pd));
	req = mr_on(p.pd, umem, 1);
	CHECK(!rig_do(&rig, &req));
	CHECK(!rig_object(&rig, XEN_VHCA_OP_MR_DEREG, rig.handle));
	CHECK(!rig_object(&rig, XEN_VHCA_OP_UMEM_DESTROY, umem));
	CHECK(grown(&rig, &before, 0, 0));
	rig_fini(&rig);
}

/* The grants of a registration that writes nothing are read-only, and so they stay. */
static void persistent_read_only(void)
{
	struct xen_vhca_req req;
	xen_vhca_handle_t umem;
	struct rig_process p;
	struct rig rig;

	rig_init(&rig, false, NULL);
	CHECK(!rig_process(&rig, &p));
	req = persistent_mr(p.pd, XEN_VHCA_ACCESS_REMOTE_READ);
	CHECK(!rig_do(&rig, &req));
	umem = rig.cmd->rsp.u.mr.umem;
	req = mr_on(p.pd, umem, XEN_VHCA_ACCESS_LOCAL_WRITE);
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_ARG);
	req = mr_on(p.pd, umem, 0);
	CHECK(!rig_do(&rig, &req));
	CHECK(!rig_object(&rig, XEN_VHCA_OP_CTX_CLOSE, p.ctx)); /* with both MRs on it */
	CHECK(rig_is_empty(&rig));
	rig_fini(&rig);
}

/* Umems that nobody uses at the moment, and one that is used: CTX_CLOSE, or the guest's end. */
static void persistent_until_closed(bool vanish)
{
	struct xen_vhca_req req;
	struct rig_process p;
	struct rig rig;
	unsigned int i;

	rig_init(&rig, false, NULL);
	CHECK(!rig_process(&rig, &p));
	req = persistent_mr(p.pd, 1);
	for (i = 0; i < 5; i++) {
		CHECK(!rig_do(&rig, &req));
		if (i)
			CHECK(!rig_object(&rig, XEN_VHCA_OP_MR_DEREG, rig.handle));
	}
	if (!vanish) {
		CHECK(!rig_object(&rig, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
		CHECK(rig_is_empty(&rig));
		CHECK(rig_object(&rig, XEN_VHCA_OP_UMEM_DESTROY, p.persistent) == XEN_VHCA_E_HANDLE);
	}
	rig_fini(&rig);
}

/* Over each limit, and by each thing that can fail: nothing is left, and the next one works. */
static void persistent_refused(void)
{
	struct xen_vhca_req req;
	struct rig_process p;
	struct usage before;
	struct rig rig;

	before = start(&rig, &p);
	req = persistent_mr(p.pd, 1);
	rig.v.quota.objects[OBJ_MR].limit = before.mr;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_LIMIT && grown(&rig, &before, 0, 0));
	rig.v.quota.objects[OBJ_MR].limit++;
	rig.v.quota.objects[OBJ_UMEM].limit = before.umem;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_LIMIT && grown(&rig, &before, 0, 0));
	rig.v.quota.objects[OBJ_UMEM].limit++;
	rig.v.quota.bytes.limit = before.bytes + 8191;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_LIMIT && grown(&rig, &before, 0, 0));
	rig.v.quota.bytes.limit++;
	rig.shm->fail_in = 1;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_NOMEM && grown(&rig, &before, 0, 0));
	rig.refs[1] = SHM_PAGES;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_GRANT && grown(&rig, &before, 0, 0));
	rig.refs[1] = 17;
	rig.fake.fail_in = 1;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_NOMEM && grown(&rig, &before, 0, 0));
	req.u.mr_reg.flags = XEN_VHCA_MR_REG_PERSISTENT;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_ARG && grown(&rig, &before, 0, 0));
	req = persistent_mr(p.pd, 1);
	CHECK(!rig_do(&rig, &req) && grown(&rig, &before, 1, 1));
	CHECK(!rig_object(&rig, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	CHECK(rig_is_empty(&rig));
	rig_fini(&rig);
}

static bool undo_is_slow(struct rig *rig, unsigned int op, xen_vhca_handle_t handle)
{
	struct xen_vhca_req req = { .op = op, .u.object.handle = handle };

	return cmd_is_slow(&rig->v, &req);
}

/* Makes it, says whether it has to be slow to make, and to undo; and undoes it. */
static void check_mr_speed(struct rig *rig, struct xen_vhca_req req, bool make, bool dereg,
			   bool destroy)
{
	xen_vhca_handle_t mr, umem;

	CHECK(cmd_is_slow(&rig->v, &req) == make);
	CHECK(!rig_do(rig, &req));
	mr = rig->handle;
	umem = rig->cmd->rsp.u.mr.umem;
	CHECK(undo_is_slow(rig, XEN_VHCA_OP_MR_DEREG, mr) == dereg);
	CHECK(!undo_is_slow(rig, XEN_VHCA_OP_UMEM_DESTROY, mr));
	CHECK(!rig_object(rig, XEN_VHCA_OP_MR_DEREG, mr));
	CHECK(!undo_is_slow(rig, XEN_VHCA_OP_MR_DEREG, mr));
	CHECK(undo_is_slow(rig, XEN_VHCA_OP_UMEM_DESTROY, umem) == destroy);
	if (umem)
		CHECK(!rig_object(rig, XEN_VHCA_OP_UMEM_DESTROY, umem));
}

/* What goes to the pool of threads: mapping and unmapping 64 pages, registering 1 MiB, and back. */
static void speed(void)
{
	struct xen_vhca_req req, large;
	struct rig_process p;
	struct rig rig;

	rig_init(&rig, false, NULL);
	CHECK(!rig_process(&rig, &p));
	req = persistent_mr(p.pd, 1);
	req.u.mr_reg.pages = 63;
	check_mr_speed(&rig, req, false, false, false);
	req.u.mr_reg.pages = 64;
	check_mr_speed(&rig, req, true, false, true);
	req.u.mr_reg.flags = XEN_VHCA_MR_REG_INLINE;
	check_mr_speed(&rig, req, true, true, false);
	req.u.mr_reg.pages = 63;
	check_mr_speed(&rig, req, false, false, false);
	large = mr_on(p.pd, p.umem, 1); /* of 1500 pages */
	large.u.mr_reg.length = (1 << 20) - 1;
	check_mr_speed(&rig, large, false, false, false);
	large.u.mr_reg.length++;
	check_mr_speed(&rig, large, true, true, false);
	CHECK(undo_is_slow(&rig, XEN_VHCA_OP_UMEM_DESTROY, p.umem));
	CHECK(!undo_is_slow(&rig, XEN_VHCA_OP_MR_DEREG, p.umem));
	CHECK(!undo_is_slow(&rig, XEN_VHCA_OP_UMEM_DESTROY, 0));
	CHECK(!undo_is_slow(&rig, XEN_VHCA_OP_UMEM_DESTROY, ~0u));
	CHECK(undo_is_slow(&rig, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	CHECK(!undo_is_slow(&rig, XEN_VHCA_OP_QP_DESTROY, p.qp));
	CHECK(!undo_is_slow(&rig, 255, p.qp));
	rig_fini(&rig);
}

/* The umem of a registration that keeps none has no handle, whatever the guest guesses. */
static void own_umem(void)
{
	struct rig_process p;
	struct usage before;
	struct rig rig;
	uint32_t i;

	before = start(&rig, &p);
	for (i = 0; i < 64; i++) {
		if (i == p.umem || i == p.persistent)
			continue;
		CHECK(rig_object(&rig, XEN_VHCA_OP_UMEM_DESTROY, i) == XEN_VHCA_E_HANDLE);
	}
	CHECK(grown(&rig, &before, 0, 0));
	CHECK(!rig_object(&rig, XEN_VHCA_OP_MR_DEREG, p.inline_mr));
	CHECK(usage_of(&rig).umem == before.umem - 1);
	CHECK(usage_of(&rig).bytes == before.bytes - 3 * 4096);
	rig_fini(&rig);
}

/* Every command in one place: by its operation, or among those that do not exist. */
static void counters(void)
{
	struct vhca_counters *c;
	struct xen_vhca_req req;
	unsigned int op, status;
	uint64_t sum = 0;
	struct rig rig;

	rig_init(&rig, false, NULL);
	c = &rig.v.counters;
	for (op = 0; op < 256; op++) {
		req = (struct xen_vhca_req){ .op = op, .reserved0 = 1 };
		CHECK(rig_do(&rig, &req));
	}
	CHECK(c->unknown == 256 - 31);
	for (op = 0; op < XEN_VHCA_OPS; op++)
		for (status = 0; status < XEN_VHCA_STATUSES; status++)
			sum += c->refused[op][status];
	CHECK(sum == 31 && c->refused[XEN_VHCA_OP_QP_CREATE][XEN_VHCA_E_RESERVED] == 1);
	rig_fini(&rig);
}

/* Over each limit, once; what was refused is not counted as used. */
static void limits(void)
{
	struct quota quota;
	struct rig_process p;
	struct rig rig;
	unsigned int type;

	for (type = OBJ_CTX; type < OBJ_TYPES; type++) {
		quota_setup(&quota, NULL, NULL);
		quota.objects[type].limit = 0;
		rig_init(&rig, false, &quota);
		CHECK(rig_process(&rig, &p) == XEN_VHCA_E_LIMIT);
		if (p.ctx)
			CHECK(!rig_object(&rig, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
		CHECK(rig_is_empty(&rig));
		rig_fini(&rig);
	}
	quota_setup(&quota, NULL, NULL);
	quota.bytes.limit = 1502 * 4096;
	rig_init(&rig, false, &quota);
	CHECK(rig.v.attr.max_mem_bytes == 1502 * 4096 && rig.v.attr.max_mr_size == 1502 * 4096);
	CHECK(rig_process(&rig, &p) == XEN_VHCA_E_LIMIT && !p.inline_mr && p.mr);
	CHECK(rig.v.quota.bytes.used == 1500 * 4096);
	rig_fini(&rig);
	quota.max_mr_bytes = 4096;
	rig_init(&rig, false, &quota);
	CHECK(rig.v.attr.max_mem_bytes == 1502 * 4096 && rig.v.attr.max_mr_size == 4096);
	rig_fini(&rig);
}

/* The frontend counts them, and asks only for one that is too many. */
static void address_handles(void)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_AH_CREATE };
	struct rig_process p;
	struct rig rig;

	rig_init(&rig, false, NULL);
	CHECK(!rig_process(&rig, &p));
	req.u.ah_create.ctx = p.ctx;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_LIMIT);
	CHECK(rig.v.counters.refused[XEN_VHCA_OP_AH_CREATE][XEN_VHCA_E_LIMIT] == 1);
	req.u.ah_create.ctx = p.pd;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_HANDLE);
	rig_fini(&rig);
}

static enum xen_vhca_status mcast(struct rig *rig, unsigned int op, xen_vhca_handle_t qp, uint8_t group)
{
	struct xen_vhca_req req = example_request(op);

	req.u.mcast.qp = qp;
	req.u.mcast.gid[15] = group;
	return rig_do(rig, &req);
}

#define ATTACH XEN_VHCA_OP_MCAST_ATTACH
#define DETACH XEN_VHCA_OP_MCAST_DETACH

/* Few of a vHCA in one group, so that there is room for others; and not too many in all. */
static void multicast(void)
{
	struct rig_process p[QUOTA_GROUP_QPS + 1];
	struct quota quota;
	struct rig rig;
	unsigned int i;

	quota_setup(&quota, NULL, NULL);
	quota.mcast.limit = QUOTA_GROUP_QPS + 2;
	rig_init(&rig, false, &quota);
	CHECK(rig.v.attr.max_mcast_qp_attach == QUOTA_GROUP_QPS);
	CHECK(rig.v.attr.max_mcast_grp == QUOTA_GROUP_QPS + 2);
	for (i = 0; i <= QUOTA_GROUP_QPS; i++) {
		CHECK(!rig_process(&rig, &p[i]));
		CHECK(mcast(&rig, ATTACH, p[i].qp, 1) == (i < QUOTA_GROUP_QPS ? XEN_VHCA_OK : XEN_VHCA_E_LIMIT));
	}
	/* Who is in it is in it, and is counted once. */
	CHECK(!mcast(&rig, ATTACH, p[0].qp, 1) && rig.fake.members == QUOTA_GROUP_QPS);
	CHECK(!mcast(&rig, ATTACH, p[0].qp, 2) && !mcast(&rig, ATTACH, p[0].qp, 3));
	CHECK(mcast(&rig, ATTACH, p[0].qp, 4) == XEN_VHCA_E_LIMIT);
	CHECK(rig.v.quota.mcast.used == QUOTA_GROUP_QPS + 2 && rig.fake.members == QUOTA_GROUP_QPS + 2);
	/* Of a group that it is not in it cannot be taken; of others' groups neither. */
	CHECK(mcast(&rig, DETACH, p[0].qp, 4) == XEN_VHCA_E_ARG && mcast(&rig, DETACH, p[1].qp, 2) == XEN_VHCA_E_ARG);
	/* One that the HCA does not let go stays counted; one that it refuses is not. */
	rig.fake.fail_in = 1;
	CHECK(mcast(&rig, DETACH, p[0].qp, 1) == XEN_VHCA_E_NOMEM && rig.v.quota.mcast.used == QUOTA_GROUP_QPS + 2);
	CHECK(!mcast(&rig, DETACH, p[0].qp, 1));
	rig.fake.fail_in = 1;
	CHECK(mcast(&rig, ATTACH, p[0].qp, 1) == XEN_VHCA_E_NOMEM && rig.v.quota.mcast.used == QUOTA_GROUP_QPS + 1);
	/* Room again: for the one that had found none. */
	CHECK(!mcast(&rig, ATTACH, p[QUOTA_GROUP_QPS].qp, 1) && rig.v.quota.mcast.peak == QUOTA_GROUP_QPS + 2);
	/* A QP takes its places with it, and so does a context. */
	CHECK(!rig_object(&rig, XEN_VHCA_OP_QP_DESTROY, p[0].qp) && rig.v.quota.mcast.used == QUOTA_GROUP_QPS);
	for (i = 0; i <= QUOTA_GROUP_QPS; i++)
		CHECK(!rig_object(&rig, XEN_VHCA_OP_CTX_CLOSE, p[i].ctx));
	CHECK(rig_is_empty(&rig));
	rig_fini(&rig);
}

/* The n-th thing that can fail on the way fails. Returns whether there was an n-th one. */
static bool failure(bool auto_translated, int hca, int shm)
{
	enum xen_vhca_status status;
	struct rig_process p;
	struct rig rig;

	rig_init(&rig, auto_translated, NULL);
	rig.fake.fail_in = hca;
	rig.shm->fail_in = shm;
	status = rig_process(&rig, &p);
	rig.fake.fail_in = 0;
	rig.shm->fail_in = 0;
	if (status && p.ctx)
		CHECK(!rig_object(&rig, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	if (!status)
		rig_exit(&rig, &p);
	CHECK(rig_is_empty(&rig));
	CHECK(!rig_process(&rig, &p)); /* and it can be tried again */
	rig_fini(&rig);
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
	struct rig_process p, q;
	struct vhca *next;
	struct rig rig;
	unsigned int i;

	rig_init(&rig, true, NULL);
	for (i = 0; i < 20; i++) {
		CHECK(!rig_process(&rig, &p));
		CHECK(!rig_object(&rig, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	}
	CHECK(rig.fake.uars == 1 && rig.table->count == 1);
	/* Each process at work has one of its own. */
	CHECK(!rig_process(&rig, &p) && !rig_process(&rig, &q));
	CHECK(rig.table->count == 2 && rig.table->entry[0].in_use && rig.table->entry[1].in_use);
	CHECK(!rig_object(&rig, XEN_VHCA_OP_CTX_CLOSE, p.ctx) && !rig_object(&rig, XEN_VHCA_OP_CTX_CLOSE, q.ctx));
	/* A worker dies with one in use, and while it gives the guest another; the next one takes both from it. */
	CHECK(!rig_process(&rig, &p) && rig.shm->allowed == 1);
	CHECK(!rig.table->entry[1].in_use);
	rig.table->entry[1].allowed = 1;
	rig.shm->allowed++;
	next = calloc(1, sizeof(*next));
	CHECK(next && !vhca_init(next, &rig.fake.hca, &rig.shm->t, &rig.quota, rig.table));
	CHECK(!rig.shm->allowed && !rig.table->entry[0].in_use);
	vhca_fini(next);
	free(next);
	rig.shm->allowed++; /* what the dead one would have denied */
	rig_fini(&rig);
}

static void gfns(void)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_UAR_ALLOC, .u.uar_alloc.ctx = 1 };
	struct rig_process p;
	struct rig rig;

	rig_init(&rig, true, NULL);
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_ARG);
	/* One page at each place, as long as it is there; also if it could not be put there. */
	CHECK(!rig_process(&rig, &p));
	req.u.uar_alloc.ctx = p.ctx;
	req.u.uar_alloc.gfn = rig.table->entry[0].gfn;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_ARG);
	req.u.uar_alloc.gfn = 0x777;
	rig.shm->fail_in = 1;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_HCA);
	CHECK(!rig_do(&rig, &req));
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_ARG && rig.shm->allowed == 2);
	CHECK(!rig_object(&rig, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	CHECK(!rig_process(&rig, &p));
	req.u.uar_alloc.ctx = p.ctx;
	CHECK(!rig_do(&rig, &req));
	CHECK(!rig_object(&rig, XEN_VHCA_OP_UAR_FREE, rig.handle));
	CHECK(!rig_do(&rig, &req));
	rig_fini(&rig);
	rig_init(&rig, false, NULL);
	req.u.uar_alloc.gfn = 5;
	CHECK(rig_do(&rig, &req) == XEN_VHCA_E_ARG);
	rig_fini(&rig);
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
