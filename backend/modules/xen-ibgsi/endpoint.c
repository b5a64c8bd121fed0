// SPDX-License-Identifier: GPL-2.0
/*
 * endpoint.c - what one vHCA has of the fabric's management: see gsi.h.
 */
#include <linux/poll.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "gsi.h"

struct item {
	struct list_head list;
	struct xen_ibgsi_mad mad;
};

void gsi_changed(struct gsi_endpoint *ep)
{
	if (!atomic_xchg(&ep->news, true))
		wake_up_interruptible_poll(&ep->readable, EPOLLPRI);
}

bool gsi_queue_put(struct gsi_endpoint *ep, const struct xen_ibgsi_mad *mad, u32 era)
{
	struct item *item = kmalloc(sizeof(*item), GFP_KERNEL);
	bool fits;

	if (!item) {
		gsi_count(ep, &ep->stats.dropped);
		return false;
	}
	item->mad = *mad;
	spin_lock(&ep->queue_lock);
	fits = ep->n_queued < MAX_WAITING && era == ep->era;
	if (fits) {
		list_add_tail(&item->list, &ep->queue);
		ep->n_queued++;
		ep->stats.received++;
	} else if (era == ep->era) {
		ep->stats.dropped++;
	}
	spin_unlock(&ep->queue_lock);
	gsi_changed(ep);
	if (fits)
		wake_up_interruptible_poll(&ep->readable, EPOLLIN);
	else
		kfree(item);
	return fits;
}

static struct item *take(struct gsi_endpoint *ep)
{
	struct item *item;

	spin_lock(&ep->queue_lock);
	item = list_first_entry_or_null(&ep->queue, struct item, list);
	if (item) {
		list_del(&item->list);
		ep->n_queued--;
	}
	spin_unlock(&ep->queue_lock);
	return item;
}

bool gsi_queue_take(struct gsi_endpoint *ep, struct xen_ibgsi_mad *mad)
{
	struct item *item = take(ep);

	if (!item)
		return false;
	*mad = item->mad;
	kfree(item);
	return true;
}

static void empty_queue(struct gsi_endpoint *ep)
{
	struct item *item;

	while ((item = take(ep)))
		kfree(item);
}

/* The key that all members of the default partition share; at worst the first one. */
static u16 find_pkey(struct gsi_endpoint *ep)
{
	u16 index;

	return ib_find_cached_pkey(ep->ibdev, ep->port, IB_DEFAULT_PKEY_FULL, &index) ? 0 : index;
}

bool gsi_is_unicast(u16 lid)
{
	return lid && lid < be16_to_cpu(IB_MULTICAST_LID_BASE);
}

bool gsi_endpoint_may_use(const struct gsi_endpoint *ep, u16 pkey_index)
{
	return pkey_index < XEN_IBGSI_PKEYS && ep->pkeys[pkey_index / 64] >> pkey_index % 64 & 1;
}

/* Full and limited members are of one partition. */
#define PARTITION 0x7fff

bool gsi_endpoint_has_pkey(const struct gsi_endpoint *ep, u16 pkey)
{
	u16 index, entry;

	for (index = 0; index < XEN_IBGSI_PKEYS; index++) {
		if (gsi_endpoint_may_use(ep, index) &&
		    !ib_get_cached_pkey(ep->ibdev, ep->port, index, &entry) && entry & PARTITION &&
		    !((entry ^ pkey) & PARTITION))
			return true;
	}
	return false;
}

void gsi_endpoint_look(struct gsi_endpoint *ep)
{
	struct ib_port_attr attr;

	mutex_lock(&ep->lock);
	if (ep->ibdev && !ep->dead && !ib_query_port(ep->ibdev, ep->port, &attr)) {
		ep->sa.lid = attr.sm_lid;
		ep->sa.sl = attr.sm_sl;
		ep->sa.pkey_index = find_pkey(ep);
		ep->lid = attr.lid;
		ep->lid_mask = ~((1u << attr.lmc) - 1);
	}
	mutex_unlock(&ep->lock);
	gsi_alias_again(ep);
}

int gsi_endpoint_attach(struct gsi_endpoint *ep, struct gsi_hca *hca, u32 port)
{
	struct ib_mad_agent *agent;

	agent = ib_register_mad_agent(hca->ibdev, port, IB_QPT_GSI, NULL, 0, gsi_send_handler,
				      gsi_recv_handler, ep, 0);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	mutex_lock(&ep->lock);
	ep->ibdev = hca->ibdev;
	ep->hca = hca;
	ep->port = port;
	ep->agent = agent;
	ep->tokens = (u64)SEND_BURST * HZ;
	ep->filled = jiffies;
	mutex_unlock(&ep->lock);
	gsi_endpoint_look(ep);
	return 0;
}

int gsi_endpoint_start(struct gsi_endpoint *ep)
{
	if (ep->dead || !ep->agent)
		return -ENODEV;
	gsi_cm_take(ep);
	return 0;
}

void gsi_endpoint_reset(struct gsi_endpoint *ep)
{
	if (ep->hca)
		gsi_cm_forget(ep);
	spin_lock(&ep->queue_lock);
	ep->era++;
	spin_unlock(&ep->queue_lock);
	empty_queue(ep);
	gsi_mcast_leave_all(ep);
	gsi_sa_forget(ep);
}

/* The agent ends last: it waits for its handlers, and those for nothing. */
void gsi_endpoint_detach(struct gsi_endpoint *ep)
{
	struct ib_mad_agent *agent;

	mutex_lock(&ep->lock);
	ep->dead = true;
	agent = ep->agent;
	ep->agent = NULL;
	gsi_endpoint_reset(ep);
	ep->hca = NULL;
	mutex_unlock(&ep->lock);
	gsi_alias_end(ep);
	flush_work(&ep->leave);
	if (agent)
		ib_unregister_mad_agent(agent);
	gsi_sa_forget(ep);
	xa_destroy(&ep->by_guest);
	wake_up_interruptible(&ep->readable);
}

static bool may_send(struct gsi_endpoint *ep)
{
	unsigned long now = jiffies;

	ep->tokens =
		min_t(u64, ep->tokens + (u64)(now - ep->filled) * SEND_RATE, (u64)SEND_BURST * HZ);
	ep->filled = now;
	if (ep->tokens < HZ)
		return false;
	ep->tokens -= HZ;
	return true;
}

void gsi_endpoint_stats(struct gsi_endpoint *ep, struct xen_ibgsi_stats *stats)
{
	/* What changes from now on may not be among them. */
	atomic_xchg(&ep->news, false);
	spin_lock(&ep->queue_lock);
	*stats = ep->stats;
	spin_unlock(&ep->queue_lock);
	stats->groups = READ_ONCE(ep->n_groups);
	stats->conns = READ_ONCE(ep->n_open);
	stats->asked = READ_ONCE(ep->n_asked);
}

void gsi_count(struct gsi_endpoint *ep, u64 *counter)
{
	spin_lock(&ep->queue_lock);
	(*counter)++;
	spin_unlock(&ep->queue_lock);
	gsi_changed(ep);
}

int gsi_refuse(struct gsi_endpoint *ep, enum xen_ibgsi_refusal why, int err)
{
	gsi_count(ep, &ep->stats.refused[why]);
	return err;
}

void gsi_fill_attr(const struct gsi_endpoint *ep, const struct xen_ibgsi_send *send,
		   struct rdma_ah_attr *attr)
{
	union ib_gid dgid;

	*attr = (struct rdma_ah_attr){ .type = RDMA_AH_ATTR_TYPE_IB };
	rdma_ah_set_dlid(attr, send->dlid);
	rdma_ah_set_sl(attr, send->sl & 0xf);
	rdma_ah_set_port_num(attr, ep->port);
	if (!send->has_grh)
		return;
	memcpy(dgid.raw, send->dgid, sizeof(dgid));
	rdma_ah_set_grh(attr, &dgid, send->flow_label & 0xfffff, READ_ONCE(ep->alias.index),
			send->hop_limit, send->traffic_class);
}

void gsi_fill_mad(struct xen_ibgsi_mad *to, const struct ib_wc *wc, const struct ib_grh *grh,
		  const u8 *mad)
{
	*to = (struct xen_ibgsi_mad){
		.src_qpn = wc->src_qp,
		.slid = wc->slid,
		.pkey_index = wc->pkey_index,
		.sl = wc->sl,
		.path_bits = wc->dlid_path_bits,
		.has_grh = grh && wc->wc_flags & IB_WC_GRH,
	};
	memcpy(to->mad, mad, sizeof(to->mad));
	if (to->has_grh)
		memcpy(to->grh, grh, sizeof(to->grh));
}

int gsi_post(struct gsi_endpoint *ep, struct rdma_ah_attr *to, u16 pkey_index, const u8 *mad,
	     u32 id, unsigned int answer_ms)
{
	struct ib_mad_send_buf *buf;
	struct ib_ah *ah;
	int err;

	ah = rdma_create_ah(ep->agent->qp->pd, to, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	buf = ib_create_send_mad(ep->agent, 1, pkey_index, 0, IB_MGMT_MAD_HDR, IB_MGMT_MAD_DATA,
				 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf)) {
		err = PTR_ERR(buf);
		goto err_ah;
	}
	memcpy(buf->mad, mad, XEN_IBGSI_MAD_SIZE);
	buf->ah = ah;
	buf->timeout_ms = answer_ms;
	buf->context[0] = (void *)(uintptr_t)id;
	err = ib_post_send_mad(buf, NULL);
	if (!err)
		return 0;
	ib_free_send_mad(buf);
err_ah:
	rdma_destroy_ah(ah, 0);
	return err;
}

int gsi_endpoint_send(struct gsi_endpoint *ep, const struct xen_ibgsi_send *send)
{
	const u8 *mad = send->mad;

	if (ep->dead || !ep->agent)
		return -ENODEV;
	/*
	 * One that ends a connection is not held back: its sender would take it for sent. And what
	 * others ask of a guest is not to use up its rate.
	 */
	if (!may_send(ep) && !gsi_cm_is_last(ep, send))
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_RATE, -EAGAIN);
	if (mad[MAD_BASE_VERSION] != IB_MGMT_BASE_VERSION)
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_KIND, -EINVAL);
	switch (mad[MAD_CLASS]) {
	case IB_MGMT_CLASS_SUBN_ADM:
		return gsi_sa_send(ep, mad);
	case IB_MGMT_CLASS_PERF_MGMT:
		return gsi_pma_send(ep, send);
	case IB_MGMT_CLASS_CM:
		return gsi_cm_send(ep, send);
	case GSI_CLASS_PING:
		return gsi_ping_send(ep, send);
	default:
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_KIND, -EOPNOTSUPP);
	}
}
