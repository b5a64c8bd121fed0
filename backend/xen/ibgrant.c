// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibgrant.c - see ibgrant.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "xen/ibgrant.h"

int ibgrant_open(uint32_t domid, bool translated, uint64_t pages)
{
	struct xen_ibgrant_bind bind = {
		.domid = domid,
		.flags = translated ? XEN_IBGRANT_TRANSLATED : 0,
		.pages = pages < UINT32_MAX ? pages : UINT32_MAX,
	};
	int fd = open(XEN_IBGRANT_DEVICE, O_RDWR | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	if (!ioctl(fd, XEN_IBGRANT_BIND, &bind))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int ibgrant_create(int fd, uint32_t pages, bool read_only)
{
	struct xen_ibgrant_create create = {
		.pages = pages,
		.flags = read_only ? XEN_IBGRANT_READ_ONLY : 0,
	};

	return ioctl(fd, XEN_IBGRANT_CREATE, &create) ? -errno : create.fd;
}

int ibgrant_add(int fd, int dmabuf, uint32_t first, const uint32_t *refs, uint32_t n)
{
	struct xen_ibgrant_add add = {
		.fd = dmabuf,
		.first = first,
		.count = n,
		.refs = (uintptr_t)refs,
	};

	return ioctl(fd, XEN_IBGRANT_ADD, &add) ? -errno : 0;
}

int ibgrant_range(int fd, int dmabuf, uint32_t first, uint32_t pages)
{
	struct xen_ibgrant_range range = { .fd = dmabuf, .first = first, .count = pages };

	return ioctl(fd, XEN_IBGRANT_RANGE, &range) ? -errno : range.range;
}
