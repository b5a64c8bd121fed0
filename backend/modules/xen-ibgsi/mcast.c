// SPDX-License-Identifier: GPL-2.0
/*
 * mcast.c - a guest's multicast groups: see gsi.h.
 *
 * Each join has to be freed, those that fail too. None is freed where it fails, as that is in its
 * own callback; a work item does it.
 */
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "compat.h"
#include "gsi.h"

struct gsi_group {
	struct list_head list;
	struct gsi_endpoint *ep;
	struct ib_sa_multicast *join;
	union ib_gid mgid, own;
	u8 state; /* bits of how the guest is a member */
	u32 era;
	bool over; /* to be left, or failed */
	bool told; /* the guest has its answer */
	u8 request[XEN_IBGSI_MAD_SIZE];
};

static void to_rec(struct ib_sa_mcmember_rec *rec, const struct sa_group *group)
{
	*rec = (struct ib_sa_mcmember_rec){
		.qkey = cpu_to_be32(group->qkey),
		.mlid = cpu_to_be16(group->mlid),
		.mtu_selector = group->mtu_selector,
		.mtu = group->mtu,
		.traffic_class = group->tclass,
		.pkey = cpu_to_be16(group->pkey),
		.rate_selector = group->rate_selector,
		.rate = group->rate,
		.packet_life_time_selector = group->life_selector,
		.packet_life_time = group->life,
		.sl = group->sl,
		.flow_label = cpu_to_be32(group->flow_label),
		.hop_limit = group->hop_limit,
		.scope = group->scope,
		.join_state = group->state,
	};
	memcpy(rec->mgid.raw, group->mgid, sizeof(rec->mgid));
	memcpy(rec->port_gid.raw, group->port_gid, sizeof(rec->port_gid));
}

static void from_rec(struct sa_group *group, const struct ib_sa_mcmember_rec *rec)
{
	*group = (struct sa_group){
		.qkey = be32_to_cpu(rec->qkey),
		.mlid = be16_to_cpu(rec->mlid),
		.mtu_selector = rec->mtu_selector,
		.mtu = rec->mtu,
		.tclass = rec->traffic_class,
		.pkey = be16_to_cpu(rec->pkey),
		.rate_selector = rec->rate_selector,
		.rate = rec->rate,
		.life_selector = rec->packet_life_time_selector,
		.life = rec->packet_life_time,
		.sl = rec->sl,
		.flow_label = be32_to_cpu(rec->flow_label),
		.hop_limit = rec->hop_limit,
		.scope = rec->scope,
	};
	memcpy(group->mgid, rec->mgid.raw, sizeof(group->mgid));
	memcpy(group->port_gid, rec->port_gid.raw, sizeof(group->port_gid));
}

static void answer(struct gsi_group *group, u16 status, const struct ib_sa_mcmember_rec *rec)
{
	u8 mad[XEN_IBGSI_MAD_SIZE];
	struct sa_group said;

	memcpy(mad, group->request, sizeof(mad));
	mad[MAD_METHOD] = IB_MGMT_METHOD_GET_RESP;
	put_unaligned_be16(status, mad + MAD_STATUS);
	if (rec) {
		from_rec(&said, rec);
		said.state = group->state;
		memcpy(said.port_gid, group->own.raw, sizeof(said.port_gid));
		sa_group_write(mad, &said);
	}
	gsi_sa_answer(group->ep, mad, group->era);
}

static void end(struct gsi_group *group)
{
	WRITE_ONCE(group->over, true);
	schedule_work(&group->ep->leave);
}

/*
 * Of the core's thread for the group: never twice at once. After it was joined it is called once
 * more if the SA forgets all groups. The guest hears of that by an event of the port, and joins
 * again.
 */
static int joined(int err, struct ib_sa_multicast *join)
{
	struct gsi_group *group = join->context;

	if (!err && !gsi_endpoint_has_pkey(group->ep, be16_to_cpu(join->rec.pkey)))
		err = -EINVAL;
	if (!err) {
		group->told = true;
		answer(group, 0, &join->rec);
		return 0;
	}
	if (!group->told && err != -ETIMEDOUT)
		answer(group, err == -EINVAL ? SA_STATUS_REQ_INVALID : SA_STATUS_NO_RESOURCES,
		       NULL);
	end(group);
	return 0;
}

/*
 * Nothing is said in the name of another port, nor of a partition that is not the guest's. A guest
 * with a GID of its own joins in the port's name, too, as all of the port do.
 */
static int check(struct gsi_endpoint *ep, const u8 *mad, struct ib_sa_mcmember_rec *rec,
		 ib_sa_comp_mask *mask, union ib_gid *own)
{
	struct sa_group group;
	union ib_gid port;
	int err;

	if (!sa_group_read(mad, &group))
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_CLAIM, -EINVAL);
	if (group.mask & SA_GROUP_PKEY && !gsi_endpoint_has_pkey(ep, group.pkey))
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_CLAIM, -EINVAL);
	err = rdma_query_gid(ep->ibdev, ep->port, 0, &port) ?: gsi_own_gid(ep, own);
	if (err)
		return err;
	if (group.mask & SA_GROUP_PORT_GID && memcmp(own->raw, group.port_gid, sizeof(*own)))
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_CLAIM, -EINVAL);
	to_rec(rec, &group);
	rec->port_gid = port;
	*mask = (__force ib_sa_comp_mask)cpu_to_be64(group.mask | SA_GROUP_PORT_GID);
	return 0;
}

static struct gsi_group *find(struct gsi_endpoint *ep, const struct ib_sa_mcmember_rec *rec)
{
	struct gsi_group *group;

	list_for_each_entry(group, &ep->groups, list) {
		if (!READ_ONCE(group->over) && group->state == rec->join_state &&
		    !memcmp(&group->mgid, &rec->mgid, sizeof(group->mgid)))
			return group;
	}
	return NULL;
}

/* A guest that asks again has not heard the answer: it is made a member again, and once less. */
int gsi_mcast_join(struct gsi_endpoint *ep, const u8 *mad)
{
	struct ib_sa_mcmember_rec rec;
	struct gsi_group *group, *before;
	struct ib_sa_multicast *join;
	ib_sa_comp_mask mask;
	union ib_gid own;
	int err;

	err = check(ep, mad, &rec, &mask, &own);
	if (err)
		return err;
	if (ep->n_groups >= MAX_GROUPS)
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_LIMIT, -EAGAIN);
	group = kzalloc(sizeof(*group), GFP_KERNEL);
	if (!group)
		return -ENOMEM;
	group->ep = ep;
	group->mgid = rec.mgid;
	group->own = own;
	group->state = rec.join_state;
	group->era = READ_ONCE(ep->era);
	memcpy(group->request, mad, sizeof(group->request));
	before = find(ep, &rec);
	join = ib_sa_join_multicast(&gsi_sa_client, ep->ibdev, ep->port, &rec, mask, GFP_KERNEL,
				    joined, group);
	if (IS_ERR(join)) {
		kfree(group);
		return PTR_ERR(join);
	}
	/* Whoever frees it waits for ep->lock. */
	group->join = join;
	list_add(&group->list, &ep->groups);
	ep->n_groups++;
	gsi_changed(ep);
	if (before)
		end(before);
	return 0;
}

int gsi_mcast_leave(struct gsi_endpoint *ep, const u8 *mad)
{
	u16 status = SA_STATUS_REQ_INVALID;
	struct ib_sa_mcmember_rec rec;
	u8 reply[XEN_IBGSI_MAD_SIZE];
	struct gsi_group *group;
	ib_sa_comp_mask mask;
	union ib_gid own;
	int err;

	err = check(ep, mad, &rec, &mask, &own);
	if (err)
		return err;
	list_for_each_entry(group, &ep->groups, list) {
		if (memcmp(&group->mgid, &rec.mgid, sizeof(rec.mgid)) ||
		    group->state & ~rec.join_state || READ_ONCE(group->over))
			continue;
		end(group);
		status = 0;
	}
	memcpy(reply, mad, sizeof(reply));
	reply[MAD_METHOD] = IB_SA_METHOD_DELETE_RESP;
	put_unaligned_be16(status, reply + MAD_STATUS);
	gsi_sa_answer(ep, reply, READ_ONCE(ep->era));
	return 0;
}

void gsi_mcast_leave_all(struct gsi_endpoint *ep)
{
	struct gsi_group *group;

	list_for_each_entry(group, &ep->groups, list)
		WRITE_ONCE(group->over, true);
	schedule_work(&ep->leave);
}

/* Freeing waits for the callback, which takes no lock of ours but that of the queue. */
void gsi_mcast_work(struct work_struct *work)
{
	struct gsi_endpoint *ep = container_of(work, struct gsi_endpoint, leave);
	struct gsi_group *group, *next;
	LIST_HEAD(over);

	mutex_lock(&ep->lock);
	list_for_each_entry_safe(group, next, &ep->groups, list) {
		if (READ_ONCE(group->over)) {
			list_move(&group->list, &over);
			ep->n_groups--;
			gsi_changed(ep);
		}
	}
	mutex_unlock(&ep->lock);
	list_for_each_entry_safe(group, next, &over, list) {
		ib_sa_free_multicast(group->join);
		kfree(group);
	}
}
