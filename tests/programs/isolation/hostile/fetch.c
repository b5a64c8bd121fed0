// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that change while they are read.
 *
 * A thread turns a value to and fro, in all slots of the ring or in the data pages, between one that is good and one that is
 * not. The backend reads each once: so it does the one or refuses the other, and what it checked is what it does. A umem of
 * "one page" that had a thousand in the second look would have room for more than one page afterwards; it must not.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "hostile.h"

#define ROUNDS 30 /* if --count does not say it; and more, if only one value was read */
#define MOST_ROUNDS 1000

/* What turns: a word of each slot, or of each data page. */
struct turner {
	pthread_t thread;
	_Atomic bool stop;
	uint8_t *base;
	size_t stride, count;
	uint32_t values[2];
};

static void *turn(void *arg)
{
	struct turner *t = arg;
	unsigned int round = 0;
	size_t i;

	while (!atomic_load(&t->stop)) {
		round++;
		for (i = 0; i < t->count; i++)
			*(volatile uint32_t *)(t->base + i * t->stride) = t->values[round & 1];
	}
	return NULL;
}

static void turner_start(struct turner *t, uint8_t *base, size_t stride, size_t count,
			 uint32_t good, uint32_t bad)
{
	*t = (struct turner){
		.base = base, .stride = stride, .count = count, .values = { good, bad }
	};
	require(!pthread_create(&t->thread, NULL, turn, t), "start a thread");
}

static void turner_stop(struct turner *t)
{
	atomic_store(&t->stop, true);
	pthread_join(t->thread, NULL);
}

/* A request of which one word turns. What it makes goes again. */
struct fetch {
	const char *what;
	struct xen_vhca_req (*make)(const struct vf_process *p);
	size_t field;
	uint32_t good, bad;
	enum xen_vhca_status status; /* of the bad one */
	unsigned int undo;           /* the operation that ends it, 0: there is nothing to end */
	void (*look)(struct hostile *h, xen_vhca_handle_t made);
};

static struct xen_vhca_req create_mem(const struct vf_process *p)
{
	return vf_create_mem(p->ctx, 1);
}

static struct xen_vhca_req modify_srq(const struct vf_process *p)
{
	return (struct xen_vhca_req){ .op = XEN_VHCA_OP_SRQ_MODIFY,
				      .u.srq_modify = { .srq = p->srq, .limit = 1 } };
}

/* A umem of one page has no second one. */
static void check_umem(struct hostile *h, xen_vhca_handle_t umem)
{
	struct xen_vhca_req req = vf_add_umem(umem, 1, 1);

	REFUSED_REFS(&h->v, &req, &h->p.pages.refs[VFP_DATA], 1, E_COUNT,
		     "a second page of a umem of one");
	req = vf_reg_mr(&h->p);
	req.u.mr_reg.addr = (struct xen_vhca_umem_addr){ .umem = umem };
	REFUSED(&h->v, &req, E_RANGE, "two pages of a umem of one");
}

#define FIELD(member) offsetof(struct xen_vhca_req, u.member)

static const struct fetch pages = {
	"pages of a umem", create_mem, FIELD(umem_create.pages), 1, 0x7fffffff, XEN_VHCA_E_LIMIT, XEN_VHCA_OP_UMEM_DESTROY,
	check_umem,
}, flags = {
	"flags of a umem", create_mem, FIELD(umem_create.flags), 0, 0x80000000, XEN_VHCA_E_RESERVED,
	XEN_VHCA_OP_UMEM_DESTROY, check_umem,
}, cqes = {
	"entries of a CQ", vf_create_cq, FIELD(cq_create.cqes), VFP_CQES, 1024, XEN_VHCA_E_RANGE, XEN_VHCA_OP_CQ_DESTROY,
	NULL,
}, blocks = {
	"blocks of a send queue", vf_create_qp, FIELD(qp_create.sq_wqe_count), VFP_SQ_BLOCKS, 1024, XEN_VHCA_E_RANGE,
	XEN_VHCA_OP_QP_DESTROY, NULL,
}, offset = {
	"place of a CQ", vf_create_cq, FIELD(cq_create.buf.offset), 0, 0x80000000, XEN_VHCA_E_RANGE, XEN_VHCA_OP_CQ_DESTROY,
	NULL,
}, length = {
	"length of a registration", vf_reg_mr, FIELD(mr_reg.length), VF_PAGE, 0x01000000, XEN_VHCA_E_RANGE,
	XEN_VHCA_OP_MR_DEREG, NULL,
}, tail = {
	"the last word of a request", vf_reg_mr, sizeof(struct xen_vhca_req) - 4, 0, 1, XEN_VHCA_E_RESERVED,
	XEN_VHCA_OP_MR_DEREG, NULL,
}, handle = {
	"handle of an SRQ", modify_srq, FIELD(srq_modify.srq), 0, 0x3ffff, XEN_VHCA_E_HANDLE, 0, NULL,
};

/* Returns whether the good value was read. */
static bool fetch_once(struct hostile *h, const struct fetch *f, uint32_t good)
{
	struct xen_vhca_sring *sring = h->v.front.ring.sring;
	struct xen_vhca_req req = f->make(&h->p), undo;
	struct xen_vhca_rsp *rsp;
	struct turner t;

	/* The answer comes into the slot of its request, where the thread may go on for a moment. */
	h->v.noise = f->field;
	turner_start(&t, (uint8_t *)&sring->ring[0] + f->field, sizeof(sring->ring[0]),
		     h->v.entries, good, f->bad);
	rsp = vf_do_refs(&h->v, &req, &h->p.pages.refs[VFP_DATA], 1);
	turner_stop(&t);
	h->v.noise = 0;
	check(!rsp->status || rsp->status == f->status, "%s: the one or the other (got %s)",
	      f->what, vhca_status_name(rsp->status));
	if (rsp->status || !f->undo)
		return !rsp->status;
	undo = vf_object(f->undo, rsp->u.object.handle);
	if (f->look)
		f->look(h, undo.u.object.handle);
	rsp = vf_do(&h->v, &undo);
	require(!rsp->status, "%s: what was made can be ended (%s)", f->what,
		vhca_status_name(rsp->status));
	return true;
}

static bool goes_on(unsigned int rounds, unsigned int done)
{
	return rounds < (opt.count ? opt.count : ROUNDS) ||
	       ((!done || done == rounds) && rounds < MOST_ROUNDS);
}

/* Both values were read at some time, or nothing has been shown. */
static void saw_both(unsigned int rounds, unsigned int done)
{
	note("%u done, %u refused", done, rounds - done);
	check(done && done < rounds, "both values were read (%u of %u times the good one)", done,
	      rounds);
}

static void run_field(const void *arg)
{
	const struct fetch *f = arg;
	unsigned int i, done = 0;
	struct hostile h;
	uint32_t good;

	hostile_begin(&h);
	good = f == &handle ? h.p.srq : f->good;
	for (i = 0; goes_on(i, done); i++)
		done += fetch_once(&h, f, good);
	saw_both(i, done);
	hostile_end(&h);
}

/* The references, which are in the data page. */
static void run_refs(const void *arg)
{
	unsigned int i, done = 0;
	struct xen_vhca_req req;
	struct xen_vhca_rsp *rsp;
	struct turner t;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	turner_start(&t, h.v.data.at, VF_PAGE, h.v.entries, h.p.pages.refs[VFP_DATA], 0xffffffff);
	for (i = 0; goes_on(i, done); i++) {
		req = vf_create_mem(h.p.ctx, 1);
		rsp = vf_do(&h.v, &req);
		check(!rsp->status || rsp->status == XEN_VHCA_E_GRANT,
		      "the one or the other (got %s)", vhca_status_name(rsp->status));
		if (rsp->status)
			continue;
		done++;
		req = vf_object(XEN_VHCA_OP_UMEM_DESTROY, rsp->u.object.handle);
		require(!vf_do(&h.v, &req)->status, "the umem goes");
	}
	turner_stop(&t);
	saw_both(i, done);
	hostile_end(&h);
}

/* The directory of data pages, which is read when the frontend connects, and means nothing later. */
static void run_directory(const void *arg)
{
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	memset(h.v.directory.at, 0xff, VF_PAGE);
	hostile_end(&h);
}

static const struct check_case cases[] = {
	CHECK_CASE("fetch-pages", run_field, "a umem's pages", .arg = &pages, .together = true),
	CHECK_CASE("fetch-flags", run_field, "a umem's flags", .arg = &flags, .together = true),
	CHECK_CASE("fetch-refs", run_refs, "a umem's references, in the data page",
		   .together = true),
	CHECK_CASE("fetch-cqes", run_field, "a CQ's entries", .arg = &cqes, .together = true),
	CHECK_CASE("fetch-blocks", run_field, "a send queue's blocks", .arg = &blocks,
		   .together = true),
	CHECK_CASE("fetch-offset", run_field, "a CQ's place in its umem", .arg = &offset,
		   .together = true),
	CHECK_CASE("fetch-length", run_field, "a registration's length", .arg = &length,
		   .together = true),
	CHECK_CASE("fetch-tail", run_field, "a reserved field", .arg = &tail, .together = true),
	CHECK_CASE("fetch-handle", run_field, "a handle", .arg = &handle, .together = true),
	CHECK_CASE("fetch-directory", run_directory,
		   "the directory of data pages after it was read", .together = true),
};

const struct check_table hostile_fetch = { cases, ARRAY_SIZE(cases) };
