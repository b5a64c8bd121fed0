// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ctx.c - contexts and their doorbell pages.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "commands/cmd.h"
#include "vhca/events.h"

/* The name is for people, who read it on a terminal: only what prints. */
static void copy_name(struct context *ctx, const char name[16])
{
	unsigned int i;

	for (i = 0; i < 16 && name[i]; i++)
		ctx->name[i] = isprint((unsigned char)name[i]) ? name[i] : '?';
}

/* A domain is an inode to the HCA's driver: that of a pipe, which nothing else is done with. */
static int make_domain(struct context *ctx)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	close(ends[1]);
	ctx->domain = ends[0];
	return 0;
}

static enum xen_vhca_status open_domain(struct cmd *cmd, struct context *ctx)
{
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;

	if (make_domain(ctx))
		return cmd_refuse(cmd, XEN_VHCA_E_NOMEM, "no descriptor for an XRC domain");
	status = cmd_hca(cmd, ops->xrcd_open(ctx->hca, ctx->domain, &ctx->xrcd),
			 "making an XRC domain");
	if (status)
		close(ctx->domain);
	return status;
}

static enum xen_vhca_status open_on_hca(struct cmd *cmd, struct context *ctx)
{
	struct events *events = cmd->v->events;
	struct hca *hca = cmd->v->hca;
	enum xen_vhca_status status;

	status = cmd_hca(cmd, hca->ops->ctx_open(hca, events, &ctx->hca), "opening a context");
	if (status)
		return status;
	if (cmd->req.u.ctx_open.flags & XEN_VHCA_CTX_XRCD)
		status = open_domain(cmd, ctx);
	if (status)
		goto err_close;
	if (!events)
		return XEN_VHCA_OK;
	status = cmd_hca(cmd, events_watch(events, ctx), "watching a context for events");
	if (!status)
		return XEN_VHCA_OK;

	if (ctx->domain >= 0)
		close(ctx->domain);
err_close:
	hca->ops->ctx_close(ctx->hca);
	return status;
}

enum xen_vhca_status cmd_ctx_open(struct cmd *cmd)
{
	const struct xen_vhca_ctx_open *a = &cmd->req.u.ctx_open;
	enum xen_vhca_status status;
	const bool kernel = a->flags & XEN_VHCA_CTX_KERNEL;
	struct context *ctx;
	struct object *obj;

	if (kernel && !cmd->v->kernel)
		return cmd_refuse(cmd, XEN_VHCA_E_UNSUPPORTED, "the guest's kernel: kernel=off");
	if (a->flags & XEN_VHCA_CTX_XRCD && !cmd->v->hca->xrc)
		return cmd_refuse(cmd, XEN_VHCA_E_UNSUPPORTED, "an HCA without XRC");
	status = cmd_new(cmd, OBJ_CTX, sizeof(*ctx), &obj);
	if (status)
		return status;
	ctx = (struct context *)obj;
	obj->ctx = ctx;
	LIST_INIT(&ctx->objects);
	ctx->pid = a->pid;
	ctx->kernel = kernel;
	ctx->domain = -1;
	copy_name(ctx, a->name);
	status = open_on_hca(cmd, ctx);
	if (status) {
		cmd_drop(cmd, obj);
		return status;
	}
	cmd->rsp.u.object.handle = obj->handle;
	cmd_publish(cmd, obj);
	return XEN_VHCA_OK;
}

/* From the moment that it is dying no command can enter it; those that are in it are waited for. */
enum xen_vhca_status cmd_ctx_close(struct cmd *cmd)
{
	const xen_vhca_handle_t handle = cmd->req.u.object.handle;
	struct vhca *v = cmd->v;
	struct object *obj;

	pthread_mutex_lock(&v->lock);
	obj = handle_find(&v->handles, handle, OBJ_CTX);
	if (obj)
		obj->dying = true;
	while (obj && obj->uses)
		pthread_cond_wait(&v->idle, &v->lock);
	pthread_mutex_unlock(&v->lock);
	if (!obj)
		return cmd_refuse(cmd, XEN_VHCA_E_HANDLE, "no context has handle 0x%x", handle);
	if (v->events)
		events_look(v->events, (struct context *)obj);
	vhca_destroy_context(v, (struct context *)obj);
	return XEN_VHCA_OK;
}

static void fill_uar(struct cmd *cmd, const struct object *obj, const struct hca_uar *uar)
{
	const struct xen_vhca_uar_alloc *a = &cmd->req.u.uar_alloc;
	struct hca *hca = cmd->v->hca;
	struct xen_vhca_new_uar *u = &cmd->rsp.u.uar;

	u->handle = obj->handle;
	u->index = uar->index;
	u->frame = cmd->v->t->auto_translated ? a->gfn : uar->frame;
	hca->ops->uar_layout(hca, a->type, &u->bf_size, &u->bf_offset);
}

static enum xen_vhca_status get_uar(struct cmd *cmd, struct hca_uar *uar)
{
	const struct xen_vhca_uar_alloc *a = &cmd->req.u.uar_alloc;
	struct transport *t = cmd->v->t;
	int err;

	err = t->ops->uar_alloc(t, a->type, a->gfn, uar);
	if (err == -EEXIST)
		return cmd_refuse(cmd, XEN_VHCA_E_ARG, "gfn 0x%llx already has a doorbell page",
				  (unsigned long long)a->gfn);
	if (err == -EXFULL)
		return cmd_refuse(cmd, XEN_VHCA_E_NOMEM, "too many doorbell pages have been used");
	return cmd_hca(cmd, err, "allowing the guest a doorbell page");
}

enum xen_vhca_status cmd_uar_alloc(struct cmd *cmd)
{
	const struct xen_vhca_uar_alloc *a = &cmd->req.u.uar_alloc;
	struct vhca *v = cmd->v;
	enum xen_vhca_status status;
	struct object *obj, *ctx;
	struct uar *uar;

	if (!v->t->auto_translated != !a->gfn)
		return cmd_refuse(cmd, XEN_VHCA_E_ARG, "gfn 0x%llx from a%s guest",
				  (unsigned long long)a->gfn,
				  v->t->auto_translated ? "n auto-translated" : " PV");
	status = cmd_use(cmd, a->ctx, OBJ_CTX, &ctx);
	if (status)
		return status;
	status = cmd_new(cmd, OBJ_UAR, sizeof(*uar), &obj);
	if (status)
		return status;
	uar = (struct uar *)obj;
	status = get_uar(cmd, &uar->uar);
	if (status) {
		cmd_drop(cmd, obj);
		return status;
	}
	obj->number = uar->uar.index;
	fill_uar(cmd, obj, &uar->uar);
	cmd_publish(cmd, obj);
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_uar_free(struct cmd *cmd)
{
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_take(cmd, cmd->req.u.object.handle, OBJ_UAR, &obj);
	if (status)
		return status;
	vhca_free_uar(cmd->v, (struct uar *)obj);
	cmd_gone(cmd, obj);
	return XEN_VHCA_OK;
}
