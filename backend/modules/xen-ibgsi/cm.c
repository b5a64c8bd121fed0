// SPDX-License-Identifier: GPL-2.0
/*
 * cm.c - connections of guests: see gsi.h.
 *
 * All of a port have its LID, and those at other ports know one connection manager there. So a
 * guest's ids are replaced by ids that this domain's own connection manager has reserved, which
 * lead back to the guest. Who is asked for is decided by the GID, if it is a guest's own; else by
 * the IP address that is asked for, or, of IPoIB's connected mode, by the QP.
 *
 * A guest answers what it was asked, and goes on with what it has begun, with that peer; all else
 * is refused. Entries end by age: those that wait for an answer, and those whose connection has
 * ended, for what comes late.
 */
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>

#include "cm_mad.h"
#include "cm_state.h"
#include "gsi.h"

/* Longer than any of the two has patience, after its last message */
#define WAITS_FOR (120 * HZ)
#define LATE_FOR (30 * HZ)
#define AGE_EVERY (10 * HZ)

/* One connection, or one exchange about datagrams. */
struct gsi_conn {
	struct list_head list;   /* of the endpoint's */
	struct hlist_node asked; /* by whom */
	struct gsi_endpoint *ep;
	struct ib_cm_id *reserved; /* NULL: the guest has named no id yet */
	u32 wire, guest;           /* the guest's id, as others see it and as it does */
	u32 ipoib;                 /* the guest's QP that the other asked for; 0: for none */
	struct cm_state state;
	bool waits; /* for the guest, that was asked */
	bool lasts; /* until one of them ends it */
	unsigned long until;
};

static u32 peer_key(u16 lid, u32 id)
{
	return hash_32(id ^ (u32)lid << 16, 32);
}

/* Nobody ever sends to it: those that come for its id are taken before that. */
static int never(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	return 0;
}

static int reserve(struct gsi_conn *conn, u32 guest)
{
	struct gsi_endpoint *ep = conn->ep;
	struct ib_cm_id *id;
	int err;

	id = ib_create_cm_id(ep->ibdev, never, NULL);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = xa_insert(&ep->by_guest, guest, conn, GFP_KERNEL);
	if (err)
		goto err_id;
	err = xa_insert(&ep->hca->cm.ids, be32_to_cpu(id->local_id), conn, GFP_KERNEL);
	if (err)
		goto err_guest;
	conn->reserved = id;
	conn->wire = be32_to_cpu(id->local_id);
	conn->guest = guest;
	return 0;

err_guest:
	xa_erase(&ep->by_guest, guest);
err_id:
	ib_destroy_cm_id(id);
	return err;
}

static void set_lasts(struct gsi_conn *conn, bool lasts)
{
	if (lasts == conn->lasts)
		return;
	conn->ep->n_open += lasts;
	conn->ep->n_open -= conn->lasts;
	conn->lasts = lasts;
	gsi_changed(conn->ep);
}

static void stay(struct gsi_conn *conn, unsigned long how_long)
{
	set_lasts(conn, false);
	conn->until = jiffies + how_long;
}

static void is_answered(struct gsi_conn *conn)
{
	if (!conn->waits)
		return;
	conn->ep->n_asked--;
	conn->waits = false;
	gsi_changed(conn->ep);
}

static void end(struct gsi_conn *conn)
{
	struct gsi_endpoint *ep = conn->ep;

	is_answered(conn);
	set_lasts(conn, false);
	list_del(&conn->list);
	ep->n_conns--;
	hash_del(&conn->asked);
	if (conn->reserved) {
		xa_erase(&ep->hca->cm.ids, conn->wire);
		xa_erase(&ep->by_guest, conn->guest);
		ib_destroy_cm_id(conn->reserved);
	}
	kfree(conn);
}

/* One that was ended by a MAD does not count as aged out: it only stayed for late MADs. */
static void end_if_old(struct gsi_conn *conn)
{
	if (conn->lasts || !time_after(jiffies, conn->until))
		return;
	if (!conn->state.ended)
		gsi_count(conn->ep, &conn->ep->stats.conns_aged);
	end(conn);
}

static void end_old(struct gsi_endpoint *ep)
{
	struct gsi_conn *conn, *next;

	list_for_each_entry_safe(conn, next, &ep->conns, list)
		end_if_old(conn);
}

static struct gsi_conn *new_conn(struct gsi_endpoint *ep)
{
	struct gsi_conn *conn;

	if (ep->n_conns >= MAX_CONNS)
		end_old(ep);
	if (ep->n_conns >= MAX_CONNS)
		return NULL;
	conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	if (!conn)
		return NULL;
	conn->ep = ep;
	list_add_tail(&conn->list, &ep->conns);
	ep->n_conns++;
	stay(conn, WAITS_FOR);
	return conn;
}

/* ep: NULL for any of the port's */
static struct gsi_conn *find_asked(struct gsi_hca *hca, u32 port, struct gsi_endpoint *ep, u16 lid,
				   u32 id, bool sidr)
{
	struct gsi_conn *conn;

	hash_for_each_possible(hca->cm.asked, conn, asked, peer_key(lid, id)) {
		if (conn->state.lid == lid && conn->state.peer == id && conn->state.sidr == sidr &&
		    conn->ep->port == port && (!ep || conn->ep == ep))
			return conn;
	}
	return NULL;
}

/* Out */

static bool claims_only(struct gsi_endpoint *ep, enum cm_kind kind, const u8 *mad)
{
	struct cm_own own = { .lid = ep->lid & ep->lid_mask, .lid_mask = ep->lid_mask };
	union ib_gid gid;

	if (gsi_own_gid(ep, &gid))
		return false;
	memcpy(own.gid, gid.raw, sizeof(own.gid));
	memcpy(own.guid, &ep->node_guid, sizeof(own.guid));
	if (cm_ipoib_asked(kind, mad) && !gsi_qpn_is_of(ep, cm_ipoib_own(kind, mad)))
		return false;
	return cm_claims_only(kind, mad, &own);
}

/* A guest that asks again has heard nothing, or has been refused. */
static int ask(struct gsi_endpoint *ep, enum cm_kind kind, const struct xen_ibgsi_send *send,
	       struct gsi_conn **asking)
{
	u32 id = cm_local_id(kind, send->mad);
	struct gsi_conn *conn;
	int err;

	if (!id || !gsi_is_unicast(send->dlid))
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_CLAIM, -EINVAL);
	conn = xa_load(&ep->by_guest, id);
	if (conn && (conn->state.by_peer || conn->lasts))
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_ID, -EINVAL);
	if (!conn) {
		conn = new_conn(ep);
		if (!conn)
			return gsi_refuse(ep, XEN_IBGSI_REFUSED_LIMIT, -EAGAIN);
		err = reserve(conn, id);
		if (err) {
			end(conn);
			return err;
		}
	}
	cm_state_ask(&conn->state, kind, send->dlid);
	stay(conn, WAITS_FOR);
	*asking = conn;
	return 0;
}

/* The first of its messages about what it was asked names the guest's own id. */
static int answer(struct gsi_endpoint *ep, enum cm_kind kind, const struct xen_ibgsi_send *send,
		  struct gsi_conn **answering)
{
	u32 id = cm_local_id(kind, send->mad);
	struct gsi_conn *conn;
	int err;

	conn = find_asked(ep->hca, ep->port, ep, send->dlid, cm_remote_id(kind, send->mad),
			  cm_is_sidr(kind));
	if (!conn || conn->reserved)
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_ID, -EINVAL);
	if (id) {
		err = reserve(conn, id);
		if (err)
			return err;
	}
	*answering = conn;
	return 0;
}

static int go_on(struct gsi_endpoint *ep, enum cm_kind kind, const struct xen_ibgsi_send *send,
		 struct gsi_conn **going_on)
{
	u32 id = cm_local_id(kind, send->mad);
	struct gsi_conn *conn = id ? xa_load(&ep->by_guest, id) : NULL;
	int err;

	if (!conn) {
		err = answer(ep, kind, send, &conn);
		if (err)
			return err;
	}
	if (!cm_state_fits(&conn->state, kind, cm_remote_id(kind, send->mad)))
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_ID, -EINVAL);
	if (kind == CM_REP && conn->ipoib && cm_ipoib_own(kind, send->mad) != conn->ipoib)
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_CLAIM, -EINVAL);
	is_answered(conn);
	cm_state_say(&conn->state, kind);
	if (kind == CM_REP || kind == CM_RTU)
		set_lasts(conn, true);
	else if (cm_ends(kind))
		stay(conn, LATE_FOR);
	else if (!conn->lasts)
		stay(conn, WAITS_FOR);
	*going_on = conn;
	return 0;
}

/* With the table's lock held: what goes out, and where to. */
static int prepare(struct gsi_endpoint *ep, enum cm_kind kind, struct xen_ibgsi_send *send)
{
	struct gsi_conn *conn;
	int err;

	err = cm_asks(kind) ? ask(ep, kind, send, &conn) : go_on(ep, kind, send, &conn);
	if (err)
		return err;
	if (conn->reserved)
		cm_set_local_id(kind, send->mad, conn->wire);
	send->dlid = conn->state.lid;
	return 0;
}

int gsi_cm_send(struct gsi_endpoint *ep, const struct xen_ibgsi_send *from)
{
	struct xen_ibgsi_send send = *from;
	enum cm_kind kind = cm_kind(send.mad);
	struct rdma_ah_attr attr;
	int err;

	/* Whoever may load an alternate path needs a check of it, which is not written. */
	if (kind == CM_NONE || kind == CM_LAP || kind == CM_APR)
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_KIND, -EOPNOTSUPP);
	if (!gsi_endpoint_may_use(ep, send.pkey_index) || !claims_only(ep, kind, send.mad))
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_CLAIM, -EINVAL);
	mutex_lock(&ep->hca->cm.lock);
	err = prepare(ep, kind, &send);
	mutex_unlock(&ep->hca->cm.lock);
	if (err)
		return err;
	gsi_fill_attr(ep, &send, &attr);
	return gsi_post(ep, &attr, send.pkey_index, send.mad, 0, 0);
}

/* In */

struct incoming {
	struct gsi_hca *hca;
	u32 port;
	enum cm_kind kind;
	const struct ib_wc *wc;
	const struct ib_grh *grh;
	const u8 *mad;
};

static void deliver(const struct incoming *in, struct gsi_conn *conn)
{
	struct xen_ibgsi_mad to;

	gsi_fill_mad(&to, in->wc, in->grh, in->mad);
	if (cm_remote_id(in->kind, to.mad))
		cm_set_remote_id(in->kind, to.mad, conn->guest);
	gsi_queue_put(conn->ep, &to, READ_ONCE(conn->ep->era));
}

static struct gsi_conn *new_asked(const struct incoming *in, struct gsi_endpoint *ep, u32 id)
{
	struct gsi_conn *conn;

	if (ep->n_asked >= MAX_ASKED)
		end_old(ep);
	if (ep->n_asked >= MAX_ASKED)
		return NULL;
	conn = new_conn(ep);
	if (!conn)
		return NULL;
	conn->state = (struct cm_state){
		.lid = in->wc->slid,
		.peer = id,
		.by_peer = true,
		.sidr = cm_is_sidr(in->kind),
	};
	conn->waits = true;
	ep->n_asked++;
	gsi_changed(ep);
	hash_add(in->hca->cm.asked, &conn->asked, peer_key(in->wc->slid, id));
	return conn;
}

/* GIDs of guests' own; those of the port are for all. */
static struct gsi_endpoint *find_by_gid(const struct incoming *in, const u8 *gid)
{
	struct gsi_endpoint *ep;
	union ib_gid own;

	list_for_each_entry(ep, &in->hca->cm.takers, takes) {
		if (ep->port == in->port && READ_ONCE(ep->alias.index) && !gsi_own_gid(ep, &own) &&
		    !memcmp(own.raw, gid, sizeof(own)))
			return ep;
	}
	return NULL;
}

bool gsi_cm_offers(const struct gsi_endpoint *ep, __be64 service)
{
	unsigned int i;

	for (i = 0; i < ep->n_services; i++) {
		if (ep->services[i] == service)
			return true;
	}
	return false;
}

static struct gsi_endpoint *find_by_service(const struct incoming *in)
{
	struct gsi_endpoint *ep;
	__be64 service;

	memcpy(&service, cm_service(in->mad), sizeof(service));
	list_for_each_entry(ep, &in->hca->cm.takers, takes) {
		if (ep->port == in->port && gsi_cm_offers(ep, service))
			return ep;
	}
	return NULL;
}

static struct gsi_endpoint *find_by_gids(const struct incoming *in)
{
	struct gsi_endpoint *ep = NULL;

	if (in->grh && in->wc->wc_flags & IB_WC_GRH)
		ep = find_by_gid(in, in->grh->dgid.raw);
	if (!ep && in->kind == CM_REQ)
		ep = find_by_gid(in, cm_asked_gid(in->mad));
	return ep;
}

static struct gsi_endpoint *find_by_question(const struct incoming *in, u32 *ipoib)
{
	struct gsi_endpoint *ep = find_by_gids(in);
	struct cm_addr to;

	*ipoib = cm_ipoib_asked(in->kind, in->mad);
	if (ep)
		return ep;
	if (*ipoib)
		return gsi_qpn_find(in->hca, in->port, *ipoib);
	if (cm_destination(in->kind, in->mad, &to))
		return gsi_addr_find(in->hca, in->port, &to);
	return find_by_service(in);
}

/* Those that ask again are heard again. */
static bool take_question(const struct incoming *in)
{
	u32 id = cm_local_id(in->kind, in->mad), ipoib;
	struct gsi_endpoint *ep;
	struct gsi_conn *conn;

	ep = find_by_question(in, &ipoib);
	if (!ep)
		return false;
	conn = find_asked(in->hca, in->port, ep, in->wc->slid, id, cm_is_sidr(in->kind));
	if (!conn)
		conn = new_asked(in, ep, id);
	else if (!conn->lasts)
		stay(conn, WAITS_FOR);
	if (conn) {
		conn->ipoib = ipoib;
		deliver(in, conn);
		return true;
	}
	gsi_count(ep, &ep->stats.conns_denied);
	pr_warn_ratelimited("domain %u has too many connections\n", ep->domid);
	return true;
}

/* A peer that gives up before it was answered knows no id but its own. */
static struct gsi_conn *find_rejected(const struct incoming *in)
{
	if (in->kind != CM_REJ)
		return NULL;
	return find_asked(in->hca, in->port, NULL, in->wc->slid, cm_local_id(in->kind, in->mad),
			  false);
}

static void hear(const struct incoming *in, struct gsi_conn *conn)
{
	cm_state_hear(&conn->state, in->kind, cm_local_id(in->kind, in->mad));
	if (cm_ends(in->kind))
		stay(conn, LATE_FOR);
	else if (!conn->lasts)
		stay(conn, WAITS_FOR);
	deliver(in, conn);
}

static bool take_other(const struct incoming *in)
{
	u32 id = cm_remote_id(in->kind, in->mad);
	struct gsi_conn *conn;

	conn = id ? xa_load(&in->hca->cm.ids, id) : find_rejected(in);
	if (!conn)
		return false;
	/* What is not its peer's is nobody's. */
	if (conn->state.lid == in->wc->slid && conn->ep->port == in->port &&
	    conn->state.sidr == cm_is_sidr(in->kind))
		hear(in, conn);
	else
		gsi_count(conn->ep, &conn->ep->stats.strays);
	return true;
}

bool gsi_cm_receive(struct gsi_hca *hca, u32 port, const struct ib_wc *wc, const struct ib_grh *grh,
		    const u8 *mad)
{
	struct incoming in = {
		.hca = hca,
		.port = port,
		.kind = cm_kind(mad),
		.wc = wc,
		.grh = grh,
		.mad = mad,
	};
	bool taken;

	if (in.kind == CM_NONE)
		return false;
	mutex_lock(&hca->cm.lock);
	taken = cm_asks(in.kind) ? take_question(&in) : take_other(&in);
	mutex_unlock(&hca->cm.lock);
	return taken;
}

/* The table */

void gsi_cm_take(struct gsi_endpoint *ep)
{
	struct gsi_cm *cm = &ep->hca->cm;

	mutex_lock(&cm->lock);
	if (list_empty(&ep->takes))
		list_add_tail(&ep->takes, &cm->takers);
	mutex_unlock(&cm->lock);
}

void gsi_cm_forget(struct gsi_endpoint *ep)
{
	struct gsi_conn *conn, *next;

	mutex_lock(&ep->hca->cm.lock);
	list_del_init(&ep->takes);
	gsi_addr_forget(ep);
	list_for_each_entry_safe(conn, next, &ep->conns, list)
		end(conn);
	mutex_unlock(&ep->hca->cm.lock);
}

static void age_work(struct work_struct *work)
{
	struct gsi_cm *cm = container_of(work, struct gsi_cm, age.work);
	struct gsi_conn *conn;
	struct hlist_node *next;
	unsigned long id;
	int bucket;

	mutex_lock(&cm->lock);
	hash_for_each_safe(cm->asked, bucket, next, conn, asked)
		end_if_old(conn);
	xa_for_each(&cm->ids, id, conn)
	{
		end_if_old(conn);
	}
	mutex_unlock(&cm->lock);
	schedule_delayed_work(&cm->age, AGE_EVERY);
}

void gsi_cm_init(struct gsi_cm *cm)
{
	mutex_init(&cm->lock);
	xa_init(&cm->ids);
	hash_init(cm->asked);
	INIT_LIST_HEAD(&cm->addrs);
	INIT_LIST_HEAD(&cm->takers);
	INIT_DELAYED_WORK(&cm->age, age_work);
	schedule_delayed_work(&cm->age, AGE_EVERY);
}

void gsi_cm_exit(struct gsi_cm *cm)
{
	cancel_delayed_work_sync(&cm->age);
	xa_destroy(&cm->ids);
}
