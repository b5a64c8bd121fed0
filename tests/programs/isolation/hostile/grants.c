// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Grant references that cannot be mapped: E_GRANT, and nothing is left of the others in the same list. The backend maps what
 * this domain has granted to it, by the numbers of this domain: another domain's numbers mean nothing here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

#define PROBES 512
#define MOST_FOREIGN 16 /* are enough */
#define MOST_NUMBERS 2048
#define MOST_SHARES 24 /* of PROBES pages: 48 MiB */

/* A list of good references but for one, in umems of either kind and inline. */
static void refused(struct hostile *h, uint32_t ref, const char *what)
{
	uint32_t refs[64];
	struct xen_vhca_req req;
	unsigned int i, bad;

	for (bad = 0; bad < ARRAY_SIZE(refs); bad += ARRAY_SIZE(refs) - 1) {
		for (i = 0; i < ARRAY_SIZE(refs); i++)
			refs[i] = h->p.pages.refs[VFP_DATA];
		refs[bad] = ref;
		req = vf_create_mem(h->p.ctx, ARRAY_SIZE(refs));
		REFUSED_REFS(&h->v, &req, refs, ARRAY_SIZE(refs), E_GRANT, what);
		req.u.umem_create.flags = XEN_VHCA_UMEM_MR;
		REFUSED_REFS(&h->v, &req, refs, ARRAY_SIZE(refs), E_GRANT, what);
		req = vf_reg_inline(h->p.pd, ARRAY_SIZE(refs));
		REFUSED_REFS(&h->v, &req, refs, ARRAY_SIZE(refs), E_GRANT, what);
	}
}

static void run_none(const void *arg)
{
	const uint32_t numbers[] = { 0x7fffffff, 0x80000000, 0xfffffffe,
				     0xffffffff, 1u << 20,   1u << 30 };
	uint32_t refs[PROBES];
	struct vf_pages pages;
	struct hostile h;
	size_t i;

	(void)arg;
	hostile_begin(&h);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		refused(&h, numbers[i], "a reference beyond the grant table");
	vf_share(&h.v, &pages, PROBES, h.v.backend, true);
	memcpy(refs, pages.refs, sizeof(refs));
	vf_unshare(&h.v, &pages);
	for (i = 0; i < PROBES; i += 37)
		refused(&h, refs[i], "a grant that has ended");
	hostile_end(&h);
}

/* To a domain that is neither the backend nor this one; whether it exists does not matter to Xen. */
static void run_other_domain(const void *arg)
{
	struct vf_pages pages;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	vf_share(&h.v, &pages, 2, 1234, true);
	refused(&h, pages.refs[0], "a page granted to another domain");
	vf_unshare(&h.v, &pages);
	hostile_end(&h);
}

/* Linux lets user space grant 1,024 pages, unless it is told otherwise. It stays so until the guest starts anew. */
static void allow_grants(unsigned int count)
{
	FILE *limit = fopen("/sys/module/xen_gntalloc/parameters/limit", "w");

	require(limit && fprintf(limit, "%u\n", count) > 0 && !fclose(limit), "grant %u pages",
		count);
}

/* Grants PROBES pages, and adds those of their numbers that are among the @n in @foreign to @common, which has @have. */
static unsigned int share_in_common(struct hostile *h, struct vf_pages *pages,
				    const uint32_t *foreign, unsigned int n, uint32_t *common,
				    unsigned int have)
{
	unsigned int i, j;

	vf_share(&h->v, pages, PROBES, h->v.backend, true);
	for (i = 0; i < n && have < MOST_FOREIGN; i++) {
		for (j = 0; j < PROBES && pages->refs[j] != foreign[i]; j++)
			;
		if (j < PROBES)
			common[have++] = foreign[i];
	}
	return have;
}

/*
 * Numbers under which another guest has granted pages to the same backend, and this one has not: before it connects it takes
 * numbers until some are among those of the other guest, and gives them all back then. Which ones Linux gives out depends on
 * all that was granted before, so it may take many.
 */
static void run_foreign(const void *arg)
{
	struct vf_pages pages[MOST_SHARES] = { 0 };
	uint32_t foreign[MOST_NUMBERS], common[MOST_FOREIGN];
	unsigned int shares = 0, have = 0, n = 0, i;
	char *answer, *at, *rest;
	struct hostile h;

	(void)arg;
	memset(&h, 0, sizeof(h));
	vf_open(&h.v, 0);
	answer = ask("foreign-refs");
	for (rest = answer; n < ARRAY_SIZE(foreign) && (at = strsep(&rest, "\n"));)
		if (*at)
			foreign[n++] = strtoul(at, NULL, 16);
	free(answer);
	allow_grants((MOST_SHARES + 1) * PROBES);
	while (shares < MOST_SHARES && have < MOST_FOREIGN)
		have = share_in_common(&h, &pages[shares++], foreign, n, common, have);
	vf_connect(&h.v, HOSTILE_ORDER);
	vf_process_make(&h.v, &h.p);
	for (i = 0; i < shares; i++)
		vf_unshare(&h.v, &pages[i]);
	for (i = 0; i < have; i++)
		refused(&h, common[i], "a number under which another guest has granted a page");
	printf("%u of the other guest's %u numbers among %u that are free here\n", have, n,
	       shares * PROBES);
	check(have, "there is a number of the other guest that is free here");
	hostile_end(&h);
}

/* A read-only umem: it may be read, and no more. */
static void read_only(struct hostile *h, const struct vf_pages *pages, uint32_t flags)
{
	struct xen_vhca_req req;
	xen_vhca_handle_t umem, mr;

	req = vf_create_mem(h->p.ctx, VFP_PAGES);
	req.u.umem_create.flags = XEN_VHCA_UMEM_READ_ONLY | flags;
	umem = vf_make(&h->v, &req, pages->refs, VFP_PAGES);
	req = vf_reg_mr(&h->p);
	req.u.mr_reg.addr = (struct xen_vhca_umem_addr){ .umem = umem };
	REFUSED(&h->v, &req, E_ARG, "a read-only umem to write to");
	req.u.mr_reg.access = XEN_VHCA_ACCESS_MW_BIND;
	REFUSED(&h->v, &req, E_ARG, "a read-only umem to bind windows to");
	req = vf_create_cq(&h->p);
	req.u.cq_create.buf = (struct xen_vhca_umem_addr){ .umem = umem };
	REFUSED(&h->v, &req, E_ARG, "a CQ in a read-only umem");
	req = vf_create_cq(&h->p);
	req.u.cq_create.dbr = (struct xen_vhca_umem_addr){ .umem = umem };
	REFUSED(&h->v, &req, E_ARG, "a doorbell record in a read-only umem");
	req = vf_create_qp(&h->p);
	req.u.qp_create.buf = (struct xen_vhca_umem_addr){ .umem = umem };
	REFUSED(&h->v, &req, E_ARG, "a QP in a read-only umem");
	req = vf_reg_mr(&h->p);
	req.u.mr_reg.addr = (struct xen_vhca_umem_addr){ .umem = umem };
	req.u.mr_reg.access = XEN_VHCA_ACCESS_REMOTE_READ;
	mr = vf_make(&h->v, &req, NULL, 0);
	req = vf_object(XEN_VHCA_OP_MR_DEREG, mr);
	require(!vf_do(&h->v, &req)->status, "the registration to read goes");
	req = vf_object(XEN_VHCA_OP_UMEM_DESTROY, umem);
	require(!vf_do(&h->v, &req)->status, "its umem goes");
}

static void run_read_only(const void *arg)
{
	struct xen_vhca_req req;
	struct vf_pages pages;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	vf_share(&h.v, &pages, VFP_PAGES, h.v.backend, false);
	refused(&h, pages.refs[0], "a read-only grant where the HCA is to write");
	if (h.v.writable_grants) {
		req = vf_create_mem(h.p.ctx, VFP_PAGES);
		req.u.umem_create.flags = XEN_VHCA_UMEM_READ_ONLY;
		REFUSED_REFS(&h.v, &req, pages.refs, VFP_PAGES, E_GRANT,
			     "read-only grants, of which there are to be none");
		vf_unshare(&h.v, &pages);
		vf_share(&h.v, &pages, VFP_PAGES, h.v.backend, true);
	}
	read_only(&h, &pages, 0);
	read_only(&h, &pages, XEN_VHCA_UMEM_MR);
	vf_unshare(&h.v, &pages);
	hostile_end(&h);
}

/*
 * The grants end in the guest while the backend has the pages mapped: Linux keeps grant and page until the backend lets go,
 * as any guest would find out that Xen does. The objects on them can be destroyed, and only then are the pages free.
 */
static void run_revoked(const void *arg)
{
	struct vf_process p;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	vf_process_make(&h.v, &p);
	vf_unshare(&h.v, &p.pages);
	hostile_counted(&h.v);
	vf_process_free(&h.v, &p);
	hostile_end(&h);
}

/* Ring and data pages as well; the guest can then only leave. */
static void run_revoked_ring(const void *arg)
{
	struct vf_process p;
	struct vfront v;

	(void)arg;
	vf_open(&v, 0);
	vf_connect(&v, HOSTILE_ORDER);
	vf_process_make(&v, &p);
	vf_unshare(&v, &p.pages);
	vf_release(&v);
	vf_set_state(&v, VF_CLOSING);
	vf_expect_backend(&v, VF_CLOSED);
	vf_set_state(&v, VF_CLOSED);
	hostile_works(&v);
	vf_close(&v);
}

/* Umem after umem that fails at its last page: nothing of them stays mapped, or the quota of bytes would end. */
static void fail_repeatedly(struct hostile *h, uint32_t flags)
{
	uint32_t refs[XEN_VHCA_DATA_REFS];
	struct xen_vhca_req req;
	xen_vhca_handle_t umem;
	uint64_t bytes;

	hostile_refs(h, refs, XEN_VHCA_DATA_REFS);
	req = vf_create_mem(h->p.ctx, XEN_VHCA_DATA_REFS);
	req.u.umem_create.flags = flags;
	umem = vf_make(&h->v, &req, refs, XEN_VHCA_DATA_REFS);
	req = vf_object(XEN_VHCA_OP_UMEM_DESTROY, umem);
	require(!vf_do(&h->v, &req)->status, "the good list can be mapped, and unmapped");
	refs[XEN_VHCA_DATA_REFS - 1] = 0xffffffff;
	for (bytes = 0; bytes <= h->v.attr.max_mem_bytes; bytes += ARRAY_SIZE(refs) * VF_PAGE) {
		req = vf_create_mem(h->p.ctx, XEN_VHCA_DATA_REFS);
		req.u.umem_create.flags = flags;
		REFUSED_REFS(&h->v, &req, refs, XEN_VHCA_DATA_REFS, E_GRANT,
			     "a umem that fails at its end");
	}
}

/* On vHCA 1, if there is one: the smaller its quota is, the sooner. */
static void run_repeated(const void *arg)
{
	struct hostile h;

	(void)arg;
	memset(&h, 0, sizeof(h));
	vf_open(&h.v, vf_exists(1));
	vf_connect(&h.v, HOSTILE_ORDER);
	vf_process_make(&h.v, &h.p);
	vf_share(&h.v, &h.pool, HOSTILE_POOL, h.v.backend, true);
	fail_repeatedly(&h, 0);
	fail_repeatedly(&h, XEN_VHCA_UMEM_MR);
	hostile_counted(&h.v);
	vf_process_free(&h.v, &h.p);
	vf_unshare(&h.v, &h.pool);
	vf_disconnect(&h.v);
	vf_close(&h.v);
}

static const struct check_case cases[] = {
	CHECK_CASE("grant-none", run_none, "references that are not granted, or not any more",
		   .together = true),
	CHECK_CASE("grant-other-domain", run_other_domain, "references granted to somebody else",
		   .together = true),
	CHECK_CASE("grant-foreign", run_foreign, "references of another guest (--answers)"),
	CHECK_CASE("grant-read-only", run_read_only,
		   "read-only grants and umems where the HCA writes", .together = true),
	CHECK_CASE("grant-revoked", run_revoked, "grants that end while they are mapped",
		   .together = true),
	CHECK_CASE("grant-revoked-ring", run_revoked_ring,
		   "the ring's grants end while it is connected"),
	CHECK_CASE("grant-repeated", run_repeated, "many umems that fail at their end",
		   .seconds = 180),
};

const struct check_table hostile_grants = { cases, ARRAY_SIZE(cases) };
