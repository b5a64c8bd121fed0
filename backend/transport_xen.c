// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * transport_xen.c - the transport over Xen: gntdev, event channels, domctls.
 *
 * Grants are mapped by gntdev's ioctls and not by libxengnttab, because a region has to be one
 * contiguous range although its pages come in chunks, and the library chooses the address. Once a
 * chunk is mapped, the mapping itself holds gntdev's bookkeeping, so the index is given back at
 * once, and munmap() undoes all: there is no list of indexes that could be lost on the way.
 */
#define __XEN_TOOLS__ 1
#include <xenctrl.h> /* before any other header of Xen */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xen/sys/gntdev.h>
#include <xenevtchn.h>

#include "log.h"
#include "transport.h"
#include "vhca.h"

struct xen_transport {
	struct transport t;
	int gntdev;
	xenevtchn_handle *evtchn;
	xc_interface *xc;
	evtchn_port_t port[CHANNELS];
	bool bound[CHANNELS];
};

static struct xen_transport *to_xen(struct transport *t)
{
	return (struct xen_transport *)t;
}

/* Tells gntdev which grants are meant; *index is what to mmap. */
static int gntdev_announce(struct xen_transport *x, const uint32_t *refs, unsigned int n,
			   uint64_t *index)
{
	struct ioctl_gntdev_map_grant_ref *map;
	unsigned int i;
	int err = 0;

	map = malloc(sizeof(*map) + n * sizeof(map->refs[0]));
	if (!map)
		return -ENOMEM;
	map->count = n;
	map->pad = 0;
	for (i = 0; i < n; i++) {
		map->refs[i].domid = x->t.domid;
		map->refs[i].ref = refs[i];
	}
	if (ioctl(x->gntdev, IOCTL_GNTDEV_MAP_GRANT_REF, map))
		err = -errno;
	else
		*index = map->index;
	free(map);
	return err;
}

static int xen_map(struct transport *t, const uint32_t *refs, unsigned int n, bool read_only,
		   void *addr, void **mapped)
{
	struct xen_transport *x = to_xen(t);
	struct ioctl_gntdev_unmap_grant_ref unmap = { .count = n };
	int prot = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
	void *at;
	int err;

	*mapped = addr;
	err = gntdev_announce(x, refs, n, &unmap.index);
	if (err)
		return err;
	at = mmap(addr, (size_t)n * XEN_VHCA_PAGE_SIZE, prot, MAP_SHARED | (addr ? MAP_FIXED : 0),
		  x->gntdev, unmap.index);
	err = at == MAP_FAILED ? -errno : 0;
	/* With a mapping this drops the second reference, without one the only one. */
	ioctl(x->gntdev, IOCTL_GNTDEV_UNMAP_GRANT_REF, &unmap);
	*mapped = err ? NULL : at;
	return !err || err == -ENOMEM ? err : -EFAULT;
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

	xenevtchn_notify(x->evtchn, x->port[channel]);
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

static int permission(struct xen_transport *x, uint64_t mfn, int allow)
{
	return xc_domain_iomem_permission(x->xc, x->t.domid, mfn, 1, allow) ? -errno : 0;
}

static int xen_allow_frame(struct transport *t, uint64_t mfn, uint64_t gfn)
{
	struct xen_transport *x = to_xen(t);
	int err;

	err = permission(x, mfn, 1);
	if (err || !t->auto_translated)
		return err;
	if (!xc_domain_memory_mapping(x->xc, t->domid, gfn, mfn, 1, DPCI_ADD_MAPPING))
		return 0;
	err = -errno;
	permission(x, mfn, 0);
	return err;
}

/* A domain that is dying has lost its frames by itself, and Xen complains when asked to take them. */
static int xen_deny_frame(struct transport *t, uint64_t mfn, uint64_t gfn)
{
	struct xen_transport *x = to_xen(t);
	int err = 0;

	if (!transport_xen_alive(t))
		return 0;
	if (t->auto_translated &&
	    xc_domain_memory_mapping(x->xc, t->domid, gfn, mfn, 1, DPCI_REMOVE_MAPPING))
		err = -errno;
	return permission(x, mfn, 0) ?: err;
}

static void xen_close(struct transport *t)
{
	struct xen_transport *x = to_xen(t);
	unsigned int channel;

	for (channel = 0; channel < CHANNELS; channel++)
		if (x->bound[channel])
			xenevtchn_unbind(x->evtchn, x->port[channel]);
	xc_interface_close(x->xc);
	xenevtchn_close(x->evtchn);
	close(x->gntdev);
	free(x);
}

static const struct transport_ops xen_ops = {
	.map = xen_map,
	.bind = xen_bind,
	.fd = xen_fd,
	.notify = xen_notify,
	.pending = xen_pending,
	.done = xen_done,
	.allow_frame = xen_allow_frame,
	.deny_frame = xen_deny_frame,
	.close = xen_close,
};

bool transport_xen_alive(struct transport *t)
{
	xc_domaininfo_t info;

	if (xc_domain_getinfo_single(to_xen(t)->xc, t->domid, &info))
		return false;
	return !(info.flags & XEN_DOMINF_dying);
}

struct transport *transport_xen_open(uint32_t domid)
{
	struct xen_transport *x = calloc(1, sizeof(*x));
	xc_domaininfo_t info;

	if (!x)
		return NULL;
	x->t.ops = &xen_ops;
	x->t.domid = domid;
	x->gntdev = open("/dev/xen/gntdev", O_RDWR | O_CLOEXEC);
	if (x->gntdev < 0) {
		log_error("/dev/xen/gntdev: %s (is the module xen-gntdev loaded?)",
			  strerror(errno));
		goto err_free;
	}
	x->evtchn = xenevtchn_open(NULL, 0);
	if (!x->evtchn) {
		log_error("event channels: %s (is the module xen-evtchn loaded?)", strerror(errno));
		goto err_gntdev;
	}
	/* pending() must not sleep; poll() tells when there is something. */
	if (fcntl(xenevtchn_fd(x->evtchn), F_SETFL, O_NONBLOCK)) {
		log_error("event channels: %s", strerror(errno));
		goto err_evtchn;
	}
	x->xc = xc_interface_open(NULL, NULL, 0);
	if (!x->xc) {
		log_error("the hypervisor's interface: %s", strerror(errno));
		goto err_evtchn;
	}
	if (xc_domain_getinfo_single(x->xc, domid, &info)) {
		log_error("domain %u: %s", domid, strerror(errno));
		goto err_xc;
	}
	x->t.auto_translated = info.flags & XEN_DOMINF_hvm_guest;
	return &x->t;

err_xc:
	xc_interface_close(x->xc);
err_evtchn:
	xenevtchn_close(x->evtchn);
err_gntdev:
	close(x->gntdev);
err_free:
	free(x);
	return NULL;
}
