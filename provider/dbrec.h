/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * dbrec.h - doorbell records: two 32-bit words in memory in which software tells the HCA how far it
 * has come. Each has a cache line of its own, and 64 of them share a page.
 */
#ifndef XENIB_DBREC_H
#define XENIB_DBREC_H

#include <linux/types.h>
#include <pthread.h>

#include <ccan/list.h>

#include "buf.h"

/* The records of one context. */
struct xenib_dbrecs {
	struct xenib_arenas *arenas; /* that their pages come from */
	pthread_mutex_t lock;
	struct list_head pages; /* pages with a free record come first */
};

void xenib_dbrecs_init(struct xenib_dbrecs *recs, struct xenib_arenas *arenas);

/** xenib_dbrecs_exit() - frees all pages; by then no object of the context is left. */
void xenib_dbrecs_exit(struct xenib_dbrecs *recs);

/**
 * xenib_dbrec_alloc() - a record whose two words are zero. shift is set as that of a buffer is.
 *
 * Return: the record, or NULL with errno set.
 */
__be32 *xenib_dbrec_alloc(struct xenib_dbrecs *recs, uint8_t *shift);

/** xenib_dbrec_free() - returns a record of xenib_dbrec_alloc(), when nothing uses it any more. */
void xenib_dbrec_free(struct xenib_dbrecs *recs, __be32 *rec);

#endif
