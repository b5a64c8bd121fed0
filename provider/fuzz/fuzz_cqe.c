// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_cqe.c - memory that the HCA's owner writes as it likes: CQEs of any octets, and links of an
 * SRQ, between posts, polls by both interfaces, resets and removals.
 */
#include <string.h>

#include "unit/check.h"
#include "unit/fake.h"

#define QPS 4

struct input {
	const uint8_t *at;
	size_t left;
};

static uint8_t take(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

struct fixture {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq_ex *cq[2];
	struct ibv_srq *srq;
	struct ibv_qp *qp[QPS];
	struct fake_hca_cq hca[2];
};

static void make_qp(struct fixture *fix, int i)
{
	static const struct ibv_qp_cap cap = {
		.max_send_wr = 4,
		.max_recv_wr = 4,
		.max_send_sge = 2,
		.max_recv_sge = 2,
		.max_inline_data = 32,
	};

	fix->qp[i] = fake_qp(fix->pd, ibv_cq_ex_to_cq(fix->cq[i % 2]), i < 2 ? NULL : fix->srq,
			     i == 1 ? IBV_QPT_UC : IBV_QPT_RC, &cap);
	REQUIRE(fix->qp[i]);
}

static void fixture_up(struct fixture *fix)
{
	struct ibv_cq_init_attr_ex cq = { .cqe = 7, .wc_flags = XENIB_CQ_WC_FLAGS };
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 7, .max_sge = 1 } };
	int i;

	memset(fix, 0, sizeof(*fix));
	fix->context = fake_open();
	fix->pd = xenib_alloc_pd(fix->context);
	fix->srq = xenib_create_srq(fix->pd, &srq);
	REQUIRE(fix->srq);
	for (i = 0; i < 2; i++) {
		fix->cq[i] = xenib_create_cq_ex(fix->context, &cq);
		REQUIRE(fix->cq[i]);
		fake_hca_attach(&fix->hca[i], ibv_cq_ex_to_cq(fix->cq[i]));
	}
	for (i = 0; i < QPS; i++)
		make_qp(fix, i);
}

static void fixture_down(struct fixture *fix)
{
	int i;

	for (i = 0; i < QPS; i++)
		xenib_destroy_qp(fix->qp[i]);
	for (i = 0; i < 2; i++)
		xenib_destroy_cq(ibv_cq_ex_to_cq(fix->cq[i]));
	xenib_destroy_srq(fix->srq);
	xenib_dealloc_pd(fix->pd);
	fake_close(fix->context);
	REQUIRE(!checks_failed);
}

static void post(struct fixture *fix, struct input *in)
{
	struct ibv_sge sge[2] = { { 0x1000, 8, 1 }, { 0x2000, 9, 2 } };
	struct ibv_send_wr send = { .wr_id = 1,
				    .sg_list = sge,
				    .opcode = take(in) % 4,
				    .num_sge = take(in) % 3 },
			   *bad_send;
	struct ibv_recv_wr recv = { .wr_id = 2, .sg_list = sge, .num_sge = 1 }, *bad_recv;
	struct ibv_qp *qp = fix->qp[take(in) % QPS];

	ibv_post_send(qp, &send, &bad_send);
	ibv_post_recv(qp, &recv, &bad_recv);
	ibv_post_srq_recv(fix->srq, &recv, &bad_recv);
}

/* A CQE that is nearly right, or not at all. */
static void complete(struct fixture *fix, struct input *in, bool wild)
{
	struct fake_hca_cq *hca = &fix->hca[take(in) % 2];
	struct ibv_qp *qp = fix->qp[take(in) % QPS];
	struct fake_cqe cqe = { .uidx = to_xqp(qp)->q.uidx, .qpn = qp->qp_num };
	uint8_t *at = hca->cqes + (size_t)(hca->next % hca->count) * 64;
	int i;

	cqe.opcode = take(in) & 0xf;
	cqe.wqe = take(in);
	fake_hca_complete(hca, &cqe);
	if (!wild)
		return;
	for (i = 0; i < 63; i++)
		at[i] = take(in);
	/* Now and then the uidx is one that exists, or nearly so. */
	if (take(in) & 1)
		memcpy(at + 32, (const uint8_t[4]){ 0, 0, take(in) & 1, take(in) & 7 }, 4);
}

static void scribble(struct fixture *fix, struct input *in)
{
	struct xenib_buf *buf;
	uint16_t at;

	switch (take(in) % 3) {
	case 0:
		buf = &to_xcq_ex(fix->cq[take(in) % 2])->mem.buf.buf;
		break;
	case 1:
		buf = &to_xsrq(fix->srq)->mem.buf.buf;
		break;
	default:
		buf = &to_xqp(fix->qp[take(in) % QPS])->mem.buf.buf;
		break;
	}
	at = take(in) << 8 | take(in);
	buf->addr[at % buf->size] = take(in);
}

static void lazy(struct fixture *fix, struct input *in)
{
	struct ibv_cq_ex *ex = fix->cq[take(in) % 2];
	struct ibv_poll_cq_attr attr = {};
	volatile uint64_t sum = 0; /* so that the reading is done */
	int n = 0;

	if (ibv_start_poll(ex, &attr))
		return;
	do {
		sum += ex->wr_id + ex->status + ibv_wc_read_opcode(ex) + ibv_wc_read_byte_len(ex);
		sum += ibv_wc_read_imm_data(ex) + ibv_wc_read_qp_num(ex) + ibv_wc_read_sl(ex);
		sum += ibv_wc_read_src_qp(ex) + ibv_wc_read_slid(ex) + ibv_wc_read_wc_flags(ex);
		sum += ibv_wc_read_vendor_err(ex) + ibv_wc_read_dlid_path_bits(ex);
	} while (++n < 20 && !ibv_next_poll(ex));
	ibv_end_poll(ex);
}

static void reset(struct fixture *fix, struct input *in)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int i = take(in) % QPS;

	if (take(in) & 1) {
		xenib_destroy_qp(fix->qp[i]);
		make_qp(fix, i);
	} else {
		xenib_modify_qp(fix->qp[i], &attr, IBV_QP_STATE);
		fake_to_rts(fix->qp[i]);
	}
}

static void resize(struct fixture *fix, struct input *in)
{
	int n = take(in) % 2;
	struct fake_hca_cq *hca = &fix->hca[n];

	fake.resizes = take(in) & 1 ? hca : NULL;
	xenib_resize_cq(ibv_cq_ex_to_cq(fix->cq[n]), 1 + take(in) % 16);
	hca->cqes = to_xcq_ex(fix->cq[n])->q.cqes;
	hca->count = to_xcq_ex(fix->cq[n])->q.mask + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct ibv_wc wc[8];
	struct fixture fix;

	fixture_up(&fix);
	while (in.left) {
		switch (take(&in) % 9) {
		case 0:
		case 1:
			post(&fix, &in);
			break;
		case 2:
			complete(&fix, &in, false);
			break;
		case 3:
			complete(&fix, &in, true);
			break;
		case 4:
			scribble(&fix, &in);
			break;
		case 5:
			ibv_poll_cq(ibv_cq_ex_to_cq(fix.cq[take(&in) % 2]), take(&in) % 9, wc);
			break;
		case 6:
			lazy(&fix, &in);
			break;
		case 7:
			reset(&fix, &in);
			break;
		case 8:
			resize(&fix, &in);
			break;
		}
	}
	fixture_down(&fix);
	return 0;
}
