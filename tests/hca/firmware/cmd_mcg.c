// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Multicast groups: which UD QPs get the packets to an MGID. */
#include <errno.h>

#include "container.h"
#include "engine/fabric.h"
#include "firmware/cmd_run.h"
#include "objects/qp.h"

#define CMD_SYNDROME_BASE 0xb0000u

#define MGID_PREFIX 0xffu

static enum cmd_status group_member(struct cmd *cmd, uint32_t qpn, const uint8_t *mgid)
{
	enum cmd_status status = CMD_OK;
	struct obj *obj = cmd_obj(cmd, OBJ_QP, qpn, &status);

	if (!obj)
		return status;
	if (container_of(obj, struct qp, obj)->transport != QP_UD)
		return cmd_fail(cmd, CMD_BAD_PARAM, "QP 0x%x is not an UD one", qpn);
	if (mgid[0] != MGID_PREFIX)
		return cmd_fail(cmd, CMD_BAD_PARAM, "not the GID of a group");
	return CMD_OK;
}

static enum cmd_status attach_to_mcg(struct cmd *cmd)
{
	const uint8_t *mgid = IFC_ADDR(attach_to_mcg_in, cmd->in, multicast_gid);
	uint32_t qpn = IFC_GET(attach_to_mcg_in, cmd->in, qpn);
	enum cmd_status status = group_member(cmd, qpn, mgid);

	if (status)
		return status;
	switch (fabric_attach(cmd->hca, mgid, qpn)) {
	case 0:
	case -EEXIST: /* a second time changes nothing: the driver may attach for several users */
		return CMD_OK;
	default:
		return cmd_fail(cmd, CMD_NO_RES, "the group, or the function, has too many");
	}
}

static enum cmd_status detach_from_mcg(struct cmd *cmd)
{
	const uint8_t *mgid = IFC_ADDR(detach_from_mcg_in, cmd->in, multicast_gid);
	uint32_t qpn = IFC_GET(detach_from_mcg_in, cmd->in, qpn);
	enum cmd_status status = group_member(cmd, qpn, mgid);

	if (status)
		return status;
	if (fabric_detach(cmd->hca, mgid, qpn))
		return cmd_fail(cmd, CMD_BAD_RES, "QP 0x%x is not attached to it", qpn);
	return CMD_OK;
}

const struct cmd_desc cmd_table_mcg[] = {
	CMD_DESC(ATTACH_TO_MCG, attach_to_mcg, CMD_INITIALIZED, attach_to_mcg, true),
	CMD_DESC(DETACH_FROM_MCG, detach_from_mcg, CMD_INITIALIZED, detach_from_mcg, true),
	{ 0 },
};
