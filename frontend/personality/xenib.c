// SPDX-License-Identifier: GPL-2.0
/*
 * xenib.c - which one a device has, and Xen's own: what the provider "xenib" sends is what
 * the driver works with.
 */
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include <xen/xenbus.h>

#include "personality/mlx5.h"
#include "vhca_nodes.h"
#include "xenib.h"

#define UVERBS_MODULE_NAME xenib_context
#include <rdma/uverbs_named_ioctl.h>

static int context_req(struct xenib_dev *dev, struct ib_udata *udata)
{
	struct xenib_alloc_ucontext_req req;
	int err;

	err = xenib_copy_req(udata, &req, sizeof(req));
	if (err)
		return err;
	if (req.comp_mask || req.reserved)
		return xenib_refuse(dev, -EINVAL, "fields %#x, reserved %#x", req.comp_mask,
				    req.reserved);
	return 0;
}

static struct xenib_alloc_ucontext_resp context_of(const struct xenib_dev *dev)
{
	return (struct xenib_alloc_ucontext_resp){
		.family = XENIB_FAMILY_MLX5,
		.cqe_version = dev->attr.cqe_version,
		.max_sq_desc = dev->attr.max_sq_desc,
		.max_rq_desc = dev->attr.max_rq_desc,
		.max_send_blocks = dev->attr.max_send_blocks,
		.max_recv_wqes = dev->attr.max_recv_wqes,
		.max_srq_wqes = dev->attr.max_srq_wqes,
		.max_uars = dev->attr.max_uar,
		.features = XENIB_FEATURE_ARENAS | XENIB_FEATURE_POSTED_RTS |
			    XENIB_FEATURE_DEFERRED_CQ,
		.null_key = dev->attr.null_key,
	};
}

static int context_resp(struct xenib_dev *dev, struct ib_udata *udata)
{
	struct xenib_alloc_ucontext_resp resp = context_of(dev);

	return xenib_copy_resp(udata, &resp, sizeof(resp));
}

static int query_context(struct ib_ucontext *ibuc, struct uverbs_attr_bundle *attrs)
{
	const struct xenib_alloc_ucontext_resp resp = context_of(to_xdev(ibuc->device));

	return uverbs_copy_to_struct_or_zero(attrs, XENIB_ATTR_QUERY_CONTEXT_RESP, &resp,
					     sizeof(resp));
}

static int cq_req(struct xenib_dev *dev, struct ib_udata *udata, struct xenib_create_cq_req *req)
{
	return xenib_copy_req(udata, req, sizeof(*req));
}

static int resize_cq_req(struct xenib_dev *dev, struct ib_udata *udata, u32 cqe_size,
			 struct xenib_resize_cq_req *req)
{
	return xenib_copy_req(udata, req, sizeof(*req));
}

static int srq_req(struct xenib_dev *dev, struct ib_udata *udata, struct xenib_create_srq_req *req)
{
	return xenib_copy_req(udata, req, sizeof(*req));
}

static int qp_req(struct xenib_dev *dev, struct ib_udata *udata, struct xenib_create_qp_req *req)
{
	return xenib_copy_req(udata, req, sizeof(*req));
}

ADD_UVERBS_ATTRIBUTES_SIMPLE(xenib_query_context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT,
			     UVERBS_ATTR_PTR_OUT(XENIB_ATTR_QUERY_CONTEXT_RESP,
						 UVERBS_ATTR_STRUCT(struct xenib_alloc_ucontext_resp,
								    features),
						 UA_MANDATORY));

static const struct uapi_definition defs[] = {
	UAPI_DEF_CHAIN(xenib_uar_defs),
	UAPI_DEF_CHAIN(xenib_cq_defs),
	UAPI_DEF_CHAIN(xenib_qp_defs),
	UAPI_DEF_CHAIN(xenib_pd_defs),
	UAPI_DEF_CHAIN(xenib_device_defs),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &xenib_query_context),
	{},
};

static const struct ib_device_ops ops = {
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = XENIB_UVERBS_ABI_VERSION,
	.query_ucontext = query_context,
};

const struct xenib_personality xenib_personality_xenib = {
	.name = "xenib",
	.prefix = "xenib",
	.ops = &ops,
	.defs = defs,
	.queue_align = PAGE_SIZE,
	.context_req = context_req,
	.context_resp = context_resp,
	.cq_req = cq_req,
	.resize_cq_req = resize_cq_req,
	.srq_req = srq_req,
	.qp_req = qp_req,
};

const struct xenib_personality *xenib_personality_find(struct xenbus_device *xbdev)
{
	const struct xenib_personality *found = &xenib_personality_xenib;
	char *name;

	name = xenbus_read(XBT_NIL, xbdev->otherend, XEN_VHCA_FIELD_PERSONALITY, NULL);
	if (IS_ERR(name))
		return found;
	if (!strcmp(name, xenib_personality_mlx5.name))
		found = &xenib_personality_mlx5;
	else if (strcmp(name, found->name))
		dev_warn(&xbdev->dev, "the backend asks for the personality \"%.32s\": it is %s\n",
			 name, found->name);
	kfree(name);
	return found;
}
