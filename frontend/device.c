// SPDX-License-Identifier: GPL-2.0
/*
 * device.c - the RDMA device: what the backend can do, registered with the RDMA core.
 */
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/utsname.h>
#include <xen/grant_table.h>
#include <xen/interface/grant_table.h>
#include <xen/page.h>
#include <xen/xenbus.h>

#include "compat.h"
#include "kernel/kverbs.h"
#include "vhca_check.h"
#include "vhca_nodes.h"
#include "xenib.h"

/* Doorbell pages that an auto-translated guest keeps room for. */
#define MAX_UARS 8192U

static void bound(u32 *value, u32 max)
{
	*value = min(*value, max);
}

/* Beyond what vhca_check_device_attr() is sure of: the core's numbers are signed. */
static void bound_attr(struct xen_vhca_device_attr *attr)
{
	u32 *const counts[] = {
		&attr->max_pd,          &attr->max_mr,         &attr->max_mw,
		&attr->max_cq,          &attr->max_qp,         &attr->max_srq,
		&attr->max_ah,          &attr->max_qp_rd_atom, &attr->max_qp_init_rd_atom,
		&attr->max_res_rd_atom, &attr->max_mcast_grp,  &attr->max_mcast_qp_attach,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++)
		bound(counts[i], INT_MAX);
	bound(&attr->max_uar, MAX_UARS);
	bound(&attr->local_ca_ack_delay, U8_MAX);
	bound(&attr->atomic_cap, IB_ATOMIC_GLOB);
	bound(&attr->gids, XENIB_MAX_TABLE);
	bound(&attr->pkeys, XENIB_MAX_TABLE);
}

/*
 * What can be registered, beside the queues to use it with: an MR of the size that the device says
 * must not fail for that alone. The grant table is the other devices' as well; they take little.
 */
static void bound_mr_size(struct xen_vhca_device_attr *attr)
{
	u64 granted = (u64)gnttab_max_grant_frames() *
		      (XEN_PAGE_SIZE / sizeof(struct grant_entry_v1)) * PAGE_SIZE;
	u64 bytes = min(attr->max_mem_bytes, granted);
	u64 queues = min_t(u64, bytes / 8, 1U << XENIB_ARENA_MAX_SHIFT);

	bytes = max_t(u64, (bytes - queues) & PAGE_MASK, PAGE_SIZE);
	attr->max_mr_size = min(attr->max_mr_size, bytes);
}

static int query_backend(struct xenib_dev *dev)
{
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_DEVICE_QUERY,
		.answer = &dev->attr,
		.answer_size = sizeof(dev->attr),
	};
	int err;

	err = xenib_cmd_exec(dev->ring, &cmd);
	if (err)
		return err;
	err = vhca_check_device_attr(&dev->attr);
	if (err) {
		dev_err(&dev->xbdev->dev, "the backend's device attributes are invalid\n");
		return err;
	}
	/* Not of backends as old as that */
	if (!dev->cq_flags)
		dev->attr.core_clock_khz = 0;
	if (!xenbus_read_unsigned(dev->xbdev->otherend, XEN_VHCA_FIELD_FEATURE_CQ_MODERATION, 0)) {
		dev->attr.max_cq_count = 0;
		dev->attr.max_cq_period_us = 0;
		dev->attr.null_key = 0; /* which came later */
	}
	bound_attr(&dev->attr);
	bound_mr_size(&dev->attr);
	dev->gid_tbl_len = dev->attr.gids;
	dev->pkey_tbl_len = dev->attr.pkeys;
	return 0;
}

XENIB_DEFINE_CREATE_CQ(xenib_create_cq)
XENIB_DEFINE_REG_DMABUF_MR(xenib_reg_dmabuf_mr)
XENIB_DEFINE_REG_USER_MR(xenib_reg_user_mr)
XENIB_DEFINE_RESIZE_CQ(xenib_resize_cq)

static const struct ib_device_ops base_ops = {
	.owner = THIS_MODULE,

	.alloc_pd = xenib_alloc_pd,
	.alloc_ucontext = xenib_alloc_ucontext,
	.attach_mcast = xenib_attach_mcast,
	.create_cq = XENIB_CREATE_CQ(xenib_create_cq),
	.create_qp = xenib_create_qp,
	.create_user_ah = xenib_create_user_ah,
	.dealloc_pd = xenib_dealloc_pd,
	.dealloc_ucontext = xenib_dealloc_ucontext,
	.dereg_mr = xenib_dereg_mr,
	.destroy_ah = xenib_destroy_ah,
	.destroy_cq = xenib_destroy_cq,
	.destroy_qp = xenib_destroy_qp,
	.detach_mcast = xenib_detach_mcast,
	.device_group = &xenib_attr_group,
	.disassociate_ucontext = xenib_disassociate_ucontext,
	.fill_res_cq_entry = xenib_fill_res_cq,
	.fill_res_mr_entry = xenib_fill_res_mr,
	.fill_res_qp_entry = xenib_fill_res_qp,
	XENIB_FILL_SRQ_OP(xenib_fill_res_srq),
	.get_dev_fw_str = xenib_get_fw_str,
	.get_port_immutable = xenib_get_port_immutable,
	.mmap = xenib_mmap,
	.mmap_free = xenib_mmap_free,
	.modify_cq = xenib_modify_cq,
	.modify_qp = xenib_modify_qp,
	.query_device = xenib_query_device,
	.query_gid = xenib_query_gid,
	.query_pkey = xenib_query_pkey,
	.query_port = xenib_query_port,
	.query_qp = xenib_query_qp,
	.reg_user_mr = XENIB_REG_USER_MR(xenib_reg_user_mr),
	.reg_user_mr_dmabuf = XENIB_REG_DMABUF_MR(xenib_reg_dmabuf_mr),
	.rereg_user_mr = xenib_rereg_user_mr,
	XENIB_RESIZE_CQ_OP(xenib_resize_cq),

	INIT_RDMA_OBJ_SIZE(ib_ah, xenib_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, xenib_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, xenib_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, xenib_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, xenib_ucontext, ibuc),
};

static const struct ib_device_ops srq_ops = {
	.create_srq = xenib_create_srq,
	.destroy_srq = xenib_destroy_srq,
	.modify_srq = xenib_modify_srq,
	.query_srq = xenib_query_srq,

	INIT_RDMA_OBJ_SIZE(ib_srq, xenib_srq, ibsrq),
};

static const struct ib_device_ops xrc_ops = {
	.alloc_xrcd = xenib_alloc_xrcd,
	.dealloc_xrcd = xenib_dealloc_xrcd,

	INIT_RDMA_OBJ_SIZE(ib_xrcd, xenib_xrcd, ibxrcd),
};

static const struct ib_device_ops mw_ops = {
	.alloc_mw = xenib_alloc_mw,
	.dealloc_mw = xenib_dealloc_mw,

	INIT_RDMA_OBJ_SIZE(ib_mw, xenib_mw, ibmw),
};

static const struct ib_device_ops event_ops = {
	.alloc_hw_device_stats = xenib_alloc_hw_device_stats,
	.get_hw_stats = xenib_get_hw_stats,
};

/* The RDMA core takes those that the kernel may use for such by having all of these. */
static const struct ib_device_ops kernel_ops = {
	.create_ah = xenib_create_ah,
	.get_dma_mr = xenib_get_dma_mr,
	.modify_port = xenib_modify_port,
	.poll_cq = xenib_poll_cq,
	.post_recv = xenib_post_recv,
	.post_send = xenib_post_send,
	.query_ah = xenib_query_ah,
	.req_notify_cq = xenib_req_notify_cq,
};

static const struct ib_device_ops kernel_srq_ops = {
	.post_srq_recv = xenib_post_srq_recv,
};

/* Made of memory windows */
static const struct ib_device_ops kernel_mr_ops = {
	.alloc_mr = xenib_alloc_mr,
	.map_mr_sg = xenib_map_mr_sg,
};

static void set_up(struct xenib_dev *dev)
{
	struct ib_device *ibdev = &dev->ibdev;

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->node_guid = (__force __be64)dev->attr.node_guid;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = xenib_events_vectors(dev->events);
	ibdev->dev.parent = &dev->xbdev->dev;
	strscpy(ibdev->node_desc, init_utsname()->nodename, sizeof(ibdev->node_desc));

	ib_set_device_ops(ibdev, &base_ops);
	ib_set_device_ops(ibdev, dev->personality->ops);
	if (dev->attr.max_srq)
		ib_set_device_ops(ibdev, &srq_ops);
	if (dev->xrc)
		ib_set_device_ops(ibdev, &xrc_ops);
	if (dev->attr.max_mw)
		ib_set_device_ops(ibdev, &mw_ops);
	if (dev->events)
		ib_set_device_ops(ibdev, &event_ops);
	if (dev->kernel) {
		ib_set_device_ops(ibdev, &kernel_ops);
		if (dev->attr.max_srq)
			ib_set_device_ops(ibdev, &kernel_srq_ops);
		if (dev->attr.max_mw)
			ib_set_device_ops(ibdev, &kernel_mr_ops);
		ibdev->local_dma_lkey = XENIB_POOL_LKEY;
	}
	ibdev->driver_def = dev->personality->defs;
}

/*
 * By the vHCA's number, so that the name does not depend on the order in which vHCAs come. The
 * kernel chooses if another device has taken that name, as an administrator may rename them.
 */
static int register_device(struct xenib_dev *dev)
{
	struct device *dma_device = dev->kernel ? &dev->xbdev->dev : NULL;
	const char *prefix = dev->personality->prefix;
	char name[IB_DEVICE_NAME_MAX];
	unsigned int number;
	int err = -ENFILE;

	if (sscanf(dev_name(&dev->xbdev->dev), "vhca-%u", &number) == 1) {
		snprintf(name, sizeof(name), "%s%u", prefix, number);
		err = ib_register_device(&dev->ibdev, name, dma_device);
	}
	if (err != -ENFILE)
		return err;
	snprintf(name, sizeof(name), "%s%%d", prefix);
	return ib_register_device(&dev->ibdev, name, dma_device);
}

struct xenib_dev *xenib_dev_add(struct xenbus_device *xbdev, struct xenib_ring *ring,
				struct xenib_events *events, struct xenib_gfns *gfns,
				struct xenib_grantee *grantee)
{
	struct xenib_dev *dev;
	int err;

	dev = ib_alloc_device(xenib_dev, ibdev);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	dev->personality = xenib_personality_find(xbdev);
	dev->xbdev = xbdev;
	dev->ring = ring;
	dev->events = events;
	dev->gfns = gfns;
	dev->grantee = grantee;
	dev->no_bf = !xenbus_read_unsigned(xbdev->otherend, XEN_VHCA_FIELD_FEATURE_BLUEFLAME, 1);
	dev->mr_umems = xenbus_read_unsigned(xbdev->otherend, XEN_VHCA_FIELD_FEATURE_MR_UMEM, 0);
	dev->cq_flags = xenbus_read_unsigned(xbdev->otherend, XEN_VHCA_FIELD_FEATURE_CQ_FLAGS, 0);
	dev->cq_labels = xenbus_read_unsigned(xbdev->otherend, XEN_VHCA_FIELD_FEATURE_CQ_LABELS, 0);
	dev->writable_grants =
		xenbus_read_unsigned(xbdev->otherend, XEN_VHCA_FIELD_WRITABLE_GRANTS, 0);
	dev->block_loopback =
		xenbus_read_unsigned(xbdev->otherend, XEN_VHCA_FIELD_FEATURE_BLOCK_LOOPBACK, 0);
	xenib_uar_mms_init(&dev->uar_mms);
	xenib_reg_cache_init(&dev->reg_cache, dev,
			     xenbus_read_unsigned(xbdev->otherend,
						  XEN_VHCA_FIELD_FEATURE_PERSISTENT, 0));

	err = query_backend(dev);
	if (err)
		goto err_dealloc;
	dev->xrc = dev->attr.max_srq &&
		   xenbus_read_unsigned(xbdev->otherend, XEN_VHCA_FIELD_FEATURE_XRC, 0);
	err = xenib_gfns_init(gfns, dev->attr.max_uar, xbdev->nodename);
	if (err)
		goto err_dealloc;
	err = xenib_tables_init(dev);
	if (err)
		goto err_dealloc;
	dev->dmabuf_dev = xenib_dmabuf_device_create(&xbdev->dev);
	if (IS_ERR(dev->dmabuf_dev)) {
		err = PTR_ERR(dev->dmabuf_dev);
		goto err_tables;
	}
	if (xenib_kverbs_wanted(dev)) {
		err = xenib_kcontext_open(dev);
		if (err)
			goto err_dmabuf;
	}
	if (dev->personality->start) {
		err = dev->personality->start(dev);
		if (err)
			goto err_kernel;
	}
	set_up(dev);
	err = register_device(dev);
	if (err)
		goto err_stop;
	xenib_events_start(events, &dev->ibdev);
	return dev;

err_stop:
	if (dev->personality->stop)
		dev->personality->stop(dev);
err_kernel:
	xenib_kcontext_close(dev);
err_dmabuf:
	put_device(dev->dmabuf_dev);
err_tables:
	xenib_tables_exit(dev);
err_dealloc:
	ib_dealloc_device(&dev->ibdev);
	return ERR_PTR(err);
}

/*
 * Consumers in the kernel end their QPs while the device is unregistered. If they receive by an SRQ
 * they wait to hear that no QP takes anything from it any more (ib_drain_qp()), so events of
 * objects are told up to then. Each object leaves the table of these before it is freed.
 */
void xenib_dev_remove(struct xenib_dev *dev)
{
	xenib_events_stop_port(dev->events);
	xenib_uar_mms_revoke(&dev->uar_mms);
	xenib_kcontext_settle(dev);
	ib_unregister_device(&dev->ibdev);
	xenib_events_stop(dev->events);
	if (dev->personality->stop)
		dev->personality->stop(dev);
	xenib_reg_cache_exit(&dev->reg_cache);
	xenib_kcontext_close(dev);
	put_device(dev->dmabuf_dev);
	xenib_tables_exit(dev);
	ib_dealloc_device(&dev->ibdev);
}
