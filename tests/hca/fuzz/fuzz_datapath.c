// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A hostile driver on a whole data path: QPs of each transport between two functions. The input
 * is a list of actions: WQEs of random bytes or nearly right, doorbell and CQ records, state
 * changes, packets made up by the other side, memory that comes and goes, faults of the fabric,
 * and time. Nothing is expected but that the model stands and comes to rest, and that nothing is
 * left of it then: the next input is given to the same two functions.
 */
#include "twice.h"
#include "unit/fixture.h"

#define PAIRS 7
#define KEYS 6
#define MAX_ACTIONS 200
#define TURNS 2000
#define BUFFER 65536u

struct input {
	const uint8_t *data;
	size_t left;
};

static struct fixture_qp *qps[2 * PAIRS + 1];
static struct fixture_cq *cqs[2];
static struct fixture_srq *srqs[2];
static struct mkey *mkeys[2][KEYS];
static uint64_t buffers[2];
static struct hca fresh[2];
static struct packet *held; /* all of the pool, for a while */

static uint64_t take(struct input *in, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes-- && in->left) {
		v = v << 8 | *in->data++;
		in->left--;
	}
	return v;
}

static struct fixture_qp *take_qp(struct input *in)
{
	return qps[take(in, 1) % (2 * PAIRS + 1)];
}

static unsigned int side_of(const struct fixture_qp *q)
{
	return q->side == &fix.side[1];
}

static uint32_t take_key(struct input *in, unsigned int side)
{
	uint8_t which = (uint8_t)take(in, 1);

	if (which == 0xff)
		return (uint32_t)take(in, 4);
	if (which == 0xfe)
		return MKEY_RESERVED_LKEY;
	if (which == 0xfd)
		return MKEY_DUMP_FILL;
	return fixture_key(mkeys[side][which % KEYS]) ^ (which > 0xf0);
}

static uint64_t take_address(struct input *in, unsigned int side)
{
	uint16_t offset = (uint16_t)take(in, 2);

	return offset == 0xffff ? take(in, 8) : buffers[side] + offset;
}

static uint32_t take_length(struct input *in)
{
	uint16_t v = (uint16_t)take(in, 2);

	if (v >= 0xfff0)
		return (uint32_t)take(in, 4);
	return v & 0x8000 ? v % 20000 : v % 500; /* a datagram, more often than not */
}

static void put_random(struct input *in, uint8_t *at, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		at[i] = (uint8_t)take(in, 1);
}

/* --- Actions --- */

static void post_random(struct input *in)
{
	struct fixture_qp *q = take_qp(in);
	uint8_t bytes[1024];
	uint32_t len = (uint32_t)(take(in, 1) % 64 + 1) * 16;

	if (!q->qp.has_sq)
		return;
	memset(bytes, 0, sizeof(bytes));
	put_random(in, bytes, len < 256 ? len : 256);
	if (take(in, 1) & 1) {
		put_be16(bytes + 1, q->sq_pi);
		bytes[0] = 0;
		put_be32(bytes + 4, q->qp.obj.id << 8 | len / 16);
	}
	fixture_put_wqe(q, bytes, len);
	fixture_ring(q);
}

static void post_umr(struct input *in, struct fixture_qp *q)
{
	static const uint8_t flags[] = { 0x80, 0xa0, 0xc0, 0x90, 0x00, 0x10, 0x88, 0x20 };
	uint8_t umr[48 + 64 + 128] = { 0 };
	struct fixture_wr wr = { .opcode = MLX5_OPCODE_UMR, .umr = umr, .umr_len = sizeof(umr) };
	unsigned int side = side_of(q);

	wr.imm = take_key(in, side);
	umr[0] = flags[take(in, 1) % sizeof(flags)];
	put_be16(umr + 4, (uint16_t)(take(in, 1) % 12));
	put_be16(umr + 6, (uint16_t)take(in, 1));
	put_be64(umr + 8, take(in, 4) & 0x3fe6e1c3);
	put_random(in, umr + 48, 64);
	if (!(umr[0] & 0x80)) /* not inline: one segment says where the entries are */
		wr.umr_len = 48 + 64 + 16;
	for (unsigned int i = 112; i < wr.umr_len; i += 16) {
		put_be32(umr + i, take_length(in));
		put_be32(umr + i + 4, take_key(in, side));
		put_be64(umr + i + 8, take_address(in, side));
	}
	fixture_send(q, &wr);
}

static void post_likely(struct input *in)
{
	static const uint8_t opcodes[] = {
		MLX5_OPCODE_NOP,        MLX5_OPCODE_SEND,       MLX5_OPCODE_SEND_IMM,
		MLX5_OPCODE_SEND_INVAL, MLX5_OPCODE_RDMA_WRITE, MLX5_OPCODE_RDMA_WRITE_IMM,
		MLX5_OPCODE_RDMA_READ,  MLX5_OPCODE_ATOMIC_CS,  MLX5_OPCODE_ATOMIC_FA,
		MLX5_OPCODE_UMR,
	};
	struct fixture_qp *q = take_qp(in);
	unsigned int side = side_of(q);
	struct fixture_wr wr = { .opcode = opcodes[take(in, 1) % sizeof(opcodes)] };
	uint8_t flags = (uint8_t)take(in, 1);

	if (!q->qp.has_sq)
		return;
	if (wr.opcode == MLX5_OPCODE_UMR) {
		post_umr(in, q);
		return;
	}
	wr.unsignaled = flags & 1;
	wr.solicited = flags & 2;
	wr.fence = flags >> 5;
	wr.imm = wr.opcode == MLX5_OPCODE_SEND_INVAL ? take_key(in, !side) : flags;
	if (wr.opcode >= MLX5_OPCODE_RDMA_WRITE && wr.opcode != MLX5_OPCODE_SEND &&
	    wr.opcode != MLX5_OPCODE_SEND_IMM) {
		wr.raddr = take_address(in, !side);
		wr.rkey = take_key(in, !side);
	}
	wr.swap_add = flags;
	wr.srqn = srqs[!side]->srq.obj.id ^ !(flags & 4);
	wr.dqpn = q->qp.remote_qpn;
	wr.dlid = (uint16_t)(flags & 8 ? 0xc001 : 2 - side);
	if (flags == 0x7f)
		wr.dlid = 0xffff;
	wr.qkey = q->qp.transport == QP_GSI ? QKEY_QP1 : FIXTURE_QKEY;
	wr.dgid = flags & 16 ? (const uint8_t *)"0123456789abcdef" : NULL;
	wr.sges = take(in, 1) % (FIXTURE_SEGS + 1);
	for (unsigned int i = 0; i < wr.sges; i++)
		wr.sge[i] = (struct fixture_sge){ take_address(in, side), take_length(in),
						  take_key(in, side) };
	fixture_send(q, &wr);
}

static void post_receive(struct input *in)
{
	struct fixture_qp *q = take_qp(in);
	unsigned int side = side_of(q), sges = take(in, 1) % (FIXTURE_SEGS + 1);
	struct fixture_sge sge[FIXTURE_SEGS];

	for (unsigned int i = 0; i < sges; i++)
		sge[i] = (struct fixture_sge){ take_address(in, side), take_length(in),
					       take_key(in, side) };
	if (q->qp.has_rq)
		fixture_recv(q, sge, sges);
	else
		fixture_srq_recv(srqs[side], sge, sges);
}

static void poke(struct input *in)
{
	struct fixture_qp *q = take_qp(in);
	uint64_t at;

	switch (take(in, 1) % 7) {
	case 0:
		put_be32(fixture_at(q->side, q->qp.dbr), (uint32_t)take(in, 2));
		break;
	case 1:
		put_be32(fixture_at(q->side, q->qp.dbr) + 4, (uint32_t)take(in, 2));
		break;
	case 2:
		put_be32(fixture_at(q->side, q->cq->cq.dbr), (uint32_t)take(in, 4));
		break;
	case 3:
		put_be32(fixture_at(q->side, srqs[side_of(q)]->srq.dbr), (uint32_t)take(in, 2));
		break;
	case 4: /* anywhere in a queue */
		at = take(in, 2) % (2 * FIXTURE_WQES * 64u - 16);
		put_random(in, fixture_wq(q->side, &q->qp.buf, at & ~15ull), 16);
		break;
	case 5: /* a limit, as the firmware sets it */
		srqs[side_of(q)]->srq.limit = (uint16_t)take(in, 1);
		break;
	default: /* the links of the SRQ */
		put_be16(fixture_wq(q->side, &srqs[side_of(q)]->srq.buf,
				    take(in, 1) % FIXTURE_WQES * 128) +
				 2,
			 (uint16_t)take(in, 2));
		break;
	}
	qp_engine_kick(&q->qp);
}

static void change_state(struct input *in)
{
	struct fixture_qp *q = take_qp(in);
	static const enum qp_state states[] = { QP_RST, QP_INIT, QP_RTR, QP_RTS, QP_SQD, QP_ERR };
	enum qp_state to = states[take(in, 1) % 6], from = q->qp.state;

	/* The firmware lets no others through (IBTA figure 124). */
	if (to != QP_RST && to != QP_ERR && !(to == QP_INIT && from == QP_RST) &&
	    !(to == QP_RTR && from == QP_INIT) &&
	    !(to == QP_RTS &&
	      (from == QP_RTR || from == QP_SQD || from == QP_SQER || from == QP_RTS)) &&
	    !(to == QP_SQD && from == QP_RTS))
		return;
	fixture_state(q, to);
	if (to == QP_RST)
		fixture_state(q, QP_INIT);
}

/* A packet that the other function's driver could not have caused, but a worse one might. */
static void forge(struct input *in)
{
	struct fixture_qp *q = take_qp(in);
	unsigned int to = side_of(q);
	struct packet *p = packet_get(fix.fabric);

	if (!p)
		return;
	p->opcode = (uint8_t)take(in, 1);
	if (p->opcode & 1)
		p->opcode = (uint8_t)((p->opcode & 0x1f) |
				      (uint32_t[]){ 0, 0x20, 0x60, 0xa0 }[p->opcode >> 6]);
	p->slid = (uint16_t)(2 - to);
	p->dlid = (uint16_t)(to + 1);
	p->pkey = 0xffff;
	p->dest_qpn = q->qp.obj.id;
	p->src_qpn = q->qp.remote_qpn;
	p->qkey = FIXTURE_QKEY;
	p->psn = (q->qp.recv_psn + (uint32_t)take(in, 1) - 8) & PSN_MASK;
	if (p->opcode & 0x80)
		p->psn = (q->qp.send_psn + (uint32_t)take(in, 1) - 8) & PSN_MASK;
	p->ack_request = true;
	p->syndrome = (uint8_t)take(in, 1);
	p->va = take_address(in, to);
	p->rkey = take_key(in, to);
	p->dma_len = take_length(in);
	p->imm = p->rkey;
	p->xrc_srqn = srqs[to]->srq.obj.id;
	p->len = (uint32_t)(take(in, 2) % (PACKET_PAYLOAD + 1));
	memset(p->data, 0x3c, p->len);
	fabric_send(fix.side[!to].hca, p);
}

static void doorbell(struct input *in)
{
	uint8_t which = (uint8_t)take(in, 1);
	uint32_t cmd = (uint32_t)take(in, 4);
	struct fixture_side *s = &fix.side[which & 1];

	if (which & 2)
		cq_doorbell(s->hca, FIXTURE_UAR, cmd, cqs[which & 1]->cq.obj.id);
	else if (which & 4)
		eq_doorbell(s->hca, FIXTURE_UAR, which & 8, s->eq->obj.id << 24 | (cmd & 0xffffff));
	else /* all events are seen */
		eq_doorbell(s->hca, FIXTURE_UAR, which & 8,
			    s->eq->obj.id << 24 | (s->eq->pi & 0xffffff));
}

static void put_held(void)
{
	while (held) {
		struct packet *p = held;

		held = p->next;
		packet_put(fix.fabric, p);
	}
}

/* No packets: all have to wait until there are some again. */
static void hold_packets(void)
{
	struct packet *p;

	if (held) {
		put_held();
		return;
	}
	while ((p = packet_get(fix.fabric))) {
		p->next = held;
		held = p;
	}
}

static void map(struct fixture_side *s)
{
	fixture_need(!dma_map_memory(s->hca->dma, FIXTURE_IOVA, FIXTURE_MEMORY, s->memory,
				     DMA_PROT_READ | DMA_PROT_WRITE));
}

static void memory(struct input *in)
{
	struct fixture_side *s = &fix.side[take(in, 1) & 1];

	if (dma_unmap(s->hca->dma, FIXTURE_IOVA, FIXTURE_MEMORY))
		map(s);
}

static void faults(struct input *in)
{
	struct hca_faults *f = &fix.side[take(in, 1) & 1].hca->faults;

	f->drop_next = (uint32_t)(take(in, 1) % 4);
	f->drop_permille = (uint32_t)(take(in, 1) * 2);
	f->delay_ns = take(in, 1) * 1000;
	f->link_down = take(in, 1) == 0xff;
	if (f->drop_permille == 2 * 0x55)
		hold_packets(); /* takes its time, so this is rare */
}

static void turns(unsigned int n)
{
	while (n-- && loop_turn(fix.loop, 0) > 0)
		;
}

static void time_passes(struct input *in)
{
	loop_clock_advance(fix.loop, take(in, 1) * take(in, 1) * 2000);
	turns(20);
}

static void consume(struct input *in)
{
	struct fixture_cq *c = cqs[take(in, 1) & 1];

	while (fixture_poll(c))
		;
}

static void (*const actions[])(struct input *in) = {
	post_likely, post_likely,  post_receive, post_likely, post_receive, post_random,
	poke,        change_state, forge,        doorbell,    memory,       faults,
	time_passes, time_passes,  consume,      consume,
};

/* --- What it is done to --- */

static void make_keys(unsigned int side)
{
	struct fixture_side *s = &fix.side[side];
	uint64_t iova = fixture_alloc(s, BUFFER);
	const unsigned int all = 31;

	buffers[side] = iova + FIXTURE_VA;
	for (unsigned int i = 0; i < KEYS; i++) {
		mkeys[side][i] = fixture_mkey(s, iova, BUFFER, all);
		mkeys[side][i]->remote_invalidate = mkeys[side][i]->umr_enabled = i;
	}
	mkeys[side][4]->pd++;
	mkeys[side][5]->mode = MKEY_PA;
	mkeys[side][5]->length64 = true;
	/* One above the first, one above that, and room for more. */
	for (unsigned int i = 2; i < 4; i++) {
		struct mkey *m = mkeys[side][i];

		m->mode = i == 2 ? MKEY_KLM : MKEY_KSM;
		for (unsigned int j = 0; j < m->count; j++)
			m->table[j] = (struct mkey_entry){
				.address = buffers[side] + j * 64,
				.key = fixture_key(mkeys[side][i == 2 ? 0 : 2]),
				.bytes = 1000
			};
		mkey_index(m);
	}
}

enum { PAIR_SRQ = 4, PAIR_SMI };

static void make_pair(unsigned int i)
{
	static const enum qp_transport transports[PAIRS][2] = {
		{ QP_RC, QP_RC },           { QP_UC, QP_UC }, { QP_UD, QP_UD },
		{ QP_XRC_INI, QP_XRC_TGT }, { QP_RC, QP_RC }, { QP_SMI, QP_SMI },
		{ QP_GSI, QP_GSI },
	};

	for (unsigned int side = 0; side < 2; side++) {
		struct fixture_qp *q = fixture_qp(&fix.side[side], transports[i][side], cqs[side],
						  i == PAIR_SRQ ? srqs[side] : NULL);

		qps[2 * i + side] = q;
		if (i == PAIR_SRQ) {
			q->qp.path.grh = true;
			port_gid(fix.side[!side].hca, 0, q->qp.path.dgid);
			q->qp.retry_count = q->qp.rnr_retry = 2;
		}
		if (i >= PAIR_SMI)
			fix.side[side].hca->special_qp[i - PAIR_SMI] = &q->qp;
	}
	fixture_connect(qps[2 * i], qps[2 * i + 1]);
	for (unsigned int side = 0; side < 2 && i >= PAIR_SMI; side++)
		qps[2 * i + side]->qp.remote_qpn = i - PAIR_SMI;
}

static void make(void)
{
	static const uint8_t mgid[] = "0123456789abcdef";

	for (unsigned int side = 0; side < 2; side++) {
		fixture_side_start(&fix.side[side]);
		make_keys(side);
		cqs[side] = fixture_cq(&fix.side[side], 6);
		srqs[side] = fixture_srq(&fix.side[side], NULL);
	}
	/* XRC targets of side 1 find an SRQ of their kind, QPs of side 0 one of theirs. */
	srqs[1]->srq.xrc = true;
	srqs[1]->srq.xrcd = FIXTURE_XRCD;
	srqs[1]->srq.cq = &cqs[1]->cq;
	for (unsigned int i = 0; i < PAIRS; i++)
		make_pair(i);
	qps[2 * PAIRS] = fixture_qp(&fix.side[0], QP_UMR, cqs[0], NULL);
	fixture_to_rts(qps[2 * PAIRS]);
	qps[0]->qp.reserved_lkey = true;
	fixture_need(!fabric_attach(fix.side[1].hca, mgid, qps[5]->qp.obj.id));
}

/* Ends all, makes sure that no object, packet, timer or table is left, and lets time start anew. */
static void end(void)
{
	for (unsigned int side = 0; side < 2; side++) {
		struct fixture_side *s = &fix.side[side];
		struct hca *hca = s->hca;

		put_held();
		fixture_side_stop(s);
		hca->special_qp[0] = hca->special_qp[1] = NULL;
		dma_unmap_all(hca->dma);
		map(s);
		hca->port = fresh[side].port;
		hca->stats = fresh[side].stats;
		hca->faults = fresh[side].faults;
		fixture_need(!memcmp(hca, &fresh[side], sizeof(*hca)));
		for (unsigned int i = 0; i < OBJ_TYPES; i++)
			fixture_need(obj_table_restart(hca->objs[i]));
	}
	fixture_need(fabric_restart(fix.fabric));
	fixture_need(loop_restart(fix.loop));
	loop_clock_advance(fix.loop, 1000000000);
}

static uint64_t outcome(void)
{
	uint64_t s = SUM_START;

	for (unsigned int side = 0; side < 2; side++) {
		s = sum(s, fix.side[side].memory, fix.side[side].used);
		s = sum(s, &fix.side[side].hca->stats, sizeof(struct hca_stats));
	}
	return s;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	hca_log_level = -1;
	fix.loop = loop_new();
	fixture_need(fix.loop);
	fix.fabric = fabric_new(fix.loop);
	fixture_need(fix.fabric);
	for (unsigned int side = 0; side < 2; side++) {
		fixture_side_new(&fix.side[side], side);
		memcpy(&fresh[side], fix.side[side].hca, sizeof(fresh[side]));
	}
	end();
	return 0;
}

static uint64_t give(const uint8_t *data, size_t size, bool ask)
{
	struct input in = { .data = data, .left = size };
	uint64_t result;

	make();
	for (unsigned int i = 0; in.left && i < MAX_ACTIONS; i++) {
		actions[take(&in, 1) % (sizeof(actions) / sizeof(actions[0]))](&in);
		turns(3);
	}
	turns(TURNS);
	put_held();
	loop_clock_advance(fix.loop, 3000000000ull);
	turns(TURNS);
	result = ask ? outcome() : 0;
	end();
	return result;
}
