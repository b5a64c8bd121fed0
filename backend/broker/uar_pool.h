/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uar_pool.h - the doorbell pages (UARs) of one vHCA, as its broker manages them.
 *
 * A PV guest that has mapped a page of the HCA keeps that mapping, whatever the backend takes away
 * later: Xen checks the right when a mapping is made. So a UAR that was shown to a domain must not
 * become anyone else's before the domain is gone. Hence the UAR pool:
 *
 * - an open uverbs file on which all UARs of the vHCA are allocated. They are never freed one by
 *   one; the HCA gets them back when the file is closed. Supervisor and broker both hold it, and
 *   systemd for the next supervisor (supervisor/fdstore.h), so the death of any changes nothing; the supervisor
 *   closes it once the domain is gone.
 * - a table that they share as well, which says what UARs there are, so that the next broker can use
 *   them again, for this guest: uar_table.h.
 *
 * A worker has neither. It asks for a UAR of a type, and gets one that the guest may map: the broker
 * picks one that is free or allocates one, records it and permits it. So a worker that a guest has
 * taken over cannot give it the UARs of others.
 *
 * For an auto-translated guest the same is done, although there the mapping can be taken away: so
 * its UAR pool can be closed as well once the vHCA has been taken from it.
 */
#ifndef XEN_IB_BROKER_UAR_POOL_H
#define XEN_IB_BROKER_UAR_POOL_H

#include <stdint.h>

#include "broker/domain.h"
#include "broker/uar_table.h"
#include "hca/family.h"

struct uar_pool {
	struct domain *domain;
	const struct hca_family *family;
	struct hca_uar_frames frames;
	int file;
	struct uar_table *table;
};

/* uar_pool_init - for a broker that starts: no UAR is in use. All members are set. */
void uar_pool_init(struct uar_pool *pool);

/*
 * uar_pool_alloc - a UAR that the guest may map from now on. 0 or -errno: -EXFULL: the table is full;
 * -EEXIST: there is a UAR in use at this gfn, and Xen would destroy the guest for the attempt to put
 * another one there; -ERANGE: the HCA gives out what is no doorbell page.
 * @type: enum xen_vhca_uar_type
 * @gfn: where an auto-translated guest wants it, not 0; of others it means nothing
 */
int uar_pool_alloc(struct uar_pool *pool, uint32_t type, uint64_t gfn, struct hca_uar *uar);

/*
 * uar_pool_free - the guest may no longer map it, and the UAR can be picked again. 0; -EPERM: there is
 * none in use with this index; after another -errno the guest may still reach it: then it is taken
 * from where it is when it is picked.
 */
int uar_pool_free(struct uar_pool *pool, uint32_t index);

/* uar_pool_reset - a connection begins: takes all from the guest that an earlier one has left. 0, or the last -errno. */
int uar_pool_reset(struct uar_pool *pool);

#endif
