// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * umem.c - umems of guest memory.
 */
#include <errno.h>

#include "commands/cmd.h"

static enum xen_vhca_status map_status(struct cmd *cmd, int err)
{
	if (!err)
		return XEN_VHCA_OK;
	if (err == -ENOMEM)
		return cmd_refuse(cmd, XEN_VHCA_E_NOMEM, "no memory to map %u pages", cmd->n_refs);
	return cmd_refuse(cmd, XEN_VHCA_E_GRANT, "one of %u references, from %u on, is invalid",
			  cmd->n_refs, cmd->refs[0]);
}

/* All that can be made on it can be made in a dma-buf. */
static bool can_be_dmabuf(const struct vhca *v, uint32_t pages, bool read_only, bool only_mrs)
{
	return v->hca->dmabufs && (only_mrs || v->hca->queue_dmabufs) &&
	       (!read_only || v->t->dmabuf_read_only) && pages <= v->t->dmabuf_pages;
}

static int init_umem(struct vhca *v, struct umem *umem, uint32_t pages, bool read_only,
		     bool only_mrs)
{
	int err;

	if (can_be_dmabuf(v, pages, read_only, only_mrs))
		err = umem_init_dmabuf(umem, v->t, pages, read_only);
	else
		err = umem_init(umem, pages, read_only);
	umem->only_mrs = only_mrs;
	return err;
}

static void count_dmabuf(struct vhca *v)
{
	pthread_mutex_lock(&v->lock);
	v->counters.dmabufs++;
	pthread_mutex_unlock(&v->lock);
}

enum xen_vhca_status cmd_umem_make(struct cmd *cmd, uint32_t pages, bool read_only, bool only_mrs,
				   struct object **obj)
{
	enum xen_vhca_status status;
	struct umem_obj *made;
	int err;

	status = cmd_charge(cmd, pages);
	if (status)
		return status;
	status = cmd_new(cmd, OBJ_UMEM, sizeof(*made), obj);
	if (status)
		goto err_uncharge;
	made = (struct umem_obj *)*obj;
	made->charged = pages;
	err = init_umem(cmd->v, &made->umem, pages, read_only, only_mrs);
	status = map_status(cmd, err);
	if (status)
		goto err_drop;
	/* Nobody can see the umem yet, so its states need no lock. */
	umem_claim(&made->umem, 0, cmd->n_refs);
	err = umem_map(&made->umem, cmd->v->t, 0, cmd->refs, cmd->n_refs);
	umem_settle(&made->umem, 0, cmd->n_refs, err);
	status = map_status(cmd, err);
	if (status)
		goto err_umem;
	if (made->umem.dmabuf >= 0)
		count_dmabuf(cmd->v);
	return XEN_VHCA_OK;

err_umem:
	umem_fini(&made->umem);
err_drop:
	cmd_drop(cmd, *obj);
err_uncharge:
	cmd_uncharge(cmd, pages);
	return status;
}

static void end_umem(struct cmd *cmd, struct object *obj,
		     void (*end)(struct cmd *cmd, struct object *obj))
{
	uint32_t pages = ((struct umem_obj *)obj)->charged;

	umem_fini(&((struct umem_obj *)obj)->umem);
	end(cmd, obj);
	cmd_uncharge(cmd, pages);
}

void cmd_umem_drop(struct cmd *cmd, struct object *obj)
{
	end_umem(cmd, obj, cmd_drop);
}

void cmd_umem_gone(struct cmd *cmd, struct object *obj)
{
	end_umem(cmd, obj, cmd_gone);
}

enum xen_vhca_status cmd_umem_create(struct cmd *cmd)
{
	const struct xen_vhca_umem_create *a = &cmd->req.u.umem_create;
	enum xen_vhca_status status;
	struct object *obj, *ctx;

	status = cmd_use(cmd, a->ctx, OBJ_CTX, &ctx);
	if (status)
		return status;
	status = cmd_umem_make(cmd, a->pages, a->flags & XEN_VHCA_UMEM_READ_ONLY,
			       a->flags & XEN_VHCA_UMEM_MR, &obj);
	if (status)
		return status;
	cmd->rsp.u.object.handle = obj->handle;
	cmd_publish(cmd, obj);
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_umem_add(struct cmd *cmd)
{
	const struct xen_vhca_umem_add *a = &cmd->req.u.umem_add;
	struct vhca *v = cmd->v;
	enum xen_vhca_status status;
	struct umem *umem;
	struct object *obj;
	bool claimed;
	int err;

	status = cmd_use(cmd, a->umem, OBJ_UMEM, &obj);
	if (status)
		return status;
	umem = &((struct umem_obj *)obj)->umem;
	pthread_mutex_lock(&v->lock);
	claimed = umem_claim(umem, a->first, a->count);
	pthread_mutex_unlock(&v->lock);
	if (!claimed)
		return cmd_refuse(cmd, XEN_VHCA_E_COUNT, "%u pages from %u of %u: not expected",
				  a->count, a->first, umem->pages);
	err = umem_map(umem, v->t, a->first, cmd->refs, cmd->n_refs);
	pthread_mutex_lock(&v->lock);
	umem_settle(umem, a->first, a->count, err);
	pthread_mutex_unlock(&v->lock);
	return map_status(cmd, err);
}

enum xen_vhca_status cmd_umem_destroy(struct cmd *cmd)
{
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_take(cmd, cmd->req.u.object.handle, OBJ_UMEM, &obj);
	if (!status)
		cmd_umem_gone(cmd, obj);
	return status;
}
