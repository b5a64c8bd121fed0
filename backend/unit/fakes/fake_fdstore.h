/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * fake_fdstore.h - the file descriptor store as systemd has it: what comes at NOTIFY_SOCKET, and what the next program
 * is started with. A file that is there already is not stored again, whatever its name.
 */
#ifndef XEN_IB_FAKE_FDSTORE_H
#define XEN_IB_FAKE_FDSTORE_H

#include <stdbool.h>

#define FAKE_FDSTORE_MOST 512

/* fake_fdstore_open - at a path. The descriptor to poll, or -1. */
int fake_fdstore_open(const char *path);

/* fake_fdstore_receive - takes what has come. Returns the last text that was no matter of the store, or NULL. */
const char *fake_fdstore_receive(void);

/* fake_fdstore_count - how many descriptors there are; fake_fdstore_find - the one of a name, or -1. */
unsigned int fake_fdstore_count(void);
int fake_fdstore_find(const char *name);

/* fake_fdstore_pass - makes this process one that can execute the program, or be it. 0 or -1. */
int fake_fdstore_pass(unsigned int most);

#endif
