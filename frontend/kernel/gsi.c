// SPDX-License-Identifier: GPL-2.0
/*
 * gsi.c - the kernel's QPs 1 and 0: see gsi.h.
 *
 * perfquery and others register for the class of QP 0 before that which they use, and do not start
 * without. No MAD of it gets to the backend, which would refuse it: smp.c answers for the own port.
 *
 * Posting copies the MAD, as it may be done where nothing can sleep; a work item sends one after
 * the other, and their completions come in that order. In the error state it flushes receives, too.
 * Another one fetches what has come when the backend tells of it.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "compat.h"
#include "kernel/gsi.h"
#include "kernel/kverbs.h"
#include "kernel/mad_answer.h"
#include "kernel/smp.h"
#include "vhca_nodes.h"

#define GRH_SIZE 40
#define RECV_SIZE (GRH_SIZE + XEN_VHCA_MAD_SIZE)

/* Rounds of MADs in one go: a backend that always has more does not keep us from ending. */
#define ROUNDS 16

/* What ib_mad does with the CQ fits: it makes one for all of its WRs. */
#define MOST_WRS 4096U

/* Completions */

/* The CQ's soft queue has room for as many as can be outstanding. */
static void complete_wr(struct xenib_gsi_qp *q, struct xenib_kcq *cq, const struct ib_wc *wc)
{
	struct ib_wc copy = *wc;

	copy.qp = &q->qp->ibqp;
	xenib_kcq_complete(cq, &copy);
}

/* As the HCA would write it, and whoever polls would copy it. */
static void put_mad(struct xenib_pool *pool, u64 addr, const struct xen_vhca_mad *mad)
{
	u8 *at = xenib_pool_mapped(pool, addr);

	memcpy(at, mad->grh, GRH_SIZE);
	memcpy(at + GRH_SIZE, mad->mad, XEN_VHCA_MAD_SIZE);
	if (xenib_pool_has(addr))
		xenib_origin_copy_out(pool, addr, RECV_SIZE);
}

/* In a state in which a QP receives; or, to flush them, in the error state. */
static bool take_recv(struct xenib_gsi_qp *q, struct xenib_gsi_recv *recv, bool flush)
{
	bool any;

	spin_lock_irq(&q->lock);
	any = q->recv_tail != q->recv_head &&
	      (flush ? q->state == IB_QPS_ERR : q->state == IB_QPS_RTR || q->state == IB_QPS_RTS);
	if (any)
		*recv = q->recvs[q->recv_tail++ & q->recv_mask];
	spin_unlock_irq(&q->lock);
	return any;
}

/* What the backend says of it is taken as it would be from the fabric: ib_mad trusts none of it. */
static void deliver(struct xenib_gsi *gsi, struct xenib_gsi_qp *q, const struct xen_vhca_mad *mad)
{
	struct xenib_gsi_recv recv;
	struct ib_wc wc = {
		.opcode = IB_WC_RECV,
		.byte_len = RECV_SIZE,
		.src_qp = mad->src_qpn & 0xffffff,
		.slid = mad->slid,
		.sl = mad->sl & 0xf,
		.dlid_path_bits = mad->path_bits & 0x7f,
		.wc_flags = mad->has_grh ? IB_WC_GRH : 0,
		.port_num = XENIB_PORT,
	};

	if (!q || !take_recv(q, &recv, false)) {
		atomic64_inc(&gsi->dropped);
		return;
	}
	if (mad->pkey_index < gsi->kernel->ctx.dev->pkey_tbl_len)
		wc.pkey_index = mad->pkey_index;
	put_mad(&gsi->kernel->pool, recv.addr, mad);
	wc.wr_id = recv.wr_id;
	complete_wr(q, q->recv_cq, &wc);
}

/* Sending */

static bool take_send(struct xenib_gsi_qp *q, struct xenib_gsi_send *send)
{
	bool any;

	spin_lock_irq(&q->lock);
	any = q->send_tail != q->send_head;
	if (any)
		*send = q->sends[q->send_tail++ & q->send_mask];
	spin_unlock_irq(&q->lock);
	return any;
}

/*
 * Without a backend a MAD has an error of its own, too: it is neither flushed, nor refused when it
 * is posted. Of such a request or disconnection ib_cm does not tell who waits for its end, as NFS
 * does while the device is to go.
 */
static enum ib_wc_status send_mad(struct xenib_gsi_qp *q, const struct xenib_gsi_send *send)
{
	struct xenib_context *ctx = &q->gsi->kernel->ctx;
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_MAD_SEND,
		.req.u.mad_send = send->way,
		.data = send->mad,
		.data_size = XEN_VHCA_MAD_SIZE,
	};

	cmd.req.u.mad_send.ctx = ctx->handle;
	xenib_cmd_send(ctx->dev->ring, &cmd, false);
	return xenib_cmd_wait(ctx->dev->ring, &cmd) ? IB_WC_LOC_QP_OP_ERR : IB_WC_SUCCESS;
}

/* By QP 0, which nothing leaves: what is asked of the own port is received again as an answer. */
static enum ib_wc_status send_smp(struct xenib_gsi_qp *q, const struct xenib_gsi_send *send)
{
	struct xenib_dev *dev = q->gsi->kernel->ctx.dev;
	struct xen_vhca_mad answer = { .slid = send->way.av.dlid };

	if (!xenib_smp_answer(dev, send->way.av.dlid, send->mad, answer.mad))
		return IB_WC_LOC_QP_OP_ERR;
	deliver(q->gsi, q, &answer);
	return IB_WC_SUCCESS;
}

static enum ib_wc_status send_one(struct xenib_gsi_qp *q, const struct xenib_gsi_send *send)
{
	if (READ_ONCE(q->state) != IB_QPS_RTS)
		return IB_WC_WR_FLUSH_ERR;
	return q->qp->ibqp.qp_num ? send_mad(q, send) : send_smp(q, send);
}

/* With the lock: a MAD that is just being delivered completes before what was posted behind it. */
static void flush_recvs(struct xenib_gsi_qp *q)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };
	struct xenib_gsi_recv recv;

	mutex_lock(&q->gsi->lock);
	while (take_recv(q, &recv, true)) {
		wc.wr_id = recv.wr_id;
		complete_wr(q, q->recv_cq, &wc);
	}
	mutex_unlock(&q->gsi->lock);
}

/* Behind the error, which has ended the wait already where ib_mad heeds it. */
static void answer_unsent(struct xenib_gsi_qp *q, const struct xenib_gsi_send *send)
{
	struct xen_vhca_mad answer = {
		.slid = send->way.av.dlid,
		.src_qpn = 1,
		.sl = send->way.av.sl,
		.pkey_index = send->way.pkey_index,
	};

	if (xenib_mad_answer(send->mad, answer.mad))
		deliver(q->gsi, q, &answer);
}

static void send_work(struct work_struct *work)
{
	struct xenib_gsi_qp *q = container_of(work, struct xenib_gsi_qp, send);
	struct xenib_gsi_send send;
	struct ib_wc wc = { .opcode = IB_WC_SEND };

	while (take_send(q, &send)) {
		wc.wr_id = send.wr_id;
		wc.status = send_one(q, &send);
		complete_wr(q, q->send_cq, &wc);
		if (wc.status == IB_WC_LOC_QP_OP_ERR && q->qp->ibqp.qp_num)
			answer_unsent(q, &send);
	}
	if (READ_ONCE(q->state) == IB_QPS_ERR)
		flush_recvs(q);
}

/* ib_mad has the header in one place and the data in another. All of it is the pool's. */
static int gather(struct xenib_gsi_qp *q, const struct ib_send_wr *wr, u8 *mad)
{
	struct xenib_pool *pool = &q->gsi->kernel->pool;
	const u8 *data;
	u32 used = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		data = xenib_pool_mapped(pool, sge->addr);
		if (sge->lkey != XENIB_POOL_LKEY || !data || sge->length > XEN_VHCA_MAD_SIZE - used)
			return -EINVAL;
		memcpy(mad + used, data, sge->length);
		used += sge->length;
	}
	return used == XEN_VHCA_MAD_SIZE ? 0 : -EINVAL;
}

/* Where the consumer wants it to go, which the backend may know better. */
static void fill_way(const struct ib_send_wr *wr, struct xen_vhca_mad_send *way)
{
	struct rdma_ah_attr attr;

	*way = (struct xen_vhca_mad_send){ .pkey_index = ud_wr(wr)->pkey_index };
	xenib_query_ah(ud_wr(wr)->ah, &attr);
	way->av.dlid = rdma_ah_get_dlid(&attr);
	way->av.sl = rdma_ah_get_sl(&attr);
	way->av.src_path_bits = rdma_ah_get_path_bits(&attr);
	way->av.port = XENIB_PORT;
	if (!(rdma_ah_get_ah_flags(&attr) & IB_AH_GRH))
		return;
	way->av.is_global = 1;
	memcpy(way->av.dgid, attr.grh.dgid.raw, sizeof(way->av.dgid));
	way->av.flow_label = attr.grh.flow_label & 0xfffff;
	way->av.hop_limit = attr.grh.hop_limit;
	way->av.traffic_class = attr.grh.traffic_class;
}

static int post_one_send(struct xenib_gsi_qp *q, const struct ib_send_wr *wr)
{
	struct xenib_gsi_send *send = &q->sends[q->send_head & q->send_mask];
	int err;

	if (wr->opcode != IB_WR_SEND || q->state < IB_QPS_RTS || !ud_wr(wr)->ah)
		return -EINVAL;
	if (q->send_head - q->send_tail > q->send_mask)
		return -ENOMEM;
	err = gather(q, wr, send->mad);
	if (err)
		return err;
	fill_way(wr, &send->way);
	send->wr_id = wr->wr_id;
	q->send_head++;
	return 0;
}

int xenib_gsi_post_send(struct xenib_qp *qp, const struct ib_send_wr *wr,
			const struct ib_send_wr **bad_wr)
{
	struct xenib_gsi_qp *q = qp->gsi;
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&q->lock, flags);
	for (; wr && !err; wr = wr->next) {
		err = post_one_send(q, wr);
		if (err)
			*bad_wr = wr;
	}
	spin_unlock_irqrestore(&q->lock, flags);
	queue_work(system_dfl_wq, &q->send);
	return err;
}

/* Receiving */

static int post_one_recv(struct xenib_gsi_qp *q, const struct ib_recv_wr *wr)
{
	const struct ib_sge *sge = wr->sg_list;

	if (wr->num_sge != 1 || sge->lkey != XENIB_POOL_LKEY ||
	    !xenib_pool_mapped(&q->gsi->kernel->pool, sge->addr) || sge->length < RECV_SIZE ||
	    q->state == IB_QPS_RESET)
		return -EINVAL;
	if (q->recv_head - q->recv_tail > q->recv_mask)
		return -ENOMEM;
	q->recvs[q->recv_head++ & q->recv_mask] = (struct xenib_gsi_recv){
		.wr_id = wr->wr_id,
		.addr = sge->addr,
	};
	return 0;
}

int xenib_gsi_post_recv(struct xenib_qp *qp, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr)
{
	struct xenib_gsi_qp *q = qp->gsi;
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&q->lock, flags);
	for (; wr && !err; wr = wr->next) {
		err = post_one_recv(q, wr);
		if (err)
			*bad_wr = wr;
	}
	if (unlikely(q->state == IB_QPS_ERR))
		queue_work(system_dfl_wq, &q->send);
	spin_unlock_irqrestore(&q->lock, flags);
	return err;
}

/* Returns how many there were. */
static u32 fetch(struct xenib_gsi *gsi)
{
	struct xenib_context *ctx = &gsi->kernel->ctx;
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_MAD_RECV,
		.req.u.object.handle = ctx->handle,
		.answer = gsi->mads,
		.answer_size = sizeof(gsi->mads),
	};
	u32 i;

	xenib_cmd_send(ctx->dev->ring, &cmd, false);
	if (xenib_cmd_wait(ctx->dev->ring, &cmd))
		return 0;
	mutex_lock(&gsi->lock);
	for (i = 0; i < cmd.rsp.u.mads.count; i++)
		deliver(gsi, gsi->qps[1], &gsi->mads[i]);
	mutex_unlock(&gsi->lock);
	return cmd.rsp.u.mads.count;
}

static void receive_work(struct work_struct *work)
{
	struct xenib_gsi *gsi = container_of(work, struct xenib_gsi, receive);
	unsigned int round;

	/* An event from now on is another one. */
	WRITE_ONCE(gsi->arm, cpu_to_be32(be32_to_cpu(gsi->arm) + 1));
	for (round = 0; round < ROUNDS; round++) {
		if (fetch(gsi) < XEN_VHCA_MADS)
			return;
	}
	queue_work(system_dfl_wq, &gsi->receive);
}

/* In the interrupt */
static void mads_came(struct ib_cq *cq, void *context)
{
	struct xenib_gsi *gsi = context;

	queue_work(system_dfl_wq, &gsi->receive);
}

/* The QP */

int xenib_gsi_modify_qp(struct xenib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct xenib_gsi_qp *q = qp->gsi;

	if (!(mask & IB_QP_STATE))
		return 0;
	spin_lock_irq(&q->lock);
	WRITE_ONCE(q->state, attr->qp_state);
	if (attr->qp_state == IB_QPS_RESET) {
		q->send_tail = q->send_head;
		q->recv_tail = q->recv_head;
	}
	spin_unlock_irq(&q->lock);
	if (attr->qp_state == IB_QPS_ERR)
		queue_work(system_dfl_wq, &q->send);
	return 0;
}

int xenib_gsi_query_qp(struct xenib_qp *qp, struct ib_qp_attr *attr, struct ib_qp_init_attr *init)
{
	memset(attr, 0, sizeof(*attr));
	memset(init, 0, sizeof(*init));
	attr->qp_state = READ_ONCE(qp->gsi->state);
	attr->cur_qp_state = attr->qp_state;
	attr->port_num = XENIB_PORT;
	attr->qkey = IB_QP1_QKEY;
	attr->cap = qp->cap;
	init->cap = qp->cap;
	init->qp_type = qp->ibqp.qp_type;
	init->send_cq = qp->ibqp.send_cq;
	init->recv_cq = qp->ibqp.recv_cq;
	init->port_num = XENIB_PORT;
	return 0;
}

static void free_qp(struct xenib_gsi_qp *q)
{
	kvfree(q->sends);
	kvfree(q->recvs);
	kfree(q);
}

static struct xenib_gsi_qp *alloc_qp(const struct ib_qp_cap *cap)
{
	struct xenib_gsi_qp *q = kzalloc(sizeof(*q), GFP_KERNEL);

	if (!q)
		return NULL;
	q->send_mask = roundup_pow_of_two(max(cap->max_send_wr, 1U)) - 1;
	q->recv_mask = roundup_pow_of_two(max(cap->max_recv_wr, 1U)) - 1;
	q->sends = kvcalloc(q->send_mask + 1, sizeof(*q->sends), GFP_KERNEL);
	q->recvs = kvcalloc(q->recv_mask + 1, sizeof(*q->recvs), GFP_KERNEL);
	if (q->sends && q->recvs)
		return q;
	free_qp(q);
	return NULL;
}

static int begin(struct xenib_gsi *gsi, struct xenib_gsi_qp *q)
{
	struct xenib_gsi_qp **place = &gsi->qps[q->qp->ibqp.qp_num];
	int err = -EBUSY;

	mutex_lock(&gsi->lock);
	if (!*place) {
		*place = q;
		err = 0;
	}
	mutex_unlock(&gsi->lock);
	return err;
}

static void end(struct xenib_gsi *gsi, struct xenib_gsi_qp *q)
{
	mutex_lock(&gsi->lock);
	gsi->qps[q->qp->ibqp.qp_num] = NULL;
	mutex_unlock(&gsi->lock);
}

/* WRs whose completions were not polled may be followed by as many. */
static u32 soft_sends(const struct xenib_gsi_qp *q)
{
	return 2 * (q->send_mask + 1);
}

static u32 soft_recvs(const struct xenib_gsi_qp *q)
{
	return 2 * (q->recv_mask + 1);
}

static int add_soft(struct xenib_gsi_qp *q)
{
	int err = xenib_kcq_add_soft(q->send_cq, soft_sends(q));

	if (err)
		return err;
	err = xenib_kcq_add_soft(q->recv_cq, soft_recvs(q));
	if (err)
		xenib_kcq_drop_soft(q->send_cq, soft_sends(q));
	return err;
}

static void drop_soft(struct xenib_gsi_qp *q)
{
	xenib_kcq_drop_soft(q->send_cq, soft_sends(q));
	xenib_kcq_drop_soft(q->recv_cq, soft_recvs(q));
}

int xenib_gsi_create_qp(struct xenib_qp *qp, struct ib_qp_init_attr *init)
{
	struct xenib_kcontext *kernel = to_xdev(qp->ibqp.device)->kernel;
	struct xenib_gsi_qp *q;
	int err;

	if (!kernel || !kernel->gsi.open)
		return -EOPNOTSUPP;
	if (init->cap.max_send_wr > MOST_WRS || init->cap.max_recv_wr > MOST_WRS)
		return -EINVAL;
	q = alloc_qp(&init->cap);
	if (!q)
		return -ENOMEM;
	q->qp = qp;
	q->gsi = &kernel->gsi;
	q->send_cq = to_xcq(init->send_cq)->k;
	q->recv_cq = to_xcq(init->recv_cq)->k;
	spin_lock_init(&q->lock);
	INIT_WORK(&q->send, send_work);
	qp->ibqp.qp_num = init->qp_type == IB_QPT_GSI;
	err = begin(&kernel->gsi, q);
	if (err)
		goto err_free;
	err = add_soft(q);
	if (err)
		goto err_end;
	qp->cap = init->cap;
	qp->gsi = q;
	return 0;

err_end:
	end(&kernel->gsi, q);
err_free:
	free_qp(q);
	return err;
}

/* What has completed for it and was not polled goes with it. */
void xenib_gsi_destroy_qp(struct xenib_qp *qp)
{
	struct xenib_gsi_qp *q = qp->gsi;

	end(q->gsi, q);
	WRITE_ONCE(q->state, IB_QPS_ERR);
	cancel_work_sync(&q->send);
	xenib_kcq_clean_soft(q->send_cq, &qp->ibqp);
	xenib_kcq_clean_soft(q->recv_cq, &qp->ibqp);
	drop_soft(q);
	free_qp(q);
	qp->gsi = NULL;
}

/* The device */

static int open_gsi(struct xenib_gsi *gsi)
{
	struct xenib_context *ctx = &gsi->kernel->ctx;
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_GSI_OPEN,
		.req.u.gsi_open = { .ctx = ctx->handle, .event_bit = gsi->bit },
	};

	return xenib_cmd_exec(ctx->dev->ring, &cmd);
}

void xenib_gsi_init(struct xenib_gsi *gsi, struct xenib_kcontext *kernel)
{
	struct xenib_dev *dev = kernel->ctx.dev;

	gsi->kernel = kernel;
	mutex_init(&gsi->lock);
	INIT_WORK(&gsi->receive, receive_work);
	if (!xenbus_read_unsigned(dev->xbdev->otherend, XEN_VHCA_FIELD_FEATURE_MADS, 0) ||
	    xenib_events_take_bit(dev->events, 0, &gsi->bit))
		return;
	gsi->event.arm = &gsi->arm;
	gsi->event.ibcq.comp_handler = mads_came;
	gsi->event.ibcq.cq_context = gsi;
	xenib_events_set_cq(dev->events, gsi->bit, &gsi->event);
	gsi->open = !open_gsi(gsi);
	if (!gsi->open) {
		xenib_events_set_cq(dev->events, gsi->bit, NULL);
		/* The backend may have set the bit of what it then refused. */
		cancel_work_sync(&gsi->receive);
		xenib_events_give_bit(dev->events, gsi->bit);
		return;
	}
	xenib_addrs_init(&gsi->addrs, &kernel->ctx);
	xenib_inet6_init(&gsi->inet6, dev);
}

void xenib_gsi_exit(struct xenib_gsi *gsi)
{
	struct xenib_dev *dev = gsi->kernel->ctx.dev;

	if (!gsi->open)
		return;
	xenib_inet6_exit(&gsi->inet6);
	xenib_addrs_exit(&gsi->addrs);
	xenib_events_set_cq(dev->events, gsi->bit, NULL);
	xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_GSI_CLOSE, gsi->kernel->ctx.handle);
	cancel_work_sync(&gsi->receive);
	xenib_events_give_bit(dev->events, gsi->bit);
}
