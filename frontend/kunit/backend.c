// SPDX-License-Identifier: GPL-2.0
/*
 * backend.c - the backend of the KUnit cases, see backend.h.
 */
#include <linux/string.h>

#include "backend.h"

static struct kunit_backend *current_backend;

static u8 response_status(struct kunit_backend *backend, u8 op)
{
	if (!backend->refuse[op])
		return XEN_VHCA_OK;
	if (backend->refuse_after[op]) {
		backend->refuse_after[op]--;
		return XEN_VHCA_OK;
	}
	return backend->refuse[op];
}

static void fill_response(struct kunit_backend *backend, const struct xen_vhca_req *req,
			  struct xen_vhca_rsp *rsp)
{
	switch (req->op) {
	case XEN_VHCA_OP_CTX_OPEN:
	case XEN_VHCA_OP_UMEM_CREATE:
		rsp->u.object.handle = ++backend->handles;
		break;
	case XEN_VHCA_OP_CQ_CREATE:
	case XEN_VHCA_OP_QP_CREATE:
		rsp->u.queue.handle = ++backend->handles;
		rsp->u.queue.number = backend->handles << 4;
		break;
	case XEN_VHCA_OP_MR_REG:
		rsp->u.mr.handle = ++backend->handles;
		rsp->u.mr.lkey = backend->handles << 8;
		rsp->u.mr.rkey = backend->handles << 8;
		if (req->u.mr_reg.flags & XEN_VHCA_MR_REG_PERSISTENT)
			rsp->u.mr.umem = ++backend->handles;
		break;
	default:
		break;
	}
}

/* As a backend does that tells of what is posted no earlier than it must. */
static void respond(struct kunit_backend *backend, const struct xen_vhca_req *req)
{
	struct xen_vhca_rsp rsp = { .id = req->id, .op = req->op };

	backend->requests[req->op]++;
	backend->newest[req->op] = *req;
	rsp.status = response_status(backend, req->op);
	if (rsp.status == XEN_VHCA_OK)
		fill_response(backend, req, &rsp);
	if (backend->malformed)
		rsp.reserved0 = 1;
	vhca_back_put(&backend->back, &rsp);
	if (!(req->flags & XEN_VHCA_REQ_POSTED) || rsp.status != XEN_VHCA_OK)
		backend->tells = true;
}

static void notified(unsigned int channel)
{
	struct xen_vhca_req req;

	if (current_backend->silent)
		return;
	do {
		while (vhca_back_next(&current_backend->back, &req) > 0)
			respond(current_backend, &req);
	} while (vhca_back_more(&current_backend->back));
	if (!current_backend->tells)
		return;
	current_backend->tells = false;
	if (vhca_back_push(&current_backend->back))
		kunit_interrupt(channel);
}

void kunit_backend_start(struct kunit_backend *backend, void *sring, unsigned int order)
{
	vhca_back_init(&backend->back, sring, order);
	current_backend = backend;
	kunit_notified = notified;
}

void kunit_backend_stop(void)
{
	kunit_notified = NULL;
	current_backend = NULL;
}
