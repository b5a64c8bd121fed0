/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * abi.h - the commands to the kernel: the RDMA core's part and, after it, xen-ibfront's part
 * (frontend/xenib-abi.h), in the form that libibverbs sends.
 */
#ifndef XENIB_PROVIDER_ABI_H
#define XENIB_PROVIDER_ABI_H

#include <infiniband/kern-abi.h>

#include <kernel-abi/xenib-abi.h>
#include "xenib-abi.h"

DECLARE_DRV_CMD(xenib_ualloc_context, IB_USER_VERBS_CMD_GET_CONTEXT, xenib_alloc_ucontext_req,
		xenib_alloc_ucontext_resp);
DECLARE_DRV_CMD(xenib_ualloc_pd, IB_USER_VERBS_CMD_ALLOC_PD, empty, xenib_alloc_pd_resp);
DECLARE_DRV_CMD(xenib_ucreate_cq, IB_USER_VERBS_EX_CMD_CREATE_CQ, xenib_create_cq_req,
		xenib_create_cq_resp);
DECLARE_DRV_CMD(xenib_uresize_cq, IB_USER_VERBS_CMD_RESIZE_CQ, xenib_resize_cq_req, empty);
DECLARE_DRV_CMD(xenib_ucreate_srq, IB_USER_VERBS_CMD_CREATE_SRQ, xenib_create_srq_req,
		xenib_create_srq_resp);
DECLARE_DRV_CMD(xenib_ucreate_xsrq, IB_USER_VERBS_CMD_CREATE_XSRQ, xenib_create_srq_req,
		xenib_create_srq_resp);
DECLARE_DRV_CMD(xenib_ucreate_qp, IB_USER_VERBS_CMD_CREATE_QP, xenib_create_qp_req, empty);
DECLARE_DRV_CMD(xenib_ucreate_qp_ex, IB_USER_VERBS_EX_CMD_CREATE_QP, xenib_create_qp_req, empty);

#endif
