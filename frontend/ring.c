// SPDX-License-Identifier: GPL-2.0
/*
 * ring.c - the command channel to the backend.
 *
 * The peer is not trusted: a response is copied once, must answer a request that waits, and be well
 * formed (vhca_ring.h, vhca_check.h). One that is not ends the channel.
 */
#include <linux/bitmap.h>
#include <linux/freezer.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <xen/events.h>
#include <xen/grant_table.h>

#include "compat.h"
#include "ring.h"
#include "vhca_check.h"
#include "vhca_nodes.h"
#include "vhca_ring.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* How often a waiting command looks whether the backend is still there. */
#define BACKEND_CHECK (5 * HZ)

/* How long the backend need not know of what is posted. */
#define POST_DELAY msecs_to_jiffies(10)

#define MAX_RING_PAGES BIT(XEN_VHCA_MAX_RING_PAGE_ORDER)

/* A page shared with the backend. */
struct shared_page {
	void *page;
	grant_ref_t ref;
};

struct xenib_ring {
	struct xenbus_device *xbdev;
	void (*fault)(void *context);
	void *context;

	spinlock_t lock; /* all below, up to the wait queue */
	struct vhca_front front;
	struct xenib_cmd *waiting[VHCA_RING_MAX_ENTRIES]; /* by id, which is the slot */
	DECLARE_BITMAP(busy, VHCA_RING_MAX_ENTRIES);
	bool dead;
	struct work_struct *on_death; /* or NULL */
	bool may_post, unordered;     /* the backend knows of that */
	unsigned int posted;          /* on the ring, without a response */
	bool hidden;                  /* some of which the backend has not been told */
	struct delayed_work tell;
	struct list_head ended; /* posted commands that have a response, to be handed back */
	wait_queue_head_t slot_free;

	unsigned int slots;

	unsigned int order;
	void *sring;
	grant_ref_t sring_refs[MAX_RING_PAGES];
	struct shared_page directory;
	struct shared_page *data; /* of each slot */
	unsigned int data_pages;

	evtchn_port_t evtchn;
	int irq;
};

/* With the lock held. The command may be gone when this returns. */
static void finish_cmd(struct xenib_ring *ring, unsigned int slot, int error)
{
	struct xenib_cmd *cmd = ring->waiting[slot];

	ring->waiting[slot] = NULL;
	__clear_bit(slot, ring->busy);
	cmd->error = error;
	trace_xenib_cmd_done(ring->xbdev, &cmd->req, &cmd->rsp, error);
	if (cmd->posted) {
		ring->posted--;
		list_add_tail(&cmd->link, &ring->ended);
	} else {
		complete(&cmd->done);
	}
	wake_up(&ring->slot_free);
}

/* Without the lock, under which it was taken from the ring. */
static void hand_back(struct list_head *ended)
{
	struct xenib_cmd *cmd, *next;

	list_for_each_entry_safe(cmd, next, ended, link)
		cmd->posted(cmd);
}

static void kill_locked(struct xenib_ring *ring)
{
	unsigned int slot;

	ring->dead = true;
	for_each_set_bit(slot, ring->busy, ring->slots)
		finish_cmd(ring, slot, -EIO);
	wake_up_all(&ring->slot_free);
	if (ring->on_death)
		queue_work(system_dfl_wq, ring->on_death);
}

void xenib_ring_kill(struct xenib_ring *ring)
{
	unsigned long flags;
	LIST_HEAD(ended);

	spin_lock_irqsave(&ring->lock, flags);
	kill_locked(ring);
	list_splice_init(&ring->ended, &ended);
	spin_unlock_irqrestore(&ring->lock, flags);
	hand_back(&ended);
}

bool xenib_ring_is_dead(struct xenib_ring *ring)
{
	return READ_ONCE(ring->dead);
}

void xenib_ring_on_death(struct xenib_ring *ring, struct work_struct *work)
{
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	ring->on_death = work;
	if (work && ring->dead)
		queue_work(system_dfl_wq, work);
	spin_unlock_irqrestore(&ring->lock, flags);
}

/* A response, copied, to a request that waits. */
static int take_response(struct xenib_ring *ring, const struct xen_vhca_rsp *rsp)
{
	struct xenib_cmd *cmd = ring->waiting[rsp->id];
	int err;

	err = vhca_check_response(&cmd->req, rsp);
	if (err)
		return err;
	cmd->rsp = *rsp;
	if (cmd->answer && rsp->status == XEN_VHCA_OK)
		memcpy(cmd->answer, ring->data[rsp->id].page, cmd->answer_size);
	finish_cmd(ring, rsp->id, vhca_status_errno(rsp->status, rsp->hca_errno));
	return 0;
}

/*
 * Takes what has come. Every response frees a slot or ends the loop, so the peer cannot keep it
 * going. Returns an error if the channel has to end.
 */
static int take_responses(struct xenib_ring *ring, unsigned int *taken)
{
	struct xen_vhca_rsp rsp;
	int ret;

	do {
		while ((ret = vhca_front_next(&ring->front, &rsp)) > 0) {
			(*taken)++;
			ret = take_response(ring, &rsp);
			if (ret)
				return ret;
		}
	} while (!ret && vhca_front_more(&ring->front));
	return ret;
}

static irqreturn_t ring_interrupt(int irq, void *arg)
{
	struct xenib_ring *ring = arg;
	unsigned int taken = 0;
	unsigned long flags;
	LIST_HEAD(ended);
	int err = 0;

	spin_lock_irqsave(&ring->lock, flags);
	if (!ring->dead) {
		err = take_responses(ring, &taken);
		if (err)
			kill_locked(ring);
	}
	list_splice_init(&ring->ended, &ended);
	spin_unlock_irqrestore(&ring->lock, flags);
	hand_back(&ended);

	if (err) {
		dev_err_ratelimited(&ring->xbdev->dev, "the backend broke the protocol: closing\n");
		ring->fault(ring->context);
	}
	xen_irq_lateeoi(irq, taken ? 0 : XEN_EOI_FLAG_SPURIOUS);
	return IRQ_HANDLED;
}

/* With the lock held: into a slot. The backend does not see it yet. False if none is free. */
static bool put_locked(struct xenib_ring *ring, struct xenib_cmd *cmd)
{
	unsigned int slot = find_first_zero_bit(ring->busy, ring->slots);

	if (slot >= ring->slots)
		return false;

	__set_bit(slot, ring->busy);
	ring->waiting[slot] = cmd;
	cmd->req.id = slot;
	if (cmd->data)
		memcpy(ring->data[slot].page, cmd->data, cmd->data_size);
	trace_xenib_cmd_send(ring->xbdev, &cmd->req, cmd->data_size);
	vhca_front_put(&ring->front, &cmd->req);
	return true;
}

/* With the lock held: the backend sees all that was put. Returns whether it is to be notified. */
static bool show_locked(struct xenib_ring *ring)
{
	if (ring->hidden)
		cancel_delayed_work(&ring->tell);
	ring->hidden = false;
	return vhca_front_push(&ring->front);
}

static bool push_locked(struct xenib_ring *ring, struct xenib_cmd *cmd, bool *notify)
{
	if (ring->dead) {
		cmd->error = -EIO;
		complete(&cmd->done);
		return true;
	}
	if (!put_locked(ring, cmd))
		return false;
	*notify = show_locked(ring);
	return true;
}

/* Puts a command on the ring. False if no slot is free. */
static bool try_push(struct xenib_ring *ring, struct xenib_cmd *cmd)
{
	bool pushed, notify = false;
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	pushed = push_locked(ring, cmd, &notify);
	spin_unlock_irqrestore(&ring->lock, flags);

	if (notify)
		notify_remote_via_irq(ring->irq);
	return pushed;
}

/*
 * With the lock held: no command follows with which the backend could tell of what is posted. So
 * the last becomes one that it tells of at once. It is still done before any that follows.
 */
static bool show_posted_locked(struct xenib_ring *ring)
{
	vhca_front_unpost(&ring->front);
	return show_locked(ring);
}

void xenib_ring_tell(struct xenib_ring *ring)
{
	bool notify = false;
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	if (ring->hidden && !ring->dead)
		notify = show_posted_locked(ring);
	spin_unlock_irqrestore(&ring->lock, flags);
	if (notify)
		notify_remote_via_irq(ring->irq);
}

static void tell_work(struct work_struct *work)
{
	xenib_ring_tell(container_of(to_delayed_work(work), struct xenib_ring, tell));
}

/* With the lock held. Most slots are for those who wait. */
static bool may_post(const struct xenib_ring *ring)
{
	return ring->may_post && !ring->dead && ring->posted < ring->slots / 4;
}

bool xenib_cmd_post(struct xenib_ring *ring, struct xenib_cmd *cmd)
{
	unsigned long flags;
	bool put;

	cmd->req.flags = XEN_VHCA_REQ_POSTED;
	spin_lock_irqsave(&ring->lock, flags);
	put = may_post(ring) && put_locked(ring, cmd);
	if (put) {
		ring->posted++;
		if (!ring->hidden)
			schedule_delayed_work(&ring->tell, POST_DELAY);
		ring->hidden = true;
	}
	spin_unlock_irqrestore(&ring->lock, flags);
	if (!put)
		cmd->req.flags = 0;
	return put;
}

/* Whoever has something to send that needs this command's end waits for it. */
int xenib_cmd_send(struct xenib_ring *ring, struct xenib_cmd *cmd, bool killable)
{
	cmd->req.flags = ring->unordered ? XEN_VHCA_REQ_UNORDERED : 0;
	init_completion(&cmd->done);
	if (!killable) {
		wait_event_idle_exclusive(ring->slot_free, try_push(ring, cmd));
		return 0;
	}
	if (wait_event_killable_exclusive(ring->slot_free, try_push(ring, cmd)))
		return -EINTR;
	return 0;
}

/*
 * The watch on the backend's state normally ends the channel; but it is gone while we are removed,
 * and cannot fire when the backend's nodes are not there any more after a resume. A process that is
 * to be frozen, as the guest is to be suspended, holds that up for as long as it waits here; if it
 * does for too long, the guest is not suspended. The device would be lost to it anyway.
 */
static void check_backend(struct xenib_ring *ring)
{
	if (!freezing(current) && XENIB_OTHEREND_STATE(ring->xbdev) == XenbusStateConnected)
		return;
	xenib_ring_kill(ring);
	ring->fault(ring->context);
}

int xenib_cmd_wait(struct xenib_ring *ring, struct xenib_cmd *cmd)
{
	while (!wait_for_completion_timeout(&cmd->done, BACKEND_CHECK))
		check_backend(ring);
	return cmd->error;
}

int xenib_cmd_await(struct xenib_ring *ring, struct xenib_cmd *cmd)
{
	if (!completion_done(&cmd->done))
		xenib_ring_tell(ring); /* what is not hidden has a command behind it */
	return xenib_cmd_wait(ring, cmd);
}

int xenib_cmd_exec(struct xenib_ring *ring, struct xenib_cmd *cmd)
{
	int err;

	err = xenib_cmd_send(ring, cmd, true);
	if (err)
		return err;
	return xenib_cmd_wait(ring, cmd);
}

static bool still_there(const struct xen_vhca_rsp *rsp)
{
	return rsp->status == XEN_VHCA_E_BUSY || rsp->status == XEN_VHCA_E_HCA;
}

/* How the end of an object has ended. */
static int destroyed(struct xenib_ring *ring, const struct xenib_cmd *cmd)
{
	if (!cmd->error || xenib_ring_is_dead(ring))
		return 0;
	dev_warn_ratelimited(&ring->xbdev->dev, "operation %u on handle %#x: status %u, errno %u\n",
			     cmd->req.op, cmd->req.u.object.handle, cmd->rsp.status,
			     cmd->rsp.hca_errno);
	return still_there(&cmd->rsp) ? -EBUSY : 0;
}

int xenib_cmd_destroy(struct xenib_ring *ring, u8 op, xen_vhca_handle_t handle)
{
	struct xenib_cmd cmd = { .req.op = op, .req.u.object.handle = handle };

	xenib_cmd_send(ring, &cmd, false);
	xenib_cmd_wait(ring, &cmd);
	return destroyed(ring, &cmd);
}

/* The end of an object that is posted. */
struct retirement {
	struct xenib_cmd cmd;
	struct xenib_ring *ring;
	void (*gone)(void *context, u64 number);
	void *context;
	u64 number;
};

static void retired(struct xenib_cmd *cmd)
{
	struct retirement *r = container_of(cmd, struct retirement, cmd);

	if (!destroyed(r->ring, cmd) && r->gone)
		r->gone(r->context, r->number);
	kfree(r);
}

void xenib_cmd_retire(struct xenib_ring *ring, u8 op, xen_vhca_handle_t handle,
		      void (*gone)(void *context, u64 number), void *context, u64 number)
{
	struct retirement *r = kzalloc(sizeof(*r), GFP_KERNEL);

	if (r) {
		*r = (struct retirement){
			.cmd = { .req.op = op, .req.u.object.handle = handle, .posted = retired },
			.ring = ring,
			.gone = gone,
			.context = context,
			.number = number,
		};
		if (xenib_cmd_post(ring, &r->cmd))
			return;
		kfree(r);
	}
	if (!xenib_cmd_destroy(ring, op, handle) && gone)
		gone(context, number);
}

static int share_page(struct xenib_ring *ring, struct shared_page *shared)
{
	return xenbus_setup_ring(ring->xbdev, GFP_KERNEL, &shared->page, 1, &shared->ref);
}

static void unshare_page(struct shared_page *shared)
{
	xenbus_teardown_ring(&shared->page, 1, &shared->ref);
}

static void unshare_data(struct xenib_ring *ring)
{
	while (ring->data_pages)
		unshare_page(&ring->data[--ring->data_pages]);
	kfree(ring->data);
}

/* The data pages, and the directory that names them. */
static int share_data(struct xenib_ring *ring)
{
	u32 *refs = ring->directory.page;
	int err;

	ring->data = kcalloc(ring->slots, sizeof(*ring->data), GFP_KERNEL);
	if (!ring->data)
		return -ENOMEM;
	while (ring->data_pages < ring->slots) {
		struct shared_page *shared = &ring->data[ring->data_pages];

		err = share_page(ring, shared);
		if (err) {
			unshare_data(ring);
			return err;
		}
		refs[ring->data_pages++] = shared->ref;
	}
	return 0;
}

static int bind_events(struct xenib_ring *ring)
{
	int err;

	err = xenbus_alloc_evtchn(ring->xbdev, &ring->evtchn);
	if (err)
		return err;
	ring->irq = bind_evtchn_to_irqhandler_lateeoi(ring->evtchn, ring_interrupt, 0,
						      "xen-ibfront", ring);
	if (ring->irq < 0) {
		xenbus_free_evtchn(ring->xbdev, ring->evtchn);
		return ring->irq;
	}
	return 0;
}

struct xenib_ring *xenib_ring_create(struct xenbus_device *xbdev, unsigned int order,
				     void (*fault)(void *context), void *context)
{
	struct xenib_ring *ring;
	int err;

	ring = kvzalloc(sizeof(*ring), GFP_KERNEL);
	if (!ring)
		return ERR_PTR(-ENOMEM);
	ring->xbdev = xbdev;
	ring->fault = fault;
	ring->context = context;
	ring->order = order;
	spin_lock_init(&ring->lock);
	init_waitqueue_head(&ring->slot_free);
	INIT_DELAYED_WORK(&ring->tell, tell_work);
	INIT_LIST_HEAD(&ring->ended);
	ring->may_post = xenbus_read_unsigned(xbdev->otherend, XEN_VHCA_FIELD_FEATURE_POSTED, 0);
	ring->unordered =
		xenbus_read_unsigned(xbdev->otherend, XEN_VHCA_FIELD_FEATURE_UNORDERED, 0);

	err = xenbus_setup_ring(xbdev, GFP_KERNEL, &ring->sring, 1U << order, ring->sring_refs);
	if (err)
		goto err_free;
	vhca_front_init(&ring->front, ring->sring, order);
	ring->slots = vhca_ring_entries(order);

	err = share_page(ring, &ring->directory);
	if (err)
		goto err_unshare_ring;
	err = share_data(ring);
	if (err)
		goto err_unshare_directory;
	err = bind_events(ring);
	if (err)
		goto err_unshare_data;
	return ring;

err_unshare_data:
	unshare_data(ring);
err_unshare_directory:
	unshare_page(&ring->directory);
err_unshare_ring:
	xenbus_teardown_ring(&ring->sring, 1U << order, ring->sring_refs);
err_free:
	kvfree(ring);
	return ERR_PTR(err);
}

void xenib_ring_destroy(struct xenib_ring *ring)
{
	xenib_ring_kill(ring);
	cancel_delayed_work_sync(&ring->tell);
	unbind_from_irqhandler(ring->irq, ring);
	unshare_data(ring);
	unshare_page(&ring->directory);
	xenbus_teardown_ring(&ring->sring, 1U << ring->order, ring->sring_refs);
	kvfree(ring);
}

int xenib_ring_publish(struct xenib_ring *ring, struct xenbus_transaction xbt)
{
	const char *dir = ring->xbdev->nodename;
	unsigned int i;
	char node[16];
	int err;

	err = xenbus_printf(xbt, dir, XEN_VHCA_FIELD_RING_PAGE_ORDER, "%u", ring->order);
	for (i = 0; !err && i < 1U << ring->order; i++) {
		snprintf(node, sizeof(node), XEN_VHCA_FIELD_RING_REF "%u", i);
		err = xenbus_printf(xbt, dir, node, "%u", ring->sring_refs[i]);
	}
	if (!err)
		err = xenbus_printf(xbt, dir, XEN_VHCA_FIELD_DATA_DIR_REF, "%u",
				    ring->directory.ref);
	if (!err)
		err = xenbus_printf(xbt, dir, XEN_VHCA_FIELD_EVENT_CHANNEL, "%u", ring->evtchn);
	return err;
}
