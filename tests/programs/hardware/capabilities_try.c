// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * capabilities_try.c - what only trying shows: memory windows over several pieces of memory, bound by a WQE that we
 * build, and static rates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/mlx5dv.h>

#include "capabilities.h"

#define BUF_SIZE (1u << 20)
#define PIECE 4096u /* of memory, for one entry of a window */
#define MAX_PIECES 4u
#define POLL_SECONDS 10
#define WRITES 16
#define ALL_REMOTE \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_MW_BIND)

struct ends {
	struct ibv_context *ctx;
	struct ibv_port_attr port;
	uint8_t port_num;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *buf;
	struct ibv_qp *qp[2]; /* connected to each other */
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The status of the next completion; -1: none comes. */
static int next_status(struct ends *ends)
{
	double end = now() + POLL_SECONDS;
	struct ibv_wc wc;
	int n;

	do
		n = ibv_poll_cq(ends->cq, 1, &wc);
	while (!n && now() < end);
	return n == 1 ? (int)wc.status : -1;
}

static struct ibv_qp *make_qp(struct ends *ends)
{
	struct mlx5dv_qp_init_attr mlx5 = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
		.send_ops_flags = MLX5DV_QP_EX_WITH_RAW_WQE,
	};
	struct ibv_qp_init_attr_ex attr = {
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_RDMA_WRITE,
		.pd = ends->pd,
		.send_cq = ends->cq,
		.recv_cq = ends->cq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 64, .max_recv_wr = 1, .max_send_sge = 4, .max_recv_sge = 1 },
	};

	return mlx5dv_create_qp(ends->ctx, &attr, &mlx5);
}

static int connect_qp(const struct ends *ends, struct ibv_qp *qp, const struct ibv_qp *peer,
		      uint8_t rate)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = ends->port_num,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};
	int err;

	err = ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (err)
		return err;
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = ends->port.active_mtu,
		.dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.ah_attr = { .dlid = ends->port.lid,
			     .port_num = ends->port_num,
			     .static_rate = rate },
	};
	err = ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER);
	if (err)
		return err;
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
	};
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void drop_qps(struct ends *ends)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (ends->qp[i])
			ibv_destroy_qp(ends->qp[i]);
		ends->qp[i] = NULL;
	}
}

static bool make_qps(struct ends *ends, uint8_t rate)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		ends->qp[i] = make_qp(ends);
	if (ends->qp[0] && ends->qp[1] && !connect_qp(ends, ends->qp[0], ends->qp[1], rate) &&
	    !connect_qp(ends, ends->qp[1], ends->qp[0], rate))
		return true;
	drop_qps(ends);
	return false;
}

/* Where piece i is; there are gaps between them. */
static uint8_t *piece(const struct ends *ends, unsigned int i)
{
	return ends->buf + 2 * i * PIECE;
}

struct bind_wqe {
	struct mlx5_wqe_ctrl_seg ctrl;
	struct mlx5_wqe_umr_ctrl_seg umr;
	struct mlx5_wqe_mkey_context_seg key;
	struct mlx5_wqe_umr_klm_seg entries[MAX_PIECES];
};

/* Of type 2, as ibv_post_send() binds it, but over several pieces. */
static bool bind_pieces(struct ends *ends, uint32_t rkey, unsigned int pieces)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(ends->qp[0]);
	uint64_t mask = MLX5_WQE_UMR_CTRL_MKEY_MASK_FREE | MLX5_WQE_UMR_CTRL_MKEY_MASK_MKEY |
			MLX5_WQE_UMR_CTRL_MKEY_MASK_QPN | MLX5_WQE_UMR_CTRL_MKEY_MASK_LEN |
			MLX5_WQE_UMR_CTRL_MKEY_MASK_START_ADDR |
			MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_LOCAL_WRITE |
			MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_READ |
			MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_WRITE |
			MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_ATOMIC;
	struct bind_wqe wqe = {
		.umr = {
			.flags = MLX5_WQE_UMR_CTRL_FLAG_TRNSLATION_OFFSET | MLX5_WQE_UMR_CTRL_FLAG_INLINE |
				 MLX5_WQE_UMR_CTRL_FLAG_CHECK_FREE,
			.klm_octowords = htobe16(MAX_PIECES),
			.mkey_mask = htobe64(mask),
		},
		.key = {
			.access_flags = MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_READ,
			.qpn_mkey = htobe32(ends->qp[0]->qp_num << 8 | (rkey & 0xff)),
			.len = htobe64(pieces * PIECE),
		},
	};
	unsigned int i;

	for (i = 0; i < pieces; i++) {
		wqe.entries[i].byte_count = htobe32(PIECE);
		wqe.entries[i].mkey = htobe32(ends->mr->lkey);
		wqe.entries[i].address = htobe64((uintptr_t)piece(ends, i));
	}
	mlx5dv_set_ctrl_seg(&wqe.ctrl, 0, MLX5_OPCODE_UMR, 0, ends->qp[0]->qp_num,
			    MLX5_WQE_CTRL_CQ_UPDATE, sizeof(wqe) / 16, 0, htobe32(rkey));
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	mlx5dv_wr_raw_wqe(mlx5dv_qp_ex_from_ibv_qp_ex(qpx), &wqe);
	return !ibv_wr_complete(qpx) && next_status(ends) == IBV_WC_SUCCESS;
}

/* By the other end, which knows the window's key only. */
static bool read_through(struct ends *ends, uint32_t rkey, unsigned int pieces)
{
	uint8_t *here = ends->buf + BUF_SIZE / 2;
	struct ibv_sge sge = { .addr = (uintptr_t)here,
			       .length = pieces * PIECE,
			       .lkey = ends->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = 0, .rkey = rkey },
	};
	unsigned int i;

	memset(here, 0, pieces * PIECE);
	if (ibv_post_send(ends->qp[1], &wr, &bad) || next_status(ends) != IBV_WC_SUCCESS)
		return false;
	for (i = 0; i < pieces; i++)
		if (memcmp(here + i * PIECE, piece(ends, i), PIECE))
			return false;
	return true;
}

static void try_window(struct ends *ends, unsigned int pieces)
{
	struct ibv_mw *mw = ibv_alloc_mw(ends->pd, IBV_MW_TYPE_2);
	bool works = false;
	uint32_t rkey;

	if (!mw)
		return;
	if (make_qps(ends, 0)) {
		rkey = ibv_inc_rkey(mw->rkey);
		works = bind_pieces(ends, rkey, pieces) && read_through(ends, rkey, pieces);
		printf("window_of_%u %d\n", pieces, works);
		drop_qps(ends);
	}
	ibv_dealloc_mw(mw);
}

/* Seconds for WRITES writes at that rate; below 0: they fail. */
static double write_time(struct ends *ends)
{
	struct ibv_sge sge = { .addr = (uintptr_t)ends->buf,
			       .length = BUF_SIZE / 2,
			       .lkey = ends->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = (uintptr_t)ends->buf + BUF_SIZE / 2,
			     .rkey = ends->mr->rkey },
	};
	double start = now();
	int i;

	for (i = 1; i <= WRITES; i++) {
		wr.send_flags = i == WRITES ? IBV_SEND_SIGNALED : 0;
		if (ibv_post_send(ends->qp[0], &wr, &bad))
			return -1;
	}
	return next_status(ends) == IBV_WC_SUCCESS ? now() - start : -1;
}

static void try_rate(struct ends *ends, uint8_t rate, const char *name)
{
	double seconds;

	if (!make_qps(ends, rate)) {
		printf("%s refused\n", name);
		return;
	}
	seconds = write_time(ends);
	printf("%s %.2f Gbit/s\n", name,
	       seconds > 0 ? WRITES * (BUF_SIZE / 2) * 8 / seconds / 1e9 : 0);
	drop_qps(ends);
}

static bool make_ends(struct ends *ends)
{
	unsigned int i;

	if (ibv_query_port(ends->ctx, ends->port_num, &ends->port))
		return false;
	ends->pd = ibv_alloc_pd(ends->ctx);
	ends->cq = ibv_create_cq(ends->ctx, 64, NULL, NULL, 0);
	ends->buf = aligned_alloc(4096, BUF_SIZE);
	if (!ends->pd || !ends->cq || !ends->buf)
		return false;
	for (i = 0; i < BUF_SIZE; i++)
		ends->buf[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
	ends->mr = ibv_reg_mr(ends->pd, ends->buf, BUF_SIZE, ALL_REMOTE);
	return ends->mr;
}

static void drop_ends(struct ends *ends)
{
	if (ends->mr)
		ibv_dereg_mr(ends->mr);
	free(ends->buf);
	if (ends->cq)
		ibv_destroy_cq(ends->cq);
	if (ends->pd)
		ibv_dealloc_pd(ends->pd);
}

void capabilities_try(struct ibv_context *ctx, uint8_t port)
{
	struct ends ends = { .ctx = ctx, .port_num = port };
	unsigned int pieces;

	if (make_ends(&ends)) {
		for (pieces = 1; pieces <= MAX_PIECES; pieces++)
			try_window(&ends, pieces);
		try_rate(&ends, 0, "rate_unlimited");
		try_rate(&ends, IBV_RATE_2_5_GBPS, "rate_2.5");
	}
	drop_ends(&ends);
}
