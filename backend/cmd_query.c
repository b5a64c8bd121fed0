// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd_query.c - queries of the device and its port.
 */
#include "cmd.h"

enum xen_vhca_status cmd_device_query(struct cmd *cmd)
{
	cmd->data = &cmd->v->attr;
	cmd->data_len = sizeof(cmd->v->attr);
	return XEN_VHCA_OK;
}

enum xen_vhca_status cmd_port_query(struct cmd *cmd)
{
	struct hca *hca = cmd->v->hca;

	return cmd_hca(cmd, hca->ops->query_port(hca, &cmd->rsp.u.port), "querying the port");
}

enum xen_vhca_status cmd_gid_query(struct cmd *cmd)
{
	struct hca *hca = cmd->v->hca;

	return cmd_hca(cmd, hca->ops->query_gid(hca, cmd->req.u.index.index, cmd->rsp.u.gid.gid),
		       "querying a GID");
}

enum xen_vhca_status cmd_pkey_query(struct cmd *cmd)
{
	struct hca *hca = cmd->v->hca;

	return cmd_hca(cmd, hca->ops->query_pkey(hca, cmd->req.u.index.index,
						 &cmd->rsp.u.pkey.pkey), "querying a P_Key");
}
