/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * iomem_server.h - what the daemon in dom0 does for those in driver domains: see iomem_remote.h.
 *
 * It has a connection to xenstore of its own, so that a driver domain that writes there without end
 * keeps nothing else waiting. It looks at all of it whenever something has changed, for a quarter of
 * its time at most, and makes what is as it should be:
 *
 *   - A guest may map what its backend requests, as long as both name each other, and the frame can be a
 *     doorbell page of an HCA that was given to the backend (pci_assigned.h). Nothing is mapped over a
 *     guest's memory.
 *   - What a backend that is gone had its guests map is taken from them.
 *   - The nodes of guests that are gone are removed, and those of a vHCA whose backend has let go of it
 *     (detach = "done"): the guest's are not the backend's to remove.
 */
#ifndef XEN_IB_XEN_IOMEM_SERVER_H
#define XEN_IB_XEN_IOMEM_SERVER_H

struct iomem_server;
struct iomem;

/* iomem_server_open - iomem outlives it. NULL, with errno. In a driver domain there is none: NULL and 0. */
struct iomem_server *iomem_server_open(struct iomem *iomem);

/* iomem_server_close - all stays as it is. */
void iomem_server_close(struct iomem_server *server);

/* iomem_server_fd - to poll for reading; -1: not now. */
int iomem_server_fd(const struct iomem_server *server);

/* iomem_server_service - returns in how many milliseconds it is to be called again, -1: when fd is readable. */
int iomem_server_service(struct iomem_server *server);

#endif
