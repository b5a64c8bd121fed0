/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * gsi.h - management of the fabric for one vHCA, by the kernel module xen-ibgsi. What a guest may say
 * there is decided in the module: whoever has the descriptor can do no more than its guest.
 *
 * In unit tests the descriptor is a socket that keeps messages apart.
 */
#ifndef XEN_IB_HCA_GSI_H
#define XEN_IB_HCA_GSI_H

#include <stdbool.h>
#include <stdint.h>

#include "config/pkeys.h"
#include "shared-ring/vhca_response.h"

/*
 * gsi_open - as root: a descriptor for this port, not waiting; -errno, -ENOENT: no module.
 * @guid: the vHCA's node GUID, in whose name alone the guest may speak
 */
int gsi_open(const char *hca, unsigned int port, uint32_t domid, uint64_t guid,
	     const struct pkeys *pkeys);

/*
 * gsi_alias - as root: the vHCA has a GID of its own from now on.
 * @wait_ms: how long to wait at most for the port to have it, once the SA has agreed
 * @index: its place in the port's table, not 0
 *
 * 0 or the module's -errno (xen-ibgsi.h); -ENOTTY: one that cannot do that. Then there is none.
 */
int gsi_alias(int fd, unsigned int wait_ms, unsigned int *index);

/* gsi_service - as root: who asks the port's GID for that service asks the guest. As gsi_alias(). */
int gsi_service(int fd, uint64_t id);

/* gsi_send - a MAD of XEN_VHCA_MAD_SIZE octets, and its way. 0 or the module's -errno (xen-ibgsi.h). */
int gsi_send(int fd, const struct xen_vhca_mad_send *way, const void *mad);

/* gsi_addr - the guest has this IP address (add), or has it no more. 0 or the module's -errno. */
int gsi_addr(int fd, bool add, const struct xen_vhca_addr *addr);

/* gsi_receive - 1: there was one, 0: there is none, -errno. */
int gsi_receive(int fd, struct xen_vhca_mad *mad);

struct xen_ibgsi_stats;

/*
 * gsi_stats - how much there was so far. 0 or -errno; -EPROTO: the module is older, and does not know
 * of the last of them, which are 0.
 */
int gsi_stats(int fd, struct xen_ibgsi_stats *stats);

/*
 * gsi_start - the guest has a part in the fabric's management from now on. 0 or -errno; -EINVAL: the module
 * is older, and sees that by the first MAD that the guest sends.
 */
int gsi_start(int fd);

/* gsi_reset - the guest has no part in the fabric's management any more. 0 or -errno. */
int gsi_reset(int fd);

#endif
