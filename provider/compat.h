/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What releases of rdma-core differ in, a function for each: the code is written for the newest. */
#ifndef XENIB_COMPAT_H
#define XENIB_COMPAT_H

#include <infiniband/driver.h>

/* From 57 on a context can be opened with files that the kernel is to have; this provider has none. */
static inline int xenib_cmd_get_context(struct verbs_context *context, struct ibv_get_context *cmd,
					size_t cmd_size, struct ib_uverbs_get_context_resp *resp,
					size_t resp_size)
{
#if IBVERBS_PABI_VERSION >= 57
	return ibv_cmd_get_context(context, cmd, cmd_size, NULL, resp, resp_size);
#else
	return ibv_cmd_get_context(context, cmd, cmd_size, resp, resp_size);
#endif
}

/* From 59 on the kernel can be told where a CQ's buffer is; this provider does so in its own part of @cmd. */
static inline int xenib_cmd_create_cq(struct ibv_context *context,
				      const struct ibv_cq_init_attr_ex *attr, struct verbs_cq *cq,
				      struct ibv_create_cq_ex *cmd, size_t cmd_size,
				      struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size)
{
#if IBVERBS_PABI_VERSION >= 59
	return ibv_cmd_create_cq_ex(context, attr, NULL, cq, cmd, cmd_size, resp, resp_size, 0);
#else
	return ibv_cmd_create_cq_ex(context, attr, cq, cmd, cmd_size, resp, resp_size, 0);
#endif
}

/* From 64 on the command can have more attributes; this provider has none. */
static inline int xenib_cmd_create_qp(struct ibv_context *context, struct verbs_qp *qp,
				      struct ibv_qp_init_attr_ex *attr,
				      struct ibv_create_qp_ex *cmd, size_t cmd_size,
				      struct ib_uverbs_ex_create_qp_resp *resp, size_t resp_size)
{
#if IBVERBS_PABI_VERSION >= 64
	return ibv_cmd_create_qp_ex2(context, qp, attr, cmd, cmd_size, resp, resp_size, NULL);
#else
	return ibv_cmd_create_qp_ex2(context, qp, attr, cmd, cmd_size, resp, resp_size);
#endif
}

#endif
