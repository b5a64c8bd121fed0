// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_ring.c - a hostile guest at the ring itself, with memory that changes while the daemon reads
 * it.
 *
 * The input is what the guest does: requests, octets written anywhere into the shared pages,
 * indexes that announce what is not there. Beside it the guest's other processor writes to places
 * of the input's choice, back and forth between two values, from before the session begins until
 * the end: what is read twice is one thing the first time and another the second. Whatever comes of
 * it, the fake HCA and the sanitizers have nothing to say, and nothing is left.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

#include "requests.h"
#include "shared-ring/vhca_ring.h"
#include "unit/fakes/fixture.h"
#include "worker/ring.h"

#define ORDER 2
#define RING_PAGES (1u << ORDER)
#define ENTRIES 32u
#define ENTRY_WORDS (sizeof(union xen_vhca_sring_entry) / 4)
#define DIR_REF RING_PAGES
#define DATA_REF (DIR_REF + 1)
#define FREE_REF 64u
#define PAGES \
	(DATA_REF + ENTRIES) /* that are shared with the daemon, in the order of their references */

#define STEPS 200
#define PATIENCE \
	50 /* ms that answers may take; not all come, as it may be us who spoiled the index */

struct flip {
	volatile uint32_t *where;
	uint32_t values[2];
};

/* The guest's other processor: at work between the two semaphores. */
static struct {
	struct flip flips[8];
	unsigned int n;
	atomic_bool stop;
	sem_t begin, ended;
} other;

struct guest {
	struct fixture fix;
	struct ring *ring;
	struct xen_vhca_sring *sring;
	RING_IDX prod, seen; /* requests put, answers looked at */
	xen_vhca_handle_t recent[RECENT];
	unsigned int n;
	bool posted; /* the last request is, so its response may be told with that of a later one only */
	bool broken;
};

/* The fuzzer's alarm does not end the waiting. */
static void wait_for(sem_t *sem)
{
	while (sem_wait(sem))
		;
}

static void *work(void *unused)
{
	unsigned int i, turn;

	(void)unused;
	for (;;) {
		wait_for(&other.begin);
		for (turn = 0; !atomic_load(&other.stop); turn++)
			for (i = 0; i < other.n; i++)
				*other.flips[i].where = other.flips[i].values[turn & 1];
		sem_post(&other.ended);
	}
}

/* In an entry of the ring, as often as anywhere else. */
static volatile uint32_t *any_word(struct guest *g, struct input *in)
{
	unsigned int where = octet(in), word = octet(in), page = where % PAGES;

	if (where & 0x80)
		return (volatile uint32_t *)&g->sring->ring[where % ENTRIES] + word % ENTRY_WORDS;
	word |= octet(in) % 4 << 8;
	/* The daemon never reads the index of its answers, and we want to know of them. */
	if (!page && word == offsetof(struct xen_vhca_sring, rsp_prod) / 4)
		word = offsetof(struct xen_vhca_sring, req_prod) / 4;
	return (volatile uint32_t *)shm_page(g->fix.shm, page) + word;
}

static void begin_flips(struct guest *g, struct input *in, unsigned int n)
{
	static pthread_t thread;

	if (!thread) {
		sem_init(&other.begin, 0, 0);
		sem_init(&other.ended, 0, 0);
		CHECK(!pthread_create(&thread, NULL, work, NULL));
	}
	for (other.n = 0; other.n < n; other.n++) {
		struct flip *flip = &other.flips[other.n];

		flip->where = any_word(g, in);
		flip->values[0] = *flip->where;
		octets(in, &flip->values[1], 4);
	}
	atomic_store(&other.stop, false);
	sem_post(&other.begin);
}

static void end_flips(void)
{
	atomic_store(&other.stop, true);
	wait_for(&other.ended);
}

static void guest_init(struct guest *g, struct input *in)
{
	struct fixture_process p;
	uint32_t *refs;
	unsigned int i;

	memset(g, 0, sizeof(*g));
	fixture_init(&g->fix, octet(in) & 1, NULL);
	fixture_process(&g->fix, &p);
	memcpy(g->recent, &p, sizeof(p));
	refs = shm_page(g->fix.shm, DIR_REF);
	for (i = 0; i < ENTRIES; i++)
		refs[i] = DATA_REF + i;
	refs = shm_page(g->fix.shm, DATA_REF);
	for (i = 0; i < ENTRIES * XEN_VHCA_DATA_REFS; i++)
		refs[i] = FREE_REF + i % XEN_VHCA_DATA_REFS;
	g->sring = shm_page(g->fix.shm, 0);
	SHARED_RING_INIT(g->sring);
}

static void guest_connect(struct guest *g)
{
	const struct ring_params params = { .ring_order = ORDER,
					    .ring_refs = { 0, 1, 2, 3 },
					    .data_dir_ref = DIR_REF,
					    .event_channel = 9 };
	char why[96];

	g->ring = ring_new(&g->fix.v, &params, why, sizeof(why));
	g->broken = !g->ring;
}

static void serve(struct guest *g)
{
	int more;

	eventfd_write(g->fix.shm->to_back, 1);
	do {
		more = ring_service(g->ring);
	} while (more > 0);
	g->broken = more < 0;
}

static void check_answers(struct guest *g)
{
	RING_IDX prod = *(volatile RING_IDX *)&g->sring->rsp_prod;

	for (; g->seen != prod; g->seen++) {
		const struct xen_vhca_rsp *rsp = &g->sring->ring[g->seen % ENTRIES].rsp;

		if (rsp->status)
			continue;
		g->recent[++g->n % RECENT] = rsp->u.object.handle;
		if (rsp->op == XEN_VHCA_OP_MR_REG && rsp->u.mr.umem)
			g->recent[++g->n % RECENT] = rsp->u.mr.umem;
	}
}

static void put(struct guest *g, const struct xen_vhca_req *req)
{
	g->sring->ring[g->prod % ENTRIES].req = *req;
	g->prod++;
	g->posted = req->flags & XEN_VHCA_REQ_POSTED;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*(volatile RING_IDX *)&g->sring->req_prod = g->prod;
}

/* A request that is waited for, so that all is told. */
static void put_awaited(struct guest *g)
{
	struct xen_vhca_req req = example_request(XEN_VHCA_OP_PORT_QUERY);

	req.id = g->prod % ENTRIES;
	put(g, &req);
	serve(g);
}

/* Until all is answered, so that ids are free again. */
static void settle(struct guest *g)
{
	struct pollfd event = { .fd = g->fix.shm->to_front[CHANNEL_COMMANDS], .events = POLLIN };
	eventfd_t count;
	int ms;

	if (g->posted && g->prod - g->seen < ENTRIES)
		put_awaited(g);
	for (ms = 0; ms < PATIENCE && !g->broken; ms++) {
		check_answers(g);
		if (g->seen == g->prod)
			return;
		if (poll(&event, 1, 1) == 1)
			eventfd_read(event.fd, &count);
		serve(g);
	}
}

static void put_request(struct guest *g, struct input *in)
{
	struct xen_vhca_req req;
	unsigned int how;

	next_request(in, &req, g->recent);
	how = octet(in);
	req.id = how & 0x80 ? how : g->prod % ENTRIES;
	put(g, &req);
	if (how & 1)
		return; /* one by one, or some together */
	serve(g);
	if (how & 2)
		settle(g);
}

static void step(struct guest *g, struct input *in)
{
	uint32_t value;

	switch (octet(in) % 8) {
	case 0: /* what is read after it was announced, or before */
		octets(in, &value, sizeof(value));
		*any_word(g, in) = value;
		break;
	case 1:
		*(volatile RING_IDX *)&g->sring->req_prod = g->prod + octet(in);
		serve(g);
		break;
	case 2:
		settle(g);
		break;
	default:
		if (g->prod - g->seen == ENTRIES)
			settle(g);
		put_request(g, in);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	static struct guest g;
	unsigned int n;

	guest_init(&g, &in);
	begin_flips(&g, &in, octet(&in) % (sizeof(other.flips) / sizeof(other.flips[0])));
	guest_connect(&g);
	for (n = 0; in.size && n < STEPS && !g.broken; n++)
		step(&g, &in);
	ring_free(g.ring);
	end_flips();
	fixture_close_all(&g.fix);
	fixture_fini(&g.fix);
	return 0;
}
