// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fake_qp.c - the commands that make QPs, as fake_verbs.c has the others.
 */
#include <errno.h>
#include <string.h>

#include "abi.h"
#include "check.h"
#include "fake.h"

static int make(struct ibv_context *context, struct verbs_qp *qp,
		const struct ibv_qp_init_attr_ex *attr, const struct xenib_create_qp_req *req)
{
	int err = fake_make(&qp->qp.handle);

	if (err)
		return err;
	fake_begin_queue(req->buf_addr, req->db_addr, req->buf_shift, req->db_shift);
	fake.last.sq_blocks = req->sq_wqe_count;
	fake.last.rq_wqes = req->rq_wqe_count;
	fake.last.rq_shift = req->rq_wqe_shift;
	fake.last.uidx = req->uidx;
	fake.last.uar = req->uar;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS)
		fake.last.create_flags = attr->create_flags;
	CHECK(attr->qp_type == IBV_QPT_XRC_RECV ||
	      req->comp_mask ==
		      (fake.features & XENIB_FEATURE_POSTED_RTS ? XENIB_CREATE_QP_POSTED_RTS : 0));
	qp->qp.context = context;
	qp->qp.qp_type = attr->qp_type;
	qp->qp.qp_num = FAKE_QPN + fake.made;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	qp->qp.srq = attr->srq;
	return 0;
}

/* What there is room for is as in libibverbs. */
#define PLAIN (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr, struct ibv_create_qp *cmd,
			 size_t cmd_size, struct ib_uverbs_create_qp_resp *resp, size_t resp_size)
{
	struct xenib_ucreate_qp *req = (void *)cmd;

	(void)resp;
	REQUIRE(cmd_size == sizeof(*req) && resp_size == sizeof(struct xenib_ucreate_qp_resp));
	if (attr->comp_mask & ~PLAIN)
		return errno = EOPNOTSUPP;
	return make(context, qp, attr, &req->drv_payload);
}

int ibv_cmd_create_qp_ex2(struct ibv_context *context, struct verbs_qp *qp,
			  struct ibv_qp_init_attr_ex *attr, struct ibv_create_qp_ex *cmd,
			  size_t cmd_size, struct ib_uverbs_ex_create_qp_resp *resp,
#if IBVERBS_PABI_VERSION >= 64
			  size_t resp_size, struct ibv_command_buffer *more)
#else
			  size_t resp_size)
#endif
{
	struct xenib_ucreate_qp_ex *req = (void *)cmd;

#if IBVERBS_PABI_VERSION >= 64
	CHECK(!more);
#endif
	(void)resp;
	REQUIRE(cmd_size == sizeof(*req) && resp_size == sizeof(struct xenib_ucreate_qp_ex_resp));
	if (attr->comp_mask & ~(PLAIN | IBV_QP_INIT_ATTR_CREATE_FLAGS))
		return errno = EINVAL;
	return make(context, qp, attr, &req->drv_payload);
}

int ibv_cmd_open_qp(struct ibv_context *context, struct verbs_qp *qp, int size,
		    struct ibv_qp_open_attr *attr, struct ibv_open_qp *cmd, size_t cmd_size,
		    struct ib_uverbs_create_qp_resp *resp, size_t resp_size)
{
	(void)cmd;
	(void)resp;
	REQUIRE(size == sizeof(*qp) && cmd_size == sizeof(*cmd) && resp_size == sizeof(*resp));
	qp->qp.context = context;
	qp->qp.qp_num = attr->qp_num;
	qp->qp.qp_type = attr->qp_type;
	return fake_make(&qp->qp.handle);
}
