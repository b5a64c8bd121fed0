// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* CQs with more than the usual: completions that have a time, a CQ that may overrun. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "integrity.h"

enum { LEN = 64 };

/* All HCAs that xenib is for have a clock. */
static uint64_t clock_of(struct vp_dev *dev)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	int ret = ibv_query_rt_values_ex(dev->ctx, &values);

	if (ret == EOPNOTSUPP && strncmp(ibv_get_device_name(dev->ctx->device), "xenib", 5))
		skip("the device's clock cannot be read");
	require(!ret && values.comp_mask == IBV_VALUES_MASK_RAW_CLOCK,
		"the device tells the time (%d)", ret);
	return values.raw_clock.tv_nsec;
}

/* Two ends, of which a has such a CQ for what it sends. */
struct ends {
	struct vp_conf conf;
	struct vp_dev dev_a, dev_b;
	struct vp_end a, b;
};

static void ends_make(struct ends *e, struct ibv_cq_init_attr_ex *attr)
{
	struct vp_cq *cq = &e->a.scq;

	e->conf = vp_conf(IBV_QPT_RC);
	vp_open(&e->dev_a, 0);
	vp_open(&e->dev_b, 1);
	vp_end_make_no_qp(&e->a, &e->dev_a, NULL, &e->conf);
	vp_cq_free(cq);
	cq->ex = ibv_create_cq_ex(e->dev_a.ctx, attr);
	if (!cq->ex && (errno == EOPNOTSUPP || errno == ENOSYS))
		skip("the device has no such CQs");
	require(cq->ex, "create a CQ");
	cq->cq = ibv_cq_ex_to_cq(cq->ex);
	e->a.qp = vp_qp_create(&e->a, &e->conf);
	require(e->a.qp, "create a QP on it");
	vp_end_make(&e->b, &e->dev_b, NULL, &e->conf);
	vp_connect(&e->a, &e->b);
}

static void ends_free(struct ends *e)
{
	vp_end_free(&e->a);
	vp_end_free(&e->b);
	vp_close(&e->dev_a);
	vp_close(&e->dev_b);
}

/* When a write was complete, by the HCA's clock. */
static uint64_t write_at(struct vp_end *end)
{
	struct ibv_poll_cq_attr attr = { 0 };
	struct timespec start, now;
	uint64_t stamp;
	struct vp_wr w;
	int ret;

	vp_send(end, vp_wr(&w, end, IBV_WR_RDMA_WRITE, GUARD, LEN));
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		ret = ibv_start_poll(end->scq.ex, &attr);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (ret == ENOENT && (now.tv_sec - start.tv_sec) * 1000 < opt.deadline_ms);
	require(!ret && end->scq.ex->status == IBV_WC_SUCCESS, "a write completes (%d)", ret);
	stamp = ibv_wc_read_completion_ts(end->scq.ex);
	ibv_end_poll(end->scq.ex);
	return stamp;
}

/* The clock goes forward, and for as many ticks as time passes at least. */
static void timestamps(const void *arg)
{
	enum { WRITES = 50, PAUSE_MS = 40 };
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000 };
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 15,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_device_attr_ex device;
	uint64_t last, stamp;
	struct ends e;
	int i;

	(void)arg;
	ends_make(&e, &attr);
	require(!ibv_query_device_ex(e.dev_a.ctx, NULL, &device), "query the device");
	check(device.hca_core_clock && device.completion_timestamp_mask,
	      "the device tells its clock: %" PRIu64 " kHz", device.hca_core_clock);
	last = write_at(&e.a);
	for (i = 0; i < WRITES; i++) {
		stamp = write_at(&e.a);
		check(stamp >= last, "%" PRIu64 " is not before %" PRIu64, stamp, last);
		last = stamp;
	}
	nanosleep(&pause, NULL);
	stamp = write_at(&e.a);
	check((stamp - last) / device.hca_core_clock >= PAUSE_MS,
	      "a pause of %d ms: %" PRIu64 " ticks", PAUSE_MS, stamp - last);
	ends_free(&e);
}

/* What the device tells is the clock of its completions. */
static void clock_between(const void *arg)
{
	enum { WRITES = 20 };
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 15,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	uint64_t before, stamp, after;
	struct ends e;
	int i;

	(void)arg;
	ends_make(&e, &attr);
	after = clock_of(&e.dev_a);
	for (i = 0; i < WRITES; i++) {
		before = after;
		stamp = write_at(&e.a);
		after = clock_of(&e.dev_a);
		check(before <= stamp && stamp <= after,
		      "%" PRIu64 " is between %" PRIu64 " and %" PRIu64, stamp, before, after);
	}
	ends_free(&e);
}

/* More completions than there is room for: no event, and the QP works. The receiver tells when the last one is there. */
static void ignored_overrun(const void *arg)
{
	enum { WRITES = 30 };
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 3,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
	};
	uint64_t pattern = 0;
	struct vp_wr w;
	struct ends e;
	int i;

	(void)arg;
	ends_make(&e, &attr);
	require(WRITES <= e.conf.cap.max_send_wr, "the send queue has room for all");
	sink_prepare(&e.b, GUARD, LEN);
	vp_recv(&e.b, WRITES, 0, LEN);
	for (i = 1; i <= WRITES; i++) {
		pattern = vp_fresh();
		vp_fill(e.a.buf + GUARD + (size_t)i * LEN, LEN, pattern);
		vp_wr(&w, &e.a, i < WRITES ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM, GUARD,
		      LEN);
		w.sge[0].addr += (uint64_t)i * LEN;
		vp_send(&e.a, &w.wr);
	}
	vp_expect(&e.b.rcq, WRITES, IBV_WC_SUCCESS, "the last write");
	sink_check(&e.b, GUARD, LEN, pattern, "the last write");
	vp_expect_no_async(&e.dev_a, "a CQ that may overrun");
	check(vp_state(&e.a) == IBV_QPS_RTS, "the QP is in RTS");
	ends_free(&e);
}

static const struct check_case cases[] = {
	CHECK_CASE("cq-timestamps", timestamps, "completions have the time of the HCA's clock"),
	CHECK_CASE("cq-clock", clock_between, "a program can read that clock"),
	CHECK_CASE("cq-ignore-overrun", ignored_overrun, "a CQ that may overrun does"),
};

const struct check_table integrity_cq = { .cases = cases, .count = ARRAY_SIZE(cases) };
