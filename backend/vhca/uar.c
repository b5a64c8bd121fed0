// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uar.c - see uar.h.
 */
#include <errno.h>
#include <string.h>

#include "util/log.h"
#include "vhca/uar.h"

void uar_pool_init(struct uar_pool *pool, struct hca *hca, struct transport *t,
		   struct uar_table *table)
{
	uint32_t n;

	memset(pool, 0, sizeof(*pool));
	pool->hca = hca;
	pool->t = t;
	pool->table = table;
	for (n = 0; n < table->count; n++) {
		if (table->entry[n].allowed)
			uar_deny(pool, n);
		uar_settle(pool, n, false);
	}
}

static int reserve(struct uar_pool *pool, uint32_t n, uint64_t gfn)
{
	pool->reserved[n] = true;
	pool->table->entry[n].gfn = gfn;
	return n;
}

/* A record that is reserved and has no frame yet is one that another command is allocating. */
int uar_pick(struct uar_pool *pool, uint32_t type, uint64_t gfn, bool *fresh)
{
	struct uar_table *table = pool->table;
	uint32_t n;

	*fresh = false;
	if (uar_table_at(table, gfn))
		return -EEXIST;
	for (n = 0; n < table->count; n++) {
		struct uar_entry *r = &table->entry[n];

		if (r->in_use || pool->reserved[n] || (r->frame && r->type != type))
			continue;
		*fresh = !r->frame;
		return reserve(pool, n, gfn);
	}
	if (n == UAR_TABLE_ENTRIES)
		return -ENOSPC;
	*fresh = true;
	table->count++;
	return reserve(pool, n, gfn);
}

int uar_ready(struct uar_pool *pool, int n, uint32_t type, bool fresh)
{
	struct uar_entry *r = &pool->table->entry[n];
	int err;

	if (fresh) {
		struct hca_uar uar;

		err = pool->hca->ops->uar_alloc(pool->hca, type, &uar);
		if (err)
			return err;
		r->index = uar.index;
		r->type = type;
		r->frame = uar.frame;
	}
	r->allowed = 1;
	err = pool->t->ops->allow_frame(pool->t, r->frame, r->gfn);
	if (err)
		r->allowed = 0;
	return err;
}

void uar_settle(struct uar_pool *pool, int n, bool used)
{
	struct uar_entry *r = &pool->table->entry[n];

	r->in_use = used;
	if (!used)
		r->gfn = 0;
	pool->reserved[n] = false;
}

/* A guest that has removed the mapping itself makes this fail; it has lost nothing but its own. */
int uar_deny(struct uar_pool *pool, int n)
{
	struct uar_entry *r = &pool->table->entry[n];
	int err = pool->t->ops->deny_frame(pool->t, r->frame, r->gfn);

	if (err && !atomic_exchange(&pool->complained, true))
		log_warning("UAR %u: revoking it from the guest: %s (logged once)", r->index,
			    strerror(-err));
	r->allowed = 0;
	return err;
}
