// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_commands.c - the command layer: what works, what is refused and how, and that nothing is
 * left behind on any path.
 */
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
	req.op = XEN_VHCA_OP_CLOCK_QUERY;
	CHECK(!fixture_do(&fix, &req) && fix.cmd->rsp.u.clock.ticks == FAKE_TICKS);
	fix.fake.fail_in = 1;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_UNSUPPORTED &&
	      !vhca_check_response(&req, &fix.cmd->rsp));
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
	CHECK(pkeys_parse("0+2", &fix.v.pkeys) && !fixture_do(&fix, &req));
	CHECK(fix.cmd->rsp.u.pkeys.pkey[0] == 0xffff && !fix.cmd->rsp.u.pkeys.pkey[1]);
	CHECK(fix.cmd->rsp.u.pkeys.pkey[2] == 0x8002 &&
	      !fix.cmd->rsp.u.pkeys.pkey[XEN_VHCA_PKEYS - 1]);
	fix.v.pkeys.given = false;
	fix.fake.fail_in = 3;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_DEAD &&
	      !vhca_check_response(&req, &fix.cmd->rsp));
	CHECK(!fixture_process(&fix, &p));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_QP_QUERY, p.qp) &&
	      fix.cmd->rsp.u.qp.attr.state == 1);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_SRQ_QUERY, p.srq) &&
	      fix.cmd->rsp.u.srq.max_wr == 255);
	req = example_request(XEN_VHCA_OP_QP_MODIFY);
	req.u.qp_modify.qp = p.qp;
	CHECK(!fixture_do(&fix, &req));
	CHECK(pkeys_parse("1", &fix.v.pkeys) && fixture_do(&fix, &req) == XEN_VHCA_OK);
	req.u.qp_modify.mask |= 1 << 4;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_ARG);
	req.u.qp_modify.attr.pkey_index = 1;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_OK);
	req.u.qp_modify.mask |= 1 << 14;
	req.u.qp_modify.attr.alt_av = req.u.qp_modify.attr.av;
	req.u.qp_modify.attr.alt_port = 1;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_ARG);
	req.u.qp_modify.attr.alt_pkey_index = 1;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_OK);
	fix.v.pkeys.given = false;
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
	CHECK(fixture_object(&fix, XEN_VHCA_OP_UMEM_DESTROY, fix.v.handles.capacity) ==
	      XEN_VHCA_E_HANDLE);

	req = example_request(XEN_VHCA_OP_CQ_CREATE);
	req.u.cq_create.ctx = p.ctx;
	req.u.cq_create.uar = q.uar;
	req.u.cq_create.buf.umem = req.u.cq_create.dbr.umem = p.umem;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_CONTEXT);
	req.u.cq_create.uar = p.uar;
	req.u.cq_create.dbr.umem = q.umem;
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_CONTEXT);
	req.u.cq_create.dbr.umem = p.umem;
	req.u.cq_create.flags = XEN_VHCA_CQ_TIMESTAMPS;
	CHECK(!fixture_do(&fix, &req) && fix.fake.cq_flags == XEN_VHCA_CQ_TIMESTAMPS);

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

static void name_cqs(struct xen_vhca_req *req, uint32_t send, uint32_t recv)
{
	req->u.qp_create.flags = XEN_VHCA_QP_SEND_CQ_LABEL | XEN_VHCA_QP_RECV_CQ_LABEL;
	req->u.qp_create.send_cq = send;
	req->u.qp_create.recv_cq = recv;
}

static enum xen_vhca_status make_labelled(struct fixture *fix, struct xen_vhca_req *req,
					  uint32_t label)
{
	req->u.cq_create.label = label;
	return fixture_do(fix, req);
}

/* Which CQ is this to the HCA? */
static uint32_t hca_id(struct fixture *fix, xen_vhca_handle_t cq)
{
	return handle_find(&fix->v.handles, cq, OBJ_CQ)->hca_id;
}

/* CQs by label: unknown, of a CQ that was refused, of another process, destroyed, given twice, forgotten. */
static void labels(void)
{
	struct xen_vhca_req cq = example_request(XEN_VHCA_OP_CQ_CREATE), other;
	struct xen_vhca_req qp = example_request(XEN_VHCA_OP_QP_CREATE);
	xen_vhca_handle_t first, second, made;
	struct fixture_process p, q;
	struct fixture fix;

	fixture_init(&fix, false, NULL);
	CHECK(!fixture_process(&fix, &p) && !fixture_process(&fix, &q));
	cq.u.cq_create.ctx = p.ctx;
	cq.u.cq_create.uar = p.uar;
	cq.u.cq_create.buf.umem = cq.u.cq_create.dbr.umem = p.umem;
	other = cq;
	other.u.cq_create.ctx = q.ctx;
	other.u.cq_create.uar = q.uar;
	other.u.cq_create.buf.umem = other.u.cq_create.dbr.umem = q.umem;
	qp.u.qp_create.pd = p.pd;
	qp.u.qp_create.uar = p.uar;
	qp.u.qp_create.buf.umem = qp.u.qp_create.dbr.umem = p.umem;

	name_cqs(&qp, 1, 1);
	CHECK(fixture_do(&fix, &qp) == XEN_VHCA_E_HANDLE);
	name_cqs(&qp, p.cq, p.cq);
	CHECK(fixture_do(&fix, &qp) == XEN_VHCA_E_HANDLE);
	fix.fake.fail_in = 1;
	CHECK(make_labelled(&fix, &cq, 1));
	CHECK(!make_labelled(&fix, &other, 1));
	name_cqs(&qp, 1, 1);
	CHECK(fixture_do(&fix, &qp) == XEN_VHCA_E_HANDLE);

	CHECK(!make_labelled(&fix, &cq, 1));
	first = fix.handle;
	CHECK(!make_labelled(&fix, &cq, 2));
	second = fix.handle;
	name_cqs(&qp, 1, 2);
	CHECK(!fixture_do(&fix, &qp));
	made = fix.handle;
	CHECK(fix.fake.send_cq == hca_id(&fix, first) && fix.fake.recv_cq == hca_id(&fix, second));
	CHECK(fixture_object(&fix, XEN_VHCA_OP_CQ_DESTROY, first) == XEN_VHCA_E_BUSY);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_QP_DESTROY, made));
	name_cqs(&qp, 2, p.cq);
	qp.u.qp_create.flags = XEN_VHCA_QP_SEND_CQ_LABEL;
	CHECK(!fixture_do(&fix, &qp) && fix.fake.recv_cq == hca_id(&fix, p.cq));

	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CQ_DESTROY, first));
	name_cqs(&qp, 2, 1);
	CHECK(fixture_do(&fix, &qp) == XEN_VHCA_E_HANDLE);
	CHECK(!make_labelled(&fix, &cq, 2));
	name_cqs(&qp, 2, 2);
	CHECK(!fixture_do(&fix, &qp) && fix.fake.send_cq != hca_id(&fix, second));
	CHECK(!fix.fake.block_loopback);
	qp.u.qp_create.flags |= XEN_VHCA_QP_BLOCK_LOOPBACK;
	qp.u.qp_create.type = XEN_VHCA_QPT_UD;
	CHECK(!fixture_do(&fix, &qp) && fix.fake.block_loopback);
	CHECK(!make_labelled(&fix, &cq, 0) && !make_labelled(&fix, &cq, 4));
	CHECK(!fixture_do(&fix, &qp));
	CHECK(!make_labelled(&fix, &cq, 5));
	CHECK(fixture_do(&fix, &qp) == XEN_VHCA_E_HANDLE);
	fixture_fini(&fix);
}

static enum xen_vhca_status make_target(struct fixture *fix, xen_vhca_handle_t domain)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_QP_CREATE };

	req.u.qp_create.pd = domain;
	req.u.qp_create.type = XEN_VHCA_QPT_XRC_TGT;
	return fixture_do(fix, &req);
}

/* An XRC domain: SRQs of two processes, targets, QPs that send; what is refused, and what outlives what. */
static void xrc(void)
{
	struct xen_vhca_req open = { .op = XEN_VHCA_OP_CTX_OPEN }, srq, qp;
	xen_vhca_handle_t domain, other, first, target;
	struct fixture_process p, q;
	struct fixture fix;
	unsigned int live;
	uint64_t inode;

	fixture_init(&fix, false, NULL);
	fixture_events(&fix);
	CHECK(!fixture_process(&fix, &p) && !fixture_process(&fix, &q));
	open.u.ctx_open.flags = XEN_VHCA_CTX_XRCD;
	fix.fake.hca.xrc = false;
	CHECK(fixture_do(&fix, &open) == XEN_VHCA_E_UNSUPPORTED);
	CHECK(make_target(&fix, p.ctx) == XEN_VHCA_E_UNSUPPORTED);
	fix.fake.hca.xrc = true;
	live = fix.fake.live;
	fix.fake.fail_in = 2; /* the first is the context */
	CHECK(fixture_do(&fix, &open) == XEN_VHCA_E_NOMEM && fix.fake.live == live);
	CHECK(!fixture_do(&fix, &open));
	domain = fix.handle;
	inode = fix.fake.domain;
	CHECK(!fixture_do(&fix, &open) && fix.fake.domain != inode);
	other = fix.handle;

	srq = example_request(XEN_VHCA_OP_SRQ_CREATE);
	srq.u.srq_create.pd = p.pd;
	srq.u.srq_create.buf.umem = srq.u.srq_create.dbr.umem = p.umem;
	srq.u.srq_create.cq = q.cq;
	srq.u.srq_create.xrcd = domain;
	CHECK(fixture_do(&fix, &srq) == XEN_VHCA_E_CONTEXT);
	srq.u.srq_create.cq = p.cq;
	srq.u.srq_create.xrcd = p.ctx;
	CHECK(fixture_do(&fix, &srq) == XEN_VHCA_E_HANDLE);
	srq.u.srq_create.xrcd = ~0u;
	CHECK(fixture_do(&fix, &srq) == XEN_VHCA_E_HANDLE);
	srq.u.srq_create.xrcd = domain;
	live = fix.fake.live;
	fix.fake.fail_in = 1;
	CHECK(fixture_do(&fix, &srq) == XEN_VHCA_E_NOMEM);
	fix.fake.fail_in = 2;
	CHECK(fixture_do(&fix, &srq) == XEN_VHCA_E_NOMEM && fix.fake.live == live);
	CHECK(!fixture_do(&fix, &srq) && fix.fake.domain == inode && fix.fake.live == live + 2);
	first = fix.handle;
	CHECK(fixture_object(&fix, XEN_VHCA_OP_CQ_DESTROY, p.cq) == XEN_VHCA_E_BUSY);
	srq.u.srq_create.pd = q.pd;
	srq.u.srq_create.buf.umem = srq.u.srq_create.dbr.umem = q.umem;
	srq.u.srq_create.cq = q.cq;
	CHECK(!fixture_do(&fix, &srq) && fix.fake.domain == inode);

	CHECK(make_target(&fix, p.ctx) == XEN_VHCA_E_HANDLE);
	CHECK(make_target(&fix, ~0u) == XEN_VHCA_E_HANDLE);
	CHECK(!make_target(&fix, domain));
	target = fix.handle;
	CHECK(!make_target(&fix, other));
	qp = example_request(XEN_VHCA_OP_QP_CREATE);
	qp.u.qp_create.type = XEN_VHCA_QPT_XRC_INI;
	qp.u.qp_create.pd = p.pd;
	qp.u.qp_create.uar = p.uar;
	qp.u.qp_create.send_cq = p.cq;
	qp.u.qp_create.recv_cq = 0;
	qp.u.qp_create.rq_wqe_count = qp.u.qp_create.rq_wqe_shift = 0;
	qp.u.qp_create.max_recv_wr = 0;
	qp.u.qp_create.buf.umem = qp.u.qp_create.dbr.umem = p.umem;
	CHECK(!fixture_do(&fix, &qp));

	CHECK(!fixture_object(&fix, XEN_VHCA_OP_QP_DESTROY, target));
	CHECK(!make_target(&fix, domain));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, domain));
	CHECK(make_target(&fix, domain) == XEN_VHCA_E_HANDLE);
	CHECK(fixture_do(&fix, &srq) == XEN_VHCA_E_HANDLE);
	live = fix.fake.live;
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_SRQ_DESTROY, first) && fix.fake.live == live - 2);
	fixture_close_all(&fix);
	CHECK(fixture_is_empty(&fix));
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
		req = (struct xen_vhca_req){ .op = op, .flags = 1u << 2 };
		CHECK(fixture_do(&fix, &req));
	}
	CHECK(c->unknown == 256 - 40);
	for (op = 0; op < XEN_VHCA_OPS; op++)
		for (status = 0; status < XEN_VHCA_STATUSES; status++)
			sum += c->refused[op][status];
	CHECK(sum == 40 && c->refused[XEN_VHCA_OP_QP_CREATE][XEN_VHCA_E_RESERVED] == 1);
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
/* Entries of a window are passed on. They do not count: a window is one. */
static void windows(void)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_MW_ALLOC };
	struct fixture_process p;
	struct fixture fix;

	fixture_init(&fix, false, NULL);
	CHECK(!fixture_process(&fix, &p));
	req.u.mw_alloc = (struct xen_vhca_mw_alloc){ .pd = p.pd, .type = 2 };
	CHECK(!fixture_do(&fix, &req));
	CHECK(!(fix.cmd->rsp.u.mr.rkey & 0xff));
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_MW_FREE, fix.handle));
	req.u.mw_alloc.entries = XEN_VHCA_MAX_MW_ENTRIES;
	CHECK(!fixture_do(&fix, &req));
	CHECK((fix.cmd->rsp.u.mr.rkey & 0xff) == XEN_VHCA_MAX_MW_ENTRIES);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_MW_FREE, fix.handle));
	fixture_fini(&fix);
}

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

static enum xen_vhca_status mcast(struct fixture *fix, unsigned int op, xen_vhca_handle_t qp,
				  uint8_t group)
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
		CHECK(mcast(&fix, ATTACH, p[i].qp, 1) ==
		      (i < QUOTA_GROUP_QPS ? XEN_VHCA_OK : XEN_VHCA_E_LIMIT));
	}
	/* Who is in it is in it, and is counted once. */
	CHECK(!mcast(&fix, ATTACH, p[0].qp, 1) && fix.fake.members == QUOTA_GROUP_QPS);
	CHECK(!mcast(&fix, ATTACH, p[0].qp, 2) && !mcast(&fix, ATTACH, p[0].qp, 3));
	CHECK(mcast(&fix, ATTACH, p[0].qp, 4) == XEN_VHCA_E_LIMIT);
	CHECK(fix.v.quota.mcast.used == QUOTA_GROUP_QPS + 2 &&
	      fix.fake.members == QUOTA_GROUP_QPS + 2);
	/* Of a group that it is not in it cannot be taken; of others' groups neither. */
	CHECK(mcast(&fix, DETACH, p[0].qp, 4) == XEN_VHCA_E_ARG &&
	      mcast(&fix, DETACH, p[1].qp, 2) == XEN_VHCA_E_ARG);
	/* One that the HCA does not let go stays counted; one that it refuses is not. */
	fix.fake.fail_in = 1;
	CHECK(mcast(&fix, DETACH, p[0].qp, 1) == XEN_VHCA_E_NOMEM &&
	      fix.v.quota.mcast.used == QUOTA_GROUP_QPS + 2);
	CHECK(!mcast(&fix, DETACH, p[0].qp, 1));
	fix.fake.fail_in = 1;
	CHECK(mcast(&fix, ATTACH, p[0].qp, 1) == XEN_VHCA_E_NOMEM &&
	      fix.v.quota.mcast.used == QUOTA_GROUP_QPS + 1);
	/* Room again: for the one that had found none. */
	CHECK(!mcast(&fix, ATTACH, p[QUOTA_GROUP_QPS].qp, 1) &&
	      fix.v.quota.mcast.peak == QUOTA_GROUP_QPS + 2);
	/* A QP takes its places with it, and so does a context. */
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_QP_DESTROY, p[0].qp) &&
	      fix.v.quota.mcast.used == QUOTA_GROUP_QPS);
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
	CHECK(n == 10);
	for (n = 1; failure(auto_translated, 0, n); n++)
		;
	CHECK(n == 6);
}

/* Each process at work has a UAR of its own, and gives it back. What a worker had that died, the next one takes back. */
static void uars(void)
{
	struct fixture_process p, q;
	struct vhca *next;
	struct fixture fix;
	unsigned int i;

	fixture_init(&fix, true, NULL);
	for (i = 0; i < 20; i++) {
		CHECK(!fixture_process(&fix, &p) && fix.shm->allowed == 1);
		CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx) && !fix.shm->allowed);
	}
	CHECK(fix.shm->uars == 1);
	CHECK(!fixture_process(&fix, &p) && !fixture_process(&fix, &q));
	CHECK(fix.shm->uars == 2 && fix.shm->uar[0].in_use && fix.shm->uar[1].in_use);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx) &&
	      !fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, q.ctx));
	CHECK(!fixture_process(&fix, &p) && fix.shm->allowed == 1);
	next = calloc(1, sizeof(*next));
	CHECK(next && !vhca_init(next, &fix.fake.hca, &fix.shm->t, &fix.quota));
	CHECK(!fix.shm->allowed);
	vhca_fini(next);
	free(next);
	fix.shm->uar[0].in_use = true; /* what the dead one would have freed */
	fix.shm->allowed++;
	fixture_fini(&fix);
}

/* One too many is refused, and is not the HCA's fault. */
static void no_more_uars(void)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_UAR_ALLOC };
	struct fixture_process p;
	struct fixture fix;
	unsigned int i;

	fixture_init(&fix, false, NULL);
	CHECK(!fixture_process(&fix, &p));
	req.u.uar_alloc.ctx = p.ctx;
	for (i = 1; i < SHM_UARS; i++)
		CHECK(!fixture_do(&fix, &req));
	CHECK(fixture_do(&fix, &req) == XEN_VHCA_E_NOMEM && fix.shm->allowed == SHM_UARS);
	CHECK(fix.v.quota.objects[OBJ_UAR].used == SHM_UARS && !fix.v.faults.tat_ms);
	fixture_close_all(&fix);
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
	req.u.uar_alloc.gfn = fix.shm->uar[0].gfn;
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
	labels();
	xrc();
	generations();
	counters();
	limits();
	windows();
	address_handles();
	multicast();
	failures(false);
	failures(true);
	uars();
	no_more_uars();
	gfns();
	return EXIT_SUCCESS;
}
