/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gsi.h - what the files of xen-ibgsi share.
 *
 * An endpoint is a vHCA that has management: an open file. It belongs to an HCA from
 * XEN_IBGSI_ATTACH on, until either goes. What its guest has sent is hostile, and so is what comes
 * from the fabric: nothing is looked at but fields at fixed places of a MAD of full size.
 */
#ifndef XEN_IBGSI_GSI_H
#define XEN_IBGSI_GSI_H

#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

#include "cm_mad.h"
#include "cm_state.h"
#include "sa_mad.h"
#include "sa_table.h"
#include "xen-ibgsi.h"

/* What one guest may have at a time, beside SA_REQUESTS that wait for an answer, */
#define MAX_GROUPS 256
#define MAX_CONNS 4096       /* connections */
#define MAX_ASKED 1024       /* of those, such as others ask for and the guest has not answered */
#define MAX_ASKED_BY_ONE 128 /* of these, of one CA */
#define MAX_ADDRS 64
#define MAX_WAITING 256 /* MADs that have come, and are not read yet; further ones are dropped */

/* and how many MADs it may send: so many at once, and so many a second. */
#define SEND_BURST 2000
#define SEND_RATE 1000

/* Where the subnet's administration is, as seen from a port. */
struct gsi_sa {
	u16 lid, pkey_index;
	u8 sl;
};

/* Connections by one HCA (cm.c), and the addresses that they ask for (addr.c). */
struct gsi_cm {
	struct mutex lock;           /* inside of an endpoint's */
	struct xarray ids;           /* as others see them -> struct gsi_conn */
	DECLARE_HASHTABLE(asked, 8); /* those that the other side has begun */
	struct list_head addrs;      /* struct gsi_addr */
	struct list_head takers;     /* endpoints whose guests have a part in management */
	struct delayed_work age;
};

/* Who is asked about MADs that come to an HCA (hook.c). */
struct gsi_hook {
	int (*driver)(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		      const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index);
	atomic_t inside;
};

/* An HCA, with those that use it. */
struct gsi_hca {
	struct list_head list;
	struct ib_device *ibdev;
	struct list_head endpoints;
	unsigned int n_closing; /* in no list, still use it; both under gsi_lock of main.c */
	struct ib_event_handler events;
	struct work_struct look;
	struct gsi_hook hook;
	struct gsi_cm cm;
};

/* A GID of the guest's own (alias.c). */
struct gsi_alias {
	struct mutex lock;       /* outside of an endpoint's */
	u16 index;               /* its place in the port's table; 0: none. Under the lock */
	struct delayed_work ask; /* asks the SA for it again */
	int err;                 /* of what it asked last, which is said once */
};

struct gsi_endpoint {
	struct list_head list; /* of the HCA's; under gsi_lock of main.c, as is */
	bool closing;          /* in no list, still uses the HCA */
	u32 domid;
	struct task_struct *owner; /* who attached, and makes the guest's QPs */
	__be64 node_guid;
	u64 pkeys[XEN_IBGSI_PKEYS / 64]; /* bits: the guest's indices */

	struct mutex lock;       /* who sends, joins and leaves: all up to the next lock */
	struct ib_device *ibdev; /* NULL: not attached yet */
	struct gsi_hca *hca;
	u32 port;
	bool dead; /* the HCA is gone */
	struct ib_mad_agent *agent;
	struct gsi_sa sa;
	u16 lid, lid_mask;       /* of the port; the mask is without the bits that choose a path */
	struct list_head groups; /* struct gsi_group */
	unsigned int n_groups;
	struct work_struct leave; /* groups that are to be left */
	struct gsi_alias alias;
	u64 tokens;           /* MADs that may be sent, times HZ */
	unsigned long filled; /* jiffies: when that was so */

	spinlock_t requests_lock; /* of those that wait for an answer */
	struct sa_table requests; /* by the lower half of a transaction's id on the wire */

	/* Under the lock of the HCA's gsi_cm */
	struct list_head conns[CM_STAGES]; /* struct gsi_conn */
	unsigned int n_conns, n_open, n_asked;
	struct xarray by_guest; /* the guest's id -> struct gsi_conn */
	struct list_head takes; /* of the HCA's takers, since the guest has a part */
	unsigned int n_addrs;
	__be64 services[XEN_IBGSI_SERVICES];
	unsigned int n_services;
	struct cm_addr refused; /* the last address that another has */

	spinlock_t queue_lock; /* of what has come */
	struct list_head queue;
	unsigned int n_queued;
	struct xen_ibgsi_stats stats; /* but groups, conns, asked: see n_groups, n_open, n_asked */
	atomic_t news;                /* of what was counted: the stats have not been read since */
	u32 era;                      /* of RESET: answers to what was sent before it are dropped */
	wait_queue_head_t readable;
};

/** gsi_hca_of() - main.c: of an HCA that has been added, until it has been removed. */
struct gsi_hca *gsi_hca_of(struct ib_device *ibdev);

/* endpoint.c */

/** gsi_endpoint_attach() - begins to use a port of an HCA, which is in nobody's way to go. */
int gsi_endpoint_attach(struct gsi_endpoint *ep, struct gsi_hca *hca, u32 port);

/** gsi_endpoint_detach() - nothing of it is in use of the HCA any more. May sleep for seconds. */
void gsi_endpoint_detach(struct gsi_endpoint *ep);

/** gsi_endpoint_start() - what others ask is for it from now on. With ep->lock held. -ENODEV. */
int gsi_endpoint_start(struct gsi_endpoint *ep);

/** gsi_endpoint_reset() - with ep->lock held. */
void gsi_endpoint_reset(struct gsi_endpoint *ep);

/** gsi_endpoint_send() - a MAD of the guest's. With ep->lock held. */
int gsi_endpoint_send(struct gsi_endpoint *ep, const struct xen_ibgsi_send *send);

/**
 * gsi_post() - sends a MAD, with ep->lock held.
 * @id: that of the transaction with the SA, which is left when the MAD is done with; 0: of none
 * @answer_ms: how long an answer is waited for, without which it would not get to us; 0: none
 */
int gsi_post(struct gsi_endpoint *ep, struct rdma_ah_attr *to, u16 pkey_index, const u8 *mad,
	     u32 id, unsigned int answer_ms);

/** gsi_fill_attr() - where the guest sends it to. */
void gsi_fill_attr(const struct gsi_endpoint *ep, const struct xen_ibgsi_send *send,
		   struct rdma_ah_attr *attr);

/** gsi_fill_mad() - what has come, for the guest. */
void gsi_fill_mad(struct xen_ibgsi_mad *to, const struct ib_wc *wc, const struct ib_grh *grh,
		  const u8 *mad);

/** gsi_is_unicast() - whether it is one port's. */
bool gsi_is_unicast(u16 lid);

/** gsi_endpoint_may_use() - whether the guest has the P_Key there. */
bool gsi_endpoint_may_use(const struct gsi_endpoint *ep, u16 pkey_index);

/** gsi_endpoint_look() - the port may have changed: finds its SA. */
void gsi_endpoint_look(struct gsi_endpoint *ep);

/** gsi_endpoint_has_pkey() - whether the guest is in the partition: by any of its indices. */
bool gsi_endpoint_has_pkey(const struct gsi_endpoint *ep, u16 pkey);

/**
 * gsi_queue_put() - the guest is to read it.
 * @era: that of what it answers
 *
 * False: it was dropped.
 */
bool gsi_queue_put(struct gsi_endpoint *ep, const struct xen_ibgsi_mad *mad, u32 era);

/** gsi_queue_take() - false: there is none. */
bool gsi_queue_take(struct gsi_endpoint *ep, struct xen_ibgsi_mad *mad);

/** gsi_changed() - there is another number in the stats than when they were read. */
void gsi_changed(struct gsi_endpoint *ep);

/** gsi_count() - adds one to a counter of ep->stats. */
void gsi_count(struct gsi_endpoint *ep, u64 *counter);

/** gsi_refuse() - counts why a MAD of the guest's is refused, and returns err. */
int gsi_refuse(struct gsi_endpoint *ep, enum xen_ibgsi_refusal why, int err);

/** gsi_endpoint_stats() - never waits long. */
void gsi_endpoint_stats(struct gsi_endpoint *ep, struct xen_ibgsi_stats *stats);

/*
 * sa.c: transactions with the subnet's administration, and others of a question and an answer. All
 * with ep->lock held but the handlers.
 */

struct gsi_question {
	const u8 *mad;
	struct rdma_ah_attr to;
	u16 pkey_index;
	bool whole;             /* the answer has no parts */
	unsigned int answer_ms; /* as in gsi_post() */
};

/** gsi_ask() - the answer gets to the guest, if it comes from where the question goes. */
int gsi_ask(struct gsi_endpoint *ep, struct gsi_question *question);

/** gsi_sa_send() - what the guest asks of it, as far as that goes there. */
int gsi_sa_send(struct gsi_endpoint *ep, const u8 *mad);

/** gsi_sa_forget() - no answer to what was sent gets to the guest. */
void gsi_sa_forget(struct gsi_endpoint *ep);

/** gsi_sa_answer() - the guest is given an answer as if the SA had sent it. In any thread. */
void gsi_sa_answer(struct gsi_endpoint *ep, const u8 *mad, u32 era);

void gsi_send_handler(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc);
void gsi_recv_handler(struct ib_mad_agent *agent, struct ib_mad_send_buf *sent,
		      struct ib_mad_recv_wc *wc);

/*
 * mcast.c: groups. The SA counts a port's membership once, whoever of the port has joined. So a
 * guest joins and leaves by this domain's own count of members (ib_sa_join_multicast()), and the
 * SA's answer is made here.
 */

/** gsi_mcast_join(), gsi_mcast_leave() - a Set or Delete of an MCMemberRecord. */
int gsi_mcast_join(struct gsi_endpoint *ep, const u8 *mad);
int gsi_mcast_leave(struct gsi_endpoint *ep, const u8 *mad);

/** gsi_mcast_leave_all() - with ep->lock held. They are left once ep->leave has run. */
void gsi_mcast_leave_all(struct gsi_endpoint *ep);

/** gsi_mcast_work() - ep->leave */
void gsi_mcast_work(struct work_struct *work);

extern struct ib_sa_client gsi_sa_client;

/** gsi_pma_send() - pma.c: the guest asks for its port's counters. With ep->lock held. */
int gsi_pma_send(struct gsi_endpoint *ep, const struct xen_ibgsi_send *send);

/* ping.c: the class that ibping uses. */
#define GSI_CLASS_PING 0x32

/** gsi_ping_send() - the guest asks whether somebody is there. With ep->lock held. */
int gsi_ping_send(struct gsi_endpoint *ep, const struct xen_ibgsi_send *send);

/* hook.c: MADs that come pass by here, before this domain looks at them. */

/** gsi_hook_add(), gsi_hook_remove() - after the latter nobody is in here, and nobody will be. */
void gsi_hook_add(struct gsi_hca *hca);
void gsi_hook_remove(struct gsi_hca *hca);

/* cm.c */

void gsi_cm_init(struct gsi_cm *cm);

/** gsi_cm_exit() - when all endpoints are gone. */
void gsi_cm_exit(struct gsi_cm *cm);

/** gsi_cm_send() - a message of the guest's connection manager. With ep->lock held. */
int gsi_cm_send(struct gsi_endpoint *ep, const struct xen_ibgsi_send *send);

/**
 * gsi_cm_is_last() - whether this message ends what the guest has begun or was asked. There is one
 * for each of these, which others went before. With ep->lock held, and an HCA.
 */
bool gsi_cm_is_last(struct gsi_endpoint *ep, const struct xen_ibgsi_send *send);

/** gsi_cm_receive() - false: it is not for a guest. */
bool gsi_cm_receive(struct gsi_hca *hca, u32 port, const struct ib_wc *wc, const struct ib_grh *grh,
		    const u8 *mad);

/** gsi_cm_offers() - whether it is asked for that service. With the lock of gsi_cm held. */
bool gsi_cm_offers(const struct gsi_endpoint *ep, __be64 service);

/** gsi_cm_take() - with ep->lock held: what others ask of its QPs is for this one from now on. */
void gsi_cm_take(struct gsi_endpoint *ep);

/** gsi_cm_forget() - nothing that comes is for this one any more. */
void gsi_cm_forget(struct gsi_endpoint *ep);

/* addr.c. The first that has an address keeps it. */

/** gsi_addr_change() - with ep->lock held. -EBUSY: it is another's. */
int gsi_addr_change(struct gsi_endpoint *ep, const struct xen_ibgsi_addr *change);

/** gsi_addr_find(), gsi_addr_forget() - with the lock of the HCA's gsi_cm held. */
struct gsi_endpoint *gsi_addr_find(struct gsi_hca *hca, u32 port, const struct cm_addr *addr);
void gsi_addr_forget(struct gsi_endpoint *ep);

/* alias.c */

void gsi_alias_init(struct gsi_endpoint *ep);

/** gsi_alias_claim() - a place in the port's table. With gsi_lock of main.c held. */
int gsi_alias_claim(struct gsi_endpoint *ep);

/**
 * gsi_alias_make() - the port has the GID after that, at the place that was claimed. Sleeps for
 * seconds. An error gives the place back.
 */
int gsi_alias_make(struct gsi_endpoint *ep, struct xen_ibgsi_alias *alias);

/** gsi_alias_again() - the SA may have forgotten it. */
void gsi_alias_again(struct gsi_endpoint *ep);

/** gsi_alias_end() - once ep->dead is set: it is given back. Sleeps for seconds. */
void gsi_alias_end(struct gsi_endpoint *ep);

/** gsi_own_gid() - that by which the guest is known: its own, or the port's. */
int gsi_own_gid(const struct gsi_endpoint *ep, union ib_gid *gid);

/* qpn.c: UD QPs of guests, by which IPoIB's connected mode asks for them. */

/** gsi_qpn_is_of() - whether it is the guest's, at its port. With ep->lock held. */
bool gsi_qpn_is_of(struct gsi_endpoint *ep, u32 qpn);

/** gsi_qpn_find() - whose it is. With the lock of the HCA's gsi_cm held. */
struct gsi_endpoint *gsi_qpn_find(struct gsi_hca *hca, u32 port, u32 qpn);

#endif
