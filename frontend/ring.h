/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ring.h - the command channel to the backend: a ring, a data page for each request slot, an event
 * channel. Many commands may be under way; each caller sleeps on its own.
 */
#ifndef XENIB_RING_H
#define XENIB_RING_H

#include <linux/completion.h>
#include <linux/workqueue.h>
#include <xen/xenbus.h>

#include "vhca_response.h"

struct xenib_ring;

/*
 * One command. The caller fills req.op, req.u and, for commands that have one, data or answer; all
 * else is zero. It must live until xenib_cmd_wait() has returned.
 */
struct xenib_cmd {
	struct xen_vhca_req req;
	struct xen_vhca_rsp rsp; /* well formed; of use after success */
	const void *data;        /* goes into the slot's data page */
	size_t data_size;        /* at most XEN_VHCA_PAGE_SIZE */
	void *answer;            /* is copied out of the slot's data page */
	size_t answer_size;
	int error;
	struct completion done;
	void (*posted)(struct xenib_cmd *cmd); /* see xenib_cmd_post() */
	struct list_head link;
};

/*
 * A channel to the backend of this device, with 2^order ring pages, and everything of it granted.
 * fault is called, perhaps in interrupt context, when the peer breaks the protocol or is found
 * gone; the channel is dead then. Returns an ERR_PTR.
 */
struct xenib_ring *xenib_ring_create(struct xenbus_device *xbdev, unsigned int order,
				     void (*fault)(void *context), void *context);

/* Ends the grants (pages still in use by the peer are never reused) and frees. None may wait. */
void xenib_ring_destroy(struct xenib_ring *ring);

/* Writes the channel's nodes into the frontend's directory. */
int xenib_ring_publish(struct xenib_ring *ring, struct xenbus_transaction xbt);

/* Fails all commands that wait, and all that come: the backend will not answer any more. */
void xenib_ring_kill(struct xenib_ring *ring);
bool xenib_ring_is_dead(struct xenib_ring *ring);

/*
 * The work to be queued when the channel dies, and at once if it has; NULL: none any more. There is
 * one for a channel.
 */
void xenib_ring_on_death(struct xenib_ring *ring, struct work_struct *work);

/*
 * Sends a command. Waits for a free slot: with killable, no longer than the process lives.
 * Returns 0 or -EINTR; every command sent must be waited for.
 */
int xenib_cmd_send(struct xenib_ring *ring, struct xenib_cmd *cmd, bool killable);

/*
 * Waits for the answer: no signal ends the wait, because the backend may have done what was asked
 * for, and only the answer says what has to be undone. A backend that has gone ends it.
 * Returns 0, -EIO for a dead channel, or the errno of the status as in vhca_response.h.
 */
int xenib_cmd_wait(struct xenib_ring *ring, struct xenib_cmd *cmd);

/* Both. For commands that make something. */
int xenib_cmd_exec(struct xenib_ring *ring, struct xenib_cmd *cmd);

/*
 * Posts a command: req.op is one that the protocol lets be posted. Nobody waits for it; the
 * backend has done it before it begins with whatever is sent later. It is told of it with the
 * next command, or a few milliseconds later, so this costs next to nothing. Returns false if that
 * cannot be done now, or not with this backend: the caller then sends it and waits. Else
 * cmd->posted is called once, perhaps in interrupt context: cmd->error says how it has ended, and
 * nothing of the ring needs the command any more.
 */
bool xenib_cmd_post(struct xenib_ring *ring, struct xenib_cmd *cmd);

/*
 * xenib_cmd_wait() for a command that was posted, and whose posted() completes done. The backend is
 * told of it now.
 */
int xenib_cmd_await(struct xenib_ring *ring, struct xenib_cmd *cmd);

/* The backend is told now of what is posted, and responds at once: somebody waits for it. */
void xenib_ring_tell(struct xenib_ring *ring);

/*
 * Sends op for an object that is to go away: a *_FREE, *_DESTROY, MR_DEREG, CTX_CLOSE. Returns
 * -EBUSY if the backend says that the object is in use, or that the HCA would not let it go.
 * Success in all other cases: the object is gone, or went with the backend.
 *
 * Where users are counted here (everything but MRs, to which memory windows may be bound), -EBUSY
 * is the backend's mistake. It must not keep anything of ours: the RDMA core forgets an object of a
 * process that ends, and frees what the object needs, whether the driver agrees or not.
 */
int xenib_cmd_destroy(struct xenib_ring *ring, u8 op, xen_vhca_handle_t handle);

/*
 * The same for an object that the HCA does nothing with any more, and for whose end nobody need
 * wait: the command is posted if it can be.
 * @gone: NULL, or called with context once the object is gone, perhaps in interrupt context. It
 * is not called if the object is still there.
 */
void xenib_cmd_retire(struct xenib_ring *ring, u8 op, xen_vhca_handle_t handle,
		      void (*gone)(void *context, u64 number), void *context, u64 number);

#endif
