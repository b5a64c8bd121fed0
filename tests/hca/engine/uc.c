// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The receiver of an unreliable connection (IBTA 9.8.2): nothing goes back, so what is lost or
 * not allowed loses its message, and the next message starts anew.
 */
#include <infiniband/mlx5dv.h>

#include "engine/engine.h"
#include "firmware/caps.h"

static bool is_send(uint8_t op)
{
	return op <= BTH_SEND_ONLY_IMM;
}

static bool starts(uint8_t op)
{
	return op == BTH_SEND_FIRST || op == BTH_SEND_ONLY || op == BTH_SEND_ONLY_IMM ||
	       op == BTH_WRITE_FIRST || op == BTH_WRITE_ONLY || op == BTH_WRITE_ONLY_IMM;
}

static bool ends(uint8_t op)
{
	return op != BTH_SEND_FIRST && op != BTH_SEND_MIDDLE && op != BTH_WRITE_FIRST &&
	       op != BTH_WRITE_MIDDLE;
}

static bool has_immediate(uint8_t op)
{
	return op == BTH_SEND_LAST_IMM || op == BTH_SEND_ONLY_IMM || op == BTH_WRITE_LAST_IMM ||
	       op == BTH_WRITE_ONLY_IMM;
}

static bool shape_ok(const struct qp_engine *e, const struct packet *p, uint8_t op)
{
	uint32_t mtu = qp_mtu(e->qp);

	if (!ends(op))
		return p->len == mtu;
	return p->len <= mtu && (starts(op) || p->len);
}

/* A receive WQE that was being filled is used for the next message. */
static void drop_message(struct qp_engine *e)
{
	e->message = MESSAGE_NONE;
	e->qp->obj.hca->stats.packets_dropped++;
}

static void done(struct qp_engine *e)
{
	struct hca *hca = e->qp->obj.hca;

	e->message = MESSAGE_NONE;
	hca->stats.messages_received++;
	hca->stats.bytes_received += e->offset;
}

/* A failure of the receive WQE itself is the receiver's own and not forgiven. */
static void receive_failed(struct qp_engine *e, enum recv_status status)
{
	if (status != RECV_TOO_SMALL && status != RECV_PROTECTION) {
		drop_message(e);
		return;
	}
	recv_fail(e, status == RECV_TOO_SMALL ? MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR :
						MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
	qp_enter_error(e->qp, QP_ERR);
}

static void receive(struct qp_engine *e, const struct packet *p, uint8_t op)
{
	enum recv_status status = RECV_OK;

	if (starts(op)) {
		status = recv_take(e, 0);
		e->offset = 0;
	}
	if (!status)
		status = recv_place(e, e->offset, p->data, p->len);
	if (status) {
		receive_failed(e, status);
		return;
	}
	e->message = MESSAGE_SEND;
	e->offset += p->len;
	if (!ends(op))
		return;
	done(e);
	recv_complete(e, p, has_immediate(op) ? MLX5_CQE_RESP_SEND_IMM : MLX5_CQE_RESP_SEND,
		      e->offset);
}

static bool write_start(struct qp_engine *e, const struct packet *p, const struct mkey_user *user)
{
	if (!e->qp->remote_write || p->dma_len > 1u << CAP_MAX_MSG ||
	    mkey_check(user, p->rkey, p->va, p->dma_len, MKEY_REMOTE_WRITE))
		return false;
	e->offset = 0;
	e->write_va = p->va;
	e->write_rkey = p->rkey;
	e->write_length = p->dma_len;
	return true;
}

static void place_write(struct qp_engine *e, const struct packet *p, uint8_t op)
{
	const struct mkey_user user = engine_user(e->qp);
	uint32_t left;

	if (starts(op) && !write_start(e, p, &user)) {
		drop_message(e);
		return;
	}
	left = e->write_length - e->offset;
	if (p->len > left || ends(op) != (p->len == left) ||
	    (has_immediate(op) && recv_take(e, 0)) ||
	    mkey_write(&user, e->write_rkey, e->write_va + e->offset, p->data, p->len,
		       MKEY_REMOTE_WRITE)) {
		drop_message(e);
		return;
	}
	e->message = MESSAGE_WRITE;
	e->offset += p->len;
	if (!ends(op))
		return;
	done(e);
	if (has_immediate(op))
		recv_complete(e, p, MLX5_CQE_RESP_WR_IMM, e->offset);
}

void uc_packet(struct qp_engine *e, const struct packet *p)
{
	uint8_t op = p->opcode & ~BTH_TRANSPORT;
	enum message want = is_send(op) ? MESSAGE_SEND : MESSAGE_WRITE;

	if (op > BTH_WRITE_ONLY_IMM)
		return;
	/* A gap or a start loses what was under way; the rest of that is dropped until the next start. */
	if (p->psn != e->epsn || starts(op)) {
		if (e->message != MESSAGE_NONE)
			drop_message(e);
	}
	e->epsn = psn_add(p->psn, 1);
	if ((!starts(op) && e->message != want) || !shape_ok(e, p, op)) {
		drop_message(e);
		return;
	}
	if (is_send(op))
		receive(e, p, op);
	else
		place_write(e, p, op);
}
