/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uar_store.h - what the supervisor has of UAR pools (see broker/uar_pool.h): for each vHCA one on each HCA that it
 * has been on since its domain exists. Each is in systemd's file descriptor store, for the next supervisor: see
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
	uint32_t number,
		file_number; /* of table and file in the store; 0: it has none. Those that are held share a file */
	int file, table;
	bool stale;
	uint64_t retry_ms; /* 0, or somebody else has its pages, which are not looked for before */
	LIST_ENTRY(held_pool) link;
};

struct uar_search;
struct uar_table;
LIST_HEAD(uar_pools_list, uar_pools);

/* All UAR pools there are. */
struct uar_store {
	struct uar_pools_list vhcas;
	uint32_t last;             /* number that was given */
	struct uar_search *search; /* NULL: none is at work */
	char stale[64];            /* whose pages cannot be held: "domain 5", "domains 5, 7" */
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

void uar_pools_init(struct uar_pools *pools, unsigned int domid, unsigned int devid,
		    struct uar_store *store);

/*
 * uar_store_open - a new UAR pool, which is stored; NULL, with -errno in *err. uar_store_close - its UARs become free, unless
 * a broker has it.
 */
struct held_pool *uar_store_open(struct uar_pools *pools, const char *hca, int *err);
void uar_store_close(struct uar_pools *pools, struct held_pool *pool);

/* uar_store_map - a UAR pool's table, to be unmapped; NULL: it cannot be read. */
struct uar_table *uar_store_map(const struct held_pool *pool);
void uar_store_unmap(struct uar_table *table);

/* uar_store_put_file - stores a file under a number of its own. 0 or -errno. */
int uar_store_put_file(struct uar_store *store, int file, uint32_t *number);

/* uar_store_remove_file - unless a UAR pool that is there needs it, or the number is 0. */
void uar_store_remove_file(const struct uar_store *store, uint32_t number);

#endif
