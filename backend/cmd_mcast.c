// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd_mcast.c - multicast groups of a QP. The kernel keeps the list, and detaches what is left when
 * the QP goes.
 */
#include "cmd.h"

static enum xen_vhca_status attach_or_detach(struct cmd *cmd, bool attach)
{
	const struct xen_vhca_mcast *a = &cmd->req.u.mcast;
	const struct hca_ops *ops = cmd->v->hca->ops;
	enum xen_vhca_status status;
	struct object *obj;

	status = cmd_use(cmd, a->qp, OBJ_QP, &obj);
	if (status)
		return status;
	return cmd_hca(cmd, ops->mcast(cmd->ctx->hca, obj->hca_id, attach, a->gid, a->lid),
		       attach ? "joining a multicast group" : "leaving a multicast group");
}

enum xen_vhca_status cmd_mcast_attach(struct cmd *cmd)
{
	return attach_or_detach(cmd, true);
}

enum xen_vhca_status cmd_mcast_detach(struct cmd *cmd)
{
	return attach_or_detach(cmd, false);
}
