// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srq.c - shared receive queues.
 */
#include "commands/cmd.h"

static enum xen_vhca_status find_parts(struct cmd *cmd, struct hca_srq_attr *attr)
{
	const struct xen_vhca_srq_create *a = &cmd->req.u.srq_create;
	uint64_t bytes = (uint64_t)a->max_wr * vhca_srq_stride(a->max_sge);
	enum xen_vhca_status status;
	struct object *pd;

	status = cmd_use(cmd, a->pd, OBJ_PD, &pd);
	if (status)
		return status;
	attr->pd = pd->hca_id;
	status = cmd_use_queue(cmd, &a->buf, bytes, &attr->buf);
	if (status)
		return status;
	return cmd_use_queue(cmd, &a->dbr, 8, &attr->dbr);
}

enum xen_vhca_status cmd_srq_create(struct cmd *cmd)
{
	const struct xen_vhca_srq_create *a = &cmd->req.u.srq_create;
	const struct hca_ops *ops = cmd->v->hca->ops;
	struct hca_srq_attr attr = { .wqes = a->max_wr, .max_sge = a->max_sge, .limit = a->limit };
	enum xen_vhca_status status;
	struct object *obj;
	struct hca_obj srq;

	status = find_parts(cmd, &attr);
	if (status)
		return status;
	status = cmd_new(cmd, OBJ_SRQ, sizeof(*obj), &obj);
	if (status)
		return status;
	attr.user = obj->handle;
	status = cmd_hca(cmd, ops->srq_create(cmd->ctx->hca, &attr, &srq), "creating an SRQ");
	if (status) {
		cmd_drop(cmd, obj);
		return status;
	}
	obj->hca_id = srq.id;
	obj->number = srq.number;
	cmd->rsp.u.queue = (struct xen_vhca_new_queue){ obj->handle, srq.number };
	cmd_publish(cmd, obj);
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_srq_modify(struct cmd *cmd)
{
	const struct xen_vhca_srq_modify *a = &cmd->req.u.srq_modify;
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_use(cmd, a->srq, OBJ_SRQ, &obj);
	if (status)
		return status;
	return cmd_hca(cmd, ops->srq_modify(cmd->ctx->hca, obj->hca_id, a->limit),
		       "arming an SRQ's limit");
}

enum xen_vhca_status cmd_srq_query(struct cmd *cmd)
{
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_use(cmd, cmd->req.u.object.handle, OBJ_SRQ, &obj);
	if (status)
		return status;
	return cmd_hca(cmd, ops->srq_query(cmd->ctx->hca, obj->hca_id, &cmd->rsp.u.srq),
		       "querying an SRQ");
}

enum xen_vhca_status cmd_srq_destroy(struct cmd *cmd)
{
	return cmd_destroy(cmd, OBJ_SRQ, cmd->v->hca->ops->srq_destroy, "destroying an SRQ");
}
