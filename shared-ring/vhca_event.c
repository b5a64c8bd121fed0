// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vhca_event.c - completion and asynchronous events: see vhca_event.h.
 */
#ifdef __KERNEL__
#include <asm/barrier.h>
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>

#define LOAD(from) READ_ONCE(from)
/* Of an index: what it announces is read after it, or written before it. */
#define LOAD_ACQUIRE(from) virt_load_acquire(&(from))
#define STORE_RELEASE(to, value) virt_store_release(&(to), value)
#define EXCHANGE(where, value) xchg(where, value)
#else
#include <errno.h>

#define LOAD(from) __atomic_load_n(&(from), __ATOMIC_RELAXED)
#define LOAD_ACQUIRE(from) __atomic_load_n(&(from), __ATOMIC_ACQUIRE)
#define STORE_RELEASE(to, value) __atomic_store_n(&(to), value, __ATOMIC_RELEASE)
#define EXCHANGE(where, value) __atomic_exchange_n(where, value, __ATOMIC_SEQ_CST)
#endif

#include "vhca_event.h"

enum vhca_async_kind vhca_async_kind(uint32_t type)
{
	switch (type) {
	case XEN_VHCA_ASYNC_CQ_ERR:
		return VHCA_ASYNC_CQ;
	case XEN_VHCA_ASYNC_QP_FATAL:
	case XEN_VHCA_ASYNC_QP_REQ_ERR:
	case XEN_VHCA_ASYNC_QP_ACCESS_ERR:
	case XEN_VHCA_ASYNC_COMM_EST:
	case XEN_VHCA_ASYNC_SQ_DRAINED:
	case XEN_VHCA_ASYNC_PATH_MIG:
	case XEN_VHCA_ASYNC_PATH_MIG_ERR:
	case XEN_VHCA_ASYNC_QP_LAST_WQE_REACHED:
		return VHCA_ASYNC_QP;
	case XEN_VHCA_ASYNC_SRQ_ERR:
	case XEN_VHCA_ASYNC_SRQ_LIMIT_REACHED:
		return VHCA_ASYNC_SRQ;
	case XEN_VHCA_ASYNC_PORT_ACTIVE:
	case XEN_VHCA_ASYNC_PORT_ERR:
	case XEN_VHCA_ASYNC_LID_CHANGE:
	case XEN_VHCA_ASYNC_PKEY_CHANGE:
	case XEN_VHCA_ASYNC_SM_CHANGE:
	case XEN_VHCA_ASYNC_CLIENT_REREGISTER:
	case XEN_VHCA_ASYNC_GID_CHANGE:
		return VHCA_ASYNC_PORT;
	case XEN_VHCA_ASYNC_DEVICE_FATAL:
		return VHCA_ASYNC_DEVICE;
	default:
		return VHCA_ASYNC_UNKNOWN;
	}
}

/* Most words are zero; only of those that are not the cache line has to be ours. */
uint32_t vhca_bits_take(void *page, unsigned int word)
{
	uint32_t *bits = (uint32_t *)page + word;

	return LOAD(*bits) ? EXCHANGE(bits, 0) : 0;
}

void vhca_async_front_init(struct vhca_async_front *front, void *page)
{
	front->page = page;
	front->cons = 0;
}

int vhca_async_take(struct vhca_async_front *front, struct xen_vhca_async_event *event)
{
	const struct xen_vhca_async_event *from =
		&front->page->ring[front->cons % XEN_VHCA_ASYNC_EVENTS];
	uint32_t waiting = LOAD_ACQUIRE(front->page->prod) - front->cons;

	if (!waiting)
		return 0;
	if (waiting > XEN_VHCA_ASYNC_EVENTS)
		return -EPROTO;
	*event = (struct xen_vhca_async_event){
		.type = LOAD(from->type),
		.handle = LOAD(from->handle),
	};
	STORE_RELEASE(front->page->cons, ++front->cons);
	return 1;
}

#ifndef __KERNEL__

int vhca_bit_set(void *page, uint32_t bit)
{
	uint32_t *bits = (uint32_t *)page + bit / 32;
	uint32_t mask = 1u << bit % 32;

	return !(__atomic_fetch_or(bits, mask, __ATOMIC_SEQ_CST) & mask);
}

void vhca_async_back_init(struct vhca_async_back *back, void *page)
{
	back->page = page;
	back->prod = 0;
	back->lost = 0;
}

int vhca_async_put(struct vhca_async_back *back, const struct xen_vhca_async_event *event)
{
	uint32_t used = back->prod - LOAD_ACQUIRE(back->page->cons);

	if (used >= XEN_VHCA_ASYNC_EVENTS)
		return 0;
	back->page->ring[back->prod % XEN_VHCA_ASYNC_EVENTS] = *event;
	STORE_RELEASE(back->page->prod, ++back->prod);
	return 1;
}

void vhca_async_lost(struct vhca_async_back *back)
{
	STORE_RELEASE(back->page->lost, ++back->lost);
}

#endif
