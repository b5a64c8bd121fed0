// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "check.h"
#include "uabi_mlx5.h"

struct mlx5_ib_alloc_ucontext_req_v2 uabi_mlx5_good_context(void)
{
	return (struct mlx5_ib_alloc_ucontext_req_v2){
		.total_num_bfregs = 16,
		.num_low_latency_bfregs = 4,
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
	};
}

int uabi_mlx5_context(int fd, uint32_t len, const void *req,
		      struct mlx5_ib_alloc_ucontext_resp *resp)
{
	return uabi_context_of(fd, RDMA_DRIVER_MLX5, (struct uabi_bytes){ (void *)req, len },
			       (struct uabi_bytes){ resp, sizeof(*resp) });
}

struct mlx5_ib_create_cq uabi_mlx5_cq(const struct xenib_create_cq_req *from)
{
	return (struct mlx5_ib_create_cq){
		.buf_addr = from->buf_addr,
		.db_addr = from->db_addr,
		.cqe_size = from->cqe_size,
		.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
		.uar_page_index = from->uar > UINT16_MAX ? UINT16_MAX : from->uar,
		.reserved0 = from->comp_mask,
		.reserved1 = from->reserved,
	};
}

struct mlx5_ib_resize_cq uabi_mlx5_resize_cq(const struct xenib_resize_cq_req *from)
{
	return (struct mlx5_ib_resize_cq){
		.buf_addr = from->buf_addr,
		.cqe_size = UABI_CQE_SIZE,
		.reserved0 = from->comp_mask,
		.reserved1 = from->reserved1,
	};
}

struct mlx5_ib_create_srq uabi_mlx5_srq(const struct xenib_create_srq_req *from)
{
	return (struct mlx5_ib_create_srq){
		.buf_addr = from->buf_addr,
		.db_addr = from->db_addr,
		.uidx = from->uidx,
		.reserved1 = from->comp_mask,
	};
}

struct mlx5_ib_create_qp uabi_mlx5_qp(const struct xenib_create_qp_req *from)
{
	return (struct mlx5_ib_create_qp){
		.buf_addr = from->buf_addr,
		.db_addr = from->db_addr,
		.sq_wqe_count = from->sq_wqe_count,
		.rq_wqe_count = from->rq_wqe_count,
		.rq_wqe_shift = from->rq_wqe_shift,
		.flags = MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_UAR_PAGE_INDEX,
		.uidx = from->uidx,
		.bfreg_index = from->uar,
		.reserved = from->comp_mask,
	};
}

int uabi_mlx5_alloc_uar(int fd, uint64_t type, uint32_t *uar, struct xenib_uar_alloc_resp *resp)
{
	uint32_t length;
	struct uverbs_arg args[] = {
		{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0, 0 },
		{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 8,
		  type == XENIB_UAR_NC ? MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC :
					 MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF },
		{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, sizeof(resp->mmap_offset),
		  (uintptr_t)&resp->mmap_offset },
		{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, sizeof(length), (uintptr_t)&length },
		{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, sizeof(resp->index),
		  (uintptr_t)&resp->index },
	};
	int err = uverbs_ioctl(fd, RDMA_DRIVER_MLX5, MLX5_IB_OBJECT_UAR,
			       MLX5_IB_METHOD_UAR_OBJ_ALLOC, args, ARRAY_SIZE(args));

	*uar = args[0].data;
	return err;
}

int uabi_mlx5_free_uar(int fd, uint32_t uar)
{
	struct uverbs_arg arg = { MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, 0, uar };

	return uverbs_ioctl(fd, RDMA_DRIVER_MLX5, MLX5_IB_OBJECT_UAR,
			    MLX5_IB_METHOD_UAR_OBJ_DESTROY, &arg, 1);
}
