// SPDX-License-Identifier: GPL-2.0
/*
 * ah.c - address handles. The provider, or kernel/post.c, writes the address into each work
 * request, so the backend needs no object for it. The core checks address handles, this file counts
 * them. One beyond the limit of a process goes to the backend, which refuses it.
 */
#include "queue/av.h"
#include "xenib.h"

static int xenib_too_many_ahs(struct xenib_dev *dev, struct xenib_context *ctx)
{
	struct xenib_cmd cmd = { .req.op = XEN_VHCA_OP_AH_CREATE };

	cmd.req.u.ah_create.ctx = ctx->handle;
	xenib_cmd_exec(dev->ring, &cmd);
	return -ENOMEM;
}

int xenib_create_user_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibah->device);
	int err;

	err = xenib_copy_req(udata, NULL, 0);
	if (err)
		return err;
	if (!atomic_add_unless(&dev->ahs, 1, dev->attr.max_ah))
		return xenib_too_many_ahs(dev, xenib_udata_ctx(udata));
	return 0;
}

/* Perhaps where nothing may sleep. */
int xenib_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	const struct rdma_ah_attr *attr = init->ah_attr;
	struct xenib_dev *dev = to_xdev(ibah->device);
	const struct ib_global_route *grh = &attr->grh;
	struct xenib_av *av = &to_xah(ibah)->av;

	if (!atomic_add_unless(&dev->ahs, 1, dev->attr.max_ah))
		return -ENOMEM;
	memset(av, 0, sizeof(*av));
	xenib_av_init(av, rdma_ah_get_static_rate(attr), rdma_ah_get_sl(attr),
		      rdma_ah_get_path_bits(attr), rdma_ah_get_dlid(attr));
	if (rdma_ah_get_ah_flags(attr) & IB_AH_GRH)
		xenib_av_set_grh(av, grh->dgid.raw, grh->sgid_index, grh->flow_label,
				 grh->hop_limit, grh->traffic_class);
	return 0;
}

int xenib_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct xenib_av *av = &to_xah(ibah)->av;
	u32 flow = be32_to_cpu(av->gid_flow);

	memset(attr, 0, sizeof(*attr));
	attr->type = ibah->type;
	rdma_ah_set_dlid(attr, be16_to_cpu(av->dlid));
	rdma_ah_set_sl(attr, av->rate_sl & 0xf);
	rdma_ah_set_path_bits(attr, av->path_bits);
	rdma_ah_set_port_num(attr, XENIB_PORT);
	if (flow & XENIB_AV_GRH) {
		rdma_ah_set_grh(attr, NULL, flow & 0xfffff, flow >> 20 & 0xff, av->hop_limit,
				av->traffic_class);
		rdma_ah_set_dgid_raw(attr, av->dgid);
	}
	return 0;
}

int xenib_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct xenib_dev *dev = to_xdev(ibah->device);

	atomic_dec(&dev->ahs);
	return 0;
}
