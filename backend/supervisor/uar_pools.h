/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uar_pools.h - the UAR pools of one vHCA: which one its next worker gets, and when they end.
 */
#ifndef XEN_IB_SUPERVISOR_UAR_POOLS_H
#define XEN_IB_SUPERVISOR_UAR_POOLS_H

#include "supervisor/uar_store.h"

/*
 * uar_pools_get - the UAR pool on an HCA, made if there is none, or if the HCA was taken from its driver
 * since. Stale UAR pools on that HCA, whoever's, are held before. NULL, with -errno in *err; -EAGAIN,
 * -EBUSY: see uar_search.h.
 */
struct held_pool *uar_pools_get(struct uar_pools *pools, const char *hca, int *err);

/*
 * uar_pools_trim - for a vHCA that has been taken away from a domain that lives: closes the UAR pools with
 * nothing that the guest can still reach.
 */
void uar_pools_trim(struct uar_pools *pools);

/* uar_pools_close - all of them: the domain is gone. */
void uar_pools_close(struct uar_pools *pools);

#endif
