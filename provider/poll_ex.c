// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * poll_ex.c - the extended CQ interface: ibv_start_poll(), and the fields of a completion that are
 * only looked at when they are asked for.
 */
#include <errno.h>

#include "cq.h"
#include "queue/cqe.h"

/* Takes the next CQE. Return: 0, ENOENT, or EINVAL for one that completes nothing of ours. */
static __always_inline int take_next(struct xenib_cq *cq)
{
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;
	const struct xenib_sent *sent;
	struct xenib_cqe *cqe;
	struct xenib_qp_queues *qp;
	uint8_t own;

	cqe = xenib_next_cqe(&cq->q, &own);
	if (!cqe)
		return ENOENT;

	cq->q.next++;
	cq->cqe = cqe;
	qp = xenib_cqe_qp(&cq->q, cqe);
	if (unlikely(!qp))
		return EINVAL;

	ex->status = IBV_WC_SUCCESS;
	switch (own >> 4) {
	case XENIB_CQE_REQ_ERR:
		ex->status = (enum ibv_wc_status)xenib_error_status(READ_ONCE(cqe->syndrome));
		SWITCH_FALLTHROUGH;
	case XENIB_CQE_REQ:
		sent = xenib_complete_send(qp, cqe);
		ex->wr_id = sent->wr_id;
		cq->opcode = sent->opcode;
		return 0;
	case XENIB_CQE_RESP_ERR:
		ex->status = (enum ibv_wc_status)xenib_error_status(READ_ONCE(cqe->syndrome));
		SWITCH_FALLTHROUGH;
	case XENIB_CQE_RESP_SEND:
	case XENIB_CQE_RESP_SEND_IMM:
	case XENIB_CQE_RESP_SEND_INV:
		cq->opcode = IBV_WC_RECV;
		break;
	case XENIB_CQE_RESP_WR_IMM:
		cq->opcode = IBV_WC_RECV_RDMA_WITH_IMM;
		break;
	default:
		return EINVAL;
	}

	return likely(xenib_complete_recv(qp, cqe, &ex->wr_id)) ? 0 : EINVAL;
}

static int start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct xenib_cq *cq = to_xcq_ex(ibcq);
	int err;

	if (unlikely(attr->comp_mask))
		return EINVAL;

	xenib_lock(&cq->q.lock);

	err = take_next(cq);
	if (err) {
		/* There will be no ibv_end_poll(). */
		if (err != ENOENT)
			xenib_cq_tell_consumed(&cq->q);
		xenib_unlock(&cq->q.lock);
	}
	return err;
}

static int next_poll(struct ibv_cq_ex *ibcq)
{
	return take_next(to_xcq_ex(ibcq));
}

static void end_poll(struct ibv_cq_ex *ibcq)
{
	struct xenib_cq *cq = to_xcq_ex(ibcq);

	xenib_cq_tell_consumed(&cq->q);
	xenib_unlock(&cq->q.lock);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ibcq)
{
	return to_xcq_ex(ibcq)->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ibcq)
{
	return to_xcq_ex(ibcq)->cqe->vendor_syndrome;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ibcq)
{
	const struct xenib_cqe *cqe = to_xcq_ex(ibcq)->cqe;
	unsigned int flags = 0;

	switch (cqe->op_own >> 4) {
	case XENIB_CQE_RESP_WR_IMM:
	case XENIB_CQE_RESP_SEND_IMM:
		flags = IBV_WC_WITH_IMM;
		break;
	case XENIB_CQE_RESP_SEND_INV:
		flags = IBV_WC_WITH_INV;
		break;
	case XENIB_CQE_RESP_SEND:
		break;
	default:
		return 0;
	}

	if (xenib_source_has_grh(be32toh(cqe->flags_qpn)))
		flags |= IBV_WC_GRH;
	return flags;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ibcq)
{
	const struct xenib_cq *cq = to_xcq_ex(ibcq);

	return xenib_cqe_sent_bytes(cq->cqe, cq->opcode);
}

/* Of an ibv_wc's union of immediate data and invalidated key, the second is in host order. */
static __be32 read_imm_data(struct ibv_cq_ex *ibcq)
{
	const struct xenib_cqe *cqe = to_xcq_ex(ibcq)->cqe;

	if (unlikely(cqe->op_own >> 4 == XENIB_CQE_RESP_SEND_INV))
		return (__force __be32)be32toh(cqe->imm);
	return cqe->imm;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ibcq)
{
	return be32toh(to_xcq_ex(ibcq)->cqe->opcode_qpn) & 0xffffff;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ibcq)
{
	return xenib_source_qpn(be32toh(to_xcq_ex(ibcq)->cqe->flags_qpn));
}

static uint32_t read_slid(struct ibv_cq_ex *ibcq)
{
	return be16toh(to_xcq_ex(ibcq)->cqe->slid);
}

static uint8_t read_sl(struct ibv_cq_ex *ibcq)
{
	return xenib_source_sl(be32toh(to_xcq_ex(ibcq)->cqe->flags_qpn));
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ibcq)
{
	return to_xcq_ex(ibcq)->cqe->path_bits & 0x7f;
}

/* Of a completion that has failed it means nothing. */
static uint64_t read_completion_ts(struct ibv_cq_ex *ibcq)
{
	return be64toh(to_xcq_ex(ibcq)->cqe->timestamp);
}

void xenib_cq_set_lazy(struct xenib_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;

	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_wc_flags = read_wc_flags;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		ex->read_byte_len = read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		ex->read_imm_data = read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		ex->read_src_qp = read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		ex->read_slid = read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		ex->read_sl = read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ex->read_dlid_path_bits = read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ex->read_completion_ts = read_completion_ts;
}
