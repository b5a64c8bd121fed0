/* SPDX-License-Identifier: GPL-2.0 */
/*
 * events.h - what events.c and watch.c of xen-ibgrant share.
 */
#ifndef XEN_IBGRANT_EVENTS_H
#define XEN_IBGRANT_EVENTS_H

#include <linux/list.h>
#include <linux/poll.h>
#include <linux/types.h>
#include <linux/wait.h>

struct file;
struct ibgrant_events;

/* One completion channel, of one CQ. Who hangs in its queue has a reference of the file. */
struct ibgrant_watch {
	struct ibgrant_events *events;
	struct file *file;
	wait_queue_head_t *queue; /* where it hangs; NULL: nowhere */
	wait_queue_entry_t entry;
	poll_table table;
	unsigned int queues;
	u32 id, bit, vector;

	/* of events.c: */
	struct list_head link; /* of those with something unread */
	u32 unread;
};

/**
 * ibgrant_watch_begin() - from now on ibgrant_events_happened() is called for each event; for those
 * that are there it has been. The rest of the watch is ready, and it has an id.
 *
 * Return: 0; -EBADF; -EINVAL: not a channel of uverbs; -EBUSY: it has a watch.
 */
int ibgrant_watch_begin(struct ibgrant_watch *watch, int fd);

/** ibgrant_watch_end() - it is not called any more, and is not at work. */
void ibgrant_watch_end(struct ibgrant_watch *watch);

/** ibgrant_events_happened() - the watch's channel has one more. In interrupts. */
void ibgrant_events_happened(struct ibgrant_watch *watch);

#endif
