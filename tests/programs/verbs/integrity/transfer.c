// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Each operation of each transport, over many sizes, both ways to post, both ways to poll. */
#include <errno.h>
#include <string.h>

#include "integrity.h"

#define MIB (1024 * 1024)

struct operation {
	enum ibv_qp_type type;
	enum ibv_wr_opcode opcode;
	bool srq;
};

static const size_t sizes[] = { 0, 1, 2, 63, 64, 65, 4095, 4096, 4097, 64 * 1024, MIB };

struct way {
	bool wr_api, cq_ex;
};

static const struct way ways[] = { { false, false }, { true, true } };

/* Off the words and off the pages. */
static const struct {
	size_t source, sink;
} offsets[] = { { GUARD, GUARD }, { GUARD + 1, GUARD + 7 } };

static struct vp_conf conf_of(const struct operation *op)
{
	struct vp_conf conf = vp_conf(op->type);

	conf.use_srq = op->srq;
	return conf;
}

static size_t largest_of(const struct operation *op, const struct vp_dev *dev)
{
	if (op->type == IBV_QPT_UD)
		return 128u << dev->port.active_mtu;
	return largest_message(MIB);
}

/* UD receives begin with the GRH: the data sink must leave room in front. */
static size_t sink_room(const struct operation *op)
{
	return op->type == IBV_QPT_UD ? VP_GRH : 0;
}

static void transfer_size(struct fixture *fix, const struct operation *op, size_t len, int elements)
{
	size_t o;

	for (o = 0; o < ARRAY_SIZE(offsets); o++) {
		struct message m = {
			.opcode = op->opcode,
			.len = len,
			.source = offsets[o].source,
			.sink = offsets[o].sink + sink_room(op),
			.elements = elements,
		};

		transfer(&fix->pair.a, &fix->pair.b, &m);
		transfer(&fix->pair.b, &fix->pair.a, &m);
	}
}

static void run_operation(const void *arg)
{
	const struct operation *op = arg;
	struct vp_conf conf = conf_of(op);
	struct fixture fix;
	size_t w, s, largest;

	for (w = 0; w < ARRAY_SIZE(ways); w++) {
		conf.wr_api = ways[w].wr_api;
		conf.cq_ex = ways[w].cq_ex;
		fixture_open(&fix, &conf, largest_message(MIB));
		largest = largest_of(op, &fix.dev_a);
		for (s = 0; s < ARRAY_SIZE(sizes) && sizes[s] <= largest; s++)
			transfer_size(&fix, op, sizes[s], 1);
		if (s == ARRAY_SIZE(sizes) || sizes[s - 1] < largest)
			transfer_size(&fix, op, largest, 1);
		fixture_close(&fix);
	}
}

/* As many elements as the device says it can, on both sides. */
static void run_elements(const void *arg)
{
	const struct operation *op = arg;
	struct vp_conf conf = conf_of(op);
	int max, elements;
	struct fixture fix;
	struct vp_dev dev;
	size_t w;

	vp_open(&dev, 0);
	max = dev.attr.max_sge < VP_MAX_SGE ? dev.attr.max_sge : VP_MAX_SGE;
	/* What max_sge promises holds for RC; other transports may have larger headers. */
	if (op->type == IBV_QPT_UD && max > 4)
		max = 4;
	vp_close(&dev);

	for (w = 0; w < ARRAY_SIZE(ways); w++) {
		conf.wr_api = ways[w].wr_api;
		conf.cq_ex = ways[w].cq_ex;
		conf.cap.max_send_sge = max;
		conf.cap.max_recv_sge = max;
		fixture_open(&fix, &conf, 64 * 1024);
		for (elements = 2; elements <= max; elements += elements < 5 ? 1 : 7) {
			transfer_size(&fix, op, 1000, elements);
			if (op->type != IBV_QPT_UD)
				transfer_size(&fix, op, 60001, elements);
		}
		transfer_size(&fix, op, 1000, max);
		fixture_close(&fix);
	}
}

/* Inline data, from nothing to the most that the QP takes. */
static void run_inline(const void *arg)
{
	const struct operation *op = arg;
	struct vp_conf conf = conf_of(op);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct fixture fix;
	size_t w, len;
	int elements;

	for (w = 0; w < ARRAY_SIZE(ways); w++) {
		conf.wr_api = ways[w].wr_api;
		conf.cq_ex = ways[w].cq_ex;
		conf.cap.max_inline_data = 200;
		fixture_open(&fix, &conf, 64 * 1024);
		errno = ibv_query_qp(fix.pair.a.qp, &attr, IBV_QP_CAP, &init);
		require(!errno, "query the QP");
		require(init.cap.max_inline_data >= 200,
			"the QP takes what was asked for inline (%u)", init.cap.max_inline_data);
		for (len = 0; len <= init.cap.max_inline_data; len += len < 70 ? 7 : 33) {
			for (elements = 1; elements <= 2; elements++) {
				struct message m = {
					.opcode = op->opcode,
					.len = len,
					.source = GUARD + 3,
					.sink = GUARD + VP_GRH + 5,
					.elements = elements,
					.inlined = true,
				};

				transfer(&fix.pair.a, &fix.pair.b, &m);
			}
		}
		fixture_close(&fix);
	}
}

static void huge(const void *arg)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
						      IBV_WR_SEND };
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct message m = { .source = GUARD, .sink = GUARD + 1, .elements = 1 };
	struct fixture fix;
	size_t i;

	(void)arg;
	fixture_open(&fix, &conf, largest_message(16 * MIB));
	m.len = fix.largest;
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		m.opcode = opcodes[i];
		transfer(&fix.pair.a, &fix.pair.b, &m);
	}
	fixture_close(&fix);
}

/* Both ends on one device: the data never leave it. */
static void loopback(const void *arg)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
						      IBV_WR_SEND };
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct message m = { .source = GUARD, .sink = GUARD + 1, .elements = 1 };
	struct vp_pair pair;
	struct vp_dev dev;
	size_t i, s;

	(void)arg;
	vp_open(&dev, 0);
	conf.len = MIB + 4 * GUARD;
	vp_pair_make(&pair, &dev, &dev, &conf);
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		for (s = 0; s < ARRAY_SIZE(sizes); s++) {
			m.opcode = opcodes[i];
			m.len = sizes[s];
			transfer(&pair.a, &pair.b, &m);
		}
	}
	vp_expect_no_async(&dev, "the device");
	vp_pair_free(&pair);
	vp_close(&dev);
}

/* QPs whose maker asks for flags, and for none: as good as if it had not asked. */
static void no_create_flags(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct ibv_qp_init_attr_ex attr = {
		.cap = conf.cap,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
	};
	struct fixture fix;
	struct vp_end *a;

	(void)arg;
	fixture_open(&fix, &conf, 64 * 1024);
	a = &fix.pair.a;
	attr.pd = a->pd;
	attr.send_cq = a->scq.cq;
	attr.recv_cq = a->rcq.cq;
	vp_qp_destroy(a);
	a->qp = ibv_create_qp_ex(a->dev->ctx, &attr);
	require(a->qp, "create a QP without flags (%s)", strerror(errno));
	vp_move_to_reset(&fix.pair.b);
	vp_connect(a, &fix.pair.b);
	vp_exchange(&fix.pair, "a QP without flags");
	fixture_close(&fix);
}

#define OP(n, s, r, t, o, ...) \
	{ \
		.name = n, .shows = s, .run = r, .arg = &(const struct operation) \
		{ \
			.type = t, .opcode = o, __VA_ARGS__ \
		} \
	}

static const struct check_case cases[] = {
	OP("rc-send", "RC send, all sizes", run_operation, IBV_QPT_RC, IBV_WR_SEND),
	OP("rc-send-imm", "RC send with immediate, all sizes", run_operation, IBV_QPT_RC,
	   IBV_WR_SEND_WITH_IMM),
	OP("rc-write", "RC write, all sizes", run_operation, IBV_QPT_RC, IBV_WR_RDMA_WRITE),
	OP("rc-write-imm", "RC write with immediate, all sizes", run_operation, IBV_QPT_RC,
	   IBV_WR_RDMA_WRITE_WITH_IMM),
	OP("rc-read", "RC read, all sizes", run_operation, IBV_QPT_RC, IBV_WR_RDMA_READ),
	OP("rc-send-srq", "RC send to an SRQ, all sizes", run_operation, IBV_QPT_RC, IBV_WR_SEND,
	   .srq = true),
	OP("rc-write-imm-srq", "RC write with immediate to an SRQ", run_operation, IBV_QPT_RC,
	   IBV_WR_RDMA_WRITE_WITH_IMM, .srq = true),
	OP("uc-send", "UC send, all sizes", run_operation, IBV_QPT_UC, IBV_WR_SEND),
	OP("uc-send-imm", "UC send with immediate, all sizes", run_operation, IBV_QPT_UC,
	   IBV_WR_SEND_WITH_IMM),
	OP("uc-write", "UC write, all sizes", run_operation, IBV_QPT_UC, IBV_WR_RDMA_WRITE),
	OP("uc-write-imm", "UC write with immediate, all sizes", run_operation, IBV_QPT_UC,
	   IBV_WR_RDMA_WRITE_WITH_IMM),
	OP("ud-send", "UD send, all sizes to the MTU", run_operation, IBV_QPT_UD, IBV_WR_SEND),
	OP("ud-send-imm", "UD send with immediate, all sizes", run_operation, IBV_QPT_UD,
	   IBV_WR_SEND_WITH_IMM),
	OP("ud-send-srq", "UD send to an SRQ", run_operation, IBV_QPT_UD, IBV_WR_SEND, .srq = true),
	OP("elements-send", "RC send in many elements", run_elements, IBV_QPT_RC, IBV_WR_SEND),
	OP("elements-write", "RC write in many elements", run_elements, IBV_QPT_RC,
	   IBV_WR_RDMA_WRITE),
	OP("elements-read", "RC read in many elements", run_elements, IBV_QPT_RC, IBV_WR_RDMA_READ),
	OP("elements-srq", "RC send in many elements to an SRQ", run_elements, IBV_QPT_RC,
	   IBV_WR_SEND, .srq = true),
	OP("elements-ud", "UD send in several elements", run_elements, IBV_QPT_UD, IBV_WR_SEND),
	OP("inline-send", "RC send inline", run_inline, IBV_QPT_RC, IBV_WR_SEND),
	OP("inline-write", "RC write inline", run_inline, IBV_QPT_RC, IBV_WR_RDMA_WRITE),
	OP("inline-uc", "UC send inline", run_inline, IBV_QPT_UC, IBV_WR_SEND),
	OP("inline-ud", "UD send inline", run_inline, IBV_QPT_UD, IBV_WR_SEND),
	CHECK_CASE("huge", huge, "write, read and send of 16 MiB, or --max-size"),
	CHECK_CASE("no-create-flags", no_create_flags, "a QP made with create_flags, of 0"),
	CHECK_CASE("loopback", loopback, "both ends on one device"),
};

const struct check_table integrity_transfer = { .cases = cases, .count = ARRAY_SIZE(cases) };
