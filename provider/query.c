// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * query.c - attributes of the device and of its port.
 */
#include <stdio.h>

#include "verbs.h"

int xenib_query_device_ex(struct ibv_context *context,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp = {};
	size_t resp_size = sizeof(resp);
	uint64_t version;
	int err;

	err = ibv_cmd_query_device_any(context, input, attr, attr_size, &resp, &resp_size);
	if (err)
		return err;

	version = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%u.%u.%04u",
		 (unsigned int)(version >> 32) & 0xffff, (unsigned int)(version >> 16) & 0xffff,
		 (unsigned int)version & 0xffff);
	return 0;
}

int xenib_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd;

	return ibv_cmd_query_port(context, port, attr, &cmd, sizeof(cmd));
}
