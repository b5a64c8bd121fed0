// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* XRC: a send names the SRQ it is for; the QP at the receiver is only the way there. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "integrity.h"

struct xrc {
	struct vp_dev dev_a, dev_b;
	struct vp_conf conf_a, conf_b;
	struct vp_end a, b; /* b.srq is the first SRQ */
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq[2];
	uint32_t number[2];
};

static struct ibv_srq *make_srq(struct vp_end *end, struct ibv_xrcd *xrcd)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 32, .max_sge = 2 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = end->pd,
		.xrcd = xrcd,
		.cq = end->rcq.cq,
	};

	return ibv_create_srq_ex(end->dev->ctx, &attr);
}

static struct ibv_xrcd *open_domain(struct vp_dev *dev, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = oflags,
	};

	return ibv_open_xrcd(dev->ctx, &attr);
}

/* fd: whose inode is the domain; -1: it has no name */
static void xrc_open(struct xrc *x, int fd)
{
	struct ibv_qp_init_attr_ex send = { .qp_type = IBV_QPT_XRC_SEND },
				   recv = { .qp_type = IBV_QPT_XRC_RECV };
	int i;

	memset(x, 0, sizeof(*x));
	vp_open(&x->dev_a, 0);
	vp_open(&x->dev_b, 1);
	if (!(x->dev_a.attr.device_cap_flags & IBV_DEVICE_XRC) ||
	    !(x->dev_b.attr.device_cap_flags & IBV_DEVICE_XRC))
		skip("the device has no XRC");
	x->conf_a = vp_conf(IBV_QPT_XRC_SEND);
	x->conf_b = vp_conf(IBV_QPT_XRC_RECV);
	vp_end_make_no_qp(&x->a, &x->dev_a, NULL, &x->conf_a);
	vp_end_make_no_qp(&x->b, &x->dev_b, NULL, &x->conf_b);

	x->xrcd = open_domain(&x->dev_b, fd, O_CREAT);
	require(x->xrcd, "open an XRC domain");
	for (i = 0; i < 2; i++) {
		x->srq[i] = make_srq(&x->b, x->xrcd);
		require(x->srq[i], "create an XRC SRQ");
		require(!ibv_get_srq_num(x->srq[i], &x->number[i]), "it has a number");
	}
	x->b.srq = x->srq[0];

	send.comp_mask = IBV_QP_INIT_ATTR_PD;
	send.pd = x->a.pd;
	send.send_cq = x->a.scq.cq;
	send.cap = x->conf_a.cap;
	send.cap.max_recv_wr = 0;
	send.cap.max_recv_sge = 0;
	x->a.qp = ibv_create_qp_ex(x->dev_a.ctx, &send);
	require(x->a.qp, "create an XRC send QP");

	recv.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	recv.xrcd = x->xrcd;
	x->b.qp = ibv_create_qp_ex(x->dev_b.ctx, &recv);
	require(x->b.qp, "create an XRC receive QP");
	x->a.psn = 0xfffffe;
	vp_connect(&x->a, &x->b);
}

static void close_receiver(struct xrc *x)
{
	vp_qp_destroy(&x->b);
	require(!ibv_destroy_srq(x->srq[1]), "destroy an XRC SRQ");
	require(!ibv_destroy_srq(x->srq[0]), "destroy an XRC SRQ");
	x->b.srq = NULL;
	require(!ibv_close_xrcd(x->xrcd), "close the XRC domain");
	vp_end_free(&x->b);
	vp_close(&x->dev_b);
}

static void close_sender(struct xrc *x)
{
	vp_end_free(&x->a);
	vp_close(&x->dev_a);
}

static void xrc_close(struct xrc *x)
{
	close_receiver(x);
	close_sender(x);
}

/* Sends to an SRQ, into which end receives; by the QP named so. */
static void send_to(struct xrc *x, struct vp_end *end, uint32_t number, uint32_t qpn, size_t len)
{
	uint64_t pattern = vp_fresh();
	struct ibv_wc wc;
	struct vp_wr w;

	vp_fill(x->a.buf + GUARD, len, pattern);
	sink_prepare(end, GUARD, len);
	vp_recv(end, number, GUARD, len);
	vp_wr(&w, &x->a, IBV_WR_SEND, GUARD, len);
	w.wr.qp_type.xrc.remote_srqn = number;
	vp_send(&x->a, &w.wr);
	vp_expect(&x->a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "an XRC send");
	wc = vp_expect(&end->rcq, number, IBV_WC_SUCCESS, "its receive");
	check(wc.byte_len == len, "the receive says %zu bytes (%u)", len, wc.byte_len);
	check(wc.qp_num == qpn, "it names the QP by which it came, %#x (%#x)", qpn, wc.qp_num);
	sink_check(end, GUARD, len, pattern, "XRC send");
}

static void xrc_send(const void *arg)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 30000 };
	struct xrc x;
	size_t s, i;

	(void)arg;
	xrc_open(&x, -1);
	for (s = 0; s < ARRAY_SIZE(sizes); s++) {
		/* The receive in the other SRQ must stay where it is. */
		for (i = 0; i < 2; i++) {
			x.b.srq = x.srq[i];
			send_to(&x, &x.b, x.number[i], x.b.qp->qp_num, sizes[s]);
		}
	}
	x.b.srq = x.srq[0];
	xrc_close(&x);
}

/* The other one who has the domain open, and its QP. */
struct other {
	struct vp_dev dev;
	struct vp_conf conf;
	struct vp_end end;
	struct ibv_xrcd *xrcd;
	struct ibv_qp *qp;
	uint32_t number; /* of its SRQ, end.srq */
};

static void other_open(struct other *o, int fd, uint32_t qpn)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn,
		.qp_type = IBV_QPT_XRC_RECV,
	};

	memset(o, 0, sizeof(*o));
	vp_open(&o->dev, 1);
	o->conf = vp_conf(IBV_QPT_XRC_RECV);
	vp_end_make_no_qp(&o->end, &o->dev, NULL, &o->conf);
	o->xrcd = open_domain(&o->dev, fd, 0);
	require(o->xrcd, "open the same XRC domain");
	attr.xrcd = o->xrcd;
	o->qp = ibv_open_qp(o->dev.ctx, &attr);
	require(o->qp, "open the QP of the domain");
	check(o->qp->qp_num == qpn, "it has its number");
	o->end.srq = make_srq(&o->end, o->xrcd);
	require(o->end.srq, "create an XRC SRQ");
	require(!ibv_get_srq_num(o->end.srq, &o->number), "it has a number");
}

static void other_close(struct other *o)
{
	require(!ibv_destroy_qp(o->qp), "close the QP of the domain");
	require(!ibv_destroy_srq(o->end.srq), "destroy an XRC SRQ");
	o->end.srq = NULL;
	require(!ibv_close_xrcd(o->xrcd), "close the XRC domain");
	vp_end_free(&o->end);
	vp_close(&o->dev);
}

/* Two who have the device open share a domain and a QP to it, which outlive the one who made them. */
static void xrc_shared(const void *arg)
{
	int fd = memfd_create("domain", MFD_CLOEXEC);
	struct other o;
	struct xrc x;
	uint32_t qpn;

	(void)arg;
	require(fd >= 0, "a file for a name");
	xrc_open(&x, fd);
	qpn = x.b.qp->qp_num;
	other_open(&o, fd, qpn);
	send_to(&x, &x.b, x.number[0], qpn, 5000);
	send_to(&x, &o.end, o.number, qpn, 5000);
	close_receiver(&x);
	send_to(&x, &o.end, o.number, qpn, 5000);
	other_close(&o);
	require(!open_domain(&x.dev_a, fd, 0), "the domain is gone with the last who has it open");
	close_sender(&x);
	close(fd);
}

static void xrc_rdma(const void *arg)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ };
	struct xrc x;
	struct vp_wr w;
	size_t i;

	(void)arg;
	xrc_open(&x, -1);
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct vp_end *source = i ? &x.b : &x.a, *sink = i ? &x.a : &x.b;
		uint64_t pattern = vp_fresh();

		vp_fill(source->buf + GUARD, 20000, pattern);
		sink_prepare(sink, GUARD, 20000);
		vp_wr(&w, &x.a, opcodes[i], GUARD, 20000);
		w.wr.qp_type.xrc.remote_srqn = x.number[0];
		vp_send(&x.a, &w.wr);
		vp_expect(&x.a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "an RDMA operation over XRC");
		sink_check(sink, GUARD, 20000, pattern, "RDMA operation over XRC");
	}
	xrc_close(&x);
}

/* An SRQ that is not in the domain: the QP answers with a remote error, and nobody receives. */
static void xrc_wrong_srq(const void *arg)
{
	struct ibv_wc wc;
	struct vp_wr w;
	struct xrc x;

	(void)arg;
	xrc_open(&x, -1);
	vp_recv(&x.b, 1, GUARD, 64);
	vp_wr(&w, &x.a, IBV_WR_SEND, GUARD, 64);
	w.wr.qp_type.xrc.remote_srqn = 0xfffff0;
	vp_send(&x.a, &w.wr);
	require(vp_poll_for(&x.a.scq, &wc, opt.deadline_ms), "the send completes");
	check(wc.status == IBV_WC_REM_INV_REQ_ERR || wc.status == IBV_WC_REM_OP_ERR ||
		      wc.status == IBV_WC_REM_INV_RD_REQ_ERR,
	      "with a remote error (got \"%s\")", ibv_wc_status_str(wc.status));
	vp_expect_none(&x.b.rcq, "the SRQ that was not meant");
	xrc_close(&x);
}

static const struct check_case cases[] = {
	CHECK_CASE("xrc-send", xrc_send, "XRC sends to two SRQs by one QP"),
	CHECK_CASE("xrc-shared", xrc_shared, "an XRC domain that two have open"),
	CHECK_CASE("xrc-rdma", xrc_rdma, "RDMA write and read over XRC"),
	CHECK_CASE("xrc-wrong-srq", xrc_wrong_srq, "an XRC send to an SRQ that is not"),
};

const struct check_table integrity_xrc = { .cases = cases, .count = ARRAY_SIZE(cases) };
