/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * attach.h - gives vHCAs to domains, and takes them away.
 *
 * All of it is done in xenstore, and the supervisor acts on what stands there: so a vHCA is the same
 * whoever made its nodes, and what is to be done survives the supervisor.
 */
#ifndef XEN_IB_XEN_ATTACH_H
#define XEN_IB_XEN_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <xenstore.h>

#include "config/spec.h"

/*
 * attach_vhca - makes the nodes of a vHCA, in one transaction. The guest's device comes as soon as
 * the guest is ready for it, whether it runs already or not.
 * @own: the domain of the caller, for a config that names no backend
 * @devid: the number that it got
 * 0; -errno with the reason in why: -ENOENT (no such domain), -ENODEV (no such HCA or port),
 * -EEXIST (there is a vHCA with this devid), -ENOSPC (no devid is free), -EIO (xenstore)
 */
int attach_vhca(struct xs_handle *xs, unsigned int own, unsigned int domid,
		const struct vhca_config *config, unsigned int *devid, char *why, size_t size);

/*
 * detach_vhca - asks for a vHCA to be taken away. Its worker releases all that the guest had on it,
 * without waiting for the guest. Then the nodes are removed: once the guest has let go of the
 * device, or at once if forced. The caller may wait until attach_exists() is false.
 * 0; -errno with the reason in why: -ENOENT (there is no such vHCA), -EIO (xenstore)
 */
int detach_vhca(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int devid,
		bool force, char *why, size_t size);

/*
 * attach_set - writes those limits of config that are given, and tells the worker, which then reads all of
 * them. 0; -ENOENT or -EIO with the reason in why.
 */
int attach_set(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int devid,
	       const struct vhca_config *config, char *why, size_t size);

/*
 * attach_guid - the node GUID of a vHCA for which nobody has chosen one: it stays the same as long as
 * the domain's UUID does. A driver domain does not know that, and takes the domain's number.
 */
uint64_t attach_guid(struct xs_handle *xs, xs_transaction_t t, unsigned int domid,
		     unsigned int devid);

/* attach_exists - whether a vHCA has nodes; false once one that was detached is gone. */
bool attach_exists(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int devid);

/*
 * attach_from_config - number n of the specs in a domain's configuration. Whatever is wrong with it
 * is said in the log and in the node "error" of a vHCA that is in state Closed. One whose HCA is
 * missing is such a vHCA until there is that HCA.
 */
void attach_from_config(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int n,
			const char *spec);

/*
 * attach_refused - makes the nodes of a vHCA that is none, so that people can see why. The guest is
 * not told of it.
 */
void attach_refused(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int devid,
		    const char *why);

/* attach_remove - removes the nodes of a vHCA that nobody serves any more, the guest's as well. */
bool attach_remove(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int devid);

/* attach_done - of a backend that cannot remove the guest's nodes: asks dom0 to remove both. */
bool attach_done(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int devid);

/*
 * attach_domain - the domid of a domain's name or number, or -ENOENT. A driver domain (own) knows domains
 * that it serves, by their numbers alone.
 */
int attach_domain(struct xs_handle *xs, unsigned int own, const char *name);

#endif
