// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send queues: WQEs are started in order, become packets within a window, and complete in order.
 *
 * sent[head..tail) are the WQEs in flight; tx is the one whose packets go out next, which is an
 * older one again after a loss. What is kept of a WQE is little: its bytes stay in the queue and
 * are read and parsed again for each turn, as they may be foreign each time.
 */
#include <infiniband/mlx5dv.h>
#include <string.h>

#include "bus/dma.h"
#include "engine/engine.h"
#include "engine/fabric.h"
#include "ifc.h"
#include "objects/cq.h"
#include "objects/eq.h"
#include "objects/umr.h"

/* The WQE in work. One thread, and none is kept from one turn to the next. */
static struct wqe scratch;

enum start { STARTED, NOT_NOW };

static bool is_read(uint8_t opcode)
{
	return opcode == MLX5_OPCODE_RDMA_READ;
}

static bool is_atomic(uint8_t opcode)
{
	return opcode == MLX5_OPCODE_ATOMIC_CS || opcode == MLX5_OPCODE_ATOMIC_FA;
}

/* --- Completions --- */

void send_post(struct qp_engine *e, const struct sent *s, uint8_t syndrome)
{
	const struct qp *qp = e->qp;
	struct completion c = {
		.opcode = syndrome ? MLX5_CQE_REQ_ERR : MLX5_CQE_REQ,
		.syndrome = syndrome,
		.send_opcode = s->opcode,
		.wqe_counter = s->index,
		.qpn = qp->obj.id,
		.user_index = qp->user_index,
		.byte_count = s->length,
	};

	if (syndrome ? s->ce == WQE_CE_FIRST_ERROR && e->error_told : s->ce < WQE_CE_ALWAYS)
		return;
	e->error_told |= syndrome;
	if (!cq_post(qp->send_cq, &c))
		engine_catastrophe(e, "a send completion is lost");
}

static void fail(struct qp_engine *e, struct sent *s)
{
	struct qp *qp = e->qp;
	bool connected = qp_is_reliable(qp) || qp->transport == QP_UMR;

	hca_log(qp->obj.hca, HCA_LOG_GUEST, "QP 0x%x: WQE 0x%x, opcode 0x%x, fails: syndrome 0x%x",
		qp->obj.id, s->index, s->opcode, s->syndrome);
	if (s->syndrome == MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR)
		qp->obj.hca->stats.bad_wqes++;
	send_post(e, s, s->syndrome);
	/* IBTA 10.3.1: the receiving half of an unreliable QP goes on. */
	qp_enter_error(qp, connected ? QP_ERR : QP_SQER);
}

static bool is_message(uint8_t opcode)
{
	return opcode != MLX5_OPCODE_UMR && opcode != MLX5_OPCODE_NOP;
}

void send_complete(struct qp_engine *e)
{
	struct hca *hca = e->qp->obj.hca;

	while (e->head != e->tail && sent_at(e, e->head)->done) {
		struct sent *s = sent_at(e, e->head);

		e->sq_ci = (uint16_t)(s->index + s->blocks);
		if (e->tx == e->head) {
			e->tx++;
			e->tx_packet = 0;
		}
		e->head++;
		if (s->syndrome) {
			fail(e, s);
			return;
		}
		if (is_message(s->opcode)) {
			hca->stats.messages_sent++;
			hca->stats.bytes_sent += s->length;
		}
		send_post(e, s, 0);
		if (e->qp->state == QP_ERR)
			return;
	}
	if (e->draining && e->head == e->tail) {
		e->draining = false;
		eq_qp_event(hca, EVENT_SQ_DRAINED, e->qp->obj.id);
	}
}

/* --- Starting WQEs --- */

static bool fenced(const struct qp_engine *e, const struct wqe *w)
{
	switch (w->fence) {
	case WQE_FENCE_STRONG:
		return e->head != e->tail;
	case WQE_FENCE_READS:
	case WQE_FENCE_SMALL_AND_READS:
		return e->reads;
	default:
		return false; /* what a small fence waits for is never pending here */
	}
}

/* What is read from remote must have somewhere to go before it is asked for. */
static uint8_t check_local(const struct qp *qp, const struct wqe *w)
{
	struct mkey_user user = engine_user(qp);

	for (uint32_t i = 0; i < w->nsegs; i++) {
		if (mkey_check(&user, w->segs[i].lkey, w->segs[i].addr, w->segs[i].bytes,
			       MKEY_LOCAL_WRITE))
			return MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
	}
	return 0;
}

/* Does what needs no packet, or finds out what is wrong before the first one. */
static uint8_t prepare(struct qp_engine *e, const struct wqe *w)
{
	struct qp *qp = e->qp;

	if (w->opcode == MLX5_OPCODE_UMR)
		return umr_execute(qp, w);
	if (qp_is_datagram(qp) && w->length > PORT_MTU)
		return MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR;
	if (w->av.grh && !port_gid_valid(qp->obj.hca, w->av.sgid_index))
		return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	if (!is_read(w->opcode) && !is_atomic(w->opcode))
		return 0;
	return qp->max_rd_atomic ? check_local(qp, w) : MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
}

static void enlist(struct qp_engine *e, const struct wqe *w, uint8_t syndrome)
{
	struct sent *s = sent_at(e, e->tail++);

	*s = (struct sent){
		.psn = e->psn,
		.length = w->length,
		.index = e->sq_next,
		.blocks = w->blocks,
		.opcode = w->opcode,
		.ce = w->ce,
		.syndrome = syndrome,
	};
	e->sq_next = (uint16_t)(e->sq_next + w->blocks);
	e->halted = syndrome;
	if (syndrome || !is_message(w->opcode)) {
		s->done = true;
		return;
	}
	s->packets = is_atomic(w->opcode) ? 1 : packets_for(w->length, qp_mtu(e->qp));
	e->psn = psn_add(e->psn, s->packets);
	s->response = is_read(w->opcode) || is_atomic(w->opcode);
	if (s->response) {
		e->reads++;
		e->read_psns += s->packets;
	}
}

/* Blocks posted and not started; 0 also if the queue is broken. */
static uint16_t posted(struct qp_engine *e)
{
	const struct qp *qp = e->qp;
	uint32_t record;
	uint16_t pi;

	if (dma_read(qp->obj.hca->dma, qp->dbr + 4, &record, sizeof(record))) {
		engine_catastrophe(e, "the doorbell record cannot be read");
		return 0;
	}
	pi = (uint16_t)be32toh(record);
	if ((uint16_t)(pi - e->sq_ci) > 1u << qp->log_sq_size) {
		engine_catastrophe(e, "more send WQEs posted than the queue holds");
		return 0;
	}
	return (uint16_t)(pi - e->sq_next);
}

static enum start start(struct qp_engine *e)
{
	struct qp *qp = e->qp;
	enum wqe_status status;
	uint8_t syndrome = 0;
	uint16_t available;

	if (qp->state != QP_RTS || e->halted || e->tail - e->head == SENT_MAX)
		return NOT_NOW;
	available = posted(e);
	if (!available)
		return NOT_NOW;
	status = wqe_fetch(qp, e->sq_next, available, &scratch);
	switch (status) {
	case WQE_NO_DMA:
		engine_catastrophe(e, "a send WQE cannot be read");
		return NOT_NOW;
	case WQE_MALFORMED:
		syndrome = MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
		break;
	case WQE_TOO_LONG:
		syndrome = MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR;
		break;
	case WQE_OK:
		if (fenced(e, &scratch))
			return NOT_NOW;
		if ((is_read(scratch.opcode) || is_atomic(scratch.opcode)) && qp->max_rd_atomic &&
		    e->reads >= qp->max_rd_atomic)
			return NOT_NOW;
		/* Half of the PSNs may be on their way; a quarter is plenty. */
		if (e->head != e->tail && psn_diff(e->psn, e->una) > (1 << 22) - (1 << 20))
			return NOT_NOW;
		syndrome = prepare(e, &scratch);
		break;
	}
	enlist(e, &scratch, syndrome);
	return STARTED;
}

const struct wqe *send_wqe(struct qp_engine *e, const struct sent *s)
{
	if (wqe_fetch(e->qp, s->index, s->blocks, &scratch) || scratch.opcode != s->opcode ||
	    scratch.length != s->length)
		return NULL;
	return &scratch;
}

/* --- Packets --- */

static uint8_t send_op(bool first, bool last)
{
	if (first)
		return last ? BTH_SEND_ONLY : BTH_SEND_FIRST;
	return last ? BTH_SEND_LAST : BTH_SEND_MIDDLE;
}

static uint8_t packet_op(const struct wqe *w, bool first, bool last)
{
	uint8_t op = send_op(first, last);

	switch (w->opcode) {
	case MLX5_OPCODE_SEND_IMM:
		return last ? op + (BTH_SEND_ONLY_IMM - BTH_SEND_ONLY) : op;
	case MLX5_OPCODE_SEND_INVAL:
		if (!last)
			return op;
		return first ? BTH_SEND_ONLY_INV : BTH_SEND_LAST_INV;
	case MLX5_OPCODE_RDMA_WRITE:
		return op + (BTH_WRITE_FIRST - BTH_SEND_FIRST);
	case MLX5_OPCODE_RDMA_WRITE_IMM:
		op += BTH_WRITE_FIRST - BTH_SEND_FIRST;
		return last ? op + (BTH_WRITE_ONLY_IMM - BTH_WRITE_ONLY) : op;
	case MLX5_OPCODE_RDMA_READ:
		return BTH_READ_REQUEST;
	case MLX5_OPCODE_ATOMIC_CS:
		return BTH_COMPARE_SWAP;
	case MLX5_OPCODE_ATOMIC_FA:
		return BTH_FETCH_ADD;
	default:
		return op;
	}
}

/* A READ is one packet, which asks for what is missing of it. */
static void fill_read(struct packet *p, const struct wqe *w, uint32_t offset)
{
	p->va = w->raddr + offset;
	p->dma_len = w->length - offset;
}

static enum mkey_status fill_payload(const struct qp *qp, struct packet *p, const struct wqe *w,
				     uint32_t offset, uint32_t mtu)
{
	struct mkey_user user = engine_user(qp);

	p->len = w->length - offset < mtu ? w->length - offset : mtu;
	p->va = w->raddr;
	p->dma_len = w->length;
	return engine_gather(&user, w, offset, p->data, p->len);
}

/* 0, or the syndrome with which the WQE fails. */
static uint8_t fill(struct qp_engine *e, struct packet *p, const struct sent *s,
		    const struct wqe *w)
{
	const struct qp *qp = e->qp;
	uint32_t mtu = qp_mtu(qp), n = e->tx_packet;
	bool last = n + 1 == s->packets;

	p->opcode |= packet_op(w, !n, last);
	p->psn = psn_add(s->psn, n);
	p->xrc_srqn = w->xrc_srqn;
	p->rkey = w->rkey;
	p->imm = w->imm;
	p->solicited = w->solicited && (last || s->response);
	p->ack_request = last || s->response || !((n + 1) % ACK_EVERY);
	p->swap_add = w->swap_add;
	p->compare = w->compare;
	if (qp_is_datagram(qp))
		ud_address(qp, w, p);
	if (is_read(s->opcode)) {
		fill_read(p, w, n * mtu);
		return 0;
	}
	if (is_atomic(s->opcode)) {
		p->va = w->raddr;
		return 0;
	}
	return fill_payload(qp, p, w, n * mtu, mtu) ? MLX5_CQE_SYNDROME_LOCAL_PROT_ERR : 0;
}

/* The WQE at tx fails: what was started after it was not to be. */
static void give_up(struct qp_engine *e, uint8_t syndrome)
{
	struct sent *s = sent_at(e, e->tx);

	s->syndrome = syndrome;
	s->done = true;
	e->halted = true;
}

static bool window_open(const struct qp_engine *e, const struct sent *s)
{
	int32_t ahead = psn_diff(psn_add(s->psn, e->tx_packet), e->una);

	return s->response || ahead - (int32_t)e->read_psns < (int32_t)SEND_WINDOW;
}

/* Sends packets of the WQE at tx. False: no more can be sent now. */
static bool transmit(struct qp_engine *e, struct sent *s, const struct wqe *w, uint32_t *budget)
{
	struct hca *hca = e->qp->obj.hca;

	while (*budget && e->tx_packet < s->packets) {
		struct packet *p;
		uint8_t syndrome;

		if (qp_is_reliable(e->qp) && !window_open(e, s))
			return false;
		p = engine_packet(e);
		if (!p) {
			engine_pause(e);
			return false;
		}
		syndrome = fill(e, p, s, w);
		if (syndrome) {
			packet_put(hca->fabric, p);
			give_up(e, syndrome);
			return true;
		}
		pace_sends(e, p->len);
		fabric_send(hca, p);
		(*budget)--;
		e->tx_packet = s->response ? s->packets : e->tx_packet + 1;
		if (qp_is_reliable(e->qp))
			rc_request_arm(e, false);
	}
	return true;
}

/* The next WQE that has packets to send: one in flight, or a new one. *w is set if it is parsed. */
static struct sent *next(struct qp_engine *e, const struct wqe **w)
{
	*w = NULL;
	for (;;) {
		struct sent *s;

		if (e->tx == e->tail) {
			if (start(e) == NOT_NOW)
				return NULL;
			*w = &scratch;
		}
		s = sent_at(e, e->tx);
		if (!s->done && s->packets)
			return s;
		/* Done without a packet, or acknowledged before it was sent again. */
		*w = NULL;
		if (e->halted && s->syndrome) {
			send_complete(e);
			return NULL;
		}
		e->tx++;
		e->tx_packet = 0;
		send_complete(e);
		if (e->qp->state != QP_RTS && e->qp->state != QP_SQD)
			return NULL;
	}
}

bool send_run(struct qp_engine *e, uint32_t *budget)
{
	struct qp *qp = e->qp;
	unsigned int wqes = TURN_PACKETS;

	if (!qp->has_sq || qp->state < QP_RTS || e->rnr_wait)
		return true;
	while (*budget && wqes-- && (qp->state == QP_RTS || qp->state == QP_SQD)) {
		const struct wqe *w;
		struct sent *s = next(e, &w);

		if (!s) {
			send_complete(e);
			return true;
		}
		if (!w)
			w = send_wqe(e, s);
		if (!w) {
			give_up(e, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
			continue;
		}
		if (!transmit(e, s, w, budget))
			return true;
		if (e->tx_packet == s->packets && !s->done) {
			e->tx++;
			e->tx_packet = 0;
			s->done = !qp_is_reliable(qp);
			send_complete(e);
		}
	}
	return false;
}
