/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kverbs.h - the guest's kernel as a user of the device, as processes are: a context, a doorbell
 * page, queues that it posts to and polls itself.
 *
 * Everything that the HCA writes is as the backend may have written it. So a completion is believed
 * only if a WR waits for it, and each WR completes once at most: a consumer's pointer is never
 * given back to it twice. What such a backend can do is to complete WRs too early, or never.
 *
 * Locks: a queue's, then its CQ's (queue/queues.h), both with interrupts off.
 */
#ifndef XENIB_KVERBS_H
#define XENIB_KVERBS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "kernel/dma.h"
#include "kernel/gsi.h"
#include "kernel/pool.h"
#include "kernel/reads.h"
#include "kernel/recv.h"
#include "kernel/reg.h"
#include "queue/queues.h"
#include "queue/size.h"
#include "xenib.h"

/* uar.c: a doorbell page that the kernel has mapped. */
struct xenib_kuar {
	struct xenib_uar uar;
	struct xenib_doorbell bell;
	struct page *place; /* PV: what is at the address before and after */
};

/** xenib_kuar_create() - gets a doorbell page from the backend, and maps it. */
int xenib_kuar_create(struct xenib_context *ctx, struct xenib_kuar *kuar);

/**
 * xenib_kuar_withdraw() - takes a machine frame out of the page tables of a PV guest, which can be
 * suspended then. When nobody rings any more: there is ordinary memory at the address.
 */
void xenib_kuar_withdraw(struct xenib_kuar *kuar);

/** xenib_kuar_destroy() - when no queue is left. */
void xenib_kuar_destroy(struct xenib_kuar *kuar);

/* context.c */
struct xenib_kcontext {
	struct xenib_context ctx;
	struct xenib_kuar uar;
	struct xenib_limits limits;
	bool mw_entries; /* the backend has windows of several entries */
	struct xenib_qp_table qps;
	struct xenib_pool pool;
	struct xenib_dma dma;

	struct mutex srq_qps_lock; /* of their list, and of their change to the error state */
	struct list_head srq_qps;  /* QPs that have an SRQ */

	struct xenib_gsi gsi;

	spinlock_t lock; /* of the list */
	struct list_head cqs;
	struct work_struct wake;
};

/**
 * xenib_kverbs_wanted() - whether the kernel is to use the device: by the module parameter kverbs,
 * and by the vHCA's configuration.
 */
bool xenib_kverbs_wanted(struct xenib_dev *dev);

/** xenib_kcontext_open() - sets dev->kernel, before the device is registered. */
int xenib_kcontext_open(struct xenib_dev *dev);

/** xenib_kcontext_close() - if there is one, once the device is not registered any more. */
void xenib_kcontext_close(struct xenib_dev *dev);

/**
 * xenib_kcontext_settle() - if there is one, and the backend is gone: its consumers have been told
 * of all that has ended with the backend. Before they lose the device, as some take what they hear
 * of after that for the end of something else.
 */
void xenib_kcontext_settle(struct xenib_dev *dev);

/**
 * xenib_kcontext_wake() - the backend is gone: who waits for completions has to look for them, as
 * no event will come. In any context.
 */
void xenib_kcontext_wake(struct xenib_kcontext *kernel);

/** xenib_kcontext_is_dead() - whether the backend is gone, so that nothing is carried out. */
static inline bool xenib_kcontext_is_dead(const struct xenib_kcontext *kernel)
{
	return xenib_ring_is_dead(kernel->ctx.dev->ring);
}

/* cq.c */
struct xenib_kcq {
	struct xenib_cq_queue q;
	struct xenib_cq *cq;
	struct xenib_kcontext *kernel;
	struct list_head list;      /* kernel->cqs */
	struct list_head senders;   /* QPs that complete here; under q.lock */
	struct list_head receivers; /* of those, that have a receive queue */
	bool armed;                 /* the consumer waits for an event; under q.lock */
	bool hca_armed;             /* the HCA is to tell of one, and has not yet; under q.lock */
	bool solicited;             /* what was asked for last; under q.lock */
	bool has_copied;            /* what was read, as it was polled last; under q.lock */

	/* Completions that we write (gsi.h): a ring with free running indices, under q.lock */
	struct ib_wc *soft; /* NULL: none */
	u32 soft_mask, soft_head, soft_tail;
	u32 soft_count; /* that may wait at most */
};

static inline struct xenib_kcq *xenib_kcq_of(struct xenib_cq_queue *q)
{
	return container_of(q, struct xenib_kcq, q);
}

/**
 * xenib_kcq_init() - sets cq->k and mem of a CQ that is to be made.
 * @entries: a power of two
 */
int xenib_kcq_init(struct xenib_cq *cq, u32 entries);

/** xenib_kcq_exit() - the backend does not have the CQ, or not any more. Leaves mem. */
void xenib_kcq_exit(struct xenib_cq *cq);

/** xenib_kcq_publish() - the backend has made the CQ: it has its number. */
void xenib_kcq_publish(struct xenib_cq *cq);

/** xenib_kcq_withdraw() - before the CQ ends. Its handler is not called any more. */
void xenib_kcq_withdraw(struct xenib_cq *cq);

/**
 * xenib_kcq_add_soft() - from now on there may be completions that we write.
 * @count: more of them than before may wait to be polled
 */
int xenib_kcq_add_soft(struct xenib_kcq *k, u32 count);

/** xenib_kcq_drop_soft() - so many fewer. The ring stays as it is. */
void xenib_kcq_drop_soft(struct xenib_kcq *k, u32 count);

/** xenib_kcq_complete() - one of them. Where one can sleep. */
void xenib_kcq_complete(struct xenib_kcq *k, const struct ib_wc *wc);

/** xenib_kcq_clean_soft() - drops those of a QP. */
void xenib_kcq_clean_soft(struct xenib_kcq *k, const struct ib_qp *ibqp);

int xenib_poll_cq(struct ib_cq *ibcq, int entries, struct ib_wc *wc);
int xenib_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

/** xenib_kcq_has_qps() - whether any completes there. With q.lock held. */
static inline bool xenib_kcq_has_qps(const struct xenib_kcq *k)
{
	return !list_empty(&k->senders) || !list_empty(&k->receivers);
}

/**
 * xenib_kcq_take_event() - whether the consumer waits for an event. It does not after that. With
 * interrupts off.
 *
 * The count of events is part of how the next one is asked for: the HCA ignores a request with a
 * count that it has told of already. So each event counts, whether anybody waits for it or not.
 *
 * Where no QP completes there is nothing to be told of, and the consumer may be about to give up
 * the CQ: its handler must not start again. If it is not, as the CQs that the RDMA core shares out
 * are there for the next QP, it still waits (xenib_kcq_rearm()).
 */
static inline bool xenib_kcq_take_event(struct xenib_kcq *k)
{
	bool told;

	xenib_lock(&k->q.lock);
	k->q.arm_count += k->hca_armed;
	k->hca_armed = false;
	told = k->armed && xenib_kcq_has_qps(k);
	if (told)
		k->armed = false;
	xenib_unlock(&k->q.lock);
	return told;
}

/**
 * xenib_kcq_rearm() - a QP completes there from now on. If the consumer waits for an event, and the
 * HCA's came while there was no QP, the HCA is asked for another one. With q.lock held.
 */
void xenib_kcq_rearm(struct xenib_kcq *k);

/* qp.c */

/* What a consumer is told when a send WR completes, by the WR's number. */
struct xenib_kwr {
	u64 wr_id;
	u32 opcode; /* enum ib_wc_opcode */
};

struct xenib_kqp {
	struct xenib_qp_queues q;
	struct xenib_qp *qp;
	struct xenib_kcontext *kernel;
	struct xenib_kwr *wrs;
	u32 wr_mask;
	struct xenib_krecvs recvs;
	struct xenib_kreads reads; /* of an RC QP */
	bool error;                /* the QP is in that state */
	struct xenib_pool_keys *keys;
	struct list_head senders; /* in the lists of its CQs */
	struct list_head receivers;
	struct list_head srq_qps; /* in kernel->srq_qps, or empty */
	struct rcu_head rcu;
};

/**
 * xenib_kqp_init() - sets qp->k and mem of a QP that is to be made.
 * @req: is told what the backend has to know of its queues
 */
int xenib_kqp_init(struct xenib_qp *qp, struct ib_qp_init_attr *init,
		   struct xenib_create_qp_req *req);

/** xenib_kqp_exit() - the backend does not have the QP, or not any more. Leaves mem. */
void xenib_kqp_exit(struct xenib_qp *qp);

/**
 * xenib_kqp_publish() - the backend has made the QP.
 * @init: is told what can be posted
 */
void xenib_kqp_publish(struct xenib_qp *qp, struct ib_qp_init_attr *init);

/** xenib_kqp_withdraw() - the backend has no QP any more: its completions are dropped. */
void xenib_kqp_withdraw(struct xenib_qp *qp);

/** xenib_kqp_set_state() - the QP has changed to that state. */
void xenib_kqp_set_state(struct xenib_qp *qp, enum ib_qp_state state);

/**
 * xenib_kqps_end() - the backend is gone: QPs in the error state have no WQE of an SRQ any more,
 * and are told so.
 */
void xenib_kqps_end(struct xenib_kcontext *kernel);

/* srq.c */
struct xenib_ksrq {
	struct xenib_srq_queue q;
	spinlock_t lock; /* outside of that of the queue: what is noted of its WQEs */
	struct xenib_krecvs recvs;
	struct xenib_pool_keys *keys;
};

/** xenib_ksrq_init() - sets srq->k and mem of an SRQ that is to be made. */
int xenib_ksrq_init(struct xenib_srq *srq, const struct ib_srq_attr *attr);

/** xenib_ksrq_exit() - the backend does not have the SRQ, or not any more. Leaves mem. */
void xenib_ksrq_exit(struct xenib_srq *srq);

/**
 * xenib_ksrq_take() - xenib_srq_take(), with interrupts off.
 * @skip, @bytes: of the message, as xenib_krecvs_take()
 * @fits: as that
 */
bool xenib_ksrq_take(struct xenib_srq_queue *q, u16 index, u32 skip, u32 bytes, u64 *wr_id,
		     bool *fits);

/* mr.c */

/* Elements of a list that a WR registers. It has fewer pieces in the pool (dma.c). */
#define XENIB_MAX_REG_PAGES 1024U

/* A region that a WR registers. */
struct xenib_kmr {
	struct xenib_mr mr;
	struct rcu_head rcu;
	struct xenib_pool_keys *keys;
	u32 max;   /* entries that the HCA's key has room for */
	u32 count; /* of entries, of the list that was mapped last */
	struct xenib_klm_seg entries[XENIB_INLINE_ENTRIES];
	struct xenib_klm_seg
		*list; /* of more entries than these, in the pool; NULL: not needed yet */
	u64 list_addr; /* to the HCA */
};

struct ib_mr *xenib_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *xenib_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_sg);
int xenib_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *list, int count, unsigned int *offset);

/**
 * xenib_kmr_has() - whether the key is of a region of the PD that has these keys. In any context.
 */
bool xenib_kmr_has(struct xenib_pool_keys *keys, u32 lkey);

/** xenib_kmr_free() - ends what xenib_alloc_mr() has made. */
void xenib_kmr_free(struct xenib_mr *mr);

/* post.c */
int xenib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);
int xenib_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);
int xenib_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);

/**
 * xenib_kput_scatter() - the data segments of a receive WQE.
 *
 * Return: -EINVAL if they are not in the pool.
 */
int xenib_kput_scatter(struct xenib_pool_keys *keys, struct xenib_data_seg *seg, u32 max_sge,
		       const struct ib_recv_wr *wr);

#endif
