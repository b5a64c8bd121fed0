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
 * ended, for what comes late. Nothing follows from the age of a connection that the guest has
 * accepted and the other has not confirmed: the confirmation can be lost, and the connection works.
 * If the table is full, those that have ended make room, then these, as not all who ask are honest.
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
/* A question that comes again sooner is dropped; connection managers wait longer */
#define AGAIN_AFTER (HZ / 4)

/* One connection, or one exchange about datagrams. */
struct gsi_conn {
	struct list_head list;   /* of the endpoint's at this stage, the longest untouched first */
	struct hlist_node asked; /* by whom */
	struct gsi_endpoint *ep;
	struct ib_cm_id *reserved; /* NULL: the guest has named no id yet */
	u32 wire, guest;           /* the guest's id, as others see it and as it does */
	__be64 asker;              /* its GUID, as far as it says it */
	u32 ipoib;                 /* the guest's QP that the other asked for; 0: for none */
	struct cm_state state;
	bool waits; /* for the guest, that was asked */
	bool open;  /* counts as such */
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

static void count_open(struct gsi_conn *conn, bool open)
{
	if (open == conn->open)
		return;
	conn->ep->n_open += open;
	conn->ep->n_open -= conn->open;
	conn->open = open;
	gsi_changed(conn->ep);
}

/* Something was said. */
static void touch(struct gsi_conn *conn)
{
	enum cm_stage stage = conn->state.stage;

	count_open(conn, stage == CM_OPEN);
	conn->until = jiffies + (stage == CM_ENDED ? LATE_FOR : WAITS_FOR);
	list_move_tail(&conn->list, &conn->ep->conns[stage]);
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
	count_open(conn, false);
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
static void drop(struct gsi_conn *conn)
{
	if (conn->state.stage != CM_ENDED)
		gsi_count(conn->ep, &conn->ep->stats.conns_aged);
	end(conn);
}

static bool is_old(const struct gsi_conn *conn)
{
	return (conn->state.stage == CM_BEGUN || conn->state.stage == CM_ENDED) &&
	       time_after(jiffies, conn->until);
}

/* Of one that is at its beginning: whether something was said a moment ago. */
static bool is_fresh(const struct gsi_conn *conn)
{
	return time_before(jiffies, conn->until - WAITS_FOR + AGAIN_AFTER);
}

static void drop_if_old(struct gsi_conn *conn)
{
	if (is_old(conn))
		drop(conn);
}

static struct gsi_conn *first(struct gsi_endpoint *ep, enum cm_stage stage)
{
	return list_first_entry_or_null(&ep->conns[stage], struct gsi_conn, list);
}

static void drop_unanswered(struct gsi_endpoint *ep)
{
	struct gsi_conn *conn;

	while ((conn = first(ep, CM_BEGUN)) && is_old(conn))
		drop(conn);
}

static bool make_room(struct gsi_endpoint *ep)
{
	struct gsi_conn *conn;

	if (ep->n_conns < MAX_CONNS)
		return true;
	drop_unanswered(ep);
	conn = first(ep, CM_ENDED) ?: first(ep, CM_OFFERED);
	if (conn)
		drop(conn);
	return ep->n_conns < MAX_CONNS;
}

static struct gsi_conn *new_conn(struct gsi_endpoint *ep)
{
	struct gsi_conn *conn;

	if (!make_room(ep))
		return NULL;
	conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	if (!conn)
		return NULL;
	conn->ep = ep;
	INIT_LIST_HEAD(&conn->list);
	ep->n_conns++;
	touch(conn);
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
	if (cm_asks(kind) && !gsi_endpoint_has_pkey(ep, cm_asked_pkey(kind, mad)))
		return false;
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
	if (conn && (conn->state.by_peer || conn->state.stage == CM_OPEN))
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
	touch(conn);
	*asking = conn;
	return 0;
}

/*
 * What a message of the guest's that asks nothing is about. The first about what it was asked names
 * the guest's own id, which nobody knows yet.
 */
static struct gsi_conn *find_told(struct gsi_endpoint *ep, enum cm_kind kind,
				  const struct xen_ibgsi_send *send)
{
	u32 id = cm_local_id(kind, send->mad), peer = cm_remote_id(kind, send->mad);
	struct gsi_conn *conn = id ? xa_load(&ep->by_guest, id) : NULL;

	if (!conn) {
		conn = find_asked(ep->hca, ep->port, ep, send->dlid, peer, cm_is_sidr(kind));
		if (conn && conn->reserved)
			return NULL;
	}
	return conn && cm_state_fits(&conn->state, kind, peer) ? conn : NULL;
}

static int go_on(struct gsi_endpoint *ep, enum cm_kind kind, const struct xen_ibgsi_send *send,
		 struct gsi_conn **going_on)
{
	struct gsi_conn *conn = find_told(ep, kind, send);
	u32 id = cm_local_id(kind, send->mad);
	int err;

	if (!conn)
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_ID, -EINVAL);
	if (id && !conn->reserved) {
		err = reserve(conn, id);
		if (err)
			return err;
	}
	if (kind == CM_REP && conn->ipoib && cm_ipoib_own(kind, send->mad) != conn->ipoib)
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_CLAIM, -EINVAL);
	is_answered(conn);
	cm_state_say(&conn->state, kind);
	touch(conn);
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

bool gsi_cm_is_last(struct gsi_endpoint *ep, const struct xen_ibgsi_send *send)
{
	enum cm_kind kind = cm_kind(send->mad);
	const struct gsi_conn *conn;
	bool last;

	if (!cm_ends(kind) || !gsi_endpoint_may_use(ep, send->pkey_index))
		return false;
	mutex_lock(&ep->hca->cm.lock);
	conn = find_told(ep, kind, send);
	last = conn && conn->state.stage != CM_ENDED;
	mutex_unlock(&ep->hca->cm.lock);
	return last;
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

/* False: it was dropped, as the guest has not read what came before. */
static bool deliver(const struct incoming *in, struct gsi_conn *conn)
{
	struct xen_ibgsi_mad to;

	gsi_fill_mad(&to, in->wc, in->grh, in->mad);
	if (cm_remote_id(in->kind, to.mad))
		cm_set_remote_id(in->kind, to.mad, conn->guest);
	return gsi_queue_put(conn->ep, &to, READ_ONCE(conn->ep->era));
}

/* Whether who asks has as many questions there as one may have, which keeps room for others'. */
static bool asks_too_much(const struct gsi_endpoint *ep, u16 lid, __be64 asker)
{
	const struct gsi_conn *conn;
	unsigned int n = 0;

	list_for_each_entry(conn, &ep->conns[CM_BEGUN], list) {
		if (conn->waits && conn->state.lid == lid && conn->asker == asker &&
		    ++n >= MAX_ASKED_BY_ONE)
			return true;
	}
	return false;
}

static struct gsi_conn *new_asked(const struct incoming *in, struct gsi_endpoint *ep, u32 id)
{
	__be64 asker = cm_asker(in->kind, in->mad);
	struct gsi_conn *conn;

	drop_unanswered(ep);
	if (ep->n_asked >= MAX_ASKED || asks_too_much(ep, in->wc->slid, asker))
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
	conn->asker = asker;
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

/* By any of its entries in the port's table, as full and limited members have two. */
static bool is_of_partition(struct gsi_endpoint *ep, u16 pkey_index)
{
	u16 pkey;

	return !ib_get_cached_pkey(ep->ibdev, ep->port, pkey_index, &pkey) &&
	       gsi_endpoint_has_pkey(ep, pkey);
}

static void deny(struct gsi_endpoint *ep)
{
	gsi_count(ep, &ep->stats.conns_denied);
	pr_warn_ratelimited("domain %u has too many connections\n", ep->domid);
}

/* What the guest never sees leaves nothing. */
static void ask_guest(const struct incoming *in, struct gsi_endpoint *ep, u32 ipoib)
{
	struct gsi_conn *conn = new_asked(in, ep, cm_local_id(in->kind, in->mad));

	if (!conn)
		return deny(ep);
	conn->ipoib = ipoib;
	if (!deliver(in, conn))
		end(conn);
}

/*
 * Those that ask again are heard again, but not at once. Whoever does so after the end has not
 * heard of that. For the guest it is another question, and it answers with another id.
 */
static bool take_question(const struct incoming *in)
{
	u32 id = cm_local_id(in->kind, in->mad), ipoib;
	struct gsi_endpoint *ep;
	struct gsi_conn *conn;

	ep = find_by_question(in, &ipoib);
	if (!ep)
		return false;
	if (!is_of_partition(ep, in->wc->pkey_index)) {
		gsi_count(ep, &ep->stats.strays);
		return true;
	}
	conn = find_asked(in->hca, in->port, ep, in->wc->slid, id, cm_is_sidr(in->kind));
	if (conn && conn->state.stage == CM_ENDED) {
		end(conn);
		conn = NULL;
	}
	if (!conn) {
		ask_guest(in, ep, ipoib);
		return true;
	}
	if (conn->waits && is_fresh(conn))
		return true;
	conn->ipoib = ipoib;
	if (conn->state.stage == CM_BEGUN)
		touch(conn);
	deliver(in, conn);
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
	if (conn->state.stage == CM_ENDED)
		is_answered(conn);
	touch(conn);
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
	struct gsi_conn *conn;
	enum cm_stage stage;

	mutex_lock(&ep->hca->cm.lock);
	list_del_init(&ep->takes);
	gsi_addr_forget(ep);
	for (stage = 0; stage < CM_STAGES; stage++) {
		while ((conn = first(ep, stage)))
			end(conn);
	}
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
		drop_if_old(conn);
	xa_for_each(&cm->ids, id, conn)
	{
		drop_if_old(conn);
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
