// SPDX-License-Identifier: GPL-2.0
/*
 * stats.c - what /sys/class/infiniband/<device>/hw_counters says: events since the device
 * connected.
 */
#include "xenib.h"

static const struct rdma_stat_desc descs[XENIB_EVENTS_COUNTS] = {
	[XENIB_EVENTS_COMPLETIONS].name = "completion_events",
	[XENIB_EVENTS_ASYNCS].name = "async_events",
	[XENIB_EVENTS_IGNORED].name = "ignored_events",
	[XENIB_EVENTS_REPEATED].name = "repeated_events",
	[XENIB_EVENTS_LOST].name = "lost_async_events",
	[XENIB_EVENTS_SPURIOUS].name = "spurious_event_interrupts",
};

struct rdma_hw_stats *xenib_alloc_hw_device_stats(struct ib_device *ibdev)
{
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs), RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int xenib_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(descs); i++)
		stats->value[i] = xenib_events_count(to_xdev(ibdev)->events, i);
	return ARRAY_SIZE(descs);
}
