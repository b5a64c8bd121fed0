// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_recv.c - receive queues and SRQs: WQEs octet by octet, limits, and an HCA that walks an
 * SRQ's list while WQEs come back in any order.
 */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "fake.h"

struct fixture {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct fake_hca_cq hca;
};

static void fixture_up(struct fixture *fix, const struct ibv_qp_cap *cap,
		       struct ibv_srq_attr *srq_attr)
{
	struct ibv_srq_init_attr attr;

	memset(fix, 0, sizeof(*fix));
	fix->context = fake_open();
	REQUIRE(fix->context);
	fix->pd = xenib_alloc_pd(fix->context);
	REQUIRE(fix->pd);
	fix->cq = xenib_create_cq(fix->context, 63, NULL, 0);
	REQUIRE(fix->cq);
	fake_hca_attach(&fix->hca, fix->cq);
	if (srq_attr) {
		attr = (struct ibv_srq_init_attr){ .attr = *srq_attr };
		fix->srq = xenib_create_srq(fix->pd, &attr);
		REQUIRE(fix->srq);
		*srq_attr = attr.attr;
	}
	fix->qp = fake_qp(fix->pd, fix->cq, fix->srq, IBV_QPT_RC, cap);
	REQUIRE(fix->qp);
}

static void fixture_down(struct fixture *fix)
{
	CHECK(!fix->qp || !xenib_destroy_qp(fix->qp));
	CHECK(!fix->srq || !xenib_destroy_srq(fix->srq));
	CHECK(!xenib_destroy_cq(fix->cq));
	CHECK(!xenib_dealloc_pd(fix->pd));
	fake_close(fix->context);
}

static uint64_t get_be(const uint8_t *at, int octets)
{
	uint64_t v = 0;

	while (octets--)
		v = v << 8 | *at++;
	return v;
}

static bool segment_is(const uint8_t *at, uint32_t length, uint32_t lkey, uint64_t addr)
{
	return get_be(at, 4) == length && get_be(at + 4, 4) == lkey && get_be(at + 8, 8) == addr;
}

static bool is_end(const uint8_t *at)
{
	return segment_is(at, 0, 0x100, 0);
}

/* Receive WQEs of four segments; those of length 0 are left out, the rest ends with a mark. */
static void receive_queue(void)
{
	static const struct ibv_qp_cap cap = {
		.max_send_wr = 1,
		.max_recv_wr = 5,
		.max_send_sge = 1,
		.max_recv_sge = 3,
	};
	struct ibv_sge sge[4] = {
		{ 0x112233445566, 100, 0xa1 },
		{ 0x2000, 0, 0xa2 },
		{ 0x3000, 4096, 0xa3 },
		{ 0x4000, 1, 0xa4 },
	};
	struct ibv_recv_wr wr = { .sg_list = sge }, *bad;
	struct fake_cqe cqe = { .opcode = 2, .bytes = 5 };
	struct ibv_wc wc;
	struct fixture fix;
	uint8_t *at;
	uint32_t i;

	fixture_up(&fix, &cap, NULL);
	CHECK(fake.last.rq_wqes == 8 && fake.last.rq_shift == 6);
	CHECK(fake.last.buf == (uintptr_t)to_xqp(fix.qp)->q.rq.start);
	cqe.uidx = to_xqp(fix.qp)->q.uidx;

	for (i = 0; i < 0x10010; i++) {
		wr.wr_id = i;
		wr.num_sge = i % 5;
		CHECK(!ibv_post_recv(fix.qp, &wr, &bad));
		at = to_xqp(fix.qp)->q.rq.start + i % 8 * 64;
		switch (i % 5) {
		case 0:
			CHECK(is_end(at));
			break;
		case 1:
		case 2:
			CHECK(segment_is(at, 100, 0xa1, 0x112233445566) && is_end(at + 16));
			break;
		case 3:
			CHECK(segment_is(at + 16, 4096, 0xa3, 0x3000) && is_end(at + 32));
			break;
		case 4:
			CHECK(segment_is(at + 32, 1, 0xa4, 0x4000) && is_end(at + 48));
			break;
		}
		CHECK(be32toh(to_xqp(fix.qp)->q.dbrec[0]) == ((i + 1) & 0xffff));
		cqe.wqe = i;
		fake_hca_complete(&fix.hca, &cqe);
		CHECK(ibv_poll_cq(fix.cq, 1, &wc) == 1 && wc.wr_id == i && wc.byte_len == 5);
	}

	/* All four: there is no room for the mark, and no need. */
	sge[1].length = 9;
	wr.num_sge = 4;
	CHECK(!ibv_post_recv(fix.qp, &wr, &bad));
	CHECK(segment_is(to_xqp(fix.qp)->q.rq.start + i % 8 * 64 + 48, 1, 0xa4, 0x4000));
	wr.num_sge = 5;
	CHECK(ibv_post_recv(fix.qp, &wr, &bad) == EINVAL && bad == &wr);
	wr.num_sge = -1;
	CHECK(ibv_post_recv(fix.qp, &wr, &bad) == EINVAL);
	fixture_down(&fix);
}

static void receive_limits(void)
{
	static const struct ibv_qp_cap cap = {
		.max_send_wr = 1,
		.max_recv_wr = 4,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT };
	struct ibv_recv_wr wr[6] = {}, *bad;
	struct fixture fix;
	int i;

	fixture_up(&fix, &cap, NULL);
	CHECK(to_xqp(fix.qp)->q.rq.max_wr == 4);
	for (i = 0; i < 6; i++)
		wr[i].next = i < 5 ? &wr[i + 1] : NULL;
	CHECK(ibv_post_recv(fix.qp, wr, &bad) == ENOMEM && bad == &wr[4]);
	CHECK(be32toh(to_xqp(fix.qp)->q.dbrec[0]) == 4);

	/* Not in RESET, but in INIT. */
	CHECK(!xenib_modify_qp(fix.qp, &reset, IBV_QP_STATE));
	CHECK(ibv_post_recv(fix.qp, &wr[5], &bad) == EINVAL);
	CHECK(!xenib_modify_qp(fix.qp, &init, IBV_QP_STATE));
	CHECK(!ibv_post_recv(fix.qp, &wr[5], &bad));
	fixture_down(&fix);
}

/* A QP without queues: CQEs find memory, and posting is refused. */
static void no_queues(void)
{
	static const struct ibv_qp_cap none;
	struct fake_cqe cqe = { .opcode = 2, .wqe = 0xffff };
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad_send;
	struct ibv_recv_wr recv = {}, *bad_recv;
	struct ibv_wc wc;
	struct fixture fix;

	fixture_up(&fix, &none, NULL);
	CHECK(!fake.last.sq_blocks && !fake.last.rq_wqes && !fake.last.rq_shift);
	CHECK(ibv_post_recv(fix.qp, &recv, &bad_recv) == ENOMEM);
	CHECK(ibv_post_send(fix.qp, &send, &bad_send) == ENOMEM);
	cqe.uidx = to_xqp(fix.qp)->q.uidx;
	fake_hca_complete(&fix.hca, &cqe);
	CHECK(ibv_poll_cq(fix.cq, 1, &wc) == 1 && !wc.wr_id);
	cqe.opcode = 13;
	fake_hca_complete(&fix.hca, &cqe);
	CHECK(ibv_poll_cq(fix.cq, 1, &wc) == 1 && !wc.wr_id);
	fixture_down(&fix);
}

/* The HCA's side of an SRQ: it follows the links, and knows how many WQEs were posted. */
struct hca_srq {
	const uint8_t *wqes;
	uint32_t stride;
	uint32_t at;
	uint32_t taken;
};

static uint32_t hca_take(struct hca_srq *hca)
{
	uint32_t wqe = hca->at;

	hca->at = get_be(hca->wqes + wqe * hca->stride + 2, 2);
	hca->taken++;
	return wqe;
}

static const struct ibv_qp_cap srq_cap = { .max_send_wr = 1, .max_send_sge = 1 };

/* Posts, consumes and completes by chance; what is consumed must be what was posted, in order. */
static void srq_recycling(void)
{
	struct ibv_srq_attr attr = { .max_wr = 20, .max_sge = 2 };
	struct ibv_sge sge[3] = {};
	struct ibv_recv_wr wr = { .sg_list = sge }, *bad;
	struct fake_cqe cqe = { .opcode = 2 };
	uint32_t taken[64], id_of[64], n_taken = 0, pick, i;
	uint32_t posted = 0, out = 0;
	struct hca_srq hca = {};
	struct ibv_wc wc;
	struct fixture fix;
	int err;

	fixture_up(&fix, &srq_cap, &attr);
	CHECK(attr.max_wr == 31 && attr.max_sge == 3);
	CHECK(to_xsrq(fix.srq)->q.mask == 31 && to_xsrq(fix.srq)->q.shift == 6);
	cqe.uidx = to_xqp(fix.qp)->q.uidx;
	hca.wqes = to_xsrq(fix.srq)->q.wqes;
	hca.stride = 64;
	srandom(1);

	for (i = 0; i < 200000 && !checks_failed; i++) {
		switch (random() % 3) {
		case 0: /* post */
			sge[0] = (struct ibv_sge){ posted, 1 + posted % 100, posted * 3 };
			sge[1] = (struct ibv_sge){ posted + 1, posted % 2, 7 };
			wr.wr_id = posted;
			wr.num_sge = 2;
			err = ibv_post_srq_recv(fix.srq, &wr, &bad);
			CHECK(err == (out == 31 ? ENOMEM : 0));
			if (err)
				break;
			posted++;
			out++;
			CHECK(be32toh(*to_xsrq(fix.srq)->q.dbrec) == posted);
			break;
		case 1: { /* a message takes the next one */
			const uint8_t *at;

			if (hca.taken == posted)
				break;
			id_of[n_taken] = hca.taken;
			taken[n_taken] = hca_take(&hca);
			REQUIRE(taken[n_taken] < 32);
			at = hca.wqes + taken[n_taken] * 64;
			pick = id_of[n_taken];
			CHECK(segment_is(at + 16, 1 + pick % 100, pick * 3, pick));
			CHECK(pick % 2 ? segment_is(at + 32, 1, 7, pick + 1) : is_end(at + 32));
			n_taken++;
			break;
		}
		case 2: /* one of them completes, and is polled */
			if (!n_taken)
				break;
			pick = random() % n_taken;
			cqe.wqe = taken[pick];
			fake_hca_complete(&fix.hca, &cqe);
			CHECK(ibv_poll_cq(fix.cq, 1, &wc) == 1 && wc.wr_id == id_of[pick]);
			taken[pick] = taken[--n_taken];
			id_of[pick] = id_of[n_taken];
			out--;
			break;
		}
	}
	fixture_down(&fix);
}

/* Completions of WQEs that are not posted are refused, and the list stays sound. */
static void srq_bad_completions(void)
{
	struct ibv_srq_attr attr = { .max_wr = 3, .max_sge = 1 };
	struct ibv_recv_wr wr = { .wr_id = 77 }, *bad;
	struct fake_cqe cqe = { .opcode = 2 };
	struct ibv_wc wc;
	struct fixture fix;
	int i;

	fixture_up(&fix, &srq_cap, &attr);
	cqe.uidx = to_xqp(fix.qp)->q.uidx;
	CHECK(!ibv_post_srq_recv(fix.srq, &wr, &bad));
	for (i = 0; i < 0x10000; i += 37) {
		cqe.wqe = i;
		if (!(i & 3))
			continue;
		fake_hca_complete(&fix.hca, &cqe);
		CHECK(ibv_poll_cq(fix.cq, 1, &wc) == -EINVAL);
	}
	cqe.wqe = 0;
	fake_hca_complete(&fix.hca, &cqe);
	CHECK(ibv_poll_cq(fix.cq, 1, &wc) == 1 && wc.wr_id == 77);
	fake_hca_complete(&fix.hca, &cqe);
	CHECK(ibv_poll_cq(fix.cq, 1, &wc) == -EINVAL);

	for (i = 0; i < 3; i++)
		CHECK(!ibv_post_srq_recv(fix.srq, &wr, &bad));
	CHECK(ibv_post_srq_recv(fix.srq, &wr, &bad) == ENOMEM && bad == &wr);
	wr.num_sge = 2;
	CHECK(ibv_post_srq_recv(fix.srq, &wr, &bad) == EINVAL);
	fixture_down(&fix);
}

/* A QP goes while completions of its SRQ's WQEs wait: the WQEs come back. */
static void srq_clean(void)
{
	struct ibv_srq_attr attr = { .max_wr = 3, .max_sge = 1 };
	struct ibv_recv_wr wr = {}, *bad;
	struct fake_cqe cqe = {};
	struct hca_srq hca = {};
	struct fixture fix;
	int i;

	fixture_up(&fix, &srq_cap, &attr);
	hca.wqes = to_xsrq(fix.srq)->q.wqes;
	hca.stride = 32;
	cqe.uidx = to_xqp(fix.qp)->q.uidx;
	for (i = 0; i < 3; i++)
		CHECK(!ibv_post_srq_recv(fix.srq, &wr, &bad));
	for (i = 0; i < 3; i++) {
		cqe.opcode = i == 1 ? 14 : 2;
		cqe.wqe = hca_take(&hca);
		fake_hca_complete(&fix.hca, &cqe);
	}
	CHECK(ibv_post_srq_recv(fix.srq, &wr, &bad) == ENOMEM);
	CHECK(!xenib_destroy_qp(fix.qp));
	fix.qp = NULL;
	for (i = 0; i < 3; i++)
		CHECK(!ibv_post_srq_recv(fix.srq, &wr, &bad));
	fixture_down(&fix);
}

int main(void)
{
	RUN(receive_queue);
	RUN(receive_limits);
	RUN(no_queues);
	RUN(srq_recycling);
	RUN(srq_bad_completions);
	RUN(srq_clean);
	return checks_failed ? 1 : 0;
}
