/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * umem.h - a umem of the guest's memory, in one of two ways.
 *
 * One is a contiguous range of addresses. They are reserved first (PROT_NONE), then chunks of pages
 * are mapped over them as they come. A chunk that cannot be mapped leaves the reservation as it was,
 * so the guest may try again. The daemon never reads or writes what is mapped.
 *
 * The other is a dma-buf, which has no addresses. Chunks are added to it as they come, or not.
 */
#ifndef XEN_IB_VHCA_UMEM_H
#define XEN_IB_VHCA_UMEM_H

#include <stdbool.h>
#include <stdint.h>

#include "shared-ring/vhca_request.h"
#include "vhca/transport.h"

struct umem {
	uint8_t *base; /* NULL: it is a dma-buf */
	int dmabuf;    /* its descriptor, or -1 */
	uint32_t pages;
	uint32_t present; /* pages that are mapped */
	bool read_only;
	bool only_mrs;  /* no queue may be in it */
	uint8_t *state; /* of each page, see umem.c */
};

/* umem_init - reserves addresses. 0 or -ENOMEM. */
int umem_init(struct umem *umem, uint32_t pages, bool read_only);

/* umem_init_dmabuf - the same of a dma-buf; it needs no addresses. 0 or -ENOMEM. */
int umem_init_dmabuf(struct umem *umem, struct transport *t, uint32_t pages, bool read_only);

/*
 * umem_fini - unmaps and releases all. No HCA may have anything of it registered any more. (Of a
 * dma-buf that an HCA has, all stays mapped as long as it does.)
 */
void umem_fini(struct umem *umem);

/*
 * umem_claim, umem_map, umem_settle - add a chunk, in three steps so that the slow one needs
 * no lock: claim under the caller's lock (false: a page of it has come before, or is out of range),
 * map without, settle under the lock again with the result of map.
 */
bool umem_claim(struct umem *umem, uint32_t first, uint32_t count);
int umem_map(struct umem *umem, struct transport *t, uint32_t first, const uint32_t *refs,
	     uint32_t count);
void umem_settle(struct umem *umem, uint32_t first, uint32_t count, int err);

static inline bool umem_complete(const struct umem *umem)
{
	return umem->present == umem->pages;
}

#endif
