// SPDX-License-Identifier: GPL-2.0
/*
 * qpn.c - whose a QP is: see gsi.h.
 *
 * Of each QP the core knows which process has made it. Those of a guest are made by its worker,
 * which has its endpoint open as well. So nobody says whose a QP is, and nobody can lie about it.
 */
#include <linux/sched/signal.h>
#include <rdma/restrack.h>

#include "gsi.h"

/* One for datagrams at this port, of a process; to be put. NULL: it is not. */
static struct rdma_restrack_entry *get_qp(struct ib_device *ibdev, u32 port, u32 qpn)
{
	struct rdma_restrack_entry *res = rdma_restrack_get_byid(ibdev, RDMA_RESTRACK_QP, qpn);
	struct ib_qp *qp;

	if (IS_ERR(res))
		return NULL;
	qp = container_of(res, struct ib_qp, res);
	if (!rdma_is_kernel_res(res) && qp->qp_type == IB_QPT_UD && qp->port == port)
		return res;
	rdma_restrack_put(res);
	return NULL;
}

bool gsi_qpn_is_of(struct gsi_endpoint *ep, u32 qpn)
{
	struct rdma_restrack_entry *res = get_qp(ep->ibdev, ep->port, qpn);
	bool is;

	if (!res)
		return false;
	is = same_thread_group(res->task, ep->owner);
	rdma_restrack_put(res);
	return is;
}

struct gsi_endpoint *gsi_qpn_find(struct gsi_hca *hca, u32 port, u32 qpn)
{
	struct rdma_restrack_entry *res = get_qp(hca->ibdev, port, qpn);
	struct gsi_endpoint *ep, *found = NULL;

	if (!res)
		return NULL;
	list_for_each_entry(ep, &hca->cm.takers, takes) {
		if (ep->port == port && same_thread_group(res->task, ep->owner)) {
			found = ep;
			break;
		}
	}
	rdma_restrack_put(res);
	return found;
}
