/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * send.h - a QP to send on, with what a test knows of its queue; and the WQE and doorbell that must be there.
 */
#ifndef XENIB_UNIT_SEND_H
#define XENIB_UNIT_SEND_H

#include <string.h>

#include "check.h"
#include "expect.h"
#include "fake.h"

#define BITS_SIGNALED 0x08
#define BITS_SOLICITED 0x02
#define BITS_FENCE 0x80
#define BITS_SMALL_FENCE 0x20

static const uint8_t no_imm[4];
static const struct ibv_qp_cap cap = {
	.max_send_wr = 5,
	.max_recv_wr = 1,
	.max_send_sge = 4,
	.max_recv_sge = 1,
	.max_inline_data = 200,
};

/* A QP with what the test knows of it. */
struct fixture {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct ibv_mw *mw;
	struct fake_hca_cq hca;
	uint8_t *sq;
	uint32_t blocks;
	uint32_t next;    /* block of the next WQE, free running */
	uint32_t bf_turn; /* which of the two buffers */
	bool wr_api;
};

static const struct ibv_ah_attr ah_attr = {
	.dlid = 0x1234,
	.sl = 13,
	.src_path_bits = 3,
	.static_rate = IBV_RATE_10_GBPS,
	.is_global = 1,
	.port_num = 1,
	.grh = { .flow_label = 0xabcde,
		 .sgid_index = 2,
		 .hop_limit = 63,
		 .traffic_class = 0x17,
		 .dgid.raw = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 } },
};

static inline void fixture_up(struct fixture *fix, enum ibv_qp_type type, bool wr_api)
{
	struct ibv_ah_attr attr = ah_attr;

	memset(fix, 0, sizeof(*fix));
	fix->wr_api = wr_api;
	fix->context = fake_open();
	REQUIRE(fix->context);
	fix->pd = xenib_alloc_pd(fix->context);
	REQUIRE(fix->pd);
	fix->cq = xenib_create_cq(fix->context, 15, NULL, 0);
	REQUIRE(fix->cq);
	fake_hca_attach(&fix->hca, fix->cq);
	fix->qp = wr_api ? fake_qp_ex(fix->pd, fix->cq, type, &cap) :
			   fake_qp(fix->pd, fix->cq, NULL, type, &cap);
	REQUIRE(fix->qp);
	fix->ah = xenib_create_ah(fix->pd, &attr);
	REQUIRE(fix->ah);
	fix->mw = xenib_alloc_mw(fix->pd, IBV_MW_TYPE_2);
	REQUIRE(fix->mw);
	fix->sq = to_xqp(fix->qp)->q.sq.start;
	fix->blocks = to_xqp(fix->qp)->q.sq.mask + 1;
}

static inline void fixture_down(struct fixture *fix)
{
	CHECK(!xenib_dealloc_mw(fix->mw));
	CHECK(!xenib_destroy_ah(fix->ah));
	CHECK(!xenib_destroy_qp(fix->qp));
	CHECK(!xenib_destroy_cq(fix->cq));
	CHECK(!xenib_dealloc_pd(fix->pd));
	fake_close(fix->context);
}

/* The queue as it is, read round from a block on. */
static inline bool queue_holds(const struct fixture *fix, uint32_t block, const uint8_t *want,
			       uint32_t used)
{
	uint32_t size = fix->blocks * 64, at = block % fix->blocks * 64, i;

	for (i = 0; i < used; i++)
		if (fix->sq[(at + i) % size] != want[i])
			return false;
	return true;
}

static inline uint8_t *doorbell(const struct fixture *fix)
{
	return fake_uar_page(to_xqp(fix->qp)->uar->index) + 0x800 + fix->bf_turn * 0x100;
}

/* The doorbell for a single WQE: it is in the page whole, if a buffer holds it. */
static inline void check_doorbell(struct fixture *fix, const struct expect *e, uint32_t blocks)
{
	const __be32 *dbrec = to_xqp(fix->qp)->q.dbrec;
	bool whole = e->used > 16 && e->used <= 256;
	const uint8_t *reg = doorbell(fix);

	CHECK(be32toh(dbrec[1]) == ((fix->next + blocks) & 0xffff));
	CHECK(!memcmp(reg, e->octet, whole ? e->known : 8));
	fix->bf_turn ^= 1;
}

/* The WQE ended; it must be in the queue and in the doorbell page. */
static inline void check_wqe(struct fixture *fix, struct expect *e)
{
	uint32_t blocks = expect_end(e, fix->qp->qp_num);

	CHECK(queue_holds(fix, fix->next, e->octet, e->known));
	check_doorbell(fix, e, blocks);
	fix->next += blocks;
}

/* The HCA completes it, and the completion is the one of this WR. */
static inline void complete(struct fixture *fix, uint64_t wr_id, enum ibv_wc_opcode opcode,
			    uint32_t block)
{
	struct fake_cqe cqe = {
		.opcode = 0,
		.uidx = to_xqp(fix->qp)->q.uidx,
		.qpn = fix->qp->qp_num,
		.wqe = block,
		.bytes = 77,
	};
	struct ibv_wc wc;

	fake_hca_complete(&fix->hca, &cqe);
	CHECK(xenib_poll_cq(fix->cq, 1, &wc) == 1);
	CHECK(wc.wr_id == wr_id && wc.status == IBV_WC_SUCCESS && wc.opcode == opcode);
	CHECK(wc.qp_num == fix->qp->qp_num && !wc.wc_flags);
	if (opcode == IBV_WC_COMP_SWAP || opcode == IBV_WC_FETCH_ADD)
		CHECK(wc.byte_len == 8);
	else
		CHECK(wc.byte_len == 77);
}

static uint8_t data[1024];

static inline void fill_data(void)
{
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + i / 256;
}

#endif
