/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhca_layout.h - where each member of the protocol's structures lies, whatever compiles them.
 *
 * For one source file, which includes it once.
 */
#ifndef VHCA_LAYOUT_H
#define VHCA_LAYOUT_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <assert.h>
#include <stddef.h>
#endif

#include "vhca_event_pages.h"
#include "vhca_response.h"

#define SIZE(type, size) static_assert(sizeof(struct type) == (size), #type)
#define OFFSET(type, member, offset) \
	static_assert(offsetof(struct type, member) == (offset), #type "." #member)

SIZE(xen_vhca_umem_addr, 16);
OFFSET(xen_vhca_umem_addr, offset, 8);
SIZE(xen_vhca_ctx_open, 24);
OFFSET(xen_vhca_ctx_open, name, 8);
SIZE(xen_vhca_object, 8);
SIZE(xen_vhca_uar_alloc, 16);
OFFSET(xen_vhca_uar_alloc, gfn, 8);
SIZE(xen_vhca_pd_alloc, 8);
SIZE(xen_vhca_ah_create, 8);
SIZE(xen_vhca_umem_create, 16);
SIZE(xen_vhca_umem_add, 16);
SIZE(xen_vhca_mr_reg, 48);
OFFSET(xen_vhca_mr_reg, addr, 8);
OFFSET(xen_vhca_mr_reg, length, 24);
OFFSET(xen_vhca_mr_reg, iova, 32);
OFFSET(xen_vhca_mr_reg, access, 40);
OFFSET(xen_vhca_mr_reg, pages, 44);
SIZE(xen_vhca_mr_modify, 16);
SIZE(xen_vhca_mw_alloc, 12);
SIZE(xen_vhca_cq_create, 64);
OFFSET(xen_vhca_cq_create, buf, 8);
OFFSET(xen_vhca_cq_create, dbr, 24);
OFFSET(xen_vhca_cq_create, cqes, 40);
SIZE(xen_vhca_cq_modify, 8);
SIZE(xen_vhca_cq_resize, 24);
OFFSET(xen_vhca_cq_resize, buf, 8);
SIZE(xen_vhca_srq_create, 64);
OFFSET(xen_vhca_srq_create, buf, 8);
OFFSET(xen_vhca_srq_create, dbr, 24);
OFFSET(xen_vhca_srq_create, max_wr, 40);
SIZE(xen_vhca_srq_modify, 8);
SIZE(xen_vhca_qp_create, 96);
OFFSET(xen_vhca_qp_create, buf, 32);
OFFSET(xen_vhca_qp_create, dbr, 48);
OFFSET(xen_vhca_qp_create, sq_wqe_count, 64);
OFFSET(xen_vhca_qp_create, max_inline, 92);
SIZE(xen_vhca_av, 32);
OFFSET(xen_vhca_av, dlid, 20);
OFFSET(xen_vhca_av, port, 29);
SIZE(xen_vhca_qp_attr, 104);
OFFSET(xen_vhca_qp_attr, qkey, 4);
OFFSET(xen_vhca_qp_attr, pkey_index, 24);
OFFSET(xen_vhca_qp_attr, port, 28);
OFFSET(xen_vhca_qp_attr, av, 40);
OFFSET(xen_vhca_qp_attr, alt_av, 72);
SIZE(xen_vhca_qp_modify, 112);
SIZE(xen_vhca_mcast, 24);
SIZE(xen_vhca_index, 8);
SIZE(xen_vhca_gsi_open, 8);
SIZE(xen_vhca_mad_send, 40);
OFFSET(xen_vhca_mad_send, av, 8);
SIZE(xen_vhca_addr, 24);
OFFSET(xen_vhca_addr, addr, 8);
SIZE(xen_vhca_req, XEN_VHCA_REQ_SIZE);
OFFSET(xen_vhca_req, op, 2);
OFFSET(xen_vhca_req, u, 8);
SIZE(xen_vhca_new_object, 8);
SIZE(xen_vhca_new_uar, 24);
OFFSET(xen_vhca_new_uar, frame, 8);
OFFSET(xen_vhca_new_uar, bf_offset, 20);
SIZE(xen_vhca_new_mr, 16);
OFFSET(xen_vhca_new_mr, umem, 12);
SIZE(xen_vhca_new_queue, 8);
SIZE(xen_vhca_srq_attr, 16);
SIZE(xen_vhca_qp_info, 104);
SIZE(xen_vhca_port_attr, 40);
OFFSET(xen_vhca_port_attr, gid_tbl_len, 16);
SIZE(xen_vhca_gids, 240);
SIZE(xen_vhca_pkeys, 248);
SIZE(xen_vhca_clock, 8);
SIZE(xen_vhca_mads, 8);
SIZE(xen_vhca_mad, 312);
OFFSET(xen_vhca_mad, slid, 4);
OFFSET(xen_vhca_mad, sl, 8);
OFFSET(xen_vhca_mad, grh, 16);
static_assert(XEN_VHCA_MADS * sizeof(struct xen_vhca_mad) <= XEN_VHCA_PAGE_SIZE, "fit a data page");
SIZE(xen_vhca_rsp, XEN_VHCA_REQ_SIZE);
OFFSET(xen_vhca_rsp, status, 4);
OFFSET(xen_vhca_rsp, hca_errno, 6);
OFFSET(xen_vhca_rsp, u, 8);
OFFSET(xen_vhca_device_attr, vendor_id, 56);
OFFSET(xen_vhca_device_attr, core_clock_khz, 196);
OFFSET(xen_vhca_device_attr, max_cq_count, 200);
OFFSET(xen_vhca_device_attr, null_key, 204);
SIZE(xen_vhca_device_attr, 208);
static_assert(sizeof(struct xen_vhca_device_attr) <= XEN_VHCA_PAGE_SIZE, "fits a data page");
SIZE(xen_vhca_async_event, 16);
OFFSET(xen_vhca_async_page, prod, 4);
OFFSET(xen_vhca_async_page, lost, 8);
OFFSET(xen_vhca_async_page, ring, 64);
SIZE(xen_vhca_async_page, XEN_VHCA_PAGE_SIZE);
static_assert(!(XEN_VHCA_ASYNC_EVENTS & (XEN_VHCA_ASYNC_EVENTS - 1)), "free running indices");

#undef SIZE
#undef OFFSET

#endif
