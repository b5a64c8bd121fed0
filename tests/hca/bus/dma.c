// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The machine's memory: regions sorted by address, mapped into this process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "bus/dma.h"

struct region {
	uint64_t iova, size;
	uint8_t *base; /* NULL: known, but without memory that can be reached */
	bool owned;    /* ours to munmap */
	unsigned int prot;
};

struct dma_space {
	struct region *regions; /* sorted, no two overlap */
	size_t count, capacity;
	bool disabled;
	size_t last; /* where the last lookup ended: most are in the same large region */
	struct dma_stats stats;
};

struct dma_space *dma_space_new(void)
{
	return calloc(1, sizeof(struct dma_space));
}

void dma_space_free(struct dma_space *dma)
{
	if (!dma)
		return;
	dma_unmap_all(dma);
	free(dma->regions);
	free(dma);
}

/* Index of the first region that ends after iova; count if there is none. */
static size_t region_after(const struct dma_space *dma, uint64_t iova)
{
	size_t low = 0, high = dma->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct region *r = &dma->regions[mid];

		if (r->iova + (r->size - 1) < iova)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool region_has(const struct region *r, uint64_t iova)
{
	return iova >= r->iova && iova - r->iova < r->size;
}

static struct region *region_find(struct dma_space *dma, uint64_t iova)
{
	size_t i = dma->last;

	if (i < dma->count && region_has(&dma->regions[i], iova))
		return &dma->regions[i];
	i = region_after(dma, iova);
	if (i == dma->count || !region_has(&dma->regions[i], iova))
		return NULL;
	dma->last = i;
	return &dma->regions[i];
}

/* Finds the place of a new region: 0 or -errno. */
static int region_place(struct dma_space *dma, uint64_t iova, uint64_t size, size_t *place)
{
	size_t i;

	if (!size || size - 1 > UINT64_MAX - iova)
		return -EINVAL;
	i = region_after(dma, iova);
	if (i < dma->count && dma->regions[i].iova <= iova + (size - 1))
		return -EEXIST;
	if (dma->count == DMA_MAX_REGIONS)
		return -ENOSPC;
	*place = i;
	return 0;
}

static int region_insert(struct dma_space *dma, size_t place, const struct region *new)
{
	if (dma->count == dma->capacity) {
		size_t capacity = dma->capacity ? 2 * dma->capacity : 64;
		struct region *regions = realloc(dma->regions, capacity * sizeof(*regions));

		if (!regions)
			return -ENOMEM;
		dma->regions = regions;
		dma->capacity = capacity;
	}
	memmove(&dma->regions[place + 1], &dma->regions[place],
		(dma->count - place) * sizeof(*dma->regions));
	dma->regions[place] = *new;
	dma->count++;
	return 0;
}

/*
 * A mapping that reaches past the end of its file would be a SIGBUS in waiting. Only files
 * have an end that can be checked; RAM is never anything else (memfd, hugetlbfs, a file).
 */
static int fd_covers(int fd, uint64_t offset, uint64_t size)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < 0)
		return -EINVAL;
	if (offset > (uint64_t)st.st_size || size > (uint64_t)st.st_size - offset)
		return -EINVAL;
	return 0;
}

int dma_map(struct dma_space *dma, uint64_t iova, uint64_t size, int fd, uint64_t offset,
	    unsigned int prot)
{
	struct region r = { .iova = iova, .size = size, .prot = prot };
	int flags = 0;
	size_t place;
	int ret;

	if ((iova | size | offset) & (DMA_PAGE_SIZE - 1))
		return -EINVAL;
	ret = region_place(dma, iova, size, &place);
	if (ret)
		return ret;
	if (fd < 0)
		return region_insert(dma, place, &r);

	ret = fd_covers(fd, offset, size);
	if (ret)
		return ret;
	if (prot & DMA_PROT_READ)
		flags |= PROT_READ;
	if (prot & DMA_PROT_WRITE)
		flags |= PROT_WRITE;
	r.base = mmap(NULL, size, flags, MAP_SHARED, fd, (off_t)offset);
	if (r.base == MAP_FAILED)
		return -errno;
	r.owned = true;
	ret = region_insert(dma, place, &r);
	if (ret)
		munmap(r.base, size);
	return ret;
}

int dma_map_memory(struct dma_space *dma, uint64_t iova, uint64_t size, void *memory,
		   unsigned int prot)
{
	struct region r = { .iova = iova, .size = size, .prot = prot, .base = memory };
	size_t place;
	int ret;

	ret = region_place(dma, iova, size, &place);
	return ret ? ret : region_insert(dma, place, &r);
}

static void region_release(struct region *r)
{
	if (r->owned)
		munmap(r->base, r->size);
}

int dma_unmap(struct dma_space *dma, uint64_t iova, uint64_t size)
{
	size_t first, end;
	uint64_t last;

	if (!size || size - 1 > UINT64_MAX - iova)
		return -EINVAL;
	last = iova + (size - 1);
	first = region_after(dma, iova);
	if (first == dma->count || dma->regions[first].iova > last)
		return -ENOENT;
	end = region_after(dma, last);
	if (dma->regions[first].iova < iova)
		return -EINVAL;
	if (end < dma->count && dma->regions[end].iova <= last) {
		const struct region *r = &dma->regions[end];

		if (r->iova + (r->size - 1) != last)
			return -EINVAL;
		end++;
	}
	for (size_t i = first; i < end; i++)
		region_release(&dma->regions[i]);
	memmove(&dma->regions[first], &dma->regions[end],
		(dma->count - end) * sizeof(*dma->regions));
	dma->count -= end - first;
	return 0;
}

void dma_unmap_all(struct dma_space *dma)
{
	for (size_t i = 0; i < dma->count; i++)
		region_release(&dma->regions[i]);
	dma->count = 0;
}

void dma_enable(struct dma_space *dma, bool on)
{
	dma->disabled = !on;
}

/* The address of iova and how many of len bytes follow it; NULL if it may not be accessed so. */
static uint8_t *region_run(struct dma_space *dma, uint64_t iova, size_t len, unsigned int prot,
			   size_t *run)
{
	struct region *r = region_find(dma, iova);
	uint64_t left;

	if (dma->disabled || !r || !r->base || (r->prot & prot) != prot)
		return NULL;
	left = r->size - (iova - r->iova);
	*run = len < left ? len : (size_t)left;
	return r->base + (iova - r->iova);
}

static bool range_wraps(uint64_t iova, size_t len)
{
	return len && len - 1 > UINT64_MAX - iova;
}

/* Between the driver's memory, run by run, and the model's: to there, or from there. */
static int copy(struct dma_space *dma, uint64_t iova, uint8_t *to, const uint8_t *from, size_t len)
{
	const unsigned int prot = to ? DMA_PROT_READ : DMA_PROT_WRITE;
	size_t done, run;
	uint8_t *at;

	if (range_wraps(iova, len))
		goto fault;
	for (done = 0; done < len; done += run) {
		at = region_run(dma, iova + done, len - done, prot, &run);
		if (!at)
			goto fault;
		if (to)
			memcpy(to + done, at, run);
		else
			memcpy(at, from + done, run);
	}
	return 0;
fault:
	dma->stats.faults++;
	return -EFAULT;
}

int dma_read(struct dma_space *dma, uint64_t iova, void *dst, size_t len)
{
	dma->stats.reads++;
	dma->stats.read_bytes += len;
	return copy(dma, iova, dst, NULL, len);
}

int dma_write(struct dma_space *dma, uint64_t iova, const void *src, size_t len)
{
	dma->stats.writes++;
	dma->stats.write_bytes += len;
	return copy(dma, iova, NULL, src, len);
}

void *dma_ptr(struct dma_space *dma, uint64_t iova, size_t len, unsigned int prot)
{
	size_t run;
	uint8_t *p;

	if (range_wraps(iova, len))
		goto fault;
	p = region_run(dma, iova, len, prot, &run);
	if (!p || run < len)
		goto fault;
	return p;
fault:
	dma->stats.faults++;
	return NULL;
}

const struct dma_stats *dma_stats(const struct dma_space *dma)
{
	return &dma->stats;
}

void dma_stats_reset(struct dma_space *dma)
{
	dma->stats = (struct dma_stats){ 0 };
}
