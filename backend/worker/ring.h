/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * ring.h - the command ring of a connected vHCA: takes requests, has them done, answers.
 *
 * A quick command is done at once, in the thread of the ring. While others follow it, or are at work,
 * those for which the HCA is waited for are given to threads, so that it has several at a time. Slow ones, which
 * map or register much, or undo that, have threads of their own, and hold up nobody.
 */
#ifndef XEN_IB_WORKER_RING_H
#define XEN_IB_WORKER_RING_H

#include "shared-ring/vhca_request.h"
#include "vhca/transport.h"
#include "vhca/vhca.h"

struct ring;

/* What the frontend has published, as it stands in xenstore: nothing of it has been checked. */
struct ring_params {
	unsigned int ring_order;
	uint32_t ring_refs[1 << XEN_VHCA_MAX_RING_PAGE_ORDER];
	uint32_t data_dir_ref;
	uint32_t event_channel;
};

/*
 * ring_new - maps ring and data pages, binds the event channel. The vhca and its transport
 * belong to the caller. NULL, with the reason in why.
 */
struct ring *ring_new(struct vhca *v, const struct ring_params *params, char *why, size_t size);

/*
 * ring_free - waits for the commands that are at work, answers nobody any more, and unmaps.
 * After this vhca_fini() may be called. NULL is fine.
 */
void ring_free(struct ring *ring);

/* ring_fd - the descriptor to poll for input, after which ring_service() is to be called. */
int ring_fd(const struct ring *ring);

/*
 * ring_service - does what there is to do, up to a bound. Returns 1 if there is more, 0 if not,
 * and -EPROTO if the guest broke the ring: the ring must be ended.
 */
int ring_service(struct ring *ring);

/*
 * ring_timeout_ms - in how many milliseconds ring_service() is to be called although nothing
 * came; -1: not at all.
 */
int ring_timeout_ms(const struct ring *ring);

#endif
