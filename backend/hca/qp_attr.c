// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * qp_attr.c - see qp_attr.h.
 */
#include <string.h>

#include "hca/qp_attr.h"

static struct ib_uverbs_qp_dest dest_of(const struct xen_vhca_av *av, uint8_t port)
{
	struct ib_uverbs_qp_dest dest = {
		.flow_label = av->flow_label,
		.dlid = av->dlid,
		.sgid_index = av->sgid_index,
		.hop_limit = av->hop_limit,
		.traffic_class = av->traffic_class,
		.sl = av->sl,
		.src_path_bits = av->src_path_bits,
		.static_rate = av->static_rate,
		.is_global = av->is_global,
		.port_num = port,
	};

	memcpy(dest.dgid, av->dgid, sizeof(dest.dgid));
	return dest;
}

static struct xen_vhca_av av_of(const struct ib_uverbs_qp_dest *dest)
{
	struct xen_vhca_av av = {
		.flow_label = dest->flow_label,
		.dlid = dest->dlid,
		.is_global = dest->is_global,
		.sgid_index = dest->sgid_index,
		.hop_limit = dest->hop_limit,
		.traffic_class = dest->traffic_class,
		.sl = dest->sl,
		.src_path_bits = dest->src_path_bits,
		.static_rate = dest->static_rate,
		.port = !!dest->port_num,
	};

	memcpy(av.dgid, dest->dgid, sizeof(av.dgid));
	return av;
}

void hca_qp_to_uverbs(struct ib_uverbs_modify_qp *to, const struct xen_vhca_qp_attr *from,
		      uint8_t port)
{
	*to = (struct ib_uverbs_modify_qp){
		.dest = dest_of(&from->av, port),
		.alt_dest = dest_of(&from->alt_av, port),
		.qkey = from->qkey,
		.rq_psn = from->rq_psn,
		.sq_psn = from->sq_psn,
		.dest_qp_num = from->dest_qpn,
		.qp_access_flags = from->access,
		.pkey_index = from->pkey_index,
		.alt_pkey_index = from->alt_pkey_index,
		.qp_state = from->state,
		.cur_qp_state = from->cur_state,
		.path_mtu = from->path_mtu,
		.path_mig_state = from->path_mig_state,
		.en_sqd_async_notify = from->en_sqd_async_notify,
		.max_rd_atomic = from->max_rd_atomic,
		.max_dest_rd_atomic = from->max_dest_rd_atomic,
		.min_rnr_timer = from->min_rnr_timer,
		.port_num = port,
		.timeout = from->timeout,
		.retry_cnt = from->retry_cnt,
		.rnr_retry = from->rnr_retry,
		.alt_port_num = port,
		.alt_timeout = from->alt_timeout,
	};
}

void hca_qp_from_uverbs(struct xen_vhca_qp_attr *to, const struct ib_uverbs_query_qp_resp *from)
{
	*to = (struct xen_vhca_qp_attr){
		.state = from->qp_state,
		.cur_state = from->cur_qp_state,
		.path_mtu = from->path_mtu,
		.path_mig_state = from->path_mig_state,
		.qkey = from->qkey,
		.rq_psn = from->rq_psn,
		.sq_psn = from->sq_psn,
		.dest_qpn = from->dest_qp_num,
		.access = from->qp_access_flags,
		.pkey_index = from->pkey_index,
		.alt_pkey_index = from->alt_pkey_index,
		.port = !!from->port_num,
		.alt_port = !!from->alt_port_num,
		.timeout = from->timeout,
		.alt_timeout = from->alt_timeout,
		.retry_cnt = from->retry_cnt,
		.rnr_retry = from->rnr_retry,
		.min_rnr_timer = from->min_rnr_timer,
		.max_rd_atomic = from->max_rd_atomic,
		.max_dest_rd_atomic = from->max_dest_rd_atomic,
		.sq_draining = from->sq_draining,
		.av = av_of(&from->dest),
		.alt_av = av_of(&from->alt_dest),
	};
}
