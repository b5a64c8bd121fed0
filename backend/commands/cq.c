// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cq.c - completion queues.
 */
#include "commands/cmd.h"
#include "vhca/events.h"

#define DEP_BUF 1 /* of a CQ's dependencies, in the order of find_parts() */

/* UAR, buffer and doorbell record: all of one context, and room enough. */
static enum xen_vhca_status find_parts(struct cmd *cmd, struct hca_cq_attr *attr)
{
	const struct xen_vhca_cq_create *a = &cmd->req.u.cq_create;
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_use(cmd, a->ctx, OBJ_CTX, &obj);
	if (status)
		return status;
	status = cmd_use(cmd, a->uar, OBJ_UAR, &obj);
	if (status)
		return status;
	attr->uar_index = obj->number;
	status = cmd_use_queue(cmd, &a->buf, (uint64_t)a->cqes * a->cqe_size, &attr->buf);
	if (status)
		return status;
	return cmd_use_queue(cmd, &a->dbr, 8, &attr->dbr);
}

/* It is watched before it is there, so none of its events is missed. */
static enum xen_vhca_status create(struct cmd *cmd, struct cq *cq, struct hca_cq_attr *attr,
				   struct hca_obj *made)
{
	const struct hca_ops *ops = cmd->v->hca->ops;
	struct watches *watches = attr->events ? cmd->v->watches : NULL;
	enum xen_vhca_status status;
	int err;

	err = watch_begin(watches, cmd->ctx->hca, cq->event_bit, attr->vector, &cq->watch);
	if (err)
		return cmd_hca(cmd, err, "watching a CQ");
	attr->user = cq->obj.handle;
	attr->channel = cq->watch.channel;
	status = cmd_hca(cmd, ops->cq_create(cmd->ctx->hca, attr, made), "creating a CQ");
	if (status)
		watch_end(watches, &cq->watch);
	return status;
}

static void set_label(struct cmd *cmd, xen_vhca_handle_t cq)
{
	const uint32_t label = cmd->req.u.cq_create.label;
	struct context *ctx = cmd->ctx;

	if (!label)
		return;
	pthread_mutex_lock(&cmd->v->lock);
	ctx->labels[ctx->next_label] = (struct cq_label){ label, cq };
	ctx->next_label = (ctx->next_label + 1) % XEN_VHCA_CQ_LABELS;
	pthread_mutex_unlock(&cmd->v->lock);
}

enum xen_vhca_status cmd_cq_create(struct cmd *cmd)
{
	const struct xen_vhca_cq_create *a = &cmd->req.u.cq_create;
	struct hca_cq_attr attr = {
		.cqes = a->cqes,
		.cqe_size = a->cqe_size,
		.flags = a->flags,
		.events = a->event_bit != XEN_VHCA_NO_EVENT,
		.channel = -1,
	};
	enum xen_vhca_status status;
	struct object *obj;
	struct hca_obj cq;

	if (attr.events && !events_told(cmd->v->events))
		return cmd_refuse(cmd, XEN_VHCA_E_UNSUPPORTED, "events were not negotiated");
	if (attr.events)
		attr.vector = events_vector(cmd->v->events, a->event_bit);
	status = find_parts(cmd, &attr);
	if (status)
		return status;
	status = cmd_new(cmd, OBJ_CQ, sizeof(struct cq), &obj);
	if (status)
		return status;
	((struct cq *)obj)->event_bit = a->event_bit;
	((struct cq *)obj)->cqes = a->cqes;
	((struct cq *)obj)->cqe_size = a->cqe_size;
	status = create(cmd, (struct cq *)obj, &attr, &cq);
	if (status) {
		cmd_drop(cmd, obj);
		return status;
	}
	obj->hca_id = cq.id;
	obj->number = cq.number;
	cmd->rsp.u.queue = (struct xen_vhca_new_queue){ obj->handle, cq.number };
	cmd_publish(cmd, obj);
	set_label(cmd, obj->handle);
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_cq_modify(struct cmd *cmd)
{
	const struct xen_vhca_cq_modify *a = &cmd->req.u.cq_modify;
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_use(cmd, a->cq, OBJ_CQ, &obj);
	if (status)
		return status;
	return cmd_hca(cmd, ops->cq_modify(cmd->ctx->hca, obj->hca_id, a->count, a->period_us),
		       "moderating a CQ");
}

/*
 * Of the size that the CQ has, the HCA's driver would leave the buffer as it is, and say nothing. It makes
 * no such buffer in a dma-buf. Nobody else resizes the CQ meanwhile: the thread of the ring does this.
 */
static enum xen_vhca_status check_resize(struct cmd *cmd, const struct cq *cq, uint32_t cqes,
					 const struct hca_place *buf)
{
	if (cqes == cq->cqes)
		return cmd_refuse(cmd, XEN_VHCA_E_ARG, "the CQ has %u CQEs already", cqes);
	if (buf->dmabuf >= 0)
		return cmd_refuse(cmd, XEN_VHCA_E_UNSUPPORTED, "another buffer, in a dma-buf");
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_cq_resize(struct cmd *cmd)
{
	const struct xen_vhca_cq_resize *a = &cmd->req.u.cq_resize;
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct hca_place buf;
	struct object *obj;
	struct cq *cq;

	status = cmd_use(cmd, a->cq, OBJ_CQ, &obj);
	if (status)
		return status;
	cq = (struct cq *)obj;
	status = cmd_use_queue(cmd, &a->buf, (uint64_t)a->cqes * cq->cqe_size, &buf);
	if (status)
		return status;
	status = check_resize(cmd, cq, a->cqes, &buf);
	if (status)
		return status;
	status = cmd_hca(cmd,
			 ops->cq_resize(cmd->ctx->hca, obj->hca_id, a->cqes, cq->cqe_size, &buf),
			 "resizing a CQ");
	if (status)
		return status;
	cq->cqes = a->cqes;
	cmd_depend(cmd, obj, DEP_BUF, cmd->used[cmd->n_used - 1]);
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_cq_destroy(struct cmd *cmd)
{
	return cmd_destroy(cmd, OBJ_CQ, cmd->v->hca->ops->cq_destroy, "destroying a CQ");
}
