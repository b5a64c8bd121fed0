// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_events.c - events from the HCA to the guest's pages: none is lost, none is told of what is
 * gone, and a guest that does not read, or writes nonsense, harms nobody.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "shared-ring/unit/example.h"
#include "shared-ring/vhca_event.h"
#include "unit/fakes/fixture.h"
#include "util/clock.h"
#include "vhca/events.h"
#include "worker/status_write.h"

#define PROCESSES 6u

static bool watches; /* the transport tells of completions */

static void *bits_page(struct fixture *fix)
{
	return shm_page(fix->shm, FIXTURE_BITS_REF);
}

static struct xen_vhca_async_page *async_page(struct fixture *fix)
{
	return shm_page(fix->shm, FIXTURE_ASYNC_REF);
}

/* Waits for a notification of a vector. False: none within ms. */
static bool notified_of(struct fixture *fix, uint32_t vector, int ms)
{
	struct pollfd channel = { .fd = fix->shm->to_front[CHANNEL_EVENTS + vector],
				  .events = POLLIN };
	eventfd_t count;

	if (poll(&channel, 1, ms) != 1)
		return false;
	eventfd_read(channel.fd, &count);
	return true;
}

static bool notified(struct fixture *fix, int ms)
{
	return notified_of(fix, 0, ms);
}

static bool take_bit(struct fixture *fix, uint32_t bit)
{
	return vhca_bits_take(bits_page(fix), bit / 32) >> bit % 32 & 1;
}

static void wait_for_bit(struct fixture *fix, uint32_t bit)
{
	while (!take_bit(fix, bit))
		CHECK(notified(fix, 10000));
}

static uint32_t bit_of(unsigned int i)
{
	return i * 6553; /* over the whole page, the last one included */
}

static void make_processes(struct fixture *fix, struct fixture_process p[], unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		fix->event_bit = bit_of(i);
		CHECK(!fixture_process(fix, &p[i]));
	}
}

static void start_with(struct fixture *fix, uint32_t event_vectors)
{
	struct quota quota;

	quota_setup(&quota, NULL, NULL);
	quota.bytes.limit = 1 << 30; /* for many processes */
	fixture_init(fix, false, &quota);
	fix->vectors = event_vectors;
	if (watches)
		fixture_watches(fix);
	fixture_events(fix);
}

static void start(struct fixture *fix)
{
	start_with(fix, 1);
}

/* Completion events */

struct storm {
	struct fixture *fix;
	struct fixture_process p[PROCESSES];
	atomic_uint done[PROCESSES]; /* completions that the HCA has told of */
	atomic_bool over;
	unsigned int rounds;
};

static void *complete_much(void *arg)
{
	struct storm *storm = arg;
	unsigned int i, x = 7;

	for (i = 0; i < storm->rounds; i++) {
		unsigned int cq = ((x = x * 1664525 + 1013904223) >> 16) % PROCESSES;

		atomic_fetch_add(&storm->done[cq], 1);
		CHECK(fake_complete(&storm->fix->fake, storm->p[cq].cq));
	}
	atomic_store(&storm->over, true);
	eventfd_write(storm->fix->shm->to_front[CHANNEL_EVENTS], 1); /* a look that sees that */
	return NULL;
}

/* Each CQ is looked after when its last completion has come. */
static void no_completion_is_lost(void)
{
	struct storm storm = { .rounds = 30000 };
	unsigned int seen[PROCESSES] = { 0 }, i, looks = 0, notifies;
	pthread_t thread;
	struct fixture fix;
	bool behind;

	start(&fix);
	storm.fix = &fix;
	make_processes(&fix, storm.p, PROCESSES);
	CHECK(!pthread_create(&thread, NULL, complete_much, &storm));
	do {
		CHECK(notified(&fix, 10000));
		looks++;
		behind = !atomic_load(&storm.over);
		for (i = 0; i < PROCESSES; i++) {
			if (take_bit(&fix, bit_of(i)))
				seen[i] = atomic_load(&storm.done[i]);
			behind |= seen[i] != atomic_load(&storm.done[i]);
		}
	} while (behind);
	pthread_join(thread, NULL);
	pthread_mutex_lock(&fix.v.lock);
	notifies = fix.v.counters.event_notifies + shm_notified(fix.shm);
	CHECK(notifies <= storm.rounds && !fix.v.counters.event_notifies == watches);
	printf("%u completions, %u notifications, %u looks\n", storm.rounds, notifies, looks);
	pthread_mutex_unlock(&fix.v.lock);
	fixture_fini(&fix);
}

/* A CQ without a bit never rings; one that is gone does not ring any more, nor its successor. */
static void only_who_is_there(void)
{
	struct fixture_process p[2], silent;
	struct fixture fix;
	unsigned int i;

	start(&fix);
	make_processes(&fix, p, 2);
	fix.event_bit = XEN_VHCA_NO_EVENT;
	CHECK(!fixture_process(&fix, &silent));
	CHECK(!fake_complete(&fix.fake, silent.cq));
	for (i = 0; i < 200; i++) {
		fake_complete(&fix.fake, p[0].cq);
		fake_complete(&fix.fake, p[0].cq);
		CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p[0].ctx));
		take_bit(&fix, bit_of(0));
		fake_complete(&fix.fake, p[1].cq);
		wait_for_bit(&fix, bit_of(1));
		fix.event_bit = bit_of(0);
		CHECK(!fixture_process(&fix, &p[0]));
		CHECK(!take_bit(&fix, bit_of(0)));
	}
	fixture_fini(&fix);
}

#define VECTORS 3

/* Each vector has every third 32 bits: its channel rings for these, and for no others. */
static void vectors(void)
{
	static const uint32_t bits[] = { 0, 31, 32, 65, 96, 97, XEN_VHCA_EVENT_BITS - 1 };
	static const uint32_t of[] = { 0, 0, 1, 2, 0, 0, 1023 % VECTORS };
	struct fixture_process p;
	uint32_t i, vector;
	struct fixture fix;

	start_with(&fix, VECTORS);
	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		fix.event_bit = bits[i];
		CHECK(!fixture_process(&fix, &p));
		CHECK(fake_complete(&fix.fake, p.cq));
		CHECK(notified_of(&fix, of[i], 10000) && take_bit(&fix, bits[i]));
		for (vector = 0; vector < VECTORS; vector++)
			CHECK(!notified_of(&fix, vector, 0));
		CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	}
	events_port(fix.v.events, XEN_VHCA_ASYNC_SM_CHANGE);
	CHECK(notified_of(&fix, 0, 10000));
	fixture_fini(&fix);
}

/* Contexts come and go while their CQs ring. */
static void *complete_whatever(void *arg)
{
	struct storm *storm = arg;
	xen_vhca_handle_t handle = 1;

	while (!atomic_load(&storm->over)) {
		fake_complete(&storm->fix->fake, handle);
		fake_async(&storm->fix->fake, handle, handle % 20);
		handle = handle % 4000 + 1;
	}
	return NULL;
}

static void closing(void)
{
	struct storm storm = { 0 };
	struct fixture_process p;
	pthread_t thread;
	struct fixture fix;
	unsigned int i;

	start(&fix);
	storm.fix = &fix;
	fix.event_bit = 5;
	CHECK(!pthread_create(&thread, NULL, complete_whatever, &storm));
	for (i = 0; i < 150; i++) {
		CHECK(!fixture_process(&fix, &p));
		if (i & 1)
			fixture_exit(&fix, &p);
		else
			CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
		async_page(&fix)->cons = async_page(&fix)->prod;
	}
	CHECK(!fixture_process(&fix, &p));
	atomic_store(&storm.over, true);
	pthread_join(thread, NULL);
	fixture_fini(&fix); /* and the guest vanishes */
}

static bool is_counted(struct fixture *fix, int ms)
{
	struct pollfd counted = { .fd = events_counted_fd(fix->v.events), .events = POLLIN };
	eventfd_t count;

	return poll(&counted, 1, ms) == 1 && !eventfd_read(counted.fd, &count);
}

static void keep_text(void *to, const char *text, size_t size)
{
	memcpy(to, text, size < 4096 ? size : 4096);
}

/* Who writes the status is woken by events, too, but once, until it has written. */
static void counted(void)
{
	struct status status = { 0 };
	struct fixture_process p;
	char text[4097] = "";
	unsigned int round;
	struct fixture fix;

	start(&fix);
	fix.event_bit = 0;
	CHECK(!fixture_process(&fix, &p));
	status_init(&status, "/proc/nowhere", 5, 0, "mlx5_0");
	status.publish = keep_text;
	status.to = text;
	for (round = 1; round <= 3; round++) {
		CHECK(!is_counted(&fix, 0));
		events_count(fix.v.events);
		CHECK(is_counted(&fix, 0));
		while (status_update(&status, &fix.v) > 0)
			sched_yield();
		CHECK(fake_complete(&fix.fake, p.cq) && is_counted(&fix, 10000));
		wait_for_bit(&fix, 0);
		CHECK(fake_complete(&fix.fake, p.cq));
		wait_for_bit(&fix, 0);
		if (watches)
			fixture_wait_read_behind(&fix, round * 2);
		CHECK(!is_counted(&fix, 0));
		while (status_update(&status, &fix.v) > 0)
			sched_yield();
		CHECK(strstr(text, "completions ") &&
		      atoi(strstr(text, "completions ") + 12) == (int)round * 2);
		CHECK(strstr(text, "event-latency ") &&
		      atoi(strstr(text, "event-latency ") + 14) == (int)round * 2);
	}
	fixture_exit(&fix, &p);
	fixture_fini(&fix);
}

/* Is the guest to be closed, within that time? */
static bool is_flood(struct fixture *fix, int ms)
{
	struct pollfd flood = { .fd = events_flood_fd(fix->v.events), .events = POLLIN };

	return poll(&flood, 1, ms) == 1;
}

static void flood(void)
{
	struct fixture_process p;
	struct fixture fix;
	unsigned int i;

	start(&fix);
	fix.event_bit = 0;
	CHECK(!fixture_process(&fix, &p));
	/* Much, but it ends. */
	for (i = 0; i < 10000; i++)
		fake_complete(&fix.fake, p.cq);
	wait_for_bit(&fix, 0);
	CHECK(!is_flood(&fix, 200));
	CHECK(fake_flood(&fix.fake, p.cq));
	CHECK(is_flood(&fix, 100000));
	/* And in spite of it the context can be closed. */
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	fixture_fini(&fix);
}

/*
 * A guest that takes each bit as soon as it is there, so that the next completion is worth a
 * notification again, gets 2,048 of them at once and 32 in each millisecond; and each bit it waits
 * for comes. 64 completions that are read together are worth another one.
 */
static void rate(void)
{
	const uint64_t begun = clock_ns();
	struct fixture_process p[PROCESSES];
	uint64_t ms, notifies, rounds;
	struct fixture fix;
	unsigned int i;

	start(&fix);
	make_processes(&fix, p, PROCESSES);
	for (rounds = 0; clock_ns() - begun < 600000000; rounds++) {
		for (i = 0; i < PROCESSES; i++)
			CHECK(fake_complete(&fix.fake, p[i].cq));
		for (i = 0; i < PROCESSES; i++)
			while (!take_bit(&fix, bit_of(i)))
				sched_yield();
	}
	pthread_mutex_lock(&fix.v.lock);
	ms = (clock_ns() - begun) / 1000000 + 1;
	notifies = fix.v.counters.event_notifies;
	pthread_mutex_unlock(&fix.v.lock);
	printf("%u completions in %u ms, %u notifications\n", (unsigned int)rounds * PROCESSES,
	       (unsigned int)ms, (unsigned int)notifies);
	CHECK(notifies <= 2048 + 32 * (ms + 2) + rounds * PROCESSES / 64);
	fixture_fini(&fix);
}

/* Also where it wants to hear of nothing, the guest's queues that end in errors are counted. */
static void not_negotiated(void)
{
	struct fixture_process p;
	struct fixture fix;
	char why[96];

	fixture_init(&fix, false, NULL);
	fix.v.events = events_new(&fix.v, NULL, why, sizeof(why));
	CHECK(fix.v.events);
	fix.event_bit = 0;
	CHECK(fixture_process(&fix, &p) == XEN_VHCA_E_UNSUPPORTED && p.umem && !p.cq);
	fix.event_bit = XEN_VHCA_NO_EVENT;
	CHECK(!fixture_process(&fix, &p));
	while (!vhca_pause_ms(&fix.v))
		CHECK(fake_async(&fix.fake, p.cq, XEN_VHCA_ASYNC_CQ_ERR));
	events_port(fix.v.events, XEN_VHCA_ASYNC_PORT_ERR);
	CHECK(!fix.v.counters.asyncs && !notified(&fix, 0));
	fixture_fini(&fix);
}

/* Queues that end in errors: the guest is slowed down, and then closed if nobody else can have caused them. */
static void faults(void)
{
	struct fixture_process p;
	struct fixture fix;
	unsigned int i;

	start(&fix);
	CHECK(!fixture_process(&fix, &p));
	for (i = 0; i < 2 * (VHCA_FAULTS + VHCA_FAULTS_MOST); i++)
		CHECK(fake_async(&fix.fake, p.qp, XEN_VHCA_ASYNC_QP_ACCESS_ERR));
	while (!vhca_pause_ms(&fix.v))
		CHECK(fake_async(&fix.fake, p.qp, XEN_VHCA_ASYNC_QP_ACCESS_ERR));
	CHECK(!is_flood(&fix, 100));
	for (i = 0; i < 2 * (VHCA_FAULTS + VHCA_FAULTS_MOST); i++)
		CHECK(fake_async(&fix.fake, p.qp,
				 i % 2 ? XEN_VHCA_ASYNC_QP_FATAL : XEN_VHCA_ASYNC_SQ_DRAINED));
	CHECK(is_flood(&fix, 100000) && vhca_is_faulty(&fix.v));
	fixture_fini(&fix);
}

/* What has happened to a queue is counted, however soon it or its context is destroyed. */
static void faults_at_the_end(void)
{
	enum { ROUNDS = 200 };
	const uint64_t begun = clock_ms();
	struct fixture_process p;
	struct fixture fix;
	unsigned int i;

	start(&fix);
	for (i = 0; i < ROUNDS; i++) {
		CHECK(!fixture_process(&fix, &p));
		CHECK(fake_async(&fix.fake, p.qp, XEN_VHCA_ASYNC_QP_FATAL));
		CHECK(!fixture_object(&fix, XEN_VHCA_OP_QP_DESTROY, p.qp));
		CHECK(fake_async(&fix.fake, p.cq, XEN_VHCA_ASYNC_CQ_ERR));
		CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p.ctx));
	}
	CHECK(!fixture_process(&fix, &p));
	CHECK(fake_async(&fix.fake, p.qp, XEN_VHCA_ASYNC_QP_FATAL));
	events_free(fix.v.events);
	fix.v.events = NULL;
	CHECK(fix.v.faults.tat_ms >= begun + (2 * ROUNDS + 1) * VHCA_FAULT_MS);
	fixture_fini(&fix);
}

/* Asynchronous events */

static struct xen_vhca_async_event next_async(struct fixture *fix, struct vhca_async_front *front)
{
	struct xen_vhca_async_event event;
	int got;

	while (!(got = vhca_async_take(front, &event)))
		CHECK(notified(fix, 10000));
	CHECK(got == 1);
	return event;
}

static void expect_async(struct fixture *fix, struct vhca_async_front *front, uint32_t type,
			 xen_vhca_handle_t handle)
{
	struct xen_vhca_async_event event = next_async(fix, front);

	CHECK(event.type == type && event.handle == handle);
}

static void asyncs(void)
{
	struct xen_vhca_async_event event;
	struct vhca_async_front front;
	struct fixture_process p[2];
	struct fixture fix;
	uint32_t type;

	start(&fix);
	vhca_async_front_init(&front, async_page(&fix));
	make_processes(&fix, p, 2);
	for (type = 0; type < XEN_VHCA_ASYNC_TYPES; type++) {
		xen_vhca_handle_t handle = 0;

		switch (vhca_async_kind(type)) {
		case VHCA_ASYNC_CQ:
			handle = p[type & 1].cq;
			break;
		case VHCA_ASYNC_QP:
			handle = p[type & 1].qp;
			break;
		case VHCA_ASYNC_SRQ:
			handle = p[type & 1].srq;
			break;
		default:
			break;
		}
		if (handle)
			CHECK(fake_async(&fix.fake, handle, type));
		else
			events_port(fix.v.events, type);
		expect_async(&fix, &front, type, handle);
	}
	/* Of the port each context hears; the guest is told by the worker alone, and once. */
	fake_port(&fix.fake, XEN_VHCA_ASYNC_PORT_ERR);
	/* Of the wrong type, of no type, of no object. */
	fake_async(&fix.fake, p[0].cq, XEN_VHCA_ASYNC_QP_FATAL);
	fake_async(&fix.fake, p[0].qp, XEN_VHCA_ASYNC_SRQ_LIMIT_REACHED);
	fake_async(&fix.fake, p[0].qp, XEN_VHCA_ASYNC_TYPES);
	fake_async(&fix.fake, p[0].qp, ~0u);
	fake_async(&fix.fake, p[0].qp, XEN_VHCA_ASYNC_SQ_DRAINED);
	expect_async(&fix, &front, XEN_VHCA_ASYNC_SQ_DRAINED, p[0].qp);
	fake_async(&fix.fake, p[1].qp, XEN_VHCA_ASYNC_SQ_DRAINED);
	expect_async(&fix, &front, XEN_VHCA_ASYNC_SQ_DRAINED, p[1].qp);
	CHECK(!vhca_async_take(&front, &event));
	fixture_fini(&fix);
}

static const uint32_t qp_types[] = {
	XEN_VHCA_ASYNC_QP_FATAL,      XEN_VHCA_ASYNC_QP_REQ_ERR,
	XEN_VHCA_ASYNC_QP_ACCESS_ERR, XEN_VHCA_ASYNC_COMM_EST,
	XEN_VHCA_ASYNC_SQ_DRAINED,    XEN_VHCA_ASYNC_PATH_MIG,
	XEN_VHCA_ASYNC_PATH_MIG_ERR,  XEN_VHCA_ASYNC_QP_LAST_WQE_REACHED,
};

#define QPS 40u
#define QP_TYPES (sizeof(qp_types) / sizeof(qp_types[0]))

static void all_qp_events(struct fixture *fix, const struct fixture_process p[])
{
	unsigned int i, k;

	for (i = 0; i < QPS; i++)
		for (k = 0; k < QP_TYPES; k++)
			CHECK(fake_async(&fix->fake, p[i].qp, qp_types[k]));
}

/* The daemon has read all that there is. */
static void settle(struct fixture *fix, uint64_t told)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	unsigned int i;
	uint64_t sum;

	for (i = 0; i < 10000; i++) {
		pthread_mutex_lock(&fix->v.lock);
		sum = fix->v.counters.asyncs + fix->v.counters.asyncs_lost;
		pthread_mutex_unlock(&fix->v.lock);
		if (sum == told)
			return;
		nanosleep(&ms, NULL);
	}
	CHECK(false);
}

static double cpu_seconds(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec + used.tv_nsec / 1e9;
}

static void full_ring(void)
{
	static struct fixture_process p[QPS];
	struct timespec while_ = { .tv_nsec = 400000000 };
	struct xen_vhca_async_event event;
	struct vhca_async_front front;
	uint8_t came[QPS][XEN_VHCA_ASYNC_TYPES] = { 0 };
	unsigned int i, k;
	struct fixture fix;
	double before;

	start(&fix);
	vhca_async_front_init(&front, async_page(&fix));
	for (i = 0; i < QPS; i++) {
		fixture_process(&fix, &p[i]); /* there are fewer memory windows */
		CHECK(p[i].qp);
	}
	all_qp_events(&fix, p);
	settle(&fix, XEN_VHCA_ASYNC_EVENTS);
	/* Those in the ring may come again; those that wait need not. */
	all_qp_events(&fix, p);
	settle(&fix, QPS * QP_TYPES);
	CHECK(async_page(&fix)->lost == QPS * QP_TYPES - XEN_VHCA_ASYNC_EVENTS);
	CHECK(async_page(&fix)->prod == XEN_VHCA_ASYNC_EVENTS);

	/* It does not wait busily, whatever the guest says of its progress. */
	before = cpu_seconds();
	async_page(&fix)->cons = 0x80000000;
	nanosleep(&while_, NULL);
	CHECK(cpu_seconds() - before < 0.2);
	CHECK(async_page(&fix)->prod == XEN_VHCA_ASYNC_EVENTS);
	async_page(&fix)->cons = 0;

	/* Who is gone has no events any more. */
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p[QPS - 1].ctx));
	for (i = 0; i < XEN_VHCA_ASYNC_EVENTS + (QPS - 1) * QP_TYPES; i++) {
		event = next_async(&fix, &front);
		for (k = 0; k < QPS && p[k].qp != event.handle; k++)
			;
		CHECK(k < QPS && event.type < XEN_VHCA_ASYNC_TYPES);
		came[k][event.type]++;
	}
	for (i = 0; i < QPS - 1; i++)
		for (k = 0; k < QP_TYPES; k++)
			CHECK(came[i][qp_types[k]] == 1 || came[i][qp_types[k]] == 2);
	events_port(fix.v.events, XEN_VHCA_ASYNC_SM_CHANGE);
	expect_async(&fix, &front, XEN_VHCA_ASYNC_SM_CHANGE, 0);
	CHECK(!vhca_async_take(&front, &event));
	fixture_fini(&fix);
}

static atomic_bool stop;

/* A hostile guest: any octets in both pages, and a consumer that mostly makes some sense. */
__attribute__((no_sanitize("address", "undefined", "thread"))) static void *scribble(void *arg)
{
	struct fixture *fix = arg;
	volatile struct xen_vhca_async_page *page = async_page(fix);
	volatile uint8_t *octets = bits_page(fix); /* the other page is behind it */
	uint32_t x = 3;

	while (!atomic_load(&stop)) {
		x = x * 1664525 + 1013904223;
		octets[(x >> 8) % (2 * XEN_VHCA_PAGE_SIZE)] = x >> 24;
		if (!(x >> 29))
			page->cons = page->prod - (x >> 16) % 200;
	}
	return NULL;
}

static void hostile_guest(void)
{
	struct fixture_process p[PROCESSES];
	pthread_t thread;
	struct fixture fix;
	unsigned int i;

	start(&fix);
	make_processes(&fix, p, PROCESSES);
	CHECK(!pthread_create(&thread, NULL, scribble, &fix));
	for (i = 0; i < 20000; i++) {
		CHECK(fake_complete(&fix.fake, p[i % PROCESSES].cq));
		CHECK(fake_async(&fix.fake, p[i % PROCESSES].qp, qp_types[i % QP_TYPES]));
		if (!(i % 1000))
			events_port(fix.v.events, XEN_VHCA_ASYNC_LID_CHANGE);
	}
	for (i = 0; i < PROCESSES; i++)
		CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, p[i].ctx));
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	CHECK(fixture_is_empty(&fix));
	fixture_fini(&fix);
}

static void bad_parameters(void)
{
	const struct events_params bad[] = {
		{ SHM_PAGES, FIXTURE_ASYNC_REF, 1, { 10 } },
		{ FIXTURE_BITS_REF, ~0u, 1, { 10 } },
		{ FIXTURE_BITS_REF, FIXTURE_ASYNC_REF, 1, { 0 } },
		{ FIXTURE_BITS_REF, FIXTURE_ASYNC_REF, 2, { 10, 0 } },
	};
	struct fixture fix;
	char why[96];
	unsigned int i;

	fixture_init(&fix, false, NULL);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!events_new(&fix.v, &bad[i], why, sizeof(why)));
	fixture_fini(&fix);
}

static void completions(void)
{
	only_who_is_there();
	vectors();
	no_completion_is_lost();
	closing();
	counted();
	flood();
}

int main(void)
{
	bad_parameters();
	not_negotiated();
	completions();
	faults();
	faults_at_the_end();
	rate();
	asyncs();
	full_ring();
	hostile_guest();
	watches = true;
	bad_parameters();
	completions();
	faults_at_the_end();
	return EXIT_SUCCESS;
}
