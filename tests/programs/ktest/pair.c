// SPDX-License-Identifier: GPL-2.0
/*
 * pair.c - two QPs of a device that are connected to each other, and WRs of theirs.
 */
#include "ktest.h"

#define QKEY 0x11111111
#define PORT 1

static void done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct work *work = container_of(wc->wr_cqe, struct work, cqe);

	work->status = wc->status;
	work->opcode = wc->opcode;
	work->flags = wc->wc_flags;
	work->rkey = wc->ex.invalidate_rkey;
	work->bytes = wc->byte_len;
	complete(&work->done);
}

static void begin(struct work *work)
{
	work->cqe.done = done;
	init_completion(&work->done);
}

int post_send(struct end *end, struct work *work, u64 addr, u32 length, u32 lkey)
{
	struct ib_sge sge = { .addr = addr, .length = length, .lkey = lkey };
	struct ib_ud_wr wr = {
		.wr = {
			.wr_cqe = &work->cqe,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		},
		.ah = end->ah,
		.remote_qpn = end->remote_qpn,
		.remote_qkey = QKEY,
	};

	begin(work);
	return ib_post_send(end->qp, &wr.wr, NULL);
}

int post_wr(struct end *end, struct work *work, struct ib_send_wr *wr)
{
	wr->wr_cqe = &work->cqe;
	wr->send_flags = IB_SEND_SIGNALED;
	begin(work);
	return ib_post_send(end->qp, wr, NULL);
}

int post_recv(struct end *end, struct work *work, u64 addr, u32 length, u32 lkey)
{
	struct ib_sge sge = { .addr = addr, .length = length, .lkey = lkey };
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

	return post_recv_wr(end, work, &wr);
}

int post_recv_wr(struct end *end, struct work *work, struct ib_recv_wr *wr)
{
	wr->wr_cqe = &work->cqe;
	begin(work);
	if (end->qp->srq)
		return ib_post_srq_recv(end->qp->srq, wr, NULL);
	return ib_post_recv(end->qp, wr, NULL);
}

int await(struct end *end, struct work *work, enum ib_wc_status status)
{
	unsigned long until = jiffies + PATIENCE;

	if (end->cq->poll_ctx == IB_POLL_DIRECT) {
		while (!completion_done(&work->done) && time_before(jiffies, until)) {
			ib_process_cq_direct(end->cq, -1);
			cond_resched();
		}
	}
	if (!wait_for_completion_timeout(&work->done, PATIENCE)) {
		pr_err("ktest: no completion\n");
		return -ETIMEDOUT;
	}
	if (work->status != status) {
		pr_err("ktest: completion with status %u instead of %u\n", work->status, status);
		return -EIO;
	}
	return 0;
}

int await_op(struct end *end, struct work *work, enum ib_wc_status status, enum ib_wc_opcode opcode)
{
	int err = await(end, work, status);

	if (!err && !status && work->opcode != opcode) {
		pr_err("ktest: completion of operation %u instead of %u\n", work->opcode, opcode);
		err = -EIO;
	}
	return err;
}

static void note_event(struct ib_event *event, void *context)
{
	struct end *end = context;

	if (event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		end->last_wqe = true;
}

static int end_make(struct pair *pair, struct end *end, enum ib_qp_type type,
		    enum ib_poll_context context, struct ib_srq *srq)
{
	struct ib_qp_init_attr init = {
		.cap = {
			.max_send_wr = DEPTH + 1,
			.max_recv_wr = DEPTH + 1,
			.max_send_sge = 2,
			.max_recv_sge = 2,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = type,
		.srq = srq,
		.event_handler = note_event,
		.qp_context = end,
	};

	/* Of the last vector: there may be one. */
	end->cq = ib_alloc_cq(pair->dev, NULL, 2 * DEPTH + 2, pair->dev->num_comp_vectors - 1,
			      context);
	if (IS_ERR(end->cq))
		return PTR_ERR(end->cq);
	init.send_cq = end->cq;
	init.recv_cq = end->cq;
	end->qp = ib_create_qp(pair->pd, &init);
	if (IS_ERR(end->qp)) {
		ib_free_cq(end->cq);
		return PTR_ERR(end->qp);
	}
	return 0;
}

static void end_end(struct end *end)
{
	ib_drain_qp(end->qp);
	if (end->ah)
		rdma_destroy_ah(end->ah, 0);
	ib_destroy_qp(end->qp);
	ib_free_cq(end->cq);
}

static void set_path(struct pair *pair, struct rdma_ah_attr *ah, u16 lid)
{
	ah->type = rdma_ah_find_type(pair->dev, PORT);
	rdma_ah_set_dlid(ah, lid);
	rdma_ah_set_port_num(ah, PORT);
}

static int connect_rc(struct pair *pair, struct end *end, struct end *other, u16 lid)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_ATOMIC,
	};
	int err;

	err = ib_modify_qp(end->qp, &attr,
			   IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (err)
		return err;
	attr = (struct ib_qp_attr){
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = other->qp->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
	};
	set_path(pair, &attr.ah_attr, lid);
	err = ib_modify_qp(end->qp, &attr,
			   IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
				   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	if (err)
		return err;
	attr = (struct ib_qp_attr){
		.qp_state = IB_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	return ib_modify_qp(end->qp, &attr,
			    IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
				    IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

static int connect_ud(struct pair *pair, struct end *end, u16 lid)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = PORT, .qkey = QKEY };
	struct rdma_ah_attr path = {};
	int err;

	err = ib_modify_qp(end->qp, &attr,
			   IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTR;
	err = ib_modify_qp(end->qp, &attr, IB_QP_STATE);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTS;
	err = ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
	if (err)
		return err;
	set_path(pair, &path, lid);
	end->ah = rdma_create_ah(pair->pd, &path, 0);
	if (!IS_ERR(end->ah))
		return 0;
	err = PTR_ERR(end->ah);
	end->ah = NULL;
	return err;
}

static int connect(struct pair *pair, struct end *end, struct end *other)
{
	struct ib_port_attr port;
	int err;

	err = ib_query_port(pair->dev, PORT, &port);
	if (err)
		return err;
	end->remote_qpn = other->qp->qp_num;
	return end->qp->qp_type == IB_QPT_UD ? connect_ud(pair, end, port.lid) :
					       connect_rc(pair, end, other, port.lid);
}

static int srq_make(struct pair *pair)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = DEPTH, .max_sge = 2 } };
	struct ib_srq *srq = ib_create_srq(pair->pd, &init);

	if (IS_ERR(srq))
		return PTR_ERR(srq);
	pair->srq = srq;
	return 0;
}

static void srq_end(struct pair *pair)
{
	if (pair->srq)
		ib_destroy_srq(pair->srq);
}

static int make(struct pair *pair, struct ib_device *dev, enum ib_qp_type type,
		enum ib_poll_context context, bool with_srq)
{
	int err = 0;

	memset(pair, 0, sizeof(*pair));
	pair->dev = dev;
	pair->pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(pair->pd))
		return PTR_ERR(pair->pd);
	if (with_srq)
		err = srq_make(pair);
	if (err)
		goto err_pd;
	err = end_make(pair, &pair->a, type, context, NULL);
	if (err)
		goto err_srq;
	err = end_make(pair, &pair->b, type, context, pair->srq);
	if (err)
		goto err_a;
	err = connect(pair, &pair->a, &pair->b);
	if (!err)
		err = connect(pair, &pair->b, &pair->a);
	if (err)
		pair_end(pair);
	return err;

err_a:
	end_end(&pair->a);
err_srq:
	srq_end(pair);
err_pd:
	ib_dealloc_pd(pair->pd);
	return err;
}

int pair_make(struct pair *pair, struct ib_device *dev, enum ib_qp_type type,
	      enum ib_poll_context context)
{
	return make(pair, dev, type, context, false);
}

int pair_make_srq(struct pair *pair, struct ib_device *dev, enum ib_poll_context context)
{
	return make(pair, dev, IB_QPT_RC, context, true);
}

void pair_end(struct pair *pair)
{
	end_end(&pair->a);
	end_end(&pair->b);
	srq_end(pair);
	ib_dealloc_pd(pair->pd);
}
