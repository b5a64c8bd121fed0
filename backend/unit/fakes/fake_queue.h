/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * fake_queue.h - for the fake HCA: an event descriptor as the kernel's uverbs has them. Nothing
 * here locks.
 */
#ifndef XEN_IB_FAKE_QUEUE_H
#define XEN_IB_FAKE_QUEUE_H

#include "hca/hca.h"

struct fake_queue {
	int fd; /* readable when there is something; -1: nobody reads, and nothing is kept */
	struct hca_event *events;
	unsigned int first, n, room;
};

void fake_queue_init(struct fake_queue *queue, bool used);
void fake_queue_free(struct fake_queue *queue);
void fake_queue_put(struct fake_queue *queue, uint64_t user, uint32_t type);
int fake_queue_get(struct fake_queue *queue, struct hca_event *event);        /* 1, or 0 */
int fake_queue_peek(const struct fake_queue *queue, struct hca_event *event); /* it stays */

/* Forgets the events of an object that is destroyed. */
void fake_queue_drop(struct fake_queue *queue, uint64_t user);

#endif
