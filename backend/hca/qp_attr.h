/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * qp_attr.h - attributes of a QP between the protocol and the kernel's uverbs structures.
 */
#ifndef XEN_IB_HCA_QP_ATTR_H
#define XEN_IB_HCA_QP_ATTR_H

#include <rdma/ib_user_verbs.h>

#include "shared-ring/vhca_request.h"

#define HCA_QP_ALL 0x1fffff /* all bits of enum ib_qp_attr_mask up to IB_QP_DEST_QPN */

/* hca_qp_to_uverbs - all but qp_handle and attr_mask. The vHCA's port 1 is this port of the HCA. */
void hca_qp_to_uverbs(struct ib_uverbs_modify_qp *to, const struct xen_vhca_qp_attr *from,
		      uint8_t port);

/* hca_qp_from_uverbs - all attributes; the port is 1 again, or 0 where none has been set. */
void hca_qp_from_uverbs(struct xen_vhca_qp_attr *to, const struct ib_uverbs_query_qp_resp *from);

#endif
