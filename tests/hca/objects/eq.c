// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Event queues: EQEs (struct mlx5_eqe in linux/mlx5/device.h), arming, interrupts. */
#include "bus/dma.h"
#include "hca.h"
#include "ifc.h"
#include "objects/eq.h"
#include "objects/uar.h"

#define EQE_SIZE 64u
enum { EQE_TYPE = 1, EQE_SUBTYPE = 3, EQE_DATA = 32, EQE_DATA_LEN = 28, EQE_OWNER = 63 };
#define CI_MASK 0xffffffu /* what a doorbell carries of the consumer index */

/* Offsets in the event data. */
enum {
	QP_SRQ_TYPE = 20,
	QP_SRQ_NUMBER = 24,
	CQ_ERR_CQN = 0,
	CQ_ERR_SYNDROME = 11,
	PORT_NUMBER = 8
};
#define PORT_1 (1u << 4)

static void fire(struct eq *eq)
{
	struct hca *hca = eq->obj.hca;

	eq->armed = false;
	if (hca->msix)
		hca->msix(hca, eq->vector);
}

void eq_post(struct eq *eq, uint8_t type, uint8_t subtype, const void *data, unsigned int len)
{
	struct hca *hca = eq->obj.hca;
	uint32_t size = 1u << eq->log_size;
	uint8_t eqe[EQE_SIZE] = { 0 };
	uint8_t *slot;

	if (eq->overflowed)
		return;
	if (eq->pi - eq->ci >= size) {
		eq->overflowed = true;
		hca_log(hca, HCA_LOG_GUEST, "EQ %u overflows", eq->obj.id);
		return;
	}
	slot = wqbuf_ptr(&eq->buf, hca->dma, (uint64_t)(eq->pi & (size - 1)) * EQE_SIZE, EQE_SIZE,
			 DMA_PROT_WRITE);
	if (!slot) {
		hca->stats.bad_dma++;
		hca_log(hca, HCA_LOG_GUEST, "EQ %u is not in memory", eq->obj.id);
		return;
	}
	eqe[EQE_TYPE] = type;
	eqe[EQE_SUBTYPE] = subtype;
	memcpy(eqe + EQE_DATA, data, len < EQE_DATA_LEN ? len : EQE_DATA_LEN);
	memcpy(slot, eqe, EQE_OWNER);
	__atomic_store_n(slot + EQE_OWNER, (uint8_t)(eq->pi >> eq->log_size & 1), __ATOMIC_RELEASE);
	eq->pi++;
	hca->stats.eqes++;
	if (eq->armed)
		fire(eq);
}

/* The first EQ from number id on whose mask has the type, or NULL. */
static struct eq *subscriber(const struct hca *hca, uint8_t type, uint32_t id)
{
	struct obj *obj = obj_next(hca->objs[OBJ_EQ], id);

	for (; obj; obj = obj_next(hca->objs[OBJ_EQ], obj->id + 1)) {
		struct eq *eq = (struct eq *)obj;

		if (eq->event_mask[type / 64] >> (type % 64) & 1)
			return eq;
	}
	return NULL;
}

bool eq_wanted(const struct hca *hca, uint8_t type)
{
	return subscriber(hca, type, 0);
}

void eq_post_async(struct hca *hca, uint8_t type, uint8_t subtype, const void *data,
		   unsigned int len)
{
	struct eq *eq = subscriber(hca, type, 0);

	for (; eq; eq = subscriber(hca, type, eq->obj.id + 1))
		eq_post(eq, type, subtype, data, len);
}

static void qp_srq_event(struct hca *hca, uint8_t type, uint8_t queue, uint32_t number)
{
	uint8_t data[EQE_DATA_LEN] = { 0 };

	data[QP_SRQ_TYPE] = queue;
	put_be32(data + QP_SRQ_NUMBER, number);
	eq_post_async(hca, type, 0, data, sizeof(data));
}

void eq_qp_event(struct hca *hca, uint8_t type, uint32_t qpn)
{
	qp_srq_event(hca, type, 0 /* MLX5_EVENT_QUEUE_TYPE_QP */, qpn);
}

void eq_srq_event(struct hca *hca, uint8_t type, uint32_t srqn)
{
	qp_srq_event(hca, type, 0, srqn);
}

void eq_cq_error(struct hca *hca, uint32_t cqn, uint8_t syndrome)
{
	uint8_t data[EQE_DATA_LEN] = { 0 };

	put_be32(data + CQ_ERR_CQN, cqn);
	data[CQ_ERR_SYNDROME] = syndrome;
	eq_post_async(hca, MLX5_EVENT_TYPE_CODING_CQ_ERROR, 0, data, sizeof(data));
}

void eq_port_event(struct hca *hca, uint8_t subtype)
{
	uint8_t data[EQE_DATA_LEN] = { 0 };

	data[PORT_NUMBER] = PORT_1;
	eq_post_async(hca, MLX5_EVENT_TYPE_CODING_PORT_STATE_CHANGE, subtype, data, sizeof(data));
}

bool eq_doorbell(struct hca *hca, uint32_t uar, bool arm, uint32_t value)
{
	struct eq *eq = (struct eq *)obj_find(hca->objs[OBJ_EQ], value >> 24);
	uint32_t consumed;

	if (!eq || eq->uar->obj.id != uar)
		return false;
	/* The index can only have moved forward, and not past what was written. */
	consumed = (value - eq->ci) & CI_MASK;
	if (consumed > eq->pi - eq->ci) {
		hca_log(hca, HCA_LOG_GUEST, "EQ %u: consumer index 0x%x is ahead of the EQEs",
			eq->obj.id, value & CI_MASK);
		return false;
	}
	eq->ci += consumed;
	if (!arm)
		return true;
	eq->armed = true;
	if (eq->pi != eq->ci)
		fire(eq);
	return true;
}
