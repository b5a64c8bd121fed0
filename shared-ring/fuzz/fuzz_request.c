// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_request.c - any 256 octets as a request, and any 200 as limits. What is accepted must keep
 * the promises that the backend builds on.
 */
#include <stdlib.h>
#include <string.h>

#include "vhca_check.h"

#define PROMISE(condition) \
	do { \
		if (!(condition)) \
			abort(); \
	} while (0)

static void promises(const struct xen_vhca_req *req)
{
	const struct xen_vhca_qp_create *q = &req->u.qp_create;
	const struct xen_vhca_mr_reg *m = &req->u.mr_reg;

	PROMISE(vhca_request_pages(req) <= XEN_VHCA_DATA_REFS);
	switch (req->op) {
	case XEN_VHCA_OP_MR_REG:
		PROMISE(m->addr.offset + m->length >= m->length);
		PROMISE(!(m->flags & XEN_VHCA_MR_REG_PERSISTENT) ||
			m->flags & XEN_VHCA_MR_REG_INLINE);
		PROMISE(!m->pages == !(m->flags & XEN_VHCA_MR_REG_INLINE));
		break;
	case XEN_VHCA_OP_QP_CREATE:
		PROMISE(!(q->buf.offset & 4095) && !(q->dbr.offset & 7));
		PROMISE(q->rq_wqe_shift <= 16);
		break;
	case XEN_VHCA_OP_CQ_CREATE:
		PROMISE(req->u.cq_create.cqes && !(req->u.cq_create.buf.offset & 4095));
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xen_vhca_device_attr limits;
	struct xen_vhca_req req;

	memset(&limits, 0x7f, sizeof(limits));
	memset(&req, 0, sizeof(req));
	if (size > sizeof(req) && size - sizeof(req) >= sizeof(limits))
		memcpy(&limits, data + sizeof(req), sizeof(limits));
	memcpy(&req, data, size < sizeof(req) ? size : sizeof(req));
	if (vhca_check_request(&req, &limits) == XEN_VHCA_OK)
		promises(&req);
	return 0;
}
