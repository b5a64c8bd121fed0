// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * poll.c - ibv_poll_cq().
 */
#include <errno.h>

#include "cq.h"
#include "queue/cqe.h"
#include "verbs.h"

#define BAD_CQE (-EINVAL)

/* As xenib_error_status() has them */
XENIB_CHECK_STATUSES(IBV_WC_);

static __always_inline void fill_send(struct xenib_qp_queues *qp, const struct xenib_cqe *cqe,
				      struct ibv_wc *wc)
{
	const struct xenib_sent *sent = xenib_complete_send(qp, cqe);

	wc->wr_id = sent->wr_id;
	wc->status = IBV_WC_SUCCESS;
	wc->opcode = sent->opcode;
	wc->wc_flags = 0;
	wc->byte_len = xenib_cqe_sent_bytes(cqe, sent->opcode);
}

static __always_inline bool fill_recv(struct xenib_qp_queues *qp, const struct xenib_cqe *cqe,
				      uint8_t kind, struct ibv_wc *wc)
{
	uint32_t source;
	__be32 imm;

	if (unlikely(!xenib_complete_recv(qp, cqe, &wc->wr_id)))
		return false;

	imm = READ_ONCE(cqe->imm);
	wc->status = IBV_WC_SUCCESS;
	wc->byte_len = be32toh(READ_ONCE(cqe->byte_count));
	wc->opcode = IBV_WC_RECV;
	wc->wc_flags = 0;

	switch (kind) {
	case XENIB_CQE_RESP_WR_IMM:
		wc->opcode = IBV_WC_RECV_RDMA_WITH_IMM;
		SWITCH_FALLTHROUGH;
	case XENIB_CQE_RESP_SEND_IMM:
		wc->wc_flags = IBV_WC_WITH_IMM;
		wc->imm_data = imm;
		break;
	case XENIB_CQE_RESP_SEND_INV:
		wc->wc_flags = IBV_WC_WITH_INV;
		wc->invalidated_rkey = be32toh(imm);
		break;
	}

	source = be32toh(READ_ONCE(cqe->flags_qpn));
	wc->src_qp = xenib_source_qpn(source);
	wc->sl = xenib_source_sl(source);
	if (xenib_source_has_grh(source))
		wc->wc_flags |= IBV_WC_GRH;
	wc->slid = be16toh(READ_ONCE(cqe->slid));
	wc->dlid_path_bits = READ_ONCE(cqe->path_bits) & 0x7f;
	wc->pkey_index = be32toh(imm) & 0xffff;
	return true;
}

static bool fill_error(struct xenib_qp_queues *qp, const struct xenib_cqe *cqe, bool send,
		       struct ibv_wc *wc)
{
	if (send)
		wc->wr_id = xenib_complete_send(qp, cqe)->wr_id;
	else if (!xenib_complete_recv(qp, cqe, &wc->wr_id))
		return false;

	wc->status = (enum ibv_wc_status)xenib_error_status(READ_ONCE(cqe->syndrome));
	wc->vendor_err = READ_ONCE(cqe->vendor_syndrome);
	wc->wc_flags = 0;
	return true;
}

/* False: the CQE completes nothing that this process has posted. */
static __always_inline bool fill_wc(struct xenib_cq_queue *cq, const struct xenib_cqe *cqe,
				    uint8_t kind, struct ibv_wc *wc)
{
	struct xenib_qp_queues *qp = xenib_cqe_qp(cq, cqe);

	if (unlikely(!qp))
		return false;

	wc->qp_num = qp->sq.qpn;
	switch (kind) {
	case XENIB_CQE_REQ:
		fill_send(qp, cqe, wc);
		return true;
	case XENIB_CQE_RESP_WR_IMM:
	case XENIB_CQE_RESP_SEND:
	case XENIB_CQE_RESP_SEND_IMM:
	case XENIB_CQE_RESP_SEND_INV:
		return fill_recv(qp, cqe, kind, wc);
	case XENIB_CQE_REQ_ERR:
	case XENIB_CQE_RESP_ERR:
		return fill_error(qp, cqe, kind == XENIB_CQE_REQ_ERR, wc);
	default:
		return false;
	}
}

int xenib_poll_cq(struct ibv_cq *ibcq, int entries, struct ibv_wc *wc)
{
	struct xenib_cq *cq = to_xcq(ibcq);
	struct xenib_cqe *cqe;
	int err = 0, n;
	uint8_t own;

	xenib_lock(&cq->q.lock);

	for (n = 0; n < entries; n++) {
		cqe = xenib_next_cqe(&cq->q, &own);
		if (!cqe)
			break;

		if (unlikely(!fill_wc(&cq->q, cqe, own >> 4, wc + n))) {
			/* What came before it is reported first. */
			if (n)
				break;
			err = BAD_CQE;
		}
		cq->q.next++;
		if (unlikely(err))
			break;
	}
	if (n || unlikely(err))
		xenib_cq_tell_consumed(&cq->q);

	xenib_unlock(&cq->q.lock);
	return err ? err : n;
}
