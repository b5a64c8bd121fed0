// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * gauge: how long commands and messages take in one guest, to be compared while another one does this or that.
 *
 * In turns, a registration of memory, which goes to dom0 and back, and a few messages to itself, polled for, with which
 * nobody but the HCA has to do. Clocks are slow in some guests, so messages are timed a few at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "verbs_pair.h"

#define STANDARD_COUNT 200
#define MESSAGES 20
#define MOST_MS 20000

struct samples {
	unsigned int n;
	double *us;
};

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void say(const char *what, struct samples *s)
{
	qsort(s->us, s->n, sizeof(s->us[0]), compare);
	printf("%s %u p50 %.0f p99 %.0f max %.0f\n", what, s->n, s->us[s->n / 2],
	       s->us[s->n * 99 / 100], s->us[s->n - 1]);
}

static double registration(struct vp_end *end)
{
	double begun = now_us(), us;
	struct ibv_mr *mr = ibv_reg_mr(end->pd, end->buf, 4096, VP_ACCESS_ALL);

	us = now_us() - begun;
	require(mr, "register memory");
	require(!ibv_dereg_mr(mr), "deregister it");
	return us;
}

static double message(struct vp_pair *pair)
{
	double begun = now_us();
	struct ibv_wc wc;
	struct vp_wr w;
	int i;

	for (i = 0; i < MESSAGES; i++) {
		vp_recv(&pair->b, i, 0, 8);
		vp_send(&pair->a, vp_wr(&w, &pair->a, IBV_WR_SEND, 0, 8));
		require(vp_poll_for(&pair->b.rcq, &wc, opt.deadline_ms), "a message comes");
		require(vp_poll_for(&pair->a.scq, &wc, opt.deadline_ms), "it was sent");
	}
	return (now_us() - begun) / MESSAGES;
}

static void run(const void *arg)
{
	unsigned int count = opt.count ? opt.count : STANDARD_COUNT;
	struct samples commands = { 0 }, messages = { 0 };
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	uint64_t until = now_ms() + MOST_MS;
	struct vp_pair pair;
	struct vp_dev dev;

	(void)arg;
	commands.us = calloc(count, sizeof(double));
	messages.us = calloc(count, sizeof(double));
	require(commands.us && messages.us, "memory");
	vp_open(&dev, 0);
	vp_pair_make(&pair, &dev, &dev, &conf);
	while (commands.n < count && now_ms() < until) {
		commands.us[commands.n++] = registration(&pair.a);
		messages.us[messages.n++] = message(&pair);
	}
	vp_pair_free(&pair);
	vp_close(&dev);
	say("commands", &commands);
	say("messages", &messages);
}

static const struct check_case cases[] = {
	CHECK_CASE("latency", run,
		   "microseconds of --count commands and messages, or as many as there are in 20 s",
		   .seconds = 120),
};

int main(int argc, char **argv)
{
	return check_main(argc, argv, "How long commands and messages take.", cases,
			  ARRAY_SIZE(cases));
}
