// SPDX-License-Identifier: GPL-2.0
/*
 * pd.c - protection domains.
 */
#include <rdma/uverbs_std_types.h>

#include "kernel/kverbs.h"
#include "xenib.h"

#define UVERBS_MODULE_NAME xenib_pd
#include <rdma/uverbs_named_ioctl.h>

static int send_alloc(struct xenib_context *ctx, struct xenib_pd *pd)
{
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_PD_ALLOC,
		.req.u.pd_alloc.ctx = ctx->handle,
	};
	int err;

	err = xenib_cmd_exec(ctx->dev->ring, &cmd);
	if (err)
		return err;
	pd->handle = cmd.rsp.u.object.handle;
	pd->pdn = cmd.rsp.u.object.number;
	return 0;
}

static int alloc_kernel_pd(struct xenib_dev *dev, struct xenib_pd *pd)
{
	int err;

	if (!dev->kernel)
		return -EOPNOTSUPP;
	err = xenib_pool_start(&dev->kernel->pool);
	if (err)
		return err;
	return send_alloc(&dev->kernel->ctx, pd);
}

int xenib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibpd->device);
	struct xenib_alloc_pd_resp resp = {};
	struct xenib_pd *pd = to_xpd(ibpd);
	int err;

	if (!udata)
		return alloc_kernel_pd(dev, pd);
	err = xenib_copy_req(udata, NULL, 0);
	if (err)
		return err;
	err = send_alloc(xenib_udata_ctx(udata), pd);
	if (err)
		return err;

	resp.pdn = pd->pdn;
	err = xenib_copy_resp(udata, &resp, sizeof(resp));
	if (err)
		xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_PD_FREE, pd->handle);
	return err;
}

int xenib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibpd->device);
	struct xenib_pd *pd = to_xpd(ibpd);

	if (dev->kernel)
		xenib_pool_keys_put(&dev->kernel->pool, pd);
	if (udata)
		xenib_cmd_retire(dev->ring, XEN_VHCA_OP_PD_FREE, pd->handle, NULL, NULL, 0);
	else
		xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_PD_FREE, pd->handle);
	return 0;
}

static int UVERBS_HANDLER(XENIB_METHOD_PD_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_pd *ibpd = uverbs_attr_get_obj(attrs, XENIB_ATTR_PD_QUERY_HANDLE);
	const struct xenib_alloc_pd_resp resp = { .pdn = to_xpd(ibpd)->pdn };

	return uverbs_copy_to_struct_or_zero(attrs, XENIB_ATTR_PD_QUERY_RESP, &resp, sizeof(resp));
}

DECLARE_UVERBS_NAMED_METHOD(XENIB_METHOD_PD_QUERY,
			    UVERBS_ATTR_IDR(XENIB_ATTR_PD_QUERY_HANDLE, UVERBS_OBJECT_PD,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(XENIB_ATTR_PD_QUERY_RESP,
						UVERBS_ATTR_STRUCT(struct xenib_alloc_pd_resp,
								   reserved),
						UA_MANDATORY));

ADD_UVERBS_METHODS(xenib_pd_methods, UVERBS_OBJECT_PD, &UVERBS_METHOD(XENIB_METHOD_PD_QUERY));

const struct uapi_definition xenib_pd_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_PD, &xenib_pd_methods),
	{},
};
