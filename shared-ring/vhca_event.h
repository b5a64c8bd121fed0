/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhca_event.h - the two pages of events, from both ends.
 *
 * Completion events: why none is lost, although bits coalesce and not every bit is notified for.
 *
 * The backend sets a bit (S), and notifies (N) if the bit was clear before. The frontend's handler
 * runs once, or once more, after every N, and looks through the page; where it finds a bit it
 * clears it (C), and then calls the handler of the CQ (H). S and C are atomic read-modify-writes
 * that order everything before and after them, and N is a hypercall, which orders as well.
 *
 * - The bit was clear before S. The look that follows N follows S, so it finds the bit, unless one
 *   that was under way found it before. Either way there is a C after S, and an H after C.
 * - The bit was set before S, by S'. So C for S' had not come yet, and as above it does come. It
 *   comes after S, or S would have found the bit clear; so H comes after S, too. It may be that N'
 *   has not been sent yet, but then it will be.
 *
 * So every S has an H after it, and the completion that S tells of was written before S: whoever is
 * woken by H finds it. This needs the whole look to come after what made it run: the frontend ends
 * (or unmasks) an event before it looks, or looks again before it sleeps; Xen's "late EOI" does it
 * this way: Linux clears the pending bit, then runs the handler. And it needs S and C to be atomic
 * between domains: on a guest with one CPU, Linux patches the lock prefix out of its normal bit
 * operations, but never out of xchg().
 *
 * Asynchronous events: the backend keeps prod to itself, and of what the guest can write it reads
 * but cons, once. The frontend keeps cons to itself, and copies what it reads once.
 *
 * None of these may be used by two threads at once but vhca_bit_set().
 */
#ifndef XEN_IB_VHCA_EVENT_H
#define XEN_IB_VHCA_EVENT_H

#include "vhca_event_pages.h"

#define VHCA_EVENT_WORDS (XEN_VHCA_EVENT_BITS / 32)

/* vhca_event_vector - which one of so many vectors a bit belongs to. */
static inline uint32_t vhca_event_vector(uint32_t bit, uint32_t vectors)
{
	return bit / 32 % vectors;
}

/* What an asynchronous event is about. */
enum vhca_async_kind {
	VHCA_ASYNC_UNKNOWN,
	VHCA_ASYNC_CQ,
	VHCA_ASYNC_QP,
	VHCA_ASYNC_SRQ,
	VHCA_ASYNC_PORT,
	VHCA_ASYNC_DEVICE,
};

enum vhca_async_kind vhca_async_kind(uint32_t type);

/* vhca_bits_take - clears 32 bits of the page, word from 0 to VHCA_EVENT_WORDS - 1: those set. */
uint32_t vhca_bits_take(void *page, unsigned int word);

struct vhca_async_front {
	struct xen_vhca_async_page *page;
	uint32_t cons;
};

void vhca_async_front_init(struct vhca_async_front *front, void *page);

/*
 * vhca_async_take - takes an event: 1 and *event, 0 if there is none, -EPROTO if the backend broke
 * the protocol: the ring must not be used again. The event can be anything.
 */
int vhca_async_take(struct vhca_async_front *front, struct xen_vhca_async_event *event);

#ifndef __KERNEL__ /* the backend is in user space */

/* vhca_bit_set - sets a bit, below XEN_VHCA_EVENT_BITS. Returns whether to notify. */
int vhca_bit_set(void *page, uint32_t bit);

struct vhca_async_back {
	struct xen_vhca_async_page *page;
	uint32_t prod, lost;
};

void vhca_async_back_init(struct vhca_async_back *back, void *page);

/* vhca_async_put - writes an event. Returns 0 if there is no room (or cons is nonsense), else 1. */
int vhca_async_put(struct vhca_async_back *back, const struct xen_vhca_async_event *event);

/* vhca_async_lost - counts an event that is dropped. */
void vhca_async_lost(struct vhca_async_back *back);

#endif

#endif
