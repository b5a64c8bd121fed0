// SPDX-License-Identifier: GPL-2.0
/*
 * pd.c - protection domains.
 */
#include "kernel/kverbs.h"
#include "xenib.h"

static int send_alloc(struct xenib_context *ctx, struct xenib_pd *pd, u32 *pdn)
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
	*pdn = cmd.rsp.u.object.number;
	return 0;
}

static int alloc_kernel_pd(struct xenib_dev *dev, struct xenib_pd *pd)
{
	u32 pdn;
	int err;

	if (!dev->kernel)
		return -EOPNOTSUPP;
	err = xenib_pool_start(&dev->kernel->pool);
	if (err)
		return err;
	return send_alloc(&dev->kernel->ctx, pd, &pdn);
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
	err = send_alloc(xenib_udata_ctx(udata), pd, &resp.pdn);
	if (err)
		return err;

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
