// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Handles that name nothing (any more), something of another type, another context's or another vHCA's object; objects that
 * are destroyed while others need them.
 */
#include <string.h>

#include "hostile.h"

/* Where a request has handles. */
struct user {
	const char *what;
	struct xen_vhca_req (*make)(const struct vf_process *p);
	size_t where; /* in the request */
	size_t own;   /* in the process: the good one */
};

static struct xen_vhca_req alloc_uar(const struct vf_process *p)
{
	return vf_alloc_uar(p->ctx);
}

static struct xen_vhca_req open_gsi(const struct vf_process *p)
{
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_GSI_OPEN, .u.gsi_open = { .ctx = p->ctx } };
}

static struct xen_vhca_req send_mad(const struct vf_process *p)
{
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_MAD_SEND, .u.mad_send = { .ctx = p->ctx } };
}

static struct xen_vhca_req add_addr(const struct vf_process *p)
{
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_ADDR_ADD,
				      .u.addr = { .ctx = p->ctx, .family = 6 } };
}

static struct xen_vhca_req alloc_pd(const struct vf_process *p)
{
	return vf_alloc_pd(p->ctx);
}

static struct xen_vhca_req create_mem(const struct vf_process *p)
{
	return vf_create_mem(p->ctx, 1);
}

static struct xen_vhca_req add_umem(const struct vf_process *p)
{
	return vf_add_umem(p->umem, 0, 1);
}

static struct xen_vhca_req reg_inline(const struct vf_process *p)
{
	return vf_reg_inline(p->pd, 1);
}

static struct xen_vhca_req alloc_mw(const struct vf_process *p)
{
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_MW_ALLOC,
				      .u.mw_alloc = { .pd = p->pd, .type = 2 } };
}

static struct xen_vhca_req modify_mr(const struct vf_process *p)
{
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_MR_MODIFY,
				      .u.mr_modify = { .mr = p->mr, .pd = p->pd, .access = 1 } };
}

static struct xen_vhca_req modify_cq(const struct vf_process *p)
{
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_CQ_MODIFY,
				      .u.cq_modify = { .cq = p->cq, .count = 1 } };
}

static struct xen_vhca_req modify_srq(const struct vf_process *p)
{
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_SRQ_MODIFY,
				      .u.srq_modify = { .srq = p->srq, .limit = 1 } };
}

static struct xen_vhca_req modify_qp(const struct vf_process *p)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_QP_MODIFY,
		.u.qp_modify = { .qp = p->qp,
				 .mask = 1 | 1 << 3 | 1 << 4 | 1 << 5,
				 .attr = { .state = 1, .port = 1 } },
	};
}

static struct xen_vhca_req attach(const struct vf_process *p)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_MCAST_ATTACH,
		.u.mcast = { .qp = p->qp, .lid = 0xc001, .gid = { 0xff, 0x12 } },
	};
}

static struct xen_vhca_req detach(const struct vf_process *p)
{
	struct xen_vhca_req req = attach(p);

	req.op = XEN_VHCA_OP_MCAST_DETACH;
	return req;
}

#define OBJECT(name, operation, member) \
	static struct xen_vhca_req name(const struct vf_process *p) \
	{ \
		return vf_object(XEN_VHCA_OP_##operation, p->member); \
	}
OBJECT(close_ctx, CTX_CLOSE, ctx)
OBJECT(free_uar, UAR_FREE, uar)
OBJECT(free_pd, PD_FREE, pd)
OBJECT(destroy_umem, UMEM_DESTROY, umem)
OBJECT(dereg_mr, MR_DEREG, mr)
OBJECT(free_mw, MW_FREE, mw)
OBJECT(destroy_cq, CQ_DESTROY, cq)
OBJECT(destroy_srq, SRQ_DESTROY, srq)
OBJECT(query_srq, SRQ_QUERY, srq)
OBJECT(destroy_qp, QP_DESTROY, qp)
OBJECT(query_qp, QP_QUERY, qp)

#define USER(make, part, member) \
	{ #make ", " #part, make, offsetof(struct xen_vhca_req, u.part), \
	  offsetof(struct vf_process, member) }

static const struct user users[] = {
	USER(alloc_uar, uar_alloc.ctx, ctx),
	USER(alloc_pd, pd_alloc.ctx, ctx),
	USER(create_mem, umem_create.ctx, ctx),
	USER(add_umem, umem_add.umem, umem),
	USER(reg_inline, mr_reg.pd, pd),
	USER(vf_reg_mr, mr_reg.pd, pd),
	USER(vf_reg_mr, mr_reg.addr.umem, umem),
	USER(modify_mr, mr_modify.mr, mr),
	USER(modify_mr, mr_modify.pd, pd),
	USER(alloc_mw, mw_alloc.pd, pd),
	USER(vf_create_cq, cq_create.ctx, ctx),
	USER(vf_create_cq, cq_create.uar, uar),
	USER(vf_create_cq, cq_create.buf.umem, umem),
	USER(vf_create_cq, cq_create.dbr.umem, umem),
	USER(modify_cq, cq_modify.cq, cq),
	USER(vf_resize_cq, cq_resize.cq, cq),
	USER(vf_resize_cq, cq_resize.buf.umem, umem),
	USER(vf_create_srq, srq_create.pd, pd),
	USER(vf_create_srq, srq_create.buf.umem, umem),
	USER(vf_create_srq, srq_create.dbr.umem, umem),
	USER(modify_srq, srq_modify.srq, srq),
	USER(vf_create_qp, qp_create.pd, pd),
	USER(vf_create_qp, qp_create.send_cq, cq),
	USER(vf_create_qp, qp_create.recv_cq, cq),
	USER(vf_create_qp, qp_create.srq, srq),
	USER(vf_create_qp, qp_create.uar, uar),
	USER(vf_create_qp, qp_create.buf.umem, umem),
	USER(vf_create_qp, qp_create.dbr.umem, umem),
	USER(modify_qp, qp_modify.qp, qp),
	USER(attach, mcast.qp, qp),
	USER(detach, mcast.qp, qp),
	USER(open_gsi, gsi_open.ctx, ctx),
	USER(send_mad, mad_send.ctx, ctx),
	USER(add_addr, addr.ctx, ctx),
	USER(close_ctx, object.handle, ctx),
	USER(free_uar, object.handle, uar),
	USER(free_pd, object.handle, pd),
	USER(destroy_umem, object.handle, umem),
	USER(dereg_mr, object.handle, mr),
	USER(free_mw, object.handle, mw),
	USER(destroy_cq, object.handle, cq),
	USER(destroy_srq, object.handle, srq),
	USER(query_srq, object.handle, srq),
	USER(destroy_qp, object.handle, qp),
	USER(query_qp, object.handle, qp),
};

static xen_vhca_handle_t own(const struct vf_process *p, size_t member)
{
	return *(const xen_vhca_handle_t *)((const char *)p + member);
}

/* Requests whose answers have not been looked at: a ring full at a time takes a tenth of what one by one takes. */
static struct {
	unsigned int id;
	enum xen_vhca_status status;
	const struct user *user;
} waiting[VHCA_RING_MAX_ENTRIES];
static unsigned int waits;

static void check_answers(struct hostile *h)
{
	enum xen_vhca_status is;

	vf_collect(&h->v, 0);
	while (waits) {
		waits--;
		is = h->v.rsp[waiting[waits].id].status;
		check(is == waiting[waits].status, "%s ends with %s (got %s)",
		      waiting[waits].user->what, vhca_status_name(waiting[waits].status),
		      vhca_status_name(is));
	}
}

/* The request is refused with this status, which check_answers() will see. */
static void refused(struct hostile *h, const struct user *user, xen_vhca_handle_t handle,
		    enum xen_vhca_status status)
{
	struct xen_vhca_req req = user->make(&h->p);

	if (waits == h->v.entries)
		check_answers(h);
	*(xen_vhca_handle_t *)((char *)&req + user->where) = handle;
	waiting[waits].id = vf_send(&h->v, &req, NULL, 0);
	waiting[waits].status = status;
	waiting[waits++].user = user;
}

/* No SRQ is a QP without one, which then lacks a receive queue; no PD is an MR that stays in its own. */
static bool may_be_none(const struct user *user)
{
	return user->where == offsetof(struct xen_vhca_req, u.qp_create.srq) ||
	       (user->make == modify_mr &&
		user->where == offsetof(struct xen_vhca_req, u.mr_modify.pd));
}

/* Each bit of a good handle turned, and some that nobody gave out. */
static void run_forged(const void *arg)
{
	const xen_vhca_handle_t others[] = { 0, 0x3ffff, 0xffffffff, 0xfffc0000, 0x80000000 };
	struct hostile h;
	size_t i, n;

	(void)arg;
	hostile_begin(&h);
	for (i = 0; i < ARRAY_SIZE(users); i++) {
		for (n = 0; n < ARRAY_SIZE(others); n++) {
			if (!others[n] && may_be_none(&users[i]))
				continue;
			refused(&h, &users[i], others[n], XEN_VHCA_E_HANDLE);
		}
		for (n = 5; n < 32; n++) /* below are the neighbours' */
			refused(&h, &users[i], own(&h.p, users[i].own) ^ 1u << n,
				XEN_VHCA_E_HANDLE);
	}
	check_answers(&h);
	hostile_end(&h);
}

static const size_t members[] = {
	offsetof(struct vf_process, ctx), offsetof(struct vf_process, uar),
	offsetof(struct vf_process, pd),  offsetof(struct vf_process, umem),
	offsetof(struct vf_process, cq),  offsetof(struct vf_process, srq),
	offsetof(struct vf_process, qp),  offsetof(struct vf_process, mr),
	offsetof(struct vf_process, mw),
};

static void run_type(const void *arg)
{
	struct hostile h;
	size_t i, n;

	(void)arg;
	hostile_begin(&h);
	for (i = 0; i < ARRAY_SIZE(users); i++)
		for (n = 0; n < ARRAY_SIZE(members); n++)
			if (members[n] != users[i].own)
				refused(&h, &users[i], own(&h.p, members[n]), XEN_VHCA_E_HANDLE);
	check_answers(&h);
	hostile_end(&h);
}

/* The entry of a handle is used again later, in another generation: the old one does not come back to life. */
static void run_stale(const void *arg)
{
	struct vf_process gone;
	struct hostile h;
	size_t i;
	int round;

	(void)arg;
	hostile_begin(&h);
	vf_process_make(&h.v, &gone);
	vf_process_free(&h.v, &gone);
	for (round = 0; round < 2; round++) {
		struct vf_process others[12];
		size_t n;

		for (i = 0; i < ARRAY_SIZE(users); i++)
			refused(&h, &users[i], own(&gone, users[i].own), XEN_VHCA_E_HANDLE);
		check_answers(&h);
		for (n = 0; n < ARRAY_SIZE(others); n++)
			vf_process_make(&h.v, &others[n]);
		for (i = 0; i < ARRAY_SIZE(users); i++)
			refused(&h, &users[i], own(&gone, users[i].own), XEN_VHCA_E_HANDLE);
		check_answers(&h);
		for (n = 0; n < ARRAY_SIZE(others); n++)
			vf_process_free(&h.v, &others[n]);
	}
	hostile_end(&h);
}

/* Of requests that name several objects, one that is another process's. */
static void run_context(const void *arg)
{
	struct vf_process other;
	struct hostile h;
	size_t i;

	(void)arg;
	hostile_begin(&h);
	vf_process_make(&h.v, &other);
	for (i = 0; i < ARRAY_SIZE(users); i++) {
		struct xen_vhca_req req = users[i].make(&h.p);

		if (req.op == XEN_VHCA_OP_CQ_CREATE || req.op == XEN_VHCA_OP_CQ_RESIZE ||
		    req.op == XEN_VHCA_OP_MR_MODIFY || req.op == XEN_VHCA_OP_SRQ_CREATE ||
		    req.op == XEN_VHCA_OP_QP_CREATE || users[i].make == vf_reg_mr)
			refused(&h, &users[i], own(&other, users[i].own), XEN_VHCA_E_CONTEXT);
	}
	check_answers(&h);
	vf_process_free(&h.v, &other);
	hostile_end(&h);
}

/* A handle of another vHCA: beyond those that there are here, so that it cannot be one of these by chance. */
static void run_other_vhca(const void *arg)
{
	struct vf_process ahead[8];
	struct vfront other;
	struct hostile h;
	size_t i;

	(void)arg;
	if (!vf_exists(1))
		skip("this guest has no vHCA 1");
	hostile_begin(&h);
	vf_open(&other, 1);
	vf_connect(&other, HOSTILE_ORDER);
	for (i = 0; i < ARRAY_SIZE(ahead); i++)
		vf_process_make(&other, &ahead[i]);
	require(ahead[7].ctx > h.p.mw, "the other vHCA has handles that are none of this one's");
	for (i = 0; i < ARRAY_SIZE(users); i++)
		refused(&h, &users[i], own(&ahead[7], users[i].own), XEN_VHCA_E_HANDLE);
	check_answers(&h);
	for (i = 0; i < ARRAY_SIZE(ahead); i++)
		vf_process_free(&other, &ahead[i]);
	hostile_counted(&other);
	vf_disconnect(&other);
	vf_close(&other);
	hostile_end(&h);
}

static void busy(struct hostile *h, struct xen_vhca_req req, const char *what)
{
	REFUSED(&h->v, &req, E_BUSY, what);
}

static void done(struct hostile *h, struct xen_vhca_req req)
{
	require(!vf_do(&h->v, &req)->status, "%s is done", vhca_op_name(req.op));
}

static void run_in_use(const void *arg)
{
	struct xen_vhca_req again;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	busy(&h, destroy_umem(&h.p), "a umem under an MR and three queues");
	busy(&h, free_uar(&h.p), "a doorbell page under a CQ and a QP");
	busy(&h, free_pd(&h.p), "a PD with objects");
	busy(&h, destroy_cq(&h.p), "a CQ under a QP");
	busy(&h, destroy_srq(&h.p), "an SRQ under a QP");
	/* One user after the other goes, and each time there is still one. */
	done(&h, dereg_mr(&h.p));
	busy(&h, destroy_umem(&h.p), "a umem under three queues");
	done(&h, destroy_qp(&h.p));
	busy(&h, destroy_umem(&h.p), "a umem under a CQ and an SRQ");
	busy(&h, free_uar(&h.p), "a doorbell page under a CQ");
	again = vf_create_qp(&h.p);
	h.p.qp = vf_make(&h.v, &again, NULL, 0);
	again = vf_reg_mr(&h.p);
	h.p.mr = vf_make(&h.v, &again, NULL, 0);
	hostile_end(&h);
}

static struct xen_vhca_req create_target(xen_vhca_handle_t domain)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_QP_CREATE,
		.u.qp_create = { .pd = domain, .type = XEN_VHCA_QPT_XRC_TGT },
	};
}

/* XRC domains: contexts that are none, that are gone, and what is left of one that goes while it is in use. */
static void run_domains(const void *arg)
{
	struct xen_vhca_req open = vf_open_ctx(), srq, target;
	xen_vhca_handle_t domain, made;
	struct vf_process other;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	vf_process_make(&h.v, &other);
	open.u.ctx_open.flags = XEN_VHCA_CTX_XRCD | XEN_VHCA_CTX_KERNEL;
	REFUSED(&h.v, &open, E_ARG, "a domain of the kernel's");
	open.u.ctx_open.flags = XEN_VHCA_CTX_XRCD;
	domain = vf_make(&h.v, &open, NULL, 0);

	srq = vf_create_srq(&h.p);
	srq.u.srq_create.cq = h.p.cq;
	REFUSED(&h.v, &srq, E_ARG, "an SRQ with a CQ, and no domain");
	srq.u.srq_create.xrcd = h.p.ctx;
	REFUSED(&h.v, &srq, E_HANDLE, "an SRQ of a context that is no domain");
	srq.u.srq_create.xrcd = h.p.pd;
	REFUSED(&h.v, &srq, E_HANDLE, "an SRQ of a PD");
	srq.u.srq_create.xrcd = domain;
	srq.u.srq_create.cq = other.cq;
	REFUSED(&h.v, &srq, E_CONTEXT, "an SRQ with another process's CQ");
	srq.u.srq_create.cq = 0;
	REFUSED(&h.v, &srq, E_HANDLE, "an SRQ of a domain, without a CQ");
	srq.u.srq_create.cq = h.p.cq;
	made = vf_make(&h.v, &srq, NULL, 0);

	target = create_target(h.p.ctx);
	REFUSED(&h.v, &target, E_HANDLE, "a target in a context that is no domain");
	target = create_target(domain);
	vf_make(&h.v, &target, NULL, 0);
	target.u.qp_create.send_cq = h.p.cq;
	REFUSED(&h.v, &target, E_ARG, "a target with a CQ");

	done(&h, vf_object(XEN_VHCA_OP_CTX_CLOSE, domain));
	REFUSED(&h.v, &srq, E_HANDLE, "an SRQ of a domain that is gone");
	target = create_target(domain);
	REFUSED(&h.v, &target, E_HANDLE, "a target of a domain that is gone");
	done(&h, vf_object(XEN_VHCA_OP_SRQ_QUERY, made));
	done(&h, vf_object(XEN_VHCA_OP_SRQ_DESTROY, made));
	vf_process_free(&h.v, &other);
	hostile_end(&h);
}

static const struct check_case cases[] = {
	CHECK_CASE("handle-vhca", run_other_vhca, "handles of another vHCA of this guest"),
	CHECK_CASE("handle-forged", run_forged, "handles that were never given out", .seconds = 180,
		   .together = true),
	CHECK_CASE("handle-type", run_type, "handles of another type of object", .together = true),
	CHECK_CASE("handle-stale", run_stale,
		   "handles of destroyed objects, whose entries are in use again", .seconds = 180,
		   .together = true),
	CHECK_CASE("handle-context", run_context, "objects of two contexts in one request",
		   .together = true),
	CHECK_CASE("handle-domains", run_domains, "XRC domains that are none, or gone",
		   .together = true),
	CHECK_CASE("handle-in-use", run_in_use, "destruction of objects that others need",
		   .together = true),
};

const struct check_table hostile_handles = { cases, ARRAY_SIZE(cases) };
