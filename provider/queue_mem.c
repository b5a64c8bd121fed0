// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * queue_mem.c - memory of queues, see queue_mem.h.
 *
 * The HCA's owner can read and write all pages that have something of a queue in them, so an allocator is
 * always asked for whole pages.
 */
#include <errno.h>
#include <string.h>

#include "context.h"
#include "pd.h"
#include "queue_mem.h"

static uint64_t type_of(enum xenib_resource resource)
{
	return (uint64_t)RDMA_DRIVER_MLX5 << 32 | resource;
}

static void give_back(struct xenib_pd *owner, void *addr, enum xenib_resource resource)
{
	owner->free(&owner->pd, owner->pd_context, addr, type_of(resource));
}

/* Of a domain's allocator. *addr is NULL where there is none, or where it leaves that to us. */
static int ask_owner(struct xenib_pd *owner, enum xenib_resource resource, size_t size, void **addr)
{
	*addr = NULL;
	if (!owner || !owner->alloc)
		return 0;
	size = (size + XENIB_PAGE_SIZE - 1) & ~(size_t)(XENIB_PAGE_SIZE - 1);
	*addr = owner->alloc(&owner->pd, owner->pd_context, size, XENIB_PAGE_SIZE,
			     type_of(resource));
	if (!*addr)
		return ENOMEM;
	if (*addr == IBV_ALLOCATOR_USE_DEFAULT) {
		*addr = NULL;
		return 0;
	}

	if ((uintptr_t)*addr % XENIB_PAGE_SIZE) {
		give_back(owner, *addr, resource);
		return EINVAL;
	}
	memset(*addr, 0, size);
	return 0;
}

int xenib_queue_buf_alloc(struct xenib_context *ctx, const struct xenib_queue_mem *mem,
			  struct xenib_queue_buf *buf, size_t size)
{
	void *addr;
	int err;

	*buf = (struct xenib_queue_buf){};
	err = ask_owner(mem->domain, mem->resource, size, &addr);
	if (err)
		return err;
	if (!addr)
		return xenib_buf_alloc(&ctx->arenas, &buf->buf, size);
	buf->owner = mem->domain;
	buf->buf.addr = addr;
	return 0;
}

void xenib_queue_buf_free(struct xenib_context *ctx, const struct xenib_queue_mem *mem,
			  struct xenib_queue_buf *buf)
{
	if (buf->owner)
		give_back(buf->owner, buf->buf.addr, mem->resource);
	else
		xenib_buf_free(&ctx->arenas, &buf->buf);
}

static int alloc_dbrec(struct xenib_context *ctx, struct xenib_queue_mem *mem)
{
	void *addr;
	int err;

	err = ask_owner(mem->domain, XENIB_RESOURCE_DBR, XENIB_PAGE_SIZE, &addr);
	if (err)
		return err;
	if (addr) {
		mem->dbrec_owner = mem->domain;
		mem->dbrec = addr;
		return 0;
	}
	mem->dbrec = xenib_dbrec_alloc(&ctx->dbrecs, &mem->dbrec_shift);
	return mem->dbrec ? 0 : errno;
}

int xenib_queue_mem_alloc(struct xenib_context *ctx, struct xenib_queue_mem *mem, struct ibv_pd *pd,
			  enum xenib_resource resource, size_t size)
{
	int err;

	*mem = (struct xenib_queue_mem){
		.resource = resource,
		.domain = pd && to_xpd(pd)->parent ? to_xpd(pd) : NULL,
	};
	err = xenib_queue_buf_alloc(ctx, mem, &mem->buf, size);
	if (err)
		return err;
	err = alloc_dbrec(ctx, mem);
	if (err) {
		xenib_queue_buf_free(ctx, mem, &mem->buf);
		return err;
	}
	if (mem->domain)
		atomic_fetch_add(&mem->domain->users, 1);
	return 0;
}

void xenib_queue_mem_free(struct xenib_context *ctx, struct xenib_queue_mem *mem)
{
	if (mem->dbrec_owner)
		give_back(mem->dbrec_owner, mem->dbrec, XENIB_RESOURCE_DBR);
	else
		xenib_dbrec_free(&ctx->dbrecs, mem->dbrec);
	xenib_queue_buf_free(ctx, mem, &mem->buf);
	if (mem->domain)
		atomic_fetch_sub(&mem->domain->users, 1);
}
