/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * buf.h - memory that the HCA reads and writes: queue buffers and pages of doorbell records.
 *
 * The kernel offers whole pages to the HCA's owner, so such memory is never part of the heap. To
 * offer some takes a command to dom0, and mapping it there; so buffers come out of arenas, of which
 * each is offered once (frontend/xenib-abi.h). A large buffer has a mapping of its own.
 */
#ifndef XENIB_BUF_H
#define XENIB_BUF_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ccan/list.h>

#define XENIB_PAGE_SIZE 4096

struct xenib_arena;

/* The arenas of one context. */
struct xenib_arenas {
	bool known; /* to the kernel; else each buffer has a mapping of its own */
	pthread_mutex_t lock;
	struct list_head list;
	size_t total; /* bytes of all */
};

struct xenib_buf {
	uint8_t *addr;             /* page aligned; NULL: no buffer */
	size_t size;               /* bytes, whole pages */
	struct xenib_arena *arena; /* that it is in, or NULL */
	uint8_t shift;             /* for the kernel: log2 of the arena's bytes, or 0 */
};

void xenib_arenas_init(struct xenib_arenas *arenas, bool known);

/** xenib_arenas_exit() - frees all arenas; by then no object of the context is left. */
void xenib_arenas_exit(struct xenib_arenas *arenas);

/**
 * xenib_buf_alloc() - allocates a buffer of at least size bytes, size > 0. They are zero.
 *
 * If ibv_fork_init() was called, the children of this process do not inherit it: the pages stay the
 * very ones that were pinned.
 *
 * Return: 0, or errno.
 */
int xenib_buf_alloc(struct xenib_arenas *arenas, struct xenib_buf *buf, size_t size);

/** xenib_buf_free() - returns a buffer, which the kernel knows no more; one without memory is fine. */
void xenib_buf_free(struct xenib_arenas *arenas, struct xenib_buf *buf);

#endif
