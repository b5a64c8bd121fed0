/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * fake_store.h - for the tests: libxenstore with a table behind it, that has permissions, watches and
 * transactions as xenstored has them. There is one store, whatever handle is used.
 */
#ifndef XEN_IB_FAKE_STORE_H
#define XEN_IB_FAKE_STORE_H

#include <stdbool.h>
#include <stddef.h>

#define STORE_NODES 512
#define STORE_PATH 192
#define STORE_VALUE 128
#define STORE_WATCHES 32
#define STORE_FD 999 /* what xs_fileno() says; it is none */

struct store_node {
	size_t length, size;        /* of path and value */
	unsigned int owner, reader; /* as of the node above, if nobody has said */
	char path[STORE_PATH], value[STORE_VALUE];
};

/* What fails, below one path (NULL: anywhere), and with which errno; 0: it does not. */
extern struct store_faults {
	const char *path;
	int open, read, write, watch, permissions;
} store_faults;

/* Is called before each call of the library, if it is not NULL. */
extern void (*store_called)(void);

/* store_clear - nothing is in it, nobody watches, and nothing fails. */
void store_clear(void);

/* What others do: the watches see it, and nothing of it fails. */
void store_put(const char *path, const char *value);
void store_put_bytes(const char *path, const void *value, size_t size);
void store_remove(const char *path);
void store_fire(const char *special); /* "@releaseDomain" */

/* Looking at it. Nodes are valid until something is changed. */
struct store_node *store_find(const char *path);
bool store_is(const char *path, const char *value);
bool store_permits(const char *path, unsigned int owner, unsigned int reader);
bool store_below(const char *path, const char *dir); /* or that itself */
bool store_watched(const char *path);
unsigned int store_nodes(void);
unsigned int store_events(void);  /* that nobody has taken yet */
unsigned int store_handles(void); /* that are open */

#endif
