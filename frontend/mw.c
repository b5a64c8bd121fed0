// SPDX-License-Identifier: GPL-2.0
/*
 * mw.c - memory windows. Processes bind them by work requests, which do not pass here.
 */
#include "xenib.h"

int xenib_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibmw->device);
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_MW_ALLOC,
		.req.u.mw_alloc = {
			.pd = to_xpd(ibmw->pd)->handle,
			.type = ibmw->type,
		},
	};
	int err;

	err = xenib_copy_req(udata, NULL, 0);
	if (err)
		return err;
	if (ibmw->type != IB_MW_TYPE_1 && ibmw->type != IB_MW_TYPE_2)
		return xenib_refuse(dev, -EINVAL, "a memory window of type %d", ibmw->type);

	err = xenib_cmd_exec(dev->ring, &cmd);
	if (err)
		return err;
	to_xmw(ibmw)->ctx = xenib_udata_ctx(udata);
	to_xmw(ibmw)->handle = cmd.rsp.u.mr.handle;
	atomic_inc(&to_xmw(ibmw)->ctx->mws);
	ibmw->rkey = cmd.rsp.u.mr.rkey;
	return 0;
}

int xenib_dealloc_mw(struct ib_mw *ibmw)
{
	struct xenib_dev *dev = to_xdev(ibmw->device);

	xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_MW_FREE, to_xmw(ibmw)->handle);
	atomic_dec(&to_xmw(ibmw)->ctx->mws);
	return 0;
}
