// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands for the objects that are little more than a number: user contexts, UARs, PDs, domains. */
#include <stdlib.h>

#include "cmd_run.h"
#include "destroy.h"
#include "mkey.h"
#include "uar.h"

#define CMD_SYNDROME_BASE 0x30000u

/* Makes an object of size bytes, owned by the command's uid. */
static enum cmd_status make(struct cmd *cmd, enum obj_type type, size_t size, uint32_t *id)
{
	struct obj *obj = calloc(1, size);

	if (!obj)
		return cmd_fail(cmd, CMD_NO_RES, "no memory");
	obj->hca = cmd->hca;
	obj->type = type;
	obj->uid = cmd->uid;
	if (obj_add(cmd->hca->objs[type], obj)) {
		free(obj);
		return cmd_fail(cmd, CMD_NO_RES, "no %s left", obj_type_name(type));
	}
	*id = obj->id;
	return CMD_OK;
}

enum cmd_status cmd_destroy(struct cmd *cmd, enum obj_type type, uint32_t id)
{
	enum cmd_status status;
	struct obj *obj = cmd_obj(cmd, type, id, &status);

	if (!obj)
		return status;
	if (obj->refs)
		return cmd_fail(cmd, CMD_BAD_RES_STATE, "%s 0x%x is in use by %u others",
				obj_type_name(type), id, obj->refs);
	destroy(obj);
	return CMD_OK;
}

static enum cmd_status create_uctx(struct cmd *cmd)
{
	uint32_t uid;
	enum cmd_status status = make(cmd, OBJ_UCTX, sizeof(struct obj), &uid);

	if (status)
		return status;
	obj_find(cmd->hca->objs[OBJ_UCTX], uid)->uid = (uint16_t)uid;
	IFC_SET(create_uctx_out, cmd->out, uid, uid);
	return CMD_OK;
}

/* What the context still owns goes with it. */
static enum cmd_status destroy_uctx(struct cmd *cmd)
{
	uint32_t uid = IFC_GET(destroy_uctx_in, cmd->in, uid);
	enum cmd_status status;

	if (!cmd_obj(cmd, OBJ_UCTX, uid, &status))
		return status;
	destroy_uid(cmd->hca, (uint16_t)uid);
	return CMD_OK;
}

static enum cmd_status alloc_uar(struct cmd *cmd)
{
	uint32_t id;
	enum cmd_status status = make(cmd, OBJ_UAR, sizeof(struct uar), &id);

	if (!status)
		IFC_SET(alloc_uar_out, cmd->out, uar, id);
	return status;
}

static enum cmd_status dealloc_uar(struct cmd *cmd)
{
	return cmd_destroy(cmd, OBJ_UAR, IFC_GET(dealloc_uar_in, cmd->in, uar));
}

static enum cmd_status alloc_pd(struct cmd *cmd)
{
	uint32_t id;
	enum cmd_status status = make(cmd, OBJ_PD, sizeof(struct obj), &id);

	if (!status)
		IFC_SET(alloc_pd_out, cmd->out, pd, id);
	return status;
}

/* Keys change their PD by UMR, so they are not counted as references but looked for. */
static bool pd_has_keys(struct hca *hca, uint32_t pd)
{
	struct obj *obj = obj_next(hca->objs[OBJ_MKEY], 0);

	for (; obj; obj = obj_next(hca->objs[OBJ_MKEY], obj->id + 1)) {
		const struct mkey *mkey = (const struct mkey *)obj;

		if (!mkey->free && mkey->pd == pd)
			return true;
	}
	return false;
}

static enum cmd_status dealloc_pd(struct cmd *cmd)
{
	uint32_t pd = IFC_GET(dealloc_pd_in, cmd->in, pd);

	if (pd_has_keys(cmd->hca, pd))
		return cmd_fail(cmd, CMD_BAD_RES_STATE, "PD 0x%x still has memory keys", pd);
	return cmd_destroy(cmd, OBJ_PD, pd);
}

static enum cmd_status alloc_transport_domain(struct cmd *cmd)
{
	uint32_t id;
	enum cmd_status status = make(cmd, OBJ_TD, sizeof(struct obj), &id);

	if (!status)
		IFC_SET(alloc_transport_domain_out, cmd->out, transport_domain, id);
	return status;
}

static enum cmd_status dealloc_transport_domain(struct cmd *cmd)
{
	return cmd_destroy(cmd, OBJ_TD,
			   IFC_GET(dealloc_transport_domain_in, cmd->in, transport_domain));
}

static enum cmd_status alloc_xrcd(struct cmd *cmd)
{
	uint32_t id;
	enum cmd_status status = make(cmd, OBJ_XRCD, sizeof(struct obj), &id);

	if (!status)
		IFC_SET(alloc_xrcd_out, cmd->out, xrcd, id);
	return status;
}

static enum cmd_status dealloc_xrcd(struct cmd *cmd)
{
	return cmd_destroy(cmd, OBJ_XRCD, IFC_GET(dealloc_xrcd_in, cmd->in, xrcd));
}

const struct cmd_desc cmd_table_res[] = {
	CMD_DESC(CREATE_UCTX, create_uctx, CMD_INITIALIZED, create_uctx, false),
	CMD_DESC(DESTROY_UCTX, destroy_uctx, CMD_INITIALIZED, destroy_uctx, false),
	CMD_DESC(ALLOC_UAR, alloc_uar, CMD_INITIALIZED, alloc_uar, true),
	CMD_DESC(DEALLOC_UAR, dealloc_uar, CMD_INITIALIZED, dealloc_uar, true),
	CMD_DESC(ALLOC_PD, alloc_pd, CMD_INITIALIZED, alloc_pd, true),
	CMD_DESC(DEALLOC_PD, dealloc_pd, CMD_INITIALIZED, dealloc_pd, true),
	CMD_DESC(ALLOC_TRANSPORT_DOMAIN, alloc_transport_domain, CMD_INITIALIZED,
		 alloc_transport_domain, true),
	CMD_DESC(DEALLOC_TRANSPORT_DOMAIN, dealloc_transport_domain, CMD_INITIALIZED,
		 dealloc_transport_domain, true),
	CMD_DESC(ALLOC_XRCD, alloc_xrcd, CMD_INITIALIZED, alloc_xrcd, true),
	CMD_DESC(DEALLOC_XRCD, dealloc_xrcd, CMD_INITIALIZED, dealloc_xrcd, true),
	{ 0 },
};
