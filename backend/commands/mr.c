// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mr.c - protection domains, memory regions and memory windows.
 */
#include "commands/cmd.h"

#define DEP_PD 0 /* of an MR's dependencies */

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
	return cmd_destroy(cmd, OBJ_PD, cmd->v->hca->ops->pd_free, "freeing a PD");
}

/*
 * Where the memory is: in a umem of the guest's, or in one that is made of the request's pages.
 * @made: the latter, or NULL
 */
static enum xen_vhca_status place_mr(struct cmd *cmd, struct object **made,
				     const struct umem **umem)
{
	const struct xen_vhca_mr_reg *a = &cmd->req.u.mr_reg;
	enum xen_vhca_status status;

	*made = NULL;
	if (!(a->flags & XEN_VHCA_MR_REG_INLINE))
		return cmd_use_umem(cmd, &a->addr, a->length, a->access & VHCA_ACCESS_WRITES, umem);
	status = cmd_umem_make(cmd, a->pages, !(a->access & VHCA_ACCESS_WRITES), true, made);
	if (!status)
		*umem = &((struct umem_obj *)*made)->umem;
	return status;
}

/* A umem that is to be kept is the guest's from now on; else it belongs to the MR. */
static void publish_mr(struct cmd *cmd, struct mr *mr, struct object *made)
{
	const bool keep = cmd->req.u.mr_reg.flags & XEN_VHCA_MR_REG_PERSISTENT;

	if (!made) {
		cmd_publish(cmd, &mr->obj);
		return;
	}
	if (keep)
		cmd->rsp.u.mr.umem = made->handle;
	else
		mr->own = (struct umem_obj *)made;
	cmd_publish_both(cmd, &mr->obj, made, keep);
}

enum xen_vhca_status cmd_mr_reg(struct cmd *cmd)
{
	const struct xen_vhca_mr_reg *a = &cmd->req.u.mr_reg;
	struct hca_mr_attr attr = { .access = a->access, .iova = a->iova };
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj, *pd, *made;
	const struct umem *umem;
	struct hca_mr hca;
	struct mr *mr;

	status = cmd_use(cmd, a->pd, OBJ_PD, &pd);
	if (status)
		return status;
	attr.pd = pd->hca_id;
	status = cmd_new(cmd, OBJ_MR, sizeof(struct mr), &obj);
	if (status)
		return status;
	status = place_mr(cmd, &made, &umem);
	if (status)
		goto err_drop;
	attr.at = cmd_place(cmd, umem, a->addr.offset, a->length);
	status = cmd_hca(cmd, ops->mr_reg(hca_ctx(cmd), &attr, &hca), "registering memory");
	if (status)
		goto err_umem;
	obj->hca_id = hca.id;
	obj->number = hca.lkey;
	mr = (struct mr *)obj;
	mr->length = a->length;
	mr->access = a->access;
	mr->writable = a->access & VHCA_ACCESS_WRITES;
	mr->umem = umem;
	cmd->rsp.u.mr = (struct xen_vhca_new_mr){
		.handle = obj->handle,
		.lkey = hca.lkey,
		.rkey = hca.rkey,
	};
	publish_mr(cmd, mr, made);
	return XEN_VHCA_OK;

err_umem:
	if (made)
		cmd_umem_drop(cmd, made);
err_drop:
	cmd_drop(cmd, obj);
	return status;
}

/* What Linux changes without another registration (can_use_umr_rereg_access() in drivers/infiniband/hw/mlx5/mr.c). */
#define CHANGEABLE \
	(XEN_VHCA_ACCESS_LOCAL_WRITE | XEN_VHCA_ACCESS_REMOTE_WRITE | \
	 XEN_VHCA_ACCESS_REMOTE_READ | XEN_VHCA_ACCESS_REMOTE_ATOMIC | \
	 XEN_VHCA_ACCESS_RELAXED_ORDERING)

/* Memory that was registered for reading is not written later: Linux has pinned and mapped it for that (ib_umem_check_rereg()). */
static enum xen_vhca_status check_rights(struct cmd *cmd, const struct mr *mr, uint32_t access)
{
	const bool writes = access & VHCA_ACCESS_WRITES;

	if (writes && mr->umem->read_only)
		return cmd_refuse(cmd, XEN_VHCA_E_ARG, "MR 0x%x has a umem that is read-only",
				  mr->obj.handle);
	if ((access ^ mr->access) & ~CHANGEABLE || (writes && !mr->writable))
		return cmd_refuse(cmd, XEN_VHCA_E_UNSUPPORTED, "MR 0x%x: rights 0x%x after 0x%x",
				  mr->obj.handle, access, mr->access);
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_mr_modify(struct cmd *cmd)
{
	const struct xen_vhca_mr_modify *a = &cmd->req.u.mr_modify;
	struct hca_mr_attr attr = { .access = a->access };
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj, *pd;
	struct hca_mr hca;
	struct mr *mr;

	status = cmd_use(cmd, a->mr, OBJ_MR, &obj);
	if (status)
		return status;
	mr = (struct mr *)obj;
	pd = obj->deps[DEP_PD];
	if (a->pd)
		status = cmd_use(cmd, a->pd, OBJ_PD, &pd);
	if (!status)
		status = check_rights(cmd, mr, a->access);
	if (status)
		return status;
	attr.pd = pd->hca_id;
	attr.at.dmabuf = mr->umem->dmabuf;
	status = cmd_hca(cmd, ops->mr_modify(hca_ctx(cmd), obj->hca_id, &attr, &hca),
			 "changing an MR's rights");
	if (status)
		return status;
	obj->number = hca.lkey;
	mr->access = a->access;
	cmd_depend(cmd, obj, DEP_PD, pd);
	cmd->rsp.u.mr = (struct xen_vhca_new_mr){
		.handle = obj->handle,
		.lkey = hca.lkey,
		.rkey = hca.rkey,
	};
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_mr_dereg(struct cmd *cmd)
{
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj;
	struct umem_obj *own;

	status = cmd_take(cmd, cmd->req.u.object.handle, OBJ_MR, &obj);
	if (status)
		return status;
	status = cmd_hca(cmd, ops->mr_dereg(hca_ctx(cmd), obj->hca_id), "deregistering memory");
	if (status) {
		cmd_keep(cmd, obj);
		return status;
	}
	own = ((struct mr *)obj)->own;
	cmd_gone(cmd, obj);
	if (own) /* nobody could name it, so nobody needs it any more */
		cmd_umem_gone(cmd, &own->obj);
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
	status = cmd_hca(cmd, ops->mw_alloc(hca_ctx(cmd), pd->hca_id, a->type, a->entries, &mw),
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
	return cmd_destroy(cmd, OBJ_MW, cmd->v->hca->ops->mw_free, "freeing a memory window");
}
