// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_ring.c - the command ring over plain shared memory: two threads as frontend and backend,
 * then a backend whose peer scribbles over the ring while it reads, then each violation alone.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "check.h"
#include "example.h"
#include "vhca_ring.h"

#define ORDER 2
#define ROUNDS 200000u

static void *new_ring(void)
{
	void *shared = mmap(NULL, 4096 << ORDER, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);

	CHECK(shared != MAP_FAILED);
	return shared;
}

static void free_ring(void *shared)
{
	munmap(shared, 4096 << ORDER);
}

/* Answers ROUNDS requests, in an order of its own: it keeps up to eight back. */
static void *backend(void *shared)
{
	struct xen_vhca_req kept[8];
	unsigned int n = 0, answered = 0;
	struct vhca_back back;

	vhca_back_init(&back, shared, ORDER);
	while (answered < ROUNDS) {
		int got = n < 8 ? vhca_back_next(&back, &kept[n]) : 0;
		struct xen_vhca_rsp rsp;

		CHECK(got >= 0);
		n += got;
		if (got && n < 8)
			continue;
		if (!n) {
			if (!vhca_back_more(&back))
				sched_yield();
			continue;
		}
		memset(&rsp, 0, sizeof(rsp));
		rsp.id = kept[n - 1].id;
		rsp.op = kept[n - 1].op;
		rsp.u.object.handle = kept[n - 1].u.object.handle + 1;
		vhca_back_put(&back, &rsp);
		vhca_back_push(&back);
		n--;
		answered++;
	}
	return NULL;
}

/* Every response belongs to its request, however they overtake each other. */
static void both_ends(void)
{
	unsigned int entries = vhca_ring_entries(ORDER), sent = 0, done = 0, id;
	uint32_t value[VHCA_RING_MAX_ENTRIES];
	uint8_t busy[VHCA_RING_MAX_ENTRIES] = { 0 };
	void *shared = new_ring();
	struct vhca_front front;
	pthread_t thread;

	CHECK(entries == 32);
	vhca_front_init(&front, shared, ORDER);
	CHECK(!pthread_create(&thread, NULL, backend, shared));
	while (done < ROUNDS) {
		struct xen_vhca_rsp rsp;

		for (id = 0; id < entries && sent < ROUNDS; id++) {
			struct xen_vhca_req req = example_request(XEN_VHCA_OP_QP_DESTROY);

			if (busy[id])
				continue;
			req.id = id;
			req.u.object.handle = value[id] = sent++;
			CHECK(!vhca_front_put(&front, &req));
			CHECK(vhca_front_put(&front, &req) == -EBUSY);
			busy[id] = 1;
		}
		vhca_front_push(&front);
		while (vhca_front_next(&front, &rsp) == 1) {
			CHECK(busy[rsp.id] && rsp.u.object.handle == value[rsp.id] + 1);
			busy[rsp.id] = 0;
			done++;
		}
		if (!vhca_front_more(&front))
			sched_yield();
	}
	pthread_join(thread, NULL);
	free_ring(shared);
}

static atomic_int stop;

/* A hostile frontend: random octets all over the ring, and a producer index that runs. */
__attribute__((no_sanitize("address", "undefined"))) static void *scribbler(void *shared)
{
	struct xen_vhca_sring *sring = shared;
	volatile uint8_t *octets = (volatile uint8_t *)sring->ring;
	uint32_t x = 12345;

	while (!atomic_load(&stop)) {
		x = x * 1664525 + 1013904223;
		octets[(x >> 8) % (32 * 256)] = x >> 24;
		octets[(x >> 12) % 32 * 256 + 1] = 0; /* or hardly an id would be in range */
		if (!(x >> 28))
			sring->req_prod = sring->rsp_prod + (x >> 8) % 33;
	}
	return NULL;
}

/* What vhca_back_next() hands out does not change any more, and its id is never in use twice. */
static void changing_memory(void)
{
	struct xen_vhca_device_attr limits = example_limits();
	unsigned int sessions, taken = 0;
	void *shared = new_ring();
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, scribbler, shared));
	for (sessions = 0; taken < 20000 && sessions < 100000000; sessions++) {
		uint8_t busy[32] = { 0 };
		struct vhca_back back;
		struct xen_vhca_req req;

		vhca_back_init(&back, shared, ORDER);
		while (vhca_back_next(&back, &req) == 1) {
			struct xen_vhca_req before = req;
			struct xen_vhca_rsp rsp = { .id = req.id, .op = req.op };

			CHECK(req.id < 32 && !busy[req.id]);
			busy[req.id] = 1;
			rsp.status = vhca_check_request(&req, &limits);
			CHECK(!memcmp(&before, &req, sizeof(req)));
			taken++;
			if (req.id & 1)
				continue;
			vhca_back_put(&back, &rsp);
			busy[req.id] = 0;
		}
	}
	atomic_store(&stop, 1);
	pthread_join(thread, NULL);
	free_ring(shared);
	CHECK(taken >= 20000);
}

static void violations(void)
{
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_DEVICE_QUERY);
	struct xen_vhca_rsp rsp = { .op = req.op };
	void *shared = new_ring();
	struct xen_vhca_sring *sring = shared;
	struct vhca_front front;
	struct vhca_back back;

	vhca_front_init(&front, shared, ORDER);
	vhca_back_init(&back, shared, ORDER);
	CHECK(vhca_back_next(&back, &req) == 0);
	req.id = 32;
	CHECK(vhca_front_put(&front, &req) == -EINVAL);

	sring->req_prod = 33; /* more than the ring holds */
	CHECK(vhca_back_next(&back, &req) == -EPROTO);
	sring->req_prod = 0u - 1;
	CHECK(vhca_back_next(&back, &req) == -EPROTO);

	sring->req_prod = 2; /* one id twice */
	sring->ring[0].req.id = sring->ring[1].req.id = 5;
	CHECK(vhca_back_next(&back, &req) == 1);
	CHECK(vhca_back_next(&back, &req) == -EPROTO);

	vhca_back_init(&back, shared, ORDER);
	sring->req_prod = 1; /* an id out of range */
	sring->ring[0].req.id = 32;
	CHECK(vhca_back_next(&back, &req) == -EPROTO);

	sring->rsp_prod = 1; /* a response that nobody asked for */
	sring->ring[0].rsp.id = 0;
	CHECK(vhca_front_next(&front, &rsp) == -EPROTO);
	vhca_front_init(&front, shared, ORDER);
	req.id = 3;
	CHECK(!vhca_front_put(&front, &req));
	sring->ring[0].rsp.id = 3;
	sring->rsp_prod = 33; /* more than the ring holds, though the first one was asked for */
	CHECK(vhca_front_next(&front, &rsp) == -EPROTO);
	sring->rsp_prod = 32;
	CHECK(vhca_front_next(&front, &rsp) == 1);
	free_ring(shared);
}

/* The last request, and no other, is not posted after all. */
static void unposted(void)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_PD_FREE, .flags = XEN_VHCA_REQ_POSTED };
	struct xen_vhca_sring *shared = new_ring();
	struct vhca_front front;
	struct vhca_back back;

	vhca_front_init(&front, shared, ORDER);
	vhca_back_init(&back, shared, ORDER);
	for (req.id = 0; req.id < 2; req.id++)
		CHECK(!vhca_front_put(&front, &req));
	vhca_front_unpost(&front);
	vhca_front_push(&front);
	CHECK(vhca_back_next(&back, &req) == 1 && req.id == 0 && req.flags == XEN_VHCA_REQ_POSTED);
	CHECK(vhca_back_next(&back, &req) == 1 && req.id == 1 && !req.flags);
	CHECK(!vhca_back_next(&back, &req));
	free_ring(shared);
}

int main(void)
{
	unposted();
	violations();
	both_ends();
	changing_memory();
	return EXIT_SUCCESS;
}
