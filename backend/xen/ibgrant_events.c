// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibgrant_events.c - see ibgrant_events.h.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "modules/xen-ibgrant/xen-ibgrant.h"
#include "shared-ring/vhca_event_pages.h"
#include "xen/ibgrant_events.h"

static_assert(XEN_IBGRANT_EVENT_BITS == XEN_VHCA_EVENT_BITS, "bits of a page");
static_assert(XEN_IBGRANT_MAX_VECTORS == XEN_VHCA_MAX_EVENT_VECTORS, "vectors");
static_assert(XEN_IBGRANT_BUCKETS == HISTOGRAM_BUCKETS, "buckets");

int ibgrant_events_open(int grants, uint32_t bits, const uint32_t *ports, unsigned int vectors)
{
	struct xen_ibgrant_events arg = { .bits = bits, .vectors = vectors };
	int fd;

	if (grants < 0)
		return -EOPNOTSUPP;
	memcpy(arg.ports, ports, vectors * sizeof(*ports));
	fd = ioctl(grants, XEN_IBGRANT_EVENTS, &arg);
	if (fd >= 0)
		return fd;
	return errno == ENOTTY ? -EOPNOTSUPP : -errno;
}

int ibgrant_watch(int fd, int channel, uint32_t bit, uint32_t vector)
{
	struct xen_ibgrant_watch arg = { .fd = channel, .bit = bit, .vector = vector };

	return ioctl(fd, XEN_IBGRANT_WATCH, &arg) ? -errno : (int)arg.watch;
}

void ibgrant_unwatch(int fd, uint32_t watch)
{
	ioctl(fd, XEN_IBGRANT_UNWATCH, (unsigned long)watch);
}

void ibgrant_notify(int fd, uint32_t vector)
{
	ioctl(fd, XEN_IBGRANT_NOTIFY, (unsigned long)vector);
}

unsigned int ibgrant_unread(int fd, uint32_t *watches, unsigned int n)
{
	ssize_t got = read(fd, watches, n * sizeof(*watches));

	return got > 0 ? got / sizeof(*watches) : 0;
}

void ibgrant_told(int fd, struct transport_told *told)
{
	struct xen_ibgrant_event_stats stats;
	const struct xen_ibgrant_times *t = &stats.notified;

	if (ioctl(fd, XEN_IBGRANT_EVENT_STATS, &stats))
		return;
	told->completions = stats.completions;
	told->notified = (struct histogram){
		.count = t->count,
		.sum_ns = t->sum_ns,
		.max_ns = t->max_ns,
	};
	memcpy(told->notified.buckets, t->buckets, sizeof(t->buckets));
}
