// SPDX-License-Identifier: GPL-2.0
/*
 * queue_mem.c - where a CQ, QP or SRQ lies: the one place where this is gathered, and returned.
 */
#include "xenib.h"

static int get_uar(struct xenib_context *ctx, struct xenib_queue_mem *mem, u32 index)
{
	mem->uar = xenib_uar_get(ctx, index);
	if (!mem->uar)
		return xenib_refuse(ctx->dev, -EINVAL, "no doorbell page has index %u", index);
	return 0;
}

static void put_uar(struct xenib_queue_mem *mem)
{
	if (mem->uar)
		xenib_uar_put(mem->uar);
	mem->uar = NULL;
}

int xenib_queue_mem_get(struct xenib_context *ctx, struct xenib_queue_mem *mem,
			const struct xenib_queue_place *at)
{
	int err;

	*mem = (struct xenib_queue_mem){ .ctx = ctx };
	if (at->has_uar) {
		err = get_uar(ctx, mem, at->uar);
		if (err)
			return err;
	}
	err = xenib_dbr_get(ctx, &mem->dbr, at->db_addr, at->db_shift);
	if (err)
		goto err_put_uar;
	if (at->length) {
		err = xenib_buf_get(ctx, &mem->buf, at->buf_addr, at->length, at->buf_shift);
		if (err)
			goto err_put_dbr;
	}
	return 0;

err_put_dbr:
	xenib_arena_addr_put(ctx, &mem->dbr);
err_put_uar:
	put_uar(mem);
	return err;
}

int xenib_queue_mem_get_kernel(struct xenib_context *ctx, struct xenib_queue_mem *mem,
			       struct xenib_uar *uar, size_t length)
{
	int err;

	*mem = (struct xenib_queue_mem){ .ctx = ctx };
	err = xenib_arena_create_kernel(ctx, &mem->buf, &mem->dbr, length);
	if (err)
		return err;
	if (uar)
		xenib_uar_hold(uar);
	mem->uar = uar;
	return 0;
}

void xenib_queue_mem_put(struct xenib_queue_mem *mem)
{
	xenib_arena_addr_put(mem->ctx, &mem->buf);
	xenib_arena_addr_put(mem->ctx, &mem->dbr);
	put_uar(mem);
}
