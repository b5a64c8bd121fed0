// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Calls of xen-ibgrant by chance, with arguments that are good, nearly good, or made up; memory regions and completions
 * beside them. A model says which calls succeed, and how much is mapped then. --seed repeats a run, --count says how
 * many calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "grants.h"

enum {
	CALLS = 4000, /* unless --count says so */
	SLOTS = 12,
	LIMIT = 96, /* of pages, and of ranges */
	MOST = 40,  /* pages of a dma-buf */
	CHANNELS = 3,
	VECTORS = 2,
};

#define BAD_REFERENCE 0xfffffff0u
#define NOWHERE ((void *)8)

/* What the module is to know of a dma-buf that CREATE has made. */
struct model {
	uint32_t pages, present;
	bool there[MOST];
	unsigned int uses; /* of slots that have it, or a range of it */
};

/* A dma-buf, and an MR of it. Either may be gone; the last of them ends it. */
struct slot {
	struct model *model; /* NULL: there is nothing */
	int fd;
	struct ibv_mr *mr;
	bool whole;
	uint32_t first, count;
};

struct state {
	struct granted g;
	struct vp_both both;
	uint64_t seed, calls;
	int dev;
	unsigned long before; /* that was mapped */
	struct slot slots[SLOTS];
	uint32_t pages, present, ranges;
	int events; /* or -1 */
	struct ibv_comp_channel *channels[CHANNELS];
	int64_t watches[CHANNELS]; /* their names, or -1 */
};

static uint32_t by_chance(struct state *s, uint32_t below)
{
	s->seed = s->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(s->seed >> 33) % below;
}

static bool rarely(struct state *s)
{
	return !by_chance(s, 8);
}

/* A number below some bound, or sometimes any. */
static uint32_t number(struct state *s, uint32_t below)
{
	static const uint32_t odd[] = { 0, 1, 0x7fffffff, 0x80000000, UINT32_MAX, 0x10000, 0x10001 };

	return rarely(s) ? odd[by_chance(s, ARRAY_SIZE(odd))] : by_chance(s, below);
}

static struct slot *any_slot(struct state *s)
{
	return &s->slots[by_chance(s, SLOTS)];
}

/* The call has ended as the model says: by success, or not. Which errno it is others look at. */
static void expect(struct state *s, bool success, int err, const char *what)
{
	require(success == !err, "call %llu: %s is to %s (%s)", (unsigned long long)s->calls, what,
		success ? "succeed" : "fail", err ? strerrorname_np(err) : "no error");
}

static void fill_slot(struct state *s, struct slot *slot, struct model *model, int fd,
		      uint32_t first, uint32_t count, bool whole)
{
	*slot = (struct slot){ model, fd, NULL, whole, first, count };
	model->uses++;
	s->ranges += !whole;
}

/* Neither descriptor nor MR is left. */
static void empty_slot(struct state *s, struct slot *slot)
{
	struct model *model = slot->model;

	if (slot->fd >= 0 || slot->mr)
		return;
	s->ranges -= !slot->whole;
	slot->model = NULL;
	if (--model->uses)
		return;
	s->pages -= model->pages;
	s->present -= model->present;
	free(model);
}

static void create(struct state *s)
{
	uint32_t pages = number(s, MOST + 1), flags = rarely(s) ? number(s, 4) : 0;
	struct slot *slot = any_slot(s);
	struct model *model;
	int fd, err;
	bool good;

	if (slot->model)
		return;
	good = pages && pages <= LIMIT - s->pages && !(flags & ~XEN_IBGRANT_READ_ONLY);
	err = dev_create(s->dev, pages, flags, &fd);
	expect(s, good, err, "CREATE");
	if (err)
		return;
	model = calloc(1, sizeof(*model));
	require(model, "memory");
	model->pages = pages;
	s->pages += pages;
	fill_slot(s, slot, model, fd, 0, pages, true);
}

/* Somewhere in the guest's pages, and perhaps with one that is none. */
static bool choose_references(struct state *s, uint32_t count, uint32_t *refs)
{
	uint32_t from = by_chance(s, s->g.pages - MOST), bad;

	memcpy(refs, s->g.refs + from, count * sizeof(*refs));
	if (!count || !rarely(s))
		return true;
	bad = by_chance(s, count);
	refs[bad] = by_chance(s, 2) ? BAD_REFERENCE : UINT32_MAX;
	return false;
}

static bool can_add(const struct slot *slot, uint32_t first, uint32_t count)
{
	if (!slot->model || slot->fd < 0 || !slot->whole || !count || first >= slot->count ||
	    count > slot->count - first)
		return false;
	for (uint32_t i = first; i < first + count; i++)
		if (slot->model->there[i])
			return false;
	return true;
}

static int no_dmabuf(struct state *s)
{
	const int fds[] = { -1, s->dev, s->events, s->channels[0]->fd };

	return fds[by_chance(s, ARRAY_SIZE(fds))];
}

static void add(struct state *s)
{
	uint32_t first = number(s, MOST), count = number(s, MOST), refs[MOST];
	struct slot *slot = any_slot(s);
	bool good = choose_references(s, count < MOST ? count : MOST, refs);
	const bool nowhere = rarely(s);
	int err;

	if (slot->model && by_chance(s, 2)) { /* all that it lacks at its end */
		for (first = slot->count; first && !slot->model->there[first - 1];)
			first--;
		count = slot->count - first;
		good = choose_references(s, count, refs);
	}
	good = good && !nowhere && can_add(slot, first, count);
	err = dev_add(s->dev, slot->model ? slot->fd : no_dmabuf(s), first,
		      nowhere ? NOWHERE : refs, count);
	expect(s, good, err, "ADD");
	if (err)
		return;
	memset(slot->model->there + first, true, count);
	slot->model->present += count;
	s->present += count;
}

static bool is_complete(const struct slot *slot)
{
	return slot->model && slot->model->present == slot->model->pages;
}

static void range(struct state *s)
{
	struct slot *from = any_slot(s), *to = any_slot(s);
	uint32_t first = number(s, MOST), count = number(s, MOST);
	int fd, err;
	bool good;

	if (to->model || !from->model)
		return;
	good = from->fd >= 0 && from->whole && is_complete(from) && count && first < from->count &&
	       count <= from->count - first && s->ranges < LIMIT;
	err = dev_range(s->dev, from->fd, first, count, &fd);
	expect(s, good, err, "RANGE");
	if (!err)
		fill_slot(s, to, from->model, fd, first, count, false);
}

static void end_descriptor(struct state *s)
{
	struct slot *slot = any_slot(s);

	if (!slot->model || slot->fd < 0)
		return;
	close(slot->fd);
	slot->fd = -1;
	empty_slot(s, slot);
}

static void reg(struct state *s)
{
	const uint64_t off = number(s, MOST * GRANTER_PAGE), len = number(s, MOST * GRANTER_PAGE);
	struct slot *slot = any_slot(s);
	bool good;

	if (!slot->model || slot->fd < 0 || slot->mr)
		return;
	good = is_complete(slot) && len && off + len <= (uint64_t)slot->count * GRANTER_PAGE;
	slot->mr = ibv_reg_dmabuf_mr(s->both.pair.b.pd, off, len, off % GRANTER_PAGE, slot->fd,
				     VP_ACCESS_ALL);
	expect(s, good, slot->mr ? 0 : errno, "a registration");
}

static void dereg(struct state *s)
{
	struct slot *slot = any_slot(s);

	if (!slot->model || !slot->mr)
		return;
	require(!ibv_dereg_mr(slot->mr), "deregister");
	slot->mr = NULL;
	empty_slot(s, slot);
}

static void open_events(struct state *s)
{
	const uint32_t vectors = number(s, VECTORS + 1);
	uint32_t bad = BAD_REFERENCE;
	struct granted g = s->g;
	int fd, err;
	bool good;

	good = s->events < 0 && vectors && vectors <= VECTORS;
	if (rarely(s)) {
		g.refs = &bad;
		good = false;
	}
	err = ev_open(s->dev, &g, vectors, &fd);
	expect(s, good, err, "EVENTS");
	if (err)
		return;
	s->events = fd;
	for (int i = 0; i < CHANNELS; i++)
		s->watches[i] = -1;
}

static void close_events(struct state *s)
{
	if (s->events >= 0)
		close(s->events);
	s->events = -1;
}

static void watch(struct state *s)
{
	const unsigned int i = by_chance(s, CHANNELS);
	const uint32_t bit = number(s, XEN_IBGRANT_EVENT_BITS);
	int fd = s->channels[i]->fd, err;
	uint32_t name;
	bool good;

	if (s->events < 0)
		return;
	good = bit < XEN_IBGRANT_EVENT_BITS && s->watches[i] < 0;
	if (rarely(s)) {
		fd = by_chance(s, 2) ? s->events : s->dev;
		good = false;
	}
	err = ev_watch(s->events, fd, bit, 0, &name);
	expect(s, good, err, "WATCH");
	if (!err)
		s->watches[i] = name;
}

static void unwatch(struct state *s)
{
	const unsigned int i = by_chance(s, CHANNELS);
	const bool odd = s->watches[i] < 0 || rarely(s);
	const unsigned long name = odd ? XEN_IBGRANT_MAX_WATCHES + (unsigned long)number(s, 100) :
					 (unsigned long)s->watches[i];

	if (s->events < 0)
		return;
	expect(s, !odd, ev_unwatch(s->events, name), "UNWATCH");
	if (!odd)
		s->watches[i] = -1;
}

/* Of the file for events what takes nothing, and may do nothing. */
static void read_events(struct state *s)
{
	struct xen_ibgrant_event_stats stats;
	uint32_t names[8];
	ssize_t got;

	if (s->events < 0)
		return;
	require(!ioctl(s->events, XEN_IBGRANT_EVENT_STATS, &stats), "what has been told");
	got = read(s->events, names, by_chance(s, sizeof(names) + 1));
	require(got > 0 || errno == EAGAIN || errno == EINVAL, "read: %s", strerror(errno));
	ioctl(s->events, XEN_IBGRANT_NOTIFY, (unsigned long)number(s, 3));
}

/* A message, of whose completion the watched CQ tells. */
static void message(struct state *s)
{
	struct vp_end *a = &s->both.pair.a, *b = &s->both.pair.b;
	struct vp_wr w;

	vp_recv(b, 1, 0, 64);
	require(!ibv_req_notify_cq(b->rcq.cq, 0), "arm the CQ");
	vp_send(a, vp_wr(&w, a, IBV_WR_SEND, 0, 64));
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a message");
	vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "its receive");
	require(vp_event(b->channel, opt.deadline_ms), "its event");
}

/* Any call, of whichever file, with octets that mean nothing. Those that would make something are left to others. */
static void nonsense(struct state *s)
{
	static const unsigned long known[] = { XEN_IBGRANT_BIND, XEN_IBGRANT_ADD, XEN_IBGRANT_RANGE,
					       XEN_IBGRANT_NOTIFY, XEN_IBGRANT_EVENT_STATS };
	unsigned long request = known[by_chance(s, ARRAY_SIZE(known))];
	uint32_t octets[64];

	for (size_t i = 0; i < ARRAY_SIZE(octets); i++)
		octets[i] = by_chance(s, 2) ? number(s, 4) : by_chance(s, UINT32_MAX) << 1;
	if (by_chance(s, 2)) /* there is none of such a number */
		request = _IOC(by_chance(s, 4), 'X', 0x59 + by_chance(s, 10), by_chance(s, 256));
	ioctl(by_chance(s, 2) ? s->dev : s->events, request, rarely(s) ? NOWHERE : octets);
}

static void (*const calls[])(struct state *) = {
	create, create, add,         add,   add,   add,     range,       range,   end_descriptor,
	reg,    dereg,  open_events, watch, watch, unwatch, read_events, message, nonsense,
};

static void look(struct state *s)
{
	until_mapped(s->before + s->present + (s->events >= 0));
}

static void begin(struct state *s)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);

	granted_read(&s->g);
	require(s->g.pages > MOST, "more than %u pages", MOST);
	conf.channel = true;
	vp_both_make(&s->both, conf);
	for (int i = 1; i < CHANNELS; i++)
		s->channels[i] = ibv_create_comp_channel(s->both.dev_b.ctx);
	s->channels[0] = s->both.pair.b.channel;
	s->events = -1;
	s->before = mapped();
	s->dev = device_bound(&s->g, LIMIT);
	s->seed = opt.seed;
}

static void end(struct state *s)
{
	close_events(s);
	for (int i = 0; i < SLOTS; i++) {
		if (s->slots[i].mr)
			require(!ibv_dereg_mr(s->slots[i].mr), "deregister");
		if (s->slots[i].model && s->slots[i].fd >= 0)
			close(s->slots[i].fd);
	}
	until_mapped(s->before);
	for (int i = 1; i < CHANNELS; i++)
		ibv_destroy_comp_channel(s->channels[i]);
	close(s->dev);
	vp_both_free(&s->both);
}

static void in_turn(const void *arg)
{
	static struct state s;
	const uint64_t most = opt.count ?: CALLS;

	(void)arg;
	begin(&s);
	for (; s.calls < most; s.calls++) {
		calls[by_chance(&s, ARRAY_SIZE(calls))](&s);
		if (!by_chance(&s, 200))
			close_events(&s);
		if (!(s.calls % 50))
			look(&s);
	}
	end(&s);
}

/* Threads that use the same file and descriptors. No model says how their calls end: nothing may be left of them. */

enum { THREADS = 4 };

struct shared {
	const struct state *s;
	uint64_t seed;
	int *fds; /* of dma-bufs and of a file for events: -1, or taken from here by whoever closes it */
};

static void put_descriptor(struct shared *shared, unsigned int at, int fd)
{
	fd = __atomic_exchange_n(&shared->fds[at], fd, __ATOMIC_SEQ_CST);
	if (fd >= 0)
		close(fd);
}

static int peek(const struct shared *shared, unsigned int at)
{
	return __atomic_load_n(&shared->fds[at], __ATOMIC_SEQ_CST);
}

static void call_at_once(struct state *s, struct shared *shared)
{
	const unsigned int at = 1 + by_chance(s, SLOTS - 1), to = 1 + by_chance(s, SLOTS - 1);
	const uint32_t first = by_chance(s, MOST), count = by_chance(s, MOST);
	uint32_t name;
	int fd = -1;

	switch (by_chance(s, 7)) {
	case 0:
		if (!dev_create(s->dev, 1 + count, 0, &fd))
			put_descriptor(shared, at, fd);
		break;
	case 1:
	case 2:
		dev_add(s->dev, peek(shared, at), by_chance(s, 2) ? 0 : first, s->g.refs,
			1 + count);
		break;
	case 3:
		if (!dev_range(s->dev, peek(shared, at), first, count, &fd))
			put_descriptor(shared, to, fd);
		break;
	case 4:
		put_descriptor(shared, by_chance(s, 8) ? at : 0, -1);
		break;
	case 5:
		if (!ev_open(s->dev, &s->g, VECTORS, &fd))
			put_descriptor(shared, 0, fd);
		break;
	default:
		if (!ev_watch(peek(shared, 0), s->channels[by_chance(s, CHANNELS)]->fd, first, 0,
			      &name))
			ev_unwatch(peek(shared, 0), by_chance(s, 2) ? name : by_chance(s, 4));
	}
}

static void *work(void *arg)
{
	struct shared *shared = arg;
	struct state s = *shared->s;

	s.seed = shared->seed;
	for (uint64_t i = (opt.count ?: CALLS) / THREADS; i; i--)
		call_at_once(&s, shared);
	return NULL;
}

static void at_once(const void *arg)
{
	struct shared shared[THREADS];
	pthread_t threads[THREADS];
	static struct state s;
	int fds[SLOTS];

	(void)arg;
	begin(&s);
	for (int i = 0; i < SLOTS; i++)
		fds[i] = -1;
	for (int i = 0; i < THREADS; i++) {
		shared[i] = (struct shared){ &s, s.seed + i, fds };
		require(!pthread_create(&threads[i], NULL, work, &shared[i]), "thread");
	}
	for (int i = 0; i < THREADS; i++)
		require(!pthread_join(threads[i], NULL), "its end");
	for (int i = 0; i < SLOTS; i++)
		put_descriptor(&shared[0], i, -1);
	end(&s);
}

static const struct check_case cases[] = {
	CHECK_CASE("random", in_turn, "calls by chance, which end as a model says",
		   .on_demand = true, .seconds = 300),
	CHECK_CASE("random-at-once", at_once, "calls by chance, of several threads",
		   .on_demand = true, .seconds = 300),
};

const struct check_table grants_random = { .cases = cases, .count = ARRAY_SIZE(cases) };
