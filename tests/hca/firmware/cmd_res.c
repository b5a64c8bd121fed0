// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands for the objects that are little more than a number: user contexts, UARs, PDs, domains. */
#include <stdlib.h>

#include "firmware/cmd_run.h"
#include "objects/destroy.h"
#include "objects/mkey.h"
#include "objects/uar.h"

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

/* Objects that ALLOC makes and DEALLOC ends; where the answer and the request have their number. */
#define KIND(name, layout, type, size) \
	{ MLX5_CMD_OP_ALLOC_##name, \
	  MLX5_CMD_OP_DEALLOC_##name, \
	  type, \
	  size, \
	  IFC_OFF(alloc_##layout##_out, layout), \
	  IFC_OFF(dealloc_##layout##_in, layout) }
#define NUMBER_BITS 24u

static const struct kind {
	uint16_t alloc, dealloc;
	enum obj_type type;
	size_t size;
	size_t out_at, in_at; /* in bits */
} kinds[] = {
	KIND(UAR, uar, OBJ_UAR, sizeof(struct uar)),
	KIND(PD, pd, OBJ_PD, sizeof(struct obj)),
	KIND(TRANSPORT_DOMAIN, transport_domain, OBJ_TD, sizeof(struct obj)),
	KIND(XRCD, xrcd, OBJ_XRCD, sizeof(struct obj)),
};

static const struct kind *kind_of(uint16_t opcode)
{
	const struct kind *kind = kinds;

	while (kind->alloc != opcode && kind->dealloc != opcode)
		kind++;
	return kind;
}

static enum cmd_status alloc(struct cmd *cmd)
{
	const struct kind *kind = kind_of(cmd->opcode);
	uint32_t id;
	enum cmd_status status = make(cmd, kind->type, kind->size, &id);

	if (!status)
		ifc_set(cmd->out, kind->out_at, NUMBER_BITS, id);
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

static enum cmd_status dealloc(struct cmd *cmd)
{
	const struct kind *kind = kind_of(cmd->opcode);
	uint32_t id = ifc_get(cmd->in, kind->in_at, NUMBER_BITS);

	if (kind->type == OBJ_PD && pd_has_keys(cmd->hca, id))
		return cmd_fail(cmd, CMD_BAD_RES_STATE, "PD 0x%x still has memory keys", id);
	return cmd_destroy(cmd, kind->type, id);
}

#define ALLOC_DEALLOC(name, layout) \
	CMD_DESC(ALLOC_##name, alloc_##layout, CMD_INITIALIZED, alloc, true), \
		CMD_DESC(DEALLOC_##name, dealloc_##layout, CMD_INITIALIZED, dealloc, true)

const struct cmd_desc cmd_table_res[] = {
	CMD_DESC(CREATE_UCTX, create_uctx, CMD_INITIALIZED, create_uctx, false),
	CMD_DESC(DESTROY_UCTX, destroy_uctx, CMD_INITIALIZED, destroy_uctx, false),
	ALLOC_DEALLOC(UAR, uar),
	ALLOC_DEALLOC(PD, pd),
	ALLOC_DEALLOC(TRANSPORT_DOMAIN, transport_domain),
	ALLOC_DEALLOC(XRCD, xrcd),
	{ 0 },
};
