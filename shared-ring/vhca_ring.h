/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhca_ring.h - the command ring, from both ends, on top of Xen's ring macros.
 *
 * What the macros leave to their user is done here once: a message is copied out of shared memory
 * exactly once, a producer index that overflows is an error for good, and the ids of outstanding
 * requests are tracked, so that no id is in use twice and no response comes unasked. Notifying the
 * peer is the caller's part. Neither end may be used by two threads at once.
 *
 * -EPROTO from any function means that the peer broke the protocol: the ring must not be used
 * again.
 */
#ifndef XEN_IB_VHCA_RING_H
#define XEN_IB_VHCA_RING_H

#ifdef __KERNEL__
#include <asm/barrier.h>
#include <xen/interface/io/ring.h>
#define xen_rmb() virt_rmb()
#else
/* The present version of Xen's headers, not the one of before 3.2.8. */
#ifndef __XEN_TOOLS__
#define __XEN_TOOLS__ 1
#endif
#include <stdint.h>
#include <string.h>
/*
 * Xen's header leaves the barriers to its user. Between a domain's processors and another's the
 * memory model is the one between threads.
 */
#define xen_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define xen_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define xen_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#include <xen/io/ring.h>
#endif

#include "vhca_response.h"

DEFINE_RING_TYPES(xen_vhca, struct xen_vhca_req, struct xen_vhca_rsp);

/* A ring of 2^XEN_VHCA_MAX_RING_PAGE_ORDER pages has fewer entries than this. */
#define VHCA_RING_MAX_ENTRIES 256u
#define VHCA_RING_BITMAP (VHCA_RING_MAX_ENTRIES / 32)

/* The outstanding ids of one end. */
struct vhca_ids {
	uint32_t bits[VHCA_RING_BITMAP];
};

struct vhca_back {
	struct xen_vhca_back_ring ring;
	struct vhca_ids outstanding;
};

struct vhca_front {
	struct xen_vhca_front_ring ring;
	struct vhca_ids outstanding;
};

/* vhca_ring_entries - RING_SIZE of a ring of 2^order pages, at most VHCA_RING_MAX_ENTRIES. */
unsigned int vhca_ring_entries(unsigned int order);

/* Attach to the shared pages. The frontend's function initialises them as well. */
void vhca_back_init(struct vhca_back *back, void *shared, unsigned int order);
void vhca_front_init(struct vhca_front *front, void *shared, unsigned int order);

/* vhca_back_next - takes a request: 1 and *req, 0 if there is none, -EPROTO. */
int vhca_back_next(struct vhca_back *back, struct xen_vhca_req *req);

/*
 * vhca_back_peek - the operation of the request that seems to be the next; 0: there is none. It is
 * a hint, as the frontend may change it until it is taken. Asks for no notification.
 */
unsigned int vhca_back_peek(const struct vhca_back *back);

/*
 * vhca_back_put - puts a response, which is not visible before vhca_back_push(). Its id must be one
 * of a request that was taken and not answered.
 */
void vhca_back_put(struct vhca_back *back, const struct xen_vhca_rsp *rsp);

/* vhca_back_push - makes responses visible. Returns whether the frontend wants to be notified. */
int vhca_back_push(struct vhca_back *back);

/*
 * vhca_back_more - to be called before sleeping: asks for a notification with the next request, and
 * returns whether one has come in the meantime.
 */
int vhca_back_more(struct vhca_back *back);

/* vhca_front_put - puts a request: 0, -EBUSY if its id is in use, -EINVAL if it is out of range. */
int vhca_front_put(struct vhca_front *front, const struct xen_vhca_req *req);

/*
 * vhca_front_unpost - takes XEN_VHCA_REQ_POSTED from the request that was put last, which
 * vhca_front_push() has not shown yet.
 */
void vhca_front_unpost(struct vhca_front *front);

/* vhca_front_push, vhca_front_more - as vhca_back_push() and vhca_back_more(). */
int vhca_front_push(struct vhca_front *front);
int vhca_front_more(struct vhca_front *front);

/* vhca_front_next - takes a response to an outstanding request: 1 and *rsp, 0, -EPROTO. */
int vhca_front_next(struct vhca_front *front, struct xen_vhca_rsp *rsp);

#endif
