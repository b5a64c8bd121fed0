// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs: their life, states and turns, what arrives for them, and how they fail. */
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>

#include "bus/dma.h"
#include "engine/engine.h"
#include "engine/fabric.h"
#include "ifc.h"
#include "objects/cq.h"
#include "objects/eq.h"
#include "objects/srq.h"

#define STEP 8u /* packets between looks at the clock */

const char *qp_state_name(enum qp_state state)
{
	static const char *const names[] = { "RST", "INIT", "RTR", "RTS", "SQER", "SQD", "ERR" };

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

const char *qp_transport_name(enum qp_transport transport)
{
	static const char *const names[] = { "RC",      "UC",  "UD",  "XRC_INI",
					     "XRC_TGT", "SMI", "GSI", "UMR" };

	return transport < sizeof(names) / sizeof(names[0]) ? names[transport] : "?";
}

static uint8_t transport_bits(enum qp_transport transport)
{
	switch (transport) {
	case QP_RC:
		return BTH_RC;
	case QP_UC:
		return BTH_UC;
	case QP_XRC_INI:
	case QP_XRC_TGT:
		return BTH_XRC;
	default:
		return BTH_UD;
	}
}

void engine_wake(struct qp_engine *e)
{
	loop_work_queue(e->qp->obj.hca->loop, &e->work);
}

void engine_pause(struct qp_engine *e)
{
	if (!loop_timer_pending(&e->pause))
		loop_timer_set(e->qp->obj.hca->loop, &e->pause, PAUSE_NS);
}

struct mkey_user engine_user(const struct qp *qp)
{
	return (struct mkey_user){ .hca = qp->obj.hca,
				   .pd = qp->pd,
				   .qpn = qp->obj.id,
				   .reserved_lkey = qp->reserved_lkey };
}

static uint16_t path_pkey(const struct qp *qp)
{
	return qp->obj.hca->port.pkeys[qp->path.pkey_index % PORT_PKEYS];
}

bool engine_pkey_ok(const struct qp *qp, const struct packet *p)
{
	if (qp->transport == QP_SMI)
		return true;
	if (qp->transport == QP_GSI)
		return port_pkey_of(qp->obj.hca, p->pkey);
	return pkeys_match(path_pkey(qp), p->pkey);
}

struct packet *engine_packet(struct qp_engine *e)
{
	const struct qp *qp = e->qp;
	struct hca *hca = qp->obj.hca;
	const struct qp_path *path = &qp->path;
	struct packet *p = pace_may_send(e) ? packet_get(hca->fabric) : NULL;

	if (!p)
		return NULL;
	p->opcode = transport_bits(qp->transport);
	p->pkey = path_pkey(qp);
	p->slid = hca->port.lid | path->path_bits;
	p->dlid = path->dlid;
	p->sl = path->sl;
	p->dest_qpn = qp->remote_qpn;
	p->src_qpn = qp->obj.id;
	p->grh = path->grh;
	if (!path->grh)
		return p;
	port_gid(hca, path->sgid_index, p->sgid);
	memcpy(p->dgid, path->dgid, sizeof(p->dgid));
	p->flow_label = path->flow_label;
	p->traffic_class = path->traffic_class;
	p->hop_limit = path->hop_limit;
	return p;
}

enum mkey_status engine_gather(const struct mkey_user *user, const struct wqe *w, uint32_t offset,
			       uint8_t *dst, uint32_t len)
{
	enum mkey_status status = MKEY_OK;

	for (uint32_t i = 0; i < w->nsegs && len && !status; i++) {
		const struct wqe_seg *seg = &w->segs[i];
		uint32_t run;

		if (offset >= seg->bytes) {
			offset -= seg->bytes;
			continue;
		}
		run = seg->bytes - offset < len ? seg->bytes - offset : len;
		if (seg->is_inline)
			memcpy(dst, w->copy + seg->addr + offset, run);
		else
			status = mkey_read(user, seg->lkey, seg->addr + offset, dst, run,
					   MKEY_LOCAL_READ);
		dst += run;
		len -= run;
		offset = 0;
	}
	return status;
}

enum mkey_status engine_scatter(const struct mkey_user *user, const struct wqe_seg *segs,
				uint32_t nsegs, uint32_t offset, const uint8_t *src, uint32_t len)
{
	enum mkey_status status = MKEY_OK;

	for (uint32_t i = 0; i < nsegs && len && !status; i++) {
		const struct wqe_seg *seg = &segs[i];
		uint32_t run;

		if (offset >= seg->bytes) {
			offset -= seg->bytes;
			continue;
		}
		run = seg->bytes - offset < len ? seg->bytes - offset : len;
		status =
			mkey_write(user, seg->lkey, seg->addr + offset, src, run, MKEY_LOCAL_WRITE);
		src += run;
		len -= run;
		offset = 0;
	}
	return status;
}

/* One turn. In error all that is left is to flush; SQER is that for the send queue. */
static void turn(struct loop_work *work)
{
	struct qp_engine *e = container_of(work, struct qp_engine, work);
	struct loop *loop = e->qp->obj.hca->loop;
	uint64_t end = loop_now(loop) + TURN_NS;
	bool idle = false;

	for (unsigned int sent = 0; sent < TURN_PACKETS && !idle; sent += STEP) {
		uint32_t budget = STEP;

		if (e->qp->state == QP_ERR || e->qp->state == QP_SQER) {
			if (!flush_run(e))
				engine_wake(e);
			return;
		}
		idle = rc_respond_run(e, &budget);
		idle = send_run(e, &budget) && idle;
		if (loop_now(loop) >= end)
			break;
	}
	if (!idle)
		engine_wake(e);
}

static void pause_over(struct loop_timer *timer)
{
	engine_wake(container_of(timer, struct qp_engine, pause));
}

static void retry_due(struct loop_timer *timer)
{
	rc_request_timer(container_of(timer, struct qp_engine, retry));
}

int qp_engine_init(struct qp *qp)
{
	struct qp_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	if (qp->has_sq) {
		e->sent = calloc(SENT_MAX, sizeof(*e->sent));
		if (!e->sent) {
			free(e);
			return -ENOMEM;
		}
	}
	e->qp = qp;
	e->work.handler = turn;
	e->retry.handler = retry_due;
	e->pause.handler = pause_over;
	qp->engine = e;
	return 0;
}

static void stop(struct qp_engine *e)
{
	struct loop *loop = e->qp->obj.hca->loop;

	loop_work_cancel(&e->work);
	loop_timer_cancel(loop, &e->retry);
	loop_timer_cancel(loop, &e->pause);
}

void qp_engine_fini(struct qp *qp)
{
	if (!qp->engine)
		return;
	stop(qp->engine);
	free(qp->engine->sent);
	free(qp->engine);
	qp->engine = NULL;
}

/* As after qp_engine_init(). */
static void forget(struct qp_engine *e)
{
	struct qp_engine fresh = { .qp = e->qp,
				   .work.handler = turn,
				   .retry.handler = retry_due,
				   .pause.handler = pause_over,
				   .sent = e->sent };

	stop(e);
	*e = fresh;
}

static void responder_start(struct qp_engine *e)
{
	e->epsn = e->qp->recv_psn & PSN_MASK;
	e->msn = 0;
	e->out_of_order = false;
	e->alive = false;
	e->message = MESSAGE_NONE;
	e->response_count = 0;
	memset(e->responses, 0, sizeof(e->responses));
	memset(&e->reply, 0, sizeof(e->reply));
}

static void requester_start(struct qp_engine *e)
{
	e->psn = e->una = e->qp->send_psn & PSN_MASK;
	e->rewound = false;
}

/* From SQER the queue goes on behind what failed. */
static void requester_resume(struct qp_engine *e)
{
	e->head = e->tx = e->tail;
	e->tx_packet = 0;
	e->sq_ci = e->sq_next;
	e->halted = false;
	e->error_told = false;
}

/* Entering ERR or SQER: nothing is sent or answered any more, what waits is flushed in turns. */
static void error_start(struct qp_engine *e)
{
	struct qp *qp = e->qp;
	struct hca *hca = qp->obj.hca;

	loop_timer_cancel(hca->loop, &e->retry);
	e->rnr_wait = false;
	e->deadline = 0;
	e->draining = false;
	e->poll_ns = POLL_MIN_NS;
	engine_wake(e);
	if (qp->state != QP_ERR)
		return;
	memset(&e->reply, 0, sizeof(e->reply));
	for (unsigned int i = 0; i < RESPONSES; i++)
		e->responses[i].pending = false;
	e->message = MESSAGE_NONE;
	recv_fail(e, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	if (qp->srq)
		eq_qp_event(hca, EVENT_SRQ_LAST_WQE, qp->obj.id);
}

void qp_engine_state(struct qp *qp, enum qp_state old)
{
	struct qp_engine *e = qp->engine;

	switch (qp->state) {
	case QP_RST:
		forget(e);
		break;
	case QP_INIT:
		break;
	case QP_RTR:
		responder_start(e);
		break;
	case QP_RTS:
		if (old == QP_RTR)
			requester_start(e);
		else if (old == QP_SQER)
			requester_resume(e);
		e->retries = qp->retry_count;
		e->rnr_retries = qp->rnr_retry;
		e->draining = false;
		engine_wake(e);
		break;
	case QP_SQD:
		e->draining = old != QP_SQD;
		engine_wake(e);
		break;
	case QP_SQER:
	case QP_ERR:
		if (old != qp->state)
			error_start(e);
		break;
	}
}

void qp_enter_error(struct qp *qp, enum qp_state state)
{
	enum qp_state old = qp->state;

	if (old == QP_ERR || old == state)
		return;
	hca_log(qp->obj.hca, HCA_LOG_INFO, "QP 0x%x (%s): %s to %s", qp->obj.id,
		qp_transport_name(qp->transport), qp_state_name(old), qp_state_name(state));
	qp->state = state;
	IFC_SET(qpc, qp->qpc, state, state);
	qp_engine_state(qp, old);
}

void engine_catastrophe(struct qp_engine *e, const char *why)
{
	struct qp *qp = e->qp;

	if (qp->state == QP_ERR)
		return;
	hca_log(qp->obj.hca, HCA_LOG_GUEST, "QP 0x%x: %s", qp->obj.id, why);
	eq_qp_event(qp->obj.hca, EVENT_WQ_CATAS_ERROR, qp->obj.id);
	qp_enter_error(qp, QP_ERR);
}

void qp_engine_kick(struct qp *qp)
{
	if (qp->state >= QP_RTS && !qp->obj.hca->faults.fatal)
		engine_wake(qp->engine);
}

static bool may_receive(const struct qp *qp)
{
	return qp->state >= QP_RTR && qp->state <= QP_SQD && qp->transport != QP_UMR &&
	       !qp->obj.hca->faults.fatal;
}

/* IBTA 9.6.1.2: both ends of a connection have a GRH, with the GIDs of its path, or none has. */
static bool grh_of_path(const struct qp *qp, const struct packet *p)
{
	uint8_t own[16];

	if (p->grh != qp->path.grh)
		return false;
	return !p->grh || (port_gid(qp->obj.hca, qp->path.sgid_index, own) &&
			   !memcmp(p->dgid, own, 16) && !memcmp(p->sgid, qp->path.dgid, 16));
}

/* IBTA 9.6.1: what is not for this QP is dropped without a sound. */
static bool accepts(const struct qp *qp, const struct packet *p)
{
	if (!may_receive(qp) || (p->opcode & BTH_TRANSPORT) != transport_bits(qp->transport) ||
	    !engine_pkey_ok(qp, p))
		return false;
	return qp_is_datagram(qp) || (p->slid == qp->path.dlid && grh_of_path(qp, p));
}

static bool is_response(const struct packet *p)
{
	uint8_t op = p->opcode & ~BTH_TRANSPORT;

	return op >= BTH_READ_RESP_FIRST && op <= BTH_ATOMIC_ACK;
}

static void dispatch(struct qp_engine *e, const struct packet *p)
{
	struct qp *qp = e->qp;

	if (qp_is_datagram(qp)) {
		ud_packet(e, p);
	} else if (qp->transport == QP_UC) {
		uc_packet(e, p);
	} else if (!is_response(p)) {
		if (qp->transport != QP_XRC_INI)
			rc_request(e, p);
	} else if (qp->transport != QP_XRC_TGT && (qp->state == QP_RTS || qp->state == QP_SQD)) {
		rc_response(e, p);
	}
}

void qp_engine_packet(struct qp *qp, struct packet *p)
{
	struct hca *hca = qp->obj.hca;
	struct qp_engine *e = qp->engine;

	if (!accepts(qp, p)) {
		hca->stats.packets_dropped++;
		packet_put(hca->fabric, p);
		return;
	}
	if (!e->alive) {
		e->alive = true;
		if (qp->state == QP_RTR && !qp_is_datagram(qp))
			eq_qp_event(hca, EVENT_COMM_EST, qp->obj.id);
	}
	dispatch(e, p);
	packet_put(hca->fabric, p);
}

void qp_engine_counters(const struct qp *qp, struct qp_counters *c)
{
	const struct qp_engine *e = qp->engine;

	*c = (struct qp_counters){
		.next_send_psn = e->psn,
		.last_acked_psn = psn_add(e->una, PSN_MASK),
		.next_recv_psn = e->epsn,
		.hw_sq = e->sq_next,
		.hw_rq = e->rq_ci,
	};
}
