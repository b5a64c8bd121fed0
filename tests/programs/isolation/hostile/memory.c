// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Umems: lists of pages that are longer or shorter than was said, counts that overflow, places outside of a umem.
 */
#include <string.h>

#include "hostile.h"

#define PAGES 1500 /* two lists: 1024, and 476 more */

static void lists(struct hostile *h, uint32_t flags)
{
	uint32_t refs[XEN_VHCA_DATA_REFS];
	struct xen_vhca_req req;
	xen_vhca_handle_t umem;

	hostile_refs(h, refs, XEN_VHCA_DATA_REFS);
	req = vf_create_mem(h->p.ctx, PAGES);
	req.u.umem_create.flags = flags;
	umem = vf_make(&h->v, &req, refs, XEN_VHCA_DATA_REFS);

#define ADD(first, n, status, what) \
	do { \
		req = vf_add_umem(umem, first, n); \
		REFUSED_REFS(&h->v, &req, refs, XEN_VHCA_DATA_REFS, status, what); \
	} while (0)
	ADD(1024, 0, E_COUNT, "no pages");
	ADD(1024, 1025, E_COUNT, "more pages than a list holds");
	ADD(1024, 0xffffffff, E_COUNT, "2^32 - 1 pages");
	ADD(0, 1, E_COUNT, "a page that has come");
	ADD(1023, 2, E_COUNT, "two pages of which one has come");
	ADD(1024, 477, E_COUNT, "a page more than the umem has");
	ADD(1500, 1, E_COUNT, "a page behind the end");
	ADD(0xffffffff, 1, E_RANGE, "the last page of all, and one more");
	ADD(0xfffffc00, 1024, E_RANGE, "from the end of all pages around to the first");
	ADD(0xfffffc00, 1023, E_COUNT, "up to the end of all pages");
	req = vf_reg_mr(&h->p);
	req.u.mr_reg.addr = (struct xen_vhca_umem_addr){ .umem = umem };
	REFUSED(&h->v, &req, E_STATE, "of a umem that lacks pages");
	ADD(1024, 476, OK, "the rest");
	ADD(1024, 476, E_COUNT, "the rest once more");
	ADD(1499, 1, E_COUNT, "the last page once more");
#undef ADD
}

static void run_lists(const void *arg)
{
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	lists(&h, 0);
	lists(&h, XEN_VHCA_UMEM_MR);
	hostile_end(&h);
}

static void run_places(const void *arg)
{
	const uint64_t size = (uint64_t)VFP_PAGES * VF_PAGE;
	struct xen_vhca_req req;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
#define MR(at, bytes, status, what) \
	do { \
		req = vf_reg_mr(&h.p); \
		req.u.mr_reg.addr.offset = (at); \
		req.u.mr_reg.length = (bytes); \
		req.u.mr_reg.iova = (at) & (VF_PAGE - 1); \
		REFUSED(&h.v, &req, status, what); \
	} while (0)
	MR(0, size + 1, E_RANGE, "a byte more than the umem has");
	MR(size, 1, E_RANGE, "a byte behind the umem");
	MR(size - 1, 2, E_RANGE, "a byte inside, a byte behind");
	MR(1ull << 32, 1, E_RANGE, "4 GiB behind the umem's start");
	MR(-4096ull, 8192, E_RANGE, "around the end of all offsets");
	MR(-1ull, 1, E_RANGE, "the last byte of all");
	MR(0, 0, E_ARG, "no bytes");
	MR(0, ~0ull, E_LIMIT, "2^64 - 1 bytes");
	MR(0, 1ull << 63, E_LIMIT, "2^63 bytes");
#undef MR
#define QUEUE(make, part, field, value, status, what) \
	do { \
		req = make(&h.p); \
		req.u.part.field = (value); \
		REFUSED(&h.v, &req, status, what); \
	} while (0)
	QUEUE(vf_create_cq, cq_create, buf.offset, size, E_RANGE, "a buffer behind the umem");
	QUEUE(vf_create_cq, cq_create, buf.offset, -4096ull, E_RANGE, "a buffer that wraps");
	QUEUE(vf_create_cq, cq_create, buf.offset, 64, E_ARG, "a buffer that is not aligned");
	QUEUE(vf_create_cq, cq_create, cqes, 1024, E_RANGE,
	      "a buffer that is longer than the umem");
	QUEUE(vf_create_cq, cq_create, dbr.offset, size, E_RANGE, "a record behind the umem");
	QUEUE(vf_create_cq, cq_create, dbr.offset, size - 4, E_ARG, "a record that is not aligned");
	QUEUE(vf_create_cq, cq_create, dbr.offset, -8ull, E_RANGE, "a record that wraps");
	QUEUE(vf_create_cq, cq_create, buf.reserved, 1, E_RESERVED, "a reserved field of a place");
	QUEUE(vf_resize_cq, cq_resize, buf.offset, size, E_RANGE, "another buffer behind the umem");
	QUEUE(vf_resize_cq, cq_resize, buf.offset, -4096ull, E_RANGE, "another buffer that wraps");
	QUEUE(vf_resize_cq, cq_resize, cqes, 1024, E_RANGE,
	      "another buffer that is longer than the umem");
	QUEUE(vf_resize_cq, cq_resize, cqes, VFP_CQES, E_ARG, "the size that the CQ has");
	QUEUE(vf_create_srq, srq_create, buf.offset, size, E_RANGE, "a buffer behind the umem");
	QUEUE(vf_create_srq, srq_create, max_wr, 1024, E_RANGE,
	      "a buffer that is longer than the umem");
	QUEUE(vf_create_srq, srq_create, dbr.offset, size, E_RANGE, "a record behind the umem");
	QUEUE(vf_create_qp, qp_create, buf.offset, size, E_RANGE, "a buffer behind the umem");
	QUEUE(vf_create_qp, qp_create, sq_wqe_count, 1024, E_RANGE,
	      "a buffer that is longer than the umem");
	QUEUE(vf_create_qp, qp_create, dbr.offset, -8ull, E_RANGE, "a record that wraps");
#undef QUEUE
	hostile_end(&h);
}

/* Registrations that bring their own pages. */
static void run_inline(const void *arg)
{
	uint32_t refs[XEN_VHCA_DATA_REFS];
	struct xen_vhca_req req;
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	hostile_refs(&h, refs, XEN_VHCA_DATA_REFS);
#define INLINE(field, value, status, what) \
	do { \
		req = vf_reg_inline(h.p.pd, 2); \
		req.u.mr_reg.field = (value); \
		REFUSED_REFS(&h.v, &req, refs, XEN_VHCA_DATA_REFS, status, what); \
	} while (0)
	INLINE(pages, 0, E_COUNT, "no pages");
	INLINE(pages, 1025, E_COUNT, "more pages than a list holds");
	INLINE(pages, 0xffffffff, E_COUNT, "2^32 - 1 pages");
	INLINE(pages, 1, E_RANGE, "fewer pages than its length needs");
	INLINE(length, 2 * VF_PAGE + 1, E_RANGE, "a byte more than its pages have");
	INLINE(addr.offset, VF_PAGE, E_RANGE, "an offset behind the first page");
	INLINE(addr.offset, -4096ull, E_RANGE, "an offset that wraps");
	INLINE(addr.umem, h.p.umem, E_ARG, "a umem as well");
	INLINE(iova, 1, E_ARG, "another place in the page");
	INLINE(iova, -4096ull, E_ARG, "addresses that wrap");
	INLINE(access, 1u << 31, E_RESERVED, "a right that does not exist");
	INLINE(access, XEN_VHCA_ACCESS_REMOTE_WRITE, E_ARG, "remote writes without local ones");
#undef INLINE
	hostile_end(&h);
}

static const struct check_case cases[] = {
	CHECK_CASE("memory-list", run_lists, "page lists that are not as announced",
		   .together = true),
	CHECK_CASE("memory-place", run_places, "places outside of a umem", .together = true),
	CHECK_CASE("memory-inline", run_inline, "registrations whose own pages do not fit",
		   .together = true),
};

const struct check_table hostile_memory = { cases, ARRAY_SIZE(cases) };
