// SPDX-License-Identifier: GPL-2.0
/*
 * cq_make.c - CQs that the backend makes when they are needed.
 *
 * A CQ is of no use without a QP on it, or before it is armed. If a process's provider knows of
 * that, making a CQ asks the backend for nothing: all that can be wrong with it has been checked by
 * the device's rules, and the request is ready. It is sent with that of the first QP, in front of
 * it and posted, so that both take one trip; the QP names the CQ by a label, as nobody has its
 * handle yet. Whatever else needs the CQ sends it, and waits.
 *
 * What fails all the same (the HCA is short of something, the backend is gone) is the error of the
 * call that needs the CQ. The next such call tries again.
 */
#include <linux/slab.h>
#include <rdma/uverbs_std_types.h>

#include "vhca_check.h"
#include "xenib.h"

#define UVERBS_MODULE_NAME xenib
#include <rdma/uverbs_named_ioctl.h>

void xenib_cqs_init(struct xenib_context *ctx)
{
	mutex_init(&ctx->making);
	INIT_LIST_HEAD(&ctx->deferred);
}

/* Whether the backend is sure to make it. */
static bool can_be_made(struct xenib_dev *dev, const struct xen_vhca_req *req)
{
	return dev->cq_labels && !xenib_ring_is_dead(dev->ring) &&
	       (u32)atomic_read(&dev->cqs) <= dev->attr.max_cq &&
	       vhca_check_request(req, &dev->attr) == XEN_VHCA_OK;
}

bool xenib_cq_defer(struct xenib_cq *cq, const struct xen_vhca_req *req)
{
	struct xenib_context *ctx = cq->mem.ctx;
	struct xenib_cmd *cmd;

	if (!can_be_made(ctx->dev, req))
		return false;
	cmd = kzalloc(sizeof(*cmd), GFP_KERNEL);
	if (!cmd)
		return false;
	cmd->req = *req;
	INIT_LIST_HEAD(&cq->deferral);
	atomic_inc(&ctx->dev->deferred_cqs);
	cq->create = cmd;
	return true;
}

/* With making. */
static void end_deferral(struct xenib_cq *cq)
{
	struct xenib_context *ctx = cq->mem.ctx;
	struct xenib_cmd *cmd = cq->create;

	list_del(&cq->deferral);
	atomic_dec(&ctx->dev->deferred_cqs);
	smp_store_release(&cq->create, NULL); /* pairs with is_made() */
	kfree(cmd);
}

/* Who finds it made finds all of it. */
static bool is_made(struct xenib_cq *cq)
{
	return !smp_load_acquire(&cq->create); /* pairs with end_deferral() */
}

bool xenib_cq_drop(struct xenib_cq *cq)
{
	struct xenib_context *ctx = cq->mem.ctx;
	bool deferred;

	if (is_made(cq))
		return false;
	mutex_lock(&ctx->making);
	deferred = cq->create;
	if (deferred)
		end_deferral(cq);
	mutex_unlock(&ctx->making);
	return deferred;
}

void xenib_cq_made(struct xenib_cq *cq, const struct xen_vhca_rsp *rsp)
{
	cq->handle = rsp->u.queue.handle;
	cq->cqn = rsp->u.queue.number;
}

static void begin_events(struct xenib_cq *cq)
{
	struct xenib_events *events = cq->mem.ctx->dev->events;

	cq->event_obj = (struct xenib_event_obj){
		.handle = cq->handle,
		.kind = VHCA_ASYNC_CQ,
		.cq = &cq->ibcq,
	};
	xenib_events_add(events, &cq->event_obj);
	cq->arm = (const __be32 *)xenib_arena_addr_kva(&cq->mem.dbr) + XENIB_DBR_ARM;
	cq->told = false;
	xenib_events_set_cq(events, cq->event_bit, cq);
}

void xenib_cq_begin(struct xenib_cq *cq)
{
	struct xenib_context *ctx = cq->mem.ctx;

	if (!cq->create) {
		begin_events(cq);
		return;
	}
	mutex_lock(&ctx->making);
	list_add_tail(&cq->deferral, &ctx->deferred);
	mutex_unlock(&ctx->making);
}

/* With making, as make_now(). */
static void deferred_made(struct xenib_cq *cq)
{
	xenib_cq_made(cq, &cq->create->rsp);
	begin_events(cq);
	end_deferral(cq);
}

static int make_now(struct xenib_cq *cq)
{
	struct xenib_cmd *cmd = cq->create;
	int err;

	cmd->posted = NULL;
	cmd->req.u.cq_create.label = 0;
	err = xenib_cmd_exec(cq->mem.ctx->dev->ring, cmd);
	if (!err)
		deferred_made(cq);
	return err;
}

int xenib_cq_make(struct xenib_cq *cq)
{
	struct mutex *making = &cq->mem.ctx->making;
	int err;

	if (is_made(cq))
		return 0;
	if (mutex_lock_killable(making))
		return -EINTR;
	err = is_made(cq) ? 0 : make_now(cq);
	mutex_unlock(making);
	return err;
}

/* What fails is left to whoever needs it. */
static void make_all(struct xenib_context *ctx)
{
	struct xenib_cq *cq, *next;

	if (mutex_lock_killable(&ctx->making))
		return;
	list_for_each_entry_safe(cq, next, &ctx->deferred, deferral)
		make_now(cq);
	mutex_unlock(&ctx->making);
}

/*
 * At the limit the backend refuses, which it counts and tells its owner of. It can if it knows of
 * all CQs. Those of this process that are not made are made for that; others have their places.
 */
int xenib_cq_charge(struct xenib_context *ctx)
{
	struct xenib_dev *dev = ctx->dev;

	if ((u32)atomic_inc_return(&dev->cqs) <= dev->attr.max_cq)
		return 0;
	make_all(ctx);
	if (!atomic_read(&dev->deferred_cqs))
		return 0;
	xenib_cq_uncharge(ctx);
	return xenib_refuse(dev, -ENOMEM, "more than %u CQs", dev->attr.max_cq);
}

void xenib_cq_uncharge(struct xenib_context *ctx)
{
	atomic_dec(&ctx->dev->cqs);
}

/* With a QP */

/* Perhaps in interrupt context. */
static void create_done(struct xenib_cmd *cmd)
{
	complete(&cmd->done);
}

static bool is_posted(const struct xenib_cmd *cmd)
{
	return cmd->req.flags & XEN_VHCA_REQ_POSTED;
}

static bool post_create(struct xenib_cq *cq)
{
	struct xenib_context *ctx = cq->mem.ctx;
	struct xenib_cmd *cmd = cq->create;

	init_completion(&cmd->done);
	cmd->posted = create_done;
	cmd->req.u.cq_create.label = ++ctx->cq_label ?: ++ctx->cq_label;
	return xenib_cmd_post(ctx->dev->ring, cmd);
}

/*
 * How QP_CREATE is to name the CQ: by its handle, or by the label that CQ_CREATE in front of it
 * gives. flag says which.
 */
static int name_cq(struct xenib_cq *cq, u32 *name, u32 *flags, u32 flag)
{
	int err;

	if (!cq->create) {
		*name = cq->handle;
		return 0;
	}
	if (is_posted(cq->create) || post_create(cq)) {
		*name = cq->create->req.u.cq_create.label;
		*flags |= flag;
		return 0;
	}
	err = make_now(cq);
	*name = cq->handle;
	return err;
}

/* QP_CREATE has been waited for, or was not sent. */
static int end_post(struct xenib_cq *cq)
{
	struct xenib_cmd *cmd = cq->create;
	int err;

	if (!cmd || !is_posted(cmd))
		return 0;
	err = xenib_cmd_await(cq->mem.ctx->dev->ring, cmd);
	cmd->req.flags = 0;
	if (!err)
		deferred_made(cq);
	return err;
}

static int exec_with_cqs(struct xenib_cmd *cmd, struct xenib_cq *send, struct xenib_cq *recv)
{
	struct xenib_ring *ring = send->mem.ctx->dev->ring;
	struct xen_vhca_qp_create *req = &cmd->req.u.qp_create;
	int err, send_err, recv_err;

	err = name_cq(send, &req->send_cq, &req->flags, XEN_VHCA_QP_SEND_CQ_LABEL);
	if (!err && recv)
		err = name_cq(recv, &req->recv_cq, &req->flags, XEN_VHCA_QP_RECV_CQ_LABEL);
	if (!err)
		err = xenib_cmd_exec(ring, cmd);
	send_err = end_post(send);
	recv_err = recv ? end_post(recv) : 0;
	if (!err && (send_err || recv_err)) /* which makes no sense */
		xenib_cmd_destroy(ring, XEN_VHCA_OP_QP_DESTROY, cmd->rsp.u.queue.handle);
	return send_err ?: recv_err ?: err;
}

int xenib_exec_with_cqs(struct xenib_cmd *cmd, struct xenib_cq *send, struct xenib_cq *recv)
{
	struct mutex *making = &send->mem.ctx->making;
	int err;

	if (is_made(send) && (!recv || is_made(recv)))
		return exec_with_cqs(cmd, send, recv);
	if (mutex_lock_killable(making))
		return -EINTR;
	err = exec_with_cqs(cmd, send, recv);
	mutex_unlock(making);
	return err;
}

static int UVERBS_HANDLER(XENIB_METHOD_CQ_MAKE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_cq *ibcq = uverbs_attr_get_obj(attrs, XENIB_ATTR_CQ_MAKE_HANDLE);
	struct xenib_create_cq_resp resp = {};
	int err;

	err = xenib_cq_make(to_xcq(ibcq));
	if (err)
		return err;
	resp.cqn = to_xcq(ibcq)->cqn;
	return uverbs_copy_to_struct_or_zero(attrs, XENIB_ATTR_CQ_MAKE_RESP, &resp, sizeof(resp));
}

DECLARE_UVERBS_NAMED_METHOD(XENIB_METHOD_CQ_MAKE,
			    UVERBS_ATTR_IDR(XENIB_ATTR_CQ_MAKE_HANDLE, UVERBS_OBJECT_CQ,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(XENIB_ATTR_CQ_MAKE_RESP,
						UVERBS_ATTR_STRUCT(struct xenib_create_cq_resp,
								   comp_mask),
						UA_MANDATORY));

ADD_UVERBS_METHODS(xenib_cq_methods, UVERBS_OBJECT_CQ, &UVERBS_METHOD(XENIB_METHOD_CQ_MAKE));

const struct uapi_definition xenib_cq_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_CQ, &xenib_cq_methods),
	{},
};
