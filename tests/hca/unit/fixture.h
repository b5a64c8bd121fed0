/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two functions on one switch, each with memory of its own, an EQ, and objects that are made
 * directly: what tests and fuzzers of the data path stand on. A driver in miniature posts WQEs
 * and polls CQEs as libmlx5 does. The clock stands still unless it is moved.
 */
#ifndef HCA_FIXTURE_H
#define HCA_FIXTURE_H

#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>

#include "bus/dma.h"
#include "engine/fabric.h"
#include "hca.h"
#include "ifc.h"
#include "objects/cq.h"
#include "objects/eq.h"
#include "objects/mkey.h"
#include "objects/qp.h"
#include "objects/srq.h"
#include "objects/uar.h"

#define FIXTURE_MEMORY (16u << 20)
#define FIXTURE_IOVA 0x100000ull     /* where a machine's memory starts */
#define FIXTURE_VA 0x7f0000000000ull /* virtual addresses are this much higher */
#define FIXTURE_PAGE 4096u
#define FIXTURE_OBJS 64u
#define FIXTURE_WQES 64u
#define FIXTURE_SEGS 4u
#define FIXTURE_PD 5u
#define FIXTURE_XRCD 7u
#define FIXTURE_QKEY 0x1111u
#define FIXTURE_UAR 20u

struct fixture_side {
	struct hca *hca;
	uint8_t *memory;
	uint32_t used;
	struct uar uar;
	struct eq *eq;
	struct obj *objs[FIXTURE_OBJS];
	unsigned int count;
};

struct fixture {
	struct loop *loop;
	struct fabric *fabric;
	struct fixture_side side[2];
};

/* A CQ with its driver's half. */
struct fixture_cq {
	struct cq cq;
	struct fixture_side *side;
	uint32_t ci;
};

struct fixture_srq {
	struct srq srq;
	struct fixture_side *side;
	uint16_t posted, head;
};

struct fixture_qp {
	struct qp qp;
	struct fixture_side *side;
	struct fixture_cq *cq;
	uint16_t sq_pi, rq_pi;
};

static struct fixture fix;

static inline void fixture_need(bool ok)
{
	if (!ok)
		abort();
}

/* --- Memory --- */

static inline uint64_t fixture_alloc(struct fixture_side *s, uint32_t size)
{
	uint64_t iova = FIXTURE_IOVA + s->used;

	size = (size + FIXTURE_PAGE - 1) & ~(FIXTURE_PAGE - 1);
	fixture_need(size <= FIXTURE_MEMORY - s->used);
	s->used += size;
	return iova;
}

static inline uint8_t *fixture_at(struct fixture_side *s, uint64_t iova)
{
	return s->memory + (iova - FIXTURE_IOVA);
}

/* Pages in reverse, so that what is contiguous is so only for those who look at the list. */
static inline void fixture_buf(struct fixture_side *s, struct wqbuf *buf, uint32_t size)
{
	uint32_t pages = (size + FIXTURE_PAGE - 1) / FIXTURE_PAGE;
	uint64_t iova = fixture_alloc(s, size), *list = calloc(pages, sizeof(*list));

	fixture_need(list);
	for (uint32_t i = 0; i < pages; i++)
		put_be64(&list[i], iova + (uint64_t)(pages - 1 - i) * FIXTURE_PAGE);
	fixture_need(!wqbuf_init(buf, list, pages, 12, 0, size));
	free(list);
}

static inline uint8_t *fixture_wq(struct fixture_side *s, struct wqbuf *buf, uint64_t off)
{
	return fixture_at(s, buf->pages[off / FIXTURE_PAGE] + off % FIXTURE_PAGE);
}

/* --- Objects --- */

static inline void *fixture_obj(struct fixture_side *s, enum obj_type type, size_t size)
{
	struct obj *obj = calloc(1, size);

	fixture_need(obj && s->count < FIXTURE_OBJS);
	obj->hca = s->hca;
	obj->type = type;
	fixture_need(!obj_add(s->hca->objs[type], obj));
	s->objs[s->count++] = obj;
	return obj;
}

static inline struct mkey *fixture_mkey(struct fixture_side *s, uint64_t iova, uint32_t size,
					unsigned int access)
{
	struct mkey *m = fixture_obj(s, OBJ_MKEY, sizeof(*m));
	uint32_t pages = (size + FIXTURE_PAGE - 1) / FIXTURE_PAGE;

	m->mode = MKEY_MTT;
	m->variant = 0x5a;
	m->access = (uint8_t)access;
	m->qpn = 0xffffff;
	m->pd = FIXTURE_PD;
	m->start = iova + FIXTURE_VA;
	m->length = size;
	m->page_shift = 12;
	m->capacity = pages;
	fixture_need(!mkey_resize(m, pages));
	for (uint32_t i = 0; i < pages; i++)
		m->table[i].address = iova + (uint64_t)i * FIXTURE_PAGE;
	return m;
}

static inline uint32_t fixture_key(const struct mkey *m)
{
	return m->obj.id << 8 | m->variant;
}

static inline struct fixture_cq *fixture_cq(struct fixture_side *s, uint8_t log_size)
{
	struct fixture_cq *c = fixture_obj(s, OBJ_CQ, sizeof(*c));

	c->side = s;
	fixture_buf(s, &c->cq.buf, 64u << log_size);
	c->cq.eq = s->eq;
	c->cq.uar = &s->uar;
	c->cq.dbr = fixture_alloc(s, 8);
	c->cq.log_size = log_size;
	c->cq.cqe_size_shift = 6;
	for (uint32_t i = 0; i < 1u << log_size; i++)
		fixture_wq(s, &c->cq.buf, i * 64u)[63] = 0xf1;
	return c;
}

static inline struct fixture_srq *fixture_srq(struct fixture_side *s, struct fixture_cq *xrc_cq)
{
	struct fixture_srq *r = fixture_obj(s, OBJ_SRQ, sizeof(*r));

	r->side = s;
	r->srq.log_size = 6;
	r->srq.log_stride = 7;
	fixture_buf(s, &r->srq.buf, 128u << 6);
	r->srq.dbr = fixture_alloc(s, 8);
	r->srq.pd = FIXTURE_PD;
	r->srq.user_index = 0x77;
	if (xrc_cq) {
		r->srq.xrc = true;
		r->srq.xrcd = FIXTURE_XRCD;
		r->srq.cq = &xrc_cq->cq;
	}
	for (uint32_t i = 0; i < FIXTURE_WQES; i++) /* linked in steps of 5, modulo 64 */
		put_be16(fixture_wq(s, &r->srq.buf, i * 128u) + 2,
			 (uint16_t)((i + 5) % FIXTURE_WQES));
	return r;
}

static inline struct fixture_qp *fixture_qp(struct fixture_side *s, enum qp_transport t,
					    struct fixture_cq *cq, struct fixture_srq *srq)
{
	struct fixture_qp *q = fixture_obj(s, OBJ_QP, sizeof(*q));
	struct qp *qp = &q->qp;

	q->side = s;
	q->cq = cq;
	qp->transport = t;
	qp->pd = FIXTURE_PD;
	qp->user_index = 0x40 + qp->obj.id;
	qp->uar = &s->uar;
	qp->send_cq = qp->recv_cq = &cq->cq;
	qp->srq = srq ? &srq->srq : NULL;
	qp->xrcd = FIXTURE_XRCD;
	qp->has_sq = t != QP_XRC_TGT;
	qp->has_rq = !srq && t != QP_XRC_INI && t != QP_XRC_TGT && t != QP_UMR;
	qp->log_rq_size = qp->log_sq_size = 6;
	qp->log_rq_stride = 2;
	qp->sq_offset = FIXTURE_WQES * 64u;
	fixture_buf(s, &qp->buf, 2 * FIXTURE_WQES * 64u);
	qp->dbr = fixture_alloc(s, 8);
	qp->qkey = FIXTURE_QKEY;
	qp->mtu = 1024;
	qp->retry_count = 7;
	qp->rnr_retry = 7;
	qp->min_rnr_timer = 12;
	qp->max_rd_atomic = qp->max_dest_rd_atomic = 4;
	qp->remote_read = qp->remote_write = qp->remote_atomic = true;
	qp->path.ack_timeout = 14;
	fixture_need(!qp_engine_init(qp));
	return q;
}

static inline void fixture_state(struct fixture_qp *q, enum qp_state state)
{
	enum qp_state old = q->qp.state;

	q->qp.state = state;
	qp_engine_state(&q->qp, old);
	if (state != QP_RST)
		return;
	q->sq_pi = q->rq_pi = 0;
	memset(fixture_at(q->side, q->qp.dbr), 0, 8);
}

static inline void fixture_to_rts(struct fixture_qp *q)
{
	fixture_state(q, QP_INIT);
	fixture_state(q, QP_RTR);
	fixture_state(q, QP_RTS);
}

static inline void fixture_connect(struct fixture_qp *a, struct fixture_qp *b)
{
	/* Close to where 24 bits end. */
	a->qp.send_psn = b->qp.recv_psn = 0xfffffe;
	b->qp.send_psn = a->qp.recv_psn = 0x123456;
	a->qp.remote_qpn = b->qp.obj.id;
	b->qp.remote_qpn = a->qp.obj.id;
	a->qp.path.dlid = b->side->hca->port.lid;
	b->qp.path.dlid = a->side->hca->port.lid;
	fixture_to_rts(a);
	fixture_to_rts(b);
}

/* --- The miniature driver --- */

struct fixture_sge {
	uint64_t addr;
	uint32_t length, lkey;
};

struct fixture_wr {
	uint8_t opcode;
	bool unsignaled, solicited, inline_data;
	uint8_t fence;
	uint32_t imm;
	uint64_t raddr;
	uint32_t rkey;
	uint64_t swap_add, compare;
	uint32_t srqn;
	uint32_t dqpn, qkey; /* datagrams */
	uint16_t dlid;
	const uint8_t *dgid;
	uint8_t sgid_index;
	unsigned int sges;
	struct fixture_sge sge[FIXTURE_SEGS];
	const uint8_t *umr; /* control, context and entries; umr_len a multiple of 16 */
	uint32_t umr_len;
};

static inline bool fixture_is_ud(const struct fixture_qp *q)
{
	return q->qp.transport == QP_UD || q->qp.transport == QP_GSI || q->qp.transport == QP_SMI;
}

static inline uint32_t fixture_put_av(const struct fixture_wr *wr, uint8_t *at)
{
	put_be32(at, wr->qkey);
	put_be32(at + 8, wr->dqpn | 0x80000000u);
	put_be16(at + 14, wr->dlid);
	at[27] = 64;
	if (wr->dgid) {
		put_be32(at + 28, 1u << 30 | (uint32_t)wr->sgid_index << 20);
		memcpy(at + 32, wr->dgid, 16);
	}
	return 48;
}

static inline uint32_t fixture_put_data(const struct fixture_qp *q, const struct fixture_wr *wr,
					uint8_t *at)
{
	uint32_t len = 0;

	for (unsigned int i = 0; i < wr->sges; i++) {
		const struct fixture_sge *sge = &wr->sge[i];

		if (wr->inline_data) {
			memcpy(at + 4 + len, fixture_at(q->side, sge->addr - FIXTURE_VA),
			       sge->length);
			len += sge->length;
		} else {
			put_be32(at + len, sge->length);
			put_be32(at + len + 4, sge->lkey);
			put_be64(at + len + 8, sge->addr);
			len += 16;
		}
	}
	if (!wr->inline_data)
		return len;
	put_be32(at, len | 0x80000000u);
	return (4 + len + 15) & ~15u;
}

/* Builds the WQE in bytes[1024]; returns its length. */
static inline uint32_t fixture_build(const struct fixture_qp *q, const struct fixture_wr *wr,
				     uint8_t *bytes)
{
	uint32_t at = 16;

	memset(bytes, 0, 1024);
	if (wr->umr) {
		memcpy(bytes + at, wr->umr, wr->umr_len);
		at += wr->umr_len;
		goto ctrl;
	}
	if (fixture_is_ud(q))
		at += fixture_put_av(wr, bytes + at);
	if (q->qp.transport == QP_XRC_INI) {
		put_be32(bytes + at, wr->srqn);
		at += 16;
	}
	if (wr->raddr || wr->rkey) {
		put_be64(bytes + at, wr->raddr);
		put_be32(bytes + at + 8, wr->rkey);
		at += 16;
	}
	if (wr->opcode == MLX5_OPCODE_ATOMIC_CS || wr->opcode == MLX5_OPCODE_ATOMIC_FA) {
		put_be64(bytes + at, wr->swap_add);
		put_be64(bytes + at + 8, wr->compare);
		at += 16;
	}
	at += fixture_put_data(q, wr, bytes + at);
ctrl:
	put_be32(bytes, (uint32_t)q->sq_pi << 8 | wr->opcode);
	put_be32(bytes + 4, q->qp.obj.id << 8 | at / 16);
	bytes[11] = (uint8_t)(wr->fence << 5 | (wr->unsignaled ? 0 : 8) | (wr->solicited ? 2 : 0));
	put_be32(bytes + 12, wr->imm);
	return at;
}

static inline void fixture_ring(struct fixture_qp *q)
{
	put_be32(fixture_at(q->side, q->qp.dbr) + 4, q->sq_pi);
	qp_engine_kick(&q->qp);
}

/* Puts a WQE of len bytes where the next one belongs, without a doorbell. */
static inline void fixture_put_wqe(struct fixture_qp *q, const uint8_t *bytes, uint32_t len)
{
	for (uint32_t at = 0; at < len; at += 16) {
		uint64_t off = ((uint64_t)q->sq_pi * 64 + at) % (FIXTURE_WQES * 64u);

		memcpy(fixture_wq(q->side, &q->qp.buf, q->qp.sq_offset + off), bytes + at, 16);
	}
	q->sq_pi = (uint16_t)(q->sq_pi + (len + 63) / 64);
}

/* Returns the index of the WQE. */
static inline uint16_t fixture_send(struct fixture_qp *q, const struct fixture_wr *wr)
{
	uint16_t index = q->sq_pi;
	uint8_t bytes[1024];

	fixture_put_wqe(q, bytes, fixture_build(q, wr, bytes));
	fixture_ring(q);
	return index;
}

static inline void fixture_put_list(uint8_t *at, const struct fixture_sge *sge, unsigned int sges)
{
	for (unsigned int i = 0; i < sges; i++, at += 16) {
		put_be32(at, sge[i].length);
		put_be32(at + 4, sge[i].lkey);
		put_be64(at + 8, sge[i].addr);
	}
	if (sges == FIXTURE_SEGS)
		return;
	put_be32(at, 0);
	put_be32(at + 4, MKEY_TERMINATE);
	put_be64(at + 8, 0);
}

static inline uint16_t fixture_recv(struct fixture_qp *q, const struct fixture_sge *sge,
				    unsigned int sges)
{
	uint16_t index = q->rq_pi++;

	fixture_put_list(fixture_wq(q->side, &q->qp.buf, index % FIXTURE_WQES * 64u), sge, sges);
	put_be32(fixture_at(q->side, q->qp.dbr), q->rq_pi);
	return index;
}

static inline uint16_t fixture_srq_recv(struct fixture_srq *r, const struct fixture_sge *sge,
					unsigned int sges)
{
	uint16_t index = r->head;

	fixture_put_list(fixture_wq(r->side, &r->srq.buf, index * 128u) + 16, sge, sges);
	r->head = (uint16_t)((index + 5) % FIXTURE_WQES);
	put_be32(fixture_at(r->side, r->srq.dbr), ++r->posted);
	return index;
}

/* The next CQE, or NULL. */
static inline const struct mlx5_cqe64 *fixture_poll(struct fixture_cq *c)
{
	uint32_t size = 1u << c->cq.log_size;
	uint8_t *p = fixture_wq(c->side, &c->cq.buf, (uint64_t)(c->ci % size) * 64);

	if (p[63] >> 4 == MLX5_CQE_INVALID || (p[63] & 1) != !!(c->ci & size))
		return NULL;
	c->ci++;
	put_be32(fixture_at(c->side, c->cq.dbr), c->ci & 0xffffff);
	return (const void *)p;
}

static inline uint8_t fixture_syndrome(const struct mlx5_cqe64 *cqe)
{
	return ((const uint8_t *)cqe)[55];
}

static inline void fixture_arm(struct fixture_cq *c, unsigned int sn, bool solicited)
{
	cq_doorbell(c->side->hca, FIXTURE_UAR,
		    sn << 28 | (uint32_t)solicited << 24 | (c->ci & 0xffffff), c->cq.obj.id);
}

/* How many events of a type were reported so far. */
static inline unsigned int fixture_events(struct fixture_side *s, uint8_t type)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < s->eq->pi && i < 1u << s->eq->log_size; i++)
		n += fixture_wq(s, &s->eq->buf, i * 64u)[1] == type;
	return n;
}

/* --- Life --- */

static inline void fixture_run(void)
{
	for (unsigned int i = 0; i < 100000 && loop_turn(fix.loop, 0) > 0; i++)
		;
}

/* Runs, and moves the clock when there is nothing else to do, for ns at most. */
static inline void fixture_run_for(uint64_t ns)
{
	const uint64_t step = 50000;

	fixture_run();
	for (uint64_t t = 0; t < ns; t += step) {
		loop_clock_advance(fix.loop, step);
		fixture_run();
	}
}

/* A side without any object: its memory, numbers, place on the switch. */
static inline void fixture_side_new(struct fixture_side *s, unsigned int index)
{
	static uint8_t memory[2][FIXTURE_MEMORY] __attribute__((aligned(4096)));
	static const uint32_t firsts[OBJ_TYPES] = { [OBJ_MKEY] = 4, [OBJ_QP] = 0x40 };

	memset(s, 0, sizeof(*s));
	s->memory = memory[index];
	s->hca = calloc(1, sizeof(*s->hca));
	fixture_need(s->hca);
	s->hca->index = index;
	s->hca->loop = fix.loop;
	s->hca->fabric = fix.fabric;
	s->hca->dma = dma_space_new();
	fixture_need(s->hca->dma);
	fixture_need(!dma_map_memory(s->hca->dma, FIXTURE_IOVA, FIXTURE_MEMORY, s->memory,
				     DMA_PROT_READ | DMA_PROT_WRITE));
	for (unsigned int i = 0; i < OBJ_TYPES; i++) {
		s->hca->objs[i] = obj_table_new(firsts[i], 0xffff);
		fixture_need(s->hca->objs[i]);
	}
	port_init(s->hca);
	fixture_need(!fabric_join(fix.fabric, s->hca));
	s->uar.obj.id = FIXTURE_UAR;
}

static inline void fixture_side_start(struct fixture_side *s)
{
	s->eq = fixture_obj(s, OBJ_EQ, sizeof(*s->eq));
	s->eq->log_size = 10;
	s->eq->uar = &s->uar;
	memset(s->eq->event_mask, 0xff, sizeof(s->eq->event_mask));
	fixture_buf(s, &s->eq->buf, 64u << 10);
}

static inline void fixture_new(void)
{
	fix.loop = loop_new();
	fixture_need(fix.loop);
	loop_clock_advance(fix.loop, 0);
	fix.fabric = fabric_new(fix.loop);
	fixture_need(fix.fabric);
	for (unsigned int i = 0; i < 2; i++) {
		fixture_side_new(&fix.side[i], i);
		fixture_side_start(&fix.side[i]);
	}
}

static inline void fixture_obj_free(struct obj *obj)
{
	switch (obj->type) {
	case OBJ_QP:
		fabric_detach_all(obj->hca, obj->id);
		qp_engine_fini((struct qp *)obj);
		wqbuf_fini(&((struct qp *)obj)->buf);
		break;
	case OBJ_CQ:
		wqbuf_fini(&((struct cq *)obj)->buf);
		break;
	case OBJ_SRQ:
		wqbuf_fini(&((struct srq *)obj)->buf);
		break;
	case OBJ_EQ:
		wqbuf_fini(&((struct eq *)obj)->buf);
		break;
	case OBJ_MKEY:
		mkey_resize((struct mkey *)obj, 0);
		break;
	default:
		break;
	}
	obj_del(obj->hca->objs[obj->type], obj);
	free(obj);
}

/* Ends all objects: what is left is as fixture_side_new() has made it, but for port, counters and faults. */
static inline void fixture_side_stop(struct fixture_side *s)
{
	while (s->count)
		fixture_obj_free(s->objs[--s->count]);
	fabric_purge(s->hca);
	memset(s->memory, 0, s->used);
	s->used = 0;
}

static inline void fixture_side_free(struct fixture_side *s)
{
	fixture_side_stop(s);
	fabric_leave(fix.fabric, s->hca);
	for (unsigned int i = 0; i < OBJ_TYPES; i++)
		obj_table_free(s->hca->objs[i]);
	dma_space_free(s->hca->dma);
	free(s->hca);
}

static inline void fixture_free(void)
{
	fixture_side_free(&fix.side[0]);
	fixture_side_free(&fix.side[1]);
	fabric_free(fix.fabric);
	loop_free(fix.loop);
}

#endif
