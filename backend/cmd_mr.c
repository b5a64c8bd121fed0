// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd_mr.c - protection domains, memory regions and memory windows.
 */
#include <errno.h>

#include "cmd.h"

static struct hca_ctx *hca_ctx(const struct cmd *cmd)
{
	return cmd->ctx->hca;
}

enum xen_vhca_status cmd_pd_alloc(struct cmd *cmd)
{
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj, *ctx;
	struct hca_obj pd;

	status = cmd_use(cmd, cmd->req.u.pd_alloc.ctx, OBJ_CTX, &ctx);
	if (status)
		return status;
	status = cmd_new(cmd, OBJ_PD, sizeof(*obj), &obj);
	if (status)
		return status;
	status = cmd_hca(cmd, ops->pd_alloc(hca_ctx(cmd), &pd), "allocating a PD");
	if (status) {
		cmd_drop(cmd, obj);
		return status;
	}
	obj->hca_id = pd.id;
	obj->number = pd.number;
	cmd->rsp.u.object.handle = obj->handle;
	cmd->rsp.u.object.number = pd.number;
	cmd_publish(cmd, obj);
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_pd_free(struct cmd *cmd)
{
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_take(cmd, cmd->req.u.object.handle, OBJ_PD, &obj);
	if (status)
		return status;
	status = cmd_hca(cmd, ops->pd_free(hca_ctx(cmd), obj->hca_id), "freeing a PD");
	if (status)
		cmd_keep(cmd, obj);
	else
		cmd_gone(cmd, obj);
	return status;
}

/* The pages that came with the request, as a region that only this MR has. */
static enum xen_vhca_status make_region(struct cmd *cmd, struct mem *mr)
{
	const struct xen_vhca_mr_reg *a = &cmd->req.u.mr_reg;
	struct vdev *v = cmd->v;
	enum xen_vhca_status status;
	bool taken;
	int err;

	status = cmd_charge(cmd, a->pages);
	if (status)
		return status;
	pthread_mutex_lock(&v->lock);
	taken = quota_take(&v->quota.objects[OBJ_MEM], 1);
	pthread_mutex_unlock(&v->lock);
	if (!taken) {
		status = cmd_refuse(cmd, XEN_VHCA_E_LIMIT, "no more regions");
		goto err_uncharge;
	}
	err = region_init(&mr->region, a->pages, !(a->access & VHCA_ACCESS_WRITES));
	if (err) {
		status = cmd_refuse(cmd, XEN_VHCA_E_NOMEM, "no addresses for %u pages", a->pages);
		goto err_quota;
	}
	region_claim(&mr->region, 0, a->pages);
	err = region_map(&mr->region, v->t, 0, cmd->refs, a->pages);
	region_settle(&mr->region, 0, a->pages, err);
	if (err) {
		status = cmd_refuse(cmd, err == -ENOMEM ? XEN_VHCA_E_NOMEM : XEN_VHCA_E_GRANT,
				    "mapping %u pages", a->pages);
		goto err_region;
	}
	mr->charged = a->pages;
	return XEN_VHCA_OK;

err_region:
	region_fini(&mr->region);
err_quota:
	pthread_mutex_lock(&v->lock);
	quota_give(&v->quota.objects[OBJ_MEM], 1);
	pthread_mutex_unlock(&v->lock);
err_uncharge:
	cmd_uncharge(cmd, a->pages);
	return status;
}

static void drop_region(struct cmd *cmd, struct mem *mr)
{
	struct vdev *v = cmd->v;

	if (!mr->charged)
		return;
	region_fini(&mr->region);
	pthread_mutex_lock(&v->lock);
	quota_give(&v->quota.objects[OBJ_MEM], 1);
	quota_give(&v->quota.bytes, (uint64_t)mr->charged * XEN_VHCA_PAGE_SIZE);
	pthread_mutex_unlock(&v->lock);
	mr->charged = 0;
}

/* Where the memory is: in a region of the guest's, or in one that is made here. */
static enum xen_vhca_status place_mr(struct cmd *cmd, struct mem *mr, uint64_t *addr)
{
	const struct xen_vhca_mr_reg *a = &cmd->req.u.mr_reg;
	enum xen_vhca_status status;

	if (!(a->flags & XEN_VHCA_MR_REG_INLINE))
		return cmd_use_place(cmd, &a->place, a->length,
				     a->access & VHCA_ACCESS_WRITES, addr);
	status = make_region(cmd, mr);
	if (!status)
		*addr = (uintptr_t)mr->region.base + a->place.offset;
	return status;
}

enum xen_vhca_status cmd_mr_reg(struct cmd *cmd)
{
	const struct xen_vhca_mr_reg *a = &cmd->req.u.mr_reg;
	const struct hca_ops *ops = cmd->v->hca->ops;
	struct hca_mr_attr attr = { .access = a->access, .length = a->length, .iova = a->iova };
	enum xen_vhca_status status;
	struct object *obj, *pd;
	struct hca_mr mr;

	status = cmd_use(cmd, a->pd, OBJ_PD, &pd);
	if (status)
		return status;
	attr.pd = pd->hca_id;
	status = cmd_new(cmd, OBJ_MR, sizeof(struct mem), &obj);
	if (status)
		return status;
	status = place_mr(cmd, (struct mem *)obj, &attr.addr);
	if (status)
		goto err_drop;
	status = cmd_hca(cmd, ops->mr_reg(hca_ctx(cmd), &attr, &mr), "registering memory");
	if (status)
		goto err_region;
	obj->hca_id = mr.id;
	obj->number = mr.lkey;
	cmd->rsp.u.mr = (struct xen_vhca_new_mr){
		.handle = obj->handle, .lkey = mr.lkey, .rkey = mr.rkey,
	};
	cmd_publish(cmd, obj);
	return XEN_VHCA_OK;

err_region:
	drop_region(cmd, (struct mem *)obj);
err_drop:
	cmd_drop(cmd, obj);
	return status;
}

enum xen_vhca_status cmd_mr_dereg(struct cmd *cmd)
{
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_take(cmd, cmd->req.u.object.handle, OBJ_MR, &obj);
	if (status)
		return status;
	status = cmd_hca(cmd, ops->mr_dereg(hca_ctx(cmd), obj->hca_id), "deregistering memory");
	if (status) {
		cmd_keep(cmd, obj);
		return status;
	}
	drop_region(cmd, (struct mem *)obj);
	cmd_gone(cmd, obj);
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_mw_alloc(struct cmd *cmd)
{
	const struct xen_vhca_mw_alloc *a = &cmd->req.u.mw_alloc;
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj, *pd;
	struct hca_mr mw;

	status = cmd_use(cmd, a->pd, OBJ_PD, &pd);
	if (status)
		return status;
	status = cmd_new(cmd, OBJ_MW, sizeof(*obj), &obj);
	if (status)
		return status;
	status = cmd_hca(cmd, ops->mw_alloc(hca_ctx(cmd), pd->hca_id, a->type, &mw),
			 "allocating a memory window");
	if (status) {
		cmd_drop(cmd, obj);
		return status;
	}
	obj->hca_id = mw.id;
	cmd->rsp.u.mr = (struct xen_vhca_new_mr){ .handle = obj->handle, .rkey = mw.rkey };
	cmd_publish(cmd, obj);
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_mw_free(struct cmd *cmd)
{
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_take(cmd, cmd->req.u.object.handle, OBJ_MW, &obj);
	if (status)
		return status;
	status = cmd_hca(cmd, ops->mw_free(hca_ctx(cmd), obj->hca_id), "freeing a memory window");
	if (status)
		cmd_keep(cmd, obj);
	else
		cmd_gone(cmd, obj);
	return status;
}
