// SPDX-License-Identifier: GPL-2.0
/*
 * events.c - a domain is told of completions: the page of bits and the event channels of its vHCA.
 *
 * An event sets its CQ's bit, and notifies the vector if the bit was clear.
 * shared-ring/vhca_event.h says why none is lost, although a notification may wait (pace.h): bits
 * are set at once.
 *
 * What uverbs keeps for a process to read grows with each event, so the process is woken when there
 * is much of it. Nobody needs the rest: it ends with its channel. A process that does not read has
 * its domain wait, too: beyond MOST_UNREAD nothing is notified before it has taken its watches.
 *
 * All state is behind one lock with interrupts off. Event channels are bound as the guest's
 * processes have them bound in dom0's evtchn: nobody ends the interrupt, so a guest that rings
 * where there is nothing to ring for is heard once.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/anon_inodes.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>
#include <asm/sync_bitops.h>
#include <xen/events.h>
#include <xen/interface/event_channel.h>

#include "compat.h"
#include "events.h"
#include "grant.h"
#include "pace.h"

#define MOST_UNREAD 65536u

struct channel {
	evtchn_port_t port;
	int irq;
};

struct ibgrant_events {
	struct ibgrant_owner *owner;
	struct ibgrant_page page;
	u32 vectors;
	struct channel channels[XEN_IBGRANT_MAX_VECTORS];
	struct xarray watches;
	wait_queue_head_t wait; /* for something to read */

	spinlock_t lock; /* of what follows: */
	struct ibgrant_pace pace;
	struct hrtimer rest; /* what waits for its notification */
	bool resting;
	struct list_head unread; /* watches, of which */
	u32 total;               /* is told that have not been taken */
	bool readable;
	u64 completions;
};

/* Under the lock. Notifies of what waits, as far as that may be now. */
static void notify(struct ibgrant_events *e)
{
	u64 rest;
	int vector;

	if (e->resting || e->total >= MOST_UNREAD)
		return;
	while ((vector = ibgrant_pace_next(&e->pace, ktime_get_ns(), &rest)) >= 0) {
		notify_remote_via_evtchn(e->channels[vector].port);
		ibgrant_pace_done(&e->pace, vector, ktime_get_ns());
	}
	if (!rest)
		return;
	e->resting = true;
	hrtimer_start(&e->rest, ns_to_ktime(rest), HRTIMER_MODE_REL);
}

static enum hrtimer_restart rested(struct hrtimer *timer)
{
	struct ibgrant_events *e = container_of(timer, struct ibgrant_events, rest);
	unsigned long flags;

	spin_lock_irqsave(&e->lock, flags);
	e->resting = false;
	notify(e);
	spin_unlock_irqrestore(&e->lock, flags);
	return HRTIMER_NORESTART;
}

/* Under the lock. Returns whether the process is to be woken. */
static bool count_unread(struct ibgrant_events *e, struct ibgrant_watch *watch)
{
	watch->unread++;
	if (list_empty(&watch->link))
		list_add_tail(&watch->link, &e->unread);
	e->total++;
	if (e->readable || e->total < XEN_IBGRANT_MUCH_UNREAD)
		return false;
	e->readable = true;
	return true;
}

/* The bit is set by an operation that is atomic between domains, however many CPUs this one has. */
void ibgrant_events_happened(struct ibgrant_watch *watch)
{
	struct ibgrant_events *e = watch->events;
	unsigned long flags;
	bool wake;

	spin_lock_irqsave(&e->lock, flags);
	e->completions++;
	wake = count_unread(e, watch);
	if (!sync_test_and_set_bit(watch->bit, page_address(e->page.page))) {
		ibgrant_pace_add(&e->pace, watch->vector, ktime_get_ns());
		notify(e);
	}
	spin_unlock_irqrestore(&e->lock, flags);
	if (wake)
		wake_up_interruptible(&e->wait);
}

/* Under the lock. Nothing of it is unread any more. */
static void forget_unread(struct ibgrant_events *e, struct ibgrant_watch *watch)
{
	e->total -= watch->unread;
	watch->unread = 0;
	list_del_init(&watch->link);
	if (!e->total)
		e->readable = false;
}

/* Watches */

/* Nobody calls for it any more. */
static void watch_free(struct ibgrant_events *e, struct ibgrant_watch *watch)
{
	spin_lock_irq(&e->lock);
	forget_unread(e, watch);
	notify(e);
	spin_unlock_irq(&e->lock);
	kfree(watch);
}

static struct ibgrant_watch *watch_new(struct ibgrant_events *e,
				       const struct xen_ibgrant_watch *arg)
{
	struct ibgrant_watch *watch = kzalloc(sizeof(*watch), GFP_KERNEL_ACCOUNT);

	if (!watch)
		return NULL;
	watch->events = e;
	watch->bit = arg->bit;
	watch->vector = arg->vector;
	INIT_LIST_HEAD(&watch->link);
	return watch;
}

/* Its name is found by nobody before it is known that it works, and told. */
static int add_watch(struct ibgrant_events *e, struct xen_ibgrant_watch __user *user)
{
	struct xen_ibgrant_watch arg;
	struct ibgrant_watch *watch;
	int err;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (arg.bit >= XEN_IBGRANT_EVENT_BITS || arg.vector >= e->vectors)
		return -EINVAL;
	watch = watch_new(e, &arg);
	if (!watch)
		return -ENOMEM;
	err = xa_alloc(&e->watches, &watch->id, NULL, XA_LIMIT(0, XEN_IBGRANT_MAX_WATCHES - 1),
		       GFP_KERNEL_ACCOUNT);
	if (err) {
		kfree(watch);
		return err == -EBUSY ? -EDQUOT : err;
	}
	err = put_user(watch->id, &user->watch) ? -EFAULT : ibgrant_watch_begin(watch, arg.fd);
	if (err) {
		xa_erase(&e->watches, watch->id);
		watch_free(e, watch);
		return err;
	}
	xa_store(&e->watches, watch->id, watch, 0); /* there is room, so it needs no memory */
	return 0;
}

/* One that is being made is not there, nor is one that somebody else ends. */
static int end_watch(struct ibgrant_events *e, unsigned long id)
{
	struct ibgrant_watch *watch;

	xa_lock(&e->watches);
	watch = xa_load(&e->watches, id);
	if (watch)
		__xa_erase(&e->watches, id);
	xa_unlock(&e->watches);
	if (!watch)
		return -ENOENT;
	ibgrant_watch_end(watch);
	watch_free(e, watch);
	return 0;
}

/* The file */

static int notify_vector(struct ibgrant_events *e, unsigned long vector)
{
	if (vector >= e->vectors)
		return -EINVAL;
	notify_remote_via_evtchn(e->channels[vector].port);
	return 0;
}

static int tell_stats(struct ibgrant_events *e, void __user *user)
{
	struct xen_ibgrant_event_stats stats = { 0 };

	spin_lock_irq(&e->lock);
	stats.completions = e->completions;
	stats.notified = e->pace.times;
	spin_unlock_irq(&e->lock);
	return copy_to_user(user, &stats, sizeof(stats)) ? -EFAULT : 0;
}

static long events_ioctl(struct file *file, unsigned int request, unsigned long arg)
{
	struct ibgrant_events *e = file->private_data;

	switch (request) {
	case XEN_IBGRANT_WATCH:
		return add_watch(e, (void __user *)arg);
	case XEN_IBGRANT_UNWATCH:
		return end_watch(e, arg);
	case XEN_IBGRANT_NOTIFY:
		return notify_vector(e, arg);
	case XEN_IBGRANT_EVENT_STATS:
		return tell_stats(e, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}

/*
 * Under the lock. The watch is taken before its channel is read: what comes meanwhile is unread
 * again.
 */
static u32 take_unread(struct ibgrant_events *e, u32 *ids, u32 most)
{
	struct ibgrant_watch *watch, *next;
	u32 n = 0;

	list_for_each_entry_safe(watch, next, &e->unread, link) {
		if (n == most)
			break;
		ids[n++] = watch->id;
		forget_unread(e, watch);
	}
	return n;
}

static ssize_t events_read(struct file *file, char __user *user, size_t size, loff_t *at)
{
	struct ibgrant_events *e = file->private_data;
	u32 ids[XEN_IBGRANT_MUCH_UNREAD], n;
	u32 most = min_t(size_t, size / sizeof(*ids), ARRAY_SIZE(ids));

	if (!most)
		return -EINVAL;
	spin_lock_irq(&e->lock);
	n = take_unread(e, ids, most);
	notify(e);
	spin_unlock_irq(&e->lock);
	if (!n)
		return -EAGAIN;
	return copy_to_user(user, ids, n * sizeof(*ids)) ? -EFAULT : n * sizeof(*ids);
}

static __poll_t events_poll(struct file *file, poll_table *table)
{
	struct ibgrant_events *e = file->private_data;

	poll_wait(file, &e->wait, table);
	return READ_ONCE(e->readable) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* Its beginning and end */

/* The interrupt is not ended, so there is not another one. */
static irqreturn_t unheard(int irq, void *data)
{
	return IRQ_HANDLED;
}

static int bind_channel(struct ibgrant_events *e, struct channel *channel, u32 remote)
{
	struct evtchn_bind_interdomain bind = {
		.remote_dom = e->owner->domid,
		.remote_port = remote,
	};
	int irq, err;

	err = HYPERVISOR_event_channel_op(EVTCHNOP_bind_interdomain, &bind);
	if (err)
		return err;
	irq = bind_evtchn_to_irq_lateeoi(bind.local_port);
	if (irq < 0) {
		struct evtchn_close close = { .port = bind.local_port };

		HYPERVISOR_event_channel_op(EVTCHNOP_close, &close);
		return irq;
	}
	err = request_irq(irq, unheard, 0, "xen-ib-events", e);
	if (err) {
		evtchn_put(bind.local_port); /* closes it */
		return err;
	}
	*channel = (struct channel){ .port = bind.local_port, .irq = irq };
	return 0;
}

/* Also of one that has only begun. */
static void events_free(struct ibgrant_events *e)
{
	unsigned long id = 0;
	u32 i;

	while (xa_find(&e->watches, &id, ULONG_MAX, XA_PRESENT))
		end_watch(e, id);
	xa_destroy(&e->watches);
	hrtimer_cancel(&e->rest);
	for (i = 0; i < e->vectors; i++)
		unbind_from_irqhandler(e->channels[i].irq, e);
	if (e->page.page)
		ibgrant_unmap_page(&e->page);
	ibgrant_owner_events(e->owner, false);
	ibgrant_owner_put(e->owner);
	kfree(e);
}

static int events_release(struct inode *inode, struct file *file)
{
	events_free(file->private_data);
	return 0;
}

static const struct file_operations events_fops = {
	.owner = THIS_MODULE,
	.read = events_read,
	.poll = events_poll,
	.unlocked_ioctl = events_ioctl,
	.release = events_release,
};

static struct ibgrant_events *events_new(struct ibgrant_owner *owner)
{
	struct ibgrant_events *e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);

	if (!e)
		return NULL;
	kref_get(&owner->kref);
	e->owner = owner;
	xa_init_flags(&e->watches, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	init_waitqueue_head(&e->wait);
	spin_lock_init(&e->lock);
	INIT_LIST_HEAD(&e->unread);
	hrtimer_setup(&e->rest, rested, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	return e;
}

static int connect(struct ibgrant_events *e, const struct xen_ibgrant_events *arg)
{
	int err = ibgrant_map_page(&e->page, e->owner->domid, arg->bits);

	for (; !err && e->vectors < arg->vectors; e->vectors += !err)
		err = bind_channel(e, &e->channels[e->vectors], arg->ports[e->vectors]);
	return err;
}

int ibgrant_events(struct ibgrant_owner *owner, const void __user *user)
{
	struct xen_ibgrant_events arg;
	struct ibgrant_events *e;
	int fd;

	if (!IS_MODULE(CONFIG_INFINIBAND_USER_ACCESS))
		return -EOPNOTSUPP;
	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (!arg.vectors || arg.vectors > XEN_IBGRANT_MAX_VECTORS)
		return -EINVAL;
	if (!ibgrant_owner_events(owner, true))
		return -EBUSY;
	e = events_new(owner);
	if (!e) {
		ibgrant_owner_events(owner, false);
		return -ENOMEM;
	}
	fd = connect(e, &arg);
	if (!fd)
		fd = anon_inode_getfd("[xen-ib-events]", &events_fops, e, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		events_free(e);
	return fd;
}
