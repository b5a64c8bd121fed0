// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fixture.c - see fixture.h.
 */
#include <dirent.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/fakes/fixture.h"
#include "util/clock.h"
#include "vhca/events.h"

static unsigned int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	CHECK(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

void fixture_init(struct fixture *fix, bool auto_translated, const struct quota *quota)
{
	struct quota defaults;
	unsigned int i;

	memset(fix, 0, sizeof(*fix));
	log_setup("test", 0); /* refusals are what is tested here */
	fix->descriptors = count_descriptors();
	fake_init(&fix->fake);
	fix->shm = shm_new(auto_translated);
	fix->cmd = calloc(1, sizeof(*fix->cmd));
	CHECK(fix->cmd);
	quota_setup(&defaults, NULL, NULL);
	CHECK(!vhca_init(&fix->v, &fix->fake.hca, &fix->shm->t, quota ? quota : &defaults));
	fix->v.kernel = true;
	for (i = 0; i < XEN_VHCA_DATA_REFS; i++)
		fix->refs[i] = 16 + i;
	fix->event_bit = XEN_VHCA_NO_EVENT;
}

void fixture_dmabufs(struct fixture *fix)
{
	fix->fake.hca.dmabufs = true;
	fix->shm->t.dmabuf_pages = SHM_PAGES;
	fix->shm->t.dmabuf_read_only = true;
}

void fixture_queue_dmabufs(struct fixture *fix)
{
	fixture_dmabufs(fix);
	fix->fake.hca.queue_dmabufs = true;
}

static void woken(void *arg, int channel)
{
	shm_woken(arg, channel);
}

void fixture_watches(struct fixture *fix)
{
	fix->shm->watches = true;
	fix->fake.woken = woken;
	fix->fake.woken_arg = fix->shm;
}

void fixture_events(struct fixture *fix)
{
	struct events_params params = {
		FIXTURE_BITS_REF, FIXTURE_ASYNC_REF, fix->vectors ?: 1, { 0 }
	};
	char why[96];
	uint32_t i;

	for (i = 0; i < params.vectors; i++)
		params.channels[i] = 10 + i;
	fix->v.events = events_new(&fix->v, &params, why, sizeof(why));
	CHECK(fix->v.events);
}

int fixture_mads(struct fixture *fix)
{
	int pair[2];

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair));
	fix->v.mads.fd = pair[0];
	fix->mads = pair[1];
	return fix->mads;
}

void fixture_mads_told(const struct fixture *fix, uint32_t expected)
{
	uint32_t command = 0;

	CHECK(read(fix->mads, &command, sizeof(command)) == sizeof(command));
	CHECK(command == expected);
}

void fixture_fini(struct fixture *fix)
{
	events_free(fix->v.events);
	vhca_fini(&fix->v);
	if (fix->mads) {
		close(fix->v.mads.fd);
		close(fix->mads);
	}
	fake_fini(&fix->fake);
	CHECK(!fix->fake.live && !fix->fake.contexts && !fix->shm->allowed);
	free(fix->cmd);
	shm_free(fix->shm);
	CHECK(count_descriptors() == fix->descriptors);
}

static void fetch(void *from, uint32_t *refs, uint32_t n)
{
	memcpy(refs, from, n * sizeof(*refs));
}

enum xen_vhca_status fixture_do(struct fixture *fix, const struct xen_vhca_req *req)
{
	fix->cmd->v = &fix->v;
	fix->cmd->req = *req;
	fix->cmd->taken_ns = clock_ns();
	cmd_run(fix->cmd, fetch, fix->refs);
	CHECK(!vhca_check_response(req, &fix->cmd->rsp));
	fix->handle = fix->cmd->rsp.u.object.handle;
	return fix->cmd->rsp.status;
}

enum xen_vhca_status fixture_object(struct fixture *fix, unsigned int op, xen_vhca_handle_t handle)
{
	struct xen_vhca_req req = { .op = op, .u.object.handle = handle };

	return fixture_do(fix, &req);
}

/* Each returns from the function that it is used in when the command is refused. */
#define MAKE(operation, member, where, ...) \
	do { \
		struct xen_vhca_req req_ = { .op = XEN_VHCA_OP_##operation, \
					     .u.member = { __VA_ARGS__ } }; \
		enum xen_vhca_status status_ = fixture_do(fix, &req_); \
		if (status_) \
			return status_; \
		*(where) = fix->handle; \
	} while (0)

#define BUF(handle) { .umem = (handle) }
#define DBR(handle, n) { .umem = (handle), .offset = 0x8000 + 8 * (n) }

static enum xen_vhca_status make_queues(struct fixture *fix, struct fixture_process *p)
{
	MAKE(CQ_CREATE, cq_create, &p->cq, .ctx = p->ctx, .uar = p->uar, .buf = BUF(p->umem),
	     .dbr = DBR(p->umem, 0), .cqes = 256, .cqe_size = 64, .event_bit = fix->event_bit);
	MAKE(SRQ_CREATE, srq_create, &p->srq, .pd = p->pd, .buf = BUF(p->umem),
	     .dbr = DBR(p->umem, 1), .max_wr = 256, .max_sge = 1);
	MAKE(QP_CREATE, qp_create, &p->qp, .pd = p->pd, .send_cq = p->cq, .recv_cq = p->cq,
	     .srq = p->srq, .uar = p->uar, .type = XEN_VHCA_QPT_RC, .buf = BUF(p->umem),
	     .dbr = DBR(p->umem, 2), .sq_wqe_count = 64, .max_send_wr = 64, .max_send_sge = 1);
	return XEN_VHCA_OK;
}

static enum xen_vhca_status make_memory(struct fixture *fix, struct fixture_process *p)
{
	struct xen_vhca_req add = { .op = XEN_VHCA_OP_UMEM_ADD };

	MAKE(UMEM_CREATE, umem_create, &p->umem, .ctx = p->ctx, .pages = 1500);
	add.u.umem_add = (struct xen_vhca_umem_add){ .umem = p->umem, .first = 1024, .count = 476 };
	return fixture_do(fix, &add);
}

enum xen_vhca_status fixture_process(struct fixture *fix, struct fixture_process *p)
{
	enum xen_vhca_status status;

	memset(p, 0, sizeof(*p));
	MAKE(CTX_OPEN, ctx_open, &p->ctx, .pid = 77, .name = "test");
	MAKE(UAR_ALLOC, uar_alloc, &p->uar, .ctx = p->ctx, .type = XEN_VHCA_UAR_BF,
	     .gfn = fix->shm->t.auto_translated ? 0x12345 + fix->gfns++ : 0);
	MAKE(PD_ALLOC, pd_alloc, &p->pd, .ctx = p->ctx);
	status = make_memory(fix, p);
	if (!status)
		status = make_queues(fix, p);
	if (status)
		return status;
	MAKE(MR_REG, mr_reg, &p->mr, .pd = p->pd, .addr = { .umem = p->umem, .offset = 0x9123 },
	     .length = 100000, .iova = 0x7f0000000123, .access = 7);
	MAKE(MR_REG, mr_reg, &p->inline_mr, .pd = p->pd, .flags = XEN_VHCA_MR_REG_INLINE,
	     .pages = 3, .addr.offset = 0x10, .length = 12000, .iova = 0x10, .access = 1);
	MAKE(MR_REG, mr_reg, &p->persistent_mr, .pd = p->pd,
	     .flags = XEN_VHCA_MR_REG_INLINE | XEN_VHCA_MR_REG_PERSISTENT, .pages = 2,
	     .length = 8192, .access = 1);
	p->persistent = fix->cmd->rsp.u.mr.umem;
	MAKE(MW_ALLOC, mw_alloc, &p->mw, .pd = p->pd, .type = 2);
	return XEN_VHCA_OK;
}

void fixture_exit(struct fixture *fix, const struct fixture_process *p)
{
	CHECK(!fixture_object(fix, XEN_VHCA_OP_MW_FREE, p->mw));
	CHECK(!fixture_object(fix, XEN_VHCA_OP_MR_DEREG, p->persistent_mr));
	CHECK(!fixture_object(fix, XEN_VHCA_OP_UMEM_DESTROY, p->persistent));
	CHECK(!fixture_object(fix, XEN_VHCA_OP_MR_DEREG, p->inline_mr));
	CHECK(!fixture_object(fix, XEN_VHCA_OP_MR_DEREG, p->mr));
	CHECK(!fixture_object(fix, XEN_VHCA_OP_QP_DESTROY, p->qp));
	CHECK(!fixture_object(fix, XEN_VHCA_OP_SRQ_DESTROY, p->srq));
	CHECK(!fixture_object(fix, XEN_VHCA_OP_CQ_DESTROY, p->cq));
	CHECK(!fixture_object(fix, XEN_VHCA_OP_UMEM_DESTROY, p->umem));
	CHECK(!fixture_object(fix, XEN_VHCA_OP_PD_FREE, p->pd));
	CHECK(!fixture_object(fix, XEN_VHCA_OP_UAR_FREE, p->uar));
	CHECK(!fixture_object(fix, XEN_VHCA_OP_CTX_CLOSE, p->ctx));
}

void fixture_close_all(struct fixture *fix)
{
	struct context *ctx;

	while ((ctx = LIST_FIRST(&fix->v.contexts)))
		CHECK(!fixture_object(fix, XEN_VHCA_OP_CTX_CLOSE, ctx->obj.handle));
	CHECK(fixture_is_empty(fix));
}

bool fixture_is_empty(struct fixture *fix)
{
	unsigned int type;
	bool empty;

	pthread_mutex_lock(&fix->v.lock);
	empty = !fix->v.quota.bytes.used && !fix->v.quota.mcast.used && !fix->fake.live &&
		!fix->fake.contexts && !fix->shm->allowed;
	for (type = 0; type < OBJ_TYPES; type++)
		empty = empty && !fix->v.quota.objects[type].used;
	pthread_mutex_unlock(&fix->v.lock);
	return empty;
}

void fixture_wait_read_behind(struct fixture *fix, uint64_t events)
{
	uint64_t read;

	do {
		sched_yield();
		pthread_mutex_lock(&fix->v.lock);
		read = fix->v.counters.read_behind;
		pthread_mutex_unlock(&fix->v.lock);
		CHECK(read <= events);
	} while (read != events);
}
