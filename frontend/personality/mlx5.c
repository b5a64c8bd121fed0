// SPDX-License-Identifier: GPL-2.0
/*
 * mlx5.c - see mlx5.h.
 */
#include <linux/slab.h>
#include <rdma/mlx5-abi.h>

#include "personality/mlx5.h"

/*
 * libmlx5 is told the size of BlueFlame buffers before it has a doorbell page. So one is allocated
 * and given back, by a context that no process has. Where either is refused (the kernel may have the
 * only context), libmlx5 is told that there is no BlueFlame, and rings plain doorbells.
 */
static u32 find_bf_size(struct xenib_dev *dev)
{
	static const char name[TASK_COMM_LEN] = "xen-ibfront";
	struct xenib_context ctx = {};
	struct xenib_uar uar = { .ctx = &ctx, .type = XENIB_UAR_BF };
	int err;

	err = xenib_context_open(dev, &ctx, 0, name, 0);
	if (err)
		goto out;
	err = xenib_uar_offer(&uar);
	if (!err)
		xenib_uar_return(&uar);
	xenib_context_close(&ctx);
out:
	if (err && err != -EOPNOTSUPP)
		dev_info(&dev->xbdev->dev, "no BlueFlame for libmlx5: error %d\n", err);
	return err ? 0 : 2 * uar.bf_size;
}

static int start(struct xenib_dev *dev)
{
	struct xenib_mlx5 *mlx5;
	int err;

	mlx5 = kzalloc(sizeof(*mlx5), GFP_KERNEL);
	if (!mlx5)
		return -ENOMEM;
	mlx5->dev = dev;
	mlx5->bf_reg_size = find_bf_size(dev);
	err = xenib_ring_is_dead(dev->ring) ? -EIO : xenib_mlx5_sysfs_add(mlx5);
	if (err) {
		kfree(mlx5);
		return err;
	}
	dev->mlx5 = mlx5;
	return 0;
}

static void stop(struct xenib_dev *dev)
{
	xenib_mlx5_sysfs_remove(dev->mlx5);
	kfree(dev->mlx5);
}

static const struct uapi_definition defs[] = {
	UAPI_DEF_CHAIN(xenib_mlx5_uar_defs),
	UAPI_DEF_CHAIN(xenib_mlx5_import_defs),
	{},
};

static const struct ib_device_ops ops = {
	.driver_id = RDMA_DRIVER_MLX5,
	.uverbs_abi_ver = MLX5_IB_UVERBS_ABI_VERSION,
	.query_ucontext = xenib_mlx5_query_context,
};

const struct xenib_personality xenib_personality_mlx5 = {
	.name = "mlx5",
	.prefix = "mlx5_",
	.ops = &ops,
	.defs = defs,
	.shows_vendor = true,
	/* A program's allocator gives libmlx5 the buffer of a QP anywhere in a page. */
	.queue_align = XEN_VHCA_QP_ALIGN,
	.start = start,
	.stop = stop,
	.context_req = xenib_mlx5_context_req,
	.context_resp = xenib_mlx5_context_resp,
	.cq_req = xenib_mlx5_cq_req,
	.resize_cq_req = xenib_mlx5_resize_cq_req,
	.srq_req = xenib_mlx5_srq_req,
	.qp_req = xenib_mlx5_qp_req,
};
