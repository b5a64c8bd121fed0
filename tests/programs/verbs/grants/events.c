// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion events that xen-ibgrant tells a guest of: what it refuses, and in what order things may end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "grants.h"

#define BIT 77u /* of the page, for what takes the guest's side */
#define SLOT 64

static struct xen_ibgrant_event_stats ev_stats(int fd)
{
	struct xen_ibgrant_event_stats stats;

	require(!ioctl(fd, XEN_IBGRANT_EVENT_STATS, &stats), "what has been told");
	return stats;
}

/* Those of the watches that have something unread. */
static int ev_read(int fd, uint32_t *watches, unsigned int n)
{
	ssize_t got = read(fd, watches, n * sizeof(*watches));

	return got < 0 ? -errno : (int)(got / (ssize_t)sizeof(*watches));
}

static bool is_readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

struct setup {
	struct granted g;
	struct vp_both both;
	int dev, events;
};

static void setup_open(struct setup *s)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);

	granted_read(&s->g);
	conf.channel = true;
	vp_both_make(&s->both, conf);
	s->dev = device_bound(&s->g, s->g.pages);
	require(!ev_open(s->dev, &s->g, 2, &s->events), "a file for events");
}

static void setup_close(struct setup *s)
{
	close(s->events);
	close(s->dev);
	vp_both_free(&s->both);
}

static struct vp_end *receiver(struct setup *s)
{
	return &s->both.pair.b;
}

/* One message, for which the receiver's CQ was armed; or (rings) not. */
static void message(struct setup *s, bool rings)
{
	struct vp_end *a = &s->both.pair.a, *b = receiver(s);
	struct vp_wr w;

	vp_recv(b, 1, 0, SLOT);
	if (rings)
		require(!ibv_req_notify_cq(b->rcq.cq, 0), "arm the CQ");
	vp_send(a, vp_wr(&w, a, IBV_WR_SEND, 0, SLOT));
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a message");
	vp_expect(&b->rcq, 1, IBV_WC_SUCCESS, "its receive");
}

/* One with its event, which is read here, so that the CQ can be armed again; the module is not told of that. */
static void event(struct setup *s)
{
	message(s, true);
	require(vp_event(receiver(s)->channel, opt.deadline_ms), "its event");
}

/* Until the module has heard of so many. */
static void until_heard(struct setup *s, uint64_t events)
{
	uint64_t until = now_ms() + opt.deadline_ms;

	while (ev_stats(s->events).completions < events && now_ms() < until)
		usleep(1000);
	check(ev_stats(s->events).completions == events, "%lu events are heard of (%lu)",
	      (unsigned long)events, (unsigned long)ev_stats(s->events).completions);
}

static void events_refused(const void *arg)
{
	struct granted g, bad;
	int dev, fd, more;

	(void)arg;
	granted_read(&g);
	dev = device_open();
	REFUSED(ev_open(dev, &g, 1, &fd), EPERM, "events of a file that is not bound");
	require(!dev_bind(dev, g.domid, 0, 1), "bind it");
	REFUSED(ev_open(dev, &g, 0, &fd), EINVAL, "no vectors");
	REFUSED(ev_open(dev, &g, XEN_IBGRANT_MAX_VECTORS + 1, &fd), EINVAL, "too many");
	REFUSED(ioctl(dev, XEN_IBGRANT_EVENTS, 8) < 0 ? errno : 0, EFAULT, "no memory");
	bad = g;
	bad.refs = &(uint32_t){ 0xfffffff0 };
	for (int i = 0; i < 200; i++)
		REFUSED(ev_open(dev, &bad, 1, &fd), EINVAL, "a bad reference");
	bad = g;
	bad.ports[1] = 0xffff;
	for (int i = 0; i < 200; i++)
		check(ev_open(dev, &bad, 2, &fd), "a port that there is not");
	bad.ports[1] = bad.ports[0];
	REFUSED(ev_open(dev, &bad, 2, &fd), EINVAL, "one port twice");
	require(!ev_open(dev, &g, 2, &fd), "events");
	REFUSED(ev_open(dev, &g, 2, &more), EBUSY, "and once more");
	REFUSED(ioctl(fd, XEN_IBGRANT_CREATE, &more) ? errno : 0, ENOTTY, "a dma-buf of that");
	close(dev); /* the file lives on */
	REFUSED(ioctl(fd, XEN_IBGRANT_NOTIFY, 2ul) ? errno : 0, EINVAL, "a vector too many");
	require(!ioctl(fd, XEN_IBGRANT_NOTIFY, 1ul), "notify the last one");
	REFUSED(ioctl(fd, XEN_IBGRANT_EVENT_STATS, 8) ? errno : 0, EFAULT, "no memory");
	REFUSED(ev_unwatch(fd, 0), ENOENT, "no watch");
	REFUSED(ev_unwatch(fd, 1ul << 40), ENOENT, "no watch");
	REFUSED(-ev_read(fd, (uint32_t[4]){ 0 }, 4), EAGAIN, "nothing to read");
	REFUSED(-ev_read(fd, (uint32_t[1]){ 0 }, 0), EINVAL, "read into nothing");
	check(!is_readable(fd, 0), "it is not readable");
	close(fd);
}

/* Files that are no channels: none is watched, and none is the worse for it. */
static void watch_refused(const void *arg)
{
	int fds[8], own[2], n = 0, i;
	struct setup s = { 0 };
	uint32_t watch;

	(void)arg;
	setup_open(&s);
	require(!pipe(own) && !socketpair(AF_UNIX, SOCK_STREAM, 0, fds), "pipe, sockets");
	n = 2;
	fds[n++] = own[0];
	fds[n++] = eventfd(0, 0);
	fds[n++] = epoll_create1(0);
	fds[n++] = open("/dev/null", O_RDWR);
	fds[n++] = s.dev;
	fds[n++] = s.both.dev_b.ctx->cmd_fd;
	for (i = 0; i < n; i++)
		REFUSED(ev_watch(s.events, fds[i], BIT, 0, &watch), EINVAL, "no channel");
	REFUSED(ev_watch(s.events, s.events, BIT, 0, &watch), EINVAL, "itself");
	REFUSED(ev_watch(s.events, -1, BIT, 0, &watch), EBADF, "no descriptor");
	i = receiver(&s)->channel->fd;
	REFUSED(ev_watch(s.events, i, XEN_IBGRANT_EVENT_BITS, 0, &watch), EINVAL,
		"a bit behind the page");
	REFUSED(ev_watch(s.events, i, UINT32_MAX, 0, &watch), EINVAL, "a bit behind the page");
	REFUSED(ev_watch(s.events, i, BIT, 2, &watch), EINVAL, "a vector too many");
	REFUSED(ioctl(s.events, XEN_IBGRANT_WATCH, 8) ? errno : 0, EFAULT, "no memory");
	check(write(own[1], "x", 1) == 1 && !ev_stats(s.events).completions, "nothing is heard");
	setup_close(&s);
}

/* One event is told once: the bit, the vector's channel. What is unread is taken once. */
static void told(const void *arg)
{
	struct xen_ibgrant_event_stats stats;
	uint32_t watch, got[4];
	struct setup s = { 0 };
	uint64_t count;

	(void)arg;
	setup_open(&s);
	require(!ev_watch(s.events, receiver(&s)->channel->fd, BIT, 1, &watch), "watch a channel");
	message(&s, false);
	check(!is_readable(s.events, 100) && !ev_stats(s.events).completions,
	      "nobody has asked for an event");
	message(&s, true);
	until_heard(&s, 1);
	check(ev_read(s.events, got, 4) == 1 && got[0] == watch, "the watch has something to read");
	check(ev_read(s.events, got, 4) == -EAGAIN, "once");
	stats = ev_stats(s.events);
	/* The time may be 0: the clock of a Xen guest with several CPUs stands still where one is ahead of the others. */
	check(stats.completions == 1 && stats.notified.count == 1 &&
		      stats.notified.sum_ns == stats.notified.max_ns,
	      "an event is notified: %llu heard of, %llu told, %llu ns, %llu at most",
	      (unsigned long long)stats.completions, (unsigned long long)stats.notified.count,
	      (unsigned long long)stats.notified.sum_ns, (unsigned long long)stats.notified.max_ns);
	count = 0;
	for (int i = 0; i < XEN_IBGRANT_BUCKETS; i++)
		count += stats.notified.buckets[i];
	check(count == 1, "and its time is counted");
	require(vp_event(receiver(&s)->channel, opt.deadline_ms), "the event is still there");
	/* None of it after its end, and all of it by the next watch, which has another bit. */
	require(!ev_unwatch(s.events, watch), "end it");
	REFUSED(ev_unwatch(s.events, watch), ENOENT, "end it again");
	message(&s, true);
	require(vp_event(receiver(&s)->channel, opt.deadline_ms), "an event of no watch");
	check(ev_stats(s.events).completions == 1, "of which nothing is heard");
	require(!ev_watch(s.events, receiver(&s)->channel->fd, BIT + 1, 0, &watch), "a new watch");
	message(&s, true);
	until_heard(&s, 2);
	check(ev_read(s.events, got, 4) == 1 && got[0] == watch, "it has something to read");
	check(ev_stats(s.events).notified.count == 2, "and is notified");
	setup_close(&s);
}

/* Who reads the channels is woken when much is unread, and not before. */
static void much(const void *arg)
{
	struct setup s = { 0 };
	uint32_t watch, got[4];

	(void)arg;
	setup_open(&s);
	require(!ev_watch(s.events, receiver(&s)->channel->fd, BIT, 0, &watch), "watch a channel");
	for (int round = 1; round <= 2; round++) {
		for (uint64_t i = 1; i < XEN_IBGRANT_MUCH_UNREAD; i++)
			event(&s);
		until_heard(&s, round * (uint64_t)XEN_IBGRANT_MUCH_UNREAD - 1);
		check(!is_readable(s.events, 100), "one less than much is unread");
		event(&s);
		check(is_readable(s.events, (int)opt.deadline_ms), "much is unread");
		check(ev_read(s.events, got, 4) == 1 && got[0] == watch, "by the watch");
		check(!is_readable(s.events, 0), "and has been taken");
	}
	setup_close(&s);
}

/* A channel has one watch, by whatever descriptor: an event does not cost more than that. */
static void watch_once(const void *arg)
{
	uint32_t watch, twice, got[4];
	struct setup s = { 0 };
	int fd, copy, i;

	(void)arg;
	setup_open(&s);
	fd = receiver(&s)->channel->fd;
	copy = dup(fd);
	require(!ev_watch(s.events, fd, BIT, 0, &watch), "watch a channel");
	for (i = 0; i < 200; i++)
		REFUSED(ev_watch(s.events, i & 1 ? fd : copy, BIT + 1, 1, &twice), EBUSY,
			"watch it again");
	message(&s, true);
	until_heard(&s, 1);
	check(ev_read(s.events, got, 4) == 1 && got[0] == watch,
	      "the one watch has something to read");
	require(!ev_unwatch(s.events, watch), "end it");
	require(!ev_watch(s.events, copy, BIT, 0, &watch), "and watch the channel again");
	close(copy);
	REFUSED(ev_watch(s.events, fd, BIT, 0, &twice), EBUSY, "by its other descriptor");
	setup_close(&s);
}

/* What is there already when the watch begins is told of. */
static void late(const void *arg)
{
	struct setup s = { 0 };
	uint32_t watch;

	(void)arg;
	setup_open(&s);
	message(&s, true);
	require(is_readable(receiver(&s)->channel->fd, (int)opt.deadline_ms), "an event");
	require(!ev_watch(s.events, receiver(&s)->channel->fd, BIT, 0, &watch), "watch it");
	check(ev_stats(s.events).completions == 1, "it is told of");
	require(vp_event(receiver(&s)->channel, 0), "read it");
	setup_close(&s);
}

/* A channel whose descriptor, CQs and context end before its watch does, in each order; and a watch that ends in traffic. */
static void ends(const void *arg)
{
	struct ibv_comp_channel *channel;
	struct ibv_context *ctx;
	uint32_t watch, got[4];
	struct setup s = { 0 };
	struct ibv_cq *cq;
	uint64_t heard;

	(void)arg;
	setup_open(&s);
	for (int round = 0; round < 40; round++) {
		ctx = ibv_open_device(s.both.dev_b.ctx->device);
		require(ctx, "a context");
		channel = ibv_create_comp_channel(ctx);
		cq = channel ? ibv_create_cq(ctx, 8, NULL, channel, 0) : NULL;
		require(cq, "a CQ");
		require(!ev_watch(s.events, channel->fd, BIT, 0, &watch), "watch its channel");
		if (round & 1)
			require(!ibv_destroy_cq(cq) && !ibv_destroy_comp_channel(channel),
				"CQ and channel end");
		if (round & 2)
			require(!ev_unwatch(s.events, watch), "so does the watch");
		if (round & 4)
			close(ctx->cmd_fd), ctx->cmd_fd = dup(s.events);
		if (round & 1)
			ibv_close_device(ctx);
		else if (!(round & 2))
			ev_read(s.events, got, 4);
	}
	heard = ev_stats(s.events).completions; /* also of channels that have ended */
	require(!ev_watch(s.events, receiver(&s)->channel->fd, BIT, 0, &watch), "and a good one");
	message(&s, true);
	until_heard(&s, heard + 1);
	require(vp_event(receiver(&s)->channel, opt.deadline_ms), "it is read");
	close(s.dev); /* before what it has made */
	s.dev = open("/dev/null", O_RDONLY);
	setup_close(&s);
}

struct toggler {
	int events, channel;
	volatile bool stop;
	unsigned long rounds;
};

static void *toggle(void *arg)
{
	struct toggler *t = arg;
	uint32_t watch, got[64];
	int err;

	while (!t->stop) {
		err = ev_watch(t->events, t->channel, t->rounds % 4096, t->rounds % 2, &watch);
		require(!err || err == EBUSY, "watch it, or another thread does");
		ev_read(t->events, got, 64);
		if (err)
			continue;
		require(!ev_unwatch(t->events, watch), "end that");
		t->rounds++;
	}
	return NULL;
}

/* Watches begin and end while the channel has events. */
static void in_traffic(const void *arg)
{
	enum { THREADS = 3, MESSAGES = 1000 };
	struct toggler t[THREADS];
	pthread_t threads[THREADS];
	struct setup s = { 0 };

	(void)arg;
	setup_open(&s);
	for (int i = 0; i < THREADS; i++) {
		t[i] = (struct toggler){ s.events, receiver(&s)->channel->fd, false, 0 };
		require(!pthread_create(&threads[i], NULL, toggle, &t[i]), "thread");
	}
	for (int i = 0; i < MESSAGES; i++)
		event(&s);
	for (int i = 0; i < THREADS; i++) {
		t[i].stop = true;
		require(!pthread_join(threads[i], NULL), "its end");
		check(t[i].rounds > 10, "it has had its turn");
	}
	note("%lu of %d events were watched", (unsigned long)ev_stats(s.events).completions,
	     MESSAGES);
	setup_close(&s);
}

/* One message after another to a CQ that is watched, for others to kill this. */
static void hold_events(const void *arg)
{
	struct setup s = { 0 };
	uint32_t watch;

	(void)arg;
	setup_open(&s);
	require(!ev_watch(s.events, receiver(&s)->channel->fd, BIT, 0, &watch), "watch a channel");
	message(&s, true);
	until_heard(&s, 1);
	puts("ringing");
	fflush(stdout);
	for (;;) {
		require(vp_event(receiver(&s)->channel, opt.deadline_ms), "its event");
		message(&s, true);
	}
}

static const struct check_case cases[] = {
	CHECK_CASE("events-refused", events_refused, "bad pages, channels, numbers"),
	CHECK_CASE("watch-refused", watch_refused, "files that are no channels"),
	CHECK_CASE("told", told, "an event is told once, and by no watch that has ended"),
	CHECK_CASE("much", much, "who reads is woken when much is unread, not before"),
	CHECK_CASE("watch-once", watch_once, "a channel that has a watch gets no other"),
	CHECK_CASE("late", late, "an event that was there before the watch"),
	CHECK_CASE("ends", ends, "channels and contexts that end before their watch"),
	CHECK_CASE("in-traffic", in_traffic, "watches that begin and end while there are events",
		   .seconds = 120),
	CHECK_CASE("hold-events", hold_events, "events until somebody kills this",
		   .on_demand = true, .seconds = 600),
};

const struct check_table grants_events = { .cases = cases, .count = ARRAY_SIZE(cases) };
