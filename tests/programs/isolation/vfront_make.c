// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vfront_make.h"

/* Where an auto-translated guest has its doorbell pages: far above its memory, a page for each call. */
#define FIRST_GFN 0x400000u

bool vf_auto_translated(void)
{
	FILE *file = fopen("/sys/hypervisor/guest_type", "r");
	char type[16] = "";

	require(file && fgets(type, sizeof(type), file), "the guest's type");
	fclose(file);
	return strcmp(type, "PV\n");
}

struct xen_vhca_req vf_open_ctx(void)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_CTX_OPEN,
				    .u.ctx_open = { .pid = getpid(), .name = "vfront" } };

	return req;
}

struct xen_vhca_req vf_alloc_uar(xen_vhca_handle_t ctx)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_UAR_ALLOC, .u.uar_alloc = { .ctx = ctx } };
	static uint64_t gfn = FIRST_GFN;

	if (vf_auto_translated())
		req.u.uar_alloc.gfn = gfn++;
	return req;
}

struct xen_vhca_req vf_alloc_pd(xen_vhca_handle_t ctx)
{
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_PD_ALLOC, .u.pd_alloc.ctx = ctx };
}

struct xen_vhca_req vf_create_mem(xen_vhca_handle_t ctx, uint32_t pages)
{
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_UMEM_CREATE,
				      .u.umem_create = { .ctx = ctx, .pages = pages } };
}

struct xen_vhca_req vf_add_umem(xen_vhca_handle_t umem, uint32_t first, uint32_t count)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_UMEM_ADD,
		.u.umem_add = { .umem = umem, .first = first, .count = count },
	};
}

static struct xen_vhca_umem_addr page(const struct vf_process *p, unsigned int n)
{
	return (struct xen_vhca_umem_addr){ .umem = p->umem, .offset = (uint64_t)n * VF_PAGE };
}

static struct xen_vhca_umem_addr record(const struct vf_process *p, unsigned int n)
{
	return (struct xen_vhca_umem_addr){ .umem = p->umem,
					    .offset = VFP_RECORDS * VF_PAGE + 8 * n };
}

struct xen_vhca_req vf_create_cq(const struct vf_process *p)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_CQ_CREATE,
		.u.cq_create = {
			.ctx = p->ctx, .uar = p->uar, .buf = page(p, VFP_CQ), .dbr = record(p, VFP_CQ),
			.cqes = VFP_CQES, .cqe_size = 64, .event_bit = XEN_VHCA_NO_EVENT,
		},
	};
}

struct xen_vhca_req vf_resize_cq(const struct vf_process *p)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_CQ_RESIZE,
		.u.cq_resize = { .cq = p->cq, .cqes = VFP_CQES / 2, .buf = page(p, VFP_CQ) },
	};
}

struct xen_vhca_req vf_create_srq(const struct vf_process *p)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_SRQ_CREATE,
		.u.srq_create = {
			.pd = p->pd, .buf = page(p, VFP_SRQ), .dbr = record(p, VFP_SRQ), .max_wr = VFP_SRQ_WQES,
			.max_sge = 1,
		},
	};
}

struct xen_vhca_req vf_create_qp(const struct vf_process *p)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_QP_CREATE,
		.u.qp_create = {
			.pd = p->pd, .send_cq = p->cq, .recv_cq = p->cq, .srq = p->srq, .uar = p->uar,
			.type = XEN_VHCA_QPT_RC, .buf = page(p, VFP_QP), .dbr = record(p, VFP_QP),
			.sq_wqe_count = VFP_SQ_BLOCKS, .max_send_wr = VFP_SQ_BLOCKS, .max_send_sge = 1,
		},
	};
}

struct xen_vhca_req vf_reg_mr(const struct vf_process *p)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_MR_REG,
		.u.mr_reg = {
			.pd = p->pd, .addr = page(p, VFP_DATA), .length = 2 * VF_PAGE,
			.access = XEN_VHCA_ACCESS_LOCAL_WRITE,
		},
	};
}

struct xen_vhca_req vf_reg_inline(xen_vhca_handle_t pd, uint32_t pages)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_MR_REG,
		.u.mr_reg = {
			.pd = pd, .flags = XEN_VHCA_MR_REG_INLINE, .pages = pages, .length = (uint64_t)pages * VF_PAGE,
			.access = XEN_VHCA_ACCESS_LOCAL_WRITE,
		},
	};
}

struct xen_vhca_req vf_object(unsigned int op, xen_vhca_handle_t handle)
{
	return (struct xen_vhca_req){ .op = op, .u.object.handle = handle };
}

xen_vhca_handle_t vf_make(struct vfront *v, const struct xen_vhca_req *req, const uint32_t *refs,
			  unsigned int n)
{
	struct xen_vhca_rsp *rsp = vf_do_refs(v, req, refs, n);

	require(!rsp->status, "%s is done (%s, errno %u)", vhca_op_name(req->op),
		vhca_status_name(rsp->status), rsp->hca_errno);
	return rsp->u.object.handle;
}

/* The first field of every answer that makes something is its handle. */
static xen_vhca_handle_t make(struct vfront *v, struct xen_vhca_req req)
{
	return vf_make(v, &req, NULL, 0);
}

void vf_process_make(struct vfront *v, struct vf_process *p)
{
	struct xen_vhca_req req;

	memset(p, 0, sizeof(*p));
	vf_share(v, &p->pages, VFP_PAGES, v->backend, true);
	p->ctx = make(v, vf_open_ctx());
	p->uar = make(v, vf_alloc_uar(p->ctx));
	p->frame = v->rsp[v->next_id].u.uar.frame;
	p->pd = make(v, vf_alloc_pd(p->ctx));
	req = vf_create_mem(p->ctx, VFP_PAGES);
	p->umem = vf_make(v, &req, p->pages.refs, VFP_PAGES);
	p->cq = make(v, vf_create_cq(p));
	p->srq = make(v, vf_create_srq(p));
	p->qp = make(v, vf_create_qp(p));
	p->mr = make(v, vf_reg_mr(p));
	req = vf_reg_inline(p->pd, 2);
	p->inline_mr = vf_make(v, &req, &p->pages.refs[VFP_DATA + 2], 2);
	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_MW_ALLOC,
				     .u.mw_alloc = { .pd = p->pd, .type = 2 } };
	p->mw = make(v, req);
}

void vf_process_free(struct vfront *v, struct vf_process *p)
{
	const struct {
		unsigned int op;
		xen_vhca_handle_t handle;
	} order[] = {
		{ XEN_VHCA_OP_MW_FREE, p->mw },        { XEN_VHCA_OP_MR_DEREG, p->inline_mr },
		{ XEN_VHCA_OP_MR_DEREG, p->mr },       { XEN_VHCA_OP_QP_DESTROY, p->qp },
		{ XEN_VHCA_OP_SRQ_DESTROY, p->srq },   { XEN_VHCA_OP_CQ_DESTROY, p->cq },
		{ XEN_VHCA_OP_UMEM_DESTROY, p->umem }, { XEN_VHCA_OP_PD_FREE, p->pd },
		{ XEN_VHCA_OP_UAR_FREE, p->uar },      { XEN_VHCA_OP_CTX_CLOSE, p->ctx },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		struct xen_vhca_req req = vf_object(order[i].op, order[i].handle);
		struct xen_vhca_rsp *rsp = vf_do(v, &req);

		check(!rsp->status, "%s is done (%s)", vhca_op_name(req.op),
		      vhca_status_name(rsp->status));
	}
	vf_unshare(v, &p->pages);
}
