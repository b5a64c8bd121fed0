// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Datagrams (IBTA 9.8.3): addressing, Q_Keys, the GRH in front of what is received; QP0 and QP1. */
#include <infiniband/mlx5dv.h>
#include <string.h>

#include "engine/engine.h"
#include "ifc.h"

#define GRH_BYTES 40u
#define GRH_VERSION 6u
#define GRH_NEXT_HEADER 0x1b           /* BTH */
#define LRH_LESS_BYTES (12u + 8u + 4u) /* BTH, DETH and ICRC are part of a GRH's payload length */
#define QKEY_PRIVILEGED 0x80000000u    /* means: the QP's own, not the WQE's (IBTA 10.2.5) */

static uint32_t own_qkey(const struct qp *qp)
{
	switch (qp->transport) {
	case QP_SMI:
		return 0;
	case QP_GSI:
		return QKEY_QP1;
	default:
		return qp->qkey;
	}
}

static uint32_t claimed_qpn(const struct qp *qp)
{
	switch (qp->transport) {
	case QP_SMI:
		return 0;
	case QP_GSI:
		return 1;
	default:
		return qp->deth_sqpn ? qp->deth_sqpn : qp->obj.id;
	}
}

void ud_address(const struct qp *qp, const struct wqe *w, struct packet *p)
{
	const struct wqe_av *av = &w->av;
	struct hca *hca = qp->obj.hca;

	/* IBTA 14.2.2.1: who is on a directed route may have no LID yet, nor the one that answers. */
	p->slid = av->dlid == LID_PERMISSIVE ?
			  LID_PERMISSIVE :
			  hca->port.lid | (av->path_bits & ((1u << hca->port.lmc) - 1));
	p->dlid = av->dlid;
	p->sl = av->sl;
	p->dest_qpn = av->qpn;
	p->src_qpn = claimed_qpn(qp);
	p->qkey = av->qkey & QKEY_PRIVILEGED ? own_qkey(qp) : av->qkey;
	p->grh = av->grh;
	if (!av->grh)
		return;
	port_gid(hca, av->sgid_index, p->sgid);
	memcpy(p->dgid, av->dgid, sizeof(p->dgid));
	p->flow_label = av->flow_label;
	p->traffic_class = av->traffic_class;
	p->hop_limit = av->hop_limit;
}

static void make_grh(const struct packet *p, uint8_t grh[GRH_BYTES])
{
	put_be32(grh, GRH_VERSION << 28 | (uint32_t)p->traffic_class << 20 | p->flow_label);
	put_be16(grh + 4, (uint16_t)(LRH_LESS_BYTES + ((p->len + 3) & ~3u)));
	grh[6] = GRH_NEXT_HEADER;
	grh[7] = p->hop_limit;
	memcpy(grh + 8, p->sgid, sizeof(p->sgid));
	memcpy(grh + 24, p->dgid, sizeof(p->dgid));
}

/* The first 40 bytes of the buffer are the GRH's, whether there is one or not. */
static enum recv_status place(struct qp_engine *e, const struct packet *p)
{
	uint8_t grh[GRH_BYTES];
	enum recv_status status = RECV_OK;

	if (p->grh) {
		make_grh(p, grh);
		status = recv_place(e, 0, grh, sizeof(grh));
	}
	return status ? status : recv_place(e, GRH_BYTES, p->data, p->len);
}

/* Of a QP that is in the group to which it sends. */
static bool is_own(const struct qp *qp, const struct packet *p)
{
	return p->dlid >= LID_MULTICAST && p->dlid != LID_PERMISSIVE && p->src_qpn == qp->obj.id &&
	       p->slid == qp->obj.hca->port.lid;
}

void ud_packet(struct qp_engine *e, const struct packet *p)
{
	uint8_t op = p->opcode & ~BTH_TRANSPORT;
	struct qp *qp = e->qp;
	struct hca *hca = qp->obj.hca;
	enum recv_status status;

	if (qp->blocks_own && is_own(qp, p))
		return;
	if ((op != BTH_SEND_ONLY && op != BTH_SEND_ONLY_IMM) ||
	    (qp->transport != QP_SMI && p->qkey != own_qkey(qp)) || recv_take(e, 0)) {
		hca->stats.packets_dropped++;
		return;
	}
	status = place(e, p);
	if (status == RECV_TOO_SMALL)
		recv_fail(e, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	else if (status == RECV_PROTECTION)
		recv_fail(e, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
	if (status) {
		qp_enter_error(qp, QP_ERR);
		return;
	}
	hca->stats.messages_received++;
	hca->stats.bytes_received += p->len;
	recv_complete(e, p, op == BTH_SEND_ONLY_IMM ? MLX5_CQE_RESP_SEND_IMM : MLX5_CQE_RESP_SEND,
		      p->len + GRH_BYTES);
}
