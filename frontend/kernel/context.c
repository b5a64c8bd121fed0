// SPDX-License-Identifier: GPL-2.0
/*
 * context.c - the kernel's own context of a device, and what all of its consumers share.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <xen/xenbus.h>

#include "compat.h"
#include "kernel/dma.h"
#include "kernel/kverbs.h"
#include "vhca_nodes.h"

/* A QP's number in CQEs, below the one that means none. */
#define QP_NUMBERS XA_LIMIT(0, 0xfffffe)

static bool kverbs;
module_param(kverbs, bool, 0444);
MODULE_PARM_DESC(kverbs,
		 "the guest's kernel may use the device itself, as IPoIB does (experimental)");

/* Consumers in the kernel wait for events. */
bool xenib_kverbs_wanted(struct xenib_dev *dev)
{
	if (!kverbs || !dev->events)
		return false;
	if (xenbus_read_unsigned(dev->xbdev->otherend, XEN_VHCA_FIELD_FEATURE_KERNEL, 0))
		return true;
	dev_info(&dev->xbdev->dev,
		 "the configuration of the vHCA does not let the kernel use it\n");
	return false;
}

/*
 * Those that wait for an event get one, and find when they poll that the backend is gone. The
 * consumer has its handler in place before it asks for the first.
 *
 * Whoever posts does so with interrupts off, and looks first whether the channel is dead. Those who
 * have found it alive are waited for: what they post is seen by those who are woken. The others
 * wake by themselves.
 */
static void wake_work(struct work_struct *work)
{
	struct xenib_kcontext *kernel = container_of(work, struct xenib_kcontext, wake);
	struct xenib_kcq *k;

	xenib_kqps_end(kernel);
	synchronize_rcu();
	/* Consumers that poll in a softirq have done so before this returns. */
	local_bh_disable();
	spin_lock_irq(&kernel->lock);
	list_for_each_entry(k, &kernel->cqs, list) {
		if (xenib_kcq_take_event(k))
			k->cq->ibcq.comp_handler(&k->cq->ibcq, k->cq->ibcq.cq_context);
	}
	spin_unlock_irq(&kernel->lock);
	local_bh_enable();
}

void xenib_kcontext_wake(struct xenib_kcontext *kernel)
{
	queue_work(system_dfl_wq, &kernel->wake);
}

static void set_limits(struct xenib_kcontext *kernel, const struct xen_vhca_device_attr *attr)
{
	kernel->limits = (struct xenib_limits){
		.max_sq_desc = attr->max_sq_desc,
		.max_rq_desc = attr->max_rq_desc,
		.max_send_blocks = attr->max_send_blocks,
		.max_recv_wqes = attr->max_recv_wqes,
		.max_srq_wqes = attr->max_srq_wqes,
	};
}

int xenib_kcontext_open(struct xenib_dev *dev)
{
	static const char name[TASK_COMM_LEN] = "kernel";
	struct xenib_kcontext *kernel;
	int err;

	kernel = kvzalloc(sizeof(*kernel), GFP_KERNEL);
	if (!kernel)
		return -ENOMEM;
	spin_lock_init(&kernel->lock);
	INIT_LIST_HEAD(&kernel->cqs);
	mutex_init(&kernel->srq_qps_lock);
	INIT_LIST_HEAD(&kernel->srq_qps);
	INIT_WORK(&kernel->wake, wake_work);
	xa_init_flags(&kernel->qps.qps, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	set_limits(kernel, &dev->attr);
	kernel->mw_entries =
		xenbus_read_unsigned(dev->xbdev->otherend, XEN_VHCA_FIELD_FEATURE_MW_ENTRIES, 0);

	err = xenib_context_open(dev, &kernel->ctx, 0, name, XEN_VHCA_CTX_KERNEL);
	if (err)
		goto err_free;
	err = xenib_kuar_create(&kernel->ctx, &kernel->uar);
	if (err)
		goto err_close;
	xenib_pool_init(&kernel->pool, &kernel->ctx);
	err = xenib_dma_init(&kernel->dma, &dev->xbdev->dev, &kernel->pool);
	if (err)
		goto err_pool;
	xenib_ring_on_death(dev->ring, &kernel->wake);
	xenib_gsi_init(&kernel->gsi, kernel);
	dev->kernel = kernel;
	return 0;

err_pool:
	xenib_pool_exit(&kernel->pool);
	xenib_kuar_destroy(&kernel->uar);
err_close:
	xenib_context_close(&kernel->ctx);
err_free:
	kvfree(kernel);
	return err;
}

/*
 * nvme-rdma ends its requests when it hears of an error, but not once it has lost the device.
 * Whoever rings has looked whether the channel is dead, and has been waited for then.
 */
void xenib_kcontext_settle(struct xenib_dev *dev)
{
	if (!dev->kernel)
		return;
	flush_work(&dev->kernel->wake);
	if (xenib_ring_is_dead(dev->ring))
		xenib_kuar_withdraw(&dev->kernel->uar);
}

void xenib_kcontext_close(struct xenib_dev *dev)
{
	struct xenib_kcontext *kernel = dev->kernel;

	if (!kernel)
		return;
	dev->kernel = NULL;
	xenib_gsi_exit(&kernel->gsi);
	xenib_ring_on_death(dev->ring, NULL);
	cancel_work_sync(&kernel->wake);
	xenib_dma_exit(&dev->xbdev->dev);
	xenib_pool_exit(&kernel->pool);
	xenib_kuar_destroy(&kernel->uar);
	xenib_context_close(&kernel->ctx);
	xa_destroy(&kernel->qps.qps);
	kvfree(kernel);
}
