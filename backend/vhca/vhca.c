// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vhca.c - see vhca.h.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hca/gsi.h"
#include "util/clock.h"
#include "vhca/vhca.h"

static void narrow(uint32_t *hca, struct quota_item *item)
{
	if (item->limit > *hca)
		item->limit = *hca;
	*hca = item->limit;
}

/* An HCA without multicast has no groups, and no room in one. */
static void narrow_mcast(struct xen_vhca_device_attr *a, struct quota_item *item)
{
	if (a->max_mcast_qp_attach > QUOTA_GROUP_QPS)
		a->max_mcast_qp_attach = QUOTA_GROUP_QPS;
	if (a->max_mcast_grp > item->limit)
		a->max_mcast_grp = item->limit;
}

/* What DEVICE_QUERY answers: the smaller of what the HCA can and what the configuration allows. */
static void set_limits(struct vhca *v)
{
	struct xen_vhca_device_attr *a = &v->attr;
	struct quota *q = &v->quota;

	narrow(&a->max_pd, &q->objects[OBJ_PD]);
	narrow(&a->max_mr, &q->objects[OBJ_MR]);
	narrow(&a->max_mw, &q->objects[OBJ_MW]);
	narrow(&a->max_cq, &q->objects[OBJ_CQ]);
	narrow(&a->max_qp, &q->objects[OBJ_QP]);
	narrow(&a->max_srq, &q->objects[OBJ_SRQ]);
	narrow_mcast(a, &q->mcast);
	a->max_ctx = q->objects[OBJ_CTX].limit;
	a->max_uar = q->objects[OBJ_UAR].limit;
	if (a->max_ah > q->max_ah)
		a->max_ah = q->max_ah;
	if (a->max_mr_size > q->max_mr_bytes)
		a->max_mr_size = q->max_mr_bytes;
	if (a->max_mr_size > q->bytes.limit)
		a->max_mr_size = q->bytes.limit;
	a->max_mem_bytes = q->bytes.limit;
	qp_limits_device(&q->qp, a);
}

static int query(struct vhca *v)
{
	struct xen_vhca_port_attr port;
	int err;

	err = v->hca->ops->query_device(v->hca, &v->attr);
	if (err)
		return err;
	err = v->hca->ops->query_port(v->hca, &port);
	if (err)
		return err;
	v->attr.gids = port.gid_tbl_len;
	v->attr.pkeys = port.pkey_tbl_len;
	return 0;
}

int vhca_init(struct vhca *v, struct hca *hca, struct transport *t, const struct quota *quota)
{
	int err;

	memset(v, 0, sizeof(*v));
	v->hca = hca;
	v->t = t;
	v->quota = *quota;
	v->mads.fd = -1;
	err = query(v);
	if (err)
		return err;
	set_limits(v);
	pthread_mutex_init(&v->lock, NULL);
	pthread_cond_init(&v->idle, NULL);
	handle_table_init(&v->handles, quota_handles(&v->quota));
	LIST_INIT(&v->contexts);
	LIST_INIT(&v->mcasts);
	err = t->ops->uar_reset(t);
	if (err)
		log_warning("revoking doorbell pages of an earlier connection: %s", strerror(-err));
	return 0;
}

void vhca_set_qp_limits(struct vhca *v, const struct qp_limits *limits)
{
	pthread_mutex_lock(&v->lock);
	v->quota.qp = *limits;
	pthread_mutex_unlock(&v->lock);
}

struct qp_limits vhca_qp_limits(struct vhca *v)
{
	struct qp_limits limits;

	pthread_mutex_lock(&v->lock);
	limits = v->quota.qp;
	pthread_mutex_unlock(&v->lock);
	return limits;
}

static const struct ratelimit_rate fault_rate = { .burst = VHCA_FAULTS,
						  .interval_ms = VHCA_FAULT_MS };

void vhca_fault(struct vhca *v, bool own)
{
	uint64_t now = clock_ms();

	if (own || !ratelimit_wait_ms(&v->faults, &fault_rate, now))
		ratelimit_spend(&v->faults, &fault_rate, now);
}

uint64_t vhca_pause_ms(struct vhca *v)
{
	uint64_t pause;

	pthread_mutex_lock(&v->lock);
	pause = v->faults.tat_ms ? ratelimit_wait_ms(&v->faults, &fault_rate, clock_ms()) : 0;
	pthread_mutex_unlock(&v->lock);
	return pause;
}

bool vhca_is_faulty(struct vhca *v)
{
	return vhca_pause_ms(v) > VHCA_FAULTS_MOST * VHCA_FAULT_MS;
}

uint64_t vhca_owes_ms(const struct vhca *v)
{
	uint64_t now = clock_ms();

	return v->faults.tat_ms > now ? v->faults.tat_ms - now : 0;
}

struct context *vhca_enter(struct vhca *v, xen_vhca_handle_t handle)
{
	struct object *obj;

	pthread_mutex_lock(&v->lock);
	obj = handle_find(&v->handles, handle, OBJ_CTX);
	if (obj)
		obj->uses++;
	pthread_mutex_unlock(&v->lock);
	return (struct context *)obj;
}

void vhca_leave(struct vhca *v, struct context *ctx)
{
	pthread_mutex_lock(&v->lock);
	if (!--ctx->obj.uses)
		pthread_cond_broadcast(&v->idle);
	pthread_mutex_unlock(&v->lock);
}

void vhca_end_mads(struct vhca *v, xen_vhca_handle_t ctx)
{
	/* What the next one starts is not reset: hence both with the lock. */
	pthread_mutex_lock(&v->lock);
	if (v->mads.ctx == ctx) {
		v->mads.ctx = XEN_VHCA_NO_HANDLE;
		gsi_reset(v->mads.fd);
	}
	pthread_mutex_unlock(&v->lock);
}

/* A guest that has removed the mapping itself makes this fail; it has lost nothing but its own. */
void vhca_free_uar(struct vhca *v, const struct uar *uar)
{
	int err = v->t->ops->uar_free(v->t, uar->uar.index);
	bool warned;

	if (!err)
		return;
	pthread_mutex_lock(&v->lock);
	warned = v->uar_warned;
	v->uar_warned = true;
	pthread_mutex_unlock(&v->lock);
	if (!warned)
		log_warning("UAR %u: revoking it from the guest: %s (logged once)", uar->uar.index,
			    strerror(-err));
}

/* What takes long. Nobody else can reach the objects of a dying context, so no lock is needed. */
static void take_back(struct vhca *v, struct context *ctx)
{
	struct object *obj;

	LIST_FOREACH(obj, &ctx->objects, link) {
		if (obj->type == OBJ_UMEM)
			umem_fini(&((struct umem_obj *)obj)->umem);
		if (obj->type == OBJ_UAR)
			vhca_free_uar(v, (struct uar *)obj);
	}
}

void vhca_forget_mcast(struct vhca *v, struct mcast *mcast)
{
	LIST_REMOVE(mcast, link);
	LIST_REMOVE(mcast, of_qp);
	quota_give(&v->quota.mcast, 1);
	free(mcast);
}

void vhca_forget_mcasts(struct vhca *v, struct qp *qp)
{
	struct mcast *mcast;

	while ((mcast = LIST_FIRST(&qp->groups)))
		vhca_forget_mcast(v, mcast);
}

static void forget(struct vhca *v, struct object *obj)
{
	if (obj->type == OBJ_QP)
		vhca_forget_mcasts(v, (struct qp *)obj);
	LIST_REMOVE(obj, link);
	handle_release(&v->handles, obj->handle);
	quota_give(&v->quota.objects[obj->type], 1);
	if (obj->type == OBJ_UMEM)
		quota_give(&v->quota.bytes,
			   (uint64_t)((struct umem_obj *)obj)->charged * XEN_VHCA_PAGE_SIZE);
	free(obj);
}

/* Before the HCA ends what is watched: that is told to whoever watches, too. */
void vhca_end_watches(struct vhca *v, struct context *ctx)
{
	struct object *obj;

	LIST_FOREACH(obj, &ctx->objects, link)
		if (obj->type == OBJ_CQ)
			watch_end(v->watches, &((struct cq *)obj)->watch);
}

void vhca_destroy_context(struct vhca *v, struct context *ctx)
{
	struct object *obj;

	vhca_end_mads(v, ctx->obj.handle);
	vhca_end_watches(v, ctx);
	v->hca->ops->ctx_close(ctx->hca); /* before the mappings: nothing may be pinned any more */
	take_back(v, ctx);
	pthread_mutex_lock(&v->lock);
	while ((obj = LIST_FIRST(&ctx->objects)))
		forget(v, obj);
	LIST_REMOVE(ctx, link);
	handle_release(&v->handles, ctx->obj.handle);
	quota_give(&v->quota.objects[OBJ_CTX], 1);
	pthread_mutex_unlock(&v->lock);
	if (ctx->domain >= 0)
		close(ctx->domain);
	free(ctx);
}

void vhca_fini(struct vhca *v)
{
	struct context *ctx;

	while ((ctx = LIST_FIRST(&v->contexts)))
		vhca_destroy_context(v, ctx);
	handle_table_free(&v->handles);
	pthread_cond_destroy(&v->idle);
	pthread_mutex_destroy(&v->lock);
}
