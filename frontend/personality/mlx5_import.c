// SPDX-License-Identifier: GPL-2.0
/*
 * mlx5_import.c - what libmlx5 asks of a context and a PD that another process has made, and whose
 * command file this one has.
 */
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/uverbs_std_types.h>

#include "personality/mlx5.h"

#define UVERBS_MODULE_NAME xenib_mlx5_import
#include <rdma/uverbs_named_ioctl.h>

/* Of a structure that grows, libmlx5 gets as much as it knows. */
int xenib_mlx5_query_context(struct ib_ucontext *ibuc, struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ib_alloc_ucontext_resp resp = xenib_mlx5_context_of(to_xdev(ibuc->device));
	int len = uverbs_attr_get_len(attrs, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX);

	resp.response_length = min_t(size_t, len, sizeof(resp));
	return uverbs_copy_to_struct_or_zero(attrs, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, &resp,
					     sizeof(resp));
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_PD_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_pd *ibpd = uverbs_attr_get_obj(attrs, MLX5_IB_ATTR_QUERY_PD_HANDLE);
	const u32 pdn = to_xpd(ibpd)->pdn;

	return uverbs_copy_to(attrs, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &pdn, sizeof(pdn));
}

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_PD_QUERY,
			    UVERBS_ATTR_IDR(MLX5_IB_ATTR_QUERY_PD_HANDLE, UVERBS_OBJECT_PD,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_QUERY_PD_RESP_PDN,
						UVERBS_ATTR_TYPE(u32), UA_MANDATORY));

ADD_UVERBS_METHODS(xenib_mlx5_pd_methods, UVERBS_OBJECT_PD,
		   &UVERBS_METHOD(MLX5_IB_METHOD_PD_QUERY));

ADD_UVERBS_ATTRIBUTES_SIMPLE(
	xenib_mlx5_context_attrs, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT,
	UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX,
			    UVERBS_ATTR_STRUCT(struct mlx5_ib_alloc_ucontext_resp,
					       num_uars_per_page),
			    UA_MANDATORY));

const struct uapi_definition xenib_mlx5_import_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_PD, &xenib_mlx5_pd_methods),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &xenib_mlx5_context_attrs),
	{},
};
