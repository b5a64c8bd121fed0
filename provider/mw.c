// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mw.c - memory windows: made by the kernel, bound and invalidated by WQEs.
 */
#include <errno.h>
#include <stdlib.h>

#include "qp.h"
#include "queue/umr.h"
#include "verbs.h"

#define BOUND_ACCESS \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED)

struct ibv_mw *xenib_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct ibv_alloc_mw cmd = {};
	struct ibv_mw *mw;
	int err;

	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;

	err = ibv_cmd_alloc_mw(pd, type, mw, &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		free(mw);
		errno = err;
		return NULL;
	}
	return mw;
}

int xenib_dealloc_mw(struct ibv_mw *mw)
{
	int err;

	err = ibv_cmd_dealloc_mw(mw);
	if (err)
		return err;

	free(mw);
	return 0;
}

int xenib_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
	}, *bad_wr;
	int err;

	if (bind->bind_info.mw_access_flags & ~(unsigned int)BOUND_ACCESS)
		return EINVAL;

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = bind->bind_info;
	err = xenib_post_send(ibqp, &wr, &bad_wr);
	if (err)
		return err;

	mw->rkey = wr.bind_mw.rkey;
	return 0;
}

int xenib_put_mw(struct xenib_sq *sq, struct xenib_wqe *wqe, enum ibv_mw_type type,
		 uint32_t new_key, const struct ibv_mw_bind_info *info)
{
	struct xenib_bind bind = {
		.type_2 = type == IBV_MW_TYPE_2,
		.new_key = new_key,
		.access = info->mw_access_flags,
		.addr = info->addr,
		.length = info->length,
	};

	if (!sq->may_bind || (info->length && !info->mr))
		return EINVAL;
	if (info->length > XENIB_MAX_BIND)
		return EOPNOTSUPP;

	if (info->length)
		bind.lkey = info->mr->lkey;
	xenib_put_bind(sq, wqe, &bind);
	return 0;
}
