// SPDX-License-Identifier: GPL-2.0
/*
 * watch.c - a completion channel of uverbs, heard from the interrupt.
 *
 * uverbs keeps an event for who reads the channel, and wakes whoever waits for it. A poll table of
 * our own hangs a callback into that queue, as KVM's irqfd does. It runs where the HCA's driver
 * tells of the completion, with interrupts off and the queue's lock held, so whoever has taken that
 * lock to take the callback out knows that it does not run any more.
 *
 * The watch has a reference of the file. So the queue is there as long as the watch is, in whatever
 * order descriptors, contexts and processes end. That is known of uverbs alone; others free queues
 * that have somebody in them (POLLFREE). So no other file is watched.
 *
 * A wake-up calls all callbacks of its queue with interrupts off. So each queue has one of ours at
 * most, and an event costs the same however many watches a process has.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/string.h>

#include "events.h"

static int woken(wait_queue_entry_t *entry, unsigned int mode, int sync, void *key)
{
	ibgrant_events_happened(container_of(entry, struct ibgrant_watch, entry));
	return 0;
}

/* Not beside another one of ours, whichever file that one is of. */
static bool add_alone(wait_queue_head_t *queue, wait_queue_entry_t *entry)
{
	wait_queue_entry_t *other;
	bool alone = true;

	spin_lock_irq(&queue->lock);
	list_for_each_entry(other, &queue->head, entry) {
		if (other->func == woken) {
			alone = false;
			break;
		}
	}
	if (alone)
		__add_wait_queue(queue, entry);
	spin_unlock_irq(&queue->lock);
	return alone;
}

static void hang_in(struct file *file, wait_queue_head_t *queue, poll_table *table)
{
	struct ibgrant_watch *watch = container_of(table, struct ibgrant_watch, table);

	if (!watch->queues++ && add_alone(queue, &watch->entry))
		watch->queue = queue;
}

static bool is_of_uverbs(const struct file *file)
{
	const struct module *owner = file->f_op->owner;

	return owner && !strcmp(module_name((struct module *)owner), "ib_uverbs");
}

int ibgrant_watch_begin(struct ibgrant_watch *watch, int fd)
{
	__poll_t ready;
	int err = -EINVAL;

	watch->file = fget(fd);
	if (!watch->file)
		return -EBADF;
	if (!is_of_uverbs(watch->file))
		goto err_put;
	init_waitqueue_func_entry(&watch->entry, woken);
	init_poll_funcptr(&watch->table, hang_in);
	ready = vfs_poll(watch->file, &watch->table);
	if (watch->queues != 1) /* the device itself has none */
		goto err_end;
	err = -EBUSY;
	if (!watch->queue)
		goto err_put;
	if (ready & EPOLLIN)
		ibgrant_events_happened(watch);
	return 0;

err_end:
	if (watch->queue)
		remove_wait_queue(watch->queue, &watch->entry);
err_put:
	fput(watch->file);
	return err;
}

void ibgrant_watch_end(struct ibgrant_watch *watch)
{
	remove_wait_queue(watch->queue, &watch->entry);
	fput(watch->file);
}
