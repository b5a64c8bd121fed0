/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mlx5.h - the personality "mlx5": the device says what Linux' driver mlx5_ib says to user space, as
 * far as the vHCA has it, so the stock libmlx5 of a guest or of a container binds to it.
 */
#ifndef XENIB_MLX5_H
#define XENIB_MLX5_H

#include <linux/device.h>
#include <rdma/mlx5-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "xenib.h"

extern const struct xenib_personality xenib_personality_mlx5;

struct xenib_mlx5 {
	u32 bf_reg_size; /* bytes of two BlueFlame buffers; 0: there are none */
	struct xenib_dev *dev;
	struct device_attribute vendor; /* as a PCI function has them */
	struct device_attribute device;
};

/* Where libmlx5 has the first of a doorbell page's send registers. */
#define XENIB_MLX5_BF_OFFSET 0x800

/* mlx5_uar.c: doorbell pages, by the ioctl object of mlx5_ib */
extern const struct uapi_definition xenib_mlx5_uar_defs[];

/* mlx5_import.c: for a process that has the command file of another */
extern const struct uapi_definition xenib_mlx5_import_defs[];
int xenib_mlx5_query_context(struct ib_ucontext *ibuc, struct uverbs_attr_bundle *attrs);

/* mlx5_sysfs.c: which HCA it is, where UCX looks for that */
int xenib_mlx5_sysfs_add(struct xenib_mlx5 *mlx5);
void xenib_mlx5_sysfs_remove(struct xenib_mlx5 *mlx5);

/*
 * mlx5_udata.c: what libmlx5 sends and gets; see struct xenib_personality. All but what libmlx5 needs for
 * RC, UC and UD QPs, CQs and SRQs is refused.
 */
int xenib_mlx5_context_req(struct xenib_dev *dev, struct ib_udata *udata);
struct mlx5_ib_alloc_ucontext_resp xenib_mlx5_context_of(const struct xenib_dev *dev);
int xenib_mlx5_context_resp(struct xenib_dev *dev, struct ib_udata *udata);
int xenib_mlx5_cq_req(struct xenib_dev *dev, struct ib_udata *udata,
		      struct xenib_create_cq_req *req);
int xenib_mlx5_resize_cq_req(struct xenib_dev *dev, struct ib_udata *udata, u32 cqe_size,
			     struct xenib_resize_cq_req *req);
int xenib_mlx5_srq_req(struct xenib_dev *dev, struct ib_udata *udata,
		       struct xenib_create_srq_req *req);
int xenib_mlx5_qp_req(struct xenib_dev *dev, struct ib_udata *udata,
		      struct xenib_create_qp_req *req);

#endif
