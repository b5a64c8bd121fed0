/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * transport.h - what the daemon needs of the machine between it and a guest: the guest's pages, its
 * event channel, and pages of the HCA that it can map.
 *
 * There are two: Xen (worker/transport_xen.c), and plain shared memory for the tests and fuzzers, where
 * grant references are page numbers of a file (unit/transport_shm.c).
 */
#ifndef XEN_IB_VHCA_TRANSPORT_H
#define XEN_IB_VHCA_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "hca/hca.h"
#include "shared-ring/vhca_event_pages.h"
#include "util/histogram.h"

struct transport;

enum transport_channel {
	CHANNEL_COMMANDS, /* both directions */
	CHANNEL_EVENTS,   /* to the guest, one for each vector; what it sends here is not heard */
	CHANNELS = CHANNEL_EVENTS + XEN_VHCA_MAX_EVENT_VECTORS
};

/* Events that the transport has told of itself. */
struct transport_told {
	uint64_t completions;
	struct histogram notified; /* from the event to telling the guest */
};

struct transport_ops {
	/*
	 * Maps n pages, named by grant references, to addr (page aligned, replacing what is there),
	 * or anywhere if addr is NULL. All of them or none. *mapped: where. Undone by munmap() of
	 * exactly this range. Thread safe. 0; -EFAULT: a reference cannot be mapped; -ENOMEM. After
	 * an error *mapped is addr if what was there is still there, NULL if nothing is any more.
	 */
	int (*map)(struct transport *t, const uint32_t *refs, unsigned int n, bool read_only,
		   void *addr, void **mapped);

	/*
	 * Of a transport that has dma-bufs. They own the guest's pages, which no process has mapped:
	 * dmabuf_create: one of so many pages (up to dmabuf_pages), a descriptor or -errno;
	 * dmabuf_add: maps n pages from first on, as map() does; all of them or none;
	 * dmabuf_range: another one that is a part of one that is complete, a descriptor or -errno.
	 */
	int (*dmabuf_create)(struct transport *t, uint32_t pages, bool read_only);
	int (*dmabuf_add)(struct transport *t, int dmabuf, uint32_t first, const uint32_t *refs,
			  unsigned int n);
	int (*dmabuf_range)(struct transport *t, int dmabuf, uint32_t first, uint32_t pages);

	/* Binds an event channel; notifies (thread safe); the descriptor to poll for commands. */
	int (*bind)(struct transport *t, enum transport_channel channel, uint32_t port);
	void (*notify)(struct transport *t, enum transport_channel channel);
	int (*fd)(struct transport *t);

	/*
	 * Of a transport that tells the guest of completions itself, as they come: of CQs that have
	 * a completion channel each. Others say -EOPNOTSUPP, and all that follows is not called.
	 * events_open: instead of bind() for the channels of events: maps the page of bits, too;
	 * events_close: none of that is there any more, and no watch;
	 * watch: from now on, what comes to the channel sets a bit and notifies the guest. Its name,
	 * a small number, or -errno. Once unwatch() has returned nothing is told of it any more.
	 * What comes to a channel stays there until it is read. events_fd is readable when there is
	 * much of that, or it is old; unread says which watches have something, n at most.
	 * All thread safe.
	 */
	int (*events_open)(struct transport *t, uint32_t bits, const uint32_t *ports,
			   unsigned int vectors);
	void (*events_close)(struct transport *t);
	int (*watch)(struct transport *t, int channel, uint32_t bit, uint32_t vector);
	void (*unwatch)(struct transport *t, uint32_t watch);
	int (*events_fd)(struct transport *t);
	unsigned int (*unread)(struct transport *t, uint32_t *watches, unsigned int n);
	void (*told)(struct transport *t, struct transport_told *told);

	/*
	 * Takes a pending event for commands: 1 if there was one, 0, -errno. Another one does not
	 * come before done(), which is called once the ring has been looked at.
	 */
	int (*pending)(struct transport *t);
	void (*done)(struct transport *t);

	/*
	 * A doorbell page of this type (enum xen_vhca_uar_type) that the guest can map, until it is
	 * freed. gfn: where an auto-translated guest wants it; else 0. A PV guest's mapping outlives
	 * the permission, so nobody else gets the page while the guest lives. Thread safe. 0 or
	 * -errno: -EEXIST: the guest has one at this gfn; -EXFULL: so many have been used already.
	 */
	int (*uar_alloc)(struct transport *t, uint32_t type, uint64_t gfn, struct hca_uar *uar);
	int (*uar_free)(struct transport *t, uint32_t index);
	/* A connection begins: the guest can map none. */
	int (*uar_reset)(struct transport *t);

	void (*close)(struct transport *t);
};

struct transport {
	const struct transport_ops *ops;
	uint32_t domid;
	bool auto_translated;  /* HVM or PVH: the guest has no machine frames */
	uint32_t dmabuf_pages; /* that a dma-buf may have; 0: it has no dma-bufs */
	bool dmabuf_read_only; /* there are such of pages that can only be read */
	bool map_writable;     /* what is mapped to be read cannot be registered */
};

/*
 * transport_xen_open - to the broker's domain, while it is root; NULL with a line in the log, or if that
 * domain is gone.
 * @bytes: of the guest's that may be in dma-bufs at once
 * @gone: whether it is
 */
struct broker;
struct transport *transport_xen_open(uint32_t domid, struct broker *broker, uint64_t bytes,
				     bool *gone);

/* transport_xen_alive - whether the domain exists and is not being destroyed. */
bool transport_xen_alive(struct transport *t);

#endif
