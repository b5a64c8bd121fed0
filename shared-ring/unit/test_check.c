// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_check.c - the validators: every good request passes, and each rule, broken alone, is told by
 * its own status.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "example.h"
#include "vhca_event_pages.h"

static unsigned int failures;

#define EXPECT(what, got, want) \
	do { \
		long got_ = (got), want_ = (want); \
		if (got_ != want_) { \
			fprintf(stderr, "%s:%d: %s: %ld, not %ld\n", __FILE__, __LINE__, what, \
				got_, want_); \
			failures++; \
		} \
	} while (0)

static int known(unsigned int op)
{
	return vhca_op_name(op)[0] != '?';
}

static void good_requests(void)
{
	struct xen_vhca_device_attr limits = example_limits();
	unsigned int op, count = 0;

	for (op = 0; op < 256; op++) {
		struct xen_vhca_req req = example_request(op);

		EXPECT(vhca_op_name(op), vhca_check_request(&req, &limits),
		       known(op) ? XEN_VHCA_OK : XEN_VHCA_E_OP);
		count += known(op);
	}
	EXPECT("operations", count, 40);
}

/* Any octet behind the operation's part, and each reserved field of the header. */
static void reserved(void)
{
	struct xen_vhca_device_attr limits = example_limits();
	unsigned int op;

	for (op = 0; op < XEN_VHCA_OPS; op++) {
		struct xen_vhca_req req = example_request(op);

		if (!known(op))
			continue;
		req.u.octets[sizeof(req.u.octets) - 1] = 1;
		EXPECT(vhca_op_name(op), vhca_check_request(&req, &limits), XEN_VHCA_E_RESERVED);
		req = example_request(op);
		req.flags = 1u << 2;
		EXPECT(vhca_op_name(op), vhca_check_request(&req, &limits), XEN_VHCA_E_RESERVED);
		req = example_request(op);
		req.reserved1 = 1u << 31;
		EXPECT(vhca_op_name(op), vhca_check_request(&req, &limits), XEN_VHCA_E_RESERVED);
	}
}

/* Those alone whose response tells nothing that anybody needs, or not before what follows has one. */
static int can_be_posted(unsigned int op)
{
	return op == XEN_VHCA_OP_UAR_FREE || op == XEN_VHCA_OP_PD_FREE ||
	       op == XEN_VHCA_OP_CQ_DESTROY || op == XEN_VHCA_OP_SRQ_DESTROY ||
	       op == XEN_VHCA_OP_QP_MODIFY || op == XEN_VHCA_OP_CQ_CREATE;
}

static void flags(void)
{
	struct xen_vhca_device_attr limits = example_limits();
	unsigned int op;

	for (op = 0; op < XEN_VHCA_OPS; op++) {
		struct xen_vhca_req req = example_request(op);

		if (!known(op))
			continue;
		req.flags = XEN_VHCA_REQ_POSTED;
		EXPECT(vhca_op_name(op), vhca_check_request(&req, &limits),
		       can_be_posted(op) ? XEN_VHCA_OK : XEN_VHCA_E_RESERVED);
		req.flags = XEN_VHCA_REQ_UNORDERED;
		EXPECT(vhca_op_name(op), vhca_check_request(&req, &limits), XEN_VHCA_OK);
		req.flags |= XEN_VHCA_REQ_POSTED;
		EXPECT(vhca_op_name(op), vhca_check_request(&req, &limits), XEN_VHCA_E_RESERVED);
	}
}

/* The first octet behind the operation's part. */
#define TRAILING(operation, member) \
	do { \
		struct xen_vhca_device_attr limits_ = example_limits(); \
		struct xen_vhca_req req_ = example_request(XEN_VHCA_OP_##operation); \
		req_.u.octets[sizeof(req_.u.member)] = 1; \
		EXPECT(#operation ", one octet more", vhca_check_request(&req_, &limits_), \
		       XEN_VHCA_E_RESERVED); \
	} while (0)

static void trailing(void)
{
	TRAILING(GID_QUERY, index);
	TRAILING(CTX_OPEN, ctx_open);
	TRAILING(CTX_CLOSE, object);
	TRAILING(UAR_ALLOC, uar_alloc);
	TRAILING(PD_ALLOC, pd_alloc);
	TRAILING(UMEM_CREATE, umem_create);
	TRAILING(UMEM_ADD, umem_add);
	TRAILING(MR_REG, mr_reg);
	TRAILING(MR_MODIFY, mr_modify);
	TRAILING(MW_ALLOC, mw_alloc);
	TRAILING(CQ_CREATE, cq_create);
	TRAILING(CQ_MODIFY, cq_modify);
	TRAILING(CQ_RESIZE, cq_resize);
	TRAILING(SRQ_CREATE, srq_create);
	TRAILING(SRQ_MODIFY, srq_modify);
	TRAILING(QP_CREATE, qp_create);
	TRAILING(QP_MODIFY, qp_modify);
	TRAILING(MCAST_ATTACH, mcast);
	TRAILING(AH_CREATE, ah_create);
	TRAILING(GSI_OPEN, gsi_open);
	TRAILING(MAD_SEND, mad_send);
	TRAILING(MAD_RECV, object);
	TRAILING(ADDR_ADD, addr);
}

/* One value of a good request changed. */
#define BREAK(operation, member, value, status) \
	do { \
		struct xen_vhca_device_attr limits_ = example_limits(); \
		struct xen_vhca_req req_ = example_request(XEN_VHCA_OP_##operation); \
		req_.u.member = (value); \
		EXPECT(#operation " " #member, vhca_check_request(&req_, &limits_), \
		       XEN_VHCA_##status); \
	} while (0)

static void memory(void)
{
	BREAK(UMEM_CREATE, umem_create.ctx, 0, E_HANDLE);
	BREAK(UMEM_CREATE, umem_create.flags, 3, OK);
	BREAK(UMEM_CREATE, umem_create.flags, 4, E_RESERVED);
	BREAK(UMEM_CREATE, umem_create.pages, 0, E_ARG);
	BREAK(UMEM_CREATE, umem_create.pages, (1u << 18) + 1, E_LIMIT);
	BREAK(UMEM_CREATE, umem_create.pages, 1u << 18, OK);
	BREAK(UMEM_ADD, umem_add.count, 0, E_COUNT);
	BREAK(UMEM_ADD, umem_add.count, 1025, E_COUNT);
	BREAK(UMEM_ADD, umem_add.count, 1024, OK);
	BREAK(UMEM_ADD, umem_add.first, 0xffffffff, E_RANGE);
	BREAK(MR_REG, mr_reg.pd, 0, E_HANDLE);
	BREAK(MR_REG, mr_reg.addr.umem, 0, E_HANDLE);
	BREAK(MR_REG, mr_reg.addr.reserved, 1, E_RESERVED);
	BREAK(MR_REG, mr_reg.addr.offset, 0x124, E_ARG);
	BREAK(MR_REG, mr_reg.addr.offset, 0xfffffffffffff123, E_RANGE);
	BREAK(MR_REG, mr_reg.length, 0, E_ARG);
	BREAK(MR_REG, mr_reg.length, ~0ull, E_ARG);
	BREAK(MR_REG, mr_reg.length, (1ull << 30) + 1, E_LIMIT);
	BREAK(MR_REG, mr_reg.access, 1 << 6, E_RESERVED);
	BREAK(MR_REG, mr_reg.access, XEN_VHCA_ACCESS_REMOTE_WRITE, E_ARG);
	BREAK(MR_REG, mr_reg.access, XEN_VHCA_ACCESS_REMOTE_ATOMIC, E_ARG);
	BREAK(MR_REG, mr_reg.access, XEN_VHCA_ACCESS_REMOTE_READ, OK);
	BREAK(MR_REG, mr_reg.pages, 1, E_COUNT);
	BREAK(MR_REG, mr_reg.flags, XEN_VHCA_MR_REG_PERSISTENT, E_ARG);
	BREAK(MR_REG, mr_reg.flags, 4, E_RESERVED);
	BREAK(MR_MODIFY, mr_modify.mr, 0, E_HANDLE);
	BREAK(MR_MODIFY, mr_modify.pd, 0, OK);
	BREAK(MR_MODIFY, mr_modify.access, 1 << 6, E_RESERVED);
	BREAK(MR_MODIFY, mr_modify.access, XEN_VHCA_ACCESS_REMOTE_WRITE, E_ARG);
	BREAK(MR_MODIFY, mr_modify.reserved, 1, E_RESERVED);
	BREAK(MW_ALLOC, mw_alloc.type, 3, E_ARG);
	BREAK(MW_ALLOC, mw_alloc.type, 1, E_ARG);
	BREAK(MW_ALLOC, mw_alloc.entries, 0, OK);
	BREAK(MW_ALLOC, mw_alloc.entries, XEN_VHCA_MAX_MW_ENTRIES, OK);
	BREAK(MW_ALLOC, mw_alloc.entries, XEN_VHCA_MAX_MW_ENTRIES + 1, E_ARG);
}

static void inline_mr(void)
{
	struct xen_vhca_device_attr limits = example_limits();
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_MR_REG);
	struct xen_vhca_mr_reg *m = &req.u.mr_reg;

	m->flags = XEN_VHCA_MR_REG_INLINE;
	m->pages = 2;
	EXPECT("umem as well", vhca_check_request(&req, &limits), XEN_VHCA_E_ARG);
	m->addr.umem = 0;
	EXPECT("inline", vhca_check_request(&req, &limits), XEN_VHCA_OK);
	m->flags = XEN_VHCA_MR_REG_PERSISTENT;
	EXPECT("kept, not inline", vhca_check_request(&req, &limits), XEN_VHCA_E_ARG);
	m->flags |= XEN_VHCA_MR_REG_INLINE;
	EXPECT("kept", vhca_check_request(&req, &limits), XEN_VHCA_OK);
	EXPECT("references", vhca_request_pages(&req), 2);
	m->length = 2 * 4096 - 0x123;
	EXPECT("to the end", vhca_check_request(&req, &limits), XEN_VHCA_OK);
	m->length++;
	EXPECT("behind the end", vhca_check_request(&req, &limits), XEN_VHCA_E_RANGE);
	m->length = 1;
	m->addr.offset = 0x1123;
	EXPECT("first page unused", vhca_check_request(&req, &limits), XEN_VHCA_E_RANGE);
	m->addr.offset = 0x123;
	m->pages = 1025;
	EXPECT("too many", vhca_check_request(&req, &limits), XEN_VHCA_E_COUNT);
	m->pages = 0;
	EXPECT("none", vhca_check_request(&req, &limits), XEN_VHCA_E_COUNT);
}

static void queues(void)
{
	BREAK(UAR_ALLOC, uar_alloc.ctx, 0, E_HANDLE);
	BREAK(UAR_ALLOC, uar_alloc.type, 2, E_ARG);
	BREAK(UAR_ALLOC, uar_alloc.gfn, XEN_VHCA_FRAMES, E_ARG);
	BREAK(UAR_ALLOC, uar_alloc.gfn, XEN_VHCA_FRAMES - 1, OK);
	BREAK(CQ_CREATE, cq_create.uar, 0, E_HANDLE);
	BREAK(CQ_CREATE, cq_create.flags, 3, OK);
	BREAK(CQ_CREATE, cq_create.flags, 4, E_RESERVED);
	BREAK(CQ_CREATE, cq_create.label, 0xffffffff, OK);
	BREAK(CQ_CREATE, cq_create.reserved, 1, E_RESERVED);
	BREAK(CQ_CREATE, cq_create.cqes, 0, E_ARG);
	BREAK(CQ_CREATE, cq_create.cqes, 255, E_ARG);
	BREAK(CQ_CREATE, cq_create.cqes, 1u << 22, OK);
	BREAK(CQ_CREATE, cq_create.cqes, 1u << 23, E_ARG);
	BREAK(CQ_CREATE, cq_create.cqe_size, 32, E_ARG);
	BREAK(CQ_CREATE, cq_create.event_bit, XEN_VHCA_EVENT_BITS, E_ARG);
	BREAK(CQ_CREATE, cq_create.buf.offset, 64, E_ARG);
	BREAK(CQ_CREATE, cq_create.buf.offset, -4096ull, E_RANGE);
	BREAK(CQ_CREATE, cq_create.dbr.offset, 4, E_ARG);
	BREAK(CQ_CREATE, cq_create.dbr.umem, 0, E_HANDLE);
	BREAK(CQ_RESIZE, cq_resize.cq, 0, E_HANDLE);
	BREAK(CQ_RESIZE, cq_resize.cqes, 0, E_ARG);
	BREAK(CQ_RESIZE, cq_resize.cqes, 300, E_ARG);
	BREAK(CQ_RESIZE, cq_resize.cqes, 1u << 22, OK);
	BREAK(CQ_RESIZE, cq_resize.cqes, 1u << 23, E_ARG);
	BREAK(CQ_RESIZE, cq_resize.buf.umem, 0, E_HANDLE);
	BREAK(CQ_RESIZE, cq_resize.buf.reserved, 1, E_RESERVED);
	BREAK(CQ_RESIZE, cq_resize.buf.offset, 64, E_ARG);
	BREAK(CQ_RESIZE, cq_resize.buf.offset, -4096ull, E_RANGE);
	BREAK(SRQ_CREATE, srq_create.max_wr, 100, E_ARG);
	BREAK(SRQ_CREATE, srq_create.max_wr, 1, E_ARG);
	BREAK(SRQ_CREATE, srq_create.max_wr, 1u << 31, E_ARG);
	BREAK(SRQ_CREATE, srq_create.max_sge, 32, E_ARG);
	BREAK(SRQ_CREATE, srq_create.max_sge, 0xffffffff, E_ARG);
	BREAK(SRQ_CREATE, srq_create.limit, 257, E_ARG);
	BREAK(SRQ_CREATE, srq_create.user_index, 1u << 24, E_ARG);
	BREAK(QP_CREATE, qp_create.type, 8, E_ARG);
	BREAK(QP_CREATE, qp_create.flags, 7, OK);
	BREAK(QP_CREATE, qp_create.flags, XEN_VHCA_QP_BLOCK_LOOPBACK, E_ARG);
	BREAK(QP_CREATE, qp_create.flags, 16, E_RESERVED);
	BREAK(QP_CREATE, qp_create.user_index, 1u << 24, E_ARG);
	BREAK(QP_CREATE, qp_create.sq_wqe_count, 3, E_ARG);
	BREAK(QP_CREATE, qp_create.sq_wqe_count, 1u << 31, E_ARG);
	BREAK(QP_CREATE, qp_create.sq_wqe_count, 0, OK);
	BREAK(QP_CREATE, qp_create.rq_wqe_count, 0, E_ARG);
	BREAK(QP_CREATE, qp_create.rq_wqe_count, 1u << 31, E_ARG);
	BREAK(QP_CREATE, qp_create.rq_wqe_shift, 31, E_ARG);
	BREAK(QP_CREATE, qp_create.rq_wqe_shift, 10, E_ARG); /* twice max_rq_desc */
	BREAK(QP_CREATE, qp_create.rq_wqe_shift, 9, OK);
	BREAK(QP_CREATE, qp_create.buf.offset, 32, E_ARG);
	BREAK(QP_CREATE, qp_create.buf.offset, -4096ull,
	      E_RANGE); /* its receive queue alone would fit */
	BREAK(QP_CREATE, qp_create.rq_wqe_shift, 3, E_ARG);
	BREAK(QP_CREATE, qp_create.srq, 7, E_ARG);
	BREAK(QP_CREATE, qp_create.max_inline, 1025, E_ARG);
	BREAK(QP_CREATE, qp_create.max_send_sge, 31, E_ARG);
	BREAK(QP_CREATE, qp_create.recv_cq, 0, E_HANDLE);
}

static enum xen_vhca_status checked(const struct xen_vhca_req *req)
{
	const struct xen_vhca_device_attr limits = example_limits();

	return vhca_check_request(req, &limits);
}

/* Domains, SRQs of one, QPs that send to one, and targets, which have nothing but the domain. */
static void xrc(void)
{
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_SRQ_CREATE);
	unsigned int i;

	BREAK(CTX_OPEN, ctx_open.flags, XEN_VHCA_CTX_XRCD, OK);
	BREAK(CTX_OPEN, ctx_open.flags, XEN_VHCA_CTX_XRCD | XEN_VHCA_CTX_KERNEL, E_ARG);
	BREAK(CTX_OPEN, ctx_open.flags, 4, E_RESERVED);
	BREAK(SRQ_CREATE, srq_create.xrcd, 7, E_HANDLE);
	BREAK(SRQ_CREATE, srq_create.cq, 7, E_ARG);
	BREAK(SRQ_CREATE, srq_create.reserved, 1, E_RESERVED);
	req.u.srq_create.xrcd = req.u.srq_create.cq = 7;
	EXPECT("XRC", checked(&req), XEN_VHCA_OK);

	req = example_request(XEN_VHCA_OP_QP_CREATE);
	req.u.qp_create.flags = XEN_VHCA_QP_BLOCK_LOOPBACK;
	req.u.qp_create.type = XEN_VHCA_QPT_UD;
	EXPECT("blocks its own", checked(&req), XEN_VHCA_OK);

	BREAK(QP_CREATE, qp_create.type, XEN_VHCA_QPT_XRC_INI, E_ARG);
	BREAK(QP_CREATE, qp_create.type, XEN_VHCA_QPT_XRC_TGT, E_ARG);
	req.u.qp_create.flags = 0;
	req.u.qp_create.type = XEN_VHCA_QPT_XRC_INI;
	req.u.qp_create.recv_cq = 0;
	EXPECT("XRC", checked(&req), XEN_VHCA_E_ARG);
	req.u.qp_create.rq_wqe_count = req.u.qp_create.rq_wqe_shift = 0;
	req.u.qp_create.max_recv_wr = 0;
	EXPECT("XRC", checked(&req), XEN_VHCA_OK);
	req.u.qp_create.flags = XEN_VHCA_QP_RECV_CQ_LABEL;
	EXPECT("XRC", checked(&req), XEN_VHCA_E_ARG);
	req.u.qp_create.flags = 0;
	req.u.qp_create.srq = 7;
	EXPECT("XRC", checked(&req), XEN_VHCA_E_ARG);

	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_QP_CREATE };
	req.u.qp_create.type = XEN_VHCA_QPT_XRC_TGT;
	EXPECT("XRC", checked(&req), XEN_VHCA_E_HANDLE);
	for (i = 0; i < sizeof(req.u.qp_create); i++) {
		req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_QP_CREATE };
		req.u.qp_create.pd = 7;
		req.u.qp_create.type = XEN_VHCA_QPT_XRC_TGT;
		EXPECT("XRC", checked(&req), XEN_VHCA_OK);
		req.u.octets[i] ^= 0x80;
		if (i >= sizeof(req.u.qp_create.pd))
			EXPECT("a target with more", checked(&req) != XEN_VHCA_OK, true);
	}
}

static void modify(void)
{
	BREAK(QP_MODIFY, qp_modify.mask, 1u << 21, E_RESERVED);
	BREAK(QP_MODIFY, qp_modify.attr.state, 7, E_ARG);
	BREAK(QP_MODIFY, qp_modify.attr.port, 2, E_ARG);
	BREAK(QP_MODIFY, qp_modify.attr.av.port, 0, E_ARG);
	BREAK(QP_MODIFY, qp_modify.attr.av.reserved, 1, E_RESERVED);
	BREAK(QP_MODIFY, qp_modify.attr.av.sl, 16, E_ARG);
	BREAK(QP_MODIFY, qp_modify.attr.reserved, 1, E_RESERVED);
	BREAK(QP_MODIFY, qp_modify.attr.qkey, 0x80010000, OK); /* not in the mask */
	BREAK(QP_MODIFY, qp_modify.qp, 0, E_HANDLE);
	BREAK(MCAST_ATTACH, mcast.gid[0], 0xfe, E_ARG);
	BREAK(MCAST_ATTACH, mcast.reserved, 1, E_RESERVED);
	BREAK(AH_CREATE, ah_create.reserved, 1, E_RESERVED);
	BREAK(AH_CREATE, ah_create.ctx, 0, E_HANDLE);
	BREAK(GSI_OPEN, gsi_open.ctx, 0, E_HANDLE);
	BREAK(GSI_OPEN, gsi_open.event_bit, XEN_VHCA_EVENT_BITS, E_ARG);
	BREAK(GSI_OPEN, gsi_open.event_bit, XEN_VHCA_NO_EVENT, E_ARG);
	BREAK(GSI_CLOSE, object.handle, 0, E_HANDLE);
	BREAK(MAD_SEND, mad_send.ctx, 0, E_HANDLE);
	BREAK(MAD_SEND, mad_send.reserved, 1, E_RESERVED);
	BREAK(MAD_SEND, mad_send.av.reserved, 1, E_RESERVED);
	BREAK(MAD_SEND, mad_send.pkey_index, 127, OK);
	BREAK(MAD_SEND, mad_send.pkey_index, 128, E_ARG);
	BREAK(MAD_SEND, mad_send.av.port, 2, E_ARG);
	BREAK(MAD_SEND, mad_send.av.port, 0, E_ARG); /* and the rest is there */
	BREAK(MAD_SEND, mad_send.av.sl, 16, E_ARG);
	BREAK(ADDR_ADD, addr.ctx, 0, E_HANDLE);
	BREAK(ADDR_ADD, addr.family, 5, E_ARG);
	BREAK(ADDR_ADD, addr.family, 6, OK);
	BREAK(ADDR_ADD, addr.reserved[2], 1, E_RESERVED);
	BREAK(ADDR_ADD, addr.addr[4], 1, E_ARG); /* more than an IPv4 address has */
	BREAK(ADDR_DEL, addr.ctx, 0, E_HANDLE);
	BREAK(ADDR_DEL, addr.family, 0, E_ARG);
	BREAK(MAD_RECV, object.reserved, 1, E_RESERVED);
	BREAK(GID_QUERY, index.index, 8, E_ARG);
	BREAK(GID_QUERY, index.more, 5, E_ARG); /* over the table's end */
	BREAK(GID_QUERY, index.more, UINT32_MAX, E_ARG);
	BREAK(PKEY_QUERY, index.index, 128, E_ARG);
	BREAK(PKEY_QUERY, index.more, 123, OK);
	BREAK(PKEY_QUERY, index.more, 124, E_ARG); /* not in one answer */
}

/* What counts if the mask says so. */
static void modify_indices(void)
{
	struct xen_vhca_device_attr limits = example_limits();
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_QP_MODIFY);
	struct xen_vhca_qp_attr *attr = &req.u.qp_modify.attr;

	req.u.qp_modify.mask |= 1 << 4;
	attr->pkey_index = limits.pkeys - 1;
	EXPECT("last P_Key", vhca_check_request(&req, &limits), XEN_VHCA_OK);
	attr->pkey_index = limits.pkeys;
	EXPECT("P_Key behind the table", vhca_check_request(&req, &limits), XEN_VHCA_E_ARG);
	attr->pkey_index = 0;
	attr->av.is_global = 1;
	attr->av.sgid_index = limits.gids - 1;
	EXPECT("last GID", vhca_check_request(&req, &limits), XEN_VHCA_OK);
	attr->av.sgid_index = limits.gids;
	EXPECT("GID behind the table", vhca_check_request(&req, &limits), XEN_VHCA_E_ARG);
}

static void qkey(void)
{
	struct xen_vhca_device_attr limits = example_limits();
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_QP_MODIFY);

	req.u.qp_modify.mask |= 1 << 6;
	req.u.qp_modify.attr.qkey = 0x11111111;
	EXPECT("Q_Key", vhca_check_request(&req, &limits), XEN_VHCA_OK);
	req.u.qp_modify.attr.qkey = 0x80010000;
	EXPECT("controlled Q_Key", vhca_check_request(&req, &limits), XEN_VHCA_E_UNSUPPORTED);
}

static void responses(void)
{
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_CQ_CREATE);
	struct xen_vhca_rsp rsp;

	memset(&rsp, 0, sizeof(rsp));
	rsp.op = req.op;
	rsp.u.queue = (struct xen_vhca_new_queue){ .handle = 1, .number = 0x83 };
	EXPECT("good", vhca_check_response(&req, &rsp), 0);
	rsp.u.octets[8] = 1;
	EXPECT("trailing", vhca_check_response(&req, &rsp), -EPROTO);
	rsp.u.octets[8] = 0;
	rsp.op = XEN_VHCA_OP_SRQ_CREATE; /* whose answer would be as good */
	EXPECT("op", vhca_check_response(&req, &rsp), -EPROTO);
	rsp.op = req.op;
	rsp.id++;
	EXPECT("id", vhca_check_response(&req, &rsp), -EPROTO);
	rsp.id--;
	rsp.u.queue.number = 1u << 24;
	EXPECT("number", vhca_check_response(&req, &rsp), -EPROTO);
	rsp.status = XEN_VHCA_E_BUSY;
	EXPECT("answer to a refusal", vhca_check_response(&req, &rsp), -EPROTO);
	memset(&rsp.u, 0, sizeof(rsp.u));
	EXPECT("refusal", vhca_check_response(&req, &rsp), 0);
	rsp.hca_errno = 12;
	EXPECT("errno without E_HCA", vhca_check_response(&req, &rsp), -EPROTO);
	rsp.status = XEN_VHCA_E_HCA;
	EXPECT("E_HCA", vhca_check_response(&req, &rsp), 0);
	rsp.status = XEN_VHCA_STATUSES;
	EXPECT("status", vhca_check_response(&req, &rsp), -EPROTO);
}

/* A frame that fits into a page table beside its rights, and where the guest wanted it if it has said so. */
static void doorbell_pages(void)
{
	static const unsigned int beyond[] = { 40, 41, 51, 52, 59, 60, 63 };
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_UAR_ALLOC);
	struct xen_vhca_rsp rsp;
	unsigned int i;

	memset(&rsp, 0, sizeof(rsp));
	rsp.op = req.op;
	req.u.uar_alloc.gfn = 0;
	rsp.u.uar = (struct xen_vhca_new_uar){
		.handle = 1, .frame = 0xfe000, .bf_size = 256, .bf_offset = 0x800
	};
	EXPECT("PV", vhca_check_response(&req, &rsp), 0);
	rsp.u.uar.frame = XEN_VHCA_FRAMES - 1;
	EXPECT("the last frame", vhca_check_response(&req, &rsp), 0);
	for (i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
		rsp.u.uar.frame = 0xfe000 | 1ull << beyond[i];
		EXPECT("a bit beyond", vhca_check_response(&req, &rsp), -EPROTO);
	}
	req.u.uar_alloc.gfn = rsp.u.uar.frame = 0x100000;
	EXPECT("auto-translated", vhca_check_response(&req, &rsp), 0);
	rsp.u.uar.frame++;
	EXPECT("another place", vhca_check_response(&req, &rsp), -EPROTO);
}

/* As many entries as were asked for, and nothing behind them. */
static void tables(void)
{
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_PKEY_QUERY);
	struct xen_vhca_rsp rsp;

	memset(&rsp, 0, sizeof(rsp));
	rsp.op = req.op;
	rsp.u.pkeys.pkey[4] = 0xffff;
	EXPECT("P_Keys", vhca_check_response(&req, &rsp), 0);
	rsp.u.pkeys.pkey[5] = 0xffff;
	EXPECT("a P_Key more", vhca_check_response(&req, &rsp), -EPROTO);
	req.u.index.more = XEN_VHCA_PKEYS - 1;
	rsp.u.pkeys.pkey[XEN_VHCA_PKEYS - 1] = 0xffff;
	EXPECT("all P_Keys", vhca_check_response(&req, &rsp), 0);

	req = example_request(XEN_VHCA_OP_GID_QUERY);
	memset(&rsp, 0, sizeof(rsp));
	rsp.op = req.op;
	rsp.u.gids.gid[4][15] = 1;
	EXPECT("GIDs", vhca_check_response(&req, &rsp), 0);
	rsp.u.gids.gid[5][0] = 1;
	EXPECT("a GID more", vhca_check_response(&req, &rsp), -EPROTO);
}

/* Any time may be the HCA's, and nothing is behind it. */
static void clock_of_hca(void)
{
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_CLOCK_QUERY);
	struct xen_vhca_rsp rsp;

	memset(&rsp, 0, sizeof(rsp));
	rsp.op = req.op;
	rsp.u.clock.ticks = UINT64_MAX;
	EXPECT("a time", vhca_check_response(&req, &rsp), 0);
	rsp.u.octets[sizeof(rsp.u.clock)] = 1;
	EXPECT("a time and more", vhca_check_response(&req, &rsp), -EPROTO);
}

/* No more MADs than fit the data page, of which a request to send one has as much as a MAD is long. */
static void mads(void)
{
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_MAD_RECV);
	struct xen_vhca_rsp rsp;

	memset(&rsp, 0, sizeof(rsp));
	rsp.op = req.op;
	EXPECT("no MAD", vhca_check_response(&req, &rsp), 0);
	rsp.u.mads.count = XEN_VHCA_MADS;
	EXPECT("MADs", vhca_check_response(&req, &rsp), 0);
	rsp.u.mads.count++;
	EXPECT("a MAD more", vhca_check_response(&req, &rsp), -EPROTO);
	rsp.u.mads = (struct xen_vhca_mads){ .reserved = 1 };
	EXPECT("MADs, reserved", vhca_check_response(&req, &rsp), -EPROTO);
	EXPECT("words", vhca_request_words(&req), 0);
	req = example_request(XEN_VHCA_OP_MAD_SEND);
	EXPECT("words of a MAD", vhca_request_words(&req), 64);
	EXPECT("pages of a MAD", vhca_request_pages(&req), 0);
	req = example_request(XEN_VHCA_OP_UMEM_ADD);
	EXPECT("words of references", vhca_request_words(&req), 3);
}

/* The umem of a registration: there if and only if it was to be kept. */
static void kept_umems(void)
{
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_MR_REG);
	struct xen_vhca_rsp rsp;

	memset(&rsp, 0, sizeof(rsp));
	rsp.op = req.op;
	rsp.u.mr = (struct xen_vhca_new_mr){ .handle = 1, .lkey = 3, .rkey = 3 };
	EXPECT("by place", vhca_check_response(&req, &rsp), 0);
	rsp.u.mr.umem = 2;
	EXPECT("by place, a umem", vhca_check_response(&req, &rsp), -EPROTO);
	req.u.mr_reg.flags = XEN_VHCA_MR_REG_INLINE;
	EXPECT("inline, a umem", vhca_check_response(&req, &rsp), -EPROTO);
	req.u.mr_reg.flags |= XEN_VHCA_MR_REG_PERSISTENT;
	EXPECT("kept", vhca_check_response(&req, &rsp), 0);
	rsp.u.mr.umem = 1;
	EXPECT("one handle for two", vhca_check_response(&req, &rsp), -EPROTO);
	rsp.u.mr.umem = 0;
	EXPECT("kept, no umem", vhca_check_response(&req, &rsp), -EPROTO);
	rsp.u.mr = (struct xen_vhca_new_mr){ .umem = 2 };
	EXPECT("no MR", vhca_check_response(&req, &rsp), -EPROTO);
	rsp.status = XEN_VHCA_E_LIMIT;
	EXPECT("refused, a umem", vhca_check_response(&req, &rsp), -EPROTO);
	rsp.u.mr.umem = 0;
	EXPECT("refused", vhca_check_response(&req, &rsp), 0);
	/* In MW_ALLOC's request there is something else where the flags are. */
	req = example_request(XEN_VHCA_OP_MW_ALLOC);
	rsp.op = req.op;
	rsp.status = XEN_VHCA_OK;
	rsp.u.mr = (struct xen_vhca_new_mr){ .handle = 1, .rkey = 3 };
	EXPECT("MW", vhca_check_response(&req, &rsp), 0);
	rsp.u.mr.umem = 2;
	EXPECT("MW, a umem", vhca_check_response(&req, &rsp), -EPROTO);
	req = example_request(XEN_VHCA_OP_MR_MODIFY);
	rsp.op = req.op;
	rsp.u.mr = (struct xen_vhca_new_mr){ .handle = req.u.mr_modify.mr, .lkey = 3, .rkey = 3 };
	EXPECT("modified", vhca_check_response(&req, &rsp), 0);
	rsp.u.mr.umem = 2;
	EXPECT("modified, a umem", vhca_check_response(&req, &rsp), -EPROTO);
	rsp.u.mr.umem = 0;
	rsp.u.mr.handle++;
	EXPECT("modified, another MR", vhca_check_response(&req, &rsp), -EPROTO);
}

static void statuses(void)
{
	unsigned int status;

	EXPECT("OK", vhca_status_errno(XEN_VHCA_OK, 0), 0);
	for (status = 1; status < XEN_VHCA_STATUSES; status++)
		EXPECT(vhca_status_name(status), vhca_status_errno(status, 0) < 0, 1);
	EXPECT("unknown", vhca_status_errno(XEN_VHCA_STATUSES, 0), -EPROTO);
	EXPECT("E_HCA, ENOMEM", vhca_status_errno(XEN_VHCA_E_HCA, ENOMEM), -ENOMEM);
	EXPECT("E_HCA, 4000", vhca_status_errno(XEN_VHCA_E_HCA, 4000), -EINVAL);
	EXPECT("E_LIMIT", vhca_status_errno(XEN_VHCA_E_LIMIT, 0), -ENOMEM);
}

/* A buffer for BlueFlame, and the one that takes turns with it, are in the page. */
static void blueflame(void)
{
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_UAR_ALLOC);
	struct xen_vhca_rsp rsp;

	memset(&rsp, 0, sizeof(rsp));
	rsp.op = req.op;
	rsp.u.uar = (struct xen_vhca_new_uar){
		.handle = 1, .frame = 0x1234, .bf_offset = 0x800, .bf_size = 0x400
	};
	EXPECT("up to the page's end", vhca_check_response(&req, &rsp), 0);
	rsp.u.uar.bf_size = 0x800;
	EXPECT("the second behind the page", vhca_check_response(&req, &rsp), -EPROTO);
}

/* One limit too large for what is computed from it. */
#define TOO_LARGE(member, value) \
	do { \
		struct xen_vhca_device_attr attr_ = example_limits(); \
		attr_.member = (value); \
		EXPECT(#member, vhca_check_device_attr(&attr_), 0); \
		attr_.member++; \
		EXPECT(#member ", one more", vhca_check_device_attr(&attr_), -EPROTO); \
	} while (0)

static void device(void)
{
	struct xen_vhca_device_attr attr = example_limits();

	TOO_LARGE(max_qp_wr, 1u << 24);
	TOO_LARGE(max_cqe, 1u << 24);
	TOO_LARGE(max_srq_wr, 1u << 24);
	TOO_LARGE(max_sge, 1u << 12);
	TOO_LARGE(max_sge_rd, 1u << 12);
	TOO_LARGE(max_srq_sge, 1u << 12);
	TOO_LARGE(max_sq_desc, 1u << 16);
	TOO_LARGE(max_rq_desc, 1u << 16);
	TOO_LARGE(max_send_blocks, 1u << 24);
	TOO_LARGE(max_recv_wqes, 1u << 24);
	TOO_LARGE(max_srq_wqes, 1u << 24);
	TOO_LARGE(gids, 1u << 16);
	TOO_LARGE(pkeys, 1u << 16);
	EXPECT("good", vhca_check_device_attr(&attr), 0);
	attr.max_sge = 0xffffffff;
	EXPECT("max_sge", vhca_check_device_attr(&attr), -EPROTO);
	attr = example_limits();
	attr.max_sge_rd = 0; /* Linux divides by it */
	EXPECT("no max_sge_rd", vhca_check_device_attr(&attr), -EPROTO);
	attr = example_limits();
	attr.family = 0;
	EXPECT("family", vhca_check_device_attr(&attr), -EPROTO);
}

static void places(void)
{
	EXPECT("all", vhca_umem_fits(0, 8192, 2), 1);
	EXPECT("end", vhca_umem_fits(8192, 0, 2), 1);
	EXPECT("over", vhca_umem_fits(1, 8192, 2), 0);
	EXPECT("far", vhca_umem_fits(~0ull, 2, 2), 0);
	EXPECT("long", vhca_umem_fits(0, ~0ull, 0xffffffff), 0);
	EXPECT("stride", vhca_srq_stride(1), 32);
	EXPECT("stride", vhca_srq_stride(2), 64);
	EXPECT("stride", vhca_srq_stride(31), 512);
}

/* The names say it as well. */
static void ends(void)
{
	static const char *const words[] = { "_CLOSE", "_FREE", "_DEREG", "_DESTROY" };
	unsigned int op, word;
	int should;

	for (op = 0; op <= XEN_VHCA_OPS; op++) {
		for (should = 0, word = 0; word < sizeof(words) / sizeof(*words); word++)
			should |= !!strstr(vhca_op_name(op), words[word]);
		EXPECT(vhca_op_name(op), vhca_op_ends(op), should);
	}
}

int main(void)
{
	good_requests();
	reserved();
	flags();
	trailing();
	memory();
	inline_mr();
	queues();
	xrc();
	modify();
	modify_indices();
	qkey();
	responses();
	doorbell_pages();
	tables();
	clock_of_hca();
	mads();
	kept_umems();
	statuses();
	blueflame();
	device();
	places();
	ends();
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
