// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_queue_mem.c - queues in memory of the program's allocator: what it is asked for, what the kernel is
 * told, and what comes back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fake.h"

#define MOST 16
#define PAGE 4096ul

/* The program: what it has given. */
struct program {
	int given, fail_at, back; /* pieces; the number of the one that fails, 0: none */
	void *(*answer)(size_t size);
	struct {
		void *addr;
		size_t size;
		uint64_t type;
	} piece[MOST];
	struct ibv_pd *domain;
};

static void *give_pages(size_t size)
{
	uint8_t *addr = aligned_alloc(PAGE, size);

	REQUIRE(addr);
	memset(addr, 0xa5, size);
	return addr;
}

static void *leave_it(size_t size)
{
	(void)size;
	return IBV_ALLOCATOR_USE_DEFAULT;
}

/* In the middle of a page. */
static void *give_unaligned(size_t size)
{
	static uint8_t space[3 * PAGE] __attribute__((aligned(PAGE)));

	REQUIRE(size <= 2 * PAGE);
	return space + 64;
}

static void *alloc(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
		   uint64_t type)
{
	struct program *program = pd_context;
	void *addr;

	CHECK(pd == program->domain && alignment == PAGE && size && !(size % PAGE));
	if (program->fail_at && program->given + 1 == program->fail_at)
		return NULL;
	addr = program->answer(size);
	if (addr == IBV_ALLOCATOR_USE_DEFAULT)
		return addr;
	REQUIRE(program->given < MOST);
	program->piece[program->given].addr = addr;
	program->piece[program->given].size = size;
	program->piece[program->given++].type = type;
	return addr;
}

static void take_back(struct ibv_pd *pd, void *pd_context, void *addr, uint64_t type)
{
	struct program *program = pd_context;
	int i = 0;

	CHECK(pd == program->domain);
	while (i < program->given && program->piece[i].addr != addr)
		i++;
	REQUIRE(i < program->given);
	CHECK(program->piece[i].type == type);
	program->piece[i].addr = NULL;
	program->back++;
	if (program->answer == give_pages)
		free(addr);
}

static struct ibv_pd *open_domain(struct program *program, void *(*answer)(size_t size))
{
	struct ibv_parent_domain_init_attr attr = {
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = alloc,
		.free = take_back,
		.pd_context = program,
	};
	struct ibv_context *context = fake_open();

	REQUIRE(context);
	attr.pd = xenib_alloc_pd(context);
	REQUIRE(attr.pd);
	program->domain = xenib_alloc_parent_domain(context, &attr);
	REQUIRE(program->domain);
	program->answer = answer;
	return program->domain;
}

static void close_domain(struct program *program)
{
	struct ibv_pd *pd = &to_xpd(program->domain)->parent->pd;
	struct ibv_context *context = pd->context;

	CHECK(program->back == program->given);
	CHECK(!xenib_dealloc_pd(program->domain));
	CHECK(!xenib_dealloc_pd(pd));
	fake_close(context);
}

static struct ibv_cq *make_cq(struct ibv_pd *domain)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 100,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain = domain,
	};
	struct ibv_cq_ex *cq = xenib_create_cq_ex(domain->context, &attr);

	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

static struct ibv_srq *make_srq(struct ibv_pd *domain)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 200, .max_sge = 1 } };

	return xenib_create_srq(domain, &attr);
}

/* The last two pieces are those that the kernel was told of, each with its pages for itself. */
static void check_told(const struct program *program, uint64_t resource, size_t bytes)
{
	int i = program->given - 2;
	const uint8_t *addr;
	size_t at;

	REQUIRE(i >= 0);
	CHECK(program->piece[i].type == ((uint64_t)RDMA_DRIVER_MLX5 << 32 | resource));
	CHECK(program->piece[i + 1].type == ((uint64_t)RDMA_DRIVER_MLX5 << 32 | 3));
	CHECK(program->piece[i].size >= bytes && program->piece[i + 1].size == PAGE);
	CHECK(fake.last.buf == (uintptr_t)program->piece[i].addr && !fake.last.buf_shift);
	CHECK(fake.last.db == (uintptr_t)program->piece[i + 1].addr && !fake.last.db_shift);
	addr = program->piece[i + 1].addr;
	for (at = 0; at < PAGE; at++)
		CHECK(!addr[at]);
}

static void theirs(void)
{
	struct program program = {};
	struct ibv_pd *domain = open_domain(&program, give_pages);
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	cq = make_cq(domain);
	REQUIRE(cq);
	check_told(&program, 5, 128 * 64);
	srq = make_srq(domain);
	REQUIRE(srq);
	check_told(&program, 4, 256 * 32);
	qp = fake_qp(domain, cq, srq, IBV_QPT_RC, &fake_cap);
	REQUIRE(qp);
	check_told(&program, 1, 16 * 64);
	CHECK(program.given == 6 && !program.back && !fake.ranges);
	CHECK(xenib_dealloc_pd(domain) == EBUSY);

	/* The fake HCA goes on where it was, and the new buffer is what there is. */
	CHECK(xenib_resize_cq(cq, 1000) == EIO);
	CHECK(program.given == 7 && program.back == 1);
	CHECK(fake.last.buf == (uintptr_t)program.piece[6].addr && !fake.last.buf_shift);

	CHECK(!xenib_destroy_qp(qp));
	CHECK(!xenib_destroy_srq(srq));
	CHECK(!xenib_destroy_cq(cq));
	close_domain(&program);
}

/* An allocator that has none leaves them in arenas. */
static void ours(void)
{
	struct program program = {};
	struct ibv_pd *domain = open_domain(&program, leave_it);
	struct ibv_cq *cq = make_cq(domain);

	REQUIRE(cq);
	CHECK(fake.last.buf_shift && fake.last.db_shift && fake.ranges);
	CHECK(xenib_resize_cq(cq, 1000) == EIO);
	CHECK(xenib_dealloc_pd(domain) == EBUSY);
	CHECK(!xenib_destroy_cq(cq));
	close_domain(&program);
}

static void fails_at_each(void)
{
	int n;

	for (n = 1; n <= 6; n++) {
		struct program program = { .fail_at = n };
		struct ibv_pd *domain = open_domain(&program, give_pages);
		struct ibv_cq *cq = make_cq(domain);
		struct ibv_srq *srq = NULL;
		struct ibv_qp *qp = NULL;

		CHECK(!cq == (n <= 2));
		if (cq)
			srq = make_srq(domain);
		CHECK(!srq == (n <= 4));
		if (srq)
			qp = fake_qp(domain, cq, srq, IBV_QPT_RC, &fake_cap);
		CHECK(!qp && errno == ENOMEM);
		CHECK(!srq || !xenib_destroy_srq(srq));
		CHECK(!cq || !xenib_destroy_cq(cq));
		close_domain(&program);
	}
}

static void unaligned(void)
{
	struct program program = {};
	struct ibv_pd *domain = open_domain(&program, give_unaligned);

	CHECK(!make_cq(domain) && errno == EINVAL);
	CHECK(program.given == 1 && program.back == 1 && !fake.last.buf);
	close_domain(&program);
}

/* Without both of its functions there is no allocator. */
static void half(void)
{
	struct ibv_parent_domain_init_attr attr = {
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
		.alloc = alloc,
	};
	struct ibv_context *context = fake_open();

	REQUIRE(context);
	attr.pd = xenib_alloc_pd(context);
	REQUIRE(attr.pd);
	CHECK(!xenib_alloc_parent_domain(context, &attr) && errno == EINVAL);
	CHECK(!xenib_dealloc_pd(attr.pd));
	fake_close(context);
}

int main(void)
{
	RUN(theirs);
	RUN(ours);
	RUN(fails_at_each);
	RUN(unaligned);
	RUN(half);
	return checks_failed ? 1 : 0;
}
