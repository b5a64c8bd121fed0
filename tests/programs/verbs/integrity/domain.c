// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Parent domains whose program gives the memory that queues and doorbell records are in. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "integrity.h"

struct program {
	struct ibv_pd *domain;
	bool has_none; /* the provider is to take memory of its own */
	unsigned int asked, given, back;
};

static void *give(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment, uint64_t type)
{
	struct program *program = pd_context;
	void *at = NULL;

	(void)type;
	check(pd == program->domain, "it is asked for the domain that it knows");
	program->asked++;
	if (program->has_none)
		return IBV_ALLOCATOR_USE_DEFAULT;
	require(!posix_memalign(&at, alignment, size), "%zu bytes at a multiple of %zu", size,
		alignment);
	program->given++;
	return at;
}

static void take_back(struct ibv_pd *pd, void *pd_context, void *at, uint64_t type)
{
	struct program *program = pd_context;

	(void)type;
	check(pd == program->domain, "it comes back from the domain that it went to");
	program->back++;
	free(at);
}

/* A CQ in the domain, which is resized if the device can. */
static void use_cq(struct program *program, struct vp_dev *dev)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 100,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain = program->domain,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(dev->ctx, &attr);
	int err;

	require(cq, "a CQ in the domain: %s", strerror(errno));
	err = ibv_resize_cq(ibv_cq_ex_to_cq(cq), 1000);
	check(!err || err == EOPNOTSUPP || errno == EOPNOTSUPP, "resize it: %d", err);
	require(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "destroy it");
}

static void use(struct program *program, struct vp_dev *dev, enum ibv_qp_type type, bool srq)
{
	struct vp_conf conf = vp_conf(type);
	struct vp_pair pair;
	int round;

	conf.use_srq = srq;
	/* What has come back is given again. */
	for (round = 0; round < 3; round++) {
		vp_pair_make_on(&pair, dev, program->domain, dev, program->domain, &conf);
		vp_exchange(&pair, "in a domain with an allocator");
		check(ibv_dealloc_pd(program->domain), "its domain is in use");
		vp_pair_free(&pair);
	}
}

static void run(const void *arg)
{
	struct program program = { .has_none = arg };
	struct ibv_parent_domain_init_attr attr = {
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = give,
		.free = take_back,
		.pd_context = &program,
	};
	struct vp_dev dev;

	vp_open(&dev, 0);
	attr.pd = ibv_alloc_pd(dev.ctx);
	require(attr.pd, "a PD");
	program.domain = ibv_alloc_parent_domain(dev.ctx, &attr);
	require(program.domain, "a parent domain: %s", strerror(errno));
	use(&program, &dev, IBV_QPT_RC, false);
	use(&program, &dev, IBV_QPT_RC, true);
	use(&program, &dev, IBV_QPT_UD, false);
	use_cq(&program, &dev);
	check(program.asked >= 3 * (4 + 8 + 4), "each queue and each record was asked for (%u)",
	      program.asked);
	check(program.given == (program.has_none ? 0 : program.asked), "and given (%u)",
	      program.given);
	check(program.back == program.given, "all of it came back (%u)", program.back);
	require(!ibv_dealloc_pd(program.domain), "deallocate the domain");
	require(!ibv_dealloc_pd(attr.pd), "deallocate the PD");
	vp_close(&dev);
}

static const struct check_case cases[] = {
	CHECK_CASE("domain-allocator", run, "queues in memory that the program gives"),
	CHECK_CASE("domain-default", run, "a program that leaves them to the provider",
		   .arg = "it has none"),
};

const struct check_table integrity_domain = { .cases = cases, .count = ARRAY_SIZE(cases) };
