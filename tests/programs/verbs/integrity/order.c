// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Many operations at a time: order, fences, atomics, shared receive queues. */
#include <errno.h>
#include <string.h>

#include "integrity.h"

/* A send says that the write before it is complete: when it has arrived, the data are there. */
static void write_then_send(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	enum { LEN = 30000 };
	struct vp_wr write, send;
	struct fixture fix;
	struct vp_end *a, *b;
	int i;

	(void)arg;
	fixture_open(&fix, &conf, 64 * 1024);
	a = &fix.pair.a;
	b = &fix.pair.b;
	for (i = 0; i < 20; i++) {
		uint64_t pattern = vp_fresh();

		sink_prepare(b, GUARD, LEN);
		vp_fill(a->buf + GUARD, LEN, pattern);
		vp_recv(b, i, 40000, 8);
		vp_wr(&write, a, IBV_WR_RDMA_WRITE, GUARD, LEN);
		write.wr.send_flags = 0;
		vp_wr(&send, a, IBV_WR_SEND, 50000, 8);
		write.wr.next = &send.wr;
		vp_send(a, &write.wr);
		vp_expect(&b->rcq, i, IBV_WC_SUCCESS, "the receive");
		sink_check(b, GUARD, LEN, pattern, "the write before the send");
		vp_expect(&a->scq, send.wr.wr_id, IBV_WC_SUCCESS, "the send");
	}
	fixture_close(&fix);
}

/* A fenced send waits for the read before it, and carries what that has brought. */
static void read_fence_send(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	enum { LEN = 20000, AT = 30000 };
	struct vp_wr read, send;
	struct fixture fix;
	struct vp_end *a, *b;
	int i;

	(void)arg;
	fixture_open(&fix, &conf, 64 * 1024);
	a = &fix.pair.a;
	b = &fix.pair.b;
	for (i = 0; i < 20; i++) {
		uint64_t pattern = vp_fresh();

		vp_fill(b->buf + GUARD, LEN, pattern);
		memset(a->buf + GUARD, 0, LEN);
		sink_prepare(b, AT, LEN);
		vp_recv(b, i, AT, LEN);
		vp_wr(&read, a, IBV_WR_RDMA_READ, GUARD, LEN);
		vp_wr(&send, a, IBV_WR_SEND, GUARD, LEN);
		send.wr.send_flags |= IBV_SEND_FENCE;
		read.wr.next = &send.wr;
		vp_send(a, &read.wr);
		vp_expect(&a->scq, read.wr.wr_id, IBV_WC_SUCCESS, "the read");
		vp_expect(&a->scq, send.wr.wr_id, IBV_WC_SUCCESS, "the send");
		vp_expect(&b->rcq, i, IBV_WC_SUCCESS, "the receive");
		sink_check(b, AT, LEN, pattern, "the send behind the read");
	}
	fixture_close(&fix);
}

/* Only every eighth request asks for a completion; the queue goes around many times. */
static void unsignalled(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	enum { LEN = 512, SLOTS = 64, TOTAL = 1024 };
	uint64_t pattern[SLOTS];
	struct vp_wr w;
	struct fixture fix;
	struct vp_end *a, *b;
	int i;

	(void)arg;
	fixture_open(&fix, &conf, SLOTS * LEN);
	a = &fix.pair.a;
	b = &fix.pair.b;
	for (i = 0; i < TOTAL; i++) {
		size_t slot = i % SLOTS;

		pattern[slot] = vp_fresh();
		vp_fill(a->buf + slot * LEN, LEN, pattern[slot]);
		vp_wr(&w, a, IBV_WR_RDMA_WRITE, slot * LEN, LEN);
		w.wr.send_flags = i % 8 == 7 ? IBV_SEND_SIGNALED : 0;
		vp_send(a, &w.wr);
		if (i % 8 == 7)
			vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "every eighth write");
	}
	vp_expect_none(&a->scq, "the writes between");
	for (i = 0; i < SLOTS; i++)
		check(vp_differs(b->buf + i * LEN, LEN, pattern[i]) < 0,
		      "slot %d holds what was written last", i);
	fixture_close(&fix);
}

/* Several QPs, both directions, queues full of writes, reads and sends of all lengths at the same time. */
static void pipeline(const void *arg)
{
	enum { PAIRS = 4, DEPTH = 16, SLOT = 8192 };
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_SEND,
						      IBV_WR_RDMA_READ };
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	uint64_t pattern[PAIRS][DEPTH], id[PAIRS][DEPTH];
	struct vp_pair pair[PAIRS];
	struct vp_dev dev_a, dev_b;
	struct vp_wr w;
	int round, p, i;

	(void)arg;
	conf.len = 2 * DEPTH * SLOT;
	conf.max_rd_atomic = 4;
	conf.max_dest_rd_atomic = 4;
	vp_open(&dev_a, 0);
	vp_open(&dev_b, 1);
	for (p = 0; p < PAIRS; p++)
		vp_pair_make(&pair[p], p % 2 ? &dev_b : &dev_a, p % 2 ? &dev_a : &dev_b, &conf);
	for (round = 0; round < 6; round++) {
		for (p = 0; p < PAIRS; p++) {
			struct vp_end *a = &pair[p].a, *b = &pair[p].b;

			memset(a->buf, 0, a->len);
			memset(b->buf, 0, b->len);
			for (i = 0; i < DEPTH; i++) {
				enum ibv_wr_opcode opcode = opcodes[(p + round + i) % 3];
				struct vp_end *source = opcode == IBV_WR_RDMA_READ ? b : a;
				size_t len = (i * 1237 + p * 61 + round) % SLOT;

				pattern[p][i] = vp_fresh();
				vp_fill(source->buf + i * SLOT, len, pattern[p][i]);
				if (opcode == IBV_WR_SEND)
					vp_recv(b, i, i * SLOT, SLOT);
				vp_wr(&w, a, opcode, i * SLOT, len);
				id[p][i] = w.wr.wr_id;
				vp_send(a, &w.wr);
			}
		}
		for (p = 0; p < PAIRS; p++) {
			struct vp_end *a = &pair[p].a, *b = &pair[p].b;

			for (i = 0; i < DEPTH; i++) {
				enum ibv_wr_opcode opcode = opcodes[(p + round + i) % 3];
				struct vp_end *sink = opcode == IBV_WR_RDMA_READ ? a : b;
				size_t len = (i * 1237 + p * 61 + round) % SLOT;

				vp_expect(&a->scq, id[p][i], IBV_WC_SUCCESS,
					  "a request, in the order of posting");
				if (opcode == IBV_WR_SEND)
					vp_expect(&b->rcq, i, IBV_WC_SUCCESS,
						  "a receive, in the order of posting");
				check(vp_differs(sink->buf + i * SLOT, len, pattern[p][i]) < 0,
				      "every byte is right");
			}
		}
	}
	for (p = 0; p < PAIRS; p++)
		vp_pair_free(&pair[p]);
	vp_close(&dev_a);
	vp_close(&dev_b);
}

static uint64_t word(const void *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint64_t run_atomic(struct vp_end *a, enum ibv_wr_opcode opcode, uint64_t compare_add,
			   uint64_t swap)
{
	struct ibv_wc wc;
	struct vp_wr w;

	memset(a->buf, 0x99, 64);
	vp_wr(&w, a, opcode, 8, 8);
	w.wr.wr.atomic.compare_add = compare_add;
	w.wr.wr.atomic.swap = swap;
	vp_send(a, &w.wr);
	wc = vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "an atomic");
	check(wc.opcode ==
		      (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? IBV_WC_FETCH_ADD : IBV_WC_COMP_SWAP),
	      "the completion says what it is (%d)", wc.opcode);
	check(word(a->buf) == 0x9999999999999999u && word(a->buf + 16) == 0x9999999999999999u,
	      "only eight bytes are written");
	return word(a->buf + 8);
}

static void atomics_by(bool wr_api)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	uint64_t value = 0x0123456789abcdefu, old;
	struct fixture fix;
	struct vp_end *a, *b;
	uint8_t *target;

	conf.wr_api = wr_api;
	conf.cq_ex = wr_api;
	fixture_open(&fix, &conf, 4096);
	a = &fix.pair.a;
	b = &fix.pair.b;
	if (fix.dev_b.attr.atomic_cap == IBV_ATOMIC_NONE)
		skip("the device has no atomics");
	memset(b->buf, 0x77, 64);
	target = b->buf + 8;
	memcpy(target, &value, 8);

	old = run_atomic(a, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0);
	check(old == value && word(target) == value + 1, "fetch and add 1");
	old = run_atomic(a, IBV_WR_ATOMIC_FETCH_AND_ADD, -1ull, 0);
	check(old == value + 1 && word(target) == value, "fetch and add -1, with its carries");
	old = run_atomic(a, IBV_WR_ATOMIC_FETCH_AND_ADD, -value - 1, 0);
	check(old == value && word(target) == -1ull, "fetch and add up to the last number");
	old = run_atomic(a, IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0);
	check(old == -1ull && word(target) == 1, "fetch and add that wraps around");

	old = run_atomic(a, IBV_WR_ATOMIC_CMP_AND_SWP, 1, value);
	check(old == 1 && word(target) == value, "compare and swap that is equal");
	old = run_atomic(a, IBV_WR_ATOMIC_CMP_AND_SWP, 1, 5);
	check(old == value && word(target) == value, "compare and swap that is not");
	old = run_atomic(a, IBV_WR_ATOMIC_CMP_AND_SWP, value ^ 1ull << 63, 5);
	check(old == value && word(target) == value,
	      "compare and swap that differs in the top bit");
	check(word(b->buf) == 0x7777777777777777u && word(b->buf + 16) == 0x7777777777777777u,
	      "the words beside the target are as they were");
	fixture_close(&fix);
}

static void atomics(const void *arg)
{
	(void)arg;
	atomics_by(false);
	atomics_by(true);
}

/* Two QPs add to one word at the same time: nothing is lost, and no two see the same value. */
static void atomics_compete(const void *arg)
{
	enum { QPS = 3, EACH = 100, DEPTH = 8 };
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	uint8_t seen[QPS * EACH] = { 0 };
	struct vp_pair pair[QPS];
	struct vp_dev dev_a, dev_b;
	struct ibv_wc wc;
	struct vp_wr w;
	uint8_t *target;
	int p, i, done;

	(void)arg;
	conf.max_rd_atomic = 4;
	conf.max_dest_rd_atomic = 4;
	vp_open(&dev_a, 0);
	vp_open(&dev_b, 1);
	if (dev_b.attr.atomic_cap == IBV_ATOMIC_NONE)
		skip("the device has no atomics");
	vp_pair_make(&pair[0], &dev_a, &dev_b, &conf);
	for (p = 1; p < QPS; p++)
		vp_pair_make_on(&pair[p], p % 2 ? &dev_b : &dev_a,
				p % 2 ? pair[0].b.pd : pair[0].a.pd, &dev_b, pair[0].b.pd, &conf);
	target = pair[0].b.buf;
	memset(target, 0, 8);

	for (i = 0; i < EACH; i += DEPTH) {
		int n = EACH - i < DEPTH ? EACH - i : DEPTH, k;

		for (k = 0; k < n; k++) {
			for (p = 0; p < QPS; p++) {
				vp_wr(&w, &pair[p].a, IBV_WR_ATOMIC_FETCH_AND_ADD, 8 * k, 8);
				w.wr.wr.atomic.remote_addr = (uintptr_t)target;
				w.wr.wr.atomic.rkey = pair[0].b.mr->rkey;
				w.wr.wr.atomic.compare_add = 1;
				vp_send(&pair[p].a, &w.wr);
			}
		}
		for (p = 0; p < QPS; p++) {
			for (done = 0; done < n; done++) {
				uint64_t old;

				require(vp_poll_for(&pair[p].a.scq, &wc, opt.deadline_ms),
					"an atomic completes");
				require(wc.status == IBV_WC_SUCCESS, "with success (got \"%s\")",
					ibv_wc_status_str(wc.status));
				old = word(pair[p].a.buf + 8 * done);
				require(old < QPS * EACH,
					"the old value is one that there was (%llu)",
					(unsigned long long)old);
				check(!seen[old]++, "nobody else has seen %llu",
				      (unsigned long long)old);
			}
		}
	}
	check(word(target) == QPS * EACH, "the sum is right (%llu)",
	      (unsigned long long)word(target));
	for (p = QPS - 1; p >= 0; p--)
		vp_pair_free(&pair[p]);
	vp_close(&dev_a);
	vp_close(&dev_b);
}

/* Several QPs take their receives from one SRQ; each message is whole, and says which QP it came by. */
static void shared_receive_queue(const void *arg)
{
	enum { QPS = 4, ROUNDS = 10, LEN = 3000, SLOTS = QPS };
	struct vp_conf conf = vp_conf(IBV_QPT_RC), leaf_conf = conf;
	struct vp_end hub, spoke[QPS], leaf[QPS];
	uint64_t pattern[QPS];
	struct vp_dev dev_a, dev_b;
	struct ibv_wc wc;
	struct vp_wr w;
	int round, q, i;

	(void)arg;
	vp_open(&dev_a, 0);
	vp_open(&dev_b, 1);
	conf.use_srq = true;
	vp_end_make_no_qp(&hub, &dev_b, NULL, &conf);
	for (q = 0; q < QPS; q++) {
		vp_end_make(&leaf[q], q % 2 ? &dev_b : &dev_a, NULL, &leaf_conf);
		/* The spoke borrows all from the hub but its QP. */
		spoke[q] = hub;
		spoke[q].qp = vp_qp_create(&hub, &conf);
		require(spoke[q].qp, "create a QP on the SRQ");
		spoke[q].psn = 0x1000 * q;
		vp_connect(&leaf[q], &spoke[q]);
	}
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < SLOTS; i++) {
			sink_prepare(&hub, GUARD + i * (LEN + 2 * GUARD), LEN);
			vp_recv(&hub, i, GUARD + i * (LEN + 2 * GUARD), LEN);
		}
		for (q = 0; q < QPS; q++) {
			pattern[q] = vp_fresh();
			vp_fill(leaf[q].buf, LEN, pattern[q]);
			vp_send(&leaf[q], vp_wr(&w, &leaf[q], IBV_WR_SEND, 0, LEN));
		}
		for (i = 0; i < QPS; i++) {
			require(vp_poll_for(&hub.rcq, &wc, opt.deadline_ms), "a receive completes");
			require(wc.status == IBV_WC_SUCCESS, "with success (got \"%s\")",
				ibv_wc_status_str(wc.status));
			for (q = 0; q < QPS && spoke[q].qp->qp_num != wc.qp_num; q++)
				;
			require(q < QPS && wc.wr_id < SLOTS,
				"it names one of the QPs and one of the receives");
			sink_check(&hub, GUARD + wc.wr_id * (LEN + 2 * GUARD), LEN, pattern[q],
				   "send to the SRQ");
			require(vp_poll_for(&leaf[q].scq, &wc, opt.deadline_ms) &&
					wc.status == IBV_WC_SUCCESS,
				"the send completes");
		}
	}
	for (q = 0; q < QPS; q++) {
		require(!ibv_destroy_qp(spoke[q].qp), "destroy a QP");
		vp_end_free(&leaf[q]);
	}
	vp_end_free(&hub);
	vp_close(&dev_a);
	vp_close(&dev_b);
}

static const struct check_case cases[] = {
	CHECK_CASE("order-write-send", write_then_send,
		   "when a send has arrived, the write before it is complete"),
	CHECK_CASE("order-read-fence-send", read_fence_send,
		   "a fenced send carries what the read before it brought"),
	CHECK_CASE("order-unsignalled", unsignalled,
		   "most requests without completions, queues that go around"),
	CHECK_CASE("order-pipeline", pipeline,
		   "several QPs both ways, queues full of all operations"),
	CHECK_CASE("atomics", atomics, "fetch and add, compare and swap: old and new values"),
	CHECK_CASE("atomics-compete", atomics_compete, "several QPs count on one word"),
	CHECK_CASE("srq-shared", shared_receive_queue, "several QPs on one SRQ"),
};

const struct check_table integrity_order = { .cases = cases, .count = ARRAY_SIZE(cases) };
