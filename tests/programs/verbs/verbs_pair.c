// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs_pair.h"

/* -- devices -- */

static void choose_gid(struct vp_dev *dev)
{
	union ibv_gid gid;
	int i, gids = 1;

	/* InfiniBand addresses by LID; elsewhere the last GID of the table is the routable one. */
	if (dev->port.link_layer == IBV_LINK_LAYER_ETHERNET)
		gids = dev->port.gid_tbl_len;
	for (i = 0; i < gids; i++) {
		if (ibv_query_gid(dev->ctx, dev->port_num, i, &gid) || !gid.global.interface_id)
			continue;
		dev->gid = gid;
		dev->gid_index = i;
	}
}

static struct ibv_device *choose_device(struct ibv_device **list, int count, int which)
{
	int i;

	if (!opt.device[which])
		return list[which < count ? which : 0];
	for (i = 0; i < count; i++)
		if (!strcmp(ibv_get_device_name(list[i]), opt.device[which]))
			return list[i];
	return NULL;
}

void vp_load_providers(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (list)
		ibv_free_device_list(list);
}

void vp_open(struct vp_dev *dev, int which)
{
	struct ibv_device **list, *chosen;
	struct ibv_context *ctx;
	int count = 0;

	list = ibv_get_device_list(&count);
	require(list && count, "there is an RDMA device");
	chosen = choose_device(list, count, which);
	require(chosen, "device %s exists", opt.device[which] ? opt.device[which] : "");
	ctx = ibv_open_device(chosen);
	require(ctx, "open %s", ibv_get_device_name(chosen));
	ibv_free_device_list(list);
	vp_open_context(dev, ctx);
}

void vp_open_context(struct vp_dev *dev, struct ibv_context *ctx)
{
	int flags;

	*dev = (struct vp_dev){ .ctx = ctx, .port_num = 1 };
	require(!ibv_query_device(dev->ctx, &dev->attr), "query the device");
	require(!ibv_query_port(dev->ctx, dev->port_num, &dev->port), "query the port");
	require(dev->port.state == IBV_PORT_ACTIVE, "port 1 of %s is active (it is %s)",
		ibv_get_device_name(dev->ctx->device), ibv_port_state_str(dev->port.state));
	choose_gid(dev);

	flags = fcntl(dev->ctx->async_fd, F_GETFL);
	require(!fcntl(dev->ctx->async_fd, F_SETFL, flags | O_NONBLOCK),
		"asynchronous events do not block");
}

void vp_close(struct vp_dev *dev)
{
	require(!ibv_close_device(dev->ctx), "close the device");
	dev->ctx = NULL;
}

void vp_open_both(struct vp_dev *dev_a, struct vp_dev *dev_b)
{
	vp_open(dev_a, 0);
	vp_open(dev_b, 1);
}

void vp_close_both(struct vp_dev *dev_a, struct vp_dev *dev_b)
{
	vp_close(dev_a);
	vp_close(dev_b);
}

/* -- making and unmaking -- */

struct vp_conf vp_conf(enum ibv_qp_type type)
{
	struct vp_conf conf = {
		.type = type,
		.cap = { .max_send_wr = 32,
			 .max_recv_wr = 32,
			 .max_send_sge = 2,
			 .max_recv_sge = 2 },
		.cqe = 64,
		.qp_access = VP_REMOTE_ALL,
		.mr_access = VP_ACCESS_ALL,
		.len = 64 * 1024,
		.timeout = 16, /* 268 ms a try: an emulated machine is slow */
		.retry_cnt = 7,
		.rnr_retry = 7,      /* for ever */
		.min_rnr_timer = 12, /* 0.64 ms */
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
	};

	if (type == IBV_QPT_UC)
		conf.qp_access = IBV_ACCESS_REMOTE_WRITE;
	return conf;
}

void vp_cq_make(struct vp_cq *cq, struct vp_dev *dev, int cqe, struct ibv_comp_channel *channel,
		bool ex)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.cq_context = cq,
		.channel = channel,
		.wc_flags = IBV_CREATE_CQ_SUP_WC_FLAGS & IBV_WC_STANDARD_FLAGS,
	};

	memset(cq, 0, sizeof(*cq));
	if (!ex) {
		cq->cq = ibv_create_cq(dev->ctx, cqe, cq, channel, 0);
		require(cq->cq, "create a CQ of %d", cqe);
		return;
	}
	cq->ex = ibv_create_cq_ex(dev->ctx, &attr);
	if (!cq->ex && (errno == EOPNOTSUPP || errno == ENOSYS))
		skip("the device has no extended CQs");
	require(cq->ex, "create an extended CQ of %d", cqe);
	cq->cq = ibv_cq_ex_to_cq(cq->ex);
}

void vp_cq_free(struct vp_cq *cq)
{
	if (cq->cq)
		require(!ibv_destroy_cq(cq->cq), "destroy a CQ");
	memset(cq, 0, sizeof(*cq));
}

static struct ibv_qp *qp_create_ex(struct vp_end *end, const struct vp_conf *conf)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = end->scq.cq,
		.recv_cq = end->rcq.cq,
		.srq = end->srq,
		.cap = conf->cap,
		.qp_type = conf->type,
		.pd = end->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM,
	};

	if (conf->type != IBV_QPT_UD)
		attr.send_ops_flags |= IBV_QP_EX_WITH_RDMA_WRITE |
				       IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	if (conf->type == IBV_QPT_RC)
		attr.send_ops_flags |= IBV_QP_EX_WITH_RDMA_READ |
				       IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	if (conf->mr_access & IBV_ACCESS_MW_BIND)
		attr.send_ops_flags |= IBV_QP_EX_WITH_BIND_MW;
	return ibv_create_qp_ex(end->dev->ctx, &attr);
}

struct ibv_qp *vp_qp_create(struct vp_end *end, const struct vp_conf *conf)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = end->scq.cq,
		.recv_cq = end->rcq.cq,
		.srq = end->srq,
		.cap = conf->cap,
		.qp_type = conf->type,
	};

	if (conf->wr_api)
		return qp_create_ex(end, conf);
	return ibv_create_qp(end->pd, &attr);
}

void vp_qp_destroy(struct vp_end *end)
{
	if (end->qp)
		require(!ibv_destroy_qp(end->qp), "destroy a QP");
	end->qp = NULL;
	end->qpx = NULL;
}

void vp_end_make_no_qp(struct vp_end *end, struct vp_dev *dev, struct ibv_pd *pd,
		       const struct vp_conf *conf)
{
	memset(end, 0, sizeof(*end));
	end->dev = dev;
	end->conf = conf;
	end->len = conf->len;

	end->pd = pd ? pd : ibv_alloc_pd(dev->ctx);
	end->own_pd = !pd;
	require(end->pd, "allocate a PD");

	if (conf->channel) {
		end->channel = ibv_create_comp_channel(dev->ctx);
		require(end->channel, "create a completion channel");
		require(!fcntl(end->channel->fd, F_SETFL,
			       fcntl(end->channel->fd, F_GETFL) | O_NONBLOCK),
			"completion events do not block");
	}
	vp_cq_make(&end->scq, dev, conf->cqe, end->channel, conf->cq_ex);
	vp_cq_make(&end->rcq, dev, conf->cqe, end->channel, conf->cq_ex);

	if (conf->use_srq) {
		struct ibv_srq_init_attr attr = {
			.attr = { .max_wr = conf->cap.max_recv_wr,
				  .max_sge = conf->cap.max_recv_sge },
		};

		end->srq = ibv_create_srq(end->pd, &attr);
		if (!end->srq && !dev->attr.max_srq)
			skip("the device has no SRQs");
		require(end->srq, "create an SRQ");
	}

	end->buf = mmap(NULL, end->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	require(end->buf != MAP_FAILED, "map a buffer of %zu bytes", end->len);
	end->mr = ibv_reg_mr(end->pd, end->buf, end->len, conf->mr_access);
	require(end->mr, "register the buffer of %zu bytes", end->len);
}

void vp_end_make(struct vp_end *end, struct vp_dev *dev, struct ibv_pd *pd,
		 const struct vp_conf *conf)
{
	static uint32_t made;

	vp_end_make_no_qp(end, dev, pd, conf);
	end->qp = vp_qp_create(end, conf);
	if (!end->qp && conf->wr_api && errno == EOPNOTSUPP)
		skip("the device has no ibv_wr_*()");
	require(end->qp, "create a QP");
	if (conf->wr_api)
		end->qpx = ibv_qp_to_qp_ex(end->qp);

	/* Every second end starts just before the 24-bit number wraps. */
	end->psn = made++ & 1 ? 0x123456 : 0xfffffc;
}

void vp_end_free(struct vp_end *end)
{
	if (end->ah)
		require(!ibv_destroy_ah(end->ah), "destroy an address handle");
	vp_qp_destroy(end);
	if (end->srq)
		require(!ibv_destroy_srq(end->srq), "destroy an SRQ");
	if (end->mr)
		require(!ibv_dereg_mr(end->mr), "deregister the buffer");
	if (end->buf)
		require(!munmap(end->buf, end->len), "unmap the buffer");
	vp_cq_free(&end->scq);
	vp_cq_free(&end->rcq);
	if (end->channel)
		require(!ibv_destroy_comp_channel(end->channel), "destroy a completion channel");
	if (end->own_pd)
		require(!ibv_dealloc_pd(end->pd), "deallocate a PD");
	memset(end, 0, sizeof(*end));
}

void vp_pair_make_on(struct vp_pair *pair, struct vp_dev *dev_a, struct ibv_pd *pd_a,
		     struct vp_dev *dev_b, struct ibv_pd *pd_b, const struct vp_conf *conf)
{
	pair->dev_a = dev_a;
	pair->dev_b = dev_b;
	pair->conf = *conf;
	vp_end_make(&pair->a, dev_a, pd_a, &pair->conf);
	vp_end_make(&pair->b, dev_b, pd_b, &pair->conf);
	vp_connect(&pair->a, &pair->b);
}

void vp_pair_make(struct vp_pair *pair, struct vp_dev *dev_a, struct vp_dev *dev_b,
		  const struct vp_conf *conf)
{
	vp_pair_make_on(pair, dev_a, NULL, dev_b, NULL, conf);
}

void vp_pair_free(struct vp_pair *pair)
{
	vp_end_free(&pair->a);
	vp_end_free(&pair->b);
}

void vp_both_make(struct vp_both *both, struct vp_conf conf)
{
	vp_open_both(&both->dev_a, &both->dev_b);
	vp_pair_make(&both->pair, &both->dev_a, &both->dev_b, &conf);
}

void vp_both_free(struct vp_both *both)
{
	vp_pair_free(&both->pair);
	vp_close_both(&both->dev_a, &both->dev_b);
}

/* -- states -- */

struct ibv_ah_attr vp_ah_attr(const struct vp_end *end, const struct vp_dev *peer)
{
	struct ibv_ah_attr attr = {
		.dlid = peer->port.lid,
		.port_num = end->dev->port_num,
	};

	if (end->dev->port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		attr.is_global = 1;
		attr.grh.dgid = peer->gid;
		attr.grh.sgid_index = end->dev->gid_index;
		attr.grh.hop_limit = 64;
	}
	return attr;
}

static int step_init(const struct vp_end *end, struct ibv_qp_attr *attr)
{
	attr->port_num = end->dev->port_num;
	if (end->conf->type == IBV_QPT_UD) {
		attr->qkey = VP_QKEY;
		return IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	}
	attr->qp_access_flags = end->conf->qp_access;
	return IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
}

static int step_rtr(const struct vp_end *end, const struct vp_end *peer, struct ibv_qp_attr *attr)
{
	if (end->conf->type == IBV_QPT_UD)
		return 0;
	attr->ah_attr = vp_ah_attr(end, peer->dev);
	attr->path_mtu = end->dev->port.active_mtu < peer->dev->port.active_mtu ?
				 end->dev->port.active_mtu :
				 peer->dev->port.active_mtu;
	attr->dest_qp_num = peer->qp->qp_num;
	attr->rq_psn = peer->psn;
	if (end->conf->type == IBV_QPT_UC || end->conf->type == IBV_QPT_XRC_SEND)
		return IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	attr->max_dest_rd_atomic = end->conf->max_dest_rd_atomic;
	attr->min_rnr_timer = end->conf->min_rnr_timer;
	return IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

static int step_rts(const struct vp_end *end, struct ibv_qp_attr *attr)
{
	attr->sq_psn = end->psn;
	if (end->conf->type == IBV_QPT_UC || end->conf->type == IBV_QPT_UD)
		return IBV_QP_SQ_PSN;
	attr->timeout = end->conf->timeout;
	if (end->conf->type == IBV_QPT_XRC_RECV)
		return IBV_QP_SQ_PSN | IBV_QP_TIMEOUT;
	attr->retry_cnt = end->conf->retry_cnt;
	attr->rnr_retry = end->conf->rnr_retry;
	attr->max_rd_atomic = end->conf->max_rd_atomic;
	return IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	       IBV_QP_MAX_QP_RD_ATOMIC;
}

int vp_step(const struct vp_end *end, const struct vp_end *peer, enum ibv_qp_state state,
	    struct ibv_qp_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = state;
	if (state == IBV_QPS_INIT)
		return IBV_QP_STATE | step_init(end, attr);
	if (state == IBV_QPS_RTR)
		return IBV_QP_STATE | step_rtr(end, peer, attr);
	return IBV_QP_STATE | step_rts(end, attr);
}

void vp_move(struct vp_end *end, const struct vp_end *peer, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;
	int mask = vp_step(end, peer, state, &attr);

	errno = ibv_modify_qp(end->qp, &attr, mask);
	require(!errno, "move a QP to %s",
		state == IBV_QPS_INIT ? "INIT" :
		state == IBV_QPS_RTR  ? "RTR" :
					"RTS");
}

static void move_plain(struct vp_end *end, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	errno = ibv_modify_qp(end->qp, &attr, IBV_QP_STATE);
	require(!errno, "move a QP to %s", state == IBV_QPS_ERR ? "ERR" : "RESET");
}

void vp_move_to_error(struct vp_end *end)
{
	move_plain(end, IBV_QPS_ERR);
}

void vp_move_to_reset(struct vp_end *end)
{
	move_plain(end, IBV_QPS_RESET);
}

static void make_ah(struct vp_end *end)
{
	struct ibv_ah_attr attr = vp_ah_attr(end, end->peer->dev);

	end->ah = ibv_create_ah(end->pd, &attr);
	require(end->ah, "create an address handle");
}

void vp_connect(struct vp_end *a, struct vp_end *b)
{
	a->peer = b;
	b->peer = a;
	vp_move(a, b, IBV_QPS_INIT);
	vp_move(b, a, IBV_QPS_INIT);
	vp_move(a, b, IBV_QPS_RTR);
	vp_move(b, a, IBV_QPS_RTR);
	vp_move(a, b, IBV_QPS_RTS);
	vp_move(b, a, IBV_QPS_RTS);
	if (a->conf->type == IBV_QPT_UD && !a->ah) {
		make_ah(a);
		make_ah(b);
	}
}

enum ibv_qp_state vp_state(struct vp_end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	errno = ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init);
	require(!errno, "query a QP");
	return attr.qp_state;
}

void vp_expect_state(struct vp_end *end, enum ibv_qp_state state, const char *whose)
{
	uint64_t until = now_ms() + opt.deadline_ms;
	enum ibv_qp_state is;

	do {
		is = vp_state(end);
	} while (is != state && now_ms() < until);
	check(is == state, "%s is in state %d (it is in %d)", whose, state, is);
}
