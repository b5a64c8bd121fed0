// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5.c - ConnectX-4 and later, on the stock kernel driver.
 *
 * A context is an open uverbs file without UARs of its own (MLX5_LIB_CAP_DYN_UAR). The UARs are
 * objects of another file, the pool, which outlives all contexts: see broker/uar_pool.h. Both are without DEVX,
 * so the HCA lets queues of one use pages of the other; nobody but this daemon can name them. What
 * mlx5 offers beyond plain verbs is not used: no scatter to CQE, no signatures, no compression.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "hca/family.h"
#include "hca/mlx5.h"
#include "hca/sysfs.h"
#include "hca/uverbs_event.h"
#include "shared-ring/vhca_event.h"

#define BLUEFLAME_OFFSET 0x800 /* of the first register in a 4 KiB UAR page */
#define LINK_LAYER_INFINIBAND 1
#define ODP_SUPPORT 1u /* enum ib_odp_general_cap_bits */
#define VENDOR_MELLANOX 0x15b3

/*
 * The initialization segment, from which the HCA can be taken over, is the first thing in its BAR:
 * 0x400c bytes (initial_seg in linux/mlx5/mlx5_ifc.h), and the table of MSI-X lies within it. No
 * doorbell page is there.
 */
#define FIRST_UAR_PAGE 5

/* Of enum ib_device_cap_flags: what a guest can make use of. */
#define USEFUL_CAPS \
	(1u << 1 /* bad P_Key counter */ | 1u << 2 /* bad Q_Key counter */ | \
	 1u << 11 /* system image GUID */ | 1u << 12 /* RNR NAK */ | \
	 1u << 17 /* memory windows */ | 1u << 21 /* send with invalidate */ | \
	 1u << 23 /* memory windows 2A */ | 1u << 24 /* 2B */)

struct context_info {
	struct mlx5_ib_alloc_ucontext_resp driver;
	uint32_t vectors;
};

static int make_context(int fd, struct context_info *info)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.total_num_bfregs = 4, /* none are made, but the number is checked */
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
	};

	return uverbs_context(fd, RDMA_DRIVER_MLX5, &req, sizeof(req), &info->driver,
			      sizeof(info->driver), &info->vectors);
}

static int open_context(struct mlx5 *m, struct context_info *info)
{
	int fd = uverbs_open(m->name), err;

	if (fd < 0)
		return fd;
	err = make_context(fd, info);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Queries */

static int query_device_ex(int fd, struct ib_uverbs_ex_query_device_resp *r)
{
	struct ib_uverbs_ex_query_device req = { 0 };

	static_assert(!(sizeof(req) % 8) && !(sizeof(*r) % 8), "multiples of 8");
	return uverbs_write_ex(fd, IB_USER_VERBS_EX_CMD_QUERY_DEVICE, &req, sizeof(req), r,
			       sizeof(*r));
}

/* What is in the longer answer alone. 0: not known, or not there. */
static void query_more(int fd, struct xen_vhca_device_attr *attr)
{
	struct ib_uverbs_ex_query_device_resp r;

	if (query_device_ex(fd, &r))
		return;
	attr->core_clock_khz = r.hca_core_clock > UINT32_MAX ? 0 : r.hca_core_clock;
	attr->max_cq_count = r.cq_moderation_caps.max_cq_moderation_count;
	attr->max_cq_period_us = r.cq_moderation_caps.max_cq_moderation_period;
}

static int query_device(struct hca *hca, struct xen_vhca_device_attr *attr)
{
	struct mlx5 *m = to_mlx5(hca);
	struct ib_uverbs_query_device_resp r;
	struct ib_uverbs_query_device req = { 0 };
	int err;

	err = uverbs_write(m->queries, IB_USER_VERBS_CMD_QUERY_DEVICE, MSG_CORE(req), MSG_CORE(r));
	if (err)
		return err;
	/* clang-format off */
	*attr = (struct xen_vhca_device_attr){
		.node_guid = r.node_guid, .sys_image_guid = r.sys_image_guid, .fw_ver = r.fw_ver,
		.max_mr_size = r.max_mr_size, .page_size_cap = r.page_size_cap,
		.device_cap_flags = r.device_cap_flags & USEFUL_CAPS,
		.vendor_id = r.vendor_id, .vendor_part_id = r.vendor_part_id, .hw_ver = r.hw_ver,
		.family = XEN_VHCA_FAMILY_MLX5,
		.max_pd = r.max_pd, .max_mr = r.max_mr, .max_mw = r.max_mw, .max_cq = r.max_cq,
		.max_qp = r.max_qp, .max_srq = r.max_srq, .max_ah = r.max_ah,
		.max_qp_wr = r.max_qp_wr, .max_sge = r.max_sge, .max_sge_rd = r.max_sge_rd,
		.max_cqe = r.max_cqe, .max_srq_wr = r.max_srq_wr, .max_srq_sge = r.max_srq_sge,
		.max_qp_rd_atom = r.max_qp_rd_atom,
		.max_qp_init_rd_atom = r.max_qp_init_rd_atom,
		.max_res_rd_atom = r.max_res_rd_atom, .atomic_cap = r.atomic_cap,
		.max_mcast_grp = r.max_mcast_grp, .max_mcast_qp_attach = r.max_mcast_qp_attach,
		.local_ca_ack_delay = r.local_ca_ack_delay,
		.max_sq_desc = m->info.max_sq_desc_sz, .max_rq_desc = m->info.max_rq_desc_sz,
		.max_send_blocks = m->info.max_send_wqebb, .max_recv_wqes = m->info.max_recv_wr,
		.max_srq_wqes = m->info.max_srq_recv_wr, .cqe_version = m->info.cqe_version,
	};
	/* clang-format on */
	if (m->info.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY)
		attr->null_key = m->info.dump_fill_mkey;
	query_more(m->queries, attr);
	return 0;
}

static bool has_xrc(int fd)
{
	struct ib_uverbs_ex_query_device_resp r;

	return !query_device_ex(fd, &r) && r.base.device_cap_flags & IB_UVERBS_DEVICE_XRC;
}

/* mlx5 registers dma-bufs by on-demand paging, although nothing of them is ever paged. */
static bool has_dmabufs(int fd)
{
	struct ib_uverbs_ex_query_device_resp r;

	return !query_device_ex(fd, &r) && r.odp_caps.general_caps & ODP_SUPPORT;
}

static int query_port(struct hca *hca, struct xen_vhca_port_attr *attr)
{
	struct mlx5 *m = to_mlx5(hca);
	struct ib_uverbs_query_port req = { .port_num = m->port };
	struct ib_uverbs_query_port_resp r;
	int err;

	err = uverbs_write(m->queries, IB_USER_VERBS_CMD_QUERY_PORT, MSG_CORE(req), MSG_CORE(r));
	if (err)
		return err;
	if (r.link_layer != LINK_LAYER_INFINIBAND)
		return -EPROTONOSUPPORT;
	*attr = (struct xen_vhca_port_attr){
		.state = r.state,
		.max_mtu = r.max_mtu,
		.active_mtu = r.active_mtu,
		.phys_state = r.phys_state,
		.lid = r.lid,
		.sm_lid = r.sm_lid,
		.lmc = r.lmc,
		.sm_sl = r.sm_sl,
		.max_vl_num = r.max_vl_num,
		.subnet_timeout = r.subnet_timeout,
		.init_type_reply = r.init_type_reply,
		.active_width = r.active_width,
		.active_speed = r.active_speed,
		.gid_tbl_len = r.gid_tbl_len,
		.pkey_tbl_len = r.pkey_tbl_len,
		.port_cap_flags = r.port_cap_flags,
		.max_msg_sz = r.max_msg_sz,
		.bad_pkey_cntr = r.bad_pkey_cntr,
		.qkey_viol_cntr = r.qkey_viol_cntr,
	};
	return 0;
}

static int query_gid(struct hca *hca, uint32_t index, uint8_t gid[16])
{
	return hca_sysfs_gid(to_mlx5(hca)->name, to_mlx5(hca)->port, index, gid);
}

static int query_pkey(struct hca *hca, uint32_t index, uint16_t *pkey)
{
	return hca_sysfs_pkey(to_mlx5(hca)->name, to_mlx5(hca)->port, index, pkey);
}

/* Contexts and UARs */

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* The kernel destroys what is left on the file, in the right order, before close() returns. */
static void ctx_close(struct hca_ctx *ctx)
{
	struct mlx5_ctx *c = to_ctx(ctx);

	close_fd(c->fd);
	close_fd(c->completions);
	close_fd(c->events);
	free(c);
}

static int open_descriptors(struct mlx5_ctx *c, bool events)
{
	struct context_info unused;

	c->fd = open_context(c->mlx5, &unused);
	if (c->fd < 0 || !events)
		return c->fd;
	c->completions = uverbs_open_completions(c->fd);
	if (c->completions < 0)
		return c->completions;
	c->events = uverbs_open_events(c->fd, RDMA_DRIVER_MLX5);
	return c->events;
}

static int ctx_open(struct hca *hca, bool events, struct hca_ctx **ctx)
{
	struct mlx5_ctx *c = calloc(1, sizeof(*c));
	int got;

	if (!c)
		return -ENOMEM;
	*c = (struct mlx5_ctx){ to_mlx5(hca), -1, -1, -1 };
	*ctx = (struct hca_ctx *)c;
	got = open_descriptors(c, events);
	if (got >= 0)
		return 0;
	ctx_close(*ctx);
	return got;
}

/* Events */

static int completion_fd(struct hca_ctx *ctx)
{
	return to_ctx(ctx)->completions;
}

static int next_completion(struct hca_ctx *ctx, uint64_t *user)
{
	return uverbs_next_completion(completion_fd(ctx), user);
}

static int channel_open(struct hca_ctx *ctx)
{
	return uverbs_open_completions(fd_of(ctx));
}

static int channel_next(struct hca *hca, int channel)
{
	uint64_t unused;

	(void)hca;
	return uverbs_next_completion(channel, &unused);
}

static int event_fd(struct hca_ctx *ctx)
{
	return to_ctx(ctx)->events;
}

/* enum xen_vhca_async_type is enum ib_event_type. */
static int next_event(struct hca_ctx *ctx, struct hca_event *event)
{
	return uverbs_next_event(event_fd(ctx), &event->user, &event->type);
}

static int port_fd(struct hca *hca)
{
	return to_mlx5(hca)->events;
}

/* Of the device, and of the one port; not of the others. */
static int next_port_event(struct hca *hca, uint32_t *type)
{
	struct mlx5 *m = to_mlx5(hca);
	enum vhca_async_kind kind;
	uint64_t port;
	int got;

	while ((got = uverbs_next_event(m->events, &port, type)) > 0) {
		kind = vhca_async_kind(*type);
		if (kind == VHCA_ASYNC_DEVICE || (kind == VHCA_ASYNC_PORT && port == m->port))
			break;
	}
	return got;
}

static int uar_alloc(int pool, uint32_t type, uint32_t *index, uint32_t *handle)
{
	uint32_t length = 0;
	uint64_t offset = 0;
	struct uverbs_arg args[] = {
		{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0, 0 },
		{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 8,
		  type == XEN_VHCA_UAR_BF ? MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF :
					    MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC },
		{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, sizeof(offset), (uintptr_t)&offset },
		{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, sizeof(length), (uintptr_t)&length },
		{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, sizeof(*index), (uintptr_t)index },
	};
	int err;

	*index = 0;
	err = uverbs_ioctl(pool, RDMA_DRIVER_MLX5, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC,
			   args, 5);
	*handle = args[0].data;
	return err;
}

static int uar_free(int pool, uint32_t handle)
{
	struct uverbs_arg args[] = { { MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, 0, handle } };

	return uverbs_ioctl(pool, RDMA_DRIVER_MLX5, MLX5_IB_OBJECT_UAR,
			    MLX5_IB_METHOD_UAR_OBJ_DESTROY, args, 1);
}

static void uar_layout(struct hca *hca, uint32_t type, uint32_t *bf_size, uint32_t *bf_offset)
{
	/* bf_reg_size is that of both buffers together */
	*bf_size = type == XEN_VHCA_UAR_BF ? to_mlx5(hca)->info.bf_reg_size / 2 : 0;
	*bf_offset = BLUEFLAME_OFFSET;
}

/* Protection domains, memory */

static int pd_alloc(struct hca_ctx *ctx, struct hca_obj *pd)
{
	struct ib_uverbs_alloc_pd req = { 0 };
	struct ib_uverbs_alloc_pd_resp rsp;
	struct mlx5_ib_alloc_pd_resp driver;
	int err;

	err = uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_ALLOC_PD, MSG_CORE(req), MSG(rsp, driver));
	if (err)
		return err;
	*pd = (struct hca_obj){ .id = rsp.pd_handle, .number = driver.pdn };
	return 0;
}

static int pd_free(struct hca_ctx *ctx, uint32_t pd)
{
	struct ib_uverbs_dealloc_pd req = { .pd_handle = pd };

	return uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_DEALLOC_PD, MSG_CORE(req), NULL);
}

/*
 * Access that is a hint is left out. The kernel takes MW_BIND as a mistake here, and to windows it makes
 * no difference; with RELAXED_ORDERING an HCA with ATS would translate the addresses once more.
 */
#define DMABUF_ACCESS \
	(XEN_VHCA_ACCESS_LOCAL_WRITE | XEN_VHCA_ACCESS_REMOTE_WRITE | \
	 XEN_VHCA_ACCESS_REMOTE_READ | XEN_VHCA_ACCESS_REMOTE_ATOMIC)

static int mr_reg_dmabuf(struct hca_ctx *ctx, const struct hca_mr_attr *attr, struct hca_mr *mr)
{
	struct uverbs_arg args[] = {
		{ UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0, 0 },
		{ UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0, attr->pd },
		{ UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, attr->at.addr },
		{ UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, attr->at.length },
		{ UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, attr->iova },
		{ UVERBS_ATTR_REG_DMABUF_MR_FD, 4, attr->at.dmabuf },
		{ UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4, attr->access & DMABUF_ACCESS },
		{ UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, sizeof(mr->lkey), (uintptr_t)&mr->lkey },
		{ UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, sizeof(mr->rkey), (uintptr_t)&mr->rkey },
	};
	int err;

	err = uverbs_ioctl(fd_of(ctx), RDMA_DRIVER_MLX5, UVERBS_OBJECT_MR,
			   UVERBS_METHOD_REG_DMABUF_MR, args, sizeof(args) / sizeof(args[0]));
	mr->id = args[0].data;
	return err;
}

static int mr_reg(struct hca_ctx *ctx, const struct hca_mr_attr *attr, struct hca_mr *mr)
{
	struct ib_uverbs_reg_mr req = {
		.start = attr->at.addr,
		.length = attr->at.length,
		.hca_va = attr->iova,
		.pd_handle = attr->pd,
		.access_flags = attr->access,
	};
	struct ib_uverbs_reg_mr_resp rsp;
	int err;

	if (attr->at.dmabuf >= 0)
		return mr_reg_dmabuf(ctx, attr, mr);
	err = uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_REG_MR, MSG_CORE(req), MSG_CORE(rsp));
	if (err)
		return err;
	*mr = (struct hca_mr){ .id = rsp.mr_handle, .lkey = rsp.lkey, .rkey = rsp.rkey };
	return 0;
}

/* As verbs.h has them; the kernel's headers for user space do not. */
#define REREG_PD (1u << 1)
#define REREG_ACCESS (1u << 2)

static int mr_modify(struct hca_ctx *ctx, uint32_t mr, const struct hca_mr_attr *attr,
		     struct hca_mr *is)
{
	struct ib_uverbs_rereg_mr req = {
		.mr_handle = mr,
		.flags = REREG_PD | REREG_ACCESS,
		.pd_handle = attr->pd,
		.access_flags = attr->at.dmabuf < 0 ? attr->access : attr->access & DMABUF_ACCESS,
	};
	struct ib_uverbs_rereg_mr_resp rsp;
	int err;

	err = uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_REREG_MR, MSG_CORE(req), MSG_CORE(rsp));
	if (err)
		return err;
	*is = (struct hca_mr){ .id = mr, .lkey = rsp.lkey, .rkey = rsp.rkey };
	return 0;
}

static int mr_dereg(struct hca_ctx *ctx, uint32_t mr)
{
	struct ib_uverbs_dereg_mr req = { .mr_handle = mr };

	return uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_DEREG_MR, MSG_CORE(req), NULL);
}

static_assert(XEN_VHCA_MAX_MW_ENTRIES <= UINT8_MAX, "num_klms");

static int mw_alloc(struct hca_ctx *ctx, uint32_t pd, uint32_t type, uint32_t entries,
		    struct hca_mr *mw)
{
	struct ib_uverbs_alloc_mw req = { .pd_handle = pd, .mw_type = type };
	struct ib_uverbs_alloc_mw_resp rsp;
	struct mlx5_ib_alloc_mw driver = { .num_klms = (uint8_t)entries };
	int err;

	err = uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_ALLOC_MW, MSG(req, driver), MSG_CORE(rsp));
	if (err)
		return err;
	*mw = (struct hca_mr){ .id = rsp.mw_handle, .rkey = rsp.rkey };
	return 0;
}

static int mw_free(struct hca_ctx *ctx, uint32_t mw)
{
	struct ib_uverbs_dealloc_mw req = { .mw_handle = mw };

	return uverbs_write(fd_of(ctx), IB_USER_VERBS_CMD_DEALLOC_MW, MSG_CORE(req), NULL);
}

static void mlx5_close(struct hca *hca)
{
	mlx5_clock_unmap(to_mlx5(hca));
	close(to_mlx5(hca)->events);
	close(to_mlx5(hca)->queries);
	free(hca);
}

/* clang-format off */
static const struct hca_ops mlx5_ops = {
	.query_device = query_device, .query_port = query_port,
	.query_gid = query_gid, .query_pkey = query_pkey, .query_clock = mlx5_query_clock,
	.port_fd = port_fd, .next_port_event = next_port_event,
	.ctx_open = ctx_open, .ctx_close = ctx_close,
	.completion_fd = completion_fd, .next_completion = next_completion,
	.channel_open = channel_open, .channel_next = channel_next,
	.event_fd = event_fd, .next_event = next_event,
	.uar_layout = uar_layout,
	.pd_alloc = pd_alloc, .pd_free = pd_free,
	.mr_reg = mr_reg, .mr_modify = mr_modify, .mr_dereg = mr_dereg, .mw_alloc = mw_alloc, .mw_free = mw_free,
	.cq_create = mlx5_cq_create, .cq_modify = mlx5_cq_modify, .cq_resize = mlx5_cq_resize,
	.cq_destroy = mlx5_cq_destroy,
	.xrcd_open = mlx5_xrcd_open, .xrcd_close = mlx5_xrcd_close,
	.srq_create = mlx5_srq_create, .srq_modify = mlx5_srq_modify, .srq_query = mlx5_srq_query,
	.srq_destroy = mlx5_srq_destroy,
	.qp_create = mlx5_qp_create, .qp_modify = mlx5_qp_modify, .qp_query = mlx5_qp_query,
	.qp_destroy = mlx5_qp_destroy, .mcast = mlx5_mcast,
	.close = mlx5_close,
};
/* clang-format on */

/*
 * Makes the context if there is none yet. A context is asked for before: Linux leaks a reference to the
 * task that tries to make a second one on a file (6.12, UVERBS_METHOD_GET_CONTEXT), 8 KiB for each
 * worker. Of two who make the first context at the same time one gets -EINVAL, which says the same.
 */
static bool uar_pool_alive(int pool)
{
	struct context_info info;
	struct uverbs_arg query[] = {
		{ MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, sizeof(info.driver),
		  (uintptr_t)&info.driver },
	};
	int err;

	err = uverbs_ioctl(pool, RDMA_DRIVER_MLX5, UVERBS_OBJECT_DEVICE,
			   UVERBS_METHOD_QUERY_CONTEXT, query, 1);
	if (err == -EINVAL)
		err = make_context(pool, &info);
	return !err || err == -EINVAL;
}

static int mlx5_open(const char *name, unsigned int port, uint32_t spread, struct hca **hca)
{
	struct mlx5 *m = calloc(1, sizeof(*m));
	struct context_info info;
	int err;

	if (!m)
		return -ENOMEM;
	m->hca.ops = &mlx5_ops;
	m->port = port;
	snprintf(m->name, sizeof(m->name), "%s", name);
	m->queries = open_context(m, &info);
	if (m->queries < 0) {
		err = m->queries;
		goto err_free;
	}
	m->info = info.driver;
	m->hca.dmabufs = has_dmabufs(m->queries);
	m->hca.queue_dmabufs = mlx5_has_queue_dmabufs(m->queries);
	m->hca.xrc = has_xrc(m->queries);
	m->vectors = info.vectors ?: 1;
	m->vector = spread % m->vectors;
	m->events = uverbs_open_events(m->queries, RDMA_DRIVER_MLX5);
	if (m->events < 0) {
		err = m->events;
		goto err_queries;
	}
	mlx5_clock_map(m);
	*hca = &m->hca;
	return 0;

err_queries:
	close(m->queries);
err_free:
	free(m);
	return err;
}

/* ConnectX from Connect-IB on, and BlueField. In older ones BAR 0 is something else. */
static const struct hca_pci_ids mlx5_ids[] = {
	{ .vendor = VENDOR_MELLANOX, .first = 0x1011, .last = 0x10ff },
	{ .vendor = VENDOR_MELLANOX, .first = 0xa2d2, .last = 0xa2ff },
	{ 0 },
};

const struct hca_family hca_family_mlx5 = {
	.name = "mlx5",
	.driver = "mlx5_core",
	.pci_ids = mlx5_ids,
	.first_uar_page = FIRST_UAR_PAGE,
	.open = mlx5_open,
	.uar_alloc = uar_alloc,
	.uar_free = uar_free,
	.uar_pool_alive = uar_pool_alive,
};
