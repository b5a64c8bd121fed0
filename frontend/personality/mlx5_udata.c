// SPDX-License-Identifier: GPL-2.0
/*
 * mlx5_udata.c - what libmlx5 sends beside the common verbs commands, and what it gets: see mlx5.h
 * and the kernel's rdma/mlx5-abi.h.
 *
 * The structures have grown in time. A shorter one is taken as far as it has what is needed here, a
 * longer one if its further bytes are zero.
 */
#include <linux/cache.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <rdma/mlx5-abi.h>

#include "personality/mlx5.h"
#include "vhca_check.h"

/*
 * A scatter of small payloads into the CQE is what the HCA may do, not what it must: libmlx5 looks
 * into each CQE whether there is one. The backend never asks the HCA for it.
 */
#define QP_FLAGS_IGNORED (MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE)

/* Copies what there is of a structure; the rest of it is zero. */
static int copy_part(struct ib_udata *udata, void *req, size_t least, size_t size)
{
	size_t there = min(udata->inlen, size);

	if (udata->inlen < least) {
		pr_debug("xen-ibfront: refused: a request of %zu bytes, needed are %zu\n",
			 udata->inlen, least);
		return -EINVAL;
	}
	if (udata->inlen > size && !ib_is_udata_cleared(udata, size, udata->inlen - size)) {
		pr_debug("xen-ibfront: refused: a request of %zu bytes, known are %zu\n",
			 udata->inlen, size);
		return -EOPNOTSUPP;
	}
	memset(req + there, 0, size - there);
	return ib_copy_from_udata(req, udata, there);
}

int xenib_mlx5_context_req(struct xenib_dev *dev, struct ib_udata *udata)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	int err;

	err = copy_part(udata, &req, offsetofend(typeof(req), lib_caps), sizeof(req));
	if (err)
		return err;
	if (req.flags || req.comp_mask)
		return xenib_refuse(dev, -EOPNOTSUPP, "a context with flags %#x, fields %#x",
				    req.flags, req.comp_mask);
	if (req.reserved0 || req.reserved1 || req.reserved2)
		return xenib_refuse(dev, -EOPNOTSUPP, "reserved fields of a context");
	if (req.max_cqe_version < dev->attr.cqe_version)
		return xenib_refuse(dev, -EOPNOTSUPP, "CQEs of version %u", req.max_cqe_version);
	if (!(req.lib_caps & MLX5_LIB_CAP_DYN_UAR))
		return xenib_refuse(dev, -EOPNOTSUPP, "a libmlx5 older than rdma-core 29");
	return 0;
}

struct mlx5_ib_alloc_ucontext_resp xenib_mlx5_context_of(const struct xenib_dev *dev)
{
	const struct xen_vhca_device_attr *attr = &dev->attr;

	return (struct mlx5_ib_alloc_ucontext_resp){
		.comp_mask = attr->null_key ? MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY : 0,
		.qp_tab_size = attr->max_qp,
		.bf_reg_size = dev->mlx5->bf_reg_size,
		.tot_bfregs = 0, /* pages are allocated one by one */
		.cache_line_size = cache_line_size(),
		.max_sq_desc_sz = min_t(u32, attr->max_sq_desc, U16_MAX),
		.max_rq_desc_sz = min_t(u32, attr->max_rq_desc, U16_MAX),
		.max_send_wqebb = attr->max_send_blocks,
		.max_recv_wr = attr->max_recv_wqes,
		.max_srq_recv_wr = attr->max_srq_wqes,
		.num_ports = 1,
		.cqe_version = attr->cqe_version,
		.eth_min_inline = MLX5_USER_INLINE_MODE_NONE,
		.log_uar_size = PAGE_SHIFT,
		.num_uars_per_page = 1,
		.dump_fill_mkey = attr->null_key,
	};
}

int xenib_mlx5_context_resp(struct xenib_dev *dev, struct ib_udata *udata)
{
	struct mlx5_ib_alloc_ucontext_resp resp = xenib_mlx5_context_of(dev);

	resp.response_length = min(udata->outlen, sizeof(resp));
	return xenib_copy_resp(udata, &resp, sizeof(resp));
}

int xenib_mlx5_cq_req(struct xenib_dev *dev, struct ib_udata *udata,
		      struct xenib_create_cq_req *req)
{
	struct mlx5_ib_create_cq from;
	int err;

	err = copy_part(udata, &from, offsetofend(typeof(from), uar_page_index), sizeof(from));
	if (err)
		return err;
	if (from.flags != MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX || from.cqe_comp_en)
		return xenib_refuse(dev, -EOPNOTSUPP, "a CQ with flags %#x%s", from.flags,
				    from.cqe_comp_en ? ", compressed" : "");
	if (from.cqe_comp_res_format || from.reserved0 || from.reserved1)
		return xenib_refuse(dev, -EINVAL, "reserved fields of a CQ");
	*req = (struct xenib_create_cq_req){
		.buf_addr = from.buf_addr,
		.db_addr = from.db_addr,
		.cqe_size = from.cqe_size,
		.uar = from.uar_page_index,
	};
	return 0;
}

int xenib_mlx5_resize_cq_req(struct xenib_dev *dev, struct ib_udata *udata, u32 cqe_size,
			     struct xenib_resize_cq_req *req)
{
	struct mlx5_ib_resize_cq from;
	int err;

	err = copy_part(udata, &from, sizeof(from), sizeof(from));
	if (err)
		return err;
	if (from.cqe_size != cqe_size || from.reserved0 || from.reserved1)
		return xenib_refuse(dev, -EINVAL, "CQEs of %u bytes, not %u, or reserved fields",
				    from.cqe_size, cqe_size);
	*req = (struct xenib_resize_cq_req){ .buf_addr = from.buf_addr };
	return 0;
}

/* In CQEs of a basic SRQ stands the user index of the QP, so libmlx5 gives one to those for XRC alone. */
int xenib_mlx5_srq_req(struct xenib_dev *dev, struct ib_udata *udata,
		       struct xenib_create_srq_req *req)
{
	struct mlx5_ib_create_srq from;
	int err;

	err = copy_part(udata, &from, offsetofend(typeof(from), flags), sizeof(from));
	if (err)
		return err;
	if (from.flags)
		return xenib_refuse(dev, -EOPNOTSUPP, "an SRQ with flags %#x", from.flags);
	if (from.reserved0 || from.reserved1 || from.uidx > VHCA_MAX_24)
		return xenib_refuse(dev, -EINVAL, "reserved fields of an SRQ, or user index %#x",
				    from.uidx);
	*req = (struct xenib_create_srq_req){
		.buf_addr = from.buf_addr,
		.db_addr = from.db_addr,
		.uidx = from.uidx,
	};
	return 0;
}

static int check_qp(struct xenib_dev *dev, const struct mlx5_ib_create_qp *from)
{
	if ((from->flags & ~QP_FLAGS_IGNORED) != MLX5_QP_FLAG_UAR_PAGE_INDEX)
		return xenib_refuse(dev, -EOPNOTSUPP, "a QP with flags %#x", from->flags);
	if (from->sq_buf_addr || from->ece_options)
		return xenib_refuse(dev, -EOPNOTSUPP, "a QP with two buffers, or ECE options %#x",
				    from->ece_options);
	if (from->dci_streams.log_num_concurent || from->dci_streams.log_num_errored)
		return xenib_refuse(dev, -EOPNOTSUPP, "a QP with streams");
	if (from->reserved)
		return xenib_refuse(dev, -EINVAL, "reserved fields of a QP");
	return 0;
}

/* What is answered does not depend on the QP: nothing of it is here. So it can be written before. */
int xenib_mlx5_qp_req(struct xenib_dev *dev, struct ib_udata *udata,
		      struct xenib_create_qp_req *req)
{
	struct mlx5_ib_create_qp_resp resp = {};
	struct mlx5_ib_create_qp from;
	int err;

	err = copy_part(udata, &from, offsetofend(typeof(from), bfreg_index), sizeof(from));
	if (err)
		return err;
	err = check_qp(dev, &from);
	if (err)
		return err;
	*req = (struct xenib_create_qp_req){
		.buf_addr = from.buf_addr,
		.db_addr = from.db_addr,
		.sq_wqe_count = from.sq_wqe_count,
		.rq_wqe_count = from.rq_wqe_count,
		.rq_wqe_shift = from.rq_wqe_shift,
		.uidx = from.uidx,
		.uar = from.bfreg_index,
	};
	return xenib_copy_resp(udata, &resp, sizeof(resp));
}
