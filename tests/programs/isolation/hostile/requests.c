// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that are not well formed: operations that do not exist, reserved fields, values out of range.
 *
 * What is well formed says vhca_check_request(), on both sides. Here it is shown that the daemon asks it, of every request,
 * with the limits of this vHCA, and keeps its word; its own tests are in shared-ring/unit.
 */
#include <stdlib.h>
#include <string.h>

#include "example.h"
#include "hostile.h"
#include "vhca_event_pages.h"

/* As enum ibv_qp_attr_mask and ibv_qp_state. */
#define QP_STATE (1u << 0)
#define QPS_RESET 0
#define QPS_RTS 3

#define RANDOM_REQUESTS 1000 /* if --count does not say it */

static bool known(unsigned int op)
{
	return vhca_op_name(op)[0] != '?';
}

static void run_operations(const void *arg)
{
	struct hostile h;
	unsigned int op;

	(void)arg;
	hostile_begin(&h);
	for (op = 0; op < 256; op++) {
		struct xen_vhca_req req = { .op = op };

		if (!known(op))
			REFUSED(&h.v, &req, E_OP, "an operation that does not exist");
	}
	hostile_end(&h);
}

/* Those alone of which nobody needs to know how they have ended, or not before what follows has. */
static bool can_be_posted(unsigned int op)
{
	return op == XEN_VHCA_OP_UAR_FREE || op == XEN_VHCA_OP_PD_FREE ||
	       op == XEN_VHCA_OP_CQ_DESTROY || op == XEN_VHCA_OP_SRQ_DESTROY ||
	       op == XEN_VHCA_OP_QP_MODIFY || op == XEN_VHCA_OP_CQ_CREATE;
}

/* Every octet behind the operation's own part, and each reserved field of the header. */
static void run_reserved(const void *arg)
{
	struct xen_vhca_req req;
	struct hostile h;
	unsigned int op;

	(void)arg;
	hostile_begin(&h);
	for (op = 0; op < XEN_VHCA_OPS; op++) {
		if (!known(op))
			continue;
		req = example_request(op);
		req.flags = 1u << 2;
		REFUSED(&h.v, &req, E_RESERVED, "flags");
		if (!can_be_posted(op)) {
			req.flags = XEN_VHCA_REQ_POSTED;
			REFUSED(&h.v, &req, E_RESERVED, "what cannot be posted");
		}
		req.flags = XEN_VHCA_REQ_POSTED | XEN_VHCA_REQ_UNORDERED;
		REFUSED(&h.v, &req, E_RESERVED, "posted, and in no order");
		req = example_request(op);
		req.reserved1 = 0x80000000;
		REFUSED(&h.v, &req, E_RESERVED, "reserved1");
		req = example_request(op);
		req.u.octets[sizeof(req.u.octets) - 1] = 1;
		REFUSED(&h.v, &req, E_RESERVED, "the last octet");
	}
	hostile_end(&h);
}

/*
 * Posted requests: as many as there can be before one that is waited for; and those that are in a wrong state, forged, or
 * given again, which are told at once.
 */
static void run_posted(const void *arg)
{
	struct xen_vhca_req req, modify = {
		.op = XEN_VHCA_OP_QP_MODIFY,
		.flags = XEN_VHCA_REQ_POSTED,
		.u.qp_modify.mask = QP_STATE,
	};
	struct hostile h;
	unsigned int i;

	(void)arg;
	hostile_begin(&h);
	modify.u.qp_modify.qp = h.p.qp;
	modify.u.qp_modify.attr.state = QPS_RESET;
	for (i = 1; i < h.v.entries; i++)
		vf_send(&h.v, &modify, NULL, 0);
	req = modify;
	req.flags = 0;
	require(!vf_do(&h.v, &req)->status, "the QP is reset");
	vf_collect(&h.v, 0);

	modify.u.qp_modify.attr.state = QPS_RTS;
	REFUSED(&h.v, &modify, E_HCA, "RTS of a QP in RESET");
	modify.u.qp_modify.qp = h.p.cq;
	REFUSED(&h.v, &modify, E_HANDLE, "RTS of a CQ");
	req = vf_object(XEN_VHCA_OP_CQ_DESTROY, h.p.cq);
	req.flags = XEN_VHCA_REQ_POSTED;
	REFUSED(&h.v, &req, E_BUSY, "the end of a CQ that a QP needs");
	req = vf_object(XEN_VHCA_OP_PD_FREE, h.p.pd);
	req.flags = XEN_VHCA_REQ_POSTED;
	REFUSED(&h.v, &req, E_BUSY, "the end of a PD that a QP needs");

	req = vf_alloc_pd(h.p.ctx);
	req = vf_object(XEN_VHCA_OP_PD_FREE, vf_make(&h.v, &req, NULL, 0));
	req.flags = XEN_VHCA_REQ_POSTED;
	vf_send(&h.v, &req, NULL, 0);
	REFUSED(&h.v, &req, E_HANDLE, "the end of a PD that has ended");
	vf_collect(&h.v, 0);
	hostile_end(&h);
}

static struct xen_vhca_req create_labelled(const struct vf_process *p, uint32_t label)
{
	struct xen_vhca_req req = vf_create_cq(p);

	req.u.cq_create.label = label;
	return req;
}

static xen_vhca_handle_t make_labelled(struct hostile *h, const struct vf_process *p,
				       uint32_t label)
{
	struct xen_vhca_req req = create_labelled(p, label);

	return vf_make(&h->v, &req, NULL, 0);
}

static struct xen_vhca_req create_qp_on(const struct vf_process *p, uint32_t label)
{
	struct xen_vhca_req req = vf_create_qp(p);

	req.u.qp_create.flags = XEN_VHCA_QP_SEND_CQ_LABEL | XEN_VHCA_QP_RECV_CQ_LABEL;
	req.u.qp_create.send_cq = req.u.qp_create.recv_cq = label;
	return req;
}

static void end_object(struct hostile *h, unsigned int op, xen_vhca_handle_t handle)
{
	struct xen_vhca_req req = vf_object(op, handle);

	require(!vf_do(&h->v, &req)->status, "%s is done", vhca_op_name(op));
}

/*
 * QPs on CQs by label: of which there is none, that is a handle, of a CQ that was refused, of another context, posted
 * twice, destroyed meanwhile, and older than two others.
 */
static void run_labels(const void *arg)
{
	struct xen_vhca_req qp, req;
	xen_vhca_handle_t cq, other;
	struct vf_process p;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	vf_process_make(&h.v, &p);
	qp = create_qp_on(&p, 1);
	REFUSED(&h.v, &qp, E_HANDLE, "a label of no CQ");
	req = create_qp_on(&p, p.cq);
	REFUSED(&h.v, &req, E_HANDLE, "a handle as a label");
	req = create_qp_on(&p, 0);
	REFUSED(&h.v, &req, E_HANDLE, "no label");
	req = create_labelled(&p, 1);
	req.flags = XEN_VHCA_REQ_POSTED;
	req.u.cq_create.uar = h.p.uar;
	REFUSED(&h.v, &req, E_CONTEXT, "a CQ, posted, on another's doorbell page");
	other = make_labelled(&h, &h.p, 1);
	REFUSED(&h.v, &qp, E_HANDLE,
		"the label of a CQ that was refused, and of another context's");
	end_object(&h, XEN_VHCA_OP_CQ_DESTROY, other);

	cq = make_labelled(&h, &p, 1);
	req = create_labelled(&p, 1);
	req.flags = XEN_VHCA_REQ_POSTED;
	vf_send(&h.v, &req, NULL, 0);
	vf_send(&h.v, &req, NULL, 0);
	vf_make(&h.v, &qp, NULL, 0);
	vf_collect(&h.v, 0);
	end_object(&h, XEN_VHCA_OP_CQ_DESTROY, cq); /* the QP is not on the first of them */

	cq = make_labelled(&h, &p, 2);
	end_object(&h, XEN_VHCA_OP_CQ_DESTROY, cq);
	req = create_qp_on(&p, 2);
	REFUSED(&h.v, &req, E_HANDLE, "the label of a CQ that is gone");
	make_labelled(&h, &p, 3);
	REFUSED(&h.v, &qp, E_HANDLE, "a label older than two others");
	end_object(&h, XEN_VHCA_OP_CTX_CLOSE, p.ctx);
	vf_unshare(&h.v, &p.pages);
	hostile_end(&h);
}

/* Limits that the backend adds to those of the protocol. */
static void run_limits(const void *arg)
{
	struct xen_vhca_req req;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	req = vf_create_mem(h.p.ctx, h.v.attr.max_mem_bytes / VF_PAGE + 1);
	REFUSED(&h.v, &req, E_LIMIT, "a page more than there may be");
	req = vf_create_mem(h.p.ctx, 0xffffffff);
	REFUSED(&h.v, &req, E_LIMIT, "2^32 - 1 pages");
	req = vf_create_cq(&h.p);
	req.u.cq_create.cqes = 1u << 31;
	REFUSED(&h.v, &req, E_ARG, "2^31 CQEs");
	req = vf_create_cq(&h.p);
	req.u.cq_create.event_bit = XEN_VHCA_EVENT_BITS;
	REFUSED(&h.v, &req, E_ARG, "an event bit behind the page");
	req.u.cq_create.event_bit = 0;
	REFUSED(&h.v, &req, E_UNSUPPORTED, "an event bit without a page of events");
	req = vf_create_qp(&h.p);
	req.u.qp_create.sq_wqe_count = 1u << 31;
	REFUSED(&h.v, &req, E_ARG, "2^31 send blocks");
	req = vf_create_srq(&h.p);
	req.u.srq_create.max_sge = 0x08000000;
	REFUSED(&h.v, &req, E_ARG, "2^31 bytes of elements in each WQE");
	hostile_end(&h);
}

/* Where the doorbell page is to be: nowhere for a PV guest, which maps a machine frame itself. */
static void run_gfn(const void *arg)
{
	struct xen_vhca_req req;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	req = vf_alloc_uar(h.p.ctx);
	if (!vf_auto_translated()) {
		req.u.uar_alloc.gfn = 0x1234;
		REFUSED(&h.v, &req, E_ARG, "a gfn of a PV guest");
	} else {
		req.u.uar_alloc.gfn = 0;
		REFUSED(&h.v, &req, E_ARG, "no gfn of an auto-translated guest");
	}
	req.u.uar_alloc.gfn = 1ull << 52;
	REFUSED(&h.v, &req, E_ARG, "a gfn that is no frame number");
	req.u.uar_alloc.gfn = ~0ull;
	REFUSED(&h.v, &req, E_ARG, "the last gfn");
	hostile_end(&h);
}

/* Two doorbell pages at one place of an auto-translated guest. Xen would destroy the guest for it. */
static void run_gfn_twice(const void *arg)
{
	struct xen_vhca_req req;
	xen_vhca_handle_t uar;
	struct hostile h;
	int i;

	(void)arg;
	if (!vf_auto_translated())
		skip("a PV guest has no gfns");
	hostile_begin(&h);
	for (i = 0; i < 3; i++) {
		req = vf_alloc_uar(h.p.ctx);
		req.u.uar_alloc.gfn = 0x500000;
		uar = vf_make(&h.v, &req, NULL, 0);
		REFUSED(&h.v, &req, E_ARG, "a gfn where there is a doorbell page");
		req = vf_object(XEN_VHCA_OP_UAR_FREE, uar);
		require(!vf_do(&h.v, &req)->status, "the page goes");
	}
	hostile_end(&h);
}

/* Beyond what the processor can address. It is Xen that says so, on its console as well. */
static void run_gfn_beyond(const void *arg)
{
	struct xen_vhca_req req;
	struct hostile h;

	(void)arg;
	if (!vf_auto_translated())
		skip("a PV guest has no gfns");
	hostile_begin(&h);
	req = vf_alloc_uar(h.p.ctx);
	req.u.uar_alloc.gfn = 1ull << 51;
	REFUSED(&h.v, &req, E_HCA, "a gfn beyond all memory");
	hostile_end(&h);
}

/* Good handles for some of those of the examples, so that random requests get further than to their names. */
static xen_vhca_handle_t some_handle(const struct vf_process *p)
{
	const xen_vhca_handle_t all[] = { p->ctx, p->uar, p->pd, p->umem, p->cq,
					  p->srq, p->qp,  p->mr, p->mw,   7 };

	return all[rand() % ARRAY_SIZE(all)];
}

/* The process's objects are to be there at the end. */
static struct xen_vhca_req random_request(const struct vf_process *p)
{
	struct xen_vhca_req req;
	uint32_t *words;
	unsigned int i, op;

	do {
		op = rand() % XEN_VHCA_OPS;
	} while (vhca_op_ends(op));
	req = example_request(op);
	words = (uint32_t *)req.u.octets;
	for (i = 0; i < sizeof(req.u.octets) / 4; i++)
		if (words[i] == 7)
			words[i] = some_handle(p);
	for (i = rand() % 4; i; i--)
		req.u.octets[rand() % 128] = rand();
	return req;
}

/*
 * Many at once. One that is not well formed is refused with just this status; one that is gets any answer that is well
 * formed, which vfront.c checks of all of them. Their page lists are what is left in the data pages.
 */
static void run_random(const void *arg)
{
	unsigned int count = opt.count ? opt.count : RANDOM_REQUESTS, n, id, refused = 0;
	enum xen_vhca_status should;
	struct xen_vhca_req req;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	srand(opt.seed);
	for (n = 0; n < count; n++) {
		req = random_request(&h.p);
		id = vf_send(&h.v, &req, NULL, 0);
		should = vhca_check_request(&req, &h.v.attr);
		if (!should)
			continue;
		while (h.v.busy[id])
			vf_collect(&h.v, h.v.outstanding - 1);
		check(h.v.rsp[id].status == should, "%s is refused with %s (got %s)",
		      vhca_op_name(req.op), vhca_status_name(should),
		      vhca_status_name(h.v.rsp[id].status));
		refused++;
	}
	check(refused > count / 10, "a good part of the requests was not well formed (%u)",
	      refused);
	hostile_counted(&h.v);
	vf_disconnect(&h.v); /* with all that came about by chance */
	hostile_works(&h.v);
	vf_close(&h.v);
}

static const struct check_case cases[] = {
	CHECK_CASE("request-operation", run_operations, "operations that do not exist",
		   .together = true),
	CHECK_CASE("request-posted", run_posted,
		   "posted requests in wrong states, and as many as fit", .together = true),
	CHECK_CASE("request-labels", run_labels, "QPs on CQs by labels that name none",
		   .together = true),
	CHECK_CASE("request-reserved", run_reserved, "reserved fields that are not zero",
		   .together = true),
	CHECK_CASE("request-limit", run_limits, "values over the limits of this vHCA",
		   .together = true),
	CHECK_CASE("request-gfn", run_gfn, "places for doorbell pages that cannot be",
		   .together = true),
	CHECK_CASE("request-gfn-twice", run_gfn_twice, "two doorbell pages at one place",
		   .together = true),
	CHECK_CASE("request-gfn-beyond", run_gfn_beyond,
		   "a doorbell page beyond all memory; Xen reports it", .on_demand = true),
	CHECK_CASE("request-random", run_random,
		   "requests with octets changed at random, --count of them", .seconds = 300),
};

const struct check_table hostile_requests = { cases, ARRAY_SIZE(cases) };
