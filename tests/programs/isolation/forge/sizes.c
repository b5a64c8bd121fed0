// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sizes of queues: at all limits, and such that a product of them wraps 32 or 64 bits.
 *
 * EINVAL: the driver, over a limit of the device or of the HCA's formats. EOPNOTSUPP: kinds of queues that are not offered.
 * The core adds its own EINVAL for what no driver has.
 */
#include <errno.h>
#include <stdio.h>

#include "forge.h"

/* -- completion queues -- */

static const struct cq_size {
	uint32_t cqe, cqe_size, reserved, comp_vector;
	uint16_t comp_mask;
} cq_sizes[] = {
	{ .cqe = 0, .cqe_size = 64 },
	{ .cqe = 0x7fffffff, .cqe_size = 64 },
	{ .cqe = 0x80000000, .cqe_size = 64 },
	{ .cqe = 0xffffffff, .cqe_size = 64 }, /* one more is 0 */
	{ .cqe = 0xfffffffe, .cqe_size = 64 },
	{ .cqe = (1u << 26) - 1, .cqe_size = 64 }, /* times 64: 2^32 */
	{ .cqe = (1u << 25) - 1, .cqe_size = 128 },
	{ .cqe = 63, .cqe_size = 0 },
	{ .cqe = 63, .cqe_size = 1 },
	{ .cqe = 63, .cqe_size = 63 },
	{ .cqe = 63, .cqe_size = 96 },
	{ .cqe = 63, .cqe_size = 256 },
	{ .cqe = 63, .cqe_size = 0x04000040 },
	{ .cqe = 63, .cqe_size = 0xffffffff },
	{ .cqe = 63, .cqe_size = 64, .comp_mask = 2 },
	{ .cqe = 63, .cqe_size = 64, .comp_mask = 1u << 15 },
	{ .cqe = 63, .cqe_size = 64, .reserved = 1 },
	{ .cqe = 63, .cqe_size = 64, .comp_vector = 8 },
	{ .cqe = 63, .cqe_size = 64, .comp_vector = 0xffffffff },
};

static int create_cq(struct forge *f, const struct cq_size *size)
{
	struct ib_uverbs_create_cq core;
	struct xenib_create_cq_req driver;
	uint32_t cq;

	uabi_good_cq(&f->set, &core, &driver);
	core.cqe = size->cqe;
	core.comp_vector = size->comp_vector;
	driver.cqe_size = size->cqe_size;
	driver.comp_mask = size->comp_mask;
	driver.reserved = size->reserved;
	return uabi_create_cq(f->fd, &core, &driver, &cq);
}

static void run_cq(const void *arg)
{
	struct forge f;
	char what[96];
	size_t i;

	(void)arg;
	forge_begin(&f);
	for (i = 0; i < ARRAY_SIZE(cq_sizes); i++) {
		snprintf(what, sizeof(what), "CQ no. %zu: %u entries of %u bytes", i,
			 cq_sizes[i].cqe, cq_sizes[i].cqe_size);
		REFUSED(&f, create_cq(&f, &cq_sizes[i]), what, EINVAL);
	}
	forge_end(&f);
}

/* -- shared receive queues -- */

static const struct srq_size {
	uint32_t max_wr, max_sge, limit, uidx;
	uint16_t comp_mask;
} srq_sizes[] = {
	{ .max_wr = 0, .max_sge = 1 },
	{ .max_wr = 0x7fffffff, .max_sge = 1 },
	{ .max_wr = 0x80000000, .max_sge = 1 },
	{ .max_wr = 0xffffffff, .max_sge = 1 },     /* one more is 0 */
	{ .max_wr = (1u << 27) - 1, .max_sge = 1 }, /* times 32: 2^32 */
	{ .max_wr = 63, .max_sge = 0xffffffff },    /* times 16, and 16: 0 */
	{ .max_wr = 63, .max_sge = 0x0fffffff },
	{ .max_wr = 63, .max_sge = 0x08000000 },
	{ .max_wr = 63, .max_sge = 4096 },
	{ .max_wr = 63, .max_sge = 1, .limit = 0xffffffff },
	{ .max_wr = 63, .max_sge = 1, .limit = 65 },
	{ .max_wr = 63, .max_sge = 1, .uidx = 1u << 24 },
	{ .max_wr = 63, .max_sge = 1, .uidx = 0xffffffff },
	{ .max_wr = 63, .max_sge = 1, .comp_mask = 1 },
};

static int create_srq(struct forge *f, const struct srq_size *size)
{
	struct ib_uverbs_create_srq core;
	struct xenib_create_srq_req driver;
	uint32_t srq;

	uabi_good_srq(&f->set, &core, &driver);
	core.max_wr = size->max_wr;
	core.max_sge = size->max_sge;
	core.srq_limit = size->limit;
	driver.uidx = size->uidx;
	driver.comp_mask = size->comp_mask;
	return uabi_create_srq(f->fd, &core, &driver, &srq);
}

static void run_srq(const void *arg)
{
	struct forge f;
	char what[96];
	size_t i;

	(void)arg;
	forge_begin(&f);
	for (i = 0; i < ARRAY_SIZE(srq_sizes); i++) {
		snprintf(what, sizeof(what), "SRQ no. %zu: %u WRs of %u", i, srq_sizes[i].max_wr,
			 srq_sizes[i].max_sge);
		REFUSED(&f, create_srq(&f, &srq_sizes[i]), what, EINVAL);
	}
	forge_end(&f);
}

/* -- queue pairs -- */

enum qp_value {
	SQ,
	RQ,
	SHIFT,
	UIDX,
	MASK,
	SEND_WR,
	RECV_WR,
	SEND_SGE,
	RECV_SGE,
	INLINE,
	TYPE,
	QP_VALUES
};

static const struct qp_change {
	const char *what;
	enum qp_value value[2];
	uint32_t to[2];
} qp_changes[] = {
	{ "a send queue of 3 blocks", { SQ }, { 3 } },
	{ "a send queue of 2^30 blocks", { SQ }, { 1u << 30 } },
	{ "a send queue of 2^26 blocks: 2^32 bytes", { SQ }, { 1u << 26 } },
	{ "a send queue of 2^31 blocks", { SQ }, { 1u << 31 } },
	{ "a send queue of 2^32 - 1 blocks", { SQ }, { 0xffffffff } },
	{ "a receive queue of 3 WQEs", { RQ }, { 3 } },
	{ "a receive queue of 2^31 WQEs", { RQ }, { 1u << 31 } },
	{ "a receive queue of 2^28 WQEs: 2^32 bytes", { RQ }, { 1u << 28 } },
	{ "a receive queue of 2^32 - 1 WQEs", { RQ }, { 0xffffffff } },
	{ "receive WQEs of 1 byte", { SHIFT }, { 0 } },
	{ "receive WQEs of 8 bytes", { SHIFT }, { 3 } },
	{ "receive WQEs of 2^17 bytes", { SHIFT }, { 17 } },
	{ "receive WQEs of 2^26 bytes: 2^32 in all", { SHIFT }, { 26 } },
	{ "receive WQEs of 2^31 bytes", { SHIFT }, { 31 } },
	{ "receive WQEs of 2^32 bytes", { SHIFT }, { 32 } },
	{ "receive WQEs of 2^58 bytes: 2^64 in all", { SHIFT }, { 58 } },
	{ "receive WQEs of 2^64 bytes", { SHIFT }, { 64 } },
	{ "receive WQEs of 2^(2^32 - 1) bytes", { SHIFT }, { 0xffffffff } },
	{ "2^31 receive WQEs of 2^33 bytes: 2^64", { RQ, SHIFT }, { 1u << 31, 33 } },
	{ "both queues of 2^31 bytes", { RQ, SQ }, { 1u << 27, 1u << 25 } },
	{ "no receive queue, but a size of its WQEs", { RQ }, { 0 } },
	{ "a receive queue, but no receive WR", { RECV_WR }, { 0 } },
	{ "a user index of 25 bits", { UIDX }, { 1u << 24 } },
	{ "a user index of 32 bits", { UIDX }, { 0xffffffff } },
	{ "a flag that does not exist", { MASK }, { 2 } },
	{ "2^32 - 1 send WRs", { SEND_WR }, { 0xffffffff } },
	{ "2^32 - 1 receive WRs", { RECV_WR }, { 0xffffffff } },
	{ "2^32 - 1 send elements", { SEND_SGE }, { 0xffffffff } },
	{ "2^32 - 1 receive elements", { RECV_SGE }, { 0xffffffff } },
	{ "2^28 receive elements of 16 bytes", { RECV_SGE }, { 1u << 28 } },
	{ "2^32 - 1 bytes inline", { INLINE }, { 0xffffffff } },
	{ "QP 0", { TYPE }, { 0 } },
	{ "QP 1", { TYPE }, { 1 } },
	{ "raw datagrams", { TYPE }, { 5 } },
	{ "raw packets", { TYPE }, { 8 } },
	{ "XRC, sending", { TYPE }, { 9 } },
	{ "XRC, receiving", { TYPE }, { 10 } },
	{ "a driver's own type", { TYPE }, { 0xff } },
};

static int create_qp(struct forge *f, const struct qp_change *change)
{
	struct ib_uverbs_create_qp core;
	struct xenib_create_qp_req driver;
	uint32_t *const values[QP_VALUES] = {
		[SQ] = &driver.sq_wqe_count,      [RQ] = &driver.rq_wqe_count,
		[SHIFT] = &driver.rq_wqe_shift,   [UIDX] = &driver.uidx,
		[SEND_WR] = &core.max_send_wr,    [RECV_WR] = &core.max_recv_wr,
		[SEND_SGE] = &core.max_send_sge,  [RECV_SGE] = &core.max_recv_sge,
		[INLINE] = &core.max_inline_data,
	};
	uint32_t qp;
	int i;

	uabi_good_qp(&f->set, &core, &driver);
	for (i = 0; i < 2; i++) {
		if (i && !change->value[1] && !change->to[1])
			break;
		if (change->value[i] == TYPE)
			core.qp_type = change->to[i];
		else if (change->value[i] == MASK)
			driver.comp_mask = change->to[i];
		else
			*values[change->value[i]] = change->to[i];
	}
	return uabi_create_qp(f->fd, &core, &driver, &qp);
}

static void run_qp(const void *arg)
{
	struct forge f;
	size_t i;

	(void)arg;
	forge_begin(&f);
	for (i = 0; i < ARRAY_SIZE(qp_changes); i++)
		REFUSED(&f, create_qp(&f, &qp_changes[i]), qp_changes[i].what, EINVAL, EOPNOTSUPP);
	forge_end(&f);
}

/* A queue of the largest size in two pages of memory: the driver must look behind them, and finds nothing (EFAULT). */
static void run_too_small(const void *arg)
{
	const struct qp_change sends = { "", { SQ }, { 1u << 15 } },
			       receives = { "", { RQ }, { 1u << 15 } };
	const struct cq_size cqes = { .cqe = (1u << 16) - 1, .cqe_size = 64 };
	const struct srq_size wrs = { .max_wr = (1u << 15) - 1, .max_sge = 1 };
	struct forge f;

	(void)arg;
	forge_begin(&f);
	REFUSED(&f, create_cq(&f, &cqes), "a CQ of 2^16 entries in a few pages", EFAULT, EINVAL);
	REFUSED(&f, create_srq(&f, &wrs), "an SRQ of 2^15 WRs in a few pages", EFAULT, EINVAL);
	REFUSED(&f, create_qp(&f, &sends), "a send queue of 2^15 blocks in a few pages", EFAULT,
		EINVAL);
	REFUSED(&f, create_qp(&f, &receives), "a receive queue of 2^15 WQEs in a few pages", EFAULT,
		EINVAL);
	forge_end(&f);
}

static const struct check_case cases[] = {
	CHECK_CASE("size-cq", run_cq, "CQs of impossible sizes", .seconds = 120),
	CHECK_CASE("size-srq", run_srq, "SRQs of impossible sizes", .seconds = 120),
	CHECK_CASE("size-qp", run_qp, "QPs of impossible sizes and kinds", .seconds = 180),
	CHECK_CASE("size-behind-end", run_too_small,
		   "queues that are larger than the memory they are in"),
};

const struct check_table forge_sizes = { cases, ARRAY_SIZE(cases) };
