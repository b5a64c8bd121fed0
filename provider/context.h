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
#include "queue/queues.h"
#include "queue/size.h"
#include "table.h"
#include "uar.h"

struct xenib_device {
	struct verbs_device verbs;
};

struct xenib_context {
	struct verbs_context vctx;
	struct xenib_limits limits;
	uint32_t null_key;    /* the lkey of all null MRs; 0: there are none */
	bool single_threaded; /* the program promised to use one thread only */
	bool posted_rts;      /* the kernel's driver can post RTS, */
	bool deferred_cq;     /* and make CQs with their first QP */
	struct xenib_arenas arenas;
	struct xenib_dbrecs dbrecs;
	struct xenib_uars uars;
	struct xenib_qp_table qps;
	struct xenib_cq_queue no_cq; /* of QPs without one: XRC targets */
};

static inline struct xenib_context *to_xctx(struct ibv_context *context)
{
	return container_of(context, struct xenib_context, vctx.context);
}

#endif
