// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xenstore.h>

#include "flood.h"
#include "verbs_pair.h"

#define THREADS 4
#define BELLS 8
#define SPINS 100000
#define BAD_QKEY 0x80000001u /* of those that only the HCA's owner may use */

void flood(flood_fn *fn, void *arg, const char *what)
{
	unsigned long n = fn(arg);
	uint64_t begun = now_ms();

	printf("working\n");
	fflush(stdout);
	while (!told_to_stop(0))
		n += fn(arg);
	printf("%lu %s in %llu ms\n", n, what, (unsigned long long)(now_ms() - begun));
}

/* Several threads at once */

struct crew {
	void (*work)(struct vp_dev *dev);
	struct vp_dev dev;
	_Atomic unsigned long done;
	_Atomic bool stop;
};

static void *work(void *arg)
{
	struct crew *crew = arg;

	while (!crew->stop) {
		crew->work(&crew->dev);
		crew->done++;
	}
	return NULL;
}

/* What the threads have done since the last time. */
static unsigned long look_at_crew(void *arg)
{
	struct crew *crew = arg;
	unsigned long done;

	do
		usleep(20000);
	while (!(done = atomic_exchange(&crew->done, 0)));
	return done;
}

static void flood_by_crew(void (*what_to_do)(struct vp_dev *dev), const char *what)
{
	struct crew crew = { .work = what_to_do };
	pthread_t threads[THREADS];
	int i;

	vp_open(&crew.dev, 0);
	for (i = 0; i < THREADS; i++)
		require(!pthread_create(&threads[i], NULL, work, &crew), "start a thread");
	flood(look_at_crew, &crew, what);
	crew.stop = true;
	for (i = 0; i < THREADS; i++)
		require(!pthread_join(threads[i], NULL), "end a thread");
	vp_close(&crew.dev);
}

static void make_and_unmake(struct vp_dev *dev)
{
	static char pages[4 * 4096] __attribute__((aligned(4096)));
	struct ibv_pd *pd = ibv_alloc_pd(dev->ctx);
	struct ibv_mr *mr;
	struct ibv_cq *cq;

	require(pd, "allocate a PD");
	mr = ibv_reg_mr(pd, pages, sizeof(pages), VP_ACCESS_ALL);
	require(mr, "register memory");
	cq = ibv_create_cq(dev->ctx, 16, NULL, NULL, 0);
	require(cq, "create a CQ");
	require(!ibv_destroy_cq(cq) && !ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd),
		"destroy all of it");
}

static void run_commands(const void *arg)
{
	(void)arg;
	flood_by_crew(make_and_unmake, "times three objects made and destroyed");
}

/* One QP for each thread: it stays in RESET. */
static void ask_for_qkey(struct vp_dev *dev)
{
	static _Thread_local struct vp_end end;
	struct vp_conf conf = vp_conf(IBV_QPT_UD);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = BAD_QKEY };

	if (!end.qp)
		vp_end_make(&end, dev, NULL, &conf);
	require(ibv_modify_qp(end.qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		"a controlled Q_Key is refused");
}

static void run_refused(const void *arg)
{
	(void)arg;
	flood_by_crew(ask_for_qkey, "commands refused");
}

/* Completion events */

static unsigned long ring_all(void *arg)
{
	struct vp_pair *bells = arg;
	struct ibv_wc wc;
	struct vp_wr w;
	int i;

	for (i = 0; i < BELLS; i++) {
		vp_recv(&bells[i].b, 0, 0, 8);
		errno = ibv_req_notify_cq(bells[i].b.rcq.cq, 0);
		require(!errno, "arm a CQ");
		vp_send(&bells[i].a, vp_wr(&w, &bells[i].a, IBV_WR_SEND, 0, 8));
	}
	for (i = 0; i < BELLS; i++) {
		require(vp_event(bells[i].b.channel, opt.deadline_ms), "an event comes");
		require(vp_poll_for(&bells[i].b.rcq, &wc, opt.deadline_ms), "the message is there");
		require(vp_poll_for(&bells[i].a.scq, &wc, opt.deadline_ms), "it was sent");
	}
	return BELLS;
}

static void run_completions(const void *arg)
{
	static struct vp_pair bells[BELLS];
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vp_dev dev;
	int i;

	(void)arg;
	conf.channel = true;
	vp_open(&dev, 0);
	for (i = 0; i < BELLS; i++)
		vp_pair_make(&bells[i], &dev, &dev, &conf);
	flood(ring_all, bells, "completion events");
	for (i = 0; i < BELLS; i++)
		vp_pair_free(&bells[i]);
	vp_close(&dev);
}

/* Xenstore */

static const struct {
	const char *node, *value;
} writes[] = {
	{ "device/vhca/0/state", "4" }, /* which the daemon watches; it is in that state */
	{ "device/vhca/0/nonsense", "4" },
};

static unsigned long write_nodes(void *xs)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(writes); i++)
		require(xs_write(xs, XBT_NULL, writes[i].node, writes[i].value,
				 strlen(writes[i].value)),
			"write %s", writes[i].node);
	return ARRAY_SIZE(writes);
}

static void run_xenstore(const void *arg)
{
	struct xs_handle *xs = xs_open(0);

	(void)arg;
	require(xs, "open xenstore");
	flood(write_nodes, xs, "writes to xenstore");
	xs_rm(xs, XBT_NULL, writes[1].node);
	xs_close(xs);
}

/* What a guest may do with its own processor, for comparison */

static unsigned long spin(void *unused)
{
	volatile unsigned int i;

	(void)unused;
	for (i = 0; i < SPINS; i++)
		;
	return 1;
}

static void run_nothing(const void *arg)
{
	(void)arg;
	flood(spin, NULL, "times nothing");
}

static const struct check_case cases[] = {
	FLOOD_CASE("nothing", run_nothing, "keeps a processor busy, and nobody else"),
	FLOOD_CASE("commands", run_commands, "PDs, MRs and CQs made and destroyed by four threads"),
	FLOOD_CASE("refused", run_refused, "commands that are refused, by four threads"),
	FLOOD_CASE("completions", run_completions, "an event for each message"),
	FLOOD_CASE("xenstore", run_xenstore, "writes to the guest's own directory of the vHCA"),
};

int main(int argc, char **argv)
{
	const struct check_table tables[] = {
		{ cases, ARRAY_SIZE(cases) }, flood_front, flood_hca, flood_log
	};

	vp_load_providers();
	return check_main_tables(argc, argv,
				 "Does one thing as fast as possible until standard input ends.",
				 tables, ARRAY_SIZE(tables));
}
