/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * requests.h - for the fuzzers that are a hostile guest: their input, and requests made of it.
 *
 * So that they get deeper than "no such handle", an octet of the input may put handles that exist
 * where they belong.
 */
#ifndef XEN_IB_FUZZ_REQUESTS_H
#define XEN_IB_FUZZ_REQUESTS_H

#include <stdbool.h>
#include <string.h>

#include "shared-ring/unit/example.h"

#define RECENT 16 /* handles that are remembered */

struct input {
	const uint8_t *data;
	size_t size;
};

static inline uint8_t octet(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

static inline void octets(struct input *in, void *to, size_t n)
{
	size_t have = n < in->size ? n : in->size;

	memset(to, 0, n);
	memcpy(to, in->data, have);
	in->data += have;
	in->size -= have;
}

static inline void place_handles(struct input *in, struct xen_vhca_req *req,
				 const xen_vhca_handle_t recent[RECENT])
{
	xen_vhca_handle_t *words = (xen_vhca_handle_t *)req->u.octets;
	unsigned int i, n;

	/* Handles of the example are 7, wherever they are. */
	for (i = 0; i < sizeof(req->u.octets) / sizeof(*words); i++) {
		if (words[i] != 7)
			continue;
		n = octet(in);
		words[i] = recent[n % RECENT];
	}
}

/* A registration by place as one that brings its pages, which become a umem to be kept. */
static inline void bring_pages(struct xen_vhca_mr_reg *m, unsigned int pages, bool keep)
{
	m->flags = XEN_VHCA_MR_REG_INLINE | (keep ? XEN_VHCA_MR_REG_PERSISTENT : 0);
	m->addr.umem = 0;
	m->pages = pages;
}

/* CQs by few labels, which meet each other. */
static inline void use_labels(struct xen_vhca_req *req, unsigned int how)
{
	if (req->op == XEN_VHCA_OP_CQ_CREATE)
		req->u.cq_create.label = how >> 2 & 3;
	if (req->op != XEN_VHCA_OP_QP_CREATE)
		return;
	req->u.qp_create.flags |= XEN_VHCA_QP_RECV_CQ_LABEL;
	req->u.qp_create.recv_cq = how >> 2 & 3;
	if (!(how & 0x20))
		return;
	req->u.qp_create.flags |= XEN_VHCA_QP_SEND_CQ_LABEL;
	req->u.qp_create.send_cq = how >> 3 & 3;
}

/* An XRC domain, an SRQ of one, a QP that sends to one, or its target. Before handles are placed. */
static inline void use_xrc(struct xen_vhca_req *req, bool target)
{
	struct xen_vhca_qp_create *q = &req->u.qp_create;

	if (req->op == XEN_VHCA_OP_CTX_OPEN)
		req->u.ctx_open.flags = XEN_VHCA_CTX_XRCD;
	if (req->op == XEN_VHCA_OP_SRQ_CREATE)
		req->u.srq_create.xrcd = req->u.srq_create.cq = 7;
	if (req->op != XEN_VHCA_OP_QP_CREATE)
		return;
	if (target) {
		*q = (struct xen_vhca_qp_create){ .pd = 7, .type = XEN_VHCA_QPT_XRC_TGT };
		return;
	}
	q->type = XEN_VHCA_QPT_XRC_INI;
	q->recv_cq = q->rq_wqe_count = q->rq_wqe_shift = q->max_recv_wr = 0;
}

/* Some bytes of a good request changed, and it may be posted; or all of it is made up. */
static inline void next_request(struct input *in, struct xen_vhca_req *req,
				const xen_vhca_handle_t recent[RECENT])
{
	unsigned int op = octet(in), how = octet(in), changes = how % 4;

	if (op == 0xff) {
		octets(in, req, sizeof(*req));
		req->id = 0;
		return;
	}
	*req = example_request(op % XEN_VHCA_OPS);
	if (how & 0x80)
		req->flags = XEN_VHCA_REQ_POSTED;
	else if (how & 0x20)
		req->flags = XEN_VHCA_REQ_UNORDERED;
	if (how & 0x10)
		use_xrc(req, how & 0x20);
	place_handles(in, req, recent);
	if (how & 0x40)
		use_labels(req, how);
	if (req->op == XEN_VHCA_OP_MR_REG && op >= XEN_VHCA_OPS)
		bring_pages(&req->u.mr_reg, octet(in), op / XEN_VHCA_OPS & 1);
	while (changes--) {
		unsigned int where = octet(in);

		if (where < sizeof(req->u.octets))
			req->u.octets[where] = octet(in);
	}
}

#endif
