// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * qp.c - queue pairs.
 */
#include "commands/cmd.h"

/*
 * A label names the newest CQ that has it, if that is still there. Those of other contexts are not
 * looked at.
 */
static xen_vhca_handle_t labelled(struct cmd *cmd, uint32_t label)
{
	const struct context *ctx = cmd->ctx;
	xen_vhca_handle_t cq = XEN_VHCA_NO_HANDLE;
	unsigned int i, at;

	pthread_mutex_lock(&cmd->v->lock);
	for (i = 0; i < XEN_VHCA_CQ_LABELS; i++) {
		at = (ctx->next_label + i) % XEN_VHCA_CQ_LABELS;
		if (ctx->labels[at].label == label)
			cq = ctx->labels[at].cq;
	}
	pthread_mutex_unlock(&cmd->v->lock);
	return cq;
}

static enum xen_vhca_status use_cq(struct cmd *cmd, uint32_t name, bool is_label,
				   struct object **obj)
{
	xen_vhca_handle_t handle = is_label ? labelled(cmd, name) : name;

	if (!handle)
		return cmd_refuse(cmd, XEN_VHCA_E_HANDLE, "no CQ has label %u", name);
	return cmd_use(cmd, handle, OBJ_CQ, obj);
}

/* A target has nothing but the XRC domain, in whose context it is. */
static enum xen_vhca_status find_target(struct cmd *cmd, struct hca_qp_attr *attr)
{
	const xen_vhca_handle_t handle = cmd->req.u.qp_create.pd;
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_use(cmd, handle, OBJ_CTX, &obj);
	if (status)
		return status;
	if (((struct context *)obj)->domain < 0)
		return cmd_refuse(cmd, XEN_VHCA_E_HANDLE, "no XRC domain has handle 0x%x", handle);
	attr->xrcd = ((struct context *)obj)->xrcd;
	return XEN_VHCA_OK;
}

/* The objects: PD, CQs, SRQ, UAR, all of one context, which is the PD's. An XRC QP that sends has no receives. */
static enum xen_vhca_status find_objects(struct cmd *cmd, struct hca_qp_attr *attr)
{
	const struct xen_vhca_qp_create *a = &cmd->req.u.qp_create;
	const struct {
		xen_vhca_handle_t handle;
		enum obj_type type;
		uint32_t *id;
		uint32_t label; /* the flag that says that it is one */
	} wanted[] = {
		{ a->pd, OBJ_PD, &attr->pd, 0 },
		{ a->send_cq, OBJ_CQ, &attr->send_cq, XEN_VHCA_QP_SEND_CQ_LABEL },
		{ a->recv_cq, OBJ_CQ, &attr->recv_cq, XEN_VHCA_QP_RECV_CQ_LABEL },
		{ a->uar, OBJ_UAR, NULL, 0 },
		{ a->srq, OBJ_SRQ, &attr->srq, 0 },
	};
	enum xen_vhca_status status;
	struct object *obj;
	unsigned int i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if ((wanted[i].type == OBJ_SRQ && !attr->has_srq) ||
		    (wanted[i].id == &attr->recv_cq && a->type == XEN_VHCA_QPT_XRC_INI))
			continue;
		if (wanted[i].label)
			status = use_cq(cmd, wanted[i].handle, a->flags & wanted[i].label, &obj);
		else
			status = cmd_use(cmd, wanted[i].handle, wanted[i].type, &obj);
		if (status)
			return status;
		if (wanted[i].id)
			*wanted[i].id = obj->hca_id;
		else
			attr->uar_index = obj->number;
	}
	return XEN_VHCA_OK;
}

static enum xen_vhca_status find_memory(struct cmd *cmd, struct hca_qp_attr *attr)
{
	const struct xen_vhca_qp_create *a = &cmd->req.u.qp_create;
	uint64_t size = ((uint64_t)a->rq_wqe_count << a->rq_wqe_shift) +
			(uint64_t)a->sq_wqe_count * VHCA_SEND_BLOCK;
	enum xen_vhca_status status;

	if (size) {
		status = cmd_use_queue(cmd, &a->buf, size, &attr->buf);
		if (status)
			return status;
	}
	return cmd_use_queue(cmd, &a->dbr, 8, &attr->dbr);
}

static enum xen_vhca_status find_parts(struct cmd *cmd, struct hca_qp_attr *attr)
{
	enum xen_vhca_status status;

	if (attr->type == XEN_VHCA_QPT_XRC_TGT)
		return find_target(cmd, attr);
	status = find_objects(cmd, attr);
	return status ?: find_memory(cmd, attr);
}

enum xen_vhca_status cmd_qp_create(struct cmd *cmd)
{
	const struct xen_vhca_qp_create *a = &cmd->req.u.qp_create;
	const struct hca_ops *ops = cmd->v->hca->ops;
	struct hca_qp_attr attr = {
		.buf.dmabuf = -1,
		.dbr.dmabuf = -1,
		.has_srq = a->srq,
		.signal_all = a->flags & XEN_VHCA_QP_SIGNAL_ALL,
		.block_loopback = a->flags & XEN_VHCA_QP_BLOCK_LOOPBACK,
		.type = a->type,
		.user_index = a->user_index,
		.sq_blocks = a->sq_wqe_count,
		.rq_wqes = a->rq_wqe_count,
		.rq_shift = a->rq_wqe_shift,
		.max_send_wr = a->max_send_wr,
		.max_recv_wr = a->max_recv_wr,
		.max_send_sge = a->max_send_sge,
		.max_recv_sge = a->max_recv_sge,
		.max_inline = a->max_inline,
	};
	const struct qp_limits limits = vhca_qp_limits(cmd->v);
	enum xen_vhca_status status;
	struct object *obj;
	struct hca_obj qp;

	if (a->type >= XEN_VHCA_QPT_XRC_INI && !cmd->v->hca->xrc)
		return cmd_refuse(cmd, XEN_VHCA_E_UNSUPPORTED, "an HCA without XRC");
	if (!qp_limits_allow(&limits, a->type))
		return cmd_refuse(cmd, XEN_VHCA_E_UNSUPPORTED, "a UD QP: ud=0");
	if (!qp_limits_queues(&limits, a))
		return cmd_refuse(cmd, XEN_VHCA_E_ARG,
				  "queues of %u blocks and %u WQEs: max-qp-wr=%llu",
				  a->sq_wqe_count, a->rq_wqe_count, (unsigned long long)limits.wr);
	status = find_parts(cmd, &attr);
	if (status)
		return status;
	status = cmd_new(cmd, OBJ_QP, sizeof(struct qp), &obj);
	if (status)
		return status;
	LIST_INIT(&((struct qp *)obj)->groups);
	((struct qp *)obj)->type = a->type;
	attr.user = obj->handle;
	status = cmd_hca(cmd, ops->qp_create(cmd->ctx->hca, &attr, &qp), "creating a QP");
	if (status) {
		cmd_drop(cmd, obj);
		return status;
	}
	obj->hca_id = qp.id;
	obj->number = qp.number;
	cmd->rsp.u.queue = (struct xen_vhca_new_queue){ obj->handle, qp.number };
	cmd_publish(cmd, obj);
	return XEN_VHCA_OK;
}

/* No QP leaves RESET without an index. */
static bool may_use_pkeys(const struct vhca *v, const struct xen_vhca_qp_modify *a)
{
	return (!(a->mask & VHCA_QP_PKEY_INDEX) || pkeys_has(&v->pkeys, a->attr.pkey_index)) &&
	       (!(a->mask & VHCA_QP_ALT_PATH) || pkeys_has(&v->pkeys, a->attr.alt_pkey_index));
}

/* As enum ib_qp_state */
enum { STATE_RESET = 0, STATE_ERROR = 6 };

/* Whether the QP is to do nothing from now on, whatever is imposed. */
static bool is_end(const struct xen_vhca_qp_modify *a)
{
	return a->mask & VHCA_QP_STATE &&
	       (a->attr.state == STATE_RESET || a->attr.state == STATE_ERROR);
}

/*
 * The HCA's driver takes another rate, at worst that of the port, for one that the HCA does not have. Such
 * a QP is ended before it can send.
 */
static enum xen_vhca_status check_rate(struct cmd *cmd, const struct object *qp,
				       const struct qp_limits *limits, uint32_t mask)
{
	const struct xen_vhca_qp_attr end = { .state = STATE_ERROR };
	const struct hca_ops *ops = cmd->v->hca->ops;
	struct xen_vhca_qp_attr now;
	int err;

	if (!limits->rate || !(mask & (VHCA_QP_AV | VHCA_QP_ALT_PATH)))
		return XEN_VHCA_OK;
	err = ops->qp_query(cmd->ctx->hca, qp->hca_id, &now);
	if (!err && qp_limits_hold(limits, mask, &now))
		return XEN_VHCA_OK;
	ops->qp_modify(cmd->ctx->hca, qp->hca_id, VHCA_QP_STATE, &end);
	if (err)
		return cmd_hca(cmd, err, "querying a QP");
	return cmd_refuse(cmd, XEN_VHCA_E_UNSUPPORTED, "the HCA has no such static rate: qp-rate");
}

static enum xen_vhca_status modify(struct cmd *cmd, const struct object *qp,
				   const struct qp_limits *limits)
{
	struct xen_vhca_qp_modify *a = &cmd->req.u.qp_modify;
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;

	status = cmd_hca(cmd, ops->qp_modify(cmd->ctx->hca, qp->hca_id, a->mask, &a->attr),
			 "modifying a QP");
	return status ?: check_rate(cmd, qp, limits, a->mask);
}

static void set_gid_index(const struct vhca *v, struct xen_vhca_av *av)
{
	if (av->is_global)
		av->sgid_index = cmd_gid_index(v, av->sgid_index);
}

/* From the guest's to the HCA's, or back. */
static void set_gid_indices(const struct vhca *v, struct xen_vhca_qp_attr *attr)
{
	set_gid_index(v, &attr->av);
	set_gid_index(v, &attr->alt_av);
}

enum xen_vhca_status cmd_qp_modify(struct cmd *cmd)
{
	const struct qp_limits limits = vhca_qp_limits(cmd->v);
	struct xen_vhca_qp_modify *a = &cmd->req.u.qp_modify;
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_use(cmd, a->qp, OBJ_QP, &obj);
	if (status)
		return status;
	if (!may_use_pkeys(cmd->v, a))
		return cmd_refuse(cmd, XEN_VHCA_E_ARG, "P_Key index %u or %u is not the guest's",
				  a->attr.pkey_index, a->attr.alt_pkey_index);
	if (!qp_limits_allow(&limits, ((struct qp *)obj)->type) && !is_end(a))
		return cmd_refuse(cmd, XEN_VHCA_E_UNSUPPORTED, "a UD QP: ud=0");
	if (!qp_limits_shape(&limits, a->mask, &a->attr))
		return cmd_refuse(cmd, XEN_VHCA_E_ARG,
				  "%u RDMA reads as responder: max-rd-atomic=%llu",
				  a->attr.max_dest_rd_atomic, (unsigned long long)limits.rd_atomic);
	set_gid_indices(cmd->v, &a->attr);
	return modify(cmd, obj, &limits);
}

enum xen_vhca_status cmd_qp_query(struct cmd *cmd)
{
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_use(cmd, cmd->req.u.object.handle, OBJ_QP, &obj);
	if (status)
		return status;
	status = cmd_hca(cmd, ops->qp_query(cmd->ctx->hca, obj->hca_id, &cmd->rsp.u.qp.attr),
			 "querying a QP");
	if (!status)
		set_gid_indices(cmd->v, &cmd->rsp.u.qp.attr);
	return status;
}

enum xen_vhca_status cmd_qp_destroy(struct cmd *cmd)
{
	return cmd_destroy(cmd, OBJ_QP, cmd->v->hca->ops->qp_destroy, "destroying a QP");
}
