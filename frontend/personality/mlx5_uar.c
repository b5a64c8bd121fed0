// SPDX-License-Identifier: GPL-2.0
/*
 * mlx5_uar.c - doorbell pages of processes, by the ioctl object that libmlx5 knows.
 */
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/uverbs_std_types.h>

#include "personality/mlx5.h"

#define UVERBS_MODULE_NAME xenib_mlx5
#include <rdma/uverbs_named_ioctl.h>

/*
 * Pages of the command file below this are commands (enum mlx5_ib_mmap_cmd, in bits 8 up), all of
 * them for what is not here.
 */
#define FIRST_PGOFF (9U << 16)

/*
 * libmlx5 destroys its pages when the device is closed, also if the program has left queues on them.
 * Where that fails, builds with assertions end the program.
 */
static int uar_cleanup(struct ib_uobject *uobject, enum rdma_remove_reason why,
		       struct uverbs_attr_bundle *attrs)
{
	xenib_uar_drop(uobject->object);
	return 0;
}

/* Whether the page is as libmlx5 takes it for granted. */
static bool is_usable(const struct xenib_dev *dev, const struct xenib_uar *uar)
{
	return uar->bf_offset == XENIB_MLX5_BF_OFFSET &&
	       (uar->type == XENIB_UAR_NC || 2 * uar->bf_size == dev->mlx5->bf_reg_size);
}

/* Without BlueFlame libmlx5 uses pages of that type with plain doorbells, so a plain one does. */
static struct xenib_uar *create(struct xenib_dev *dev, struct ib_ucontext *ibuc, u32 type)
{
	enum xenib_uar_type ours = XENIB_UAR_NC;
	struct xenib_uar *uar;

	if (type == MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && dev->mlx5->bf_reg_size)
		ours = XENIB_UAR_BF;
	uar = xenib_uar_create(ibuc, ours, FIRST_PGOFF);
	if (IS_ERR(uar) || is_usable(dev, uar))
		return uar;
	xenib_uar_drop(uar);
	return xenib_refuse(dev, ERR_PTR(-EIO), "a doorbell page that libmlx5 cannot use");
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_UAR_OBJ_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	enum mlx5_ib_uapi_uar_alloc_type type;
	const u32 length = PAGE_SIZE;
	struct ib_ucontext *ibuc;
	struct xenib_uar *uar;
	u64 offset;
	int err;

	ibuc = ib_uverbs_get_ucontext(attrs);
	if (IS_ERR(ibuc))
		return PTR_ERR(ibuc);
	err = uverbs_get_const(&type, attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
	if (err)
		return err;
	if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return xenib_refuse(to_xdev(ibuc->device), -EOPNOTSUPP, "doorbell page of type %u",
				    type);

	uar = create(to_xdev(ibuc->device), ibuc, type);
	if (IS_ERR(uar))
		return PTR_ERR(uar);
	uobj->object = uar;
	uverbs_finalize_uobj_create(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);

	offset = rdma_user_mmap_get_offset(&uar->entry);
	err = uverbs_copy_to(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset,
			     sizeof(offset));
	if (err)
		return err;
	err = uverbs_copy_to(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length,
			     sizeof(length));
	if (err)
		return err;
	err = uverbs_copy_to(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &uar->index,
			     sizeof(uar->index));
	if (err)
		return err;
	xenib_uar_publish(uar);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_UAR_OBJ_ALLOC,
			    UVERBS_ATTR_IDR(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, MLX5_IB_OBJECT_UAR,
					    UVERBS_ACCESS_NEW, UA_MANDATORY),
			    UVERBS_ATTR_CONST_IN(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE,
						 enum mlx5_ib_uapi_uar_alloc_type, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID,
						UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH,
						UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET,
						UVERBS_ATTR_TYPE(u64), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(MLX5_IB_METHOD_UAR_OBJ_DESTROY,
				    UVERBS_ATTR_IDR(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE,
						    MLX5_IB_OBJECT_UAR, UVERBS_ACCESS_DESTROY,
						    UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(MLX5_IB_OBJECT_UAR, UVERBS_TYPE_ALLOC_IDR(uar_cleanup),
			    &UVERBS_METHOD(MLX5_IB_METHOD_UAR_OBJ_ALLOC),
			    &UVERBS_METHOD(MLX5_IB_METHOD_UAR_OBJ_DESTROY));

const struct uapi_definition xenib_mlx5_uar_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_IB_OBJECT_UAR),
	{},
};
