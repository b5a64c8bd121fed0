/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uar.h - the doorbell pages (UARs) of one vHCA.
 *
 * A PV guest that has mapped a page of the HCA keeps that mapping, whatever the backend takes away
 * later: Xen checks the right when a mapping is made. So a UAR that was shown to a domain must not
 * become anyone else's before the domain is gone. Hence the UAR pool:
 *
 * - an open uverbs file on which all UARs of the vHCA are allocated. They are never freed one by
 *   one; the HCA gets them back when the file is closed. Supervisor and broker both hold it, and a
 *   process that does nothing else (supervisor/holder.h), so the death of any changes nothing; the supervisor
 *   closes it once the domain is gone.
 * - records that they share as well, which say what UARs there are, so that the next worker can use
 *   them again, for this guest: uar_table.h.
 *
 * A worker has neither: its broker allocates UARs, keeps the table, and lets the guest map what
 * is in them alone. So a worker that a guest has taken over cannot give it the UARs of others.
 *
 * For an auto-translated guest the same is done, although there the mapping can be taken away: so
 * its UAR pool can be closed as well once the vHCA has been taken from it.
 */
#ifndef XEN_IB_VHCA_UAR_H
#define XEN_IB_VHCA_UAR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hca/hca.h"
#include "vhca/transport.h"
#include "vhca/uar_table.h"

struct uar_pool {
	struct hca *hca;
	struct transport *t;
	struct uar_table *table;
	bool reserved[UAR_TABLE_ENTRIES]; /* taken by a command that is at work */
	atomic_bool complained;          /* that a page could not be denied: a guest can make this happen */
};

/*
 * uar_pool_init - for a worker that starts. What an earlier one left allowed is denied.
 * @table: a copy of the UAR pool's, which the worker goes on with
 */
void uar_pool_init(struct uar_pool *pool, struct hca *hca, struct transport *t,
		   struct uar_table *table);

/*
 * uar_pick - under the caller's lock: a record to use. Of a UAR of this type that is free, or of a
 * new one (*fresh), which uar_ready() then allocates. -ENOSPC if the UAR pool is full, -EEXIST if there
 * is a UAR at this gfn: Xen would destroy the guest for the attempt to put another one there.
 */
int uar_pick(struct uar_pool *pool, uint32_t type, uint64_t gfn, bool *fresh);

/*
 * uar_ready - without a lock: allocates the UAR if it is fresh and lets the guest map it. 0 or
 * -errno. In either case uar_settle() follows, under the lock.
 */
int uar_ready(struct uar_pool *pool, int n, uint32_t type, bool fresh);
void uar_settle(struct uar_pool *pool, int n, bool used);

/* uar_deny - without a lock: takes the right away. uar_settle(.., false) is to follow. */
int uar_deny(struct uar_pool *pool, int n);

#endif
