// SPDX-License-Identifier: GPL-2.0
/*
 * cq.c - completion queues, in memory of a process, or of the kernel (kernel/cq.c).
 */
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mutex.h>

#include "kernel/kverbs.h"
#include "xenib.h"

#define FLAGS (IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)

static u32 wire_flags(u32 flags)
{
	return (flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION ? XEN_VHCA_CQ_TIMESTAMPS : 0) |
	       (flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN ? XEN_VHCA_CQ_IGNORE_OVERRUN : 0);
}

static int check_cqe(struct xenib_dev *dev, unsigned int cqe)
{
	if (!cqe)
		return xenib_refuse(dev, -EINVAL, "a CQ without entries");
	return xenib_exceeds(dev, "cqe", cqe, dev->attr.max_cqe) ? -EINVAL : 0;
}

static int check_attr(struct xenib_dev *dev, const struct ib_cq_init_attr *attr)
{
	if (attr->flags & ~(dev->cq_flags ? FLAGS : 0))
		return xenib_refuse(dev, -EOPNOTSUPP, "a CQ with flags %#x", attr->flags);
	return check_cqe(dev, attr->cqe);
}

static int check_req(struct xenib_dev *dev, const struct xenib_create_cq_req *req)
{
	if (req->comp_mask & ~XENIB_CREATE_CQ_DEFERRED || req->reserved)
		return xenib_refuse(dev, -EINVAL, "fields %#x, reserved %#x", req->comp_mask,
				    req->reserved);
	if (req->cqe_size != 64 && req->cqe_size != 128)
		return xenib_refuse(dev, -EINVAL, "CQEs of %u bytes, not 64 or 128", req->cqe_size);
	return 0;
}

/* cqe + 1 entries, because a queue that is full and one that is empty must look different. */
static u32 entries_of(u32 cqe)
{
	return roundup_pow_of_two(cqe + 1);
}

static void fill_create(struct xen_vhca_req *req, const struct xenib_cq *cq, u32 flags)
{
	req->op = XEN_VHCA_OP_CQ_CREATE;
	req->u.cq_create = (struct xen_vhca_cq_create){
		.ctx = cq->mem.ctx->handle,
		.uar = cq->mem.uar->handle,
		.buf = xenib_arena_addr_wire(&cq->mem.buf),
		.dbr = xenib_arena_addr_wire(&cq->mem.dbr),
		.cqes = cq->ibcq.cqe + 1,
		.cqe_size = cq->cqe_size,
		.event_bit = cq->event_bit,
		.flags = wire_flags(flags),
	};
}

/* Without a completion channel there is nobody to tell. The kernel may ask at any time. */
static int take_bit(struct xenib_dev *dev, struct xenib_cq *cq, u32 vector)
{
	cq->event_bit = XEN_VHCA_NO_EVENT;
	if (!cq->k && !cq->ibcq.cq_context)
		return 0;
	return xenib_events_take_bit(dev->events, vector, &cq->event_bit);
}

/* The first step of removing it. */
static void end_events(struct xenib_dev *dev, struct xenib_cq *cq)
{
	xenib_events_set_cq(dev->events, cq->event_bit, NULL);
	xenib_events_remove(dev->events, &cq->event_obj);
}

/* In the process's memory. */
static int get_memory(struct xenib_context *ctx, struct xenib_cq *cq, u32 entries,
		      const struct xenib_create_cq_req *req)
{
	const struct xenib_queue_place at = {
		.has_uar = true,
		.uar = req->uar,
		.buf_addr = req->buf_addr,
		.buf_shift = req->buf_shift,
		.length = (u64)entries * req->cqe_size,
		.db_addr = req->db_addr,
		.db_shift = req->db_shift,
	};

	return xenib_queue_mem_get(ctx, &cq->mem, &at);
}

static void put_memory(struct xenib_cq *cq)
{
	if (cq->k)
		xenib_kcq_exit(cq);
	xenib_queue_mem_put(&cq->mem);
}

/* Makes it, or defers that if it can. */
static int make(struct xenib_dev *dev, struct xenib_cq *cq, const struct ib_cq_init_attr *attr,
		bool may_defer)
{
	struct xenib_cmd cmd = {};
	int err;

	fill_create(&cmd.req, cq, attr->flags);
	if (may_defer && xenib_cq_defer(cq, &cmd.req))
		return 0;
	err = xenib_cmd_exec(dev->ring, &cmd);
	if (!err)
		xenib_cq_made(cq, &cmd.rsp);
	return err;
}

static int set_up(struct xenib_dev *dev, struct xenib_cq *cq, const struct ib_cq_init_attr *attr,
		  u32 cqe_size, bool may_defer)
{
	int err;

	cq->ibcq.cqe = entries_of(attr->cqe) - 1;
	cq->cqe_size = cqe_size;
	mutex_init(&cq->resizing);
	err = take_bit(dev, cq, attr->comp_vector);
	if (err)
		return err;
	err = xenib_cq_charge(cq->mem.ctx);
	if (err)
		goto err_bit;
	err = make(dev, cq, attr, may_defer);
	if (err)
		goto err_uncharge;
	return 0;

err_uncharge:
	xenib_cq_uncharge(cq->mem.ctx);
err_bit:
	xenib_events_give_bit(dev->events, cq->event_bit);
	return err;
}

/* Has no events yet, or any more. */
static void unmake(struct xenib_dev *dev, struct xenib_cq *cq)
{
	if (xenib_cq_drop(cq) || !xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_CQ_DESTROY, cq->handle))
		xenib_events_give_bit(dev->events, cq->event_bit);
	xenib_cq_uncharge(cq->mem.ctx);
}

/* Perhaps in interrupt context. */
static void give_bit(void *events, u64 bit)
{
	xenib_events_give_bit(events, bit);
}

/*
 * A process's, with no QP any more: the HCA writes nothing to it. Whatever is made in its memory is
 * made after it is gone. Or it was never made.
 */
static void retire(struct xenib_dev *dev, struct xenib_cq *cq)
{
	if (xenib_cq_drop(cq)) {
		xenib_events_give_bit(dev->events, cq->event_bit);
		return;
	}
	end_events(dev, cq);
	xenib_cmd_retire(dev->ring, XEN_VHCA_OP_CQ_DESTROY, cq->handle, give_bit, dev->events,
			 cq->event_bit);
}

static int create_kernel_cq(struct xenib_dev *dev, struct xenib_cq *cq,
			    const struct ib_cq_init_attr *attr)
{
	int err;

	err = xenib_kcq_init(cq, entries_of(attr->cqe));
	if (err)
		return err;
	err = set_up(dev, cq, attr, XENIB_CQE_SIZE, false);
	if (err) {
		put_memory(cq);
		return err;
	}
	xenib_kcq_publish(cq);
	xenib_cq_begin(cq);
	return 0;
}

int xenib_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs)
{
	struct xenib_dev *dev = to_xdev(ibcq->device);
	struct xenib_create_cq_resp resp = {};
	struct xenib_create_cq_req req;
	struct xenib_cq *cq = to_xcq(ibcq);
	struct ib_udata *udata;
	int err;

	err = check_attr(dev, attr);
	if (err)
		return err;
	if (!attrs)
		return create_kernel_cq(dev, cq, attr);
	udata = &attrs->driver_udata;
	err = dev->personality->cq_req(dev, udata, &req);
	if (err)
		return err;
	err = check_req(dev, &req);
	if (err)
		return err;

	err = get_memory(xenib_udata_ctx(udata), cq, entries_of(attr->cqe), &req);
	if (err)
		return err;
	err = set_up(dev, cq, attr, req.cqe_size, req.comp_mask & XENIB_CREATE_CQ_DEFERRED);
	if (err)
		goto err_put;
	resp.cqn = cq->cqn;
	resp.comp_mask = cq->create ? XENIB_CREATE_CQ_DEFERRED : 0;
	err = xenib_copy_resp(udata, &resp, sizeof(resp));
	if (err)
		goto err_unmake;
	xenib_cq_begin(cq);
	return 0;

err_unmake:
	unmake(dev, cq);
err_put:
	put_memory(cq);
	return err;
}

int xenib_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_CQ_MODIFY,
		.req.u.cq_modify = { .count = count, .period_us = period },
	};
	int err;

	err = xenib_cq_make(to_xcq(ibcq));
	if (err)
		return err;
	cmd.req.u.cq_modify.cq = to_xcq(ibcq)->handle;
	return xenib_cmd_exec(to_xdev(ibcq->device)->ring, &cmd);
}

static int send_resize(struct xenib_dev *dev, struct xenib_cq *cq, u32 entries,
		       const struct xenib_arena_addr *buf)
{
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_CQ_RESIZE,
		.req.u.cq_resize = {
			.cq = cq->handle,
			.cqes = entries,
			.buf = xenib_arena_addr_wire(buf),
		},
	};

	return xenib_cmd_exec(dev->ring, &cmd);
}

/* The CQ leaves the buffer that it has once the backend says so. */
static int resize(struct xenib_dev *dev, struct xenib_cq *cq, u32 entries,
		  const struct xenib_resize_cq_req *req)
{
	struct xenib_context *ctx = cq->mem.ctx;
	struct xenib_arena_addr buf = {};
	int err;

	if (entries == cq->ibcq.cqe + 1)
		return 0;
	err = xenib_buf_get(ctx, &buf, req->buf_addr, (u64)entries * cq->cqe_size, req->buf_shift);
	if (err)
		return err;
	err = send_resize(dev, cq, entries, &buf);
	if (!err) {
		swap(cq->mem.buf, buf);
		cq->ibcq.cqe = entries - 1;
	}
	xenib_arena_addr_put(ctx, &buf);
	return err;
}

int xenib_resize_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibcq->device);
	struct xenib_cq *cq = to_xcq(ibcq);
	struct xenib_resize_cq_req req;
	int err;

	err = check_cqe(dev, cqe);
	if (err)
		return err;
	err = dev->personality->resize_cq_req(dev, udata, cq->cqe_size, &req);
	if (err)
		return err;
	if (req.comp_mask || req.reserved0 || req.reserved1)
		return xenib_refuse(dev, -EINVAL, "fields %#x of a CQ's other buffer",
				    req.comp_mask);
	err = xenib_cq_make(cq);
	if (err)
		return err;
	if (mutex_lock_killable(&cq->resizing))
		return -EINTR;
	err = resize(dev, cq, entries_of(cqe), &req);
	mutex_unlock(&cq->resizing);
	return err;
}

int xenib_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibcq->device);
	struct xenib_cq *cq = to_xcq(ibcq);

	if (cq->k) {
		end_events(dev, cq);
		xenib_kcq_withdraw(cq);
		unmake(dev, cq);
	} else {
		retire(dev, cq);
		xenib_cq_uncharge(cq->mem.ctx);
	}
	put_memory(cq);
	return 0;
}
