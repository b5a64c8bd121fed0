// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Umems that outlive the registration which brought them (MR_REG_PERSISTENT): dropped in any order and while something needs
 * them, named as something else or by handles of the past, more than the limits allow.
 *
 * What is left of all that is asked of the daemon: umems, MRs and bytes in use are again what they were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hostile.h"

#define LOOK_US 100000
#define SLOW_PAGES 64 /* of a umem that the backend's ring thread does not unmap by itself */

struct kept {
	xen_vhca_handle_t mr, umem;
};

/* -- what is in use -- */

struct usage {
	unsigned long umems, mrs, bytes;
};

/* 0: it does not say (yet). */
static unsigned long number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

static struct usage usage_of(const struct hostile *h)
{
	struct usage usage;
	char question[32], *text;

	snprintf(question, sizeof(question), "status %u", h->v.devid);
	text = ask(question);
	usage = (struct usage){
		.umems = number_after(text, "\nobject umem "),
		.mrs = number_after(text, "\nobject MR "),
		.bytes = number_after(text, "\nbytes "),
	};
	free(text);
	return usage;
}

/* The process of hostile_begin() has a umem, two MRs of which one has its own umem, and nothing else. */
static void expect_more(const struct hostile *h, unsigned int umems, unsigned int mrs,
			unsigned int pages)
{
	const struct usage should = { 2 + umems, 2 + mrs, (VFP_PAGES + 2ul + pages) * VF_PAGE };
	uint64_t until = now_ms() + opt.deadline_ms;
	struct usage is;

	if (!ask_possible())
		return;
	do
		is = usage_of(h);
	while (memcmp(&is, &should, sizeof(is)) && now_ms() < until && !usleep(LOOK_US));
	check(!memcmp(&is, &should, sizeof(is)),
	      "%u umems, %u MRs and %u pages beside the process's are in use: "
	      "%lu, %lu and %lu bytes in all",
	      umems, mrs, pages, is.umems, is.mrs, is.bytes);
}

static void begin(struct hostile *h)
{
	hostile_begin(h);
	expect_more(h, 0, 0, 0);
}

static void end(struct hostile *h)
{
	expect_more(h, 0, 0, 0);
	hostile_end(h);
}

/* -- requests -- */

static struct xen_vhca_req reg_kept(xen_vhca_handle_t pd, uint32_t pages)
{
	struct xen_vhca_req req = vf_reg_inline(pd, pages);

	req.u.mr_reg.flags |= XEN_VHCA_MR_REG_PERSISTENT;
	return req;
}

/* An MR on a umem that is there, of its first page. */
static struct xen_vhca_req reg_on(xen_vhca_handle_t pd, xen_vhca_handle_t umem)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_MR_REG,
		.u.mr_reg = {
			.pd = pd, .addr = { .umem = umem }, .length = VF_PAGE, .access = XEN_VHCA_ACCESS_LOCAL_WRITE,
		},
	};
}

static struct kept keep(struct hostile *h, xen_vhca_handle_t pd, uint32_t pages)
{
	const struct xen_vhca_req req = reg_kept(pd, pages);
	uint32_t refs[XEN_VHCA_DATA_REFS];
	struct kept kept;

	hostile_refs(h, refs, pages);
	kept.mr = vf_make(&h->v, &req, refs, pages);
	kept.umem = h->v.rsp[h->v.next_id].u.mr.umem;
	return kept;
}

static xen_vhca_handle_t make(struct hostile *h, struct xen_vhca_req req)
{
	return vf_make(&h->v, &req, NULL, 0);
}

static void done(struct hostile *h, unsigned int op, xen_vhca_handle_t handle)
{
	const struct xen_vhca_req req = vf_object(op, handle);

	require(!vf_do(&h->v, &req)->status, "%s is done", vhca_op_name(op));
}

#define OBJECT(h, op, handle, status, what) \
	do { \
		const struct xen_vhca_req req_ = vf_object(XEN_VHCA_OP_##op, handle); \
		REFUSED(&(h)->v, &req_, status, what); \
	} while (0)

/* -- cases -- */

/* No queue is made in memory that an MR has brought. */
static void refuse_queues(struct hostile *h, xen_vhca_handle_t umem)
{
	struct xen_vhca_req req;

	req = vf_create_cq(&h->p);
	req.u.cq_create.buf = (struct xen_vhca_umem_addr){ .umem = umem };
	REFUSED(&h->v, &req, E_ARG, "a CQ in a umem for MRs alone");
	req = vf_create_srq(&h->p);
	req.u.srq_create.dbr = (struct xen_vhca_umem_addr){ .umem = umem };
	REFUSED(&h->v, &req, E_ARG, "a doorbell record in a umem for MRs alone");
	req = vf_create_qp(&h->p);
	req.u.qp_create.buf = (struct xen_vhca_umem_addr){ .umem = umem };
	REFUSED(&h->v, &req, E_ARG, "a QP in a umem for MRs alone");
}

/* A umem is needed by the MR that brought it, and by others; it needs none of them, and no PD. */
static void run_in_use(const void *arg)
{
	xen_vhca_handle_t pd, other;
	struct kept kept;
	struct hostile h;

	(void)arg;
	begin(&h);
	pd = make(&h, vf_alloc_pd(h.p.ctx));
	kept = keep(&h, pd, 2);
	OBJECT(&h, UMEM_DESTROY, kept.umem, E_BUSY, "a umem under the MR that brought it");
	OBJECT(&h, PD_FREE, pd, E_BUSY, "a PD with an MR whose umem is kept");
	other = make(&h, reg_on(h.p.pd, kept.umem));
	refuse_queues(&h, kept.umem);
	expect_more(&h, 1, 2, 2);
	done(&h, XEN_VHCA_OP_MR_DEREG, kept.mr);
	done(&h, XEN_VHCA_OP_PD_FREE, pd);
	OBJECT(&h, UMEM_DESTROY, kept.umem, E_BUSY, "a umem under another MR");
	done(&h, XEN_VHCA_OP_MR_DEREG, other);
	refuse_queues(&h, kept.umem);
	expect_more(&h, 1, 0, 2);
	done(&h, XEN_VHCA_OP_UMEM_DESTROY, kept.umem);
	OBJECT(&h, UMEM_DESTROY, kept.umem, E_HANDLE, "a umem twice");
	OBJECT(&h, MR_DEREG, kept.mr, E_HANDLE, "an MR whose umem is gone");
	end(&h);
}

/* Dropped out of order: some whose MR is still there, the last one first, each twice. */
static void run_order(const void *arg)
{
	struct kept kept[16];
	struct hostile h;
	unsigned int pages = 0, i;

	(void)arg;
	begin(&h);
	for (i = 0; i < ARRAY_SIZE(kept); i++)
		kept[i] = keep(&h, h.p.pd, 1 + i % 3);
	for (i = 1; i < ARRAY_SIZE(kept); i += 2)
		done(&h, XEN_VHCA_OP_MR_DEREG, kept[i].mr);
	for (i = ARRAY_SIZE(kept); i--;) {
		if (i % 2)
			done(&h, XEN_VHCA_OP_UMEM_DESTROY, kept[i].umem);
		else
			OBJECT(&h, UMEM_DESTROY, kept[i].umem, E_BUSY, "a umem before its MR");
	}
	for (i = 0; i < ARRAY_SIZE(kept); i += 2)
		pages += 1 + i % 3;
	expect_more(&h, ARRAY_SIZE(kept) / 2, ARRAY_SIZE(kept) / 2, pages);
	for (i = 0; i < ARRAY_SIZE(kept); i++) {
		if (i % 2) {
			OBJECT(&h, UMEM_DESTROY, kept[i].umem, E_HANDLE, "a umem twice");
			OBJECT(&h, MR_DEREG, kept[i].mr, E_HANDLE, "an MR twice");
		} else {
			done(&h, XEN_VHCA_OP_MR_DEREG, kept[i].mr);
			done(&h, XEN_VHCA_OP_UMEM_DESTROY, kept[i].umem);
		}
	}
	end(&h);
}

/* Whatever names a umem, by a handle that is none, or none any more. */
static void names_nothing(struct hostile *h, xen_vhca_handle_t handle, const char *what)
{
	struct xen_vhca_req req;

	OBJECT(h, UMEM_DESTROY, handle, E_HANDLE, what);
	req = reg_on(h->p.pd, handle);
	REFUSED(&h->v, &req, E_HANDLE, what);
	req = vf_add_umem(handle, 0, 1);
	REFUSED_REFS(&h->v, &req, h->pool.refs, 1, E_HANDLE, what);
	req = vf_create_cq(&h->p);
	req.u.cq_create.buf.umem = handle;
	REFUSED(&h->v, &req, E_HANDLE, what);
}

static void run_handles(const void *arg)
{
	static const unsigned int others[] = {
		XEN_VHCA_OP_MR_DEREG,   XEN_VHCA_OP_MW_FREE,    XEN_VHCA_OP_PD_FREE,
		XEN_VHCA_OP_UAR_FREE,   XEN_VHCA_OP_CQ_DESTROY, XEN_VHCA_OP_SRQ_DESTROY,
		XEN_VHCA_OP_QP_DESTROY, XEN_VHCA_OP_QP_QUERY,   XEN_VHCA_OP_CTX_CLOSE,
	};
	struct vf_process other;
	struct xen_vhca_req req;
	struct kept kept;
	struct hostile h;
	unsigned int i;

	(void)arg;
	begin(&h);
	vf_process_make(&h.v, &other);
	kept = keep(&h, h.p.pd, 2);
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		req = vf_object(others[i], kept.umem);
		REFUSED(&h.v, &req, E_HANDLE, "a umem as something else");
	}
	req = reg_on(kept.umem, h.p.umem);
	REFUSED(&h.v, &req, E_HANDLE, "a umem as a PD");
	names_nothing(&h, kept.mr, "an MR as a umem");
	names_nothing(&h, h.p.inline_mr, "an MR as its own umem, which has no name");
	for (i = 5; i < 32; i++) /* below are the neighbours' */
		names_nothing(&h, kept.umem ^ 1u << i, "a umem that was never given out");
	req = reg_on(other.pd, kept.umem);
	REFUSED(&h.v, &req, E_CONTEXT, "a umem of another context");
	req = vf_create_cq(&other);
	req.u.cq_create.buf = (struct xen_vhca_umem_addr){ .umem = kept.umem };
	REFUSED(&h.v, &req, E_CONTEXT, "a CQ in a umem of another context");
	req = vf_add_umem(kept.umem, 1, 1);
	REFUSED_REFS(&h.v, &req, h.pool.refs, 1, E_COUNT, "pages for a umem that has all");
	req = reg_on(h.p.pd, kept.umem);
	req.u.mr_reg.length = 2 * VF_PAGE + 1;
	REFUSED(&h.v, &req, E_RANGE, "a byte more than the umem has");
	done(&h, XEN_VHCA_OP_MR_DEREG, kept.mr);
	done(&h, XEN_VHCA_OP_UMEM_DESTROY, kept.umem);
	vf_process_free(&h.v, &other);
	end(&h);
}

/* The entry of a handle is used again, in other generations. */
static void run_stale(const void *arg)
{
	struct kept gone, others[24];
	struct hostile h;
	unsigned int i, round;

	(void)arg;
	begin(&h);
	gone = keep(&h, h.p.pd, 1);
	done(&h, XEN_VHCA_OP_MR_DEREG, gone.mr);
	done(&h, XEN_VHCA_OP_UMEM_DESTROY, gone.umem);
	for (round = 0; round < 3; round++) {
		names_nothing(&h, gone.umem, "a umem that is gone");
		for (i = 0; i < ARRAY_SIZE(others); i++)
			others[i] = keep(&h, h.p.pd, 1);
		names_nothing(&h, gone.umem, "a umem that is gone, after others were kept");
		for (i = 0; i < ARRAY_SIZE(others); i++) {
			done(&h, XEN_VHCA_OP_MR_DEREG, others[i].mr);
			done(&h, XEN_VHCA_OP_UMEM_DESTROY, others[i].umem);
		}
	}
	end(&h);
}

/* What is refused leaves no umem. */
static void run_refused(const void *arg)
{
	uint32_t refs[XEN_VHCA_DATA_REFS];
	struct xen_vhca_req req;
	struct vf_pages pages;
	struct hostile h;
	struct kept kept;

	(void)arg;
	begin(&h);
	hostile_refs(&h, refs, XEN_VHCA_DATA_REFS);
#define PERSISTENT(field, value, status, what) \
	do { \
		req = reg_kept(h.p.pd, 2); \
		req.u.mr_reg.field = (value); \
		REFUSED_REFS(&h.v, &req, refs, XEN_VHCA_DATA_REFS, status, what); \
	} while (0)
	PERSISTENT(flags, XEN_VHCA_MR_REG_PERSISTENT, E_ARG, "without pages of its own");
	PERSISTENT(flags, XEN_VHCA_MR_REG_INLINE | XEN_VHCA_MR_REG_PERSISTENT | 1u << 2, E_RESERVED,
		   "a flag that does not exist");
	PERSISTENT(addr.umem, h.p.umem, E_ARG, "a umem as well");
	PERSISTENT(pages, 0, E_COUNT, "no pages");
	PERSISTENT(pages, 1025, E_COUNT, "more pages than a list holds");
	PERSISTENT(length, 2 * VF_PAGE + 1, E_RANGE, "a byte more than its pages have");
	PERSISTENT(length, 0, E_ARG, "no bytes");
	PERSISTENT(access, XEN_VHCA_ACCESS_REMOTE_WRITE, E_ARG, "remote writes without local ones");
	PERSISTENT(pd, h.p.mr, E_HANDLE, "an MR for its PD");
#undef PERSISTENT
	req = reg_on(h.p.pd, h.p.umem);
	req.u.mr_reg.flags = XEN_VHCA_MR_REG_PERSISTENT;
	REFUSED(&h.v, &req, E_ARG, "a umem that is the guest's anyway");
	refs[1] = 0x7fffffff;
	req = reg_kept(h.p.pd, 2);
	REFUSED_REFS(&h.v, &req, refs, 2, E_GRANT, "a reference beyond the grant table");
	expect_more(&h, 0, 0, 0);

	/* Of read-only grants: kept to be read, and no more than that. */
	vf_share(&h.v, &pages, 2, h.v.backend, false);
	req = reg_kept(h.p.pd, 2);
	REFUSED_REFS(&h.v, &req, pages.refs, 2, E_GRANT,
		     "a read-only grant where the HCA is to write");
	if (h.v.writable_grants) {
		vf_unshare(&h.v, &pages);
		vf_share(&h.v, &pages, 2, h.v.backend, true);
	}
	req.u.mr_reg.access = XEN_VHCA_ACCESS_REMOTE_READ;
	kept.mr = vf_make(&h.v, &req, pages.refs, 2);
	kept.umem = h.v.rsp[h.v.next_id].u.mr.umem;
	req = reg_on(h.p.pd, kept.umem);
	REFUSED(&h.v, &req, E_ARG, "a read-only umem to write to");
	req = vf_create_cq(&h.p);
	req.u.cq_create.buf = (struct xen_vhca_umem_addr){ .umem = kept.umem };
	REFUSED(&h.v, &req, E_ARG, "a CQ in a read-only umem");
	done(&h, XEN_VHCA_OP_MR_DEREG, kept.mr);
	done(&h, XEN_VHCA_OP_UMEM_DESTROY, kept.umem);
	vf_unshare(&h.v, &pages);
	end(&h);
}

/*
 * More than max-mem-bytes: what is kept counts, whether it is registered or not. All but five pages are taken by a umem
 * that announces them and never brings them.
 */
static void run_quota(const void *arg)
{
	uint32_t refs[XEN_VHCA_DATA_REFS], most;
	xen_vhca_handle_t large, mr;
	struct xen_vhca_req req;
	struct kept a, b, c;
	struct hostile h;

	(void)arg;
	begin(&h);
	hostile_refs(&h, refs, XEN_VHCA_DATA_REFS);
	most = h.v.attr.max_mem_bytes / VF_PAGE - VFP_PAGES - 2 - 5;
	req = vf_create_mem(h.p.ctx, most);
	large = vf_make(&h.v, &req, refs, XEN_VHCA_DATA_REFS);
	a = keep(&h, h.p.pd, 2);
	b = keep(&h, h.p.pd, 2);
	req = reg_kept(h.p.pd, 2);
	REFUSED_REFS(&h.v, &req, refs, 2, E_LIMIT, "a page more than there may be");
	c = keep(&h, h.p.pd, 1);
	req = reg_kept(h.p.pd, 1);
	REFUSED_REFS(&h.v, &req, refs, 1, E_LIMIT, "a page when all are kept");
	done(&h, XEN_VHCA_OP_MR_DEREG, a.mr);
	done(&h, XEN_VHCA_OP_MR_DEREG, b.mr);
	REFUSED_REFS(&h.v, &req, refs, 1, E_LIMIT,
		     "a page when all are kept, and some are not registered");
	req = vf_reg_inline(h.p.pd, 1);
	REFUSED_REFS(&h.v, &req, refs, 1, E_LIMIT, "a page that is not to be kept");
	mr = make(&h, reg_on(h.p.pd, a.umem)); /* costs no page */
	done(&h, XEN_VHCA_OP_MR_DEREG, mr);
	expect_more(&h, 4, 1, most + 5);
	done(&h, XEN_VHCA_OP_UMEM_DESTROY, b.umem);
	b = keep(&h, h.p.pd, 2);
	done(&h, XEN_VHCA_OP_MR_DEREG, b.mr);
	done(&h, XEN_VHCA_OP_MR_DEREG, c.mr);
	done(&h, XEN_VHCA_OP_UMEM_DESTROY, c.umem);
	done(&h, XEN_VHCA_OP_UMEM_DESTROY, large);
	done(&h, XEN_VHCA_OP_UMEM_DESTROY, a.umem);
	done(&h, XEN_VHCA_OP_UMEM_DESTROY, b.umem);
	end(&h);
}

/*
 * A umem is dropped and registered at the same time; it is large enough to be dropped by another thread of the backend
 * than the one that registers. One of the two comes first, and the other one is refused.
 */
static void run_race(const void *arg)
{
	unsigned int destroy, reg, won = 0, i;
	enum xen_vhca_status gone, made;
	struct xen_vhca_req req;
	struct hostile h;
	struct kept kept;

	(void)arg;
	begin(&h);
	for (i = 0; i < 40; i++) {
		kept = keep(&h, h.p.pd, SLOW_PAGES);
		done(&h, XEN_VHCA_OP_MR_DEREG, kept.mr);
		req = vf_object(XEN_VHCA_OP_UMEM_DESTROY, kept.umem);
		destroy = vf_send(&h.v, &req, NULL, 0);
		req = reg_on(h.p.pd, kept.umem);
		reg = vf_send(&h.v, &req, NULL, 0);
		vf_collect(&h.v, 0);
		gone = h.v.rsp[destroy].status;
		made = h.v.rsp[reg].status;
		if (!gone) {
			check(made == XEN_VHCA_E_HANDLE, "a umem that goes is registered (%s)",
			      vhca_status_name(made));
			continue;
		}
		check(gone == XEN_VHCA_E_BUSY && !made,
		      "a umem that is registered is dropped (%s, %s)", vhca_status_name(gone),
		      vhca_status_name(made));
		won++;
		done(&h, XEN_VHCA_OP_MR_DEREG, h.v.rsp[reg].u.mr.handle);
		done(&h, XEN_VHCA_OP_UMEM_DESTROY, kept.umem);
	}
	note("registered first: %u of 40", won);
	end(&h);
}

/* A context closes, and then the connection, with umems that are used and umems that are not. */
static void run_closed(const void *arg)
{
	struct kept kept[8], last;
	struct xen_vhca_req req;
	struct vf_process p;
	struct hostile h;
	unsigned int i;

	(void)arg;
	begin(&h);
	vf_process_make(&h.v, &p);
	for (i = 0; i < ARRAY_SIZE(kept); i++) {
		kept[i] = keep(&h, p.pd, 1 + i);
		if (i % 2)
			done(&h, XEN_VHCA_OP_MR_DEREG, kept[i].mr);
	}
	req = vf_object(XEN_VHCA_OP_UMEM_DESTROY, kept[1].umem);
	vf_send(&h.v, &req, NULL, 0);
	done(&h, XEN_VHCA_OP_CTX_CLOSE, p.ctx);
	vf_unshare(&h.v, &p.pages);
	for (i = 0; i < ARRAY_SIZE(kept); i++)
		OBJECT(&h, UMEM_DESTROY, kept[i].umem, E_HANDLE,
		       "a umem of a context that was closed");
	expect_more(&h, 0, 0, 0);
	hostile_counted(&h.v);
	for (i = 0; i < ARRAY_SIZE(kept); i++) {
		last = keep(&h, h.p.pd, SLOW_PAGES);
		if (i % 2)
			done(&h, XEN_VHCA_OP_MR_DEREG, last.mr);
	}
	vf_disconnect(&h.v);
	vf_unshare(&h.v, &h.p.pages);
	vf_unshare(&h.v, &h.pool);
	hostile_works(&h.v);
	vf_close(&h.v);
}

static const struct check_case cases[] = {
	CHECK_CASE("persistent-in-use", run_in_use,
		   "persistent umems dropped while something needs them", .together = true),
	CHECK_CASE("persistent-order", run_order,
		   "persistent umems dropped out of order, and twice", .together = true),
	CHECK_CASE("persistent-handle", run_handles,
		   "persistent umems as something else, and something else as a umem",
		   .together = true),
	CHECK_CASE("persistent-stale", run_stale, "handles of persistent umems that are gone",
		   .together = true),
	CHECK_CASE("persistent-refused", run_refused, "umems that cannot be kept",
		   .together = true),
	CHECK_CASE("persistent-quota", run_quota, "more kept than there may be", .together = true),
	CHECK_CASE("persistent-race", run_race,
		   "persistent umems dropped and registered at the same time", .seconds = 120,
		   .together = true),
	CHECK_CASE("persistent-closed", run_closed,
		   "contexts and connections that end with umems kept"),
};

const struct check_table hostile_persistent = { cases, ARRAY_SIZE(cases) };
