// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The pages of events, which the backend writes and the guest may write as well.
 *
 * What the backend finds there is one index, cons. Whatever it is, commands go on, memory of the daemon does not grow, and
 * when the index makes sense again the events come that have waited. A QP that is on an SRQ and goes into error raises an
 * event ("last WQE reached"), as often as one likes.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hostile.h"
#include "vhca_event_pages.h"

#define QP_STATE_RESET 0
#define QP_STATE_INIT 1
#define QP_STATE_ERR 6
#define WAIT_MS 5000 /* the backend looks for room once a second, at worst */

static struct xen_vhca_async_page *page_of(struct hostile *h)
{
	return (struct xen_vhca_async_page *)h->v.asyncs.at;
}

static void modify(struct hostile *h, uint32_t mask, uint8_t state)
{
	const struct xen_vhca_req req = {
		.op = XEN_VHCA_OP_QP_MODIFY,
		.u.qp_modify = { .qp = h->p.qp,
				 .mask = 1 | mask,
				 .attr = { .state = state, .port = 1 } },
	};
	struct xen_vhca_rsp *rsp = vf_do(&h->v, &req);

	require(!rsp->status, "a QP to state %u (%s)", state, vhca_status_name(rsp->status));
}

/* One event, of the process's QP. */
static void raise_event(struct hostile *h)
{
	modify(h, 1 << 3 | 1 << 4 | 1 << 5, QP_STATE_INIT);
	modify(h, 0, QP_STATE_ERR);
	modify(h, 0, QP_STATE_RESET);
}

static bool event_came(struct hostile *h, struct vhca_async_front *front, unsigned int ms)
{
	struct xen_vhca_async_event event = { 0 };
	uint64_t until = now_ms() + ms;
	int got;

	while (!(got = vhca_async_take(front, &event)) && now_ms() < until)
		usleep(2000);
	require(got >= 0, "the backend keeps to the ring of events");
	if (got)
		check(event.type == XEN_VHCA_ASYNC_QP_LAST_WQE_REACHED && event.handle == h->p.qp,
		      "the event is that of the QP (type %u of %#x)", event.type, event.handle);
	return got;
}

static void run_cons(const void *arg)
{
	const uint32_t nonsense[] = { 1, 2, 1000, 0x7fffffff, 0x80000000, 0xffffff00, 0xffffff7f };
	struct vhca_async_front front;
	struct hostile h;
	size_t i;

	(void)arg;
	hostile_begin_events(&h);
	vhca_async_front_init(&front, page_of(&h));
	raise_event(&h);
	require(event_came(&h, &front, WAIT_MS), "an event comes");
	for (i = 0; i < ARRAY_SIZE(nonsense); i++) {
		page_of(&h)->cons = front.cons + nonsense[i];
		raise_event(&h);
		check(!event_came(&h, &front, 50), "no event with an index of %#x ahead",
		      nonsense[i]);
		page_of(&h)->cons = front.cons;
		check(event_came(&h, &front, WAIT_MS), "it comes when the index is right again");
	}
	hostile_end(&h);
}

/* Nobody takes them: the ring is full, one waits, the rest is counted. */
static void run_full(const void *arg)
{
	struct vhca_async_front front;
	unsigned int i, came = 0;
	struct hostile h;
	uint64_t until;

	(void)arg;
	hostile_begin_events(&h);
	vhca_async_front_init(&front, page_of(&h));
	for (i = 0; i < XEN_VHCA_ASYNC_EVENTS + 20; i++)
		raise_event(&h);
	for (until = now_ms() + WAIT_MS; page_of(&h)->lost < 19 && now_ms() < until;)
		usleep(2000);
	check(page_of(&h)->lost == 19, "events that do not fit are counted (%u)",
	      page_of(&h)->lost);
	while (event_came(&h, &front, came < XEN_VHCA_ASYNC_EVENTS ? 0 : 2000))
		came++;
	check(came == XEN_VHCA_ASYNC_EVENTS + 1,
	      "those in the ring come, and the one that waited (%u)", came);
	hostile_end(&h);
}

struct scribbler {
	struct hostile *h;
	_Atomic bool stop;
};

static void *scribble(void *arg)
{
	struct scribbler *s = arg;
	unsigned int seed = 1, i;

	while (!atomic_load(&s->stop)) {
		for (i = 0; i < 64; i++) {
			((volatile uint32_t *)s->h->v.asyncs.at)[rand_r(&seed) % (VF_PAGE / 4)] =
				rand_r(&seed);
			((volatile uint32_t *)s->h->v.bits.at)[rand_r(&seed) % (VF_PAGE / 4)] =
				rand_r(&seed);
		}
	}
	return NULL;
}

static void run_scribble(const void *arg)
{
	struct scribbler s = { 0 };
	pthread_t thread;
	struct hostile h;
	int i;

	(void)arg;
	hostile_begin_events(&h);
	s.h = &h;
	require(!pthread_create(&thread, NULL, scribble, &s), "start a thread");
	for (i = 0; i < 100; i++)
		raise_event(&h);
	atomic_store(&s.stop, true);
	pthread_join(thread, NULL);
	hostile_end(&h);
}

/* The channel of events, and then their pages, end while events come. */
static void run_revoked(const void *arg)
{
	struct hostile h;
	int i;

	(void)arg;
	hostile_begin_events(&h);
	for (i = 0; i < 30; i++) {
		if (i == 10) {
			require(!xenevtchn_unbind(h.v.evtchn, h.v.event_port),
				"close the channel of events");
			h.v.event_port = 0;
		}
		if (i == 20) {
			vf_unshare(&h.v, &h.v.asyncs);
			vf_unshare(&h.v, &h.v.bits);
		}
		raise_event(&h);
	}
	hostile_end(&h);
}

/* Bits of the page: all that there are, and no more; two CQs on one. */
static void run_bits(const void *arg)
{
	const uint32_t bits[] = { 0, 1, XEN_VHCA_EVENT_BITS - 1, 0 };
	xen_vhca_handle_t cqs[ARRAY_SIZE(bits)];
	struct xen_vhca_req req;
	struct hostile h;
	size_t i;

	(void)arg;
	hostile_begin_events(&h);
	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		req = vf_create_cq(&h.p);
		req.u.cq_create.event_bit = bits[i];
		cqs[i] = vf_make(&h.v, &req, NULL, 0);
	}
	req.u.cq_create.event_bit = XEN_VHCA_EVENT_BITS;
	REFUSED(&h.v, &req, E_ARG, "a bit behind the page");
	req.u.cq_create.event_bit = XEN_VHCA_NO_EVENT - 1;
	REFUSED(&h.v, &req, E_ARG, "the last bit of all");
	for (i = 0; i < ARRAY_SIZE(cqs); i++) {
		req = vf_object(XEN_VHCA_OP_CQ_DESTROY, cqs[i]);
		check(!vf_do(&h.v, &req)->status, "the CQ goes");
	}
	hostile_end(&h);
}

static void spoil_missing(struct vfront *v, const char *key)
{
	vf_remove(v, key);
}

static void spoil_ref(struct vfront *v, const char *key)
{
	vf_write(v, key, "%u", 0xffffffff);
}

static void spoil_read_only(struct vfront *v, const char *key)
{
	struct vf_pages pages;

	vf_share(v, &pages, 1, v->backend, false);
	vf_write(v, key, "%u", pages.refs[0]);
}

static void spoil_vectors(struct vfront *v, const char *vectors)
{
	vf_write(v, "event-vectors", "%s", vectors);
}

static void run_connect(const void *arg)
{
	struct vfront v;

	(void)arg;
	vf_open(&v, 0);
	v.wants_events = true;
	hostile_spoiled(&v, spoil_missing, "cq-event-ref", "cq-event-ref");
	hostile_spoiled(&v, spoil_missing, "async-event-ref", "async-event-ref");
	hostile_spoiled(&v, spoil_missing, "event-event-channel", "event-ref");
	hostile_spoiled(&v, spoil_ref, "cq-event-ref", "completion events");
	hostile_spoiled(&v, spoil_ref, "async-event-ref", "asynchronous events");
	hostile_spoiled(&v, spoil_ref, "event-event-channel", "event channel of events");
	hostile_spoiled(&v, spoil_read_only, "cq-event-ref", "completion events");
	hostile_spoiled(&v, spoil_read_only, "async-event-ref", "asynchronous events");
	hostile_spoiled(&v, spoil_vectors, "0", "event-vectors");
	hostile_spoiled(&v, spoil_vectors, "9", "event-vectors");
	hostile_spoiled(&v, spoil_vectors, "all", "event-vectors");
	hostile_spoiled(&v, spoil_vectors, "2", "event-event-channel-"); /* which there is not */
	vf_close(&v);
}

static const struct check_case cases[] = {
	CHECK_CASE("event-cons", run_cons, "an index of the ring of events that makes no sense",
		   .seconds = 120),
	CHECK_CASE("event-full", run_full, "a ring of events that nobody empties", .seconds = 120),
	CHECK_CASE("event-scribble", run_scribble, "pages of events that are written all over",
		   .seconds = 120),
	CHECK_CASE("event-revoked", run_revoked,
		   "the channel and the pages of events end while events come"),
	CHECK_CASE("event-bits", run_bits, "bits for completion events that cannot be"),
	CHECK_CASE("event-connect", run_connect, "pages of events that cannot be mapped",
		   .seconds = 200),
};

const struct check_table hostile_events = { cases, ARRAY_SIZE(cases) };
