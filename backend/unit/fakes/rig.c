// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rig.c - see rig.h.
 */
#include <string.h>

#include "unit/fakes/rig.h"
#include "util/clock.h"
#include "vhca/events.h"

void rig_init(struct rig *rig, bool auto_translated, const struct quota *quota)
{
	struct quota defaults;
	unsigned int i;

	memset(rig, 0, sizeof(*rig));
	log_setup("test", 0); /* refusals are what is tested here */
	fake_init(&rig->fake);
	rig->shm = shm_new(auto_translated);
	rig->table = calloc(1, sizeof(*rig->table));
	rig->cmd = calloc(1, sizeof(*rig->cmd));
	CHECK(rig->table && rig->cmd);
	quota_setup(&defaults, NULL, NULL);
	CHECK(!vhca_init(&rig->v, &rig->fake.hca, &rig->shm->t, quota ? quota : &defaults,
			 rig->table));
	for (i = 0; i < XEN_VHCA_DATA_REFS; i++)
		rig->refs[i] = 16 + i;
	rig->event_bit = XEN_VHCA_NO_EVENT;
}

void rig_events(struct rig *rig)
{
	const struct events_params params = { RIG_BITS_REF, RIG_ASYNC_REF, 10 };
	char why[96];

	rig->v.events = events_new(&rig->v, &params, why, sizeof(why));
	CHECK(rig->v.events);
}

void rig_fini(struct rig *rig)
{
	events_free(rig->v.events);
	vhca_fini(&rig->v);
	fake_fini(&rig->fake);
	CHECK(!rig->fake.live && !rig->fake.contexts && !rig->shm->allowed);
	free(rig->cmd);
	free(rig->table);
	shm_free(rig->shm);
}

static void fetch(void *from, uint32_t *refs, uint32_t n)
{
	memcpy(refs, from, n * sizeof(*refs));
}

enum xen_vhca_status rig_do(struct rig *rig, const struct xen_vhca_req *req)
{
	rig->cmd->v = &rig->v;
	rig->cmd->req = *req;
	rig->cmd->taken_ns = clock_ns();
	cmd_run(rig->cmd, fetch, rig->refs);
	CHECK(!vhca_check_response(req, &rig->cmd->rsp));
	rig->handle = rig->cmd->rsp.u.object.handle;
	return rig->cmd->rsp.status;
}

enum xen_vhca_status rig_object(struct rig *rig, unsigned int op, xen_vhca_handle_t handle)
{
	struct xen_vhca_req req = { .op = op, .u.object.handle = handle };

	return rig_do(rig, &req);
}

/* Each returns from the function that it is used in when the command is refused. */
#define MAKE(operation, member, where, ...) do { \
	struct xen_vhca_req req_ = { .op = XEN_VHCA_OP_##operation, .u.member = { __VA_ARGS__ } }; \
	enum xen_vhca_status status_ = rig_do(rig, &req_); \
	if (status_) \
		return status_; \
	*(where) = rig->handle; \
} while (0)

#define BUF(handle) { .umem = (handle) }
#define DBR(handle, n) { .umem = (handle), .offset = 0x8000 + 8 * (n) }

static enum xen_vhca_status make_queues(struct rig *rig, struct rig_process *p)
{
	MAKE(CQ_CREATE, cq_create, &p->cq, .ctx = p->ctx, .uar = p->uar, .buf = BUF(p->umem),
	     .dbr = DBR(p->umem, 0), .cqes = 256, .cqe_size = 64, .event_bit = rig->event_bit);
	MAKE(SRQ_CREATE, srq_create, &p->srq, .pd = p->pd, .buf = BUF(p->umem),
	     .dbr = DBR(p->umem, 1), .max_wr = 256, .max_sge = 1);
	MAKE(QP_CREATE, qp_create, &p->qp, .pd = p->pd, .send_cq = p->cq, .recv_cq = p->cq,
	     .srq = p->srq, .uar = p->uar, .type = XEN_VHCA_QPT_RC, .buf = BUF(p->umem),
	     .dbr = DBR(p->umem, 2), .sq_wqe_count = 64, .max_send_wr = 64, .max_send_sge = 1);
	return XEN_VHCA_OK;
}

static enum xen_vhca_status make_memory(struct rig *rig, struct rig_process *p)
{
	struct xen_vhca_req add = { .op = XEN_VHCA_OP_UMEM_ADD };

	MAKE(UMEM_CREATE, umem_create, &p->umem, .ctx = p->ctx, .pages = 1500);
	add.u.umem_add = (struct xen_vhca_umem_add){ .umem = p->umem, .first = 1024, .count = 476 };
	return rig_do(rig, &add);
}

enum xen_vhca_status rig_process(struct rig *rig, struct rig_process *p)
{
	enum xen_vhca_status status;

	memset(p, 0, sizeof(*p));
	MAKE(CTX_OPEN, ctx_open, &p->ctx, .pid = 77, .name = "test");
	MAKE(UAR_ALLOC, uar_alloc, &p->uar, .ctx = p->ctx, .type = XEN_VHCA_UAR_BF,
	     .gfn = rig->shm->t.auto_translated ? 0x12345 + rig->gfns++ : 0);
	MAKE(PD_ALLOC, pd_alloc, &p->pd, .ctx = p->ctx);
	status = make_memory(rig, p);
	if (!status)
		status = make_queues(rig, p);
	if (status)
		return status;
	MAKE(MR_REG, mr_reg, &p->mr, .pd = p->pd, .addr = { .umem = p->umem, .offset = 0x9123 },
	     .length = 100000, .iova = 0x7f0000000123, .access = 7);
	MAKE(MR_REG, mr_reg, &p->inline_mr, .pd = p->pd, .flags = XEN_VHCA_MR_REG_INLINE,
	     .pages = 3, .addr.offset = 0x10, .length = 12000, .iova = 0x10, .access = 1);
	MAKE(MR_REG, mr_reg, &p->persistent_mr, .pd = p->pd,
	     .flags = XEN_VHCA_MR_REG_INLINE | XEN_VHCA_MR_REG_PERSISTENT, .pages = 2, .length = 8192,
	     .access = 1);
	p->persistent = rig->cmd->rsp.u.mr.umem;
	MAKE(MW_ALLOC, mw_alloc, &p->mw, .pd = p->pd, .type = 2);
	return XEN_VHCA_OK;
}

void rig_exit(struct rig *rig, const struct rig_process *p)
{
	CHECK(!rig_object(rig, XEN_VHCA_OP_MW_FREE, p->mw));
	CHECK(!rig_object(rig, XEN_VHCA_OP_MR_DEREG, p->persistent_mr));
	CHECK(!rig_object(rig, XEN_VHCA_OP_UMEM_DESTROY, p->persistent));
	CHECK(!rig_object(rig, XEN_VHCA_OP_MR_DEREG, p->inline_mr));
	CHECK(!rig_object(rig, XEN_VHCA_OP_MR_DEREG, p->mr));
	CHECK(!rig_object(rig, XEN_VHCA_OP_QP_DESTROY, p->qp));
	CHECK(!rig_object(rig, XEN_VHCA_OP_SRQ_DESTROY, p->srq));
	CHECK(!rig_object(rig, XEN_VHCA_OP_CQ_DESTROY, p->cq));
	CHECK(!rig_object(rig, XEN_VHCA_OP_UMEM_DESTROY, p->umem));
	CHECK(!rig_object(rig, XEN_VHCA_OP_PD_FREE, p->pd));
	CHECK(!rig_object(rig, XEN_VHCA_OP_UAR_FREE, p->uar));
	CHECK(!rig_object(rig, XEN_VHCA_OP_CTX_CLOSE, p->ctx));
}

void rig_close_all(struct rig *rig)
{
	struct context *ctx;

	while ((ctx = LIST_FIRST(&rig->v.contexts)))
		CHECK(!rig_object(rig, XEN_VHCA_OP_CTX_CLOSE, ctx->obj.handle));
	CHECK(rig_is_empty(rig));
}

bool rig_is_empty(struct rig *rig)
{
	unsigned int type;
	bool empty;

	pthread_mutex_lock(&rig->v.lock);
	empty = !rig->v.quota.bytes.used && !rig->v.quota.mcast.used && !rig->fake.live && !rig->fake.contexts &&
		!rig->shm->allowed;
	for (type = 0; type < OBJ_TYPES; type++)
		empty = empty && !rig->v.quota.objects[type].used;
	pthread_mutex_unlock(&rig->v.lock);
	return empty;
}
