// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a request does at a reliable responder, once it is known to be in order (IBTA 9.7.4):
 * checks, memory accesses, receive completions. Which NAK answers what: IBTA table 61.
 */
#include <infiniband/mlx5dv.h>

#include "engine/engine.h"
#include "firmware/caps.h"

#define BIT_OF(op) (1u << (op))

static const uint32_t firsts = BIT_OF(BTH_SEND_FIRST) | BIT_OF(BTH_WRITE_FIRST);
static const uint32_t middles = BIT_OF(BTH_SEND_MIDDLE) | BIT_OF(BTH_WRITE_MIDDLE);
static const uint32_t lasts = BIT_OF(BTH_SEND_LAST) | BIT_OF(BTH_SEND_LAST_IMM) |
			      BIT_OF(BTH_SEND_LAST_INV) | BIT_OF(BTH_WRITE_LAST) |
			      BIT_OF(BTH_WRITE_LAST_IMM);
static const uint32_t onlies = BIT_OF(BTH_SEND_ONLY) | BIT_OF(BTH_SEND_ONLY_IMM) |
			       BIT_OF(BTH_SEND_ONLY_INV) | BIT_OF(BTH_WRITE_ONLY) |
			       BIT_OF(BTH_WRITE_ONLY_IMM);
static const uint32_t sends = BIT_OF(BTH_SEND_FIRST) | BIT_OF(BTH_SEND_MIDDLE) |
			      BIT_OF(BTH_SEND_LAST) | BIT_OF(BTH_SEND_LAST_IMM) |
			      BIT_OF(BTH_SEND_LAST_INV) | BIT_OF(BTH_SEND_ONLY) |
			      BIT_OF(BTH_SEND_ONLY_IMM) | BIT_OF(BTH_SEND_ONLY_INV);
static const uint32_t immediates = BIT_OF(BTH_SEND_LAST_IMM) | BIT_OF(BTH_SEND_ONLY_IMM) |
				   BIT_OF(BTH_WRITE_LAST_IMM) | BIT_OF(BTH_WRITE_ONLY_IMM);
static const uint32_t invalidates = BIT_OF(BTH_SEND_LAST_INV) | BIT_OF(BTH_SEND_ONLY_INV);

static bool in(uint32_t set, const struct packet *p)
{
	return set >> (p->opcode & ~BTH_TRANSPORT) & 1;
}

static const struct verdict ok = { .kind = VERDICT_OK };

static struct verdict refuse(uint8_t nak, uint8_t event)
{
	return (struct verdict){ .kind = VERDICT_NAK, .nak = nak, .event = event };
}

static struct verdict invalid(void)
{
	return refuse(NAK_INVALID_REQUEST, EVENT_WQ_INVAL_REQ_ERROR);
}

static struct verdict no_access(struct qp_engine *e)
{
	e->qp->obj.hca->stats.access_errors++;
	return refuse(NAK_REMOTE_ACCESS, EVENT_WQ_ACCESS_ERROR);
}

/* The driver learns of what went wrong with a receive WQE by its completion, not by an event. */
static struct verdict receive_failed(struct qp_engine *e, enum recv_status status)
{
	switch (status) {
	case RECV_EMPTY:
		return (struct verdict){ .kind = VERDICT_RNR };
	case RECV_TOO_SMALL:
		recv_fail(e, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
		return refuse(NAK_INVALID_REQUEST, 0);
	case RECV_PROTECTION:
		recv_fail(e, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
		return refuse(NAK_REMOTE_OPERATIONAL, 0);
	default:
		return refuse(NAK_REMOTE_OPERATIONAL, 0);
	}
}

/* Packets of a message come in order and are full but for the last (IBTA 9.7.4.1.5, 9.7.4.1.6). */
static bool shape_ok(const struct qp_engine *e, const struct packet *p)
{
	uint32_t mtu = qp_mtu(e->qp);
	enum message want = in(sends, p) ? MESSAGE_SEND : MESSAGE_WRITE;

	if (in(middles | lasts, p) ? e->message != want : e->message != MESSAGE_NONE)
		return false;
	if (in(firsts | middles, p))
		return p->len == mtu;
	if (in(lasts, p))
		return p->len && p->len <= mtu;
	if (in(onlies, p))
		return p->len <= mtu;
	return !p->len;
}

static void message_over(struct qp_engine *e)
{
	struct hca *hca = e->qp->obj.hca;

	e->message = MESSAGE_NONE;
	e->msn++;
	hca->stats.messages_received++;
	hca->stats.bytes_received += e->offset;
}

static uint8_t completion_opcode(const struct packet *p)
{
	if (in(invalidates, p))
		return MLX5_CQE_RESP_SEND_INV;
	if (in(sends, p))
		return in(immediates, p) ? MLX5_CQE_RESP_SEND_IMM : MLX5_CQE_RESP_SEND;
	return MLX5_CQE_RESP_WR_IMM;
}

static struct verdict execute_send(struct qp_engine *e, const struct packet *p)
{
	enum recv_status status;
	struct mkey_user user;

	if (!rc_remote_user(e->qp, p, &user))
		return invalid();
	if (e->message == MESSAGE_NONE) {
		status = recv_take(e, p->xrc_srqn);
		if (status)
			return receive_failed(e, status);
		e->message = MESSAGE_SEND;
		e->offset = 0;
	}
	status = recv_place(e, e->offset, p->data, p->len);
	if (status)
		return receive_failed(e, status);
	e->offset += p->len;
	if (!in(lasts | onlies, p))
		return ok;
	if (in(invalidates, p) && mkey_invalidate(&user, p->imm)) {
		recv_fail(e, MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR);
		return no_access(e);
	}
	message_over(e);
	recv_complete(e, p, completion_opcode(p), e->offset);
	return ok;
}

static struct verdict write_start(struct qp_engine *e, const struct packet *p,
				  const struct mkey_user *user)
{
	if (!e->qp->remote_write || p->dma_len > 1u << CAP_MAX_MSG)
		return invalid();
	if (mkey_check(user, p->rkey, p->va, p->dma_len, MKEY_REMOTE_WRITE))
		return no_access(e);
	e->offset = 0;
	e->write_va = p->va;
	e->write_rkey = p->rkey;
	e->write_length = p->dma_len;
	return ok;
}

static struct verdict execute_write(struct qp_engine *e, const struct packet *p)
{
	bool last = in(lasts | onlies, p);
	enum recv_status status;
	struct mkey_user user;
	struct verdict v;

	if (!rc_remote_user(e->qp, p, &user))
		return invalid();
	if (e->message == MESSAGE_NONE) {
		v = write_start(e, p, &user);
		if (v.kind)
			return v;
	}
	if (p->len > e->write_length - e->offset || last != (p->len == e->write_length - e->offset))
		return invalid();
	/* If nothing is there to receive the immediate nothing may be written either. */
	if (in(immediates, p)) {
		status = recv_take(e, p->xrc_srqn);
		if (status)
			return receive_failed(e, status);
	}
	if (mkey_write(&user, e->write_rkey, e->write_va + e->offset, p->data, p->len,
		       MKEY_REMOTE_WRITE)) {
		recv_fail(e, MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR);
		return no_access(e);
	}
	e->message = MESSAGE_WRITE;
	e->offset += p->len;
	if (!last)
		return ok;
	message_over(e);
	if (in(immediates, p))
		recv_complete(e, p, completion_opcode(p), e->offset);
	return ok;
}

/* A place to remember the request in. NULL: the requester has more outstanding than it may. */
static struct response *response_new(struct qp_engine *e)
{
	uint32_t limit = e->qp->max_dest_rd_atomic;
	struct response *r;

	if (!limit || limit > RESPONSES)
		limit = RESPONSES;
	r = &e->responses[e->response_count % limit];
	if (r->pending)
		return NULL;
	e->response_count++;
	return r;
}

static struct verdict execute_read(struct qp_engine *e, const struct packet *p)
{
	struct mkey_user user;
	struct response *r;

	if (!e->qp->remote_read || p->dma_len > 1u << CAP_MAX_MSG ||
	    !rc_remote_user(e->qp, p, &user))
		return invalid();
	if (mkey_check(&user, p->rkey, p->va, p->dma_len, MKEY_REMOTE_READ))
		return no_access(e);
	r = response_new(e);
	if (!r)
		return invalid();
	*r = (struct response){
		.pending = true,
		.psn = p->psn,
		.packets = rc_request_psns(e, p),
		.va = p->va,
		.rkey = p->rkey,
		.length = p->dma_len,
		.pd = user.pd,
	};
	e->msn++;
	return ok;
}

static struct verdict execute_atomic(struct qp_engine *e, const struct packet *p)
{
	bool compare = (p->opcode & ~BTH_TRANSPORT) == BTH_COMPARE_SWAP;
	struct mkey_user user;
	struct response *r;
	uint64_t old;

	if (!e->qp->remote_atomic || p->va & 7 || !rc_remote_user(e->qp, p, &user))
		return invalid();
	if (mkey_check(&user, p->rkey, p->va, 8, MKEY_REMOTE_ATOMIC))
		return no_access(e);
	r = response_new(e);
	if (!r)
		return invalid();
	if (mkey_atomic(&user, p->rkey, p->va, compare, p->swap_add, p->compare, &old))
		return no_access(e);
	*r = (struct response){
		.pending = true,
		.atomic = true,
		.psn = p->psn,
		.packets = 1,
		.old = old,
	};
	e->msn++;
	return ok;
}

uint32_t rc_request_psns(const struct qp_engine *e, const struct packet *p)
{
	if ((p->opcode & ~BTH_TRANSPORT) != BTH_READ_REQUEST)
		return 1;
	return packets_for(p->dma_len, qp_mtu(e->qp));
}

struct verdict rc_execute(struct qp_engine *e, const struct packet *p)
{
	if (!shape_ok(e, p))
		return invalid();
	switch (p->opcode & ~BTH_TRANSPORT) {
	case BTH_READ_REQUEST:
		return execute_read(e, p);
	case BTH_COMPARE_SWAP:
	case BTH_FETCH_ADD:
		return execute_atomic(e, p);
	default:
		return in(sends, p) ? execute_send(e, p) : execute_write(e, p);
	}
}
