/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * xenbus.h - nodes of xenstore, read and written by directory and key, and the states of a device.
 */
#ifndef XEN_IB_XEN_XENBUS_H
#define XEN_IB_XEN_XENBUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xenstore.h>

#define DOMAINS 32768 /* Xen has no more */

/* enum xenbus_state of xen/io/xenbus.h, with the names of the protocol's state diagram. */
enum xb_state {
	XB_UNKNOWN = 0,
	XB_INITIALISING = 1,
	XB_INIT_WAIT = 2,
	XB_INITIALISED = 3,
	XB_CONNECTED = 4,
	XB_CLOSING = 5,
	XB_CLOSED = 6,
};

#define XB_PATH_MAX 256 /* longer ones are of nobody that we serve */

/* xb_read - a node that fits, as a string, or false. dir NULL: of our own domain. */
bool xb_read(struct xs_handle *xs, const char *dir, const char *key, char *value, size_t size);

/* xb_read_number - a node that is a decimal number up to most, and nothing else. */
bool xb_read_number(struct xs_handle *xs, const char *dir, const char *key, uint64_t most,
		    uint64_t *value);

/* xb_number - whether text is the number of a domain or device, decimal, and nothing else. */
bool xb_number(const char *text, unsigned int *number);

/* xb_exists - whether there is such a node that we may read. */
bool xb_exists(struct xs_handle *xs, const char *path);

/*
 * xb_each - calls fn for each node in a directory whose name is a decimal number, as we would write it
 * ourselves, and for no other. fn may change the directory.
 */
typedef void xb_each_fn(void *context, uint64_t number);
void xb_each(struct xs_handle *xs, const char *dir, xb_each_fn *fn, void *context);

/* xb_write - false, with a line in the log, if that fails. */
__attribute__((format(printf, 4, 5))) bool xb_write(struct xs_handle *xs, const char *dir,
						    const char *key, const char *format, ...);

enum xb_state xb_state(struct xs_handle *xs, const char *dir);
bool xb_set_state(struct xs_handle *xs, const char *dir, enum xb_state state);

/* xb_drain - forgets the watch events that have come; false if there were none. */
bool xb_drain(struct xs_handle *xs);

#endif
