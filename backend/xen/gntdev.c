// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * gntdev.c - see gntdev.h.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <xen/sys/gntdev.h>

#include "shared-ring/vhca_request.h"
#include "xen/gntdev.h"

int gntdev_map(int fd, uint32_t domid, const uint32_t *refs, uint32_t n, uint64_t *index)
{
	static union {
		struct ioctl_gntdev_map_grant_ref map;
		char room[sizeof(struct ioctl_gntdev_map_grant_ref) +
			  XEN_VHCA_DATA_REFS * sizeof(struct ioctl_gntdev_grant_ref)];
	} grants;
	uint32_t i;

	if (!n || n > XEN_VHCA_DATA_REFS)
		return -EINVAL;
	grants.map.count = n;
	grants.map.pad = 0;
	for (i = 0; i < n; i++) {
		grants.map.refs[i].domid = domid;
		grants.map.refs[i].ref = refs[i];
	}
	if (ioctl(fd, IOCTL_GNTDEV_MAP_GRANT_REF, &grants.map))
		return -errno;
	*index = grants.map.index;
	return 0;
}

int gntdev_unmap(int fd, uint64_t index, uint32_t n)
{
	struct ioctl_gntdev_unmap_grant_ref unmap = { .index = index, .count = n };

	return ioctl(fd, IOCTL_GNTDEV_UNMAP_GRANT_REF, &unmap) ? -errno : 0;
}
