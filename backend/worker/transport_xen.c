// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * transport_xen.c - the transport over Xen: gntdev, event channels, xen-ibgrant, and the rest by the
 * broker.
 *
 * Grants are mapped by gntdev itself and not by libxengnttab, because a umem has to be one
 * contiguous range although its pages come in chunks, and the library chooses the address. Once a
 * chunk is mapped, the mapping itself holds gntdev's bookkeeping, so the index is given back at
 * once, and munmap() undoes all: there is no list of indexes that could be lost on the way.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xenevtchn.h>

#include "broker/client.h"
#include "hca/dma_check.h"
#include "shared-ring/vhca_request.h"
#include "util/log.h"
#include "vhca/transport.h"
#include "xen/ibgrant.h"
#include "xen/ibgrant_events.h"

struct xen_transport {
	struct transport t;
	int grants; /* xen/ibgrant.h, or -1 */
	int events; /* xen/ibgrant_events.h, or -1 */
	struct broker *broker;
	xenevtchn_handle *evtchn;
	evtchn_port_t port[CHANNELS];
	bool bound[CHANNELS];
};

static struct xen_transport *to_xen(struct transport *t)
{
	return (struct xen_transport *)t;
}

static int xen_map(struct transport *t, const uint32_t *refs, unsigned int n, bool read_only,
		   void *addr, void **mapped)
{
	struct xen_transport *x = to_xen(t);
	int prot = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
	uint64_t index;
	void *at;
	int err;

	*mapped = addr;
	err = broker_map(x->broker, refs, n, &index);
	if (err)
		return err;
	at = mmap(addr, (size_t)n * XEN_VHCA_PAGE_SIZE, prot, MAP_SHARED | (addr ? MAP_FIXED : 0),
		  broker_gntdev(x->broker), index);
	err = at == MAP_FAILED ? -errno : 0;
	/* With a mapping this drops the second reference, without one the only one. */
	broker_mapped(x->broker, index, n);
	*mapped = err ? NULL : at;
	return !err || err == -ENOMEM ? err : -EFAULT;
}

static int xen_dmabuf_create(struct transport *t, uint32_t pages, bool read_only)
{
	return ibgrant_create(to_xen(t)->grants, pages, read_only);
}

/* What is wrong with a reference is the guest's matter; what there is too little of, the host's. */
static int xen_dmabuf_add(struct transport *t, int dmabuf, uint32_t first, const uint32_t *refs,
			  unsigned int n)
{
	int err = ibgrant_add(to_xen(t)->grants, dmabuf, first, refs, n);

	return !err ? 0 : err == -ENOMEM || err == -ENOSPC ? -ENOMEM : -EFAULT;
}

static int xen_dmabuf_range(struct transport *t, int dmabuf, uint32_t first, uint32_t pages)
{
	return ibgrant_range(to_xen(t)->grants, dmabuf, first, pages);
}

static int xen_bind(struct transport *t, enum transport_channel channel, uint32_t port)
{
	struct xen_transport *x = to_xen(t);
	xenevtchn_port_or_error_t local;

	local = xenevtchn_bind_interdomain(x->evtchn, t->domid, port);
	if (local < 0)
		return -errno;
	x->port[channel] = local;
	x->bound[channel] = true;
	return 0;
}

static int xen_fd(struct transport *t)
{
	return xenevtchn_fd(to_xen(t)->evtchn);
}

static void xen_notify(struct transport *t, enum transport_channel channel)
{
	struct xen_transport *x = to_xen(t);

	if (channel >= CHANNEL_EVENTS && x->events >= 0)
		ibgrant_notify(x->events, channel - CHANNEL_EVENTS);
	else
		xenevtchn_notify(x->evtchn, x->port[channel]);
}

/* Channels that the module has bound cannot be bound here any more, nor need they. */
static int xen_events_open(struct transport *t, uint32_t bits, const uint32_t *ports,
			   unsigned int vectors)
{
	struct xen_transport *x = to_xen(t);

	x->events = ibgrant_events_open(x->grants, bits, ports, vectors);
	return x->events < 0 ? x->events : 0;
}

static void xen_events_close(struct transport *t)
{
	struct xen_transport *x = to_xen(t);

	close(x->events);
	x->events = -1;
}

static int xen_watch(struct transport *t, int channel, uint32_t bit, uint32_t vector)
{
	return ibgrant_watch(to_xen(t)->events, channel, bit, vector);
}

static void xen_unwatch(struct transport *t, uint32_t watch)
{
	ibgrant_unwatch(to_xen(t)->events, watch);
}

static int xen_events_fd(struct transport *t)
{
	return to_xen(t)->events;
}

static unsigned int xen_unread(struct transport *t, uint32_t *watches, unsigned int n)
{
	return ibgrant_unread(to_xen(t)->events, watches, n);
}

static void xen_told(struct transport *t, struct transport_told *told)
{
	ibgrant_told(to_xen(t)->events, told);
}

/*
 * A channel that is not unmasked again stays silent, so a guest that rings where it has nothing to
 * ring is heard just once.
 */
static int xen_pending(struct transport *t)
{
	struct xen_transport *x = to_xen(t);
	xenevtchn_port_or_error_t port = xenevtchn_pending(x->evtchn);

	if (port >= 0)
		return (evtchn_port_t)port == x->port[CHANNEL_COMMANDS];
	return errno == EAGAIN ? 0 : -errno;
}

/* Unmasking is the end of interrupt: Xen delivers nothing in between, however often it is rung. */
static void xen_done(struct transport *t)
{
	struct xen_transport *x = to_xen(t);

	xenevtchn_unmask(x->evtchn, x->port[CHANNEL_COMMANDS]);
}

static int xen_uar_alloc(struct transport *t, uint32_t type, uint64_t gfn, struct hca_uar *uar)
{
	return broker_uar_alloc(to_xen(t)->broker, type, gfn, uar);
}

static int xen_uar_free(struct transport *t, uint32_t index)
{
	return broker_uar_free(to_xen(t)->broker, index);
}

static int xen_uar_reset(struct transport *t)
{
	return broker_uar_reset(to_xen(t)->broker);
}

static void xen_close(struct transport *t)
{
	struct xen_transport *x = to_xen(t);
	unsigned int channel;

	for (channel = 0; channel < CHANNELS; channel++)
		if (x->bound[channel])
			xenevtchn_unbind(x->evtchn, x->port[channel]);
	xenevtchn_close(x->evtchn);
	if (x->grants >= 0)
		close(x->grants);
	free(x);
}

static const struct transport_ops xen_ops = {
	.map = xen_map,
	.dmabuf_create = xen_dmabuf_create,
	.dmabuf_add = xen_dmabuf_add,
	.dmabuf_range = xen_dmabuf_range,
	.bind = xen_bind,
	.fd = xen_fd,
	.notify = xen_notify,
	.events_open = xen_events_open,
	.events_close = xen_events_close,
	.watch = xen_watch,
	.unwatch = xen_unwatch,
	.events_fd = xen_events_fd,
	.unread = xen_unread,
	.told = xen_told,
	.pending = xen_pending,
	.done = xen_done,
	.uar_alloc = xen_uar_alloc,
	.uar_free = xen_uar_free,
	.uar_reset = xen_uar_reset,
	.close = xen_close,
};

bool transport_xen_alive(struct transport *t)
{
	bool unused;

	/* A broker that died does not make the domain go. */
	return broker_domain(to_xen(t)->broker, &unused) != -ESRCH;
}

/*
 * Linux before 6.2 pins for writing whatever an HCA is to read (FOLL_FORCE in ib_umem_get()), which a
 * read-only mapping of grants refuses.
 */
static bool kernel_pins_for_writing(void)
{
	unsigned int major, minor;
	struct utsname name;

	return !uname(&name) && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major < 6 || (major == 6 && minor < 2));
}

/* Where this domain has no such module, all memory is mapped by gntdev. */
static void open_grants(struct xen_transport *x, uint64_t bytes)
{
	x->grants = ibgrant_open(x->t.domid, x->t.auto_translated, bytes / XEN_VHCA_PAGE_SIZE);
	x->t.dmabuf_read_only = x->t.auto_translated || !dma_domain_is_pv();
	if (x->grants >= 0)
		x->t.dmabuf_pages = XEN_IBGRANT_MAX_PAGES;
	else if (x->grants != -ENOENT)
		log_warning("no dma-bufs: " XEN_IBGRANT_DEVICE ": %s", strerror(-x->grants));
}

struct transport *transport_xen_open(uint32_t domid, struct broker *broker, uint64_t bytes,
				     bool *gone)
{
	struct xen_transport *x = calloc(1, sizeof(*x));
	int err;

	if (!x)
		return NULL;
	x->t.ops = &xen_ops;
	x->t.domid = domid;
	x->t.map_writable = kernel_pins_for_writing();
	x->events = -1;
	x->broker = broker;
	err = broker_domain(broker, &x->t.auto_translated);
	*gone = err == -ESRCH;
	if (err) {
		if (!*gone)
			log_error("domain %u: %s", domid, strerror(-err));
		goto err_free;
	}
	x->evtchn = xenevtchn_open(NULL, 0);
	if (!x->evtchn) {
		log_error("event channels: %s (is the module xen-evtchn loaded?)", strerror(errno));
		goto err_free;
	}
	/* pending() must not sleep; poll() tells when there is something. */
	if (fcntl(xenevtchn_fd(x->evtchn), F_SETFL, O_NONBLOCK) ||
	    xenevtchn_restrict(x->evtchn, domid)) {
		log_error("event channels: %s", strerror(errno));
		goto err_evtchn;
	}
	open_grants(x, bytes);
	return &x->t;

err_evtchn:
	xenevtchn_close(x->evtchn);
err_free:
	free(x);
	return NULL;
}
