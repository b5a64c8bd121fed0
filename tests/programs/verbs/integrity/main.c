// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>

#include "integrity.h"

#define GUARD_BYTE 0xc7
#define IMM 0xfeedbeefu
#define RECV_ID 0x4ec7

size_t largest_message(size_t standard)
{
	return opt.max_size ? opt.max_size : standard;
}

void fixture_open(struct fixture *fix, const struct vp_conf *conf, size_t largest)
{
	struct vp_conf c = *conf;

	memset(fix, 0, sizeof(*fix));
	fix->largest = largest;
	c.len = largest + VP_GRH + 4 * GUARD;
	vp_open(&fix->dev_a, 0);
	vp_open(&fix->dev_b, 1);
	vp_pair_make(&fix->pair, &fix->dev_a, &fix->dev_b, &c);
}

void fixture_close(struct fixture *fix)
{
	vp_expect_no_async(&fix->dev_a, "the first device");
	vp_expect_no_async(&fix->dev_b, "the second device");
	vp_pair_free(&fix->pair);
	vp_close(&fix->dev_a);
	vp_close(&fix->dev_b);
}

/* A datagram's first bytes in memory are its GRH. */
static size_t grh_of(const struct vp_end *sink)
{
	return sink->conf->type == IBV_QPT_UD ? VP_GRH : 0;
}

void sink_prepare(struct vp_end *sink, size_t off, size_t len)
{
	memset(sink->buf + off - grh_of(sink) - GUARD, GUARD_BYTE, GUARD);
	memset(sink->buf + off, 0, len);
	memset(sink->buf + off + len, GUARD_BYTE, GUARD);
}

static bool all_guard(const uint8_t *at)
{
	size_t i;

	for (i = 0; i < GUARD; i++)
		if (at[i] != GUARD_BYTE)
			return false;
	return true;
}

void sink_check(struct vp_end *sink, size_t off, size_t len, uint64_t pattern, const char *what)
{
	uint64_t until = now_ms() + opt.deadline_ms;
	ptrdiff_t wrong;

	/* The sender of an unreliable message is told before it has arrived. */
	do {
		wrong = vp_differs(sink->buf + off, len, pattern);
	} while (wrong >= 0 && sink->conf->type == IBV_QPT_UC && now_ms() < until);
	check(wrong < 0, "%s of %zu bytes: every byte is right (first wrong one: %td)", what, len,
	      wrong);
	check(all_guard(sink->buf + off - grh_of(sink) - GUARD),
	      "%s of %zu bytes: nothing is written in front", what, len);
	check(all_guard(sink->buf + off + len), "%s of %zu bytes: nothing is written behind", what,
	      len);
}

static const char *name_of(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
		return "send";
	case IBV_WR_SEND_WITH_IMM:
		return "send with immediate";
	case IBV_WR_RDMA_WRITE:
		return "write";
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return "write with immediate";
	case IBV_WR_RDMA_READ:
		return "read";
	default:
		return "operation";
	}
}

static enum ibv_wc_opcode wc_opcode_of(enum ibv_wr_opcode opcode)
{
	if (opcode == IBV_WR_RDMA_READ)
		return IBV_WC_RDMA_READ;
	if (opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		return IBV_WC_RDMA_WRITE;
	return IBV_WC_SEND;
}

static bool takes_receive(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* Cuts [off, off + len) into elements of uneven lengths; the first may have none. Returns how many there are. */
static int cut(struct ibv_sge *sge, const struct vp_end *end, size_t off, size_t len, int elements)
{
	int i;

	for (i = 0; i < elements; i++) {
		size_t part = i == elements - 1 ? len : len / (elements - i) / 2 + i % 2;

		if (part > len)
			part = len;
		sge[i] = (struct ibv_sge){ (uintptr_t)end->buf + off, part, end->mr->lkey };
		off += part;
		len -= part;
	}
	return elements;
}

static void post_receive(struct vp_end *to, const struct message *m, size_t grh)
{
	struct ibv_sge sge[VP_MAX_SGE];
	int elements = 0;

	/* The data of an RDMA write go where it says: its receive needs no memory. */
	if (m->opcode != IBV_WR_RDMA_WRITE_WITH_IMM)
		elements = cut(sge, to, m->sink - grh, m->len + grh, m->elements);
	errno = vp_try_recv(to, RECV_ID, sge, elements);
	require(!errno, "post a receive");
}

static void check_receive(struct vp_end *from, struct vp_end *to, const struct message *m,
			  size_t grh)
{
	struct ibv_wc wc = vp_expect(&to->rcq, RECV_ID, IBV_WC_SUCCESS, "the receive");
	bool imm = m->opcode != IBV_WR_SEND;

	check(wc.byte_len == m->len + grh, "the receive says %zu bytes (%u)", m->len + grh,
	      wc.byte_len);
	check(wc.opcode == (m->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM :
								      IBV_WC_RECV),
	      "the receive says what it is (%d)", wc.opcode);
	check(!!(wc.wc_flags & IBV_WC_WITH_IMM) == imm,
	      "the receive says whether there is an immediate");
	if (imm)
		check(wc.imm_data == htobe32(IMM), "the immediate is right (%#x)",
		      be32toh(wc.imm_data));
	check(wc.qp_num == to->qp->qp_num, "the receive names its QP");
	if (grh)
		check(wc.src_qp == from->qp->qp_num, "the receive names the sender's QP (%#x)",
		      wc.src_qp);
}

static void set_remote(struct ibv_send_wr *wr, struct vp_end *to, size_t off)
{
	if (wr->opcode == IBV_WR_SEND || wr->opcode == IBV_WR_SEND_WITH_IMM)
		return;
	wr->wr.rdma.remote_addr = (uintptr_t)to->buf + off;
	wr->wr.rdma.rkey = to->mr->rkey;
}

void transfer(struct vp_end *from, struct vp_end *to, const struct message *m)
{
	bool read = m->opcode == IBV_WR_RDMA_READ;
	struct vp_end *source = read ? to : from, *sink = read ? from : to;
	uint64_t pattern = vp_fresh();
	size_t grh = grh_of(from);
	struct ibv_wc wc;
	struct vp_wr w;

	vp_fill(source->buf + m->source, m->len, pattern);
	sink_prepare(sink, m->sink, m->len);
	if (takes_receive(m->opcode))
		post_receive(to, m, grh);

	vp_wr(&w, from, m->opcode, 0, 0);
	w.wr.num_sge = cut(w.sge, from, read ? m->sink : m->source, m->len, m->elements);
	w.wr.imm_data = htobe32(IMM);
	set_remote(&w.wr, to, read ? m->source : m->sink);
	if (m->inlined)
		w.wr.send_flags |= IBV_SEND_INLINE;
	vp_send(from, &w.wr);
	/* Inline data are taken when they are posted. */
	if (m->inlined)
		memset(from->buf + m->source, 0xee, m->len);

	wc = vp_expect(&from->scq, w.wr.wr_id, IBV_WC_SUCCESS, name_of(m->opcode));
	check(wc.opcode == wc_opcode_of(m->opcode), "the completion says what it is (%d)",
	      wc.opcode);
	check(wc.qp_num == from->qp->qp_num, "the completion names its QP");
	if (read)
		check(wc.byte_len == m->len, "a read says %zu bytes (%u)", m->len, wc.byte_len);
	if (takes_receive(m->opcode))
		check_receive(from, to, m, grh);
	sink_check(sink, m->sink, m->len, pattern, name_of(m->opcode));
}

int main(int argc, char **argv)
{
	const struct check_table tables[] = {
		integrity_transfer, integrity_memory, integrity_remap,  integrity_order,
		integrity_xrc,      integrity_mw,     integrity_dmabuf, integrity_rereg,
		integrity_resize,   integrity_cq,     integrity_import, integrity_domain,
	};

	vp_load_providers();
	return check_main_tables(argc, argv,
				 "Moves data by every operation, and compares every byte.", tables,
				 ARRAY_SIZE(tables));
}
