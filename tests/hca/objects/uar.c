// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbells. A page has three kinds of registers: arming of CQs, arming of EQs, and the BlueFlame
 * registers, each of two buffers, whose first 8 bytes are the doorbell of a send queue (the start
 * of the WQE's control segment) and whose rest may carry the WQE itself. The WQE is in memory as
 * well and is taken from there.
 */
#include "hca.h"
#include "ifc.h"
#include "objects/cq.h"
#include "objects/eq.h"
#include "objects/qp.h"
#include "objects/uar.h"

#define BF_BUFFER 256u

enum { REG_CQ = 0x20, REG_EQ_ARM = 0x40, REG_EQ = 0x48, REG_BF = 0x800 };

static bool send_doorbell(struct uar *uar, uint32_t qpn)
{
	struct qp *qp = (struct qp *)obj_find(uar->obj.hca->objs[OBJ_QP], qpn);

	if (!qp || qp->uar != uar)
		return false;
	uar->sq_doorbells++;
	qp_engine_kick(qp);
	return true;
}

/* Eight bytes have been stored at off. False: refused. */
static bool store64(struct uar *uar, uint32_t off, const uint8_t *data)
{
	struct hca *hca = uar->obj.hca;

	if (off == REG_CQ) {
		if (!cq_doorbell(hca, uar->obj.id, be32_at(data), be32_at(data + 4) & 0xffffff))
			return false;
		uar->cq_arms++;
		return true;
	}
	if (off >= REG_BF && off % BF_BUFFER == 0)
		return send_doorbell(uar, be32_at(data + 4) >> 8);
	return off > REG_BF; /* the rest of a BlueFlame buffer */
}

static bool store32(struct uar *uar, uint32_t off, const uint8_t *data)
{
	uint8_t both[8];

	if (off == REG_EQ_ARM || off == REG_EQ) {
		if (!eq_doorbell(uar->obj.hca, uar->obj.id, off == REG_EQ_ARM, be32_at(data)))
			return false;
		uar->eq_doorbells++;
		return true;
	}
	if (off % 8 == 0) {
		uar->half = be32_at(data);
		uar->half_off = off;
		return true;
	}
	if (uar->half_off != off - 4)
		return false;
	uar->half_off = 0;
	put_be32(both, uar->half);
	memcpy(both + 4, data, 4);
	return store64(uar, off - 4, both);
}

static void refuse(struct hca *hca, struct uar *uar, uint32_t index, uint32_t off)
{
	hca->stats.doorbells_refused++;
	if (uar)
		uar->refused++;
	hca_log(hca, HCA_LOG_GUEST, "doorbell refused: UAR 0x%x%s, offset 0x%x", index,
		uar ? "" : " (not allocated)", off);
}

void uar_store(struct hca *hca, uint32_t index, uint32_t off, const void *data, uint32_t len)
{
	struct uar *uar = (struct uar *)obj_find(hca->objs[OBJ_UAR], index);
	const uint8_t *b = data;

	hca->stats.doorbells++;
	if (!uar || off % 4 || len % 4) {
		refuse(hca, uar, index, off);
		return;
	}
	while (len) {
		uint32_t n = off % 8 == 0 && len >= 8 ? 8 : 4;
		bool ok = n == 8 ? store64(uar, off, b) : store32(uar, off, b);

		if (!ok)
			refuse(hca, uar, index, off);
		b += n;
		off += n;
		len -= n;
	}
}
