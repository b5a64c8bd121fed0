/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * events.h - tells the guest what happens to its CQs, QPs and SRQs, and to the port.
 *
 * A thread of its own reads the event descriptors of all contexts, always to their end: what waits
 * there is kept by the kernel of this domain, and must not grow because a guest is slow. Nor may it
 * because a guest is fast: an honest one cannot keep the thread busy for long, as its processes arm
 * their CQs after they have heard of the last event. One that can is closed.
 *
 * Every event names its object by the guest's handle. A handle that is no object's any more is
 * ignored; from the moment that an object's destruction has begun, nothing new is said of it.
 *
 * Completion events become bits. Asynchronous events go to the ring; while that is full they wait
 * in a mask of their object, so they take no memory, and the thread looks from time to time if
 * there is room, less and less often. shared-ring/vhca_event.h has the pages from both ends.
 *
 * Queues that end in an error are counted, also of a guest that wants to hear of nothing: see
 * vhca_fault(). One that has too many of them is closed.
 */
#ifndef XEN_IB_VHCA_EVENTS_H
#define XEN_IB_VHCA_EVENTS_H

#include <stddef.h>

#include "shared-ring/vhca_event_pages.h"
#include "vhca/vhca.h"

struct events;

/* What the frontend has published; nothing of it has been checked. */
struct events_params {
	uint32_t cq_ref, async_ref;
	uint32_t vectors; /* 1 to XEN_VHCA_MAX_EVENT_VECTORS: this has been checked */
	uint32_t channels[XEN_VHCA_MAX_EVENT_VECTORS];
};

/*
 * events_new - maps the pages, binds the event channel, starts the thread. Becomes v->events while
 * no command is at work. NULL, with the reason in why.
 * @params: NULL: the guest wants to hear of nothing
 */
struct events *events_new(struct vhca *v, const struct events_params *params, char *why,
			  size_t size);

/* events_free - after the last command, before vhca_fini(). NULL is fine. */
void events_free(struct events *events);

/* events_watch - from now on the context's events are told. It ends when its descriptors close. */
int events_watch(struct events *events, const struct context *ctx);

/* events_told - whether the guest wants to hear of events. NULL is fine. */
bool events_told(const struct events *events);

/* events_vector - the event vector that the bit belongs to. */
uint32_t events_vector(const struct events *events, uint32_t bit);

/*
 * events_look - reads what the context has to say of its queues now, in the caller's thread: before
 * that is lost as a queue or the context is destroyed. The caller uses the context.
 */
void events_look(struct events *events, struct context *ctx);

/* events_flood_fd - becomes readable when the guest is to be closed, as above. */
int events_flood_fd(const struct events *events);

/*
 * events_counted_fd - an eventfd that becomes readable when there are events, or what events_count() was
 * called for, that the status file does not tell of. The caller reads it, and calls status_update(), after
 * which it may again.
 */
int events_counted_fd(const struct events *events);

/* events_count - something else was counted. NULL is fine. Takes the lock. */
void events_count(struct events *events);

/*
 * events_mads_fd - to poll for MADs that have come and that the guest does not know of; -1: nobody wants
 * to. events_mads: tells it, when there are some. NULL is fine for the first.
 */
int events_mads_fd(struct events *events);
void events_mads(struct events *events);

/* events_port - an event of the port or the device, enum xen_vhca_async_type. */
void events_port(struct events *events, uint32_t type);

#endif
