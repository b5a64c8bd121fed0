// SPDX-License-Identifier: GPL-2.0
/*
 * mcast.c - multicast groups of a QP. Joining a group at the subnet manager is another matter.
 */
#include "xenib.h"

static int send_mcast(struct ib_qp *ibqp, u8 op, const union ib_gid *gid, u16 lid, bool killable)
{
	struct xenib_ring *ring = to_xdev(ibqp->device)->ring;
	struct xenib_cmd cmd = {
		.req.op = op,
		.req.u.mcast = {
			.qp = to_xqp(ibqp)->handle,
			.lid = lid,
		},
	};
	int err;

	memcpy(cmd.req.u.mcast.gid, gid->raw, sizeof(cmd.req.u.mcast.gid));
	err = xenib_cmd_send(ring, &cmd, killable);
	if (err)
		return err;
	return xenib_cmd_wait(ring, &cmd);
}

int xenib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return send_mcast(ibqp, XEN_VHCA_OP_MCAST_ATTACH, gid, lid, true);
}

/*
 * The RDMA core knows that the QP is attached, and has forgotten it when this is called. If this
 * failed it would never let the QP go. What the backend refuses here ends with the QP.
 */
int xenib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct xenib_dev *dev = to_xdev(ibqp->device);
	int err;

	err = send_mcast(ibqp, XEN_VHCA_OP_MCAST_DETACH, gid, lid, false);
	if (err && !xenib_ring_is_dead(dev->ring))
		ibdev_warn_ratelimited(&dev->ibdev, "leaving a multicast group: %d\n", err);
	return 0;
}
