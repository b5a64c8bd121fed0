// SPDX-License-Identifier: GPL-2.0
/*
 * srq.c - shared receive queues, in memory of a process, or of the kernel (kernel/srq.c).
 */
#include <linux/log2.h>

#include "kernel/kverbs.h"
#include "vhca_check.h"
#include "xenib.h"

static int check_init(struct xenib_dev *dev, const struct ib_srq_init_attr *init)
{
	const struct ib_srq_attr *attr = &init->attr;

	if (init->srq_type != IB_SRQT_BASIC && (init->srq_type != IB_SRQT_XRC || !dev->xrc))
		return xenib_refuse(dev, -EOPNOTSUPP, "an SRQ of type %d", init->srq_type);
	if (!attr->max_wr)
		return xenib_refuse(dev, -EINVAL, "an SRQ without WQEs");
	if (xenib_exceeds(dev, "max_wr", attr->max_wr, dev->attr.max_srq_wr) ||
	    xenib_exceeds(dev, "max_sge", attr->max_sge, dev->attr.max_srq_sge) ||
	    xenib_exceeds(dev, "srq_limit", attr->srq_limit, attr->max_wr))
		return -EINVAL;
	return 0;
}

/* What is to arrive by an XRC domain completes on a CQ that the HCA has to know. */
static int name_domain(struct xen_vhca_srq_create *req, const struct ib_srq_init_attr *init)
{
	struct xenib_cq *cq = to_xcq(init->ext.cq);
	int err;

	err = xenib_cq_make(cq);
	if (err)
		return err;
	req->xrcd = to_xxrcd(init->ext.xrc.xrcd)->ctx.handle;
	req->cq = cq->handle;
	return 0;
}

static int send_create(struct xenib_dev *dev, struct xenib_srq *srq, u32 wqes, u32 uidx,
		       const struct ib_srq_init_attr *init)
{
	const struct ib_srq_attr *attr = &init->attr;
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_SRQ_CREATE,
		.req.u.srq_create = {
			.pd = to_xpd(srq->ibsrq.pd)->handle,
			.user_index = uidx,
			.buf = xenib_arena_addr_wire(&srq->mem.buf),
			.dbr = xenib_arena_addr_wire(&srq->mem.dbr),
			.max_wr = wqes,
			.max_sge = attr->max_sge,
			.limit = attr->srq_limit,
		},
	};
	int err;

	if (init->srq_type == IB_SRQT_XRC) {
		err = name_domain(&cmd.req.u.srq_create, init);
		if (err)
			return err;
	}
	err = xenib_cmd_exec(dev->ring, &cmd);
	if (err)
		return err;
	srq->handle = cmd.rsp.u.queue.handle;
	srq->srqn = cmd.rsp.u.queue.number;
	if (init->srq_type == IB_SRQT_XRC)
		srq->ibsrq.ext.xrc.srq_num = srq->srqn;
	return 0;
}

static void begin_events(struct xenib_dev *dev, struct xenib_srq *srq)
{
	srq->event_obj = (struct xenib_event_obj){
		.handle = srq->handle,
		.kind = VHCA_ASYNC_SRQ,
		.srq = &srq->ibsrq,
	};
	xenib_events_add(dev->events, &srq->event_obj);
}

/* In the process's memory. It is rung nowhere: the doorbell record says all. */
static int get_memory(struct xenib_context *ctx, struct xenib_srq *srq, u64 length,
		      const struct xenib_create_srq_req *req)
{
	const struct xenib_queue_place at = {
		.buf_addr = req->buf_addr,
		.buf_shift = req->buf_shift,
		.length = length,
		.db_addr = req->db_addr,
		.db_shift = req->db_shift,
	};

	return xenib_queue_mem_get(ctx, &srq->mem, &at);
}

static void put_memory(struct xenib_srq *srq)
{
	if (srq->k)
		xenib_ksrq_exit(srq);
	xenib_queue_mem_put(&srq->mem);
}

static int create_kernel_srq(struct xenib_dev *dev, struct xenib_srq *srq,
			     struct ib_srq_init_attr *init)
{
	int err;

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	err = xenib_ksrq_init(srq, &init->attr);
	if (err)
		return err;
	err = send_create(dev, srq, srq->k->q.mask + 1, 0, init);
	if (err) {
		put_memory(srq);
		return err;
	}
	init->attr.max_wr = srq->k->q.mask;
	begin_events(dev, srq);
	return 0;
}

int xenib_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibsrq->device);
	struct xenib_create_srq_resp resp = {};
	struct xenib_srq *srq = to_xsrq(ibsrq);
	struct xenib_create_srq_req req;
	u32 wqes;
	int err;

	err = check_init(dev, init);
	if (err)
		return err;
	if (!udata)
		return create_kernel_srq(dev, srq, init);
	err = dev->personality->srq_req(dev, udata, &req);
	if (err)
		return err;
	if (req.comp_mask || req.uidx > VHCA_MAX_24)
		return xenib_refuse(dev, -EINVAL, "fields %#x, user index %#x", req.comp_mask,
				    req.uidx);
	wqes = roundup_pow_of_two(init->attr.max_wr + 1);
	if (xenib_exceeds(dev, "receive WQEs", wqes, dev->attr.max_srq_wqes))
		return -EINVAL;

	err = get_memory(xenib_udata_ctx(udata), srq,
			 (u64)wqes * vhca_srq_stride(init->attr.max_sge), &req);
	if (err)
		return err;
	err = send_create(dev, srq, wqes, req.uidx, init);
	if (err)
		goto err_put;

	init->attr.max_wr = wqes - 1;
	resp.srqn = srq->srqn;
	err = xenib_copy_resp(udata, &resp, sizeof(resp));
	if (err)
		goto err_destroy;
	begin_events(dev, srq);
	return 0;

err_destroy:
	xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_SRQ_DESTROY, srq->handle);
err_put:
	put_memory(srq);
	return err;
}

int xenib_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		     struct ib_udata *udata)
{
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_SRQ_MODIFY,
		.req.u.srq_modify = {
			.srq = to_xsrq(ibsrq)->handle,
			.limit = attr->srq_limit,
		},
	};
	int err;

	if (udata) {
		err = xenib_copy_req(udata, NULL, 0);
		if (err)
			return err;
	}
	if (mask & ~IB_SRQ_LIMIT)
		return xenib_refuse(to_xdev(ibsrq->device), -EOPNOTSUPP, "SRQ attributes %#x",
				    mask);
	if (!mask)
		return 0;
	xenib_events_again(to_xdev(ibsrq->device)->events, &to_xsrq(ibsrq)->event_obj);
	return xenib_cmd_exec(to_xdev(ibsrq->device)->ring, &cmd);
}

int xenib_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_SRQ_QUERY,
		.req.u.object.handle = to_xsrq(ibsrq)->handle,
	};
	int err;

	err = xenib_cmd_exec(to_xdev(ibsrq->device)->ring, &cmd);
	if (err)
		return err;
	attr->max_wr = cmd.rsp.u.srq.max_wr;
	attr->max_sge = cmd.rsp.u.srq.max_sge;
	attr->srq_limit = cmd.rsp.u.srq.limit;
	return 0;
}

int xenib_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibsrq->device);
	struct xenib_srq *srq = to_xsrq(ibsrq);

	xenib_events_remove(dev->events, &srq->event_obj);
	if (srq->k || ibsrq->srq_type == IB_SRQT_XRC)
		xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_SRQ_DESTROY, srq->handle);
	else /* with no QP any more: the HCA takes nothing from it */
		xenib_cmd_retire(dev->ring, XEN_VHCA_OP_SRQ_DESTROY, srq->handle, NULL, NULL, 0);
	put_memory(srq);
	return 0;
}
