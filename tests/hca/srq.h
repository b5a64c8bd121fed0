/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared receive queues: RMPs (basic SRQs) and XRC SRQs; linked lists of WQEs in the machine's memory. */
#ifndef HCA_SRQ_H
#define HCA_SRQ_H

#include "obj.h"
#include "wqbuf.h"

struct cq;

struct srq {
	struct obj obj;
	bool xrc;
	struct wqbuf buf;
	uint64_t dbr; /* counter of WQEs posted, 16 bits */
	uint8_t log_size, log_stride;
	uint32_t pd, user_index;
	uint32_t xrcd;    /* XRC */
	struct cq *cq;    /* XRC */
	uint16_t taken;   /* WQEs consumed, modulo 2^16 as the record */
	uint16_t head;    /* index of the WQE to take next */
	uint16_t limit;   /* armed limit; 0: none */
	bool error;
};

#endif
