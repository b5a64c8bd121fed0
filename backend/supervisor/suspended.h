/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * suspended.h - the vHCAs of domains that are suspended are written down, for when they are restored.
 */
#ifndef XEN_IB_SUPERVISOR_SUSPENDED_H
#define XEN_IB_SUPERVISOR_SUSPENDED_H

#include <stdbool.h>
#include <xenstore.h>

#include "xen/xenbus.h"

struct iomem;

struct suspended {
	bool stored[DOMAINS]; /* since it is suspended */
};

/*
 * suspended_check - of a domain that is there: if it has just suspended itself, stores what it has.
 * Zeroed memory is ready. In dom0.
 */
void suspended_check(struct suspended *suspended, struct xs_handle *xs, struct iomem *iomem,
		     unsigned int domid);

#endif
