/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * loopback.h - RC QPs that are connected to themselves, on port 1: what they send comes back through the HCA.
 *
 * Each function ends the program when it fails.
 */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <infiniband/verbs.h>

#define LOOPBACK_PORT 1

/* The steps, one by one. Remote writes are allowed. */
void loopback_init(struct ibv_qp *qp);
void loopback_rtr(struct ibv_qp *qp, const struct ibv_port_attr *port);
void loopback_rts(struct ibv_qp *qp);

/* All of them. */
void loopback_connect(struct ibv_qp *qp);

/* One that is connected, for @depth WRs of one segment each, with a CQ of its own. @channel: of the CQ, or NULL. */
struct ibv_qp *loopback_make(struct ibv_pd *pd, unsigned int depth,
			     struct ibv_comp_channel *channel);

#endif
