// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fake_queue.c - see fake_queue.h.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "unit/fakes/fake_queue.h"

void fake_queue_init(struct fake_queue *queue, bool used)
{
	memset(queue, 0, sizeof(*queue));
	queue->fd = used ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1;
	if (used && queue->fd < 0)
		abort();
}

void fake_queue_free(struct fake_queue *queue)
{
	if (queue->fd >= 0)
		close(queue->fd);
	free(queue->events);
}

static void make_room(struct fake_queue *queue)
{
	if (queue->n)
		memmove(queue->events, queue->events + queue->first,
			queue->n * sizeof(queue->events[0]));
	queue->first = 0;
	if (queue->n < queue->room / 2)
		return;
	queue->room = queue->room * 2 + 16;
	queue->events = realloc(queue->events, queue->room * sizeof(queue->events[0]));
	if (!queue->events)
		abort();
}

void fake_queue_put(struct fake_queue *queue, uint64_t user, uint32_t type)
{
	if (queue->fd < 0)
		return;
	if (queue->first + queue->n == queue->room)
		make_room(queue);
	queue->events[queue->first + queue->n++] = (struct hca_event){ type, user };
	eventfd_write(queue->fd, 1);
}

int fake_queue_get(struct fake_queue *queue, struct hca_event *event)
{
	eventfd_t count;

	if (!queue->n) {
		eventfd_read(queue->fd, &count);
		return 0;
	}
	*event = queue->events[queue->first++];
	queue->n--;
	return 1;
}

int fake_queue_peek(const struct fake_queue *queue, struct hca_event *event)
{
	if (queue->n)
		*event = queue->events[queue->first];
	return queue->n > 0;
}

void fake_queue_drop(struct fake_queue *queue, uint64_t user)
{
	unsigned int i, kept = queue->first;

	for (i = queue->first; i < queue->first + queue->n; i++)
		if (queue->events[i].user != user)
			queue->events[kept++] = queue->events[i];
	queue->n = kept - queue->first;
}
