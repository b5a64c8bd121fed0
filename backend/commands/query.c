// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * query.c - queries of the device, its port and its clock.
 */
#include "commands/cmd.h"

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

uint32_t cmd_gid_index(const struct vhca *v, uint32_t index)
{
	if (!index)
		return v->gid_index;
	return index == v->gid_index ? 0 : index;
}

enum xen_vhca_status cmd_gid_query(struct cmd *cmd)
{
	const struct xen_vhca_index *of = &cmd->req.u.index;
	struct hca *hca = cmd->v->hca;
	int err = 0;
	uint32_t i;

	for (i = 0; i <= of->more && !err; i++)
		err = hca->ops->query_gid(hca, cmd_gid_index(cmd->v, of->index + i),
					  cmd->rsp.u.gids.gid[i]);
	return cmd_hca(cmd, err, "querying a GID");
}

enum xen_vhca_status cmd_pkey_query(struct cmd *cmd)
{
	const struct xen_vhca_index *of = &cmd->req.u.index;
	struct hca *hca = cmd->v->hca;
	int err = 0;
	uint32_t i;

	for (i = 0; i <= of->more && !err; i++)
		if (pkeys_has(&cmd->v->pkeys, of->index + i))
			err = hca->ops->query_pkey(hca, of->index + i, &cmd->rsp.u.pkeys.pkey[i]);
	return cmd_hca(cmd, err, "querying a P_Key");
}

enum xen_vhca_status cmd_clock_query(struct cmd *cmd)
{
	struct hca *hca = cmd->v->hca;

	return cmd_hca(cmd, hca->ops->query_clock(hca, &cmd->rsp.u.clock.ticks),
		       "reading the clock");
}
