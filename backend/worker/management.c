// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * management.c - see management.h.
 */
#include <errno.h>
#include <string.h>

#include "hca/gsi.h"
#include "modules/xen-ibgsi/xen-ibgsi.h"
#include "util/log.h"
#include "worker/management.h"

#define GID_WAIT_MS 5000

static const char *why(int err, const char *busy)
{
	switch (-err) {
	case ENOTTY:
		return "xen-ibgsi is older than this daemon";
	case ENOENT:
		return "xen-ibgsi is not loaded";
	case EBUSY:
	case EADDRINUSE:
		return busy;
	default:
		return strerror(-err);
	}
}

/* Where dom0 has no such module, guests have no management. */
static int open_gsi(const struct management_of *of)
{
	struct xen_ibgsi_stats stats;
	int fd = gsi_open(of->hca, of->port, of->domid, of->guid, of->pkeys);

	if (fd < 0 && fd != -ENOENT)
		log_warning("no management for the guest's kernel: %s", strerror(-fd));
	if (fd >= 0 && gsi_stats(fd, &stats))
		log_warning(
			"xen-ibgsi is older than this daemon, which shows some of its counters as 0");
	return fd;
}

static void offer_services(int fd, const struct services *services)
{
	unsigned int i;
	int err;

	for (i = 0; i < services->n; i++) {
		err = fd < 0 ? fd : gsi_service(fd, services->id[i]);
		if (err)
			log_warning("the guest is not asked for service 0x%llx: %s",
				    (unsigned long long)services->id[i],
				    why(err, "it is another guest's"));
	}
}

/* Without it the guest has the port's, and all else works. */
static void ask_for_gid(int fd, unsigned int *gid_index)
{
	int err = fd < 0 ? fd : gsi_alias(fd, GID_WAIT_MS, gid_index);

	if (err)
		log_warning("no GID of its own for the guest, which has that of the port: %s",
			    why(err, "it is in use"));
}

int management_open(const struct management_of *of, unsigned int *gid_index)
{
	int fd = open_gsi(of);

	offer_services(fd, of->services);
	if (of->own_gid)
		ask_for_gid(fd, gid_index);
	return fd;
}
