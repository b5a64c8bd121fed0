// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5_queue.c - CQs, SRQs and QPs of ConnectX HCAs, on memory of the guest: see mlx5.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "hca/mlx5.h"
#include "hca/qp_attr.h"

/* Attribute masks of the kernel that its user-space headers do not have. */
#define CQ_MODERATE (1u << 0)
#define SRQ_LIMIT (1u << 1)

static bool in_dmabuf(const struct hca_place *buf, const struct hca_place *dbr)
{
	return buf->dmabuf >= 0 || dbr->dmabuf >= 0;
}

/* Completion queues */

int mlx5_cq_create(struct hca_ctx *ctx, const struct hca_cq_attr *attr, struct hca_obj *cq)
{
	const struct mlx5 *m = to_ctx(ctx)->mlx5;
	const int channel = attr->channel >= 0 ? attr->channel : to_ctx(ctx)->completions;
	/* The kernel makes a CQ of the next power of two above cqe: of attr->cqes entries. */
	struct ib_uverbs_create_cq req = {
		.user_handle = attr->user,
		.cqe = attr->cqes - 1,
		.comp_vector = (m->vector + attr->vector) % m->vectors,
		.comp_channel = attr->events ? channel : -1,
	};
	struct mlx5_ib_create_cq driver = {
		.buf_addr = attr->buf.addr,
		.db_addr = attr->dbr.addr,
		.cqe_size = attr->cqe_size,
		.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
		.uar_page_index = attr->uar_index,
	};
	struct ib_uverbs_create_cq_resp rsp;
	struct mlx5_ib_create_cq_resp result;
	int err;

	if (attr->uar_index > UINT16_MAX) /* wider than the kernel's interface */
		return -EOVERFLOW;
	if (in_dmabuf(&attr->buf, &attr->dbr) || attr->flags)
		return mlx5_cq_create_ioctl(fd_of(ctx), attr, &req, &driver, cq);
	err = uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_CREATE_CQ, MSG(req, driver),
			   MSG(rsp, result));
	if (err)
		return err;
	*cq = (struct hca_obj){ .id = rsp.cq_handle, .number = result.cqn };
	return 0;
}

int mlx5_cq_modify(struct hca_ctx *ctx, uint32_t cq, uint16_t count, uint16_t period_us)
{
	struct ib_uverbs_ex_modify_cq req = {
		.cq_handle = cq,
		.attr_mask = CQ_MODERATE,
		.attr = { .cq_count = count, .cq_period = period_us },
	};

	return uverbs_write_ex(fd_of(ctx), IB_USER_VERBS_EX_CMD_MODIFY_CQ, &req, sizeof(req), NULL,
			       0);
}

/* ENOSYS: an HCA that does not resize. */
int mlx5_cq_resize(struct hca_ctx *ctx, uint32_t cq, uint32_t cqes, uint32_t cqe_size,
		   const struct hca_place *buf)
{
	struct ib_uverbs_resize_cq req = { .cq_handle = cq, .cqe = cqes - 1 };
	struct mlx5_ib_resize_cq driver = { .buf_addr = buf->addr, .cqe_size = cqe_size };
	struct ib_uverbs_resize_cq_resp rsp;
	int err;

	err = uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_RESIZE_CQ, MSG(req, driver),
			   MSG_CORE(rsp));
	return err == -ENOSYS ? -EOPNOTSUPP : err;
}

int mlx5_cq_destroy(struct hca_ctx *ctx, uint32_t cq)
{
	struct ib_uverbs_destroy_cq req = { .cq_handle = cq };
	struct ib_uverbs_destroy_cq_resp rsp;

	return uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_DESTROY_CQ, MSG_CORE(req), MSG_CORE(rsp));
}

/* XRC domains, shared receive queues */

int mlx5_xrcd_open(struct hca_ctx *ctx, int domain, uint32_t *xrcd)
{
	struct ib_uverbs_open_xrcd req = { .fd = domain, .oflags = O_CREAT };
	struct ib_uverbs_open_xrcd_resp rsp;
	int err;

	err = uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_OPEN_XRCD, MSG_CORE(req), MSG_CORE(rsp));
	if (err)
		return err;
	*xrcd = rsp.xrcd_handle;
	return 0;
}

int mlx5_xrcd_close(struct hca_ctx *ctx, uint32_t xrcd)
{
	struct ib_uverbs_close_xrcd req = { .xrcd_handle = xrcd };

	return uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_CLOSE_XRCD, MSG_CORE(req), NULL);
}

int mlx5_srq_create(struct hca_ctx *ctx, const struct hca_srq_attr *attr, struct hca_obj *srq)
{
	/* As for CQs: the kernel takes the next power of two above max_wr. */
	struct ib_uverbs_create_xsrq req = {
		.user_handle = attr->user,
		.srq_type = attr->xrc ? IB_UVERBS_SRQT_XRC : IB_UVERBS_SRQT_BASIC,
		.pd_handle = attr->pd,
		.max_wr = attr->wqes - 1,
		.max_sge = attr->max_sge,
		.srq_limit = attr->limit,
		.xrcd_handle = attr->xrcd,
		.cq_handle = attr->cq,
	};
	struct mlx5_ib_create_srq driver = {
		.buf_addr = attr->buf.addr,
		.db_addr = attr->dbr.addr,
		.uidx = attr->user_index,
	};
	struct ib_uverbs_create_srq_resp rsp;
	struct mlx5_ib_create_srq_resp result;
	int err;

	if (in_dmabuf(&attr->buf, &attr->dbr))
		return mlx5_srq_create_dmabuf(fd_of(ctx), attr, &req, &driver, srq);
	err = uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_CREATE_XSRQ, MSG(req, driver),
			   MSG(rsp, result));
	if (err)
		return err;
	*srq = (struct hca_obj){ .id = rsp.srq_handle, .number = result.srqn };
	return 0;
}

int mlx5_srq_modify(struct hca_ctx *ctx, uint32_t srq, uint32_t limit)
{
	struct ib_uverbs_modify_srq req = {
		.srq_handle = srq,
		.attr_mask = SRQ_LIMIT,
		.srq_limit = limit,
	};

	return uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_MODIFY_SRQ, MSG_CORE(req), NULL);
}

int mlx5_srq_query(struct hca_ctx *ctx, uint32_t srq, struct xen_vhca_srq_attr *attr)
{
	struct ib_uverbs_query_srq req = { .srq_handle = srq };
	struct ib_uverbs_query_srq_resp rsp;
	int err;

	err = uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_QUERY_SRQ, MSG_CORE(req), MSG_CORE(rsp));
	if (err)
		return err;
	*attr = (struct xen_vhca_srq_attr){
		.max_wr = rsp.max_wr,
		.max_sge = rsp.max_sge,
		.limit = rsp.srq_limit,
	};
	return 0;
}

int mlx5_srq_destroy(struct hca_ctx *ctx, uint32_t srq)
{
	struct ib_uverbs_destroy_srq req = { .srq_handle = srq };
	struct ib_uverbs_destroy_srq_resp rsp;

	return uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_DESTROY_SRQ, MSG_CORE(req),
			    MSG_CORE(rsp));
}

/* Queue pairs */

int mlx5_qp_create(struct hca_ctx *ctx, const struct hca_qp_attr *attr, struct hca_obj *qp)
{
	struct ib_uverbs_create_qp req = {
		.user_handle = attr->user,
		.pd_handle = attr->type == XEN_VHCA_QPT_XRC_TGT ? attr->xrcd : attr->pd,
		.send_cq_handle = attr->send_cq,
		.recv_cq_handle = attr->recv_cq,
		.srq_handle = attr->srq,
		.is_srq = attr->has_srq,
		.max_send_wr = attr->max_send_wr,
		.max_recv_wr = attr->max_recv_wr,
		.max_send_sge = attr->max_send_sge,
		.max_recv_sge = attr->max_recv_sge,
		.max_inline_data = attr->max_inline,
		.sq_sig_all = attr->signal_all,
		.qp_type = attr->type, /* enum xen_vhca_qp_type is enum ib_qp_type */
	};
	struct mlx5_ib_create_qp driver = {
		.buf_addr = attr->buf.addr,
		.db_addr = attr->dbr.addr,
		.sq_wqe_count = attr->sq_blocks,
		.rq_wqe_count = attr->rq_wqes,
		.rq_wqe_shift = attr->rq_shift,
		.flags = MLX5_QP_FLAG_UAR_PAGE_INDEX,
		.uidx = attr->user_index,
		.bfreg_index = attr->uar_index,
	};
	struct ib_uverbs_create_qp_resp rsp;
	struct mlx5_ib_create_qp_resp result;
	int err;

	if (in_dmabuf(&attr->buf, &attr->dbr) || attr->block_loopback)
		return mlx5_qp_create_ioctl(fd_of(ctx), attr, &req, &driver, qp);
	err = uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_CREATE_QP, MSG(req, driver),
			   MSG(rsp, result));
	if (err)
		return err;
	*qp = (struct hca_obj){ .id = rsp.qp_handle, .number = rsp.qpn };
	return 0;
}

int mlx5_qp_modify(struct hca_ctx *ctx, uint32_t qp, uint32_t mask,
		   const struct xen_vhca_qp_attr *attr)
{
	struct mlx5_ctx *c = to_ctx(ctx);
	struct ib_uverbs_modify_qp req;

	hca_qp_to_uverbs(&req, attr, c->mlx5->port);
	req.qp_handle = qp;
	req.attr_mask = mask;
	return uverbs_write(c->fd, IB_USER_VERBS_CMD_MODIFY_QP, MSG_CORE(req), NULL);
}

int mlx5_qp_query(struct hca_ctx *ctx, uint32_t qp, struct xen_vhca_qp_attr *attr)
{
	struct ib_uverbs_query_qp req = { .qp_handle = qp, .attr_mask = HCA_QP_ALL };
	struct ib_uverbs_query_qp_resp rsp;
	int err;

	err = uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_QUERY_QP, MSG_CORE(req), MSG_CORE(rsp));
	if (!err)
		hca_qp_from_uverbs(attr, &rsp);
	return err;
}

int mlx5_qp_destroy(struct hca_ctx *ctx, uint32_t qp)
{
	struct ib_uverbs_destroy_qp req = { .qp_handle = qp };
	struct ib_uverbs_destroy_qp_resp rsp;

	return uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_DESTROY_QP, MSG_CORE(req), MSG_CORE(rsp));
}

int mlx5_mcast(struct hca_ctx *ctx, uint32_t qp, bool attach, const uint8_t gid[16], uint16_t lid)
{
	struct ib_uverbs_attach_mcast req = { .qp_handle = qp, .mlid = lid };

	memcpy(req.gid, gid, sizeof(req.gid));
	return uverbs_write(fd_of(ctx),
			    attach ? IB_USER_VERBS_CMD_ATTACH_MCAST :
				     IB_USER_VERBS_CMD_DETACH_MCAST,
			    MSG_CORE(req), NULL);
}
