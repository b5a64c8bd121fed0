// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - xen-ibgsi: management of the fabric for guests, of which dom0's daemon passes on what
 * they send (xen-ibgsi.h). What a guest may say is decided here, as the daemon's worker for a guest
 * might be in that guest's hands.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "gsi.h"

struct ib_sa_client gsi_sa_client;

static DEFINE_MUTEX(gsi_lock); /* of all lists here; outside of an endpoint's */
static LIST_HEAD(hcas);
static DECLARE_WAIT_QUEUE_HEAD(closed);

/* A port has changed: where is its SA by now? */
static void look_work(struct work_struct *work)
{
	struct gsi_hca *hca = container_of(work, struct gsi_hca, look);
	struct gsi_endpoint *ep;

	mutex_lock(&gsi_lock);
	list_for_each_entry(ep, &hca->endpoints, list)
		gsi_endpoint_look(ep);
	mutex_unlock(&gsi_lock);
}

static void port_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct gsi_hca *hca = container_of(handler, struct gsi_hca, events);

	switch (event->event) {
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_PORT_ERR:
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
		schedule_work(&hca->look);
		break;
	default:
		break;
	}
}

/* Not the device of a guest's in a guest. */
static bool is_hca(struct ib_device *ibdev)
{
	return ibdev->ops.driver_id == RDMA_DRIVER_MLX5 && rdma_cap_ib_sa(ibdev, 1) &&
	       rdma_cap_ib_cm(ibdev, 1) && ibdev->ops.process_mad;
}

static struct ib_client client;

struct gsi_hca *gsi_hca_of(struct ib_device *ibdev)
{
	return ib_get_client_data(ibdev, &client);
}

static int add_hca(struct ib_device *ibdev)
{
	struct gsi_hca *hca;

	if (!is_hca(ibdev))
		return -EOPNOTSUPP;
	hca = kzalloc(sizeof(*hca), GFP_KERNEL);
	if (!hca)
		return -ENOMEM;
	hca->ibdev = ibdev;
	INIT_LIST_HEAD(&hca->endpoints);
	INIT_WORK(&hca->look, look_work);
	gsi_cm_init(&hca->cm);
	ib_set_client_data(ibdev, &client, hca);
	gsi_hook_add(hca);
	INIT_IB_EVENT_HANDLER(&hca->events, ibdev, port_event);
	ib_register_event_handler(&hca->events);
	mutex_lock(&gsi_lock);
	list_add(&hca->list, &hcas);
	mutex_unlock(&gsi_lock);
	return 0;
}

/*
 * Ends what an endpoint has of its HCA. With the lock held, which it gives up meanwhile: others do
 * not wait for as much as a guest may have. Neither the endpoint nor the HCA goes before that.
 */
static void detach(struct gsi_endpoint *ep)
{
	struct gsi_hca *hca = ep->hca;

	list_del_init(&ep->list);
	hca->n_closing++;
	ep->closing = true;
	/* Its addresses are free for whoever attaches next. */
	gsi_cm_forget(ep);
	mutex_unlock(&gsi_lock);
	gsi_endpoint_detach(ep);
	mutex_lock(&gsi_lock);
	WRITE_ONCE(hca->n_closing, hca->n_closing - 1);
	WRITE_ONCE(ep->closing, false);
	wake_up_all(&closed);
}

static void remove_hca(struct ib_device *ibdev, void *data)
{
	struct gsi_hca *hca = data;
	struct gsi_endpoint *ep;

	ib_unregister_event_handler(&hca->events);
	cancel_work_sync(&hca->look);
	mutex_lock(&gsi_lock);
	list_del(&hca->list);
	mutex_unlock(&gsi_lock);
	gsi_hook_remove(hca);
	mutex_lock(&gsi_lock);
	while ((ep = list_first_entry_or_null(&hca->endpoints, struct gsi_endpoint, list)))
		detach(ep);
	mutex_unlock(&gsi_lock);
	wait_event(closed, !READ_ONCE(hca->n_closing));
	gsi_cm_exit(&hca->cm);
	kfree(hca);
}

static struct ib_client client = {
	.name = "xen-ibgsi",
	.add = add_hca,
	.remove = remove_hca,
};

/* The device */

static int gsi_open(struct inode *inode, struct file *file)
{
	struct gsi_endpoint *ep = kzalloc(sizeof(*ep), GFP_KERNEL);
	enum cm_stage stage;

	if (!ep)
		return -ENOMEM;
	INIT_LIST_HEAD(&ep->list);
	mutex_init(&ep->lock);
	spin_lock_init(&ep->requests_lock);
	INIT_LIST_HEAD(&ep->groups);
	INIT_WORK(&ep->leave, gsi_mcast_work);
	gsi_alias_init(ep);
	for (stage = 0; stage < CM_STAGES; stage++)
		INIT_LIST_HEAD(&ep->conns[stage]);
	INIT_LIST_HEAD(&ep->takes);
	xa_init(&ep->by_guest);
	spin_lock_init(&ep->queue_lock);
	INIT_LIST_HEAD(&ep->queue);
	init_waitqueue_head(&ep->readable);
	file->private_data = ep;
	return stream_open(inode, file);
}

static int gsi_release(struct inode *inode, struct file *file)
{
	struct gsi_endpoint *ep = file->private_data;

	mutex_lock(&gsi_lock);
	if (!list_empty(&ep->list))
		detach(ep);
	mutex_unlock(&gsi_lock);
	/* Its HCA may be about to go. */
	wait_event(closed, !READ_ONCE(ep->closing));
	/* A reset of one that is not attached, or no longer. */
	flush_work(&ep->leave);
	if (ep->owner)
		put_task_struct(ep->owner);
	kfree(ep);
	return 0;
}

/* With the lock held. */
static struct gsi_hca *find_hca(const char *name)
{
	struct gsi_hca *hca;

	list_for_each_entry(hca, &hcas, list) {
		if (!strcmp(dev_name(&hca->ibdev->dev), name))
			return hca;
	}
	return NULL;
}

/* With the lock held. */
static int attach(struct gsi_endpoint *ep, const struct xen_ibgsi_attach *to)
{
	struct gsi_hca *hca = find_hca(to->device);
	int err;

	if (!hca || !rdma_is_port_valid(hca->ibdev, to->port))
		return -ENODEV;
	if (ep->ibdev)
		return -EBUSY;
	ep->domid = to->domid;
	if (!ep->owner)
		ep->owner = get_task_struct(current->group_leader);
	ep->node_guid = to->node_guid;
	memcpy(ep->pkeys, to->pkeys, sizeof(ep->pkeys));
	err = gsi_endpoint_attach(ep, hca, to->port);
	if (!err)
		list_add(&ep->list, &hca->endpoints);
	return err;
}

static int make_alias(struct gsi_endpoint *ep, void __user *arg)
{
	struct xen_ibgsi_alias alias;
	int err;

	if (copy_from_user(&alias, arg, sizeof(alias)))
		return -EFAULT;
	mutex_lock(&gsi_lock);
	err = list_empty(&ep->list) ? -ENODEV : gsi_alias_claim(ep);
	mutex_unlock(&gsi_lock);
	if (!err)
		err = gsi_alias_make(ep, &alias);
	if (err)
		return err;
	return copy_to_user(arg, &alias, sizeof(alias)) ? -EFAULT : 0;
}

static int attach_to(struct gsi_endpoint *ep, const void __user *arg)
{
	struct xen_ibgsi_attach to;
	int err;

	if (copy_from_user(&to, arg, sizeof(to)))
		return -EFAULT;
	if (strnlen(to.device, sizeof(to.device)) == sizeof(to.device) || !to.node_guid)
		return -EINVAL;
	mutex_lock(&gsi_lock);
	err = attach(ep, &to);
	mutex_unlock(&gsi_lock);
	return err;
}

/* With the lock held. */
static int offer(struct gsi_endpoint *ep, __be64 service)
{
	struct gsi_endpoint *other;
	int err = 0;

	mutex_lock(&ep->hca->cm.lock);
	list_for_each_entry(other, &ep->hca->endpoints, list) {
		if (other->port == ep->port && gsi_cm_offers(other, service))
			err = -EBUSY;
	}
	if (!err && ep->n_services == XEN_IBGSI_SERVICES)
		err = -ENOSPC;
	if (!err)
		ep->services[ep->n_services++] = service;
	mutex_unlock(&ep->hca->cm.lock);
	return err;
}

static int offer_service(struct gsi_endpoint *ep, const void __user *arg)
{
	__be64 service;
	int err;

	if (copy_from_user(&service, arg, sizeof(service)))
		return -EFAULT;
	mutex_lock(&gsi_lock);
	err = list_empty(&ep->list) ? -ENODEV : offer(ep, service);
	mutex_unlock(&gsi_lock);
	return err;
}

static long gsi_ioctl(struct file *file, unsigned int request, unsigned long arg)
{
	switch (request) {
	case XEN_IBGSI_ATTACH:
		return attach_to(file->private_data, (void __user *)arg);
	case XEN_IBGSI_ALIAS:
		return make_alias(file->private_data, (void __user *)arg);
	case XEN_IBGSI_SERVICE:
		return offer_service(file->private_data, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}

static ssize_t start_or_reset(struct gsi_endpoint *ep, const char __user *from)
{
	u32 command;
	int err = 0;

	if (copy_from_user(&command, from, sizeof(command)))
		return -EFAULT;
	mutex_lock(&ep->lock);
	switch (command) {
	case XEN_IBGSI_START:
		err = gsi_endpoint_start(ep);
		break;
	case XEN_IBGSI_RESET:
		gsi_endpoint_reset(ep);
		break;
	default:
		err = -EINVAL;
	}
	mutex_unlock(&ep->lock);
	return err ? err : sizeof(command);
}

static ssize_t change_addr(struct gsi_endpoint *ep, const char __user *from)
{
	struct xen_ibgsi_addr change;
	int err;

	if (copy_from_user(&change, from, sizeof(change)))
		return -EFAULT;
	if (change.command != XEN_IBGSI_ADDR_ADD && change.command != XEN_IBGSI_ADDR_DEL)
		return -EINVAL;
	mutex_lock(&ep->lock);
	err = gsi_addr_change(ep, &change);
	mutex_unlock(&ep->lock);
	return err ? err : sizeof(change);
}

static ssize_t send(struct gsi_endpoint *ep, const char __user *from)
{
	struct xen_ibgsi_send send;
	int err;

	if (copy_from_user(&send, from, sizeof(send)))
		return -EFAULT;
	mutex_lock(&ep->lock);
	err = gsi_endpoint_send(ep, &send);
	mutex_unlock(&ep->lock);
	if (err)
		return err;
	gsi_count(ep, &ep->stats.sent);
	return sizeof(send);
}

static ssize_t gsi_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	struct gsi_endpoint *ep = file->private_data;

	switch (size) {
	case sizeof(u32):
		return start_or_reset(ep, from);
	case sizeof(struct xen_ibgsi_addr):
		return change_addr(ep, from);
	case sizeof(struct xen_ibgsi_send):
		return send(ep, from);
	default:
		return -EINVAL;
	}
}

static_assert(XEN_IBGSI_REFUSALS <= XEN_IBGSI_REFUSALS_MAX);
static_assert(sizeof(struct xen_ibgsi_stats) < sizeof(struct xen_ibgsi_mad));

/* A daemon of another version knows of more of them, or of fewer. */
static ssize_t read_stats(struct gsi_endpoint *ep, char __user *to, size_t size)
{
	struct xen_ibgsi_stats stats;

	if (!size || size % sizeof(u64))
		return -EINVAL;
	size = min(size, sizeof(stats));
	gsi_endpoint_stats(ep, &stats);
	return copy_to_user(to, &stats, size) ? -EFAULT : size;
}

static ssize_t gsi_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	struct xen_ibgsi_mad mad;

	if (size != sizeof(mad))
		return read_stats(file->private_data, to, size);
	if (!gsi_queue_take(file->private_data, &mad))
		return -EAGAIN;
	return copy_to_user(to, &mad, sizeof(mad)) ? -EFAULT : sizeof(mad);
}

static __poll_t gsi_poll(struct file *file, poll_table *table)
{
	struct gsi_endpoint *ep = file->private_data;

	poll_wait(file, &ep->readable, table);
	return EPOLLOUT | (READ_ONCE(ep->n_queued) ? EPOLLIN : 0) |
	       (atomic_read(&ep->news) ? EPOLLPRI : 0) | (READ_ONCE(ep->dead) ? EPOLLHUP : 0);
}

static const struct file_operations gsi_fops = {
	.owner = THIS_MODULE,
	.open = gsi_open,
	.release = gsi_release,
	.unlocked_ioctl = gsi_ioctl,
	.read = gsi_read,
	.write = gsi_write,
	.poll = gsi_poll,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "xen-ib-gsi",
	.mode = 0600,
	.fops = &gsi_fops,
};

static int __init xen_ibgsi_init(void)
{
	int err;

	ib_sa_register_client(&gsi_sa_client);
	err = ib_register_client(&client);
	if (err)
		goto err_sa;
	err = misc_register(&device);
	if (!err)
		return 0;
	ib_unregister_client(&client);
err_sa:
	ib_sa_unregister_client(&gsi_sa_client);
	return err;
}

static void __exit xen_ibgsi_exit(void)
{
	misc_deregister(&device);
	ib_unregister_client(&client);
	ib_sa_unregister_client(&gsi_sa_client);
}

module_init(xen_ibgsi_init);
module_exit(xen_ibgsi_exit);

MODULE_DESCRIPTION("Management of the InfiniBand fabric for Xen guests");
MODULE_AUTHOR("The Xen-IB maintainers");
#ifdef XEN_IB_RELEASE
MODULE_VERSION(XEN_IB_RELEASE);
#endif
MODULE_LICENSE("GPL");
