// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "verbs_pair.h"

/* How long to look before believing that nothing comes. */
#define SILENCE_MS 30

/* Polls between two looks at the clock: in some guests reading it costs as much as many polls. */
#define POLLS_PER_LOOK 64

/* -- buffers -- */

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

uint64_t vp_fresh(void)
{
	static uint64_t used;

	return mix(opt.seed + ++used);
}

/* The pattern is a sequence of 8-byte words, each of which depends on its place: a shifted copy is no copy. */
static uint64_t word_at(uint64_t seed, size_t index)
{
	return mix(seed + index);
}

void vp_fill(void *at, size_t len, uint64_t seed)
{
	uint8_t *to = at;
	size_t i, words = len / 8;
	uint64_t word;

	for (i = 0; i < words; i++) {
		word = word_at(seed, i);
		memcpy(to + 8 * i, &word, 8);
	}
	word = word_at(seed, words);
	memcpy(to + 8 * words, &word, len % 8);
}

ptrdiff_t vp_differs(const void *at, size_t len, uint64_t seed)
{
	const uint8_t *is = at;
	size_t i, j, part;
	uint64_t word;

	for (i = 0; i < len; i += 8) {
		word = word_at(seed, i / 8);
		part = len - i < 8 ? len - i : 8;
		if (!memcmp(is + i, &word, part))
			continue;
		for (j = 0; is[i + j] == ((uint8_t *)&word)[j]; j++)
			;
		return i + j;
	}
	return -1;
}

/* -- posting -- */

struct ibv_send_wr *vp_wr(struct vp_wr *w, struct vp_end *end, enum ibv_wr_opcode opcode,
			  size_t off, size_t len)
{
	static uint64_t next_id = 0x5e4d0000;
	struct vp_end *peer = end->peer;

	memset(w, 0, sizeof(*w));
	w->sge[0] = (struct ibv_sge){ .addr = (uintptr_t)end->buf + off,
				      .length = len,
				      .lkey = end->mr->lkey };
	w->wr.wr_id = next_id++;
	w->wr.sg_list = w->sge;
	w->wr.num_sge = 1;
	w->wr.opcode = opcode;
	w->wr.send_flags = IBV_SEND_SIGNALED;

	if (end->conf->type == IBV_QPT_UD) {
		w->wr.wr.ud.ah = end->ah;
		w->wr.wr.ud.remote_qpn = peer->qp->qp_num;
		w->wr.wr.ud.remote_qkey = VP_QKEY;
	} else if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		w->wr.wr.atomic.remote_addr = (uintptr_t)peer->buf + off;
		w->wr.wr.atomic.rkey = peer->mr->rkey;
	} else if (opcode != IBV_WR_SEND && opcode != IBV_WR_SEND_WITH_IMM) {
		w->wr.wr.rdma.remote_addr = (uintptr_t)peer->buf + off;
		w->wr.wr.rdma.rkey = peer->mr->rkey;
	}
	return &w->wr;
}

/* One request by the ibv_wr_*() calls. Returns false for an opcode that this helper does not know. */
static bool build_opcode(struct ibv_qp_ex *q, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(q);
		return true;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(q, wr->imm_data);
		return true;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(q, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		return true;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(q, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, wr->imm_data);
		return true;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(q, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		return true;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(q, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
				      wr->wr.atomic.compare_add, wr->wr.atomic.swap);
		return true;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(q, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
					wr->wr.atomic.compare_add);
		return true;
	default:
		return false;
	}
}

static void build_data(struct ibv_qp_ex *q, const struct ibv_send_wr *wr)
{
	struct ibv_data_buf bufs[VP_MAX_SGE];
	int i;

	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		if (wr->num_sge == 1)
			ibv_wr_set_sge(q, wr->sg_list->lkey, wr->sg_list->addr,
				       wr->sg_list->length);
		else
			ibv_wr_set_sge_list(q, wr->num_sge, wr->sg_list);
		return;
	}
	for (i = 0; i < wr->num_sge; i++) {
		bufs[i].addr = (void *)(uintptr_t)wr->sg_list[i].addr;
		bufs[i].length = wr->sg_list[i].length;
	}
	if (wr->num_sge == 1)
		ibv_wr_set_inline_data(q, bufs[0].addr, bufs[0].length);
	else
		ibv_wr_set_inline_data_list(q, wr->num_sge, bufs);
}

static int send_by_wr_api(struct vp_end *end, const struct ibv_send_wr *wr)
{
	struct ibv_qp_ex *q = end->qpx;

	ibv_wr_start(q);
	for (; wr; wr = wr->next) {
		q->wr_id = wr->wr_id;
		q->wr_flags = wr->send_flags;
		if (!build_opcode(q, wr)) {
			ibv_wr_abort(q);
			return EOPNOTSUPP;
		}
		if (end->conf->type == IBV_QPT_UD)
			ibv_wr_set_ud_addr(q, wr->wr.ud.ah, wr->wr.ud.remote_qpn,
					   wr->wr.ud.remote_qkey);
		build_data(q, wr);
	}
	return ibv_wr_complete(q);
}

int vp_try_send(struct vp_end *end, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	if (end->qpx)
		return send_by_wr_api(end, wr);
	return ibv_post_send(end->qp, wr, &bad);
}

int vp_try_recv(struct vp_end *end, uint64_t wr_id, struct ibv_sge *sge, int num_sge)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = sge, .num_sge = num_sge }, *bad;

	if (end->srq)
		return ibv_post_srq_recv(end->srq, &wr, &bad);
	return ibv_post_recv(end->qp, &wr, &bad);
}

void vp_send(struct vp_end *end, struct ibv_send_wr *wr)
{
	errno = vp_try_send(end, wr);
	require(!errno, "post a send request");
}

void vp_recv(struct vp_end *end, uint64_t wr_id, size_t off, size_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)end->buf + off,
			       .length = len,
			       .lkey = end->mr->lkey };

	errno = vp_try_recv(end, wr_id, &sge, 1);
	require(!errno, "post a receive request");
}

/* -- completions -- */

static int poll_ex(struct ibv_cq_ex *ex, struct ibv_wc *wc)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int ret = ibv_start_poll(ex, &attr);

	if (ret == ENOENT)
		return 0;
	require(!ret, "poll an extended CQ (error %d)", ret);
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = ex->wr_id;
	wc->status = ex->status;
	wc->vendor_err = ibv_wc_read_vendor_err(ex);
	wc->qp_num = ibv_wc_read_qp_num(ex);
	if (wc->status == IBV_WC_SUCCESS) {
		wc->opcode = ibv_wc_read_opcode(ex);
		wc->byte_len = ibv_wc_read_byte_len(ex);
		wc->wc_flags = ibv_wc_read_wc_flags(ex);
		if (wc->wc_flags & IBV_WC_WITH_INV)
			wc->invalidated_rkey = ibv_wc_read_invalidated_rkey(ex);
		else
			wc->imm_data = ibv_wc_read_imm_data(ex);
		wc->src_qp = ibv_wc_read_src_qp(ex);
		wc->slid = ibv_wc_read_slid(ex);
		wc->sl = ibv_wc_read_sl(ex);
		wc->dlid_path_bits = ibv_wc_read_dlid_path_bits(ex);
	}
	ibv_end_poll(ex);
	return 1;
}

int vp_poll(struct vp_cq *cq, struct ibv_wc *wc)
{
	int n;

	if (cq->ex)
		return poll_ex(cq->ex, wc);
	n = ibv_poll_cq(cq->cq, 1, wc);
	require(n >= 0, "poll a CQ (%d)", n);
	return n;
}

bool vp_poll_for(struct vp_cq *cq, struct ibv_wc *wc, unsigned int ms)
{
	uint64_t until = now_ms() + ms;
	int i;

	do {
		for (i = 0; i < POLLS_PER_LOOK; i++)
			if (vp_poll(cq, wc))
				return true;
	} while (now_ms() < until);
	return false;
}

struct ibv_wc vp_expect_at(const char *file, int line, struct vp_cq *cq, uint64_t wr_id,
			   enum ibv_wc_status status, const char *what)
{
	struct ibv_wc wc = { 0 };

	if (!check_at(file, line, vp_poll_for(cq, &wc, opt.deadline_ms), "a completion came",
		      "%s completes", what))
		check_end_case();
	check_at(file, line, wc.status == status, "status as expected",
		 "%s completes with \"%s\" (got \"%s\", vendor 0x%x)", what,
		 ibv_wc_status_str(status), ibv_wc_status_str(wc.status), wc.vendor_err);
	check_at(file, line, wc.wr_id == wr_id, "wr_id as posted",
		 "%s completes with wr_id %#llx (got %#llx)", what, (unsigned long long)wr_id,
		 (unsigned long long)wc.wr_id);
	return wc;
}

void vp_expect_none(struct vp_cq *cq, const char *what)
{
	struct ibv_wc wc = { 0 };
	bool came = vp_poll_for(cq, &wc, SILENCE_MS);

	check(!came, "%s: no completion (got wr_id %#llx, \"%s\")", what,
	      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
}

bool vp_status_for(struct vp_cq *cq, enum ibv_wc_status *status, unsigned int ms)
{
	struct ibv_wc wc;

	if (!vp_poll_for(cq, &wc, ms))
		return false;
	*status = wc.status;
	return true;
}

/* -- events -- */

static bool readable(int fd, unsigned int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do {
		n = poll(&p, 1, ms);
	} while (n < 0 && errno == EINTR);
	return n == 1;
}

struct ibv_cq *vp_event(struct ibv_comp_channel *channel, unsigned int ms)
{
	struct ibv_cq *cq;
	void *context;

	if (!readable(channel->fd, ms) || ibv_get_cq_event(channel, &cq, &context))
		return NULL;
	ibv_ack_cq_events(cq, 1);
	return cq;
}

static bool about_the_port(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		return true;
	default:
		return false;
	}
}

bool vp_async(struct vp_dev *dev, struct ibv_async_event *event, unsigned int ms)
{
	uint64_t until = now_ms() + ms, now = until - ms;

	for (;;) {
		if (!readable(dev->ctx->async_fd, until - now) ||
		    ibv_get_async_event(dev->ctx, event))
			return false;
		ibv_ack_async_event(event);
		if (!about_the_port(event->event_type))
			return true;
		now = now_ms();
		if (now > until)
			now = until;
	}
}

void vp_expect_qp_event(struct vp_end *end, enum ibv_event_type type, const char *what)
{
	struct ibv_async_event event = { 0 };
	bool came;

	do {
		came = vp_async(end->dev, &event, opt.deadline_ms);
	} while (came && event.event_type == IBV_EVENT_COMM_EST && type != IBV_EVENT_COMM_EST);

	if (!check(came, "%s: event \"%s\"", what, ibv_event_type_str(type)))
		return;
	check(event.event_type == type, "%s: event \"%s\" (got \"%s\")", what,
	      ibv_event_type_str(type), ibv_event_type_str(event.event_type));
	check(event.element.qp == end->qp, "%s: the event names the right QP", what);
}

void vp_expect_no_async(struct vp_dev *dev, const char *what)
{
	struct ibv_async_event event;

	while (vp_async(dev, &event, SILENCE_MS))
		check(event.event_type == IBV_EVENT_COMM_EST,
		      "%s: no asynchronous event (got \"%s\")", what,
		      ibv_event_type_str(event.event_type));
}

/* -- memory windows -- */

void vp_need_mw(const struct vp_dev *dev)
{
	if (!(dev->attr.device_cap_flags &
	      (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)))
		skip("%s has no memory windows of type 2", ibv_get_device_name(dev->ctx->device));
}

enum ibv_wc_status vp_mw_try_bind(struct vp_end *end, struct ibv_mw *mw, struct ibv_mr *mr,
				  size_t off, size_t len, unsigned int access)
{
	struct ibv_send_wr wr = {
		.wr_id = 0xb13d,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = {
				.mr = mr,
				.addr = (uintptr_t)end->buf + off,
				.length = len,
				.mw_access_flags = access,
			},
		},
	}, *bad;
	struct ibv_wc wc;

	errno = ibv_post_send(end->qp, &wr, &bad);
	require(!errno, "post the binding of a window");
	require(vp_poll_for(&end->scq, &wc, opt.deadline_ms), "the binding completes");
	check(wc.wr_id == 0xb13d, "and nothing before it");
	if (wc.status == IBV_WC_SUCCESS)
		mw->rkey = wr.bind_mw.rkey;
	return wc.status;
}

void vp_mw_bind(struct vp_end *end, struct ibv_mw *mw, size_t off, size_t len, unsigned int access)
{
	enum ibv_wc_status status = vp_mw_try_bind(end, mw, end->mr, off, len, access);

	require(status == IBV_WC_SUCCESS, "a window is bound (got \"%s\")",
		ibv_wc_status_str(status));
}

/* -- a whole exchange -- */

#define EXCHANGE 1000

static void exchange_send(struct vp_end *from, struct vp_end *to, const char *what)
{
	size_t grh = from->conf->type == IBV_QPT_UD ? VP_GRH : 0;
	uint64_t pattern = vp_fresh();
	struct vp_wr w;

	memset(to->buf, 0, 2 * EXCHANGE);
	vp_fill(from->buf, EXCHANGE, pattern);
	vp_recv(to, 0xeec, 0, EXCHANGE + grh);
	vp_send(from, vp_wr(&w, from, IBV_WR_SEND, 0, EXCHANGE));
	vp_expect(&from->scq, w.wr.wr_id, IBV_WC_SUCCESS, what);
	vp_expect(&to->rcq, 0xeec, IBV_WC_SUCCESS, what);
	check(vp_differs(to->buf + grh, EXCHANGE, pattern) < 0, "%s: every byte of a send arrives",
	      what);
}

static void exchange_rdma(struct vp_end *from, struct vp_end *to, enum ibv_wr_opcode opcode,
			  const char *what)
{
	struct vp_end *source = opcode == IBV_WR_RDMA_READ ? to : from;
	struct vp_end *sink = opcode == IBV_WR_RDMA_READ ? from : to;
	uint64_t pattern = vp_fresh();
	struct vp_wr w;

	memset(sink->buf, 0, EXCHANGE);
	vp_fill(source->buf, EXCHANGE, pattern);
	vp_send(from, vp_wr(&w, from, opcode, 0, EXCHANGE));
	vp_expect(&from->scq, w.wr.wr_id, IBV_WC_SUCCESS, what);
	check(vp_differs(sink->buf, EXCHANGE, pattern) < 0,
	      "%s: every byte of an RDMA operation arrives", what);
}

void vp_exchange(struct vp_pair *pair, const char *what)
{
	exchange_send(&pair->a, &pair->b, what);
	exchange_send(&pair->b, &pair->a, what);
	if (pair->conf.type != IBV_QPT_RC)
		return;
	exchange_rdma(&pair->a, &pair->b, IBV_WR_RDMA_WRITE, what);
	exchange_rdma(&pair->b, &pair->a, IBV_WR_RDMA_READ, what);
}
