// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fake_verbs.c - what the provider calls of libibverbs, with a kernel behind it that always agrees,
 * or fails when it is told to. See fake.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi.h"
#include "check.h"
#include "fake.h"

const struct ibv_qp_cap fake_cap = {
	.max_send_wr = 16,
	.max_recv_wr = 16,
	.max_send_sge = 1,
	.max_recv_sge = 1,
};

struct fake fake;

static const struct verbs_device_ops *device_ops;
static const struct verbs_context_ops *context_ops;
static struct verbs_device *device;
static int uar_file = -1;
static uint8_t *uar_pages;

int fake_command(void)
{
	if (!fake.fail_in || --fake.fail_in)
		return 0;
	errno = fake.fail_with;
	return fake.fail_with;
}

int fake_make(uint32_t *handle)
{
	int err = fake_command();

	if (err)
		return err;
	__atomic_add_fetch(&fake.live, 1, __ATOMIC_RELAXED);
	*handle = __atomic_add_fetch(&fake.made, 1, __ATOMIC_RELAXED);
	return 0;
}

void fake_begin_queue(uint64_t buf, uint64_t db, uint8_t buf_shift, uint8_t db_shift)
{
	memset(&fake.last, 0, sizeof(fake.last));
	fake.last.buf = buf;
	fake.last.db = db;
	fake.last.buf_shift = buf_shift;
	fake.last.db_shift = db_shift;
}

static int unmake(void)
{
	int err = fake_command();

	if (!err)
		__atomic_sub_fetch(&fake.live, 1, __ATOMIC_RELAXED);
	return err;
}

void fake_open_defaults(void)
{
	fake = (struct fake){
		.family = XENIB_FAMILY_MLX5,
		.cqe_version = 1,
		.max_sq_desc = 1024,
		.max_rq_desc = 512,
		.max_send_blocks = 32768,
		.max_recv_wqes = 32768,
		.max_srq_wqes = 32768,
		.bf_size = 256,
		.bf_offset = 0x800,
		.max_uars = FAKE_UARS,
		.features = XENIB_FEATURE_ARENAS,
	};
}

struct ibv_context *fake_open(void)
{
	struct verbs_context *vctx;

	if (!fake.family)
		fake_open_defaults();
	if (uar_file < 0) {
		uar_file = memfd_create("uars", 0);
		REQUIRE(uar_file >= 0);
		REQUIRE(!ftruncate(uar_file, FAKE_UARS * 4096));
		uar_pages = mmap(NULL, FAKE_UARS * 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
				 uar_file, 0);
		REQUIRE(uar_pages != MAP_FAILED);
	}
	memset(uar_pages, 0, FAKE_UARS * 4096);

	device = device_ops->alloc_device(NULL);
	REQUIRE(device);
	vctx = device_ops->alloc_context(&device->device, uar_file, NULL);
	if (vctx)
		return &vctx->context;
	device_ops->uninit_device(device);
	return NULL;
}

static void fill_context(struct xenib_alloc_ucontext_resp *to)
{
	*to = (struct xenib_alloc_ucontext_resp){
		.family = fake.family,
		.cqe_version = fake.cqe_version,
		.max_sq_desc = fake.max_sq_desc,
		.max_rq_desc = fake.max_rq_desc,
		.max_send_blocks = fake.max_send_blocks,
		.max_recv_wqes = fake.max_recv_wqes,
		.max_srq_wqes = fake.max_srq_wqes,
		.features = fake.features,
		.null_key = fake.null_key,
	};
}

struct ibv_context *fake_import(struct ibv_context *of)
{
	struct verbs_context *vctx = device_ops->import_context(of->device, of->cmd_fd);

	return vctx ? &vctx->context : NULL;
}

int ibv_cmd_query_context(struct ibv_context *context, struct ibv_command_buffer *driver)
{
	struct ib_uverbs_attr *attr = driver->hdr.attrs;

	(void)context;
	REQUIRE(attr->attr_id == XENIB_ATTR_QUERY_CONTEXT_RESP &&
		attr->len == sizeof(struct xenib_alloc_ucontext_resp));
	fill_context((void *)(uintptr_t)attr->data);
	return fake_command();
}

static void check_nothing_left(const struct xenib_context *ctx)
{
	uint32_t i;

	for (i = 0; i < XENIB_TABLE_SIZE; i++)
		CHECK(!ctx->qps.leaf[i] || !ctx->qps.leaf[i]->used);
	for (i = 0; i < XENIB_UARS_OWN + XENIB_UARS_SHARED; i++)
		CHECK(!ctx->uars.bf[i].users);
	CHECK(!ctx->uars.plain.users);
}

void fake_close_imported(struct ibv_context *context)
{
	check_nothing_left(to_xctx(context));
	context_ops->free_context(context);
}

void fake_close(struct ibv_context *context)
{
	check_nothing_left(to_xctx(context));
	context_ops->free_context(context);
	device_ops->uninit_device(device);
	CHECK(!fake.live);
	CHECK(!fake.uars);
	CHECK(!fake.ranges);
	memset(&fake, 0, sizeof(fake));
}

uint8_t *fake_uar_page(uint32_t index)
{
	REQUIRE(index < FAKE_UARS);
	return uar_pages + index * 4096;
}

struct ibv_qp *fake_qp(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_srq *srq,
		       enum ibv_qp_type type, const struct ibv_qp_cap *cap)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = *cap,
		.qp_type = type,
	};
	struct ibv_qp *qp = xenib_create_qp(pd, &attr);

	if (qp)
		fake_to_rts(qp);
	return qp;
}

struct ibv_qp *fake_qp_ex(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type type,
			  const struct ibv_qp_cap *cap)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = *cap,
		.qp_type = type,
		.pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = xenib_qp_all_ops(type),
	};
	struct ibv_qp *qp = xenib_create_qp_ex(pd->context, &attr);

	if (qp)
		fake_to_rts(qp);
	return qp;
}

void fake_to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {};

	attr.qp_state = IBV_QPS_INIT;
	CHECK(!xenib_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTR;
	CHECK(!xenib_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	CHECK(!xenib_modify_qp(qp, &attr, IBV_QP_STATE));
}

/* Contexts. */
void verbs_register_driver(const struct verbs_device_ops *ops)
{
	device_ops = ops;
}

void *_verbs_init_and_alloc_context(struct ibv_device *ibdev, int cmd_fd, size_t alloc_size,
				    struct verbs_context *context_offset, uint32_t driver_id)
{
	struct verbs_context *vctx;
	void *drv;

	(void)driver_id;
	drv = calloc(1, alloc_size);
	if (!drv)
		return NULL;
	vctx = (void *)((uint8_t *)drv + (uintptr_t)context_offset);
	vctx->context.device = ibdev;
	vctx->context.cmd_fd = cmd_fd;
	return drv;
}

void verbs_uninit_context(struct verbs_context *vctx)
{
	(void)vctx;
}

/* Only what tests call through the context. */
void verbs_set_ops(struct verbs_context *vctx, const struct verbs_context_ops *ops)
{
	struct ibv_context_ops *to = &vctx->context.ops;

	to->poll_cq = ops->poll_cq;
	to->post_send = ops->post_send;
	to->post_recv = ops->post_recv;
	to->post_srq_recv = ops->post_srq_recv;
	to->req_notify_cq = ops->req_notify_cq;
	context_ops = ops;
}

int ibv_cmd_get_context(struct verbs_context *context, struct ibv_get_context *cmd, size_t cmd_size,
#if IBVERBS_PABI_VERSION >= 57
			struct ibv_fd_arr *files,
#endif
			struct ib_uverbs_get_context_resp *resp, size_t resp_size)
{
	struct xenib_ualloc_context_resp *full = (void *)resp;

#if IBVERBS_PABI_VERSION >= 57
	CHECK(!files);
#endif
	(void)context;
	(void)cmd;
	REQUIRE(cmd_size == sizeof(struct xenib_ualloc_context) && resp_size == sizeof(*full));
	fill_context(&full->drv_payload);
	return fake_command();
}

void __verbs_log(struct verbs_context *ctx, uint32_t level, const char *fmt, ...)
{
	va_list args;

	(void)ctx;
	if (level != VERBS_LOG_INFO)
		return;
	va_start(args, fmt);
	vsnprintf(fake.told, sizeof(fake.told), fmt, args);
	va_end(args);
}

/* Memory that children do not inherit. */
int ibv_dontfork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	__atomic_add_fetch(&fake.ranges, 1, __ATOMIC_RELAXED);
	return 0;
}

int ibv_dofork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	__atomic_sub_fetch(&fake.ranges, 1, __ATOMIC_RELAXED);
	return 0;
}

/* Objects. */
int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd, struct ibv_alloc_pd *cmd,
		     size_t cmd_size, struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size)
{
	(void)cmd;
	(void)cmd_size;
	(void)resp;
	REQUIRE(resp_size == sizeof(struct xenib_ualloc_pd_resp));
	pd->context = context;
	return fake_make(&pd->handle);
}

int ibv_cmd_dealloc_pd(struct ibv_pd *pd)
{
	(void)pd;
	return unmake();
}

int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va, int access,
		   struct verbs_mr *vmr, struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size)
{
	(void)pd;
	(void)addr;
	(void)length;
	(void)hca_va;
	(void)access;
	(void)cmd;
	(void)cmd_size;
	(void)resp;
	(void)resp_size;
	return fake_make(&vmr->ibv_mr.handle);
}

int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr, size_t length,
		     uint64_t hca_va, int access, struct ibv_pd *pd, struct ibv_rereg_mr *cmd,
		     size_t cmd_size, struct ib_uverbs_rereg_mr_resp *resp, size_t resp_size)
{
	(void)vmr;
	(void)flags;
	(void)length;
	(void)access;
	(void)pd;
	(void)cmd;
	(void)resp;
	CHECK(hca_va == (uintptr_t)addr);
	REQUIRE(cmd_size == sizeof(*cmd) && resp_size == sizeof(*resp));
	return fake_command();
}

int ibv_cmd_dereg_mr(struct verbs_mr *vmr)
{
	(void)vmr;
	return unmake();
}

int ibv_cmd_query_mr(struct ibv_pd *pd, struct verbs_mr *vmr, uint32_t mr_handle)
{
	vmr->ibv_mr.context = pd->context;
	vmr->ibv_mr.pd = pd;
	vmr->ibv_mr.handle = mr_handle;
	vmr->mr_type = IBV_MR_TYPE_IMPORTED_MR;
	return fake_command();
}

int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw,
		     struct ibv_alloc_mw *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_mw_resp *resp, size_t resp_size)
{
	(void)cmd;
	(void)cmd_size;
	(void)resp;
	(void)resp_size;
	mw->context = pd->context;
	mw->pd = pd;
	mw->type = type;
	mw->rkey = 0x00ab12ff;
	return fake_make(&mw->handle);
}

int ibv_cmd_dealloc_mw(struct ibv_mw *mw)
{
	(void)mw;
	return unmake();
}

int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah, struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size)
{
	(void)attr;
	(void)resp;
	(void)resp_size;
	ah->context = pd->context;
	return fake_make(&ah->handle);
}

int ibv_cmd_destroy_ah(struct ibv_ah *ah)
{
	(void)ah;
	return unmake();
}

int ibv_cmd_create_cq_ex(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
#if IBVERBS_PABI_VERSION >= 59
			 struct verbs_create_cq_prov_attr *prov_attr,
#endif
			 struct verbs_cq *cq, struct ibv_create_cq_ex *cmd, size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size,
			 uint32_t cmd_flags)
{
	struct xenib_ucreate_cq_resp *full = (void *)resp;
	struct xenib_ucreate_cq *req = (void *)cmd;
	int err;

#if IBVERBS_PABI_VERSION >= 59
	CHECK(!prov_attr);
#endif
	(void)cmd_flags;
	REQUIRE(cmd_size == sizeof(*req) && resp_size == sizeof(*full));
	err = fake_make(&cq->cq.handle);
	if (err)
		return err;
	CHECK(req->drv_payload.comp_mask ==
	      (fake.features & XENIB_FEATURE_DEFERRED_CQ ? XENIB_CREATE_CQ_DEFERRED : 0));
	CHECK(!req->drv_payload.reserved);
	fake_begin_queue(req->buf_addr, req->db_addr, req->buf_shift, req->db_shift);
	fake.last.cqe_size = req->cqe_size;
	fake.last.uar = req->uar;
	fake.last.cqe = attr->cqe;
	cq->cq.context = context;
	if (fake.defers_cqs)
		full->drv_payload.comp_mask = XENIB_CREATE_CQ_DEFERRED;
	else
		full->cqn = FAKE_CQN + fake.made;
	return 0;
}

int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr, struct ibv_modify_cq *cmd,
		      size_t cmd_size)
{
	(void)cq;
	(void)attr;
	(void)cmd;
	(void)cmd_size;
	return fake_command();
}

int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd, size_t cmd_size,
		      struct ib_uverbs_resize_cq_resp *resp, size_t resp_size)
{
	struct xenib_uresize_cq *req = (void *)cmd;
	int err;

	REQUIRE(cmd_size == sizeof(*req) && resp_size >= sizeof(*resp));
	CHECK(!req->comp_mask && !req->reserved0 && !req->reserved1);
	err = fake_command();
	if (err)
		return err;
	fake.last.buf = req->buf_addr;
	fake.last.buf_shift = req->buf_shift;
	fake.last.cqe = cq->cqe = cqe;
	if (fake.resizes)
		fake_hca_resize(fake.resizes, req->buf_addr, cqe + 1);
	return 0;
}

int ibv_cmd_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	return unmake();
}

int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp, size_t resp_size)
{
	struct xenib_ucreate_srq_resp *full = (void *)resp;
	struct xenib_ucreate_srq *req = (void *)cmd;
	int err;

	REQUIRE(cmd_size == sizeof(*req) && resp_size == sizeof(*full));
	err = fake_make(&srq->handle);
	if (err)
		return err;
	fake_begin_queue(req->buf_addr, req->db_addr, req->buf_shift, req->db_shift);
	fake.last.uidx = req->uidx;
	fake.last.max_wr = attr->attr.max_wr;
	fake.last.max_sge = attr->attr.max_sge;
	srq->context = pd->context;
	srq->pd = pd;
	full->drv_payload.srqn = FAKE_SRQN;
	return 0;
}

int ibv_cmd_create_srq_ex(struct ibv_context *context, struct verbs_srq *srq,
			  struct ibv_srq_init_attr_ex *attr, struct ibv_create_xsrq *cmd,
			  size_t cmd_size, struct ib_uverbs_create_srq_resp *resp, size_t resp_size)
{
	struct xenib_ucreate_xsrq *req = (void *)cmd;
	int err;

	(void)resp;
	REQUIRE(cmd_size == sizeof(*req) && resp_size == sizeof(struct xenib_ucreate_xsrq_resp));
	CHECK(attr->srq_type == IBV_SRQT_XRC && attr->xrcd && attr->cq);
	err = fake_make(&srq->srq.handle);
	if (err)
		return err;
	memset(&fake.last, 0, sizeof(fake.last));
	fake.last.buf = req->buf_addr;
	fake.last.db = req->db_addr;
	fake.last.uidx = req->uidx;
	fake.last.max_wr = attr->attr.max_wr;
	fake.last.max_sge = attr->attr.max_sge;
	srq->srq.context = context;
	srq->srq.pd = attr->pd;
	srq->srq_type = attr->srq_type;
	srq->srq_num = FAKE_SRQN;
	return 0;
}

int ibv_cmd_open_xrcd(struct ibv_context *context, struct verbs_xrcd *xrcd, int size,
		      struct ibv_xrcd_init_attr *attr, struct ibv_open_xrcd *cmd, size_t cmd_size,
		      struct ib_uverbs_open_xrcd_resp *resp, size_t resp_size)
{
	(void)attr;
	(void)cmd;
	(void)resp;
	REQUIRE(size == sizeof(*xrcd) && cmd_size == sizeof(*cmd) && resp_size == sizeof(*resp));
	xrcd->xrcd.context = context;
	return fake_make(&xrcd->handle);
}

int ibv_cmd_close_xrcd(struct verbs_xrcd *xrcd)
{
	(void)xrcd;
	return unmake();
}

int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask,
		       struct ibv_modify_srq *cmd, size_t cmd_size)
{
	(void)srq;
	(void)attr;
	(void)mask;
	(void)cmd;
	(void)cmd_size;
	return fake_command();
}

int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, struct ibv_query_srq *cmd,
		      size_t cmd_size)
{
	(void)srq;
	(void)cmd;
	(void)cmd_size;
	attr->srq_limit = 3;
	return fake_command();
}

int ibv_cmd_destroy_srq(struct ibv_srq *srq)
{
	(void)srq;
	return unmake();
}

int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		      struct ibv_modify_qp *cmd, size_t cmd_size)
{
	(void)cmd;
	(void)cmd_size;
	if (mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return fake_command();
}

int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		     struct ibv_qp_init_attr *init_attr, struct ibv_query_qp *cmd, size_t cmd_size)
{
	(void)attr;
	(void)mask;
	(void)cmd;
	(void)cmd_size;
	init_attr->qp_type = qp->qp_type;
	return fake_command();
}

int ibv_cmd_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return unmake();
}

int ibv_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp;
	(void)gid;
	(void)lid;
	return fake_command();
}

int ibv_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp;
	(void)gid;
	(void)lid;
	return fake_command();
}

int ibv_cmd_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		       struct ibv_query_port *cmd, size_t cmd_size)
{
	(void)context;
	(void)cmd;
	(void)cmd_size;
	attr->lid = port;
	return fake_command();
}

int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp, size_t *resp_size)
{
	(void)context;
	(void)input;
	(void)attr;
	(void)attr_size;
	(void)resp_size;
	resp->base.fw_ver = 28ULL << 32 | 39ULL << 16 | 1002;
	return fake_command();
}
