/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * example.h - for the tests: limits of a device, and one good request of each operation.
 */
#ifndef VHCA_EXAMPLE_H
#define VHCA_EXAMPLE_H

#include <string.h>

#include "vhca_check.h"

static inline struct xen_vhca_device_attr example_limits(void)
{
	return (struct xen_vhca_device_attr){
		.max_mr_size = 1ull << 30,
		.max_mem_bytes = 1ull << 30,
		.family = XEN_VHCA_FAMILY_MLX5,
		.max_ctx = 64,
		.max_uar = 256,
		.max_pd = 256,
		.max_mr = 4096,
		.max_mw = 16,
		.max_cq = 1024,
		.max_qp = 1024,
		.max_srq = 64,
		.max_ah = 1024,
		.max_qp_wr = 32768,
		.max_sge = 30,
		.max_sge_rd = 30,
		.max_cqe = (1 << 22) - 1,
		.max_mcast_grp = 1 << 21,
		.max_mcast_qp_attach = 240,
		.max_srq_wr = 32767,
		.max_srq_sge = 31,
		.max_sq_desc = 1024,
		.max_rq_desc = 512,
		.max_send_blocks = 32768,
		.max_recv_wqes = 32768,
		.max_srq_wqes = 32768,
		.cqe_version = 1,
		.pkeys = 128,
		.gids = 8,
	};
}

/* Every handle in them is 7. */
static inline struct xen_vhca_req example_request(unsigned int op)
{
	const struct xen_vhca_umem_addr buf = { .umem = 7 }, dbr = { .umem = 7, .offset = 0x4008 };
	struct xen_vhca_req req;

	memset(&req, 0, sizeof(req));
	req.op = op;
	switch (op) {
	case XEN_VHCA_OP_DEVICE_QUERY:
	case XEN_VHCA_OP_PORT_QUERY:
	case XEN_VHCA_OP_CLOCK_QUERY:
		break;
	case XEN_VHCA_OP_GID_QUERY:
	case XEN_VHCA_OP_PKEY_QUERY:
		req.u.index = (struct xen_vhca_index){ .index = 3, .more = 4 };
		break;
	case XEN_VHCA_OP_CTX_OPEN:
		req.u.ctx_open.pid = 1234;
		req.u.ctx_open.flags = XEN_VHCA_CTX_KERNEL;
		memcpy(req.u.ctx_open.name, "ib_send_lat", 11);
		break;
	case XEN_VHCA_OP_UMEM_CREATE:
		req.u.umem_create = (struct xen_vhca_umem_create){ .ctx = 7, .pages = 5 };
		break;
	case XEN_VHCA_OP_UMEM_ADD:
		req.u.umem_add = (struct xen_vhca_umem_add){ .umem = 7, .first = 2, .count = 3 };
		break;
	case XEN_VHCA_OP_MR_REG:
		req.u.mr_reg = (struct xen_vhca_mr_reg){ .pd = 7,
							 .addr = { 7, 0, 0x123 },
							 .length = 5000,
							 .iova = 0x7f0000000123,
							 .access = 1 };
		break;
	case XEN_VHCA_OP_MR_MODIFY:
		req.u.mr_modify = (struct xen_vhca_mr_modify){ .mr = 7, .pd = 7, .access = 1 };
		break;
	case XEN_VHCA_OP_MW_ALLOC:
		req.u.mw_alloc = (struct xen_vhca_mw_alloc){ .pd = 7, .type = 2, .entries = 20 };
		break;
	case XEN_VHCA_OP_CQ_CREATE:
		req.u.cq_create = (struct xen_vhca_cq_create){ .ctx = 7,
							       .uar = 7,
							       .buf = buf,
							       .dbr = dbr,
							       .cqes = 256,
							       .cqe_size = 64,
							       .event_bit = XEN_VHCA_NO_EVENT };
		break;
	case XEN_VHCA_OP_CQ_MODIFY:
		req.u.cq_modify =
			(struct xen_vhca_cq_modify){ .cq = 7, .count = 4, .period_us = 8 };
		break;
	case XEN_VHCA_OP_CQ_RESIZE:
		req.u.cq_resize = (struct xen_vhca_cq_resize){ .cq = 7, .cqes = 512, .buf = buf };
		break;
	case XEN_VHCA_OP_SRQ_CREATE:
		req.u.srq_create = (struct xen_vhca_srq_create){
			.pd = 7, .buf = buf, .dbr = dbr, .max_wr = 256, .max_sge = 1
		};
		break;
	case XEN_VHCA_OP_SRQ_MODIFY:
		req.u.srq_modify = (struct xen_vhca_srq_modify){ .srq = 7, .limit = 10 };
		break;
	case XEN_VHCA_OP_QP_CREATE:
		req.u.qp_create = (struct xen_vhca_qp_create){ .pd = 7,
							       .send_cq = 7,
							       .recv_cq = 7,
							       .uar = 7,
							       .type = XEN_VHCA_QPT_RC,
							       .user_index = 5,
							       .buf = buf,
							       .dbr = dbr,
							       .sq_wqe_count = 128,
							       .rq_wqe_count = 64,
							       .rq_wqe_shift = 4,
							       .max_send_wr = 64,
							       .max_recv_wr = 64,
							       .max_send_sge = 1,
							       .max_recv_sge = 1,
							       .max_inline = 28 };
		break;
	case XEN_VHCA_OP_QP_MODIFY:
		req.u.qp_modify = (struct xen_vhca_qp_modify){
			.qp = 7,
			.mask = 1 | 1 << 5 | 1 << 7,
			.attr = { .state = 2, .port = 1, .av = { .port = 1, .dlid = 9 } }
		};
		break;
	case XEN_VHCA_OP_MCAST_ATTACH:
	case XEN_VHCA_OP_MCAST_DETACH:
		req.u.mcast = (struct xen_vhca_mcast){ .qp = 7, .lid = 0xc001, .gid = { 0xff } };
		break;
	case XEN_VHCA_OP_GSI_OPEN:
		req.u.gsi_open = (struct xen_vhca_gsi_open){ .ctx = 7, .event_bit = 9 };
		break;
	case XEN_VHCA_OP_MAD_SEND:
		req.u.mad_send = (struct xen_vhca_mad_send){
			.ctx = 7,
			.av = { .dlid = 3, .sl = 1, .port = 1 },
		};
		break;
	case XEN_VHCA_OP_ADDR_ADD:
	case XEN_VHCA_OP_ADDR_DEL:
		req.u.addr = (struct xen_vhca_addr){
			.ctx = 7,
			.family = 4,
			.addr = { 10, 9, 0, 11 },
		};
		break;
	default: /* those that name one object, and those that begin with one */
		req.u.object.handle = 7;
		break;
	}
	return req;
}

#endif
