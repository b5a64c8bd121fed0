// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * gsi.c - see gsi.h.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "hca/gsi.h"
#include "modules/xen-ibgsi/xen-ibgsi.h"

/* What the module says is what the guest is told. */
static_assert(sizeof(struct xen_ibgsi_mad) == sizeof(struct xen_vhca_mad), "same size");
static_assert(offsetof(struct xen_ibgsi_mad, slid) == offsetof(struct xen_vhca_mad, slid),
	      "same place");
static_assert(offsetof(struct xen_ibgsi_mad, pkey_index) ==
		      offsetof(struct xen_vhca_mad, pkey_index),
	      "same place");
static_assert(offsetof(struct xen_ibgsi_mad, has_grh) == offsetof(struct xen_vhca_mad, has_grh),
	      "same place");
static_assert(offsetof(struct xen_ibgsi_mad, mad) == offsetof(struct xen_vhca_mad, mad),
	      "same place");

int gsi_open(const char *hca, unsigned int port, uint32_t domid, uint64_t guid,
	     const struct pkeys *pkeys)
{
	struct xen_ibgsi_attach to = {
		.port = port,
		.domid = domid,
		.node_guid = htobe64(guid),
	};
	int fd, err;

	static_assert(sizeof(to.pkeys) == sizeof(pkeys->bits), "as many");
	if (pkeys->given)
		memcpy(to.pkeys, pkeys->bits, sizeof(to.pkeys));
	else
		memset(to.pkeys, 0xff, sizeof(to.pkeys));

	if (snprintf(to.device, sizeof(to.device), "%s", hca) >= (int)sizeof(to.device))
		return -ENAMETOOLONG;
	fd = open(XEN_IBGSI_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!ioctl(fd, XEN_IBGSI_ATTACH, &to))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int gsi_alias(int fd, unsigned int wait_ms, unsigned int *index)
{
	struct xen_ibgsi_alias alias = { .wait_ms = wait_ms };

	if (ioctl(fd, XEN_IBGSI_ALIAS, &alias))
		return -errno;
	*index = alias.index;
	return 0;
}

int gsi_service(int fd, uint64_t id)
{
	const uint64_t to = htobe64(id);

	return ioctl(fd, XEN_IBGSI_SERVICE, &to) ? -errno : 0;
}

int gsi_send(int fd, const struct xen_vhca_mad_send *way, const void *mad)
{
	const struct xen_vhca_av *av = &way->av;
	struct xen_ibgsi_send send = {
		.flow_label = av->flow_label,
		.dlid = av->dlid,
		.pkey_index = way->pkey_index,
		.sl = av->sl,
		.has_grh = av->is_global,
		.hop_limit = av->hop_limit,
		.traffic_class = av->traffic_class,
	};

	memcpy(send.dgid, av->dgid, sizeof(send.dgid));
	memcpy(send.mad, mad, sizeof(send.mad));
	return write(fd, &send, sizeof(send)) < 0 ? -errno : 0;
}

int gsi_addr(int fd, bool add, const struct xen_vhca_addr *addr)
{
	struct xen_ibgsi_addr change = {
		.command = add ? XEN_IBGSI_ADDR_ADD : XEN_IBGSI_ADDR_DEL,
		.family = addr->family,
	};

	memcpy(change.addr, addr->addr, sizeof(change.addr));
	return write(fd, &change, sizeof(change)) < 0 ? -errno : 0;
}

int gsi_receive(int fd, struct xen_vhca_mad *mad)
{
	ssize_t got = read(fd, mad, sizeof(*mad));

	if (got == sizeof(*mad))
		return 1;
	if (got >= 0)
		return -EPROTO;
	return errno == EAGAIN ? 0 : -errno;
}

int gsi_stats(int fd, struct xen_ibgsi_stats *stats)
{
	ssize_t got;

	memset(stats, 0, sizeof(*stats));
	got = read(fd, stats, sizeof(*stats));
	if (got == sizeof(*stats))
		return 0;
	return got < 0 ? -errno : -EPROTO;
}

static int tell(int fd, uint32_t command)
{
	return write(fd, &command, sizeof(command)) < 0 ? -errno : 0;
}

int gsi_start(int fd)
{
	return tell(fd, XEN_IBGSI_START);
}

int gsi_reset(int fd)
{
	return tell(fd, XEN_IBGSI_RESET);
}
