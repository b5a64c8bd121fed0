// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - the xenbus driver: connects to the backend, closes, and recovers, by the state diagram
 * in vhca_nodes.h.
 *
 * The watch on the backend's state runs in a thread that serves all of the guest's devices, so it
 * waits for nothing: it notes the state, ends the command channel if the backend is going, and
 * leaves the rest to a work item of the device. That may wait for answers; once the channel has
 * ended it gets errors instead. What waits for the device's consumers in the kernel is a work item
 * of its own: some, as a mount by 9P, hold the device until somebody ends them.
 *
 * A guest that is suspended, to be saved or moved, gives the device back before: what a backend has
 * mapped, the HCA may write after Xen has copied it, and the machine frames of doorbell pages in
 * the page tables of a PV guest mean nothing where it is restored. Programs are told as when
 * the device is taken away. Once the guest runs again the device connects anew, here after a
 * suspension that was cancelled, or to the backend of the place where the guest is by then. If the
 * toolstack has made no nodes for it there, it waits for them. It also waits for consumers that
 * still hold the old device, of which HCA, Xen and page tables know nothing any more.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <xen/xen.h>
#include <xen/xenbus.h>

#include "compat.h"
#include "events.h"
#include "gfn.h"
#include "grant.h"
#include "ring.h"
#include "vhca.h"
#include "xenib.h"

/* How long the backend may take to let go of the shared pages, while somebody waits for that. */
#define CLOSE_POLL_MS 50
#define CLOSE_POLLS 400

/* How long consumers in the kernel may take to let go when the guest is suspended. */
#define SUSPEND_TIMEOUT (20 * HZ)

/* How often whoever waits for these looks whether the backend is still there. */
#define BACKEND_CHECK HZ

static unsigned int ring_page_order = 2;
module_param(ring_page_order, uint, 0444);
MODULE_PARM_DESC(ring_page_order, "log2 of the pages of the command ring (0 to 4)");

static bool want_events = true;
module_param_named(events, want_events, bool, 0444);
MODULE_PARM_DESC(events, "completion and asynchronous events, if the backend has them");

static struct workqueue_struct *xenib_wq;

struct xenib_hca {
	struct xenbus_device *xbdev;
	struct work_struct work;
	enum xenbus_state backend;   /* as last seen */
	struct mutex ring_lock;      /* the pointer, against the watch */
	struct xenib_ring *ring;     /* NULL: not connected */
	bool announce;               /* the ring, by the state: not done yet; ring_lock */
	struct xenbus_watch own;     /* of what we publish */
	struct xenib_events *events; /* NULL: none */
	struct xenib_gfns gfns;
	struct xenib_grantee grantee; /* the backend */
	struct xenib_dev *dev;        /* NULL: not registered */
	struct work_struct unregister;
	struct completion unregistered; /* since it was registered */
	bool keeps_pages;               /* the backend, against its word */
	bool failed;                    /* do not try again */
	bool at_rest;                   /* the work item: suspended, or being removed */
	struct work_struct awake;       /* once processes run again after a suspension */
	struct xenbus_watch nodes;      /* .node is NULL: there is none */
};

/* Perhaps in interrupt context. */
static void ring_fault(void *context)
{
	struct xenib_hca *hca = context;

	queue_work(xenib_wq, &hca->work);
}

static void set_ring(struct xenib_hca *hca, struct xenib_ring *ring)
{
	mutex_lock(&hca->ring_lock);
	hca->ring = ring;
	hca->announce = ring;
	mutex_unlock(&hca->ring_lock);
}

static void kill_ring(struct xenib_hca *hca)
{
	mutex_lock(&hca->ring_lock);
	hca->announce = false;
	if (hca->ring)
		xenib_ring_kill(hca->ring);
	mutex_unlock(&hca->ring_lock);
}

static void events_fault(void *context)
{
	struct xenib_hca *hca = context;

	kill_ring(hca);
	queue_work(xenib_wq, &hca->work);
}

/* With a lock held that others wait for, so the rest is done in the work item. */
static void grantee_fault(struct xenib_grantee *grantee)
{
	struct xenib_hca *hca = container_of(grantee, struct xenib_hca, grantee);

	WRITE_ONCE(hca->keeps_pages, true);
	kill_ring(hca);
	queue_work(xenib_wq, &hca->work);
}

static bool speaks_our_version(const char *versions)
{
	unsigned int version;
	int length;

	while (sscanf(versions, "%u%n", &version, &length) == 1) {
		if (version == XEN_VHCA_VERSION)
			return true;
		versions += length;
		if (*versions++ != ',')
			break;
	}
	return false;
}

static int check_version(struct xenbus_device *xbdev)
{
	char *versions;
	int err = 0;

	versions = xenbus_read(XBT_NIL, xbdev->otherend, XEN_VHCA_FIELD_VERSIONS, NULL);
	if (IS_ERR(versions)) {
		xenbus_dev_fatal(xbdev, PTR_ERR(versions), "reading %s/versions", xbdev->otherend);
		return PTR_ERR(versions);
	}
	if (!speaks_our_version(versions)) {
		err = -EPROTONOSUPPORT;
		xenbus_dev_fatal(xbdev, err, "the backend speaks versions %.64s, not %u", versions,
				 XEN_VHCA_VERSION);
	}
	kfree(versions);
	return err;
}

static int publish(struct xenbus_device *xbdev, struct xenib_ring *ring,
		   struct xenib_events *events)
{
	struct xenbus_transaction xbt;
	int err;

	do {
		err = xenbus_transaction_start(&xbt);
		if (err)
			return err;
		err = xenbus_printf(xbt, xbdev->nodename, XEN_VHCA_FIELD_VERSION, "%u",
				    XEN_VHCA_VERSION);
		if (!err)
			err = xenib_ring_publish(ring, xbt);
		if (!err)
			err = xenib_events_publish(events, xbdev, xbt);
		if (err) {
			xenbus_transaction_end(xbt, 1);
			return err;
		}
		err = xenbus_transaction_end(xbt, 0);
	} while (err == -EAGAIN);
	return err;
}

/*
 * What we have published is there, so our state may say so. At each change of a device's nodes a
 * newer kernel looks whether its state was reset: it compares the Initialising that it has read
 * with the state that the driver has by then, and drops the device if they differ. Nothing comes
 * between in the thread of the watches, which this is.
 */
static void published(struct xenbus_watch *watch, const char *path, const char *token)
{
	struct xenib_hca *hca = container_of(watch, struct xenib_hca, own);

	mutex_lock(&hca->ring_lock);
	if (hca->announce)
		xenbus_switch_state(hca->xbdev, XenbusStateInitialised);
	hca->announce = false;
	mutex_unlock(&hca->ring_lock);
}

/* NULL if there are to be none. Returns an ERR_PTR. */
static struct xenib_events *create_events(struct xenib_hca *hca)
{
	struct xenbus_device *xbdev = hca->xbdev;
	unsigned int vectors;

	if (!want_events ||
	    !xenbus_read_unsigned(xbdev->otherend, XEN_VHCA_FIELD_FEATURE_EVENTS, 0))
		return NULL;
	vectors = xenbus_read_unsigned(xbdev->otherend, XEN_VHCA_FIELD_MAX_EVENT_VECTORS, 1);
	vectors = min3(vectors, num_online_cpus(), (unsigned int)XEN_VHCA_MAX_EVENT_VECTORS);
	return xenib_events_create(xbdev, max(vectors, 1U), events_fault, hca);
}

/* InitWait -> Initialised, by published(). */
static int connect(struct xenib_hca *hca)
{
	struct xenbus_device *xbdev = hca->xbdev;
	struct xenib_ring *ring;
	unsigned int order;
	int err;

	xenbus_switch_state(xbdev, XenbusStateInitialising);
	err = check_version(xbdev);
	if (err)
		return err;
	order = xenbus_read_unsigned(xbdev->otherend, XEN_VHCA_FIELD_MAX_RING_PAGE_ORDER, 0);
	order = min3(order, ring_page_order, (unsigned int)XEN_VHCA_MAX_RING_PAGE_ORDER);

	ring = xenib_ring_create(xbdev, order, ring_fault, hca);
	if (IS_ERR(ring)) {
		xenbus_dev_fatal(xbdev, PTR_ERR(ring), "creating the ring");
		return PTR_ERR(ring);
	}
	hca->events = create_events(hca);
	if (IS_ERR(hca->events)) {
		err = PTR_ERR(hca->events);
		xenbus_dev_fatal(xbdev, err, "creating the event channel");
		goto err_ring;
	}
	set_ring(hca, ring);
	err = publish(xbdev, ring, hca->events);
	if (err) {
		xenbus_dev_fatal(xbdev, err, "writing the frontend's nodes");
		goto err_events;
	}
	return 0;

err_events:
	set_ring(hca, NULL);
	xenib_events_destroy(hca->events);
err_ring:
	hca->events = NULL;
	xenib_ring_destroy(ring);
	return err;
}

/* Connected. */
static int register_device(struct xenib_hca *hca)
{
	struct xenib_dev *dev;

	dev = xenib_dev_add(hca->xbdev, hca->ring, hca->events, &hca->gfns, &hca->grantee);
	if (IS_ERR(dev)) {
		/* A backend that went meanwhile comes back; anything else would only repeat. */
		if (!xenib_ring_is_dead(hca->ring)) {
			xenbus_dev_fatal(hca->xbdev, PTR_ERR(dev), "registering the device");
			return PTR_ERR(dev);
		}
		return 0;
	}
	reinit_completion(&hca->unregistered);
	WRITE_ONCE(hca->dev, dev);
	dev_info(&hca->xbdev->dev, "registered as %s%s\n", dev_name(&dev->ibdev.dev),
		 hca->events ? "" : ", without events");
	return xenbus_switch_state(hca->xbdev, XenbusStateConnected);
}

/* Waits for consumers in the kernel, however long they hold on to the device. */
static void unregister_work(struct work_struct *work)
{
	struct xenib_hca *hca = container_of(work, struct xenib_hca, unregister);

	if (!hca->dev)
		return;
	xenib_dev_remove(hca->dev);
	WRITE_ONCE(hca->dev, NULL);
	complete_all(&hca->unregistered);
	queue_work(xenib_wq, &hca->work);
}

/* Returns whether the device is unregistered; if not, the work item is queued when it is. */
static bool unregister_device(struct xenib_hca *hca)
{
	if (!READ_ONCE(hca->dev))
		return true;
	queue_work(xenib_wq, &hca->unregister);
	return false;
}

/* What is shared, once the backend has let go of it. */
static void disconnect(struct xenib_hca *hca)
{
	struct xenib_ring *ring = hca->ring;

	if (!ring)
		return;
	set_ring(hca, NULL);
	xenib_grantee_forget(&hca->grantee);
	xenib_ring_destroy(ring);
	xenib_events_destroy(hca->events);
	hca->events = NULL;
	xenib_gfns_exit(&hca->gfns);
	xenib_grants_retry();
}

static bool backend_has_let_go(enum xenbus_state backend)
{
	switch (backend) {
	case XenbusStateUnknown: /* its directory is gone */
	case XenbusStateInitialising:
	case XenbusStateInitWait:
	case XenbusStateClosed:
		return true;
	default:
		return false;
	}
}

static bool backend_is_going(enum xenbus_state backend)
{
	return backend == XenbusStateUnknown || backend == XenbusStateClosing ||
	       backend == XenbusStateClosed;
}

/*
 * With nothing shared: Closed after the backend's Closing, and after our own. Not after a Closed
 * that is left from before we came.
 */
static bool follows_to_closed(struct xenib_hca *hca, enum xenbus_state backend)
{
	if (hca->ring || !backend_is_going(backend))
		return false;
	return backend == XenbusStateClosing || hca->xbdev->state == XenbusStateClosing;
}

/*
 * The connection of a frontend that ended without a word: nothing of it is ours, and it must end
 * before ours begins.
 */
static bool is_left_connected(const struct xenib_hca *hca, enum xenbus_state backend)
{
	return !hca->ring && (backend == XenbusStateInitialised || backend == XenbusStateConnected);
}

/*
 * The backend cannot serve, and says why. Whoever loads this module waits half a minute for devices
 * that are not Connected yet (wait_for_devices() in the kernel's xenbus_probe_frontend.c); one that
 * is Closed is not waited for. If the backend offers the device later, it is connected then.
 */
static bool is_refused(const struct xenib_hca *hca, enum xenbus_state backend)
{
	return !hca->ring && backend == XenbusStateClosed &&
	       hca->xbdev->state == XenbusStateInitialising &&
	       xenbus_exists(XBT_NIL, hca->xbdev->otherend, XEN_VHCA_FIELD_ERROR);
}

/* Like blkfront since XSA-396: there is no next connection, before an administrator makes one. */
static void end_for_good(struct xenib_hca *hca)
{
	hca->failed = true;
	/* clang-format off */
	xenbus_dev_error(hca->xbdev, -EIO,
			 "the backend keeps pages mapped that it has released: the device has failed");
	/* clang-format on */
}

/* InitWait after Connected: it was gone and is back, faster than the watch saw. */
static bool connection_is_over(struct xenib_hca *hca, enum xenbus_state backend)
{
	return backend_is_going(backend) || (backend == XenbusStateInitWait && READ_ONCE(hca->dev));
}

static void hca_work(struct work_struct *work)
{
	struct xenib_hca *hca = container_of(work, struct xenib_hca, work);
	enum xenbus_state backend = READ_ONCE(hca->backend);

	if (READ_ONCE(hca->at_rest))
		return;
	/* The watch did that already, unless the channel or the device was just being made. */
	if (connection_is_over(hca, backend))
		kill_ring(hca);
	if (READ_ONCE(hca->keeps_pages) && !hca->failed)
		end_for_good(hca);
	if (hca->ring && xenib_ring_is_dead(hca->ring)) {
		if (!unregister_device(hca))
			return;
		xenbus_frontend_closed(hca->xbdev);
		if (!backend_has_let_go(backend))
			return;
		disconnect(hca);
	}
	if (backend == XenbusStateInitWait && !hca->ring && !hca->failed)
		hca->failed = connect(hca);
	else if (backend == XenbusStateConnected && hca->ring && !hca->dev && !hca->failed)
		hca->failed = register_device(hca);
	else if (is_left_connected(hca, backend))
		xenbus_switch_state(hca->xbdev, XenbusStateClosing);
	else if (follows_to_closed(hca, backend))
		xenbus_frontend_closed(hca->xbdev);
	else if (is_refused(hca, backend))
		xenbus_switch_state(hca->xbdev, XenbusStateClosed);
}

static void backend_changed(struct xenbus_device *xbdev, enum xenbus_state backend)
{
	struct xenib_hca *hca = dev_get_drvdata(&xbdev->dev);

	WRITE_ONCE(hca->backend, backend);
	if (connection_is_over(hca, backend))
		kill_ring(hca);
	queue_work(xenib_wq, &hca->work);
}

/*
 * There were no nodes after a restoration, and now there are: what the bus did not get done then is
 * made good. Whoever has the lock is about to remove the device, and waits for us.
 */
static void nodes_changed(struct xenbus_watch *watch, const char *path, const char *token)
{
	struct xenib_hca *hca = container_of(watch, struct xenib_hca, nodes);
	struct xenbus_device *xbdev = hca->xbdev;

	if (!device_trylock(&xbdev->dev))
		return;
	if (!xbdev->otherend && xenbus_exists(XBT_NIL, xbdev->nodename, "backend"))
		xbdev->dev.bus->pm->restore(&xbdev->dev);
	device_unlock(&xbdev->dev);
}

/*
 * The bus tells a driver only of a restoration for which it has found the backend. Not of a
 * suspension that was cancelled: there our state is Closed still. Not of missing nodes: the bus
 * has forgotten the backend. The watch is called at once, and stays.
 */
static void awake_work(struct work_struct *work)
{
	struct xenib_hca *hca = container_of(work, struct xenib_hca, awake);
	struct xenbus_device *xbdev = hca->xbdev;

	WRITE_ONCE(hca->at_rest, false);
	if (xbdev->otherend) {
		xenbus_switch_state(xbdev, XenbusStateInitialising);
		queue_work(xenib_wq, &hca->work);
		return;
	}
	dev_info(&xbdev->dev, "no vHCA yet: waiting for one to be attached\n");
	if (!hca->nodes.node)
		xenbus_watch_path(xbdev, xbdev->nodename, &hca->nodes, NULL, nodes_changed);
}

/*
 * Devices are suspended in the reverse of the order in which they came. A disk by iSER whose vHCA
 * was detached goes on by one that came later; the disk cannot be suspended after that. So a vHCA
 * gets a place before all else, which device_move() has for children of what is there first.
 */
static int suspend_late(struct device *dev)
{
	struct device *parent = dev->parent;
	int err;

	err = device_move(dev, &platform_bus, DPM_ORDER_DEV_AFTER_PARENT);
	if (err)
		return err;
	return device_move(dev, parent, DPM_ORDER_NONE);
}

static int hca_probe(struct xenbus_device *xbdev, const struct xenbus_device_id *id)
{
	struct xenib_hca *hca;
	int err;

	hca = kzalloc(sizeof(*hca), GFP_KERNEL);
	if (!hca)
		return -ENOMEM;
	hca->xbdev = xbdev;
	hca->grantee.fault = grantee_fault;
	mutex_init(&hca->ring_lock);
	INIT_WORK(&hca->work, hca_work);
	INIT_WORK(&hca->unregister, unregister_work);
	init_completion(&hca->unregistered);
	INIT_WORK(&hca->awake, awake_work);
	err = suspend_late(&xbdev->dev);
	if (err)
		goto err_free;
	err = xenbus_watch_pathfmt(xbdev, &hca->own, NULL, published, "%s/%s", xbdev->nodename,
				   XEN_VHCA_FIELD_VERSION);
	if (err)
		goto err_free;
	dev_set_drvdata(&xbdev->dev, hca);
	xenbus_switch_state(xbdev, XenbusStateInitialising);
	return 0;

err_free:
	kfree(hca);
	return err;
}

/* Until it is told otherwise: a dying channel queues the work item at any time. */
static void put_to_rest(struct xenib_hca *hca)
{
	WRITE_ONCE(hca->at_rest, true);
	cancel_work_sync(&hca->work);
}

/*
 * For those who wait where the watch is gone, or where its thread is the one that waits. A device
 * that was restored to a place without nodes for it has no backend.
 */
static enum xenbus_state look_at_backend(struct xenbus_device *xbdev)
{
	return xbdev->otherend ? XENIB_OTHEREND_STATE(xbdev) : XenbusStateUnknown;
}

static bool wait_for_backend(struct xenbus_device *xbdev)
{
	unsigned int i;

	for (i = 0; i < CLOSE_POLLS; i++) {
		if (backend_has_let_go(look_at_backend(xbdev)))
			return true;
		msleep(CLOSE_POLL_MS);
	}
	dev_err(&xbdev->dev, "the backend does not close: leaking pages that it has mapped\n");
	return false;
}

/*
 * Nothing else may be at work on the device. Closes the connection, if there is one; false: the
 * backend may have pages mapped still.
 */
static bool close_connection(struct xenib_hca *hca)
{
	if (!hca->ring)
		return true;
	xenbus_switch_state(hca->xbdev, XenbusStateClosing);
	kill_ring(hca);
	return wait_for_backend(hca->xbdev);
}

/* While the backend serves, for as long as it does: consumers end their work in good order. */
static void wait_for_consumers(struct xenib_hca *hca)
{
	bool gone = unregister_device(hca);

	while (!gone) {
		gone = wait_for_completion_timeout(&hca->unregistered, BACKEND_CHECK);
		if (look_at_backend(hca->xbdev) != XenbusStateConnected)
			kill_ring(hca);
	}
	flush_work(&hca->unregister);
}

static void hca_remove(struct xenbus_device *xbdev)
{
	struct xenib_hca *hca = dev_get_drvdata(&xbdev->dev);

	cancel_work_sync(&hca->awake);
	if (hca->nodes.node)
		unregister_xenbus_watch(&hca->nodes);
	put_to_rest(hca);
	wait_for_consumers(hca);
	close_connection(hca);
	disconnect(hca);
	cancel_work_sync(&hca->work);
	unregister_xenbus_watch(&hca->own);
	kfree(hca->own.node);
	dev_set_drvdata(&xbdev->dev, NULL);
	kfree(hca);
}

/*
 * Processes are frozen, all else works still. The watch's thread is the one that suspends: it would
 * not tell of a backend that is gone, so nothing is asked of the backend any more.
 */
static int hca_suspend(struct xenbus_device *xbdev)
{
	struct xenib_hca *hca = dev_get_drvdata(&xbdev->dev);
	bool registered;

	kill_ring(hca);
	cancel_work_sync(&hca->awake);
	put_to_rest(hca);
	registered = !unregister_device(hca);
	if (registered)
		dev_notice(&xbdev->dev, "the guest is suspended: programs lose the device\n");
	if (!close_connection(hca))
		dev_err(&xbdev->dev,
			"what the HCA writes from now on is lost where the guest is restored\n");
	if (registered && !wait_for_completion_timeout(&hca->unregistered, SUSPEND_TIMEOUT))
		dev_warn(&xbdev->dev,
			 "still in use, as by a mount: no new device before that ends\n");
	else
		disconnect(hca);
	xenbus_frontend_closed(xbdev);
	WRITE_ONCE(hca->backend, XenbusStateUnknown);
	queue_work(system_freezable_wq, &hca->awake);
	return 0;
}

/* After a restoration: the backend is another one, which has done nothing wrong. */
static int hca_resume(struct xenbus_device *xbdev)
{
	struct xenib_hca *hca = dev_get_drvdata(&xbdev->dev);

	hca->failed = false;
	WRITE_ONCE(hca->keeps_pages, false);
	return 0;
}

static const struct xenbus_device_id hca_ids[] = {
	{ "vhca" },
	{ "" },
};

static struct xenbus_driver hca_driver = {
	.name = "xen-ibfront",
	.ids = hca_ids,
	.probe = hca_probe,
	.remove = hca_remove,
	.suspend = hca_suspend,
	.resume = hca_resume,
	.otherend_changed = backend_changed,
	.not_essential = true,
};

static int __init xenib_init(void)
{
	int err;

	if (!xen_domain())
		return -ENODEV;
	xenib_wq = alloc_workqueue("xen-ibfront", WQ_UNBOUND, 0);
	if (!xenib_wq)
		return -ENOMEM;
	/*
	 * Without an owner, as xenbus would keep the module for as long as it has a device. But no
	 * device needs that: unloading waits for their removal, and the RDMA core takes them from
	 * the processes that use them.
	 */
	err = __xenbus_register_frontend(&hca_driver, NULL, NULL);
	if (err)
		destroy_workqueue(xenib_wq);
	return err;
}

static void __exit xenib_exit(void)
{
	xenbus_unregister_driver(&hca_driver);
	destroy_workqueue(xenib_wq);
	xenib_grants_exit();
}

module_init(xenib_init);
module_exit(xenib_exit);

MODULE_DESCRIPTION("Paravirtual InfiniBand HCA, frontend");
MODULE_AUTHOR("The Xen-IB maintainers");
#ifdef XEN_IB_RELEASE
MODULE_VERSION(XEN_IB_RELEASE);
#endif
MODULE_LICENSE("GPL");
MODULE_ALIAS("xen:vhca");
