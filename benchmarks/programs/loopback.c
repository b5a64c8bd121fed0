// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * loopback.c - see loopback.h.
 */
#include "loopback.h"
#include "measure.h"

static void modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	if (ibv_modify_qp(qp, attr, mask))
		die("modifying a QP: %m");
}

void loopback_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = LOOPBACK_PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	modify(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

void loopback_rtr(struct ibv_qp *qp, const struct ibv_port_attr *port)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = port->active_mtu,
		.dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .dlid = port->lid, .port_num = LOOPBACK_PORT },
	};

	modify(qp, &attr,
	       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

void loopback_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	modify(qp, &attr,
	       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		       IBV_QP_MAX_QP_RD_ATOMIC);
}

void loopback_connect(struct ibv_qp *qp)
{
	struct ibv_port_attr port;

	if (ibv_query_port(qp->context, LOOPBACK_PORT, &port))
		die("querying the port: %m");
	loopback_init(qp);
	loopback_rtr(qp, &port);
	loopback_rts(qp);
}

struct ibv_qp *loopback_make(struct ibv_pd *pd, unsigned int depth,
			     struct ibv_comp_channel *channel)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = depth, .max_send_sge = 1 },
		.sq_sig_all = 1,
	};
	struct ibv_qp *qp;

	attr.send_cq = attr.recv_cq = ibv_create_cq(pd->context, depth, NULL, channel, 0);
	if (!attr.send_cq)
		die("no CQ: %m");
	qp = ibv_create_qp(pd, &attr);
	if (!qp)
		die("no QP: %m");
	loopback_connect(qp);
	return qp;
}
