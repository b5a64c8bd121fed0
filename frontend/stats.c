// SPDX-License-Identifier: GPL-2.0
/*
 * stats.c - what people are shown of the device: events since it connected, in
 * /sys/class/infiniband/<device>/hw_counters, and by `rdma resource show -dd` of objects, beyond
 * the core's fields, the numbers by which the backend's owner knows them.
 */
#include <rdma/restrack.h>

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

struct detail {
	const char *name;
	u32 value;
};

static int fill(struct sk_buff *msg, const struct detail *details, unsigned int count)
{
	struct nlattr *table;
	unsigned int i;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < count; i++) {
		if (rdma_nl_put_driver_u32_hex(msg, details[i].name, details[i].value)) {
			nla_nest_cancel(msg, table);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(msg, table);
	return 0;
}

int xenib_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct xenib_mr *mr = to_xmr(ibmr);
	const struct detail details[] = {
		{ "handle", mr->handle },
		{ "umem", mr->reg ? mr->reg->umem.handle : XEN_VHCA_NO_HANDLE },
	};

	return fill(msg, details, ARRAY_SIZE(details));
}

int xenib_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct xenib_cq *cq = to_xcq(ibcq);
	const struct detail details[] = {
		{ "handle", cq->handle },
		{ "hca-cqn", cq->cqn },
	};

	return fill(msg, details, ARRAY_SIZE(details));
}

int xenib_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	const struct detail details[] = {
		{ "handle", to_xqp(ibqp)->handle },
	};

	return fill(msg, details, ARRAY_SIZE(details));
}

int xenib_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct xenib_srq *srq = to_xsrq(ibsrq);
	const struct detail details[] = {
		{ "handle", srq->handle },
		{ "hca-srqn", srq->srqn },
	};

	return fill(msg, details, ARRAY_SIZE(details));
}
