/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * buf.h - memory that the HCA reads and writes: queue buffers and pages of doorbell records.
 *
 * The kernel offers whole pages to the HCA's owner, so such memory is never part of the heap: a
 * buffer has pages of its own. They are zero at first.
 */
#ifndef XENIB_BUF_H
#define XENIB_BUF_H

#include <stddef.h>
#include <stdint.h>

#define XENIB_PAGE_SIZE 4096

struct xenib_buf {
	uint8_t *addr; /* page aligned; NULL: no buffer */
	size_t size;   /* bytes, whole pages */
};

/**
 * xenib_buf_alloc() - allocates a buffer of at least size bytes, size > 0.
 *
 * If ibv_fork_init() was called, the children of this process do not inherit it: the pages stay the
 * very ones that were pinned.
 *
 * Return: 0, or errno.
 */
int xenib_buf_alloc(struct xenib_buf *buf, size_t size);

/** xenib_buf_free() - returns a buffer; one without memory is fine. */
void xenib_buf_free(struct xenib_buf *buf);

#endif
