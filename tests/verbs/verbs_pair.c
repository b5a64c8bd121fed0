// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs_pair.h"

/* How long to look before believing that nothing comes. */
#define SILENCE_MS 30

/* Polls between two looks at the clock: in some guests reading it costs as much as many polls. */
#define POLLS_PER_LOOK 64

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
	int count = 0, flags;

	memset(dev, 0, sizeof(*dev));
	list = ibv_get_device_list(&count);
	require(list && count, "there is an RDMA device");
	chosen = choose_device(list, count, which);
	require(chosen, "device %s exists", opt.device[which] ? opt.device[which] : "");
	dev->ctx = ibv_open_device(chosen);
	require(dev->ctx, "open %s", ibv_get_device_name(chosen));
	ibv_free_device_list(list);

	dev->port_num = 1;
	require(!ibv_query_device(dev->ctx, &dev->attr), "query the device");
	require(!ibv_query_port(dev->ctx, dev->port_num, &dev->port), "query the port");
	require(dev->port.state == IBV_PORT_ACTIVE, "port 1 of %s is active (it is %s)",
		ibv_get_device_name(dev->ctx->device), ibv_port_state_str(dev->port.state));
	choose_gid(dev);

	flags = fcntl(dev->ctx->async_fd, F_GETFL);
	require(!fcntl(dev->ctx->async_fd, F_SETFL, flags | O_NONBLOCK), "asynchronous events do not block");
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
		.cap = { .max_send_wr = 32, .max_recv_wr = 32, .max_send_sge = 2, .max_recv_sge = 2 },
		.cqe = 64,
		.qp_access = VP_REMOTE_ALL,
		.mr_access = VP_ACCESS_ALL,
		.len = 64 * 1024,
		.timeout = 16,			/* 268 ms a try: an emulated machine is slow */
		.retry_cnt = 7,
		.rnr_retry = 7,			/* for ever */
		.min_rnr_timer = 12,		/* 0.64 ms */
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
	};

	if (type == IBV_QPT_UC)
		conf.qp_access = IBV_ACCESS_REMOTE_WRITE;
	return conf;
}

void vp_cq_make(struct vp_cq *cq, struct vp_dev *dev, int cqe, struct ibv_comp_channel *channel, bool ex)
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
		attr.send_ops_flags |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	if (conf->type == IBV_QPT_RC)
		attr.send_ops_flags |= IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
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

void vp_end_make_no_qp(struct vp_end *end, struct vp_dev *dev, struct ibv_pd *pd, const struct vp_conf *conf)
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
		require(!fcntl(end->channel->fd, F_SETFL, fcntl(end->channel->fd, F_GETFL) | O_NONBLOCK),
			"completion events do not block");
	}
	vp_cq_make(&end->scq, dev, conf->cqe, end->channel, conf->cq_ex);
	vp_cq_make(&end->rcq, dev, conf->cqe, end->channel, conf->cq_ex);

	if (conf->use_srq) {
		struct ibv_srq_init_attr attr = {
			.attr = { .max_wr = conf->cap.max_recv_wr, .max_sge = conf->cap.max_recv_sge },
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

void vp_end_make(struct vp_end *end, struct vp_dev *dev, struct ibv_pd *pd, const struct vp_conf *conf)
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

void vp_pair_make(struct vp_pair *pair, struct vp_dev *dev_a, struct vp_dev *dev_b, const struct vp_conf *conf)
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
			 end->dev->port.active_mtu : peer->dev->port.active_mtu;
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
	return IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
}

int vp_step(const struct vp_end *end, const struct vp_end *peer, enum ibv_qp_state state, struct ibv_qp_attr *attr)
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
	require(!errno, "move a QP to %s", state == IBV_QPS_INIT ? "INIT" : state == IBV_QPS_RTR ? "RTR" : "RTS");
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

/* -- buffers -- */

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

uint64_t vp_fresh(void)
{
	static uint64_t used;

	return mix(opt.seed + ++used);
}

/* The pattern is a sequence of 8-byte words, each of which depends on its place: a shifted copy is no copy. */
static uint64_t word_at(uint64_t seed, size_t index)
{
	return mix(seed + index);
}

void vp_fill(void *at, size_t len, uint64_t seed)
{
	uint8_t *to = at;
	size_t i, words = len / 8;
	uint64_t word;

	for (i = 0; i < words; i++) {
		word = word_at(seed, i);
		memcpy(to + 8 * i, &word, 8);
	}
	word = word_at(seed, words);
	memcpy(to + 8 * words, &word, len % 8);
}

ptrdiff_t vp_differs(const void *at, size_t len, uint64_t seed)
{
	const uint8_t *is = at;
	size_t i, j, part;
	uint64_t word;

	for (i = 0; i < len; i += 8) {
		word = word_at(seed, i / 8);
		part = len - i < 8 ? len - i : 8;
		if (!memcmp(is + i, &word, part))
			continue;
		for (j = 0; is[i + j] == ((uint8_t *)&word)[j]; j++)
			;
		return i + j;
	}
	return -1;
}

/* -- posting -- */

struct ibv_send_wr *vp_wr(struct vp_wr *w, struct vp_end *end, enum ibv_wr_opcode opcode, size_t off, size_t len)
{
	static uint64_t next_id = 0x5e4d0000;
	struct vp_end *peer = end->peer;

	memset(w, 0, sizeof(*w));
	w->sge[0] = (struct ibv_sge){ .addr = (uintptr_t)end->buf + off, .length = len, .lkey = end->mr->lkey };
	w->wr.wr_id = next_id++;
	w->wr.sg_list = w->sge;
	w->wr.num_sge = 1;
	w->wr.opcode = opcode;
	w->wr.send_flags = IBV_SEND_SIGNALED;

	if (end->conf->type == IBV_QPT_UD) {
		w->wr.wr.ud.ah = end->ah;
		w->wr.wr.ud.remote_qpn = peer->qp->qp_num;
		w->wr.wr.ud.remote_qkey = VP_QKEY;
	} else if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		w->wr.wr.atomic.remote_addr = (uintptr_t)peer->buf + off;
		w->wr.wr.atomic.rkey = peer->mr->rkey;
	} else if (opcode != IBV_WR_SEND && opcode != IBV_WR_SEND_WITH_IMM) {
		w->wr.wr.rdma.remote_addr = (uintptr_t)peer->buf + off;
		w->wr.wr.rdma.rkey = peer->mr->rkey;
	}
	return &w->wr;
}

/* One request by the ibv_wr_*() calls. Returns false for an opcode that this helper does not know. */
static bool build_opcode(struct ibv_qp_ex *q, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(q);
		return true;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(q, wr->imm_data);
		return true;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(q, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		return true;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(q, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, wr->imm_data);
		return true;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(q, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		return true;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(q, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
				      wr->wr.atomic.compare_add, wr->wr.atomic.swap);
		return true;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(q, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
					wr->wr.atomic.compare_add);
		return true;
	default:
		return false;
	}
}

static void build_data(struct ibv_qp_ex *q, const struct ibv_send_wr *wr)
{
	struct ibv_data_buf bufs[VP_MAX_SGE];
	int i;

	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		if (wr->num_sge == 1)
			ibv_wr_set_sge(q, wr->sg_list->lkey, wr->sg_list->addr, wr->sg_list->length);
		else
			ibv_wr_set_sge_list(q, wr->num_sge, wr->sg_list);
		return;
	}
	for (i = 0; i < wr->num_sge; i++) {
		bufs[i].addr = (void *)(uintptr_t)wr->sg_list[i].addr;
		bufs[i].length = wr->sg_list[i].length;
	}
	if (wr->num_sge == 1)
		ibv_wr_set_inline_data(q, bufs[0].addr, bufs[0].length);
	else
		ibv_wr_set_inline_data_list(q, wr->num_sge, bufs);
}

static int send_by_wr_api(struct vp_end *end, const struct ibv_send_wr *wr)
{
	struct ibv_qp_ex *q = end->qpx;

	ibv_wr_start(q);
	for (; wr; wr = wr->next) {
		q->wr_id = wr->wr_id;
		q->wr_flags = wr->send_flags;
		if (!build_opcode(q, wr)) {
			ibv_wr_abort(q);
			return EOPNOTSUPP;
		}
		if (end->conf->type == IBV_QPT_UD)
			ibv_wr_set_ud_addr(q, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
		build_data(q, wr);
	}
	return ibv_wr_complete(q);
}

int vp_try_send(struct vp_end *end, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	if (end->qpx)
		return send_by_wr_api(end, wr);
	return ibv_post_send(end->qp, wr, &bad);
}

int vp_try_recv(struct vp_end *end, uint64_t wr_id, struct ibv_sge *sge, int num_sge)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = sge, .num_sge = num_sge }, *bad;

	if (end->srq)
		return ibv_post_srq_recv(end->srq, &wr, &bad);
	return ibv_post_recv(end->qp, &wr, &bad);
}

void vp_send(struct vp_end *end, struct ibv_send_wr *wr)
{
	errno = vp_try_send(end, wr);
	require(!errno, "post a send request");
}

void vp_recv(struct vp_end *end, uint64_t wr_id, size_t off, size_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)end->buf + off, .length = len, .lkey = end->mr->lkey };

	errno = vp_try_recv(end, wr_id, &sge, 1);
	require(!errno, "post a receive request");
}

/* -- completions -- */

static int poll_ex(struct ibv_cq_ex *ex, struct ibv_wc *wc)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int ret = ibv_start_poll(ex, &attr);

	if (ret == ENOENT)
		return 0;
	require(!ret, "poll an extended CQ (error %d)", ret);
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = ex->wr_id;
	wc->status = ex->status;
	wc->vendor_err = ibv_wc_read_vendor_err(ex);
	wc->qp_num = ibv_wc_read_qp_num(ex);
	if (wc->status == IBV_WC_SUCCESS) {
		wc->opcode = ibv_wc_read_opcode(ex);
		wc->byte_len = ibv_wc_read_byte_len(ex);
		wc->wc_flags = ibv_wc_read_wc_flags(ex);
		if (wc->wc_flags & IBV_WC_WITH_INV)
			wc->invalidated_rkey = ibv_wc_read_invalidated_rkey(ex);
		else
			wc->imm_data = ibv_wc_read_imm_data(ex);
		wc->src_qp = ibv_wc_read_src_qp(ex);
		wc->slid = ibv_wc_read_slid(ex);
		wc->sl = ibv_wc_read_sl(ex);
		wc->dlid_path_bits = ibv_wc_read_dlid_path_bits(ex);
	}
	ibv_end_poll(ex);
	return 1;
}

int vp_poll(struct vp_cq *cq, struct ibv_wc *wc)
{
	int n;

	if (cq->ex)
		return poll_ex(cq->ex, wc);
	n = ibv_poll_cq(cq->cq, 1, wc);
	require(n >= 0, "poll a CQ (%d)", n);
	return n;
}

bool vp_poll_for(struct vp_cq *cq, struct ibv_wc *wc, unsigned int ms)
{
	uint64_t until = now_ms() + ms;
	int i;

	do {
		for (i = 0; i < POLLS_PER_LOOK; i++)
			if (vp_poll(cq, wc))
				return true;
	} while (now_ms() < until);
	return false;
}

struct ibv_wc vp_expect_at(const char *file, int line, struct vp_cq *cq, uint64_t wr_id, enum ibv_wc_status status,
			   const char *what)
{
	struct ibv_wc wc = { 0 };

	if (!check_at(file, line, vp_poll_for(cq, &wc, opt.deadline_ms), "a completion came", "%s completes", what))
		check_end_case();
	check_at(file, line, wc.status == status, "status as expected", "%s completes with \"%s\" (got \"%s\", vendor 0x%x)",
		 what, ibv_wc_status_str(status), ibv_wc_status_str(wc.status), wc.vendor_err);
	check_at(file, line, wc.wr_id == wr_id, "wr_id as posted", "%s completes with wr_id %#llx (got %#llx)", what,
		 (unsigned long long)wr_id, (unsigned long long)wc.wr_id);
	return wc;
}

void vp_expect_none(struct vp_cq *cq, const char *what)
{
	struct ibv_wc wc = { 0 };
	bool came = vp_poll_for(cq, &wc, SILENCE_MS);

	check(!came, "%s: no completion (got wr_id %#llx, \"%s\")", what, (unsigned long long)wc.wr_id,
	      ibv_wc_status_str(wc.status));
}

bool vp_status_for(struct vp_cq *cq, enum ibv_wc_status *status, unsigned int ms)
{
	struct ibv_wc wc;

	if (!vp_poll_for(cq, &wc, ms))
		return false;
	*status = wc.status;
	return true;
}

/* -- events -- */

static bool readable(int fd, unsigned int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do {
		n = poll(&p, 1, ms);
	} while (n < 0 && errno == EINTR);
	return n == 1;
}

struct ibv_cq *vp_event(struct ibv_comp_channel *channel, unsigned int ms)
{
	struct ibv_cq *cq;
	void *context;

	if (!readable(channel->fd, ms) || ibv_get_cq_event(channel, &cq, &context))
		return NULL;
	ibv_ack_cq_events(cq, 1);
	return cq;
}

static bool about_the_port(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		return true;
	default:
		return false;
	}
}

bool vp_async(struct vp_dev *dev, struct ibv_async_event *event, unsigned int ms)
{
	uint64_t until = now_ms() + ms, now = until - ms;

	for (;;) {
		if (!readable(dev->ctx->async_fd, until - now) || ibv_get_async_event(dev->ctx, event))
			return false;
		ibv_ack_async_event(event);
		if (!about_the_port(event->event_type))
			return true;
		now = now_ms();
		if (now > until)
			now = until;
	}
}

void vp_expect_qp_event(struct vp_end *end, enum ibv_event_type type, const char *what)
{
	struct ibv_async_event event = { 0 };
	bool came;

	do {
		came = vp_async(end->dev, &event, opt.deadline_ms);
	} while (came && event.event_type == IBV_EVENT_COMM_EST && type != IBV_EVENT_COMM_EST);

	if (!check(came, "%s: event \"%s\"", what, ibv_event_type_str(type)))
		return;
	check(event.event_type == type, "%s: event \"%s\" (got \"%s\")", what, ibv_event_type_str(type),
	      ibv_event_type_str(event.event_type));
	check(event.element.qp == end->qp, "%s: the event names the right QP", what);
}

void vp_expect_no_async(struct vp_dev *dev, const char *what)
{
	struct ibv_async_event event;

	while (vp_async(dev, &event, SILENCE_MS))
		check(event.event_type == IBV_EVENT_COMM_EST, "%s: no asynchronous event (got \"%s\")", what,
		      ibv_event_type_str(event.event_type));
}

/* -- memory windows -- */

void vp_need_mw(const struct vp_dev *dev)
{
	if (!(dev->attr.device_cap_flags & (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)))
		skip("%s has no memory windows of type 2", ibv_get_device_name(dev->ctx->device));
}

enum ibv_wc_status vp_mw_try_bind(struct vp_end *end, struct ibv_mw *mw, struct ibv_mr *mr, size_t off, size_t len,
				  unsigned int access)
{
	struct ibv_send_wr wr = {
		.wr_id = 0xb13d,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = {
				.mr = mr,
				.addr = (uintptr_t)end->buf + off,
				.length = len,
				.mw_access_flags = access,
			},
		},
	}, *bad;
	struct ibv_wc wc;

	errno = ibv_post_send(end->qp, &wr, &bad);
	require(!errno, "post the binding of a window");
	require(vp_poll_for(&end->scq, &wc, opt.deadline_ms), "the binding completes");
	check(wc.wr_id == 0xb13d, "and nothing before it");
	if (wc.status == IBV_WC_SUCCESS)
		mw->rkey = wr.bind_mw.rkey;
	return wc.status;
}

void vp_mw_bind(struct vp_end *end, struct ibv_mw *mw, size_t off, size_t len, unsigned int access)
{
	enum ibv_wc_status status = vp_mw_try_bind(end, mw, end->mr, off, len, access);

	require(status == IBV_WC_SUCCESS, "a window is bound (got \"%s\")", ibv_wc_status_str(status));
}

/* -- a whole exchange -- */

#define EXCHANGE 1000

static void exchange_send(struct vp_end *from, struct vp_end *to, const char *what)
{
	size_t grh = from->conf->type == IBV_QPT_UD ? VP_GRH : 0;
	uint64_t pattern = vp_fresh();
	struct vp_wr w;

	memset(to->buf, 0, 2 * EXCHANGE);
	vp_fill(from->buf, EXCHANGE, pattern);
	vp_recv(to, 0xeec, 0, EXCHANGE + grh);
	vp_send(from, vp_wr(&w, from, IBV_WR_SEND, 0, EXCHANGE));
	vp_expect(&from->scq, w.wr.wr_id, IBV_WC_SUCCESS, what);
	vp_expect(&to->rcq, 0xeec, IBV_WC_SUCCESS, what);
	check(vp_differs(to->buf + grh, EXCHANGE, pattern) < 0, "%s: every byte of a send arrives", what);
}

static void exchange_rdma(struct vp_end *from, struct vp_end *to, enum ibv_wr_opcode opcode, const char *what)
{
	struct vp_end *source = opcode == IBV_WR_RDMA_READ ? to : from;
	struct vp_end *sink = opcode == IBV_WR_RDMA_READ ? from : to;
	uint64_t pattern = vp_fresh();
	struct vp_wr w;

	memset(sink->buf, 0, EXCHANGE);
	vp_fill(source->buf, EXCHANGE, pattern);
	vp_send(from, vp_wr(&w, from, opcode, 0, EXCHANGE));
	vp_expect(&from->scq, w.wr.wr_id, IBV_WC_SUCCESS, what);
	check(vp_differs(sink->buf, EXCHANGE, pattern) < 0, "%s: every byte of an RDMA operation arrives", what);
}

void vp_exchange(struct vp_pair *pair, const char *what)
{
	exchange_send(&pair->a, &pair->b, what);
	exchange_send(&pair->b, &pair->a, what);
	if (pair->conf.type != IBV_QPT_RC)
		return;
	exchange_rdma(&pair->a, &pair->b, IBV_WR_RDMA_WRITE, what);
	exchange_rdma(&pair->b, &pair->a, IBV_WR_RDMA_READ, what);
}
