// SPDX-License-Identifier: GPL-2.0
/*
 * origin.c - what the copies in the pool are made of: see origin.h.
 */
#include "kernel/origin.h"
#include "kernel/pool.h"

#define GRANULE BIT(XENIB_GRANULE_SHIFT)

void xenib_origin_note(struct xenib_pool *pool, u64 addr, void *data, size_t size, bool is_sent)
{
	struct xenib_origin *origin = xenib_pool_origin(pool, addr);
	size_t at;

	for (at = 0; at < size; at += GRANULE)
		*origin++ = (struct xenib_origin){
			.data = data + at,
			.left = size - at,
			.is_sent = is_sent,
		};
}

/* The element of an octet that an earlier one would have at that offset. It is in the list. */
static void find_element(struct scatterlist **element, size_t *offset)
{
	while (*element && *offset >= (*element)->length) {
		*offset -= (*element)->length;
		*element = sg_next(*element);
	}
}

/* Each piece begins with an element, and with a granule. */
void xenib_origin_note_list(struct xenib_pool *pool, struct scatterlist *list, int pieces,
			    bool is_sent)
{
	struct scatterlist *element = list, *piece;
	size_t offset = 0, size, at;
	struct xenib_origin *origin;
	int i;

	for_each_sg(list, piece, pieces, i) {
		origin = xenib_pool_origin(pool, sg_dma_address(piece));
		size = sg_dma_len(piece);
		for (at = 0; at < size; at += GRANULE) {
			find_element(&element, &offset);
			*origin++ = (struct xenib_origin){
				.element = element,
				.offset = offset,
				.left = size - at,
				.is_list = true,
				.is_sent = is_sent,
			};
			offset += min(size - at, GRANULE);
		}
	}
}

static void copy_part(void *copy, void *data, size_t size, bool in)
{
	if (in)
		memcpy(copy, data, size);
	else
		memcpy(data, copy, size);
}

/* From an octet of the granule on, to the end of its mapping at most. */
static void copy_mapped(const struct xenib_origin *origin, size_t skip, void *copy, size_t size,
			bool in)
{
	struct scatterlist *element;
	size_t offset, part;

	if (!origin->is_list) {
		copy_part(copy, origin->data + skip, size, in);
		return;
	}
	element = origin->element;
	offset = origin->offset + skip;
	for (; size; size -= part, copy += part, offset += part) {
		find_element(&element, &offset);
		if (WARN_ON_ONCE(!element))
			return;
		part = min(size, element->length - offset);
		copy_part(copy, sg_virt(element) + offset, part, in);
	}
}

/* What a granule is mapped for */
enum kind { SENT = 1, WRITTEN = 2, SHARED = 4, ALL = SENT | WRITTEN | SHARED };

static enum kind kind_of(const struct xenib_origin *origin)
{
	if (origin->is_sent)
		return SENT;
	return origin->is_shared ? SHARED : WRITTEN;
}

/* How many octets, from there in the granule on, are of one mapping and one kind. */
static size_t run_of(const struct xenib_origin *origin, size_t skip, size_t most)
{
	size_t end = GRANULE;

	most = min(most, origin->left - skip);
	while (end < skip + most && kind_of(origin + end / GRANULE) == kind_of(origin))
		end += GRANULE;
	return min(most, end - skip);
}

/* Of what is of these kinds */
static void copy_range(struct xenib_pool *pool, u64 addr, size_t size, bool in, unsigned int kinds)
{
	const struct xenib_origin *origin;
	size_t skip, part;

	for (; size && xenib_pool_has_place(pool, addr); addr += part, size -= part) {
		origin = xenib_pool_origin(pool, addr);
		skip = addr & (GRANULE - 1);
		part = min(size, GRANULE - skip);
		if (skip >= origin->left || !(kind_of(origin) & kinds))
			continue;
		part = run_of(origin, skip, size);
		copy_mapped(origin, skip, xenib_pool_kva(pool, addr), part, in);
	}
}

void xenib_origin_copy_in(struct xenib_pool *pool, u64 addr, size_t size)
{
	copy_range(pool, addr, size, true, ALL);
}

void xenib_origin_copy_out(struct xenib_pool *pool, u64 addr, size_t size)
{
	copy_range(pool, addr, size, false, WRITTEN | SHARED);
}

void xenib_origin_copy_shared(struct xenib_pool *pool, u64 addr, size_t size)
{
	copy_range(pool, addr, size, false, SHARED);
}

void xenib_origin_fetch(struct xenib_pool *pool, u64 addr, size_t size)
{
	copy_range(pool, addr, size, true, SENT | WRITTEN);
}

void xenib_origin_share(struct xenib_pool *pool, u64 addr, size_t size)
{
	u64 at = round_down(addr, GRANULE), end = round_up(addr + size, GRANULE);
	struct xenib_origin *origin;

	copy_range(pool, addr, size, true, SENT);
	copy_range(pool, at, end - at, true, WRITTEN);
	for (; at < end && xenib_pool_has_place(pool, at); at += GRANULE) {
		origin = xenib_pool_origin(pool, at);
		if (origin->left && !origin->is_sent)
			origin->is_shared = true;
	}
}

bool xenib_origin_is_written(struct xenib_pool *pool, u64 addr)
{
	const struct xenib_origin *origin;

	if (!xenib_pool_has_place(pool, addr))
		return false;
	origin = xenib_pool_origin(pool, addr);
	return (addr & (GRANULE - 1)) < origin->left && !origin->is_sent;
}
