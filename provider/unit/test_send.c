// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_send.c - send WQEs and doorbells: each operation through ibv_post_send() and through the
 * ibv_wr_* interface against the same expectation, at every place in a small queue, so also over
 * its end.
 */
#include <string.h>

#include "send.h"

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
	if (fix->qp->qp_type == IBV_QPT_XRC_SEND && wr->wr_id % 2)
		ibv_wr_set_xrc_srqn(ex, wr->qp_type.xrc.remote_srqn);
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
	if (fix->qp->qp_type == IBV_QPT_XRC_SEND && !(wr->wr_id % 2))
		ibv_wr_set_xrc_srqn(ex, wr->qp_type.xrc.remote_srqn);
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

/* One operation of RC, UC or XRC, in all respects. */
static void one_connected(struct fixture *fix, struct ibv_send_wr *wr)
{
	static const uint8_t opcode[] = { 0x08, 0x09, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0, 0, 0x01 };
	static const enum ibv_wc_opcode done[] = {
		IBV_WC_RDMA_WRITE, IBV_WC_RDMA_WRITE, IBV_WC_SEND, IBV_WC_SEND, IBV_WC_RDMA_READ,
		IBV_WC_COMP_SWAP,  IBV_WC_FETCH_ADD,  0,           0,           IBV_WC_SEND,
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
	if (fix->qp->qp_type == IBV_QPT_XRC_SEND) {
		wr->qp_type.xrc.remote_srqn = 0x00334455;
		expect_srqn(&e, 0x00334455);
	}
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

/* Lengths that end before, at and after the borders of units and blocks. */
static const uint32_t inline_lengths[] = { 0, 1, 11, 12, 13, 27, 28, 29, 44, 60, 92, 156, 200 };

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
			.wr_id = ++*wr_id,
			.sg_list = sge,
			.num_sge = i,
			.opcode = opcode,
			.send_flags = i * 3 & 7,
		};
		one_connected(fix, &wr);
	}
	if (atomic || opcode == IBV_WR_RDMA_READ)
		return;

	for (i = 0; i < COUNT(inline_lengths); i++) {
		in[0] = (struct ibv_sge){ (uintptr_t)data, inline_lengths[i], 0 };
		wr = (struct ibv_send_wr){
			.wr_id = ++*wr_id,
			.sg_list = in,
			.num_sge = 1,
			.opcode = opcode,
			.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
		};
		one_connected(fix, &wr);

		in[0].length = inline_lengths[i] / 3;
		in[1] = (struct ibv_sge){ (uintptr_t)data + 300, 0, 0 };
		in[2] = (struct ibv_sge){ (uintptr_t)data + 400, inline_lengths[i] - in[0].length,
					  0 };
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
	IBV_WR_SEND,
	IBV_WR_SEND_WITH_IMM,
	IBV_WR_SEND_WITH_INV,
	IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_WR_RDMA_READ,
	IBV_WR_ATOMIC_CMP_AND_SWP,
	IBV_WR_ATOMIC_FETCH_AND_ADD,
};

static const enum ibv_wr_opcode uc_ops[] = {
	IBV_WR_SEND,       IBV_WR_SEND_WITH_IMM,       IBV_WR_SEND_WITH_INV,
	IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
};

static void rc_post_send(void)
{
	connected(IBV_QPT_RC, rc_ops, COUNT(rc_ops), false);
}
static void rc_wr(void)
{
	connected(IBV_QPT_RC, rc_ops, COUNT(rc_ops), true);
}
static void uc_post_send(void)
{
	connected(IBV_QPT_UC, uc_ops, COUNT(uc_ops), false);
}
static void uc_wr(void)
{
	connected(IBV_QPT_UC, uc_ops, COUNT(uc_ops), true);
}

static void xrc_post_send(void)
{
	connected(IBV_QPT_XRC_SEND, rc_ops, COUNT(rc_ops), false);
}
static void xrc_wr(void)
{
	connected(IBV_QPT_XRC_SEND, rc_ops, COUNT(rc_ops), true);
}

static void ud(bool wr_api)
{
	struct ibv_sge sge[2] = {
		{ (uintptr_t)data, 48, 0x77 },
		{ (uintptr_t)data + 48, 5, 0x78 },
	};
	struct ibv_send_wr wr;
	struct expect e;
	struct fixture fix;
	uint32_t block;
	int i;

	fixture_up(&fix, IBV_QPT_UD, wr_api);
	for (i = 0; i < 300; i++) {
		wr = (struct ibv_send_wr){
			.wr_id = i,
			.sg_list = sge,
			.num_sge = i % 3,
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

static void ud_post_send(void)
{
	ud(false);
}
static void ud_wr(void)
{
	ud(true);
}

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
				&mr,
				0x123456789000,
				1ULL << 31,
				IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
					(i % 3 == 1 ? IBV_ACCESS_ZERO_BASED :
						      IBV_ACCESS_REMOTE_ATOMIC),
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
			.wr_id = i,
			.opcode = IBV_WR_SEND,
			.sg_list = &sge,
			.num_sge = 1,
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

static void windows_post_send(void)
{
	windows(false);
}
static void windows_wr(void)
{
	windows(true);
}

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

int main(void)
{
	fill_data();
	RUN(rc_post_send);
	RUN(rc_wr);
	RUN(uc_post_send);
	RUN(uc_wr);
	RUN(xrc_post_send);
	RUN(xrc_wr);
	RUN(ud_post_send);
	RUN(ud_wr);
	RUN(windows_post_send);
	RUN(windows_wr);
	RUN(window_type_1);
	return checks_failed ? 1 : 0;
}
