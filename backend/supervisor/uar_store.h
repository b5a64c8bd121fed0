/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uar_store.h - the supervisor's side of the UAR pools of one vHCA (see broker/uar_pool.h): one for each HCA that the
 * vHCA has been on since its domain exists. Each is in systemd's file descriptor store, for the next supervisor: see
 * fdstore.h.
 *
 * When an HCA's driver is reloaded the HCA forgets who had which page, and gives them out again,
 * while a PV guest may have some mapped for as long as it lives. Such a UAR pool is stale. The pages of
 * all stale UAR pools are allocated once more, on a file that is used for nothing else and that these
 * share: then they are held, and nobody else is given them, dom0 included. Where that fails, because
 * somebody has one already, the HCA serves nobody but that domain until the domain is gone.
 */
#ifndef XEN_IB_SUPERVISOR_UAR_STORE_H
#define XEN_IB_SUPERVISOR_UAR_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "hca/uverbs.h"

struct held_pool {
	char hca[UVERBS_NAME_MAX];
	uint32_t number, file_number; /* of table and file in the store; 0: it has none. Those that are held share a file */
	int file, table;
	bool stale;
	bool complained; /* that it cannot be held */
	LIST_ENTRY(held_pool) link;
};

LIST_HEAD(uar_pools_list, uar_pools);

/* All UAR pools there are. */
struct uar_store {
	struct uar_pools_list vhcas;
	uint32_t last; /* number that was given */
	char stale[64]; /* whose pages cannot be held: "domain 5", "domains 5, 7" */
};

struct uar_pools {
	unsigned int domid, devid;
	bool revocable; /* the domain is auto-translated, so that a page that was denied is out of its reach */
	struct uar_store *store;
	LIST_HEAD(held_pool_list, held_pool) list;
	LIST_ENTRY(uar_pools) link;
};

void uar_store_init(struct uar_store *store);

/*
 * uar_store_load - takes over what the supervisor before has left. 0 or -errno: something may be held that
 * this one does not know, so it cannot serve.
 * @vhca: the vHCA's UAR pools, or NULL: there is no room for another one
 */
typedef struct uar_pools *uar_store_vhca(void *from, unsigned int domid, unsigned int devid);
int uar_store_load(struct uar_store *store, uar_store_vhca *vhca, void *from);

void uar_pools_init(struct uar_pools *pools, unsigned int domid, unsigned int devid, struct uar_store *store);

/*
 * uar_pools_get - the UAR pool on an HCA, made if there is none, or if the HCA was taken from its driver
 * since. Stale UAR pools on that HCA, whoever's, are held before. NULL, with -errno in *err; -EBUSY:
 * some cannot be, of the domains that store->stale names.
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
