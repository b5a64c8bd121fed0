/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Capabilities: what is claimed is there. */
#ifndef HCA_CAPS_H
#define HCA_CAPS_H

#include <stdbool.h>
#include <stddef.h>

/* log2, unless another unit is given */
#define CAP_LOG_PAGE 12
#define CAP_MAX_QP_WQES 15 /* send queue in 64-byte blocks, receive queue in WQEs */
#define CAP_MAX_CQ_SIZE 22
#define CAP_MAX_EQ_SIZE 22
#define CAP_MAX_SRQ_SIZE 15
#define CAP_MAX_QPS 17
#define CAP_MAX_CQS 16
#define CAP_MAX_SRQS 16
#define CAP_MAX_MKEYS 18
#define CAP_MAX_EQS 6
#define CAP_EQS 32     /* in fact, not log2 */
#define CAP_MAX_PDS 16 /* also XRC and transport domains */
#define CAP_MAX_UCTXS 10
#define CAP_MAX_MCGS 8
#define CAP_MAX_RD_ATOMIC 4   /* as requester and as responder */
#define CAP_RATES 0xffac      /* static rates, a bit each: without those of 56 and 200 Gb/s */
#define CAP_MAX_MSG 30        /* bytes */
#define CAP_MAX_WQE 1024      /* bytes, not log2 */
#define CAP_MAX_INDIRECTION 4 /* levels of memory keys, not log2 */
#define CAP_MAX_KLM_LIST 16

enum caps_type { CAPS_GENERAL = 0, CAPS_ODP = 2, CAPS_ATOMIC = 3 }; /* as enum mlx5_cap_type */

struct caps; /* hca->caps */

/* NULL if memory is short. */
struct caps *caps_new(void);
void caps_free(struct caps *caps);
/* Forgets what the driver has set. */
void caps_reset(struct caps *caps);

/* Fills out with the layout of type (cmd_hca_cap, odp_cap, atomic_caps): as set, or the most. -1: no such type. */
int caps_query(const struct caps *caps, enum caps_type type, bool current, void *out, size_t len);
/* The driver's choice. in: the whole layout. -1: no such type, or more than there is. */
int caps_set(struct caps *caps, enum caps_type type, const void *in);

#endif
