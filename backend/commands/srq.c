// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srq.c - shared receive queues.
 */
#include "commands/cmd.h"

/* Of an SRQ of an XRC domain: that, and a CQ. */
static enum xen_vhca_status find_domain(struct cmd *cmd, struct hca_srq_attr *attr, int *domain)
{
	const struct xen_vhca_srq_create *a = &cmd->req.u.srq_create;
	enum xen_vhca_status status;
	struct object *cq;

	status = cmd_use(cmd, a->cq, OBJ_CQ, &cq);
	if (status)
		return status;
	attr->xrc = true;
	attr->cq = cq->hca_id;
	attr->user_index = a->user_index;
	return cmd_use_domain(cmd, a->xrcd, domain);
}

static enum xen_vhca_status find_parts(struct cmd *cmd, struct hca_srq_attr *attr, int *domain)
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
	status = cmd_use_queue(cmd, &a->dbr, 8, &attr->dbr);
	if (status || !a->xrcd)
		return status;
	return find_domain(cmd, attr, domain);
}

static enum xen_vhca_status open_domain(struct cmd *cmd, int domain, struct srq *srq)
{
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;

	status = cmd_hca(cmd, ops->xrcd_open(cmd->ctx->hca, domain, &srq->xrcd),
			 "opening an XRC domain");
	srq->xrc = !status;
	return status;
}

static void close_domain(struct cmd *cmd, const struct srq *srq)
{
	if (srq->xrc)
		cmd->v->hca->ops->xrcd_close(cmd->ctx->hca, srq->xrcd);
}

static enum xen_vhca_status create_on_hca(struct cmd *cmd, struct hca_srq_attr *attr, int domain,
					  struct srq *srq)
{
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status = XEN_VHCA_OK;
	struct hca_obj made;

	if (attr->xrc)
		status = open_domain(cmd, domain, srq);
	if (status)
		return status;
	attr->xrcd = srq->xrcd;
	attr->user = srq->obj.handle;
	status = cmd_hca(cmd, ops->srq_create(cmd->ctx->hca, attr, &made), "creating an SRQ");
	if (status) {
		close_domain(cmd, srq);
		return status;
	}
	srq->obj.hca_id = made.id;
	srq->obj.number = made.number;
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_srq_create(struct cmd *cmd)
{
	const struct xen_vhca_srq_create *a = &cmd->req.u.srq_create;
	struct hca_srq_attr attr = { .wqes = a->max_wr, .max_sge = a->max_sge, .limit = a->limit };
	enum xen_vhca_status status;
	struct object *obj;
	int domain = -1;

	status = find_parts(cmd, &attr, &domain);
	if (status)
		return status;
	status = cmd_new(cmd, OBJ_SRQ, sizeof(struct srq), &obj);
	if (status)
		return status;
	status = create_on_hca(cmd, &attr, domain, (struct srq *)obj);
	if (status) {
		cmd_drop(cmd, obj);
		return status;
	}
	cmd->rsp.u.queue = (struct xen_vhca_new_queue){ obj->handle, obj->number };
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
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_take(cmd, cmd->req.u.object.handle, OBJ_SRQ, &obj);
	if (status)
		return status;
	status = cmd_hca(cmd, ops->srq_destroy(cmd->ctx->hca, obj->hca_id), "destroying an SRQ");
	if (status) {
		cmd_keep(cmd, obj);
		return status;
	}
	close_domain(cmd, (struct srq *)obj);
	cmd_gone(cmd, obj);
	return XEN_VHCA_OK;
}
