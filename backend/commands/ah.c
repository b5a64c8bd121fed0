// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ah.c - address handles. They are the frontend's, and this domain has none: a frontend asks for
 * one only when it has as many as it may, to have that counted and logged here.
 */
#include "commands/cmd.h"

enum xen_vhca_status cmd_ah_create(struct cmd *cmd)
{
	enum xen_vhca_status status;
	struct object *ctx;

	status = cmd_use(cmd, cmd->req.u.ah_create.ctx, OBJ_CTX, &ctx);
	if (status)
		return status;
	return cmd_refuse(cmd, XEN_VHCA_E_LIMIT, "more than %llu address handles",
			  (unsigned long long)cmd->v->quota.max_ah);
}
