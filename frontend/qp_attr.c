// SPDX-License-Identifier: GPL-2.0
/*
 * qp_attr.c - the attributes of a QP, to and from the protocol. The numbers are the same on both
 * sides (states, MTUs, timers, access flags), only their places differ.
 */
#include "vhca_check.h"
#include "xenib.h"

/* All that a QP can allow. The HCA does not look at others, so programs give them, too. */
#define QP_ACCESS \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
	 IB_ACCESS_REMOTE_ATOMIC)

static void av_to_wire(const struct rdma_ah_attr *ah, struct xen_vhca_av *av)
{
	av->dlid = rdma_ah_get_dlid(ah);
	av->sl = rdma_ah_get_sl(ah);
	av->src_path_bits = rdma_ah_get_path_bits(ah);
	av->static_rate = rdma_ah_get_static_rate(ah);
	av->port = rdma_ah_get_port_num(ah);
	if (!(rdma_ah_get_ah_flags(ah) & IB_AH_GRH))
		return;
	av->is_global = 1;
	memcpy(av->dgid, ah->grh.dgid.raw, sizeof(av->dgid));
	av->flow_label = ah->grh.flow_label;
	av->sgid_index = ah->grh.sgid_index;
	av->hop_limit = ah->grh.hop_limit;
	av->traffic_class = ah->grh.traffic_class;
}

static void av_from_wire(struct ib_device *ibdev, const struct xen_vhca_av *av,
			 struct rdma_ah_attr *ah)
{
	union ib_gid dgid;

	ah->type = rdma_ah_find_type(ibdev, XENIB_PORT);
	rdma_ah_set_dlid(ah, av->dlid);
	rdma_ah_set_sl(ah, av->sl);
	rdma_ah_set_path_bits(ah, av->src_path_bits);
	rdma_ah_set_static_rate(ah, av->static_rate);
	rdma_ah_set_port_num(ah, XENIB_PORT);
	if (!av->is_global)
		return;
	memcpy(dgid.raw, av->dgid, sizeof(dgid.raw));
	rdma_ah_set_grh(ah, &dgid, av->flow_label & 0xfffff, av->sgid_index, av->hop_limit,
			av->traffic_class);
}

static void path_to_wire(const struct ib_qp_attr *attr, int mask, struct xen_vhca_qp_attr *wire)
{
	if (mask & IB_QP_AV)
		av_to_wire(&attr->ah_attr, &wire->av);
	if (mask & IB_QP_PATH_MTU)
		wire->path_mtu = attr->path_mtu;
	if (mask & IB_QP_PATH_MIG_STATE)
		wire->path_mig_state = attr->path_mig_state;
	if (mask & IB_QP_PKEY_INDEX)
		wire->pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		wire->port = attr->port_num;
	if (mask & IB_QP_TIMEOUT)
		wire->timeout = attr->timeout;
	if (mask & IB_QP_ALT_PATH) {
		av_to_wire(&attr->alt_ah_attr, &wire->alt_av);
		wire->alt_pkey_index = attr->alt_pkey_index;
		wire->alt_port = attr->alt_port_num;
		wire->alt_timeout = attr->alt_timeout;
	}
}

static void flow_to_wire(const struct ib_qp_attr *attr, int mask, struct xen_vhca_qp_attr *wire)
{
	if (mask & IB_QP_RETRY_CNT)
		wire->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		wire->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		wire->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_RQ_PSN)
		wire->rq_psn = attr->rq_psn & VHCA_MAX_24;
	if (mask & IB_QP_SQ_PSN)
		wire->sq_psn = attr->sq_psn & VHCA_MAX_24;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		wire->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		wire->max_dest_rd_atomic = attr->max_dest_rd_atomic;
}

void xenib_qp_attr_to_wire(const struct ib_qp_attr *attr, int mask, struct xen_vhca_qp_attr *wire)
{
	if (mask & IB_QP_STATE)
		wire->state = attr->qp_state;
	if (mask & IB_QP_CUR_STATE)
		wire->cur_state = attr->cur_qp_state;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		wire->en_sqd_async_notify = attr->en_sqd_async_notify;
	if (mask & IB_QP_ACCESS_FLAGS)
		wire->access = attr->qp_access_flags & QP_ACCESS;
	if (mask & IB_QP_QKEY)
		wire->qkey = attr->qkey;
	if (mask & IB_QP_DEST_QPN)
		wire->dest_qpn = attr->dest_qp_num & VHCA_MAX_24;
	path_to_wire(attr, mask, wire);
	flow_to_wire(attr, mask, wire);
}

void xenib_qp_attr_from_wire(struct ib_device *ibdev, const struct xen_vhca_qp_attr *wire,
			     struct ib_qp_attr *attr)
{
	attr->qp_state = wire->state;
	attr->cur_qp_state = wire->cur_state;
	attr->path_mtu = clamp_t(u8, wire->path_mtu, IB_MTU_256, IB_MTU_4096);
	attr->path_mig_state = min_t(u8, wire->path_mig_state, IB_MIG_ARMED);
	attr->qkey = wire->qkey;
	attr->rq_psn = wire->rq_psn;
	attr->sq_psn = wire->sq_psn;
	attr->dest_qp_num = wire->dest_qpn;
	attr->qp_access_flags = wire->access;
	attr->pkey_index = wire->pkey_index;
	attr->alt_pkey_index = wire->alt_pkey_index;
	attr->en_sqd_async_notify = wire->en_sqd_async_notify;
	attr->sq_draining = wire->sq_draining;
	attr->max_rd_atomic = wire->max_rd_atomic;
	attr->max_dest_rd_atomic = wire->max_dest_rd_atomic;
	attr->min_rnr_timer = wire->min_rnr_timer;
	attr->port_num = wire->port;
	attr->timeout = wire->timeout;
	attr->retry_cnt = wire->retry_cnt;
	attr->rnr_retry = wire->rnr_retry;
	attr->alt_port_num = wire->alt_port;
	attr->alt_timeout = wire->alt_timeout;
	av_from_wire(ibdev, &wire->av, &attr->ah_attr);
	av_from_wire(ibdev, &wire->alt_av, &attr->alt_ah_attr);
}
