// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5_queue_dmabuf.c - CQs, SRQs and QPs whose buffers and doorbell records are in dma-bufs, and CQs and QPs with flags.
 *
 * Linux takes these by ioctl alone, as attributes that describe a buffer: CQs and QPs from 7.2 on, SRQs
 * from 7.3 on. The structures of the older commands say all the rest, so they are what a queue is made
 * from here, too.
 */
#include <errno.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "hca/mlx5.h"

/* Of Linux 7.3, as the headers that this is compiled with may be older. */
#define CREATE_CQ_BUF 12
#define CREATE_QP_BUF 15
#define CREATE_SRQ_BUF 14
#define CREATE_CQ_DBR (UVERBS_ID_DRIVER_NS_WITH_UHW + 1)
#define CREATE_QP_DBR UVERBS_ID_DRIVER_NS_WITH_UHW
#define CREATE_SRQ_DBR UVERBS_ID_DRIVER_NS_WITH_UHW

/* struct ib_uverbs_buffer_desc */
struct buffer_desc {
	uint32_t type; /* 0: dma-buf */
	int32_t fd;
	uint32_t flags, optional_flags;
	uint64_t addr, length;
};

/* Arguments that are put one by one, and what two of them point to. */
struct args {
	struct uverbs_arg arg[UVERBS_MAX_ARGS];
	unsigned int n;
	struct buffer_desc buf, dbr;
};

static void put(struct args *a, uint16_t id, uint16_t len, uint64_t data)
{
	a->arg[a->n++] = (struct uverbs_arg){ id, len, data };
}

static void put_object(struct args *a, uint16_t id, uint32_t object)
{
	put(a, id, 0, object);
}

static void put_pointer(struct args *a, uint16_t id, uint16_t len, const void *data)
{
	put(a, id, len, (uintptr_t)data);
}

/* One that is not in a dma-buf is an address, of which the driver's structure tells. */
static void put_place(struct args *a, uint16_t id, const struct hca_place *at,
		      struct buffer_desc *desc)
{
	if (at->dmabuf < 0)
		return;
	*desc = (struct buffer_desc){ .fd = at->dmabuf, .addr = at->addr, .length = at->length };
	put_pointer(a, id, sizeof(*desc), desc);
}

static int call(int fd, uint16_t object, uint16_t method, struct args *a)
{
	return uverbs_ioctl(fd, RDMA_DRIVER_MLX5, object, method, a->arg, a->n);
}

/* What is known lacks the object to be made (EINVAL). What is not known is told of before. */
static bool knows(int fd, uint16_t object, uint16_t method, uint16_t buf, uint16_t dbr)
{
	const struct hca_place at = { .dmabuf = 0, .length = 8 };
	struct args a = { .n = 0 };

	put_place(&a, buf, &at, &a.buf);
	put_place(&a, dbr, &at, &a.dbr);
	return call(fd, object, method, &a) == -EINVAL;
}

bool mlx5_has_queue_dmabufs(int fd)
{
	return knows(fd, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, CREATE_CQ_BUF, CREATE_CQ_DBR) &&
	       knows(fd, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, CREATE_QP_BUF, CREATE_QP_DBR) &&
	       knows(fd, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, CREATE_SRQ_BUF,
		     CREATE_SRQ_DBR);
}

static uint64_t cq_flags(uint32_t flags)
{
	return (flags & XEN_VHCA_CQ_TIMESTAMPS ? IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION : 0) |
	       (flags & XEN_VHCA_CQ_IGNORE_OVERRUN ? IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN : 0);
}

int mlx5_cq_create_ioctl(int fd, const struct hca_cq_attr *attr,
			 const struct ib_uverbs_create_cq *core,
			 const struct mlx5_ib_create_cq *driver, struct hca_obj *cq)
{
	struct mlx5_ib_create_cq_resp result = { 0 };
	struct args a = { .n = 0 };
	uint32_t cqes;
	int err;

	put_object(&a, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	put(&a, UVERBS_ATTR_CREATE_CQ_CQE, sizeof(core->cqe), core->cqe);
	put(&a, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, sizeof(core->user_handle), core->user_handle);
	put(&a, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, sizeof(core->comp_vector), core->comp_vector);
	put_pointer(&a, UVERBS_ATTR_CREATE_CQ_RESP_CQE, sizeof(cqes), &cqes);
	if (attr->flags)
		put(&a, UVERBS_ATTR_CREATE_CQ_FLAGS, 8, cq_flags(attr->flags));
	put_pointer(&a, UVERBS_ATTR_UHW_IN, sizeof(*driver), driver);
	put_pointer(&a, UVERBS_ATTR_UHW_OUT, sizeof(result), &result);
	put_place(&a, CREATE_CQ_BUF, &attr->buf, &a.buf);
	put_place(&a, CREATE_CQ_DBR, &attr->dbr, &a.dbr);
	if (core->comp_channel >= 0)
		put_object(&a, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, core->comp_channel);
	err = call(fd, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, &a);
	*cq = (struct hca_obj){ .id = a.arg[0].data, .number = result.cqn };
	return err;
}

int mlx5_srq_create_dmabuf(int fd, const struct hca_srq_attr *attr,
			   const struct ib_uverbs_create_xsrq *core,
			   const struct mlx5_ib_create_srq *driver, struct hca_obj *srq)
{
	struct mlx5_ib_create_srq_resp result = { 0 };
	struct args a = { .n = 0 };
	uint32_t max_wr, max_sge, number;
	int err;

	put_object(&a, UVERBS_ATTR_CREATE_SRQ_HANDLE, 0);
	put_object(&a, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, core->pd_handle);
	put(&a, UVERBS_ATTR_CREATE_SRQ_TYPE, 8, core->srq_type);
	put(&a, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, sizeof(core->user_handle), core->user_handle);
	put(&a, UVERBS_ATTR_CREATE_SRQ_MAX_WR, sizeof(core->max_wr), core->max_wr);
	put(&a, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, sizeof(core->max_sge), core->max_sge);
	put(&a, UVERBS_ATTR_CREATE_SRQ_LIMIT, sizeof(core->srq_limit), core->srq_limit);
	put_pointer(&a, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, sizeof(max_wr), &max_wr);
	put_pointer(&a, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, sizeof(max_sge), &max_sge);
	put_pointer(&a, UVERBS_ATTR_UHW_IN, sizeof(*driver), driver);
	put_pointer(&a, UVERBS_ATTR_UHW_OUT, sizeof(result), &result);
	put_place(&a, CREATE_SRQ_BUF, &attr->buf, &a.buf);
	put_place(&a, CREATE_SRQ_DBR, &attr->dbr, &a.dbr);
	if (attr->xrc) {
		put_object(&a, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, core->xrcd_handle);
		put_object(&a, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, core->cq_handle);
		/* Linux makes none of which it cannot tell the number. */
		put_pointer(&a, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, sizeof(number), &number);
	}
	err = call(fd, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, &a);
	*srq = (struct hca_obj){ .id = a.arg[0].data, .number = result.srqn };
	return err;
}

static uint64_t qp_flags(const struct hca_qp_attr *attr)
{
	return (attr->signal_all ? IB_UVERBS_QP_CREATE_SQ_SIG_ALL : 0) |
	       (attr->block_loopback ? IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK : 0);
}

int mlx5_qp_create_ioctl(int fd, const struct hca_qp_attr *attr,
			 const struct ib_uverbs_create_qp *core,
			 const struct mlx5_ib_create_qp *driver, struct hca_obj *qp)
{
	struct ib_uverbs_qp_cap cap = {
		.max_send_wr = core->max_send_wr,
		.max_recv_wr = core->max_recv_wr,
		.max_send_sge = core->max_send_sge,
		.max_recv_sge = core->max_recv_sge,
		.max_inline_data = core->max_inline_data,
	};
	struct mlx5_ib_create_qp_resp result = { 0 };
	struct args a = { .n = 0 };
	uint32_t number = 0;
	int err;

	put_object(&a, UVERBS_ATTR_CREATE_QP_HANDLE, 0);
	put_object(&a, UVERBS_ATTR_CREATE_QP_PD_HANDLE, core->pd_handle);
	put_object(&a, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, core->send_cq_handle);
	if (attr->type != XEN_VHCA_QPT_XRC_INI)
		put_object(&a, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, core->recv_cq_handle);
	if (core->is_srq)
		put_object(&a, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, core->srq_handle);
	put(&a, UVERBS_ATTR_CREATE_QP_USER_HANDLE, sizeof(core->user_handle), core->user_handle);
	put_pointer(&a, UVERBS_ATTR_CREATE_QP_CAP, sizeof(cap), &cap);
	put(&a, UVERBS_ATTR_CREATE_QP_TYPE, 8, core->qp_type);
	if (qp_flags(attr))
		put(&a, UVERBS_ATTR_CREATE_QP_FLAGS, 8, qp_flags(attr));
	put_pointer(&a, UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(cap), &cap);
	put_pointer(&a, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, sizeof(number), &number);
	put_pointer(&a, UVERBS_ATTR_UHW_IN, sizeof(*driver), driver);
	put_pointer(&a, UVERBS_ATTR_UHW_OUT, sizeof(result), &result);
	put_place(&a, CREATE_QP_BUF, &attr->buf, &a.buf);
	put_place(&a, CREATE_QP_DBR, &attr->dbr, &a.dbr);
	err = call(fd, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, &a);
	*qp = (struct hca_obj){ .id = a.arg[0].data, .number = number };
	return err;
}
