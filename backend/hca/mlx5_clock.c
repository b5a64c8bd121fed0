// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5_clock.c - the HCA's free running clock: two registers of its initialization segment, big endian, high and low
 * (internal_timer_h in linux/mlx5/device.h). The driver maps their page for processes, read-only. When the
 * device goes, there is a page of zeros in its place.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <sys/mman.h>

#include "hca/mlx5.h"
#include "shared-ring/vhca_request.h"

/* The page's number in an mmap() of mlx5_ib: a command, and its argument below. */
#define COMMAND_SHIFT 8

static_assert(XEN_VHCA_PAGE_SIZE == 4096,
	      "of larger ones the driver maps none: they have more than the clock");

void mlx5_clock_map(struct mlx5 *m)
{
	const off_t page = MLX5_IB_MMAP_CORE_CLOCK << COMMAND_SHIFT;
	void *at;

	if (!(m->info.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET) ||
	    m->info.hca_core_clock_offset > XEN_VHCA_PAGE_SIZE - 8)
		return;
	at = mmap(NULL, XEN_VHCA_PAGE_SIZE, PROT_READ, MAP_SHARED, m->queries,
		  page * XEN_VHCA_PAGE_SIZE);
	if (at == MAP_FAILED)
		return;
	m->clock_page = at;
}

void mlx5_clock_unmap(struct mlx5 *m)
{
	if (m->clock_page)
		munmap(m->clock_page, XEN_VHCA_PAGE_SIZE);
}

/* If the low half has passed its end between two reads, it does not pass it again before the next. */
int mlx5_query_clock(struct hca *hca, uint64_t *ticks)
{
	const struct mlx5 *m = to_mlx5(hca);
	const volatile uint32_t *clock;
	uint32_t high, low, again;

	if (!m->clock_page)
		return -EOPNOTSUPP;
	clock = (const volatile uint32_t *)((const uint8_t *)m->clock_page +
					    m->info.hca_core_clock_offset);
	high = be32toh(clock[0]);
	low = be32toh(clock[1]);
	again = be32toh(clock[0]);
	if (again != high)
		low = be32toh(clock[1]);
	*ticks = (uint64_t)again << 32 | low;
	return 0;
}
