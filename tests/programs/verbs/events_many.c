// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages across many CQs: one thread sends on all of them, one receives, each sleeps whenever it has nothing to do.
 *
 * Which queue a message goes to, and the pauses, are random, so that messages of one queue fall before, into and behind
 * each step of arming, polling and sleeping for the others. An event that is lost shows as a thread that never wakes
 * again although messages are under way; of those that came, each has the number that was to be next in its queue.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"

#define LANES 8
#define STANDARD_COUNT 20000
#define WINDOW 8 /* messages of a lane that may be under way */
#define SLOT 64

/* One side of a lane: a CQ, and the channel it rings. */
struct ear {
	struct vp_cq *cq;
	struct ibv_comp_channel *channel;
	bool armed;
	unsigned long heard; /* completions */
};

struct lane {
	struct vp_pair pair;
	struct ear sent, taken;
	unsigned long posted;
};

struct many {
	struct vp_dev dev_a, dev_b;
	struct lane lanes[LANES];
	unsigned long count;
	_Atomic unsigned long sent, taken;
	unsigned long slept; /* by the receiver */
};

static void ear_make(struct ear *ear, struct vp_cq *cq, struct ibv_comp_channel *channel)
{
	*ear = (struct ear){ .cq = cq, .channel = channel };
}

static void arm(struct ear *ear)
{
	if (ear->armed)
		return;
	errno = ibv_req_notify_cq(ear->cq->cq, 0);
	require(!errno, "arm a CQ");
	ear->armed = true;
}

/* Sleeps until one of them rings. Those that rang are to be armed again. */
static void sleep_for(struct ear *const ears[LANES], const struct many *m, const char *who)
{
	struct pollfd fds[LANES];
	int i;

	for (i = 0; i < LANES; i++)
		fds[i] = (struct pollfd){ .fd = ears[i]->channel->fd, .events = POLLIN };
	require(poll(fds, LANES, opt.deadline_ms) > 0,
		"the %s is woken (%lu sent and %lu taken of %lu)", who, m->sent, m->taken,
		m->count);
	for (i = 0; i < LANES; i++)
		if (fds[i].revents && vp_event(ears[i]->channel, 0))
			ears[i]->armed = false;
}

/* Completions of sends. Returns whether there were any. */
static bool hear_sent(struct many *m, struct lane *lane)
{
	unsigned long before = lane->sent.heard;
	struct ibv_wc wc;

	while (vp_poll(lane->sent.cq, &wc)) {
		require(wc.status == IBV_WC_SUCCESS, "message %lu is sent (got \"%s\")",
			lane->sent.heard, ibv_wc_status_str(wc.status));
		lane->sent.heard++;
		m->sent++;
	}
	return lane->sent.heard != before;
}

static bool has_room(const struct lane *lane)
{
	return lane->posted - lane->sent.heard < WINDOW;
}

static void post(struct lane *lane)
{
	struct vp_end *a = &lane->pair.a;
	size_t at = lane->posted % WINDOW * SLOT;
	struct vp_wr w;

	vp_wr(&w, a, IBV_WR_SEND, at, SLOT);
	memcpy(a->buf + at, &lane->posted, sizeof(lane->posted));
	vp_send(a, &w.wr);
	lane->posted++;
}

/* Posts until the lane that is chosen has no room. Returns how many. */
static unsigned long post_some(struct many *m, unsigned int *state, unsigned long left)
{
	unsigned long n = 0;
	struct lane *lane;

	for (; n < left; n++) {
		lane = &m->lanes[rand_r(state) % LANES];
		if (!has_room(lane))
			break;
		post(lane);
		storm_pause(state);
	}
	return n;
}

static void *sender(void *arg)
{
	struct many *m = arg;
	unsigned int state = opt.seed;
	struct ear *ears[LANES];
	unsigned long posted = 0, n;
	bool any;
	int i;

	for (i = 0; i < LANES; i++)
		ears[i] = &m->lanes[i].sent;
	while (m->sent < m->count) {
		n = post_some(m, &state, m->count - posted);
		posted += n;
		any = n;
		for (i = 0; i < LANES; i++) {
			arm(ears[i]);
			any |= hear_sent(m, &m->lanes[i]);
		}
		if (!any)
			sleep_for(ears, m, "sender");
	}
	return NULL;
}

/* Checks the number in each message, and posts its receive anew. */
static bool hear_taken(struct many *m, struct lane *lane)
{
	unsigned long before = lane->taken.heard, number;
	struct vp_end *b = &lane->pair.b;
	struct ibv_wc wc;

	while (vp_poll(lane->taken.cq, &wc)) {
		require(wc.status == IBV_WC_SUCCESS, "message %lu arrives (got \"%s\")",
			lane->taken.heard, ibv_wc_status_str(wc.status));
		memcpy(&number, b->buf + wc.wr_id * SLOT, sizeof(number));
		require(number == lane->taken.heard, "messages arrive in order (%lu, not %lu)",
			number, lane->taken.heard);
		lane->taken.heard++;
		m->taken++;
		vp_recv(b, wc.wr_id, wc.wr_id * SLOT, SLOT);
	}
	return lane->taken.heard != before;
}

static void receiver(struct many *m)
{
	struct ear *ears[LANES];
	bool any;
	int i;

	for (i = 0; i < LANES; i++)
		ears[i] = &m->lanes[i].taken;
	while (m->taken < m->count) {
		any = false;
		for (i = 0; i < LANES; i++) {
			arm(ears[i]);
			any |= hear_taken(m, &m->lanes[i]);
		}
		if (any || m->taken == m->count)
			continue;
		sleep_for(ears, m, "receiver");
		m->slept++;
	}
}

static void lane_make(struct many *m, struct lane *lane)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	int i;

	conf.channel = true;
	vp_pair_make(&lane->pair, &m->dev_a, &m->dev_b, &conf);
	ear_make(&lane->sent, &lane->pair.a.scq, lane->pair.a.channel);
	ear_make(&lane->taken, &lane->pair.b.rcq, lane->pair.b.channel);
	/* More receives than messages under way: hardly ever has a message to be sent again. */
	for (i = 0; i < 2 * WINDOW; i++)
		vp_recv(&lane->pair.b, i, i * SLOT, SLOT);
}

static void storm_many(const void *arg)
{
	static struct many m;
	pthread_t thread;
	int i;

	(void)arg;
	m.count = opt.count ? opt.count : STANDARD_COUNT;
	vp_open_both(&m.dev_a, &m.dev_b);
	for (i = 0; i < LANES; i++)
		lane_make(&m, &m.lanes[i]);
	require(!pthread_create(&thread, NULL, sender, &m), "start the sender");
	receiver(&m);
	require(!pthread_join(thread, NULL), "end the sender");
	note("%lu messages, the receiver slept %lu times", m.count, m.slept);
	for (i = 0; i < LANES; i++)
		vp_pair_free(&m.lanes[i].pair);
	vp_close_both(&m.dev_a, &m.dev_b);
}

static const struct check_case cases[] = {
	/* Whoever asks for millions of messages has his own limit. */
	CHECK_CASE("storm-many", storm_many,
		   "--count messages across 8 CQs, with random pauses: every event arrives",
		   .seconds = 6 * 3600),
};

const struct check_table events_many = { .cases = cases, .count = ARRAY_SIZE(cases) };
