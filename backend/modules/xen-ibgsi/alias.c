// SPDX-License-Identifier: GPL-2.0
/*
 * alias.c - a GID of a guest's own, beside that of the port: see gsi.h.
 *
 * The SA writes GUIDs that it is asked for into a port's table (GUIDInfoRecord, InfiniBand
 * 15.2.5.18), and knows paths to them. It forgets them when it starts again, while the port has
 * them still: a GID in the table proves nothing. So they are asked for again whenever the SA may be
 * another one.
 */
#include <linux/delay.h>
#include <rdma/ib_cache.h>

#include "compat.h"
#include "gsi.h"

#define BLOCK 8 /* GUIDs of a record */
#define ANSWER_MS 2000
#define AGAIN_AFTER (5 * HZ)
#define LOOK_MS 20

struct question {
	struct completion done;
	__be64 guid; /* what the SA has there */
	unsigned int place;
	int err;
};

static void answered(int err, struct ib_sa_guidinfo_rec *rec, void *context)
{
	struct question *question = context;

	question->err = err;
	if (!err)
		memcpy(&question->guid, rec->guid_info_list + question->place * sizeof(__be64),
		       sizeof(question->guid));
	complete(&question->done);
}

/* With the alias' lock held: neither it nor the HCA goes meanwhile. */
static int ask_sa(struct gsi_endpoint *ep, u8 method)
{
	struct question question = { .place = ep->alias.index % BLOCK };
	struct ib_sa_guidinfo_rec rec = { .block_num = ep->alias.index / BLOCK };
	ib_sa_comp_mask mask = IB_SA_GUIDINFO_REC_LID | IB_SA_GUIDINFO_REC_BLOCK_NUM |
			       IB_SA_COMP_MASK(4 + question.place);
	struct ib_sa_query *query;
	int err;

	mutex_lock(&ep->lock);
	rec.lid = cpu_to_be16(ep->lid);
	err = ep->sa.lid ? 0 : -ENETDOWN;
	mutex_unlock(&ep->lock);
	if (err)
		return err;
	memcpy(rec.guid_info_list + question.place * sizeof(__be64), &ep->node_guid,
	       sizeof(__be64));
	init_completion(&question.done);
	err = ib_sa_guid_info_rec_query(&gsi_sa_client, ep->ibdev, ep->port, &rec, mask, method,
					ANSWER_MS, GFP_KERNEL, answered, &question, &query);
	if (err < 0)
		return err;
	wait_for_completion(&question.done);
	if (question.err)
		return question.err;
	if (method == IB_MGMT_METHOD_SET && question.guid != ep->node_guid)
		return -EADDRINUSE;
	return 0;
}

static void ask_work(struct work_struct *work)
{
	struct gsi_endpoint *ep = container_of(work, struct gsi_endpoint, alias.ask.work);
	int err;

	mutex_lock(&ep->alias.lock);
	err = ep->alias.index ? ask_sa(ep, IB_MGMT_METHOD_SET) : 0;
	mutex_unlock(&ep->alias.lock);
	if (err && err != -EAGAIN && err != ep->alias.err)
		pr_warn("domain %u: the SA does not take its GUID again: error %d\n", ep->domid,
			err);
	if (err != -EAGAIN) /* the core does not know the new SA's address yet */
		ep->alias.err = err;
	if (err)
		queue_delayed_work(system_dfl_wq, &ep->alias.ask, AGAIN_AFTER);
}

void gsi_alias_init(struct gsi_endpoint *ep)
{
	mutex_init(&ep->alias.lock);
	INIT_DELAYED_WORK(&ep->alias.ask, ask_work);
}

void gsi_alias_again(struct gsi_endpoint *ep)
{
	if (READ_ONCE(ep->alias.index))
		mod_delayed_work(system_dfl_wq, &ep->alias.ask, 0);
}

/* Its place in the port's table: where it was before, or an empty one. 0: there is none. */
static u16 find_place(struct gsi_endpoint *ep)
{
	unsigned int n = ep->ibdev->port_data[ep->port].immutable.gid_tbl_len, index;
	struct gsi_endpoint *other;
	union ib_gid gid;
	u16 empty = 0;

	for (index = 1; index < n; index++) {
		bool used = false;

		list_for_each_entry(other, &ep->hca->endpoints, list)
			used |= other->port == ep->port && other->alias.index == index;
		if (used)
			continue;
		/* Of an HCA that puts the subnet's prefix there, an empty one is not all zeros. */
		if (rdma_query_gid(ep->ibdev, ep->port, index, &gid) || !gid.global.interface_id)
			empty = empty ?: index;
		else if (gid.global.interface_id == ep->node_guid)
			return index;
	}
	return empty;
}

int gsi_alias_claim(struct gsi_endpoint *ep)
{
	u16 place;

	if (ep->alias.index)
		return -EALREADY;
	place = find_place(ep);
	if (!place)
		return -ENOSPC;
	WRITE_ONCE(ep->alias.index, place);
	return 0;
}

static bool has_gid(struct gsi_endpoint *ep, union ib_gid *gid)
{
	return !rdma_query_gid(ep->ibdev, ep->port, ep->alias.index, gid) &&
	       gid->global.interface_id == ep->node_guid;
}

int gsi_alias_make(struct gsi_endpoint *ep, struct xen_ibgsi_alias *alias)
{
	unsigned long until = jiffies + msecs_to_jiffies(alias->wait_ms);
	union ib_gid gid;
	int err;

	mutex_lock(&ep->alias.lock);
	err = READ_ONCE(ep->dead) ? -ENODEV : ask_sa(ep, IB_MGMT_METHOD_SET);
	while (!err && !has_gid(ep, &gid)) {
		if (time_after(jiffies, until))
			err = -ETIMEDOUT;
		else if (msleep_interruptible(LOOK_MS))
			err = -EINTR;
		else if (READ_ONCE(ep->dead))
			err = -ENODEV;
	}
	if (err) {
		WRITE_ONCE(ep->alias.index, 0);
	} else {
		alias->index = ep->alias.index;
		memcpy(alias->gid, gid.raw, sizeof(alias->gid));
	}
	mutex_unlock(&ep->alias.lock);
	return err;
}

void gsi_alias_end(struct gsi_endpoint *ep)
{
	cancel_delayed_work_sync(&ep->alias.ask);
	mutex_lock(&ep->alias.lock);
	if (ep->alias.index)
		ask_sa(ep, IB_SA_METHOD_DELETE);
	WRITE_ONCE(ep->alias.index, 0);
	mutex_unlock(&ep->alias.lock);
}

int gsi_own_gid(const struct gsi_endpoint *ep, union ib_gid *gid)
{
	return rdma_query_gid(ep->ibdev, ep->port, READ_ONCE(ep->alias.index), gid);
}
