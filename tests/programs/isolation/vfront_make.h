/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vfront_make: what a good frontend asks for when a process opens the device and makes one object of each kind.
 */
#ifndef VFRONT_MAKE_H
#define VFRONT_MAKE_H

#include "vfront.h"

/* Pages of a process: a queue in each, doorbell records, and some to register. */
enum { VFP_CQ, VFP_SRQ, VFP_QP, VFP_RECORDS, VFP_DATA, VFP_PAGES = 8 };

#define VFP_CQES 64
#define VFP_SRQ_WQES 64
#define VFP_SQ_BLOCKS 64

struct vf_process {
	struct vf_pages pages;
	xen_vhca_handle_t ctx, uar, pd, umem, cq, srq, qp, mr, inline_mr, mw;
	uint64_t frame; /* of the doorbell page */
};

/* Good requests. Those for queues want the process's context, UAR, PD and umem. */
struct xen_vhca_req vf_open_ctx(void);
struct xen_vhca_req vf_alloc_uar(xen_vhca_handle_t ctx);
struct xen_vhca_req vf_alloc_pd(xen_vhca_handle_t ctx);
struct xen_vhca_req vf_create_mem(xen_vhca_handle_t ctx, uint32_t pages);
struct xen_vhca_req vf_add_umem(xen_vhca_handle_t umem, uint32_t first, uint32_t count);
struct xen_vhca_req vf_create_cq(const struct vf_process *p);
struct xen_vhca_req vf_resize_cq(const struct vf_process *p);
struct xen_vhca_req vf_create_srq(const struct vf_process *p);
struct xen_vhca_req vf_create_qp(const struct vf_process *p); /* on the SRQ */
struct xen_vhca_req vf_reg_mr(const struct vf_process *p);
struct xen_vhca_req vf_reg_inline(xen_vhca_handle_t pd, uint32_t pages);
struct xen_vhca_req vf_object(unsigned int op, xen_vhca_handle_t handle);

/* The request is done, or the case ends. Returns the new handle. */
xen_vhca_handle_t vf_make(struct vfront *v, const struct xen_vhca_req *req, const uint32_t *refs,
			  unsigned int n);

/* Makes one of each, and destroys them in the right order. */
void vf_process_make(struct vfront *v, struct vf_process *p);
void vf_process_free(struct vfront *v, struct vf_process *p);

/* Is this guest auto-translated (PVH, HVM)? It then says where doorbell pages are to be, else 0. */
bool vf_auto_translated(void);

#endif
