/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * nodes.h - what a vHCA's backend directory in xenstore says of it, and what its worker writes there.
 */
#ifndef XEN_IB_WORKER_NODES_H
#define XEN_IB_WORKER_NODES_H

#include <stdint.h>
#include <xenstore.h>

#include "config/choices.h"
#include "config/pkeys.h"
#include "config/spec.h"
#include "hca/hca.h"
#include "vhca/quota.h"
#include "vhca/transport.h"

/* nodes_choice - its value. */
unsigned int nodes_choice(struct xs_handle *xs, const char *path, enum choice choice);

/* nodes_services - those that the guest offers, or none. */
void nodes_services(struct xs_handle *xs, const char *path, struct services *services);

/* nodes_guid - the vHCA's node GUID. Who has made the nodes by hand may have left it to us: it is written then. */
uint64_t nodes_guid(struct xs_handle *xs, const char *path, unsigned int domid, unsigned int devid);

/* nodes_pkeys - the P_Keys that the guest may use; *pkeys is as it was if nothing is said. */
void nodes_pkeys(struct xs_handle *xs, const char *path, struct pkeys *pkeys);

/* nodes_limit - of quota_setup(): from is a struct nodes. */
struct nodes {
	struct xs_handle *xs;
	const char *path;
};
quota_get nodes_limit;

/* nodes_limits_set - becomes another number when those that are imposed on QPs have changed. */
uint64_t nodes_limits_set(struct xs_handle *xs, const char *path);

/* nodes_write - what is offered and does not depend on the HCA: while xenstore is at hand, and not behind the broker. */
void nodes_write(struct xs_handle *xs, const char *path);

/* nodes_write_hca - what does: the broker lets a worker write it. */
void nodes_write_hca(struct xs_handle *xs, const char *path, struct hca *hca,
		     const struct transport *t);

#endif
