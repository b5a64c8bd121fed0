// SPDX-License-Identifier: GPL-2.0
/*
 * pma.c - the counters of the guest's port: see gsi.h.
 *
 * A guest reads them, as any node of the fabric can. It cannot clear them, which would be seen
 * by everybody, nor ask for those of another port: the HCA's driver answers it here, and nothing
 * is sent. The guest's port is 1, whichever that is.
 */
#include <rdma/ib_pma.h>

#include "gsi.h"

#define CLASS_VERSION 1
#define GUEST_PORT 1
#define PORT_SELECT 41 /* of the data of a MAD */

static bool has_port(const struct ib_mad *mad)
{
	return mad->mad_hdr.attr_id != IB_PMA_CLASS_PORT_INFO;
}

static int check(const struct gsi_endpoint *ep, const struct xen_ibgsi_send *send,
		 const struct ib_mad *mad)
{
	if (mad->mad_hdr.class_version != CLASS_VERSION)
		return -EINVAL;
	if (mad->mad_hdr.method != IB_MGMT_METHOD_GET || (send->dlid ^ ep->lid) & ep->lid_mask)
		return -EOPNOTSUPP;
	switch (mad->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		return 0;
	case IB_PMA_PORT_COUNTERS:
	case IB_PMA_PORT_COUNTERS_EXT:
		return mad->data[PORT_SELECT] == GUEST_PORT ? 0 : -EINVAL;
	default:
		return -EOPNOTSUPP;
	}
}

/* Drivers answer with the data, and not all of them with the header. */
static int ask_driver(struct gsi_endpoint *ep, struct ib_mad *mad)
{
	size_t size = sizeof(*mad);
	struct ib_mad answer = {};
	u16 pkey_index = 0;
	int did;

	if (has_port(mad))
		mad->data[PORT_SELECT] = ep->port;
	did = ep->hca->hook.driver(ep->ibdev, IB_MAD_IGNORE_MKEY, ep->port, NULL, NULL, mad,
				   &answer, &size, &pkey_index);
	if (!(did & IB_MAD_RESULT_SUCCESS) || !(did & IB_MAD_RESULT_REPLY))
		return -EOPNOTSUPP;
	memcpy(mad->data, answer.data, sizeof(mad->data));
	if (has_port(mad))
		mad->data[PORT_SELECT] = GUEST_PORT;
	mad->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	mad->mad_hdr.status = 0;
	return 0;
}

int gsi_pma_send(struct gsi_endpoint *ep, const struct xen_ibgsi_send *send)
{
	struct xen_ibgsi_mad answer = {
		.src_qpn = 1,
		.slid = send->dlid,
		.pkey_index = send->pkey_index,
		.sl = send->sl,
	};
	struct ib_mad mad;
	int err;

	memcpy(&mad, send->mad, sizeof(mad));
	err = check(ep, send, &mad);
	if (err)
		return gsi_refuse(ep,
				  err == -EINVAL ? XEN_IBGSI_REFUSED_CLAIM : XEN_IBGSI_REFUSED_KIND,
				  err);
	err = ask_driver(ep, &mad);
	if (err)
		return err;
	memcpy(answer.mad, &mad, sizeof(answer.mad));
	gsi_queue_put(ep, &answer, ep->era);
	return 0;
}
