// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uar_pool.c - see uar_pool.h. An entry of the table is in one of these states:
 *
 *   in_use allowed
 *   0      0        free
 *   1      1        a UAR object of the guest
 *   0      1        free, but the guest can still reach it: revoking it has failed, or its worker died
 */
#include <errno.h>
#include <stddef.h>

#include "broker/uar_pool.h"
#include "xen/iomem.h"

void uar_pool_init(struct uar_pool *pool)
{
	uint32_t n;

	for (n = 0; n < pool->table->count; n++)
		pool->table->entry[n].in_use = 0;
}

static struct iomem_frame frame_of(const struct domain *domain, const struct uar_entry *entry)
{
	return (struct iomem_frame){
		.domid = domain->domid,
		.devid = domain->devid,
		.mfn = entry->frame,
		.gfn = entry->gfn,
		.auto_translated = domain->auto_translated,
	};
}

/*
 * -EINVAL: the guest has removed the mapping itself. After another error it may have it still, and so
 * the entry stays.
 */
static int revoke(struct uar_pool *pool, struct uar_entry *entry)
{
	const struct iomem_frame frame = frame_of(pool->domain, entry);
	int err = iomem_deny(pool->domain->iomem, &frame);

	if (err && err != -EINVAL)
		return err;
	entry->allowed = 0;
	entry->gfn = 0;
	return err;
}

/* As much of it as there is to do before the page, or its place, is used again. */
static int revoke_left(struct uar_pool *pool, struct uar_entry *entry)
{
	int err = entry->allowed ? revoke(pool, entry) : 0;

	return err == -EINVAL ? 0 : err;
}

/* A domain that is dying has lost its frames by itself, and Xen complains when asked to take them. */
static int release(struct uar_pool *pool, struct uar_entry *entry)
{
	entry->in_use = 0;
	return !entry->allowed || domain_check(pool->domain) ? 0 : revoke(pool, entry);
}

static int clear_place(struct uar_pool *pool, uint64_t gfn)
{
	struct uar_entry *entry = uar_table_at(pool->table, gfn);

	if (!entry)
		return 0;
	return entry->in_use ? -EEXIST : revoke_left(pool, entry);
}

static struct uar_entry *add_uar(struct uar_pool *pool, uint32_t type, int *err)
{
	uint32_t index, handle;
	uint64_t frame;

	*err = uar_table_full(pool->table) ?
		       -EXFULL :
		       pool->family->uar_alloc(pool->file, type, &index, &handle);
	if (*err)
		return NULL;
	frame = pool->frames.base + index;
	if (frame >= pool->frames.first && frame < pool->frames.end)
		return uar_table_add(pool->table, index, type, frame);
	*err = -ERANGE;
	return NULL;
}

static struct uar_entry *pick(struct uar_pool *pool, uint32_t type, int *err)
{
	struct uar_entry *entry;
	uint32_t n;

	for (n = 0; n < pool->table->count; n++) {
		entry = &pool->table->entry[n];
		if (!entry->in_use && entry->type == type)
			return entry;
	}
	return add_uar(pool, type, err);
}

/*
 * It is recorded before the guest is given the right, so that whatever happens in between the next
 * broker knows of all that the guest may have seen. An entry has room for one place, so a page that
 * is still somewhere is taken from there first.
 */
static int permit(struct uar_pool *pool, struct uar_entry *entry, uint64_t gfn)
{
	struct iomem_frame frame;
	int err;

	err = revoke_left(pool, entry);
	if (err)
		return err;
	entry->gfn = gfn;
	entry->allowed = 1;
	frame = frame_of(pool->domain, entry);
	err = iomem_allow(pool->domain->iomem, &frame);
	if (err)
		entry->allowed = entry->gfn = 0;
	return err;
}

int uar_pool_alloc(struct uar_pool *pool, uint32_t type, uint64_t gfn, struct hca_uar *uar)
{
	struct uar_entry *entry;
	int err;

	if (!pool->domain->auto_translated)
		gfn = 0;
	else if (!gfn)
		return -EINVAL;
	err = clear_place(pool, gfn);
	if (err)
		return err;
	entry = pick(pool, type, &err);
	if (!entry)
		return err;
	err = permit(pool, entry, gfn);
	if (err)
		return err;
	entry->in_use = 1;
	*uar = (struct hca_uar){ .index = entry->index, .frame = entry->frame };
	return 0;
}

int uar_pool_free(struct uar_pool *pool, uint32_t index)
{
	struct uar_table *table = pool->table;
	uint32_t n;

	for (n = 0; n < table->count; n++)
		if (table->entry[n].in_use && table->entry[n].index == index)
			return release(pool, &table->entry[n]);
	return -EPERM;
}

int uar_pool_reset(struct uar_pool *pool)
{
	struct uar_table *table = pool->table;
	int err = 0, last = 0;
	uint32_t n;

	for (n = 0; n < table->count; n++) {
		err = release(pool, &table->entry[n]);
		if (err)
			last = err;
	}
	return last;
}
