// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Packets that no sound sender makes: what a receiver lets happen to itself. */
#include "engine/fabric.h"
#include "pair.h"

/* A packet to b as if from a, expected next after n others. */
static struct packet *forged(uint8_t opcode, uint32_t n, uint32_t len)
{
	struct packet *p = packet_get(fix.fabric);

	REQUIRE(p);
	p->opcode = opcode;
	p->slid = 1;
	p->dlid = 2;
	p->pkey = 0xffff;
	p->dest_qpn = b->qp.obj.id;
	p->psn = (b->qp.recv_psn + n) & PSN_MASK;
	p->ack_request = true;
	p->va = buf_b;
	p->rkey = fixture_key(mr_b);
	p->dma_len = len;
	p->len = len;
	memset(p->data, 0x77, len);
	return p;
}

static void deliver(struct packet *p)
{
	fabric_send(fix.side[0].hca, p);
	fixture_run();
}

static bool written(void)
{
	return *mem(b, buf_b) == 0x77;
}

static void is_dropped(struct packet *p)
{
	uint64_t dropped = fix.side[1].hca->stats.packets_dropped;

	deliver(p);
	CHECK(!written());
	CHECK_EQ(b->qp.state, QP_RTS);
	CHECK(fix.side[1].hca->stats.packets_dropped > dropped);
	fixture_free();
}

TEST(not_from_the_peer)
{
	struct packet *p;

	open_pair(false);
	p = forged(BTH_RC | BTH_WRITE_ONLY, 0, 8);
	p->slid = 7;
	is_dropped(p);

	open_pair(false);
	p = forged(BTH_RC | BTH_WRITE_ONLY, 0, 8);
	p->pkey = 0x8123;
	is_dropped(p);

	open_pair(false);
	is_dropped(forged(BTH_UC | BTH_WRITE_ONLY, 0, 8));

	open_pair(false);
	is_dropped(forged(BTH_XRC | BTH_WRITE_ONLY, 0, 8));

	open_pair(false); /* and one that is right, to know that the others were nearly so */
	deliver(forged(BTH_RC | BTH_WRITE_ONLY, 0, 8));
	CHECK(written());
	fixture_free();
}

/* A pair whose path has the GIDs at index 0, and a packet to b that has them. */
static struct packet *with_grh(void)
{
	struct packet *p;

	open_pair(false);
	a->qp.path.grh = b->qp.path.grh = true;
	port_gid(fix.side[0].hca, 0, b->qp.path.dgid);
	port_gid(fix.side[1].hca, 0, a->qp.path.dgid);
	p = forged(BTH_RC | BTH_WRITE_ONLY, 0, 8);
	p->grh = true;
	memcpy(p->sgid, b->qp.path.dgid, sizeof(p->sgid));
	memcpy(p->dgid, a->qp.path.dgid, sizeof(p->dgid));
	return p;
}

TEST(not_by_the_path)
{
	struct packet *p;

	p = with_grh();
	p->sgid[15] ^= 1;
	is_dropped(p);

	p = with_grh(); /* a GID of this port, but not that of the path */
	fix.side[1].hca->port.guids[1] = 0x77;
	put_be64(p->dgid + 8, 0x77);
	is_dropped(p);

	p = with_grh();
	p->grh = false;
	is_dropped(p);

	p = with_grh();
	b->qp.path.grh = false;
	is_dropped(p);

	deliver(with_grh());
	CHECK(written());
	fixture_free();
}

TEST(requests_and_answers_by_gids)
{
	struct packet *p = with_grh();
	struct fixture_wr wr;

	packet_put(fix.fabric, p);
	pattern(mem(b, buf_b), 5000, 4);
	wr = wr_rdma(MLX5_OPCODE_RDMA_READ, 0, 0, 5000);
	fixture_send(a, &wr);
	fixture_run();
	good(cq_a, MLX5_CQE_REQ, 0);
	CHECK(has_pattern(mem(a, buf_a), 5000, 4));
	fixture_free();
}

static void is_invalid(struct packet *p)
{
	deliver(p);
	CHECK_EQ(b->qp.state, QP_ERR);
	CHECK_EQ(fixture_events(&fix.side[1], 0x10), 1);
	fixture_free();
}

TEST(malformed_messages)
{
	struct packet *p;

	open_pair(false); /* a first packet that is not full */
	is_invalid(forged(BTH_RC | BTH_WRITE_FIRST, 0, 1000));

	open_pair(false); /* more than the MTU */
	is_invalid(forged(BTH_RC | BTH_WRITE_ONLY, 0, 2000));

	open_pair(false); /* an end without a start */
	is_invalid(forged(BTH_RC | BTH_SEND_LAST, 0, 8));

	open_pair(false); /* less than it announces */
	p = forged(BTH_RC | BTH_WRITE_ONLY, 0, 8);
	p->dma_len = 9;
	is_invalid(p);

	open_pair(false); /* more than it announces */
	p = forged(BTH_RC | BTH_WRITE_ONLY, 0, 8);
	p->dma_len = 7;
	is_invalid(p);

	open_pair(false); /* a message in a message */
	recv_b(0, 65536);
	deliver(forged(BTH_RC | BTH_SEND_FIRST, 0, 1024));
	is_invalid(forged(BTH_RC | BTH_SEND_ONLY, 1, 8));

	open_pair(false); /* a READ with a payload */
	is_invalid(forged(BTH_RC | BTH_READ_REQUEST, 0, 8));

	open_pair(false); /* longer than any message */
	p = forged(BTH_RC | BTH_READ_REQUEST, 0, 0);
	p->dma_len = (1u << 30) + 1;
	is_invalid(p);
}

TEST(unknown_and_early)
{
	open_pair(false); /* reserved opcodes are not answered */
	deliver(forged(BTH_RC | 0x1f, 0, 8));
	CHECK_EQ(fix.side[1].hca->stats.packets_sent, 0);
	/* What comes too early is asked for once. */
	deliver(forged(BTH_RC | BTH_WRITE_ONLY, 3, 8));
	deliver(forged(BTH_RC | BTH_WRITE_ONLY, 4, 8));
	CHECK_EQ(fix.side[1].hca->stats.packets_sent, 1);
	CHECK(!written());
	CHECK_EQ(b->qp.state, QP_RTS);
	fixture_free();
}

/* An old READ that was never made: nothing to repeat, nothing to say. */
TEST(duplicates_that_are_none)
{
	struct packet *p;

	open_pair(false);
	p = forged(BTH_RC | BTH_READ_REQUEST, PSN_MASK - 5, 0);
	p->dma_len = 8;
	deliver(p);
	p = forged(BTH_RC | BTH_FETCH_ADD, PSN_MASK - 5, 0);
	deliver(p);
	CHECK_EQ(fix.side[1].hca->stats.packets_sent, 0);
	/* One that was made, but of other memory. */
	p = forged(BTH_RC | BTH_READ_REQUEST, 0, 0);
	p->dma_len = 8;
	deliver(p);
	CHECK_EQ(fix.side[1].hca->stats.packets_sent, 1);
	p = forged(BTH_RC | BTH_READ_REQUEST, 0, 0);
	p->va += 8;
	p->dma_len = 8;
	deliver(p);
	CHECK_EQ(fix.side[1].hca->stats.packets_sent, 1);
	CHECK_EQ(b->qp.state, QP_RTS);
	fixture_free();
}

/* Acknowledgements of what was never sent, and responses nobody asked for. */
TEST(ghosts)
{
	static const uint8_t ops[] = { BTH_ACKNOWLEDGE, BTH_READ_RESP_ONLY, BTH_ATOMIC_ACK };

	open_pair(false);
	for (unsigned int i = 0; i < 3; i++) {
		for (unsigned int kind = 0; kind < 256; kind += 0x20) {
			struct packet *p = forged(BTH_RC | ops[i], 0, 0);

			p->psn = (b->qp.send_psn + i) & PSN_MASK;
			p->syndrome = (uint8_t)kind;
			deliver(p);
		}
	}
	CHECK_EQ(b->qp.state, QP_RTS);
	CHECK(!fixture_poll(cq_b));
	fixture_free();
}

/* A response of the wrong size, or to the wrong request. */
TEST(bad_responses)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct packet *p;
		struct fixture_wr wr;

		open_pair(false);
		fix.side[1].hca->faults.drop_next = 1;
		wr = wr_rdma(MLX5_OPCODE_RDMA_READ, 0, 0, 8);
		fixture_send(a, &wr);
		fixture_run();
		p = forged(BTH_RC | (i ? BTH_ATOMIC_ACK : BTH_READ_RESP_ONLY), 0, i ? 0 : 16);
		p->slid = 2;
		p->dlid = 1;
		p->dest_qpn = a->qp.obj.id;
		p->psn = a->qp.send_psn;
		fabric_send(fix.side[1].hca, p);
		fixture_run();
		bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_BAD_RESP_ERR);
		fixture_free();
	}
}

/* An unreliable message that lost its middle is gone, and the next is not touched by that. */
TEST(uc_gap)
{
	const struct mlx5_cqe64 *cqe;

	open_transport(QP_UC, false);
	recv_b(0, 65536);
	deliver(forged(BTH_UC | BTH_SEND_FIRST, 0, 1024));
	deliver(forged(BTH_UC | BTH_SEND_MIDDLE, 2, 1024));
	deliver(forged(BTH_UC | BTH_SEND_LAST, 3, 8));
	CHECK(!fixture_poll(cq_b));
	deliver(forged(BTH_UC | BTH_SEND_ONLY, 4, 8));
	cqe = fixture_poll(cq_b);
	REQUIRE(cqe);
	CHECK_EQ(be32toh(cqe->byte_cnt), 8);
	/* One that is not shaped right is gone as well. */
	recv_b(0, 65536);
	deliver(forged(BTH_UC | BTH_SEND_FIRST, 5, 100));
	deliver(forged(BTH_UC | BTH_SEND_LAST, 6, 8));
	CHECK(!fixture_poll(cq_b));
	CHECK_EQ(b->qp.state, QP_RTS);
	fixture_free();
}
