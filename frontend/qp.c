// SPDX-License-Identifier: GPL-2.0
/*
 * qp.c - queue pairs, in memory of a process, or of the kernel (kernel/qp.c).
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "kernel/kverbs.h"
#include "vhca_check.h"
#include "xenib.h"

#define RQ_MIN_SHIFT 4U /* one data segment */

static int check_caps(struct xenib_dev *dev, const struct ib_qp_cap *cap)
{
	const struct xen_vhca_device_attr *attr = &dev->attr;

	if (xenib_exceeds(dev, "max_send_wr", cap->max_send_wr, attr->max_qp_wr) ||
	    xenib_exceeds(dev, "max_recv_wr", cap->max_recv_wr, attr->max_qp_wr) ||
	    xenib_exceeds(dev, "max_send_sge", cap->max_send_sge, attr->max_sge) ||
	    xenib_exceeds(dev, "max_recv_sge", cap->max_recv_sge, attr->max_sge) ||
	    xenib_exceeds(dev, "max_inline_data", cap->max_inline_data, attr->max_sq_desc))
		return -EINVAL;
	return 0;
}

static bool has_type(const struct xenib_dev *dev, enum ib_qp_type type, bool user)
{
	switch (type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
		return true;
	case IB_QPT_XRC_INI:
		return dev->xrc && user;
	case IB_QPT_XRC_TGT: /* the core makes these, for those who have opened the domain */
		return dev->xrc;
	default:
		return false;
	}
}

static bool flags_fit(const struct xenib_dev *dev, const struct ib_qp_init_attr *init)
{
	if (init->create_flags == IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK)
		return dev->block_loopback && init->qp_type == IB_QPT_UD;
	return !init->create_flags;
}

static u32 wire_flags(const struct ib_qp_init_attr *init)
{
	u32 wire = 0;

	if (init->sq_sig_type == IB_SIGNAL_ALL_WR)
		wire |= XEN_VHCA_QP_SIGNAL_ALL;
	if (init->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK)
		wire |= XEN_VHCA_QP_BLOCK_LOOPBACK;
	return wire;
}

static int check_init(struct xenib_dev *dev, const struct ib_qp_init_attr *init, bool user)
{
	const bool target = init->qp_type == IB_QPT_XRC_TGT;

	if (!has_type(dev, init->qp_type, user))
		return xenib_refuse(dev, -EOPNOTSUPP, "a QP of type %d", init->qp_type);
	if (!flags_fit(dev, init) || init->rwq_ind_tbl)
		return xenib_refuse(dev, -EOPNOTSUPP, "a QP with flags %#x%s", init->create_flags,
				    init->rwq_ind_tbl ? ", an indirection table" : "");
	if (target != !!init->xrcd)
		return xenib_refuse(dev, -EINVAL, "an XRC target without a domain, or with none");
	if (target)
		return 0;
	if (!init->send_cq || (!init->recv_cq && init->qp_type != IB_QPT_XRC_INI))
		return xenib_refuse(dev, -EINVAL, "a QP without two CQs");
	return check_caps(dev, &init->cap);
}

static int check_rq(struct xenib_dev *dev, const struct ib_qp_init_attr *init,
		    const struct xenib_create_qp_req *req)
{
	if (!req->rq_wqe_count && !req->rq_wqe_shift)
		return 0;
	if (!req->rq_wqe_count)
		return xenib_refuse(dev, -EINVAL, "no receive WQEs, of 2^%u bytes",
				    req->rq_wqe_shift);
	if (init->srq || !init->cap.max_recv_wr || init->qp_type == IB_QPT_XRC_INI)
		return xenib_refuse(dev, -EINVAL, "%u receive WQEs of a QP without any",
				    req->rq_wqe_count);
	if (!is_power_of_2(req->rq_wqe_count) || req->rq_wqe_count > dev->attr.max_recv_wqes)
		return xenib_refuse(dev, -EINVAL, "%u receive WQEs, a power of two up to %u",
				    req->rq_wqe_count, dev->attr.max_recv_wqes);
	if (req->rq_wqe_shift < RQ_MIN_SHIFT || req->rq_wqe_shift > ilog2(dev->attr.max_rq_desc))
		return xenib_refuse(dev, -EINVAL, "receive WQEs of 2^%u bytes, 2^%u up to %u",
				    req->rq_wqe_shift, RQ_MIN_SHIFT, dev->attr.max_rq_desc);
	return 0;
}

static int check_req(struct xenib_dev *dev, const struct ib_qp_init_attr *init,
		     const struct xenib_create_qp_req *req)
{
	if (req->comp_mask & ~XENIB_CREATE_QP_POSTED_RTS || req->uidx > VHCA_MAX_24)
		return xenib_refuse(dev, -EINVAL, "fields %#x, user index %#x", req->comp_mask,
				    req->uidx);
	if (req->sq_wqe_count &&
	    (!is_power_of_2(req->sq_wqe_count) || req->sq_wqe_count > dev->attr.max_send_blocks))
		return xenib_refuse(dev, -EINVAL, "%u send blocks, a power of two up to %u",
				    req->sq_wqe_count, dev->attr.max_send_blocks);
	return check_rq(dev, init, req);
}

static u64 buf_bytes(const struct xenib_create_qp_req *req)
{
	u64 rq = (u64)req->rq_wqe_count << req->rq_wqe_shift;

	return rq + (u64)req->sq_wqe_count * VHCA_SEND_BLOCK;
}

static u32 wire_type(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_RC:
		return XEN_VHCA_QPT_RC;
	case IB_QPT_UC:
		return XEN_VHCA_QPT_UC;
	case IB_QPT_XRC_INI:
		return XEN_VHCA_QPT_XRC_INI;
	default:
		return XEN_VHCA_QPT_UD;
	}
}

static void take_answer(struct xenib_qp *qp, const struct xen_vhca_rsp *rsp)
{
	qp->handle = rsp->u.queue.handle;
	qp->ibqp.qp_num = rsp->u.queue.number;
}

/* One that sends to XRC domains has none, whatever it was given. */
static struct xenib_cq *recv_cq(const struct ib_qp_init_attr *init)
{
	return init->qp_type == IB_QPT_XRC_INI ? NULL : to_xcq(init->recv_cq);
}

static int send_create(struct xenib_qp *qp, const struct ib_qp_init_attr *init,
		       const struct xenib_create_qp_req *req)
{
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_QP_CREATE,
		.req.u.qp_create = {
			.pd = to_xpd(qp->ibqp.pd)->handle,
			.srq = init->srq ? to_xsrq(init->srq)->handle : XEN_VHCA_NO_HANDLE,
			.uar = qp->mem.uar->handle,
			.type = wire_type(init->qp_type),
			.flags = wire_flags(init),
			.user_index = req->uidx,
			.buf = xenib_arena_addr_wire(&qp->mem.buf),
			.dbr = xenib_arena_addr_wire(&qp->mem.dbr),
			.sq_wqe_count = req->sq_wqe_count,
			.rq_wqe_count = req->rq_wqe_count,
			.rq_wqe_shift = req->rq_wqe_shift,
			.max_send_wr = init->cap.max_send_wr,
			.max_recv_wr = req->rq_wqe_count ? init->cap.max_recv_wr : 0,
			.max_send_sge = init->cap.max_send_sge,
			.max_recv_sge = init->cap.max_recv_sge,
			.max_inline = init->cap.max_inline_data,
		},
	};
	int err;

	err = xenib_exec_with_cqs(&cmd, to_xcq(init->send_cq), recv_cq(init));
	if (!err)
		take_answer(qp, &cmd.rsp);
	return err;
}

/* It has neither queues nor CQs, and so no place in the process's memory. */
static int create_target(struct xenib_dev *dev, struct xenib_qp *qp,
			 const struct ib_qp_init_attr *init)
{
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_QP_CREATE,
		.req.u.qp_create = {
			.pd = to_xxrcd(init->xrcd)->ctx.handle,
			.type = XEN_VHCA_QPT_XRC_TGT,
		},
	};
	int err;

	err = xenib_cmd_exec(dev->ring, &cmd);
	if (!err)
		take_answer(qp, &cmd.rsp);
	return err;
}

/* In the process's memory. */
static int get_memory(struct xenib_context *ctx, struct xenib_qp *qp,
		      const struct xenib_create_qp_req *req)
{
	const struct xenib_queue_place at = {
		.has_uar = true,
		.uar = req->uar,
		.buf_addr = req->buf_addr,
		.buf_shift = req->buf_shift,
		.length = buf_bytes(req),
		.db_addr = req->db_addr,
		.db_shift = req->db_shift,
	};

	return xenib_queue_mem_get(ctx, &qp->mem, &at);
}

static void put_memory(struct xenib_qp *qp)
{
	if (qp->k)
		xenib_kqp_exit(qp);
	xenib_qp_rts_exit(qp);
	if (qp->mem.ctx) /* not of an XRC target */
		xenib_queue_mem_put(&qp->mem);
}

static int get_user_memory(struct xenib_dev *dev, struct xenib_qp *qp,
			   const struct ib_qp_init_attr *init, struct ib_udata *udata,
			   struct xenib_create_qp_req *req)
{
	int err;

	err = dev->personality->qp_req(dev, udata, req);
	if (err)
		return err;
	err = check_req(dev, init, req);
	if (err)
		return err;
	if (req->comp_mask & XENIB_CREATE_QP_POSTED_RTS) {
		err = xenib_qp_rts_init(qp);
		if (err)
			return err;
	}
	err = get_memory(xenib_udata_ctx(udata), qp, req);
	if (err)
		xenib_qp_rts_exit(qp);
	return err;
}

/* What the process's receive queue has room for, as mlx5_ib tells when it is asked about a QP. */
static void take_receive_caps(struct xenib_qp *qp, const struct xenib_create_qp_req *req)
{
	qp->cap.max_recv_wr = req->rq_wqe_count;
	qp->cap.max_recv_sge = req->rq_wqe_count ? 1U << (req->rq_wqe_shift - RQ_MIN_SHIFT) : 0;
}

static int create_with_queues(struct xenib_dev *dev, struct xenib_qp *qp,
			      struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct xenib_create_qp_req req;
	int err;

	err = udata ? get_user_memory(dev, qp, init, udata, &req) : xenib_kqp_init(qp, init, &req);
	if (err)
		return err;
	if (udata)
		take_receive_caps(qp, &req);
	err = send_create(qp, init, &req);
	if (err) {
		put_memory(qp);
		return err;
	}
	if (qp->k)
		xenib_kqp_publish(qp, init);
	return 0;
}

int xenib_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibqp->device);
	struct xenib_qp *qp = to_xqp(ibqp);
	int err;

	if ((init->qp_type == IB_QPT_GSI || init->qp_type == IB_QPT_SMI) && !udata)
		return xenib_gsi_create_qp(qp, init);
	err = check_init(dev, init, udata);
	if (err)
		return err;
	qp->cap = init->cap;
	qp->sig_type = init->sq_sig_type;
	err = init->xrcd ? create_target(dev, qp, init) : create_with_queues(dev, qp, init, udata);
	if (err)
		return err;
	atomic_set(&qp->known, qp->k ? XENIB_QP_UNKNOWN : XENIB_QP_IN_RESET);

	qp->event_obj = (struct xenib_event_obj){
		.handle = qp->handle,
		.kind = VHCA_ASYNC_QP,
		.qp = ibqp,
	};
	xenib_events_add(dev->events, &qp->event_obj);
	return 0;
}

/* Once the backend is gone the QP does nothing any more, and may be told so. */
static bool is_over(const struct xenib_qp *qp, enum ib_qp_state state)
{
	return (state == IB_QPS_ERR || state == IB_QPS_RESET) &&
	       xenib_kcontext_is_dead(qp->k->kernel);
}

static int modify_kernel_qp(struct xenib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	int err;

	err = xenib_qp_modify(qp, attr, mask);
	if (!(mask & IB_QP_STATE))
		return err;
	if (err && is_over(qp, attr->qp_state))
		err = 0;
	if (!err)
		xenib_kqp_set_state(qp, attr->qp_state);
	return err;
}

int xenib_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct xenib_qp *qp = to_xqp(ibqp);
	int err;

	if (udata) {
		err = xenib_copy_req(udata, NULL, 0);
		if (err)
			return err;
	}
	if (qp->gsi)
		return xenib_gsi_modify_qp(qp, attr, mask);
	if (mask & ~IB_QP_ATTR_STANDARD_BITS || mask & IB_QP_CAP)
		return xenib_refuse(to_xdev(ibqp->device), -EOPNOTSUPP, "QP attributes %#x", mask);
	return qp->k ? modify_kernel_qp(qp, attr, mask) : xenib_qp_modify_user(qp, attr, mask);
}

int xenib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct xenib_qp *qp = to_xqp(ibqp);
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_QP_QUERY,
		.req.u.object.handle = qp->handle,
	};
	int err;

	if (qp->gsi)
		return xenib_gsi_query_qp(qp, attr, init);
	err = xenib_cmd_exec(to_xdev(ibqp->device)->ring, &cmd);
	if (err)
		return err;

	memset(attr, 0, sizeof(*attr));
	memset(init, 0, sizeof(*init));
	xenib_qp_attr_from_wire(ibqp->device, &cmd.rsp.u.qp.attr, attr);
	attr->cap = qp->cap;
	init->cap = qp->cap;
	init->sq_sig_type = qp->sig_type;
	init->qp_type = ibqp->qp_type;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->port_num = attr->port_num;
	return 0;
}

int xenib_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibqp->device);
	struct xenib_qp *qp = to_xqp(ibqp);

	if (qp->gsi) {
		xenib_gsi_destroy_qp(qp);
		return 0;
	}
	xenib_events_remove(dev->events, &qp->event_obj);
	xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_QP_DESTROY, qp->handle);
	if (qp->k)
		xenib_kqp_withdraw(qp);
	put_memory(qp);
	return 0;
}

/* Multicast groups. Joining a group at the subnet manager is another matter. */

static int send_mcast(struct ib_qp *ibqp, u8 op, const union ib_gid *gid, u16 lid, bool killable)
{
	struct xenib_ring *ring = to_xdev(ibqp->device)->ring;
	struct xenib_cmd cmd = {
		.req.op = op,
		.req.u.mcast = {
			.qp = to_xqp(ibqp)->handle,
			.lid = lid,
		},
	};
	int err;

	memcpy(cmd.req.u.mcast.gid, gid->raw, sizeof(cmd.req.u.mcast.gid));
	err = xenib_cmd_send(ring, &cmd, killable);
	if (err)
		return err;
	return xenib_cmd_wait(ring, &cmd);
}

int xenib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return send_mcast(ibqp, XEN_VHCA_OP_MCAST_ATTACH, gid, lid, true);
}

/*
 * The RDMA core knows that the QP is attached, and has forgotten it when this is called. If this
 * failed it would never let the QP go. What the backend refuses here ends with the QP.
 */
int xenib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct xenib_dev *dev = to_xdev(ibqp->device);
	int err;

	err = send_mcast(ibqp, XEN_VHCA_OP_MCAST_DETACH, gid, lid, false);
	if (err && !xenib_ring_is_dead(dev->ring))
		ibdev_warn_ratelimited(&dev->ibdev, "leaving a multicast group: %d\n", err);
	return 0;
}
