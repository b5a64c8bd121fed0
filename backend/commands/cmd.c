// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd.c - what all commands have in common: see cmd.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/cmd.h"
#include "util/clock.h"
#include "vhca/events.h"

#define SLOW_BYTES (1u << 20)
#define SLOW_PAGES 64
#define LARGE_PAGES 512u /* from then on it matters how much of a umem is not needed */

struct operation {
	cmd_fn *run;
	enum { QUICK, WAITS, SLOW } how; /* whatever it is asked for; see also cmd_is_slow() */
};

/* The kernel answers queries of one QP one after the other: so a thread would wait for another. */
static const struct operation operations[XEN_VHCA_OPS] = {
	[XEN_VHCA_OP_DEVICE_QUERY] = { cmd_device_query, QUICK },
	[XEN_VHCA_OP_PORT_QUERY] = { cmd_port_query, QUICK },
	[XEN_VHCA_OP_GID_QUERY] = { cmd_gid_query, QUICK },
	[XEN_VHCA_OP_PKEY_QUERY] = { cmd_pkey_query, QUICK },
	[XEN_VHCA_OP_CLOCK_QUERY] = { cmd_clock_query, QUICK },
	[XEN_VHCA_OP_CTX_OPEN] = { cmd_ctx_open, QUICK },
	[XEN_VHCA_OP_CTX_CLOSE] = { cmd_ctx_close, SLOW },
	[XEN_VHCA_OP_UAR_ALLOC] = { cmd_uar_alloc, QUICK },
	[XEN_VHCA_OP_UAR_FREE] = { cmd_uar_free, QUICK },
	[XEN_VHCA_OP_PD_ALLOC] = { cmd_pd_alloc, WAITS },
	[XEN_VHCA_OP_PD_FREE] = { cmd_pd_free, WAITS },
	[XEN_VHCA_OP_UMEM_CREATE] = { cmd_umem_create, QUICK },
	[XEN_VHCA_OP_UMEM_ADD] = { cmd_umem_add, QUICK },
	[XEN_VHCA_OP_UMEM_DESTROY] = { cmd_umem_destroy, QUICK },
	[XEN_VHCA_OP_MR_REG] = { cmd_mr_reg, WAITS },
	[XEN_VHCA_OP_MR_DEREG] = { cmd_mr_dereg, WAITS },
	[XEN_VHCA_OP_MW_ALLOC] = { cmd_mw_alloc, WAITS },
	[XEN_VHCA_OP_MW_FREE] = { cmd_mw_free, WAITS },
	[XEN_VHCA_OP_CQ_CREATE] = { cmd_cq_create, WAITS },
	[XEN_VHCA_OP_CQ_MODIFY] = { cmd_cq_modify, WAITS },
	[XEN_VHCA_OP_CQ_DESTROY] = { cmd_cq_destroy, WAITS },
	[XEN_VHCA_OP_SRQ_CREATE] = { cmd_srq_create, WAITS },
	[XEN_VHCA_OP_SRQ_MODIFY] = { cmd_srq_modify, WAITS },
	[XEN_VHCA_OP_SRQ_QUERY] = { cmd_srq_query, WAITS },
	[XEN_VHCA_OP_SRQ_DESTROY] = { cmd_srq_destroy, WAITS },
	[XEN_VHCA_OP_QP_CREATE] = { cmd_qp_create, WAITS },
	[XEN_VHCA_OP_QP_MODIFY] = { cmd_qp_modify, WAITS },
	[XEN_VHCA_OP_QP_QUERY] = { cmd_qp_query, QUICK },
	[XEN_VHCA_OP_QP_DESTROY] = { cmd_qp_destroy, WAITS },
	[XEN_VHCA_OP_MCAST_ATTACH] = { cmd_mcast_attach, QUICK },
	[XEN_VHCA_OP_MCAST_DETACH] = { cmd_mcast_detach, QUICK },
	[XEN_VHCA_OP_AH_CREATE] = { cmd_ah_create, QUICK },
	[XEN_VHCA_OP_GSI_OPEN] = { cmd_gsi_open, QUICK },
	[XEN_VHCA_OP_GSI_CLOSE] = { cmd_gsi_close, QUICK },
	[XEN_VHCA_OP_MAD_SEND] = { cmd_mad_send, QUICK },
	[XEN_VHCA_OP_MAD_RECV] = { cmd_mad_recv, QUICK },
	[XEN_VHCA_OP_ADDR_ADD] = { cmd_addr_add, QUICK },
	[XEN_VHCA_OP_ADDR_DEL] = { cmd_addr_del, QUICK },
	[XEN_VHCA_OP_CQ_RESIZE] = { cmd_cq_resize, QUICK },
	/* One after the other: what the object says of an MR is what the HCA has. */
	[XEN_VHCA_OP_MR_MODIFY] = { cmd_mr_modify, QUICK },
};

/* Under the lock. Unmapping takes its time, as mapping does. */
static bool is_large(const struct umem_obj *umem)
{
	return umem && umem->charged >= SLOW_PAGES;
}

/* What has to be undone is as slow as it was to do. There may be nothing: that is told quickly. */
static bool undo_is_slow(struct vhca *v, const struct xen_vhca_req *req)
{
	const xen_vhca_handle_t handle = req->u.object.handle;
	const struct mr *mr;
	bool slow;

	pthread_mutex_lock(&v->lock);
	if (req->op == XEN_VHCA_OP_UMEM_DESTROY) {
		slow = is_large((struct umem_obj *)handle_find(&v->handles, handle, OBJ_UMEM));
	} else {
		mr = (struct mr *)handle_find(&v->handles, handle, OBJ_MR);
		slow = mr && (mr->length >= SLOW_BYTES || is_large(mr->own));
	}
	pthread_mutex_unlock(&v->lock);
	return slow;
}

bool cmd_is_slow(struct vhca *v, const struct xen_vhca_req *req)
{
	switch (req->op) {
	case XEN_VHCA_OP_GID_QUERY:
	case XEN_VHCA_OP_PKEY_QUERY:
		return req->u.index.more;
	case XEN_VHCA_OP_MR_REG:
		return req->u.mr_reg.length >= SLOW_BYTES || req->u.mr_reg.pages >= SLOW_PAGES;
	case XEN_VHCA_OP_MR_DEREG:
	case XEN_VHCA_OP_UMEM_DESTROY:
		return undo_is_slow(v, req);
	default:
		return req->op < XEN_VHCA_OPS &&
		       (operations[req->op].how == SLOW || vhca_request_pages(req) >= SLOW_PAGES);
	}
}

/* Whether a QP has a rate that is imposed is known only after modifying it: see check_rate() in qp.c. */
bool cmd_waits_for_hca(struct vhca *v, unsigned int op)
{
	if (op == XEN_VHCA_OP_QP_MODIFY && vhca_qp_limits(v).rate)
		return false;
	return op < XEN_VHCA_OPS && operations[op].how == WAITS;
}

enum xen_vhca_status cmd_refuse(struct cmd *cmd, enum xen_vhca_status status, const char *why, ...)
{
	va_list args;

	va_start(args, why);
	vsnprintf(cmd->why, sizeof(cmd->why), why, args);
	va_end(args);
	return status;
}

enum xen_vhca_status cmd_hca(struct cmd *cmd, int err, const char *what)
{
	enum xen_vhca_status status;

	switch (-err) {
	case 0:
		return XEN_VHCA_OK;
	case ENOMEM:
	case ENOSPC:
		status = XEN_VHCA_E_NOMEM;
		break;
	case EBUSY:
		status = XEN_VHCA_E_BUSY;
		break;
	case EOPNOTSUPP:
		status = XEN_VHCA_E_UNSUPPORTED;
		break;
	case EIO:
	case ENODEV:
		status = XEN_VHCA_E_DEAD;
		break;
	default:
		status = XEN_VHCA_E_HCA;
		cmd->rsp.hca_errno = -err;
		break;
	}
	if (err != -ENODEV) { /* an HCA that is gone is not the guest's fault */
		pthread_mutex_lock(&cmd->v->lock);
		vhca_fault(cmd->v, true);
		pthread_mutex_unlock(&cmd->v->lock);
	}
	return cmd_refuse(cmd, status, "%s: %s", what, strerror(-err));
}

/* Finds an object for a command, and does something to it, under the lock. One of a dying context is as good as gone. */
static enum xen_vhca_status
with_object(struct cmd *cmd, xen_vhca_handle_t handle, enum obj_type type,
	    enum xen_vhca_status (*act)(struct cmd *cmd, struct object *obj), struct object **obj)
{
	enum xen_vhca_status status;
	struct object *found;

	pthread_mutex_lock(&cmd->v->lock);
	found = handle_find(&cmd->v->handles, handle, type);
	if (found && !found->ctx->obj.dying)
		status = act(cmd, found);
	else
		status = cmd_refuse(cmd, XEN_VHCA_E_HANDLE, "no %s has handle 0x%x",
				    obj_type_name(type), handle);
	pthread_mutex_unlock(&cmd->v->lock);
	*obj = found;
	return status;
}

enum xen_vhca_status cmd_use_domain(struct cmd *cmd, xen_vhca_handle_t handle, int *domain)
{
	struct context *ctx;

	pthread_mutex_lock(&cmd->v->lock);
	ctx = (struct context *)handle_find(&cmd->v->handles, handle, OBJ_CTX);
	if (ctx && ctx->domain < 0)
		ctx = NULL;
	if (ctx)
		ctx->obj.uses++;
	pthread_mutex_unlock(&cmd->v->lock);
	if (!ctx)
		return cmd_refuse(cmd, XEN_VHCA_E_HANDLE, "no XRC domain has handle 0x%x", handle);
	cmd->domain = ctx;
	*domain = ctx->domain;
	return XEN_VHCA_OK;
}

/* Under the lock: the command works in this context from now on. */
static bool enter(struct cmd *cmd, struct context *ctx)
{
	if (cmd->ctx)
		return cmd->ctx == ctx;
	cmd->ctx = ctx;
	ctx->obj.uses++;
	return true;
}

static enum xen_vhca_status use(struct cmd *cmd, struct object *obj)
{
	if (!enter(cmd, obj->ctx))
		return cmd_refuse(cmd, XEN_VHCA_E_CONTEXT, "%s of another context",
				  obj_type_name(obj->type));
	if (obj->type != OBJ_CTX) {
		obj->uses++;
		cmd->used[cmd->n_used++] = obj;
	}
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_use(struct cmd *cmd, xen_vhca_handle_t handle, enum obj_type type,
			     struct object **obj)
{
	return with_object(cmd, handle, type, use, obj);
}

enum xen_vhca_status cmd_use_umem(struct cmd *cmd, const struct xen_vhca_umem_addr *place,
				  uint64_t length, bool writable, const struct umem **found)
{
	enum xen_vhca_status status;
	const struct umem *umem;
	struct object *obj;
	bool complete;

	status = cmd_use(cmd, place->umem, OBJ_UMEM, &obj);
	if (status)
		return status;
	umem = &((struct umem_obj *)obj)->umem;
	pthread_mutex_lock(&cmd->v->lock);
	complete = umem_complete(umem);
	pthread_mutex_unlock(&cmd->v->lock);
	if (!complete)
		return cmd_refuse(cmd, XEN_VHCA_E_STATE, "umem 0x%x lacks pages", place->umem);
	if (writable && umem->read_only)
		return cmd_refuse(cmd, XEN_VHCA_E_ARG, "umem 0x%x is read-only", place->umem);
	if (!vhca_umem_fits(place->offset, length, umem->pages))
		return cmd_refuse(cmd, XEN_VHCA_E_RANGE, "%llu bytes at %llu of %u pages",
				  (unsigned long long)length, (unsigned long long)place->offset,
				  umem->pages);
	*found = umem;
	return XEN_VHCA_OK;
}

/*
 * Whoever imports a dma-buf has a table of all of it. So a small part of a large one is imported by way
 * of another dma-buf, which is that part. If there is none the whole will do.
 */
static struct hca_place place_in_dmabuf(struct cmd *cmd, const struct umem *umem, uint64_t offset,
					uint64_t length)
{
	uint32_t first = offset / XEN_VHCA_PAGE_SIZE;
	uint32_t pages = (offset + length - 1) / XEN_VHCA_PAGE_SIZE - first + 1;
	struct transport *t = cmd->v->t;
	int part = -1;

	if (umem->pages >= LARGE_PAGES && pages <= umem->pages / 2)
		part = t->ops->dmabuf_range(t, umem->dmabuf, first, pages);
	if (part < 0)
		return (struct hca_place){ umem->dmabuf, offset, length };
	cmd->parts[cmd->n_parts++] = part;
	return (struct hca_place){ part, offset % XEN_VHCA_PAGE_SIZE, length };
}

struct hca_place cmd_place(struct cmd *cmd, const struct umem *umem, uint64_t offset,
			   uint64_t length)
{
	if (umem->dmabuf >= 0)
		return place_in_dmabuf(cmd, umem, offset, length);
	return (struct hca_place){ -1, (uintptr_t)umem->base + offset, length };
}

enum xen_vhca_status cmd_use_queue(struct cmd *cmd, const struct xen_vhca_umem_addr *place,
				   uint64_t length, struct hca_place *at)
{
	enum xen_vhca_status status;
	const struct umem *umem;

	status = cmd_use_umem(cmd, place, length, true, &umem);
	if (status)
		return status;
	if (umem->only_mrs)
		return cmd_refuse(cmd, XEN_VHCA_E_ARG, "umem 0x%x is for MRs alone", place->umem);
	*at = cmd_place(cmd, umem, place->offset, length);
	return XEN_VHCA_OK;
}

/* Under the lock. */
static enum xen_vhca_status take_handle(struct cmd *cmd, enum obj_type type,
					xen_vhca_handle_t *handle)
{
	struct vhca *v = cmd->v;
	int err;

	if (!quota_take(&v->quota.objects[type], 1))
		return cmd_refuse(cmd, XEN_VHCA_E_LIMIT, "more than %llu of type %s",
				  (unsigned long long)v->quota.objects[type].limit,
				  obj_type_name(type));
	err = handle_reserve(&v->handles, handle);
	if (!err)
		return XEN_VHCA_OK;
	quota_give(&v->quota.objects[type], 1);
	return cmd_refuse(cmd, err == -ENOSPC ? XEN_VHCA_E_LIMIT : XEN_VHCA_E_NOMEM,
			  "no handle left");
}

enum xen_vhca_status cmd_new(struct cmd *cmd, enum obj_type type, size_t size, struct object **obj)
{
	struct object *new = calloc(1, size);
	enum xen_vhca_status status;

	if (!new)
		return cmd_refuse(cmd, XEN_VHCA_E_NOMEM, "no memory");
	new->type = type;
	new->ctx = cmd->ctx;
	pthread_mutex_lock(&cmd->v->lock);
	status = take_handle(cmd, type, &new->handle);
	pthread_mutex_unlock(&cmd->v->lock);
	if (status)
		free(new);
	else
		*obj = new;
	return status;
}

static void need(struct object *obj, struct object *dep)
{
	obj->deps[obj->n_deps++] = dep;
	dep->refs++;
}

/* Under the lock. */
static void publish(struct cmd *cmd, struct object *obj)
{
	struct vhca *v = cmd->v;
	unsigned int i;

	for (i = 0; i < cmd->n_used; i++)
		need(obj, cmd->used[i]);
	if (obj->type == OBJ_CTX)
		LIST_INSERT_HEAD(&v->contexts, (struct context *)obj, link);
	else
		LIST_INSERT_HEAD(&obj->ctx->objects, obj, link);
	handle_publish(&v->handles, obj->handle, obj);
}

void cmd_publish(struct cmd *cmd, struct object *obj)
{
	pthread_mutex_lock(&cmd->v->lock);
	publish(cmd, obj);
	pthread_mutex_unlock(&cmd->v->lock);
}

void cmd_publish_both(struct cmd *cmd, struct object *obj, struct object *part, bool named)
{
	struct vhca *v = cmd->v;

	pthread_mutex_lock(&v->lock);
	LIST_INSERT_HEAD(&part->ctx->objects, part, link);
	if (named)
		handle_publish(&v->handles, part->handle, part);
	publish(cmd, obj);
	need(obj, part);
	pthread_mutex_unlock(&v->lock);
}

void cmd_depend(struct cmd *cmd, struct object *obj, unsigned int dep, struct object *is)
{
	pthread_mutex_lock(&cmd->v->lock);
	obj->deps[dep]->refs--;
	obj->deps[dep] = is;
	is->refs++;
	pthread_mutex_unlock(&cmd->v->lock);
}

void cmd_drop(struct cmd *cmd, struct object *obj)
{
	struct vhca *v = cmd->v;

	pthread_mutex_lock(&v->lock);
	handle_release(&v->handles, obj->handle);
	quota_give(&v->quota.objects[obj->type], 1);
	pthread_mutex_unlock(&v->lock);
	free(obj);
}

static enum xen_vhca_status take(struct cmd *cmd, struct object *obj)
{
	if (obj->refs || obj->uses)
		return cmd_refuse(cmd, XEN_VHCA_E_BUSY,
				  "%s 0x%x: in use by %u objects, %u commands",
				  obj_type_name(obj->type), obj->handle, obj->refs, obj->uses);
	enter(cmd, obj->ctx);
	obj->dying = true;
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_take(struct cmd *cmd, xen_vhca_handle_t handle, enum obj_type type,
			      struct object **obj)
{
	return with_object(cmd, handle, type, take, obj);
}

void cmd_gone(struct cmd *cmd, struct object *obj)
{
	struct vhca *v = cmd->v;
	unsigned int i;

	if (obj->type == OBJ_CQ)
		watch_end(v->watches, &((struct cq *)obj)->watch);
	pthread_mutex_lock(&v->lock);
	for (i = 0; i < obj->n_deps; i++)
		obj->deps[i]->refs--;
	if (obj->type == OBJ_QP)
		vhca_forget_mcasts(v, (struct qp *)obj);
	LIST_REMOVE(obj, link);
	handle_release(&v->handles, obj->handle);
	quota_give(&v->quota.objects[obj->type], 1);
	pthread_mutex_unlock(&v->lock);
	free(obj);
}

void cmd_keep(struct cmd *cmd, struct object *obj)
{
	pthread_mutex_lock(&cmd->v->lock);
	obj->dying = false;
	pthread_mutex_unlock(&cmd->v->lock);
}

/* Its events go with the object: what has happened to it before is counted. */
static void count_events(struct cmd *cmd, const struct object *obj)
{
	if (cmd->v->events && (obj->type == OBJ_CQ || obj->type == OBJ_QP))
		events_look(cmd->v->events, cmd->ctx);
}

enum xen_vhca_status cmd_destroy(struct cmd *cmd, enum obj_type type,
				 int (*on_hca)(struct hca_ctx *ctx, uint32_t id), const char *what)
{
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_take(cmd, cmd->req.u.object.handle, type, &obj);
	if (status)
		return status;
	count_events(cmd, obj);
	status = cmd_hca(cmd, on_hca(cmd->ctx->hca, obj->hca_id), what);
	if (status)
		cmd_keep(cmd, obj);
	else
		cmd_gone(cmd, obj);
	return status;
}

enum xen_vhca_status cmd_charge(struct cmd *cmd, uint32_t pages)
{
	struct quota_item *bytes = &cmd->v->quota.bytes;
	bool taken;

	pthread_mutex_lock(&cmd->v->lock);
	taken = quota_take(bytes, (uint64_t)pages * XEN_VHCA_PAGE_SIZE);
	pthread_mutex_unlock(&cmd->v->lock);
	if (taken)
		return XEN_VHCA_OK;
	return cmd_refuse(cmd, XEN_VHCA_E_LIMIT, "%u pages more than max-mem-bytes", pages);
}

void cmd_uncharge(struct cmd *cmd, uint32_t pages)
{
	pthread_mutex_lock(&cmd->v->lock);
	quota_give(&cmd->v->quota.bytes, (uint64_t)pages * XEN_VHCA_PAGE_SIZE);
	pthread_mutex_unlock(&cmd->v->lock);
}

/* The command's uses end; a CTX_CLOSE may be waiting for that. */
static void leave(struct cmd *cmd)
{
	struct vhca *v = cmd->v;
	unsigned int i;

	for (i = 0; i < cmd->n_parts; i++)
		close(cmd->parts[i]);
	pthread_mutex_lock(&v->lock);
	for (i = 0; i < cmd->n_used; i++)
		cmd->used[i]->uses--;
	if (cmd->domain && !--cmd->domain->obj.uses)
		pthread_cond_broadcast(&v->idle);
	if (cmd->ctx && !--cmd->ctx->obj.uses)
		pthread_cond_broadcast(&v->idle);
	pthread_mutex_unlock(&v->lock);
	cmd->n_parts = 0;
	cmd->n_used = 0;
	cmd->domain = NULL;
	cmd->ctx = NULL;
}

static void account(struct cmd *cmd, enum xen_vhca_status status)
{
	const uint64_t took = clock_ns() - cmd->taken_ns;
	const uint8_t op = cmd->req.op;
	struct vhca *v = cmd->v;
	unsigned int suppressed;
	int allowed = 0;

	pthread_mutex_lock(&v->lock);
	if (op >= XEN_VHCA_OPS || !operations[op].run) {
		v->counters.unknown++;
	} else {
		v->counters.commands[op]++;
		v->counters.refused[op][status] += status != XEN_VHCA_OK;
		histogram_add(&v->counters.latency[op], took);
	}
	if (status)
		allowed = log_allowed(&v->refusals, &suppressed);
	pthread_mutex_unlock(&v->lock);
	if (!allowed)
		return;
	if (suppressed)
		log_warning("%u refusals were not logged", suppressed);
	log_refusal(vhca_op_name(op), vhca_status_name(status), "%s (%u) refused: %s%s%s",
		    vhca_op_name(op), op, vhca_status_name(status), cmd->why[0] ? ": " : "",
		    cmd->why);
}

static enum xen_vhca_status run(struct cmd *cmd, cmd_fetch *fetch, void *from)
{
	enum xen_vhca_status status = vhca_check_request(&cmd->req, &cmd->v->attr);

	if (status)
		return status;
	cmd->n_refs = vhca_request_words(&cmd->req);
	if (cmd->n_refs)
		fetch(from, cmd->refs, cmd->n_refs);
	return operations[cmd->req.op].run(cmd);
}

void cmd_run(struct cmd *cmd, cmd_fetch *fetch, void *from)
{
	enum xen_vhca_status status;

	memset(&cmd->rsp, 0, sizeof(cmd->rsp));
	cmd->data = NULL;
	cmd->data_len = 0;
	cmd->ctx = NULL;
	cmd->domain = NULL;
	cmd->n_used = 0;
	cmd->n_parts = 0;
	cmd->why[0] = 0;

	status = run(cmd, fetch, from);
	leave(cmd);
	account(cmd, status);

	if (status)
		memset(&cmd->rsp.u, 0, sizeof(cmd->rsp.u));
	cmd->rsp.id = cmd->req.id;
	cmd->rsp.op = cmd->req.op;
	cmd->rsp.status = status;
}
