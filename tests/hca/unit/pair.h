/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* For tests of connections: two QPs, a that requests and b that answers, each with a buffer. */
#ifndef HCA_PAIR_H
#define HCA_PAIR_H

#include "fixture.h"
#include "unit.h"

#define ALL \
	(MKEY_LOCAL_READ | MKEY_LOCAL_WRITE | MKEY_REMOTE_READ | MKEY_REMOTE_WRITE | \
	 MKEY_REMOTE_ATOMIC)
#define BUFFER (2u << 20)

/* A connected pair: a requests, b answers. */
static struct fixture_qp *a, *b;
static struct fixture_cq *cq_a, *cq_b;
static struct mkey *mr_a, *mr_b;
static uint64_t buf_a, buf_b;   /* virtual addresses */
static struct fixture_srq *srq; /* of b, or NULL */

static inline uint8_t *mem(struct fixture_qp *q, uint64_t va)
{
	return fixture_at(q->side, va - FIXTURE_VA);
}

static inline void pattern(uint8_t *p, uint32_t len, uint32_t seed)
{
	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)(seed + i * 7 + (i >> 8));
}

static inline bool has_pattern(const uint8_t *p, uint32_t len, uint32_t seed)
{
	for (uint32_t i = 0; i < len; i++) {
		if (p[i] != (uint8_t)(seed + i * 7 + (i >> 8)))
			return false;
	}
	return true;
}

static inline void open_memory(void)
{
	struct fixture_side *sa = &fix.side[0], *sb = &fix.side[1];
	uint64_t iova_a = fixture_alloc(sa, BUFFER), iova_b = fixture_alloc(sb, BUFFER);

	mr_a = fixture_mkey(sa, iova_a, BUFFER, ALL);
	mr_b = fixture_mkey(sb, iova_b, BUFFER, ALL);
	buf_a = iova_a + FIXTURE_VA;
	buf_b = iova_b + FIXTURE_VA;
	cq_a = fixture_cq(sa, 8);
	cq_b = fixture_cq(sb, 8);
}

static inline void open_transport(enum qp_transport transport, bool with_srq)
{
	fixture_new();
	open_memory();
	srq = with_srq ? fixture_srq(&fix.side[1], NULL) : NULL;
	a = fixture_qp(&fix.side[0], transport, cq_a, NULL);
	b = fixture_qp(&fix.side[1], transport, cq_b, srq);
	fixture_connect(a, b);
}

static inline void open_pair(bool with_srq)
{
	open_transport(QP_RC, with_srq);
}

static inline struct fixture_sge sge_a(uint32_t off, uint32_t len)
{
	return (struct fixture_sge){ buf_a + off, len, fixture_key(mr_a) };
}

static inline struct fixture_sge sge_b(uint32_t off, uint32_t len)
{
	return (struct fixture_sge){ buf_b + off, len, fixture_key(mr_b) };
}

static inline void recv_b(uint32_t off, uint32_t len)
{
	struct fixture_sge sge = sge_b(off, len);

	fixture_recv(b, &sge, 1);
}

static inline struct fixture_wr wr_send(uint32_t off, uint32_t len)
{
	return (struct fixture_wr){ .opcode = MLX5_OPCODE_SEND,
				    .sges = 1,
				    .sge = { sge_a(off, len) } };
}

static inline struct fixture_wr wr_rdma(uint8_t opcode, uint32_t off, uint32_t roff, uint32_t len)
{
	return (struct fixture_wr){ .opcode = opcode,
				    .raddr = buf_b + roff,
				    .rkey = fixture_key(mr_b),
				    .sges = 1,
				    .sge = { sge_a(off, len) } };
}

static inline bool good(struct fixture_cq *cq, uint8_t opcode, uint16_t counter)
{
	const struct mlx5_cqe64 *cqe = fixture_poll(cq);

	return CHECK(cqe) && CHECK_EQ(cqe->op_own >> 4, opcode) &&
	       CHECK_EQ(be16toh(cqe->wqe_counter), counter);
}

static inline bool bad(struct fixture_cq *cq, uint8_t opcode, uint8_t syndrome)
{
	const struct mlx5_cqe64 *cqe = fixture_poll(cq);

	return CHECK(cqe) && CHECK_EQ(cqe->op_own >> 4, opcode) &&
	       CHECK_EQ(fixture_syndrome(cqe), syndrome);
}

static inline void open_xrc(void)
{
	fixture_new();
	open_memory();
	srq = fixture_srq(&fix.side[1], cq_b);
	a = fixture_qp(&fix.side[0], QP_XRC_INI, cq_a, NULL);
	b = fixture_qp(&fix.side[1], QP_XRC_TGT, cq_b, NULL);
	fixture_connect(a, b);
}

#endif
