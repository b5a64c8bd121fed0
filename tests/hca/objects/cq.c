// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues: the layout of CQEs, ownership, overruns, and when a completion event is due. */
#include <infiniband/mlx5dv.h>
#include <string.h>

#include "bus/dma.h"
#include "container.h"
#include "hca.h"
#include "ifc.h"
#include "objects/cq.h"
#include "objects/eq.h"
#include "objects/uar.h"

#define CI_MASK 0xffffffu        /* consumer indexes have 24 bits in records and doorbells */
#define ARM_SOLICITED (1u << 24) /* MLX5_CQ_DB_REQ_NOT_SOL */
#define EVENT_COMP 0x0           /* MLX5_EVENT_TYPE_COMP */
#define EVENT_CQN 24             /* offset of the CQN in its data, struct mlx5_eqe_comp */

/* MLX5_CQ_ERROR_SYNDROME_* of the kernel's eqe for CQ errors. */
enum { CQ_ERROR_OVERRUN = 1, CQ_ERROR_ACCESS = 2 };

static bool is_error(const struct completion *c)
{
	return c->opcode == MLX5_CQE_REQ_ERR || c->opcode == MLX5_CQE_RESP_ERR;
}

static void cq_fail(struct cq *cq, uint8_t syndrome)
{
	struct hca *hca = cq->obj.hca;

	cq->error = true;
	hca_log(hca, HCA_LOG_GUEST, "CQ 0x%x: %s", cq->obj.id,
		syndrome == CQ_ERROR_OVERRUN ? "overrun" : "its memory cannot be accessed");
	eq_cq_error(hca, cq->obj.id, syndrome);
}

/* How many CQEs the driver has not consumed, as its record says. */
static bool cq_waiting(struct cq *cq, uint32_t *count)
{
	uint32_t ci;

	if (dma_read(cq->obj.hca->dma, cq->dbr, &ci, sizeof(ci))) {
		cq_fail(cq, CQ_ERROR_ACCESS);
		return false;
	}
	*count = (cq->pi - be32toh(ci)) & CI_MASK;
	return true;
}

static bool cq_has_room(struct cq *cq)
{
	uint32_t waiting;

	if (cq->ignore_overrun)
		return true;
	if (!cq_waiting(cq, &waiting))
		return false;
	if (waiting < 1u << cq->log_size)
		return true;
	cq_fail(cq, CQ_ERROR_OVERRUN);
	return false;
}

/* All but the last byte, which gives the CQE to the driver. */
static void fill(const struct hca *hca, struct mlx5_cqe64 *cqe, const struct completion *c)
{
	/* CQE version 1: the user index of QP or SRQ, or, where the driver gave none, the SRQN. */
	uint32_t srqn_uidx = c->user_index == 0xffffff && c->srqn ? c->srqn : c->user_index;

	memset(cqe, 0, offsetof(struct mlx5_cqe64, op_own));
	cqe->srqn_uidx = htobe32(srqn_uidx);
	cqe->sop_drop_qpn = htobe32((uint32_t)c->send_opcode << 24 | c->qpn);
	cqe->wqe_counter = htobe16(c->wqe_counter);
	if (is_error(c)) {
		/* struct mlx5_err_cqe has the syndromes where others have a timestamp. */
		((uint8_t *)cqe)[54] = c->vendor_syndrome;
		((uint8_t *)cqe)[55] = c->syndrome;
		return;
	}
	cqe->ml_path = c->ml_path;
	cqe->slid = htobe16(c->slid);
	cqe->flags_rqpn = htobe32(c->flags_rqpn);
	cqe->imm_inval_pkey = htobe32(c->imm_inval_pkey);
	cqe->byte_cnt = htobe32(c->byte_count);
	cqe->timestamp = htobe64(hca_ticks(hca));
}

/* An event tells of every CQE that is there: none of them raises another one (last_notified_index). */
static void cq_fire(struct cq *cq)
{
	uint8_t data[28] = { 0 };

	put_be32(data + EVENT_CQN, cq->obj.id);
	loop_timer_cancel(cq->obj.hca->loop, &cq->late);
	cq->due = false;
	cq->arm = CQ_UNARMED;
	cq->notified_pi = cq->pi;
	cq->events = (cq->events + 1) & 3;
	eq_post(cq->eq, EVENT_COMP, 0, data, sizeof(data));
}

static void cq_late(struct loop_timer *timer)
{
	struct cq *cq = container_of(timer, struct cq, late);

	if (!cq->error)
		cq_fire(cq);
}

/* The driver is to be told of a CQE: now, or with more of them. */
static void cq_due(struct cq *cq)
{
	bool enough = cq->max_count && ((cq->pi - cq->notified_pi) & CI_MASK) >= cq->max_count;

	if (enough || (!cq->max_count && !cq->period_us)) {
		cq_fire(cq);
		return;
	}
	cq->due = true;
	if (!cq->period_us || loop_timer_pending(&cq->late))
		return;
	cq->late.handler = cq_late;
	loop_timer_set(cq->obj.hca->loop, &cq->late, cq->period_us * 1000ull);
}

/* Writes the next CQE. */
static bool cq_write(struct cq *cq, const struct completion *c)
{
	struct mlx5_cqe64 *cqe;
	uint64_t off;

	/* A CQE of 128 bytes has what concerns us in its second half. */
	off = ((uint64_t)(cq->pi & ((1u << cq->log_size) - 1)) << cq->cqe_size_shift) +
	      (1u << cq->cqe_size_shift) - sizeof(*cqe);
	cqe = wqbuf_ptr(&cq->buf, cq->obj.hca->dma, off, sizeof(*cqe), DMA_PROT_WRITE);
	if (!cqe) {
		cq_fail(cq, CQ_ERROR_ACCESS);
		return false;
	}
	fill(cq->obj.hca, cqe, c);
	__atomic_store_n(&cqe->op_own,
			 (uint8_t)(c->opcode << 4 | (c->solicited ? 2 : 0) |
				   (cq->pi >> cq->log_size & 1)),
			 __ATOMIC_RELEASE);
	cq->pi++;
	return true;
}

bool cq_post(struct cq *cq, const struct completion *c)
{
	struct hca *hca = cq->obj.hca;
	bool solicited = c->solicited || is_error(c);

	if (cq->error || !cq_has_room(cq) || !cq_write(cq, c))
		return false;
	if (solicited)
		cq->solicited_pi = cq->pi;
	hca->stats.cqes++;
	hca->stats.cqe_errors += is_error(c);
	if (cq->arm == CQ_ARMED || (cq->arm == CQ_ARMED_SOLICITED && solicited))
		cq_due(cq);
	return true;
}

void cq_moderate(struct cq *cq, uint16_t max_count, uint16_t period_us)
{
	loop_timer_cancel(cq->obj.hca->loop, &cq->late);
	cq->max_count = max_count;
	cq->period_us = period_us;
	if (cq->due)
		cq_due(cq);
}

enum cq_resized cq_resize(struct cq *cq, struct wqbuf *buf, uint8_t log_size)
{
	const struct completion last = { .opcode = MLX5_CQE_RESIZE_CQ };
	struct wqbuf old = cq->buf;
	uint32_t waiting;

	if (cq->error || !cq_waiting(cq, &waiting))
		return CQ_RESIZE_ERROR;
	if (waiting >= 1u << cq->log_size)
		return CQ_RESIZE_FULL;
	if (waiting >= 1u << log_size)
		return CQ_RESIZE_SMALL;
	if (!cq_write(cq, &last))
		return CQ_RESIZE_ERROR;
	cq->buf = *buf;
	cq->log_size = log_size;
	*buf = old;
	return CQ_RESIZED;
}

/* Whether index a is past b, both of 24 bits at least. */
static bool past(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) > 0;
}

bool cq_doorbell(struct hca *hca, uint32_t uar, uint32_t cmd, uint32_t cqn)
{
	struct obj *obj = obj_find(hca->objs[OBJ_CQ], cqn & 0xffffff);
	bool solicited = cmd & ARM_SOLICITED;
	uint32_t newest;
	struct cq *cq;

	if (!obj)
		return false;
	cq = container_of(obj, struct cq, obj);
	if (!cq->uar || cq->uar->obj.id != uar)
		return false;
	/*
	 * An arm carries the number of events that the driver has seen. One that was overtaken
	 * by an event is void: the driver will arm again when it has handled that event.
	 */
	if (cq->error || (cmd >> 28 & 3) != cq->events)
		return true;
	cq->arm_ci = cmd & CI_MASK;
	cq->arm = solicited ? CQ_ARMED_SOLICITED : CQ_ARMED;
	/* CQEs that came since the last event and have not been polled are not waited for. */
	newest = solicited ? cq->solicited_pi : cq->pi;
	if (past(newest, cq->arm_ci) && past(newest, cq->notified_pi & CI_MASK))
		cq_due(cq);
	return true;
}
