/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * ibgrant_events.h - completion events by the module xen-ibgrant. fd is what ibgrant_events_open() has
 * returned; who closes it ends all of that.
 */
#ifndef XEN_IB_XEN_IBGRANT_EVENTS_H
#define XEN_IB_XEN_IBGRANT_EVENTS_H

#include <stdint.h>

#include "vhca/transport.h"

/*
 * ibgrant_events_open - of a descriptor of ibgrant_open(), or -1. A descriptor or -errno; -EOPNOTSUPP: no
 * module, or one that does not do that.
 */
int ibgrant_events_open(int grants, uint32_t bits, const uint32_t *ports, unsigned int vectors);

/* As the members of struct transport_ops. */
int ibgrant_watch(int fd, int channel, uint32_t bit, uint32_t vector);
void ibgrant_unwatch(int fd, uint32_t watch);
void ibgrant_notify(int fd, uint32_t vector);
unsigned int ibgrant_unread(int fd, uint32_t *watches, unsigned int n);
void ibgrant_told(int fd, struct transport_told *told);

#endif
