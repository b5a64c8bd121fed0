// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * pd.c - protection, thread and parent domains, see pd.h; XRC domains.
 */
#include <errno.h>
#include <stdlib.h>

#include "abi.h"
#include "context.h"
#include "pd.h"
#include "verbs.h"

struct ibv_pd *xenib_alloc_pd(struct ibv_context *context)
{
	struct xenib_ualloc_pd_resp resp = {};
	struct xenib_ualloc_pd cmd = {};
	struct xenib_pd *pd;
	int err;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	err = ibv_cmd_alloc_pd(context, &pd->pd, &cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp,
			       sizeof(resp));
	if (err) {
		free(pd);
		errno = err;
		return NULL;
	}
	return &pd->pd;
}

struct ibv_pd *xenib_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_PD, XENIB_METHOD_PD_QUERY, 2);
	struct xenib_alloc_pd_resp resp = {};
	struct xenib_pd *pd;
	int err;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	fill_attr_in_obj(cmd, XENIB_ATTR_PD_QUERY_HANDLE, pd_handle);
	fill_attr_out_ptr(cmd, XENIB_ATTR_PD_QUERY_RESP, &resp);
	err = execute_ioctl(context, cmd);
	if (err) {
		free(pd);
		errno = err;
		return NULL;
	}
	pd->pd.context = context;
	pd->pd.handle = pd_handle;
	return &pd->pd;
}

void xenib_unimport_pd(struct ibv_pd *ibpd)
{
	free(to_xpd(ibpd));
}

static int dealloc_parent_domain(struct xenib_pd *pd)
{
	if (atomic_load(&pd->users))
		return EBUSY;

	atomic_fetch_sub(&pd->parent->users, 1);
	if (pd->td)
		atomic_fetch_sub(&pd->td->users, 1);
	free(pd);
	return 0;
}

int xenib_dealloc_pd(struct ibv_pd *ibpd)
{
	struct xenib_pd *pd = to_xpd(ibpd);
	int err;

	if (pd->parent)
		return dealloc_parent_domain(pd);
	if (atomic_load(&pd->users))
		return EBUSY;

	err = ibv_cmd_dealloc_pd(ibpd);
	if (err)
		return err;

	free(pd);
	return 0;
}

struct ibv_pd *xenib_alloc_parent_domain(struct ibv_context *context,
					 struct ibv_parent_domain_init_attr *attr)
{
	bool allocators = attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	struct xenib_pd *pd, *parent;

	if (ibv_check_alloc_parent_domain(attr))
		return NULL;

	if (!check_comp_mask(attr->comp_mask, IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
						      IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)) {
		verbs_debug(&to_xctx(context)->vctx, "refused: a parent domain with fields %#x\n",
			    attr->comp_mask);
		errno = EOPNOTSUPP;
		return NULL;
	}

	parent = to_xpd(attr->pd);
	if (parent->parent || (allocators && (!attr->alloc || !attr->free))) {
		errno = EINVAL;
		return NULL;
	}

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	pd->parent = parent;
	if (allocators) {
		pd->alloc = attr->alloc;
		pd->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->pd_context = attr->pd_context;
	atomic_fetch_add(&parent->users, 1);
	if (attr->td) {
		pd->td = container_of(attr->td, struct xenib_td, td);
		atomic_fetch_add(&pd->td->users, 1);
	}
	ibv_initialize_parent_domain(&pd->pd, attr->pd);
	return &pd->pd;
}

struct ibv_td *xenib_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct xenib_context *ctx = to_xctx(context);
	struct xenib_td *td;
	int err;

	if (attr->comp_mask) {
		verbs_debug(&ctx->vctx, "refused: a thread domain with fields %#x\n",
			    attr->comp_mask);
		errno = EOPNOTSUPP;
		return NULL;
	}

	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;

	err = xenib_uar_create(context, &td->uar, !ctx->uars.no_bf);
	if (err) {
		free(td);
		errno = err;
		return NULL;
	}

	td->td.context = context;
	return &td->td;
}

int xenib_dealloc_td(struct ibv_td *ibtd)
{
	struct xenib_td *td = container_of(ibtd, struct xenib_td, td);

	if (atomic_load(&td->users))
		return EBUSY;

	xenib_uar_destroy(ibtd->context, &td->uar);
	free(td);
	return 0;
}

struct ibv_xrcd *xenib_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	struct ib_uverbs_open_xrcd_resp resp;
	struct ibv_open_xrcd cmd = {};
	struct verbs_xrcd *xrcd;
	int err;

	xrcd = calloc(1, sizeof(*xrcd));
	if (!xrcd)
		return NULL;

	err = ibv_cmd_open_xrcd(context, xrcd, sizeof(*xrcd), attr, &cmd, sizeof(cmd), &resp,
				sizeof(resp));
	if (err) {
		free(xrcd);
		errno = err;
		return NULL;
	}
	return &xrcd->xrcd;
}

int xenib_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct verbs_xrcd *xrcd = container_of(ibxrcd, struct verbs_xrcd, xrcd);
	int err;

	err = ibv_cmd_close_xrcd(xrcd);
	if (err)
		return err;

	free(xrcd);
	return 0;
}
