/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * fdstore.h - descriptors that outlive the supervisor: systemd keeps them, by name, in the service's file
 * descriptor store, and gives them to the next supervisor.
 *
 * systemd keeps an open file once, under its first name, whatever it is told later. So what is stored is never
 * renamed, and no file is stored twice.
 */
#ifndef XEN_IB_SUPERVISOR_FDSTORE_H
#define XEN_IB_SUPERVISOR_FDSTORE_H

#include <stdbool.h>

/*
 * fdstore_load - calls fn for each descriptor of the store, which is fn's then. Once, before the others.
 * 0 or -errno.
 */
typedef void fdstore_fn(void *to, const char *name, int fd);
int fdstore_load(fdstore_fn *fn, void *to);

/* fdstore_exists - without one (no systemd, or older than 254) fdstore_put() and fdstore_remove() do nothing. */
bool fdstore_exists(void);

/*
 * fdstore_put - stores a descriptor, which stays the caller's, under a name that is not there. 0 or -errno;
 * -ENOSPC: the store is full.
 */
int fdstore_put(const char *name, int fd);

/* fdstore_remove - of what is in the store. */
void fdstore_remove(const char *name);

#endif
