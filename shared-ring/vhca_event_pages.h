/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhca_event_pages.h - the pages by which a backend tells of events. A part of the specification (vhca.h).
 */
#ifndef XEN_IB_VHCA_EVENT_PAGES_H
#define XEN_IB_VHCA_EVENT_PAGES_H

#include "vhca_request.h"

/*
 ******************************************************************************
 *                               Events
 ******************************************************************************
 * Completion events: a page of bits, one for each CQ, numbered by the frontend (event_bit of
 * CQ_CREATE). Bit n is bit n % 8 of octet n / 8. The backend sets the bit and then notifies; the
 * frontend clears bits and then looks after those CQs. Both use atomic operations that order all
 * other accesses. Bits coalesce, and cannot be lost. The backend need not notify for a bit that was
 * set before, because the one who set it does. Once CQ_DESTROY has succeeded its bit is not set any
 * more: clear it, and it can be used for another CQ. A bit that is no CQ's means nothing.
 *
 * With several event vectors, each 32 bits belong to one of them in turn: bit n to the vector
 * n / 32 % event-vectors. The backend notifies the event channel of that vector, and the frontend
 * looks there at the bits of that one alone. So each vector can be served by a CPU of its own.
 * Asynchronous events are notified by the channel of vector 0.
 */
#define XEN_VHCA_EVENT_BITS (XEN_VHCA_PAGE_SIZE * 8)
#define XEN_VHCA_MAX_EVENT_VECTORS 8

/*
 * Asynchronous events: a ring in a page of its own, written by the backend, read by the frontend.
 * Both pages are zero when the frontend hands them over. The event of index i is in
 * ring[i % XEN_VHCA_ASYNC_EVENTS]. The backend writes an event, then prod, then notifies; the
 * frontend reads an event, then writes cons.
 *
 * When the ring is full, events wait in the backend until it looks again: one of each type for each
 * object (and for port and device), so that no guest can make it keep more. Another of the same
 * type for the same object is dropped and counted in lost: the frontend still hears of the first.
 *
 * Types that the frontend does not know, and objects that it does not have (any more), mean
 * nothing.
 */
enum xen_vhca_async_type { /* as enum ib_event_type where one exists */
	XEN_VHCA_ASYNC_CQ_ERR = 0, XEN_VHCA_ASYNC_QP_FATAL = 1, XEN_VHCA_ASYNC_QP_REQ_ERR = 2,
	XEN_VHCA_ASYNC_QP_ACCESS_ERR = 3, XEN_VHCA_ASYNC_COMM_EST = 4, XEN_VHCA_ASYNC_SQ_DRAINED = 5,
	XEN_VHCA_ASYNC_PATH_MIG = 6, XEN_VHCA_ASYNC_PATH_MIG_ERR = 7, XEN_VHCA_ASYNC_DEVICE_FATAL = 8,
	XEN_VHCA_ASYNC_PORT_ACTIVE = 9, XEN_VHCA_ASYNC_PORT_ERR = 10, XEN_VHCA_ASYNC_LID_CHANGE = 11,
	XEN_VHCA_ASYNC_PKEY_CHANGE = 12, XEN_VHCA_ASYNC_SM_CHANGE = 13, XEN_VHCA_ASYNC_SRQ_ERR = 14,
	XEN_VHCA_ASYNC_SRQ_LIMIT_REACHED = 15, XEN_VHCA_ASYNC_QP_LAST_WQE_REACHED = 16,
	XEN_VHCA_ASYNC_CLIENT_REREGISTER = 17, XEN_VHCA_ASYNC_GID_CHANGE = 18,
	XEN_VHCA_ASYNC_TYPES = 19 /* one more than the last */
};

struct xen_vhca_async_event {
	uint32_t type;
	xen_vhca_handle_t handle; /* of the CQ, QP or SRQ; 0 for the port and the device */
	uint8_t reserved[8];
};

#define XEN_VHCA_ASYNC_EVENTS 128

struct xen_vhca_async_page {
	uint32_t cons; /* free running, written by the frontend */
	uint32_t prod; /* free running, written by the backend */
	uint32_t lost; /* free running, written by the backend */
	uint32_t reserved0[13];
	struct xen_vhca_async_event ring[XEN_VHCA_ASYNC_EVENTS];
	uint8_t reserved1[XEN_VHCA_PAGE_SIZE - 64 - 16 * XEN_VHCA_ASYNC_EVENTS];
};

#endif
