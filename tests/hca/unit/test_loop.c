// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include <sys/epoll.h>

#include "loop.h"
#include "unit.h"

static struct loop *loop;
static unsigned int order[64], order_count;

static void note(unsigned int what)
{
	if (order_count < 64)
		order[order_count++] = what;
}

static void fresh(void)
{
	loop = loop_new();
	REQUIRE(loop);
	order_count = 0;
}

struct numbered_timer {
	struct loop_timer timer;
	unsigned int number;
};

static void timer_note(struct loop_timer *timer)
{
	note(((struct numbered_timer *)timer)->number);
}

TEST(timers_fire_in_order_of_deadline)
{
	struct numbered_timer t[5] = { 0 };
	static const uint64_t delay[5] = { 500, 100, 400, 200, 300 };

	fresh();
	loop_clock_advance(loop, 0);
	for (unsigned int i = 0; i < 5; i++) {
		t[i].timer.handler = timer_note;
		t[i].number = i;
		loop_timer_set(loop, &t[i].timer, delay[i]);
	}
	CHECK_EQ(loop_turn(loop, 0), 0);
	loop_clock_advance(loop, 99);
	CHECK_EQ(loop_turn(loop, 0), 0);
	loop_clock_advance(loop, 1);
	CHECK_EQ(loop_turn(loop, 0), 1);
	loop_timer_cancel(loop, &t[3].timer);
	CHECK(!loop_timer_pending(&t[3].timer));
	loop_clock_advance(loop, 400);
	CHECK_EQ(loop_turn(loop, 0), 3);
	CHECK_EQ(order[0], 1);
	CHECK_EQ(order[1], 4);
	CHECK_EQ(order[2], 2);
	CHECK_EQ(order[3], 0);
	loop_free(loop);
}

TEST(a_timer_set_again_moves)
{
	struct numbered_timer t = { .timer.handler = timer_note, .number = 7 };

	fresh();
	loop_clock_advance(loop, 0);
	loop_timer_set(loop, &t.timer, 10);
	loop_timer_set(loop, &t.timer, 1000);
	loop_clock_advance(loop, 10);
	CHECK_EQ(loop_turn(loop, 0), 0);
	loop_timer_set(loop, &t.timer, UINT64_MAX);
	loop_clock_advance(loop, 1ull << 50);
	CHECK_EQ(loop_turn(loop, 0), 0);
	loop_timer_set(loop, &t.timer, 0);
	CHECK_EQ(loop_turn(loop, 0), 1);
	CHECK(!loop_timer_pending(&t.timer));
	loop_free(loop);
}

TEST(many_timers_come_and_go)
{
	enum { N = 3000 };
	struct numbered_timer *t = calloc(N, sizeof(*t));
	uint64_t last = 0;
	int fired = 0;

	REQUIRE(t);
	fresh();
	loop_clock_advance(loop, 0);
	srand(1);
	for (int i = 0; i < N; i++) {
		t[i].timer.handler = timer_note;
		loop_timer_set(loop, &t[i].timer, (uint64_t)(rand() % 10000));
	}
	for (int i = 0; i < N; i += 3)
		loop_timer_cancel(loop, &t[i].timer);
	for (int i = 1; i < N; i += 3)
		loop_timer_set(loop, &t[i].timer, (uint64_t)(rand() % 10000));
	for (int step = 0; step < 10001; step++) {
		fired += loop_turn(loop, 0);
		for (int i = 0; i < N; i++)
			if (loop_timer_pending(&t[i].timer) && t[i].timer.deadline < last)
				CHECK(!"a due timer did not fire");
		last = loop_now(loop);
		loop_clock_advance(loop, 1);
	}
	CHECK_EQ(fired, N - N / 3);
	free(t);
	loop_free(loop);
}

TEST(the_clock_shortens_the_wait)
{
	struct numbered_timer t = { .timer.handler = timer_note, .number = 1 };
	uint64_t start;

	fresh();
	start = loop_now(loop);
	loop_timer_set(loop, &t.timer, 300000);
	while (!order_count)
		REQUIRE(loop_turn(loop, 5000) >= 0);
	CHECK(loop_now(loop) - start >= 300000);
	CHECK(loop_now(loop) - start < 3000000000ull);
	loop_free(loop);
}

struct chain {
	struct loop_work work;
	unsigned int number, again;
	struct loop_work *cancel;
};

static void chain_run(struct loop_work *work)
{
	struct chain *c = (struct chain *)work;

	note(c->number);
	if (c->cancel)
		loop_work_cancel(c->cancel);
	if (c->again) {
		c->again--;
		loop_work_queue(loop, work);
	}
}

TEST(work_runs_once_a_turn_in_order)
{
	struct chain c[3] = { 0 };

	fresh();
	for (unsigned int i = 0; i < 3; i++) {
		c[i].work.handler = chain_run;
		c[i].number = i;
		loop_work_queue(loop, &c[i].work);
		loop_work_queue(loop, &c[i].work);
	}
	c[0].again = 1;
	CHECK_EQ(loop_turn(loop, -1), 3);
	CHECK(loop_work_pending(&c[0].work));
	CHECK_EQ(loop_turn(loop, -1), 1);
	CHECK_EQ(order_count, 4);
	CHECK_EQ(order[0], 0);
	CHECK_EQ(order[1], 1);
	CHECK_EQ(order[2], 2);
	CHECK_EQ(order[3], 0);
	CHECK_EQ(loop_turn(loop, 0), 0);
	loop_free(loop);
}

TEST(work_can_cancel_other_work)
{
	struct chain c[3] = { 0 };

	fresh();
	for (unsigned int i = 0; i < 3; i++) {
		c[i].work.handler = chain_run;
		c[i].number = i;
		loop_work_queue(loop, &c[i].work);
	}
	c[0].cancel = &c[2].work;
	CHECK_EQ(loop_turn(loop, 0), 2);
	CHECK(!loop_work_pending(&c[2].work));
	loop_work_queue(loop, &c[1].work);
	loop_work_queue(loop, &c[2].work);
	loop_work_cancel(&c[2].work);
	loop_work_queue(loop, &c[0].work);
	CHECK_EQ(loop_turn(loop, 0), 2);
	CHECK_EQ(order[2], 1);
	CHECK_EQ(order[3], 0);
	loop_free(loop);
}

struct pipe_fd {
	struct loop_fd fd;
	int other;
	struct pipe_fd *kill;
	unsigned int calls;
};

static void pipe_ready(struct loop_fd *fd, uint32_t events)
{
	struct pipe_fd *p = (struct pipe_fd *)fd;
	char c;

	CHECK(events & EPOLLIN);
	CHECK_EQ(read(fd->fd, &c, 1), 1);
	p->calls++;
	if (p->kill)
		loop_fd_del(loop, &p->kill->fd);
}

static void pipe_open(struct pipe_fd *p)
{
	int fds[2];

	REQUIRE_EQ(pipe(fds), 0);
	p->fd.fd = fds[0];
	p->fd.handler = pipe_ready;
	p->other = fds[1];
	REQUIRE_EQ(loop_fd_add(loop, &p->fd, EPOLLIN), 0);
}

TEST(a_removed_descriptor_is_not_handled)
{
	struct pipe_fd a = { 0 }, b = { 0 };

	fresh();
	pipe_open(&a);
	pipe_open(&b);
	a.kill = &b;
	b.kill = &a;
	CHECK_EQ(write(a.other, "x", 1), 1);
	CHECK_EQ(write(b.other, "x", 1), 1);
	CHECK_EQ(loop_turn(loop, 1000), 1);
	CHECK_EQ(a.calls + b.calls, 1);
	CHECK_EQ(loop_turn(loop, 0), 0);
	close(a.fd.fd);
	close(a.other);
	close(b.fd.fd);
	close(b.other);
	loop_free(loop);
}

static void stopper(struct loop_timer *timer)
{
	(void)timer;
	loop_stop(loop);
}

TEST(run_ends_at_stop)
{
	struct loop_timer t = { .handler = stopper };

	fresh();
	loop_timer_set(loop, &t, 1000);
	CHECK_EQ(loop_run(loop), 0);
	loop_free(loop);
}

TEST(a_loop_at_rest_starts_over)
{
	struct numbered_timer t = { .timer.handler = timer_note };
	struct chain c = { .work.handler = chain_run };

	fresh();
	loop_clock_advance(loop, 1000);
	loop_timer_set(loop, &t.timer, 10);
	CHECK(!loop_restart(loop));
	loop_timer_cancel(loop, &t.timer);
	loop_work_queue(loop, &c.work);
	CHECK(!loop_restart(loop));
	loop_work_cancel(&c.work);
	CHECK(loop_restart(loop));
	CHECK_EQ(loop_now(loop), 0);
	loop_free(loop);
}
