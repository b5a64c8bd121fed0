/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * context.h - an opened device: what the kernel said about it, and what its objects share.
 */
#ifndef XENIB_CONTEXT_H
#define XENIB_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/driver.h>

#include "dbrec.h"
#include "table.h"
#include "uar.h"

struct xenib_device {
	struct verbs_device verbs;
};

struct xenib_limits {
	uint32_t max_sq_desc;     /* bytes of a send WQE */
	uint32_t max_rq_desc;     /* bytes of a receive WQE */
	uint32_t max_send_blocks; /* 64-byte blocks of a send queue */
	uint32_t max_recv_wqes;   /* of a receive queue */
	uint32_t max_srq_wqes;    /* of an SRQ */
};

struct xenib_context {
	struct verbs_context vctx;
	struct xenib_limits limits;
	bool single_threaded; /* the program promised to use one thread only */
	struct xenib_arenas arenas;
	struct xenib_dbrecs dbrecs;
	struct xenib_uars uars;
	struct xenib_qp_table qps;
};

static inline struct xenib_context *to_xctx(struct ibv_context *context)
{
	return container_of(context, struct xenib_context, vctx.context);
}

/* The least power of two that is not less than n; 1 <= n <= 2^31. */
static inline uint32_t xenib_round_up_pow2(uint32_t n)
{
	return n <= 1 ? 1 : 1u << (32 - __builtin_clz(n - 1));
}

#endif
