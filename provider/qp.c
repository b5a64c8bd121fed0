// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * qp.c - making, changing and removing QPs.
 */
#include <errno.h>
#include <stdlib.h>

#include "abi.h"
#include "compat.h"
#include "context.h"
#include "pd.h"
#include "qp.h"
#include "queue/cqe.h"
#include "verbs.h"

void xenib_qp_set_state(struct xenib_qp *qp, enum ibv_qp_state state)
{
	switch (state) {
	case IBV_QPS_RESET:
		xenib_qp_reset_queues(&qp->q);
		qp->await = false;
		break;
	case IBV_QPS_INIT:
		qp->q.rq.limit = qp->q.rq.max_wr;
		break;
	case IBV_QPS_RTS:
		qp->await = qp->posted_rts && !qp->q.sq.limit && qp->q.sq.max_wr;
		if (!qp->await)
			qp->q.sq.limit = qp->q.sq.max_wr;
		break;
	default:
		break;
	}
}

int xenib_qp_open_sq(struct xenib_qp *qp)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_QP, XENIB_METHOD_QP_AWAIT, 1);
	int err;

	if (!qp->await)
		return ENOMEM;
	fill_attr_in_obj(cmd, XENIB_ATTR_QP_AWAIT_HANDLE, qp->vqp.qp.handle);
	err = execute_ioctl(qp->vqp.qp.context, cmd);
	if (err)
		return err;
	qp->await = false;
	qp->q.sq.limit = qp->q.sq.max_wr;
	return 0;
}

static uint32_t create_flags(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS ? attr->create_flags : 0;
}

static uint32_t flags_of_type(enum ibv_qp_type type)
{
	return type == IBV_QPT_UD ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0;
}

/* Which operations will be used; 0: what is asked for is not to be had here. */
static uint64_t ops_asked(const struct ibv_qp_init_attr_ex *attr)
{
	uint64_t all = xenib_qp_all_ops(attr->qp_type);

	if (!check_comp_mask(attr->comp_mask, IBV_QP_INIT_ATTR_PD |
						      IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
						      IBV_QP_INIT_ATTR_CREATE_FLAGS))
		return 0;
	if (create_flags(attr) & ~flags_of_type(attr->qp_type))
		return 0;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return all;
	return attr->send_ops_flags & ~all ? 0 : attr->send_ops_flags;
}

static int alloc_queues(struct xenib_context *ctx, struct ibv_pd *pd, struct xenib_qp *qp,
			const struct xenib_qp_size *size)
{
	int err;

	/* A QP without any queue has a page all the same, for the kernel to have an address. */
	err = xenib_queue_mem_alloc(ctx, &qp->mem, pd, XENIB_RESOURCE_QP,
				    size->bytes ? size->bytes : 1);
	if (err)
		return err;
	qp->q.dbrec = qp->mem.dbrec;

	err = ENOMEM;
	if (size->sq_blocks) {
		qp->q.sq.sent = calloc(size->sq_blocks, sizeof(*qp->q.sq.sent));
		if (!qp->q.sq.sent)
			goto err_free_mem;
	}
	if (size->rq_wqes) {
		qp->q.rq.wr_id = calloc(size->rq_wqes, sizeof(*qp->q.rq.wr_id));
		if (!qp->q.rq.wr_id)
			goto err_free_sent;
	}

	xenib_qp_init_queues(&qp->q, qp->mem.buf.buf.addr, size);
	return 0;

err_free_sent:
	free(qp->q.sq.sent);
err_free_mem:
	xenib_queue_mem_free(ctx, &qp->mem);
	return err;
}

static void free_queues(struct xenib_context *ctx, struct xenib_qp *qp)
{
	if (qp->q.rq.wr_id != &qp->q.rq.none)
		free(qp->q.rq.wr_id);
	if (qp->q.sq.sent != &qp->q.nothing_sent)
		free(qp->q.sq.sent);
	xenib_queue_mem_free(ctx, &qp->mem);
}

static struct ibv_qp_cap cap_of(const struct xenib_qp_queues *qp)
{
	return (struct ibv_qp_cap){
		.max_send_wr = qp->sq.max_wr,
		.max_recv_wr = qp->rq.max_wr,
		.max_send_sge = qp->sq.max_sge,
		.max_recv_sge = qp->rq.max_sge,
		.max_inline_data = qp->sq.max_inline,
	};
}

static int get_uar(struct xenib_context *ctx, struct ibv_pd *pd, struct xenib_qp *qp)
{
	struct xenib_td *td = xenib_pd_td(pd);

	if (td) {
		qp->uar = &td->uar;
		return 0;
	}

	qp->uar = xenib_uar_get(&ctx->vctx.context, &ctx->uars, ctx->single_threaded);
	qp->own_uar = qp->uar;
	return qp->uar ? 0 : errno;
}

static void put_uar(struct xenib_context *ctx, struct xenib_qp *qp)
{
	if (qp->own_uar)
		xenib_uar_put(&ctx->uars, qp->uar);
}

static int command(struct xenib_context *ctx, struct ibv_qp_init_attr_ex *attr,
		   const struct xenib_create_qp_req *req, struct xenib_qp *qp)
{
	struct ib_uverbs_create_qp_resp *base;
	struct xenib_ucreate_qp_resp resp = {};
	struct xenib_ucreate_qp cmd = {};

	cmd.drv_payload = *req;
	base = &resp.ibv_resp;
	return ibv_cmd_create_qp_ex(&ctx->vctx.context, &qp->vqp, attr, &cmd.ibv_cmd, sizeof(cmd),
				    base, sizeof(resp));
}

/* Flags have room in this form of the command alone. */
static int command_with_flags(struct xenib_context *ctx, struct ibv_qp_init_attr_ex *attr,
			      const struct xenib_create_qp_req *req, struct xenib_qp *qp)
{
	struct ib_uverbs_ex_create_qp_resp *base;
	struct xenib_ucreate_qp_ex_resp resp = {};
	struct xenib_ucreate_qp_ex cmd = {};

	cmd.drv_payload = *req;
	base = &resp.ibv_resp;
	return xenib_cmd_create_qp(&ctx->vctx.context, &qp->vqp, attr, &cmd.ibv_cmd, sizeof(cmd),
				   base, sizeof(resp));
}

static int create_in_kernel(struct xenib_context *ctx, const struct ibv_qp_init_attr_ex *attr,
			    const struct xenib_qp_size *size, struct xenib_qp *qp)
{
	const struct xenib_create_qp_req req = {
		.buf_addr = (uintptr_t)qp->mem.buf.buf.addr,
		.db_addr = (uintptr_t)qp->q.dbrec,
		.buf_shift = qp->mem.buf.buf.shift,
		.db_shift = qp->mem.dbrec_shift,
		.sq_wqe_count = size->sq_blocks,
		.rq_wqe_count = size->rq_wqes,
		.rq_wqe_shift = size->rq_shift,
		.uidx = qp->q.uidx,
		.uar = qp->uar->index,
		.comp_mask = ctx->posted_rts ? XENIB_CREATE_QP_POSTED_RTS : 0,
	};
	struct ibv_qp_init_attr_ex plain = *attr;
	int err;

	if (create_flags(attr)) {
		err = command_with_flags(ctx, &plain, &req, qp);
	} else {
		plain.comp_mask &= ~IBV_QP_INIT_ATTR_CREATE_FLAGS;
		err = command(ctx, &plain, &req, qp);
	}
	if (err)
		return err;

	qp->q.sq.qpn = qp->vqp.qp.qp_num;
	qp->posted_rts = ctx->posted_rts;
	return 0;
}

static void init_locks(struct xenib_context *ctx, struct ibv_pd *pd, struct xenib_qp *qp)
{
	bool shared = !ctx->single_threaded && !xenib_pd_td(pd);

	xenib_lock_init(&qp->q.sq.lock, shared);
	xenib_lock_init(&qp->q.rq.lock, shared);
}

/* An XRC target receives into the SRQs of its domain, so nothing of it is here but its name. */
static bool is_target(const struct ibv_qp *ibqp)
{
	return ibqp->qp_type == IBV_QPT_XRC_RECV;
}

/* Whoever posts to it all the same finds it full. */
static struct xenib_qp *alloc_target(struct xenib_context *ctx)
{
	struct xenib_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->q.sq.cq = &ctx->no_cq;
	qp->q.rq.cq = &ctx->no_cq;
	return qp;
}

static struct ibv_qp *target_made(struct xenib_qp *qp, int err)
{
	if (!err)
		return &qp->vqp.qp;
	free(qp);
	errno = err;
	return NULL;
}

static struct ibv_qp *create_target(struct xenib_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	const struct xenib_create_qp_req req = {};
	struct ibv_qp_init_attr_ex plain = *attr;
	struct xenib_qp *qp;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD)) {
		errno = EINVAL;
		return NULL;
	}
	qp = alloc_target(ctx);
	if (!qp)
		return NULL;
	plain.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	return target_made(qp, command(ctx, &plain, &req, qp));
}

struct ibv_qp *xenib_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	struct xenib_qp *qp = alloc_target(to_xctx(context));
	struct ib_uverbs_create_qp_resp resp = {};
	struct ibv_open_qp cmd = {};
	int err;

	if (!qp)
		return NULL;
	err = ibv_cmd_open_qp(context, &qp->vqp, sizeof(qp->vqp), attr, &cmd, sizeof(cmd), &resp,
			      sizeof(resp));
	return target_made(qp, err);
}

static bool has_parts(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_PD && attr->send_cq &&
	       (attr->recv_cq || attr->qp_type == IBV_QPT_XRC_SEND);
}

/* One that sends to XRC domains receives nothing. What it is given for that means nothing. */
static void drop_receives(struct ibv_qp_init_attr_ex *attr)
{
	attr->recv_cq = NULL;
	attr->srq = NULL;
	attr->cap.max_recv_wr = 0;
	attr->cap.max_recv_sge = 0;
}

static struct ibv_qp *create_with_queues(struct ibv_context *context,
					 struct ibv_qp_init_attr_ex *attr)
{
	struct xenib_context *ctx = to_xctx(context);
	struct xenib_qp_size size;
	struct xenib_qp *qp;
	uint64_t ops;
	int err;

	ops = ops_asked(attr);
	if (!ops) {
		verbs_debug(&ctx->vctx, "refused: a QP of type %d with fields %#x, flags %#x\n",
			    attr->qp_type, attr->comp_mask, attr->create_flags);
		errno = EOPNOTSUPP;
		return NULL;
	}

	err = xenib_qp_size(&ctx->limits, attr->qp_type, ops, attr->srq, &attr->cap, &size);
	if (err) {
		verbs_debug(
			&ctx->vctx,
			"refused: a QP of %u send WRs (%u SGEs, %u bytes inline), %u receive WRs (%u SGEs); at most %u blocks, %u bytes a WQE; %u WQEs, %u bytes each\n",
			attr->cap.max_send_wr, attr->cap.max_send_sge, attr->cap.max_inline_data,
			attr->cap.max_recv_wr, attr->cap.max_recv_sge, ctx->limits.max_send_blocks,
			ctx->limits.max_sq_desc, ctx->limits.max_recv_wqes,
			ctx->limits.max_rq_desc);
		errno = err;
		return NULL;
	}

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;

	qp->q.srq = attr->srq ? &to_xsrq(attr->srq)->q : NULL;
	qp->q.sq.cq = &to_xcq(attr->send_cq)->q;
	qp->q.rq.cq = attr->recv_cq ? &to_xcq(attr->recv_cq)->q : qp->q.sq.cq;
	qp->q.sq.always = attr->sq_sig_all ? XENIB_CTRL_COMPLETION : 0;
	qp->q.sq.may_bind = ops & (IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV);
	init_locks(ctx, attr->pd, qp);

	err = alloc_queues(ctx, attr->pd, qp, &size);
	if (err)
		goto err_free;

	err = get_uar(ctx, attr->pd, qp);
	if (err)
		goto err_free_queues;
	qp->q.sq.bell = &qp->uar->bell;

	err = xenib_qp_table_add(&ctx->qps, &qp->q, &qp->q.uidx);
	if (err)
		goto err_put_uar;

	err = create_in_kernel(ctx, attr, &size, qp);
	if (err)
		goto err_remove;

	xenib_qp_set_state(qp, IBV_QPS_RESET);
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		xenib_qp_set_wr(qp, ops);
		qp->vqp.comp_mask |= VERBS_QP_EX;
	}
	attr->cap = cap_of(&qp->q);
	return &qp->vqp.qp;

err_remove:
	xenib_qp_table_remove(&ctx->qps, qp->q.uidx);
err_put_uar:
	put_uar(ctx, qp);
err_free_queues:
	free_queues(ctx, qp);
err_free:
	free(qp);
	errno = err;
	return NULL;
}

struct ibv_qp *xenib_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_init_attr_ex asked = *attr;
	struct ibv_qp *qp;

	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return create_target(to_xctx(context), attr);
	if (!has_parts(attr)) {
		errno = EINVAL;
		return NULL;
	}
	if (attr->qp_type == IBV_QPT_XRC_SEND)
		drop_receives(&asked);
	qp = create_with_queues(context, &asked);
	if (qp)
		attr->cap = asked.cap;
	return qp;
}

struct ibv_qp *xenib_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *ibqp;

	ibqp = xenib_create_qp_ex(pd->context, &ex);
	if (ibqp)
		attr->cap = ex.cap;
	return ibqp;
}

/* Locks the CQs of a QP, always in the same order. */
static void lock_cqs(struct xenib_qp_queues *qp)
{
	struct xenib_cq_queue *first = qp->sq.cq, *second = qp->rq.cq;

	if ((uintptr_t)first > (uintptr_t)second) {
		first = qp->rq.cq;
		second = qp->sq.cq;
	}
	xenib_lock(&first->lock);
	if (second != first)
		xenib_lock(&second->lock);
}

static void unlock_cqs(struct xenib_qp_queues *qp)
{
	if (qp->sq.cq != qp->rq.cq)
		xenib_unlock(&qp->sq.cq->lock);
	xenib_unlock(&qp->rq.cq->lock);
}

static void clean_cqs(struct xenib_qp_queues *qp)
{
	xenib_cq_clean(qp->rq.cq, qp);
	if (qp->sq.cq != qp->rq.cq)
		xenib_cq_clean(qp->sq.cq, qp);
}

int xenib_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct xenib_qp *qp = to_xqp(ibqp);
	struct ibv_modify_qp cmd = {};
	int err;

	err = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (err || !(mask & IBV_QP_STATE) || is_target(ibqp))
		return err;

	if (attr->qp_state != IBV_QPS_RESET) {
		xenib_qp_set_state(qp, attr->qp_state);
		return 0;
	}

	lock_cqs(&qp->q);
	clean_cqs(&qp->q);
	xenib_qp_set_state(qp, IBV_QPS_RESET);
	unlock_cqs(&qp->q);
	return 0;
}

int xenib_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init_attr)
{
	struct xenib_qp *qp = to_xqp(ibqp);
	struct ibv_query_qp cmd;
	int err;

	err = ibv_cmd_query_qp(ibqp, attr, mask, init_attr, &cmd, sizeof(cmd));
	if (err)
		return err;

	init_attr->cap = cap_of(&qp->q);
	attr->cap = init_attr->cap;
	return 0;
}

int xenib_destroy_qp(struct ibv_qp *ibqp)
{
	struct xenib_context *ctx = to_xctx(ibqp->context);
	struct xenib_qp *qp = to_xqp(ibqp);
	int err;

	err = ibv_cmd_destroy_qp(ibqp);
	if (err)
		return err;

	if (is_target(ibqp)) {
		free(qp);
		return 0;
	}

	lock_cqs(&qp->q);
	clean_cqs(&qp->q);
	xenib_qp_table_remove(&ctx->qps, qp->q.uidx);
	unlock_cqs(&qp->q);

	put_uar(ctx, qp);
	free_queues(ctx, qp);
	free(qp);
	return 0;
}
