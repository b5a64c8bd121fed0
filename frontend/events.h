/* SPDX-License-Identifier: GPL-2.0 */
/*
 * events.h - what the backend tells of CQs, QPs, SRQs, the port and the device: two shared pages
 * and event channels (vhca_event_pages.h).
 *
 * A pointer to the events of a device may be NULL: the backend has none, or they are not wanted.
 * Then nothing is ever told, and all functions here do nothing.
 */
#ifndef XENIB_EVENTS_H
#define XENIB_EVENTS_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>
#include <xen/xenbus.h>

#include "vhca_event.h"
#include "vhca_request.h"

struct xenib_events;

/*
 * Pages and event channel, shared with the backend of this device. fault is called when the backend
 * breaks the protocol; nothing is told any more then. Returns an ERR_PTR.
 */
struct xenib_events *xenib_events_create(struct xenbus_device *xbdev, unsigned int vectors,
					 void (*fault)(void *context), void *context);

/* How many completion vectors there are, each with an event channel, served by a CPU of its own. */
unsigned int xenib_events_vectors(const struct xenib_events *events);

/* Ends the grants (pages still in use by the peer are never reused) and frees. */
void xenib_events_destroy(struct xenib_events *events);

/* Writes the nodes into the frontend's directory; without events, removes those of before. */
int xenib_events_publish(struct xenib_events *events, struct xenbus_device *xbdev,
			 struct xenbus_transaction xbt);

/*
 * From start to stop, asynchronous events are told to whoever uses the device; those of the port
 * and the device to stop_port only. That comes before the device is unregistered, and stop between
 * that and its end: those who end their QPs as the device goes need to hear of them still.
 */
void xenib_events_start(struct xenib_events *events, struct ib_device *ibdev);
void xenib_events_stop_port(struct xenib_events *events);
void xenib_events_stop(struct xenib_events *events);

/* Completion events */

/*
 * A bit for a CQ that is going to be made, or XEN_VHCA_NO_EVENT. It is given back when the backend
 * does not have the CQ any more. It is of this vector, unless all of that one are taken. -ENOMEM.
 */
int xenib_events_take_bit(struct xenib_events *events, unsigned int vector, u32 *bit);
void xenib_events_give_bit(struct xenib_events *events, u32 bit);

struct xenib_cq;

/*
 * The completion handler of this CQ is called for that bit, perhaps in interrupt context; with
 * NULL, no CQ's, and once this has returned, the handler is not running either.
 */
void xenib_events_set_cq(struct xenib_events *events, u32 bit, struct xenib_cq *cq);

/* Asynchronous events */

/* Part of an object that can have them. */
struct xenib_event_obj {
	struct hlist_node node;
	xen_vhca_handle_t handle;
	enum vhca_async_kind kind;
	u32 told; /* types of events, a bit each: events.c */
	union {
		struct ib_cq *cq;
		struct ib_qp *qp;
		struct ib_srq *srq;
	};
};

/*
 * From add to remove, the object's event handler is called for its events. Once remove has
 * returned, it is not running.
 */
void xenib_events_add(struct xenib_events *events, struct xenib_event_obj *obj);
void xenib_events_remove(struct xenib_events *events, struct xenib_event_obj *obj);

/*
 * The object is going to be modified: events of types that were told already can be told again.
 * Each is told once until then.
 */
void xenib_events_again(struct xenib_events *events, struct xenib_event_obj *obj);

/* Tells a QP that its last WQE of an SRQ is reached, unless the backend has done that already. */
void xenib_events_last_wqe(struct xenib_events *events, struct xenib_event_obj *obj);

/* Counted since the device connected. */
enum xenib_events_count {
	XENIB_EVENTS_COMPLETIONS, /* CQs that were told */
	XENIB_EVENTS_ASYNCS,      /* asynchronous events that were told */
	XENIB_EVENTS_IGNORED,     /* of CQs and objects that there are none, or of unknown type */
	XENIB_EVENTS_REPEATED,    /* not told, as nothing has become of the one before */
	XENIB_EVENTS_LOST,        /* as the backend says */
	XENIB_EVENTS_SPURIOUS,    /* interrupts without anything */
	XENIB_EVENTS_COUNTS
};

u64 xenib_events_count(struct xenib_events *events, enum xenib_events_count which);

#endif
