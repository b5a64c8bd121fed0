/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * queue_mem.h - where a CQ, QP or SRQ lies: its buffer and its doorbell record. They are in the context's
 * arenas, or in memory that the program gives, by the allocator of a parent domain.
 */
#ifndef XENIB_QUEUE_MEM_H
#define XENIB_QUEUE_MEM_H

#include "buf.h"

struct ibv_pd;
struct xenib_context;
struct xenib_pd;

/* What an allocator is asked for: numbers that libmlx5 has, too (MLX5DV_RES_TYPE_*). */
enum xenib_resource {
	XENIB_RESOURCE_QP = 1,
	XENIB_RESOURCE_DBR = 3,
	XENIB_RESOURCE_SRQ = 4,
	XENIB_RESOURCE_CQ = 5,
};

struct xenib_queue_buf {
	struct xenib_buf buf;
	struct xenib_pd *owner; /* that has given it; NULL: nobody has */
};

struct xenib_queue_mem {
	enum xenib_resource resource;
	struct xenib_pd *domain; /* the parent domain that it is in, or NULL */
	struct xenib_queue_buf buf;
	struct xenib_pd *dbrec_owner;
	__be32 *dbrec;
	uint8_t dbrec_shift; /* for the kernel, as that of the buffer */
};

/**
 * xenib_queue_mem_alloc() - memory for a queue, which is zero.
 * @pd: that the queue is made in; NULL: none
 * @size: of the buffer, more than 0
 *
 * Return: 0, or errno.
 */
int xenib_queue_mem_alloc(struct xenib_context *ctx, struct xenib_queue_mem *mem, struct ibv_pd *pd,
			  enum xenib_resource resource, size_t size);

/** xenib_queue_mem_free() - returns it, once the kernel has no such queue. */
void xenib_queue_mem_free(struct xenib_context *ctx, struct xenib_queue_mem *mem);

/** xenib_queue_buf_alloc() - another buffer for the same queue. */
int xenib_queue_buf_alloc(struct xenib_context *ctx, const struct xenib_queue_mem *mem,
			  struct xenib_queue_buf *buf, size_t size);

/** xenib_queue_buf_free() - returns a buffer that is in no use. */
void xenib_queue_buf_free(struct xenib_context *ctx, const struct xenib_queue_mem *mem,
			  struct xenib_queue_buf *buf);

#endif
