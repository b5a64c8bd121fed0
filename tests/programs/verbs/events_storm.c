// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Thousands of messages to a receiver that sleeps between them. The sender pauses for a random while, so that
 * messages fall
 * before, into and behind every step of arming, polling and sleeping: an event that is lost shows as a
 * receiver which never
 * wakes.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "events.h"

#define STANDARD_COUNT 2000
#define WINDOW 16 /* messages that may be under way */
#define SLOT 64

struct storm {
	struct vp_both bell;
	unsigned long count;
	int solicited_only;
	unsigned long woken; /* how often the receiver had to sleep */
};

static unsigned long storm_count(void)
{
	return opt.count ? opt.count : STANDARD_COUNT;
}

void storm_pause(unsigned int *state)
{
	int kind = rand_r(state) % 8;
	struct timespec pause = { .tv_nsec = rand_r(state) % 300000 };
	volatile int spin;

	if (kind == 0) {
		nanosleep(&pause, NULL);
	} else if (kind < 4) {
		for (spin = rand_r(state) % 4000; spin > 0; spin--)
			;
	}
}

/* Sends @count messages, of which no more than the window are under way; sleeps for its own completions too. */
static void *sender(void *arg)
{
	struct storm *s = arg;
	struct vp_end *a = &s->bell.pair.a;
	unsigned int state = opt.seed;
	unsigned long posted = 0, done = 0;
	struct ibv_wc wc;
	struct vp_wr w;

	while (done < s->count) {
		while (posted < s->count && posted - done < WINDOW) {
			vp_wr(&w, a, IBV_WR_SEND, posted % WINDOW * SLOT, SLOT);
			memcpy(a->buf + posted % WINDOW * SLOT, &posted, sizeof(posted));
			w.wr.send_flags |= s->solicited_only ? IBV_SEND_SOLICITED : 0;
			vp_send(a, &w.wr);
			posted++;
			storm_pause(&state);
		}
		errno = ibv_req_notify_cq(a->scq.cq, 0);
		require(!errno, "arm the send CQ");
		if (!vp_poll(&a->scq, &wc)) {
			require(vp_event(a->channel, opt.deadline_ms),
				"the sender is woken (%lu of %lu done)", done, s->count);
			continue;
		}
		do {
			require(wc.status == IBV_WC_SUCCESS, "message %lu is sent (got \"%s\")",
				done, ibv_wc_status_str(wc.status));
			done++;
		} while (vp_poll(&a->scq, &wc));
	}
	return NULL;
}

/* Polls until the CQ is empty, checks the number in each message, and posts its receive anew. */
static unsigned long take_all(struct storm *s, unsigned long taken)
{
	struct vp_end *b = &s->bell.pair.b;
	unsigned long number;
	struct ibv_wc wc;

	while (vp_poll(&b->rcq, &wc)) {
		require(wc.status == IBV_WC_SUCCESS, "message %lu arrives (got \"%s\")", taken,
			ibv_wc_status_str(wc.status));
		memcpy(&number, b->buf + wc.wr_id * SLOT, sizeof(number));
		require(number == taken, "messages arrive in order (%lu, not %lu)", number, taken);
		taken++;
		vp_recv(b, wc.wr_id, wc.wr_id * SLOT, SLOT);
	}
	return taken;
}

static void receiver(struct storm *s)
{
	struct vp_end *b = &s->bell.pair.b;
	unsigned long taken = 0, before;

	while (taken < s->count) {
		errno = ibv_req_notify_cq(b->rcq.cq, s->solicited_only);
		require(!errno, "arm the receive CQ");
		before = taken;
		taken = take_all(s, taken);
		if (taken != before)
			continue;
		require(vp_event(b->channel, opt.deadline_ms),
			"the receiver is woken (%lu of %lu taken)", taken, s->count);
		s->woken++;
	}
}

static void storm(int solicited_only)
{
	struct storm s = { .count = storm_count(), .solicited_only = solicited_only };
	pthread_t thread;
	int i;

	bell_make(&s.bell);
	/* More receives than messages under way: the sender never has to wait for one. */
	for (i = 0; i < 2 * WINDOW; i++)
		vp_recv(&s.bell.pair.b, i, i * SLOT, SLOT);
	require(!pthread_create(&thread, NULL, sender, &s), "start the sender");
	receiver(&s);
	require(!pthread_join(thread, NULL), "end the sender");
	note("%lu messages, the receiver slept %lu times", s.count, s.woken);
	vp_both_free(&s.bell);
}

static void storm_all(const void *arg)
{
	(void)arg;
	storm(0);
}

static void storm_solicited(const void *arg)
{
	(void)arg;
	storm(1);
}

/* A message goes to and fro, and both sides sleep for it: every single one depends on its event. */
static void ping_pong(const void *arg)
{
	unsigned long i, count = storm_count() / 2;
	struct vp_both bell;
	struct vp_end *to, *from;
	struct ibv_wc wc;
	struct vp_wr w;

	(void)arg;
	bell_make(&bell);
	for (i = 0; i < count; i++) {
		from = i % 2 ? &bell.pair.b : &bell.pair.a;
		to = from->peer;
		vp_recv(to, i, 0, SLOT);
		errno = ibv_req_notify_cq(to->rcq.cq, 0);
		require(!errno, "arm the receive CQ");
		vp_send(from, vp_wr(&w, from, IBV_WR_SEND, 0, SLOT));
		require(vp_event(to->channel, opt.deadline_ms) == to->rcq.cq,
			"message %lu of %lu rings", i, count);
		vp_expect(&to->rcq, i, IBV_WC_SUCCESS, "the receive");
		require(vp_poll_for(&from->scq, &wc, opt.deadline_ms), "the send completes");
	}
	vp_both_free(&bell);
}

static const struct check_case cases[] = {
	CHECK_CASE("storm", storm_all, "--count messages with random pauses: every event arrives",
		   .seconds = 600),
	CHECK_CASE("storm-solicited", storm_solicited,
		   "--count messages to a CQ that is armed for solicited", .seconds = 600),
	CHECK_CASE("storm-ping-pong", ping_pong, "to and fro, each message wakes a sleeper",
		   .seconds = 600),
};

const struct check_table events_storm = { .cases = cases, .count = ARRAY_SIZE(cases) };
