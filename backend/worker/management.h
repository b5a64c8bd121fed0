/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * management.h - the part that a guest's kernel has in the management of the fabric, by xen-ibgsi.
 */
#ifndef XEN_IB_WORKER_MANAGEMENT_H
#define XEN_IB_WORKER_MANAGEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "config/pkeys.h"
#include "config/services.h"

struct management_of {
	const char *hca;
	unsigned int port;
	uint32_t domid;
	uint64_t guid; /* of the node */
	const struct pkeys *pkeys;
	const struct services *services; /* that it is asked for */
	bool own_gid;                    /* beside that of the port */
};

/*
 * management_open - a descriptor as of hca/gsi.h, or -errno: the guest has no part. While it is root. What of
 * it cannot be had is logged. *gid_index: where its own GID is, in the port's table; as it was if it has none.
 */
int management_open(const struct management_of *of, unsigned int *gid_index);

#endif
