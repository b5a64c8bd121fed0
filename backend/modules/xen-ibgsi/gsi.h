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

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

#include "sa_mad.h"
#include "sa_table.h"
#include "xen-ibgsi.h"

/* What one guest may have at a time, beside SA_REQUESTS that wait for an answer, */
#define MAX_GROUPS 256
#define MAX_WAITING 256 /* MADs that have come, and are not read yet; further ones are dropped */

/* and how many MADs it may send: so many at once, and so many a second. */
#define SEND_BURST 2000
#define SEND_RATE 1000

/* Where the subnet's administration is, as seen from a port. */
struct gsi_sa {
	u16 lid, pkey_index;
	u8 sl;
};

struct gsi_endpoint {
	struct list_head list; /* of the HCA's; under gsi_lock of main.c */
	u32 domid;
	__be64 node_guid;
	u64 pkeys[XEN_IBGSI_PKEYS / 64]; /* bits: the guest's indices */

	struct mutex lock;       /* who sends, joins and leaves: all up to the next lock */
	struct ib_device *ibdev; /* NULL: not attached yet */
	u32 port;
	bool dead; /* the HCA is gone */
	struct ib_mad_agent *agent;
	struct gsi_sa sa;
	struct list_head groups; /* struct gsi_group */
	unsigned int n_groups;
	struct work_struct leave; /* groups that are to be left */
	u64 tokens;               /* MADs that may be sent, times HZ */
	unsigned long filled;     /* jiffies: when that was so */

	spinlock_t requests_lock; /* of those that wait for an answer */
	struct sa_table requests; /* by the lower half of a transaction's id on the wire */

	spinlock_t queue_lock; /* of what has come */
	struct list_head queue;
	unsigned int n_queued;
	struct xen_ibgsi_stats stats; /* groups: see n_groups */
	u32 era;                      /* of RESET: answers to what was sent before it are dropped */
	wait_queue_head_t readable;
};

/* endpoint.c */

/** gsi_endpoint_attach() - begins to use a port of an HCA, which is in nobody's way to go. */
int gsi_endpoint_attach(struct gsi_endpoint *ep, struct ib_device *ibdev, u32 port);

/** gsi_endpoint_detach() - nothing of it is in use of the HCA any more. May sleep for seconds. */
void gsi_endpoint_detach(struct gsi_endpoint *ep);

/** gsi_endpoint_reset() - with ep->lock held. */
void gsi_endpoint_reset(struct gsi_endpoint *ep);

/** gsi_endpoint_send() - a MAD of the guest's. With ep->lock held. */
int gsi_endpoint_send(struct gsi_endpoint *ep, const u8 *mad);

/** gsi_endpoint_look() - the port may have changed: finds its SA. */
void gsi_endpoint_look(struct gsi_endpoint *ep);

/** gsi_endpoint_has_pkey() - whether the guest is in the partition: by any of its indices. */
bool gsi_endpoint_has_pkey(const struct gsi_endpoint *ep, u16 pkey);

/**
 * gsi_queue_put() - the guest is to read it.
 * @era: that of what it answers
 */
void gsi_queue_put(struct gsi_endpoint *ep, const struct xen_ibgsi_mad *mad, u32 era);

/** gsi_queue_take() - false: there is none. */
bool gsi_queue_take(struct gsi_endpoint *ep, struct xen_ibgsi_mad *mad);

/** gsi_endpoint_sent() - the guest's MAD went its way. */
void gsi_endpoint_sent(struct gsi_endpoint *ep);

/** gsi_endpoint_stats() - never waits long. */
void gsi_endpoint_stats(struct gsi_endpoint *ep, struct xen_ibgsi_stats *stats);

/* sa.c: transactions with the subnet's administration. All with ep->lock held but the handlers. */

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

#endif
