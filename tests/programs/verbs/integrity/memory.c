// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Registration: memory that comes and goes, pages that are used again, addresses of the user's choice. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "integrity.h"

#define ROUNDS 300

static unsigned long rounds(unsigned long standard)
{
	return opt.count ? opt.count : standard;
}

static uint8_t *map(size_t len)
{
	uint8_t *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	require(at != MAP_FAILED, "map %zu bytes", len);
	return at;
}

void there_and_back(struct vp_end *from, uint8_t *source, struct ibv_mr *mr_source, uint8_t *sink,
		    uint64_t remote, struct ibv_mr *mr_sink, size_t len)
{
	uint64_t pattern = vp_fresh();
	struct vp_wr w;

	memset(sink, 0, len);
	vp_fill(source, len, pattern);
	vp_wr(&w, from, IBV_WR_RDMA_WRITE, 0, len);
	w.sge[0].addr = (uintptr_t)source;
	w.sge[0].lkey = mr_source->lkey;
	w.wr.wr.rdma.remote_addr = remote;
	w.wr.wr.rdma.rkey = mr_sink->rkey;
	vp_send(from, &w.wr);
	vp_expect(&from->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a write");
	require(vp_differs(sink, len, pattern) < 0, "every byte has arrived");

	pattern = vp_fresh();
	vp_fill(sink, len, pattern);
	memset(source, 0, len);
	w.wr.opcode = IBV_WR_RDMA_READ;
	vp_send(from, &w.wr);
	vp_expect(&from->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a read");
	require(vp_differs(source, len, pattern) < 0, "every byte has come back");
}

/* Registers, uses, deregisters: the same pages, whole and in part, again and again. */
static void register_rounds(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct fixture fix;
	struct vp_end *a, *b;
	unsigned long i;

	(void)arg;
	fixture_open(&fix, &conf, 64 * 1024);
	a = &fix.pair.a;
	b = &fix.pair.b;
	for (i = 0; i < rounds(ROUNDS); i++) {
		size_t off = i * 577 % 9000, len = 1 + i * 3119 % 20000;
		struct ibv_mr *mr_a = ibv_reg_mr(a->pd, a->buf + off, len, VP_ACCESS_ALL);
		struct ibv_mr *mr_b = ibv_reg_mr(b->pd, b->buf + off, len, VP_ACCESS_ALL);

		require(mr_a && mr_b, "round %lu: register %zu bytes", i, len);
		there_and_back(a, a->buf + off, mr_a, b->buf + off, (uintptr_t)b->buf + off, mr_b,
			       len);
		require(!ibv_dereg_mr(mr_a) && !ibv_dereg_mr(mr_b), "round %lu: deregister", i);
	}
	fixture_close(&fix);
}

/*
 * Maps, registers, uses, deregisters, unmaps. The pages that the kernel hands out come back in another order each time;
 * a platform that mistakes neighbours in one address space for neighbours in another fails here and nowhere else.
 */
static void recycled_pages(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	size_t page = sysconf(_SC_PAGESIZE);
	struct fixture fix;
	unsigned long i;

	(void)arg;
	fixture_open(&fix, &conf, 4096);
	for (i = 0; i < rounds(40); i++) {
		size_t len = (1 + i * 7 % 64) * page;
		uint8_t *source = map(len), *sink = map(len);
		struct ibv_mr *mr_a = ibv_reg_mr(fix.pair.a.pd, source, len, VP_ACCESS_ALL);
		struct ibv_mr *mr_b = ibv_reg_mr(fix.pair.b.pd, sink, len, VP_ACCESS_ALL);

		require(mr_a && mr_b, "round %lu: register %zu fresh bytes", i, len);
		there_and_back(&fix.pair.a, source, mr_a, sink, (uintptr_t)sink, mr_b, len);
		require(!ibv_dereg_mr(mr_a) && !ibv_dereg_mr(mr_b), "round %lu: deregister", i);
		munmap(source, len);
		/* Every third mapping stays a while, so that the free pages are not in one piece. */
		if (i % 3)
			munmap(sink, len);
	}
	fixture_close(&fix);
}

/* Many registrations at once, of pages here and there; each key reaches its own memory only. */
static void many_regions(const void *arg)
{
	enum { REGIONS = 100 };
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	size_t page = sysconf(_SC_PAGESIZE);
	struct ibv_mr *mr[REGIONS];
	struct fixture fix;
	struct vp_end *a, *b;
	size_t i;

	(void)arg;
	fixture_open(&fix, &conf, REGIONS * page);
	a = &fix.pair.a;
	b = &fix.pair.b;
	for (i = 0; i < REGIONS; i++) {
		mr[i] = ibv_reg_mr(b->pd, b->buf + i * page, page, VP_ACCESS_ALL);
		require(mr[i], "register page %zu", i);
	}
	for (i = 0; i < REGIONS; i++) {
		size_t j = i * 37 % REGIONS;
		uint8_t *sink = b->buf + j * page;

		there_and_back(a, a->buf + i * page, a->mr, sink, (uintptr_t)sink, mr[j], page);
	}
	for (i = 0; i < REGIONS; i++)
		require(!ibv_dereg_mr(mr[i]), "deregister page %zu", i);
	fixture_close(&fix);
}

/* A registration goes by the address that its user gives it. */
static void chosen_address(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	size_t off = 4096 + 24, len = 20000;
	uint64_t iova;
	struct ibv_mr *mr;
	struct fixture fix;
	struct vp_end *b;

	(void)arg;
	fixture_open(&fix, &conf, 64 * 1024);
	b = &fix.pair.b;
	/* In step with the memory within a page, as the devices want it, but elsewhere. */
	iova = 0x7000000000ull + ((uintptr_t)(b->buf + off) & 4095);
	mr = ibv_reg_mr_iova(b->pd, b->buf + off, len, iova, VP_ACCESS_ALL);
	require(mr, "register at an address of choice");
	there_and_back(&fix.pair.a, fix.pair.a.buf, fix.pair.a.mr, b->buf + off, iova, mr, len);
	require(!ibv_dereg_mr(mr), "deregister");
	fixture_close(&fix);
}

/* The same memory, registered twice in one PD and once in another, on both devices. */
static void overlapping(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct ibv_mr *whole, *part, *abroad;
	struct ibv_pd *other;
	struct fixture fix;
	struct vp_end *b;

	(void)arg;
	fixture_open(&fix, &conf, 64 * 1024);
	b = &fix.pair.b;
	other = ibv_alloc_pd(b->dev->ctx);
	require(other, "allocate another PD");
	whole = ibv_reg_mr(b->pd, b->buf, b->len, VP_ACCESS_ALL);
	part = ibv_reg_mr(b->pd, b->buf + 100, 10000, VP_ACCESS_ALL);
	abroad = ibv_reg_mr(other, b->buf, b->len, VP_ACCESS_ALL);
	require(whole && part && abroad, "register the same memory three times");
	there_and_back(&fix.pair.a, fix.pair.a.buf, fix.pair.a.mr, b->buf, (uintptr_t)b->buf, whole,
		       30000);
	require(!ibv_dereg_mr(whole), "deregister the first");
	there_and_back(&fix.pair.a, fix.pair.a.buf, fix.pair.a.mr, b->buf + 100,
		       (uintptr_t)b->buf + 100, part, 10000);
	require(!ibv_dereg_mr(abroad), "deregister that of another PD");
	there_and_back(&fix.pair.a, fix.pair.a.buf, fix.pair.a.mr, b->buf + 100,
		       (uintptr_t)b->buf + 100, part, 10000);
	require(!ibv_dereg_mr(part), "deregister the last");
	require(!ibv_dealloc_pd(other), "deallocate the other PD");
	fixture_close(&fix);
}

/* One element that crosses from one registration into the next is an error elsewhere; two elements are not. */
static void across_regions(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	uint64_t pattern = vp_fresh();
	struct ibv_mr *low, *high;
	struct fixture fix;
	struct vp_end *a;
	struct vp_wr w;

	(void)arg;
	fixture_open(&fix, &conf, 64 * 1024);
	a = &fix.pair.a;
	low = ibv_reg_mr(a->pd, a->buf, 8192, VP_ACCESS_ALL);
	high = ibv_reg_mr(a->pd, a->buf + 8192, 8192, VP_ACCESS_ALL);
	require(low && high, "register two neighbours");
	vp_fill(a->buf + 4000, 8000, pattern);
	memset(fix.pair.b.buf, 0, 8000);
	vp_wr(&w, a, IBV_WR_RDMA_WRITE, 0, 8000);
	w.sge[0] = (struct ibv_sge){ (uintptr_t)a->buf + 4000, 4192, low->lkey };
	w.sge[1] = (struct ibv_sge){ (uintptr_t)a->buf + 8192, 3808, high->lkey };
	w.wr.num_sge = 2;
	vp_send(a, &w.wr);
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a write out of two registrations");
	check(vp_differs(fix.pair.b.buf, 8000, pattern) < 0, "every byte has arrived");
	require(!ibv_dereg_mr(low) && !ibv_dereg_mr(high), "deregister both");
	fixture_close(&fix);
}

/* The elements of a message of three parts, of which the second is no memory. */
static void around_nothing(struct ibv_sge *sge, struct vp_end *end, const struct ibv_mr *null)
{
	sge[0] = (struct ibv_sge){ (uintptr_t)end->buf, 3000, end->mr->lkey };
	sge[1] = (struct ibv_sge){ 0x123, 5000, null->lkey };
	sge[2] = (struct ibv_sge){ (uintptr_t)end->buf + 8000, 2000, end->mr->lkey };
}

/* What is memory has arrived, and between it is this. */
static void check_around(const uint8_t *sink, const uint8_t *source, uint8_t between,
			 const char *what)
{
	size_t i;

	for (i = 3000; i < 8000 && sink[i] == between; i++)
		;
	check(!memcmp(sink, source, 3000) && !memcmp(sink + 8000, source + 8000, 2000),
	      "%s: the parts that are memory", what);
	check(i == 8000, "%s: byte %zu, which is not", what, i);
}

/* What a null MR sends is zeros; what it receives, of whatever operation, is gone, and all else arrives. */
static void null_mr(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	uint64_t pattern = vp_fresh();
	struct ibv_mr *null, *again;
	struct vp_wr w, receive;
	struct fixture fix;
	struct vp_end *a, *b;

	(void)arg;
	conf.cap.max_send_sge = 3;
	conf.cap.max_recv_sge = 3;
	fixture_open(&fix, &conf, 64 * 1024);
	a = &fix.pair.a;
	b = &fix.pair.b;
	null = ibv_alloc_null_mr(a->pd);
	if (!null && errno == EOPNOTSUPP)
		skip("there are no null MRs");
	again = ibv_alloc_null_mr(a->pd);
	require(null && again, "allocate null MRs");

	vp_fill(a->buf, 10000, pattern);
	memset(b->buf, 0xff, 10000);
	vp_wr(&w, a, IBV_WR_RDMA_WRITE, 0, 10000);
	around_nothing(w.sge, a, null);
	w.wr.num_sge = 3;
	vp_send(a, &w.wr);
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a write");
	check_around(b->buf, a->buf, 0, "a write");

	vp_fill(b->buf, 10000, pattern);
	memset(a->buf, 0xff, 10000);
	w.wr.opcode = IBV_WR_RDMA_READ;
	vp_send(a, &w.wr);
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a read");
	check_around(a->buf, b->buf, 0xff, "a read");
	require(!ibv_dereg_mr(null), "deregister one");

	memset(a->buf, 0xff, 10000);
	around_nothing(receive.sge, a, again);
	require(!vp_try_recv(a, pattern, receive.sge, 3), "post a receive");
	vp_wr(&w, b, IBV_WR_SEND, 0, 10000);
	vp_send(b, &w.wr);
	vp_expect(&b->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a send");
	vp_expect(&a->rcq, pattern, IBV_WC_SUCCESS, "a receive");
	check_around(a->buf, b->buf, 0xff, "a receive");
	require(!ibv_dereg_mr(again), "deregister the other");
	fixture_close(&fix);
}

static const struct check_case cases[] = {
	CHECK_CASE("mr-rounds", register_rounds, "register, use, deregister: hundreds of times",
		   .seconds = 120),
	CHECK_CASE("mr-recycled-pages", recycled_pages,
		   "map, register, use, deregister, unmap: pages come back", .seconds = 120),
	CHECK_CASE("mr-many", many_regions, "many registrations at once"),
	CHECK_CASE("mr-chosen-address", chosen_address,
		   "a registration that goes by another address than its memory"),
	CHECK_CASE("mr-overlapping", overlapping, "the same memory registered several times"),
	CHECK_CASE("mr-two-elements", across_regions, "one message out of two registrations"),
	CHECK_CASE("mr-null", null_mr, "elements that are no memory"),
};

const struct check_table integrity_memory = { .cases = cases, .count = ARRAY_SIZE(cases) };
