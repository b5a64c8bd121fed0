// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vhca_ring.c - the command ring: see vhca_ring.h.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#include <xen/page.h>
#else
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#endif

#include "vhca_ring.h"

static bool id_used(const struct vhca_ids *ids, unsigned int id)
{
	return ids->bits[id / 32] >> (id % 32) & 1;
}

static void id_take(struct vhca_ids *ids, unsigned int id)
{
	ids->bits[id / 32] |= 1u << (id % 32);
}

static void id_give(struct vhca_ids *ids, unsigned int id)
{
	ids->bits[id / 32] &= ~(1u << (id % 32));
}

unsigned int vhca_ring_entries(unsigned int order)
{
	size_t bytes =
		((size_t)XEN_VHCA_PAGE_SIZE << order) - offsetof(struct xen_vhca_sring, ring);
	unsigned int entries = 1;

	while (2 * entries * sizeof(union xen_vhca_sring_entry) <= bytes)
		entries *= 2;
	return entries;
}

void vhca_back_init(struct vhca_back *back, void *shared, unsigned int order)
{
	struct xen_vhca_sring *sring = shared;

	memset(back, 0, sizeof(*back));
	BACK_RING_INIT(&back->ring, sring, (unsigned long)XEN_VHCA_PAGE_SIZE << order);
}

void vhca_front_init(struct vhca_front *front, void *shared, unsigned int order)
{
	struct xen_vhca_sring *sring = shared;

	memset(front, 0, sizeof(*front));
	SHARED_RING_INIT(sring);
	FRONT_RING_INIT(&front->ring, sring, (unsigned long)XEN_VHCA_PAGE_SIZE << order);
}

int vhca_back_next(struct vhca_back *back, struct xen_vhca_req *req)
{
	RING_IDX prod = *(volatile RING_IDX *)&back->ring.sring->req_prod;
	RING_IDX cons = back->ring.req_cons;

	if (RING_REQUEST_PROD_OVERFLOW(&back->ring, prod))
		return -EPROTO;
	if (prod == cons)
		return 0;
	/* More consumed than answered would be more than the ring holds. */
	if (RING_REQUEST_CONS_OVERFLOW(&back->ring, cons))
		return -EPROTO;
	xen_rmb(); /* the request is read after the index that announces it */
	RING_COPY_REQUEST(&back->ring, cons, req);
	back->ring.req_cons = cons + 1;
	if (req->id >= RING_SIZE(&back->ring) || id_used(&back->outstanding, req->id))
		return -EPROTO;
	id_take(&back->outstanding, req->id);
	return 1;
}

unsigned int vhca_back_peek(const struct vhca_back *back)
{
	const RING_IDX cons = back->ring.req_cons;

	if (*(volatile RING_IDX *)&back->ring.sring->req_prod == cons)
		return 0;
	xen_rmb(); /* the request is read after the index that announces it */
	return *(volatile uint8_t *)&RING_GET_REQUEST(&back->ring, cons)->op;
}

void vhca_back_put(struct vhca_back *back, const struct xen_vhca_rsp *rsp)
{
	RING_IDX prod = back->ring.rsp_prod_pvt;

	id_give(&back->outstanding, rsp->id);
	memcpy(RING_GET_RESPONSE(&back->ring, prod), rsp, sizeof(*rsp));
	back->ring.rsp_prod_pvt = prod + 1;
}

int vhca_back_push(struct vhca_back *back)
{
	int notify;

	RING_PUSH_RESPONSES_AND_CHECK_NOTIFY(&back->ring, notify);
	return notify;
}

int vhca_back_more(struct vhca_back *back)
{
	int more;

	RING_FINAL_CHECK_FOR_REQUESTS(&back->ring, more);
	return more;
}

int vhca_front_put(struct vhca_front *front, const struct xen_vhca_req *req)
{
	RING_IDX prod = front->ring.req_prod_pvt;

	if (req->id >= RING_SIZE(&front->ring))
		return -EINVAL;
	if (id_used(&front->outstanding, req->id))
		return -EBUSY;
	id_take(&front->outstanding, req->id);
	/* As many ids as entries: the ring cannot be full. */
	memcpy(RING_GET_REQUEST(&front->ring, prod), req, sizeof(*req));
	front->ring.req_prod_pvt = prod + 1;
	return 0;
}

void vhca_front_unpost(struct vhca_front *front)
{
	RING_IDX last = front->ring.req_prod_pvt - 1;

	RING_GET_REQUEST(&front->ring, last)->flags &= ~XEN_VHCA_REQ_POSTED;
}

int vhca_front_push(struct vhca_front *front)
{
	int notify;

	RING_PUSH_REQUESTS_AND_CHECK_NOTIFY(&front->ring, notify);
	return notify;
}

int vhca_front_more(struct vhca_front *front)
{
	int more;

	RING_FINAL_CHECK_FOR_RESPONSES(&front->ring, more);
	return more;
}

int vhca_front_next(struct vhca_front *front, struct xen_vhca_rsp *rsp)
{
	RING_IDX prod = *(volatile RING_IDX *)&front->ring.sring->rsp_prod;
	RING_IDX cons = front->ring.rsp_cons;

	if (RING_RESPONSE_PROD_OVERFLOW(&front->ring, prod))
		return -EPROTO;
	if (prod == cons)
		return 0;
	xen_rmb(); /* the response is read after the index that announces it */
	RING_COPY_RESPONSE(&front->ring, cons, rsp);
	front->ring.rsp_cons = cons + 1;
	if (rsp->id >= RING_SIZE(&front->ring) || !id_used(&front->outstanding, rsp->id))
		return -EPROTO;
	id_give(&front->outstanding, rsp->id);
	return 1;
}
