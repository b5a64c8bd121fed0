// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * xenib.c - the libibverbs provider for the devices of xen-ibfront: finding them, opening them, and
 * the table of verbs. docs/provider.md describes the whole.
 */
#include <errno.h>
#include <stdlib.h>

#include "abi.h"
#include "compat.h"
#include "context.h"
#include "verbs.h"

/* A send WQE counts its 16-byte units in six bits. */
#define MAX_SEND_WQE (63 * 16)
#define MAX_RECV_WQE 4096

static void free_context(struct ibv_context *ibctx)
{
	struct xenib_context *ctx = to_xctx(ibctx);

	xenib_qp_table_exit(&ctx->qps);
	xenib_uars_exit(ibctx, &ctx->uars);
	xenib_dbrecs_exit(&ctx->dbrecs);
	xenib_arenas_exit(&ctx->arenas);
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static const struct verbs_context_ops context_ops = {
	.alloc_mw = xenib_alloc_mw,
	.alloc_null_mr = xenib_alloc_null_mr,
	.alloc_parent_domain = xenib_alloc_parent_domain,
	.alloc_pd = xenib_alloc_pd,
	.alloc_td = xenib_alloc_td,
	.attach_mcast = ibv_cmd_attach_mcast,
	.bind_mw = xenib_bind_mw,
	.cq_event = xenib_cq_event,
	.close_xrcd = xenib_close_xrcd,
	.create_ah = xenib_create_ah,
	.create_cq = xenib_create_cq,
	.create_cq_ex = xenib_create_cq_ex,
	.create_qp = xenib_create_qp,
	.create_qp_ex = xenib_create_qp_ex,
	.create_srq = xenib_create_srq,
	.create_srq_ex = xenib_create_srq_ex,
	.dealloc_mw = xenib_dealloc_mw,
	.dealloc_pd = xenib_dealloc_pd,
	.dealloc_td = xenib_dealloc_td,
	.dereg_mr = xenib_dereg_mr,
	.rereg_mr = xenib_rereg_mr,
	.destroy_ah = xenib_destroy_ah,
	.destroy_cq = xenib_destroy_cq,
	.destroy_qp = xenib_destroy_qp,
	.destroy_srq = xenib_destroy_srq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = free_context,
	.get_srq_num = xenib_get_srq_num,
	.import_mr = xenib_import_mr,
	.import_pd = xenib_import_pd,
	.modify_cq = xenib_modify_cq,
	.modify_qp = xenib_modify_qp,
	.modify_srq = xenib_modify_srq,
	.open_qp = xenib_open_qp,
	.open_xrcd = xenib_open_xrcd,
	.poll_cq = xenib_poll_cq,
	.post_recv = xenib_post_recv,
	.post_send = xenib_post_send,
	.post_srq_recv = xenib_post_srq_recv,
	.query_device_ex = xenib_query_device_ex,
	.query_port = xenib_query_port,
	.query_qp = xenib_query_qp,
	.query_rt_values = xenib_query_rt_values,
	.query_srq = xenib_query_srq,
	.reg_dmabuf_mr = xenib_reg_dmabuf_mr,
	.reg_mr = xenib_reg_mr,
	.req_notify_cq = xenib_req_notify_cq,
	.resize_cq = xenib_resize_cq,
	.unimport_mr = xenib_unimport_mr,
	.unimport_pd = xenib_unimport_pd,
};

static bool env_is_set(const char *name)
{
	const char *value = getenv(name);

	return value && strcmp(value, "0");
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* This provider knows one family of HCAs, and CQEs of the version that has user indices. */
static int take_answer(struct xenib_context *ctx, const struct xenib_alloc_ucontext_resp *resp)
{
	if (resp->family != XENIB_FAMILY_MLX5 || resp->cqe_version != 1) {
		verbs_err(&ctx->vctx, "HCA family %u with CQEs of version %u is not supported\n",
			  resp->family, resp->cqe_version);
		return EOPNOTSUPP;
	}

	ctx->limits = (struct xenib_limits){
		.max_sq_desc = lesser(resp->max_sq_desc, MAX_SEND_WQE),
		.max_rq_desc = lesser(resp->max_rq_desc, MAX_RECV_WQE),
		.max_send_blocks = lesser(resp->max_send_blocks, 1u << 16),
		.max_recv_wqes = lesser(resp->max_recv_wqes, 1u << 16),
		.max_srq_wqes = lesser(resp->max_srq_wqes, 1u << 16),
	};
	return 0;
}

/* The rest of it, with the kernel's answer; or its end, if there is none. */
static struct verbs_context *finish_context(struct xenib_context *ctx, int err,
					    const struct xenib_alloc_ucontext_resp *resp)
{
	if (!err)
		err = take_answer(ctx, resp);
	if (err)
		goto err_uninit;

	ctx->null_key = resp->null_key;
	ctx->posted_rts = resp->features & XENIB_FEATURE_POSTED_RTS;
	ctx->deferred_cq = resp->features & XENIB_FEATURE_DEFERRED_CQ;
	ctx->single_threaded = env_is_set("XENIB_SINGLE_THREADED");
	xenib_arenas_init(&ctx->arenas, resp->features & XENIB_FEATURE_ARENAS);
	xenib_dbrecs_init(&ctx->dbrecs, &ctx->arenas);
	xenib_uars_init(&ctx->uars, env_is_set("XENIB_SHUT_UP_BF"));
	xenib_qp_table_init(&ctx->qps);

	verbs_set_ops(&ctx->vctx, &context_ops);
	verbs_info(&ctx->vctx, "xenib " XEN_IB_RELEASE "\n");
	return &ctx->vctx;

err_uninit:
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
	errno = err;
	return NULL;
}

static struct verbs_context *alloc_context(struct ibv_device *ibdev, int cmd_fd, void *private_data)
{
	struct xenib_ualloc_context_resp resp = {};
	struct xenib_ualloc_context cmd = {};
	struct xenib_context *ctx;
	int err;

	(void)private_data;
	ctx = verbs_init_and_alloc_context(ibdev, cmd_fd, ctx, vctx, RDMA_DRIVER_UNKNOWN);
	if (!ctx)
		return NULL;

	err = xenib_cmd_get_context(&ctx->vctx, &cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp,
				    sizeof(resp));
	return finish_context(ctx, err, &resp.drv_payload);
}

/*
 * The kernel's context is that of the process which has opened the device. What else there is of one,
 * arenas, doorbell pages and the table of QPs, each process has for itself: queues are never imported.
 */
static struct verbs_context *import_context(struct ibv_device *ibdev, int cmd_fd)
{
	DECLARE_COMMAND_BUFFER_LINK(driver, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, 1,
				    NULL);
	struct xenib_alloc_ucontext_resp resp = {};
	struct xenib_context *ctx;

	ctx = verbs_init_and_alloc_context(ibdev, cmd_fd, ctx, vctx, RDMA_DRIVER_UNKNOWN);
	if (!ctx)
		return NULL;

	fill_attr_out_ptr(driver, XENIB_ATTR_QUERY_CONTEXT_RESP, &resp);
	return finish_context(ctx, ibv_cmd_query_context(&ctx->vctx.context, driver), &resp);
}

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	struct xenib_device *dev;

	(void)sysfs_dev;
	dev = calloc(1, sizeof(*dev));
	return dev ? &dev->verbs : NULL;
}

static void uninit_device(struct verbs_device *verbs)
{
	free(container_of(verbs, struct xenib_device, verbs));
}

/* Drivers outside of the kernel tree have no id, but the device's bus is proof enough. */
static const struct verbs_match_ent match_table[] = {
	VERBS_MODALIAS_MATCH("xen:vhca", NULL),
	{},
};

static const struct verbs_device_ops device_ops = {
	.name = "xenib",
	.match_min_abi_version = XENIB_UVERBS_ABI_VERSION,
	.match_max_abi_version = XENIB_UVERBS_ABI_VERSION,
	.match_table = match_table,
	.alloc_device = alloc_device,
	.uninit_device = uninit_device,
	.alloc_context = alloc_context,
	.import_context = import_context,
};

PROVIDER_DRIVER(xenib, device_ops);
