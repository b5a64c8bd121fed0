// SPDX-License-Identifier: GPL-2.0
/*
 * pd.c - protection domains.
 */
#include "xenib.h"

int xenib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibpd->device);
	struct xenib_cmd cmd = { .req.op = XEN_VHCA_OP_PD_ALLOC };
	struct xenib_alloc_pd_resp resp = {};
	struct xenib_pd *pd = to_xpd(ibpd);
	int err;

	if (!udata)
		return -EOPNOTSUPP;
	err = xenib_copy_req(udata, NULL, 0);
	if (err)
		return err;

	cmd.req.u.pd_alloc.ctx = xenib_udata_ctx(udata)->handle;
	err = xenib_cmd_exec(dev->ring, &cmd);
	if (err)
		return err;
	pd->handle = cmd.rsp.u.object.handle;

	resp.pdn = cmd.rsp.u.object.number;
	err = xenib_copy_resp(udata, &resp, sizeof(resp));
	if (err)
		xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_PD_FREE, pd->handle);
	return err;
}

int xenib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibpd->device);

	xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_PD_FREE, to_xpd(ibpd)->handle);
	return 0;
}
