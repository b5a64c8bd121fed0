// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory keys: checks of rights and bounds, translation, and copies to and from the machine's memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/dma.h"
#include "container.h"
#include "firmware/caps.h"
#include "hca.h"
#include "objects/mkey.h"

/* A piece of the machine's memory that a range of virtual addresses leads to. */
struct piece {
	uint64_t iova, len;
};

static bool is_local(unsigned int need)
{
	return !(need & ~(MKEY_LOCAL_READ | MKEY_LOCAL_WRITE));
}

static bool is_reserved(const struct mkey_user *user, uint32_t key, unsigned int need)
{
	return key == MKEY_RESERVED_LKEY && user->reserved_lkey && is_local(need);
}

static bool is_dump_fill(uint32_t key, unsigned int need)
{
	return key == MKEY_DUMP_FILL && is_local(need);
}

static enum mkey_status find(const struct mkey_user *user, uint32_t key, struct mkey **found)
{
	struct obj *obj = obj_find(user->hca->objs[OBJ_MKEY], key >> 8);
	struct mkey *m;

	if (!obj)
		return MKEY_BAD_KEY;
	m = container_of(obj, struct mkey, obj);
	if (m->variant != (key & 0xff) || m->free)
		return MKEY_BAD_KEY;
	if (m->pd != user->pd && !user->any_pd)
		return MKEY_BAD_PD;
	if (m->qpn != 0xffffff && m->qpn != user->qpn)
		return MKEY_BAD_QP;
	*found = m;
	return MKEY_OK;
}

static enum mkey_status in_bounds(const struct mkey *m, uint64_t va, uint64_t len)
{
	uint64_t offset = va - m->start;

	if (len > 1 && va + (len - 1) < va)
		return MKEY_BAD_BOUNDS;
	if (m->length64)
		return MKEY_OK;
	if (va < m->start || offset > m->length || len > m->length - offset)
		return MKEY_BAD_BOUNDS;
	return MKEY_OK;
}

static enum mkey_status find_for(const struct mkey_user *user, uint32_t key, uint64_t va,
				 uint64_t len, unsigned int need, struct mkey **found)
{
	enum mkey_status status = find(user, key, found);

	if (status)
		return status;
	if (((*found)->access & need) != need)
		return MKEY_BAD_ACCESS;
	return in_bounds(*found, va, len);
}

enum mkey_status mkey_check(const struct mkey_user *user, uint32_t key, uint64_t va, uint32_t len,
			    unsigned int need)
{
	struct mkey *m;

	if (!len || is_reserved(user, key, need) || is_dump_fill(key, need))
		return MKEY_OK;
	return find_for(user, key, va, len, need, &m);
}

/* The entry that holds offset, or NULL. Empty entries hold nothing, and are stepped over. */
static const struct mkey_entry *klm_find(const struct mkey *m, uint64_t offset)
{
	uint32_t low = 0, high = m->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (m->table[mid].offset + m->table[mid].bytes <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low < m->count ? &m->table[low] : NULL;
}

/* One step through an indirect key: which key and address va leads to, and for how long. */
static enum mkey_status step(const struct mkey *m, uint64_t va, uint32_t *key, uint64_t *child_va,
			     uint64_t *len)
{
	uint64_t offset = va - m->start, in_entry, size;
	const struct mkey_entry *e;

	if (m->mode == MKEY_KLM) {
		e = klm_find(m, offset);
		if (!e)
			return MKEY_BAD_DMA;
		in_entry = offset - e->offset;
		size = e->bytes;
	} else {
		if (offset >> m->page_shift >= m->count)
			return MKEY_BAD_DMA;
		e = &m->table[offset >> m->page_shift];
		size = 1ull << m->page_shift;
		in_entry = offset & (size - 1);
	}
	*key = e->key;
	*child_va = e->address + in_entry;
	if (*len > size - in_entry)
		*len = size - in_entry;
	return MKEY_OK;
}

static enum mkey_status page_of(const struct mkey *m, uint64_t va, struct piece *piece)
{
	uint64_t page = 1ull << m->page_shift, offset;

	if (__builtin_add_overflow(m->start & (page - 1), va - m->start, &offset))
		return MKEY_BAD_BOUNDS;
	if (offset >> m->page_shift >= m->count)
		return MKEY_BAD_DMA;
	piece->iova =
		(m->table[offset >> m->page_shift].address & ~(page - 1)) + (offset & (page - 1));
	if (piece->len > page - (offset & (page - 1)))
		piece->len = page - (offset & (page - 1));
	return MKEY_OK;
}

/*
 * What [va, va + piece->len) starts with; shortens piece->len to what lies in one piece. The
 * keys below an indirect one need local rights, as when a process uses them itself.
 */
static enum mkey_status resolve(const struct mkey_user *user, uint32_t key, uint64_t va,
				unsigned int need, struct piece *piece)
{
	for (unsigned int level = 0; level <= CAP_MAX_INDIRECTION; level++) {
		enum mkey_status status;
		struct mkey *m;

		if (is_reserved(user, key, need)) {
			piece->iova = va;
			return MKEY_OK;
		}
		status = find_for(user, key, va, piece->len, need, &m);
		if (status)
			return status;
		if (m->mode == MKEY_PA) {
			piece->iova = va;
			return MKEY_OK;
		}
		if (m->mode == MKEY_MTT)
			return page_of(m, va, piece);
		status = step(m, va, &key, &va, &piece->len);
		if (status)
			return status;
		if (need & (MKEY_LOCAL_WRITE | MKEY_REMOTE_WRITE | MKEY_REMOTE_ATOMIC))
			need = MKEY_LOCAL_WRITE;
		else
			need = MKEY_LOCAL_READ;
	}
	return MKEY_BAD_DMA;
}

enum mkey_status mkey_read(const struct mkey_user *user, uint32_t key, uint64_t va, void *dst,
			   uint32_t len, unsigned int need)
{
	enum mkey_status status = mkey_check(user, key, va, len, need);
	uint8_t *to = dst;

	if (is_dump_fill(key, need)) {
		memset(to, 0, len);
		return MKEY_OK;
	}
	while (!status && len) {
		struct piece piece = { .len = len };

		status = resolve(user, key, va, need, &piece);
		if (!status && dma_read(user->hca->dma, piece.iova, to, piece.len))
			status = MKEY_BAD_DMA;
		to += piece.len;
		va += piece.len;
		len -= (uint32_t)piece.len;
	}
	return status;
}

enum mkey_status mkey_write(const struct mkey_user *user, uint32_t key, uint64_t va,
			    const void *src, uint32_t len, unsigned int need)
{
	enum mkey_status status = mkey_check(user, key, va, len, need);
	const uint8_t *from = src;

	if (is_dump_fill(key, need))
		return MKEY_OK;
	while (!status && len) {
		struct piece piece = { .len = len };

		status = resolve(user, key, va, need, &piece);
		if (!status && dma_write(user->hca->dma, piece.iova, from, piece.len))
			status = MKEY_BAD_DMA;
		from += piece.len;
		va += piece.len;
		len -= (uint32_t)piece.len;
	}
	return status;
}

enum mkey_status mkey_atomic(const struct mkey_user *user, uint32_t key, uint64_t va, bool compare,
			     uint64_t swap_or_add, uint64_t expected, uint64_t *old)
{
	struct piece piece = { .len = 8 };
	enum mkey_status status;
	uint64_t *p;

	status = mkey_check(user, key, va, 8, MKEY_REMOTE_ATOMIC);
	if (!status)
		status = resolve(user, key, va, MKEY_REMOTE_ATOMIC, &piece);
	if (status)
		return status;
	/* An indirect key may lead to the middle of a word. */
	if (piece.len < 8 || piece.iova & 7)
		return MKEY_BAD_DMA;
	p = dma_ptr(user->hca->dma, piece.iova, 8, DMA_PROT_READ | DMA_PROT_WRITE);
	if (!p)
		return MKEY_BAD_DMA;
	if (!compare) {
		*old = __atomic_fetch_add(p, swap_or_add, __ATOMIC_SEQ_CST);
		return MKEY_OK;
	}
	*old = expected;
	__atomic_compare_exchange_n(p, old, swap_or_add, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return MKEY_OK;
}

enum mkey_status mkey_invalidate(const struct mkey_user *user, uint32_t key)
{
	struct mkey *m;
	enum mkey_status status = find(user, key, &m);

	if (status)
		return status;
	if (!m->remote_invalidate)
		return MKEY_BAD_ACCESS;
	m->free = true;
	return MKEY_OK;
}

void mkey_index(struct mkey *mkey)
{
	uint64_t offset = 0;

	if (mkey->mode != MKEY_KLM)
		return;
	for (uint32_t i = 0; i < mkey->count; i++) {
		mkey->table[i].offset = offset;
		offset += mkey->table[i].bytes;
	}
}

int mkey_resize(struct mkey *mkey, uint32_t count)
{
	struct hca *hca = mkey->obj.hca;
	uint64_t old = mkey->count * sizeof(*mkey->table), size = count * sizeof(*mkey->table);
	struct mkey_entry *table;

	if (!count) {
		free(mkey->table);
		mkey->table = NULL;
		goto done;
	}
	if (hca->mkey_tables - old + size > HCA_MKEY_TABLES)
		return -ENOMEM;
	table = realloc(mkey->table, size);
	if (!table)
		return -ENOMEM;
	if (size > old)
		memset(table + mkey->count, 0, size - old);
	mkey->table = table;
done:
	mkey->count = count;
	hca->mkey_tables += size - old;
	return 0;
}
