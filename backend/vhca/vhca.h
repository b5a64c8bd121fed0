/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhca.h - one vHCA while it is connected: its objects, limits and counters.
 *
 * There is one lock. It guards the handle table, the objects' links, references and uses, the
 * quota, the umems' states and the counters. It is never held across a system
 * call that can take long, and no thread that holds it takes another: so there is no order of locks
 * to get wrong. What keeps an object alive while a command works with it without the lock is its
 * count of uses; see commands/cmd.h.
 */
#ifndef XEN_IB_VHCA_VHCA_H
#define XEN_IB_VHCA_VHCA_H

#include <pthread.h>
#include <stdint.h>

#include "config/pkeys.h"
#include "hca/hca.h"
#include "shared-ring/vhca_response.h"
#include "util/histogram.h"
#include "util/log.h"
#include "vhca/handle.h"
#include "vhca/quota.h"
#include "vhca/transport.h"
#include "vhca/umem.h"
#include "vhca/watch.h"

/* What the guest calls a CQ of its own until it knows the handle. */
struct cq_label {
	uint32_t label; /* 0: none */
	xen_vhca_handle_t cq;
};

/* A guest process that has the device open, or the guest's kernel. */
struct context {
	struct object obj;
	struct hca_ctx *hca;
	struct object_list objects; /* of it, all but itself */
	uint32_t pid;
	bool kernel;
	char name[17];
	unsigned int streak;                        /* of the thread of events, see events.c */
	struct cq_label labels[XEN_VHCA_CQ_LABELS]; /* the newest; under the lock, as */
	unsigned int next_label;                    /* the place of the next one */
	int domain;    /* of an XRC domain: by which other contexts open it; else -1 */
	uint32_t xrcd; /* the domain in its own */
	LIST_ENTRY(context) link;
};

LIST_HEAD(context_list, context);

struct umem_obj {
	struct object obj;
	struct umem umem;
	uint32_t charged; /* its pages, as the quota has them */
};

struct mr {
	struct object obj;
	uint64_t length;
	uint32_t access;
	bool writable; /* it was registered with access that writes */
	const struct umem *umem;
	struct umem_obj *own; /* the umem of an inline registration that ends with it; else NULL */
};

struct uar {
	struct object obj;
	struct hca_uar uar;
};

struct cq {
	struct object obj;
	uint32_t event_bit; /* or XEN_VHCA_NO_EVENT */
	uint32_t cqes, cqe_size;
	struct watch watch;
};

struct srq {
	struct object obj;
	bool xrc;
	uint32_t xrcd; /* the domain, which it has open for itself */
};

/* A QP that is in a multicast group. */
struct mcast {
	struct qp *qp;
	uint8_t gid[16];
	uint16_t lid;
	LIST_ENTRY(mcast) link; /* in the vHCA's */
	LIST_ENTRY(mcast) of_qp;
};

LIST_HEAD(mcast_list, mcast);

struct qp {
	struct object obj;
	uint32_t type; /* enum xen_vhca_qp_type */
	struct mcast_list groups;
};

struct vhca_counters {
	uint64_t commands[XEN_VHCA_OPS];
	uint64_t refused[XEN_VHCA_OPS][XEN_VHCA_STATUSES];
	uint64_t unknown;        /* commands with no operation that exists */
	uint64_t kicks;          /* event channel notifications from the guest */
	uint64_t notifies;       /* and to it */
	uint64_t completions;    /* completion events of the HCA, without those of watches, */
	uint64_t read_behind;    /* of which so many have been read */
	uint64_t asyncs;         /* asynchronous events put into the ring */
	uint64_t asyncs_lost;    /* dropped, as the same one waited already */
	uint64_t event_notifies; /* to the guest, without those of watches */
	uint64_t dmabufs;        /* umems that were made as dma-bufs */
	struct histogram
		latency[XEN_VHCA_OPS];  /* of commands, from reading the request to its result */
	struct histogram event_latency; /* from reading events of the kernel to telling the guest */
};

/*
 * What the HCA refuses, and queues that end in an error: dom0's kernel has a line in its log for
 * most of them, some without any limit. So many at once and one more in each interval is what a
 * guest may cause; then its next command waits. One that causes so many more meanwhile, which takes
 * queues that it had before, is closed.
 */
#define VHCA_FAULTS 64
#define VHCA_FAULT_MS 250
#define VHCA_FAULTS_MOST 256

struct events;

/* Management datagrams of the guest's kernel */
struct vhca_mads {
	int fd;                /* hca/gsi.h; -1: none. Does not change while connected. */
	xen_vhca_handle_t ctx; /* of the context that has them; or XEN_VHCA_NO_HANDLE */
	uint32_t event_bit;
	bool told; /* the guest knows that some have come */
};

struct vhca {
	struct hca *hca;
	struct transport *t;
	/* These do not change while connected. */
	struct xen_vhca_device_attr attr;
	struct events *events;   /* NULL: the frontend has not asked for any */
	struct watches *watches; /* of CQs, if the transport tells of completions; else NULL */
	bool kernel;             /* the guest's kernel may have contexts */
	struct pkeys pkeys;      /* those that the guest may use */
	uint8_t gid_index; /* of the guest's own GID in the port's table; 0: it has the port's */

	pthread_mutex_t lock; /* all below */
	pthread_cond_t idle;  /* a context has no uses any more */
	struct handle_table handles;
	struct quota quota;
	bool uar_warned; /* that one could not be freed: a guest can make this happen */
	struct context_list contexts;
	struct mcast_list mcasts;
	struct vhca_counters counters;
	bool counted; /* events, say, and who writes the status has been woken for it: not again before it has */
	struct log_limit refusals;
	struct ratelimit faults;
	struct vhca_mads mads;
};

/*
 * vhca_init - 0 or -errno (of the HCA's query).
 * @quota: limits, copied; those that the HCA cannot keep are narrowed
 * @hca, @t: belong to the caller, and outlive the vhca
 */
int vhca_init(struct vhca *v, struct hca *hca, struct transport *t, const struct quota *quota);

/*
 * vhca_set_qp_limits - those that are imposed on QPs from now on. What the guest has been told of the
 * device stays. Takes the lock.
 */
void vhca_set_qp_limits(struct vhca *v, const struct qp_limits *limits);

/* vhca_qp_limits - a copy. Takes the lock. */
struct qp_limits vhca_qp_limits(struct vhca *v);

/* vhca_fini - destroys everything that the guest had. No command may be at work any more. */
void vhca_fini(struct vhca *v);

/*
 * vhca_enter - uses a context, which is not closed meanwhile; NULL if there is none (any more).
 * Undone by vhca_leave(). Both take the lock themselves.
 */
struct context *vhca_enter(struct vhca *v, xen_vhca_handle_t handle);
void vhca_leave(struct vhca *v, struct context *ctx);

/*
 * vhca_fault - there was one. Under the lock.
 * @own: nobody else could have caused it. Those that a peer on the fabric can cause slow the guest
 *       down, but do not have it closed.
 */
void vhca_fault(struct vhca *v, bool own);

/* vhca_pause_ms - how long the next command has to wait; 0: it need not. Takes the lock. */
uint64_t vhca_pause_ms(struct vhca *v);

/* vhca_is_faulty - there were too many. Takes the lock. */
bool vhca_is_faulty(struct vhca *v);

/* vhca_owes_ms - after vhca_fini(): after how long the guest may be served again. */
uint64_t vhca_owes_ms(const struct vhca *v);

/* vhca_end_mads - if this context has them, it does not any more. Takes the lock. */
void vhca_end_mads(struct vhca *v, xen_vhca_handle_t ctx);

/* vhca_end_watches - none of the context's CQs is watched any more. Nobody else uses the context. */
void vhca_end_watches(struct vhca *v, struct context *ctx);

/* vhca_free_uar - the guest can no longer map it, in whatever state its mapping is. Takes the lock. */
void vhca_free_uar(struct vhca *v, const struct uar *uar);

/* vhca_forget_mcast - the QP is not in this group any more; _mcasts: in none. Under the lock. */
void vhca_forget_mcast(struct vhca *v, struct mcast *mcast);
void vhca_forget_mcasts(struct vhca *v, struct qp *qp);

/*
 * vhca_destroy_context - destroys a context and all that is in it: first on the HCA, then the
 * mappings, then the handles. Nobody uses it and its handle is unpublished or it is dying. Takes
 * the lock itself.
 */
void vhca_destroy_context(struct vhca *v, struct context *ctx);

#endif
