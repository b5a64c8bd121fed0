// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uar_pools.c - see uar_pools.h.
 */
#include <string.h>

#include "broker/uar_table.h"
#include "hca/hca.h"
#include "supervisor/uar_pools.h"
#include "supervisor/uar_search.h"

static bool in_reach(const struct held_pool *pool, bool revocable)
{
	struct uar_table *table = uar_store_map(pool);
	bool reach = false;
	uint32_t i;

	if (!table)
		return true;
	for (i = 0; i < table->count && i < UAR_TABLE_ENTRIES; i++)
		reach |= revocable ? table->entry[i].allowed : !!table->entry[i].frame;
	uar_store_unmap(table);
	return reach;
}

/* Stale UAR pools */

static struct held_pool *find(struct uar_pools *pools, const char *hca)
{
	struct held_pool *pool;

	LIST_FOREACH(pool, &pools->list, link)
		if (!pool->stale && !strcmp(pool->hca, hca))
			return pool;
	return NULL;
}

/* The HCA of these was taken from its driver since. Only what a guest may still reach is kept. */
static void look_for_stale(struct uar_store *store)
{
	struct held_pool *pool, *next;
	struct uar_pools *pools;

	LIST_FOREACH(pools, &store->vhcas, link) {
		for (pool = LIST_FIRST(&pools->list); pool; pool = next) {
			next = LIST_NEXT(pool, link);
			if (pool->stale || hca_uar_pool_alive(pool->file))
				continue;
			if (in_reach(pool, pools->revocable))
				pool->stale = true;
			else
				uar_store_close(pools, pool);
		}
	}
}

struct held_pool *uar_pools_get(struct uar_pools *pools, const char *hca, int *err)
{
	struct held_pool *pool;

	look_for_stale(pools->store);
	*err = uar_search_check(pools, hca);
	if (*err)
		return NULL;
	pool = find(pools, hca);
	return pool ? pool : uar_store_open(pools, hca, err);
}

void uar_pools_trim(struct uar_pools *pools)
{
	struct held_pool *pool, *next;

	for (pool = LIST_FIRST(&pools->list); pool; pool = next) {
		next = LIST_NEXT(pool, link);
		if (!in_reach(pool, pools->revocable))
			uar_store_close(pools, pool);
	}
}

void uar_pools_close(struct uar_pools *pools)
{
	while (!LIST_EMPTY(&pools->list))
		uar_store_close(pools, LIST_FIRST(&pools->list));
	LIST_REMOVE(pools, link);
}
