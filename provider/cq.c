// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cq.c - making, resizing and removing CQs, and arming them for events.
 */
#include <errno.h>
#include <stdlib.h>

#include "abi.h"
#include "compat.h"
#include "context.h"
#include "cq.h"
#include "pd.h"
#include "queue/cqe.h"
#include "verbs.h"

#define MAX_CQES (1u << 22)
#define FLAGS ((uint32_t)(IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN))

static bool attr_is_supported(const struct ibv_cq_init_attr_ex *attr)
{
	if (!check_comp_mask(attr->comp_mask,
			     IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD))
		return false;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS && attr->flags & ~FLAGS)
		return false;
	return !(attr->wc_flags & ~(uint64_t)XENIB_CQ_WC_FLAGS);
}

static struct ibv_pd *domain_of(const struct ibv_cq_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ? attr->parent_domain : NULL;
}

static bool is_single_threaded(const struct xenib_context *ctx,
			       const struct ibv_cq_init_attr_ex *attr)
{
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		return true;
	if (domain_of(attr) && xenib_pd_td(domain_of(attr)))
		return true;
	return ctx->single_threaded;
}

static int create_in_kernel(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			    struct xenib_cq *cq)
{
	struct xenib_ucreate_cq_resp resp = {};
	struct xenib_ucreate_cq cmd = {};
	int err;

	cmd.buf_addr = (uintptr_t)cq->q.cqes;
	cmd.db_addr = (uintptr_t)cq->q.dbrec;
	cmd.buf_shift = cq->mem.buf.buf.shift;
	cmd.db_shift = cq->mem.dbrec_shift;
	cmd.cqe_size = XENIB_CQE_SIZE;
	cmd.uar = cq->uar->index;
	cmd.comp_mask = to_xctx(context)->deferred_cq ? XENIB_CREATE_CQ_DEFERRED : 0;
	err = xenib_cmd_create_cq(context, attr, &cq->vcq, &cmd.ibv_cmd, sizeof(cmd),
				  &resp.ibv_resp, sizeof(resp));
	if (err)
		return err;

	cq->q.cqn = resp.cqn;
	cq->deferred = resp.comp_mask & XENIB_CREATE_CQ_DEFERRED;
	cq->vcq.cq.cqe = cq->q.mask;
	return 0;
}

/* Of a CQ that the kernel may not have made: it does so, and tells the number. */
static int learn_cqn(struct xenib_cq *cq)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_CQ, XENIB_METHOD_CQ_MAKE, 2);
	struct xenib_create_cq_resp resp = {};
	int err;

	fill_attr_in_obj(cmd, XENIB_ATTR_CQ_MAKE_HANDLE, cq->vcq.cq.handle);
	fill_attr_out_ptr(cmd, XENIB_ATTR_CQ_MAKE_RESP, &resp);
	err = execute_ioctl(cq->vcq.cq.context, cmd);
	if (err)
		return err;
	/* Whoever else comes meanwhile learns the same. */
	__atomic_store_n(&cq->q.cqn, resp.cqn, __ATOMIC_RELAXED);
	__atomic_store_n(&cq->deferred, false, __ATOMIC_RELEASE);
	return 0;
}

static struct xenib_cq *create_cq(struct ibv_context *context,
				  const struct ibv_cq_init_attr_ex *attr)
{
	struct xenib_context *ctx = to_xctx(context);
	struct xenib_cq *cq;
	int err;

	if (!attr->cqe || attr->cqe >= MAX_CQES) {
		verbs_debug(&ctx->vctx, "refused: a CQ of %u CQEs, 1 up to %u\n", attr->cqe,
			    MAX_CQES - 1);
		errno = EINVAL;
		return NULL;
	}
	if (!attr_is_supported(attr)) {
		verbs_debug(&ctx->vctx,
			    "refused: a CQ with fields %#x, flags %#x, contents %#llx\n",
			    attr->comp_mask, attr->flags, (unsigned long long)attr->wc_flags);
		errno = EOPNOTSUPP;
		return NULL;
	}

	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;

	cq->q.mask = xenib_round_up_pow2(attr->cqe + 1) - 1;
	cq->q.qps = &ctx->qps;
	xenib_lock_init(&cq->q.lock, !is_single_threaded(ctx, attr));

	err = xenib_queue_mem_alloc(ctx, &cq->mem, domain_of(attr), XENIB_RESOURCE_CQ,
				    (size_t)(cq->q.mask + 1) << XENIB_CQE_SHIFT);
	if (err)
		goto err_free;
	cq->q.cqes = cq->mem.buf.buf.addr;
	cq->q.dbrec = cq->mem.dbrec;
	xenib_cq_init_cqes(&cq->q);

	cq->uar = xenib_uar_get_plain(context, &ctx->uars);
	if (!cq->uar) {
		err = errno;
		goto err_free_mem;
	}
	cq->q.bell = &cq->uar->bell;

	err = create_in_kernel(context, attr, cq);
	if (err)
		goto err_free_mem;

	return cq;

err_free_mem:
	xenib_queue_mem_free(ctx, &cq->mem);
err_free:
	free(cq);
	errno = err;
	return NULL;
}

struct ibv_cq *xenib_create_cq(struct ibv_context *context, int cqe,
			       struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = channel,
		.comp_vector = comp_vector,
	};
	struct xenib_cq *cq;

	if (cqe <= 0) {
		errno = EINVAL;
		return NULL;
	}

	cq = create_cq(context, &attr);
	return cq ? &cq->vcq.cq : NULL;
}

struct ibv_cq_ex *xenib_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct xenib_cq *cq;

	cq = create_cq(context, attr);
	if (!cq)
		return NULL;

	xenib_cq_set_lazy(cq, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

int xenib_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	return ibv_cmd_modify_cq(ibcq, attr, &cmd, sizeof(cmd));
}

static int resize_in_kernel(struct xenib_cq *cq, const struct xenib_buf *buf, uint32_t mask)
{
	struct xenib_uresize_cq_resp resp = {};
	struct xenib_uresize_cq cmd = {};

	cmd.buf_addr = (uintptr_t)buf->addr;
	cmd.buf_shift = buf->shift;
	return ibv_cmd_resize_cq(&cq->vcq.cq, mask, &cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp,
				 sizeof(resp));
}

/*
 * With the CQ locked: nobody polls it meanwhile. Afterwards *buf is the buffer that is not in use. If
 * the HCA's owner says that the CQ is resized, and the HCA does not, completions may be lost.
 */
static int take_buffer(struct xenib_cq *cq, struct xenib_queue_buf *buf, uint32_t mask)
{
	struct xenib_queue_buf old = cq->mem.buf;
	int err;

	if (mask == cq->q.mask)
		return 0;
	err = resize_in_kernel(cq, &buf->buf, mask);
	if (err)
		return err;
	if (!xenib_cq_move(&cq->q, buf->buf.addr, mask))
		err = EIO;
	cq->vcq.cq.cqe = mask;
	cq->mem.buf = *buf;
	*buf = old;
	return err;
}

int xenib_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct xenib_context *ctx = to_xctx(ibcq->context);
	struct xenib_cq *cq = to_xcq(ibcq);
	struct xenib_cq_queue fresh = {};
	struct xenib_queue_buf buf;
	int err;

	if (cqe <= 0 || cqe >= (int)MAX_CQES) {
		verbs_debug(&ctx->vctx, "refused: a CQ of %d CQEs, 1 up to %u\n", cqe,
			    MAX_CQES - 1);
		return EINVAL;
	}
	fresh.mask = xenib_round_up_pow2(cqe + 1) - 1;
	err = xenib_queue_buf_alloc(ctx, &cq->mem, &buf,
				    (size_t)(fresh.mask + 1) << XENIB_CQE_SHIFT);
	if (err)
		return err;
	fresh.cqes = buf.buf.addr;
	xenib_cq_init_cqes(&fresh);

	xenib_lock(&cq->q.lock);
	err = take_buffer(cq, &buf, fresh.mask);
	xenib_unlock(&cq->q.lock);

	xenib_queue_buf_free(ctx, &cq->mem, &buf);
	return err;
}

int xenib_destroy_cq(struct ibv_cq *ibcq)
{
	struct xenib_context *ctx = to_xctx(ibcq->context);
	struct xenib_cq *cq = to_xcq(ibcq);
	int err;

	err = ibv_cmd_destroy_cq(ibcq);
	if (err)
		return err;

	xenib_queue_mem_free(ctx, &cq->mem);
	free(cq);
	return 0;
}

/* In line it would cost each xenib_req_notify_cq() the registers that it needs. */
static __attribute__((noinline, cold)) int first_notify(struct xenib_cq *cq, int solicited_only)
{
	int err = learn_cqn(cq);

	if (err)
		return err;
	xenib_cq_arm(&cq->q, solicited_only);
	return 0;
}

int xenib_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct xenib_cq *cq = to_xcq(ibcq);

	if (__atomic_load_n(&cq->deferred, __ATOMIC_ACQUIRE))
		return first_notify(cq, solicited_only);
	xenib_cq_arm(&cq->q, solicited_only);
	return 0;
}

void xenib_cq_event(struct ibv_cq *ibcq)
{
	to_xcq(ibcq)->q.arm_count++;
}
