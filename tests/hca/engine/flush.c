// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queues of a QP in error: each WQE completes as flushed, those posted later as well. A send
 * rings a doorbell; for a receive the doorbell record is looked at from time to time.
 */
#include <infiniband/mlx5dv.h>

#include "bus/dma.h"
#include "engine/engine.h"

static uint32_t flush_started(struct qp_engine *e, uint32_t budget)
{
	uint32_t done = 0;

	for (; e->head != e->tail && done < budget; done++) {
		const struct sent *s = sent_at(e, e->head++);

		e->sq_ci = (uint16_t)(s->index + s->blocks);
		send_post(e, s, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	}
	return done;
}

/* How many blocks were posted and never started. A record that makes no sense posts none. */
static uint16_t posted(const struct qp *qp, uint16_t from)
{
	uint32_t record;
	uint16_t n;

	if (dma_read(qp->obj.hca->dma, qp->dbr + 4, &record, sizeof(record)))
		return 0;
	n = (uint16_t)(be32toh(record) - from);
	return n > 1u << qp->log_sq_size ? 0 : n;
}

static uint32_t flush_posted(struct qp_engine *e, uint32_t budget)
{
	const struct qp *qp = e->qp;
	uint32_t done = 0;
	struct wqe w;

	for (uint16_t n = posted(qp, e->sq_next); n && done < budget; done++) {
		struct sent s = { .index = e->sq_next };

		if (wqe_fetch(qp, e->sq_next, n, &w) == WQE_NO_DMA)
			break;
		s.opcode = w.opcode;
		s.ce = w.ce;
		e->sq_next = (uint16_t)(e->sq_next + w.blocks);
		e->sq_ci = e->sq_next;
		n = (uint16_t)(n - w.blocks);
		send_post(e, &s, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	}
	return done;
}

static uint32_t flush_send(struct qp_engine *e, uint32_t budget)
{
	uint32_t done = flush_started(e, budget);

	if (e->head != e->tail)
		return done;
	e->tx = e->tail;
	e->tx_packet = 0;
	return done + flush_posted(e, budget - done);
}

bool flush_run(struct qp_engine *e)
{
	struct qp *qp = e->qp;
	uint32_t done = 0;

	if (qp->has_sq)
		done = flush_send(e, TURN_FLUSH);
	if (qp->state == QP_ERR)
		done += recv_flush(e, TURN_FLUSH);
	if (done)
		e->poll_ns = POLL_MIN_NS;
	if (done >= TURN_FLUSH)
		return false;
	if (qp->state != QP_ERR || !qp->has_rq || qp->srq)
		return true;
	loop_timer_set(qp->obj.hca->loop, &e->pause, e->poll_ns);
	if (e->poll_ns < POLL_MAX_NS)
		e->poll_ns *= 2;
	return true;
}
