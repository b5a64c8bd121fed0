// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * query.c - attributes of the device and of its port, and its clock.
 */
#include <errno.h>
#include <stdio.h>

#include "abi.h"
#include "context.h"
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

/* Drivers that were made before there was this method say EPROTONOSUPPORT. */
static int read_clock(struct ibv_context *context, uint64_t *ticks)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DEVICE, XENIB_METHOD_CLOCK_QUERY, 1);
	int err;

	fill_attr_out_ptr(cmd, XENIB_ATTR_CLOCK_QUERY_TICKS, ticks);
	err = execute_ioctl(context, cmd);
	return err == EPROTONOSUPPORT ? EOPNOTSUPP : err;
}

/* In ticks, which are not nanoseconds: so libmlx5 has it. */
int xenib_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	uint64_t ticks;
	int err;

	if (!check_comp_mask(values->comp_mask, IBV_VALUES_MASK_RAW_CLOCK)) {
		verbs_debug(&to_xctx(context)->vctx, "refused: values %#x\n", values->comp_mask);
		return EINVAL;
	}
	if (!values->comp_mask)
		return 0;
	err = read_clock(context, &ticks);
	if (err)
		return err;
	values->raw_clock = (struct timespec){ .tv_nsec = ticks };
	return 0;
}
