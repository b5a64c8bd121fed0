// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues: taking WQEs from the linked list in the machine's memory. */
#include <infiniband/mlx5dv.h>

#include "bus/dma.h"
#include "hca.h"
#include "ifc.h"
#include "objects/eq.h"
#include "objects/srq.h"

/* MLX5_EVENT_TYPE_* of linux/mlx5/device.h */
enum { EVENT_SRQ_CATAS_ERROR = 0x12, EVENT_SRQ_RQ_LIMIT = 0x14 };

static enum srq_status srq_fail(struct srq *srq, const char *why)
{
	struct hca *hca = srq->obj.hca;

	srq->error = true;
	hca_log(hca, HCA_LOG_GUEST, "SRQ 0x%x: %s", srq->obj.id, why);
	eq_srq_event(hca, EVENT_SRQ_CATAS_ERROR, srq->obj.id);
	return SRQ_FAILED;
}

enum srq_status srq_take(struct srq *srq, uint16_t *index)
{
	struct dma_space *dma = srq->obj.hca->dma;
	uint32_t size = 1u << srq->log_size;
	struct mlx5_wqe_srq_next_seg next;
	uint16_t posted, next_index;
	uint32_t record;

	if (srq->error)
		return SRQ_FAILED;
	if (dma_read(dma, srq->dbr, &record, sizeof(record)))
		return srq_fail(srq, "its doorbell record cannot be read");
	posted = (uint16_t)(be32toh(record) - srq->taken);
	if (!posted)
		return SRQ_EMPTY;
	if (posted > size)
		return srq_fail(srq, "more WQEs posted than it holds");
	if (wqbuf_read(&srq->buf, dma, (uint64_t)srq->head << srq->log_stride, &next, sizeof(next)))
		return srq_fail(srq, "its memory cannot be read");
	/* The link of a posted WQE is final: the driver sets it before it posts. */
	next_index = be16toh(next.next_wqe_index);
	if (next_index >= size)
		return srq_fail(srq, "a WQE's link leads out of it");
	*index = srq->head;
	srq->head = next_index;
	srq->taken++;
	if (srq->limit && posted - 1 < srq->limit) {
		srq->limit = 0;
		eq_srq_event(srq->obj.hca, EVENT_SRQ_RQ_LIMIT, srq->obj.id);
	}
	return SRQ_TAKEN;
}
