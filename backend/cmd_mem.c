// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd_mem.c - regions of guest memory.
 */
#include <errno.h>

#include "cmd.h"

static enum xen_vhca_status map_status(struct cmd *cmd, int err)
{
	if (!err)
		return XEN_VHCA_OK;
	if (err == -ENOMEM)
		return cmd_refuse(cmd, XEN_VHCA_E_NOMEM, "no memory to map %u pages", cmd->n_refs);
	return cmd_refuse(cmd, XEN_VHCA_E_GRANT, "one of %u references, from %u on, is not good",
			  cmd->n_refs, cmd->refs[0]);
}

enum xen_vhca_status cmd_region_make(struct cmd *cmd, uint32_t pages, bool read_only,
				     struct object **obj)
{
	enum xen_vhca_status status;
	struct mem *mem;
	int err;

	status = cmd_charge(cmd, pages);
	if (status)
		return status;
	status = cmd_new(cmd, OBJ_MEM, sizeof(*mem), obj);
	if (status)
		goto err_uncharge;
	mem = (struct mem *)*obj;
	mem->charged = pages;
	err = region_init(&mem->region, pages, read_only);
	status = map_status(cmd, err);
	if (status)
		goto err_drop;
	/* Nobody can see the region yet, so its states need no lock. */
	region_claim(&mem->region, 0, cmd->n_refs);
	err = region_map(&mem->region, cmd->v->t, 0, cmd->refs, cmd->n_refs);
	region_settle(&mem->region, 0, cmd->n_refs, err);
	status = map_status(cmd, err);
	if (status)
		goto err_region;
	return XEN_VHCA_OK;

err_region:
	region_fini(&mem->region);
err_drop:
	cmd_drop(cmd, *obj);
err_uncharge:
	cmd_uncharge(cmd, pages);
	return status;
}

static void end_region(struct cmd *cmd, struct object *obj,
		       void (*end)(struct cmd *cmd, struct object *obj))
{
	uint32_t pages = ((struct mem *)obj)->charged;

	region_fini(&((struct mem *)obj)->region);
	end(cmd, obj);
	cmd_uncharge(cmd, pages);
}

void cmd_region_drop(struct cmd *cmd, struct object *obj)
{
	end_region(cmd, obj, cmd_drop);
}

void cmd_region_gone(struct cmd *cmd, struct object *obj)
{
	end_region(cmd, obj, cmd_gone);
}

enum xen_vhca_status cmd_mem_create(struct cmd *cmd)
{
	const struct xen_vhca_mem_create *a = &cmd->req.u.mem_create;
	enum xen_vhca_status status;
	struct object *obj, *ctx;

	status = cmd_use(cmd, a->ctx, OBJ_CTX, &ctx);
	if (status)
		return status;
	status = cmd_region_make(cmd, a->pages, a->flags & XEN_VHCA_MEM_READ_ONLY, &obj);
	if (status)
		return status;
	cmd->rsp.u.object.handle = obj->handle;
	cmd_publish(cmd, obj);
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_mem_add(struct cmd *cmd)
{
	const struct xen_vhca_mem_add *a = &cmd->req.u.mem_add;
	struct vdev *v = cmd->v;
	enum xen_vhca_status status;
	struct region *region;
	struct object *obj;
	bool claimed;
	int err;

	status = cmd_use(cmd, a->mem, OBJ_MEM, &obj);
	if (status)
		return status;
	region = &((struct mem *)obj)->region;
	pthread_mutex_lock(&v->lock);
	claimed = region_claim(region, a->first, a->count);
	pthread_mutex_unlock(&v->lock);
	if (!claimed)
		return cmd_refuse(cmd, XEN_VHCA_E_COUNT, "%u pages from %u of %u: not expected",
				  a->count, a->first, region->pages);
	err = region_map(region, v->t, a->first, cmd->refs, cmd->n_refs);
	pthread_mutex_lock(&v->lock);
	region_settle(region, a->first, a->count, err);
	pthread_mutex_unlock(&v->lock);
	return map_status(cmd, err);
}

enum xen_vhca_status cmd_mem_destroy(struct cmd *cmd)
{
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_take(cmd, cmd->req.u.object.handle, OBJ_MEM, &obj);
	if (!status)
		cmd_region_gone(cmd, obj);
	return status;
}
