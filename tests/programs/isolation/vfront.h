/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vfront: the guest's side of a vHCA in user space, without xen-ibfront: pages from /dev/xen/gntalloc, an event channel from
 * /dev/xen/evtchn, xenstore. It behaves well as long as it is asked to; everything that can be wrong is open to its user.
 *
 * What does not matter works or ends the case, as in verbs_pair.h.
 */
#ifndef VFRONT_H
#define VFRONT_H

#include <xenevtchn.h>
#include <xengnttab.h>
#include <xenstore.h>

#include "check.h"
#include "vhca_response.h"
#include "vhca_check.h"
#include "vhca_event.h"
#include "vhca_ring.h"

#define VF_PAGE XEN_VHCA_PAGE_SIZE
#define VF_RING_PAGES (1u << XEN_VHCA_MAX_RING_PAGE_ORDER)
#define VF_PATH 128

/* States of a Xen device, as in xen/io/xenbus.h. */
enum vf_state {
	VF_UNKNOWN = 0,
	VF_INITIALISING = 1,
	VF_INIT_WAIT = 2,
	VF_INITIALISED = 3,
	VF_CONNECTED = 4,
	VF_CLOSING = 5,
	VF_CLOSED = 6,
};

/* Pages that are granted, in one piece. */
struct vf_pages {
	uint8_t *at;
	uint32_t *refs;
	unsigned int count;
};

/* What the daemon should have counted. */
struct vf_tally {
	unsigned int unknown, commands[XEN_VHCA_OPS], refused[XEN_VHCA_OPS][XEN_VHCA_STATUSES];
};

struct vfront {
	unsigned int devid, backend;
	char dir[VF_PATH], back_dir[VF_PATH];
	bool writable_grants; /* since it is offered: no others can be registered */
	struct xs_handle *xs;
	xengntshr_handle *gntshr;
	xenevtchn_handle *evtchn;

	unsigned int order, entries;
	struct vf_pages ring, directory, data;
	struct vhca_front front;
	evtchn_port_t port;

	bool wants_events; /* before it connects */
	struct vf_pages bits, asyncs;
	evtchn_port_t event_port;

	struct xen_vhca_device_attr attr;
	struct xen_vhca_req sent[VHCA_RING_MAX_ENTRIES];
	struct xen_vhca_rsp rsp[VHCA_RING_MAX_ENTRIES]; /* the last one of each id */
	bool busy[VHCA_RING_MAX_ENTRIES];
	unsigned int outstanding, next_id;
	struct vf_tally tally;
	size_t noise; /* a word of every message on the ring that somebody scribbles over, 0: none */
};

/* -- life -- */

/* Opens the devices and finds the vHCA in xenstore; ends the case as skipped if it is not there. */
void vf_open(struct vfront *v, unsigned int devid);
bool vf_exists(unsigned int devid);

/* Waits for InitWait; whatever connection there was is ended before. */
void vf_wait_offer(struct vfront *v);

/* Grants a ring of 2^order pages, data pages and directory, binds the event channels; nothing is published yet. */
void vf_prepare(struct vfront *v, unsigned int order);
void vf_publish(struct vfront *v);

/* All of that, up to Connected and the device's attributes. */
void vf_connect(struct vfront *v, unsigned int order);

/* Ends a connection in the good way: Closing, Closed, and the pages. */
void vf_disconnect(struct vfront *v);

/* The backend closes by itself: waits for that, copies its reason, follows it. */
void vf_wait_closed(struct vfront *v, char *reason, size_t size);

/* Ends grants and event channel, whether the backend has let go or not. */
void vf_release(struct vfront *v);
void vf_close(struct vfront *v);

/* -- xenstore -- */

void vf_write(struct vfront *v, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void vf_remove(struct vfront *v, const char *key);
void vf_set_state(struct vfront *v, enum vf_state state);
enum vf_state vf_backend_state(struct vfront *v);
void vf_expect_backend(struct vfront *v, enum vf_state state);

/* -- pages -- */

void vf_share(struct vfront *v, struct vf_pages *pages, unsigned int count, unsigned int domid,
	      bool writable);
void vf_unshare(struct vfront *v, struct vf_pages *pages);

/* -- commands -- */

/* Sends with an id that is free, without waiting; refs go into its data page. Returns the id. */
unsigned int vf_send(struct vfront *v, const struct xen_vhca_req *req, const uint32_t *refs,
		     unsigned int n);

/* Puts it on the ring as it is, whatever its id, and does not tell the backend. */
void vf_put_raw(struct vfront *v, const struct xen_vhca_req *req);
void vf_push(struct vfront *v);
void vf_kick(struct vfront *v);

/* Takes what has come. Waits until no more than @left are outstanding. */
void vf_collect(struct vfront *v, unsigned int left);

/* Sends and waits. The response is well formed, or the case ends. */
struct xen_vhca_rsp *vf_do(struct vfront *v, const struct xen_vhca_req *req);
struct xen_vhca_rsp *vf_do_refs(struct vfront *v, const struct xen_vhca_req *req,
				const uint32_t *refs, unsigned int n);

uint8_t *vf_data(struct vfront *v, unsigned int id);

#endif
