/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * frontend.h - reads what the frontend has published in xenstore: once, into our own copy. Of it
 * nothing is checked but that it is there, and is a number in its range.
 *
 * dir is the frontend's directory. Both return NULL, or what is not valid, for people.
 */
#ifndef XEN_IB_WORKER_FRONTEND_H
#define XEN_IB_WORKER_FRONTEND_H

#include <stdbool.h>

#include "vhca/events.h"
#include "worker/ring.h"
#include "xen/xenbus.h"

/* frontend_read_ring - what the ring needs; checks the version, too. */
const char *frontend_read_ring(struct xs_handle *xs, const char *dir, struct ring_params *params);

/* frontend_read_events - all of it, or none: *wanted is false, for a frontend that wants no events. */
const char *frontend_read_events(struct xs_handle *xs, const char *dir,
				 struct events_params *params, bool *wanted);

#endif
