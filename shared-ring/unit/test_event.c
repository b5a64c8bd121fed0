// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_event.c - the pages of events over plain shared memory: bits that two threads set and a
 * third takes, none of which may be lost; a ring of asynchronous events across all its edges; then
 * each end with a peer that scribbles over the page.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "check.h"
#include "vhca_event.h"

static void *new_page(void)
{
	void *page = mmap(NULL, XEN_VHCA_PAGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED);
	return page;
}

static void free_page(void *page)
{
	munmap(page, XEN_VHCA_PAGE_SIZE);
}

/* Completion events */

#define CQS 8u
#define ROUNDS 100000u
#define SETTERS 2u

/* Over the whole page, and several in a word. */
static const uint32_t bit_of[CQS] = { 0, 1, 31, 32, 33, 5000, 32766, 32767 };

struct storm {
	void *page;
	int bell;                              /* the event channel */
	atomic_uint completions[SETTERS][CQS]; /* what the HCA has done */
	atomic_uint notified, running;
};

static void *setter(void *arg)
{
	static atomic_uint next;
	unsigned int me = atomic_fetch_add(&next, 1), i, x = me * 99 + 1;
	struct storm *storm = arg;

	for (i = 0; i < ROUNDS; i++) {
		unsigned int cq = (x = x * 1664525 + 1013904223) >> 16 & (CQS - 1);

		atomic_fetch_add_explicit(&storm->completions[me][cq], 1, memory_order_relaxed);
		if (vhca_bit_set(storm->page, bit_of[cq])) {
			atomic_fetch_add(&storm->notified, 1);
			eventfd_write(storm->bell, 1);
		}
		if (!(x >> 28))
			sched_yield();
	}
	atomic_fetch_sub(&storm->running, 1);
	eventfd_write(storm->bell, 1);
	return NULL;
}

static unsigned int look(struct storm *storm, unsigned int seen[SETTERS][CQS])
{
	unsigned int word, cq, me, found = 0;

	for (word = 0; word < VHCA_EVENT_WORDS; word++) {
		uint32_t bits = vhca_bits_take(storm->page, word);

		for (cq = 0; bits && cq < CQS; cq++) {
			if (bit_of[cq] / 32 != word || !(bits >> bit_of[cq] % 32 & 1))
				continue;
			for (me = 0; me < SETTERS; me++)
				seen[me][cq] = atomic_load_explicit(&storm->completions[me][cq],
								    memory_order_relaxed);
			found++;
		}
	}
	return found;
}

/* In the end each CQ has been looked after since its last completion. */
static void no_bit_is_lost(void)
{
	struct storm storm = { .page = new_page(), .bell = eventfd(0, 0), .running = SETTERS };
	unsigned int seen[SETTERS][CQS] = { 0 }, i, cq, woken = 0, found = 0;
	pthread_t threads[SETTERS];
	eventfd_t count;

	for (i = 0; i < SETTERS; i++)
		CHECK(!pthread_create(&threads[i], NULL, setter, &storm));
	while (atomic_load(&storm.running)) {
		eventfd_read(storm.bell, &count);
		found += look(&storm, seen);
		woken++;
	}
	/* Whoever has ended has notified; so this is the look of a notification, too. */
	found += look(&storm, seen);
	for (i = 0; i < SETTERS; i++) {
		pthread_join(threads[i], NULL);
		for (cq = 0; cq < CQS; cq++)
			CHECK(seen[i][cq] == atomic_load(&storm.completions[i][cq]));
	}
	printf("%u completions, %u notifications, %u looks, %u bits found\n", SETTERS * ROUNDS,
	       atomic_load(&storm.notified), woken + 1, found);
	CHECK(found <= atomic_load(&storm.notified));
	free_page(storm.page);
}

static void all_bits(void)
{
	void *page = new_page();
	uint32_t bit;

	for (bit = 0; bit < XEN_VHCA_EVENT_BITS; bit++) {
		CHECK(vhca_bit_set(page, bit));
		CHECK(!vhca_bit_set(page, bit));
		CHECK(((uint8_t *)page)[bit / 8] >> bit % 8 & 1);
	}
	for (bit = 0; bit < VHCA_EVENT_WORDS; bit++) {
		CHECK(vhca_bits_take(page, bit) == ~0u);
		CHECK(!vhca_bits_take(page, bit));
	}
	free_page(page);
}

/* Asynchronous events */

static struct xen_vhca_async_event event_of(uint32_t n)
{
	return (struct xen_vhca_async_event){ .type = n % XEN_VHCA_ASYNC_TYPES, .handle = n };
}

static void ring_edges(void)
{
	struct xen_vhca_async_page *page = new_page();
	struct xen_vhca_async_event event;
	struct vhca_async_front front;
	struct vhca_async_back back;
	uint32_t i, start;

	vhca_async_front_init(&front, page);
	CHECK(!vhca_async_take(&front, &event));
	for (start = 0; start < 3; start++) {
		/* The last round goes over the end of the indices. */
		vhca_async_back_init(&back, page);
		vhca_async_front_init(&front, page);
		back.prod = front.cons = page->prod = page->cons = start == 2 ? -5u : start * 77;
		for (i = 0; i < XEN_VHCA_ASYNC_EVENTS; i++) {
			event = event_of(i);
			CHECK(vhca_async_put(&back, &event));
		}
		CHECK(!vhca_async_put(&back, &event));
		vhca_async_lost(&back);
		CHECK(page->lost == 1);
		for (i = 0; i < XEN_VHCA_ASYNC_EVENTS; i++) {
			CHECK(vhca_async_take(&front, &event) == 1);
			CHECK(event.handle == i && event.type == i % XEN_VHCA_ASYNC_TYPES);
		}
		CHECK(!vhca_async_take(&front, &event));
	}
	free_page(page);
}

/* A producer that runs: as many as the page holds can be there, and no more. */
static void ring_overrun(void)
{
	struct xen_vhca_async_page *page = new_page();
	struct xen_vhca_async_event event;
	struct vhca_async_front front;

	vhca_async_front_init(&front, page);
	page->prod = XEN_VHCA_ASYNC_EVENTS + 1;
	CHECK(vhca_async_take(&front, &event) == -EPROTO);
	page->prod = XEN_VHCA_ASYNC_EVENTS;
	CHECK(vhca_async_take(&front, &event) == 1);
	free_page(page);
}

static void *putter(void *shared)
{
	struct vhca_async_back back;
	uint32_t i = 0;

	vhca_async_back_init(&back, shared);
	while (i < ROUNDS) {
		struct xen_vhca_async_event event = event_of(i);

		if (vhca_async_put(&back, &event))
			i++;
		else
			sched_yield();
	}
	return NULL;
}

static void ring_both_ends(void)
{
	struct xen_vhca_async_event event;
	struct vhca_async_front front;
	void *page = new_page();
	pthread_t thread;
	uint32_t i = 0;

	vhca_async_front_init(&front, page);
	CHECK(!pthread_create(&thread, NULL, putter, page));
	while (i < ROUNDS) {
		int got = vhca_async_take(&front, &event);

		CHECK(got >= 0);
		if (!got) {
			sched_yield();
			continue;
		}
		CHECK(event.handle == i && event.type == i % XEN_VHCA_ASYNC_TYPES);
		i++;
	}
	pthread_join(thread, NULL);
	free_page(page);
}

static atomic_int stop;

/* Writes over everything, and mostly sensible indices, so that the others get somewhere. */
__attribute__((no_sanitize("address", "undefined"))) static void *scribbler(void *shared)
{
	volatile struct xen_vhca_async_page *page = shared;
	volatile uint8_t *octets = shared;
	uint32_t x = 1;

	while (!atomic_load(&stop)) {
		x = x * 1664525 + 1013904223;
		octets[64 + (x >> 8) % (XEN_VHCA_PAGE_SIZE - 64)] = x >> 24;
		if (x >> 28)
			continue;
		page->cons = page->prod - (x >> 16) % (x >> 27 & 1 ? 130 : ~0u);
		page->prod = page->cons + (x >> 16) % 130;
	}
	return NULL;
}

/* Never more than the page is touched, and nothing keeps either end going for ever. */
static void scribbled(void)
{
	unsigned int taken = 0, put = 0, full = 0, broken = 0, i;
	struct xen_vhca_async_event event;
	struct vhca_async_front front;
	struct vhca_async_back back;
	void *page = new_page();
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, scribbler, page));
	vhca_async_back_init(&back, page);
	vhca_async_front_init(&front, page);
	for (i = 0; i < 2000000 || !broken || !taken || !put; i++) {
		int got = vhca_async_take(&front, &event);

		taken += got > 0;
		if (got < 0) {
			broken++;
			vhca_async_front_init(&front, page);
		}
		event = event_of(i);
		if (vhca_async_put(&back, &event))
			put++;
		else
			full++;
		vhca_bits_take(page, i % VHCA_EVENT_WORDS);
	}
	atomic_store(&stop, 1);
	pthread_join(thread, NULL);
	CHECK(back.prod == put);
	printf("scribbled over: %u put, %u times full, %u taken, %u times broken\n", put, full,
	       taken, broken);
	free_page(page);
}

static void kinds(void)
{
	CHECK(vhca_async_kind(XEN_VHCA_ASYNC_CQ_ERR) == VHCA_ASYNC_CQ);
	CHECK(vhca_async_kind(XEN_VHCA_ASYNC_QP_LAST_WQE_REACHED) == VHCA_ASYNC_QP);
	CHECK(vhca_async_kind(XEN_VHCA_ASYNC_SRQ_LIMIT_REACHED) == VHCA_ASYNC_SRQ);
	CHECK(vhca_async_kind(XEN_VHCA_ASYNC_GID_CHANGE) == VHCA_ASYNC_PORT);
	CHECK(vhca_async_kind(XEN_VHCA_ASYNC_DEVICE_FATAL) == VHCA_ASYNC_DEVICE);
	CHECK(vhca_async_kind(XEN_VHCA_ASYNC_TYPES) == VHCA_ASYNC_UNKNOWN);
	CHECK(vhca_async_kind(~0u) == VHCA_ASYNC_UNKNOWN);
}

int main(void)
{
	kinds();
	all_bits();
	no_bit_is_lost();
	ring_edges();
	ring_overrun();
	ring_both_ends();
	scribbled();
	return EXIT_SUCCESS;
}
