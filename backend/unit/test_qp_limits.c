// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_qp_limits.c - what is imposed on QPs: each limit alone; and a million random QP_MODIFY of QPs of each
 * type, of which none may give a QP what its limits forbid, with QP_CREATE of any length between them.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "config/rate.h"
#include "modules/xen-ibgsi/xen-ibgsi.h"
#include "shared-ring/unit/example.h"
#include "shared-ring/vhca_check.h"
#include "unit/fakes/fixture.h"

enum { MODIFIES = 1000000, RESET = 0, RTR = 2, ERROR = 6, RATES = 24 };

/* One of each type. XRC targets are last: they have no queues. */
enum { RC, UC, UD, INITIATOR, TARGET, QPS };

static const uint32_t types[QPS] = { XEN_VHCA_QPT_RC, XEN_VHCA_QPT_UC, XEN_VHCA_QPT_UD,
				     XEN_VHCA_QPT_XRC_INI, XEN_VHCA_QPT_XRC_TGT };

/* An HCA that has QPs, and static rates as mlx5 has them: not each, and the next number below for others. */
static struct qp_hca {
	struct hca_ops ops; /* the fake's, but for two */
	struct xen_vhca_qp_attr qp[64];
	uint32_t rates; /* a bit for each that it has */
	/* What it was asked for last. */
	uint32_t mask;
	struct xen_vhca_qp_attr asked;
	bool was_asked;
} hca;

static uint8_t rate_of_hca(uint8_t rate)
{
	while (rate && !(hca.rates >> rate & 1))
		rate--;
	return rate;
}

static void take_av(struct xen_vhca_av *av, const struct xen_vhca_av *from)
{
	*av = *from;
	av->static_rate = rate_of_hca(from->static_rate);
}

static int qp_modify(struct hca_ctx *ctx, uint32_t id, uint32_t mask,
		     const struct xen_vhca_qp_attr *attr)
{
	struct xen_vhca_qp_attr *qp = &hca.qp[id];

	(void)ctx;
	CHECK(id < sizeof(hca.qp) / sizeof(hca.qp[0]));
	if (!hca.was_asked || mask != VHCA_QP_STATE) {
		hca.mask = mask;
		hca.asked = *attr;
	}
	hca.was_asked = true;
	if ((mask & VHCA_QP_AV && attr->av.static_rate >= RATES) ||
	    (mask & VHCA_QP_ALT_PATH && attr->alt_av.static_rate >= RATES))
		return -EINVAL;
	if (mask & VHCA_QP_STATE)
		qp->state = attr->state;
	if (mask & VHCA_QP_AV)
		take_av(&qp->av, &attr->av);
	if (mask & VHCA_QP_ALT_PATH) {
		take_av(&qp->alt_av, &attr->alt_av);
		qp->alt_timeout = attr->alt_timeout;
	}
	if (mask & VHCA_QP_TIMEOUT)
		qp->timeout = attr->timeout;
	if (mask & VHCA_QP_MIN_RNR_TIMER)
		qp->min_rnr_timer = attr->min_rnr_timer;
	if (mask & VHCA_QP_MAX_RD_ATOMIC)
		qp->max_rd_atomic = attr->max_rd_atomic;
	if (mask & VHCA_QP_MAX_DEST_RD_ATOMIC)
		qp->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	return 0;
}

static int qp_query(struct hca_ctx *ctx, uint32_t id, struct xen_vhca_qp_attr *attr)
{
	(void)ctx;
	*attr = hca.qp[id];
	return 0;
}

struct setup {
	struct fixture fix;
	struct fixture_process p;
	xen_vhca_handle_t domain; /* of XRC */
	xen_vhca_handle_t qp[QPS];
	uint32_t id[QPS]; /* the HCA's */
};

static const struct qp_limits none = { .sl = 16, .rd_atomic = 256, .wr = UINT32_MAX, .ud = 1 };

static struct xen_vhca_req create_request(const struct setup *s, uint32_t type)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_QP_CREATE };

	if (type == XEN_VHCA_QPT_XRC_TGT) {
		req.u.qp_create = (struct xen_vhca_qp_create){ .pd = s->domain, .type = type };
		return req;
	}
	req.u.qp_create = (struct xen_vhca_qp_create){
		.pd = s->p.pd,
		.send_cq = s->p.cq,
		.recv_cq = type == XEN_VHCA_QPT_XRC_INI ? 0 : s->p.cq,
		.uar = s->p.uar,
		.type = type,
		.buf = { .umem = s->p.umem },
		.dbr = { .umem = s->p.umem, .offset = 0x8100 },
		.sq_wqe_count = 64,
		.max_send_wr = 64,
		.max_send_sge = 1,
	};
	return req;
}

static uint32_t hca_id(struct setup *s, xen_vhca_handle_t handle)
{
	const struct object *obj = handle_find(&s->fix.v.handles, handle, OBJ_QP);

	CHECK(obj);
	return obj->hca_id;
}

static void set_up(struct setup *s, const struct qp_limits *limits)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_CTX_OPEN };
	unsigned int i;

	memset(s, 0, sizeof(*s));
	memset(&hca, 0, sizeof(hca));
	hca.rates = ~0u;
	fixture_init(&s->fix, false, NULL);
	hca.ops = *s->fix.fake.hca.ops;
	hca.ops.qp_modify = qp_modify;
	hca.ops.qp_query = qp_query;
	s->fix.fake.hca.ops = &hca.ops;
	CHECK(!fixture_process(&s->fix, &s->p));
	req.u.ctx_open.flags = XEN_VHCA_CTX_XRCD;
	CHECK(!fixture_do(&s->fix, &req));
	s->domain = s->fix.handle;
	for (i = 0; i < QPS; i++) {
		req = create_request(s, types[i]);
		CHECK(!fixture_do(&s->fix, &req));
		s->qp[i] = s->fix.handle;
		s->id[i] = hca_id(s, s->fix.handle);
	}
	vhca_set_qp_limits(&s->fix.v, limits);
}

static enum xen_vhca_status modify(struct setup *s, unsigned int qp, uint32_t mask,
				   const struct xen_vhca_qp_attr *attr)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_QP_MODIFY };

	req.u.qp_modify =
		(struct xen_vhca_qp_modify){ .qp = s->qp[qp], .mask = mask, .attr = *attr };
	hca.was_asked = false;
	return fixture_do(&s->fix, &req);
}

/* All that can be imposed, of which a guest asks for the opposite. */
static const struct xen_vhca_qp_attr greedy = {
	.state = RTR,
	.timeout = 1,
	.alt_timeout = 1,
	.min_rnr_timer = 1,
	.max_rd_atomic = 16,
	.max_dest_rd_atomic = 4,
	.port = 1,
	.alt_port = 1,
	.av = { .sl = 9, .port = 1 },
	.alt_av = { .sl = 9, .port = 1 },
};

#define ALL \
	(VHCA_QP_STATE | VHCA_QP_AV | VHCA_QP_ALT_PATH | VHCA_QP_TIMEOUT | VHCA_QP_MIN_RNR_TIMER | \
	 VHCA_QP_MAX_RD_ATOMIC | VHCA_QP_MAX_DEST_RD_ATOMIC)

static void nothing_is_imposed(void)
{
	const struct xen_vhca_qp_attr *qp;
	static struct setup s;

	set_up(&s, &none);
	qp = &hca.qp[s.id[RC]];
	CHECK(!modify(&s, RC, ALL, &greedy));
	CHECK(qp->av.sl == 9 && !qp->av.static_rate && qp->alt_av.sl == 9 && qp->timeout == 1);
	CHECK(qp->min_rnr_timer == 1 && qp->max_rd_atomic == 16 && qp->max_dest_rd_atomic == 4);
	CHECK(!modify(&s, UD, VHCA_QP_STATE, &greedy));
	fixture_fini(&s.fix);
}

static void each(void)
{
	const struct qp_limits limits = {
		.sl = 3,
		.rate = 10000,
		.rd_atomic = 7,
		.wr = UINT32_MAX,
		.timeout = 14,
		.rnr_timer = 12,
	};
	struct xen_vhca_qp_attr attr = greedy;
	const struct xen_vhca_qp_attr *qp;
	static struct setup s;

	set_up(&s, &limits);
	qp = &hca.qp[s.id[RC]];
	CHECK(!modify(&s, RC, ALL, &attr));
	CHECK(qp->av.sl == 3 && qp->alt_av.sl == 3 && qp->timeout == 14 && qp->alt_timeout == 14);
	CHECK(qp->av.static_rate == rate_encode(10000) &&
	      qp->alt_av.static_rate == rate_encode(10000));
	/* The HCA would make 8 of 7. */
	CHECK(qp->min_rnr_timer == 12 && qp->max_rd_atomic == 4 && qp->max_dest_rd_atomic == 4);
	/* It is what the guest is told of the QP. */
	CHECK(!fixture_object(&s.fix, XEN_VHCA_OP_QP_QUERY, s.qp[RC]));
	CHECK(!memcmp(&s.fix.cmd->rsp.u.qp.attr, qp, sizeof(*qp)));

	attr.max_dest_rd_atomic = 5;
	CHECK(modify(&s, RC, ALL, &attr) == XEN_VHCA_E_ARG && !hca.was_asked);
	attr.max_dest_rd_atomic = 4;

	/* What is allowed stays: longer timers, for ever included; a lower rate; fewer reads. */
	attr.timeout = attr.alt_timeout = attr.min_rnr_timer = 0;
	attr.max_rd_atomic = 2;
	attr.av.static_rate = rate_encode(2500);
	CHECK(!modify(&s, RC, ALL, &attr) && !qp->timeout && !qp->alt_timeout &&
	      !qp->min_rnr_timer);
	CHECK(qp->max_rd_atomic == 2 && qp->av.static_rate == rate_encode(2500));
	attr.timeout = 20;
	attr.min_rnr_timer = 20;
	CHECK(!modify(&s, RC, ALL, &attr) && qp->timeout == 20 && qp->min_rnr_timer == 20);
	fixture_fini(&s.fix);
}

/* A rate that the HCA does not have would be another one, and then there is no connection. */
static void missing_rate(void)
{
	struct qp_limits limits = none;
	static struct setup s;

	limits.rate = 14000;
	set_up(&s, &limits);
	hca.rates = 1u << rate_encode(14000);
	CHECK(!modify(&s, RC, ALL, &greedy) && hca.qp[s.id[RC]].state == RTR);
	hca.rates = 1u << rate_encode(120000); /* the number below */
	CHECK(modify(&s, RC, ALL, &greedy) == XEN_VHCA_E_UNSUPPORTED &&
	      hca.qp[s.id[RC]].state == ERROR);
	hca.rates = 0;
	CHECK(modify(&s, RC, VHCA_QP_ALT_PATH, &greedy) == XEN_VHCA_E_UNSUPPORTED);
	CHECK(!modify(&s, RC, VHCA_QP_STATE, &greedy));
	fixture_fini(&s.fix);
}

static void datagrams(void)
{
	const struct xen_vhca_qp_attr end = { .state = ERROR }, reset = { .state = RESET };
	struct qp_limits limits = none;
	struct xen_vhca_req req;
	static struct setup s;

	set_up(&s, &none);
	CHECK(!modify(&s, UD, VHCA_QP_STATE, &greedy));
	limits.ud = 0;
	vhca_set_qp_limits(&s.fix.v, &limits);
	req = create_request(&s, XEN_VHCA_QPT_UD);
	CHECK(fixture_do(&s.fix, &req) == XEN_VHCA_E_UNSUPPORTED);
	req = create_request(&s, XEN_VHCA_QPT_UC);
	CHECK(!fixture_do(&s.fix, &req));
	/* One that there is may end, and does not begin again. */
	CHECK(!modify(&s, UD, VHCA_QP_STATE, &end) && !modify(&s, UD, VHCA_QP_STATE, &reset));
	CHECK(modify(&s, UD, VHCA_QP_STATE, &greedy) == XEN_VHCA_E_UNSUPPORTED && !hca.was_asked);
	CHECK(modify(&s, UD, VHCA_QP_QKEY, &end) == XEN_VHCA_E_UNSUPPORTED && !hca.was_asked);
	fixture_fini(&s.fix);
}

/* A management datagram goes by a QP of the host's, with an address of the guest's. */
static void management(void)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_CTX_OPEN };
	struct qp_limits limits = none;
	struct xen_ibgsi_send sent;
	static struct setup s;
	xen_vhca_handle_t ctx;
	int fd;

	limits.sl = 5;
	set_up(&s, &limits);
	fixture_events(&s.fix);
	fd = fixture_mads(&s.fix);
	req.u.ctx_open.flags = XEN_VHCA_CTX_KERNEL;
	CHECK(!fixture_do(&s.fix, &req));
	ctx = s.fix.handle;
	req = example_request(XEN_VHCA_OP_GSI_OPEN);
	req.u.gsi_open.ctx = ctx;
	CHECK(!fixture_do(&s.fix, &req));
	fixture_mads_told(&s.fix, XEN_IBGSI_START);
	req = example_request(XEN_VHCA_OP_MAD_SEND);
	req.u.mad_send.ctx = ctx;
	CHECK(!fixture_do(&s.fix, &req));
	CHECK(recv(fd, &sent, sizeof(sent), MSG_DONTWAIT) == sizeof(sent) && sent.sl == 5);
	fixture_close_all(&s.fix);
	fixture_fini(&s.fix);
}

/* What the device says of itself is what a QP can have: the longest queue, and no longer one. */
static void queues(void)
{
	struct fixture_process p;
	static struct setup s;
	struct qp_limits limits = none;
	struct xen_vhca_req req;
	struct quota quota;
	struct fixture fix;

	limits.wr = 100;
	set_up(&s, &none);
	vhca_set_qp_limits(&s.fix.v, &limits);
	req = create_request(&s, XEN_VHCA_QPT_RC);
	req.u.qp_create.max_send_wr = 100;
	req.u.qp_create.sq_wqe_count = 128;
	CHECK(!fixture_do(&s.fix, &req));
	req.u.qp_create.max_send_wr = 101;
	CHECK(fixture_do(&s.fix, &req) == XEN_VHCA_E_ARG);
	/* A guest that calls it fewer. */
	req.u.qp_create.max_send_wr = 1;
	req.u.qp_create.sq_wqe_count = 256;
	CHECK(fixture_do(&s.fix, &req) == XEN_VHCA_E_ARG);
	req.u.qp_create.sq_wqe_count = 64;
	req.u.qp_create.max_recv_wr = 1;
	req.u.qp_create.rq_wqe_shift = 4;
	req.u.qp_create.rq_wqe_count = 128;
	CHECK(!fixture_do(&s.fix, &req));
	req.u.qp_create.rq_wqe_count = 256;
	CHECK(fixture_do(&s.fix, &req) == XEN_VHCA_E_ARG);
	req.u.qp_create.rq_wqe_count = 128;
	req.u.qp_create.max_recv_wr = 101;
	CHECK(fixture_do(&s.fix, &req) == XEN_VHCA_E_ARG);
	fixture_fini(&s.fix);

	quota_setup(&quota, NULL, NULL);
	quota.qp.wr = 100;
	quota.qp.rd_atomic = 3;
	fixture_init(&fix, false, &quota);
	CHECK(fix.v.attr.max_qp_wr == 100 && fix.v.attr.max_send_blocks == 128 &&
	      fix.v.attr.max_recv_wqes == 128);
	CHECK(fix.v.attr.max_qp_rd_atom <= 2 && fix.v.attr.max_qp_init_rd_atom <= 2);
	CHECK(!vhca_check_device_attr(&fix.v.attr) && !fixture_process(&fix, &p));
	fixture_fini(&fix);
}

/* The million */

#define MOST_PLACES 256 /* in a queue, as far as the memory of the process goes */

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 16) % below;
}

static uint64_t sometimes(uint64_t value, uint64_t otherwise)
{
	return rnd(3) ? value : otherwise;
}

static struct qp_limits random_limits(void)
{
	return (struct qp_limits){
		.sl = sometimes(rnd(16), none.sl),
		.rate = sometimes(rate_mbps(1 + rnd(RATES - 1)), 0),
		.rd_atomic = sometimes(1 + rnd(128), none.rd_atomic),
		.wr = sometimes(1 + rnd(MOST_PLACES), none.wr),
		.timeout = sometimes(1 + rnd(31), 0),
		.rnr_timer = sometimes(1 + rnd(31), 0),
		.ud = rnd(2),
	};
}

/* Of what passes the protocol's checks, which others test, anything. */
static struct xen_vhca_av random_av(void)
{
	return (struct xen_vhca_av){
		.flow_label = rnd(1 << 20),
		.dlid = rnd(1 << 16),
		.sl = rnd(16),
		.static_rate = sometimes(rnd(RATES), rnd(256)),
		.port = 1,
	};
}

static struct xen_vhca_qp_attr random_attr(void)
{
	return (struct xen_vhca_qp_attr){
		.state = rnd(7),
		.cur_state = rnd(7),
		.path_mtu = 1 + rnd(5),
		.path_mig_state = rnd(3),
		.qkey = rnd(1u << 31),
		.rq_psn = rnd(1 << 24),
		.sq_psn = rnd(1 << 24),
		.dest_qpn = rnd(1 << 24),
		.access = rnd(16),
		.port = 1,
		.alt_port = 1,
		.timeout = rnd(32),
		.alt_timeout = rnd(32),
		.retry_cnt = rnd(8),
		.rnr_retry = rnd(8),
		.min_rnr_timer = rnd(32),
		.en_sqd_async_notify = rnd(2),
		.max_rd_atomic = sometimes(rnd(16), rnd(256)),
		.max_dest_rd_atomic = sometimes(rnd(16), rnd(256)),
		.av = random_av(),
		.alt_av = random_av(),
	};
}

static bool good_timer(uint8_t timer, uint64_t least)
{
	return timer == 0 || timer >= least;
}

/* The number of reads that the HCA would allow: a power of two. */
static bool good_reads(unsigned int reads, uint64_t most)
{
	unsigned int power = 1;

	while (power < reads)
		power *= 2;
	return !reads || power <= most || most == none.rd_atomic;
}

static bool good_sl(uint8_t sl, uint64_t imposed)
{
	return imposed == none.sl || sl == imposed;
}

static bool good_rate(uint8_t rate, uint64_t most)
{
	return !most || (rate_mbps(rate) && rate_mbps(rate) <= most);
}

/* What the HCA was asked for, whatever became of it. */
static void check_asked(const struct qp_limits *l, bool is_ud)
{
	const struct xen_vhca_qp_attr *a = &hca.asked;

	if (hca.mask & VHCA_QP_AV)
		CHECK(good_sl(a->av.sl, l->sl) && good_rate(a->av.static_rate, l->rate));
	if (hca.mask & VHCA_QP_ALT_PATH)
		CHECK(good_sl(a->alt_av.sl, l->sl) && good_rate(a->alt_av.static_rate, l->rate) &&
		      good_timer(a->alt_timeout, l->timeout));
	if (hca.mask & VHCA_QP_TIMEOUT)
		CHECK(good_timer(a->timeout, l->timeout));
	if (hca.mask & VHCA_QP_MIN_RNR_TIMER)
		CHECK(good_timer(a->min_rnr_timer, l->rnr_timer));
	if (hca.mask & VHCA_QP_MAX_RD_ATOMIC)
		CHECK(good_reads(a->max_rd_atomic, l->rd_atomic));
	if (hca.mask & VHCA_QP_MAX_DEST_RD_ATOMIC)
		CHECK(good_reads(a->max_dest_rd_atomic, l->rd_atomic));
	if (is_ud && !l->ud)
		CHECK(hca.mask & VHCA_QP_STATE && (a->state == RESET || a->state == ERROR));
}

/* A QP that has a rate which is not allowed does nothing any more. */
static void check_rates(const struct qp_limits *l, const struct xen_vhca_qp_attr *qp)
{
	if (hca.mask & VHCA_QP_AV && !good_rate(qp->av.static_rate, l->rate))
		CHECK(qp->state == ERROR);
	if (hca.mask & VHCA_QP_ALT_PATH && !good_rate(qp->alt_av.static_rate, l->rate))
		CHECK(qp->state == ERROR);
}

/* Queues may be as long as the next power of two. */
static bool good_queue(uint32_t wr, uint32_t places, uint64_t most)
{
	unsigned int power = 1;

	while (power < most && power < MOST_PLACES)
		power *= 2;
	return wr <= most && places <= power;
}

/* A QP of each type but a target, with queues of any length. It does not stay. */
static enum xen_vhca_status create(struct setup *s, const struct qp_limits *l)
{
	const unsigned int k = rnd(TARGET);
	struct xen_vhca_req req = create_request(s, types[k]);
	struct xen_vhca_qp_create *qp = &req.u.qp_create;
	enum xen_vhca_status status;
	bool good;

	qp->sq_wqe_count = 1u << rnd(9);
	qp->max_send_wr = rnd(MOST_PLACES + 1);
	if (k != INITIATOR && rnd(2)) {
		qp->rq_wqe_count = 1u << rnd(9);
		qp->rq_wqe_shift = 4;
		qp->max_recv_wr = 1 + rnd(MOST_PLACES);
	}
	good = good_queue(qp->max_send_wr, qp->sq_wqe_count, l->wr) &&
	       good_queue(qp->max_recv_wr, qp->rq_wqe_count, l->wr);
	status = fixture_do(&s->fix, &req);
	if (k == UD && !l->ud)
		CHECK(status == XEN_VHCA_E_UNSUPPORTED);
	else
		CHECK(status == (good ? XEN_VHCA_OK : XEN_VHCA_E_ARG));
	if (!status)
		CHECK(!fixture_object(&s->fix, XEN_VHCA_OP_QP_DESTROY, s->fix.handle));
	return status;
}

static void million(void)
{
	unsigned int taken = 0, refused[XEN_VHCA_STATUSES] = { 0 }, shaped = 0, n, k;
	unsigned int created[XEN_VHCA_STATUSES] = { 0 };
	enum xen_vhca_status status;
	struct qp_limits limits = none;
	struct xen_vhca_qp_attr attr;
	static struct setup s;
	uint32_t mask;

	set_up(&s, &limits);
	for (n = 0; n < MODIFIES; n++) {
		if (!rnd(16)) {
			limits = random_limits();
			vhca_set_qp_limits(&s.fix.v, &limits);
			hca.rates = sometimes(~0u, rnd(1 << RATES));
			created[create(&s, &limits)]++;
		}
		k = rnd(QPS);
		attr = random_attr();
		mask = sometimes(rnd(VHCA_QP_MASK + 1), 1u << rnd(21) | VHCA_QP_STATE);
		status = modify(&s, k, mask, &attr);
		if (status) {
			refused[status]++;
		} else {
			taken++;
			CHECK(hca.was_asked && hca.mask == mask);
			shaped += !!memcmp(&hca.asked, &attr, sizeof(attr));
		}
		if (hca.was_asked) {
			check_asked(&limits, k == UD);
			check_rates(&limits, &hca.qp[s.id[k]]);
		}
	}
	/* It was about something. */
	CHECK(taken > MODIFIES / 4 && shaped > MODIFIES / 8);
	CHECK(created[XEN_VHCA_OK] > 1000 && created[XEN_VHCA_E_ARG] > 1000);
	CHECK(refused[XEN_VHCA_E_ARG] > 1000 && refused[XEN_VHCA_E_UNSUPPORTED] > 1000);
	CHECK(taken + refused[XEN_VHCA_E_ARG] + refused[XEN_VHCA_E_UNSUPPORTED] +
		      refused[XEN_VHCA_E_HCA] ==
	      MODIFIES);
	fixture_fini(&s.fix);
}

int main(void)
{
	nothing_is_imposed();
	each();
	missing_rate();
	datagrams();
	management();
	queues();
	million();
	return EXIT_SUCCESS;
}
