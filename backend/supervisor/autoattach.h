/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * autoattach.h - domains that appear are given vHCAs. One that is restored gets those that it had; any other
 * one, and one of which that is not known, those that its configuration says.
 */
#ifndef XEN_IB_SUPERVISOR_AUTOATTACH_H
#define XEN_IB_SUPERVISOR_AUTOATTACH_H

#include <stdbool.h>
#include <xenstore.h>

#include "supervisor/suspended.h"
#include "xen/xenbus.h"

struct iomem;

struct domains {
	bool known[DOMAINS]; /* has been looked at */
	struct suspended suspended;
};

/*
 * domains_scan - looks for domains that were not there at the last call, at the first one for all.
 * Zeroed memory is ready. A domain that has vHCAs, or had some, has been given them already, by an
 * earlier daemon or by hand; it is let be.
 * @own: our domain; configurations are in domain 0 and with any other nothing is done
 */
void domains_scan(struct domains *domains, struct xs_handle *xs, struct iomem *iomem,
		  unsigned int own);

#endif
