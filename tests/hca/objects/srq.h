/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared receive queues: RMPs (basic SRQs) and XRC SRQs; linked lists of WQEs in the machine's memory. */
#ifndef HCA_SRQ_H
#define HCA_SRQ_H

#include "objects/obj.h"
#include "objects/wqbuf.h"

struct cq;

struct srq {
	struct obj obj;
	bool xrc;
	struct wqbuf buf;
	uint64_t dbr;                 /* counter of WQEs posted, 16 bits */
	uint8_t log_size, log_stride; /* WQEs; stride in bytes: 1 << log_stride, 5 to 9 */
	uint32_t pd, user_index;
	uint32_t xrcd;  /* XRC */
	struct cq *cq;  /* XRC */
	uint16_t taken; /* WQEs consumed, modulo 2^16 as the record */
	uint16_t head;  /* index of the WQE to take next */
	uint16_t limit; /* armed limit; 0: none */
	bool error;
};

/* Bytes of the largest WQE. */
#define SRQ_MAX_STRIDE 512u

enum srq_status { SRQ_TAKEN, SRQ_EMPTY, SRQ_FAILED };

/*
 * Takes the next WQE: *index is its number. A record that overtakes the queue, or a link that
 * leads out of it, puts the SRQ into error with an SRQ_CATAS_ERROR event: SRQ_FAILED, then and
 * ever after. Falling below the armed limit raises SRQ_RQ_LIMIT and disarms.
 */
enum srq_status srq_take(struct srq *srq, uint16_t *index);

/* Destruction, for destroy(). */
void srq_destroy(struct srq *srq);

#endif
