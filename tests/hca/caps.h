/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Capabilities: what is claimed is there. */
#ifndef HCA_CAPS_H
#define HCA_CAPS_H

#define CAP_MAX_QP_WQES 15       /* log2, SQ in 64-byte blocks and RQ in WQEs */
#define CAP_MAX_CQ_SIZE 22       /* log2 */
#define CAP_MAX_EQ_SIZE 22
#define CAP_MAX_SRQ_SIZE 15
#define CAP_MAX_QPS 17
#define CAP_MAX_CQS 16
#define CAP_MAX_SRQS 16
#define CAP_MAX_MKEYS 18
#define CAP_MAX_EQS 5
#define CAP_MAX_PDS 16
#define CAP_MAX_RD_ATOMIC 4      /* log2, as requester and as responder */
#define CAP_MAX_MSG 30           /* log2 bytes */
#define CAP_MAX_WQE 1024         /* bytes */
#define CAP_MAX_INDIRECTION 4    /* levels of mkeys */

#endif
