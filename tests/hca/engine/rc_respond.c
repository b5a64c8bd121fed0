// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder of a reliable QP (IBTA 9.7.1 to 9.7.5): which request is next, what is a
 * duplicate, and what goes back: responses in the order of the requests, then an acknowledgement
 * for all that arrived meanwhile, or a NAK.
 */
#include <string.h>

#include "engine/engine.h"
#include "engine/fabric.h"
#include "objects/eq.h"

#define CREDITS_UNKNOWN 0x1f /* end-to-end flow control is not used (IBTA 9.7.7.2) */

static bool is_known(const struct packet *p)
{
	uint8_t op = p->opcode & ~BTH_TRANSPORT;

	return op <= BTH_READ_REQUEST || op == BTH_COMPARE_SWAP || op == BTH_FETCH_ADD ||
	       op == BTH_SEND_LAST_INV || op == BTH_SEND_ONLY_INV;
}

static void set_nak(struct qp_engine *e, uint8_t syndrome)
{
	e->reply.nak = true;
	e->reply.syndrome = syndrome;
	e->out_of_order = true;
	engine_wake(e);
}

static void set_fatal(struct qp_engine *e, uint8_t nak, uint8_t event)
{
	set_nak(e, AETH_NAK | nak);
	e->reply.fatal = true;
	e->reply.event = event;
}

/* The request that psn belongs to, if it is still remembered. */
static struct response *remembered(struct qp_engine *e, uint32_t psn)
{
	for (unsigned int i = 0; i < RESPONSES; i++) {
		struct response *r = &e->responses[i];

		if (r->packets && psn_diff(psn, r->psn) >= 0 &&
		    psn_diff(psn, psn_add(r->psn, r->packets - 1)) <= 0)
			return r;
	}
	return NULL;
}

/*
 * A READ that is asked for again is carried out again, from the packet that is missing; an
 * atomic is not, its first result is sent again. What is not remembered is not answered.
 */
static void duplicate_response(struct qp_engine *e, const struct packet *p)
{
	bool atomic = (p->opcode & ~BTH_TRANSPORT) != BTH_READ_REQUEST;
	struct response *r = remembered(e, p->psn);
	uint32_t skip;

	if (!r || r->atomic != atomic)
		return;
	skip = (uint32_t)psn_diff(p->psn, r->psn);
	if (!atomic && (p->rkey != r->rkey || p->va != r->va + (uint64_t)skip * qp_mtu(e->qp) ||
			p->dma_len != r->length - skip * qp_mtu(e->qp)))
		return;
	r->next = skip;
	r->pending = true;
}

static bool has_response(const struct packet *p)
{
	uint8_t op = p->opcode & ~BTH_TRANSPORT;

	return op == BTH_READ_REQUEST || op == BTH_COMPARE_SWAP || op == BTH_FETCH_ADD;
}

static void duplicate(struct qp_engine *e, const struct packet *p)
{
	if (has_response(p))
		duplicate_response(e, p);
	else
		e->reply.ack = true;
	engine_wake(e);
}

static void in_order(struct qp_engine *e, const struct packet *p)
{
	uint32_t psns = rc_request_psns(e, p);
	struct verdict v = rc_execute(e, p);

	switch (v.kind) {
	case VERDICT_OK:
		e->epsn = psn_add(e->epsn, psns);
		e->out_of_order = false;
		e->reply.ack |= p->ack_request && !has_response(p);
		engine_wake(e);
		break;
	case VERDICT_RNR:
		e->qp->obj.hca->stats.rnr_naks_sent++;
		set_nak(e, AETH_RNR | (e->qp->min_rnr_timer & 0x1f));
		break;
	case VERDICT_NAK:
		set_fatal(e, v.nak, v.event);
		break;
	}
}

void rc_request(struct qp_engine *e, const struct packet *p)
{
	int32_t ahead = psn_diff(p->psn, e->epsn);

	if (e->reply.fatal || !is_known(p))
		return;
	if (ahead < 0) {
		duplicate(e, p);
	} else if (ahead > 0) {
		if (!e->out_of_order)
			set_nak(e, AETH_NAK | NAK_PSN_SEQUENCE);
	} else if (!e->reply.nak) {
		/* A NAK that is still to be said makes the requester send this again. */
		in_order(e, p);
	}
}

/* --- What goes back --- */

static struct packet *answer(struct qp_engine *e, uint8_t op, uint32_t psn)
{
	struct packet *p = engine_packet(e);

	if (!p) {
		engine_pause(e);
		return NULL;
	}
	p->opcode |= op;
	p->psn = psn;
	p->syndrome = AETH_ACK | CREDITS_UNKNOWN;
	p->msn = e->msn & PSN_MASK;
	return p;
}

static uint8_t response_op(const struct response *r)
{
	bool first = !r->next, last = r->next + 1 == r->packets;

	if (r->atomic)
		return BTH_ATOMIC_ACK;
	if (first)
		return last ? BTH_READ_RESP_ONLY : BTH_READ_RESP_FIRST;
	return last ? BTH_READ_RESP_LAST : BTH_READ_RESP_MIDDLE;
}

static enum mkey_status fill(const struct qp_engine *e, const struct response *r, struct packet *p)
{
	uint32_t mtu = qp_mtu(e->qp), offset = r->next * mtu;
	struct mkey_user user = engine_user(e->qp);

	if (r->atomic) {
		p->atomic_old = r->old;
		return MKEY_OK;
	}
	user.pd = r->pd;
	p->len = r->length - offset < mtu ? r->length - offset : mtu;
	return mkey_read(&user, r->rkey, r->va + offset, p->data, p->len, MKEY_REMOTE_READ);
}

/* False: not all was sent. */
static bool send_response(struct qp_engine *e, struct response *r, uint32_t *budget)
{
	struct hca *hca = e->qp->obj.hca;

	for (; r->next < r->packets; r->next++) {
		struct packet *p;

		if (!*budget)
			return false;
		p = answer(e, response_op(r), psn_add(r->psn, r->next));
		if (!p)
			return false;
		if (fill(e, r, p)) {
			/* The key was taken away since the request was accepted. */
			hca->stats.access_errors++;
			p->opcode = (p->opcode & BTH_TRANSPORT) | BTH_ACKNOWLEDGE;
			p->syndrome = AETH_NAK | NAK_REMOTE_ACCESS;
			p->len = 0;
			fabric_send(hca, p);
			eq_qp_event(hca, EVENT_WQ_ACCESS_ERROR, e->qp->obj.id);
			qp_enter_error(e->qp, QP_ERR);
			return false;
		}
		pace_sends(e, p->len);
		fabric_send(hca, p);
		(*budget)--;
	}
	r->pending = false;
	return true;
}

/* The pending one that was asked for first. */
static struct response *first_pending(struct qp_engine *e)
{
	struct response *first = NULL;

	for (unsigned int i = 0; i < RESPONSES; i++) {
		struct response *r = &e->responses[i];

		if (r->pending && (!first || psn_diff(r->psn, first->psn) < 0))
			first = r;
	}
	return first;
}

static bool send_reply(struct qp_engine *e, uint32_t *budget)
{
	struct hca *hca = e->qp->obj.hca;
	struct reply reply = e->reply;
	struct packet *p;

	if (!reply.nak && !reply.ack)
		return true;
	if (!*budget)
		return false;
	p = answer(e, BTH_ACKNOWLEDGE, reply.nak ? e->epsn : psn_add(e->epsn, PSN_MASK));
	if (!p)
		return false;
	if (reply.nak)
		p->syndrome = reply.syndrome;
	memset(&e->reply, 0, sizeof(e->reply));
	fabric_send(hca, p);
	(*budget)--;
	if (!reply.fatal)
		return true;
	if (reply.event)
		eq_qp_event(hca, reply.event, e->qp->obj.id);
	qp_enter_error(e->qp, QP_ERR);
	return true;
}

bool rc_respond_run(struct qp_engine *e, uint32_t *budget)
{
	struct response *r;

	if (e->qp->state < QP_RTR)
		return true;
	while (e->qp->state != QP_ERR && (r = first_pending(e))) {
		if (!send_response(e, r, budget))
			return !*budget ? false : true;
	}
	return e->qp->state == QP_ERR || send_reply(e, budget);
}
