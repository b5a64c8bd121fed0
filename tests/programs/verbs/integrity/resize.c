// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* CQs that are made larger and smaller while completions wait in them: none is lost, none comes twice. */
#include <errno.h>

#include "integrity.h"

enum { LEN = 64, WAITING = 3 };

/* Those on which what is asked for is not there are told by it. */
static void resize(struct vp_cq *cq, int cqe)
{
	int err = ibv_resize_cq(cq->cq, cqe);

	if (err == EOPNOTSUPP || err == ENOSYS)
		skip("the device does not resize CQs");
	require(!err, "resize a CQ to %d (%d)", cqe, err);
	check(cq->cq->cqe >= cqe, "it has room for %d, and says so (%d)", cqe, cq->cq->cqe);
}

static uint64_t write_one(struct vp_end *end)
{
	struct vp_wr w;

	vp_send(end, vp_wr(&w, end, IBV_WR_RDMA_WRITE, GUARD, LEN));
	return w.wr.wr_id;
}

/* Some wait while it is resized, or come meanwhile; then the CQ goes around in its new size. */
static void round_of(struct vp_end *end, int cqe)
{
	uint64_t id[WAITING];
	int i;

	for (i = 0; i < WAITING; i++)
		id[i] = write_one(end);
	resize(&end->scq, cqe);
	for (i = 0; i < WAITING; i++)
		vp_expect(&end->scq, id[i], IBV_WC_SUCCESS, "a write before");
	for (i = 0; i < 2 * cqe + 5 && i < 300; i++)
		vp_expect(&end->scq, write_one(end), IBV_WC_SUCCESS, "a write after");
	vp_expect_none(&end->scq, "what was polled before");
}

static void resized_by(bool cq_ex)
{
	static const int sizes[] = { 31, 63, 7, 7, 200, 15, 1000, WAITING, 15 };
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct fixture fix;
	size_t i;

	conf.cqe = 15;
	conf.cq_ex = cq_ex;
	fixture_open(&fix, &conf, 4096);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		round_of(&fix.pair.a, sizes[i]);
	vp_exchange(&fix.pair, "the pair");
	fixture_close(&fix);
}

static void resized(const void *arg)
{
	(void)arg;
	resized_by(false);
	resized_by(true);
}

/* What does not fit is refused, and nothing has changed. */
static void refused(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	uint64_t id[8];
	struct vp_wr message, answer;
	struct fixture fix;
	struct vp_end *a, *b;
	int i, cqe;

	(void)arg;
	conf.cqe = 15;
	fixture_open(&fix, &conf, 4096);
	a = &fix.pair.a;
	b = &fix.pair.b;
	resize(&a->scq, 31);
	cqe = a->scq.cq->cqe;
	check(ibv_resize_cq(a->scq.cq, 0x7fffffff), "a CQ of 2^31 entries is refused");
	check(ibv_resize_cq(a->scq.cq, fix.dev_a.attr.max_cqe + 1), "one beyond max_cqe");

	for (i = 0; i < 8; i++)
		id[i] = write_one(a);
	/* All of them are in the CQ when a message that follows them has been answered. */
	vp_recv(b, 1, 2048, LEN);
	vp_recv(a, 2, 2048, LEN);
	vp_send(a, vp_wr(&message, a, IBV_WR_SEND, GUARD, LEN));
	vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "the message");
	vp_send(b, vp_wr(&answer, b, IBV_WR_SEND, GUARD, LEN));
	vp_expect(&a->rcq, 2, IBV_WC_SUCCESS, "the answer");
	vp_expect(&b->scq, answer.wr.wr_id, IBV_WC_SUCCESS, "the answer is sent");
	vp_expect(&a->scq, id[0], IBV_WC_SUCCESS, "the first write");
	check(ibv_resize_cq(a->scq.cq, 3), "too small for what waits is refused");
	check(a->scq.cq->cqe == cqe, "the CQ says its old size");
	for (i = 1; i < 8; i++)
		vp_expect(&a->scq, id[i], IBV_WC_SUCCESS, "a write that waits");
	vp_expect(&a->scq, message.wr.wr_id, IBV_WC_SUCCESS, "the message");
	vp_exchange(&fix.pair, "the pair");
	fixture_close(&fix);
}

/* A CQ that is armed stays so; one that was resized can be armed. */
static void events(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct fixture fix;
	struct vp_end *a;
	uint64_t id;
	int i;

	(void)arg;
	conf.cqe = 15;
	conf.channel = true;
	fixture_open(&fix, &conf, 4096);
	a = &fix.pair.a;
	for (i = 0; i < 10; i++) {
		require(!ibv_req_notify_cq(a->scq.cq, 0), "arm the CQ");
		resize(&a->scq, i % 2 ? 15 : 63);
		id = write_one(a);
		check(vp_event(a->channel, opt.deadline_ms) == a->scq.cq, "armed before");
		vp_expect(&a->scq, id, IBV_WC_SUCCESS, "its write");
		require(!ibv_req_notify_cq(a->scq.cq, 0), "arm the CQ");
		id = write_one(a);
		check(vp_event(a->channel, opt.deadline_ms) == a->scq.cq, "armed after");
		vp_expect(&a->scq, id, IBV_WC_SUCCESS, "its write");
	}
	fixture_close(&fix);
}

static const struct check_case cases[] = {
	CHECK_CASE("resize-cq", resized, "a CQ is resized while completions wait and come"),
	CHECK_CASE("resize-cq-refused", refused, "a size that cannot be, and too small a one"),
	CHECK_CASE("resize-cq-events", events, "a resized CQ tells of completions"),
};

const struct check_table integrity_resize = { .cases = cases, .count = ARRAY_SIZE(cases) };
