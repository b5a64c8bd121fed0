// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_send.c - send WQEs and doorbells: each operation through ibv_post_send() and through the
 * ibv_wr_* interface against the same expectation, at every place in a small queue, so also over
 * its end.
 */
#include <errno.h>
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
	.max_send_wr = 5, .max_recv_wr = 1, .max_send_sge = 4, .max_recv_sge = 1,
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
	.dlid = 0x1234, .sl = 13, .src_path_bits = 3, .static_rate = IBV_RATE_10_GBPS,
	.is_global = 1, .port_num = 1,
	.grh = { .flow_label = 0xabcde, .sgid_index = 2, .hop_limit = 63, .traffic_class = 0x17,
		 .dgid.raw = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 } },
};

static void fixture_up(struct fixture *fix, enum ibv_qp_type type, bool wr_api)
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
	fix->sq = to_xqp(fix->qp)->sq.start;
	fix->blocks = to_xqp(fix->qp)->sq.mask + 1;
}

static void fixture_down(struct fixture *fix)
{
	CHECK(!xenib_dealloc_mw(fix->mw));
	CHECK(!xenib_destroy_ah(fix->ah));
	CHECK(!xenib_destroy_qp(fix->qp));
	CHECK(!xenib_destroy_cq(fix->cq));
	CHECK(!xenib_dealloc_pd(fix->pd));
	fake_close(fix->context);
}

/* The queue as it is, read round from a block on. */
static bool queue_holds(const struct fixture *fix, uint32_t block, const uint8_t *want, uint32_t used)
{
	uint32_t size = fix->blocks * 64, at = block % fix->blocks * 64, i;

	for (i = 0; i < used; i++)
		if (fix->sq[(at + i) % size] != want[i])
			return false;
	return true;
}

static uint8_t *doorbell(const struct fixture *fix)
{
	return fake_uar_page(to_xqp(fix->qp)->sq.uar->index) + 0x800 + fix->bf_turn * 0x100;
}

/* The doorbell for a single WQE: it is in the page whole, if a buffer holds it. */
static void check_doorbell(struct fixture *fix, const struct expect *e, uint32_t blocks)
{
	const __be32 *dbrec = to_xqp(fix->qp)->dbrec;
	bool whole = e->used > 16 && e->used <= 256;
	const uint8_t *reg = doorbell(fix);

	CHECK(be32toh(dbrec[1]) == ((fix->next + blocks) & 0xffff));
	CHECK(!memcmp(reg, e->octet, whole ? e->known : 8));
	fix->bf_turn ^= 1;
}

/* The WQE ended; it must be in the queue and in the doorbell page. */
static void check_wqe(struct fixture *fix, struct expect *e)
{
	uint32_t blocks = expect_end(e, fix->qp->qp_num);

	CHECK(queue_holds(fix, fix->next, e->octet, e->known));
	check_doorbell(fix, e, blocks);
	fix->next += blocks;
}

/* The HCA completes it, and the completion is the one of this WR. */
static void complete(struct fixture *fix, uint64_t wr_id, enum ibv_wc_opcode opcode, uint32_t block)
{
	struct fake_cqe cqe = {
		.opcode = 0, .uidx = to_xqp(fix->qp)->uidx, .qpn = fix->qp->qp_num,
		.wqe = block, .bytes = 77,
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

/* Posts a WR by either interface. */
static int post(struct fixture *fix, struct ibv_send_wr *wr)
{
	struct ibv_qp_ex *ex = &to_xqp(fix->qp)->vqp.qp_ex;
	struct ibv_send_wr *bad;
	struct ibv_data_buf bufs[8];
	int i;

	if (!fix->wr_api)
		return ibv_post_send(fix->qp, wr, &bad);

	ibv_wr_start(ex);
	ex->wr_id = wr->wr_id;
	ex->wr_flags = wr->send_flags;
	switch (wr->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(ex);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(ex, wr->imm_data);
		break;
	case IBV_WR_SEND_WITH_INV:
		ibv_wr_send_inv(ex, wr->invalidate_rkey);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(ex, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(ex, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, wr->imm_data);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(ex, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(ex, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
				      wr->wr.atomic.compare_add, wr->wr.atomic.swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(ex, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
					wr->wr.atomic.compare_add);
		break;
	case IBV_WR_BIND_MW:
		ibv_wr_bind_mw(ex, wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
		return ibv_wr_complete(ex);
	case IBV_WR_LOCAL_INV:
		ibv_wr_local_inv(ex, wr->invalidate_rkey);
		return ibv_wr_complete(ex);
	default:
		ibv_wr_abort(ex);
		return EINVAL;
	}

	/* Setters in either order, and of either kind. */
	if (fix->qp->qp_type == IBV_QPT_UD && wr->wr_id % 2)
		ibv_wr_set_ud_addr(ex, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	if (wr->send_flags & IBV_SEND_INLINE && wr->num_sge == 1) {
		ibv_wr_set_inline_data(ex, (void *)(uintptr_t)wr->sg_list[0].addr,
				       wr->sg_list[0].length);
	} else if (wr->send_flags & IBV_SEND_INLINE) {
		for (i = 0; i < wr->num_sge; i++) {
			bufs[i].addr = (void *)(uintptr_t)wr->sg_list[i].addr;
			bufs[i].length = wr->sg_list[i].length;
		}
		ibv_wr_set_inline_data_list(ex, wr->num_sge, bufs);
	} else if (wr->num_sge == 1) {
		ibv_wr_set_sge(ex, wr->sg_list[0].lkey, wr->sg_list[0].addr, wr->sg_list[0].length);
	} else {
		ibv_wr_set_sge_list(ex, wr->num_sge, wr->sg_list);
	}
	if (fix->qp->qp_type == IBV_QPT_UD && !(wr->wr_id % 2))
		ibv_wr_set_ud_addr(ex, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	return ibv_wr_complete(ex);
}

static uint8_t bits_of(unsigned int flags)
{
	return (flags & IBV_SEND_SIGNALED ? BITS_SIGNALED : 0) |
	       (flags & IBV_SEND_SOLICITED ? BITS_SOLICITED : 0) |
	       (flags & IBV_SEND_FENCE ? BITS_FENCE : 0);
}

/* Data as the WQE must have it: the segments of a list, or their octets. */
static void expect_payload(struct expect *e, const struct ibv_send_wr *wr)
{
	uint8_t octets[EXPECT_MAX];
	uint32_t used = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		if (wr->send_flags & IBV_SEND_INLINE) {
			memcpy(octets + used, (void *)(uintptr_t)wr->sg_list[i].addr,
			       wr->sg_list[i].length);
			used += wr->sg_list[i].length;
		} else if (wr->sg_list[i].length) {
			expect_data(e, wr->sg_list[i].addr, wr->sg_list[i].length,
				    wr->sg_list[i].lkey);
		}
	}
	if (used)
		expect_inline(e, octets, used);
}

static const uint8_t octets_of_imm[4] = { 0xca, 0xfe, 0x01, 0x02 };
static const uint8_t octets_of_key[4] = { 0x00, 0x55, 0x66, 0x77 };

/* One operation of RC or UC, in all respects. */
static void one_connected(struct fixture *fix, struct ibv_send_wr *wr)
{
	static const uint8_t opcode[] = { 0x08, 0x09, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0, 0, 0x01 };
	static const enum ibv_wc_opcode done[] = {
		IBV_WC_RDMA_WRITE, IBV_WC_RDMA_WRITE, IBV_WC_SEND, IBV_WC_SEND, IBV_WC_RDMA_READ,
		IBV_WC_COMP_SWAP, IBV_WC_FETCH_ADD, 0, 0, IBV_WC_SEND,
	};
	uint32_t block = fix->next;
	const uint8_t *imm = no_imm;
	struct expect e;

	if (wr->opcode == IBV_WR_SEND_WITH_IMM || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		memcpy(&wr->imm_data, octets_of_imm, 4);
		imm = octets_of_imm;
	} else if (wr->opcode == IBV_WR_SEND_WITH_INV) {
		wr->invalidate_rkey = 0x00556677;
		imm = octets_of_key;
	}

	expect_control(&e, block, opcode[wr->opcode], bits_of(wr->send_flags), imm);
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
		wr->wr.rdma.remote_addr = 0x1122334455667788;
		wr->wr.rdma.rkey = 0x99aabbcc;
		expect_remote(&e, 0x1122334455667788, 0x99aabbcc);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.remote_addr = 0x1122334455667780;
		wr->wr.atomic.rkey = 0x99aabbcd;
		wr->wr.atomic.compare_add = 0x0102030405060708;
		wr->wr.atomic.swap = 0xf1f2f3f4f5f6f7f8;
		expect_remote(&e, 0x1122334455667780, 0x99aabbcd);
		if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
			expect_atomic(&e, 0xf1f2f3f4f5f6f7f8, 0x0102030405060708);
		else
			expect_atomic(&e, 0x0102030405060708, 0);
		break;
	default:
		break;
	}
	expect_payload(&e, wr);

	CHECK(!post(fix, wr));
	check_wqe(fix, &e);
	complete(fix, wr->wr_id, done[wr->opcode], block);
}

static uint8_t data[1024];

static void fill_data(void)
{
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + i / 256;
}

/* Lengths that end before, at and after the borders of units and blocks. */
static const uint32_t inline_lengths[] = { 0, 1, 11, 12, 13, 27, 28, 29, 44, 60, 92, 156, 200 };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void every_form(struct fixture *fix, enum ibv_wr_opcode opcode, uint64_t *wr_id)
{
	bool atomic = opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	struct ibv_sge sge[4] = {
		{ 0xaabbccdd00, atomic ? 8 : 1, 0x11111100 },
		{ 0x7fff12340000, atomic ? 8 : 0x7fffffff, 0x22222201 },
		{ 0x5000, 0, 0x33333302 },
		{ 0x6001, atomic ? 8 : 4096, 0x44444403 },
	};
	struct ibv_sge in[3];
	struct ibv_send_wr wr;
	size_t i;

	for (i = 0; i <= 4; i++) {
		wr = (struct ibv_send_wr){
			.wr_id = ++*wr_id, .sg_list = sge, .num_sge = i, .opcode = opcode,
			.send_flags = i * 3 & 7,
		};
		one_connected(fix, &wr);
	}
	if (atomic || opcode == IBV_WR_RDMA_READ)
		return;

	for (i = 0; i < COUNT(inline_lengths); i++) {
		in[0] = (struct ibv_sge){ (uintptr_t)data, inline_lengths[i], 0 };
		wr = (struct ibv_send_wr){
			.wr_id = ++*wr_id, .sg_list = in, .num_sge = 1, .opcode = opcode,
			.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
		};
		one_connected(fix, &wr);

		in[0].length = inline_lengths[i] / 3;
		in[1] = (struct ibv_sge){ (uintptr_t)data + 300, 0, 0 };
		in[2] = (struct ibv_sge){ (uintptr_t)data + 400,
					  inline_lengths[i] - in[0].length, 0 };
		wr.num_sge = 3;
		wr.wr_id = ++*wr_id;
		one_connected(fix, &wr);
	}
}

/* Often enough for each WQE to lie at each place of the queue, and for indices to pass 16 bits. */
static void connected(enum ibv_qp_type type, const enum ibv_wr_opcode *ops, size_t count,
		      bool wr_api)
{
	uint64_t wr_id = 0;
	struct fixture fix;
	size_t i, round;

	fixture_up(&fix, type, wr_api);
	for (round = 0; round < 300; round++)
		for (i = 0; i < count; i++)
			every_form(&fix, ops[i], &wr_id);
	CHECK(fix.next > 0x10000);
	fixture_down(&fix);
}

static const enum ibv_wr_opcode rc_ops[] = {
	IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_SEND_WITH_INV, IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
	IBV_WR_ATOMIC_FETCH_AND_ADD,
};

static const enum ibv_wr_opcode uc_ops[] = {
	IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_SEND_WITH_INV, IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM,
};

static void rc_post_send(void) { connected(IBV_QPT_RC, rc_ops, COUNT(rc_ops), false); }
static void rc_wr(void) { connected(IBV_QPT_RC, rc_ops, COUNT(rc_ops), true); }
static void uc_post_send(void) { connected(IBV_QPT_UC, uc_ops, COUNT(uc_ops), false); }
static void uc_wr(void) { connected(IBV_QPT_UC, uc_ops, COUNT(uc_ops), true); }

static void ud(bool wr_api)
{
	struct ibv_sge sge[2] = {
		{ (uintptr_t)data, 48, 0x77 }, { (uintptr_t)data + 48, 5, 0x78 },
	};
	struct ibv_send_wr wr;
	struct expect e;
	struct fixture fix;
	uint32_t block;
	int i;

	fixture_up(&fix, IBV_QPT_UD, wr_api);
	for (i = 0; i < 300; i++) {
		wr = (struct ibv_send_wr){
			.wr_id = i, .sg_list = sge, .num_sge = i % 3,
			.opcode = i % 2 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED | (i % 5 == 4 ? IBV_SEND_INLINE : 0),
			.wr.ud = { fix.ah, 0x654321, 0x11223344 },
		};
		memcpy(&wr.imm_data, octets_of_imm, 4);
		block = fix.next;
		expect_control(&e, block, i % 2 ? 0x0b : 0x0a, BITS_SIGNALED,
			       i % 2 ? octets_of_imm : no_imm);
		expect_address(&e, &ah_attr, 8, 0x654321, 0x11223344);
		expect_payload(&e, &wr);
		CHECK(!post(&fix, &wr));
		check_wqe(&fix, &e);
		complete(&fix, i, IBV_WC_SEND, block);
	}
	fixture_down(&fix);
}

static void ud_post_send(void) { ud(false); }
static void ud_wr(void) { ud(true); }

/* Binding and invalidation; what comes after waits for them. */
static void windows(bool wr_api)
{
	struct ibv_mr mr = { .lkey = 0x00010203, .rkey = 0x00010203 };
	struct ibv_sge sge = { 0x9000, 64, 0x12 };
	static const uint8_t mw_key[4] = { 0x00, 0xab, 0x12, 0xff };
	struct ibv_send_wr wr;
	struct expect e;
	struct fixture fix;
	uint32_t block;
	int i;

	fixture_up(&fix, IBV_QPT_RC, wr_api);
	for (i = 0; i < 60; i++) {
		block = fix.next;
		wr = (struct ibv_send_wr){ .wr_id = i, .send_flags = IBV_SEND_SIGNALED };
		expect_control(&e, block, 0x25, BITS_SIGNALED, i % 3 ? mw_key : octets_of_key);
		if (i % 3) {
			wr.opcode = IBV_WR_BIND_MW;
			wr.bind_mw.mw = fix.mw;
			wr.bind_mw.rkey = 0x00ab1200 | i;
			wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
				&mr, 0x123456789000, 1ULL << 31,
				IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				(i % 3 == 1 ? IBV_ACCESS_ZERO_BASED : IBV_ACCESS_REMOTE_ATOMIC),
			};
			expect_bind(&e, true, fix.qp->qp_num, i, 0x123456789000, 1ULL << 31,
				    0x00010203, i % 3 == 1 ? 0x30 : 0x70, i % 3 == 1);
		} else {
			wr.opcode = IBV_WR_LOCAL_INV;
			wr.invalidate_rkey = 0x00556677;
			expect_bind(&e, true, 0, 0, 0, 0, 0, 0, false);
		}
		CHECK(!post(&fix, &wr));
		check_wqe(&fix, &e);
		complete(&fix, i, i % 3 ? IBV_WC_BIND_MW : IBV_WC_LOCAL_INV, block);

		/* The next one has a small fence, or the full one that it asks for. */
		block = fix.next;
		wr = (struct ibv_send_wr){
			.wr_id = i, .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1,
			.send_flags = i % 2 ? IBV_SEND_FENCE : 0,
		};
		expect_control(&e, block, 0x0a, i % 2 ? BITS_FENCE : BITS_SMALL_FENCE, no_imm);
		expect_data(&e, 0x9000, 64, 0x12);
		CHECK(!post(&fix, &wr));
		check_wqe(&fix, &e);
		complete(&fix, i, IBV_WC_SEND, block);
	}

	wr = (struct ibv_send_wr){ .opcode = IBV_WR_BIND_MW };
	wr.bind_mw.mw = fix.mw;
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ NULL, 0, 1, 0 };
	CHECK(post(&fix, &wr) == EINVAL);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ &mr, 0, (1ULL << 31) + 1, 0 };
	CHECK(post(&fix, &wr) == EOPNOTSUPP);
	fixture_down(&fix);
}

static void windows_post_send(void) { windows(false); }
static void windows_wr(void) { windows(true); }

/*
 * ibv_bind_mw(): a window of type 1 belongs to no QP, and gets a new key. It may be for its own
 * side to write as well, by that key as an lkey.
 */
static void window_type_1(void)
{
	struct ibv_mr mr = { .lkey = 0x00010203, .rkey = 0x00010203 };
	static const uint8_t mw_key[4] = { 0x00, 0xab, 0x12, 0xff };
	struct ibv_mw_bind bind = {
		.wr_id = 9, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			&mr, 0x4000, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
		},
	};
	struct ibv_mw *mw;
	struct expect e;
	struct fixture fix;

	fixture_up(&fix, IBV_QPT_RC, false);
	mw = xenib_alloc_mw(fix.pd, IBV_MW_TYPE_1);
	REQUIRE(mw);

	expect_control(&e, 0, 0x25, BITS_SIGNALED, mw_key);
	expect_bind(&e, false, 0, 0x00, 0x4000, 4096, 0x00010203, 0x18, false);
	CHECK(!xenib_bind_mw(fix.qp, mw, &bind));
	check_wqe(&fix, &e);
	CHECK(mw->rkey == 0x00ab1200);

	bind.bind_info.mw_access_flags = 1 << 20;
	CHECK(xenib_bind_mw(fix.qp, mw, &bind) == EINVAL);
	CHECK(mw->rkey == 0x00ab1200);
	CHECK(!xenib_dealloc_mw(mw));
	fixture_down(&fix);
}

/* Several WRs: one doorbell, of 8 octets, for the last. */
static void batches(bool wr_api)
{
	struct ibv_sge sge = { 0x9000, 64, 0x12 };
	struct ibv_qp_ex *ex;
	struct ibv_send_wr wr[3] = {}, *bad = NULL;
	struct expect e;
	struct fixture fix;
	uint8_t *reg;
	int i;

	fixture_up(&fix, IBV_QPT_RC, wr_api);
	ex = &to_xqp(fix.qp)->vqp.qp_ex;
	reg = doorbell(&fix);
	memset(reg, 0xee, 256);

	if (wr_api)
		ibv_wr_start(ex);
	for (i = 0; i < 3; i++) {
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
		if (wr_api) {
			ex->wr_id = i;
			ex->wr_flags = 0;
			ibv_wr_send(ex);
			ibv_wr_set_sge(ex, 0x12, 0x9000, 64);
		}
	}
	CHECK(!(wr_api ? ibv_wr_complete(ex) : ibv_post_send(fix.qp, wr, &bad)));

	for (i = 0; i < 3; i++) {
		expect_control(&e, i, 0x0a, 0, no_imm);
		expect_data(&e, 0x9000, 64, 0x12);
		expect_end(&e, fix.qp->qp_num);
		CHECK(queue_holds(&fix, i, e.octet, e.used));
	}
	CHECK(!memcmp(reg, e.octet, 8));
	CHECK(reg[8] == 0xee && reg[255] == 0xee);
	CHECK(be32toh(to_xqp(fix.qp)->dbrec[1]) == 3);

	/* One completion for all three. */
	complete(&fix, 2, IBV_WC_SEND, 2);
	CHECK(to_xqp(fix.qp)->sq.tail == 3);
	fixture_down(&fix);
}

static void batches_post_send(void) { batches(false); }
static void batches_wr(void) { batches(true); }

/* A queue that is full; what was posted before is rung for, by ibv_post_send() only. */
static void overflow(void)
{
	struct ibv_sge sge = { 0x9000, 64, 0x12 };
	struct ibv_send_wr wr[64] = {}, *bad = NULL;
	struct ibv_qp_ex *ex;
	struct fixture fix;
	uint32_t max, i;

	fixture_up(&fix, IBV_QPT_RC, true);
	ex = &to_xqp(fix.qp)->vqp.qp_ex;
	max = to_xqp(fix.qp)->sq.max_wr;
	REQUIRE(max >= cap.max_send_wr && max < 63);
	for (i = 0; i <= max; i++) {
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].next = i < max ? &wr[i + 1] : NULL;
	}
	CHECK(ibv_post_send(fix.qp, wr, &bad) == ENOMEM && bad == &wr[max]);
	CHECK(be32toh(to_xqp(fix.qp)->dbrec[1]) == max);
	bad = NULL;
	CHECK(ibv_post_send(fix.qp, &wr[max], &bad) == ENOMEM && bad == &wr[max]);

	/* In a batch nothing is posted then, and the queue is as it was. */
	complete(&fix, 0, IBV_WC_SEND, 0);
	ibv_wr_start(ex);
	for (i = 0; i < 2; i++) {
		ex->wr_id = i;
		ibv_wr_send(ex);
		ibv_wr_set_sge(ex, 1, 2, 3);
		ibv_wr_set_inline_data(ex, data, 4);
	}
	CHECK(ibv_wr_complete(ex) == ENOMEM);
	CHECK(be32toh(to_xqp(fix.qp)->dbrec[1]) == max && to_xqp(fix.qp)->sq.next == max);

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_abort(ex);
	CHECK(to_xqp(fix.qp)->sq.next == max && to_xqp(fix.qp)->sq.head == max);
	CHECK(!ibv_post_send(fix.qp, &wr[max], &bad));
	fixture_down(&fix);
}

/* WRs that are refused, each for its reason. */
static void refusals(void)
{
	struct ibv_sge sge[8] = { { (uintptr_t)data, 64, 0x12 } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = 1 }, *bad;
	struct ibv_data_buf parts[2];
	struct ibv_qp_ex *ex;
	struct fixture fix;

	fixture_up(&fix, IBV_QPT_RC, true);
	ex = &to_xqp(fix.qp)->vqp.qp_ex;

	wr.num_sge = 5;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == ENOMEM && bad == &wr);
	wr.num_sge = -1;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == ENOMEM);
	wr.num_sge = 1;
	wr.opcode = IBV_WR_TSO;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	wr.opcode = -1;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	wr.opcode = 100;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	wr.opcode = IBV_WR_RDMA_READ;
	wr.send_flags = IBV_SEND_INLINE;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	wr.opcode = IBV_WR_SEND;
	sge[0].length = to_xqp(fix.qp)->sq.max_inline + 1;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == ENOMEM);
	sge[0].length = UINT32_MAX;
	sge[1] = sge[0];
	wr.num_sge = 2;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == ENOMEM);
	CHECK(!to_xqp(fix.qp)->sq.head && !to_xqp(fix.qp)->sq.next);

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, 5, sge);
	CHECK(ibv_wr_complete(ex) == ENOMEM);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, data, to_xqp(fix.qp)->sq.max_inline + 1);
	CHECK(ibv_wr_complete(ex) == ENOMEM);
	parts[0] = (struct ibv_data_buf){ data, to_xqp(fix.qp)->sq.max_inline };
	parts[1] = (struct ibv_data_buf){ data, 1 };
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data_list(ex, 2, parts);
	CHECK(ibv_wr_complete(ex) == ENOMEM);
	CHECK(!to_xqp(fix.qp)->sq.head && !to_xqp(fix.qp)->sq.next);

	/* Nothing may be posted before the QP can send. */
	REQUIRE(!xenib_modify_qp(fix.qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET },
				 IBV_QP_STATE));
	wr.send_flags = 0;
	wr.num_sge = 1;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == ENOMEM);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	CHECK(ibv_wr_complete(ex) == EINVAL);
	fixture_down(&fix);

	fixture_up(&fix, IBV_QPT_UD, false);
	wr.opcode = IBV_WR_RDMA_WRITE;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	fixture_down(&fix);
	fixture_up(&fix, IBV_QPT_UC, false);
	wr.opcode = IBV_WR_RDMA_READ;
	CHECK(ibv_post_send(fix.qp, &wr, &bad) == EINVAL);
	fixture_down(&fix);
}

/* sq_sig_all, and plain doorbells, which have one place. */
static void plain_doorbells(void)
{
	struct ibv_sge sge = { 0x9000, 64, 0x12 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1 }, *bad;
	struct expect e;
	struct fixture fix;
	int i;

	setenv("XENIB_SHUT_UP_BF", "1", 1);
	fixture_up(&fix, IBV_QPT_RC, false);
	unsetenv("XENIB_SHUT_UP_BF");
	to_xqp(fix.qp)->sq.always = BITS_SIGNALED;
	for (i = 0; i < 3; i++) {
		CHECK(!ibv_post_send(fix.qp, &wr, &bad));
		expect_control(&e, i, 0x0a, BITS_SIGNALED, no_imm);
		expect_data(&e, 0x9000, 64, 0x12);
		expect_end(&e, fix.qp->qp_num);
		CHECK(queue_holds(&fix, i, e.octet, e.used));
		CHECK(!memcmp(doorbell(&fix), e.octet, 8));
		CHECK(!doorbell(&fix)[8] && !doorbell(&fix)[0x100]);
	}
	fixture_down(&fix);
}

int main(void)
{
	fill_data();
	RUN(rc_post_send);
	RUN(rc_wr);
	RUN(uc_post_send);
	RUN(uc_wr);
	RUN(ud_post_send);
	RUN(ud_wr);
	RUN(windows_post_send);
	RUN(windows_wr);
	RUN(window_type_1);
	RUN(batches_post_send);
	RUN(batches_wr);
	RUN(overflow);
	RUN(refusals);
	RUN(plain_doorbells);
	return checks_failed ? 1 : 0;
}
