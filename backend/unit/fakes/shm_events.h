/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * shm_events.h - what xen-ibgrant does of events, without a kernel: the fake HCA calls when a channel has
 * something, bits are set and eventfds rung. There is no pace, and what is unread is said at once.
 */
#ifndef XEN_IB_SHM_EVENTS_H
#define XEN_IB_SHM_EVENTS_H

#include "vhca/transport.h"

struct shm_events;

/* @bits: the page; @channels: an eventfd for each vector */
struct shm_events *shm_events_new(void *bits, const int *channels);
void shm_events_free(struct shm_events *e);

/* shm_events_woken - the channel has one more. Whoever watches it tells the guest, in this thread. */
void shm_events_woken(struct shm_events *e, int channel);

/* As the members of struct transport_ops. */
int shm_events_watch(struct shm_events *e, int channel, uint32_t bit, uint32_t vector);
void shm_events_unwatch(struct shm_events *e, uint32_t watch);
int shm_events_fd(const struct shm_events *e);
unsigned int shm_events_unread(struct shm_events *e, uint32_t *watches, unsigned int n);
void shm_events_told(struct shm_events *e, struct transport_told *told);

#endif
