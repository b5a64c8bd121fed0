// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester of a reliable QP (IBTA 9.7.5): what acknowledgements, NAKs and responses say
 * about the WQEs in flight, and what is done when they do not come.
 */
#include <infiniband/mlx5dv.h>
#include <string.h>

#include "engine/engine.h"

#define NS_PER_10_US 10000ull

/* --- Timers --- */

/* IBTA table 45: RNR NAK timer field values, in units of 10 us. */
static uint64_t rnr_delay(uint8_t timer)
{
	static const uint32_t units[32] = {
		65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
		48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	return units[timer & 31] * NS_PER_10_US;
}

static uint64_t ack_timeout(const struct qp *qp)
{
	uint64_t ns;

	if (!(qp->path.ack_timeout & 31))
		return 0;
	ns = 4096ull << (qp->path.ack_timeout & 31);
	return ns < ACK_TIMEOUT_MIN ? ACK_TIMEOUT_MIN : ns;
}

/* Whether packets are out that something must come back for. */
static bool awaiting(const struct qp_engine *e)
{
	for (uint32_t i = e->head; i != e->tx; i++) {
		if (!sent_at(e, i)->done)
			return true;
	}
	return e->tx != e->tail && e->tx_packet;
}

/*
 * The timer is not moved for each packet, only the deadline; it finds out when it fires.
 */
void rc_request_arm(struct qp_engine *e, bool restart)
{
	struct loop *loop = e->qp->obj.hca->loop;
	uint64_t timeout = ack_timeout(e->qp);

	if (!timeout || (e->deadline && !restart))
		return;
	e->deadline = 0;
	if (restart && !awaiting(e))
		return;
	e->deadline = loop_now(loop) + timeout;
	if (!loop_timer_pending(&e->retry))
		loop_timer_set(loop, &e->retry, timeout);
}

static void progress(struct qp_engine *e)
{
	e->retries = e->qp->retry_count;
	e->rnr_retries = e->qp->rnr_retry;
	e->rewound = false;
	rc_request_arm(e, true);
}

/* --- Failures --- */

/* The oldest WQE that is not done. NULL: there is none. */
static struct sent *oldest(const struct qp_engine *e)
{
	for (uint32_t i = e->head; i != e->tail; i++) {
		if (!sent_at(e, i)->done)
			return sent_at(e, i);
	}
	return NULL;
}

static void fail_oldest(struct qp_engine *e, uint8_t syndrome)
{
	struct sent *s = oldest(e);

	if (!s)
		return;
	s->done = true;
	s->syndrome = syndrome;
	send_complete(e);
}

/* Back to the oldest packet that is not acknowledged. */
static void rewind_to_una(struct qp_engine *e)
{
	uint32_t i = e->head;

	while (i != e->tail && sent_at(e, i)->done)
		i++;
	if (i == e->tail)
		return;
	e->tx = i;
	e->tx_packet = 0;
	if (psn_diff(e->una, sent_at(e, i)->psn) > 0)
		e->tx_packet = (uint32_t)psn_diff(e->una, sent_at(e, i)->psn);
	e->rewound = true;
	e->deadline = 0;
	e->qp->obj.hca->stats.packets_retried++;
	engine_wake(e);
}

static void retry(struct qp_engine *e)
{
	if (!e->retries) {
		fail_oldest(e, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
		return;
	}
	e->retries--;
	rewind_to_una(e);
}

/* A gap was seen. What was sent again already is left to the timer. */
static void lost(struct qp_engine *e)
{
	if (!e->rewound && !e->rnr_wait)
		retry(e);
}

void rc_request_timer(struct qp_engine *e)
{
	struct loop *loop = e->qp->obj.hca->loop;
	uint64_t now = loop_now(loop);

	if (e->rnr_wait) {
		e->rnr_wait = false;
		e->deadline = 0;
		engine_wake(e);
		return;
	}
	if (!e->deadline)
		return;
	if (now < e->deadline) {
		loop_timer_set(loop, &e->retry, e->deadline - now);
		return;
	}
	e->deadline = 0;
	if (awaiting(e))
		retry(e);
}

/* --- What comes back --- */

static void finish(struct qp_engine *e, struct sent *s)
{
	s->done = true;
	if (!s->response)
		return;
	e->reads--;
	e->read_psns -= s->packets - s->received;
}

/*
 * psn and all before it has arrived. A READ or atomic among that, other than stop, should have
 * been answered before: its response was lost. False then.
 */
static bool acknowledge(struct qp_engine *e, uint32_t psn, const struct sent *stop)
{
	bool moved = false, complete = true;

	for (uint32_t i = e->head; i != e->tail; i++) {
		struct sent *s = sent_at(e, i);

		if (s->done)
			continue;
		if (psn_diff(psn, s->psn) < 0 || s == stop)
			break;
		if (s->response) {
			complete = false;
			break;
		}
		if (psn_diff(psn, psn_add(s->psn, s->packets - 1)) < 0) {
			if (psn_diff(psn, e->una) >= 0) {
				e->una = psn_add(psn, 1);
				moved = true;
			}
			break;
		}
		e->una = psn_add(s->psn, s->packets);
		finish(e, s);
		moved = true;
	}
	/* What arrived after all need not be sent again. */
	if (e->tx != e->tail && !sent_at(e, e->tx)->done && !sent_at(e, e->tx)->response &&
	    psn_diff(e->una, psn_add(sent_at(e, e->tx)->psn, e->tx_packet)) > 0)
		e->tx_packet = (uint32_t)psn_diff(e->una, sent_at(e, e->tx)->psn);
	if (moved)
		progress(e);
	if (!complete)
		lost(e);
	return complete;
}

static void receiver_not_ready(struct qp_engine *e, uint8_t timer)
{
	struct qp *qp = e->qp;

	if (e->rnr_wait)
		return;
	if (qp->rnr_retry != 7) {
		if (!e->rnr_retries) {
			fail_oldest(e, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
			return;
		}
		e->rnr_retries--;
	}
	rewind_to_una(e);
	e->rnr_wait = true;
	loop_timer_set(qp->obj.hca->loop, &e->retry, rnr_delay(timer));
}

static uint8_t nak_syndrome(uint8_t code)
{
	switch (code) {
	case NAK_INVALID_REQUEST:
		return MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR;
	case NAK_REMOTE_ACCESS:
		return MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR;
	case NAK_REMOTE_OPERATIONAL:
		return MLX5_CQE_SYNDROME_REMOTE_OP_ERR;
	default:
		return MLX5_CQE_SYNDROME_BAD_RESP_ERR;
	}
}

/* The READ or atomic that psn belongs to, if it is in flight. */
static struct sent *asked(const struct qp_engine *e, uint32_t psn)
{
	for (uint32_t i = e->head; i != e->tail; i++) {
		struct sent *s = sent_at(e, i);

		if (s->packets && psn_diff(psn, s->psn) >= 0 &&
		    psn_diff(psn, psn_add(s->psn, s->packets - 1)) <= 0)
			return s->response && !s->done ? s : NULL;
	}
	return NULL;
}

static void nak(struct qp_engine *e, const struct packet *p)
{
	uint8_t value = p->syndrome & 0x1f;

	/* A NAK acknowledges what is before it (IBTA 9.7.5.1.1); it may come in the midst of a READ. */
	if (!acknowledge(e, psn_add(p->psn, PSN_MASK), asked(e, p->psn)) ||
	    psn_diff(p->psn, e->una) < 0)
		return;
	if ((p->syndrome & AETH_KIND) == AETH_RNR)
		receiver_not_ready(e, value);
	else if (value == NAK_PSN_SEQUENCE)
		lost(e);
	else
		fail_oldest(e, nak_syndrome(value));
}

static bool read_shape_ok(const struct qp_engine *e, const struct sent *s, const struct packet *p)
{
	uint8_t op = p->opcode & ~BTH_TRANSPORT;
	bool last = s->received + 1 == s->packets;
	uint32_t mtu = qp_mtu(e->qp);
	uint32_t len = last ? s->length - s->received * mtu : mtu;

	if (last ? op != BTH_READ_RESP_LAST && op != BTH_READ_RESP_ONLY :
		   op != BTH_READ_RESP_FIRST && op != BTH_READ_RESP_MIDDLE)
		return false;
	return p->len == len;
}

/* Places what a READ or atomic brought. 0 or a syndrome. */
static uint8_t place(struct qp_engine *e, const struct sent *s, const struct packet *p)
{
	struct mkey_user user = engine_user(e->qp);
	const struct wqe *w = send_wqe(e, s);
	enum mkey_status status;

	if (!w)
		return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	if (s->opcode == MLX5_OPCODE_RDMA_READ)
		status = engine_scatter(&user, w->segs, w->nsegs, s->received * qp_mtu(e->qp),
					p->data, p->len);
	else /* the driver has asked for its own byte order (atomic_req_8B_endianness_mode) */
		status = engine_scatter(&user, w->segs, w->nsegs, 0,
					(const uint8_t *)&p->atomic_old, sizeof(p->atomic_old));
	return status ? MLX5_CQE_SYNDROME_LOCAL_PROT_ERR : 0;
}

static void response(struct qp_engine *e, struct sent *s, const struct packet *p)
{
	bool atomic = (p->opcode & ~BTH_TRANSPORT) == BTH_ATOMIC_ACK;
	uint8_t syndrome;

	if (atomic == (s->opcode == MLX5_OPCODE_RDMA_READ) ||
	    (!atomic && !read_shape_ok(e, s, p))) {
		fail_oldest(e, MLX5_CQE_SYNDROME_BAD_RESP_ERR);
		return;
	}
	syndrome = place(e, s, p);
	if (syndrome) {
		fail_oldest(e, syndrome);
		return;
	}
	s->received++;
	e->read_psns--;
	e->una = psn_add(p->psn, 1);
	/* If it is being asked for again: only what is missing now. */
	if (sent_at(e, e->tx) == s && e->tx != e->tail)
		e->tx_packet = s->received;
	if (s->received == s->packets)
		finish(e, s);
	progress(e);
}

void rc_response(struct qp_engine *e, const struct packet *p)
{
	uint8_t op = p->opcode & ~BTH_TRANSPORT;
	struct sent *s;

	/* Of something that is over, or was never sent (IBTA 9.7.5.1.3: a ghost). */
	if (psn_diff(p->psn, e->una) < 0 || psn_diff(p->psn, e->psn) >= 0)
		return;
	if (op == BTH_ACKNOWLEDGE) {
		if ((p->syndrome & AETH_KIND) == AETH_ACK)
			acknowledge(e, p->psn, NULL);
		else
			nak(e, p);
	} else {
		s = asked(e, p->psn);
		if (!s || !acknowledge(e, p->psn, s))
			return;
		if (p->psn == psn_add(s->psn, s->received))
			response(e, s, p);
		else if (psn_diff(p->psn, psn_add(s->psn, s->received)) > 0)
			lost(e);
	}
	if (e->qp->state == QP_ERR)
		return;
	send_complete(e);
	engine_wake(e);
}
