// SPDX-License-Identifier: GPL-2.0
/*
 * qp_modify.c - a QP is modified.
 *
 * Two steps of a process's QP to a connection are posted: nobody waits for them, and the backend
 * does them with the command that follows.
 *
 * INIT alone is of no use: what follows is RTR, or the end. RTS is needed by whoever sends: a
 * provider that says so when it makes the QP waits for it before it posts the first send. RTR is
 * never posted. A program tells its peer that the QP can receive once modifying it has returned.
 *
 * Only what the device is sure to accept is posted. All else the backend is asked for, and waited
 * for, so that the program has the device's own answer.
 *
 * Attributes have the same numbers in the protocol (states, MTUs, timers, access flags), only their
 * places differ.
 */
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/uverbs_std_types.h>

#include "vhca_check.h"
#include "xenib.h"

#define UVERBS_MODULE_NAME xenib
#include <rdma/uverbs_named_ioctl.h>

/* All that a QP can allow. The HCA does not look at others, so programs give them, too. */
#define QP_ACCESS \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
	 IB_ACCESS_REMOTE_ATOMIC)

static void av_to_wire(const struct rdma_ah_attr *ah, struct xen_vhca_av *av)
{
	av->dlid = rdma_ah_get_dlid(ah);
	av->sl = rdma_ah_get_sl(ah);
	av->src_path_bits = rdma_ah_get_path_bits(ah);
	av->static_rate = rdma_ah_get_static_rate(ah);
	av->port = rdma_ah_get_port_num(ah);
	if (!(rdma_ah_get_ah_flags(ah) & IB_AH_GRH))
		return;
	av->is_global = 1;
	memcpy(av->dgid, ah->grh.dgid.raw, sizeof(av->dgid));
	av->flow_label = ah->grh.flow_label;
	av->sgid_index = ah->grh.sgid_index;
	av->hop_limit = ah->grh.hop_limit;
	av->traffic_class = ah->grh.traffic_class;
}

static void av_from_wire(struct ib_device *ibdev, const struct xen_vhca_av *av,
			 struct rdma_ah_attr *ah)
{
	union ib_gid dgid;

	ah->type = rdma_ah_find_type(ibdev, XENIB_PORT);
	rdma_ah_set_dlid(ah, av->dlid);
	rdma_ah_set_sl(ah, av->sl);
	rdma_ah_set_path_bits(ah, av->src_path_bits);
	rdma_ah_set_static_rate(ah, av->static_rate);
	rdma_ah_set_port_num(ah, XENIB_PORT);
	if (!av->is_global)
		return;
	memcpy(dgid.raw, av->dgid, sizeof(dgid.raw));
	rdma_ah_set_grh(ah, &dgid, av->flow_label & 0xfffff, av->sgid_index, av->hop_limit,
			av->traffic_class);
}

static void path_to_wire(const struct ib_qp_attr *attr, int mask, struct xen_vhca_qp_attr *wire)
{
	if (mask & IB_QP_AV)
		av_to_wire(&attr->ah_attr, &wire->av);
	if (mask & IB_QP_PATH_MTU)
		wire->path_mtu = attr->path_mtu;
	if (mask & IB_QP_PATH_MIG_STATE)
		wire->path_mig_state = attr->path_mig_state;
	if (mask & IB_QP_PKEY_INDEX)
		wire->pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		wire->port = attr->port_num;
	if (mask & IB_QP_TIMEOUT)
		wire->timeout = attr->timeout;
	if (mask & IB_QP_ALT_PATH) {
		av_to_wire(&attr->alt_ah_attr, &wire->alt_av);
		wire->alt_pkey_index = attr->alt_pkey_index;
		wire->alt_port = attr->alt_port_num;
		wire->alt_timeout = attr->alt_timeout;
	}
}

static void flow_to_wire(const struct ib_qp_attr *attr, int mask, struct xen_vhca_qp_attr *wire)
{
	if (mask & IB_QP_RETRY_CNT)
		wire->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		wire->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		wire->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_RQ_PSN)
		wire->rq_psn = attr->rq_psn & VHCA_MAX_24;
	if (mask & IB_QP_SQ_PSN)
		wire->sq_psn = attr->sq_psn & VHCA_MAX_24;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		wire->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		wire->max_dest_rd_atomic = attr->max_dest_rd_atomic;
}

void xenib_qp_attr_to_wire(const struct ib_qp_attr *attr, int mask, struct xen_vhca_qp_attr *wire)
{
	if (mask & IB_QP_STATE)
		wire->state = attr->qp_state;
	if (mask & IB_QP_CUR_STATE)
		wire->cur_state = attr->cur_qp_state;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		wire->en_sqd_async_notify = attr->en_sqd_async_notify;
	if (mask & IB_QP_ACCESS_FLAGS)
		wire->access = attr->qp_access_flags & QP_ACCESS;
	if (mask & IB_QP_QKEY)
		wire->qkey = attr->qkey;
	if (mask & IB_QP_DEST_QPN)
		wire->dest_qpn = attr->dest_qp_num & VHCA_MAX_24;
	path_to_wire(attr, mask, wire);
	flow_to_wire(attr, mask, wire);
}

void xenib_qp_attr_from_wire(struct ib_device *ibdev, const struct xen_vhca_qp_attr *wire,
			     struct ib_qp_attr *attr)
{
	attr->qp_state = wire->state;
	attr->cur_qp_state = wire->cur_state;
	attr->path_mtu = clamp_t(u8, wire->path_mtu, IB_MTU_256, IB_MTU_4096);
	attr->path_mig_state = min_t(u8, wire->path_mig_state, IB_MIG_ARMED);
	attr->qkey = wire->qkey;
	attr->rq_psn = wire->rq_psn;
	attr->sq_psn = wire->sq_psn;
	attr->dest_qp_num = wire->dest_qpn;
	attr->qp_access_flags = wire->access;
	attr->pkey_index = wire->pkey_index;
	attr->alt_pkey_index = wire->alt_pkey_index;
	attr->en_sqd_async_notify = wire->en_sqd_async_notify;
	attr->sq_draining = wire->sq_draining;
	attr->max_rd_atomic = wire->max_rd_atomic;
	attr->max_dest_rd_atomic = wire->max_dest_rd_atomic;
	attr->min_rnr_timer = wire->min_rnr_timer;
	attr->port_num = wire->port;
	attr->timeout = wire->timeout;
	attr->retry_cnt = wire->retry_cnt;
	attr->rnr_retry = wire->rnr_retry;
	attr->alt_port_num = wire->alt_port;
	attr->alt_timeout = wire->alt_timeout;
	av_from_wire(ibdev, &wire->av, &attr->ah_attr);
	av_from_wire(ibdev, &wire->alt_av, &attr->alt_ah_attr);
}

static void fill_modify(struct xenib_cmd *cmd, struct xenib_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	cmd->req.op = XEN_VHCA_OP_QP_MODIFY;
	cmd->req.u.qp_modify.qp = qp->handle;
	cmd->req.u.qp_modify.mask = mask;
	xenib_qp_attr_to_wire(attr, mask, &cmd->req.u.qp_modify.attr);
}

/*
 * The kernel's consumers change a QP to the error state to be rid of what is posted, and go on to
 * free it, also in a process that has been killed. So that is not given up for want of a slot.
 */
int xenib_qp_modify(struct xenib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct xenib_dev *dev = to_xdev(qp->ibqp.device);
	struct xenib_cmd cmd = {};
	int err;

	xenib_events_again(dev->events, &qp->event_obj);
	fill_modify(&cmd, qp, attr, mask);
	err = xenib_cmd_send(dev->ring, &cmd, !qp->k);
	if (err)
		return err;
	return xenib_cmd_wait(dev->ring, &cmd);
}

/* Whether the device is sure to let the guest use this entry of the table of P_Keys. */
static bool has_pkey(struct xenib_dev *dev, u16 index)
{
	u16 pkey;

	return !ib_get_cached_pkey(&dev->ibdev, XENIB_PORT, index, &pkey) && pkey & 0x7fff;
}

/* Whether a QP in RESET is sure to become INIT by this. */
static bool becomes_init(struct xenib_qp *qp, const struct ib_qp_attr *attr, int mask,
			 const struct xen_vhca_req *req)
{
	struct xenib_dev *dev = to_xdev(qp->ibqp.device);

	return mask & IB_QP_STATE && attr->qp_state == IB_QPS_INIT &&
	       ib_modify_qp_is_ok(IB_QPS_RESET, IB_QPS_INIT, qp->ibqp.qp_type, mask) &&
	       (!(attr->qp_access_flags & IB_ACCESS_REMOTE_ATOMIC) || dev->attr.atomic_cap) &&
	       vhca_check_request(req, &dev->attr) == XEN_VHCA_OK &&
	       has_pkey(dev, attr->pkey_index);
}

static void init_done(struct xenib_cmd *cmd)
{
	if (cmd->error && cmd->error != -EIO)
		pr_warn_ratelimited("xen-ibfront: QP %#x does not become INIT: error %d\n",
				    cmd->req.u.qp_modify.qp, cmd->error);
	kfree(cmd);
}

/* If it fails, against all expectation, so does RTR. Returns whether it was posted. */
static bool post_init(struct xenib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct xenib_cmd *cmd;

	cmd = kzalloc(sizeof(*cmd), GFP_KERNEL);
	if (!cmd)
		return false;
	cmd->posted = init_done;
	fill_modify(cmd, qp, attr, mask);
	if (becomes_init(qp, attr, mask, &cmd->req) &&
	    xenib_cmd_post(to_xdev(qp->ibqp.device)->ring, cmd))
		return true;
	kfree(cmd);
	return false;
}

/* The attributes that are necessary. With others the device may have reasons to refuse. */
static int rts_mask(enum ib_qp_type type)
{
	if (type != IB_QPT_RC)
		return IB_QP_STATE | IB_QP_SQ_PSN;
	return IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
	       IB_QP_MAX_QP_RD_ATOMIC;
}

/* Whether a QP in RTR is sure to become RTS by this. */
static bool becomes_rts(struct xenib_qp *qp, const struct ib_qp_attr *attr, int mask,
			const struct xen_vhca_req *req)
{
	const struct xen_vhca_device_attr *limits = &to_xdev(qp->ibqp.device)->attr;

	return mask == rts_mask(qp->ibqp.qp_type) && attr->qp_state == IB_QPS_RTS &&
	       (!(mask & IB_QP_MAX_QP_RD_ATOMIC) ||
		attr->max_rd_atomic <= limits->max_qp_init_rd_atom) &&
	       vhca_check_request(req, limits) == XEN_VHCA_OK;
}

/* Perhaps in interrupt context. */
static void rts_done(struct xenib_cmd *cmd)
{
	complete_all(&cmd->done);
}

/* If it fails, as the QP has had an error meanwhile, so does sending. Returns as post_init(). */
static bool post_rts(struct xenib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct xenib_dev *dev = to_xdev(qp->ibqp.device);
	struct xenib_cmd *cmd = qp->rts;

	/* The QP was reset, and a backend that is as it should be has told of RTS before that. */
	if (!cmd || !completion_done(&cmd->done))
		return false;
	reinit_completion(&cmd->done);
	cmd->error = 0;
	cmd->req = (struct xen_vhca_req){};
	fill_modify(cmd, qp, attr, mask);
	if (becomes_rts(qp, attr, mask, &cmd->req) && xenib_cmd_post(dev->ring, cmd)) {
		xenib_events_again(dev->events, &qp->event_obj);
		return true;
	}
	complete_all(&cmd->done);
	return false;
}

static enum xenib_qp_known known_state(enum ib_qp_state state)
{
	switch (state) {
	case IB_QPS_RESET:
		return XENIB_QP_IN_RESET;
	case IB_QPS_RTR:
		return XENIB_QP_IN_RTR;
	default:
		return XENIB_QP_UNKNOWN;
	}
}

/* Of calls that come at once, one knows the state. */
int xenib_qp_modify_user(struct xenib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	enum xenib_qp_known known = atomic_xchg(&qp->known, XENIB_QP_UNKNOWN);
	int err;

	if (known == XENIB_QP_IN_RESET && post_init(qp, attr, mask))
		return 0;
	if (known == XENIB_QP_IN_RTR && post_rts(qp, attr, mask))
		return 0;
	err = xenib_qp_modify(qp, attr, mask);
	if (err || !(mask & IB_QP_STATE))
		return err;
	if (qp->rts && completion_done(&qp->rts->done))
		qp->rts->error = 0; /* that of a state before */
	atomic_set(&qp->known, known_state(attr->qp_state));
	return 0;
}

int xenib_qp_rts_init(struct xenib_qp *qp)
{
	qp->rts = kzalloc(sizeof(*qp->rts), GFP_KERNEL);
	if (!qp->rts)
		return -ENOMEM;
	qp->rts->posted = rts_done;
	init_completion(&qp->rts->done);
	complete_all(&qp->rts->done);
	return 0;
}

int xenib_qp_await(struct xenib_qp *qp)
{
	if (!qp->rts)
		return 0;
	return xenib_cmd_await(to_xdev(qp->ibqp.device)->ring, qp->rts);
}

void xenib_qp_rts_exit(struct xenib_qp *qp)
{
	xenib_qp_await(qp);
	kfree(qp->rts);
	qp->rts = NULL;
}

static int UVERBS_HANDLER(XENIB_METHOD_QP_AWAIT)(struct uverbs_attr_bundle *attrs)
{
	struct ib_qp *ibqp = uverbs_attr_get_obj(attrs, XENIB_ATTR_QP_AWAIT_HANDLE);

	return xenib_qp_await(to_xqp(ibqp));
}

DECLARE_UVERBS_NAMED_METHOD(XENIB_METHOD_QP_AWAIT,
			    UVERBS_ATTR_IDR(XENIB_ATTR_QP_AWAIT_HANDLE, UVERBS_OBJECT_QP,
					    UVERBS_ACCESS_READ, UA_MANDATORY));

ADD_UVERBS_METHODS(xenib_qp_methods, UVERBS_OBJECT_QP, &UVERBS_METHOD(XENIB_METHOD_QP_AWAIT));

const struct uapi_definition xenib_qp_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_QP, &xenib_qp_methods),
	{},
};
