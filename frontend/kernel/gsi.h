/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gsi.h - the kernel's QP 1, by which it takes part in the management of the fabric. The HCA knows
 * nothing of it: MADs pass through commands to the backend, which decides on them.
 *
 * There is a QP 0, too, as some programs do not start without. What is posted to it to be sent
 * fails, but for questions about the own port, which are answered by it (smp.h).
 *
 * Completions of these QPs are written by us to the CQ's soft queue (kverbs.h).
 */
#ifndef XENIB_GSI_H
#define XENIB_GSI_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>

#include "kernel/addrs.h"
#include "kernel/inet6.h"
#include "vhca_response.h"
#include "xenib.h"

/* A MAD that the consumer has posted. */
struct xenib_gsi_send {
	u64 wr_id;
	struct xen_vhca_mad_send way;
	u8 mad[XEN_VHCA_MAD_SIZE];
};

struct xenib_gsi_recv {
	u64 wr_id;
	u64 addr; /* in the pool: room for a GRH and a MAD */
};

/* QP 1 or 0. Both queues are rings with free running indices. */
struct xenib_gsi_qp {
	struct xenib_qp *qp;
	struct xenib_gsi *gsi;
	struct xenib_kcq *send_cq, *recv_cq;
	enum ib_qp_state state; /* under lock, as all below */
	spinlock_t lock;
	struct xenib_gsi_send *sends;
	struct xenib_gsi_recv *recvs;
	u32 send_mask, send_head, send_tail;
	u32 recv_mask, recv_head, recv_tail;
	struct work_struct send; /* and flushes */
};

/* Of a device */
struct xenib_gsi {
	struct xenib_kcontext *kernel;
	bool open;
	struct xenib_cq event; /* stands for a CQ in the table of events: it tells of MADs */
	__be32 arm;
	u32 bit;
	struct work_struct receive;
	struct xen_vhca_mad mads[XEN_VHCA_MADS];
	struct mutex lock;           /* of the QPs' being there, while MADs are given to one */
	struct xenib_gsi_qp *qps[2]; /* by their numbers; or NULL */
	atomic64_t dropped;          /* MADs that nobody had a buffer for */
	struct xenib_addrs addrs;
	struct xenib_inet6 inet6;
};

/** xenib_gsi_init() - opens it, if the backend has any. Without that there is no management. */
void xenib_gsi_init(struct xenib_gsi *gsi, struct xenib_kcontext *kernel);
void xenib_gsi_exit(struct xenib_gsi *gsi);

/* Verbs of these QPs */
int xenib_gsi_create_qp(struct xenib_qp *qp, struct ib_qp_init_attr *init);
int xenib_gsi_modify_qp(struct xenib_qp *qp, const struct ib_qp_attr *attr, int mask);
int xenib_gsi_query_qp(struct xenib_qp *qp, struct ib_qp_attr *attr, struct ib_qp_init_attr *init);
void xenib_gsi_destroy_qp(struct xenib_qp *qp);
int xenib_gsi_post_send(struct xenib_qp *qp, const struct ib_send_wr *wr,
			const struct ib_send_wr **bad_wr);
int xenib_gsi_post_recv(struct xenib_qp *qp, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);

#endif
