// SPDX-License-Identifier: GPL-2.0
/*
 * events.c - what the backend tells of CQs, QPs, SRQs, the port and the device.
 *
 * Completions are told in the interrupt. Asynchronous events, of which there are few, are told in
 * work items, a ring full at a time. The peer is not trusted: it can name nothing but what is ours,
 * in as far as it is in our tables, and each look takes a bounded time. If it interrupts without
 * cause, Xen's late end of interrupt makes it slower and slower; if it fills the ring faster than
 * that is of any use, the work item waits.
 *
 * The RDMA core keeps what is told until the process reads it, so what is told has to have an end:
 *
 * - a completion, as often as the process has asked for one;
 * - an event of a CQ, QP or SRQ, once for each type until the object is modified: before that
 *   nothing can have become of the first one that would give cause for a second;
 * - an event of the port or the device, at a pace; of those that wait there is one of each type, in
 *   the order in which they came last, so that what is told last is how it is.
 *
 * What is told, is told under the lock of the table it was found in. So an object that has been
 * taken out of the tables can be freed: nobody is in its handlers. These are to be quick and may
 * not sleep; whatever the RDMA core has there keeps to that.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/hashtable.h>
#include <linux/interrupt.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <asm/sync_bitops.h>
#include <xen/events.h>

#include "events.h"
#include "kernel/kverbs.h"
#include "vhca_event_pages.h"
#include "vhca_nodes.h"
#include "xenib.h"

/* Between a full ring's worth of asynchronous events and the next, in jiffies. */
#define ASYNC_PAUSE 1

/* Events of the port: so many at once, and one for each interval after that. */
#define PORT_BURST 16U
#define PORT_INTERVAL HZ

#define OBJ_BITS 10

struct shared_page {
	void *page;
	grant_ref_t ref;
};

/* Events of the port and the device that have come, and are to be told. */
struct port_events {
	spinlock_t lock; /* of the types that wait */
	u8 waiting[XEN_VHCA_ASYNC_TYPES];
	unsigned int count;

	struct ib_device *ibdev; /* NULL: nobody to tell */

	/* Of the work item alone: */
	struct delayed_work work;
	unsigned int burst;  /* may be told now */
	unsigned long since; /* jiffies: when that was so */
};

/* A completion vector */
struct channel {
	struct xenib_events *events;
	char name[32];
	evtchn_port_t evtchn;
	int irq;
};

struct xenib_events {
	struct xenbus_device *xbdev;
	void (*fault)(void *context);
	void *context;

	struct shared_page bits;
	struct xarray cqs; /* by bit; a bit that is taken, without its CQ, is there as NULL */
	u32 words;         /* of the page, in which bits have ever been taken */

	struct shared_page ring;
	u32 prod; /* of the ring, when the last interrupt saw it */
	struct delayed_work work;
	struct ib_device *ibdev; /* as that of the port, which is NULL earlier */

	/* Of the work item alone: */
	struct vhca_async_front async;
	bool broken;

	struct port_events port;

	spinlock_t lock;                   /* of the objects, and of what they were told */
	DECLARE_HASHTABLE(objs, OBJ_BITS); /* by handle */

	atomic64_t counts[XENIB_EVENTS_COUNTS];

	unsigned int vectors;
	struct channel channels[XEN_VHCA_MAX_EVENT_VECTORS];
};

static void count(struct xenib_events *events, enum xenib_events_count which)
{
	atomic64_inc(&events->counts[which]);
}

u64 xenib_events_count(struct xenib_events *events, enum xenib_events_count which)
{
	const struct xen_vhca_async_page *page;

	if (!events)
		return 0;
	page = events->ring.page;
	return which == XENIB_EVENTS_LOST ? READ_ONCE(page->lost) :
					    atomic64_read(&events->counts[which]);
}

/* Completions */

/*
 * With the lock of the CQs held. A process asks for an event by its doorbell record (xenib-abi.h)
 * before it asks the HCA, and never twice with the same word: an event that finds the word of the
 * last one is not what it has asked for. The kernel keeps for itself whether it has.
 */
static bool is_asked_for(struct xenib_cq *cq)
{
	__be32 word;

	if (cq->k)
		return xenib_kcq_take_event(cq->k);
	word = READ_ONCE(*cq->arm);
	if (cq->told && word == cq->told_arm)
		return false;
	cq->told = true;
	cq->told_arm = word;
	return true;
}

static bool notify_completion(struct xenib_events *events, u32 bit)
{
	enum xenib_events_count what = XENIB_EVENTS_IGNORED;
	struct xenib_cq *cq;
	unsigned long flags;

	xa_lock_irqsave(&events->cqs, flags);
	cq = xa_load(&events->cqs, bit);
	if (cq && is_asked_for(cq)) {
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		what = XENIB_EVENTS_COMPLETIONS;
	} else if (cq) {
		what = XENIB_EVENTS_REPEATED;
	}
	xa_unlock_irqrestore(&events->cqs, flags);
	count(events, what);
	return what == XENIB_EVENTS_COMPLETIONS;
}

/*
 * One look through the page, at the words of a vector: clears the bits that are set, and tells
 * their CQs. Why no event is lost is in vhca_event.h; our part of it is
 *
 * - that the look as a whole comes after the end of the event channel's pending state, which Linux
 *   clears before it calls the handler; a notification from then on brings another look;
 * - that each bit is cleared before its CQ is told, with a full barrier between the two: who sets
 *   it later notifies again; who found it set has been before us, so the CQ is told after that;
 * - that the bits are cleared by xchg(), which is atomic towards other domains also where this
 *   kernel, having one CPU, has made its other atomic operations plain ones.
 *
 * There is one look, however many bits are set meanwhile: the backend cannot keep us here.
 */
static bool notify_completions(struct xenib_events *events, unsigned int vector)
{
	u32 words = READ_ONCE(events->words), word, bits;
	bool any = false;

	virt_mb(); /* the pending state, then the bits */
	for (word = vector; word < words; word += events->vectors) {
		bits = vhca_bits_take(events->bits.page, word);
		for (; bits; bits &= bits - 1)
			any |= notify_completion(events, word * 32 + __ffs(bits));
	}
	return any;
}

unsigned int xenib_events_vectors(const struct xenib_events *events)
{
	return events ? events->vectors : 1;
}

/* With the lock held, which is left meanwhile. */
static int take_bit_of(struct xenib_events *events, unsigned int vector, u32 *bit)
{
	int err = -EBUSY;
	u32 first;

	for (first = vector * 32; err == -EBUSY && first < XEN_VHCA_EVENT_BITS;
	     first += events->vectors * 32)
		err = __xa_alloc(&events->cqs, bit, NULL, XA_LIMIT(first, first + 31), GFP_KERNEL);
	return err;
}

int xenib_events_take_bit(struct xenib_events *events, unsigned int vector, u32 *bit)
{
	int err = -EBUSY;

	*bit = XEN_VHCA_NO_EVENT;
	if (!events)
		return 0;
	xa_lock_irq(&events->cqs);
	if (events->vectors > 1)
		err = take_bit_of(events, vector % events->vectors, bit);
	if (err == -EBUSY)
		err = __xa_alloc(&events->cqs, bit, NULL, XA_LIMIT(0, XEN_VHCA_EVENT_BITS - 1),
				 GFP_KERNEL);
	if (!err && *bit / 32 >= events->words)
		WRITE_ONCE(events->words, *bit / 32 + 1);
	xa_unlock_irq(&events->cqs);
	return err ? -ENOMEM : 0;
}

/* The backend does not set it any more; what it has set before is not for the next CQ. */
void xenib_events_give_bit(struct xenib_events *events, u32 bit)
{
	unsigned long flags;

	if (!events || bit == XEN_VHCA_NO_EVENT)
		return;
	sync_clear_bit(bit, events->bits.page);
	xa_lock_irqsave(&events->cqs, flags);
	__xa_erase(&events->cqs, bit);
	xa_unlock_irqrestore(&events->cqs, flags);
}

/* There is a place for it already, so nothing can fail. */
void xenib_events_set_cq(struct xenib_events *events, u32 bit, struct xenib_cq *cq)
{
	if (events && bit != XEN_VHCA_NO_EVENT)
		xa_store_irq(&events->cqs, bit, cq, 0);
}

/* Asynchronous events */

void xenib_events_add(struct xenib_events *events, struct xenib_event_obj *obj)
{
	if (!events)
		return;
	spin_lock(&events->lock);
	hash_add(events->objs, &obj->node, obj->handle);
	spin_unlock(&events->lock);
}

void xenib_events_remove(struct xenib_events *events, struct xenib_event_obj *obj)
{
	if (!events)
		return;
	spin_lock(&events->lock);
	hash_del(&obj->node);
	spin_unlock(&events->lock);
}

void xenib_events_again(struct xenib_events *events, struct xenib_event_obj *obj)
{
	if (!events)
		return;
	spin_lock(&events->lock);
	obj->told = 0;
	spin_unlock(&events->lock);
}

/* With the lock held. */
static struct xenib_event_obj *find_obj(struct xenib_events *events, xen_vhca_handle_t handle,
					enum vhca_async_kind kind)
{
	struct xenib_event_obj *obj;

	hash_for_each_possible(events->objs, obj, node, handle) {
		if (obj->handle == handle && obj->kind == kind)
			return obj;
	}
	return NULL;
}

static void call_handler(const struct xenib_event_obj *obj, struct ib_event *event)
{
	switch (obj->kind) {
	case VHCA_ASYNC_CQ:
		event->element.cq = obj->cq;
		if (obj->cq->event_handler)
			obj->cq->event_handler(event, obj->cq->cq_context);
		break;
	case VHCA_ASYNC_QP:
		event->element.qp = obj->qp;
		if (obj->qp->event_handler)
			obj->qp->event_handler(event, obj->qp->qp_context);
		break;
	default:
		event->element.srq = obj->srq;
		if (obj->srq->event_handler)
			obj->srq->event_handler(event, obj->srq->srq_context);
		break;
	}
}

/* With the lock held. False: it was told already. */
static bool tell(struct xenib_event_obj *obj, struct ib_event *event)
{
	if (obj->told & BIT(event->event))
		return false;
	obj->told |= BIT(event->event);
	call_handler(obj, event);
	return true;
}

static enum xenib_events_count notify_obj(struct xenib_events *events, struct ib_event *event,
					  xen_vhca_handle_t handle, enum vhca_async_kind kind)
{
	enum xenib_events_count what = XENIB_EVENTS_IGNORED;
	struct xenib_event_obj *obj;

	spin_lock(&events->lock);
	obj = find_obj(events, handle, kind);
	if (obj)
		what = tell(obj, event) ? XENIB_EVENTS_ASYNCS : XENIB_EVENTS_REPEATED;
	spin_unlock(&events->lock);
	return what;
}

void xenib_events_last_wqe(struct xenib_events *events, struct xenib_event_obj *obj)
{
	struct ib_event event = {
		.device = obj->qp->device,
		.event = IB_EVENT_QP_LAST_WQE_REACHED,
	};

	if (!events)
		return;
	spin_lock(&events->lock);
	tell(obj, &event);
	spin_unlock(&events->lock);
}

/* Takes it out from where it waits, if it does. With the lock held. */
static bool port_event_drop(struct port_events *port, u8 type)
{
	unsigned int i;

	for (i = 0; i < port->count; i++) {
		if (port->waiting[i] != type)
			continue;
		port->count--;
		memmove(port->waiting + i, port->waiting + i + 1, port->count - i);
		return true;
	}
	return false;
}

/* Behind the others, also if one of its type waits already. */
static enum xenib_events_count port_event_add(struct port_events *port, u8 type)
{
	bool waits;

	spin_lock(&port->lock);
	waits = port_event_drop(port, type);
	port->waiting[port->count++] = type;
	spin_unlock(&port->lock);
	if (waits)
		return XENIB_EVENTS_REPEATED;
	schedule_delayed_work(&port->work, 0);
	return XENIB_EVENTS_ASYNCS;
}

static bool port_event_take(struct port_events *port, u8 *type)
{
	bool any;

	spin_lock(&port->lock);
	any = port->count;
	if (any) {
		*type = port->waiting[0];
		port_event_drop(port, *type);
	}
	spin_unlock(&port->lock);
	return any;
}

/* What may be told by now; and how long until there is more. */
static unsigned int port_burst(struct port_events *port)
{
	unsigned long intervals = (jiffies - port->since) / PORT_INTERVAL;

	port->since += intervals * PORT_INTERVAL;
	port->burst = min_t(unsigned long, port->burst + intervals, PORT_BURST);
	return port->burst;
}

static void port_work(struct work_struct *work)
{
	struct port_events *port = container_of(work, struct port_events, work.work);
	struct ib_event event = { .device = READ_ONCE(port->ibdev), .element.port_num = 1 };
	u8 type;

	while (event.device && port_burst(port) && port_event_take(port, &type)) {
		port->burst--;
		event.event = type;
		ib_dispatch_event(&event);
	}
	if (event.device && !port->burst)
		schedule_delayed_work(&port->work, PORT_INTERVAL);
}

/* enum xen_vhca_async_type is enum ib_event_type. */
static enum xenib_events_count notify_async(struct xenib_events *events, struct ib_device *ibdev,
					    const struct xen_vhca_async_event *from)
{
	enum vhca_async_kind kind = vhca_async_kind(from->type);
	struct ib_event event = { .device = ibdev, .event = from->type };

	switch (kind) {
	case VHCA_ASYNC_CQ:
	case VHCA_ASYNC_QP:
	case VHCA_ASYNC_SRQ:
		return notify_obj(events, &event, from->handle, kind);
	case VHCA_ASYNC_PORT:
	case VHCA_ASYNC_DEVICE:
		if (!READ_ONCE(events->port.ibdev))
			return XENIB_EVENTS_IGNORED;
		xenib_tables_changed(to_xdev(ibdev));
		return port_event_add(&events->port, from->type);
	default: /* of a protocol that is younger than we are */
		return XENIB_EVENTS_IGNORED;
	}
}

static void async_work(struct work_struct *work)
{
	struct xenib_events *events = container_of(work, struct xenib_events, work.work);
	struct ib_device *ibdev = READ_ONCE(events->ibdev);
	struct xen_vhca_async_event event;
	unsigned int i;
	int got = 0;

	if (!ibdev || events->broken)
		return;
	for (i = 0; i < XEN_VHCA_ASYNC_EVENTS; i++) {
		got = vhca_async_take(&events->async, &event);
		if (got <= 0)
			break;
		count(events, notify_async(events, ibdev, &event));
	}
	if (got < 0) {
		dev_err(&events->xbdev->dev, "the backend broke the event ring: closing\n");
		events->broken = true;
		events->fault(events->context);
	} else if (got) {
		schedule_delayed_work(&events->work, ASYNC_PAUSE);
	}
}

/*
 * Whether the backend has added anything since the last interrupt. The work item may have taken it
 * meanwhile; that does not make the interrupt one without cause.
 */
static bool read_ring(struct xenib_events *events)
{
	const struct xen_vhca_async_page *page = events->ring.page;
	u32 prod = READ_ONCE(page->prod);

	if (prod == events->prod)
		return false;
	events->prod = prod;
	schedule_delayed_work(&events->work, 0);
	return true;
}

void xenib_events_start(struct xenib_events *events, struct ib_device *ibdev)
{
	if (!events)
		return;
	WRITE_ONCE(events->port.ibdev, ibdev);
	WRITE_ONCE(events->ibdev, ibdev);
	schedule_delayed_work(&events->work, 0);
}

/* The other work item may start the port's again, but that finds nobody to tell. */
void xenib_events_stop_port(struct xenib_events *events)
{
	if (!events)
		return;
	WRITE_ONCE(events->port.ibdev, NULL);
	cancel_delayed_work_sync(&events->port.work);
}

/* The interrupt may start the work item again, but that finds nobody to tell. */
void xenib_events_stop(struct xenib_events *events)
{
	if (!events)
		return;
	WRITE_ONCE(events->ibdev, NULL);
	cancel_delayed_work_sync(&events->work);
	xenib_events_stop_port(events);
}

/* The channel */

static irqreturn_t events_interrupt(int irq, void *arg)
{
	struct channel *channel = arg;
	struct xenib_events *events = channel->events;
	unsigned int vector = channel - events->channels;
	bool any;

	any = notify_completions(events, vector);
	if (!vector)
		any |= read_ring(events);
	if (!any)
		count(events, XENIB_EVENTS_SPURIOUS);
	xen_irq_lateeoi(irq, any ? 0 : XEN_EOI_FLAG_SPURIOUS);
	return IRQ_HANDLED;
}

static int share_page(struct xenib_events *events, struct shared_page *shared)
{
	return xenbus_setup_ring(events->xbdev, GFP_KERNEL, &shared->page, 1, &shared->ref);
}

static void unshare_page(struct shared_page *shared)
{
	xenbus_teardown_ring(&shared->page, 1, &shared->ref);
}

static int bind_channel(struct xenib_events *events, unsigned int vector)
{
	struct channel *channel = &events->channels[vector];
	int err;

	channel->events = events;
	snprintf(channel->name, sizeof(channel->name), "xen-ibfront-events-%u", vector);
	err = xenbus_alloc_evtchn(events->xbdev, &channel->evtchn);
	if (err)
		return err;
	channel->irq = bind_evtchn_to_irqhandler_lateeoi(channel->evtchn, events_interrupt, 0,
							 channel->name, channel);
	if (channel->irq < 0) {
		xenbus_free_evtchn(events->xbdev, channel->evtchn);
		return channel->irq;
	}
	/* An administrator can choose another. A single one is where Xen has put it. */
	if (events->vectors > 1)
		irq_set_affinity_and_hint(channel->irq,
					  cpumask_of(cpumask_local_spread(vector, NUMA_NO_NODE)));
	return 0;
}

/* Those of the first so many vectors. */
static void unbind_channels(struct xenib_events *events, unsigned int count)
{
	while (count--) {
		if (events->vectors > 1)
			irq_update_affinity_hint(events->channels[count].irq, NULL);
		unbind_from_irqhandler(events->channels[count].irq, &events->channels[count]);
	}
}

struct xenib_events *xenib_events_create(struct xenbus_device *xbdev, unsigned int vectors,
					 void (*fault)(void *context), void *context)
{
	unsigned int bound;
	struct xenib_events *events;
	int err;

	events = kvzalloc(sizeof(*events), GFP_KERNEL);
	if (!events)
		return ERR_PTR(-ENOMEM);
	events->xbdev = xbdev;
	events->fault = fault;
	events->context = context;
	events->vectors = vectors;
	xa_init_flags(&events->cqs, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	INIT_DELAYED_WORK(&events->work, async_work);
	INIT_DELAYED_WORK(&events->port.work, port_work);
	spin_lock_init(&events->port.lock);
	events->port.burst = PORT_BURST;
	events->port.since = jiffies;
	spin_lock_init(&events->lock);
	hash_init(events->objs);

	err = share_page(events, &events->bits);
	if (err)
		goto err_free;
	err = share_page(events, &events->ring);
	if (err)
		goto err_unshare_bits;
	vhca_async_front_init(&events->async, events->ring.page);
	for (bound = 0; bound < vectors; bound++) {
		err = bind_channel(events, bound);
		if (err)
			goto err_unbind;
	}
	return events;

err_unbind:
	unbind_channels(events, bound);
	unshare_page(&events->ring);
err_unshare_bits:
	unshare_page(&events->bits);
err_free:
	kvfree(events);
	return ERR_PTR(err);
}

void xenib_events_destroy(struct xenib_events *events)
{
	if (!events)
		return;
	unbind_channels(events, events->vectors);
	/* Another frontend, which may come here next, might not know of it. */
	xenbus_rm(XBT_NIL, events->xbdev->nodename, XEN_VHCA_FIELD_EVENT_VECTORS);
	cancel_delayed_work_sync(&events->work);
	cancel_delayed_work_sync(&events->port.work);
	unshare_page(&events->ring);
	unshare_page(&events->bits);
	xa_destroy(&events->cqs);
	kvfree(events);
}

int xenib_events_publish(struct xenib_events *events, struct xenbus_device *xbdev,
			 struct xenbus_transaction xbt)
{
	const char *dir = xbdev->nodename;
	unsigned int vector;
	char key[32];
	int err;

	xenbus_rm(xbt, dir, XEN_VHCA_FIELD_EVENT_VECTORS);
	if (!events) {
		xenbus_rm(xbt, dir, XEN_VHCA_FIELD_CQ_EVENT_REF);
		xenbus_rm(xbt, dir, XEN_VHCA_FIELD_ASYNC_EVENT_REF);
		xenbus_rm(xbt, dir, XEN_VHCA_FIELD_EVENT_EVENT_CHANNEL);
		return 0;
	}
	err = xenbus_printf(xbt, dir, XEN_VHCA_FIELD_CQ_EVENT_REF, "%u", events->bits.ref);
	if (!err)
		err = xenbus_printf(xbt, dir, XEN_VHCA_FIELD_ASYNC_EVENT_REF, "%u",
				    events->ring.ref);
	if (!err)
		err = xenbus_printf(xbt, dir, XEN_VHCA_FIELD_EVENT_EVENT_CHANNEL, "%u",
				    events->channels[0].evtchn);
	for (vector = 1; !err && vector < events->vectors; vector++) {
		snprintf(key, sizeof(key), XEN_VHCA_FIELD_EVENT_CHANNEL_OF "%u", vector);
		err = xenbus_printf(xbt, dir, key, "%u", events->channels[vector].evtchn);
	}
	if (!err && events->vectors > 1)
		err = xenbus_printf(xbt, dir, XEN_VHCA_FIELD_EVENT_VECTORS, "%u", events->vectors);
	return err;
}
