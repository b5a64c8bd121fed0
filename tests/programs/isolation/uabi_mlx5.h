/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uabi_mlx5: how a device of the personality "mlx5" is asked, by the kernel's structures for mlx5. What a request of
 * xenib-abi.h has no place for there, flags and reserved fields, becomes a reserved field; arenas, which mlx5 does not
 * know, are left out.
 */
#ifndef UABI_MLX5_H
#define UABI_MLX5_H

#include <rdma/mlx5-abi.h>

#include "uabi.h"

/* What libmlx5 asks for a context with. */
struct mlx5_ib_alloc_ucontext_req_v2 uabi_mlx5_good_context(void);

int uabi_mlx5_context(int fd, uint32_t len, const void *req,
		      struct mlx5_ib_alloc_ucontext_resp *resp);

struct mlx5_ib_create_cq uabi_mlx5_cq(const struct xenib_create_cq_req *from);
struct mlx5_ib_resize_cq uabi_mlx5_resize_cq(const struct xenib_resize_cq_req *from);
struct mlx5_ib_create_srq uabi_mlx5_srq(const struct xenib_create_srq_req *from);
struct mlx5_ib_create_qp uabi_mlx5_qp(const struct xenib_create_qp_req *from);

int uabi_mlx5_alloc_uar(int fd, uint64_t type, uint32_t *uar, struct xenib_uar_alloc_resp *resp);
int uabi_mlx5_free_uar(int fd, uint32_t uar);

#endif
