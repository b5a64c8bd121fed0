// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "check.h"
#include "uabi_mlx5.h"

#define DRIVER RDMA_DRIVER_UNKNOWN

/* The device that was opened is of the personality "mlx5". */
static bool is_mlx5;

/* A page behind that nobody may touch: what is too long for the memory must not find more. */
#define MEMORY ((UABI_SET_PAGES + 1) * UABI_PAGE)

/* A command with a response, which is looked at, or not. */
#define CALL(fd, command, req, driver, rsp, rsp_driver) \
	uverbs_write(fd, IB_USER_VERBS_CMD_##command, \
		     &(struct uverbs_msg){ (req), sizeof(*(req)), driver }, \
		     &(struct uverbs_msg){ (rsp), sizeof(*(rsp)), rsp_driver })
#define CALL_QUIET(fd, command, req) \
	uverbs_write(fd, IB_USER_VERBS_CMD_##command, \
		     &(struct uverbs_msg){ (req), sizeof(*(req)), NONE }, NULL)
#define NONE NULL, 0
#define PART(part) (void *)(part), sizeof(*(part))

int uabi_context_of(int fd, enum rdma_driver_id driver, struct uabi_bytes req,
		    struct uabi_bytes resp)
{
	uint32_t vectors;
	struct uverbs_arg args[] = {
		{ UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, sizeof(vectors), (uintptr_t)&vectors },
		{ UVERBS_ATTR_UHW_IN, req.len, (uintptr_t)req.at },
		{ UVERBS_ATTR_UHW_OUT, resp.len, (uintptr_t)resp.at },
	};

	if (req.len <= sizeof(args[1].data)) /* then the value itself goes with the attribute */
		memcpy(&args[1].data, req.at, req.len);
	return uverbs_ioctl(fd, driver, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, args,
			    ARRAY_SIZE(args));
}

int uabi_context(int fd, uint32_t len, const struct xenib_alloc_ucontext_req *req,
		 struct xenib_alloc_ucontext_resp *resp)
{
	return uabi_context_of(fd, DRIVER, (struct uabi_bytes){ (void *)req, len },
			       (struct uabi_bytes){ resp, sizeof(*resp) });
}

bool uabi_is_mlx5(void)
{
	return is_mlx5;
}

static int good_context(int fd)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 mlx5_req = uabi_mlx5_good_context();
	const struct xenib_alloc_ucontext_req req = { 0 };
	struct mlx5_ib_alloc_ucontext_resp mlx5_resp;
	struct xenib_alloc_ucontext_resp resp;

	if (is_mlx5)
		return uabi_mlx5_context(fd, sizeof(mlx5_req), &mlx5_req, &mlx5_resp);
	return uabi_context(fd, sizeof(req), &req, &resp);
}

int uabi_open(const char *ibdev)
{
	int fd = uverbs_open(ibdev), err;

	if (fd < 0)
		return fd;
	is_mlx5 = !strncmp(ibdev, "mlx5_", 5);
	err = good_context(fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int uabi_alloc_pd(int fd, uint32_t *pd)
{
	struct ib_uverbs_alloc_pd req = { 0 };
	struct ib_uverbs_alloc_pd_resp rsp = { 0 };
	struct xenib_alloc_pd_resp driver;
	int err = CALL(fd, ALLOC_PD, &req, NONE, &rsp, PART(&driver));

	*pd = rsp.pd_handle;
	return err;
}

int uabi_reg_mr(int fd, const struct ib_uverbs_reg_mr *request, uint32_t *mr)
{
	struct ib_uverbs_reg_mr req = *request;
	struct ib_uverbs_reg_mr_resp rsp = { 0 };
	int err = CALL(fd, REG_MR, &req, NONE, &rsp, NONE);

	*mr = rsp.mr_handle;
	return err;
}

int uabi_alloc_mw(int fd, uint32_t pd, uint32_t *mw)
{
	struct ib_uverbs_alloc_mw req = { .pd_handle = pd, .mw_type = IBV_MW_TYPE_2 };
	struct ib_uverbs_alloc_mw_resp rsp = { 0 };
	int err = CALL(fd, ALLOC_MW, &req, NONE, &rsp, NONE);

	*mw = rsp.mw_handle;
	return err;
}

int uabi_create_cq(int fd, const struct ib_uverbs_create_cq *core,
		   const struct xenib_create_cq_req *driver, uint32_t *cq)
{
	struct ib_uverbs_create_cq req = *core;
	struct ib_uverbs_create_cq_resp rsp = { 0 };
	struct mlx5_ib_create_cq mlx5 = uabi_mlx5_cq(driver);
	struct xenib_create_cq_resp result;
	int err;

	if (is_mlx5)
		err = CALL(fd, CREATE_CQ, &req, PART(&mlx5), &rsp, PART(&result));
	else
		err = CALL(fd, CREATE_CQ, &req, PART(driver), &rsp, PART(&result));

	*cq = rsp.cq_handle;
	return err;
}

int uabi_resize_cq(int fd, uint32_t cq, uint32_t cqe, const struct xenib_resize_cq_req *driver)
{
	struct ib_uverbs_resize_cq req = { .cq_handle = cq, .cqe = cqe };
	struct ib_uverbs_resize_cq_resp rsp;
	struct mlx5_ib_resize_cq mlx5 = uabi_mlx5_resize_cq(driver);

	if (is_mlx5)
		return CALL(fd, RESIZE_CQ, &req, PART(&mlx5), &rsp, NONE);
	return CALL(fd, RESIZE_CQ, &req, PART(driver), &rsp, NONE);
}

int uabi_create_srq(int fd, const struct ib_uverbs_create_srq *core,
		    const struct xenib_create_srq_req *driver, uint32_t *srq)
{
	struct ib_uverbs_create_srq req = *core;
	struct ib_uverbs_create_srq_resp rsp = { 0 };
	struct mlx5_ib_create_srq mlx5 = uabi_mlx5_srq(driver);
	struct xenib_create_srq_resp result;
	int err;

	if (is_mlx5)
		err = CALL(fd, CREATE_SRQ, &req, PART(&mlx5), &rsp, PART(&result));
	else
		err = CALL(fd, CREATE_SRQ, &req, PART(driver), &rsp, PART(&result));

	*srq = rsp.srq_handle;
	return err;
}

int uabi_create_qp(int fd, const struct ib_uverbs_create_qp *core,
		   const struct xenib_create_qp_req *driver, uint32_t *qp)
{
	struct ib_uverbs_create_qp req = *core;
	struct ib_uverbs_create_qp_resp rsp = { 0 };
	struct mlx5_ib_create_qp mlx5 = uabi_mlx5_qp(driver);
	struct mlx5_ib_create_qp_resp result;
	int err;

	if (is_mlx5)
		err = CALL(fd, CREATE_QP, &req, PART(&mlx5), &rsp, PART(&result));
	else
		err = CALL(fd, CREATE_QP, &req, PART(driver), &rsp, NONE);

	*qp = rsp.qp_handle;
	return err;
}

int uabi_create_ah(int fd, uint32_t pd, uint32_t *ah)
{
	struct ib_uverbs_create_ah req = { .pd_handle = pd,
					   .attr = { .dlid = 1, .port_num = UABI_PORT } };
	struct ib_uverbs_create_ah_resp rsp = { 0 };
	int err = CALL(fd, CREATE_AH, &req, NONE, &rsp, NONE);

	*ah = rsp.ah_handle;
	return err;
}

int uabi_alloc_uar(int fd, uint64_t type, uint32_t *uar, struct xenib_uar_alloc_resp *resp)
{
	struct uverbs_arg args[] = {
		{ XENIB_ATTR_UAR_ALLOC_HANDLE, 0, 0 },
		{ XENIB_ATTR_UAR_ALLOC_TYPE, 8, type },
		{ XENIB_ATTR_UAR_ALLOC_RESP, sizeof(*resp), (uintptr_t)resp },
	};
	int err;

	if (is_mlx5)
		return uabi_mlx5_alloc_uar(fd, type, uar, resp);
	err = uverbs_ioctl(fd, DRIVER, XENIB_OBJECT_UAR, XENIB_METHOD_UAR_ALLOC, args, 3);
	*uar = args[0].data;
	return err;
}

int uabi_free_uar(int fd, uint32_t uar)
{
	struct uverbs_arg arg = { XENIB_ATTR_UAR_FREE_HANDLE, 0, uar };

	if (is_mlx5)
		return uabi_mlx5_free_uar(fd, uar);
	return uverbs_ioctl(fd, DRIVER, XENIB_OBJECT_UAR, XENIB_METHOD_UAR_FREE, &arg, 1);
}

int uabi_modify_qp(int fd, uint32_t qp)
{
	struct ib_uverbs_modify_qp req = {
		.qp_handle = qp,
		.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		.qp_state = IBV_QPS_INIT,
		.port_num = UABI_PORT,
	};

	return CALL_QUIET(fd, MODIFY_QP, &req);
}

int uabi_query_qp(int fd, uint32_t qp)
{
	struct ib_uverbs_query_qp req = { .qp_handle = qp, .attr_mask = IBV_QP_STATE };
	struct ib_uverbs_query_qp_resp rsp;

	return CALL(fd, QUERY_QP, &req, NONE, &rsp, NONE);
}

int uabi_await_qp(int fd, uint32_t qp)
{
	struct uverbs_arg arg = { XENIB_ATTR_QP_AWAIT_HANDLE, 0, qp };

	if (is_mlx5)
		return uabi_query_qp(fd, qp);
	return uverbs_ioctl(fd, DRIVER, UVERBS_OBJECT_QP, XENIB_METHOD_QP_AWAIT, &arg, 1);
}

int uabi_make_cq(int fd, uint32_t cq)
{
	struct xenib_create_cq_resp resp;
	struct uverbs_arg args[] = {
		{ XENIB_ATTR_CQ_MAKE_HANDLE, 0, cq },
		{ XENIB_ATTR_CQ_MAKE_RESP, sizeof(resp), (uintptr_t)&resp },
	};

	if (is_mlx5)
		return uabi_resize_cq(fd, cq, UABI_CQE, &(struct xenib_resize_cq_req){ 0 });
	return uverbs_ioctl(fd, DRIVER, UVERBS_OBJECT_CQ, XENIB_METHOD_CQ_MAKE, args,
			    ARRAY_SIZE(args));
}

int uabi_query_srq(int fd, uint32_t srq)
{
	struct ib_uverbs_query_srq req = { .srq_handle = srq };
	struct ib_uverbs_query_srq_resp rsp;

	return CALL(fd, QUERY_SRQ, &req, NONE, &rsp, NONE);
}

int uabi_modify_srq(int fd, uint32_t srq)
{
	struct ib_uverbs_modify_srq req = { .srq_handle = srq,
					    .attr_mask = IBV_SRQ_LIMIT,
					    .srq_limit = 1 };

	return CALL_QUIET(fd, MODIFY_SRQ, &req);
}

int uabi_attach(int fd, uint32_t qp)
{
	struct ib_uverbs_attach_mcast req = { .gid = { 0xff, 0x12 },
					      .qp_handle = qp,
					      .mlid = 0xc001 };

	return CALL_QUIET(fd, ATTACH_MCAST, &req);
}

int uabi_destroy(int fd, uint32_t command, uint32_t handle)
{
	struct ib_uverbs_destroy_qp with_response = {
		.qp_handle = handle
	}; /* that of CQs and SRQs is the same */
	struct ib_uverbs_destroy_cq_resp rsp;
	struct uverbs_msg req = { &handle, sizeof(handle), NONE }, to = { &rsp, sizeof(rsp), NONE };

	switch (command) {
	case IB_USER_VERBS_CMD_DESTROY_CQ:
		break;
	case IB_USER_VERBS_CMD_DESTROY_QP:
	case IB_USER_VERBS_CMD_DESTROY_SRQ:
		to.core_len = sizeof(struct ib_uverbs_destroy_qp_resp);
		break;
	default:
		return uverbs_write(fd, command, &req, NULL);
	}
	req = (struct uverbs_msg){ &with_response, sizeof(with_response), NONE };
	return uverbs_write(fd, command, &req, &to);
}

/* -- good requests -- */

static uint64_t page(const struct uabi_set *set, unsigned int n)
{
	return (uintptr_t)set->memory + n * UABI_PAGE;
}

void uabi_good_mr(const struct uabi_set *set, struct ib_uverbs_reg_mr *req)
{
	*req = (struct ib_uverbs_reg_mr){
		.start = page(set, UABI_DATA),
		.length = UABI_PAGE,
		.hca_va = page(set, UABI_DATA),
		.pd_handle = set->pd,
		.access_flags = IBV_ACCESS_LOCAL_WRITE,
	};
}

void uabi_good_cq(const struct uabi_set *set, struct ib_uverbs_create_cq *core,
		  struct xenib_create_cq_req *driver)
{
	*core = (struct ib_uverbs_create_cq){ .cqe = UABI_CQE, .comp_channel = -1 };
	*driver = (struct xenib_create_cq_req){
		.buf_addr = page(set, UABI_SPARE),
		.db_addr = page(set, UABI_RECORDS) + 8 * UABI_SPARE,
		.cqe_size = UABI_CQE_SIZE,
		.uar = set->uar_index,
	};
}

void uabi_good_srq(const struct uabi_set *set, struct ib_uverbs_create_srq *core,
		   struct xenib_create_srq_req *driver)
{
	*core = (struct ib_uverbs_create_srq){ .pd_handle = set->pd,
					       .max_wr = UABI_SRQ_WR,
					       .max_sge = 1 };
	*driver = (struct xenib_create_srq_req){
		.buf_addr = page(set, UABI_SPARE),
		.db_addr = page(set, UABI_RECORDS) + 8 * UABI_SPARE,
	};
}

void uabi_good_qp(const struct uabi_set *set, struct ib_uverbs_create_qp *core,
		  struct xenib_create_qp_req *driver)
{
	*core = (struct ib_uverbs_create_qp){
		.pd_handle = set->pd,
		.send_cq_handle = set->scq,
		.recv_cq_handle = set->rcq,
		.max_send_wr = UABI_SQ_BLOCKS,
		.max_recv_wr = UABI_RQ_WQES,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.qp_type = IBV_QPT_RC,
	};
	*driver = (struct xenib_create_qp_req){
		.buf_addr = page(set, UABI_SPARE),
		.db_addr = page(set, UABI_RECORDS) + 8 * UABI_SPARE,
		.sq_wqe_count = UABI_SQ_BLOCKS,
		.rq_wqe_count = UABI_RQ_WQES,
		.rq_wqe_shift = UABI_RQ_SHIFT,
		.uar = set->uar_index,
	};
}

/* -- one of each -- */

static int make_cq(int fd, struct uabi_set *set, unsigned int where, uint32_t *cq)
{
	struct ib_uverbs_create_cq core;
	struct xenib_create_cq_req driver;

	uabi_good_cq(set, &core, &driver);
	driver.buf_addr = page(set, where);
	driver.db_addr = page(set, UABI_RECORDS) + 8 * where;
	return uabi_create_cq(fd, &core, &driver, cq);
}

static int make_queues(int fd, struct uabi_set *set)
{
	struct ib_uverbs_create_srq srq;
	struct ib_uverbs_create_qp qp;
	struct xenib_create_srq_req srq_driver;
	struct xenib_create_qp_req qp_driver;
	int err;

	err = make_cq(fd, set, UABI_SCQ, &set->scq);
	if (!err)
		err = make_cq(fd, set, UABI_RCQ, &set->rcq);
	if (err)
		return err;
	uabi_good_srq(set, &srq, &srq_driver);
	srq_driver.buf_addr = page(set, UABI_SRQ);
	srq_driver.db_addr = page(set, UABI_RECORDS) + 8 * UABI_SRQ;
	err = uabi_create_srq(fd, &srq, &srq_driver, &set->srq);
	if (err)
		return err;
	uabi_good_qp(set, &qp, &qp_driver);
	qp_driver.buf_addr = page(set, UABI_QP);
	qp_driver.db_addr = page(set, UABI_RECORDS) + 8 * UABI_QP;
	return uabi_create_qp(fd, &qp, &qp_driver, &set->qp);
}

int uabi_make(int fd, struct uabi_set *set)
{
	struct xenib_uar_alloc_resp resp;
	struct ib_uverbs_reg_mr mr;
	int err;

	memset(set, 0, sizeof(*set));
	set->memory =
		mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(set->memory + UABI_SET_PAGES * UABI_PAGE, UABI_PAGE, PROT_NONE);
	err = uabi_alloc_uar(fd, XENIB_UAR_NC, &set->uar, &resp);
	if (err)
		return err;
	set->uar_index = resp.index;
	set->uar_offset = resp.mmap_offset;
	err = uabi_alloc_pd(fd, &set->pd);
	if (!err)
		err = make_queues(fd, set);
	if (err)
		return err;
	uabi_good_mr(set, &mr);
	err = uabi_reg_mr(fd, &mr, &set->mr);
	if (!err)
		err = uabi_alloc_mw(fd, set->pd, &set->mw);
	return err ? err : uabi_create_ah(fd, set->pd, &set->ah);
}

int uabi_unmake(int fd, struct uabi_set *set)
{
	const struct {
		uint32_t command, handle;
	} order[] = {
		{ IB_USER_VERBS_CMD_DESTROY_AH, set->ah },
		{ IB_USER_VERBS_CMD_DEALLOC_MW, set->mw },
		{ IB_USER_VERBS_CMD_DEREG_MR, set->mr },
		{ IB_USER_VERBS_CMD_DESTROY_QP, set->qp },
		{ IB_USER_VERBS_CMD_DESTROY_SRQ, set->srq },
		{ IB_USER_VERBS_CMD_DESTROY_CQ, set->rcq },
		{ IB_USER_VERBS_CMD_DESTROY_CQ, set->scq },
		{ IB_USER_VERBS_CMD_DEALLOC_PD, set->pd },
	};
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(order); i++)
		err = uabi_destroy(fd, order[i].command, order[i].handle);
	if (!err)
		err = uabi_free_uar(fd, set->uar);
	munmap(set->memory, MEMORY);
	return err;
}
